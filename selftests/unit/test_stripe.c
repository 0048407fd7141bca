// SPDX-License-Identifier: GPL-2.0
/*
 * A large transfer in pieces over rails (H1): who gets which piece, and what happens when a rail
 * does not move its own.
 */
#include "stripe.h"
#include "test.h"

#define KB	1024U
#define MOST	(1U << 20)

static struct sdp_stripe s;
static u32 seed;
static u8 moved[MOST / 64];

static u32 draw(u32 below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* A rail that takes part alone has no reason to move less than all. */
TEST(sdp_stripe_take__alone)
{
	sdp_stripe_begin(&s, MOST, 0x10, MOST);
	EXPECT_FALSE(sdp_stripe_take(&s, 0));
	EXPECT_TRUE(sdp_stripe_take(&s, 4));
	EXPECT_EQ(0, s.piece[4].at);
	EXPECT_EQ(MOST, s.piece[4].len);
	EXPECT_FALSE(sdp_stripe_take(&s, 4));
	sdp_stripe_moved(&s, 4);
	EXPECT_TRUE(sdp_stripe_complete(&s));
	EXPECT_FALSE(sdp_stripe_take(&s, 4));
	/* But no more than may be moved at once. */
	sdp_stripe_begin(&s, MOST, 0x10, SDP_STRIPE_MAX);
	EXPECT_TRUE(sdp_stripe_take(&s, 4));
	EXPECT_EQ(SDP_STRIPE_MAX, s.piece[4].len);
}

/* Pieces have bounds, begin at whole units, and become smaller. */
TEST(sdp_stripe_take__sizes)
{
	u32 last = SDP_STRIPE_MAX;

	sdp_stripe_begin(&s, MOST - 100, 0x3, SDP_STRIPE_MAX);
	while (sdp_stripe_take(&s, 1)) {
		EXPECT_EQ(0, s.piece[1].at % SDP_STRIPE_UNIT);
		EXPECT_LE(s.piece[1].len, last);
		if (s.next < s.len)
			EXPECT_LE(SDP_STRIPE_MIN, s.piece[1].len);
		last = s.piece[1].len;
		sdp_stripe_moved(&s, 1);
	}
	EXPECT_TRUE(sdp_stripe_complete(&s));
	EXPECT_LE(last, SDP_STRIPE_MIN);
	/* Two rails have one piece each of 64 KiB, and one rail all of less than a piece. */
	sdp_stripe_begin(&s, 64 * KB, 0x3, SDP_STRIPE_MAX);
	EXPECT_TRUE(sdp_stripe_take(&s, 0));
	EXPECT_EQ(32 * KB, s.piece[0].len);
	sdp_stripe_begin(&s, 5000, 0x3, SDP_STRIPE_MAX);
	EXPECT_TRUE(sdp_stripe_take(&s, 1));
	EXPECT_EQ(5000, s.piece[1].len);
	EXPECT_FALSE(sdp_stripe_take(&s, 0));
}

/* A piece that was given back goes to another rail, before anything new. */
TEST(sdp_stripe_failed__to_another_rail)
{
	sdp_stripe_begin(&s, MOST, 0x3, SDP_STRIPE_MAX);
	EXPECT_TRUE(sdp_stripe_take(&s, 0));
	EXPECT_FALSE(sdp_stripe_take(&s, 0));
	EXPECT_TRUE(sdp_stripe_take(&s, 1));
	sdp_stripe_failed(&s, 0, false);
	EXPECT_FALSE(sdp_stripe_take(&s, 0));
	sdp_stripe_moved(&s, 1);
	EXPECT_TRUE(sdp_stripe_take(&s, 1));
	EXPECT_EQ(0, s.piece[1].at);
	/* It can fail there, too, and be tried once more. */
	sdp_stripe_failed(&s, 1, true);
	EXPECT_TRUE(sdp_stripe_take(&s, 1));
	EXPECT_EQ(0, s.piece[1].at);
	sdp_stripe_moved(&s, 1);
	while (sdp_stripe_take(&s, 1))
		sdp_stripe_moved(&s, 1);
	EXPECT_TRUE(sdp_stripe_complete(&s));
	EXPECT_EQ(MOST, s.moved);
}

/* Mark a piece as moved. Each byte is moved once; all pieces are of 64 bytes, but the last. */
static void mark(TEST_CTX, u32 rail)
{
	u32 at;

	for (at = s.piece[rail].at; at < s.piece[rail].at + s.piece[rail].len; at += 64)
		EXPECT_EQ(1, ++moved[at / 64]);
}

/* One transfer of random length, by random rails that fail at random. */
static void transfer(TEST_CTX)
{
	u32 rail, turns = 0;

	memset(moved, 0, sizeof(moved));
	sdp_stripe_begin(&s, 64 * (1 + draw(MOST / 64)), 1 + draw(255), SDP_STRIPE_MAX);
	while (s.rails && !sdp_stripe_complete(&s)) {
		rail = draw(SDP_RAILS_MAX);
		EXPECT_LT(++turns, 100000);
		EXPECT_LE(s.n_back, SDP_RAILS_MAX);
		if (!(s.busy >> rail & 1)) {
			sdp_stripe_take(&s, rail);
		} else if (draw(8)) {
			mark(TEST_SELF, rail);
			sdp_stripe_moved(&s, rail);
		} else {
			sdp_stripe_failed(&s, rail, draw(2));
		}
	}
	/* Without rails something may be left; else each byte has been moved. */
	for (rail = 0; sdp_stripe_complete(&s) && rail < s.len / 64; rail++)
		EXPECT_EQ(1, moved[rail]);
}

TEST(sdp_stripe__each_byte_once)
{
	u32 i;

	seed = 1;
	for (i = 0; i < 2000; i++)
		transfer(TEST_SELF);
}

/*
 * Two rails, the second one three times as fast: it moves three quarters within a tenth, and
 * neither of them waits long for the other at the end.
 */
TEST(sdp_stripe__in_proportion)
{
	u64 ends[2] = { 0, 0 }, now = 0;
	static const u32 cost[] = { 3, 1 };
	u32 bytes[2] = { 0, 0 }, i;

	sdp_stripe_begin(&s, MOST, 0x3, SDP_STRIPE_MAX);
	for (i = 0; i < 2; i++) {
		EXPECT_TRUE(sdp_stripe_take(&s, i));
		ends[i] = (u64)s.piece[i].len * cost[i];
	}
	while (s.busy) {
		i = !(s.busy & 1) || ((s.busy & 2) && ends[1] < ends[0]);
		now = ends[i];
		bytes[i] += s.piece[i].len;
		sdp_stripe_moved(&s, i);
		if (sdp_stripe_take(&s, i))
			ends[i] = now + (u64)s.piece[i].len * cost[i];
	}
	EXPECT_TRUE(sdp_stripe_complete(&s));
	EXPECT_LT(MOST / 4 * 9 / 10, bytes[0]);
	EXPECT_LT(bytes[0], MOST / 4 * 11 / 10);
	/* All of it at the sum of both speeds would take MOST * 3 / 4. */
	EXPECT_LT(now, (u64)MOST * 3 / 4 * 11 / 10);
}

TEST_MAIN
