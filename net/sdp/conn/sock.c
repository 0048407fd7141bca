// SPDX-License-Identifier: GPL-2.0
/*
 * The socket object: made by socket() or by a connection request, listed in its
 * namespace, freed with the last reference.
 *
 * References are held by the user's socket (or the listener's queue before accept), by
 * the link, by running timers and by a pending connect retry.
 */
#include <linux/module.h>
#include <net/inet_common.h>

#include "../control/trace.h"
#include "sock.h"

/* Retries of connects. */
struct workqueue_struct *sdp_wq;

/* TCP_NOTSENT_LOWAT: no room for a writer while so much waits to be sent. */
static bool memory_free(const struct sock *sk, int wake)
{
	const struct sdp_sock *ssk = sdp_sk(sk);
	u32 limit = READ_ONCE(ssk->opt.notsent_lowat) ?:
		    READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_notsent_lowat);

	return (u64)sdp_unsent(ssk) << wake < limit;
}

/* For inet_create() and inet6_create(). */
static int init_twin(struct sock *sk)
{
	sdp_sock_init(sdp_sk(sk));
	return 0;
}

/* For the same two, when a BPF program has refused the new socket. */
static void unhash(struct sock *sk)
{
	sdp_sock_end(sdp_sk(sk));
}

/* For SO_BINDTODEVICE. */
static void rehash(struct sock *sk)
{
	sdp_port_changed(sdp_sk(sk));
}

#define SDP_PROTO(title, object)				\
	.name			= (title),			\
	.owner			= THIS_MODULE,			\
	.init			= init_twin,			\
	.unhash			= unhash,			\
	.rehash			= rehash,			\
	.keepalive		= sdp_set_keepalive,		\
	.stream_memory_free	= memory_free,			\
	.obj_size		= sizeof(object),		\
	.sockets_allocated	= &sdp_sockets_allocated,	\
	.memory_allocated	= &sdp_memory_allocated,	\
	.per_cpu_fw_alloc	= &sdp_memory_per_cpu_fw_alloc,	\
	.memory_pressure	= &sdp_memory_pressure,		\
	.enter_memory_pressure	= sdp_memory_enter_pressure,	\
	.leave_memory_pressure	= sdp_memory_leave_pressure,	\
	.sysctl_mem		= sdp_mem_limits,		\
	.sysctl_wmem		= sdp_memory_least,		\
	.sysctl_rmem		= sdp_memory_least

struct proto sdp_prot = {
	SDP_PROTO("SDP", struct sdp_sock),
};

struct proto sdp_v6_prot = {
	SDP_PROTO("SDPv6", struct sdp_v6_sock),
	SDP_PROTO_PINFO(struct sdp_v6_sock, np)
};

/**
 * sdp_sk_destruct() - the last reference to a socket is gone
 * @sk: socket; also what tells one of ours from others
 */
void sdp_sk_destruct(struct sock *sk)
{
	struct sdp_sock *ssk = sdp_sk(sk);

	__skb_queue_purge(&ssk->tx_queue);
	__skb_queue_purge(&ssk->tx_blocks);
	__skb_queue_purge(&sk->sk_receive_queue);
	__skb_queue_purge(&sk->sk_error_queue);
	WARN_ON_ONCE(ssk->link || ssk->orphan || ssk->ring || ssk->ring_next ||
		     ssk->rings_over);
	WARN_ON_ONCE(ssk->port || ssk->claim);
	WARN_ON_ONCE(!list_empty(&ssk->pending) || !list_empty(&ssk->accepted));
	sdp_memory_end(ssk);
	if (ssk->like)
		sock_put(ssk->like);
	/* What others (netlabel, for one) have hung on an internet socket. */
	if (sk->sk_family != PF_SDP)
		inet_sock_destruct(sk);
}

/* Either the time to connect is over, or that of a closed socket. */
static void sdp_sk_timer(struct timer_list *timer)
{
	struct sock *sk = timer_container_of(sk, timer, sk_timer);

	if (sock_flag(sk, SOCK_DEAD))
		sdp_orphan_timer(sdp_sk(sk));
	else
		sdp_connect_expired(sdp_sk(sk));
	sock_put(sk);
}

static void data_ready(struct sock *sk)
{
	sdp_notify(sdp_sk(sk), SDP_WAKE_READ);
}

static void write_space(struct sock *sk)
{
	sdp_notify(sdp_sk(sk), SDP_WAKE_WRITE);
}

static void state_change(struct sock *sk)
{
	sdp_notify(sdp_sk(sk), SDP_WAKE_STATE);
}

static void error_report(struct sock *sk)
{
	sdp_notify(sdp_sk(sk), SDP_WAKE_ERROR);
}

