// SPDX-License-Identifier: GPL-2.0
/*
 * The messages of a connection over its rails.
 *
 * rails.h describes it.
 */
#include "rails.h"

static u64 *arrived_word(struct sdp_rails *r, u32 seq)
{
	return &r->arrived[seq % SDP_ORDER_WINDOW_MAX / 64];
}

static u64 arrived_bit(u32 seq)
{
	return (u64)1 << (seq % 64);
}

/**
 * sdp_rails_start() - a second rail is about to join
 * @r: to fill in
 * @rx_seq: newest message that was passed on
 * @window: most messages beyond an acknowledgment, 1 to %SDP_ORDER_WINDOW_MAX
 */
void sdp_rails_start(struct sdp_rails *r, u32 rx_seq, u16 window)
{
	u32 i;

	memset(r, 0, sizeof(*r));
	sdp_order_begin_rx(&r->order, rx_seq);
	r->order.window = window;
	r->unkept = true;
	/* What the peer knows to have arrived is not known here. */
	r->say = true;
	for (i = 0; i < SDP_RAILS_MAX; i++)
		r->rail[i].state = SDP_RAIL_DEAD;
}

/**
 * sdp_rails_begin() - begin to send by all rails
 * @r: rails
 * @tx_seq: newest message that we have sent
 * @acked: newest one that the peer has acknowledged
 */
void sdp_rails_begin(struct sdp_rails *r, u32 tx_seq, u32 acked)
{
	sdp_order_begin_tx(&r->order, tx_seq);
	r->begin = tx_seq;
	r->done = tx_seq;
	r->unkept = acked != tx_seq;
}

/**
 * sdp_rails_join() - a rail is connected
 * @r: rails
 * @rail: its number; no other rail has it
 * @slots: messages that its queue pair can hold
 */
void sdp_rails_join(struct sdp_rails *r, u32 rail, u16 slots)
{
	sdp_rail_init(&r->rail[rail], slots);
	sdp_rail_joined(&r->rail[rail]);
}

/**
 * sdp_rails_reserve() - use a rail only while no other one is active
 * @r: rails
 * @rail: its number; it has joined
 */
void sdp_rails_reserve(struct sdp_rails *r, u32 rail)
{
	r->rail[rail].reserve = true;
}

/* The oldest message that has to go again; there is one. */
static u32 oldest_again(const struct sdp_rails *r)
{
	u32 seq = r->order.tx_acked + 1;

	while (r->by[seq % SDP_ORDER_WINDOW_MAX] != SDP_RAIL_NONE)
		seq++;
	return seq;
}

static bool any_such(const struct sdp_rails *r, enum sdp_rail_state state,
		     bool reserve)
{
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++) {
		if (r->rail[i].state == state && r->rail[i].reserve == reserve)
			return true;
	}
	return false;
}

/*
 * A rail that takes a message now. One in reserve is better than a suspect one,
 * and that is better than none.
 */
static u32 choose(const struct sdp_rails *r, u32 bytes)
{
	static const struct {
		enum sdp_rail_state state;
		bool reserve;
	} order[] = {
		{ SDP_RAIL_ACTIVE, false }, { SDP_RAIL_ACTIVE, true },
		{ SDP_RAIL_SUSPECT, false }, { SDP_RAIL_SUSPECT, true },
	};
	u32 i;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (any_such(r, order[i].state, order[i].reserve))
			return sdp_rail_choose(r->rail, SDP_RAILS_MAX, bytes,
					       order[i].state,
					       order[i].reserve);
	}
	return SDP_RAIL_NONE;
}

/**
 * sdp_rails_next() - what is to be posted now? (H1)
 * @r: rails
 * @fresh: the owner has a message that has not been posted yet
 * @bytes: its length
 * @post: set to the message and its rail
 *
 * What has to go again goes before anything new: the peer waits for it.
 *
 * Return: false when nothing can be posted now.
 */
bool sdp_rails_next(const struct sdp_rails *r, bool fresh, u32 bytes,
		    struct sdp_rails_post *post)
{
	if (r->again)
		post->seq = oldest_again(r);
	else if (fresh && sdp_order_may_send(&r->order))
		post->seq = r->order.tx_seq + 1;
	else
		return false;
	post->rail = choose(r, bytes);
	return post->rail != SDP_RAIL_NONE;
}

/**
 * sdp_rails_posted() - a message has been posted
 * @r: rails
 * @post: what sdp_rails_next() has said
 * @bytes: length of the message
 * @now: time
 */
void sdp_rails_posted(struct sdp_rails *r, const struct sdp_rails_post *post,
		      u32 bytes, u32 now)
{
	if (sdp_seq_after(post->seq, r->order.tx_seq))
		sdp_order_sent(&r->order);
	else
		r->again--;
	r->by[post->seq % SDP_ORDER_WINDOW_MAX] = post->rail;
	sdp_rail_sent(&r->rail[post->rail], bytes, now);
}

/* Take all messages that have arrived, one after the other, as @done. */
static void advance(struct sdp_rails *r)
{
	u32 next = r->done + 1;

	while (*arrived_word(r, next) & arrived_bit(next)) {
		*arrived_word(r, next) &= ~arrived_bit(next);
		r->done = next++;
	}
}

