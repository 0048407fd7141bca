// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family "sdp": which request is whose. linux/sdp_netlink.h says what each
 * one is, netlink_dump.c, netlink_kill.c and policy/netlink.c answer them.
 *
 * A request is about the network namespace of the socket that it comes by. Nothing is locked
 * here: requests of several sockets run beside each other, as system calls do.
 */
#include <linux/module.h>

#include "control/netlink_dump.h"
#include "control/netlink_kill.h"
#include "genl.h"
#include "netlink.h"
#include "policy/netlink.h"

/* Of requests without attributes: any is a mistake, on every kernel. */
#define NONE_MAX	1

static const struct nla_policy none[NONE_MAX + 1] = {
	[NONE_MAX] = { .type = NLA_REJECT },
};

#define DO(command, function, attributes, max)						\
	.cmd = (command), .doit = (function), .policy = (attributes), .maxattr = (max)
#define DUMP(command, function)								\
	.cmd = (command), .dumpit = (function), .policy = none, .maxattr = NONE_MAX

static const struct genl_ops ops[] = {
	{ DO(SDP_CMD_POLICY_GET, sdp_request_get, none, NONE_MAX) },
	{ DO(SDP_CMD_POLICY_SET, sdp_request_set, sdp_request_set_attrs, SDP_POLICY_A_MAX),
	  .flags = GENL_UNS_ADMIN_PERM },
	{ DO(SDP_CMD_POLICY_EXPLAIN, sdp_request_explain, sdp_request_explain_attrs,
	     SDP_EXPLAIN_A_MAX) },
	{ DUMP(SDP_CMD_SOCK_GET, sdp_dump_socks) },
	{ DUMP(SDP_CMD_FALLBACK_GET, sdp_request_fallbacks), .flags = GENL_UNS_ADMIN_PERM },
	{ DUMP(SDP_CMD_STAT_GET, sdp_dump_stats) },
	{ DO(SDP_CMD_SOCK_KILL, sdp_request_kill, sdp_kill_attrs,
	     SDP_SOCK_A_MAX),
	  .flags = GENL_UNS_ADMIN_PERM },
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
 * sdp_netlink_init() - requests are answered from now on
 *
 * Return: 0 or an errno.
 */
int sdp_netlink_init(void)
{
	return genl_register_family(&family);
}

/**
 * sdp_netlink_exit() - undo sdp_netlink_init(); waits for those that are being answered
 */
void sdp_netlink_exit(void)
{
	genl_unregister_family(&family);
}
