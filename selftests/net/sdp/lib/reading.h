/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readers that wait before the data comes, and pairs that have learnt Pipelined mode.
 */
#ifndef SDP_TEST_READING_H
#define SDP_TEST_READING_H

#include "info.h"
#include "pattern.h"
#include <pthread.h>

#define NO_SCAN_MS	600000
/* The largest value of reader_wait_ms. */
#define READER_WAIT_MOST	60000

/* Transfers of the same kind that change the mode. */
#define AFTER		3

void only_order_counts(void);
void ping_pong(const struct pair *p, int n, long size);
struct pair pair_pipelined(long size, long *at);
struct pair pair_that_waits(void);
void await_counter_above(const char *name, long long more_than);
void await_all_sent(int fd);

/**
 * struct reading - a receive call in a thread of its own
 * @fd: socket
 * @buf: receive buffer
 * @len: length of @buf in bytes
 * @flags: MSG_*
 * @n: result of recv()
 * @error: errno of recv()
 * @thread: thread that reads
 * @tid: its thread number, once it runs
 */
struct reading {
	int fd;
	unsigned char *buf;
	long len;
	int flags;
	ssize_t n;
	int error;
	pthread_t thread;
	_Atomic pid_t tid;
};

void *reads(void *arg);
void reading_begin(struct reading *r, int fd, unsigned char *buf, long len, int flags);
void reading_post(struct reading *r, int fd, unsigned char *buf, long len, int flags);
void reading_end(struct reading *r, ssize_t n, int error);

#endif /* SDP_TEST_READING_H */
