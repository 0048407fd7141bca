/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sweep of a call: each of its allocations fails once, one after the other.
 *
 * In the short form every third allocation fails. The first one is drawn at random; SDP_SEED in
 * the environment repeats the draw.
 */
#ifndef SDP_TEST_FAILING_CALL_H
#define SDP_TEST_FAILING_CALL_H

#include "cases.h"
#include "failing.h"

/* No call has so many allocations. */
#define MOST		400

#define LARGE		300000

/**
 * struct state - what a call works on
 * @p: a connection
 * @listening: a listener
 * @fd: a socket besides, or the one that the call has made
 * @where: address of the listener
 * @data: buffer for what is sent and received
 * @sent: number of bytes sent on p.c
 * @got: number of bytes received on p.s
 * @done: number of bytes that the call has moved
 */
struct state {
	struct pair p;
	int listening;
	int fd;
	struct addr where;
	unsigned char *data;
	size_t sent;
	size_t got;
	size_t done;
};

/**
 * struct call - a call to sweep
 * @name: for messages
 * @prepare: runs before each attempt
 * @run: the call; returns 0, or -1 with errno
 * @refused: runs after an attempt that has failed, before the call is repeated
 * @after: runs after the attempt that has succeeded
 * @setup: runs once; NULL: make a connection
 * @fails: the call reports that memory is short; if false, it does without
 * @inode: the call makes a socket; it returns ENFILE if there is no memory for the inode
 */
struct call {
	const char *name;
	void (*prepare)(struct state *s);
	int (*run)(struct state *s);
	void (*refused)(struct state *s);
	void (*after)(struct state *s);
	void (*setup)(struct state *s);
	bool fails;
	bool inode;
};

unsigned char byte_at(size_t at);
void need_talk(int a, int b);
void no_setup(struct state *s);
void prepare_pair(struct state *s);
bool is_shortage(int error);
int sweep_from(int step);
int sweep(void *arg);

/* A sweep in a table of cases; the arguments are those of struct call. */
#define SWEEP(name, sets, ...)	\
	{ name, sweep, 60, sets, true, &(struct call){ name, __VA_ARGS__ } }

#endif /* SDP_TEST_FAILING_CALL_H */
