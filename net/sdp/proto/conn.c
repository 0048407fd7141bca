// SPDX-License-Identifier: GPL-2.0
/*
 * Connection states: transition table and predicates on a state.
 */
#include "conn.h"

/*
 * An entry of 0 means that the event is not legal in that state. 0 is also
 * CLOSED, but only SDP_EV_END leads there, and sdp_conn_step() handles that
 * event without the table.
 */
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
 * sdp_conn_step() - make one transition
 * @state: present state, replaced by the next one
 * @event: event that has happened
 *
 * Return: true when the event is legal in this state. Otherwise false, and
 * @state is unchanged.
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
 * Return: true when we may send data.
 */
bool sdp_conn_may_send(enum sdp_conn_state state)
{
	return state == SDP_ESTABLISHED || state == SDP_DISC_RCVD;
}

/**
 * sdp_conn_may_receive() - is the peer's half of the connection open?
 * @state: connection state
 *
 * Return: true when the peer may send data.
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
 * AbortConn is legal only from then on. Before that, a side aborts the
 * connection by ending the link.
 *
 * Return: true when a DisConn has been sent or received.
 */
bool sdp_conn_disconn_begun(enum sdp_conn_state state)
{
	return state >= SDP_DISC_SENT;
}

/**
 * sdp_conn_state_name() - name of a state, for traces
 * @state: connection state
 *
 * Return: a constant string.
 */
const char *sdp_conn_state_name(enum sdp_conn_state state)
{
	static const char * const names[SDP_CONN_STATES] = {
		"closed", "hello-sent", "hello-received", "established",
		"disconn-sent", "disconn-arrived", "disconn-crossed",
		"disconn-received", "disconn-answered", "finished",
	};

	return state < SDP_CONN_STATES ? names[state] : "unknown";
}
