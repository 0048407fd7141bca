// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: the sockets that own each port, conflicts, and sharing.
 *
 * Each namespace has a hash table of its ports with a lock per bucket, so
 * namespaces do not contend. A bucket has at most 64 ports, because the port
 * number modulo SDP_PORT_BUCKETS selects it.
 *
 * A port has many owners: sockets that are bound, listen or are connected, and
 * the children of listeners. There may be a hundred thousand of them, so
 * bind(), listen(), close() and a request must not walk them all. Sockets with
 * equal address, device, user and options (struct sdp_port_key) form a group.
 * The groups of a port are in a tree ordered by key. The key starts with what
 * decides whether two sockets may share a port (the kind); the address follows.
 * A check for conflicts visits one group of each kind and searches the groups
 * of this kind for one address.
 *
 * The sharing rules are TCP's. Sockets with overlapping addresses conflict,
 * unless both have SO_REUSEADDR and the older one does not listen, or both have
 * SO_REUSEPORT and the same user. Listeners that share an address by
 * SO_REUSEPORT take turns.
 *
 * The key is a copy of the socket's address and options. sdp_port_changed()
 * updates it when an option is set, but not all kernels call us for every
 * option. So before a conflict is reported, the keys of the sockets that cause
 * it are compared with their options. To bound the time, at most
 * STALE_CHECKS_MAX sockets are checked.
 *
 * SDP's ports are separate from TCP's. If the policy has made a socket, TCP has
 * chosen its port (@named_by_tcp), and the port need not be free here. No
 * request arrives for a socket that only connects. So two sockets do not
 * conflict if TCP has named one of them and one of them only connects.
 *
 * Lock: sdp_port_bucket.lock covers the ports in the bucket, and all members of
 * their sockets whose names start with port. No other lock is taken inside.
 */
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <net/ip.h>

#include "port.h"
#include "state.h"

/* Number of keys that one call may compare with their sockets' options. */
#define STALE_CHECKS_MAX	64

/* Bytes of a key to compare: the kind, the kind and the address, or all. */
#define BY_KIND		offsetof(struct sdp_port_key, ip)
#define BY_ADDRESS	offsetof(struct sdp_port_key, cpu)
#define BY_ALL		sizeof(struct sdp_port_key)

/* sdp_port_key.flags */
enum {
	KEY_V4		= BIT(0),	/* reached by IPv4 */
	KEY_V6		= BIT(1),	/* reached by IPv6 */
	KEY_ANY		= BIT(2),	/* the address is a wildcard */
	KEY_LISTENS	= BIT(3),
	KEY_REUSE	= BIT(4),
	KEY_REUSEPORT	= BIT(5),
	KEY_BY_TCP	= BIT(6),	/* sdp_sock.named_by_tcp */
	KEY_CONNECTS	= BIT(7),	/* sdp_sock.only_connects */
};

/**
 * struct sdp_port - a port that at least one socket owns
 * @node: in the bucket
 * @groups: tree of the first socket (head) of each group, ordered by key
 * @steps: number of sockets visited since the bucket was locked (PortSteps)
 * @number: port number in host byte order
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

/* Look up a port in its locked bucket, and reset its @steps. */
static struct sdp_port *port_find(const struct sdp_port_bucket *b, u16 number)
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

/*
 * Returns the head of the first group whose key is not below @key, or above
 * @key if @beyond is set. Compares the first @by bytes.
 */
