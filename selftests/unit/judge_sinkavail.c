// SPDX-License-Identifier: GPL-2.0
/*
 * Judge of the pair simulator: SinkAvails and the RDMA writes into them.
 *
 * Requirements C5-C8 and wire section 8, Pipelined mode. The engine has to conclude from MSeqAck
 * what the other end knew. The judge sees the lists of both ends, so it can check these
 * conclusions.
 */
#include <inttypes.h>

#include "judge.h"

static bool alive(const struct sim_side *me)
{
	return me->established && !me->failed && !me->ended;
}

/* C5: may a buffer be advertised? */
bool judge_may_post(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];
	const struct sim_srcavail_arrived *of = &me->of;
	bool touched = of->open && (of->got || of->reading || of->declined);

	return alive(me) && !me->eof && me->mo.rx == SDP_MODE_PIPELINED && !touched &&
	       !me->bu.cancel && me->bu.n < max(s->cfg.buffers[side], 1);
}

/* B4: may data be written into the peer's oldest buffer? */
bool judge_may_put(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];

	return alive(me) && !me->shutdown && !me->ad.next_mid && me->pl.n && !me->pl.unreported;
}

/*
 * May the owner report that a large write found no buffer, or that a SrcAvail was not read
 * (@unread)? In both cases no SrcAvail of ours is open, and the peer has no buffer for us.
 */
bool judge_may_miss(const struct sim *s, u32 side, bool unread)
{
	const struct sim_side *me = &s->side[side];

	return alive(me) && !me->shutdown && !me->ad.next_mid && !me->pl.n && !me->pl.unreported &&
	       (unread ? me->mo.tx != SDP_MODE_BUFFERED && !me->mo.due :
			 me->mo.tx == SDP_MODE_PIPELINED);
}

static void drop_place(struct sim_places *pl)
{
	pl->n--;
	memmove(pl->list, pl->list + 1, pl->n * sizeof(pl->list[0]));
}

void judge_put(struct sim *s, u32 side, u32 bytes, const struct sdp_region *to)
{
	struct sim_places *pl = &s->side[side].pl;

	if (to->rkey != pl->list[0].key || to->len != bytes || bytes > pl->list[0].len)
		fault(s, "%u: writes %u bytes with key %u", side, to->len, to->rkey);
	pl->unreported = bytes;
	pl->key = to->rkey;
	drop_place(pl);
	judge_mode_put(s, side);
}

/*
 * A message that ends the use of the peer's memory also invalidates its key, if both ends can do
 * this.
 */
void judge_revoke(struct sim *s, u32 side, u8 mid, u32 key)
{
	const struct sim_side *me = &s->side[side];
	bool last = mid == SDP_MID_RDMA_RD_COMPL || mid == SDP_MID_SENDSM;
	u32 due = 0;

	if (last && !me->of.open)
		due = me->of.key;
	if (mid == SDP_MID_RDMA_WR_COMPL)
		due = me->pl.key;
	if (key != (s->cfg.revocable[0] && s->cfg.revocable[1] ? due : 0))
		fault(s, "%u: MID %02x revokes key %x", side, mid, key);
}

/* The RDMA hardware at the other end checks every access. */
void judge_put_moves(struct sim *s, u32 side, const struct sim_place *put)
{
	struct sim_buffers *bu = &s->side[!side].bu;

	for (u32 i = 0; i < bu->n; i++) {
		struct sim_buffer *b = &bu->list[i];

		if (b->key != put->key)
			continue;
		if (!b->seq || b->filled || put->len > b->len)
			fault(s, "%u: writes %u bytes into a buffer of %u", side, put->len, b->len);
		b->filled = put->len;
		b->from = put->at;
		return;
	}
	fault(s, "%u: writes with a key that is void", side);
}

/* The oldest of our buffers whose SinkAvail has not been sent. */
static struct sim_buffer *waiting(struct sim_buffers *bu)
{
	for (u32 i = 0; i < bu->n; i++)
		if (!bu->list[i].seq)
			return &bu->list[i];
	return NULL;
}

