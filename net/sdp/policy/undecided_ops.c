// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of an undecided socket: a TCP socket of the kernel's, or one of
 * MPTCP, of which nobody knows yet whether SDP will take its place.
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
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "../conn/sock.h"
#include "undecided.h"

/* The kernel's sockets that may be undecided. */
static const struct {
	int family, protocol;
} met[] = {
	{ AF_INET, IPPROTO_TCP },
	{ AF_INET6, IPPROTO_TCP },
	{ AF_INET, IPPROTO_MPTCP },
	{ AF_INET6, IPPROTO_MPTCP },
};

static struct sdp_calls shims[ARRAY_SIZE(met)];
static atomic_t inside;
/*
 * A poller's kinds of events could not be noted: no note is believed any more.
 */
static bool unnoted;

static const struct sdp_calls *shim_of(const struct proto_ops *ops)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shims); i++)
		if (ops == &shims[i].calls || ops == &shims[i].fresh)
			return &shims[i];
	return NULL;
}

/**
 * sdp_shim_begin() - a new socket is undecided from now on, if it is one of the kernel's TCP
 * @sock: socket that nobody else knows yet
 *
 * Does not sleep. What is to be beside the socket is made by its first call, which many sockets
 * never see.
 */
void sdp_shim_begin(struct socket *sock)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shims); i++) {
		if (sock->ops != shims[i].tcp || !try_module_get(THIS_MODULE))
			continue;
		WRITE_ONCE(sock->ops, &shims[i].fresh);
		SDP_INC(sock_net(sock->sk), PolicyMet);
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
	const struct sdp_calls *shim = shim_of(ops);

	return shim ? shim->tcp : ops;
}

/*
 * Others who have the same socket may hold it for long, with memory that they made to be slow:
 * who waits for them can be killed. Returns 0, or the errno of a call that ends then.
 */
static int lock(struct turn *t, struct socket *sock)
{
	if (down_read_killable(&t->shadow->lock))
		return -EINTR;
	t->locked = t->shadow->stage != SDP_DECIDED;
	t->ops = t->shadow->tcp;
	if (t->locked)
		return 0;
	up_read(&t->shadow->lock);
	t->ops = decided_ops(sock);
	pin(t);
	return 0;
}

static void unlock(struct turn *t)
{
	pin(t);
	up_read(&t->shadow->lock);
	t->locked = false;
}

/* What is beside the socket; NULL when it is decided, -ENOBUFS when nothing can be. */
static struct sdp_shadow *shadow_of(struct socket *sock)
{
	struct sdp_shadow *shadow = sdp_shadow_find(sock);
	const struct sdp_calls *shim = shadow ? NULL :
						shim_of(READ_ONCE(sock->ops));

