// SPDX-License-Identifier: GPL-2.0
/*
 * SrcAvail that we receive: reads and answers.
 *
 * srcavail_rx.h describes the life cycle.
 */
#include "srcavail_rx.h"

/**
 * sdp_srcavail_rx_opened() - process SrcAvail (B2, wire section 8)
 * @s: the peer's SrcAvail, not open
 * @region: all of the peer's send, longer than @inlined
 * @inlined: number of bytes that SrcAvail carries; 0 only in Pipelined
 */
void sdp_srcavail_rx_opened(struct sdp_srcavail_rx *s,
			    const struct sdp_region *region, u32 inlined)
{
	memset(s, 0, sizeof(*s));
	s->open = true;
	s->region = *region;
	s->got = inlined;
}

/**
 * sdp_srcavail_rx_left() - get how much can be read now
 * @s: the peer's SrcAvail
 *
 * Return: number of bytes; 0 while a read is in flight.
 */
u32 sdp_srcavail_rx_left(const struct sdp_srcavail_rx *s)
{
	return s->open && !s->declined && !s->reading ? s->region.len - s->got :
							0;
}

/**
 * sdp_srcavail_rx_read_begin() - begin an RDMA read of the next bytes (B4)
 * @s: the peer's SrcAvail
 * @bytes: number of bytes to read
 * @from: filled in: where they are in the peer's memory
 *
 * Return: true when the read may begin. Otherwise false, and no change:
 * @bytes is 0 or more than sdp_srcavail_rx_left().
 */
bool sdp_srcavail_rx_read_begin(struct sdp_srcavail_rx *s, u32 bytes,
				struct sdp_region *from)
{
	if (!bytes || bytes > sdp_srcavail_rx_left(s))
		return false;
	s->reading = bytes;
	from->len = bytes;
	from->rkey = s->region.rkey;
	from->va = s->region.va + s->got;
	return true;
}

/**
 * sdp_srcavail_rx_read_end() - account the end of the RDMA read
 * @s: the peer's SrcAvail
 * @ok: true when we have all bytes of the read, false when we have none
 */
void sdp_srcavail_rx_read_end(struct sdp_srcavail_rx *s, bool ok)
{
	if (ok) {
		s->got += s->reading;
		s->unreported += s->reading;
	}
	s->reading = 0;
}

/**
 * sdp_srcavail_rx_decline() - ask for the rest in messages (B3)
 * @s: the peer's SrcAvail; nothing happens when it is not open
 *
 * When a read in flight completes the SrcAvail, its report is the last answer
 * and no SendSm follows.
 */
void sdp_srcavail_rx_decline(struct sdp_srcavail_rx *s)
{
	s->declined = s->open;
}

/**
 * sdp_srcavail_rx_answer() - get the answer to send now (B3, B4)
 * @s: the peer's SrcAvail
 *
 * A report goes before SendSm. The report of the last bytes closes the
 * SrcAvail, so SendSm never follows that one.
 *
 * Return: %SDP_MID_RDMA_RD_COMPL (for @unreported bytes), %SDP_MID_SENDSM, or
 * 0 for no answer.
 */
u8 sdp_srcavail_rx_answer(const struct sdp_srcavail_rx *s)
{
	if (s->unreported)
		return SDP_MID_RDMA_RD_COMPL;
	return s->open && s->declined && !s->reading ? SDP_MID_SENDSM : 0;
}

/**
 * sdp_srcavail_rx_reported() - note that RdmaRdCompl is being sent
 * @s: the peer's SrcAvail; closed when all of it has been read
 */
void sdp_srcavail_rx_reported(struct sdp_srcavail_rx *s)
{
	s->unreported = 0;
	s->open = s->got != s->region.len;
}

/**
 * sdp_srcavail_rx_closed() - note that SendSm or SinkAvail is being sent
 * @s: the peer's SrcAvail; closed afterwards
 */
void sdp_srcavail_rx_closed(struct sdp_srcavail_rx *s)
{
	s->open = false;
}
