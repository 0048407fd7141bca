/* SPDX-License-Identifier: GPL-2.0 */
/* What all processes share: their progress, their findings, and the options. */
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
	_Atomic int pid;		/* 0: unused */
	_Atomic int tid;
	_Atomic unsigned int call;	/* index in the spec */
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
	struct tally tally[MAX_CALLS];		/* the entry behind the described calls: pairs */
	/* With KCOV: a bit for each address reached, and the programs that reached a new one. */
	_Atomic unsigned long reached;
	_Atomic uint8_t bits[REACHED_BITS / 8];
	_Atomic unsigned int kept;		/* this number of programs are complete */
	_Atomic int keeping;			/* a lock */
	struct program programs[MAX_KEPT];
};

/* The command line's options. */
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
