// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP port that belongs to an SDP port.
 *
 * Clients that prefer SDP would reach a user who listens by SDP at the port of
 * somebody else's TCP server. TCP does not allow one user to take another
 * user's port, and nor does SDP: a socket that gets a port by bind() or
 * listen() gets TCP's port of the same number as well, by a TCP socket of its
 * own that never listens (sdp_sock.claim). TCP's rules then decide in both
 * orders. The claim has the SDP socket's address, user and options for that.
 * While the SDP socket listens, the claim cannot be shared by SO_REUSEADDR, as
 * if it listened.
 *
 * Not claimed for:
 *  - sockets that connect without bind(): nothing is addressed to their port;
 *  - sockets of the policy's, whose TCP socket has the port already;
 *  - users with CAP_NET_BIND_SERVICE, and the kernel: they are trusted with
 *    every port, and may serve one port by a socket of each kind;
 *  - a user whose own TCP socket listens there already, for the same reason.
 *
 * Locks: the claim is made and dropped under lock_sock() of the SDP socket, or
 * when nobody else has the socket any more. Its own lock_sock() is inside.
 */
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "sock.h"

/* Ports that bind() to port 0 tries until one is free for TCP as well. */
#define TRIES	1000

static bool must_claim(const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;

	return !ssk->named_by_tcp && !sk->sk_kern_sock &&
	       !ns_capable_noaudit(sock_net(sk)->user_ns, CAP_NET_BIND_SERVICE);
}

/* Locked: what a program may change later. */
static void share_like(struct sock *sk, const struct sdp_sock *ssk)
{
	sk->sk_reuse = ssk->sk.sk_reuse;
	sk->sk_reuseport = ssk->sk.sk_reuseport;
}

/* What TCP judges a socket by that wants a port. */
static void be_like(struct sock *sk, const struct sdp_sock *ssk)
{
	lock_sock(sk);
	share_like(sk, ssk);
	sk->sk_ipv6only = ssk->sk.sk_ipv6only;
	sk->sk_uid = ssk->sk.sk_uid;
	WRITE_ONCE(sk->sk_bound_dev_if, READ_ONCE(ssk->sk.sk_bound_dev_if));
	release_sock(sk);
	if (READ_ONCE(ssk->opt.freebind))
		ip_sock_set_freebind(sk);
}

static int make_claim(struct sdp_sock *ssk, struct socket **claim)
{
	int family = sdp_is_v4(&ssk->local) ? PF_INET : PF_INET6;
	int err = sock_create_kern(sock_net(&ssk->sk), family, SOCK_STREAM,
				   IPPROTO_TCP, claim);

	/* Without IPv6 there is no TCP port of IPv6 that could be taken. */
	if (err == -EAFNOSUPPORT && family == PF_INET6)
		err = sock_create_kern(sock_net(&ssk->sk), PF_INET, SOCK_STREAM,
				       IPPROTO_TCP, claim);
	if (!err)
		be_like((*claim)->sk, ssk);
	return err;
}

static int bind_claim(struct socket *claim, const struct sdp_sock *ssk)
{
	bool v6 = claim->sk->sk_family == PF_INET6;
	struct sdp_endpoint name = ssk->local;
	struct sockaddr_storage ss = {};
	int len, err;

	if (!v6 && !sdp_is_v4(&name))
		sdp_set_v4(&name, htonl(INADDR_ANY));
	len = sdp_addr_put((struct sockaddr *)&ss, &name, v6);
	err = kernel_bind(claim, (struct sdp_sockaddr *)&ss, len);
	if (err)
		return err;
	/* A BPF program may have sent it elsewhere. */
	return inet_sk(claim->sk)->inet_num == name.port ? 0 : -EADDRINUSE;
}

/* Does a TCP socket of the same user listen where @ssk is to listen? */
static bool own_listener(const struct sdp_sock *ssk)
{
	struct net *net = sock_net(&ssk->sk);
	const struct sdp_endpoint *e = &ssk->local;
	int dif = READ_ONCE(ssk->sk.sk_bound_dev_if);
	const struct sock *sk = NULL;
	bool own;

	rcu_read_lock();
	if (sdp_is_v4(e))
		sk = __inet_lookup_listener(net, SDP_TCP_HASHINFO(net) NULL, 0,
					    0, 0, sdp_v4(e), e->port, dif, 0);
#if IS_ENABLED(CONFIG_IPV6)
	else
		sk = inet6_lookup_listener(net, SDP_TCP_HASHINFO(net) NULL, 0,
					   &in6addr_any, 0, &e->ip, e->port,
					   dif, 0);
#endif
	own = sk && uid_eq(sk->sk_uid, ssk->sk.sk_uid);
	rcu_read_unlock();
	return own;
}

/* SDP's port first: TCP's is then taken, or not, by a number that is known. */
static int bind_both(struct sdp_sock *ssk, u16 number, struct socket **claim)
{
	int err = sdp_port_bind(ssk, number);

	if (err)
		return err;
	err = bind_claim(*claim, ssk);
	if (err == -EADDRINUSE && number && own_listener(ssk)) {
		sock_release(*claim);
		*claim = NULL;
		return 0;
	}
	if (err)
		sdp_port_release(ssk);
	return err;
}

/**
 * sdp_claim_bind() - give a port to a socket for which something may arrive
 * @ssk: as for sdp_port_bind(), under lock_sock
 * @number: likewise
 *
 * Return: 0 or an errno, as TCP's bind() would say it.
 */
int sdp_claim_bind(struct sdp_sock *ssk, u16 number)
{
	int tries = number ? 1 : TRIES;
	struct socket *claim;
	int err;

	if (!must_claim(ssk))
		return sdp_port_bind(ssk, number);
	err = make_claim(ssk, &claim);
	if (err)
		return err;
	do {
		err = bind_both(ssk, number, &claim);
		cond_resched();
	} while (err == -EADDRINUSE && --tries);
	if (err)
		sock_release(claim);
	else
		ssk->claim = claim;
	return err;
}

/* TCP's listen() has its port judged once more like this, as a listener's. */
static int judge_again(struct sock *sk)
{
	int err;

	WRITE_ONCE(sk->sk_state, TCP_LISTEN);
	err = sk->sk_prot->get_port(sk, inet_sk(sk)->inet_num);
	if (!err)
		sk->sk_reuse = SK_NO_REUSE;
	WRITE_ONCE(sk->sk_state, TCP_CLOSE);
	return err ? -EADDRINUSE : 0;
}

/**
 * sdp_claim_listen() - the socket is about to listen, or, it does not any more
 * @ssk: socket, under lock_sock
 * @listens: which
 *
 * Return: 0, or -EADDRINUSE when TCP's listen() would say so.
 */
int sdp_claim_listen(struct sdp_sock *ssk, bool listens)
{
	struct sock *sk;
	int err = 0;

	if (!ssk->claim)
		return 0;
	sk = ssk->claim->sk;
	lock_sock(sk);
	share_like(sk, ssk);
	if (listens)
		err = judge_again(sk);
	release_sock(sk);
	return err;
}

/**
 * sdp_claim_drop() - TCP's port is free again
 * @ssk: socket whose own port is given back, or that is being closed
 */
void sdp_claim_drop(struct sdp_sock *ssk)
{
	struct socket *claim = ssk->claim;

	ssk->claim = NULL;
	if (claim)
		sock_release(claim);
}
