// SPDX-License-Identifier: GPL-2.0
/*
 * Send and receive buffers that grow with use, as long as nobody has set their sizes.
 *
 * A receive buffer that was full is too small if its reader then takes everything: such a
 * reader is not slow, it only comes seldom, and meanwhile nothing could be on its way. A send
 * buffer that was full is too small if all of it has arrived before its writer comes back.
 * Either doubles, up to rmem_max and wmem_max of the namespace, but not while memory is short.
 *
 * What is idle for a while begins again with the size it had at first. Until then nothing
 * is held: a buffer is a bound, not memory.
 *
 * All of it runs under the socket's @lock.
 */
#include "sock.h"

/* A pause this long ends what a connection was used for. */
#define IDLE_JIFFIES	(10 * HZ)

/* Twice as much, within bounds. A size that setsockopt(), under lock_sock, sets just now stays. */
static void grow(struct sdp_sock *ssk, int *size, unsigned int most, int lock)
{
	int was = READ_ONCE(*size);

	if ((ssk->sk.sk_userlocks & lock) || was >= (int)most ||
	    sdp_memory_is_short(&ssk->sk) || sdp_memory_beyond_limit(&ssk->sk))
		return;
	if (cmpxchg(size, was, (int)min(2U * was, most)) == was)
		SDP_INC(sock_net(&ssk->sk), BuffersGrown);
}

/**
 * sdp_tune_init() - the sizes that a socket begins with
 * @ssk: socket
 */
void sdp_tune_init(struct sdp_sock *ssk)
{
	ssk->sndbuf_first = ssk->sk.sk_sndbuf;
	ssk->rcvbuf_first = ssk->sk.sk_rcvbuf;
}

/**
 * sdp_tune_emptied() - the reader has taken all there was
 * @ssk: socket, locked
 */
void sdp_tune_emptied(struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	if (!ssk->rx_was_full)
		return;
	ssk->rx_was_full = false;
	grow(ssk, &ssk->sk.sk_rcvbuf, READ_ONCE(set->rmem_max),
	     SOCK_RCVBUF_LOCK);
}

/**
 * sdp_tune_arrived() - everything written has arrived
 * @ssk: socket, locked
 */
void sdp_tune_arrived(struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	if (!ssk->tx_was_full)
		return;
	ssk->tx_was_full = false;
	grow(ssk, &ssk->sk.sk_sndbuf, READ_ONCE(set->wmem_max),
	     SOCK_SNDBUF_LOCK);
}

static bool idle_since(unsigned long last)
{
	return last && time_after(jiffies, last + IDLE_JIFFIES);
}

/**
 * sdp_tune_sending() - payload is sent, maybe after a long pause
 * @ssk: socket, locked; last_sent is still that of the payload before
 */
void sdp_tune_sending(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	if (sk->sk_sndbuf > ssk->sndbuf_first &&
	    !(sk->sk_userlocks & SOCK_SNDBUF_LOCK) &&
	    idle_since(ssk->last_sent))
		WRITE_ONCE(sk->sk_sndbuf, ssk->sndbuf_first);
}

/**
 * sdp_tune_receiving() - payload comes, maybe after a long pause
 * @ssk: socket, locked; last_received is still that of the payload before
 */
void sdp_tune_receiving(struct sdp_sock *ssk)
{
	/* SO_RCVLOWAT, without our lock, may be changing it. */
	int first = READ_ONCE(ssk->rcvbuf_first);
	struct sock *sk = &ssk->sk;

	if (sk->sk_rcvbuf > first && !(sk->sk_userlocks & SOCK_RCVBUF_LOCK) &&
	    idle_since(ssk->last_received))
		WRITE_ONCE(sk->sk_rcvbuf, first);
}

/**
 * sdp_tune_regrow() - give a send buffer back what a shortage took from it
 * @ssk: socket, locked
 *
 * Where memory is short, sk_wmem_schedule() halves a buffer whose size nobody has set.
 */
void sdp_tune_regrow(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;

	if (sk->sk_sndbuf < ssk->sndbuf_first &&
	    !(sk->sk_userlocks & SOCK_SNDBUF_LOCK) && !sdp_memory_is_short(sk))
		WRITE_ONCE(sk->sk_sndbuf,
			   min(2 * sk->sk_sndbuf, ssk->sndbuf_first));
}
