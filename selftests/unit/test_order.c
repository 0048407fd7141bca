// SPDX-License-Identifier: GPL-2.0
/*
 * Order of messages over several rails (D6, H1), near every wrap of the numbers.
 */
#include "order.h"
#include "test.h"

static const u32 bases[] = {
	0, 1, 0x7ffffff0U, 0x7ffffffeU, 0x7fffffffU, 0x80000000U, 0xffffff00U, 0xfffffffdU,
	0xffffffffU,
};

static void begin(struct sdp_order *o, u32 tx_seq, u32 rx_seq, u16 window)
{
	memset(o, 0, sizeof(*o));
	sdp_order_begin_tx(o, tx_seq);
	sdp_order_begin_rx(o, rx_seq);
	o->window = window;
}

/* H1: as many messages as the window has, then none before one is acknowledged. */
TEST(sdp_order_may_send__window)
{
	struct sdp_order o;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		begin(&o, bases[i], 7, 5);
		for (n = 0; sdp_order_may_send(&o); n++)
			sdp_order_sent(&o);
		EXPECT_EQ(5, n);
		EXPECT_EQ(bases[i] + 5, o.tx_seq);
		EXPECT_EQ(SDP_VALID, sdp_order_acked(&o, bases[i] + 2));
		EXPECT_TRUE(sdp_order_may_send(&o));
		sdp_order_sent(&o);
		sdp_order_sent(&o);
		EXPECT_FALSE(sdp_order_may_send(&o));
	}
}

/* Rails overtake each other: an older acknowledgment says nothing, one of the future is a lie. */
TEST(sdp_order_acked__older_and_wrong)
{
	struct sdp_order o;
	u32 i, b;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		b = bases[i];
		begin(&o, b, 7, 8);
		sdp_order_sent(&o);
		sdp_order_sent(&o);
		EXPECT_EQ(SDP_BAD_ACK, sdp_order_acked(&o, b + 3));
		EXPECT_EQ(SDP_BAD_ACK, sdp_order_acked(&o, b + 0x80000000U));
		EXPECT_EQ(b, o.tx_acked);
		EXPECT_EQ(SDP_VALID, sdp_order_acked(&o, b + 2));
		EXPECT_EQ(SDP_VALID, sdp_order_acked(&o, b + 1));
		EXPECT_EQ(SDP_VALID, sdp_order_acked(&o, b));
		EXPECT_EQ(b + 2, o.tx_acked);
	}
}

TEST(sdp_order_arrived__ahead_and_again)
{
	struct sdp_order o;
	u32 i, b;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		b = bases[i];
		begin(&o, 7, b, 4);
		EXPECT_EQ(SDP_ARRIVAL_AGAIN, sdp_order_arrived(&o, b));
		EXPECT_EQ(SDP_ARRIVAL_AHEAD, sdp_order_arrived(&o, b + 2));
		EXPECT_EQ(SDP_ARRIVAL_AHEAD, sdp_order_arrived(&o, b + 4));
		EXPECT_EQ(SDP_ARRIVAL_AGAIN, sdp_order_arrived(&o, b + 4));
		EXPECT_EQ(SDP_ARRIVAL_BEYOND, sdp_order_arrived(&o, b + 5));
		EXPECT_EQ(SDP_ARRIVAL_BEYOND, sdp_order_arrived(&o, b + 0x80000000U));
		EXPECT_FALSE(sdp_order_drain(&o));
		EXPECT_EQ(SDP_ARRIVAL_NEXT, sdp_order_arrived(&o, b + 1));
		EXPECT_TRUE(sdp_order_drain(&o));
		EXPECT_FALSE(sdp_order_drain(&o));
		EXPECT_EQ(b + 2, o.rx_seq);
		EXPECT_EQ(1, o.held);
		/* The window has moved with what was passed on. */
		EXPECT_EQ(SDP_ARRIVAL_BEYOND, sdp_order_arrived(&o, b + 7));
		EXPECT_EQ(SDP_ARRIVAL_AHEAD, sdp_order_arrived(&o, b + 6));
	}
}

/* H1: a quarter of the window, at least one message. */
TEST(sdp_order_ack_due__quarter)
{
	static const u16 windows[][2] = { { 1, 1 }, { 2, 1 }, { 4, 1 }, { 5, 2 }, { 64, 16 },
					  { 256, 64 } };
	struct sdp_order o;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		begin(&o, 0, 0xfffffffcU, windows[i][0]);
		for (n = 0; !sdp_order_ack_due(&o); n++)
			EXPECT_EQ(SDP_ARRIVAL_NEXT, sdp_order_arrived(&o, o.rx_seq + 1));
		EXPECT_EQ(windows[i][1], n);
		sdp_order_told(&o, o.rx_seq);
		EXPECT_FALSE(sdp_order_ack_due(&o));
	}
}

#define LONGEST	5

/*
 * Every order in which up to LONGEST arrivals of the next messages can come, repetitions included:
 * each message is passed on once, after those before it.
 */
static void every_arrival(TEST_CTX, const struct sdp_order *before, u32 base, u32 seen, int left)
{
	u32 n;

	for (n = 1; left && n <= 4; n++) {
		struct sdp_order o = *before;
		enum sdp_arrival got = sdp_order_arrived(&o, base + n);
		u32 now = seen | 1 << n, passed = o.rx_seq - base;

		EXPECT_EQ(seen & 1 << n ? SDP_ARRIVAL_AGAIN :
			  before->rx_seq + 1 == base + n ? SDP_ARRIVAL_NEXT : SDP_ARRIVAL_AHEAD,
			  got);
		while (got == SDP_ARRIVAL_NEXT && sdp_order_drain(&o))
			passed++;
		EXPECT_EQ(base + passed, o.rx_seq);
		/* All that has been passed on was seen, and the next one was not. */
		EXPECT_EQ((1 << (passed + 1)) - 2, now & ((1 << (passed + 1)) - 2));
		EXPECT_FALSE(now & 1 << (passed + 1));
		every_arrival(TEST_SELF, &o, base, now, left - 1);
	}
}

TEST(sdp_order_arrived__every_arrival)
{
	struct sdp_order o;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		begin(&o, 0, bases[i], 4);
		every_arrival(TEST_SELF, &o, bases[i], 0, LONGEST);
	}
}

TEST_MAIN
