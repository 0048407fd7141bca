/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Main program of tests that run a list of cases over address sets.
 *
 *	PROGRAM [--self | --twin | --policy] [--set NAME]... [TEST]...
 *
 * Without TEST, the cases that $SDP_CASES names run, or all.
 *
 *	--self		on TCP, where they must pass too: this tests the tests
 *	--twin		on IPPROTO_SDP sockets of AF_INET and AF_INET6
 *	--policy	on TCP sockets that a policy turns into SDP (rewritten.sh)
 */
#ifndef SDP_TEST_CASES_H
#define SDP_TEST_CASES_H

#include "setting.h"
#include "sock.h"

#define ALL_SETS	((1u << SET_COUNT) - 1)
#define V4_SETS		(1u << SET_LO4 | 1u << SET_RC4)
#define TWO_SETS	(1u << SET_LO6 | 1u << SET_RC4)	/* the sets that run on slow kernels */
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

/*
 * Number of rounds: an eighth of @count in the short form, and on a slow kernel, which is there to
 * find faults of other kinds.
 */
static inline int scaled(int count)
{
	return slow_kernel() || short_form() ? (count + 7) / 8 : count;
}

static inline int patience(int seconds)
{
	return slow_kernel() ? 3 * seconds : seconds;
}

static inline bool named(const char *name, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/* For runners that pass no arguments to a program: vm/run.sh -e SDP_CASES='bind listen' ... */
static inline char **names_wanted(char **names)
{
	static char *wanted[33], text[1024];
	const char *cases = getenv("SDP_CASES");
	char *name;
	size_t n = 0;

	if (*names || !cases)
		return names;
	snprintf(text, sizeof(text), "%s", cases);
	for (name = strtok(text, " "); name && n < ARRAY_SIZE(wanted) - 1; name = strtok(NULL, " "))
		wanted[n++] = name;
	return wanted;
}

static inline void run_test(const struct test *t)
{
	const char *reason = missing(set, use_sdp);

	if (t->sets & NOT_SHORT && short_form()) {
		printf("# short form: not run: %s %s\n", t->name, set->name);
		return;
	}
	if (!reason && t->sets & NOT_SLOW && slow_kernel())
		reason = "this kernel is slow; the others do it";
	if (!reason && t->sdp_only && !use_sdp)
		reason = "TCP has no such counters or settings";
	if (reason) {
		tap_skip(reason, "%s %s", t->name, set->name);
		return;
	}
	tap_run(t->run, t->arg, patience(t->seconds), "%s %s", t->name, set->name);
	settings_restore();
}

static inline int run_tests(char **argv, const struct test *tests, size_t count)
{
	unsigned int sets = 0;
	size_t t;
	int i;

	for (argv++; *argv && **argv == '-'; argv++) {
		if (!strcmp(*argv, "--self")) {
			use_sdp = false;
		} else if (!strcmp(*argv, "--twin")) {
			use_twin = true;
		} else if (!strcmp(*argv, "--policy")) {
			use_policy = true;
			use_twin = true;
		} else if (!strcmp(*argv, "--set") && argv[1]) {
			argv++;
			for (i = 0; i < SET_COUNT; i++)
				sets |= (unsigned int)!strcmp(*argv, addrsets[i].name) << i;
		} else {
			fputs("options: [--self | --twin | --policy] [--set lo4|lo6|rc4|rc6]...\n"
			      "         [TEST]...\n", stderr);
			return EXIT_FAILED;
		}
	}
	argv = names_wanted(argv);
	addrsets_from_environment();
	signal(SIGPIPE, SIG_IGN);
	tap_start();
	tap_left_out("an eighth of the rounds, as on the debug kernel");
	settings_save();
	for (t = 0; t < count; t++)
		for (i = 0; i < SET_COUNT; i++) {
			set = &addrsets[i];
			if (named(tests[t].name, argv) && tests[t].sets & 1u << i &&
			    (!sets || sets & 1u << i))
				run_test(&tests[t]);
		}
	return tap_finish();
}

/* A xorshift generator. Each thread has a @state of its own, so that a seed repeats a run. */
static inline unsigned int next_random(unsigned int *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Returns 1 to @max. */
static inline unsigned int random_up_to(unsigned int *state, unsigned int max)
{
	return 1 + next_random(state) % max;
}

#endif /* SDP_TEST_CASES_H */
