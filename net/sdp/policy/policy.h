/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy (J2): which stream sockets of unmodified programs become SDP, and what happens
 * when SDP cannot be had.
 *
 *	rules_*.c	the grammar, and which rule decides (pure)
 *	policy.c	the rules of a namespace: net.sdp.policy, net.sdp.rewrite
 *	hook.c		where new TCP sockets are met
 *	lsm.c		what security modules are asked about later
 *	undecided_ops.c		the calls of a TCP socket that is still undecided
 *	undecided.c	the SDP socket beside it, and how one takes the other's place
 *	taken.c		the calls of a socket whose place it took
 *	policy/connect.c	connect(2): SDP first, then TCP
 *	policy/listen.c		listen(2): both at once
 *	sockopt_sync.c		what was set on the TCP socket holds for the SDP one
 *	fallback.c	why it became TCP; which peers need not be asked again soon
 *	fallback_log.c		the last ones that did
 *	fallback_sockopt.c	the same, asked on the socket
 *	policy/netlink.c	rules, switches, fall-backs by netlink
 *	netlink_explain.c	what would become of a socket
 *	module_param.c		rules from a file when the module is loaded
 *
 * Every socket begins, and stays, a TCP socket of the kernel's until bind and connect or
 * listen tell address and role. A verdict for TCP gives it the kernel's own calls back: from
 * then on nothing here is in its way. A verdict for SDP puts an SDP socket in its place, under
 * the same struct socket, file and wait queue.
 */
#ifndef SDP_POLICY_H
#define SDP_POLICY_H

#include <linux/net.h>
#include <linux/sdp.h>

#include "rules.h"

int sdp_policy_init(void);
void sdp_policy_exit(void);
/* module_param.c */
void sdp_policy_boot(void);

#endif /* SDP_POLICY_H */
