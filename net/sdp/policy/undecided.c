// SPDX-License-Identifier: GPL-2.0
/*
 * What is beside an undecided socket, from its first call until it is decided or closed; and how
 * an SDP socket takes its place.
 *
 * Then the two struct sockets exchange their struct socks: the program's has the SDP one, and
 * the other one keeps the TCP one, with its port, for as long as the program's lives. So who
 * still works with the TCP one, in another thread, never sees it freed.
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

#include "../conn/sock.h"
#include "undecided.h"

/*
 * Of all undecided sockets of the machine, and looked into by each of their calls: without a lock,
 * under RCU. A place for every 64 pages of memory, and 1024 at least, which is 1/32768 of it.
 */
#define TABLE_BITS_LEAST	10
#define TABLE_BITS_MOST		16
#define LOCK_BITS		6

static struct hlist_head *table;
static unsigned int table_bits;
/* Each covers changes of some places, and of the calls of their sockets; process context only. */
static spinlock_t locks[1 << LOCK_BITS];

static struct hlist_head *place_of(const struct socket *sock)
{
	return &table[hash_ptr((void *)sock, table_bits)];
}

/* The upper bits are the same ones, so sockets of one place have one lock. */
static spinlock_t *lock_of(const struct socket *sock)
{
	return &locks[hash_ptr((void *)sock, LOCK_BITS)];
}

/* Under RCU, or the lock. */
static struct sdp_shadow *find(const struct socket *sock)
{
	struct sdp_shadow *shadow;

	hlist_for_each_entry_rcu(shadow, place_of(sock), node,
				 lockdep_is_held(lock_of(sock)))
		if (shadow->sock == sock)
			return shadow;
	return NULL;
}

/**
 * sdp_shadow_find() - what is beside a socket
 * @sock: socket
 *
 * Return: its shadow, with a reference; NULL when it is decided, or when nobody has called
 * anything of it yet. Whether it is the one or the other, sdp_shadow_of() and sdp_shadow_last() can
 * say: its new calls may be seen a little later.
 */
struct sdp_shadow *sdp_shadow_find(const struct socket *sock)
{
	struct sdp_shadow *shadow;

	rcu_read_lock();
	shadow = find(sock);
	if (shadow && !refcount_inc_not_zero(&shadow->refs))
		shadow = NULL;
	rcu_read_unlock();
	return shadow;
}

/**
 * sdp_shadow_last() - what is beside a socket that is being closed
 * @sock: socket
 *
 * Return: as sdp_shadow_find(); but if it was decided, its new calls are seen.
 */
struct sdp_shadow *sdp_shadow_last(const struct socket *sock)
{
	spinlock_t *lock = lock_of(sock);
	struct sdp_shadow *shadow;

	spin_lock(lock);
	shadow = find(sock);
	if (shadow)
		sdp_shadow_get(shadow);
	spin_unlock(lock);
	return shadow;
}

static struct sdp_shadow *make(struct socket *sock,
			       const struct sdp_calls *calls)
{
	struct sdp_shadow *shadow =
		kzalloc(sizeof(*shadow), GFP_KERNEL_ACCOUNT);

	if (!shadow)
		return NULL;
	refcount_set(&shadow->refs, 1);
	init_rwsem(&shadow->lock);
	init_waitqueue_head(&shadow->decided);
	sdp_attempt_prepare(shadow);
	shadow->sock = sock;
	shadow->tcp = calls->tcp;
	shadow->kept = &calls->kept;
	return shadow;
}

/*
 * Before 6.6 accept(2) reads the listener's calls twice: once for the new socket, and once to call
 * them. If listen(2) comes in between and makes it TCP's, the kernel accepts, of a listener that it
 * has for its own, a socket that has our calls: the one that is connected, and has no shadow. It is
 * given back by its first call, whose file keeps it open. Returns false if it is none of these.
 */
static bool give_back_accepted(struct socket *sock,
			       const struct sdp_calls *calls)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);

	if (sock->state == SS_UNCONNECTED ||
	    (ops != &calls->fresh && ops != &calls->calls))
		return false;
	__module_get(calls->tcp->owner);
	WRITE_ONCE(sock->ops, calls->tcp);
	/* Who calls is counted, or holds the module. */
	module_put(THIS_MODULE);
	return true;
}

