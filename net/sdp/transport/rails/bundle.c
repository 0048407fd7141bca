// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: life of a bundle, and the operations of the transport.
 *
 * A bundle is made by create(), with the link of its first rail, or by a
 * request that arrives (join.c). It ends with release(), which releases all its
 * links, and is freed when the last of them is released.
 */
#include <linux/slab.h>

#include "rails.h"

/* Work items of all bundles; destroyed when the last of them has run. */
struct workqueue_struct *rails_wq;

static void rails_free_work(struct work_struct *work)
{
	struct rails *b = container_of(work, struct rails, end);

	rails_join_forget(b);
	rails_seek_end(b);
	rails_tx_purge(b);
	rails_rx_purge(b);
	if (b->link.owner)
		b->link.up->released(&b->link);
	kfree(b->many);
	kfree(b);
}

/**
 * rails_alloc() - allocate a bundle without a rail
 * @net: network namespace
 * @first: transport of the first rail
 *
 * Return: the bundle, with one reference, that of its owner; or NULL.
 */
struct rails *rails_alloc(struct net *net, const struct sdp_transport *first)
{
	struct rails *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (!b)
		return NULL;
	b->datagrams = first == &sdp_ud;
	b->link.ops = b->datagrams ? &sdp_auto : &sdp_rails;
	b->net = net;
	refcount_set(&b->refs, 1);
	spin_lock_init(&b->lock);
	__skb_queue_head_init(&b->ready);
	b->retry = RAILS_RETRY;
	b->counted_from = jiffies;
	b->copies = sdp_rc_copies();
	INIT_HLIST_NODE(&b->node);
	INIT_LIST_HEAD(&b->seeker);
	INIT_DELAYED_WORK(&b->join, rails_join_work);
	INIT_DELAYED_WORK(&b->rest, rails_rest_work);
	INIT_DELAYED_WORK(&b->watch, rails_watch_work);
	INIT_WORK(&b->end, rails_free_work);
	mutex_init(&b->mems_lock);
	INIT_LIST_HEAD(&b->mems);
	INIT_WORK(&b->drop, rails_drop_work);
	return b;
}

/**
 * rails_put() - drop a reference to a bundle
 * @b: bundle; with the last reference it is freed, by a work item: up->released
 *	must not be called by release()
 */
void rails_put(struct rails *b)
{
	if (refcount_dec_and_test(&b->refs))
		queue_work(rails_wq, &b->end);
}

/**
 * rails_queue() - run a work item of a bundle
 * @b: bundle; the queued item has a reference
 * @work: the item
 * @delay: time until then
 */
void rails_queue(struct rails *b, struct delayed_work *work,
		 unsigned long delay)
{
	refcount_inc(&b->refs);
	if (!queue_delayed_work(rails_wq, work, delay))
		rails_put(b);
}

/**
 * rails_attach() - make a rail of a link
 * @b: bundle; the caller has reserved @number, and puts the rail into b->rail
 * @link: the link; its owner is the rail from now on
 * @number: number of the rail
 *
 * Return: the rail, which is freed when the link is released; NULL when memory
 * is short.
 */
struct rail *rails_attach(struct rails *b, struct sdp_link *link, u8 number)
{
	struct rail *rail = kzalloc(sizeof(*rail), GFP_ATOMIC);

	if (!rail)
		return NULL;
	rail->link = link;
	rail->all = b;
	rail->number = number;
	refcount_inc(&b->refs);
	link->up = &rails_up;
	link->owner = rail;
	return rail;
}

/**
 * rails_detach() - free a rail whose link is not an owner's any more
 * @rail: the rail
 */
void rails_detach(struct rail *rail)
{
	struct rails *b = rail->all;

	spin_lock_bh(&b->lock);
	if (b->rail[rail->number] == rail)
		b->rail[rail->number] = NULL;
	spin_unlock_bh(&b->lock);
	rail->link->owner = NULL;
	kfree(rail);
	rails_put(b);
}

