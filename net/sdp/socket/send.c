// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes in: sendmsg(2) and its relatives.
 *
 * Written bytes are copied into segments, one segment per future message: a linear part
 * for small ones, page fragments behind it for large ones. The last segment stays open
 * and gathers further writes until it is full or sent. A write returns when its bytes
 * are in segments, within SO_SNDBUF (A2, B6). Pages may be referenced instead of copied:
 * see zerocopy.c.
 *
 * While a writer copies, without a spinlock, its segment is held back (@tx_hold) and
 * tx_mutex keeps other writers away; whole segments before it go on being sent. A small
 * write that only adds to what gathers anyway is copied under the spinlock: gather().
 *
 * Who has to wait in the middle of a write lets tx_mutex go, but has its turn (@tx_turn): others
 * wait until the call ends, or are told that there is no room. So the bytes of one call are never
 * mixed with another one's.
 */
#include <linux/uaccess.h>

#include "../conn/sock.h"

/* Linear part of a segment that is likely to gather; with its headers, 2 KB. */
#define GATHER_LINEAR	(SKB_WITH_OVERHEAD(2048) - SDP_TX_HEADROOM)
/* Messages of this size are worth a block of their own. */
#define BLOCK_MIN	4096
/* When all sockets together hold too much memory, a writer asks again after this long. */
#define MEMORY_JIFFIES	(HZ / 10 + 1)
/* Larger pieces go into pages. */
#define LINEAR_WRITE	1024
/* Writes up to here may be copied under the spinlock. */
#define GATHER_MAX	512
/* Linear part of a segment that gets its bytes by reference: for its odd ends. */
#define LINEAR_REFS	256

/* For a large message that will be full: a block, used again if there is one. */
static struct sk_buff *new_block(struct sdp_sock *ssk)
{
	struct sk_buff *skb;
	u32 max;

	sdp_stream_lock(ssk);
	max = sdp_engine_payload_max(&ssk->engine);
	/* One from before a resize has served. */
	while ((skb = __skb_dequeue(&ssk->tx_blocks)) && skb->len != max)
		kfree_skb(skb);
	spin_unlock_bh(&ssk->lock);
	return skb ?: sdp_buf_block(max, ssk->tx_frags, ssk->sk.sk_allocation);
}

/* @alone: everything that was sent has arrived */
static struct sk_buff *new_segment(struct sdp_sock *ssk, size_t left, bool refs,
				   bool alone)
{
	u32 max = sdp_engine_payload_max(&ssk->engine);
	struct sk_buff *skb;
	u32 linear = 0;

	if ((left >= max || READ_ONCE(ssk->tx_bulk)) && max >= BLOCK_MIN &&
	    !refs) {
		skb = new_block(ssk);
		if (skb)
			return skb;
	}
	/* A lone small message needs no more room than itself; others will follow one. */
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
	sdp_buf_cb(skb)->again = false;
	sdp_buf_cb(skb)->urgent = false;
	return skb;
}

/* Copy into the linear part's free room. Returns bytes copied or -EFAULT. */
static int copy_linear(struct sk_buff *skb, struct iov_iter *from, u32 n)
{
	if (!copy_from_iter_full(skb_tail_pointer(skb), n, from))
		return -EFAULT;
	skb_put(skb, n);
	return n;
}

static void add_page(struct sk_buff *skb, struct page_frag *pfrag, u32 n)
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

/* Copy into page fragments. Returns bytes copied, -EFAULT, or -ENOBUFS without memory. */
static int copy_pages(struct sdp_sock *ssk, struct sk_buff *skb,
		      struct iov_iter *from, u32 n)
{
	struct page_frag *pfrag = sk_page_frag(&ssk->sk);
	int i = skb_shinfo(skb)->nr_frags;

	if (!sk_page_frag_refill(&ssk->sk, pfrag)) {
		sdp_memory_failed(&ssk->sk);
		return -ENOBUFS;
	}
	if (i == ssk->tx_frags &&
	    !skb_can_coalesce(skb, i, pfrag->page, pfrag->offset))
		return 0;
	n = min_t(u32, n, pfrag->size - pfrag->offset);
	if (copy_page_from_iter(pfrag->page, pfrag->offset, n, from) != n)
		return -EFAULT;
	add_page(skb, pfrag, n);
	return n;
}

