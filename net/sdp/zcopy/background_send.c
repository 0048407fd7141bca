// SPDX-License-Identifier: GPL-2.0
/*
 * Background writes: the writer's side.
 *
 * A writer takes the bytes of its write: it copies them, or the program lends
 * their pages (background_mem.c). It queues them as an open background write
 * (sdp_sock.background_open) and closes that, which registers the memory and
 * lets the connection begin with it (background.c).
 *
 * One large transfer costs less than several small ones. So a background write
 * stays open while it has to wait for its turn, and the next call adds to it.
 * The writer closes it when it is full, when the send buffer is full, and
 * before other bytes follow. Otherwise the connection closes it when what is
 * before it begins to move, or has gone.
 *
 * sendfile(2) hands over at most 64 KiB at a time, and says by MSG_MORE that
 * more comes. Such a background write stays open as long as the peer gets
 * anything that is before it, and the send queue is held back (tx_hold), as it
 * is for a segment. The timer bounds that.
 *
 * Writers have tx_mutex. Only they set background_open and add to it.
 */
#include "../conn/conn.h"
#include "../conn/memory.h"
#include "../conn/output.h"
#include "../conn/tx_queue.h"
#include "../conn/zerocopy.h"
#include "background.h"
#include "background_send.h"
#include "pin.h"
#include "zcopy.h"

/*
 * Most background writes at once: all but the open one have memory registered,
 * or are about to. What exceeds
 * that goes in messages, which is dear for lent pages, so it is the exception:
 * a send buffer of 4 MiB has room for as many of 64 KiB.
 */
#define BACKGROUND_QUEUED	64

/*
 * Take the next bytes of a write: copy them, with *@copy set to a buffer to be
 * added, or take references to their pages. @p: its pages so far. Returns the
 * number of bytes; 0 with @from as it was if there are none.
 */
static u32 background_take(struct sdp_sock *ssk, const struct sdp_refs *refs,
			   struct sdp_pages *p, struct iov_iter *from,
			   u32 bytes, struct sk_buff **copy)
{
	size_t before = iov_iter_count(from);

	*copy = NULL;
	if (sdp_refs_lent(refs))
		return sdp_background_mem_add(p, from, bytes);
	*copy = sdp_background_mem_copy(ssk, p, from, bytes);
	if (!IS_ERR(*copy))
		return bytes;
	*copy = NULL;
	iov_iter_revert(from, before - iov_iter_count(from));
	return 0;
}

/*
 * Count what @all has in addition as part of @b. Returns the bytes that the
 * send buffer is charged for it.
 */
static u32 background_own(struct sdp_background *b, const struct sdp_pages *all,
			  struct sk_buff *copy)
{
	u32 charge = all->len - b->bytes.pages.len;

	if (copy) {
		charge = copy->truesize;
		__skb_queue_tail(&b->bytes.copies, copy);
	} else if (!sdp_background_mem_lent(&b->bytes)) {
		/* The page has been charged with its buffer. */
		charge = 0;
	}
	b->bytes.pages = *all;
	b->charged += charge;
	return charge;
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
	struct sdp_pages pages;
	struct sk_buff *copy;
	u32 n;

	if (!b)
		return NULL;
	if (sdp_refs_lent(refs))
		sdp_background_mem_lend(&b->bytes, refs->user);
	pages = b->bytes.pages;
	n = background_take(ssk, refs, &pages, from, bytes, &copy);
	if (n) {
		background_own(b, &pages, copy);
		b->skb = background_segment(b);
		if (b->skb)
			return b;
		iov_iter_revert(from, n);
	}
	sdp_background_free(b);
	return NULL;
}

