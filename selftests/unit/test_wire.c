// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that travel as a Send: exact bytes, and every error in them.
 *
 * In the comments, "wire N" is a section of the wire description, D1 etc. are requirements.
 */
#include "wire.h"
#include "test.h"

/* Base header of all golden messages. make() sets byte 0 (MID) and bytes 4 to 7 (Len). */
static const u8 base[SDP_BSDH_LEN] = {
	0, 0x00, 0x12, 0x34, 0, 0, 0, 0, 0x89, 0xab, 0xcd, 0xef, 0x76, 0x54, 0x32, 0x10,
};

#define BASE_BUFS	0x1234
#define BASE_MSEQ	0x89abcdefU
#define BASE_ACK	0x76543210U

struct golden {
	u8 mid;
	u8 header;		/* wire 2: length without payload */
	bool payload;		/* may carry payload */
	const char *name;
	u8 extended[SDP_HEADER_MAX - SDP_BSDH_LEN];
};

/* One message of each kind (wire 2), with its extended header (wire 6). */
static const struct golden golden[] = {
	{ 0x02, 16, false, "DisConn" },
	{ 0x03, 16, false, "AbortConn" },
	{ 0x04, 16, false, "SendSm" },
	{ 0x05, 20, false, "RdmaWrCompl", { 0x01, 0x02, 0x03, 0x04 } },
	{ 0x06, 20, false, "RdmaRdCompl", { 0xf1, 0xf2, 0xf3, 0xf4 } },
	{ 0x07, 20, false, "ModeChange", { 0x90, 0x00, 0x00, 0x00 } },
	{ 0x08, 16, false, "SrcAvailCancel" },
	{ 0x09, 16, false, "SinkAvailCancel" },
	{ 0x0a, 16, false, "SinkCancelAck" },
	{ 0x0b, 20, false, "ChRcvBuf", { 0x00, 0x00, 0x80, 0x10 } },
	{ 0x0c, 20, false, "ChRcvBufAck", { 0x00, 0x01, 0x02, 0x03 } },
	{ 0x0d, 24, false, "SuspComm", { 1, 2, 3, 4, 5, 6, 7, 8 } },
	{ 0x0e, 16, false, "SuspCommAck" },
	{ 0x40, 20, false, "RingAsk", { 0x00, 0x01, 0x00, 0x00 } },
	{ 0x41, 32, false, "RingAvail", { 0x00, 0x00, 0x40, 0x00, 0x1a, 0x1b, 0x1c, 0x1d,
					  0x00, 0x00, 0x12, 0x34, 0x56, 0x78, 0x90, 0x00 } },
	{ 0xfd, 36, true, "SinkAvail", { 0x00, 0x02, 0x00, 0x01, 0xaa, 0xbb, 0xcc, 0xdd,
					 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10,
					 0x11, 0x22, 0x33, 0x44 } },
	{ 0xfe, 32, true, "SrcAvail", { 0x00, 0x01, 0x00, 0x00, 0x0a, 0x0b, 0x0c, 0x0d,
					0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef } },
	{ 0xff, 16, true, "Data" },
};

static void set32(u8 *p, u32 v)
{
	p[0] = v >> 24;
	p[1] = (v >> 16) & 0xff;
	p[2] = (v >> 8) & 0xff;
	p[3] = v & 0xff;
}

/* Build the golden message of a MID, with a Len of @bytes. */
static void make(u8 *buf, u8 mid, u32 bytes)
{
	u32 i;

	memset(buf, 0, SDP_HEADER_MAX);
	memcpy(buf, base, sizeof(base));
	buf[0] = mid;
	for (i = 0; i < ARRAY_SIZE(golden); i++)
		if (golden[i].mid == mid)
			memcpy(buf + sizeof(base), golden[i].extended, sizeof(golden[i].extended));
	set32(buf + 4, bytes);
}

