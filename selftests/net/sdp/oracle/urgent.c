// SPDX-License-Identifier: GPL-2.0
/* Oracle scenarios: urgent data, the mark, SIGURG (B7). */
#include "oracle.h"

static volatile sig_atomic_t urgs;

static void on_urg(int sig)
{
	urgs++;
}

static void rec_mark(const char *label, int fd)
{
	int at = -1;

	REC(label, ioctl(fd, SIOCATMARK, &at) ?: at);
}

static void send_urgent(int fd, const void *data, size_t len)
{
	ssize_t n = send(fd, data, len, MSG_OOB | MSG_NOSIGNAL);

	need(n == (ssize_t)len, "send of urgent data: %zd", n);
}

/*
 * Waits for urgent data. SIGURG interrupts poll() just before the urgent byte is visible, so poll()
 * is called again.
 */
static void await_urgent(int fd)
{
	long long end = now_ms() + WAIT_MS;

	while (!(poll_for(fd, POLLPRI, WAIT_MS) & POLLPRI))
		need(now_ms() < end, "urgent data does not arrive");
}

/* Waits until @byte is the urgent one, and leaves it there. */
static void await_urgent_byte(int fd, char byte)
{
	long long end = now_ms() + WAIT_MS;
	char seen = 0;

	while (recv(fd, &seen, 1, MSG_OOB | MSG_PEEK) != 1 || seen != byte) {
		need(now_ms() < end, "the urgent byte is not %c", byte);
		pause_ms(1);
	}
}

/*
 * Waits for @n bytes on both sides of the mark. FIONREAD counts the bytes behind it only with
 * SO_OOBINLINE.
 */
static void await_past_mark(int fd, int n)
{
	set_int(fd, SOL_SOCKET, SO_OOBINLINE, 1);
	need(await_bytes(fd, n) == n, "%d bytes do not arrive", n);
	set_int(fd, SOL_SOCKET, SO_OOBINLINE, 0);
}

static void urgent_none(void)
{
	struct pair p = pair_make();

	rec_recv("idle", p.s, 1, MSG_OOB);
	rec_recv("idle, no wait", p.s, 1, MSG_OOB | MSG_DONTWAIT);
	rec_mark("mark", p.s);
	REC("nothing, urgently", send(p.c, "", 0, MSG_OOB));
	send_all(p.c, "abc", 3);
	await_bytes(p.s, 3);
	rec_recv("with data", p.s, 1, MSG_OOB);
	rec_mark("mark with data", p.s);
	rec_recv("data", p.s, 10, 0);
}

static void urgent_byte(void)
{
	struct pair p = pair_make();

	send_all(p.c, "abc", 3);
	REC("send", send(p.c, "X", 1, MSG_OOB));
	await_urgent(p.s);
	rec_mask("ready", p.s);
	rec_mark("mark ahead", p.s);
	rec("queued", "%d", queued_bytes(p.s));
	rec_recv("up to the mark", p.s, 100, 0);
	rec_mark("at the mark", p.s);
	rec("queued at the mark", "%d", queued_bytes(p.s));
	rec_mask("ready at the mark", p.s);
	rec_recv("urgent", p.s, 10, MSG_OOB);
	rec_mask("urgent byte taken", p.s);
	rec_recv("again", p.s, 10, MSG_OOB);
	rec_mark("still at the mark", p.s);
	rec_recv("behind", p.s, 10, MSG_DONTWAIT);
	rec_mark("mark passed", p.s);
	send_all(p.c, "def", 3);
	await_bytes(p.s, 3);
	rec_recv("goes on", p.s, 10, 0);
}

/* Only the last byte of a longer urgent message is urgent. */
static void urgent_message(void)
{
	struct pair p = pair_make();
	char b[8];

	REC("send", send(p.c, "hello", 5, MSG_OOB));
	await_urgent(p.s);
	rec("queued", "%d", queued_bytes(p.s));
	rec_recv("peek", p.s, 1, MSG_OOB | MSG_PEEK);
	rec_mask("after the peek", p.s);
	REC("no room", recv(p.s, b, 0, MSG_OOB));
	rec_mask("after no room", p.s);
	rec_recv("taken already", p.s, 1, MSG_OOB);
	rec_recv("ordinary", p.s, 10, 0);
	rec_recv("nothing left", p.s, 10, MSG_DONTWAIT);
}

