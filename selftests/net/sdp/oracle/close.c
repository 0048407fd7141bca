// SPDX-License-Identifier: GPL-2.0
/* Oracle scenarios: poll masks by state, half close, close, reset. */
#include "info.h"
#include "oracle.h"

static void masks_by_state(void)
{
	struct addr where = server_addr(0);
	int fd = fresh(0), client = fresh(0), accepted;

	rec_mask("fresh", fd);
	REC("bind", bind(fd, &where.sa, where.len));
	rec_mask("bound", fd);
	REC("listen", listen(fd, 1));
	rec_mask("listening", fd);
	where = name_of(fd);
	connect_to(client, &where);
	rec_mask("connected", client);
	rec_mask_at("one in the queue", fd, POLLIN);
	accepted = accept_from(fd);
	rec_mask("queue empty", fd);
	rec_mask("accepted", accepted);
	send_all(client, "x", 1);
	rec_mask_at("data there", accepted, POLLIN);
	rec_mask("data sent", client);
	rec_recv("read", accepted, 10, 0);
	rec_mask("data read", accepted);
}

static void half_close_write(void)
{
	struct pair p = pair_make();

	send_all(p.c, "last", 4);
	REC("shutdown", shutdown(p.c, SHUT_WR));
	rec_mask("own mask", p.c);
	rec_mask_at("peer's mask", p.s, POLLRDHUP);
	await_bytes(p.s, 4);
	rec_recv("peer reads", p.s, 100, 0);
	rec_mask("peer's mask, all read", p.s);
	rec_recv("peer reads the end", p.s, 100, 0);
	rec_recv("peer reads the end again", p.s, 100, 0);
	REC("shutdown again", shutdown(p.c, SHUT_WR));
	REC("the peer still sends", send(p.s, "back", 4, 0));
	rec_mask_at("own mask, data", p.c, POLLIN);
	rec_recv("own read", p.c, 100, 0);
	REC("own recv", recv(p.c, scratch, 1, MSG_DONTWAIT));
	REC("own send", send(p.c, "x", 1, MSG_NOSIGNAL));
	REC("peer shuts down", shutdown(p.s, SHUT_WR));
	rec_mask_at("own mask, both", p.c, POLLHUP);
	rec_mask_at("peer's mask, both", p.s, POLLHUP);
	rec_recv("own end", p.c, 100, 0);
	REC("own send", send(p.c, "x", 1, MSG_NOSIGNAL));
	REC("peer's send", send(p.s, "x", 1, MSG_NOSIGNAL));
	rec_so_error("own error", p.c);
	rec_so_error("peer's error", p.s);
	rec_peername_gone("gone", p.c);
	rec_peername_gone("peer gone", p.s);
	REC("shutdown when gone", shutdown(p.c, SHUT_RDWR));
	REC("peer's shutdown when gone", shutdown(p.s, SHUT_RDWR));
	rec_mask("own mask, gone", p.c);
	rec_mask("peer's mask, gone", p.s);
}

static void half_close_read(void)
{
	struct pair p = pair_make();

	REC("shutdown", shutdown(p.c, SHUT_RD));
	rec_mask("own mask", p.c);
	rec_mask("peer's mask", p.s);
	rec_recv("own read", p.c, 10, 0);
	REC("own send", send(p.c, "out", 3, 0));
	rec_recv("peer reads", p.s, 10, 0);
	REC("peer sends", send(p.s, "in", 2, 0));
	rec("arrives", "%d", await_bytes(p.c, 2));
	rec_recv("own read", p.c, 10, 0);
	rec_recv("own read, empty", p.c, 10, 0);
	rec_mask("own mask", p.c);
	rec_mask("peer's mask", p.s);
	REC("peer closes", close(p.s));
	rec_mask("own mask, peer closed", p.c);
	rec_so_error("own error", p.c);
}

