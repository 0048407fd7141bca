// SPDX-License-Identifier: GPL-2.0
/*
 * Output: messages are sent in the order that the engine allows.
 *
 * sdp_conn_progress() runs after each change of a connection, under the
 * socket's lock. It refills the receives, sends every message that may be sent
 * now, and arms the timers. The engine chooses the next message. This file
 * takes its payload from the send queue, has the engine build the header, and
 * passes the message to the transport.
 */
#include "autotune.h"
#include "conn.h"
#include "flush.h"
#include "keepalive.h"
#include "memory.h"
#include "output.h"
#include "refill.h"
#include "resize.h"
#include "ring.h"
#include "segment.h"
#include "state.h"
#include "timer.h"
#include "zcopy_ops.h"
#include "../base/trace.h"

static struct sk_buff *control_skb(struct sdp_sock *ssk)
{
	struct sk_buff *skb = alloc_skb(SDP_TX_HEADROOM,
					GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb_reserve(skb, SDP_TX_HEADROOM);
	sdp_buf_cb(skb)->payload = 0;
	sdp_buf_cb(skb)->reused = false;
	sdp_buf_cb(skb)->urgent = false;
	sdp_memory_charge_tx(ssk, skb->truesize);
	return skb;
}

static void count_ring_write(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	struct net *net = sock_net(&ssk->sk);

	SDP_INC(net, RingWrites);
	SDP_ADD(net, RingBytesWritten, msg->payload_len);
	if (sdp_seq_after(msg->h.mseq, ssk->engine.credit.tx_limit))
		SDP_INC(net, RingUnasked);
	ssk->ring_writes++;
	ssk->ring_sent += msg->payload_len;
}

static void count_sent(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	struct net *net = sock_net(&ssk->sk);

	ssk->sent++;
	SDP_INC(net, MsgsSent);
	if (msg->payload_len) {
		SDP_INC(net, DataSent);
		SDP_ADD(net, BytesSent, msg->payload_len);
		sdp_autotune_sending(ssk);
		ssk->data_sent++;
		ssk->bytes_sent += msg->payload_len;
		ssk->last_sent = jiffies;
		WRITE_ONCE(ssk->tx_inflight,
			   ssk->tx_inflight + msg->payload_len);
	} else if (msg->h.mid == SDP_MID_DATA) {
		SDP_INC(net, CreditUpdatesSent);
	} else {
		sdp_resize_note_sent(ssk, msg);
		if (msg->h.mid == SDP_MID_SENDSM)
			SDP_INC(net, SrcAvailDeclined);
		if (msg->h.mid == SDP_MID_MODE_CHANGE)
			sdp_conn_note_mode(ssk, msg, true);
	}
	if (msg->h.mid == SDP_MID_SINK_AVAIL) {
		SDP_INC(net, SinkAvailSent);
		SDP_ADD(net, SinkAvailPiggybacked, !!msg->payload_len);
	}
	if (msg->to.rkey)
		count_ring_write(ssk, msg);
	if ((msg->h.flags & SDP_FLAG_FREED) && !msg->payload_len)
		SDP_INC(net, RingUpdatesSent);
	trace_sdp_msg_send(&ssk->sk, &msg->h,
			   sdp_credit_available(&ssk->engine.credit));
	if (ssk->engine.rings)
		sdp_ring_note_fill(ssk);
}

/*
 * Set tx_bulk if the next segment should be a block, because this message was
 * full of copied bytes. If more segments are queued behind it, a quarter of the
 * largest payload counts as full: the segment has then run out of fragments. A
 * transport that hands our buffers to the peer does not return them, so blocks
 * have no advantage there.
 */
static void note_bulk(struct sdp_sock *ssk, const struct sk_buff *skb)
{
	u32 least = sdp_engine_payload_max(&ssk->engine);
	bool full;

	if (!skb_queue_empty(&ssk->tx_queue))
		least /= 4;
	full = sdp_buf_cb(skb)->payload >= least &&
	       !ssk->link->ops->hands_over && !skb_has_shared_frag(skb);
	WRITE_ONCE(ssk->tx_bulk, full);
}

/* Tell the engine that a message is sent, and add its header. */
static void output_seal(struct sdp_sock *ssk, const struct sdp_tx_msg *tx,
			struct sk_buff *skb)
{
	u8 header[SDP_HEADER_MAX];
	struct sdp_msg msg;
	u32 len;

	if (tx->payload_max && tx->mid == SDP_MID_DATA)
		note_bulk(ssk, skb);
	len = sdp_engine_commit(&ssk->engine, tx, sdp_buf_cb(skb)->payload,
				header, &msg);
	sdp_buf_cb(skb)->revoke = msg.revoke;
	sdp_buf_cb(skb)->to = msg.to;
	if (skb->len > sdp_buf_cb(skb)->payload)
		sdp_segment_trim(ssk, skb);
	memcpy(skb_push(skb, len), header, len);
	count_sent(ssk, &msg);
}

/* The oldest unsent segment, after RDMA of background writes has begun. */
static struct sk_buff *tx_head(struct sdp_sock *ssk)
{
	struct sk_buff *head = skb_peek(&ssk->tx_queue), *before = NULL;

	/* A background write that has been handed over makes room for one. */
	while (head && head != before && sdp_buf_cb(head)->background) {
		before = head;
		sdp_zcopy_ops.background_next(ssk, head);
		head = skb_peek(&ssk->tx_queue);
	}
	return head;
}

static struct sdp_tx_view tx_view(struct sdp_sock *ssk)
{
	struct sk_buff *head = tx_head(ssk);
	struct sdp_tx_view view = {
		.hold = ssk->tx_hold,
		.urgent = ssk->tx_urgent,
		.lazy = sdp_flush_waits(ssk),
	};

