// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: who has which one, per namespace.
 *
 * One hash of ports, one entry per port in use, in it every socket that has the port:
 * bound, listening, connected, and the children of listeners. Listeners are in a list of
 * their own: a request looks for the one it is for among them, not among the thousands of
 * connections that a busy port may have. The rules of sharing are TCP's: addresses that
 * overlap conflict, unless both sockets have SO_REUSEADDR and the one that was there first
 * does not listen, or both have SO_REUSEPORT and the same user. Listeners that share an
 * address by the latter take turns, by a hash of the connecting end's address.
 *
 * TCP's ports are others. A name that TCP has given to a socket of the policy's is free by TCP's
 * rules, and the same port here may be somebody's all the same. Nothing arrives at a port that is
 * only connected from, so between such a socket and others a connection is no conflict.
 *
 * Lock: ports_lock covers the hash, the entries and sdp_sock.port; it is a leaf.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <net/ip.h>

#include "sock.h"

#define PORT_BITS	10

/**
 * struct sdp_port - a port in use
 * @node: in the hash
 * @net: namespace
 * @listeners: sockets that have it and listen, or have done so
 * @socks: all others that have it
 * @number: host order
 */
struct sdp_port {
	struct hlist_node node;
	struct net *net;
	struct hlist_head listeners;
	struct hlist_head socks;
	u16 number;
};

static DEFINE_SPINLOCK(ports_lock);
static struct hlist_head ports[1 << PORT_BITS];

static struct hlist_head *bucket(const struct net *net, u16 number)
{
	return &ports[hash_32(number ^ net_hash_mix(net), PORT_BITS)];
}

static struct sdp_port *find(const struct net *net, u16 number)
{
	struct sdp_port *port;

	hlist_for_each_entry(port, bucket(net, number), node)
		if (port->number == number && net_eq(port->net, net))
			return port;
	return NULL;
}

static bool has_v4(const struct sdp_sock *ssk)
{
	return sdp_is_v4(&ssk->local) ||
	       (ipv6_addr_any(&ssk->local.ip) && !ssk->sk.sk_ipv6only);
}

/* On different devices a socket does not see what the other one gets. */
static bool same_device(const struct sdp_sock *a, const struct sdp_sock *b)
{
	int if_a = READ_ONCE(a->sk.sk_bound_dev_if);
	int if_b = READ_ONCE(b->sk.sk_bound_dev_if);

	return !if_a || !if_b || if_a == if_b;
}

/* A wildcard overlaps with all of its family, the IPv6 one with IPv4 too if it may. */
static bool overlap(const struct sdp_sock *a, const struct sdp_sock *b)
{
	bool v4 = has_v4(a) && has_v4(b);
	bool v6 = !sdp_is_v4(&a->local) && !sdp_is_v4(&b->local);

	if ((!v4 && !v6) || !same_device(a, b))
		return false;
	return sdp_is_any(&a->local) || sdp_is_any(&b->local) ||
	       (ipv6_addr_equal(&a->local.ip, &b->local.ip) && a->local.scope == b->local.scope);
}

static bool may_share(const struct sdp_sock *other, const struct sdp_sock *ssk)
{
	if (other->sk.sk_reuse && ssk->sk.sk_reuse &&
	    READ_ONCE(other->sk.sk_state) != TCP_LISTEN)
		return true;
	return other->sk.sk_reuseport && ssk->sk.sk_reuseport &&
	       uid_eq(other->sk.sk_uid, ssk->sk.sk_uid);
}

/* Of one that TCP has given its name, and another one: nothing arrives at who only connects. */
static bool no_matter(const struct sdp_sock *other, const struct sdp_sock *ssk)
{
	return (other->named_by_tcp || ssk->named_by_tcp) &&
	       (other->only_connects || ssk->only_connects);
}

static bool conflict_in(const struct hlist_head *list, const struct sdp_sock *ssk)
{
	const struct sdp_sock *other;

	hlist_for_each_entry(other, list, port_node)
		if (other != ssk && overlap(other, ssk) && !may_share(other, ssk) &&
		    !no_matter(other, ssk))
			return true;
	return false;
}

