// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: one more rail: announced, connected, accepted.
 *
 * When a connection has moved some data, the accepting side announces the
 * addresses at which it has RDMA devices. The connecting side pairs them with
 * its own: the route from its address to the peer's has to leave by the
 * interface that has the address. It connects one rail for each pair, at port
 * 0, with the connection's number and token in the Hello. A pair that fails,
 * and a rail that has died, is tried again after a while.
 *
 * Bundles of the accepting side are in a table. Port 0 is listened on while any
 * socket listens, or any such bundle exists.
 */
#include <linux/hashtable.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "../../base/netns.h"
#include "../../base/trace.h"
#include "rails.h"

const struct sdp_link_events *sdp_rails_owner;

static DEFINE_HASHTABLE(bundles, 8);
static DEFINE_SPINLOCK(bundles_lock);
/*
 * Number of sockets and bundles for which port 0 is listened on. The handler of
 * a request only raises it, and takes no mutex: the end of its listener waits
 * for the handler, with the mutex of the devices.
 */
static refcount_t listens = REFCOUNT_INIT(0);
static DEFINE_MUTEX(listens_lock);
static bool port0_open;

static void port0_get(struct net *net)
{
	mutex_lock(&listens_lock);
	if (!refcount_inc_not_zero(&listens)) {
		/* If it cannot be had, connections have a single rail. */
		port0_open = !sdp_rc.listen(net, 0);
		refcount_set(&listens, 1);
	}
	mutex_unlock(&listens_lock);
}

static void port0_put(struct net *net)
{
	if (!refcount_dec_and_mutex_lock(&listens, &listens_lock))
		return;
	if (port0_open)
		sdp_rc.unlisten(net, 0);
	mutex_unlock(&listens_lock);
}

/**
 * rails_listen() - accept requests for a port, and rails of their connections
 * @net: network namespace
 * @port: port number
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int rails_listen(struct net *net, u16 port)
{
	int err = sdp_rc.listen(net, port);

	if (!err)
		port0_get(net);
	return err;
}

/**
 * rails_unlisten() - undo one call of rails_listen()
 * @net: network namespace
 * @port: port number
 *
 * May sleep.
 */
void rails_unlisten(struct net *net, u16 port)
{
	port0_put(net);
	sdp_rc.unlisten(net, port);
}

/* A second rail is about to join. Returns false if that is not possible now. */
static bool become_many(struct rails *b)
{
	struct rails_many *m;

	if (b->many)
		return true;
	if (b->unreported)
		return false;
	m = kzalloc(sizeof(*m), GFP_ATOMIC | __GFP_NOWARN);
	if (!m)
		return false;
	sdp_rails_start(&m->state, b->rx_seq, SDP_ORDER_WINDOW_MAX);
	sdp_rails_join(&m->state, 0, b->config.send_slots);
	if (b->datagrams)
		sdp_rails_reserve(&m->state, 0);
	__skb_queue_head_init(&m->unsent);
	m->looked_at = jiffies;
	b->many = m;
	rails_tell_number(b);
	WRITE_ONCE(b->link.many, true);
	if (b->rail[0])
		rails_fill(b->rail[0]);
	/* At once, whether the other one joins or not: messages wait for it. */
	rails_tx_begin(b);
	return true;
}

/* May one more rail join now? The receives must all have the same size. */
static bool may_join(const struct rails *b)
{
	return !b->released && !b->error && !b->alone && !b->small &&
	       !rails_copied(b) && rails_count(b) < b->most;
}

/* Is it possible that the peer is about to ask for larger receives? */
static bool may_grow(const struct rails *b)
{
	return b->config.recv_size_max &&
	       (b->small || b->size == b->config.recv_size);
}

/**
 * rails_join_count() - ask for other rails when enough data has moved
 * @b: bundle with one rail; under its lock
 * @bytes: bytes that a message moves
 */
void rails_join_count(struct rails *b, u32 bytes)
{
	rails_auto_count(b, bytes);
	b->moved = min_t(u64, (u64)b->moved + bytes, U32_MAX);
	if (b->asked || b->connects || b->most < 2 || b->moved < RAILS_AFTER)
		return;
	if (!b->ripe)
		b->ripe = jiffies | 1;
	if (may_grow(b) && b->moved < RAILS_AFTER_SMALL &&
	    time_before(jiffies, b->ripe + RAILS_GROWTH))
		return;
	b->asked = true;
	rails_queue(b, &b->join, 0);
}

