// SPDX-License-Identifier: GPL-2.0
/*
 * Pair simulator: the transport, the owners and the applications around two engines.
 *
 * See sim.h.
 */
#include "judge.h"

static void link_down(struct sim *s)
{
	if (s->link_down)
		return;
	judge_link_down(s);
	s->link_down = true;
	for (u32 i = 0; i < 2; i++) {
		s->side[i].t.sent = s->side[i].landed;
		s->side[i].pl.puts = 0;
	}
}

static void note_failure(struct sim *s, u32 side, const struct sdp_action *a)
{
	if (!s->aborted)
		fault(s, "%u: failed with errno %d, %s", side, a->error,
		      sdp_violation_name(a->violation));
	if (a->violation)
		fault(s, "%u: aborted, and the peer is blamed: %s", side,
		      sdp_violation_name(a->violation));
	s->side[side].failed = true;
	link_down(s);
}

static void deliver(struct sim *s, u32 side, const u8 *bytes, u32 len, u32 in_ring)
{
	struct sim_side *me = &s->side[side];
	u32 i = (me->unread_first + me->unread_n) % SIM_MSGS;

	judge_deliver(s, side, bytes, len);
	if (me->unread_n == SIM_MSGS)
		fault(s, "%u: more unread messages than a simulation holds", side);
	me->delivered += len;
	me->unread[i] = (u16)len;
	me->unread_ring[i] = (u16)in_ring;
	me->unread_plain += !in_ring;
	me->unread_n++;
}

/* Carry out the actions of an event. @message: the received message, if there was one. */
static void carry_out(struct sim *s, u32 side, const struct sdp_actions *acts,
		      const struct sim_wire_msg *message)
{
	struct sim_side *me = &s->side[side];

	judge_actions(s, side, acts);
	for (u32 i = 0; i < acts->n; i++) {
		const struct sdp_action *a = &acts->list[i];

		switch (a->kind) {
		case SDP_ACT_ESTABLISHED:
			if (me->established)
				fault(s, "%u: established twice", side);
			me->established = true;
			break;
		case SDP_ACT_DELIVER:
			if (!message || a->offset + a->len != message->len)
				fault(s, "%u: delivers what is not there", side);
			deliver(s, side, message->bytes + a->offset, a->len,
				message->to.rkey ? message->len : 0);
			judge_urgent(s, side, a);
			break;
		case SDP_ACT_URGENT:
			me->urgent_told++;
			break;
		case SDP_ACT_SRCAVAIL:
			judge_srcavail_arrived(s, side, a->len);
			break;
		case SDP_ACT_SRCAVAIL_OVER:
			judge_srcavail_pipe(s, side, a->pipe);
			sim_srcavail_over(s, side, a->len);
			break;
		case SDP_ACT_SINKAVAIL_WRITTEN:
			sim_buffer_written(s, side, a);
			break;
		case SDP_ACT_SINKAVAIL_OVER:
			sim_buffer_over(s, side, a->id);
			break;
		case SDP_ACT_RING_WANTED:
			me->ri.wanted = a->len;
			break;
		case SDP_ACT_RING_OVER:
			sim_rings_over(s, side, a->len);
			break;
		case SDP_ACT_EOF:
			judge_eof(s, side);
			me->eof = true;
			break;
		case SDP_ACT_DISCONNECT:
			me->disconnect = true;
			link_down(s);
			break;
		case SDP_ACT_END:
			me->ended = true;
			break;
		case SDP_ACT_FAIL:
			note_failure(s, side, a);
			break;
		}
	}
}

