// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes out: recvmsg(2) and its relatives, and the queue they read from.
 *
 * A received buffer is queued as it came and read in place; a small message is copied
 * behind the one before, so that small messages do not each hold a whole buffer. The
 * reader copies without the spinlock: it takes note of how much a buffer held, and what
 * is appended meanwhile lies behind that.
 */
#include "../conn/sock.h"

/* Messages up to here are copied together, rather than keep a buffer each. */
#define COPY_BREAK	512

static bool fits_behind(const struct sk_buff *tail, u32 len)
{
	return tail && !tail->data_len && !skb_cloned(tail) &&
	       (u32)skb_tailroom(tail) >= len;
}

static void copy_out(const struct sk_buff *skb, u32 offset, void *to, u32 len)
{
	/* A linear receive buffer's length is not set yet. */
	if (!skb->len)
		memcpy(to, skb->data + offset, len);
	else
		skb_copy_bits(skb, offset, to, len);
}

/* Where a small message is copied to: behind the last one, or into a buffer of its own. */
static struct sk_buff *small_target(struct sdp_sock *ssk, u32 len)
{
	struct sock *sk = &ssk->sk;
	struct sk_buff *tail = skb_peek_tail(&sk->sk_receive_queue);

	if (fits_behind(tail, len))
		return tail;
	tail = alloc_skb(SKB_WITH_OVERHEAD(2048), GFP_ATOMIC | __GFP_NOWARN);
	if (!tail)
		return NULL;
	sdp_buf_cb(tail)->offset = 0;
	sdp_buf_cb(tail)->end = 0;
	sdp_buf_cb(tail)->again = false;
	atomic_add(tail->truesize, &sk->sk_rmem_alloc);
	__skb_queue_tail(&sk->sk_receive_queue, tail);
	return tail;
}

static bool deliver_small(struct sdp_sock *ssk, struct sk_buff *skb, u32 offset,
			  u32 len)
{
	struct sk_buff *to;

	/* A small linear buffer is as cheap to keep, unless there is one to append to. */
	if (skb_headlen(skb) == skb->len &&
	    skb_end_offset(skb) <= SDP_BUF_LINEAR_MAX &&
	    !fits_behind(skb_peek_tail(&ssk->sk.sk_receive_queue), len))
		return false;
	to = small_target(ssk, len);
	if (!to)
		return false;
	copy_out(skb, offset, skb_tail_pointer(to), len);
	skb_put(to, len);
	sdp_buf_cb(to)->end += len;
	SDP_INC(sock_net(&ssk->sk), Coalesced);
	return true;
}

/* Not out of a ring, whose memory is held anyway. */
static bool may_copy(const struct sdp_sock *ssk, const struct sk_buff *skb,
		     u32 len)
{
	return ssk->coalesce && len <= COPY_BREAK && !sdp_buf_cb(skb)->ring;
}

static void note_urgent(struct sdp_sock *ssk, const struct sk_buff *skb,
			const struct sdp_action *a, struct sdp_todo *todo)
{
	u8 byte;

	copy_out(skb, a->offset + a->len - 1, &byte, 1);
	sdp_urgent_arrived(ssk, byte, a->len, todo);
}

static ktime_t stamp_now(const struct sdp_sock *ssk)
{
	return ssk->sk.sk_flags & SK_FLAGS_TIMESTAMP ? ktime_get_real() : 0;
}

/**
 * sdp_deliver() - queue the payload of a received message
 * @ssk: socket, locked
 * @skb: the message; taken
 * @a: where its payload begins, how long it is, whether its last byte is urgent
 * @bytes: bytes of the whole message
 * @todo: notes what urgent data wakes
 */
