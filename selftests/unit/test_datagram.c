// SPDX-License-Identifier: GPL-2.0
/*
 * Header of datagrams (I1, I3).
 */
#include "chunk.h"
#include "datagram.h"
#include "test.h"

static const struct sdp_datagram data = {
	.type = SDP_DATAGRAM_DATA, .flags = SDP_DATAGRAM_CE | SDP_DATAGRAM_ACK_SOON, .window = 75,
	.to = 0x01020304, .from = 0xf1f2f3f4, .seq = 0x10111213, .ack = 0x20212223, .offset = 3,
	.packets = 36,
};

static enum sdp_violation parsed(const struct sdp_datagram *d, u32 packet)
{
	u8 buf[SDP_DATAGRAM_LEN];
	struct sdp_datagram got;

	sdp_datagram_build(buf, d);
	return sdp_datagram_parse(buf, sizeof(buf) + packet, &got);
}

TEST(sdp_datagram_build__bytes)
{
	static const u8 wire[SDP_DATAGRAM_LEN] = {
		0x10, 0x05, 0, 75, 1, 2, 3, 4, 0xf1, 0xf2, 0xf3, 0xf4, 0x10, 0x11, 0x12, 0x13,
		0x20, 0x21, 0x22, 0x23, 0, 3, 0, 36,
	};
	u8 buf[SDP_DATAGRAM_LEN];
	struct sdp_datagram got;

	sdp_datagram_build(buf, &data);
	EXPECT_TRUE(!memcmp(buf, wire, sizeof(wire)));
	EXPECT_EQ(SDP_VALID, sdp_datagram_parse(wire, sizeof(wire) + 1, &got));
	EXPECT_EQ(data.type, got.type);
	EXPECT_EQ(data.flags, got.flags);
	EXPECT_EQ(data.window, got.window);
	EXPECT_EQ(data.to, got.to);
	EXPECT_EQ(data.from, got.from);
	EXPECT_EQ(data.seq, got.seq);
	EXPECT_EQ(data.ack, got.ack);
	EXPECT_EQ(data.offset, got.offset);
	EXPECT_EQ(data.packets, got.packets);
}

TEST(sdp_datagram_parse__version_and_type)
{
	u8 buf[SDP_DATAGRAM_LEN];
	struct sdp_datagram got;
	u32 i;

	sdp_datagram_build(buf, &data);
	EXPECT_EQ(SDP_BAD_LEN, sdp_datagram_parse(buf, SDP_DATAGRAM_LEN - 1, &got));
	for (i = 0; i < 256; i++) {
		bool known = i >> 4 == SDP_DATAGRAM_VERSION && (i & 15) < SDP_DATAGRAM_TYPES;

		buf[0] = i;
		EXPECT_EQ(known, sdp_datagram_parse(buf, sizeof(buf) + 1, &got) != SDP_BAD_MID);
	}
}

TEST(sdp_datagram_parse__bounds)
{
	struct sdp_datagram d = data;

	EXPECT_EQ(SDP_VALID, parsed(&d, 1));
	EXPECT_EQ(SDP_BAD_LEN, parsed(&d, 0));
	d.flags = SDP_DATAGRAM_FLAGS_ALL + 1;
	EXPECT_EQ(SDP_BAD_FLAGS, parsed(&d, 1));
	d.flags = SDP_DATAGRAM_GOES_ON;
	EXPECT_EQ(SDP_BAD_FLAGS, parsed(&d, 1));
	d = data;
	d.window = 0;
	EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, 1));
	d.window = SDP_WINDOW_ACCEPTING;
	EXPECT_EQ(SDP_VALID, parsed(&d, 1));
	d.window++;
	EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, 1));
	d = data;
	d.offset = 36;
	EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, 1));
	d.packets = SDP_CHUNK_PACKETS_MAX + 1;
	EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, 1));
	d.offset = 0;
	d.packets = 0;
	EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, 1));
}

/* Only Data has a packet, and a place in a message. The others have a body of one length. */
TEST(sdp_datagram_parse__without_packet)
{
	static const u32 bodies[SDP_DATAGRAM_TYPES] = {
		[SDP_DATAGRAM_OPEN] = 124, [SDP_DATAGRAM_CHALLENGE] = 16,
		[SDP_DATAGRAM_OPEN_ACK] = 204, [SDP_DATAGRAM_OPEN_REJECT] = 8,
	};
	struct sdp_datagram d = { .window = 1 };

	for (d.type = SDP_DATAGRAM_ACK; d.type < SDP_DATAGRAM_TYPES; d.type++) {
		d.offset = d.type == SDP_DATAGRAM_PROBE;
		d.packets = 0;
		EXPECT_EQ(SDP_VALID, parsed(&d, bodies[d.type]));
		EXPECT_EQ(SDP_BAD_LEN, parsed(&d, bodies[d.type] + 1));
		EXPECT_EQ(SDP_BAD_LEN, parsed(&d, bodies[d.type] ? bodies[d.type] - 1 : 2));
		d.packets = 1;
		EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, bodies[d.type]));
	}
}

/* A Probe has a number, and what answers it has the same one. */
TEST(sdp_datagram_parse__number_of_probe)
{
	struct sdp_datagram d = { .window = 1 };

	for (d.type = SDP_DATAGRAM_ACK; d.type <= SDP_DATAGRAM_RESET; d.type++) {
		d.offset = 0;
		EXPECT_EQ(d.type != SDP_DATAGRAM_PROBE, parsed(&d, 0) == SDP_VALID);
		d.offset = 0xffff;
		EXPECT_EQ(d.type != SDP_DATAGRAM_RESET, parsed(&d, 0) == SDP_VALID);
	}
	d.type = SDP_DATAGRAM_OPEN;
	EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, SDP_OPEN_LEN));
	d.type = SDP_DATAGRAM_CHALLENGE;
	EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, SDP_COOKIE_LEN));
	d.type = SDP_DATAGRAM_OPEN_ACK;
	EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, SDP_OPEN_ACK_LEN));
	d.type = SDP_DATAGRAM_OPEN_REJECT;
	EXPECT_EQ(SDP_BAD_FIELD, parsed(&d, SDP_OPEN_REJECT_LEN));
}

/* Data is of a round, and a NACK says which one it is about. */
TEST(sdp_datagram_parse__round)
{
	struct sdp_datagram d = {
		.window = 1, .packets = 1, .flags = 2 << SDP_DATAGRAM_ROUND_SHIFT,
	};

	EXPECT_EQ(SDP_VALID, parsed(&d, 1));
	EXPECT_EQ(2, sdp_datagram_round(&d));
	d.packets = 0;
	for (d.type = SDP_DATAGRAM_ACK; d.type <= SDP_DATAGRAM_RESET; d.type++) {
		d.offset = d.type == SDP_DATAGRAM_PROBE;
		EXPECT_EQ(d.type == SDP_DATAGRAM_NACK || d.type == SDP_DATAGRAM_PROBE,
			  parsed(&d, 0) == SDP_VALID);
	}
}

TEST_MAIN
