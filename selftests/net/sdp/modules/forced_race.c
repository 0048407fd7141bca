// SPDX-License-Identifier: GPL-2.0
/*
 * Makes one function wait at its beginning until another one begins; or several pairs of functions.
 *
 * The two functions then run concurrently on two processors each time, which otherwise happens
 * once in a thousand times. The wait is a busy loop, as the function may run in softirq and with
 * locks held. The second pair is used only after the first pair has met. Its first function may
 * be the second function of the first pair.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

#define PAIRS	2	/* at most */

static char *function[PAIRS];
static int pairs;
module_param_array(function, charp, &pairs, 0444);
MODULE_PARM_DESC(function, "which function waits, for each pair");

static char *until[PAIRS];
static int untils;
module_param_array(until, charp, &untils, 0444);
MODULE_PARM_DESC(until, "for which one");

static char *comm;
module_param(comm, charp, 0444);
MODULE_PARM_DESC(comm, "only in threads of this name, in the first pair");

static unsigned int ms = 3000;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "how long at most, in milliseconds");

/* No lock: one function of a pair waits at a time. */
static int count;
module_param(count, int, 0644);
MODULE_PARM_DESC(count, "how many are still to wait, in the first pair");

static unsigned int held;
module_param(held, uint, 0444);
MODULE_PARM_DESC(held, "how many have begun to wait");

static unsigned int met;
module_param(met, uint, 0444);
MODULE_PARM_DESC(met, "how many the other one has come to meanwhile");

/**
 * struct pair - two functions
 * @hold: at the beginning of the one that waits
 * @release: at the beginning of the other one
 * @waiting: it waits
 * @met: they have met
 */
struct pair {
	struct kprobe hold, release;
	bool waiting, met;
};

static struct pair both[PAIRS];

static void meet(struct pair *p)
{
	if (!cmpxchg(&p->waiting, true, false))
		return;
	WRITE_ONCE(p->met, true);
	WRITE_ONCE(met, READ_ONCE(met) + 1);
}

static bool shall_wait(struct pair *p)
{
	if (p == both)
		return READ_ONCE(count) > 0 && (!comm || !strcmp(current->comm, comm));
	/* The probes of one function run in any order. */
	if (p->hold.addr == p[-1].release.addr)
		meet(p - 1);
	return READ_ONCE(p[-1].met) && !READ_ONCE(p->met);
}

static int before_held(struct kprobe *probe, struct pt_regs *regs)
{
	struct pair *p = container_of(probe, struct pair, hold);
	unsigned int i;

	if (!shall_wait(p) || cmpxchg(&p->waiting, false, true))
		return 0;
	if (p == both)
		WRITE_ONCE(count, READ_ONCE(count) - 1);
	WRITE_ONCE(held, READ_ONCE(held) + 1);
	for (i = 0; i < ms && READ_ONCE(p->waiting); i++)
		mdelay(1);
	WRITE_ONCE(p->waiting, false);
	return 0;
}

static int before_until(struct kprobe *probe, struct pt_regs *regs)
{
	meet(container_of(probe, struct pair, release));
	return 0;
}

static void pairs_end(int n)
{
	while (n--) {
		unregister_kprobe(&both[n].hold);
		unregister_kprobe(&both[n].release);
	}
}

static int __init held_init(void)
{
	int i, err;

	if (!pairs || pairs != untils)
		return -EINVAL;
	for (i = 0; i < pairs; i++) {
		both[i].hold = (struct kprobe){ .pre_handler = before_held,
						.symbol_name = function[i] };
		both[i].release = (struct kprobe){ .pre_handler = before_until,
						   .symbol_name = until[i] };
		err = register_kprobe(&both[i].release);
		if (!err) {
			err = register_kprobe(&both[i].hold);
			if (err)
				unregister_kprobe(&both[i].release);
		}
		if (err) {
			pairs_end(i);
			return err;
		}
	}
	return 0;
}

static void __exit held_exit(void)
{
	pairs_end(pairs);
}

module_init(held_init);
module_exit(held_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Functions that wait for each other, for tests");
