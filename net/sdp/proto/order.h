/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Order of the messages of a connection over all its rails (D6, H1).
 *
 * A queue pair keeps its messages in order. The rails of a connection do not:
 * messages overtake each other, and a message comes twice if it goes again
 * because its rail has died. MSeq, which every message has, puts them in order:
 *
 *	sender		keeps a message until the peer has acknowledged it.
 *	receiver	passes messages on by MSeq. One that is ahead is held,
 *			one that has come before is dropped.
 *
 * An acknowledgment, MSeqAck of any message, covers all messages up to its
 * number. It may be overtaken, so an older one says nothing new.
 *
 * A sender has at most @window messages that are not acknowledged, so a
 * receiver holds no more than that.
 *
 * Pure arithmetic. The caller holds its lock.
 */
#ifndef SDP_PROTO_ORDER_H
#define SDP_PROTO_ORDER_H

#include "wire.h"

/* Largest window: a power of two. */
#ifndef SDP_ORDER_WINDOW_MAX	/* selftests/unit/sim_rails.c: smaller */
#define SDP_ORDER_WINDOW_MAX	256
#endif
#define SDP_ORDER_WORDS		(SDP_ORDER_WINDOW_MAX / 64)

/**
 * struct sdp_order - order of both directions of a connection
 * @tx_seq: newest message that we have sent
 * @tx_acked: newest acknowledgment: the peer has all messages up to this one
 * @rx_seq: newest message that was passed on; none before it is missing
 * @rx_told: acknowledgment of the message that we have sent last
 * @window: most messages that either side sends beyond an acknowledgment
 * @held: number of messages behind @rx_seq that have arrived
 * @ahead: which these are: bit MSeq % %SDP_ORDER_WINDOW_MAX
 */
struct sdp_order {
	u32 tx_seq;
	u32 tx_acked;
	u32 rx_seq;
	u32 rx_told;
	u16 window;
	u16 held;
	u64 ahead[SDP_ORDER_WORDS];
};

/**
 * enum sdp_arrival - what to do with a message that has arrived
 * @SDP_ARRIVAL_NEXT: pass it on, and then those that sdp_order_drain() releases
 * @SDP_ARRIVAL_AHEAD: hold it: an earlier one is missing
 * @SDP_ARRIVAL_AGAIN: drop it: it has arrived before
 * @SDP_ARRIVAL_BEYOND: the peer has exceeded the window
 */
enum sdp_arrival {
	SDP_ARRIVAL_NEXT,
	SDP_ARRIVAL_AHEAD,
	SDP_ARRIVAL_AGAIN,
	SDP_ARRIVAL_BEYOND,
};

void sdp_order_begin_tx(struct sdp_order *o, u32 tx_seq);
void sdp_order_begin_rx(struct sdp_order *o, u32 rx_seq);
bool sdp_order_may_send(const struct sdp_order *o);
void sdp_order_sent(struct sdp_order *o);
void sdp_order_told(struct sdp_order *o, u32 ack);
enum sdp_violation sdp_order_acked(struct sdp_order *o, u32 ack);
enum sdp_arrival sdp_order_arrived(struct sdp_order *o, u32 seq);
bool sdp_order_drain(struct sdp_order *o);
bool sdp_order_ack_due(const struct sdp_order *o);

#endif /* SDP_PROTO_ORDER_H */
