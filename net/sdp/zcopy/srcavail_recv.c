// SPDX-License-Identifier: GPL-2.0
/*
 * Reading by RDMA what the peer has offered (B3, B4, C3, C4).
 *
 * The bytes of an offer count as readable from the moment at which it has come: the first ones
 * were in its message, the rest is one RDMA read away. A reader that has taken all that came in
 * messages reads them straight into its own memory, if it has given enough of it. Else they are
 * read into a buffer of the kernel, which is queued like a message. Who has room for little at
 * all reads in small pieces: then the peer is asked to send the rest in messages.
 *
 * The place in the stream moves, or the buffer is queued, when the read completes and before the
 * peer is told: what it sends next belongs behind.
 *
 * A program that reads little first, and then much into a large buffer, gets
 * both so: the first call takes what came along (C4). Where nothing can be
 * read, or the peer has learnt to write, the answer to its offer asks for the
 * same: a beginning in a message, then a write into that buffer (C10).
 *
 * A peer whose offers are declined again and again makes no more. Who then waits with much room,
 * or would have to, brings them back.
 *
 * Who must not wait does not even do so for the fabric: see srcavail_recv_nowait.c.
 *
 * A read waits for the fabric, not for the peer's program. When that takes too long (the other
 * machine is gone) the watch of keepalive.c, or a kill, ends the connection, and with it the read.
 */
#include "../conn/sock.h"

/* Less than this, unless it is all there is, is not worth a registration. */
#define DIRECT_MIN	4096
/* What is read into the kernel's memory at once. */
#define STAGED_MAX	16384

/**
 * struct sdp_srcavail_recv - a read under way, on the reader's stack
 * @skb: where to, if not into the reader's memory; until it is queued
 * @n: bytes
 * @large: the first call that reads of the offer has memory that could have
 *	been advertised before
 * @done: they are here, and part of the stream
 */
struct sdp_srcavail_recv {
	struct sk_buff *skb;
	u32 n;
	bool large;
	bool done;
};

/**
 * sdp_was_read() - bytes have been read from the peer's memory, and are part of the stream
 * @ssk: socket, locked
 * @n: how many
 * @todo: wakes others that want to read
 */
void sdp_was_read(struct sdp_sock *ssk, u32 n, struct sdp_todo *todo)
{
	SDP_ADD(sock_net(&ssk->sk), RdmaReadBytes, n);
	ssk->bytes_received += n;
	ssk->rdma_received += n;
	ssk->rdma_read += n;
	ssk->last_received = jiffies;
	sdp_alive_heard(ssk);
	todo->wake |= SDP_WAKE_READ;
}

/**
 * sdp_srcavail_recv_end() - a read that a reader waits for is over
 * @ssk: socket, locked
 * @error: 0, and the bytes are here; -EAGAIN, and they are still to be had; or an errno
 * @todo: wakes others that want to read
 */
void sdp_srcavail_recv_end(struct sdp_sock *ssk, int error,
			   struct sdp_todo *todo)
{
	struct sdp_srcavail_recv *f = ssk->srcavail_rx;

	/* One that nobody waits for is ended by srcavail_recv_nowait.c. */
	if (!f)
		return;
	ssk->srcavail_rx = NULL;
	sdp_engine_rdma_read_end(&ssk->engine, !error);
	if (error == -EAGAIN)
		SDP_INC(sock_net(&ssk->sk), RdmaReadsVoid);
	if (error)
		return;
	f->done = true;
	if (f->skb)
		sdp_queue_read(ssk, f->skb, f->n);
	else
		sdp_passed(ssk, f->n);
	f->skb = NULL;
	sdp_was_read(ssk, f->n, todo);
}

/*
 * Straight into the reader's memory only what is next: the offer may have come since the reader
 * looked, and then its first bytes are in the queue.
 */
static bool begin(struct sdp_sock *ssk, struct sdp_link *link,
		  struct sdp_mem *mem, struct sdp_srcavail_recv *f)
{
	struct sdp_region from;
	bool posted = false;

	sdp_stream_lock(ssk);
	if (ssk->link == link && (f->skb || !ssk->rx_bytes) &&
	    sdp_engine_rdma_read_begin(&ssk->engine, f->n, &from)) {
		ssk->srcavail_rx = f;
		posted = link->ops->move(link, mem, &from);
		if (!posted) {
			sdp_engine_rdma_read_end(&ssk->engine, false);
			ssk->srcavail_rx = NULL;
		} else if (f->large) {
			/* It could have said so before, and had it written there (C1, C2). */
			sdp_engine_want_pipelined(&ssk->engine);
		}
		sdp_alive_watch(ssk);
	}
	spin_unlock_bh(&ssk->lock);
	return posted;
}

