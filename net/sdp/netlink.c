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

/*
 * An operation without an attribute policy rejects every attribute, since its
 * command is not below resv_start_op.
 */
static struct genl_family family = {
	.name		= SDP_GENL_NAME,
	.version	= SDP_GENL_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.parallel_ops	= true,
	.split_ops	= sdp_nl_ops,
	.resv_start_op	= SDP_CMD_POLICY_GET,
};

/*
 * Without the policy, empty entries are at the end of the table: the generator
 * states the number of all operations as its size.
 */
static unsigned int number_of_ops(void)
{
	unsigned int n = ARRAY_SIZE(sdp_nl_ops);

	while (!sdp_nl_ops[n - 1].cmd)
		n--;
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
	family.n_split_ops = number_of_ops();
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
