// SPDX-License-Identifier: GPL-2.0
/*
 * Rings between two engines: agreement, messages, and random traffic of all schemes.
 *
 * The random traffic uses a model of the memory and of the adapters. Requirements G2-G6.
 */
#include "fixture.h"

#define RING	16384U
#define WINDOW	1024U
/* Each round has another number of receives. Fewer rounds in the slow debug kernel. */
#ifdef __KERNEL__
#define ROUNDS	5
#else
#define ROUNDS	40
#endif

static u16 receives = 12;

static struct sdp_engine_config config_of(u8 scheme)
{
	struct sdp_engine_config c = usual;

	c.split_level = 3;
	c.recv_target = receives;
	c.ring_max = RING;
	c.ring_window = WINDOW;
	c.scheme = scheme;
	return c;
}

/* A connection whose ends wish for these schemes. SDP_SCHEMES: the end does not know rings. */
static struct world *agreed(TEST_CTX, u8 a, u8 b)
{
	struct sdp_engine_config ca = config_of(a), cb = config_of(b);
	struct sdp_hello hello = { .ip_version = 4, .port = 1 }, ack = { 0 };
	struct world *w = &world;
	u8 buf[SDP_HELLO_ACK_LEN];

	memset(w, 0, sizeof(*w));
	sdp_engine_init(&w->a, a == SDP_SCHEMES ? &usual : &ca);
	sdp_engine_init(&w->b, b == SDP_SCHEMES ? &usual : &cb);
	sdp_engine_posted(&w->a, receives);
	sdp_engine_posted(&w->b, receives);
	/*
	 * Build and parse Hello and HelloAck, so that the extension passes through the wire
	 * format.
	 */
	sdp_engine_hello(&w->a, &hello);
	sdp_hello_build(buf, &hello);
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, SDP_HELLO_LEN, &hello));
	EXPECT_EQ(SDP_VALID, sdp_engine_hello_received(&w->b, &hello));
	sdp_engine_hello_ack(&w->b, &ack);
	sdp_hello_ack_build(buf, &ack);
	EXPECT_EQ(SDP_VALID, sdp_hello_ack_parse(buf, SDP_HELLO_ACK_LEN, &ack));
	sdp_engine_hello_ack_received(&w->a, &ack, &w->acts);
	sdp_engine_established(&w->b, &w->acts);
	return w;
}

/* G6: every pair of schemes, and ends that do not know rings. */
TEST(sdp_engine_rings__agreement)
{
	struct world *w;
	u8 a, b;

	for (a = 0; a <= SDP_SCHEMES; a++) {
		for (b = 0; b <= SDP_SCHEMES; b++) {
			bool both = a < SDP_SCHEMES && b < SDP_SCHEMES;

			w = agreed(TEST_SELF, a, b);
			EXPECT_EQ(both, w->a.rings);
			EXPECT_EQ(both, w->b.rings);
			EXPECT_EQ(both ? sdp_ring_scheme(a, b) : SDP_BY_CREDIT,
				  w->a.ring_out.scheme);
			EXPECT_EQ(w->a.ring_out.scheme, w->b.ring_in.scheme);
			EXPECT_EQ(w->b.ring_out.scheme, w->a.ring_in.scheme);
		}
	}
}

/* Another use of the reserved bytes is ignored. Invalid values in our extension are an error. */
TEST(sdp_hello_parse__extension)
{
	struct sdp_hello hello = {
		.ip_version = 4, .port = 1, .version = SDP_VERSION, .max_adverts = 1, .bufs = 3,
		.recv_size = 1536, .rings = true, .scheme = SDP_BY_NIC, .window = 4096,
	}, seen;
	u8 buf[SDP_HELLO_LEN];

	sdp_hello_build(buf, &hello);
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, SDP_HELLO_LEN, &seen));
	EXPECT_TRUE(seen.rings);
	EXPECT_EQ(SDP_BY_NIC, seen.scheme);
	EXPECT_EQ(4096, seen.window);
	buf[72]++;
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, SDP_HELLO_LEN, &seen));
	EXPECT_FALSE(seen.rings);
	buf[72]--;
	buf[68]++;
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, SDP_HELLO_LEN, &seen));
	EXPECT_FALSE(seen.rings);
	buf[68]--;
	buf[73] = SDP_SCHEMES;
	EXPECT_EQ(SDP_BAD_HELLO, sdp_hello_parse(buf, SDP_HELLO_LEN, &seen));
	buf[73] = SDP_BY_RDMA;
	buf[78] = 0;
	EXPECT_EQ(SDP_BAD_HELLO, sdp_hello_parse(buf, SDP_HELLO_LEN, &seen));
	hello.rings = false;
	sdp_hello_build(buf, &hello);
	EXPECT_EQ(0, buf[68] | buf[72] | buf[73] | buf[78]);
}

