// SPDX-License-Identifier: GPL-2.0
/*
 * Random cases: messages about rings, and messages in the peer's rings, right and wrong.
 *
 * Wrong messages have each field at its bounds and beyond. The position and fill level of the
 * peer's ring is known at both ends: it depends only on what we send and on the answers. So a case
 * knows what must end the connection: a message at a wrong offset, with wrong immediate data, or
 * of a kind that rings do not carry; a ring that cannot exist, that was not asked for, or that has
 * a wrong size; a report of bytes freed that were never written.
 */
#include <linux/delay.h>

#include "gen.h"

/* The longest message in a ring by RDMA. A ring by NIC has at least this number of windows. */
#define MESSAGE_MAX	32768U
#define WINDOWS_MIN	4U
/* How long to wait for an answer that may not come. */
#define AWAIT_MOST	(HZ / 4)
/* Our first ring lies at the beginning of the memory, the second one at this offset. */
#define OWN_SECOND	32768U

static u8 scheme_of(u8 own, u8 other)
{
	return own == SDP_BY_NIC && other != SDP_BY_NIC ? SDP_BY_RDMA : own;
}

/**
 * gen_rings_agree() - evaluate both ends' ring fields
 * @g: case, which has the peer's Hello or HelloAck
 * @own: our own Hello or HelloAck
 */
void gen_rings_agree(struct gen *g, const struct sdp_hello *own)
{
	const struct sdp_hello *peer = &g->h->peer;
	struct gen_rings *r = &g->rings;

	r->agreed = own->rings && peer->rings;
	if (!r->agreed)
		return;
	r->in = scheme_of(own->scheme, peer->scheme);
	r->out = scheme_of(peer->scheme, own->scheme);
	r->window = min(own->window, peer->window);
}

/**
 * gen_rings_wish() - draw whether we support rings, and with which scheme and window
 * @g: case
 * @hello: Hello or HelloAck
 */
void gen_rings_wish(struct gen *g, struct sdp_hello *hello)
{
	static const u32 windows[] = { SDP_RING_WINDOW_MIN, 1000, 4096, SDP_RING_WINDOW_MAX };

	static const u8 schemes[] = { SDP_BY_RDMA, SDP_BY_RDMA, SDP_BY_NIC, SDP_BY_CREDIT };

	hello->rings = gen_draw(g, 3);
	hello->scheme = schemes[gen_draw(g, ARRAY_SIZE(schemes))];
	hello->window = windows[gen_draw(g, ARRAY_SIZE(windows))];
}

/* Takes note of the peer's answers so far. Another one may be on its way. */
static void look(struct gen *g)
{
	struct gen_rings *r = &g->rings;
	struct sdp_region ring;
	u32 n;

	do {
		/* Pairs with note_told(). */
		n = smp_load_acquire(&g->h->rings);
		ring = g->h->ring;
	} while (n != READ_ONCE(g->h->rings));
	if (n == r->answers)
		return;
	r->answers = n;
	if (!ring.len)
		return;
	r->next = ring;
	r->shown = true;
}

/**
 * gen_ring_told() - memory of a ring that the peer has announced
 * @g: case
 * @region: filled in with both mappings of the ring
 *
 * Return: false when there is none.
 */
bool gen_ring_told(struct gen *g, struct sdp_region *region)
{
	look(g);
	*region = g->rings.shown ? g->rings.next : g->rings.region;
	region->len *= 2;
	return region->len;
}

/* All rings are given back, also one that was never used. */
static const char *judge_return(struct gen_rings *r, bool open)
{
	if (!r->region.len && !r->shown && !open)
		return "a ring is given back that there is not";
	r->odd ^= r->shown;
	r->shown = false;
	r->region.len = 0;
	/* It may have crossed the peer's next ring. */
	r->lost |= open;
	return NULL;
}

