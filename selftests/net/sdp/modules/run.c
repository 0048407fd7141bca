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
#include <linux/seq_file.h>
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

static int run_command(char *text)
{
	unsigned int port, count = 0;
	char name[64];
	int err = 0;

	mutex_lock(&lock);
	end_all();
	if (strncmp(text, "end", 3))
		err = sscanf(text, "%63s %u %u", name, &port, &count) >= 2 ?
			hostile_case(name, port, count, &conns) : -EINVAL;
	mutex_unlock(&lock);
	return err;
}

static int verdicts(char *text, size_t room, unsigned int seconds)
{
	struct hostile *h;
	int n = 0;

	mutex_lock(&lock);
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
	mutex_unlock(&lock);
	return n;
}

static int run_report(char *text, size_t room)
{
	return verdicts(text, room, VERDICT_SECONDS);
}

static int standing_report(char *text, size_t room)
{
	return verdicts(text, room, STANDING_SECONDS);
}

static int unread_command(char *text)
{
	char name[64];
	int err;

	if (sscanf(text, "%63s", name) < 1)
		return -EINVAL;
	mutex_lock(&lock);
	err = hostile_unread(name);
	mutex_unlock(&lock);
	return err;
}

static int regs_command(char *text)
{
	char name[64], how[8] = "";
	int err;

	if (sscanf(text, "%63s %7s", name, how) < 1)
		return -EINVAL;
	mutex_lock(&lock);
	err = hostile_registers_not(name, how);
	mutex_unlock(&lock);
	return err;
}

static int regs_report(char *text, size_t room)
{
	return scnprintf(text, room, "%d\n", hostile_registers_failed());
}

/**
 * struct control - a file
 * @name: its name
 * @mode: its permissions
 * @command: does what is written to it, and returns 0 or an errno
 * @report: writes what is read from it, and returns the number of bytes
 */
struct control {
	const char *name;
	umode_t mode;
	int (*command)(char *text);
	int (*report)(char *text, size_t room);
};

static const struct control controls[] = {
	{ "run", 0600, run_command, run_report },
	{ "standing", 0400, NULL, standing_report },
	{ "generate", 0600, hostile_gen_command, hostile_gen_report },
	{ "unread", 0200, unread_command, NULL },
	{ "regs", 0600, regs_command, regs_report },
};

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	const struct control *c = ((struct seq_file *)file->private_data)->private;
	char text[80] = "";
	int err;

	if (!c->command || len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	err = c->command(text);
	return err ? err : len;
}

/* Runs once for each opening of the file, however often that is read. */
static int control_show(struct seq_file *m, void *unused)
{
	const struct control *c = m->private;
	size_t room;
	char *text;

	if (!c->report)
		return -EINVAL;
	room = seq_get_buf(m, &text);
	seq_commit(m, c->report(text, room));
	return 0;
}

static int control_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, control_show, inode->i_private, REPORT_ROOM);
}

static const struct file_operations control_ops = {
	.owner		= THIS_MODULE,
	.open		= control_open,
	.write		= control_write,
	.read		= seq_read,
	.release	= single_release,
};

static int __init hostile_init(void)
{
	int err = hostile_gen_init();
	u32 i;

	if (err)
		return err;
	dir = debugfs_create_dir("sdp_hostile", NULL);
	for (i = 0; i < ARRAY_SIZE(controls); i++)
		debugfs_create_file(controls[i].name, controls[i].mode, dir, (void *)&controls[i],
				    &control_ops);
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
