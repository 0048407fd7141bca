/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address of one end of a connection, and conversions of it.
 *
 * Inside the module an address is always an IPv6 address, IPv4 as
 * ::ffff:a.b.c.d, with port and scope. conn/addr.c converts it from and to the
 * sockaddr forms of user space. sdp_ip_to_wire() and sdp_ip_from_wire()
 * convert it to and from the form of the Hello.
 */
#ifndef SDP_BASE_ADDR_H
#define SDP_BASE_ADDR_H

#include <linux/in6.h>
#include <net/ipv6.h>

/**
 * struct sdp_endpoint - address and port of one end of a connection
 * @ip: address; IPv4 is mapped, and so is the IPv4 wildcard
 * @scope: interface index of a link-local address, or 0
 * @port: port in host byte order, or 0
 */
struct sdp_endpoint {
	struct in6_addr ip;
	u32 scope;
	u16 port;
};

/**
 * sdp_is_v4() - is this an IPv4 address?
 * @e: the address
 *
 * Return: true also for the IPv4 wildcard.
 */
static inline bool sdp_is_v4(const struct sdp_endpoint *e)
{
	return ipv6_addr_v4mapped(&e->ip);
}

/**
 * sdp_v4() - the IPv4 form of an address
 * @e: the address, for which sdp_is_v4() is true
 *
 * Return: the IPv4 address.
 */
static inline __be32 sdp_v4(const struct sdp_endpoint *e)
{
	return e->ip.s6_addr32[3];
}

/**
 * sdp_set_v4() - set an IPv4 address
 * @e: its @ip is written; port and scope stay
 * @ip: IPv4 address
 */
static inline void sdp_set_v4(struct sdp_endpoint *e, __be32 ip)
{
	ipv6_addr_set_v4mapped(ip, &e->ip);
}

/**
 * sdp_is_any() - is this a wildcard?
 * @e: the address
 *
 * Return: true for the wildcard of either family.
 */
static inline bool sdp_is_any(const struct sdp_endpoint *e)
{
	return ipv6_addr_any(&e->ip) || (sdp_is_v4(e) && !sdp_v4(e));
}

/**
 * sdp_is_loopback() - is this a loopback address?
 * @e: the address
 *
 * Return: true for 127.0.0.0/8 and ::1.
 */
static inline bool sdp_is_loopback(const struct sdp_endpoint *e)
{
	return sdp_is_v4(e) ? ipv4_is_loopback(sdp_v4(e)) :
			      ipv6_addr_loopback(&e->ip);
}

/**
 * sdp_ip_to_wire() - write an address in the form of the Hello
 * @wire: 16 bytes; IPv4 is in the last four, the rest is 0 (wire section 3)
 * @e: the address
 */
static inline void sdp_ip_to_wire(u8 wire[16], const struct sdp_endpoint *e)
{
	memset(wire, 0, 16);
	if (sdp_is_v4(e))
		memcpy(wire + 12, &e->ip.s6_addr[12], 4);
	else
		memcpy(wire, &e->ip, 16);
}

/**
 * sdp_ip_from_wire() - read an address in the form of the Hello
 * @e: its @ip is written; port and scope stay
 * @wire: 16 bytes
 * @ip_version: 4 or 6, from the Hello
 */
static inline void sdp_ip_from_wire(struct sdp_endpoint *e, const u8 wire[16],
				    u8 ip_version)
{
	memcpy(&e->ip, wire, 16);
	if (ip_version == 4)
		memset(&e->ip.s6_addr[10], 0xff, 2);
}

#endif /* SDP_BASE_ADDR_H */
