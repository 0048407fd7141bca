// SPDX-License-Identifier: GPL-2.0
/*
 * Readiness: poll, select, epoll, blocking calls; who waits, and whom to wake (F1-F3).
 *
 * Each kind of event (readable, urgent, writable) has a wait queue of its own. A
 * poller that asks for one kind registers there, so that the queue is the count
 * of waiters, and an event of a kind for which nobody waits ends with one look
 * at an empty list: it is counted as skipped. A poller that asks for none of
 * them (only for POLLHUP) has a fourth queue.
 *
 * A poller that asks for several kinds registers in the common queue (sk_wq)
 * alone, as many pollers of the kernel (aio, io_uring, 9p) have room for one
 * queue or two. @common notes the kinds that somebody there may ask for: events
 * of other kinds do not wake that queue, and each of its waiters is woken by the
 * kinds that it asks for, as the entries filter by the event mask themselves. A
 * note is dropped when the queue is found empty.
 *
 * One trap: EPOLL_CTL_MOD changes what a registered waiter asks for, and poll is then
 * called without a way to register (poll_wait does nothing). Such a waiter "wanders":
 * it sits in one kind's queue and waits for another kind too. The kind is noted in
 * @wandering, and from then on its events wake all queues (the entries filter by the
 * event mask themselves). The note is dropped when no queue has a waiter any more.
 *
 * Changes of state and errors wake all queues, and without a mask, as TCP does:
 * each waiter that is woken looks for itself. io_uring and aio take a mask for
 * what there is.
 *
 * A socket that the policy has made of a TCP socket has the wait queue of that
 * one, with the pollers from before: the policy has noted what they ask for.
 * Beside a TCP socket that listens, where pollers register with TCP's half, it
 * is not known (SDP_COMMON_UNKNOWN), and the queue is woken whenever somebody is
 * there.
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

/* The same of the common queue; a sock that is orphaned has none. */
static bool common_waits(struct sdp_sock *ssk)
{
	struct socket_wq *wq;
	bool there;

	rcu_read_lock();
	wq = rcu_dereference(ssk->sk.sk_wq);
	/* Safe as in waits(). */
	there = wq && waitqueue_active(&wq->wait);
	rcu_read_unlock();
	return there;
}

static void wake_common(struct sdp_sock *ssk, __poll_t mask)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(ssk->sk.sk_wq);
	/* Safe as in waits(). */
	if (wq && waitqueue_active(&wq->wait))
		wake_up_interruptible_poll(&wq->wait, mask);
	rcu_read_unlock();
}

/* Whether somebody in the common queue may ask for @kind. */
static bool common_asks(struct sdp_sock *ssk, enum sdp_ready kind)
{
	/* Pairs with sdp_ready_shared(): no older queue is looked at. */
	if (test_bit_acquire(SDP_COMMON_UNKNOWN, &ssk->common))
		return common_waits(ssk);
	if (!test_bit(kind, &ssk->common))
		return false;
	if (common_waits(ssk))
		return true;
	clear_bit(kind, &ssk->common);
	/*
	 * A poller may have registered and noted this kind just now: then the
	 * note is put back. Pairs with register_waiter(), where the
	 * registration comes before the note.
	 */
	smp_mb__after_atomic();
	if (!common_waits(ssk))
		return false;
	set_bit(kind, &ssk->common);
	return true;
}

static bool any_waiter(struct sdp_sock *ssk)
{
	int kind;

	for (kind = 0; kind < SDP_READY_KINDS; kind++)
		if (waits(ssk, kind))
			return true;
	return common_waits(ssk);
}

static void wake_queues(struct sdp_sock *ssk, __poll_t mask)
{
	int kind;

	for (kind = 0; kind < SDP_READY_KINDS; kind++)
		if (waits(ssk, kind))
			wake_up_interruptible_poll(&ssk->waiters[kind], mask);
}

/* Whether a waiter that asks for @kind may be in any of the queues. */
static bool wanders(struct sdp_sock *ssk, enum sdp_ready kind)
{
	if (!test_bit(kind, &ssk->wandering))
		return false;
	if (any_waiter(ssk))
		return true;
	/* Nobody is left; whoever comes next registers with its kinds ... */
	clear_bit(kind, &ssk->wandering);
	/*
	 * ... unless one has registered and changed its mind just now, whose
	 * note this was. Pairs with the barrier in register_waiter().
	 */
	smp_mb__after_atomic();
	if (!any_waiter(ssk))
		return false;
	set_bit(kind, &ssk->wandering);
	return true;
}

/*
 * Returns whether anybody was there to be woken, in the common queue too, which
 * the caller wakes: then *@common is set. The caller has issued a full barrier.
 */
