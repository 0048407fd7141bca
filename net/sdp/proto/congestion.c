// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion window of a connection by datagrams.
 *
 * congestion.h describes it.
 */
#include "congestion.h"

/**
 * sdp_congestion_init() - a connection begins
 * @c: congestion window
 * @most: largest window, in packets, 1 to 255
 */
void sdp_congestion_init(struct sdp_congestion *c, u32 most)
{
	*c = (struct sdp_congestion){
		.packets = most, .most = most, .threshold = most,
	};
}

/**
 * sdp_congestion_acked() - packets have arrived
 * @c: congestion window
 * @packets: how many, at most @c->most
 */
void sdp_congestion_acked(struct sdp_congestion *c, u32 packets)
{
	u32 quick = c->packets < c->threshold ?
			    min(packets, (u32)(c->threshold - c->packets)) :
			    0;

	c->packets += quick;
	if (c->packets == c->most) {
		c->count = 0;
		return;
	}
	packets = c->count + packets - quick;
	while (packets >= c->packets && c->packets < c->most) {
		packets -= c->packets;
		c->packets++;
	}
	c->count = c->packets < c->most ? packets : 0;
}

/**
 * sdp_congestion_met() - packets were lost, or marked
 * @c: congestion window
 *
 * The caller says so once in a round trip.
 */
void sdp_congestion_met(struct sdp_congestion *c)
{
	c->packets = max(c->packets / 2, SDP_CONGESTION_MIN);
	c->threshold = c->packets;
	c->count = 0;
}

/**
 * sdp_congestion_timeout() - a Probe was not answered
 * @c: congestion window
 */
void sdp_congestion_timeout(struct sdp_congestion *c)
{
	/* Several in a row are one outage. */
	if (c->packets > 1)
		sdp_congestion_met(c);
	c->packets = 1;
}
