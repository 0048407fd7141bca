// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: the RDMA device that the route to an address leads to.
 *
 * The policy asks (by way of conn/active.c) before it tries to connect by SDP,
 * and for SDP_CMD_POLICY_EXPLAIN, which does not connect. The steps are those
 * of rdma_cm for a connect, without the ones that wait for the network.
 *
 * The route gives the network interface and the local address. A RoCE port
 * serves the interface if its GID table has the local address for this
 * interface; an InfiniBand port does if its table has the GID that is part of
 * the interface's hardware address; an iWARP port if the hardware address is
 * its GID. The route to an address of this host leads
 * to lo; then the interface that has the address counts.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <rdma/ib_cache.h>

#include "../../base/netns.h"
#include "rc.h"

/* Offset of the GID in the hardware address of an IPoIB interface. */
#define IPOIB_GID	4

/**
 * struct way - a route from this host
 * @net: namespace
 * @ifindex: interface that the route must leave by, or 0
 * @dev: interface that it leaves by, with a reference
 * @local: required source address, or a wildcard; once the route is known, its
 *	source address
 * @name: name of the RDMA device, written when it is found
 */
struct way {
	struct net *net;
	int ifindex;
	struct net_device *dev;
	struct sdp_endpoint local;
	char *name;
};

/*
 * Take a reference on the interface of a route: @dev, or, if that is lo, @own,
 * the interface that has the destination address. Under rcu_read_lock().
 */
