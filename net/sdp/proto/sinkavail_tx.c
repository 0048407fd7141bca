// SPDX-License-Identifier: GPL-2.0
/*
 * Where our sending half may write: see sinkavail_tx.h.
 */
#include "sinkavail_tx.h"

/**
 * sdp_sinkavail_tx_add() - a SinkAvail that is not stale has arrived (C5)
 * @t: where we may write
 * @region: there, too
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE when these are more than we have said that we can hold.
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
 * @t: where we may write
 *
 * Return: bytes; 0 as long as the peer has to be told of the last write.
 */
u32 sdp_sinkavail_tx_room(const struct sdp_sinkavail_tx *t)
{
	return t->n && !t->written ? t->list[0].len : 0;
}

/**
 * sdp_sinkavail_tx_write() - the owner writes into the oldest (B4)
 * @t: where we may write; that one is used up, however much goes into it (C7)
 * @bytes: how many
 * @to: the place
 *
 * Return: false, and no change, when so many cannot be written.
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
 * sdp_sinkavail_tx_owed() - what has the peer to be told of its advertisements?
 * @t: where we may write
 *
 * Return: %SDP_MID_RDMA_WR_COMPL (@written bytes), then %SDP_MID_SINK_CANCEL_ACK, or 0.
 */
u8 sdp_sinkavail_tx_owed(const struct sdp_sinkavail_tx *t)
{
	if (t->written)
		return SDP_MID_RDMA_WR_COMPL;
	return t->cancelled ? SDP_MID_SINK_CANCEL_ACK : 0;
}

/**
 * sdp_sinkavail_tx_reported() - RdmaWrCompl is being sent
 * @t: where we may write
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
 * @t: where we may write
 *
 * Return: true when it discards the oldest.
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
 * @t: where we may write: nowhere; an answer is due only if that is news
 */
void sdp_sinkavail_tx_cancel(struct sdp_sinkavail_tx *t)
{
	t->cancelled |= t->n;
	t->n = 0;
}

/**
 * sdp_sinkavail_tx_leave() - ModeChange to Combined is being sent
 * @t: where we may write: nowhere
 * @seq: its MSeq
 */
void sdp_sinkavail_tx_leave(struct sdp_sinkavail_tx *t, u32 seq)
{
	t->n = 0;
	t->left = true;
	t->left_seq = seq;
}

/**
 * sdp_sinkavail_tx_note() - what had the peer when it sent a message?
 * @t: where we may write
 * @ack: MSeqAck of that message, which is looked at next
 */
void sdp_sinkavail_tx_note(struct sdp_sinkavail_tx *t, u32 ack)
{
	if (t->left && !sdp_seq_after(t->left_seq, ack))
		t->left = false;
}
