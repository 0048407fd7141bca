// SPDX-License-Identifier: GPL-2.0
/*
 * SinkAvail that we receive: write into it by RDMA.
 *
 * This is for large writes of a direction in Pipelined mode (B4, C5). A writer
 * that may wait pins its pages and writes from them by RDMA, straight into the
 * memory that the peer's reader has advertised. RdmaWrCompl follows in the same
 * queue. The writer waits until the write has been acknowledged. That needs the
 * fabric only, and no application. Then the pages are unpinned.
 *
 * srcavail_send.c calls this file. If the peer has advertised nothing, the
 * writer waits a moment for the peer's reader (sdp_sinkavail_send_await()), and
 * then sends SrcAvail.
 */
#include "../conn/conn.h"
#include "../conn/keepalive.h"
#include "../conn/output.h"
#include "../conn/resize.h"
#include "../conn/wake.h"
#include "sinkavail_send.h"
#include "zcopy.h"

/*
 * Number of bytes that may be written now: at most @bytes, and 0 if a message
 * must be sent first, or if only a part fits that is not worth RDMA.
 */
static u32 sinkavail_room_for(const struct sdp_sock *ssk, u32 bytes)
{
	u32 n = min(bytes, sdp_engine_may_rdma_write(&ssk->engine));

	if (READ_ONCE(ssk->link->many) || ssk->sk.sk_err ||
	    (ssk->sk.sk_shutdown & SEND_SHUTDOWN) ||
	    !skb_queue_empty(&ssk->tx_queue))
		return 0;
	return n == bytes || sdp_zcopy_worth(ssk, n) ? n : 0;
}

/**
 * sdp_sinkavail_send_move() - begin an RDMA write into the peer's oldest buffer
 * @ssk: socket, locked, with a link
 * @mem: memory to write from
 * @n: number of bytes, at most sdp_engine_may_rdma_write()
 *
 * Return: true when the write is in flight; false, and nothing has changed, if
 * the transport does not take it.
 */
bool sdp_sinkavail_send_move(struct sdp_sock *ssk, struct sdp_mem *mem, u32 n)
{
	struct sdp_region to;

	sdp_engine_rdma_write_where(&ssk->engine, n, &to);
	if (!ssk->link->ops->move(ssk->link, mem, &to, NULL))
		return false;
	WARN_ON_ONCE(!sdp_engine_rdma_write(&ssk->engine, n, &to));
	return true;
}

/* Begin to write. Returns the number of bytes that are in flight now. */
static u32 sinkavail_write_begin(struct sdp_sock *ssk, struct sdp_link *link,
				 struct sdp_mem *mem)
{
	struct sdp_todo todo = { };
	u32 n;

