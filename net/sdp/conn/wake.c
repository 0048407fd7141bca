// SPDX-License-Identifier: GPL-2.0
/*
 * Readiness: wait queues per kind of event, waiting and waking (F1-F3).
 *
 * Each kind of event (readable, urgent, writable) has a wait queue of its own.
 * Blocking calls wait there, and so does a poller that asks for one kind. The
 * queue thus tells whether there is a waiter of this kind (F1). An event
 * without a waiter only finds an empty list, and is counted as skipped (F2). A
 * fourth queue is for pollers that ask for none of these kinds (only for
 * EPOLLHUP).
 *
 * A poller that asks for several kinds registers in the common queue (sk_wq)
 * only, because many pollers in the kernel (aio, io_uring, 9p) can register in
 * one or two queues at most. sdp_sock.common notes the kinds that a waiter in
 * this queue may ask for. Events of other kinds do not wake the queue. When the
 * queue is woken, the wake function of each entry compares the event mask with
 * what its waiter asks for. A note is dropped when the queue is found empty.
 *
 * EPOLL_CTL_MOD changes the kinds that a registered waiter asks for. It calls
 * poll() in such a way that poll_wait() does not register. The waiter stays in
 * the queue of one kind and waits for another kind too. This kind is noted in
 * sdp_sock.unregistered_kinds, and from then on its events wake all queues. The
 * note is dropped when no queue has a waiter.
 *
 * State changes and errors wake all queues without an event mask, as in TCP, so
 * that each woken waiter polls again. io_uring and aio would take the bits of a
 * mask for all that is ready.
 *
 * An SDP socket that takes the place of a TCP socket (policy) also gets the TCP
 * socket's wait queue as common queue, with the pollers in it. The policy has
 * noted what they ask for. If the policy pairs an SDP listener with a TCP
 * listener, pollers register through TCP's poll(), and their kinds are not
 * known (SDP_COMMON_UNKNOWN). Then every event wakes the common queue if it has
 * a waiter.
 *
 * Calls run without the socket's @lock. Barriers order them, as noted below.
 */
#include <linux/sched/signal.h>

#include "wake.h"

static const __poll_t kind_mask[SDP_WAIT_KINDS] = {
	[SDP_READ]	= EPOLLIN | EPOLLRDNORM,
	[SDP_URGENT]	= EPOLLPRI | EPOLLRDBAND,
	[SDP_WRITE]	= EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND,
	[SDP_HANGUP]	= 0,
};

/**
 * sdp_wake_init() - initialize the wait queues
 * @ssk: new socket
 */
void sdp_wake_init(struct sdp_sock *ssk)
{
	int kind;

	for (kind = 0; kind < SDP_WAIT_KINDS; kind++)
		init_waitqueue_head(&ssk->waiters[kind]);
}

/* Does the queue of this kind have a waiter? */
static bool kind_has_waiter(struct sdp_sock *ssk, int kind)
{
	/* Safe, because sdp_wake() has issued a full barrier before. */
	return waitqueue_active(&ssk->waiters[kind]);
}

/* Does the common queue have a waiter? An orphaned sock has no such queue. */
static bool common_has_waiter(struct sdp_sock *ssk)
{
	struct socket_wq *wq;
	bool there;

	rcu_read_lock();
	wq = rcu_dereference(ssk->sk.sk_wq);
	/* Safe as in kind_has_waiter(). */
	there = wq && waitqueue_active(&wq->wait);
	rcu_read_unlock();
	return there;
}

static void wake_common(struct sdp_sock *ssk, __poll_t mask)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(ssk->sk.sk_wq);
	/* Safe as in kind_has_waiter(). */
	if (wq && waitqueue_active(&wq->wait))
		wake_up_interruptible_poll(&wq->wait, mask);
	rcu_read_unlock();
}

