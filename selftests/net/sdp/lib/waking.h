/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wake-ups of those who wait for a socket, by their counters, and waiting that does not count.
 *
 * The counters are those of the whole network namespace, in which nothing else may use the module
 * meanwhile.
 */
#ifndef SDP_TEST_WAKING_H
#define SDP_TEST_WAKING_H

#include "info.h"
#include <sys/epoll.h>

enum wake { WAKE_READ, WAKE_URGENT, WAKE_WRITE, WAKES };

struct wakes {
	long long issued[WAKES], skipped[WAKES];
};

struct wakes wakes_now(void);
void await_issued(enum wake kind, const struct wakes *before, const char *what);
void await_skipped(enum wake kind, const struct wakes *before, const char *what);
void need_not_issued(enum wake kind, const struct wakes *before, const char *what);
void take(int fd, long n);
unsigned int epoll_for(int ep, int ms);

#endif /* SDP_TEST_WAKING_H */