static struct sdp_sock *group_search(struct sdp_port *port,
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

/* Returns the head of the first group that equals @key in @by bytes. */
static struct sdp_sock *group_match(struct sdp_port *port,
				    const struct sdp_port_key *key, size_t by)
{
	struct sdp_sock *head = group_search(port, key, by, false);

	return head && !memcmp(&head->port_key, key, by) ? head : NULL;
}

/* first_kind() and next_kind() visit the first group of each kind. */
static struct sdp_sock *first_kind(const struct sdp_port *port)
{
	return rb_entry_safe(rb_first(&port->groups), struct sdp_sock,
			     port_node);
}

static struct sdp_sock *next_kind(struct sdp_port *port,
				  const struct sdp_sock *head)
{
	return group_search(port, &head->port_key, BY_KIND, true);
}

/* Add a socket to the group of its key, which the caller has set. */
static void group_join(struct sdp_port *port, struct sdp_sock *ssk)
{
	struct rb_node **link = &port->groups.rb_node, *parent = NULL;
	struct sdp_sock *head;
	int order;

	INIT_LIST_HEAD(&ssk->port_group);
	ssk->port_group_size = 1;
	while (*link) {
		parent = *link;
		head = rb_entry(parent, struct sdp_sock, port_node);
		order = memcmp(&ssk->port_key, &head->port_key, BY_ALL);
		if (!order) {
			list_add_tail(&ssk->port_group, &head->port_group);
			head->port_group_size++;
			return;
		}
		link = order < 0 ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&ssk->port_node, parent, link);
	rb_insert_color(&ssk->port_node, &port->groups);
}

/* Make the next socket of a group its head, if there is one. */
static void replace_head(struct sdp_port *port, struct sdp_sock *head)
{
	struct sdp_sock *next = list_next_entry(head, port_group);

	if (next == head)
		return;
	next->port_group_size = head->port_group_size;
	rb_replace_node(&head->port_node, &next->port_node, &port->groups);
}

/* Remove a socket from its group. An empty group is removed from the tree. */
static void group_leave(struct sdp_port *port, struct sdp_sock *ssk)
{
	struct sdp_sock *head = group_match(port, &ssk->port_key, BY_ALL);

	head->port_group_size--;
	if (head == ssk) {
		if (list_empty(&ssk->port_group))
			rb_erase(&ssk->port_node, &port->groups);
		else
			replace_head(port, ssk);
	}
	list_del(&ssk->port_group);
}

/* Fill in the part of a key that the application may change at any time. */
static void port_key_set_options(struct sdp_port_key *key,
				 const struct sdp_sock *ssk)
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

/* Fill in a key. @listens: KEY_LISTENS or 0. */
static void port_key_fill(struct sdp_port_key *key, const struct sdp_sock *ssk,
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
	/* Without IPV6_V6ONLY the IPv6 wildcard accepts IPv4 as well. */
	if (sdp_is_v4(&ssk->local) || (any && !ssk->sk.sk_ipv6only))
		key->flags |= KEY_V4;
	if (ssk->named_by_tcp)
		key->flags |= KEY_BY_TCP;
	if (ssk->only_connects)
		key->flags |= KEY_CONNECTS;
	port_key_set_options(key, ssk);
}

/* Give a socket of the port another key, and move it to that key's group. */
static void change_key(struct sdp_port *port, struct sdp_sock *ssk,
		       const struct sdp_port_key *key)
{
	if (!memcmp(&ssk->port_key, key, BY_ALL))
		return;
	group_leave(port, ssk);
	ssk->port_key = *key;
	group_join(port, ssk);
}

/* Update a socket's key. Returns whether it differed from the options. */
static bool key_was_stale(struct sdp_port *port, struct sdp_sock *ssk)
{
	struct sdp_port_key key = ssk->port_key;

	port_key_set_options(&key, ssk);
	if (!memcmp(&ssk->port_key, &key, BY_ALL))
		return false;
	change_key(port, ssk, &key);
	return true;
}

/*
 * Update the first stale key in a group, which moves that socket to another
 * group. @looks is the number of sockets that may still be checked. Returns
 * false if all that were checked are up to date.
 */
static bool group_was_stale(struct sdp_port *port, struct sdp_sock *head,
			    int *looks)
{
	struct sdp_sock *ssk = head;

	do {
		if (--*looks < 0)
			return false;
		port->steps++;
		if (key_was_stale(port, ssk))
			return true;
		ssk = list_next_entry(ssk, port_group);
	} while (ssk != head);
	return false;
}

/* Can both sockets get requests from the same device? */
static bool devices_overlap(const struct sdp_port_key *a,
			    const struct sdp_port_key *b)
{
	return !a->ifindex || !b->ifindex || a->ifindex == b->ifindex;
}

/* Do the options let @key share the port with @other, which owns it already? */
static bool keys_may_share(const struct sdp_port_key *other,
			   const struct sdp_port_key *key)
{
	u32 both = other->flags & key->flags;

	if ((both & KEY_REUSE) && !(other->flags & KEY_LISTENS))
		return true;
	return (both & KEY_REUSEPORT) && uid_eq(other->uid, key->uid);
}

/*
 * Has TCP named one of the sockets, and does one of them only connect? No
 * request arrives for a socket that only connects, so they do not conflict.
 */
static bool tcp_named_and_connects(const struct sdp_port_key *other,
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
	       devices_overlap(other, key) && !keys_may_share(other, key) &&
	       !tcp_named_and_connects(other, key);
}

/*
 * Returns the head of a group that conflicts with @key, or NULL. A wildcard
 * overlaps with every address of its family.
 */
static struct sdp_sock *find_conflict(struct sdp_port *port,
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
		same = group_match(port, &wanted, BY_ADDRESS);
		if (same)
			return same;
	}
	return NULL;
}

