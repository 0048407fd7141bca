// SPDX-License-Identifier: GPL-2.0
/*
 * SOL_SOCKET, as far as the kernel's own code does not do what is right for this family.
 *
 * Where the kernel can be told to ask us first (SOCK_CUSTOM_SOCKOPT, not on 6.1), options
 * come by here, and most go back to it. SO_RCVLOWAT has a call of its own everywhere.
 */
#include <linux/net.h>
#include <linux/netdevice.h>

#include "../conn/sock.h"

/* As large as TCP's with its default limits; a larger mark could never be reached. */
#define LOWAT_MAX	(3 << 20)

/* The kernel grants it to internet families only, and port.c knows how to balance. */
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
 * @value: its value
 * @len: length of the value
 *
 * There are no packets that a filter could be shown, and dropping one would break the
 * stream; and requests are balanced before there is a packet. So programs for either
 * are refused rather than kept and never run.
 *
 * Return: 0 or an errno.
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
	/* It counts under lock_sock what is counted under our lock. */
	case SO_RESERVE_MEM:
		return -EOPNOTSUPP;
	default:
		return sock_setsockopt(sock, SOL_SOCKET, name, value, len);
	}
}

/**
 * sdp_reach_rcvlowat() - see to it that as many bytes as SO_RCVLOWAT says can be there
 * @sk: socket
 * @val: SO_RCVLOWAT
 *
 * The receive buffer grows with it, unless its size was set; else the mark is cut.
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
 * sdp_set_rcvlowat() - SO_RCVLOWAT; called under lock_sock
 * @sk: socket
 * @val: bytes, not negative
 *
 * Return: 0.
 */
int sdp_set_rcvlowat(struct sock *sk, int val)
{
	/* The policy may exchange a socket's sock while somebody is on his way here. */
	if (sk->sk_destruct != sdp_sk_destruct)
		return -EAGAIN;
	sdp_reach_rcvlowat(sk, val);
	/* Somebody may have waited for more than is wanted now. */
	sk->sk_data_ready(sk);
	return 0;
}

/* Time stamps are switched on for the whole host; who has the flag counts. */
static void inherit_stamps(struct sock *sk, const struct sock *from)
{
	static const enum sock_flags flags[] = {
		SOCK_TIMESTAMP,	 SOCK_TIMESTAMPING_RX_SOFTWARE,
		SOCK_RCVTSTAMP,	 SOCK_RCVTSTAMPNS,
		SOCK_TSTAMP_NEW,
	};
	bool had = sk->sk_flags & SK_FLAGS_TIMESTAMP;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		sock_valbool_flag(sk, flags[i], sock_flag(from, flags[i]));
	sk->sk_tsflags = READ_ONCE(from->sk_tsflags);
	if (!had && (sk->sk_flags & SK_FLAGS_TIMESTAMP))
		net_enable_timestamp();
	else if (had && !(sk->sk_flags & SK_FLAGS_TIMESTAMP))
		net_disable_timestamp();
}

/**
 * sdp_sol_socket_inherit() - what a socket has from another one of SOL_SOCKET
 * @sk: new socket, not yet seen by its user
 * @from: its listener, or the TCP socket whose place it takes
 *
 * The buffers' sizes are left to the caller.
 */
void sdp_sol_socket_inherit(struct sock *sk, const struct sock *from)
{
	static const enum sock_flags flags[] = {
		SOCK_LINGER, SOCK_KEEPOPEN, SOCK_URGINLINE, SOCK_ZEROCOPY,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		sock_valbool_flag(sk, flags[i], sock_flag(from, flags[i]));
	sk->sk_rcvlowat = READ_ONCE(from->sk_rcvlowat);
	sk->sk_rcvtimeo = READ_ONCE(from->sk_rcvtimeo);
	sk->sk_sndtimeo = READ_ONCE(from->sk_sndtimeo);
	sk->sk_lingertime = READ_ONCE(from->sk_lingertime);
	sk->sk_reuse = from->sk_reuse;
	sk->sk_reuseport = from->sk_reuseport;
	sk->sk_ipv6only = from->sk_ipv6only;
	sk->sk_mark = READ_ONCE(from->sk_mark);
	sk->sk_uid = from->sk_uid;
	sk->sk_bound_dev_if = READ_ONCE(from->sk_bound_dev_if);
	sk->sk_peek_off = READ_ONCE(from->sk_peek_off);
	inherit_stamps(sk, from);
}

/**
 * sdp_options_inherit() - what an accepted socket has from its listener of options
 * @child: new socket, not yet seen by others
 * @parent: its listener
 */
void sdp_options_inherit(struct sdp_sock *child, const struct sdp_sock *parent)
{
	child->opt = parent->opt;
	sdp_sol_socket_inherit(&child->sk, &parent->sk);
}
