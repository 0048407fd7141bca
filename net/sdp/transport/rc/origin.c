// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: origin of a connection request.
 *
 * The peer writes the REQ and the Hello in it, so both may be forged. The
 * adapter vouches for the port, the GID and the partition that the REQ arrived
 * at. They determine the network interface, and the interface determines the
 * namespace. ../origin.c checks whether the addresses are possible there.
 *
 * cm_accept.c calls these functions from the CM handler of a listener, before
 * the request has a link.
 */
#include <linux/if_arp.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "../origin.h"
#include "../rdma_addr.h"
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

	sdp_to_sockaddr(&to, local);
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
	if (rdma_protocol_roce(ib, req->port) &&
	    !origin_gids_match(req, &in->local, &in->peer))
		return false;
	return sdp_origin_possible(ndev, in);
}

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
 * rc_iw_serves() - has an iWARP port the address of an interface?
 * @ib: device
 * @port: its port
 * @dev: interface
 *
 * Return: true if the GID of the port is the hardware address.
 */
bool rc_iw_serves(struct ib_device *ib, u32 port, const struct net_device *dev)
{
	const struct ib_gid_attr *attr;
	union ib_gid gid = { };

	if (dev->type == ARPHRD_INFINIBAND)
		return false;
	memcpy(gid.raw, dev->dev_addr, min_t(u32, dev->addr_len, ETH_ALEN));
	attr = rdma_find_gid_by_port(ib, &gid, IB_GID_TYPE_IB, port, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}
