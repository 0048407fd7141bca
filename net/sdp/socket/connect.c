// SPDX-License-Identifier: GPL-2.0
/*
 * connect(2): the system call and its wait for the outcome.
 *
 * conn/active.c makes the attempts. A blocking call sleeps until the socket has
 * left TCP_SYN_SENT; lock_sock() is dropped during that sleep. The outcome of a
 * non-blocking call is read by a second connect() or by SO_ERROR.
 */
#include <net/inet_common.h>
#include <net/tcp.h>
#include <net/transp_v6.h>

#include "../conn/active.h"
#include "../conn/addr.h"
#include "../conn/wake.h"
#include "../base/trace.h"
#include "close.h"
#include "connect.h"

static bool connect_is_decided(struct sdp_sock *ssk, u32 unused)
{
	/* Pairs with sdp_conn_fail(), which sets sk_err before the state. */
	return smp_load_acquire(&ssk->sk.sk_state) != TCP_SYN_SENT;
}

/*
 * Wait for the outcome of a connection attempt. Called under lock_sock(), which
 * is dropped during the wait. Returns the value of connect(): @err if the
 * attempt has not ended before the timeout.
 */
static int connect_outcome(struct socket *sock, int err, int flags)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *ssk = sdp_sk(sk);
	long timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	int waited;

	if (!connect_is_decided(ssk, 0)) {
		if (!timeo)
			return err;
		release_sock(sk);
		waited = sdp_wait(ssk, SDP_WRITE, &timeo, connect_is_decided,
				  0);
		lock_sock(sk);
		if (waited)
			return waited == -EAGAIN ? err : waited;
	}
	if (READ_ONCE(sk->sk_state) == TCP_CLOSE) {
		err = sock_error(sk) ?: -ECONNABORTED;
		sock->state = SS_UNCONNECTED;
		sdp_disconnect(ssk);
		return err;
	}
	sock->state = SS_CONNECTED;
	return 0;
}

/*
 * Return the proto whose pre_connect() to call. MPTCP has no pre_connect(), so
 * an MPTCP sock uses TCP's, which only needs fields that both kinds of sock
 * have.
 */
static const struct proto *connect_bpf_proto(const struct sock *tcp)
{
	if (tcp->sk_protocol != IPPROTO_MPTCP)
		return tcp->sk_prot;
#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6)
		return &tcpv6_prot;
#endif
	return &tcp_prot;
}

/**
 * sdp_connect_ask_bpf() - run the control group's BPF programs for connect()
 * @tcp: TCP sock to run the programs on; they cannot handle an SDP sock
 * @addr: destination; the programs may change it
 * @len: length of @addr in bytes
 *
 * Takes lock_sock() of @tcp.
 *
 * Return: 0, or the negative errno with which a program refuses the connect.
 */
int sdp_connect_ask_bpf(struct sock *tcp, struct sdp_sockaddr *addr, int len)
{
	const struct proto *prot = connect_bpf_proto(tcp);
	int err;

	if (!prot->pre_connect)
		return 0;
	lock_sock(tcp);
	err = prot->pre_connect(tcp, addr, len);
	release_sock(tcp);
	return err;
}

/*
 * The policy has run the BPF programs for the first connect() of a socket that
 * it took over from TCP. sdp_connect() runs them for each later connect() of
 * such a socket. Called under lock_sock().
 */
static bool connect_needs_bpf(const struct socket *sock)
{
	return sdp_sk(sock->sk)->tcp && sock->state == SS_UNCONNECTED &&
	       READ_ONCE(sock->sk->sk_state) == TCP_CLOSE;
}

/*
 * Run the BPF programs if necessary, and take lock_sock() for connect(). The
 * programs run without it, because they need lock_sock() of the TCP sock. The
 * state of the socket may change meanwhile; connect_locked() checks it.
 *
 * Returns 0 with the lock held, or an errno without it.
 */
static int connect_lock(struct socket *sock, struct sdp_sockaddr *addr,
			int len)
{
	int err;

	lock_sock(sock->sk);
	if (!connect_needs_bpf(sock))
		return 0;
	release_sock(sock->sk);
	err = sdp_connect_ask_bpf(sdp_sk(sock->sk)->tcp->sk, addr, len);
	if (!err)
		lock_sock(sock->sk);
	return err;
}

static int connect_locked(struct socket *sock,
			  const struct sockaddr_storage *ss, int len, int flags)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	struct sdp_endpoint peer;
	int err;

	switch (sock->state) {
	case SS_CONNECTED:
		return -EISCONN;
	case SS_CONNECTING:
		return connect_outcome(sock, -EALREADY, flags);
	case SS_UNCONNECTED:
		if (READ_ONCE(sock->sk->sk_state) != TCP_CLOSE)
			return -EISCONN;
		break;
	default:
		return -EINVAL;
	}
	err = sdp_addr_get(&peer, ss, len, sock->sk->sk_family);
	if (!err)
		err = sdp_active_open(ssk, &peer, ss->ss_family == AF_INET6);
	if (err)
		return err;
	sock->state = SS_CONNECTING;
	/*
	 * Like TCP, a non-blocking first call returns EINPROGRESS even if the
	 * connection is already established.
	 */
	if (!sock_sndtimeo(sock->sk, flags & O_NONBLOCK))
		return -EINPROGRESS;
	return connect_outcome(sock, -EINPROGRESS, flags);
}

/**
 * sdp_connect() - connect(2)
 * @sock: socket
 * @addr: destination, as copied from user space; AF_UNSPEC disconnects
 * @len: length of @addr in bytes
 * @flags: O_NONBLOCK
 *
 * Takes lock_sock().
 *
 * Return: 0 or a negative errno; -EINPROGRESS or -EALREADY while the attempt is
 * not decided.
 */
int sdp_connect(struct socket *sock, struct sdp_sockaddr *addr, int len,
		int flags)
{
	const struct sockaddr_storage *ss =
		(const struct sockaddr_storage *)addr;
	int err;

	if (len < (int)offsetofend(struct sockaddr_storage, ss_family))
		return -EINVAL;
	if (ss->ss_family == AF_UNSPEC) {
		lock_sock(sock->sk);
		err = sdp_disconnect(sdp_sk(sock->sk));
		sock->state = SS_UNCONNECTED;
	} else {
		err = connect_lock(sock, addr, len);
		if (err)
			return err;
		err = connect_locked(sock, ss, len, flags);
	}
	release_sock(sock->sk);
	return err;
}
