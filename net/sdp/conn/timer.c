// SPDX-License-Identifier: GPL-2.0
/*
 * The tick: what a connection does by time, because no event will.
 *
 * One timer serves several purposes. Each says when it needs the tick at the latest; the tick
 * may come earlier for another one, so each finds out whether its own time has come. The
 * timer holds a reference to the socket, runs only while there is a link, and takes the
 * socket's @lock.
 */
#include "sock.h"

/* A MSG_MORE that nobody ends is ended after this long, as with TCP. */
#define MORE_JIFFIES	(HZ / 5)
/* Buffers kept to be used again are given back after a pause this long. */
#define SPARE_JIFFIES	HZ
/* So long the peer may take to use up smaller receives before it is told that they stay. */
#define GROWTH_JIFFIES	HZ
/* What lacked memory is tried again after this long. */
#define AGAIN_JIFFIES	(HZ / 100 + 1)

static void tick_within(struct sdp_sock *ssk, unsigned long delay)
{
	unsigned long when = jiffies + delay;

	if (!timer_pending(&ssk->tick) || time_before(when, ssk->tick.expires))
		sk_reset_timer(&ssk->sk, &ssk->tick, when);
}

/**
 * sdp_tick_again() - something lacked memory and is to be tried again
 * @ssk: socket, locked
 */
void sdp_tick_again(struct sdp_sock *ssk)
{
	SDP_INC(sock_net(&ssk->sk), NoMemory);
	tick_within(ssk, AGAIN_JIFFIES);
}

/**
 * sdp_tick_watch_hold() - see whether something is held back for more to come
 * @ssk: socket, locked
 *
 * It is held for a while only, counted from the first look that finds it held.
 */
void sdp_tick_watch_hold(struct sdp_sock *ssk)
{
	if (!ssk->tx_hold) {
		ssk->hold_watched = false;
	} else if (!ssk->hold_watched) {
		ssk->hold_watched = true;
		ssk->hold_until = jiffies + MORE_JIFFIES;
		tick_within(ssk, MORE_JIFFIES);
	}
}

static void end_hold(struct sdp_sock *ssk)
{
	if (!ssk->hold_watched)
		return;
	if (time_before(jiffies, ssk->hold_until)) {
		tick_within(ssk, ssk->hold_until - jiffies);
		return;
	}
	/* A writer that is copying ends its hold itself. */
	if (!mutex_is_locked(&ssk->tx_mutex))
		ssk->tx_hold = false;
	ssk->hold_watched = false;
}

/**
 * sdp_tick_watch_spares() - a buffer is kept to be used again
 * @ssk: socket, locked
 *
 * All of them are given back once the connection is idle.
 */
void sdp_tick_watch_spares(struct sdp_sock *ssk)
{
	if (ssk->spares)
		return;
	ssk->spares = true;
	tick_within(ssk, SPARE_JIFFIES);
}

static bool lately(unsigned long when)
{
	return when && time_before(jiffies, when + SPARE_JIFFIES);
}

static void drop_spares(struct sdp_sock *ssk)
{
	if (!ssk->spares)
		return;
	if (!sdp_memory_is_short(&ssk->sk) &&
	    (lately(ssk->last_sent) || lately(ssk->last_received))) {
		tick_within(ssk, SPARE_JIFFIES);
		return;
	}
	ssk->spares = false;
	__skb_queue_purge(&ssk->tx_blocks);
	if (ssk->link->ops->trim)
		ssk->link->ops->trim(ssk->link);
}

/**
 * sdp_tick_watch_growth() - our receives are growing, or are not any more (E2)
 * @ssk: socket, locked
 * @growing: larger ones are posted, and the peer has not been told yet
 */
void sdp_tick_watch_growth(struct sdp_sock *ssk, bool growing)
{
	if (growing && !ssk->growth_watched) {
		ssk->growth_until = jiffies + GROWTH_JIFFIES;
		tick_within(ssk, GROWTH_JIFFIES);
	}
	ssk->growth_watched = growing;
}

/* The peer may be waiting for our answer before it sends on, or rest: then they stay small. */
static void end_growth(struct sdp_sock *ssk)
{
	if (!ssk->growth_watched)
		return;
	if (time_before(jiffies, ssk->growth_until))
		tick_within(ssk, ssk->growth_until - jiffies);
	else
		sdp_engine_resize_refuse(&ssk->engine);
}

static unsigned long rest_jiffies(const struct sdp_sock *ssk)
{
	return msecs_to_jiffies(READ_ONCE(
		sdp_net(sock_net(&ssk->sk))->settings.resize_idle_ms));
}

/**
 * sdp_tick_watch_rest() - see whether the peer's receives have grown, or it has a ring
 * @ssk: socket, locked
 *
 * Once nothing has been sent for a while, it may have smaller ones again, and the ring back.
 */
void sdp_tick_watch_rest(struct sdp_sock *ssk)
{
	if (ssk->rest_watched || !(sdp_engine_may_shrink(&ssk->engine) ||
				   sdp_ring_out_active(&ssk->engine.ring_out)))
		return;
	ssk->rest_watched = true;
	tick_within(ssk, rest_jiffies(ssk));
}

/* Returns whether something is to be said, and sdp_size_rest()'s end has to follow. */
static bool end_rest(struct sdp_sock *ssk)
{
	unsigned long until = ssk->last_sent + rest_jiffies(ssk);

	if (!ssk->rest_watched)
		return false;
	if (time_before(jiffies, until)) {
		tick_within(ssk, until - jiffies);
		return false;
	}
	ssk->rest_watched = false;
	return sdp_size_rest(ssk);
}

/**
 * sdp_tick_stop() - the link goes, and all that the tick looks after with it
 * @ssk: socket, locked; there is another reference to it
 */
void sdp_tick_stop(struct sdp_sock *ssk)
{
	sk_stop_timer(&ssk->sk, &ssk->tick);
	ssk->spares = false;
	ssk->hold_watched = false;
	ssk->growth_watched = false;
	ssk->rest_watched = false;
}

/**
 * sdp_tick() - the timer
 * @timer: sdp_sock.tick
 */
void sdp_tick(struct timer_list *timer)
{
	struct sdp_sock *ssk = timer_container_of(ssk, timer, tick);
	struct sdp_todo todo = { };
	bool smaller;

	sdp_stream_lock(ssk);
	/* It may have waited for the lock while the link went. */
	if (ssk->link) {
		end_hold(ssk);
		drop_spares(ssk);
		end_growth(ssk);
		smaller = end_rest(ssk);
		sdp_stream_progress(ssk, &todo);
		if (smaller) {
			sdp_engine_shrink_end(&ssk->engine);
			sdp_engine_ring_stay(&ssk->engine);
		}
	}
	sdp_stream_unlock(ssk, &todo);
	sock_put(&ssk->sk);
}
