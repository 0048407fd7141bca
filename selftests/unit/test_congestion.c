// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion window and retransmission timeout of connections by datagrams (I4, I5).
 */
#include "congestion.h"
#include "rto.h"
#include "test.h"

/* I5: the whole window at first, and never more. */
TEST(sdp_congestion_acked__most)
{
	struct sdp_congestion c;
	u32 i;

	sdp_congestion_init(&c, 75);
	EXPECT_EQ(75, c.packets);
	for (i = 0; i < 1000; i++)
		sdp_congestion_acked(&c, 75);
	EXPECT_EQ(75, c.packets);
	sdp_congestion_met(&c);
	for (i = 0; i < 1000; i++)
		sdp_congestion_acked(&c, 75);
	EXPECT_EQ(75, c.packets);
}

/* Half of it, then one packet more in each round trip, however the acknowledgments come. */
TEST(sdp_congestion_acked__additive)
{
	static const u32 steps[] = { 1, 2, 19, 37 };
	struct sdp_congestion c;
	u32 i, n, sum;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		sdp_congestion_init(&c, 75);
		sdp_congestion_met(&c);
		EXPECT_EQ(37, c.packets);
		/* 37 + 38 + ... + 46 packets are ten round trips. */
		for (n = 0, sum = 415; n + steps[i] <= sum; n += steps[i])
			sdp_congestion_acked(&c, steps[i]);
		sdp_congestion_acked(&c, sum - n);
		EXPECT_EQ(47, c.packets);
		EXPECT_EQ(0, c.count);
	}
}

/* Several within one acknowledgment. */
TEST(sdp_congestion_acked__small)
{
	struct sdp_congestion c;
	u32 i;

	sdp_congestion_init(&c, 75);
	for (i = 0; i < 10; i++)
		sdp_congestion_met(&c);
	EXPECT_EQ(SDP_CONGESTION_MIN, c.packets);
	/* 2 + 3 + 4, and 3 of 5. */
	sdp_congestion_acked(&c, 12);
	EXPECT_EQ(5, c.packets);
	EXPECT_EQ(3, c.count);
}

/* After a timeout it grows quickly up to half of what it was. */
TEST(sdp_congestion_timeout__quick)
{
	struct sdp_congestion c;

	sdp_congestion_init(&c, 75);
	sdp_congestion_timeout(&c);
	EXPECT_EQ(1, c.packets);
	sdp_congestion_acked(&c, 1);
	sdp_congestion_acked(&c, 2);
	EXPECT_EQ(4, c.packets);
	sdp_congestion_acked(&c, 33);
	EXPECT_EQ(37, c.packets);
	sdp_congestion_acked(&c, 36);
	EXPECT_EQ(37, c.packets);
	sdp_congestion_acked(&c, 1);
	EXPECT_EQ(38, c.packets);
	/* What is beyond the threshold counts for the slow part. */
	sdp_congestion_timeout(&c);
	sdp_congestion_acked(&c, 18 + 19);
	EXPECT_EQ(20, c.packets);
	/* Several in a row are one outage. */
	sdp_congestion_timeout(&c);
	sdp_congestion_timeout(&c);
	EXPECT_EQ(10, c.threshold);
	EXPECT_EQ(1, c.packets);
}

TEST(sdp_rto_us__bounds)
{
	struct sdp_rto r = { 0 };
	u32 i;

	EXPECT_EQ(SDP_RTO_FIRST_US, sdp_rto_us(&r));
	sdp_rto_measured(&r, 0);
	EXPECT_EQ(1, r.srtt);
	EXPECT_EQ(SDP_RTO_MIN_US, sdp_rto_us(&r));
	for (i = 0; i < 256; i++) {
		r.doubled = i;
		EXPECT_EQ(min((u64)SDP_RTO_MIN_US << min(i, 20U), (u64)SDP_RTO_MAX_US),
			  sdp_rto_us(&r));
	}
	r.doubled = 0;
	for (i = 0; i < 100; i++)
		sdp_rto_measured(&r, 0xffffffffU);
	EXPECT_EQ(SDP_RTO_MAX_US, sdp_rto_us(&r));
}

/* It follows the time, and its variation, and leaves room for an acknowledgment that waits. */
TEST(sdp_rto_measured__follows)
{
	struct sdp_rto r = { 0 };
	u32 i;

	sdp_rto_measured(&r, 40000);
	EXPECT_EQ(40000 + 4 * 20000 + SDP_ACK_DELAY_US, sdp_rto_us(&r));
	sdp_rto_measured(&r, 48000);
	EXPECT_EQ(41000, r.srtt);
	EXPECT_EQ((3 * 20000 + 8000) / 4, r.var);
	for (i = 0; i < 100; i++)
		sdp_rto_measured(&r, 30000);
	EXPECT_LE(30000, r.srtt);
	EXPECT_GE(30010, r.srtt);
	EXPECT_LE(30000 + SDP_ACK_DELAY_US, sdp_rto_us(&r));
	EXPECT_GE(30100 + SDP_ACK_DELAY_US, sdp_rto_us(&r));
	for (i = 0; i < 50; i++) {
		sdp_rto_measured(&r, 20000);
		sdp_rto_measured(&r, 40000);
	}
	EXPECT_LE(60000, sdp_rto_us(&r));
	EXPECT_GE(90000, sdp_rto_us(&r));
}

TEST_MAIN
