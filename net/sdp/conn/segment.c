// SPDX-License-Identifier: GPL-2.0
/*
 * Segments: what is written, in pieces that become one message each. send.c fills them, conn/conn.c
 * sends them. A block is one whose pages are there from the beginning, and are used again.
 */
#include "sock.h"

/**
 * sdp_segment_full() - can nothing be added to a segment?
 * @ssk: socket, locked
 * @skb: the segment
 *
 * Return: true when it is at its maximum, ends with an urgent byte, or nothing is coalesced.
 */
bool sdp_segment_full(const struct sdp_sock *ssk, const struct sk_buff *skb)
{
	const struct sdp_buf_cb *cb = sdp_buf_cb(skb);

	if (!ssk->coalesce || cb->urgent ||
	    cb->payload >= sdp_engine_payload_max(&ssk->engine))
		return true;
	/* A block may have been made when messages were smaller. */
	return cb->again ? cb->payload >= skb->len :
			   skb_shinfo(skb)->nr_frags >= ssk->tx_frags;
}

/**
 * sdp_segment_trim() - a block that did not get full loses its empty end, and its use again
 * @ssk: socket, locked
 * @skb: the block
 *
 * If little is left, that moves to the linear part and the pages go, so it is charged anew.
 */
void sdp_segment_trim(struct sdp_sock *ssk, struct sk_buff *skb)
{
	int before = skb->truesize;

	sdp_buf_cb(skb)->again = false;
	pskb_trim(skb, sdp_buf_cb(skb)->payload);
	sdp_memory_sent(ssk, (int)skb->truesize - before);
}

/* Some of its fragments have gone from one segment to another, and what they count with them. */
static void move_charge(struct sdp_sock *ssk, struct sk_buff *from,
			struct sk_buff *to)
{
	sdp_memory_sent(ssk, to->truesize);
	to->truesize += to->data_len;
	from->truesize -= to->data_len;
}

/**
 * sdp_segment_split() - cut a segment, because it is longer than a message in the ring may be
 * @ssk: socket, locked
 * @skb: the oldest segment, taken off the queue; nobody copies into it
 * @n: bytes that it may have; the rest is queued in its place
 *
 * Return: false when memory is short; nothing has happened then.
 */
bool sdp_segment_split(struct sdp_sock *ssk, struct sk_buff *skb, u32 n)
{
	struct sdp_buf_cb *cb = sdp_buf_cb(skb);
	struct sk_buff *rest;

	if (skb->len > cb->payload)
		sdp_segment_trim(ssk, skb);
	rest = alloc_skb(SDP_TX_HEADROOM + max_t(int, skb_headlen(skb) - n, 0),
			 GFP_ATOMIC | __GFP_NOWARN);
	if (!rest)
		return false;
	skb_reserve(rest, SDP_TX_HEADROOM);
	skb_split(skb, rest, n);
	move_charge(ssk, skb, rest);
	sdp_buf_cb(rest)->payload = cb->payload - n;
	sdp_buf_cb(rest)->again = false;
	sdp_buf_cb(rest)->urgent = cb->urgent;
	cb->payload = n;
	cb->again = false;
	cb->urgent = false;
	__skb_queue_head(&ssk->tx_queue, rest);
	SDP_INC(sock_net(&ssk->sk), RingSplits);
	return true;
}
