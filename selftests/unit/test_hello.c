// SPDX-License-Identifier: GPL-2.0
/*
 * Hello and HelloAck: the private data of the connection request and reply.
 *
 * Wire sections 3, 4 and 11.
 */
#include "wire.h"
#include "test.h"

/* An IPv4 Hello: 12 receives of 1536 bytes, port 0x8765, 10.9.0.1 to 10.9.0.2. */
static const u8 hello_v4[SDP_HELLO_LEN] = {
	0x00, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x5c, 0, 0, 0, 0, 0, 0, 0, 0,
	0x22, 0x41, 0x00, 0x01, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x06, 0x00, 0x87, 0x65, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 9, 0, 1,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 9, 0, 2,
};

static const u8 hello_ack[SDP_HELLO_ACK_LEN] = {
	0x01, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0xc4, 0, 0, 0, 0, 0, 0, 0, 0,
	0x22, 0x01, 0x00, 0x03, 0x00, 0x01, 0x00, 0x00,
};

static void put(u8 *p, u32 bytes, u32 v)
{
	while (bytes--) {
		p[bytes] = v & 0xff;
		v >>= 8;
	}
}

/* Parse hello_v4 with @bytes bytes at offset @at replaced by @v. */
static enum sdp_violation hello_with(u32 at, u32 bytes, u32 v)
{
	struct sdp_hello hello;
	u8 buf[SDP_HELLO_LEN];

	memcpy(buf, hello_v4, sizeof(buf));
	put(buf + at, bytes, v);
	return sdp_hello_parse(buf, sizeof(buf), &hello);
}

static enum sdp_violation ack_with(u32 at, u32 bytes, u32 v)
{
	static u8 buf[SDP_HELLO_ACK_LEN];
	struct sdp_hello ack;

	memcpy(buf, hello_ack, sizeof(buf));
	put(buf + at, bytes, v);
	return sdp_hello_ack_parse(buf, sizeof(buf), &ack);
}

/* wire 3: every field at its offset. */
TEST(sdp_hello_parse__fields)
{
	struct sdp_hello h;

	EXPECT_EQ(SDP_VALID, sdp_hello_parse(hello_v4, SDP_HELLO_LEN, &h));
	EXPECT_EQ(12, h.bufs);
	EXPECT_EQ(0x22, h.version);
	EXPECT_EQ(4, h.ip_version);
	EXPECT_EQ(SDP_CAP_INVALIDATE, h.cap);
	EXPECT_EQ(1, h.max_adverts);
	EXPECT_EQ(0x1000U, h.wanted_recv_size);
	EXPECT_EQ(0x600U, h.recv_size);
	EXPECT_EQ(0x8765, h.port);
	EXPECT_BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\x0a\x09\0\x01", h.src, 16);
	EXPECT_BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\x0a\x09\0\x02", h.dst, 16);
}

/* wire 3: the same 92 bytes are built, with zeros in the reserved ones. */
TEST(sdp_hello_build__golden_bytes)
{
	struct sdp_hello h;
	u8 buf[SDP_HELLO_LEN];

	EXPECT_EQ(SDP_VALID, sdp_hello_parse(hello_v4, SDP_HELLO_LEN, &h));
	memset(buf, 0xee, sizeof(buf));
	sdp_hello_build(buf, &h);
	EXPECT_BYTES(hello_v4, buf, SDP_HELLO_LEN);
}

/* wire 3: an IPv6 Hello uses all 16 bytes of an address. */
TEST(sdp_hello_build__ipv6)
{
	struct sdp_hello h = {
		.bufs = 3, .version = SDP_VERSION, .ip_version = 6, .max_adverts = 255,
		.cap = SDP_CAP_INVALIDATE | SDP_CAP_EXT_ADVERTS,
		.wanted_recv_size = 0xdeadbeef, .recv_size = 65536, .port = 1,
		.src = { 0xfd, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 },
		.dst = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
	}, seen;
	u8 buf[SDP_HELLO_LEN], again[SDP_HELLO_LEN];

	sdp_hello_build(buf, &h);
	EXPECT_EQ(0x63, buf[17]);
	EXPECT_BYTES(h.src, buf + 32, 16);
	EXPECT_BYTES(h.dst, buf + 48, 16);
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, sizeof(buf), &seen));
	EXPECT_EQ(h.wanted_recv_size, seen.wanted_recv_size);
	EXPECT_EQ(h.recv_size, seen.recv_size);
	EXPECT_EQ(h.max_adverts, seen.max_adverts);
	sdp_hello_build(again, &seen);
	EXPECT_BYTES(buf, again, SDP_HELLO_LEN);
}

