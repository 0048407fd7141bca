// SPDX-License-Identifier: GPL-2.0
/*
 * The socket object: creation, listing and destruction.
 *
 * A socket is made by socket(2) or for a connection request. It is in its
 * namespace's list from sdp_sock_init() to sdp_sock_end(). It is freed with its
 * last reference. References are held by the application's file (before
 * accept(), by the listener's queue), by the link, by timers that are pending
 * and by work items that are queued.
 */
#include <linux/module.h>
#include <net/inet_common.h>

#include "active.h"
#include "autotune.h"
#include "keepalive.h"
#include "memory.h"
#include "options.h"
#include "orphan.h"
#include "port.h"
#include "ring.h"
#include "timer.h"
#include "wake.h"
#include "../base/trace.h"

/*
 * Work items that may sleep: connect retries, rings, the deadlock scan, and
 * RDMA that no call waits for.
 */
struct workqueue_struct *sdp_wq;

/*
 * TCP_NOTSENT_LOWAT: a writer has room while fewer bytes than that are unsent.
 * A writer that waits is woken (@wake is 1) when fewer than half of it are.
 */
static bool sock_memory_free(const struct sock *sk, int wake)
{
	const struct sdp_sock *ssk = sdp_sk(sk);
	u32 limit = READ_ONCE(ssk->opt.notsent_lowat) ?:
		    READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_notsent_lowat);

	return (u64)sdp_unsent(ssk) << wake < limit;
}

/* inet_create() and inet6_create() call it, after sock_init_data(). */
static int sock_init_inet(struct sock *sk)
{
	sdp_sock_init(sdp_sk(sk));
	return 0;
}

/* inet_create() and inet6_create() call it if BPF refuses the socket. */
static void sock_unhash(struct sock *sk)
{
	sdp_sock_end(sdp_sk(sk));
}

/* SO_BINDTODEVICE has changed the device, which is a part of the port's key. */
static void sock_rehash(struct sock *sk)
{
	sdp_port_changed(sdp_sk(sk));
}

#define SDP_PROTO(title, object)				\
	.name			= (title),			\
	.owner			= THIS_MODULE,			\
	.init			= sock_init_inet,		\
	.unhash			= sock_unhash,			\
	.rehash			= sock_rehash,			\
	.keepalive		= sdp_keepalive_set,		\
	.stream_memory_free	= sock_memory_free,		\
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
 * sdp_sk_destruct() - free what a socket still has; it has no references left
 * @sk: socket
 *
 * This is sk_destruct of all our sockets and of no others, so it also tells
 * whether a sock is one of ours.
 */
void sdp_sk_destruct(struct sock *sk)
{
	struct sdp_sock *ssk = sdp_sk(sk);

	__skb_queue_purge(&ssk->tx_queue);
	__skb_queue_purge(&ssk->tx_blocks);
	__skb_queue_purge(&ssk->rdma_bufs);
	__skb_queue_purge(&sk->sk_receive_queue);
	__skb_queue_purge(&sk->sk_error_queue);
	WARN_ON_ONCE(ssk->link || ssk->orphan || ssk->ring || ssk->ring_next ||
		     ssk->rings_over);
	WARN_ON_ONCE(ssk->port || ssk->claim);
	WARN_ON_ONCE(!list_empty(&ssk->pending) || !list_empty(&ssk->accepted));
	sdp_memory_end(ssk);
	if (ssk->tcp_listener)
		sock_put(ssk->tcp_listener);
	/* Frees what others, such as netlabel, keep in an internet socket. */
	if (sk->sk_family != PF_SDP)
		inet_sock_destruct(sk);
}

/*
 * sk_timer has fired. For an orphan, it has made no progress for too long. Else
 * the time to connect, to complete a request or to wait for its first data is
 * over.
 */
