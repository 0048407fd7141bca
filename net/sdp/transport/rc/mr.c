// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: memory that RDMA reaches.
 *
 * Pages of an application, or ours, are registered for one transfer, by a memory region of the
 * device's pool (frwr.c). What a peer may reach has a new key and a new address each time, and
 * is out of its reach before rc_unmap() returns: a peer that has no more use
 * for it has seen to that itself (Send with Invalidate), or the region is
 * deregistered. What only we move from or to is known
 * to nobody else: its registration is ended when the region is used again, which saves a wait as
 * well; and if it is in few pieces it is not registered at all (rdma_rw.c).
 */
#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "rc.h"

/* Made-up addresses: any that no device takes for negative. */
#define VA_BITS		47

/*
 * Size of a region's pages: the largest of the device's that is no larger than
 * ours, which may be 64 KiB where the device has 4 KiB and 2 MiB. A device that
 * says nothing has 4 KiB. Returns 0 if there is none.
 */
static u32 region_page(const struct ib_device *ib)
{
	u64 sizes = ib->attrs.page_size_cap ?: SZ_4K;

	sizes &= GENMASK_ULL(PAGE_SHIFT, 12);
	return sizes ? BIT(fls64(sizes) - 1) : 0;
}

/* For the longest transfer, wherever it begins. */
static u32 region_pages(const struct ib_device *ib)
{
	return SDP_MEM_MAX / region_page(ib) + 1;
}

/**
 * rc_mem_able() - can the device register memory by a queue pair?
 * @ib: device
 *
 * One that cannot read by RDMA has memory that can be written to all the same (B5).
 *
 * ocrdma cannot: when it posts a registration, it takes the place in the first
 * page from the address that the memory has for the peer, which is made up.
 *
 * Return: true when it can.
 */