/* Would a socket with @key conflict with an owner of the port? */
static bool port_conflicts(struct sdp_port *port,
			   const struct sdp_port_key *key)
{
	struct sdp_sock *head;
	int looks = STALE_CHECKS_MAX;

	do {
		head = find_conflict(port, key);
	} while (head && group_was_stale(port, head, &looks));
	return head;
}

static void port_forget_use(struct sdp_sock *ssk)
{
	ssk->named_by_tcp = false;
	ssk->only_connects = false;
}

/* Make a socket an owner of the port. Its key is set, the bucket locked. */
static void port_enter(struct sdp_sock *ssk, struct sdp_port *port)
{
	group_join(port, ssk);
	WRITE_ONCE(ssk->port_number, port->number);
	WRITE_ONCE(ssk->port, port);
	/*
	 * A single store, because others read the number without the bucket's
	 * lock: they see the old one or this one.
	 */
	WRITE_ONCE(ssk->local.port, port->number);
}

/* Unlock a bucket and add the steps of @port, if not NULL, to the counter. */
static void unlock_bucket(struct net *net, struct sdp_port_bucket *b,
			  const struct sdp_port *port)
{
	unsigned int steps = port ? port->steps : 0;

	spin_unlock_bh(&b->lock);
	SDP_ADD(net, PortSteps, steps);
}

/*
 * Give port @number to a socket. With @alone the port must have no owner. If it
 * has none, @fresh becomes the new port and is set to NULL.
 */
static int port_take(struct sdp_sock *ssk, u16 number, bool alone,
		     struct sdp_port **fresh)
{
	struct net *net = sock_net(&ssk->sk);
	struct sdp_port_bucket *b = lock_bucket(net, number);
	struct sdp_port *port = port_find(b, number);
	int err = 0;

	port_key_fill(&ssk->port_key, ssk, 0);
	if (port && alone) {
		port->steps++;
		err = -EADDRINUSE;
	} else if (port && port_conflicts(port, &ssk->port_key)) {
		err = -EADDRINUSE;
	} else {
		if (!port) {
			port = *fresh;
			*fresh = NULL;
			port->number = number;
			hlist_add_head(&port->node, &b->ports);
		}
		port_enter(ssk, port);
	}
	unlock_bucket(net, b, port);
	return err;
}

/* Give a socket a port of the ephemeral range that has no owner. */
static int port_take_any(struct sdp_sock *ssk, struct sdp_port **fresh)
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
		    !port_take(ssk, number, true, fresh))
			return 0;
	}
	return -EADDRINUSE;
}

/**
 * sdp_port_bind() - give a port to a socket
 * @ssk: socket without a port, not locked; its local address is set
 * @number: port number, or 0 for a free port of the ephemeral range that is not
 *	reserved
 *
 * The caller sets @named_by_tcp and @only_connects of the socket before. This
 * clears them if it fails, and so does sdp_port_release(). May sleep.
 *
 * Return: 0, -EADDRINUSE or -ENOBUFS.
 */
int sdp_port_bind(struct sdp_sock *ssk, u16 number)
{
	struct sdp_port *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	int err = -ENOBUFS;

	if (fresh && number)
		err = port_take(ssk, number, false, &fresh);
	else if (fresh)
		err = port_take_any(ssk, &fresh);
	if (err)
		port_forget_use(ssk);
	kfree(fresh);
	return err;
}

