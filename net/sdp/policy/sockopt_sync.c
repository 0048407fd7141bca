// SPDX-License-Identifier: GPL-2.0
/*
 * Copies socket options from a TCP socket to the SDP socket beside it.
 *
 * An application sets options while its socket is still TCP. They must hold for
 * the SDP socket that takes its place, so they are read from the fields in
 * which TCP keeps them. This happens twice: when the SDP socket is created, and
 * when it takes over, because the application may set options while the connect
 * is in progress. For a pair of listeners (listen.c), it happens again for each
 * connection that SDP accepts.
 *
 * An option that SDP does not have at all keeps the socket TCP
 * (sdp_sockopt_sync_possible()).
 */
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/sock_reuseport.h>
#include <net/tcp.h>

#include "../core.h"
#include "undecided.h"

/* Set by IP_XFRM_POLICY and IPV6_XFRM_POLICY. */
static bool has_ipsec_policy(const struct sock *sk)
{
#ifdef CONFIG_XFRM
	return rcu_access_pointer(sk->sk_policy[0]) ||
	       rcu_access_pointer(sk->sk_policy[1]);
#else
	return false;
#endif
}

static bool has_ipv6_headers(const struct sock *sk)
{
	const struct ipv6_pinfo *np =
		sk->sk_family == PF_INET6 ? inet6_sk(sk) : NULL;

	return np && rcu_access_pointer(np->opt);
}

/*
 * True when a BPF program selects among the listeners of the port, see
 * SO_ATTACH_REUSEPORT_CBPF and SO_ATTACH_REUSEPORT_EBPF.
 */
static bool has_reuseport_prog(const struct sock *sk)
{
	const struct sock_reuseport *group;
	bool chosen;

	rcu_read_lock();
	group = rcu_dereference(sk->sk_reuseport_cb);
	chosen = group && rcu_access_pointer(group->prog);
	rcu_read_unlock();
	return chosen;
}

/* MPTCP keeps these in a private struct; multipath.c records them instead. */
static bool uses_only_tcp(const struct sock *sk)
{
	const struct tcp_sock *tp;

	if (sdp_is_multipath(sk))
		return false;
	tp = tcp_sk(sk);
	return sdp_tcp_signs(tp) || tp->repair || tp->fastopen_connect;
}

/**
 * sdp_sockopt_sync_possible() - check whether SDP has all options that are set
 * @tcp: TCP or MPTCP sock
 *
 * Return: false when @tcp uses something that only TCP has: MD5 or AO
 * signatures, PSP or IPsec encryption, Fast Open, TCP_REPAIR, an upper layer
 * protocol, IP options or IPv6 extension headers, a socket filter, or a program
 * that selects among listeners.
 */
bool sdp_sockopt_sync_possible(const struct sock *tcp)
{
	return !uses_only_tcp(tcp) && !sdp_tcp_psp(tcp) &&
	       !has_ipsec_policy(tcp) && !has_ipv6_headers(tcp) &&
	       !inet_csk(tcp)->icsk_ulp_ops &&
	       !rcu_access_pointer(inet_sk(tcp)->inet_opt) &&
	       !rcu_access_pointer(tcp->sk_filter) &&
	       !has_reuseport_prog(tcp);
}

static void carry_tcp(struct sdp_options *opt, const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	opt->nodelay = !!(tp->nonagle & TCP_NAGLE_OFF);
	opt->cork = !!(tp->nonagle & TCP_NAGLE_CORK);
	opt->maxseg = tp->rx_opt.user_mss;
	opt->thin_timeouts = tp->thin_lto;
	opt->notsent_lowat = tp->notsent_lowat;
	opt->keepidle = READ_ONCE(tp->keepalive_time) / HZ;
	opt->keepintvl = READ_ONCE(tp->keepalive_intvl) / HZ;
	opt->keepcnt = READ_ONCE(tp->keepalive_probes);
	opt->user_timeout = READ_ONCE(icsk->icsk_user_timeout);
	opt->syncnt = READ_ONCE(icsk->icsk_syn_retries);
	opt->linger2 = tp->linger2 < 0 ? -1 : tp->linger2 / HZ;
	opt->defer_accept =
		sdp_backoff_seconds(icsk->icsk_accept_queue.rskq_defer_accept);
	opt->inq = tp->recvmsg_inq;
}

static void carry_ip(struct sdp_options *opt, const struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);
	const struct ipv6_pinfo *np =
		sk->sk_family == PF_INET6 ? inet6_sk(sk) : NULL;

	opt->tos = inet->tos;
	opt->ttl = inet->uc_ttl;
	opt->min_ttl = inet->min_ttl;
	opt->mtu_discover = inet->pmtudisc;
	opt->freebind = sdp_inet_freebind(sk);
	if (!np)
		return;
	opt->tclass = np->tclass;
	opt->hops = np->hop_limit;
}

/* Sizes that the application has not set keep SDP's own defaults. */
static void carry_buffers(struct sock *to, const struct sock *from)
{
	u8 locks = from->sk_userlocks & (SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK);

	if (locks & SOCK_SNDBUF_LOCK)
		WRITE_ONCE(to->sk_sndbuf, READ_ONCE(from->sk_sndbuf));
	if (locks & SOCK_RCVBUF_LOCK)
		WRITE_ONCE(to->sk_rcvbuf, READ_ONCE(from->sk_rcvbuf));
	to->sk_userlocks |= locks;
	sdp_autotune_init(sdp_sk(to));
	/*
	 * SO_RCVLOWAT may have raised TCP's receive buffer without setting
	 * SOCK_RCVBUF_LOCK, so make SDP's large enough, too.
	 */
	sdp_reach_rcvlowat(to, to->sk_rcvlowat);
}

/**
 * sdp_sockopt_sync() - copy the options of a TCP sock to an SDP sock
 * @sdp: SDP sock
 * @tcp: TCP or MPTCP sock
 *
 * The application cannot reach @sdp yet, so nobody else sets its options
 * meanwhile.
 */
void sdp_sockopt_sync(struct sock *sdp, const struct sock *tcp)
{
	sdp_sol_socket_inherit(sdp, tcp);
	sock_valbool_flag(sdp, SOCK_FASYNC, sock_flag(tcp, SOCK_FASYNC));
	carry_buffers(sdp, tcp);
	if (!sdp_is_multipath(tcp))
		carry_tcp(&sdp_sk(sdp)->opt, tcp);
	carry_ip(&sdp_sk(sdp)->opt, tcp);
	if (sock_flag(sdp, SOCK_KEEPOPEN))
		sdp_keepalive_set(sdp, 1);
}
