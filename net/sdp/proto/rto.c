// SPDX-License-Identifier: GPL-2.0
/*
 * Retransmission timeout of a connection by datagrams.
 *
 * rto.h describes it.
 */
#include "rto.h"

/**
 * sdp_rto_measured() - a round trip has been measured
 * @r: timeout
 * @us: how long it took
 *
 * The weights are those of TCP: an eighth for the time, a quarter for its
 * variation.
 */
void sdp_rto_measured(struct sdp_rto *r, u32 us)
{
	u32 off;

	us = min(max(us, 1U), (u32)SDP_RTO_MAX_US);
	if (!r->srtt) {
		r->srtt = us;
		r->var = us / 2;
		return;
	}
	off = us > r->srtt ? us - r->srtt : r->srtt - us;
	r->var = (3 * r->var + off) / 4;
	r->srtt = max((7 * r->srtt + us) / 8, 1U);
}

/**
 * sdp_rto_us() - the timeout
 * @r: timeout
 *
 * Return: microseconds.
 */
u32 sdp_rto_us(const struct sdp_rto *r)
{
	u64 us = r->srtt ? r->srtt + 4 * r->var + SDP_ACK_DELAY_US :
			   SDP_RTO_FIRST_US;

	us = max(us, (u64)SDP_RTO_MIN_US) << min((u32)r->doubled, 16U);
	return min(us, (u64)SDP_RTO_MAX_US);
}