static void background_count(struct sdp_sock *ssk,
			     const struct sdp_background *b, u32 bytes)
{
	struct net *net = sock_net(&ssk->sk);

	SDP_ADD(net, BackgroundBytes, bytes);
	if (sdp_background_mem_lent(&b->bytes))
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
		WRITE_ONCE(ssk->background_open, b);
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
 * Count what @all has in addition as part of @b. Returns false if @b is not
 * open any more.
 */
static bool background_grow(struct sdp_sock *ssk, struct sdp_background *b,
			    const struct sdp_pages *all, struct sk_buff *copy)
{
	u32 n = all->len - b->bytes.pages.len;
	bool may;

	sdp_conn_lock(ssk);
	may = ssk->background_open == b &&
	      skb_peek_tail(&ssk->tx_queue) == b->skb;
	if (may) {
		ssk->tx_was_full = false;
		ssk->tx_outq += n;
		sdp_memory_charge_tx(ssk, background_own(b, all, copy));
		background_count(ssk, b, n);
	}
	spin_unlock_bh(&ssk->lock);
	return may;
}

/*
 * How many of the @left bytes of a write, for which there is @room, are to be
 * added to @b? A rest of a copy that is too small for RDMA does not pay: then
 * all of it is for a new background write.
 */
static u32 background_more_room(struct sdp_background *b,
				const struct sdp_refs *refs, size_t left,
				u32 room)
{
	bool lent = sdp_background_mem_lent(&b->bytes);
	u32 n = min_t(u32, room, SDP_BACKGROUND_MAX - b->bytes.pages.len);

	if (lent != sdp_refs_lent(refs) || refs->user || b->bytes.lender)
		return 0;
	return lent || n == left || sdp_zcopy_worth(b->ssk, left - n) ? n : 0;
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
 * Add bytes of the next write to the open background write, at most @room.
 * Returns the number of bytes; 0 if there is none, or if these bytes do not
 * continue its region.
 */
static u32 background_append(struct sdp_sock *ssk, struct msghdr *msg,
			     const struct sdp_refs *refs, u32 room)
{
	struct sdp_background *b = background_get_open(ssk);
	struct sk_buff *copy;
	struct sdp_pages all;
	u32 n;

	if (!b)
		return 0;
	/* The connection does not see what is not counted yet. */
	all = b->bytes.pages;
	n = background_more_room(b, refs, msg_data_left(msg), room);
	if (n && !background_memory(ssk, n))
		n = 0;
	if (n)
		n = background_take(ssk, refs, &all, &msg->msg_iter, n, &copy);
	if (n && !background_grow(ssk, b, &all, copy)) {
		if (sdp_refs_lent(refs))
			sdp_background_mem_drop(&all, b->bytes.pages.n);
		kfree_skb(copy);
		iov_iter_revert(&msg->msg_iter, n);
		n = 0;
	}
	sdp_background_put(b);
	return n;
}

/**
 * sdp_background_close() - let the open background write go, if there is one
 * @ssk: socket, with tx_mutex
 *
 * May sleep.
 */
void sdp_background_close(struct sdp_sock *ssk)
{
	struct sdp_background *b;

	if (!READ_ONCE(ssk->background_open))
		return;
	sdp_conn_lock(ssk);
	b = ssk->background_open;
	if (b) {
		refcount_inc(&b->refs);
		WRITE_ONCE(ssk->background_open, NULL);
		ssk->tx_hold = false;
	}
	spin_unlock_bh(&ssk->lock);
	if (!b)
		return;
	sdp_background_make_ready(b);
	sdp_background_put(b);
}

/*
 * Number of bytes in the next pieces of a write that are small by themselves.
 * The program's own memory is used for a large region, if the writer may wait.
 */
static u32 background_small_pieces(const struct sdp_sock *ssk,
				   const struct iov_iter *from)
{
	struct iov_iter at = *from;
	size_t n = 0, piece;

	if (!iter_is_iovec(from) ||
	    !sdp_zcopy_worth(ssk, iov_iter_count(from)))
		return 0;
	for (; n < SDP_BACKGROUND_MAX && iov_iter_count(&at); n += piece) {
		piece = sdp_pin_span(&at, SIZE_MAX);
		if (sdp_zcopy_worth(ssk, piece))
			break;
		iov_iter_advance(&at, piece);
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
	else if (timeo && !READ_ONCE(ssk->background) &&
		 !(READ_ONCE(ssk->reader_late) &&
		   sdp_zcopy_fits(ssk, msg_data_left(msg))))
		n = min(n, background_small_pieces(ssk, &msg->msg_iter));
	if (background_more(ssk, msg, refs, n))
		return sdp_zcopy_worth(ssk, 2 * n) ? n : 0;
	return sdp_zcopy_worth(ssk, refs->splice ? n / 2 : n) ? n : 0;
}

/*
 * Is a background write before @b that moves already, or nothing at all? Then
 * @b gets ready now, and follows without a pause.
 */
static bool background_is_next(struct sdp_sock *ssk,
			       const struct sdp_background *b)
{
	struct sk_buff *head = skb_peek(&ssk->tx_queue);
	const struct sdp_background *first = sdp_buf_cb(head)->background;

	if (head == b->skb)
		return true;
	return first && (first->advertised || first->writing) &&
	       skb_peek_next(head, &ssk->tx_queue) == b->skb;
}

/*
 * May the open background write wait for more? It waits only while the peer
 * gets what is before it, and not for room in the send buffer. If the writer
 * has said that @more comes, the connection waits, too; else it closes the
 * background write when that is next.
 */
static bool background_leave_open(struct sdp_sock *ssk, bool more)
{
	struct sdp_background *b;
	bool may;

	sdp_conn_lock(ssk);
	b = ssk->background_open;
	may = b && !sdp_background_mem_full(&b->bytes) &&
	      sk_stream_memory_free(&ssk->sk) && !b->bytes.lender &&
	      (more ? ssk->tx_outq > b->bytes.pages.len :
		      !background_is_next(ssk, b));
	if (may)
		ssk->tx_hold = more;
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
 *	or if those of an earlier write are in the background, which they must
 *	not overtake, or if they have room and the peer's reader is late
 *
 * Return: number of bytes taken; 0 when the next bytes have to go in messages;
 * or -EPIPE.
 */
int sdp_background_send(struct sdp_sock *ssk, struct msghdr *msg,
			const struct sdp_refs *refs, long timeo)
{
	int room = sdp_zcopy_room(ssk), n = 0;

	if (room > 0 && background_may(ssk, msg, refs)) {
		room = min_t(size_t, room, msg_data_left(msg));
		n = background_append(ssk, msg, refs, room);
		if (!n) {
			sdp_background_close(ssk);
			n = background_begin(ssk, msg, refs, timeo, room);
		}
	}
	if (n <= 0 ||
	    !background_leave_open(ssk, background_more(ssk, msg, refs, 0)))
		sdp_background_close(ssk);
	return n;
}
