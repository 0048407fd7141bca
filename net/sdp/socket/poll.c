// SPDX-License-Identifier: GPL-2.0
/*
 * poll(2), select(2) and epoll(7): which events are ready.
 *
 * The bits are those that TCP reports in the same state. conn/wake.c registers
 * the pollers and wakes them.
 */
#include "../conn/urgent.h"
#include "../conn/wake.h"
#include "poll.h"

static __poll_t poll_listen_mask(const struct sdp_sock *ssk)
{
	return list_empty_careful(&ssk->accepted) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static bool poll_readable(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	u32 bytes = sdp_readable(ssk);
	u32 target = sock_rcvlowat(sk, 0, INT_MAX);

	/* If the urgent byte is next, it does not count: a read skips it. */
	if (!sock_flag(sk, SOCK_URGINLINE) &&
	    sdp_urgent_at_mark(ssk, READ_ONCE(ssk->rx_read)))
		target++;
	/*
	 * While the receive buffer or the ring is full, the peer can send
	 * nothing, so the low-water mark may never be reached.
	 */
	return bytes &&
	       (bytes >= target || READ_ONCE(ssk->rx_ring_full) ||
		atomic_read(&sk->sk_rmem_alloc) >= READ_ONCE(sk->sk_rcvbuf));
}

static bool poll_writable(const struct sdp_sock *ssk)
{
	return sk_stream_is_writeable(&ssk->sk) && !READ_ONCE(ssk->tx_turn);
}

static __poll_t poll_stream_mask(struct sdp_sock *ssk, u8 state)
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
	if (poll_readable(ssk))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(ssk->urg_state) == SDP_URG_HERE)
		mask |= EPOLLPRI;
	if ((shutdown & SEND_SHUTDOWN) || poll_writable(ssk))
		return mask | EPOLLOUT | EPOLLWRNORM;
	/* Send SIGIO to the owner when there is space again. */
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	WRITE_ONCE(ssk->want_space, true);
	/* Pairs with the barrier before conn/tx_queue.c reads want_space. */
	smp_mb();
	return poll_writable(ssk) ? mask | EPOLLOUT | EPOLLWRNORM : mask;
}

/*
 * Remember that a poller has been told of data. The next read call comes
 * because of that report, so recv.c does not treat it as a call that may have
 * waited for data (B10).
 */
static void poll_note_indicated(struct sdp_sock *ssk, __poll_t mask,
				__poll_t events)
{
	if ((mask & events & EPOLLIN) && !READ_ONCE(ssk->rx_indicated))
		WRITE_ONCE(ssk->rx_indicated, true);
}

/**
 * sdp_poll() - report which events are ready
 * @file: file of the socket, for poll_wait()
 * @sock: socket
 * @wait: the poller: requested events, and how it registers
 *
 * Takes no mutex, so it never waits for a reader or writer.
 *
 * Return: EPOLL* bits.
 */
__poll_t sdp_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	struct sock *sk = sock->sk;
	__poll_t mask;
	u8 state;

	sdp_wake_register(file, sock, wait);
	state = READ_ONCE(sk->sk_state);
	/*
	 * Like TCP, do not report an error that is older than listen().
	 * SO_ERROR still returns it.
	 */
	if (state == TCP_LISTEN)
		return poll_listen_mask(ssk);
	mask = poll_stream_mask(ssk, state);
	poll_note_indicated(ssk, mask, poll_requested_events(wait));
	if (!skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	/*
	 * Pairs with sdp_conn_fail(), which sets sk_err before sk_shutdown and
	 * sk_state: if the mask has the EPOLLHUP of a failure, sk_err is
	 * visible.
	 */
	smp_rmb();
	if (!READ_ONCE(sk->sk_err))
		return mask;
	/*
	 * sdp_conn_fail() may be running and have set only sk_err so far. Wait
	 * until it drops the lock, so that EPOLLERR of a failure always comes
	 * together with EPOLLHUP.
	 */
	if (!(mask & EPOLLHUP)) {
		sdp_conn_lock(ssk);
		spin_unlock_bh(&ssk->lock);
		mask |= poll_stream_mask(ssk, READ_ONCE(sk->sk_state));
	}
	return mask | EPOLLERR;
}
