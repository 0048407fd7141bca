// SPDX-License-Identifier: GPL-2.0
/*
 * Judge of the pair simulator: messages, credits, streams and the end of a connection.
 *
 * Numbers in the comments are those of the requirements (A2, B7, D1-D5, G2-G5) and of the sections
 * of the wire description.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "judge.h"

void (*sim_on_fault)(const struct sim *s);
bool sim_outcome_only;

void fault_begin(const struct sim *s)
{
	fflush(stdout);
	fprintf(stderr, "# FAULT after %" PRIu64 " steps: ", s->steps);
}

void fault_end(const struct sim *s)
{
	fprintf(stderr, "\n");
	sim_print(s);
	sim_on_fault(s);
	exit(1);
}

/*
 * The test data of the streams. It has no pattern, so a shift, a loss or a repetition shows. Its
 * period is a prime, so no message size divides it.
 */
#define PATTERN_PERIOD	65521

const u8 *pattern(u32 side, u64 offset)
{
	static u8 table[2][PATTERN_PERIOD + PATTERN_MAX];
	static bool made;
	u32 x = 0x2545f491;

	if (!made) {
		for (u32 i = 0; i < 2 * sizeof(table[0]); i++) {
			x ^= x << 13;
			x ^= x >> 17;
			x ^= x << 5;
			table[i / sizeof(table[0])][i % sizeof(table[0])] = (u8)(x >> 11);
		}
		for (u32 i = 0; i < PATTERN_MAX; i++)
			for (u32 t = 0; t < 2; t++)
				table[t][PATTERN_PERIOD + i] = table[t][i];
		made = true;
	}
	return table[side] + offset % PATTERN_PERIOD;
}

/* T as documented: the wish, or half of the receives; at least 2 and less than the receives. */
u16 sim_threshold(u16 target, u16 wish)
{
	u16 t = wish ? wish : target / 2;

	if (t > target - 1)
		t = target - 1;
	return t < 2 ? 2 : t;
}

void judge_start(struct sim *s)
{
	for (u32 i = 0; i < 2; i++) {
		struct sim_truth *t = &s->side[i].t;
		u16 most;

		t->posted = s->cfg.first[i];
		t->theirs = t->posted;
		t->limit = s->cfg.first[!i];
		s->side[i].ri.cap = s->cfg.ring_max[i];
		s->side[i].ri.target = s->cfg.target[i];
		s->side[i].ri.threshold = s->cfg.threshold[i];
		most = sim_receives(s, i, s->cfg.target[i]);
		t->target = max(most, 3);
		t->target_max = max(t->target, s->cfg.first[i]);
		/* The configured threshold belongs to the configured number of receives. */
		t->threshold = sim_threshold(t->target, most == s->cfg.target[i] ?
					     s->cfg.threshold[i] : 0);
		t->threshold_min = t->threshold;
	}
	judge_resize_start(s);
	judge_mode_start(s);
}

static bool arrived(const struct sim_side *me, u32 seq)
{
	return seq <= me->completed || seq <= me->t.peer_received;
}

/*
 * The value that D1 requires for Bufs of the next message. One receive is not told to the peer
 * while its SrcAvail is open, so that the last answer can grant it. This applies only if the next
 * message leaves a credit for that answer. One receive beyond the target is not told while a
 * SinkAvail could have to be cancelled, or while the peer has to be told what was read from its
 * ring.
 */
static s32 told(const struct sim_side *me, const u8 *header)
{
	const struct sim_truth *t = &me->t;
	bool answer = me->of.open && !(header && judge_last_answer(me, header));
	bool spare = (judge_may_cancel(me, header) || me->ri.tells) && t->posted > t->target;

	if (!(answer || spare) || t->posted < 2 || judge_credit(t) < 2)
		return t->posted;
	return max(t->theirs, t->posted - 1);
}

/*
 * May a message go now? By NIC no grant is needed, because the adapter holds back what finds no
 * receive (G4). Otherwise D2 applies, with at least @least credits.
 */
static bool may_send(const struct sim *s, u32 side, u32 least)
{
	const struct sim_truth *t = &s->side[side].t;

	if (sim_by_nic(s))
		return judge_granted(t) || t->sent - s->side[side].completed < judge_pipe(s, side);
	return judge_credit(t) >= least && (least < 2 || t->posted);
}