void sdp_deliver(struct sdp_sock *ssk, struct sk_buff *skb,
		 const struct sdp_action *a, u32 bytes, struct sdp_todo *todo)
{
	struct sock *sk = &ssk->sk;

	if (a->urgent)
		note_urgent(ssk, skb, a, todo);
	if (may_copy(ssk, skb, a->len) &&
	    deliver_small(ssk, skb, a->offset, a->len)) {
		sdp_stream_recycle(ssk, ssk->link, skb);
	} else {
		sdp_buf_received(skb, a->offset, bytes);
		atomic_add(skb->truesize, &sk->sk_rmem_alloc);
		__skb_queue_tail(&sk->sk_receive_queue, skb);
	}
	/* Of bytes that share a buffer the last ones' time counts. */
	skb_peek_tail(&sk->sk_receive_queue)->tstamp = stamp_now(ssk);
	WRITE_ONCE(ssk->rx_bytes, ssk->rx_bytes + a->len);
}

/**
 * sdp_queue_read() - queue what was read by RDMA, like a message
 * @ssk: socket, locked
 * @skb: the bytes; taken
 * @n: how many
 */
void sdp_queue_read(struct sdp_sock *ssk, struct sk_buff *skb, u32 n)
{
	struct sock *sk = &ssk->sk;

	atomic_add(skb->truesize, &sk->sk_rmem_alloc);
	__skb_queue_tail(&sk->sk_receive_queue, skb);
	skb->tstamp = stamp_now(ssk);
	WRITE_ONCE(ssk->rx_bytes, ssk->rx_bytes + n);
}

/**
 * sdp_passed() - bytes have gone to the reader without being queued
 * @ssk: socket, locked
 * @n: how many
 */
void sdp_passed(struct sdp_sock *ssk, u32 n)
{
	WRITE_ONCE(ssk->rx_read, ssk->rx_read + n);
	sdp_urgent_passed(ssk);
}

/**
 * struct reading - one recvmsg
 * @lives: the connection that it reads from, of those that the socket has had
 * @start: place in the stream where it has begun
 * @may_wait: and is not satisfied by nothing
 * @large: its memory could have been advertised before what is read came
 * @copied: bytes so far
 * @peeked: MSG_PEEK: bytes to pass over from the beginning of the queue
 * @flags: MSG_*
 * @stamp: when the last byte read arrived, or 0
 * @pipe: where to, instead of the caller's memory
 */
struct reading {
	u32 lives;
	u32 start;
	bool may_wait;
	bool large;
	size_t copied;
	u32 peeked;
	int flags;
	ktime_t stamp;
	struct pipe_inode_info *pipe;
};

/**
 * struct piece - what can be read at once
 * @skb: the buffer
 * @offset: where in it
 * @avail: bytes
 * @hole: bytes before them to be passed over: an urgent one
 * @stamp: when the last byte of the buffer came; more may be added to it at any time
 */
struct piece {
	struct sk_buff *skb;
	u32 offset;
	u32 avail;
	u32 hole;
	ktime_t stamp;
};

/*
 * The next piece, @skip bytes from the reader's place. Its buffer stays in the queue, where
 * only this reader (rx_mutex) removes anything.
 */
static bool next_piece(struct sdp_sock *ssk, u32 skip, bool begun,
		       struct piece *p)
{
	bool found = false;
	u32 seq;

	sdp_stream_lock(ssk);
	/* What is written into another reader's memory moves it as well. */
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

/* @n bytes of the queue's first buffer have been read. */
static void consume(struct sdp_sock *ssk, struct sk_buff *skb, u32 n)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };
	struct sk_buff *done = NULL;
	bool news = false;

	sdp_stream_lock(ssk);
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
		sdp_tune_emptied(ssk);
	if (done && ssk->link) {
		/* The queue never outlives its link's successor: the buffer is this link's. */
		if (sdp_buf_cb(done)->again && !sdp_memory_is_short(&ssk->sk)) {
			sdp_stream_recycle(ssk, ssk->link, done);
			done = NULL;
		}
		if (sdp_engine_receives_wanted(&ssk->engine))
			news = true;
	}
	if (news)
		sdp_stream_progress(ssk, &todo);
	sdp_stream_unlock(ssk, &todo);
	consume_skb(done);
	/* Fewer receives are posted for the peer as long as memory is short. */
	if (READ_ONCE(ssk->rx_short) && !READ_ONCE(ssk->rx_bytes))
		sdp_memory_reclaim(sk);
}

