// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: sends messages, and keeps them until they are
 * acknowledged.
 *
 * With one rail a message goes straight to its link. With several, the link of
 * the rail and the bundle both have a reference to it. A message that goes
 * again is a clone: the link of the dead rail may still have the first one.
 * Links hand back each message that has arrived (sdp_buf_cb.reused).
 *
 * All functions run under struct rails.lock.
 */
#include "../../base/trace.h"
#include "rails.h"

static u32 now_us(void)
{
	/* 0 stands for a message that is not kept. */
	return (u32)ktime_to_us(ktime_get()) ?: 1;
}

static struct sk_buff **kept_slot(struct rails_many *m, u32 seq)
{
	return &m->kept[seq % SDP_ORDER_WINDOW_MAX];
}

static void peek(const struct sk_buff *skb, struct sdp_bsdh *h)
{
	sdp_wire_peek(skb->data, skb->len, h);
}

/* Datagrams are sent by kick(), which takes no lock of an owner's. */
static void send_by(struct rail *rail, struct sk_buff *skb, bool flush)
{
	struct sdp_link *link = rail->link;

	rail->sent += skb->len;
	link->ops->send(link, skb, flush);
	if (flush && link->ops->kick) {
		link->ops->hold(link);
		link->ops->kick(link);
	}
}

static void post(struct rails *b, u32 number, struct sk_buff *skb)
{
	struct rail *rail = b->rail[number];

	send_by(rail, skb, true);
	b->link.kept |= rail->link->kept;
}

/* Send the next message, or a clone of one that has been sent before. */
static bool post_message(struct rails *b, const struct sdp_rails_post *p)
{
	struct rails_many *m = b->many;
	struct sk_buff **kept = kept_slot(m, p->seq), *skb;
	bool again = p->seq != m->state.order.tx_seq + 1;
	struct sdp_bsdh h;

	if (again) {
		skb = skb_clone(*kept, GFP_ATOMIC | __GFP_NOWARN);
		if (!skb)
			return false;
		SDP_INC(b->net, RailMsgsResent);
		b->resent++;
		trace_sdp_rail_resend(b->local.port, b->peer.port, p->rail,
				      p->seq);
		/* Whether the key is still valid is not known. */
		sdp_buf_cb(skb)->revoke = 0;
	} else {
		skb = __skb_dequeue(&m->unsent);
		trace_sdp_rail_send(b->local.port, b->peer.port, p->rail,
				    p->seq);
		sdp_buf_cb(skb)->block = sdp_buf_cb(skb)->reused;
		sdp_buf_cb(skb)->reused = true;
		/* A key belongs to one of the rails, and may be another's. */
		sdp_buf_cb(skb)->revoke = 0;
		*kept = skb_get(skb);
	}
	sdp_buf_cb(skb)->posted = now_us();
	peek(skb, &h);
	sdp_rails_posted(&m->state, p, skb->len, sdp_buf_cb(skb)->posted);
	sdp_rails_told(&m->state, h.mseq_ack);
	m->told_at = jiffies;
	post(b, p->rail, skb);
	return true;
}

/**
 * rails_tx_pump() - send what the rails take now
 * @b: bundle
 */
void rails_tx_pump(struct rails *b)
{
	struct rails_many *m = b->many;
	struct sdp_rails_post p;
	struct sk_buff *head;

	if (!m || !m->begun || b->released)
		return;
	for (;;) {
		head = skb_peek(&m->unsent);
		if (!sdp_rails_next(&m->state, head, head ? head->len : 0, &p))
			break;
		/* An acknowledged message stays until it has been counted. */
		if (p.seq - m->dropped > SDP_ORDER_WINDOW_MAX)
			break;
		if (!b->rail[p.rail] || !post_message(b, &p))
			break;
	}
	rails_watch_start(b);
}

/**
 * rails_tx_send() - send a message of the owner
 * @b: bundle
 * @skb: the message; taken
 * @flush: no other message follows at once
 */
