// SPDX-License-Identifier: GPL-2.0
/*
 * Transport over rails: rails that make no progress, and rails that have died.
 *
 * While messages are on their way, a work item looks at the rails. A rail that
 * has failed, that the peer has given up, or that has made no progress for a
 * second is released; what it had goes again by the others (H6). The connecting
 * side joins another one in its place (join.c).
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
	SDP_ADD(b->net, RailsLost, rail->up);
	b->lost += rail->up;
	if (rail->up)
		trace_sdp_rail_lost(b->local.port, b->peer.port, rail->number);
	b->rail[rail->number] = NULL;
	rail->link->one_of_many = true;
	sdp_rc.release(rail->link, true);
	if (m && rail->up) {
		sdp_rails_dead(&m->state, rail->number);
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
	/* One that has never joined is no loss. */
	if ((b->many && sdp_rails_may_spare(&b->many->state, rail->number)) ||
	    (rail->number && !rail->up)) {
		rails_kill(rail);
	} else {
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
			rail->probing = true;
			sdp_rc.probe(rail->link);
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
	return pending || !m->begun || !skb_queue_empty(&m->unsent) ||
	       sdp_rails_ack_due(&m->state, true);
}

/* Judge the rails, unless this machine itself has stood still. */
static void judge(struct rails *b)
{
	struct rails_many *m = b->many;
	u32 now = (u32)ktime_to_us(ktime_get()), late;

	if (time_after(jiffies, m->looked_at + RAILS_STILL))
		sdp_rails_excuse(&m->state, now);
	m->looked_at = jiffies;
	late = sdp_rails_check(&m->state, now);
	if (late != SDP_RAIL_NONE && b->rail[late])
		rails_kill(b->rail[late]);
}

static void look(struct rails *b)
{
	struct rails_many *m = b->many;

	judge(b);
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
			rails_queue(b, &b->watch, RAILS_WATCH);
	}
	if (b->ending && !b->released)
		rails_queue(b, &b->watch, RAILS_WATCH);
	if (!b->released)
		rails_rx_pass(b);
	spin_unlock_bh(&b->lock);
	rails_put(b);
}
