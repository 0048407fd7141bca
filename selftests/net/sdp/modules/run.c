// SPDX-License-Identifier: GPL-2.0
/*
 * Control of the hostile peer by debugfs.
 *
 * /sys/kernel/debug/sdp_hostile/run: write "CASE PORT [COUNT]" to run a case, "end" to free its
 * connections; the next case frees them too. Read the result, one line for each connection:
 * "open", "ended", or "rejected REASON"; or the sums of a flood of COUNT requests. A read waits
 * for the peer to end each connection, at most ten seconds for each.
 *
 * .../standing: the same for connections that should stay open: a read waits one second for each.
 *
 * .../generate: random cases, see gen.c.
 *
 * .../unread: write "NETDEV", and the device has no RDMA read; "none" ends that.
 *
 * .../regs: write "NETDEV alloc", or another way of regs.c, and the device fails to register
 * memory or to create queue pairs; "none" ends that. Read the number of failures.
 *
 * A write returns when the case has sent everything.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "hostile.h"

#define VERDICT_SECONDS	10
#define STANDING_SECONDS	1
#define REPORT_ROOM	(2 * PAGE_SIZE)

char *hostile_from = "10.9.0.1";
module_param_named(from, hostile_from, charp, 0644);
MODULE_PARM_DESC(from, "address of the hostile peer");

char *hostile_to = "10.9.0.2";
module_param_named(to, hostile_to, charp, 0444);
MODULE_PARM_DESC(to, "address of the listener");

static DEFINE_MUTEX(lock);
static LIST_HEAD(conns);
static struct dentry *dir;

static void end_all(void)
{
	struct hostile *h, *next;

	list_for_each_entry_safe(h, next, &conns, node) {
		list_del(&h->node);
		hostile_free(h);
	}
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[80] = "", name[64];
	unsigned int port, count = 0;
	int err = 0;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	mutex_lock(&lock);
	end_all();
	if (strncmp(text, "end", 3))
		err = sscanf(text, "%63s %u %u", name, &port, &count) >= 2 ?
			hostile_case(name, port, count, &conns) : -EINVAL;
	mutex_unlock(&lock);
	return err ? err : len;
}

static int verdicts(char *text, size_t room, unsigned int seconds)
{
	struct hostile *h;
	int n = 0;

	list_for_each_entry(h, &conns, node) {
		if (h->flood) {
			n += hostile_flood_verdict(h, text + n, room - n);
			continue;
		}
		hostile_over(h, seconds);
		if (h->end == HOSTILE_REJECTED)
			n += scnprintf(text + n, room - n, "rejected %d\n", h->reason);
		else
			n += scnprintf(text + n, room - n, "%s\n",
				       h->end == HOSTILE_OPEN ? "open" : "ended");
	}
	return n;
}

static ssize_t read_verdicts(char __user *buf, size_t len, loff_t *pos, unsigned int seconds)
{
	char *text = kzalloc(PAGE_SIZE, GFP_KERNEL);
	ssize_t n;

	if (!text)
		return -ENOMEM;
	mutex_lock(&lock);
	n = *pos ? 0 : simple_read_from_buffer(buf, len, pos, text,
					       verdicts(text, PAGE_SIZE, seconds));
	mutex_unlock(&lock);
	kfree(text);
	return n;
}

static ssize_t run_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	return read_verdicts(buf, len, pos, VERDICT_SECONDS);
}

static ssize_t standing_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	return read_verdicts(buf, len, pos, STANDING_SECONDS);
}

static const struct file_operations run_ops = {
	.owner	= THIS_MODULE,
	.write	= run_write,
	.read	= run_read,
};

static const struct file_operations standing_ops = {
	.owner	= THIS_MODULE,
	.read	= standing_read,
};

static ssize_t unread_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[80] = "", name[64] = "";
	int err = 0;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	if (sscanf(text, "%63s", name) < 1)
		return -EINVAL;
	mutex_lock(&lock);
	if (!strcmp(name, "none"))
		hostile_all_read();
	else
		err = hostile_unread(name);
	mutex_unlock(&lock);
	return err ? err : len;
}

static const struct file_operations unread_ops = {
	.owner	= THIS_MODULE,
	.write	= unread_write,
};

static ssize_t regs_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[80] = "", name[64] = "", how[8] = "";
	int err = 0;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	if (sscanf(text, "%63s %7s", name, how) < 1)
		return -EINVAL;
	mutex_lock(&lock);
	if (!strcmp(name, "none"))
		hostile_registers();
	else
		err = hostile_registers_not(name, how);
	mutex_unlock(&lock);
	return err ? err : len;
}

static ssize_t regs_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	char text[16];
	int n = scnprintf(text, sizeof(text), "%d\n", hostile_registers_failed());

	return simple_read_from_buffer(buf, len, pos, text, n);
}

static const struct file_operations regs_ops = {
	.owner	= THIS_MODULE,
	.write	= regs_write,
	.read	= regs_read,
};

static ssize_t generate_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[80] = "";
	int err;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	err = hostile_gen_command(text);
	return err ? err : len;
}

static ssize_t generate_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	char *text = kzalloc(REPORT_ROOM, GFP_KERNEL);
	ssize_t n;

	if (!text)
		return -ENOMEM;
	n = simple_read_from_buffer(buf, len, pos, text, hostile_gen_report(text, REPORT_ROOM));
	kfree(text);
	return n;
}

static const struct file_operations generate_ops = {
	.owner	= THIS_MODULE,
	.write	= generate_write,
	.read	= generate_read,
};

static int __init hostile_init(void)
{
	int err = hostile_gen_init();

	if (err)
		return err;
	dir = debugfs_create_dir("sdp_hostile", NULL);
	debugfs_create_file("run", 0600, dir, NULL, &run_ops);
	debugfs_create_file("standing", 0400, dir, NULL, &standing_ops);
	debugfs_create_file("generate", 0600, dir, NULL, &generate_ops);
	debugfs_create_file("unread", 0200, dir, NULL, &unread_ops);
	debugfs_create_file("regs", 0600, dir, NULL, &regs_ops);
	return 0;
}

static void __exit hostile_exit(void)
{
	debugfs_remove(dir);
	hostile_all_read();
	hostile_registers();
	hostile_gen_exit();
	end_all();
}

module_init(hostile_init);
module_exit(hostile_exit);

MODULE_DESCRIPTION("A peer of AF_SDP that breaks the rules, for the tests");
MODULE_LICENSE("GPL");
