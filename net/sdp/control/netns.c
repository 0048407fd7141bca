// SPDX-License-Identifier: GPL-2.0
/*
 * Life of the per-namespace state: made and freed with its namespace.
 *
 * A socket holds a reference on its namespace, so no socket is left when the
 * state is freed.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <uapi/linux/sdp.h>

#include "netns.h"
#include "../proto/datagram.h"
#include "../transport/buf.h"

static const struct sdp_settings net_defaults = {
	.recv_buffers		= 12,
	.idle_buffers		= 3,
	.recv_buffer_size	= 1536,
	.recv_buffer_max	= SDP_BUF_MAX,
	.resize_after		= 3,
	.resize_idle_ms		= 10000,
	.rdma_threshold		= 65536,
	.rdma_read		= 1,
	.invalidate		= 1,
	.rails			= 1,
	.mode_after		= 3,
	.reader_wait_ms		= 8,
	.scan_ms		= 100,
	.scan_count		= 2,
	.flow_control		= SDP_FLOW_CREDIT,
	.service		= SDP_SERVICE_RC,
	.datagram_window	= SDP_WINDOW_ACCEPTING,
	.ring_size		= 65536,
	.ring_window		= 4096,
	.ring_flush		= 1,
	.send_buffers		= 12,
	.accept_buffers		= 3,
	.credit_threshold	= 0,
	.coalesce		= 1,
	.connect_timeout_ms	= 30 * 1000,
	.fin_timeout_ms		= 60 * 1000,
	.retry_count		= 7,
	.rnr_retry_count	= 3,
	/* The defaults of tcp_rmem and tcp_wmem. */
	.rmem_max		= 6 << 20,
	.wmem_max		= 4 << 20,
	.reset_removed		= 0,
};

static int make_ports(struct sdp_net *sn)
{
	int i;

	sn->ports = kvcalloc(SDP_PORT_BUCKETS, sizeof(*sn->ports), GFP_KERNEL);
	if (!sn->ports)
		return -ENOMEM;
	for (i = 0; i < SDP_PORT_BUCKETS; i++)
		spin_lock_init(&sn->ports[i].lock);
	return 0;
}

static void free_ports(struct sdp_net *sn)
{
	int i;

	for (i = 0; i < SDP_PORT_BUCKETS; i++)
		WARN_ON_ONCE(!hlist_empty(&sn->ports[i].ports));
	kvfree(sn->ports);
}

static int __net_init sdp_net_init_one(struct net *net)
{
	struct sdp_net *sn = sdp_net(net);
	int err;

	sn->settings = net_defaults;
	spin_lock_init(&sn->lock);
	sdp_removed_net_init(net, sn);
	sn->mib = alloc_percpu(struct sdp_mib);
	if (!sn->mib)
		return -ENOMEM;
	err = make_ports(sn);
	if (err)
		goto free_mib;
	err = sdp_sysctl_register(net, sn);
	if (err)
		goto free_ports;
	err = sdp_proc_register(net);
	if (err)
		goto unregister_sysctl;
	return 0;

unregister_sysctl:
	sdp_sysctl_unregister(sn);
free_ports:
	free_ports(sn);
free_mib:
	free_percpu(sn->mib);
	return err;
}

static void __net_exit sdp_net_exit_one(struct net *net)
{
	struct sdp_net *sn = sdp_net(net);
	int i;

	sdp_proc_unregister(net);
	sdp_sysctl_unregister(sn);
	sdp_removed_net_exit(sn);
	for (i = 0; i < ARRAY_SIZE(sn->socks); i++)
		WARN_ON_ONCE(!hlist_empty(&sn->socks[i]));
	WARN_ON_ONCE(atomic_read(&sn->orphans));
	free_ports(sn);
	free_percpu(sn->mib);
}

static struct pernet_operations sdp_net_ops = {
	.init	= sdp_net_init_one,
	.exit	= sdp_net_exit_one,
	.id	= &sdp_net_id,
	.size	= sizeof(struct sdp_net),
};

/**
 * sdp_net_init() - make the state of all namespaces, present and future
 *
 * Return: 0 or an errno.
 */
int sdp_net_init(void)
{
	int err = register_pernet_subsys(&sdp_net_ops);

	if (err)
		return err;
	err = sdp_removed_init();
	if (err)
		goto unregister;
	err = sdp_sysctl_init();
	if (err)
		goto removed;
	return 0;

removed:
	sdp_removed_exit();
unregister:
	unregister_pernet_subsys(&sdp_net_ops);
	return err;
}

/**
 * sdp_net_exit() - free the state of all namespaces
 *
 * Called when there are no sockets any more.
 */
void sdp_net_exit(void)
{
	sdp_sysctl_exit();
	sdp_removed_exit();
	unregister_pernet_subsys(&sdp_net_ops);
}
