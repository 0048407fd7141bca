/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs: short sequences of calls.
 *
 * Each step is a call number of the description and a seed for its arguments, so programs are
 * small, and can be repeated, cut, joined and changed.
 */
#ifndef SYSCALLS_PROGRAMS_H
#define SYSCALLS_PROGRAMS_H

#include "values.h"

enum { MAX_STEPS = 24 };

/* Steps that the program performs itself, beside the description's calls. */
enum { STEP_PAIR = 1000, STEP_FORK };

struct step {
	unsigned int call;
	uint64_t seed;
};

struct program {
	unsigned int count;
	struct step steps[MAX_STEPS];
};

/* A new program, or a variant of a kept one. */
void program_make(struct program *p, struct chance *c);

/* Keeps the program: its last step has reached new code. */
void program_keep(const struct program *p, unsigned int count);

#endif