/* Data that arrived before shutdown(SHUT_RD) can still be read. */
static void half_close_read_with_data(void)
{
	struct pair p = pair_make();

	send_all(p.s, "there", 5);
	await_bytes(p.c, 5);
	REC("shutdown", shutdown(p.c, SHUT_RD));
	rec_mask("mask", p.c);
	rec_recv("data", p.c, 10, 0);
	rec_recv("end", p.c, 10, 0);
}

static void shutdown_both(void)
{
	struct pair p = pair_make();

	REC("bad argument", shutdown(p.c, 3));
	REC("negative argument", shutdown(p.c, -1));
	REC("shutdown", shutdown(p.c, SHUT_RDWR));
	rec_mask("own mask", p.c);
	rec_mask_at("peer's mask", p.s, POLLRDHUP);
	rec_recv("own read", p.c, 10, 0);
	REC("own send", send(p.c, "x", 1, MSG_NOSIGNAL));
	rec_recv("peer's read", p.s, 10, 0);
	REC("peer's shutdown", shutdown(p.s, SHUT_RDWR));
	rec_mask_at("peer's mask", p.s, POLLHUP);
	rec_mask("own mask", p.c);
}

/*
 * The listener is bound to a port by number: TCP keeps such a port over a disconnect, but releases
 * a port that it chose itself.
 */
static void shutdown_listener(void)
{
	struct addr where = server_addr(0);
	int fd = fresh(0), queued = fresh(0), late = fresh(0);

	need_errno(!bind(fd, &where.sa, where.len), "bind");
	where = name_of(fd);
	close(fd);
	fd = fresh(0);
	need_errno(!bind(fd, &where.sa, where.len), "bind by number");
	need_errno(!listen(fd, 2), "listen");
	connect_to(queued, &where);
	REC("SHUT_WR", shutdown(fd, SHUT_WR));
	rec_mask_at("listening still", fd, POLLIN);
	REC("SHUT_RD", shutdown(fd, SHUT_RD));
	rec_mask("stopped", fd);
	REC_FD("accept", accept(fd, NULL, NULL));
	rec_mask_at("queued client", queued, POLLIN);
	rec_recv("queued client", queued, 10, 0);
	REC("connect", connect(late, &where.sa, where.len));
	rec_sockname("name", fd);
	REC("listen again", listen(fd, 2));
	rec_sockname("name again", fd);
	REC("connect", connect(late, &where.sa, where.len));
	rec_int("SO_ACCEPTCONN", fd, SOL_SOCKET, SO_ACCEPTCONN);
}

static void close_clean(void)
{
	struct pair p = pair_make();

	handle(SIGPIPE, on_pipe, 0);
	send_all(p.s, "bye", 3);
	close(p.s);
	rec_mask_at("mask", p.c, POLLRDHUP);
	await_bytes(p.c, 3);
	rec_recv("data", p.c, 10, 0);
	rec_mask("mask, all read", p.c);
	rec_recv("end", p.c, 10, 0);
	rec_so_error("error", p.c);
	REC("send into the closed end", send(p.c, "x", 1, 0));
	rec_mask_at("mask, refused", p.c, POLLERR);
	rec_recv("end again", p.c, 10, 0);
	REC("send", send(p.c, "x", 1, 0));
	rec("SIGPIPE", "%d", pipes);
	rec_so_error("error", p.c);
	REC("send", send(p.c, "x", 1, 0));
	rec("SIGPIPE", "%d", pipes);
	rec_mask("mask", p.c);
	rec_peername("peer", p.c);
}

/* Like close_clean(), but recv() or SO_ERROR fetches the error first. */
static void close_then_send(void)
{
	struct pair p = pair_make();

	close(p.s);
	poll_for(p.c, POLLRDHUP, WAIT_MS);
	REC("send", send(p.c, "x", 1, 0));
	rec_mask_at("mask", p.c, POLLERR);
	rec_recv("recv, no end read yet", p.c, 10, 0);
	rec_recv("recv", p.c, 10, 0);
	p = pair_make();
	close(p.s);
	poll_for(p.c, POLLRDHUP, WAIT_MS);
	REC("send", send(p.c, "x", 1, 0));
	poll_for(p.c, POLLERR, WAIT_MS);
	rec_so_error("SO_ERROR", p.c);
	rec_mask("mask", p.c);
	REC("send", send(p.c, "x", 1, MSG_NOSIGNAL));
	rec_recv("recv", p.c, 10, 0);
}

