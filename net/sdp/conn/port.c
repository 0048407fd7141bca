// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: who has which one, per namespace.
 *
 * Each namespace has a hash of its ports, with a lock for each bucket: no
 * namespace waits for another one. The buckets follow the port's number, so
 * none ever has more than 64 ports.
 *
 * A port has every socket that owns it: bound, listening, connected, and the
 * children of listeners. There may be a hundred thousand of them, so none of
 * bind(), listen(), close() and a request walks them. Sockets that others see
 * alike, because they have the same address, device, user and options (struct
 * sdp_port_key), form a group. The groups of a port are a tree, ordered by
 * key: first what decides whether two sockets may share a port (the kind),
 * then the address. A check for conflicts visits one group of each kind, and
 * searches that kind for one address.
 *
 * The rules of sharing are TCP's: addresses that overlap conflict, unless both
 * sockets have SO_REUSEADDR and the one that was there first does not listen,
 * or both have SO_REUSEPORT and the same user. Listeners that share an address
 * by the latter take turns.
 *
 * The key is a copy. Options that are set on a socket with a port change it
 * where the kernel says so (sdp_port_changed()). Not all kernels do. So before
 * a conflict is reported, the sockets that cause it are compared with their
 * keys, up to a number that keeps the time bounded.
 *
 * TCP's ports are others. A name that TCP has given to a socket of the
 * policy's is free by TCP's rules, and the same port here may be somebody's
 * all the same. Nothing arrives at a port that is only connected from, so
 * between such a socket and others a connection is no conflict.
 *
 * Lock: sdp_port_bucket.lock covers the bucket's ports and of their sockets
 * everything that begins with port; it is a leaf.
 */
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <net/ip.h>

#include "sock.h"

/* Sockets that a conflict may compare with their keys. */
#define LOOKS		64

/* What a key is compared by: the kind, that and the address, or all of it. */
#define BY_KIND		offsetof(struct sdp_port_key, ip)
#define BY_ADDRESS	offsetof(struct sdp_port_key, cpu)
#define BY_ALL		sizeof(struct sdp_port_key)

/* sdp_port_key.flags */
enum {
	KEY_V4		= BIT(0),	/* it is reached by IPv4 */
	KEY_V6		= BIT(1),
	KEY_ANY		= BIT(2),	/* the address is a wildcard */
	KEY_LISTENS	= BIT(3),
	KEY_REUSE	= BIT(4),
	KEY_REUSEPORT	= BIT(5),
	KEY_BY_TCP	= BIT(6),	/* sdp_sock.named_by_tcp */
	KEY_CONNECTS	= BIT(7),	/* sdp_sock.only_connects */
};

/**
 * struct sdp_port - a port in use
 * @node: in the bucket
 * @groups: one socket of each group, by its key
 * @steps: sockets visited since the bucket was locked
 * @number: host order
 */
struct sdp_port {
	struct hlist_node node;
	struct rb_root groups;
	unsigned int steps;
	u16 number;
};

static struct sdp_port_bucket *lock_bucket(const struct net *net, u16 number)
{
	struct sdp_port_bucket *b =
		&sdp_net(net)->ports[number % SDP_PORT_BUCKETS];

	spin_lock_bh(&b->lock);
	return b;
}

static struct sdp_port *find(const struct sdp_port_bucket *b, u16 number)
{
	struct sdp_port *port;

	hlist_for_each_entry(port, &b->ports, node) {
		if (port->number == number) {
			port->steps = 0;
			return port;
		}
	}
	return NULL;
}

