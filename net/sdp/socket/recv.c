// SPDX-License-Identifier: GPL-2.0
/*
 * recvmsg(2) and its relatives: reading from a connection.
 *
 * A read call takes its bytes from three sources, in the order of the stream:
 *
 *  - the receive queue (conn/rx_queue.c), which holds what came in messages;
 *  - the memory of a SrcAvail from the peer, by RDMA read
 *    (zcopy/srcavail_recv.c);
 *  - its own memory, which it advertises by a SinkAvail and into which the peer
 *    writes by RDMA (zcopy/sinkavail_recv.c).
 *
 * A call holds rx_mutex, so one reader at a time takes bytes from the stream. A
 * call that sleeps drops it, and checks afterwards that the socket still has
 * the connection with which the call began (@generation). Another reader may
 * have taken the bytes meanwhile.
 */
#include "../conn/flush.h"
#include "../conn/rx_queue.h"
#include "../conn/urgent.h"
#include "../conn/wake.h"
#include "../conn/zerocopy.h"
#include "cmsg.h"
#include "program.h"
#include "recv.h"
#include "../zcopy/sinkavail_recv.h"
#include "../zcopy/sinkavail_send.h"
#include "../zcopy/srcavail_recv.h"
#include "../zcopy/srcavail_send.h"

/**
 * struct recv_call - one read call
 * @lives: sdp_sock.generation when the call began
 * @start: position in the stream where the call began
 * @may_wait: the call may sleep: its timeout is not 0
 * @large: no poller has prompted the call, and its memory could have been
 *	advertised. So the call might have been waiting before the data came
 *	(C1, B10)
 * @copied: bytes read so far
 * @peeked: MSG_PEEK: number of bytes to skip at the start of the queue
 * @flags: MSG_*
 * @stamp: arrival time of the last byte read, or 0
 * @pipe: destination of a splice; NULL to read into the caller's memory
 * @run: program that finds the caller's memory, piece by piece; or NULL
 */
struct recv_call {
	u32 lives;
	u32 start;
	bool may_wait;
	bool large;
	size_t copied;
	u32 peeked;
	int flags;
	ktime_t stamp;
	struct pipe_inode_info *pipe;
	struct sdp_program_run *run;
};

/*
 * Copy @n bytes of a piece to the destination of the call; MSG_TRUNC copies
 * nothing. Returns the number of bytes passed, or an errno.
 */
static int recv_copy_piece(struct sdp_sock *ssk, struct msghdr *msg, u32 n,
			   const struct sdp_rx_piece *p,
			   const struct recv_call *r)
{
	int err;

	if (!n || (r->flags & MSG_TRUNC))
		return n;
	if (r->pipe)
		return sdp_rx_splice(ssk, p->skb, p->offset, n, r->pipe);
	err = skb_copy_datagram_msg(p->skb, p->offset, msg, n);
	if (err)
		return err;
	return r->run ? sdp_program_put(r->run, n) : n;
}

/*
 * Read from one buffer of the receive queue. Returns the number of bytes; 0 if
 * the call has reached the end of the queue or the urgent mark; or an errno.
 */
static int recv_piece(struct sdp_sock *ssk, struct msghdr *msg, size_t left,
		      struct recv_call *r)
{
	struct sdp_rx_piece p;
	int n;

	do {
		if (!sdp_rx_next(ssk, r->peeked, r->copied, &p))
			return 0;
		n = recv_copy_piece(ssk, msg, min_t(size_t, p.avail, left), &p,
				    r);
		if (n < 0)
			return n;
		r->stamp = p.stamp;
		if (r->flags & MSG_PEEK)
			r->peeked += p.hole + n;
		else
			sdp_rx_consume(ssk, p.skb, p.hole + n);
	} while (!p.avail);
	return n;
}

static bool recv_has_input(struct sdp_sock *ssk, u32 beyond)
{
	return sdp_readable(ssk) > beyond || sdp_rx_over(ssk);
}

/* The same; or Pipelined mode has begun, and memory can be advertised now. */
static bool recv_has_input_or_mode(struct sdp_sock *ssk, u32 beyond)
{
	return READ_ONCE(ssk->rx_mode) == SDP_MODE_PIPELINED ||
	       recv_has_input(ssk, beyond);
}

/*
 * The result of a call that read nothing and has no more input: 0 at the end of
 * the stream or after SHUT_RD, else the error of the connection.
 */
