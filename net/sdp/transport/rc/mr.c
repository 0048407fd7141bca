// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: registration of memory for RDMA.
 *
 * Pages of an application, or ours, are mapped (dma.c) and registered for one
 * transfer, with a memory region of the device's pool (frwr.c).
 *
 * Memory that the peer may reach gets a new key and a new address each time.
 * It is out of the peer's reach before rc_unmap() returns: either the peer has
 * invalidated the key itself (Send with Invalidate), or the region is
 * deregistered.
 *
 * No peer knows memory that only we move data to or from. Its registration
 * ends when the region is reused, which saves a wait. Such memory is not
 * registered at all if it has few pieces (rdma_rw.c).
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "rc.h"

/* Random addresses have so few bits that no device takes them for negative. */
#define VA_BITS		47

static struct rc_mr *region_new(struct rc_device *dev)
{
	struct rc_mr *r = kzalloc(sizeof(*r), GFP_KERNEL);
	struct ib_mr *mr;

	if (!r)
		return ERR_PTR(-ENOMEM);
	mr = ib_alloc_mr(dev->pd, IB_MR_TYPE_MEM_REG, rc_region_pages(dev->ib));
	if (IS_ERR(mr)) {
		kfree(r);
		return ERR_CAST(mr);
	}
	r->mr = mr;
	return r;
}

static struct rc_mr *region_take_free(struct rc_device *dev)
{
	struct rc_mr *r;

	spin_lock_bh(&dev->lock);
	r = list_first_entry_or_null(&dev->regions, struct rc_mr, node);
	if (r) {
		list_del(&r->node);
		dev->free_regions--;
	}
	spin_unlock_bh(&dev->lock);
	return r;
}

/*
 * Deregister and free a region. Returns false if the device fails to do so;
 * rc_device.stuck then keeps the region.
 */
static bool region_free(struct rc_device *dev, struct rc_mr *r)
{
	if (!ib_dereg_mr(r->mr)) {
		kfree(r);
		return true;
	}
	spin_lock_bh(&dev->lock);
	list_add(&r->node, &dev->stuck);
	spin_unlock_bh(&dev->lock);
	ibdev_warn_ratelimited(dev->ib,
			       "sdp: cannot deregister a memory region\n");
	return false;
}

/*
 * Return whether a region cannot be reused: its key is still valid, and the
 * device does not invalidate keys.
 */
static bool region_used_up(struct rc_device *dev, const struct rc_mr *r)
{
	return r->valid && !READ_ONCE(dev->invalidates);
}

static struct rc_mr *region_take(struct rc_device *dev)
{
	struct rc_mr *r;

	while ((r = region_take_free(dev)) && region_used_up(dev, r))
		region_free(dev, r);
	return r ?: region_new(dev);
}

/*
 * Put a region into the pool if it is reusable (@again), or free it. Returns
 * false if the device fails to deregister it.
 */
static bool region_give(struct rc_device *dev, struct rc_mr *r, bool again)
{
	spin_lock_bh(&dev->lock);
	again = again && dev->free_regions < RC_FREE_REGIONS &&
		!region_used_up(dev, r);
	if (again) {
		list_add(&r->node, &dev->regions);
		dev->free_regions++;
	}
	spin_unlock_bh(&dev->lock);
	return again || region_free(dev, r);
}

/*
 * Return an address for memory that the peer may reach. It is new each time
 * and discloses nothing. (Other memory keeps the address from ib_map_mr_sg(),
 * because hfi1 compares the address in our requests with it. Background writes
 * write from memory that has such an address, but not on hfi1, whose key 0
 * keeps it from RDMA: key_opens_all().)
 */
static u64 region_random_va(const struct ib_mr *mr)
{
	return (get_random_u64() & GENMASK_ULL(VA_BITS - 2, PAGE_SHIFT)) |
	       offset_in_page(mr->iova);
}

/*
 * The address by which the peer is to reach memory, in @mr->iova. One that
 * other devices have chosen (@va) must have the same offset in its page.
 */
