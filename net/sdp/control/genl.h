/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for the answers of the generic netlink family.
 *
 * An answer takes sequence number, family and command from its request, so the
 * handlers need not know the struct genl_family of netlink.c.
 */
#ifndef SDP_CONTROL_GENL_H
#define SDP_CONTROL_GENL_H

#include <linux/sdp_netlink.h>
#include <net/genetlink.h>

#include "../base/addr.h"

/**
 * sdp_genl_begin() - begin an answer
 * @skb: message buffer
 * @asked: header of the request
 * @portid: netlink port of the requester
 * @flags: NLM_F_*
 *
 * Return: the header for genlmsg_end() or genlmsg_cancel(), or NULL if @skb has
 * no room.
 */
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

/**
 * sdp_genl_begin_dump() - begin one message of a dump
 * @skb: message buffer
 * @cb: the dump
 *
 * Return: as sdp_genl_begin().
 */
static inline void *sdp_genl_begin_dump(struct sk_buff *skb,
					struct netlink_callback *cb)
{
	return sdp_genl_begin(skb, cb->nlh, NETLINK_CB(cb->skb).portid,
			      NLM_F_MULTI);
}

/**
 * sdp_genl_put_addr() - add an address attribute
 * @skb: message buffer
 * @attr: attribute type
 * @e: the address
 * @v6: write 16 bytes, IPv4 in mapped form; else write 4 bytes of IPv4
 *
 * Return: 0, or -EMSGSIZE if @skb has no room.
 */
static inline int sdp_genl_put_addr(struct sk_buff *skb, int attr,
				    const struct sdp_endpoint *e, bool v6)
{
	if (v6)
		return nla_put(skb, attr, sizeof(e->ip), &e->ip);
	return nla_put(skb, attr, sizeof(__be32), &e->ip.s6_addr32[3]);
}

#endif /* SDP_CONTROL_GENL_H */
