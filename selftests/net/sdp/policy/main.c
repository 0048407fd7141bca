// SPDX-License-Identifier: GPL-2.0
/*
 * The policy (J2): TCP sockets of unmodified programs become SDP, or fall back to TCP.
 *
 * The rules of net.sdp.policy decide. In these tests, "by both" is the verdict both: a connect
 * tries SDP first and then TCP, a listener accepts connections of both protocols. The parts of this
 * program, by subject:
 *
 *	policy_rules.h		which rule decides
 *	policy_text.h		what is a valid policy, what is not, and the error messages
 *	policy_switch.h		net.sdp.rewrite, who may change it, network namespaces
 *	policy_connect.h	connections by both
 *	policy_pair.h		listeners by both
 *	policy_port.h		ports that TCP has assigned and SDP sockets use as well
 *	policy_options.h	options that are set before connect() or listen() hold afterwards
 *	policy_multipath.h	MPTCP sockets
 *	policy_race.h		many sockets at once, and threads that race
 *	policy_early.h		accept() while a socket begins to listen
 */
#include "rules.h"
#include "text.h"
#include "switch.h"
#include "connect.h"
#include "pair.h"
#include "port.h"
#include "options.h"
#include "multipath.h"
#include "race.h"
#include "early.h"

#define RULES(name) \
	{ "rules_" #name, rules, 30, ALL_SETS, true, (void *)name ## _rows }
#define WATCHED(name, way) \
	{ "connect_watched_" name, connect_watched, 60, TWO_SETS, true, (void *)(long)(way) }
#define RACE(name, kind) \
	{ "race_" name, race_one, 90, TWO_SETS, true, (void *)(long)(kind) }
#define EARLY(name, kind) \
	{ "race_accept_" name, race_accept, 90, ONE_SET | NOT_SHORT, true, (void *)(long)(kind) }
#define CLOSE_RACE(name, kind)	RACE("close_" name, RACE_CLOSES + (kind))
#define CASE(body, seconds, sets) { #body, body, seconds, sets, true, NULL }

static const struct test tests[] = {
	RULES(role),
	RULES(program),
	RULES(path),
	RULES(uid),
	RULES(address),
	{ "rules_mapped", rules, 30, V4_SETS, true, (void *)mapped_rows },
	RULES(port),
	RULES(order),
	RULES(libsdp),
	CASE(rules_cgroup, 30, TWO_SETS),
	CASE(rules_others, 30, ONE_SET),
	CASE(text_bad, 30, ONE_SET),
	CASE(text_nul, 30, ONE_SET),
	CASE(text_long, 30, ONE_SET),
	CASE(text_many_rules, 30, ONE_SET),
	CASE(text_in_parts, 30, ONE_SET),
	CASE(text_wrong_parts, 30, ONE_SET),
	CASE(text_empty, 30, ONE_SET),
	CASE(text_read_in_parts, 30, ONE_SET),
	CASE(text_switches, 30, ONE_SET),
	CASE(switch_off, 30, TWO_SETS),
	CASE(switch_between, 30, TWO_SETS),
	CASE(switch_keeps, 30, ALL_SETS),
	CASE(switch_not_root, 30, ONE_SET),
	CASE(switch_user_namespace, 30, ONE_SET),
	CASE(switch_kept, 30, ONE_SET),
	CASE(switch_counts, 30, TWO_SETS),
	CASE(switch_namespaces, 30, ONE_SET),
	CASE(switch_namespace_gone, 60, ONE_SET),
	CASE(connect_tcp_alone, 30, ALL_SETS),
	CASE(connect_sdp_alone, 30, ALL_SETS),
	CASE(connect_pair, 30, ALL_SETS),
	CASE(connect_no_route, 30, TWO_SETS),
	CASE(connect_only_sdp, 30, ALL_SETS),
	CASE(connect_bound, 30, ALL_SETS),
	WATCHED("epoll", LEVEL),
	WATCHED("epoll_edge", EDGE),
	WATCHED("epoll_oneshot", ONESHOT),
	WATCHED("poll", POLL),
	WATCHED("select", SELECT),
	CASE(connect_asked_again, 30, TWO_SETS),
	CASE(connect_busy, 30, TWO_SETS),
	CASE(connect_busy_own_limit, 30, TWO_SETS),
	CASE(connect_busy_no_more, 30, TWO_SETS),
	CASE(connect_no_host, 30, RC_SETS),
	CASE(connect_own_terms, 30, RC_SETS),
	CASE(connect_send_timeout, 30, TWO_SETS),
	CASE(connect_one_deadline, 30, RC_SETS),
	CASE(connect_interrupted, 30, TWO_SETS),
	CASE(connect_given_up, 30, TWO_SETS),
	CASE(connect_option, 30, TWO_SETS),
	CASE(connect_signed, 30, TWO_SETS),
	CASE(connect_option_only_sdp, 30, TWO_SETS),
	CASE(connect_fast_open, 30, TWO_SETS),
	CASE(connect_wrong, 30, TWO_SETS),
	CASE(connect_again, 30, TWO_SETS),
	CASE(pair_accepts, 30, ALL_SETS),
	CASE(pair_turns, 30, TWO_SETS),
	CASE(pair_wakes, 60, TWO_SETS),
	CASE(pair_accept_ends, 30, TWO_SETS),
	CASE(pair_accept_flags, 30, TWO_SETS),
	CASE(pair_close, 30, TWO_SETS),
	CASE(pair_copies, 30, TWO_SETS),
	CASE(pair_shutdown, 30, TWO_SETS),
	CASE(pair_shutdown_wakes, 30, TWO_SETS),
	CASE(pair_destroyed, 30, TWO_SETS),
	CASE(pair_destroyed_connects, 30, TWO_SETS),
	CASE(pair_port_0, 30, TWO_SETS),
	CASE(pair_backlog, 30, TWO_SETS),
	CASE(pair_port_taken, 30, TWO_SETS),
	CASE(pair_ports_meet, 30, TWO_SETS),
	CASE(pair_lives_on, 30, ALL_SETS),
	CASE(pair_plain, 30, TWO_SETS | NOT_SHORT),
	CASE(pair_wildcard, 30, ONE_SET),
	CASE(port_connects_beside, 30, TWO_SETS),
	CASE(port_listens_later, 30, TWO_SETS),
	CASE(port_listens_again, 30, TWO_SETS),
	CASE(port_chosen_twice, 30, ONE_SET),
	CASE(options_connect, 30, ALL_SETS),
	{ "options_accepted", options_accepted, 30, ALL_SETS, true, (void *)BEFORE_BIND },
	{ "options_accepted_bound", options_accepted, 30, V4_SETS, true, (void *)AFTER_BIND },
	{ "options_accepted_later", options_accepted, 30, V4_SETS, true, (void *)AFTER_LISTEN },
	CASE(options_work, 30, TWO_SETS),
	CASE(options_low_water, 60, TWO_SETS),
	CASE(options_async, 30, TWO_SETS),
	CASE(multipath_connect, 30, ALL_SETS),
	CASE(multipath_connect_later, 30, TWO_SETS),
	CASE(multipath_listen, 30, ALL_SETS),
	CASE(multipath_options_hold, 30, TWO_SETS),
	CASE(multipath_option_keeps, 30, TWO_SETS),
	CASE(crowd, 100, TWO_SETS),
	CASE(stress, 100, TWO_SETS),
	RACE("tcp", TCP_ONLY),
	RACE("sdp", SDP_ONLY),
	RACE("pair", PAIR),
	RACE("nobody", NOBODY),
	CASE(race_option, 60, TWO_SETS),
	EARLY("tcp", TCP_ONLY),
	EARLY("sdp", SDP_ONLY),
	EARLY("pair", PAIR),
	CASE(race_listen_edge, 90, TWO_SETS | NOT_SHORT),
	CLOSE_RACE("tcp", TCP_ONLY),
	CLOSE_RACE("sdp", SDP_ONLY),
	CLOSE_RACE("pair", PAIR),
	CLOSE_RACE("nobody", NOBODY),
	CASE(race_closed, 60, ONE_SET | NOT_SHORT),
};

int main(int argc, char **argv)
{
	(void)argc;
	return run_tests(argv, tests, ARRAY_SIZE(tests));
}
