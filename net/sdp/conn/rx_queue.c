// SPDX-License-Identifier: GPL-2.0
/*
 * Receive queue: received payload until the application reads it.
 *
 * A received buffer is queued without a copy, and the reader copies from it. A
 * small message is copied behind the message before it, so that small messages
 * do not keep a whole buffer each.
 *
 * The queue is sk_receive_queue, under the socket's lock. Only a reader that
 * has rx_mutex removes buffers. So it can copy from a buffer without the lock:
 * it remembers how many bytes the buffer had, and a message that is appended
 * meanwhile lies behind these.
 */
#include "autotune.h"
#include "conn.h"
#include "keepalive.h"
#include "memory.h"
#include "output.h"
#include "rdma_buf.h"
#include "refill.h"
#include "ring.h"
#include "rx_queue.h"
#include "urgent.h"

/* Largest payload that is copied behind other small ones, in bytes. */
#define COPY_BREAK	512

static bool rx_fits_behind(const struct sk_buff *tail, u32 len)
{
	return tail && !tail->data_len && !skb_cloned(tail) &&
	       (u32)skb_tailroom(tail) >= len;
}

static void rx_copy_out(const struct sk_buff *skb, u32 offset, void *to,
			u32 len)
{
	/* A linear receive buffer's length is not set yet. */
	if (!skb->len)
		memcpy(to, skb->data + offset, len);
	else
		skb_copy_bits(skb, offset, to, len);
}

/*
 * The buffer that a small message is copied to: the last one of the queue if
 * there is room behind its bytes, else a new one. NULL when memory is short.
 */
static struct sk_buff *rx_small_target(struct sdp_sock *ssk, u32 len)
{
	struct sock *sk = &ssk->sk;
	struct sk_buff *tail = skb_peek_tail(&sk->sk_receive_queue);

	if (rx_fits_behind(tail, len))
		return tail;
	tail = alloc_skb(SKB_WITH_OVERHEAD(2048), GFP_ATOMIC | __GFP_NOWARN);
	if (!tail)
		return NULL;
	sdp_buf_cb(tail)->offset = 0;
	sdp_buf_cb(tail)->end = 0;
	sdp_buf_cb(tail)->reused = false;
	atomic_add(tail->truesize, &sk->sk_rmem_alloc);
	__skb_queue_tail(&sk->sk_receive_queue, tail);
	return tail;
}

/* Copy a small payload. Returns true if done; then @skb can be reused. */
static bool rx_deliver_small(struct sdp_sock *ssk, struct sk_buff *skb,
			     u32 offset, u32 len)
{
	struct sk_buff *to;

	/*
	 * A new buffer for the copy would be no smaller than a small linear
	 * receive. So copy from such a receive only if another message's buffer
	 * has room.
	 */
	if (skb_headlen(skb) == skb->len &&
	    skb_end_offset(skb) <= SDP_BUF_LINEAR_MAX &&
	    !rx_fits_behind(skb_peek_tail(&ssk->sk.sk_receive_queue), len))
		return false;
	to = rx_small_target(ssk, len);
	if (!to)
		return false;
	rx_copy_out(skb, offset, skb_tail_pointer(to), len);
	skb_put(to, len);
	sdp_buf_cb(to)->end += len;
	SDP_INC(sock_net(&ssk->sk), Coalesced);
	return true;
}

/* True for a small payload, except in a ring: a copy would free no memory. */
static bool rx_may_copy(const struct sdp_sock *ssk, const struct sk_buff *skb,
			u32 len)
{
	return ssk->coalesce && len <= COPY_BREAK && !sdp_buf_cb(skb)->ring;
}

static void rx_note_urgent(struct sdp_sock *ssk, const struct sk_buff *skb,
			   const struct sdp_action *a, struct sdp_todo *todo)
{
	u8 byte;

	rx_copy_out(skb, a->offset + a->len - 1, &byte, 1);
	sdp_urgent_arrived(ssk, byte, a->len, todo);
}

/**
 * sdp_rx_stamp() - time stamp for bytes that have just come
 * @ssk: socket
 *
 * Return: the time now, or 0 if the application has not asked for time stamps.
 */
ktime_t sdp_rx_stamp(const struct sdp_sock *ssk)
{
	return ssk->sk.sk_flags & SK_FLAGS_TIMESTAMP ? ktime_get_real() : 0;
}

