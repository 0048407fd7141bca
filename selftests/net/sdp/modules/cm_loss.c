// SPDX-License-Identifier: GPL-2.0
/*
 * A machine that loses some of the CM messages that it receives.
 *
 * They are changed where the CM receives them, so that it finds a message that it does not know.
 * Either the next ones of one kind are lost, or a random share of all kinds.
 */
#include <linux/jhash.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <rdma/ib_mad.h>

static int attribute;
module_param(attribute, int, 0644);
MODULE_PARM_DESC(attribute, "message that is lost: 16 REQ, 18 REJ, 19 REP, 20 RTU, 21 DREQ, 22 DREP");

/* No lock: a test's MADs come one after the other, or all of them are lost. */
static int count;
module_param(count, int, 0644);
MODULE_PARM_DESC(count, "how many are still to be lost");

static unsigned int lost;
module_param(lost, uint, 0644);
MODULE_PARM_DESC(lost, "how many were lost");

static unsigned int share;
module_param(share, uint, 0644);
MODULE_PARM_DESC(share, "of a hundred messages of each kind so many are lost by chance");

static unsigned int seed;
module_param(seed, uint, 0644);
MODULE_PARM_DESC(seed, "says which");

#define FIRST		16
#define KINDS		7

static const char * const kinds[KINDS] = { "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP" };
static atomic_t heard[KINDS], unheard[KINDS];

static int chance_get(char *text, const struct kernel_param *param)
{
	int i, n = 0;

	for (i = 0; i < KINDS; i++)
		n += sysfs_emit_at(text, n, "%s %d of %d\n", kinds[i], atomic_read(&unheard[i]),
				   atomic_read(&heard[i]));
	return n;
}

static const struct kernel_param_ops chance_ops = { .get = chance_get };
module_param_cb(chance, &chance_ops, NULL, 0444);
MODULE_PARM_DESC(chance, "how many of each kind were lost by chance, of how many");

/* The same seed loses the same numbers of each kind, whatever these messages are. */
static bool by_chance(unsigned int kind)
{
	unsigned int number;

	if (!READ_ONCE(share) || kind >= KINDS)
		return false;
	number = atomic_inc_return(&heard[kind]);
	if (jhash_2words(number, kind, READ_ONCE(seed)) % 100 >= READ_ONCE(share))
		return false;
	atomic_inc(&unheard[kind]);
	return true;
}

static int before_receive(struct kprobe *probe, struct pt_regs *regs)
{
	struct ib_mad_recv_wc *wc = (struct ib_mad_recv_wc *)regs_get_kernel_argument(regs, 2);
	struct ib_mad_hdr *header = &wc->recv_buf.mad->mad_hdr;
	int kind = be16_to_cpu(header->attr_id);

	if (by_chance(kind - FIRST)) {
		header->attr_id = 0;
		return 0;
	}
	if (kind != READ_ONCE(attribute) || READ_ONCE(count) <= 0)
		return 0;
	WRITE_ONCE(count, READ_ONCE(count) - 1);
	WRITE_ONCE(lost, READ_ONCE(lost) + 1);
	header->attr_id = 0;
	return 0;
}

static struct kprobe receive = { .symbol_name = "cm_recv_handler", .pre_handler = before_receive };

static int __init deaf_init(void)
{
	return register_kprobe(&receive);
}

static void __exit deaf_exit(void)
{
	unregister_kprobe(&receive);
}

module_init(deaf_init);
module_exit(deaf_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Connection management with messages that get lost, for tests");
