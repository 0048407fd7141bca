// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: checks of the addresses in a connection request.
 *
 * The peer writes the REQ and the Hello in it, so both may be forged. The
 * adapter vouches for the port, the GID and the partition that the REQ arrived
 * at. They determine the network interface, and the interface determines the
 * namespace. The source and the destination address must then be possible for
 * a packet that arrives at this interface. IP makes these checks for each
 * packet, and rdma_cm for each REQ.
 *
 * cm_accept.c calls these functions from the CM handler of a listener, before
 * the request has a link.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/ip_fib.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "rc.h"

static struct net_device *
origin_roce_dev(const struct ib_cm_req_event_param *req)
{
	struct net_device *ndev = NULL;

	if (!req->ppath_sgid_attr)
		return NULL;
	rcu_read_lock();
	ndev = rcu_dereference(req->ppath_sgid_attr->ndev);
	if (ndev)
		dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

/*
 * Return the IPoIB interface with the GID and partition of the request, with a
 * reference. Child interfaces share the GID of their parent; among them, the
 * one with the destination address is taken.
 */
static struct net_device *
origin_ipoib_dev(const struct ib_cm_req_event_param *req, struct ib_device *ib,
		 const struct sdp_endpoint *local)
{
	const struct sa_path_rec *path = req->primary_path;
	struct sockaddr_storage to;

	rc_to_sockaddr(&to, local);
	return ib_get_net_dev_by_params(ib, req->port, be16_to_cpu(path->pkey),
					&path->sgid, (struct sockaddr *)&to);
}

/**
 * rc_origin_dev() - the network interface that a request arrived at
 * @req: the request
 * @ib: device
 * @local: destination address that the request names
 *
 * Return: the interface, with a reference, or NULL.
 */
struct net_device *rc_origin_dev(const struct ib_cm_req_event_param *req,
				 struct ib_device *ib,
				 const struct sdp_endpoint *local)
{
	if (rdma_protocol_roce(ib, req->port))
		return origin_roce_dev(req);
	return origin_ipoib_dev(req, ib, local);
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

/*
 * On RoCE a GID is an IP address. ppath_sgid_attr has the port's own GID, which
 * the request arrived at; the GIDs of the path are what the REQ says. All of
 * them must match the addresses of the Hello.
 */
static bool origin_gids_match(const struct ib_cm_req_event_param *req,
			      const struct sdp_endpoint *local,
			      const struct sdp_endpoint *peer)
{
	return !memcmp(&local->ip, req->ppath_sgid_attr->gid.raw, 16) &&
	       !memcmp(&local->ip, req->primary_path->sgid.raw, 16) &&
	       !memcmp(&peer->ip, req->primary_path->dgid.raw, 16);
}

/**
 * rc_origin_true() - can the addresses of a request be true?
 * @req: the request
 * @ib: device
 * @ndev: interface that it arrived at
 * @in: the request as its Hello describes it, with namespace and addresses
 *
 * Return: false when an address is forged.
 */
bool rc_origin_true(const struct ib_cm_req_event_param *req,
		    struct ib_device *ib, struct net_device *ndev,
		    const struct sdp_incoming *in)
{
	if (origin_never_sent(&in->local) || origin_never_sent(&in->peer))
		return false;
	if (rdma_protocol_roce(ib, req->port) &&
	    !origin_gids_match(req, &in->local, &in->peer))
		return false;
	return origin_is_ours(in->net, ndev, &in->local);
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

static int origin_roce_mtu(const struct net_device *ndev)
{
	return ib_mtu_enum_to_int(iboe_get_mtu(READ_ONCE(ndev->mtu)));
}

/**
 * rc_origin_mtu_fits() - can our interface take the path MTU of a request?
 * @req: the request
 * @ib: device
 * @ndev: interface that it arrived at
 *
 * Both queue pairs cut messages into packets of the path MTU, which the peer
 * has chosen for its own interface. If our interface takes shorter packets
 * only, each long packet is lost, and retries do not help.
 *
 * Return: true when it can.
 */
bool rc_origin_mtu_fits(const struct ib_cm_req_event_param *req,
			struct ib_device *ib, const struct net_device *ndev)
{
	int want = rdma_mtu_enum_to_int(ib, req->port, req->primary_path->mtu);
	struct ib_port_attr attr;
	int most;

	if (ib_query_port(ib, req->port, &attr))
		return false;
	most = rdma_core_cap_opa_port(ib, req->port) ? attr.phys_mtu :
	       ib_mtu_enum_to_int(attr.active_mtu);
	if (rdma_protocol_roce(ib, req->port))
		most = min(most, origin_roce_mtu(ndev));
	return want > 0 && want <= most;
}

/**
 * rc_origin_reachable() - does a route lead back through the same interface?
 * @ndev: interface that the request arrived at
 * @in: the request as its Hello describes it, with namespace and addresses
 *
 * Return: true when one does.
 */
bool rc_origin_reachable(struct net_device *ndev, const struct sdp_incoming *in)
{
	return sdp_is_v4(&in->peer) ? route_back_v4(in->net, ndev, in) :
				      route_back_v6(in->net, ndev, in);
}