static bool wake_kind(struct sdp_sock *ssk, enum sdp_ready kind, bool *common)
{
	bool there;

	if (wanders(ssk, kind)) {
		*common = true;
		wake_queues(ssk, kind_mask[kind]);
		return true;
	}
	there = waits(ssk, kind);
	if (there)
		wake_up_interruptible_poll(&ssk->waiters[kind],
					   kind_mask[kind]);
	if (!common_asks(ssk, kind))
		return there;
	*common = true;
	return true;
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
		sock_wake_async(wq, SOCK_WAKE_IO,
				wake & SDP_WAKE_ERROR ? POLL_ERR : POLL_IN);
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
	bool common = false;
	__poll_t mask = 0;
	int kind;

	/* Pairs with the barrier in poll_wait and in sdp_wait's set_current_state. */
	smp_mb();
	for (kind = SDP_READ; kind < SDP_HANGUP; kind++) {
		if (!(wake & BIT(kind)))
			continue;
		mask |= kind_mask[kind];
		/* In enum sdp_stat, skipped follows issued. */
		sdp_count(sock_net(sk),
			  issued[kind] + !wake_kind(ssk, kind, &common), 1);
	}
	if (wake & (SDP_WAKE_STATE | SDP_WAKE_ERROR)) {
		wake_queues(ssk, 0);
		wake_common(ssk, 0);
	} else if (common) {
		wake_common(ssk, mask);
	}
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
int sdp_wait(struct sdp_sock *ssk, enum sdp_ready kind, long *timeo,
	     sdp_condition done, u32 arg)
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

/* The kinds that a poller asks for, a bit each. */
static unsigned long kinds_asked(const poll_table *wait)
{
	__poll_t events = poll_requested_events(wait);
	unsigned long kinds = 0;
	int kind;

	for (kind = SDP_READ; kind < SDP_HANGUP; kind++)
		if (events & kind_mask[kind])
			kinds |= BIT(kind);
	return events & EPOLLRDHUP ? kinds | BIT(SDP_READ) : kinds;
}

static void note_kinds(unsigned long *notes, unsigned long kinds)
{
	int kind;

	for (kind = SDP_READ; kind < SDP_HANGUP; kind++)
		if (kinds & BIT(kind))
			set_bit(kind, notes);
}

/* To one queue, and one only. */
static void register_waiter(struct file *file, struct socket *sock,
			    poll_table *wait)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	unsigned long kinds = kinds_asked(wait);

	if (!sdp_poll_registers(wait)) {
		note_kinds(&ssk->wandering, kinds);
	} else if (hweight_long(kinds) > 1) {
		poll_wait(file, &sock->wq.wait, wait);
		/* Not before: see common_asks(). */
		smp_mb__before_atomic();
		note_kinds(&ssk->common, kinds);
	} else {
		poll_wait(file,
			  &ssk->waiters[kinds ? __ffs(kinds) : SDP_HANGUP],
			  wait);
	}
	/* Pairs with the barrier in sdp_notify(). */
	smp_mb();
}

/**
 * sdp_ready_note() - somebody polls a TCP socket whose place SDP may take
 * @notes: gets the kinds of events asked for
 * @wait: who asks; has registered with the socket's wait queue, or will
 */
void sdp_ready_note(unsigned long *notes, const poll_table *wait)
{
	/* Without @wait nobody waits. */
	if (wait)
		note_kinds(notes, kinds_asked(wait));
}

/**
 * sdp_ready_share() - a socket gets the wait queue of a TCP one
 * @ssk: socket, before that
 *
 * Until sdp_ready_shared() it is not known what they ask for who wait there.
 */
void sdp_ready_share(struct sdp_sock *ssk)
{
	set_bit(SDP_COMMON_UNKNOWN, &ssk->common);
	WRITE_ONCE(ssk->shares_wq, true);
}

/**
 * sdp_ready_shared() - it has got it, and from now on pollers register with SDP
 * @ssk: socket, after sdp_ready_share()
 * @kinds: what those ask for who wait there, by sdp_ready_note()
 */
void sdp_ready_shared(struct sdp_sock *ssk, unsigned long kinds)
{
	note_kinds(&ssk->common, kinds);
	/* A waker that does not find the one finds the other. */
	smp_mb__before_atomic();
	clear_bit(SDP_COMMON_UNKNOWN, &ssk->common);
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
	if (!sock_flag(sk, SOCK_URGINLINE) &&
	    sdp_urgent_at_mark(ssk, READ_ONCE(ssk->rx_read)))
		target++;
	/* With buffer or ring full no more can come: waiting for a low-water mark is over. */
	return bytes &&
	       (bytes >= target || READ_ONCE(ssk->rx_ring_full) ||
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
	/* Pairs with the barrier in note_space() of conn/conn.c. */
	smp_mb();
	return writeable(ssk) ? mask | EPOLLOUT | EPOLLWRNORM : mask;
}

/*
 * A poller hears that there is something to read. The reader that comes next
 * comes because of that, and not before what it reads: for recv.c.
 */
static void note_indicated(struct sdp_sock *ssk, __poll_t mask, __poll_t events)
{
	if ((mask & events & EPOLLIN) && !READ_ONCE(ssk->rx_indicated))
		WRITE_ONCE(ssk->rx_indicated, true);
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

	register_waiter(file, sock, wait);
	state = READ_ONCE(sk->sk_state);
	/* An error from before listen() is there to be fetched, but is no event of a listener. */
	if (state == TCP_LISTEN)
		return listen_mask(ssk);
	mask = stream_mask(ssk, state);
	note_indicated(ssk, mask, poll_requested_events(wait));
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
