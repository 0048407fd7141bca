// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options of the level SOL_SOCKET that need code of this family.
 *
 * A kernel with SOCK_CUSTOM_SOCKOPT (not 6.1) passes every SOL_SOCKET option to
 * sdp_sol_socket_set(), which returns most of them to the kernel's own
 * function. SO_RCVLOWAT arrives in each kernel through proto_ops.set_rcvlowat.
 */
#include <linux/net.h>
#include <linux/netdevice.h>

#include "../conn/port.h"
#include "../conn/zerocopy.h"
#include "sockopt_sock.h"

/*
 * Largest SO_RCVLOWAT in bytes if SO_RCVBUF was not set, as for TCP with its
 * default limits. The receive buffer could not grow far enough for a larger
 * mark.
 */
#define LOWAT_MAX	(3 << 20)

/*
 * SO_REUSEPORT: the kernel's function refuses the option for families other
 * than AF_INET and AF_INET6. Here it is allowed, because conn/port.c balances
 * requests between the listeners of a port.
 */
static int set_reuseport(struct sock *sk, sockptr_t value, unsigned int len)
{
	int val;

	if (len < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, value, sizeof(val)))
		return -EFAULT;
	lock_sock(sk);
	sk->sk_reuseport = !!val;
	release_sock(sk);
	sdp_port_changed(sdp_sk(sk));
	return 0;
}

/**
 * sdp_sol_socket_set() - setsockopt(2) at SOL_SOCKET
 * @sock: socket
 * @name: option
 * @value: new value
 * @len: length of @value in bytes
 *
 * Socket filters and reuseport programs are refused, because they would never
 * run: SDP has no packets to show to a filter, and a request is given to a
 * listener before there is a packet.
 *
 * Takes lock_sock().
 *
 * Return: 0 or a negative errno.
 */
int sdp_sol_socket_set(struct socket *sock, int name, sockptr_t value,
		       unsigned int len)
{
	int err;

	switch (name) {
	case SO_REUSEADDR:
	case SO_INCOMING_CPU:
		err = sock_setsockopt(sock, SOL_SOCKET, name, value, len);
		if (!err)
			sdp_port_changed(sdp_sk(sock->sk));
		return err;
	case SO_REUSEPORT:
		return set_reuseport(sock->sk, value, len);
	case SO_ZEROCOPY:
		return sdp_set_zerocopy(sock->sk, value, len);
	case SO_ATTACH_FILTER:
	case SO_ATTACH_BPF:
	case SO_ATTACH_REUSEPORT_CBPF:
	case SO_ATTACH_REUSEPORT_EBPF:
	/* See sdp_mem_limits: the kernel would account under lock_sock(). */
	case SO_RESERVE_MEM:
		return -EOPNOTSUPP;
	default:
		return sock_setsockopt(sock, SOL_SOCKET, name, value, len);
	}
}

/**
 * sdp_reach_rcvlowat() - set a low-water mark that the receive buffer can reach
 * @sk: socket
 * @val: SO_RCVLOWAT in bytes, not negative; 0 means 1
 *
 * Enlarges the receive buffer if necessary. If the application has set
 * SO_RCVBUF, limits the mark instead.
 */
void sdp_reach_rcvlowat(struct sock *sk, int val)
{
	bool fixed = sk->sk_userlocks & SOCK_RCVBUF_LOCK;

	val = min(val, fixed ? sk->sk_rcvbuf >> 1 : LOWAT_MAX);
	WRITE_ONCE(sk->sk_rcvlowat, val ?: 1);
	if (!fixed && sk->sk_rcvbuf < 2 * val) {
		WRITE_ONCE(sk->sk_rcvbuf, 2 * val);
		WRITE_ONCE(sdp_sk(sk)->rcvbuf_first, 2 * val);
	}
}

/**
 * sdp_set_rcvlowat() - set SO_RCVLOWAT
 * @sk: socket, under lock_sock()
 * @val: low-water mark in bytes, not negative
 *
 * Return: 0, or -EAGAIN if the policy has just replaced @sk.
 */
int sdp_set_rcvlowat(struct sock *sk, int val)
{
	/*
	 * The policy may have replaced the TCP sock of a socket after the
	 * kernel loaded it. @sk is then still the TCP one.
	 */
	if (sk->sk_destruct != sdp_sk_destruct)
		return -EAGAIN;
	sdp_reach_rcvlowat(sk, val);
	/* There may be enough input for a smaller mark: wake the readers. */
	sk->sk_data_ready(sk);
	return 0;
}
