// SPDX-License-Identifier: GPL-2.0
/*
 * One rail of a connection: speed, health and choice.
 *
 * rail.h describes the states.
 */
#include "rail.h"

/* A speed is measured over so much time in which the rail was busy, us. */
#define RAIL_INTERVAL_US	2000
/* Weight of a new measurement: one part in 2^3. */
#define RAIL_SMOOTH		3
/* What a rail is taken for before it is measured, bytes in a millisecond. */
#define RAIL_SPEED_FIRST	100000
/* A rail that gets nothing for so long is tried again: it may be faster now. */
#define RAIL_TRY_US	100000
/* So many smoothed round trips without progress are suspicious. */
#define RAIL_SUSPECT_RTTS	3

/**
 * sdp_rail_init() - prepare a rail that is to join
 * @r: rail
 * @slots: messages that its queue pair can hold
 */
void sdp_rail_init(struct sdp_rail *r, u16 slots)
{
	memset(r, 0, sizeof(*r));
	r->state = SDP_RAIL_JOINING;
	r->slots = slots;
	r->untried = true;
}

/**
 * sdp_rail_joined() - the queue pair of a rail is connected
 * @r: rail, %SDP_RAIL_JOINING
 */
void sdp_rail_joined(struct sdp_rail *r)
{
	r->state = SDP_RAIL_ACTIVE;
}

/**
 * sdp_rail_dead() - a rail has failed, or the peer says so
 * @r: rail
 */
void sdp_rail_dead(struct sdp_rail *r)
{
	r->state = SDP_RAIL_DEAD;
	r->pending = 0;
}

/**
 * sdp_rail_sent() - a message, or a part of a transfer, is given to a rail
 * @r: rail with a slot
 * @bytes: its length
 * @now: time
 */
void sdp_rail_sent(struct sdp_rail *r, u32 bytes, u32 now)
{
	if (!r->pending)
		r->since = now;
	r->pending += bytes;
	r->slots--;
}

static u32 rail_smooth(u32 old, u32 sample)
{
	if (!old)
		return sample;
	return old - (old >> RAIL_SMOOTH) + (sample >> RAIL_SMOOTH);
}

/* Take a measurement if the rail has been busy for long enough. */
static void rail_measure(struct sdp_rail *r)
{
	u32 speed;

	r->dry |= !r->pending;
	if (r->busy < RAIL_INTERVAL_US)
		return;
	/* Bytes in an eighth of a millisecond: the product would overflow. */
	speed = r->moved / (r->busy / 125) * 8;
	if (!r->dry || !r->speed || speed > r->speed)
		r->speed = max(1U, rail_smooth(r->speed, speed));
	r->sure |= !r->dry;
	r->busy = 0;
	r->moved = 0;
	r->dry = false;
}

/**
 * sdp_rail_completed() - what a rail was given has arrived
 * @r: rail
 * @bytes: its length
 * @took: time from sdp_rail_sent() until now
 * @now: time
 */
void sdp_rail_completed(struct sdp_rail *r, u32 bytes, u32 took, u32 now)
{
	r->slots++;
	if (r->state == SDP_RAIL_DEAD)
		return;
	r->pending -= bytes;
	r->moved += bytes;
	r->busy += now - r->since;
	r->since = now;
	r->srtt = rail_smooth(r->srtt, max(1U, took));
	r->untried = false;
	if (r->state == SDP_RAIL_SUSPECT)
		r->state = SDP_RAIL_ACTIVE;
	rail_measure(r);
}

/**
 * sdp_rail_late() - has a rail made no progress for very long? (H1)
 * @r: rail; it becomes %SDP_RAIL_SUSPECT long before that. One that has had
 *	nothing to do for long is tried again
 * @now: time
 *
 * Return: true when it has not, for %SDP_RAIL_DEAD_US.
 */
bool sdp_rail_late(struct sdp_rail *r, u32 now)
{
	u32 idle = now - r->since;
	u32 patience = max((u32)SDP_RAIL_SUSPECT_US,
			   RAIL_SUSPECT_RTTS *
			   min(r->srtt, (u32)SDP_RAIL_DEAD_US));

	if (!r->pending && idle >= RAIL_TRY_US) {
		r->sure = false;
		r->untried = true;
	}
	if (!r->pending ||
	    (r->state != SDP_RAIL_ACTIVE && r->state != SDP_RAIL_SUSPECT))
		return false;
	if (idle >= patience)
		r->state = SDP_RAIL_SUSPECT;
	return idle >= SDP_RAIL_DEAD_US;
}

static u32 rail_speed(const struct sdp_rail *r, u32 fastest)
{
	return r->sure ? r->speed : max(r->speed, fastest);
}

static u32 rails_fastest(const struct sdp_rail *rails, u32 n)
{
	u32 i, fastest = 0;

	for (i = 0; i < n; i++) {
		if (rails[i].state != SDP_RAIL_DEAD)
			fastest = max(fastest, rails[i].speed);
	}
	return fastest ? fastest : RAIL_SPEED_FIRST;
}

static u32 rail_round_trip(const struct sdp_rail *r)
{
	return r->untried ? 0 : r->srtt;
}

/* Does a message of @bytes arrive first by @r? */
static bool rail_is_better(const struct sdp_rail *r,
			   const struct sdp_rail *than, u32 bytes, u32 fastest)
{
	/* (pending + bytes) / speed, compared without a division */
	u64 ours = ((u64)r->pending + bytes) * rail_speed(than, fastest);
	u64 theirs = ((u64)than->pending + bytes) * rail_speed(r, fastest);

	if (ours != theirs)
		return ours < theirs;
	return rail_round_trip(r) < rail_round_trip(than);
}

/**
 * sdp_rail_choose() - the rail by which a message arrives first (H1)
 * @rails: rails of a connection
 * @n: their number
 * @bytes: length of the message
 * @state: state of the rails to choose from
 * @reserve: choose from those in reserve, otherwise from all others
 *
 * Return: its number; @n if none of these rails has a slot.
 */
u32 sdp_rail_choose(const struct sdp_rail *rails, u32 n, u32 bytes,
		    enum sdp_rail_state state, bool reserve)
{
	u32 i, best = n, fastest = rails_fastest(rails, n);

	for (i = 0; i < n; i++) {
		const struct sdp_rail *r = &rails[i];

		if (r->state != state || r->reserve != reserve || !r->slots)
			continue;
		if (best == n ||
		    rail_is_better(r, &rails[best], bytes, fastest))
			best = i;
	}
	return best;
}
