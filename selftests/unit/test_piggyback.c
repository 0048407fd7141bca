// SPDX-License-Identifier: GPL-2.0
/*
 * SinkAvail that waits to travel with the request for the data (C6).
 *
 * piggyback.h, and the engine's use of it.
 */
#include "pipelining.h"

static struct sdp_piggyback ride_of(u16 after)
{
	struct sdp_piggyback r;

	sdp_piggyback_init(&r, after);
	return r;
}

/*
 * One exchange: a buffer, a request in message @seq, and an answer of a peer that has received
 * @ack.
 */
static void exchange(struct sdp_piggyback *r, u32 seq, u32 ack)
{
	sdp_piggyback_posted(r);
	sdp_piggyback_sent(r, seq);
	sdp_piggyback_answered(r, ack);
}

/* N exchanges in a row are needed. */
TEST(sdp_piggyback_answered__in_a_row)
{
	struct sdp_piggyback r = ride_of(N);

	exchange(&r, 1, 1);
	exchange(&r, 2, 2);
	sdp_piggyback_posted(&r);
	EXPECT_FALSE(sdp_piggyback_waits(&r));
	sdp_piggyback_sent(&r, 3);
	sdp_piggyback_answered(&r, 7);
	sdp_piggyback_posted(&r);
	EXPECT_TRUE(sdp_piggyback_waits(&r));
	sdp_piggyback_sent(&r, 4);
	EXPECT_FALSE(sdp_piggyback_waits(&r));
}

/*
 * An answer without a request, or from a peer that has not received the request, starts the count
 * again.
 */
TEST(sdp_piggyback_answered__unasked)
{
	struct sdp_piggyback r = ride_of(N);

	exchange(&r, 1, 1);
	exchange(&r, 2, 2);
	sdp_piggyback_posted(&r);
	sdp_piggyback_answered(&r, 2);
	EXPECT_EQ(0, r.row);
	exchange(&r, 3, 3);
	exchange(&r, 4, 4);
	exchange(&r, 6, 5);
	EXPECT_EQ(0, r.row);
	EXPECT_FALSE(r.holds);
}

/* Sequence numbers wrap. */
TEST(sdp_piggyback_answered__wrap)
{
	struct sdp_piggyback r = ride_of(1);

	exchange(&r, 1, 0xffffffff);
	EXPECT_FALSE(r.holds);
	exchange(&r, 0xffffffff, 1);
	EXPECT_TRUE(r.holds);
}

/* After a wrong guess the next one needs twice as many exchanges, up to a limit. */
TEST(sdp_piggyback_came__doubles)
{
	struct sdp_piggyback r = ride_of(1);
	u32 i, n;

	for (n = 1; n <= 1024; n *= 2) {
		for (i = 0; i < n; i++) {
			EXPECT_FALSE(r.holds);
			exchange(&r, i, i);
		}
		sdp_piggyback_posted(&r);
		EXPECT_TRUE(sdp_piggyback_waits(&r));
		sdp_piggyback_came(&r);
		EXPECT_FALSE(sdp_piggyback_waits(&r));
	}
	EXPECT_EQ(1024, r.needed);
}

/* After a request any data may come, and tells nothing. */
TEST(sdp_piggyback_came__asked)
{
	struct sdp_piggyback r = ride_of(1);

	exchange(&r, 1, 1);
	sdp_piggyback_posted(&r);
	sdp_piggyback_sent(&r, 2);
	sdp_piggyback_came(&r);
	EXPECT_TRUE(r.holds);
}

/* 0 means never. */
TEST(sdp_piggyback_init__never)
{
	struct sdp_piggyback r = ride_of(0);
	u32 i;

	for (i = 0; i < 100; i++)
		exchange(&r, i, i);
	sdp_piggyback_posted(&r);
	EXPECT_FALSE(sdp_piggyback_waits(&r));
}

static const struct sdp_tx_view nothing, request = { .head_bytes = 5 };

/* A connection whose reader supplies its buffer before it asks, and has just supplied one. */
static struct world *kept(TEST_CTX)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++) {
		posted_buffer(TEST_SELF, w);
		pass(w, &w->b, &w->a, SDP_MID_DATA, 5);
		write_bytes(TEST_SELF, w, 1000);
		tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	}
	completed(w, &w->b, w->b.send_slots < 100 ? 100 - w->b.send_slots : 0);
	post_buffer(TEST_SELF, w);
	return w;
}

/* SinkAvail travels with the request in one message. */
TEST(sdp_engine_next__kept_for_the_request)
{
	struct world *w = kept(TEST_SELF);

	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->b, &nothing, &w->tx));
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &request, &w->tx));
	EXPECT_EQ(SDP_MID_SINK_AVAIL, w->tx.mid);
	EXPECT_EQ(5, w->tx.payload_max);
	receive_bytes(w, &w->a, w->buf, emit_srcavail_arrived(w, &w->b));
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	write_bytes(TEST_SELF, w, 1000);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	post_buffer(TEST_SELF, w);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->b, &nothing, &w->tx));
}

/* A request that leaves no room for SinkAvail goes first, and SinkAvail follows at once. */
TEST(sdp_engine_next__kept_no_room)
{
	static const struct sdp_tx_view large = { .head_bytes = PAYLOAD_MAX, .head_full = true };
	struct world *w = kept(TEST_SELF);

	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &large, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	receive_bytes(w, &w->a, w->buf, emit_srcavail_arrived(w, &w->b));
	sdp_engine_posted(&w->a, 1);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
}

/*
 * A peer that sends unasked gets the waiting SinkAvail as an answer to its SrcAvail (C8). The next
 * SinkAvail does not wait.
 */
TEST(sdp_engine_next__kept_in_vain)
{
	struct world *w = kept(TEST_SELF);

	sdp_engine_srcavail(&w->a, &region, 0);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_EQ(2 * N, w->b.piggyback.needed);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
	EXPECT_ACT(w, SDP_ACT_SRCAVAIL_OVER);
	write_bytes(TEST_SELF, w, 1000);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	posted_buffer(TEST_SELF, w);
}

/* A peer that sends Data unasked gets the waiting SinkAvail at once, too. */
TEST(sdp_engine_next__kept_and_data_came)
{
	struct world *w = kept(TEST_SELF);

	pass(w, &w->a, &w->b, SDP_MID_DATA, 5);
	EXPECT_FALSE(w->b.piggyback.holds);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
}

/* After shutdown no request will come, so SinkAvail does not wait. */
TEST(sdp_engine_next__kept_until_shutdown)
{
	struct world *w = kept(TEST_SELF);

	sdp_engine_shutdown(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
}

/* A cancel of a SinkAvail that was not sent needs no message. */
TEST(sdp_engine_sinkavail_cancel__kept)
{
	struct world *w = kept(TEST_SELF);

	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	EXPECT_ACT(w, SDP_ACT_SINKAVAIL_OVER);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->b, &nothing, &w->tx));
}

TEST_MAIN
