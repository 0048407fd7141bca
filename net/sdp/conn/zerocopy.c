// SPDX-License-Identifier: GPL-2.0
/*
 * Zero-copy sends: MSG_ZEROCOPY and MSG_SPLICE_PAGES.
 *
 * A segment refers to the pages of a write instead of holding a copy. There are
 * two kinds of pages.
 *
 * MSG_SPLICE_PAGES hands over pages of files, pipes or the kernel. We only take
 * a reference on them. As with TCP, the peer may see what is written to them
 * before they are sent.
 *
 * MSG_ZEROCOPY lends pages of the application, which has to know when it may
 * write to them again. A segment that refers to them carries a ubuf_info. The
 * segment's skb is freed when it has arrived, or when it never will. If that
 * drops the last reference on the ubuf_info, a report goes into the error queue
 * (zerocopy_report.c), or io_uring is told.
 *
 * Loopback hands the sender's own skb to the peer, which may keep it unread for
 * as long as it likes. A sender must not wait for that. So there pages of the
 * application are copied, and the report says so, as with TCP.
 */
#include <linux/errqueue.h>

#include "zerocopy.h"
#include "zerocopy_report.h"

/*
 * Shorter pieces are copied. That is cheaper, and it saves one of the few page
 * fragments.
 */
#define REFER_MIN	256

static u32 refer_min(const struct sdp_sock *ssk)
{
	return min_t(u32, REFER_MIN, sdp_engine_payload_max(&ssk->engine) / 4);
}

/*
 * Is it faster to refer to the pages of this write than to copy them?
 *
 * A message has few page fragments. Single pages, as most files have them,
 * would fill these with a short message, and many short messages cost more than
 * the copies into a long one. So single pages pay only if the fragments can
 * hold a full message. A large folio is one fragment. Where the transport hands
 * over the buffer itself (loopback), the peer reads in the pages at no cost.
 */
static bool refs_pay(const struct sdp_sock *ssk, const struct iov_iter *from)
{
	return !ssk->tx_user_pages ||
	       ssk->tx_frags * PAGE_SIZE >=
		       sdp_engine_payload_max(&ssk->engine) ||
	       (iov_iter_is_bvec(from) && PageCompound(from->bvec->bv_page));
}

/**
 * sdp_refs_begin() - find out which pages a write may refer to
 * @ssk: socket, with tx_mutex
 * @msg: the write, of which nothing has been taken yet
 * @refs: filled in
 *
 * This gives the write's report its number, and a call that fails before its
 * first byte gives the number back. So the caller holds tx_mutex until it has
 * taken a byte, or until sdp_refs_end() or sdp_refs_undo().
 *
 * Return: 0 or -ENOBUFS.
 */
int sdp_refs_begin(struct sdp_sock *ssk, const struct msghdr *msg,
		   struct sdp_refs *refs)
{
	struct ubuf_info *user = msg->msg_ubuf;
	struct sock *sk = &ssk->sk;

	if (!(msg->msg_flags & MSG_ZEROCOPY)) {
		/*
		 * Before 6.5, MSG_SPLICE_PAGES may come from user space, where
		 * it has no meaning.
		 */
		refs->splice = (msg->msg_flags & MSG_SPLICE_PAGES) &&
			       !user_backed_iter(&msg->msg_iter);
		refs->pay = refs->splice && refs_pay(ssk, &msg->msg_iter);
		return 0;
	}
	if (!user && sock_flag(sk, SOCK_ZEROCOPY) && !refs->own) {
		refs->own = sdp_report_new(ssk, iov_iter_count(&msg->msg_iter));
		if (!refs->own)
			return -ENOBUFS;
	}
	if (refs->own)
		user = &refs->own->ubuf;
	refs->user = ssk->tx_user_pages ? user : NULL;
	if (refs->own && iov_iter_count(&msg->msg_iter) < refer_min(ssk))
		uarg_to_msgzc(refs->own->own)->zerocopy = 0;
	return 0;
}

/**
 * sdp_refs_end() - a write is over
 * @refs: as sdp_refs_begin() has left it, or zero
 * @taken: bytes of the write have been taken
 *
 * Drops our reference on the report. If nothing was taken, there is no report.
 */
void sdp_refs_end(struct sdp_refs *refs, bool taken)
{
	if (!refs->own)
		return;
	if (!taken) {
		sdp_report_undo(refs->own);
		return;
	}
	/* All was copied: say so in the report. */
	if (!refs->user)
		uarg_to_msgzc(refs->own->own)->zerocopy = 0;
	net_zcopy_put(&refs->own->ubuf);
}

/**
 * sdp_refs_undo() - a write is about to drop tx_mutex before its first byte
 * @refs: as sdp_refs_begin() has left it; zeroed
 *
 * The write calls sdp_refs_begin() again when it has the mutex again.
 */
void sdp_refs_undo(struct sdp_refs *refs)
{
	sdp_refs_end(refs, false);
	memset(refs, 0, sizeof(*refs));
}

/**
 * sdp_refs_fit() - may a segment refer to the pages of a write?
 * @refs: the write's
 * @skb: the segment
 *
 * A segment has room for one ubuf_info only. A block never refers to pages of
 * the application, because it is reused.
 *
 * Return: true when it may, or when the write lends no pages.
 */
bool sdp_refs_fit(const struct sdp_refs *refs, struct sk_buff *skb)
{
	if (!refs->user)
		return true;
	return !sdp_buf_cb(skb)->reused &&
	       (!skb_zcopy(skb) || skb_zcopy(skb) == refs->user);
}

