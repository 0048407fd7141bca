// SPDX-License-Identifier: GPL-2.0
/*
 * setsockopt(2) and getsockopt(2): dispatch by level.
 *
 * Each level has a file of its own. The values are single integers, so they are
 * set and read without a lock. sockopt.h describes the tables of options.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/net.h>

#include "../conn/sock.h"
#include "sockopt.h"
#include "sockopt_ip.h"
#include "sockopt_sdp.h"
#include "sockopt_sock.h"
#include "sockopt_tcp.h"

/**
 * sdp_setsockopt() - setsockopt(2)
 * @sock: socket
 * @level: protocol level; SOL_SOCKET only in kernels with SOCK_CUSTOM_SOCKOPT
 * @name: option
 * @value: new value
 * @len: length of @value in bytes
 *
 * Return: 0 or a negative errno; -ENOPROTOOPT for an unknown level or option.
 */
int sdp_setsockopt(struct socket *sock, int level, int name, sockptr_t value,
		   unsigned int len)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);

	switch (level) {
	case SOL_SOCKET:
		return sdp_sol_socket_set(sock, name, value, len);
	case SOL_TCP:
		return sdp_tcp_set(ssk, name, value, len);
	case SOL_IP:
		return sdp_ip_set(ssk, name, value, len);
	case SOL_IPV6:
		if (sock->sk->sk_family == PF_INET)
			return -ENOPROTOOPT;
		return sdp_ipv6_set(ssk, name, value, len);
	case SOL_SDP:
		return sdp_sol_sdp_set(ssk, name, value, len);
	default:
		return -ENOPROTOOPT;
	}
}

/**
 * sdp_getsockopt() - getsockopt(2)
 * @sock: socket
 * @level: protocol level; the kernel handles SOL_SOCKET itself
 * @name: option
 * @value: user buffer for the value
 * @len: in: size of @value in bytes; out: bytes written
 *
 * Return: 0 or a negative errno; -EOPNOTSUPP for an unknown level of an AF_INET
 * socket, -ENOPROTOOPT for one of another socket, as with TCP.
 */
int sdp_getsockopt(struct socket *sock, int level, int name, char __user *value,
		   int __user *len)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	bool v4 = sock->sk->sk_family == PF_INET;
	int room;

	/*
	 * Check the level before the length, as TCP does. Its IPv4 and IPv6
	 * layers return different errnos for an unknown level.
	 */
	if (level != SOL_TCP && level != SOL_IP && (v4 || level != SOL_IPV6) &&
	    level != SOL_SDP)
		return v4 ? -EOPNOTSUPP : -ENOPROTOOPT;
	if (get_user(room, len))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	switch (level) {
	case SOL_TCP:
		return sdp_tcp_get(ssk, name, value, len);
	case SOL_IP:
		return sdp_ip_get(ssk, name, value, len);
	case SOL_IPV6:
		return sdp_ipv6_get(ssk, name, value, len);
	default:
		return sdp_sol_sdp_get(ssk, name, value, len);
	}
}