bool rc_mem_able(const struct ib_device *ib)
{
	return (ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
	       ib->ops.driver_id != RDMA_DRIVER_OCRDMA && region_page(ib) &&
	       ib->attrs.max_fast_reg_page_list_len >= region_pages(ib);
}

/**
 * rc_mem_invalidates() - does the device take a request to invalidate a key?
 * @ib: device
 *
 * hns has none of those, and prints a warning with a stack when it gets one;
 * other devices are asked, by the first such request.
 *
 * Return: true when it does, as far as is known.
 */
bool rc_mem_invalidates(const struct ib_device *ib)
{
	return ib->ops.driver_id != RDMA_DRIVER_HNS;
}

static struct rc_mr *new_region(struct rc_device *dev)
{
	struct rc_mr *r = kzalloc(sizeof(*r), GFP_KERNEL);
	struct ib_mr *mr;

	if (!r)
		return ERR_PTR(-ENOMEM);
	mr = ib_alloc_mr(dev->pd, IB_MR_TYPE_MEM_REG, region_pages(dev->ib));
	if (IS_ERR(mr)) {
		kfree(r);
		return ERR_CAST(mr);
	}
	r->mr = mr;
	return r;
}

static struct rc_mr *take_free(struct rc_device *dev)
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

/* Returns false if the device does not do that: then it keeps the region. */
static bool free_region(struct rc_device *dev, struct rc_mr *r)
{
	if (!ib_dereg_mr(r->mr)) {
		kfree(r);
		return true;
	}
	spin_lock_bh(&dev->lock);
	list_add(&r->node, &dev->stuck);
	spin_unlock_bh(&dev->lock);
	ibdev_warn_ratelimited(dev->ib,
			       "sdp: a memory region is not deregistered\n");
	return false;
}

/* Its key is still good, and the device does not invalidate keys. */
static bool used_up(struct rc_device *dev, const struct rc_mr *r)
{
	return r->valid && !READ_ONCE(dev->invalidates);
}

static struct rc_mr *take_region(struct rc_device *dev)
{
	struct rc_mr *r;

	while ((r = take_free(dev)) && used_up(dev, r))
		free_region(dev, r);
	return r ?: new_region(dev);
}

/* Returns false if the device still has it, though it should not. */
static bool give_region(struct rc_device *dev, struct rc_mr *r, bool again)
{
	spin_lock_bh(&dev->lock);
	again = again && dev->free_regions < RC_FREE_REGIONS &&
		!used_up(dev, r);
	if (again) {
		list_add(&r->node, &dev->regions);
		dev->free_regions++;
	}
	spin_unlock_bh(&dev->lock);
	return again || free_region(dev, r);
}

/*
 * What a peer is told of has a new address each time, which tells nothing. What
 * only we use keeps the one that it was mapped with: hfi1 compares the address
 * in a request of ours with that.
 */
static u64 made_up(const struct ib_mr *mr)
{
	return (get_random_u64() & GENMASK_ULL(VA_BITS - 2, PAGE_SHIFT)) |
	       offset_in_page(mr->iova);
}

/* Give the region its pages, a key and an address; then let it be used. */
static int set_region(struct rc_device *dev, struct rc_mem *m)
{
	static const int access[] = {
		[SDP_MEM_PEER_READS]	= IB_ACCESS_REMOTE_READ,
		[SDP_MEM_PEER_WRITES]	= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
		[SDP_MEM_READ_INTO]	= IB_ACCESS_LOCAL_WRITE,
		[SDP_MEM_WRITE_FROM]	= 0,
		[SDP_MEM_RING]		= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	struct ib_mr *mr = m->region->mr;
	u32 stale = m->region->valid ? mr->rkey : 0;
	int n, err;

	n = ib_map_mr_sg(mr, m->sgt.sgl, m->sgt.nents, NULL,
			 region_page(dev->ib));
	if (n < 0)
		return n;
	if (n != m->sgt.nents)
		return -EINVAL;
	ib_update_fast_reg_key(mr, mr->rkey + 1 + get_random_u32_below(255));
	if (sdp_mem_exposed(m->use))
		mr->iova = made_up(mr);
	err = rc_reg_mr(dev, mr, stale, access[m->use]);
	if (err)
		return err;
	m->region->valid = true;
	m->mem.region.rkey = mr->rkey;
	m->mem.region.va = mr->iova;
	return 0;
}

static enum dma_data_direction direction(const struct rc_mem *m)
{
	return sdp_mem_changes(m->use) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

/**
 * rc_mem_device() - the device that reads and writes memory
 * @ib: device
 *
 * Return: the device, or NULL if the processor does that, by its own addresses.
 */
noinline struct device *rc_mem_device(struct ib_device *ib)
{
	return ib_uses_virt_dma(ib) ? NULL : ib->dma_device;
}

/* What the kernel says. It does not look at addresses behind an IOMMU. */
static bool needs_sync(struct device *dev, const struct sg_table *sgt)
{
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return true;
	}
	return false;
}

/*
 * Does the IOMMU lead the device to these whole pages, and not to copies of
 * them? Only a domain of the DMA API is asked: in others there may be no
 * function that translates. The domain is the same as long as the device has a
 * driver.
 */
static bool leads_to(struct device *dev, const struct sg_table *sgt,
		     const struct sdp_pages *pages)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);
	struct sg_dma_page_iter it;
	unsigned int n = 0;

	if (!domain || !iommu_is_dma_domain(domain))
		return false;
	for_each_sgtable_dma_page(sgt, &it, 0) {
		if (n == pages->n ||
		    iommu_iova_to_phys(domain, sg_page_iter_dma_address(&it)) !=
		    page_to_phys(pages->pages[n]))
			return false;
		n++;
	}
	return n == pages->n;
}

/*
 * Is what the adapter writes in the pages at once? It is not where it is
 * bounced through other memory, which would split the two mappings of a ring's
 * page, nor where the processor's cache hides it.
 *
 * Behind an IOMMU the kernel says of all memory that it needs a sync: before
 * 6.10 always, later as soon as it has bounced a single buffer of that device.
 * If caches see what the device writes, only bouncing can be the reason, and
 * the IOMMU's own translation shows whether these pages are bounced.
 */
static bool seen_at_once(struct ib_device *ib, const struct rc_mem *m,
			 const struct sdp_pages *pages)
{
	struct device *dev = rc_mem_device(ib);

	return !dev || !needs_sync(dev, &m->sgt) ||
	       (dev_is_dma_coherent(dev) && leads_to(dev, &m->sgt, pages));
}

