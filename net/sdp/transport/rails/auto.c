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
/* A rail with messages under way is looked at again. */
#define AUTO_AGAIN	(HZ / 10)

/**
 * rails_auto_count() - a message is sent or has come: is the connection busy?
 * @b: bundle, under its lock
 * @bytes: bytes that the message moves
 */
void rails_auto_count(struct rails *b, u32 bytes)
{
	if (!b->datagrams || !b->connects)
		return;
	if (time_after(jiffies, b->counted_from + HZ)) {
		b->counted_from = jiffies;
		b->counted = 0;
	}
	b->counted = min_t(u64, (u64)b->counted + bytes, U32_MAX);
	if (b->counted < AUTO_BUSY)
		return;
	b->busy_at = jiffies;
	b->resting = false;
	if (b->busy)
		return;
	b->busy = true;
	if (b->n_addrs && !b->released)
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
	for (i = 1; i < SDP_RAILS_MAX; i++) {
		if (!b->rail[i])
			continue;
		b->rail[i]->rests = b->rail[i]->up;
		rails_kill(b->rail[i]);
	}
}

/*
 * The connection has not been busy for a while. Nothing has gone by the first
 * rail meanwhile, so it is probed before the others end.
 */
static void rest(struct rails *b)
{
	if (!others_quiet(b))
		return;
	if (b->resting && b->first_alive) {
		end_others(b);
	} else if (!b->resting) {
		b->resting = true;
		b->first_alive = false;
		rails_probe_one(b->rail[0]);
	}
}

/**
 * rails_auto_wants() - are other rails wanted now? If not, they are ended
 * @b: bundle of the connecting side
 *
 * Return: true if they are.
 */
bool rails_auto_wants(struct rails *b)
{
	bool wants = true;

	spin_lock_bh(&b->lock);
	if (b->datagrams && !b->released && first_works(b)) {
		if (b->busy && time_after_eq(jiffies, b->busy_at + AUTO_REST))
			rest(b);
		wants = b->busy;
	}
	spin_unlock_bh(&b->lock);
	return wants;
}

/**
 * rails_auto_again() - look again when the connection may rest
 * @b: bundle, under its lock
 *
 * Without the first rail it never does.
 */
void rails_auto_again(struct rails *b)
{
	unsigned long end = b->busy_at + AUTO_REST;

	if (b->datagrams && b->busy && !b->released && b->rail[0])
		rails_join_soon(b, time_after(end, jiffies) ? end - jiffies :
							      AUTO_AGAIN);
}

/**
 * rails_auto_ended() - the peer has ended a rail, and not the connection
 * @rail: the rail, under the lock of its bundle; rails_kill() follows
 *
 * The peer gives no reason. It rests if nothing is under way.
 */
void rails_auto_ended(struct rail *rail)
{
	const struct rails *b = rail->all;

	rail->rests = rail->number && rail->up && b->datagrams && b->many &&
		      first_works(b) &&
		      !b->many->state.rail[rail->number].pending;
}
