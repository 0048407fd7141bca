// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: rails that make no progress, and rails that have died.
 *
 * While messages are on their way, a work item looks at the rails. A rail that
 * has failed, that the peer has given up, or that has made no progress for a
 * second is released; what it had goes again by the others (H6). The connecting
 * side joins another one in its place (join.c), but not in that of datagrams.
 * When the last one has failed, the connection may wait for that.
 */
#include "../../base/trace.h"
#include "rails.h"

/**
 * rails_watch_start() - look at the rails soon
 * @b: bundle; under its lock
 */
void rails_watch_start(struct rails *b)
{
	if (!b->released && b->many && !delayed_work_pending(&b->watch))
		rails_queue(b, &b->watch, RAILS_WATCH);
}

/* The peer ends the connection: all rails that it has not ended will follow. */
static bool all_ended(const struct rails *b)
{
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++)
		if (b->rail[i] && b->rail[i]->up && !b->rail[i]->ended)
			return false;
	return true;
}

static bool any_ended(const struct rails *b)
{
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++)
		if (b->rail[i] && b->rail[i]->ended)
			return true;
	return false;
}

/**
 * rails_watch_end() - the peer has ended a rail, maybe with the connection
 * @b: bundle; under its lock
 *
 * The others end, too, if the connection has. If they do not, the rail has died
 * at the peer's end, with its device.
 */
void rails_watch_end(struct rails *b)
{
	if (all_ended(b)) {
		b->end_due = true;
		return;
	}
	if (!b->ending)
		b->ending = jiffies | 1;
	if (!b->released)
		rails_queue(b, &b->watch, RAILS_END);
}

/**
 * rails_kill() - give up a rail that the connection can spare
 * @rail: the rail; under the lock of its bundle
 *
 * The peer learns it by another rail, because this one may carry nothing any
 * more, not even the end of its link.
 */
void rails_kill(struct rail *rail)
{
	struct rails *b = rail->all;
	struct rails_many *m = b->many;

	if (rail->leaving)
		return;
	rail->leaving = true;
	if (rail->rests) {
		SDP_INC(b->net, RailsRested);
	} else if (rail->up) {
		SDP_INC(b->net, RailsLost);
		b->lost++;
		trace_sdp_rail_lost(b->local.port, b->peer.port, rail->number);
	}
	b->rail[rail->number] = NULL;
	rails_tell_number(b);
	WRITE_ONCE(rail->link->one_of_many, true);
	rail->link->ops->release(rail->link, true);
	if (m)
		rails_rdma_drop(b);
	if (m && rail->up) {
		sdp_rails_dead(&m->state, rail->number);
		if (!rail->replaced)
			m->gone |= BIT(rail->number);
		rails_tx_gone(b);
		rails_tx_pump(b);
	}
	if (any_ended(b))
		rails_watch_end(b);
	else
		b->ending = 0;
	if (b->connects && !b->released)
		rails_queue(b, &b->join, b->retry);
}

/**
 * rails_copied() - has this machine been copied since the connection was made?
 * @b: bundle
 *
 * Then the connection belongs to the other copy as well, and has to end
 * (rc/vmfork.c).
 *
 * Return: true when it has.
 */
bool rails_copied(const struct rails *b)
{
	return b->copies != sdp_rc_copies();
}

/* How long may the connection be without any rail? */
static unsigned long patience(const struct rails *b)
{
	const struct sdp_settings *set = &sdp_net(b->net)->settings;

	return msecs_to_jiffies(READ_ONCE(set->rail_wait_ms));
}

/*
 * The last rail has failed. Does the connection wait for another one? Not if
 * something was sent that is not kept: it could be lost.
 */
static bool cut_off(struct rail *rail, int error, const char *place,
		    unsigned long least)
{
	struct rails *b = rail->all;
	unsigned long wait = max(patience(b), least);

	if (!b->many || !b->many->begun || !wait || rails_copied(b) ||
	    (!rail->number && b->many->state.unkept))
		return false;
	if (!b->cut_off) {
		b->cut_off = jiffies | 1;
		b->cut_off_wait = wait;
		b->last_error = error;
		b->place = place;
	}
	rails_kill(rail);
	if (b->connects && !b->released)
		rails_join_soon(b, RAILS_RETRY_CUT_OFF);
	rails_watch_start(b);
	return true;
}

/**
 * rails_give_up() - give up a rail, unless the connection ends with it
 * @rail: the rail; under the lock of its bundle
 * @error: positive errno, for the case that no other one joins in time
 * @place: why, a static string
 * @least: wait at least so long for another one
 *
 * Return: false if the connection cannot do without it.
 */
bool rails_give_up(struct rail *rail, int error, const char *place,
		   unsigned long least)
{
	struct rails_many *m = rail->all->many;

	if (!m || !sdp_rails_may_spare(&m->state, rail->number))
		return cut_off(rail, error, place, least);
	rails_kill(rail);
	return true;
}

/* Has a rail been up at the address that this one was to join at? */
static bool was_up_there(const struct rails *b, const struct rail *rail)
{
	u32 i;

	for (i = 0; i < SDP_RAILS_MAX; i++)
		if (ipv6_addr_equal(&b->up_at[i], &rail->peer.ip))
			return true;
	return false;
}

/*
 * A rail could not join. If none is left, the peer may have ended, and answer
 * that it does not know the connection. Only the answer of a host that did know
 * it counts, and not a single one: a device that is added anew has no listener
 * for a moment.
 */
