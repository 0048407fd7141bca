// SPDX-License-Identifier: GPL-2.0
/*
 * Random data gather/scatter programs, compared with a simple interpreter (H2, H3).
 *
 *	programs [--programs N] [--seed S]
 *
 * N counts the programs that are run. Others are refused, which is compared, too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "program_check.h"

static u64 state;

static u8 random_byte(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 32;
}

int main(int argc, char **argv)
{
	u64 programs = 100000, seed = 1, n, moved = 0;
	u8 data[600];
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--programs"))
			programs = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
	}
	for (n = seed; programs_run < programs; n++) {
		const char *what;
		u32 bytes;

		state = n * 0x9e3779b97f4a7c15ULL + 1;
		for (i = 0; i < 10; i++)
			random_byte();
		bytes = 2 + random_byte() * 2;
		for (i = 0; i < bytes; i++)
			data[i] = random_byte();
		/* Few of those that come as they are can be run, and only short ones. */
		data[0] |= random_byte() % 8 ? 128 : 0;
		what = program_differs(data, bytes);
		if (what) {
			printf("not ok 1 - program %llu: %s\n", (unsigned long long)n, what);
			return 1;
		}
		moved += reference.bytes;
	}
	printf("# %llu programs from %llu on, %llu of them run, %llu bytes, %llu strips\n",
	       (unsigned long long)(n - seed), (unsigned long long)seed,
	       (unsigned long long)programs_run, (unsigned long long)moved,
	       (unsigned long long)strips_found);
	printf("ok 1 - programs move the bytes that the interpreter moves\n");
	return 0;
}