/**
 * sdp_rx_queue_message() - queue the payload of a received message
 * @ssk: socket, locked
 * @skb: the message; taken
 * @a: the %SDP_ACT_DELIVER action for its payload
 * @bytes: length of the whole message
 * @todo: notes the wake-up for urgent data
 *
 * The caller wakes readers.
 */
void sdp_rx_queue_message(struct sdp_sock *ssk, struct sk_buff *skb,
			  const struct sdp_action *a, u32 bytes,
			  struct sdp_todo *todo)
{
	struct sock *sk = &ssk->sk;

	if (a->urgent)
		rx_note_urgent(ssk, skb, a, todo);
	if (rx_may_copy(ssk, skb, a->len) &&
	    rx_deliver_small(ssk, skb, a->offset, a->len)) {
		sdp_refill_reuse(ssk, ssk->link, skb);
	} else {
		sdp_buf_received(skb, a->offset, bytes);
		atomic_add(skb->truesize, &sk->sk_rmem_alloc);
		__skb_queue_tail(&sk->sk_receive_queue, skb);
	}
	/* A buffer has the time stamp of the last message that was added. */
	skb_peek_tail(&sk->sk_receive_queue)->tstamp = sdp_rx_stamp(ssk);
	WRITE_ONCE(ssk->rx_bytes, ssk->rx_bytes + a->len);
}

/**
 * sdp_rx_queue_rdma() - queue bytes that we have read from the peer by RDMA
 * @ssk: socket, locked
 * @skb: the bytes; taken
 * @n: number of bytes
 */
void sdp_rx_queue_rdma(struct sdp_sock *ssk, struct sk_buff *skb, u32 n)
{
	struct sock *sk = &ssk->sk;

	atomic_add(skb->truesize, &sk->sk_rmem_alloc);
	__skb_queue_tail(&sk->sk_receive_queue, skb);
	skb->tstamp = sdp_rx_stamp(ssk);
	WRITE_ONCE(ssk->rx_bytes, ssk->rx_bytes + n);
}

/**
 * sdp_rx_passed() - advance the read position by bytes that bypass the queue
 * @ssk: socket, locked
 * @n: number of bytes; RDMA has put them into a reader's memory
 */
void sdp_rx_passed(struct sdp_sock *ssk, u32 n)
{
	WRITE_ONCE(ssk->rx_read, ssk->rx_read + n);
	sdp_urgent_passed(ssk);
}

/**
 * sdp_rx_next() - find the next piece of the queue to be read
 * @ssk: socket, with rx_mutex
 * @skip: bytes of the queue to skip first: those that a peek has read
 * @begun: the call has read something: it ends at the mark
 * @p: the piece; its buffer stays in the queue
 *
 * Return: false if there is nothing that the call may read.
 */
bool sdp_rx_next(struct sdp_sock *ssk, u32 skip, bool begun,
		 struct sdp_rx_piece *p)
{
	bool found = false;
	u32 seq;

	sdp_conn_lock(ssk);
	/* An RDMA write into another reader's memory advances rx_read. */
	seq = ssk->rx_read + skip;
	skb_queue_walk(&ssk->sk.sk_receive_queue, p->skb) {
		p->offset = sdp_buf_cb(p->skb)->offset + skip;
		p->avail = sdp_buf_cb(p->skb)->end;
		found = p->offset < p->avail;
		if (found)
			break;
		skip = p->offset - p->avail;
	}
	if (begun && sdp_urgent_at_mark(ssk, seq))
		found = false;
	if (found) {
		p->stamp = p->skb->tstamp;
		p->avail -= p->offset;
		p->hole = sdp_urgent_bound(ssk, seq, &p->avail);
		p->offset += p->hole;
		p->avail -= p->hole;
	}
	spin_unlock_bh(&ssk->lock);
	return found;
}

/**
 * sdp_rx_consume() - remove bytes from the queue that the reader has read
 * @ssk: socket, with rx_mutex
 * @skb: first buffer of the queue
 * @n: bytes of it, a hole included
 *
 * When the buffer is empty, it is posted again or freed. Receives and room in a
 * ring that become free are granted to the peer. May sleep.
 */
