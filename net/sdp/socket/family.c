// SPDX-License-Identifier: GPL-2.0
/*
 * Socket families: registration, socket(2) and the table of calls.
 *
 * An application gets an SDP socket by socket(AF_SDP, SOCK_STREAM, 0), or as an
 * internet socket by socket(AF_INET or AF_INET6, SOCK_STREAM, IPPROTO_SDP). The
 * table of calls is the same for all three.
 *
 * The kernel's inet_create() and inet6_create() make the internet sockets: they
 * allocate the object that our struct proto describes and call its init().
 */
#include <linux/module.h>
#include <linux/net.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/protocol.h>

#include "../conn/memory.h"
#include "../conn/scan.h"
#include "bind.h"
#include "close.h"
#include "connect.h"
#include "family.h"
#include "ioctl.h"
#include "listen.h"
#include "poll.h"
#include "recv.h"
#include "recv_map.h"
#include "send.h"
#include "sockopt.h"
#include "sockopt_sock.h"
#include "splice.h"

static int family_no_socketpair(struct socket *a, struct socket *b)
{
	return -EOPNOTSUPP;
}

/* Kernel users of a socket call read_sock() without a check for NULL. */
static int family_no_read_sock(struct sock *sk, read_descriptor_t *desc,
			       sk_read_actor_t take)
{
	return -EOPNOTSUPP;
}

#define SDP_PROTO_OPS(domain) {				\
	.family		= (domain),			\
	.owner		= THIS_MODULE,			\
	.release	= sdp_release,			\
	.bind		= sdp_bind,			\
	.connect	= sdp_connect,			\
	.socketpair	= family_no_socketpair,		\
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
	.mmap		= sdp_mmap,			\
	.splice_read	= sdp_splice_read,		\
	.read_sock	= family_no_read_sock,		\
	SDP_SENDPAGE					\
	SDP_SPLICE_EOF(sdp_splice_eof)			\
}

static const struct proto_ops sdp_ops = SDP_PROTO_OPS(PF_SDP);
const struct proto_ops sdp_inet_ops = SDP_PROTO_OPS(PF_INET);

/*
 * socket(AF_SDP): stream sockets only (J1). The protocol may be 0, IPPROTO_TCP
 * or IPPROTO_SDP. The sock, and so SO_PROTOCOL, always has IPPROTO_SDP: parts
 * of the kernel assume that each sock with IPPROTO_TCP is a struct tcp_sock.
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
static const struct proto_ops sdp_inet6_ops = SDP_PROTO_OPS(PF_INET6);

static struct inet_protosw sdp_inet6_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SDP,
	.prot		= &sdp_v6_prot,
	.ops		= &sdp_inet6_ops,
};

static int family_inet6_init(void)
{
	return proto_register(&sdp_v6_prot, 1);
}

static void family_inet6_register(void)
{
	inet6_register_protosw(&sdp_inet6_protosw);
}

static void family_inet6_unregister(void)
{
	inet6_unregister_protosw(&sdp_inet6_protosw);
}

static void family_inet6_exit(void)
{
	proto_unregister(&sdp_v6_prot);
}
#else
static int family_inet6_init(void) { return 0; }
static void family_inet6_register(void) { }
static void family_inet6_unregister(void) { }
static void family_inet6_exit(void) { }
#endif

/**
 * sdp_family_init() - register the socket families
 *
 * Sockets can exist as soon as sock_register() has succeeded, so nothing after
 * it may fail. inet_register_protosw() and inet6_register_protosw() cannot
 * fail, because no other protocol has the number IPPROTO_SDP.
 *
 * Return: 0 or a negative errno.
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
	err = family_inet6_init();
	if (err)
		goto proto;
	err = sock_register(&sdp_family);
	if (err)
		goto inet6;
	inet_register_protosw(&sdp_inet_protosw);
	family_inet6_register();
	return 0;

inet6:
	family_inet6_exit();
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
 * sdp_family_exit() - undo sdp_family_init()
 *
 * Called at module exit, when no socket exists any more.
 */
void sdp_family_exit(void)
{
	inet_unregister_protosw(&sdp_inet_protosw);
	family_inet6_unregister();
	sock_unregister(PF_SDP);
	/* Wait until RCU has freed the sockets: they are in our slab caches. */
	rcu_barrier();
	family_inet6_exit();
	proto_unregister(&sdp_prot);
	sdp_scan_exit();
	sdp_memory_exit();
	destroy_workqueue(sdp_wq);
}
