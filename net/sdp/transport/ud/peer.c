// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: address handles.
 *
 * All connections of a port to the same address share a handle, and what the
 * peer has told of its queue pairs. Both live as long as a link or a datagram
 * in flight uses them.
 */
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "ud.h"

static struct hlist_head *peer_bucket(struct ud_port *port,
				      const union ib_gid *gid)
{
	return &port->peers[jhash(gid, sizeof(*gid), 0) % UD_BUCKETS];
}

static bool peer_is(const struct ud_peer *peer, const struct rdma_ah_attr *attr)
{
	/* The entry of our address may be new, and so may the peer's MAC. */
	return !memcmp(&peer->gid, &attr->grh.dgid, sizeof(peer->gid)) &&
	       peer->ah->sgid_attr == attr->grh.sgid_attr &&
	       ether_addr_equal(peer->mac, attr->roce.dmac) &&
	       peer->tclass == attr->grh.traffic_class;
}

/* Under ud_port.lock. Takes a reference. */
static struct ud_peer *peer_find(struct ud_port *port,
				 const struct rdma_ah_attr *attr)
{
	struct ud_peer *peer;

	hlist_for_each_entry(peer, peer_bucket(port, &attr->grh.dgid), node) {
		if (peer_is(peer, attr) && refcount_inc_not_zero(&peer->refs))
			return peer;
	}
	return NULL;
}

static void peer_free(struct work_struct *work)
{
	struct ud_peer *peer = container_of(work, struct ud_peer, free);
	struct ud_port *port = peer->port;

	spin_lock_bh(&port->lock);
	hlist_del(&peer->node);
	spin_unlock_bh(&port->lock);
	rdma_destroy_ah(peer->ah, RDMA_DESTROY_AH_SLEEPABLE);
	kfree(peer);
	ud_port_put(port);
}

/**
 * ud_peer_put() - drop a reference to a peer
 * @peer: peer; with the last reference a work item frees it
 */
void ud_peer_put(struct ud_peer *peer)
{
	if (refcount_dec_and_test(&peer->refs))
		queue_work(ud_wq, &peer->free);
}

static struct ud_peer *peer_make(struct ud_port *port,
				 struct rdma_ah_attr *attr)
{
	struct ud_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	struct ib_ah *ah;

	if (!peer)
		return NULL;
	ah = rdma_create_ah(port->pd, attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah)) {
		kfree(peer);
		return NULL;
	}
	peer->ah = ah;
	peer->port = port;
	peer->gid = attr->grh.dgid;
	peer->own = attr->grh.sgid_attr->gid;
	ether_addr_copy(peer->mac, attr->roce.dmac);
	peer->tclass = attr->grh.traffic_class;
	refcount_set(&peer->refs, 1);
	INIT_WORK(&peer->free, peer_free);
	return peer;
}

/**
 * ud_peer_get() - the peer with an address
 * @port: port; the caller has a reference to its device
 * @attr: address, with a GID of ours; its traffic class is changed
 *
 * Two callers may make the same peer at a time; then there are two for a while.
 * May sleep.
 *
 * Return: the peer, with a reference; NULL when memory is short or the device
 * refuses.
 */
struct ud_peer *ud_peer_get(struct ud_port *port, struct rdma_ah_attr *attr)
{
	struct ud_peer *peer;

	attr->grh.traffic_class &= ~UD_ECN_MASK;
	attr->grh.traffic_class |= UD_ECT;
	spin_lock_bh(&port->lock);
	peer = peer_find(port, attr);
	spin_unlock_bh(&port->lock);
	if (peer)
		return peer;
	peer = peer_make(port, attr);
	if (!peer)
		return NULL;
	/* The peer keeps the device until its handle is destroyed. */
	refcount_inc(&port->dev->refs);
	spin_lock_bh(&port->lock);
	hlist_add_head(&peer->node, peer_bucket(port, &peer->gid));
	spin_unlock_bh(&port->lock);
	return peer;
}

/**
 * ud_peer_learn() - note which queue pairs a peer has
 * @peer: peer
 * @service: what it has told; NULL if its queue pairs do not answer any more
 */
void ud_peer_learn(struct ud_peer *peer, const struct sdp_service *service)
{
	static const struct sdp_service unknown;

	spin_lock_bh(&peer->port->lock);
	peer->service = service ? *service : unknown;
	spin_unlock_bh(&peer->port->lock);
}

/**
 * ud_peer_service() - which queue pairs does a peer have?
 * @peer: peer
 * @service: filled in
 *
 * Return: false if they are not known.
 */
bool ud_peer_service(struct ud_peer *peer, struct sdp_service *service)
{
	spin_lock_bh(&peer->port->lock);
	*service = peer->service;
	spin_unlock_bh(&peer->port->lock);
	return service->qps;
}