/* A reader skips the urgent byte that it has not read with MSG_OOB. */
static void urgent_passed_over(void)
{
	struct pair p = pair_make();

	send_urgent(p.c, "abX", 3);
	send_all(p.c, "cd", 2);
	await_urgent(p.s);
	await_past_mark(p.s, 5);
	rec_recv("peek stops", p.s, 10, MSG_PEEK);
	rec_recv("read stops", p.s, 10, MSG_WAITALL);
	rec_recv("peek from the mark", p.s, 10, MSG_PEEK);
	rec_mark("peeking does not move", p.s);
	rec_recv("read from the mark", p.s, 10, 0);
	rec_mark("passed", p.s);
	rec_recv("lost", p.s, 1, MSG_OOB);
	rec_mask("nothing left", p.s);
}

/* A read that begins before the mark and is too short does not reach the mark. */
static void urgent_short_reads(void)
{
	struct pair p = pair_make();
	int i;

	send_urgent(p.c, "abcX", 4);
	send_all(p.c, "de", 2);
	await_urgent(p.s);
	await_past_mark(p.s, 6);
	for (i = 0; i < 3; i++) {
		rec_recv("one byte", p.s, 1, 0);
		rec_mark("mark", p.s);
		rec("queued", "%d", queued_bytes(p.s));
	}
	rec_recv("beyond", p.s, 1, 0);
	rec_recv("rest", p.s, 10, 0);
}

static void urgent_inline(void)
{
	struct pair p = pair_make();

	set_int(p.s, SOL_SOCKET, SO_OOBINLINE, 1);
	send_all(p.c, "ab", 2);
	send_urgent(p.c, "X", 1);
	send_all(p.c, "cd", 2);
	await_bytes(p.s, 5);
	rec("queued", "%d", queued_bytes(p.s));
	rec_mask("ready", p.s);
	rec_recv("by MSG_OOB", p.s, 1, MSG_OOB);
	rec_recv("up to the mark", p.s, 10, 0);
	rec_mark("mark", p.s);
	rec_mask("ready at the mark", p.s);
	rec_recv("the byte and more", p.s, 10, 0);
	rec_mark("passed", p.s);
	rec_mask("all read", p.s);
}

/* A second mark arrives before the reader has come to the first one. */
static void urgent_twice(void)
{
	struct pair p = pair_make();

	send_urgent(p.c, "aX", 2);
	await_urgent(p.s);
	send_urgent(p.c, "bY", 2);
	await_urgent_byte(p.s, 'Y');
	rec("queued", "%d", queued_bytes(p.s));
	rec_recv("the second", p.s, 1, MSG_OOB);
	rec_recv("the first is ordinary now", p.s, 10, 0);
	rec_mark("mark", p.s);
}

/* A second mark arrives while the reader is at the first one. */
static void urgent_twice_at_the_mark(void)
{
	struct pair p = pair_make();

	send_urgent(p.c, "aX", 2);
	await_urgent(p.s);
	rec_recv("up to the mark", p.s, 10, 0);
	rec_recv("first", p.s, 1, MSG_OOB);
	send_urgent(p.c, "bY", 2);
	await_urgent(p.s);
	await_urgent_byte(p.s, 'Y');
	rec_mark("mark", p.s);
	rec_recv("up to the second mark", p.s, 10, 0);
	rec_mark("at the second mark", p.s);
	rec_recv("second", p.s, 1, MSG_OOB);
}

static void urgent_signal(void)
{
	struct pair p = pair_make();

	urgs = 0;
	handle(SIGURG, on_urg, 0);
	REC("set owner", fcntl(p.s, F_SETOWN, getpid()));
	send_all(p.c, "abc", 3);
	await_bytes(p.s, 3);
	rec("ordinary data", "%d", urgs);
	send_urgent(p.c, "X", 1);
	await_urgent(p.s);
	rec("urgent data", "%d", urgs);
	rec_recv("up to the mark", p.s, 10, 0);
	rec_recv("urgent", p.s, 1, MSG_OOB);
	send_urgent(p.c, "Y", 1);
	await_urgent(p.s);
	rec("again", "%d", urgs);
	REC("no owner", fcntl(p.s, F_SETOWN, 0));
	rec_recv("urgent", p.s, 1, MSG_OOB);
	send_urgent(p.c, "Z", 1);
	await_urgent(p.s);
	rec("nobody to tell", "%d", urgs);
}

