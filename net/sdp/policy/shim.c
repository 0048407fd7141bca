// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of an undecided socket: a TCP socket of the kernel's, of whom nobody knows yet
 * whether SDP will take its place.
 *
 * They are the kernel's, but for connect and listen, which decide; and each looks, under the
 * shadow's lock, whether somebody has just decided, and then goes to the calls that the socket
 * has now. A socket with these calls holds the module, and so does a thread that waits here; and
 * so that the module does not go before a thread that found them has come out of them, they are
 * counted.
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
 * sdp_shim_begin() - a new socket is undecided from now on, if it is one of the kernel's TCP
 * @sock: socket that nobody else knows yet
 *
 * Called with preemption off.
 */
void sdp_shim_begin(struct socket *sock)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shims); i++) {
		if (sock->ops != shims[i].tcp || !try_module_get(THIS_MODULE))
			continue;
		if (sdp_shadow_begin(sock, shims[i].tcp))
			WRITE_ONCE(sock->ops, &shims[i].calls);
		else
			module_put(THIS_MODULE);
		return;
	}
}

/**
 * struct turn - one call
 * @shadow: of an undecided socket, with a reference; or NULL
 * @locked: it is locked for reading
 * @pinned: the call may take long, and holds the module
 * @ops: the calls to go to
 */
struct turn {
	struct sdp_shadow *shadow;
	bool locked;
	bool pinned;
	const struct proto_ops *ops;
};

static void pin(struct turn *t)
{
	if (!t->pinned)
		__module_get(THIS_MODULE);
	t->pinned = true;
}

/* The calls of a decided socket; those of here are none, for a socket of which nothing is known. */
static const struct proto_ops *decided_ops(const struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);
	const struct shim *shim = shim_of(ops);

	return shim ? shim->tcp : ops;
}

static void lock(struct turn *t, struct socket *sock)
{
	down_read(&t->shadow->lock);
	t->locked = t->shadow->stage != SDP_DECIDED;
	t->ops = t->shadow->tcp;
	if (t->locked)
		return;
	up_read(&t->shadow->lock);
	t->ops = decided_ops(sock);
	pin(t);
}

static void unlock(struct turn *t)
{
	pin(t);
	up_read(&t->shadow->lock);
	t->locked = false;
}

static void turn_begin(struct turn *t, struct socket *sock)
{
	atomic_inc(&inside);
	*t = (struct turn){ .shadow = sdp_shadow_of(sock) };
	if (t->shadow) {
		lock(t, sock);
	} else {
		t->ops = decided_ops(sock);
		pin(t);
	}
}

static void turn_end(struct turn *t)
{
	if (t->locked)
		up_read(&t->shadow->lock);
	if (t->shadow)
		sdp_shadow_put(t->shadow);
	if (t->pinned)
		module_put(THIS_MODULE);
	atomic_dec(&inside);
}

static bool is(const struct turn *t, enum sdp_stage stage)
{
	return t->locked && t->shadow->stage == stage;
}

/*
 * A call that may wait for the peer, on a socket that is about to connect: it waits for the
 * decision first, without the lock. Returns 0 when the calls in @t shall go on.
 */
static int wait_decided(struct turn *t, struct socket *sock, long timeo)
{
	u32 attempt;
	int err;

	if (!is(t, SDP_CONNECTING))
		return 0;
	attempt = t->shadow->attempt;
	unlock(t);
	err = sdp_attempt_wait(t->shadow, attempt, timeo);
	if (err)
		return err;
	lock(t, sock);
	/* Undecided again, after an attempt that was stopped, and connecting again already. */
	return is(t, SDP_CONNECTING) ? -ENOTCONN : 0;
}

/* The new socket has the listener's calls, and a reference to the module for them. */
static int accept_by(const struct proto_ops *ops, struct socket *sock, struct socket *newsock,
		     SDP_ACCEPT_ARGS)
{
	const struct proto_ops *old = newsock->ops;
	int err;

	newsock->ops = ops;
	err = ops->accept(sock, newsock, SDP_ACCEPT_PASS);
	if (err) {
		newsock->ops = old;
	} else if (old && ops->owner != THIS_MODULE) {
		__module_get(ops->owner);
		module_put(THIS_MODULE);
	}
	return err;
}

/* In the kernel, who accepts gives the new socket the calls of the listener as it was: TCP's. */
static void be_plain(struct sdp_shadow *shadow)
{
	down_write(&shadow->lock);
	if (shadow->stage != SDP_DECIDED) {
		sdp_attempt_stop(shadow);
		sdp_shadow_by_tcp(shadow);
	}
	up_write(&shadow->lock);
}