void sim_send(struct sim *s, u32 side, const struct sdp_tx_msg *tx, bool full)
{
	struct sim_side *me = &s->side[side];
	struct sim_wire_msg *m = &me->wire[me->t.sent % SIM_MSGS];
	struct sdp_msg sent;
	u32 payload = 0, header;
	u8 buf[SDP_HEADER_MAX];

	if (tx->mid == SDP_MID_SRC_AVAIL) {
		payload = me->ad.inlined;
	} else if (tx->payload_max) {
		u32 head = me->rest ? me->rest : me->seg[0];

		payload = min(head, tx->payload_max);
		if (tx->mid == SDP_MID_SINK_AVAIL && tx->payload_max != head)
			fault(s, "%u: %u bytes ride, %u are ready", side, tx->payload_max, head);
		full = full || payload < head;
	}
	header = sdp_engine_commit(&me->e, tx, payload, buf, &sent);
	judge_send(s, side, buf, payload, full, &sent.to);
	judge_revoke(s, side, tx->mid, sent.revoke);
	if (header + payload > SIM_BYTES || sent.payload_len != payload || sent.h.mid != tx->mid ||
	    payload > tx->payload_max)
		fault(s, "%u: commit reports a message that is not the one sent", side);
	memcpy(m->bytes, buf, header);
	memcpy(m->bytes + header, pattern(side, me->taken), payload);
	m->len = (u16)(header + payload);
	m->to = sent.to;
	me->taken += payload;
	judge_ring_early(s, side);
	if (!payload || tx->mid == SDP_MID_SRC_AVAIL)
		return;
	if (me->rest) {
		me->rest -= payload;
		return;
	}
	me->seg[0] -= payload;
	if (me->seg[0])
		return;
	memmove(me->seg, me->seg + 1, --me->segs * sizeof(me->seg[0]));
	memmove(me->seg_max, me->seg_max + 1, me->segs * sizeof(me->seg_max[0]));
	me->seg_urgent >>= 1;
}

static bool tail_full(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];

	return !me->segs || me->seg[me->segs - 1] >= me->seg_max[me->segs - 1] ||
	       me->seg_urgent >> (me->segs - 1);
}

static struct sdp_tx_view tx_view(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];
	struct sdp_tx_view view = {
		.head_bytes = me->segs ? me->seg[0] : 0,
		.head_full = me->segs > 1 || (me->segs && tail_full(s, side)),
		.head_urgent = me->seg_urgent & 1,
		.urgent = me->seg_urgent,
		.hold = me->hold,
		.lazy = s->cfg.lazy[side] && sim_by_rdma(s, side) && !me->shutdown && !s->calls,
	};

	if (me->rest) {
		view.head_bytes = me->rest;
		view.head_full = true;
		view.head_urgent = false;
	}
	return view;
}

/* The owner's send loop, which runs after every event. */
static void pump(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];

	while (!s->link_down) {
		struct sdp_tx_view view = tx_view(s, side);
		struct sdp_tx_msg tx;
		enum sdp_next next = sdp_engine_next(&me->e, &view, &tx);

		if (next != SDP_NEXT_SEND) {
			if (next == SDP_NEXT_NO_ROOM && !me->ri.stalled)
				sdp_engine_ring_full(&me->e);
			me->ri.stalled = next == SDP_NEXT_NO_ROOM;
			judge_no_send(s, side, next);
			return;
		}
		sim_send(s, side, &tx, view.head_full);
	}
}

static u32 min3_u32(u32 a, u32 b, u32 c)
{
	return min(min(a, b), c);
}

u16 sim_can_post(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];
	u32 used = me->t.posted + me->unread_plain, room = s->cfg.room[side];
	u32 held = me->t.posted + me->unread_n;

	/*
	 * Without free memory one receive may still be posted, because no data uses the last
	 * credit (D5). Not by NIC, where data needs no credit.
	 */
	if (used >= room || held >= SIM_MSGS)
		return !me->t.posted && s->cfg.ring_max[side] && !sim_by_nic(s) &&
		       sdp_engine_receives_wanted(&me->e);
	return (u16)min3_u32(sdp_engine_receives_wanted(&me->e), room - used, SIM_MSGS - held);
}

static void post(struct sim *s, u32 side, u16 n)
{
	struct sim_truth *t = &s->side[side].t;

	judge_posted(s, side, n, sdp_engine_post_size(&s->side[side].e));
	sdp_engine_posted(&s->side[side].e, n);
	t->posted += n;
	t->grants += n;
}