static enum sdp_violation parse_golden(u8 mid, u32 bytes, u32 at, u8 value)
{
	struct sdp_msg msg;
	u8 buf[SDP_HEADER_MAX];

	make(buf, mid, bytes);
	buf[at] = value;
	return sdp_wire_parse(buf, bytes, &msg);
}

/* wire 1: each field of the base header at its offset, big-endian. */
TEST(sdp_wire_parse__base_header_fields)
{
	static const u8 bytes[16] = {
		0xff, 0x06, 0x01, 0x02, 0x00, 0x00, 0x00, 0x10,
		0x80, 0x01, 0x02, 0x03, 0xff, 0xfe, 0xfd, 0xfc,
	};
	struct sdp_msg msg;

	EXPECT_EQ(SDP_VALID, sdp_wire_parse(bytes, 16, &msg));
	EXPECT_EQ(0xff, msg.h.mid);
	EXPECT_EQ(SDP_FLAG_OOB_PEND | SDP_FLAG_REQ_PIPE, msg.h.flags);
	EXPECT_EQ(0x0102, msg.h.bufs);
	EXPECT_EQ(16, msg.h.len);
	EXPECT_EQ(0x80010203U, msg.h.mseq);
	EXPECT_EQ(0xfffefdfcU, msg.h.mseq_ack);
	EXPECT_EQ(16, msg.payload);
	EXPECT_EQ(0, msg.payload_len);
}

/* wire 2: header length of every message, and 0 for unknown MIDs. */
TEST(sdp_wire_header_len__all_256_mids)
{
	u32 mid, i, want;

	for (mid = 0; mid < 256; mid++) {
		want = 0;
		for (i = 0; i < ARRAY_SIZE(golden); i++)
			if (golden[i].mid == mid)
				want = golden[i].header;
		EXPECT_EQ(want, sdp_wire_header_len((u8)mid));
	}
}

/* wire 2, 6: every message is the same bytes after it is parsed and built again. */
TEST(sdp_wire_build__golden_bytes)
{
	u8 want[SDP_HEADER_MAX], seen[SDP_HEADER_MAX];
	struct sdp_msg msg;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		const struct golden *g = &golden[i];

		make(want, g->mid, g->header);
		EXPECT_EQ(SDP_VALID, sdp_wire_parse(want, g->header, &msg));
		EXPECT_EQ(g->mid, msg.h.mid);
		EXPECT_EQ(BASE_BUFS, msg.h.bufs);
		EXPECT_EQ(BASE_MSEQ, msg.h.mseq);
		EXPECT_EQ(BASE_ACK, msg.h.mseq_ack);
		EXPECT_EQ(g->header, msg.h.len);
		EXPECT_EQ(g->header, msg.payload);
		EXPECT_EQ(0, msg.payload_len);
		memset(seen, 0xee, sizeof(seen));
		msg.h.len = 0;
		msg.payload = 0;
		EXPECT_EQ(g->header, sdp_wire_build(seen, &msg));
		EXPECT_BYTES(want, seen, g->header);
		/* No byte is written beyond the header. */
		if (g->header < SDP_HEADER_MAX)
			EXPECT_EQ(0xee, seen[g->header]);
	}
}

/* wire 1: Len includes the payload, which only three messages may have (wire 2). */
TEST(sdp_wire_parse__payload_where_allowed)
{
	u8 buf[SDP_HEADER_MAX], again[SDP_HEADER_MAX];
	struct sdp_msg msg;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		const struct golden *g = &golden[i];

		make(buf, g->mid, g->header + 1000);
		if (!g->payload) {
			EXPECT_EQ(SDP_BAD_PAYLOAD, sdp_wire_parse(buf, g->header + 1000, &msg));
			make(buf, g->mid, g->header + 1);
			EXPECT_EQ(SDP_BAD_PAYLOAD, sdp_wire_parse(buf, g->header + 1, &msg));
			continue;
		}
		EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, g->header + 1000, &msg));
		EXPECT_EQ(g->header, msg.payload);
		EXPECT_EQ(1000, msg.payload_len);
		EXPECT_EQ(g->header, sdp_wire_build(again, &msg));
		EXPECT_BYTES(buf, again, g->header);
	}
}

