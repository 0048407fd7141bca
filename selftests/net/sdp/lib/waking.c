// SPDX-License-Identifier: GPL-2.0
#include "setting.h"
#include "waking.h"

static const char *const issued[WAKES] = {
	"WakeReadIssued", "WakeUrgentIssued", "WakeWriteIssued",
};

static const char *const skipped[WAKES] = {
	"WakeReadSkipped", "WakeUrgentSkipped", "WakeWriteSkipped",
};

struct wakes wakes_now(void)
{
	struct wakes w;
	int kind;

	for (kind = 0; kind < WAKES; kind++) {
		w.issued[kind] = counter(issued[kind]);
		w.skipped[kind] = counter(skipped[kind]);
		need(w.issued[kind] >= 0 && w.skipped[kind] >= 0, "no counter %s", issued[kind]);
	}
	return w;
}

/*
 * Waits until a wake-up is counted. It is counted after it was made, and the event is visible
 * before it, so a woken thread can be ahead of the counter.
 */
static void await_more(const char *name, long long before, const char *what)
{
	long long end = now_ms() + WAIT_MS;

	while (counter(name) <= before) {
		need(now_ms() < end, "%s, and %s stays at %lld", what, name, before);
		pause_ms(1);
	}
}

void await_issued(enum wake kind, const struct wakes *before, const char *what)
{
	await_more(issued[kind], before->issued[kind], what);
}

void await_skipped(enum wake kind, const struct wakes *before, const char *what)
{
	await_more(skipped[kind], before->skipped[kind], what);
}

void need_not_issued(enum wake kind, const struct wakes *before, const char *what)
{
	long long n = counter(issued[kind]) - before->issued[kind];

	need(!n, "%s: %s %lld more", what, issued[kind], n);
}

/* Reads exactly @n bytes, without counting as a waiter. */
void take(int fd, long n)
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

/* Returns the events of the only descriptor in @ep, or 0 after @ms. */
unsigned int epoll_for(int ep, int ms)
{
	struct epoll_event e = { 0 };
	int n = epoll_wait(ep, &e, 1, ms);

	need_errno(n >= 0, "epoll_wait");
	return n ? e.events : 0;
}
