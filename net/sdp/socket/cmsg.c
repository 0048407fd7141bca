// SPDX-License-Identifier: GPL-2.0
/*
 * Control messages of recvmsg(2): time stamps and unread bytes.
 *
 * SO_TIMESTAMP, SO_TIMESTAMPNS and SO_TIMESTAMPING report when the last byte of
 * the call arrived, as with TCP. TCP_INQ reports the number of bytes that are
 * still unread.
 */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>

#include "../conn/urgent.h"
#include "cmsg.h"

/* SO_TIMESTAMPNS. @wide selects the form with 64-bit seconds. */
static void cmsg_put_ns(struct msghdr *msg, const struct timespec64 *ts,
			bool wide)
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

/* SO_TIMESTAMP. @wide selects the form with 64-bit seconds. */
static void cmsg_put_us(struct msghdr *msg, const struct timespec64 *ts,
			bool wide)
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

static void cmsg_put_stamp(struct sock *sk, struct msghdr *msg, ktime_t stamp)
{
	bool wide = sock_flag(sk, SOCK_TSTAMP_NEW);
	struct timespec64 ts = ktime_to_timespec64(stamp);
	struct scm_timestamping_internal tss = { .ts = { sdp_scm_ts(stamp) } };

	if (sock_flag(sk, SOCK_RCVTSTAMP)) {
		if (sock_flag(sk, SOCK_RCVTSTAMPNS))
			cmsg_put_ns(msg, &ts, wide);
		else
			cmsg_put_us(msg, &ts, wide);
	}
	if (!(READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_SOFTWARE))
		return;
	if (wide)
		put_cmsg_scm_timestamping64(msg, &tss);
	else
		put_cmsg_scm_timestamping(msg, &tss);
}

/**
 * sdp_inq_hint() - number of bytes left to read, as reported by calls
 * @ssk: socket; takes its lock
 *
 * Return: number of bytes; like TCP, count an end of the stream that is still
 * to be read.
 */
int sdp_inq_hint(struct sdp_sock *ssk)
{
	return sdp_urgent_inq(ssk) ?: READ_ONCE(ssk->rx_ended);
}

/**
 * sdp_put_cmsgs() - add the control messages of a successful recvmsg(2)
 * @ssk: socket; takes its lock
 * @msg: message of the call
 * @stamp: arrival time of the last byte that the call returns, or 0
 */
void sdp_put_cmsgs(struct sdp_sock *ssk, struct msghdr *msg, ktime_t stamp)
{
	int left = sdp_inq_hint(ssk);

	if (stamp)
		cmsg_put_stamp(&ssk->sk, msg, stamp);
	if (msg->msg_get_inq)
		msg->msg_inq = left;
	if (READ_ONCE(ssk->opt.inq))
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(left), &left);
}