/* wire 6: extended headers with a count, a size or a service id. */
TEST(sdp_wire_parse__counts_and_service_id)
{
	struct sdp_msg msg;
	u8 buf[SDP_HEADER_MAX];

	make(buf, SDP_MID_RDMA_WR_COMPL, 20);
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 20, &msg));
	EXPECT_EQ(0x01020304U, msg.count);
	make(buf, SDP_MID_RDMA_RD_COMPL, 20);
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 20, &msg));
	EXPECT_EQ(0xf1f2f3f4U, msg.count);
	make(buf, SDP_MID_CHRCVBUF, 20);
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 20, &msg));
	EXPECT_EQ(0x8010U, msg.size);
	make(buf, SDP_MID_CHRCVBUF_ACK, 20);
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 20, &msg));
	EXPECT_EQ(0x10203U, msg.size);
	make(buf, SDP_MID_SUSPEND, 24);
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 24, &msg));
	EXPECT_EQ(0x0102030405060708ULL, msg.service_id);
}

/* wire 6: Len, RKey and VA of SrcAvail and SinkAvail; NonDiscards of SinkAvail. */
TEST(sdp_wire_parse__advertisements)
{
	struct sdp_msg msg;
	u8 buf[SDP_HEADER_MAX];

	make(buf, SDP_MID_SRC_AVAIL, 32);
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 32, &msg));
	EXPECT_EQ(0x10000U, msg.src.len);
	EXPECT_EQ(0x0a0b0c0dU, msg.src.rkey);
	EXPECT_EQ(0x0123456789abcdefULL, msg.src.va);
	EXPECT_EQ(0, msg.non_discards);
	make(buf, SDP_MID_SINK_AVAIL, 36);
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 36, &msg));
	EXPECT_EQ(0x20001U, msg.sink.len);
	EXPECT_EQ(0xaabbccddU, msg.sink.rkey);
	EXPECT_EQ(0xfedcba9876543210ULL, msg.sink.va);
	EXPECT_EQ(0x11223344U, msg.non_discards);
}

/* wire 7: a message has at least a base header, and Len equals its received length. */
TEST(sdp_wire_parse__every_short_length)
{
	struct sdp_msg msg;
	u8 buf[SDP_HEADER_MAX];
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(golden); i++)
		for (n = 0; n < golden[i].header; n++) {
			make(buf, golden[i].mid, n);
			EXPECT_EQ(SDP_BAD_LEN, sdp_wire_parse(buf, n, &msg));
		}
}

TEST(sdp_wire_parse__len_unlike_what_was_received)
{
	static const u32 wrong[] = { 0, 1, 15, 17, 35, 37, 1016, 0x10000010U, 0x10, 0xffffffffU };
	struct sdp_msg msg;
	u8 buf[SDP_HEADER_MAX];
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(golden); i++)
		for (j = 0; j < ARRAY_SIZE(wrong); j++) {
			if (wrong[j] == golden[i].header)
				continue;
			make(buf, golden[i].mid, wrong[j]);
			EXPECT_EQ(SDP_BAD_LEN, sdp_wire_parse(buf, golden[i].header, &msg));
		}
}

/* wire 2, 7: Hello and HelloAck do not travel as a Send, and other MIDs are unknown. */
TEST(sdp_wire_parse__unknown_mids)
{
	struct sdp_msg msg;
	u8 buf[SDP_HEADER_MAX];
	u32 mid;

	make(buf, SDP_MID_DATA, 36);
	for (mid = 0; mid < 256; mid++) {
		buf[0] = (u8)mid;
		EXPECT_EQ(!sdp_wire_header_len((u8)mid),
			  sdp_wire_parse(buf, 36, &msg) == SDP_BAD_MID);
	}
}