/* May a waiter in the common queue ask for @kind? */
static bool common_may_want(struct sdp_sock *ssk, enum sdp_wait_kind kind)
{
	/*
	 * Pairs with sdp_wake_share_end(): if the bit is clear, we see the
	 * notes of the shared queue, and the queue itself instead of the old
	 * one.
	 */
	if (test_bit_acquire(SDP_COMMON_UNKNOWN, &ssk->common))
		return common_has_waiter(ssk);
	if (!test_bit(kind, &ssk->common))
		return false;
	if (common_has_waiter(ssk))
		return true;
	clear_bit(kind, &ssk->common);
	/*
	 * A poller may have registered and noted this kind meanwhile. If we
	 * have cleared its note, we restore it. Pairs with sdp_wake_register(),
	 * which registers before it notes.
	 */
	smp_mb__after_atomic();
	if (!common_has_waiter(ssk))
		return false;
	set_bit(kind, &ssk->common);
	return true;
}

/* Does any of the queues have a waiter? */
static bool any_waiter(struct sdp_sock *ssk)
{
	int kind;

	for (kind = 0; kind < SDP_WAIT_KINDS; kind++)
		if (kind_has_waiter(ssk, kind))
			return true;
	return common_has_waiter(ssk);
}

/* Wake the queues of all kinds, but not the common queue. */
static void wake_all_kinds(struct sdp_sock *ssk, __poll_t mask)
{
	int kind;

	for (kind = 0; kind < SDP_WAIT_KINDS; kind++)
		if (kind_has_waiter(ssk, kind))
			wake_up_interruptible_poll(&ssk->waiters[kind], mask);
}

/* May a waiter that asks for @kind be in a queue of another kind? */
static bool kind_is_unregistered(struct sdp_sock *ssk, enum sdp_wait_kind kind)
{
	if (!test_bit(kind, &ssk->unregistered_kinds))
		return false;
	if (any_waiter(ssk))
		return true;
	/* No waiter is left, and new ones register with the kinds they want. */
	clear_bit(kind, &ssk->unregistered_kinds);
	/*
	 * A waiter may have registered and changed its kinds meanwhile. If we
	 * have cleared its note, we restore it. Pairs with the barrier at the
	 * end of sdp_wake_register().
	 */
	smp_mb__after_atomic();
	if (!any_waiter(ssk))
		return false;
	set_bit(kind, &ssk->unregistered_kinds);
	return true;
}

/*
 * Wake the waiters of one kind, except those in the common queue. If there are
 * any in the common queue, *@common is set, and the caller wakes it once for
 * all kinds. Returns whether there was a waiter in any queue. The caller has
 * issued a full barrier.
 */
static bool wake_kind(struct sdp_sock *ssk, enum sdp_wait_kind kind,
		      bool *common)
{
	bool there;

	if (kind_is_unregistered(ssk, kind)) {
		*common = true;
		wake_all_kinds(ssk, kind_mask[kind]);
		return true;
	}
	there = kind_has_waiter(ssk, kind);
	if (there)
		wake_up_interruptible_poll(&ssk->waiters[kind],
					   kind_mask[kind]);
	if (!common_may_want(ssk, kind))
		return there;
	*common = true;
	return true;
}

/*
 * Send SIGIO (O_ASYNC). If sk_wq is shared with a TCP sock, the application may
 * have set O_ASYNC while the socket had that sock. Then our sock does not have
 * the flag, and only sk_wq knows.
 */
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
 * sdp_wake() - wake the waiters of events that have happened, and only those
 * @ssk: socket
 * @wake: events, SDP_WAKE_*
 *
 * The caller has written the state that makes the events true. It holds no
 * lock.
 */
void sdp_wake(struct sdp_sock *ssk, u32 wake)
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

	/* Pairs with the barriers in sdp_wake_register() and sdp_wait(). */
	smp_mb();
	for (kind = SDP_READ; kind < SDP_HANGUP; kind++) {
		if (!(wake & BIT(kind)))
			continue;
		mask |= kind_mask[kind];
		/* In enum sdp_stat, Skipped follows Issued for each kind. */
		sdp_count(sock_net(sk),
			  issued[kind] + !wake_kind(ssk, kind, &common), 1);
	}
	if (wake & (SDP_WAKE_STATE | SDP_WAKE_ERROR)) {
		wake_all_kinds(ssk, 0);
		wake_common(ssk, 0);
	} else if (common) {
		wake_common(ssk, mask);
	}
	signal_owner(ssk, wake);
}