	return shim ? sdp_shadow_of(sock, shim) : shadow;
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

/* Returns 0, or -ENOBUFS, or -EINTR: then that was the call. */
static int turn_begin(struct turn *t, struct socket *sock)
{
	struct sdp_shadow *shadow;
	int err;

	atomic_inc(&inside);
	shadow = shadow_of(sock);
	if (IS_ERR(shadow)) {
		atomic_dec(&inside);
		return PTR_ERR(shadow);
	}
	*t = (struct turn){ .shadow = shadow };
	if (shadow) {
		err = lock(t, sock);
		if (err)
			turn_end(t);
		return err;
	}
	t->ops = decided_ops(sock);
	pin(t);
	return 0;
}

static bool is(const struct turn *t, enum sdp_srcavail_recv_nowait stage)
{
	return t->locked && t->shadow->stage == stage;
}

/*
 * What is left of the time for a call is for the calls that the socket has by now; their own wait
 * would begin anew. So they begin when there is something to do.
 */
static int wait_ready(const struct turn *t, struct socket *sock,
		      __poll_t events, unsigned long end, long timeo)
{
	long left = max(0L, (long)(end - jiffies));

	events |= EPOLLERR | EPOLLHUP;
	left = wait_event_interruptible_timeout(
		sock->wq.wait, t->ops->poll(sock->file, sock, NULL) & events,
		left);
	if (left > 0)
		return 0;
	return left ? sock_intr_errno(timeo) : -EAGAIN;
}

/*
 * A call that may wait for the peer, on a socket that is about to connect: it waits for the
 * decision first, without the lock. Returns 0 when the calls in @t shall go on.
 */
static int wait_decided(struct turn *t, struct socket *sock, long timeo,
			__poll_t events)
{
	unsigned long end = jiffies + timeo;
	u32 attempt;
	int err;

	if (!is(t, SDP_CONNECTING))
		return 0;
	attempt = t->shadow->attempt;
	unlock(t);
	err = sdp_attempt_wait(t->shadow, attempt, timeo);
	err = err ?: lock(t, sock);
	if (err)
		return err;
	/* Undecided again, after an attempt that was stopped, and connecting again already. */
	if (is(t, SDP_CONNECTING))
		return -ENOTCONN;
	if (t->locked || timeo == MAX_SCHEDULE_TIMEOUT)
		return 0;
	return wait_ready(t, sock, events, end, timeo);
}

/* The new socket has the listener's calls, and a reference to the module for them. */
static int accept_by(const struct proto_ops *ops, struct socket *sock,
		     struct socket *newsock, SDP_ACCEPT_ARGS)
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

static int be_tcp(struct sdp_shadow *shadow)
{
	if (down_write_killable(&shadow->lock))
		return -EINTR;
	if (shadow->stage != SDP_DECIDED)
		sdp_attempt_be_tcp(shadow);
	up_write(&shadow->lock);
	return 0;
}

/*
 * In the kernel, who accepts gives the new socket the calls that the listener had before, and those
 * must not be ours: others make copies of them (kTLS), for good. So the listener becomes TCP's
 * alone, and whoever accepts is asked to come again, and told at once that there is something.
 */
static int be_plain(struct socket *sock, struct sdp_shadow *shadow)
{
	struct sock *sk = sock->sk;

	if (be_tcp(shadow))
		return -EINTR;
	/* MPTCP's connections wait elsewhere. */
	if (sdp_is_multipath(sk) ||
	    !reqsk_queue_empty(&inet_csk(sk)->icsk_accept_queue))
		sk->sk_data_ready(sk);
	return -EAGAIN;
}

/* A call: @act is what it does, in the turn @t. */
#define TURN(sock, t, act) ({						\
	struct turn t;							\
	long sdp_ret = turn_begin(&t, sock);				\
									\
	if (!sdp_ret) {							\
		sdp_ret = (act);					\
		turn_end(&t);						\
	}								\
	sdp_ret;							\
})

/* What is wrong with the address comes before that it connects. */
static int turn_bind(struct turn *t, struct socket *sock,
		     struct sdp_sockaddr *addr, int len)
{
	struct socket *sdp = t->shadow ? t->shadow->sdp : NULL;

	if (!is(t, SDP_CONNECTING))
		return t->ops->bind(sock, addr, len);
	return sdp->ops->bind(sdp, addr, len) ?: -EINVAL;
}

static int shim_bind(struct socket *sock, struct sdp_sockaddr *addr, int len)
{
	return TURN(sock, t, turn_bind(&t, sock, addr, len));
}

static int turn_connect(struct turn *t, struct socket *sock,
			struct sdp_sockaddr *addr, int len, int flags)
{
	if (!t->locked)
		return t->ops->connect(sock, addr, len, flags);
	unlock(t);
	return sdp_attempt(t->shadow, addr, len, flags);
}

static int shim_connect(struct socket *sock, struct sdp_sockaddr *addr, int len,
			int flags)
{
	return TURN(sock, t, turn_connect(&t, sock, addr, len, flags));
}

static int turn_listen(struct turn *t, struct socket *sock, int backlog)
{
	if (!t->locked)
		return t->ops->listen(sock, backlog);
	unlock(t);
	return sdp_pair_listen(t->shadow, backlog);
}

static int shim_listen(struct socket *sock, int backlog)
{
	return TURN(sock, t, turn_listen(&t, sock, backlog));
}

