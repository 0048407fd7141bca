// SPDX-License-Identifier: GPL-2.0
/*
 * Sending half of a connection by datagrams.
 *
 * window_tx.h describes it.
 */
#include "window_tx.h"

/**
 * sdp_window_tx_init() - a connection begins
 * @w: sending half
 * @seq: number of the first packet
 * @window: packets that may be unacknowledged
 * @retries: unanswered Probes after which the connection ends, at most
 *	%SDP_WINDOW_RETRIES_MAX
 */
void sdp_window_tx_init(struct sdp_window_tx *w, u32 seq, u32 window,
			u32 retries)
{
	*w = (struct sdp_window_tx){
		.acked = seq, .sent = seq, .top = seq, .next = seq,
		.bulk = { seq, seq }, .asked = seq, .window = window,
		.theirs = window, .retries = retries,
	};
	sdp_congestion_init(&w->congestion, window);
}

/* The peer acknowledges it as soon as it has arrived, whatever else has. */
static bool is_bulk(const struct sdp_window_tx *w, u32 packets)
{
	return packets >= sdp_window_quarter(w->window);
}

/**
 * sdp_window_tx_may_add() - has the window room for a message? (I1, I3)
 * @w: sending half
 * @packets: its packets, at most %SDP_CHUNK_PACKETS_MAX
 *
 * Return: true if it has.
 */
bool sdp_window_tx_may_add(const struct sdp_window_tx *w, u32 packets)
{
	if (w->next - w->acked + packets > w->window)
		return false;
	return !is_bulk(w, packets) || !sdp_seq_after(w->bulk[0], w->acked);
}

/**
 * sdp_window_tx_add() - add a message to what is to be sent
 * @w: sending half; sdp_window_tx_may_add() is true
 * @packets: its packets
 *
 * Return: the number of its first packet.
 */
u32 sdp_window_tx_add(struct sdp_window_tx *w, u32 packets)
{
	u32 seq = w->next;

	w->next += packets;
	if (is_bulk(w, packets)) {
		w->bulk[0] = w->bulk[1];
		w->bulk[1] = w->next;
	}
	return seq;
}

static bool on_the_way(const struct sdp_window_tx *w)
{
	return w->acked != w->top;
}

/* Packets that may be on the way now. */
static u32 on_the_way_max(const struct sdp_window_tx *w)
{
	return min(w->congestion.packets, w->theirs);
}

/**
 * sdp_window_tx_may_send() - may packet @w->sent be sent now?
 * @w: sending half
 *
 * Return: true if there is one, and congestion and the peer allow it.
 */
bool sdp_window_tx_may_send(const struct sdp_window_tx *w)
{
	return w->sent != w->next && w->sent - w->acked < on_the_way_max(w);
}

/**
 * sdp_window_tx_flags() - which acknowledgment does packet @w->sent ask for?
 * @w: sending half; sdp_window_tx_may_send() is true
 * @last_of_chunk: it is the last one of its message
 *
 * By itself the peer acknowledges a quarter of the window, in whole messages.
 * If less than that may be on the way it has to be asked: now, since another
 * packet could not be sent before; and soon, if there is no other packet.
 *
 * Return: flags for its header.
 */
u8 sdp_window_tx_flags(const struct sdp_window_tx *w, bool last_of_chunk)
{
	u32 most = on_the_way_max(w);
	bool full = w->sent + 1 - w->acked >= most;

	if (full && (!last_of_chunk || most < sdp_window_quarter(w->window)))
		return SDP_DATAGRAM_ACK_NOW;
	return full || w->sent + 1 == w->next ? SDP_DATAGRAM_ACK_SOON : 0;
}

/**
 * sdp_window_tx_sent() - packet @w->sent is sent
 * @w: sending half; sdp_window_tx_may_send() is true
 * @flags: what sdp_window_tx_flags() has said
 * @now: the time
 */
void sdp_window_tx_sent(struct sdp_window_tx *w, u8 flags, u32 now)
{
	if (flags)
		w->asked = w->sent + 1;
	if (!on_the_way(w))
		w->since = now;
	if (w->sent == w->top) {
		w->top++;
		if (!w->timing) {
			w->timed = w->sent;
			w->timed_at = now;
			w->timing = true;
		}
	}
	w->sent++;
}

/**
 * sdp_window_tx_stuck() - does nothing that is on the way bring an answer?
 * @w: sending half
 *
 * The window has shrunk since the packets on the way were sent, so none of them
 * has asked for an acknowledgment, and no other one may be sent.
 *
 * Return: true if so: send a Probe.
 */
bool sdp_window_tx_stuck(const struct sdp_window_tx *w)
{
	return w->sent != w->next && !sdp_window_tx_may_send(w) &&
	       !sdp_seq_after(w->asked, w->acked);
}

/**
 * sdp_window_tx_probed() - a Probe is sent: it asks for an acknowledgment
 * @w: sending half
 * @now: the time
 *
 * Return: its number, which the answer will carry.
 */
u16 sdp_window_tx_probed(struct sdp_window_tx *w, u32 now)
{
	w->asked = w->top;
	/* 0 is the number of none. */
	w->probe = (u16)(w->probe + 1) ?: 1;
	w->probed_at = now;
	w->probing = true;
	return w->probe;
}

/* Counts once for all that was sent before it was noticed. */
static void congested(struct sdp_window_tx *w)
{
	sdp_congestion_met(&w->congestion);
	w->recover = w->top;
	w->recovering = on_the_way(w);
}

