// SPDX-License-Identifier: GPL-2.0
/*
 * Send queue: written bytes in segments, one per future message.
 *
 * A segment has a linear part for small writes and page fragments behind it for
 * large ones. The last segment stays open: further writes are added to it until
 * it is full or sent.
 *
 * A writer has tx_mutex. It claims a segment (sdp_tx_claim()), copies into it
 * without the lock, and adds the bytes (sdp_tx_add()). Between these two calls
 * the segment is held back (tx_hold); full segments before it are sent.
 *
 * A call that sleeps in the middle of its write drops tx_mutex but keeps its
 * turn (tx_turn). Until it ends, other writers wait, or are told that there is
 * no room. So the bytes of two calls never mix.
 */
#include "autotune.h"
#include "conn.h"
#include "memory.h"
#include "output.h"
#include "resize.h"
#include "segment.h"
#include "tx_queue.h"
#include "urgent.h"
#include "zcopy_ops.h"
#include "zerocopy.h"

/* Linear part of a segment that may gather small writes: 2 KiB in all. */
#define GATHER_LINEAR	(SKB_WITH_OVERHEAD(2048) - SDP_TX_HEADROOM)
/* Smallest message payload for which a block is used. */
#define BLOCK_MIN	4096
/* Largest write that is copied into the linear part. */
#define LINEAR_WRITE	1024
/*
 * Linear part of a segment that refers to the pages of a write: for pieces that
 * are too small to refer to.
 */
#define LINEAR_REFS	256

/* A block for a large message that will be full: a kept one, or a new one. */
static struct sk_buff *tx_new_block(struct sdp_sock *ssk)
{
	struct sk_buff *skb;
	u32 max;

	sdp_conn_lock(ssk);
	max = sdp_engine_payload_max(&ssk->engine);
	/* Blocks from before a resize have the wrong size. */
	while ((skb = __skb_dequeue(&ssk->tx_blocks)) && skb->len != max)
		kfree_skb(skb);
	spin_unlock_bh(&ssk->lock);
	return skb ?: sdp_buf_block(max, ssk->tx_frags, ssk->sk.sk_allocation);
}

/*
 * A new segment for a write of which @left bytes are left. @refs: the segment
 * refers to the pages of the write. @alone: everything sent before has arrived.
 * Called without the lock; returns NULL if memory is short.
 */
static struct sk_buff *tx_new_segment(struct sdp_sock *ssk, size_t left,
				      bool refs, bool alone)
{
	u32 max = sdp_engine_payload_max(&ssk->engine);
	struct sk_buff *skb;
	u32 linear = 0;

	if ((left >= max || READ_ONCE(ssk->tx_bulk)) && max >= BLOCK_MIN &&
	    !refs) {
		skb = tx_new_block(ssk);
		if (skb)
			return skb;
	}
	/*
	 * With nothing in flight a small message is sent at once and needs no
	 * room for further writes. Otherwise it may gather some.
	 */
	if (left <= LINEAR_WRITE)
		linear = !ssk->coalesce || alone ? left : GATHER_LINEAR;
	if (refs)
		linear = LINEAR_REFS;
	linear = min(linear, max);
	skb = alloc_skb(SDP_TX_HEADROOM + linear, ssk->sk.sk_allocation);
	if (!skb)
		return NULL;
	skb_reserve(skb, SDP_TX_HEADROOM);
	sdp_buf_cb(skb)->payload = 0;
	sdp_buf_cb(skb)->reused = false;
	sdp_buf_cb(skb)->urgent = false;
	return skb;
}

/**
 * sdp_tx_error() - can the socket send no more?
 * @sk: socket; a caller without its lock asks again under the lock
 *
 * Return: -EPIPE after an error or the end of the sending half, else 0.
 */
int sdp_tx_error(const struct sock *sk)
{
	return READ_ONCE(sk->sk_err) ||
	       (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN) ? -EPIPE : 0;
}

/* Another thread may have disconnected the socket and begun a new connect. */
static bool tx_may_send(const struct sock *sk)
{
	return BIT(sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT);
}

/**
 * sdp_tx_claim() - get a segment to copy into
 * @ssk: socket, with tx_mutex, not locked
 * @left: bytes of the write that are left
 * @refs: pages that the write may refer to
 * @first: nothing of the write has been taken yet
 * @fresh: set to whether the segment is new and not in the queue yet
 *
 * A segment of the queue is held back until sdp_tx_add(), and gets a reference
 * for the caller: the connection may fail and purge the queue during the copy.
 *
 * Return: the segment; NULL if its allocation failed; or an ERR_PTR: -EAGAIN if
 * the memory of all sockets together or of the memory cgroup is short, -EPIPE
 * if there is no connection.
 */