/* wire 11.1: Len is 92 or 64, whatever the CM pads its field to. */
TEST(sdp_hello_parse__both_lengths)
{
	struct sdp_hello h;
	u8 buf[SDP_HELLO_LEN];
	u32 len;

	for (len = 0; len < 256; len++)
		EXPECT_EQ(len == 92 || len == 64 ? SDP_VALID : SDP_BAD_LEN, hello_with(4, 4, len));
	EXPECT_EQ(SDP_BAD_LEN, hello_with(4, 4, 0x0100005c));
	memcpy(buf, hello_v4, sizeof(buf));
	buf[7] = 64;
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, 64, &h));
	EXPECT_EQ(SDP_BAD_LEN, sdp_hello_parse(buf, 63, &h));
}

/* wire 3: private data that is absent or shorter than Len. */
TEST(sdp_hello_parse__short_private_data)
{
	struct sdp_hello h;
	u32 n;

	for (n = 0; n < SDP_HELLO_LEN; n++)
		EXPECT_EQ(SDP_BAD_LEN, sdp_hello_parse(hello_v4, n, &h));
	EXPECT_EQ(SDP_BAD_LEN, sdp_hello_parse(NULL, SDP_HELLO_LEN, &h));
}

/* wire 3: MID 0, no flags, MSeq and MSeqAck 0. */
TEST(sdp_hello_parse__base_header)
{
	u32 i;

	for (i = 1; i < 256; i++) {
		EXPECT_EQ(SDP_BAD_MID, hello_with(0, 1, i));
		EXPECT_EQ(SDP_BAD_FLAGS, hello_with(1, 1, i));
	}
	EXPECT_EQ(SDP_BAD_SEQ, hello_with(8, 4, 1));
	EXPECT_EQ(SDP_BAD_SEQ, hello_with(8, 4, 0x80000000));
	EXPECT_EQ(SDP_BAD_SEQ, hello_with(12, 4, 1));
	EXPECT_EQ(SDP_BAD_SEQ, hello_with(12, 4, 0xffffffff));
}

/* D5: the peer needs at least two receives to be sent data. wire 7: Bufs has a maximum. */
TEST(sdp_hello_parse__bufs_bounds)
{
	EXPECT_EQ(SDP_BAD_BUFS, hello_with(2, 2, 0));
	EXPECT_EQ(SDP_BAD_BUFS, hello_with(2, 2, 1));
	EXPECT_EQ(SDP_VALID, hello_with(2, 2, 2));
	EXPECT_EQ(SDP_VALID, hello_with(2, 2, SDP_BUFS_MAX));
	EXPECT_EQ(SDP_BAD_BUFS, hello_with(2, 2, SDP_BUFS_MAX + 1));
	EXPECT_EQ(SDP_BAD_BUFS, hello_with(2, 2, 65535));
}

/* wire 3, 11.4: major version 2, any minor version. */
TEST(sdp_hello_parse__all_versions)
{
	u32 v;

	for (v = 0; v < 256; v++)
		EXPECT_EQ(v >> 4 == 2 ? SDP_VALID : SDP_BAD_HELLO, hello_with(16, 1, v));
}

/* wire 3: IPV is 4 or 6, Cap has any value. */
TEST(sdp_hello_parse__all_ip_versions)
{
	u32 b, ip;

	for (b = 0; b < 256; b++) {
		ip = b >> 4;
		EXPECT_EQ(ip == 4 || ip == 6 ? SDP_VALID : SDP_BAD_HELLO, hello_with(17, 1, b));
	}
}

/* wire 3: MaxAdverts must not be 0. */
TEST(sdp_hello_parse__max_adverts)
{
	EXPECT_EQ(SDP_BAD_HELLO, hello_with(19, 1, 0));
	EXPECT_EQ(SDP_VALID, hello_with(19, 1, 1));
	EXPECT_EQ(SDP_VALID, hello_with(19, 1, 255));
}

/* wire 3: LocalRcvSz has bounds. DesRemRcvSz is only a wish and has none. */
TEST(sdp_hello_parse__receive_sizes)
{
	EXPECT_EQ(SDP_BAD_HELLO, hello_with(24, 4, 0));
	EXPECT_EQ(SDP_BAD_HELLO, hello_with(24, 4, SDP_RECV_SIZE_MIN - 1));
	EXPECT_EQ(SDP_VALID, hello_with(24, 4, SDP_RECV_SIZE_MIN));
	EXPECT_EQ(SDP_VALID, hello_with(24, 4, SDP_RECV_SIZE_MAX));
	EXPECT_EQ(SDP_BAD_HELLO, hello_with(24, 4, SDP_RECV_SIZE_MAX + 1));
	EXPECT_EQ(SDP_BAD_HELLO, hello_with(24, 4, 0xffffffff));
	EXPECT_EQ(SDP_VALID, hello_with(20, 4, 0));
	EXPECT_EQ(SDP_VALID, hello_with(20, 4, 0xffffffff));
}

