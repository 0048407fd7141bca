/* SPDX-License-Identifier: GPL-2.0 */
/* Makes calls, and records their results. */
#ifndef SYSCALLS_CALLS_H
#define SYSCALLS_CALLS_H

#include "shared.h"
#include "table.h"

/* Data of a thread: memory for arguments, and the descriptors. */
struct caller {
	struct maker maker;
	struct arena arena;
	struct table *table;
	struct lane *lane;
	struct chance chance;
	int fail_nth;			/* of /proc/thread-self; -1: none */
};

/* @playground belongs to the process. */
void caller_init(struct caller *c, struct table *table, struct arena *playground, struct lane *lane,
		 uint64_t seed);

/* Sets the thread's ids, and opens its files. */
void caller_begin(struct caller *c);

/* Makes the description's call number @i. */
void caller_call(struct caller *c, unsigned int i, uint64_t seed);

/* Makes two connected sockets and their listener, as a program would. */
void caller_pair(struct caller *c, uint64_t seed);

#endif
