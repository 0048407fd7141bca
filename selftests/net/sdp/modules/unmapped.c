// SPDX-License-Identifier: GPL-2.0
/*
 * DMA mappings that fail, as with exhausted bounce buffers or IOMMU addresses.
 *
 * soft-RoCE maps nothing, so the function that maps a piece of a message is made to fail at
 * moments of our choice: for messages sent by one device, and for receives of another.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

static char sends_on[IB_DEVICE_NAME_MAX], receives_on[IB_DEVICE_NAME_MAX];
module_param_string(sends_on, sends_on, sizeof(sends_on), 0644);
MODULE_PARM_DESC(sends_on, "device that sends");
module_param_string(receives_on, receives_on, sizeof(receives_on), 0644);
MODULE_PARM_DESC(receives_on, "device that receives");

static atomic_t sends, receives;
module_param_named(sends, sends.counter, int, 0644);
MODULE_PARM_DESC(sends, "how many pieces of messages to send are not mapped yet");
module_param_named(receives, receives.counter, int, 0644);
MODULE_PARM_DESC(receives, "how many of those to receive in");

static unsigned int every = 1;
module_param(every, uint, 0644);
MODULE_PARM_DESC(every, "one of so many, which one by chance");

/* Pieces of the current group of @every, and which one of them fails. */
static unsigned int pieces, turn;
static DEFINE_SPINLOCK(turn_lock);

static atomic_t refused, later;
module_param_named(refused, refused.counter, int, 0644);
MODULE_PARM_DESC(refused, "how many were not");
module_param_named(later, later.counter, int, 0644);
MODULE_PARM_DESC(later, "... when another piece of the message had been mapped before");

/*
 * The newest piece. Its owner's lock keeps other messages from this processor until this one is
 * done.
 */
static DEFINE_PER_CPU(const struct ib_sge *, mapped);

static bool not_mapped(void)
{
	return false;
}

static bool concerns(const struct ib_device *ib, enum dma_data_direction dir)
{
	return sysfs_streq(dir == DMA_TO_DEVICE ? sends_on : receives_on, dev_name(&ib->dev));
}

/*
 * One of every @every pieces fails, so that as many fail as a test expects. Which one is random,
 * so that failures are never in step with messages of some pieces each.
 */
static bool has_turn(void)
{
	unsigned int of = READ_ONCE(every) ?: 1;
	unsigned long flags;
	bool yes;

	spin_lock_irqsave(&turn_lock, flags);
	if (pieces == 0 || pieces >= of) {
		pieces = 0;
		turn = get_random_u32() % of;
	}
	yes = pieces++ == turn;
	spin_unlock_irqrestore(&turn_lock, flags);
	return yes;
}

/* Diverts the call to not_mapped(). */
static int before_map(struct kprobe *probe, struct pt_regs *regs)
{
	const struct ib_device *ib = (void *)regs_get_kernel_argument(regs, 0);
	const struct ib_sge *sge = (void *)regs_get_kernel_argument(regs, 3);
	enum dma_data_direction dir = regs_get_kernel_argument(regs, 4);
	bool first = __this_cpu_read(mapped) + 1 != sge;

	__this_cpu_write(mapped, sge);
	if (!concerns(ib, dir) || !has_turn() ||
	    atomic_dec_if_positive(dir == DMA_TO_DEVICE ? &sends : &receives) < 0)
		return 0;
	__this_cpu_write(mapped, NULL);
	atomic_inc(&refused);
	if (!first)
		atomic_inc(&later);
	instruction_pointer_set(regs, (unsigned long)not_mapped);
	return 1;
}

static struct kprobe map = { .symbol_name = "rc_map_piece", .pre_handler = before_map };

static int __init unmapped_init(void)
{
	return register_kprobe(&map);
}

static void __exit unmapped_exit(void)
{
	unregister_kprobe(&map);
	/* A task may still be in not_mapped(). */
	synchronize_rcu_tasks();
}

module_init(unmapped_init);
module_exit(unmapped_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Memory that is not mapped for a device, for tests");
