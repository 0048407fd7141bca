// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of undecided sockets: our proto_ops in front of TCP's.
 *
 * An undecided socket has a copy of the kernel's TCP or MPTCP proto_ops with
 * most functions replaced by those of this file. connect() and listen() decide
 * what the socket becomes. Every other call takes the shadow's semaphore for
 * reading and checks the stage. If the socket is still undecided, the call runs
 * TCP's function; otherwise it continues in the proto_ops that the socket has
 * now.
 *
 * An undecided socket holds a module reference, and so does a call that may
 * sleep for long. A thread may still be here when its socket and the last
 * reference are gone, so all calls are counted (@inside), and sdp_shim_exit()
 * waits for them.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/splice.h>
#include <net/inet_common.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "../core.h"
#include "undecided.h"

/* Families and protocols of the sockets that can become undecided. */
static const struct {
	int family, protocol;
} shim_protocols[] = {
	{ AF_INET, IPPROTO_TCP },
	{ AF_INET6, IPPROTO_TCP },
	{ AF_INET, IPPROTO_MPTCP },
	{ AF_INET6, IPPROTO_MPTCP },
};

static struct sdp_shim_ops shims[ARRAY_SIZE(shim_protocols)];

/* Number of calls that are in a function of this file, see sdp_shim_exit(). */
static atomic_t inside;

static const struct sdp_shim_ops *shim_of(const struct proto_ops *ops)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shims); i++)
		if (ops == &shims[i].calls || ops == &shims[i].fresh)
			return &shims[i];
	return NULL;
}

/**
 * sdp_shim_attach() - make a new TCP or MPTCP socket undecided
 * @sock: new socket that its application does not know yet
 *
 * Does nothing for sockets of other protocols. Does not sleep: it runs in a
 * tracing handler. The first call of the socket creates the shadow.
 */
void sdp_shim_attach(struct socket *sock)
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
 * struct shim_call - one call in progress on an undecided socket
 * @shadow: the socket's shadow with a reference, or NULL when the socket is
 *	decided
 * @locked: @shadow is locked for reading, and not decided
 * @pinned: the call may sleep for long, and holds a module reference
 * @ops: the proto_ops that the call continues in
 */
struct shim_call {
	struct sdp_shadow *shadow;
	bool locked;
	bool pinned;
	const struct proto_ops *ops;
};

static void call_pin(struct shim_call *t)
{
	if (!t->pinned)
		__module_get(THIS_MODULE);
	t->pinned = true;
}

/*
 * The proto_ops to call for a socket without a shadow: its own, or TCP's if its
 * own are those of this file, because the socket never got a shadow.
 */
static const struct proto_ops *decided_ops(const struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);
	const struct sdp_shim_ops *shim = shim_of(ops);

	return shim ? shim->tcp : ops;
}

/*
 * Lock the shadow for reading, or use the new proto_ops of a decided socket.
 * Another process that shares the socket may hold the lock for long, in a page
 * fault on memory that it has made slow. So the wait for the lock is killable.
 * Returns 0, or -EINTR when the call has to end.
 */
static int call_lock(struct shim_call *t, struct socket *sock)
{
	if (down_read_killable(&t->shadow->lock))
		return -EINTR;
	t->locked = t->shadow->stage != SDP_DECIDED;
	t->ops = t->shadow->tcp;
	if (t->locked)
		return 0;
	up_read(&t->shadow->lock);
	t->ops = decided_ops(sock);
	call_pin(t);
	return 0;
}

static void call_unlock(struct shim_call *t)
{
	call_pin(t);
	up_read(&t->shadow->lock);
	t->locked = false;
}

/*
 * Find or create the shadow. Returns it with a reference; NULL when the socket
 * is decided; -ENOBUFS when there is no memory.
 */