/**
 * sdp_wait() - sleep until a condition is true
 * @ssk: socket; the caller holds no spinlock
 * @kind: kind of event that may make the condition true. State changes and
 *	errors always wake the caller
 * @timeo: time limit in jiffies; the time that is left is stored here
 * @done: the condition; it reads the socket without the socket's lock
 * @arg: argument for @done
 *
 * Return: 0 if the condition is true, -EAGAIN if the time is over or was 0, or
 * the errno for a pending signal.
 */
int sdp_wait(struct sdp_sock *ssk, enum sdp_wait_kind kind, long *timeo,
	     sdp_condition done, u32 arg)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err = 0;

	if (done(ssk, arg))
		return 0;
	if (!*timeo)
		return -EAGAIN;
	add_wait_queue(&ssk->waiters[kind], &wait);
	/* Pairs with the barrier in sdp_wake(). */
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

/* Returns the kinds that a poller asks for, as a bit mask. */
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

/* Add kinds to a note. */
static void note_kinds(unsigned long *notes, unsigned long kinds)
{
	int kind;

	for (kind = SDP_READ; kind < SDP_HANGUP; kind++)
		if (kinds & BIT(kind))
			set_bit(kind, notes);
}

/**
 * sdp_wake_register() - register a poller in exactly one queue
 * @file: file that is polled
 * @sock: its socket
 * @wait: the poller. If it is already registered, its kinds are only noted
 *
 * Ends with a full barrier: after it the caller reads what is ready.
 */
void sdp_wake_register(struct file *file, struct socket *sock,
		       poll_table *wait)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	unsigned long kinds = kinds_asked(wait);

	if (!sdp_poll_registers(wait)) {
		note_kinds(&ssk->unregistered_kinds, kinds);
	} else if (hweight_long(kinds) > 1) {
		poll_wait(file, &sock->wq.wait, wait);
		/* Register before noting: see common_may_want(). */
		smp_mb__before_atomic();
		note_kinds(&ssk->common, kinds);
	} else {
		poll_wait(file,
			  &ssk->waiters[kinds ? __ffs(kinds) : SDP_HANGUP],
			  wait);
	}
	/* Pairs with the barrier in sdp_wake(). */
	smp_mb();
}

/**
 * sdp_wake_note() - note the kinds of a poller of a TCP socket
 * @notes: bit mask that the kinds are added to
 * @wait: the poller, or NULL; it registers in the TCP socket's wait queue,
 *	before or after this call
 *
 * For a socket whose place an SDP socket may take later.
 */
void sdp_wake_note(unsigned long *notes, const poll_table *wait)
{
	/* Without @wait, poll() only asks what is ready. */
	if (wait)
		note_kinds(notes, kinds_asked(wait));
}

/**
 * sdp_wake_share_begin() - prepare to share the wait queue of a TCP socket
 * @ssk: SDP socket; its sk_wq is not yet that of the TCP socket
 *
 * Until sdp_wake_share_end(), every event wakes the common queue.
 */
void sdp_wake_share_begin(struct sdp_sock *ssk)
{
	set_bit(SDP_COMMON_UNKNOWN, &ssk->common);
	WRITE_ONCE(ssk->shares_wq, true);
}

/**
 * sdp_wake_share_end() - wake the shared queue only for the kinds asked for
 * @ssk: SDP socket, after sdp_wake_share_begin(); its sk_wq is that of the TCP
 *	socket, and new pollers register with sdp_wake_register()
 * @kinds: kinds that the waiters in the queue ask for, from sdp_wake_note()
 */
void sdp_wake_share_end(struct sdp_sock *ssk, unsigned long kinds)
{
	note_kinds(&ssk->common, kinds);
	/* A waker sees the notes or SDP_COMMON_UNKNOWN: common_may_want(). */
	smp_mb__before_atomic();
	clear_bit(SDP_COMMON_UNKNOWN, &ssk->common);
}