static void sdp_sk_timer(struct timer_list *timer)
{
	struct sock *sk = timer_container_of(sk, timer, sk_timer);

	if (sock_flag(sk, SOCK_DEAD))
		sdp_orphan_timer(sdp_sk(sk));
	else
		sdp_active_expired(sdp_sk(sk));
	sock_put(sk);
}

static void sock_data_ready(struct sock *sk)
{
	sdp_wake(sdp_sk(sk), SDP_WAKE_READ);
}

static void sock_write_space(struct sock *sk)
{
	sdp_wake(sdp_sk(sk), SDP_WAKE_WRITE);
}

static void sock_state_change(struct sock *sk)
{
	sdp_wake(sdp_sk(sk), SDP_WAKE_STATE);
}

static void sock_error_report(struct sock *sk)
{
	sdp_wake(sdp_sk(sk), SDP_WAKE_ERROR);
}

/**
 * sdp_sock_alloc() - allocate a socket
 * @net: namespace
 * @family: PF_SDP, PF_INET or PF_INET6
 * @gfp: allocation flags
 * @kern: the socket belongs to the kernel and does not hold the namespace
 *
 * The caller calls sock_init_data() and sdp_sock_init() next.
 *
 * Return: the socket, with one reference, or NULL.
 */
struct sdp_sock *sdp_sock_alloc(struct net *net, int family, gfp_t gfp,
				bool kern)
{
	bool v6 = family == PF_INET6;
	struct sock *sk = sk_alloc(net, family, gfp,
				   v6 ? &sdp_v6_prot : &sdp_prot, kern);

#if IS_ENABLED(CONFIG_IPV6)
	if (sk && v6)
		inet_sk(sk)->pinet6 = &((struct sdp_v6_sock *)sk)->np;
#endif
	return (struct sdp_sock *)sk;
}

/**
 * sdp_sock_init() - initialize our part of a new socket, and list it
 * @ssk: socket, after sock_init_data()
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
	__skb_queue_head_init(&ssk->rdma_bufs);
	INIT_LIST_HEAD(&ssk->sinkavail_rx);
	spin_lock_init(&ssk->reports_lock);
	INIT_LIST_HEAD(&ssk->reports);
	INIT_LIST_HEAD(&ssk->queue_node);
	INIT_LIST_HEAD(&ssk->pending);
	INIT_LIST_HEAD(&ssk->accepted);
	INIT_DELAYED_WORK(&ssk->retry, sdp_active_retry);
	INIT_WORK(&ssk->ring_work, sdp_ring_work);
	sdp_wake_init(ssk);
	timer_setup(&ssk->timer, sdp_timer_run, 0);
	INIT_LIST_HEAD(&ssk->scan_node);
	sdp_keepalive_init(ssk);
	sdp_options_init(ssk);
	if (sk->sk_socket)
		sdp_socket_flags(sk->sk_socket);
	timer_setup(&sk->sk_timer, sdp_sk_timer, 0);
	ssk->v6 = sk->sk_family == PF_INET6;
	if (!ssk->v6)
		sdp_set_v4(&ssk->local, htonl(INADDR_ANY));
	sdp_set_v4(&ssk->peer, htonl(INADDR_ANY));

	/* Users in the kernel may replace these, as they do with TCP. */
	sk->sk_data_ready = sock_data_ready;
	sk->sk_write_space = sock_write_space;
	sk->sk_state_change = sock_state_change;
	sk->sk_error_report = sock_error_report;
	sk->sk_destruct = sdp_sk_destruct;
	sock_set_flag(sk, SOCK_RCU_FREE);
	sk_sockets_allocated_inc(sk);
	sdp_autotune_init(ssk);

	spin_lock_bh(&sn->lock);
	ssk->serial = ++sn->serial;
	hlist_add_head_rcu(&ssk->list_node, sdp_socks(sn, sk));
	ssk->listed = true;
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	spin_unlock_bh(&sn->lock);
}

/**
 * sdp_sock_end() - remove a socket from the list and release its port
 * @ssk: socket with neither an application nor a link; it is freed with its
 *	last reference
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