static int recv_end_error(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	int err = 0;

	sdp_conn_lock(ssk);
	if (ssk->rx_ended)
		err = 0;
	else if (sk->sk_err)
		err = sock_error(sk);
	else if (sk->sk_state == TCP_CLOSE && !(sk->sk_shutdown & RCV_SHUTDOWN))
		err = -ENOTCONN;
	spin_unlock_bh(&ssk->lock);
	return err;
}

/*
 * The result of a call whose connection has ended meanwhile. The socket may
 * already have another connection, whose errors this call must not take.
 */
static int recv_lost_error(struct sdp_sock *ssk)
{
	int err = READ_ONCE(ssk->sk.sk_state) == TCP_CLOSE ?
			  recv_end_error(ssk) : 0;

	return err ?: -EPIPE;
}

/* True if the call consumes bytes and puts them into the caller's memory. */
static bool recv_is_direct(const struct recv_call *r)
{
	return !r->pipe && !(r->flags & (MSG_PEEK | MSG_TRUNC));
}

/*
 * Sleep until there is input behind the bytes that MSG_PEEK has already
 * returned, or @done is true for another reason. Drops rx_mutex meanwhile.
 * Returns 0 or an errno.
 */
static int recv_wait(struct sdp_sock *ssk, const struct recv_call *r,
		     long *timeo, sdp_condition done)
{
	int err;

	mutex_unlock(&ssk->rx_mutex);
	err = sdp_wait(ssk, SDP_READ, timeo, done, r->peeked);
	mutex_lock(&ssk->rx_mutex);
	return err;
}

/* Bytes of the call's memory that RDMA can fill; 0 if RDMA cannot reach it. */
static size_t recv_direct_room(const struct msghdr *msg, size_t left,
			       const struct recv_call *r)
{
	return recv_is_direct(r) && user_backed_iter(&msg->msg_iter) ? left : 0;
}

static bool recv_may_advertise(struct sdp_sock *ssk, const struct msghdr *msg,
			       size_t left, const struct recv_call *r)
{
	size_t room = r->may_wait ? recv_direct_room(msg, left, r) : 0;

	return room && sdp_sinkavail_recv_fits(ssk, &msg->msg_iter, room);
}

/*
 * Advertise @room bytes of the call's memory to the peer if possible, and sleep
 * until there is input. Returns as recv_await_more() does.
 */
static int recv_advertise_or_wait(struct sdp_sock *ssk, struct msghdr *msg,
				  size_t room, struct recv_call *r, long *timeo)
{
	/* Looked at first: if the mode changes after that, the wait ends. */
	bool too_early = READ_ONCE(ssk->rx_mode) != SDP_MODE_PIPELINED;
	int n;

	if (room && sdp_sinkavail_recv(ssk, &msg->msg_iter, room, timeo, &n)) {
		if (n > 0)
			r->stamp = sdp_rx_stamp(ssk);
		return n;
	}
	sdp_srcavail_recv_decline(ssk, r->peeked);
	return recv_wait(ssk, r, timeo, r->large && too_early ?
			 recv_has_input_or_mode : recv_has_input);
}

/*
 * There is nothing to read: sleep until there is. Returns the number of bytes
 * that the peer has written into the call's memory, 0 if there may be input
 * now, or an errno.
 *
 * A reader that sleeps here with enough memory waits before the data comes, so
 * @large is set even if a poller prompted the call (C1).
 */
static int recv_await_more(struct sdp_sock *ssk, struct msghdr *msg,
			   size_t left, struct recv_call *r, long *timeo)
{
	size_t room = recv_direct_room(msg, left, r);

	sdp_srcavail_recv_later(ssk, room);
	r->large = recv_may_advertise(ssk, msg, left, r);
	return recv_advertise_or_wait(ssk, msg, room, r, timeo);
}

/*
 * Returns true if no poller has been told of data since the last call, and
 * clears the note of poll.c. An application that reads after such a report
 * never waits in a read call before the data comes (B10). An application that
 * reads without a report may wait: if its call came after the data, the call
 * may just have been late.
 */
static bool recv_is_unprompted(struct sdp_sock *ssk)
{
	if (!READ_ONCE(ssk->rx_indicated))
		return true;
	WRITE_ONCE(ssk->rx_indicated, false);
	return false;
}

