// SPDX-License-Identifier: GPL-2.0
/*
 * Message buffers: allocation and preparation for reuse.
 *
 * buf.h describes what the buffers look like and how they are reused.
 */
#include "buf.h"

/* Returns NULL also if the memory came in more than @pieces pieces. */
static struct sk_buff *buf_alloc_pages(u32 bytes, u16 pieces, int order,
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
 * sdp_buf_alloc() - allocate a receive buffer
 * @size: bytes, header included
 * @pieces: largest number of pieces, the linear part included
 * @gfp: allocation flags
 *
 * Return: a buffer of length 0 (linear) or @size (header and pages). NULL when
 * memory is short or too fragmented for @pieces.
 */
struct sk_buff *sdp_buf_alloc(u32 size, u16 pieces, gfp_t gfp)
{
	u32 pages = size <= SDP_BUF_LINEAR_MAX ? 0 : size - SDP_BSDH_LEN;
	struct sk_buff *skb;

	if (pages) {
		skb = buf_alloc_pages(pages, pieces, SDP_BUF_PAGE_ORDER, gfp);
		/*
		 * Up to Linux 6.4, alloc_skb_with_frags() falls back from this
		 * order to single pages, and so to too many pieces. Ask for a
		 * lower order.
		 */
		if (!skb && pieces == 1 + SDP_GROWN_PIECES)
			skb = buf_alloc_pages(pages, pieces, SDP_GROWN_ORDER,
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
 * @size: bytes of the first receive buffers, header included
 * @grown: bytes of later, larger buffers, or 0 if the size is fixed
 *
 * Return: number of entries for one buffer of either size.
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
 * @tmp: used if the bytes lie in several pieces
 *
 * Return: pointer to min(@bytes, %SDP_HEADER_MAX) bytes, in @skb or in @tmp.
 */
const u8 *sdp_buf_header(const struct sk_buff *skb, u32 bytes,
			 u8 tmp[SDP_HEADER_MAX])
{
	/* A linear receive buffer has no length before sdp_buf_received(). */
	if (!skb->len)
		return skb->data;
	return skb_header_pointer(skb, 0, min_t(u32, bytes, SDP_HEADER_MAX),
				  tmp);
}

/**
 * sdp_buf_received() - prepare a receive buffer for being read
 * @skb: the buffer, in which a message has arrived
 * @offset: offset of the payload
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
 * sdp_buf_reset() - prepare a receive buffer for being posted again
 * @skb: the buffer; there is no other reference to it or to its pages
 */
void sdp_buf_reset(struct sk_buff *skb)
{
	if (!skb->data_len)
		skb_trim(skb, 0);
	sdp_buf_cb(skb)->ring = 0;
}

/**
 * sdp_buf_block() - allocate an outgoing buffer for a whole message
 * @size: bytes of payload
 * @frags: largest number of page fragments
 * @gfp: allocation flags
 *
 * Return: a buffer of length @size, all in pages, with headroom for the header.
 * NULL when memory is short or too fragmented for @frags.
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
	sdp_buf_cb(skb)->reused = true;
	sdp_buf_cb(skb)->urgent = false;
	return skb;
}

/*
 * Allocate a page of the largest order up to *@order of which there is one, and
 * lower *@order to it. Reclaim only for single pages, as for other buffers.
 */
static struct page *buf_page(int *order, gfp_t gfp)
{
	struct page *page;

	for (; *order; (*order)--) {
		page = alloc_pages((gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_COMP |
				   __GFP_NOWARN | __GFP_NORETRY, *order);
		if (page)
			return page;
	}
	return alloc_page(gfp | __GFP_NOWARN);
}

/**
 * sdp_buf_pages() - allocate a buffer of pages for an RDMA transfer
 * @bytes: length of the buffer
 * @order: largest page order; smaller ones are used where needed
 * @gfp: allocation flags
 *
 * Before 6.5, alloc_skb_with_frags() gives no more bytes than there would be in
 * %MAX_SKB_FRAGS single pages.
 *
 * Return: a buffer of length @bytes, set up for being read from its beginning;
 * NULL when memory is short, or too fragmented for so many bytes.
 */
struct sk_buff *sdp_buf_pages(u32 bytes, int order, gfp_t gfp)
{
	struct sk_buff *skb = alloc_skb(0, gfp | __GFP_NOWARN);
	struct page *page;
	u32 left, n;
	int i;

	if (!skb)
		return NULL;
	for (i = 0, left = bytes; left; i++, left -= n) {
		order = min(order, get_order(left));
		page = i < MAX_SKB_FRAGS ? buf_page(&order, gfp) : NULL;
		if (!page) {
			kfree_skb(skb);
			return NULL;
		}
		n = min_t(u32, left, PAGE_SIZE << order);
		skb_fill_page_desc(skb, i, page, 0, n);
		skb->truesize += PAGE_SIZE << order;
	}
	skb->len = bytes;
	skb->data_len = bytes;
	sdp_buf_cb(skb)->end = bytes;
	return skb;
}

/**
 * sdp_buf_list_pages() - list the pages of a buffer that consists of pages
 * @skb: the buffer; each fragment but the last one has whole pages
 * @bytes: number of bytes from its beginning to list the pages of
 * @pages: filled in
 *
 * Return: number of pages.
 */
unsigned int sdp_buf_list_pages(const struct sk_buff *skb, u32 bytes,
				struct page **pages)
{
	unsigned int n = 0;
	u32 at, size;
	int i;

	for (i = 0; bytes; i++, bytes -= size) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		size = min_t(u32, bytes, skb_frag_size(frag));
		for (at = 0; at < size; at += PAGE_SIZE)
			pages[n++] = skb_frag_page(frag) + at / PAGE_SIZE;
	}
	return n;
}
