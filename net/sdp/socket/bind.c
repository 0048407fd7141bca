// SPDX-License-Identifier: GPL-2.0
/*
 * bind(2), getsockname(2) and getpeername(2).
 *
 * bind() takes its port through conn/claim.c, which also claims the TCP port of
 * the same number. It runs under lock_sock().
 */
#include <net/inet_sock.h>
#include <net/ip.h>

#include "../conn/addr.h"
#include "../conn/claim.h"
#include "../conn/port.h"
#include "bind.h"

static int bind_check_address(const struct sdp_sock *ssk,
			      const struct sdp_endpoint *e)
{
	if (READ_ONCE(ssk->opt.freebind) ||
	    sdp_addr_may_be_source(sock_net(&ssk->sk), e))
		return 0;
	return -EADDRNOTAVAIL;
}

static int bind_check_port(struct net *net, const struct sdp_endpoint *e)
{
	if (e->port && inet_port_requires_bind_service(net, e->port) &&
	    !ns_capable(net->user_ns, CAP_NET_BIND_SERVICE))
		return -EACCES;
	return 0;
}

/*
 * bind() needs a closed socket without a port. A port that was chosen for a
 * connection that is gone does not count: it is released here.
 */
static int bind_check_unbound(struct sdp_sock *ssk)
{
	if (READ_ONCE(ssk->sk.sk_state) != TCP_CLOSE)
		return -EINVAL;
	if (ssk->peer.port && !(ssk->sk.sk_userlocks & SOCK_BINDPORT_LOCK)) {
		sdp_port_release(ssk);
		sdp_claim_drop(ssk);
		sdp_conn_lock(ssk);
		ssk->peer.port = 0;
		spin_unlock_bh(&ssk->lock);
	}
	return ssk->port ? -EINVAL : 0;
}

/*
 * TCP checks in a different order for IPv4 and IPv6, and so do we: a call with
 * several faults gets the same errno as from TCP.
 */
static int bind_check(struct sdp_sock *ssk, const struct sdp_endpoint *e,
		      bool v6)
{
	struct net *net = sock_net(&ssk->sk);

	if (v6 && ssk->sk.sk_ipv6only && sdp_is_v4(e))
		return -EINVAL;
	if (v6)
		return bind_check_port(net, e) ?: bind_check_unbound(ssk) ?:
		       bind_check_address(ssk, e);
	return bind_check_address(ssk, e) ?: bind_check_port(net, e) ?:
	       bind_check_unbound(ssk);
}

static int bind_locked(struct sdp_sock *ssk, const struct sdp_endpoint *e,
		       bool v6)
{
	struct sdp_endpoint old = ssk->local;
	int err = bind_check(ssk, e, v6);

	if (err)
		return err;
	sdp_addr_set(ssk, &ssk->local, e);
	err = sdp_claim_bind(ssk, e->port);
	if (err) {
		sdp_addr_set(ssk, &ssk->local, &old);
		return err;
	}
	WRITE_ONCE(ssk->v6, v6);
	ssk->bound_ip = !sdp_is_any(e);
	/* Like TCP: no IPv4 peer can reach a specific IPv6 address. */
	if (ssk->bound_ip && !sdp_is_v4(e))
		ssk->sk.sk_ipv6only = 1;
	/* A disconnect keeps only a port that the application chose. */
	if (e->port)
		ssk->sk.sk_userlocks |= SOCK_BINDPORT_LOCK;
	return 0;
}

/**
 * sdp_bind() - bind(2)
 * @sock: socket
 * @addr: address, as copied from user space
 * @len: length of @addr in bytes
 *
 * Takes lock_sock().
 *
 * Return: 0 or a negative errno, in each case the one that TCP returns.
 */
int sdp_bind(struct socket *sock, struct sdp_sockaddr *addr, int len)
{
	const struct sockaddr_storage *ss =
		(const struct sockaddr_storage *)addr;
	struct sock *sk = sock->sk;
	struct sdp_endpoint e;
	int err;

	err = sdp_addr_get(&e, ss, len, sk->sk_family);
	/*
	 * Like TCP, accept AF_UNSPEC with INADDR_ANY, for applications that do
	 * not fill in the family of a wildcard address.
	 */
	if (err == -EAFNOSUPPORT && ss->ss_family == AF_UNSPEC &&
	    sk->sk_family != AF_INET6 &&
	    len >= (int)sizeof(struct sockaddr_in) &&
	    ((const struct sockaddr_in *)ss)->sin_addr.s_addr ==
		    htonl(INADDR_ANY)) {
		sdp_set_v4(&e, htonl(INADDR_ANY));
		e.port = ntohs(((const struct sockaddr_in *)ss)->sin_port);
		err = 0;
	}
	if (err)
		return err;
	lock_sock(sk);
	err = bind_locked(sdp_sk(sk), &e, ss->ss_family == AF_INET6);
	release_sock(sk);
	return err;
}

/**
 * sdp_getname() - getsockname(2), getpeername(2)
 * @sock: socket
 * @addr: buffer for the address
 * @peer: 0 for our own address; 1 for the peer's, which needs a connection; 2
 *	for the peer's as accept() asks for it, even if the connection has
 *	already ended
 *
 * Return: length of the address in bytes, or -ENOTCONN.
 */
int sdp_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	struct sdp_endpoint e;
	u8 state;
	bool v6;

	sdp_conn_lock(ssk);
	state = sock->sk->sk_state;
	e = peer ? ssk->peer : ssk->local;
	v6 = ssk->v6;
	spin_unlock_bh(&ssk->lock);
	if (peer && !e.port)
		return -ENOTCONN;
	if (peer == 1 && (state == TCP_CLOSE || state == TCP_SYN_SENT))
		return -ENOTCONN;
	return sdp_addr_put(addr, &e, v6);
}
