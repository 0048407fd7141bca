// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes of a direction in Pipelined mode: straight into the memory that the peer's reader
 * has advertised (B4, C5).
 *
 * A writer that may wait pins its pages and writes from them by RDMA, and a message that says so
 * (RdmaWrCompl) goes behind. It waits until the write has been acknowledged, which takes the
 * fabric and nobody's program: then its pages are its own again.
 */
#include "../conn/sock.h"

/* There is room at the peer, and nothing to be sent before. So little is not worth it. */
static u32 room_for(const struct sdp_sock *ssk, u32 bytes)
{
	u32 n = min(bytes, sdp_engine_may_rdma_write(&ssk->engine));

	if (ssk->sk.sk_err || (ssk->sk.sk_shutdown & SEND_SHUTDOWN) ||
	    !skb_queue_empty(&ssk->tx_queue))
		return 0;
	return n == bytes || sdp_rdma_worth(ssk, n) ? n : 0;
}

/* Returns bytes that are on their way now. */
static u32 begin(struct sdp_sock *ssk, struct sdp_link *link,
		 struct sdp_mem *mem)
{
	struct sdp_todo todo = { };
	struct sdp_region to;
	u32 n;

	sdp_stream_lock(ssk);
	n = ssk->link == link ? room_for(ssk, mem->region.len) : 0;
	if (n && !sdp_engine_rdma_write(&ssk->engine, n, &to))
		n = 0;
	if (n && link->ops->move(link, mem, &to)) {
		ssk->rdma_writing = true;
		ssk->tx_was_full = false;
		sdp_stream_progress(ssk, &todo);
	} else if (n) {
		/* The peer must not be told of it. */
		sdp_stream_fail(ssk, ECONNRESET, "rdma write", &todo);
		n = 0;
	}
	sdp_stream_unlock(ssk, &todo);
	return n;
}

static void end(struct sdp_sock *ssk, u32 n)
{
	sdp_stream_lock(ssk);
	ssk->rdma_writing = false;
	if (n) {
		SDP_ADD(sock_net(&ssk->sk), RdmaWriteBytes, n);
		ssk->bytes_sent += n;
		ssk->rdma_sent += n;
		ssk->last_sent = jiffies;
		ssk->tx_since = jiffies;
	}
	sdp_alive_watch(ssk);
	spin_unlock_bh(&ssk->lock);
}

static bool room_or_end(struct sdp_sock *ssk, u32 unused)
{
	return READ_ONCE(ssk->sinkavail_tx_room) || READ_ONCE(ssk->sk.sk_err) ||
	       (READ_ONCE(ssk->sk.sk_shutdown) & SEND_SHUTDOWN);
}

/* Not in time, that is; what has come at the last moment counts. */
static bool in_vain(struct sdp_sock *ssk)
{
	bool vain;

	sdp_stream_lock(ssk);
	vain = !sdp_engine_may_rdma_write(&ssk->engine);
	WRITE_ONCE(ssk->sinkavail_missed, vain);
	spin_unlock_bh(&ssk->lock);
	return vain;
}

/**
 * sdp_sinkavail_send_patience() - how long does a large write wait for a reader?
 * @ssk: socket of the writer, or of the reader, which waits as long for the
 *	rest of a body
 *
 * A reader that reads what was written before is on its way, and an offer that
 * is too early costs both ends a registration.
 *
 * Return: jiffies, at least two: one may be over at once.
 */
long sdp_sinkavail_send_patience(const struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	return max(msecs_to_jiffies(READ_ONCE(set->reader_wait_ms)), 2ul);
}

/**
 * sdp_sinkavail_send_await() - give the peer's reader a moment to come (C5: the source is passive)
 * @ssk: socket, with tx_mutex, which is let go meanwhile; others are kept away
 * @timeo: how long the writer may wait (jiffies); the rest is left in it
 *
 * A reader that was late once may be late always: the next writes do not wait
 * for its memory until some has come by itself.
 *
 * Return: true when there is something to write to.
 */
bool sdp_sinkavail_send_await(struct sdp_sock *ssk, long *timeo)
{
	long brief = min(*timeo, sdp_sinkavail_send_patience(ssk)),
	     left = brief;

	if (READ_ONCE(ssk->sinkavail_tx_room))
		return true;
	if (READ_ONCE(ssk->sinkavail_missed))
		return false;
	SDP_INC(sock_net(&ssk->sk), SinkAvailAwaited);
	mutex_unlock(&ssk->tx_mutex);
	sdp_wait(ssk, SDP_WRITE, &left, room_or_end, 0);
	mutex_lock(&ssk->tx_mutex);
	if (!left && in_vain(ssk))
		SDP_INC(sock_net(&ssk->sk), SinkAvailMissed);
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo -= brief - left;
	return READ_ONCE(ssk->sinkavail_tx_room);
}

/*
 * Locked. Has a buffer come since the last look that was void by then (C7)? Its
 * reader was there first all the same.
 */
static bool stale_came(struct sdp_sock *ssk)
{
	u32 before = ssk->sinkavail_stale;

	ssk->sinkavail_stale = ssk->engine.sinkavail_tx.stale;
	return ssk->sinkavail_stale != before;
}

/**
 * sdp_sinkavail_send_missed() - the peer's reader was too late for a large write (C2)
 * @ssk: socket, with tx_mutex; the write has been offered, and that is over
 *
 * After some such writes in a row the direction is Combined again.
 */
void sdp_sinkavail_send_missed(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (!stale_came(ssk))
		sdp_engine_sinkavail_missed(&ssk->engine);
	sdp_stream_progress(ssk, &todo);
	sdp_stream_unlock(ssk, &todo);
}

/**
 * sdp_sinkavail_send() - write from pinned pages into what the peer advertises
 * @ssk: socket, with tx_mutex, which is let go meanwhile
 * @link: its link, in use
 * @pages: where from; all of them, as far as there is room at the peer
 *
 * Return: bytes; 0 when there is nothing to write to, or the connection has ended.
 */
u32 sdp_sinkavail_send(struct sdp_sock *ssk, struct sdp_link *link,
		       struct sdp_pages *pages)
{
	struct sdp_mem *mem;
	u32 n;

	/* To find that out under the lock costs a registration. */
	if (!READ_ONCE(ssk->sinkavail_tx_room) ||
	    !skb_queue_empty_lockless(&ssk->tx_queue))
		return 0;
	pages->use = SDP_MEM_WRITE_FROM;
	mem = sdp_map(ssk, link, pages);
	if (IS_ERR(mem))
		return 0;
	n = begin(ssk, link, mem);
	if (n) {
		mutex_unlock(&ssk->tx_mutex);
		sdp_await_move(ssk, link, mem);
		mutex_lock(&ssk->tx_mutex);
		if (mem->error)
			n = 0;
	}
	end(ssk, n);
	link->ops->unmap(link, mem);
	return n;
}