static int copy_some(struct sdp_sock *ssk, struct sk_buff *skb,
		     struct iov_iter *from, u32 n)
{
	u32 linear = skb_shinfo(skb)->nr_frags ? 0 : skb_tailroom(skb);

	if (linear)
		return copy_linear(skb, from, min(linear, n));
	return copy_pages(ssk, skb, from, n);
}

/* Fill one segment from the iterator, as far as it goes. */
static int fill(struct sdp_sock *ssk, struct sk_buff *skb,
		struct iov_iter *from, struct sdp_refs *refs)
{
	/*
	 * A block keeps its size. Otherwise messages may have become smaller since the segment was
	 * claimed, by a ring; then it is full, and the next one is.
	 */
	u32 max = sdp_buf_cb(skb)->again ? skb->len :
					   sdp_engine_payload_max(&ssk->engine);
	u32 payload = sdp_buf_cb(skb)->payload;
	u32 room = payload < max ?
			   min_t(size_t, max - payload, iov_iter_count(from)) :
			   0;
	size_t before = iov_iter_count(from);
	u32 done = 0;
	int n = 0;

	if (sdp_buf_cb(skb)->again) {
		n = skb_copy_datagram_from_iter(skb, payload, from, room) ?:
									    room;
		done = max(n, 0);
	}
	while (!sdp_buf_cb(skb)->again && done < room) {
		u32 part = room - done;

		n = sdp_refs_any(refs) ?
			    sdp_refer(ssk, skb, refs, from, &part) :
			    0;
		if (!n && part)
			n = copy_some(ssk, skb, from, part);
		if (n <= 0)
			break;
		done += n;
	}
	/* A copy that ended at a page that is not there has begun, and does not count. */
	iov_iter_revert(from, before - iov_iter_count(from) - done);
	return done ?: n;
}

/* Also without the lock: who waits, or is about to copy, and will ask again under it. */
static int send_error(const struct sock *sk)
{
	return READ_ONCE(sk->sk_err) ||
			       (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN) ?
		       -EPIPE :
		       0;
}

/* Another thread may have disconnected the socket, and connect it to somebody else. */
static bool may_send(const struct sock *sk)
{
	return BIT(sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT);
}

/*
 * Claim a segment to add to; its sending is held back until add_done(). A queued one gets
 * a reference: the connection may fail during the copy, and the queue be purged. -EAGAIN:
 * the memory of all sockets together is short.
 */
static struct sk_buff *claim(struct sdp_sock *ssk, size_t left,
			     const struct sdp_refs *refs, bool first,
			     bool *fresh)
{
	struct sk_buff *skb;
	u32 max, most;
	bool alone;

	sdp_stream_lock(ssk);
	max = sdp_engine_payload_max(&ssk->engine);
	/* A small write may bring a whole block with it. */
	most = ssk->tx_bulk ? max : min_t(size_t, left, max);
	if (!may_send(&ssk->sk) ||
	    !sdp_memory_for_write(ssk, SKB_TRUESIZE(most))) {
		spin_unlock_bh(&ssk->lock);
		return ERR_PTR(may_send(&ssk->sk) ? -EAGAIN : -EPIPE);
	}
	skb = skb_peek_tail(&ssk->tx_queue);
	if (first)
		sdp_size_of_send(ssk, left, skb ? sdp_buf_cb(skb)->payload : 0);
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
	return skb ?: new_segment(ssk, left, sdp_refs_any(refs), alone);
}

/* What is said of the bytes that were added: more will follow; the last one is urgent. */
#define ADD_HOLD	BIT(0)
#define ADD_URGENT	BIT(1)

