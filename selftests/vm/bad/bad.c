// SPDX-License-Identifier: GPL-2.0
/*
 * A module with faults that the VM runner must notice.
 *
 * Writing a word to /sys/module/bad/parameters/fault commits one fault; "none" commits none.
 */
#include <linux/bug.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

static void lose_memory(void)
{
	char *lost = kmalloc(321, GFP_KERNEL);

	if (lost)
		strscpy(lost, "nobody knows where this is", 321);
}

/*
 * Takes the locks in both orders, one after the other: nothing hangs, but lockdep sees the
 * cycle.
 */
static void lock_both_ways(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static int fault_set(const char *value, const struct kernel_param *param)
{
	if (sysfs_streq(value, "warn"))
		WARN(1, "bad: asked to warn\n");
	else if (sysfs_streq(value, "leak"))
		lose_memory();
	else if (sysfs_streq(value, "lock"))
		lock_both_ways();
	else if (sysfs_streq(value, "pin"))
		__module_get(THIS_MODULE);
	else if (sysfs_streq(value, "unpin"))
		module_put(THIS_MODULE);
	else if (!sysfs_streq(value, "none"))
		return -EINVAL;
	return 0;
}

static const struct kernel_param_ops fault_ops = { .set = fault_set };
module_param_cb(fault, &fault_ops, NULL, 0200);
MODULE_PARM_DESC(fault, "warn, leak, lock, pin, unpin or none");

static int __init bad_init(void)
{
	return 0;
}

static void __exit bad_exit(void)
{
}

module_init(bad_init);
module_exit(bad_exit);
MODULE_DESCRIPTION("Faults that the VM test runner must notice");
MODULE_LICENSE("GPL");
