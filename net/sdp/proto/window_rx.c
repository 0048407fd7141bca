// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving half of a connection by datagrams.
 *
 * window_rx.h describes it.
 */
#include "window_rx.h"

/**
 * sdp_window_rx_init() - a connection begins
 * @w: receiving half
 * @seq: number of the peer's first packet
 * @window: packets that the peer may send beyond an acknowledgment
 */
void sdp_window_rx_init(struct sdp_window_rx *w, u32 seq, u32 window)
{
	*w = (struct sdp_window_rx){
		.next = seq, .told = seq, .window = window,
	};
}

/**
 * sdp_window_rx_ack() - what is acknowledged
 * @w: receiving half
 *
 * Return: number of the first packet that is missing.
 */
u32 sdp_window_rx_ack(const struct sdp_window_rx *w)
{
	return w->next + sdp_chunk_first_missing(&w->chunk);
}

/* The window begins at what has been acknowledged, within a message, too. */
static bool beyond(const struct sdp_window_rx *w, u32 end)
{
	return end - sdp_window_rx_ack(w) > w->window;
}

static void ack_soon(struct sdp_window_rx *w, u32 now)
{
	if (!w->soon)
		w->soon_at = now;
	w->soon = true;
}

/*
 * One NACK for each gap and round: the next one when the sender has gone back
 * and the missing packet has got lost again. If a NACK gets lost, the sender's
 * Probe brings another one.
 */
static void miss(struct sdp_window_rx *w)
{
	if (!w->gap || w->nacked != sdp_window_rx_ack(w) ||
	    w->nack_round != w->round)
		w->nack = true;
}

/*
 * Returns whether a packet is of an earlier round. Later packets have overtaken
 * it, and those between them may just as well be on their way.
 */
static bool is_late(struct sdp_window_rx *w, const struct sdp_datagram *d)
{
	u8 ahead = (sdp_datagram_round(d) - w->round) & 3;

	/* The peer begins no round before we have got something of the last. */
	if (ahead == 1)
		w->round = sdp_datagram_round(d);
	return ahead > 1;
}

/* The first missing packet is another one now. */
static void advanced(struct sdp_window_rx *w)
{
	w->gap = false;
	/* What was missing has come. The peer may have asked by a Probe. */
	if (w->nack)
		w->now = true;
	w->nack = false;
	if (w->asking)
		w->now = true;
	w->asking = w->asking && !sdp_seq_after(sdp_window_rx_ack(w), w->asked);
}

/*
 * The packet asks for an acknowledgment, so nothing may follow that would show
 * that an earlier one is missing. If it was dropped, it will ask again.
 */
static void asks(struct sdp_window_rx *w, const struct sdp_datagram *d,
		 bool dropped, bool late, u32 now)
{
	u32 packet = d->seq + d->offset;

	if (d->flags & SDP_DATAGRAM_ACK_NOW)
		w->now = true;
	else
		ack_soon(w, now);
	if (dropped || !sdp_seq_after(packet, sdp_window_rx_ack(w)))
		return;
	if (!w->asking || sdp_seq_after(packet, w->asked))
		w->asked = packet;
	w->asking = true;
	if (!late)
		miss(w);
}

/* A packet of the message that is arriving. */
static enum sdp_packet take(struct sdp_window_rx *w,
			    const struct sdp_datagram *d, u32 now)
{
	u32 before = sdp_window_rx_ack(w);

	if (!w->chunk.packets)
		sdp_chunk_begin(&w->chunk, d->packets);
	else if (w->chunk.packets != d->packets)
		return SDP_PACKET_WRONG;
	if (!sdp_chunk_add(&w->chunk, d->offset)) {
		ack_soon(w, now);
		return SDP_PACKET_AGAIN;
	}
	if (sdp_window_rx_ack(w) != before)
		advanced(w);
	if (!sdp_chunk_whole(&w->chunk))
		return SDP_PACKET_PART;
	w->next += w->chunk.packets;
	w->chunk.packets = 0;
	/* A quarter of the window in whole messages (I2): one for a chunk. */
	if (!sdp_seq_after(w->told + sdp_window_quarter(w->window), w->next))
		w->now = true;
	return SDP_PACKET_WHOLE;
}

/**
 * sdp_window_rx_arrived() - a packet has arrived (I1, I3)
 * @w: receiving half
 * @d: its header, which sdp_datagram_parse() has accepted
 * @now: the time
 *
 * Return: what to do with the packet.
 */
