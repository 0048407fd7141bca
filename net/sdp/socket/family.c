// SPDX-License-Identifier: GPL-2.0
/*
 * How a socket is asked for: socket(AF_SDP, SOCK_STREAM, 0), or, as an internet socket,
 * socket(AF_INET | AF_INET6, SOCK_STREAM, IPPROTO_SDP). And the table of calls, which is
 * the same for all three.
 *
 * An internet socket is made by the kernel's inet_create() and inet6_create(), which
 * allocate what our struct proto says and call its init.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/protocol.h>

#include "family.h"
#include "../conn/sock.h"

static int no_socketpair(struct socket *a, struct socket *b)
{
	return -EOPNOTSUPP;
}

/* Code of the kernel that is handed somebody's socket may call it without looking. */
static int no_read_sock(struct sock *sk, read_descriptor_t *desc,
			sk_read_actor_t take)
{
	return -EOPNOTSUPP;
}

#define SDP_CALLS(domain) {				\
	.family		= (domain),			\
	.owner		= THIS_MODULE,			\
	.release	= sdp_release,			\
	.bind		= sdp_bind,			\
	.connect	= sdp_connect,			\
	.socketpair	= no_socketpair,		\
	.accept		= sdp_accept,			\
	.getname	= sdp_getname,			\
	.poll		= sdp_poll,			\
	.ioctl		= sdp_ioctl,			\
	.gettstamp	= sock_gettstamp,		\
	.listen		= sdp_listen,			\
	.shutdown	= sdp_shutdown,			\
	.setsockopt	= sdp_setsockopt,		\
	.getsockopt	= sdp_getsockopt,		\
	.set_rcvlowat	= sdp_set_rcvlowat,		\
	.set_peek_off	= sk_set_peek_off,		\
	.sendmsg	= sdp_sendmsg,			\
	.recvmsg	= sdp_recvmsg,			\
	.mmap		= sock_no_mmap,			\
	.splice_read	= sdp_splice_read,		\
	.read_sock	= no_read_sock,			\
	SDP_SENDPAGE					\
	SDP_SPLICE_EOF(sdp_splice_eof)			\
}

static const struct proto_ops sdp_ops = SDP_CALLS(PF_SDP);
const struct proto_ops sdp_inet_ops = SDP_CALLS(PF_INET);

/*
 * J1: stream sockets only; a protocol, if one is named, is TCP or what SO_PROTOCOL says. That is
 * not TCP: parts of the kernel take whatever calls itself so for a struct tcp_sock.
 */
static int sdp_create(struct net *net, struct socket *sock, int protocol,
		      int kern)
{
	struct sdp_sock *ssk;

	if (protocol < 0 || protocol >= IPPROTO_MAX)
		return -EINVAL;
	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol && protocol != IPPROTO_TCP && protocol != IPPROTO_SDP)
		return -EPROTONOSUPPORT;
	ssk = sdp_sock_alloc(net, PF_SDP, GFP_KERNEL, kern);
	if (!ssk)
		return -ENOBUFS;
	sock->ops = &sdp_ops;
	sock_init_data(sock, &ssk->sk);
	ssk->sk.sk_protocol = IPPROTO_SDP;
	sdp_sock_init(ssk);
	return 0;
}

static const struct net_proto_family sdp_family = {
	.family	= PF_SDP,
	.create	= sdp_create,
	.owner	= THIS_MODULE,
};

static struct inet_protosw sdp_inet_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SDP,
	.prot		= &sdp_prot,
	.ops		= &sdp_inet_ops,
};

#if IS_ENABLED(CONFIG_IPV6)
static const struct proto_ops sdp_inet6_ops = SDP_CALLS(PF_INET6);

static struct inet_protosw sdp_inet6_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SDP,
	.prot		= &sdp_v6_prot,
	.ops		= &sdp_inet6_ops,
};

static int inet6_twin_init(void)
{
	return proto_register(&sdp_v6_prot, 1);
}

static void inet6_twin_begin(void)
{
	inet6_register_protosw(&sdp_inet6_protosw);
}

static void inet6_twin_end(void)
{
	inet6_unregister_protosw(&sdp_inet6_protosw);
}

static void inet6_twin_free(void)
{
	proto_unregister(&sdp_v6_prot);
}
#else
static int inet6_twin_init(void) { return 0; }
static void inet6_twin_begin(void) { }
static void inet6_twin_end(void) { }
static void inet6_twin_free(void) { }
#endif

/**
 * sdp_family_init() - sockets can be made from now on
 *
 * Nothing fails after the first one could: the twins take places that are nobody's.
 *
 * Return: 0 or an errno.
 */
int sdp_family_init(void)
{
	int err;

	sdp_wq = alloc_workqueue("sdp", WQ_UNBOUND, 0);
	if (!sdp_wq)
		return -ENOMEM;
	err = sdp_memory_init();
	if (err)
		goto workqueue;
	err = sdp_scan_init();
	if (err)
		goto memory;
	err = proto_register(&sdp_prot, 1);
	if (err)
		goto scan;
	err = inet6_twin_init();
	if (err)
		goto proto;
	err = sock_register(&sdp_family);
	if (err)
		goto inet6;
	inet_register_protosw(&sdp_inet_protosw);
	inet6_twin_begin();
	return 0;

inet6:
	inet6_twin_free();
proto:
	proto_unregister(&sdp_prot);
scan:
	sdp_scan_exit();
memory:
	sdp_memory_exit();
workqueue:
	destroy_workqueue(sdp_wq);
	return err;
}

/**
 * sdp_family_exit() - undo sdp_family_init(); there are no sockets any more
 */
void sdp_family_exit(void)
{
	inet_unregister_protosw(&sdp_inet_protosw);
	inet6_twin_end();
	sock_unregister(PF_SDP);
	/* Sockets are freed under RCU; their caches must outlive them. */
	rcu_barrier();
	inet6_twin_free();
	proto_unregister(&sdp_prot);
	sdp_scan_exit();
	sdp_memory_exit();
	destroy_workqueue(sdp_wq);
}
