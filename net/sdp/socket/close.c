// SPDX-License-Identifier: GPL-2.0
/*
 * shutdown(2), close(2), and how a connection outlives its user.
 *
 * A closed socket whose data is still on its way is an orphan: it has no user, keeps
 * its link, and ends when both DisConns have been exchanged. sk_timer bounds how long
 * it may go without progress (fin_timeout_ms), net.sdp.max_orphans how many there may be:
 * a peer decides how slowly it reads, and nobody is left whose files would be counted.
 */
#include <linux/net.h>

#include "../control/trace.h"
#include "../conn/sock.h"

/* Nothing more will be written; DisConn follows the last byte. */
static void finish_writing(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	struct sock *sk = &ssk->sk;

	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
	ssk->tx_hold = false;
	sdp_engine_shutdown(&ssk->engine);
	sdp_stream_progress(ssk, todo);
}

static int shutdown_locked(struct socket *sock, u8 how)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *ssk = sdp_sk(sk);
	struct sdp_todo todo = { };
	int err = 0;

	switch (READ_ONCE(sk->sk_state)) {
	case TCP_LISTEN:
		if (!(how & RCV_SHUTDOWN))
			break;
		fallthrough;
	case TCP_SYN_SENT:
		err = sdp_disconnect(ssk);
		sock->state = SS_UNCONNECTED;
		break;
	case TCP_CLOSE:
		err = -ENOTCONN;
		fallthrough;
	default:
		/* A writer in the middle of its copy ends it first. */
		mutex_lock(&ssk->tx_mutex);
		sdp_stream_lock(ssk);
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
		if ((how & SEND_SHUTDOWN) && sdp_stands(ssk))
			finish_writing(ssk, &todo);
		sdp_stream_unlock(ssk, &todo);
		mutex_unlock(&ssk->tx_mutex);
	}
	sk->sk_state_change(sk);
	return err;
}

/**
 * sdp_shutdown() - shutdown(2)
 * @sock: socket
 * @how: SHUT_RD, SHUT_WR, SHUT_RDWR
 *
 * Return: 0 or an errno.
 */
int sdp_shutdown(struct socket *sock, int how)
{
	u8 state;
	int err;

	/* SHUT_* to *_SHUTDOWN */
	how++;
	if ((how & ~SHUTDOWN_MASK) || !how)
		return -EINVAL;
	lock_sock(sock->sk);
	if (sock->state == SS_CONNECTING) {
		/* The outcome may come meanwhile. */
		state = READ_ONCE(sock->sk->sk_state);
		if (state == TCP_SYN_SENT || state == TCP_CLOSE)
			sock->state = SS_DISCONNECTING;
		else
			sock->state = SS_CONNECTED;
	}
	err = shutdown_locked(sock, how);
	release_sock(sock->sk);
	return err;
}

static void forget_input(struct sdp_sock *ssk)
{
	__skb_queue_purge(&ssk->sk.sk_receive_queue);
	atomic_set(&ssk->sk.sk_rmem_alloc, 0);
	WRITE_ONCE(ssk->rx_bytes, 0);
	sdp_urgent_forget(ssk);
}

/* Before a mutex is taken: it also ends what readers and writers wait for. */
static void end_at_once(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (sk->sk_state != TCP_CLOSE) {
		sdp_stream_fail(ssk, ECONNRESET, "disconnect", &todo);
		/* Whether the peer had ended its stream matters for its resets, not for ours. */
		WRITE_ONCE(sk->sk_err, ECONNRESET);
	}
	sdp_stream_unlock(ssk, &todo);
}

/**
 * sdp_disconnect() - back to an unconnected socket, whatever it was
 * @ssk: socket, under lock_sock
 *
 * Return: 0.
 */
int sdp_disconnect(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };

	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		sdp_listen_stop(ssk);
	end_at_once(ssk);
	mutex_lock(&ssk->rx_mutex);
	mutex_lock(&ssk->tx_mutex);
	sdp_stream_lock(ssk);
	ssk->lives++;
	forget_input(ssk);
	sk_stop_timer(sk, &sk->sk_timer);
	ssk->peer.port = 0;
	WRITE_ONCE(sk->sk_shutdown, 0);
	WRITE_ONCE(ssk->rx_ended, false);
	if (!ssk->bound_ip) {
		if (sdp_is_v4(&ssk->local) && sk->sk_family != PF_INET6)
			sdp_set_v4(&ssk->local, htonl(INADDR_ANY));
		else
			ssk->local.ip = in6addr_any;
		sdp_port_moved(ssk);
	}
	sdp_stream_unlock(ssk, &todo);
	mutex_unlock(&ssk->tx_mutex);
	mutex_unlock(&ssk->rx_mutex);
	/* As TCP does, getsockname() goes on naming a port that is no longer the socket's. */
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK)) {
		sdp_port_release(ssk);
		sdp_claim_drop(ssk);
	}
	return 0;
}

/* TCP_LINGER2 is for the time when only the peer's end is still to come. */
static unsigned long fin_timeout(const struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	int linger2 = READ_ONCE(ssk->opt.linger2);

	if (linger2 && ssk->engine.state == SDP_DISC_ARRIVED)
		return max(linger2, 0) * HZ;
	return msecs_to_jiffies(READ_ONCE(set->fin_timeout_ms));
}

