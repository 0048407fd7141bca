/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What AF_SDP keeps per network namespace: settings, counters, the list of sockets.
 */
#ifndef SDP_NET_H
#define SDP_NET_H

#include <linux/hash.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "../proto/wire.h"
#include "stats.h"

/**
 * struct sdp_settings - net.sdp.*, documented in sdp-sysctl.rst
 * @recv_buffers: receives posted per connection
 * @recv_buffer_size: bytes of each, header included
 * @recv_buffer_max: what they may grow to by a resize; little more than @recv_buffer_size: fixed
 * @resize_after: sends that had to be split before the peer is asked for larger ones
 * @resize_idle_ms: rest after which they may be small again
 * @rdma_threshold: writes from here on are offered for RDMA, 0 for none, -1 for what is measured
 *	of the device
 * @rdma_read: RDMA may be used to read from peers
 * @invalidate: Send with Invalidate is used, and the peer may use it
 * @mode_after: offers declined in a row after which a peer gets all in messages
 * @reader_wait_ms: how long a large write waits for the memory of a reader
 *	that has come first so far
 * @scan_ms: how often it is looked whether an offer waits for a reader
 * @scan_count: after so many looks without a reader, messages are asked for
 * @flow_control: enum sdp_flow, for what a socket sends
 * @ring_size: bytes that a ring grows to; 0: rings are not known
 * @ring_window: what one receive stands for with SDP_FLOW_NIC
 * @ring_flush: what gathers while a ring is full leaves without another call of the program
 * @send_buffers: messages in flight per connection
 * @accept_buffers: receives posted before accept
 * @credit_threshold: T of the credit accounting, 0 for half of @recv_buffers
 * @coalesce: small writes gather in one message, and small messages in one buffer
 * @connect_timeout_ms: how long a connect may take
 * @fin_timeout_ms: how long a closed socket may wait for its peer without progress
 * @retry_count: retries of a lost packet
 * @rnr_retry_count: retries when the peer has posted nothing
 * @rmem_max: bytes up to which a receive buffer grows by itself
 * @wmem_max: bytes up to which a send buffer does
 * @reset_removed: connections end with the address that they have here
 */
struct sdp_settings {
	unsigned int recv_buffers;
	unsigned int recv_buffer_size;
	unsigned int recv_buffer_max;
	unsigned int resize_after;
	unsigned int resize_idle_ms;
	int rdma_threshold;
	unsigned int rdma_read;
	unsigned int invalidate;
	unsigned int mode_after;
	unsigned int reader_wait_ms;
	unsigned int scan_ms;
	unsigned int scan_count;
	unsigned int flow_control;
	unsigned int ring_size;
	unsigned int ring_window;
	unsigned int ring_flush;
	unsigned int send_buffers;
	unsigned int accept_buffers;
	unsigned int credit_threshold;
	unsigned int coalesce;
	unsigned int connect_timeout_ms;
	unsigned int fin_timeout_ms;
	unsigned int retry_count;
	unsigned int rnr_retry_count;
	unsigned int rmem_max;
	unsigned int wmem_max;
	unsigned int reset_removed;
};

#define SDP_SOCKS_BITS		8
#define SDP_PORT_BUCKETS	1024

/**
 * struct sdp_port_bucket - ports of a namespace, by a part of their numbers
 * @lock: a leaf
 * @ports: see port.c
 */
struct sdp_port_bucket {
	spinlock_t lock; /* @ports */
	struct hlist_head ports;
};

/**
 * struct sdp_net - one namespace
 * @settings: read without a lock, each number by itself
 * @mib: counters
 * @lock: covers changes of @socks, and @serial
 * @serial: of the youngest socket
 * @socks: all sockets, walked under RCU (sock_iter.h); many lists, each so short that who reads them
 *	in pieces soon finds its place again
 * @ports: SDP_PORT_BUCKETS of them
 * @orphans: sockets with sdp_sock.orphan set
 * @sysctl: the registered table
 * @net: the namespace
 * @removed: addresses that have been removed, see removed.c
 * @removed_work: takes them
 */
struct sdp_net {
	struct sdp_settings settings;
	struct sdp_mib __percpu *mib;
	spinlock_t lock; /* changes of @socks, and @serial */
	u64 serial;
	struct hlist_head socks[1 << SDP_SOCKS_BITS];
	struct sdp_port_bucket *ports;
	atomic_t orphans;
	struct ctl_table_header *sysctl;
	struct net *net;
	struct llist_head removed;
	struct work_struct removed_work;
};

extern unsigned int sdp_net_id;

static inline struct sdp_net *sdp_net(const struct net *net)
{
	return net_generic(net, sdp_net_id);
}

/* The list that a socket belongs to. */
static inline struct hlist_head *sdp_socks(struct sdp_net *sn,
					   const struct sock *sk)
{
	return &sn->socks[hash_ptr(sk, SDP_SOCKS_BITS)];
}

static inline void sdp_count(const struct net *net, enum sdp_stat which, long n)
{
	this_cpu_add(sdp_net(net)->mib->count[which], n);
}

static inline void sdp_count_violation(const struct net *net,
				       enum sdp_violation what)
{
	BUILD_BUG_ON(SDP_STAT_BadKey - SDP_STAT_BadLen !=
		     SDP_BAD_KEY - SDP_BAD_LEN);
	if (what)
		sdp_count(net, SDP_STAT_BadLen + (what - SDP_BAD_LEN), 1);
}

#define SDP_INC(net, name)	sdp_count(net, SDP_STAT_##name, 1)
#define SDP_ADD(net, name, n)	sdp_count(net, SDP_STAT_##name, n)

/* stats.c */
const char *sdp_stat_name(enum sdp_stat which);
unsigned long sdp_stat_sum(const struct net *net, enum sdp_stat which);

/* removed.c */
void sdp_removed_net_init(struct net *net, struct sdp_net *sn);
void sdp_removed_net_exit(struct sdp_net *sn);
int sdp_removed_init(void);
void sdp_removed_exit(void);

int sdp_net_init(void);
void sdp_net_exit(void);

extern long sdp_mem[3];
extern long sdp_mem_limits[3];
extern int sdp_max_orphans;
extern int sdp_unprivileged_rewrite;
void sdp_mem_changed(void);
int sdp_sysctl_init(void);
void sdp_sysctl_exit(void);
int sdp_sysctl_register(struct net *net, struct sdp_net *sn);
void sdp_sysctl_unregister(struct sdp_net *sn);
int sdp_proc_register(struct net *net);
void sdp_proc_unregister(struct net *net);

#endif /* SDP_NET_H */
