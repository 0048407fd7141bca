// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections: in sequence, at once, idle, killed, and closed while in use.
 *
 * Processes are killed, and listeners and clients close, while connections are open or being made.
 */
#include "cases.h"
#include "machine.h"
#include "reading.h"
#include <sys/epoll.h>

#define MEMORY_LIMIT	(512 * 1024)	/* bytes that an idle connection may cost, both ends */

/* A connection is opened, used both ways, and closed in one of three orders. */
static void one_connection(int listening, const struct addr *where, unsigned int i)
{
	char out[100], in[100];
	struct pair p = { .c = fresh(0) };

	memset(out, 'a' + i % 26, sizeof(out));
	connect_to(p.c, where);
	p.s = accept_from(listening);
	send_all(p.c, out, sizeof(out));
	recv_all(p.s, in, sizeof(in));
	need(!memcmp(in, out, sizeof(in)), "connection %u: wrong data", i);
	send_all(p.s, &i, sizeof(i));
	recv_all(p.c, in, sizeof(i));
	need(!memcmp(in, &i, sizeof(i)), "connection %u: wrong answer", i);
	if (i % 3 == 0)
		close(p.c);
	close(p.s);
	if (i % 3 == 1)
		need(recv(p.c, in, 1, 0) == 0, "connection %u: no end", i);
	if (i % 3)
		close(p.c);
}

static int one_by_one(void *arg)
{
	unsigned int i, count = scaled(*(int *)arg);
	long long before = counter("CurrEstab"), opened = counter("ActiveOpens");
	long long start = now_ms();
	struct addr where;
	int fd = listener(8, &where);

	for (i = 0; i < count; i++)
		one_connection(fd, &where, i);
	printf("# %u connections, %lld per second\n", count,
	       count * 1000LL / (now_ms() - start + 1));
	close(fd);
	await_established(before);
	if (use_sdp)
		need(counter("ActiveOpens") - opened == count, "%lld of %u opens counted",
		     counter("ActiveOpens") - opened, count);
	return EXIT_OK;
}

/*
 * Connections that are open at once. Each end sends bytes of its own sequence, and checks those of
 * its peer's.
 */
enum { AT_ONCE = 200 };

/*
 * Number of clients. A slow kernel makes four connections a second then, and none may wait longer
 * than a connect does.
 */
static int at_once_count(void) { return slow_kernel() ? AT_ONCE / 4 : AT_ONCE; }

#define PER_END		scaled(20000)

struct end {
	int fd;
	unsigned int out_seed, in_seed;
	int sent, got;
	bool connecting, shut, ended;
};

static unsigned char byte_of(unsigned int seed, unsigned int at)
{
	return (seed * 2654435761u + at * 40503u) >> 13;
}

static void end_watch(int ep, struct end *e)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = e };

	need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, e->fd, &event), "epoll_ctl");
}

static void end_write(struct end *e)
{
	unsigned char data[1777];
	ssize_t n;
	int i;

	while (e->sent < PER_END) {
		int len = PER_END - e->sent;

		if (len > (int)sizeof(data))
			len = sizeof(data);
		for (i = 0; i < len; i++)
			data[i] = byte_of(e->out_seed, e->sent + i);
		n = send(e->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return;
		need_errno(n > 0, "send");
		e->sent += n;
	}
	if (!e->shut)
		need_errno(!shutdown(e->fd, SHUT_WR), "shutdown");
	e->shut = true;
}

static void end_read(struct end *e)
{
	unsigned char data[4096];
	ssize_t n, i;

	while (!e->ended) {
		n = recv(e->fd, data, sizeof(data), MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return;
		need_errno(n >= 0, "recv");
		for (i = 0; i < n; i++)
			need(data[i] == byte_of(e->in_seed, e->got + i), "byte %d is wrong",
			     e->got + (int)i);
		e->got += n;
		e->ended = !n;
	}
	need(e->got == PER_END, "the stream ended after %d bytes", e->got);
}

/* A client's first four bytes are its number. From it the server knows both sequences. */
static bool end_introduced(struct end *e)
{
	unsigned int id;

	if (e->in_seed)
		return true;
	if (recv(e->fd, &id, sizeof(id), MSG_DONTWAIT | MSG_PEEK) != sizeof(id))
		return false;
	recv_all(e->fd, &id, sizeof(id));
	e->in_seed = id;
	e->out_seed = id + 1000;
	return true;
}

static void take_clients(int ep, int listening, struct end *servers, int *accepted)
{
	for (;;) {
		struct end *e = &servers[*accepted];
		int fd = accept4(listening, NULL, NULL, 0);

		if (fd < 0 && errno == EAGAIN)
			return;
		need_errno(fd >= 0, "accept");
		need(*accepted < at_once_count(), "more connections than clients");
		*e = (struct end){ .fd = fd };
		++*accepted;
		end_watch(ep, e);
	}
}

static void end_event(struct end *e)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (e->connecting) {
		need_errno(!getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &error, &len), "SO_ERROR");
		need(!error, "connect: %s", errno_text(error));
		if (!(poll_for(e->fd, POLLOUT, 0) & POLLOUT))
			return;
		e->connecting = false;
		send_all(e->fd, &e->out_seed, sizeof(e->out_seed));
	}
	if (!end_introduced(e))
		return;
	end_write(e);
	end_read(e);
}

