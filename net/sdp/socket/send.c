// SPDX-License-Identifier: GPL-2.0
/*
 * sendmsg(2) and its relatives: writing to a connection.
 *
 * A write call copies its bytes into the segments of the send queue
 * (conn/tx_queue.c) and returns when all of them are there, within SO_SNDBUF
 * (A2, B6). conn/zerocopy.c refers to pages instead, for MSG_SPLICE_PAGES and
 * MSG_ZEROCOPY. A large write may go by RDMA: from the caller's memory if the
 * call may wait (zcopy/srcavail_send.c), else from a copy
 * (zcopy/background_send.c). Segments and blocks are described in
 * conn/segment.c.
 *
 * A writer holds tx_mutex and copies without the socket's lock; @tx_hold keeps
 * its segment from being sent meanwhile. A small write that only adds to a
 * waiting segment is copied under the lock instead, see send_gather().
 *
 * A call that sleeps in the middle of a write drops tx_mutex but keeps the turn
 * (@tx_turn). While a call has the turn, no other writer adds bytes: it sleeps,
 * or fails with EAGAIN if it does not block. So the bytes of two calls are
 * never mixed.
 */
#include <linux/uaccess.h>

#include "../conn/conn.h"
#include "../conn/flush.h"
#include "../conn/memory.h"
#include "../conn/output.h"
#include "../conn/segment.h"
#include "../conn/tx_queue.h"
#include "../conn/wake.h"
#include "../conn/zerocopy.h"
#include "program.h"
#include "send.h"
#include "../zcopy/background_send.h"
#include "../zcopy/srcavail_send.h"

/* A writer that waits for memory of other sockets tries again this often. */
#define SEND_MEMORY_JIFFIES	(HZ / 10 + 1)
/* Largest write that is copied under the lock, in bytes. */
#define SEND_GATHER_MAX		512

/*
 * Copy @n bytes into the linear part, which has room for them. Returns @n or
 * -EFAULT.
 */
static int send_copy_linear(struct sk_buff *skb, struct iov_iter *from, u32 n)
{
	if (!copy_from_iter_full(skb_tail_pointer(skb), n, from))
		return -EFAULT;
	skb_put(skb, n);
	return n;
}

static void send_add_page(struct sk_buff *skb, struct page_frag *pfrag, u32 n)
{
	int i = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, i, pfrag->page, pfrag->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], n);
	} else {
		get_page(pfrag->page);
		skb_fill_page_desc(skb, i, pfrag->page, pfrag->offset, n);
	}
	pfrag->offset += n;
	skb->len += n;
	skb->data_len += n;
	skb->truesize += n;
}

/*
 * Copy up to @n bytes into page fragments. Returns the number of bytes, 0 if
 * the segment can have no further fragment, -EFAULT, or -ENOBUFS without
 * memory.
 */
static int send_copy_pages(struct sdp_sock *ssk, struct sk_buff *skb,
			   struct iov_iter *from, u32 n)
{
	struct page_frag *pfrag = sk_page_frag(&ssk->sk);
	int i = skb_shinfo(skb)->nr_frags;

	if (!sk_page_frag_refill(&ssk->sk, pfrag)) {
		sdp_memory_note_shortage(&ssk->sk);
		return -ENOBUFS;
	}
	if (i == ssk->tx_frags &&
	    !skb_can_coalesce(skb, i, pfrag->page, pfrag->offset))
		return 0;
	n = min_t(u32, n, pfrag->size - pfrag->offset);
	if (copy_page_from_iter(pfrag->page, pfrag->offset, n, from) != n)
		return -EFAULT;
	send_add_page(skb, pfrag, n);
	return n;
}

static int send_copy(struct sdp_sock *ssk, struct sk_buff *skb,
		     struct iov_iter *from, u32 n)
{
	u32 linear = skb_shinfo(skb)->nr_frags ? 0 : skb_tailroom(skb);

	if (linear)
		return send_copy_linear(skb, from, min(linear, n));
	return send_copy_pages(ssk, skb, from, n);
}

/*
 * Move bytes of the write into one segment until it is full. Returns the number
 * of bytes, or an errno if there are none.
 */
static int send_fill(struct sdp_sock *ssk, struct sk_buff *skb,
		     struct iov_iter *from, struct sdp_refs *refs)
{
	/*
	 * A block (@reused) holds as many bytes as it was allocated for. For
	 * another segment the largest payload may have shrunk since
	 * sdp_tx_claim(), because a ring was agreed on. The segment is then
	 * full, and the write continues in the next one.
	 */
	u32 max = sdp_buf_cb(skb)->reused ? skb->len :
		  sdp_engine_payload_max(&ssk->engine);
	u32 payload = sdp_buf_cb(skb)->payload;
	u32 room = payload < max ?
		   min_t(size_t, max - payload, iov_iter_count(from)) : 0;
	size_t before = iov_iter_count(from);
	u32 done = 0;
	int n = 0;

