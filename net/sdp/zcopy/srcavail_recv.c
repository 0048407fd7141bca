// SPDX-License-Identifier: GPL-2.0
/*
 * SrcAvail that we receive: read it by RDMA, or decline.
 *
 * Requirements B3, B4, C3 and C4, with B5 and C10.
 *
 * The bytes of a SrcAvail count as readable as soon as it has arrived: the
 * first ones came with it, the others are one RDMA read away. When a reader has
 * taken all that came in messages, it calls sdp_srcavail_recv() with rx_mutex,
 * and we read
 *
 *  - straight into its memory, if that is large enough, or
 *  - into a kernel buffer, which is queued like a message.
 *
 * If the whole call has little room, we read a first piece and then decline:
 * the peer sends the rest in messages.
 *
 * When an RDMA read completes, the reader's position advances or the buffer is
 * queued before the peer is told. So what the peer sends next comes behind.
 *
 * An application may read little first, and then much into a large buffer. The
 * first call takes what came with SrcAvail, and the second one reads the rest
 * by RDMA (C4). If we cannot read by RDMA, or the direction is in Pipelined
 * mode, our answer asks the peer for the same: the beginning in a message, and
 * then an RDMA write of the rest into that buffer (C10).
 *
 * A peer whose SrcAvails are declined again and again changes to Buffered mode
 * and sends no more of them. A reader that has room for a large read changes it
 * back (sdp_srcavail_recv_later()).
 *
 * A non-blocking reader does not wait for the RDMA read
 * (srcavail_recv_nowait.c). A blocking one whose memory is scattered reads in
 * this way, too, and copies.
 *
 * A blocking reader waits for the fabric, not for the peer's application. If
 * the peer's machine is gone, keepalive.c ends the connection, and so does a
 * kill of the reader. The read ends with the connection.
 */
#include "../conn/conn.h"
#include "../conn/keepalive.h"
#include "../conn/output.h"
#include "../conn/rx_queue.h"
#include "../conn/scan.h"
#include "pin.h"
#include "srcavail_recv.h"
#include "srcavail_recv_nowait.h"
#include "zcopy.h"

/*
 * Shorter reads are not worth the registration of memory, unless they are all
 * that is left.
 */
#define SRCAVAIL_DIRECT_MIN	4096
/* Largest read into a kernel buffer. */
#define SRCAVAIL_QUEUED_MAX	16384

/**
 * struct sdp_srcavail_recv - an RDMA read that a reader waits for
 * @skb: kernel buffer to read into, until it is queued; NULL to read into the
 *	reader's memory
 * @n: bytes to read
 * @large: the first call that reads from this SrcAvail has memory that could
 *	have been advertised before
 * @done: the bytes have arrived and are part of the stream
 *
 * Lives on the reader's stack. sdp_sock.srcavail_rx points to it, under the
 * socket's @lock, while the read is in flight.
 */
struct sdp_srcavail_recv {
	struct sk_buff *skb;
	u32 n;
	bool large;
	bool done;
};

/**
 * sdp_srcavail_recv_end() - an RDMA read has ended
 * @ssk: socket, locked
 * @error: 0 if the bytes have arrived; -EAGAIN if they can be read again; or
 *	another errno
 * @todo: wakes other readers
 *
 * Does nothing for a read of srcavail_recv_nowait.c, which no reader waits for.
 */
void sdp_srcavail_recv_end(struct sdp_sock *ssk, int error,
			   struct sdp_todo *todo)
{
	struct sdp_srcavail_recv *f = ssk->srcavail_rx;

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
		sdp_rx_queue_rdma(ssk, f->skb, f->n);
	else
		sdp_rx_passed(ssk, f->n);
	f->skb = NULL;
	sdp_rx_was_read(ssk, f->n, todo);
}

/*
 * Begin a read. It goes into the reader's memory only if its bytes are next:
 * SrcAvail may have come since the reader looked, and then its first bytes are
 * still in the receive queue. Returns true when the read is in flight.
 */
