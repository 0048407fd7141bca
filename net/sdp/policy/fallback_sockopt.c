// SPDX-License-Identifier: GPL-2.0
/*
 * IP_SDP_FALLBACK on TCP sockets: why a socket is TCP and not SDP.
 *
 * Such a socket has the kernel's own proto_ops. But for an option that the IP
 * layer does not know, the IP layer calls netfilter, where modules may register
 * options. The option therefore needs CONFIG_NETFILTER. SDP sockets answer the
 * option themselves (sockopt_ip.c).
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/uaccess.h>
#include <net/sock.h>

#include "policy_net.h"
#include "undecided.h"

#ifdef CONFIG_NETFILTER
/* Returns true when the socket listens by TCP and by SDP. */
static bool listens_by_both(const struct socket *sock)
{
	struct sdp_shadow *shadow = sdp_shadow_find(sock);
	bool is;

	if (!shadow)
		return false;
	is = READ_ONCE(shadow->stage) == SDP_LISTENING;
	sdp_shadow_put(shadow);
	return is;
}

/* The caller's system call keeps the socket open. */
static int fallback_reason(struct sock *sk)
{
	struct socket *sock = READ_ONCE(sk->sk_socket);

	if (sk->sk_type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP)
		return -ENOPROTOOPT;
	if (!sock)
		return -ENODATA;
	if (listens_by_both(sock))
		return SDP_FELL_NOT;
	return sdp_fell_reason(sdp_policy(sock_net(sk)),
			       SOCK_INODE(sock)->i_ino);
}

static int fallback_getsockopt(struct sock *sk, int option, void __user *user,
			       int *len)
{
	int why = fallback_reason(sk);

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
	.get		= fallback_getsockopt,
	.owner		= THIS_MODULE,
};

static bool reason_registered;

/**
 * sdp_fallback_sockopt_init() - register IP_SDP_FALLBACK for TCP sockets
 *
 * The module works without it: a failure is logged only. Does nothing without
 * CONFIG_NETFILTER.
 */
void sdp_fallback_sockopt_init(void)
{
	int err = nf_register_sockopt(&reason_ops);

	reason_registered = !err;
	if (err)
		pr_warn("sdp: no IP_SDP_FALLBACK on TCP sockets: error %d\n",
			err);
}

/**
 * sdp_fallback_sockopt_exit() - unregister IP_SDP_FALLBACK
 *
 * No getsockopt() call of it is in progress: each holds a module reference.
 */
void sdp_fallback_sockopt_exit(void)
{
	if (reason_registered)
		nf_unregister_sockopt(&reason_ops);
}
#else
void sdp_fallback_sockopt_init(void)
{
}

void sdp_fallback_sockopt_exit(void)
{
}
#endif
