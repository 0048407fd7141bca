// SPDX-License-Identifier: GPL-2.0
/*
 * listen(2) and accept(2): the system calls.
 *
 * conn/passive.c turns a request into a child socket, and conn/accept_queue.c
 * keeps it until accept(). A child has only a few posted receives
 * (accept_buffers); after accept() their number follows the peer's demand
 * (conn/demand.c). The queue holds a reference on each child; the function that
 * takes a child off the queue also takes over this reference.
 *
 * listen() and sdp_listen_stop() run under lock_sock(), accept() does not.
 */
#include <linux/cgroup.h>
#include <linux/security.h>

#include "../conn/accept_queue.h"
#include "../conn/claim.h"
#include "../conn/conn.h"
#include "../conn/output.h"
#include "../conn/port.h"
#include "../conn/state.h"
#include "../conn/wake.h"
#include "listen.h"

static bool accept_wait_is_over(struct sdp_sock *parent, u32 unused)
{
	return !list_empty_careful(&parent->accepted) ||
	       READ_ONCE(parent->sk.sk_state) != TCP_LISTEN;
}

static int accept_next_child(struct sdp_sock *parent, long timeo,
			     struct sdp_sock **child)
{
	int err;

	for (;;) {
		if (READ_ONCE(parent->sk.sk_state) != TCP_LISTEN)
			return -EINVAL;
		*child = sdp_accept_queue_take(parent);
		if (*child)
			return 0;
		err = sdp_wait(parent, SDP_READ, &timeo, accept_wait_is_over,
			       0);
		if (err)
			return err;
	}
}

/*
 * An application owns the connection now: grant the peer what it needs, which
 * is all if it has used up the first receives.
 */
static void accept_grant_credit(struct sdp_sock *child)
{
	struct sdp_todo todo = { };

	sdp_conn_lock(child);
	if (child->link) {
		/*
		 * Make conn/resize.c compute the number of receives again. It
		 * depends on their size, which may have grown already, and on
		 * the peer's demand.
		 */
		child->recv_largest = 0;
		sdp_conn_progress(child, &todo);
	}
	sdp_conn_unlock(child, &todo);
}

/*
 * accept(2), accept4(2): graft the oldest established child of the listener
 * @sock onto @newsock. Sleeps until there is a child, for at most SO_RCVTIMEO.
 *
 * Returns 0, -EINVAL if @sock does not listen, -EAGAIN if no child came in
 * time, or the errno of a signal.
 */
int sdp_accept(struct socket *sock, struct socket *newsock, SDP_ACCEPT_ARGS)
{
	struct sdp_sock *parent = sdp_sk(sock->sk);
	struct sdp_sock *child;
	int err;

	err = accept_next_child(parent,
				sock_rcvtimeo(sock->sk,
					      SDP_ACCEPT_FLAGS & O_NONBLOCK),
				&child);
	if (err)
		return err;
	WRITE_ONCE(child->parent, NULL);
	sdp_accept_queue_forget_link(child);
	lock_sock(&child->sk);
	sock_graft(&child->sk, newsock);
	/*
	 * Before 6.10 the kernel copied the listener's ops to @newsock before
	 * this call. The policy may have replaced the listener's ops since.
	 */
	newsock->ops = sock->ops;
	sdp_socket_flags(newsock);
	newsock->state = SS_CONNECTED;
	release_sock(&child->sk);
	sock_put(&parent->sk);
	accept_grant_credit(child);
	return 0;
}

/*
 * Leave TCP_LISTEN. sdp_accept_queue_enter() checks the state under the
 * socket's lock, so no child can enter the queue afterwards.
 */
static void listen_end(struct sdp_sock *ssk)
{
	sdp_conn_lock(ssk);
	sdp_port_unlisten(ssk);
	sdp_set_state(ssk, TCP_CLOSE);
	spin_unlock_bh(&ssk->lock);
}

/* Reset all children in the accept queue, after listen_end(). */
static void listen_drop_children(struct sdp_sock *ssk)
{
	struct sdp_sock *child;

	while ((child = sdp_accept_queue_take_any(ssk))) {
		struct sdp_todo todo = { };

		/*
		 * Mark the child dead before its lock is taken. Either
		 * conn/passive.c finds the mark under the lock and gives the
		 * child no link, or sdp_conn_fail() finds that link.
		 */
		sock_orphan(&child->sk);
		sdp_conn_lock(child);
		sdp_conn_fail(child, ECONNRESET, "listener closed", &todo);
		todo.forget = false;
		sdp_conn_unlock(child, &todo);
		sdp_accept_queue_drop(child);
	}
}

/**
 * sdp_listen_stop() - stop listening, and reset all children not yet accepted
 * @ssk: listener, under lock_sock()
 */
void sdp_listen_stop(struct sdp_sock *ssk)
{
	struct net *net = sock_net(&ssk->sk);

	listen_end(ssk);
	sdp_claim_listen(ssk, false);
	sdp_rails.unlisten(net, ssk->local.port);
	sdp_loop.unlisten(net, ssk->local.port);
	listen_drop_children(ssk);
}

static int listen_start(struct sdp_sock *ssk)
{
	struct net *net = sock_net(&ssk->sk);
	int err;

	if (!ssk->port) {
		/* Without bind(), AF_SDP accepts both IPv4 and IPv6. */
		if (ssk->sk.sk_family == PF_SDP) {
			sdp_conn_lock(ssk);
			ssk->local.ip = in6addr_any;
			spin_unlock_bh(&ssk->lock);
		}
		err = sdp_claim_bind(ssk, 0);
		if (err)
			return err;
	}
	WRITE_ONCE(ssk->sk.sk_ack_backlog, 0);
	WRITE_ONCE(ssk->sk.sk_shutdown, 0);
	err = sdp_claim_listen(ssk, true);
	if (err)
		return err;
	err = sdp_port_listen(ssk);
	if (err) {
		sdp_claim_listen(ssk, false);
		return err;
	}
	err = sdp_rails.listen(net, ssk->local.port);
	if (!err) {
		err = sdp_loop.listen(net, ssk->local.port);
		if (err)
			sdp_rails.unlisten(net, ssk->local.port);
	}
	if (err) {
		/*
		 * A request may have arrived since sdp_port_listen(), by RDMA
		 * (sdp_rails listens before sdp_loop) or from this host. Drop
		 * its child.
		 */
		listen_end(ssk);
		sdp_claim_listen(ssk, false);
		listen_drop_children(ssk);
	}
	return err;
}

/**
 * sdp_listen() - listen(2)
 * @sock: socket
 * @backlog: the accept queue holds at most one child more than this, as with
 *	TCP; a further call on a listener changes it
 *
 * Takes lock_sock().
 *
 * Return: 0 or a negative errno.
 */
int sdp_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err = 0;
	u8 state;

	lock_sock(sk);
	state = READ_ONCE(sk->sk_state);
	if (sock->state != SS_UNCONNECTED ||
	    (state != TCP_CLOSE && state != TCP_LISTEN)) {
		err = -EINVAL;
		goto out;
	}
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	if (state == TCP_CLOSE)
		err = listen_start(sdp_sk(sk));
out:
	release_sock(sk);
	return err;
}
