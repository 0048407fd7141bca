// SPDX-License-Identifier: GPL-2.0
/*
 * Pair simulator: readers that send SinkAvails, and writers that use them (Pipelined).
 *
 * An RDMA write is queued to the hardware. The hardware does it at SIM_PUT_MOVE, but at the latest
 * before the next message of the queue pair lands.
 */
#include "judge.h"

/* Address of a buffer, made from its key so that no two buffers overlap. */
static u64 buffer_va(u32 key)
{
	return 0x550000000000ULL + ((u64)key << 24);
}

/* Begin with the modes of a connection that has learnt them. */
void sim_buffer_init(struct sim *s)
{
	for (u32 i = 0; i < 2; i++) {
		if (!s->cfg.pipelined[i])
			continue;
		s->side[i].e.tx_mode.mode = SDP_MODE_PIPELINED;
		s->side[!i].e.rx_mode.mode = SDP_MODE_PIPELINED;
	}
}

/* C5: a reader supplies a buffer of @more bytes over the minimum. */
static void post_buffer(struct sim *s, u32 side, u32 more)
{
	struct sim_side *me = &s->side[side];
	u32 least = sdp_engine_may_sinkavail(&me->e);
	struct sdp_region region = { .rkey = ++s->keys, .len = least + more };
	struct sim_buffer *b = &me->bu.list[me->bu.n++];

	memset(b, 0, sizeof(*b));
	b->key = region.rkey;
	b->len = region.len;
	region.va = buffer_va(b->key);
	b->id = sdp_engine_sinkavail(&me->e, &region);
	if (!b->id)
		fault(s, "%u: a buffer of %u is refused", side, b->len);
}

static void remove_buffer(struct sim_buffers *bu, u32 at)
{
	bu->n--;
	memmove(bu->list + at, bu->list + at + 1, (bu->n - at) * sizeof(bu->list[0]));
	if (!bu->n || !bu->list[0].seq) {
		bu->cancel = false;
		bu->cancel_sent = false;
	}
}

static u32 find_buffer(struct sim *s, u32 side, u32 id)
{
	struct sim_buffers *bu = &s->side[side].bu;
	u32 at = 0;

	while (at < bu->n && bu->list[at].id != id)
		at++;
	if (at == bu->n)
		fault(s, "%u: a buffer %u that is over, or never was", side, id);
	return at;
}

void sim_buffer_over(struct sim *s, u32 side, u32 id)
{
	struct sim_buffers *bu = &s->side[side].bu;
	u32 at = find_buffer(s, side, id);

	judge_buffer_over(s, side, &bu->list[at]);
	remove_buffer(bu, at);
}

/* B4: the bytes are in the reader's buffer, at their position in the stream. */
void sim_buffer_written(struct sim *s, u32 side, const struct sdp_action *a)
{
	struct sim_side *me = &s->side[side];
	u32 at = find_buffer(s, side, a->id);
	struct sim_buffer *b = &me->bu.list[at];

	if (at || b->filled != a->len || !a->len)
		fault(s, "%u: %u bytes are in a buffer that got %u", side, a->len, b->filled);
	if (b->from != me->delivered)
		fault(s, "%u: bytes of another place in the stream (A2)", side);
	me->delivered += a->len;
	me->read += a->len;
	remove_buffer(&me->bu, at);
}

/* B4: write the next @bytes of the stream into the peer's oldest buffer. */
static void put(struct sim *s, u32 side, u32 bytes)
{
	struct sim_side *me = &s->side[side];
	struct sim_place *w = &me->pl.put[me->pl.puts++];
	struct sdp_region to;

	*w = me->pl.list[0];
	if (!sdp_engine_rdma_write(&me->e, bytes, &to))
		fault(s, "%u: a write of %u is refused", side, bytes);
	if (to.va != buffer_va(w->key))
		fault(s, "%u: a write to somewhere else", side);
	judge_put(s, side, bytes, &to);
	w->len = bytes;
	w->behind = me->t.sent;
	w->at = me->taken;
	me->taken += bytes;
}

/* C8: a SinkAvail has won over our SrcAvail, so the large send is written into that buffer. */
void sim_put_rest(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];
	u32 bytes;

	if (!me->rest || !judge_may_put(s, side))
		return;
	bytes = min(me->rest, me->pl.list[0].len);
	put(s, side, bytes);
	me->rest -= bytes;
}

static void put_moves(struct sim *s, u32 side)
{
	struct sim_places *pl = &s->side[side].pl;

	judge_put_moves(s, side, &pl->put[0]);
	pl->puts--;
	memmove(pl->put, pl->put + 1, pl->puts * sizeof(pl->put[0]));
}

/* The oldest message lands, so the hardware has done all writes before it. */
void sim_puts_land(struct sim *s, u32 side)
{
	while (s->side[side].pl.puts && s->side[side].pl.put[0].behind <= s->side[side].landed)
		put_moves(s, side);
}

bool sim_may_buffer(const struct sim *s, const struct sim_step *step, bool open)
{
	const struct sim_side *me = &s->side[step->side];

	switch (step->kind) {
	case SIM_WANT:
		return open && me->of.open && !me->of.pipe;
	case SIM_BUFFER:
		return open && judge_may_post(s, step->side);
	case SIM_UNBUFFER:
		return open && me->bu.n && !me->bu.cancel;
	case SIM_PUT:
		return open && !me->shutdown && !me->segs && !me->rest && step->arg &&
		       judge_may_put(s, step->side) && step->arg <= me->pl.list[0].len;
	case SIM_MISS:
		return open && judge_may_miss(s, step->side, step->arg);
	case SIM_PUT_MOVE:
		return !s->link_down && me->pl.puts && me->pl.put[0].behind <= me->landed;
	}
	return false;
}

static void unbuffer(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];
	struct sdp_actions acts = { 0 };

	me->bu.cancel = true;
	sdp_engine_sinkavail_cancel(&me->e, &acts);
	for (u32 i = 0; i < acts.n; i++) {
		if (acts.list[i].kind != SDP_ACT_SINKAVAIL_OVER)
			fault(s, "%u: a cancel leads to something else", side);
		sim_buffer_over(s, side, acts.list[i].id);
	}
	for (u32 i = 0; i < me->bu.n; i++)
		if (!me->bu.list[i].seq)
			fault(s, "%u: a buffer that nobody knows of is not over", side);
}

void sim_do_buffer(struct sim *s, const struct sim_step *step)
{
	struct sim_side *me = &s->side[step->side];

	switch (step->kind) {
	case SIM_WANT:
		me->of.pipe = true;
		sdp_engine_want_pipelined(&me->e);
		break;
	case SIM_BUFFER:
		post_buffer(s, step->side, step->arg);
		break;
	case SIM_UNBUFFER:
		unbuffer(s, step->side);
		break;
	case SIM_PUT:
		me->written += step->arg;
		put(s, step->side, step->arg);
		break;
	case SIM_MISS:
		if (step->arg) {
			judge_mode_unread(s, step->side);
			sdp_engine_srcavail_unread(&me->e);
		} else {
			judge_mode_missed(s, step->side);
			sdp_engine_sinkavail_missed(&me->e);
		}
		break;
	case SIM_PUT_MOVE:
		put_moves(s, step->side);
		break;
	}
}