static const char *judge_ask(struct gen *g, u32 size)
{
	struct gen_rings *r = &g->rings;
	bool open;

	look(g);
	open = r->asks != r->answers;
	if (r->in == SDP_BY_CREDIT)
		return "a ring is asked for by credit";
	if (!size)
		return judge_return(r, open);
	if (r->shown)
		return "a ring is asked for before the last one was used";
	if (size <= r->region.len)
		return "a ring is asked for that is no larger";
	r->asks++;
	return NULL;
}

/* Length of the ring that the peer has of us, as far as known. */
static u32 own_len(const struct gen *g)
{
	const struct gen_rings *r = &g->rings;

	/* Pairs with note_asked(). */
	if (smp_load_acquire(&g->h->own.given) != r->given)
		return 0;
	return g->h->own.at[r->own_odd].len;
}

static const char *judge_avail(struct gen *g, const struct sdp_region *ring)
{
	struct hostile_own *own = &g->h->own;
	struct gen_rings *r = &g->rings;
	/* Pairs with note_asked(). */
	u32 asks = smp_load_acquire(&g->h->asks);

	if (r->out == SDP_BY_CREDIT)
		return "a ring is told of by credit";
	if (asks == r->own_answers) {
		/* The peer has not asked, or its RingAsk is on its way. */
		WRITE_ONCE(own->unsure, true);
		r->own_answers++;
		return NULL;
	}
	r->own_answers++;
	if (own->unsure || !ring->len)
		return NULL;
	if (ring->len > g->h->asked)
		return "a ring is larger than was asked for";
	if (ring->len <= own_len(g))
		return "a ring is no larger than the last one";
	if (r->out == SDP_BY_NIC && ring->len < WINDOWS_MIN * r->window)
		return "a ring has too few windows";
	r->own_odd = !r->own_odd;
	r->own_count++;
	r->own_freed = 0;
	r->given = READ_ONCE(own->given);
	own->at[r->own_odd] = *ring;
	return NULL;
}

static const char *judge_freed(struct gen *g, u32 freed)
{
	struct gen_rings *r = &g->rings;
	u32 len = own_len(g), more = freed - r->own_freed;

	r->own_freed = freed;
	/* Bytes that the peer has written and we have not seen yet are in the ring. */
	if (!len || g->h->own.unsure || r->out != SDP_BY_RDMA || more <= len)
		return NULL;
	return "more of a ring is free than was written";
}

/**
 * gen_rings_judge() - decide what the peer must do with a message, as far as rings are concerned
 * @g: case
 * @msg: the message, which can be decoded and has the right sequence numbers
 *
 * Return: the reason why the peer must end the connection, or NULL.
 */
const char *gen_rings_judge(struct gen *g, const struct sdp_msg *msg)
{
	const struct gen_rings *r = &g->rings;
	const char *why = NULL;
	u8 mid = msg->h.mid;

	if (!r->agreed && (mid == SDP_MID_RING_ASK || mid == SDP_MID_RING_AVAIL ||
			   (msg->h.flags & SDP_FLAG_FREED)))
		return "nobody has agreed upon rings";
	if (r->agreed && r->in == SDP_BY_NIC &&
	    (mid == SDP_MID_SRC_AVAIL || mid == SDP_MID_SINK_AVAIL))
		return "memory is told of by nic";
	if (mid == SDP_MID_RING_ASK)
		why = judge_ask(g, msg->size);
	else if (mid == SDP_MID_RING_AVAIL)
		why = judge_avail(g, &msg->ring);
	else if (msg->h.flags & SDP_FLAG_FREED)
		why = judge_freed(g, msg->freed);
	return why;
}

/* Occasionally sends what needs an agreement without one. */
static bool may_talk(struct gen *g)
{
	return g->rings.agreed ? !g->rings.lost : gen_draw(g, 16) == 0;
}

static u32 draw_size(struct gen *g)
{
	u32 size = SDP_RING_SIZE_MIN << gen_draw(g, 7);

	switch (gen_draw(g, 16)) {
	case 0:
		return 0;
	case 1:
		return size - 1;
	case 2:
		return size << 7;
	case 3:
		return 1U << gen_draw(g, 32);
	case 4:
		return gen_draw(g, U32_MAX);
	default:
		return size;
	}
}