static int region_set_va(struct ib_mr *mr, u64 va)
{
	if (va && offset_in_page(va) != offset_in_page(mr->iova))
		return -EOPNOTSUPP;
	mr->iova = va ?: region_random_va(mr);
	return 0;
}

/*
 * Give a region the pages of memory, without what is mapped in front of it and
 * behind it.
 */
static int region_set_pages(struct rc_device *dev, struct rc_mem *m)
{
	struct scatterlist *sg, *last = m->sgt.sgl;
	unsigned int offset = m->head;
	int i, n;

	for_each_sgtable_dma_sg(&m->sgt, sg, i)
		last = sg;
	sg_dma_len(last) -= m->tail;
	n = ib_map_mr_sg(m->region->mr, m->sgt.sgl, m->sgt.nents, &offset,
			 rc_region_page(dev->ib));
	sg_dma_len(last) += m->tail;
	if (n < 0)
		return n;
	return n == m->sgt.nents ? 0 : -EINVAL;
}

/* Give a region its pages, a new key and an address, and register it. */
static int region_set(struct rc_device *dev, struct rc_mem *m, u64 va)
{
	static const int access[] = {
		[SDP_MEM_PEER_READS]	= IB_ACCESS_REMOTE_READ,
		[SDP_MEM_PEER_WRITES]	= IB_ACCESS_LOCAL_WRITE |
					  IB_ACCESS_REMOTE_WRITE,
		[SDP_MEM_READ_INTO]	= IB_ACCESS_LOCAL_WRITE,
		[SDP_MEM_WRITE_FROM]	= 0,
		[SDP_MEM_RING]		= IB_ACCESS_LOCAL_WRITE |
					  IB_ACCESS_REMOTE_WRITE,
	};
	struct ib_mr *mr = m->region->mr;
	u32 stale = m->region->valid ? mr->rkey : 0;
	int err = region_set_pages(dev, m);

	if (err)
		return err;
	ib_update_fast_reg_key(mr, mr->rkey + 1 + get_random_u32_below(255));
	err = sdp_mem_exposed(m->use) ? region_set_va(mr, va) : 0;
	if (!err)
		err = rc_reg_mr(dev, mr, stale, access[m->use]);
	if (err)
		return err;
	m->region->valid = true;
	m->mem.region.rkey = mr->rkey;
	m->mem.region.va = mr->iova;
	return 0;
}

/**
 * rc_mem_drop_pool() - free a removed device's memory regions
 * @dev: device; nobody maps memory any more
 *
 * Retries regions that could not be deregistered. If that fails again, such a
 * region and its pages are leaked. May sleep.
 */
void rc_mem_drop_pool(struct rc_device *dev)
{
	struct rc_mr *r, *next;

	while ((r = region_take_free(dev)))
		region_free(dev, r);
	list_for_each_entry_safe(r, next, &dev->stuck, node) {
		if (ib_dereg_mr(r->mr))
			continue;
		if (r->keeps)
			rc_dma_release_kept(dev->ib, r->keeps);
		kfree(r->keeps);
		kfree(r);
	}
}

static void mem_expose(struct rc_link *rc, struct rc_mem *m)
{
	spin_lock_bh(&rc->exposed_lock);
	list_add(&m->node, &rc->exposed);
	spin_unlock_bh(&rc->exposed_lock);
}

/* Returns true if the peer has not invalidated the key itself. */
static bool mem_conceal(struct rc_link *rc, struct rc_mem *m)
{
	bool reachable;

	spin_lock_bh(&rc->exposed_lock);
	reachable = !list_empty(&m->node);
	list_del_init(&m->node);
	spin_unlock_bh(&rc->exposed_lock);
	return reachable;
}

/**
 * rc_mem_revoked() - handle a message that has invalidated a key
 * @rc: link that received the message; the message is not processed yet
 * @rkey: the key, which the device found valid
 *
 * A device may let the peer invalidate keys of other connections. The link
 * fails if the key is not one of its own. Once the owner has released the link,
 * its memory may have been unmapped before the message is handled. Called in
 * softirq.
 */
