// SPDX-License-Identifier: GPL-2.0
/*
 * soft-RoCE loses completions: one of every "every" requests flushed in the error state.
 *
 * The lost completions are redirected to a handler that does nothing.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static unsigned int every = 1;
module_param(every, uint, 0644);
MODULE_PARM_DESC(every, "one of so many completions is lost");

/* No lock: the counts may be slightly wrong. */
static unsigned int seen;
static unsigned int lost;
module_param(lost, uint, 0444);
MODULE_PARM_DESC(lost, "how many completions were lost, about");

static void nobody_done(struct ib_cq *cq, struct ib_wc *wc)
{
}

static struct ib_cqe nobody = { .done = nobody_done };

static int before_post(struct kprobe *probe, struct pt_regs *regs)
{
	/* soft-RoCE's queue entry begins with a struct ib_wc. */
	struct ib_wc *wc = (struct ib_wc *)regs_get_kernel_argument(regs, 1);
	unsigned int n;

	if (wc->status != IB_WC_WR_FLUSH_ERR || !wc->qp || wc->qp->qp_type != IB_QPT_RC)
		return 0;
	n = READ_ONCE(seen) + 1;
	WRITE_ONCE(seen, n);
	if (n % every)
		return 0;
	wc->wr_cqe = &nobody;
	WRITE_ONCE(lost, READ_ONCE(lost) + 1);
	return 0;
}

static struct kprobe post = { .symbol_name = "rxe_cq_post", .pre_handler = before_post };

static int __init lose_init(void)
{
	return every ? register_kprobe(&post) : -EINVAL;
}

static void __exit lose_exit(void)
{
	unregister_kprobe(&post);
	/* Completions in the queues still call nobody_done(). */
	ssleep(1);
}

module_init(lose_init);
module_exit(lose_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("soft-RoCE that loses completions, for tests");