static void close_unread(void)
{
	struct pair p = pair_make();

	send_all(p.c, "never read", 10);
	await_bytes(p.s, 10);
	close(p.s);
	rec_mask_at("mask", p.c, POLLERR);
	rec_recv("recv", p.c, 10, 0);
	rec_mask("mask, error taken", p.c);
	rec_recv("recv again", p.c, 10, 0);
	REC("send", send(p.c, "x", 1, MSG_NOSIGNAL));
	rec_so_error("error", p.c);
	rec_peername("peer", p.c);
}

/* Data that arrived before a reset can be read before the error is reported. */
static void close_unread_after_sending(void)
{
	struct pair p = pair_make();

	send_all(p.s, "for you", 7);
	await_bytes(p.c, 7);
	send_all(p.c, "never read", 10);
	await_bytes(p.s, 10);
	close(p.s);
	rec_mask_at("mask", p.c, POLLERR);
	rec("still there", "%d", queued_bytes(p.c));
	rec_recv("data", p.c, 4, 0);
	rec_recv("data", p.c, 100, 0);
	rec_recv("error", p.c, 100, 0);
	rec_recv("end", p.c, 100, 0);
}

static void reset_by_linger(void)
{
	struct pair p = pair_make();

	linger_zero(p.s);
	close(p.s);
	rec_mask_at("mask", p.c, POLLERR);
	rec_so_error("SO_ERROR", p.c);
	rec_so_error("SO_ERROR again", p.c);
	rec_mask("mask, error taken", p.c);
	rec_recv("recv", p.c, 10, 0);
	REC("send", send(p.c, "x", 1, MSG_NOSIGNAL));
	REC("shutdown", shutdown(p.c, SHUT_RDWR));
	p = pair_make();
	linger_zero(p.s);
	close(p.s);
	poll_for(p.c, POLLERR, WAIT_MS);
	REC("send fetches the error", send(p.c, "x", 1, MSG_NOSIGNAL));
	REC("send", send(p.c, "x", 1, MSG_NOSIGNAL));
	rec_recv("recv", p.c, 10, 0);
}

/* After a reset, the socket can connect again only after a connect() with AF_UNSPEC. */
static void reset_then_connect(void)
{
	struct pair p = pair_make();
	struct addr where;

	listener(4, &where);
	linger_zero(p.s);
	close(p.s);
	poll_for(p.c, POLLERR, WAIT_MS);
	REC("connect", connect(p.c, &where.sa, where.len));
	REC("connect", connect(p.c, &where.sa, where.len));
	REC("connect", connect(p.c, &where.sa, where.len));
}

static void close_listener(void)
{
	struct addr where;
	int fd = listener(4, &where), clients[3], i;

	for (i = 0; i < 3; i++) {
		clients[i] = fresh(0);
		connect_to(clients[i], &where);
	}
	send_all(clients[1], "waiting", 7);
	shutdown(clients[2], SHUT_WR);
	close(fd);
	for (i = 0; i < 3; i++) {
		rec_mask_at("queued client", clients[i], POLLIN);
		rec_recv("recv", clients[i], 10, 0);
		rec_recv("recv again", clients[i], 10, 0);
		REC("send", send(clients[i], "x", 1, MSG_NOSIGNAL));
	}
	REC("connect", connect(fresh(0), &where.sa, where.len));
}

