// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: where a connection request comes from, and whether its
 * addresses can be believed.
 *
 * A REQ and the Hello in it are the peer's words. What the adapter vouches for
 * is the port, its GID and the partition that the REQ came to. From these
 * follows the network interface, from the interface the namespace; and the two
 * addresses have to be such as a packet that came in by that interface can
 * have: the checks that IP makes of each packet, and rdma_cm of each REQ.
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

static struct net_device *roce_dev(const struct ib_cm_req_event_param *req)
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
 * The interface of IP over InfiniBand with this GID in this partition. Children
 * of an interface share its GID: between these the address decides.
 */
static struct net_device *ipoib_dev(const struct ib_cm_req_event_param *req,
				    struct ib_device *ib,
				    const struct sdp_endpoint *local)
{
	const struct sa_path_rec *path = req->primary_path;
	struct sockaddr_storage to;

	rc_to_sockaddr(&to, local);
	return ib_get_net_dev_by_params(ib, req->port, be16_to_cpu(path->pkey),
					&path->sgid, (struct sockaddr *)&to);
}

/**
 * rc_origin_dev() - the network interface that a request came in by
 * @req: the request
 * @ib: device
 * @local: address that the request says it is for
 *
 * Return: the interface, with a reference, or NULL.
 */
struct net_device *rc_origin_dev(const struct ib_cm_req_event_param *req,
				 struct ib_device *ib,
				 const struct sdp_endpoint *local)
{
	if (rdma_protocol_roce(ib, req->port))
		return roce_dev(req);
	return ipoib_dev(req, ib, local);
}

/* Packets between machines have such an address at neither end. */
static bool never_sent(const struct sdp_endpoint *e)
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

static bool is_own(struct net *net, struct net_device *ndev,
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
 * On RoCE an IP address is a GID. The GID that the request came to is the
 * port's own (the attribute's); the path's are what the REQ says.
 */
static bool gids_match(const struct ib_cm_req_event_param *req,
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
 * @ndev: interface that it came in by
 * @in: the request, with its namespace and both addresses
 *
 * Return: false when they are made up.
 */
bool rc_origin_true(const struct ib_cm_req_event_param *req,
		    struct ib_device *ib, struct net_device *ndev,
		    const struct sdp_incoming *in)
{
	if (never_sent(&in->local) || never_sent(&in->peer))
		return false;
	if (rdma_protocol_roce(ib, req->port) &&
	    !gids_match(req, &in->local, &in->peer))
		return false;
	return is_own(in->net, ndev, &in->local);
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
/* By that interface only. The route to an own address names lo all the same. */
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

static int roce_mtu(const struct net_device *ndev)
{
	return ib_mtu_enum_to_int(iboe_get_mtu(READ_ONCE(ndev->mtu)));
}

/**
 * rc_origin_mtu_fits() - can the path have the MTU that a request names?
 * @req: the request
 * @ib: device
 * @ndev: interface that it came in by
 *
 * Both queue pairs cut messages into packets of the same length, and the peer
 * has chosen it by what its own interface can do. Longer packets than ours can
 * take would get lost, each time.
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
		most = min(most, roce_mtu(ndev));
	return want > 0 && want <= most;
}

/**
 * rc_origin_reachable() - does a route lead back, by the same interface?
 * @ndev: interface that the request came in by
 * @in: the request, with its namespace and both addresses
 *
 * Return: true when one does.
 */
bool rc_origin_reachable(struct net_device *ndev, const struct sdp_incoming *in)
{
	return sdp_is_v4(&in->peer) ? route_back_v4(in->net, ndev, in) :
				      route_back_v6(in->net, ndev, in);
}