static int ask(struct gen *g, u32 size)
{
	gen_make(g, SDP_MID_RING_ASK);
	put_unaligned_be32(size, g->h->send + SDP_BSDH_LEN);
	return gen_say(g);
}

/**
 * gen_step_ring_ask() - ask for a ring, or give it back
 * @g: case
 *
 * Return: as hostile_send().
 */
int gen_step_ring_ask(struct gen *g)
{
	if (!may_talk(g))
		return gen_step_right(g);
	gen_make(g, SDP_MID_RING_ASK);
	put_unaligned_be32(draw_size(g), g->h->send + SDP_BSDH_LEN);
	if (gen_draw(g, 16) == 0)
		gen_spoil_field(g);
	return gen_say(g);
}

/* A legal ring, if it was asked for: as large as there is room for, or none. */
static void draw_ring(struct gen *g, struct sdp_region *ring)
{
	const struct gen_rings *r = &g->rings;
	const struct hostile *h = g->h;
	bool second = r->own_count;
	u32 len = SDP_RING_SIZE_MIN << gen_draw(g, 2);

	*ring = (struct sdp_region){
		.rkey = h->own.memory.mr->rkey,
		.va = h->own.memory.mr->iova + (second ? OWN_SECOND : 0),
	};
	/* There is no room for a third ring, as the first one's memory may be in use. */
	if (r->own_count < 2 && gen_draw(g, 8))
		ring->len = min_t(u32, len, READ_ONCE(h->asked) ?: len);
	if (gen_draw(g, 12) == 0)
		ring->len = READ_ONCE(h->asked) << gen_draw(g, 3);
}

/* Builds a RingAvail in the send buffer. */
static int make_avail(struct gen *g)
{
	int err = hostile_expose_rings(g->h);
	struct sdp_region ring;

	if (err)
		return err;
	gen_make(g, SDP_MID_RING_AVAIL);
	draw_ring(g, &ring);
	put_unaligned_be32(ring.len, g->h->send + SDP_BSDH_LEN);
	put_unaligned_be32(ring.rkey, g->h->send + SDP_BSDH_LEN + 4);
	put_unaligned_be64(ring.va, g->h->send + SDP_BSDH_LEN + 8);
	return 0;
}

/**
 * gen_step_ring_avail() - announce a ring, whether or not the peer has asked for one
 * @g: case
 *
 * Return: as hostile_send().
 */
int gen_step_ring_avail(struct gen *g)
{
	static const u8 fields[][2] = { { 16, 4 }, { 20, 4 }, { 24, 4 }, { 28, 4 } };
	int err;
	u32 i;

	/* Pairs with note_asked(). */
	if (!may_talk(g) || (smp_load_acquire(&g->h->asks) == g->rings.own_answers &&
			     gen_draw(g, 16)))
		return gen_step_right(g);
	err = make_avail(g);
	if (err)
		return err;
	if (gen_draw(g, 4) == 0) {
		i = gen_draw(g, ARRAY_SIZE(fields));
		gen_spoil(g, g->h->send + fields[i][0], fields[i][1]);
	} else if (gen_draw(g, 16) == 0) {
		gen_spoil_field(g);
	}
	return gen_say(g);
}

static void await_more(const u32 *count, u32 than)
{
	unsigned long end = jiffies + AWAIT_MOST;

	/* Pairs with recv_done(). */
	while (smp_load_acquire(count) == than && time_before(jiffies, end))
		usleep_range(1000, 2000);
}

/* The peer has no ring until its program has accepted the connection. */
static int get_ring(struct gen *g)
{
	const struct gen_rings *r = &g->rings;
	int err = 0, i;

	for (i = 0; i < 4 && !err && !r->shown && r->asks == r->answers; i++) {
		err = ask(g, SDP_RING_SIZE_MIN << gen_draw(g, 3));
		await_more(&g->h->rings, r->answers);
		look(g);
		if (!r->shown)
			msleep(5 << i);
	}
	return err;
}

