// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that seem to be behind an IOMMU.
 *
 * soft-RoCE accesses memory by the processor. Here it looks as if a device of this module did
 * that, with addresses of an IOMMU domain of this module. They equal the kernel's own addresses
 * and lead to the same pages, except for pages that are declared as bounced.
 */
#include <linux/device.h>
#include <linux/iommu.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>

#ifndef CONFIG_IOMMU_API
/*
 * Without CONFIG_IOMMU_API the function to be probed does not exist, and the module does not
 * load.
 */
struct iommu_domain_ops {
	phys_addr_t (*iova_to_phys)(struct iommu_domain *domain, dma_addr_t iova);
};
#endif

static bool sync = true;
module_param(sync, bool, 0644);
MODULE_PARM_DESC(sync, "the kernel says that memory needs a sync");

static bool apart;
module_param(apart, bool, 0644);
MODULE_PARM_DESC(apart, "the device has no domain");

static bool direct;
module_param(direct, bool, 0644);
MODULE_PARM_DESC(direct, "its domain leads each address to itself");

static unsigned int bounced;
module_param(bounced, uint, 0644);
MODULE_PARM_DESC(bounced, "the last of each so many pages of memory is elsewhere; 0: none");

static atomic_t pages;
static atomic_t syncs;

static int get_count(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", atomic_read((atomic_t *)param->arg));
}

static const struct kernel_param_ops count_ops = { .get = get_count };

module_param_cb(pages, &count_ops, &pages, 0444);
MODULE_PARM_DESC(pages, "of how many pages it was asked where they are");
module_param_cb(syncs, &count_ops, &syncs, 0444);
MODULE_PARM_DESC(syncs, "how often it was asked whether memory needs a sync");

static struct device *behind;

static phys_addr_t iova_to_phys(struct iommu_domain *domain, dma_addr_t iova)
{
	unsigned int each = READ_ONCE(bounced);
	phys_addr_t phys = virt_to_phys((void *)(unsigned long)iova);

	atomic_inc(&pages);
	if (!each || (PHYS_PFN(phys) + 1) % each)
		return phys;
	return phys ^ PAGE_SIZE;
}

static const struct iommu_domain_ops domain_ops = { .iova_to_phys = iova_to_phys };

static struct iommu_domain paging = { .type = IOMMU_DOMAIN_DMA, .ops = &domain_ops };
static struct iommu_domain identity = { .type = IOMMU_DOMAIN_IDENTITY, .ops = &domain_ops };

/* Calls for other devices are not changed. */
static int is_ours(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return (void *)regs_get_kernel_argument(regs, 0) != behind;
}

static int after_device(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	regs_set_return_value(regs, (unsigned long)behind);
	return 0;
}

static int after_sync(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	atomic_inc(&syncs);
	regs_set_return_value(regs, READ_ONCE(sync));
	return 0;
}

static int after_domain(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct iommu_domain *domain = READ_ONCE(direct) ? &identity : &paging;

	regs_set_return_value(regs, READ_ONCE(apart) ? 0 : (unsigned long)domain);
	return 0;
}

static struct kretprobe domain_of = {
	.kp.symbol_name = "iommu_get_domain_for_dev", .entry_handler = is_ours,
	.handler = after_domain, .maxactive = 64,
};

/* Before 6.10 the name has no underscores. */
static struct kretprobe need_sync = {
	.kp.symbol_name = "__dma_need_sync", .entry_handler = is_ours,
	.handler = after_sync, .maxactive = 64,
};

static struct kretprobe device_of = {
	.kp.symbol_name = "rc_mem_device", .handler = after_device, .maxactive = 64,
};

static int probe_sync(void)
{
	int err = register_kretprobe(&need_sync);

	if (err != -ENOENT)
		return err;
	need_sync.kp.symbol_name = "dma_need_sync";
	need_sync.kp.addr = NULL;
	need_sync.kp.flags = 0;
	return register_kretprobe(&need_sync);
}

static int __init behind_init(void)
{
	int err;

	behind = root_device_register("sdp_iommu");
	if (IS_ERR(behind))
		return PTR_ERR(behind);
	err = register_kretprobe(&domain_of);
	if (err)
		goto device;
	err = probe_sync();
	if (err)
		goto domain;
	/*
	 * Last, as AF_SDP calls the other probed functions only with the device that this probe
	 * returns.
	 */
	err = register_kretprobe(&device_of);
	if (!err)
		return 0;
	unregister_kretprobe(&need_sync);
domain:
	unregister_kretprobe(&domain_of);
device:
	root_device_unregister(behind);
	return err;
}

static void __exit behind_exit(void)
{
	unregister_kretprobe(&device_of);
	unregister_kretprobe(&need_sync);
	unregister_kretprobe(&domain_of);
	root_device_unregister(behind);
}

module_init(behind_init);
module_exit(behind_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("soft-RoCE that seems to be behind an IOMMU, for tests");