static bool is_v4(const struct in6_addr *ip)
{
	return ipv6_addr_v4mapped(ip);
}

/**
 * rails_join_soon() - announce, or try to join, after this time at the latest
 * @b: bundle; under its lock
 * @delay: time until then
 */
void rails_join_soon(struct rails *b, unsigned long delay)
{
	if (delayed_work_pending(&b->join) &&
	    time_before(b->join.timer.expires, jiffies + delay))
		return;
	refcount_inc(&b->refs);
	if (mod_delayed_work(rails_wq, &b->join, delay))
		rails_put(b);
}

static bool same_addrs(const struct rails *b, const struct sdp_rail_msg *msg)
{
	return b->n_addrs == msg->n &&
	       !memcmp(b->addrs, msg->addrs, msg->n * sizeof(b->addrs[0]));
}

static void store_addrs(struct rails *b, const struct sdp_rail_msg *msg)
{
	b->n_addrs = msg->n;
	memcpy(b->addrs, msg->addrs, msg->n * sizeof(b->addrs[0]));
}

static bool has_addr(const struct sdp_rail_msg *msg, const u8 ip[16])
{
	u32 i;

	for (i = 0; i < msg->n; i++)
		if (!memcmp(msg->addrs[i], ip, sizeof(msg->addrs[i])))
			return true;
	return false;
}

/*
 * Add the addresses that were announced before and are not any more. If the
 * rails fail before the peer can announce them again, they may be the way back.
 */
static void keep_addrs(const struct rails *b, struct sdp_rail_msg *msg)
{
	u32 i;

	for (i = 0; i < b->n_addrs && msg->n < SDP_RAIL_ADDRS_MAX; i++)
		if (!has_addr(msg, b->addrs[i].s6_addr))
			memcpy(msg->addrs[msg->n++], &b->addrs[i],
			       sizeof(b->addrs[i]));
}

/* The next attempt comes later each time. */
static void retry_later(struct rails *b)
{
	rails_queue(b, &b->join, b->retry);
	b->retry = min_t(unsigned long, 2 * b->retry, RAILS_RETRY_LAST);
}

/* Accepting side: tell the peer of our addresses, unless it knows them. */
static void announce(struct rails *b)
{
	struct sdp_rail_msg msg = { .mid = SDP_MID_RAIL_ADDRS };
	struct sdp_rc_address list[RAILS_ADDRESSES];
	u32 i, n, most;

	n = sdp_rc_addresses(b->net, list, ARRAY_SIZE(list));
	spin_lock_bh(&b->lock);
	most = sdp_rail_addrs_most(b->peer_size);
	for (i = 0; i < n && msg.n < most; i++) {
		if (is_v4(&list[i].ip) == sdp_is_v4(&b->local))
			memcpy(msg.addrs[msg.n++], &list[i].ip, 16);
	}
	if (b->released || (msg.n && same_addrs(b, &msg)))
		;
	else if (msg.n && rails_tx_note(b, NULL, &msg))
		store_addrs(b, &msg);
	else
		retry_later(b);
	/* An address may be usable only some time after the event. */
	if (b->looks && !b->released)
		rails_queue(b, &b->join, b->looks-- > 1 ? HZ : 4 * HZ);
	spin_unlock_bh(&b->lock);
}

/**
 * rails_join_addrs() - the peer has announced its addresses
 * @b: bundle; under its lock
 * @msg: RailAddrs; changed
 */
void rails_join_addrs(struct rails *b, struct sdp_rail_msg *msg)
{
	unsigned long delay;

	if (!b->connects || b->alone || b->released || !msg->n)
		return;
	keep_addrs(b, msg);
	if (same_addrs(b, msg))
		return;
	/*
	 * The first ones at once, others a little later: a peer that invents
	 * addresses does not keep us busy. The work item may run before this
	 * function returns, so it is queued last.
	 */
	delay = b->n_addrs ? RAILS_RETRY / 2 : 0;
	store_addrs(b, msg);
	rails_join_soon(b, delay);
}

/* Rails that are there, or on their way, by the addresses that they use. */
struct pairs {
	struct {
		struct in6_addr local;
		struct in6_addr peer;
	} used[SDP_RAILS_MAX];
	u32 n;
};