/**
 * sdp_rails_completed() - the queue pair of a rail has completed a message
 * @r: rails; @done may have advanced
 * @rail: the rail
 * @seq: the message, which may have been acknowledged long ago
 * @bytes: its length
 * @posted: time when it was posted
 * @now: time
 */
void sdp_rails_completed(struct sdp_rails *r, u32 rail, u32 seq, u32 bytes,
			 u32 posted, u32 now)
{
	sdp_rail_completed(&r->rail[rail], bytes, now - posted, now);
	if (!sdp_seq_after(seq, r->done))
		return;
	*arrived_word(r, seq) |= arrived_bit(seq);
	advance(r);
}

/**
 * sdp_rails_acked() - process MSeqAck of a message that has come by any rail
 * @r: rails; @order.tx_acked and @done may have advanced
 * @ack: MSeqAck
 *
 * Return: %SDP_VALID, or %SDP_BAD_ACK for a message that we have not posted.
 */
enum sdp_violation sdp_rails_acked(struct sdp_rails *r, u32 ack)
{
	u32 seq = r->order.tx_acked;
	enum sdp_violation bad = sdp_order_acked(&r->order, ack);

	if (bad)
		return bad;
	if (ack == r->begin)
		r->unkept = false;
	while (seq != r->order.tx_acked) {
		r->unkept = false;
		seq++;
		r->again -= r->by[seq % SDP_ORDER_WINDOW_MAX] == SDP_RAIL_NONE;
		if (!sdp_seq_after(seq, r->done))
			continue;
		*arrived_word(r, seq) &= ~arrived_bit(seq);
		r->done = seq;
	}
	advance(r);
	return SDP_VALID;
}

/**
 * sdp_rails_dead() - a rail has failed, or one side has given it up
 * @r: rails
 * @rail: its number
 *
 * Return: number of messages that go again because of that.
 */
u32 sdp_rails_dead(struct sdp_rails *r, u32 rail)
{
	u32 n = 0, seq;

	if (r->rail[rail].state == SDP_RAIL_DEAD)
		return 0;
	sdp_rail_dead(&r->rail[rail]);
	for (seq = r->order.tx_acked; seq != r->order.tx_seq;) {
		u8 *by = &r->by[++seq % SDP_ORDER_WINDOW_MAX];

		if (*by != rail)
			continue;
		*by = SDP_RAIL_NONE;
		n++;
	}
	r->again += n;
	r->say = true;
	return n;
}

/**
 * sdp_rails_working() - number of rails that are not dead
 * @r: rails
 *
 * Return: number of rails.
 */
u32 sdp_rails_working(const struct sdp_rails *r)
{
	u32 i, n = 0;

	for (i = 0; i < SDP_RAILS_MAX; i++)
		n += r->rail[i].state != SDP_RAIL_DEAD;
	return n;
}

/**
 * sdp_rails_may_spare() - does the connection survive the death of a rail?
 * @r: rails
 * @rail: its number
 *
 * Return: true if there is another one, and if nothing can be lost that the
 * owner has not kept.
 */
bool sdp_rails_may_spare(const struct sdp_rails *r, u32 rail)
{
	bool works = r->rail[rail].state != SDP_RAIL_DEAD;

	return sdp_rails_working(r) > works &&
	       (rail || !r->unkept);
}

/**
 * sdp_rails_check() - judge the rails by their progress (H1)
 * @r: rails; some may become %SDP_RAIL_SUSPECT
 * @now: time
 *
 * Return: a rail that has made no progress for so long that the owner gives it
 * up, by sdp_rails_dead(); or %SDP_RAIL_NONE. One in reserve may take longer
 * while no other one is active.
 */
u32 sdp_rails_check(struct sdp_rails *r, u32 now)
{
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++) {
		struct sdp_rail *rail = &r->rail[i];

		if (rail->state == SDP_RAIL_DEAD || !sdp_rail_late(rail, now))
			continue;
		if (rail->reserve && !any_such(r, SDP_RAIL_ACTIVE, false))
			continue;
		if (sdp_rails_may_spare(r, i))
			return i;
	}
	return SDP_RAIL_NONE;
}

/**
 * sdp_rails_excuse() - we have stood still, so no rail is late
 * @r: rails
 * @now: time
 */
void sdp_rails_excuse(struct sdp_rails *r, u32 now)
{
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++)
		r->rail[i].since = now;
}

/**
 * sdp_rails_ack_due() - is an acknowledgment to be sent by itself?
 * @r: rails
 * @idle: nothing has been sent for a while
 *
 * Return: true when it is.
 */
bool sdp_rails_ack_due(const struct sdp_rails *r, bool idle)
{
	return r->say || sdp_order_ack_due(&r->order) ||
	       (idle && r->order.rx_seq != r->order.rx_told);
}

/**
 * sdp_rails_told() - a message that is being posted acknowledges others
 * @r: rails
 * @ack: its MSeqAck; an old one when the message goes again
 */
void sdp_rails_told(struct sdp_rails *r, u32 ack)
{
	sdp_order_told(&r->order, ack);
	if (ack == r->order.rx_seq)
		r->say = false;
}
