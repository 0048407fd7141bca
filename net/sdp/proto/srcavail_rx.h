/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The peer's advertisement, as our receiving half sees it (requirements B3, B4, C4, C8, wire
 * section 8).
 *
 *	SrcAvail opens it. The owner reads from it by RDMA, part by part, and each part is
 *	reported (RdmaRdCompl); or it declines, and the peer sends the rest (SendSm). The
 *	last report, or SendSm, closes it. As long as nothing of it is here SinkAvail does, too.
 *
 * A cancel of the peer's is a reason to decline. What is being read when it comes is read to
 * its end and reported, because the peer keeps the memory until it has our answer.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_SRCAVAIL_RX_H
#define SDP_PROTO_SRCAVAIL_RX_H

#include "wire.h"

/**
 * struct sdp_srcavail_rx - what the peer has advertised
 * @open: there is something, and our last word about it has not been sent
 * @declined: no read is to begin any more
 * @pipe: the peer shall hear that the owner would rather be written to
 * @region: the whole of it
 * @got: bytes of it that are here, what came along included
 * @reading: bytes of the read that goes on, which follow @got
 * @unreported: bytes read that the peer has not been told of
 */
struct sdp_srcavail_rx {
	bool open;
	bool declined;
	bool pipe;
	struct sdp_region region;
	u32 got;
	u32 reading;
	u32 unreported;
};

/* Has nothing been done about it, or said, so that it can be answered by SinkAvail? */
static inline bool sdp_srcavail_rx_untouched(const struct sdp_srcavail_rx *s)
{
	return s->open && !s->declined && !s->got && !s->reading;
}

void sdp_srcavail_rx_opened(struct sdp_srcavail_rx *s,
			    const struct sdp_region *region, u32 inlined);
u32 sdp_srcavail_rx_left(const struct sdp_srcavail_rx *s);
bool sdp_srcavail_rx_read_begin(struct sdp_srcavail_rx *s, u32 bytes,
				struct sdp_region *from);
void sdp_srcavail_rx_read_end(struct sdp_srcavail_rx *s, bool ok);
void sdp_srcavail_rx_decline(struct sdp_srcavail_rx *s);
u8 sdp_srcavail_rx_answer(const struct sdp_srcavail_rx *s);
void sdp_srcavail_rx_reported(struct sdp_srcavail_rx *s);
void sdp_srcavail_rx_closed(struct sdp_srcavail_rx *s);

#endif /* SDP_PROTO_SRCAVAIL_RX_H */
