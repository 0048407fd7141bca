/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy (J2): which stream sockets of unmodified programs become SDP, and what happens
 * when SDP cannot be had.
 *
 *	rules_*.c	the grammar, and which rule decides (pure)
 *	policy.c	the rules of a namespace: net.sdp.policy, net.sdp.rewrite
 *	hook.c		where new TCP sockets are met
 *	shim.c		the calls of a TCP socket that is still undecided
 *	shadow.c	the SDP socket beside it, and how one takes the other's place
 *	attempt.c	connect(2): SDP first, then TCP
 *	pair.c		listen(2): both at once
 *	carry.c		what was set on the TCP socket holds for the SDP one
 *	fallback.c	why it became TCP; which peers need not be asked again soon
 *
 * Every socket begins, and stays, a TCP socket of the kernel's until bind and connect or
 * listen tell address and role. A verdict for TCP gives it the kernel's own calls back: from
 * then on nothing here is in its way. A verdict for SDP puts an SDP socket in its place, under
 * the same struct socket, file and wait queue.
 */
#ifndef SDP_POLICY_H
#define SDP_POLICY_H

#include <linux/net.h>

#include "rules.h"

struct sdp_endpoint;

/**
 * enum sdp_fallback - why a connection is by TCP that should have been by SDP
 * @SDP_FELL_NOT: it is not
 * @SDP_FELL_ROUTE: no RDMA device leads there
 * @SDP_FELL_REFUSED: nobody listens there for SDP
 * @SDP_FELL_TIMEOUT: no answer in time
 * @SDP_FELL_BUSY: its backlog was full, all that time
 * @SDP_FELL_REMEMBERED: there was none shortly before
 * @SDP_FELL_RESOURCES: memory, queue pairs
 * @SDP_FELL_OPTION: something was set, or asked for, that only TCP has
 * @SDP_FELL_PORT: no such address for SDP, or its port is taken by another SDP socket
 * @SDP_FELL_ERROR: any other error
 * @SDP_FALLBACKS: their number
 */
enum sdp_fallback {
	SDP_FELL_NOT,
	SDP_FELL_ROUTE,
	SDP_FELL_REFUSED,
	SDP_FELL_TIMEOUT,
	SDP_FELL_BUSY,
	SDP_FELL_REMEMBERED,
	SDP_FELL_RESOURCES,
	SDP_FELL_OPTION,
	SDP_FELL_PORT,
	SDP_FELL_ERROR,
	SDP_FALLBACKS
};

int sdp_policy_init(void);
void sdp_policy_exit(void);

#endif /* SDP_POLICY_H */