	if (sdp_buf_cb(skb)->reused) {
		n = skb_copy_datagram_from_iter(skb, payload, from,
						room) ?: room;
		done = max(n, 0);
	}
	while (!sdp_buf_cb(skb)->reused && done < room) {
		u32 part = room - done;

		n = sdp_refs_any(refs) ?
		    sdp_refs_add_page(ssk, skb, refs, from, &part) : 0;
		if (!n && part)
			n = send_copy(ssk, skb, from, part);
		if (n <= 0)
			break;
		done += n;
	}
	/* A copy that faulted has advanced the iterator, but does not count. */
	iov_iter_revert(from, before - iov_iter_count(from) - done);
	return done ?: n;
}

/*
 * Take bytes of the write into one segment. @first: none have been taken so
 * far. Called with tx_mutex. Returns the number of bytes or an errno; -EAGAIN
 * if the memory of all sockets together, or of the memory cgroup, is short.
 */
static int send_segment(struct sdp_sock *ssk, struct msghdr *msg,
			struct sdp_refs *refs, bool first)
{
	size_t left = msg_data_left(msg);
	u32 old_truesize;
	struct sk_buff *skb;
	int n, how = 0;
	bool fresh;

	skb = sdp_tx_claim(ssk, left, refs, first, &fresh);
	if (IS_ERR_OR_NULL(skb))
		return skb ? PTR_ERR(skb) : -ENOBUFS;
	old_truesize = fresh ? 0 : skb->truesize;
	n = send_fill(ssk, skb, &msg->msg_iter, refs);
	/* Hold the segment back while more bytes of this write follow. */
	if ((msg->msg_flags & MSG_MORE) || READ_ONCE(ssk->opt.cork) ||
	    (n > 0 && (size_t)n < left))
		how |= SDP_TX_MORE;
	if ((msg->msg_flags & MSG_OOB) && n > 0 && (size_t)n == left)
		how |= SDP_TX_URGENT;
	return sdp_tx_add(ssk, skb, fresh, old_truesize, n, how);
}

/*
 * True if the send buffer has room and no other call has the turn. @mine: the
 * caller has the turn.
 */
static bool send_may_take(const struct sdp_sock *ssk, bool mine)
{
	return sk_stream_memory_free(&ssk->sk) &&
	       (mine || !READ_ONCE(ssk->tx_turn));
}

/* Condition of send_wait(): there is room, or the connection has ended. */
static bool send_may_continue(struct sdp_sock *ssk, u32 mine)
{
	WRITE_ONCE(ssk->want_space, true);
	/* Pairs with the barrier before conn/tx_queue.c reads want_space. */
	smp_mb();
	return send_may_take(ssk, mine) || sdp_tx_error(&ssk->sk);
}

/* Send the segment that is held. Called with tx_mutex. */
static void send_release(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	ssk->tx_hold = false;
	sdp_conn_progress(ssk, &todo);
	sdp_conn_unlock(ssk, &todo);
}

/*
 * Sleep until @done returns true. Drops tx_mutex meanwhile. Returns 0 or an
 * errno.
 */
static int send_wait(struct sdp_sock *ssk, long *timeo, sdp_condition done,
		     u32 arg)
{
	int err;

	/* It must not wait until this sleep ends. */
	send_release(ssk);
	mutex_unlock(&ssk->tx_mutex);
	err = sdp_wait(ssk, SDP_WRITE, timeo, done, arg);
	mutex_lock(&ssk->tx_mutex);
	return err;
}

/*
 * True if the socket has fewer bytes queued than @before, or so few that it is
 * granted memory in any case, or if its connection has ended.
 */
static bool send_memory_granted(struct sdp_sock *ssk, u32 before)
{
	int queued = READ_ONCE(ssk->sk.sk_wmem_queued);

	return queued < (int)before || queued < sdp_memory_least[0] ||
	       sdp_tx_error(&ssk->sk);
}

/*
 * All sockets together, or those of the memory cgroup, hold too much memory.
 * Reclaim from the cgroup, or else wait until bytes of this socket have
 * arrived, for at most SEND_MEMORY_JIFFIES: another socket may free memory
 * without a wake-up here. Returns 0 to try again, or an errno.
 */