/* D4: is a credit update due? */
static bool update_right(const struct sim_side *me)
{
	const struct sim_truth *t = &me->t;

	return t->theirs < t->threshold && told(me, NULL) - t->theirs >= t->threshold;
}

/* Does the peer owe us an answer, or ring space, while it has no credit to tell us? */
static bool update_for_answer(const struct sim *s, const struct sim_side *me)
{
	const struct sim_truth *t = &me->t;

	return (me->ad.out || me->ri.size) && !sim_by_nic(s) && !t->theirs && t->posted &&
	       judge_credit(t) > 1;
}

/*
 * Does the peer have no credit to take its SrcAvail back, and would an update give it one? All but
 * the last one serve for that (D5).
 */
static bool update_for_cancel(const struct sim *s, const struct sim_side *me)
{
	const struct sim_truth *t = &me->t;

	return me->of.open && !sim_by_nic(s) && t->theirs < 2 && told(me, NULL) > 1 &&
	       judge_credit(t) > 1;
}

/*
 * Does the peer have anything left to send? That is data, an answer to our SrcAvail, ModeChange
 * when a large reader waits (C3), or SinkAvail (C5).
 */
static bool judge_needs_credit(const struct sim_side *me)
{
	bool asks = me->mo.tx != SDP_MODE_COMBINED && !me->disconn_sent;

	return !me->eof || me->ad.out || asks;
}

static void judge_update(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];
	struct sim_truth *t = &me->t;

	if (!update_right(me) && judge_ring_update(me)) {
		s->sent[27]++;
		return;
	}
	if (!update_right(me))
		rule(s, "%u: credit update at theirs %d, posted %u, T %u (D4)", side,
		      t->theirs, t->posted, t->threshold);
	t->updates++;
	s->sent[1]++;
	/*
	 * Each update grants T, and a receive is granted once. This limits the number of updates.
	 */
	if ((u64)t->updates * t->threshold_min > t->grants)
		rule(s, "%u: %u credit updates for %u receives posted", side, t->updates,
		      t->grants);
}

static void judge_data(struct sim *s, u32 side, u32 payload, bool full)
{
	struct sim_side *me = &s->side[side];

	s->sent[0]++;
	if (me->disconn_sent)
		fault(s, "%u: payload after DisConn (wire 10)", side);
	if (!full && !me->shutdown && !me->ad.next_mid) {
		if (me->hold)
			rule(s, "%u: a held segment was sent", side);
		if (!arrived(me, me->t.last_partial))
			rule(s, "%u: a partial segment went while one is on its way", side);
		me->t.last_partial = me->t.sent;
	}
	if (me->mo.due && !me->shutdown && !me->ad.next_mid)
		rule(s, "%u: data before the change of the mode (C3)", side);
	me->t.last_data = me->t.sent;
}

static void judge_disconn(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];

	s->sent[2]++;
	if (me->disconn_sent)
		fault(s, "%u: second DisConn", side);
	if (!me->shutdown || me->taken != me->written || me->ad.next_mid)
		fault(s, "%u: DisConn before the last byte (wire 10)", side);
	me->disconn_sent = true;
	me->t.disconn = me->t.sent;
}

/* B7: every message announces an unsent urgent byte, including the message that carries it. */
static u8 flags_due(const struct sim_side *me, u8 mid, u32 payload)
{
	u8 flags = me->seg_urgent ? SDP_FLAG_OOB_PEND : 0;

	if (payload && !me->rest && payload == me->seg[0] && me->seg_urgent & 1)
		flags |= SDP_FLAG_OOB_PRES;
	if (me->of.open && me->of.pipe && (mid == SDP_MID_RDMA_RD_COMPL || mid == SDP_MID_SENDSM))
		flags |= SDP_FLAG_REQ_PIPE;
	return flags;
}

