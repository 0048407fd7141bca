// SPDX-License-Identifier: GPL-2.0
/*
 * SrcAvail that we send: the peer reads a large write by RDMA.
 *
 * Requirements B1 and B2, with C8, C9 and C10.
 *
 * A writer that may wait pins its pages, has them registered and advertises
 * them. SrcAvail carries the first bytes and says where the rest is. In
 * Pipelined mode it carries none. The writer then waits for the answer: the
 * peer has read (RdmaRdCompl), or wants the rest in messages (SendSm). The
 * bytes that the peer has count as written, and the rest is sent in messages.
 *
 * If all bytes have room in the send buffer, the writer waits only as long as a
 * reader needs that is there already. Then it takes the rest back, and it goes
 * as a background write (background.c), so that the call returns (B6). Until a
 * reader has come at once again (reader_late), the next such writes do not wait
 * at all.
 *
 * The writer drops tx_mutex while it waits, but keeps its turn (tx_turn). So
 * other writers wait as they do for a full send buffer, non-blocking ones
 * return, and no two writes are mixed.
 *
 * A signal, a timeout or a shutdown by another thread ends the wait. The writer
 * then cancels the SrcAvail and waits for the answer, which the peer's kernel
 * gives without its application. After that it sends messages as far as there
 * is room, like every interrupted write. If the peer does not answer, the
 * connection fails. When the call returns, the peer cannot reach the memory.
 *
 * struct sdp_srcavail_send is on the writer's stack. sdp_sock.srcavail_tx
 * points to it, under the socket's @lock, from srcavail_begin() to
 * srcavail_end(). The writer does not return before sdp_srcavail_send_over()
 * has been called.
 *
 * socket/send.c calls sdp_srcavail_send() with tx_mutex.
 */
#include <linux/highmem.h>

#include "../conn/conn.h"
#include "../conn/memory.h"
#include "../conn/output.h"
#include "../conn/resize.h"
#include "../conn/tx_queue.h"
#include "../conn/wake.h"
#include "pin.h"
#include "sinkavail_send.h"
#include "srcavail_send.h"
#include "zcopy.h"

/*
 * The peer's scanner asks for messages when nobody reads our SrcAvail (C9). A
 * peer without such a scanner must not block a writer forever. So we cancel a
 * SrcAvail that is not read for this many times the period after which our own
 * scanner would decline it, but not before one second (SRCAVAIL_SLICE).
 */
#define SRCAVAIL_SCANS		10
/* Interval at which a waiting writer checks whether the peer reads. */
#define SRCAVAIL_SLICE		HZ
/* Bytes that the slowest fabric moves in a millisecond. */
#define SRCAVAIL_MS_BYTES	65536

/*
 * Is the rest of a write worth RDMA from the application's memory? A write that
 * has room in the send buffer becomes a background write (background.c) if the
 * reader is late.
 */
static bool srcavail_worth(struct sdp_sock *ssk, struct msghdr *msg,
			   long timeo)
{
	const struct iov_iter *from = &msg->msg_iter;

	if (!timeo || (READ_ONCE(ssk->reader_late) &&
		       sdp_zcopy_fits(ssk, msg_data_left(msg))))
		return false;
	/* Many small writes are not worth it, so look at the pieces last. */
	return !(msg->msg_flags & (MSG_OOB | MSG_ZEROCOPY)) &&
	       user_backed_iter(from) &&
	       sdp_zcopy_worth(ssk, msg_data_left(msg)) &&
	       sdp_zcopy_worth(ssk, sdp_pin_span(from, SIZE_MAX));
}

/*
 * Is a region of a write worth RDMA, maybe behind small pieces? For a write
 * that would have to be copied as a whole.
 */
static bool srcavail_worth_later(struct sdp_sock *ssk, struct msghdr *msg,
				 long timeo)
{
	struct msghdr rest = *msg;

	while (msg_data_left(&rest)) {
		if (srcavail_worth(ssk, &rest, timeo))
			return true;
		if (!user_backed_iter(&rest.msg_iter))
			return false;
		iov_iter_advance(&rest.msg_iter,
				 sdp_pin_span(&rest.msg_iter, SIZE_MAX));
	}
	return false;
}

/*
 * Is that possible now? A write must not overtake a background write, and
 * becomes one itself.
 */
