// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: can an address be answered without a wait?
 *
 * An answer needs the hardware address of the next hop. The kernel's neighbour
 * tables have it, if it has been resolved. If not, the resolution is started.
 */
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/neighbour.h>
#include <net/route.h>
#include <rdma/ib_cache.h>

#include "ud.h"

static bool neighbour_valid(struct dst_entry *dst, const void *to)
{
	struct neighbour *n;
	bool valid;

	/* The route to an address of this host has no neighbour. */
	if (dst->dev->flags & IFF_LOOPBACK)
		return true;
	n = dst_neigh_lookup(dst, to);
	if (IS_ERR_OR_NULL(n))
		return false;
	valid = READ_ONCE(n->nud_state) & NUD_VALID;
	if (!valid)
		neigh_event_send(n, NULL);
	neigh_release(n);
	return valid;
}

static bool known_v4(struct net_device *ndev, const union ib_gid *from,
		     const union ib_gid *own)
{
	struct flowi4 fl4 = {
		.flowi4_oif = ndev->ifindex,
		.daddr = ((const struct in6_addr *)from)->s6_addr32[3],
		.saddr = ((const struct in6_addr *)own)->s6_addr32[3],
	};
	struct rtable *rt = ip_route_output_key(dev_net(ndev), &fl4);
	bool known;

	if (IS_ERR(rt))
		return false;
	known = neighbour_valid(&rt->dst, &fl4.daddr);
	ip_rt_put(rt);
	return known;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool known_v6(struct net_device *ndev, const union ib_gid *from,
		     const union ib_gid *own)
{
	struct flowi6 fl6 = {
		.flowi6_oif = ndev->ifindex,
		.daddr = *(const struct in6_addr *)from,
		.saddr = *(const struct in6_addr *)own,
	};
	struct dst_entry *dst;
	bool known;

	if (!ipv6_mod_enabled())
		return false;
	dst = ip6_dst_lookup_flow(dev_net(ndev), NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return false;
	known = neighbour_valid(dst, &fl6.daddr);
	dst_release(dst);
	return known;
}
#else
static bool known_v6(struct net_device *ndev, const union ib_gid *from,
		     const union ib_gid *own)
{
	return false;
}
#endif

static bool is_wanted(const struct ib_gid_attr *attr, const union ib_gid *own,
		      u16 vlan)
{
	u16 its_vlan = 0xffff;

	return attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	       !memcmp(&attr->gid, own, sizeof(*own)) &&
	       !rdma_read_gid_l2_fields(attr, &its_vlan, NULL) &&
	       its_vlan == vlan;
}

/*
 * The entry of our address that a datagram has come by, with a reference; or
 * NULL. Interfaces of several VLANs may have the same address.
 */
static const struct ib_gid_attr *gid_of(struct ud_port *port,
					const struct ib_wc *wc,
					const union ib_gid *own)
{
	u16 vlan = wc->wc_flags & IB_WC_WITH_VLAN ? wc->vlan_id : 0xffff;
	struct ib_device *ib = port->dev->ib;
	const struct ib_gid_attr *attr;
	int i, n = ib->port_data[port->number].immutable.gid_tbl_len;

	for (i = 0; i < n; i++) {
		attr = rdma_get_gid_attr(ib, port->number, i);
		if (IS_ERR(attr))
			continue;
		if (is_wanted(attr, own, vlan))
			return attr;
		rdma_put_gid_attr(attr);
	}
	return NULL;
}

/* The interface that a datagram has come by, with a reference; or NULL. */
static struct net_device *ndev_of(struct ud_port *port, const struct ib_wc *wc,
				  const union ib_gid *own)
{
	const struct ib_gid_attr *attr = gid_of(port, wc, own);
	struct net_device *ndev;

	if (!attr)
		return NULL;
	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	dev_hold(ndev);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return ndev;
}

/**
 * ud_neighbour_known() - can a datagram be answered without a wait?
 * @port: port that it has arrived at
 * @ask: the datagram
 *
 * Return: false if the next hop has to be resolved first; that has begun then.
 */
bool ud_neighbour_known(struct ud_port *port, const struct ud_ask *ask)
{
	union ib_gid from, own;
	struct net_device *ndev;
	bool known;

	if (!ud_grh_gids((const u8 *)&ask->grh, &ask->wc, &from, &own))
		return false;
	ndev = ndev_of(port, &ask->wc, &own);
	if (!ndev)
		return false;
	if (ipv6_addr_v4mapped((const struct in6_addr *)&from))
		known = known_v4(ndev, &from, &own);
	else
		known = known_v6(ndev, &from, &own);
	dev_put(ndev);
	return known;
}