struct sk_buff *sdp_tx_claim(struct sdp_sock *ssk, size_t left,
			     const struct sdp_refs *refs, bool first,
			     bool *fresh)
{
	struct sk_buff *skb;
	u32 max, most;
	bool alone;

	sdp_conn_lock(ssk);
	max = sdp_engine_payload_max(&ssk->engine);
	/* Even a small write may need a whole block. */
	most = ssk->tx_bulk ? max : min_t(size_t, left, max);
	if (!tx_may_send(&ssk->sk) ||
	    !sdp_memory_for_write(ssk, SKB_TRUESIZE(most))) {
		spin_unlock_bh(&ssk->lock);
		return ERR_PTR(tx_may_send(&ssk->sk) ? -EAGAIN : -EPIPE);
	}
	skb = skb_peek_tail(&ssk->tx_queue);
	if (first)
		sdp_resize_note_send(ssk, left,
				     skb ? sdp_buf_cb(skb)->payload : 0);
	if (skb && (sdp_segment_full(ssk, skb) || !sdp_refs_fit(refs, skb)))
		skb = NULL;
	if (skb) {
		ssk->tx_hold = true;
		ssk->tx_copying = true;
		skb_get(skb);
	}
	alone = sdp_engine_all_arrived(&ssk->engine);
	spin_unlock_bh(&ssk->lock);
	*fresh = !skb;
	return skb ?: tx_new_segment(ssk, left, sdp_refs_any(refs), alone);
}

/**
 * sdp_tx_add() - add copied bytes to the send queue, and send what may be sent
 * @ssk: socket, with tx_mutex, not locked
 * @skb: segment from sdp_tx_claim(); takes the caller's reference
 * @fresh: as sdp_tx_claim() has set it
 * @old_truesize: truesize of @skb that is charged already
 * @n: bytes copied, or 0 or a negative errno if the copy failed
 * @how: SDP_TX_*
 *
 * Return: @n, or -EPIPE if the connection has ended and the bytes are dropped.
 */
int sdp_tx_add(struct sdp_sock *ssk, struct sk_buff *skb, bool fresh,
	       u32 old_truesize, int n, int how)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };
	int err;

	sdp_conn_lock(ssk);
	err = tx_may_send(sk) ? sdp_tx_error(sk) : -EPIPE;
	ssk->tx_hold = (how & SDP_TX_MORE) && !err;
	ssk->tx_copying = false;
	if (err) {
		n = err;
	} else if (n > 0) {
		sdp_buf_cb(skb)->payload += n;
		sdp_memory_charge_tx(ssk, skb->truesize - old_truesize);
		ssk->tx_outq += n;
		ssk->tx_was_full = false;
		sdp_buf_cb(skb)->declined =
			ssk->tx_declined ||
			(!fresh && sdp_buf_cb(skb)->declined);
		if (fresh)
			__skb_queue_tail(&ssk->tx_queue, skb);
		if (how & SDP_TX_URGENT)
			sdp_urgent_mark_last(ssk);
	}
	/* The caller's reference, unless the queue has taken it. */
	if (!fresh || n <= 0)
		consume_skb(skb);
	sdp_conn_progress(ssk, &todo);
	sdp_conn_unlock(ssk, &todo);
	return n;
}

/*
 * There is more room in the send buffer. As TCP does, wake writers once a third
 * of the buffer is free, and only if a writer or poller has found it full since
 * the last wake-up: edge-triggered pollers rely on that.
 */
static void tx_note_space(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	sdp_autotune_regrow(ssk);
	/*
	 * Pairs with the barriers of writers and pollers, which set want_space
	 * and then check for room again.
	 */
	smp_mb();
	if (!READ_ONCE(ssk->want_space)) {
		SDP_INC(sock_net(&ssk->sk), WakeWriteSkipped);
		return;
	}
	ssk->tx_was_full = true;
	if (!sk_stream_is_writeable(&ssk->sk) && ssk->tx_outq)
		return;
	WRITE_ONCE(ssk->want_space, false);
	todo->wake |= SDP_WAKE_WRITE;
}

/**
 * sdp_tx_arrived() - written bytes have arrived at the peer
 * @ssk: socket, locked; their memory is uncharged already
 * @bytes: number of bytes
 * @todo: notes the wake-up of writers
 */
void sdp_tx_arrived(struct sdp_sock *ssk, u32 bytes, struct sdp_todo *todo)
{
	ssk->tx_outq -= bytes;
	ssk->tx_since = jiffies;
	tx_note_space(ssk, todo);
	if (!ssk->tx_outq)
		sdp_autotune_arrived(ssk);
}

/**
 * sdp_tx_turn_take() - make other writers wait until the call ends
 * @ssk: socket, with tx_mutex
 * @mine: whether the call has the turn; set to true
 *
 * sdp_tx_turn_end() ends it.
 */
void sdp_tx_turn_take(struct sdp_sock *ssk, bool *mine)
{
	if (*mine)
		return;
	sdp_conn_lock(ssk);
	WRITE_ONCE(ssk->tx_turn, true);
	spin_unlock_bh(&ssk->lock);
	*mine = true;
}

/**
 * sdp_tx_turn_end() - end the turn, and wake the writers that wait for it
 * @ssk: socket, not locked; the caller has the turn
 */
void sdp_tx_turn_end(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { .wake = SDP_WAKE_WRITE };

	sdp_conn_lock(ssk);
	WRITE_ONCE(ssk->tx_turn, false);
	ssk->tx_declined = false;
	sdp_conn_unlock(ssk, &todo);
}

/**
 * sdp_tx_push() - send a segment that MSG_MORE or TCP_CORK holds back
 * @ssk: socket, not locked
 *
 * Takes tx_mutex, because a segment that a writer copies into must stay held
 * back.
 */
void sdp_tx_push(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	mutex_lock(&ssk->tx_mutex);
	sdp_zcopy_ops.background_close(ssk);
	sdp_conn_lock(ssk);
	ssk->tx_hold = false;
	sdp_conn_progress(ssk, &todo);
	sdp_conn_unlock(ssk, &todo);
	mutex_unlock(&ssk->tx_mutex);
}