/*
 * Does @page at @offset follow a fragment, in memory that shares its reference
 * count?
 */
static bool refs_follow_frag(const skb_frag_t *frag, struct page *page,
			     size_t offset)
{
	struct page *first = skb_frag_page(frag);
	size_t end = skb_frag_off(frag) + skb_frag_size(frag);

	return compound_head(page) == compound_head(first) &&
	       page_to_pfn(page) == page_to_pfn(first) + (end >> PAGE_SHIFT) &&
	       offset == offset_in_page(end);
}

/**
 * sdp_refs_add_frag() - let a message refer to part of a page
 * @skb: message; the caller counts the bytes in its lengths
 * @most: largest number of fragments
 * @page: the page; gets a reference, unless the last fragment's is enough
 * @offset: offset of the first byte in @page
 * @n: number of bytes
 *
 * Return: false if no fragment is left.
 */
bool sdp_refs_add_frag(struct sk_buff *skb, int most, struct page *page,
		       u32 offset, u32 n)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	int i = info->nr_frags;

	if (i && refs_follow_frag(&info->frags[i - 1], page, offset)) {
		skb_frag_size_add(&info->frags[i - 1], n);
		return true;
	}
	if (i >= most)
		return false;
	get_page(page);
	skb_fill_page_desc_noacc(skb, i, page, offset, n);
	return true;
}

/*
 * The next page of a write, with a reference if it is the application's.
 * Returns NULL when its @n bytes have to be copied, or with an error or 0 in
 * @n.
 */
static struct page *refs_next_page(struct sdp_refs *refs, struct iov_iter *from,
				   u32 max, u32 least, size_t *offset,
				   ssize_t *n)
{
	struct page *page;

	if (refs->user)
		*n = iov_iter_get_pages2(from, &page, max, 1, offset);
	else
		*n = sdp_iter_page(from, max, &page, offset);
	if (*n <= 0)
		return NULL;
	if (*n >= least && sendpage_ok(page))
		return page;
	if (refs->user)
		put_page(page);
	iov_iter_revert(from, *n);
	return NULL;
}

/**
 * sdp_refs_add_page() - let a segment refer to the next page of a write
 * @ssk: socket, with tx_mutex
 * @skb: segment that is held back for this write, not a block
 * @refs: which pages the write may refer to
 * @from: bytes of the write; advanced
 * @part: in: most bytes to take; out, if none is taken: bytes to copy instead,
 *	or 0 when the segment has no fragment left
 *
 * Return: bytes taken; 0 if none, see @part; or an errno.
 */
int sdp_refs_add_page(struct sdp_sock *ssk, struct sk_buff *skb,
		      struct sdp_refs *refs, struct iov_iter *from, u32 *part)
{
	struct page *page;
	size_t offset;
	ssize_t n;
	bool fits;

	page = refs_next_page(refs, from, *part, refer_min(ssk), &offset, &n);
	if (n <= 0)
		return n ?: -EFAULT;
	/* Also if the bytes are copied: keeps the reports in write order. */
	if (refs->user)
		skb_zcopy_set(skb, refs->user, NULL);
	if (!page) {
		*part = n;
		return 0;
	}
	fits = sdp_refs_add_frag(skb, ssk->tx_frags, page, offset, n);
	if (refs->user)
		put_page(page);
	if (!fits) {
		iov_iter_revert(from, n);
		*part = 0;
		return 0;
	}
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
	SDP_ADD(sock_net(&ssk->sk), BytesReferenced, n);
	return n;
}

/**
 * sdp_zerocopy_recv_report() - recvmsg(2) with MSG_ERRQUEUE
 * @ssk: socket
 * @msg: gets the report, as a control message of the same level as with TCP
 *
 * Return: 0, because a report has no data; or -EAGAIN when there is none.
 */
int sdp_zerocopy_recv_report(struct sdp_sock *ssk, struct msghdr *msg)
{
	struct {
		struct sock_extended_err ee;
		union {
			struct sockaddr_in v4;
			struct sockaddr_in6 v6;
		} offender;
	} report = { };
	struct sk_buff *skb = sock_dequeue_err_skb(&ssk->sk);
	size_t len = offsetof(typeof(report), offender);

	if (!skb)
		return -EAGAIN;
	report.ee = SKB_EXT_ERR(skb)->ee;
	if (READ_ONCE(ssk->v6))
		put_cmsg(msg, SOL_IPV6, IPV6_RECVERR,
			 len + sizeof(report.offender.v6), &report);
	else
		put_cmsg(msg, SOL_IP, IP_RECVERR,
			 len + sizeof(report.offender.v4), &report);
	msg->msg_flags |= MSG_ERRQUEUE;
	consume_skb(skb);
	return 0;
}

/**
 * sdp_set_zerocopy() - set SO_ZEROCOPY or SDP_ZEROCOPY
 * @sk: socket, not locked
 * @value: an int, 0 or 1
 * @len: length of @value, bytes
 *
 * Return: 0 or an errno.
 */
int sdp_set_zerocopy(struct sock *sk, sockptr_t value, unsigned int len)
{
	int val;

	if (len < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, value, sizeof(val)))
		return -EFAULT;
	if (val < 0 || val > 1)
		return -EINVAL;
	lock_sock(sk);
	sock_valbool_flag(sk, SOCK_ZEROCOPY, val);
	release_sock(sk);
	return 0;
}