static struct sdp_shadow *shadow_of(struct socket *sock)
{
	struct sdp_shadow *shadow = sdp_shadow_find(sock);
	const struct sdp_shim_ops *shim =
		shadow ? NULL : shim_of(READ_ONCE(sock->ops));

	return shim ? sdp_shadow_find_or_create(sock, shim) : shadow;
}

static void call_end(struct shim_call *t)
{
	if (t->locked)
		up_read(&t->shadow->lock);
	if (t->shadow)
		sdp_shadow_put(t->shadow);
	if (t->pinned)
		module_put(THIS_MODULE);
	atomic_dec(&inside);
}

/* Returns 0; or -ENOBUFS or -EINTR: the call ends, without call_end(). */
static int call_begin(struct shim_call *t, struct socket *sock)
{
	struct sdp_shadow *shadow;
	int err;

	atomic_inc(&inside);
	shadow = shadow_of(sock);
	if (IS_ERR(shadow)) {
		atomic_dec(&inside);
		return PTR_ERR(shadow);
	}
	*t = (struct shim_call){ .shadow = shadow };
	if (shadow) {
		err = call_lock(t, sock);
		if (err)
			call_end(t);
		return err;
	}
	t->ops = decided_ops(sock);
	call_pin(t);
	return 0;
}

static bool call_is(const struct shim_call *t,
		    enum sdp_shadow_stage stage)
{
	return t->locked && t->shadow->stage == stage;
}

/*
 * After a decision the call continues in other proto_ops, whose time limit
 * would start anew. So the rest of the time is spent here, until they have
 * something to do. Returns 0 or a negative errno.
 */
static int call_wait_ready(const struct shim_call *t, struct socket *sock,
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
 * A call that may wait for the peer, on a socket that connects: wait for the
 * decision first, without the lock. @timeo is the time limit of the call in
 * jiffies; @events are those that the call waits for. Returns 0 when the call
 * is to continue in the proto_ops of @t, or a negative errno.
 */
static int call_wait_decided(struct shim_call *t, struct socket *sock,
			     long timeo, __poll_t events)
{
	unsigned long end = jiffies + timeo;
	u32 attempt;
	int err;

	if (!call_is(t, SDP_CONNECTING))
		return 0;
	attempt = t->shadow->attempt;
	call_unlock(t);
	err = sdp_attempt_wait(t->shadow, attempt, timeo);
	err = err ?: call_lock(t, sock);
	if (err)
		return err;
	/* The attempt was stopped, and another one has begun already. */
	if (call_is(t, SDP_CONNECTING))
		return -ENOTCONN;
	if (t->locked || timeo == MAX_SCHEDULE_TIMEOUT)
		return 0;
	return call_wait_ready(t, sock, events, end, timeo);
}

/*
 * accept(2) has given the new socket the listener's proto_ops, and a reference
 * to this module for them. Replace both when @ops belongs to another module.
 */
static int accept_with_ops(const struct proto_ops *ops, struct socket *sock,
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

static int shim_become_tcp(struct sdp_shadow *shadow)
{
	if (down_write_killable(&shadow->lock))
		return -EINTR;
	if (shadow->stage != SDP_DECIDED)
		sdp_attempt_become_tcp(shadow);
	up_write(&shadow->lock);
	return 0;
}

/*
 * kernel_accept() gives the new socket the proto_ops that the listener had when
 * kernel_accept() began. These must not be ours: kTLS copies them, and a copy
 * would outlive this module. So the pair becomes TCP's alone. The caller gets
 * -EAGAIN, and sk_data_ready() tells it to retry.
 */
static int pair_become_tcp(struct socket *sock, struct sdp_shadow *shadow)
{
	struct sock *sk = sock->sk;

	if (shim_become_tcp(shadow))
		return -EINTR;
	/* MPTCP has its accept queue elsewhere, so wake in any case. */
	if (sdp_is_multipath(sk) ||
	    !reqsk_queue_empty(&inet_csk(sk)->icsk_accept_queue))
		sk->sk_data_ready(sk);
	return -EAGAIN;
}

/* Run one call: @act is its body, which uses the struct shim_call @t. */
#define SHIM_CALL(sock, t, act) ({					\
	struct shim_call t;						\
	long sdp_ret = call_begin(&t, sock);				\
									\
	if (!sdp_ret) {							\
		sdp_ret = (act);					\
		call_end(&t);						\
	}								\
	sdp_ret;							\
})