void sdp_rx_consume(struct sdp_sock *ssk, struct sk_buff *skb, u32 n)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };
	struct sk_buff *done = NULL;
	bool news = false;

	sdp_conn_lock(ssk);
	sdp_buf_cb(skb)->offset += n;
	WRITE_ONCE(ssk->rx_bytes, ssk->rx_bytes - n);
	WRITE_ONCE(ssk->rx_read, ssk->rx_read + n);
	sdp_urgent_passed(ssk);
	if (sdp_buf_cb(skb)->offset == sdp_buf_cb(skb)->end) {
		__skb_unlink(skb, &sk->sk_receive_queue);
		atomic_sub(skb->truesize, &sk->sk_rmem_alloc);
		done = skb;
	}
	if (sdp_buf_cb(skb)->ring)
		news = sdp_ring_read(ssk, skb, n, done);
	if (!ssk->rx_bytes)
		sdp_autotune_emptied(ssk);
	if (done && ssk->link) {
		/* It came by this link: a disconnect empties the queue. */
		if (sdp_buf_cb(done)->reused &&
		    !sdp_memory_is_short(&ssk->sk)) {
			sdp_refill_reuse(ssk, ssk->link, done);
			done = NULL;
		} else if (sdp_buf_cb(done)->rdma) {
			sdp_rdma_buf_put(ssk, ssk->link, done);
			done = NULL;
		}
		if (sdp_engine_receives_wanted(&ssk->engine))
			news = true;
	}
	if (news)
		sdp_conn_progress(ssk, &todo);
	sdp_conn_unlock(ssk, &todo);
	consume_skb(done);
	/* The peer gets few receives until memory is reclaimed. */
	if (READ_ONCE(ssk->rx_short) && !READ_ONCE(ssk->rx_bytes))
		sdp_memory_reclaim(sk);
}

/**
 * sdp_rx_over() - will no more input come?
 * @ssk: socket; no lock needed
 *
 * Return: true if the peer's stream or the connection has ended, or failed.
 */
bool sdp_rx_over(const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;

	return READ_ONCE(sk->sk_err) ||
	       (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
	       READ_ONCE(sk->sk_state) == TCP_CLOSE;
}

/**
 * sdp_rx_was_read() - count bytes that an RDMA read has added to the stream
 * @ssk: socket, locked
 * @n: number of bytes
 * @todo: notes the wake-up of other readers
 */
void sdp_rx_was_read(struct sdp_sock *ssk, u32 n, struct sdp_todo *todo)
{
	SDP_ADD(sock_net(&ssk->sk), RdmaReadBytes, n);
	ssk->bytes_received += n;
	ssk->rdma_received += n;
	ssk->rdma_read += n;
	ssk->last_received = jiffies;
	sdp_keepalive_heard(ssk);
	todo->wake |= SDP_WAKE_READ;
}

/**
 * sdp_rx_full() - is there no room to queue what an RDMA read brings?
 * @ssk: socket
 *
 * Return: true if the receive buffer is full, or memory is short.
 */
bool sdp_rx_full(const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;

	return atomic_read(&sk->sk_rmem_alloc) >= READ_ONCE(sk->sk_rcvbuf) ||
	       sdp_memory_is_short(sk);
}

/**
 * sdp_rx_splice() - put bytes of a received buffer into a pipe
 * @ssk: socket, with rx_mutex
 * @skb: the buffer, in the receive queue
 * @offset: offset of the first byte
 * @len: number of bytes
 * @pipe: the pipe, locked
 *
 * Return: number of bytes, fewer than @len if the pipe is full, or a negative
 * errno.
 */
int sdp_rx_splice(struct sdp_sock *ssk, struct sk_buff *skb, u32 offset,
		  u32 len, struct pipe_inode_info *pipe)
{
	int n;

	/*
	 * Copy from a ring. The peer overwrites the bytes once they have been
	 * read, even if a pipe still refers to them. Also copy from a ring that
	 * was given up: the peer can write into it until its key is revoked.
	 */
	if (sdp_buf_cb(skb)->ring_id)
		return sdp_ring_splice(ssk, skb, offset, len, pipe);
	n = skb_splice_bits(skb, &ssk->sk, offset, pipe, len, 0);

	/* The pipe refers to these pages: do not post them again. */
	if (skb->data_len || skb->head_frag)
		sdp_buf_cb(skb)->reused = false;
	return n ?: -ENOBUFS;
}
