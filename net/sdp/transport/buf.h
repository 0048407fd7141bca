/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Message buffers: one skb per message, header first.
 *
 * In an outgoing buffer the header lies in the linear part; the payload follows
 * it there, or lies in page fragments. A small receive buffer is linear. A
 * large receive buffer has a linear part for the header alone, so that the
 * payload begins at a page boundary.
 *
 * Large buffers are reused, not freed: the kernel clears new pages if
 * init_on_alloc is set, as it often is, and that costs as much as a copy into
 * them. A received buffer returns to the transport when it has been read. A
 * block, an outgoing buffer of a whole message, returns to its socket when the
 * message has arrived at the peer.
 */
#ifndef SDP_BUF_H
#define SDP_BUF_H

#include <linux/skbuff.h>

#include "../proto/wire.h"

/* Receive buffers up to this size are linear, larger ones consist of pages. */
#define SDP_BUF_LINEAR_MAX	2048
/* Largest page order of a buffer's fragments. */
#define SDP_BUF_PAGE_ORDER	3
/*
 * The largest receive buffer has 64 KiB and a header. If only single pages are
 * available, it has SDP_RECV_SGE_MAX pieces.
 */
#define SDP_BUF_MAX		(SDP_BSDH_LEN + 16 * 4096)
#define SDP_RECV_SGE_MAX	17
/*
 * Receive buffers that a connection grows to later (requirement E1) have at
 * most this number of fragments, else their allocation fails. Every entry of a
 * receive queue has room for all pieces, used or not, and an idle connection
 * shall be small. Four fragments hold 15 pages as 8, 4, 2 and 1, and 16 pages
 * as four times 4.
 */
#define SDP_GROWN_PIECES	4
#define SDP_GROWN_ORDER		2
/*
 * Largest number of page fragments of an outgoing message. Every entry of a
 * send queue has room for all of them, so a connection with small receive
 * buffers uses the smaller number.
 */
#define SDP_TX_FRAGS		4
#define SDP_TX_FRAGS_SMALL	2
/* Headroom of an outgoing message, for its header. */
#define SDP_TX_HEADROOM		48
/* The same of SrcAvail, whose header may have a key for each rail. */
#define SDP_SRCAVAIL_HEADROOM	(SDP_TX_HEADROOM + SDP_KEYS_LEN)

struct sdp_background;

/**
 * struct sdp_buf_cb - private data of a message buffer, in skb->cb
 * @payload: outgoing: payload bytes
 * @offset: received: offset of the next byte to be read
 * @end: received: offset of the end of the message
 * @seq: outgoing, by datagrams: number of its first packet
 * @size: receive buffer: bytes that it can receive
 * @packets: outgoing, by datagrams: number of its packets
 * @revoke: outgoing: key of the peer that this message invalidates (Send with
 *	Invalidate), or 0
 * @reused: the buffer is reused. Received: it belongs to the transport, which
 *	recycles it once it has been read; outgoing: it is a block
 * @block: outgoing, by rails: it is a block; @reused is true for all of them
 * @note: outgoing, by rails: a message about rails
 * @posted: outgoing, by rails: time when it was sent, microseconds; 0 while
 *	it is not kept
 * @urgent: outgoing: the last payload byte is urgent
 * @rdma: the buffer is kept for other RDMA transfers when it is free
 * @declined: outgoing: it has bytes of a write whose SrcAvail was declined
 * @background: outgoing: the memory of a background write whose bytes come here
 *	in the stream, or NULL; the buffer itself is empty
 * @ring: received: length of the message in our ring, which becomes free when
 *	the message has been read; 0 if it is in no ring
 * @ring_id: received: number of the ring of @ring; valid even after the ring
 *	has been given up
 * @to: outgoing: address in the peer's ring, if the message goes there
 */
struct sdp_buf_cb {
	u32 payload;
	union {
		u32 offset;
		u32 posted;
	};
	union {
		u32 end;
		u32 seq;
	};
	union {
		u32 size;
		u32 packets;
	};
	u32 revoke;
	bool reused : 1;
	bool urgent : 1;
	bool declined : 1;
	bool rdma : 1;
	bool block : 1;
	bool note : 1;
	union {
		struct sdp_background *background;
		struct {
			u32 ring;
			u32 ring_id;
		};
	};
	struct sdp_ring_place to;
};

/**
 * sdp_buf_cb() - private data of a message buffer
 * @skb: the buffer
 *
 * Return: the data, which lives in skb->cb.
 */
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
struct sk_buff *sdp_buf_pages(u32 bytes, int order, gfp_t gfp);
unsigned int sdp_buf_list_pages(const struct sk_buff *skb, u32 bytes,
				struct page **pages);
struct sk_buff *sdp_buf_block(u32 size, u16 frags, gfp_t gfp);

#endif /* SDP_BUF_H */
