// SPDX-License-Identifier: GPL-2.0
/*
 * listen(2) of an undecided socket. By SDP alone, an SDP socket takes its place. By both, the
 * socket goes on being a TCP one that listens, with an SDP listener beside it, which wakes the
 * same wait queue; accept(2) takes what comes first, and what it takes is an SDP socket, or one
 * of the kernel's TCP with nothing of ours about it.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <net/inet_common.h>

#include "../socket/sock.h"
#include "shim.h"

static void share_wait_queue(struct sock *sdp, struct socket *sock)
{
	write_lock_bh(&sdp->sk_callback_lock);
	rcu_assign_pointer(sdp->sk_wq, &sock->wq);
	write_unlock_bh(&sdp->sk_callback_lock);
	WRITE_ONCE(sdp_sk(sdp)->shares_wq, true);
}

static DEFINE_MUTEX(like_lock); /* requests may come by two devices at once */

static void take_over(struct sock *sk, const struct sock *like)
{
	mutex_lock(&like_lock);
	sdp_carry(sk, like);
	mutex_unlock(&like_lock);
}

/* What is set on the TCP listener later shall hold for the connections of both. */
static void be_like(struct sdp_sock *ssk, struct sock *tcp)
{
	sock_hold(tcp);
	ssk->be_like = take_over;
	ssk->like = tcp;
}

static void name_of(struct socket *sock, const struct proto_ops *tcp, struct sdp_endpoint *e)
{
	struct sockaddr_storage name = { };
	int len = tcp->getname(sock, (struct sockaddr *)&name, 0);

	if (len < 0 || sdp_addr_get(e, &name, len, sock->sk->sk_family))
		memset(e, 0, sizeof(*e));
}

static int listen_by_sdp(struct sdp_shadow *shadow, int backlog)
{
	return sdp_shadow_bind(shadow) ?: shadow->sdp->ops->listen(shadow->sdp, backlog);
}

static int only_sdp(struct socket *sock, const struct proto_ops *tcp, int backlog)
{
	struct sdp_shadow *shadow;
	int err;

	if (!sdp_carry_possible(sock->sk))
		return -EOPNOTSUPP;
	shadow = sdp_shadow_make(sock, tcp);
	if (IS_ERR(shadow))
		return PTR_ERR(shadow);
	err = listen_by_sdp(shadow, backlog);
	if (!err) {
		SDP_INC(sock_net(sock->sk), PolicyListens);
		sdp_shadow_adopt(shadow);
	}
	sdp_shadow_put(shadow);
	return err;
}

/* The SDP one beside a socket that listens by TCP already. Returns a positive errno, or 0. */
static int beside(struct sdp_bucket *b, struct socket *sock, const struct proto_ops *tcp,
		  int backlog)
{
	struct sdp_shadow *shadow = sdp_shadow_make(sock, tcp);
	int err;

	if (IS_ERR(shadow))
		return -PTR_ERR(shadow);
	shadow->listening = true;
	share_wait_queue(shadow->sdp->sk, sock);
	be_like(sdp_sk(shadow->sdp->sk), sock->sk);
	err = listen_by_sdp(shadow, backlog);
	if (err) {
		sdp_shadow_put(shadow);
		return -err;
	}
	SDP_INC(sock_net(sock->sk), PolicyListens);
	sdp_shadow_enter(b, shadow);
	return 0;
}

static int both(struct sdp_bucket *b, struct socket *sock, const struct proto_ops *tcp, int backlog)
{
	enum sdp_fallback why = SDP_FELL_OPTION;
	struct sdp_fell fell = { };
	struct sdp_endpoint where;
	int err = tcp->listen(sock, backlog);

	if (err)
		return err;
	if (sdp_carry_possible(sock->sk)) {
		err = beside(b, sock, tcp, backlog);
		if (!err)
			return 0;
		why = sdp_fallback_reason(err);
	}
	name_of(sock, tcp, &where);
	sdp_fallback_describe(&fell, SDP_ROLE_LISTEN, &where);
	sdp_fallback_note(sock_net(sock->sk), &fell, why);
	sdp_shim_end(sock);
	return 0;
}

