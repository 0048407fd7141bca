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
/* A row of changes: time of the first and of the last one (jiffies). */
static u64 row_begin, row_end;

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
 * rails_settle_wait() - how long not to join, because paths have changed lately
 *
 * A port is active before the routes by it are back. soft-RoCE ends its queue
 * pair for management datagrams, for good, when one of these finds no route.
 *
 * Return: time in jiffies until the last change is %RAILS_SETTLE ago, or the
 * first of its row %RAILS_SETTLE_MOST; 0 when that is over.
 */
unsigned long rails_settle_wait(void)
{
	u64 now = get_jiffies_64(), end;

	spin_lock_bh(&seekers_lock);
	end = row_end ? min(row_end + RAILS_SETTLE,
			    row_begin + RAILS_SETTLE_MOST) : 0;
	spin_unlock_bh(&seekers_lock);
	return end > now ? end - now : 0;
}

static void note_change(u64 now)
{
	if (!row_end || now >= row_end + RAILS_SETTLE)
		row_begin = now;
	row_end = now;
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

	spin_lock_bh(&seekers_lock);
	note_change(get_jiffies_64());
	list_for_each_entry(b, &seekers, seeker)
		if (refcount_inc_not_zero(&b->refs)) {
			seek(b);
			rails_put(b);
		}
	spin_unlock_bh(&seekers_lock);
}
