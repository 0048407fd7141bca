// SPDX-License-Identifier: GPL-2.0
/*
 * Receive rings: allocation, announcement, messages and release.
 *
 * A ring is memory of ours that the peer writes its messages into (G2, G4).
 * proto/ring.h describes the messages about rings and the two schemes.
 *
 * Life of a ring:
 *
 *	sdp_ring_wanted()	the peer has asked for a ring: queue the work
 *	sdp_ring_work()		allocate and register it, which may sleep, and
 *				announce it with RingAvail: it is @ring_next
 *	sdp_rings_retire(1)	the first message in it arrives: it is @ring,
 *				and the ring before it is over
 *	sdp_rings_retire(0)	the peer gives it back, or the connection ends:
 *				it is in @rings_over
 *	sdp_ring_work()		free it
 *
 * The key covers the pages of the ring and nothing else, twice in a row. So a
 * message that runs over the end of the ring is contiguous for the peer that
 * writes it, though it lies in two parts of our memory.
 *
 * A message in a ring is queued like any other: a small skb refers to its
 * pages, and the reader copies from there. Until then the peer could still
 * change the bytes. So a header is copied before it is parsed, and of the
 * payload only the urgent byte is interpreted. The pages are cleared when they
 * are allocated. So they show nothing if the peer claims to have written what
 * it has not.
 *
 * When the reader has passed a message, its bytes in the ring are free again.
 * When a ring is over, unread messages in it keep their pages, which are from
 * then on charged as unread data.
 *
 * The socket's @lock covers @ring, @ring_next, @rings_over and @ring_bytes.
 */
#include <linux/slab.h>

#include "conn.h"
#include "memory.h"
#include "output.h"
#include "ring.h"
#include "../base/trace.h"

/*
 * Pages of a ring are allocated in blocks of this order at most, so that its
 * registration has few pieces.
 */
#define RING_BLOCK_ORDER	SDP_BUF_PAGE_ORDER

/**
 * struct sdp_rx_ring - a receive ring
 * @id: number of the ring; identifies it in the messages that lie in it
 * @size: bytes
 * @mem: its registration
 * @link: link that it is registered with, in use
 * @over: links the rings in sdp_sock.rings_over, which the work item frees
 * @pages: all of its pages, twice in a row
 */
struct sdp_rx_ring {
	u32 id;
	u32 size;
	struct sdp_mem *mem;
	struct sdp_link *link;
	struct sdp_rx_ring *over;
	struct page *pages[];
};

static unsigned int ring_pages(const struct sdp_rx_ring *home)
{
	return home->size / PAGE_SIZE;
}

/*
 * Allocate a block of pages, beginning with page @n. Each page has a reference
 * count of its own, because messages release them one by one. Returns the
 * number of pages, 0 without memory.
 */
static unsigned int ring_add_block(struct sdp_rx_ring *home, unsigned int n,
				   unsigned int order)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
					(order ? __GFP_NORETRY : 0), order);
	unsigned int i;

	if (!page)
		return 0;
	split_page(page, order);
	for (i = 0; i < 1U << order; i++) {
		home->pages[n + i] = page + i;
		home->pages[n + i + ring_pages(home)] = page + i;
	}
	return 1U << order;
}

/* Free a ring that has got @n pages. */
static void rx_ring_free(struct sdp_rx_ring *home, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		put_page(home->pages[i]);
	kfree(home);
}

static struct sdp_rx_ring *rx_ring_alloc(u32 size)
{
	struct sdp_rx_ring *home = kzalloc(
		struct_size(home, pages, 2 * size / PAGE_SIZE), GFP_KERNEL);
	unsigned int n = 0, got, order = RING_BLOCK_ORDER;

	if (!home)
		return NULL;
	home->size = size;
	while (n < ring_pages(home)) {
		while ((1U << order) > ring_pages(home) - n)
			order--;
		got = ring_add_block(home, n, order);
		n += got;
		if (got)
			continue;
		if (!order) {
			rx_ring_free(home, n);
			return NULL;
		}
		order--;
	}
	return home;
}

/*
 * Register a ring for the peer. On success the ring takes over the caller's use
 * of @link, and ring_destroy() ends it.
 */
