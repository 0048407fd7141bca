// SPDX-License-Identifier: GPL-2.0
/*
 * The advertisement of our sending half: see srcavail_tx.h.
 */
#include "srcavail_tx.h"

/* More cancels than that are not on their way at the same time. */
#define LATE_MAX	4U

/**
 * sdp_srcavail_tx_begin() - there is something to advertise (B2)
 * @s: source state, %SDP_SRCAVAIL_TX_IDLE
 * @region: the whole of it
 * @inlined: bytes that go along, less than all; 0 in Pipelined only
 */
void sdp_srcavail_tx_begin(struct sdp_srcavail_tx *s,
			   const struct sdp_region *region, u32 inlined)
{
	s->state = SDP_SRCAVAIL_TX_READY;
	s->region = *region;
	s->inlined = inlined;
	WRITE_ONCE(s->read, 0);
}

/**
 * sdp_srcavail_tx_sent() - SrcAvail is being sent
 * @s: source state, %SDP_SRCAVAIL_TX_READY
 * @seq: its MSeq
 */
void sdp_srcavail_tx_sent(struct sdp_srcavail_tx *s, u32 seq)
{
	s->state = SDP_SRCAVAIL_TX_OUT;
	s->seq = seq;
}

/**
 * sdp_srcavail_tx_cancel() - it shall not be read any more
 * @s: source state
 *
 * Once the peer knows of it only the peer can end it, so that is asked for.
 */
void sdp_srcavail_tx_cancel(struct sdp_srcavail_tx *s)
{
	if (s->state == SDP_SRCAVAIL_TX_READY)
		s->state = SDP_SRCAVAIL_TX_IDLE;
	else if (s->state == SDP_SRCAVAIL_TX_OUT)
		s->state = SDP_SRCAVAIL_TX_CANCEL;
}

/**
 * sdp_srcavail_tx_cancel_sent() - SrcAvailCancel is being sent
 * @s: source state, %SDP_SRCAVAIL_TX_CANCEL
 * @seq: its MSeq
 */
void sdp_srcavail_tx_cancel_sent(struct sdp_srcavail_tx *s, u32 seq)
{
	s->state = SDP_SRCAVAIL_TX_CANCELLED;
	s->cancel_seq = seq;
}

/* Had the sender of a message with this MSeqAck seen what is out? */
static bool answers(const struct sdp_srcavail_tx *s, u32 ack)
{
	return sdp_srcavail_tx_out(s) && !sdp_seq_after(s->seq, ack);
}

/* ... or only the cancel of one before, which was over already? */
static bool comes_late(const struct sdp_srcavail_tx *s, u32 ack)
{
	return s->late && !sdp_seq_after(s->late_seq, ack);
}

/* It is over, and if a cancel has been sent, that was not the reason. */
static void ended_without_cancel(struct sdp_srcavail_tx *s)
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
 * sdp_srcavail_tx_was_read() - RdmaRdCompl has arrived (B4, wire section 8)
 * @s: source state; %SDP_SRCAVAIL_TX_IDLE when all has been read
 * @count: bytes read since the last one
 * @ack: its MSeqAck
 *
 * Peers differ in whether the counts include what was sent along: it is over when they add
 * up to the rest, or to the whole.
 *
 * Return: %SDP_VALID, %SDP_BAD_STATE when nothing is out that its sender has seen, or
 * %SDP_BAD_FIELD.
 */
enum sdp_violation sdp_srcavail_tx_was_read(struct sdp_srcavail_tx *s,
					    u32 count, u32 ack)
{
	if (!answers(s, ack))
		return SDP_BAD_STATE;
	if (!count || count > s->region.len - s->read)
		return SDP_BAD_FIELD;
	WRITE_ONCE(s->read, s->read + count);
	if (s->read != to_be_read(s) && s->read != s->region.len)
		return SDP_VALID;
	/* Whatever was late before has come before this. */
	s->late = 0;
	ended_without_cancel(s);
	return SDP_VALID;
}

/**
 * sdp_srcavail_tx_crossed() - the peer has advertised a buffer instead (C8)
 * @s: source state, something is advertised or about to be; %SDP_SRCAVAIL_TX_IDLE afterwards
 *
 * A SendSm that is late already may still be: this one's sender need not have seen anything.
 */
void sdp_srcavail_tx_crossed(struct sdp_srcavail_tx *s)
{
	ended_without_cancel(s);
}

/**
 * sdp_srcavail_tx_declined() - SendSm has arrived: the peer wants the rest in messages (B3)
 * @s: source state; %SDP_SRCAVAIL_TX_IDLE afterwards, unless it is a late one
 * @ack: its MSeqAck
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE when nothing is out that its sender has seen.
 */
enum sdp_violation sdp_srcavail_tx_declined(struct sdp_srcavail_tx *s, u32 ack)
{
	if (answers(s, ack)) {
		/* Whatever was late before has come before this. */
		s->late = 0;
		s->state = SDP_SRCAVAIL_TX_IDLE;
	} else if (comes_late(s, ack)) {
		s->late--;
	} else {
		return SDP_BAD_STATE;
	}
	return SDP_VALID;
}

/**
 * sdp_srcavail_tx_taken() - how much of it does the peer have?
 * @s: source state, after the end of an advertisement that was out
 *
 * Return: bytes from the region's beginning.
 */
u32 sdp_srcavail_tx_taken(const struct sdp_srcavail_tx *s)
{
	/* More than there was to be read: then what was sent along is in it. */
	if (s->read > to_be_read(s))
		return max(s->read, s->inlined);
	return s->inlined + s->read;
}