static void receive(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];
	const struct sim_wire_msg *m = &s->side[!side].wire[me->t.received % SIM_MSGS];
	struct sdp_actions acts = { 0 };
	struct sdp_msg msg;

	if (m->to.rkey && sim_ring_place(s, side, m, &acts))
		carry_out(s, side, &acts, NULL);
	memset(&acts, 0, sizeof(acts));
	judge_receive(s, side, m->bytes);
	if (m->to.rkey)
		sdp_engine_receive_placed(&me->e, m->bytes, m->len, &msg, &acts);
	else
		sdp_engine_receive(&me->e, m->bytes, m->len, &msg, &acts);
	carry_out(s, side, &acts, m);
	if (s->cfg.post_first && !msg.payload_len && sim_can_post(s, side))
		post(s, side, 1);
}

static u16 segment_max(const struct sim *s, u32 side)
{
	u16 max = s->cfg.segment[side];

	return max ? max : (u16)sdp_engine_payload_max(&s->side[side].e);
}

static u16 write_room(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side];
	u32 left = (s->cfg.segments[side] - me->segs) * segment_max(s, side);

	if (!tail_full(s, side))
		left += me->seg_max[me->segs - 1] - me->seg[me->segs - 1];
	return (u16)min(left, 0xffffU);
}

static void write_bytes(struct sim *s, u32 side, u32 bytes)
{
	struct sim_side *me = &s->side[side];

	me->written += bytes;
	if (bytes > sdp_engine_payload_max(&me->e)) {
		if (!judge_ring_takes(s, side))
			judge_split(s, side, bytes);
		sdp_engine_split(&me->e, bytes);
	}
	while (bytes) {
		u32 room, n;

		if (tail_full(s, side)) {
			me->seg_max[me->segs] = segment_max(s, side);
			me->seg[me->segs++] = 0;
		}
		room = me->seg_max[me->segs - 1] - me->seg[me->segs - 1];
		n = min(bytes, room);
		me->seg[me->segs - 1] += (u16)n;
		bytes -= n;
	}
}

static void mark_urgent(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];

	if (me->urgent_written - s->side[!side].urgent_delivered >= SIM_MSGS)
		return;
	me->seg_urgent |= 1U << (me->segs - 1);
	me->urgent_at[me->urgent_written++ % SIM_MSGS] = (u32)me->written;
}

static void read_bytes(struct sim *s, u32 side, u32 bytes)
{
	struct sim_side *me = &s->side[side];

	while (bytes && me->unread_n) {
		u16 *len = &me->unread[me->unread_first];
		u32 n = min(bytes, *len);

		*len -= (u16)n;
		bytes -= n;
		me->read += n;
		sim_ring_read(s, side, n, !*len);
		if (*len)
			break;
		me->unread_first = (me->unread_first + 1) % SIM_MSGS;
		me->unread_n--;
	}
}

void sim_target(struct sim *s, u32 side, u16 target, u16 threshold)
{
	struct sim_truth *t = &s->side[side].t;

	sdp_engine_set_target(&s->side[side].e, target, threshold);
	s->side[side].ri.target = target;
	s->side[side].ri.threshold = threshold;
	t->target = max(sim_receives(s, side, target), 3);
	t->target_max = max(t->target_max, t->target);
	t->threshold = sim_threshold(t->target, threshold);
	t->threshold_min = min(t->threshold_min, t->threshold);
}

/* The owner keeps its lock throughout, so no write can come in between. */
static void shrink(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];

	judge_shrink(s, side, sdp_engine_shrink(&me->e));
	pump(s, side);
	sdp_engine_shrink_end(&me->e);
	me->z.shrinks = false;
}

static void refuse(struct sim *s, u32 side)
{
	judge_refuse(s, side);
	sdp_engine_resize_refuse(&s->side[side].e);
}