static bool srcavail_possible(const struct sdp_sock *ssk)
{
	return !READ_ONCE(ssk->background) &&
	       (READ_ONCE(ssk->may_srcavail) ||
		READ_ONCE(ssk->sinkavail_tx_room));
}

/*
 * A message with the first @n bytes of the pages. It copies them from the
 * pinned pages, which the peer reads as well, so both parts belong to the same
 * write.
 */
static struct sk_buff *srcavail_first_bytes(struct sdp_sock *ssk,
					    const struct sdp_pages *pages,
					    u32 n)
{
	struct sk_buff *skb =
		alloc_skb(SDP_SRCAVAIL_HEADROOM + n, ssk->sk.sk_allocation);
	u32 part, offset = pages->offset;
	unsigned int i;

	if (!skb)
		return NULL;
	skb_reserve(skb, SDP_SRCAVAIL_HEADROOM);
	sdp_buf_cb(skb)->payload = n;
	sdp_buf_cb(skb)->reused = false;
	sdp_buf_cb(skb)->urgent = false;
	sdp_buf_cb(skb)->declined = false;
	for (i = 0; n; i++, n -= part, offset = 0) {
		part = min_t(u32, n, PAGE_SIZE - offset);
		memcpy_from_page(skb_put(skb, part), pages->pages[i], offset,
				 part);
	}
	return skb;
}

/**
 * sdp_srcavail_send_begin() - give SrcAvail to the engine
 * @ssk: socket, locked; sdp_engine_may_srcavail() is true
 * @o: memory, first bytes and message; stays valid until its SrcAvail is over
 *
 * The engine then sends SrcAvail when it has credit. The first bytes are among
 * those of @tx_outq.
 */
void sdp_srcavail_send_begin(struct sdp_sock *ssk, struct sdp_srcavail_send *o)
{
	struct sdp_region region = o->mem->region;

	region.va += o->skip;
	region.len -= o->skip;
	sdp_engine_srcavail(&ssk->engine, &region, o->first);
	sdp_engine_srcavail_by_rails(&ssk->engine, &o->mem->keys);
	ssk->srcavail_tx = o;
	o->mem->settled = false;
	WRITE_ONCE(ssk->srcavail_tx_out, true);
	sdp_memory_charge_tx(ssk, o->skb->truesize);
}

/*
 * Let the engine send SrcAvail, as soon as it has credit. Returns false if the
 * engine does not allow it, or if the mode has changed since the number of
 * first bytes was chosen.
 */
static bool srcavail_advertise(struct sdp_sock *ssk,
			       struct sdp_srcavail_send *o)
{
	struct sdp_todo todo = { };
	bool may;

	sdp_conn_lock(ssk);
	may = ssk->link == o->link && sdp_engine_may_srcavail(&ssk->engine) &&
	      !o->first == (sdp_engine_tx_mode(&ssk->engine) ==
			    SDP_MODE_PIPELINED) &&
	      !ssk->sk.sk_err && !(ssk->sk.sk_shutdown & SEND_SHUTDOWN);
	if (may) {
		/* Unsent data is sent before SrcAvail: do not hold it back. */
		ssk->tx_hold = false;
		ssk->tx_outq += o->first;
		ssk->tx_was_full = false;
		sdp_srcavail_send_begin(ssk, o);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
	return may;
}

/* Condition for sdp_wait(): the SrcAvail has ended, or must be cancelled. */
static bool srcavail_over_or_error(struct sdp_sock *ssk, u32 unused)
{
	return !READ_ONCE(ssk->srcavail_tx_out) || READ_ONCE(ssk->sk.sk_err) ||
	       (READ_ONCE(ssk->sk.sk_shutdown) & SEND_SHUTDOWN);
}

/* Time that a reader needs that waits already, jiffies. */
static unsigned long srcavail_brief(const struct sdp_sock *ssk, u32 bytes)
{
	return sdp_sinkavail_send_patience(ssk) +
	       msecs_to_jiffies(bytes / SRCAVAIL_MS_BYTES);
}

/**
 * sdp_srcavail_send_at_once() - has a reader come at once?
 * @ssk: socket
 * @bytes: size of the transfer; a slow fabric gets time for it
 * @since: when SrcAvail was sent, jiffies
 *
 * Return: true when no more time has passed than a reader that was waiting
 * needs.
 */
bool sdp_srcavail_send_at_once(const struct sdp_sock *ssk, u32 bytes,
			       unsigned long since)
{
	return time_before(jiffies, since + srcavail_brief(ssk, bytes));
}

/* Time after which a SrcAvail that is not read is cancelled, jiffies. */
static unsigned long srcavail_patience(const struct sdp_sock *ssk,
				       const struct sdp_srcavail_send *o)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	u64 ms = SRCAVAIL_SCANS * (u64)READ_ONCE(set->scan_ms);

