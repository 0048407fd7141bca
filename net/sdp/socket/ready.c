// SPDX-License-Identifier: GPL-2.0
/*
 * Readiness: poll, select, epoll, blocking calls; who waits, and whom to wake (F1-F3).
 *
 * Each kind of event (readable, urgent, writable) has a wait queue of its own. A poller
 * registers with the kinds it asks for, so that the queue is the count of waiters, and
 * an event of a kind for which nobody waits ends with one look at an empty list: it is
 * counted as skipped. A poller that asks for none of them (only for POLLHUP) has a
 * fourth queue; changes of state and errors wake all four.
 *
 * One trap: EPOLL_CTL_MOD changes what a registered waiter asks for, and poll is then
 * called without a way to register (poll_wait does nothing). Such a waiter "wanders":
 * it sits in one kind's queue and waits for another kind too. The kind is noted in
 * @wandering, and from then on its events wake all queues (the entries filter by the
 * event mask themselves). The note is dropped when no queue has a waiter any more.
 *
 * Changes of state and errors wake without a mask, as TCP does: whoever is woken looks for himself.
 * io_uring and aio take a mask for what there is.
 *
 * A socket that the policy has made of one of TCP's may have waiters in the common queue, from
 * before; it wakes them all.
 */
#include <linux/sched/signal.h>

#include "sock.h"

static const __poll_t kind_mask[SDP_READY_KINDS] = {
	[SDP_READ]	= EPOLLIN | EPOLLRDNORM,
	[SDP_URGENT]	= EPOLLPRI | EPOLLRDBAND,
	[SDP_WRITE]	= EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND,
	[SDP_HANGUP]	= 0,
};

/**
 * sdp_ready_init() - nobody waits
 * @ssk: new socket
 */
void sdp_ready_init(struct sdp_sock *ssk)
{
	int kind;

	for (kind = 0; kind < SDP_READY_KINDS; kind++)
		init_waitqueue_head(&ssk->waiters[kind]);
}

/* Whether anybody waits; sdp_notify() has issued the barrier that makes it a safe question. */
static bool waits(struct sdp_sock *ssk, int kind)
{
	/* See above. */
	return waitqueue_active(&ssk->waiters[kind]);
}

static bool any_waiter(struct sdp_sock *ssk)
{
	int kind;

	for (kind = 0; kind < SDP_READY_KINDS; kind++)
		if (waits(ssk, kind))
			return true;
	return false;
}

static void wake_queues(struct sdp_sock *ssk, __poll_t mask)
{
	int kind;

	for (kind = 0; kind < SDP_READY_KINDS; kind++)
		if (waits(ssk, kind))
			wake_up_interruptible_poll(&ssk->waiters[kind], mask);
}

/* Returns whether anybody was there to be woken. The caller has issued a full barrier. */
static bool wake_kind(struct sdp_sock *ssk, enum sdp_ready kind)
{
	if (test_bit(kind, &ssk->wandering)) {
		if (any_waiter(ssk)) {
			wake_queues(ssk, kind_mask[kind]);
			return true;
		}
		/* Nobody is left; whoever comes next registers with its kinds ... */
		clear_bit(kind, &ssk->wandering);
		/*
		 * ... unless one has registered and changed its mind just now, whose note this was.
		 * Pairs with the barrier in register_waiter().
		 */
		smp_mb__after_atomic();
		if (any_waiter(ssk)) {
			set_bit(kind, &ssk->wandering);
			wake_queues(ssk, kind_mask[kind]);
			return true;
		}
	}
	if (!waits(ssk, kind))
		return false;
	wake_up_interruptible_poll(&ssk->waiters[kind], kind_mask[kind]);
	return true;
}

/* Those who polled when another sock was the socket's; the caller has issued a full barrier. */
static void wake_early(struct sdp_sock *ssk, u32 wake)
{
	__poll_t mask = 0;
	struct socket_wq *wq;
	int kind;

	for (kind = SDP_READ; kind < SDP_HANGUP; kind++)
		if (wake & BIT(kind))
			mask |= kind_mask[kind];
	if (wake & (SDP_WAKE_STATE | SDP_WAKE_ERROR))
		mask = 0;
	rcu_read_lock();
	wq = rcu_dereference(ssk->sk.sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, mask);
	rcu_read_unlock();
}

/* O_ASYNC. Where sk_wq is shared, it may have been asked for by way of another sock. */
static void signal_owner(struct sdp_sock *ssk, u32 wake)
{
	struct sock *sk = &ssk->sk;
	struct socket_wq *wq;

	if (!sock_flag(sk, SOCK_FASYNC) && !READ_ONCE(ssk->shares_wq))
		return;
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (wq && (wake & (SDP_WAKE_STATE | SDP_WAKE_ERROR)))
		sock_wake_async(wq, SOCK_WAKE_IO, wake & SDP_WAKE_ERROR ? POLL_ERR : POLL_IN);
	if (wq && (wake & SDP_WAKE_READ))
		sock_wake_async(wq, SOCK_WAKE_WAITD, POLL_IN);
	if (wq && (wake & (SDP_WAKE_WRITE | SDP_WAKE_STATE)))
		sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}

/**
 * sdp_notify() - something has happened; wake those who wait for it, and only those
 * @ssk: socket
 * @wake: SDP_WAKE_*
 *
 * The state that makes the condition true has been written before. No lock is held.
 */
