// SPDX-License-Identifier: GPL-2.0
/*
 * Judge of the pair simulator: modes and how they are learnt.
 *
 * Requirements C1-C5 and wire section 8.
 */
#include "judge.h"

void judge_mode_start(struct sim *s)
{
	for (u32 i = 0; i < 2; i++) {
		s->side[i].mo.tx = s->cfg.pipelined[i] ? SDP_MODE_PIPELINED : SDP_MODE_COMBINED;
		s->side[!i].mo.rx = s->side[i].mo.tx;
	}
}

/* C2: count a transfer that speaks for @mode. Enough of them in a row make ModeChange due. */
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
	if (byte != me->mo.toward << 4 || !me->mo.due || me->ad.next_mid || me->disconn_sent ||
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

/* Check a message that is being sent and is already counted. Returns true for a ModeChange. */
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

/* Account for a message that is being received and is already counted. */
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
 * C2: our SrcAvail is over. @read: the peer has read all of it; @pipe: the answer had REQ_PIPE. A
 * withdrawn SrcAvail tells nothing about the reader.
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

/* C5: an RDMA write into a buffer shows that Pipelined fits, whatever came before it. */
void judge_mode_put(struct sim *s, u32 side)
{
	s->side[side].mo.alike = 0;
	s->side[side].mo.missed = 0;
	s->side[side].mo.due = false;
}

/* C2: a large write found no buffer of the peer. Enough of these in a row lead to Combined. */
void judge_mode_missed(struct sim *s, u32 side)
{
	struct sim_modes *mo = &s->side[side].mo;

	if (!s->cfg.mode_after[side] || mo->due || ++mo->missed < s->cfg.mode_after[side])
		return;
	mo->toward = SDP_MODE_COMBINED;
	mo->due = true;
}

/* C9: our SrcAvail was not read. This counts as declined. */
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

/* C5: a small message has discarded a buffer. */
void judge_mode_discarded(struct sim *s, u32 side)
{
	speaks_for(s, side, SDP_MODE_COMBINED);
}

/* C3: a reader waits with a large buffer. The peer has to be told only in Buffered. */
void judge_large(struct sim *s, u32 side)
{
	struct sim_modes *mo = &s->side[side].mo;

	mo->large = mo->rx == SDP_MODE_BUFFERED;
}

/* No message goes now. @could: credits, receives and slots would allow one. */
void judge_mode_silent(struct sim *s, u32 side, bool could)
{
	struct sim_side *me = &s->side[side];
	struct sim_modes *mo = &me->mo;

	if (sdp_engine_tx_mode(&me->e) != mo->tx || sdp_engine_rx_mode(&me->e) != mo->rx)
		fault(s, "%u: modes are %u and %u, the engine has %u and %u", side, mo->tx,
		      mo->rx, sdp_engine_tx_mode(&me->e), sdp_engine_rx_mode(&me->e));
	if (could && mo->large && !me->eof)
		rule(s, "%u: a reader waits with a large buffer, the peer is not told (C3)", side);
	if (could && mo->due && !me->shutdown && !me->ad.next_mid)
		rule(s, "%u: %u in a row speak for %u, the peer is not told (C2)", side,
		     mo->alike, mo->toward);
}

/* Nothing is in flight: both ends of each half must be in the same mode. */
void judge_mode_settled(const struct sim *s)
{
	for (u32 i = 0; i < 2; i++)
		if (sdp_engine_tx_mode(&s->side[i].e) != sdp_engine_rx_mode(&s->side[!i].e))
			fault(s, "%u: sends in mode %u, the other end receives in %u", i,
			      sdp_engine_tx_mode(&s->side[i].e),
			      sdp_engine_rx_mode(&s->side[!i].e));
}
