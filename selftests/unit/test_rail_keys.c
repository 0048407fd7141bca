// SPDX-License-Identifier: GPL-2.0
/*
 * SrcAvail with a key for each rail (H1, B2): the codec, and the engine on both sides.
 */
#include "pipelining.h"

#define HEADER	(SDP_BSDH_LEN + SDP_REGION_LEN + SDP_KEYS_LEN)

static const struct sdp_engine_config by_rails = {
	.recv_size = RECV_SIZE, .recv_target = 12, .send_slots = 100, .mode_after = N,
	.rails = true,
};

static const struct sdp_rail_keys keys = {
	.rails = 0x05, .attempt = { 0, 9, 200 }, .rkey = { 0x11223344, 1, 0xa1b2c3d4 },
};

/* A connection whose transports say in Hello and HelloAck that they use up to @most rails. */
static struct world *by(TEST_CTX, const struct sdp_engine_config *a, u8 most)
{
	struct sdp_hello hello = { .ip_version = 4, .port = 1 }, ack = { 0 };
	struct world *w = &world;

	memset(w, 0, sizeof(*w));
	sdp_engine_init(&w->a, a);
	sdp_engine_init(&w->b, &by_rails);
	sdp_engine_posted(&w->a, POSTED);
	sdp_engine_posted(&w->b, POSTED);
	sdp_engine_hello(&w->a, &hello);
	hello.rails.most = most;
	EXPECT_EQ(SDP_VALID, sdp_engine_hello_received(&w->b, &hello));
	sdp_engine_hello_ack(&w->b, &ack);
	ack.rails.most = most;
	sdp_engine_hello_ack_received(&w->a, &ack, &w->acts);
	sdp_engine_established(&w->b, &w->acts);
	return w;
}

static void advertise(TEST_CTX, struct world *w)
{
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	sdp_engine_srcavail(&w->a, &region, INLINED);
	sdp_engine_srcavail_by_rails(&w->a, &keys);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
}

/* The bytes of the wire, and back. */
TEST(sdp_wire_build__keys)
{
	static const u8 wire[SDP_KEYS_LEN] = {
		0x05, 0, 0, 0, 0, 9, 200, 0, 0, 0, 0, 0, 0x11, 0x22, 0x33, 0x44,
		0, 0, 0, 1, 0xa1, 0xb2, 0xc3, 0xd4,
	};
	struct sdp_msg msg = {
		.h = { .mid = SDP_MID_SRC_AVAIL, .flags = SDP_FLAG_KEYS },
		.src = region, .keys = keys, .payload_len = INLINED,
	}, got;
	u8 buf[SDP_HEADER_MAX];

	EXPECT_EQ(HEADER, sdp_wire_build(buf, &msg));
	EXPECT_TRUE(!memcmp(buf + SDP_BSDH_LEN + SDP_REGION_LEN, wire, sizeof(wire)));
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, HEADER + INLINED, &got));
	EXPECT_TRUE(!memcmp(&keys, &got.keys, sizeof(keys)));
	EXPECT_EQ(HEADER, got.payload);
	EXPECT_EQ(INLINED, got.payload_len);
	/* The reserved bytes are ignored. */
	memset(buf + SDP_BSDH_LEN + SDP_REGION_LEN + 1, 0xff, 3);
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, HEADER + INLINED, &got));
	EXPECT_TRUE(!memcmp(&keys, &got.keys, sizeof(keys)));
	/* No key at all, a header that is cut, and a message that has no keys. */
	buf[SDP_BSDH_LEN + SDP_REGION_LEN] = 0;
	EXPECT_EQ(SDP_BAD_FIELD, sdp_wire_parse(buf, HEADER + INLINED, &got));
	buf[7] = HEADER - 1;
	EXPECT_EQ(SDP_BAD_LEN, sdp_wire_parse(buf, HEADER - 1, &got));
	buf[0] = SDP_MID_DATA;
	EXPECT_EQ(SDP_BAD_FLAGS, sdp_wire_parse(buf, HEADER - 1, &got));
}

