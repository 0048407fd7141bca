// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink family "sdp", and the reason of a fallback on the socket itself.
 *
 * Covered are each request, what it refuses, who may ask, and whether answers are right while
 * everything changes.
 *
 *
 *	netlink_policy.h	rules and switches
 *	netlink_dump.h		sockets and counters
 *	netlink_explain.h	what the rules say about a socket
 *	netlink_reason.h	fallbacks
 */
#include "policy.h"
#include "dump.h"
#include "explain.h"
#include "reason.h"

#define CASE(body, seconds, sets) { #body, body, seconds, sets, true, NULL }

static const struct test tests[] = {
	CASE(policy_shows, 30, ONE_SET),
	CASE(policy_sets, 30, ONE_SET),
	CASE(policy_refuses, 30, ONE_SET),
	CASE(policy_tells_mistakes, 30, ONE_SET),
	CASE(policy_other_requests, 30, ONE_SET),
	CASE(policy_not_root, 30, ONE_SET),
	CASE(policy_user_namespace, 30, ONE_SET),
	CASE(policy_switch_kept, 30, ONE_SET),
	CASE(policy_namespaces, 30, ONE_SET),
	CASE(policy_whole, 60, ONE_SET),
	CASE(dump_stats, 30, TWO_SETS),
	CASE(dump_shows, 30, ALL_SETS),
	CASE(dump_other_namespace, 30, ONE_SET),
	CASE(dump_many, 60, ONE_SET),
	CASE(dump_left, 60, ONE_SET),
	CASE(sock_kill, 30, ALL_SETS),
	CASE(sock_kill_refused, 30, ONE_SET),
	CASE(explain_rules, 30, ONE_SET),
	CASE(explain_wrong, 30, ONE_SET),
	CASE(explain_comes_true, 30, ALL_SETS),
	CASE(explain_device, 30, ALL_SETS),
	CASE(explain_silent, 30, RC_SETS),
	CASE(reason_of_sdp, 30, ALL_SETS),
	CASE(reason_refused, 30, ALL_SETS),
	CASE(reason_busy, 30, TWO_SETS),
	CASE(reason_silent, 30, RC_SETS),
	CASE(reason_route, 30, ALL_SETS),
	CASE(reason_option_port, 30, TWO_SETS),
	CASE(reason_wrong, 30, TWO_SETS),
	CASE(reason_as_in_proc, 30, TWO_SETS),
	CASE(reason_bound, 90, ONE_SET | NOT_SLOW),
	CASE(reason_while_noted, 60, ONE_SET),
};

int main(int argc, char **argv)
{
	(void)argc;
	return run_tests(argv, tests, ARRAY_SIZE(tests));
}
