/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credit accounting of one connection (requirements D1-D5, wire section 7).
 *
 * Names, here / in the patent / on the wire:
 *	posted		PR	Bufs		receives that we have posted now
 *	rx_seq		LRSQ	MSeqAck		last sequence number received
 *	tx_seq		LSSQ	MSeq		last sequence number sent
 *	theirs		OtherSidesSendCredit	what the peer may still send, as we know it
 *	threshold	T
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_CREDIT_H
#define SDP_PROTO_CREDIT_H

#include "wire.h"

/**
 * struct sdp_credit - both directions of a connection
 * @tx_seq: sequence number of the last message sent (LSSQ)
 * @tx_acked: the peer's LRSQ in its last message
 * @tx_limit: newest sequence number that the peer has granted (LRSQ + PR)
 * @rx_seq: sequence number of the last message received (LRSQ)
 * @rx_limit: newest sequence number that we have granted
 * @posted: receives posted now (PR)
 * @target: receives that shall be posted
 * @theirs: the peer's send credit by our count; PR at each send, one less at each receive
 * @threshold: T: an update goes below it, and grants at least that many
 * @reserve: the peer's advertisement is open: keep a receive posted that it is not told of
 * @spare: our buffers are out, and may have to be taken back, or the peer has to be told what is
 *	read of its ring: the same, if there is one to spare
 * @unasked: either end sends as far as the other has posted receives, granted or not (ring.h)
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
	u16 threshold;
	bool reserve;
	bool spare;
	bool unasked;
};

/* With fewer receives a peer could stop at its last credit and never be granted T more. */
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
void sdp_credit_peer_hello(struct sdp_credit *c, u16 bufs);
void sdp_credit_granted_hello(struct sdp_credit *c);
void sdp_credit_sent(struct sdp_credit *c, struct sdp_bsdh *h);
enum sdp_violation sdp_credit_received(struct sdp_credit *c,
				       const struct sdp_bsdh *h);

#endif /* SDP_PROTO_CREDIT_H */
