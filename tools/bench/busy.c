// SPDX-License-Identifier: GPL-2.0
/*
 * Busy time of all processors, of everything that runs on them.
 *
 * /proc/stat has the idle time in hundredths of a second, which is too coarse for a run of fifty
 * milliseconds. /proc/timer_list has the same counters in nanoseconds, as of the time when the
 * processor last left idleness. So every processor is woken, by moving there, before the counters
 * are read.
 *
 * With BENCH_CLOCK=instructions in the environment, time counts instructions, and processors take
 * turns: one that waits for its turn is not idle, but does nothing. Then the busy time cannot
 * exceed the elapsed time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"

static char text[1 << 20];

/* Moves to every processor once, and back, so that the scheduler finds this thread in its place. */
static void wake_processors(void)
{
	int here = sched_getcpu(), cpu, i;
	cpu_set_t allowed, one;

	if (here < 0 || sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	for (i = 1; i <= CPU_SETSIZE; i++) {
		cpu = (here + i) % CPU_SETSIZE;
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	sched_setaffinity(0, sizeof(allowed), &allowed);
}

static int read_timer_list(void)
{
	int fd = open("/proc/timer_list", O_RDONLY);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += n;
	text[used] = '\0';
	close(fd);
	return n < 0 ? -1 : 0;
}

/* Waiting for a disk is idle time as well. Every processor has a line of each kind. */
static int parse_timer_list(struct busy_mark *mark)
{
	static const char *const names[] = { ".idle_sleeptime", ".iowait_sleeptime" };
	const char *p;
	int found = 0;
	size_t i;

	mark->idle_ns = 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (p = text; (p = strstr(p, names[i])); found++) {
			p = strchr(p, ':');
			if (!p)
				return -1;
			mark->idle_ns += strtod(p + 1, NULL);
		}
	}
	return found ? 0 : -1;
}

static int take(struct busy_mark *mark)
{
	struct timespec t;

	wake_processors();
	clock_gettime(CLOCK_MONOTONIC, &t);
	mark->now_ns = t.tv_sec * 1e9 + t.tv_nsec;
	return read_timer_list() ? -1 : parse_timer_list(mark);
}

/* Two marks measure what taking a mark costs. */
int busy_start(struct busy_meter *meter)
{
	return take(&meter->before) || take(&meter->begin) ? -1 : 0;
}

int busy_stop(struct busy_meter *meter)
{
	return take(&meter->end);
}

static double elapsed_ns(const struct busy_mark *from, const struct busy_mark *to)
{
	return to->now_ns - from->now_ns;
}

static double busy_ns(const struct busy_mark *from, const struct busy_mark *to)
{
	return elapsed_ns(from, to) * sysconf(_SC_NPROCESSORS_ONLN) -
	       (to->idle_ns - from->idle_ns);
}

double busy_elapsed_us(const struct busy_meter *meter)
{
	return (elapsed_ns(&meter->begin, &meter->end) -
		elapsed_ns(&meter->before, &meter->begin)) * 1e-3;
}

double busy_us(const struct busy_meter *meter)
{
	double us = (busy_ns(&meter->begin, &meter->end) -
		     busy_ns(&meter->before, &meter->begin)) * 1e-3;
	const char *what = getenv("BENCH_CLOCK");
	int turns = what && !strcmp(what, "instructions");

	return turns && us > busy_elapsed_us(meter) ? busy_elapsed_us(meter) : us;
}
