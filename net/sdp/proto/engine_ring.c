// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol engine: ring messages and the owner's ring calls.
 *
 * ring.h describes rings; ring.c keeps their positions and free space.
 */
#include "engine_internal.h"

/* G4: a ring of BY_NIC limits the number of receives, so follow its size. */
static void ring_limit_receives(struct sdp_engine *e)
{
	u16 most = sdp_ring_in_receives_max(&e->ring_in, e->target_wish);

	if (most != e->target_wish)
		sdp_credit_set_target(&e->credit, most, 0);
}

/**
 * sdp_engine_take_rings() - the peer knows rings, too (G6)
 * @e: engine
 * @hello: the peer's Hello or HelloAck
 */
void sdp_engine_take_rings(struct sdp_engine *e, const struct sdp_hello *hello)
{
	u8 out = sdp_ring_scheme(e->scheme, hello->scheme);
	u8 in = sdp_ring_scheme(hello->scheme, e->scheme);
	u32 window = min(e->ring_window, hello->window);

	e->rings = true;
	sdp_ring_out_agree(&e->ring_out, out, e->ring_max, window,
			   e->resize.level);
	sdp_ring_in_agree(&e->ring_in, in, e->ring_max, window);
	e->credit.unasked = in == SDP_BY_NIC;
	ring_limit_receives(e);
}

/**
 * sdp_engine_receive_ring_ask() - the peer wants a ring, or gives it back
 * @e: engine
 * @msg: RingAsk
 * @acts: RING_WANTED, RING_OVER, FAIL
 */
void sdp_engine_receive_ring_ask(struct sdp_engine *e,
				 const struct sdp_msg *msg,
				 struct sdp_actions *acts)
{
	enum sdp_ring_wish wish;
	enum sdp_violation bad;

	bad = sdp_conn_may_receive(e->state) ?
	      sdp_ring_in_asked(&e->ring_in, msg->size, &wish) : SDP_BAD_STATE;
	if (bad)
		sdp_engine_fail(e, EPROTO, bad, acts);
	else if (wish == SDP_RING_MAKE)
		sdp_engine_act(acts, SDP_ACT_RING_WANTED)->len =
			e->ring_in.making;
	else if (wish == SDP_RING_DROP)
		sdp_engine_act(acts, SDP_ACT_RING_OVER);
}

/**
 * sdp_engine_receive_ring_avail() - the peer answers our RingAsk
 * @e: engine
 * @msg: RingAvail: a ring for us, or none
 * @acts: FAIL
 */
void sdp_engine_receive_ring_avail(struct sdp_engine *e,
				   const struct sdp_msg *msg,
				   struct sdp_actions *acts)
{
	enum sdp_violation bad =
		sdp_ring_out_answered(&e->ring_out, &msg->ring);

	if (bad)
		sdp_engine_fail(e, EPROTO, bad, acts);
}

/**
 * sdp_engine_ring_made() - the ring that was wanted has been made, or cannot be
 * @e: engine, after RING_WANTED
 * @ring: the ring, not longer than wanted; of length 0 if there is none
 *
 * If the engine cannot use the ring, @e->ring_in.next.len is 0 afterwards. It
 * issues no RING_OVER for such a ring.
 */
void sdp_engine_ring_made(struct sdp_engine *e, const struct sdp_region *ring)
{
	if (e->dead || !e->ring_in.making)
		return;
	sdp_ring_in_made(&e->ring_in, ring, e->credit.posted);
	ring_limit_receives(e);
}

/**
 * sdp_engine_ring_place() - where has the peer written into a ring?
 * @e: engine
 * @imm: immediate data of the message
 * @at: set to the offset of the message in its ring
 * @bytes: set to its length
 * @acts: RING_OVER, FAIL
 *
 * Return: %SDP_VALID, after which sdp_engine_receive_placed() must follow; or
 * what is wrong with the message.
 */
enum sdp_violation sdp_engine_ring_place(struct sdp_engine *e, u32 imm, u32 *at,
					 u32 *bytes, struct sdp_actions *acts)
{
	/* Without rings, the peer has used up a receive and sent no message. */
	enum sdp_violation bad = SDP_BAD_LEN;
	bool moved = false;

	if (e->dead)
		return SDP_BAD_STATE;
	if (e->rings)
		bad = sdp_ring_in_arrived(&e->ring_in, imm, at, bytes, &moved);
	if (bad)
		sdp_engine_fail(e, EPROTO, bad, acts);
	else if (moved)
		sdp_engine_act(acts, SDP_ACT_RING_OVER)->len = 1;
	return bad;
}

/**
 * sdp_engine_ring_read() - data in the present ring has been read, in order
 * @e: engine
 * @bytes: number of bytes, headers included
 *
 * Return: true when there may be a message to send or a receive to post now.
 */
bool sdp_engine_ring_read(struct sdp_engine *e, u32 bytes)
{
	sdp_ring_in_read(&e->ring_in, bytes);
	return e->ring_in.scheme == SDP_BY_NIC ||
	       sdp_ring_in_update_due(&e->ring_in);
}

/**
 * sdp_engine_by_nic() - do the adapters hold back what finds no receive? (G4)
 * @e: engine
 *
 * Return: true when they do, in both directions.
 */
bool sdp_engine_by_nic(const struct sdp_engine *e)
{
	return e->credit.unasked;
}

/**
 * sdp_engine_held_back() - may our adapter be holding messages back? (G5)
 * @e: engine
 *
 * It holds them while the peer has no receive posted.
 *
 * Return: true when with BY_NIC some of our messages have not arrived.
 */
bool sdp_engine_held_back(const struct sdp_engine *e)
{
	return e->credit.unasked && e->credit.tx_seq != e->sent_seq;
}

/**
 * sdp_engine_ring_full() - data waits for room in the peer's ring
 * @e: engine
 *
 * The owner calls this once for each wait.
 */
void sdp_engine_ring_full(struct sdp_engine *e)
{
	sdp_ring_out_was_full(&e->ring_out);
}

/**
 * sdp_engine_ring_leave() - nothing was sent for long: give the ring back
 * @e: engine; nothing is unsent, and no writer is about to add data
 *
 * If this returns true, sdp_engine_next() yields RingAsk for 0 bytes. If that
 * could not be sent, the owner must call sdp_engine_ring_stay() before a writer
 * can add data.
 *
 * Return: true when there is a message to send.
 */
bool sdp_engine_ring_leave(struct sdp_engine *e)
{
	return !e->dead && sdp_conn_may_send(e->state) && !e->shutdown &&
	       e->srcavail_tx.state == SDP_SRCAVAIL_TX_IDLE &&
	       sdp_ring_out_leave(&e->ring_out);
}

/**
 * sdp_engine_ring_stay() - keep the ring if RingAsk could not be sent
 * @e: engine
 */
void sdp_engine_ring_stay(struct sdp_engine *e)
{
	sdp_ring_out_stay(&e->ring_out);
}