static int send_wait_memory(struct sdp_sock *ssk, long *timeo)
{
	u32 before = READ_ONCE(ssk->sk.sk_wmem_queued);
	long slice = min_t(long, *timeo, SEND_MEMORY_JIFFIES);
	long left = *timeo - slice;
	int err;

	if (sdp_memory_reclaim(&ssk->sk))
		return 0;
	WRITE_ONCE(ssk->want_space, true);
	err = send_wait(ssk, &slice, send_memory_granted, before);
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo = left + slice;
	return err == -EAGAIN && *timeo ? 0 : err;
}

static bool send_is_decided(struct sdp_sock *ssk, u32 unused)
{
	/* Pairs with sdp_conn_fail(), which sets sk_err before the state. */
	return smp_load_acquire(&ssk->sk.sk_state) != TCP_SYN_SENT;
}

/* Like TCP, a write on a connecting socket waits for the connection. */
static int send_wait_connected(struct sdp_sock *ssk, long *timeo)
{
	struct sock *sk = &ssk->sk;
	int err;

	if (READ_ONCE(sk->sk_state) == TCP_SYN_SENT) {
		err = sdp_wait(ssk, SDP_WRITE, timeo, send_is_decided, 0);
		if (err)
			return err;
	}
	err = sock_error(sk);
	if (err)
		return err;
	return BIT(READ_ONCE(sk->sk_state)) &
	       (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT) ? 0 : -EPIPE;
}

static bool send_background_over(struct sdp_sock *ssk, u32 unused)
{
	return !READ_ONCE(ssk->background) || sdp_tx_error(&ssk->sk);
}

/*
 * Let background writes go before a write whose own memory can be offered then.
 * Returns true if this has taken time, in which the connection may have ended.
 */
static bool send_behind_background(struct sdp_sock *ssk, struct msghdr *msg,
				   long *timeo, bool *turn)
{
	long slice = sdp_srcavail_send_follows(ssk, msg, *timeo), left = slice;

	if (!slice)
		return false;
	sdp_background_close(ssk);
	sdp_tx_turn_take(ssk, turn);
	if (send_wait(ssk, &left, send_background_over, 0) == -EAGAIN &&
	    slice < *timeo)
		sdp_srcavail_send_missed(ssk);
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo -= slice - left;
	return true;
}

/* Called before a sleep: take the turn if bytes have already been taken. */
static void send_take_turn(struct sdp_sock *ssk, size_t done, bool *turn)
{
	if (done)
		sdp_tx_turn_take(ssk, turn);
}

/*
 * Wait for room in the send buffer, or, with @memory, for memory of all sockets
 * together. Returns 0 to try again, or an errno.
 */
static int send_wait_room(struct sdp_sock *ssk, struct sdp_refs *refs,
			  long *timeo, size_t done, bool *turn, bool memory)
{
	sdp_background_close(ssk);
	if (!done)
		sdp_refs_undo(refs);
	send_take_turn(ssk, done, turn);
	return memory ? send_wait_memory(ssk, timeo) :
			send_wait(ssk, timeo, send_may_continue, *turn);
}

/*
 * Take the next bytes of the write, in the background or in a segment. What the
 * peer has @refused in part goes in messages. @first: none have been taken so
 * far. Returns the number of bytes or an errno, as send_segment() does.
 */
static int send_take(struct sdp_sock *ssk, struct msghdr *msg,
		     struct sdp_refs *refs, long timeo, bool first,
		     bool refused)
{
	/*
	 * This assigns the number of a MSG_ZEROCOPY report, so tx_mutex is held
	 * from here until the first byte is taken or sdp_refs_undo() gives the
	 * number back.
	 */
	int n = first ? sdp_refs_begin(ssk, msg, refs) : 0;

	if (!n && !refused)
		n = sdp_background_send(ssk, msg, refs, timeo);
	else
		sdp_background_close(ssk);
	return n ?: send_segment(ssk, msg, refs, first);
}

/* Let the next pieces of a program take the place of those before. */
static void send_next_pieces(struct msghdr *msg, struct sdp_program_run *run)
{
	sdp_program_next(run, msg);
	msg->msg_flags = run->left ? (run->flags | MSG_MORE) & ~MSG_OOB :
				     run->flags;
}

/* Are there bytes left to be taken? @done: bytes taken so far. */
static bool send_goes_on(struct msghdr *msg, struct sdp_program_run *run,
			 size_t done)
{
	if (msg_data_left(msg))
		return true;
	/* A program may take long to find what is little. */
	if (!run || !run->left || (done && signal_pending(current)))
		return false;
	send_next_pieces(msg, run);
	return msg_data_left(msg);
}

