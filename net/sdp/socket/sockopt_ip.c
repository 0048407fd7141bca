// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options of the levels IPPROTO_IP and IPPROTO_IPV6.
 *
 * An AF_SDP or AF_INET6 socket has the options of both levels, as TCP's IPv6
 * sockets have; an AF_INET socket only those of IPPROTO_IP.
 *
 * The traffic class applies to the path of a later connection (sdp_tos());
 * IPV6_V6ONLY and IP_FREEBIND apply to bind(). The other options concern the
 * headers of single packets, which the device makes: they are stored and
 * reported, but have no effect.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/sdp.h>
#include <net/inet_ecn.h>
#include <net/route.h>

#include "../conn/sock.h"
#include "sockopt.h"
#include "sockopt_ip.h"

/* Value of IPV6_UNICAST_HOPS that is reported when none is set. */
#define DEFAULT_HOPS	64

/* Like TCP, clear the ECN bits: an application may not set them. */
static int traffic_class(int val)
{
	return val & 0xff & ~INET_ECN_MASK;
}

static int set_tos(struct sdp_sock *ssk, int val)
{
	val = traffic_class(val);
	if (val == READ_ONCE(ssk->opt.tos))
		return 0;
	WRITE_ONCE(ssk->opt.tos, val);
	WRITE_ONCE(ssk->sk.sk_priority, rt_tos2priority(val));
	return 0;
}

static int set_tclass(struct sdp_sock *ssk, int val)
{
	if (val < -1 || val > 0xff)
		return -EINVAL;
	WRITE_ONCE(ssk->opt.tclass, val == -1 ? 0 : traffic_class(val));
	return 0;
}

static int set_ttl(struct sdp_sock *ssk, int val)
{
	if (val != -1 && (val < 1 || val > 255))
		return -EINVAL;
	WRITE_ONCE(ssk->opt.ttl, val);
	return 0;
}

static int get_ttl(struct sdp_sock *ssk)
{
	int val = READ_ONCE(ssk->opt.ttl);

	return val < 0 ?
	       READ_ONCE(sock_net(&ssk->sk)->ipv4.sysctl_ip_default_ttl) : val;
}

static int get_hops(struct sdp_sock *ssk)
{
	int val = READ_ONCE(ssk->opt.hops);

	return val < 0 ? DEFAULT_HOPS : val;
}

/*
 * Refused for a bound socket: bind() checked its port for conflicts with the
 * old value.
 */
static int set_v6only(struct sdp_sock *ssk, int val)
{
	int err = 0;

	lock_sock(&ssk->sk);
	if (ssk->port)
		err = -EINVAL;
	else
		ssk->sk.sk_ipv6only = !!val;
	release_sock(&ssk->sk);
	return err;
}

static int get_v6only(struct sdp_sock *ssk)
{
	return ssk->sk.sk_ipv6only;
}

/* IP_SDP_FALLBACK: this socket is SDP, so it has not fallen back to TCP. */
static int get_fallback(struct sdp_sock *ssk)
{
	return SDP_FELL_NOT;
}

static int set_read_only(struct sdp_sock *ssk, int val)
{
	return -ENOPROTOOPT;
}

/* The member named in a row with both set() and get() is not used. */
static const struct sdp_option ip_options[] = {
	{ SDP_OPTION(IP_TOS, tos, 0, 0), .set = set_tos },
	{ SDP_OPTION(IP_TTL, ttl, 0, 0), .set = set_ttl, .get = get_ttl },
	{ SDP_OPTION(IP_MINTTL, min_ttl, 0, 255) },
	{ SDP_OPTION(IP_MTU_DISCOVER, mtu_discover,
		     IP_PMTUDISC_DONT, IP_PMTUDISC_OMIT) },
	{ SDP_OPTION_FLAG(IP_RECVERR, recverr) },
	{ SDP_OPTION_FLAG(IP_RECVTOS, recvtos) },
	{ SDP_OPTION_FLAG(IP_RECVTTL, recvttl) },
	{ SDP_OPTION_FLAG(IP_PKTINFO, pktinfo) },
	{ SDP_OPTION_FLAG(IP_FREEBIND, freebind) },
	{ SDP_OPTION(IP_SDP_FALLBACK, tos, 0, 0),
	  .set = set_read_only, .get = get_fallback },
};

