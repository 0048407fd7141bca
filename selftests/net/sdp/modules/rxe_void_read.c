// SPDX-License-Identifier: GPL-2.0
/*
 * soft-RoCE ends an RDMA read before its data has come.
 *
 * It takes an ACK with the number of a read's last packet for the end of the read, whether that
 * packet has come or not. Here one of every "every" packets that are a whole answer becomes an
 * ACK, after all checks and before soft-RoCE examines its kind.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <rdma/ib_pack.h>

static unsigned int every = 3;
module_param(every, uint, 0644);
MODULE_PARM_DESC(every, "one of so many answers is lost");

/* No lock: the counts may be slightly wrong. */
static unsigned int seen;
static unsigned int lost;
module_param(lost, uint, 0444);
MODULE_PARM_DESC(lost, "how many answers were lost, about");

/* soft-RoCE's data about a packet, in its sk_buff. */
struct noted {
	void *device;
	void *qp;
	void *request;
	u8 *header;
	u32 mask;
	u32 psn;
	u16 pkey_index;
	u16 length;
	u8 port;
	u8 opcode;
};

static int before_queue(struct kprobe *probe, struct pt_regs *regs)
{
	struct sk_buff *skb = (struct sk_buff *)regs_get_kernel_argument(regs, 1);
	struct noted *packet = (struct noted *)skb->cb;
	unsigned int n;

	if (packet->qp != (void *)regs_get_kernel_argument(regs, 0) ||
	    packet->opcode != IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY)
		return 0;
	n = READ_ONCE(seen) + 1;
	WRITE_ONCE(seen, n);
	if (n % every)
		return 0;
	packet->opcode = IB_OPCODE_RC_ACKNOWLEDGE;
	WRITE_ONCE(lost, READ_ONCE(lost) + 1);
	return 0;
}

static struct kprobe queue = { .symbol_name = "rxe_comp_queue_pkt", .pre_handler = before_queue };

static int __init void_init(void)
{
	return every ? register_kprobe(&queue) : -EINVAL;
}

static void __exit void_exit(void)
{
	unregister_kprobe(&queue);
}

module_init(void_init);
module_exit(void_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reads of soft-RoCE that end before they have read, for tests");