/*
 * Take all bytes of the write, or of its program @run. Called with tx_mutex,
 * which is dropped in sleeps. @done counts the bytes taken. @turn tells whether
 * the call has the turn. Returns 0, or an errno that counts only if @done is 0.
 */
static int send_parts(struct sdp_sock *ssk, struct msghdr *msg,
		      struct sdp_program_run *run, struct sdp_refs *refs,
		      long *timeo, size_t *done, bool *turn)
{
	struct sock *sk = &ssk->sk;
	u32 lives = ssk->generation;
	bool refused = false, waited = false;
	int n;

	while (send_goes_on(msg, run, *done)) {
		/* The socket may have been connected anew during a sleep. */
		if (sdp_tx_error(sk) || ssk->generation != lives)
			return -EPIPE;
		if (!send_may_take(ssk, *turn)) {
			n = send_wait_room(ssk, refs, timeo, *done, turn,
					   false);
			if (n)
				return n;
			continue;
		}
		if (!refused && !waited &&
		    send_behind_background(ssk, msg, timeo, turn)) {
			waited = true;
			continue;
		}
		n = sdp_srcavail_send(ssk, msg, timeo, *done, &refused, turn);
		if (n || ssk->generation != lives) {
			*done += n;
			if (signal_pending(current))
				return sock_intr_errno(*timeo);
			continue;
		}
		n = send_take(ssk, msg, refs, *timeo, !*done, refused);
		if (n == -EAGAIN)
			n = send_wait_room(ssk, refs, timeo, *done, turn, true);
		if (n < 0)
			return n;
		*done += n;
		cond_resched();
	}
	return run && run->fault ? -EFAULT : sdp_tx_error(sk);
}

static int send_all(struct sdp_sock *ssk, struct msghdr *msg,
		    struct sdp_program_run *run, struct sdp_refs *refs,
		    long *timeo, size_t *done)
{
	bool turn = false;
	int err = send_parts(ssk, msg, run, refs, timeo, done, &turn);

	if (turn)
		sdp_tx_turn_end(ssk);
	return err;
}

/*
 * Take the bytes that a program finds, as one write. What is held back until
 * the next pieces must not wait for those that do not come.
 */
static int send_program(struct sdp_sock *ssk, struct msghdr *msg,
			struct sdp_program_run *run, long *timeo, size_t *done)
{
	struct sdp_refs refs = { };
	int err;

	/* Without the flag that lends the pages of memory of the kernel. */
	run->flags = msg->msg_flags & ~MSG_SPLICE_PAGES;
	send_next_pieces(msg, run);
	err = send_all(ssk, msg, run, &refs, timeo, done);
	if ((msg->msg_flags != run->flags || run->fault) &&
	    !(run->flags & MSG_MORE) && !READ_ONCE(ssk->opt.cork))
		send_release(ssk);
	msg->msg_flags = run->flags;
	return err;
}

/*
 * Return the last segment of the queue if it waits for more bytes, for credit
 * or for space in the peer's ring, and would not be full with @n more bytes
 * either; else NULL. Called with the lock.
 */
static struct sk_buff *gather_segment(const struct sdp_sock *ssk, u32 n)
{
	struct sk_buff *skb = skb_peek_tail(&ssk->tx_queue);

	if (!skb || ssk->tx_hold ||
	    !(ssk->gathering || ssk->credit_stalled || ssk->ring_stalled) ||
	    sdp_segment_full(ssk, skb) ||
	    sdp_buf_cb(skb)->payload + n >=
		    sdp_engine_payload_max(&ssk->engine))
		return NULL;
	return skb;
}

/* Return where the next @n bytes of a block go, NULL if not contiguous. */
static void *gather_room_in_block(const struct sk_buff *skb, u32 n)
{
	u32 at = sdp_buf_cb(skb)->payload;
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		if (at + n <= skb_frag_size(frag))
			return skb_frag_address(frag) + at;
		if (at < skb_frag_size(frag))
			return NULL;
		at -= skb_frag_size(frag);
	}
	return NULL;
}

/*
 * Return where the next @n bytes of a segment go; NULL if they would not be
 * contiguous or need new memory.
 */
