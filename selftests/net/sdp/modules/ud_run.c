// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile peer by datagrams: control by debugfs.
 *
 * /sys/kernel/debug/sdp_hostile_ud/run: write "CASE PORT [COUNT]" to run a case, "generate PORT
 * COUNT SEED" to send random datagrams, "end" to end all connections and free everything; the next
 * case ends them too. Read the result: a line for each connection, "stands", "ended", "refused
 * REASON", "nothing" or "silent" (enum ud_end), and the sums of random datagrams.
 *
 * .../heard: datagrams that have come, by type, of all connections of the case.
 *
 * A write returns when the case has sent everything.
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "ud.h"

static char *from = "10.9.0.1";
module_param(from, charp, 0644);
MODULE_PARM_DESC(from, "address of the hostile peer");

static char *to = "10.9.0.2";
module_param(to, charp, 0444);
MODULE_PARM_DESC(to, "address of the listener");

static DEFINE_MUTEX(lock);
static struct ud_port *ud_now;
static struct ud_sums sums;
static u32 malformed;
static struct dentry *dir;

static void end_all(void)
{
	struct ud_conn *c;

	if (!ud_now)
		return;
	list_for_each_entry(c, &ud_now->conns, node)
		ud_end(c);
	malformed += ud_now->malformed;
	ud_port_end(ud_now);
	ud_now = NULL;
}

static int begin(u16 port)
{
	struct ud_port *p;
	__be32 ip[2];

	if (!in4_pton(from, -1, (u8 *)&ip[0], -1, NULL) ||
	    !in4_pton(to, -1, (u8 *)&ip[1], -1, NULL))
		return -EINVAL;
	memset(&sums, 0, sizeof(sums));
	p = ud_port_begin(ip[0], ip[1], port);
	if (IS_ERR(p))
		return PTR_ERR(p);
	ud_now = p;
	return 0;
}

static int command(const char *text)
{
	unsigned int port, count = 0;
	unsigned long long seed = 0;
	char name[64];
	int err;

	end_all();
	if (!strncmp(text, "end", 3))
		return 0;
	if (sscanf(text, "%63s %u %u %llu", name, &port, &count, &seed) < 2)
		return -EINVAL;
	err = begin(port);
	if (err)
		return err;
	if (strcmp(name, "generate"))
		return ud_case(ud_now, name, count);
	return ud_generate(ud_now, seed, count, &sums);
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char text[80] = "";
	int err;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	mutex_lock(&lock);
	err = command(text);
	mutex_unlock(&lock);
	return err ? err : len;
}

static int run_show(struct seq_file *m, void *unused)
{
	static const char * const ends[] = {
		[UD_STANDS] = "stands", [UD_ENDED] = "ended", [UD_REFUSED] = "refused",
		[UD_NOTHING] = "nothing", [UD_SILENT] = "silent",
	};
	struct ud_conn *c;
	enum ud_end end;

	mutex_lock(&lock);
	if (ud_now && sums.said) {
		seq_printf(m, "said %u opened %u refused %u ended %u\n", sums.said, sums.opened,
			   sums.refused, sums.ended);
	} else if (ud_now) {
		list_for_each_entry(c, &ud_now->conns, node) {
			end = ud_verdict(c);
			seq_puts(m, ends[end]);
			if (end == UD_REFUSED)
				seq_printf(m, " %u", c->why);
			seq_putc(m, '\n');
		}
	}
	mutex_unlock(&lock);
	return 0;
}

static int run_open(struct inode *inode, struct file *file)
{
	return single_open(file, run_show, NULL);
}

static const struct file_operations run_ops = {
	.owner = THIS_MODULE,
	.open = run_open,
	.read = seq_read,
	.write = run_write,
	.release = single_release,
};

static int heard_show(struct seq_file *m, void *unused)
{
	static const char * const names[SDP_DATAGRAM_TYPES] = {
		"data", "ack", "nack", "probe", "reset", "open", "challenge", "open-ack",
		"open-reject",
	};
	u32 n, type;
	struct ud_conn *c;

	mutex_lock(&lock);
	for (type = 0; type < SDP_DATAGRAM_TYPES; type++) {
		n = 0;
		if (ud_now)
			list_for_each_entry(c, &ud_now->conns, node)
				n += c->came[type];
		seq_printf(m, "%s %u\n", names[type], n);
	}
	seq_printf(m, "malformed %u\n", malformed + (ud_now ? ud_now->malformed : 0));
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(heard);

static int __init hostile_ud_init(void)
{
	dir = debugfs_create_dir("sdp_hostile_ud", NULL);
	debugfs_create_file("run", 0600, dir, NULL, &run_ops);
	debugfs_create_file("heard", 0400, dir, NULL, &heard_fops);
	return 0;
}

static void __exit hostile_ud_exit(void)
{
	debugfs_remove(dir);
	end_all();
}

module_init(hostile_ud_init);
module_exit(hostile_ud_exit);

MODULE_DESCRIPTION("A peer of AF_SDP that breaks the rules of datagrams, for the tests");
MODULE_LICENSE("GPL");