	if (head) {
		view.head_bytes = sdp_buf_cb(head)->payload;
		view.head_urgent = sdp_buf_cb(head)->urgent;
		view.head_declined = sdp_buf_cb(head)->declined;
		view.head_cut = sdp_buf_cb(head)->background;
		view.behind = view.head_cut && !view.head_bytes;
		view.head_full =
			!skb_queue_is_last(&ssk->tx_queue, head) ||
			(!ssk->tx_copying && sdp_segment_full(ssk, head));
	}
	return view;
}

/* Nothing can be sent, for reason @next. A stall is counted when it begins. */
static void note_stall(struct sdp_sock *ssk, enum sdp_next next)
{
	bool no_credit = next == SDP_NEXT_NO_CREDIT;
	bool gather = next == SDP_NEXT_GATHER;
	bool no_room = next == SDP_NEXT_NO_ROOM;

	if (no_credit && !ssk->credit_stalled) {
		SDP_INC(sock_net(&ssk->sk), CreditStalls);
		trace_sdp_credit_stall(&ssk->sk, ssk->local.port,
				       ssk->peer.port,
				       ssk->engine.credit.tx_seq, ssk->tx_outq);
	}
	if (gather && !ssk->gathering) {
		SDP_INC(sock_net(&ssk->sk), PartialHeld);
		if (ssk->link->ops->hasten)
			ssk->link->ops->hasten(ssk->link);
	}
	if (no_room && !ssk->ring_stalled) {
		SDP_INC(sock_net(&ssk->sk), RingFull);
		ssk->ring_full++;
		sdp_engine_ring_full(&ssk->engine);
	}
	ssk->ring_stalled = no_room;
	ssk->credit_stalled = no_credit;
	ssk->gathering = gather;
}

/* Data has been sent. Data that waits after this is a new stall. */
static void end_stall(struct sdp_sock *ssk)
{
	ssk->ring_stalled = false;
	ssk->credit_stalled = false;
	ssk->gathering = false;
}

/*
 * Returns the next message that may be sent now, with its header, or NULL: the
 * engine has none, or memory is short, and the timer tries again.
 */
static struct sk_buff *next_message(struct sdp_sock *ssk)
{
	struct sdp_tx_view view = tx_view(ssk);
	struct sdp_tx_msg tx;
	struct sk_buff *skb;
	enum sdp_next why;

	why = sdp_engine_next(&ssk->engine, &view, &tx);
	if (why != SDP_NEXT_SEND) {
		note_stall(ssk, why);
		return NULL;
	}
	if (tx.mid == SDP_MID_SRC_AVAIL)
		skb = sdp_zcopy_ops.srcavail_tx_take(ssk);
	else if (tx.payload_max && view.head_cut)
		skb = sdp_zcopy_ops.background_cut(ssk, tx.payload_max);
	else
		skb = tx.payload_max ? __skb_dequeue(&ssk->tx_queue) :
				       control_skb(ssk);
	if (skb && tx.ring && sdp_buf_cb(skb)->payload > tx.payload_max &&
	    !sdp_segment_split(ssk, skb, tx.payload_max)) {
		__skb_queue_head(&ssk->tx_queue, skb);
		skb = NULL;
	}
	if (!skb) {
		sdp_timer_again(ssk);
		return NULL;
	}
	if (tx.payload_max)
		end_stall(ssk);
	ssk->tx_urgent -= sdp_buf_cb(skb)->urgent;
	output_seal(ssk, &tx, skb);
	return skb;
}

/*
 * Does each message need a completion at once? It does if the adapter holds
 * messages back: it holds few at a time, and each completion lets another one
 * follow (G5).
 */
static bool awaits_arrival(const struct sdp_sock *ssk)
{
	return sdp_engine_by_nic(&ssk->engine);
}

/*
 * Send all messages that may be sent now. The last one asks for a completion at
 * once (@flush): a segment that gathers may wait for its arrival, now or after
 * the next grant of credit. Returns true if there was a message.
 */
static bool output_train(struct sdp_sock *ssk)
{
	struct sk_buff *skb, *following;

	skb = next_message(ssk);
	if (!skb)
		return false;
	while ((following = next_message(ssk))) {
		ssk->link->ops->send(ssk->link, skb, awaits_arrival(ssk));
		skb = following;
	}
	ssk->link->ops->send(ssk->link, skb, true);
	return true;
}

/**
 * sdp_conn_progress() - refill receives, send what may be sent, arm the timers
 * @ssk: socket, locked; does nothing without a connection
 * @todo: notes the link to kick, if the transport delivers without the lock
 */
void sdp_conn_progress(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	struct sdp_link *link = ssk->link;

	if (!link || ssk->engine.dead)
		return;
	sdp_refill(ssk);
	if (ssk->rx_bytes)
		sdp_zcopy_ops.sinkavail_rx_check(ssk);
	if (link->kept)
		link->ops->resend(link);
	/* Another call may have noted it, under the same lock. */
	if (output_train(ssk) && link->ops->hold && todo->kick != link) {
		link->ops->hold(link);
		todo->kick = link;
	}
	if (link->kept)
		sdp_timer_again(ssk);
	sdp_keepalive_watch(ssk);
	sdp_timer_watch_hold(ssk);
	sdp_timer_watch_rest(ssk);
	sdp_conn_follow_state(ssk);
}
