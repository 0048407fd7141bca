// SPDX-License-Identifier: GPL-2.0
/*
 * The address family: socket(AF_SDP, SOCK_STREAM, ...) and the table of calls.
 */
#include <linux/module.h>
#include <linux/net.h>

#include "family.h"
#include "sock.h"

static int no_socketpair(struct socket *a, struct socket *b)
{
	return -EOPNOTSUPP;
}

static const struct proto_ops sdp_ops = {
	.family		= PF_SDP,
	.owner		= THIS_MODULE,
	.release	= sdp_release,
	.bind		= sdp_bind,
	.connect	= sdp_connect,
	.socketpair	= no_socketpair,
	.accept		= sdp_accept,
	.getname	= sdp_getname,
	.poll		= sdp_poll,
	.ioctl		= sdp_ioctl,
	.gettstamp	= sock_gettstamp,
	.listen		= sdp_listen,
	.shutdown	= sdp_shutdown,
	.setsockopt	= sdp_setsockopt,
	.getsockopt	= sdp_getsockopt,
	.sendmsg	= sdp_sendmsg,
	.recvmsg	= sdp_recvmsg,
	.mmap		= sock_no_mmap,
};

/* J1: stream sockets only; a protocol, if one is named, is TCP. */
static int sdp_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	struct sdp_sock *ssk;

	if (protocol < 0 || protocol >= IPPROTO_MAX)
		return -EINVAL;
	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol && protocol != IPPROTO_TCP)
		return -EPROTONOSUPPORT;
	ssk = sdp_sock_alloc(net, GFP_KERNEL, kern);
	if (!ssk)
		return -ENOBUFS;
	sock->ops = &sdp_ops;
	sock_init_data(sock, &ssk->sk);
	ssk->sk.sk_protocol = IPPROTO_TCP;
	sdp_sock_init(ssk);
	return 0;
}

static const struct net_proto_family sdp_family = {
	.family	= PF_SDP,
	.create	= sdp_create,
	.owner	= THIS_MODULE,
};

/**
 * sdp_family_init() - sockets can be made from now on
 *
 * Return: 0 or an errno.
 */
int sdp_family_init(void)
{
	int err;

	sdp_wq = alloc_workqueue("sdp", WQ_UNBOUND, 0);
	if (!sdp_wq)
		return -ENOMEM;
	err = proto_register(&sdp_prot, 1);
	if (err)
		goto workqueue;
	err = sock_register(&sdp_family);
	if (err)
		goto proto;
	return 0;

proto:
	proto_unregister(&sdp_prot);
workqueue:
	destroy_workqueue(sdp_wq);
	return err;
}

/**
 * sdp_family_exit() - undo sdp_family_init(); there are no sockets any more
 */
void sdp_family_exit(void)
{
	sock_unregister(PF_SDP);
	/* Sockets are freed under RCU; their cache must outlive them. */
	rcu_barrier();
	proto_unregister(&sdp_prot);
	destroy_workqueue(sdp_wq);
}
