// SPDX-License-Identifier: GPL-2.0
/*
 * Background writes: large writes that go by RDMA after their call (B8).
 *
 * A writer that may not wait cannot lend its own memory, because it may change
 * the bytes as soon as the call returns. So a large non-blocking write is
 * copied into pages of the kernel, within SO_SNDBUF, and the pages are
 * registered. The peer then gets the bytes straight from these pages into its
 * reader's memory. That is one copy, where messages need two.
 *
 * An empty segment (sdp_buf_cb.background) marks the place of these bytes in
 * the send queue. When it is the oldest segment, the connection calls
 * sdp_background_next(), each time before it sends something:
 *
 *  - If the peer has advertised a buffer, we write into it.
 *  - Else SrcAvail advertises the pages, as srcavail_send.c does for a writer's
 *    own memory.
 *  - If neither is allowed now, or the peer has declined SrcAvail, the bytes go
 *    in messages, which sdp_background_cut() cuts from the pages.
 *
 * The segment leaves the queue when its last byte has been handed over: to a
 * message, to an RDMA write, or because the peer has read it.
 *
 * Life: sdp_background_send() makes a background write. Two references keep it:
 * that of its segment, and that of an RDMA write in flight. When both are gone,
 * a work item unmaps and frees the pages, because that may sleep. The
 * background write holds a reference to its socket and uses the link until
 * then. If the connection ends, sdp_background_drop() ends the first reference,
 * and the end of the queue pair ends the second one.
 */
#include <linux/slab.h>

#include "../conn/conn.h"
#include "../conn/memory.h"
#include "../conn/orphan.h"
#include "../conn/output.h"
#include "../conn/rdma_buf.h"
#include "../conn/tx_queue.h"
#include "background.h"
#include "sinkavail_send.h"
#include "srcavail_send.h"
#include "zcopy.h"

/*
 * Largest background write. The peer reads one while the writer copies the
 * next.
 */
#define BACKGROUND_MAX		(256 << 10)
/* Most background writes at once: each one has memory registered. */
#define BACKGROUND_QUEUED	16
#define BACKGROUND_PAGES	(BACKGROUND_MAX / PAGE_SIZE)

/**
 * struct sdp_background - a background write
 * @ssk: its socket, with a reference
 * @skb: its segment; in the send queue, or about to be freed
 * @buf: the bytes
 * @len: number of bytes in @buf
 * @srcavail: its SrcAvail; has the link, in use, and the memory
 * @charged: bytes that the send buffer is charged for it
 * @gone: bytes at its beginning that have left for the peer
 * @writing: bytes of the RDMA write in flight, which begin at mem->skip
 * @advertised: SrcAvail is with the engine
 * @by_message: what is left goes in messages
 * @refs: references; see above
 * @work: frees it
 */
struct sdp_background {
	struct sdp_sock *ssk;
	struct sk_buff *skb;
	struct sk_buff *buf;
	u32 len;
	struct sdp_srcavail_send srcavail;
	u32 charged;
	u32 gone;
	u32 writing;
	bool advertised;
	bool by_message;
	refcount_t refs;
	struct work_struct work;
};

static u32 background_left(const struct sdp_background *b)
{
	return b->len - b->gone;
}

/* The send buffer holds @bytes less for it. */
static void background_uncharge(struct sdp_background *b, u32 bytes)
{
	b->charged -= bytes;
	sdp_memory_charge_tx(b->ssk, -(int)bytes);
}

/* Keep the buffer for the next write, unless the connection is over. */
static void background_free_buf(struct sdp_background *b)
{
	struct sdp_sock *ssk = b->ssk;

	if (!b->buf)
		return;
	sdp_conn_lock(ssk);
	sdp_rdma_buf_put(ssk, b->srcavail.link, b->buf);
	spin_unlock_bh(&ssk->lock);
}

static void background_free(struct sdp_background *b)
{
	struct sdp_link *link = b->srcavail.link;

	if (!IS_ERR_OR_NULL(b->srcavail.mem))
		link->ops->unmap(link, b->srcavail.mem);
	if (link)
		link->ops->unuse(link);
	kfree_skb(b->srcavail.skb);
	background_free_buf(b);
	sock_put(&b->ssk->sk);
	kfree(b);
}

static void background_work(struct work_struct *work)
{
	background_free(container_of(work, struct sdp_background, work));
}

