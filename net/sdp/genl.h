/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers of the generic netlink family: an answer has the number and the command of what was
 * asked, so who answers need not know the family. Requests are dispatched by netlink.c.
 */
#ifndef SDP_GENL_H
#define SDP_GENL_H

#include <linux/sdp_netlink.h>
#include <net/genetlink.h>

#include "addr.h"

/* NULL when there is no room. */
static inline void *sdp_genl_begin(struct sk_buff *skb,
				   const struct nlmsghdr *asked, u32 portid,
				   int flags)
{
	struct nlmsghdr *nlh = nlmsg_put(skb, portid, asked->nlmsg_seq,
					 asked->nlmsg_type, GENL_HDRLEN, flags);
	struct genlmsghdr *hdr;

	if (!nlh)
		return NULL;
	hdr = nlmsg_data(nlh);
	memset(hdr, 0, GENL_HDRLEN);
	hdr->cmd = ((const struct genlmsghdr *)nlmsg_data(asked))->cmd;
	hdr->version = SDP_GENL_VERSION;
	return (u8 *)hdr + GENL_HDRLEN;
}

/* One message of a dump. */
static inline void *sdp_genl_begin_dump(struct sk_buff *skb,
					struct netlink_callback *cb)
{
	return sdp_genl_begin(skb, cb->nlh, NETLINK_CB(cb->skb).portid,
			      NLM_F_MULTI);
}

/* 16 bytes, or 4 for IPv4 unless it is to be written as IPv6. */
static inline int sdp_genl_put_addr(struct sk_buff *skb, int attr,
				    const struct sdp_endpoint *e, bool v6)
{
	if (v6)
		return nla_put(skb, attr, sizeof(e->ip), &e->ip);
	return nla_put(skb, attr, sizeof(__be32), &e->ip.s6_addr32[3]);
}

#endif /* SDP_GENL_H */
