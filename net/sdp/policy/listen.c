// SPDX-License-Identifier: GPL-2.0
/*
 * listen(2) of an undecided socket: by SDP, by TCP, or as a pair.
 *
 * With the verdict "sdp", an SDP sock takes the TCP sock's place. With the
 * verdict "both", the socket becomes a pair: the TCP sock listens, and an SDP
 * listener beside it wakes the same wait queue. accept(2) takes connections
 * from the two in turn. It returns an SDP socket, or a TCP socket with the
 * kernel's own proto_ops.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <net/inet_common.h>

#include "../core.h"
#include "undecided.h"

static void share_wait_queue(struct sock *sdp, struct socket *sock)
{
	sdp_wake_share_begin(sdp_sk(sdp));
	write_lock_bh(&sdp->sk_callback_lock);
	rcu_assign_pointer(sdp->sk_wq, &sock->wq);
	write_unlock_bh(&sdp->sk_callback_lock);
}

/*
 * Copies the options of a pair's TCP listener to a connection that SDP accepts.
 * Returns false when the application has set an option that SDP does not
 * support, which it may do at any time: the pair then refuses connections by
 * SDP.
 */
static bool pair_carry(struct sock *sdp, const struct sock *tcp)
{
	if (!sdp_sockopt_sync_possible(tcp))
		return false;
	sdp_sockopt_sync(sdp, tcp);
	return true;
}

/*
 * Options that are set on the TCP listener later apply to the connections of
 * both. The SDP listener keeps a reference to the TCP sock for that.
 */
static void pair_inherit_options(struct sdp_sock *ssk, struct sock *tcp)
{
	sock_hold(tcp);
	ssk->inherit_tcp = pair_carry;
	ssk->tcp_listener = tcp;
}

static void tcp_local_name(struct socket *sock, const struct proto_ops *tcp,
			   struct sdp_endpoint *e)
{
	struct sockaddr_storage name = { };
	int len = tcp->getname(sock, (struct sockaddr *)&name, 0);

	if (len < 0 || sdp_addr_get(e, &name, len, sock->sk->sk_family))
		memset(e, 0, sizeof(*e));
}

static int listen_by_sdp(struct sdp_shadow *shadow, int backlog)
{
	int err = sdp_shadow_bind(shadow, SDP_ROLE_LISTEN);

	return err ?: shadow->sdp->ops->listen(shadow->sdp, backlog);
}

static int only_sdp(struct sdp_shadow *shadow, int backlog)
{
	struct net *net = sock_net(shadow->sock->sk);
	struct sock *sk;
	int err;

	if (!sdp_shadow_possible(shadow))
		return -EOPNOTSUPP;
	err = sdp_shadow_make_sdp(shadow) ?: listen_by_sdp(shadow, backlog);
	if (err) {
		sdp_shadow_drop_sdp(shadow);
		return err;
	}
	SDP_INC(net, PolicyListens);
	sk = shadow->sdp->sk;
	sock_hold(sk);
	sdp_shadow_become_sdp(shadow);
	/*
	 * A connection that arrived before the swap has woken the SDP
	 * listener's own wait queue, on which nobody waits. So wake the
	 * socket's now.
	 */
	sk->sk_data_ready(sk);
	sock_put(sk);
	return 0;
}

/* Add an SDP listener to a socket on which TCP listens already. */
static int listen_beside_tcp(struct sdp_shadow *shadow, int backlog)
{
	int err = sdp_shadow_make_sdp(shadow);

	if (err)
		return err;
	share_wait_queue(shadow->sdp->sk, shadow->sock);
	pair_inherit_options(sdp_sk(shadow->sdp->sk), shadow->sock->sk);
	err = listen_by_sdp(shadow, backlog);
	if (err) {
		sdp_shadow_drop_sdp(shadow);
		return err;
	}
	SDP_INC(sock_net(shadow->sock->sk), PolicyListens);
	shadow->stage = SDP_LISTENING;
	return 0;
}