void rails_tx_send(struct rails *b, struct sk_buff *skb, bool flush)
{
	struct sdp_bsdh h;

	if (b->many) {
		rails_auto_count(b, sdp_wire_weight(skb->data, skb->len));
		__skb_queue_tail(&b->many->unsent, skb);
		rails_tx_pump(b);
		return;
	}
	peek(skb, &h);
	b->tx_seq = h.mseq;
	b->unreported &= h.mid != SDP_MID_RDMA_WR_COMPL;
	rails_join_count(b, sdp_wire_weight(skb->data, skb->len));
	if (!b->rail[0]) {
		kfree_skb(skb);
		return;
	}
	send_by(b->rail[0], skb, flush);
	b->link.kept = b->rail[0]->link->kept;
}

/*
 * A rail for a message about rails: one that makes progress, if there is, and
 * not the one in reserve.
 */
static struct rail *note_rail(const struct rails *b)
{
	struct rail *any = NULL, *active = NULL;
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++) {
		struct rail *rail = b->rail[i];
		const struct sdp_rail *state;

		if (!rail || !rail->up || rail->notes >= RAILS_NOTES)
			continue;
		state = b->many ? &b->many->state.rail[i] : NULL;
		any = rail;
		if (state && state->state != SDP_RAIL_ACTIVE)
			continue;
		if (!state || !state->reserve)
			return rail;
		active = rail;
	}
	return active ? active : any;
}

/**
 * rails_tx_note() - send a message about rails
 * @b: bundle
 * @rail: the rail by which it goes, or NULL for any
 * @msg: the message; its @ack is filled in
 *
 * Return: false if no rail can take it now, or when memory is short.
 */
bool rails_tx_note(struct rails *b, struct rail *rail,
		   struct sdp_rail_msg *msg)
{
	struct sk_buff *skb;

	if (!rail)
		rail = note_rail(b);
	if (b->released || !rail || rail->notes >= RAILS_NOTES)
		return false;
	skb = alloc_skb(SDP_RAIL_MSG_MAX, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return false;
	msg->ack = b->many ? b->many->state.order.rx_seq : b->rx_seq;
	skb_put(skb, sdp_rail_msg_build(skb->data, msg));
	memset(sdp_buf_cb(skb), 0, sizeof(struct sdp_buf_cb));
	sdp_buf_cb(skb)->reused = true;
	sdp_buf_cb(skb)->note = true;
	if (msg->mid == SDP_MID_RAIL_ACK && b->many && !b->many->begun &&
	    !b->many->marker && !rail->number)
		b->many->marker = skb;
	rail->notes++;
	if (b->many) {
		sdp_rails_told(&b->many->state, msg->ack);
		b->many->told_at = jiffies;
	}
	post(b, rail->number, skb);
	return true;
}

/**
 * rails_tx_ack() - acknowledge by a message of its own, if that is due
 * @b: bundle with several rails
 * @idle: nothing has been acknowledged for a while
 */
void rails_tx_ack(struct rails *b, bool idle)
{
	struct sdp_rail_msg msg = { .mid = SDP_MID_RAIL_ACK };

	if (sdp_rails_ack_due(&b->many->state, idle))
		rails_tx_note(b, NULL, &msg);
}

/**
 * rails_tx_gone() - tell the peer of rails that we have given up
 * @b: bundle with several rails
 */
void rails_tx_gone(struct rails *b)
{
	struct sdp_rail_msg msg = { .mid = SDP_MID_RAIL_GONE };

	while (b->many->gone) {
		msg.rail = __ffs(b->many->gone);
		if (!rails_tx_note(b, NULL, &msg))
			return;
		b->many->gone &= ~BIT(msg.rail);
	}
}

/**
 * rails_tx_begin() - begin to send by all rails as soon as that is possible
 * @b: bundle with several rails
 *
 * What went by the first rail alone is not kept. A marker behind it shows that
 * it has arrived; it also acknowledges what has come, for the peer's sake.
 */
void rails_tx_begin(struct rails *b)
{
	struct sdp_rail_msg msg = { .mid = SDP_MID_RAIL_ACK };

	if (!b->many->begun && !b->many->marker && b->rail[0])
		rails_tx_note(b, b->rail[0], &msg);
	rails_watch_start(b);
}

static void marker_arrived(struct rails *b)
{
	struct rails_many *m = b->many;

	m->marker = NULL;
	sdp_rails_begin(&m->state, b->tx_seq, b->acked);
	m->counted = b->tx_seq;
	m->dropped = b->tx_seq;
	m->begun = true;
	rails_tx_pump(b);
}

/* A message about rails has arrived, and does not count for the owner. */
static void note_arrived(struct rail *rail, struct sk_buff *skb)
{
	struct rails *b = rail->all;

	rail->notes--;
	if (b->many && b->many->marker == skb)
		marker_arrived(b);
}

/* A message has arrived that went when there were several rails. */
static void kept_arrived(struct rail *rail, struct sk_buff *skb)
{
	struct rails *b = rail->all;
	struct sdp_bsdh h;

	if (rail->leaving)
		return;
	peek(skb, &h);
	sdp_rails_completed(&b->many->state, rail->number, h.mseq, skb->len,
			    sdp_buf_cb(skb)->posted, now_us());
}

/**
 * rails_tx_completed() - messages of a rail have arrived
 * @rail: the rail
 * @sent: as the link has reported them; what the owner is not to know of is
 *	taken out
 */
void rails_tx_completed(struct rail *rail, struct sdp_sent *sent)
{
	struct sk_buff *skb, *next;

	skb_queue_walk_safe(&sent->blocks, skb, next) {
		if (!sdp_buf_cb(skb)->note && !sdp_buf_cb(skb)->posted)
			continue;
		__skb_unlink(skb, &sent->blocks);
		sent->messages--;
		sent->truesize -= skb->truesize;
		sent->payload -= sdp_buf_cb(skb)->payload;
		if (sdp_buf_cb(skb)->note)
			note_arrived(rail, skb);
		else
			kept_arrived(rail, skb);
		consume_skb(skb);
	}
}

/**
 * rails_tx_acked() - the peer has acknowledged messages
 * @b: bundle
 * @ack: MSeqAck of a message that has come by any rail
 *
 * Return: %SDP_VALID, or %SDP_BAD_ACK for a message that we have not sent.
 */
enum sdp_violation rails_tx_acked(struct rails *b, u32 ack)
{
	struct rails_many *m = b->many;

