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

static inline unsigned char byte_at(size_t at)
{
	return at * 13 + at / 251;
}

static inline void need_talk(int a, int b)
{
	char c = 0;

	need(send(a, "x", 1, 0) == 1 && recv(b, &c, 1, 0) == 1 && c == 'x', "it does not work");
	need(send(b, "y", 1, 0) == 1 && recv(a, &c, 1, 0) == 1 && c == 'y', "nor back");
}

static inline void no_setup(struct state *s)	{ (void)s; }

static inline void prepare_pair(struct state *s)	{ s->p = pair_make(); }

static inline bool is_shortage(int error)
{
	return error == ENOMEM || error == ENOBUFS;
}

/* The first allocation to fail, if every @step'th does: random in the short form, else 1. */
static inline int sweep_from(int step)
{
	const char *given = getenv("SDP_SEED");
	unsigned int seed = given ? (unsigned int)atoi(given) : (unsigned int)now_ms();

	if (!short_form())
		return 1;
	printf("# each %d'th allocation, SDP_SEED=%u\n", step, seed);
	return 1 + seed % step;
}

static inline int sweep(void *arg)
{
	const struct call *c = arg;
	struct state s = { .data = malloc(LARGE) };
	int n, step = short_form() ? 3 : 1, error, refused = 0;
	bool failed = true;

	if (!can_fail())
		return EXIT_SKIPPED;
	(c->setup ?: prepare_pair)(&s);
	for (n = sweep_from(step); failed; n += step) {
		need(n < MOST, "still an allocation to fail");
		if (c->prepare)
			c->prepare(&s);
		fail_at(n);
		error = c->run(&s) < 0 ? errno : 0;
		failed = has_failed();
		need(!error || failed, "without a failure: %s", errno_text(error));
		need(!error || (c->fails && is_shortage(error)) || (c->inode && error == ENFILE),
		     "allocation %d: %s", n, errno_text(error));
		if (error) {
			refused++;
			if (c->refused)
				c->refused(&s);
			need(c->run(&s) >= 0, "again, after allocation %d: %s", n,
			     errno_text(errno));
		}
		if (c->after)
			c->after(&s);
	}
	printf("# about %d allocations, %d refused calls\n", n - step - 1, refused);
	return EXIT_OK;
}

#endif /* SDP_TEST_FAILING_CALL_H */