static bool conflict(const struct sdp_port *port, const struct sdp_sock *ssk)
{
	return conflict_in(&port->listeners, ssk) || conflict_in(&port->socks, ssk);
}

static void forget_use(struct sdp_sock *ssk)
{
	ssk->named_by_tcp = false;
	ssk->only_connects = false;
}

static void enter(struct sdp_sock *ssk, struct sdp_port *port)
{
	hlist_add_head(&ssk->port_node, &port->socks);
	ssk->port = port;
	/* Its one word: who reads without ports_lock has the old one or this. */
	WRITE_ONCE(ssk->local.port, port->number);
}

/* Take @number for @ssk; @fresh is used when nobody has it yet, and then set to NULL. */
static int take(struct sdp_sock *ssk, u16 number, bool alone, struct sdp_port **fresh)
{
	struct net *net = sock_net(&ssk->sk);
	struct sdp_port *port;
	int err = 0;

	spin_lock_bh(&ports_lock);
	port = find(net, number);
	if (port && (alone || conflict(port, ssk))) {
		err = -EADDRINUSE;
	} else {
		if (!port) {
			port = *fresh;
			*fresh = NULL;
			port->net = net;
			port->number = number;
			INIT_HLIST_HEAD(&port->listeners);
			INIT_HLIST_HEAD(&port->socks);
			hlist_add_head(&port->node, bucket(net, number));
		}
		enter(ssk, port);
	}
	spin_unlock_bh(&ports_lock);
	return err;
}

static int take_any(struct sdp_sock *ssk, struct sdp_port **fresh)
{
	struct net *net = sock_net(&ssk->sk);
	int low, high, i, range, start;
	u16 number;

	inet_get_local_port_range(net, &low, &high);
	range = high - low + 1;
	start = get_random_u32_below(range);
	for (i = 0; i < range; i++, cond_resched()) {
		number = low + (start + i) % range;
		if (!inet_is_local_reserved_port(net, number) && !take(ssk, number, true, fresh))
			return 0;
	}
	return -EADDRINUSE;
}

/**
 * sdp_port_bind() - give a port to a socket
 * @ssk: socket without a port; its local address is set
 * @number: the port, or 0 for a free one of the ephemeral range that is not reserved
 *
 * What it is for stands in @ssk before (named_by_tcp, only_connects), and is forgotten with it.
 *
 * Return: 0, -EADDRINUSE or -ENOBUFS.
 */
int sdp_port_bind(struct sdp_sock *ssk, u16 number)
{
	struct sdp_port *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	int err = -ENOBUFS;

	if (fresh)
		err = number ? take(ssk, number, false, &fresh) : take_any(ssk, &fresh);
	if (err)
		forget_use(ssk);
	kfree(fresh);
	return err;
}

/**
 * sdp_port_listen() - turn a bound socket into a listener
 * @ssk: socket with a port
 *
 * Return: 0, or -EADDRINUSE when another socket on the port forbids it.
 */
int sdp_port_listen(struct sdp_sock *ssk)
{
	bool only_connects = ssk->only_connects;
	int err = 0;

	spin_lock_bh(&ports_lock);
	ssk->only_connects = false;
	if (conflict(ssk->port, ssk)) {
		ssk->only_connects = only_connects;
		err = -EADDRINUSE;
	} else {
		hlist_del(&ssk->port_node);
		hlist_add_head(&ssk->port_node, &ssk->port->listeners);
		sdp_set_state(ssk, TCP_LISTEN);
	}
	spin_unlock_bh(&ports_lock);
	return err;
}

/**
 * sdp_port_share() - a connection request gets its listener's port
 * @child: new socket
 * @parent: its listener, locked
 */
void sdp_port_share(struct sdp_sock *child, struct sdp_sock *parent)
{
	spin_lock_bh(&ports_lock);
	child->only_connects = true;
	enter(child, parent->port);
	spin_unlock_bh(&ports_lock);
}

