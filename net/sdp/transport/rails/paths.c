// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: what connections do when paths of this host come or go.
 *
 * A device has been added, a port has become active, or its addresses have
 * changed: the accepting side tells the peer if its addresses are others now,
 * the connecting side tries to join rails that it lacks (join.c). Without such
 * an event an attempt that failed is repeated after a time that grows.
 *
 * A bundle is in the list from the handshake until it is freed.
 */
#include "rails.h"

static LIST_HEAD(seekers);
/* Taken before struct rails.lock. */
static DEFINE_SPINLOCK(seekers_lock);
/* Time of the last change (jiffies), or 0. */
static unsigned long changed_at;

/**
 * rails_seek() - have a bundle look for other rails when paths change
 * @b: bundle whose peer knows rails
 */
void rails_seek(struct rails *b)
{
	spin_lock_bh(&seekers_lock);
	if (list_empty(&b->seeker))
		list_add(&b->seeker, &seekers);
	spin_unlock_bh(&seekers_lock);
}

/**
 * rails_seek_end() - undo rails_seek()
 * @b: bundle without references
 */
void rails_seek_end(struct rails *b)
{
	spin_lock_bh(&seekers_lock);
	list_del_init(&b->seeker);
	spin_unlock_bh(&seekers_lock);
}

/* Before the peer has announced addresses, or we have, there is no hurry. */
static void seek(struct rails *b)
{
	spin_lock_bh(&b->lock);
	if (!b->released && b->n_addrs &&
	    (!b->connects || rails_joins_left(b))) {
		b->retry = RAILS_RETRY;
		b->looks = 2;
		rails_join_soon(b, RAILS_SETTLE + 1);
	}
	spin_unlock_bh(&b->lock);
}

/**
 * rails_paths_are_settled() - has no path of this host changed lately?
 *
 * A port is active before the routes by it are back. soft-RoCE ends its queue
 * pair for management datagrams, for good, when one of these finds no route.
 *
 * Return: false during %RAILS_SETTLE after a change.
 */
bool rails_paths_are_settled(void)
{
	unsigned long at = READ_ONCE(changed_at);

	return !at || time_after_eq(jiffies, at + RAILS_SETTLE);
}

/**
 * sdp_rails_paths_changed() - a path of this host may have come or gone
 *
 * Called in process context, for each of the events that come in a row when an
 * interface is configured.
 */
void sdp_rails_paths_changed(void)
{
	struct rails *b;

	WRITE_ONCE(changed_at, jiffies | 1);
	spin_lock_bh(&seekers_lock);
	list_for_each_entry(b, &seekers, seeker)
		if (refcount_inc_not_zero(&b->refs)) {
			seek(b);
			rails_put(b);
		}
	spin_unlock_bh(&seekers_lock);
}
