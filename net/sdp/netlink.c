// SPDX-License-Identifier: GPL-2.0
/*
 * Registration of the generic netlink family "sdp".
 *
 * Documentation/netlink/specs/sdp.yaml describes the requests. From it
 * scripts/netlink-spec.sh generates the table of operations and the attribute
 * policies (netlink_gen.c). The handlers are in control/netlink_dump.c,
 * control/netlink_kill.c, policy/netlink.c and policy/netlink_explain.c.
 *
 * A request is for the network namespace of the netlink socket that sends it.
 * No lock is held here (parallel_ops): requests of several sockets run in
 * parallel, as system calls do.
 */
#include <linux/module.h>

#include "netlink.h"
#include "netlink_gen.h"

/* For operations without attributes: any attribute is a mistake. */
static const struct nla_policy no_attribute[] = {
	{ .type = NLA_REJECT }, { .type = NLA_REJECT },
};

/* sdp_nl_ops, with a policy for each operation; see netlink_init_ops(). */
static struct genl_split_ops ops[ARRAY_SIZE(sdp_nl_ops)];

static struct genl_family family = {
	.name		= SDP_GENL_NAME,
	.version	= SDP_GENL_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.parallel_ops	= true,
	.split_ops	= ops,
	.resv_start_op	= SDP_CMD_POLICY_GET,
};

/*
 * Fill @ops; returns their number. The generator makes no policy for operations
 * without attributes, and not all kernels reject attributes there. Without the
 * policy for TCP sockets, empty entries are at the end of sdp_nl_ops: its size
 * is the number of all operations.
 */
static unsigned int netlink_init_ops(void)
{
	unsigned int n;

	memcpy(ops, sdp_nl_ops, sizeof(ops));
	for (n = 0; n < ARRAY_SIZE(ops) && ops[n].cmd; n++) {
		if (ops[n].policy)
			continue;
		ops[n].policy = no_attribute;
		ops[n].maxattr = ARRAY_SIZE(no_attribute) - 1;
	}
	return n;
}

/**
 * sdp_netlink_init() - register the generic netlink family
 *
 * Requests may arrive before this returns.
 *
 * Return: 0 or an errno.
 */
int sdp_netlink_init(void)
{
	family.n_split_ops = netlink_init_ops();
	return genl_register_family(&family);
}

/**
 * sdp_netlink_exit() - undo sdp_netlink_init()
 *
 * Waits for handlers that still run.
 */
void sdp_netlink_exit(void)
{
	genl_unregister_family(&family);
}
