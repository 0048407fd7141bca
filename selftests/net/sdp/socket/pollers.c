// SPDX-License-Identifier: GPL-2.0
/*
 * Pollers that ask for several kinds of events: no lost event and no needless wake-up.
 *
 * Asynchronous polls of the kernel have room for one wait queue (aio) or two (io_uring); they work
 * as with TCP. Each poller is told of every kind that it asks for. An event that no poller asks for
 * costs no wake-up, as the counters show, those of urgent data included (requirements F1-F3).
 */
#include "cases.h"
#include "observe.h"
#include "uring.h"
#include "waking.h"

#define SMALL_BUFFER	16384

/*
 * A way to poll by asynchronous requests. @result returns the events that are reported within @ms,
 * or 0. @urgent: it reports urgent data alone; io_uring does not, and not for TCP either.
 */
struct requests {
	bool urgent;
	void (*begin)(void);
	void (*arm)(int fd, int events);
	int (*result)(int ms);
};

static const struct requests by_aio = { true, aio_begin, aio_arm, aio_result };
static const struct requests by_uring = { false, ring_open, uring_arm, uring_result };

static void need_result(const struct requests *by, int want, const char *what)
{
	int got = by->result(WAIT_MS);

	need(got & want, "%s: %#x instead of %#x", what, got, want);
}

static void need_nothing(const struct requests *by, const char *when)
{
	int got = by->result(quiet_ms());

	need(!got, "ready without cause %s: %#x", when, got);
}

/* Waits for data without counting as a waiter, and skips an urgent byte before it. */
static void await_data(int fd)
{
	long long end = now_ms() + WAIT_MS;

	while (recv(fd, &(char){ 0 }, 1, MSG_PEEK | MSG_DONTWAIT) != 1) {
		need(now_ms() < end, "no data");
		pause_ms(1);
	}
}

/*
 * A full socket is polled for all kinds, one request at a time. Each event completes one request.
 */
static int requests(void *arg)
{
	const int all = POLLIN | POLLOUT | POLLPRI | POLLRDHUP;
	struct pair p = pair_sized(SMALL_BUFFER);
	const struct requests *by = arg;
	long sent = fill_ends(p.c, p.s);

	by->begin();
	by->arm(p.c, all);
	need_nothing(by, "at first");
	send_all(p.s, "x", 1);
	need_result(by, POLLIN, "of data");
	drain(p.c, 1);
	/* The peer's data may have brought room with it, so the socket is filled again. */
	sent += fill_ends(p.c, p.s);

	if (by->urgent) {
		by->arm(p.c, POLLPRI | POLLOUT | POLLRDHUP);
		need_nothing(by, "after data");
		need_errno(send(p.s, "u", 1, MSG_OOB) == 1, "send urgent");
		need_result(by, POLLPRI, "of urgent data");
		need_errno(recv(p.c, &(char){ 0 }, 1, MSG_OOB) == 1, "take urgent");
		sent += fill_ends(p.c, p.s);
	}

	by->arm(p.c, POLLIN | POLLOUT | POLLPRI);
	drain(p.s, sent);
	need_result(by, POLLOUT, "of room");
	sent = fill_ends(p.c, p.s);

	by->arm(p.c, POLLPRI | POLLOUT);
	need_nothing(by, "of two");
	drain(p.s, sent);
	need_result(by, POLLOUT, "of room, of two");
	by->arm(p.c, POLLPRI | POLLRDHUP);
	close(p.s);
	need_result(by, POLLRDHUP | POLLHUP, "of the end");
	return EXIT_OK;
}

static long sleeps_for_urgent(int fd)
{
	return poll_for(fd, POLLPRI, 3 * WAIT_MS);
}

static long sleeps_for_several(int fd)
{
	return poll_for(fd, POLLIN | POLLPRI, 3 * WAIT_MS);
}

static void woken_by(struct caller *c, short want)
{
	pthread_join(c->thread, NULL);
	need(c->ret & want, "woken with %#lx instead of %#x", c->ret, want);
}

/*
 * An urgent byte comes while nobody waits for it, and while one thread sleeps for it alone. Room
 * and data do not wake this thread.
 */
