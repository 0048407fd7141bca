// SPDX-License-Identifier: GPL-2.0
/*
 * Judge of the pair simulator: SrcAvail and its answers.
 *
 * Requirements B2-B4, C4 and wire section 8, Combined mode.
 */
#include <inttypes.h>

#include "judge.h"

static bool alive(const struct sim_side *me)
{
	return me->established && !me->failed && !me->ended;
}

/*
 * B2, C3, C9: a SrcAvail may be sent outside Buffered mode, one at a time, while neither the
 * peer's SrcAvail nor its SinkAvails are open. G4: never by NIC, because the answer could be stuck
 * behind data that the peer's adapter holds back.
 */
bool judge_may_advertise(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];

	return alive(me) && !sim_by_nic(s) && !me->shutdown && !me->ad.next_mid && !me->of.open &&
	       me->mo.tx != SDP_MODE_BUFFERED && !me->mo.due && !me->pl.n && !me->pl.unreported;
}

/* The owner is about to begin a SrcAvail. Check that the engine allows it. */
void judge_may_srcavail(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];

	if (!sdp_engine_may_srcavail(&me->e))
		fault(s, "%u: nothing is advertised and nothing may be", side);
	if (sdp_engine_srcavail_inline_max(&me->e) !=
	    (me->mo.tx == SDP_MODE_PIPELINED ? 0 : me->z.may_send - 32))
		rule(s, "%u: %u bytes may go along, into receives of %u", side,
		     sdp_engine_srcavail_inline_max(&me->e), me->z.may_send);
}

static void advert_sent(struct sim *s, u32 side, const u8 *header, u32 payload)
{
	struct sim_side *me = &s->side[side];
	struct sim_advert *ad = &me->ad;

	s->sent[6]++;
	if (!ad->next_mid || ad->out || me->disconn_sent)
		fault(s, "%u: SrcAvail without a reason", side);
	if (me->segs || me->rest || me->taken != ad->at)
		fault(s, "%u: SrcAvail before what was written before it", side);
	if (payload != ad->inlined || be(header + 16, 4) != ad->len ||
	    be(header + 20, 4) != ad->key ||
	    ((u64)be(header + 24, 4) << 32 | be(header + 28, 4)) != SIM_VA + ad->at)
		fault(s, "%u: SrcAvail with %u bytes says something else", side, payload);
	ad->out = true;
	ad->seq = me->t.sent;
	if (payload)
		me->t.last_data = me->t.sent;
}

static void cancel_sent(struct sim *s, u32 side)
{
	struct sim_advert *ad = &s->side[side].ad;

	s->sent[9]++;
	if (!ad->out || !ad->withdrawn || ad->cancel_sent)
		fault(s, "%u: SrcAvailCancel without a reason", side);
	ad->cancel_sent = true;
}

static void report_sent(struct sim *s, u32 side, u32 count)
{
	struct sim_srcavail_arrived *of = &s->side[side].of;

	s->sent[7]++;
	if (!of->open || !count || count != of->unreported)
		fault(s, "%u: reports %u bytes, has read %u", side, count, of->unreported);
	of->unreported = 0;
	of->open = of->got != of->len;
}

/* Wire section 8: SendSm may answer a cancel that has crossed the last RdmaRdCompl. */
static bool late_sent(struct sim_srcavail_arrived *of)
{
	bool late = of->crossed && !of->open;

	of->crossed = false;
	return late;
}

static void decline_sent(struct sim *s, u32 side)
{
	struct sim_srcavail_arrived *of = &s->side[side].of;

	if (late_sent(of))
		return;
	s->sent[8]++;
	if (!of->open || !of->declined || of->reading || of->unreported || of->got == of->len)
		fault(s, "%u: SendSm, %s, %u of %u here, %u unreported, %u being read", side,
		      of->declined ? "declined" : "not declined", of->got, of->len,
		      of->unreported, of->reading);
	of->open = false;
}