/*
 * Return whether a SinkAvail could have advertised the call's memory, for the
 * SrcAvail that the call is about to read from (C4, C10). @left is the free
 * part of the memory in bytes.
 */
static enum sdp_comes recv_timing(struct sdp_sock *ssk,
				  const struct msghdr *msg, size_t left,
				  const struct recv_call *r)
{
	if (!r->large)
		return SDP_COMES_ASKED;
	if (!sdp_seq_after(r->start, READ_ONCE(ssk->srcavail_rx_seq)))
		return SDP_COMES_FIRST;
	return recv_may_advertise(ssk, msg, left, r) ? SDP_COMES_NEXT :
						       SDP_COMES_ASKED;
}

/*
 * Read from a SrcAvail, after everything that came in messages. Returns as
 * sdp_srcavail_recv() does.
 */
static int recv_rdma(struct sdp_sock *ssk, struct msghdr *msg, size_t len,
		     size_t room, size_t target, struct recv_call *r)
{
	bool direct = recv_is_direct(r);
	int n;

	n = sdp_srcavail_recv(ssk, direct ? &msg->msg_iter : NULL, len,
			      room, r->copied >= target,
			      recv_timing(ssk, msg, room, r),
			      r->may_wait);
	if (n > 0)
		r->stamp = sdp_rx_stamp(ssk);
	return n;
}

/*
 * True if the urgent mark follows @peeked bytes. rx_read may advance without
 * rx_mutex, when the peer writes into the memory of another reader.
 */
static bool recv_at_mark(const struct sdp_sock *ssk, u32 peeked)
{
	return sdp_urgent_at_mark(ssk, READ_ONCE(ssk->rx_read) + peeked);
}

/*
 * The call has read the first bytes of a large write, which came in a message.
 * The peer's writer waits for an advertisement of the reader's remaining
 * memory, to write the rest into it (C10). Advertise this memory and wait for
 * the rest, for at most the time for which the peer waits. After a timeout no
 * call does so until the application reads a large write in two calls again.
 *
 * Returns the number of bytes that came.
 */
static int recv_await_rest(struct sdp_sock *ssk, struct msghdr *msg,
			   size_t left, struct recv_call *r, long timeo)
{
	long brief = min(timeo, sdp_sinkavail_send_patience(ssk));
	int n = 0;

	if (READ_ONCE(ssk->rx_body) == SDP_BODY_NONE || !r->large ||
	    r->copied >= SDP_FIRST_BYTES ||
	    !recv_may_advertise(ssk, msg, left, r) ||
	    !sdp_sinkavail_recv(ssk, &msg->msg_iter, left, &brief, &n))
		return 0;
	if (n == -EAGAIN)
		WRITE_ONCE(ssk->rx_body, SDP_BODY_NONE);
	if (n > 0)
		r->stamp = sdp_rx_stamp(ssk);
	return max(n, 0);
}

/*
 * Bytes that the call can take now, of @len in all: with a program, as many as
 * there are in the pieces that it has found last. Finds the next ones first, if
 * these are full.
 */
static size_t recv_room(struct msghdr *msg, size_t len, struct recv_call *r)
{
	size_t left = len - r->copied;

	/* Discarded bytes need no room. */
	if (!r->run || (r->flags & MSG_TRUNC))
		return left;
	if (left && !iov_iter_count(&msg->msg_iter))
		sdp_program_next(r->run, msg);
	return min(left, iov_iter_count(&msg->msg_iter));
}

/*
 * Read up to @len bytes. Called with rx_mutex. @r->copied counts the bytes
 * read. Returns 0, or an errno that counts only if nothing was read.
 */
static int recv_all(struct sdp_sock *ssk, struct msghdr *msg, size_t len,
		    struct recv_call *r, long timeo)
{
	size_t target = r->pipe ? 1 : sock_rcvlowat(&ssk->sk,
						    r->flags & MSG_WAITALL,
						    len);
	size_t room = recv_room(msg, len, r);
	int n;

