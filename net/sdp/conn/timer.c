// SPDX-License-Identifier: GPL-2.0
/*
 * The tick: what a connection does after a delay, without an event.
 *
 * One timer (sdp_sock.timer) has several uses:
 *
 *	retry	memory was short, or the transport has kept messages
 *	hold	ends a MSG_MORE that no further write has ended
 *	spares	frees spare buffers when the connection is idle
 *	growth	gives up larger receives if the peer takes too long (E2)
 *	rest	gives back the peer's larger receives and its ring after a pause
 *
 * Each use sets the latest time at which it needs the tick. The tick may come
 * earlier for another use, so each use checks whether its own time has come.
 *
 * The pending timer holds a reference to the socket. It is armed only while the
 * socket has a link, and it takes the socket's lock.
 */
#include "conn.h"
#include "memory.h"
#include "output.h"
#include "rdma_buf.h"
#include "resize.h"
#include "timer.h"

/* MSG_MORE holds data back for this time at most, as with TCP. */
#define MORE_JIFFIES	(HZ / 5)
/* Spare buffers are freed after a pause of this length. */
#define SPARE_JIFFIES	HZ
/* Time that the peer gets to use up its smaller receives (E2). */
#define GROWTH_JIFFIES	HZ
/* Delay before a retry, when memory was short or messages were kept. */
#define AGAIN_JIFFIES	(HZ / 100 + 1)

/* Let the tick come after @delay jiffies, or earlier. */
static void tick_within(struct sdp_sock *ssk, unsigned long delay)
{
	unsigned long when = jiffies + delay;

	if (!timer_pending(&ssk->timer) ||
	    time_before(when, ssk->timer.expires))
		sk_reset_timer(&ssk->sk, &ssk->timer, when);
}

/**
 * sdp_timer_again() - retry soon: memory was short, or messages were kept
 * @ssk: socket, locked, with a link
 *
 * The tick then posts receives and sends what it can.
 */
void sdp_timer_again(struct sdp_sock *ssk)
{
	SDP_INC(sock_net(&ssk->sk), NoMemory);
	tick_within(ssk, AGAIN_JIFFIES);
}

/**
 * sdp_timer_watch_hold() - limit the time for which MSG_MORE holds data back
 * @ssk: socket, locked, with a link
 *
 * The time starts with the first call that finds @tx_hold set.
 */
void sdp_timer_watch_hold(struct sdp_sock *ssk)
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
	/* A writer that is copying now ends its hold itself. */
	if (!mutex_is_locked(&ssk->tx_mutex))
		ssk->tx_hold = false;
	ssk->hold_watched = false;
}

/**
 * sdp_timer_watch_spares() - let the tick free spare buffers
 * @ssk: socket, locked, with a link; it has kept a buffer for reuse
 *
 * All spare buffers are freed once the connection is idle or memory is short.
 */
void sdp_timer_watch_spares(struct sdp_sock *ssk)
{
	if (ssk->spares)
		return;
	ssk->spares = true;
	tick_within(ssk, SPARE_JIFFIES);
}

/* Is @when within the last SPARE_JIFFIES? 0 means never. */
static bool was_lately(unsigned long when)
{
	return when && time_before(jiffies, when + SPARE_JIFFIES);
}

static void drop_spares(struct sdp_sock *ssk)
{
	bool is_short = sdp_memory_is_short(&ssk->sk);

	if (!ssk->spares)
		return;
	if (is_short || !was_lately(ssk->rdma_bufs_used))
		sdp_rdma_bufs_free(ssk);
	if (!is_short &&
	    (was_lately(ssk->last_sent) || was_lately(ssk->last_received))) {
		tick_within(ssk, SPARE_JIFFIES);
		return;
	}
	ssk->spares = false;
	__skb_queue_purge(&ssk->tx_blocks);
	if (ssk->link->ops->trim)
		ssk->link->ops->trim(ssk->link);
}

/**
 * sdp_timer_watch_growth() - limit the time for which receives may grow (E2)
 * @ssk: socket, locked, with a link
 * @growing: larger receives are posted, and the peer has not been told yet
 */
void sdp_timer_watch_growth(struct sdp_sock *ssk, bool growing)
{
	if (growing && !ssk->growth_watched) {
		ssk->growth_until = jiffies + GROWTH_JIFFIES;
		tick_within(ssk, GROWTH_JIFFIES);
	}
	ssk->growth_watched = growing;
}

/*
 * We answer a resize request when the peer has used up all smaller receives.
 * The peer may not use them up: it may be idle, or wait for the answer before
 * it sends more. So after GROWTH_JIFFIES we refuse, and the receives stay
 * small.
 */
static void end_growth(struct sdp_sock *ssk)
{
	if (!ssk->growth_watched)
		return;
	if (time_before(jiffies, ssk->growth_until))
		tick_within(ssk, ssk->growth_until - jiffies);
	else
		sdp_engine_resize_refuse(&ssk->engine);
}

/* Idle time after which the sending half is at rest. */
static unsigned long rest_jiffies(const struct sdp_sock *ssk)
{
	return msecs_to_jiffies(READ_ONCE(
		sdp_net(sock_net(&ssk->sk))->settings.resize_idle_ms));
}

/**
 * sdp_timer_watch_rest() - give back the peer's memory when nothing is sent
 * @ssk: socket, locked, with a link
 *
 * If the peer has larger receives or a ring for what we send, then after
 * resize_idle_ms without data we tell it that it may have smaller receives
 * again, and that we no longer use the ring.
 */
void sdp_timer_watch_rest(struct sdp_sock *ssk)
{
	if (ssk->rest_watched || !(sdp_engine_may_shrink(&ssk->engine) ||
				   sdp_ring_out_active(&ssk->engine.ring_out)))
		return;
	ssk->rest_watched = true;
	tick_within(ssk, rest_jiffies(ssk));
}

/*
 * Returns the result of sdp_resize_give_back(): if true there is a message to
 * send, and then the calls that sdp_resize_give_back() demands must follow.
 */
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
	return sdp_resize_give_back(ssk);
}

/**
 * sdp_timer_stop() - stop the tick because the socket loses its link
 * @ssk: socket, locked; the caller has a reference besides the timer's
 */
void sdp_timer_stop(struct sdp_sock *ssk)
{
	sk_stop_timer(&ssk->sk, &ssk->timer);
	ssk->spares = false;
	ssk->hold_watched = false;
	ssk->growth_watched = false;
	ssk->rest_watched = false;
}

/**
 * sdp_timer_run() - timer: the tick
 * @timer: sdp_sock.timer; drops the reference of the pending timer
 */
void sdp_timer_run(struct timer_list *timer)
{
	struct sdp_sock *ssk = timer_container_of(ssk, timer, timer);
	struct sdp_todo todo = { };
	bool smaller;

	sdp_conn_lock(ssk);
	/* The socket may have lost its link before we had the lock. */
	if (ssk->link) {
		end_hold(ssk);
		drop_spares(ssk);
		end_growth(ssk);
		smaller = end_rest(ssk);
		sdp_conn_progress(ssk, &todo);
		if (smaller) {
			sdp_engine_shrink_end(&ssk->engine);
			sdp_engine_ring_stay(&ssk->engine);
		}
	}
	sdp_conn_unlock(ssk, &todo);
	sock_put(&ssk->sk);
}