/* Without agreement on rings their messages and their immediate data are errors. */
TEST(sdp_engine_rings__not_agreed)
{
	struct world *w = agreed(TEST_SELF, SDP_SCHEMES, SDP_BY_RDMA);
	u32 at, bytes;

	receive_right(w, &w->b, SDP_MID_RING_ASK, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_MID);
	w = agreed(TEST_SELF, SDP_SCHEMES, SDP_BY_RDMA);
	receive_right(w, &w->b, SDP_MID_RING_AVAIL, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_MID);
	w = agreed(TEST_SELF, SDP_SCHEMES, SDP_BY_RDMA);
	memset(&w->acts, 0, sizeof(w->acts));
	EXPECT_EQ(SDP_BAD_LEN, sdp_engine_ring_place(&w->b, 100, &at, &bytes, &w->acts));
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
}

/* A ring message without a request ends the connection. A ring made too late changes nothing. */
TEST(sdp_engine_rings__out_of_turn)
{
	const struct sdp_region ring = { .len = RING, .rkey = 1, .va = 4096 };
	struct world *w = agreed(TEST_SELF, SDP_BY_NIC, SDP_BY_NIC);
	struct sdp_msg m = from_peer(&w->b, SDP_MID_RING_AVAIL, 0);
	u32 at, bytes;

	EXPECT_FALSE(sdp_engine_held_back(&w->b));
	m.ring = ring;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);

	w = agreed(TEST_SELF, SDP_BY_RDMA, SDP_BY_RDMA);
	sdp_engine_ring_made(&w->b, &ring);
	EXPECT_EQ(0, w->b.ring_in.next.len);
	m = from_peer(&w->b, SDP_MID_RING_ASK, 0);
	m.size = RING;
	receive_msg(w, &w->b, &m);
	EXPECT_ACT(w, SDP_ACT_RING_WANTED);
	EXPECT_EQ(RING, w->acts.list[0].len);
	m = from_peer(&w->b, SDP_MID_RING_ASK, 0);
	m.size = RING;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	sdp_engine_ring_made(&w->b, &ring);
	EXPECT_EQ(0, w->b.ring_in.next.len);

	w = agreed(TEST_SELF, SDP_BY_RDMA, SDP_BY_RDMA);
	memset(&w->acts, 0, sizeof(w->acts));
	EXPECT_EQ(SDP_BAD_STATE, sdp_engine_ring_place(&w->b, 100, &at, &bytes, &w->acts));
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* After the end of the connection nothing is reported of a ring. */
TEST(sdp_engine_ring_place__dead)
{
	struct world *w = agreed(TEST_SELF, SDP_BY_RDMA, SDP_BY_RDMA);
	u32 at, bytes;

	aborted(w, &w->b, EIO);
	memset(&w->acts, 0, sizeof(w->acts));
	EXPECT_EQ(SDP_BAD_STATE, sdp_engine_ring_place(&w->b, 100, &at, &bytes, &w->acts));
	EXPECT_NO_ACTS(w);
	sdp_engine_ring_full(&w->a);
	EXPECT_FALSE(sdp_engine_ring_leave(&w->b));
	sdp_engine_ring_stay(&w->b);
}

