// SPDX-License-Identifier: GPL-2.0
/*
 * Own addresses that are removed, as by a fail-over that gives them to another
 * host: with net.sdp.reset_removed the connections that have them end.
 *
 * The kernel tells of them under its own locks, and of IPv6 where nothing may
 * sleep; so an address is only noted there, and a work item, one for each
 * namespace, looks for its connections.
 */
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>

#include "netlink_kill.h"
#include "sock_iter.h"

/* Not the kernel's own: with many sockets the search takes long. */
static struct workqueue_struct *removed_wq;

/**
 * struct removed - an address
 * @node: in sdp_net.removed
 * @end: the address; its port says nothing
 */
struct removed {
	struct llist_node node;
	struct sdp_endpoint end;
};

/* Another interface may have it, or it has been put back since. */
static void end_connections(struct net *net, const struct sdp_endpoint *e)
{
	if (!sdp_addr_is_ours(net, e))
		SDP_ADD(net, AddressRemoved, sdp_kill_address(net, e));
}

static void removed_work(struct work_struct *work)
{
	struct sdp_net *sn = container_of(work, struct sdp_net, removed_work);
	struct removed *r, *next;

	llist_for_each_entry_safe(r, next, llist_del_all(&sn->removed), node) {
		end_connections(sn->net, &r->end);
		kfree(r);
		cond_resched();
	}
}

/*
 * Any context. Without memory for the note the connections stay, as they do
 * without the setting.
 */
static void note_removed(struct net *net, const struct sdp_endpoint *e)
{
	struct sdp_net *sn = sdp_net(net);
	struct removed *r;

	if (!READ_ONCE(sn->settings.reset_removed) || sdp_is_loopback(e))
		return;
	r = kmalloc(sizeof(*r), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!r) {
		SDP_INC(net, NoMemory);
		return;
	}
	r->end = *e;
	llist_add(&r->node, &sn->removed);
	queue_work(removed_wq, &sn->removed_work);
}

static int inet_event(struct notifier_block *nb, unsigned long event,
		      void *data)
{
	const struct in_ifaddr *ifa = data;
	struct sdp_endpoint e = { };

	if (event != NETDEV_DOWN)
		return NOTIFY_DONE;
	sdp_set_v4(&e, ifa->ifa_local);
	note_removed(dev_net(ifa->ifa_dev->dev), &e);
	return NOTIFY_DONE;
}

static int inet6_event(struct notifier_block *nb, unsigned long event,
		       void *data)
{
	const struct inet6_ifaddr *ifa = data;
	const struct net_device *dev = ifa->idev->dev;
	struct sdp_endpoint e = { .ip = ifa->addr };

	if (event != NETDEV_DOWN)
		return NOTIFY_DONE;
	if (ipv6_addr_type(&e.ip) & IPV6_ADDR_LINKLOCAL)
		e.scope = dev->ifindex;
	note_removed(dev_net(dev), &e);
	return NOTIFY_DONE;
}

static struct notifier_block inet_block = {
	.notifier_call = inet_event,
};

static struct notifier_block inet6_block = {
	.notifier_call = inet6_event,
};

/**
 * sdp_removed_net_init() - a namespace begins
 * @net: namespace
 * @sn: its state
 */
void sdp_removed_net_init(struct net *net, struct sdp_net *sn)
{
	sn->net = net;
	init_llist_head(&sn->removed);
	INIT_WORK(&sn->removed_work, removed_work);
}

/**
 * sdp_removed_net_exit() - a namespace, or the module, ends
 * @sn: state of the namespace, whose addresses nobody tells of any more: its
 *	interfaces have gone before, or sdp_removed_exit() has been called
 */
void sdp_removed_net_exit(struct sdp_net *sn)
{
	struct removed *r, *next;

	cancel_work_sync(&sn->removed_work);
	llist_for_each_entry_safe(r, next, llist_del_all(&sn->removed), node)
		kfree(r);
}

/**
 * sdp_removed_init() - hear of addresses that are removed
 *
 * Return: 0 or an errno.
 */
int sdp_removed_init(void)
{
	int err;

	removed_wq = alloc_workqueue("sdp_removed", WQ_UNBOUND, 0);
	if (!removed_wq)
		return -ENOMEM;
	err = register_inetaddr_notifier(&inet_block);
	if (err)
		goto workqueue;
	err = register_inet6addr_notifier(&inet6_block);
	if (err)
		goto inet;
	return 0;

inet:
	unregister_inetaddr_notifier(&inet_block);
workqueue:
	destroy_workqueue(removed_wq);
	return err;
}

/**
 * sdp_removed_exit() - undo sdp_removed_init()
 *
 * What has been noted before is looked into here; there are no sockets.
 */
void sdp_removed_exit(void)
{
	unregister_inet6addr_notifier(&inet6_block);
	unregister_inetaddr_notifier(&inet_block);
	destroy_workqueue(removed_wq);
}
