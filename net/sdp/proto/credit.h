/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credit state of one connection, both directions.
 *
 * Requirements D1-D5, wire section 7. The same value has one name here, one
 * in the patent and one on the wire:
 *
 *	here		patent			wire	meaning
 *	posted		PR			Bufs	receives posted now
 *	rx_seq		LRSQ			MSeqAck	last MSeq received
 *	tx_seq		LSSQ			MSeq	last MSeq sent
 *	theirs		OtherSidesSendCredit	-	the peer's send credit
 *	threshold	T			-	credit update threshold
 *
 * Pure arithmetic. The caller holds the lock of the engine's owner.
 */
#ifndef SDP_PROTO_CREDIT_H
#define SDP_PROTO_CREDIT_H

#include "wire.h"

/*
 * Number of our messages whose grants are remembered, a power of two. Usually
 * fewer than this are on their way at once.
 */
#define SDP_LIMITS	16

/**
 * struct sdp_credit - credit of both directions of a connection
 * @tx_seq: sequence number of the last message sent (LSSQ)
 * @tx_acked: MSeqAck of the peer's last message: our newest message that the
 *	peer has received
 * @tx_limit: newest sequence number that the peer has granted (LRSQ + PR)
 * @rx_seq: sequence number of the last message received (LRSQ)
 * @rx_limit: newest sequence number that we have granted
 * @posted: number of receives posted now (PR)
 * @target: number of receives to keep posted
 * @theirs: the peer's send credit by our count: set to PR by each message
 *	sent, reduced by one by each message received (D3)
 * @left: the peer's send credit by its own count, after it had sent its last
 *	message; never more than @theirs was then
 * @threshold: T: a credit update is sent only when @theirs is below T and the
 *	update grants at least T more (D4)
 * @reserve: the peer's SrcAvail is open: keep one posted receive that the
 *	peer is not told of, so that the answer can grant it
 * @spare: we may have to send SinkAvailCancel, or a report of the bytes read
 *	from the ring that the peer writes into: keep one receive back as for
 *	@reserve, but only beyond @target
 * @unasked: both ends send without waiting for a grant, and the adapters hold
 *	back a message that finds no posted receive (%SDP_BY_NIC, ring.h)
 * @limits: newest sequence number granted by each of our last messages, at the
 *	message's own number modulo %SDP_LIMITS; at 0 that of our Hello
 */
struct sdp_credit {
	u32 tx_seq;
	u32 tx_acked;
	u32 tx_limit;
	u32 rx_seq;
	u32 rx_limit;
	u16 posted;
	u16 target;
	u16 theirs;
	u16 left;
	u16 threshold;
	bool reserve;
	bool spare;
	bool unasked;
	u32 limits[SDP_LIMITS];
};

/*
 * A peer keeps its last credit (D5), so it can stop with one. A credit update
 * has to grant at least T more, and T is at least 2.
 */
#define SDP_RECV_BUFFERS_MIN	3

void sdp_credit_init(struct sdp_credit *c, u16 target, u16 threshold);
void sdp_credit_set_target(struct sdp_credit *c, u16 target, u16 threshold);
void sdp_credit_posted(struct sdp_credit *c, u16 n);
u16 sdp_credit_wanted(const struct sdp_credit *c);
u32 sdp_credit_available(const struct sdp_credit *c);
bool sdp_credit_may_send_data(const struct sdp_credit *c);
bool sdp_credit_may_answer(const struct sdp_credit *c);
bool sdp_credit_update_due(const struct sdp_credit *c);
bool sdp_credit_peer_is_mute(const struct sdp_credit *c);
bool sdp_credit_peer_is_bound(const struct sdp_credit *c);
bool sdp_credit_peer_is_low(const struct sdp_credit *c);
void sdp_credit_peer_hello(struct sdp_credit *c, u16 bufs);
void sdp_credit_granted_hello(struct sdp_credit *c);
void sdp_credit_sent(struct sdp_credit *c, struct sdp_bsdh *h);
enum sdp_violation sdp_credit_received(struct sdp_credit *c,
				       const struct sdp_bsdh *h);

#endif /* SDP_PROTO_CREDIT_H */
