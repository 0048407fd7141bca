/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of AF_SDP in a network namespace: settings, counters, sockets.
 *
 * The state is made and freed with its namespace. A socket holds a reference
 * on its namespace, so the state is valid as long as the socket exists.
 */
#ifndef SDP_BASE_NETNS_H
#define SDP_BASE_NETNS_H

#include <linux/hash.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "stats.h"
#include "../proto/wire.h"

/* Bytes of the setting rail_devices, NUL included. */
#define SDP_RAIL_DEVICES_LEN	256

/**
 * struct sdp_settings - net.sdp.*, documented in sdp-sysctl.rst
 * @recv_buffers: largest number of receives posted per connection
 * @idle_buffers: number of receives of a connection whose peer needs no more
 * @recv_buffer_size: bytes of a receive buffer, message header included
 * @recv_buffer_max: bytes of receive buffers after a resize; there is no
 *	resize unless this is more than 9/8 of @recv_buffer_size
 * @resize_after: number of writes that did not fit one message, after which we
 *	ask the peer for larger receive buffers
 * @resize_idle_ms: idle time after which the peer may have small receive
 *	buffers again, and after which we have few
 * @rdma_threshold: smallest write in bytes that goes by RDMA; 0: none does,
 *	-1: as measured for the device
 * @rdma_read: we read from a peer's memory by RDMA
 * @rails: most rails of a connection; 1 for a single one
 * @rail_wait_ms: how long a connection of several rails, all of which have
 *	failed, waits for one to join again
 * @rail_devices: names of the RDMA devices that further rails may use, with
 *	blanks in between; empty: all. Under a lock (sdp_rail_devices_set())
 * @invalidate: we use Send with Invalidate, and let the peer use it
 * @mode_after: number of consecutive large writes of one kind that change the
 *	mode of a direction; for instance, SrcAvails that the peer declines
 *	change it to Buffered
 * @reader_wait_ms: time that a large write waits for a SinkAvail in Pipelined
 *	mode; and for any reader, if its bytes have room in the send buffer
 * @scan_ms: period in which the scanner looks for SrcAvails without a reader
 * @scan_count: number of scans that find a SrcAvail unread before the scanner
 *	declines it
 * @flow_control: enum sdp_flow, for the direction that a socket sends
 * @service: enum sdp_service_kind, for connections that a socket opens
 * @datagram_window: packets that a peer may send beyond our acknowledgment, by
 *	datagrams
 * @ring_size: bytes that a ring grows to; less than 8192: no rings
 * @ring_window: with SDP_FLOW_NIC, the longest message, and the free bytes of
 *	the ring for each posted receive
 * @ring_flush: data that gathers while a ring is full is sent as soon as there
 *	is room; 0: only by the application's next call
 * @send_buffers: largest number of messages in flight per connection
 * @accept_buffers: number of receives posted for a child socket, and kept at
 *	least once it is accepted
 * @credit_threshold: we send a credit update when the peer has fewer credits
 *	than this, and the update grants at least as many more (D4); 0: half of
 *	@recv_buffers
 * @coalesce: small writes gather in one message, and small received messages in
 *	one buffer
 * @connect_timeout_ms: largest time for a connect
 * @fin_timeout_ms: largest time without progress for an orphan
 * @retry_count: retries of a lost packet
 * @rnr_retry_count: retries when the peer has no receive posted
 * @rmem_max: bytes up to which a receive buffer grows automatically
 * @wmem_max: bytes up to which a send buffer grows automatically
 * @reset_removed: connections end when their own address is removed
 *
 * Each number is read without a lock. sdp-sysctl.rst says when a change takes
 * effect.
 */
