// SPDX-License-Identifier: GPL-2.0
/*
 * What our receiving half advertises: see sinkavail_rx.h.
 */
#include "sinkavail_rx.h"

/**
 * sdp_sinkavail_rx_peer() - the peer's Hello has come
 * @a: our advertisements, none yet
 * @held: how many it says it holds, and reports once of each; or 0
 *
 * Of a source that does not say so we do not know which buffer a report is
 * about when it has two, so it gets one at a time.
 */
void sdp_sinkavail_rx_peer(struct sdp_sinkavail_rx *a, u8 held)
{
	a->once = held;
	a->max = held ? min(held, (u8)SDP_SINKAVAILS_MAX) : 1;
}

/**
 * sdp_sinkavail_rx_add() - a reader has posted a buffer (C5)
 * @a: our advertisements, with room for one more
 * @region: the buffer
 *
 * Return: its id, not 0.
 */
u32 sdp_sinkavail_rx_add(struct sdp_sinkavail_rx *a,
			 const struct sdp_region *region)
{
	struct sdp_sinkavail *new = &a->list[a->n++];

	if (!++a->last_id)
		a->last_id++;
	new->region = *region;
	new->id = a->last_id;
	return new->id;
}

/**
 * sdp_sinkavail_rx_sent() - SinkAvail of the oldest that waits is being sent
 * @a: our advertisements, of which one waits
 * @msg: the message: what is its own is filled in
 * @seq: its MSeq
 */
void sdp_sinkavail_rx_sent(struct sdp_sinkavail_rx *a, struct sdp_msg *msg,
			   u32 seq)
{
	struct sdp_sinkavail *out = &a->list[a->sent++];

	out->seq = seq;
	msg->sink = out->region;
	msg->non_discards = a->non_discards;
}

/**
 * sdp_sinkavail_rx_note() - which of ours had the source when it sent a message?
 * @a: our advertisements
 * @ack: MSeqAck of that message, which is looked at next
 */
void sdp_sinkavail_rx_note(struct sdp_sinkavail_rx *a, u32 ack)
{
	while (a->seen < a->sent && !sdp_seq_after(a->list[a->seen].seq, ack))
		a->seen++;
	if (a->cancel == SDP_CANCEL_SENT && !sdp_seq_after(a->cancel_seq, ack))
		a->cancel = SDP_CANCEL_SEEN;
}

/* Data came while the rest of a buffer was open: has it discarded that? */
static u32 rest_over(struct sdp_sinkavail_rx *a)
{
	a->asks = false;
	a->doubt++;
	if (!a->several)
		a->non_discards++;
	return 1;
}

/* What kind of source it is: with that our count is right. */
static void kind_known(struct sdp_sinkavail_rx *a, bool several)
{
	if (several && !a->several)
		a->non_discards -= a->doubt;
	else if (!several && a->several)
		a->non_discards += a->doubt;
	a->doubt = 0;
	a->several = several;
	a->once = !several;
}

/**
 * sdp_sinkavail_rx_data_came() - a message with payload has arrived (C7)
 * @a: our advertisements, after sdp_sinkavail_rx_note()
 *
 * Who has seen our cancel has none any more, and we shall hear of that.
 *
 * Return: so many of the oldest are over; sdp_sinkavail_rx_end() for each.
 */
u32 sdp_sinkavail_rx_data_came(struct sdp_sinkavail_rx *a)
{
	bool cancelled = a->cancel == SDP_CANCEL_SEEN;

	if (a->got && !cancelled)
		return rest_over(a);
	if (a->seen && !cancelled)
		return 1;
	a->non_discards++;
	return cancelled ? 0 : a->sent;
}

/**
 * sdp_sinkavail_rx_written() - RdmaWrCompl has arrived (B4)
 * @a: our advertisements, after sdp_sinkavail_rx_note(); the oldest is over if this is right
 * @count: bytes in it
 *
 * Return: %SDP_VALID, %SDP_BAD_STATE when the source had none, or %SDP_BAD_FIELD.
 */
enum sdp_violation sdp_sinkavail_rx_written(const struct sdp_sinkavail_rx *a,
					    u32 count)
{
	if (!a->seen)
		return SDP_BAD_STATE;
	return count && count <= a->list[0].region.len - a->got ?
	       SDP_VALID : SDP_BAD_FIELD;
}