static void pairs_add(struct pairs *p, const struct in6_addr *local,
		      const struct in6_addr *peer)
{
	p->used[p->n].local = *local;
	p->used[p->n++].peer = *peer;
}

/* In either role: the other end may be on this host, with the same devices. */
static bool pairs_use(const struct pairs *p, const struct in6_addr *ip)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (ipv6_addr_equal(&p->used[i].local, ip) ||
		    ipv6_addr_equal(&p->used[i].peer, ip))
			return true;
	return false;
}

/* A number that no rail has: from 1 on, because 0 is the first rail's. */
static u8 free_number(const struct rails *b)
{
	u8 number = 1;

	while (number < SDP_RAILS_MAX && b->rail[number])
		number++;
	return number;
}

/* Connect one rail. Returns false if it may not join now, or without memory. */
static bool connect_rail(struct rails *b, const struct sdp_endpoint *local,
			 const struct sdp_endpoint *peer)
{
	struct sdp_path_wish wish = { .timeout_ms = RAILS_RESOLVE_MS };
	struct sdp_link *link = sdp_rc.create(b->net, local, peer);
	struct rail *rail = NULL;
	u8 number;

	if (!link)
		return false;
	link->up = &rails_up;
	spin_lock_bh(&b->lock);
	number = free_number(b);
	if (may_join(b) && number < SDP_RAILS_MAX && become_many(b))
		rail = rails_attach(b, link, number);
	if (rail) {
		rail->local = *local;
		rail->peer = *peer;
		rail->since = jiffies;
		rail->attempt = ++b->attempts;
		b->rail[number] = rail;
		sdp_rc.connect(link, &wish);
	}
	spin_unlock_bh(&b->lock);
	if (!rail)
		sdp_rc.release(link, true);
	return rail;
}

/* Give up rails that have been on their way for too long. */
static void expire_joins(struct rails *b)
{
	u32 i;

	for (i = 1; i < SDP_RAILS_MAX; i++) {
		struct rail *rail = b->rail[i];

		if (rail && !rail->up &&
		    time_after(jiffies, rail->since + RAILS_JOIN))
			rails_kill(rail);
	}
}

/**
 * rails_joins_left() - could a rail still join, or is one on its way?
 * @b: bundle; under its lock
 *
 * Return: true if so.
 */
bool rails_joins_left(const struct rails *b)
{
	/* Datagrams that have failed are not joined again. */
	u32 gone = b->datagrams && !b->rail[0];

	return rails_count_up(b) + gone < b->most;
}

/*
 * What connect_rails() knows: what the peer has announced, the pairs in use,
 * and our own addresses.
 */
struct join_plan {
	struct in6_addr addrs[SDP_RAIL_ADDRS_MAX];
	u32 n_addrs;
	struct pairs pairs;
	struct sdp_rc_address own[RAILS_ADDRESSES];
};

static void plan_join(struct rails *b, struct join_plan *p)
{
	u32 i;

	spin_lock_bh(&b->lock);
	expire_joins(b);
	memcpy(p->addrs, b->addrs, sizeof(p->addrs));
	p->n_addrs = b->n_addrs;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		/* Datagrams leave their addresses to a rail. */
		if (b->rail[i] && (i || !b->datagrams))
			pairs_add(&p->pairs, &b->rail[i]->local.ip,
				  &b->rail[i]->peer.ip);
	}
	spin_unlock_bh(&b->lock);
}

/*
 * Connect a rail from this address of ours to the first that it leads to. On
 * one host each side has the addresses of the other one: not to itself.
 */
static void connect_from(struct rails *b, struct join_plan *p,
			 const struct sdp_rc_address *own)
{
	struct sdp_endpoint local = { .ip = own->ip }, peer = { };
	u32 i;

	for (i = 0; i < p->n_addrs; i++) {
		peer.ip = p->addrs[i];
		if (is_v4(&peer.ip) != is_v4(&local.ip) ||
		    ipv6_addr_equal(&peer.ip, &local.ip) ||
		    pairs_use(&p->pairs, &peer.ip) ||
		    !sdp_rc_leads_by(b->net, &local, &peer, own->ifindex))
			continue;
		if (connect_rail(b, &local, &peer))
			pairs_add(&p->pairs, &local.ip, &peer.ip);
		return;
	}
}

