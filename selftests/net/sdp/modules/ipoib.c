// SPDX-License-Identifier: GPL-2.0
/*
 * A soft-RoCE port that seems to be InfiniBand while AF_SDP checks the origin of a request.
 *
 * The port's capabilities are changed only while one of the checking functions of AF_SDP runs. A
 * client of the kernel answers which interface has a GID in a partition, as IP over InfiniBand
 * would: an interface of our choice, or none.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pid.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define ROCE	(RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP)

static char device[IB_DEVICE_NAME_MAX];
module_param_string(device, device, sizeof(device), 0644);
MODULE_PARM_DESC(device, "whose port it is");

static char interface[IFNAMSIZ];
module_param_string(interface, interface, sizeof(interface), 0644);
MODULE_PARM_DESC(interface, "that it came in by");

static int pid;
module_param(pid, int, 0644);
MODULE_PARM_DESC(pid, "process in the interface's namespace, or 0 for the first one");

static bool any_gid;
module_param(any_gid, bool, 0644);
MODULE_PARM_DESC(any_gid, "the interface has every GID, not only those of the port");

static unsigned int asked, answered;
module_param(asked, uint, 0644);
MODULE_PARM_DESC(asked, "how often somebody has asked for it");
module_param(answered, uint, 0644);
MODULE_PARM_DESC(answered, "... and was told");

/* Number of checking functions that run now, and the port's capabilities before the first one. */
static DEFINE_SPINLOCK(judges_lock);
static unsigned int judges;
static u32 *caps;
static u32 real;

struct judge {
	bool one;
};

static void begin(const struct ib_device *ib, struct judge *j)
{
	unsigned long flags;

	j->one = sysfs_streq(device, dev_name(&ib->dev));
	if (!j->one)
		return;
	spin_lock_irqsave(&judges_lock, flags);
	if (!judges++) {
		caps = &ib->port_data[1].immutable.core_cap_flags;
		real = READ_ONCE(*caps);
		WRITE_ONCE(*caps, (real & ~ROCE) | RDMA_CORE_CAP_PROT_IB);
	}
	spin_unlock_irqrestore(&judges_lock, flags);
}

static int begin_judging(struct kretprobe_instance *probe, struct pt_regs *regs)
{
	begin((const void *)regs_get_kernel_argument(regs, 1), (void *)probe->data);
	return 0;
}

static int end_judging(struct kretprobe_instance *probe, struct pt_regs *regs)
{
	const struct judge *j = (void *)probe->data;
	unsigned long flags;

	if (!j->one)
		return 0;
	spin_lock_irqsave(&judges_lock, flags);
	if (!--judges)
		WRITE_ONCE(*caps, real);
	spin_unlock_irqrestore(&judges_lock, flags);
	return 0;
}

/* All three functions have the device as their second argument. */
#define JUDGE(function)	{						\
	.kp.symbol_name = #function, .maxactive = 64,			\
	.entry_handler = begin_judging, .handler = end_judging,		\
	.data_size = sizeof(struct judge),				\
}

static struct kretprobe dev_probe = JUDGE(rc_origin_dev);
static struct kretprobe true_probe = JUDGE(rc_origin_true);
static struct kretprobe mtu_probe = JUDGE(rc_origin_mtu_fits);
static struct kretprobe *probes[] = { &dev_probe, &true_probe, &mtu_probe };

static bool has_gid(struct ib_device *ib, u32 port, const union ib_gid *gid)
{
	union ib_gid own;
	int i;

	for (i = 0; i < ib->port_data[port].immutable.gid_tbl_len; i++) {
		if (!rdma_query_gid(ib, port, i, &own) && !memcmp(&own, gid, sizeof(own)))
			return true;
	}
	return false;
}

static struct net_device *the_interface(void)
{
	struct net *net = READ_ONCE(pid) ? get_net_ns_by_pid(pid) : get_net(&init_net);
	char name[IFNAMSIZ];
	struct net_device *ndev;

	if (IS_ERR(net))
		return NULL;
	strscpy(name, interface, sizeof(name));
	ndev = dev_get_by_name(net, strim(name));
	put_net(net);
	return ndev;
}

static struct net_device *answer(struct ib_device *ib, u32 port, u16 pkey, const union ib_gid *gid,
				 const struct sockaddr *addr, void *data)
{
	struct net_device *ndev;

	if (!sysfs_streq(device, dev_name(&ib->dev)))
		return NULL;
	asked++;
	if (pkey != 0xffff || (!any_gid && !has_gid(ib, port, gid)))
		return NULL;
	ndev = the_interface();
	if (ndev)
		answered++;
	return ndev;
}

static struct ib_client client = {
	.name = "sdp_ipoib", .get_net_dev_by_params = answer,
};

static int __init ipoib_init(void)
{
	int err = ib_register_client(&client);

	if (err)
		return err;
	err = register_kretprobes(probes, ARRAY_SIZE(probes));
	if (err)
		ib_unregister_client(&client);
	return err;
}

static void __exit ipoib_exit(void)
{
	/* When the running checks have returned, the port has its own capabilities again. */
	device[0] = 0;
	while (READ_ONCE(judges))
		msleep(20);
	unregister_kretprobes(probes, ARRAY_SIZE(probes));
	ib_unregister_client(&client);
}

module_init(ipoib_init);
module_exit(ipoib_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A port that seems to be of InfiniBand, for tests");