static void start_clients(int ep, struct end *clients, const struct addr *where)
{
	unsigned int count = at_once_count(), i;

	for (i = 0; i < count; i++) {
		struct end *e = &clients[i];

		*e = (struct end){ .fd = fresh(SOCK_NONBLOCK), .out_seed = i + 1,
				   .in_seed = i + 1001, .connecting = true };
		need(connect(e->fd, &where->sa, where->len) && errno == EINPROGRESS,
		     "connect %u: %s", i, errno_text(errno));
		end_watch(ep, e);
	}
}

static int at_once(void *arg)
{
	static struct end clients[AT_ONCE], servers[AT_ONCE];
	long long before = counter("CurrEstab");
	int ep = epoll_create1(0), accepted = 0, ended, i, n, fd;
	const int count = at_once_count();
	struct epoll_event events[64], listen_event = { .events = EPOLLIN };
	struct addr where;

	allow_descriptors(2 * count + 50);
	fd = listener(count, &where);
	set_nonblock(fd, true);
	need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, fd, &listen_event), "epoll_ctl");
	start_clients(ep, clients, &where);
	do {
		n = epoll_wait(ep, events, 64, WAIT_MS);
		need(n > 0, "nothing happens; %d accepted", accepted);
		for (i = 0; i < n; i++) {
			if (events[i].data.ptr)
				end_event(events[i].data.ptr);
			else
				take_clients(ep, fd, servers, &accepted);
		}
		for (ended = 0, i = 0; i < count; i++)
			ended += clients[i].ended + servers[i].ended;
	} while (ended < 2 * count);
	for (i = 0; i < count; i++) {
		close(clients[i].fd);
		close(servers[i].fd);
	}
	await_established(before);
	return EXIT_OK;
}

/*
 * What idle connections cost. It takes many of them, because the kernel keeps some free pages that
 * /proc/meminfo does not show, and other processes take and give memory meanwhile.
 */
static int idle_memory(void *arg)
{
	enum { IDLE = 500 };
	static struct pair pairs[IDLE];
	const int count = scaled(IDLE);
	long long slab, memory;
	struct addr where;
	int i, fd;
	char c;

	allow_descriptors(2 * IDLE + 50);
	fd = listener(8, &where);
	one_connection(fd, &where, 0);		/* makes allocations that come only once */
	memory = memory_now();
	slab = meminfo("Slab");
	for (i = 0; i < count; i++) {
		pairs[i].c = fresh(0);
		connect_to(pairs[i].c, &where);
		pairs[i].s = accept_from(fd);
	}
	memory = (memory - memory_now()) / count;
	slab = (meminfo("Slab") - slab) / count;
	printf("# memory per idle connection (both ends): %lld bytes\n", memory);
	printf("# of which slab: %lld bytes\n", slab);
	need(memory < MEMORY_LIMIT, "%lld bytes per idle connection", memory);
	for (i = 0; i < count; i++) {
		send_all(pairs[i].c, "x", 1);	/* idle, but working */
		recv_all(pairs[i].s, &c, 1);
	}
	return EXIT_OK;
}