static int listen_by_both(struct sdp_shadow *shadow, int backlog)
{
	struct socket *sock = shadow->sock;
	enum sdp_fallback why = SDP_FELL_OPTION;
	struct sdp_endpoint where;
	int err = shadow->tcp->listen(sock, backlog);

	if (err)
		return err;
	/*
	 * Only now is it known whether the listeners of the port have a BPF
	 * program that selects one of them.
	 */
	if (sdp_shadow_possible(shadow)) {
		err = listen_beside_tcp(shadow, backlog);
		if (!err)
			return 0;
		why = sdp_fallback_reason(-err);
	}
	tcp_local_name(sock, shadow->tcp, &where);
	sdp_fallback_describe(&shadow->fell, sock, SDP_ROLE_LISTEN, &where);
	sdp_fallback_note(sock_net(sock->sk), &shadow->fell, why);
	sdp_shadow_become_tcp(shadow);
	return 0;
}

/* Act on the verdict, with the shadow locked for writing. */
static int listen_decide(struct sdp_shadow *shadow, int backlog,
			 enum sdp_verdict verdict)
{
	struct socket *sock = shadow->sock;
	int err;

	switch (shadow->stage) {
	case SDP_CONNECTING:
		return -EINVAL;
	case SDP_LISTENING:
		return shadow->tcp->listen(sock, backlog) ?:
		       shadow->sdp->ops->listen(shadow->sdp, backlog);
	default:
		break;
	}
	if (sock->state != SS_UNCONNECTED ||
	    READ_ONCE(sock->sk->sk_state) != TCP_CLOSE)
		return shadow->tcp->listen(sock, backlog);
	if (verdict == SDP_VERDICT_SDP)
		return only_sdp(shadow, backlog);
	if (verdict == SDP_VERDICT_BOTH)
		return listen_by_both(shadow, backlog);
	err = shadow->tcp->listen(sock, backlog);
	if (!err)
		sdp_shadow_become_tcp(shadow);
	return err;
}

/**
 * sdp_pair_listen() - listen(2) of an undecided socket
 * @shadow: the socket's shadow, with a reference, not locked
 * @backlog: limit of the connections that wait to be accepted, for each of TCP
 *	and SDP
 *
 * Another thread may decide the socket first; then its new proto_ops listen.
 *
 * Return: 0 or a negative errno, the one that TCP returns in the same case.
 */
int sdp_pair_listen(struct sdp_shadow *shadow, int backlog)
{
	struct socket *sock = shadow->sock;
	enum sdp_verdict verdict;
	struct sdp_endpoint where;
	int err;

	/*
	 * Without the lock, because matching the rules can take long. A bind()
	 * in between can only come from the application itself.
	 */
	tcp_local_name(sock, shadow->tcp, &where);
	verdict = sdp_policy_ask(sock_net(sock->sk), SDP_ROLE_LISTEN, NULL,
				 &where);
	if (down_write_killable(&shadow->lock))
		return -EINTR;
	if (shadow->stage != SDP_DECIDED) {
		err = listen_decide(shadow, backlog, verdict);
		up_write(&shadow->lock);
		return err;
	}
	up_write(&shadow->lock);
	return READ_ONCE(sock->ops)->listen(sock, backlog);
}

static int accept_sdp(struct sdp_shadow *shadow, struct socket *newsock,
		      SDP_ACCEPT_ARGS)
{
	int err;

	newsock->ops = shadow->sdp->ops;
	err = sdp_accept_now(shadow->sdp->ops, shadow->sdp, newsock,
			     SDP_ACCEPT_PASS);
	if (!err)
		SDP_INC(sock_net(newsock->sk), PolicyAccepts);
	return err;
}

/*
 * Accept from TCP. The new socket's reference to this module was for our
 * proto_ops; replace it by one to the owner of the kernel's proto_ops.
 */