/*
 * Connecting side: one rail for each pair of addresses that is not in use.
 * Before the peer has announced any, none is.
 */
static void connect_rails(struct rails *b)
{
	struct join_plan *p = kzalloc(sizeof(*p), GFP_KERNEL | __GFP_NOWARN);
	u32 i, n = 0;

	if (p) {
		plan_join(b, p);
		n = sdp_rc_addresses(b->net, p->own, ARRAY_SIZE(p->own));
	}
	for (i = 0; i < n && p->pairs.n + b->datagrams < b->most; i++) {
		if (is_v4(&p->own[i].ip) == sdp_is_v4(&b->local) &&
		    !pairs_use(&p->pairs, &p->own[i].ip))
			connect_from(b, p, &p->own[i]);
	}
	kfree(p);
	/* Again, also for those that are on their way now. */
	spin_lock_bh(&b->lock);
	if (!b->released && b->cut_off)
		rails_join_soon(b, RAILS_RETRY_CUT_OFF);
	else if (!b->released && rails_joins_left(b))
		retry_later(b);
	spin_unlock_bh(&b->lock);
}

/**
 * rails_join_work() - work item: announce addresses, or join rails
 * @work: struct rails.join; it has a reference to the bundle
 */
void rails_join_work(struct work_struct *work)
{
	struct rails *b = container_of(to_delayed_work(work), struct rails,
				       join);
	unsigned long wait = b->connects ? rails_settle_wait() : 0;

	if (READ_ONCE(b->released))
		;
	else if (wait)
		rails_queue(b, &b->join, wait);
	else if (!b->connects)
		announce(b);
	else if (rails_auto_wants(b))
		connect_rails(b);
	rails_put(b);
}

/* Prepare the link of a new rail. May sleep. Returns 0 or an errno. */
static int prepare_rail(struct rail *rail)
{
	struct rails *b = rail->all;
	struct sdp_link_config config = b->config;
	int err = rails_prepare_link(rail->link, &config);

	if (err)
		return err;
	/* Its device can do less than that of the first rail. */
	if (config.tx_frags < b->config.tx_frags ||
	    config.send_slots < b->config.send_slots ||
	    config.recv_max < b->config.recv_max ||
	    (!config.recv_size_max && b->size > config.recv_size))
		return -EOPNOTSUPP;
	return 0;
}

/*
 * Post the receives of a new rail; under the lock. Returns 0, or an errno if it
 * cannot join after all.
 */
static int first_receives(struct rail *rail)
{
	struct rails *b = rail->all;

	if (rail->leaving || b->released)
		return -ECONNABORTED;
	rail->prepared = true;
	rails_fill(rail);
	return rail->posted < b->granted ? -ENOBUFS : 0;
}

/**
 * rails_join_hello() - the path of a rail is known: build its Hello
 * @rail: the rail
 * @local: our address on the path
 * @buf: receives the Hello
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int rails_join_hello(struct rail *rail, const struct sdp_endpoint *local,
		     u8 buf[SDP_HELLO_LEN])
{
	struct rails *b = rail->all;
	struct sdp_hello hello = {
		.version = SDP_VERSION,
		.max_adverts = 1,
		.bufs = SDP_HELLO_BUFS_MIN,
		.recv_size = b->size,
		.wanted_recv_size = b->size,
		.port = b->local.port ?: 1,
		.ip_version = sdp_is_v4(local) ? 4 : 6,
		.rails = {
			.join = true, .rail = rail->number,
			.attempt = rail->attempt, .id = b->id,
		},
	};
	int err = prepare_rail(rail);

	if (err)
		return err;
	spin_lock_bh(&b->lock);
	err = first_receives(rail);
	spin_unlock_bh(&b->lock);
	if (err)
		return err;
	memcpy(hello.rails.token, b->token, SDP_RAIL_TOKEN);
	sdp_ip_to_wire(hello.src, local);
	sdp_ip_to_wire(hello.dst, &rail->peer);
	sdp_hello_build(buf, &hello);
	return 0;
}

/**
 * rails_join_up() - a rail is connected
 * @rail: the rail
 */
