// SPDX-License-Identifier: GPL-2.0
/*
 * Allocation failures in workers of the kernel, while connections are made and ended.
 *
 * A task's fault injection does not reach these workers:
 *
 *	dreq	the CM allocates a DREQ
 *	rtu	the CM allocates an RTU
 *	notify	the CM is told that the connection is established
 *	rtr	a queue pair is connected to itself, as the one for registrations is
 *
 * With "reserve" only allocations that may use the kernel's reserves (PF_MEMALLOC) succeed.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>

static bool reserve;
module_param(reserve, bool, 0644);
MODULE_PARM_DESC(reserve, "who may use the kernel's reserve gets memory all the same");

/* No lock: a test's messages come one after the other. */
static unsigned int refused;
module_param(refused, uint, 0644);
MODULE_PARM_DESC(refused, "how often there was none");

static unsigned int spared;
module_param(spared, uint, 0644);
MODULE_PARM_DESC(spared, "how often it came of the reserve");

static int notify;
module_param(notify, int, 0644);
MODULE_PARM_DESC(notify, "how many words to the CM still get none");

static int rtr;
module_param(rtr, int, 0644);
MODULE_PARM_DESC(rtr, "how many queue pairs that are connected to themselves");

static int dreq, rtu;
module_param(dreq, int, 0644);
MODULE_PARM_DESC(dreq, "how many DREQs");
module_param(rtu, int, 0644);
MODULE_PARM_DESC(rtu, "how many RTUs");

/* The task that is sending a message that gets no memory, and the count of that kind. */
static struct task_struct *sender;
static int *kind;

static bool refuse(int *count)
{
	if (READ_ONCE(*count) <= 0)
		return false;
	WRITE_ONCE(*count, READ_ONCE(*count) - 1);
	WRITE_ONCE(refused, READ_ONCE(refused) + 1);
	return true;
}

static void *no_message(void)
{
	return ERR_PTR(-ENOMEM);
}

static int no_memory(void)
{
	return -ENOMEM;
}

static int begin(int *count)
{
	if (READ_ONCE(*count) <= 0 || cmpxchg(&sender, NULL, current))
		return 1;
	kind = count;
	return 0;
}

static int begin_dreq(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return begin(&dreq);
}

static int begin_rtu(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return begin(&rtu);
}

static int end(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	WRITE_ONCE(sender, NULL);
	return 0;
}

/* Diverts the call to no_message(). */
static int before_create(struct kprobe *probe, struct pt_regs *regs)
{
	if (READ_ONCE(sender) != current)
		return 0;
	if (READ_ONCE(reserve) && (current->flags & PF_MEMALLOC)) {
		WRITE_ONCE(spared, READ_ONCE(spared) + 1);
		return 0;
	}
	if (!refuse(kind))
		return 0;
	instruction_pointer_set(regs, (unsigned long)no_message);
	return 1;
}

static int before_notify(struct kprobe *probe, struct pt_regs *regs)
{
	if (!refuse(&notify))
		return 0;
	instruction_pointer_set(regs, (unsigned long)no_memory);
	return 1;
}

static int before_modify(struct kprobe *probe, struct pt_regs *regs)
{
	struct ib_qp *qp = (struct ib_qp *)regs_get_kernel_argument(regs, 0);
	struct ib_qp_attr *attr = (struct ib_qp_attr *)regs_get_kernel_argument(regs, 1);

	if (!(regs_get_kernel_argument(regs, 2) & IB_QP_DEST_QPN) ||
	    attr->dest_qp_num != qp->qp_num || !refuse(&rtr))
		return 0;
	instruction_pointer_set(regs, (unsigned long)no_memory);
	return 1;
}

static struct kprobe create = {
	.symbol_name = "ib_create_send_mad", .pre_handler = before_create,
};
static struct kprobe tell = { .symbol_name = "ib_cm_notify", .pre_handler = before_notify };
static struct kprobe modify = { .symbol_name = "rxe_modify_qp", .pre_handler = before_modify };
static struct kprobe *probes[] = { &create, &tell, &modify };

static struct kretprobe send_dreq = {
	.kp.symbol_name = "ib_send_cm_dreq", .entry_handler = begin_dreq, .handler = end,
};
static struct kretprobe send_rtu = {
	.kp.symbol_name = "ib_send_cm_rtu", .entry_handler = begin_rtu, .handler = end,
};
static struct kretprobe *sends[] = { &send_dreq, &send_rtu };

static int __init scarce_init(void)
{
	int err = register_kprobes(probes, ARRAY_SIZE(probes));

	if (err)
		return err;
	err = register_kretprobes(sends, ARRAY_SIZE(sends));
	if (err)
		unregister_kprobes(probes, ARRAY_SIZE(probes));
	return err;
}

static void __exit scarce_exit(void)
{
	unregister_kretprobes(sends, ARRAY_SIZE(sends));
	unregister_kprobes(probes, ARRAY_SIZE(probes));
	/* A task may still be in one of our functions. */
	synchronize_rcu_tasks();
}

module_init(scarce_init);
module_exit(scarce_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Connection management without memory, for tests");