/* Check a message that is not an empty Data, by its kind. */
static void judge_kind(struct sim *s, u32 side, const u8 *header, u32 payload, bool full)
{
	if (judge_mode_sent(s, side, header) || judge_advert_sent(s, side, header, payload) ||
	    judge_ring_sent(s, side, header))
		return;
	if (header[0] == SDP_MID_SINK_AVAIL && payload)
		judge_data(s, side, payload, true);
	if (judge_buffer_sent(s, side, header, payload))
		return;
	if (header[0] == SDP_MID_DATA)
		judge_data(s, side, payload, full);
	else if (header[0] == SDP_MID_DISCONN)
		judge_disconn(s, side);
	else if (header[0] != SDP_MID_CHRCVBUF && header[0] != SDP_MID_CHRCVBUF_ACK)
		fault(s, "%u: MID %02x", side, header[0]);
}

/* G2: the bytes reported free are the bytes read, and only a BY_RDMA source is told of them. */
static void judge_freed(struct sim *s, u32 side, const u8 *header)
{
	struct sim_home *cur = &s->side[side].ri.cur;

	if (!(header[1] & SDP_FLAG_FREED))
		return;
	if (!judge_ring_tells(s, side) || be(header + 16, 4) != cur->read ||
	    header[0] != SDP_MID_DATA)
		fault(s, "%u: %u bytes are free, it says; %u are", side, be(header + 16, 4),
		      cur->read);
	cur->told = cur->read;
}

static void judge_credits(struct sim *s, u32 side, const u8 *header, u32 payload, bool update)
{
	struct sim_side *me = &s->side[side], *peer = &s->side[!side];
	struct sim_truth *t = &me->t;

	if (sim_by_nic(s)) {
		s->sent[22] += !judge_granted(t);
		if (!judge_granted(t) && t->sent - me->completed >= judge_pipe(s, side))
			fault(s, "%u: more than the adapter may hold (G5)", side);
		return;
	}
	if (judge_credit(t) < 1 || judge_credit(t) > 0xffff)
		fault(s, "%u: message without credit (D2)", side);
	if (!update && judge_credit(t) < 2 &&
	    !(judge_answer(me, header) && (s32)t->posted > t->theirs))
		rule(s, "%u: last credit used for MID %02x with %u bytes (D5)", side, header[0],
		      payload);
	if (t->sent + 1 - peer->t.received > peer->t.posted)
		fault(s, "%u: %u messages for %u receives (D2)", side,
		      t->sent + 1 - peer->t.received, peer->t.posted);
}

/* The hardware is about to put the oldest message of @side into a receive of the peer. */
void judge_lands(struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side], *peer = &s->side[!side];
	const struct sim_wire_msg *m = &me->wire[me->landed % SIM_MSGS];
	u32 room = peer->z.recv[me->landed % SIM_MSGS];

	if (!m->to.rkey && m->len > room)
		fault(s, "%u: %u bytes for a receive of %u", side, m->len, room);
}

/* A message is passed to the transport. @full: its payload ends a segment that cannot grow. */
void judge_send(struct sim *s, u32 side, const u8 *header, u32 payload, bool full,
		const struct sdp_ring_place *to)
{
	struct sim_side *me = &s->side[side];
	struct sim_truth *t = &me->t;
	bool empty = header[0] == SDP_MID_DATA && !payload;
	/* The flush of a shrink sends empty messages that need not be due as credit updates. */
	bool for_ring = judge_ring_tells(s, side) && judge_ring_update(me);
	bool update = empty && (!me->z.flush || update_right(me) || for_ring);
	bool for_answer = empty && (update_for_answer(s, me) || update_for_cancel(s, me)) &&
			  !update_right(me) && !for_ring;
	bool freed = header[1] & SDP_FLAG_FREED;
	u32 len = sdp_wire_header_len(header[0]) + (freed ? SDP_FREED_LEN : 0) + payload;
	s32 bufs = (s32)be(header + 2, 2);

	if (bufs > t->posted)
		fault(s, "%u: Bufs %u, posted %u (D1)", side, bufs, t->posted);
	if (bufs != told(me, header))
		rule(s, "%u: Bufs %u, posted %u, owes an answer (D1)", side, bufs, t->posted);
	if (!me->established)
		fault(s, "%u: message before the connection stands", side);
	judge_credits(s, side, header, payload, update);
	me->discards[t->sent % SIM_MSGS] = false;
	t->sent++;
	if (be(header + 8, 4) != t->sent + s->cfg.seq[side])
		fault(s, "%u: MSeq is not one more than the last (wire 7)", side);
	if (be(header + 12, 4) != t->received + s->cfg.seq[!side])
		fault(s, "%u: MSeqAck is not what has been received (D1)", side);
	if ((header[1] & ~SDP_FLAG_FREED) != flags_due(me, header[0], payload) ||
	    be(header + 4, 4) != len)
		fault(s, "%u: flags %02x or Len wrong (wire 1, 9)", side, header[1]);
	if (t->sent - me->completed > s->cfg.slots[side])
		fault(s, "%u: more messages than the transport has slots", side);
	judge_ring_message(s, side, header, len, to);
	if (!to->rkey)
		judge_fits(s, side, len);
	judge_resize_sent(s, side, header);
	if (for_answer)
		s->sent[10]++;
	else if (update)
		judge_update(s, side);
	else if (empty)
		s->sent[5]++;
	else
		judge_kind(s, side, header, payload, full);
	if (payload)
		judge_buffer_payload(s, side);
	judge_freed(s, side, header);
	t->theirs = bufs;
}