void rails_join_up(struct rail *rail)
{
	struct rails *b = rail->all;
	bool probing = false;

	spin_lock_bh(&b->lock);
	if (!rail->up && !rail->leaving) {
		rail->up = true;
		rails_tell_number(b);
		b->up_at[rail->number] = rail->peer.ip;
		/* It is a sign of life. */
		probing = b->probing;
		b->probing = false;
		/* By this join the peer knows that the old rail is dead. */
		b->many->gone &= ~BIT(rail->number);
		SDP_INC(b->net, RailsJoined);
		trace_sdp_rail_join(b->local.port, b->peer.port, rail->number);
		b->retry = RAILS_RETRY;
		b->cut_off = 0;
		b->refused = 0;
		/* What we have announced may have been lost with a rail. */
		if (!b->connects && b->lost && !b->released) {
			b->n_addrs = 0;
			b->looks = 2;
			rails_join_soon(b, RAILS_RETRY);
		}
		sdp_rails_join(&b->many->state, rail->number,
			       b->config.send_slots);
		rails_tx_begin(b);
		rails_tx_pump(b);
	}
	spin_unlock_bh(&b->lock);
	if (probing)
		b->link.up->alive(&b->link);
}

/* Find the bundle of a join, with a reference; NULL if there is none. */
static struct rails *find_bundle(const struct sdp_incoming *in)
{
	const struct sdp_hello_rails *r = &in->hello.rails;
	struct rails *b, *found = NULL;

	spin_lock_bh(&bundles_lock);
	hash_for_each_possible(bundles, b, node, r->id) {
		if (b->id == r->id && b->net == in->net &&
		    sdp_rail_token_equal(b->token, r->token) &&
		    refcount_inc_not_zero(&b->refs)) {
			found = b;
			break;
		}
	}
	spin_unlock_bh(&bundles_lock);
	return found;
}

/* A rail joins in the place of another one. */
static void replace(struct rail *old)
{
	old->replaced = true;
	if (old->up)
		rails_give_up(old, ECONNRESET, "rail joins anew", RAILS_JOIN);
	else
		rails_kill(old);
}

/*
 * Reserve the number of a join. Returns 0 or an errno. The peer chooses the
 * number, so it knows that a rail which has it is dead, even if we do not.
 */
static int reserve_number(struct rails *b, u8 number)
{
	int err = -ECONNREFUSED;
	struct rail *old;

	spin_lock_bh(&b->lock);
	if (!number || number >= SDP_RAILS_MAX || b->connects)
		goto out;
	/* The first rail has to take the marker (tx.c). */
	err = -EAGAIN;
	if (b->rail[0] && !b->rail[0]->up)
		goto out;
	old = b->rail[number];
	if (old)
		replace(old);
	if (b->rail[number] || b->joining & BIT(number) || !may_join(b) ||
	    !become_many(b))
		goto out;
	b->joining |= BIT(number);
	err = 0;
out:
	spin_unlock_bh(&b->lock);
	return err;
}

/* Make a rail of the link of a join. May sleep. Returns 0 or an errno. */
static int accept_rail(struct rails *b, struct sdp_link *link,
		       const struct sdp_incoming *in)
{
	u8 number = in->hello.rails.rail;
	struct rail *rail;
	int err;

	rail = rails_attach(b, link, number);
	if (!rail)
		return -ENOMEM;
	rail->local = in->local;
	rail->peer = in->peer;
	rail->attempt = in->hello.rails.attempt;
	err = sdp_rail_device_wanted(b->net, sdp_rc.device(link) ?: "") ?
		      prepare_rail(rail) : -EOPNOTSUPP;
	spin_lock_bh(&b->lock);
	if (!err)
		err = first_receives(rail);
	if (!err)
		b->rail[number] = rail;
	spin_unlock_bh(&b->lock);
	if (err)
		rails_detach(rail);
	return err;
}

static void answer_join(const struct rails *b, u8 buf[SDP_HELLO_ACK_LEN])
{
	struct sdp_hello ack = {
		.version = SDP_VERSION,
		.max_adverts = 1,
		.bufs = SDP_HELLO_BUFS_MIN,
		.recv_size = b->size,
	};

	sdp_hello_ack_build(buf, &ack);
}

