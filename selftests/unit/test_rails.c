// SPDX-License-Identifier: GPL-2.0
/*
 * Rails: what goes by which one, what goes again, and what has arrived (H1, H6).
 *
 * sim_rails.c simulates a whole connection.
 */
#include "rails.h"
#include "test.h"

#define SIZE	1000
#define SLOTS	4

/* Rails 0 to @n - 1 are active; our newest message is @base, which is acknowledged. */
static void begin(struct sdp_rails *r, u32 n, u32 base)
{
	u32 i;

	sdp_rails_start(r, 7, 16);
	for (i = 0; i < n; i++)
		sdp_rails_join(r, i, SLOTS);
	sdp_rails_begin(r, base, base);
}

/* Posts the next message. Returns its rail. */
static u32 post(struct sdp_rails *r)
{
	struct sdp_rails_post p;

	if (!sdp_rails_next(r, true, SIZE, &p))
		return SDP_RAIL_NONE;
	sdp_rails_posted(r, &p, SIZE, 0);
	return p.rail;
}

/* H1: two rails of the same speed get as many messages, until neither has a slot. */
TEST(sdp_rails_next__both)
{
	struct sdp_rails r;
	u32 i, n[2] = { 0 };

	begin(&r, 2, 0xfffffffdU);
	for (i = 0; i < 2 * SLOTS; i++)
		n[post(&r)]++;
	EXPECT_EQ(SLOTS, n[0]);
	EXPECT_EQ(SLOTS, n[1]);
	EXPECT_EQ(SDP_RAIL_NONE, post(&r));
	sdp_rails_completed(&r, 1, r.order.tx_seq, SIZE, 0, 10);
	EXPECT_EQ(1, post(&r));
}

/* No message is sent beyond the window, whatever the rails could take. */
TEST(sdp_rails_next__window)
{
	struct sdp_rails r;
	u32 i;

	begin(&r, 8, 100);
	for (i = 0; i < 16; i++)
		EXPECT_NE(SDP_RAIL_NONE, post(&r));
	EXPECT_EQ(SDP_RAIL_NONE, post(&r));
	EXPECT_EQ(SDP_VALID, sdp_rails_acked(&r, 101));
	EXPECT_NE(SDP_RAIL_NONE, post(&r));
}

/* A suspect rail gets nothing while another one is active, and all if it is the only one. */
TEST(sdp_rails_next__suspect)
{
	struct sdp_rails r;

	begin(&r, 2, 0);
	r.rail[0].state = SDP_RAIL_SUSPECT;
	EXPECT_EQ(1, post(&r));
	r.rail[1].slots = 0;
	EXPECT_EQ(SDP_RAIL_NONE, post(&r));
	sdp_rails_dead(&r, 1);
	EXPECT_EQ(0, post(&r));
}

/* A rail in reserve gets nothing while another one is active, not even one without a slot. */
TEST(sdp_rails_reserve__last)
{
	struct sdp_rails r;

	begin(&r, 2, 0);
	sdp_rails_reserve(&r, 0);
	EXPECT_EQ(1, post(&r));
	r.rail[1].slots = 0;
	EXPECT_EQ(SDP_RAIL_NONE, post(&r));
	r.rail[1].slots = 1;
	r.rail[1].state = SDP_RAIL_SUSPECT;
	EXPECT_EQ(0, post(&r));
	r.rail[0].state = SDP_RAIL_SUSPECT;
	EXPECT_EQ(1, post(&r));
	sdp_rails_dead(&r, 1);
	EXPECT_EQ(0, post(&r));
}

/* The engine is told of those messages before which none is missing. */
TEST(sdp_rails_completed__in_order)
{
	struct sdp_rails r;
	u32 base = 0xfffffffeU, i;

	begin(&r, 2, base);
	for (i = 0; i < 4; i++)
		post(&r);
	sdp_rails_completed(&r, 1, base + 2, SIZE, 0, 10);
	EXPECT_EQ(base, r.done);
	sdp_rails_completed(&r, 0, base + 1, SIZE, 0, 10);
	EXPECT_EQ(base + 2, r.done);
	/* An acknowledgment says that all before it has arrived. */
	sdp_rails_completed(&r, 1, base + 4, SIZE, 0, 10);
	EXPECT_EQ(SDP_VALID, sdp_rails_acked(&r, base + 3));
	EXPECT_EQ(base + 4, r.done);
	sdp_rails_completed(&r, 0, base + 3, SIZE, 0, 10);
	EXPECT_EQ(base + 4, r.done);
	EXPECT_EQ(SLOTS, r.rail[0].slots);
	EXPECT_EQ(0, r.rail[0].pending);
}

/* H6: what a dead rail had goes again by another, the oldest first, unless it is acknowledged. */
TEST(sdp_rails_dead__again)
{
	struct sdp_rails_post p;
	struct sdp_rails r;
	u32 i;

	begin(&r, 2, 10);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(i % 2, post(&r));
	/* Completed is not acknowledged: the peer may not have got at it. */
	sdp_rails_completed(&r, 0, 11, SIZE, 0, 10);
	EXPECT_EQ(3, sdp_rails_dead(&r, 0));
	EXPECT_EQ(0, sdp_rails_dead(&r, 0));
	EXPECT_TRUE(sdp_rails_next(&r, true, SIZE, &p));
	EXPECT_EQ(11, p.seq);
	EXPECT_EQ(1, p.rail);
	EXPECT_EQ(SDP_VALID, sdp_rails_acked(&r, 12));
	EXPECT_TRUE(sdp_rails_next(&r, false, 0, &p));
	EXPECT_EQ(13, p.seq);
	sdp_rails_posted(&r, &p, SIZE, 0);
	EXPECT_EQ(1, r.again);
	EXPECT_EQ(SDP_VALID, sdp_rails_acked(&r, 16));
	EXPECT_EQ(0, r.again);
	EXPECT_FALSE(sdp_rails_next(&r, false, 0, &p));
}

