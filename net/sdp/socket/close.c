// SPDX-License-Identifier: GPL-2.0
/*
 * shutdown(2), disconnect and close(2).
 *
 * A close ends the stream in order: DisConn follows the last byte, and the
 * socket keeps its link as an orphan (conn/orphan.c) until both sides have sent
 * DisConn. In the cases of close_aborts() it resets the connection, as TCP
 * does.
 *
 * All of this runs under lock_sock(). A disconnect fails the connection before
 * it takes rx_mutex and tx_mutex: a reader holds rx_mutex while its RDMA read
 * is in flight, and only the failure ends that wait at once.
 */
#include <linux/net.h>

#include "../conn/claim.h"
#include "../conn/conn.h"
#include "../conn/orphan.h"
#include "../conn/output.h"
#include "../conn/port.h"
#include "../conn/state.h"
#include "../conn/urgent.h"
#include "../conn/wake.h"
#include "../base/trace.h"
#include "../zcopy/background_send.h"
#include "close.h"
#include "listen.h"

/* The application writes nothing more: send DisConn after the last byte. */
static void close_send_side(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	struct sock *sk = &ssk->sk;

	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | SEND_SHUTDOWN);
	ssk->tx_hold = false;
	sdp_engine_shutdown(&ssk->engine);
	sdp_conn_progress(ssk, todo);
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
		/* Wait for a writer that is copying into a segment. */
		mutex_lock(&ssk->tx_mutex);
		sdp_background_close(ssk);
		sdp_conn_lock(ssk);
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
		if ((how & SEND_SHUTDOWN) && sdp_is_established(ssk))
			close_send_side(ssk, &todo);
		sdp_conn_unlock(ssk, &todo);
		mutex_unlock(&ssk->tx_mutex);
	}
	sk->sk_state_change(sk);
	return err;
}

/**
 * sdp_shutdown() - shutdown(2)
 * @sock: socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
 *
 * SHUT_RD and SHUT_RDWR end a listener. Each value of @how ends a connection
 * attempt. Takes lock_sock().
 *
 * Return: 0 or a negative errno.
 */
int sdp_shutdown(struct socket *sock, int how)
{
	u8 state;
	int err;

	/* Convert SHUT_* to *_SHUTDOWN. */
	how++;
	if ((how & ~SHUTDOWN_MASK) || !how)
		return -EINVAL;
	lock_sock(sock->sk);
	if (sock->state == SS_CONNECTING) {
		/* The attempt may end at any time: read the state once. */
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

static void close_drop_input(struct sdp_sock *ssk)
{
	__skb_queue_purge(&ssk->sk.sk_receive_queue);
	atomic_set(&ssk->sk.sk_rmem_alloc, 0);
	WRITE_ONCE(ssk->rx_bytes, 0);
	sdp_urgent_forget(ssk);
}

/*
 * Fail the connection. The failure also wakes the readers and writers, so the
 * caller can take their mutexes afterwards.
 */
static void disconnect_fail(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (sk->sk_state != TCP_CLOSE) {
		sdp_conn_fail(ssk, ECONNRESET, "disconnect", &todo);
		/*
		 * sdp_conn_fail() turns a reset into EPIPE if the peer has
		 * ended its stream. A disconnect is our own reset, for which
		 * TCP reports ECONNRESET in every state.
		 */
		WRITE_ONCE(sk->sk_err, ECONNRESET);
	}
	sdp_conn_unlock(ssk, &todo);
}

/**
 * sdp_disconnect() - make a socket unconnected again
 * @ssk: socket in any state, under lock_sock()
 *
 * Ends a listener, a connection attempt or a connection. @generation changes
 * under both mutexes, so a call that has dropped one of them in a wait notices
 * that its connection is gone.
 *
 * Return: 0.
 */
int sdp_disconnect(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };

	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		sdp_listen_stop(ssk);
	disconnect_fail(ssk);
	mutex_lock(&ssk->rx_mutex);
	mutex_lock(&ssk->tx_mutex);
	sdp_conn_lock(ssk);
	ssk->generation++;
	close_drop_input(ssk);
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
	sdp_conn_unlock(ssk, &todo);
	mutex_unlock(&ssk->tx_mutex);
	mutex_unlock(&ssk->rx_mutex);
	/* Like TCP, getsockname() still shows the number of a released port. */
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK)) {
		sdp_port_release(ssk);
		sdp_claim_drop(ssk);
	}
	return 0;
}

static bool linger_is_over(struct sdp_sock *ssk, u32 unused)
{
	WRITE_ONCE(ssk->want_space, true);
	/* Pairs with the barrier before conn/tx_queue.c reads want_space. */
	smp_mb();
	return !READ_ONCE(ssk->tx_outq) ||
	       READ_ONCE(ssk->sk.sk_state) == TCP_CLOSE;
}

/*
 * SO_LINGER with a time: wait until all written bytes have arrived at the peer,
 * at most for that time. Called with lock_sock(), which is dropped during the
 * wait.
 */
static void close_linger(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };
	long timeo = sk->sk_lingertime;

	sdp_conn_lock(ssk);
	if (sdp_is_established(ssk))
		close_send_side(ssk, &todo);
	sdp_conn_unlock(ssk, &todo);
	release_sock(sk);
	sdp_wait(ssk, SDP_WRITE, &timeo, linger_is_over, 0);
	lock_sock(sk);
}

/*
 * Return true if close() resets the connection: with SO_LINGER and time 0, if
 * there is unread data, if an RDMA read of a SrcAvail is in flight, or if the
 * connection is not established.
 */
static bool close_aborts(const struct sdp_sock *ssk)
{
	return sdp_readable(ssk) ||
	       sdp_engine_srcavail_rx_reading(&ssk->engine) ||
	       !sdp_is_established(ssk) ||
	       (sock_flag(&ssk->sk, SOCK_LINGER) && !ssk->sk.sk_lingertime);
}

static void close_connection(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_todo todo = { };

	if (sock_flag(sk, SOCK_LINGER) && sk->sk_lingertime &&
	    !sdp_readable(ssk) && !(current->flags & PF_EXITING))
		close_linger(ssk);
	sock_orphan(sk);
	sdp_conn_lock(ssk);
	if (ssk->link && close_aborts(ssk)) {
		SDP_INC(sock_net(sk), Aborts);
		sdp_conn_fail(ssk, ECONNRESET, "closed by reset",
			      &todo);
	} else if (ssk->link) {
		close_send_side(ssk, &todo);
		if (ssk->link)
			sdp_orphan_begin(ssk, &todo);
	} else {
		sdp_set_state(ssk, TCP_CLOSE);
	}
	close_drop_input(ssk);
	sdp_conn_unlock(ssk, &todo);
}

/**
 * sdp_release() - close(2) of the last file descriptor
 * @sock: socket; loses its sock
 *
 * A socket that still has a link becomes an orphan, and ends when it releases
 * its link. Every other socket ends here.
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
	close_connection(ssk);
	sdp_conn_lock(ssk);
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
