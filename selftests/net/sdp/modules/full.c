// SPDX-License-Identifier: GPL-2.0
/*
 * A device without free queue pairs.
 *
 * soft-RoCE's million cannot be used up. Its function that creates them is replaced by one that
 * refuses, as soft-RoCE does when its table is full (EINVAL) or as adapters do (ENOMEM).
 */
#include <linux/module.h>
#include <linux/netdevice.h>

#include "hostile.h"

static struct ib_device *full;
static int (*create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata);

static int refuse_table(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	return -EINVAL;
}

static int refuse_memory(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	return -ENOMEM;
}

/**
 * hostile_no_more_full() - let the device create queue pairs again
 */
void hostile_no_more_full(void)
{
	if (!full)
		return;
	WRITE_ONCE(full->ops.create_qp, create_qp);
	ib_device_put(full);
	full = NULL;
}

/**
 * hostile_full() - let a device refuse to create queue pairs
 * @name: its network device
 * @memory: with -ENOMEM instead of -EINVAL
 *
 * Return: 0 or an errno.
 */
int hostile_full(const char *name, bool memory)
{
	struct net_device *ndev = dev_get_by_name(&init_net, name);

	hostile_no_more_full();
	if (!ndev)
		return -ENODEV;
	full = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
	dev_put(ndev);
	if (!full)
		return -ENODEV;
	create_qp = full->ops.create_qp;
	WRITE_ONCE(full->ops.create_qp, memory ? refuse_memory : refuse_table);
	return 0;
}