static void join_failed(struct rails *b, const struct rail *rail, int error)
{
	if (!b->connects || !b->cut_off || error != ECONNREFUSED)
		b->refused = 0;
	else if (!was_up_there(b, rail))
		return;
	else if (!b->refused)
		b->refused = jiffies | 1;
	else if (time_after_eq(jiffies, b->refused + RAILS_REFUSED))
		rails_fail(b, ECONNRESET, "connection unknown to the peer");
}

/**
 * rails_lost() - the link of a rail has failed or ended
 * @rail: the rail
 * @error: positive errno
 * @place: where it has failed
 *
 * Return: false if the connection has failed with it, which the caller reports.
 */
bool rails_lost(struct rail *rail, int error, const char *place)
{
	struct rails *b = rail->all;
	bool lives = true;

	spin_lock_bh(&b->lock);
	if (rail->leaving || b->error)
		goto out;
	if (rail->number && !rail->up) {
		/* One that has never joined is no loss. */
		join_failed(b, rail, error);
		rails_kill(rail);
	} else if (rails_copied(b) ||
		   !rails_give_up(rail, error, place, 0)) {
		lives = false;
		b->error = error;
		b->failed_said = true;
	}
out:
	spin_unlock_bh(&b->lock);
	return lives;
}

/*
 * The other rails have not ended. So the connection goes on by them, unless a
 * probe shows that the peer has ended them, too.
 */
static void outlive(struct rails *b)
{
	u32 i;

	b->ending = 0;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		struct rail *rail = b->rail[i];

		if (!rail || !rail->up)
			continue;
		if (!rail->ended) {
			rails_probe_one(rail);
		} else if (b->many &&
			   sdp_rails_may_spare(&b->many->state, i)) {
			rails_kill(rail);
		} else {
			b->end_due = true;
		}
	}
}

static bool is_busy(const struct rails *b)
{
	const struct rails_many *m = b->many;
	u32 i, pending = m->state.again | m->gone;

	for (i = 0; i < SDP_RAILS_MAX; i++)
		pending |= m->state.rail[i].pending;
	return pending || b->reading || b->cut_off || !m->begun ||
	       !skb_queue_empty(&m->unsent) ||
	       sdp_rails_ack_due(&m->state, true);
}

/* The only rail, if it has made no progress for too long. */
static struct rail *late_last(struct rails *b, u32 now)
{
	struct sdp_rails *state = &b->many->state;
	u32 i;

	if (sdp_rails_working(state) != 1)
		return NULL;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		if (b->rail[i] && b->rail[i]->up && !state->rail[i].reserve &&
		    sdp_rail_late(&state->rail[i], now))
			return b->rail[i];
	}
	return NULL;
}

/* A time in the last @still jiffies moves up to now; it may be one ahead. */
static unsigned long excused(unsigned long since, unsigned long still)
{
	return time_after(jiffies, since) ? min(still, jiffies - since) : 0;
}

/*
 * This machine itself has stood still, or has not looked because nothing was
 * under way: nobody is late.
 */
static void excuse(struct rails *b, u32 now)
{
	unsigned long still = jiffies - b->many->looked_at;

	if (b->cut_off)
		b->cut_off += excused(b->cut_off, still);
	if (b->refused)
		b->refused += excused(b->refused, still);
	sdp_rails_excuse(&b->many->state, now);
	rails_rdma_excuse(b);
}

static void judge(struct rails *b)
{
	struct rails_many *m = b->many;
	u32 now = (u32)ktime_to_us(ktime_get()), late;
	struct rail *last;

	if (time_after(jiffies, m->looked_at + RAILS_STILL))
		excuse(b, now);
	m->looked_at = jiffies;
	late = sdp_rails_check(&m->state, now);
	if (late != SDP_RAIL_NONE && b->rail[late]) {
		rails_kill(b->rail[late]);
		return;
	}
	last = patience(b) ? late_last(b, now) : NULL;
	if (!last)
		last = rails_rdma_late(b);
	if (last)
		rails_give_up(last, ETIMEDOUT, "no progress", 0);
}

static void look(struct rails *b)
{
	struct rails_many *m = b->many;

	judge(b);
	if (rails_copied(b))
		rails_fail(b, ECONNRESET, "virtual machine was copied");
	else if (b->cut_off &&
		 time_after_eq(jiffies, b->cut_off + b->cut_off_wait))
		rails_fail(b, b->last_error, b->place);
	rails_resend_kept(b);
	rails_tx_begin(b);
	rails_tx_gone(b);
	rails_tx_pump(b);
	rails_tx_ack(b, time_after_eq(jiffies, m->told_at + RAILS_ACK));
}

/**
 * rails_watch_work() - work item: look at the rails
 * @work: struct rails.watch; it has a reference to the bundle
 */
void rails_watch_work(struct work_struct *work)
{
	struct rails *b = container_of(to_delayed_work(work), struct rails,
				       watch);

	spin_lock_bh(&b->lock);
	if (b->ending && !b->released &&
	    time_after_eq(jiffies, b->ending + RAILS_END))
		outlive(b);
	if (b->many && !b->released && !b->error) {
		look(b);
		if (is_busy(b))
			rails_queue(b, &b->watch, b->cut_off ?
				    RAILS_WATCH_CUT_OFF : RAILS_WATCH);
	}
	if (b->ending && !b->released)
		rails_queue(b, &b->watch, RAILS_WATCH);
	if (!b->released)
		rails_rx_pass(b);
	spin_unlock_bh(&b->lock);
	rails_put(b);
}
