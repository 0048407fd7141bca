// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of calls that signals interrupt at short intervals.
 *
 * Each call either fails with EINTR and has done nothing, or returns how much it has done. Received
 * data is checked byte by byte, which shows anything lost or duplicated between two calls.
 */
#include "threads.h"

struct pelted {
	int fd;
	long total;
	atomic_int interrupted;		/* calls that failed with EINTR */
	atomic_int part;		/* calls that did a part */
	atomic_int *start_after;	/* wait until this is not 0 */
	int sig;
};

/*
 * Waits in poll() every other round, so that signals interrupt it as well. Returns false if one
 * did.
 */
static bool ready_in_poll(struct pelted *me, short events, unsigned int round)
{
	struct pollfd pfd = { .fd = me->fd, .events = events };
	int n;

	if (round & 1)
		return true;
	n = poll(&pfd, 1, -1);
	if (n < 0) {
		need(errno == EINTR, "poll: %s", errno_text(errno));
		me->interrupted++;
		return false;
	}
	need(n == 1 && pfd.revents, "poll: %d without a time limit", n);
	return true;
}

static void *pelted_writer(void *arg)
{
	struct pelted *me = arg;
	timer_t timer = pelted_with(me->sig);
	unsigned int seed = 77, round = 0;
	long at = 0;

	while (at < me->total) {
		long len = random_up_to(&seed, 60000), left = me->total - at;
		ssize_t n;

		len = len < left ? len : left;
		if (!ready_in_poll(me, POLLOUT, round++))
			continue;
		n = send(me->fd, pattern(at), len, MSG_NOSIGNAL);
		if (n < 0) {
			need(errno == EINTR, "send: %s", errno_text(errno));
			me->interrupted++;
			continue;
		}
		me->part += n < len;
		at += n;
	}
	timer_delete(timer);
	need_errno(!shutdown(me->fd, SHUT_WR), "shutdown");
	return NULL;
}

static void *pelted_reader(void *arg)
{
	unsigned char *data = malloc(65536);
	struct pelted *me = arg;
	unsigned int seed = 99, round = 0;
	timer_t timer;
	long at = 0;
	ssize_t n;

	/* The writer must have waited for room before anything is read. */
	await_count(me->start_after, 1);
	timer = pelted_with(me->sig);
	for (;;) {
		long len = random_up_to(&seed, 65536);
		int flags = next_random(&seed) & 1 ? MSG_WAITALL : 0;

		if (!ready_in_poll(me, POLLIN, round++))
			continue;
		n = recv(me->fd, data, len, flags);
		if (!n)
			break;
		if (n < 0) {
			need(errno == EINTR, "recv: %s", errno_text(errno));
			me->interrupted++;
			continue;
		}
		me->part += flags && n < len;
		pattern_check(at, data, n);
		at += n;
	}
	timer_delete(timer);
	need(at == me->total, "%s: the stream ended after %ld of %ld bytes", family_name(), at,
	     me->total);
	free(data);
	return NULL;
}

/*
 * A stream each way. Each reader starts when its writer was interrupted while it waited for room.
 * The stream is longer than what loopback takes without a reader (half a megabyte). Readers wait
 * for data often enough without help.
 */
void signals_in_streams(void)
{
	struct pair p = pair_sized(16384);
	long total = 1 << 20;
	struct pelted w[2], r[2];
	pthread_t threads[4];
	int i;

	catch_signals();
	for (i = 0; i < 2; i++) {
		w[i] = (struct pelted){ .fd = i ? p.s : p.c, .total = total, .sig = SIGALRM };
		r[i] = (struct pelted){ .fd = i ? p.c : p.s, .total = total, .sig = SIGUSR1,
					.start_after = &w[i].interrupted };
		threads[i] = thread_start(pelted_writer, &w[i]);
		threads[2 + i] = thread_start(pelted_reader, &r[i]);
	}
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 2; i++)
		printf("# %s: interrupted %d writes and %d reads, short %d and %d\n", family_name(),
		       w[i].interrupted, r[i].interrupted, w[i].part, r[i].part);
	close(p.c);
	close(p.s);
}

/* A reader that gets no data until it was interrupted often. */
static void *idle_reader(void *arg)
{
	struct pelted *me = arg;
	timer_t timer = pelted_with(me->sig);
	char data[4];
	ssize_t n;

	while ((n = recv(me->fd, data, sizeof(data), MSG_WAITALL)) < 0) {
		need(errno == EINTR, "recv: %s", errno_text(errno));
		me->interrupted++;
	}
	timer_delete(timer);
	need(n == 4 && !memcmp(data, "late", 4), "%s: %zd bytes", family_name(), n);
	return NULL;
}

