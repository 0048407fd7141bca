// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of an undecided socket: a TCP socket of the kernel's, of whom nobody knows yet
 * whether SDP will take its place.
 *
 * They are the kernel's, but for connect and listen, which decide; and each looks, under the
 * bucket's lock, whether somebody has just decided, and then goes to the calls that the socket
 * has now. A socket with these calls holds the module; and so that the module does not go while
 * a thread that found them has not come out of them yet, they are counted.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/splice.h>
#include <net/inet_common.h>

#include "../socket/sock.h"
#include "shim.h"

/**
 * struct shim - the calls for one address family
 * @calls: of undecided sockets
 * @tcp: the kernel's
 */
struct shim {
	struct proto_ops calls;
	const struct proto_ops *tcp;
};

static struct shim shims[2];
static atomic_t inside;

static const struct shim *shim_of(const struct proto_ops *ops)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shims); i++)
		if (ops == &shims[i].calls)
			return &shims[i];
	return NULL;
}

/**
 * sdp_shim_tcp() - the kernel's calls for an undecided socket
 * @sock: socket; with its bucket locked, the answer stays true
 *
 * Return: the calls, or NULL when it is decided.
 */
const struct proto_ops *sdp_shim_tcp(const struct socket *sock)
{
	const struct shim *shim = shim_of(READ_ONCE(sock->ops));

	return shim ? shim->tcp : NULL;
}

/**
 * sdp_shim_begin() - a new socket is undecided from now on, if it is one of the kernel's TCP
 * @sock: socket that nobody else knows yet
 *
 * Called with preemption off.
 */
void sdp_shim_begin(struct socket *sock)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shims); i++) {
		if (sock->ops != shims[i].tcp || !shims[i].tcp)
			continue;
		if (try_module_get(THIS_MODULE))
			WRITE_ONCE(sock->ops, &shims[i].calls);
		return;
	}
}

/**
 * sdp_shim_end() - the socket is TCP, for good
 * @sock: undecided socket, its bucket locked for writing
 */
void sdp_shim_end(struct socket *sock)
{
	/* After all that was done to the socket before. */
	smp_store_release(&sock->ops, sdp_shim_tcp(sock));
	/* Who is on his way out of here is counted in @inside. */
	module_put(THIS_MODULE);
}

/**
 * struct turn - one call
 * @b: bucket, locked for reading while the socket is undecided; else NULL
 * @ops: the calls to go to
 * @shadow: what is beside the socket, or NULL
 */
struct turn {
	struct sdp_bucket *b;
	const struct proto_ops *ops;
	struct sdp_shadow *shadow;
};

static void look(struct turn *t, struct socket *sock)
{
	t->b = sdp_bucket(sock);
	t->shadow = NULL;
	down_read(&t->b->lock);
	t->ops = sdp_shim_tcp(sock);
	if (t->ops) {
		t->shadow = sdp_shadow_find(t->b, sock);
		return;
	}
	up_read(&t->b->lock);
	t->b = NULL;
	t->ops = READ_ONCE(sock->ops);
}

static void turn_begin(struct turn *t, struct socket *sock)
{
	atomic_inc(&inside);
	look(t, sock);
}

/* For what may take long: the lock goes, the count stays. */
static void unlock(struct turn *t)
{
	up_read(&t->b->lock);
	t->b = NULL;
}

static void turn_end(struct turn *t)
{
	if (t->b)
		up_read(&t->b->lock);
	atomic_dec(&inside);
}

static bool connecting(const struct turn *t)
{
	return t->shadow && !t->shadow->listening;
}

/*
 * A call that may wait for the peer, on a socket that is about to connect: it waits for the
 * decision first, without the lock. Returns 0 when the socket's own calls shall go on.
 */
static int wait_decided(struct turn *t, struct socket *sock, long timeo)
{
	struct sdp_shadow *shadow = t->shadow;
	int err;

	if (!connecting(t))
		return 0;
	sdp_shadow_get(shadow);
	unlock(t);
	err = sdp_attempt_wait(shadow, timeo);
	sdp_shadow_put(shadow);
	look(t, sock);
	/* Undecided again, after an attempt that failed for good, and connecting again already. */
	return !err && connecting(t) ? -ENOTCONN : err;
}