/* The copy is made: hand the bytes to the engine, or drop them if all is over. */
static int add_done(struct sdp_sock *ssk, struct sk_buff *skb, bool fresh,
		    u32 old_truesize, int n, int how)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };
	int err;

	sdp_stream_lock(ssk);
	err = may_send(sk) ? send_error(sk) : -EPIPE;
	ssk->tx_hold = (how & ADD_HOLD) && !err;
	ssk->tx_copying = false;
	if (err) {
		n = err;
	} else if (n > 0) {
		sdp_buf_cb(skb)->payload += n;
		sdp_memory_sent(ssk, skb->truesize - old_truesize);
		ssk->tx_outq += n;
		ssk->tx_was_full = false;
		if (fresh)
			__skb_queue_tail(&ssk->tx_queue, skb);
		if (how & ADD_URGENT)
			sdp_urgent_mark_last(ssk);
	}
	/* A claimed segment's reference goes, and so does a new one that was not queued. */
	if (!fresh || n <= 0)
		consume_skb(skb);
	sdp_stream_progress(ssk, &todo);
	sdp_stream_unlock(ssk, &todo);
	return n;
}

/* Take one segment's worth. Returns bytes, or an errno. tx_mutex is held. */
static int send_some(struct sdp_sock *ssk, struct msghdr *msg,
		     struct sdp_refs *refs, bool first)
{
	size_t left = msg_data_left(msg);
	u32 old_truesize;
	struct sk_buff *skb;
	int n, how = 0;
	bool fresh;

	skb = claim(ssk, left, refs, first, &fresh);
	if (IS_ERR_OR_NULL(skb))
		return skb ? PTR_ERR(skb) : -ENOBUFS;
	old_truesize = fresh ? 0 : skb->truesize;
	n = fill(ssk, skb, &msg->msg_iter, refs);
	/* With more of this write to come, the segment is not the last word. */
	if ((msg->msg_flags & MSG_MORE) || READ_ONCE(ssk->opt.cork) ||
	    (n > 0 && (size_t)n < left))
		how |= ADD_HOLD;
	if ((msg->msg_flags & MSG_OOB) && n > 0 && (size_t)n == left)
		how |= ADD_URGENT;
	return add_done(ssk, skb, fresh, old_truesize, n, how);
}

/**
 * sdp_turn_take() - nobody else may write until the call ends
 * @ssk: socket, with tx_mutex
 * @mine: whether that is so already; set
 */
void sdp_turn_take(struct sdp_sock *ssk, bool *mine)
{
	if (*mine)
		return;
	sdp_stream_lock(ssk);
	WRITE_ONCE(ssk->tx_turn, true);
	spin_unlock_bh(&ssk->lock);
	*mine = true;
}

static void end_turn(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { .wake = SDP_WAKE_WRITE };

	sdp_stream_lock(ssk);
	WRITE_ONCE(ssk->tx_turn, false);
	sdp_stream_unlock(ssk, &todo);
}

/* Whether there is room, and nobody else's write under way. */
static bool may_take(const struct sdp_sock *ssk, bool mine)
{
	return sk_stream_memory_free(&ssk->sk) &&
	       (mine || !READ_ONCE(ssk->tx_turn));
}

static bool writable(struct sdp_sock *ssk, u32 mine)
{
	WRITE_ONCE(ssk->want_space, true);
	/* Pairs with the barrier in note_space() of conn/conn.c. */
	smp_mb();
	return may_take(ssk, mine) || send_error(&ssk->sk);
}

/* Without a spinlock or tx_mutex, which others may need meanwhile. */
static int writer_waits(struct sdp_sock *ssk, long *timeo, sdp_condition done,
			u32 arg)
{
	struct sdp_todo todo = { };
	int err;

	/* What is held for this write's sake must not wait for it. */
	sdp_stream_lock(ssk);
	ssk->tx_hold = false;
	sdp_stream_progress(ssk, &todo);
	sdp_stream_unlock(ssk, &todo);
	mutex_unlock(&ssk->tx_mutex);
	err = sdp_wait(ssk, SDP_WRITE, timeo, done, arg);
	mutex_lock(&ssk->tx_mutex);
	return err;
}

/* Next to nothing queued is always granted. */
static bool less_queued(struct sdp_sock *ssk, u32 before)
{
	int queued = READ_ONCE(ssk->sk.sk_wmem_queued);

	return queued < (int)before || queued < sdp_memory_least[0] ||
	       send_error(&ssk->sk);
}

