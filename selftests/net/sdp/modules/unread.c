// SPDX-License-Identifier: GPL-2.0
/*
 * Devices without RDMA read in either direction.
 *
 * soft-RoCE supports it, so its attributes are changed.
 */
#include <linux/module.h>
#include <linux/netdevice.h>

#include "hostile.h"

/* One device for each end. */
static struct unread {
	struct ib_device *ib;
	int reads, asks;
} list[2];

/**
 * hostile_all_read() - restore the attributes of all devices
 */
void hostile_all_read(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		struct unread *u = &list[i];

		if (!u->ib)
			continue;
		u->ib->attrs.max_qp_rd_atom = u->reads;
		u->ib->attrs.max_qp_init_rd_atom = u->asks;
		ib_device_put(u->ib);
		u->ib = NULL;
	}
}

/**
 * hostile_unread() - let a device's new connections do without RDMA read
 * @name: its network device; "none": restore all of them
 *
 * Return: 0 or an errno.
 */
int hostile_unread(const char *name)
{
	struct unread *u = list[0].ib ? &list[1] : &list[0];
	struct net_device *ndev;

	if (!strcmp(name, "none")) {
		hostile_all_read();
		return 0;
	}
	ndev = dev_get_by_name(&init_net, name);
	if (!ndev || u->ib) {
		dev_put(ndev);
		return ndev ? -EBUSY : -ENODEV;
	}
	u->ib = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
	dev_put(ndev);
	if (!u->ib)
		return -ENODEV;
	u->reads = u->ib->attrs.max_qp_rd_atom;
	u->asks = u->ib->attrs.max_qp_init_rd_atom;
	u->ib->attrs.max_qp_rd_atom = 0;
	u->ib->attrs.max_qp_init_rd_atom = 0;
	return 0;
}
