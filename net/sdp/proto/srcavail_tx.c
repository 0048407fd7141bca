// SPDX-License-Identifier: GPL-2.0
/*
 * SrcAvail that we send: events and answers.
 *
 * srcavail_tx.h describes the states.
 */
#include "srcavail_tx.h"

/* Limit of @late: no more cancels than this are ever in flight at once. */
#define LATE_MAX	4U

/**
 * sdp_srcavail_tx_begin() - prepare a SrcAvail (B2)
 * @s: our SrcAvail, %SDP_SRCAVAIL_TX_IDLE
 * @region: all of the send, with the inlined bytes
 * @inlined: bytes that SrcAvail carries: less than all, and 0 only in
 *	Pipelined
 */
void sdp_srcavail_tx_begin(struct sdp_srcavail_tx *s,
			   const struct sdp_region *region, u32 inlined)
{
	s->state = SDP_SRCAVAIL_TX_READY;
	s->region = *region;
	memset(&s->keys, 0, sizeof(s->keys));
	s->inlined = inlined;
	WRITE_ONCE(s->read, 0);
}

/**
 * sdp_srcavail_tx_sent() - note that SrcAvail is being sent
 * @s: our SrcAvail, %SDP_SRCAVAIL_TX_READY
 * @seq: its MSeq
 */
void sdp_srcavail_tx_sent(struct sdp_srcavail_tx *s, u32 seq)
{
	s->state = SDP_SRCAVAIL_TX_OUT;
	s->seq = seq;
}

/**
 * sdp_srcavail_tx_cancel() - withdraw our SrcAvail
 * @s: our SrcAvail, in any state
 *
 * Once SrcAvail is sent only the peer can end it, so SrcAvailCancel is to be
 * sent.
 */
void sdp_srcavail_tx_cancel(struct sdp_srcavail_tx *s)
{
	if (s->state == SDP_SRCAVAIL_TX_READY)
		s->state = SDP_SRCAVAIL_TX_IDLE;
	else if (s->state == SDP_SRCAVAIL_TX_OUT)
		s->state = SDP_SRCAVAIL_TX_CANCEL;
}

/**
 * sdp_srcavail_tx_cancel_sent() - note that SrcAvailCancel is being sent
 * @s: our SrcAvail, %SDP_SRCAVAIL_TX_CANCEL
 * @seq: MSeq of SrcAvailCancel
 */
void sdp_srcavail_tx_cancel_sent(struct sdp_srcavail_tx *s, u32 seq)
{
	s->state = SDP_SRCAVAIL_TX_CANCELLED;
	s->cancel_seq = seq;
}

/* True when the sender of a message with MSeqAck @ack had our SrcAvail. */
static bool srcavail_tx_seen(const struct sdp_srcavail_tx *s, u32 ack)
{
	return sdp_srcavail_tx_out(s) && !sdp_seq_after(s->seq, ack);
}

/*
 * True when a SendSm with MSeqAck @ack may answer the cancel of an earlier
 * SrcAvail that was over already.
 */
static bool srcavail_tx_late_answer(const struct sdp_srcavail_tx *s, u32 ack)
{
	return s->late && !sdp_seq_after(s->late_seq, ack);
}

/*
 * The SrcAvail is over for another reason than a cancel. If we have sent a
 * cancel, the two have crossed, and the peer may still answer the cancel.
 */
static void srcavail_tx_ended(struct sdp_srcavail_tx *s)
{
	if (s->state == SDP_SRCAVAIL_TX_CANCELLED) {
		if (!s->late)
			s->late_seq = s->cancel_seq;
		s->late = min(s->late + 1, LATE_MAX);
	}
	s->state = SDP_SRCAVAIL_TX_IDLE;
}

static u32 to_be_read(const struct sdp_srcavail_tx *s)
{
	return s->region.len - s->inlined;
}

/**
 * sdp_srcavail_tx_was_read() - process RdmaRdCompl (B4, wire section 8)
 * @s: our SrcAvail; %SDP_SRCAVAIL_TX_IDLE afterwards when all has been read
 * @count: bytes read since the last RdmaRdCompl
 * @ack: MSeqAck of the message
 *
 * Peers differ in whether the counts include the inlined bytes. So the
 * SrcAvail is over when the counts add up to the rest, or to the whole.
 *
 * Return: %SDP_VALID, %SDP_BAD_STATE when the sender had no SrcAvail of ours
 * that is still out, or %SDP_BAD_FIELD for a bad @count.
 */
enum sdp_violation sdp_srcavail_tx_was_read(struct sdp_srcavail_tx *s,
					    u32 count, u32 ack)
{
	if (!srcavail_tx_seen(s, ack))
		return SDP_BAD_STATE;
	if (!count || count > s->region.len - s->read)
		return SDP_BAD_FIELD;
	WRITE_ONCE(s->read, s->read + count);
	if (s->read != to_be_read(s) && s->read != s->region.len)
		return SDP_VALID;
	/* Messages are in order: no late SendSm can follow. */
	s->late = 0;
	srcavail_tx_ended(s);
	return SDP_VALID;
}

/**
 * sdp_srcavail_tx_crossed() - the peer has sent SinkAvail instead (C8)
 * @s: our SrcAvail, not idle; %SDP_SRCAVAIL_TX_IDLE afterwards
 *
 * A late SendSm may still follow the SinkAvail, because the peer may have
 * sent SinkAvail before it received our SrcAvail or a cancel. So @late stays.
 */
void sdp_srcavail_tx_crossed(struct sdp_srcavail_tx *s)
{
	srcavail_tx_ended(s);
}

/**
 * sdp_srcavail_tx_declined() - process SendSm: send the rest as Data (B3)
 * @s: our SrcAvail; %SDP_SRCAVAIL_TX_IDLE afterwards unless SendSm was late
 * @ack: MSeqAck of the message
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE when SendSm answers neither our
 * SrcAvail nor a cancel.
 */
enum sdp_violation sdp_srcavail_tx_declined(struct sdp_srcavail_tx *s, u32 ack)
{
	if (srcavail_tx_seen(s, ack)) {
		/* Messages are in order: no late SendSm can follow. */
		s->late = 0;
		s->state = SDP_SRCAVAIL_TX_IDLE;
	} else if (srcavail_tx_late_answer(s, ack)) {
		s->late--;
	} else {
		return SDP_BAD_STATE;
	}
	return SDP_VALID;
}

/**
 * sdp_srcavail_tx_taken() - get how much of the send the peer has
 * @s: our SrcAvail, which has ended or is about to end. It was sent, or it is
 *	one of Pipelined, with no inlined bytes
 *
 * Return: number of bytes from the beginning of the region.
 */
u32 sdp_srcavail_tx_taken(const struct sdp_srcavail_tx *s)
{
	/* The counts exceed the rest, so they include the inlined bytes. */
	if (s->read > to_be_read(s))
		return max(s->read, s->inlined);
	return s->inlined + s->read;
}