static const struct sdp_option ipv6_options[] = {
	{ SDP_OPTION(IPV6_V6ONLY, tclass, 0, 0),
	  .set = set_v6only, .get = get_v6only },
	{ SDP_OPTION(IPV6_TCLASS, tclass, 0, 0), .set = set_tclass },
	{ SDP_OPTION(IPV6_UNICAST_HOPS, hops, -1, 255), .get = get_hops },
	{ SDP_OPTION(IPV6_MINHOPCOUNT, min_hops, 0, 255) },
	{ SDP_OPTION(IPV6_MTU_DISCOVER, mtu_discover6,
		     IPV6_PMTUDISC_DONT, IPV6_PMTUDISC_OMIT) },
	{ SDP_OPTION_FLAG(IPV6_RECVERR, recverr6) },
	{ SDP_OPTION_FLAG(IPV6_RECVTCLASS, recvtclass) },
	{ SDP_OPTION_FLAG(IPV6_RECVHOPLIMIT, recvhops) },
	{ SDP_OPTION_FLAG(IPV6_RECVPKTINFO, recvpktinfo) },
};

/**
 * sdp_ip_set() - set an option of IPPROTO_IP
 * @ssk: socket
 * @name: option
 * @value: new value: an int, or a byte if @len is less than the size of an int
 * @len: length of @value in bytes; 0 sets most options to 0
 *
 * Return: 0 or a negative errno.
 */
int sdp_ip_set(struct sdp_sock *ssk, int name, sockptr_t value,
	       unsigned int len)
{
	int val = 0;
	u8 byte;

	if (len >= sizeof(val)) {
		if (copy_from_sockptr(&val, value, sizeof(val)))
			return -EFAULT;
	} else if (len) {
		if (copy_from_sockptr(&byte, value, sizeof(byte)))
			return -EFAULT;
		val = byte;
	} else if (name == IP_TTL || name == IP_MINTTL || name == IP_FREEBIND) {
		return -EINVAL;
	}
	return sdp_option_set(ssk, ip_options, ARRAY_SIZE(ip_options), name,
			      val);
}

/**
 * sdp_ip_get() - get an option of IPPROTO_IP
 * @ssk: socket
 * @name: option
 * @value: user buffer; gets one byte if it is shorter than an int and the value
 *	fits
 * @len: in: size of @value in bytes; out: bytes written
 *
 * Return: 0 or a negative errno.
 */
int sdp_ip_get(struct sdp_sock *ssk, int name, char __user *value,
	       int __user *len)
{
	int val, room, err;
	u8 byte;

	err = sdp_option_get(ssk, ip_options, ARRAY_SIZE(ip_options), name,
			     &val);
	if (err)
		return err;
	if (get_user(room, len))
		return -EFAULT;
	if (room <= 0 || room >= (int)sizeof(val) || val < 0 || val > 255)
		return sdp_option_copy(value, len, &val, sizeof(val));
	byte = val;
	return sdp_option_copy(value, len, &byte, sizeof(byte));
}

/**
 * sdp_ipv6_set() - set an option of IPPROTO_IPV6
 * @ssk: socket
 * @name: option
 * @value: new value, an int
 * @len: length of @value in bytes
 *
 * Return: 0 or a negative errno; for a short @value -ENOPROTOOPT if the option
 * is unknown, else -EINVAL.
 */
int sdp_ipv6_set(struct sdp_sock *ssk, int name, sockptr_t value,
		 unsigned int len)
{
	int val = 0, err;

	if (len >= sizeof(val) && copy_from_sockptr(&val, value, sizeof(val)))
		return -EFAULT;
	if (len >= sizeof(val))
		return sdp_option_set(ssk, ipv6_options,
				      ARRAY_SIZE(ipv6_options), name, val);
	err = sdp_option_get(ssk, ipv6_options, ARRAY_SIZE(ipv6_options), name,
			     &val);
	return err == -ENOPROTOOPT ? err : -EINVAL;
}

/**
 * sdp_ipv6_get() - get an option of IPPROTO_IPV6
 * @ssk: socket
 * @name: option
 * @value: user buffer for the value
 * @len: in: size of @value in bytes; out: bytes written
 *
 * Return: 0 or a negative errno.
 */
int sdp_ipv6_get(struct sdp_sock *ssk, int name, char __user *value,
		 int __user *len)
{
	int val, err;

	err = sdp_option_get(ssk, ipv6_options, ARRAY_SIZE(ipv6_options), name,
			     &val);
	return err ? err : sdp_option_copy(value, len, &val, sizeof(val));
}
