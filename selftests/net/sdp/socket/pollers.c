// SPDX-License-Identifier: GPL-2.0
/*
 * Pollers that ask for several kinds of events: no lost event and no needless wake-up.
 *
 * Asynchronous polls of the kernel have room for one wait queue (aio) or two (io_uring); they work
 * as with TCP. Each poller is told of every kind that it asks for. An event that no poller asks for
 * costs no wake-up, as the counters show, those of urgent data included (requirements F1-F3).
 */
#include "cases.h"
#include "info.h"
#include "uring.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

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

static void take(int fd, long n)
{
	static char block[16384];
	long long end = now_ms() + WAIT_MS;
	ssize_t got;

	while (n) {
		got = recv(fd, block, n < (long)sizeof(block) ? n : (long)sizeof(block),
			   MSG_DONTWAIT);
		need(got > 0 || (got < 0 && errno == EAGAIN && now_ms() < end),
		     "%ld bytes are missing", n);
		if (got > 0)
			n -= got;
		else
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

/* Counters of wake-ups in the whole network namespace. */
enum { READ, URGENT, WRITE, KINDS };

static const char *const issued[KINDS] = {
	"WakeReadIssued", "WakeUrgentIssued", "WakeWriteIssued",
};

static const char *const skipped[KINDS] = {
	"WakeReadSkipped", "WakeUrgentSkipped", "WakeWriteSkipped",
};

struct wakes {
	long long issued[KINDS], skipped[KINDS];
};

static struct wakes wakes_now(void)
{
	struct wakes w;
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		w.issued[kind] = counter(issued[kind]);
		w.skipped[kind] = counter(skipped[kind]);
		need(w.issued[kind] >= 0 && w.skipped[kind] >= 0, "no counter %s", issued[kind]);
	}
	return w;
}

/* Waits until an event is counted; it is visible before that. */
static void await_more(const char *name, long long before, const char *what)
{
	long long end = now_ms() + WAIT_MS;

	while (counter(name) <= before) {
		need(now_ms() < end, "%s, and %s stays at %lld", what, name, before);
		pause_ms(1);
	}
}

static void need_none(int kind, const struct wakes *before, const char *what)
{
	long long n = counter(issued[kind]) - before->issued[kind];

	need(!n, "%s: %s %lld more", what, issued[kind], n);
}

struct sleeper {
	pthread_t thread;
	_Atomic pid_t tid;
	int fd;
	short events, got;
};

static void *sleeps(void *arg)
{
	struct sleeper *s = arg;

	atomic_store(&s->tid, gettid());
	s->got = poll_for(s->fd, s->events, 3 * WAIT_MS);
	return NULL;
}

static void sleeper_start(struct sleeper *s, int fd, short events)
{
	*s = (struct sleeper){ .fd = fd, .events = events };
	need(!pthread_create(&s->thread, NULL, sleeps, s), "pthread_create");
	while (!atomic_load(&s->tid))
		pause_ms(1);
	await_asleep(s->tid);
}

static void sleeper_end(struct sleeper *s, short want)
{
	pthread_join(s->thread, NULL);
	need(s->got & want, "woken with %#x instead of %#x", s->got, want);
}

/*
 * An urgent byte comes while nobody waits for it, and while one thread sleeps for it alone. Room
 * and data do not wake this thread.
 */
static int counts_urgent(void *arg)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	struct wakes before = wakes_now();
	struct sleeper s;
	long sent;

	need_errno(send(p.s, "u", 1, MSG_OOB) == 1, "send urgent");
	await_more(skipped[URGENT], before.skipped[URGENT], "nobody waits for an urgent byte");
	need_none(URGENT, &before, "nobody waits");
	need(poll_for(p.c, POLLPRI, WAIT_MS) == POLLPRI, "no urgent byte is shown");
	need_errno(recv(p.c, &(char){ 0 }, 1, MSG_OOB) == 1, "take urgent");
	await_ends_rest(p.c, p.s);

	sleeper_start(&s, p.c, POLLPRI);
	before = wakes_now();
	sent = fill_to_rest(p.c, p.s);
	take(p.s, sent);
	send_all(p.s, "x", 1);
	await_data(p.c);
	await_more(skipped[READ], before.skipped[READ], "data came");
	await_more(skipped[WRITE], before.skipped[WRITE], "room came");
	need_none(READ, &before, "one waits for urgent data");
	need_none(WRITE, &before, "one waits for urgent data");
	need_errno(send(p.s, "u", 1, MSG_OOB) == 1, "send urgent");
	sleeper_end(&s, POLLPRI);
	await_more(issued[URGENT], before.issued[URGENT], "an urgent byte woke a poller");
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
	struct sleeper s;
	int round;

	for (round = 0; round < 6; round++) {
		bool urgent = round & 1;

		sleeper_start(&s, p.c, POLLIN | POLLPRI);
		before = wakes_now();
		take(p.s, fill_to_rest(p.c, p.s));
		await_more(skipped[WRITE], before.skipped[WRITE], "room came");
		need_none(WRITE, &before, "one waits for data and urgent data");
		need_errno(send(p.s, "x", 1, urgent ? MSG_OOB : 0) == 1, "send");
		sleeper_end(&s, urgent ? POLLPRI : POLLIN);
		await_more(issued[urgent ? URGENT : READ],
			   before.issued[urgent ? URGENT : READ], "it was woken");
		need_errno(recv(p.c, &(char){ 0 }, 1, urgent ? MSG_OOB : 0) == 1, "recv");

		await_ends_rest(p.c, p.s);
		before = wakes_now();
		send_all(p.s, "y", 1);
		await_data(p.c);
		take(p.c, 1);
		await_more(skipped[READ], before.skipped[READ], "nobody waits for data any more");
		need_none(READ, &before, "nobody waits");
	}
	return EXIT_OK;
}

static unsigned int epoll_for(int ep, int ms)
{
	struct epoll_event e = { 0 };
	int n = epoll_wait(ep, &e, 1, ms);

	need_errno(n >= 0, "epoll_wait");
	return n ? e.events : 0;
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