/* The engine has nothing to send, for the reason @why. Check that the reason is true. */
void judge_no_send(struct sim *s, u32 side, enum sdp_next why)
{
	struct sim_side *me = &s->side[side];
	struct sim_truth *t = &me->t;
	bool slot = t->sent - me->completed < s->cfg.slots[side];
	bool could = slot && may_send(s, side, 2);
	bool ready = me->segs && (me->segs > 1 || me->seg[0] >= me->seg_max[0] ||
				  me->seg_urgent || me->shutdown || !me->hold);

	if (!me->established || me->failed || me->ended)
		return;
	judge_advert_silent(s, side, could);
	judge_mode_silent(s, side, could);
	judge_buffer_silent(s, side, could);
	/*
	 * All data before an unsent SrcAvail is ready to go, and so is the rest of an ended one.
	 * While a SrcAvail is open no payload may go.
	 */
	ready = !me->ad.out && (ready || me->rest || me->ad.next_mid);
	if (slot && may_send(s, side, 1) && judge_needs_credit(me) && update_right(me))
		rule(s, "%u: a credit update is due and does not go (D4)", side);
	if (slot && update_for_answer(s, me))
		rule(s, "%u: the peer has no credit to answer with", side);
	if (slot && update_for_cancel(s, me))
		rule(s, "%u: the peer has no credit to cancel with", side);
	if (could)
		judge_resize_silent(s, side);
	if (why == SDP_NEXT_NO_SLOT && slot)
		fault(s, "%u: waits for a slot and has one", side);
	if (why == SDP_NEXT_NO_CREDIT && may_send(s, side, 2))
		rule(s, "%u: waits for credit and has %u (D1)", side, judge_credit(t));
	if (why == SDP_NEXT_NO_ROOM)
		judge_ring_room(s, side);
	if (why == SDP_NEXT_GATHER &&
	    (arrived(me, t->last_partial) || me->segs > 1 || me->seg_urgent || me->ad.next_mid ||
	     me->rest))
		rule(s, "%u: gathers with nothing partial on its way", side);
	if (s->cfg.lazy[side] && !s->calls && sim_by_rdma(s, side))
		ready = false;
	if (why == SDP_NEXT_IDLE && ready)
		fault(s, "%u: idle with something to send (A2)", side);
	if (why == SDP_NEXT_IDLE && me->shutdown && !me->disconn_sent && !me->ad.next_mid)
		fault(s, "%u: idle with DisConn to send", side);
}

/* A message is passed from its receive to the engine of @side. */
void judge_receive(struct sim *s, u32 side, const u8 *header)
{
	struct sim_side *me = &s->side[side];
	struct sim_truth *t = &me->t;
	u32 ack = be(header + 12, 4) - s->cfg.seq[side];
	u32 limit = ack + be(header + 2, 2);

	if (!t->posted)
		fault(s, "%u: a message and no receive for it (D2)", side);
	if (ack > t->sent || ack < t->peer_received)
		fault(s, "%u: MSeqAck out of range", side);
	if (limit < t->limit)
		fault(s, "%u: a grant was taken back", side);
	t->peer_received = ack;
	t->limit = limit;
	t->received++;
	t->posted--;
	if (--t->theirs < 0) {
		if (!sim_by_nic(s))
			fault(s, "%u: more messages than the peer had credits (D3)", side);
		t->theirs = 0;
	}
	judge_ring_received(s, side, header);
	judge_resize_received(s, side, header);
	judge_mode_received(s, side, header);
	judge_advert_received(s, side, header);
	judge_buffer_received(s, side, header);
}

