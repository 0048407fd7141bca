// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers of the kernel that RDMA transfers read from or write to.
 *
 * They are kept for the next transfers of the same socket, because the kernel
 * clears new pages if init_on_alloc is set, and that costs as much as half a
 * copy into them. So a connection has as many of them as its program uses at
 * once, up to KEPT_BYTES. The timer frees them when none was used for a while
 * or memory is short.
 */
#include "memory.h"
#include "rdma_buf.h"
#include "timer.h"

/*
 * Largest page order. A transfer of 64 KiB then has so few address ranges that
 * it needs no registration, and a message of the send queue so few fragments
 * that it can be cut from such a buffer.
 */
#define RDMA_BUF_ORDER	3
/* Most bytes that a socket keeps. */
#define KEPT_BYTES	(2 << 20)
/* A smaller buffer is not worth keeping. */
#define KEPT_LEAST	16384

/* Does nobody else refer to the pages of the buffer? */
static bool rdma_buf_own(const struct sk_buff *skb)
{
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		if (page_count(skb_frag_page(&skb_shinfo(skb)->frags[i])) != 1)
			return false;
	return true;
}

static void rdma_buf_take(struct sdp_sock *ssk, struct sk_buff *skb)
{
	__skb_unlink(skb, &ssk->rdma_bufs);
	ssk->rdma_bufs_bytes -= skb->truesize;
}

/*
 * A kept buffer that has room for @bytes and is at most twice as large. Pages
 * may still be mapped by a program, or in a pipe.
 */
static struct sk_buff *rdma_buf_kept(struct sdp_sock *ssk, u32 bytes)
{
	struct sk_buff *skb;

	skb_queue_walk(&ssk->rdma_bufs, skb) {
		if (skb->len < bytes || skb->len / 2 > bytes ||
		    !rdma_buf_own(skb))
			continue;
		rdma_buf_take(ssk, skb);
		return skb;
	}
	return NULL;
}

/**
 * sdp_rdma_buf_get() - get a buffer for an RDMA transfer
 * @ssk: socket, not locked
 * @bytes: size of the transfer
 *
 * May sleep.
 *
 * Return: a buffer that consists of pages, of at least @bytes, set up for being
 * read from its beginning to @bytes; or NULL when memory is short.
 */
struct sk_buff *sdp_rdma_buf_get(struct sdp_sock *ssk, u32 bytes)
{
	struct sk_buff *skb;

	sdp_conn_lock(ssk);
	ssk->rdma_bufs_used = jiffies;
	skb = rdma_buf_kept(ssk, bytes);
	spin_unlock_bh(&ssk->lock);
	if (!skb)
		skb = sdp_buf_pages(PAGE_ALIGN(bytes), RDMA_BUF_ORDER,
				    ssk->sk.sk_allocation);
	if (!skb)
		return NULL;
	sdp_buf_cb(skb)->offset = 0;
	sdp_buf_cb(skb)->end = bytes;
	sdp_buf_cb(skb)->rdma = true;
	return skb;
}

/*
 * Make room for @bytes, by freeing a buffer that cannot be used again yet.
 * Returns false if there is none.
 */
static bool rdma_buf_make_room(struct sdp_sock *ssk, u32 bytes)
{
	struct sk_buff *skb;

	if (ssk->rdma_bufs_bytes + bytes <= KEPT_BYTES)
		return true;
	skb_queue_walk(&ssk->rdma_bufs, skb) {
		if (rdma_buf_own(skb) ||
		    ssk->rdma_bufs_bytes + bytes - skb->truesize > KEPT_BYTES)
			continue;
		rdma_buf_take(ssk, skb);
		kfree_skb(skb);
		return true;
	}
	return false;
}

/**
 * sdp_rdma_buf_put() - keep a buffer for the next transfer, or free it
 * @ssk: socket, locked
 * @link: link of the transfer; the socket may have another one by now, or none
 * @skb: the buffer; taken
 */
void sdp_rdma_buf_put(struct sdp_sock *ssk, const struct sdp_link *link,
		      struct sk_buff *skb)
{
	if (!ssk->link || ssk->link != link || sock_flag(&ssk->sk, SOCK_DEAD) ||
	    skb->len < KEPT_LEAST || sdp_memory_is_short(&ssk->sk) ||
	    skb_shared(skb) || skb_cloned(skb) ||
	    !rdma_buf_make_room(ssk, skb->truesize)) {
		kfree_skb(skb);
		return;
	}
	ssk->rdma_bufs_bytes += skb->truesize;
	__skb_queue_head(&ssk->rdma_bufs, skb);
	sdp_timer_watch_spares(ssk);
}
