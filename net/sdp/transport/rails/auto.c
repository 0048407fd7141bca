// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: a connection that begins by datagrams.
 *
 * The first rail's link is that of the UD transport, so an idle connection has
 * no queue pair of its own. While the connection is busy, RC rails join as they
 * do to any bundle (join.c), and the first rail is in reserve: messages go by
 * it when no other one works. When the connection rests, its connecting side
 * ends the RC rails, and messages go by datagrams again.
 *
 * No memory is mapped for RDMA, because the first rail cannot.
 */
#include "rails.h"

/* So many bytes in a second are busy. */
#define AUTO_BUSY	(256 * 1024)
/* A connection that has not been busy for so long rests. */
#define AUTO_REST	(5 * HZ)
/* Time until another look when it cannot rest yet. */
#define AUTO_AGAIN	HZ

/* Look whether the connection rests, after this time. */
static void rest_in(struct rails *b, unsigned long delay)
{
	refcount_inc(&b->refs);
	if (mod_delayed_work(rails_wq, &b->rest, delay))
		rails_put(b);
}

static void begin_busy(struct rails *b)
{
	b->busy_at = jiffies;
	b->resting = false;
	if (b->busy || b->released)
		return;
	b->busy = true;
	rest_in(b, AUTO_REST);
}

/**
 * rails_auto_count() - a message is sent or has come: is the connection busy?
 * @b: bundle, under its lock
 * @bytes: bytes that the message moves
 */
void rails_auto_count(struct rails *b, u32 bytes)
{
	bool was_busy = b->busy;

	if (!b->datagrams || !b->connects)
		return;
	if (time_after(jiffies, b->counted_from + HZ)) {
		b->counted_from = jiffies;
		b->counted = 0;
	}
	b->counted = min_t(u64, (u64)b->counted + bytes, U32_MAX);
	if (b->counted < AUTO_BUSY)
		return;
	begin_busy(b);
	if (!was_busy && b->n_addrs && !b->released)
		rails_join_soon(b, 0);
}

/* Is the first rail there, so that the connection can do without others? */
static bool first_works(const struct rails *b)
{
	return b->rail[0] && b->rail[0]->up && !b->rail[0]->ended &&
	       (!b->many || b->many->state.rail[0].state == SDP_RAIL_ACTIVE);
}

/* Has all arrived that the other rails, if there are any, were given? */
static bool others_quiet(const struct rails *b)
{
	u32 i;

	if (!b->many)
		return true;
	for (i = 1; i < SDP_RAILS_MAX; i++)
		if (b->rail[i] && b->many->state.rail[i].pending)
			return false;
	return b->many->begun && !b->many->state.again;
}

static void end_others(struct rails *b)
{
	u32 i;

	b->busy = false;
	b->resting = false;
	for (i = 1; i < SDP_RAILS_MAX; i++) {
		if (!b->rail[i])
			continue;
		b->rail[i]->rests = b->rail[i]->up;
		rails_kill(b->rail[i]);
	}
}

/*
 * Nothing has gone by the first rail while the others worked, so it is probed
 * before they end.
 */
static void rest(struct rails *b)
{
	if (b->resting && b->first_alive && others_quiet(b)) {
		end_others(b);
		return;
	}
	if (!b->resting) {
		b->resting = true;
		b->first_alive = false;
		rails_probe_one(b->rail[0]);
	}
	rest_in(b, AUTO_AGAIN);
}

/**
 * rails_rest_work() - work item: end the other rails if the connection rests
 * @work: struct rails.rest; it has a reference to the bundle
 */
void rails_rest_work(struct work_struct *work)
{
	struct rails *b = container_of(to_delayed_work(work), struct rails,
				       rest);
	unsigned long end;

	spin_lock_bh(&b->lock);
	end = b->busy_at + AUTO_REST;
	if (b->released || !b->busy || !b->rail[0])
		;
	else if (time_before(jiffies, end))
		rest_in(b, end - jiffies);
	else if (first_works(b))
		rest(b);
	else
		rest_in(b, AUTO_AGAIN);
	spin_unlock_bh(&b->lock);
	rails_put(b);
}

/**
 * rails_auto_alive() - a rail has answered a probe
 * @rail: the rail, under the lock of its bundle
 */
void rails_auto_alive(struct rail *rail)
{
	struct rails *b = rail->all;

	if (rail->number || !b->resting || b->first_alive || b->released)
		return;
	b->first_alive = true;
	rest_in(b, 0);
}

/**
 * rails_auto_wants() - are other rails wanted now?
 * @b: bundle of the connecting side
 *
 * Also while the first one makes no progress: then the connection counts as
 * busy, so that they end some time later.
 *
 * Return: true if they are.
 */
bool rails_auto_wants(struct rails *b)
{
	bool wants;

	if (!b->datagrams)
		return true;
	spin_lock_bh(&b->lock);
	if (!first_works(b))
		begin_busy(b);
	wants = b->busy && !b->resting;
	spin_unlock_bh(&b->lock);
	return wants;
}

/**
 * rails_auto_ended() - the peer has ended a rail, and not the connection
 * @rail: the rail, under the lock of its bundle; rails_kill() follows
 *
 * The peer gives no reason. The connecting side ends rails that have nothing
 * under way because the connection rests.
 */
void rails_auto_ended(struct rail *rail)
{
	const struct rails *b = rail->all;

	rail->rests = rail->number && rail->up && b->datagrams &&
		      !b->connects && b->many && first_works(b) &&
		      !b->many->state.rail[rail->number].pending;
}
