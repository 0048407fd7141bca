// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: allocation, references, up-calls and failure of a link.
 *
 * end.c has its work item and its end.
 */
#include <linux/slab.h>

#include "../../base/netns.h"
#include "ud.h"

/* Links of their exact size: there may be tens of thousands. */
static struct kmem_cache *link_cache;

/**
 * ud_link_init() - make the cache of links
 *
 * Return: 0 or -ENOMEM.
 */
int ud_link_init(void)
{
	link_cache = kmem_cache_create("sdp_ud_link", sizeof(struct ud_link), 0,
				       SLAB_ACCOUNT, NULL);
	return link_cache ? 0 : -ENOMEM;
}

/**
 * ud_link_exit() - undo ud_link_init()
 *
 * No link has a reference any more. Waits until the last one is freed.
 */
void ud_link_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(link_cache);
}

static void link_free(struct rcu_head *rcu)
{
	kmem_cache_free(link_cache, container_of(rcu, struct ud_link, rcu));
}

/**
 * ud_link_alloc() - allocate a link without port
 * @net: network namespace
 *
 * May sleep.
 *
 * Return: the link with one reference, which its work item drops when it has
 * been released; or NULL.
 */
struct ud_link *ud_link_alloc(struct net *net)
{
	struct ud_link *l = kmem_cache_zalloc(link_cache, GFP_KERNEL);

	if (!l)
		return NULL;
	l->link.ops = &sdp_ud;
	l->link.up = ud_up;
	l->net = net;
	/* Once: each repeated Open says so, and the window is as it says. */
	l->takes = READ_ONCE(sdp_net(net)->settings.datagram_window);
	INIT_LIST_HEAD(&l->dev_node);
	INIT_HLIST_NODE(&l->id_node);
	INIT_HLIST_NODE(&l->peer_node);
	INIT_LIST_HEAD(&l->ready_node);
	spin_lock_init(&l->lock);
	__skb_queue_head_init(&l->sent);
	__skb_queue_head_init(&l->unsent);
	__skb_queue_head_init(&l->spare);
	timer_setup(&l->timer, ud_handlers->link_timer, 0);
	INIT_DELAYED_WORK(&l->work, ud_handlers->link_work);
	refcount_set(&l->refs, 1);
	return l;
}

/**
 * ud_link_put() - drop a reference to a link
 * @l: link, freed with the last reference
 */
void ud_link_put(struct ud_link *l)
{
	struct ud_peer *peer;

	if (!refcount_dec_and_test(&l->refs))
		return;
	/* Not earlier: another task may have set it meanwhile. */
	peer = l->peer;
	call_rcu(&l->rcu, link_free);
	/*
	 * Only now: a task that has found the link may look at its peer. And
	 * last, for the peer keeps the device, and that the module.
	 */
	if (peer)
		ud_peer_put(peer);
}

/**
 * ud_link_enter() - begin an up-call
 * @l: link; the caller has a reference
 *
 * Return: false if no up-call may be made any more.
 */
bool ud_link_enter(struct ud_link *l)
{
	bool ok;

	spin_lock_bh(&l->lock);
	ok = l->phase < UD_GONE;
	l->users += ok;
	spin_unlock_bh(&l->lock);
	return ok;
}

/**
 * ud_link_leave() - the up-call is over
 * @l: link
 */
void ud_link_leave(struct ud_link *l)
{
	spin_lock_bh(&l->lock);
	l->users--;
	spin_unlock_bh(&l->lock);
}

/**
 * ud_link_wake() - run the work item now
 * @l: link; the caller has a reference
 *
 * Callable from any context.
 */
void ud_link_wake(struct ud_link *l)
{
	refcount_inc(&l->refs);
	if (mod_delayed_work(ud_wq, &l->work, 0))
		ud_link_put(l);
}

/**
 * ud_link_poke() - set a flag and run the work item
 * @l: link
 * @flag: the work item sees this flag
 *
 * Callable from any context. The link may be freed on return.
 */
void ud_link_poke(struct ud_link *l, enum ud_flag flag)
{
	/* First: as soon as the flag is set, another run may free the link. */
	refcount_inc(&l->refs);
	set_bit(flag, &l->flags);
	if (mod_delayed_work(ud_wq, &l->work, 0))
		ud_link_put(l);
}

static void tell_failure(struct ud_link *l)
{
	if (!ud_link_enter(l))
		return;
	l->link.up->failed(&l->link, l->error, l->place);
	ud_link_leave(l);
}

/**
 * ud_link_fail() - report that a link is broken, once
 * @l: link; the caller has a reference and holds no lock
 * @error: positive errno
 * @place: place of the failure, a static string
 */
void ud_link_fail(struct ud_link *l, int error, const char *place)
{
	if (test_and_set_bit(UD_FAILED_SAID, &l->flags))
		return;
	l->error = error;
	l->place = place;
	/* Fully ordered, pairs with ud_link_owned(). */
	test_and_set_bit(UD_FAILED_WHY, &l->flags);
	if (test_bit(UD_OWNED, &l->flags))
		tell_failure(l);
}

/**
 * ud_link_owned() - mark a link as owned and report an earlier failure
 * @l: link
 */
void ud_link_owned(struct ud_link *l)
{
	set_bit(UD_OWNED, &l->flags);
	/* Pairs with ud_link_fail(): one side sees the other's flag. */
	smp_mb__after_atomic();
	if (test_bit_acquire(UD_FAILED_WHY, &l->flags))
		tell_failure(l);
}
