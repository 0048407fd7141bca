// SPDX-License-Identifier: GPL-2.0
/*
 * Message buffers: see buf.h.
 */
#include "buf.h"

static struct sk_buff *alloc_pages_skb(u32 bytes, u16 pieces, int order,
				       gfp_t gfp)
{
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(SDP_BSDH_LEN, bytes, order, &err,
				   gfp | __GFP_NOWARN);
	if (skb && 1 + skb_shinfo(skb)->nr_frags > pieces) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

/**
 * sdp_buf_alloc() - a buffer to receive a message in
 * @size: bytes, header included
 * @pieces: that it may have
 * @gfp: how to allocate
 *
 * Return: a buffer of length 0 (linear) or @size (header and pages), or NULL when memory is short
 * or in smaller pieces.
 */
struct sk_buff *sdp_buf_alloc(u32 size, u16 pieces, gfp_t gfp)
{
	u32 pages = size <= SDP_BUF_LINEAR_MAX ? 0 : size - SDP_BSDH_LEN;
	struct sk_buff *skb;

	if (pages) {
		skb = alloc_pages_skb(pages, pieces, SDP_BUF_PAGE_ORDER, gfp);
		/* Up to 6.4 who cannot have such pages is given single ones. */
		if (!skb && pieces == 1 + SDP_GROWN_PIECES)
			skb = alloc_pages_skb(pages, pieces, SDP_GROWN_ORDER,
					      gfp);
	} else {
		skb = alloc_skb(size, gfp | __GFP_NOWARN);
	}
	if (!skb)
		return NULL;
	if (pages) {
		skb_put(skb, SDP_BSDH_LEN);
		skb->len = size;
		skb->data_len = pages;
	}
	sdp_buf_cb(skb)->size = size;
	return skb;
}

/**
 * sdp_buf_pieces() - scatter entries that receive buffers may need
 * @size: bytes of one at first, header included
 * @grown: bytes of one that it may be replaced with, or 0
 *
 * Return: entries.
 */
u16 sdp_buf_pieces(u32 size, u32 grown)
{
	u16 first = 1, later = 1;

	if (size > SDP_BUF_LINEAR_MAX)
		first += DIV_ROUND_UP(size - SDP_BSDH_LEN, PAGE_SIZE);
	if (grown > SDP_BUF_LINEAR_MAX)
		later += SDP_GROWN_PIECES;
	return max(first, later);
}

/**
 * sdp_buf_header() - the first bytes of a received message, in one piece
 * @skb: the buffer
 * @bytes: length of the message
 * @tmp: room for them, if they are in several
 *
 * Return: pointer to min(@bytes, %SDP_HEADER_MAX) bytes.
 */
const u8 *sdp_buf_header(const struct sk_buff *skb, u32 bytes,
			 u8 tmp[SDP_HEADER_MAX])
{
	/* A linear receive buffer's length is not set yet. */
	if (!skb->len)
		return skb->data;
	return skb_header_pointer(skb, 0, min_t(u32, bytes, SDP_HEADER_MAX),
				  tmp);
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
	sdp_buf_cb(skb)->ring = 0;
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

	skb = alloc_skb_with_frags(SDP_TX_HEADROOM, size, SDP_BUF_PAGE_ORDER,
				   &err, gfp | __GFP_NOWARN);
	if (!skb)
		return NULL;
	if (skb_shinfo(skb)->nr_frags > frags) {
		kfree_skb(skb);
		return NULL;
	}
	skb_reserve(skb, SDP_TX_HEADROOM);
	BUILD_BUG_ON(sizeof(struct sdp_buf_cb) > sizeof(skb->cb));
	skb->len = size;
	skb->data_len = size;
	sdp_buf_cb(skb)->payload = 0;
	sdp_buf_cb(skb)->again = true;
	sdp_buf_cb(skb)->urgent = false;
	return skb;
}

/**
 * sdp_buf_pages() - a buffer of pages, to be filled by RDMA
 * @bytes: its length
 * @order: of the pages, where there are such
 * @pages: room for its pages
 * @n: how many there are
 * @gfp: how to allocate
 *
 * Return: a buffer of that length, to be read from its beginning; or NULL when memory is short.
 */
struct sk_buff *sdp_buf_pages(u32 bytes, int order, struct page **pages,
			      unsigned int *n, gfp_t gfp)
{
	struct sk_buff *skb;
	int err, i;
	u32 at;

	skb = alloc_skb_with_frags(0, bytes, order, &err, gfp | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb->len = bytes;
	skb->data_len = bytes;
	for (*n = 0, i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		for (at = 0; at < skb_frag_size(frag); at += PAGE_SIZE)
			pages[(*n)++] = skb_frag_page(frag) + at / PAGE_SIZE;
	}
	sdp_buf_cb(skb)->offset = 0;
	sdp_buf_cb(skb)->end = bytes;
	sdp_buf_cb(skb)->again = false;
	return skb;
}