/* G4: BY_NIC is used in both directions, and only if both ends wish for it. */
TEST(sdp_engine_by_nic__both)
{
	u8 a, b;

	for (a = 0; a <= SDP_SCHEMES; a++) {
		for (b = 0; b <= SDP_SCHEMES; b++) {
			struct world *w = agreed(TEST_SELF, a, b);
			bool both = a == SDP_BY_NIC && b == SDP_BY_NIC;

			EXPECT_EQ(both, sdp_engine_by_nic(&w->a));
			EXPECT_EQ(both, sdp_engine_by_nic(&w->b));
		}
	}
}

/* With an empty ring, a read may lead to a receive to post by NIC, and to no message by RDMA. */
TEST(sdp_engine_ring_read__follows)
{
	struct sdp_region ring = { .len = RING, .rkey = 1, .va = 4096 };
	struct sdp_msg m;
	u8 scheme;

	for (scheme = SDP_BY_RDMA; scheme <= SDP_BY_NIC; scheme++) {
		struct world *w = agreed(TEST_SELF, scheme, scheme);

		m = from_peer(&w->b, SDP_MID_RING_ASK, 0);
		m.size = RING;
		receive_msg(w, &w->b, &m);
		EXPECT_ACT(w, SDP_ACT_RING_WANTED);
		sdp_engine_ring_made(&w->b, &ring);
		EXPECT_EQ(RING, w->b.ring_in.next.len);
		EXPECT_EQ(scheme == SDP_BY_NIC, sdp_engine_ring_read(&w->b, 0));
	}
}

/* Only Data with payload may lie in a ring. */
TEST(sdp_engine_receive_placed__data_only)
{
	static const struct { u8 mid; u32 payload; enum sdp_violation want; } cases[] = {
		{ SDP_MID_DISCONN, 0, SDP_BAD_MID }, { SDP_MID_DATA, 0, SDP_BAD_PAYLOAD },
		{ SDP_MID_SRC_AVAIL, 10, SDP_BAD_MID },
	};
	struct sdp_msg m;
	struct world *w;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w = agreed(TEST_SELF, SDP_BY_RDMA, SDP_BY_RDMA);
		m = from_peer(&w->b, cases[i].mid, cases[i].payload);
		if (cases[i].mid == SDP_MID_SRC_AVAIL)
			m.src = (struct sdp_region){ .len = 100, .rkey = 1, .va = 4096 };
		memset(&w->acts, 0, sizeof(w->acts));
		sdp_engine_receive_placed(&w->b, w->buf, sdp_wire_build(w->buf, &m) +
					  cases[i].payload, &w->msg, &w->acts);
		EXPECT_FAIL(w, EPROTO, cases[i].want);
	}
}

/* Model of one direction: data written, messages in flight, and unread bytes of the ring. */
#define FLIGHT	32

struct packet {
	u8 header[SDP_HEADER_MAX];
	u32 bytes;
	u32 payload;
	struct sdp_ring_place to;
};

struct side {
	struct sdp_engine *e;
	struct packet out[FLIGHT];	/* messages passed to the adapter, oldest first */
	u32 n;
	u64 written, sent, received;	/* payload bytes */
	u32 unread[64];			/* per message: bytes held in our ring, and payload */
	u32 unread_payload[64];
	u32 messages, plain;		/* unread messages; payload that came without a ring */
	u32 ring_next;			/* the ring advertised to the peer and not used yet */
	u64 placed;
	bool want_ring;
};

static struct side sides[2];
static u32 seed;

static u32 draw(u32 n)
{
	seed = seed * 1664525 + 1013904223;
	return (u32)(((u64)seed * n) >> 32);
}

static void send_some(struct side *s)
{
	struct sdp_tx_view view = { 0 };
	struct sdp_tx_msg tx;
	struct packet *p;
	u32 n;

	for (;;) {
		u32 max = sdp_engine_payload_max(s->e);

		view.head_bytes = (u32)min(s->written - s->sent, (u64)max);
		view.head_full = view.head_bytes == max;
		if (s->n == FLIGHT || sdp_engine_next(s->e, &view, &tx) != SDP_NEXT_SEND)
			return;
		p = &s->out[s->n++];
		memset(p, 0, sizeof(*p));
		n = min(view.head_bytes, tx.payload_max);
		p->payload = n;
		p->bytes = sdp_engine_commit(s->e, &tx, n, p->header, &world.sent) + n;
		p->to = world.sent.to;
		s->sent += n;
	}
}

