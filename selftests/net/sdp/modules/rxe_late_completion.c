// SPDX-License-Identifier: GPL-2.0
/*
 * Delays in soft-RoCE's receiver and in ib_core's polling.
 *
 * Between queueing a packet for a queue pair and waking its task soft-RoCE executes a few
 * instructions, in which another processor may consume the packet. The delay makes that window
 * long, so that anything freed too early is freed inside it, on every machine.
 *
 * When ib_core has finished with a completion queue it still requests notification, while
 * ib_free_cq() no longer waits for it. That is delayed too, and a completion queue that is
 * destroyed meanwhile is counted.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

static unsigned int us = 1500;
module_param(us, uint, 0444);
MODULE_PARM_DESC(us, "how long a delay lasts, in microseconds");

static unsigned int every = 4;
module_param(every, uint, 0444);
MODULE_PARM_DESC(every, "one of so many packets is delayed");

/* No lock: the counts may be slightly wrong. */
static unsigned int seen;
static unsigned int delayed;
module_param(delayed, uint, 0444);
MODULE_PARM_DESC(delayed, "how many packets were delayed, about");

static int before_wake(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned int n = READ_ONCE(seen) + 1;

	if (!in_serving_softirq())
		return 0;
	WRITE_ONCE(seen, n);
	if (n % every)
		return 0;
	WRITE_ONCE(delayed, READ_ONCE(delayed) + 1);
	udelay(us);
	return 0;
}

static unsigned int notify_us;
module_param(notify_us, uint, 0644);
MODULE_PARM_DESC(notify_us, "how long it takes to ask for notifications, in microseconds");

static unsigned int asked;
module_param(asked, uint, 0444);
MODULE_PARM_DESC(asked, "how often that was delayed, about");

static unsigned int early;
module_param(early, uint, 0444);
MODULE_PARM_DESC(early, "completion queues that were destroyed meanwhile");

/* The completion queue for which this processor requests notification. */
static DEFINE_PER_CPU(unsigned long, asking);

static int before_notify(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned int us_now = READ_ONCE(notify_us);

	if (!us_now || !in_serving_softirq())
		return 0;
	WRITE_ONCE(asked, READ_ONCE(asked) + 1);
	this_cpu_write(asking, regs->di);
	udelay(us_now);
	this_cpu_write(asking, 0);
	return 0;
}

static int before_destroy(struct kprobe *probe, struct pt_regs *regs)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu(asking, cpu)) == regs->di)
			WRITE_ONCE(early, READ_ONCE(early) + 1);
	return 0;
}

static struct kprobe notify = {
	.symbol_name = "rxe_req_notify_cq", .pre_handler = before_notify,
};
static struct kprobe destroy = {
	.symbol_name = "rxe_destroy_cq", .pre_handler = before_destroy,
};
static struct kprobe sched = { .symbol_name = "rxe_sched_task", .pre_handler = before_wake };
static struct kprobe *probes[] = { &notify, &destroy, &sched };

/* rxe_run_task() exists up to 6.1 only, where the receiver runs the task itself. */
static struct kprobe run = { .symbol_name = "rxe_run_task", .pre_handler = before_wake };
static bool has_run;

static int __init slow_init(void)
{
	int err = every ? register_kprobes(probes, ARRAY_SIZE(probes)) : -EINVAL;

	if (!err)
		has_run = !register_kprobe(&run);
	return err;
}

static void __exit slow_exit(void)
{
	if (has_run)
		unregister_kprobe(&run);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}

module_init(slow_init);
module_exit(slow_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Delays in soft-RoCE's receive path, for tests");
