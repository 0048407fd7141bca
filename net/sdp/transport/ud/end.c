// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: work item and end of a link.
 *
 * The work item does everything that may sleep. It never runs concurrently
 * with itself. Flags tell what to do.
 *
 * We end the link:
 *	release() -> linger until all messages have arrived -> send Resets until
 *	the peer answers by its own, or a few times -> up->released -> rest, so
 *	that the number is not used again soon -> forget
 *
 * The peer ends the link:
 *	Reset -> send one in return -> up->ended -> release() -> up->released ->
 *	rest; a Reset that comes again is answered -> forget
 *
 * The device is removed, or the peer does not answer:
 *	up->failed -> release() -> up->released -> forget
 */
#include <linux/slab.h>

#include "ud.h"

/* A wake-up of the work item is enough; this is the limit without one. */
#define CLOSE_LOOK	HZ

static bool device_going(const struct ud_link *l)
{
	return l->port && READ_ONCE(l->port->dev->going);
}

/* Have all messages arrived at the peer? Under the lock. */
static bool all_arrived(const struct ud_link *l)
{
	return skb_queue_empty(&l->sent) && skb_queue_empty(&l->unsent);
}

/* Begin to send Resets. Under the lock. */
static void begin_closing(struct ud_link *l)
{
	l->phase = UD_CLOSING;
	l->closes = true;
	l->answers = 0;
	l->answer_due = true;
	l->rests = jiffies + UD_CLOSE_MOST;
	ud_look(l);
}

/* Nothing is awaited any more. A live peer is told, once. Under the lock. */
static void close_at_once(struct ud_link *l)
{
	if (!l->dead && !l->ended && !l->closes)
		begin_closing(l);
	l->phase = UD_CLOSED;
}

/* A step of the end of a released link. Under the lock. */
static void close_step(struct ud_link *l)
{
	bool lost = l->dead || l->ended || device_going(l);

	switch (l->phase) {
	case UD_OPENING:
		/* Perhaps the queue pairs that we know are those of before. */
		ud_peer_learn(l->peer, NULL);
		fallthrough;
	case UD_RESOLVING:
		l->phase = UD_CLOSED;
		break;
	case UD_CONFIRMING:
	case UD_OPEN:
		l->rests = jiffies + UD_LINGER_MOST;
		fallthrough;
	case UD_LINGERING:
		if (lost)
			close_at_once(l);
		else if (test_bit(UD_ABORTED, &l->flags) || all_arrived(l) ||
			 time_after_eq(jiffies, l->rests))
			begin_closing(l);
		else
			l->phase = UD_LINGERING;
		break;
	case UD_CLOSING:
		if (lost || time_after_eq(jiffies, l->rests))
			l->phase = UD_CLOSED;
		break;
	default:
		break;
	}
}

/* Returns the time until the next look, or 0 if the link is closed. */
static unsigned long link_close(struct ud_link *l)
{
	bool closed;

	spin_lock_bh(&l->lock);
	close_step(l);
	closed = l->phase >= UD_CLOSED;
	spin_unlock_bh(&l->lock);
	if (l->qp)
		ud_qp_run(l->qp);
	return closed ? 0 : CLOSE_LOOK;
}

static void purge_messages(struct ud_link *l)
{
	__skb_queue_purge(&l->sent);
	__skb_queue_purge(&l->unsent);
	__skb_queue_purge(&l->spare);
	kfree_skb(l->arriving);
	l->arriving = NULL;
	l->cursor = NULL;
}

/* The owner's part ends. Returns the time until the next look, or 0. */
static unsigned long link_leave_owner(struct ud_link *l)
{
	bool busy;

	spin_lock_bh(&l->lock);
	l->phase = UD_GONE;
	busy = l->users;
	if (!busy)
		purge_messages(l);
	spin_unlock_bh(&l->lock);
	if (busy)
		return UD_QUIET_WAIT;
	l->rests = jiffies + UD_REST;
	set_bit(UD_LEFT, &l->flags);
	l->link.up->released(&l->link);
	return 0;
}

/* Take the link off the list of those that have something to send. */
static void link_unready(struct ud_link *l)
{
	struct ud_qp *qp = l->qp;
	bool was;

	/* The outer lock: ud_qp_run() may be about to send for the link. */
	spin_lock_bh(&qp->send_lock);
	spin_lock(&qp->ready_lock);
	was = !list_empty(&l->ready_node);
	list_del_init(&l->ready_node);
	spin_unlock(&qp->ready_lock);
	spin_unlock_bh(&qp->send_lock);
	if (was)
		ud_link_put(l);
}

/* Nothing reaches the link any more after this; free what it holds. */
static void link_forget(struct ud_link *l)
{
	spin_lock_bh(&l->lock);
	l->phase = UD_FORGOTTEN;
	spin_unlock_bh(&l->lock);
	if (sdp_timer_end(&l->timer))
		ud_link_put(l);
	if (l->port) {
		link_unready(l);
		ud_port_detach(l);
	}
	kfree(l->connect);
	kfree(l->ack);
	l->connect = NULL;
	l->ack = NULL;
	ud_link_put(l);
}

/* Returns the time until the next look; 0 if the link is forgotten. */
static unsigned long link_end(struct ud_link *l)
{
	unsigned long wait;
	long rest;

	if (!test_bit(UD_LEFT, &l->flags)) {
		wait = link_close(l) ?: link_leave_owner(l);
		if (wait)
			return wait;
	}
	rest = l->rests - jiffies;
	if (rest > 0 && l->port && !l->dead && !device_going(l))
		return rest;
	link_forget(l);
	return 0;
}

/* Do what the flags ask for. Returns the time until the next call, or 0. */
static unsigned long link_step(struct ud_link *l)
{
	bool released = test_bit(UD_RELEASED, &l->flags);

	if (test_and_clear_bit(UD_START, &l->flags) && !released)
		ud_resolve(l);
	if (test_and_clear_bit(UD_BROKEN, &l->flags))
		ud_link_fail(l, EPROTO, "message too long for datagrams");
	ud_resolve_forget(l, released);
	return released ? link_end(l) : 0;
}

/**
 * ud_link_work() - work item of a link
 * @work: ud_link.work; it has a reference while it is queued
 */
void ud_link_work(struct work_struct *work)
{
	struct ud_link *l =
		container_of(to_delayed_work(work), struct ud_link, work);
	unsigned long wait = 0;

	if (READ_ONCE(l->phase) != UD_FORGOTTEN)
		wait = link_step(l);
	if (!wait || !queue_delayed_work(ud_wq, &l->work, wait))
		ud_link_put(l);
}

/**
 * ud_link_discard() - free a link that never had an owner
 * @l: link; the caller has the first reference, which is dropped
 *
 * May sleep.
 */
void ud_link_discard(struct ud_link *l)
{
	link_forget(l);
}
