/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What code of the kernel a thread's calls reach, by KCOV.
 */
#ifndef SYSCALLS_KCOV_H
#define SYSCALLS_KCOV_H

#include <stdbool.h>

/* Whether this kernel has it. */
bool kcov_there(void);

/* Begin, in each thread; end when it ends by itself. */
bool kcov_begin(void);

/* In a child: what its parent's thread has reached is not the child's. */
void kcov_leave(void);

/* Before a call. */
void kcov_reset(void);

/* After it: notes the addresses that were reached; succeeds if one of them is new. */
bool kcov_collect(void);

#endif
