// SPDX-License-Identifier: GPL-2.0
/*
 * listen(2) of an undecided socket. By SDP alone, an SDP socket takes its
 * place. By both, the socket goes on being a TCP one that listens, with an SDP
 * listener beside it, which wakes the same wait queue; accept(2) takes of the
 * two in turn, and what it takes is an SDP socket, or one of the kernel's TCP
 * with nothing of ours about it.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <net/inet_common.h>

#include "../conn/sock.h"
#include "undecided.h"

static void share_wait_queue(struct sock *sdp, struct socket *sock)
{
	sdp_ready_share(sdp_sk(sdp));
	write_lock_bh(&sdp->sk_callback_lock);
	rcu_assign_pointer(sdp->sk_wq, &sock->wq);
	write_unlock_bh(&sdp->sk_callback_lock);
}

/* What only TCP has may be set at any time: from then on there are no connections by SDP. */
static bool carry(struct sock *sdp, const struct sock *tcp)
{
	if (!sdp_carry_possible(tcp))
		return false;
	sdp_carry(sdp, tcp);
	return true;
}

/* What is set on the TCP listener later shall hold for the connections of both. */
static void be_like(struct sdp_sock *ssk, struct sock *tcp)
{
	sock_hold(tcp);
	ssk->be_like = carry;
	ssk->like = tcp;
}

static void name_of(struct socket *sock, const struct proto_ops *tcp,
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
	sdp_shadow_by_sdp(shadow);
	/* Who came before has woken nobody: the socket had a wait queue of its own. */
	sk->sk_data_ready(sk);
	sock_put(sk);
	return 0;
}

/* The SDP one beside a socket that listens by TCP already. */
static int beside(struct sdp_shadow *shadow, int backlog)
{
	int err = sdp_shadow_make_sdp(shadow);

	if (err)
		return err;
	share_wait_queue(shadow->sdp->sk, shadow->sock);
	be_like(sdp_sk(shadow->sdp->sk), shadow->sock->sk);
	err = listen_by_sdp(shadow, backlog);
	if (err) {
		sdp_shadow_drop_sdp(shadow);
		return err;
	}
	SDP_INC(sock_net(shadow->sock->sk), PolicyListens);
	shadow->stage = SDP_LISTENING;
	return 0;
}

static int both(struct sdp_shadow *shadow, int backlog)
{
	struct socket *sock = shadow->sock;
	enum sdp_fallback why = SDP_FELL_OPTION;
	struct sdp_endpoint where;
	int err = shadow->tcp->listen(sock, backlog);

	if (err)
		return err;
	/* Now it is known, too, whether others of its port have a program that chooses. */
	if (sdp_shadow_possible(shadow)) {
		err = beside(shadow, backlog);
		if (!err)
			return 0;
		why = sdp_fallback_reason(-err);
	}
	name_of(sock, shadow->tcp, &where);
	sdp_fallback_describe(&shadow->fell, sock, SDP_ROLE_LISTEN, &where);
	sdp_fallback_note(sock_net(sock->sk), &shadow->fell, why);
	sdp_shadow_by_tcp(shadow);
	return 0;
}

/* Shadow locked for writing. */
static int decide(struct sdp_shadow *shadow, int backlog,
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
		return both(shadow, backlog);
	err = shadow->tcp->listen(sock, backlog);
	if (!err)
		sdp_shadow_by_tcp(shadow);
	return err;
}

/**
 * sdp_pair_listen() - listen(2) of a socket that was undecided a moment ago
 * @shadow: its shadow, with a reference
 * @backlog: connections that may wait, of each kind
 *
 * Return: 0 or an errno, as TCP would say it.
 */
int sdp_pair_listen(struct sdp_shadow *shadow, int backlog)
{
	struct socket *sock = shadow->sock;
	enum sdp_verdict verdict;
	struct sdp_endpoint where;
	int err;

	/* Without the lock, as in policy/connect.c; whoever changes the name meanwhile is the program. */
	name_of(sock, shadow->tcp, &where);
	verdict = sdp_policy_ask(sock_net(sock->sk), SDP_ROLE_LISTEN, &where);
	if (down_write_killable(&shadow->lock))
		return -EINTR;
	if (shadow->stage != SDP_DECIDED) {
		err = decide(shadow, backlog, verdict);
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

/* The reference to the module was for our calls; the kernel's have another owner. */
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
 * One of the half whose turn it is, or else of the other one: however many
 * clients wait at one half, those of the other half do not wait for all of
 * them. -EAGAIN: neither has any.
 *
 * Threads that accept at once may read the same turn; each of them passes it
 * on.
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
	/*
	 * The half that was asked says nothing of what waits at the other one.
	 */
	SDP_ACCEPT_MORE_UNKNOWN;
	return err;
}

/* Whoever has something. -EAGAIN: neither. */
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
	/* A socket that has become nothing goes with the calls that it came with. */
	if (err)
		newsock->ops = ops;
	return err;
}

/* accept(2) of a socket that listens by both; the caller has a reference to @shadow. */
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
 * sdp_pair_poll() - what is ready at a socket that listens by both
 * @file: for poll_wait
 * @shadow: its shadow, locked
 * @wait: who asks
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