void rc_mem_revoked(struct rc_link *rc, u32 rkey)
{
	struct rc_mem *m;
	bool found = false;

	spin_lock_bh(&rc->exposed_lock);
	list_for_each_entry(m, &rc->exposed, node) {
		found = m->mem.region.rkey == rkey;
		if (found) {
			list_del_init(&m->node);
			break;
		}
	}
	spin_unlock_bh(&rc->exposed_lock);
	if (found || test_bit(RC_RELEASED, &rc->flags))
		return;
	rc_up->malformed(rc->net, SDP_BAD_KEY);
	rc->link.up->failed(&rc->link, EPROTO,
			    "peer invalidated a key that is not its own");
}

/*
 * Unmap and free memory. @again tells whether its region is reusable. Returns
 * false, and keeps the memory, if the device fails to deregister the region.
 */
static bool mem_destroy(struct rc_device *dev, struct rc_mem *m, bool again)
{
	if (m->region && !region_give(dev, m->region, again)) {
		rc_dma_keep(dev->ib, m);
		m->region->keeps = m;
		return false;
	}
	rc_dma_unmap(dev->ib, m);
	kfree(m);
	return true;
}

/*
 * Must the device write to the pages themselves? A ring is read while it is
 * mapped. And a bounce buffer would be copied back as a whole, over what other
 * devices have written.
 */
static bool in_place(enum sdp_mem_use use, bool shared)
{
	return use == SDP_MEM_RING || (shared && sdp_mem_changes(use));
}

/*
 * Map pages. If they have more than @pieces pieces, these join at page
 * boundaries: with edges, if the kernel bounces them. Once the kernel has
 * bounced memory of a device, the memory gets edges at once.
 */
static int mem_map_pages(struct rc_device *dev, struct rc_mem *m,
			 const struct sdp_pages *pages, u32 pieces)
{
	bool edges = READ_ONCE(dev->bounces) && pages->n > max(pieces, 1U);
	int err = rc_dma_map(dev->ib, m, pages, edges);

	if (err || m->sgt.nents <= pieces ||
	    rc_dma_joins(dev->ib, m, rc_region_page(dev->ib)))
		return err;
	rc_dma_unmap(dev->ib, m);
	if (edges)
		return -EOPNOTSUPP;
	WRITE_ONCE(dev->bounces, true);
	return mem_map_pages(dev, m, pages, pieces);
}

/* Map memory that the device must reach itself, with nothing in between. */
static int mem_map_in_place(struct rc_device *dev, struct rc_mem *m,
			    const struct sdp_pages *pages)
{
	int err = rc_dma_map(dev->ib, m, pages, false);

	if (err || rc_dma_seen_at_once(dev->ib, m, pages))
		return err;
	rc_dma_unmap(dev->ib, m);
	return -EOPNOTSUPP;
}

/*
 * Map memory, and register it if it has more than @pieces pieces: at @va, if
 * that is not 0. @shared: other devices have the same pages. Returns an ERR_PTR
 * on failure.
 */
static struct rc_mem *mem_create(struct rc_device *dev,
				 const struct sdp_pages *pages, u32 pieces,
				 u64 va, bool shared)
{
	struct rc_mem *m;
	int err;

	if (rc_dma_shares_lines(dev->ib, pages))
		return ERR_PTR(-EOPNOTSUPP);
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	m->use = pages->use;
	m->mem.settled = true;
	m->mem.region.len = pages->len;
	init_completion(&m->mem.done);
	if (in_place(m->use, shared))
		err = mem_map_in_place(dev, m, pages);
	else
		err = mem_map_pages(dev, m, pages, pieces);
	if (err)
		goto free;
	if (m->sgt.nents <= pieces)
		return m;
	m->region = region_take(dev);
	err = PTR_ERR_OR_ZERO(m->region);
	if (err)
		goto unmap;
	err = region_set(dev, m, va);
	if (!err)
		return m;
	mem_destroy(dev, m, false);
	return ERR_PTR(err);

unmap:
	rc_dma_unmap(dev->ib, m);
free:
	kfree(m);
	return ERR_PTR(err);
}