static void background_put(struct sdp_background *b)
{
	if (refcount_dec_and_test(&b->refs))
		queue_work(sdp_wq, &b->work);
}

/* All of its bytes have arrived, or are in messages. */
static void background_done(struct sdp_background *b)
{
	background_uncharge(b, b->charged);
	WRITE_ONCE(b->ssk->background, b->ssk->background - 1);
}

/* Its last byte has been handed over: take its segment out of the queue. */
static void background_leave(struct sdp_background *b)
{
	__skb_unlink(b->skb, &b->ssk->tx_queue);
	kfree_skb(b->skb);
	if (!b->writing)
		background_done(b);
	background_put(b);
}

/* Copy the write's next bytes into a buffer. Returns false if that fails. */
static bool background_copy(struct sdp_background *b, struct iov_iter *from,
			    u32 bytes)
{
	b->buf = sdp_rdma_buf_get(b->ssk, bytes);
	if (!b->buf || skb_copy_datagram_from_iter(b->buf, 0, from, bytes))
		return false;
	b->len = bytes;
	b->charged = b->buf->truesize;
	return true;
}

/* Register the buffer. Returns false if that fails. */
static bool background_map(struct sdp_background *b)
{
	struct page *pages[BACKGROUND_PAGES];
	struct sdp_pages mem = { .pages = pages,
				 .len = b->len,
				 .use = SDP_MEM_PEER_READS };

	b->srcavail.link = sdp_conn_use_link(b->ssk);
	if (!b->srcavail.link)
		return false;
	mem.n = sdp_buf_list_pages(b->buf, b->len, pages);
	b->srcavail.mem = sdp_zcopy_map(b->ssk, b->srcavail.link, &mem);
	return !IS_ERR(b->srcavail.mem);
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
	return skb;
}

static void background_answered(struct sdp_sock *ssk,
				struct sdp_srcavail_send *o,
				struct sdp_todo *todo);

/*
 * Take the next @bytes of a write. Returns NULL if that is not possible for any
 * reason, with @from as it was.
 */
static struct sdp_background *background_new(struct sdp_sock *ssk,
					     struct iov_iter *from, u32 bytes)
{
	struct sdp_background *b = kzalloc(sizeof(*b),
					   GFP_KERNEL | __GFP_NOWARN);
	size_t before = iov_iter_count(from);

	if (!b)
		return NULL;
	sock_hold(&ssk->sk);
	b->ssk = ssk;
	b->srcavail.answered = background_answered;
	refcount_set(&b->refs, 1);
	INIT_WORK(&b->work, background_work);
	if (background_copy(b, from, bytes) && background_map(b))
		b->skb = background_segment(b);
	if (b->skb)
		return b;
	iov_iter_revert(from, before - iov_iter_count(from));
	background_free(b);
	return NULL;
}

