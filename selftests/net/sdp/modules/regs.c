// SPDX-License-Identifier: GPL-2.0
/*
 * A device that fails to register memory.
 *
 * soft-RoCE never fails, so its functions are replaced by functions that fail in one of the ways
 * in which a device can:
 *
 *	alloc	no regions are left
 *	map	a region does not take all pages
 *	post	a request is not accepted
 *	reg	a registration completes with an error, and its queue pair is in the error state
 *	end	an invalidation completes with an error
 *	taken	an invalidation without a registration behind it completes with an error, as if
 *		the peer had just invalidated the key
 *	flush	the queue pair enters the error state before a registration is posted: the request
 *		is flushed, and with sdp_cqe_loss.ko its completion is lost
 *
 *	noinv	an invalidation is not accepted, as on hns
 *	base	a region for our own use has another address than it was mapped with, which hfi1
 *		refuses: the request fails
 *	dereg	a region is not deregistered
 *	lines	the device's writes bypass caches, whose lines are 2 MiB
 *	pages	a region supports pages of 2 MiB only, and reports that
 *
 * For "reg", "end" and "taken" soft-RoCE gets a key that no region has, and fails by itself.
 *
 * With "revoke" nothing fails: messages by Send with Invalidate are counted.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>

#include "hostile.h"

/* No region has so high an index. */
#define FOREIGN		0x80000000

static struct ib_device *ib;
static struct ib_device_ops real;
static u64 real_sizes;
static enum ib_wr_opcode spoiled;
static atomic_t failures;

static struct ib_mr *refuse_region(struct ib_pd *pd, enum ib_mr_type type, u32 max)
{
	atomic_inc(&failures);
	return ERR_PTR(-ENOMEM);
}

static int take_fewer(struct ib_mr *mr, struct scatterlist *sg, int n, unsigned int *offset)
{
	int all = real.map_mr_sg(mr, sg, n, offset);

	atomic_inc(&failures);
	return all > 0 ? all - 1 : all;
}

static int refuse_request(struct ib_qp *qp, const struct ib_send_wr *first,
			  const struct ib_send_wr **bad)
{
	const struct ib_send_wr *wr;

	for (wr = first; wr; wr = wr->next) {
		if (wr->opcode != IB_WR_REG_MR)
			continue;
		atomic_inc(&failures);
		*bad = first;
		return -ENOMEM;
	}
	return real.post_send(qp, first, bad);
}

/* The requests belong to their poster, and are const here only. */
static void spoil(const struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_REG_MR)
		((struct ib_reg_wr *)reg_wr(wr))->key ^= FOREIGN;
	else
		((struct ib_send_wr *)wr)->ex.invalidate_rkey ^= FOREIGN;
}

static int spoil_request(struct ib_qp *qp, const struct ib_send_wr *first,
			 const struct ib_send_wr **bad)
{
	const struct ib_send_wr *wr;

	for (wr = first; wr; wr = wr->next) {
		if (wr->opcode != READ_ONCE(spoiled))
			continue;
		atomic_inc(&failures);
		spoil(wr);
	}
	return real.post_send(qp, first, bad);
}

/* An invalidation with a registration behind it is of a key that no peer knows. */
static int spoil_taken(struct ib_qp *qp, const struct ib_send_wr *first,
		       const struct ib_send_wr **bad)
{
	if (first->opcode == IB_WR_LOCAL_INV && !first->next) {
		atomic_inc(&failures);
		spoil(first);
	}
	return real.post_send(qp, first, bad);
}

static int refuse_invalidation(struct ib_qp *qp, const struct ib_send_wr *first,
			       const struct ib_send_wr **bad)
{
	if (first->opcode == IB_WR_LOCAL_INV) {
		atomic_inc(&failures);
		*bad = first;
		return -EINVAL;
	}
	return real.post_send(qp, first, bad);
}

/* soft-RoCE maps to kernel addresses, which are negative. */
static int spoil_moved(struct ib_qp *qp, const struct ib_send_wr *first,
		       const struct ib_send_wr **bad)
{
	const struct ib_send_wr *wr;

	for (wr = first; wr; wr = wr->next) {
		if (wr->opcode != IB_WR_REG_MR ||
		    (reg_wr(wr)->access & (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)) ||
		    (s64)reg_wr(wr)->mr->iova < 0)
			continue;
		atomic_inc(&failures);
		spoil(wr);
	}
	return real.post_send(qp, first, bad);
}

static int refuse_pages(struct ib_mr *mr, struct scatterlist *sg, int n, unsigned int *offset)
{
	atomic_inc(&failures);
	return -EINVAL;
}

