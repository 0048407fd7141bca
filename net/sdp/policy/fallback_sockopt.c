// SPDX-License-Identifier: GPL-2.0
/*
 * IP_SDP_FALLBACK on sockets of TCP's: why a socket that the policy wanted by SDP is TCP.
 *
 * Such a socket has the kernel's own calls. But the kernel's IP layer asks netfilter about
 * options that it does not know, and netfilter whoever has registered for them. A kernel without
 * netfilter does not have the option. SDP's sockets answer by themselves (sockopt_ip.c).
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include "undecided.h"
#include "policy_net.h"

#ifdef CONFIG_NETFILTER
/* It listens by SDP as well. */
static bool is_pair(const struct socket *sock)
{
	struct sdp_shadow *shadow = sdp_shadow_find(sock);
	bool is;

	if (!shadow)
		return false;
	is = READ_ONCE(shadow->stage) == SDP_LISTENING;
	sdp_shadow_put(shadow);
	return is;
}

/* The caller has the socket open. */
static int reason_of(struct sock *sk)
{
	struct socket *sock = READ_ONCE(sk->sk_socket);

	if (sk->sk_type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP)
		return -ENOPROTOOPT;
	if (!sock)
		return -ENODATA;
	if (is_pair(sock))
		return SDP_FELL_NOT;
	return sdp_fell_reason(sdp_policy(sock_net(sk)),
			       SOCK_INODE(sock)->i_ino);
}

static int get_reason(struct sock *sk, int option, void __user *user, int *len)
{
	int why = reason_of(sk);

	if (why < 0)
		return why;
	if (*len < (int)sizeof(why))
		return -EINVAL;
	if (copy_to_user(user, &why, sizeof(why)))
		return -EFAULT;
	*len = sizeof(why);
	return 0;
}

static struct nf_sockopt_ops reason_ops = {
	.pf		= PF_INET,
	.get_optmin	= IP_SDP_FALLBACK,
	.get_optmax	= IP_SDP_FALLBACK + 1,
	.get		= get_reason,
	.owner		= THIS_MODULE,
};

static bool registered;

/**
 * sdp_reason_init() - sockets can be asked
 */
void sdp_reason_init(void)
{
	int err = nf_register_sockopt(&reason_ops);

	registered = !err;
	if (err)
		pr_warn("sdp: no IP_SDP_FALLBACK on TCP sockets (error %d): another module has its number\n",
			err);
}

/**
 * sdp_reason_exit() - they cannot be asked any more
 */
void sdp_reason_exit(void)
{
	if (registered)
		nf_unregister_sockopt(&reason_ops);
}
#else
void sdp_reason_init(void)
{
}

void sdp_reason_exit(void)
{
}
#endif