/**
 * sdp_shadow_of() - what is beside an undecided socket, from its first call on
 * @sock: socket
 * @calls: those of its family
 *
 * Return: its shadow, with a reference; NULL when it is decided; -ENOBUFS when there is no memory.
 */
struct sdp_shadow *sdp_shadow_of(struct socket *sock,
				 const struct sdp_calls *calls)
{
	struct sdp_shadow *shadow = make(sock, calls), *found;
	spinlock_t *lock = lock_of(sock);

	spin_lock(lock);
	found = find(sock);
	if (!found && give_back_accepted(sock, calls)) {
		/* It is none of ours. */
	} else if (READ_ONCE(sock->ops) == &calls->fresh) {
		found = shadow ?: ERR_PTR(-ENOBUFS);
		if (shadow) {
			hlist_add_head_rcu(&shadow->node, place_of(sock));
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
 * sdp_shadow_get() - one reference more
 * @shadow: shadow
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

/* Besides what a listener hands on. */
static void be_like(struct sock *sdp, const struct sock *tcp)
{
	sdp_carry(sdp, tcp);
	sdp->sk_priority = READ_ONCE(tcp->sk_priority);
}

/**
 * sdp_shadow_make_sdp() - an SDP socket like the TCP one
 * @shadow: shadow, locked for writing
 *
 * Return: 0 or an errno.
 */
int sdp_shadow_make_sdp(struct sdp_shadow *shadow)
{
	struct sock *sk = shadow->sock->sk;
	int err;

	err = __sock_create(sock_net(sk), sk->sk_family, SOCK_STREAM,
			    IPPROTO_SDP, &shadow->sdp, 0);
	if (err) {
		shadow->sdp = NULL;
		/* It is what the kernel says when there is no memory for the struct socket. */
		return err == -ENFILE ? -ENOBUFS : err;
	}
	security_sk_clone(sk, shadow->sdp->sk);
	be_like(shadow->sdp->sk, sk);
	sdp_multipath_carry(shadow);
	return 0;
}

/**
 * sdp_shadow_drop_sdp() - it is not needed any more
 * @shadow: shadow, locked for writing
 */
void sdp_shadow_drop_sdp(struct sdp_shadow *shadow)
{
	if (shadow->sdp)
		sock_release(shadow->sdp);
	shadow->sdp = NULL;
}

/*
 * It may be an address alone: who has IP_BIND_ADDRESS_NO_PORT connects from there, by whichever
 * port. Without the option, that is what is left of a listener that was shut down.
 */
static bool has_name(const struct sock *tcp)
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
 * sdp_shadow_bind() - give the SDP socket the name that the TCP one was given
 * @shadow: shadow, locked for writing
 * @role: what for
 *
 * Whoever was allowed to have the name has it already, so nobody is asked again. TCP has seen to
 * it that it is nobody else's, too; SDP's own sockets may have the port all the same, and only
 * those that may listen are in the way of one that listens.
 *
 * Return: 0 or an errno.
 */
int sdp_shadow_bind(struct sdp_shadow *shadow, enum sdp_role role)
{
	struct socket *sock = shadow->sock;
	struct sdp_sock *ssk = sdp_sk(shadow->sdp->sk);
	struct sockaddr_storage name = { };
	const struct cred *old;
	struct cred *kernel;
	int len, err;

	if (!has_name(sock->sk))
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
	/* A port that TCP has chosen is not kept over a disconnect. */
	if (!err && !(sock->sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		ssk->sk.sk_userlocks &= ~SOCK_BINDPORT_LOCK;
	return err;
}

/**
 * sdp_shadow_end() - it is decided: nobody finds the shadow any more
 * @shadow: shadow, locked for writing, not decided before; the caller has a reference
 * @ops: the socket's new calls, or NULL when it is being closed
 *
 * Who does not find the shadow finds the new calls. The program may close its socket from now on
 * without coming by here: the caller does not touch it.
 */
void sdp_shadow_end(struct sdp_shadow *shadow, const struct proto_ops *ops)
{
	spinlock_t *lock = lock_of(shadow->sock);

	shadow->stage = SDP_DECIDED;
	spin_lock(lock);
	hlist_del_rcu(&shadow->node);
	if (ops)
		/* After all that was done to the socket before. */
		smp_store_release(&shadow->sock->ops, ops);
	spin_unlock(lock);
	wake_up_all(&shadow->decided);
	sdp_shadow_put(shadow);
}

/**
 * sdp_shadow_by_tcp() - the socket is the kernel's TCP, for good
 * @shadow: as for sdp_shadow_end()
 */
void sdp_shadow_by_tcp(struct sdp_shadow *shadow)
{
	sdp_shadow_end(shadow, shadow->tcp);
	/* Who is on his way out of here has a reference of his own, or is waited for. */
	module_put(THIS_MODULE);
}

static void sit_in(struct sock *sk, struct socket *sock)
{
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_pointer(sk->sk_wq, &sock->wq);
	sk_set_socket(sk, sock);
	write_unlock_bh(&sk->sk_callback_lock);
	/* Calls that have found the other one in @sock work on, under its lock. */
	WRITE_ONCE(sock->sk, sk);
}

static void exchange(struct sdp_shadow *shadow)
{
	struct socket *sock = shadow->sock, *other = shadow->sdp;
	struct sock *tcp = sock->sk, *sdp = other->sk;

	be_like(sdp, tcp);
	sdp_ready_share(sdp_sk(sdp));
	WRITE_ONCE(other->ops, shadow->kept);
	sit_in(tcp, other);
	sit_in(sdp, sock);
	if (sdp_shim_noted())
		sdp_ready_shared(sdp_sk(sdp), shadow->polled);
	sdp_sk(sdp)->tcp = other;
	sock->state = other->state;
	other->state = SS_UNCONNECTED;
	sdp_socket_flags(sock);
}

/**
 * sdp_shadow_take_place() - the SDP socket takes the TCP one's place, for good
 * @shadow: as for sdp_shadow_end(); TCP's sock is owned, and is not any more
 *
 * Who wants to go on with the SDP sock has a reference to it.
 */
void sdp_shadow_take_place(struct sdp_shadow *shadow)
{
	struct socket *sock = shadow->sock, *other = shadow->sdp;
	struct sock *tcp = sock->sk, *sdp = other->sk;

	sock_hold(tcp);
	sock_hold(sdp);
	lock_sock_nested(sdp, SINGLE_DEPTH_NESTING);
	exchange(shadow);
	shadow->sdp = NULL;
	/*
	 * Before the locks go: a thread that has waited for TCP's must not find
	 * TCP's calls any more. One that finds the new calls must find their
	 * sock: see taken.c.
	 */
	sdp_shadow_end(shadow, sdp_taken_ops(tcp->sk_family));
	release_sock(sdp);
	release_sock(tcp);
	sock_put(sdp);
	sock_put(tcp);
	/* @other's calls were ours, and are the kernel's now; @sock's are ours as before. */
	module_put(THIS_MODULE);
}

/**
 * sdp_shadow_by_sdp() - the same, once TCP's sock is nobody else's
 * @shadow: as for sdp_shadow_end()
 */
void sdp_shadow_by_sdp(struct sdp_shadow *shadow)
{
	lock_sock(shadow->sock->sk);
	sdp_shadow_take_place(shadow);
}

/**
 * sdp_shadow_init() - sockets can have something beside them
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_shadow_init(void)
{
	size_t i;

	table_bits = clamp(ilog2(totalram_pages()) - 6, TABLE_BITS_LEAST,
			   TABLE_BITS_MOST);
	table = kvcalloc(1UL << table_bits, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(locks); i++)
		spin_lock_init(&locks[i]);
	return 0;
}

/**
 * sdp_shadow_exit() - undo sdp_shadow_init(); there are none any more
 */
void sdp_shadow_exit(void)
{
	kvfree(table);
}
