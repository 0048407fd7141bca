/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is asked of the policy by netlink.
 */
#ifndef SDP_POLICY_REQUESTS_H
#define SDP_POLICY_REQUESTS_H

#include <linux/sdp_netlink.h>
#include <net/netlink.h>

struct genl_info;
struct netlink_callback;
struct sk_buff;

extern const struct nla_policy sdp_request_set_attrs[SDP_POLICY_A_MAX + 1];
extern const struct nla_policy sdp_request_explain_attrs[SDP_EXPLAIN_A_MAX + 1];

/* policy/netlink.c */
int sdp_request_get(struct sk_buff *skb, struct genl_info *info);
int sdp_request_set(struct sk_buff *skb, struct genl_info *info);
int sdp_request_fallbacks(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink_explain.c */
int sdp_request_explain(struct sk_buff *skb, struct genl_info *info);

#endif /* SDP_POLICY_REQUESTS_H */