static struct sdp_link *rails_make(struct net *net,
				   const struct sdp_endpoint *local,
				   const struct sdp_endpoint *peer,
				   const struct sdp_transport *first)
{
	struct rails *b = rails_alloc(net, first);
	struct sdp_link *link;
	struct rail *rail;

	if (!b)
		return NULL;
	link = first->create(net, local, peer);
	if (!link) {
		kfree(b);
		return NULL;
	}
	b->connects = true;
	b->peer = *peer;
	rail = rails_attach(b, link, 0);
	if (rail) {
		rail->peer = *peer;
		b->rail[0] = rail;
		/* The owner sets link.owner, and takes its reference, next. */
		b->link.up = sdp_rails_owner;
		return &b->link;
	}
	link->up = &rails_up;
	link->ops->release(link, true);
	rails_put(b);
	return NULL;
}

static struct sdp_link *rails_create(struct net *net,
				     const struct sdp_endpoint *local,
				     const struct sdp_endpoint *peer)
{
	return rails_make(net, local, peer, &sdp_rc);
}

static struct sdp_link *auto_create(struct net *net,
				    const struct sdp_endpoint *local,
				    const struct sdp_endpoint *peer)
{
	return rails_make(net, local, peer, &sdp_ud);
}

/**
 * rails_count() - number of rails that are there, or on their way
 * @b: bundle; under its lock
 *
 * Return: number of rails.
 */
u32 rails_count(const struct rails *b)
{
	u32 i, n = hweight8(b->joining);

	for (i = 0; i < SDP_RAILS_MAX; i++)
		n += !!b->rail[i];
	return n;
}

/**
 * rails_count_up() - count the rails that are connected
 * @b: bundle; under its lock
 *
 * Return: number of rails.
 */
u32 rails_count_up(const struct rails *b)
{
	u32 i, n = 0;

	for (i = 0; i < SDP_RAILS_MAX; i++)
		n += b->rail[i] && b->rail[i]->up;
	return n;
}

/**
 * rails_tell_number() - tell the owner how many rails there are
 * @b: bundle with several rails; under its lock; one has come up or died
 */
void rails_tell_number(struct rails *b)
{
	WRITE_ONCE(b->link.rails, rails_count_up(b));
}

/* The first rail, unless it has died; under the lock. */
static struct sdp_link *first_link(const struct rails *b)
{
	return b->rail[0] ? b->rail[0]->link : NULL;
}

/* The first rail, up or not, or else any one that is up; under the lock. */
static struct rail *any_rail(const struct rails *b)
{
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++) {
		if (b->rail[i] && (b->rail[i]->up || !i))
			return b->rail[i];
	}
	return NULL;
}

/**
 * rails_wish() - most rails of a bundle
 * @b: bundle
 * @rails: most rails that a socket wants; those by datagrams do not count
 *
 * Return: number of rails.
 */
u8 rails_wish(const struct rails *b, u8 rails)
{
	return min(rails + b->datagrams, SDP_RAILS_MAX);
}

static void rails_connect(struct sdp_link *link,
			  const struct sdp_path_wish *wish)
{
	struct rails *b = to_rails(link);
	struct sdp_link *first;

	spin_lock_bh(&b->lock);
	/* Of the device that SO_BINDTODEVICE names there is only one. */
	b->alone = wish->ifindex;
	b->wish = rails_wish(b, wish->rails);
	first = first_link(b);
	first->ops->connect(first, wish);
	spin_unlock_bh(&b->lock);
}

/**
 * rails_prepare_link() - prepare the link of a rail
 * @link: the link
 * @config: limits of the bundle; lowered to what the device supports
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int rails_prepare_link(struct sdp_link *link, struct sdp_link_config *config)
{
	struct sdp_link_config c = *config;
	int err;

	c.recv_max += RAILS_SPARE;
	c.send_slots += RAILS_NOTES;
	/* What goes again may come when no receive is posted for it. */
	c.rnr_retry = 7;
	c.rnr_timer = RAILS_RNR_TIMER;
	err = link->ops->prepare(link, &c);
	config->recv_max = min_t(u16, config->recv_max,
				 c.recv_max - RAILS_SPARE);
	config->send_slots = c.send_slots - RAILS_NOTES;
	config->recv_size = c.recv_size;
	config->recv_size_max = c.recv_size_max;
	config->tx_frags = c.tx_frags;
	config->rdma = c.rdma;
	return err;
}

