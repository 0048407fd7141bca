// SPDX-License-Identifier: GPL-2.0
/*
 * Background writes: large writes that go by RDMA after their call (B8).
 *
 * A writer that may not wait cannot offer its own memory, because it may change
 * the bytes as soon as the call returns. So a large non-blocking write is
 * copied into pages of the kernel, within SO_SNDBUF, and the pages are
 * registered. The peer then gets the bytes straight from these pages into its
 * reader's memory. That is one copy, where messages need two. A write that
 * lends its pages, by MSG_ZEROCOPY or sendfile(2), needs none; it may wait or
 * not (background_mem.c).
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
 * Life: a writer makes it and queues it open (background_send.c). It is closed
 * by a writer; or by the connection, when what is before it has begun to move,
 * so that its memory gets registered meanwhile, by a work item. Its segment has
 * a reference, as has an RDMA write in flight, the work item, and a writer that
 * works on it. When all are gone, another one unmaps and frees the pages,
 * because that may sleep. The background write holds a reference to its socket,
 * and uses the link, until then. If the connection ends, sdp_background_drop()
 * ends the first reference, and the end of the queue pair ends the second one.
 */
#include <linux/slab.h>

#include "../conn/conn.h"
#include "../conn/memory.h"
#include "../conn/orphan.h"
#include "../conn/output.h"
#include "../conn/resize.h"
#include "../conn/tx_queue.h"
#include "background.h"
#include "sinkavail_send.h"
#include "zcopy.h"

/* The send buffer holds @bytes less for it. */
static void background_uncharge(struct sdp_background *b, u32 bytes)
{
	b->charged -= bytes;
	sdp_memory_charge_tx(b->ssk, -(int)bytes);
}

static void background_answered(struct sdp_sock *ssk,
				struct sdp_srcavail_send *o,
				struct sdp_todo *todo);

static void background_work(struct work_struct *work)
{
	sdp_background_free(container_of(work, struct sdp_background, work));
}

static void background_ready_work(struct work_struct *work)
{
	struct sdp_background *b =
		container_of(work, struct sdp_background, ready_work);

	sdp_background_make_ready(b);
	sdp_background_put(b);
}

/**
 * sdp_background_new() - allocate a background write
 * @ssk: socket
 *
 * Return: the background write without bytes, which has a reference to @ssk and
 * one reference itself; or NULL.
 */
struct sdp_background *sdp_background_new(struct sdp_sock *ssk)
{
	struct sdp_background *b = kzalloc(sizeof(*b), ssk->sk.sk_allocation |
							__GFP_NOWARN);

	if (!b)
		return NULL;
	sock_hold(&ssk->sk);
	b->ssk = ssk;
	b->srcavail.answered = background_answered;
	sdp_background_mem_init(&b->bytes);
	refcount_set(&b->refs, 1);
	INIT_WORK(&b->ready_work, background_ready_work);
	INIT_WORK(&b->work, background_work);
	return b;
}

/**
 * sdp_background_free() - unmap and free a background write
 * @b: the background write; its segment is not in the queue
 *
 * May sleep.
 */
void sdp_background_free(struct sdp_background *b)
{
	struct sdp_link *link = b->srcavail.link;

	if (b->srcavail.mem)
		link->ops->unmap(link, b->srcavail.mem);
	if (link)
		link->ops->unuse(link);
	kfree_skb(b->srcavail.skb);
	sdp_background_mem_free(b->ssk, &b->bytes, link);
	sock_put(&b->ssk->sk);
	kfree(b);
}

/**
 * sdp_background_put() - drop a reference
 * @b: the background write
 */