static int map_pages(struct ib_device *ib, struct rc_mem *m,
		     const struct sdp_pages *pages)
{
	int err = sg_alloc_table_from_pages_segment(
		&m->sgt, pages->pages, pages->n, pages->offset, pages->len,
		ib_dma_max_seg_size(ib), GFP_KERNEL);

	if (err)
		return err;
	err = ib_dma_map_sgtable_attrs(ib, &m->sgt, direction(m), 0);
	if (err)
		sg_free_table(&m->sgt);
	return err;
}

static void unmap_pages(struct ib_device *ib, struct rc_mem *m)
{
	ib_dma_unmap_sgtable_attrs(ib, &m->sgt, direction(m), 0);
	sg_free_table(&m->sgt);
}

/*
 * The device still has the region, so a peer may reach the pages: they, and
 * their addresses, must not become anybody else's.
 */
static void keep_pages(struct rc_mem *m)
{
	struct sg_page_iter it;

	for_each_sgtable_page(&m->sgt, &it, 0)
		get_page(sg_page_iter_page(&it));
	m->region->keeps = m;
}

static void release_pages_of(struct ib_device *ib, struct rc_mem *m)
{
	struct sg_page_iter it;

	ib_dma_unmap_sgtable_attrs(ib, &m->sgt, direction(m), 0);
	for_each_sgtable_page(&m->sgt, &it, 0)
		put_page(sg_page_iter_page(&it));
	sg_free_table(&m->sgt);
	kfree(m);
}

/**
 * rc_mem_drop_pool() - a device goes: free its unused memory regions
 * @dev: device; nobody maps memory any more
 *
 * A region that could not be deregistered is tried again. If that fails again,
 * it and its pages are lost.
 */
void rc_mem_drop_pool(struct rc_device *dev)
{
	struct rc_mr *r, *next;

	while ((r = take_free(dev)))
		free_region(dev, r);
	list_for_each_entry_safe(r, next, &dev->stuck, node) {
		if (ib_dereg_mr(r->mr))
			continue;
		if (r->keeps)
			release_pages_of(dev->ib, r->keeps);
		kfree(r);
	}
}

static void expose(struct rc_link *rc, struct rc_mem *m)
{
	spin_lock_bh(&rc->exposed_lock);
	list_add(&m->node, &rc->exposed);
	spin_unlock_bh(&rc->exposed_lock);
}

/* Returns whether the peer can still reach it. */
static bool conceal(struct rc_link *rc, struct rc_mem *m)
{
	bool reachable;

	spin_lock_bh(&rc->exposed_lock);
	reachable = !list_empty(&m->node);
	list_del_init(&m->node);
	spin_unlock_bh(&rc->exposed_lock);
	return reachable;
}

/**
 * rc_mem_revoked() - a message has taken a key back
 * @rc: link that the message came by, which has not been looked at yet
 * @rkey: the key; the device has found it valid
 *
 * Keys of other connections are none of the peer's business, though a device lets it.
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
	if (found)
		return;
	rc_up->malformed(rc->net, SDP_BAD_KEY);
	rc_up->failed(&rc->link, EPROTO, "took back a foreign key");
}

/* Its region can be used @again. Returns false if the device keeps it. */
static bool unmake(struct rc_device *dev, struct rc_mem *m, bool again)
{
	if (m->region && !give_region(dev, m->region, again)) {
		keep_pages(m);
		return false;
	}
	unmap_pages(dev->ib, m);
	kfree(m);
	return true;
}

/**
 * rc_mem_line() - what the device writes shares so many bytes with nothing else
 * @ib: device
 *
 * Where caches do not see what a device writes, a line at either end of it
 * that the program also writes to would lose the one or the other.
 *
 * Return: bytes, a power of two.
 */
noinline u32 rc_mem_line(struct ib_device *ib)
{
	struct device *dev = rc_mem_device(ib);

	if (!dev || dev_is_dma_coherent(dev))
		return 1;
	return dma_get_cache_alignment();
}