void signals_while_idle(void)
{
	struct pair p = pair_make();
	struct pelted me = { .fd = p.s, .sig = SIGUSR1 };
	pthread_t thread;

	catch_signals();
	thread = thread_start(idle_reader, &me);
	await_count(&me.interrupted, 20);
	send_all(p.c, "late", 4);
	pthread_join(thread, NULL);
	close(p.c);
	close(p.s);
}

struct pelted_accepts {
	struct pelted p;
	int count;
};

/* Accepts, and sends the number of each connection back over it. */
static void *pelted_acceptor(void *arg)
{
	struct pelted_accepts *me = arg;
	timer_t timer = pelted_with(me->p.sig);
	unsigned int number, round = 0;
	int got = 0, fd;

	while (got < me->count) {
		if (!ready_in_poll(&me->p, POLLIN, round++))
			continue;
		fd = accept(me->p.fd, NULL, NULL);
		if (fd < 0) {
			need(errno == EINTR, "accept: %s", errno_text(errno));
			me->p.interrupted++;
			continue;
		}
		while (recv(fd, &number, sizeof(number), MSG_PEEK | MSG_WAITALL) != sizeof(number))
			need(errno == EINTR, "recv: %s", errno_text(errno));
		recv_all(fd, &number, sizeof(number));
		send_all(fd, &number, sizeof(number));
		close(fd);
		got++;
	}
	timer_delete(timer);
	return NULL;
}

/*
 * Calls connect() until it succeeds: an interrupted connect continues in the background, and the
 * next call waits for it. Returns the number of interrupted calls.
 */
static int connect_through_signals(int fd, const struct addr *where, atomic_int *interrupted)
{
	int n = 0;

	while (connect(fd, &where->sa, where->len)) {
		need(errno == EINTR, "%s: connect after %d interruptions: %s", family_name(), n,
		     errno_text(errno));
		n++;
		if (interrupted)
			(*interrupted)++;
	}
	return n;
}

void signals_in_connects(void)
{
	struct addr where;
	struct pelted_accepts acceptor = { .p = { .fd = listener(8, &where), .sig = SIGUSR1 },
					   .count = scaled(60) };
	pthread_t thread;
	int i, fd, interrupted = 0;
	unsigned int back;
	timer_t timer;
	ssize_t n;

	catch_signals();
	thread = thread_start(pelted_acceptor, &acceptor);
	await_count(&acceptor.p.interrupted, 2);
	timer = pelted_with(SIGALRM);
	for (i = 0; i < acceptor.count; i++) {
		fd = fresh(0);
		interrupted += connect_through_signals(fd, &where, NULL);
		send_all(fd, &i, sizeof(i));
		while ((n = recv(fd, &back, sizeof(back), MSG_WAITALL)) < 0)
			need(errno == EINTR, "recv: %s", errno_text(errno));
		need(n == sizeof(back) && (int)back == i, "%s: connection %d: %zd bytes, %u",
		     family_name(), i, n, back);
		close(fd);
	}
	timer_delete(timer);
	pthread_join(thread, NULL);
	printf("# %s: interrupted %d connects, %d accepts\n", family_name(), interrupted,
	       acceptor.p.interrupted);
	close(acceptor.p.fd);
}

struct waiting_connect {
	struct addr where;
	int fd;
	atomic_int interrupted;
};

static void *pelted_connector(void *arg)
{
	struct waiting_connect *me = arg;
	timer_t timer = pelted_with(SIGUSR1);

	connect_through_signals(me->fd, &me->where, &me->interrupted);
	timer_delete(timer);
	return NULL;
}

/* The queue of the listener is full, so connect() has to wait while it is interrupted. */
void signals_while_connecting(void)
{
	struct waiting_connect me = { 0 };
	int queued[2], i, listening = full_listener(&me.where, queued), accepted[3];
	pthread_t thread;

	catch_signals();
	me.fd = fresh(0);
	thread = thread_start(pelted_connector, &me);
	await_count(&me.interrupted, 10);
	for (i = 0; i < 3; i++)
		accepted[i] = accept_from(listening);
	pthread_join(thread, NULL);
	send_all(me.fd, "last", 4);
	need(await_bytes(accepted[2], 4) == 4, "%s: the connection does not work", family_name());
	for (i = 0; i < 3; i++)
		close(accepted[i]);
	close(queued[0]);
	close(queued[1]);
	close(me.fd);
	close(listening);
}
