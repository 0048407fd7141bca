// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of a socket whose TCP sock an SDP sock has replaced: those of SDP,
 * behind a barrier.
 *
 * sdp_shadow_take_place() stores the new sock, and then the new calls. A thread
 * of the program loads the calls, goes to one of them, and only there loads the
 * sock; nothing makes the second load depend on the first one, so a processor
 * may do it earlier and give TCP's sock to SDP's code. The barrier is between
 * the two loads, and pairs with the release in sdp_shadow_end(). It costs
 * nothing where loads keep their order (x86), and elsewhere less in each call
 * than one interrupt of all processors for each connect.
 *
 * Calls that get a sock instead of a socket load nothing: they stay SDP's own.
 */
#include <linux/net.h>

#include "../socket/family.h"
#include "../conn/sock.h"
#include "undecided.h"

static struct proto_ops taken[2];

/* The calls have been loaded, the sock has not. */
static void look_anew(void)
{
	/* Pairs with sdp_shadow_end(). */
	smp_rmb();
}

static int taken_release(struct socket *sock)
{
	look_anew();
	return sdp_release(sock);
}

static int taken_bind(struct socket *sock, struct sdp_sockaddr *addr, int len)
{
	look_anew();
	return sdp_bind(sock, addr, len);
}

static int taken_connect(struct socket *sock, struct sdp_sockaddr *addr,
			 int len, int flags)
{
	look_anew();
	return sdp_connect(sock, addr, len, flags);
}

static int taken_accept(struct socket *sock, struct socket *newsock,
			SDP_ACCEPT_ARGS)
{
	look_anew();
	return sdp_accept(sock, newsock, SDP_ACCEPT_PASS);
}

static int taken_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	look_anew();
	return sdp_getname(sock, addr, peer);
}

static __poll_t taken_poll(struct file *file, struct socket *sock,
			   poll_table *wait)
{
	look_anew();
	return sdp_poll(file, sock, wait);
}

static int taken_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	look_anew();
	return sdp_ioctl(sock, cmd, arg);
}

static int taken_listen(struct socket *sock, int backlog)
{
	look_anew();
	return sdp_listen(sock, backlog);
}

static int taken_shutdown(struct socket *sock, int how)
{
	look_anew();
	return sdp_shutdown(sock, how);
}

static int taken_setsockopt(struct socket *sock, int level, int name,
			    sockptr_t value, unsigned int len)
{
	look_anew();
	return sdp_setsockopt(sock, level, name, value, len);
}

static int taken_getsockopt(struct socket *sock, int level, int name,
			    char __user *value, int __user *len)
{
	look_anew();
	return sdp_getsockopt(sock, level, name, value, len);
}

static int taken_sendmsg(struct socket *sock, struct msghdr *msg, size_t size)
{
	look_anew();
	return sdp_sendmsg(sock, msg, size);
}

static int taken_recvmsg(struct socket *sock, struct msghdr *msg, size_t size,
			 int flags)
{
	look_anew();
	return sdp_recvmsg(sock, msg, size, flags);
}

static ssize_t taken_splice_read(struct socket *sock, loff_t *pos,
				 struct pipe_inode_info *pipe, size_t size,
				 unsigned int flags)
{
	look_anew();
	return sdp_splice_read(sock, pos, pipe, size, flags);
}

/* Called by kernels that tell when a splice that has announced more is over. */
static void taken_splice_eof(struct socket *sock)
{
	look_anew();
	sdp_splice_eof(sock);
}

static void make_calls(struct proto_ops *calls, int family)
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
 * sdp_taken_ops() - the calls of a socket whose sock is SDP's instead of TCP's
 * @family: AF_INET or AF_INET6
 *
 * Return: them.
 */
const struct proto_ops *sdp_taken_ops(int family)
{
	return &taken[family == AF_INET6];
}

/**
 * sdp_taken_tcp() - what is left of TCP's socket where SDP has taken its place
 * @sock: any socket that is open
 *
 * Does not sleep, and may be called from a tracer.
 *
 * Return: the socket that has TCP's sock, as long as @sock is open; NULL for
 * other sockets.
 */
struct socket *sdp_taken_tcp(const struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);
	const struct sock *sk;

	if (ops != &taken[0] && ops != &taken[1])
		return NULL;
	look_anew();
	sk = READ_ONCE(sock->sk);
	return sk ? READ_ONCE(sdp_sk(sk)->tcp) : NULL;
}

/**
 * sdp_taken_init() - make them; before any socket needs them
 */
void sdp_taken_init(void)
{
	make_calls(&taken[0], PF_INET);
	make_calls(&taken[1], PF_INET6);
}
