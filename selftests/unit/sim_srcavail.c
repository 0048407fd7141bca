// SPDX-License-Identifier: GPL-2.0
/*
 * Pair simulator: owners that send SrcAvails, and owners that read them.
 *
 * The memory of a side is its stream: address SIM_VA plus an offset holds the byte at that offset.
 */
#include "judge.h"

/*
 * B2: a write of @len bytes is advertised instead of queued. SrcAvail carries the first @inlined
 * bytes.
 */
void sim_srcavail(struct sim *s, u32 side, u32 len, u32 inlined)
{
	struct sim_side *me = &s->side[side];
	struct sim_advert *ad = &me->ad;
	struct sdp_region region = { .len = len, .rkey = ++s->keys, .va = SIM_VA + me->written };

	memset(ad, 0, sizeof(*ad));
	ad->next_mid = true;
	ad->at = me->written;
	ad->len = len;
	ad->inlined = inlined;
	ad->key = region.rkey;
	me->written += len;
	me->hold = false;
	judge_may_srcavail(s, side);
	sdp_engine_srcavail(&me->e, &region, inlined);
}

/* The writer has waited for long. If the SrcAvail has not been sent, nothing has been written. */
void sim_withdraw(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];

	sdp_engine_srcavail_cancel(&me->e);
	me->ad.withdrawn = true;
	if (me->ad.out)
		return;
	me->ad.next_mid = false;
	me->written -= me->ad.len;
}

/* The SrcAvail is over: the peer's access ends, and the rest goes as data before later writes. */
void sim_srcavail_over(struct sim *s, u32 side, u32 taken)
{
	struct sim_side *me = &s->side[side];
	struct sim_advert *ad = &me->ad;

	judge_srcavail_over(s, side, taken);
	ad->next_mid = false;
	/* C8: the SrcAvail was not sent, so nothing has been written. */
	if (!ad->out) {
		me->written -= ad->len;
		return;
	}
	ad->out = false;
	me->taken = ad->at + taken;
	me->rest = ad->len - taken;
	sim_put_rest(s, side);
}

/* B4: the application has read all earlier data and has a buffer of @bytes. */
void sim_rdma_begin(struct sim *s, u32 side, u32 bytes)
{
	struct sim_srcavail_arrived *of = &s->side[side].of;
	struct sdp_region from;

	if (!sdp_engine_rdma_read_begin(&s->side[side].e, bytes, &from))
		fault(s, "%u: a read of %u is refused", side, bytes);
	if (from.len != bytes || from.rkey != of->key || from.va != of->va + of->got)
		fault(s, "%u: a read of %u bytes somewhere else", side, from.len);
	of->reading = bytes;
}

void sim_rdma_move(struct sim *s, u32 side, u32 bytes)
{
	judge_access(s, side, bytes);
	s->side[side].of.moved += bytes;
}

/* A failed read has moved nothing. The owner then declines the rest. */
void sim_rdma_end(struct sim *s, u32 side, bool ok)
{
	struct sim_side *me = &s->side[side];
	struct sim_srcavail_arrived *of = &me->of;

	if (ok) {
		of->got += of->reading;
		of->unreported += of->reading;
		me->delivered += of->reading;
		me->read += of->reading;
	}
	of->reading = 0;
	of->moved = 0;
	sdp_engine_rdma_read_end(&me->e, ok);
	if (!ok)
		sim_decline(s, side);
}

/* B3, C9: the application has no buffer, or has had none for long. */
void sim_decline(struct sim *s, u32 side)
{
	s->side[side].of.declined = true;
	sdp_engine_srcavail_decline(&s->side[side].e);
}

/* Wire section 8: other implementations send SendSm although nothing is left to be sent. */
void sim_late(struct sim *s, u32 side)
{
	const struct sdp_tx_msg tx = { .mid = SDP_MID_SENDSM };

	sim_send(s, side, &tx, true);
}

static bool may_be_late(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];
	u32 credit = me->t.limit - me->t.sent;

	return s->cfg.late[side] && me->of.crossed && !me->of.open && credit > 1 &&
	       me->t.posted && !me->seg_urgent &&
	       me->t.sent - me->completed < s->cfg.slots[side] && !s->link_down;
}

/* May this SrcAvail step happen now? @open: the connection is established and has not ended. */
bool sim_may_advert(const struct sim *s, const struct sim_step *step, bool open)
{
	const struct sim_side *me = &s->side[step->side];
	const struct sim_advert *ad = &me->ad;
	const struct sim_srcavail_arrived *of = &me->of;

	switch (step->kind) {
	case SIM_SRCAVAIL:
		return judge_may_advertise(s, step->side) && step->arg2 &&
		       step->arg2 < step->arg &&
		       step->arg2 + sdp_wire_header_len(SDP_MID_SRC_AVAIL) <= me->z.may_send;
	case SIM_WITHDRAW:
		return open && ad->next_mid && !ad->withdrawn;
	case SIM_RDMA:
		return open && of->open && !of->declined && !of->reading && !me->unread_n &&
		       step->arg && step->arg <= of->len - of->got;
	case SIM_RDMA_MOVE:
		return step->arg && step->arg <= of->reading - of->moved && !s->link_down;
	case SIM_RDMA_END:
		return of->reading && (step->arg || of->moved == of->reading || s->link_down);
	case SIM_DECLINE:
		return open && of->open && !of->declined;
	case SIM_LARGE:
		return open && !me->unread_n && !of->open;
	case SIM_LATE:
		return open && may_be_late(s, step->side);
	}
	return false;
}

/* Carry out a SrcAvail step. The arg of SIM_RDMA_END says that the read fails. */
void sim_do_advert(struct sim *s, const struct sim_step *step)
{
	switch (step->kind) {
	case SIM_SRCAVAIL:
		sim_srcavail(s, step->side, step->arg,
			  s->side[step->side].mo.tx == SDP_MODE_PIPELINED ? 0 : step->arg2);
		break;
	case SIM_WITHDRAW:
		sim_withdraw(s, step->side);
		break;
	case SIM_RDMA:
		sim_rdma_begin(s, step->side, step->arg);
		break;
	case SIM_RDMA_MOVE:
		sim_rdma_move(s, step->side, step->arg);
		break;
	case SIM_RDMA_END:
		sim_rdma_end(s, step->side, !step->arg && !s->link_down);
		break;
	case SIM_DECLINE:
		sim_decline(s, step->side);
		break;
	case SIM_LATE:
		sim_late(s, step->side);
		break;
	case SIM_LARGE:
		judge_large(s, step->side);
		sdp_engine_large_recv(&s->side[step->side].e);
		break;
	}
}
