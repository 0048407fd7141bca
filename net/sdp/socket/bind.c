// SPDX-License-Identifier: GPL-2.0
/*
 * bind, getsockname, getpeername.
 */
#include <net/inet_sock.h>
#include <net/ip.h>

#include "../conn/sock.h"

static int may_have_address(const struct sdp_sock *ssk,
			    const struct sdp_endpoint *e)
{
	if (READ_ONCE(ssk->opt.freebind) ||
	    sdp_addr_may_be_source(sock_net(&ssk->sk), e))
		return 0;
	return -EADDRNOTAVAIL;
}

static int may_have_port(struct net *net, const struct sdp_endpoint *e)
{
	if (e->port && inet_port_requires_bind_service(net, e->port) &&
	    !ns_capable(net->user_ns, CAP_NET_BIND_SERVICE))
		return -EACCES;
	return 0;
}

/* A port that the kernel chose goes with the connection it was for, as soon as that is gone. */
static int needs_name(struct sdp_sock *ssk)
{
	if (READ_ONCE(ssk->sk.sk_state) != TCP_CLOSE)
		return -EINVAL;
	if (ssk->peer.port && !(ssk->sk.sk_userlocks & SOCK_BINDPORT_LOCK)) {
		sdp_port_release(ssk);
		sdp_claim_drop(ssk);
		sdp_stream_lock(ssk);
		ssk->peer.port = 0;
		spin_unlock_bh(&ssk->lock);
	}
	return ssk->port ? -EINVAL : 0;
}

/* With several things wrong, which one is told depends on the IP version. */
static int may_bind(struct sdp_sock *ssk, const struct sdp_endpoint *e, bool v6)
{
	struct net *net = sock_net(&ssk->sk);

	if (v6 && ssk->sk.sk_ipv6only && sdp_is_v4(e))
		return -EINVAL;
	if (v6)
		return may_have_port(net, e)   ?:
			       needs_name(ssk) ?:
						 may_have_address(ssk, e);
	return may_have_address(ssk, e)	     ?:
		       may_have_port(net, e) ?:
					       needs_name(ssk);
}

/**
 * sdp_set_name() - give a socket, or its peer, another name
 * @ssk: socket, under lock_sock, so that there is one who does; not locked
 * @end: its @local or @peer
 * @e: the name
 */
void sdp_set_name(struct sdp_sock *ssk, struct sdp_endpoint *end,
		  const struct sdp_endpoint *e)
{
	sdp_stream_lock(ssk);
	*end = *e;
	spin_unlock_bh(&ssk->lock);
}

static int do_bind(struct sdp_sock *ssk, const struct sdp_endpoint *e, bool v6)
{
	struct sdp_endpoint old = ssk->local;
	int err = may_bind(ssk, e, v6);

	if (err)
		return err;
	sdp_set_name(ssk, &ssk->local, e);
	err = sdp_claim_bind(ssk, e->port);
	if (err) {
		sdp_set_name(ssk, &ssk->local, &old);
		return err;
	}
	WRITE_ONCE(ssk->v6, v6);
	ssk->bound_ip = !sdp_is_any(e);
	/* As TCP shows it: there is no IPv4 by such an address. */
	if (ssk->bound_ip && !sdp_is_v4(e))
		ssk->sk.sk_ipv6only = 1;
	/* One that was left to the kernel is not kept over a disconnect. */
	if (e->port)
		ssk->sk.sk_userlocks |= SOCK_BINDPORT_LOCK;
	return 0;
}

/**
 * sdp_bind() - bind(2)
 * @sock: socket
 * @addr: as copied from user space
 * @len: its length
 *
 * Return: 0 or an errno.
 */
int sdp_bind(struct socket *sock, struct sdp_sockaddr *addr, int len)
{
	const struct sockaddr_storage *ss =
		(const struct sockaddr_storage *)addr;
	struct sock *sk = sock->sk;
	struct sdp_endpoint e;
	int err;

	err = sdp_addr_get(&e, ss, len, sk->sk_family);
	/* As TCP, for programs that leave the family out of a wildcard. */
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
	err = do_bind(sdp_sk(sk), &e, ss->ss_family == AF_INET6);
	release_sock(sk);
	return err;
}

/**
 * sdp_getname() - getsockname(2), getpeername(2)
 * @sock: socket
 * @addr: room for the address
 * @peer: 0: own; 1: the peer's, once connected; 2: the peer's, as accept wants it
 *
 * Return: length of the address, or -ENOTCONN.
 */
int sdp_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	struct sdp_endpoint e;
	u8 state;
	bool v6;

	sdp_stream_lock(ssk);
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
