// SPDX-License-Identifier: GPL-2.0
/*
 * Segments of the send queue: fullness, trimming and splitting.
 *
 * A segment is an skb with written bytes that become the payload of one
 * message. socket/send.c fills it by way of tx_queue.c, and output.c sends it.
 * A block is a segment that is allocated with pages for a whole message, and
 * that the socket reuses once the message has arrived (sdp_buf_cb.reused). An
 * empty segment stands for a background write, whose messages, if any, are cut
 * from its own buffer (zcopy/background.c).
 *
 * All functions run under the socket's @lock.
 */
#include "memory.h"
#include "segment.h"

/**
 * sdp_segment_full() - is a segment closed for further writes?
 * @ssk: socket, locked
 * @skb: the segment
 *
 * Return: true if the segment has its largest size or number of fragments, if
 * it ends with an urgent byte or stands for a background write, or if writes do
 * not share messages.
 */
bool sdp_segment_full(const struct sdp_sock *ssk, const struct sk_buff *skb)
{
	const struct sdp_buf_cb *cb = sdp_buf_cb(skb);

	if (!ssk->coalesce || cb->urgent || cb->background ||
	    cb->payload >= sdp_engine_payload_max(&ssk->engine))
		return true;
	/* A block may be from before a resize, when messages were smaller. */
	return cb->reused ? cb->payload >= skb->len :
			   skb_shinfo(skb)->nr_frags >= ssk->tx_frags;
}

/**
 * sdp_segment_trim() - cut off the empty end of a block
 * @ssk: socket, locked
 * @skb: a block that is not full
 *
 * It is no block afterwards and is not reused. Its empty pages are freed; a
 * short payload moves to the linear part, which frees all pages. So the charge
 * changes.
 */
void sdp_segment_trim(struct sdp_sock *ssk, struct sk_buff *skb)
{
	int before = skb->truesize;

	sdp_buf_cb(skb)->reused = false;
	pskb_trim(skb, sdp_buf_cb(skb)->payload);
	sdp_memory_charge_tx(ssk, (int)skb->truesize - before);
}

/* Charge @to, and move the truesize of fragments that it got from @from. */
static void segment_move_charge(struct sdp_sock *ssk, struct sk_buff *from,
				struct sk_buff *to)
{
	sdp_memory_charge_tx(ssk, to->truesize);
	to->truesize += to->data_len;
	from->truesize -= to->data_len;
}

/**
 * sdp_segment_split() - split a segment that is too long for a ring's message
 * @ssk: socket, locked
 * @skb: oldest segment, taken off the queue; no writer copies into it
 * @n: payload bytes that it keeps
 *
 * The rest becomes a new segment at the head of the queue. Neither is a block.
 *
 * Return: false if memory is short; then the segment is unchanged, but may have
 * been trimmed.
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
	segment_move_charge(ssk, skb, rest);
	sdp_buf_cb(rest)->payload = cb->payload - n;
	sdp_buf_cb(rest)->reused = false;
	sdp_buf_cb(rest)->urgent = cb->urgent;
	sdp_buf_cb(rest)->declined = cb->declined;
	cb->payload = n;
	cb->reused = false;
	cb->urgent = false;
	__skb_queue_head(&ssk->tx_queue, rest);
	SDP_INC(sock_net(&ssk->sk), RingSplits);
	return true;
}