/* May this step happen now? */
bool sim_may(const struct sim *s, const struct sim_step *step)
{
	const struct sim_side *me = &s->side[step->side], *peer = &s->side[!step->side];
	bool open = me->established && !me->failed && !me->ended;

	switch (step->kind) {
	case SIM_WRITE:
		return open && !me->shutdown && (!me->ad.next_mid || me->ad.out) && step->arg &&
		       step->arg <= write_room(s, step->side);
	case SIM_READ:
		return me->unread_n;
	case SIM_LAND:
		return sim_in_flight(me) && sim_finds_receive(s, step->side);
	case SIM_RECEIVE:
		return peer->landed > me->t.received;
	case SIM_COMPLETE:
		return step->arg && step->arg <= me->landed - me->completed;
	case SIM_POST:
		return step->arg && step->arg <= sim_can_post(s, step->side);
	case SIM_UNHOLD:
		return me->hold;
	case SIM_SHUTDOWN:
		return open && !me->shutdown;
	case SIM_TARGET:
		return step->arg;
	case SIM_ESTABLISHED:
		return !me->established && !me->failed && !me->ended && !s->link_down;
	case SIM_LINK_ENDED:
		return s->link_down && !me->failed && !me->ended && peer->landed == me->t.received;
	case SIM_ABORT:
		return !me->failed && !me->ended && !s->link_down;
	case SIM_SHRINK:
		return open && !me->shutdown && !me->segs && !me->rest &&
		       me->z.may_send > me->z.back_to;
	case SIM_REFUSE:
		return open && me->z.owes > me->z.told && !me->z.refused;
	}
	if (step->kind >= SIM_RING)
		return sim_may_ring(s, step, open);
	return step->kind < SIM_WANT ? sim_may_advert(s, step, open) :
				       sim_may_buffer(s, step, open);
}

/* Carry out a step, then let its side send. */
void sim_do(struct sim *s, const struct sim_step *step)
{
	struct sim_side *me = &s->side[step->side];
	struct sdp_actions acts = { 0 };

	s->steps++;
	switch (step->kind) {
	case SIM_WRITE:
		write_bytes(s, step->side, step->arg);
		if (step->urgent)
			mark_urgent(s, step->side);
		me->hold = step->more;
		break;
	case SIM_READ:
		read_bytes(s, step->side, step->arg);
		break;
	case SIM_LAND:
		sim_puts_land(s, step->side);
		judge_lands(s, step->side);
		sim_ring_written(s, step->side, &me->wire[me->landed % SIM_MSGS]);
		me->landed++;
		judge_ring_early(s, step->side);
		return;
	case SIM_RECEIVE:
		receive(s, step->side);
		break;
	case SIM_COMPLETE:
		me->completed += step->arg;
		sdp_engine_sent(&me->e, step->arg, &acts);
		break;
	case SIM_POST:
		post(s, step->side, step->arg);
		break;
	case SIM_UNHOLD:
		me->hold = false;
		break;
	case SIM_SHUTDOWN:
		me->shutdown = true;
		sdp_engine_shutdown(&me->e);
		break;
	case SIM_TARGET:
		sim_target(s, step->side, step->arg, step->arg2);
		break;
	case SIM_ESTABLISHED:
		sdp_engine_established(&me->e, &acts);
		if (!acts.n)
			fault(s, "%u: the transport has connected and the engine not", step->side);
		break;
	case SIM_LINK_ENDED:
		sdp_engine_link_ended(&me->e, &acts);
		break;
	case SIM_ABORT:
		s->aborted = true;
		sdp_engine_abort(&me->e, ECONNABORTED, &acts);
		break;
	case SIM_SHRINK:
		shrink(s, step->side);
		break;
	case SIM_REFUSE:
		refuse(s, step->side);
		break;
	default:
		if (step->kind >= SIM_RING)
			sim_do_ring(s, step);
		else if (step->kind < SIM_WANT)
			sim_do_advert(s, step);
		else
			sim_do_buffer(s, step);
		break;
	}
	carry_out(s, step->side, &acts, NULL);
	s->calls = step->kind == SIM_WRITE || step->kind == SIM_READ || step->kind == SIM_CALL ||
		   step->kind == SIM_SRCAVAIL;
	pump(s, step->side);
	s->calls = false;
	if (step->kind == SIM_LEAVE)
		sdp_engine_ring_stay(&me->e);
}

