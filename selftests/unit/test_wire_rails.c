// SPDX-License-Identifier: GPL-2.0
/*
 * Messages about rails, and what Hello and HelloAck say about them (H1, H6).
 */
#include "wire_rails.h"
#include "test.h"

static void valid_hello(struct sdp_hello *h)
{
	memset(h, 0, sizeof(*h));
	h->bufs = 4;
	h->version = SDP_VERSION;
	h->ip_version = 4;
	h->max_adverts = 1;
	h->recv_size = 1536;
	h->port = 77;
}

/* Said beside rings and the number of SinkAvails held, at bytes of its own. */
TEST(sdp_hello_rails__beside_others)
{
	struct sdp_hello h, got;
	u8 buf[SDP_HELLO_LEN];

	valid_hello(&h);
	h.rings = true;
	h.window = SDP_RING_WINDOW_MIN;
	h.held = 3;
	h.rails.most = 4;
	sdp_hello_build(buf, &h);
	EXPECT_TRUE(!memcmp(buf + 88, "RL\2\4", 4));
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, sizeof(buf), &got));
	EXPECT_TRUE(!memcmp(&h, &got, sizeof(h)));
	/* Bytes of somebody else, or of another version, say nothing. */
	buf[90] = 1;
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, sizeof(buf), &got));
	EXPECT_EQ(0, got.rails.most);
	EXPECT_FALSE(got.rails.join);
}

/* One more rail of a connection. */
TEST(sdp_hello_rails__join)
{
	struct sdp_hello h, got;
	u8 buf[SDP_HELLO_LEN];
	u32 i;

	valid_hello(&h);
	h.rails.join = true;
	h.rails.rail = 5;
	h.rails.attempt = 7;
	h.rails.id = 0x12345678;
	for (i = 0; i < SDP_RAIL_TOKEN; i++)
		h.rails.token[i] = 0xf0 + i;
	sdp_hello_build(buf, &h);
	EXPECT_TRUE(!memcmp(buf + 64, "JOIN\2\5\x7\0\x12\x34\x56\x78\xf0\xf1", 14));
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, sizeof(buf), &got));
	EXPECT_TRUE(got.rails.join);
	EXPECT_EQ(5, got.rails.rail);
	EXPECT_EQ(7, got.rails.attempt);
	EXPECT_EQ(0x12345678U, got.rails.id);
	EXPECT_TRUE(sdp_rail_token_equal(h.rails.token, got.rails.token));
	EXPECT_FALSE(got.rings);
	EXPECT_EQ(0, got.rails.most);
	got.rails.token[15] ^= 1;
	EXPECT_FALSE(sdp_rail_token_equal(h.rails.token, got.rails.token));
	got.rails.token[15] ^= 1;
	got.rails.token[0] ^= 0x80;
	EXPECT_FALSE(sdp_rail_token_equal(h.rails.token, got.rails.token));
}

/* A short Hello, without the tail that the standard reserves, says nothing. */
TEST(sdp_hello_rails__short)
{
	struct sdp_hello h, got;
	u8 buf[SDP_HELLO_LEN];

	valid_hello(&h);
	h.rails.most = 4;
	sdp_hello_build(buf, &h);
	buf[7] = SDP_HELLO_LEN_MIN;
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, sizeof(buf), &got));
	EXPECT_EQ(0, got.rails.most);
}

TEST(sdp_hello_ack_rails__all)
{
	static u8 buf[SDP_HELLO_ACK_LEN];
	struct sdp_hello h, got;

	memset(&h, 0, sizeof(h));
	h.bufs = 4;
	h.version = SDP_VERSION;
	h.max_adverts = 1;
	h.recv_size = 1536;
	h.held = 2;
	h.rails.most = 8;
	h.rails.id = 0xfedcba98;
	memset(h.rails.token, 0xa5, SDP_RAIL_TOKEN);
	sdp_hello_ack_build(buf, &h);
	EXPECT_TRUE(!memcmp(buf + 44, "RAIL\2\x8\0\0\xfe\xdc\xba\x98\xa5", 13));
	EXPECT_EQ(SDP_VALID, sdp_hello_ack_parse(buf, sizeof(buf), &got));
	EXPECT_TRUE(!memcmp(&h, &got, sizeof(h)));
	buf[48] = 0;
	EXPECT_EQ(SDP_VALID, sdp_hello_ack_parse(buf, sizeof(buf), &got));
	EXPECT_EQ(0, got.rails.most);
}

static enum sdp_violation parse_with(const struct sdp_rail_msg *msg, u32 at, u8 value, int longer)
{
	u8 buf[SDP_RAIL_MSG_MAX + 1] = { 0 };
	u32 len = sdp_rail_msg_build(buf, msg) + longer;
	struct sdp_rail_msg got;

