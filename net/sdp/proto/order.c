// SPDX-License-Identifier: GPL-2.0
/*
 * Order of the messages of a connection over all its rails.
 *
 * order.h describes it.
 */
#include "order.h"

/**
 * sdp_order_begin_tx() - begin to keep what is sent, until it is acknowledged
 * @o: order
 * @tx_seq: newest message that was sent before
 */
void sdp_order_begin_tx(struct sdp_order *o, u32 tx_seq)
{
	o->tx_seq = tx_seq;
	o->tx_acked = tx_seq;
}

/**
 * sdp_order_begin_rx() - begin to put in order what arrives
 * @o: order
 * @rx_seq: newest message that has arrived before
 */
void sdp_order_begin_rx(struct sdp_order *o, u32 rx_seq)
{
	o->rx_seq = rx_seq;
	o->rx_told = rx_seq;
}

/**
 * sdp_order_may_send() - is there room for a new message in the window?
 * @o: order
 *
 * Return: true when there is. What was sent before may always be sent again.
 */
bool sdp_order_may_send(const struct sdp_order *o)
{
	return o->tx_seq - o->tx_acked < o->window;
}

/**
 * sdp_order_sent() - the next new message is sent
 * @o: order; sdp_order_may_send() is true
 */
void sdp_order_sent(struct sdp_order *o)
{
	o->tx_seq++;
}

/**
 * sdp_order_told() - a message that is sent acknowledges others
 * @o: order
 * @ack: its MSeqAck
 */
void sdp_order_told(struct sdp_order *o, u32 ack)
{
	o->rx_told = ack;
}

/**
 * sdp_order_acked() - process an acknowledgment (H1)
 * @o: order; unchanged when @ack is refused
 * @ack: MSeqAck
 *
 * Return: %SDP_VALID, or %SDP_BAD_ACK for a message that we have not sent.
 */
enum sdp_violation sdp_order_acked(struct sdp_order *o, u32 ack)
{
	if (sdp_seq_after(o->tx_acked, ack))
		return SDP_VALID;
	if (ack - o->tx_acked > o->tx_seq - o->tx_acked)
		return SDP_BAD_ACK;
	o->tx_acked = ack;
	return SDP_VALID;
}

static u64 *order_word(struct sdp_order *o, u32 seq)
{
	return &o->ahead[seq % SDP_ORDER_WINDOW_MAX / 64];
}

static u64 order_bit(u32 seq)
{
	return (u64)1 << (seq % 64);
}

/**
 * sdp_order_arrived() - a message has arrived by any rail (D6)
 * @o: order
 * @seq: its MSeq
 *
 * Return: what to do with it.
 */
enum sdp_arrival sdp_order_arrived(struct sdp_order *o, u32 seq)
{
	u64 *word = order_word(o, seq), bit = order_bit(seq);

	if (!sdp_seq_after(seq, o->rx_seq)) {
		/* 2^31 away is neither before nor after. */
		return o->rx_seq - seq < 0x80000000U ? SDP_ARRIVAL_AGAIN :
							 SDP_ARRIVAL_BEYOND;
	}
	/* The peer's window begins at an acknowledgment, so not behind that. */
	if (seq - o->rx_seq > o->window)
		return SDP_ARRIVAL_BEYOND;
	if (*word & bit)
		return SDP_ARRIVAL_AGAIN;
	if (seq == o->rx_seq + 1) {
		o->rx_seq = seq;
		return SDP_ARRIVAL_NEXT;
	}
	*word |= bit;
	o->held++;
	return SDP_ARRIVAL_AHEAD;
}

/**
 * sdp_order_drain() - is the next message among those that are held?
 * @o: order
 *
 * Return: true if it is. It is then the newest one passed on, @rx_seq.
 */
bool sdp_order_drain(struct sdp_order *o)
{
	u32 next = o->rx_seq + 1;

	if (!(*order_word(o, next) & order_bit(next)))
		return false;
	*order_word(o, next) &= ~order_bit(next);
	o->held--;
	o->rx_seq = next;
	return true;
}

/**
 * sdp_order_ack_due() - is an acknowledgment to be sent, for its own sake?
 * @o: order
 *
 * Return: true when a quarter of the window has arrived that the peer has not
 * been told of.
 */
bool sdp_order_ack_due(const struct sdp_order *o)
{
	return o->rx_seq - o->rx_told >= (o->window + 3) / 4;
}
