// SPDX-License-Identifier: GPL-2.0
/*
 * Datagram service of a port: private data of a SIDR answer.
 */
#include "service.h"
#include "test.h"

static const struct sdp_service two = { .size = 1024, .qps = 2, .qpn = { 0x000011, 0xfffffe } };

TEST(sdp_service_build__bytes)
{
	static const u8 want[SDP_SERVICE_LEN] = {
		1, 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 0xff, 0xff, 0xfe,
	};
	u8 buf[SDP_SERVICE_LEN + 1];
	struct sdp_service got;

	memset(buf, 0xee, sizeof(buf));
	sdp_service_build(buf, &two);
	EXPECT_TRUE(!memcmp(buf, want, sizeof(want)));
	EXPECT_EQ(0xee, buf[SDP_SERVICE_LEN]);
	EXPECT_EQ(SDP_VALID, sdp_service_parse(buf, sizeof(buf), &got));
	EXPECT_EQ(two.size, got.size);
	EXPECT_EQ(two.qps, got.qps);
	EXPECT_EQ(two.qpn[0], got.qpn[0]);
	EXPECT_EQ(two.qpn[1], got.qpn[1]);
	EXPECT_EQ(SDP_BAD_LEN, sdp_service_parse(buf, SDP_SERVICE_LEN - 1, &got));
}

/* A byte of a valid answer that is changed: at @at, to @to; is the answer still valid? */
static const struct { u8 at; u8 to; bool ok; } changes[] = {
	{ 0, 2, false }, { 0, 0, false },			/* version */
	{ 1, 0, false }, { 1, 1, true }, { 1, 5, false },	/* queue pairs */
	{ 1, 3, false },					/* the third is 0 */
	{ 2, 0, false }, { 2, 1, true }, { 2, 16, true },	/* size, times 256 */
	{ 2, 17, false }, { 3, 255, true },
	{ 4, 1, true },						/* reserved */
	{ 8, 1, false }, { 11, 1, false }, { 11, 2, true },	/* 24 bits, not 0 or 1 */
};

TEST(sdp_service_parse__changed)
{
	struct sdp_service got;
	u8 buf[SDP_SERVICE_LEN];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		sdp_service_build(buf, &two);
		buf[changes[i].at] = changes[i].to;
		EXPECT_EQ(changes[i].ok ? SDP_VALID : SDP_BAD_HELLO,
			  sdp_service_parse(buf, sizeof(buf), &got));
	}
}

TEST(sdp_service_parse__all_queue_pairs)
{
	struct sdp_service all = { .size = 4096, .qps = SDP_SERVICE_QPS_MAX }, got;
	u8 buf[SDP_SERVICE_LEN];
	u32 i;

	for (i = 0; i < SDP_SERVICE_QPS_MAX; i++)
		all.qpn[i] = 2 + i;
	sdp_service_build(buf, &all);
	EXPECT_EQ(SDP_VALID, sdp_service_parse(buf, sizeof(buf), &got));
	for (i = 0; i < SDP_SERVICE_QPS_MAX; i++)
		EXPECT_EQ(2 + i, got.qpn[i]);
}

/* What is behind the answer does not count as the number of a fifth queue pair. */
TEST(sdp_service_parse__too_many)
{
	struct sdp_service got;
	u8 buf[SDP_SERVICE_LEN + 4] = { 0 };
	u32 i;

	sdp_service_build(buf, &two);
	for (i = 0; i <= SDP_SERVICE_QPS_MAX; i++)
		buf[8 + 4 * i + 3] = 2;
	buf[1] = SDP_SERVICE_QPS_MAX;
	EXPECT_EQ(SDP_VALID, sdp_service_parse(buf, sizeof(buf), &got));
	buf[1]++;
	EXPECT_EQ(SDP_BAD_HELLO, sdp_service_parse(buf, sizeof(buf), &got));
}

TEST_MAIN
