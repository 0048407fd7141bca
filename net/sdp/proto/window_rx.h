/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receiving half of a connection by datagrams: order, acknowledgments, NACKs
 * (I1, I2, I3).
 *
 * The receiver takes the packets of one message at a time, in any order, and
 * then those of the next one. What does not belong to this message is dropped:
 *
 *	before it	has arrived already; it goes again because an
 *			acknowledgment was lost.
 *	behind it	something is missing. A negative acknowledgment (NACK)
 *			makes the sender go back to the first missing packet.
 *			One NACK is sent for each gap, and another one each time
 *			that the sender has gone back in vain.
 *
 * So is one when a packet within the message asks for an acknowledgment and an
 * earlier one has not come.
 *
 * An acknowledgment is in each datagram of the other direction. One by itself
 * is sent
 *
 *	at once		when a quarter of the window has arrived in whole
 *			messages and the peer has not been told, or when the
 *			sender waits for it (%SDP_DATAGRAM_ACK_NOW).
 *	soon		after %SDP_ACK_DELAY_US, when the sender had nothing
 *			more to send (%SDP_DATAGRAM_ACK_SOON). Until then an
 *			answer of the application may carry it.
 *
 * A packet that asks for one may overtake others. Then each of those that is
 * the next one is acknowledged at once.
 *
 * Pure arithmetic. The caller holds the lock of the connection, and says what
 * time it is, in microseconds, which may wrap.
 */
#ifndef SDP_PROTO_WINDOW_RX_H
#define SDP_PROTO_WINDOW_RX_H

#include "chunk.h"
#include "datagram.h"
#include "rto.h"

/**
 * enum sdp_packet - what to do with a packet that has arrived
 * @SDP_PACKET_PART: store it at its place in the message that is arriving
 * @SDP_PACKET_WHOLE: store it; the message is complete: pass it on
 * @SDP_PACKET_AGAIN: drop it: it has arrived before
 * @SDP_PACKET_AHEAD: drop it: an earlier one is missing
 * @SDP_PACKET_NONE: the datagram has no packet
 * @SDP_PACKET_WRONG: the peer breaks the rules: end the connection
 * @SDP_PACKET_BAD_ACK: it does, by an acknowledgment of what was not sent
 */
enum sdp_packet {
	SDP_PACKET_PART,
	SDP_PACKET_WHOLE,
	SDP_PACKET_AGAIN,
	SDP_PACKET_AHEAD,
	SDP_PACKET_NONE,
	SDP_PACKET_WRONG,
	SDP_PACKET_BAD_ACK,
};

/**
 * struct sdp_window_rx - state of the receiving half
 * @next: number of the first packet of the message that is arriving
 * @told: @next when an acknowledgment was sent last
 * @asked: newest packet that has overtaken others and asks for an
 *	acknowledgment; valid with @asking
 * @nacked: what the newest NACK asked for; valid with @gap
 * @soon_at: when an acknowledgment became due soon; valid with @soon
 * @probe: number of the Probe that is to be answered, or 0
 * @round: newest round of the peer from which something has come, 0 to 3
 * @window: packets that the peer may send beyond an acknowledgment
 * @gap: a NACK was sent, and what it asked for has not arrived
 * @nack_round: @round when the newest NACK was sent; valid with @gap
 * @asking: an acknowledgment is due at once whenever it is a later one, until
 *	it covers @asked
 * @soon: an acknowledgment is due soon
 * @now: an acknowledgment is due at once
 * @nack: a NACK is due at once
 * @ce: the peer is to be told that packets have met congestion
 * @chunk: what has arrived of the message
 */
struct sdp_window_rx {
	u32 next;
	u32 told;
	u32 asked;
	u32 nacked;
	u32 soon_at;
	u16 probe;
	u8 round;
	u8 window;
	u8 gap : 1;
	u8 nack_round : 2;
	u8 asking : 1;
	u8 soon : 1;
	u8 now : 1;
	u8 nack : 1;
	u8 ce : 1;
	struct sdp_chunk chunk;
};

void sdp_window_rx_init(struct sdp_window_rx *w, u32 seq, u32 window);
enum sdp_packet sdp_window_rx_arrived(struct sdp_window_rx *w,
				      const struct sdp_datagram *d, u32 now);
bool sdp_window_rx_probed(struct sdp_window_rx *w,
			  const struct sdp_datagram *d);
void sdp_window_rx_congested(struct sdp_window_rx *w);
u32 sdp_window_rx_ack(const struct sdp_window_rx *w);
enum sdp_datagram_type sdp_window_rx_due(const struct sdp_window_rx *w,
					 u32 now);
bool sdp_window_rx_wait(const struct sdp_window_rx *w, u32 now, u32 *us);
void sdp_window_rx_fill(struct sdp_window_rx *w, struct sdp_datagram *d);

#endif /* SDP_PROTO_WINDOW_RX_H */
