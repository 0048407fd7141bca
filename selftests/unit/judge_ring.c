// SPDX-License-Identifier: GPL-2.0
/*
 * Judge of the pair simulator: rings.
 *
 * Requirements G2-G6. For each ring the judge records how far it has been written and read, and
 * what the messages said about it. So it notices a write over unread bytes, whether or not a
 * receive was posted for that message.
 */
#include "judge.h"

/* G5: number of messages that the adapter may hold without a completion. */
u32 judge_pipe(const struct sim *s, u32 side)
{
	u32 size = s->side[side].ri.size, window = min(s->cfg.window[0], s->cfg.window[1]);

	return size ? max((size / window - 1) / 2, 1U) : SDP_RING_PIPE_FIRST;
}

/* Does data of @side go into a ring, now or later? Then it needs no larger receives (E1). */
bool judge_ring_takes(const struct sim *s, u32 side)
{
	return (sim_by_nic(s) || sim_by_rdma(s, side)) && !s->side[side].ri.refusals;
}

/* Does the peer have to be told what was read from our ring? */
bool judge_ring_tells(const struct sim *s, u32 side)
{
	return sim_by_rdma(s, !side) && s->side[side].ri.cur.size;
}

/*
 * Is a message due for that alone? The peer knows of less than half of the ring as free, and at
 * least half of the ring has been read since it was told.
 */
bool judge_ring_update(const struct sim_side *me)
{
	const struct sim_home *cur = &me->ri.cur;

	return cur->size && !me->ri.shown && cur->came - cur->told > cur->size / 2 &&
	       cur->read - cur->told >= cur->size / 2;
}

/* All packets but the last of a held back message are already in the ring. Check their place. */
void judge_ring_early(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side], *peer = &s->side[!side];
	const struct sim_wire_msg *m = &me->wire[me->landed % SIM_MSGS];
	const struct sim_rings *ri = &peer->ri;
	const struct sim_home *home = m->to.rkey == ri->cur.key ? &ri->cur : &ri->next;

	if (s->link_down || !sim_in_flight(me) || !m->to.rkey)
		return;
	if (home->key != m->to.rkey || home->landed - home->read + m->len > home->size)
		fault(s, "%u: %u bytes are written over what is unread", side, m->len);
}

/* A message of @side is written into the peer's ring. */
void judge_ring_message(struct sim *s, u32 side, const u8 *header, u32 len,
			const struct sdp_ring_place *to)
{
	struct sim_rings *ri = &s->side[side].ri;
	u32 window = min(s->cfg.window[0], s->cfg.window[1]);

	if (!to->rkey)
		return;
	s->sent[21]++;
	if (!ri->size || to->rkey != ri->key ||
	    to->va != SIM_RING_VA(ri->key) + (ri->head & (ri->size - 1)))
		fault(s, "%u: a message for no ring, or not behind the last one (G2)", side);
	if (header[0] != SDP_MID_DATA)
		fault(s, "%u: MID %02x in a ring", side, header[0]);
	if (sim_by_nic(s) ? len > window : len > ri->size / 4)
		fault(s, "%u: %u bytes in one message of a ring", side, len);
	if (sim_by_nic(s) && s->side[side].t.sent - s->side[side].completed > judge_pipe(s, side))
		fault(s, "%u: more in the ring than the adapter may hold (G5)", side);
	if (!sim_by_nic(s) && ri->head - ri->freed + len > ri->size)
		fault(s, "%u: %u bytes beyond what is free (G2)", side, len);
	ri->head += len;
}

static void avail_sent(struct sim *s, u32 side, const u8 *header)
{
	struct sim_rings *ri = &s->side[side].ri;
	u32 size = be(header + 16, 4);

	if (!ri->owes)
		fault(s, "%u: RingAvail and nobody has asked", side);
	if (size != ri->next.size || (size && be(header + 20, 4) != ri->next.key))
		fault(s, "%u: a ring of %u bytes that is not there", side, size);
	s->sent[size ? 24 : 25]++;
	ri->owes = false;
	ri->shown = size;
}

/* Check the messages about rings, except data in a ring. Returns true when it was one of these. */
bool judge_ring_sent(struct sim *s, u32 side, const u8 *header)
{
	struct sim_side *me = &s->side[side];
	struct sim_rings *ri = &me->ri;
	u32 size = be(header + 16, 4);

	if (header[0] == SDP_MID_RING_AVAIL) {
		avail_sent(s, side, header);
		return true;
	}
	if (header[0] != SDP_MID_RING_ASK)
		return false;
	s->sent[size ? 23 : 26]++;
	if (ri->asked || (size && size <= ri->size) || (!size && !ri->size))
		fault(s, "%u: RingAsk of %u out of turn", side, size);
	if (me->disconn_sent || (!size && me->segs))
		fault(s, "%u: RingAsk of %u with data behind it", side, size);
	ri->asked = size;
	if (!size)
		ri->size = 0;
	return true;
}

/* Account for a message of the peer about rings. */
void judge_ring_received(struct sim *s, u32 side, const u8 *header)
{
	struct sim_rings *ri = &s->side[side].ri;
	u32 size = be(header + 16, 4);

	if (header[1] & SDP_FLAG_FREED && ri->size)
		ri->freed = size;
	if (header[0] == SDP_MID_RING_ASK && size)
		ri->owes = true;
	if (header[0] != SDP_MID_RING_AVAIL)
		return;
	ri->asked = 0;
	ri->refusals = size ? 0 : ri->refusals + 1;
	if (!size)
		return;
	ri->size = size;
	ri->key = be(header + 20, 4);
	ri->head = 0;
	ri->freed = 0;
}

/* @side reports that it has no room (G3, G5). Check this. */
void judge_ring_room(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];
	const struct sim_rings *ri = &me->ri;
	u32 room = ri->size - (ri->head - ri->freed);
	u32 head = SDP_RING_HEADER + (me->rest ? me->rest : me->segs ? me->seg[0] : 0);

	if (sim_by_nic(s) ? me->t.sent - me->completed < judge_pipe(s, side) :
			    room >= min(head, ri->size / 4))
		rule(s, "%u: waits for room and has %u", side, room);
}

/* Both applications read, and no event is left: rings are empty, and no request for one is open. */
void judge_ring_settled(const struct sim *s)
{
	for (u32 i = 0; i < 2; i++) {
		const struct sim_rings *ri = &s->side[i].ri;
		bool asks = ri->asked || ri->wanted || ri->owes;

		if (s->side[i].ended || s->side[i].failed)
			return;
		if (ri->cur.landed != ri->cur.read)
			fault(s, "%u: %u bytes are left in a ring", i,
			      ri->cur.landed - ri->cur.read);
		if (asks && !s->side[i].shutdown && !s->side[!i].shutdown)
			fault(s, "%u: a request for a ring is not answered", i);
	}
}