/*
 * The sockets of the host, or its memory cgroup, hold too much: until something
 * of ours has arrived, or for a while.
 */
static int wait_for_memory(struct sdp_sock *ssk, long *timeo)
{
	u32 before = READ_ONCE(ssk->sk.sk_wmem_queued);
	long slice = min_t(long, *timeo, MEMORY_JIFFIES);
	long left = *timeo - slice;
	int err;

	if (sdp_memory_reclaim(&ssk->sk))
		return 0;
	WRITE_ONCE(ssk->want_space, true);
	err = writer_waits(ssk, &slice, less_queued, before);
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo = left + slice;
	return err == -EAGAIN && *timeo ? 0 : err;
}

static bool not_connecting(struct sdp_sock *ssk, u32 unused)
{
	/* Pairs with sdp_stream_fail(): who sees the end sees the error that it came with. */
	return smp_load_acquire(&ssk->sk.sk_state) != TCP_SYN_SENT;
}

/* A write while connecting waits for the connection, as with TCP. */
static int wait_connected(struct sdp_sock *ssk, long *timeo)
{
	struct sock *sk = &ssk->sk;
	int err;

	if (READ_ONCE(sk->sk_state) == TCP_SYN_SENT) {
		err = sdp_wait(ssk, SDP_WRITE, timeo, not_connecting, 0);
		if (err)
			return err;
	}
	err = sock_error(sk);
	if (err)
		return err;
	return BIT(READ_ONCE(sk->sk_state)) &
			       (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT) ?
		       0 :
		       -EPIPE;
}

/* Before a wait for room: what is begun shall not be mixed with others' writes. */
static void keep_together(struct sdp_sock *ssk, size_t done, bool *turn)
{
	if (done)
		sdp_turn_take(ssk, turn);
}

static int send_parts(struct sdp_sock *ssk, struct msghdr *msg,
		      struct sdp_refs *refs, long *timeo, size_t *done,
		      bool *turn)
{
	struct sock *sk = &ssk->sk;
	u32 lives = ssk->lives;
	bool refused = false;
	int n;

	while (msg_data_left(msg)) {
		/* While it waited, the socket may have been connected to somebody else. */
		if (send_error(sk) || ssk->lives != lives)
			return -EPIPE;
		if (!may_take(ssk, *turn)) {
			keep_together(ssk, *done, turn);
			n = writer_waits(ssk, timeo, writable, *turn);
			if (n)
				return n;
			continue;
		}
		n = sdp_srcavail_send(ssk, msg, timeo, *done, &refused, turn);
		if (n || ssk->lives != lives) {
			*done += n;
			if (signal_pending(current))
				return sock_intr_errno(*timeo);
			continue;
		}
		/* Here, because tx_mutex is kept from now until the first byte is taken. */
		n = *done ? 0 : sdp_refs_begin(ssk, msg, refs);
		if (!n)
			n = send_some(ssk, msg, refs, !*done);
		if (n == -EAGAIN) {
			if (!*done)
				sdp_refs_undo(refs);
			keep_together(ssk, *done, turn);
			n = wait_for_memory(ssk, timeo);
			if (n)
				return n;
			continue;
		}
		if (n < 0)
			return n;
		*done += n;
		cond_resched();
	}
	return send_error(sk);
}

static int send_all(struct sdp_sock *ssk, struct msghdr *msg,
		    struct sdp_refs *refs, long *timeo, size_t *done)
{
	bool turn = false;
	int err = send_parts(ssk, msg, refs, timeo, done, &turn);

	if (turn)
		end_turn(ssk);
	return err;
}

/* The open segment, if all that could be sent has been, also with @n bytes more in it. */
static struct sk_buff *gathering_segment(const struct sdp_sock *ssk, u32 n)
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

/* The next @n bytes of a block, if they lie in one piece. */
static void *room_in_block(const struct sk_buff *skb, u32 n)
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