static int shim_bind(struct socket *sock, struct sdp_sockaddr *addr, int len)
{
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	ret = is(&t, SDP_CONNECTING) ? -EINVAL : t.ops->bind(sock, addr, len);
	turn_end(&t);
	return ret;
}

static int shim_connect(struct socket *sock, struct sdp_sockaddr *addr, int len, int flags)
{
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	if (t.locked) {
		unlock(&t);
		ret = sdp_attempt(t.shadow, addr, len, flags);
	} else {
		ret = t.ops->connect(sock, addr, len, flags);
	}
	turn_end(&t);
	return ret;
}

static int shim_listen(struct socket *sock, int backlog)
{
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	if (t.locked) {
		unlock(&t);
		ret = sdp_pair_listen(t.shadow, backlog);
	} else {
		ret = t.ops->listen(sock, backlog);
	}
	turn_end(&t);
	return ret;
}

static int shim_accept(struct socket *sock, struct socket *newsock, SDP_ACCEPT_ARGS)
{
	struct turn t;
	int ret = -EINVAL;

	turn_begin(&t, sock);
	if (is(&t, SDP_LISTENING) && SDP_ACCEPT_KERN) {
		unlock(&t);
		be_plain(t.shadow);
		lock(&t, sock);
	}
	if (is(&t, SDP_LISTENING)) {
		unlock(&t);
		ret = sdp_pair_accept(t.shadow, newsock, SDP_ACCEPT_PASS);
	} else if (!t.locked) {
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
	if (is(&t, SDP_CONNECTING))
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
	if (is(&t, SDP_CONNECTING))
		sock_poll_wait(file, sock, wait);
	else if (is(&t, SDP_LISTENING))
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
static bool stop(struct sdp_shadow *shadow, int how)
{
	bool connects = false;

	down_write(&shadow->lock);
	if (shadow->stage == SDP_CONNECTING || (shadow->stage == SDP_LISTENING && how != SHUT_WR))
		connects = sdp_attempt_stop(shadow);
	up_write(&shadow->lock);
	return connects;
}

static int shim_shutdown(struct socket *sock, int how)
{
	bool connects = false;
	struct turn t;
	int ret = 0;

	turn_begin(&t, sock);
	if (t.locked && how >= SHUT_RD && how <= SHUT_RDWR) {
		unlock(&t);
		connects = stop(t.shadow, how);
		lock(&t, sock);
	}
	if (!connects)
		ret = t.ops->shutdown(sock, how);
	turn_end(&t);
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
static void fast_open(struct turn *t, struct socket *sock)
{
	struct sdp_shadow *shadow = t->shadow;

	unlock(t);
	down_write(&shadow->lock);
	if (shadow->stage == SDP_UNDECIDED)
		sdp_shadow_by_tcp(shadow);
	up_write(&shadow->lock);
	lock(t, sock);
}

static int shim_sendmsg(struct socket *sock, struct msghdr *msg, size_t size)
{
	long timeo = sock_sndtimeo(sock->sk, msg->msg_flags & MSG_DONTWAIT);
	struct turn t;
	int ret;

	turn_begin(&t, sock);
	ret = wait_decided(&t, sock, timeo);
	if (!ret && (msg->msg_flags & MSG_FASTOPEN) && is(&t, SDP_UNDECIDED))
		fast_open(&t, sock);
	/* Somebody else's connect came in between. */
	if (!ret && is(&t, SDP_CONNECTING))
		ret = -EALREADY;
	if (!ret)
		ret = t.ops->sendmsg(sock, msg, size);
	turn_end(&t);
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

/* The caller will drop a reference to this module, where one to another is to be dropped. */
static void exchange_owners(const struct proto_ops *ops)
{
	__module_get(THIS_MODULE);
	module_put(ops->owner);
}

/*
 * The last file is closed, so nobody else is here but a work item, which may just have decided;
 * the caller drops the reference to the module, whatever the calls are now.
 */
static int shim_release(struct socket *sock)
{
	struct sdp_shadow *shadow = sdp_shadow_of(sock);
	const struct proto_ops *ops;
	bool undecided = false;
	int ret;

	atomic_inc(&inside);
	if (shadow) {
		down_write(&shadow->lock);
		undecided = shadow->stage != SDP_DECIDED;
		if (undecided) {
			sdp_attempt_stop(shadow);
			sdp_shadow_end(shadow, NULL);
		}
		up_write(&shadow->lock);
		sdp_shadow_put(shadow);
	}
	ops = decided_ops(sock);
	ret = ops->release(sock);
	/* Its reference to the owner of TCP's calls, which it had before ours. */
	if (undecided)
		module_put(ops->owner);
	else if (!shim_of(READ_ONCE(sock->ops)) && ops->owner != THIS_MODULE)
		exchange_owners(ops);
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
	sdp_one_getsockopt(calls);
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
