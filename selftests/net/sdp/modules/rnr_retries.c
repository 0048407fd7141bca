// SPDX-License-Identifier: GPL-2.0
/*
 * Sets the RNR retry count in every REQ and REP, and counts what soft-RoCE is asked for.
 *
 * With that count each end of a connection tells the other one how often to retry a message that
 * finds no receive.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>

static unsigned int wish = 7;
module_param(wish, uint, 0644);
MODULE_PARM_DESC(wish, "what every REQ and REP says: 0 to 6 times, or 7: for ever");

/* No lock: a test's connections come one after the other. */
static unsigned int asked[8];
module_param_array(asked, uint, NULL, 0644);
MODULE_PARM_DESC(asked, "how many queue pairs shall try so often: 0, 1, ... 7 times");

static unsigned int said;
module_param(said, uint, 0644);
MODULE_PARM_DESC(said, "in how many REQs and REPs the wish was put");

/* The parameters belong to the sender, which does not use them again. */
static int before_req(struct kprobe *probe, struct pt_regs *regs)
{
	((struct ib_cm_req_param *)regs_get_kernel_argument(regs, 1))->rnr_retry_count = wish;
	said++;
	return 0;
}

static int before_rep(struct kprobe *probe, struct pt_regs *regs)
{
	((struct ib_cm_rep_param *)regs_get_kernel_argument(regs, 1))->rnr_retry_count = wish;
	said++;
	return 0;
}

static int before_modify(struct kprobe *probe, struct pt_regs *regs)
{
	const struct ib_qp_attr *attr = (void *)regs_get_kernel_argument(regs, 1);

	if (regs_get_kernel_argument(regs, 2) & IB_QP_RNR_RETRY)
		asked[attr->rnr_retry & 7]++;
	return 0;
}

static struct kprobe req = { .symbol_name = "ib_send_cm_req", .pre_handler = before_req };
static struct kprobe rep = { .symbol_name = "ib_send_cm_rep", .pre_handler = before_rep };
static struct kprobe modify = { .symbol_name = "rxe_modify_qp", .pre_handler = before_modify };
static struct kprobe *probes[] = { &req, &rep, &modify };

static int __init retries_init(void)
{
	return register_kprobes(probes, ARRAY_SIZE(probes));
}

static void __exit retries_exit(void)
{
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}

module_init(retries_init);
module_exit(retries_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Peers' wishes for retries, for tests");
