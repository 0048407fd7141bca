// SPDX-License-Identifier: GPL-2.0
/*
 * Large reads of a direction in Pipelined mode: the reader's memory is advertised to the peer,
 * whose writer puts its bytes straight there (B4, C5).
 *
 * A reader that would have to wait, with much room, pins its pages, has them registered and
 * advertises them (SinkAvail). Then it waits, like every reader. What the peer writes
 * (RdmaWrCompl) is in its memory and has its place in the stream; whatever else happens (bytes
 * in a message, the end of the stream, a change of the mode) ends the advertisement, and the
 * reader looks again. One write goes into it, however long it is.
 *
 * A peer of another kind may report several times of one buffer, or it may not
 * (sinkavail_rx.h). When it has reported, the reader takes the rest back and waits
 * for the answer, but only briefly: a peer that had no rest gives none. Then
 * its memory is unmapped, so that the peer cannot reach it. Only then the
 * engine forgets it, and another buffer may be advertised.
 *
 * Several readers may each have their memory advertised; it is filled in the order in which they
 * came. Who may wait no longer (a signal, a timeout) takes back what is advertised, the others'
 * as well, because the wire knows no other way, and waits for the peer's answer, which its kernel
 * gives without its program: what was written meanwhile is read. No access is left open when the
 * call returns.
 */
#include "../conn/sock.h"

/**
 * struct sdp_sinkavail_recv - a reader's memory, as long as the peer may write to it; on the reader's stack
 * @node: in the socket's list until it is over; under the socket's lock
 * @id: what the engine knows it by
 * @mem: the memory; NULL as soon as it may be unmapped
 * @got: bytes that the peer has written so far
 * @told: the peer has said something of it
 * @over: the peer does not write to it any more
 */
struct sdp_sinkavail_recv {
	struct list_head node;
	u32 id;
	struct sdp_mem *mem;
	u32 got;
	bool told;
	bool over;
};

/* How long a reader waits for an answer that there may not be. */
#define REST_JIFFIES	(HZ / 4)

/* It is not looked at here any more. The caller wakes readers. */
static void over(struct sdp_sock *ssk, struct sdp_sinkavail_recv *p)
{
	if (p->mem)
		p->mem->settled = !ssk->engine.dead;
	list_del(&p->node);
	WRITE_ONCE(p->told, true);
	/* The last look at it: pairs with await_over() and unmap(). */
	smp_store_release(&p->over, true);
	WRITE_ONCE(ssk->sinkavail_rx_over, ssk->sinkavail_rx_over + 1);
}

/**
 * sdp_sinkavail_recv_over() - an advertisement has come to its end, or bytes are there
 * @ssk: socket, locked
 * @id: which
 * @got: bytes written to it, which come next in the stream
 * @rest: the peer may write more to it
 *
 * The caller wakes readers.
 */
void sdp_sinkavail_recv_over(struct sdp_sock *ssk, u32 id, u32 got, bool rest)
{
	struct sdp_sinkavail_recv *p;

	if (got) {
		sdp_passed(ssk, got);
		SDP_ADD(sock_net(&ssk->sk), RdmaWriteBytesByPeer, got);
		ssk->bytes_received += got;
		ssk->rdma_received += got;
		ssk->last_received = jiffies;
	}
	list_for_each_entry(p, &ssk->sinkavail_rx, node) {
		if (p->id != id)
			continue;
		p->got += got;
		if (!rest) {
			over(ssk, p);
			return;
		}
		/* Pairs with sdp_await_answer(). */
		smp_store_release(&p->told, true);
		WRITE_ONCE(ssk->sinkavail_rx_over, ssk->sinkavail_rx_over + 1);
		return;
	}
}

/**
 * sdp_sinkavail_recv_end() - so have all, with the connection
 * @ssk: socket, locked
 *
 * The caller wakes readers.
 */
