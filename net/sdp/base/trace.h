/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of AF_SDP, as users see them in events/sdp/.
 *
 * trace.c defines them. Their names and fields are seen by user space.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sdp

#if !defined(SDP_BASE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SDP_BASE_TRACE_H

#include <linux/tracepoint.h>
#include <net/sock.h>

#include "addr.h"
#include "../proto/wire.h"

/* The state of a socket changes; @conn names the connection's state. */
TRACE_EVENT(sdp_state,
	TP_PROTO(const struct sock *sk, u16 port, u16 peer, int from, int to,
		 const char *conn),
	TP_ARGS(sk, port, peer, from, to, conn),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u16, port)
		__field(u16, peer)
		__field(int, from)
		__field(int, to)
		__string(conn, conn)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->port = port;
		__entry->peer = peer;
		__entry->from = from;
		__entry->to = to;
		sdp_assign_str(conn, conn);
	),
	TP_printk("sk=%p port=%u peer=%u tcp-state %d -> %d conn=%s", __entry->sk,
		  __entry->port, __entry->peer, __entry->from, __entry->to,
		  __get_str(conn))
);

/*
 * A socket stays TCP although the policy wanted SDP. The current task is often
 * a kernel worker, so @pid and @comm name the process that called connect() or
 * listen().
 */
TRACE_EVENT(sdp_fallback,
	TP_PROTO(bool connects, const struct sdp_endpoint *where, pid_t pid,
		 const char *comm,
		 u64 inode, const char *why),
	TP_ARGS(connects, where, pid, comm, inode, why),
	TP_STRUCT__entry(
		__field(bool, connects)
		__field(u16, port)
		__array(u8, addr, sizeof(struct sockaddr_in6))
		__field(pid_t, pid)
		__string(comm, comm)
		__field(u64, inode)
		__string(why, why)
	),
	TP_fast_assign(
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)__entry->addr;
		struct sockaddr_in *v4 = (struct sockaddr_in *)__entry->addr;

		memset(__entry->addr, 0, sizeof(__entry->addr));
		__entry->connects = connects;
		__entry->port = where->port;
		if (sdp_is_v4(where)) {
			v4->sin_family = AF_INET;
			v4->sin_addr.s_addr = sdp_v4(where);
			v4->sin_port = htons(where->port);
		} else {
			v6->sin6_family = AF_INET6;
			v6->sin6_addr = where->ip;
			v6->sin6_port = htons(where->port);
		}
		__entry->pid = pid;
		sdp_assign_str(comm, comm);
		__entry->inode = inode;
		sdp_assign_str(why, why);
	),
	TP_printk("%s %pISpc by %s[%d] inode=%llu: %s", __entry->connects ? "connect" : "listen",
		  __entry->addr, __get_str(comm), __entry->pid, __entry->inode,
		  __get_str(why))
);

/* A message is sent or received; @credit is our credit afterwards. */
DECLARE_EVENT_CLASS(sdp_msg,
	TP_PROTO(const struct sock *sk, const struct sdp_bsdh *h, u32 credit),
	TP_ARGS(sk, h, credit),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u8, mid)
		__field(u8, flags)
		__field(u16, bufs)
		__field(u32, len)
		__field(u32, mseq)
		__field(u32, mseq_ack)
		__field(u32, credit)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->mid = h->mid;
		__entry->flags = h->flags;
		__entry->bufs = h->bufs;
		__entry->len = h->len;
		__entry->mseq = h->mseq;
		__entry->mseq_ack = h->mseq_ack;
		__entry->credit = credit;
	),
	TP_printk("sk=%p mid=0x%02x flags=%x bufs=%u len=%u mseq=%u ack=%u credit=%u",
		  __entry->sk, __entry->mid, __entry->flags, __entry->bufs,
		  __entry->len,
		  __entry->mseq, __entry->mseq_ack, __entry->credit)
);

DEFINE_EVENT(sdp_msg, sdp_msg_send,
	TP_PROTO(const struct sock *sk, const struct sdp_bsdh *h, u32 credit),
	TP_ARGS(sk, h, credit)
);

DEFINE_EVENT(sdp_msg, sdp_msg_recv,
	TP_PROTO(const struct sock *sk, const struct sdp_bsdh *h, u32 credit),
	TP_ARGS(sk, h, credit)
);

/* Sending stops because the peer has granted no more credit. */
TRACE_EVENT(sdp_credit_stall,
	TP_PROTO(const struct sock *sk, u16 port, u16 peer, u32 mseq, u32 outq),
	TP_ARGS(sk, port, peer, mseq, outq),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u16, port)
		__field(u16, peer)
		__field(u32, mseq)
		__field(u32, outq)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->port = port;
		__entry->peer = peer;
		__entry->mseq = mseq;
		__entry->outq = outq;
	),
	TP_printk("sk=%p port=%u peer=%u after mseq=%u waiting=%u bytes", __entry->sk,
		  __entry->port, __entry->peer, __entry->mseq, __entry->outq)
);

#define sdp_trace_mode(mode)						\
	__print_symbolic(mode, { SDP_MODE_BUFFERED, "buffered" },	\
			 { SDP_MODE_COMBINED, "combined" },		\
			 { SDP_MODE_PIPELINED, "pipelined" })