/**
 * sdp_port_listen() - turn a bound socket into a listener
 * @ssk: socket with a port, under lock_sock()
 *
 * Sets the state to TCP_LISTEN under the bucket's lock.
 *
 * Return: 0, or -EADDRINUSE if another owner of the port forbids it.
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
	port_key_fill(&key, ssk, KEY_LISTENS);
	/* Take the socket out, because it does not conflict with itself. */
	group_leave(port, ssk);
	if (port_conflicts(port, &key)) {
		ssk->only_connects = only_connects;
		err = -EADDRINUSE;
	} else {
		ssk->port_key = key;
		sdp_set_state(ssk, TCP_LISTEN);
	}
	group_join(port, ssk);
	unlock_bucket(net, b, port);
	return err;
}

/* Changes a copy of a socket's key; called under the bucket's lock. */
typedef void (*port_key_setter)(struct sdp_port_key *key,
				const struct sdp_sock *ssk);

/* Change a socket's key by @set, if the socket has a port. */
static void port_update_key(struct sdp_sock *ssk, port_key_setter set)
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
	unlock_bucket(net, b, port);
}

static void port_key_stop_listening(struct sdp_port_key *key,
				    const struct sdp_sock *ssk)
{
	key->flags &= ~KEY_LISTENS;
	key->cpu = -1;
}

/**
 * sdp_port_unlisten() - requests find the listener no longer
 * @ssk: listener; it keeps its port
 */
void sdp_port_unlisten(struct sdp_sock *ssk)
{
	port_update_key(ssk, port_key_stop_listening);
}

static void port_key_set_address(struct sdp_port_key *key,
				 const struct sdp_sock *ssk)
{
	port_key_fill(key, ssk, key->flags & KEY_LISTENS);
}

/**
 * sdp_port_moved() - update the key after a change of the socket's own address
 * @ssk: socket, locked; it need not have a port
 *
 * A connect changes the address from the wildcard to that of the path.
 */
void sdp_port_moved(struct sdp_sock *ssk)
{
	port_update_key(ssk, port_key_set_address);
}

/**
 * sdp_port_changed() - update the key after a change of a socket option
 * @ssk: socket; it need not have a port
 *
 * The options are SO_REUSEADDR, SO_REUSEPORT, SO_BINDTODEVICE and
 * SO_INCOMING_CPU.
 */
void sdp_port_changed(struct sdp_sock *ssk)
{
	port_update_key(ssk, port_key_set_options);
}

/**
 * sdp_port_share() - give a child socket its listener's port
 * @child: new socket without a port
 * @parent: its listener, locked
 */
void sdp_port_share(struct sdp_sock *child, struct sdp_sock *parent)
{
	struct net *net = sock_net(&parent->sk);
	struct sdp_port_bucket *b = lock_bucket(net, parent->port_number);

	child->only_connects = true;
	port_key_fill(&child->port_key, child, 0);
	port_enter(child, parent->port);
	unlock_bucket(net, b, NULL);
}

/**
 * sdp_port_release() - release a socket's port, if it has one
 * @ssk: socket; @port_number and the number in @local stay
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
		group_leave(port, ssk);
		WRITE_ONCE(ssk->port, NULL);
		port_forget_use(ssk);
		if (RB_EMPTY_ROOT(&port->groups))
			hlist_del(&port->node);
		else
			port = NULL;
	}
	unlock_bucket(net, b, NULL);
	kfree(port);
}

/**
 * struct listener_choice - best listeners for a request among those visited
 * @in: the request
 * @head: head of the chosen group, or NULL
 * @fit: how well the listeners of this group fit; higher is better, 0 if none
 * @sockets: number of listeners that fit as well
 */
struct listener_choice {
	const struct sdp_incoming *in;
	struct sdp_sock *head;
	int fit;
	unsigned int sockets;
};

/*
 * Choose @head if its group fits better than those before. SO_REUSEPORT allows
 * several groups that fit equally well. Of these, each is chosen with a
 * probability that is proportional to its number of sockets.
 */
static void choice_add(struct listener_choice *c, struct sdp_sock *head,
		       int fit)
{
	if (fit < c->fit)
		return;
	if (fit > c->fit)
		c->sockets = 0;
	c->fit = fit;
	c->sockets += head->port_group_size;
	if (head->port_group_size == c->sockets ||
	    get_random_u32_below(c->sockets) < head->port_group_size)
		c->head = head;
}