/* Add it to the send queue. Returns false if there is no connection for it. */
static bool background_queue(struct sdp_sock *ssk, struct sdp_background *b)
{
	struct sdp_todo todo = { };
	bool may;

	sdp_conn_lock(ssk);
	may = ssk->link == b->srcavail.link && !sdp_tx_error(&ssk->sk);
	if (may) {
		ssk->tx_hold = false;
		ssk->tx_was_full = false;
		ssk->tx_outq += b->len;
		WRITE_ONCE(ssk->background, ssk->background + 1);
		sdp_memory_charge_tx(ssk, b->charged);
		__skb_queue_tail(&ssk->tx_queue, b->skb);
		SDP_INC(sock_net(&ssk->sk), BackgroundWrites);
		SDP_ADD(sock_net(&ssk->sk), BackgroundBytes, b->len);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
	return may;
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

/* Number of bytes to take from a write; 0 if it does not go this way. */
static u32 background_bytes(struct sdp_sock *ssk, struct msghdr *msg,
			    long timeo)
{
	u32 queued = READ_ONCE(ssk->background);
	int room = background_room(ssk);
	u32 n;

	if ((timeo && !queued) || queued >= BACKGROUND_QUEUED || room <= 0 ||
	    sdp_engine_by_nic(&ssk->engine) ||
	    (msg->msg_flags & (MSG_OOB | MSG_ZEROCOPY)) ||
	    !user_backed_iter(&msg->msg_iter) ||
	    READ_ONCE(ssk->tx_mode) == SDP_MODE_BUFFERED)
		return 0;
	n = min_t(size_t, msg_data_left(msg), room);
	return sdp_zcopy_worth(ssk, n) ? min_t(u32, n, BACKGROUND_MAX) : 0;
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

/**
 * sdp_background_send() - take bytes of a write for RDMA in the background (B8)
 * @ssk: socket, with tx_mutex; there is room in the send buffer
 * @msg: the write; advanced
 * @timeo: how long the writer may wait. If it may, its bytes are taken only if
 *	those of an earlier write are in the background: they must not overtake
 *	them
 *
 * Return: number of bytes taken; 0 when the next bytes have to go in messages;
 * or -EPIPE.
 */
int sdp_background_send(struct sdp_sock *ssk, struct msghdr *msg, long timeo)
{
	u32 n = background_bytes(ssk, msg, timeo);
	struct sdp_background *b;

	if (!n || !background_memory(ssk, n))
		return 0;
	b = background_new(ssk, &msg->msg_iter, n);
	if (!b)
		return 0;
	if (background_queue(ssk, b))
		return n;
	kfree_skb(b->skb);
	background_free(b);
	return -EPIPE;
}

/*
 * Refer to the next @n bytes in a message's fragments. Returns the number of
 * bytes that fit.
 */
static u32 background_refer(struct sdp_background *b, struct sk_buff *skb,
			    u32 n, int most)
{
	const skb_frag_t *frag = skb_shinfo(b->buf)->frags;
	u32 offset = b->gone, done = 0, part;
	int i;

	for (; offset >= skb_frag_size(frag); frag++)
		offset -= skb_frag_size(frag);
	for (i = 0; i < most && done < n; i++, frag++, offset = 0) {
		part = min_t(u32, n - done, skb_frag_size(frag) - offset);
		get_page(skb_frag_page(frag));
		skb_fill_page_desc(skb, i, skb_frag_page(frag),
				   skb_frag_off(frag) + offset, part);
		done += part;
	}
	return done;
}

/*
 * Make a message of up to @max of its next bytes. They have left then, and its
 * charge for them has moved to the message, which is not charged yet.
 */
static struct sk_buff *background_message(struct sdp_background *b, u32 max)
{
	struct sdp_sock *ssk = b->ssk;
	struct sk_buff *skb = alloc_skb(SDP_TX_HEADROOM,
					GFP_ATOMIC | __GFP_NOWARN);
	u32 n;

	if (!skb)
		return NULL;
	skb_reserve(skb, SDP_TX_HEADROOM);
	n = background_refer(b, skb, min(max, background_left(b)),
			     ssk->tx_frags);
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
	sdp_buf_cb(skb)->payload = n;
	sdp_buf_cb(skb)->reused = false;
	sdp_buf_cb(skb)->urgent = false;
	sdp_buf_cb(skb)->declined = b->by_message;
	b->gone += n;
	background_uncharge(b, n);
	return skb;
}

/* Advertise what is left. Returns false if that is not allowed, or worth it. */
static bool background_advertise(struct sdp_background *b)
{
	struct sdp_sock *ssk = b->ssk;
	u32 first = min_t(u32, sdp_engine_srcavail_inline_max(&ssk->engine),
			  SDP_FIRST_BYTES);

	if (!sdp_engine_may_srcavail(&ssk->engine) ||
	    background_left(b) <= first ||
	    !sdp_zcopy_worth(ssk, background_left(b)))
		return false;
	b->srcavail.skip = b->gone;
	b->srcavail.over = false;
	b->srcavail.skb = background_message(b, first);
	if (!b->srcavail.skb)
		return false;
	b->srcavail.first = sdp_buf_cb(b->srcavail.skb)->payload;
	b->advertised = true;
	sdp_srcavail_send_begin(ssk, &b->srcavail);
	return true;
}

/*
 * The peer has answered SrcAvail: it has read the bytes, or a part of them, or
 * has advertised a buffer instead.
 */
static void background_answered(struct sdp_sock *ssk,
				struct sdp_srcavail_send *o,
				struct sdp_todo *todo)
{
	struct sdp_background *b = container_of(o, struct sdp_background,
						srcavail);
	u32 read = o->got - o->first;

	ssk->srcavail_tx = NULL;
	b->advertised = false;
	/* A SinkAvail may have come before SrcAvail was sent. */
	kfree_skb(o->skb);
	o->skb = NULL;
	/* The peer may have invalidated the key. */
	b->by_message = o->declined;
	b->gone += read;
	background_uncharge(b, read);
	if (!background_left(b))
		background_leave(b);
	if (read)
		sdp_tx_arrived(ssk, read, todo);
}

/* An RDMA write has ended, or will never end; any context. */
static void background_written(struct sdp_mem *mem)
{
	struct sdp_background *b = mem->arg;
	struct sdp_sock *ssk = b->ssk;
	struct sdp_todo todo = { };
	u32 n = b->writing;

	sdp_conn_lock(ssk);
	b->writing = 0;
	if (ssk->background_writing == b) {
		ssk->background_writing = NULL;
		/* After an error the link is broken, and reports that next. */
		if (!mem->error) {
			sdp_sinkavail_send_count(ssk, n);
			background_uncharge(b, n);
			if (!background_left(b))
				background_done(b);
			if (sock_flag(&ssk->sk, SOCK_DEAD))
				sdp_orphan_progress(ssk);
			sdp_tx_arrived(ssk, n, &todo);
			sdp_conn_progress(ssk, &todo);
		}
	}
	sdp_conn_unlock(ssk, &todo);
	background_put(b);
}

/* Write @n bytes into the buffer that the peer has advertised. */
static void background_write(struct sdp_background *b, u32 n)
{
	struct sdp_sock *ssk = b->ssk;
	struct sdp_mem *mem = b->srcavail.mem;
	struct sdp_region to;

	if (!sdp_engine_rdma_write(&ssk->engine, n, &to))
		return;
	mem->skip = b->gone;
	mem->ended = background_written;
	mem->arg = b;
	b->writing = n;
	refcount_inc(&b->refs);
	if (!ssk->link->ops->move(ssk->link, mem, &to)) {
		/*
		 * The engine has RdmaWrCompl ready, which must not be sent. The
		 * link is broken, and reports that next.
		 */
		ssk->engine.dead = true;
		mem->ended = NULL;
		b->writing = 0;
		background_put(b);
		return;
	}
	ssk->background_writing = b;
	b->gone += n;
	if (!background_left(b))
		background_leave(b);
}

/**
 * sdp_background_next() - begin RDMA of the oldest unsent bytes
 * @ssk: socket, locked, with a link
 * @head: the oldest segment, which marks a background write
 *
 * Takes @head off the queue if its last byte goes into an RDMA write. Otherwise
 * the segment's payload is set to the number of bytes that may go in messages
 * now: all, or none as long as they go by RDMA.
 */
void sdp_background_next(struct sdp_sock *ssk, struct sk_buff *head)
{
	struct sdp_background *b = sdp_buf_cb(head)->background;
	u32 left = background_left(b), room;

	sdp_buf_cb(head)->payload = 0;
	sdp_buf_cb(head)->declined = b->by_message;
	if (b->advertised)
		return;
	if (!b->by_message) {
		room = min(left, sdp_engine_may_rdma_write(&ssk->engine));
		if (room && (room == left || sdp_zcopy_worth(ssk, room))) {
			/* The link takes one write at a time. */
			if (!ssk->background_writing)
				background_write(b, room);
			return;
		}
		/*
		 * The peer that has read what is left invalidates the key. The
		 * adapter may still have to repeat the write from this memory.
		 */
		if (b->writing || background_advertise(b))
			return;
	}
	sdp_buf_cb(head)->payload = background_left(b);
}

/**
 * sdp_background_cut() - cut a message from the oldest background write
 * @ssk: socket, locked
 * @max: most bytes that the message may carry
 *
 * Return: the message with its payload, without a header; or NULL if memory is
 * short.
 */
struct sk_buff *sdp_background_cut(struct sdp_sock *ssk, u32 max)
{
	struct sk_buff *head = skb_peek(&ssk->tx_queue);
	struct sdp_background *b = sdp_buf_cb(head)->background;
	struct sk_buff *skb = background_message(b, max);

	if (!skb)
		return NULL;
	sdp_memory_charge_tx(ssk, skb->truesize);
	if (!background_left(b))
		background_leave(b);
	return skb;
}

/**
 * sdp_background_drop() - the connection of a background write is over
 * @skb: its segment, off the queue; the caller frees it
 *
 * Called with the socket's lock. The send buffer's charge is the caller's.
 */
void sdp_background_drop(struct sk_buff *skb)
{
	struct sdp_background *b = sdp_buf_cb(skb)->background;

	if (b->advertised)
		b->ssk->srcavail_tx = NULL;
	background_put(b);
}
