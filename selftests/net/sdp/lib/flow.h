/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream to a reader in a process of its own, which checks each byte.
 */
#ifndef SDP_TEST_FLOW_H
#define SDP_TEST_FLOW_H

#include "pattern.h"

#define CHUNK	(64 << 10)

/**
 * struct flow - a stream from the connecting end to a reader, or from the accepting end
 * @p: the pair
 * @out: its writing end
 * @in: its reading end, which is closed in the writer's process
 * @at: bytes that have been written
 * @reader: process of the reader
 */
struct flow {
	struct pair p;
	int out, in;
	long at;
	pid_t reader;
};

ssize_t read_stream(const struct flow *f, long *at);
struct flow flow_to(struct pair p, bool back, void (*reader)(void *f));
struct flow flow_of(struct pair p, bool back);
struct flow flow_begin(bool back);
void flow_more(struct flow *f, long len);
void flow_until(struct flow *f, const char *what, long long want);
void flow_over(const struct flow *f);
void flow_answer(const struct flow *f, long at);
void flow_end(struct flow *f);

#endif /* SDP_TEST_FLOW_H */
