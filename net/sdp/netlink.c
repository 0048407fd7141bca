// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "sdp": its table of requests.
 *
 * linux/sdp_netlink.h describes the requests. Their handlers are in
 * control/netlink_dump.c, control/netlink_kill.c, policy/netlink.c and
 * policy/netlink_explain.c.
 *
 * A request is for the network namespace of the netlink socket that sends it.
 * No lock is held here (parallel_ops): requests of several sockets run in
 * parallel, as system calls do.
 */
#include <linux/module.h>

#include "control/genl.h"
#include "netlink.h"
#include "control/netlink_dump.h"
#include "control/netlink_kill.h"
#include "policy/netlink.h"

/*
 * Attribute policy of requests that have no attributes. It rejects every
 * attribute. Without a policy, some kernels ignore attributes.
 */
#define NO_ATTRS_MAX	1

static const struct nla_policy no_attrs[NO_ATTRS_MAX + 1] = {
	[NO_ATTRS_MAX] = { .type = NLA_REJECT },
};

#define SDP_DO(command, function, attributes, max)			\
	.cmd = (command), .doit = (function),				\
	.policy = (attributes), .maxattr = (max)
#define SDP_DUMP(command, function)					\
	.cmd = (command), .dumpit = (function),				\
	.policy = no_attrs, .maxattr = NO_ATTRS_MAX

static const struct genl_ops ops[] = {
	{ SDP_DUMP(SDP_CMD_SOCK_GET, sdp_dump_socks) },
	{ SDP_DUMP(SDP_CMD_STAT_GET, sdp_dump_stats) },
	{ SDP_DO(SDP_CMD_SOCK_KILL, sdp_kill_request, sdp_kill_attrs,
		 SDP_SOCK_A_MAX), .flags = GENL_UNS_ADMIN_PERM },
#if IS_ENABLED(CONFIG_AF_SDP_POLICY)
	{ SDP_DO(SDP_CMD_POLICY_GET, sdp_policy_nl_get, no_attrs,
		 NO_ATTRS_MAX) },
	{ SDP_DO(SDP_CMD_POLICY_SET, sdp_policy_nl_set, sdp_policy_nl_set_attrs,
		 SDP_POLICY_A_MAX), .flags = GENL_UNS_ADMIN_PERM },
	{ SDP_DO(SDP_CMD_POLICY_EXPLAIN, sdp_policy_nl_explain,
		 sdp_policy_nl_explain_attrs, SDP_EXPLAIN_A_MAX) },
	{ SDP_DUMP(SDP_CMD_FALLBACK_GET, sdp_policy_nl_fallbacks),
	  .flags = GENL_UNS_ADMIN_PERM },
#endif
};

static struct genl_family family = {
	.name		= SDP_GENL_NAME,
	.version	= SDP_GENL_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.parallel_ops	= true,
	.ops		= ops,
	.n_ops		= ARRAY_SIZE(ops),
	.resv_start_op	= SDP_CMD_POLICY_GET,
};

/**
 * sdp_netlink_init() - register the generic netlink family
 *
 * Requests may arrive before this returns.
 *
 * Return: 0 or an errno.
 */
int sdp_netlink_init(void)
{
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
