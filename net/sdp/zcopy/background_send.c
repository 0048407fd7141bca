// SPDX-License-Identifier: GPL-2.0
/*
 * Background writes: the writer's side.
 *
 * A writer takes the bytes of its write: it copies them, or the program lends
 * their pages (background_mem.c). It queues them as an open background write
 * and closes that, which registers the memory and lets the connection begin
 * with it (background.c).
 *
 * sendfile(2) hands over at most 64 KiB at a time, and says by MSG_MORE that
 * more comes. So a background write of spliced pages stays open for the next
 * call, which adds to it (sdp_sock.background_open), while the peer gets what
 * is before it. The writer closes it when it is full, when the send buffer is
 * full, before other bytes follow, before a sleep, and at the end of the
 * splice. If something else ends the hold of the send queue (tx_hold), such as
 * the timer that bounds MSG_MORE, its bytes go in messages.
 *
 * Writers have tx_mutex. Only they set background_open and add pages.
 */
#include "../conn/conn.h"
#include "../conn/memory.h"
#include "../conn/output.h"
#include "../conn/tx_queue.h"
#include "../conn/zerocopy.h"
#include "background.h"
#include "background_send.h"
#include "zcopy.h"

/*
 * Most background writes at once: each one has memory registered. What exceeds
 * that goes in messages, which is dear for lent pages, so it is the exception:
 * a send buffer of 4 MiB has room for as many of 64 KiB.
 */
#define BACKGROUND_QUEUED	64

/* Take the first bytes of a write. Returns false if that fails. */
static bool background_take(struct sdp_background *b,
			    const struct sdp_refs *refs, struct iov_iter *from,
			    u32 bytes)
{
	if (!sdp_refs_lent(refs)) {
		if (!sdp_background_mem_copy(b->ssk, &b->bytes, from, bytes))
			return false;
		b->charged = b->bytes.copy->truesize;
		return true;
	}
	sdp_background_mem_lend(&b->bytes, refs->user);
	b->charged = sdp_background_mem_add(&b->bytes.pages, from, bytes);
	return b->charged;
}

/* The segment that marks its place in the send queue. */
static struct sk_buff *background_segment(struct sdp_background *b)
{
	struct sk_buff *skb = alloc_skb(0, b->ssk->sk.sk_allocation);

	if (!skb)
		return NULL;
	sdp_buf_cb(skb)->payload = 0;
	sdp_buf_cb(skb)->reused = false;
	sdp_buf_cb(skb)->urgent = false;
	sdp_buf_cb(skb)->declined = false;
	sdp_buf_cb(skb)->background = b;
	b->charged += skb->truesize;
	/* io_uring takes bytes for copied that were in no skb. */
	if (b->bytes.lender)
		skb_zcopy_set(skb, b->bytes.lender, NULL);
	return skb;
}

/*
 * Make a background write of up to @bytes. Returns NULL if that is not possible
 * for any reason, with @from as it was.
 */
static struct sdp_background *background_make(struct sdp_sock *ssk,
					      const struct sdp_refs *refs,
					      struct iov_iter *from, u32 bytes)
{
	struct sdp_background *b = sdp_background_new(ssk);
	size_t before = iov_iter_count(from);

	if (!b)
		return NULL;
	if (background_take(b, refs, from, bytes))
		b->skb = background_segment(b);
	if (b->skb)
		return b;
	iov_iter_revert(from, before - iov_iter_count(from));
	sdp_background_free(b);
	return NULL;
}

static void background_count(struct sdp_sock *ssk,
			     const struct sdp_background *b, u32 bytes)
{
	struct net *net = sock_net(&ssk->sk);

	SDP_ADD(net, BackgroundBytes, bytes);
	if (!b->bytes.copy)
		SDP_ADD(net, BytesReferenced, bytes);
}

/*
 * Add it to the send queue, open. Returns false if there is no connection for
 * it.
 */
