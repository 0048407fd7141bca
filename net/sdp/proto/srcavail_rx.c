// SPDX-License-Identifier: GPL-2.0
/*
 * The peer's advertisement: see srcavail_rx.h.
 */
#include "srcavail_rx.h"

/**
 * sdp_srcavail_rx_opened() - SrcAvail has arrived (B2, wire section 8)
 * @s: sink state, closed
 * @region: the whole of what is advertised, longer than @inlined
 * @inlined: bytes that came along; 0 in Pipelined only
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
 * sdp_srcavail_rx_left() - how much can be read now?
 * @s: sink state
 *
 * Return: bytes.
 */
u32 sdp_srcavail_rx_left(const struct sdp_srcavail_rx *s)
{
	return s->open && !s->declined && !s->reading ? s->region.len - s->got :
							0;
}

/**
 * sdp_srcavail_rx_read_begin() - a read of the next bytes begins (B4)
 * @s: sink state
 * @bytes: how many
 * @from: where the peer has them
 *
 * Return: false, and no change, when so many are not offered.
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
 * sdp_srcavail_rx_read_end() - that read has ended
 * @s: sink state
 * @ok: the bytes are here; otherwise none of them is
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
 * sdp_srcavail_rx_decline() - the rest shall come in messages (B3)
 * @s: sink state; nothing happens if there is none, or no rest
 */
void sdp_srcavail_rx_decline(struct sdp_srcavail_rx *s)
{
	s->declined = s->open;
}

/**
 * sdp_srcavail_rx_answer() - what has the peer to be told now? (B3, B4)
 * @s: sink state
 *
 * When all is here, what is left to be said is the report of that, so SendSm never follows it.
 *
 * Return: %SDP_MID_RDMA_RD_COMPL (@unreported bytes), then %SDP_MID_SENDSM, or 0 for nothing.
 */
u8 sdp_srcavail_rx_answer(const struct sdp_srcavail_rx *s)
{
	if (s->unreported)
		return SDP_MID_RDMA_RD_COMPL;
	return s->open && s->declined && !s->reading ? SDP_MID_SENDSM : 0;
}

/**
 * sdp_srcavail_rx_reported() - RdmaRdCompl is being sent
 * @s: sink state; closed when that was the last of it
 */
void sdp_srcavail_rx_reported(struct sdp_srcavail_rx *s)
{
	s->unreported = 0;
	s->open = s->got != s->region.len;
}

/**
 * sdp_srcavail_rx_closed() - SendSm, or SinkAvail in its place, is being sent
 * @s: sink state; closed
 */
void sdp_srcavail_rx_closed(struct sdp_srcavail_rx *s)
{
	s->open = false;
}