void sdp_sinkavail_recv_end(struct sdp_sock *ssk)
{
	struct sdp_sinkavail_recv *p, *next;

	list_for_each_entry_safe(p, next, &ssk->sinkavail_rx, node)
		over(ssk, p);
}

/* Nobody wants them any more. Those that the peer does not know of are over at once. */
static void take_back(struct sdp_sock *ssk)
{
	struct sdp_actions acts = { };
	u32 i;

	sdp_engine_sinkavail_cancel(&ssk->engine, &acts);
	for (i = 0; i < acts.n; i++)
		sdp_sinkavail_recv_over(ssk, acts.list[i].id, 0, false);
}

/**
 * sdp_sinkavail_recv_check() - before something is sent: is what a reader advertises still next?
 * @ssk: socket, locked
 *
 * One that the peer has been told of is over when a message with bytes comes, for the peer knows
 * of both. One that still waits for credit must not go behind bytes that nobody has read: what is
 * written to it would overtake them.
 */
void sdp_sinkavail_recv_check(struct sdp_sock *ssk)
{
	if (ssk->rx_bytes &&
	    sdp_sinkavail_rx_waiting(&ssk->engine.sinkavail_rx))
		take_back(ssk);
}

/* With what comes in between there is no need. */
static bool begin(struct sdp_sock *ssk, struct sdp_link *link,
		  struct sdp_sinkavail_recv *p)
{
	struct sdp_todo todo = { };
	bool may;
	u32 least;

