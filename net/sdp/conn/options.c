// SPDX-License-Identifier: GPL-2.0
/*
 * Options of a socket: defaults, inheritance and derived values.
 *
 * setsockopt() and getsockopt() are in socket/sockopt*.c. struct sdp_options is
 * read and written without a lock.
 */
#include <linux/in.h>
#include <linux/in6.h>

#include "options.h"
#include "sock.h"

/**
 * sdp_options_init() - set the defaults that are not 0
 * @ssk: new socket
 */
void sdp_options_init(struct sdp_sock *ssk)
{
	const struct net *net = sock_net(&ssk->sk);

	ssk->opt.quickack = 1;
	ssk->opt.ttl = -1;
	ssk->opt.hops = -1;
	ssk->opt.rdma_threshold = -1;
	ssk->opt.flow_control = -1;
	ssk->opt.service = -1;
	ssk->opt.mtu_discover = READ_ONCE(net->ipv4.sysctl_ip_no_pmtu_disc) ?
				IP_PMTUDISC_DONT : IP_PMTUDISC_WANT;
	ssk->opt.mtu_discover6 = IPV6_PMTUDISC_WANT;
#if IS_ENABLED(CONFIG_IPV6)
	ssk->sk.sk_ipv6only = READ_ONCE(net->ipv6.sysctl.bindv6only);
#endif
}

/**
 * sdp_tos() - type of service for a new path
 * @ssk: socket
 * @v4: whether the path is an IPv4 path
 *
 * Return: IP_TOS for an IPv4 path, IPV6_TCLASS for an IPv6 path.
 */
u8 sdp_tos(const struct sdp_sock *ssk, bool v4)
{
	return v4 ? READ_ONCE(ssk->opt.tos) : READ_ONCE(ssk->opt.tclass);
}

/* TCP's first and longest retransmission timeout, in seconds. */
#define BACKOFF_FIRST	1
#define BACKOFF_LONGEST	120

/**
 * sdp_backoff_seconds() - total of a number of TCP's retransmission timeouts
 * @waits: number of timeouts; each is twice the one before, up to the longest
 *
 * Return: seconds.
 */
int sdp_backoff_seconds(int waits)
{
	int wait = BACKOFF_FIRST, sum = 0;

	while (waits-- > 0) {
		sum += wait;
		wait = min(2 * wait, BACKOFF_LONGEST);
	}
	return sum;
}

/*
 * Copy the timestamp options. The kernel counts the sockets that have a flag of
 * SK_FLAGS_TIMESTAMP, because timestamps are enabled for the whole host.
 */
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
 * sdp_sol_socket_inherit() - copy the SOL_SOCKET options of another socket
 * @sk: new socket, which no application has yet
 * @from: its listener, or the TCP socket whose place it takes
 *
 * The caller sets the sizes of the send and receive buffer.
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
 * sdp_options_inherit() - copy a listener's options to its child socket
 * @child: new socket, which no application has yet
 * @parent: its listener
 */
void sdp_options_inherit(struct sdp_sock *child, const struct sdp_sock *parent)
{
	child->opt = parent->opt;
	sdp_sol_socket_inherit(&child->sk, &parent->sk);
}
