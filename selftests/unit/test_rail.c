// SPDX-License-Identifier: GPL-2.0
/*
 * Rails: speed, health and choice (H1).
 */
#include "rail.h"
#include "test.h"

#define SIZE	16384

static void active(struct sdp_rail *r)
{
	sdp_rail_init(r, 64);
	sdp_rail_joined(r);
}

/* Moves messages one after the other, each of which takes @us. Returns the time. */
static u32 moves(struct sdp_rail *r, u32 n, u32 bytes, u32 us, u32 now)
{
	while (n--) {
		sdp_rail_sent(r, bytes, now);
		now += us;
		sdp_rail_completed(r, bytes, us, now);
	}
	return now;
}

/* The speed is that of the time in which the rail was busy, also in bursts and near the wrap. */
TEST(sdp_rail_completed__speed)
{
	static const u32 begins[] = { 0, 0x7fffff00U, 0xffffff00U };
	struct sdp_rail r;
	u32 i, k, now;

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		active(&r);
		now = begins[i];
		for (k = 0; k < 200; k++)
			now = moves(&r, 5, SIZE, 250, now) + 100000;
		/* 16 KiB in 250 us are 65536 bytes in a millisecond. */
		EXPECT_LT(60000, r.speed);
		EXPECT_LT(r.speed, 70000);
		EXPECT_LT(220, r.srtt);
		EXPECT_LE(r.srtt, 250);
		EXPECT_EQ(0, r.pending);
	}
}

/* A very slow and a very fast rail have a speed, too. */
TEST(sdp_rail_completed__extremes)
{
	struct sdp_rail r;

	active(&r);
	moves(&r, 200, 1, 900000, 0);
	EXPECT_LE(1, r.speed);
	EXPECT_LT(r.speed, 10);
	active(&r);
	moves(&r, 5000, 1 << 20, 1, 0);
	EXPECT_LT(500000000, r.speed);
}

/* Messages are spread in proportion to the speeds. */
TEST(sdp_rail_choose__in_proportion)
{
	struct sdp_rail rails[3];
	u32 i, r, n[3] = { 0 };

	for (i = 0; i < 3; i++)
		active(&rails[i]);
	rails[0].speed = 1000;
	rails[1].speed = 3000;
	rails[2].speed = 2000;
	for (i = 0; i < 3; i++)
		rails[i].sure = true;
	for (i = 0; i < 60; i++) {
		r = sdp_rail_choose(rails, 3, SIZE, SDP_RAIL_ACTIVE, false);
		sdp_rail_sent(&rails[r], SIZE, 0);
		n[r]++;
	}
	EXPECT_LE(9, n[0]);
	EXPECT_LE(n[0], 11);
	EXPECT_LE(29, n[1]);
	EXPECT_LE(n[1], 31);
}

/*
 * A rail that has never been busy all the time has shown how fast it is at least. It is taken for
 * as fast as the fastest one, so that it gets the chance to show more.
 */
TEST(sdp_rail_choose__not_sure)
{
	struct sdp_rail rails[2];
	u32 i, now = 0;

	active(&rails[0]);
	active(&rails[1]);
	rails[0].speed = 100000;
	rails[0].sure = true;
	moves(&rails[1], 10, SIZE, 10000, now);
	EXPECT_LT(rails[1].speed, 2000);
	sdp_rail_sent(&rails[0], SIZE, now);
	EXPECT_EQ(1, sdp_rail_choose(rails, 2, SIZE, SDP_RAIL_ACTIVE, false));
	/* Now it is busy all the time, and slow. */
	sdp_rail_sent(&rails[1], SIZE, now);
	for (i = 0; i < 10; i++) {
		sdp_rail_sent(&rails[1], SIZE, now);
		now += 10000;
		sdp_rail_completed(&rails[1], SIZE, 20000, now);
	}
	EXPECT_TRUE(rails[1].sure);
	sdp_rail_completed(&rails[1], SIZE, 20000, now);
	sdp_rail_late(&rails[1], now + 50000);
	EXPECT_EQ(0, sdp_rail_choose(rails, 2, SIZE, SDP_RAIL_ACTIVE, false));
	/* But not for ever. */
	sdp_rail_late(&rails[1], now + 100000);
	EXPECT_EQ(1, sdp_rail_choose(rails, 2, SIZE, SDP_RAIL_ACTIVE, false));
}