static bool srcavail_read_begin(struct sdp_sock *ssk, struct sdp_link *link,
				struct sdp_mem *mem,
				struct sdp_srcavail_recv *f)
{
	const struct sdp_rail_keys *keys;
	struct sdp_region from;
	bool posted = false;

	sdp_conn_lock(ssk);
	if (ssk->link == link && (f->skb || !ssk->rx_bytes) &&
	    sdp_engine_rdma_read_begin(&ssk->engine, f->n, &from)) {
		ssk->srcavail_rx = f;
		keys = sdp_engine_srcavail_keys(&ssk->engine);
		posted = link->ops->move(link, mem, &from, keys);
		if (!posted) {
			sdp_engine_rdma_read_end(&ssk->engine, false);
			ssk->srcavail_rx = NULL;
		} else if (f->large) {
			/*
			 * The reader came before the data. Had we advertised
			 * its memory, the peer could have written into it. So
			 * our answer asks for Pipelined mode (C1, C2).
			 */
			sdp_engine_want_pipelined(&ssk->engine);
		}
		sdp_keepalive_watch(ssk);
	}
	spin_unlock_bh(&ssk->lock);
	return posted;
}

/* Read into @pages and wait until that is complete. Returns 0 or an errno. */
static int srcavail_read_pages(struct sdp_sock *ssk, struct sdp_link *link,
			       const struct sdp_pages *pages,
			       struct sdp_srcavail_recv *f)
{
	struct sdp_mem *mem = sdp_zcopy_map(ssk, link, pages);

	if (IS_ERR(mem))
		return PTR_ERR(mem);
	f->n = pages->len;
	if (srcavail_read_begin(ssk, link, mem, f)) {
		sdp_zcopy_await(ssk, link, mem);
		/*
		 * If the connection was lost during the read, nobody has called
		 * sdp_srcavail_recv_end().
		 */
		sdp_conn_lock(ssk);
		if (ssk->srcavail_rx == f)
			ssk->srcavail_rx = NULL;
		spin_unlock_bh(&ssk->lock);
	}
	link->ops->unmap(link, mem);
	return f->done ? 0 : -EAGAIN;
}

/* Read into the reader's own memory. Returns bytes or an errno. */
static int srcavail_read_direct(struct sdp_sock *ssk, struct iov_iter *to,
				u32 n, bool large)
{
	struct sdp_srcavail_recv f = { .large = large };
	struct sdp_pinned pin;
	struct sdp_link *link;
	int err = -EAGAIN;

	n = sdp_pin(&pin, to, n, SDP_MEM_READ_INTO);
	if (!n)
		return -EFAULT;
	link = sdp_conn_use_link(ssk);
	if (link) {
		err = srcavail_read_pages(ssk, link, &pin.mem, &f);
		link->ops->unuse(link);
	}
	sdp_unpin(&pin);
	if (err)
		return err;
	iov_iter_advance(to, n);
	return n;
}

/*
 * Read into a kernel buffer, which is then queued like a message. Returns 0 or
 * an errno.
 */
static int srcavail_read_queued(struct sdp_sock *ssk, u32 n)
{
	struct page *pages[DIV_ROUND_UP(SRCAVAIL_QUEUED_MAX, PAGE_SIZE)];
	struct sdp_pages mem = { .pages = pages,
				 .len = n,
				 .use = SDP_MEM_READ_INTO };
	struct sdp_srcavail_recv f = { };
	struct sdp_link *link;
	int err = -EAGAIN;

	f.skb = sdp_buf_pages(n, 0, ssk->sk.sk_allocation);
	if (!f.skb)
		return -ENOBUFS;
	mem.n = sdp_buf_list_pages(f.skb, n, pages);
	link = sdp_conn_use_link(ssk);
	if (link) {
		err = srcavail_read_pages(ssk, link, &mem, &f);
		link->ops->unuse(link);
	}
	kfree_skb(f.skb);
	return err;
}

