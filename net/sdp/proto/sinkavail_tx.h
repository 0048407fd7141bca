/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SinkAvails that we receive: buffers that our sending half may fill.
 *
 * The peer's sink advertises them, and we write into them by RDMA (requirements
 * C5, C7, wire section 8, Pipelined mode). sinkavail_rx.h is the other end.
 *
 * - SinkAvail adds a buffer, unless it is stale.
 * - The owner writes into the oldest buffer, once. RdmaWrCompl tells the peer;
 *   until it is sent, nothing is sent that follows in the stream.
 * - A message with payload discards the oldest buffer.
 * - ModeChange to Combined and DisConn drop all buffers. A SinkAvail that the
 *   peer sent before it had received that message is ignored; its MSeqAck
 *   tells.
 *
 * NonDiscards: we count the messages with payload that we sent while there was
 * no buffer to discard. A SinkAvail with the same count comes from a peer that
 * had received all of them; any other one is stale.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_SINKAVAIL_TX_H
#define SDP_PROTO_SINKAVAIL_TX_H

#include "sinkavail_rx.h"

/**
 * struct sdp_sinkavail_tx - the peer's buffers
 * @list: the buffers, oldest first
 * @n: number of buffers in @list
 * @written: bytes written that the peer has not been told of
 * @written_key: key of the buffer that holds these bytes
 * @cancelled: the peer has cancelled buffers that we had: SinkCancelAck is to
 *	be sent
 * @left: the peer may not know yet that we have left Pipelined
 * @left_seq: MSeq of the ModeChange that says so
 * @non_discards: messages with payload sent that have discarded no buffer
 * @stale: number of SinkAvails that were stale on arrival, or came too late
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
