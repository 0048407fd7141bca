// SPDX-License-Identifier: GPL-2.0
/*
 * The SDP socket beside an undecided TCP one, and how it takes the other's place.
 *
 * Then the two struct sockets exchange their struct socks: the program's has the SDP one, and
 * the other one keeps the TCP one, with its port, for as long as the program's lives. So who
 * still works with the TCP one, in another thread, never sees it freed.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../socket/sock.h"
#include "shim.h"

#define BUCKET_BITS	6

static struct sdp_bucket buckets[1 << BUCKET_BITS];

/**
 * sdp_shadow_init() - there are none
 */
void sdp_shadow_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(buckets); i++) {
		init_rwsem(&buckets[i].lock);
		INIT_HLIST_HEAD(&buckets[i].shadows);
	}
}

/**
 * sdp_bucket() - where the state of a socket is
 * @sock: socket
 *
 * Return: its bucket.
 */
struct sdp_bucket *sdp_bucket(const struct socket *sock)
{
	return &buckets[hash_ptr((void *)sock, BUCKET_BITS)];
}

/**
 * sdp_shadow_find() - the SDP socket beside a socket
 * @b: its bucket, locked
 * @sock: socket
 *
 * Return: its shadow, or NULL.
 */
struct sdp_shadow *sdp_shadow_find(struct sdp_bucket *b, const struct socket *sock)
{
	struct sdp_shadow *shadow;

	hlist_for_each_entry(shadow, &b->shadows, node)
		if (shadow->sock == sock)
			return shadow;
	return NULL;
}

/**
 * sdp_shadow_make() - an SDP socket like a TCP one
 * @sock: the TCP socket, undecided
 * @tcp: its calls
 *
 * Return: the shadow, with one reference; or an errno.
 */
struct sdp_shadow *sdp_shadow_make(struct socket *sock, const struct proto_ops *tcp)
{
	struct sock *sk = sock->sk;
	struct sdp_shadow *shadow;
	int err;

	shadow = kzalloc(sizeof(*shadow), GFP_KERNEL);
	if (!shadow)
		return ERR_PTR(-ENOMEM);
	err = __sock_create(sock_net(sk), sk->sk_family, SOCK_STREAM, IPPROTO_SDP, &shadow->sdp, 0);
	if (err) {
		kfree(shadow);
		return ERR_PTR(err);
	}
	refcount_set(&shadow->refs, 1);
	init_completion(&shadow->decided);
	shadow->sock = sock;
	shadow->tcp = tcp;
	sdp_carry(shadow->sdp->sk, sk);
	return shadow;
}

/**
 * sdp_shadow_enter() - let others find it; the caller's reference becomes the bucket's
 * @b: bucket, locked for writing
 * @shadow: shadow
 */
void sdp_shadow_enter(struct sdp_bucket *b, struct sdp_shadow *shadow)
{
	hlist_add_head(&shadow->node, &b->shadows);
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
 * sdp_shadow_put() - drop a reference; the last one ends the SDP socket, if it is still here
 * @shadow: shadow
 *
 * May sleep.
 */
void sdp_shadow_put(struct sdp_shadow *shadow)
{
	if (!refcount_dec_and_test(&shadow->refs))
		return;
	if (shadow->sdp)
		sock_release(shadow->sdp);
	kfree(shadow);
}

/**
 * sdp_shadow_bind() - give the SDP socket the name that the TCP one was given
 * @shadow: shadow
 *
 * Return: 0 or an errno.
 */
int sdp_shadow_bind(struct sdp_shadow *shadow)
{
	struct socket *sock = shadow->sock;
	struct sockaddr_storage name = { };
	int len;

	if (!inet_sk(sock->sk)->inet_num)
		return 0;
	len = shadow->tcp->getname(sock, (struct sockaddr *)&name, 0);
	if (len < 0)
		return len;
	return shadow->sdp->ops->bind(shadow->sdp, (struct sdp_sockaddr *)&name, len);
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

/**
 * sdp_shadow_adopt() - the SDP socket takes the TCP one's place
 * @shadow: shadow; its bucket is locked for writing
 *
 * From the last line on the program's socket is decided.
 */
void sdp_shadow_adopt(struct sdp_shadow *shadow)
{
	struct socket *sock = shadow->sock, *other = shadow->sdp;
	const struct proto_ops *ops = other->ops;
	struct sock *tcp = sock->sk, *sdp = other->sk;

	lock_sock(tcp);
	lock_sock_nested(sdp, SINGLE_DEPTH_NESTING);
	sdp_carry(sdp, tcp);
	WRITE_ONCE(sdp_sk(sdp)->shares_wq, true);
	WRITE_ONCE(other->ops, shadow->tcp);
	sit_in(tcp, other);
	sit_in(sdp, sock);
	sdp_sk(sdp)->tcp = other;
	sock->state = other->state;
	other->state = SS_UNCONNECTED;
	sdp_socket_flags(sock);
	shadow->sdp = NULL;
	/* Who sees these calls sees their sock. */
	smp_store_release(&sock->ops, ops);
	release_sock(sdp);
	release_sock(tcp);
	/* @other's calls were ours, and are the kernel's now; @sock's are ours as before. */
	module_put(THIS_MODULE);
}
