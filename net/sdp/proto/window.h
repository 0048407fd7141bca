/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows of a connection by datagrams: what goes next, and what an arrival
 * means (I1 to I4).
 *
 * The sending half and the receiving half of one end share its datagrams: each
 * carries a packet or a request of one half, and the acknowledgment of the
 * other. The owner, a transport, asks what to send whenever something has
 * happened, until there is nothing more:
 *
 *	while (sdp_window_next(w, now, &type))
 *		Data	find the message with packet w->tx.sent, let
 *			sdp_window_packet() make the header, send both
 *		others	let sdp_window_control() make the header, send it
 *
 * Pure arithmetic. The caller holds the lock of the connection, and says what
 * time it is, in microseconds, which may wrap. It has read the clock after it
 * took the lock, so that time does not go back.
 */
#ifndef SDP_PROTO_WINDOW_H
#define SDP_PROTO_WINDOW_H

#include "window_rx.h"
#include "window_tx.h"

/**
 * struct sdp_window - both halves of one end
 * @tx: what we send
 * @rx: what we receive
 * @probe: a Probe is to be sent
 */
struct sdp_window {
	struct sdp_window_tx tx;
	struct sdp_window_rx rx;
	bool probe;
};

/**
 * struct sdp_window_config - what both ends have agreed on
 * @tx_seq: number of our first packet
 * @rx_seq: number of the peer's first packet
 * @tx_window: packets that may be unacknowledged, by the rules of our role
 * @their_window: packets that the peer takes beyond its acknowledgment, as its
 *	Open or OpenAck says
 * @rx_window: packets that we take, as ours says
 * @retries: unanswered Probes after which the connection ends, at most
 *	%SDP_WINDOW_RETRIES_MAX
 * @rtt: how long a round trip took when the connection was opened, microseconds
 */
struct sdp_window_config {
	u32 tx_seq;
	u32 rx_seq;
	u8 tx_window;
	u8 their_window;
	u8 rx_window;
	u8 retries;
	u32 rtt;
};

void sdp_window_init(struct sdp_window *w, const struct sdp_window_config *c);
enum sdp_packet sdp_window_arrived(struct sdp_window *w,
				   const struct sdp_datagram *d, bool marked,
				   u32 now);
bool sdp_window_next(const struct sdp_window *w, u32 now,
		     enum sdp_datagram_type *type);
void sdp_window_packet(struct sdp_window *w, struct sdp_datagram *d, u32 seq,
		       u32 packets, u32 now);
void sdp_window_control(struct sdp_window *w, struct sdp_datagram *d,
			enum sdp_datagram_type type, u32 now);
bool sdp_window_hasten(struct sdp_window *w);
bool sdp_window_expired(struct sdp_window *w, u32 now);
bool sdp_window_wait(const struct sdp_window *w, u32 now, u32 *us);

#endif /* SDP_PROTO_WINDOW_H */
