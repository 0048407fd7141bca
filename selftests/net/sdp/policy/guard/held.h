/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy tests with memory that blocks the kernel: only the program's own calls wait.
 */
#ifndef SDP_TEST_POLICY_GUARD_HELD_H
#define SDP_TEST_POLICY_GUARD_HELD_H

#include "policy_share.h"
#include "traced.h"

struct slow {
	int fd, faults;
	void *page;
	struct addr where;
};

bool slow_memory(struct slow *s);
void slow_memory_goes_on(struct slow *s);
int slow_memory_of_others(void *arg);
void *linger_slowly(void *arg);
enum held_end { FALLS_BACK, CONNECTED };
int held(void *arg);
int held_asked_rarely(void *arg);
int held_reset(void *arg);

#endif /* SDP_TEST_POLICY_GUARD_HELD_H */
