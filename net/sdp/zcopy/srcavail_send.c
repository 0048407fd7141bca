// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes: the program's memory is offered to the peer, which reads it by RDMA (B1, B2).
 *
 * A writer that may wait pins its pages, has them registered and offers them: a message with the
 * first bytes tells the peer where the rest is (SrcAvail). Then it waits until the peer has read
 * them (RdmaRdCompl), or has said that it wants the rest in messages (SendSm). What the peer has
 * got counts as written; the rest goes the usual way.
 *
 * While it waits nobody else may write: it has its turn, which keeps them away like a full buffer
 * does. So a write is never mixed with another one, and who must not wait does not.
 *
 * A writer that may wait no longer (a signal, a timeout, shutdown by another thread) takes the
 * offer back, waits for the peer's answer, which its kernel gives without its program, and goes
 * on with messages as far as there is room, as every interrupted write does. A peer that does not
 * answer loses the connection. No access is left open when the call returns.
 */
#include <linux/highmem.h>

#include "../conn/sock.h"

/*
 * The peer's end asks for messages when nobody reads (C9). One that never looks
 * must not hold a writer for ever: after so many times as long as its looks may
 * take, and not less than a second, the offer is taken back.
 */
#define LOOKS_OF_OURS	10
#define SLICE		HZ

/**
 * struct sdp_srcavail_send - a writer's memory, as long as the peer may read it; on the writer's stack
 * @link: the link, in use
 * @mem: the memory
 * @skb: the message that offers it, until it is sent
 * @first: bytes in it
 * @got: bytes that the peer has got, when it is over
 * @over: the peer has answered, or the connection has ended
 * @asked: its reader wants the beginning first, in a message (C10)
 * @unread: it was taken back because nobody read of it for long
 */
struct sdp_srcavail_send {
	struct sdp_link *link;
	struct sdp_mem *mem;
	struct sk_buff *skb;
	u32 first;
	u32 got;
	bool over;
	bool asked;
	bool unread;
};

static bool worth_it(struct sdp_sock *ssk, const struct msghdr *msg, long timeo)
{
	const struct iov_iter *from = &msg->msg_iter;

	if (!timeo || !(READ_ONCE(ssk->may_srcavail) ||
			READ_ONCE(ssk->sinkavail_tx_room)))
		return false;
	return !(msg->msg_flags & (MSG_OOB | MSG_ZEROCOPY)) &&
	       user_backed_iter(from) &&
	       sdp_rdma_worth(ssk, iov_iter_single_seg_count(from));
}

/* The message, with the first bytes of the pages: what is read of them later is the same write. */
static struct sk_buff *first_bytes(struct sdp_sock *ssk,
				   const struct sdp_pages *pages, u32 n)
{
	struct sk_buff *skb =
		alloc_skb(SDP_TX_HEADROOM + n, ssk->sk.sk_allocation);
	u32 part, offset = pages->offset;
	unsigned int i;

	if (!skb)
		return NULL;
	skb_reserve(skb, SDP_TX_HEADROOM);
	sdp_buf_cb(skb)->payload = n;
	sdp_buf_cb(skb)->again = false;
	sdp_buf_cb(skb)->urgent = false;
	for (i = 0; n; i++, n -= part, offset = 0) {
		part = min_t(u32, n, PAGE_SIZE - offset);
		memcpy_from_page(skb_put(skb, part), pages->pages[i], offset,
				 part);
	}
	return skb;
}

static void begin(struct sdp_sock *ssk, struct sdp_srcavail_send *o)
{
	sdp_engine_srcavail(&ssk->engine, &o->mem->region, o->first);
	ssk->srcavail_tx = o;
	o->mem->settled = false;
	WRITE_ONCE(ssk->srcavail_tx_out, true);
	/* What is held back for more to come would hold this back as well. */
	ssk->tx_hold = false;
	sdp_memory_sent(ssk, o->skb->truesize);
	ssk->tx_outq += o->first;
	ssk->tx_was_full = false;
}