static int turn_accept(struct turn *t, struct socket *sock,
		       struct socket *newsock, SDP_ACCEPT_ARGS)
{
	if (is(t, SDP_LISTENING) && SDP_ACCEPT_KERN) {
		unlock(t);
		return be_plain(sock, t->shadow);
	}
	if (!t->locked)
		return accept_by(t->ops, sock, newsock, SDP_ACCEPT_PASS);
	if (!is(t, SDP_LISTENING))
		return -EINVAL;
	unlock(t);
	return sdp_pair_accept(t->shadow, newsock, SDP_ACCEPT_PASS);
}

static int shim_accept(struct socket *sock, struct socket *newsock,
		       SDP_ACCEPT_ARGS)
{
	return TURN(sock, t, turn_accept(&t, sock, newsock, SDP_ACCEPT_PASS));
}

static int turn_getname(struct turn *t, struct socket *sock,
			struct sockaddr *addr, int peer)
{
	struct socket *which = is(t, SDP_CONNECTING) ? t->shadow->sdp : sock;

	return (which == sock ? t->ops : which->ops)->getname(which, addr, peer);
}

static int shim_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	return TURN(sock, t, turn_getname(&t, sock, addr, peer));
}

static __poll_t shim_poll(struct file *file, struct socket *sock,
			  poll_table *wait)
{
	/* What a socket shows of which nothing has been asked, if there is no memory. */
	__poll_t mask = EPOLLHUP | EPOLLOUT | EPOLLWRNORM;
	struct turn t;

	if (turn_begin(&t, sock)) {
		WRITE_ONCE(unnoted, true);
		sock_poll_wait(file, sock, wait);
		return mask;
	}
	mask = 0;
	if (t.locked)
		sdp_ready_note(&t.shadow->polled, wait);
	if (is(&t, SDP_CONNECTING))
		sock_poll_wait(file, sock, wait);
	else if (is(&t, SDP_LISTENING))
		mask = sdp_pair_poll(file, t.shadow, wait);
	else
		mask = t.ops->poll(file, sock, wait);
	turn_end(&t);
	return mask;
}

/**
 * sdp_shim_noted() - is it known what those ask for who poll undecided sockets?
 *
 * Return: false when somebody polls who is not in the notes of a shadow.
 */
bool sdp_shim_noted(void)
{
	return !READ_ONCE(unnoted);
}

static int shim_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	return TURN(sock, t, t.ops->ioctl(sock, cmd, arg));
}

#ifdef CONFIG_COMPAT
static int shim_compat_ioctl(struct socket *sock, unsigned int cmd,
			     unsigned long arg)
{
	return TURN(sock, t,
		    t.ops->compat_ioctl ? t.ops->compat_ioctl(sock, cmd, arg) :
					  -ENOIOCTLCMD);
}
#endif

/*
 * As with TCP, to shut down what connects, or listens, is to make it unconnected. Returns 1 when it
 * was a connect, which was all; 0 when it was not; or an errno.
 */
static int stop(struct sdp_shadow *shadow, int how)
{
	bool connects = false;

	if (down_write_killable(&shadow->lock))
		return -EINTR;
	if (shadow->stage == SDP_CONNECTING ||
	    (shadow->stage == SDP_LISTENING && how != SHUT_WR))
		connects = sdp_attempt_stop(shadow);
	up_write(&shadow->lock);
	return connects;
}

static int turn_shutdown(struct turn *t, struct socket *sock, int how)
{
	int connects = 0;

	if (t->locked && how >= SHUT_RD && how <= SHUT_RDWR) {
		unlock(t);
		connects = stop(t->shadow, how);
		if (!connects)
			connects = lock(t, sock);
	}
	return connects ? min(connects, 0) : t->ops->shutdown(sock, how);
}

static int shim_shutdown(struct socket *sock, int how)
{
	return TURN(sock, t, turn_shutdown(&t, sock, how));
}

