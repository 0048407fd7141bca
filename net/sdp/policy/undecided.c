// SPDX-License-Identifier: GPL-2.0
/*
 * Shadows of undecided sockets, and the change to SDP or back to TCP.
 *
 * The first call of an undecided socket creates its shadow. Allocating it in
 * socket(2) would be most of the policy's cost there, and many sockets never
 * see a call. A hash table finds the shadow by the address of the struct
 * socket; the struct sock does not point to it. The shadow leaves the table
 * when the socket is decided or closed.
 *
 * When an SDP sock takes the place of the TCP sock, the two struct sockets swap
 * their socks. The application's struct socket gets the SDP sock. The other
 * struct socket keeps the TCP sock, with its port, until the application's is
 * released. So the TCP sock is not freed while a thread still works with it.
 */
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/init_task.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/security.h>
#include <linux/slab.h>

#include "../core.h"
#include "undecided.h"

/*
 * The table holds the shadows of all undecided sockets of the machine. Each
 * call of such a socket looks its shadow up, under RCU and without a lock.
 * There is one bucket per 64 pages of memory, within these limits: the table
 * takes 1/32768 of the memory, or 8 KiB if that is more.
 */
#define SHADOW_BITS_MIN		10
#define SHADOW_BITS_MAX		16
#define SHADOW_LOCK_BITS	6

/* A poller may be missing in a shadow's @polled, so none of them is used. */
static bool pollers_unknown;
/* Set once, before there is a shadow. */
static work_func_t shadow_work;
static struct hlist_head *shadow_table;
static unsigned int shadow_table_bits;
/*
 * Each lock covers changes of some buckets, and of the proto_ops of the sockets
 * in them. Taken in process context only.
 */
static spinlock_t shadow_locks[1 << SHADOW_LOCK_BITS];

static struct hlist_head *shadow_bucket(const struct socket *sock)
{
	return &shadow_table[hash_ptr((void *)sock, shadow_table_bits)];
}

/*
 * hash_ptr() returns the upper bits of the hash. The number of a lock is the
 * upper part of the number of a bucket: all sockets of a bucket have one lock.
 */
static spinlock_t *shadow_bucket_lock(const struct socket *sock)
{
	return &shadow_locks[hash_ptr((void *)sock, SHADOW_LOCK_BITS)];
}

/* Called under RCU or with the bucket's lock held. */
static struct sdp_shadow *shadow_lookup(const struct socket *sock)
{
	struct sdp_shadow *shadow;

	hlist_for_each_entry_rcu(shadow, shadow_bucket(sock), node,
				 lockdep_is_held(shadow_bucket_lock(sock)))
		if (shadow->sock == sock)
			return shadow;
	return NULL;
}

/**
 * sdp_shadow_find() - find the shadow of a socket
 * @sock: socket
 *
 * NULL does not tell a decided socket from one that was never called: the new
 * proto_ops of a decided socket may become visible a little later.
 * sdp_shadow_find_or_create() and sdp_shadow_find_locked() take the lock of
 * the bucket and so see them.
 *
 * Return: the shadow, with a reference; NULL when the socket is decided or no
 * call has created a shadow yet.
 */
struct sdp_shadow *sdp_shadow_find(const struct socket *sock)
{
	struct sdp_shadow *shadow;

	rcu_read_lock();
	shadow = shadow_lookup(sock);
	if (shadow && !refcount_inc_not_zero(&shadow->refs))
		shadow = NULL;
	rcu_read_unlock();
	return shadow;
}

/**
 * sdp_shadow_find_locked() - find the shadow of a socket that is being closed
 * @sock: socket
 *
 * Takes the lock of the bucket: when the socket was decided, the caller sees
 * its new proto_ops afterwards.
 *
 * Return: the shadow, with a reference, or NULL.
 */
struct sdp_shadow *sdp_shadow_find_locked(const struct socket *sock)
{
	spinlock_t *lock = shadow_bucket_lock(sock);
	struct sdp_shadow *shadow;

	spin_lock(lock);
	shadow = shadow_lookup(sock);
	if (shadow)
		sdp_shadow_get(shadow);
	spin_unlock(lock);
	return shadow;
}