/* Offer it if that is possible now. The message is the connection's from then on. */
static bool offered(struct sdp_sock *ssk, struct sdp_srcavail_send *o)
{
	struct sdp_todo todo = { };
	bool may;

	sdp_stream_lock(ssk);
	may = ssk->link == o->link && sdp_engine_may_srcavail(&ssk->engine) &&
	      !o->first == (sdp_engine_tx_mode(&ssk->engine) ==
			    SDP_MODE_PIPELINED) &&
	      !ssk->sk.sk_err && !(ssk->sk.sk_shutdown & SEND_SHUTDOWN);
	if (may) {
		begin(ssk, o);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
	return may;
}

static bool over_or_refused(struct sdp_sock *ssk, u32 unused)
{
	return !READ_ONCE(ssk->srcavail_tx_out) || READ_ONCE(ssk->sk.sk_err) ||
	       (READ_ONCE(ssk->sk.sk_shutdown) & SEND_SHUTDOWN);
}

static unsigned long patience(const struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	u64 ms = LOOKS_OF_OURS * (u64)READ_ONCE(set->scan_ms);

	ms = min_t(u64, ms * READ_ONCE(set->scan_count), INT_MAX);
	return max_t(unsigned long, msecs_to_jiffies(ms), SLICE);
}

/*
 * Wait until it is over, or may not be waited for any more. Returns whether
 * that is so because nobody has read of it for too long. When the settings have
 * the peer look sooner, the time begins anew: the peer's looks do so as well.
 */
static bool await_reader(struct sdp_sock *ssk, long *timeo)
{
	unsigned long since = jiffies, limit = patience(ssk), before;
	u32 seen = 0, got;
	int err = -EAGAIN;

	while (err == -EAGAIN && *timeo) {
		long slice = min_t(long, *timeo, SLICE), left = slice;

		err = sdp_wait(ssk, SDP_WRITE, &left, over_or_refused, 0);
		if (*timeo != MAX_SCHEDULE_TIMEOUT)
			*timeo -= slice - left;
		got = sdp_engine_srcavail_tx_read(&ssk->engine);
		before = limit;
		limit = patience(ssk);
		if (got != seen || limit < before)
			since = jiffies;
		seen = got;
		if (err == -EAGAIN && time_after_eq(jiffies, since + limit))
			return true;
	}
	return false;
}

static void withdraw(struct sdp_sock *ssk, bool unread)
{
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (ssk->srcavail_tx_out) {
		SDP_INC(sock_net(&ssk->sk), SrcAvailCancelled);
		SDP_ADD(sock_net(&ssk->sk), ScansCancelled, unread);
		sdp_engine_srcavail_cancel(&ssk->engine);
		if (!sdp_engine_srcavail_tx_open(&ssk->engine))
			sdp_srcavail_send_over(ssk, 0);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

/* Without tx_mutex: others that want to write shall find out that they cannot now. */
static void await_end(struct sdp_sock *ssk, struct sdp_srcavail_send *o,
		      long *timeo)
{
	mutex_unlock(&ssk->tx_mutex);
	o->unread = await_reader(ssk, timeo);
	if (o->unread) {
		/*
		 * Its kernel will answer. If that stands still, or the network
		 * does, it is no reason to lose the connection.
		 */
		withdraw(ssk, true);
		sdp_wait(ssk, SDP_WRITE, timeo, over_or_refused, 0);
	}
	if (!READ_ONCE(o->over)) {
		if (!o->unread)
			withdraw(ssk, false);
		sdp_await_answer(ssk, &o->over);
	}
	mutex_lock(&ssk->tx_mutex);
}

static void end(struct sdp_sock *ssk, const struct sdp_srcavail_send *o)
{
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	ssk->srcavail_tx = NULL;
	if (o->unread && o->got == o->first) {
		sdp_engine_srcavail_unread(&ssk->engine);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

/* In Pipelined mode the reader's memory is soon there, so nothing goes along (wire section 8). */
static u32 first_of(const struct sdp_sock *ssk)
{
	if (READ_ONCE(ssk->tx_mode) == SDP_MODE_PIPELINED)
		return 0;
	return min_t(u32, sdp_engine_srcavail_inline_max(&ssk->engine),
		     SDP_FIRST_BYTES);
}

/* Offer what is pinned, and see it through. Returns bytes that the peer has got. */
static u32 offer_pages(struct sdp_sock *ssk, struct sdp_link *link,
		       struct sdp_pages *pages, long *timeo, bool *asked)
{
	struct sdp_srcavail_send o = { .link = link, .first = first_of(ssk) };

	if (pages->len <= o.first || !READ_ONCE(ssk->may_srcavail))
		return 0;
	pages->use = SDP_MEM_PEER_READS;
	o.mem = sdp_map(ssk, link, pages);
	if (IS_ERR(o.mem))
		return 0;
	o.skb = first_bytes(ssk, pages, o.first);
	if (o.skb && offered(ssk, &o)) {
		await_end(ssk, &o, timeo);
		end(ssk, &o);
		*asked = o.asked;
	}
	kfree_skb(o.skb);
	link->ops->unmap(link, o.mem);
	return o.got;
}

/*
 * Where a reader has made room they are written there; else they are offered. An offer that meets
 * a reader's memory on its way ends with nothing, or with a part, and then that is used for the
 * rest (C8). Returns bytes that the peer has got.
 */
static u32 move_pages(struct sdp_sock *ssk, struct sdp_link *link,
		      struct sdp_pages *pages, long *timeo, bool *refused,
		      bool *asked)
{
	bool passive = READ_ONCE(ssk->tx_mode) == SDP_MODE_PIPELINED;
	unsigned long since = jiffies;
	u32 got = 0;

	*refused = false;
	if (passive && sdp_sinkavail_send_await(ssk, timeo))
		got = sdp_sinkavail_send(ssk, link, pages);
	if (got)
		return got;
	got = offer_pages(ssk, link, pages, timeo, asked);
	if (passive &&
	    time_after_eq(jiffies, since + sdp_sinkavail_send_patience(ssk)))
		sdp_sinkavail_send_missed(ssk);
	if (!got && READ_ONCE(ssk->sinkavail_tx_room))
		return sdp_sinkavail_send(ssk, link, pages);
	*refused = got < pages->len && !READ_ONCE(ssk->sinkavail_tx_room);
	return got;
}

static void pass_over(struct sdp_pages *pages, u32 n)
{
	n += pages->offset;
	pages->len -= n - pages->offset;
	pages->offset = offset_in_page(n);
	pages->pages += n >> PAGE_SHIFT;
	pages->n -= n >> PAGE_SHIFT;
}

/*
 * The beginning goes in a message of its own, unless a reader's buffer is there
 * by now. Returns bytes of it.
 */
static u32 send_first(struct sdp_sock *ssk, struct sdp_link *link,
		      struct sdp_pages *pages)
{
	u32 max = sdp_engine_payload_max(&ssk->engine);
	u32 n = min_t(u32, max, SDP_FIRST_BYTES);
	struct sdp_todo todo = { };
	struct sk_buff *skb = NULL;
	bool may;

	if (n < pages->len)
		skb = first_bytes(ssk, pages, n);
	if (!skb)
		return 0;
	sdp_stream_lock(ssk);
	may = ssk->link == link && !ssk->sk.sk_err &&
	      !(ssk->sk.sk_shutdown & SEND_SHUTDOWN) &&
	      !sdp_engine_may_rdma_write(&ssk->engine);
	if (may) {
		ssk->tx_hold = false;
		ssk->tx_was_full = false;
		ssk->tx_outq += n;
		sdp_memory_sent(ssk, skb->truesize);
		__skb_queue_tail(&ssk->tx_queue, skb);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
	if (!may) {
		kfree_skb(skb);
		return 0;
	}
	pass_over(pages, n);
	return n;
}

/*
 * One write, or another part of it. Where readers want the beginning first, the
 * rest is for the buffer that follows: it is that one that is waited for, and
 * none before (C10). Returns as move_pages() does.
 */
static u32 move_part(struct sdp_sock *ssk, struct sdp_link *link,
		     struct sdp_pages *pages, long *timeo, bool begun,
		     bool *refused)
{
	struct sdp_pages rest = *pages;
	bool asked = false;
	u32 first = 0, got;

	ssk->tx_first &= READ_ONCE(ssk->tx_mode) == SDP_MODE_PIPELINED;
	if (!begun && ssk->tx_first) {
		first = send_first(ssk, link, &rest);
		ssk->tx_first = first;
	}
	got = move_pages(ssk, link, &rest, timeo, refused, &asked);
	if (got || first || begun || !asked)
		return first + got;
	first = send_first(ssk, link, &rest);
	ssk->tx_first = first;
	if (first)
		got = move_pages(ssk, link, &rest, timeo, refused, &asked);
	return first + got;
}

/**
 * sdp_srcavail_send() - send from the memory of a large write by RDMA, if that can be (B1, B2)
 * @ssk: socket, with tx_mutex, which is let go while the peer reads
 * @msg: what to send; advanced
 * @timeo: how long to wait (jiffies); the rest is left in it
 * @begun: some of the write has gone before
 * @refused: what follows has to go in messages
 * @turn: it is the writer's turn; taken if need be
 *
 * Return: bytes that the peer has got.
 */
u32 sdp_srcavail_send(struct sdp_sock *ssk, struct msghdr *msg, long *timeo,
		      bool begun, bool *refused, bool *turn)
{
	struct sdp_pinned pin;
	struct sdp_link *link;
	u32 got = 0;

	if (*refused || !worth_it(ssk, msg, *timeo))
		return 0;
	*refused = true;
	if (!sdp_pin(&pin, &msg->msg_iter, msg_data_left(msg),
		     SDP_MEM_PEER_READS))
		return 0;
	link = sdp_link_use(ssk);
	if (link) {
		sdp_turn_take(ssk, turn);
		got = move_part(ssk, link, &pin.mem, timeo, begun, refused);
		link->ops->unuse(link);
	}
	sdp_unpin(&pin);
	iov_iter_advance(&msg->msg_iter, got);
	return got;
}

/**
 * sdp_srcavail_send_take() - the offer's message is about to be sent
 * @ssk: socket, locked; the engine has said that it may
 *
 * Return: the message, without its header.
 */
struct sk_buff *sdp_srcavail_send_take(struct sdp_sock *ssk)
{
	struct sdp_srcavail_send *o = ssk->srcavail_tx;
	struct sk_buff *skb = o->skb;

	o->skb = NULL;
	SDP_INC(sock_net(&ssk->sk), SrcAvailSent);
	ssk->srcavail_sent++;
	return skb;
}

static void crossed(struct sdp_sock *ssk)
{
	/* Who has not been sent has met nothing. */
	if (ssk->srcavail_tx->skb)
		return;
	SDP_INC(sock_net(&ssk->sk), SrcAvailCrossed);
	ssk->srcavail_crossed++;
}

/**
 * sdp_srcavail_send_answered() - the peer has read what it wanted of the offer
 * @ssk: socket, locked
 * @a: the engine's word about it
 */
void sdp_srcavail_send_answered(struct sdp_sock *ssk,
				const struct sdp_action *a)
{
	struct sdp_srcavail_send *o = ssk->srcavail_tx;
	struct net *net = sock_net(&ssk->sk);
	u32 got = a->len;

	o->asked = a->pipe && sdp_engine_asks_first(&ssk->engine);
	if (a->crossed)
		crossed(ssk);
	else if (got == o->mem->region.len)
		SDP_INC(net, SrcAvailRead);
	else
		SDP_INC(net, SrcAvailRefused);
	SDP_ADD(net, RdmaReadBytesByPeer, got - o->first);
	ssk->bytes_sent += got - o->first;
	ssk->rdma_sent += got - o->first;
	ssk->rdma_read_by_peer += got - o->first;
	ssk->last_sent = jiffies;
	ssk->tx_since = jiffies;
	sdp_srcavail_send_over(ssk, got);
}

/**
 * sdp_srcavail_send_over() - the peer has read, or refused; or the connection has failed
 * @ssk: socket, locked
 * @got: bytes of the offer that the peer has
 */
void sdp_srcavail_send_over(struct sdp_sock *ssk, u32 got)
{
	struct sdp_srcavail_send *o = ssk->srcavail_tx;

	if (!ssk->srcavail_tx_out)
		return;
	o->got = got;
	o->mem->settled = !ssk->engine.dead;
	/* Not sent, so nobody has got anything of it; the writer frees it. */
	if (o->skb) {
		ssk->tx_outq -= o->first;
		sdp_memory_sent(ssk, -(int)o->skb->truesize);
	}
	WRITE_ONCE(ssk->srcavail_tx_out, false);
	/* Pairs with sdp_await_answer(). */
	smp_store_release(&o->over, true);
}