/* Reads and discards data. Returns 0 at the end of the stream, or an errno. */
static int last_word(int fd)
{
	char data[4096];
	ssize_t n;

	do {
		need(poll_for(fd, POLLIN, WAIT_MS), "the peer is gone, and nothing tells of it");
		n = recv(fd, data, sizeof(data), 0);
	} while (n > 0);
	return n ? errno : 0;
}

enum { VICTIMS = 20 };

/* Holds connections in various states, tells its parent, and waits to be killed. */
static void victim(int listening, const struct addr *where, int tell)
{
	static char big[1 << 20];
	int fds[VICTIMS], i;

	for (i = 0; i < VICTIMS; i++) {
		if (i & 1) {
			fds[i] = accept_from(listening);
		} else {
			fds[i] = fresh(0);
			connect_to(fds[i], where);
		}
		if (i % 4 == 0)
			send_all(fds[i], "some", 4);
		if (i % 5 == 0)
			send(fds[i], big, sizeof(big), MSG_DONTWAIT);
	}
	need_errno(write(tell, "x", 1) == 1, "write");
	recv(fds[0], big, sizeof(big), MSG_WAITALL);	/* it is killed within a call */
	pause();
}

static int killed(void *arg)
{
	struct addr own_where, its_where;
	int tell[2], fds[VICTIMS], own, its, i, error;
	long long before;
	pid_t pid;

	/* Hundreds of connections of the cases before may still be ending. */
	await_rest();
	before = counter("CurrEstab");
	own = listener(VICTIMS, &own_where);
	its = listener(VICTIMS, &its_where);
	need_errno(!pipe(tell), "pipe");
	pid = fork();
	if (!pid) {
		victim(its, &own_where, tell[1]);
		_exit(EXIT_FAILED);
	}
	close(its);
	for (i = 0; i < VICTIMS; i++) {
		if (i & 1) {
			fds[i] = fresh(0);
			connect_to(fds[i], &its_where);
		} else {
			fds[i] = accept_from(own);
		}
		if (i % 3 == 0)
			send_all(fds[i], "unread", 6);
	}
	need(poll_for(tell[0], POLLIN, WAIT_MS), "the victim is not ready");
	for (i = 0; i < VICTIMS; i += 3)
		await_all_sent(fds[i]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (i = 0; i < VICTIMS; i++) {
		error = last_word(fds[i]);
		need(!error || error == ECONNRESET, "connection %d: %s", i, errno_text(error));
		need(i % 3 || !i || error == ECONNRESET,
		     "connection %d had unread data, and no reset came", i);
		close(fds[i]);
	}
	close(own);
	await_established(before);
	return EXIT_OK;
}

/* A listener closes: clients in its queue see an end or a reset, others are refused or reset. */
static int listener_closed(void *arg)
{
	enum { ROOM = 8, WAITING = 3 };
	long long before = counter("CurrEstab");
	int fds[ROOM + 1 + WAITING], fd, i, error;
	struct addr where;

	fd = listener(ROOM, &where);
	for (i = 0; i < ROOM + 1; i++) {	/* a backlog of n holds n + 1 */
		fds[i] = fresh(0);
		connect_to(fds[i], &where);
		if (i & 1)
			send_all(fds[i], "hello", 5);
	}
	for (; i < ROOM + 1 + WAITING; i++) {
		fds[i] = fresh(SOCK_NONBLOCK);
		need(connect(fds[i], &where.sa, where.len) && errno == EINPROGRESS,
		     "connect beyond the queue: %s", errno_text(errno));
	}
	close(fd);
	for (i = 0; i < ROOM + 1 + WAITING; i++) {
		error = last_word(fds[i]);
		if (i <= ROOM)
			need(!error || error == ECONNRESET, "client %d: %s", i, errno_text(error));
		else
			need(error == ECONNREFUSED || error == ECONNRESET, "waiting client %d: %s",
			     i, errno_text(error));
		close(fds[i]);
	}
	await_established(before);
	return EXIT_OK;
}

/*
 * Accepts connections until the byte of @late arrives on one of them. @late sends it once it is
 * connected. All other connections are dead, and show their end.
 */
static void await_late_client(int listening, int late)
{
	struct pollfd p[3] = { { .fd = listening, .events = POLLIN },
			       { .fd = late, .events = POLLOUT }, { .fd = -1, .events = POLLIN } };
	char c;

	for (;;) {
		need(poll(p, 3, WAIT_MS) > 0, "a client after the vanished ones gets nowhere");
		if (p[1].revents) {
			need_errno(send(late, "x", 1, MSG_NOSIGNAL) == 1, "late client");
			p[1].fd = -1;
		}
		if (p[2].fd >= 0 && p[2].revents) {
			if (recv(p[2].fd, &c, 1, 0) == 1)
				return;
			close(p[2].fd);
			p[2].fd = -1;
		}
		if (p[2].fd < 0 && p[0].revents) {
			p[2].fd = accept(listening, NULL, NULL);
			need_errno(p[2].fd >= 0, "accept");
			p[2].revents = 0;
		}
		p[0].fd = p[2].fd < 0 ? listening : -1;
	}
}

/* Clients close while they wait in the accept queue, or for room in it. */
static int clients_vanish(void *arg)
{
	enum { ROOM = 4, TRIES = 40 };
	struct addr where;
	int fds[TRIES], i, fd = listener(ROOM, &where), late, round;

	/* Each round has fewer clients, which thus close sooner after their request. */
	for (round = 0; round < TRIES; round++) {
		for (i = 0; i < TRIES - round; i++) {
			fds[i] = fresh(SOCK_NONBLOCK);
			connect(fds[i], &where.sa, where.len);
		}
		while (i--)
			close(fds[i]);
	}
	late = fresh(SOCK_NONBLOCK);
	connect(late, &where.sa, where.len);
	await_late_client(fd, late);
	return EXIT_OK;
}

enum { BUSY = 6, CUT = 3000 };

/* Answers each read until the client is gone. Every second client gets only four answers. */
static void busy_server(int listening)
{
	static char data[1 << 16];
	int fd, i, served = 0;

	for (;;) {
		fd = accept_from(listening);
		i = served++ % 2 ? 4 : -1;
		while (i-- && recv(fd, data, sizeof(data), 0) > 0)
			send(fd, data, 100, MSG_NOSIGNAL);
		close(fd);
	}
}

static void busy_client(const struct addr *where)
{
	static char data[CUT];
	int i, j, fd, count = scaled(100);

	for (i = 0; i < count; i++) {
		fd = fresh(0);
		connect_to(fd, where);
		for (j = 0; j < 8 && send(fd, data, sizeof(data), MSG_NOSIGNAL) > 0; j++)
			;
		if (i % 2)
			recv(fd, data, sizeof(data), 0);
		close(fd);
	}
	_exit(EXIT_OK);
}

/*
 * Either end closes while data and answers are in flight, on several connections at a time. Packets
 * still arrive for queue pairs that are torn down.
 */
static int closed_in_traffic(void *arg)
{
	long long before = counter("CurrEstab");
	pid_t servers[BUSY], clients[BUSY];
	struct addr where;
	int i, status, fd = listener(8 * BUSY, &where);

	for (i = 0; i < BUSY; i++) {
		servers[i] = fork();
		if (!servers[i])
			busy_server(fd);
		clients[i] = fork();
		if (!clients[i])
			busy_client(&where);
		need_errno(servers[i] > 0 && clients[i] > 0, "fork");
	}
	for (i = 0; i < BUSY; i++) {
		need_errno(waitpid(clients[i], &status, 0) == clients[i], "waitpid");
		need(!status, "client %d ended with status %d", i, status);
	}
	for (i = 0; i < BUSY; i++) {
		kill(servers[i], SIGKILL);
		waitpid(servers[i], NULL, 0);
	}
	close(fd);
	await_established(before);
	return EXIT_OK;
}

static int thousand = 1000, hundred = 100;

static const struct test tests[] = {
	{ "one_by_one", one_by_one, 60, V4_SETS, false, &thousand },
	{ "one_by_one_v6", one_by_one, 20, ALL_SETS & ~V4_SETS, false, &hundred },
	{ "at_once", at_once, 60, ALL_SETS, false, NULL },
	{ "idle_memory", idle_memory, 60, V4_SETS, false, NULL },
	{ "killed", killed, 90, V4_SETS, false, NULL },
	{ "listener_closed", listener_closed, 30, V4_SETS, false, NULL },
	{ "clients_vanish", clients_vanish, 30, V4_SETS, false, NULL },
	{ "closed_in_traffic", closed_in_traffic, 60, V4_SETS, false, NULL },
};

TEST_MAIN(tests)