/*
 * Some upper layers put calls of their own in place of the socket's, and make copies of those for
 * good: they must find TCP's. So it is given back before; SDP would not take the place of a socket
 * that has one. Kernel TLS does nothing before there is a connection, and programs ask for it on
 * sockets that are still to connect, only to know whether it is there.
 */
static int set_ulp(struct turn *t, struct socket *sock, sockptr_t value,
		   unsigned int len)
{
	char name[TCP_ULP_NAME_MAX] = "";
	long n;
	int err;

	if (!len)
		return -EINVAL;
	n = strncpy_from_sockptr(name, value,
				 min_t(long, sizeof(name) - 1, len));
	if (n < 0)
		return -EFAULT;
	name[n] = 0;
	if (strcmp(name, "tls") || sock->sk->sk_state == TCP_ESTABLISHED) {
		unlock(t);
		err = be_tcp(t->shadow) ?: lock(t, sock);
		if (err)
			return err;
	}
	return t->ops->setsockopt(sock, SOL_TCP, TCP_ULP, KERNEL_SOCKPTR(name),
				  sizeof(name));
}

static int turn_setsockopt(struct turn *t, struct socket *sock, int level,
			   int name, sockptr_t value, unsigned int len)
{
	if (t->locked && level == SOL_TCP && name == TCP_ULP)
		return set_ulp(t, sock, value, len);
	if (t->locked && level == SOL_TCP && sdp_is_multipath(sock->sk))
		return sdp_multipath_set(t->shadow, name, value, len);
	return t->ops->setsockopt(sock, level, name, value, len);
}

static int shim_setsockopt(struct socket *sock, int level, int name,
			   sockptr_t value, unsigned int len)
{
	return TURN(sock, t,
		    turn_setsockopt(&t, sock, level, name, value, len));
}

static int shim_getsockopt(struct socket *sock, int level, int name,
			   char __user *value, int __user *len)
{
	return TURN(sock, t, t.ops->getsockopt(sock, level, name, value, len));
}

/*
 * Data with the first packet is TCP's alone, and for who is to be TCP. For others it is what it is
 * where TCP may not do so: a connect first.
 */
static int fast_open(struct turn *t, struct socket *sock, struct msghdr *msg)
{
	struct sdp_sockaddr *name = msg->msg_name;
	int err = 0;

	unlock(t);
	if (sdp_attempt_asks(sock, name, msg->msg_namelen)) {
		err = sdp_attempt(t->shadow, name, msg->msg_namelen,
				  msg->msg_flags & MSG_DONTWAIT ? O_NONBLOCK :
								  0);
		msg->msg_flags &= ~MSG_FASTOPEN;
	} else if (down_write_killable(&t->shadow->lock)) {
		err = -EINTR;
	} else {
		if (t->shadow->stage == SDP_UNDECIDED)
			sdp_shadow_by_tcp(t->shadow);
		up_write(&t->shadow->lock);
	}
	return err ?: lock(t, sock);
}

static int turn_sendmsg(struct turn *t, struct socket *sock, struct msghdr *msg,
			size_t size)
{
	long timeo = sock_sndtimeo(sock->sk, msg->msg_flags & MSG_DONTWAIT);
	int err = wait_decided(t, sock, timeo, EPOLLOUT);

	if (!err && (msg->msg_flags & MSG_FASTOPEN) && is(t, SDP_UNDECIDED))
		err = fast_open(t, sock, msg);
	/* Somebody else's connect came in between. */
	if (!err && is(t, SDP_CONNECTING))
		err = -EALREADY;
	return err ?: t->ops->sendmsg(sock, msg, size);
}

static int shim_sendmsg(struct socket *sock, struct msghdr *msg, size_t size)
{
	return TURN(sock, t, turn_sendmsg(&t, sock, msg, size));
}