/**
 * sdp_sock_alloc() - memory for a socket; sock_init_data() and sdp_sock_init() follow
 * @net: namespace
 * @family: PF_SDP, PF_INET or PF_INET6
 * @gfp: how to allocate
 * @kern: made for the kernel: does not hold the namespace
 *
 * Return: the socket or NULL.
 */
struct sdp_sock *sdp_sock_alloc(struct net *net, int family, gfp_t gfp,
				bool kern)
{
	bool v6 = family == PF_INET6;
	struct sock *sk =
		sk_alloc(net, family, gfp, v6 ? &sdp_v6_prot : &sdp_prot, kern);

#if IS_ENABLED(CONFIG_IPV6)
	if (sk && v6)
		inet_sk(sk)->pinet6 = &((struct sdp_v6_sock *)sk)->np;
#endif
	return (struct sdp_sock *)sk;
}

/**
 * sdp_sock_init() - our part of a new socket
 * @ssk: after sock_init_data()
 */
void sdp_sock_init(struct sdp_sock *ssk)
{
	struct sock *sk = &ssk->sk;
	struct sdp_net *sn = sdp_net(sock_net(sk));

	spin_lock_init(&ssk->lock);
	mutex_init(&ssk->tx_mutex);
	mutex_init(&ssk->rx_mutex);
	__skb_queue_head_init(&ssk->tx_queue);
	__skb_queue_head_init(&ssk->tx_blocks);
	INIT_LIST_HEAD(&ssk->sinkavail_rx);
	INIT_LIST_HEAD(&ssk->queue_node);
	INIT_LIST_HEAD(&ssk->pending);
	INIT_LIST_HEAD(&ssk->accepted);
	INIT_DELAYED_WORK(&ssk->retry, sdp_connect_retry);
	INIT_WORK(&ssk->ring_work, sdp_ring_work);
	sdp_ready_init(ssk);
	timer_setup(&ssk->tick, sdp_tick, 0);
	INIT_LIST_HEAD(&ssk->scan_node);
	sdp_alive_init(ssk);
	sdp_options_init(ssk);
	if (sk->sk_socket)
		sdp_socket_flags(sk->sk_socket);
	timer_setup(&sk->sk_timer, sdp_sk_timer, 0);
	ssk->v6 = sk->sk_family == PF_INET6;
	if (!ssk->v6)
		sdp_set_v4(&ssk->local, htonl(INADDR_ANY));
	sdp_set_v4(&ssk->peer, htonl(INADDR_ANY));

	/* In-kernel users may replace these, as they do with TCP. */
	sk->sk_data_ready = data_ready;
	sk->sk_write_space = write_space;
	sk->sk_state_change = state_change;
	sk->sk_error_report = error_report;
	sk->sk_destruct = sdp_sk_destruct;
	sock_set_flag(sk, SOCK_RCU_FREE);
	sk_sockets_allocated_inc(sk);
	sdp_tune_init(ssk);

	spin_lock_bh(&sn->lock);
	ssk->serial = ++sn->serial;
	hlist_add_head_rcu(&ssk->list_node, sdp_socks(sn, sk));
	ssk->listed = true;
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	spin_unlock_bh(&sn->lock);
}

/**
 * sdp_sock_end() - the socket has no user and no connection any more
 * @ssk: socket; its memory lives on until the last reference goes
 *
 * May be called more than once.
 */
void sdp_sock_end(struct sdp_sock *ssk)
{
	struct sdp_net *sn = sdp_net(sock_net(&ssk->sk));

	sdp_port_release(ssk);
	spin_lock_bh(&sn->lock);
	if (ssk->listed) {
		hlist_del_rcu(&ssk->list_node);
		sock_prot_inuse_add(sock_net(&ssk->sk), ssk->sk.sk_prot, -1);
	}
	ssk->listed = false;
	spin_unlock_bh(&sn->lock);
}

/**
 * sdp_set_state() - the state that user space sees, a TCP_* number
 * @ssk: socket, locked
 * @state: new state
 */
void sdp_set_state(struct sdp_sock *ssk, int state)
{
	struct sock *sk = &ssk->sk;
	int old = sk->sk_state;

	if (old == state)
		return;
	if (state == TCP_ESTABLISHED)
		SDP_INC(sock_net(sk), CurrEstab);
	else if (old == TCP_ESTABLISHED)
		SDP_ADD(sock_net(sk), CurrEstab, -1);
	trace_sdp_state(sk, ssk->local.port, ssk->peer.port, old, state,
			sdp_conn_state_name(ssk->engine.state));
	WRITE_ONCE(sk->sk_state, state);
}
