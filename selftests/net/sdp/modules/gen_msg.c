// SPDX-License-Identifier: GPL-2.0
/*
 * Random cases: messages on an established connection: right, nearly right and wrong ones.
 *
 * Also more messages than were granted, and RDMA within and beyond what was advertised. A case
 * knows what must end the connection without a model of the engine: a message that cannot be
 * decoded, wrong sequence numbers, grants that are taken back, keys that are not the peer's. After
 * any other message the connection may end or not.
 */
#include <linux/delay.h>

#include "gen.h"

#define STEPS_MOST	16
/* No acknowledgement is valid that far ahead: a peer never has that many messages in flight. */
#define FAR		(1U << 20)

static const u8 mids[] = {
	SDP_MID_DISCONN, SDP_MID_ABORT, SDP_MID_SENDSM, SDP_MID_RDMA_WR_COMPL,
	SDP_MID_RDMA_RD_COMPL, SDP_MID_MODE_CHANGE, SDP_MID_SRC_CANCEL, SDP_MID_SINK_CANCEL,
	SDP_MID_SINK_CANCEL_ACK, SDP_MID_CHRCVBUF, SDP_MID_CHRCVBUF_ACK, SDP_MID_SUSPEND,
	SDP_MID_SUSPEND_ACK, SDP_MID_SINK_AVAIL, SDP_MID_SRC_AVAIL,
};

/**
 * gen_draw_mid() - draw a kind of message that needs no agreement
 * @g: case
 *
 * Return: its MID; half of them are data.
 */
u8 gen_draw_mid(struct gen *g)
{
	return gen_draw(g, 2) ? SDP_MID_DATA : mids[gen_draw(g, ARRAY_SIZE(mids))];
}

/* Memory that exists or does not, or that the peer itself has advertised. */
static void draw_region(struct gen *g, struct sdp_region *r)
{
	struct hostile *h = g->h;
	struct sdp_region ring;

	r->len = 1 + gen_draw(g, 200000);
	r->rkey = gen_draw(g, U32_MAX);
	r->va = (u64)gen_draw(g, U32_MAX) << gen_draw(g, 16);
	if (h->shown.mr) {
		r->len = 1 + gen_draw(g, HOSTILE_MR_SIZE);
		r->rkey = h->shown.mr->rkey;
		r->va = h->shown.mr->iova;
		/* Pairs with recv_done(). */
	} else if (smp_load_acquire(&h->advert.mid) && gen_draw(g, 2)) {
		*r = h->advert.region;
	} else if (gen_ring_told(g, &ring) && gen_draw(g, 2)) {
		*r = ring;
	}
}

static void draw_fields(struct gen *g, struct sdp_msg *msg)
{
	static const u8 modes[] = { 0x00, 0x10, 0x20, 0x90 };
	u8 mode;

	switch (msg->h.mid) {
	case SDP_MID_SINK_AVAIL:
		msg->non_discards = gen_draw(g, 4);
		fallthrough;
	case SDP_MID_SRC_AVAIL:
		draw_region(g, &msg->src);
		if (msg->src.len <= msg->payload_len)
			msg->src.len = msg->payload_len + 1;
		break;
	case SDP_MID_RDMA_RD_COMPL:
	case SDP_MID_RDMA_WR_COMPL:
		msg->count = gen_draw(g, 3) ? g->h->advert.region.len : gen_draw(g, 100000);
		break;
	case SDP_MID_MODE_CHANGE:
		mode = modes[gen_draw(g, ARRAY_SIZE(modes))];
		msg->mode = mode >> 4 & 7;
		msg->mode_send_half = mode >> 7;
		break;
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUF_ACK:
		msg->size = SDP_RECV_SIZE_MIN + gen_draw(g, 70000);
		break;
	default:
		break;
	}
}

/**
 * gen_make() - build a message that can be decoded and has the right sequence numbers
 * @g: case
 * @mid: its kind
 */
void gen_make(struct gen *g, u8 mid)
{
	struct hostile *h = g->h;
	struct sdp_msg msg = {
		.h = {
			.mid = mid, .mseq = h->mseq + 1, .mseq_ack = READ_ONCE(h->seen),
		},
	};
	u32 bufs = g->limit - msg.h.mseq_ack;

	/* A grant is never less than before. */
	msg.h.bufs = clamp_t(u32, bufs, HOSTILE_BUFS, SDP_BUFS_MAX);
	if (msg.h.mid >= SDP_MID_SINK_AVAIL && gen_draw(g, 4))
		msg.payload_len = gen_draw(g, gen_draw(g, 4) ? 64 : 1400);
	if (msg.h.mid == SDP_MID_SRC_AVAIL && gen_draw(g, 2))
		msg.payload_len = 1;
	draw_fields(g, &msg);
	g->bytes = sdp_wire_build(h->send, &msg);
	memset(h->send + g->bytes, 0x5a, msg.payload_len);
	g->bytes += msg.payload_len;
}

static void make(struct gen *g)
{
	gen_make(g, gen_draw_mid(g));
}

