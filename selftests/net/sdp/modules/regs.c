// SPDX-License-Identifier: GPL-2.0
/*
 * A device that fails to register memory, or to create queue pairs.
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
 *	table	no queue pair is created: soft-RoCE's table is full (EINVAL)
 *	memory	no queue pair is created, as with adapters (ENOMEM)
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
static atomic_t failures;

static int refuse_table(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	atomic_inc(&failures);
	return -EINVAL;
}

static int refuse_memory(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	atomic_inc(&failures);
	return -ENOMEM;
}

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

/**
 * struct way - a way in which posted requests fail
 * @how: its name
 * @opcode: kind of the requests that fail
 * @only: if not NULL, only those fail for which it returns true
 * @err: the device refuses them with this errno
 * @spoils: they get a key that no region has
 * @flushes: their queue pair enters the error state
 */
struct way {
	const char *how;
	enum ib_wr_opcode opcode;
	bool (*only)(const struct ib_send_wr *wr);
	int err;
	bool spoils;
	bool flushes;
};

/* soft-RoCE maps to kernel addresses, which are negative. */
static bool is_moved(const struct ib_send_wr *wr)
{
	return !(reg_wr(wr)->access & (IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)) &&
	       (s64)reg_wr(wr)->mr->iova >= 0;
}

/* An invalidation with a registration behind it is of a key that no peer knows. */
static bool is_alone(const struct ib_send_wr *wr)
{
	return !wr->next;
}

static const struct way ways[] = {
	{ "post", IB_WR_REG_MR, .err = -ENOMEM },
	{ "reg", IB_WR_REG_MR, .spoils = true },
	{ "end", IB_WR_LOCAL_INV, .spoils = true },
	{ "taken", IB_WR_LOCAL_INV, .only = is_alone, .spoils = true },
	{ "flush", IB_WR_REG_MR, .flushes = true },
	{ "noinv", IB_WR_LOCAL_INV, .err = -EINVAL },
	{ "base", IB_WR_REG_MR, .only = is_moved, .spoils = true },
	{ "revoke", IB_WR_SEND_WITH_INV },
};

static const struct way *way;

/* The requests belong to their poster, and are const here only. */
static void spoil(const struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_REG_MR)
		((struct ib_reg_wr *)reg_wr(wr))->key ^= FOREIGN;
	else
		((struct ib_send_wr *)wr)->ex.invalidate_rkey ^= FOREIGN;
}

static int post_send(struct ib_qp *qp, const struct ib_send_wr *first,
		     const struct ib_send_wr **bad)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };
	const struct way *now = READ_ONCE(way);
	const struct ib_send_wr *wr;

	for (wr = first; wr; wr = wr->next) {
		if (wr->opcode != now->opcode || (now->only && !now->only(wr)))
			continue;
		atomic_inc(&failures);
		if (now->err) {
			*bad = first;
			return now->err;
		}
		if (now->spoils)
			spoil(wr);
		if (now->flushes)
			ib_modify_qp(qp, &error, IB_QP_STATE);
	}
	return real.post_send(qp, first, bad);
}

static int fail_requests(const char *how)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (strcmp(how, ways[i].how))
			continue;
		WRITE_ONCE(way, &ways[i]);
		WRITE_ONCE(ib->ops.post_send, post_send);
		return 0;
	}
	return -EINVAL;
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

/**
 * hostile_registers() - let the device register memory and create queue pairs again
 */
void hostile_registers(void)
{
	if (!ib)
		return;
	WRITE_ONCE(ib->ops.create_qp, real.create_qp);
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
 * hostile_registers_not() - let a device fail from now on
 * @name: its network device; "none": only end what was before
 * @how: one of the ways in the head of this file
 *
 * Return: 0 or an errno.
 */
int hostile_registers_not(const char *name, const char *how)
{
	struct net_device *ndev;
	int err = 0;

	hostile_registers();
	if (!strcmp(name, "none"))
		return 0;
	ndev = dev_get_by_name(&init_net, name);
	if (!ndev)
		return -ENODEV;
	ib = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
	dev_put(ndev);
	if (!ib)
		return -ENODEV;
	real = ib->ops;
	real_sizes = ib->attrs.page_size_cap;
	atomic_set(&failures, 0);
	if (!strcmp(how, "pages"))
		large_pages();
	else if (!strcmp(how, "dereg"))
		WRITE_ONCE(ib->ops.dereg_mr, keep_region);
	else if (!strcmp(how, "lines"))
		err = probe_line();
	else if (!strcmp(how, "alloc"))
		WRITE_ONCE(ib->ops.alloc_mr, refuse_region);
	else if (!strcmp(how, "map"))
		WRITE_ONCE(ib->ops.map_mr_sg, take_fewer);
	else if (!strcmp(how, "table"))
		WRITE_ONCE(ib->ops.create_qp, refuse_table);
	else if (!strcmp(how, "memory"))
		WRITE_ONCE(ib->ops.create_qp, refuse_memory);
	else
		err = fail_requests(how);
	if (err)
		hostile_registers();
	return err;
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
