/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink requests about the policy: handlers and attribute rules.
 *
 * The generic netlink family (../netlink.c) dispatches to these handlers. They
 * run without a lock of the family, so several may run at once.
 */
#ifndef SDP_POLICY_NETLINK_H
#define SDP_POLICY_NETLINK_H

#include <linux/sdp_netlink.h>
#include <net/netlink.h>

struct genl_info;
struct netlink_callback;
struct sk_buff;

extern const struct nla_policy sdp_policy_nl_set_attrs[SDP_POLICY_A_MAX + 1];
extern const struct nla_policy
	sdp_policy_nl_explain_attrs[SDP_EXPLAIN_A_MAX + 1];

/* policy/netlink.c */
int sdp_policy_nl_get(struct sk_buff *skb, struct genl_info *info);
int sdp_policy_nl_set(struct sk_buff *skb, struct genl_info *info);
int sdp_policy_nl_fallbacks(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink_explain.c */
int sdp_policy_nl_explain(struct sk_buff *skb, struct genl_info *info);

#endif /* SDP_POLICY_NETLINK_H */
