// SPDX-License-Identifier: GPL-2.0
/*
 * Pinning of the application's pages for one RDMA transfer.
 *
 * Pages are pinned with FOLL_LONGTERM, because the peer decides when the
 * transfer ends. So the kernel first moves them out of places that must stay
 * movable. The pages count against RLIMIT_MEMLOCK of the user, as those of
 * MSG_ZEROCOPY do.
 *
 * If the application forks meanwhile, the kernel copies pinned pages for the
 * child at once. So the transfer stays with the parent.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "pin.h"

/* Bytes at the beginning that tell whether memory is scattered. */
#define PIN_SCATTER_LOOK	(64 * 1024)

/**
 * sdp_pin_span() - how much of the application's memory can one region hold?
 * @iter: the memory, of the user
 * @max: limit, bytes
 *
 * Pages form a region if there is no gap between their bytes. So pieces of a
 * readv() or writev() are one region as far as each begins at a page boundary
 * where the piece before it ends at one.
 *
 * Return: bytes of the first region, or @max if that is less.
 */
size_t sdp_pin_span(const struct iov_iter *iter, size_t max)
{
	struct iov_iter at = *iter;
	size_t n = 0, piece;

	max = min(max, iov_iter_count(iter));
	/* Go to the first piece that is not empty. */
	iov_iter_advance(&at, 0);
	for (; n < max; iov_iter_advance(&at, piece)) {
		unsigned long addr = (unsigned long)sdp_iter_addr(&at);

		if (n && offset_in_page(addr))
			break;
		piece = min(max - n, iov_iter_single_seg_count(&at));
		n += piece;
		if (offset_in_page(addr + piece))
			break;
	}
	return n;
}

/**
 * sdp_pin_scattered() - is memory in many small regions?
 * @iter: the memory, of the user
 * @max: bytes of it that matter
 *
 * A transfer takes a registration, and a wait, for each region.
 *
 * Return: true if the first four regions have neither %PIN_SCATTER_LOOK nor all
 * bytes that matter.
 */
bool sdp_pin_scattered(const struct iov_iter *iter, size_t max)
{
	struct iov_iter at = *iter;
	size_t n = 0, span;
	int i;

	max = min3(max, iov_iter_count(iter), (size_t)PIN_SCATTER_LOOK);
	for (i = 0; i < 4; i++) {
		span = sdp_pin_span(&at, max - n);
		n += span;
		if (n >= max)
			return false;
		iov_iter_advance(&at, span);
	}
	return true;
}

/*
 * Pin @len bytes of one piece, or fewer, and add them to those of @p. Returns
 * the number of bytes.
 */
static u32 pin_piece(struct sdp_pinned *p, const void __user *start, u32 len)
{
	unsigned long addr = (unsigned long)start;
	unsigned int offset = offset_in_page(addr);
	unsigned int flags = FOLL_LONGTERM |
			     (sdp_mem_changes(p->mem.use) ? FOLL_WRITE : 0);
	int n = pin_user_pages_fast(addr - offset,
				    DIV_ROUND_UP(offset + len, PAGE_SIZE),
				    flags, p->mem.pages + p->mem.n);

	if (n <= 0)
		return 0;
	/* If fewer pages have been pinned, the first one is among them. */
	len = min_t(size_t, len, (size_t)n * PAGE_SIZE - offset);
	p->mem.n += n;
	p->mem.len += len;
	return len;
}

/* Pin the first @len bytes of @at, which form a region, or fewer. */
static void pin_pieces(struct sdp_pinned *p, struct iov_iter *at, u32 len)
{
	u32 piece, got;

	do {
		piece = min_t(size_t, len - p->mem.len,
			      iov_iter_single_seg_count(at));
		got = pin_piece(p, sdp_iter_addr(at), piece);
		iov_iter_advance(at, piece);
	} while (got == piece && p->mem.len < len);
}

/**
 * sdp_pin() - pin the first bytes of an iterator over the application's memory
 * @p: filled in; sdp_unpin() undoes it
 * @iter: the memory; not advanced
 * @max: most bytes to pin
 * @use: what the pages are for
 *
 * Only the first region of the iterator is pinned (sdp_pin_span()), and
 * %SDP_MEM_MAX bytes at most.
 *
 * May sleep.
 *
 * Return: bytes pinned; 0 when none can be, for whatever reason. The caller
 * then copies, which succeeds or reports the error.
 */
u32 sdp_pin(struct sdp_pinned *p, const struct iov_iter *iter, size_t max,
	    enum sdp_mem_use use)
{
	u32 len = sdp_pin_span(iter, min(max, (size_t)SDP_MEM_MAX));
	struct iov_iter at = *iter;
	unsigned int n;

	memset(p, 0, sizeof(*p));
	if (!len)
		return 0;
	iov_iter_advance(&at, 0);
	p->mem.use = use;
	p->mem.offset = offset_in_page(sdp_iter_addr(&at));
	n = DIV_ROUND_UP(p->mem.offset + len, PAGE_SIZE);
	p->mem.pages = kmalloc_array(n, sizeof(*p->mem.pages), GFP_KERNEL);
	if (!p->mem.pages)
		return 0;
	if (mm_account_pinned_pages(&p->account, n * PAGE_SIZE))
		goto free;
	pin_pieces(p, &at, len);
	if (p->mem.len)
		return p->mem.len;
	mm_unaccount_pinned_pages(&p->account);
free:
	kfree(p->mem.pages);
	return 0;
}

/**
 * sdp_unpin() - unpin the pages, and uncharge the user
 * @p: pages that sdp_pin() has pinned
 */
void sdp_unpin(struct sdp_pinned *p)
{
	unpin_user_pages_dirty_lock(p->mem.pages, p->mem.n,
				    sdp_mem_changes(p->mem.use));
	mm_unaccount_pinned_pages(&p->account);
	kfree(p->mem.pages);
}
