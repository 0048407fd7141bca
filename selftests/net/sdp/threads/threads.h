/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bodies that run on TCP first, blocked threads, frequent signals.
 */
#ifndef SDP_TEST_THREADS_H
#define SDP_TEST_THREADS_H

#include "pattern.h"
#include <pthread.h>
#include <stdatomic.h>

struct body {
	void (*run)(void);
};

int tcp_first(void *arg);
const char *family_name(void);
pthread_t thread_start(void *(*body)(void *), void *arg);
void await_count(atomic_int *count, int n);
int full_listener(struct addr *where, int queued[2]);
void catch_signals(void);
timer_t pelted_with(int sig);

#endif /* SDP_TEST_THREADS_H */
