// SPDX-License-Identifier: GPL-2.0
/*
 * Rings: the memory that a peer's data is written into, and the messages that lie there (G2, G4;
 * proto/ring.h says how they are used).
 *
 * A ring is made when the peer asks, by a work item, for to register memory is to sleep. The key
 * covers its pages and nothing else, twice in a row: so a message that runs over the end is in one
 * piece for who writes it. Here it may be in two.
 *
 * What the peer has written is queued as any message is: a small skb refers to the pages, and the
 * reader copies from there. The peer could change the bytes until then. So a header is copied
 * before it is looked at, and of payload nothing but the urgent byte is ever interpreted. The pages
 * are cleared at first, so what the peer claims to have written and has not shows nothing.
 *
 * When the reader is past a message its bytes are given back. A message in a ring that is over
 * owns its pages alone: then they count as what is unread.
 */
#include <linux/slab.h>

#include "../control/trace.h"
#include "sock.h"

/* Pages of a ring are had in blocks of this order at most, so that messages have few pieces. */
#define BLOCK_ORDER	SDP_BUF_PAGE_ORDER

/**
 * struct sdp_home - a ring of ours, and its way out of the world
 * @id: names it in the messages that lie in it
 * @size: bytes
 * @mem: its registration
 * @link: of which connection; in use
 * @over: the next one that the work item shall free
 * @pages: all of them, twice in a row
 */
struct sdp_home {
	u32 id;
	u32 size;
	struct sdp_mem *mem;
	struct sdp_link *link;
	struct sdp_home *over;
	struct page *pages[];
};

static unsigned int pages_of(const struct sdp_home *home)
{
	return home->size / PAGE_SIZE;
}

/* Each page has a reference of its own, so that they can go one by one. */
static unsigned int add_block(struct sdp_home *home, unsigned int n,
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
		home->pages[n + i + pages_of(home)] = page + i;
	}
	return 1U << order;
}

static void free_home(struct sdp_home *home, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		put_page(home->pages[i]);
	kfree(home);
}

static struct sdp_home *new_home(u32 size)
{
	struct sdp_home *home = kzalloc(
		struct_size(home, pages, 2 * size / PAGE_SIZE), GFP_KERNEL);
	unsigned int n = 0, got, order = BLOCK_ORDER;

	if (!home)
		return NULL;
	home->size = size;
	while (n < pages_of(home)) {
		while ((1U << order) > pages_of(home) - n)
			order--;
		got = add_block(home, n, order);
		n += got;
		if (got)
			continue;
		if (!order) {
			free_home(home, n);
			return NULL;
		}
		order--;
	}
	return home;
}

/* Register it for the peer. Returns false without it. */
static bool show(struct sdp_home *home, struct sdp_link *link)
{
	struct sdp_pages pages = {
		.pages = home->pages, .n = 2 * pages_of(home), .len = 2 * home->size,
		.use = SDP_MEM_RING,
	};

	home->mem = link->ops->map(link, &pages);
	if (IS_ERR(home->mem))
		return false;
	home->link = link;
	return true;
}

static void end_home(struct sdp_home *home)
{
	home->link->ops->unmap(home->link, home->mem);
	home->link->ops->unuse(home->link);
	free_home(home, pages_of(home));
}

/* What a socket may have: no more than the receive buffer that a program has chosen. */
static u32 allowed(struct sdp_sock *ssk, u32 size)
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

/* Whole pages, except for @last, which the message before has been charged for. */
static u32 bytes_held(const struct sk_buff *skb, const struct page **last)
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

/* Messages in a ring that is over hold its pages: from now on they are counted one by one. */
static void count_unread(struct sdp_sock *ssk, u32 id)
{
	const struct page *last = NULL;
	struct sk_buff *skb;
	u32 bytes;

	skb_queue_walk(&ssk->sk.sk_receive_queue, skb) {
		if (!sdp_buf_cb(skb)->ring || sdp_buf_cb(skb)->home != id)
			continue;
		sdp_buf_cb(skb)->ring = 0;
		bytes = bytes_held(skb, &last);
		skb->truesize += bytes;
		atomic_add(bytes, &ssk->sk.sk_rmem_alloc);
	}
}

static void queue_work_item(struct sdp_sock *ssk)
{
	sock_hold(&ssk->sk);
	if (!queue_work(sdp_wq, &ssk->ring_work))
		__sock_put(&ssk->sk);
}

static void home_over(struct sdp_sock *ssk, struct sdp_home *home)
{
	if (!home)
		return;
	count_unread(ssk, home->id);
	ssk->ring_bytes -= home->size;
	home->over = ssk->rings_over;
	ssk->rings_over = home;
	SDP_INC(sock_net(&ssk->sk), RingsOver);
	queue_work_item(ssk);
}

/**
 * sdp_ring_wanted() - the peer wants a ring
 * @ssk: socket, locked; the engine knows how large
 */
void sdp_ring_wanted(struct sdp_sock *ssk)
{
	queue_work_item(ssk);
}