/*
 * Consider the groups with the kind and address of @key. They are neighbours in
 * the tree, and each has another CPU (SO_INCOMING_CPU).
 */
static void choice_add_address(struct sdp_port *port,
			       const struct sdp_port_key *key, int fit,
			       struct listener_choice *c)
{
	struct sdp_sock *head = group_match(port, key, BY_ADDRESS);

	while (head && !memcmp(&head->port_key, key, BY_ADDRESS)) {
		port->steps++;
		choice_add(c, head, fit + (head->port_key.cpu ==
					   raw_smp_processor_id()));
		head = rb_entry_safe(rb_next(&head->port_node), struct sdp_sock,
				     port_node);
	}
}

/*
 * Returns how well a kind's address fits a request: 3 for an address of its
 * own, 2 for the IPv4 wildcard, 1 for the IPv6 wildcard, and 0 if it does not
 * fit.
 */
static int address_fit(const struct sdp_port_key *key, bool v4)
{
	if (!(key->flags & (v4 ? KEY_V4 : KEY_V6)))
		return 0;
	if (!(key->flags & KEY_ANY))
		return 3;
	return key->flags & KEY_V6 ? 1 : 2;
}

/* The address counts most, then a matching device, then the current CPU. */
static void choice_add_kind(struct sdp_port *port,
			    const struct sdp_port_key *kind,
			    struct listener_choice *c)
{
	const struct sdp_endpoint *local = &c->in->local;
	int address = address_fit(kind, sdp_is_v4(local));
	int fit = 4 * address + (kind->ifindex ? 2 : 0);
	struct sdp_port_key key = *kind;

	if (!(kind->flags & KEY_LISTENS) || !address ||
	    (kind->ifindex && kind->ifindex != c->in->ifindex))
		return;
	if (!(kind->flags & KEY_ANY)) {
		key.ip = local->ip;
		key.scope = 0;
	}
	choice_add_address(port, &key, fit, c);
	if (!(kind->flags & KEY_ANY) && local->scope) {
		key.scope = local->scope;
		choice_add_address(port, &key, fit, c);
	}
}

static struct sdp_sock *choose_listener(struct sdp_port *port,
					const struct sdp_incoming *in)
{
	struct listener_choice c = { .in = in };
	struct sdp_sock *head;

	for (head = first_kind(port); head; head = next_kind(port, head))
		choice_add_kind(port, &head->port_key, &c);
	return c.head;
}

/*
 * Returns the listener for a request, or NULL. Its group gets another head, so
 * that the listeners of the group take turns.
 */
static struct sdp_sock *find_listener(struct sdp_port *port,
				      const struct sdp_incoming *in)
{
	struct sdp_sock *ssk;
	int looks = STALE_CHECKS_MAX;

	do {
		ssk = choose_listener(port, in);
	} while (ssk && looks-- && key_was_stale(port, ssk));
	if (ssk)
		replace_head(port, ssk);
	return ssk;
}

/**
 * sdp_port_find_listener() - find the listener for a connection request
 * @in: request
 *
 * Return: the best matching listener with a reference, or NULL.
 */
struct sdp_sock *sdp_port_find_listener(const struct sdp_incoming *in)
{
	struct sdp_port_bucket *b = lock_bucket(in->net, in->local.port);
	struct sdp_port *port = port_find(b, in->local.port);
	struct sdp_sock *ssk = port ? find_listener(port, in) : NULL;

	if (ssk)
		sock_hold(&ssk->sk);
	unlock_bucket(in->net, b, port);
	return ssk;
}

/**
 * sdp_addr_set() - set the local or peer address of a socket
 * @ssk: socket, not locked; lock_sock() excludes other callers
 * @end: the socket's @local or @peer
 * @e: new value
 *
 * Takes the socket's lock, under which others read the address.
 */
void sdp_addr_set(struct sdp_sock *ssk, struct sdp_endpoint *end,
		  const struct sdp_endpoint *e)
{
	sdp_conn_lock(ssk);
	*end = *e;
	spin_unlock_bh(&ssk->lock);
}
