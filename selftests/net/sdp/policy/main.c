// SPDX-License-Identifier: GPL-2.0
/*
 * The policy (J2): TCP sockets of unmodified programs become SDP, or fall back to TCP.
 *
 * The rules of net.sdp.policy decide. In these tests, "by both" is the verdict both: a connect
 * tries SDP first and then TCP, a listener accepts connections of both protocols. The parts of this
 * program, by subject:
 *
 *	rules.c		which rule decides
 *	text.c		what is a valid policy, what is not, and the error messages
 *	switch.c	net.sdp.rewrite, who may change it, network namespaces
 *	connect.c	connections by both
 *	pair.c		listeners by both
 *	port.c		ports that TCP has assigned and SDP sockets use as well
 *	options.c	options that are set before connect() or listen() hold afterwards
 *	multipath.c	MPTCP sockets
 *	race.c		many sockets at once, and threads that race
 *	early.c		accept() while a socket begins to listen
 */
#include "policy.h"

static const struct test_list *const lists[] = {
	&rules_tests,
	&text_tests,
	&switch_tests,
	&connect_tests,
	&pair_tests,
	&port_tests,
	&options_tests,
	&multipath_tests,
	&race_tests,
	&early_tests,
};

LISTS_MAIN(lists)
