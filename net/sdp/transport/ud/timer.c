// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: the timer of a link.
 *
 * It runs ud_link_timer() in send.c. There is one timer for all that a link
 * waits for. It is never put off: if it expires too early, it is set again. A
 * link of which nothing is in flight has no timer pending.
 *
 * The timers are those of the kernel, whose wheel serves many thousands.
 */
#include "ud.h"

/*
 * Time after which an OpenAck or a Reset is sent again, microseconds. The Open
 * has told how long a round trip takes. A peer to which the first OpenAcks get
 * lost takes the connection for open when one arrives, and may wait for us.
 */
static u32 answer_timeout(const struct ud_link *l)
{
	struct sdp_rto rto = { };

	if (l->phase == UD_CONFIRMING)
		rto = l->window.tx.rto;
	rto.doubled = l->answers ? l->answers - 1 : 0;
	return sdp_rto_us(&rto);
}

/* Microseconds until then; 0 when it is over. */
static u32 answer_wait(const struct ud_link *l, u32 now)
{
	u32 waited = now - l->answered, timeout = answer_timeout(l);

	return waited < timeout ? timeout - waited : 0;
}

/**
 * ud_answer_is_fresh() - was an OpenAck or a Reset sent just now?
 * @l: link, locked
 * @now: the time
 *
 * Return: true if it is too early to repeat it.
 */
bool ud_answer_is_fresh(const struct ud_link *l, u32 now)
{
	return l->answers && answer_wait(l, now);
}

/*
 * A Probe for the owner of an idle link may be lost, and so may its answer: no
 * window waits for it. Microseconds until it is repeated, or 0.
 */
static u32 probe_wait(const struct ud_link *l, u32 now)
{
	struct sdp_rto rto = l->window.tx.rto;
	u32 waited = now - l->probed, timeout;

	rto.doubled = l->probes;
	timeout = sdp_rto_us(&rto);
	return waited < timeout ? timeout - waited : 0;
}

static bool open_wait(const struct ud_link *l, u32 now, u32 *us)
{
	bool some = sdp_window_wait(&l->window, now, us);

	if (!l->probing || l->window.probe)
		return some;
	*us = some ? min(*us, probe_wait(l, now)) : probe_wait(l, now);
	return true;
}

/* Is there a time to wait for? */
static bool wait_of(const struct ud_link *l, u32 now, u32 *us)
{
	switch (l->phase) {
	case UD_OPENING:
		return sdp_opening_wait(&l->connect->opening, now, us);
	case UD_CONFIRMING:
	case UD_CLOSING:
		*us = answer_wait(l, now);
		return !l->answer_due;
	case UD_OPEN:
	case UD_LINGERING:
		return open_wait(l, now, us);
	default:
		return false;
	}
}

/**
 * ud_arm() - set the timer of a link
 * @l: link, locked
 * @now: the time
 */
void ud_arm(struct ud_link *l, u32 now)
{
	unsigned long at;
	u32 us;

	if (!wait_of(l, now, &us))
		return;
	at = jiffies + usecs_to_jiffies(us) + 1;
	if (timer_pending(&l->timer) && time_before_eq(l->timer.expires, at))
		return;
	refcount_inc(&l->refs);
	if (mod_timer(&l->timer, at))
		ud_link_put(l);
}

/**
 * ud_expired() - it is time
 * @l: link, locked
 * @now: the time; if it is too early, nothing happens
 *
 * Return: false if the peer does not answer.
 */
bool ud_expired(struct ud_link *l, u32 now)
{
	switch (l->phase) {
	case UD_OPENING:
		return sdp_opening_expired(&l->connect->opening, now);
	case UD_CONFIRMING:
		if (l->answer_due || answer_wait(l, now))
			return true;
		l->answer_due = true;
		return l->answers <= l->retries + UD_OPEN_ACKS_MORE;
	case UD_OPEN:
	case UD_LINGERING:
		if (l->probing && !probe_wait(l, now))
			l->window.probe = true;
		return sdp_window_expired(&l->window, now);
	case UD_CLOSING:
		if (l->answer_due || answer_wait(l, now))
			return true;
		l->answer_due = true;
		return l->answers < UD_RESETS_MOST;
	default:
		return true;
	}
}