/**
 * sdp_orphan_progress() - a closed socket has got something done: its time starts anew
 * @ssk: socket, locked
 */
void sdp_orphan_progress(struct sdp_sock *ssk)
{
	sk_reset_timer(&ssk->sk, &ssk->sk.sk_timer, jiffies + fin_timeout(ssk));
}

/**
 * sdp_orphan_timer() - timer: a closed socket has waited long enough
 * @ssk: socket
 */
void sdp_orphan_timer(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	/* Its time may have begun anew while this waited for the lock. */
	if (ssk->link && !timer_pending(&ssk->sk.sk_timer)) {
		SDP_INC(sock_net(&ssk->sk), OrphanTimeouts);
		sdp_stream_fail(ssk, ETIMEDOUT, "orphan timeout", &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

/* Sockets of all namespaces with @orphan set. */
static atomic_t orphans = ATOMIC_INIT(0);

/*
 * A namespace may have a small part of max_orphans however many others there
 * are, so that no namespace can use up what all may have. All orphans together
 * are bounded by max_orphans and such a part for each namespace.
 */
#define ORPHANS_OF_EACH	16

/* Counts the new orphan, whether there is room for it or not. */
static bool room_for_orphan(struct net *net)
{
	int max = READ_ONCE(sdp_max_orphans);
	int here = atomic_inc_return(&sdp_net(net)->orphans);

	return atomic_inc_return(&orphans) <= max ||
	       here <= max / ORPHANS_OF_EACH;
}

/* A closed socket still has a link: it may go on in the background if few do. */
static void begin_orphan(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	ssk->orphan = true;
	if (room_for_orphan(sock_net(&ssk->sk))) {
		sdp_orphan_progress(ssk);
		return;
	}
	SDP_INC(sock_net(&ssk->sk), OrphansRefused);
	sdp_stream_fail(ssk, ECONNRESET, "too many orphans", todo);
}

/**
 * sdp_orphan_over() - a socket has no link any more: if it was an orphan, it is none now
 * @ssk: socket, locked
 */
void sdp_orphan_over(struct sdp_sock *ssk)
{
	if (ssk->orphan) {
		atomic_dec(&orphans);
		atomic_dec(&sdp_net(sock_net(&ssk->sk))->orphans);
	}
	ssk->orphan = false;
}

static bool all_out(struct sdp_sock *ssk, u32 unused)
{
	WRITE_ONCE(ssk->want_space, true);
	/* Pairs with the barrier in note_space() of conn/conn.c. */
	smp_mb();
	return !READ_ONCE(ssk->tx_outq) ||
	       READ_ONCE(ssk->sk.sk_state) == TCP_CLOSE;
}

/* SO_LINGER with a time: the close waits until everything has arrived. */
static void linger(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };
	long timeo = sk->sk_lingertime;

	sdp_stream_lock(ssk);
	if (sdp_stands(ssk))
		finish_writing(ssk, &todo);
	sdp_stream_unlock(ssk, &todo);
	release_sock(sk);
	sdp_wait(ssk, SDP_WRITE, &timeo, all_out, 0);
	lock_sock(sk);
}

/* Unread data, and SO_LINGER with time 0, make a close a reset; so does what is being read. */
static bool close_aborts(const struct sdp_sock *ssk)
{
	return sdp_readable(ssk) ||
	       sdp_engine_srcavail_rx_reading(&ssk->engine) ||
	       !sdp_stands(ssk) ||
	       (sock_flag(&ssk->sk, SOCK_LINGER) && !ssk->sk.sk_lingertime);
}

static void end_connection(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };

	if (sock_flag(sk, SOCK_LINGER) && sk->sk_lingertime &&
	    !sdp_readable(ssk) && !(current->flags & PF_EXITING))
		linger(ssk);
	sock_orphan(sk);
	sdp_stream_lock(ssk);
	if (ssk->link && close_aborts(ssk)) {
		SDP_INC(sock_net(sk), Aborts);
		sdp_stream_fail(ssk, ECONNRESET, "closed with unread data",
				&todo);
	} else if (ssk->link) {
		finish_writing(ssk, &todo);
		if (ssk->link)
			begin_orphan(ssk, &todo);
	} else {
		sdp_set_state(ssk, TCP_CLOSE);
	}
	forget_input(ssk);
	sdp_stream_unlock(ssk, &todo);
}

/**
 * sdp_release() - close(2) of the last file descriptor
 * @sock: socket
 *
 * Return: 0.
 */
int sdp_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct socket *tcp;
	struct sdp_sock *ssk;
	bool gone;

	if (!sk)
		return 0;
	ssk = sdp_sk(sk);
	tcp = ssk->tcp;
	lock_sock(sk);
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		sdp_listen_stop(ssk);
	if (cancel_delayed_work(&ssk->retry))
		__sock_put(sk);
	end_connection(ssk);
	sdp_stream_lock(ssk);
	gone = !ssk->link;
	spin_unlock_bh(&ssk->lock);
	if (gone) {
		sk_stop_timer(sk, &sk->sk_timer);
		sdp_sock_end(ssk);
	}
	sock->sk = NULL;
	sdp_claim_drop(ssk);
	release_sock(sk);
	sock_put(sk);
	if (tcp)
		sock_release(tcp);
	return 0;
}