/* Flags beyond those of the standard that a message may have: for rings, and for rails. */
static u8 extended_flags(u8 mid)
{
	if (mid == SDP_MID_DATA)
		return SDP_FLAG_FREED;
	return mid == SDP_MID_SRC_AVAIL ? SDP_FLAG_KEYS : 0;
}

/* wire 1: bits 3 to 7 of Flags are reserved. */
TEST(sdp_wire_parse__reserved_flags)
{
	u32 i, flag;

	for (i = 0; i < ARRAY_SIZE(golden); i++)
		for (flag = 0x08; flag <= 0x80; flag *= 2)
			if (flag != extended_flags(golden[i].mid))
				EXPECT_EQ(SDP_BAD_FLAGS, parse_golden(golden[i].mid,
								      golden[i].header, 1,
								      (u8)flag));
}

/* Rings: with the flag FREED, Data has 4 more header bytes with the number of bytes read. */
TEST(sdp_wire_parse__freed)
{
	u8 buf[SDP_HEADER_MAX] = { 0 };
	struct sdp_msg msg = {
		.h = { .mid = SDP_MID_DATA, .flags = SDP_FLAG_FREED }, .freed = 0xfedcba98,
	};

	EXPECT_EQ(SDP_BAD_LEN, parse_golden(SDP_MID_DATA, 16, 1, SDP_FLAG_FREED));
	EXPECT_EQ(SDP_BAD_LEN, parse_golden(SDP_MID_DATA, 19, 1, SDP_FLAG_FREED));
	EXPECT_EQ(SDP_VALID, parse_golden(SDP_MID_DATA, 20, 1, SDP_FLAG_FREED));
	EXPECT_EQ(SDP_BAD_FLAGS, parse_golden(SDP_MID_DATA, 20, 1,
					      SDP_FLAG_FREED | SDP_FLAG_OOB_PRES));
	EXPECT_EQ(SDP_VALID, parse_golden(SDP_MID_DATA, 21, 1, SDP_FLAG_FREED | SDP_FLAG_OOB_PRES));
	msg.payload_len = 5;
	EXPECT_EQ(20, sdp_wire_build(buf, &msg));
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 25, &msg));
	EXPECT_EQ(0xfedcba98U, msg.freed);
	EXPECT_EQ(20, msg.payload);
	EXPECT_EQ(5, msg.payload_len);
}

/* Rings: the size is a power of two within bounds, or 0. Two mappings of it must not wrap. */
TEST(sdp_wire_parse__ring_sizes)
{
	static const struct { u32 size; enum sdp_violation want; } sizes[] = {
		{ 0, SDP_VALID }, { 1, SDP_BAD_FIELD }, { 4096, SDP_BAD_FIELD },
		{ SDP_RING_SIZE_MIN, SDP_VALID }, { SDP_RING_SIZE_MIN + 1, SDP_BAD_FIELD },
		{ 3 << 14, SDP_BAD_FIELD }, { SDP_RING_SIZE_MAX, SDP_VALID },
		{ SDP_RING_SIZE_MAX * 2, SDP_BAD_FIELD }, { 0xffffffff, SDP_BAD_FIELD },
	};
	u8 buf[SDP_HEADER_MAX];
	struct sdp_msg msg;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		make(buf, SDP_MID_RING_ASK, 20);
		set32(buf + 16, sizes[i].size);
		EXPECT_EQ(sizes[i].want, sdp_wire_parse(buf, 20, &msg));
		make(buf, SDP_MID_RING_AVAIL, 32);
		set32(buf + 16, sizes[i].size);
		EXPECT_EQ(sizes[i].want, sdp_wire_parse(buf, 32, &msg));
	}
	make(buf, SDP_MID_RING_AVAIL, 32);
	set32(buf + 16, 1 << 16);
	set32(buf + 24, 0xffffffff);
	set32(buf + 28, 0xfffe0000);
	EXPECT_EQ(SDP_BAD_FIELD, sdp_wire_parse(buf, 32, &msg));
	set32(buf + 28, 0xfffdffff);
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 32, &msg));
	EXPECT_EQ(0xfffffffffffdffffULL, msg.ring.va);
}