	r->lives = ssk->generation;
	r->start = READ_ONCE(ssk->rx_read);
	r->may_wait = timeo;
	r->large = recv_is_unprompted(ssk) &&
		   recv_may_advertise(ssk, msg, room, r);
	sdp_srcavail_recv_later(ssk, recv_direct_room(msg, room, r));
	do {
		/* The socket may have been connected anew during a sleep. */
		if (r->lives != ssk->generation)
			return recv_lost_error(ssk);
		if (r->run && r->run->fault)
			return -EFAULT;
		/* A program may take long to find what is little. */
		if (r->run && r->copied && signal_pending(current))
			break;
		room = recv_room(msg, len, r);
		/* A call with length 0 returns as soon as there is input. */
		if (!len && sdp_readable(ssk))
			break;
		n = recv_piece(ssk, msg, room, r);
		if (!n && r->copied && recv_at_mark(ssk, r->peeked))
			break;
		if (!n && len) {
			n = recv_rdma(ssk, msg, len, room, target, r);
			if (n == -EAGAIN)
				continue;
		}
		/*
		 * A full pipe gives EAGAIN as well, but ends the call, unlike
		 * EAGAIN of recv_rdma().
		 */
		if (n < 0)
			return n;
		r->copied += n;
		if (n)
			continue;
		if (r->copied >= target) {
			r->copied += recv_await_rest(ssk, msg, room, r, timeo);
			break;
		}
		if (sdp_rx_over(ssk)) {
			/*
			 * The last bytes may have come after the queue was
			 * found empty, and before the input ended.
			 */
			if (READ_ONCE(ssk->rx_bytes) > r->peeked)
				continue;
			return r->copied ? 0 : recv_end_error(ssk);
		}
		n = recv_await_more(ssk, msg, room, r, &timeo);
		/*
		 * Like TCP, a call with length 0 sleeps once and returns 0,
		 * also after a signal or a timeout.
		 */
		if (n < 0 && (len || !r->may_wait))
			return n;
		r->copied += max(n, 0);
	} while (r->copied < len);
	return 0;
}

/**
 * sdp_recv_to_pipe() - read into a pipe
 * @ssk: socket; takes rx_mutex
 * @pipe: destination, locked by the caller
 * @len: largest number of bytes to read
 * @timeo: how long to wait for the first byte, in jiffies
 *
 * Return: number of bytes, 0 at the end of the stream, or a negative errno;
 * -EAGAIN also if the pipe is full.
 */
ssize_t sdp_recv_to_pipe(struct sdp_sock *ssk, struct pipe_inode_info *pipe,
			 size_t len, long timeo)
{
	struct recv_call r = { .pipe = pipe };
	int err;

	sdp_flush_begin(ssk);
	mutex_lock(&ssk->rx_mutex);
	err = recv_all(ssk, NULL, len, &r, timeo);
	mutex_unlock(&ssk->rx_mutex);
	sdp_flush_end(ssk);
	return r.copied ?: err;
}

/**
 * sdp_recvmsg() - recv(2), read(2) and their relatives
 * @sock: socket; takes rx_mutex
 * @msg: destination and control messages
 * @len: size of the destination in bytes
 * @flags: MSG_*
 *
 * Return: number of bytes, 0 at the end of the stream, or a negative errno.
 */
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *ssk = sdp_sk(sk);
	struct recv_call r = { .flags = flags };
	int err;

	if (flags & MSG_ERRQUEUE)
		return sdp_zerocopy_recv_report(ssk, msg);
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return -ENOTCONN;
	if (flags & MSG_OOB)
		return sdp_urgent_recv(ssk, msg, len, flags);
	err = sdp_program_of_recv(ssk, msg, flags, &r.run);
	if (err)
		return err;
	if (r.run)
		len = r.run->left;
	/* The rest of a program that has been read: nothing to wait for. */
	if (r.run && !len) {
		sdp_program_over(r.run, msg, 0);
		return 0;
	}
	if (r.run)
		sdp_program_next(r.run, msg);
	sdp_flush_begin(ssk);
	mutex_lock(&ssk->rx_mutex);
	r.peeked = max(sk_peek_offset(sk, flags), 0);
	err = recv_all(ssk, msg, len, &r,
		       sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
	if (flags & MSG_PEEK)
		sk_peek_offset_fwd(sk, r.copied);
	else
		sk_peek_offset_bwd(sk, r.copied);
	mutex_unlock(&ssk->rx_mutex);
	sdp_flush_end(ssk);
	sdp_program_over(r.run, msg, r.copied);
	if (!err || r.copied)
		sdp_put_cmsgs(ssk, msg, r.stamp);
	return r.copied ?: err;
}