static struct sdp_shadow *shadow_alloc(struct socket *sock,
				       const struct sdp_shim_ops *calls)
{
	struct sdp_shadow *shadow =
		kzalloc(sizeof(*shadow), GFP_KERNEL_ACCOUNT);

	if (!shadow)
		return NULL;
	refcount_set(&shadow->refs, 1);
	init_rwsem(&shadow->lock);
	init_waitqueue_head(&shadow->decided);
	INIT_DELAYED_WORK(&shadow->work, shadow_work);
	shadow->sock = sock;
	shadow->tcp = calls->tcp;
	shadow->kept = &calls->kept;
	return shadow;
}

/*
 * Before 6.6 accept(2) reads the listener's proto_ops twice: for the new socket
 * and for the call itself. When listen(2) makes the listener TCP's between the
 * two, TCP accepts a connection into a socket that has our proto_ops. Such a
 * socket is connected and has no shadow. Its first call gives it back to TCP
 * here; the file of that call keeps the socket open. Returns false for any
 * other socket.
 */
static bool shadow_give_back_accepted(struct socket *sock,
				      const struct sdp_shim_ops *calls)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);

	if (sock->state == SS_UNCONNECTED ||
	    (ops != &calls->fresh && ops != &calls->calls))
		return false;
	__module_get(calls->tcp->owner);
	WRITE_ONCE(sock->ops, calls->tcp);
	/* The calling thread is counted, or has a module reference. */
	module_put(THIS_MODULE);
	return true;
}

/**
 * sdp_shadow_find_or_create() - the shadow of an undecided socket
 * @sock: socket
 * @calls: proto_ops of its family and protocol
 *
 * Return: the shadow, with a reference; NULL when the socket is decided;
 * -ENOBUFS when there is no memory.
 */
struct sdp_shadow *
sdp_shadow_find_or_create(struct socket *sock,
			  const struct sdp_shim_ops *calls)
{
	struct sdp_shadow *shadow = shadow_alloc(sock, calls), *found;
	spinlock_t *lock = shadow_bucket_lock(sock);

	spin_lock(lock);
	found = shadow_lookup(sock);
	if (!found && shadow_give_back_accepted(sock, calls)) {
		/* Accepted by TCP: it never was undecided. */
	} else if (READ_ONCE(sock->ops) == &calls->fresh) {
		found = shadow ?: ERR_PTR(-ENOBUFS);
		if (shadow) {
			hlist_add_head_rcu(&shadow->node, shadow_bucket(sock));
			WRITE_ONCE(sock->ops, &calls->calls);
		}
	}
	if (!IS_ERR_OR_NULL(found))
		sdp_shadow_get(found);
	spin_unlock(lock);
	if (found != shadow)
		kfree(shadow);
	return found;
}

/**
 * sdp_shadow_get() - take a reference
 * @shadow: shadow; the caller has a reference, or a lock that keeps one
 */
void sdp_shadow_get(struct sdp_shadow *shadow)
{
	refcount_inc(&shadow->refs);
}

/**
 * sdp_shadow_put() - drop a reference
 * @shadow: shadow
 */
void sdp_shadow_put(struct sdp_shadow *shadow)
{
	if (!refcount_dec_and_test(&shadow->refs))
		return;
	put_pid(shadow->fell.pid);
	kfree_rcu(shadow, rcu);
}

/*
 * sdp_sockopt_sync() is also used for connections that a pair accepts. These do
 * not inherit SO_PRIORITY from the listener, so it is copied here.
 */
static void shadow_sync_options(struct sock *sdp, const struct sock *tcp)
{
	sdp_sockopt_sync(sdp, tcp);
	sdp->sk_priority = READ_ONCE(tcp->sk_priority);
}

/**
 * sdp_shadow_make_sdp() - create an SDP socket with the TCP sock's settings
 * @shadow: shadow, locked for writing; its @sdp is set
 *
 * Return: 0 or a negative errno.
 */
