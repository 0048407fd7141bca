// SPDX-License-Identifier: GPL-2.0
/*
 * Judge of the pair simulator: sizes of receives and the resize handshake.
 *
 * Requirements E1-E5. The judge records the size of every posted receive, so it knows which
 * receive a message will use.
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

/* E2, E5: the size to answer the open request with, which is also the size of new receives. */
static u32 answer_for(const struct sim *s, u32 side)
{
	const struct sim_sizes *z = &s->side[side].z;

	if (!z->owes || z->refused || !s->cfg.recv_size_max[side])
		return z->told;
	return min(max(z->owes, s->cfg.recv_size[side]), max(s->cfg.recv_size_max[side], z->told));
}

/* The owner is about to post @n receives of @size bytes, which are not counted yet. */
void judge_posted(struct sim *s, u32 side, u16 n, u32 size)
{
	struct sim_side *me = &s->side[side];

	u32 most = me->t.target_max + (judge_may_cancel(me, NULL) || me->ri.tells);

	/*
	 * One more than the target may be posted while a grant is kept back, see told() in
	 * judge.c.
	 */
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
	/* A write that is longer than a message of a small ring may still fit into a receive. */
	size = min(size, most);
	z->wants = size > z->may_send ? size : 0;
	z->splits = 0;
	z->largest = 0;
}

/*
 * Nothing is unsent, and the owner wants the peer to go back to small receives. @begun: the engine
 * agrees.
 */
void judge_shrink(struct sim *s, u32 side, bool begun)
{
	struct sim_sizes *z = &s->side[side].z;
	bool right = !z->asked && !z->wants && !z->owes && !z->flush &&
		     z->may_send > z->back_to && !s->side[side].ad.next_mid;

	if (begun != right)
		rule(s, "%u: the engine %s to shrink", side, begun ? "wants" : "does not want");
	z->shrinks = begun;
}

void judge_refuse(struct sim *s, u32 side)
{
	struct sim_sizes *z = &s->side[side].z;

	z->refused = z->owes > z->told;
}

/* E3: no message may be longer than the receive that it will use. */
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
	/* After a shrink, split sends are counted from 0 again. */
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

/* Check a message that is being sent and is already counted. */
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

/*
 * E4: the accepting side disregards a request that crosses its own. The connecting side's own
 * request becomes void, and is sent again after the answer.
 */
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

/* Account for a message that is being received and is already counted. */
void judge_resize_received(struct sim *s, u32 side, const u8 *header)
{
	struct sim_sizes *z = &s->side[side].z;
	u16 posted = be(header + 2, 2);

	/*
	 * E1: a peer that has more receives than ever before may have refused only for lack of
	 * them.
	 */
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

/* No message goes now, although credits, receives and slots would allow one. */
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
 * Both applications read, and no event is left: no receive of the larger size may remain after a
 * shrink. Receives that the peer had not granted when it answered (D1) are excepted, because no
 * message could use them up.
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
