// SPDX-License-Identifier: GPL-2.0
/*
 * Message buffers: see buf.h.
 */
#include "buf.h"

/**
 * sdp_buf_alloc() - a buffer to receive a message in
 * @size: bytes, header included
 * @gfp: how to allocate
 *
 * Return: a buffer of length 0 (linear) or @size (pages), or NULL.
 */
struct sk_buff *sdp_buf_alloc(u32 size, gfp_t gfp)
{
	struct sk_buff *skb;
	int err;

	if (size <= SDP_BUF_LINEAR_MAX)
		return alloc_skb(size, gfp | __GFP_NOWARN);
	skb = alloc_skb_with_frags(0, size, SDP_BUF_PAGE_ORDER, &err, gfp | __GFP_NOWARN);
	if (skb) {
		skb->len = size;
		skb->data_len = size;
	}
	return skb;
}

/**
 * sdp_buf_header() - where a received message begins
 * @skb: the buffer; its first bytes are in one piece
 *
 * Return: pointer to its first byte.
 */
const u8 *sdp_buf_header(const struct sk_buff *skb)
{
	if (skb->data_len && !skb_headlen(skb))
		return skb_frag_address(&skb_shinfo(skb)->frags[0]);
	return skb->data;
}

/**
 * sdp_buf_received() - a message has arrived in @skb and is kept there to be read
 * @skb: the buffer
 * @offset: where its payload begins
 * @bytes: length of the message, at most the buffer's size
 */
void sdp_buf_received(struct sk_buff *skb, u32 offset, u32 bytes)
{
	if (!skb->len)
		skb_put(skb, bytes);
	sdp_buf_cb(skb)->offset = offset;
	sdp_buf_cb(skb)->end = bytes;
}

/**
 * sdp_buf_reset() - a receive buffer is to be posted again
 * @skb: the buffer, nobody else has a reference to it or its pages
 */
void sdp_buf_reset(struct sk_buff *skb)
{
	if (!skb->data_len)
		skb_trim(skb, 0);
}

/**
 * sdp_buf_block() - an outgoing buffer for a whole message
 * @size: its payload
 * @frags: pieces that it may have
 * @gfp: how to allocate
 *
 * Return: a buffer of length @size, all in pages, with room for the header in front; or
 * NULL when memory is short or in small pieces.
 */
struct sk_buff *sdp_buf_block(u32 size, u16 frags, gfp_t gfp)
{
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(SDP_TX_HEADROOM, size, SDP_BUF_PAGE_ORDER, &err,
				   gfp | __GFP_NOWARN);
	if (!skb)
		return NULL;
	if (skb_shinfo(skb)->nr_frags > frags) {
		kfree_skb(skb);
		return NULL;
	}
	skb_reserve(skb, SDP_TX_HEADROOM);
	skb->len = size;
	skb->data_len = size;
	sdp_buf_cb(skb)->payload = 0;
	sdp_buf_cb(skb)->again = true;
	sdp_buf_cb(skb)->urgent = false;
	return skb;
}
