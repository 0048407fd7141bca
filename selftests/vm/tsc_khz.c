// SPDX-License-Identifier: GPL-2.0
/*
 * tsc_khz: prints the frequency of this processor's time stamp counter in kHz.
 *
 * boot.sh passes it to the guest's kernel, which uses the same counter.
 *
 * Each end of the measurement is the narrowest of many pairs of readings, so that a busy host,
 * which preempts the program between the two readings of a pair, does not change the result.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES	200

static uint64_t ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

struct reading {
	uint64_t ns;
	uint64_t cycles;
};

static struct reading read_both(void)
{
	struct reading best = { 0 };
	uint64_t narrowest = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc();
		uint64_t time = ns();
		uint64_t width = __rdtsc() - before;

		if (width >= narrowest)
			continue;
		narrowest = width;
		best = (struct reading){ .ns = time, .cycles = before + width / 2 };
	}
	return best;
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 100000000 };
	struct reading start = read_both(), end;

	nanosleep(&pause, NULL);
	end = read_both();
	printf("%.0f\n", (double)(end.cycles - start.cycles) * 1e6 / (end.ns - start.ns));
	return 0;
}
