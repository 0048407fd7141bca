// SPDX-License-Identifier: GPL-2.0
/*
 * Claims: the TCP port that belongs to an SDP port.
 *
 * SDP and TCP have separate ports. Without further rules, one user could listen
 * by SDP on the port number of another user's TCP server, and clients that
 * prefer SDP would connect to the wrong user. TCP does not let one user take
 * another user's port. To extend this rule to SDP, a socket that gets a port by
 * bind() or listen() also binds a TCP socket of its own to the TCP port of the
 * same number: its claim (sdp_sock.claim), which never listens. TCP's rules
 * then apply whichever of the two servers comes first. So that they give the
 * right answer, the claim has the SDP socket's address, user and options. While
 * the SDP socket listens, SO_REUSEADDR does not let others share the claim's
 * port, as if the claim listened.
 *
 * There is no claim for:
 *  - a socket that connects without bind(): no peer connects to its port;
 *  - an SDP socket that the policy has made: its TCP socket has the port;
 *  - a user with CAP_NET_BIND_SERVICE, and the kernel: they may use any port,
 *    and may serve one port number by a TCP and an SDP socket;
 *  - a user whose own TCP socket listens there: it may serve the port by both.
 *
 * Called by bind(), listen() and close(). Locks: sdp_sock.claim changes under
 * lock_sock() of the SDP socket, or when the SDP socket has no other user. The
 * claim's own lock_sock() is taken inside.
 */
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>
#include <net/ip.h>
#include <net/tcp.h>

#include "addr.h"
#include "claim.h"
#include "port.h"

/* Most ports that bind() with port 0 tries until one is free for TCP too. */
#define CLAIM_TRIES	1000

/* Does the socket need a claim? See above. */
static bool must_claim(const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;

	return !ssk->named_by_tcp && !sk->sk_kern_sock &&
	       !ns_capable_noaudit(sock_net(sk)->user_ns, CAP_NET_BIND_SERVICE);
}

/* Copy the options that may change after bind(); under lock_sock() of @sk. */
static void claim_copy_sharing(struct sock *sk, const struct sdp_sock *ssk)
{
	sk->sk_reuse = ssk->sk.sk_reuse;
	sk->sk_reuseport = ssk->sk.sk_reuseport;
}

/* Copy all that TCP considers when a socket asks for a port. */
static void claim_copy_options(struct sock *sk, const struct sdp_sock *ssk)
{
	lock_sock(sk);
	claim_copy_sharing(sk, ssk);
	sk->sk_ipv6only = ssk->sk.sk_ipv6only;
	sk->sk_uid = ssk->sk.sk_uid;
	WRITE_ONCE(sk->sk_bound_dev_if, READ_ONCE(ssk->sk.sk_bound_dev_if));
	release_sock(sk);
	if (READ_ONCE(ssk->opt.freebind))
		ip_sock_set_freebind(sk);
}

/* Create a claim that is not yet bound. */
static int make_claim(struct sdp_sock *ssk, struct socket **claim)
{
	int family = sdp_is_v4(&ssk->local) ? PF_INET : PF_INET6;
	int err = sock_create_kern(sock_net(&ssk->sk), family, SOCK_STREAM,
				   IPPROTO_TCP, claim);

	/* Without IPv6 there are no IPv6 TCP ports that need a claim. */
	if (err == -EAFNOSUPPORT && family == PF_INET6)
		err = sock_create_kern(sock_net(&ssk->sk), PF_INET, SOCK_STREAM,
				       IPPROTO_TCP, claim);
	if (!err)
		claim_copy_options((*claim)->sk, ssk);
	return err;
}

/* Bind a claim to the SDP socket's address and port. */
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
	/* A BPF program may have changed the port. */
	return inet_sk(claim->sk)->inet_num == name.port ? 0 : -EADDRINUSE;
}

/* Does a TCP socket of the same user listen at the address of @ssk? */
static bool user_listens_by_tcp(const struct sdp_sock *ssk)
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

/*
 * Bind the SDP socket and its claim to the same port number. SDP is first
 * because it chooses the number if @number is 0. Releases the claim and sets it
 * to NULL if the user needs none. Returns -EAGAIN if TCP has the port that SDP
 * has chosen: another one may be free.
 */
static int claim_bind_both(struct sdp_sock *ssk, u16 number,
			   struct socket **claim)
{
	int err = sdp_port_bind(ssk, number);

	if (err)
		return err;
	err = bind_claim(*claim, ssk);
	if (err == -EADDRINUSE && number && user_listens_by_tcp(ssk)) {
		sock_release(*claim);
		*claim = NULL;
		return 0;
	}
	if (err)
		sdp_port_release(ssk);
	/* A claim that a BPF program bound elsewhere cannot be bound again. */
	if (err == -EADDRINUSE && !number && !inet_sk((*claim)->sk)->inet_num)
		err = -EAGAIN;
	return err;
}

/**
 * sdp_claim_bind() - bind a socket that peers may connect to
 * @ssk: socket without a port, under lock_sock(); its local address is set
 * @number: port number, or 0 to choose a free one, as for sdp_port_bind()
 *
 * Claims the TCP port of the same number if the socket needs a claim. May
 * sleep.
 *
 * Return: 0 or an errno that TCP's bind() would return.
 */
int sdp_claim_bind(struct sdp_sock *ssk, u16 number)
{
	int tries = CLAIM_TRIES;
	struct socket *claim;
	int err;

	if (!must_claim(ssk))
		return sdp_port_bind(ssk, number);
	err = make_claim(ssk, &claim);
	if (err)
		return err;
	do {
		err = claim_bind_both(ssk, number, &claim);
		cond_resched();
	} while (err == -EAGAIN && --tries);
	if (err)
		sock_release(claim);
	else
		ssk->claim = claim;
	return err == -EAGAIN ? -EADDRINUSE : err;
}

/*
 * Check the claim's port by the rules for listeners, as TCP's listen() does,
 * and stop sharing it by SO_REUSEADDR. Called under lock_sock() of the claim.
 */
static int claim_recheck_port(struct sock *sk)
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
 * sdp_claim_listen() - let the claim follow the start or end of listening
 * @ssk: socket, under lock_sock(); it need not have a claim
 * @listens: true if the socket is about to listen, false if it has stopped
 *
 * Return: 0, or -EADDRINUSE if TCP's listen() would return it.
 */
int sdp_claim_listen(struct sdp_sock *ssk, bool listens)
{
	struct sock *sk;
	int err = 0;

	if (!ssk->claim)
		return 0;
	sk = ssk->claim->sk;
	lock_sock(sk);
	claim_copy_sharing(sk, ssk);
	if (listens)
		err = claim_recheck_port(sk);
	release_sock(sk);
	return err;
}

/**
 * sdp_claim_drop() - release the claimed TCP port
 * @ssk: socket that has released its own port, or that is being closed. It
 *	need not have a claim
 */
void sdp_claim_drop(struct sdp_sock *ssk)
{
	struct socket *claim = ssk->claim;

	ssk->claim = NULL;
	if (claim)
		sock_release(claim);
}
