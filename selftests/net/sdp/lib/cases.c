// SPDX-License-Identifier: GPL-2.0
#include "cases.h"

/*
 * Number of rounds: an eighth of @count in the short form, and on a slow kernel, which is there to
 * find faults of other kinds.
 */
int scaled(int count)
{
	return slow_kernel() || short_form() ? (count + 7) / 8 : count;
}

/* How long to wait, in the unit of @time: longer on a slow kernel. */
int patience(int time)
{
	return slow_kernel() ? 3 * time : time;
}

bool named(const char *name, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/* For runners that pass no arguments to a program: vm/run.sh -e SDP_CASES='bind listen' ... */
static char **names_wanted(char **names)
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

/*
 * Reads the command line: @flags, which end with one without a name; address sets into *@sets, all
 * of them if none is named; and the names of cases, which it returns.
 */
char **read_options(char **argv, const struct flag *flags, unsigned int *sets)
{
	const struct flag *f;
	int i;

	*sets = 0;
	for (argv++; *argv && **argv == '-'; argv++) {
		for (f = flags; f->name && strcmp(*argv, f->name); f++)
			;
		if (f->name) {
			*f->on = true;
		} else if (!strcmp(*argv, "--set") && argv[1]) {
			argv++;
			for (i = 0; i < SET_COUNT; i++)
				*sets |= (unsigned int)!strcmp(*argv, addrsets[i].name) << i;
		} else {
			fputs("options: [--set lo4|lo6|rc4|rc6]...", stderr);
			for (f = flags; f->name; f++)
				fprintf(stderr, " [%s]", f->name);
			fputs(" [CASE]...\n", stderr);
			exit(EXIT_FAILED);
		}
	}
	if (!*sets)
		*sets = ALL_SETS;
	addrsets_from_environment();
	return names_wanted(argv);
}

static void run_test(const struct test *t)
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

static void run_list(char **names, const struct test_list *list, unsigned int sets)
{
	size_t t;
	int i;

	for (t = 0; t < list->count; t++)
		for (i = 0; i < SET_COUNT; i++) {
			set = &addrsets[i];
			if (named(list->tests[t].name, names) &&
			    list->tests[t].sets & sets & 1u << i)
				run_test(&list->tests[t]);
		}
}

int run_lists(char **argv, const struct test_list *const *lists, size_t count)
{
	bool self_test = false;
	const struct flag flags[] = { { "--self", &self_test }, { "--twin", &use_twin }, { NULL } };
	unsigned int sets;
	char **names = read_options(argv, flags, &sets);
	size_t i;

	use_sdp = !self_test;
	signal(SIGPIPE, SIG_IGN);
	tap_start();
	tap_left_out("an eighth of the rounds, as on the debug kernel");
	settings_save();
	for (i = 0; i < count; i++)
		run_list(names, lists[i], sets);
	return tap_finish();
}

int run_tests(char **argv, const struct test *tests, size_t count)
{
	const struct test_list list = { tests, count };
	const struct test_list *const lists[] = { &list };

	return run_lists(argv, lists, 1);
}

/*
 * A seed that is not 0, which next_random() would never leave: that of SDP_SEED, or another one in
 * each run. The test prints it.
 */
unsigned int seed_drawn(void)
{
	const char *given = getenv("SDP_SEED");
	unsigned int seed = given ? (unsigned int)strtoul(given, NULL, 0) : (unsigned int)now_ms();

	return seed + !seed;
}

/* A xorshift generator. Each thread has a @state of its own, so that a seed repeats a run. */
unsigned int next_random(unsigned int *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Returns 1 to @max. */
unsigned int random_up_to(unsigned int *state, unsigned int max)
{
	return 1 + next_random(state) % max;
}

/* True once in @n calls, on average. */
bool one_in(unsigned int *state, unsigned int n)
{
	return random_up_to(state, n) == 1;
}