/*
 * Check a message that is being sent and is already counted. Returns true when it was handled
 * here.
 */
bool judge_advert_sent(struct sim *s, u32 side, const u8 *header, u32 payload)
{
	struct sim_side *me = &s->side[side];

	switch (header[0]) {
	case SDP_MID_SRC_AVAIL:
		advert_sent(s, side, header, payload);
		return true;
	case SDP_MID_SRC_CANCEL:
		cancel_sent(s, side);
		return true;
	case SDP_MID_RDMA_RD_COMPL:
		report_sent(s, side, be(header + 16, 4));
		return true;
	case SDP_MID_SENDSM:
		decline_sent(s, side);
		return true;
	}
	if (me->ad.out && (payload || header[0] == SDP_MID_DISCONN))
		fault(s, "%u: MID %02x with %u bytes overtakes an advertisement (wire 8)", side,
		      header[0], payload);
	return false;
}

static void advert_received(struct sim *s, u32 side, const u8 *header)
{
	struct sim_srcavail_arrived *of = &s->side[side].of;

	/* C8: our SinkAvail wins, and the peer will write into that buffer. */
	if (s->side[side].bu.n && s->side[side].bu.list[0].seq)
		return;
	memset(of, 0, sizeof(*of));
	of->open = true;
	of->len = be(header + 16, 4);
	of->key = be(header + 20, 4);
	of->va = (u64)be(header + 24, 4) << 32 | be(header + 28, 4);
	of->got = be(header + 4, 4) - 32;
	of->told = false;
}

/* Had the sender of this answer received our open SrcAvail? If not, the answer is a late one. */
static bool answers(struct sim *s, u32 side, const u8 *header)
{
	struct sim_advert *ad = &s->side[side].ad;

	return ad->out && be(header + 12, 4) - s->cfg.seq[side] >= ad->seq;
}

/* Account for a message that is being received and is already counted. */
void judge_advert_received(struct sim *s, u32 side, const u8 *header)
{
	struct sim_side *me = &s->side[side];
	struct sim_advert *ad = &me->ad;

	switch (header[0]) {
	case SDP_MID_SRC_AVAIL:
		advert_received(s, side, header);
		break;
	case SDP_MID_SRC_CANCEL:
		me->of.declined |= me->of.open;
		/* A cancel can only cross the last report of the SrcAvail that we knew. */
		me->of.crossed = !me->of.open && me->of.len && me->of.got == me->of.len;
		break;
	case SDP_MID_RDMA_RD_COMPL:
		ad->read += be(header + 16, 4);
		ad->over_due = ad->inlined + ad->read == ad->len;
		if (ad->over_due)
			judge_mode_answered(s, side, true, header[1] & SDP_FLAG_REQ_PIPE);
		break;
	case SDP_MID_SENDSM:
		ad->over_due = answers(s, side, header);
		if (ad->over_due)
			judge_mode_answered(s, side, false, header[1] & SDP_FLAG_REQ_PIPE);
		ad->pipe_due = ad->over_due && !ad->withdrawn && header[1] & SDP_FLAG_REQ_PIPE;
		break;
	}
}

/* The inlined bytes have been delivered, and the owner is told of the rest. */
void judge_srcavail_arrived(struct sim *s, u32 side, u32 len)
{
	struct sim_srcavail_arrived *of = &s->side[side].of;

	if (!of->open || of->told || len != of->len - of->got)
		fault(s, "%u: told of %u bytes, %u of %u are here", side, len, of->got, of->len);
	of->told = true;
}

/* B5, C10: the owner learns whether the peer that declined would take an RDMA write. */
void judge_srcavail_pipe(struct sim *s, u32 side, bool pipe)
{
	struct sim_advert *ad = &s->side[side].ad;

	if (pipe != ad->pipe_due)
		fault(s, "%u: over, and %s to be written", side, pipe ? "is" : "is not");
	ad->pipe_due = false;
}

