// SPDX-License-Identifier: GPL-2.0
/*
 * Control messages of recvmsg(2): when the data arrived (SO_TIMESTAMP and its kin), and
 * how much is left (TCP_INQ). As with TCP, the time is that of the last byte read.
 */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>

#include "../conn/sock.h"

/* SO_TIMESTAMPNS, in the form that was asked for. */
static void put_ns(struct msghdr *msg, const struct timespec64 *ts, bool wide)
{
	struct __kernel_timespec now = { .tv_sec = ts->tv_sec,
					 .tv_nsec = ts->tv_nsec };
	struct __kernel_old_timespec old = { .tv_sec = ts->tv_sec,
					     .tv_nsec = ts->tv_nsec };

	if (wide)
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_NEW, sizeof(now),
			 &now);
	else
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_OLD, sizeof(old),
			 &old);
}

/* SO_TIMESTAMP, likewise. */
static void put_us(struct msghdr *msg, const struct timespec64 *ts, bool wide)
{
	long us = ts->tv_nsec / NSEC_PER_USEC;
	struct __kernel_sock_timeval now = { .tv_sec = ts->tv_sec,
					     .tv_usec = us };
	struct __kernel_old_timeval old = { .tv_sec = ts->tv_sec,
					    .tv_usec = us };

	if (wide)
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_NEW, sizeof(now), &now);
	else
		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_OLD, sizeof(old), &old);
}

static void put_stamp(struct sock *sk, struct msghdr *msg, ktime_t stamp)
{
	bool wide = sock_flag(sk, SOCK_TSTAMP_NEW);
	struct timespec64 ts = ktime_to_timespec64(stamp);
	struct scm_timestamping_internal tss = { .ts = { sdp_scm_ts(stamp) } };

	if (sock_flag(sk, SOCK_RCVTSTAMP)) {
		if (sock_flag(sk, SOCK_RCVTSTAMPNS))
			put_ns(msg, &ts, wide);
		else
			put_us(msg, &ts, wide);
	}
	if (!(READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_SOFTWARE))
		return;
	if (wide)
		put_cmsg_scm_timestamping64(msg, &tss);
	else
		put_cmsg_scm_timestamping(msg, &tss);
}

/**
 * sdp_put_cmsgs() - what a successful recvmsg has to tell
 * @ssk: socket
 * @msg: the call's message
 * @stamp: when the last byte arrived, or 0
 */
void sdp_put_cmsgs(struct sdp_sock *ssk, struct msghdr *msg, ktime_t stamp)
{
	int left = sdp_urgent_inq(ssk);

	/* The end of the stream is to be read, too. */
	if (!left && READ_ONCE(ssk->rx_ended))
		left = 1;
	if (stamp)
		put_stamp(&ssk->sk, msg, stamp);
	if (msg->msg_get_inq)
		msg->msg_inq = left;
	if (READ_ONCE(ssk->opt.inq))
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(left), &left);
}
