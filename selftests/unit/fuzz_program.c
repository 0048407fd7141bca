// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: data gather/scatter programs, compared with a simple interpreter (H2, H3).
 */
#include <stdio.h>
#include <stdlib.h>

#include "program_check.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	const char *what = program_differs(data, bytes);

	if (what) {
		fprintf(stderr, "not so: %s differs\n", what);
		abort();
	}
	return 0;
}