/* Give @n bytes of a piece to who asks. Returns how many have gone, or an errno. */
static int take_piece(struct sdp_sock *ssk, struct msghdr *msg, u32 n,
		      const struct piece *p, const struct reading *r)
{
	if (!n || (r->flags & MSG_TRUNC))
		return n;
	if (r->pipe)
		return sdp_splice_piece(ssk, p->skb, p->offset, n, r->pipe);
	return skb_copy_datagram_msg(p->skb, p->offset, msg, n) ?: n;
}

/* Read from one buffer. Returns bytes, 0 when the queue is empty, or an errno. */
static int read_piece(struct sdp_sock *ssk, struct msghdr *msg, size_t left,
		      struct reading *r)
{
	struct piece p;
	int n;

	do {
		if (!next_piece(ssk, r->peeked, r->copied, &p))
			return 0;
		n = take_piece(ssk, msg, min_t(size_t, p.avail, left), &p, r);
		if (n < 0)
			return n;
		r->stamp = p.stamp;
		if (r->flags & MSG_PEEK)
			r->peeked += p.hole + n;
		else
			consume(ssk, p.skb, p.hole + n);
	} while (!p.avail);
	return n;
}

/**
 * sdp_input_over() - will nothing more come?
 * @ssk: socket
 *
 * Return: true when the stream, or the connection, is over.
 */
