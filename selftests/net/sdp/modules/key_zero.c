// SPDX-License-Identifier: GPL-2.0
/*
 * A device whose key 0 gives access to all memory, as with rdmavt.
 *
 * soft-RoCE has no such key. While the module under test examines its new protection domain, the
 * domain's local key is set to 0.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "which device; empty: each");

static unsigned int said;
module_param(said, uint, 0444);
MODULE_PARM_DESC(said, "how often it was said");

/* One at a time: devices are added one after the other. */
static struct ib_pd *changed;
static u32 key;

static bool is_meant(const struct ib_pd *pd)
{
	return pd->res.kern_name && !strcmp(pd->res.kern_name, "sdp") &&
	       (!*device || !strcmp(dev_name(&pd->device->dev), device));
}

static int after_alloc(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct ib_pd *pd = (struct ib_pd *)regs_return_value(regs);

	if (IS_ERR_OR_NULL(pd) || changed || !is_meant(pd))
		return 0;
	key = pd->local_dma_lkey;
	pd->local_dma_lkey = 0;
	changed = pd;
	said++;
	return 0;
}

/* AF_SDP has examined the domain. */
static int before_data(struct kprobe *probe, struct pt_regs *regs)
{
	if (changed && changed->device == (void *)regs_get_kernel_argument(regs, 0)) {
		changed->local_dma_lkey = key;
		changed = NULL;
	}
	return 0;
}

static struct kretprobe alloc = {
	.kp.symbol_name = "__ib_alloc_pd", .handler = after_alloc,
};

static struct kprobe data = {
	.symbol_name = "ib_set_client_data", .pre_handler = before_data,
};

static int __init opens_init(void)
{
	int err = register_kprobe(&data);

	if (err)
		return err;
	err = register_kretprobe(&alloc);
	if (err)
		unregister_kprobe(&data);
	return err;
}

static void __exit opens_exit(void)
{
	unregister_kretprobe(&alloc);
	unregister_kprobe(&data);
}

module_init(opens_init);
module_exit(opens_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("soft-RoCE that says that a key opens all memory, for tests");