	sdp_stream_lock(ssk);
	least = sdp_engine_may_sinkavail(&ssk->engine);
	may = ssk->link == link && !ssk->rx_bytes && !ssk->sk.sk_err &&
	      !(ssk->sk.sk_shutdown & RCV_SHUTDOWN) && least &&
	      p->mem->region.len >= least;
	if (may)
		p->id = sdp_engine_sinkavail(&ssk->engine, &p->mem->region);
	if (p->id) {
		list_add_tail(&p->node, &ssk->sinkavail_rx);
		p->mem->settled = false;
		if (READ_ONCE(ssk->rx_body) == SDP_BODY_PROMISED)
			WRITE_ONCE(ssk->rx_body, SDP_BODY_SEEN);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
	return p->id;
}

static bool other_news(struct sdp_sock *ssk)
{
	return READ_ONCE(ssk->rx_bytes) ||
	       (READ_ONCE(ssk->srcavail_rx_left) && READ_ONCE(ssk->rx_reads)) ||
	       sdp_input_over(ssk);
}

static bool some_over_or_other_news(struct sdp_sock *ssk, u32 number)
{
	return READ_ONCE(ssk->sinkavail_rx_over) != number || other_news(ssk);
}

static bool is_told(struct sdp_sock *ssk, const struct sdp_sinkavail_recv *p,
		    u32 *number)
{
	bool is;

	sdp_stream_lock(ssk);
	is = p->told;
	*number = ssk->sinkavail_rx_over;
	spin_unlock_bh(&ssk->lock);
	return is;
}

/* What ends another reader's memory is no news for this one. */
static int await_news(struct sdp_sock *ssk, const struct sdp_sinkavail_recv *p,
		      long *timeo)
{
	int err = 0;
	u32 number;

	while (!err && !is_told(ssk, p, &number) && !other_news(ssk))
		err = sdp_wait(ssk, SDP_READ, timeo, some_over_or_other_news,
			       number);
	return err;
}

/* A peer answers a cancel unless its report has ended the buffer. */
static void await_over(struct sdp_sock *ssk, struct sdp_sinkavail_recv *p)
{
	unsigned long end;

	sdp_await_answer(ssk, &p->told);
	end = jiffies + REST_JIFFIES;
	/* Pairs with over(). */
	while (!smp_load_acquire(&p->over) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
}

static int await_end(struct sdp_sock *ssk, struct sdp_sinkavail_recv *p,
		     long *timeo)
{
	struct sdp_todo todo = { };
	int err;

	err = await_news(ssk, p, timeo);
	sdp_stream_lock(ssk);
	if (!p->over) {
		SDP_INC(sock_net(&ssk->sk), SinkAvailCancelled);
		take_back(ssk);
		todo.wake |= SDP_WAKE_READ;
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
	await_over(ssk, p);
	return err;
}

/*
 * The memory is unmapped. If the peer has not said that it does not write any
 * more, it cannot now; so what it reports from now on is about another buffer.
 */
static void unmap(struct sdp_sock *ssk, struct sdp_link *link,
		  struct sdp_sinkavail_recv *p)
{
	struct sdp_mem *mem = p->mem;
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	p->mem = NULL;
	spin_unlock_bh(&ssk->lock);
	link->ops->unmap(link, mem);
	/* Likewise. */
	if (smp_load_acquire(&p->over))
		return;
	sdp_stream_lock(ssk);
	if (!p->over) {
		sdp_engine_sinkavail_drop(&ssk->engine, p->id);
		over(ssk, p);
		todo.wake |= SDP_WAKE_READ;
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

/**
 * sdp_sinkavail_recv_fits() - has a reader's memory a size that could be advertised?
 * @ssk: socket
 * @to: the memory; what is advertised is in one piece
 * @room: bytes of it
 *
 * The same for learning the mode: a reader that this refuses is never there
 * first.
 *
 * Return: true when it is worth it, and not too short.
 */
bool sdp_sinkavail_recv_fits(const struct sdp_sock *ssk,
			     const struct iov_iter *to, size_t room)
{
	room = min(room, iov_iter_single_seg_count(to));
	return room >= READ_ONCE(ssk->rx_least) && sdp_rdma_worth(ssk, room);
}

/* To find out later that it may not be costs a registration. */
static bool worth_it(struct sdp_sock *ssk, const struct iov_iter *to,
		     size_t room, long timeo)
{
	u32 least;

	if (READ_ONCE(ssk->rx_mode) != SDP_MODE_PIPELINED || !timeo)
		return false;
	sdp_stream_lock(ssk);
	least = sdp_engine_may_sinkavail(&ssk->engine);
	spin_unlock_bh(&ssk->lock);
	return least && sdp_sinkavail_recv_fits(ssk, to, room);
}

/**
 * sdp_sinkavail_recv() - advertise a reader's memory to the peer, and wait (C5)
 * @ssk: socket, with rx_mutex, which is let go meanwhile; there is nothing to read
 * @to: the reader's memory; advanced
 * @room: bytes of it
 * @timeo: how long to wait (jiffies); the rest is left in it
 * @result: bytes that have come, 0 when there may be something to be read now, or an errno
 *
 * Return: false when nothing has happened: then wait without.
 */
bool sdp_sinkavail_recv(struct sdp_sock *ssk, struct iov_iter *to, size_t room,
			long *timeo, int *result)
{
	struct sdp_sinkavail_recv p = { };
	struct sdp_pinned pin;
	struct sdp_link *link;
	bool posted = false;

	if (!worth_it(ssk, to, room, *timeo) ||
	    !sdp_pin(&pin, to, room, SDP_MEM_PEER_WRITES))
		return false;
	/* Others may look, or wait, meanwhile; who keeps them waiting does not keep this. */
	mutex_unlock(&ssk->rx_mutex);
	link = sdp_link_use(ssk);
	p.mem = link ? sdp_map(ssk, link, &pin.mem) : ERR_PTR(-ENOTCONN);
	if (!IS_ERR(p.mem)) {
		posted = begin(ssk, link, &p);
		if (posted)
			*result = await_end(ssk, &p, timeo);
		p.over |= !posted;
		unmap(ssk, link, &p);
	}
	if (link)
		link->ops->unuse(link);
	sdp_unpin(&pin);
	mutex_lock(&ssk->rx_mutex);
	if (p.got) {
		iov_iter_advance(to, p.got);
		*result = p.got;
	}
	return posted;
}
