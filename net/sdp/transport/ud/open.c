// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: the datagrams that open a connection, and its first windows.
 *
 * proto/opening.h has the exchange. All functions are called with the lock of
 * the link.
 */
#include "ud.h"

/**
 * ud_open_window() - begin the windows of a link
 * @l: link, locked
 * @d: the peer's Open or OpenAck
 * @rtt: time of a round trip, microseconds
 * @connects: it is the connecting side
 */
void ud_open_window(struct ud_link *l, const struct sdp_datagram *d, u32 rtt,
		    bool connects)
{
	struct sdp_window_config config = {
		.tx_seq = l->first,
		.rx_seq = d->seq,
		.tx_window = connects ? SDP_WINDOW_CONNECTING :
					SDP_WINDOW_ACCEPTING,
		.their_window = d->window,
		.rx_window = min_t(u8, l->takes,
				   connects ? SDP_WINDOW_ACCEPTING :
					      SDP_WINDOW_CONNECTING),
		.retries = l->retries,
		.rtt = rtt,
	};

	sdp_window_init(&l->window, &config);
}

/**
 * ud_open_build() - make an Open
 * @l: link, locked, in %UD_OPENING; an Open is due
 * @buf: %SDP_DATAGRAM_LEN + %SDP_OPEN_LEN bytes
 * @now: the time
 *
 * Return: its length.
 */
u32 ud_open_build(struct ud_link *l, u8 *buf, u32 now)
{
	struct sdp_datagram d = {
		.type = SDP_DATAGRAM_OPEN,
		.window = l->takes,
		.from = l->id,
		.seq = l->first,
	};
	struct sdp_open open = {
		.service_id = SDP_SERVICE_ID | l->remote.port,
		.size = l->size,
	};

	d.ack = sdp_opening_sent(&l->connect->opening, &open, now);
	sdp_datagram_build(buf, &d);
	sdp_open_build(buf + SDP_DATAGRAM_LEN, &open);
	memcpy(buf + SDP_DATAGRAM_LEN + SDP_OPEN_LEN - SDP_HELLO_LEN,
	       l->connect->hello, SDP_HELLO_LEN);
	return SDP_DATAGRAM_LEN + SDP_OPEN_LEN;
}

/**
 * ud_open_acked() - an OpenAck has come
 * @l: link, locked
 * @d: its header
 * @body: its body
 *
 * The size of the peer's receives depends on that of the datagrams, so a peer
 * whose MTU has just become smaller has to be asked again.
 *
 * Return: 1 if the link is open now; HelloAck is behind the first 8 bytes of
 * the body. 0 if it is not; -EAGAIN if it has to be opened anew.
 */
int ud_open_acked(struct ud_link *l, const struct sdp_datagram *d,
		  const u8 *body)
{
	u16 size;

	if (l->phase == UD_OPEN && d->from == l->their_id) {
		/* The peer has not heard of us since its first OpenAck. */
		l->window.rx.now = true;
		return 0;
	}
	if (l->phase != UD_OPENING || d->ack != l->first || !d->from ||
	    sdp_open_ack_parse(body, &size))
		return 0;
	if (size < l->size) {
		ud_peer_learn(l->peer, NULL);
		return -EAGAIN;
	}
	if (!sdp_opening_acked(&l->connect->opening))
		return 0;
	l->their_id = d->from;
	ud_open_window(l, d, l->connect->opening.rtt, true);
	l->window.rx.now = true;
	l->phase = UD_OPEN;
	return 1;
}

/**
 * ud_open_rejected() - an OpenReject has come
 * @l: link, locked
 * @d: its header
 * @body: its body
 *
 * Return: a positive errno with which the link fails; 0 if it is ignored.
 */
int ud_open_rejected(struct ud_link *l, const struct sdp_datagram *d,
		     const u8 *body)
{
	enum sdp_open_reject why;

	if (l->phase != UD_OPENING || d->ack != l->first ||
	    sdp_open_reject_parse(body, &why))
		return 0;
	switch (why) {
	case SDP_OPEN_NO_LISTENER:
		return ECONNREFUSED;
	case SDP_OPEN_BUSY:
		return EAGAIN;
	default:
		return EHOSTUNREACH;
	}
}
