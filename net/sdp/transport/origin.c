// SPDX-License-Identifier: GPL-2.0
/*
 * Plausibility of the addresses in a connection request.
 *
 * A peer writes the addresses into its Hello, so they may be forged. The
 * transport knows the network interface that the request has arrived at. The
 * source and the destination address must be possible for a packet that arrives
 * at this interface. IP makes these checks for each packet, and rdma_cm for
 * each of its requests.
 *
 * Called in process context, before the request has a link.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/ip_fib.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <rdma/ib_verbs.h>

#include "origin.h"

/**
 * sdp_origin_net() - the namespace of the interface that a request came by
 * @ib: device
 * @ndev: interface
 *
 * An interface that is down may be moving to another namespace.
 *
 * Return: the namespace, with a reference; NULL if the interface is down, or
 * the device is not accessible from there.
 */
struct net *sdp_origin_net(struct ib_device *ib, struct net_device *ndev)
{
	struct net *net = NULL;

	rcu_read_lock();
	if (ndev->flags & IFF_UP)
		net = maybe_get_net(dev_net(ndev));
	rcu_read_unlock();
	if (net && !rdma_dev_access_netns(ib, net)) {
		put_net(net);
		net = NULL;
	}
	return net;
}

/* Is this an address that no packet between machines has at either end? */
static bool origin_never_sent(const struct sdp_endpoint *e)
{
	int type;

	if (sdp_is_v4(e))
		return ipv4_is_zeronet(sdp_v4(e)) ||
		       ipv4_is_loopback(sdp_v4(e)) ||
		       ipv4_is_multicast(sdp_v4(e)) ||
		       ipv4_is_lbcast(sdp_v4(e));
	type = ipv6_addr_type(&e->ip);
	return type == IPV6_ADDR_ANY ||
	       type & (IPV6_ADDR_LOOPBACK | IPV6_ADDR_MULTICAST);
}

/*
 * Does the destination address belong to this host, as seen from the interface
 * (its VRF)? A link-local address has to belong to the interface itself.
 */
static bool origin_is_ours(struct net *net, struct net_device *ndev,
			   const struct sdp_endpoint *local)
{
	if (sdp_is_v4(local))
		return inet_addr_type_dev_table(net, ndev, sdp_v4(local)) ==
		       RTN_LOCAL;
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_mod_enabled() && ipv6_chk_addr(net, &local->ip, ndev, 0);
#else
	return false;
#endif
}

/**
 * sdp_origin_possible() - can a packet with these addresses have arrived?
 * @ndev: interface that the request arrived at
 * @in: the request, with namespace and addresses
 *
 * Return: false if an address is forged.
 */
bool sdp_origin_possible(struct net_device *ndev, const struct sdp_incoming *in)
{
	return !origin_never_sent(&in->local) &&
	       !origin_never_sent(&in->peer) &&
	       origin_is_ours(in->net, ndev, &in->local);
}

static bool route_back_v4(struct net *net, struct net_device *ndev,
			  const struct sdp_incoming *in)
{
	struct flowi4 fl4 = {
		.flowi4_oif = ndev->ifindex,
		.daddr = sdp_v4(&in->peer), .saddr = sdp_v4(&in->local),
	};
	struct fib_result res;
	bool there;

	rcu_read_lock();
	there = !fib_lookup(net, &fl4, &res, 0) && FIB_RES_DEV(res) == ndev &&
		(res.type == RTN_UNICAST || res.type == RTN_LOCAL);
	rcu_read_unlock();
	return there;
}

#if IS_ENABLED(CONFIG_IPV6)
/*
 * The lookup allows @ndev only. Its result is not compared with @ndev, because
 * the route to an address of this host names lo.
 */
static bool route_back_v6(struct net *net, struct net_device *ndev,
			  const struct sdp_incoming *in)
{
	struct rt6_info *rt = rt6_lookup(net, &in->peer.ip, &in->local.ip,
					 ndev->ifindex, NULL, 1);

	if (!rt)
		return false;
	ip6_rt_put(rt);
	return true;
}
#else
static bool route_back_v6(struct net *net, struct net_device *ndev,
			  const struct sdp_incoming *in)
{
	return false;
}
#endif

/**
 * sdp_origin_reachable() - does a route lead back through the same interface?
 * @ndev: interface that the request arrived at
 * @in: the request as its Hello describes it, with namespace and addresses
 *
 * Return: true when one does.
 */
bool sdp_origin_reachable(struct net_device *ndev,
			  const struct sdp_incoming *in)
{
	return sdp_is_v4(&in->peer) ? route_back_v4(in->net, ndev, in) :
				      route_back_v6(in->net, ndev, in);
}
