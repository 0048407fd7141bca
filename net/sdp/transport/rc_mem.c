// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: memory that RDMA reaches.
 *
 * Pages of an application, or ours, are registered for one transfer, by a memory region of the
 * device's pool (rc_reg.c). What a peer may reach has a new key and a new address each time, and
 * is out of its reach before rc_unmap() returns. What only we move from or to is known to nobody
 * else: its registration is ended when the region is used again, which saves a wait.
 *
 * A link reads one thing at a time, and writes one. The completion is found by the link, not by
 * the memory, as the link outlives every request of its queue pair.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "rc.h"

/* Made-up addresses: any that no device takes for negative. */
#define VA_BITS		47

/**
 * struct rc_mr - a memory region of a device
 * @node: in the device's list, while it is not used
 * @mr: the region
 * @valid: its key is still good, for ourselves
 */
struct rc_mr {
	struct list_head node;
	struct ib_mr *mr;
	bool valid;
};

/**
 * struct rc_mem - registered memory
 * @mem: what the owner holds
 * @region: its memory region
 * @sgt: the pages, mapped for the device
 * @use: what for
 */
struct rc_mem {
	struct sdp_mem mem;
	struct rc_mr *region;
	struct sg_table sgt;
	enum sdp_mem_use use;
};

static struct rc_mem *to_rc_mem(struct sdp_mem *mem)
{
	return container_of(mem, struct rc_mem, mem);
}

/**
 * rc_mem_able() - can the device register memory by a queue pair, and read by RDMA?
 * @ib: device
 *
 * Return: true when it can.
 */