static bool try_step(struct sim *s, u8 kind, u8 side, u16 arg)
{
	struct sim_step step = { .kind = kind, .side = side, .arg = arg };

	if (!sim_may(s, &step))
		return false;
	sim_do(s, &step);
	return true;
}

/* End the RDMA read in flight. Then read the rest of the SrcAvail, write into it or decline it. */
static bool settle_advert(struct sim *s, u8 side, bool reads)
{
	struct sim_srcavail_arrived *of = &s->side[side].of;
	u32 left = of->open ? of->len - of->got : 0;
	bool moved = false;

	if (reads && s->wants)
		moved |= try_step(s, SIM_WANT, side, 0);
	if (reads && s->posts)
		moved |= of->open && try_step(s, SIM_BUFFER, side, 1);
	if (reads && s->declines)
		moved |= try_step(s, SIM_DECLINE, side, 0);
	else if (reads && !(s->posts && s->side[side].bu.n && !of->got))
		moved |= try_step(s, SIM_RDMA, side, (u16)left);
	moved |= try_step(s, SIM_RDMA_MOVE, side, (u16)(of->reading - of->moved));
	moved |= try_step(s, SIM_RDMA_END, side, 0);
	moved |= try_step(s, SIM_PUT_MOVE, side, 0);
	return moved;
}

/* One round of everything that transport, owner and application of @side do sooner or later. */
static bool settle_side(struct sim *s, u8 side, bool reads)
{
	struct sim_side *me = &s->side[side];
	u32 sent = me->t.sent;
	bool moved = false;

	moved |= try_step(s, SIM_ESTABLISHED, side, 0);
	moved |= try_step(s, SIM_UNHOLD, side, 0);
	while (try_step(s, SIM_LAND, side, 0))
		moved = true;
	while (try_step(s, SIM_RECEIVE, side, 0))
		moved = true;
	moved |= try_step(s, SIM_COMPLETE, side, (u16)(me->landed - me->completed));
	if (reads)
		moved |= try_step(s, SIM_READ, side, 0xffff);
	moved |= settle_advert(s, side, reads);
	moved |= try_step(s, SIM_RING, side, s->declines ? 2 : 0);
	moved |= try_step(s, SIM_POST, side, sim_can_post(s, side));
	moved |= try_step(s, SIM_CALL, side, 0) && me->t.sent != sent;
	moved |= try_step(s, SIM_LINK_ENDED, side, 0);
	return moved;
}

/* Far more rounds than all unsent bytes need with one message, and its answer, per round. */
#define ROUNDS_MAX	20000

/**
 * sim_settle() - let everything happen that must happen in the end
 * @s: simulation
 * @readers: set of bits, one for each side whose application reads
 *
 * After that, all data for a reader must have arrived.
 */
void sim_settle(struct sim *s, u32 readers)
{
	u32 rounds = 0;
	bool moved;

	do {
		moved = settle_side(s, 0, readers & 1);
		moved |= settle_side(s, 1, readers & 2);
		if (++rounds > ROUNDS_MAX)
			fault(s, "nobody writes and there is no rest");
	} while (moved);
	judge_settled(s, readers);
}

/* More messages than receives can be posted, for both sides one after the other. */
#define TRAFFIC_MAX	(4 * SIM_MSGS)

/**
 * sim_traffic() - let each side that waits for a ChRcvBufAck send more data
 * @s: simulation that has settled with both applications reading
 *
 * The data uses up the smaller receives, so the answer must come (E2).
 */
void sim_traffic(struct sim *s)
{
	u32 rounds = 0;
	bool moved;

	do {
		moved = false;
		for (u8 side = 0; side < 2 && !s->link_down; side++)
			if (s->side[side].z.asked)
				moved |= try_step(s, SIM_WRITE, side, 1);
		if (++rounds > TRAFFIC_MAX)
			fault(s, "a request is never answered (E2)");
		if (moved)
			sim_settle(s, 3);
	} while (moved);
}

/* How a reader takes large writes. */
enum taste {
	READS_SMALL,
	READS_LARGE,
	POSTS_FIRST,
};