/* Fill @pages. Returns 0 or an errno. */
static int read_pages(struct sdp_sock *ssk, struct sdp_link *link,
		      const struct sdp_pages *pages,
		      struct sdp_srcavail_recv *f)
{
	struct sdp_mem *mem = sdp_map(ssk, link, pages);

	if (IS_ERR(mem))
		return PTR_ERR(mem);
	f->n = pages->len;
	if (begin(ssk, link, mem, f)) {
		sdp_await_move(ssk, link, mem);
		/* The connection may have been lost before it was told of the end. */
		sdp_stream_lock(ssk);
		if (ssk->srcavail_rx == f)
			ssk->srcavail_rx = NULL;
		spin_unlock_bh(&ssk->lock);
	}
	link->ops->unmap(link, mem);
	return f->done ? 0 : -EAGAIN;
}

/* Into the reader's own memory. Returns bytes or an errno. */
static int read_direct(struct sdp_sock *ssk, struct iov_iter *to, u32 n,
		       bool large)
{
	struct sdp_srcavail_recv f = { .large = large };
	struct sdp_pinned pin;
	struct sdp_link *link;
	int err = -EAGAIN;

	n = sdp_pin(&pin, to, n, SDP_MEM_READ_INTO);
	if (!n)
		return -EFAULT;
	link = sdp_link_use(ssk);
	if (link) {
		err = read_pages(ssk, link, &pin.mem, &f);
		link->ops->unuse(link);
	}
	sdp_unpin(&pin);
	if (err)
		return err;
	iov_iter_advance(to, n);
	return n;
}

/* Into a buffer that is queued like a message. Returns 0 or an errno. */
static int read_staged(struct sdp_sock *ssk, u32 n)
{
	struct page *pages[DIV_ROUND_UP(STAGED_MAX, PAGE_SIZE)];
	struct sdp_pages mem = { .pages = pages,
				 .len = n,
				 .use = SDP_MEM_READ_INTO };
	struct sdp_srcavail_recv f = { };
	struct sdp_link *link;
	int err = -EAGAIN;

	f.skb = sdp_buf_pages(n, 0, pages, &mem.n, ssk->sk.sk_allocation);
	if (!f.skb)
		return -ENOBUFS;
	link = sdp_link_use(ssk);
	if (link) {
		err = read_pages(ssk, link, &mem, &f);
		link->ops->unuse(link);
	}
	kfree_skb(f.skb);
	return err;
}

/*
 * With @write the peer is told that it could write the bytes into a reader's memory. Not if more
 * bytes lie in the queue than @seen.
 */
