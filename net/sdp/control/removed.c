// SPDX-License-Identifier: GPL-2.0
/*
 * Ends connections whose own address is removed from this host.
 *
 * This happens with net.sdp.reset_removed only. A typical removal is a
 * fail-over that moves an address to another host. The kernel calls the address
 * notifiers under its own locks, and the one for IPv6 in atomic context. So the
 * notifiers only add the address to a list, and a work item of the namespace
 * searches the connections.
 */
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>

#include "../conn/addr.h"
#include "netlink_kill.h"
#include "netns.h"
#include "sock_iter.h"

/* Not a system workqueue: with many sockets the search takes long. */
static struct workqueue_struct *removed_wq;

/**
 * struct removed - an address that has been removed
 * @node: node in sdp_net.removed
 * @end: the address; its port is 0
 */
struct removed {
	struct llist_node node;
	struct sdp_endpoint end;
};

/*
 * Called by the work item. The connections stay if another interface has the
 * address, or if the address has been added again.
 */
static void removed_end_connections(struct net *net,
				    const struct sdp_endpoint *e)
{
	if (!sdp_addr_is_ours(net, e))
		SDP_ADD(net, AddressRemoved, sdp_kill_address(net, e));
}

static void removed_work(struct work_struct *work)
{
	struct sdp_net *sn = container_of(work, struct sdp_net, removed_work);
	struct removed *r, *next;

	llist_for_each_entry_safe(r, next, llist_del_all(&sn->removed), node) {
		removed_end_connections(sn->net, &r->end);
		kfree(r);
		cond_resched();
	}
}

/*
 * Note a removed address for the work item. Any context. If memory is short,
 * the connections stay, as they do without the setting.
 */
static void removed_note(struct net *net, const struct sdp_endpoint *e)
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

static int removed_inet_event(struct notifier_block *nb, unsigned long event,
			      void *data)
{
	const struct in_ifaddr *ifa = data;
	struct sdp_endpoint e = { };

	if (event != NETDEV_DOWN)
		return NOTIFY_DONE;
	sdp_set_v4(&e, ifa->ifa_local);
	removed_note(dev_net(ifa->ifa_dev->dev), &e);
	return NOTIFY_DONE;
}

static int removed_inet6_event(struct notifier_block *nb, unsigned long event,
			       void *data)
{
	const struct inet6_ifaddr *ifa = data;
	const struct net_device *dev = ifa->idev->dev;
	struct sdp_endpoint e = { .ip = ifa->addr };

	if (event != NETDEV_DOWN)
		return NOTIFY_DONE;
	if (ipv6_addr_type(&e.ip) & IPV6_ADDR_LINKLOCAL)
		e.scope = dev->ifindex;
	removed_note(dev_net(dev), &e);
	return NOTIFY_DONE;
}

static struct notifier_block removed_inet_nb = {
	.notifier_call = removed_inet_event,
};

static struct notifier_block removed_inet6_nb = {
	.notifier_call = removed_inet6_event,
};

/**
 * sdp_removed_net_init() - initialize the list of removed addresses
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
 * sdp_removed_net_exit() - undo sdp_removed_net_init()
 * @sn: state of a namespace whose addresses are not reported any more: its
 *	interfaces are gone, or sdp_removed_exit() has been called
 *
 * May sleep.
 */
void sdp_removed_net_exit(struct sdp_net *sn)
{
	struct removed *r, *next;

	cancel_work_sync(&sn->removed_work);
	llist_for_each_entry_safe(r, next, llist_del_all(&sn->removed), node)
		kfree(r);
}

/**
 * sdp_removed_init() - register for the removal of addresses
 *
 * Return: 0 or an errno.
 */
int sdp_removed_init(void)
{
	int err;

	removed_wq = alloc_workqueue("sdp_removed", WQ_UNBOUND, 0);
	if (!removed_wq)
		return -ENOMEM;
	err = register_inetaddr_notifier(&removed_inet_nb);
	if (err)
		goto workqueue;
	err = register_inet6addr_notifier(&removed_inet6_nb);
	if (err)
		goto inet;
	return 0;

inet:
	unregister_inetaddr_notifier(&removed_inet_nb);
workqueue:
	destroy_workqueue(removed_wq);
	return err;
}

/**
 * sdp_removed_exit() - undo sdp_removed_init()
 *
 * Called when there are no sockets any more. The work items that are queued run
 * here.
 */
void sdp_removed_exit(void)
{
	unregister_inet6addr_notifier(&removed_inet6_nb);
	unregister_inetaddr_notifier(&removed_inet_nb);
	destroy_workqueue(removed_wq);
}
