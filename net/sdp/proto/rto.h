/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Round-trip time of a connection by datagrams, and its retransmission timeout:
 * how long an answer may take before something is taken for lost (I4).
 *
 * The timeout follows the times that are measured and their variation. It
 * doubles each time that it expires, until there is progress without a Probe. A
 * packet that has gone twice is not measured, because its acknowledgment may be
 * that of either.
 *
 * An acknowledgment that is due soon waits up to %SDP_ACK_DELAY_US for an
 * answer of the application. For the time of a round trip on the network only
 * the others count.
 *
 * Pure arithmetic. The caller holds the lock of the connection. All times are
 * in microseconds.
 */
#ifndef SDP_PROTO_RTO_H
#define SDP_PROTO_RTO_H

#include "base.h"

/* How long an acknowledgment waits for a message that carries it. */
#define SDP_ACK_DELAY_US	4000

#define SDP_RTO_MIN_US		10000
#define SDP_RTO_MAX_US		4000000
/* Until there is a measurement. */
#define SDP_RTO_FIRST_US	200000

/**
 * struct sdp_rto - round-trip time and timeout
 * @srtt: smoothed time until an acknowledgment; 0 before the first measurement
 * @var: smoothed variation of it
 * @rtt: smoothed time of a round trip on the network; 0 before the first one
 * @doubled: how often the timeout has expired without progress
 */
struct sdp_rto {
	u32 srtt;
	u32 var;
	u32 rtt;
	u8 doubled;
};

void sdp_rto_measured(struct sdp_rto *r, u32 us, bool prompt);
u32 sdp_rto_us(const struct sdp_rto *r);
u32 sdp_rto_rtt(const struct sdp_rto *r);

#endif /* SDP_PROTO_RTO_H */
