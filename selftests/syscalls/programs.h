/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A few calls in a row. Each is a number of the description's and a seed for its arguments, so
 * programs are small, and can be made again, cut, joined and changed.
 */
#ifndef SYSCALLS_PROGRAMS_H
#define SYSCALLS_PROGRAMS_H

#include "values.h"

enum { MAX_STEPS = 24 };

/* Beside the description's calls: what a program is told to do by itself. */
enum { STEP_PAIR = 1000, STEP_FORK };

struct step {
	unsigned int call;
	uint64_t seed;
};

struct program {
	unsigned int count;
	struct step steps[MAX_STEPS];
};

/* A new one, or one of those that are kept, changed. */
void program_make(struct program *p, struct chance *c);

/* Keep it: its last step has reached something new. */
void program_keep(const struct program *p, unsigned int count);

#endif
