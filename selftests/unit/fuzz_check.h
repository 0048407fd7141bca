/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a fuzz target checks: CHECK(condition) says which condition is not met, and aborts, so that
 * libFuzzer keeps the input.
 */
#ifndef SDP_FUZZ_CHECK_H
#define SDP_FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)								\
	do {									\
		if (!(what)) {							\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
			abort();						\
		}								\
	} while (0)

#endif /* SDP_FUZZ_CHECK_H */