bool sdp_input_over(const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;

	return READ_ONCE(sk->sk_err) ||
	       (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
	       READ_ONCE(sk->sk_state) == TCP_CLOSE;
}

static bool has_input(struct sdp_sock *ssk, u32 beyond)
{
	return sdp_readable(ssk) > beyond || sdp_input_over(ssk);
}

/* The input is over and nothing was read: what does the call return? */
static int over_error(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	int err = 0;

	sdp_stream_lock(ssk);
	if (ssk->rx_ended)
		err = 0;
	else if (sk->sk_err)
		err = sock_error(sk);
	else if (sk->sk_state == TCP_CLOSE && !(sk->sk_shutdown & RCV_SHUTDOWN))
		err = -ENOTCONN;
	spin_unlock_bh(&ssk->lock);
	return err;
}

/* The connection that is read from is no more; there may be another one, with errors of its own. */
static int lost_error(struct sdp_sock *ssk)
{
	int err = READ_ONCE(ssk->sk.sk_state) == TCP_CLOSE ? over_error(ssk) :
							     0;

	return err ?: -EPIPE;
}

/* Into the reader's own memory, that is: not into a pipe, nor only to be looked at. */
static bool reads_direct(const struct reading *r)
{
	return !r->pipe && !(r->flags & (MSG_PEEK | MSG_TRUNC));
}

/* A peeking reader waits for bytes behind those it has seen. */
static int wait_input(struct sdp_sock *ssk, const struct reading *r,
		      long *timeo)
{
	int err;

	mutex_unlock(&ssk->rx_mutex);
	err = sdp_wait(ssk, SDP_READ, timeo, has_input, r->peeked);
	mutex_lock(&ssk->rx_mutex);
	return err;
}

/* Room that can be read or written into by RDMA; 0 in memory of other kinds. */
static size_t direct_room(const struct msghdr *msg, size_t left,
			  const struct reading *r)
{
	return reads_direct(r) && user_backed_iter(&msg->msg_iter) ? left : 0;
}

static bool could_post(struct sdp_sock *ssk, const struct msghdr *msg,
		       size_t left, const struct reading *r)
{
	size_t room = r->may_wait ? direct_room(msg, left, r) : 0;

	return room && sdp_sinkavail_recv_fits(ssk, &msg->msg_iter, room);
}

/* Returns as await_more() does. */
static int await_news(struct sdp_sock *ssk, struct msghdr *msg, size_t room,
		      struct reading *r, long *timeo)
{
	int n;

	if (room && sdp_sinkavail_recv(ssk, &msg->msg_iter, room, timeo, &n)) {
		if (n > 0)
			r->stamp = stamp_now(ssk);
		return n;
	}
	sdp_srcavail_recv_decline(ssk, r->peeked);
	return wait_input(ssk, r, timeo);
}

/*
 * Nothing to read. Returns bytes that have come into the reader's memory, 0 when there may be
 * something in the queue, or an errno.
 *
 * A reader that sleeps here with enough memory is there before what comes (C1).
 */
static int await_more(struct sdp_sock *ssk, struct msghdr *msg, size_t left,
		      struct reading *r, long *timeo)
{
	size_t room = direct_room(msg, left, r);

	sdp_srcavail_recv_later(ssk, room);
	r->large = could_post(ssk, msg, left, r);
	return await_news(ssk, msg, room, r, timeo);
}

/*
 * Is a reader that begins now there by itself? One that a poller has told of
 * something to read was waiting for that, and will never be there first (B10).
 * One that was not is only late, if that: it may have been on its way.
 */
static bool comes_unasked(struct sdp_sock *ssk)
{
	if (!READ_ONCE(ssk->rx_indicated))
		return true;
	WRITE_ONCE(ssk->rx_indicated, false);
	return false;
}

/* @left: room that it still has */
static enum sdp_comes how_it_comes(struct sdp_sock *ssk,
				   const struct msghdr *msg, size_t left,
				   const struct reading *r)
{
	if (!r->large)
		return SDP_COMES_ASKED;
	if (!sdp_seq_after(r->start, READ_ONCE(ssk->srcavail_rx_seq)))
		return SDP_COMES_FIRST;
	return could_post(ssk, msg, left, r) ? SDP_COMES_NEXT : SDP_COMES_ASKED;
}

/* Beyond what has come in messages. Returns as sdp_srcavail_recv() does. */
static int fetch(struct sdp_sock *ssk, struct msghdr *msg, size_t len,
		 size_t target, struct reading *r)
{
	bool direct = reads_direct(r);
	int n;

	n = sdp_srcavail_recv(ssk, direct ? &msg->msg_iter : NULL, len,
			      len - r->copied, r->copied >= target,
			      how_it_comes(ssk, msg, len - r->copied, r),
			      r->may_wait);
	if (n > 0)
		r->stamp = stamp_now(ssk);
	return n;
}

/* The mark is behind @peeked bytes. The place moves: others' memory may be written to meanwhile. */
static bool at_mark(const struct sdp_sock *ssk, u32 peeked)
{
	return sdp_urgent_at_mark(ssk, READ_ONCE(ssk->rx_read) + peeked);
}

/*
 * It has got the beginning of what its buffer is for. The peer's writer is
 * there with the rest, and waits for that buffer (C10); so does the call, but
 * only as long as that, and not again if it was in vain. Returns bytes.
 */
static int await_body(struct sdp_sock *ssk, struct msghdr *msg, size_t left,
		      struct reading *r, long timeo)
{
	long brief = min(timeo, sdp_sinkavail_send_patience(ssk));
	int n = 0;

	if (READ_ONCE(ssk->rx_body) == SDP_BODY_NONE || !r->large ||
	    r->copied >= SDP_FIRST_BYTES ||
	    !could_post(ssk, msg, left, r) ||
	    !sdp_sinkavail_recv(ssk, &msg->msg_iter, left, &brief, &n))
		return 0;
	if (n == -EAGAIN)
		WRITE_ONCE(ssk->rx_body, SDP_BODY_NONE);
	if (n > 0)
		r->stamp = stamp_now(ssk);
	return max(n, 0);
}

static int read_all(struct sdp_sock *ssk, struct msghdr *msg, size_t len,
		    struct reading *r, long timeo)
{
	size_t target =
		r->pipe ? 1 :
			  sock_rcvlowat(&ssk->sk, r->flags & MSG_WAITALL, len);
	int n;

	r->lives = ssk->lives;
	r->start = READ_ONCE(ssk->rx_read);
	r->may_wait = timeo;
	r->large = comes_unasked(ssk) && could_post(ssk, msg, len, r);
	sdp_srcavail_recv_later(ssk, direct_room(msg, len, r));
	do {
		/* While it waited, the socket may have been connected to somebody else. */
		if (r->lives != ssk->lives)
			return lost_error(ssk);
		/* Asking for no bytes is asking whether there are any. */
		if (!len && sdp_readable(ssk))
			break;
		n = read_piece(ssk, msg, len - r->copied, r);
		if (!n && r->copied && at_mark(ssk, r->peeked))
			break;
		if (!n && len) {
			n = fetch(ssk, msg, len, target, r);
			if (n == -EAGAIN)
				continue;
		}
		/* A pipe that is full says EAGAIN as well, and then this call is over. */
		if (n < 0)
			return n;
		r->copied += n;
		if (n)
			continue;
		if (r->copied >= target) {
			r->copied += await_body(ssk, msg, len - r->copied, r,
						timeo);
			break;
		}
		if (sdp_input_over(ssk)) {
			/* Something may have come between the look and the end. */
			if (READ_ONCE(ssk->rx_bytes) > r->peeked)
				continue;
			return r->copied ? 0 : over_error(ssk);
		}
		n = await_more(ssk, msg, len - r->copied, r, &timeo);
		/* Who asks for no bytes waits once and gets them, whatever has ended the wait. */
		if (n < 0 && (len || !r->may_wait))
			return n;
		r->copied += max(n, 0);
	} while (r->copied < len);
	return 0;
}

/**
 * sdp_recv_to_pipe() - read into a pipe
 * @ssk: socket
 * @pipe: the pipe, locked
 * @len: bytes, at most
 * @timeo: how long to wait for the first one (jiffies)
 *
 * Return: bytes, 0 at the end of the stream, or an errno; -EAGAIN also for a full pipe.
 */
ssize_t sdp_recv_to_pipe(struct sdp_sock *ssk, struct pipe_inode_info *pipe,
			 size_t len, long timeo)
{
	struct reading r = { .pipe = pipe };
	int err;

	mutex_lock(&ssk->rx_mutex);
	err = read_all(ssk, NULL, len, &r, timeo);
	mutex_unlock(&ssk->rx_mutex);
	return r.copied ?: err;
}

/**
 * sdp_recvmsg() - recv(2), read(2) and the like
 * @sock: socket
 * @msg: where to
 * @len: bytes
 * @flags: MSG_*
 *
 * Return: bytes, 0 at the end of the stream, or an errno.
 */
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *ssk = sdp_sk(sk);
	struct reading r = { .flags = flags };
	int err;

	if (flags & MSG_ERRQUEUE)
		return sdp_recv_report(ssk, msg);
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return -ENOTCONN;
	if (flags & MSG_OOB)
		return sdp_urgent_recv(ssk, msg, len, flags);
	sdp_flush_begin(ssk);
	mutex_lock(&ssk->rx_mutex);
	r.peeked = max(sk_peek_offset(sk, flags), 0);
	err = read_all(ssk, msg, len, &r,
		       sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
	if (flags & MSG_PEEK)
		sk_peek_offset_fwd(sk, r.copied);
	else
		sk_peek_offset_bwd(sk, r.copied);
	mutex_unlock(&ssk->rx_mutex);
	sdp_flush_end(ssk);
	if (!err || r.copied)
		sdp_put_cmsgs(ssk, msg, r.stamp);
	return r.copied ?: err;
}