/* wire 9: OOB_PEND and REQ_PIPE are legal in any message. */
TEST(sdp_wire_parse__flags_of_any_message)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		EXPECT_EQ(SDP_VALID, parse_golden(golden[i].mid, golden[i].header, 1,
						  SDP_FLAG_OOB_PEND));
		EXPECT_EQ(SDP_VALID, parse_golden(golden[i].mid, golden[i].header, 1,
						  SDP_FLAG_REQ_PIPE | SDP_FLAG_OOB_PEND));
	}
}

/* wire 9: OOB_PRES marks the last payload byte of Data, so it needs payload. */
TEST(sdp_wire_parse__urgent_byte_needs_data)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(golden); i++)
		EXPECT_EQ(SDP_BAD_FLAGS, parse_golden(golden[i].mid, golden[i].header, 1,
						      SDP_FLAG_OOB_PRES));
	EXPECT_EQ(SDP_BAD_FLAGS, parse_golden(SDP_MID_SRC_AVAIL, 33, 1, SDP_FLAG_OOB_PRES));
	EXPECT_EQ(SDP_BAD_FLAGS, parse_golden(SDP_MID_SINK_AVAIL, 37, 1, SDP_FLAG_OOB_PRES));
	EXPECT_EQ(SDP_VALID, parse_golden(SDP_MID_DATA, 17, 1, SDP_FLAG_OOB_PRES));
	EXPECT_EQ(SDP_VALID, parse_golden(SDP_MID_DATA, 17, 1, SDP_FLAGS_ALL));
}

/* wire 7: Bufs has a maximum. 0 is legal after the Hello. */
TEST(sdp_wire_parse__bufs_bounds)
{
	static const struct { u8 hi, lo; enum sdp_violation want; } cases[] = {
		{ 0x00, 0x00, SDP_VALID }, { 0x00, 0x01, SDP_VALID }, { 0x20, 0x00, SDP_VALID },
		{ 0x20, 0x01, SDP_BAD_BUFS }, { 0x80, 0x00, SDP_BAD_BUFS },
		{ 0xff, 0xff, SDP_BAD_BUFS },
	};
	struct sdp_msg msg;
	u8 buf[SDP_HEADER_MAX];
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(golden); i++)
		for (j = 0; j < ARRAY_SIZE(cases); j++) {
			make(buf, golden[i].mid, golden[i].header);
			buf[2] = cases[j].hi;
			buf[3] = cases[j].lo;
			EXPECT_EQ(cases[j].want, sdp_wire_parse(buf, golden[i].header, &msg));
		}
}

/* wire 6: four values of the first byte are legal transitions, no others. */
TEST(sdp_wire_parse__mode_change_all_bytes)
{
	static const struct { u8 byte, mode; bool send_half; } legal[] = {
		{ 0x00, SDP_MODE_BUFFERED, false }, { 0x10, SDP_MODE_COMBINED, false },
		{ 0x20, SDP_MODE_PIPELINED, false }, { 0x90, SDP_MODE_COMBINED, true },
	};
	u8 buf[SDP_HEADER_MAX], again[SDP_HEADER_MAX];
	struct sdp_msg msg;
	u32 b, i;

	make(buf, SDP_MID_MODE_CHANGE, 20);
	for (b = 0; b < 256; b++) {
		for (i = 0; i < ARRAY_SIZE(legal) && legal[i].byte != b; i++)
			;
		buf[16] = (u8)b;
		if (i == ARRAY_SIZE(legal)) {
			EXPECT_EQ(SDP_BAD_FIELD, sdp_wire_parse(buf, 20, &msg));
			continue;
		}
		EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 20, &msg));
		EXPECT_EQ(legal[i].mode, msg.mode);
		EXPECT_EQ(legal[i].send_half, msg.mode_send_half);
		sdp_wire_build(again, &msg);
		EXPECT_BYTES(buf, again, 20);
	}
}

