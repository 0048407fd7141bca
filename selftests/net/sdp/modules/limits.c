// SPDX-License-Identifier: GPL-2.0
/*
 * A device with the low limits of some adapters.
 *
 * soft-RoCE takes long queues and many pieces. While this module is loaded, its devices state the
 * limits that the parameters give, and refuse what goes beyond them, as an adapter would. Refusals
 * are counted: the module under test must ask for nothing that the device does not offer. Load it
 * before the module under test, which looks at the limits once.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#define LIMIT(name, what)				\
	static int name = -1;				\
	module_param(name, int, 0444);			\
	MODULE_PARM_DESC(name, what)

LIMIT(send_sge, "pieces of a send");
LIMIT(recv_sge, "pieces of a receive");
LIMIT(qp_wr, "requests in a queue");
LIMIT(cqe, "entries of a completion queue");
LIMIT(region_pages, "pages of a memory region");
LIMIT(rd_atom, "RDMA reads in flight");
LIMIT(vectors, "completion vectors");
LIMIT(regions, "0: memory is not registered by a queue pair");

static atomic_t refused;
module_param_named(refused, refused.counter, int, 0444);
MODULE_PARM_DESC(refused, "how often more was asked for");

/**
 * struct limited - a device as it was
 * @ib: the device
 * @ops: its operations
 * @attrs: its attributes
 * @vectors: number of its completion vectors
 */
struct limited {
	struct ib_device *ib;
	struct ib_device_ops ops;
	struct ib_device_attr attrs;
	int vectors;
};

static struct ib_client client;

static const struct ib_device_ops *real_ops(struct ib_device *ib)
{
	return &((struct limited *)ib_get_client_data(ib, &client))->ops;
}

static int refuse(const char *what)
{
	pr_info("sdp_limits: refused: %s\n", what);
	atomic_inc(&refused);
	return -EINVAL;
}

static int create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	const struct ib_device_attr *most = &qp->device->attrs;

	if (attr->cap.max_send_sge > most->max_send_sge)
		return refuse("pieces of a send");
	if (attr->cap.max_recv_sge > most->max_recv_sge)
		return refuse("pieces of a receive");
	if (attr->cap.max_send_wr > most->max_qp_wr || attr->cap.max_recv_wr > most->max_qp_wr)
		return refuse("requests in a queue");
	return real_ops(qp->device)->create_qp(qp, attr, udata);
}