/* A close with data in flight loses nothing, however slow the reader is. */
static void close_unsent(void)
{
	enum { TOTAL = 512 * 1024 };
	struct pair p = pair_make();
	static unsigned char out[TOTAL], in[TOTAL];
	long got = 0;
	pid_t pid;
	int i;

	for (i = 0; i < TOTAL; i++)
		out[i] = i * 2654435761u >> 24;
	set_int(p.c, SOL_SOCKET, SO_SNDBUF, TOTAL);
	set_int(p.s, SOL_SOCKET, SO_RCVBUF, SMALL_BUFFER);
	pid = fork();
	if (!pid) {
		close(p.s);
		send_all(p.c, out, TOTAL);
		close(p.c);
		_exit(0);		/* the sending process ends */
	}
	close(p.c);
	while (got < TOTAL) {
		ssize_t n = recv(p.s, in + got, got < 65536 ? 777 : TOTAL - got, 0);

		if (n <= 0)
			break;
		got += n;
		if (got < 65536)
			pause_ms(1);	/* slower than the sender */
	}
	rec("bytes", "%ld", got);
	rec_bool("as sent", !memcmp(in, out, TOTAL));
	rec_recv("end", p.s, 10, 0);
	rec_so_error("error", p.s);
}

/* close() with SO_LINGER waits until the peer has received everything. */
static void close_lingering(void)
{
	struct pair p = pair_make();
	struct linger wait = { .l_onoff = 1, .l_linger = 10 };

	REC("SO_LINGER", setsockopt(p.c, SOL_SOCKET, SO_LINGER, &wait, sizeof(wait)));
	send_all(p.c, "all of it", 9);
	REC("close", close(p.c));
	await_bytes(p.s, 9);
	rec_recv("data", p.s, 100, 0);
	rec_recv("end", p.s, 100, 0);
	rec_so_error("error", p.s);
}

static void close_connecting(void)
{
	struct stuck s = stuck_make(SOCK_NONBLOCK);

	connect(s.fd, &s.where.sa, s.where.len);
	REC("close", close(s.fd));
	accept_from(s.listening);
	set_nonblock(s.listening, true);
	rec_events("nobody else comes", poll_for(s.listening, POLLIN, 100));
}

static long call_recv(int fd)
{
	return recv(fd, scratch, 10, 0);
}

static long call_accept(int fd)
{
	return accept(fd, NULL, NULL);
}

static long call_poll(int fd)
{
	return poll_for(fd, POLLIN, WAIT_MS) & POLLIN;
}

/*
 * TCP still takes a few bytes now and then while nobody reads, so the call is repeated until it
 * fails.
 */
static long call_send(int fd)
{
	static char big[1 << 20];
	ssize_t n;

	do
		n = send(fd, big, sizeof(big), MSG_NOSIGNAL);
	while (n > 0);
	return n;
}

/* Calls that sleep are woken by shutdown, close and reset. */
static void sleepers_woken(void)
{
	struct pair p = pair_make();
	struct caller c, d;
	int fd = listener(1, NULL);

	caller_start(&c, call_recv, p.c);
	shutdown(p.c, SHUT_RD);
	caller_end("recv, own shutdown", &c);
	p = pair_make();
	caller_start(&c, call_recv, p.c);
	caller_start(&d, call_poll, p.c);
	shutdown(p.s, SHUT_WR);
	caller_end("recv, peer's shutdown", &c);
	caller_end("poll, peer's shutdown", &d);
	p = pair_make();
	caller_start(&c, call_recv, p.c);
	close(p.s);
	caller_end("recv, peer's close", &c);
	p = pair_make();
	caller_start(&c, call_recv, p.c);
	linger_zero(p.s);
	close(p.s);
	caller_end("recv, reset", &c);
	p = pair_make();
	caller_start(&c, call_recv, p.c);
	send_all(p.s, "data", 4);
	caller_end("recv, data", &c);
	caller_start(&c, call_accept, fd);
	shutdown(fd, SHUT_RD);
	caller_end("accept, shutdown", &c);
}

static void writers_woken(void)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	struct caller c;

	fill_ends(p.c, p.s);
	caller_start(&c, call_send, p.c);
	linger_zero(p.s);
	close(p.s);
	caller_end("send, reset", &c);
	p = pair_sized(SMALL_BUFFER);
	fill_ends(p.c, p.s);
	caller_start(&c, call_send, p.c);
	shutdown(p.c, SHUT_WR);
	caller_end("send, own shutdown", &c);
}

