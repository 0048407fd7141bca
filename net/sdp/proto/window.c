// SPDX-License-Identifier: GPL-2.0
/*
 * Windows of a connection by datagrams: both halves together.
 *
 * window.h describes it.
 */
#include "window.h"

/**
 * sdp_window_init() - a connection begins
 * @w: windows
 * @c: what both ends have agreed on
 */
void sdp_window_init(struct sdp_window *w, const struct sdp_window_config *c)
{
	sdp_window_tx_init(&w->tx, c->tx_seq, c->tx_window, c->retries);
	sdp_window_rx_init(&w->rx, c->rx_seq, c->rx_window);
	w->tx.theirs = min(c->their_window, c->tx_window);
	w->probe = false;
	sdp_rto_measured(&w->tx.rto, c->rtt);
}

/**
 * sdp_window_arrived() - a datagram of the connection has arrived
 * @w: windows
 * @d: its header, which sdp_datagram_parse() has accepted; not Reset
 * @marked: the network has marked it (ECN)
 * @now: the time
 *
 * Messages all of whose packets are before @w->tx.acked have arrived at the
 * peer, so the owner may release them.
 *
 * Return: what to do with the packet; %SDP_PACKET_NONE if there is none.
 */
enum sdp_packet sdp_window_arrived(struct sdp_window *w,
				   const struct sdp_datagram *d, bool marked,
				   u32 now)
{
	if (sdp_window_tx_heard(&w->tx, d, now))
		return SDP_PACKET_BAD_ACK;
	if (marked)
		sdp_window_rx_congested(&w->rx);
	switch (d->type) {
	case SDP_DATAGRAM_DATA:
		return sdp_window_rx_arrived(&w->rx, d, now);
	case SDP_DATAGRAM_PROBE:
		return sdp_window_rx_probed(&w->rx, d) ? SDP_PACKET_NONE :
							 SDP_PACKET_WRONG;
	default:
		return SDP_PACKET_NONE;
	}
}

/**
 * sdp_window_next() - what is to be sent now?
 * @w: windows
 * @now: the time
 * @type: filled in: Data for packet @w->tx.sent, NACK, Probe or ACK
 *
 * A NACK is first, because the peer may send in vain until it comes, and so is
 * the answer to a Probe, of which the peer measures the time. Another ACK is
 * last: a packet of ours would carry the acknowledgment as well.
 *
 * Return: false if nothing is.
 */
bool sdp_window_next(const struct sdp_window *w, u32 now,
		     enum sdp_datagram_type *type)
{
	enum sdp_datagram_type due = sdp_window_rx_due(&w->rx, now);

	*type = due;
	if (due == SDP_DATAGRAM_NACK || w->rx.probe)
		return true;
	if (w->probe || sdp_window_tx_stuck(&w->tx))
		*type = SDP_DATAGRAM_PROBE;
	else if (sdp_window_tx_may_send(&w->tx))
		*type = SDP_DATAGRAM_DATA;
	else
		return due != SDP_DATAGRAM_DATA;
	return true;
}

/**
 * sdp_window_packet() - packet @w->tx.sent is sent: make its header
 * @w: windows; sdp_window_next() has said Data
 * @d: filled in, but for @to and @from
 * @seq: number of the first packet of its message
 * @packets: number of packets of the message
 * @now: the time
 */
void sdp_window_packet(struct sdp_window *w, struct sdp_datagram *d, u32 seq,
		       u32 packets, u32 now)
{
	d->type = SDP_DATAGRAM_DATA;
	d->seq = seq;
	d->packets = packets;
	d->offset = w->tx.sent - seq;
	d->flags = sdp_window_tx_flags(&w->tx, d->offset + 1U == packets);
	sdp_window_tx_sent(&w->tx, d->flags, now);
	d->flags |= w->tx.round << SDP_DATAGRAM_ROUND_SHIFT;
	sdp_window_rx_fill(&w->rx, d);
}

/**
 * sdp_window_control() - a datagram without a packet is sent: make its header
 * @w: windows
 * @d: filled in, but for @to and @from
 * @type: its type: what sdp_window_next() has said, or Reset
 * @now: the time
 */
void sdp_window_control(struct sdp_window *w, struct sdp_datagram *d,
			enum sdp_datagram_type type, u32 now)
{
	d->type = type;
	d->flags = 0;
	d->seq = w->tx.top;
	d->offset = 0;
	d->packets = 0;
	if (type == SDP_DATAGRAM_PROBE) {
		w->probe = false;
		d->offset = sdp_window_tx_probed(&w->tx, now);
		d->flags = w->tx.round << SDP_DATAGRAM_ROUND_SHIFT;
	}
	sdp_window_rx_fill(&w->rx, d);
}

/**
 * sdp_window_hasten() - a message waits until those that were sent have arrived
 * @w: windows
 *
 * The peer delays the acknowledgment of a packet that no other one follows, so
 * that data of its application may carry it. It answers a Probe at once. While
 * packets go again, the answer would be that they are missing; the last of them
 * asks by itself.
 *
 * Return: true if a Probe is to be sent now.
 */
bool sdp_window_hasten(struct sdp_window *w)
{
	if (w->tx.acked == w->tx.top || w->tx.sent != w->tx.top)
		return false;
	w->probe = true;
	return true;
}

/**
 * sdp_window_expired() - the time of sdp_window_wait() has come
 * @w: windows
 * @now: the time; earlier, nothing happens
 *
 * Return: false if the peer has answered nothing for so long that the
 * connection ends by ETIMEDOUT (I4).
 */
bool sdp_window_expired(struct sdp_window *w, u32 now)
{
	switch (sdp_window_tx_expired(&w->tx, now)) {
	case SDP_TIMER_PROBE:
		w->probe = true;
		return true;
	case SDP_TIMER_DEAD:
		return false;
	default:
		return true;
	}
}

/**
 * sdp_window_wait() - when has sdp_window_expired() to be called?
 * @w: windows
 * @now: the time
 * @us: filled in: microseconds from now on
 *
 * After it the owner asks sdp_window_next(), as after any event.
 *
 * Return: false if there is nothing to wait for.
 */
bool sdp_window_wait(const struct sdp_window *w, u32 now, u32 *us)
{
	u32 ack_us;

	if (!sdp_window_tx_wait(&w->tx, now, us))
		return sdp_window_rx_wait(&w->rx, now, us);
	if (sdp_window_rx_wait(&w->rx, now, &ack_us))
		*us = min(*us, ack_us);
	return true;
}
