// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: whether an interface carries packets.
 *
 * soft-RoCE ends its queue pair for MADs, for good, when the stack drops one.
 * So nothing that could wait is sent by an interface that is about to come up.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>

#include "rc.h"

/**
 * rc_carries() - does an interface carry packets?
 * @dev: the interface
 *
 * Return: true when it does.
 */
bool rc_carries(const struct net_device *dev)
{
	return netif_carrier_ok(dev) && netif_oper_up(dev);
}

/**
 * rc_route_carries() - does the interface of an address of ours carry packets?
 * @net: namespace
 * @local: the address
 *
 * Return: true when it does.
 */
bool rc_route_carries(struct net *net, const struct sdp_endpoint *local)
{
	struct net_device *dev = NULL;
	bool up;

	rcu_read_lock();
	if (sdp_is_v4(local))
		dev = __ip_dev_find(net, sdp_v4(local), false);
#if IS_ENABLED(CONFIG_IPV6)
	else if (ipv6_mod_enabled())
		dev = ipv6_dev_find(net, &local->ip, NULL);
#endif
	up = dev && rc_carries(dev);
	rcu_read_unlock();
	return up;
}
