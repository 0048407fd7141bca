// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: to which device does the route to an address lead? Asked without connecting:
 * the same steps that rdma_cm takes for a connect, but for those that ask the network.
 *
 * The route tells the network interface and the own address. That interface is a device's when
 * the device's table of GIDs has the address for it, or, on InfiniBand, the GID that is in the
 * interface's hardware address. The route to an own address leads to lo; then it is the
 * interface that has the address.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <rdma/ib_cache.h>

#include "rc.h"

/* Where the GID is in the hardware address of IP over InfiniBand. */
#define IPOIB_GID	4

/**
 * struct way - a route
 * @net: namespace
 * @ifindex: interface that it has to leave by, or 0
 * @dev: interface that it leaves by, with a reference
 * @local: own address on it; before the route is known, the one that it has to
 *	leave from, or any
 * @name: RDMA device, filled in when it is found
 */
struct way {
	struct net *net;
	int ifindex;
	struct net_device *dev;
	struct sdp_endpoint local;
	char *name;
};

/* Of the interface of a route, or of the one that has @own, an own address. */
static void take_dev(struct way *way, struct net_device *dev,
		     struct net_device *own)
{
	way->dev = dev->flags & IFF_LOOPBACK ? own : dev;
	if (way->dev)
		dev_hold(way->dev);
}

static bool route_v4(struct way *way, const struct sdp_endpoint *peer)
{
	struct flowi4 fl4 = {
		.daddr = sdp_v4(peer),
		.flowi4_oif = way->ifindex,
	};
	struct rtable *rt;

	if (sdp_is_v4(&way->local))
		fl4.saddr = sdp_v4(&way->local);
	rt = ip_route_output_key(way->net, &fl4);
	if (IS_ERR(rt))
		return false;
	rcu_read_lock();
	if (rt->rt_type == RTN_UNICAST || rt->rt_type == RTN_LOCAL)
		take_dev(way, rt->dst.dev,
			 __ip_dev_find(way->net, fl4.daddr, false));
	rcu_read_unlock();
	sdp_set_v4(&way->local, fl4.saddr);
	ip_rt_put(rt);
	return way->dev;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool route_v6(struct way *way, const struct sdp_endpoint *peer)
{
	struct flowi6 fl6 = {
		.daddr = peer->ip,
		.flowi6_oif = way->ifindex ?: peer->scope,
	};
	struct dst_entry *dst;

	if (!sdp_is_any(&way->local))
		fl6.saddr = way->local.ip;
	if (!ipv6_mod_enabled() || ipv6_addr_is_multicast(&peer->ip))
		return false;
	dst = ip6_dst_lookup_flow(way->net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return false;
	rcu_read_lock();
	take_dev(way, dst->dev, ipv6_dev_find(way->net, &fl6.daddr, NULL));
	rcu_read_unlock();
	way->local.ip = fl6.saddr;
	dst_release(dst);
	return way->dev;
}
#else
static bool route_v6(struct way *way, const struct sdp_endpoint *peer)
{
	return false;
}
#endif

static bool has_gid(struct ib_device *ib, u32 port, const void *gid,
		    enum ib_gid_type type, struct net_device *dev)
{
	const struct ib_gid_attr *attr =
		rdma_find_gid_by_port(ib, gid, type, port, dev);

	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

static bool port_serves(struct ib_device *ib, u32 port, const struct way *way)
{
	if (!rdma_cap_ib_cm(ib, port))
		return false;
	if (rdma_protocol_roce(ib, port))
		return has_gid(ib, port, &way->local.ip,
			       IB_GID_TYPE_ROCE_UDP_ENCAP, way->dev) ||
		       has_gid(ib, port, &way->local.ip, IB_GID_TYPE_ROCE,
			       way->dev);
	return way->dev->type == ARPHRD_INFINIBAND &&
	       has_gid(ib, port, way->dev->dev_addr + IPOIB_GID, IB_GID_TYPE_IB,
		       NULL);
}

static bool serves(struct ib_device *ib, void *arg)
{
	const struct way *way = arg;
	u32 port;

	if (!rdma_dev_access_netns(ib, way->net))
		return false;
	rdma_for_each_port(ib, port) {
		if (!port_serves(ib, port, way))
			continue;
		strscpy(way->name, dev_name(&ib->dev), SDP_DEVICE_NAME);
		return true;
	}
	return false;
}

static bool find_route(struct way *way, const struct sdp_endpoint *peer)
{
	return sdp_is_v4(peer) ? route_v4(way, peer) : route_v6(way, peer);
}

/**
 * sdp_rc_device() - the device that the route to an address leads to now
 * @net: namespace
 * @peer: the address
 * @name: filled in: the device's name
 *
 * Does not wait for the network.
 *
 * Return: false when there is no route, or no RDMA device there.
 */
bool sdp_rc_device(struct net *net, const struct sdp_endpoint *peer,
		   char name[SDP_DEVICE_NAME])
{
	struct way way = { .net = net, .name = name };
	bool found;

	if (!find_route(&way, peer))
		return false;
	found = rc_device_any(serves, &way);
	dev_put(way.dev);
	return found;
}

/**
 * sdp_rc_may_lead() - could a connect find a route, and an RDMA device there?
 * @net: namespace
 * @local: where it has to come from, or any address
 * @peer: where to
 * @ifindex: interface that it has to leave by, or 0
 *
 * Waits neither for the network nor for a device that comes or goes.
 *
 * Return: false when it is certain that a connect now would find none.
 */
bool sdp_rc_may_lead(struct net *net, const struct sdp_endpoint *local,
		     const struct sdp_endpoint *peer, int ifindex)
{
	char name[SDP_DEVICE_NAME];
	struct way way = {
		.net = net,
		.ifindex = ifindex,
		.local = *local,
		.name = name,
	};
	bool found;

	if (!find_route(&way, peer))
		return false;
	found = rc_device_any_now(serves, &way);
	dev_put(way.dev);
	return found;
}