static void large_pages(void)
{
	WRITE_ONCE(ib->ops.map_mr_sg, refuse_pages);
	WRITE_ONCE(ib->attrs.page_size_cap, SZ_2M);
}

static int keep_region(struct ib_mr *mr, struct ib_udata *udata)
{
	atomic_inc(&failures);
	return -EIO;
}

static int after_line(struct kretprobe_instance *probe, struct pt_regs *regs)
{
	atomic_inc(&failures);
	regs_set_return_value(regs, SZ_2M);
	return 0;
}

static struct kretprobe line = {
	.kp.symbol_name = "rc_mem_line", .handler = after_line, .maxactive = 64,
};

static bool line_probed;

static int probe_line(void)
{
	int err;

	/* register_kretprobe() needs these fields as they were before the first registration. */
	line.kp.addr = NULL;
	line.kp.flags = 0;
	err = register_kretprobe(&line);
	line_probed = !err;
	return err;
}

static int count_revoking(struct ib_qp *qp, const struct ib_send_wr *first,
			  const struct ib_send_wr **bad)
{
	if (first->opcode == IB_WR_SEND_WITH_INV)
		atomic_inc(&failures);
	return real.post_send(qp, first, bad);
}

static int flush_request(struct ib_qp *qp, const struct ib_send_wr *first,
			 const struct ib_send_wr **bad)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	const struct ib_send_wr *wr;

	for (wr = first; wr; wr = wr->next) {
		if (wr->opcode != IB_WR_REG_MR)
			continue;
		atomic_inc(&failures);
		ib_modify_qp(qp, &error, IB_QP_STATE);
	}
	return real.post_send(qp, first, bad);
}

/**
 * hostile_registers() - let the device register memory again
 */
void hostile_registers(void)
{
	if (!ib)
		return;
	WRITE_ONCE(ib->ops.alloc_mr, real.alloc_mr);
	WRITE_ONCE(ib->ops.map_mr_sg, real.map_mr_sg);
	WRITE_ONCE(ib->ops.post_send, real.post_send);
	WRITE_ONCE(ib->ops.dereg_mr, real.dereg_mr);
	WRITE_ONCE(ib->attrs.page_size_cap, real_sizes);
	if (line_probed)
		unregister_kretprobe(&line);
	line_probed = false;
	/* A task in one of our functions has left it before the module can be unloaded. */
	synchronize_rcu_tasks();
	ib_device_put(ib);
	ib = NULL;
}

/**
 * hostile_registers_not() - let a device fail to register memory from now on
 * @name: its network device
 * @how: one of the ways in the head of this file
 *
 * Return: 0 or an errno.
 */
int hostile_registers_not(const char *name, const char *how)
{
	struct net_device *ndev = dev_get_by_name(&init_net, name);

	hostile_registers();
	if (!ndev)
		return -ENODEV;
	ib = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
	dev_put(ndev);
	if (!ib)
		return -ENODEV;
	real = ib->ops;
	real_sizes = ib->attrs.page_size_cap;
	atomic_set(&failures, 0);
	WRITE_ONCE(spoiled, !strcmp(how, "end") ? IB_WR_LOCAL_INV : IB_WR_REG_MR);
	if (!strcmp(how, "pages"))
		large_pages();
	else if (!strcmp(how, "noinv"))
		WRITE_ONCE(ib->ops.post_send, refuse_invalidation);
	else if (!strcmp(how, "dereg"))
		WRITE_ONCE(ib->ops.dereg_mr, keep_region);
	else if (!strcmp(how, "lines"))
		return probe_line();
	else if (!strcmp(how, "base"))
		WRITE_ONCE(ib->ops.post_send, spoil_moved);
	else if (!strcmp(how, "alloc"))
		WRITE_ONCE(ib->ops.alloc_mr, refuse_region);
	else if (!strcmp(how, "map"))
		WRITE_ONCE(ib->ops.map_mr_sg, take_fewer);
	else if (!strcmp(how, "post"))
		WRITE_ONCE(ib->ops.post_send, refuse_request);
	else if (!strcmp(how, "flush"))
		WRITE_ONCE(ib->ops.post_send, flush_request);
	else if (!strcmp(how, "taken"))
		WRITE_ONCE(ib->ops.post_send, spoil_taken);
	else if (!strcmp(how, "revoke"))
		WRITE_ONCE(ib->ops.post_send, count_revoking);
	else
		WRITE_ONCE(ib->ops.post_send, spoil_request);
	return 0;
}

/**
 * hostile_registers_failed() - count of failures
 *
 * Return: number of failures since hostile_registers_not().
 */
int hostile_registers_failed(void)
{
	return atomic_read(&failures);
}
