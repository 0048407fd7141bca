// SPDX-License-Identifier: GPL-2.0
/*
 * setsockopt(2) and getsockopt(2): by level to the file that knows it; integers in and
 * out; tables of options.
 *
 * Values are set and read without the socket's lock: each is one integer. An option
 * that changes what a connection does at once says so in its row (changed).
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/net.h>

#include "../conn/sock.h"

/**
 * sdp_options_init() - options of a socket on which nobody has set any
 * @ssk: new socket
 */
void sdp_options_init(struct sdp_sock *ssk)
{
	const struct net *net = sock_net(&ssk->sk);

	ssk->opt.quickack = 1;
	ssk->opt.ttl = -1;
	ssk->opt.hops = -1;
	ssk->opt.rdma_threshold = -1;
	ssk->opt.flow_control = -1;
	ssk->opt.mtu_discover = READ_ONCE(net->ipv4.sysctl_ip_no_pmtu_disc) ?
				IP_PMTUDISC_DONT : IP_PMTUDISC_WANT;
	ssk->opt.mtu_discover6 = IPV6_PMTUDISC_WANT;
#if IS_ENABLED(CONFIG_IPV6)
	ssk->sk.sk_ipv6only = READ_ONCE(net->ipv6.sysctl.bindv6only);
#endif
}

static const struct sdp_option *find(const struct sdp_option *table, size_t n,
				     int name)
{
	for (; n; n--, table++)
		if (table->name == name)
			return table;
	return NULL;
}

static int *field_of(struct sdp_sock *ssk, const struct sdp_option *option)
{
	return (int *)((u8 *)&ssk->opt + option->field);
}

static int store(struct sdp_sock *ssk, const struct sdp_option *option, int val)
{
	if (option->high < option->low)
		val = !!val;
	else if (val < option->low || val > option->high)
		return -EINVAL;
	WRITE_ONCE(*field_of(ssk, option), val);
	return 0;
}

/**
 * sdp_option_set() - set an option that is in a table
 * @ssk: socket
 * @table: options of a level
 * @n: how many
 * @name: which
 * @val: new value
 *
 * Return: 0, -EINVAL, -ENOPROTOOPT when it is not there, or what its set() says.
 */
int sdp_option_set(struct sdp_sock *ssk, const struct sdp_option *table,
		   size_t n, int name, int val)
{
	const struct sdp_option *option = find(table, n, name);
	int err;

	if (!option)
		return -ENOPROTOOPT;
	err = option->set ? option->set(ssk, val) : store(ssk, option, val);
	if (!err && option->changed)
		option->changed(ssk);
	return err;
}

/**
 * sdp_option_get() - what an option of a table is set to
 * @ssk: socket
 * @table: options of a level
 * @n: how many
 * @name: which
 * @val: the value
 *
 * Return: 0, or -ENOPROTOOPT when it is not there.
 */
int sdp_option_get(struct sdp_sock *ssk, const struct sdp_option *table,
		   size_t n, int name, int *val)
{
	const struct sdp_option *option = find(table, n, name);

	if (!option)
		return -ENOPROTOOPT;
	*val = option->get ? option->get(ssk) : READ_ONCE(*field_of(ssk, option));
	return 0;
}

/**
 * sdp_option_copy() - hand a value to user space, as much as there is room for
 * @value: where to
 * @len: room, in and out
 * @from: the value
 * @size: its size
 *
 * Return: 0, -EFAULT or -EINVAL.
 */
int sdp_option_copy(char __user *value, int __user *len, const void *from,
		    int size)
{
	int room;

	if (get_user(room, len))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	size = min(room, size);
	return put_user(size, len) || copy_to_user(value, from, size) ?
		       -EFAULT :
		       0;
}

/**
 * sdp_setsockopt() - setsockopt(2)
 * @sock: socket
 * @level: protocol level; SOL_SOCKET comes here only where the kernel can be asked to
 * @name: option
 * @value: its value
 * @len: length of the value
 *
 * Return: 0 or an errno.
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
		return sdp_own_set(ssk, name, value, len);
	default:
		return -ENOPROTOOPT;
	}
}

/**
 * sdp_getsockopt() - getsockopt(2), all levels but SOL_SOCKET
 * @sock: socket
 * @level: protocol level
 * @name: option
 * @value: room for its value
 * @len: length of that, in and out
 *
 * Return: 0 or an errno.
 */
int sdp_getsockopt(struct socket *sock, int level, int name, char __user *value,
		   int __user *len)
{
	struct sdp_sock *ssk = sdp_sk(sock->sk);
	bool v4 = sock->sk->sk_family == PF_INET;
	int room;

	/* As with TCP, whose IPv4 and IPv6 layers differ; and before the option is looked at. */
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
		return sdp_own_get(ssk, name, value, len);
	}
}