static int rails_prepare(struct sdp_link *link, struct sdp_link_config *config)
{
	struct rails *b = to_rails(link);
	struct sdp_link *first;
	int err;

	/* The window of the rails limits the receives that are of use. */
	config->recv_max = min_t(u16, config->recv_max,
				 SDP_ORDER_WINDOW_MAX - 1);
	spin_lock_bh(&b->lock);
	first = first_link(b);
	spin_unlock_bh(&b->lock);
	/*
	 * The owner may release the bundle at any time. The link stays: the
	 * caller is a handler that the end of the link waits for.
	 */
	err = first ? rails_prepare_link(first, config) : -ECONNABORTED;
	if (err)
		return err;
	spin_lock_bh(&b->lock);
	b->config = *config;
	b->size = config->recv_size;
	if (b->rail[0])
		b->rail[0]->prepared = true;
	spin_unlock_bh(&b->lock);
	return 0;
}

/**
 * rails_fill() - post the receives that a rail lacks
 * @rail: the rail; under the lock of its bundle
 *
 * Each rail has as many as the peer may have messages for it: whichever rail
 * they come by, a receive is there (H1).
 */
void rails_fill(struct rail *rail)
{
	u16 want = rail->all->granted + (rail->all->many ? RAILS_SPARE : 0);

	if (rail->prepared && !rail->leaving && rail->posted < want)
		rail->posted += rail->link->ops->post(rail->link,
						      want - rail->posted,
						      rail->all->size);
}

/* With several rails, the receives of each one would have to be used up. */
static bool size_is_fixed(const struct rails *b, u32 size)
{
	return b->many && size > b->size;
}

static u16 rails_post(struct sdp_link *link, u16 n, u32 size)
{
	struct rails *b = to_rails(link);
	u16 lacks = 0, i;

	spin_lock_bh(&b->lock);
	if (size_is_fixed(b, size)) {
		spin_unlock_bh(&b->lock);
		return 0;
	}
	if (size > b->size && b->rail[0])
		b->small = b->rail[0]->posted;
	b->size = size;
	b->granted += n;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		struct rail *rail = b->rail[i];

		if (!rail || !rail->prepared)
			continue;
		rails_fill(rail);
		if (rail->posted < b->granted)
			lacks = max_t(u16, lacks, b->granted - rail->posted);
	}
	lacks = min(lacks, n);
	b->granted -= lacks;
	spin_unlock_bh(&b->lock);
	return n - lacks;
}

/* A rail with receives of its own, whose buffers are all alike; or NULL. */
static struct rail *rail_with_receives(const struct rails *b)
{
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++) {
		if (b->rail[i] && (b->rail[i]->up || !i) &&
		    b->rail[i]->link->ops == &sdp_rc)
			return b->rail[i];
	}
	return NULL;
}

static void rails_recycle(struct sdp_link *link, struct sk_buff *skb)
{
	struct rails *b = to_rails(link);
	struct rail *rail = NULL;

	spin_lock_bh(&b->lock);
	/* Those that have come by datagrams are not reused (up.c). */
	if (sdp_buf_cb(skb)->reused)
		rail = rail_with_receives(b);
	if (rail)
		sdp_rc.recycle(rail->link, skb);
	spin_unlock_bh(&b->lock);
	if (!rail)
		kfree_skb(skb);
}

static void rails_trim(struct sdp_link *link)
{
	struct rails *b = to_rails(link);
	u32 i;

	spin_lock_bh(&b->lock);
	for (i = 0; i < SDP_RAILS_MAX; i++)
		if (b->rail[i])
			b->rail[i]->link->ops->trim(b->rail[i]->link);
	spin_unlock_bh(&b->lock);
}

static void rails_send(struct sdp_link *link, struct sk_buff *skb, bool flush)
{
	struct rails *b = to_rails(link);

	spin_lock_bh(&b->lock);
	rails_tx_send(b, skb, flush);
	spin_unlock_bh(&b->lock);
}

/**
 * rails_resend_kept() - send what the links keep because it cannot be mapped
 * @b: bundle; under its lock
 */