/*
 * One message at a time keeps no rail busy. It goes by the rail with the shortest round trip; each
 * one is tried at first, and again when it has had nothing to do for long.
 */
TEST(sdp_rail_choose__one_at_a_time)
{
	static const u32 took[3] = { 3000, 1000, 2000 };
	u32 i, r, n[3] = { 0 }, now = 0, last[3] = { 0 }, longest = 0;
	struct sdp_rail rails[3];

	for (i = 0; i < 3; i++)
		active(&rails[i]);
	for (i = 0; i < 1000; i++) {
		r = sdp_rail_choose(rails, 3, SIZE, SDP_RAIL_ACTIVE, false);
		sdp_rail_sent(&rails[r], SIZE, now);
		now += took[r];
		sdp_rail_completed(&rails[r], SIZE, took[r], now);
		longest = max(longest, now - last[r]);
		last[r] = now;
		n[r]++;
		for (r = 0; r < 3; r++)
			EXPECT_FALSE(sdp_rail_late(&rails[r], now));
	}
	EXPECT_LE(900, n[1]);
	EXPECT_LE(5, n[0]);
	EXPECT_LE(5, n[2]);
	EXPECT_LE(longest, 120000);
}

/* No message goes by a rail without a slot, or in another state. */
TEST(sdp_rail_choose__not_free)
{
	struct sdp_rail rails[2];

	active(&rails[0]);
	active(&rails[1]);
	sdp_rail_dead(&rails[0]);
	EXPECT_EQ(1, sdp_rail_choose(rails, 2, 1, SDP_RAIL_ACTIVE, false));
	rails[1].slots = 0;
	EXPECT_EQ(2, sdp_rail_choose(rails, 2, 1, SDP_RAIL_ACTIVE, false));
	sdp_rail_init(&rails[1], 64);
	EXPECT_EQ(2, sdp_rail_choose(rails, 2, 1, SDP_RAIL_ACTIVE, false));
	EXPECT_EQ(2, sdp_rail_choose(rails, 2, 1, SDP_RAIL_SUSPECT, false));
}

/* Without progress a rail is suspected, and is late after a second. */
TEST(sdp_rail_late__health)
{
	struct sdp_rail r;
	u32 now = 0xfffff000U;

	active(&r);
	now = moves(&r, 100, SIZE, 10000, now);
	EXPECT_FALSE(sdp_rail_late(&r, now + 10 * SDP_RAIL_DEAD_US));
	sdp_rail_sent(&r, SIZE, now);
	EXPECT_FALSE(sdp_rail_late(&r, now + 2 * r.srtt));
	EXPECT_EQ(SDP_RAIL_ACTIVE, r.state);
	EXPECT_FALSE(sdp_rail_late(&r, now + 3 * r.srtt));
	EXPECT_EQ(SDP_RAIL_SUSPECT, r.state);
	now += 4 * r.srtt;
	sdp_rail_completed(&r, SIZE, 4 * r.srtt, now);
	EXPECT_EQ(SDP_RAIL_ACTIVE, r.state);
	sdp_rail_sent(&r, SIZE, now);
	EXPECT_FALSE(sdp_rail_late(&r, now + SDP_RAIL_DEAD_US - 1));
	EXPECT_EQ(SDP_RAIL_SUSPECT, r.state);
	EXPECT_TRUE(sdp_rail_late(&r, now + SDP_RAIL_DEAD_US));
	sdp_rail_dead(&r);
	EXPECT_FALSE(sdp_rail_late(&r, now + SDP_RAIL_DEAD_US));
}

TEST_MAIN