static int counts_urgent(void *arg)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	struct wakes before = wakes_now();
	struct caller s;
	long sent;

	need_errno(send(p.s, "u", 1, MSG_OOB) == 1, "send urgent");
	await_skipped(WAKE_URGENT, &before, "nobody waits for an urgent byte");
	need_not_issued(WAKE_URGENT, &before, "nobody waits");
	need(poll_for(p.c, POLLPRI, WAIT_MS) == POLLPRI, "no urgent byte is shown");
	need_errno(recv(p.c, &(char){ 0 }, 1, MSG_OOB) == 1, "take urgent");
	await_ends_rest(p.c, p.s);

	caller_start(&s, sleeps_for_urgent, p.c);
	before = wakes_now();
	sent = fill_to_rest(p.c, p.s);
	take(p.s, sent);
	send_all(p.s, "x", 1);
	await_data(p.c);
	await_skipped(WAKE_READ, &before, "data came");
	await_skipped(WAKE_WRITE, &before, "room came");
	need_not_issued(WAKE_READ, &before, "one waits for urgent data");
	need_not_issued(WAKE_WRITE, &before, "one waits for urgent data");
	need_errno(send(p.s, "u", 1, MSG_OOB) == 1, "send urgent");
	woken_by(&s, POLLPRI);
	await_issued(WAKE_URGENT, &before, "an urgent byte woke a poller");
	return EXIT_OK;
}

/*
 * A thread sleeps for data and urgent data. Room does not wake it; data and urgent data do. Each is
 * repeated, because the record of what a poller asks for must not outlive the poller.
 */
static int counts_several(void *arg)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	struct wakes before;
	struct caller s;
	int round;

	for (round = 0; round < 6; round++) {
		bool urgent = round & 1;

		caller_start(&s, sleeps_for_several, p.c);
		before = wakes_now();
		take(p.s, fill_to_rest(p.c, p.s));
		await_skipped(WAKE_WRITE, &before, "room came");
		need_not_issued(WAKE_WRITE, &before, "one waits for data and urgent data");
		need_errno(send(p.s, "x", 1, urgent ? MSG_OOB : 0) == 1, "send");
		woken_by(&s, urgent ? POLLPRI : POLLIN);
		await_issued(urgent ? WAKE_URGENT : WAKE_READ, &before, "it was woken");
		need_errno(recv(p.c, &(char){ 0 }, 1, urgent ? MSG_OOB : 0) == 1, "recv");

		await_ends_rest(p.c, p.s);
		before = wakes_now();
		send_all(p.s, "y", 1);
		await_data(p.c);
		take(p.c, 1);
		await_skipped(WAKE_READ, &before, "nobody waits for data any more");
		need_not_issued(WAKE_READ, &before, "nobody waits");
	}
	return EXIT_OK;
}

/* Edge-triggered epoll for data and room, as most servers use it, reports both. */
static int epoll_both(void *arg)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET };
	struct pair p = pair_sized(SMALL_BUFFER);
	int ep = epoll_create1(0), round;
	unsigned int got;

	need_errno(ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, p.c, &e), "epoll");
	for (round = 0; round < scaled(100); round++) {
		long sent = fill_ends(p.c, p.s);

		while (epoll_for(ep, 0))
			;
		drain(p.s, sent);
		need(epoll_for(ep, WAIT_MS) & EPOLLOUT, "round %d: room, and no event", round);
		send_all(p.s, "x", 1);
		while (!((got = epoll_for(ep, WAIT_MS)) & EPOLLIN))
			need(got, "round %d: data, and no event", round);
		drain(p.c, 1);
		/* EPOLL_CTL_MOD to another kind of event, and later back to two kinds. */
		e.events = EPOLLPRI;
		need_errno(!epoll_ctl(ep, EPOLL_CTL_MOD, p.c, &e), "EPOLL_CTL_MOD");
		while (epoll_for(ep, 0))
			;
		need_errno(send(p.s, "u", 1, MSG_OOB) == 1, "send urgent");
		need(epoll_for(ep, WAIT_MS) & EPOLLPRI, "round %d: urgent, and no event", round);
		need_errno(recv(p.c, &(char){ 0 }, 1, MSG_OOB) == 1, "take urgent");
		e.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
		need_errno(!epoll_ctl(ep, EPOLL_CTL_MOD, p.c, &e), "EPOLL_CTL_MOD");
	}
	shutdown(p.s, SHUT_WR);
	need(poll_for(p.c, POLLRDHUP, WAIT_MS), "no end");
	while (!((got = epoll_for(ep, WAIT_MS)) & EPOLLRDHUP))
		need(got, "the end, and no event");
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "requests_aio", requests, 60, V4_SETS, false, (void *)&by_aio },
	{ "requests_uring", requests, 60, V4_SETS, false, (void *)&by_uring },
	{ "epoll_both", epoll_both, 60, V4_SETS, false, NULL },
	{ "counts_urgent", counts_urgent, 60, V4_SETS, true, NULL },
	{ "counts_several", counts_several, 60, V4_SETS, true, NULL },
};

TEST_MAIN(tests)