static struct sdp_mem *map_memory(struct sdp_link *link,
				  const struct sdp_pages *pages, u64 va,
				  bool shared)
{
	struct rc_link *rc = to_rc(link);
	struct rc_mem *m;

	if (!READ_ONCE(rc->dev->reg_ready)) {
		rc_reg_want(rc->dev);
		return ERR_PTR(-EOPNOTSUPP);
	}
	m = mem_create(rc->dev, pages, rc_move_pieces(rc, pages->use), va,
		       shared);
	if (IS_ERR(m))
		return ERR_CAST(m);
	if (m->region && sdp_mem_exposed(m->use))
		mem_expose(rc, m);
	return &m->mem;
}

/**
 * rc_map() - map and, if necessary, register memory for RDMA
 * @link: the link; the caller has called use()
 * @pages: pages, range and purpose; the caller keeps the pages in place
 *
 * May sleep.
 *
 * Return: the memory, which rc_unmap() frees, or an ERR_PTR; -EOPNOTSUPP also
 * while the device's registration queue pair does not work.
 */
struct sdp_mem *rc_map(struct sdp_link *link, const struct sdp_pages *pages)
{
	return map_memory(link, pages, 0, false);
}

/**
 * sdp_rc_map_shared() - map memory that is mapped on several links
 * @link: one of them; the caller has called use()
 * @pages: pages, range and purpose; the caller keeps the pages in place
 * @va: address by which the peer reaches it, of another link; 0 for any
 *
 * May sleep.
 *
 * Return: as rc_map(); -EOPNOTSUPP also if the device cannot share the pages
 * with others, or reach them at @va.
 */
struct sdp_mem *sdp_rc_map_shared(struct sdp_link *link,
				  const struct sdp_pages *pages, u64 va)
{
	return map_memory(link, pages, va, true);
}

/*
 * Cut the peer off from memory that the device failed to deregister: the device
 * allows no access by a queue pair in error.
 */
static void mem_cut_off_peer(struct rc_link *rc)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };

	ib_modify_qp(rc->qp, &error, IB_QP_STATE);
	rc_link_poke(rc, RC_BROKEN);
}

/**
 * rc_unmap() - end the peer's access to memory, unmap and free it
 * @link: the link; the caller has called use()
 * @mem: from rc_map(); no RDMA read or write of ours uses it
 *
 * May sleep.
 */
void rc_unmap(struct sdp_link *link, struct sdp_mem *mem)
{
	struct rc_device *dev = to_rc(link)->dev;
	struct rc_mem *m = to_rc_mem(mem);
	bool exposed = sdp_mem_exposed(m->use), again = true;

	/* A move was posted in part: @done completes when the link stops. */
	if (m->partly)
		wait_for_completion(&mem->done);
	if (exposed) {
		/*
		 * A peer that has not invalidated the key may do so at any
		 * moment, whatever it has said about its use. An adapter may
		 * fail our own invalidation if it comes second. That error
		 * would end the queue pair by which all connections of the
		 * device register memory. Deregistering a region never fails
		 * for that reason, and it waits until nobody uses the region
		 * on any CPU.
		 */
		again = !mem_conceal(to_rc(link), m) && mem->settled;
		m->region->valid = false;
	}
	if (!mem_destroy(dev, m, again) && exposed)
		mem_cut_off_peer(to_rc(link));
}

/**
 * rc_mem_try() - register and release memory, to measure the time
 * @dev: device that can register memory
 * @pages: pages, range and purpose; a purpose that does not expose them
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int rc_mem_try(struct rc_device *dev, const struct sdp_pages *pages)
{
	struct rc_mem *m = mem_create(dev, pages, 0, 0, false);

	if (IS_ERR(m))
		return PTR_ERR(m);
	mem_destroy(dev, m, true);
	return 0;
}