static void repost(struct side *s)
{
	sdp_engine_posted(s->e, sdp_engine_receives_wanted(s->e));
}

/*
 * Unread bytes must not be overwritten. By NIC one window more stays free, for the message that is
 * held back.
 */
static void expect_room(TEST_CTX, const struct side *to)
{
	const struct sdp_ring_in *in = &to->e->ring_in;

	EXPECT_LE(sdp_ring_in_used(in), in->size);
	if (in->scheme == SDP_BY_NIC && in->size)
		EXPECT_LE((to->e->credit.posted + 1) * WINDOW, in->size - sdp_ring_in_used(in));
}

/* The oldest message arrives, if a receive is posted for it. */
static void arrive(TEST_CTX, struct side *from, struct side *to)
{
	struct sdp_actions *acts = &world.acts;
	struct packet p = from->out[0];
	u32 at, bytes, i;

	if (!from->n || !to->e->credit.posted)
		return;
	memset(acts, 0, sizeof(*acts));
	if (p.to.rkey) {
		if (to->e->ring_in.size)
			expect_room(TEST_SELF, to);
		EXPECT_EQ(SDP_VALID, sdp_engine_ring_place(to->e, p.to.imm, &at, &bytes, acts));
		EXPECT_EQ(p.bytes, bytes);
		EXPECT_EQ(p.to.va, 4096 + at);
		sdp_engine_receive_placed(to->e, p.header, bytes, &world.msg, acts);
		to->unread[to->messages] = bytes;
		to->placed += p.payload;
	} else {
		sdp_engine_receive(to->e, p.header, p.bytes, &world.msg, acts);
		to->unread[to->messages] = 0;
	}
	if (p.payload)
		to->unread_payload[to->messages++] = p.payload;
	for (i = 0; i < acts->n; i++) {
		EXPECT_NE(SDP_ACT_FAIL, acts->list[i].kind);
		if (acts->list[i].kind == SDP_ACT_RING_WANTED)
			to->want_ring = true;
		/* Unread bytes of an old ring do not count for the new one. */
		if (acts->list[i].kind == SDP_ACT_RING_OVER)
			memset(to->unread, 0, (to->messages - !!p.to.rkey) * sizeof(to->unread[0]));
	}
	memmove(from->out, from->out + 1, --from->n * sizeof(p));
	memset(acts, 0, sizeof(*acts));
	sdp_engine_sent(from->e, 1, acts);
}

static void read_one(struct side *s)
{
	if (!s->messages)
		return;
	s->received += s->unread_payload[0];
	sdp_engine_ring_read(s->e, s->unread[0]);
	s->messages--;
	memmove(s->unread, s->unread + 1, s->messages * sizeof(s->unread[0]));
	memmove(s->unread_payload, s->unread_payload + 1,
		s->messages * sizeof(s->unread_payload[0]));
}

static void make_ring(struct side *s)
{
	struct sdp_region r = { .len = s->e->ring_in.making, .rkey = 7, .va = 4096 };

	if (!s->want_ring)
		return;
	s->want_ring = false;
	if (!draw(4))
		r.len = 0;
	sdp_engine_ring_made(s->e, &r);
}

static void give_back(struct side *s)
{
	if (s->written == s->sent && sdp_engine_ring_leave(s->e)) {
		send_some(s);
		sdp_engine_ring_stay(s->e);
	}
}

