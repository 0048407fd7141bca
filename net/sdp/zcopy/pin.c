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

/**
 * sdp_pin() - pin the first bytes of an iterator over the application's memory
 * @p: filled in; sdp_unpin() undoes it
 * @iter: the memory; not advanced
 * @max: most bytes to pin
 * @use: what the pages are for
 *
 * Only the first segment of the iterator is pinned.
 *
 * May sleep.
 *
 * Return: bytes pinned; 0 when none can be, for whatever reason. The caller
 * then copies, which succeeds or reports the error.
 */
u32 sdp_pin(struct sdp_pinned *p, const struct iov_iter *iter, size_t max,
	    enum sdp_mem_use use)
{
	size_t len = min3(max, (size_t)SDP_MEM_MAX,
			  iov_iter_single_seg_count(iter));
	unsigned long addr = (unsigned long)sdp_iter_addr(iter);
	unsigned int flags = FOLL_LONGTERM |
			     (sdp_mem_changes(use) ? FOLL_WRITE : 0);
	int n;

	memset(p, 0, sizeof(*p));
	if (!len)
		return 0;
	p->mem.offset = offset_in_page(addr);
	p->mem.n = DIV_ROUND_UP(p->mem.offset + len, PAGE_SIZE);
	p->mem.pages =
		kmalloc_array(p->mem.n, sizeof(*p->mem.pages), GFP_KERNEL);
	if (!p->mem.pages)
		return 0;
	if (mm_account_pinned_pages(&p->account, p->mem.n * PAGE_SIZE))
		goto free;
	n = pin_user_pages_fast(addr - p->mem.offset, p->mem.n, flags,
				p->mem.pages);
	if (n <= 0)
		goto unaccount;
	/* If fewer pages have been pinned, the first one is among them. */
	p->mem.len = min_t(size_t, len, (size_t)n * PAGE_SIZE - p->mem.offset);
	p->mem.n = n;
	p->mem.use = use;
	return p->mem.len;

unaccount:
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