/*
 * Decline the peer's SrcAvail, unless there are more than @seen bytes in the
 * receive queue. With @write the answer also says that the peer could write the
 * bytes into a reader's memory.
 */
static void srcavail_decline_if(struct sdp_sock *ssk, bool write, u32 seen)
{
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (ssk->rx_bytes <= seen) {
		if (write)
			sdp_engine_want_pipelined(&ssk->engine);
		sdp_engine_srcavail_decline(&ssk->engine);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

static void srcavail_decline(struct sdp_sock *ssk, bool write)
{
	srcavail_decline_if(ssk, write, U32_MAX);
}

/**
 * sdp_srcavail_recv_later() - a reader may take a large read by RDMA (C3)
 * @ssk: socket, with rx_mutex
 * @room: free bytes of the reader's own memory; 0 if RDMA cannot reach it
 *
 * If the peer's direction is in Buffered mode and @room is worth an RDMA
 * transfer, this tells the peer so. It does not matter what is in the receive
 * queue: a sender that stays ahead keeps it filled, and all large reads could
 * be served from there forever.
 */
void sdp_srcavail_recv_later(struct sdp_sock *ssk, size_t room)
{
	struct sdp_todo todo = { };

	if (READ_ONCE(ssk->rx_mode) != SDP_MODE_BUFFERED ||
	    !sdp_zcopy_worth(ssk, room))
		return;
	sdp_conn_lock(ssk);
	sdp_engine_large_recv(&ssk->engine);
	sdp_conn_progress(ssk, &todo);
	sdp_conn_unlock(ssk, &todo);
}

/**
 * sdp_srcavail_recv_arrived() - the peer has sent SrcAvail
 * @ssk: socket, locked
 * @inlined: number of bytes that SrcAvail carried; they are in the queue
 */
void sdp_srcavail_recv_arrived(struct sdp_sock *ssk, u32 inlined)
{
	WRITE_ONCE(ssk->srcavail_rx_seq,
		   ssk->rx_read + ssk->rx_bytes - inlined);
	sdp_scan_watch(ssk);
}

/*
 * Read a piece into the receive queue. Decline the rest if @last is set or the
 * read fails. Without room in the queue only decline. Returns 0 when the bytes
 * will come in messages, or -EAGAIN when there may be something in the queue.
 */
static int srcavail_queue_piece(struct sdp_sock *ssk, u32 n, bool last)
{
	if (sdp_rx_full(ssk)) {
		srcavail_decline(ssk, false);
		return 0;
	}
	if (srcavail_read_queued(ssk, min_t(u32, n, SRCAVAIL_QUEUED_MAX)) ||
	    last)
		srcavail_decline(ssk, false);
	return -EAGAIN;
}

/*
 * For a non-blocking reader: begin to read, or decline. If the call has little
 * room (@small), decline at once; a blocking call would read a piece before.
 * Returns 0, because the bytes are not here yet.
 */
static int srcavail_nowait(struct sdp_sock *ssk, u32 room, bool small)
{
	if (small || sdp_rx_full(ssk) ||
	    !sdp_srcavail_recv_nowait(ssk, room))
		srcavail_decline(ssk, false);
	return 0;
}

/*
 * We cannot read by RDMA. If the reader's memory is @large and the direction is
 * in Pipelined mode, do nothing: the reader is about to answer the SrcAvail
 * with a SinkAvail (sinkavail_recv.c), and the peer writes (B5). Otherwise
 * decline; with @large the answer asks for Pipelined mode. Returns 0, because
 * there is nothing to read.
 */
static int srcavail_unreadable(struct sdp_sock *ssk, bool large)
{
	if (!large || READ_ONCE(ssk->rx_mode) != SDP_MODE_PIPELINED)
		srcavail_decline(ssk, large);
	return 0;
}

/*
 * A call with little room: in Pipelined mode SrcAvail has brought no data for
 * it. If earlier such calls were followed by a call with a large buffer, our
 * answer asks for the beginning in a message (C10). If we have asked so the
 * last time and no such buffer followed, we do not ask again. Returns true when
 * this answer has been given.
 */
static bool srcavail_asks_first(struct sdp_sock *ssk)
{
	if (READ_ONCE(ssk->rx_mode) != SDP_MODE_PIPELINED)
		return false;
	if (READ_ONCE(ssk->rx_body) != SDP_BODY_SEEN) {
		WRITE_ONCE(ssk->rx_body, SDP_BODY_NONE);
		return false;
	}
	WRITE_ONCE(ssk->rx_body, SDP_BODY_PROMISED);
	srcavail_decline(ssk, true);
	return true;
}

/**
 * sdp_srcavail_recv_decline() - decline a SrcAvail that we cannot read by RDMA
 * @ssk: socket, with rx_mutex
 * @seen: bytes in the receive queue that the reader knows of
 *
 * Called before a reader sleeps. Does nothing if the queue has more bytes: a
 * SrcAvail that has come since the reader looked has brought them. The reader
 * then looks again, and sdp_srcavail_recv() chooses the answer by the reader's
 * room, from which the peer learns.
 */
void sdp_srcavail_recv_decline(struct sdp_sock *ssk, u32 seen)
{
	if (READ_ONCE(ssk->srcavail_rx_left) && !READ_ONCE(ssk->rx_reads))
		srcavail_decline_if(ssk, false, seen);
}

/**
 * sdp_srcavail_recv() - read from the peer's SrcAvail, or decline it
 * @ssk: socket, with rx_mutex; if the reader may wait, all that came in
 *	messages has been read
 * @to: the reader's memory; NULL if it peeks, discards, maps or reads into a
 *	pipe
 * @len: bytes that the call has room for in all
 * @left: bytes of this room that are still free
 * @enough: the call has read enough already
 * @comes: whether SinkAvail could have advertised the reader's memory, and when
 * @wait: the reader may wait
 *
 * Return: number of bytes put into @to; -EAGAIN when there may be something in
 * the receive queue now; 0 when there is nothing to read before the next
 * message.
 */
int sdp_srcavail_recv(struct sdp_sock *ssk, struct iov_iter *to, size_t len,
		      size_t left, bool enough, enum sdp_comes comes, bool wait)
{
	u32 all = READ_ONCE(ssk->srcavail_rx_left);
	bool small = len < SRCAVAIL_DIRECT_MIN, direct;
	int got = 0;
	u32 n;

	if (!all)
		return 0;
	if (small && len < all && srcavail_asks_first(ssk))
		return 0;
	if (comes == SDP_COMES_NEXT &&
	    READ_ONCE(ssk->rx_mode) == SDP_MODE_COMBINED)
		WRITE_ONCE(ssk->rx_body, SDP_BODY_SEEN);
	if (!READ_ONCE(ssk->rx_reads))
		return srcavail_unreadable(ssk, comes != SDP_COMES_ASKED);
	n = min_t(size_t, all, left);
	direct = to && user_backed_iter(to) &&
		 (n >= SRCAVAIL_DIRECT_MIN || n == all);
	/* Else scattered memory would take a wait for each of its regions. */
	if (!wait || (direct && !small && sdp_pin_scattered(to, n)))
		return srcavail_nowait(ssk, n, small && n < all);
	if (direct)
		got = srcavail_read_direct(ssk, to, n,
					   comes == SDP_COMES_FIRST);
	else if (enough && small)
		srcavail_decline(ssk, false);
	/* The SrcAvail is a new one, and bytes that came with it are next. */
	if (got < 0 && READ_ONCE(ssk->rx_bytes))
		return -EAGAIN;
	if (got > 0 || enough)
		return max(got, 0);
	return srcavail_queue_piece(ssk, n, small || direct);
}