	if (o->brief)
		return srcavail_brief(ssk, o->mem->region.len);
	ms = min_t(u64, ms * READ_ONCE(set->scan_count), INT_MAX);
	return max_t(unsigned long, msecs_to_jiffies(ms), SRCAVAIL_SLICE);
}

/*
 * Wait until the SrcAvail has ended or the writer may not wait any longer.
 * Returns true if the wait has ended because the peer has not read for the time
 * of srcavail_patience().
 *
 * That time begins anew when the settings make it shorter, because the peer's
 * scanner begins anew then, too.
 */
static bool srcavail_await_reader(struct sdp_sock *ssk,
				  const struct sdp_srcavail_send *o,
				  long *timeo)
{
	unsigned long since = jiffies, limit = srcavail_patience(ssk, o);
	unsigned long before;
	u32 seen = 0, got;
	int err = -EAGAIN;

	while (err == -EAGAIN && *timeo) {
		long slice = min3(*timeo, (long)limit, (long)SRCAVAIL_SLICE);
		long left = slice;

		err = sdp_wait(ssk, SDP_WRITE, &left, srcavail_over_or_error,
			       0);
		if (*timeo != MAX_SCHEDULE_TIMEOUT)
			*timeo -= slice - left;
		got = sdp_engine_srcavail_tx_read(&ssk->engine);
		before = limit;
		limit = srcavail_patience(ssk, o);
		if (got != seen || limit < before)
			since = jiffies;
		seen = got;
		if (err == -EAGAIN && time_after_eq(jiffies, since + limit))
			return true;
	}
	return false;
}

