// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of background writes: a copy of the bytes, or pages that are lent.
 *
 * A program may change its memory as soon as an ordinary write returns, so such
 * a write is copied into a buffer of the socket (conn/rdma_buf.c). There are
 * two kinds of writes whose pages are lent instead (conn/zerocopy.c):
 *
 *  - MSG_ZEROCOPY. The program is told when it may change the pages again. That
 *    is after the peer can no longer reach them and no message refers to them.
 *  - MSG_SPLICE_PAGES, by sendfile(2) and splice(2). Nobody is told. As with
 *    TCP, the peer may see what is written to the file meanwhile, and if the
 *    file is truncated, the pages stay until the transfer is over.
 *
 * Lent pages have a reference each, like those that messages refer to. The
 * peer's scanner bounds the time for which they are held (C9).
 *
 * The memory belongs to one background write (background.c), from the call of
 * sdp_background_mem_copy() or sdp_background_mem_lend() to that of
 * sdp_background_mem_free(). Writers add pages with tx_mutex.
 */
#include "../conn/conn.h"
#include "../conn/rdma_buf.h"
#include "../conn/zerocopy.h"
#include "background_mem.h"

/**
 * sdp_background_mem_init() - prepare memory that has no bytes yet
 * @m: zeroed; sdp_background_mem_free() frees what it gets
 */
void sdp_background_mem_init(struct sdp_background_mem *m)
{
	__skb_queue_head_init(&m->copies);
	m->pages.pages = m->list;
	m->pages.use = SDP_MEM_PEER_READS;
}

/*
 * Copy the next bytes into the rest of the last page. Returns their number, at
 * most @bytes; or -EFAULT.
 */
static int mem_copy_page(struct sdp_pages *p, struct iov_iter *from, u32 bytes)
{
	u32 at = offset_in_page(p->len);
	u32 n = at ? min_t(u32, PAGE_SIZE - at, bytes) : 0;

	if (n && copy_page_from_iter(p->pages[p->n - 1], at, n, from) != n)
		return -EFAULT;
	p->len += n;
	return n;
}

/**
 * sdp_background_mem_copy() - copy the next bytes of a write
 * @ssk: socket, not locked
 * @p: the pages of the memory, or a copy of their description
 * @from: bytes of the write; advanced, also on failure
 * @bytes: number of bytes; at most %SDP_BACKGROUND_MAX are in the memory then
 *
 * May sleep.
 *
 * Return: the buffer that holds what did not fit into the last page, NULL if
 * everything did; or an ERR_PTR if memory is short or @from faults.
 */
struct sk_buff *sdp_background_mem_copy(struct sdp_sock *ssk,
					struct sdp_pages *p,
					struct iov_iter *from, u32 bytes)
{
	struct sk_buff *skb;
	int n;

	n = mem_copy_page(p, from, bytes);
	if (n < 0)
		return ERR_PTR(n);
	bytes -= n;
	if (!bytes)
		return NULL;
	skb = sdp_rdma_buf_get(ssk, bytes);
	if (!skb)
		return ERR_PTR(-ENOBUFS);
	if (skb_copy_datagram_from_iter(skb, 0, from, bytes)) {
		kfree_skb(skb);
		return ERR_PTR(-EFAULT);
	}
	p->n += sdp_buf_list_pages(skb, bytes, p->pages + p->n);
	p->len += bytes;
	return skb;
}

/**
 * sdp_background_mem_lendable() - how much could be lent at once?
 * @from: bytes of a write that lends its pages
 * @max: limit, bytes
 *
 * Pages form a region if there is no gap between their bytes.
 *
 * Return: bytes of the first region, or @max if that is less.
 */
u32 sdp_background_mem_lendable(const struct iov_iter *from, u32 max)
{
	const struct bio_vec *v = from->bvec, *end = v + from->nr_segs;
	u32 n = 0, skip = from->iov_offset;

	if (!iov_iter_is_bvec(from))
		return min_t(size_t, max, iov_iter_single_seg_count(from));
	for (; v < end && n < max; v++, skip = 0) {
		if (n && offset_in_page(v->bv_offset))
			break;
		n += min_t(u32, v->bv_len - skip, max - n);
		if (offset_in_page(v->bv_offset + v->bv_len))
			break;
	}
	return n;
}

static void mem_put_pages(struct page **pages, unsigned int n)
{
	while (n)
		put_page(pages[--n]);
}

/* May more bytes follow without a gap? */
static bool mem_continues(const struct sdp_pages *p)
{
	return !p->n || !offset_in_page(p->offset + p->len);
}

/*
 * The next page of kernel memory, with a reference. Memory that must not have
 * one is not lent. Returns the number of bytes, 0 if there is no such page.
 */
static ssize_t mem_kernel_page(struct iov_iter *from, struct page **page,
			       u32 max, size_t *offset)
{
	ssize_t n = sdp_iter_page(from, max, page, offset);

	if (n <= 0)
		return 0;
	if (sendpage_ok(*page)) {
		get_page(*page);
		return n;
	}
	iov_iter_revert(from, n);
	return 0;
}

