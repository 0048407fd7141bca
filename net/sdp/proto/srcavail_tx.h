/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SrcAvail that we send: state of our advertised large send.
 *
 * SrcAvail carries the beginning of a large send, and the peer may read the
 * rest by RDMA (requirements B2, C4, wire section 8). In Pipelined SrcAvail
 * carries no payload, so that the peer may answer with a SinkAvail.
 *
 *	IDLE --begin--> READY --SrcAvail sent--> OUT --withdrawn--> CANCEL
 *	CANCEL --SrcAvailCancel sent--> CANCELLED
 *
 *	READY: a withdrawal leads to IDLE at once, because the peer does not
 *	know of the advertisement.
 *	OUT, CANCEL, CANCELLED: SendSm, or RdmaRdCompl for all of the rest,
 *	leads to IDLE.
 *	READY, OUT, CANCEL, CANCELLED: a SinkAvail that is not stale leads to
 *	IDLE. Both sides advertise, and the sink wins (C8).
 *
 * Only one SrcAvail is out at a time. While it is out we send no payload and
 * no DisConn: what the peer does not read is sent as Data, at its position in
 * the stream.
 *
 * MSeqAck of an answer tells which SrcAvail its sender had received, and the
 * answer belongs to that one. The last answer and SrcAvailCancel may cross.
 * Our own sink then does not answer SrcAvailCancel, but other implementations
 * do, with SendSm. So for each crossed cancel we ignore one SendSm whose
 * MSeqAck covers the first such cancel and not the present SrcAvail.
 *
 * Pure arithmetic. The caller holds the lock of the engine's owner.
 */
#ifndef SDP_PROTO_SRCAVAIL_TX_H
#define SDP_PROTO_SRCAVAIL_TX_H

#include "wire.h"

enum sdp_srcavail_tx_state {
	SDP_SRCAVAIL_TX_IDLE,
	SDP_SRCAVAIL_TX_READY,		/* SrcAvail is to be sent */
	SDP_SRCAVAIL_TX_OUT,		/* the peer reads, or will answer */
	SDP_SRCAVAIL_TX_CANCEL,		/* OUT, SrcAvailCancel to be sent */
	SDP_SRCAVAIL_TX_CANCELLED,	/* OUT, SrcAvailCancel sent */
};

/**
 * struct sdp_srcavail_tx - what we advertise by SrcAvail
 * @state: state of the advertisement
 * @region: all of the send, with the inlined bytes
 * @keys: its keys for several rails
 * @inlined: number of bytes that SrcAvail itself carries
 * @read: number of bytes that the peer has reported as read; also read
 *	without the lock
 * @seq: MSeq of SrcAvail
 * @cancel_seq: MSeq of SrcAvailCancel, valid in %SDP_SRCAVAIL_TX_CANCELLED
 * @late_seq: with @late: MSeq of the first cancel that a SendSm may still
 *	answer
 * @late: number of cancels that have crossed the end of their SrcAvail and
 *	that a SendSm may still answer
 */
struct sdp_srcavail_tx {
	enum sdp_srcavail_tx_state state;
	struct sdp_region region;
	struct sdp_rail_keys keys;
	u32 inlined;
	u32 read;
	u32 seq;
	u32 cancel_seq;
	u32 late_seq;
	u32 late;
};

/**
 * sdp_srcavail_tx_out() - does the peer know of our SrcAvail?
 * @s: our SrcAvail
 *
 * Return: true when it is sent and not over, so no payload may follow it.
 */
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