/* C2: @side writes @n large sends. The reader takes each of them in the same way. */
static void learn(struct sim *s, u8 side, u32 n, enum taste taste)
{
	struct sim_step srcavail = { .kind = SIM_SRCAVAIL, .side = side, .arg = 3, .arg2 = 1 };

	s->posts = false;
	s->declines = taste == READS_SMALL;
	s->wants = taste == POSTS_FIRST;
	while (n--) {
		if (sim_may(s, &srcavail))
			sim_do(s, &srcavail);
		sim_settle(s, 3);
	}
	s->wants = false;
}

static bool mode_is(const struct sim *s, u8 side, u8 mode)
{
	return sdp_engine_tx_mode(&s->side[side].e) == mode &&
	       sdp_engine_rx_mode(&s->side[!side].e) == mode;
}

/*
 * The reader supplies a buffer, and @side learns of it. Then @side writes @bytes, large or small.
 * If SinkAvail waits for a request (C6), a SrcAvail makes it go and uses it up (C8). The next
 * SinkAvail does not wait.
 */
static void write_into(struct sim *s, u8 side, u8 kind, u16 bytes)
{
	struct sim_step srcavail = { .kind = SIM_SRCAVAIL, .side = side, .arg = 3, .arg2 = 1 };

	try_step(s, SIM_BUFFER, !side, 0);
	sim_settle(s, 3);
	if (sdp_piggyback_waits(&s->side[!side].e.piggyback) && sim_may(s, &srcavail)) {
		sim_do(s, &srcavail);
		sim_settle(s, 3);
		try_step(s, SIM_BUFFER, !side, 0);
		sim_settle(s, 3);
	}
	if (!try_step(s, kind, side, bytes))
		fault(s, "%u: cannot write %u to one who posts buffers (C5)", side, bytes);
	sim_settle(s, 3);
}

/*
 * C5: large writes to a reader that supplies its buffer first lead to Pipelined. Small writes lead
 * back to Combined.
 */
static void learn_pipelined(struct sim *s, u8 side, u32 after)
{
	learn(s, side, after, POSTS_FIRST);
	if (!mode_is(s, side, SDP_MODE_PIPELINED))
		fault(s, "%u: %u large writes to who posts first (C2)", side, after);
	write_into(s, side, SIM_PUT, 3);
	for (u32 i = 0; i < after; i++) {
		if (!mode_is(s, side, SDP_MODE_PIPELINED))
			fault(s, "%u: Pipelined is left after %u small writes", side, i);
		write_into(s, side, SIM_WRITE, 1);
	}
	if (!mode_is(s, side, SDP_MODE_COMBINED))
		fault(s, "%u: %u small writes into buffers have changed nothing", side, after);
}

/**
 * sim_learn() - check that the mode of each half follows its reader (C2, C3, C5)
 * @s: simulation that has settled with both applications reading
 *
 * Enough large writes to a small reader lead to Buffered, and one large buffer leads back to
 * Combined, where the next large write is read by RDMA. Enough large writes to a reader that
 * supplies its buffers first lead to Pipelined.
 */
void sim_learn(struct sim *s)
{
	for (u8 side = 0; side < 2 && !s->link_down; side++) {
		struct sim_side *me = &s->side[side];
		u32 after = s->cfg.mode_after[side];

		if (!after || !s->cfg.adverts[side] || me->shutdown || !me->established)
			continue;
		/* A small reader has no buffers out. One more write first ends Pipelined. */
		try_step(s, SIM_UNBUFFER, !side, 0);
		sim_settle(s, 3);
		learn(s, side, after + 1, READS_SMALL);
		if (!mode_is(s, side, SDP_MODE_BUFFERED))
			fault(s, "%u: %u large writes to a small reader (C2)", side, after + 1);
		try_step(s, SIM_LARGE, !side, 0);
		sim_settle(s, 3);
		if (!mode_is(s, side, SDP_MODE_COMBINED))
			fault(s, "%u: a large buffer has changed nothing (C3)", side);
		learn(s, side, 1, READS_LARGE);
		if (me->mo.alike || !mode_is(s, side, SDP_MODE_COMBINED))
			fault(s, "%u: a large reader has not read (C3)", side);
		if (s->cfg.buffers[!side])
			learn_pipelined(s, side, after);
	}
}

