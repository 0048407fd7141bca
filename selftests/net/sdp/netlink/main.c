// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink family "sdp", and the reason of a fallback on the socket itself.
 *
 * Covered are each request, what it refuses, who may ask, and whether answers are right while
 * everything changes.
 *
 *	policy.c	rules and switches
 *	dump.c		sockets and counters
 *	diag.c		sock_diag, which `ss` uses
 *	explain.c	what the rules say about a socket
 *	reason.c	fallbacks
 */
#include "netlink.h"

static const struct test_list *const lists[] = {
	&policy_tests,
	&dump_tests,
	&diag_tests,
	&explain_tests,
	&reason_tests,
};

LISTS_MAIN(lists)