/**
 * gen_rings_begin() - often, give both ends rings before any other message
 * @g: case with an established connection
 *
 * Return: as hostile_send().
 */
int gen_rings_begin(struct gen *g)
{
	const struct gen_rings *r = &g->rings;
	bool in = gen_draw(g, 3), out = gen_draw(g, 3);
	int err = 0;

	if (r->agreed && in && r->in != SDP_BY_CREDIT)
		err = get_ring(g);
	/* The peer asks as soon as it has sent something. */
	if (!err && r->agreed && out && r->out != SDP_BY_CREDIT) {
		await_more(&g->h->asks, 0);
		if (READ_ONCE(g->h->asks))
			err = make_avail(g) ?: gen_say(g);
	}
	return err;
}

/**
 * gen_step_ring_freed() - report how much of our ring has been read
 * @g: case
 *
 * Return: as hostile_send().
 */
int gen_step_ring_freed(struct gen *g)
{
	if (!may_talk(g))
		return gen_step_right(g);
	gen_make(g, SDP_MID_DATA);
	/* The header is longer by the count. */
	memmove(g->h->send + SDP_BSDH_LEN + SDP_FREED_LEN, g->h->send + SDP_BSDH_LEN,
		g->bytes - SDP_BSDH_LEN);
	g->bytes += SDP_FREED_LEN;
	g->h->send[1] |= SDP_FLAG_FREED;
	put_unaligned_be32(g->bytes, g->h->send + 4);
	put_unaligned_be32(READ_ONCE(g->h->own.head), g->h->send + SDP_BSDH_LEN);
	if (gen_draw(g, 3) == 0)
		gen_spoil(g, g->h->send + SDP_BSDH_LEN, SDP_FREED_LEN);
	return gen_say(g);
}

/**
 * struct place - where something is written in a ring
 * @ring: the ring
 * @imm: immediate data
 * @at: offset in both mappings of the ring
 * @bytes: number of bytes written
 */
struct place {
	struct sdp_region ring;
	u32 imm;
	s64 at;
	u32 bytes;
};

static u32 message_max(const struct gen *g, u32 size)
{
	return g->rings.in == SDP_BY_NIC ? g->rings.window : min(size / 4, MESSAGE_MAX);
}

/* Usually in the newest ring; length 0 when there is none. */
static void draw_place(struct gen *g, struct place *p)
{
	struct gen_rings *r = &g->rings;
	bool newer;

	look(g);
	newer = r->shown && gen_draw(g, 8);
	p->ring = newer ? r->next : r->region;
	p->at = newer || !p->ring.len ? 0 : r->head & (p->ring.len - 1);
	p->imm = newer != r->odd ? HOSTILE_IMM_ODD : 0;
}

static void make_placed(struct gen *g, struct place *p)
{
	u32 most = min_t(u32, message_max(g, p->ring.len), HOSTILE_SEND_SIZE);
	u32 payload = 1 + gen_draw(g, gen_draw(g, 4) ? 64 : most - SDP_BSDH_LEN);

	gen_make(g, SDP_MID_DATA);
	g->bytes = SDP_BSDH_LEN + payload;
	put_unaligned_be32(g->bytes, g->h->send + 4);
	memset(g->h->send + SDP_BSDH_LEN, 0x5a, payload);
	p->bytes = g->bytes;
	p->imm |= g->bytes;
}

/* A wrong offset: next to the right one, at the beginning, anywhere, or beyond both mappings. */
static void move_place(struct gen *g, struct place *p)
{
	switch (gen_draw(g, 6)) {
	case 0:
		p->at++;
		break;
	case 1:
		p->at--;
		break;
	case 2:
		p->at += p->bytes;
		break;
	case 3:
		p->at = 0;
		break;
	case 4:
		p->at = 2 * p->ring.len - gen_draw(g, 2 * p->bytes);
		break;
	default:
		p->at = gen_draw(g, 2 * p->ring.len);
		break;
	}
}