	if (m && m->begun)
		return sdp_rails_acked(&m->state, ack);
	if (sdp_seq_after(ack, b->tx_seq))
		return SDP_BAD_ACK;
	if (sdp_seq_after(ack, b->acked))
		b->acked = ack;
	return SDP_VALID;
}

/**
 * rails_tx_collect() - what is the owner to be told of?
 * @b: bundle
 * @sent: messages that have arrived are added, and the blocks of those that
 *	have been acknowledged
 *
 * Then others can be sent. A message counts as sent when it has arrived. It is
 * kept for longer, without being charged: the peer's credit limits how many
 * there are.
 */
void rails_tx_collect(struct rails *b, struct sdp_sent *sent)
{
	struct rails_many *m = b->many;
	struct sk_buff *skb;

	if (!m || !m->begun)
		return;
	while (m->counted != m->state.done) {
		skb = *kept_slot(m, ++m->counted);
		sent->messages++;
		sent->payload += sdp_buf_cb(skb)->payload;
		sent->truesize += skb->truesize;
	}
	while (m->dropped != m->state.order.tx_acked) {
		struct sk_buff **kept = kept_slot(m, ++m->dropped);

		skb = *kept;
		*kept = NULL;
		/* A link that still has it may still read it. */
		if (sdp_buf_cb(skb)->block && !skb_shared(skb) &&
		    !skb_cloned(skb)) {
			sdp_buf_cb(skb)->posted = 0;
			__skb_queue_tail(&sent->blocks, skb);
		} else {
			consume_skb(skb);
		}
	}
	rails_tx_pump(b);
}

/**
 * rails_tx_purge() - free what has not been acknowledged
 * @b: bundle, which nobody uses any more
 */
void rails_tx_purge(struct rails *b)
{
	u32 i;

	if (!b->many)
		return;
	__skb_queue_purge(&b->many->unsent);
	for (i = 0; i < SDP_ORDER_WINDOW_MAX; i++)
		kfree_skb(b->many->kept[i]);
}
