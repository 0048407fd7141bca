// SPDX-License-Identifier: GPL-2.0
/*
 * SinkAvails that we send: the list of buffers and what ends them.
 *
 * sinkavail_rx.h describes the states, the two kinds of source and NonDiscards.
 */
#include "sinkavail_rx.h"

/**
 * sdp_sinkavail_rx_peer() - the peer's Hello has arrived
 * @a: our SinkAvails, none yet
 * @held: number of SinkAvails that the peer says it holds, each of which it
 *	reports once; 0 if it does not say so
 *
 * If a source that does not say so had two buffers, we would not know which one
 * a report is about. Therefore it gets one at a time.
 */
void sdp_sinkavail_rx_peer(struct sdp_sinkavail_rx *a, u8 held)
{
	a->held = held;
	a->once = held;
	a->max = held ? min(held, (u8)SDP_SINKAVAILS_MAX) : 1;
}

/**
 * sdp_sinkavail_rx_add() - add the buffer of a reader (C5)
 * @a: our SinkAvails, with room for one more
 * @region: the buffer
 *
 * Return: the id of the buffer, not 0.
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
 * sdp_sinkavail_rx_sent() - SinkAvail for the oldest waiting buffer is sent
 * @a: our SinkAvails, one of which waits
 * @msg: the message; its SinkAvail fields are filled in
 * @seq: MSeq of the message
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
 * sdp_sinkavail_rx_note() - note what the source had when it sent a message
 * @a: our SinkAvails
 * @ack: MSeqAck of that message
 *
 * Called before the message itself is handled.
 */
void sdp_sinkavail_rx_note(struct sdp_sinkavail_rx *a, u32 ack)
{
	while (a->seen < a->sent && !sdp_seq_after(a->list[a->seen].seq, ack))
		a->seen++;
	if (a->cancel == SDP_CANCEL_SENT && !sdp_seq_after(a->cancel_seq, ack))
		a->cancel = SDP_CANCEL_SEEN;
}

/*
 * Data came while the rest of a buffer was open; it ends that buffer. Whether
 * the source has discarded the rest depends on its kind.
 */
static u32 sinkavail_rx_rest_over(struct sdp_sinkavail_rx *a)
{
	a->asks = false;
	a->doubt++;
	if (!a->several)
		a->non_discards++;
	return 1;
}

/*
 * The kind of the source is known now: correct NonDiscards if we have guessed
 * wrong.
 */
static void sinkavail_rx_kind_known(struct sdp_sinkavail_rx *a, bool several)
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
 * @a: our SinkAvails, after sdp_sinkavail_rx_note()
 *
 * A source that has seen our cancel has no buffer any more; SinkCancelAck will
 * end those that the cancel covers.
 *
 * Return: number of the oldest buffers that have ended; the caller calls
 * sdp_sinkavail_rx_end() for each.
 */
u32 sdp_sinkavail_rx_data_came(struct sdp_sinkavail_rx *a)
{
	bool cancelled = a->cancel == SDP_CANCEL_SEEN;

	if (a->got && !cancelled)
		return sinkavail_rx_rest_over(a);
	if (a->seen && !cancelled)
		return 1;
	a->non_discards++;
	return cancelled ? 0 : a->sent;
}

/**
 * sdp_sinkavail_rx_written() - check RdmaWrCompl (B4)
 * @a: our SinkAvails, after sdp_sinkavail_rx_note()
 * @count: bytes that the source has written into the oldest buffer
 *
 * Return: %SDP_VALID; %SDP_BAD_STATE when the source had no buffer;
 * %SDP_BAD_FIELD when @count is 0 or more than the room that is left.
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
 * sdp_sinkavail_rx_filled() - account a valid RdmaWrCompl
 * @a: our SinkAvails
 * @count: bytes that the source has written into the oldest buffer
 *
 * Return: true when the oldest buffer has ended, for sdp_sinkavail_rx_end();
 * false when there is a rest that the source may or may not continue with.
 */