struct sdp_settings {
	unsigned int recv_buffers;
	unsigned int idle_buffers;
	unsigned int recv_buffer_size;
	unsigned int recv_buffer_max;
	unsigned int resize_after;
	unsigned int resize_idle_ms;
	int rdma_threshold;
	unsigned int rdma_read;
	unsigned int invalidate;
	unsigned int rails;
	unsigned int rail_wait_ms;
	char rail_devices[SDP_RAIL_DEVICES_LEN];
	unsigned int mode_after;
	unsigned int reader_wait_ms;
	unsigned int scan_ms;
	unsigned int scan_count;
	unsigned int flow_control;
	unsigned int service;
	unsigned int datagram_window;
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

/* Per namespace: 2^SDP_SOCKS_BITS lists of sockets, and the port buckets. */
#define SDP_SOCKS_BITS		8
#define SDP_PORT_BUCKETS	1024

/**
 * struct sdp_port_bucket - ports whose numbers share their low bits
 * @lock: covers @ports and the port fields of their sockets; no other lock is
 *	taken under it
 * @ports: ports that have a socket, see port.c
 */
struct sdp_port_bucket {
	spinlock_t lock;
	struct hlist_head ports;
};

/**
 * struct sdp_net - AF_SDP's state of one namespace
 * @settings: each is read without a lock
 * @mib: counters
 * @lock: covers changes of @socks, and @serial
 * @serial: sdp_sock.serial of the newest socket
 * @socks: lists of all sockets, walked under RCU (sock_iter.h). Many short
 *	lists let a dump that continues find its position fast
 * @ports: %SDP_PORT_BUCKETS buckets
 * @orphans: number of sockets with sdp_sock.orphan set
 * @sysctl: the registered table
 * @net: the namespace
 * @removed: removed addresses that @removed_work has not handled, see removed.c
 * @removed_work: ends the connections that have these addresses
 */
struct sdp_net {
	struct sdp_settings settings;
	struct sdp_mib __percpu *mib;
	spinlock_t lock;
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

/**
 * sdp_net() - AF_SDP's state of a namespace
 * @net: namespace
 *
 * Return: the state.
 */
static inline struct sdp_net *sdp_net(const struct net *net)
{
	return net_generic(net, sdp_net_id);
}

/**
 * sdp_socks() - the list that a socket belongs to
 * @sn: the socket's namespace
 * @sk: the socket
 *
 * Return: one of @sn->socks.
 */
static inline struct hlist_head *sdp_socks(struct sdp_net *sn,
					   const struct sock *sk)
{
	return &sn->socks[hash_ptr(sk, SDP_SOCKS_BITS)];
}

/**
 * sdp_count() - add to a counter
 * @net: namespace
 * @which: the counter
 * @n: number to add; negative for a gauge that falls
 *
 * Context: any, no lock needed.
 */
static inline void sdp_count(const struct net *net, enum sdp_stat which, long n)
{
	this_cpu_add(sdp_net(net)->mib->count[which], n);
}

/**
 * sdp_count_violation() - count a peer's violation of the protocol
 * @net: namespace
 * @what: the violation; %SDP_VALID counts nothing
 */
static inline void sdp_count_violation(const struct net *net,
				       enum sdp_violation what)
{
	BUILD_BUG_ON(SDP_STAT_BadKey - SDP_STAT_BadLen !=
		     SDP_BAD_KEY - SDP_BAD_LEN);
	if (what)
		sdp_count(net, SDP_STAT_BadLen + (what - SDP_BAD_LEN), 1);
}

/* Add 1, or @n, to the counter @name, without its prefix SDP_STAT_. */
#define SDP_INC(net, name)	sdp_count(net, SDP_STAT_##name, 1)
#define SDP_ADD(net, name, n)	sdp_count(net, SDP_STAT_##name, n)

/* stats.c */
const char *sdp_stat_name(enum sdp_stat which);
unsigned long sdp_stat_sum(const struct net *net, enum sdp_stat which);

/* netns.c */
void sdp_rail_devices_get(char *setting, char text[SDP_RAIL_DEVICES_LEN]);
void sdp_rail_devices_set(char *setting, const char *text);
bool sdp_rail_device_wanted(const struct net *net, const char *name);

/* netns.c: of all namespaces together */
extern long sdp_mem[3];
extern long sdp_mem_limits[3];
extern int sdp_max_orphans;
void sdp_mem_changed(void);

#endif /* SDP_BASE_NETNS_H */