enum sdp_packet sdp_window_rx_arrived(struct sdp_window_rx *w,
				      const struct sdp_datagram *d, u32 now)
{
	enum sdp_packet what = SDP_PACKET_AHEAD;
	u32 end = d->seq + d->offset + 1;
	bool late = is_late(w, d);
	/* A packet of the next message that has come is before the window. */
	bool had = d->seq == w->next &&
		   !sdp_seq_after(end, sdp_window_rx_ack(w));

	if (sdp_seq_after(w->next, d->seq)) {
		/* The peer lacks an acknowledgment of it. */
		ack_soon(w, now);
		what = SDP_PACKET_AGAIN;
	} else if (!had && beyond(w, end)) {
		what = SDP_PACKET_WRONG;
	} else if (d->seq == w->next) {
		what = take(w, d, now);
	} else if (!late) {
		miss(w);
	}
	if (what == SDP_PACKET_WRONG)
		return what;
	if (d->flags & (SDP_DATAGRAM_ACK_NOW | SDP_DATAGRAM_ACK_SOON))
		asks(w, d, what == SDP_PACKET_AHEAD, late, now);
	return what;
}

/**
 * sdp_window_rx_probed() - a Probe has arrived, so an answer is due (I4)
 * @w: receiving half
 * @d: its header, which sdp_datagram_parse() has accepted
 *
 * A NACK is due if packets are missing that the peer has sent, otherwise an
 * ACK. The round is that of the Probe, whatever packets of long ago have said.
 *
 * Return: false if the peer says that it has sent packets beyond the window.
 */
bool sdp_window_rx_probed(struct sdp_window_rx *w, const struct sdp_datagram *d)
{
	bool missing = sdp_seq_after(d->seq, sdp_window_rx_ack(w));

	if (missing && beyond(w, d->seq))
		return false;
	w->probe = d->offset;
	w->round = sdp_datagram_round(d);
	w->nack = w->nack || missing;
	return true;
}

/**
 * sdp_window_rx_congested() - a datagram has the mark of congestion (ECN)
 * @w: receiving half
 */
void sdp_window_rx_congested(struct sdp_window_rx *w)
{
	w->ce = true;
}

static bool soon_over(const struct sdp_window_rx *w, u32 now)
{
	return w->soon && now - w->soon_at >= SDP_ACK_DELAY_US;
}

/**
 * sdp_window_rx_due() - has a datagram without a packet to be sent?
 * @w: receiving half
 * @now: the time
 *
 * Return: %SDP_DATAGRAM_NACK or %SDP_DATAGRAM_ACK; %SDP_DATAGRAM_DATA when none
 * has to be sent.
 */
enum sdp_datagram_type sdp_window_rx_due(const struct sdp_window_rx *w, u32 now)
{
	if (w->nack)
		return SDP_DATAGRAM_NACK;
	if (w->now || w->probe || soon_over(w, now))
		return SDP_DATAGRAM_ACK;
	return SDP_DATAGRAM_DATA;
}

/**
 * sdp_window_rx_wait() - when will an acknowledgment be due that is not now?
 * @w: receiving half
 * @now: the time
 * @us: filled in: microseconds from now on
 *
 * Return: false when none will be.
 */
bool sdp_window_rx_wait(const struct sdp_window_rx *w, u32 now, u32 *us)
{
	if (!w->soon)
		return false;
	*us = soon_over(w, now) ? 0 : SDP_ACK_DELAY_US - (now - w->soon_at);
	return true;
}

/**
 * sdp_window_rx_fill() - a datagram is sent: let it acknowledge
 * @w: receiving half
 * @d: header; its type is set. @ack, @window and some flags are filled in
 *
 * With any datagram the peer learns what has arrived, but only a NACK makes it
 * send again what has not. A NACK or an ACK answers the newest Probe that has
 * come.
 */
void sdp_window_rx_fill(struct sdp_window_rx *w, struct sdp_datagram *d)
{
	d->ack = sdp_window_rx_ack(w);
	d->window = w->window;
	if (w->ce)
		d->flags |= SDP_DATAGRAM_CE;
	if (d->type == SDP_DATAGRAM_NACK || d->type == SDP_DATAGRAM_ACK) {
		d->offset = w->probe;
		w->probe = 0;
	}
	if (d->type == SDP_DATAGRAM_NACK) {
		d->flags |= w->round << SDP_DATAGRAM_ROUND_SHIFT;
		w->gap = true;
		w->nacked = d->ack;
		w->nack_round = w->round;
		w->nack = false;
	}
	w->told = w->next;
	w->soon = false;
	w->now = false;
	w->ce = false;
}