/**
 * sdp_rings_over() - nothing is written into rings any more
 * @ssk: socket, locked
 * @left: except for so many, the newest: 0 or 1
 */
void sdp_rings_over(struct sdp_sock *ssk, u32 left)
{
	home_over(ssk, ssk->ring);
	ssk->ring = left ? ssk->ring_next : NULL;
	if (!left)
		home_over(ssk, ssk->ring_next);
	ssk->ring_next = NULL;
}

/* The engine has its say: the connection may be over, or have too many receives for it. */
static bool take_home(struct sdp_sock *ssk, struct sdp_home *home)
{
	struct sdp_region none = { }, region = home ? home->mem->region : none;

	region.len = home ? home->size : 0;
	sdp_engine_ring_made(&ssk->engine, &region);
	sdp_engine_set_target(&ssk->engine, ssk->engine.target_wish,
			      READ_ONCE(sdp_net(sock_net(&ssk->sk))
						->settings.credit_threshold));
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

static void make_home(struct sdp_sock *ssk)
{
	struct sdp_home *home = NULL;
	struct sdp_todo todo = { };
	struct sdp_link *link;
	bool taken = false;
	u32 size = 0;

	link = sdp_link_use(ssk);
	if (!link)
		return;
	sdp_stream_lock(ssk);
	if (ssk->link == link && ssk->engine.ring_in.making)
		size = allowed(ssk, ssk->engine.ring_in.making);
	spin_unlock_bh(&ssk->lock);
	if (size)
		home = new_home(size);
	if (home && !show(home, link)) {
		free_home(home, pages_of(home));
		home = NULL;
	}
	sdp_stream_lock(ssk);
	if (ssk->link == link && !ssk->engine.dead &&
	    ssk->engine.ring_in.making) {
		taken = take_home(ssk, home);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
	if (taken)
		return;
	if (home)
		end_home(home);
	else
		link->ops->unuse(link);
}

/**
 * sdp_ring_work() - make the ring that is wanted, and free those that are over
 * @work: sdp_sock.ring_work, which has a reference to the socket
 */
void sdp_ring_work(struct work_struct *work)
{
	struct sdp_sock *ssk = container_of(work, struct sdp_sock, ring_work);
	struct sdp_home *home, *next;

	sdp_stream_lock(ssk);
	home = ssk->rings_over;
	ssk->rings_over = NULL;
	spin_unlock_bh(&ssk->lock);
	for (; home; home = next) {
		next = home->over;
		end_home(home);
	}
	make_home(ssk);
	sock_put(&ssk->sk);
}

static void copy_from_ring(const struct sdp_home *home, u32 at, void *to, u32 n)
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

/* The skb has no bytes of its own, and as many pieces as are needed. */
static void refer_pages(struct sk_buff *skb, const struct sdp_home *home,
			u32 at, u32 n)
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
 * sdp_ring_look() - how full are the rings now?
 * @ssk: socket, locked
 *
 * Whether ours is full is noted for who waits for a low-water mark; the rest is for the tracepoint,
 * of the peer's as far as it has said; nothing of one whose room the adapters see to (G4).
 */
void sdp_ring_look(struct sdp_sock *ssk)
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
 * sdp_ring_header() - a copy of the beginning of a message in our ring
 * @ssk: socket, locked, with a ring
 * @at: where it begins
 * @bytes: its length
 * @to: room for min(@bytes, %SDP_HEADER_MAX) bytes
 */
void sdp_ring_header(const struct sdp_sock *ssk, u32 at, u32 bytes,
		     u8 to[SDP_HEADER_MAX])
{
	copy_from_ring(ssk->ring, at, to, min_t(u32, bytes, SDP_HEADER_MAX));
}

/**
 * sdp_ring_message() - a message in our ring, to be queued
 * @ssk: socket, locked, with a ring
 * @empty: the receive that it has used up
 * @at: where it begins
 * @bytes: its length
 *
 * It has arrived, and the peer has been told so: it must not be lost because memory is short. Then
 * the receive gives up what room it has, and refers to the message itself.
 *
 * Return: a buffer that refers to it, @empty if memory is short; or NULL if it is longer than any
 * that a buffer can refer to.
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
	refer_pages(skb, ssk->ring, at, bytes);
	sdp_buf_cb(skb)->again = false;
	/* When it is read, it is known how much is given back, and of which ring. */
	sdp_buf_cb(skb)->ring = bytes;
	sdp_buf_cb(skb)->home = ssk->ring->id;
	return skb;
}

/**
 * sdp_ring_splice() - put a piece of a message in a ring into a pipe: a copy
 * @ssk: socket, with rx_mutex
 * @skb: the message, in the receive queue
 * @offset: where in it
 * @len: bytes
 * @pipe: the pipe, locked
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
 * sdp_ring_read() - the reader is past bytes that may lie in a ring
 * @ssk: socket, locked
 * @skb: the buffer
 * @n: bytes read of it
 * @all: the whole of it
 *
 * What is not payload is given back with the last of it, so never before it has been read.
 *
 * Return: true when sdp_stream_progress() has to follow.
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
	sdp_ring_look(ssk);
	return progress;
}
