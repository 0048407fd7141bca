/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connection states and the events that change them.
 *
 * Wire section 10:
 *
 *	           Hello sent               Hello received
 *	 CLOSED ------------> HELLO_SENT    CLOSED ------------> HELLO_RCVD
 *	                           \                            /
 *	                            +-----> ESTABLISHED <------+
 *	                 DisConn sent /             \ DisConn received
 *	                     DISC_SENT               DISC_RCVD
 *	             arrived /      \ received          | DisConn sent
 *	         DISC_ARRIVED     DISC_CROSSED     DISC_ANSWERED
 *	         received \         / arrived           | the peer ends
 *	                   FINISHED                     | the link
 *	                       \-------> CLOSED <------/
 *
 * SDP_EV_END leads from every state to CLOSED.
 *
 * "Arrived" means that the peer is known to have our DisConn: the transport
 * has completed it, or the peer's MSeqAck covers it. The side that sent
 * DisConn first ends the link, in FINISHED. The other side waits for that in
 * DISC_ANSWERED. If the two DisConns have crossed, each side ends the link when
 * it reaches FINISHED.
 */
#ifndef SDP_PROTO_CONN_H
#define SDP_PROTO_CONN_H

#include "base.h"

enum sdp_conn_state {
	SDP_CLOSED,
	SDP_HELLO_SENT,
	SDP_HELLO_RCVD,
	SDP_ESTABLISHED,
	SDP_DISC_SENT,
	SDP_DISC_ARRIVED,
	SDP_DISC_CROSSED,
	SDP_DISC_RCVD,
	SDP_DISC_ANSWERED,
	SDP_FINISHED,
	SDP_CONN_STATES
};

enum sdp_conn_event {
	SDP_EV_HELLO_SENT,
	SDP_EV_HELLO_RCVD,
	SDP_EV_ESTABLISHED,
	SDP_EV_DISC_SENT,
	SDP_EV_DISC_ARRIVED,
	SDP_EV_DISC_RCVD,
	SDP_EV_END,
	SDP_CONN_EVENTS
};

bool sdp_conn_step(enum sdp_conn_state *state, enum sdp_conn_event event);
bool sdp_conn_may_send(enum sdp_conn_state state);
bool sdp_conn_may_receive(enum sdp_conn_state state);
bool sdp_conn_disconn_begun(enum sdp_conn_state state);
const char *sdp_conn_state_name(enum sdp_conn_state state);

#endif /* SDP_PROTO_CONN_H */
