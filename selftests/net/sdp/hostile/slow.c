// SPDX-License-Identifier: GPL-2.0
/*
 * soft-RoCE's receiver takes its time. Between queueing a packet for a queue pair and waking its
 * task there are a few instructions, in which another processor may consume the packet: here they
 * last. So whatever is freed too early is freed in between, on every machine.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/preempt.h>

static unsigned int us = 1500;
module_param(us, uint, 0444);
MODULE_PARM_DESC(us, "how long a delay lasts, in microseconds");

static unsigned int every = 4;
module_param(every, uint, 0444);
MODULE_PARM_DESC(every, "one of so many packets is delayed");

/* Both without a lock: a packet more or less does not matter. */
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

/* The second one is there up to 6.1 only: there the receiver runs the task itself. */
static struct kprobe sched = { .symbol_name = "rxe_sched_task", .pre_handler = before_wake };
static struct kprobe run = { .symbol_name = "rxe_run_task", .pre_handler = before_wake };
static bool has_run;

static int __init slow_init(void)
{
	int err;

	if (!every)
		return -EINVAL;
	err = register_kprobe(&sched);
	if (!err)
		has_run = !register_kprobe(&run);
	return err;
}

static void __exit slow_exit(void)
{
	if (has_run)
		unregister_kprobe(&run);
	unregister_kprobe(&sched);
}

module_init(slow_init);
module_exit(slow_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Delays in soft-RoCE's receive path, for tests");
