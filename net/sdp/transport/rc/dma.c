// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: DMA mapping of memory for RDMA.
 *
 * The pages of a transfer are mapped for the device as few pieces as possible,
 * from mem_create() until mem_destroy() in mr.c. If they have a memory region,
 * the pieces have to join at page boundaries.
 *
 * They do not if the kernel bounces them: the device then reaches other memory,
 * which the kernel copies from and to. The bounce buffer of a page or more
 * begins at a page boundary, that of a part of a page may begin anywhere. So a
 * first page of which only the end is mapped would begin at a boundary, and end
 * too early. Such memory is mapped with edges: in place of its first and last
 * page, if it has parts of them only, pages of ours are mapped as a whole. The
 * bytes of these parts are copied, and no others: neither the device, nor a
 * host that is not trusted with the memory of its guest, sees more of the
 * program's memory than what it gave.
 */
#include <linux/dma-map-ops.h>
#include <linux/highmem.h>
#include <linux/iommu.h>
#include <linux/slab.h>

#include "rc.h"

static enum dma_data_direction mem_direction(const struct rc_mem *m)
{
	return sdp_mem_changes(m->use) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

/**
 * rc_mem_device() - return the device that accesses memory by DMA
 * @ib: device
 *
 * A function of its own, so that a test can replace it.
 *
 * Return: the device, or NULL if the CPU copies, by kernel addresses.
 */
noinline struct device *rc_mem_device(struct ib_device *ib)
{
	return ib_uses_virt_dma(ib) ? NULL : ib->dma_device;
}

/**
 * rc_mem_line() - return the alignment of memory that a device writes to
 * @ib: device
 *
 * If caches do not see a device's writes, the application must not write to a
 * cache line at either end of the memory. Otherwise one of the two writes
 * would be lost. A function of its own, so that a test can replace it.
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

/**
 * rc_dma_shares_lines() - would the device write to lines of other memory?
 * @ib: device
 * @pages: memory, and its purpose
 *
 * Return: true if it would, see rc_mem_line().
 */
bool rc_dma_shares_lines(struct ib_device *ib, const struct sdp_pages *pages)
{
	u32 line = rc_mem_line(ib);

	return sdp_mem_changes(pages->use) &&
	       !IS_ALIGNED(pages->offset | pages->len, line);
}

/*
 * Return whether the DMA API asks for syncs of this memory. Behind an IOMMU the
 * answer does not depend on whether this memory is bounced.
 */
static bool mem_needs_sync(struct device *dev, const struct sg_table *sgt)
{
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return true;
	}
	return false;
}

/* The page behind a device's address, whose first one has an offset. */
static phys_addr_t mem_phys_page(struct iommu_domain *domain,
				 struct sg_dma_page_iter *it)
{
	return iommu_iova_to_phys(domain, sg_page_iter_dma_address(it)) &
	       PAGE_MASK;
}

/*
 * Return whether the IOMMU maps the device's addresses to these whole pages,
 * and not to copies of them. Ask only a domain of the DMA API: others may lack
 * a function that translates. The domain stays the same as long as the device
 * has a driver.
 */
static bool mem_iommu_direct(struct device *dev, const struct sg_table *sgt,
			     const struct sdp_pages *pages)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);
	struct sg_dma_page_iter it;
	unsigned int n = 0;

	if (!domain || !iommu_is_dma_domain(domain))
		return false;
	for_each_sgtable_dma_page(sgt, &it, 0) {
		if (n == pages->n ||
		    mem_phys_page(domain, &it) != page_to_phys(pages->pages[n]))
			return false;
		n++;
	}
	return n == pages->n;
}

/**
 * rc_dma_seen_at_once() - is data that the adapter writes in the pages at once?
 * @ib: device
 * @m: memory, mapped without edges
 * @pages: its pages
 *
 * It is not if it is bounced through other memory. (A page of a ring is mapped
 * twice, and its two mappings would even have different bounce buffers.) It is
 * not either if the CPU's cache hides it.
 *
 * Behind an IOMMU, the DMA API asks for syncs of all memory: before 6.10
 * always, since then as soon as it has bounced a single buffer of the device.
 * If caches see the device's writes, only bouncing can be the reason. The
 * IOMMU's own translation then shows whether these pages are bounced.
 *
 * Return: true if it is.
 */
bool rc_dma_seen_at_once(struct ib_device *ib, const struct rc_mem *m,
			 const struct sdp_pages *pages)
{
	struct device *dev = rc_mem_device(ib);

	return !dev || !mem_needs_sync(dev, &m->sgt) ||
	       (dev_is_dma_coherent(dev) &&
		mem_iommu_direct(dev, &m->sgt, pages));
}

/*
 * Bytes that one piece may have. Bounce buffers have 256 KiB at most, and all
 * memory of an untrusted device, or of a confidential guest, may need them.
 */
static unsigned int piece_max(struct ib_device *ib)
{
	size_t most = ib_dma_max_seg_size(ib);

	return ib_uses_virt_dma(ib) ? most :
	       min(most, dma_max_mapping_size(ib->dma_device));
}

static int map_pages(struct ib_device *ib, struct rc_mem *m,
		     struct page **pages, u32 offset, u32 len)
{
	int err = sg_alloc_table_from_pages_segment(
		&m->sgt, pages, DIV_ROUND_UP(offset + len, PAGE_SIZE), offset,
		len, piece_max(ib), GFP_KERNEL);

