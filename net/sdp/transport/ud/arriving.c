// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: packets of messages that have arrived.
 *
 * The packets of one message are copied from the receive buffers to their
 * places in a buffer of the message's own, in whichever order they come. When
 * memory for it is short, the packet counts as lost.
 */
#include "ud.h"

/* Is the packet the first to arrive of the next message? */
static bool begins_message(const struct ud_link *l,
			   const struct sdp_datagram *d)
{
	return d->seq == l->window.rx.next && !l->arriving;
}

/* A spare buffer for a message of up to @bytes, or NULL. */
static struct sk_buff *spare_take(struct ud_link *l, u32 bytes)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&l->spare)) &&
	       sdp_buf_cb(skb)->size < bytes)
		kfree_skb(skb);
	return skb;
}

/*
 * A buffer for a message of so many packets; or NULL. Of large buffers all have
 * the same size, and are used again (buf.h): they consist of many pages, which
 * are hard to get when memory is short.
 */
static struct sk_buff *message_alloc(struct ud_link *l, u32 packets)
{
	u32 bytes = min(packets * ud_payload(l), l->recv_max);
	bool large = bytes > SDP_BUF_LINEAR_MAX && bytes > l->recv_max / 2;
	struct sk_buff *skb = NULL;

	if (large) {
		bytes = l->recv_max;
		skb = spare_take(l, bytes);
	}
	if (!skb)
		skb = sdp_buf_alloc(bytes, SDP_RECV_SGE_MAX, GFP_ATOMIC);
	if (skb)
		sdp_buf_cb(skb)->reused = large;
	return skb;
}

/**
 * ud_recycle() - take back a received buffer
 * @link: the link; under its owner's lock
 * @skb: the buffer as up->received() passed it; taken
 */
void ud_recycle(struct sdp_link *link, struct sk_buff *skb)
{
	struct ud_link *l = to_ud(link);
	bool keep;

	spin_lock_bh(&l->lock);
	keep = sdp_buf_cb(skb)->reused && l->phase < UD_CLOSED &&
	       sdp_buf_cb(skb)->size == l->recv_max &&
	       skb_queue_len(&l->spare) * l->recv_max < UD_SPARE_BYTES;
	if (keep) {
		sdp_buf_reset(skb);
		__skb_queue_tail(&l->spare, skb);
	}
	spin_unlock_bh(&l->lock);
	if (!keep)
		kfree_skb(skb);
}

/**
 * ud_trim() - free the buffers that are kept for reuse
 * @link: the link; under its owner's lock
 */
void ud_trim(struct sdp_link *link)
{
	struct ud_link *l = to_ud(link);

	spin_lock_bh(&l->lock);
	__skb_queue_purge(&l->spare);
	spin_unlock_bh(&l->lock);
}

/* Copy a packet to its place. Returns false if there is no such place. */
static bool message_store(struct ud_link *l, const struct sdp_datagram *d,
			  const u8 *body, u32 len)
{
	struct sk_buff *skb = l->arriving;
	u32 at = d->offset * ud_payload(l);

	if (at + len > sdp_buf_cb(skb)->size)
		return false;
	/* As sdp_buf_received() expects, a linear buffer has no length yet. */
	if (skb->len)
		skb_store_bits(skb, at, body, len);
	else
		memcpy(skb->data + at, body, len);
	if (d->offset + 1 == d->packets)
		l->arriving_len = at + len;
	return true;
}

/*
 * Check a packet before the window takes it, and get a buffer. Returns
 * -ENOMEM if the packet is to be dropped, -EPROTO if the peer is wrong.
 */
static int prepare(struct ud_link *l, const struct sdp_datagram *d, u32 len)
{
	if (!sdp_chunk_len_valid(ud_payload(l), d->packets, d->offset, len))
		return -EPROTO;
	if (!begins_message(l, d))
		return 0;
	if ((d->packets - 1) * ud_payload(l) >= l->recv_max)
		return -EPROTO;
	l->arriving = message_alloc(l, d->packets);
	return l->arriving ? 0 : -ENOMEM;
}

/**
 * ud_arrives() - process a datagram of an open link
 * @l: link, locked
 * @d: its header: Data, Ack, Nack or Probe
 * @body: what is behind the header
 * @len: length of @body
 * @marked: the network has marked it (ECN)
 * @now: the time
 * @whole: set to the message that is complete now, or else not changed
 * @bytes: length of that message
 *
 * Return: %SDP_VALID, or what the peer has done wrong.
 */
enum sdp_violation ud_arrives(struct ud_link *l, const struct sdp_datagram *d,
			      const u8 *body, u32 len, bool marked, u32 now,
			      struct sk_buff **whole, u32 *bytes)
{
	enum sdp_packet what;
	int err = 0;

	if (d->type == SDP_DATAGRAM_DATA)
		err = prepare(l, d, len);
	if (err)
		return err == -EPROTO ? SDP_BAD_LEN : SDP_VALID;
	what = sdp_window_arrived(&l->window, d, marked, now);
	switch (what) {
	case SDP_PACKET_WRONG:
		return SDP_BAD_SEQ;
	case SDP_PACKET_BAD_ACK:
		return SDP_BAD_ACK;
	case SDP_PACKET_PART:
	case SDP_PACKET_WHOLE:
		if (!message_store(l, d, body, len))
			return SDP_BAD_LEN;
		break;
	default:
		break;
	}
	if (what == SDP_PACKET_WHOLE) {
		*whole = l->arriving;
		*bytes = l->arriving_len;
		l->arriving = NULL;
	}
	return SDP_VALID;
}