	buf[7] = len;
	if (at)
		buf[at] = value;
	return sdp_rail_msg_parse(buf, len, &got);
}

/* Every message comes back as it was, and has its length. */
TEST(sdp_rail_msg__round_trip)
{
	static const u8 lens[] = { 20, 20, 16 };
	struct sdp_rail_msg msg, got;
	u8 buf[SDP_RAIL_MSG_MAX];
	u32 i, len;

	for (i = 0; i < 3; i++) {
		memset(&msg, 0, sizeof(msg));
		msg.mid = SDP_MID_RAIL_ADDRS + i;
		msg.ack = 0x87654321;
		if (msg.mid == SDP_MID_RAIL_GONE)
			msg.rail = 7;
		if (msg.mid == SDP_MID_RAIL_ADDRS) {
			msg.n = SDP_RAIL_ADDRS_MAX;
			memset(msg.addrs, 0x3c, sizeof(msg.addrs));
		}
		len = sdp_rail_msg_build(buf, &msg);
		EXPECT_EQ(lens[i] + 16 * msg.n, len);
		EXPECT_TRUE(sdp_mid_is_rails(buf[0]));
		EXPECT_EQ(SDP_VALID, sdp_rail_msg_parse(buf, len, &got));
		EXPECT_TRUE(!memcmp(&msg, &got, sizeof(msg)));
	}
	EXPECT_FALSE(sdp_mid_is_rails(SDP_MID_RING_AVAIL));
	EXPECT_FALSE(sdp_mid_is_rails(SDP_MID_DATA));
}

TEST(sdp_rail_msg_parse__violations)
{
	struct sdp_rail_msg addrs = { .mid = SDP_MID_RAIL_ADDRS, .n = 2 },
			    gone = { .mid = SDP_MID_RAIL_GONE },
			    ack = { .mid = SDP_MID_RAIL_ACK };

	EXPECT_EQ(SDP_VALID, parse_with(&addrs, 0, 0, 0));
	EXPECT_EQ(SDP_BAD_LEN, parse_with(&addrs, 0, 0, 1));
	EXPECT_EQ(SDP_BAD_LEN, parse_with(&addrs, 0, 0, -1));
	EXPECT_EQ(SDP_BAD_LEN, parse_with(&addrs, 16, 3, 0));
	EXPECT_EQ(SDP_BAD_LEN, parse_with(&addrs, 16, 1, 0));
	EXPECT_EQ(SDP_BAD_FIELD, parse_with(&addrs, 16, SDP_RAIL_ADDRS_MAX + 1, 0));
	EXPECT_EQ(SDP_BAD_FLAGS, parse_with(&gone, 1, 1, 0));
	EXPECT_EQ(SDP_BAD_BUFS, parse_with(&gone, 3, 1, 0));
	EXPECT_EQ(SDP_BAD_SEQ, parse_with(&gone, 11, 1, 0));
	EXPECT_EQ(SDP_BAD_LEN, parse_with(&gone, 0, 0, -1));
	EXPECT_EQ(SDP_BAD_LEN, parse_with(&ack, 7, 17, 0));
	EXPECT_EQ(SDP_BAD_LEN, parse_with(&ack, 0, 0, 1));
}

/* As many addresses as fit into the peer's receives. */
TEST(sdp_rail_addrs_most__receives)
{
	EXPECT_EQ(2, sdp_rail_addrs_most(SDP_RECV_SIZE_MIN));
	EXPECT_EQ(SDP_RAIL_ADDRS_MAX, sdp_rail_addrs_most(SDP_RAIL_MSG_MAX));
	EXPECT_EQ(SDP_RAIL_ADDRS_MAX - 1, sdp_rail_addrs_most(SDP_RAIL_MSG_MAX - 1));
	EXPECT_EQ(SDP_RAIL_ADDRS_MAX, sdp_rail_addrs_most(SDP_RECV_SIZE_MAX));
}

/* What moves by RDMA counts, too. */
TEST(sdp_wire_weight__adverts)
{
	struct sdp_msg msg = { .h.mid = SDP_MID_SRC_AVAIL, .src = { 1 << 20, 5, 64 },
			       .payload_len = 10 };
	u8 buf[SDP_HEADER_MAX];
	u32 len = sdp_wire_build(buf, &msg);

	EXPECT_EQ(len + 10 + (1 << 20), sdp_wire_weight(buf, len + 10));
	EXPECT_EQ(20, sdp_wire_weight(buf, 20));
	buf[0] = SDP_MID_DATA;
	EXPECT_EQ(len + 10, sdp_wire_weight(buf, len + 10));
}

TEST_MAIN
