// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: rings of posted buffers, and the DMA mapping of their pieces.
 *
 * A link has one ring of receives and one of sends, from rc_prepare() until its
 * queue pair is destroyed. qp.c fills the slots in order and empties them in
 * order. A message is mapped from its post until its completion.
 */
#include "rc.h"

/*
 * Where the numbers of buffers begin: shortly before they wrap, so that this
 * happens on each connection, and not only on one with 2^32 messages.
 */
#define RC_RING_BEGIN	((u32)-20)

/**
 * rc_ring_alloc() - allocate the slots of a ring
 * @ring: ring, empty
 * @size: number of slots
 * @sges: maximum number of pieces per slot
 *
 * May sleep. rc_ring_free() frees the slots, also after an error.
 *
 * Return: 0 or -ENOMEM.
 */
int rc_ring_alloc(struct rc_ring *ring, u16 size, u16 sges)
{
	int i;

	ring->slots = kcalloc(size, sizeof(*ring->slots), GFP_KERNEL);
	ring->dma = kcalloc(size * sges, sizeof(*ring->dma), GFP_KERNEL);
	if (!ring->slots || !ring->dma)
		return -ENOMEM;
	for (i = 0; i < size; i++)
		ring->slots[i].dma = &ring->dma[i * sges];
	ring->size = size;
	ring->sges = sges;
	ring->head = RC_RING_BEGIN;
	ring->tail = RC_RING_BEGIN;
	return 0;
}

/* Bytes of the linear part that the device accesses: data or receive room. */
static u32 msg_linear_bytes(const struct sk_buff *skb,
			    enum dma_data_direction dir)
{
	if (dir == DMA_TO_DEVICE)
		return skb_headlen(skb);
	return skb->data_len ? skb_headlen(skb) : sdp_buf_cb(skb)->size;
}

/**
 * rc_msg_unmap() - unmap all pieces of a message
 * @rc: link
 * @msg: slot of the message, mapped with rc_msg_map()
 * @dir: direction of the DMA
 */
void rc_msg_unmap(struct rc_link *rc, struct rc_msg *msg,
		  enum dma_data_direction dir)
{
	struct ib_device *ib = rc->dev->ib;
	struct sk_buff *skb = msg->skb;
	u32 linear = msg_linear_bytes(skb, dir);
	u64 *dma = msg->dma;
	int i;

	if (linear)
		ib_dma_unmap_single(ib, *dma++, linear, dir);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		ib_dma_unmap_page(ib, *dma++,
				  skb_frag_size(&skb_shinfo(skb)->frags[i]),
				  dir);
}

/**
 * rc_map_piece() - map a piece of a message for the device
 * @ib: device
 * @page: page in which the piece begins
 * @offset: offset in @page
 * @sge: its length is set by the caller; its address is filled in
 * @dir: direction of the DMA
 *
 * A function of its own, so that a test can make it fail: mappings of
 * soft-RoCE never fail.
 *
 * Return: false when the piece cannot be mapped just now.
 */
noinline bool rc_map_piece(struct ib_device *ib, struct page *page, u32 offset,
			   struct ib_sge *sge, enum dma_data_direction dir)
{
	sge->addr = ib_dma_map_page(ib, page, offset, sge->length, dir);
	return !ib_dma_mapping_error(ib, sge->addr);
}

static bool msg_map_piece(struct rc_link *rc, struct ib_sge *sge,
			  struct page *page, u32 offset, u32 len,
			  enum dma_data_direction dir)
{
	sge->length = len;
	sge->lkey = rc->dev->pd->local_dma_lkey;
	return rc_map_piece(rc->dev->ib, page, offset, sge, dir);
}

/**
 * rc_msg_map() - map all pieces of a message for the device
 * @rc: link
 * @msg: slot of the message; its skb is set
 * @sge: the pieces are stored here, at most as many as the ring's slots have
 * @dir: direction of the DMA
 *
 * Return: number of pieces, or 0 with nothing mapped.
 */
int rc_msg_map(struct rc_link *rc, struct rc_msg *msg, struct ib_sge *sge,
	       enum dma_data_direction dir)
{
	struct ib_device *ib = rc->dev->ib;
	struct sk_buff *skb = msg->skb;
	u32 linear = msg_linear_bytes(skb, dir);
	int n = 0, i;

	if (linear) {
		if (!msg_map_piece(rc, sge, virt_to_page(skb->data),
				   offset_in_page(skb->data), linear, dir))
			return 0;
		msg->dma[n++] = sge->addr;
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++, n++) {
		skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		if (!msg_map_piece(rc, &sge[n], skb_frag_page(frag),
				   skb_frag_off(frag), skb_frag_size(frag),
				   dir))
			goto undo;
		msg->dma[n] = sge[n].addr;
	}
	return n;

undo:
	while (i-- > 0)
		ib_dma_unmap_page(ib, msg->dma[--n],
				  skb_frag_size(&skb_shinfo(skb)->frags[i]),
				  dir);
	if (linear)
		ib_dma_unmap_single(ib, msg->dma[0], linear, dir);
	return 0;
}

/**
 * rc_ring_free() - free a ring and all messages in it
 * @rc: link; its queue pair does not exist any more
 * @ring: ring
 * @dir: direction of the DMA of its messages
 */
void rc_ring_free(struct rc_link *rc, struct rc_ring *ring,
		  enum dma_data_direction dir)
{
	for (; ring->tail != ring->head; rc_ring_completed(ring)) {
		struct rc_msg *msg = rc_ring_tail(ring);

		rc_msg_unmap(rc, msg, dir);
		kfree_skb(msg->skb);
	}
	kfree(ring->slots);
	kfree(ring->dma);
}