/* wire 3: the connecting side's port is not 0. */
TEST(sdp_hello_parse__port)
{
	EXPECT_EQ(SDP_BAD_HELLO, hello_with(28, 2, 0));
	EXPECT_EQ(SDP_VALID, hello_with(28, 2, 1));
	EXPECT_EQ(SDP_VALID, hello_with(28, 2, 65535));
}

/* wire 3: an IPv4 address has 12 zero bytes in front of it. An IPv6 address need not have them. */
TEST(sdp_hello_parse__address_padding)
{
	u8 buf[SDP_HELLO_LEN];
	struct sdp_hello h;
	u32 i;

	for (i = 0; i < 12; i++) {
		EXPECT_EQ(SDP_BAD_HELLO, hello_with(32 + i, 1, 1));
		EXPECT_EQ(SDP_BAD_HELLO, hello_with(48 + i, 1, 0x80));
	}
	for (i = 12; i < 16; i++) {
		EXPECT_EQ(SDP_VALID, hello_with(32 + i, 1, 0xff));
		EXPECT_EQ(SDP_VALID, hello_with(48 + i, 1, 0xff));
	}
	memcpy(buf, hello_v4, sizeof(buf));
	buf[17] = 0x60;
	memset(buf + 32, 0xfd, 32);
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, sizeof(buf), &h));
	EXPECT_EQ(0xfd, h.src[0]);
	EXPECT_EQ(0xfd, h.dst[15]);
}

/* wire 3: reserved bytes and ExtMaxAdverts are ignored. */
TEST(sdp_hello_parse__reserved_bytes)
{
	u32 i;

	EXPECT_EQ(SDP_VALID, hello_with(18, 1, 0xff));
	EXPECT_EQ(SDP_VALID, hello_with(30, 2, 0xffff));
	for (i = 64; i < SDP_HELLO_LEN; i++)
		EXPECT_EQ(SDP_VALID, hello_with(i, 1, 0xff));
}

/* Reserved bytes that begin with the name of our extension count. Another version is ignored. */
TEST(sdp_hello_build__held)
{
	static u8 buf[SDP_HELLO_ACK_LEN];
	struct sdp_hello h, seen;

	EXPECT_EQ(SDP_VALID, sdp_hello_parse(hello_v4, SDP_HELLO_LEN, &h));
	EXPECT_EQ(0, h.held);
	h.held = 200;
	sdp_hello_build(buf, &h);
	EXPECT_BYTES("\0\0\0\0\0\0\0\0\0\0\0\0HELD\1\xc8\0\0\0\0\0\0", buf + 68, 24);
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, SDP_HELLO_LEN, &seen));
	EXPECT_EQ(200, seen.held);
	buf[84]++;
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, SDP_HELLO_LEN, &seen));
	EXPECT_EQ(0, seen.held);
	buf[84]--;
	buf[7] = 64;
	EXPECT_EQ(SDP_VALID, sdp_hello_parse(buf, SDP_HELLO_LEN, &seen));
	EXPECT_EQ(0, seen.held);

	EXPECT_EQ(SDP_VALID, sdp_hello_ack_parse(hello_ack, SDP_HELLO_ACK_LEN, &h));
	EXPECT_EQ(0, h.held);
	h.held = 3;
	sdp_hello_ack_build(buf, &h);
	EXPECT_BYTES("HELD\1\3\0\0", buf + 36, 8);
	EXPECT_EQ(SDP_VALID, sdp_hello_ack_parse(buf, SDP_HELLO_ACK_LEN, &seen));
	EXPECT_EQ(3, seen.held);
	buf[7] = 24;
	EXPECT_EQ(SDP_VALID, sdp_hello_ack_parse(buf, SDP_HELLO_ACK_LEN, &seen));
	EXPECT_EQ(0, seen.held);
}

/* wire 4: every field at its offset. */
TEST(sdp_hello_ack_parse__fields)
{
	struct sdp_hello a;

	memset(&a, 0xee, sizeof(a));
	EXPECT_EQ(SDP_VALID, sdp_hello_ack_parse(hello_ack, SDP_HELLO_ACK_LEN, &a));
	EXPECT_EQ(0x102, a.bufs);
	EXPECT_EQ(0x22, a.version);
	EXPECT_EQ(SDP_CAP_INVALIDATE, a.cap);
	EXPECT_EQ(3, a.max_adverts);
	EXPECT_EQ(0x10000U, a.recv_size);
	EXPECT_EQ(0, a.port);
	EXPECT_EQ(0, a.ip_version);
	EXPECT_EQ(0, a.wanted_recv_size);
}