/* The new socket has the listener's calls, and a reference to the module for them. */
static int accept_by(const struct proto_ops *ops, struct socket *sock, struct socket *newsock,
		     SDP_ACCEPT_ARGS)
{
	const struct proto_ops *old = newsock->ops;
	int err;

	newsock->ops = ops;
	err = ops->accept(sock, newsock, SDP_ACCEPT_PASS);
	if (err)
		newsock->ops = old;
	else if (ops->owner != THIS_MODULE)
		module_put(THIS_MODULE);
	return err;
}

static int shim_bind(struct socket *sock, struct sdp_sockaddr *addr, int len)
{
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	ret = connecting(&t) ? -EINVAL : t.ops->bind(sock, addr, len);
	turn_end(&t);
	return ret;
}

static int shim_connect(struct socket *sock, struct sdp_sockaddr *addr, int len, int flags)
{
	int ret;

	atomic_inc(&inside);
	ret = sdp_attempt(sock, addr, len, flags);
	atomic_dec(&inside);
	return ret;
}

static int shim_listen(struct socket *sock, int backlog)
{
	int ret;

	atomic_inc(&inside);
	ret = sdp_pair_listen(sock, backlog);
	atomic_dec(&inside);
	return ret;
}

static int shim_accept(struct socket *sock, struct socket *newsock, SDP_ACCEPT_ARGS)
{
	struct sdp_shadow *shadow;
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	shadow = t.shadow;
	if (shadow && shadow->listening) {
		sdp_shadow_get(shadow);
		unlock(&t);
		ret = sdp_pair_accept(shadow, newsock, SDP_ACCEPT_PASS);
		sdp_shadow_put(shadow);
	} else if (t.b) {
		ret = -EINVAL;
	} else {
		ret = accept_by(t.ops, sock, newsock, SDP_ACCEPT_PASS);
	}
	turn_end(&t);
	return ret;
}

static int shim_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	if (connecting(&t))
		ret = t.shadow->sdp->ops->getname(t.shadow->sdp, addr, peer);
	else
		ret = t.ops->getname(sock, addr, peer);
	turn_end(&t);
	return ret;
}

static __poll_t shim_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	__poll_t mask = 0;
	struct turn t;

	turn_begin(&t, sock);
	if (connecting(&t))
		sock_poll_wait(file, sock, wait);
	else if (t.shadow)
		mask = sdp_pair_poll(file, t.shadow, wait);
	else
		mask = t.ops->poll(file, sock, wait);
	turn_end(&t);
	return mask;
}

static int shim_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	ret = t.ops->ioctl(sock, cmd, arg);
	turn_end(&t);
	return ret;
}

#ifdef CONFIG_COMPAT
static int shim_compat_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct turn t;
	int ret = -ENOIOCTLCMD;

	turn_begin(&t, sock);
	if (t.ops->compat_ioctl)
		ret = t.ops->compat_ioctl(sock, cmd, arg);
	turn_end(&t);
	return ret;
}
#endif

/* As with TCP, to shut down what connects, or listens, is to make it unconnected. */
static int shim_shutdown(struct socket *sock, int how)
{
	struct turn t;
	int ret = 0;

	atomic_inc(&inside);
	if (how < SHUT_RD || how > SHUT_RDWR || !sdp_attempt_stop(sock, how != SHUT_WR)) {
		turn_begin(&t, sock);
		ret = t.ops->shutdown(sock, how);
		turn_end(&t);
	}
	atomic_dec(&inside);
	return ret;
}

static int shim_setsockopt(struct socket *sock, int level, int name, sockptr_t value,
			   unsigned int len)
{
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	ret = t.ops->setsockopt(sock, level, name, value, len);
	turn_end(&t);
	return ret;
}

static int shim_getsockopt(struct socket *sock, int level, int name, char __user *value,
			   int __user *len)
{
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	ret = t.ops->getsockopt(sock, level, name, value, len);
	turn_end(&t);
	return ret;
}

/* Data with the first packet is TCP's alone. */
static void fast_open(struct socket *sock)
{
	struct sdp_bucket *b = sdp_bucket(sock);

	down_write(&b->lock);
	if (sdp_shim_tcp(sock) && !sdp_shadow_find(b, sock))
		sdp_shim_end(sock);
	up_write(&b->lock);
}

