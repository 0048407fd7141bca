/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One rail of a connection: its speed and its health (H1).
 *
 *	JOINING --joined--> ACTIVE --no progress--> SUSPECT --progress--> ACTIVE
 *	JOINING, ACTIVE, SUSPECT --error, or no progress for long--> DEAD
 *
 *	JOINING: the queue pair is being connected.
 *	ACTIVE: messages and parts of large transfers may go by it.
 *	SUSPECT: nothing new goes by it while another one is ACTIVE. What it has
 *	may still arrive.
 *	DEAD: nothing arrives any more. What the peer has not acknowledged goes
 *	again by the others (order.h).
 *
 * The speed of a rail is measured while it is busy. If it runs dry in between,
 * the measurement says only that it is at least so fast. A message goes by the
 * rail on which it would arrive first, so what a connection sends is spread in
 * proportion to the speeds, without configuration. A connection that sends one
 * message at a time keeps no rail busy: its messages go by the rail with the
 * shortest round trip, and now and then by another one, to measure that again.
 *
 * Pure arithmetic. The caller holds the lock of the engine's owner, and says
 * what time it is, in microseconds, which may wrap.
 */
#ifndef SDP_PROTO_RAIL_H
#define SDP_PROTO_RAIL_H

#include "wire.h"

/* Without progress for this long a rail is dead, microseconds. */
#define SDP_RAIL_DEAD_US	1000000
/* The shortest time without progress that makes a rail suspect. */
#define SDP_RAIL_SUSPECT_US	20000

enum sdp_rail_state {
	SDP_RAIL_JOINING,
	SDP_RAIL_ACTIVE,
	SDP_RAIL_SUSPECT,
	SDP_RAIL_DEAD,
};

/**
 * struct sdp_rail - state of one rail
 * @state: state
 * @slots: messages that its queue pair can still take
 * @pending: bytes that it has been given and that have not arrived
 * @speed: smoothed speed while it was busy, bytes in a millisecond; 0 before it
 *	has been measured
 * @srtt: smoothed time from the post of a message to its completion,
 *	microseconds; 0 before the first
 * @since: when it last made progress, or became busy; valid with @pending
 * @busy: microseconds in which it was busy, since the speed was last measured
 * @dry: in this time it has had nothing to do once
 * @sure: @speed is not only a lower limit; until then the rail is taken for as
 *	fast as the fastest one, or it would never be tried
 * @untried: @srtt is unknown, or old
 * @reserve: it is chosen only while no other rail is active
 * @moved: bytes that have arrived in that time
 */
struct sdp_rail {
	enum sdp_rail_state state;
	u16 slots;
	u32 pending;
	u32 speed;
	u32 srtt;
	u32 since;
	u32 busy;
	bool dry;
	bool sure;
	bool untried;
	bool reserve;
	u32 moved;
};

void sdp_rail_init(struct sdp_rail *r, u16 slots);
void sdp_rail_joined(struct sdp_rail *r);
void sdp_rail_dead(struct sdp_rail *r);
void sdp_rail_sent(struct sdp_rail *r, u32 bytes, u32 now);
void sdp_rail_completed(struct sdp_rail *r, u32 bytes, u32 took, u32 now);
bool sdp_rail_late(struct sdp_rail *r, u32 now);
u32 sdp_rail_choose(const struct sdp_rail *rails, u32 n, u32 bytes,
		    enum sdp_rail_state state, bool reserve);

#endif /* SDP_PROTO_RAIL_H */