static void route_take_dev(struct way *way, struct net_device *dev,
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
		route_take_dev(way, rt->dst.dev,
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
	route_take_dev(way, dst->dev,
		       ipv6_dev_find(way->net, &fl6.daddr, NULL));
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

/* Has the port's GID table this GID, of this type, for @dev (NULL: any)? */
static bool rc_has_gid(struct ib_device *ib, u32 port, const void *gid,
		       enum ib_gid_type type, struct net_device *dev)
{
	const struct ib_gid_attr *attr =
		rdma_find_gid_by_port(ib, gid, type, port, dev);

	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/* Does the port serve the route? See the head of this file. */
static bool route_port_serves(struct ib_device *ib, u32 port,
			      const struct way *way)
{
	if (rc_iw_used(ib, port))
		return rc_iw_reaches(ib, way->net) &&
		       rc_iw_serves(ib, port, way->dev);
	if (!rdma_cap_ib_cm(ib, port))
		return false;
	if (rdma_protocol_roce(ib, port))
		return rc_has_gid(ib, port, &way->local.ip,
				  IB_GID_TYPE_ROCE_UDP_ENCAP, way->dev) ||
		       rc_has_gid(ib, port, &way->local.ip, IB_GID_TYPE_ROCE,
				  way->dev);
	return way->dev->type == ARPHRD_INFINIBAND &&
	       rc_has_gid(ib, port, way->dev->dev_addr + IPOIB_GID,
			  IB_GID_TYPE_IB, NULL);
}

/* For rc_device_any(): does a device serve the route @arg? Notes its name. */
static bool route_device_serves(struct ib_device *ib, void *arg)
{
	const struct way *way = arg;
	u32 port;

	if (!rdma_dev_access_netns(ib, way->net))
		return false;
	rdma_for_each_port(ib, port) {
		if (!route_port_serves(ib, port, way))
			continue;
		strscpy(way->name, dev_name(&ib->dev), SDP_DEVICE_NAME);
		return true;
	}
	return false;
}

/* The same for an address at which rails may join: not over iWARP. */
static bool route_device_joins(struct ib_device *ib, void *arg)
{
	return rdma_cap_ib_cm(ib, rdma_start_port(ib)) &&
	       route_device_serves(ib, arg);
}

/* Find the route to @peer. Returns true with a reference on its interface. */
static bool route_find(struct way *way, const struct sdp_endpoint *peer)
{
	return sdp_is_v4(peer) ? route_v4(way, peer) : route_v6(way, peer);
}

/**
 * sdp_rc_device() - find the RDMA device that the route to an address leads to
 * @net: namespace
 * @peer: destination address
 * @name: filled in: the device's name
 *
 * May sleep, but does not wait for the network.
 *
 * Return: false when there is no route, or no RDMA device serves its interface.
 */
bool sdp_rc_device(struct net *net, const struct sdp_endpoint *peer,
		   char name[SDP_DEVICE_NAME])
{
	struct way way = { .net = net, .name = name };
	bool found;

	if (!route_find(&way, peer))
		return false;
	found = rc_device_any(route_device_serves, &way);
	dev_put(way.dev);
	return found;
}

/**
 * sdp_rc_may_lead() - could a connect find a route and an RDMA device?
 * @net: namespace
 * @local: required source address, or a wildcard
 * @peer: destination address
 * @ifindex: interface that the route must leave by, or 0
 *
 * Waits neither for the network nor for a device that is being added or
 * removed.
 *
 * Return: false when a connect now would certainly find no route or no device.
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

	if (!route_find(&way, peer))
		return false;
	found = rc_device_any_now(route_device_serves, &way);
	dev_put(way.dev);
	return found;
}

/* Candidates for sdp_rc_addresses(). */
struct candidates {
	struct sdp_rc_address *list;
	u32 n;
	u32 most;
};

static void candidate_add(struct candidates *c, const struct in6_addr *ip,
			  const struct net_device *dev)
{
	if (c->n == c->most)
		return;
	c->list[c->n].ip = *ip;
	c->list[c->n++].ifindex = dev->ifindex;
}

static void candidates_v4(struct candidates *c, struct net_device *dev)
{
	const struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;
	struct in6_addr ip;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		ipv6_addr_set_v4mapped(ifa->ifa_local, &ip);
		candidate_add(c, &ip, dev);
	}
}

#if IS_ENABLED(CONFIG_IPV6)
static void candidates_v6(struct candidates *c, struct net_device *dev)
{
	struct inet6_dev *in6_dev = __in6_dev_get(dev);
	const struct inet6_ifaddr *ifa;

	if (!in6_dev)
		return;
	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifa, &in6_dev->addr_list, if_list) {
		if (!(ifa->flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) &&
		    !(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL))
			candidate_add(c, &ifa->addr, dev);
	}
	read_unlock_bh(&in6_dev->lock);
}
#else
static void candidates_v6(struct candidates *c, struct net_device *dev)
{
}
#endif

/* Does an RDMA device serve this address of ours that rails may use? */
static bool address_served(struct net *net, const struct sdp_rc_address *a)
{
	char name[SDP_DEVICE_NAME];
	struct way way = { .net = net, .local.ip = a->ip, .name = name };
	bool served;

	way.dev = dev_get_by_index(net, a->ifindex);
	if (!way.dev)
		return false;
	served = rc_device_any(route_device_joins, &way) &&
		 sdp_rail_device_wanted(net, name);
	dev_put(way.dev);
	return served;
}

/**
 * sdp_rc_addresses() - addresses of this host at which rails may join
 * @net: namespace
 * @list: filled in
 * @n: number of entries of @list
 *
 * May sleep. Link-local addresses are left out, and interfaces that carry no
 * packets.
 *
 * Return: number of addresses.
 */
u32 sdp_rc_addresses(struct net *net, struct sdp_rc_address *list, u32 n)
{
	struct candidates c = { .list = list, .most = n };
	struct net_device *dev;
	u32 i, served = 0;

	rcu_read_lock();
	for_each_netdev_rcu(net, dev) {
		if (!rc_carries(dev) || dev->flags & IFF_LOOPBACK)
			continue;
		candidates_v4(&c, dev);
		candidates_v6(&c, dev);
	}
	rcu_read_unlock();
	for (i = 0; i < c.n; i++) {
		if (address_served(net, &list[i]))
			list[served++] = list[i];
	}
	return served;
}

/**
 * sdp_rc_leads_by() - does a route leave by a certain interface?
 * @net: namespace
 * @local: source address
 * @peer: destination address
 * @ifindex: the interface
 *
 * Return: true when the route from @local to @peer does.
 */
bool sdp_rc_leads_by(struct net *net, const struct sdp_endpoint *local,
		     const struct sdp_endpoint *peer, int ifindex)
{
	struct way way = { .net = net, .local = *local };
	bool leads;

	if (!route_find(&way, peer))
		return false;
	leads = way.dev->ifindex == ifindex && rc_carries(way.dev);
	dev_put(way.dev);
	return leads;
}
