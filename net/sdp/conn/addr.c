// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses of user space: conversion of sockaddr forms, and checks.
 *
 * Three forms are accepted: sockaddr_in, sockaddr_in6, and a sockaddr_in with
 * the family AF_SDP (27), which old SDP programs use. No function needs a lock.
 */
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/route.h>

#include "addr.h"

/*
 * Returns the shortest valid length of an address. Internet sockets check this
 * length before they check the family.
 */
static int addr_len_min(int domain)
{
	switch (domain) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return SIN6_LEN_RFC2133;
	default:
		return offsetofend(struct sockaddr_storage, ss_family);
	}
}

/**
 * sdp_addr_get() - convert an address from user space
 * @e: result
 * @ss: address as copied from user space
 * @len: its length in bytes
 * @domain: family of the socket: with AF_SDP every form is accepted, with
 *	AF_INET and AF_INET6 only that of the family
 *
 * Return: 0, -EINVAL if the address is too short, or -EAFNOSUPPORT.
 */
int sdp_addr_get(struct sdp_endpoint *e, const struct sockaddr_storage *ss,
		 int len, int domain)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)ss;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;

	memset(e, 0, sizeof(*e));
	if (len < addr_len_min(domain))
		return -EINVAL;
	if (domain != AF_SDP && ss->ss_family != domain)
		return -EAFNOSUPPORT;
	switch (ss->ss_family) {
	case AF_INET:
	case AF_SDP:
		if (len < (int)sizeof(*in))
			return -EINVAL;
		sdp_set_v4(e, in->sin_addr.s_addr);
		e->port = ntohs(in->sin_port);
		return 0;
	case AF_INET6:
		if (len < SIN6_LEN_RFC2133)
			return -EINVAL;
		e->ip = in6->sin6_addr;
		e->port = ntohs(in6->sin6_port);
		if (len >= (int)sizeof(*in6) &&
		    (ipv6_addr_type(&e->ip) & IPV6_ADDR_LINKLOCAL))
			e->scope = in6->sin6_scope_id;
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

/**
 * sdp_addr_put() - convert an address for user space
 * @out: result; has room for a sockaddr_in6
 * @e: the address; if @v6 is false it must be an IPv4 one
 * @v6: write a sockaddr_in6, with an IPv4 address in mapped form
 *
 * Return: length of the result in bytes.
 */
int sdp_addr_put(struct sockaddr *out, const struct sdp_endpoint *e, bool v6)
{
	struct sockaddr_in *in = (struct sockaddr_in *)out;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;

	if (v6) {
		memset(in6, 0, sizeof(*in6));
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(e->port);
		in6->sin6_addr = e->ip;
		in6->sin6_scope_id = e->scope;
		return sizeof(*in6);
	}
	memset(in, 0, sizeof(*in));
	in->sin_family = AF_INET;
	in->sin_port = htons(e->port);
	in->sin_addr.s_addr = sdp_v4(e);
	return sizeof(*in);
}

/**
 * sdp_addr_is_ours() - is this an address of this host?
 * @net: namespace
 * @e: the address, not a wildcard
 *
 * Return: non-zero if it is.
 */
int sdp_addr_is_ours(struct net *net, const struct sdp_endpoint *e)
{
	struct net_device *dev = NULL;
	int found;

	if (sdp_is_v4(e))
		return inet_addr_type(net, sdp_v4(e)) == RTN_LOCAL;
	/* IPv6 that was disabled at boot has no address table to search. */
	if (!ipv6_mod_enabled())
		return 0;
	rcu_read_lock();
	if (e->scope)
		dev = dev_get_by_index_rcu(net, e->scope);
	found = ipv6_chk_addr(net, &e->ip, dev, 0);
	rcu_read_unlock();
	return found;
}

/**
 * sdp_addr_may_be_source() - may a connection have this source address?
 * @net: namespace
 * @e: an address or a wildcard
 *
 * A socket with IP_FREEBIND can be bound to an address of another host. It must
 * not connect from there, because the accepting application identifies us by
 * our address.
 *
 * Return: true for a wildcard, for an address of this host, and for every IPv4
 * loopback address.
 */
bool sdp_addr_may_be_source(struct net *net, const struct sdp_endpoint *e)
{
	return sdp_is_any(e) || sdp_addr_is_ours(net, e) ||
	       (sdp_is_loopback(e) && sdp_is_v4(e));
}
