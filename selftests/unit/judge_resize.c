// SPDX-License-Identifier: GPL-2.0
/*
 * The judge of the pair simulator: sizes of receives, and how they change (E1-E5). It keeps
 * the size of every receive that was posted, and so knows in which one a message will land.
 */
#include "judge.h"

#define LEVEL_MAX	16384U

void judge_resize_start(struct sim *s)
{
	for (u32 i = 0; i < 2; i++) {
		struct sim_sizes *z = &s->side[i].z;

		z->may_send = s->cfg.recv_size[!i];
		z->back_to = z->may_send;
		z->told = s->cfg.recv_size[i];
		z->level = s->cfg.split_level[i];
		z->posted_most = s->cfg.first[!i];
		for (u32 j = 0; j < s->cfg.first[i]; j++)
			z->recv[j] = (u16)s->cfg.recv_size[i];
	}
}

static u32 posted_ever(const struct sim *s, u32 side)
{
	return s->cfg.first[side] + s->side[side].t.grants;
}

/* What has to be said to the request that waits, and is what receives are posted with (E2, E5). */
static u32 answer_for(const struct sim *s, u32 side)
{
	const struct sim_sizes *z = &s->side[side].z;

	if (!z->owes || z->refused || !s->cfg.recv_size_max[side])
		return z->told;
	return min(max(z->owes, s->cfg.recv_size[side]), max(s->cfg.recv_size_max[side], z->told));
}

/* Before they are counted. */
void judge_posted(struct sim *s, u32 side, u16 n, u32 size)
{
	struct sim_side *me = &s->side[side];

	u32 most = me->t.target_max + (judge_may_cancel(me, NULL) || me->ri.tells);

	/* One more for a cancel or for what is free, while it could have to be said. */
	if (me->t.posted + n > most)
		fault(s, "%u: %u receives are to be posted, %u more than there may be", side, n,
		      me->t.posted + n - most);
	if (size != answer_for(s, side))
		rule(s, "%u: receives of %u are posted, not of %u (E2)", side, size,
		     answer_for(s, side));
	for (u32 i = 0; i < n; i++)
		me->z.recv[(posted_ever(s, side) + i) % SIM_MSGS] = (u16)size;
}

/* E1: a write of the application does not fit into one message. */
void judge_split(struct sim *s, u32 side, u32 bytes)
{
	struct sim_sizes *z = &s->side[side].z;
	u32 most = s->cfg.recv_size_max[side], size;

	if (z->asked || z->wants || z->may_send >= most)
		return;
	z->largest = max(z->largest, bytes);
	if (++z->splits < z->level)
		return;
	size = SDP_BSDH_LEN + (z->largest + 4095) / 4096 * 4096;
	/* What did not fit into a small ring may fit into a receive. */
	size = min(size, most);
	z->wants = size > z->may_send ? size : 0;
	z->splits = 0;
	z->largest = 0;
}

/* Nothing is unsent and the owner would like the peer to have small receives again. */
void judge_shrink(struct sim *s, u32 side, bool begun)
{
	struct sim_sizes *z = &s->side[side].z;
	bool right = !z->asked && !z->wants && !z->owes && !z->flush &&
		     z->may_send > z->back_to && !s->side[side].ad.offered;

	if (begun != right)
		rule(s, "%u: the engine %s to shrink", side, begun ? "wants" : "does not want");
	z->shrinks = begun;
}

void judge_refuse(struct sim *s, u32 side)
{
	struct sim_sizes *z = &s->side[side].z;

	z->refused = z->owes > z->told;
}

/* The most important rule: a message is not longer than the receive that it will land in. */
void judge_fits(struct sim *s, u32 side, u32 len)
{
	struct sim_side *me = &s->side[side];

	if (len > me->z.may_send)
		fault(s, "%u: %u bytes to a peer that has said %u (E3)", side, len,
		      me->z.may_send);
}

static void ask_sent(struct sim *s, u32 side, u32 size)
{
	struct sim_side *me = &s->side[side];
	struct sim_sizes *z = &me->z;

	s->sent[3]++;
	if (z->asked)
		rule(s, "%u: second request before the answer", side);
	if (z->owes)
		rule(s, "%u: a request while it owes an answer (E4)", side);
	if (me->shutdown)
		rule(s, "%u: a request after shutdown", side);
	if (size != (z->shrinks && !z->wants ? z->back_to : z->wants))
		rule(s, "%u: request for %u without a reason (E1)", side, size);
	z->asked = size;
	/* After a rest splits are counted anew. */
	if (size < z->may_send) {
		z->splits = 0;
		z->largest = 0;
	}
	z->may_send = min(z->may_send, size);
	z->wants = 0;
	z->shrinks = false;
	z->flushed = false;
}