/**
 * sdp_sinkavail_rx_filled() - ... and was right
 * @a: our advertisements
 * @count: bytes more in the oldest
 *
 * Return: true when the oldest is over: sdp_sinkavail_rx_end(); false when there is
 * a rest, which the source may or may not go on with.
 */
bool sdp_sinkavail_rx_filled(struct sdp_sinkavail_rx *a, u32 count)
{
	if (a->once)
		return true;
	if (a->got) {
		a->asks = false;
		kind_known(a, true);
	}
	a->got += count;
	return a->got == a->list[0].region.len;
}

/**
 * sdp_sinkavail_rx_dropped() - SrcAvail has arrived: has our buffer been dropped?
 * @a: our advertisements, after sdp_sinkavail_rx_note()
 *
 * It has none when it advertises itself, but for what crosses that (C8). So it
 * was done with the buffer after its report, or took it for stale.
 *
 * Return: true when the buffer that it had is over.
 */
bool sdp_sinkavail_rx_dropped(struct sdp_sinkavail_rx *a)
{
	if (a->once || !a->seen || a->cancel == SDP_CANCEL_SEEN)
		return false;
	a->asks = false;
	if (a->got)
		kind_known(a, false);
	else if (a->doubt)
		kind_known(a, !a->several);
	else
		return false;
	return true;
}

/**
 * sdp_sinkavail_rx_answered() - does a message answer our cancel?
 * @a: our advertisements
 * @ack: MSeqAck of the message, which has been dealt with
 * @cancelled: it was SinkCancelAck
 *
 * Return: true when the source will not write into the rest any more.
 */
bool sdp_sinkavail_rx_answered(struct sdp_sinkavail_rx *a, u32 ack,
			       bool cancelled)
{
	if (a->asks && !sdp_seq_after(a->cancel_seq, ack)) {
		a->asks = false;
		kind_known(a, cancelled || a->several);
	}
	return a->got && (a->once || a->cancel == SDP_CANCEL_SEEN);
}

/**
 * sdp_sinkavail_rx_late() - SinkCancelAck has arrived, and no cancel waits for it
 * @a: our advertisements
 *
 * Return: true when it is for the rest of a buffer that was over before.
 */
bool sdp_sinkavail_rx_late(struct sdp_sinkavail_rx *a)
{
	if (!a->late)
		return false;
	a->late = false;
	kind_known(a, true);
	return true;
}

static u32 take_out(struct sdp_sinkavail_rx *a, u32 at)
{
	u32 id = a->list[at].id;

	a->n--;
	memmove(a->list + at, a->list + at + 1,
		(a->n - at) * sizeof(a->list[0]));
	return id;
}

/**
 * sdp_sinkavail_rx_end() - the oldest is over
 * @a: our advertisements; with the last that was sent a cancel is settled
 *
 * Return: its id.
 */
u32 sdp_sinkavail_rx_end(struct sdp_sinkavail_rx *a)
{
	if (a->got && a->cancel >= SDP_CANCEL_SENT)
		a->late = true;
	a->got = 0;
	if (a->sent)
		a->sent--;
	if (a->seen)
		a->seen--;
	if (!a->sent)
		a->cancel = SDP_CANCEL_NONE;
	return take_out(a, 0);
}

/**
 * sdp_sinkavail_rx_recall() - one that waits is not wanted any more
 * @a: our advertisements; that one is over
 *
 * Return: its id, or 0 if none waits.
 */
u32 sdp_sinkavail_rx_recall(struct sdp_sinkavail_rx *a)
{
	return sdp_sinkavail_rx_waiting(a) ? take_out(a, a->sent) : 0;
}

/**
 * sdp_sinkavail_rx_cancel() - what has been sent is not wanted any more
 * @a: our advertisements, of which none waits
 */
void sdp_sinkavail_rx_cancel(struct sdp_sinkavail_rx *a)
{
	if (a->sent && a->cancel == SDP_CANCEL_NONE)
		a->cancel = SDP_CANCEL_WANTED;
}

/**
 * sdp_sinkavail_rx_cancel_sent() - SinkAvailCancel is being sent
 * @a: our advertisements, which shall be cancelled
 * @seq: its MSeq
 */
void sdp_sinkavail_rx_cancel_sent(struct sdp_sinkavail_rx *a, u32 seq)
{
	a->cancel = SDP_CANCEL_SENT;
	a->cancel_seq = seq;
	a->asks = a->got;
}