/* The mode of one direction changes, by our ModeChange or by the peer's. */
TRACE_EVENT(sdp_mode,
	TP_PROTO(const struct sock *sk, u16 port, u16 peer, bool sends, u8 from,
		 u8 to,
		 bool ours),
	TP_ARGS(sk, port, peer, sends, from, to, ours),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u16, port)
		__field(u16, peer)
		__field(bool, sends)
		__field(u8, from)
		__field(u8, to)
		__field(bool, ours)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->port = port;
		__entry->peer = peer;
		__entry->sends = sends;
		__entry->from = from;
		__entry->to = to;
		__entry->ours = ours;
	),
	TP_printk("sk=%p port=%u peer=%u %s half %s -> %s by %s", __entry->sk, __entry->port,
		  __entry->peer, __entry->sends ? "sending" : "receiving",
		  sdp_trace_mode(__entry->from), sdp_trace_mode(__entry->to),
		  __entry->ours ? "this end" : "the peer")
);

/* The scanner declines a SrcAvail of the peer that no reader has read. */
TRACE_EVENT(sdp_scan,
	TP_PROTO(const struct sock *sk, u16 port, u16 peer, u32 unread,
		 unsigned int looks),
	TP_ARGS(sk, port, peer, unread, looks),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u16, port)
		__field(u16, peer)
		__field(u32, unread)
		__field(unsigned int, looks)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->port = port;
		__entry->peer = peer;
		__entry->unread = unread;
		__entry->looks = looks;
	),
	TP_printk("sk=%p port=%u peer=%u %u advertised bytes unread after %u scans",
		  __entry->sk, __entry->port, __entry->peer, __entry->unread,
		  __entry->looks)
);

/*
 * Size and used bytes of the peer's ring (@out) and of ours (@in), after each
 * message of a connection that has a ring. The used bytes of the peer's ring
 * are known with SDP_FLOW_RDMA only.
 */
TRACE_EVENT(sdp_ring,
	TP_PROTO(const struct sock *sk, u16 port, u16 peer, u32 out,
		 u32 out_used, u32 in,
		 u32 in_used),
	TP_ARGS(sk, port, peer, out, out_used, in, in_used),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u16, port)
		__field(u16, peer)
		__field(u32, out)
		__field(u32, out_used)
		__field(u32, in)
		__field(u32, in_used)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->port = port;
		__entry->peer = peer;
		__entry->out = out;
		__entry->out_used = out_used;
		__entry->in = in;
		__entry->in_used = in_used;
	),
	TP_printk("sk=%p port=%u peer=%u out=%u out_used=%u in=%u in_used=%u", __entry->sk,
		  __entry->port, __entry->peer, __entry->out, __entry->out_used,
		  __entry->in,
		  __entry->in_used)
);

/* A rail of a connection joins, or fails while the connection goes on. */
DECLARE_EVENT_CLASS(sdp_rail,
	TP_PROTO(u16 port, u16 peer, u8 rail),
	TP_ARGS(port, peer, rail),
	TP_STRUCT__entry(
		__field(u16, port)
		__field(u16, peer)
		__field(u8, rail)
	),
	TP_fast_assign(
		__entry->port = port;
		__entry->peer = peer;
		__entry->rail = rail;
	),
	TP_printk("port=%u peer=%u rail=%u", __entry->port, __entry->peer,
		  __entry->rail)
);

DEFINE_EVENT(sdp_rail, sdp_rail_join,
	TP_PROTO(u16 port, u16 peer, u8 rail),
	TP_ARGS(port, peer, rail)
);

DEFINE_EVENT(sdp_rail, sdp_rail_lost,
	TP_PROTO(u16 port, u16 peer, u8 rail),
	TP_ARGS(port, peer, rail)
);

/* A message goes by @rail. */
DECLARE_EVENT_CLASS(sdp_rail_msg,
	TP_PROTO(u16 port, u16 peer, u8 rail, u32 mseq),
	TP_ARGS(port, peer, rail, mseq),
	TP_STRUCT__entry(
		__field(u16, port)
		__field(u16, peer)
		__field(u8, rail)
		__field(u32, mseq)
	),
	TP_fast_assign(
		__entry->port = port;
		__entry->peer = peer;
		__entry->rail = rail;
		__entry->mseq = mseq;
	),
	TP_printk("port=%u peer=%u rail=%u mseq=%u", __entry->port,
		  __entry->peer, __entry->rail, __entry->mseq)
);

DEFINE_EVENT(sdp_rail_msg, sdp_rail_send,
	TP_PROTO(u16 port, u16 peer, u8 rail, u32 mseq),
	TP_ARGS(port, peer, rail, mseq)
);

/* It went by a rail that has failed before. */
DEFINE_EVENT(sdp_rail_msg, sdp_rail_resend,
	TP_PROTO(u16 port, u16 peer, u8 rail, u32 mseq),
	TP_ARGS(port, peer, rail, mseq)
);

/* A connection or a connect fails; @place says where. */
TRACE_EVENT(sdp_error,
	TP_PROTO(const struct sock *sk, u16 port, u16 peer, int error,
		 const char *place),
	TP_ARGS(sk, port, peer, error, place),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u16, port)
		__field(u16, peer)
		__field(int, error)
		__string(place, place)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->port = port;
		__entry->peer = peer;
		__entry->error = error;
		sdp_assign_str(place, place);
	),
	TP_printk("sk=%p port=%u peer=%u errno=%d at %s", __entry->sk, __entry->port,
		  __entry->peer, __entry->error, __get_str(place))
);

#endif /* SDP_BASE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
