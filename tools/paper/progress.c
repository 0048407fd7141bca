// SPDX-License-Identifier: GPL-2.0
/*
 * progress: whether data moves while the application computes (figures 7 and 8 of the paper).
 *
 *	progress [-b BYTES] FAMILY ADDRESS PORT SIZE BURST COMPUTE ROUNDS
 *
 * Two processes exchange bursts of BURST messages of SIZE bytes, and each computes for COMPUTE
 * microseconds after it has sent a burst. If the data in its buffers moves meanwhile, the other
 * one gets the whole burst, answers and computes at the same time: a round takes one computation.
 * If not, the other one gets the remainder after the computation, and the computations follow each
 * other.
 *
 * A computation is a busy loop of that duration. With two processors, each process has one of its
 * own. Every byte is checked.
 *
 *	-b	SO_SNDBUF of both
 *
 * Prints: progress rounds=N round_us=MEAN median_us=... least_us=..., for a round in both
 * directions.
 */
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ends.h"

#define MAX_BYTES	(64u << 20)
#define WARM_ROUNDS	3

static struct {
	size_t size;
	size_t burst;
	double compute;
	size_t rounds;
	char *data;
	char *in;
} cfg;

static void compute(void)
{
	double end = now_us() + cfg.compute;

	while (now_us() < end)
		;
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "processor %d", cpu);
}

static void send_burst(int fd)
{
	size_t i;

	for (i = 0; i < cfg.burst; i++)
		send_all(fd, cfg.data + i * cfg.size, cfg.size);
	compute();
}

static void recv_burst(int fd)
{
	if (!recv_all(fd, cfg.in, cfg.size * cfg.burst))
		errx(1, "the stream has ended");
	if (memcmp(cfg.in, cfg.data, cfg.size * cfg.burst))
		errx(1, "data came wrong");
}

static void answer(int fd)
{
	size_t i;

	stay_on(1);
	for (i = 0; i < WARM_ROUNDS + cfg.rounds; i++) {
		recv_burst(fd);
		send_burst(fd);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void ask(int fd)
{
	double *us = calloc(cfg.rounds, sizeof(*us)), sum = 0;
	size_t i;

	if (!us)
		err(1, "no memory");
	stay_on(0);
	for (i = 0; i < WARM_ROUNDS + cfg.rounds; i++) {
		double began = now_us();

		send_burst(fd);
		recv_burst(fd);
		if (i < WARM_ROUNDS)
			continue;
		us[i - WARM_ROUNDS] = now_us() - began;
		sum += us[i - WARM_ROUNDS];
	}
	qsort(us, cfg.rounds, sizeof(*us), compare);
	printf("progress rounds=%zu round_us=%.1f median_us=%.1f least_us=%.1f\n", cfg.rounds,
	       sum / cfg.rounds, us[cfg.rounds / 2], us[0]);
	free(us);
}

static void prepare(char **argv)
{
	size_t i, bytes;

	cfg.size = number(argv[0], MAX_BYTES);
	cfg.burst = number(argv[1], MAX_BYTES);
	cfg.compute = number(argv[2], 10000000);
	cfg.rounds = number(argv[3], 1000000);
	bytes = cfg.size * cfg.burst;
	if (!bytes || bytes > MAX_BYTES || !cfg.rounds)
		errx(2, "a burst has up to %u bytes, and there has to be a round", MAX_BYTES);
	cfg.data = malloc(bytes);
	cfg.in = malloc(bytes);
	if (!cfg.data || !cfg.in)
		err(1, "no memory for %zu bytes", bytes);
	for (i = 0; i < bytes; i++)
		cfg.data[i] = i * 2654435761u >> 24;
}

int main(int argc, char **argv)
{
	int sndbuf = 0, option;
	struct ends e;

	while ((option = getopt(argc, argv, "+b:")) == 'b')
		sndbuf = number(optarg, INT32_MAX);
	argv += optind;
	if (option != -1 || argc - optind != 7) {
		fputs("usage: progress [-b BYTES] FAMILY ADDRESS PORT SIZE BURST COMPUTE ROUNDS\n",
		      stderr);
		return 2;
	}
	prepare(argv + 3);
	e = connect_ends(family_number(argv[0]), argv[1], number(argv[2], 65535), sndbuf);
	run_ends(e, ask, answer);
	return 0;
}