static int shim_sendmsg(struct socket *sock, struct msghdr *msg, size_t size)
{
	struct turn t;
	int ret;

	atomic_inc(&inside);
	if (msg->msg_flags & MSG_FASTOPEN)
		fast_open(sock);
	turn_begin(&t, sock);
	ret = wait_decided(&t, sock, sock_sndtimeo(sock->sk, msg->msg_flags & MSG_DONTWAIT));
	if (!ret)
		ret = t.ops->sendmsg(sock, msg, size);
	turn_end(&t);
	atomic_dec(&inside);
	return ret;
}

static int shim_recvmsg(struct socket *sock, struct msghdr *msg, size_t size, int flags)
{
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	ret = wait_decided(&t, sock, sock_rcvtimeo(sock->sk, flags & MSG_DONTWAIT));
	if (!ret)
		ret = t.ops->recvmsg(sock, msg, size, flags);
	turn_end(&t);
	return ret;
}

static ssize_t shim_splice_read(struct socket *sock, loff_t *pos, struct pipe_inode_info *pipe,
				size_t size, unsigned int flags)
{
	struct turn t;
	ssize_t ret;

	turn_begin(&t, sock);
	ret = wait_decided(&t, sock, sock_rcvtimeo(sock->sk, flags & SPLICE_F_NONBLOCK));
	if (!ret)
		ret = t.ops->splice_read(sock, pos, pipe, size, flags);
	turn_end(&t);
	return ret;
}

static int shim_release(struct socket *sock)
{
	const struct proto_ops *ops;
	int ret;

	atomic_inc(&inside);
	if (sock->sk)
		sdp_attempt_stop(sock, true);
	ops = sdp_shim_tcp(sock);
	/* A work item has decided since the caller, who drops the module, looked at the calls. */
	if (!ops) {
		ops = READ_ONCE(sock->ops);
		if (ops->owner != THIS_MODULE)
			__module_get(THIS_MODULE);
	}
	ret = ops->release(sock);
	atomic_dec(&inside);
	return ret;
}

static void make_calls(struct shim *shim)
{
	struct proto_ops *calls = &shim->calls;

	*calls = *shim->tcp;
	calls->owner = THIS_MODULE;
	calls->release = shim_release;
	calls->bind = shim_bind;
	calls->connect = shim_connect;
	calls->accept = shim_accept;
	calls->getname = shim_getname;
	calls->poll = shim_poll;
	calls->ioctl = shim_ioctl;
#ifdef CONFIG_COMPAT
	calls->compat_ioctl = shim_compat_ioctl;
#endif
	calls->listen = shim_listen;
	calls->shutdown = shim_shutdown;
	calls->setsockopt = shim_setsockopt;
	calls->getsockopt = shim_getsockopt;
	calls->sendmsg = shim_sendmsg;
	calls->recvmsg = shim_recvmsg;
	calls->splice_read = shim_splice_read;
	sdp_plain_splice(calls);
}

/* Only one of the two is exported by name on every kernel; a socket of its own tells both. */
static const struct proto_ops *calls_of_tcp(int family)
{
	const struct proto_ops *ops = NULL;
	struct socket *sock;

	if (!sock_create_kern(&init_net, family, SOCK_STREAM, IPPROTO_TCP, &sock)) {
		ops = sock->ops;
		sock_release(sock);
	}
	return ops;
}

/**
 * sdp_shim_init() - sockets can be undecided
 *
 * Return: 0 or an errno.
 */
int sdp_shim_init(void)
{
	static const int families[] = { AF_INET, AF_INET6 };
	size_t i;

	sdp_shadow_init();
	for (i = 0; i < ARRAY_SIZE(shims); i++) {
		shims[i].tcp = calls_of_tcp(families[i]);
		if (shims[i].tcp)
			make_calls(&shims[i]);
	}
	return sdp_attempt_init();
}

/**
 * sdp_shim_exit() - undo sdp_shim_init(); no socket is undecided any more
 *
 * Threads may still be between reading a socket's calls and counting themselves, or between
 * their last line here and their return: they run, and do not sleep in between.
 */
void sdp_shim_exit(void)
{
	synchronize_rcu_tasks();
	while (atomic_read(&inside))
		msleep(20);
	sdp_attempt_exit();
	synchronize_rcu_tasks();
}