/* The first rail cannot be spared before what went by it alone is acknowledged; nor the last. */
TEST(sdp_rails_may_spare__unkept)
{
	struct sdp_rails r;

	sdp_rails_start(&r, 7, 16);
	sdp_rails_join(&r, 0, SLOTS);
	sdp_rails_join(&r, 1, SLOTS);
	sdp_rails_begin(&r, 20, 18);
	EXPECT_FALSE(sdp_rails_may_spare(&r, 0));
	EXPECT_TRUE(sdp_rails_may_spare(&r, 1));
	EXPECT_EQ(SDP_VALID, sdp_rails_acked(&r, 19));
	EXPECT_FALSE(sdp_rails_may_spare(&r, 0));
	EXPECT_EQ(SDP_VALID, sdp_rails_acked(&r, 20));
	EXPECT_TRUE(sdp_rails_may_spare(&r, 0));
	sdp_rails_dead(&r, 0);
	EXPECT_TRUE(sdp_rails_may_spare(&r, 0));
	EXPECT_FALSE(sdp_rails_may_spare(&r, 1));
}

/* A rail without progress is suspected, and given up after a second; the last one never. */
TEST(sdp_rails_check__late)
{
	struct sdp_rails r;

	begin(&r, 2, 0);
	post(&r);
	EXPECT_EQ(SDP_RAIL_NONE, sdp_rails_check(&r, SDP_RAIL_SUSPECT_US));
	EXPECT_EQ(SDP_RAIL_SUSPECT, r.rail[0].state);
	EXPECT_EQ(SDP_RAIL_ACTIVE, r.rail[1].state);
	EXPECT_EQ(0, sdp_rails_check(&r, SDP_RAIL_DEAD_US));
	sdp_rails_dead(&r, 0);
	EXPECT_EQ(1, post(&r));
	EXPECT_EQ(SDP_RAIL_NONE, sdp_rails_check(&r, 2 * SDP_RAIL_DEAD_US));
	EXPECT_EQ(SDP_RAIL_SUSPECT, r.rail[1].state);
	/* Nor one in reserve, unless the others go on. */
	begin(&r, 2, 0);
	sdp_rails_reserve(&r, 0);
	r.rail[1].state = SDP_RAIL_SUSPECT;
	EXPECT_EQ(0, post(&r));
	EXPECT_EQ(SDP_RAIL_NONE, sdp_rails_check(&r, SDP_RAIL_DEAD_US));
	r.rail[1].state = SDP_RAIL_ACTIVE;
	EXPECT_EQ(0, sdp_rails_check(&r, SDP_RAIL_DEAD_US));
}

/* After a standstill of this host no rail is late. */
TEST(sdp_rails_excuse__all)
{
	struct sdp_rails r;

	begin(&r, 2, 0);
	post(&r);
	sdp_rails_excuse(&r, SDP_RAIL_DEAD_US);
	EXPECT_EQ(SDP_RAIL_NONE, sdp_rails_check(&r, SDP_RAIL_DEAD_US + 1));
	EXPECT_EQ(SDP_RAIL_ACTIVE, r.rail[0].state);
}

/* Without a rail nothing is posted, and what was not posted cannot be acknowledged. */
TEST(sdp_rails_next__none)
{
	struct sdp_rails r;

	begin(&r, 1, 0);
	EXPECT_EQ(SDP_BAD_ACK, sdp_rails_acked(&r, 1));
	sdp_rails_dead(&r, 0);
	EXPECT_EQ(SDP_RAIL_NONE, post(&r));
}

/* Acknowledgments by themselves: a quarter of the window, or idle, or lost with a rail. */
TEST(sdp_rails_ack_due__reasons)
{
	struct sdp_rails r;
	u32 i;

	begin(&r, 2, 0);
	EXPECT_TRUE(sdp_rails_ack_due(&r, false));
	sdp_rails_told(&r, 7);
	EXPECT_FALSE(sdp_rails_ack_due(&r, true));
	for (i = 8; i < 11; i++)
		sdp_order_arrived(&r.order, i);
	EXPECT_FALSE(sdp_rails_ack_due(&r, false));
	EXPECT_TRUE(sdp_rails_ack_due(&r, true));
	sdp_order_arrived(&r.order, 11);
	EXPECT_TRUE(sdp_rails_ack_due(&r, false));
	sdp_rails_told(&r, 11);
	EXPECT_FALSE(sdp_rails_ack_due(&r, true));
	sdp_rails_dead(&r, 1);
	EXPECT_TRUE(sdp_rails_ack_due(&r, false));
	/* A message that goes again says less. */
	sdp_rails_told(&r, 9);
	EXPECT_TRUE(sdp_rails_ack_due(&r, false));
	sdp_rails_told(&r, 11);
	EXPECT_FALSE(sdp_rails_ack_due(&r, false));
}

TEST_MAIN