int sdp_shadow_make_sdp(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sock->sk;
	int err;

	err = __sock_create(sock_net(sk), sk->sk_family, SOCK_STREAM,
			    IPPROTO_SDP, &shadow->sdp, 0);
	if (err) {
		shadow->sdp = NULL;
		/* __sock_create() reports a failed sock_alloc() as -ENFILE. */
		return err == -ENFILE ? -ENOBUFS : err;
	}
	security_sk_clone(sk, shadow->sdp->sk);
	shadow_sync_options(shadow->sdp->sk, sk);
	sdp_multipath_carry(shadow);
	return 0;
}

/**
 * sdp_shadow_drop_sdp() - release the SDP socket, if there is one
 * @shadow: shadow, locked for writing
 */
void sdp_shadow_drop_sdp(struct sdp_shadow *shadow)
{
	if (shadow->sdp)
		sock_release(shadow->sdp);
	shadow->sdp = NULL;
}

/*
 * A socket may have an address without a port: with IP_BIND_ADDRESS_NO_PORT,
 * connect() chooses the port. Without that option, such an address is left from
 * a listener that was shut down, and does not count.
 */
static bool tcp_is_bound(const struct sock *tcp)
{
	if (inet_sk(tcp)->inet_num)
		return true;
	if (!sdp_inet_no_port(tcp))
		return false;
#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6)
		return !ipv6_addr_any(&tcp->sk_v6_rcv_saddr);
#endif
	return inet_sk(tcp)->inet_rcv_saddr;
}

/**
 * sdp_shadow_bind() - bind the SDP socket to the TCP sock's address and port
 * @shadow: shadow, locked for writing, with an SDP socket
 * @role: whether the socket is to connect or to listen
 *
 * Does nothing when the TCP sock is not bound. bind(2) of the TCP sock has
 * checked the application's permissions, so this bind runs with the kernel's
 * credentials. TCP has also checked that no other TCP socket is in the way. An
 * SDP socket may have the port nevertheless. It is a conflict only when this
 * one is to listen and the other one may listen.
 *
 * Return: 0 or a negative errno.
 */