static int listen_first(struct sdp_bucket *b, struct socket *sock, const struct proto_ops *tcp,
			int backlog, enum sdp_verdict verdict)
{
	if (sock->state != SS_UNCONNECTED || sock->sk->sk_state != TCP_CLOSE)
		return tcp->listen(sock, backlog);
	switch (verdict) {
	case SDP_VERDICT_SDP:
		return only_sdp(sock, tcp, backlog);
	case SDP_VERDICT_BOTH:
		return both(b, sock, tcp, backlog);
	default:
		sdp_shim_end(sock);
		return tcp->listen(sock, backlog);
	}
}

/* Without the lock, as in attempt.c. A name that changes meanwhile is the program's own doing. */
static enum sdp_verdict ask(struct socket *sock)
{
	const struct proto_ops *tcp = sdp_shim_tcp(sock);
	struct sdp_endpoint where;

	if (!tcp)
		return SDP_VERDICT_TCP;
	name_of(sock, tcp, &where);
	return sdp_policy_ask(sock_net(sock->sk), SDP_ROLE_LISTEN, &where);
}

/**
 * sdp_pair_listen() - listen(2) of a socket that was undecided a moment ago
 * @sock: socket
 * @backlog: connections that may wait, of each kind
 *
 * Return: 0 or an errno, as TCP would say it.
 */
int sdp_pair_listen(struct socket *sock, int backlog)
{
	struct sdp_bucket *b = sdp_bucket(sock);
	enum sdp_verdict verdict = ask(sock);
	const struct proto_ops *tcp;
	struct sdp_shadow *shadow;
	int err;

	down_write(&b->lock);
	tcp = sdp_shim_tcp(sock);
	if (!tcp) {
		up_write(&b->lock);
		return READ_ONCE(sock->ops)->listen(sock, backlog);
	}
	shadow = sdp_shadow_find(b, sock);
	if (!shadow)
		err = listen_first(b, sock, tcp, backlog, verdict);
	else if (!shadow->listening)
		err = -EINVAL;
	else
		err = tcp->listen(sock, backlog) ?: shadow->sdp->ops->listen(shadow->sdp, backlog);
	up_write(&b->lock);
	return err;
}

/* Whoever has something. -EAGAIN: neither. */
static int accept_either(struct sdp_shadow *shadow, struct socket *newsock, SDP_ACCEPT_ARGS)
{
	int err;

	newsock->ops = shadow->sdp->ops;
	err = sdp_accept_now(shadow->sdp->ops, shadow->sdp, newsock, SDP_ACCEPT_PASS);
	if (!err)
		SDP_INC(sock_net(newsock->sk), PolicyAccepts);
	if (err != -EAGAIN)
		return err;
	newsock->ops = shadow->tcp;
	err = sdp_accept_now(shadow->tcp, shadow->sock, newsock, SDP_ACCEPT_PASS);
	/* The reference was for our calls, and the kernel's need none. */
	if (!err)
		module_put(THIS_MODULE);
	return err;
}

/* accept(2) of a socket that listens by both; the caller has a reference to @shadow. */
int sdp_pair_accept(struct sdp_shadow *shadow, struct socket *newsock, SDP_ACCEPT_ARGS)
{
	const struct proto_ops *ops = newsock->ops;
	struct sock *sk = shadow->sock->sk;
	long timeo = sock_rcvtimeo(sk, SDP_ACCEPT_FLAGS & O_NONBLOCK);
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int err;

	add_wait_queue(sk_sleep(sk), &wait);
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
	remove_wait_queue(sk_sleep(sk), &wait);
	/* A socket that has become nothing goes with the calls that it came with. */
	if (err)
		newsock->ops = ops;
	return err;
}

/**
 * sdp_pair_poll() - what is ready at a socket that listens by both
 * @file: for poll_wait
 * @shadow: its shadow, in a locked bucket
 * @wait: who asks
 *
 * Return: EPOLL* bits.
 */
__poll_t sdp_pair_poll(struct file *file, struct sdp_shadow *shadow, poll_table *wait)
{
	__poll_t mask = shadow->tcp->poll(file, shadow->sock, wait);

	if (!list_empty_careful(&sdp_sk(shadow->sdp->sk)->accepted))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}