/*
 * A socket that connects cannot be bound. As with TCP, an error in the address
 * is reported first.
 */
static int call_bind(struct shim_call *t, struct socket *sock,
		     struct sdp_sockaddr *addr, int len)
{
	struct socket *sdp = t->shadow ? t->shadow->sdp : NULL;

	if (!call_is(t, SDP_CONNECTING))
		return t->ops->bind(sock, addr, len);
	return sdp->ops->bind(sdp, addr, len) ?: -EINVAL;
}

static int shim_bind(struct socket *sock, struct sdp_sockaddr *addr, int len)
{
	return SHIM_CALL(sock, t, call_bind(&t, sock, addr, len));
}

static int call_connect(struct shim_call *t, struct socket *sock,
			struct sdp_sockaddr *addr, int len, int flags)
{
	if (!t->locked)
		return t->ops->connect(sock, addr, len, flags);
	call_unlock(t);
	return sdp_attempt(t->shadow, addr, len, flags);
}

static int shim_connect(struct socket *sock, struct sdp_sockaddr *addr, int len,
			int flags)
{
	return SHIM_CALL(sock, t, call_connect(&t, sock, addr, len, flags));
}

static int call_listen(struct shim_call *t, struct socket *sock, int backlog)
{
	if (!t->locked)
		return t->ops->listen(sock, backlog);
	call_unlock(t);
	return sdp_pair_listen(t->shadow, backlog);
}

static int shim_listen(struct socket *sock, int backlog)
{
	return SHIM_CALL(sock, t, call_listen(&t, sock, backlog));
}

static int call_accept(struct shim_call *t, struct socket *sock,
		       struct socket *newsock, SDP_ACCEPT_ARGS)
{
	if (call_is(t, SDP_LISTENING) && SDP_ACCEPT_KERN) {
		call_unlock(t);
		return pair_become_tcp(sock, t->shadow);
	}
	if (!t->locked)
		return accept_with_ops(t->ops, sock, newsock, SDP_ACCEPT_PASS);
	if (!call_is(t, SDP_LISTENING))
		return -EINVAL;
	call_unlock(t);
	return sdp_pair_accept(t->shadow, newsock, SDP_ACCEPT_PASS);
}

static int shim_accept(struct socket *sock, struct socket *newsock,
		       SDP_ACCEPT_ARGS)
{
	return SHIM_CALL(sock, t,
			 call_accept(&t, sock, newsock, SDP_ACCEPT_PASS));
}

static int call_getname(struct shim_call *t, struct socket *sock,
			struct sockaddr *addr, int peer)
{
	struct socket *which = call_is(t, SDP_CONNECTING) ? t->shadow->sdp :
							    sock;

	return (which == sock ? t->ops : which->ops)->getname(which, addr,
							      peer);
}

static int shim_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	return SHIM_CALL(sock, t, call_getname(&t, sock, addr, peer));
}

static __poll_t shim_poll(struct file *file, struct socket *sock,
			  poll_table *wait)
{
	/* Without a shadow, return what a new TCP socket shows. */
	__poll_t mask = EPOLLHUP | EPOLLOUT | EPOLLWRNORM;
	struct shim_call t;

	if (call_begin(&t, sock)) {
		sdp_shadow_poller_unknown();
		sock_poll_wait(file, sock, wait);
		return mask;
	}
	mask = 0;
	if (t.locked)
		sdp_wake_note(&t.shadow->polled, wait);
	if (call_is(&t, SDP_CONNECTING))
		sock_poll_wait(file, sock, wait);
	else if (call_is(&t, SDP_LISTENING))
		mask = sdp_pair_poll(file, t.shadow, wait);
	else
		mask = t.ops->poll(file, sock, wait);
	call_end(&t);
	return mask;
}