static void answer_sent(struct sim *s, u32 side, u32 size)
{
	struct sim_side *me = &s->side[side];
	struct sim_sizes *z = &me->z;

	s->sent[4]++;
	if (!z->owes)
		rule(s, "%u: an answer to nothing", side);
	if (size != answer_for(s, side))
		rule(s, "%u: answer of %u to a request for %u", side, size, z->owes);
	for (u32 i = me->t.received; i != posted_ever(s, side); i++)
		if (z->recv[i % SIM_MSGS] < size)
			fault(s, "%u: answer of %u, a receive of %u is posted (E2)", side, size,
			      z->recv[i % SIM_MSGS]);
	z->told = size;
	z->owes = 0;
	z->refused = false;
}

/* A message is being sent, and counted already. */
void judge_resize_sent(struct sim *s, u32 side, const u8 *header)
{
	struct sim_sizes *z = &s->side[side].z;

	if (z->flush)
		z->flush--;
	if (header[0] == SDP_MID_CHRCVBUF)
		ask_sent(s, side, be(header + 16, 4));
	if (header[0] == SDP_MID_CHRCVBUF_ACK) {
		answer_sent(s, side, be(header + 16, 4));
		z->kept = s->side[side].t.posted - be(header + 2, 2);
	}
}

/* E4: the accepting side disregards a request that crosses its own; the other's one is void. */
static void ask_received(struct sim *s, u32 side, u32 size)
{
	struct sim_sizes *z = &s->side[side].z;

	if (z->owes)
		rule(s, "%u: second request to answer", side);
	if (z->asked && side == 1)
		return;
	if (z->asked) {
		z->wants = z->asked;
		z->asked = 0;
	}
	z->owes = size;
	z->owes_after = posted_ever(s, side);
}

static void answer_received(struct sim *s, u32 side, u32 size)
{
	struct sim_side *me = &s->side[side];
	struct sim_sizes *z = &me->z;

	if (!z->asked)
		rule(s, "%u: an answer without a question", side);
	if (z->asked <= z->may_send && size > z->back_to) {
		z->back_to = size;
	} else if (z->asked <= z->may_send) {
		z->flush = judge_granted(&me->t) ? judge_credit(&me->t) : 0;
		z->flushed = true;
	} else if (size == z->may_send) {
		z->level = min(2 * z->level, LEVEL_MAX);
		z->put_off = true;
	}
	z->may_send = max(z->may_send, min(size, s->cfg.recv_size_max[side]));
	z->asked = 0;
}

/* A message is being received, and counted already. */
void judge_resize_received(struct sim *s, u32 side, const u8 *header)
{
	struct sim_sizes *z = &s->side[side].z;
	u16 posted = be(header + 2, 2);

	/* E1: a peer that has more receives than ever may have refused for want of these only. */
	if (posted > z->posted_most) {
		z->posted_most = posted;
		if (z->put_off)
			z->level = s->cfg.split_level[side];
		z->put_off = false;
	}
	if (header[0] == SDP_MID_CHRCVBUF)
		ask_received(s, side, be(header + 16, 4));
	if (header[0] == SDP_MID_CHRCVBUF_ACK)
		answer_received(s, side, be(header + 16, 4));
}

/* The engine has nothing to send, though it has credits, receives and slots. */
void judge_resize_silent(struct sim *s, u32 side)
{
	struct sim_side *me = &s->side[side];
	struct sim_sizes *z = &me->z;
	bool answer = z->owes && !(me->disconn_sent && me->eof) &&
		      (answer_for(s, side) <= z->told || me->t.received >= z->owes_after);

	if (answer)
		rule(s, "%u: owes an answer to %u and is silent (E2)", side, z->owes);
	if (me->shutdown)
		return;
	if (z->wants && !z->owes)
		rule(s, "%u: could ask for %u and does not (E1)", side, z->wants);
	if (z->flush && ((!me->segs && !me->rest) || me->ad.out))
		rule(s, "%u: %u large receives of the peer are left", side, z->flush);
}

/*
 * Everybody reads and nothing more can happen: no memory is wasted. What the peer had not told of
 * when it answered (D1), nobody could use up.
 */
void judge_resize_settled(const struct sim *s, u32 side)
{
	const struct sim_side *me = &s->side[side], *peer = &s->side[!side];
	u32 left = 0;

	if (me->shutdown || !me->z.flushed)
		return;
	if (me->z.flush)
		rule(s, "%u: stuck with %u messages to flush", side, me->z.flush);
	for (u32 i = peer->t.received; i != posted_ever(s, !side); i++)
		if (peer->z.recv[i % SIM_MSGS] > peer->z.told && left++ >= peer->z.kept)
			rule(s, "%u: a receive of %u is left, after going back to %u", !side,
			     peer->z.recv[i % SIM_MSGS], peer->z.told);
}
