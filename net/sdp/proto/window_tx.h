/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending half of a connection by datagrams: sliding window, going back,
 * probing (I1, I3, I4).
 *
 *	 acked           sent        top           next
 *	---|--------------|-----------|-------------|---->  packet numbers
 *	   on the way      to go again   not yet sent
 *
 * The owner adds a message when the window has room for its packets, keeps it
 * until all of them have been acknowledged, and sends packet @sent as long as
 * sdp_window_tx_may_send() allows.
 *
 * A NACK makes @sent go back to the first missing packet: that one and all
 * behind it go again. When nothing comes back for a retransmission timeout, no
 * packet goes again for that alone. A Probe asks what is missing, and its
 * answer is a NACK, or an acknowledgment when that was what was lost.
 *
 * Of large messages, those with a quarter of the window and more, only two are
 * unacknowledged at a time: chunk N goes when the acknowledgment of N - 2 has
 * come.
 *
 * Pure arithmetic. The caller holds the lock of the connection, and says what
 * time it is, in microseconds, which may wrap.
 */
#ifndef SDP_PROTO_WINDOW_TX_H
#define SDP_PROTO_WINDOW_TX_H

#include "congestion.h"
#include "datagram.h"
#include "rto.h"

/**
 * struct sdp_window_tx - state of the sending half
 * @acked: first packet that the peer has not acknowledged
 * @sent: the packet that is sent next; behind @acked they are on the way
 * @top: first packet that has never been sent
 * @next: number of the first packet of the next message
 * @bulk: ends of the last two large messages, the older one first: numbers of
 *	packets, not after @acked when they have been acknowledged
 * @asked: the newest packet that asked for an acknowledgment is before this one
 * @recover: a mark of congestion counts once until the peer has acknowledged
 *	all packets before this one; valid with @recovering
 * @timed: packet whose round trip is being measured; valid with @timing
 * @timed_at: when it was sent; valid with @timing
 * @probed_at: when the newest Probe was sent; valid with @probing
 * @since: when there was progress, or a Probe was due, or the first packet was
 *	sent; valid while packets are on the way
 * @probe: number of the newest Probe; 0 before the first one
 * @round: what packets say that are sent now: how often we have gone back, 0 to
 *	3
 * @window: packets that may be unacknowledged
 * @theirs: packets that the peer takes beyond its acknowledgment
 * @tries: Probes since a sign of life, an ACK or NACK
 * @fruitless: Probes since progress
 * @retries: so many @tries are the end of the connection, and four times as
 *	many that were @fruitless
 * @backs: how often we have gone back without progress since a Probe was due
 * @timing: a round trip is being measured
 * @recovering: @recover is valid
 * @probing: the newest Probe has not been answered
 * @congestion: congestion window
 * @rto: timeout
 */
struct sdp_window_tx {
	u32 acked;
	u32 sent;
	u32 top;
	u32 next;
	u32 bulk[2];
	u32 asked;
	u32 recover;
	u32 timed;
	u32 timed_at;
	u32 probed_at;
	u32 since;
	u16 probe;
	u8 round;
	u8 window;
	u8 theirs;
	u8 tries;
	u8 fruitless;
	u8 retries;
	u8 backs : 2;
	u8 timing : 1;
	u8 recovering : 1;
	u8 probing : 1;
	struct sdp_congestion congestion;
	struct sdp_rto rto;
};

/**
 * enum sdp_window_timer - what to do when the timer has expired
 * @SDP_TIMER_NONE: nothing; it is not the time yet
 * @SDP_TIMER_PROBE: send a Probe
 * @SDP_TIMER_DEAD: end the connection by ETIMEDOUT
 */
enum sdp_window_timer {
	SDP_TIMER_NONE,
	SDP_TIMER_PROBE,
	SDP_TIMER_DEAD,
};

/* How often one packet may be sent again before a Probe is due. */
#define SDP_WINDOW_BACKS_MAX	3

/* Most retries: four times as many have to be counted. */
#define SDP_WINDOW_RETRIES_MAX	63

void sdp_window_tx_init(struct sdp_window_tx *w, u32 seq, u32 window,
			u32 retries);
bool sdp_window_tx_may_add(const struct sdp_window_tx *w, u32 packets);
u32 sdp_window_tx_add(struct sdp_window_tx *w, u32 packets);
bool sdp_window_tx_may_send(const struct sdp_window_tx *w);
u8 sdp_window_tx_flags(const struct sdp_window_tx *w, bool last_of_chunk);
void sdp_window_tx_sent(struct sdp_window_tx *w, u8 flags, u32 now);
bool sdp_window_tx_stuck(const struct sdp_window_tx *w);
u16 sdp_window_tx_probed(struct sdp_window_tx *w, u32 now);
enum sdp_violation sdp_window_tx_heard(struct sdp_window_tx *w,
				       const struct sdp_datagram *d, u32 now);
enum sdp_window_timer sdp_window_tx_expired(struct sdp_window_tx *w, u32 now);
bool sdp_window_tx_wait(const struct sdp_window_tx *w, u32 now, u32 *us);

#endif /* SDP_PROTO_WINDOW_TX_H */
