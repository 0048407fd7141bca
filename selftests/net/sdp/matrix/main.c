// SPDX-License-Identifier: GPL-2.0
/*
 * Every call in every state of a socket has the same results with AF_SDP as with TCP (J1).
 *
 * For each state of a socket that matters, and each call and flag, the same cell is made with TCP
 * and with AF_SDP over the same addresses. What the call returns, its errno and SIGPIPE, and what
 * it leaves behind (poll mask, SO_ERROR, a further recv and send, the peer's view) must be the
 * same. There is one test point per state and address set. A result that differs fails it, unless
 * it is in the table of known differences. That table must also be right about what AF_SDP does.
 *
 *	matrix [--self | --policy] [--set NAME]... [-v] [STATE]...
 *
 *	--self		compare TCP with TCP: this proves that results do not depend on chance
 *	--policy	use TCP sockets that a policy turns into SDP by the thread's name
 *			(matrix_undecided.sh)
 *	-v		show all results
 *
 * A child process makes all cells of one state. Calls that leave a state as it is share one
 * socket. Each of the others gets a socket of its own.
 *
 * On the debug kernel it takes a quarter of an hour.
 */
#include <fnmatch.h>

#include "cases.h"
#include "matrix.h"

#define STATE_SECONDS	60
#define BATCH		4	/* states that run at a time */
#define REPEATS		4	/* states that may run once more */

/*
 * Intended differences from TCP: patterns for the state and for the result ("call", or "call: what
 * it left behind"), the family of the address set or 0 for both, what AF_SDP shows (a pattern), and
 * why. The first match counts. An entry that a full run never uses fails the test.
 */
static struct difference {
	const char *state, *cell;
	int family;
	const char *sdp, *reason;
	bool used;
} differences[] = {
	{ "*", "get SO_DOMAIN", 0, "0 27", "it is family 27" },
	{ "*", "get SO_PROTOCOL", 0, "0 257", "its protocol is SDP, and it says so" },
	{ "fresh", "getsockname*", AF_INET6, "0 *16 bytes",
	  "an unbound socket may still take addresses of either family" },
	{ "*", "bind, family 0*", AF_INET6, "*", "what is a wildcard for IPv4 is welcome" },
	{ "[!f]*", "ioctl SIOCOUTQ*", 0, "0 0",
	  "SYN and FIN are no bytes here, and what is over has nothing left to send" },
};

/* The same for sockets that the policy has made. An entry that is never used fails nothing. */
static struct difference policy_differences[] = {
	{ "*", "get SO_PROTOCOL", 0, "0 257", "once it is SDP, it says so" },
	{ "connecting", "disconnect", 0, "0 port 0", "the port was SDP's, and went with it" },
	{ "[!f]*", "ioctl SIOCOUTQ*", 0, "0 0",
	  "SYN and FIN are no bytes here, and what is over has nothing left to send" },
};

static const struct call_list *const groups[] = {
	&looking_calls, &changing_calls, &recv_calls, &send_calls, &setting_calls,
};

static bool self_test, verbose;
static unsigned int compared, excused, repeated;

struct job {
	const struct state *state;
	bool sdp;
	struct log *log;
	const struct log *reference;
};

static void cell_make(struct cell *x, const struct state *state)
{
	int i;

	*x = (struct cell){ .state = state, .fd = -1, .peer = -1 };
	for (i = 0; i < STEPS && state->steps[i]; i++)
		state->steps[i](x);
}

static void cell_drop(struct cell *x)
{
	if (x->fd >= 0)
		close(x->fd);
	if (x->peer >= 0)
		close(x->peer);
}

static void run_call(const struct state *state, struct cell *shared, const struct call *c)
{
	struct cell own;

	if (!(c->alters & state->kind)) {
		rec_call(shared, c);
		if (c->sends && state->kind & S_ROOM) {
			settle(shared);
			rec_peer(shared, c);
		}
		return;
	}
	cell_make(&own, state);
	rec_call(&own, c);
	settle(&own);
	rec_after(&own, c);
	cell_drop(&own);
}

static int run_state(void *arg)
{
	const struct job *job = arg;
	struct cell shared;
	size_t g, i;

	use_sdp = job->sdp;
	obs = job->log;
	reference = job->reference;
	handle(SIGPIPE, on_pipe, 0);
	hub_make();
	cell_make(&shared, job->state);
	for (g = 0; g < ARRAY_SIZE(groups); g++)
		for (i = 0; i < groups[g]->count; i++)
			run_call(job->state, &shared, &groups[g]->list[i]);
	cell_drop(&shared);
	return EXIT_OK;
}

static struct difference *known(const char *state, const char *label)
{
	struct difference *list = use_policy ? policy_differences : differences;
	size_t n = use_policy ? ARRAY_SIZE(policy_differences) : ARRAY_SIZE(differences), i;

	for (i = 0; !self_test && i < n; i++) {
		struct difference *d = &list[i];

		if (!fnmatch(d->state, state, 0) && !fnmatch(d->cell, label, 0) &&
		    (!d->family || d->family == set->family))
			return d;
	}
	return NULL;
}