/* wire 4, 11.2: 196 bytes are built, with zeros outside of the fields. */
TEST(sdp_hello_ack_build__golden_bytes)
{
	static u8 buf[SDP_HELLO_ACK_LEN];
	struct sdp_hello a;

	EXPECT_EQ(SDP_VALID, sdp_hello_ack_parse(hello_ack, SDP_HELLO_ACK_LEN, &a));
	memset(buf, 0xee, sizeof(buf));
	sdp_hello_ack_build(buf, &a);
	EXPECT_BYTES(hello_ack, buf, SDP_HELLO_ACK_LEN);
}

/* wire 11.1: Len is 196 or 24. */
TEST(sdp_hello_ack_parse__both_lengths)
{
	static u8 buf[SDP_HELLO_ACK_LEN];
	struct sdp_hello a;
	u32 len, n;

	for (len = 0; len < 256; len++)
		EXPECT_EQ(len == 196 || len == 24 ? SDP_VALID : SDP_BAD_LEN, ack_with(4, 4, len));
	memcpy(buf, hello_ack, sizeof(buf));
	buf[7] = 24;
	EXPECT_EQ(SDP_VALID, sdp_hello_ack_parse(buf, 24, &a));
	for (n = 0; n < 24; n++)
		EXPECT_EQ(SDP_BAD_LEN, sdp_hello_ack_parse(buf, n, &a));
	EXPECT_EQ(SDP_BAD_LEN, sdp_hello_ack_parse(NULL, 196, &a));
	for (n = 24; n < 196; n++)
		EXPECT_EQ(SDP_BAD_LEN, sdp_hello_ack_parse(hello_ack, n, &a));
}

/* wire 4: the base header is that of Hello, except for MID 1. */
TEST(sdp_hello_ack_parse__base_header)
{
	u32 i;

	for (i = 0; i < 256; i++) {
		EXPECT_EQ(i == 1 ? SDP_VALID : SDP_BAD_MID, ack_with(0, 1, i));
		EXPECT_EQ(i == 0 ? SDP_VALID : SDP_BAD_FLAGS, ack_with(1, 1, i));
	}
	EXPECT_EQ(SDP_BAD_SEQ, ack_with(8, 4, 1));
	EXPECT_EQ(SDP_BAD_SEQ, ack_with(12, 4, 1));
	EXPECT_EQ(SDP_BAD_BUFS, ack_with(2, 2, 0));
	EXPECT_EQ(SDP_BAD_BUFS, ack_with(2, 2, 1));
	EXPECT_EQ(SDP_VALID, ack_with(2, 2, 2));
	EXPECT_EQ(SDP_VALID, ack_with(2, 2, SDP_BUFS_MAX));
	EXPECT_EQ(SDP_BAD_BUFS, ack_with(2, 2, SDP_BUFS_MAX + 1));
	EXPECT_EQ(SDP_BAD_BUFS, ack_with(2, 2, 65535));
}

/* wire 4: version, MaxAdverts and ActRcvSz have bounds. The rest is ignored (wire 11.2). */
TEST(sdp_hello_ack_parse__fields_at_bounds)
{
	u32 v, i;

	for (v = 0; v < 256; v++)
		EXPECT_EQ(v >> 4 == 2 ? SDP_VALID : SDP_BAD_HELLO, ack_with(16, 1, v));
	EXPECT_EQ(SDP_BAD_HELLO, ack_with(19, 1, 0));
	EXPECT_EQ(SDP_VALID, ack_with(19, 1, 255));
	EXPECT_EQ(SDP_BAD_HELLO, ack_with(20, 4, SDP_RECV_SIZE_MIN - 1));
	EXPECT_EQ(SDP_VALID, ack_with(20, 4, SDP_RECV_SIZE_MIN));
	EXPECT_EQ(SDP_VALID, ack_with(20, 4, SDP_RECV_SIZE_MAX));
	EXPECT_EQ(SDP_BAD_HELLO, ack_with(20, 4, SDP_RECV_SIZE_MAX + 1));
	EXPECT_EQ(SDP_VALID, ack_with(17, 2, 0xffff));
	for (i = 24; i < SDP_HELLO_ACK_LEN; i++)
		EXPECT_EQ(SDP_VALID, ack_with(i, 1, 0xff));
}

TEST_MAIN
