// SPDX-License-Identifier: GPL-2.0
/*
 * SinkAvails that we receive: the list of the peer's buffers.
 *
 * sinkavail_tx.h describes what adds, uses and drops a buffer.
 */
#include "sinkavail_tx.h"

/**
 * sdp_sinkavail_tx_add() - add the buffer of a SinkAvail that is not stale (C5)
 * @t: the peer's buffers
 * @region: the buffer
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE when the peer advertises more buffers
 * than our Hello said we can hold.
 */
enum sdp_violation sdp_sinkavail_tx_add(struct sdp_sinkavail_tx *t,
					const struct sdp_region *region)
{
	if (t->n == SDP_SINKAVAILS_MAX)
		return SDP_BAD_STATE;
	t->list[t->n++] = *region;
	return SDP_VALID;
}

static void drop_oldest(struct sdp_sinkavail_tx *t)
{
	t->n--;
	memmove(t->list, t->list + 1, t->n * sizeof(t->list[0]));
}

/**
 * sdp_sinkavail_tx_room() - how much may be written now?
 * @t: the peer's buffers
 *
 * Return: bytes; 0 until the peer has been told of the last write.
 */
u32 sdp_sinkavail_tx_room(const struct sdp_sinkavail_tx *t)
{
	return t->n && !t->written ? t->list[0].len : 0;
}

/**
 * sdp_sinkavail_tx_write() - the owner writes into the oldest buffer (B4)
 * @t: the peer's buffers
 * @bytes: number of bytes to write
 * @to: set to where they go
 *
 * The buffer is used up, even if there is room left in it (C7).
 *
 * Return: true, or false and no change when @bytes is 0 or more than
 * sdp_sinkavail_tx_room().
 */
bool sdp_sinkavail_tx_write(struct sdp_sinkavail_tx *t, u32 bytes,
			    struct sdp_region *to)
{
	if (!bytes || bytes > sdp_sinkavail_tx_room(t))
		return false;
	*to = t->list[0];
	to->len = bytes;
	t->written = bytes;
	t->written_key = to->rkey;
	drop_oldest(t);
	return true;
}

/**
 * sdp_sinkavail_tx_owed() - which message do we owe the peer?
 * @t: the peer's buffers
 *
 * Return: %SDP_MID_RDMA_WR_COMPL (for @written bytes), then
 * %SDP_MID_SINK_CANCEL_ACK, or 0.
 */
u8 sdp_sinkavail_tx_owed(const struct sdp_sinkavail_tx *t)
{
	if (t->written)
		return SDP_MID_RDMA_WR_COMPL;
	return t->cancelled ? SDP_MID_SINK_CANCEL_ACK : 0;
}

/**
 * sdp_sinkavail_tx_reported() - RdmaWrCompl is being sent
 * @t: the peer's buffers
 *
 * Return: bytes to report.
 */
u32 sdp_sinkavail_tx_reported(struct sdp_sinkavail_tx *t)
{
	u32 bytes = t->written;

	t->written = 0;
	return bytes;
}

/**
 * sdp_sinkavail_tx_data_sent() - a message with payload is being sent (C7)
 * @t: the peer's buffers
 *
 * Return: true when the message discards the oldest buffer.
 */
bool sdp_sinkavail_tx_data_sent(struct sdp_sinkavail_tx *t)
{
	if (!t->n) {
		t->non_discards++;
		return false;
	}
	drop_oldest(t);
	return true;
}

/**
 * sdp_sinkavail_tx_cancel() - SinkAvailCancel has arrived
 * @t: the peer's buffers; all are dropped
 *
 * We owe SinkCancelAck only if there was a buffer to drop.
 */
void sdp_sinkavail_tx_cancel(struct sdp_sinkavail_tx *t)
{
	t->cancelled |= t->n;
	t->n = 0;
}

/**
 * sdp_sinkavail_tx_leave() - ModeChange to Combined is being sent
 * @t: the peer's buffers; all are dropped
 * @seq: MSeq of the message
 */
void sdp_sinkavail_tx_leave(struct sdp_sinkavail_tx *t, u32 seq)
{
	t->n = 0;
	t->left = true;
	t->left_seq = seq;
}

/**
 * sdp_sinkavail_tx_note() - note what the peer had when it sent a message
 * @t: the peer's buffers
 * @ack: MSeqAck of that message
 *
 * Called before the message itself is handled.
 */
void sdp_sinkavail_tx_note(struct sdp_sinkavail_tx *t, u32 ack)
{
	if (t->left && !sdp_seq_after(t->left_seq, ack))
		t->left = false;
}