void judge_actions(struct sim *s, u32 side, const struct sdp_actions *acts)
{
	if (acts->n > 4 + SDP_SINKAVAILS_MAX)
		fault(s, "%u: one event led to %u actions", side, acts->n);
	if (acts->n && (s->side[side].failed || s->side[side].ended))
		fault(s, "%u: a dead engine acts", side);
}

void judge_deliver(struct sim *s, u32 side, const u8 *bytes, u32 len)
{
	struct sim_side *me = &s->side[side], *peer = &s->side[!side];

	if (me->eof)
		fault(s, "%u: bytes after the end", side);
	if (me->delivered + len > peer->taken)
		fault(s, "%u: more bytes than were sent", side);
	if (memcmp(bytes, pattern(!side, me->delivered), len))
		fault(s, "%u: bytes at %" PRIu64 " differ (A2)", side, me->delivered);
}

/* B7: the urgent byte is the one written as urgent, and was announced exactly once before. */
void judge_urgent(struct sim *s, u32 side, const struct sdp_action *a)
{
	struct sim_side *me = &s->side[side], *peer = &s->side[!side];
	u32 at = peer->urgent_at[me->urgent_delivered % SIM_MSGS];
	bool due = me->urgent_delivered != peer->urgent_written && at == (u32)me->delivered;

	if (a->urgent != due)
		fault(s, "%u: byte %" PRIu64 " is %surgent (B7)", side, me->delivered,
		      due ? "" : "not ");
	me->urgent_delivered += due;
	if (due && me->urgent_told != me->urgent_delivered)
		fault(s, "%u: told of %u urgent bytes, this is the %uth", side, me->urgent_told,
		      me->urgent_delivered);
}

void judge_eof(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side], *peer = &s->side[!side];

	if (me->eof)
		fault(s, "%u: second end of stream", side);
	if (!peer->disconn_sent || me->delivered != peer->written)
		fault(s, "%u: end of stream after %" PRIu64 " of %" PRIu64 " bytes", side,
		      me->delivered, peer->written);
	/* After the end of the stream the engine grows no receives. */
	judge_refuse(s, side);
}

/* A link that ends in good order may lose credit updates, but nothing else. */
void judge_link_down(struct sim *s)
{
	for (u32 i = 0; i < 2 && !s->aborted; i++) {
		struct sim_side *me = &s->side[i];

		if (me->t.disconn > me->landed || !me->disconn_sent)
			fault(s, "%u: the link ended before the DisConn arrived", i);
		if (me->t.last_data > me->landed)
			fault(s, "%u: the link ended before the last byte arrived", i);
	}
}

/*
 * No event is left except reads by an application that does not read. All data for a @readers side
 * must have arrived (A2), and no side may be stuck (D5).
 */
void judge_settled(const struct sim *s, u32 readers)
{
	for (u32 i = 0; i < 2 && !s->aborted; i++) {
		const struct sim_side *me = &s->side[i], *peer = &s->side[!i];

		if (!(readers & 1U << i))
			continue;
		judge_advert_settled(s, i);
		if (me->read != peer->written)
			fault(s, "%u: stuck, %" PRIu64 " of %" PRIu64 " bytes arrived", i,
			      me->read, peer->written);
		if (peer->shutdown && !me->eof)
			fault(s, "%u: stuck, no end of stream", i);
		if (readers == 3 && !s->link_down)
			judge_resize_settled(s, i);
	}
	if (!s->aborted && !s->link_down) {
		judge_mode_settled(s);
		judge_buffer_settled(s, readers);
	}
	if (!s->aborted && readers == 3 && !s->link_down)
		judge_ring_settled(s);
	if (!s->aborted && readers == 3 && s->side[0].shutdown && s->side[1].shutdown &&
	    !sim_all_over(s))
		fault(s, "both have shut down and the connection does not end");
	if (s->aborted && !sim_all_over(s))
		fault(s, "aborted and the connection does not end");
}
