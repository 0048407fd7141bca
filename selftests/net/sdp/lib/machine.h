/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What connections need of the machine and its kernel, and what they take of it.
 */
#ifndef SDP_TEST_MACHINE_H
#define SDP_TEST_MACHINE_H

#include "info.h"
#include "pattern.h"
#include "setting.h"
#include "sock.h"

void allow_descriptors(unsigned int n);
void await_established(long long want);
long long meminfo(const char *name);
long long memory_in_cpu_lists(void);
long long memory_free(void);
void await_memory(long long before, long slack);
long long memory_now(void);
int rdma_objects(const char *kind);
void loopback_up(void);
void await_rest(void);
bool splices_many(void);
bool way_takes(int ms);

/* For tests that use way_takes(). The delay ends also after a test that died. */
#define DELAYED_MAIN(table)						\
	int main(int argc, char **argv)					\
	{								\
		int status;						\
									\
		pattern_make();						\
		status = run_tests(argv, table, ARRAY_SIZE(table));	\
		way_takes(0);						\
		return status;						\
	}

#endif /* SDP_TEST_MACHINE_H */
