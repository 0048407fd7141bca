/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One address form inside the module: an IPv6 address, IPv4 as ::ffff:a.b.c.d, with its
 * port and scope. User space's sockaddr forms end in socket/addr.c, the wire's in
 * the two functions at the end.
 */
#ifndef SDP_ADDR_H
#define SDP_ADDR_H

#include <linux/in6.h>
#include <net/ipv6.h>

/**
 * struct sdp_endpoint - one end of a connection
 * @ip: address; IPv4 is mapped, both wildcards keep their family
 * @scope: interface index of a link-local address, or 0
 * @port: host order
 */
struct sdp_endpoint {
	struct in6_addr ip;
	u32 scope;
	u16 port;
};

static inline bool sdp_is_v4(const struct sdp_endpoint *e)
{
	return ipv6_addr_v4mapped(&e->ip);
}

static inline __be32 sdp_v4(const struct sdp_endpoint *e)
{
	return e->ip.s6_addr32[3];
}

static inline void sdp_set_v4(struct sdp_endpoint *e, __be32 ip)
{
	ipv6_addr_set_v4mapped(ip, &e->ip);
}

static inline bool sdp_is_any(const struct sdp_endpoint *e)
{
	return ipv6_addr_any(&e->ip) || (sdp_is_v4(e) && !sdp_v4(e));
}

static inline bool sdp_is_loopback(const struct sdp_endpoint *e)
{
	return sdp_is_v4(e) ? ipv4_is_loopback(sdp_v4(e)) :
			      ipv6_addr_loopback(&e->ip);
}

/* The Hello holds IPv4 in the last four of 16 bytes, the others zero (wire section 3). */
static inline void sdp_ip_to_wire(u8 wire[16], const struct sdp_endpoint *e)
{
	memset(wire, 0, 16);
	if (sdp_is_v4(e))
		memcpy(wire + 12, &e->ip.s6_addr[12], 4);
	else
		memcpy(wire, &e->ip, 16);
}

static inline void sdp_ip_from_wire(struct sdp_endpoint *e, const u8 wire[16],
				    u8 ip_version)
{
	memcpy(&e->ip, wire, 16);
	if (ip_version == 4)
		memset(&e->ip.s6_addr[10], 0xff, 2);
}

#endif /* SDP_ADDR_H */