static bool shares_lines(struct ib_device *ib, const struct sdp_pages *pages)
{
	u32 line = rc_mem_line(ib);

	return sdp_mem_changes(pages->use) &&
	       !IS_ALIGNED(pages->offset | pages->len, line);
}

/* In up to @pieces it needs no registration. Returns an ERR_PTR when it cannot be. */
static struct rc_mem *make(struct rc_device *dev, const struct sdp_pages *pages,
			   u32 pieces)
{
	struct rc_mem *m;
	int err;

	if (shares_lines(dev->ib, pages))
		return ERR_PTR(-EOPNOTSUPP);
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	m->use = pages->use;
	m->mem.settled = true;
	m->mem.region.len = pages->len;
	init_completion(&m->mem.done);
	err = map_pages(dev->ib, m, pages);
	if (err)
		goto free;
	if (m->use == SDP_MEM_RING && !seen_at_once(dev->ib, m, pages)) {
		err = -EOPNOTSUPP;
		goto unmap;
	}
	if (m->sgt.nents <= pieces)
		return m;
	m->region = take_region(dev);
	err = PTR_ERR_OR_ZERO(m->region);
	if (err)
		goto unmap;
	err = set_region(dev, m);
	if (!err)
		return m;
	unmake(dev, m, false);
	return ERR_PTR(err);

unmap:
	unmap_pages(dev->ib, m);
free:
	kfree(m);
	return ERR_PTR(err);
}

/**
 * rc_map() - register memory
 * @link: the link, in use by the caller
 * @pages: what, where, and what for
 *
 * May sleep.
 *
 * Return: the memory, or an ERR_PTR.
 */
struct sdp_mem *rc_map(struct sdp_link *link, const struct sdp_pages *pages)
{
	struct rc_link *rc = to_rc(link);
	struct rc_mem *m;

	if (!READ_ONCE(rc->dev->reg_ready)) {
		rc_reg_want(rc->dev);
		return ERR_PTR(-EOPNOTSUPP);
	}
	m = make(rc->dev, pages, rc_move_pieces(rc, pages->use));
	if (IS_ERR(m))
		return ERR_CAST(m);
	if (m->region && sdp_mem_exposed(m->use))
		expose(rc, m);
	return &m->mem;
}

/*
 * The device lets the peer at memory that should be out of its reach. It does
 * not by a queue pair in error.
 */
static void cut_off(struct rc_link *rc)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };

	ib_modify_qp(rc->qp, &error, IB_QP_STATE);
	rc_link_poke(rc, RC_BROKEN);
}

/**
 * rc_unmap() - end a registration; the peer cannot reach the memory any more
 * @link: the link, in use by the caller
 * @mem: from rc_map(), we move nothing from or to it; freed
 *
 * May sleep.
 */
void rc_unmap(struct sdp_link *link, struct sdp_mem *mem)
{
	struct rc_device *dev = to_rc(link)->dev;
	struct rc_mem *m = to_rc_mem(mem);
	bool exposed = sdp_mem_exposed(m->use), again = true;

	/* Its owner has given the link up. */
	if (m->partly)
		wait_for_completion(&mem->done);
	if (exposed) {
		/*
		 * A peer that has not taken the key back may do so at any
		 * moment, whatever it has said of its use. An adapter may fail
		 * an invalidation of ours that comes second, and that ends the
		 * queue pair by which all connections register. To deregister a
		 * region never fails for that, and it waits until nobody uses
		 * the region, on whatever processor.
		 */
		again = !conceal(to_rc(link), m) && mem->settled;
		m->region->valid = false;
	}
	if (!unmake(dev, m, again) && exposed)
		cut_off(to_rc(link));
}

/**
 * rc_mem_try() - register memory for nothing
 * @dev: device that can
 * @pages: what, and what for: to be known to ourselves only
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int rc_mem_try(struct rc_device *dev, const struct sdp_pages *pages)
{
	struct rc_mem *m = make(dev, pages, 0);

	if (IS_ERR(m))
		return PTR_ERR(m);
	unmake(dev, m, true);
	return 0;
}
