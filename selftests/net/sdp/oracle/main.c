// SPDX-License-Identifier: GPL-2.0
/*
 * TCP as the oracle: AF_SDP sockets return what TCP sockets return, call by call (J1).
 *
 * Every scenario runs on TCP sockets and on AF_SDP sockets, over the same addresses and at the same
 * time. Both runs record each result, errno, poll mask, name and byte that they see. A line that
 * differs is a failure, unless the table of known differences below lists it; the table must also
 * be right about what AF_SDP does.
 *
 *	oracle [--self | --twin | --policy | --both] [--set NAME]... [-v] [SCENARIO]...
 *
 * --self compares TCP with TCP, which proves that the scenarios are sound. --twin compares TCP with
 * IPPROTO_SDP sockets of the internet families. --policy compares it with TCP sockets that a policy
 * has made SDP by the program's name; --both with sockets that the policy makes try SDP first
 * (oracle_policy.sh, oracle_both.sh). -v prints the logs. The scenarios are in the other files, by
 * subject.
 */
#include "cases.h"
#include "oracle.h"

#define SCENARIO_SECONDS	30	/* no scenario needs more than 3 s on a slow machine */

/*
 * The intended differences between AF_SDP and TCP: the observation (scenario, label, address family
 * of the address set or 0 for both), the kinds of sockets, what these sockets show, and the reason.
 */
enum { FAMILY_27 = 1, TWIN = 2, POLICY = 4, BOTH = 8 };

static const struct difference {
	const char *scenario, *label;
	int family, sockets;
	const char *sdp, *reason;
} differences[] = {
	{ "socket_args", "dgram, protocol 0", 0, FAMILY_27, "-ESOCKTNOSUPPORT",
	  "family 27 has streams only" },
	{ "socket_args", "dgram, tcp", 0, FAMILY_27, "-ESOCKTNOSUPPORT",
	  "family 27 has streams only" },
	{ "socket_flags", "SO_DOMAIN", 0, FAMILY_27, "27", "it is family 27" },
	{ "names_by_state", "fresh: own", AF_INET6, FAMILY_27, "family 2, [0.0.0.0]:0, 16 bytes",
	  "an unbound socket may still take addresses of either family" },
	{ "bind_not_local", "name", AF_INET6, FAMILY_27, "family 2, [0.0.0.0]:0, 16 bytes",
	  "an unbound socket may still take addresses of either family" },
	{ "bind_again_after_failure", "after failure", AF_INET6, FAMILY_27,
	  "family 2, [0.0.0.0]:0, 16 bytes",
	  "an unbound socket may still take addresses of either family" },
	{ "options_refused", "get, unknown level", AF_INET, FAMILY_27, "-ENOPROTOOPT",
	  "a socket for either family answers as the IPv6 layer does; IPv4's answer is its own" },
	{ "socket_flags", "SO_PROTOCOL", 0, FAMILY_27 | TWIN, "257", "the protocol is its own" },
	{ "options_handed_on", "SO_PROTOCOL", 0, FAMILY_27 | TWIN | POLICY | BOTH, "257",
	  "the protocol is its own" },
	{ "bind_reuse", "third, one listens", 0, POLICY, "0",
	  "until it listens it is a TCP socket, and the one that listens is not" },
	{ "tcp_info_by_state", "one waits", 0, BOTH,
	  "state 10, unacked 0, sacked 3, retransmits 0, probes 0, lost 0",
	  "it is TCP's listener, and what waits is at the other one" },
	{ "bind_port_of_connection", "plain", 0, POLICY | BOTH, "0",
	  "the connection's port is not TCP's" },
};

static const struct scenario_list *const groups[] = {
	&name_scenarios, &connect_scenarios, &data_scenarios, &close_scenarios,
	&share_scenarios, &urgent_scenarios, &option_scenarios,
};

static bool self_test, use_both, verbose;
static struct log *logs[2];		/* of TCP; of the family under test */

struct job {
	const struct scenario *scenario;
	bool sdp;
	struct log *log;
};

static int run_scenario(void *arg)
{
	const struct job *job = arg;

	use_sdp = job->sdp;
	obs = job->log;
	signal(SIGPIPE, SIG_IGN);
	if (geteuid())
		rec("user", "not root");
	job->scenario->run();
	return EXIT_OK;
}

