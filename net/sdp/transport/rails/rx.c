// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: passes messages on in order.
 *
 * Links of several rails deliver on several CPUs. What is next in order goes to
 * @ready under the lock, and one task at a time passes it on, without the lock.
 *
 * All functions run under struct rails.lock.
 */
#include "rails.h"

/* A buffer that the owner does not get is posted again, by its own rail. */
static void reuse(struct rail *rail, struct sk_buff *skb)
{
	if (rail->leaving) {
		kfree_skb(skb);
		return;
	}
	rail->link->ops->recycle(rail->link, skb);
	rails_fill(rail);
}

/**
 * rails_fail() - the connection has failed
 * @b: bundle; the owner is told by rails_rx_pass(), now or by the watch
 * @error: positive errno
 * @place: why, a static string
 */
void rails_fail(struct rails *b, int error, const char *place)
{
	if (b->error)
		return;
	b->error = error;
	b->place = place;
	if (!b->released)
		rails_queue(b, &b->watch, 0);
}

static void fail(struct rails *b, enum sdp_violation what)
{
	if (!b->error)
		b->link.up->malformed(b->net, what);
	rails_fail(b, EPROTO, sdp_violation_name(what));
}

/* The first bytes of a message, up to the longest one about rails. */
static void copy_note(const struct sk_buff *skb, u32 bytes, u8 *buf)
{
	if (skb->len)
		skb_copy_bits(skb, 0, buf, bytes);
	else
		memcpy(buf, skb->data, bytes);
}

static void note_gone(struct rails *b, u8 number)
{
	struct rail *rail = number < SDP_RAILS_MAX ? b->rail[number] : NULL;

	if (!rail || !b->many || !sdp_rails_may_spare(&b->many->state, number))
		return;
	rails_auto_ended(rail);
	rails_kill(rail);
}

static void take_note(struct rail *rail, struct sk_buff *skb, u32 bytes)
{
	struct rails *b = rail->all;
	u8 buf[SDP_RAIL_MSG_MAX];
	struct sdp_rail_msg msg;
	enum sdp_violation bad = SDP_BAD_LEN;

	if (bytes <= sizeof(buf)) {
		copy_note(skb, bytes, buf);
		bad = sdp_rail_msg_parse(buf, bytes, &msg);
	}
	if (!bad && !b->most)
		bad = SDP_BAD_MID;
	reuse(rail, skb);
	if (!bad)
		bad = rails_tx_acked(b, msg.ack);
	if (bad) {
		fail(b, bad);
		return;
	}
	if (msg.mid == SDP_MID_RAIL_ADDRS)
		rails_join_addrs(b, &msg);
	else if (msg.mid == SDP_MID_RAIL_GONE && !rail->leaving)
		note_gone(b, msg.rail);
}

/* One more message is the owner's. Its length travels in @end. */
static void ready(struct rails *b, struct sk_buff *skb, u32 bytes)
{
	sdp_buf_cb(skb)->end = bytes;
	__skb_queue_tail(&b->ready, skb);
}

static void drain(struct rails *b)
{
	struct rails_many *m = b->many;
	struct sk_buff **held;

	while (sdp_order_drain(&m->state.order)) {
		held = &m->held[m->state.order.rx_seq % SDP_ORDER_WINDOW_MAX];
		__skb_queue_tail(&b->ready, *held);
		*held = NULL;
	}
}

static void take_in_order(struct rail *rail, struct sk_buff *skb, u32 bytes,
			  u32 seq)
{
	struct rails *b = rail->all;
	struct rails_many *m = b->many;

	switch (sdp_order_arrived(&m->state.order, seq)) {
	case SDP_ARRIVAL_NEXT:
		ready(b, skb, bytes);
		drain(b);
		break;
	case SDP_ARRIVAL_AHEAD:
		SDP_INC(b->net, RailMsgsHeld);
		b->held++;
		sdp_buf_cb(skb)->end = bytes;
		m->held[seq % SDP_ORDER_WINDOW_MAX] = skb;
		break;
	case SDP_ARRIVAL_AGAIN:
		SDP_INC(b->net, RailMsgsDropped);
		reuse(rail, skb);
		break;
	case SDP_ARRIVAL_BEYOND:
		reuse(rail, skb);
		fail(b, SDP_BAD_SEQ);
		break;
	}
}

/**
 * rails_rx_message() - a message has come by a rail
 * @rail: the rail
 * @skb: the message; taken
 * @bytes: its length
 */
void rails_rx_message(struct rail *rail, struct sk_buff *skb, u32 bytes)
{
	struct rails *b = rail->all;
	u8 tmp[SDP_HEADER_MAX];
	const u8 *header;
	struct sdp_bsdh h;

	rail->posted--;
	rail->received += bytes;
	if (!rail->number && b->small)
		b->small--;
	/* After release() the links drain; nobody reads any more. */
	if (b->released || b->error) {
		kfree_skb(skb);
		return;
	}
	header = sdp_buf_header(skb, bytes, tmp);
	if (!sdp_wire_peek(header, bytes, &h)) {
		reuse(rail, skb);
		fail(b, SDP_BAD_LEN);
	} else if (sdp_mid_is_rails(h.mid)) {
		take_note(rail, skb, bytes);
	} else if (b->many) {
		enum sdp_violation bad = rails_tx_acked(b, h.mseq_ack);

		if (bad) {
			reuse(rail, skb);
			fail(b, bad);
			return;
		}
		rails_auto_count(b, sdp_wire_weight(header, bytes));
		take_in_order(rail, skb, bytes, h.mseq);
		rails_tx_ack(b, false);
		rails_watch_start(b);
	} else {
		b->rx_seq = h.mseq;
		/* A wrong one is for the engine to find. */
		rails_tx_acked(b, h.mseq_ack);
		rails_join_count(b, sdp_wire_weight(header, bytes));
		ready(b, skb, bytes);
	}
}

/**
 * rails_rx_pass() - pass on what is ready, unless another task does
 * @b: bundle; the lock is dropped in between
 */
void rails_rx_pass(struct rails *b)
{
	struct sk_buff *skb;

	if (b->passing)
		return;
	b->passing = true;
	while ((skb = __skb_dequeue(&b->ready))) {
		/* More than that only from a peer that exceeds its credit. */
		if (b->granted)
			b->granted--;
		spin_unlock_bh(&b->lock);
		b->link.up->received(&b->link, skb, sdp_buf_cb(skb)->end);
		spin_lock_bh(&b->lock);
	}
	b->passing = false;
	if (b->error && !b->failed_said) {
		b->failed_said = true;
		spin_unlock_bh(&b->lock);
		b->link.up->failed(&b->link, b->error, b->place);
		spin_lock_bh(&b->lock);
	}
	if (b->end_due && !b->ended_said) {
		b->ended_said = true;
		spin_unlock_bh(&b->lock);
		b->link.up->ended(&b->link);
		spin_lock_bh(&b->lock);
	}
}

/**
 * rails_rx_purge() - free messages that nobody will read
 * @b: bundle, which nobody uses any more
 */
void rails_rx_purge(struct rails *b)
{
	u32 i;

	__skb_queue_purge(&b->ready);
	if (!b->many)
		return;
	for (i = 0; i < SDP_ORDER_WINDOW_MAX; i++)
		kfree_skb(b->many->held[i]);
}
