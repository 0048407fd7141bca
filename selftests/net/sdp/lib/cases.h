/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Main program of tests that run a list of cases over address sets.
 *
 *	PROGRAM [--self | --twin] [--set NAME]... [TEST]...
 *
 * Without TEST, the cases that $SDP_CASES names run, or all.
 *
 *	--self		on TCP, where they must pass too: this tests the tests
 *	--twin		on IPPROTO_SDP sockets of AF_INET and AF_INET6
 */
#ifndef SDP_TEST_CASES_H
#define SDP_TEST_CASES_H

#include "setting.h"
#include "sock.h"

#define ALL_SETS	((1u << SET_COUNT) - 1)
#define V4_SETS		(1u << SET_LO4 | 1u << SET_RC4)
#define TWO_SETS	(1u << SET_LO6 | 1u << SET_RC4)	/* the sets that run on slow kernels */
#define RC		(1u << SET_RC4)			/* for what needs RDMA, by any address */
#define NOT_SHORT	(1u << SET_COUNT)	/* waits for long: not in the short form */
#define NOT_SLOW	(2u << SET_COUNT)	/* takes minutes on slow kernels, which skip it */

struct test {
	const char *name;
	int (*run)(void *arg);
	int seconds;		/* time limit on a stock kernel */
	unsigned int sets;
	bool sdp_only;		/* uses counters or settings, which TCP does not have */
	void *arg;
};

/* A case for SDP only, named by its function. */
#define CASE(body, seconds, sets) { #body, body, seconds, sets, true, NULL }

/* The cases of one file of a program; its main.c lists the files. */
struct test_list {
	const struct test *tests;
	size_t count;
};

#define TEST_LIST(array)	{ array, ARRAY_SIZE(array) }

/* An option of a program, and what it switches on. */
struct flag {
	const char *name;
	bool *on;
};

char **read_options(char **argv, const struct flag *flags, unsigned int *sets);
bool named(const char *name, char **names);
int scaled(int count);
int patience(int time);
int run_tests(char **argv, const struct test *tests, size_t count);
int run_lists(char **argv, const struct test_list *const *lists, size_t count);

/* The main program of a table of cases, or of an array of such lists. */
#define TEST_MAIN(table) \
	int main(int argc, char **argv) { return run_tests(argv, table, ARRAY_SIZE(table)); }
#define LISTS_MAIN(array) \
	int main(int argc, char **argv) { return run_lists(argv, array, ARRAY_SIZE(array)); }

unsigned int seed_drawn(void);
unsigned int next_random(unsigned int *state);
unsigned int random_up_to(unsigned int *state, unsigned int max);
bool one_in(unsigned int *state, unsigned int n);

#endif /* SDP_TEST_CASES_H */