static const struct difference *known(const char *scenario, const char *label)
{
	int kind = use_both ? BOTH : use_policy ? POLICY : use_twin ? TWIN : FAMILY_27;
	size_t i;

	for (i = 0; !self_test && i < ARRAY_SIZE(differences); i++) {
		const struct difference *d = &differences[i];

		if (!strcmp(d->scenario, scenario) && !strcmp(d->label, label) &&
		    (!d->family || d->family == set->family) &&
		    d->sockets & kind)
			return d;
	}
	return NULL;
}

/*
 * Compares two observations of the same label. Returns false if they differ and the table of
 * differences does not say so.
 */
static bool same_value(const char *scenario, const char *label, const char *tcp, const char *sdp)
{
	const struct difference *d = known(scenario, label);

	if (verbose)
		printf("#   %-40s %-32s %s\n", label, tcp, strcmp(tcp, sdp) ? sdp : "");
	if (d) {
		if (!strcmp(sdp, d->sdp))
			return true;
		printf("# %s: %s: known to be %s (%s), but is %s, and %s on TCP\n", scenario, label,
		       d->sdp, d->reason, sdp, tcp);
		return false;
	}
	if (!strcmp(tcp, sdp))
		return true;
	printf("# %s: %s: TCP: %s, SDP: %s\n", scenario, label, tcp, sdp);
	return false;
}

static void run_point(const struct scenario *scenario)
{
	struct job jobs[2] = {
		{ .scenario = scenario, .log = logs[0] },
		{ .scenario = scenario, .log = logs[1], .sdp = !self_test },
	};
	static const char * const who[2] = { "TCP", "SDP" };
	long long start = now_ms(), end = start + SCENARIO_SECONDS * 1000LL;
	struct child children[2];
	char why[80];
	int i, status;
	bool ok = true;

	if (use_both && !strcmp(scenario->name, "connect_timed_out")) {
		tap_skip("where one listener has no room, the other one has", "%s %s",
			 scenario->name, set->name);
		return;
	}
	for (i = 0; i < 2; i++) {
		memset(logs[i], 0, sizeof(*logs[i]));
		children[i] = child_start(run_scenario, &jobs[i]);
	}
	for (i = 0; i < 2; i++) {
		status = child_wait(&children[i], end, why);
		if (status != EXIT_OK) {
			printf("# %s on %s %s\n", scenario->name, who[i],
			       why[0] ? why : "could not go on, see above");
			ok = false;
		}
	}
	settings_restore();
	if (verbose)
		printf("# %s took %lld ms\n", scenario->name, now_ms() - start);
	if (ok && !logs[0]->used && !logs[1]->used) {
		tap_skip("not for these addresses", "%s %s", scenario->name, set->name);
		return;
	}
	ok &= logs_compare(scenario->name, logs, same_value);
	tap_point(ok, "%s %s", scenario->name, set->name);
	tap_bail_if_hopeless();
}

static void run_set(unsigned int sets, char **names)
{
	const char *reason = missing(set, !self_test);
	long long start = now_ms();
	unsigned int n = 0;
	size_t g, i;

	if (reason) {
		tap_skip(reason, "all scenarios %s", set->name);
		return;
	}
	for (g = 0; g < ARRAY_SIZE(groups); g++) {
		for (i = 0; i < groups[g]->count; i++, n++) {
			const struct scenario *s = &groups[g]->list[i];

			if (named(s->name, names) && (!s->few || set->family == AF_INET) &&
			    dealt_out(n, s->few ? sets & V4_SETS : sets))
				run_point(s);
		}
	}
	printf("# %s took %lld ms\n", set->name, now_ms() - start);
}

/*
 * The kernel timestamps packets while some socket wants timestamps, and switches this on and off
 * asynchronously. This socket wants them for the whole run, so every scenario finds it switched on.
 */
static void stamp_packets(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	need_errno(fd >= 0, "socket");
	set_int(fd, SOL_SOCKET, SO_TIMESTAMP, 1);
}

int main(int argc, char **argv)
{
	static const struct flag flags[] = {
		{ "--self", &self_test }, { "--twin", &use_twin }, { "--policy", &use_policy },
		{ "--both", &use_both }, { "-v", &verbose }, { NULL },
	};
	unsigned int sets;
	char **names = read_options(argv, flags, &sets);
	int i;

	use_policy |= use_both;
	use_twin |= use_policy;
	tap_start();
	tap_left_out("each scenario on one of the address sets");
	stamp_packets();
	settings_save();
	for (i = 0; i < 2; i++)
		logs[i] = log_make();
	for (i = 0; i < SET_COUNT; i++) {
		set = &addrsets[i];
		if (sets & 1u << i)
			run_set(sets, names);
	}
	return tap_finish();
}
