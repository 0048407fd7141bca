// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that are sent without being copied.
 *
 * Two kinds come by sendmsg. MSG_SPLICE_PAGES hands over pages of files, pipes or the
 * kernel: a reference is all they need, and what is written to them meanwhile may be seen
 * by the peer, as with TCP. MSG_ZEROCOPY lends pages of the user, who wants to know when
 * he may write to them again: a segment that refers to them carries a ubuf_info, whose
 * last reference, dropped when the segment's skb is freed (it has arrived, or never
 * will), puts a report into the error queue or tells io_uring. All that is the kernel's
 * own machinery.
 *
 * User's pages are only lent where they come back by themselves. The loopback transport
 * lets the peer read in the sender's memory in its own time, and a sender must not wait
 * for that: there they are copied, and the report says so, as with TCP.
 */
#include <linux/errqueue.h>

#include "sock.h"

/* Smaller pieces are copied: that is cheaper, and spares one of the few fragments. */
#define REFER_MIN	256

static u32 refer_min(const struct sdp_sock *ssk)
{
	return min_t(u32, REFER_MIN, sdp_engine_payload_max(&ssk->engine) / 4);
}

/*
 * Is it worth while to refer to the pages of this write? A message has a few pieces only. Single
 * pages, as most files have them, make short messages of it, which cost more than the copies into
 * one as long as the peer takes. Large folios are one piece; and where the buffer itself is handed
 * over the peer reads in those pages, which costs nobody anything.
 */
static bool refs_pay(const struct sdp_sock *ssk, const struct iov_iter *from)
{
	return !ssk->tx_user_pages ||
	       ssk->tx_frags * PAGE_SIZE >=
		       sdp_engine_payload_max(&ssk->engine) ||
	       (iov_iter_is_bvec(from) && PageCompound(from->bvec->bv_page));
}

/**
 * sdp_refs_begin() - see what a write may refer to
 * @ssk: socket, with tx_mutex
 * @msg: the write, of which nothing has been taken yet
 * @refs: filled in
 *
 * The number of a report is given out here. A call that fails before its first byte takes
 * it back, so tx_mutex is held from here until one of the two is certain.
 *
 * Return: 0 or -ENOBUFS.
 */
int sdp_refs_begin(struct sdp_sock *ssk, const struct msghdr *msg,
		   struct sdp_refs *refs)
{
	struct ubuf_info *user = msg->msg_ubuf;
	struct sock *sk = &ssk->sk;

	if (!(msg->msg_flags & MSG_ZEROCOPY)) {
		/* Before 6.5 the flag may come from user space, where it means nothing. */
		refs->splice = (msg->msg_flags & MSG_SPLICE_PAGES) &&
			       !user_backed_iter(&msg->msg_iter) &&
			       refs_pay(ssk, &msg->msg_iter);
		return 0;
	}
	if (!user && sock_flag(sk, SOCK_ZEROCOPY) && !refs->own) {
		refs->own =
			sdp_zerocopy_alloc(sk, iov_iter_count(&msg->msg_iter));
		if (!refs->own)
			return -ENOBUFS;
	}
	refs->user = ssk->tx_user_pages ? user ?: refs->own : NULL;
	if (refs->own && iov_iter_count(&msg->msg_iter) < refer_min(ssk))
		uarg_to_msgzc(refs->own)->zerocopy = 0;
	return 0;
}

/**
 * sdp_refs_end() - a write is over
 * @refs: as sdp_refs_begin() has left it, or zero
 * @taken: something was taken
 */
void sdp_refs_end(struct sdp_refs *refs, bool taken)
{
	if (!refs->own)
		return;
	if (!taken) {
		net_zcopy_put_abort(refs->own, true);
		return;
	}
	/* All was copied, and nobody else has a reference. */
	if (!refs->user)
		uarg_to_msgzc(refs->own)->zerocopy = 0;
	net_zcopy_put(refs->own);
}

/**
 * sdp_refs_undo() - a write lets tx_mutex go before its first byte, and will begin again
 * @refs: as sdp_refs_begin() has left it; zero afterwards
 */
void sdp_refs_undo(struct sdp_refs *refs)
{
	sdp_refs_end(refs, false);
	memset(refs, 0, sizeof(*refs));
}