static void urgent_select(void)
{
	struct pair p = pair_make();
	struct timeval soon = { .tv_sec = WAIT_MS / 1000 }, now = { 0 };
	fd_set r, e;

	FD_ZERO(&e);
	FD_SET(p.s, &e);
	REC("nothing", select(p.s + 1, NULL, NULL, &e, &now));
	send_urgent(p.c, "X", 1);
	FD_SET(p.s, &e);
	REC("urgent", select(p.s + 1, NULL, NULL, &e, &soon));
	FD_ZERO(&r);
	FD_SET(p.s, &r);
	FD_SET(p.s, &e);
	now = (struct timeval){ 0 };
	REC("both", select(p.s + 1, &r, NULL, &e, &now));
	rec("readable, urgent", "%d %d", FD_ISSET(p.s, &r), FD_ISSET(p.s, &e));
}

static void urgent_edges(void)
{
	struct epoll_event ev = { .events = EPOLLPRI | EPOLLET };
	struct pair p = pair_make();
	int ep = epoll_create1(0);

	need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, p.s, &ev), "epoll_ctl");
	REC("nothing", epoll_wait(ep, &ev, 1, 0));
	send_urgent(p.c, "X", 1);
	REC("first", epoll_wait(ep, &ev, 1, WAIT_MS));
	rec_events("first shows", ev.events);
	/*
	 * TCP reports an edge when urgent data is announced and may report another when it arrives.
	 */
	epoll_wait(ep, &ev, 1, 20);
	REC("no new edge", epoll_wait(ep, &ev, 1, 0));
	rec_recv("take", p.s, 1, MSG_OOB);
	send_urgent(p.c, "Y", 1);
	REC("second", epoll_wait(ep, &ev, 1, WAIT_MS));
	rec_recv("take", p.s, 1, MSG_OOB);
	close(ep);
}

static void urgent_at_the_end(void)
{
	struct pair p = pair_make();

	send_urgent(p.c, "abX", 3);
	close(p.c);
	await_urgent(p.s);
	need(poll_for(p.s, POLLRDHUP, WAIT_MS), "no end");
	rec_mask("ready", p.s);
	rec_recv("ordinary", p.s, 10, 0);
	rec_recv("urgent", p.s, 1, MSG_OOB);
	rec_recv("again", p.s, 1, MSG_OOB);
	rec_recv("end", p.s, 10, 0);
	rec_recv("urgent after the end", p.s, 1, MSG_OOB);
}

static void urgent_not_connected(void)
{
	int fd = fresh(0), listening = listener(1, NULL);

	handle(SIGPIPE, on_pipe, 0);
	REC("send, fresh", send(fd, "X", 1, MSG_OOB));
	rec("SIGPIPE", "%d", pipes);
	rec_recv("recv, fresh", fd, 1, MSG_OOB);
	rec_mark("mark, fresh", fd);
	REC("send, listener", send(listening, "X", 1, MSG_OOB));
	rec_recv("recv, listener", listening, 1, MSG_OOB);
	rec_mark("mark, listener", listening);
}

/* Many urgent bytes in a stream that is closed: only the last mark counts. */
static void urgent_stream(void)
{
	struct pair p = pair_make();
	long got = 0, n;
	char b[4096];
	int i;

	set_int(p.s, SOL_SOCKET, SO_OOBINLINE, 1);
	for (i = 0; i < 50; i++) {
		send_all(p.c, scratch, 100);
		send_urgent(p.c, "X", 1);
	}
	close(p.c);
	while ((n = recv(p.s, b, sizeof(b), 0)) > 0)
		got += n;
	rec("bytes", "%ld", got);
	REC("end", n);
}

static const struct scenario scenarios[] = {
	SCENARIO(urgent_none),
	SCENARIO(urgent_byte),
	SCENARIO(urgent_message),
	SCENARIO(urgent_passed_over),
	SCENARIO(urgent_short_reads),
	SCENARIO(urgent_inline),
	SCENARIO(urgent_twice),
	SCENARIO(urgent_twice_at_the_mark),
	SCENARIO(urgent_signal),
	SCENARIO(urgent_select),
	SCENARIO(urgent_edges),
	SCENARIO(urgent_at_the_end),
	SCENARIO(urgent_not_connected),
	SCENARIO(urgent_stream),
};

const struct scenario_list urgent_scenarios = SCENARIO_LIST(scenarios);