static bool ring_register(struct sdp_rx_ring *home, struct sdp_link *link)
{
	struct sdp_pages pages = {
		.pages = home->pages,
		.n = 2 * ring_pages(home),
		.len = 2 * home->size,
		.use = SDP_MEM_RING,
	};

	home->mem = link->ops->map(link, &pages);
	if (IS_ERR(home->mem))
		return false;
	home->link = link;
	return true;
}

static void ring_destroy(struct sdp_rx_ring *home)
{
	home->link->ops->unmap(home->link, home->mem);
	home->link->ops->unuse(home->link);
	rx_ring_free(home, ring_pages(home));
}

/*
 * Size of the ring that a socket may have when @size is asked for, 0 for none.
 * A receive buffer size that the application has set limits it.
 */
static u32 ring_allowed_size(struct sdp_sock *ssk, u32 size)
{
	struct sock *sk = &ssk->sk;

	if (ssk->parent || sock_flag(sk, SOCK_DEAD) ||
	    (sk->sk_shutdown & RCV_SHUTDOWN) || sdp_memory_is_short(&ssk->sk))
		return 0;
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		size = min_t(u32, size,
			     rounddown_pow_of_two(READ_ONCE(sk->sk_rcvbuf)));
	if (sdp_memory_beyond_limit(sk) ||
	    !__sk_mem_schedule(sk, size, SK_MEM_RECV)) {
		SDP_INC(sock_net(sk), MemoryShort);
		return 0;
	}
	return size >= max_t(u32, SDP_RING_SIZE_MIN, PAGE_SIZE) ? size : 0;
}

/*
 * Bytes of the pages that a message holds; whole pages count. @last: in: last
 * page of the message before, which is charged for that page already; out: last
 * page of this message.
 */
static u32 ring_bytes_held(const struct sk_buff *skb, const struct page **last)
{
	u32 bytes = 0;
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const struct page *page =
			skb_frag_page(&skb_shinfo(skb)->frags[i]);

		if (page != *last)
			bytes += PAGE_SIZE;
		*last = page;
	}
	return bytes;
}

/*
 * A ring is over: from now on its unread messages keep their pages, so charge
 * each message for its pages.
 */
static void ring_charge_unread(struct sdp_sock *ssk, u32 id)
{
	const struct page *last = NULL;
	struct sk_buff *skb;
	u32 bytes;

	skb_queue_walk(&ssk->sk.sk_receive_queue, skb) {
		if (!sdp_buf_cb(skb)->ring || sdp_buf_cb(skb)->ring_id != id)
			continue;
		sdp_buf_cb(skb)->ring = 0;
		bytes = ring_bytes_held(skb, &last);
		skb->truesize += bytes;
		atomic_add(bytes, &ssk->sk.sk_rmem_alloc);
	}
}

static void ring_queue_work(struct sdp_sock *ssk)
{
	sock_hold(&ssk->sk);
	if (!queue_work(sdp_wq, &ssk->ring_work))
		__sock_put(&ssk->sk);
}

/* The peer does not write into a ring any more: let the work item free it. */
static void ring_retire(struct sdp_sock *ssk, struct sdp_rx_ring *home)
{
	if (!home)
		return;
	ring_charge_unread(ssk, home->id);
	ssk->ring_bytes -= home->size;
	home->over = ssk->rings_over;
	ssk->rings_over = home;
	SDP_INC(sock_net(&ssk->sk), RingsOver);
	ring_queue_work(ssk);
}

/**
 * sdp_ring_wanted() - the peer has asked for a ring
 * @ssk: socket, locked; the engine knows the size (engine.ring_in.making)
 */
void sdp_ring_wanted(struct sdp_sock *ssk)
{
	ring_queue_work(ssk);
}

/**
 * sdp_rings_retire() - the peer does not write into our older rings any more
 * @ssk: socket, locked
 * @left: number of rings, the newest ones, that it still writes into: 0 or 1
 */
void sdp_rings_retire(struct sdp_sock *ssk, u32 left)
{
	ring_retire(ssk, ssk->ring);
	ssk->ring = left ? ssk->ring_next : NULL;
	if (!left)
		ring_retire(ssk, ssk->ring_next);
	ssk->ring_next = NULL;
}

/*
 * Give the engine a new ring, or tell it that there is none (@home is NULL).
 * The engine may refuse the ring, because it is too small for the receives that
 * are posted. Returns true when the socket has taken it.
 */