bool rc_mem_able(const struct ib_device *ib)
{
	return (ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
	       ib->attrs.max_fast_reg_page_list_len >= SDP_MEM_PAGES &&
	       ib->attrs.max_qp_rd_atom && ib->attrs.max_qp_init_rd_atom;
}

static struct rc_mr *new_region(struct rc_device *dev)
{
	struct rc_mr *r = kzalloc(sizeof(*r), GFP_KERNEL);
	struct ib_mr *mr;

	if (!r)
		return ERR_PTR(-ENOMEM);
	mr = ib_alloc_mr(dev->pd, IB_MR_TYPE_MEM_REG, SDP_MEM_PAGES);
	if (IS_ERR(mr)) {
		kfree(r);
		return ERR_CAST(mr);
	}
	r->mr = mr;
	return r;
}

static struct rc_mr *take_region(struct rc_device *dev)
{
	struct rc_mr *r;

	spin_lock_bh(&dev->lock);
	r = list_first_entry_or_null(&dev->regions, struct rc_mr, node);
	if (r) {
		list_del(&r->node);
		dev->free_regions--;
	}
	spin_unlock_bh(&dev->lock);
	return r ?: new_region(dev);
}

static void free_region(struct rc_mr *r)
{
	ib_dereg_mr(r->mr);
	kfree(r);
}

static void give_region(struct rc_device *dev, struct rc_mr *r, bool again)
{
	spin_lock_bh(&dev->lock);
	again = again && dev->free_regions < RC_FREE_REGIONS;
	if (again) {
		list_add(&r->node, &dev->regions);
		dev->free_regions++;
	}
	spin_unlock_bh(&dev->lock);
	if (!again)
		free_region(r);
}

/**
 * rc_mem_drop_pool() - a device goes: free its unused memory regions
 * @dev: device; nobody maps memory any more
 */
void rc_mem_drop_pool(struct rc_device *dev)
{
	struct rc_mr *r, *next;

	list_for_each_entry_safe(r, next, &dev->regions, node)
		free_region(r);
	INIT_LIST_HEAD(&dev->regions);
	dev->free_regions = 0;
}

/* Give the region its pages, and a key and an address that tell nothing; then let it be used. */
static int set_region(struct rc_device *dev, struct rc_mem *m, u32 len)
{
	static const int access[] = {
		[SDP_MEM_PEER_READS]	= IB_ACCESS_REMOTE_READ,
		[SDP_MEM_PEER_WRITES]	= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
		[SDP_MEM_READ_INTO]	= IB_ACCESS_LOCAL_WRITE,
		[SDP_MEM_WRITE_FROM]	= 0,
	};
	struct ib_mr *mr = m->region->mr;
	u32 stale = m->region->valid ? mr->rkey : 0;
	int n, err;

	n = ib_map_mr_sg(mr, m->sgt.sgl, m->sgt.nents, NULL, PAGE_SIZE);
	if (n < 0)
		return n;
	if (n != m->sgt.nents)
		return -EINVAL;
	ib_update_fast_reg_key(mr, mr->rkey + 1 + get_random_u32_below(255));
	mr->iova = (get_random_u64() & GENMASK_ULL(VA_BITS - 2, PAGE_SHIFT)) |
		   offset_in_page(mr->iova);
	err = rc_reg_mr(dev, mr, stale, access[m->use]);
	if (err)
		return err;
	m->region->valid = true;
	m->mem.region.len = len;
	m->mem.region.rkey = mr->rkey;
	m->mem.region.va = mr->iova;
	return 0;
}

static enum dma_data_direction direction(const struct rc_mem *m)
{
	return sdp_mem_changes(m->use) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

static int map_pages(struct ib_device *ib, struct rc_mem *m, const struct sdp_pages *pages)
{
	int err = sg_alloc_table_from_pages_segment(&m->sgt, pages->pages, pages->n, pages->offset,
						    pages->len, ib_dma_max_seg_size(ib),
						    GFP_KERNEL);

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
	struct rc_device *dev = to_rc(link)->dev;
	struct rc_mem *m;
	int err;

	/* Pairs with rc_reg_start(). */
	if (!smp_load_acquire(&dev->reg_ready))
		return ERR_PTR(-EOPNOTSUPP);
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	m->use = pages->use;
	m->mem.settled = true;
	init_completion(&m->mem.done);
	err = map_pages(dev->ib, m, pages);
	if (err)
		goto free;
	m->region = take_region(dev);
	err = PTR_ERR_OR_ZERO(m->region);
	if (err)
		goto unmap;
	err = set_region(dev, m, pages->len);
	if (!err)
		return &m->mem;
	give_region(dev, m->region, false);
unmap:
	unmap_pages(dev->ib, m);
free:
	kfree(m);
	return ERR_PTR(err);
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
	bool again = true;

	if (sdp_mem_exposed(m->use)) {
		/* To free a region is to wait until nobody is at it, on whatever processor. */
		again = !rc_reg_end(dev, m->region->mr) && mem->settled;
		m->region->valid = false;
	}
	give_region(dev, m->region, again);
	unmap_pages(dev->ib, m);
	kfree(m);
}

static void move_done(struct rc_link *rc, struct rc_move *move, const struct ib_wc *wc)
{
	struct sdp_mem *mem = move->mem;

	move->mem = NULL;
	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR)
		rc_up->failed(&rc->link, rc_send_error(wc->status), ib_wc_status_msg(wc->status));
	mem->error = wc->status == IB_WC_SUCCESS ? 0 : -EIO;
	if (move == &rc->reading)
		rc_up->read(&rc->link, mem->error);
	complete(&mem->done);
}

static void read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc = container_of(wc->wr_cqe, struct rc_link, reading.cqe);

	move_done(rc, &rc->reading, wc);
}

static void write_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rc_link *rc = container_of(wc->wr_cqe, struct rc_link, writing.cqe);

	move_done(rc, &rc->writing, wc);
}

/**
 * rc_move_init() - prepare a link for reads and writes
 * @rc: link
 */
void rc_move_init(struct rc_link *rc)
{
	rc->reading.cqe.done = read_done;
	rc->writing.cqe.done = write_done;
}

/**
 * rc_move() - read from the peer's memory into ours, or write from ours into the peer's
 * @link: the link, connected; under its owner's lock; nothing else is being moved that way
 * @mem: registered for one of these, and as long as @remote at least
 * @remote: the peer's memory
 *
 * Return: true when @mem's completion will come, and up->read() for a read; else the link is
 * broken.
 */
bool rc_move(struct sdp_link *link, struct sdp_mem *mem, const struct sdp_region *remote)
{
	struct rc_link *rc = to_rc(link);
	bool read = to_rc_mem(mem)->use == SDP_MEM_READ_INTO;
	struct rc_move *move = read ? &rc->reading : &rc->writing;
	struct ib_sge sge = {
		.addr = mem->region.va, .length = remote->len,
		.lkey = to_rc_mem(mem)->region->mr->lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &move->cqe,
			.opcode = read ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
		},
		.remote_addr = remote->va,
		.rkey = remote->rkey,
	};

	move->mem = mem;
	if (!ib_post_send(rc->qp, &wr.wr, NULL))
		return true;
	move->mem = NULL;
	rc_link_poke(rc, RC_BROKEN);
	return false;
}
