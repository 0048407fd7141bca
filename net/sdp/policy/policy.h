/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy: decides which TCP sockets of applications become SDP (J2).
 *
 * The files of this directory:
 *
 *	glob.c, rules_*.c	patterns, parser and search of the rules (pure)
 *	ruleset.c		what the rules in force say of a socket
 *	change.c		changes of rules and switches
 *	sysctl.c		rules and switches by sysctl
 *	policy.c		state of a namespace: made and freed
 *	hook.c			finds new TCP sockets
 *	lsm.c			shows security modules the TCP socket behind SDP
 *	undecided_ops.c		proto_ops of an undecided TCP socket
 *	undecided.c		shadows, and the swap of a TCP and an SDP sock
 *	taken.c			proto_ops of a socket that got an SDP sock
 *	connect.c		connect(2): SDP first, then TCP
 *	listen.c		listen(2): by SDP alone, or by SDP and TCP
 *	multipath.c		options of undecided MPTCP sockets
 *	sockopt_sync.c		copies socket options from TCP to SDP
 *	fallback.c		reasons of fallbacks; peers that do not answer
 *	fallback_log.c		the latest fallbacks
 *	fallback_sockopt.c	IP_SDP_FALLBACK on a TCP socket
 *	netlink.c		rules, switches and fallbacks by netlink
 *	netlink_explain.c	what a socket would become and why, by netlink
 *	module_param.c		rules from a file when the module is loaded
 *
 * An application's socket starts as an ordinary TCP socket, and hook.c gives it
 * the policy's proto_ops. It is undecided until connect() or listen() tells its
 * address and its role. On a verdict for TCP the socket gets the kernel's own
 * proto_ops back, and the policy is no longer in its path. On a verdict for SDP
 * an SDP sock takes the place of its TCP sock, under the same struct socket,
 * file and wait queue.
 */
#ifndef SDP_POLICY_H
#define SDP_POLICY_H

#if IS_ENABLED(CONFIG_AF_SDP_POLICY)

int sdp_policy_init(void);
void sdp_policy_exit(void);
/* module_param.c */
void sdp_policy_apply_params(void);

#else

static inline int sdp_policy_init(void)
{
	return 0;
}

static inline void sdp_policy_exit(void)
{
}

static inline void sdp_policy_apply_params(void)
{
}

#endif

#endif /* SDP_POLICY_H */