void rails_resend_kept(struct rails *b)
{
	u32 i;

	b->link.kept = false;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		if (!b->rail[i] || !b->rail[i]->link->ops->resend)
			continue;
		b->rail[i]->link->ops->resend(b->rail[i]->link);
		b->link.kept |= b->rail[i]->link->kept;
	}
}

static void rails_resend(struct sdp_link *link)
{
	struct rails *b = to_rails(link);

	spin_lock_bh(&b->lock);
	rails_resend_kept(b);
	spin_unlock_bh(&b->lock);
}

/**
 * rails_probe_one() - probe a rail, unless a probe is under way
 * @rail: rail that is up; under the lock of its bundle
 *
 * The send queue has room for one.
 */
void rails_probe_one(struct rail *rail)
{
	if (rail->probing)
		return;
	rail->probing = true;
	rail->link->ops->probe(rail->link);
}

static void rails_probe(struct sdp_link *link)
{
	struct rails *b = to_rails(link);
	u32 i;

	/*
	 * One answer is enough, whichever rail it comes by. If there is none,
	 * or it dies, the next one that joins is as good.
	 */
	spin_lock_bh(&b->lock);
	b->probing = true;
	for (i = 0; i < SDP_RAILS_MAX; i++)
		if (b->rail[i] && b->rail[i]->up)
			rails_probe_one(b->rail[i]);
	spin_unlock_bh(&b->lock);
}

/* The messages that have not arrived may be on any of the rails. */
static void rails_hasten(struct sdp_link *link)
{
	struct rails *b = to_rails(link);
	struct rail *rail;
	u32 i;

	spin_lock_bh(&b->lock);
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		rail = b->rail[i];
		if (rail && rail->up && rail->link->ops->hasten)
			rail->link->ops->hasten(rail->link);
	}
	spin_unlock_bh(&b->lock);
}

static void rails_use(struct sdp_link *link)
{
	refcount_inc(&to_rails(link)->refs);
}

static void rails_unuse(struct sdp_link *link)
{
	rails_put(to_rails(link));
}

static void rails_release(struct sdp_link *link, bool abort)
{
	struct rails *b = to_rails(link);
	u32 i;

	spin_lock_bh(&b->lock);
	b->released = true;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		struct rail *rail = b->rail[i];

		if (!rail)
			continue;
		b->rail[i] = NULL;
		rail->leaving = true;
		rail->link->ops->release(rail->link, abort);
	}
	spin_unlock_bh(&b->lock);
	if (cancel_delayed_work(&b->join))
		rails_put(b);
	if (cancel_delayed_work(&b->rest))
		rails_put(b);
	if (cancel_delayed_work(&b->watch))
		rails_put(b);
	rails_put(b);
}

static const char *rails_device(const struct sdp_link *link)
{
	struct rails *b = to_rails(link);
	const char *name = NULL;
	struct rail *rail;

	spin_lock_bh(&b->lock);
	rail = any_rail(b);
	if (rail)
		name = rail->link->ops->device(rail->link);
	spin_unlock_bh(&b->lock);
	return name;
}

/* What bundles have in common, whatever their first rail is. */
#define BUNDLE_OPERATIONS			\
	.keeps		= true,			\
	.connect	= rails_connect,	\
	.prepare	= rails_prepare,	\
	.post		= rails_post,		\
	.recycle	= rails_recycle,	\
	.trim		= rails_trim,		\
	.send		= rails_send,		\
	.resend		= rails_resend,		\
	.probe		= rails_probe,		\
	.hasten		= rails_hasten,		\
	.release	= rails_release,	\
	.device		= rails_device,		\
	.look		= rails_look,		\
	.look_at	= rails_look_at

const struct sdp_transport sdp_rails = {
	BUNDLE_OPERATIONS,
	.name		= "rails",
	.create		= rails_create,
	.use		= rails_use,
	.unuse		= rails_unuse,
	.map		= rails_map,
	.unmap		= rails_unmap,
	.move		= rails_move,
	.listen		= rails_listen,
	.unlisten	= rails_unlisten,
};

/* No RDMA: the first rail cannot, and has no receives of its own. */
const struct sdp_transport sdp_auto = {
	BUNDLE_OPERATIONS,
	.name		= "auto",
	.pools		= true,
	.create		= auto_create,
};