static void acked(struct sdp_window_tx *w, u32 ack, u32 now)
{
	if (w->timing && sdp_seq_after(ack, w->timed)) {
		sdp_rto_measured(&w->rto, now - w->timed_at);
		w->timing = false;
	}
	sdp_congestion_acked(&w->congestion, ack - w->acked);
	/* What was to go again has arrived. */
	if (sdp_seq_after(ack, w->sent))
		w->sent = ack;
	/* Old numbers would come after new ones when those wrap. */
	if (!sdp_seq_after(w->bulk[1], ack))
		w->bulk[1] = ack;
	if (!sdp_seq_after(w->bulk[0], ack))
		w->bulk[0] = ack;
	if (!sdp_seq_after(w->asked, ack))
		w->asked = ack;
	w->acked = ack;
	w->since = now;
	/* With a Probe on the way, the timeout may just have been too short. */
	if (!w->tries)
		w->rto.doubled = 0;
	w->tries = 0;
	w->fruitless = 0;
	w->backs = 0;
	if (w->recovering && !sdp_seq_after(w->recover, ack))
		w->recovering = false;
}

/*
 * A NACK says that something of its round is missing. If it is of an earlier
 * round we have gone back since: the network has doubled or delayed it, or the
 * peer has sent it before it got anything of this one. So we are at most one
 * round ahead of the peer. A peer that makes us go back without any progress
 * can do so a few times in each timeout.
 */
static void nacked(struct sdp_window_tx *w, const struct sdp_datagram *d)
{
	if (w->acked == w->top || sdp_datagram_round(d) != w->round ||
	    w->backs == SDP_WINDOW_BACKS_MAX)
		return;
	w->backs++;
	w->round = (w->round + 1) & 3;
	w->sent = w->acked;
	w->asked = w->acked;
	w->timing = false;
	congested(w);
}

static bool answers_probe(const struct sdp_window_tx *w,
			  const struct sdp_datagram *d)
{
	return w->probing && d->offset == w->probe &&
	       (d->type == SDP_DATAGRAM_ACK || d->type == SDP_DATAGRAM_NACK);
}

/*
 * The newest Probe has been answered. Unlike an acknowledgment of a packet that
 * has gone twice, its answer cannot be that of another one. So the timeout is
 * known again, although nothing makes progress without Probes: where every
 * fifth datagram is lost, hardly anything does. If there is no progress at all
 * the path takes Probes but no packets, so it doubles again after a while.
 */
static void answered(struct sdp_window_tx *w, u32 now)
{
	sdp_rto_measured(&w->rto, now - w->probed_at);
	w->rto.doubled =
		w->fruitless > w->retries ? w->fruitless - w->retries : 0;
	w->probing = false;
}

/**
 * sdp_window_tx_heard() - a datagram has come: process what it says to us
 * @w: sending half; unchanged when the datagram is refused
 * @d: its header
 * @now: the time
 *
 * The owner may release messages all of whose packets are before @w->acked.
 *
 * Return: %SDP_VALID, or %SDP_BAD_ACK for packets that we have not sent.
 */
enum sdp_violation sdp_window_tx_heard(struct sdp_window_tx *w,
				       const struct sdp_datagram *d, u32 now)
{
	/* A later one has overtaken it. */
	bool old = sdp_seq_after(w->acked, d->ack);

	if (!old) {
		if (d->ack - w->acked > w->top - w->acked)
			return SDP_BAD_ACK;
		if (d->ack != w->acked)
			acked(w, d->ack, now);
		w->theirs = min(d->window, (u16)w->window);
	}
	if ((d->flags & SDP_DATAGRAM_CE) && !w->recovering)
		congested(w);
	/* Packets were dropped, also if what was missing has come meanwhile. */
	if (d->type == SDP_DATAGRAM_NACK)
		nacked(w, d);
	if (answers_probe(w, d))
		answered(w, now);
	/* The peer is alive, if without progress. */
	if (!old && (d->type == SDP_DATAGRAM_ACK ||
		     d->type == SDP_DATAGRAM_NACK))
		w->tries = 0;
	return SDP_VALID;
}

/**
 * sdp_window_tx_expired() - is it time to ask what is missing? (I4)
 * @w: sending half
 * @now: the time
 *
 * Return: what to do.
 */
enum sdp_window_timer sdp_window_tx_expired(struct sdp_window_tx *w, u32 now)
{
	if (!on_the_way(w) || now - w->since < sdp_rto_us(&w->rto))
		return SDP_TIMER_NONE;
	/* Answers alone are no sign of life: large packets may get lost. */
	if (w->tries >= w->retries || w->fruitless >= 4 * w->retries)
		return SDP_TIMER_DEAD;
	w->fruitless++;
	if (w->tries++) {
		/* Not even the last Probe was answered. */
		sdp_congestion_timeout(&w->congestion);
		w->recover = w->top;
		w->recovering = true;
	}
	if (w->rto.doubled < 255)
		w->rto.doubled++;
	w->since = now;
	w->timing = false;
	w->backs = 0;
	return SDP_TIMER_PROBE;
}

/**
 * sdp_window_tx_wait() - when will sdp_window_tx_expired() have to be called?
 * @w: sending half
 * @now: the time
 * @us: filled in: microseconds from now on
 *
 * Return: false when there is nothing to wait for.
 */
bool sdp_window_tx_wait(const struct sdp_window_tx *w, u32 now, u32 *us)
{
	u32 rto = sdp_rto_us(&w->rto), waited = now - w->since;

	if (!on_the_way(w))
		return false;
	*us = waited < rto ? rto - waited : 0;
	return true;
}
