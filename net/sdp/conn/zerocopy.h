/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SDP_CONN_ZEROCOPY_H
#define SDP_CONN_ZEROCOPY_H

#include "sock.h"

struct sdp_report;

/**
 * struct sdp_refs - pages that a write may refer to instead of copying them
 * @splice: it may refer to the pages of its iterator (MSG_SPLICE_PAGES), and
 *	nobody has to be told when they are no longer in use
 * @pay: for @splice: to refer to the pages in messages is faster than to copy
 * @user: it may refer to pages of the application (MSG_ZEROCOPY), and this
 *	tells the application when they are no longer in use; or NULL
 * @own: report of this write for the error queue, with our reference. NULL if
 *	io_uring supplies @user, or if no report is wanted
 */
struct sdp_refs {
	bool splice;
	bool pay;
	struct ubuf_info *user;
	struct sdp_report *own;
};

/* May a write refer to any pages? */
static inline bool sdp_refs_lent(const struct sdp_refs *refs)
{
	return refs->splice || refs->user;
}

/* Should a message refer to the pages of a write? */
static inline bool sdp_refs_any(const struct sdp_refs *refs)
{
	return (refs->splice && refs->pay) || refs->user;
}

int sdp_refs_begin(struct sdp_sock *ssk, const struct msghdr *msg,
		   struct sdp_refs *refs);
void sdp_refs_end(struct sdp_refs *refs, bool taken);
void sdp_refs_undo(struct sdp_refs *refs);
bool sdp_refs_fit(const struct sdp_refs *refs, struct sk_buff *skb);
bool sdp_refs_add_frag(struct sk_buff *skb, int most, struct page *page,
		       u32 offset, u32 n);
int sdp_refs_add_page(struct sdp_sock *ssk, struct sk_buff *skb,
		      struct sdp_refs *refs, struct iov_iter *from, u32 *part);
int sdp_zerocopy_recv_report(struct sdp_sock *ssk, struct msghdr *msg);
int sdp_set_zerocopy(struct sock *sk, sockptr_t value, unsigned int len);

#endif /* SDP_CONN_ZEROCOPY_H */