void sdp_notify(struct sdp_sock *ssk, u32 wake)
{
	static const enum sdp_stat issued[] = {
		[SDP_READ]	= SDP_STAT_WakeReadIssued,
		[SDP_URGENT]	= SDP_STAT_WakeUrgentIssued,
		[SDP_WRITE]	= SDP_STAT_WakeWriteIssued,
	};
	struct sock *sk = &ssk->sk;
	int kind;

	/* Pairs with the barrier in poll_wait and in sdp_wait's set_current_state. */
	smp_mb();
	for (kind = SDP_READ; kind < SDP_HANGUP; kind++) {
		if (!(wake & BIT(kind)))
			continue;
		/* In enum sdp_stat, skipped follows issued. */
		sdp_count(sock_net(sk), issued[kind] + !wake_kind(ssk, kind), 1);
	}
	if (wake & (SDP_WAKE_STATE | SDP_WAKE_ERROR))
		wake_queues(ssk, 0);
	if (unlikely(READ_ONCE(ssk->shares_wq)))
		wake_early(ssk, wake);
	signal_owner(ssk, wake);
}

/**
 * sdp_wait() - sleep until a condition is true
 * @ssk: socket; the caller holds no spinlock
 * @kind: events that may make it true; state changes and errors always wake
 * @timeo: how long (jiffies); the rest is left in it
 * @done: the condition; looks at the socket without its lock
 * @arg: for @done
 *
 * Return: 0, -EAGAIN (time over, or none was given) or the errno of a signal.
 */
int sdp_wait(struct sdp_sock *ssk, enum sdp_ready kind, long *timeo, sdp_condition done,
	     u32 arg)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	if (done(ssk, arg))
		return 0;
	if (!*timeo)
		return -EAGAIN;
	add_wait_queue(&ssk->waiters[kind], &wait);
	/* Pairs with the barrier in sdp_notify(). */
	smp_mb();
	while (!done(ssk, arg)) {
		if (signal_pending(current)) {
			err = sock_intr_errno(*timeo);
			break;
		}
		if (!*timeo) {
			err = -EAGAIN;
			break;
		}
		*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
	}
	remove_wait_queue(&ssk->waiters[kind], &wait);
	return err;
}

static void register_waiter(struct file *file, struct sdp_sock *ssk, poll_table *wait)
{
	__poll_t events = poll_requested_events(wait);
	bool none = true;
	int kind;

	for (kind = SDP_READ; kind < SDP_HANGUP; kind++) {
		if (!(events & (kind_mask[kind] | (kind == SDP_READ ? EPOLLRDHUP : 0))))
			continue;
		none = false;
		if (sdp_poll_registers(wait))
			poll_wait(file, &ssk->waiters[kind], wait);
		else
			set_bit(kind, &ssk->wandering);
	}
	if (none)
		poll_wait(file, &ssk->waiters[SDP_HANGUP], wait);
	/* Pairs with the barrier in sdp_notify(). */
	smp_mb();
}

static __poll_t listen_mask(const struct sdp_sock *ssk)
{
	return list_empty_careful(&ssk->accepted) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static bool readable(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	u32 bytes = sdp_readable(ssk);
	u32 target = sock_rcvlowat(sk, 0, INT_MAX);

	/* A read would pass over the urgent byte. */
	if (!sock_flag(sk, SOCK_URGINLINE) && sdp_urgent_at_mark(ssk, READ_ONCE(ssk->rx_read)))
		target++;
	/* With buffer or ring full no more can come: waiting for a low-water mark is over. */
	return bytes && (bytes >= target || READ_ONCE(ssk->rx_ring_full) ||
			 atomic_read(&sk->sk_rmem_alloc) >= READ_ONCE(sk->sk_rcvbuf));
}

static bool writeable(const struct sdp_sock *ssk)
{
	return sk_stream_is_writeable(&ssk->sk) && !READ_ONCE(ssk->tx_turn);
}

static __poll_t stream_mask(struct sdp_sock *ssk, u8 state)
{
	struct sock *sk = &ssk->sk;
	u8 shutdown = READ_ONCE(sk->sk_shutdown);
	__poll_t mask = 0;

	if (shutdown == SHUTDOWN_MASK || state == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (state == TCP_SYN_SENT)
		return mask;
	if (readable(ssk))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(ssk->urg_state) == SDP_URG_HERE)
		mask |= EPOLLPRI;
	if ((shutdown & SEND_SHUTDOWN) || writeable(ssk))
		return mask | EPOLLOUT | EPOLLWRNORM;
	/* For SIGIO: its owner wants to hear of space. */
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	WRITE_ONCE(ssk->want_space, true);
	/* Pairs with the barrier in note_space() of stream.c. */
	smp_mb();
	return writeable(ssk) ? mask | EPOLLOUT | EPOLLWRNORM : mask;
}

/**
 * sdp_poll() - what is ready, as TCP would say it
 * @file: for poll_wait
 * @sock: socket
 * @wait: who asks, and for what
 *
 * Takes no mutex, so it never waits behind a sender or reader.
 *
 * Return: EPOLL* bits.
 */
__poll_t sdp_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	struct sock *sk = sock->sk;
	__poll_t mask;
	u8 state;

	register_waiter(file, ssk, wait);
	state = READ_ONCE(sk->sk_state);
	/* An error from before listen() is there to be fetched, but is no event of a listener. */
	if (state == TCP_LISTEN)
		return listen_mask(ssk);
	mask = stream_mask(ssk, state);
	if (!skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	/* Pairs with sdp_stream_fail(): who sees the end sees the error that it came with ... */
	smp_rmb();
	if (!READ_ONCE(sk->sk_err))
		return mask;
	/* ... and who sees the error sees the end: it may be just about to be written. */
	if (!(mask & EPOLLHUP)) {
		sdp_stream_lock(ssk);
		spin_unlock_bh(&ssk->lock);
		mask |= stream_mask(ssk, READ_ONCE(sk->sk_state));
	}
	return mask | EPOLLERR;
}