static bool same_value(const char *state, const char *label, const char *tcp, const char *sdp)
{
	struct difference *d = known(state, label);
	bool same = !strcmp(tcp, sdp);

	compared++;
	if (verbose)
		printf("#   %-50s %s%s%s\n", label, tcp, same ? "" : " | ", same ? "" : sdp);
	if (same)
		return true;
	if (d && !fnmatch(d->sdp, sdp, 0)) {
		d->used = true;
		excused++;
		return true;
	}
	printf("# %s/%s: TCP: %s, SDP: %s", state, label, tcp, sdp);
	if (d)
		printf(", known to be %s (%s)", d->sdp, d->reason);
	printf("\n");
	return false;
}

/* The run of one state: with TCP, then with AF_SDP, then the comparison. */
struct run {
	const struct state *state;
	struct log *logs[2];
	struct job job;
	struct child child;
	long long start;
	bool ok;
};

static void run_begin(struct run *r, bool second)
{
	if (!r->state)
		return;
	if (!second)
		r->ok = true;
	memset(r->logs[second], 0, sizeof(*r->logs[second]));
	r->job = (struct job){ .state = r->state, .sdp = second && !self_test,
			       .log = r->logs[second], .reference = second ? r->logs[0] : NULL };
	r->start = now_ms();
	r->child = child_start(run_state, &r->job);
}

static void run_end(struct run *r, bool second)
{
	char why[80];
	int status;

	if (!r->state)
		return;
	status = child_wait(&r->child, r->start + STATE_SECONDS * (slow_kernel() ? 3000LL : 1000LL),
			    why);
	if (verbose)
		printf("# %s: %s took %lld ms\n", r->state->name, second ? "SDP" : "TCP",
		       now_ms() - r->start);
	if (status == EXIT_OK)
		return;
	printf("# %s on %s %s, after %zu bytes of log\n", r->state->name, second ? "SDP" : "TCP",
	       why[0] ? why : "could not go on, see above", r->logs[second]->used);
	r->ok = false;
}

/*
 * What TCP shows sometimes depends on timing: it may not have processed a reset yet. So a state
 * that differs runs once more, with no other beside it, and that result counts. This is printed,
 * and only a few states may need it.
 */
static bool run_again(struct run *r)
{
	if (repeated >= REPEATS)
		return false;
	repeated++;
	printf("# %s %s: differs; once more, by itself\n", r->state->name, set->name);
	run_begin(r, false);
	run_end(r, false);
	run_begin(r, true);
	run_end(r, true);
	return r->ok && logs_compare(r->state->name, r->logs, same_value);
}

static void run_judge(struct run *r)
{
	if (!r->state)
		return;
	r->ok &= logs_compare(r->state->name, r->logs, same_value);
	if (!r->ok)
		r->ok = run_again(r);
	tap_point(r->ok, "%s %s", r->state->name, set->name);
	r->state = NULL;
	tap_bail_if_hopeless();
}

static const struct state *next_state(size_t *next, char **names)
{
	while (*next < states_count) {
		const struct state *state = &states[(*next)++];

		if (named(state->name, names) && dealt_out(*next, ALL_SETS))
			return state;
	}
	return NULL;
}

/* While one batch of states runs with AF_SDP, the next one runs with TCP. */
static void run_set(struct run runs[2][BATCH], char **names)
{
	const char *reason = missing(set, !self_test);
	long long start = now_ms();
	unsigned int before = compared;
	size_t next = 0;
	int i, now = 0;
	bool any;

	if (reason) {
		tap_skip(reason, "all states %s", set->name);
		return;
	}
	do {
		struct run *ahead = runs[now], *behind = runs[!now];

		any = false;
		for (i = 0; i < BATCH; i++) {
			ahead[i].state = next_state(&next, names);
			run_begin(&ahead[i], false);
			run_begin(&behind[i], true);
			any |= !!ahead[i].state;
		}
		for (i = 0; i < BATCH; i++) {
			run_end(&ahead[i], false);
			run_end(&behind[i], true);
		}
		for (i = 0; i < BATCH; i++)
			run_judge(&behind[i]);
		now = !now;
	} while (any);
	printf("# %s: %u results compared in %lld ms\n", set->name, compared - before,
	       now_ms() - start);
}

/* When AF_SDP no longer differs, the entry has to be removed from the table. */
static void check_differences(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(differences); i++) {
		if (differences[i].used)
			continue;
		printf("# not seen any more: %s/%s: %s\n", differences[i].state,
		       differences[i].cell, differences[i].sdp);
		ok = false;
	}
	tap_point(ok, "all known differences are still there");
}

int main(int argc, char **argv)
{
	static const struct flag flags[] = {
		{ "--self", &self_test }, { "--policy", &use_policy }, { "-v", &verbose }, { NULL },
	};
	static struct run runs[2][BATCH];
	unsigned int sets;
	char **names = read_options(argv, flags, &sets);
	int i;

	use_twin = use_policy;
	tap_start();
	tap_left_out("each state on one of the address sets");
	for (i = 0; i < 4 * BATCH; i++)
		runs[i / 2 % 2][i / 4].logs[i % 2] = log_make();
	for (i = 0; i < SET_COUNT; i++) {
		set = &addrsets[i];
		if (sets & 1u << i)
			run_set(runs, names);
	}
	printf("# %u results compared, %u of them known to differ; %u states made once more\n",
	       compared, excused, repeated);
	if (!self_test && sets == ALL_SETS && !*names &&
	    tap_passed + tap_failed >= 2 * states_count)
		check_differences();
	return tap_finish();
}