static void step(TEST_CTX, struct side *s, struct side *peer)
{
	switch (draw(12)) {
	case 0:
	case 1:
		if (s->written - s->sent < 20000)
			s->written += 1 + draw(draw(4) ? 300 : 9000);
		break;
	case 2:
		make_ring(s);
		break;
	case 3:
		if (!draw(50))
			give_back(s);
		break;
	case 4:
	case 5:
		if (s->messages < 40)
			repost(s);
		break;
	case 6:
	case 7:
	case 8:
		read_one(s);
		break;
	case 9:
		if (s->e->ring_out.head - s->e->ring_out.freed > RING / 2)
			sdp_engine_ring_full(s->e);
		break;
	default:
		if (peer->messages < 60)
			arrive(TEST_SELF, s, peer);
		break;
	}
	send_some(s);
}

/* Both applications read and write no more: all written data must arrive. */
static void drain(TEST_CTX, struct side *s)
{
	int i, j;

	for (i = 0; i < 3000; i++) {
		for (j = 0; j < 2; j++) {
			make_ring(&s[j]);
			read_one(&s[j]);
			repost(&s[j]);
			send_some(&s[j]);
			arrive(TEST_SELF, &s[j], &s[!j]);
			send_some(&s[j]);
		}
	}
	for (j = 0; j < 2; j++)
		EXPECT_EQ(s[j].written, s[!j].received);
}

/* Bytes that went through rings, by the wishes of the sender (first) and of the receiver. */
static u64 placed[SDP_SCHEMES][SDP_SCHEMES];

static void random_traffic(TEST_CTX, u8 a, u8 b, u32 steps)
{
	struct world *w = agreed(TEST_SELF, a, b);

	memset(sides, 0, sizeof(sides));
	sides[0].e = &w->a;
	sides[1].e = &w->b;
	while (steps-- && !w->a.dead && !w->b.dead) {
		u32 who = draw(2);

		step(TEST_SELF, &sides[who], &sides[!who]);
	}
	EXPECT_FALSE(w->a.dead);
	EXPECT_FALSE(w->b.dead);
	drain(TEST_SELF, sides);
	placed[a][b] += sides[1].placed;
	placed[b][a] += sides[0].placed;
}

/* G3: a message goes as a whole, or data gathers until there is room for it. */
TEST(sdp_engine_next__whole_or_not)
{
	struct world *w = agreed(TEST_SELF, SDP_BY_RDMA, SDP_BY_RDMA);
	struct sdp_tx_view view = { .head_full = true };
	struct sdp_ring_out *o = &w->a.ring_out;
	struct sdp_tx_msg msg;

	o->ring.len = RING;
	o->head = RING - 100;
	view.head_bytes = 100 - SDP_RING_HEADER + 1;
	EXPECT_EQ(SDP_NEXT_NO_ROOM, sdp_engine_next(&w->a, &view, &msg));
	view.head_bytes--;
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &view, &msg));
	EXPECT_TRUE(msg.ring);
	EXPECT_EQ(view.head_bytes, msg.payload_max);
	/* A segment above the longest message is split. */
	o->head = 0;
	view.head_bytes = RING;
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &view, &msg));
	EXPECT_EQ(RING / 4 - SDP_RING_HEADER, msg.payload_max);
}

/* E1: writes that are longer than a message of the ring lead to a request for a larger ring. */
TEST(sdp_engine_split__larger_ring)
{
	struct world *w = agreed(TEST_SELF, SDP_BY_RDMA, SDP_BY_RDMA);
	struct sdp_ring_out *o = &w->a.ring_out;
	int i;

	o->ring.len = o->max / 4;
	o->head = 1;
	for (i = 1; i < o->level; i++)
		sdp_engine_split(&w->a, o->max);
	EXPECT_FALSE(o->asking);
	sdp_engine_split(&w->a, o->max);
	EXPECT_TRUE(o->asking);
	EXPECT_EQ(o->max, o->ask);
}

/* Every pair of schemes: no byte is lost, no side is blocked, no unread byte is overwritten. */
TEST(sdp_engine_rings__random_traffic)
{
	u8 a, b;
	int i;

	for (i = 0; i < ROUNDS; i++)
		for (a = 0; a < SDP_SCHEMES; a++)
			for (b = 0; b < SDP_SCHEMES; b++) {
				receives = 3 + i % 10;
				seed = i * 9 + a * 3 + b + 1;
				random_traffic(TEST_SELF, a, b, 6000);
			}
	receives = 12;
	for (a = 0; a < SDP_SCHEMES; a++)
		for (b = 0; b < SDP_SCHEMES; b++)
			EXPECT_EQ(a != SDP_BY_CREDIT, placed[a][b] > 100000);
}