static int modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	int most = qp->device->attrs.max_qp_rd_atom;

	if (((mask & IB_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > most) ||
	    ((mask & IB_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > most))
		return refuse("RDMA reads in flight");
	return real_ops(qp->device)->modify_qp(qp, attr, mask, udata);
}

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 pages)
{
	const struct ib_device_attr *most = &pd->device->attrs;

	if (!(most->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    pages > most->max_fast_reg_page_list_len)
		return ERR_PTR(refuse("pages of a region"));
	return real_ops(pd->device)->alloc_mr(pd, type, pages);
}

static int post_send(struct ib_qp *qp, const struct ib_send_wr *first,
		     const struct ib_send_wr **bad)
{
	const struct ib_device_attr *most = &qp->device->attrs;
	const struct ib_send_wr *wr;
	const char *what = NULL;

	for (wr = first; wr && !what; wr = wr->next) {
		if (wr->num_sge > most->max_send_sge)
			what = "pieces of a request";
		if (wr->opcode == IB_WR_RDMA_READ && !most->max_qp_rd_atom)
			what = "an RDMA read";
		if (wr->opcode == IB_WR_REG_MR &&
		    !(most->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
			what = "a registration";
	}
	if (what) {
		*bad = first;
		return refuse(what);
	}
	return real_ops(qp->device)->post_send(qp, first, bad);
}

static void look_at_cq(const struct pt_regs *regs, int entries)
{
	const struct ib_device *ib = (void *)regs_get_kernel_argument((struct pt_regs *)regs, 0);

	if (entries > ib->attrs.max_cqe)
		refuse("entries of a completion queue");
}

/* ib_core passes the number on to the device as it is. */
static int before_cq(struct kprobe *probe, struct pt_regs *regs)
{
	look_at_cq(regs, (int)regs_get_kernel_argument(regs, 2));
	return 0;
}

/* A part of a shared queue: more than there are in a whole one, and ib_core makes ever more. */
static int before_part(struct kprobe *probe, struct pt_regs *regs)
{
	look_at_cq(regs, (int)regs_get_kernel_argument(regs, 1));
	return 0;
}

static struct kprobe new_cq = { .symbol_name = "__ib_alloc_cq", .pre_handler = before_cq };
static struct kprobe part = { .symbol_name = "ib_cq_pool_get", .pre_handler = before_part };
static struct kprobe *probes[] = { &new_cq, &part };

static void lower_int(int *limit, int to)
{
	if (to >= 0)
		WRITE_ONCE(*limit, min(*limit, to));
}

static void lower_u32(u32 *limit, int to)
{
	if (to >= 0)
		WRITE_ONCE(*limit, min_t(u32, *limit, to));
}

static void lower(struct ib_device *ib)
{
	lower_int(&ib->attrs.max_send_sge, send_sge);
	lower_int(&ib->attrs.max_sge_rd, send_sge);
	lower_int(&ib->attrs.max_recv_sge, recv_sge);
	lower_int(&ib->attrs.max_qp_wr, qp_wr);
	lower_int(&ib->attrs.max_cqe, cqe);
	lower_u32(&ib->attrs.max_fast_reg_page_list_len, region_pages);
	lower_int(&ib->attrs.max_qp_rd_atom, rd_atom);
	lower_int(&ib->attrs.max_qp_init_rd_atom, rd_atom);
	lower_int(&ib->num_comp_vectors, vectors);
	if (!regions)
		ib->attrs.device_cap_flags &= ~IB_DEVICE_MEM_MGT_EXTENSIONS;
}

static int limit_device(struct ib_device *ib)
{
	struct limited *was = kmalloc(sizeof(*was), GFP_KERNEL);

	if (!was)
		return -ENOMEM;
	was->ib = ib;
	was->ops = ib->ops;
	was->attrs = ib->attrs;
	was->vectors = ib->num_comp_vectors;
	ib_set_client_data(ib, &client, was);
	lower(ib);
	WRITE_ONCE(ib->ops.create_qp, create_qp);
	WRITE_ONCE(ib->ops.modify_qp, modify_qp);
	WRITE_ONCE(ib->ops.alloc_mr, alloc_mr);
	WRITE_ONCE(ib->ops.post_send, post_send);
	return 0;
}

static void free_device(struct ib_device *ib, void *data)
{
	struct limited *was = data;

	ib->attrs = was->attrs;
	ib->num_comp_vectors = was->vectors;
	WRITE_ONCE(ib->ops.create_qp, was->ops.create_qp);
	WRITE_ONCE(ib->ops.modify_qp, was->ops.modify_qp);
	WRITE_ONCE(ib->ops.alloc_mr, was->ops.alloc_mr);
	WRITE_ONCE(ib->ops.post_send, was->ops.post_send);
	/* A task in one of our functions has left it before @was goes. */
	synchronize_rcu_tasks();
	synchronize_rcu();
	kfree(was);
}

static struct ib_client client = {
	.name = "sdp_limits",
	.add = limit_device,
	.remove = free_device,
};

static int __init limits_init(void)
{
	int err = register_kprobes(probes, ARRAY_SIZE(probes));

	if (err)
		return err;
	err = ib_register_client(&client);
	if (err)
		unregister_kprobes(probes, ARRAY_SIZE(probes));
	return err;
}

static void __exit limits_exit(void)
{
	ib_unregister_client(&client);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}

module_init(limits_init);
module_exit(limits_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("soft-RoCE with low limits, for tests");