static void spoil_placed(struct gen *g, struct place *p)
{
	__be32 imm = cpu_to_be32(p->imm);
	u32 most = message_max(g, p->ring.len), kind = p->imm & ~HOSTILE_IMM_LEN;

	switch (gen_draw(g, 10)) {
	case 0:
		gen_spoil_field(g);
		break;
	case 1:
		gen_spoil_field(g);
		gen_spoil_field(g);
		break;
	case 8:		/* bits that are neither the length nor the ring */
		p->imm |= (HOSTILE_IMM_LEN + 1) << gen_draw(g, 11);
		break;
	case 2:
		gen_spoil(g, (u8 *)&imm, sizeof(imm));
		p->imm = be32_to_cpu(imm);
		break;
	case 3:
		p->imm ^= HOSTILE_IMM_ODD;
		break;
	case 4:		/* the maximal length, or one more */
		put_unaligned_be32(most + gen_draw(g, 2), g->h->send + 4);
		p->imm = kind | get_unaligned_be32(g->h->send + 4);
		break;
	case 5:
		move_place(g, p);
		break;
	case 6:		/* a kind that a ring may not carry */
		gen_make(g, gen_draw_mid(g));
		p->bytes = g->bytes;
		p->imm = kind | g->bytes;
		break;
	case 7:
		p->bytes = 0;
		break;
	default:
		prandom_bytes_state(&g->rnd, g->h->send, p->bytes);
		break;
	}
}

/* True if the header lies where the next message must begin. The payload may be incomplete. */
static bool is_there(const struct place *p, u32 size, u32 head)
{
	return p->at >= 0 && p->bytes >= SDP_BSDH_LEN && !((p->at ^ head) & (size - 1));
}

static const char *judge_place(struct gen *g, const struct place *p)
{
	struct gen_rings *r = &g->rings;
	bool moved = !!(p->imm & HOSTILE_IMM_ODD) != r->odd;
	u32 bytes = p->imm & HOSTILE_IMM_LEN;
	struct sdp_region ring = moved ? r->next : r->region;

	if (!r->agreed)
		return "there are no rings";
	if (moved ? !r->shown : !ring.len)
		return "there is no such ring";
	if (p->imm & ~(HOSTILE_IMM_ODD | HOSTILE_IMM_LEN) || bytes <= SDP_BSDH_LEN)
		return "the immediate data are of no message";
	if (bytes > message_max(g, ring.len))
		return "a message in a ring is too long";
	if (ring.va != p->ring.va || !is_there(p, ring.len, moved ? 0 : r->head))
		return "there is no message in the ring";
	gen_judge(g, bytes, true);
	if (g->why)
		return g->why;
	if (moved) {
		r->region = ring;
		r->odd = !r->odd;
		r->shown = false;
		r->head = 0;
	}
	r->head += bytes;
	return NULL;
}

/**
 * gen_step_ring_write() - write a message into the peer's ring, right or wrong
 * @g: case
 *
 * Return: as hostile_send().
 */
int gen_step_ring_write(struct gen *g)
{
	struct place p = {};
	struct sdp_region to;
	int err;

	if (!may_talk(g))
		return gen_step_right(g);
	draw_place(g, &p);
	if (p.ring.len) {
		make_placed(g, &p);
		if (gen_draw(g, 4) == 0)
			spoil_placed(g, &p);
	} else {
		if (gen_draw(g, 16))
			return gen_step_right(g);
		p.imm = gen_draw(g, 2) ? gen_draw(g, U32_MAX) : HOSTILE_IMM_ODD | 100;
	}
	g->why = judge_place(g, &p);
	to = p.ring;
	to.va += p.at;
	to.len = p.bytes;
	err = hostile_put(g->h, &to, p.imm);
	if (err == -EIO && !g->why)
		g->why = "it was written where no ring is";
	return err;
}
