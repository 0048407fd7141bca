/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Message buffers: an skb per message, header first.
 *
 * On the way out the header lies in the linear part and the payload behind it or in page
 * fragments. On the way in a small receive buffer is linear; a large one has room for the
 * header in the linear part, so that payload begins where a page does.
 *
 * Large buffers are used again rather than freed: pages are cleared when they are
 * allocated (init_on_alloc is common), which costs as much as copying into them. A
 * received buffer goes back to the transport when it has been read; a block, an outgoing
 * buffer of a whole message, goes back to its socket when it has arrived.
 */
#ifndef SDP_BUF_H
#define SDP_BUF_H

#include <linux/skbuff.h>

#include "../proto/wire.h"

/* Linear receive buffers up to here; above, pages. */
#define SDP_BUF_LINEAR_MAX	2048
#define SDP_BUF_PAGE_ORDER	3
/*
 * The largest receive buffer: 64 KiB and a header; and its pieces, when only single pages
 * can be had.
 */
#define SDP_BUF_MAX		(SDP_BSDH_LEN + 16 * 4096)
#define SDP_RECV_SGE_MAX	17
/*
 * Buffers that a connection may grow to later have no more pieces behind the header, or are not
 * to be had: every entry of a receive queue has room for all pieces, used or not, and an idle
 * connection is to be small. It is enough for 15 pages as 8, 4, 2 and 1, and for 16 as four
 * times 4.
 */
#define SDP_GROWN_PIECES	4
#define SDP_GROWN_ORDER		2
/*
 * Page fragments of one outgoing message: a send queue has room for as many in each
 * entry, so a connection that begins with small messages does with two.
 */
#define SDP_TX_FRAGS		4
#define SDP_TX_FRAGS_SMALL	2
/* Room for the header in front of an outgoing message's payload. */
#define SDP_TX_HEADROOM		48

/**
 * struct sdp_buf_cb - our part of the skb
 * @payload: outgoing: bytes behind the header
 * @offset: received: where the reader is
 * @end: received: where the message ends
 * @size: to receive in: its room
 * @revoke: outgoing: the peer's key that goes with the message, or 0
 * @ring: received: bytes in the ring that it lies in, to be given back when they are read
 * @home: ... which ring that is
 * @to: outgoing: where it goes, if that is in the peer's memory
 * @again: received: the transport's buffer, to be recycled; outgoing: a block
 * @urgent: outgoing: the last byte is urgent
 */
struct sdp_buf_cb {
	u32 payload;
	u32 offset;
	u32 end;
	u32 size;
	u32 revoke;
	bool again;
	bool urgent;
	u32 ring;
	u32 home;
	struct sdp_ring_place to;
};

static inline struct sdp_buf_cb *sdp_buf_cb(const struct sk_buff *skb)
{
	return (struct sdp_buf_cb *)skb->cb;
}

struct sk_buff *sdp_buf_alloc(u32 size, u16 pieces, gfp_t gfp);
const u8 *sdp_buf_header(const struct sk_buff *skb, u32 bytes,
			 u8 tmp[SDP_HEADER_MAX]);
u16 sdp_buf_pieces(u32 size, u32 grown);
void sdp_buf_received(struct sk_buff *skb, u32 offset, u32 bytes);
void sdp_buf_reset(struct sk_buff *skb);
struct sk_buff *sdp_buf_pages(u32 bytes, int order, struct page **pages,
			      unsigned int *n, gfp_t gfp);
struct sk_buff *sdp_buf_block(u32 size, u16 frags, gfp_t gfp);

#endif /* SDP_BUF_H */
