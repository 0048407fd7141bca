/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cases of each file, and what they share: bodies that run on TCP first, signals.
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

/* close.c */
int closed_by_another(void *arg);

/* records.c */
void whole_records(void);
void shared_stream(void);
void writers_only(void);

/* signals.c */
void signals_in_streams(void);
void signals_while_idle(void);
void signals_in_connects(void);
void signals_while_connecting(void);

#endif /* SDP_TEST_THREADS_H */