void judge_srcavail_over(struct sim *s, u32 side, u32 taken)
{
	struct sim_side *me = &s->side[side], *peer = &s->side[!side];
	struct sim_advert *ad = &me->ad;

	if (!ad->over_due)
		fault(s, "%u: over, and the peer has not said so", side);
	/* In Pipelined, earlier data may still be in flight into a buffer. */
	if (taken != ad->inlined + ad->read || (ad->out && !me->pl.n &&
						peer->delivered != ad->at + taken))
		fault(s, "%u: over at %u, the peer has %" PRIu64, side, taken,
		      peer->delivered - ad->at);
	ad->over_due = false;
}

/* The peer's RDMA hardware checks every access. */
void judge_access(struct sim *s, u32 side, u32 bytes)
{
	struct sim_side *me = &s->side[side], *peer = &s->side[!side];
	struct sim_srcavail_arrived *of = &me->of;
	struct sim_advert *ad = &peer->ad;
	u64 from = of->va + of->got + of->moved - SIM_VA;

	if (!ad->out || ad->key != of->key)
		fault(s, "%u: reads with a key that is void", side);
	if (from < ad->at + ad->inlined || from + bytes > ad->at + ad->len)
		fault(s, "%u: reads outside of what is advertised", side);
	if (from != me->delivered + of->moved)
		fault(s, "%u: reads %" PRIu64 " in the place of %" PRIu64, side, from,
		      me->delivered + of->moved);
}

/* Is an answer to the peer's SrcAvail due? */
static bool answer_due(const struct sim_srcavail_arrived *of)
{
	return of->open && (of->unreported || (of->declined && !of->reading));
}

/* No message goes now. @could: credits, receives and slots would allow one. */
void judge_advert_silent(struct sim *s, u32 side, bool could)
{
	struct sim_side *me = &s->side[side];
	struct sim_advert *ad = &me->ad;
	struct sim_srcavail_arrived *of = &me->of;
	u32 left = of->open && !of->declined && !of->reading ? of->len - of->got : 0;

	if (!alive(me))
		return;
	if (ad->over_due)
		fault(s, "%u: not told that it is over", side);
	if (of->open && !of->told)
		fault(s, "%u: not told what is advertised", side);
	if (sdp_engine_srcavail_rx_left(&me->e) != left)
		fault(s, "%u: %u bytes may be read, not %u", side, left,
		      sdp_engine_srcavail_rx_left(&me->e));
	if (sdp_engine_may_srcavail(&me->e) != judge_may_advertise(s, side))
		fault(s, "%u: something may be advertised, or not, and the engine disagrees", side);
	if (sdp_engine_srcavail_rx_read(&me->e) != (of->open ? of->got : 0) ||
	    sdp_engine_srcavail_rx_reading(&me->e) != !!of->reading)
		fault(s, "%u: %u of what is advertised are here, not %u", side,
		      of->open ? of->got : 0, sdp_engine_srcavail_rx_read(&me->e));
	if (sdp_engine_srcavail_tx_open(&me->e) != ad->next_mid)
		fault(s, "%u: the engine does not know what is advertised", side);
	if (could && answer_due(of))
		rule(s, "%u: owes an answer to an advertisement and is silent (B3)", side);
	if (could && ad->out && ad->withdrawn && !ad->cancel_sent)
		rule(s, "%u: could cancel and does not", side);
}

/* No event is left, and the application of @side reads. */
void judge_advert_settled(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side], *peer = &s->side[!side];

	if (s->link_down)
		return;
	if (me->of.open)
		fault(s, "%u: stuck, %u of %u here, %u unreported", side, me->of.got, me->of.len,
		      me->of.unreported);
	if (peer->ad.next_mid)
		fault(s, "%u: stuck with an advertisement that is %s", !side,
		      peer->ad.out ? "out" : "not sent");
}
