/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The advertisement of our sending half: a large send whose beginning goes along with the
 * message and whose rest the peer may read by RDMA (requirements B2, C4, wire section 8). In
 * Pipelined nothing goes along, so that the peer may answer with a buffer of its own.
 *
 *	IDLE --offered--> READY --SrcAvail sent--> OUT --withdrawn--> CANCEL --sent--> CANCELLED
 *
 *	READY is withdrawn to IDLE at once, for nobody knows of it.
 *	OUT, CANCEL, CANCELLED: RdmaRdCompl for all of it, or SendSm, ends it: IDLE.
 *	SinkAvail that is not stale ends it in any state: both advertise, and the sink wins (C8).
 *
 * One at a time, and while it is out nothing with payload follows it and no DisConn: what
 * the peer has not read is sent again as data, in its place in the stream.
 *
 * An answer belongs to the advertisement that its sender had seen, which its MSeqAck tells.
 * The last answer and a cancel may cross. Ours is a sink that has nothing to say then; others
 * answer the cancel all the same. So one SendSm is ignored for each, if its sender had seen the
 * first such cancel, and not yet the present advertisement.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_SRCAVAIL_TX_H
#define SDP_PROTO_SRCAVAIL_TX_H

#include "wire.h"

enum sdp_srcavail_tx_state {
	SDP_SRCAVAIL_TX_IDLE,
	SDP_SRCAVAIL_TX_READY,	/* SrcAvail is to be sent */
	SDP_SRCAVAIL_TX_OUT,		/* the peer reads, or will answer */
	SDP_SRCAVAIL_TX_CANCEL,	/* as OUT, and SrcAvailCancel is to be sent */
	SDP_SRCAVAIL_TX_CANCELLED,	/* as OUT, and SrcAvailCancel has been sent */
};

/**
 * struct sdp_srcavail_tx - what we have advertised
 * @state: how far it is
 * @region: the whole of it, what is sent along included
 * @inlined: bytes sent along with SrcAvail
 * @read: bytes that the peer says it has read
 * @seq: MSeq of SrcAvail
 * @cancel_seq: MSeq of SrcAvailCancel, from %SDP_SRCAVAIL_TX_CANCELLED on
 * @late_seq: MSeq of the first cancel for which a SendSm may still come, with @late
 * @late: so many cancels have crossed what ended their advertisement
 */
struct sdp_srcavail_tx {
	enum sdp_srcavail_tx_state state;
	struct sdp_region region;
	u32 inlined;
	u32 read;
	u32 seq;
	u32 cancel_seq;
	u32 late_seq;
	u32 late;
};

/* Does the peer know of it, so that nothing may overtake it? */
static inline bool sdp_srcavail_tx_out(const struct sdp_srcavail_tx *s)
{
	return s->state >= SDP_SRCAVAIL_TX_OUT;
}

void sdp_srcavail_tx_begin(struct sdp_srcavail_tx *s,
			   const struct sdp_region *region, u32 inlined);
void sdp_srcavail_tx_sent(struct sdp_srcavail_tx *s, u32 seq);
void sdp_srcavail_tx_cancel(struct sdp_srcavail_tx *s);
void sdp_srcavail_tx_crossed(struct sdp_srcavail_tx *s);
void sdp_srcavail_tx_cancel_sent(struct sdp_srcavail_tx *s, u32 seq);
enum sdp_violation sdp_srcavail_tx_was_read(struct sdp_srcavail_tx *s,
					    u32 count, u32 ack);
enum sdp_violation sdp_srcavail_tx_declined(struct sdp_srcavail_tx *s, u32 ack);
u32 sdp_srcavail_tx_taken(const struct sdp_srcavail_tx *s);

#endif /* SDP_PROTO_SRCAVAIL_TX_H */