static int shim_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	return SHIM_CALL(sock, t, t.ops->ioctl(sock, cmd, arg));
}

#ifdef CONFIG_COMPAT
static int shim_compat_ioctl(struct socket *sock, unsigned int cmd,
			     unsigned long arg)
{
	return SHIM_CALL(sock, t,
			 t.ops->compat_ioctl ?
				 t.ops->compat_ioctl(sock, cmd, arg) :
				 -ENOIOCTLCMD);
}
#endif

/*
 * shutdown() of a socket that connects or listens makes it unconnected, as with
 * TCP. Returns 1 when a connect was ended, and nothing is left to do; 0 when
 * the socket's proto_ops have to shut it down; or -EINTR.
 */
static int shim_stop(struct sdp_shadow *shadow, int how)
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

static int call_shutdown(struct shim_call *t, struct socket *sock, int how)
{
	int connects = 0;

	if (t->locked && how >= SHUT_RD && how <= SHUT_RDWR) {
		call_unlock(t);
		connects = shim_stop(t->shadow, how);
		if (!connects)
			connects = call_lock(t, sock);
	}
	return connects ? min(connects, 0) : t->ops->shutdown(sock, how);
}

static int shim_shutdown(struct socket *sock, int how)
{
	return SHIM_CALL(sock, t, call_shutdown(&t, sock, how));
}

/*
 * What kernel TLS says to a socket that is not connected: whether it exists.
 * Even there the first call copies the socket's proto_ops, which all TLS
 * sockets use from then on. So another socket asks, whose proto_ops are the
 * kernel's.
 */
static int ask_for_tls(struct socket *sock, char name[TCP_ULP_NAME_MAX])
{
	struct socket *other;
	int err = sock_create_kern(sock_net(sock->sk), sock->sk->sk_family,
				   SOCK_STREAM, sock->sk->sk_protocol, &other);

	if (err)
		return err;
	err = other->ops->setsockopt(other, SOL_TCP, TCP_ULP,
				     KERNEL_SOCKPTR(name), TCP_ULP_NAME_MAX);
	sock_release(other);
	return err;
}

/*
 * Some upper layer protocols (ULPs) replace a socket's proto_ops and keep a
 * copy of those that they find; these must be TCP's. So the socket becomes
 * TCP's before its ULP is set. SDP would not take the place of a socket with a
 * ULP anyway. Kernel TLS refuses a socket that is not connected, and
 * applications ask for it there to know whether it exists. So "tls" leaves a
 * socket undecided unless it is connected.
 */
static int set_ulp(struct shim_call *t, struct socket *sock, sockptr_t value,
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
	if (!strcmp(name, "tls") && sock->sk->sk_state != TCP_ESTABLISHED)
		return ask_for_tls(sock, name);
	call_unlock(t);
	err = shim_become_tcp(t->shadow) ?: call_lock(t, sock);
	return err ?: t->ops->setsockopt(sock, SOL_TCP, TCP_ULP,
					 KERNEL_SOCKPTR(name), sizeof(name));
}

static int call_setsockopt(struct shim_call *t, struct socket *sock, int level,
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
	return SHIM_CALL(sock, t,
			 call_setsockopt(&t, sock, level, name, value, len));
}

static int shim_getsockopt(struct socket *sock, int level, int name,
			   char __user *value, int __user *len)
{
	return SHIM_CALL(sock, t,
			 t.ops->getsockopt(sock, level, name, value, len));
}

/*
 * MSG_FASTOPEN: only TCP can send data with its first packet. So TCP gets the
 * flag if the policy's verdict is TCP. Otherwise the call connects before it
 * sends, as TCP does when Fast Open is not possible.
 */
