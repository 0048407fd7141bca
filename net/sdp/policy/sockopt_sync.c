// SPDX-License-Identifier: GPL-2.0
/*
 * What a program has set on its socket while that was TCP's holds for the SDP socket that takes
 * its place: it is taken from where TCP keeps it. It is done twice, when the SDP socket is made
 * and when it takes over, because a program may go on setting things while it connects.
 *
 * What SDP does not have at all keeps the socket TCP (sdp_carry_possible()).
 */
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/sock_reuseport.h>
#include <net/tcp.h>

#include "../conn/sock.h"
#include "undecided.h"

/* IP_XFRM_POLICY, IPV6_XFRM_POLICY */
static bool encrypts(const struct sock *sk)
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
		sk->sk_family == PF_INET6 ? inet_sk(sk)->pinet6 : NULL;

	return np && rcu_access_pointer(np->opt);
}

/* A program chooses among the listeners of a port (SO_ATTACH_REUSEPORT_CBPF and _EBPF). */
static bool is_chosen(const struct sock *sk)
{
	const struct sock_reuseport *group;
	bool chosen;

	rcu_read_lock();
	group = rcu_dereference(sk->sk_reuseport_cb);
	chosen = group && rcu_access_pointer(group->prog);
	rcu_read_unlock();
	return chosen;
}

/* What MPTCP has of these is noted: see multipath.c. */
static bool only_tcp(const struct sock *sk)
{
	const struct tcp_sock *tp;

	if (sdp_is_multipath(sk))
		return false;
	tp = tcp_sk(sk);
	return sdp_tcp_signs(tp) || tp->repair || tp->fastopen_connect;
}

/**
 * sdp_carry_possible() - could an SDP socket do what was set?
 * @tcp: TCP's
 *
 * Return: false when something was set that only TCP has: signatures,
 * encryption by PSP, IPsec policies, fast open, repair, an upper layer
 * protocol, IP options or extension headers, a filter, or what chooses among
 * listeners.
 */
bool sdp_carry_possible(const struct sock *tcp)
{
	return !only_tcp(tcp) && !sdp_tcp_psp(tcp) && !encrypts(tcp) &&
	       !has_ipv6_headers(tcp) && !inet_csk(tcp)->icsk_ulp_ops &&
	       !rcu_access_pointer(inet_sk(tcp)->inet_opt) &&
	       !rcu_access_pointer(tcp->sk_filter) &&
	       !is_chosen(tcp);
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
	const struct ipv6_pinfo *np = sk->sk_family == PF_INET6 ? inet->pinet6 :
								  NULL;

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

/* A size that was not set is left to each protocol. */
static void carry_buffers(struct sock *to, const struct sock *from)
{
	u8 locks = from->sk_userlocks & (SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK);

	if (locks & SOCK_SNDBUF_LOCK)
		WRITE_ONCE(to->sk_sndbuf, READ_ONCE(from->sk_sndbuf));
	if (locks & SOCK_RCVBUF_LOCK)
		WRITE_ONCE(to->sk_rcvbuf, READ_ONCE(from->sk_rcvbuf));
	to->sk_userlocks |= locks;
	sdp_tune_init(sdp_sk(to));
	/* Where TCP's has grown with it, that shows nowhere. */
	sdp_reach_rcvlowat(to, to->sk_rcvlowat);
}

/**
 * sdp_carry() - let an SDP socket have what was set on TCP's
 * @sdp: the one
 * @tcp: the other
 *
 * Nobody else sets anything meanwhile: the program does not know @sdp yet.
 */
void sdp_carry(struct sock *sdp, const struct sock *tcp)
{
	sdp_sol_socket_inherit(sdp, tcp);
	sock_valbool_flag(sdp, SOCK_FASYNC, sock_flag(tcp, SOCK_FASYNC));
	carry_buffers(sdp, tcp);
	if (!sdp_is_multipath(tcp))
		carry_tcp(&sdp_sk(sdp)->opt, tcp);
	carry_ip(&sdp_sk(sdp)->opt, tcp);
	if (sock_flag(sdp, SOCK_KEEPOPEN))
		sdp_set_keepalive(sdp, 1);
}