void sdp_background_put(struct sdp_background *b)
{
	if (refcount_dec_and_test(&b->refs))
		queue_work(sdp_wq, &b->work);
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
 * sdp_background_make_ready() - register its memory, and let it go
 * @b: the background write, which is not open any more; the caller has a
 *	reference, and the socket is not locked
 *
 * May sleep.
 */
void sdp_background_make_ready(struct sdp_background *b)
{
	struct sdp_sock *ssk = b->ssk;
	struct sdp_link *link = NULL;
	struct sdp_mem *mem = NULL;
	struct sdp_todo todo = { };
	bool mapped = background_map(b, &link, &mem);

	sdp_conn_lock(ssk);
	/* Its end unmaps the memory, whatever has happened meanwhile. */
	b->srcavail.link = link;
	b->srcavail.mem = mapped ? mem : NULL;
	b->by_message = !mapped;
	b->ready = true;
	sdp_conn_progress(ssk, &todo);
	sdp_conn_unlock(ssk, &todo);
}

/* Let the open background write go if it is @b and no writer holds it back. */
static void background_close(struct sdp_background *b)
{
	struct sdp_sock *ssk = b->ssk;

	if (ssk->background_open != b || ssk->tx_hold)
		return;
	WRITE_ONCE(ssk->background_open, NULL);
	refcount_inc(&b->refs);
	queue_work(sdp_wq, &b->ready_work);
}

/*
 * @b has begun to move. What is behind it gets ready meanwhile, with all that
 * writers have added to it until now.
 */
static void background_begun(struct sdp_background *b)
{
	struct sk_buff *skb = skb_peek_next(b->skb, &b->ssk->tx_queue);

	if (skb && sdp_buf_cb(skb)->background)
		background_close(sdp_buf_cb(skb)->background);
}

/* All of its bytes have arrived, or are in messages. */
static void background_done(struct sdp_background *b)
{
	struct sdp_sock *ssk = b->ssk;

	background_uncharge(b, b->charged);
	WRITE_ONCE(ssk->background, ssk->background - 1);
	if (!ssk->background)
		ssk->background_over = true;
}

/* Its last byte has been handed over: take its segment out of the queue. */
static void background_leave(struct sdp_background *b)
{
	__skb_unlink(b->skb, &b->ssk->tx_queue);
	kfree_skb(b->skb);
	if (!b->writing)
		background_done(b);
	sdp_background_put(b);
}

/*
 * Make a message of up to @max of its next bytes. They have left then, and its
 * charge for them has moved to the message, which is not charged yet.
 */
static struct sk_buff *background_message(struct sdp_background *b, u32 max)
{
	struct sdp_sock *ssk = b->ssk;
	struct sk_buff *skb = alloc_skb(SDP_SRCAVAIL_HEADROOM,
					GFP_ATOMIC | __GFP_NOWARN);
	u32 n;

	if (!skb)
		return NULL;
	skb_reserve(skb, SDP_SRCAVAIL_HEADROOM);
	n = sdp_background_mem_refer(&b->bytes, b->gone, skb,
				     min(max, sdp_background_left(b)),
				     ssk->tx_frags);
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
	    sdp_background_left(b) <= first ||
	    !sdp_zcopy_worth(ssk, sdp_background_left(b)))
		return false;
	b->srcavail.skip = b->gone;
	b->srcavail.over = false;
	b->srcavail.skb = background_message(b, first);
	if (!b->srcavail.skb)
		return false;
	b->srcavail.first = sdp_buf_cb(b->srcavail.skb)->payload;
	b->advertised = true;
	sdp_srcavail_send_begin(ssk, &b->srcavail);
	background_begun(b);
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

	if (read && sdp_srcavail_send_at_once(ssk, o->got, o->sent))
		WRITE_ONCE(ssk->reader_late, false);
	ssk->srcavail_tx = NULL;
	b->advertised = false;
	/* A SinkAvail may have come before SrcAvail was sent. */
	kfree_skb(o->skb);
	o->skb = NULL;
	b->gone += read;
	background_uncharge(b, read);
	/* The peer may have invalidated the key. */
	b->by_message = o->declined;
	if (o->declined)
		sdp_resize_note_send(ssk, sdp_background_left(b), 0);
	if (!sdp_background_left(b))
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
			if (!sdp_background_left(b))
				background_done(b);
			if (sock_flag(&ssk->sk, SOCK_DEAD))
				sdp_orphan_progress(ssk);
			sdp_tx_arrived(ssk, n, &todo);
			sdp_conn_progress(ssk, &todo);
		}
	}
	sdp_conn_unlock(ssk, &todo);
	sdp_background_put(b);
}

/*
 * Write @n bytes into the buffer that the peer has advertised. Returns false if
 * the transport does not take the write.
 */
static bool background_write(struct sdp_background *b, u32 n)
{
	struct sdp_sock *ssk = b->ssk;
	struct sdp_mem *mem = b->srcavail.mem;

	mem->skip = b->gone;
	mem->ended = background_written;
	mem->arg = b;
	b->writing = n;
	refcount_inc(&b->refs);
	if (!sdp_sinkavail_send_move(ssk, mem, n)) {
		mem->ended = NULL;
		b->writing = 0;
		sdp_background_put(b);
		return false;
	}
	ssk->background_writing = b;
	b->gone += n;
	background_begun(b);
	if (!sdp_background_left(b))
		background_leave(b);
	return true;
}

/**
 * sdp_background_next() - begin RDMA of the oldest unsent bytes
 * @ssk: socket, locked, with a link
 * @head: the oldest segment, which marks a background write
 *
 * Takes @head off the queue if its last byte goes into an RDMA write. Otherwise
 * the segment's payload is set to the number of bytes that may go in messages
 * now: all, or none as long as they go by RDMA or are not ready.
 */
void sdp_background_next(struct sdp_sock *ssk, struct sk_buff *head)
{
	struct sdp_background *b = sdp_buf_cb(head)->background;
	u32 left = sdp_background_left(b), room;

	sdp_buf_cb(head)->payload = 0;
	background_close(b);
	sdp_buf_cb(head)->declined = b->by_message;
	if (!b->ready || b->advertised)
		return;
	if (!b->by_message) {
		room = READ_ONCE(ssk->link->many) ? 0 :
		       min(left, sdp_engine_may_rdma_write(&ssk->engine));
		if (room && (room == left || sdp_zcopy_worth(ssk, room))) {
			/* The link takes one write at a time. */
			if (ssk->background_writing ||
			    background_write(b, room))
				return;
			sdp_buf_cb(head)->payload = left;
			return;
		}
		/*
		 * The peer that has read what is left invalidates the key. The
		 * adapter may still have to repeat the write from this memory.
		 */
		if (b->writing || background_advertise(b))
			return;
	}
	sdp_buf_cb(head)->payload = sdp_background_left(b);
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
	if (!sdp_background_left(b))
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
	sdp_background_put(b);
}