static int call_fast_open(struct shim_call *t, struct socket *sock,
			  struct msghdr *msg)
{
	struct sdp_sockaddr *name = msg->msg_name;
	int err = 0;

	call_unlock(t);
	if (sdp_attempt_would_try_sdp(sock, name, msg->msg_namelen)) {
		err = sdp_attempt(t->shadow, name, msg->msg_namelen,
				  msg->msg_flags & MSG_DONTWAIT ? O_NONBLOCK :
								  0);
		msg->msg_flags &= ~MSG_FASTOPEN;
	} else if (down_write_killable(&t->shadow->lock)) {
		err = -EINTR;
	} else {
		if (t->shadow->stage == SDP_UNDECIDED)
			sdp_shadow_become_tcp(t->shadow);
		up_write(&t->shadow->lock);
	}
	return err ?: call_lock(t, sock);
}

static int call_sendmsg(struct shim_call *t, struct socket *sock,
			struct msghdr *msg, size_t size)
{
	long timeo = sock_sndtimeo(sock->sk, msg->msg_flags & MSG_DONTWAIT);
	int err = call_wait_decided(t, sock, timeo, EPOLLOUT);

	if (!err && (msg->msg_flags & MSG_FASTOPEN) &&
	    call_is(t, SDP_UNDECIDED))
		err = call_fast_open(t, sock, msg);
	/* Another thread has begun a new attempt meanwhile. */
	if (!err && call_is(t, SDP_CONNECTING))
		err = -EALREADY;
	return err ?: t->ops->sendmsg(sock, msg, size);
}

static int shim_sendmsg(struct socket *sock, struct msghdr *msg, size_t size)
{
	return SHIM_CALL(sock, t, call_sendmsg(&t, sock, msg, size));
}

static int call_recvmsg(struct shim_call *t, struct socket *sock,
			struct msghdr *msg, size_t size, int flags)
{
	long timeo = sock_rcvtimeo(sock->sk, flags & MSG_DONTWAIT);
	int err;

	/* A connecting socket has no error queue and no urgent data. */
	if (call_is(t, SDP_CONNECTING) && flags & MSG_ERRQUEUE)
		return t->ops->recvmsg(sock, msg, size, flags);
	if (call_is(t, SDP_CONNECTING) && flags & MSG_OOB)
		return -EINVAL;
	err = call_wait_decided(t, sock, timeo, EPOLLIN | EPOLLRDHUP);
	/* TCP also waits in a receive of no bytes, and returns 0 then. */
	if (err == -EAGAIN && timeo && !size)
		return 0;
	return err ?: t->ops->recvmsg(sock, msg, size, flags);
}

static int shim_recvmsg(struct socket *sock, struct msghdr *msg, size_t size,
			int flags)
{
	return SHIM_CALL(sock, t, call_recvmsg(&t, sock, msg, size, flags));
}

static ssize_t shim_splice_read(struct socket *sock, loff_t *pos,
				struct pipe_inode_info *pipe, size_t size,
				unsigned int flags)
{
	/* SPLICE_F_NONBLOCK is about the pipe, not the socket. */
	long timeo = sock_rcvtimeo(sock->sk, sock->file->f_flags & O_NONBLOCK);

	return SHIM_CALL(sock, t,
			 call_wait_decided(&t, sock, timeo,
					   EPOLLIN | EPOLLRDHUP) ?:
			 t.ops->splice_read(sock, pos, pipe, size, flags));
}

/*
 * The caller of release() drops a reference to this module, but the socket has
 * one to the owner of its new proto_ops: replace the one by the other.
 */
static void exchange_owners(const struct proto_ops *ops)
{
	__module_get(THIS_MODULE);
	module_put(ops->owner);
}

