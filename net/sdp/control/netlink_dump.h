/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink dumps of sockets and counters.
 */
#ifndef SDP_DUMP_H
#define SDP_DUMP_H

struct netlink_callback;
struct sk_buff;

int sdp_dump_socks(struct sk_buff *skb, struct netlink_callback *cb);
int sdp_dump_stats(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* SDP_DUMP_H */