/* The keys go with SrcAvail, and the reader gets them; the next SrcAvail has none by itself. */
TEST(sdp_engine_srcavail_by_rails__both_sides)
{
	struct world *w = by(TEST_SELF, &by_rails, 4);

	EXPECT_EQ(RECV_SIZE - HEADER, sdp_engine_srcavail_inline_max(&w->a));
	advertise(TEST_SELF, w);
	EXPECT_EQ(SDP_FLAG_KEYS, w->sent.h.flags);
	EXPECT_TRUE(!memcmp(&keys, sdp_engine_srcavail_keys(&w->b), sizeof(keys)));
	EXPECT_EQ(REST, sdp_engine_srcavail_rx_left(&w->b));
	sdp_engine_srcavail_decline(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	sdp_engine_srcavail(&w->a, &region, INLINED);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_EQ(0, w->sent.h.flags);
	EXPECT_EQ(0, sdp_engine_srcavail_keys(&w->b)->rails);
}

/* A peer that has not agreed on rails does not know the longer header. */
TEST(sdp_engine_receive__keys_without_rails)
{
	struct world *w = by(TEST_SELF, &by_rails, 1);
	struct sdp_msg m = from_peer(&w->b, SDP_MID_SRC_AVAIL, INLINED);

	EXPECT_EQ(RECV_SIZE - HEADER + SDP_KEYS_LEN, sdp_engine_srcavail_inline_max(&w->a));
	m.h.flags = SDP_FLAG_KEYS;
	m.src = region;
	m.keys = keys;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_FLAGS);
}

/* The wish of both sides is needed. */
TEST(sdp_engine_hello__rails_of_one_side)
{
	struct world *w = by(TEST_SELF, &learning, 4);

	EXPECT_FALSE(w->a.rails);
	EXPECT_TRUE(w->b.rails);
}

/* Receives that are too small for the header get no SrcAvail. */
TEST(sdp_engine_may_srcavail__header_fits)
{
	static const struct { u32 size; u8 most; bool may; } sizes[] = {
		{ HEADER, 2, false }, { HEADER + 1, 2, true }, { SDP_RECV_SIZE_MIN, 1, true },
	};
	struct sdp_engine_config small = by_rails;
	struct sdp_hello ack = { .max_adverts = 1, .bufs = 4 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct world *w = by(TEST_SELF, &small, sizes[i].most);

		ack.recv_size = sizes[i].size;
		ack.rails.most = sizes[i].most;
		sdp_engine_init(&w->a, &small);
		sdp_engine_posted(&w->a, POSTED);
		w->a.state = SDP_HELLO_SENT;
		sdp_engine_hello_ack_received(&w->a, &ack, &w->acts);
		EXPECT_EQ(sizes[i].may, sdp_engine_may_srcavail(&w->a));
	}
}

/* C1, C2: a source that cannot write leaves Pipelined, and no answer leads it there again. */
TEST(sdp_engine_avoid_pipelined__for_good)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	srcavail(TEST_SELF, w);
	sdp_engine_avoid_pipelined(&w->a);
	/* Not while a SrcAvail is out. */
	EXPECT_EQ(0, next_mid(w, &w->a));
	sdp_engine_srcavail_decline(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	sdp_engine_avoid_pipelined(&w->a);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_rx_mode(&w->b));
	for (i = 0; i < 3 * N; i++)
		srcavail_read(TEST_SELF, w, true);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));
	/* A sink that cannot read gets messages: its wish to be written to counts as a decline. */
	for (i = 0; i < N; i++)
		srcavail_declined(TEST_SELF, w, true);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_tx_mode(&w->a));
}

/* The last answer before Pipelined does not lead there either. */
TEST(sdp_engine_avoid_pipelined__on_the_way)
{
	struct world *w = learners(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++)
		srcavail_read(TEST_SELF, w, true);
	sdp_engine_avoid_pipelined(&w->a);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));
}

TEST_MAIN