static void rec_epoll(const char *label, int ep, bool expected)
{
	struct epoll_event e = { 0 };
	int n = epoll_wait(ep, &e, 1, expected ? WAIT_MS : 60);

	rec_events(label, n == 1 ? e.events : 0);
}

static int epoll_on(int fd, unsigned int events)
{
	struct epoll_event e = { .events = events };
	int ep = epoll_create1(0);

	need_errno(ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), "epoll");
	return ep;
}

static void epoll_edges(void)
{
	struct pair p = pair_make();
	int ep = epoll_on(p.s, EVERY_EVENT | EPOLLET);

	rec_epoll("start", ep, true);
	rec_epoll("no news", ep, false);
	send_all(p.c, "a", 1);
	rec_epoll("data", ep, true);
	rec_epoll("no news, unread", ep, false);
	send_all(p.c, "b", 1);
	rec_epoll("more data", ep, true);
	rec_recv("one of two", p.s, 1, 0);
	rec_epoll("no news, one left", ep, false);
	rec_recv("two of two", p.s, 1, 0);
	send_all(p.c, "c", 1);
	rec_epoll("data again", ep, true);
	shutdown(p.c, SHUT_WR);
	rec_epoll("peer shut down", ep, true);
	close(ep);
	ep = epoll_on(p.s, EPOLLIN | EPOLLET);
	rec_epoll("added later", ep, true);
}

static void epoll_levels(void)
{
	struct pair p = pair_make();
	int ep = epoll_on(p.s, EPOLLIN | EPOLLRDHUP);

	rec_epoll("idle", ep, false);
	send_all(p.c, "ab", 2);
	rec_epoll("data", ep, true);
	await_bytes(p.s, 2);
	rec_recv("half", p.s, 1, 0);
	rec_epoll("data still", ep, true);
	rec_recv("rest", p.s, 1, 0);
	rec_epoll("empty", ep, false);
	close(p.c);
	rec_epoll("closed", ep, true);
	rec_epoll("closed still", ep, true);
}

static void select_sets(void)
{
	struct pair p = pair_make();
	struct timeval now = { 0, 0 };
	fd_set r, w, x;
	int i;

	for (i = 0; i < 3; i++) {
		FD_ZERO(&r);
		FD_ZERO(&w);
		FD_ZERO(&x);
		FD_SET(p.s, &r);
		FD_SET(p.s, &w);
		FD_SET(p.s, &x);
		REC("select", select(p.s + 1, &r, &w, &x, &now));
		rec("read, write, except", "%d %d %d", FD_ISSET(p.s, &r), FD_ISSET(p.s, &w),
		    FD_ISSET(p.s, &x));
		if (!i)
			send_all(p.c, "x", 1);
		else if (i == 1)
			linger_zero(p.c), close(p.c);
		poll_for(p.s, i ? POLLERR : POLLIN, WAIT_MS);
	}
}

static const struct scenario scenarios[] = {
	SCENARIO(masks_by_state),
	SCENARIO(half_close_write),
	SCENARIO(half_close_read),
	SCENARIO(half_close_read_with_data),
	SCENARIO(shutdown_both),
	SCENARIO(shutdown_listener),
	SCENARIO(close_clean),
	SCENARIO(close_then_send),
	SCENARIO(close_unread),
	SCENARIO(close_unread_after_sending),
	SCENARIO(reset_by_linger),
	SCENARIO(reset_then_connect),
	SCENARIO(close_listener),
	SCENARIO(close_unsent),
	SCENARIO(close_lingering),
	SCENARIO(close_connecting),
	SCENARIO(sleepers_woken),
	SLOW_SCENARIO(writers_woken),
	SCENARIO(epoll_edges),
	SCENARIO(epoll_levels),
	SCENARIO(select_sets),
};

const struct scenario_list close_scenarios = SCENARIO_LIST(scenarios);