/* Cancel the SrcAvail. It ends at once if it has not been sent. */
static void srcavail_cancel(struct sdp_sock *ssk, bool unread)
{
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (ssk->srcavail_tx_out) {
		SDP_INC(sock_net(&ssk->sk), SrcAvailCancelled);
		SDP_ADD(sock_net(&ssk->sk), ScansCancelled, unread);
		sdp_engine_srcavail_cancel(&ssk->engine);
		if (!sdp_engine_srcavail_tx_open(&ssk->engine))
			sdp_srcavail_send_over(ssk, 0);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

/*
 * Wait until the SrcAvail has ended, whatever ends it. Drops tx_mutex
 * meanwhile, so that other writers see that they cannot write now.
 */
static void srcavail_await_end(struct sdp_sock *ssk,
			       struct sdp_srcavail_send *o, long *timeo)
{
	mutex_unlock(&ssk->tx_mutex);
	o->unread = srcavail_await_reader(ssk, o, timeo);
	if (o->unread) {
		/*
		 * The peer's kernel will answer. The writer may still wait, so
		 * a peer or a network that is stuck for a while does not cost
		 * the connection.
		 */
		srcavail_cancel(ssk, !o->brief);
		sdp_wait(ssk, SDP_WRITE, timeo, srcavail_over_or_error, 0);
	}
	if (!READ_ONCE(o->over)) {
		if (!o->unread)
			srcavail_cancel(ssk, false);
		sdp_zcopy_await_answer(ssk, &o->over);
	}
	mutex_lock(&ssk->tx_mutex);
}

/* Has nobody come at once for all of it, although the bytes have room? */
static bool srcavail_late(const struct sdp_srcavail_send *o)
{
	return o->unread && o->brief && o->got < o->mem->region.len;
}

static void srcavail_end(struct sdp_sock *ssk,
			 const struct sdp_srcavail_send *o)
{
	struct sdp_todo todo = { };
	bool late = srcavail_late(o);

	sdp_conn_lock(ssk);
	ssk->srcavail_tx = NULL;
	ssk->tx_declined = o->declined && !late;
	if (late && ssk->link == o->link && !ssk->engine.dead) {
		WRITE_ONCE(ssk->reader_late, true);
	} else if (o->unread && o->got == o->first) {
		sdp_engine_srcavail_unread(&ssk->engine);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

/*
 * Number of first bytes that SrcAvail carries: none in Pipelined, where the
 * peer is likely to answer with a SinkAvail (wire section 8).
 */
static u32 srcavail_inline_bytes(const struct sdp_sock *ssk)
{
	if (READ_ONCE(ssk->tx_mode) == SDP_MODE_PIPELINED)
		return 0;
	return min_t(u32, sdp_engine_srcavail_inline_max(&ssk->engine),
		     SDP_FIRST_BYTES);
}

/**
 * struct srcavail_write - what is known about a write
 * @brief: it has room in the send buffer, so it waits for a reader only briefly
 * @refused: its rest has to go in messages
 * @asked: the peer's reader wants its beginning first (C10)
 * @late: nobody has come at once, so its rest goes as a background write; or in
 *	messages, if it is small
 */
struct srcavail_write {
	bool brief;
	bool refused;
	bool asked;
	bool late;
};

/*
 * Advertise pinned pages, and wait until the SrcAvail has ended. Returns the
 * number of bytes that the peer has got.
 */
static u32 srcavail_send_pages(struct sdp_sock *ssk, struct sdp_link *link,
			       struct sdp_pages *pages, long *timeo,
			       struct srcavail_write *w)
{
	struct sdp_srcavail_send o = { .link = link,
				       .first = srcavail_inline_bytes(ssk),
				       .brief = w->brief };

	if (pages->len <= o.first || !READ_ONCE(ssk->may_srcavail))
		return 0;
	pages->use = SDP_MEM_PEER_READS;
	o.mem = sdp_zcopy_map(ssk, link, pages);
	if (IS_ERR(o.mem))
		return 0;
	o.skb = srcavail_first_bytes(ssk, pages, o.first);
	if (o.skb && srcavail_advertise(ssk, &o)) {
		srcavail_await_end(ssk, &o, timeo);
		srcavail_end(ssk, &o);
		w->asked = o.asked;
		w->late = srcavail_late(&o);
	}
	kfree_skb(o.skb);
	link->ops->unmap(link, o.mem);
	return o.got;
}

/*
 * Move pinned pages by RDMA. If the peer has sent SinkAvail, we write; else we
 * send SrcAvail. If a SinkAvail crosses our SrcAvail, the peer has read nothing
 * or a part, and we write the rest (C8).
 *
 * Returns the number of bytes that the peer has got.
 */
static u32 srcavail_move_pages(struct sdp_sock *ssk, struct sdp_link *link,
			       struct sdp_pages *pages, long *timeo,
			       struct srcavail_write *w)
{
	bool passive = READ_ONCE(ssk->tx_mode) == SDP_MODE_PIPELINED;
	unsigned long since = jiffies;
	u32 got = 0;

	w->refused = false;
	w->asked = false;
	if (passive && sdp_sinkavail_send_await(ssk, timeo))
		got = sdp_sinkavail_send(ssk, link, pages);
	if (got)
		return got;
	got = srcavail_send_pages(ssk, link, pages, timeo, w);
	if (passive &&
	    time_after_eq(jiffies, since + sdp_sinkavail_send_patience(ssk)))
		sdp_sinkavail_send_missed(ssk);
	if (!got && READ_ONCE(ssk->sinkavail_tx_room))
		return sdp_sinkavail_send(ssk, link, pages);
	w->refused = got < pages->len && !w->late &&
		     !READ_ONCE(ssk->sinkavail_tx_room);
	return got;
}

/* Drop the first @n bytes of pinned pages. */
static void srcavail_skip(struct sdp_pages *pages, u32 n)
{
	n += pages->offset;
	pages->len -= n - pages->offset;
	pages->offset = offset_in_page(n);
	pages->pages += n >> PAGE_SHIFT;
	pages->n -= n >> PAGE_SHIFT;
}

/*
 * Send the beginning of a write in a message of its own, unless the peer has
 * advertised a buffer by now. Returns the number of bytes sent, and drops them
 * from @pages.
 */
static u32 srcavail_send_first(struct sdp_sock *ssk, struct sdp_link *link,
			       struct sdp_pages *pages)
{
	u32 max = sdp_engine_payload_max(&ssk->engine);
	u32 n = min_t(u32, max, SDP_FIRST_BYTES);
	struct sdp_todo todo = { };
	struct sk_buff *skb = NULL;
	bool may;

	if (n < pages->len)
		skb = srcavail_first_bytes(ssk, pages, n);
	if (!skb)
		return 0;
	sdp_conn_lock(ssk);
	may = ssk->link == link && !ssk->sk.sk_err &&
	      !(ssk->sk.sk_shutdown & SEND_SHUTDOWN) &&
	      !sdp_engine_may_rdma_write(&ssk->engine);
	if (may) {
		ssk->tx_hold = false;
		ssk->tx_was_full = false;
		ssk->tx_outq += n;
		sdp_memory_charge_tx(ssk, skb->truesize);
		__skb_queue_tail(&ssk->tx_queue, skb);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
	if (!may) {
		kfree_skb(skb);
		return 0;
	}
	srcavail_skip(pages, n);
	return n;
}

/*
 * Move a write, or a further part of it (@begun). If the peer's readers want
 * the beginning first, it goes in a message. The rest then waits for the buffer
 * that the reader advertises next, and for no earlier one (C10).
 *
 * Returns the number of bytes that have been sent.
 */
static u32 srcavail_move_part(struct sdp_sock *ssk, struct sdp_link *link,
			      struct sdp_pages *pages, long *timeo, bool begun,
			      struct srcavail_write *w)
{
	struct sdp_pages left = *pages;
	u32 first = 0, got;

	ssk->tx_first &= READ_ONCE(ssk->tx_mode) == SDP_MODE_PIPELINED;
	if (!begun && ssk->tx_first) {
		first = srcavail_send_first(ssk, link, &left);
		ssk->tx_first = first;
	}
	got = srcavail_move_pages(ssk, link, &left, timeo, w);
	if (!got && !first && !begun && w->asked) {
		first = srcavail_send_first(ssk, link, &left);
		ssk->tx_first = first;
		if (first)
			got = srcavail_move_pages(ssk, link, &left, timeo, w);
	}
	return first + got;
}

/**
 * sdp_srcavail_send() - send from the application's memory by RDMA (B1, B2)
 * @ssk: socket, with tx_mutex, which is dropped while the writer waits
 * @msg: the write; advanced
 * @timeo: how long the writer may wait, jiffies; reduced by the time waited
 * @begun: some of the write has been sent before
 * @refused: set when the rest of the write has to go in messages; nothing is
 *	done if it is set already
 * @turn: the writer has its turn (tx_turn); set when it takes it
 *
 * Does nothing when RDMA is not possible or not worth it.
 *
 * Return: number of bytes that have been sent, at most %SDP_MEM_MAX.
 */
u32 sdp_srcavail_send(struct sdp_sock *ssk, struct msghdr *msg, long *timeo,
		      bool begun, bool *refused, bool *turn)
{
	struct srcavail_write w = {
		.brief = sdp_zcopy_fits(ssk, msg_data_left(msg)),
		.refused = true,
	};
	struct sdp_pinned pin;
	struct sdp_link *link;
	u32 got = 0;

	if (*refused || !srcavail_possible(ssk) ||
	    !srcavail_worth(ssk, msg, *timeo))
		return 0;
	*refused = true;
	if (!sdp_pin(&pin, &msg->msg_iter, msg_data_left(msg),
		     SDP_MEM_PEER_READS))
		return 0;
	link = sdp_conn_use_link(ssk);
	if (link) {
		sdp_tx_turn_take(ssk, turn);
		got = srcavail_move_part(ssk, link, &pin.mem, timeo, begun, &w);
		*refused = w.refused;
		link->ops->unuse(link);
	}
	sdp_unpin(&pin);
	iov_iter_advance(&msg->msg_iter, got);
	return got;
}

/**
 * sdp_srcavail_send_follows() - is a write to wait for background writes?
 * @ssk: socket, with tx_mutex
 * @msg: the write
 * @timeo: how long the writer may wait, jiffies
 *
 * Behind background writes it would become one itself, which costs a copy, and
 * so would the next ones, however fast the reader is. If readers come at once,
 * the background writes are soon gone.
 *
 * Return: how long to wait for their end before sdp_srcavail_send(), jiffies; 0
 * if the write is not to wait.
 */
long sdp_srcavail_send_follows(struct sdp_sock *ssk, struct msghdr *msg,
			       long timeo)
{
	if (!READ_ONCE(ssk->background) || READ_ONCE(ssk->reader_late) ||
	    READ_ONCE(ssk->tx_mode) == SDP_MODE_BUFFERED ||
	    !srcavail_worth_later(ssk, msg, timeo))
		return 0;
	return min_t(long, timeo, srcavail_brief(ssk, READ_ONCE(ssk->tx_outq)));
}

/**
 * sdp_srcavail_send_missed() - a write has waited for background writes in vain
 * @ssk: socket, not locked
 */
void sdp_srcavail_send_missed(struct sdp_sock *ssk)
{
	sdp_conn_lock(ssk);
	if (ssk->background)
		WRITE_ONCE(ssk->reader_late, true);
	spin_unlock_bh(&ssk->lock);
}

/**
 * sdp_srcavail_send_take() - give SrcAvail to the connection, which sends it
 * @ssk: socket, locked; the engine has said that SrcAvail is next
 *
 * Return: the message with its payload, without a header.
 */
struct sk_buff *sdp_srcavail_send_take(struct sdp_sock *ssk)
{
	struct sdp_srcavail_send *o = ssk->srcavail_tx;
	struct sk_buff *skb = o->skb;

	o->skb = NULL;
	o->sent = jiffies;
	SDP_INC(sock_net(&ssk->sk), SrcAvailSent);
	ssk->srcavail_sent++;
	return skb;
}

static void srcavail_count_crossed(struct sdp_sock *ssk)
{
	/* A SrcAvail that has not been sent does not count as crossed. */
	if (ssk->srcavail_tx->skb)
		return;
	SDP_INC(sock_net(&ssk->sk), SrcAvailCrossed);
	ssk->srcavail_crossed++;
}

/**
 * sdp_srcavail_send_answered() - our SrcAvail has ended
 * @ssk: socket, locked
 * @a: the engine's action, %SDP_ACT_SRCAVAIL_OVER: the peer has answered, or a
 *	SinkAvail of the peer has crossed the SrcAvail
 * @todo: notes the wake-up of the writer
 */
void sdp_srcavail_send_answered(struct sdp_sock *ssk,
				const struct sdp_action *a,
				struct sdp_todo *todo)
{
	struct sdp_srcavail_send *o = ssk->srcavail_tx;
	struct net *net = sock_net(&ssk->sk);
	u32 got = a->len;

	o->asked = a->pipe && sdp_engine_asks_first(&ssk->engine);
	o->declined = !a->crossed && got != o->mem->region.len - o->skip;
	if (a->crossed)
		srcavail_count_crossed(ssk);
	else if (o->declined)
		SDP_INC(net, SrcAvailRefused);
	else
		SDP_INC(net, SrcAvailRead);
	SDP_ADD(net, RdmaReadBytesByPeer, got - o->first);
	ssk->bytes_sent += got - o->first;
	ssk->rdma_sent += got - o->first;
	ssk->rdma_read_by_peer += got - o->first;
	sdp_resize_note_rdma(ssk, got);
	ssk->last_sent = jiffies;
	ssk->tx_since = jiffies;
	sdp_srcavail_send_over(ssk, got);
	if (o->answered)
		o->answered(ssk, o, todo);
	else
		todo->wake |= SDP_WAKE_WRITE;
}

/**
 * sdp_srcavail_send_over() - end our SrcAvail, if there is one
 * @ssk: socket, locked
 * @got: number of bytes of it that the peer has got
 *
 * Called when the peer has answered, when the SrcAvail is cancelled before it
 * was sent, and when the connection ends.
 */
void sdp_srcavail_send_over(struct sdp_sock *ssk, u32 got)
{
	struct sdp_srcavail_send *o = ssk->srcavail_tx;

	if (!ssk->srcavail_tx_out)
		return;
	o->got = got;
	o->mem->settled = !ssk->engine.dead;
	/* Not sent, so the peer has got no byte of it. The writer frees it. */
	if (o->skb) {
		ssk->tx_outq -= o->first;
		sdp_memory_charge_tx(ssk, -(int)o->skb->truesize);
	}
	WRITE_ONCE(ssk->srcavail_tx_out, false);
	/* Pairs with sdp_zcopy_await_answer(). */
	smp_store_release(&o->over, true);
}