	sdp_conn_lock(ssk);
	n = ssk->link == link ? sinkavail_room_for(ssk, mem->region.len) : 0;
	if (n && !sdp_sinkavail_send_move(ssk, mem, n))
		n = 0;
	if (n) {
		ssk->rdma_writing = true;
		ssk->tx_was_full = false;
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
	return n;
}

/**
 * sdp_sinkavail_send_count() - count bytes that have arrived by RDMA write
 * @ssk: socket, locked
 * @n: number of bytes
 */
void sdp_sinkavail_send_count(struct sdp_sock *ssk, u32 n)
{
	SDP_ADD(sock_net(&ssk->sk), RdmaWriteBytes, n);
	ssk->bytes_sent += n;
	ssk->rdma_sent += n;
	sdp_resize_note_rdma(ssk, n);
	ssk->last_sent = jiffies;
	ssk->tx_since = jiffies;
}

/* The write has ended; @n bytes have arrived. */
static void sinkavail_write_end(struct sdp_sock *ssk, u32 n)
{
	sdp_conn_lock(ssk);
	ssk->rdma_writing = false;
	if (n)
		sdp_sinkavail_send_count(ssk, n);
	sdp_keepalive_watch(ssk);
	spin_unlock_bh(&ssk->lock);
}

/* Condition for sdp_wait(): a buffer to write into, or no more sending. */
static bool sinkavail_room_or_end(struct sdp_sock *ssk, u32 unused)
{
	return READ_ONCE(ssk->sinkavail_tx_room) || READ_ONCE(ssk->sk.sk_err) ||
	       (READ_ONCE(ssk->sk.sk_shutdown) & SEND_SHUTDOWN);
}

/*
 * The wait for a SinkAvail is over: note whether one has come in time. One that
 * came at the last moment counts. Returns true if none has come.
 */
static bool sinkavail_note_missed(struct sdp_sock *ssk)
{
	bool vain;

	sdp_conn_lock(ssk);
	vain = !sdp_engine_may_rdma_write(&ssk->engine);
	WRITE_ONCE(ssk->sinkavail_missed, vain);
	spin_unlock_bh(&ssk->lock);
	return vain;
}

/**
 * sdp_sinkavail_send_patience() - time that a large write waits for a reader
 * @ssk: socket of the writer; or of a reader, which waits this long for the
 *	rest of a large write (C10)
 *
 * A reader that is busy with what was written before is likely to come soon,
 * and a SrcAvail that is sent too early costs both ends a registration.
 *
 * Return: jiffies, at least 2, because a wait of 1 may end at once.
 */
long sdp_sinkavail_send_patience(const struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	return max(msecs_to_jiffies(READ_ONCE(set->reader_wait_ms)), 2ul);
}

/**
 * sdp_sinkavail_send_await() - wait a moment for the peer's reader (C5)
 * @ssk: socket, with tx_mutex, which is dropped meanwhile. The writer has its
 *	turn (tx_turn), so nobody else writes
 * @timeo: how long the writer may wait, jiffies; reduced by the time waited
 *
 * A reader that was late once may always be late. So if no SinkAvail comes in
 * time, the next writes do not wait, until one has come by itself.
 *
 * Return: true when the peer has advertised a buffer to write into.
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
	sdp_wait(ssk, SDP_WRITE, &left, sinkavail_room_or_end, 0);
	mutex_lock(&ssk->tx_mutex);
	if (!left && sinkavail_note_missed(ssk))
		SDP_INC(sock_net(&ssk->sk), SinkAvailMissed);
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo -= brief - left;
	return READ_ONCE(ssk->sinkavail_tx_room);
}

/*
 * Has a stale SinkAvail come since the last call (C7)? We could not use it, but
 * it shows that the reader was waiting before the write. Called with the
 * socket's lock.
 */
static bool sinkavail_stale_came(struct sdp_sock *ssk)
{
	u32 before = ssk->sinkavail_stale;

	ssk->sinkavail_stale = ssk->engine.sinkavail_tx.stale;
	return ssk->sinkavail_stale != before;
}

/**
 * sdp_sinkavail_send_missed() - no SinkAvail came for a large write (C2)
 * @ssk: socket, with tx_mutex; the write's SrcAvail has ended, and by then the
 *	time to wait for a SinkAvail had passed
 *
 * After several such writes in a row the direction returns to Combined mode.
 */
void sdp_sinkavail_send_missed(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (!sinkavail_stale_came(ssk))
		sdp_engine_sinkavail_missed(&ssk->engine);
	sdp_conn_progress(ssk, &todo);
	sdp_conn_unlock(ssk, &todo);
}

/**
 * sdp_sinkavail_send() - write from pinned pages into the peer's buffer
 * @ssk: socket, with tx_mutex, which is dropped meanwhile. The writer has its
 *	turn (tx_turn)
 * @link: its link, in use
 * @pages: bytes to write, as far as the peer's oldest buffer has room
 *
 * Return: number of bytes written; 0 when there is no buffer to write into,
 * when the memory could not be registered, or when the connection has ended.
 */
u32 sdp_sinkavail_send(struct sdp_sock *ssk, struct sdp_link *link,
		       struct sdp_pages *pages)
{
	struct sdp_mem *mem;
	u32 n;

	/* sinkavail_write_begin() checks again, after the registration. */
	if (!READ_ONCE(ssk->sinkavail_tx_room) ||
	    !skb_queue_empty_lockless(&ssk->tx_queue))
		return 0;
	pages->use = SDP_MEM_WRITE_FROM;
	mem = sdp_zcopy_map(ssk, link, pages);
	if (IS_ERR(mem))
		return 0;
	n = sinkavail_write_begin(ssk, link, mem);
	if (n) {
		mutex_unlock(&ssk->tx_mutex);
		sdp_zcopy_await(ssk, link, mem);
		mutex_lock(&ssk->tx_mutex);
		if (mem->error)
			n = 0;
	}
	sinkavail_write_end(ssk, n);
	link->ops->unmap(link, mem);
	return n;
}
