/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random arguments of a call: numbers, and the targets of pointers, in an arena.
 *
 * The same seed gives the same arguments, except for resources, which depend on what exists then.
 */
#ifndef SYSCALLS_VALUES_H
#define SYSCALLS_VALUES_H

#include <stddef.h>

#include "types.h"

/* xorshift64*; never 0. */
struct chance {
	uint64_t state;
};

void chance_seed(struct chance *c, uint64_t seed);
uint64_t chance_next(struct chance *c);
/* 0 to @n - 1 */
uint64_t chance_below(struct chance *c, uint64_t n);
/* True once in @n times. */
bool chance_one_of(struct chance *c, unsigned int n);

/* Memory with an inaccessible page behind it; @used of it belongs to the current call. */
struct arena {
	uint8_t *base;
	size_t size, used;
};

enum {
	ARENA_BYTES = 8 << 20,
	GUARD_BYTES = 64 << 10,
	PLAYGROUND_BYTES = 1 << 20,
	PAGE_BYTES = 4096
};

/* Ends the program if there is no memory. */
void arena_init(struct arena *a, size_t size);

/* Where a call stores a resource. */
struct made {
	const uint8_t *at;
	unsigned int kind;
};

typedef uint64_t (*pick_fn)(void *context, unsigned int kind, struct chance *chance);

enum { MAX_MADE = 8 };

struct maker {
	const struct spec *spec;
	struct chance chance;
	struct arena *arena;
	/* Another source of bytes, whose mapping calls may change; it may have no memory. */
	struct arena *playground;
	pick_fn pick;
	void *context;
	bool wild;			/* this call deviates from its description */
	struct made made[MAX_MADE];
	unsigned int made_count;
};

/* Fills @regs with the arguments of @c for @seed. */
void values_make(struct maker *m, const struct call *c, uint64_t seed, uint64_t regs[MAX_ARGS]);

#endif