int sdp_shadow_bind(struct sdp_shadow *shadow, enum sdp_role role)
{
	struct socket *sock = shadow->sock;
	struct sdp_sock *ssk = sdp_sk(shadow->sdp->sk);
	struct sockaddr_storage name = { };
	const struct cred *old;
	struct cred *kernel;
	int len, err;

	if (!tcp_is_bound(sock->sk))
		return 0;
	len = shadow->tcp->getname(sock, (struct sockaddr *)&name, 0);
	if (len < 0)
		return len;
	kernel = prepare_kernel_cred(&init_task);
	if (!kernel)
		return -ENOMEM;
	ssk->named_by_tcp = inet_sk(sock->sk)->inet_num;
	ssk->only_connects = role == SDP_ROLE_CONNECT;
	old = override_creds(kernel);
	err = shadow->sdp->ops->bind(shadow->sdp, (struct sdp_sockaddr *)&name,
				     len);
	revert_creds(old);
	put_cred(kernel);
	/* A disconnect gives up a port that TCP has chosen. */
	if (!err && !(sock->sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		ssk->sk.sk_userlocks &= ~SOCK_BINDPORT_LOCK;
	return err;
}

/**
 * sdp_shadow_decide() - end the shadow: the socket is decided or closed
 * @shadow: shadow, locked for writing, not decided; the caller has a reference
 * @ops: the socket's new proto_ops, or NULL when the socket is being closed
 *
 * Removing the shadow from the table and storing the new proto_ops are one step
 * under the lock of the bucket. From then on the application may close its
 * socket without a call of ours: the caller must not touch it afterwards.
 */
void sdp_shadow_decide(struct sdp_shadow *shadow, const struct proto_ops *ops)
{
	spinlock_t *lock = shadow_bucket_lock(shadow->sock);

	shadow->stage = SDP_DECIDED;
	spin_lock(lock);
	hlist_del_rcu(&shadow->node);
	if (ops)
		/* Publishes all changes of the socket; see taken.c. */
		smp_store_release(&shadow->sock->ops, ops);
	spin_unlock(lock);
	wake_up_all(&shadow->decided);
	sdp_shadow_put(shadow);
}

/**
 * sdp_shadow_become_tcp() - make the socket the kernel's TCP socket again
 * @shadow: as for sdp_shadow_decide()
 *
 * Drops the module reference of the undecided socket.
 */
void sdp_shadow_become_tcp(struct sdp_shadow *shadow)
{
	sdp_shadow_decide(shadow, shadow->tcp);
	/*
	 * Threads that are still in our proto_ops have a module reference, or
	 * sdp_shim_exit() waits for them.
	 */
	module_put(THIS_MODULE);
}

static void shadow_attach_sock(struct sock *sk, struct socket *sock)
{
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_pointer(sk->sk_wq, &sock->wq);
	sk_set_socket(sk, sock);
	write_unlock_bh(&sk->sk_callback_lock);
	/*
	 * A call that has loaded the former sock of @sock continues with it,
	 * under that sock's lock.
	 */
	WRITE_ONCE(sock->sk, sk);
}

static void shadow_swap_socks(struct sdp_shadow *shadow)
{
	struct socket *sock = shadow->sock, *other = shadow->sdp;
	struct sock *tcp = sock->sk, *sdp = other->sk;

	shadow_sync_options(sdp, tcp);
	sdp_wake_share_begin(sdp_sk(sdp));
	WRITE_ONCE(other->ops, shadow->kept);
	shadow_attach_sock(tcp, other);
	shadow_attach_sock(sdp, sock);
	if (!READ_ONCE(pollers_unknown))
		sdp_wake_share_end(sdp_sk(sdp), shadow->polled);
	sdp_sk(sdp)->tcp = other;
	sock->state = other->state;
	other->state = SS_UNCONNECTED;
	sdp_socket_flags(sock);
}

/**
 * sdp_shadow_take_place() - let the SDP sock take the place of the TCP sock
 * @shadow: as for sdp_shadow_decide(), with an SDP socket; the TCP sock is
 *	locked (lock_sock())
 *
 * Unlocks the TCP sock. A caller that uses the SDP sock afterwards must have a
 * reference to it.
 */
void sdp_shadow_take_place(struct sdp_shadow *shadow)
{
	struct socket *sock = shadow->sock, *other = shadow->sdp;
	struct sock *tcp = sock->sk, *sdp = other->sk;

	sock_hold(tcp);
	sock_hold(sdp);
	lock_sock_nested(sdp, SINGLE_DEPTH_NESTING);
	shadow_swap_socks(shadow);
	shadow->sdp = NULL;
	/*
	 * Before the socks are unlocked: a thread that has waited for the TCP
	 * sock's lock must not find the old proto_ops any more. After the swap:
	 * a thread that finds the new proto_ops must find the SDP sock, see
	 * taken.c.
	 */
	sdp_shadow_decide(shadow, sdp_taken_ops(tcp->sk_family));
	release_sock(sdp);
	release_sock(tcp);
	sock_put(sdp);
	sock_put(tcp);
	/*
	 * The proto_ops of @other were ours and are the kernel's now, so its
	 * module reference goes. @sock keeps its own.
	 */
	module_put(THIS_MODULE);
}

/**
 * sdp_shadow_become_sdp() - let the SDP sock take the place of the TCP sock
 * @shadow: as for sdp_shadow_decide(), with an SDP socket
 */
void sdp_shadow_become_sdp(struct sdp_shadow *shadow)
{
	lock_sock(shadow->sock->sk);
	sdp_shadow_take_place(shadow);
}

/**
 * sdp_shadow_poller_unknown() - a poller could not be recorded in its shadow
 */
void sdp_shadow_poller_unknown(void)
{
	WRITE_ONCE(pollers_unknown, true);
}

/**
 * sdp_shadow_init() - allocate the table of shadows
 * @work: what the work item of each shadow does
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_shadow_init(work_func_t work)
{
	size_t i;

	shadow_work = work;
	shadow_table_bits = clamp(ilog2(totalram_pages()) - 6, SHADOW_BITS_MIN,
				  SHADOW_BITS_MAX);
	shadow_table = kvcalloc(1UL << shadow_table_bits,
				sizeof(*shadow_table), GFP_KERNEL);
	if (!shadow_table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(shadow_locks); i++)
		spin_lock_init(&shadow_locks[i]);
	return 0;
}

/**
 * sdp_shadow_exit() - free the table of shadows, which is empty
 */
void sdp_shadow_exit(void)
{
	kvfree(shadow_table);
}
