/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel code that a thread's calls reach, by KCOV. */
#ifndef SYSCALLS_KCOV_H
#define SYSCALLS_KCOV_H

#include <stdbool.h>

/* True if this kernel has it. */
bool kcov_there(void);

/* Starts collection, in each thread; it ends with the thread. */
bool kcov_begin(void);

/* In a child: stops using its parent thread's data. */
void kcov_leave(void);

/* Call it before a call. */
void kcov_reset(void);

/* Call it after a call: records the addresses reached; true if one of them is new. */
bool kcov_collect(void);

#endif
