/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where our sending half may write by RDMA: what the peer's sink advertises (requirements C5,
 * C7, wire section 8, Pipelined). sinkavail_rx.h is the other end of the same.
 *
 *	SinkAvail adds one, unless it is stale. The owner writes into the oldest, once, and the
 *	peer is told (RdmaWrCompl); until then nothing that follows in the stream is sent. A
 *	message with payload discards the oldest.
 *
 * NonDiscards: we count the messages with payload sent while there was none to discard. Only a
 * SinkAvail with that count was sent by someone who had got all of them.
 *
 * ModeChange to Combined drops all, and so does DisConn. What the peer has sent before it heard
 * of that is ignored; its MSeqAck tells.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_SINKAVAIL_TX_H
#define SDP_PROTO_SINKAVAIL_TX_H

#include "sinkavail_rx.h"

/**
 * struct sdp_sinkavail_tx - where we may write
 * @list: the oldest first
 * @n: so many
 * @written: bytes written that the peer has not been told of
 * @written_key: key of the buffer that they are in
 * @cancelled: the peer has taken some back: SinkCancelAck is to be sent
 * @left: the peer may not know yet that we have left Pipelined
 * @left_seq: MSeq of the ModeChange that says so
 * @non_discards: messages with payload sent that have discarded none
 * @stale: buffers that were void when they came
 */
struct sdp_sinkavail_tx {
	struct sdp_region list[SDP_SINKAVAILS_MAX];
	u8 n;
	bool cancelled;
	bool left;
	u32 written;
	u32 written_key;
	u32 left_seq;
	u32 non_discards;
	u32 stale;
};

enum sdp_violation sdp_sinkavail_tx_add(struct sdp_sinkavail_tx *t,
					const struct sdp_region *region);
u32 sdp_sinkavail_tx_room(const struct sdp_sinkavail_tx *t);
bool sdp_sinkavail_tx_write(struct sdp_sinkavail_tx *t, u32 bytes,
			    struct sdp_region *to);
u8 sdp_sinkavail_tx_owed(const struct sdp_sinkavail_tx *t);
u32 sdp_sinkavail_tx_reported(struct sdp_sinkavail_tx *t);
bool sdp_sinkavail_tx_data_sent(struct sdp_sinkavail_tx *t);
void sdp_sinkavail_tx_cancel(struct sdp_sinkavail_tx *t);
void sdp_sinkavail_tx_leave(struct sdp_sinkavail_tx *t, u32 seq);
void sdp_sinkavail_tx_note(struct sdp_sinkavail_tx *t, u32 ack);

#endif /* SDP_PROTO_SINKAVAIL_TX_H */
