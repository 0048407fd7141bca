/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ending connections from outside their applications.
 */
#ifndef SDP_KILL_H
#define SDP_KILL_H

#include <net/netlink.h>

struct genl_info;
struct sdp_endpoint;
struct sk_buff;

extern const struct nla_policy sdp_kill_attrs[];
unsigned int sdp_kill_address(struct net *net, const struct sdp_endpoint *e);
int sdp_kill_request(struct sk_buff *skb, struct genl_info *info);

#endif /* SDP_KILL_H */
