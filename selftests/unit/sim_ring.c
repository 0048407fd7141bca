// SPDX-License-Identifier: GPL-2.0
/*
 * Pair simulator: owners that make rings for the peer's data, and read from them.
 *
 * The memory itself is not simulated. The judge knows which bytes of a ring are unread, and so
 * whether a write overwrites any (judge_ring.c).
 */
#include "judge.h"

static u8 scheme_of(const struct sim *s, u32 side)
{
	if (!s->cfg.ring_max[0] || !s->cfg.ring_max[1])
		return SDP_BY_CREDIT;
	/* G6: BY_NIC needs the wish of both ends. */
	if (s->cfg.scheme[side] == SDP_BY_NIC && s->cfg.scheme[!side] != SDP_BY_NIC)
		return SDP_BY_RDMA;
	return s->cfg.scheme[side];
}

/* Do both directions use BY_NIC? */
bool sim_by_nic(const struct sim *s)
{
	return scheme_of(s, 0) == SDP_BY_NIC;
}

/* Does data of @side use BY_RDMA? */
bool sim_by_rdma(const struct sim *s, u32 side)
{
	return scheme_of(s, side) == SDP_BY_RDMA;
}

/* G4: each posted receive stands for a window of the ring, and one window more stays free. */
u16 sim_receives(const struct sim *s, u32 side, u16 wish)
{
	u32 window = min(s->cfg.window[0], s->cfg.window[1]);

	return sim_by_nic(s) ? (u16)min((u32)wish, s->side[side].ri.cap / window - 1) : wish;
}

bool sim_may_ring(const struct sim *s, const struct sim_step *step, bool open)
{
	const struct sim_side *me = &s->side[step->side];

	switch (step->kind) {
	case SIM_RING:
		return me->ri.wanted && !me->e.dead;
	case SIM_LEAVE:
		return open && !me->shutdown && !me->segs && !me->rest && me->ri.size;
	case SIM_CALL:
		return open && s->cfg.lazy[step->side] && (me->segs || me->rest);
	}
	return false;
}

/* Make the ring that the peer has asked for, a smaller one, or none. */
static void make(struct sim *s, u32 side, u32 smaller)
{
	struct sim_side *me = &s->side[side];
	struct sdp_region ring = { .len = smaller > 1 ? 0 : me->ri.wanted >> smaller };

	if (ring.len < SDP_RING_SIZE_MIN)
		ring.len = 0;
	if (ring.len)
		ring.rkey = ++s->keys;
	ring.va = SIM_RING_VA(ring.rkey);
	sdp_engine_ring_made(&me->e, &ring);
	if (ring.len >= 4 * min(s->cfg.window[0], s->cfg.window[1]))
		me->ri.cap = ring.len;
	sim_target(s, side, me->ri.target, me->ri.threshold);
	me->ri.wanted = 0;
	if (!me->e.ring_in.next.len)
		return;
	if (!ring.len || me->ri.next.size)
		fault(s, "%u: two rings wait to be used", side);
	me->ri.next = (struct sim_home){ .key = ring.rkey, .size = ring.len };
}

void sim_do_ring(struct sim *s, const struct sim_step *step)
{
	if (step->kind == SIM_RING)
		make(s, step->side, step->arg);
	else if (step->kind == SIM_LEAVE)
		sdp_engine_ring_leave(&s->side[step->side].e);
}

/* An old ring ends. Unread messages keep its memory, and count like messages in receives. */
void sim_rings_over(struct sim *s, u32 side, u32 left)
{
	struct sim_side *me = &s->side[side];
	struct sim_rings *ri = &me->ri;

	if (left && !ri->next.size)
		fault(s, "%u: a ring is over, and there is no other one", side);
	for (u32 i = 0; i < me->unread_n; i++) {
		u16 *held = &me->unread_ring[(me->unread_first + i) % SIM_MSGS];

		me->unread_plain += *held != 0;
		*held = 0;
	}
	ri->cur = left ? ri->next : (struct sim_home){ 0 };
	ri->next = (struct sim_home){ 0 };
	ri->shown = false;
	ri->tells = judge_ring_tells(s, side);
}

static struct sim_home *home_of(struct sim *s, u32 side, u32 key)
{
	struct sim_rings *ri = &s->side[side].ri;

	if (ri->cur.size && key == ri->cur.key)
		return &ri->cur;
	if (!ri->next.size || key != ri->next.key)
		fault(s, "%u: written into a ring that is no more", side);
	return &ri->next;
}

/* The hardware of @side has written its oldest message, into a ring if it is one for a ring. */
void sim_ring_written(struct sim *s, u32 side, const struct sim_wire_msg *m)
{
	if (m->to.rkey)
		home_of(s, !side, m->to.rkey)->landed += m->len;
}

/*
 * The message is received. Check where the engine expects it. Returns true when there are actions.
 */
bool sim_ring_place(struct sim *s, u32 side, const struct sim_wire_msg *m,
		    struct sdp_actions *acts)
{
	struct sim_home *home = home_of(s, side, m->to.rkey);
	u32 at, bytes, begin = home->came & (home->size - 1);
	u64 base = SIM_RING_VA(home->key);

	if (s->side[side].e.dead)
		return false;
	if (sdp_engine_ring_place(&s->side[side].e, m->to.imm, &at, &bytes, acts))
		fault(s, "%u: refuses what lies in its ring", side);
	if (bytes != m->len || at != begin || m->to.va != base + begin)
		fault(s, "%u: %u bytes at %u, not %u at %u", side, bytes, at, m->len, begin);
	home->came += m->len;
	return acts->n;
}

/* The reader has read @bytes of the oldest message, or the rest of it (@all). */
void sim_ring_read(struct sim *s, u32 side, u32 bytes, bool all)
{
	struct sim_side *me = &s->side[side];
	u16 *held = &me->unread_ring[me->unread_first];
	u32 n = all ? *held : min(bytes, *held);

	if (!*held) {
		me->unread_plain -= all;
		return;
	}
	*held -= (u16)n;
	/* The header's bytes are freed last, so the ring always holds some of an unread message. */
	if (!all && !*held)
		fault(s, "%u: payload and nothing else in a ring", side);
	me->ri.cur.read += n;
	sdp_engine_ring_read(&me->e, n);
}