/*
 * Add pages of a write up to the next gap. Returns the number of bytes, at most
 * @max; 0 if there are none, or if they do not continue the region.
 */
static size_t mem_add_piece(struct sdp_pages *p, struct iov_iter *from, u32 max)
{
	struct page **next = p->pages + p->n;
	unsigned int n;
	size_t offset;
	ssize_t got;

	if (!mem_continues(p) || p->n == SDP_BACKGROUND_PAGES)
		return 0;
	if (user_backed_iter(from))
		got = iov_iter_get_pages2(from, next, max,
					  SDP_BACKGROUND_PAGES - p->n, &offset);
	else
		got = mem_kernel_page(from, next, max, &offset);
	if (got <= 0)
		return 0;
	n = DIV_ROUND_UP(offset + got, PAGE_SIZE);
	if (p->n && offset) {
		iov_iter_revert(from, got);
		mem_put_pages(next, n);
		return 0;
	}
	if (!p->n)
		p->offset = offset;
	p->n += n;
	p->len += got;
	return got;
}

/**
 * sdp_background_mem_lend() - prepare for pages that a program lends
 * @m: memory without bytes; sdp_background_mem_free() ends the loan
 * @lender: tells the application when the pages are no longer in use, or NULL
 */
void sdp_background_mem_lend(struct sdp_background_mem *m,
			     struct ubuf_info *lender)
{
	m->lender = lender;
	if (lender)
		net_zcopy_get(lender);
}

/**
 * sdp_background_mem_add() - add the next pages of a write to lent memory
 * @p: the pages of the memory, or a copy of their description
 * @from: bytes of the write; advanced
 * @max: largest number of bytes to add
 *
 * Adds fewer bytes where the pages do not form one region: all bytes of its
 * pages but those before the first one and behind the last one. It ends at
 * %SDP_BACKGROUND_MAX.
 *
 * May sleep.
 *
 * Return: number of bytes added.
 */
u32 sdp_background_mem_add(struct sdp_pages *p, struct iov_iter *from, u32 max)
{
	u32 done = 0, n;

	max = min_t(u32, max, SDP_BACKGROUND_MAX - p->len);
	for (; done < max; done += n) {
		n = mem_add_piece(p, from, max - done);
		if (!n)
			break;
	}
	return done;
}

/**
 * sdp_background_mem_full() - can nothing be added to the memory?
 * @m: the memory, which has bytes
 *
 * Return: true if it has its largest size, or lent pages end within a page.
 */
bool sdp_background_mem_full(const struct sdp_background_mem *m)
{
	return m->pages.len >= SDP_BACKGROUND_MAX ||
	       (sdp_background_mem_lent(m) && !mem_continues(&m->pages));
}

/**
 * sdp_background_mem_drop() - give the last pages back
 * @p: the pages
 * @n: number of pages that stay
 */
void sdp_background_mem_drop(struct sdp_pages *p, unsigned int n)
{
	mem_put_pages(p->pages + n, p->n - n);
}

/**
 * sdp_background_mem_free() - free the memory, or end the loan
 * @ssk: socket, not locked
 * @m: the memory; the adapter does not use it any more
 * @link: link that it was mapped for
 *
 * A copy is kept for the next write, unless the connection is over.
 */
void sdp_background_mem_free(struct sdp_sock *ssk, struct sdp_background_mem *m,
			     const struct sdp_link *link)
{
	struct sk_buff *skb;

	if (!sdp_background_mem_lent(m)) {
		sdp_conn_lock(ssk);
		while ((skb = __skb_dequeue(&m->copies)))
			sdp_rdma_buf_put(ssk, link, skb);
		spin_unlock_bh(&ssk->lock);
		return;
	}
	mem_put_pages(m->list, m->pages.n);
	net_zcopy_put(m->lender);
}

/**
 * sdp_background_mem_refer() - let a message refer to bytes of the memory
 * @m: the memory
 * @at: offset of the first byte
 * @skb: the message, without payload
 * @bytes: largest number of bytes
 * @frags: largest number of fragments
 *
 * The message keeps the pages, and the loan, until it is freed.
 *
 * Return: number of bytes that fit.
 */
u32 sdp_background_mem_refer(const struct sdp_background_mem *m, u32 at,
			     struct sk_buff *skb, u32 bytes, int frags)
{
	struct page *const *page = m->list + (m->pages.offset + at) / PAGE_SIZE;
	u32 offset = offset_in_page(m->pages.offset + at), done = 0, part;

	for (; done < bytes; page++, offset = 0, done += part) {
		part = min_t(u32, bytes - done, PAGE_SIZE - offset);
		if (!sdp_refs_add_frag(skb, frags, *page, offset, part))
			break;
	}
	skb->len += done;
	skb->data_len += done;
	skb->truesize += done;
	if (sdp_background_mem_lent(m))
		skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	if (m->lender)
		skb_zcopy_set(skb, m->lender, NULL);
	return done;
}
