/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Round-trip time of a connection by datagrams, and its retransmission timeout:
 * how long an answer may take before something is taken for lost (I4).
 *
 * The timeout follows the times that are measured and their variation. It
 * doubles each time that it expires, until the Probe that is sent then has been
 * answered, or there is progress without one. If Probes are answered again and
 * again without progress, it doubles all the same. A packet that has gone twice
 * is not measured, because its acknowledgment may be that of either. A Probe is
 * measured: its answer has its number.
 *
 * An acknowledgment that is due soon waits up to %SDP_ACK_DELAY_US for an
 * answer of the application, so the timeout is longer than what is measured by
 * at least that.
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
 * @srtt: smoothed time until an acknowledgment, or until the answer to a Probe;
 *	0 before the first measurement
 * @var: smoothed variation of it
 * @doubled: how often the timeout has doubled
 */
struct sdp_rto {
	u32 srtt;
	u32 var;
	u8 doubled;
};

void sdp_rto_measured(struct sdp_rto *r, u32 us);
u32 sdp_rto_us(const struct sdp_rto *r);

#endif /* SDP_PROTO_RTO_H */
