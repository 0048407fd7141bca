/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections that are ended from outside their programs.
 */
#ifndef SDP_KILL_H
#define SDP_KILL_H

#include <net/netlink.h>

struct genl_info;
struct sk_buff;

extern const struct nla_policy sdp_kill_attrs[];
int sdp_request_kill(struct sk_buff *skb, struct genl_info *info);

#endif /* SDP_KILL_H */