static void *gather_room(struct sdp_sock *ssk, struct sk_buff *skb, u32 n)
{
	struct page_frag *pfrag = sk_page_frag(&ssk->sk);
	int frags = skb_shinfo(skb)->nr_frags;

	if (sdp_buf_cb(skb)->reused)
		return gather_room_in_block(skb, n);
	if (!frags)
		return skb_tailroom(skb) >= (int)n ? skb_tail_pointer(skb) :
						     NULL;
	if (!skb_can_coalesce(skb, frags, pfrag->page, pfrag->offset) ||
	    pfrag->size - pfrag->offset < n || !sdp_memory_for_write(ssk, n))
		return NULL;
	return page_address(pfrag->page) + pfrag->offset;
}

/* Add @n bytes, already copied, to the segment and to the counts. */
static void gather_account(struct sdp_sock *ssk, struct sk_buff *skb, u32 n)
{
	if (!skb_shinfo(skb)->nr_frags) {
		skb_put(skb, n);
	} else if (!sdp_buf_cb(skb)->reused) {
		/* A block is charged for its full length from the beginning. */
		send_add_page(skb, sk_page_frag(&ssk->sk), n);
		sdp_memory_charge_tx(ssk, n);
	}
	sdp_buf_cb(skb)->payload += n;
	ssk->tx_outq += n;
	ssk->tx_was_full = false;
}

/*
 * Fast path of small writes: nothing can be sent at the moment, so the bytes
 * are only added to the waiting segment. They are copied under the lock and
 * without page faults; if there would be a fault, send_all() makes the write.
 * Called with tx_mutex.
 *
 * Returns the number of bytes taken: all or none.
 */
static size_t send_gather(struct sdp_sock *ssk, struct msghdr *msg)
{
	size_t n = msg_data_left(msg);
	struct sk_buff *skb = NULL;
	void *to = NULL;

	if (n > SEND_GATHER_MAX ||
	    (msg->msg_flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL)) ||
	    READ_ONCE(ssk->opt.cork))
		return 0;
	sdp_conn_lock(ssk);
	if (!sdp_tx_error(&ssk->sk) && send_may_take(ssk, false))
		skb = gather_segment(ssk, n);
	if (skb)
		to = gather_room(ssk, skb, n);
	if (to) {
		pagefault_disable();
		if (!copy_from_iter_full(to, n, &msg->msg_iter))
			to = NULL;
		pagefault_enable();
	}
	if (to)
		gather_account(ssk, skb, n);
	spin_unlock_bh(&ssk->lock);
	return to ? n : 0;
}

/*
 * A program is the only control message of a write that has an effect for SDP.
 * Like TCP, refuse malformed ones of SOL_SOCKET. Returns 0 or an errno.
 */
static int send_check_control(struct sock *sk, struct msghdr *msg,
			      struct sdp_program_run **run)
{
	struct sockcm_cookie cookie;

	if (!msg->msg_controllen)
		return 0;
	sockcm_init(&cookie, sk);
	return sock_cmsg_send(sk, msg, &cookie) ? -EINVAL :
						  sdp_program_of_send(msg, run);
}

/* Take the bytes of the write, with tx_mutex. Returns as send_parts(). */
static int send_msg(struct sdp_sock *ssk, struct msghdr *msg,
		    struct sdp_program_run *run, long *timeo, size_t *done)
{
	struct sdp_refs refs = { };
	int err;

	if (run)
		return send_program(ssk, msg, run, timeo, done);
	*done = send_gather(ssk, msg);
	if (*done)
		return 0;
	err = send_all(ssk, msg, NULL, &refs, timeo, done);
	sdp_refs_end(&refs, *done);
	return err;
}

/**
 * sdp_sendmsg() - send(2), write(2) and their relatives
 * @sock: socket; takes tx_mutex
 * @msg: bytes to send, flags and control messages
 * @len: number of bytes in @msg
 *
 * Return: number of bytes taken, or a negative errno. -EPIPE comes with SIGPIPE
 * unless MSG_NOSIGNAL is set.
 */
int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *ssk = sdp_sk(sk);
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	struct sdp_program_run *run = NULL;
	size_t done = 0;
	int err;

	err = send_wait_connected(ssk, &timeo) ?:
	      send_check_control(sk, msg, &run);
	if (err)
		return sk_stream_error(sk, msg->msg_flags, err);

	sdp_flush_begin(ssk);
	mutex_lock(&ssk->tx_mutex);
	err = send_msg(ssk, msg, run, &timeo, &done);
	mutex_unlock(&ssk->tx_mutex);
	sdp_flush_end(ssk);
	sdp_program_over(run, msg, done);
	if (done)
		return done;
	return err ? sk_stream_error(sk, msg->msg_flags, err) : 0;
}