static bool background_queue(struct sdp_sock *ssk, struct sdp_background *b)
{
	struct sdp_todo todo = { };
	bool may;

	sdp_conn_lock(ssk);
	may = sdp_is_established(ssk) && !sdp_tx_error(&ssk->sk);
	if (may) {
		ssk->tx_hold = true;
		ssk->tx_was_full = false;
		ssk->tx_outq += sdp_background_left(b);
		ssk->background_open = b;
		WRITE_ONCE(ssk->background, ssk->background + 1);
		sdp_memory_charge_tx(ssk, b->charged);
		__skb_queue_tail(&ssk->tx_queue, b->skb);
		SDP_INC(sock_net(&ssk->sk), BackgroundWrites);
		background_count(ssk, b, sdp_background_left(b));
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
	return may;
}

/* The open background write, with a reference, or NULL. */
static struct sdp_background *background_get_open(struct sdp_sock *ssk)
{
	struct sdp_background *b;

	if (!READ_ONCE(ssk->background_open))
		return NULL;
	sdp_conn_lock(ssk);
	b = ssk->background_open;
	if (b)
		refcount_inc(&b->refs);
	spin_unlock_bh(&ssk->lock);
	return b;
}

/*
 * Count the pages that @all has in addition as part of @b. Returns false if @b
 * is not open any more.
 */
static bool background_grow(struct sdp_sock *ssk, struct sdp_background *b,
			    const struct sdp_pages *all)
{
	u32 n = all->len - b->bytes.pages.len;
	bool may;

	sdp_conn_lock(ssk);
	may = ssk->background_open == b &&
	      skb_peek_tail(&ssk->tx_queue) == b->skb;
	if (may) {
		ssk->tx_hold = true;
		ssk->tx_was_full = false;
		ssk->tx_outq += n;
		b->charged += n;
		b->bytes.pages = *all;
		sdp_memory_charge_tx(ssk, n);
		background_count(ssk, b, n);
	}
	spin_unlock_bh(&ssk->lock);
	return may;
}

/*
 * Add pages of the next write to the open background write, up to @max bytes.
 * Returns the number of bytes; 0 if there is none, or if these pages do not
 * continue its region.
 */
static u32 background_append(struct sdp_sock *ssk, struct iov_iter *from,
			     u32 max)
{
	struct sdp_background *b = background_get_open(ssk);
	struct sdp_pages all;
	u32 n;

	if (!b)
		return 0;
	/* The connection does not see the pages that are not counted yet. */
	all = b->bytes.pages;
	n = sdp_background_mem_add(&all, from, max);
	if (n && !background_grow(ssk, b, &all)) {
		sdp_background_mem_drop(&all, b->bytes.pages.n);
		iov_iter_revert(from, n);
		n = 0;
	}
	sdp_background_put(b);
	return n;
}

/* Register the memory if it is worth it. Returns false if it is not. */
static bool background_map(struct sdp_background *b, struct sdp_link **link,
			   struct sdp_mem **mem)
{
	if (!sdp_zcopy_worth(b->ssk, b->bytes.pages.len))
		return false;
	*link = sdp_conn_use_link(b->ssk);
	if (!*link)
		return false;
	*mem = sdp_zcopy_map(b->ssk, *link, &b->bytes.pages);
	return !IS_ERR(*mem);
}

/**
 * sdp_background_close() - let the open background write go, if there is one
 * @ssk: socket, with tx_mutex
 *
 * May sleep.
 */
void sdp_background_close(struct sdp_sock *ssk)
{
	struct sdp_background *b = background_get_open(ssk);
	struct sdp_link *link = NULL;
	struct sdp_mem *mem = NULL;
	struct sdp_todo todo = { };
	bool mapped;

	if (!b)
		return;
	mapped = background_map(b, &link, &mem);
	sdp_conn_lock(ssk);
	/* Its end unmaps the memory, whatever has happened meanwhile. */
	b->srcavail.link = link;
	b->srcavail.mem = mapped ? mem : NULL;
	if (ssk->background_open == b) {
		b->by_message = !mapped;
		ssk->background_open = NULL;
		ssk->tx_hold = false;
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
	sdp_background_put(b);
}

/*
 * Free bytes of the send buffer, or as many as are worth RDMA: like TCP, a
 * write that finds any room may exceed SO_SNDBUF by a segment.
 */
static int background_room(const struct sdp_sock *ssk)
{
	int size = READ_ONCE(ssk->sk.sk_sndbuf);
	int room = size - READ_ONCE(ssk->sk.sk_wmem_queued);
	u32 least = sdp_zcopy_threshold(ssk);

	return room > 0 && least <= (u32)size ? max_t(int, room, least) : room;
}

/*
 * Number of bytes in the next pieces of a write that are small by themselves.
 * The program's own memory is used for a large one, if the writer may wait.
 */
static u32 background_small_pieces(const struct sdp_sock *ssk,
				   const struct iov_iter *from)
{
	const struct iovec *piece;
	size_t n = 0, skip = from->iov_offset;

	if (!iter_is_iovec(from))
		return 0;
	for (piece = sdp_iter_iov(from); n < SDP_BACKGROUND_MAX; piece++) {
		if (n == iov_iter_count(from) ||
		    sdp_zcopy_worth(ssk, piece->iov_len - skip))
			break;
		n = min(n + piece->iov_len - skip, iov_iter_count(from));
		skip = 0;
	}
	return min_t(size_t, n, SDP_BACKGROUND_MAX);
}

/* May the bytes of this write go in the background at all? */
static bool background_may(const struct sdp_sock *ssk, const struct msghdr *msg,
			   const struct sdp_refs *refs)
{
	if (sdp_engine_by_nic(&ssk->engine) || (msg->msg_flags & MSG_OOB) ||
	    READ_ONCE(ssk->tx_mode) == SDP_MODE_BUFFERED)
		return false;
	/* Registration allocates as it likes. */
	if ((ssk->sk.sk_allocation & GFP_KERNEL) != GFP_KERNEL)
		return false;
	return sdp_refs_lent(refs) || user_backed_iter(&msg->msg_iter);
}

/* Does more of a splice follow its next @n bytes? */
static bool background_more(const struct sdp_sock *ssk, struct msghdr *msg,
			    const struct sdp_refs *refs, u32 n)
{
	return refs->splice &&
	       (msg_data_left(msg) > n || (msg->msg_flags & MSG_MORE) ||
		READ_ONCE(ssk->opt.cork));
}

/*
 * Number of bytes for a new background write; 0 if the next bytes do not go
 * this way. Half of the threshold is enough if more of a splice is likely to
 * come, but a splice to which nothing is added takes twice as much: messages
 * are faster with files.
 */
static u32 background_bytes(struct sdp_sock *ssk, struct msghdr *msg,
			    const struct sdp_refs *refs, long timeo, u32 max)
{
	u32 n = min_t(u32, max, SDP_BACKGROUND_MAX);

	if (READ_ONCE(ssk->background) >= BACKGROUND_QUEUED)
		return 0;
	if (sdp_refs_lent(refs))
		n = sdp_background_mem_lendable(&msg->msg_iter, n);
	else if (timeo && !READ_ONCE(ssk->background))
		n = min(n, background_small_pieces(ssk, &msg->msg_iter));
	if (background_more(ssk, msg, refs, n))
		return sdp_zcopy_worth(ssk, 2 * n) ? n : 0;
	return sdp_zcopy_worth(ssk, refs->splice ? n / 2 : n) ? n : 0;
}

/*
 * May the open background write wait for more? It waits only while the peer
 * gets what is before it, and not for room in the send buffer.
 */
static bool background_may_wait(struct sdp_sock *ssk)
{
	struct sdp_background *b;
	bool may;

	sdp_conn_lock(ssk);
	b = ssk->background_open;
	may = b && !sdp_background_mem_full(&b->bytes.pages) &&
	      sk_stream_memory_free(&ssk->sk) &&
	      ssk->tx_outq > b->bytes.pages.len;
	spin_unlock_bh(&ssk->lock);
	return may;
}

/* May the memory of a background write be allocated? */
static bool background_memory(struct sdp_sock *ssk, u32 bytes)
{
	bool may;

	sdp_conn_lock(ssk);
	may = sdp_memory_for_write(ssk, SKB_TRUESIZE(PAGE_ALIGN(bytes)));
	spin_unlock_bh(&ssk->lock);
	return may;
}

/*
 * Begin a background write with the next bytes. Returns their number; 0 if they
 * have to go in messages; or -EPIPE.
 */
static int background_begin(struct sdp_sock *ssk, struct msghdr *msg,
			    const struct sdp_refs *refs, long timeo, u32 max)
{
	u32 n = background_bytes(ssk, msg, refs, timeo, max);
	struct sdp_background *b;

	if (!n || !background_memory(ssk, n))
		return 0;
	b = background_make(ssk, refs, &msg->msg_iter, n);
	if (!b)
		return 0;
	n = sdp_background_left(b);
	if (background_queue(ssk, b))
		return n;
	kfree_skb(b->skb);
	sdp_background_free(b);
	return -EPIPE;
}

/**
 * sdp_background_send() - take bytes of a write for RDMA in the background (B8)
 * @ssk: socket, with tx_mutex; there is room in the send buffer
 * @msg: the write; advanced
 * @refs: pages that it lends
 * @timeo: how long the writer may wait. If it may, and lends no pages, its
 *	bytes are taken only if they are in pieces that are small by themselves,
 *	or if those of an earlier write are in the background: they must not
 *	overtake them
 *
 * Return: number of bytes taken; 0 when the next bytes have to go in messages;
 * or -EPIPE.
 */
int sdp_background_send(struct sdp_sock *ssk, struct msghdr *msg,
			const struct sdp_refs *refs, long timeo)
{
	int room = background_room(ssk), n = 0;

	if (room > 0 && background_may(ssk, msg, refs)) {
		room = min_t(size_t, room, msg_data_left(msg));
		if (refs->splice && READ_ONCE(ssk->background_open) &&
		    background_memory(ssk, min(room, SDP_BACKGROUND_MAX)))
			n = background_append(ssk, &msg->msg_iter, room);
		if (!n) {
			sdp_background_close(ssk);
			n = background_begin(ssk, msg, refs, timeo, room);
		}
	}
	if (n <= 0 || !background_more(ssk, msg, refs, 0) ||
	    !background_may_wait(ssk))
		sdp_background_close(ssk);
	return n;
}