/* Offsets and sizes of the fields of a header. */
static const u8 fields[][2] = {
	{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 4, 4 }, { 8, 4 }, { 12, 4 },
	{ 16, 4 }, { 20, 4 }, { 24, 4 }, { 28, 4 }, { 32, 4 }, { 16, 1 },
};

/**
 * gen_spoil_field() - change a field of a message
 * @g: case, whose message is in the send buffer
 */
void gen_spoil_field(struct gen *g)
{
	u32 i = gen_draw(g, ARRAY_SIZE(fields));

	if (fields[i][0] + fields[i][1] > g->bytes)
		i %= 6;
	gen_spoil(g, g->h->send + fields[i][0], fields[i][1]);
}

static u32 get32_at(const struct hostile *h, u32 at)
{
	return get_unaligned_be32(h->send + at);
}

/**
 * gen_judge() - decide what the peer must do with the message in the send buffer
 * @g: case; @why gets the reason why the connection must end
 * @bytes: length of the message
 * @placed: the message is written into a ring
 */
void gen_judge(struct gen *g, u32 bytes, bool placed)
{
	struct hostile *h = g->h;
	u32 mseq = get32_at(h, 8), ack = get32_at(h, 12), limit;
	struct sdp_msg msg;

	if (g->why)
		return;
	limit = ack + get_unaligned_be16(h->send + 2);
	if (sdp_wire_parse(h->send, bytes, &msg))
		g->why = "it cannot be decoded";
	else if (placed && (msg.h.mid != SDP_MID_DATA || !msg.payload_len))
		g->why = "it may not be in a ring";
	else if (mseq != h->mseq + 1)
		g->why = "MSeq does not follow";
	else if (sdp_seq_after(h->acked, ack))
		g->why = "MSeqAck goes back";
	else if (sdp_seq_after(ack, READ_ONCE(h->seen) + FAR))
		g->why = "MSeqAck is of nothing that was sent";
	else if (sdp_seq_after(g->limit, limit))
		g->why = "a grant is taken back";
	else
		g->why = gen_rings_judge(g, &msg);
	if (g->why)
		return;
	h->mseq = mseq;
	h->acked = ack;
	g->limit = limit;
}

/**
 * gen_say() - send the message in the send buffer
 * @g: case
 *
 * Return: as hostile_send().
 */
int gen_say(struct gen *g)
{
	gen_judge(g, g->bytes, false);
	return hostile_send(g->h, g->bytes);
}

/**
 * gen_step_right() - send a message that can be decoded and has the right sequence numbers
 * @g: case
 *
 * Return: as hostile_send().
 */
int gen_step_right(struct gen *g)
{
	make(g);
	return gen_say(g);
}

static int step_spoiled(struct gen *g)
{
	u32 n = 1 + gen_draw(g, 2);

	make(g);
	while (n--)
		gen_spoil_field(g);
	return gen_say(g);
}

static int step_cut(struct gen *g)
{
	make(g);
	g->bytes = gen_draw(g, g->bytes);
	return gen_say(g);
}

/* Longer than its Len, and possibly longer than any receive. */
static int step_padded(struct gen *g)
{
	u32 more = gen_draw(g, 2) ? HOSTILE_SEND_SIZE - g->bytes : 20;

	make(g);
	g->bytes = min_t(u32, g->bytes + 1 + gen_draw(g, more), HOSTILE_SEND_SIZE);
	if (gen_draw(g, 3) == 0)
		put_unaligned_be32(g->bytes, g->h->send + 4);
	return gen_say(g);
}

static int step_garbage(struct gen *g)
{
	g->bytes = gen_draw(g, gen_draw(g, 2) ? 64 : 1500);
	prandom_bytes_state(&g->rnd, g->h->send, g->bytes);
	/* Half of them pass the first checks. */
	if (gen_draw(g, 2) && g->bytes >= SDP_BSDH_LEN) {
		g->h->send[0] = gen_draw_mid(g);
		put_unaligned_be32(g->bytes, g->h->send + 4);
	}
	return gen_say(g);
}

static int step_replayed(struct gen *g)
{
	if (!g->bytes)
		make(g);
	return gen_say(g);
}

static int step_skipped(struct gen *g)
{
	make(g);
	put_unaligned_be32(g->h->mseq + 2 + gen_draw(g, 5), g->h->send + 8);
	return gen_say(g);
}

/* Ignores the grants. Nothing is acknowledged meanwhile. */
static int step_burst(struct gen *g)
{
	u32 n = 2 + gen_draw(g, 30), ack = g->h->acked;
	int err = 0;

	while (n-- && !err && READ_ONCE(g->h->end) == HOSTILE_OPEN) {
		make(g);
		put_unaligned_be32(ack, g->h->send + 12);
		put_unaligned_be16(g->limit - ack, g->h->send + 2);
		err = gen_say(g);
	}
	return err;
}

/* It uses a receive, and is a message of length 0. */
static int step_imm(struct gen *g)
{
	int err = hostile_write_imm(g->h);

	if (!err)
		g->why = "a write with immediate data is no message";
	return err;
}

