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
		rails_join_soon(b, RAILS_SETTLE);
	}
	spin_unlock_bh(&b->lock);
}

/**
 * sdp_rails_paths_changed() - a path of this host may have come or gone
 *
 * Called in process context, for each of the events that come in a row when an
 * interface is configured; connections act when no other has come for
 * %RAILS_SETTLE.
 */
void sdp_rails_paths_changed(void)
{
	struct rails *b;

	spin_lock_bh(&seekers_lock);
	list_for_each_entry(b, &seekers, seeker)
		if (refcount_inc_not_zero(&b->refs)) {
			seek(b);
			rails_put(b);
		}
	spin_unlock_bh(&seekers_lock);
}
