/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/sdp.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: scripts/netlink-spec.sh */

#ifndef _LINUX_SDP_GEN_H
#define _LINUX_SDP_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/sdp_netlink.h>
#include <linux/sdp.h>

#define SDP_WAIT_MIN_MS	10
#define SDP_WAIT_MAX_MS	3600000

/* Ops table for sdp */
extern const struct genl_split_ops sdp_nl_ops[8];

int sdp_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info);
int sdp_nl_policy_set_doit(struct sk_buff *skb, struct genl_info *info);
int sdp_nl_policy_explain_doit(struct sk_buff *skb, struct genl_info *info);
int sdp_nl_sock_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sdp_nl_fallback_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int sdp_nl_stat_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int sdp_nl_sock_kill_doit(struct sk_buff *skb, struct genl_info *info);
int sdp_nl_device_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* _LINUX_SDP_GEN_H */
