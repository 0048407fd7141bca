/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes calls, and notes what they return.
 */
#ifndef SYSCALLS_CALLS_H
#define SYSCALLS_CALLS_H

#include "shared.h"
#include "table.h"

/* A thread's own: where arguments are, and whose descriptors they are of. */
struct caller {
	struct maker maker;
	struct arena arena;
	struct table *table;
	struct lane *lane;
	struct chance chance;
	int fail_nth;			/* of /proc/thread-self; -1: none */
};

/* @playground is the process's. */
void caller_init(struct caller *c, struct table *table, struct arena *playground, struct lane *lane,
		 uint64_t seed);

/* The kernel's numbers for the thread, and what is opened for it. */
void caller_begin(struct caller *c);

/* One call of the description's; @i is its number there. */
void caller_call(struct caller *c, unsigned int i, uint64_t seed);

/* Two connected sockets, and their listener, are made as a program would. */
void caller_pair(struct caller *c, uint64_t seed);

#endif