/* wire 6: the three reserved bytes of ModeChange are sent as zeros and ignored on receipt. */
TEST(sdp_wire_parse__mode_change_reserved_bytes)
{
	u8 buf[SDP_HEADER_MAX], again[SDP_HEADER_MAX];
	struct sdp_msg msg;

	make(buf, SDP_MID_MODE_CHANGE, 20);
	buf[17] = 1;
	buf[18] = 2;
	buf[19] = 3;
	EXPECT_EQ(SDP_VALID, sdp_wire_parse(buf, 20, &msg));
	memset(again, 0xee, sizeof(again));
	sdp_wire_build(again, &msg);
	EXPECT_BYTES("\x90\0\0\0", again + 16, 4);
}

static enum sdp_violation parse_region(u8 mid, u32 bytes, u32 len, u32 va_hi, u32 va_lo)
{
	struct sdp_msg msg;
	u8 buf[SDP_HEADER_MAX];

	make(buf, mid, bytes);
	set32(buf + 16, len);
	set32(buf + 24, va_hi);
	set32(buf + 28, va_lo);
	return sdp_wire_parse(buf, bytes, &msg);
}

/* wire 6: a region has at least one byte, a maximal length, and does not wrap. */
TEST(sdp_wire_parse__region_bounds)
{
	static const struct { u8 mid; u8 header; } kinds[] = {
		{ SDP_MID_SRC_AVAIL, 32 }, { SDP_MID_SINK_AVAIL, 36 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		u8 mid = kinds[i].mid, n = kinds[i].header;

		EXPECT_EQ(SDP_BAD_FIELD, parse_region(mid, n, 0, 0, 0x1000));
		EXPECT_EQ(SDP_BAD_FIELD, parse_region(mid, n, 0, 0xffffffff, 0xffffffff));
		EXPECT_EQ(SDP_VALID, parse_region(mid, n, 1, 0, 0));
		EXPECT_EQ(SDP_VALID, parse_region(mid, n, SDP_REGION_MAX, 0, 0));
		EXPECT_EQ(SDP_VALID, parse_region(mid, n, SDP_REGION_MAX, 0, 0xffffffff));
		EXPECT_EQ(SDP_BAD_FIELD, parse_region(mid, n, SDP_REGION_MAX + 1, 0, 0x1000));
		EXPECT_EQ(SDP_BAD_FIELD, parse_region(mid, n, 0xffffffff, 0, 0));
		EXPECT_EQ(SDP_VALID, parse_region(mid, n, 0x0fff, 0xffffffff, 0xfffff000));
		EXPECT_EQ(SDP_BAD_FIELD, parse_region(mid, n, 0x1001, 0xffffffff, 0xfffff000));
		EXPECT_EQ(SDP_BAD_FIELD, parse_region(mid, n, 1, 0xffffffff, 0xffffffff));
		EXPECT_EQ(SDP_BAD_FIELD, parse_region(mid, n, SDP_REGION_MAX, 0xffffffff,
						      0xc0000001));
	}
}

/* wire 8: the region of SrcAvail is longer than its inlined bytes. */
TEST(sdp_wire_parse__src_avail_longer_than_its_payload)
{
	EXPECT_EQ(SDP_VALID, parse_region(SDP_MID_SRC_AVAIL, 32 + 100, 101, 0, 0x1000));
	EXPECT_EQ(SDP_BAD_FIELD, parse_region(SDP_MID_SRC_AVAIL, 32 + 100, 100, 0, 0x1000));
	EXPECT_EQ(SDP_BAD_FIELD, parse_region(SDP_MID_SRC_AVAIL, 32 + 100, 1, 0, 0x1000));
	/* The payload of SinkAvail is independent of its region. */
	EXPECT_EQ(SDP_VALID, parse_region(SDP_MID_SINK_AVAIL, 36 + 100, 1, 0, 0x1000));
}

/* wire 6: the sizes of ChRcvBuf and ChRcvBufAck have bounds. */
TEST(sdp_wire_parse__receive_size_bounds)
{
	static const struct { u32 size; enum sdp_violation want; } cases[] = {
		{ 0, SDP_BAD_FIELD }, { SDP_RECV_SIZE_MIN - 1, SDP_BAD_FIELD },
		{ SDP_RECV_SIZE_MIN, SDP_VALID }, { SDP_RECV_SIZE_MAX, SDP_VALID },
		{ SDP_RECV_SIZE_MAX + 1, SDP_BAD_FIELD }, { 0xffffffffU, SDP_BAD_FIELD },
	};
	struct sdp_msg msg;
	u8 buf[SDP_HEADER_MAX];
	u32 i;
	u8 mid;

	for (mid = SDP_MID_CHRCVBUF; mid <= SDP_MID_CHRCVBUF_ACK; mid++)
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			make(buf, mid, 20);
			set32(buf + 16, cases[i].size);
			EXPECT_EQ(cases[i].want, sdp_wire_parse(buf, 20, &msg));
		}
}

