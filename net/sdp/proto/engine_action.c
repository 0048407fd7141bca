// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol engine: appends actions to the list of an event.
 */
#include "engine_internal.h"

/**
 * sdp_engine_act() - append an action
 * @acts: the list
 * @kind: what the owner has to do
 *
 * Return: the action, with only @kind set.
 */
struct sdp_action *sdp_engine_act(struct sdp_actions *acts,
				  enum sdp_action_kind kind)
{
	struct sdp_action *a;

	/*
	 * No event fills the list; the unit tests check that none comes near.
	 */
	if (acts->n < SDP_ACTIONS_MAX)
		acts->n++;
	a = &acts->list[acts->n - 1];
	memset(a, 0, sizeof(*a));
	a->kind = kind;
	return a;
}

/**
 * sdp_engine_fail() - fail the connection
 * @e: engine; dead from now on
 * @error: errno (positive)
 * @violation: what the peer did wrong, or %SDP_VALID
 * @acts: FAIL
 *
 * This is the only way in which a connection fails. Only the first failure
 * counts.
 */
void sdp_engine_fail(struct sdp_engine *e, int error,
		     enum sdp_violation violation, struct sdp_actions *acts)
{
	struct sdp_action *a;

	if (e->dead)
		return;
	e->dead = true;
	sdp_conn_step(&e->state, SDP_EV_END);
	a = sdp_engine_act(acts, SDP_ACT_FAIL);
	a->error = error;
	a->violation = violation;
}

/**
 * sdp_engine_sinkavails_over() - end the oldest of our buffers
 * @e: engine
 * @n: number of buffers
 * @acts: SINKAVAIL_OVER for each
 */
void sdp_engine_sinkavails_over(struct sdp_engine *e, u32 n,
				struct sdp_actions *acts)
{
	while (n--)
		sdp_engine_act(acts, SDP_ACT_SINKAVAIL_OVER)->id =
			sdp_sinkavail_rx_end(&e->sinkavail_rx);
}

/**
 * sdp_engine_deliver() - take the payload of a message, if it has any
 * @e: engine
 * @msg: the message, legal in this state
 * @acts: SINKAVAIL_OVER for the buffers that the payload discards or makes
 *	stale (C7), DELIVER
 */
void sdp_engine_deliver(struct sdp_engine *e, const struct sdp_msg *msg,
			struct sdp_actions *acts)
{
	struct sdp_action *a;

	if (!msg->payload_len)
		return;
	if (e->sinkavail_rx.n)
		sdp_piggyback_came(&e->piggyback);
	sdp_engine_sinkavails_over(e,
				   sdp_sinkavail_rx_data_came(&e->sinkavail_rx),
				   acts);
	a = sdp_engine_act(acts, SDP_ACT_DELIVER);
	a->offset = msg->payload;
	a->len = msg->payload_len;
	a->urgent = msg->h.flags & SDP_FLAG_OOB_PRES;
}