static int incoming_join(struct sdp_link *link, struct sdp_incoming *in)
{
	struct rails *b = find_bundle(in);
	int err;

	if (!b)
		return -ECONNREFUSED;
	err = reserve_number(b, in->hello.rails.rail);
	if (!err) {
		err = accept_rail(b, link, in);
		spin_lock_bh(&b->lock);
		b->joining &= ~BIT(in->hello.rails.rail);
		spin_unlock_bh(&b->lock);
	}
	if (!err)
		answer_join(b, in->ack);
	rails_put(b);
	return err;
}

/* Let rails join a bundle of the accepting side, which holds port 0. */
static void join_register(struct rails *b)
{
	get_random_bytes(b->token, sizeof(b->token));
	b->id = get_random_u32();
	spin_lock_bh(&bundles_lock);
	hash_add(bundles, &b->node, b->id);
	spin_unlock_bh(&bundles_lock);
	rails_seek(b);
}

/**
 * rails_join_forget() - no rail joins a bundle any more
 * @b: bundle without references
 */
void rails_join_forget(struct rails *b)
{
	if (hlist_unhashed(&b->node))
		return;
	spin_lock_bh(&bundles_lock);
	hash_del(&b->node);
	spin_unlock_bh(&bundles_lock);
	port0_put(b->net);
}

/**
 * sdp_rails_accept() - make the link of a request ready for other rails
 * @link: link of the request
 * @in: the request
 * @most: most rails that the listener wants
 *
 * Return: @link, if one of the sides wants one rail only; or a link of which it
 * is the first rail; or NULL when memory is short. sdp_rails_accepted() must
 * follow.
 */
struct sdp_link *sdp_rails_accept(struct sdp_link *link,
				  const struct sdp_incoming *in, u8 most)
{
	struct rails *b;
	struct rail *rail;

	if ((most < 2 && link->ops != &sdp_ud) || in->hello.rails.most < 2)
		return link;
	b = rails_alloc(in->net, link->ops);
	rail = b ? rails_attach(b, link, 0) : NULL;
	if (!rail) {
		kfree(b);
		return NULL;
	}
	b->link.up = sdp_rails_owner;
	b->local = in->local;
	b->peer = in->peer;
	b->peer_size = in->hello.recv_size;
	b->wish = rails_wish(b, most);
	b->most = min(in->hello.rails.most, b->wish);
	rail->local = in->local;
	rail->peer = in->peer;
	b->rail[0] = rail;
	/* As long as the listener has the port. */
	if (refcount_inc_not_zero(&listens))
		join_register(b);
	else
		b->most = 0;
	return &b->link;
}

/**
 * sdp_rails_accepted() - a request has an owner, or is refused
 * @link: as sdp_rails_accept() returned it
 * @in: the request; its HelloAck is completed
 * @err: 0, or the errno with which it is refused
 */
void sdp_rails_accepted(struct sdp_link *link, struct sdp_incoming *in, int err)
{
	struct sdp_hello ack = { };
	struct sdp_link *first;
	struct rails *b;

	if (link->ops != &sdp_rails && link->ops != &sdp_auto)
		return;
	b = to_rails(link);
	if (err) {
		first = b->rail[0]->link;
		rails_detach(first->owner);
		first->up = sdp_rails_owner;
		rails_put(b);
		return;
	}
	ack.rails.most = b->most;
	ack.rails.id = b->id;
	memcpy(ack.rails.token, b->token, SDP_RAIL_TOKEN);
	sdp_hello_ack_put_rails(in->ack, &ack);
}

/**
 * sdp_rails_incoming() - a connection request has arrived
 * @link: its link
 * @in: the request
 *
 * May sleep.
 *
 * Return: as up->incoming() in transport.h.
 */
int sdp_rails_incoming(struct sdp_link *link, struct sdp_incoming *in)
{
	return in->hello.rails.join ? incoming_join(link, in) :
				      sdp_rails_owner->incoming(link, in);
}

/**
 * sdp_rails_init() - before the RC transport starts
 * @up: up-calls to the owners of bundles, and of links without one
 *
 * Return: 0 or an errno.
 */
int sdp_rails_init(const struct sdp_link_events *up)
{
	sdp_rails_owner = up;
	rails_wq = alloc_workqueue("sdp_rails", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return rails_wq ? 0 : -ENOMEM;
}

/**
 * sdp_rails_exit() - undo sdp_rails_init(), after the RC transport has ended
 *
 * Waits for the last bundles.
 */
void sdp_rails_exit(void)
{
	destroy_workqueue(rails_wq);
}
