// SPDX-License-Identifier: GPL-2.0
/*
 * A task sleeps before it reports a device's failure to a link.
 *
 * It has found the link on the device's list. So whatever ends the link meanwhile has enough time.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

struct rc_link;

static unsigned int ms = 3000;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "how long it sleeps, in milliseconds");

static int count;
module_param(count, int, 0644);
MODULE_PARM_DESC(count, "how many links are still to be told late");

static unsigned int late;
module_param(late, uint, 0444);
MODULE_PARM_DESC(late, "how many are or were");

/* The task that sleeps; one at a time. */
static struct task_struct *sleeper;

static int before_fail(struct kprobe *probe, struct pt_regs *regs);

/* A function of the module under test, called from process context without a lock. */
static struct kprobe fail = { .symbol_name = "rc_link_fail", .pre_handler = before_fail };

static void fail_late(struct rc_link *rc, int error, const char *place)
{
	void (*tell)(struct rc_link *rc, int error, const char *place) = (void *)fail.addr;

	WRITE_ONCE(late, READ_ONCE(late) + 1);
	msleep(ms);
	/* This call is not diverted. */
	tell(rc, error, place);
	WRITE_ONCE(sleeper, NULL);
}

/* Diverts the call to fail_late(). */
static int before_fail(struct kprobe *probe, struct pt_regs *regs)
{
	if (READ_ONCE(count) <= 0 || cmpxchg(&sleeper, NULL, current))
		return 0;
	WRITE_ONCE(count, READ_ONCE(count) - 1);
	instruction_pointer_set(regs, (unsigned long)fail_late);
	return 1;
}

static int __init tell_init(void)
{
	return register_kprobe(&fail);
}

static void __exit tell_exit(void)
{
	WRITE_ONCE(count, 0);
	while (READ_ONCE(sleeper))
		msleep(20);
	unregister_kprobe(&fail);
	/* The last task may still be returning. */
	synchronize_rcu_tasks();
}

module_init(tell_init);
module_exit(tell_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Links that are told late of their device, for tests");