static void avail_sent(struct sim *s, u32 side, const u8 *header, u32 payload)
{
	struct sim_side *me = &s->side[side];
	struct sim_buffer *b = waiting(&me->bu);
	struct sim_srcavail_arrived *of = &me->of;

	s->sent[13]++;
	s->sent[14] += !!payload;
	if (!b || me->bu.cancel || me->mo.rx != SDP_MODE_PIPELINED || me->eof)
		fault(s, "%u: SinkAvail without a reason", side);
	if (be(header + 16, 4) != b->len || be(header + 20, 4) != b->key ||
	    be(header + 32, 4) != me->bu.came)
		fault(s, "%u: SinkAvail of %u bytes, NonDiscards %u; not %u, %u", side,
		      be(header + 16, 4), be(header + 32, 4), b->len, me->bu.came);
	if (of->open && (of->got || of->reading || of->declined || payload))
		fault(s, "%u: SinkAvail answers what is being read", side);
	of->open = false;
	b->seq = me->t.sent;
}

/*
 * Check a message that is being sent and is already counted. Returns true when it was handled
 * here.
 */
bool judge_buffer_sent(struct sim *s, u32 side, const u8 *header, u32 payload)
{
	struct sim_side *me = &s->side[side];
	struct sim_places *pl = &me->pl;

	switch (header[0]) {
	case SDP_MID_SINK_AVAIL:
		avail_sent(s, side, header, payload);
		return true;
	case SDP_MID_SINK_CANCEL:
		s->sent[18]++;
		if (!me->bu.cancel || me->bu.cancel_sent || !me->bu.n)
			fault(s, "%u: SinkAvailCancel without a reason", side);
		me->bu.cancel_sent = true;
		return true;
	case SDP_MID_RDMA_WR_COMPL:
		s->sent[15]++;
		if (!pl->unreported || pl->unreported != be(header + 16, 4))
			fault(s, "%u: reports %u bytes, has written %u", side, be(header + 16, 4),
			      pl->unreported);
		pl->unreported = 0;
		return true;
	case SDP_MID_SINK_CANCEL_ACK:
		s->sent[19]++;
		if (!pl->owes_ack || pl->unreported)
			fault(s, "%u: SinkCancelAck without a reason", side);
		pl->owes_ack = false;
		return true;
	}
	if (header[0] == SDP_MID_DISCONN) {
		if (pl->unreported)
			fault(s, "%u: DisConn overtakes a write (wire 8)", side);
		pl->n = 0;
	}
	return false;
}

/* C7: a message with payload is being sent. */
void judge_buffer_payload(struct sim *s, u32 side)
{
	struct sim_places *pl = &s->side[side].pl;

	if (pl->unreported || pl->owes_ack)
		fault(s, "%u: data overtakes a write, or an answer (wire 8)", side);
	if (!pl->n) {
		pl->went++;
		return;
	}
	s->sent[16]++;
	s->side[side].discards[(s->side[side].t.sent - 1) % SIM_MSGS] = true;
	drop_place(pl);
	judge_mode_discarded(s, side);
}

static void avail_received(struct sim *s, u32 side, const u8 *header)
{
	struct sim_side *me = &s->side[side];
	struct sim_places *pl = &me->pl;

	if (me->disconn_sent || me->mo.tx != SDP_MODE_PIPELINED)
		return;
	if (be(header + 32, 4) != pl->went) {
		s->sent[17]++;
		return;
	}
	if (pl->n == SDP_SINKAVAILS_MAX)
		fault(s, "%u: more buffers than can be held (wire 3)", side);
	pl->list[pl->n].key = be(header + 20, 4);
	pl->list[pl->n++].len = be(header + 16, 4);
	me->ad.over_due = me->ad.next_mid;
}

/* Account for a message that is being received and is already counted. */
void judge_buffer_received(struct sim *s, u32 side, const u8 *header)
{
	struct sim_side *me = &s->side[side], *peer = &s->side[!side];
	u32 payload = judge_payload(header);

	me->bu.came += payload && !peer->discards[(me->t.received - 1) % SIM_MSGS];
	if (header[0] == SDP_MID_SINK_AVAIL)
		avail_received(s, side, header);
	if (header[0] == SDP_MID_SINK_CANCEL) {
		me->pl.owes_ack |= me->pl.n;
		me->pl.n = 0;
	}
}

