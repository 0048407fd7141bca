/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of background writes: a copy of the bytes, or pages that are lent. */
#ifndef SDP_ZCOPY_BACKGROUND_MEM_H
#define SDP_ZCOPY_BACKGROUND_MEM_H

#include "../conn/sock.h"

/* Most bytes in the memory of one background write. */
#define SDP_BACKGROUND_MAX	(256 << 10)
/* Most pages, as the first byte may lie anywhere in its page. */
#define SDP_BACKGROUND_PAGES	(SDP_BACKGROUND_MAX / PAGE_SIZE + 1)

/**
 * struct sdp_background_mem - memory that holds the bytes of a background write
 * @pages: its pages, and the bytes in them
 * @copies: buffers that the pages belong to; empty if they are lent, with a
 *	reference on each
 * @lender: tells the application when lent pages are no longer in use, with a
 *	reference; or NULL
 * @list: list of @pages
 */
struct sdp_background_mem {
	struct sdp_pages pages;
	struct sk_buff_head copies;
	struct ubuf_info *lender;
	struct page *list[SDP_BACKGROUND_PAGES];
};

/**
 * sdp_background_mem_lent() - are the pages lent?
 * @m: the memory, which has bytes
 *
 * Return: false if they are a copy.
 */
static inline bool sdp_background_mem_lent(const struct sdp_background_mem *m)
{
	return skb_queue_empty(&m->copies);
}

void sdp_background_mem_init(struct sdp_background_mem *m);
struct sk_buff *sdp_background_mem_copy(struct sdp_sock *ssk,
					struct sdp_pages *p,
					struct iov_iter *from, u32 bytes);
u32 sdp_background_mem_lendable(const struct iov_iter *from, u32 max);
void sdp_background_mem_lend(struct sdp_background_mem *m,
			     struct ubuf_info *lender);
u32 sdp_background_mem_add(struct sdp_pages *p, struct iov_iter *from, u32 max);
bool sdp_background_mem_full(const struct sdp_background_mem *m);
void sdp_background_mem_drop(struct sdp_pages *p, unsigned int n);
void sdp_background_mem_free(struct sdp_sock *ssk, struct sdp_background_mem *m,
			     const struct sdp_link *link);
u32 sdp_background_mem_refer(const struct sdp_background_mem *m, u32 at,
			     struct sk_buff *skb, u32 bytes, int frags);

#endif /* SDP_ZCOPY_BACKGROUND_MEM_H */