/*
 * release() of an undecided socket. Its last file is closed, so only the work
 * item may still use it, and may have decided it just before. The caller has
 * read the owner of the proto_ops already: it drops a reference to this module
 * whatever the proto_ops are now.
 */
static int shim_release(struct socket *sock)
{
	const struct proto_ops *ops;
	struct sdp_shadow *shadow;
	bool undecided = false;
	int ret;

	atomic_inc(&inside);
	shadow = sdp_shadow_find_locked(sock);
	if (shadow) {
		down_write(&shadow->lock);
		undecided = shadow->stage != SDP_DECIDED;
		if (undecided) {
			sdp_attempt_stop(shadow);
			sdp_shadow_decide(shadow, NULL);
		}
		up_write(&shadow->lock);
		sdp_shadow_put(shadow);
	}
	ops = decided_ops(sock);
	ret = ops->release(sock);
	/* The socket has had a reference to TCP's owner since socket(2). */
	if (undecided)
		module_put(ops->owner);
	else if (!shim_of(READ_ONCE(sock->ops)) && ops->owner != THIS_MODULE)
		exchange_owners(ops);
	atomic_dec(&inside);
	return ret;
}

/*
 * release() of a socket that no other call has been made of. It has a reference
 * to TCP's owner if it comes from socket(2). If it comes from accept(), it only
 * has its listener's proto_ops; it has no sock when accept() failed, or is
 * connected when its listener became TCP's meanwhile. As for shim_release(),
 * the caller drops a reference to this module.
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

static void shim_fill_ops(struct sdp_shim_ops *shim)
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
	/*
	 * SO_RCVLOWAT may have loaded the TCP sock before the swap. For that
	 * sock sdp_set_rcvlowat() returns -EAGAIN; TCP's function would set an
	 * option that nobody uses any more.
	 */
	shim->kept.set_rcvlowat = sdp_set_rcvlowat;
}

/*
 * The kernel exports few of its proto_ops, but a new socket shows them. Returns
 * NULL when the kernel has no MPTCP, or the initial namespace has it off: MPTCP
 * sockets are left alone then.
 */
static const struct proto_ops *shim_kernel_ops(int family, int protocol)
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
 * sdp_shim_init() - prepare the proto_ops and the shadows of undecided sockets
 *
 * Return: 0 or a negative errno.
 */
int sdp_shim_init(void)
{
	int err = sdp_shadow_init(sdp_attempt_work);
	size_t i;

	if (err)
		return err;
	sdp_taken_init();
	for (i = 0; i < ARRAY_SIZE(shims); i++) {
		shims[i].tcp = shim_kernel_ops(shim_protocols[i].family,
					       shim_protocols[i].protocol);
		if (shims[i].tcp)
			shim_fill_ops(&shims[i]);
	}
	err = sdp_attempt_init();
	if (err)
		sdp_shadow_exit();
	return err;
}

/*
 * True during an unload while an accept() has read our proto_ops and taken a
 * module reference for its new socket, but is not counted in @inside yet.
 */
static bool shim_module_held(void)
{
#if defined(MODULE) && defined(CONFIG_MODULE_UNLOAD)
	/* The count of a module that goes and has no references is -1. */
	return THIS_MODULE->state == MODULE_STATE_GOING &&
	       module_refcount(THIS_MODULE) >= 0;
#else
	return false;
#endif
}

/**
 * sdp_shim_exit() - wait for the last calls, and undo sdp_shim_init()
 *
 * No socket is undecided any more. But a thread may have loaded our proto_ops
 * and not yet be counted in @inside, or may not be counted any more and not yet
 * have returned. It does not sleep there without a module reference, so
 * synchronize_rcu_tasks() waits until it has returned. May sleep.
 */
void sdp_shim_exit(void)
{
	synchronize_rcu_tasks();
	while (atomic_read(&inside) || shim_module_held())
		msleep(20);
	sdp_attempt_exit();
	synchronize_rcu_tasks();
	sdp_shadow_exit();
}