static int turn_recvmsg(struct turn *t, struct socket *sock, struct msghdr *msg,
			size_t size, int flags)
{
	long timeo = sock_rcvtimeo(sock->sk, flags & MSG_DONTWAIT);
	int err;

	/* It has no reports, and no urgent data. */
	if (is(t, SDP_CONNECTING) && flags & MSG_ERRQUEUE)
		return t->ops->recvmsg(sock, msg, size, flags);
	if (is(t, SDP_CONNECTING) && flags & MSG_OOB)
		return -EINVAL;
	err = wait_decided(t, sock, timeo, EPOLLIN | EPOLLRDHUP);
	/* TCP waits for nothing, too, and then has got it. */
	if (err == -EAGAIN && timeo && !size)
		return 0;
	return err ?: t->ops->recvmsg(sock, msg, size, flags);
}

static int shim_recvmsg(struct socket *sock, struct msghdr *msg, size_t size,
			int flags)
{
	return TURN(sock, t, turn_recvmsg(&t, sock, msg, size, flags));
}

static ssize_t shim_splice_read(struct socket *sock, loff_t *pos,
				struct pipe_inode_info *pipe, size_t size,
				unsigned int flags)
{
	/* SPLICE_F_NONBLOCK is for the pipe. */
	long timeo = sock_rcvtimeo(sock->sk, sock->file->f_flags & O_NONBLOCK);

	return TURN(sock, t,
		    wait_decided(&t, sock, timeo, EPOLLIN | EPOLLRDHUP) ?:
			    t.ops->splice_read(sock, pos, pipe, size, flags));
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
	const struct proto_ops *ops;
	struct sdp_shadow *shadow;
	bool undecided = false;
	int ret;

	atomic_inc(&inside);
	shadow = sdp_shadow_last(sock);
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

/*
 * Likewise, of a socket of which nothing has been called. One that accept() has made, in vain or
 * while its listener became TCP's, has its listener's calls, but it never had TCP's.
 */
static int shim_release_fresh(struct socket *sock)
{
	const struct proto_ops *ops = decided_ops(sock);
	bool had_tcp = sock->sk && sock->state == SS_UNCONNECTED;
	int ret;

	atomic_inc(&inside);
	ret = ops->release(sock);
	if (had_tcp)
		module_put(ops->owner);
	atomic_dec(&inside);
	return ret;
}

static void make_calls(struct sdp_calls *shim)
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
	shim->fresh = *calls;
	shim->fresh.release = shim_release_fresh;
	shim->kept = *shim->tcp;
	/* Who has found it just before comes too late. */
	shim->kept.set_rcvlowat = sdp_set_rcvlowat;
}

/*
 * Few of them are exported by name; a socket of its own tells. There may be no
 * MPTCP, or none in the first namespace, and then its sockets are not met.
 */
static const struct proto_ops *kernel_calls(int family, int protocol)
{
	const struct proto_ops *ops = NULL;
	struct socket *sock;

	if (!sock_create_kern(&init_net, family, SOCK_STREAM, protocol,
			      &sock)) {
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
	int err = sdp_shadow_init();
	size_t i;

	if (err)
		return err;
	sdp_taken_init();
	for (i = 0; i < ARRAY_SIZE(shims); i++) {
		shims[i].tcp = kernel_calls(met[i].family, met[i].protocol);
		if (shims[i].tcp)
			make_calls(&shims[i]);
	}
	err = sdp_attempt_init();
	if (err)
		sdp_shadow_exit();
	return err;
}

/* accept() has found the calls, and a reference to the module for them, and is not here yet. */
static bool held(void)
{
#ifdef CONFIG_MODULE_UNLOAD
	/* -1 is the count of one that goes, and that nobody holds. */
	return THIS_MODULE->state == MODULE_STATE_GOING &&
	       module_refcount(THIS_MODULE) >= 0;
#else
	return false;
#endif
}

/**
 * sdp_shim_exit() - undo sdp_shim_init(); no socket is undecided any more
 *
 * Threads may still be between reading a socket's calls and counting themselves, or between
 * their last line here and their return: they run, and do not sleep in between, or hold the
 * module before they do.
 */
void sdp_shim_exit(void)
{
	synchronize_rcu_tasks();
	while (atomic_read(&inside) || held())
		msleep(20);
	sdp_attempt_exit();
	synchronize_rcu_tasks();
	sdp_shadow_exit();
}
