/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Load while allocations fail at random: short connections beside a permanent one.
 *
 * Each errno has to be a documented one, and no byte may be lost or wrong.
 */
#ifndef SDP_TEST_FAILING_LOAD_H
#define SDP_TEST_FAILING_LOAD_H

#include <pthread.h>
#include "failing_call.h"
#include "info.h"

/**
 * struct tally - what was seen; each number is counted by one thread only
 * @connects: number of calls of connect
 * @refused: number of calls, of any kind, that got no memory
 * @unanswered: number of connects that the other end could not answer
 * @whole: number of streams of which all has arrived and was acknowledged
 * @ended: number of connections that ended too early
 * @moved: number of bytes through the permanent connection
 * @slowest: longest connect, in ms; reset at the start of each level
 */
struct tally {
	unsigned long connects, refused, unanswered, whole, ended, moved;
	long long slowest;
};

/**
 * struct load - what the threads share
 * @where: address of @listening
 * @listening: listener of the short connections
 * @stands: the permanent connection
 * @written: number of bytes written to @stands
 * @stop: there is memory again: finish
 * @quiet: no thread connects any more
 * @seed: random state of the short connections
 * @seen: the counts so far
 */
struct load {
	struct addr where;
	int listening;
	struct pair stands;
	volatile size_t written;
	volatile bool stop, quiet;
	unsigned int seed;
	volatile struct tally seen;
};

void need_bytes(const unsigned char *data, size_t at, ssize_t n);
void serve_one(int fd);
ssize_t write_some(struct load *l, int fd, unsigned char *data);
bool connects(struct load *l, int fd);
int at_random(void *arg);
int as_before(void *arg);

#endif /* SDP_TEST_FAILING_LOAD_H */
