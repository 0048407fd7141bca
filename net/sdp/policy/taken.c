// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of a socket whose TCP sock an SDP sock has replaced.
 *
 * The proto_ops of this file are those of SDP behind a read barrier.
 * sdp_shadow_take_place() stores the new sock and then the new proto_ops. A
 * call loads the proto_ops first and the sock later, in the called function.
 * Nothing makes the second load depend on the first, so without the barrier
 * the CPU may load the TCP sock for SDP's function. The barrier pairs with the
 * release in sdp_shadow_decide(). It is free on x86. Elsewhere each call pays a
 * little; the alternative, an interrupt of all CPUs per connect, costs more.
 *
 * Functions that take a sock instead of a socket load nothing; they are SDP's
 * own.
 */
#include <linux/net.h>

#include "../core.h"
#include "undecided.h"

static struct proto_ops taken_ops[2];

/* Orders the load of the proto_ops before the load of the sock. */
static void taken_barrier(void)
{
	/* Pairs with the release in sdp_shadow_decide(). */
	smp_rmb();
}

static int taken_release(struct socket *sock)
{
	taken_barrier();
	return sdp_release(sock);
}

static int taken_bind(struct socket *sock, struct sdp_sockaddr *addr, int len)
{
	taken_barrier();
	return sdp_bind(sock, addr, len);
}

static int taken_connect(struct socket *sock, struct sdp_sockaddr *addr,
			 int len, int flags)
{
	taken_barrier();
	return sdp_connect(sock, addr, len, flags);
}

static int taken_accept(struct socket *sock, struct socket *newsock,
			SDP_ACCEPT_ARGS)
{
	taken_barrier();
	return sdp_accept(sock, newsock, SDP_ACCEPT_PASS);
}

static int taken_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	taken_barrier();
	return sdp_getname(sock, addr, peer);
}

static __poll_t taken_poll(struct file *file, struct socket *sock,
			   poll_table *wait)
{
	taken_barrier();
	return sdp_poll(file, sock, wait);
}

static int taken_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	taken_barrier();
	return sdp_ioctl(sock, cmd, arg);
}

static int taken_listen(struct socket *sock, int backlog)
{
	taken_barrier();
	return sdp_listen(sock, backlog);
}

static int taken_shutdown(struct socket *sock, int how)
{
	taken_barrier();
	return sdp_shutdown(sock, how);
}

static int taken_setsockopt(struct socket *sock, int level, int name,
			    sockptr_t value, unsigned int len)
{
	taken_barrier();
	return sdp_setsockopt(sock, level, name, value, len);
}

static int taken_getsockopt(struct socket *sock, int level, int name,
			    char __user *value, int __user *len)
{
	taken_barrier();
	return sdp_getsockopt(sock, level, name, value, len);
}

static int taken_sendmsg(struct socket *sock, struct msghdr *msg, size_t size)
{
	taken_barrier();
	return sdp_sendmsg(sock, msg, size);
}

static int taken_recvmsg(struct socket *sock, struct msghdr *msg, size_t size,
			 int flags)
{
	taken_barrier();
	return sdp_recvmsg(sock, msg, size, flags);
}

static ssize_t taken_splice_read(struct socket *sock, loff_t *pos,
				 struct pipe_inode_info *pipe, size_t size,
				 unsigned int flags)
{
	taken_barrier();
	return sdp_splice_read(sock, pos, pipe, size, flags);
}

/* Called at the end of a splice by kernels that have splice_eof. */
static void taken_splice_eof(struct socket *sock)
{
	taken_barrier();
	sdp_splice_eof(sock);
}

static void taken_fill_ops(struct proto_ops *calls, int family)
{
	*calls = sdp_inet_ops;
	calls->family = family;
	calls->release = taken_release;
	calls->bind = taken_bind;
	calls->connect = taken_connect;
	calls->accept = taken_accept;
	calls->getname = taken_getname;
	calls->poll = taken_poll;
	calls->ioctl = taken_ioctl;
	calls->listen = taken_listen;
	calls->shutdown = taken_shutdown;
	calls->setsockopt = taken_setsockopt;
	calls->getsockopt = taken_getsockopt;
	calls->sendmsg = taken_sendmsg;
	calls->recvmsg = taken_recvmsg;
	calls->splice_read = taken_splice_read;
	sdp_set_splice_eof(calls, taken_splice_eof);
}

/**
 * sdp_taken_ops() - proto_ops for a socket whose TCP sock SDP has replaced
 * @family: AF_INET or AF_INET6
 *
 * Return: the proto_ops.
 */
const struct proto_ops *sdp_taken_ops(int family)
{
	return &taken_ops[family == AF_INET6];
}

/**
 * sdp_taken_tcp() - the TCP socket whose place an SDP sock has taken
 * @sock: any socket; the caller keeps it open
 *
 * Does not sleep; may be called from a tracing handler.
 *
 * Return: the struct socket that keeps the TCP sock, valid while @sock is open;
 * NULL for other sockets.
 */
struct socket *sdp_taken_tcp(const struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);
	const struct sock *sk;

	if (ops != &taken_ops[0] && ops != &taken_ops[1])
		return NULL;
	taken_barrier();
	sk = READ_ONCE(sock->sk);
	return sk ? READ_ONCE(sdp_sk(sk)->tcp) : NULL;
}

/**
 * sdp_taken_init() - fill in the proto_ops, before any socket uses them
 */
void sdp_taken_init(void)
{
	taken_fill_ops(&taken_ops[0], PF_INET);
	taken_fill_ops(&taken_ops[1], PF_INET6);
}
