// SPDX-License-Identifier: GPL-2.0
/*
 * Autotuning: send and receive buffers that grow with use.
 *
 * Only buffers whose sizes the application has not set are tuned.
 *
 * The receive buffer doubles when it was full and its reader then takes
 * everything. Such a reader is fast but reads seldom, and the full buffer has
 * kept the peer from sending.
 *
 * The send buffer doubles when it was full and all of its data arrives before
 * the application writes more.
 *
 * The namespace's rmem_max and wmem_max are the limits. Nothing grows while
 * memory is short.
 *
 * After a pause of IDLE_JIFFIES the next payload resets a size to its first
 * value. No timer does that earlier, because a size is a limit and holds no
 * memory.
 *
 * All functions but sdp_autotune_init() run under the socket's @lock.
 */
#include "autotune.h"
#include "memory.h"

/* After a pause of this length a buffer gets its first size again. */
#define IDLE_JIFFIES	(10 * HZ)

/*
 * Double a size, up to @most. setsockopt() sets a size under lock_sock() only.
 * If it does so at the same time, the cmpxchg keeps its size.
 */
static void autotune_grow(struct sdp_sock *ssk, int *size, unsigned int most,
			  int lock)
{
	int was = READ_ONCE(*size);

	if ((ssk->sk.sk_userlocks & lock) || was >= (int)most ||
	    sdp_memory_is_short(&ssk->sk) || sdp_memory_beyond_limit(&ssk->sk))
		return;
	if (cmpxchg(size, was, (int)min(2U * was, most)) == was)
		SDP_INC(sock_net(&ssk->sk), BuffersGrown);
}

/**
 * sdp_autotune_init() - remember the first sizes of a socket's buffers
 * @ssk: new socket
 */
void sdp_autotune_init(struct sdp_sock *ssk)
{
	ssk->sndbuf_first = ssk->sk.sk_sndbuf;
	ssk->rcvbuf_first = ssk->sk.sk_rcvbuf;
}

/**
 * sdp_autotune_emptied() - the reader has emptied the receive queue
 * @ssk: socket, locked
 */
void sdp_autotune_emptied(struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	if (!ssk->rx_was_full)
		return;
	ssk->rx_was_full = false;
	autotune_grow(ssk, &ssk->sk.sk_rcvbuf, READ_ONCE(set->rmem_max),
		      SOCK_RCVBUF_LOCK);
}

/**
 * sdp_autotune_arrived() - all written data has arrived
 * @ssk: socket, locked
 */
void sdp_autotune_arrived(struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	if (!ssk->tx_was_full)
		return;
	ssk->tx_was_full = false;
	autotune_grow(ssk, &ssk->sk.sk_sndbuf, READ_ONCE(set->wmem_max),
		      SOCK_SNDBUF_LOCK);
}

/* Was there a long pause since @last (jiffies; 0: there was nothing before)? */
static bool autotune_was_idle(unsigned long last)
{
	return last && time_after(jiffies, last + IDLE_JIFFIES);
}

/**
 * sdp_autotune_sending() - payload is sent, maybe after a long pause
 * @ssk: socket, locked; @last_sent is still the time of earlier payload
 */
void sdp_autotune_sending(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	if (sk->sk_sndbuf > ssk->sndbuf_first &&
	    !(sk->sk_userlocks & SOCK_SNDBUF_LOCK) &&
	    autotune_was_idle(ssk->last_sent))
		WRITE_ONCE(sk->sk_sndbuf, ssk->sndbuf_first);
}

/**
 * sdp_autotune_receiving() - payload has arrived, maybe after a long pause
 * @ssk: socket, locked; @last_received is still the time of earlier payload
 */
void sdp_autotune_receiving(struct sdp_sock *ssk)
{
	/* SO_RCVLOWAT changes the first size without our lock. */
	int first = READ_ONCE(ssk->rcvbuf_first);
	struct sock *sk = &ssk->sk;

	if (sk->sk_rcvbuf > first && !(sk->sk_userlocks & SOCK_RCVBUF_LOCK) &&
	    autotune_was_idle(ssk->last_received))
		WRITE_ONCE(sk->sk_rcvbuf, first);
}

/**
 * sdp_autotune_regrow() - let a send buffer recover from a shortage of memory
 * @ssk: socket, locked
 *
 * When memory is short, sk_wmem_schedule() halves a send buffer whose size the
 * application has not set. Each call doubles it again, up to its first size.
 */
void sdp_autotune_regrow(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	if (sk->sk_sndbuf < ssk->sndbuf_first &&
	    !(sk->sk_userlocks & SOCK_SNDBUF_LOCK) && !sdp_memory_is_short(sk))
		WRITE_ONCE(sk->sk_sndbuf,
			   min(2 * sk->sk_sndbuf, ssk->sndbuf_first));
}
