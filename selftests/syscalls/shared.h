/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all processes have in common: how far they are, what they have found, what they are told.
 */
#ifndef SYSCALLS_SHARED_H
#define SYSCALLS_SHARED_H

#include <stdatomic.h>

#include "programs.h"

enum {
	MAX_LANES = 64,
	MAX_CALLS = 256,
	MAX_KEPT = 4096,
	REACHED_BITS = 1 << 20,
};

/* A thread that makes calls, or the only one of a process. */
struct lane {
	_Atomic int pid;		/* 0: nobody */
	_Atomic int tid;
	_Atomic unsigned int call;	/* number in the spec */
	_Atomic uint64_t began;		/* in ms; 0: in no call */
};

struct tally {
	_Atomic unsigned long made, succeeded;
	_Atomic unsigned long us;	/* in the call */
};

struct shared {
	_Atomic unsigned long calls;		/* made so far */
	_Atomic bool stop;
	_Atomic unsigned long pokes, forks, pairs, own_faults, injected;
	struct lane lanes[MAX_LANES];
	struct tally tally[MAX_CALLS];		/* behind those described: pairs */
	/* With KCOV: a bit for each address reached, and programs that reached a new one. */
	_Atomic unsigned long reached;
	_Atomic uint8_t bits[REACHED_BITS / 8];
	_Atomic unsigned int kept;		/* the first of these are complete */
	_Atomic int keeping;			/* a lock */
	struct program programs[MAX_KEPT];
};

/* What is asked for on the command line. */
struct wishes {
	unsigned long calls;
	unsigned int seconds;		/* 0: no limit */
	uint64_t seed;
	unsigned int processes, threads;
	unsigned long quota;		/* calls of a process */
	bool kcov, failures, verbose;
	unsigned int patience;		/* seconds that a call may take */
};

extern struct shared *shared;
extern struct wishes wishes;
extern const struct spec *calls_spec;

uint64_t now_ms(void);
uint64_t now_us(void);

#endif