static bool ring_announce(struct sdp_sock *ssk, struct sdp_rx_ring *home)
{
	struct sdp_region none = { }, region = home ? home->mem->region : none;

	region.len = home ? home->size : 0;
	sdp_engine_ring_made(&ssk->engine, &region);
	sdp_engine_set_target(&ssk->engine, ssk->engine.target_wish,
			      READ_ONCE(sdp_net(sock_net(&ssk->sk))->
					settings.credit_threshold));
	if (!ssk->engine.ring_in.next.len) {
		SDP_INC(sock_net(&ssk->sk), RingsRefused);
		return false;
	}
	home->id = ++ssk->ring_id;
	home->mem->settled = false;
	ssk->ring_bytes += home->size;
	ssk->ring_next = home;
	SDP_INC(sock_net(&ssk->sk), RingsMade);
	return true;
}

/* Make a ring if the peer has asked for one. May sleep. */
static void ring_make(struct sdp_sock *ssk)
{
	struct sdp_rx_ring *home = NULL;
	struct sdp_todo todo = { };
	struct sdp_link *link;
	bool taken = false;
	u32 size = 0;

	link = sdp_conn_use_link(ssk);
	if (!link)
		return;
	sdp_conn_lock(ssk);
	if (ssk->link == link && ssk->engine.ring_in.making)
		size = ring_allowed_size(ssk, ssk->engine.ring_in.making);
	spin_unlock_bh(&ssk->lock);
	if (size)
		home = rx_ring_alloc(size);
	if (home && !ring_register(home, link)) {
		rx_ring_free(home, ring_pages(home));
		home = NULL;
	}
	sdp_conn_lock(ssk);
	if (ssk->link == link && !ssk->engine.dead &&
	    ssk->engine.ring_in.making) {
		taken = ring_announce(ssk, home);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
	if (taken)
		return;
	if (home)
		ring_destroy(home);
	else
		link->ops->unuse(link);
}

/**
 * sdp_ring_work() - free the rings that are over, make the one that is wanted
 * @work: sdp_sock.ring_work, which has a reference on the socket
 */
void sdp_ring_work(struct work_struct *work)
{
	struct sdp_sock *ssk = container_of(work, struct sdp_sock, ring_work);
	struct sdp_rx_ring *home, *next;

	sdp_conn_lock(ssk);
	home = ssk->rings_over;
	ssk->rings_over = NULL;
	spin_unlock_bh(&ssk->lock);
	for (; home; home = next) {
		next = home->over;
		ring_destroy(home);
	}
	ring_make(ssk);
	sock_put(&ssk->sk);
}

static void ring_copy(const struct sdp_rx_ring *home, u32 at, void *to, u32 n)
{
	u32 part;

	for (; n; n -= part, at += part, to += part) {
		part = min_t(u32, n, PAGE_SIZE - offset_in_page(at));
		memcpy(to,
		       page_address(home->pages[at / PAGE_SIZE]) +
			       offset_in_page(at),
		       part);
	}
}

/*
 * Let an skb without data refer to @n bytes of a ring. The caller has checked
 * that it has fragments for all pages.
 */
static void ring_refer_pages(struct sk_buff *skb,
			     const struct sdp_rx_ring *home, u32 at, u32 n)
{
	u32 part;
	int i;

	skb->len = n;
	skb->data_len = n;
	for (i = 0; n; i++, n -= part, at += part) {
		struct page *page = home->pages[at / PAGE_SIZE];

		part = min_t(u32, n, PAGE_SIZE - offset_in_page(at));
		get_page(page);
		skb_fill_page_desc(skb, i, page, offset_in_page(at), part);
	}
}

/**
 * sdp_ring_note_fill() - note how full the rings are
 * @ssk: socket, locked
 *
 * @rx_ring_full is for pollers that wait for SO_RCVLOWAT. The rest is for the
 * tracepoint. For the peer's ring the tracepoint shows the bytes that we have
 * written and the peer has not reported as read, or 0 with %SDP_BY_NIC, because
 * then the peer does not report (G4).
 */
void sdp_ring_note_fill(struct sdp_sock *ssk)
{
	const struct sdp_ring_out *o = &ssk->engine.ring_out;
	const struct sdp_ring_in *in = &ssk->engine.ring_in;
	u32 used = o->scheme == SDP_BY_RDMA ? o->head - o->freed : 0;

	WRITE_ONCE(ssk->rx_ring_full, sdp_ring_in_full(in));
	if (trace_sdp_ring_enabled())
		trace_sdp_ring(&ssk->sk, ssk->local.port, ssk->peer.port,
			       o->ring.len, used, in->size,
			       sdp_ring_in_used(in));
}

/**
 * sdp_ring_header() - copy the beginning of a message out of our ring
 * @ssk: socket, locked, with a ring
 * @at: offset of the message in the ring
 * @bytes: length of the message
 * @to: room for min(@bytes, %SDP_HEADER_MAX) bytes
 */
void sdp_ring_header(const struct sdp_sock *ssk, u32 at, u32 bytes,
		     u8 to[SDP_HEADER_MAX])
{
	ring_copy(ssk->ring, at, to, min_t(u32, bytes, SDP_HEADER_MAX));
}

/**
 * sdp_ring_message() - make a buffer for a message in our ring
 * @ssk: socket, locked, with a ring
 * @empty: the receive that the message has consumed, without data
 * @at: offset of the message in the ring
 * @bytes: length of the message
 *
 * The peer has been told that the message has arrived, so it must not be lost
 * when memory is short. In that case @empty drops its own memory and refers to
 * the message itself.
 *
 * Return: a new buffer that refers to the message; @empty when memory is short;
 * NULL when the message is too long for the fragments of a buffer.
 */
struct sk_buff *sdp_ring_message(struct sdp_sock *ssk, struct sk_buff *empty,
				 u32 at, u32 bytes)
{
	struct sk_buff *skb;

	if (DIV_ROUND_UP(offset_in_page(at) + bytes, PAGE_SIZE) > MAX_SKB_FRAGS)
		return NULL;
	skb = alloc_skb(0, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb) {
		skb = empty;
		pskb_trim_unique(skb, 0);
	}
	ring_refer_pages(skb, ssk->ring, at, bytes);
	sdp_buf_cb(skb)->reused = false;
	/* Once it is read, these say how many bytes of which ring are free. */
	sdp_buf_cb(skb)->ring = bytes;
	sdp_buf_cb(skb)->ring_id = ssk->ring->id;
	return skb;
}

/**
 * sdp_ring_splice() - put a piece of a message in a ring into a pipe
 * @ssk: socket, with rx_mutex
 * @skb: the message, in the receive queue
 * @offset: offset of the piece in @skb
 * @len: bytes of the piece
 * @pipe: the pipe, locked
 *
 * The pipe gets a copy, because the peer reuses the ring's memory.
 *
 * Return: bytes, fewer than @len when the pipe is full, or an errno.
 */
int sdp_ring_splice(struct sdp_sock *ssk, struct sk_buff *skb, u32 offset,
		    u32 len, struct pipe_inode_info *pipe)
{
	struct sk_buff *copy;
	int err, n;

	copy = alloc_skb_with_frags(0, len, 0, &err, GFP_KERNEL | __GFP_NOWARN);
	if (!copy)
		return -ENOBUFS;
	copy->len = len;
	copy->data_len = len;
	for (n = 0; n < skb_shinfo(copy)->nr_frags; n++) {
		skb_frag_t *frag = &skb_shinfo(copy)->frags[n];

		skb_copy_bits(skb, offset, skb_frag_address(frag),
			      skb_frag_size(frag));
		offset += skb_frag_size(frag);
	}
	n = skb_splice_bits(copy, &ssk->sk, 0, pipe, len, 0);
	kfree_skb(copy);
	return n ?: -ENOBUFS;
}

/**
 * sdp_ring_read() - the reader has passed bytes that may lie in a ring
 * @ssk: socket, locked
 * @skb: the buffer that they are in
 * @n: payload bytes passed
 * @all: the whole buffer has been read
 *
 * @n does not count the header, whose bytes become free with the last payload
 * byte. So no byte becomes free before it has been read.
 *
 * Return: true when the caller has to call sdp_conn_progress().
 */
bool sdp_ring_read(struct sdp_sock *ssk, struct sk_buff *skb, u32 n, bool all)
{
	struct sdp_buf_cb *cb = sdp_buf_cb(skb);
	u32 bytes = all ? cb->ring : min(n, cb->ring);
	bool progress;

	if (!bytes)
		return false;
	cb->ring -= bytes;
	progress = sdp_engine_ring_read(&ssk->engine, bytes);
	sdp_ring_note_fill(ssk);
	return progress;
}