/* Where its next @n bytes go, if there is room that needs no new memory. */
static void *room_for(struct sdp_sock *ssk, struct sk_buff *skb, u32 n)
{
	struct page_frag *pfrag = sk_page_frag(&ssk->sk);
	int frags = skb_shinfo(skb)->nr_frags;

	if (sdp_buf_cb(skb)->again)
		return room_in_block(skb, n);
	if (!frags)
		return skb_tailroom(skb) >= (int)n ? skb_tail_pointer(skb) :
						     NULL;
	if (!skb_can_coalesce(skb, frags, pfrag->page, pfrag->offset) ||
	    pfrag->size - pfrag->offset < n || !sdp_memory_for_write(ssk, n))
		return NULL;
	return page_address(pfrag->page) + pfrag->offset;
}

static void gathered(struct sdp_sock *ssk, struct sk_buff *skb, u32 n)
{
	if (!skb_shinfo(skb)->nr_frags) {
		skb_put(skb, n);
	} else if (!sdp_buf_cb(skb)->again) {
		/* A block has its whole length, and is charged for it, until it is sent. */
		add_page(skb, sk_page_frag(&ssk->sk), n);
		sdp_memory_sent(ssk, n);
	}
	sdp_buf_cb(skb)->payload += n;
	ssk->tx_outq += n;
	ssk->tx_was_full = false;
}

/*
 * The short way of most small writes: while everything that may go is on its way, what is
 * written adds to the open segment, and that is all. It is copied under the spinlock, so a
 * page of the caller's that is not there sends the write the long way. tx_mutex is held.
 *
 * Returns the bytes taken: all or none.
 */
static size_t gather(struct sdp_sock *ssk, struct msghdr *msg)
{
	size_t n = msg_data_left(msg);
	struct sk_buff *skb = NULL;
	void *to = NULL;

	if (n > GATHER_MAX ||
	    (msg->msg_flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL)) ||
	    READ_ONCE(ssk->opt.cork))
		return 0;
	sdp_stream_lock(ssk);
	if (!send_error(&ssk->sk) && may_take(ssk, false))
		skb = gathering_segment(ssk, n);
	if (skb)
		to = room_for(ssk, skb, n);
	if (to) {
		pagefault_disable();
		if (!copy_from_iter_full(to, n, &msg->msg_iter))
			to = NULL;
		pagefault_enable();
	}
	if (to)
		gathered(ssk, skb, n);
	spin_unlock_bh(&ssk->lock);
	return to ? n : 0;
}

/* They ask for nothing that there is here, but those of SOL_SOCKET have to be well formed. */
static int check_control(struct sock *sk, struct msghdr *msg)
{
	struct sockcm_cookie cookie;

	if (!msg->msg_controllen)
		return 0;
	sockcm_init(&cookie, sk);
	return sock_cmsg_send(sk, msg, &cookie) ? -EINVAL : 0;
}

/**
 * sdp_sendmsg() - send(2), write(2) and the like
 * @sock: socket
 * @msg: what to send
 * @len: bytes
 *
 * Return: bytes taken, or an errno; -EPIPE comes with SIGPIPE unless MSG_NOSIGNAL.
 */
int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *ssk = sdp_sk(sk);
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	struct sdp_refs refs = { };
	size_t done = 0;
	int err;

	err = wait_connected(ssk, &timeo) ?: check_control(sk, msg);
	if (err)
		return sk_stream_error(sk, msg->msg_flags, err);

	sdp_flush_begin(ssk);
	mutex_lock(&ssk->tx_mutex);
	done = gather(ssk, msg);
	if (!done) {
		err = send_all(ssk, msg, &refs, &timeo, &done);
		sdp_refs_end(&refs, done);
	}
	mutex_unlock(&ssk->tx_mutex);
	sdp_flush_end(ssk);
	if (done)
		return done;
	return err ? sk_stream_error(sk, msg->msg_flags, err) : 0;
}

/**
 * sdp_send_held() - end what is held back for more to come
 * @ssk: socket
 *
 * tx_mutex keeps away from a segment that a writer is copying into.
 */
void sdp_send_held(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	mutex_lock(&ssk->tx_mutex);
	sdp_stream_lock(ssk);
	ssk->tx_hold = false;
	sdp_stream_progress(ssk, &todo);
	sdp_stream_unlock(ssk, &todo);
	mutex_unlock(&ssk->tx_mutex);
}