/* Send with Invalidate, with a key that the peer may invalidate or not. */
static int step_revoke(struct gen *g)
{
	struct sdp_region r;

	draw_region(g, &r);
	if (gen_draw(g, 3) == 0)
		r.rkey ^= 1U << gen_draw(g, 32);
	make(g);
	gen_judge(g, g->bytes, false);
	return hostile_send_revoking(g->h, g->bytes, r.rkey);
}

/* Memory that the peer has announced: a ring or an advertisement. False if there is none. */
static bool draw_told(struct gen *g, struct sdp_region *r, bool *ring)
{
	*ring = gen_draw(g, 2) && gen_ring_told(g, r);
	if (*ring)
		return true;
	/* Pairs with recv_done(). */
	if (!smp_load_acquire(&g->h->advert.mid))
		return false;
	*r = g->h->advert.region;
	return true;
}

/* Moves to the edges of the announced memory, beyond them, or anywhere. */
static void move_region(struct gen *g, struct sdp_region *r, u32 how)
{
	u32 whole = r->len;

	switch (how) {
	case 0:
		r->va = (u64)gen_draw(g, U32_MAX) << 12;
		break;
	case 1:
		r->rkey += 1 + gen_draw(g, 255);
		break;
	case 2:
		r->va--;
		break;
	case 3:
		r->va += whole;
		r->len = 1;
		break;
	case 4:
		r->va += whole - 1;
		r->len = 2;
		break;
	case 5:
		r->va += gen_draw(g, whole);
		r->len = 1;
		break;
	default:
		break;
	}
	r->len = clamp_t(u32, r->len, 1, HOSTILE_SEND_SIZE);
}

/*
 * RDMA to and from announced memory, its edges, beyond them, or anywhere. A ring may not be
 * read.
 */
static int step_rdma(struct gen *g)
{
	enum ib_wr_opcode opcode = gen_draw(g, 2) ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ;
	struct sdp_region r = { .len = 64, .rkey = gen_draw(g, U32_MAX) };
	bool ring, told = draw_told(g, &r, &ring);
	u32 how = gen_draw(g, told ? 8 : 2);
	int err;

	move_region(g, &r, how);
	err = hostile_rdma(g->h, opcode, &r);
	/* Outside of what was announced, no access may succeed. */
	if (!err && (how < 5 || (ring && opcode == IB_WR_RDMA_READ))) {
		g->why = "memory was reached that was not told of";
		return -EFAULT;
	}
	if (err == -EIO)
		g->why = "a key was guessed";
	return err;
}

static int step_rest(struct gen *g)
{
	u32 us = 500 + gen_draw(g, 3000);

	usleep_range(us, us + 500);
	return 0;
}

static int step_expose(struct gen *g)
{
	struct sdp_region region;

	return g->h->shown.mr ? 0 : hostile_expose(g->h, &region);
}

/* From now on no receive is posted again: messages use up the posted ones, later ones find none. */
static int step_stingy(struct gen *g)
{
	WRITE_ONCE(g->h->stingy, true);
	return 0;
}

/* @weight: relative frequency */
static const struct {
	int (*step)(struct gen *g);
	u8 weight;
	u8 kind;
} steps[] = {
	{ gen_step_right,	14,	GEN_RIGHT },
	{ step_spoiled,		3,	GEN_SPOILED },
	{ step_cut,		1,	GEN_CUT },
	{ step_padded,		1,	GEN_PADDED },
	{ step_garbage,		1,	GEN_GARBAGE },
	{ step_replayed,	1,	GEN_REPLAYED },
	{ step_skipped,		1,	GEN_SKIPPED },
	{ step_burst,		1,	GEN_BURST },
	{ step_imm,		1,	GEN_IMM },
	{ step_revoke,		1,	GEN_REVOKE },
	{ step_rdma,		2,	GEN_RDMA },
	{ step_rest,		2,	GEN_REST },
	{ step_expose,		1,	GEN_EXPOSE },
	{ step_stingy,		1,	GEN_STINGY },
	{ gen_step_ring_ask,	2,	GEN_RING_ASK },
	{ gen_step_ring_avail,	2,	GEN_RING_AVAIL },
	{ gen_step_ring_freed,	1,	GEN_RING_FREED },
	{ gen_step_ring_write,	6,	GEN_RING_WRITE },
};

/* Sum of the weights. */
#define WEIGHTS		42

static int any_step(struct gen *g)
{
	u32 n = gen_draw(g, WEIGHTS), i;

	for (i = 0; n >= steps[i].weight; i++)
		n -= steps[i].weight;
	g->kind = steps[i].kind;
	return steps[i].step(g);
}

/**
 * gen_talk() - take random steps until the peer has to end the connection or enough were taken
 * @g: case with an established connection
 *
 * Return: 0, -EIO when the queue pair has failed, -EFAULT when forbidden memory was accessed, or
 * another errno.
 */
int gen_talk(struct gen *g)
{
	u32 n = 1 + gen_draw(g, STEPS_MOST);
	int err = gen_rings_begin(g);

	while (n-- && !err && !g->why && READ_ONCE(g->h->end) == HOSTILE_OPEN) {
		err = any_step(g);
		g->step++;
	}
	return err;
}