/*
 * G4: no SrcAvail and no SinkAvail by NIC, because an answer could be stuck behind data that an
 * adapter holds back.
 */
TEST(sdp_engine_may_srcavail__not_by_nic)
{
	static const u8 mids[] = { SDP_MID_SRC_AVAIL, SDP_MID_SINK_AVAIL };
	struct sdp_msg m;
	struct world *w;
	u32 i;

	w = agreed(TEST_SELF, SDP_BY_NIC, SDP_BY_RDMA);
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	for (i = 0; i < ARRAY_SIZE(mids); i++) {
		w = agreed(TEST_SELF, SDP_BY_NIC, SDP_BY_NIC);
		EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
		w->a.rx_mode.mode = SDP_MODE_PIPELINED;
		EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->a));
		m = from_peer(&w->b, mids[i], mids[i] == SDP_MID_SRC_AVAIL ? 10 : 0);
		m.src = (struct sdp_region){ .len = 100, .rkey = 1, .va = 4096 };
		receive_msg(w, &w->b, &m);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	}
}

/*
 * G4, G5: by NIC messages go beyond the grant, with or without a ring, up to the limit of the
 * adapter.
 */
TEST(sdp_engine_next__by_nic_unasked)
{
	struct sdp_tx_view data = { .head_bytes = 100, .head_full = true };
	struct world *w = agreed(TEST_SELF, SDP_BY_NIC, SDP_BY_NIC);
	u32 sent;

	w->a.ring_out.pause = 100;
	for (sent = 0; sdp_engine_next(&w->a, &data, &w->tx) == SDP_NEXT_SEND; sent++)
		sdp_engine_commit(&w->a, &w->tx, 100, w->buf, &w->sent);
	/* First all granted messages, which have receives. Then as many as may be held back. */
	EXPECT_EQ(12, sent);
	EXPECT_EQ(SDP_NEXT_NO_ROOM, sdp_engine_next(&w->a, &data, &w->tx));
	completed(w, &w->a, 12);
	for (sent = 0; sdp_engine_next(&w->a, &data, &w->tx) == SDP_NEXT_SEND; sent++)
		sdp_engine_commit(&w->a, &w->tx, 100, w->buf, &w->sent);
	EXPECT_EQ(SDP_RING_PIPE_FIRST, sent);
	EXPECT_TRUE(sdp_engine_held_back(&w->a));
	/* Messages other than Data follow the same limit. */
	sdp_engine_shutdown(&w->a);
	data.head_bytes = 0;
	EXPECT_EQ(SDP_NEXT_NO_ROOM, sdp_engine_next(&w->a, &data, &w->tx));
	completed(w, &w->a, 1);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &data, &w->tx));
	EXPECT_EQ(SDP_MID_DISCONN, w->tx.mid);
}

/* By NIC the receiving end accepts messages beyond its grant. A repeated message is an error. */
TEST(sdp_engine_receive__by_nic_unasked)
{
	struct world *w = agreed(TEST_SELF, SDP_BY_NIC, SDP_BY_NIC);
	struct sdp_msg m;
	u32 i;

	for (i = 0; i < 12; i++) {
		m = from_peer(&w->b, SDP_MID_DATA, 10);
		m.h.bufs = 12;
		receive_msg(w, &w->b, &m);
		EXPECT_ACT(w, SDP_ACT_DELIVER);
	}
	EXPECT_EQ(0, w->b.credit.theirs);
	sdp_engine_posted(&w->b, 1);
	m = from_peer(&w->b, SDP_MID_DATA, 10);
	m.h.bufs = 12;
	receive_msg(w, &w->b, &m);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_SEQ);
}

TEST_MAIN
