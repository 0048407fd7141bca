// SPDX-License-Identifier: GPL-2.0
/*
 * Connection states: one table, and questions about a state.
 */
#include "conn.h"

/* 0 is CLOSED, which only EV_END leads to: for any other event it means "refused". */
static const u8 next_state[SDP_CONN_STATES][SDP_CONN_EVENTS] = {
	[SDP_CLOSED] = {
		[SDP_EV_HELLO_SENT]	= SDP_HELLO_SENT,
		[SDP_EV_HELLO_RCVD]	= SDP_HELLO_RCVD,
	},
	[SDP_HELLO_SENT] = {
		[SDP_EV_ESTABLISHED]	= SDP_ESTABLISHED,
	},
	[SDP_HELLO_RCVD] = {
		[SDP_EV_ESTABLISHED]	= SDP_ESTABLISHED,
	},
	[SDP_ESTABLISHED] = {
		[SDP_EV_DISC_SENT]	= SDP_DISC_SENT,
		[SDP_EV_DISC_RCVD]	= SDP_DISC_RCVD,
	},
	[SDP_DISC_SENT] = {
		[SDP_EV_DISC_ARRIVED]	= SDP_DISC_ARRIVED,
		[SDP_EV_DISC_RCVD]	= SDP_DISC_CROSSED,
	},
	[SDP_DISC_ARRIVED] = {
		[SDP_EV_DISC_RCVD]	= SDP_FINISHED,
	},
	[SDP_DISC_CROSSED] = {
		[SDP_EV_DISC_ARRIVED]	= SDP_FINISHED,
	},
	[SDP_DISC_RCVD] = {
		[SDP_EV_DISC_SENT]	= SDP_DISC_ANSWERED,
	},
	[SDP_DISC_ANSWERED] = {
		[SDP_EV_DISC_ARRIVED]	= SDP_DISC_ANSWERED,
	},
};

/**
 * sdp_conn_step() - one transition
 * @state: present state, replaced by the next one
 * @event: what has happened
 *
 * Return: false, and no change, when the event is not legal in this state.
 */
bool sdp_conn_step(enum sdp_conn_state *state, enum sdp_conn_event event)
{
	u8 next = next_state[*state][event];

	if (event == SDP_EV_END)
		next = SDP_CLOSED;
	else if (next == SDP_CLOSED)
		return false;
	*state = next;
	return true;
}

/**
 * sdp_conn_may_send() - is our half of the connection open?
 * @state: connection state
 *
 * Return: true when it is.
 */
bool sdp_conn_may_send(enum sdp_conn_state state)
{
	return state == SDP_ESTABLISHED || state == SDP_DISC_RCVD;
}

/**
 * sdp_conn_may_receive() - is the peer's half of the connection open?
 * @state: connection state
 *
 * Return: true when it is.
 */
bool sdp_conn_may_receive(enum sdp_conn_state state)
{
	return state == SDP_ESTABLISHED || state == SDP_DISC_SENT ||
	       state == SDP_DISC_ARRIVED;
}

/**
 * sdp_conn_disconn_begun() - has either side sent DisConn?
 * @state: connection state
 *
 * AbortConn is legal only from then on; before, ending the link is the abort.
 *
 * Return: true when one of them has.
 */
bool sdp_conn_disconn_begun(enum sdp_conn_state state)
{
	return state >= SDP_DISC_SENT;
}

/**
 * sdp_conn_state_name() - a state's name, for traces
 * @state: connection state
 *
 * Return: a constant string.
 */
const char *sdp_conn_state_name(enum sdp_conn_state state)
{
	static const char * const names[SDP_CONN_STATES] = {
		"closed", "hello-sent", "hello-received", "established", "disconn-sent",
		"disconn-arrived", "disconn-crossed", "disconn-received",
		"disconn-answered", "finished",
	};

	return state < SDP_CONN_STATES ? names[state] : "unknown";
}