	if (err)
		return err;
	err = ib_dma_map_sgtable_attrs(ib, &m->sgt, mem_direction(m), 0);
	if (err)
		sg_free_table(&m->sgt);
	return err;
}

/* Put a page of ours in place of *@page, with the @len bytes of the memory. */
static int edge_make(struct rc_edge *e, struct page **page, u32 offset, u32 len)
{
	e->copy = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!e->copy)
		return -ENOMEM;
	e->page = *page;
	e->offset = offset;
	e->len = len;
	memcpy_page(e->copy, offset, e->page, offset, len);
	*page = e->copy;
	return 0;
}

/* Copy back what the device has written to our page. */
static void edge_written(const struct rc_edge *e)
{
	if (e->copy)
		memcpy_page(e->page, e->offset, e->copy, e->offset, e->len);
}

static void edge_free(struct rc_edge *e)
{
	if (e->copy)
		__free_page(e->copy);
	e->copy = NULL;
}

/* The edges of @n pages in @list, which are the memory's. */
static int edges_make(struct rc_mem *m, struct page **list, unsigned int n)
{
	int err = 0;

	if (m->head)
		err = edge_make(&m->first, list, m->head, PAGE_SIZE - m->head);
	if (!err && m->tail)
		err = edge_make(&m->last, list + n - 1, 0,
				PAGE_SIZE - m->tail);
	return err;
}

static int map_with_edges(struct ib_device *ib, struct rc_mem *m,
			  const struct sdp_pages *pages)
{
	u32 end = pages->offset + pages->len;
	unsigned int n = DIV_ROUND_UP(end, PAGE_SIZE);
	struct page **list;
	int err;

	list = kmemdup(pages->pages, n * sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	m->head = pages->offset;
	m->tail = n * PAGE_SIZE - end;
	err = edges_make(m, list, n);
	if (!err)
		err = map_pages(ib, m, list, 0, n * PAGE_SIZE);
	kfree(list);
	if (!err)
		return 0;
	edge_free(&m->first);
	edge_free(&m->last);
	return err;
}

/**
 * rc_dma_map() - map pages for the device
 * @ib: device
 * @m: memory, with its purpose; rc_dma_unmap() frees what it gets
 * @pages: pages and range; the caller keeps them in place
 * @edges: with edges, see the head of this file; more than one page
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int rc_dma_map(struct ib_device *ib, struct rc_mem *m,
	       const struct sdp_pages *pages, bool edges)
{
	if (edges)
		return map_with_edges(ib, m, pages);
	return map_pages(ib, m, pages->pages, pages->offset, pages->len);
}

/**
 * rc_dma_unmap() - unmap pages
 * @ib: device, which does not reach them any more
 * @m: memory
 *
 * May sleep. What the device has written is in the memory's own pages then.
 */
void rc_dma_unmap(struct ib_device *ib, struct rc_mem *m)
{
	ib_dma_unmap_sgtable_attrs(ib, &m->sgt, mem_direction(m), 0);
	if (sdp_mem_changes(m->use)) {
		edge_written(&m->first);
		edge_written(&m->last);
	}
	edge_free(&m->first);
	edge_free(&m->last);
	m->head = 0;
	m->tail = 0;
	sg_free_table(&m->sgt);
}

/**
 * rc_dma_joins() - do the pieces of mapped memory join at page boundaries?
 * @ib: device
 * @m: the memory
 * @page: size of the pages of a memory region
 *
 * Return: false if the kernel bounces the memory, and it has no edges.
 */
bool rc_dma_joins(struct ib_device *ib, const struct rc_mem *m, u32 page)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(&m->sgt, sg, i) {
		u64 begin = sg_dma_address(sg), end = begin + sg_dma_len(sg);

		if ((i && !IS_ALIGNED(begin, page)) ||
		    (i + 1 < m->sgt.nents && !IS_ALIGNED(end, page)))
			return false;
	}
	return true;
}

/**
 * rc_dma_keep() - keep pages that a device may still reach
 * @ib: device
 * @m: memory, whose region the device failed to deregister
 *
 * The peer may reach the memory by the region, so neither its pages nor their
 * DMA addresses may be reused. Their owner gets now what has been written.
 */
void rc_dma_keep(struct ib_device *ib, struct rc_mem *m)
{
	struct sg_page_iter it;

	if (sdp_mem_changes(m->use)) {
		if (!ib_uses_virt_dma(ib))
			dma_sync_sgtable_for_cpu(ib->dma_device, &m->sgt,
						 mem_direction(m));
		edge_written(&m->first);
		edge_written(&m->last);
	}
	for_each_sgtable_page(&m->sgt, &it, 0)
		get_page(sg_page_iter_page(&it));
}

/**
 * rc_dma_release_kept() - unmap and free pages that were kept
 * @ib: device, which does not reach them any more
 * @m: memory after rc_dma_keep()
 *
 * Their owner may use them for something else now, so what has been written
 * meanwhile is not copied to them.
 */
void rc_dma_release_kept(struct ib_device *ib, struct rc_mem *m)
{
	struct sg_page_iter it;

	ib_dma_unmap_sgtable_attrs(ib, &m->sgt, mem_direction(m),
				   DMA_ATTR_SKIP_CPU_SYNC);
	for_each_sgtable_page(&m->sgt, &it, 0)
		put_page(sg_page_iter_page(&it));
	edge_free(&m->first);
	edge_free(&m->last);
	sg_free_table(&m->sgt);
}