/* The first group whose key is not below @key, or, if @beyond, is above it. */
static struct sdp_sock *search(struct sdp_port *port,
			       const struct sdp_port_key *key, size_t by,
			       bool beyond)
{
	struct rb_node *node = port->groups.rb_node;
	struct sdp_sock *head, *found = NULL;
	int order;

	while (node) {
		head = rb_entry(node, struct sdp_sock, port_node);
		order = memcmp(&head->port_key, key, by);
		port->steps++;
		if (order > 0 || (!order && !beyond)) {
			found = head;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

/* The first group that equals @key so far. */
static struct sdp_sock *match(struct sdp_port *port,
			      const struct sdp_port_key *key, size_t by)
{
	struct sdp_sock *head = search(port, key, by, false);

	return head && !memcmp(&head->port_key, key, by) ? head : NULL;
}

static struct sdp_sock *first_kind(const struct sdp_port *port)
{
	return rb_entry_safe(rb_first(&port->groups), struct sdp_sock,
			     port_node);
}

static struct sdp_sock *next_kind(struct sdp_port *port,
				  const struct sdp_sock *head)
{
	return search(port, &head->port_key, BY_KIND, true);
}

/* The socket's key is set. */
static void join(struct sdp_port *port, struct sdp_sock *ssk)
{
	struct rb_node **link = &port->groups.rb_node, *parent = NULL;
	struct sdp_sock *head;
	int order;

	INIT_LIST_HEAD(&ssk->port_alike);
	ssk->port_alikes = 1;
	while (*link) {
		parent = *link;
		head = rb_entry(parent, struct sdp_sock, port_node);
		order = memcmp(&ssk->port_key, &head->port_key, BY_ALL);
		if (!order) {
			list_add_tail(&ssk->port_alike, &head->port_alike);
			head->port_alikes++;
			return;
		}
		link = order < 0 ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&ssk->port_node, parent, link);
	rb_insert_color(&ssk->port_node, &port->groups);
}

/* Another socket of the group stands for it from now on. */
static void replace_head(struct sdp_port *port, struct sdp_sock *head)
{
	struct sdp_sock *next = list_next_entry(head, port_alike);

	if (next == head)
		return;
	next->port_alikes = head->port_alikes;
	rb_replace_node(&head->port_node, &next->port_node, &port->groups);
}

static void leave(struct sdp_port *port, struct sdp_sock *ssk)
{
	struct sdp_sock *head = match(port, &ssk->port_key, BY_ALL);

	head->port_alikes--;
	if (head == ssk) {
		if (list_empty(&ssk->port_alike))
			rb_erase(&ssk->port_node, &port->groups);
		else
			replace_head(port, ssk);
	}
	list_del(&ssk->port_alike);
}

/* The part of a key that a user may change at any time. */
static void set_options(struct sdp_port_key *key, const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;

	key->flags &= ~(KEY_REUSE | KEY_REUSEPORT);
	key->uid = GLOBAL_ROOT_UID;
	if (sk->sk_reuse)
		key->flags |= KEY_REUSE;
	if (sk->sk_reuseport) {
		key->flags |= KEY_REUSEPORT;
		key->uid = sk->sk_uid;
	}
	key->ifindex = READ_ONCE(sk->sk_bound_dev_if);
	key->cpu = -1;
	if (key->flags & KEY_LISTENS)
		key->cpu = READ_ONCE(sk->sk_incoming_cpu);
}

static void set_key(struct sdp_port_key *key, const struct sdp_sock *ssk,
		    u32 listens)
{
	bool any = sdp_is_any(&ssk->local);

	memset(key, 0, sizeof(*key));
	key->ip = ssk->local.ip;
	key->scope = any ? 0 : ssk->local.scope;
	key->flags = listens;
	if (any)
		key->flags |= KEY_ANY;
	if (!sdp_is_v4(&ssk->local))
		key->flags |= KEY_V6;
	/* The IPv6 wildcard gets IPv4 too if it may. */
	if (sdp_is_v4(&ssk->local) || (any && !ssk->sk.sk_ipv6only))
		key->flags |= KEY_V4;
	if (ssk->named_by_tcp)
		key->flags |= KEY_BY_TCP;
	if (ssk->only_connects)
		key->flags |= KEY_CONNECTS;
	set_options(key, ssk);
}

static void change_key(struct sdp_port *port, struct sdp_sock *ssk,
		       const struct sdp_port_key *key)
{
	if (!memcmp(&ssk->port_key, key, BY_ALL))
		return;
	leave(port, ssk);
	ssk->port_key = *key;
	join(port, ssk);
}

/* Does a socket's key need to be brought up to date? Then it is. */
static bool was_stale(struct sdp_port *port, struct sdp_sock *ssk)
{
	struct sdp_port_key key = ssk->port_key;

	set_options(&key, ssk);
	if (!memcmp(&ssk->port_key, &key, BY_ALL))
		return false;
	change_key(port, ssk, &key);
	return true;
}

/*
 * Likewise of a group: false if none of the @looks sockets that may still be
 * compared does.
 */
static bool group_was_stale(struct sdp_port *port, struct sdp_sock *head,
			    int *looks)
{
	struct sdp_sock *ssk = head;

	do {
		if (--*looks < 0)
			return false;
		port->steps++;
		if (was_stale(port, ssk))
			return true;
		ssk = list_next_entry(ssk, port_alike);
	} while (ssk != head);
	return false;
}

/* On different devices a socket does not see what the other one gets. */
static bool same_device(const struct sdp_port_key *a,
			const struct sdp_port_key *b)
{
	return !a->ifindex || !b->ifindex || a->ifindex == b->ifindex;
}

static bool may_share(const struct sdp_port_key *other,
		      const struct sdp_port_key *key)
{
	u32 both = other->flags & key->flags;

	if ((both & KEY_REUSE) && !(other->flags & KEY_LISTENS))
		return true;
	return (both & KEY_REUSEPORT) && uid_eq(other->uid, key->uid);
}

/*
 * Of one that TCP has given its name, and another one: nothing arrives at who
 * only connects.
 */
static bool no_matter(const struct sdp_port_key *other,
		      const struct sdp_port_key *key)
{
	u32 either = other->flags | key->flags;

	return (either & KEY_BY_TCP) && (either & KEY_CONNECTS);
}

/* Would sockets of these kinds conflict if their addresses overlap? */
static bool kinds_conflict(const struct sdp_port_key *other,
			   const struct sdp_port_key *key)
{
	return (other->flags & key->flags & (KEY_V4 | KEY_V6)) &&
	       same_device(other, key) && !may_share(other, key) &&
	       !no_matter(other, key);
}

/*
 * A group that conflicts with @key, or NULL. A wildcard overlaps with all of
 * its family.
 */
static struct sdp_sock *conflicting(struct sdp_port *port,
				    const struct sdp_port_key *key)
{
	struct sdp_sock *head, *same;
	struct sdp_port_key wanted;

	for (head = first_kind(port); head; head = next_kind(port, head)) {
		if (!kinds_conflict(&head->port_key, key))
			continue;
		if ((head->port_key.flags | key->flags) & KEY_ANY)
			return head;
		wanted = head->port_key;
		wanted.ip = key->ip;
		wanted.scope = key->scope;
		same = match(port, &wanted, BY_ADDRESS);
		if (same)
			return same;
	}
	return NULL;
}

static bool conflict(struct sdp_port *port, const struct sdp_port_key *key)
{
	struct sdp_sock *head;
	int looks = LOOKS;

	do {
		head = conflicting(port, key);
	} while (head && group_was_stale(port, head, &looks));
	return head;
}

static void forget_use(struct sdp_sock *ssk)
{
	ssk->named_by_tcp = false;
	ssk->only_connects = false;
}

static void enter(struct sdp_sock *ssk, struct sdp_port *port)
{
	join(port, ssk);
	WRITE_ONCE(ssk->port_number, port->number);
	WRITE_ONCE(ssk->port, port);
	/*
	 * Its one word: whoever reads it without the bucket's lock has the old
	 * one or this.
	 */
	WRITE_ONCE(ssk->local.port, port->number);
}

/* Unlocks the bucket. */
static void done(struct net *net, struct sdp_port_bucket *b,
		 const struct sdp_port *port)
{
	unsigned int steps = port ? port->steps : 0;

	spin_unlock_bh(&b->lock);
	SDP_ADD(net, PortSteps, steps);
}

/*
 * Take @number for @ssk; @fresh is used when nobody has it yet, and then set
 * to NULL.
 */
static int take(struct sdp_sock *ssk, u16 number, bool alone,
		struct sdp_port **fresh)
{
	struct net *net = sock_net(&ssk->sk);
	struct sdp_port_bucket *b = lock_bucket(net, number);
	struct sdp_port *port = find(b, number);
	int err = 0;

	set_key(&ssk->port_key, ssk, 0);
	if (port && (alone || conflict(port, &ssk->port_key))) {
		err = -EADDRINUSE;
	} else {
		if (!port) {
			port = *fresh;
			*fresh = NULL;
			port->number = number;
			hlist_add_head(&port->node, &b->ports);
		}
		enter(ssk, port);
	}
	done(net, b, port);
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
		if (!inet_is_local_reserved_port(net, number) &&
		    !take(ssk, number, true, fresh))
			return 0;
	}
	return -EADDRINUSE;
}

/**
 * sdp_port_bind() - give a port to a socket
 * @ssk: socket without a port; its local address is set
 * @number: the port, or 0 for a free one of the ephemeral range that is not
 *	reserved
 *
 * What it is for stands in @ssk before (named_by_tcp, only_connects), and is
 * forgotten with it.
 *
 * Return: 0, -EADDRINUSE or -ENOBUFS.
 */
int sdp_port_bind(struct sdp_sock *ssk, u16 number)
{
	struct sdp_port *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	int err = -ENOBUFS;

	if (fresh && number)
		err = take(ssk, number, false, &fresh);
	else if (fresh)
		err = take_any(ssk, &fresh);
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
	struct net *net = sock_net(&ssk->sk);
	struct sdp_port_bucket *b = lock_bucket(net, ssk->port_number);
	struct sdp_port *port = ssk->port;
	bool only_connects = ssk->only_connects;
	struct sdp_port_key key;
	int err = 0;

	port->steps = 0;
	ssk->only_connects = false;
	set_key(&key, ssk, KEY_LISTENS);
	/* A socket is not in its own way. */
	leave(port, ssk);
	if (conflict(port, &key)) {
		ssk->only_connects = only_connects;
		err = -EADDRINUSE;
	} else {
		ssk->port_key = key;
		sdp_set_state(ssk, TCP_LISTEN);
	}
	join(port, ssk);
	done(net, b, port);
	return err;
}

/*
 * Under the bucket's lock: the key of a socket that has a port is to be @key.
 */
typedef void (*key_setter)(struct sdp_port_key *key,
			   const struct sdp_sock *ssk);

static void change(struct sdp_sock *ssk, key_setter set)
{
	struct net *net = sock_net(&ssk->sk);
	struct sdp_port_bucket *b;
	struct sdp_port_key key;
	struct sdp_port *port;

	if (!READ_ONCE(ssk->port))
		return;
	b = lock_bucket(net, READ_ONCE(ssk->port_number));
	port = ssk->port;
	if (port) {
		port->steps = 0;
		key = ssk->port_key;
		set(&key, ssk);
		change_key(port, ssk, &key);
	}
	done(net, b, port);
}

static void without_listening(struct sdp_port_key *key,
			      const struct sdp_sock *ssk)
{
	key->flags &= ~KEY_LISTENS;
	key->cpu = -1;
}

/**
 * sdp_port_unlisten() - a listener takes no more requests, and keeps its port
 * @ssk: socket
 */
void sdp_port_unlisten(struct sdp_sock *ssk)
{
	change(ssk, without_listening);
}

static void with_address(struct sdp_port_key *key, const struct sdp_sock *ssk)
{
	set_key(key, ssk, key->flags & KEY_LISTENS);
}

/**
 * sdp_port_moved() - a socket's own address has changed, as it does when the
 *	socket connects
 * @ssk: socket, locked; it may have a port
 */
void sdp_port_moved(struct sdp_sock *ssk)
{
	change(ssk, with_address);
}

/**
 * sdp_port_changed() - an option of a socket has changed: SO_REUSEADDR,
 *	SO_REUSEPORT, SO_BINDTODEVICE or SO_INCOMING_CPU
 * @ssk: socket; it may have a port
 */
void sdp_port_changed(struct sdp_sock *ssk)
{
	change(ssk, set_options);
}

/**
 * sdp_port_share() - a connection request gets its listener's port
 * @child: new socket
 * @parent: its listener, locked
 */
void sdp_port_share(struct sdp_sock *child, struct sdp_sock *parent)
{
	struct net *net = sock_net(&parent->sk);
	struct sdp_port_bucket *b = lock_bucket(net, parent->port_number);

	child->only_connects = true;
	set_key(&child->port_key, child, 0);
	enter(child, parent->port);
	done(net, b, NULL);
}

/**
 * sdp_port_release() - a socket gives its port back, if it has one
 * @ssk: socket
 */
void sdp_port_release(struct sdp_sock *ssk)
{
	struct net *net = sock_net(&ssk->sk);
	struct sdp_port_bucket *b;
	struct sdp_port *port;

	if (!READ_ONCE(ssk->port))
		return;
	b = lock_bucket(net, READ_ONCE(ssk->port_number));
	port = ssk->port;
	if (port) {
		leave(port, ssk);
		WRITE_ONCE(ssk->port, NULL);
		forget_use(ssk);
		if (RB_EMPTY_ROOT(&port->groups))
			hlist_del(&port->node);
		else
			port = NULL;
	}
	done(net, b, NULL);
	kfree(port);
}

/**
 * struct choice - the listener that fits a request best, of the groups visited
 * @in: the request
 * @head: a group of the best ones, or NULL
 * @fit: how well they fit
 * @sockets: how many there are
 */
struct choice {
	const struct sdp_incoming *in;
	struct sdp_sock *head;
	int fit;
	unsigned int sockets;
};

/*
 * Groups that fit equally well, which SO_REUSEPORT allows, are chosen by their
 * sizes.
 */
static void consider(struct choice *c, struct sdp_sock *head, int fit)
{
	if (fit < c->fit)
		return;
	if (fit > c->fit)
		c->sockets = 0;
	c->fit = fit;
	c->sockets += head->port_alikes;
	if (head->port_alikes == c->sockets ||
	    get_random_u32_below(c->sockets) < head->port_alikes)
		c->head = head;
}

/*
 * The groups with this kind and address; they are neighbours. Each is for
 * another processor.
 */
static void consider_address(struct sdp_port *port,
			     const struct sdp_port_key *key, int fit,
			     struct choice *c)
{
	struct sdp_sock *head = match(port, key, BY_ADDRESS);

	while (head && !memcmp(&head->port_key, key, BY_ADDRESS)) {
		port->steps++;
		consider(c, head,
			 fit + (head->port_key.cpu == raw_smp_processor_id()));
		head = rb_entry_safe(rb_next(&head->port_node), struct sdp_sock,
				     port_node);
	}
}

/*
 * How well a kind's address fits, if it does: its own one, a wildcard of the
 * family, any.
 */
static int fit_address(const struct sdp_port_key *key, bool v4)
{
	if (!(key->flags & (v4 ? KEY_V4 : KEY_V6)))
		return 0;
	if (!(key->flags & KEY_ANY))
		return 3;
	return key->flags & KEY_V6 ? 1 : 2;
}

/* After the address the device counts, and then the processor we are on. */
static void consider_kind(struct sdp_port *port,
			  const struct sdp_port_key *kind, struct choice *c)
{
	const struct sdp_endpoint *local = &c->in->local;
	int address = fit_address(kind, sdp_is_v4(local));
	int fit = 4 * address + (kind->ifindex ? 2 : 0);
	struct sdp_port_key key = *kind;

	if (!(kind->flags & KEY_LISTENS) || !address ||
	    (kind->ifindex && kind->ifindex != c->in->ifindex))
		return;
	if (!(kind->flags & KEY_ANY)) {
		key.ip = local->ip;
		key.scope = 0;
	}
	consider_address(port, &key, fit, c);
	if (!(kind->flags & KEY_ANY) && local->scope) {
		key.scope = local->scope;
		consider_address(port, &key, fit, c);
	}
}

static struct sdp_sock *choose(struct sdp_port *port,
			       const struct sdp_incoming *in)
{
	struct choice c = { .in = in };
	struct sdp_sock *head;

	for (head = first_kind(port); head; head = next_kind(port, head))
		consider_kind(port, &head->port_key, &c);
	return c.head;
}

/*
 * The one that is chosen has had its turn: the next one of its group is next.
 */
static struct sdp_sock *find_listener(struct sdp_port *port,
				      const struct sdp_incoming *in)
{
	struct sdp_sock *ssk;
	int looks = LOOKS;

	do {
		ssk = choose(port, in);
	} while (ssk && looks-- && was_stale(port, ssk));
	if (ssk)
		replace_head(port, ssk);
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
	struct sdp_port_bucket *b = lock_bucket(in->net, in->local.port);
	struct sdp_port *port = find(b, in->local.port);
	struct sdp_sock *ssk = port ? find_listener(port, in) : NULL;

	if (ssk)
		sock_hold(&ssk->sk);
	done(in->net, b, port);
	return ssk;
}