/**
 * sim_copy() - copy a simulation, without the messages that have already arrived
 * @to: the copy
 * @from: the original
 */
void sim_copy(struct sim *to, const struct sim *from)
{
	memcpy(to, from, offsetof(struct sim, side));
	for (u32 i = 0; i < 2; i++) {
		const struct sim_side *me = &from->side[i];

		memcpy(&to->side[i], me, offsetof(struct sim_side, wire));
		for (u32 j = from->side[!i].t.received; j != me->t.sent; j++) {
			const struct sim_wire_msg *m = &me->wire[j % SIM_MSGS];

			memcpy(&to->side[i].wire[j % SIM_MSGS], m,
			       offsetof(struct sim_wire_msg, bytes) + m->len);
		}
	}
}

bool sim_all_over(const struct sim *s)
{
	return (s->side[0].ended || s->side[0].failed) && (s->side[1].ended || s->side[1].failed);
}

/* Start the sequence numbers of a new connection at another value than 0. */
static void shift(struct sdp_engine *e, u32 own, u32 peers)
{
	e->credit.tx_seq += own;
	e->credit.tx_acked += own;
	e->credit.tx_limit += own;
	e->sent_seq += own;
	e->partial_seq += own;
	e->credit.rx_seq += peers;
	e->credit.rx_limit += peers;
}

static void hello(struct sim *s)
{
	struct sdp_engine *a = &s->side[0].e, *b = &s->side[1].e;
	struct sdp_hello says = { .ip_version = 4, .port = 1 }, heard;
	struct sdp_actions acts = { 0 };
	u8 buf[SDP_HELLO_ACK_LEN];

	sdp_engine_hello(a, &says);
	sdp_hello_build(buf, &says);
	if (sdp_hello_parse(buf, SDP_HELLO_LEN, &heard))
		fault(s, "Hello refused");
	heard.held = max(s->cfg.buffers[1], (u8)1);
	if (sdp_engine_hello_received(b, &heard))
		fault(s, "Hello comes too early");
	sdp_engine_hello_ack(b, &says);
	sdp_hello_ack_build(buf, &says);
	if (sdp_hello_ack_parse(buf, SDP_HELLO_ACK_LEN, &heard))
		fault(s, "HelloAck refused");
	heard.held = max(s->cfg.buffers[0], (u8)1);
	shift(b, s->cfg.seq[1], s->cfg.seq[0]);
	sdp_engine_hello_ack_received(a, &heard, &acts);
	shift(a, s->cfg.seq[0], s->cfg.seq[1]);
	carry_out(s, 0, &acts, NULL);
}

/**
 * sim_start() - set up two engines, connected from the connecting side's view
 * @s: simulation to fill in
 * @cfg: sizes and counts
 */
void sim_start(struct sim *s, const struct sim_config *cfg)
{
	memset(s, 0, offsetof(struct sim, side));
	s->cfg = *cfg;
	for (u32 i = 0; i < 2; i++)
		memset(&s->side[i], 0, offsetof(struct sim_side, wire));
	for (u32 i = 0; i < 2; i++) {
		struct sdp_engine_config c = {
			.recv_size = cfg->recv_size[i], .recv_size_max = cfg->recv_size_max[i],
			.split_level = cfg->split_level[i], .recv_target = cfg->target[i],
			.threshold = cfg->threshold[i], .send_slots = cfg->slots[i],
			.mode_after = cfg->mode_after[i],
			.revocable = cfg->revocable[i],
			.ring_max = cfg->ring_max[i], .ring_window = cfg->window[i],
			.scheme = cfg->scheme[i],
		};

		sdp_engine_init(&s->side[i].e, &c);
		sdp_engine_posted(&s->side[i].e, cfg->first[i]);
	}
	judge_start(s);
	hello(s);
	sim_buffer_init(s);
}