static void decline_if(struct sdp_sock *ssk, bool write, u32 seen)
{
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (ssk->rx_bytes <= seen) {
		if (write)
			sdp_engine_want_pipelined(&ssk->engine);
		sdp_engine_srcavail_decline(&ssk->engine);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

static void decline(struct sdp_sock *ssk, bool write)
{
	decline_if(ssk, write, U32_MAX);
}

/**
 * sdp_srcavail_recv_later() - a reader has room for what has not come yet (C3)
 * @ssk: socket, with rx_mutex
 * @room: bytes of its own memory, 0 if there is none that could be read into
 *
 * Much room: what comes next could be read by RDMA. If the peer has learnt that nobody reads
 * much, it is told that somebody does. That does not depend on what is in the
 * queue: a sender that stays ahead fills it, and every large read could be
 * served from there for ever.
 */
void sdp_srcavail_recv_later(struct sdp_sock *ssk, size_t room)
{
	struct sdp_todo todo = { };

	if (READ_ONCE(ssk->rx_mode) != SDP_MODE_BUFFERED ||
	    !sdp_rdma_worth(ssk, room))
		return;
	sdp_stream_lock(ssk);
	sdp_engine_large_recv(&ssk->engine);
	sdp_stream_progress(ssk, &todo);
	sdp_stream_unlock(ssk, &todo);
}

/**
 * sdp_srcavail_recv_arrived() - the peer has offered its memory
 * @ssk: socket, locked
 * @inlined: bytes of it that have come along
 */
void sdp_srcavail_recv_arrived(struct sdp_sock *ssk, u32 inlined)
{
	WRITE_ONCE(ssk->srcavail_rx_seq,
		   ssk->rx_read + ssk->rx_bytes - inlined);
	sdp_scan_watch(ssk);
}

/**
 * sdp_queue_full() - is there no room for what would be read by RDMA?
 * @ssk: socket
 *
 * Return: true when the receive buffer is full, or memory is short.
 */
bool sdp_queue_full(const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;

	return atomic_read(&sk->sk_rmem_alloc) >= READ_ONCE(sk->sk_rcvbuf) ||
	       sdp_memory_is_short(sk);
}

/* Into the queue; or the peer is asked for messages. */
static int stage(struct sdp_sock *ssk, u32 n, bool last)
{
	if (sdp_queue_full(ssk)) {
		decline(ssk, false);
		return 0;
	}
	if (read_staged(ssk, min_t(u32, n, STAGED_MAX)) || last)
		decline(ssk, false);
	return -EAGAIN;
}

/*
 * Without waiting. Who has room for little gets messages, as others do after their first read.
 * Returns 0: what there will be is not there yet.
 */
static int begin_only(struct sdp_sock *ssk, u32 room, bool small)
{
	if (small || sdp_queue_full(ssk) ||
	    !sdp_srcavail_recv_nowait(ssk, room))
		decline(ssk, false);
	return 0;
}

/*
 * Without RDMA read the peer may write into a reader's memory instead, once it has learnt to
 * (B5): then sinkavail_recv.c answers the offer. Returns 0, as there is nothing to be read.
 */
static int unreadable(struct sdp_sock *ssk, bool large)
{
	if (!large || READ_ONCE(ssk->rx_mode) != SDP_MODE_PIPELINED)
		decline(ssk, large);
	return 0;
}

/*
 * In Pipelined nothing comes along for a reader of little. If one of much has
 * followed before, the peer hears so; but not twice if none did. Returns
 * whether that is the answer.
 */
static bool asks_for_first(struct sdp_sock *ssk)
{
	if (READ_ONCE(ssk->rx_mode) != SDP_MODE_PIPELINED)
		return false;
	if (READ_ONCE(ssk->rx_body) != SDP_BODY_SEEN) {
		WRITE_ONCE(ssk->rx_body, SDP_BODY_NONE);
		return false;
	}
	WRITE_ONCE(ssk->rx_body, SDP_BODY_PROMISED);
	decline(ssk, true);
	return true;
}

/**
 * sdp_srcavail_recv_decline() - a reader waits who can do nothing with what the peer offers
 * @ssk: socket
 * @seen: bytes in the queue that it knows of
 *
 * An offer that has come since it looked has brought more along. It has to look again, which tells
 * how much room it has: the peer learns from the answer.
 */
void sdp_srcavail_recv_decline(struct sdp_sock *ssk, u32 seen)
{
	if (READ_ONCE(ssk->srcavail_rx_left) && !READ_ONCE(ssk->rx_reads))
		decline_if(ssk, false, seen);
}

/**
 * sdp_srcavail_recv() - read what the peer offers
 * @ssk: socket, with rx_mutex; all that came in messages has been read
 * @to: the reader's memory, or NULL when it wants to look or to pass on
 * @len: bytes that it has room for in all
 * @left: those of them that are still free
 * @enough: it has got enough already
 * @comes: how the call stands to the offer
 * @wait: it may wait
 *
 * Return: bytes put into @to; -EAGAIN when there may be something in the queue now; 0 when there
 * is nothing to be had but messages.
 */
int sdp_srcavail_recv(struct sdp_sock *ssk, struct iov_iter *to, size_t len,
		      size_t left, bool enough, enum sdp_comes comes, bool wait)
{
	u32 all = READ_ONCE(ssk->srcavail_rx_left);
	bool small = len < DIRECT_MIN, direct;
	int got = 0;
	u32 n;

	if (!all)
		return 0;
	if (small && len < all && asks_for_first(ssk))
		return 0;
	if (comes == SDP_COMES_NEXT &&
	    READ_ONCE(ssk->rx_mode) == SDP_MODE_COMBINED)
		WRITE_ONCE(ssk->rx_body, SDP_BODY_SEEN);
	if (!READ_ONCE(ssk->rx_reads))
		return unreadable(ssk, comes != SDP_COMES_ASKED);
	n = min_t(size_t, all, left);
	if (!wait)
		return begin_only(ssk, n, small && n < all);
	direct = to && user_backed_iter(to) && (n >= DIRECT_MIN || n == all);
	if (direct)
		got = read_direct(ssk, to, n, comes == SDP_COMES_FIRST);
	else if (enough && small)
		decline(ssk, false);
	/* It was not next. */
	if (got < 0 && READ_ONCE(ssk->rx_bytes))
		return -EAGAIN;
	if (got > 0 || enough)
		return max(got, 0);
	return stage(ssk, n, small || direct);
}
