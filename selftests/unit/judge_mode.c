// SPDX-License-Identifier: GPL-2.0
/*
 * The judge of the pair simulator: modes and how they are learnt (C1-C5, wire section 8).
 */
#include "judge.h"

void judge_mode_start(struct sim *s)
{
	for (u32 i = 0; i < 2; i++) {
		s->side[i].mo.tx = s->cfg.pipelined[i] ? SDP_MODE_PIPELINED : SDP_MODE_COMBINED;
		s->side[!i].mo.rx = s->side[i].mo.tx;
	}
}

/* C2: so often in a row, and this side has to say so. */
static void speaks_for(struct sim *s, u32 side, u8 mode)
{
	struct sim_modes *mo = &s->side[side].mo;
	u32 after = s->cfg.mode_after[side];

	if (!after)
		return;
	mo->alike = mo->toward == mode ? mo->alike + 1 : 1;
	mo->toward = mode;
	mo->due = mo->due || mo->alike >= after;
}

static void source_sent(struct sim *s, u32 side, u8 byte)
{
	struct sim_side *me = &s->side[side];

	s->sent[11]++;
	if (byte != me->mo.toward << 4 || !me->mo.due || me->ad.offered || me->disconn_sent ||
	    me->pl.unreported)
		fault(s, "%u: ModeChange %02x after %u that speak for %u (C2)", side, byte,
		      me->mo.alike, me->mo.toward);
	if (me->shutdown)
		rule(s, "%u: ModeChange, and nothing can be advertised any more", side);
	s->sent[20] += me->mo.toward == SDP_MODE_PIPELINED;
	me->mo.tx = me->mo.toward;
	me->mo.due = false;
	me->mo.alike = 0;
	me->mo.missed = 0;
	me->pl.n = 0;
}

static void sink_sent(struct sim *s, u32 side, u8 byte)
{
	struct sim_side *me = &s->side[side];

	s->sent[12]++;
	if (byte != 0x90 || me->mo.rx != SDP_MODE_BUFFERED || me->eof)
		fault(s, "%u: ModeChange %02x, mode is %u", side, byte, me->mo.rx);
	if (!me->mo.large)
		rule(s, "%u: ModeChange, and nobody waits with a large buffer (C3)", side);
	me->mo.rx = SDP_MODE_COMBINED;
	me->mo.large = false;
}

/* A message is being sent, and counted already. Returns whether it was a change. */
bool judge_mode_sent(struct sim *s, u32 side, const u8 *header)
{
	if (header[0] == SDP_MID_SRC_AVAIL && s->side[side].mo.tx == SDP_MODE_BUFFERED)
		fault(s, "%u: SrcAvail in Buffered (wire 8)", side);
	if (header[0] != SDP_MID_MODE_CHANGE)
		return false;
	if (header[16] & 0x80)
		sink_sent(s, side, header[16]);
	else
		source_sent(s, side, header[16]);
	return true;
}

/* A message is being received, and counted already. */
void judge_mode_received(struct sim *s, u32 side, const u8 *header)
{
	struct sim_modes *mo = &s->side[side].mo;

	if (header[0] == SDP_MID_SRC_AVAIL && mo->rx == SDP_MODE_BUFFERED)
		fault(s, "%u: SrcAvail arrives in Buffered (wire 8)", side);
	if (header[0] != SDP_MID_MODE_CHANGE)
		return;
	if (header[16] & 0x80) {
		mo->tx = SDP_MODE_COMBINED;
		mo->alike = 0;
	} else {
		mo->rx = header[16] >> 4;
		mo->large = false;
	}
}

/*
 * C2: what was advertised is over: read to its end, or not; @pipe: a buffer had been there before.
 * Withdrawn says nothing.
 */
void judge_mode_answered(struct sim *s, u32 side, bool read, bool pipe)
{
	struct sim_side *me = &s->side[side];

	if (me->ad.withdrawn)
		return;
	if (me->mo.tx == SDP_MODE_COMBINED && pipe)
		speaks_for(s, side, SDP_MODE_PIPELINED);
	else if (me->mo.tx == SDP_MODE_COMBINED && !read)
		speaks_for(s, side, SDP_MODE_BUFFERED);
	else if (me->mo.tx == SDP_MODE_PIPELINED && read && !pipe)
		speaks_for(s, side, SDP_MODE_COMBINED);
	else if (read)
		me->mo.alike = 0;
	if (me->mo.tx == SDP_MODE_PIPELINED && !read && !pipe) {
		me->mo.toward = SDP_MODE_COMBINED;
		me->mo.due = true;
	}
}

/* C5: something large went as it should, whatever was before. */
void judge_mode_put(struct sim *s, u32 side)
{
	s->side[side].mo.alike = 0;
	s->side[side].mo.missed = 0;
	s->side[side].mo.due = false;
}

/* C2: so many large writes in a row without a buffer, and the reader is not there first. */
void judge_mode_missed(struct sim *s, u32 side)
{
	struct sim_modes *mo = &s->side[side].mo;

	if (!s->cfg.mode_after[side] || mo->due || ++mo->missed < s->cfg.mode_after[side])
		return;
	mo->toward = SDP_MODE_COMBINED;
	mo->due = true;
}

/* C9: nobody has read what was advertised, which is as good as a refusal. */
void judge_mode_unread(struct sim *s, u32 side)
{
	struct sim_modes *mo = &s->side[side].mo;

	if (mo->tx == SDP_MODE_COMBINED) {
		speaks_for(s, side, SDP_MODE_BUFFERED);
	} else {
		mo->toward = SDP_MODE_COMBINED;
		mo->due = true;
	}
}

/* C5: something small went in the place of a buffer. */
void judge_mode_discarded(struct sim *s, u32 side)
{
	speaks_for(s, side, SDP_MODE_COMBINED);
}

/* C3: a reader waits with a large buffer. But in Buffered that is nothing new. */
void judge_large(struct sim *s, u32 side)
{
	struct sim_modes *mo = &s->side[side].mo;

	mo->large = mo->rx == SDP_MODE_BUFFERED;
}

/* Nothing goes now; @could: there are credits, receives and slots. */
void judge_mode_silent(struct sim *s, u32 side, bool could)
{
	struct sim_side *me = &s->side[side];
	struct sim_modes *mo = &me->mo;

	if (sdp_engine_tx_mode(&me->e) != mo->tx || sdp_engine_rx_mode(&me->e) != mo->rx)
		fault(s, "%u: modes are %u and %u, the engine has %u and %u", side, mo->tx,
		      mo->rx, sdp_engine_tx_mode(&me->e), sdp_engine_rx_mode(&me->e));
	if (could && mo->large && !me->eof)
		rule(s, "%u: a reader waits with a large buffer, the peer is not told (C3)", side);
	if (could && mo->due && !me->shutdown && !me->ad.offered)
		rule(s, "%u: %u in a row speak for %u, the peer is not told (C2)", side,
		     mo->alike, mo->toward);
}

/* Nothing is on the way: do both ends of each half agree? */
void judge_mode_settled(const struct sim *s)
{
	for (u32 i = 0; i < 2; i++)
		if (sdp_engine_tx_mode(&s->side[i].e) != sdp_engine_rx_mode(&s->side[!i].e))
			fault(s, "%u: sends in mode %u, the other end receives in %u", i,
			      sdp_engine_tx_mode(&s->side[i].e),
			      sdp_engine_rx_mode(&s->side[!i].e));
}