/**
 * sdp_refs_fit() - can a segment take what a write refers to?
 * @refs: the write's
 * @skb: the segment
 *
 * Return: false when it has lent pages of another write, for it can tell only one, or is
 * a block, which is used again.
 */
bool sdp_refs_fit(const struct sdp_refs *refs, struct sk_buff *skb)
{
	if (!refs->user)
		return true;
	return !sdp_buf_cb(skb)->again &&
	       (!skb_zcopy(skb) || skb_zcopy(skb) == refs->user);
}

/* Whether (@page, @offset) follows a fragment in memory that has one reference count. */
static bool follows(const skb_frag_t *frag, struct page *page, size_t offset)
{
	struct page *first = skb_frag_page(frag);
	size_t end = skb_frag_off(frag) + skb_frag_size(frag);

	return compound_head(page) == compound_head(first) &&
	       page_to_pfn(page) == page_to_pfn(first) + (end >> PAGE_SHIFT) &&
	       offset == offset_in_page(end);
}

/* Takes the caller's reference to @page. Returns false when there is no fragment left. */
static bool add_frag(struct sdp_sock *ssk, struct sk_buff *skb,
		     struct page *page, size_t offset, size_t n)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	int i = info->nr_frags;

	if (i && follows(&info->frags[i - 1], page, offset)) {
		skb_frag_size_add(&info->frags[i - 1], n);
		put_page(page);
	} else if (i < ssk->tx_frags) {
		skb_fill_page_desc_noacc(skb, i, page, offset, n);
	} else {
		return false;
	}
	info->flags |= SKBFL_SHARED_FRAG;
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
	return true;
}

/* The next page, with a reference; or NULL when its @n bytes have to be copied. */
static struct page *next_page(struct sdp_refs *refs, struct iov_iter *from,
			      u32 max, u32 least, size_t *offset, ssize_t *n)
{
	struct page *page;

	if (refs->user)
		*n = iov_iter_get_pages2(from, &page, max, 1, offset);
	else
		*n = sdp_iter_page(from, max, &page, offset);
	if (*n <= 0)
		return NULL;
	if (*n >= least && sendpage_ok(page)) {
		if (!refs->user)
			get_page(page);
		return page;
	}
	if (refs->user)
		put_page(page);
	iov_iter_revert(from, *n);
	return NULL;
}

/**
 * sdp_refer() - let a segment refer to the next page of a write
 * @ssk: socket, with tx_mutex
 * @skb: segment on hold, not a block
 * @refs: what may be referred to
 * @from: the write's bytes; advanced
 * @part: in: bytes, at most; out: when none is taken, bytes to copy instead, or 0 when
 *	the segment has no fragment left
 *
 * Return: bytes taken, 0 or an errno.
 */
int sdp_refer(struct sdp_sock *ssk, struct sk_buff *skb, struct sdp_refs *refs,
	      struct iov_iter *from, u32 *part)
{
	struct page *page;
	size_t offset;
	ssize_t n;

	page = next_page(refs, from, *part, refer_min(ssk), &offset, &n);
	if (n <= 0)
		return n ?: -EFAULT;
	/* Also where bytes are copied, so that reports come in the order of the writes. */
	if (refs->user)
		skb_zcopy_set(skb, refs->user, NULL);
	if (!page) {
		*part = n;
		return 0;
	}
	if (!add_frag(ssk, skb, page, offset, n)) {
		put_page(page);
		iov_iter_revert(from, n);
		*part = 0;
		return 0;
	}
	SDP_ADD(sock_net(&ssk->sk), BytesReferenced, n);
	return n;
}

/**
 * sdp_recv_report() - recvmsg(2) with MSG_ERRQUEUE
 * @ssk: socket
 * @msg: gets the report, as a control message of the level that TCP would use
 *
 * Return: 0, a report has no bytes of its own; or -EAGAIN when there is none.
 */
int sdp_recv_report(struct sdp_sock *ssk, struct msghdr *msg)
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
 * sdp_set_zerocopy() - SO_ZEROCOPY, SDP_ZEROCOPY
 * @sk: socket
 * @value: an int, 0 or 1
 * @len: its length
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