/**
 * sdp_port_release() - a socket gives its port back, if it has one
 * @ssk: socket
 */
void sdp_port_release(struct sdp_sock *ssk)
{
	struct sdp_port *port;

	spin_lock_bh(&ports_lock);
	port = ssk->port;
	if (port) {
		hlist_del(&ssk->port_node);
		ssk->port = NULL;
		forget_use(ssk);
		if (hlist_empty(&port->listeners) && hlist_empty(&port->socks))
			hlist_del(&port->node);
		else
			port = NULL;
	}
	spin_unlock_bh(&ports_lock);
	kfree(port);
}

/* How well a listener's address fits: its own one, a wildcard of the family, any. */
static int fit_address(const struct sdp_sock *ssk, const struct sdp_endpoint *local)
{
	if (ipv6_addr_any(&ssk->local.ip))
		return !sdp_is_v4(local) || has_v4(ssk);
	if (sdp_is_v4(&ssk->local) != sdp_is_v4(local))
		return 0;
	if (sdp_is_any(&ssk->local))
		return 2;
	if (!ipv6_addr_equal(&ssk->local.ip, &local->ip))
		return 0;
	return !ssk->local.scope || ssk->local.scope == local->scope ? 3 : 0;
}

/* After the address the device counts, and then the processor we are on. */
static int fit(const struct sdp_sock *ssk, const struct sdp_incoming *in)
{
	int ifindex = READ_ONCE(ssk->sk.sk_bound_dev_if);
	int address;

	if (READ_ONCE(ssk->sk.sk_state) != TCP_LISTEN)
		return 0;
	address = fit_address(ssk, &in->local);
	if (!address || (ifindex && ifindex != in->ifindex))
		return 0;
	return 4 * address + (ifindex ? 2 : 0) +
	       (READ_ONCE(ssk->sk.sk_incoming_cpu) == raw_smp_processor_id());
}

/* The @nth of those that fit as well as the best one. */
static struct sdp_sock *nth_listener(struct sdp_port *port, const struct sdp_incoming *in,
				     int best, u32 nth)
{
	struct sdp_sock *ssk;

	hlist_for_each_entry(ssk, &port->listeners, port_node)
		if (fit(ssk, in) == best && !nth--)
			return ssk;
	return NULL;
}

/* How well the best one fits, or 0; @n do. */
static int best_fit(struct sdp_port *port, const struct sdp_incoming *in, int *n)
{
	struct sdp_sock *ssk;
	int best = 0, f;

	hlist_for_each_entry(ssk, &port->listeners, port_node) {
		f = fit(ssk, in);
		if (f > best)
			*n = 0;
		if (f >= best && f)
			++*n;
		best = max(best, f);
	}
	return best;
}

static struct sdp_sock *find_listener(struct sdp_port *port, const struct sdp_incoming *in)
{
	u32 hash = jhash2((const u32 *)in->peer.ip.s6_addr32, 4, in->peer.port);
	struct sdp_sock *ssk;
	int best, n;

	do {
		best = best_fit(port, in, &n);
		/* More than one is so only by SO_REUSEPORT. */
		ssk = best ? nth_listener(port, in, best, reciprocal_scale(hash, n)) : NULL;
		/* One that ends does not wait for ports_lock; there are fewer each time. */
	} while (best && !ssk);
	return ssk;
}

/**
 * sdp_port_find_listener() - who listens there?
 * @in: a request
 *
 * Return: the best fitting listener with a reference, or NULL.
 */
struct sdp_sock *sdp_port_find_listener(const struct sdp_incoming *in)
{
	struct sdp_sock *ssk = NULL;
	struct sdp_port *port;

	spin_lock_bh(&ports_lock);
	port = find(in->net, in->local.port);
	if (port)
		ssk = find_listener(port, in);
	if (ssk)
		sock_hold(&ssk->sk);
	spin_unlock_bh(&ports_lock);
	return ssk;
}
