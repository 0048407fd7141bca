// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/sdp.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: scripts/netlink-spec.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/sdp_netlink.h>
#include <linux/sdp.h>

/* Integer value ranges */
static const struct netlink_range_validation sdp_policy_a_fallback_ms_range = {
	.min	= SDP_WAIT_MIN_MS,
	.max	= SDP_WAIT_MAX_MS,
};

static const struct netlink_range_validation sdp_policy_a_fallback_memory_ms_range = {
	.max	= SDP_WAIT_MAX_MS,
};

/* SDP_CMD_POLICY_SET - do */
#ifdef CONFIG_AF_SDP_POLICY
static const struct nla_policy sdp_policy_set_nl_policy[SDP_POLICY_A_FALLBACK_MEMORY_MS + 1] = {
	[SDP_POLICY_A_TEXT] = { .type = NLA_STRING, },
	[SDP_POLICY_A_REWRITE] = NLA_POLICY_MAX(NLA_U8, 1),
	[SDP_POLICY_A_FALLBACK_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &sdp_policy_a_fallback_ms_range),
	[SDP_POLICY_A_FALLBACK_MEMORY_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &sdp_policy_a_fallback_memory_ms_range),
};
#endif /* CONFIG_AF_SDP_POLICY */

/* SDP_CMD_POLICY_EXPLAIN - do */
#ifdef CONFIG_AF_SDP_POLICY
static const struct nla_policy sdp_policy_explain_nl_policy[SDP_EXPLAIN_A_SCOPE + 1] = {
	[SDP_EXPLAIN_A_ROLE] = NLA_POLICY_MAX(NLA_U8, 1),
	[SDP_EXPLAIN_A_ADDR] = NLA_POLICY_MAX_LEN(16),
	[SDP_EXPLAIN_A_PORT] = { .type = NLA_U16, },
	[SDP_EXPLAIN_A_COMM] = { .type = NLA_STRING, .len = 4095, },
	[SDP_EXPLAIN_A_PATH] = { .type = NLA_STRING, .len = 4095, },
	[SDP_EXPLAIN_A_CGROUP] = { .type = NLA_STRING, .len = 4095, },
	[SDP_EXPLAIN_A_UID] = { .type = NLA_U32, },
	[SDP_EXPLAIN_A_SCOPE] = { .type = NLA_U32, },
};
#endif /* CONFIG_AF_SDP_POLICY */

/* SDP_CMD_SOCK_KILL - do */
static const struct nla_policy sdp_sock_kill_nl_policy[SDP_SOCK_A_INODE + 1] = {
	[SDP_SOCK_A_LOCAL] = NLA_POLICY_MAX_LEN(16),
	[SDP_SOCK_A_LOCAL_PORT] = { .type = NLA_U16, },
	[SDP_SOCK_A_PEER] = NLA_POLICY_MAX_LEN(16),
	[SDP_SOCK_A_PEER_PORT] = { .type = NLA_U16, },
	[SDP_SOCK_A_INODE] = { .type = NLA_U64, },
};

/* Ops table for sdp */
const struct genl_split_ops sdp_nl_ops[8] = {
#ifdef CONFIG_AF_SDP_POLICY
	{
		.cmd	= SDP_CMD_POLICY_GET,
		.doit	= sdp_nl_policy_get_doit,
		.flags	= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SDP_CMD_POLICY_SET,
		.doit		= sdp_nl_policy_set_doit,
		.policy		= sdp_policy_set_nl_policy,
		.maxattr	= SDP_POLICY_A_FALLBACK_MEMORY_MS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SDP_CMD_POLICY_EXPLAIN,
		.doit		= sdp_nl_policy_explain_doit,
		.policy		= sdp_policy_explain_nl_policy,
		.maxattr	= SDP_EXPLAIN_A_SCOPE,
		.flags		= GENL_CMD_CAP_DO,
	},
#endif /* CONFIG_AF_SDP_POLICY */
	{
		.cmd	= SDP_CMD_SOCK_GET,
		.dumpit	= sdp_nl_sock_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
#ifdef CONFIG_AF_SDP_POLICY
	{
		.cmd	= SDP_CMD_FALLBACK_GET,
		.dumpit	= sdp_nl_fallback_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
#endif /* CONFIG_AF_SDP_POLICY */
	{
		.cmd	= SDP_CMD_STAT_GET,
		.dumpit	= sdp_nl_stat_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SDP_CMD_SOCK_KILL,
		.doit		= sdp_nl_sock_kill_doit,
		.policy		= sdp_sock_kill_nl_policy,
		.maxattr	= SDP_SOCK_A_INODE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SDP_CMD_DEVICE_GET,
		.dumpit	= sdp_nl_device_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
};
