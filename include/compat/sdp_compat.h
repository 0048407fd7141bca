/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows kernel versions. Force-included into every file of the
 * module; sdp_probe.h, made by scripts/probe.sh from the target tree's headers, says
 * which features that tree has (stable kernels take features over, so their version
 * number says little).
 */
#ifndef SDP_COMPAT_H
#define SDP_COMPAT_H

#include <linux/net.h>
#include <linux/poll.h>
#include <linux/timer.h>

#include "sdp_probe.h"

/* proto_ops.bind and .connect take another address type since 6.19. */
#ifdef SDP_HAVE_SOCKADDR_UNSIZED
#define sdp_sockaddr	sockaddr_unsized
#else
#define sdp_sockaddr	sockaddr
#endif

/* proto_ops.accept got its arguments in a structure with 6.10. */
#ifdef SDP_HAVE_PROTO_ACCEPT_ARG
#define SDP_ACCEPT_ARGS		struct proto_accept_arg *arg
#define SDP_ACCEPT_FLAGS	(arg->flags)
#define SDP_ACCEPT_KERN		(arg->kern)
#else
#define SDP_ACCEPT_ARGS		int accept_flags, bool accept_kern
#define SDP_ACCEPT_FLAGS	accept_flags
#define SDP_ACCEPT_KERN		accept_kern
#endif

/* sysctl tables: 6.1 wants an empty last entry and no size, newer ones the reverse. */
#ifdef SDP_HAVE_SYSCTL_SZ
#define sdp_register_net_sysctl(net, path, table, n) \
	register_net_sysctl_sz(net, path, table, n)
#else
#define sdp_register_net_sysctl(net, path, table, n) \
	register_net_sysctl(net, path, table)
#endif

#ifndef timer_container_of
#define timer_container_of(var, timer, field)	from_timer(var, timer, field)
#endif

/* __assign_str() lost its source argument with 6.10. */
#ifdef SDP_HAVE_ASSIGN_STR_1
#define sdp_assign_str(dst, src)	__assign_str(dst)
#else
#define sdp_assign_str(dst, src)	__assign_str(dst, src)
#endif

/*
 * Where the kernel's IPv6 code finds its part of a socket: before 6.6 at the end of the
 * object, now where struct proto says.
 */
#ifdef SDP_HAVE_PINFO_OFFSET
#define SDP_PROTO_PINFO(type, member)	.ipv6_pinfo_offset = offsetof(type, member),
#else
#define SDP_PROTO_PINFO(type, member)
#endif

/* From 6.6 on a family may ask for SOL_SOCKET options to be shown to it first. */
static inline void sdp_ask_for_sol_socket(struct socket *sock)
{
#ifdef SDP_HAVE_CUSTOM_SOCKOPT
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
#endif
}

/* Time stamps on their way to user space are kept in another form since 7.0. */
#ifdef SDP_HAVE_SCM_TS_KTIME
#define sdp_scm_ts(stamp)	(stamp)
#else
#define sdp_scm_ts(stamp)	ktime_to_timespec64(stamp)
#endif

/* poll_does_not_wait() is gone; the question is whether poll_wait() would register. */
static inline bool sdp_poll_registers(const poll_table *wait)
{
	return wait && wait->_qproc;
}

#endif /* SDP_COMPAT_H */
