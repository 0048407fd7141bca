/* SPDX-License-Identifier: GPL-2.0 */
/* A process with threads that make calls; see worker.c. */
#ifndef SYSCALLS_WORKER_H
#define SYSCALLS_WORKER_H

#include "shared.h"

/* Lanes of a process: those of its threads, and those of its children. */
enum { LANES_OF_WORKER = 8, CHILD_LANES = 2, MAX_THREADS = LANES_OF_WORKER - CHILD_LANES };

/* Exit statuses: success; a fault in the program's own memory; it could not start. */
enum { WORKER_OK, WORKER_FAULT = 41, WORKER_FAILED = 42 };

/* Does not return. @lanes belong to this process; all random choices follow from @seed. */
void worker_run(struct lane *lanes, uint64_t seed) __attribute__((noreturn));

#endif