/* At most min(bytes, SDP_HEADER_MAX) bytes are read: head[] has no more (ASan checks this). */
TEST(sdp_wire_parse__reads_the_header_only)
{
	static u8 head[SDP_HEADER_MAX];
	struct sdp_msg msg;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		if (!golden[i].payload)
			continue;
		make(head, golden[i].mid, 0x8000);
		EXPECT_EQ(SDP_VALID, sdp_wire_parse(head, 0x8000, &msg));
		EXPECT_EQ(0x8000U - golden[i].header, msg.payload_len);
	}
}

/* Names as in traces and statistics. */
TEST(sdp_mid_name__all)
{
	u32 mid, i;

	EXPECT_STREQ("Hello", sdp_mid_name(0));
	EXPECT_STREQ("HelloAck", sdp_mid_name(1));
	for (mid = 2; mid < 256; mid++) {
		for (i = 0; i < ARRAY_SIZE(golden) && golden[i].mid != mid; i++)
			;
		if (mid < SDP_MID_RAIL_ADDRS || mid > SDP_MID_RAIL_ACK)
			EXPECT_STREQ(i < ARRAY_SIZE(golden) ? golden[i].name : "unknown",
				     sdp_mid_name((u8)mid));
	}
	EXPECT_STREQ("RailAddrs", sdp_mid_name(0x42));
	EXPECT_STREQ("RailGone", sdp_mid_name(0x43));
	EXPECT_STREQ("RailAck", sdp_mid_name(0x44));
}

TEST(sdp_violation_name__all)
{
	static const char * const names[] = {
		[SDP_VALID] = "Valid", [SDP_BAD_LEN] = "BadLen", [SDP_BAD_HELLO] = "BadHello",
		[SDP_BAD_MID] = "BadMid", [SDP_BAD_FLAGS] = "BadFlags",
		[SDP_BAD_FIELD] = "BadField", [SDP_BAD_PAYLOAD] = "BadPayload",
		[SDP_BAD_SEQ] = "BadSeq", [SDP_BAD_ACK] = "BadAck", [SDP_BAD_BUFS] = "BadBufs",
		[SDP_BAD_CREDIT] = "BadCredit", [SDP_BAD_STATE] = "BadState",
		[SDP_BAD_KEY] = "BadKey",
	};
	u32 i;

	EXPECT_EQ((u32)SDP_VIOLATION_KINDS, ARRAY_SIZE(names));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		EXPECT_STREQ(names[i], sdp_violation_name(i));
	EXPECT_STREQ("unknown", sdp_violation_name(SDP_VIOLATION_KINDS));
	EXPECT_STREQ("unknown", sdp_violation_name(1000));
}

TEST_MAIN