static int accept_tcp(struct sdp_shadow *shadow, struct socket *newsock,
		      SDP_ACCEPT_ARGS)
{
	int err;

	newsock->ops = shadow->tcp;
	err = sdp_accept_now(shadow->tcp, shadow->sock, newsock,
			     SDP_ACCEPT_PASS);
	if (!err) {
		__module_get(shadow->tcp->owner);
		module_put(THIS_MODULE);
	}
	return err;
}

static void end_other_half(struct sdp_shadow *shadow)
{
	if (down_write_killable(&shadow->lock))
		return;
	if (sdp_pair_half_gone(shadow))
		sdp_attempt_stop(shadow);
	up_write(&shadow->lock);
}

/*
 * Accept from the half whose turn it is, or else from the other one. So a
 * client of one half never waits for all clients of the other half. Returns
 * -EAGAIN when neither half has a connection.
 *
 * Threads that accept at the same time may read the same turn; each of them
 * passes the turn on.
 */
static int accept_in_turn(struct sdp_shadow *shadow, struct socket *newsock,
			  SDP_ACCEPT_ARGS)
{
	bool tcp = READ_ONCE(shadow->tcp_turn);
	int err = -EAGAIN, halves;

	for (halves = 2; halves && err == -EAGAIN; halves--) {
		err = tcp ? accept_tcp(shadow, newsock, SDP_ACCEPT_PASS) :
			    accept_sdp(shadow, newsock, SDP_ACCEPT_PASS);
		tcp = !tcp;
	}
	if (err != -EAGAIN)
		WRITE_ONCE(shadow->tcp_turn, tcp);
	/* One half's answer says nothing about the other half. */
	SDP_ACCEPT_MORE_UNKNOWN;
	return err;
}

/*
 * Accept from either half. Returns -EAGAIN when neither has a connection, or
 * -EINVAL when the socket is no pair any more.
 */
static int accept_either(struct sdp_shadow *shadow, struct socket *newsock,
			 SDP_ACCEPT_ARGS)
{
	const struct proto_ops *ops = newsock->ops;
	int err = -EINVAL;

	if (down_read_killable(&shadow->lock))
		return -EINTR;
	if (shadow->stage == SDP_LISTENING && !sdp_pair_half_gone(shadow))
		err = accept_in_turn(shadow, newsock, SDP_ACCEPT_PASS);
	up_read(&shadow->lock);
	/* The caller releases the new socket with its former proto_ops. */
	if (err)
		newsock->ops = ops;
	return err;
}

/**
 * sdp_pair_accept() - accept(2) of a pair
 * @shadow: the socket's shadow, with a reference, not locked
 * @newsock: becomes the connection's socket
 * @SDP_ACCEPT_ARGS: flags, and whether the kernel accepts
 *
 * Return: 0 or a negative errno.
 */
int sdp_pair_accept(struct sdp_shadow *shadow, struct socket *newsock,
		    SDP_ACCEPT_ARGS)
{
	struct socket *sock = shadow->sock;
	long timeo = sock_rcvtimeo(sock->sk, SDP_ACCEPT_FLAGS & O_NONBLOCK);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err;

	add_wait_queue_exclusive(&sock->wq.wait, &wait);
	for (;;) {
		err = accept_either(shadow, newsock, SDP_ACCEPT_PASS);
		if (err != -EAGAIN || !timeo)
			break;
		if (signal_pending(current)) {
			err = sock_intr_errno(timeo);
			break;
		}
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
	}
	remove_wait_queue(&sock->wq.wait, &wait);
	if (err == -EINVAL)
		end_other_half(shadow);
	return err;
}

/**
 * sdp_pair_poll() - events of a pair
 * @file: file of the socket
 * @shadow: its shadow, locked for reading
 * @wait: poll table, or NULL
 *
 * Return: EPOLL* bits.
 */
__poll_t sdp_pair_poll(struct file *file, struct sdp_shadow *shadow,
		       poll_table *wait)
{
	__poll_t mask = shadow->tcp->poll(file, shadow->sock, wait);

	if (!sdp_pair_half_gone(shadow) &&
	    !list_empty_careful(&sdp_sk(shadow->sdp->sk)->accepted))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}
