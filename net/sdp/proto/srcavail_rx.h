/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SrcAvail that we receive: state of the peer's advertised large send.
 *
 * Requirements B3, B4, C4, C8, wire section 8. SrcAvail opens the
 * advertisement. The owner then reads from it by RDMA, part by part, and the
 * engine reports each part (RdmaRdCompl). Or the owner declines (SendSm), and
 * the peer sends the rest as Data. The report of the last part, or SendSm,
 * closes the advertisement. As long as we have none of its bytes, SinkAvail
 * closes it as well.
 *
 * SrcAvailCancel makes us decline. An RDMA read that is in flight then
 * continues to its end and is reported, because the peer keeps the memory
 * until it has our answer.
 *
 * Pure arithmetic. The caller holds the lock of the engine's owner.
 */
#ifndef SDP_PROTO_SRCAVAIL_RX_H
#define SDP_PROTO_SRCAVAIL_RX_H

#include "wire.h"

/**
 * struct sdp_srcavail_rx - what the peer advertises by SrcAvail
 * @open: the peer has an open SrcAvail: we have not sent our last answer
 * @declined: no further RDMA read may begin
 * @pipe: our answer is to have REQ_PIPE: the reader would rather be written to
 * @region: all of the peer's send, with the inlined bytes
 * @keys: its keys for several rails
 * @got: number of its bytes that we have, with the inlined bytes
 * @reading: length of the RDMA read in flight, which follows @got, in bytes
 * @unreported: number of bytes read that the peer has not been told of
 */
struct sdp_srcavail_rx {
	bool open;
	bool declined;
	bool pipe;
	struct sdp_region region;
	struct sdp_rail_keys keys;
	u32 got;
	u32 reading;
	u32 unreported;
};

/**
 * sdp_srcavail_rx_untouched() - may SinkAvail answer the peer's SrcAvail?
 * @s: the peer's SrcAvail
 *
 * Return: true when it is open and we have neither bytes of it, nor a read in
 * flight, nor declined it.
 */
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
