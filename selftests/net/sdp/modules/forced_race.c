// SPDX-License-Identifier: GPL-2.0
/*
 * Makes one function of the module wait at its beginning until another one begins.
 *
 * The two functions then run concurrently on two processors each time, which otherwise happens
 * once in a thousand times. The wait is a busy loop, as the function may run in softirq and with
 * locks held.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static char *function;
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "which function waits");

static char *until;
module_param(until, charp, 0444);
MODULE_PARM_DESC(until, "for which one");

static unsigned int ms = 3000;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "how long at most, in milliseconds");

/* No lock: one function waits at a time. */
static int count;
module_param(count, int, 0644);
MODULE_PARM_DESC(count, "how many are still to wait");

static unsigned int held;
module_param(held, uint, 0444);
MODULE_PARM_DESC(held, "how many have begun to wait");

static unsigned int met;
module_param(met, uint, 0444);
MODULE_PARM_DESC(met, "how many the other one has come to meanwhile");

static bool waiting;

static int before_held(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned int i;

	if (READ_ONCE(count) <= 0 || cmpxchg(&waiting, false, true))
		return 0;
	WRITE_ONCE(count, READ_ONCE(count) - 1);
	WRITE_ONCE(held, READ_ONCE(held) + 1);
	for (i = 0; i < ms && READ_ONCE(waiting); i++)
		mdelay(1);
	WRITE_ONCE(waiting, false);
	return 0;
}

static int before_until(struct kprobe *probe, struct pt_regs *regs)
{
	if (cmpxchg(&waiting, true, false))
		WRITE_ONCE(met, READ_ONCE(met) + 1);
	return 0;
}

static struct kprobe hold = { .pre_handler = before_held };
static struct kprobe release = { .pre_handler = before_until };

static int __init held_init(void)
{
	int err;

	if (!function || !until)
		return -EINVAL;
	hold.symbol_name = function;
	release.symbol_name = until;
	err = register_kprobe(&release);
	if (err)
		return err;
	err = register_kprobe(&hold);
	if (err)
		unregister_kprobe(&release);
	return err;
}

static void __exit held_exit(void)
{
	unregister_kprobe(&hold);
	unregister_kprobe(&release);
}

module_init(held_init);
module_exit(held_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Functions that wait for each other, for tests");
