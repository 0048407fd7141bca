// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: datagrams that a link sends.
 *
 * All functions are called with the lock of the link.
 */
#include "../../base/netns.h"
#include "ud.h"

/**
 * ud_wants() - has a link something to send now?
 * @l: link, locked
 * @now: the time
 *
 * Return: true if ud_build() would make a datagram.
 */
bool ud_wants(const struct ud_link *l, u32 now)
{
	enum sdp_datagram_type type;

	switch (l->phase) {
	case UD_OPENING:
		return l->connect->opening.due;
	case UD_OPEN:
	case UD_LINGERING:
		return sdp_window_next(&l->window, now, &type);
	case UD_CONFIRMING:
	case UD_CLOSING:
	case UD_CLOSED:
	case UD_GONE:
		return l->answer_due;
	default:
		return false;
	}
}

static u32 build_open_ack(struct ud_link *l, u8 *buf, u32 now)
{
	struct sdp_datagram d = {
		.type = SDP_DATAGRAM_OPEN_ACK,
		.window = l->window.rx.window,
		.to = l->their_id,
		.from = l->id,
		.seq = l->first,
		.ack = l->window.rx.next,
	};

	l->answer_due = false;
	l->answered = now;
	l->answers++;
	sdp_datagram_build(buf, &d);
	buf += SDP_DATAGRAM_LEN;
	sdp_open_ack_build(buf, l->size);
	memcpy(buf + SDP_OPEN_ACK_LEN - SDP_HELLO_ACK_LEN, l->ack,
	       SDP_HELLO_ACK_LEN);
	return SDP_DATAGRAM_LEN + SDP_OPEN_ACK_LEN;
}

/* Fill in the numbers of both ends, and write the header. */
static u32 put_header(const struct ud_link *l, struct sdp_datagram *d, u8 *buf)
{
	d->to = l->their_id;
	d->from = l->id;
	sdp_datagram_build(buf, d);
	return SDP_DATAGRAM_LEN;
}

static u32 build_control(struct ud_link *l, enum sdp_datagram_type type,
			 u8 *buf, u32 now)
{
	struct sdp_datagram d;

	sdp_window_control(&l->window, &d, type, now);
	if (type == SDP_DATAGRAM_RESET && READ_ONCE(l->link.one_of_many))
		d.flags |= SDP_DATAGRAM_GOES_ON;
	return put_header(l, &d, buf);
}

static u32 build_reset(struct ud_link *l, u8 *buf, u32 now)
{
	l->answer_due = false;
	l->answered = now;
	l->answers++;
	return build_control(l, SDP_DATAGRAM_RESET, buf, now);
}

/* The message that has the packet which is sent next. */
static struct sk_buff *message_to_send(struct ud_link *l)
{
	struct sk_buff *skb = l->cursor;
	u32 packet = l->window.tx.sent;

	if (!skb || sdp_seq_after(sdp_buf_cb(skb)->seq, packet))
		skb = skb_peek(&l->sent);
	while (packet - sdp_buf_cb(skb)->seq >= sdp_buf_cb(skb)->packets)
		skb = skb_queue_next(&l->sent, skb);
	l->cursor = skb;
	return skb;
}

static u32 build_packet(struct ud_link *l, u8 *buf, u32 now)
{
	struct sk_buff *skb = message_to_send(l);
	bool again = l->window.tx.sent != l->window.tx.top;
	const struct sdp_buf_cb *cb = sdp_buf_cb(skb);
	struct sdp_datagram d;
	u32 len;

	SDP_INC(l->net, DatagramsSent);
	if (again)
		SDP_INC(l->net, DatagramsAgain);
	sdp_window_packet(&l->window, &d, cb->seq, cb->packets, now);
	put_header(l, &d, buf);
	len = sdp_chunk_packet_len(skb->len, ud_payload(l), d.offset);
	skb_copy_bits(skb, d.offset * ud_payload(l), buf + SDP_DATAGRAM_LEN,
		      len);
	return SDP_DATAGRAM_LEN + len;
}

static u32 build_traffic(struct ud_link *l, u8 *buf, u32 now)
{
	enum sdp_datagram_type type;

	if (!sdp_window_next(&l->window, now, &type))
		return 0;
	switch (type) {
	case SDP_DATAGRAM_DATA:
		return build_packet(l, buf, now);
	case SDP_DATAGRAM_NACK:
		SDP_INC(l->net, DatagramNacks);
		break;
	case SDP_DATAGRAM_PROBE:
		SDP_INC(l->net, DatagramProbes);
		l->probed = now;
		l->probes++;
		break;
	default:
		SDP_INC(l->net, DatagramAcks);
		break;
	}
	return build_control(l, type, buf, now);
}

/**
 * ud_build() - make the datagram that a link sends next
 * @l: link, locked
 * @buf: written: ud_link.size bytes at most
 * @now: the time
 *
 * Return: its length, or 0 if there is nothing to send.
 */
u32 ud_build(struct ud_link *l, u8 *buf, u32 now)
{
	if (!ud_wants(l, now))
		return 0;
	switch (l->phase) {
	case UD_OPENING:
		return ud_open_build(l, buf, now);
	case UD_CONFIRMING:
		return build_open_ack(l, buf, now);
	case UD_OPEN:
	case UD_LINGERING:
		return build_traffic(l, buf, now);
	default:
		return build_reset(l, buf, now);
	}
}