bool sdp_sinkavail_rx_filled(struct sdp_sinkavail_rx *a, u32 count)
{
	if (a->once)
		return true;
	if (a->got) {
		a->asks = false;
		sinkavail_rx_kind_known(a, true);
	}
	a->got += count;
	return a->got == a->list[0].region.len;
}

/**
 * sdp_sinkavail_rx_dropped() - does SrcAvail show that a buffer was dropped?
 * @a: our SinkAvails, after sdp_sinkavail_rx_note()
 *
 * A source that sends SrcAvail has no buffer, except one that crosses the
 * SrcAvail (C8). So it was done with our buffer after its report, or took it
 * for stale.
 *
 * Return: true when the buffer that the source had has ended.
 */
bool sdp_sinkavail_rx_dropped(struct sdp_sinkavail_rx *a)
{
	if (a->once || !a->seen || a->cancel == SDP_CANCEL_SEEN)
		return false;
	a->asks = false;
	if (a->got)
		sinkavail_rx_kind_known(a, false);
	else if (a->doubt)
		sinkavail_rx_kind_known(a, !a->several);
	else
		return false;
	return true;
}

/**
 * sdp_sinkavail_rx_answered() - does a message answer our cancel?
 * @a: our SinkAvails
 * @ack: MSeqAck of the message, which has been handled
 * @cancelled: the message was SinkCancelAck
 *
 * Return: true when the source will not write into the open rest any more.
 */
bool sdp_sinkavail_rx_answered(struct sdp_sinkavail_rx *a, u32 ack,
			       bool cancelled)
{
	if (a->asks && !sdp_seq_after(a->cancel_seq, ack)) {
		a->asks = false;
		sinkavail_rx_kind_known(a, cancelled || a->several);
	}
	return a->got && (a->once || a->cancel == SDP_CANCEL_SEEN);
}

/**
 * sdp_sinkavail_rx_late() - SinkCancelAck has come that no cancel waits for
 * @a: our SinkAvails
 *
 * Return: true when it is for the rest of a buffer that had ended before.
 */
bool sdp_sinkavail_rx_late(struct sdp_sinkavail_rx *a)
{
	if (!a->late)
		return false;
	a->late = false;
	sinkavail_rx_kind_known(a, true);
	return true;
}

static u32 sinkavail_rx_take_out(struct sdp_sinkavail_rx *a, u32 at)
{
	u32 id = a->list[at].id;

	a->n--;
	memmove(a->list + at, a->list + at + 1,
		(a->n - at) * sizeof(a->list[0]));
	return id;
}

/**
 * sdp_sinkavail_rx_end() - remove the oldest buffer, which has ended
 * @a: our SinkAvails
 *
 * A cancel is settled with the last buffer that had been sent.
 *
 * Return: the id of the buffer.
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
	return sinkavail_rx_take_out(a, 0);
}

/**
 * sdp_sinkavail_rx_recall() - remove a buffer that has not been sent yet
 * @a: our SinkAvails
 *
 * Return: the id of the buffer, which has ended; 0 if none waits to be sent.
 */
u32 sdp_sinkavail_rx_recall(struct sdp_sinkavail_rx *a)
{
	return sdp_sinkavail_rx_waiting(a) ?
	       sinkavail_rx_take_out(a, a->sent) : 0;
}

/**
 * sdp_sinkavail_rx_cancel() - have SinkAvailCancel sent if any buffer is out
 * @a: our SinkAvails, none of which waits to be sent
 */
void sdp_sinkavail_rx_cancel(struct sdp_sinkavail_rx *a)
{
	if (a->sent && a->cancel == SDP_CANCEL_NONE)
		a->cancel = SDP_CANCEL_WANTED;
}

/**
 * sdp_sinkavail_rx_cancel_sent() - SinkAvailCancel is being sent
 * @a: our SinkAvails, in %SDP_CANCEL_WANTED
 * @seq: MSeq of the message
 */
void sdp_sinkavail_rx_cancel_sent(struct sdp_sinkavail_rx *a, u32 seq)
{
	a->cancel = SDP_CANCEL_SENT;
	a->cancel_seq = seq;
	a->asks = a->got;
}