/* Is the SinkAvail of this buffer in flight, and will the peer accept it when it arrives? */
static bool will_be_place(const struct sim *s, u32 side, const struct sim_buffer *b)
{
	const struct sim_side *me = &s->side[side], *peer = &s->side[!side];
	const struct sim_wire_msg *m = &me->wire[(b->seq - 1) % SIM_MSGS];

	return b->seq > peer->t.received && b->seq <= me->t.sent && !peer->disconn_sent &&
	       peer->mo.tx == SDP_MODE_PIPELINED && be(m->bytes + 32, 4) == peer->pl.went;
}

/* The engine reports that the peer will not write into this buffer. Check that it cannot. */
void judge_buffer_over(struct sim *s, u32 side, const struct sim_buffer *b)
{
	const struct sim_places *pl = &s->side[!side].pl;

	if (b->filled)
		fault(s, "%u: a buffer is over, and %u bytes are in it", side, b->filled);
	if (!b->seq)
		return;
	for (u32 i = 0; i < pl->n; i++)
		if (pl->list[i].key == b->key)
			fault(s, "%u: a buffer is over, and the peer may write into it", side);
	for (u32 i = 0; i < pl->puts; i++)
		if (pl->put[i].key == b->key)
			fault(s, "%u: a buffer is over, and the peer is writing into it", side);
	if (will_be_place(s, side, b))
		fault(s, "%u: a buffer is over, and the peer will get to know of it", side);
}

/* C6: does the first SinkAvail wait for a request? The judge trusts the engine's answer here. */
static bool kept(const struct sim_side *me)
{
	return me->e.piggyback.holds && !me->e.piggyback.asked && !me->bu.list[0].seq &&
	       !me->shutdown;
}

/* No message goes now. @could: credits, receives and slots would allow one. */
void judge_buffer_silent(struct sim *s, u32 side, bool could)
{
	struct sim_side *me = &s->side[side];
	struct sim_buffers *bu = &me->bu;
	u32 room = judge_may_put(s, side) ? me->pl.list[0].len : 0;
	u32 least = sdp_engine_may_sinkavail(&me->e);
	bool answers = me->of.open && (me->of.got || me->of.reading || me->of.declined);

	if (!alive(me))
		return;
	if (sdp_engine_may_rdma_write(&me->e) != room)
		fault(s, "%u: %u bytes may be written, not %u", side, room,
		      sdp_engine_may_rdma_write(&me->e));
	if (sdp_engine_sinkavails_out(&me->e) != bu->n)
		fault(s, "%u: %u buffers are posted, not %u", side, bu->n,
		      sdp_engine_sinkavails_out(&me->e));
	if (!least == judge_may_post(s, side))
		fault(s, "%u: a buffer may be posted, or not, and the engine disagrees", side);
	/* Wire section 8: a buffer must hold a whole message, because one could come instead. */
	if (least && least + SDP_BSDH_LEN < s->side[!side].z.may_send)
		fault(s, "%u: a buffer of %u is enough, a message is longer", side, least);
	if (could && (me->pl.unreported || me->pl.owes_ack))
		rule(s, "%u: owes an answer to a buffer and is silent (B4)", side);
	if (could && waiting(bu) && !answers && !kept(me))
		rule(s, "%u: a buffer is posted, the peer is not told (C5)", side);
	if (could && bu->cancel && !bu->cancel_sent)
		rule(s, "%u: a buffer is taken back, the peer is not told", side);
}

/* Nothing is in flight: both ends must know the same buffers, or one end has a message to send. */
void judge_buffer_settled(const struct sim *s, u32 readers)
{
	for (u32 i = 0; i < 2; i++) {
		const struct sim_buffers *bu = &s->side[i].bu;
		const struct sim_places *pl = &s->side[!i].pl;
		u32 sent = 0;

		while (sent < bu->n && bu->list[sent].seq)
			sent++;
		if (pl->puts || (pl->unreported && readers & 1U << i))
			fault(s, "%u: stuck with a write", !i);
		if (bu->cancel && readers & 1U << i && (readers == 3 || sim_room(s, i)))
			fault(s, "%u: stuck with a buffer that is taken back", i);
		if (pl->unreported || bu->cancel_sent || pl->owes_ack)
			continue;
		for (u32 j = 0; j < max(sent, pl->n); j++)
			if (j >= sent || j >= pl->n || bu->list[j].key != pl->list[j].key)
				fault(s, "%u: has %u buffers out, the peer knows of %u (C7)", i,
				      sent, pl->n);
	}
}
