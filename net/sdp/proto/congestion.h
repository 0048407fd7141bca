/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion window of a connection by datagrams: how many packets may be on
 * the way.
 *
 * It begins with the whole window, which is two chunks (I5). When packets are
 * lost or marked it shrinks to half of it, once in a round trip, but not below
 * two packets: what is lost is noticed by what comes behind it. When a Probe is
 * not answered it shrinks to one packet. It grows by each acknowledged packet
 * up to half of what it was, and from there by one packet in a round trip.
 *
 * Pure arithmetic. The caller holds the lock of the connection.
 */
#ifndef SDP_PROTO_CONGESTION_H
#define SDP_PROTO_CONGESTION_H

#include "base.h"

/* What losses and marks leave. */
#define SDP_CONGESTION_MIN	2

/**
 * struct sdp_congestion - congestion window
 * @packets: packets that may be on the way, at least 1
 * @most: largest window
 * @threshold: up to here it grows by each packet
 * @count: packets acknowledged since it grew last, beyond @threshold
 */
struct sdp_congestion {
	u8 packets;
	u8 most;
	u8 threshold;
	u8 count;
};

void sdp_congestion_init(struct sdp_congestion *c, u32 most);
void sdp_congestion_acked(struct sdp_congestion *c, u32 packets);
void sdp_congestion_met(struct sdp_congestion *c);
void sdp_congestion_timeout(struct sdp_congestion *c);

#endif /* SDP_PROTO_CONGESTION_H */
