// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers that we advertise to a source which may report of each of them once, or several times:
 * wire section 8, Pipelined.
 */
#include "pipelining.h"

/* Both ends are in Pipelined, and the sink does not know how the source reports: wire 8 */
static struct world *pipelined_with_stranger(TEST_CTX)
{
	struct world *w = pipelined(TEST_SELF);

	sdp_sinkavail_rx_peer(&w->b.sinkavail_rx, 0);
	return w;
}

/* RdmaWrCompl of a source that has heard of all our messages but the last @unheard. */
static void written_unheard(struct world *w, u32 count, u32 unheard)
{
	struct sdp_msg m = from_peer(&w->b, SDP_MID_RDMA_WR_COMPL, 0);

	m.count = count;
	m.h.mseq_ack -= unheard;
	m.h.bufs += unheard;
	receive_msg(w, &w->b, &m);
	sdp_engine_posted(&w->b, 1);
}

static void written(struct world *w, u32 count)
{
	written_unheard(w, count, 0);
}

/* A message of the source, which has heard of all. */
static void says(struct world *w, u8 mid, u32 payload)
{
	receive_right(w, &w->b, mid, payload);
	sdp_engine_posted(&w->b, 1);
}

/* A buffer of which the source has reported 1000 bytes; its id */
static u32 partly_written(TEST_CTX, struct world *w)
{
	u32 id = posted_buffer(TEST_SELF, w);

	written(w, 1000);
	EXPECT_WRITTEN(w, id, 1000);
	EXPECT_TRUE(w->acts.list[0].rest);
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	return id;
}

/* ... and the rest is taken back. */
static u32 taken_back(TEST_CTX, struct world *w)
{
	u32 id = partly_written(TEST_SELF, w);
	struct sdp_actions acts = { 0 };

	sdp_engine_sinkavail_cancel(&w->b, &acts);
	EXPECT_EQ(0, acts.n);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_CANCEL);
	return id;
}

/* wire 8: one buffer at a time, so that there is no doubt what is reported of */
TEST(sdp_engine_advertise__stranger)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);

	post_buffer(TEST_SELF, w);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	EXPECT_EQ(0, sdp_engine_sinkavail(&w->b, &buffer));
}

/* wire 8: several reports fill a buffer, and its end is where it is full */
TEST(sdp_engine_receive__written_several_times)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = partly_written(TEST_SELF, w);

	written(w, 2999);
	EXPECT_WRITTEN(w, id, 2999);
	EXPECT_TRUE(w->acts.list[0].rest);
	written(w, 1);
	EXPECT_WRITTEN(w, id, 1);
	EXPECT_FALSE(w->acts.list[0].rest);
	EXPECT_EQ(0, sdp_engine_sinkavails_out(&w->b));
	written(w, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 8: ... and no report goes beyond */
TEST(sdp_engine_receive__written_beyond)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);

	partly_written(TEST_SELF, w);
	written(w, 3001);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_FIELD);
	w = pipelined_with_stranger(TEST_SELF);
	partly_written(TEST_SELF, w);
	written(w, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_FIELD);
}

/* wire 8: a source that goes on with the rest has it until it acknowledges our cancel */
TEST(sdp_engine_receive__rest_cancelled)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = taken_back(TEST_SELF, w), next;

	/* One that has not heard of it may write on. */
	written_unheard(w, 500, 1);
	EXPECT_WRITTEN(w, id, 500);
	EXPECT_TRUE(w->acts.list[0].rest);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	expect_over(TEST_SELF, w, 1, id);
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	/* What it is has been learnt. */
	w = pipelined_with_stranger(TEST_SELF);
	taken_back(TEST_SELF, w);
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_TRUE(w->b.sinkavail_rx.several);
	next = partly_written(TEST_SELF, w);
	says(w, SDP_MID_DATA, 10);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_DELIVER);
	EXPECT_EQ(next, w->acts.list[0].id);
	/* C7: Data has discarded the rest. */
	EXPECT_EQ(N, w->b.sinkavail_rx.non_discards);
}

/* wire 8: ... one that was done with it says nothing: any message shows that it has the cancel */
TEST(sdp_engine_receive__rest_over)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = taken_back(TEST_SELF, w);

	says(w, SDP_MID_DATA, 0);
	expect_over(TEST_SELF, w, 1, id);
	EXPECT_TRUE(w->b.sinkavail_rx.once);
	/* The next one is over with the first report, and still there is one at a time. */
	id = posted_buffer(TEST_SELF, w);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	written(w, 1);
	EXPECT_WRITTEN(w, id, 1);
	EXPECT_FALSE(w->acts.list[0].rest);
	EXPECT_EQ(0, sdp_engine_sinkavails_out(&w->b));
	w = pipelined_with_stranger(TEST_SELF);
	id = taken_back(TEST_SELF, w);
	says(w, SDP_MID_DATA, 5);
	EXPECT_ACTS(w, SDP_ACT_DELIVER, SDP_ACT_SINKAVAIL_OVER);
	EXPECT_EQ(N + 1, w->b.sinkavail_rx.non_discards);
}

/* wire 8: ... it may not say anything for long, and the owner ends it */
TEST(sdp_engine_advert_drop__silent_source)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = taken_back(TEST_SELF, w);

	sdp_engine_sinkavail_drop(&w->b, id + 1);
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	sdp_engine_sinkavail_drop(&w->b, id);
	EXPECT_EQ(0, sdp_engine_sinkavails_out(&w->b));
	EXPECT_EQ(0, offered(w, &w->b));
	id = posted_buffer(TEST_SELF, w);
	/* Only one of which there are reports. */
	sdp_engine_sinkavail_drop(&w->b, id);
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	/* The report shows that it had been done with the one before, and is with this one. */
	written(w, 2000);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_WRITTEN, SDP_ACT_SINKAVAIL_OVER);
	EXPECT_EQ(2000, w->acts.list[0].len);
	EXPECT_EQ(id, w->acts.list[1].id);
	EXPECT_TRUE(w->b.sinkavail_rx.once);
	/* Its answer was only late. */
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_NO_ACTS(w);
	EXPECT_FALSE(w->b.sinkavail_rx.once);
	EXPECT_TRUE(w->b.sinkavail_rx.several);
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 8: a cancel that has not gone yet is not needed any more */
TEST(sdp_engine_advert_drop__before_the_cancel)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = partly_written(TEST_SELF, w);
	struct sdp_actions acts = { 0 };

	sdp_engine_sinkavail_cancel(&w->b, &acts);
	sdp_engine_sinkavail_drop(&w->b, id);
	EXPECT_EQ(0, offered(w, &w->b));
	EXPECT_EQ(SDP_CANCEL_NONE, w->b.sinkavail_rx.cancel);
	EXPECT_FALSE(w->b.sinkavail_rx.late);
	EXPECT_NE(0, sdp_engine_may_sinkavail(&w->b));
}

/* C8, wire 8: a source that advertises behind a report was done with the buffer */
TEST(sdp_engine_receive__src_avail_behind_report)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = partly_written(TEST_SELF, w);

	sdp_engine_srcavail(&w->a, &region, 0);
	w->a.sinkavail_tx.n = 0;
	w->a.credit.tx_seq = w->b.credit.rx_seq;
	w->a.credit.tx_limit = w->a.credit.tx_seq + 9;
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_SRCAVAIL);
	EXPECT_EQ(id, w->acts.list[0].id);
	EXPECT_TRUE(w->b.sinkavail_rx.once);
}

/*
 * C7: whether Data behind a report is counted is a guess, until the source is known: a buffer is
 * dropped for the wrong count, and then it advertises
 */
TEST(sdp_engine_receive__counted_wrong)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	struct sdp_msg m;
	u32 id = partly_written(TEST_SELF, w);

	says(w, SDP_MID_DATA, 10);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_DELIVER);
	EXPECT_EQ(id, w->acts.list[0].id);
	EXPECT_EQ(N + 1, w->b.sinkavail_rx.non_discards);
	id = posted_buffer(TEST_SELF, w);
	m = from_peer(&w->b, SDP_MID_SRC_AVAIL, 0);
	m.src = region;
	receive_msg(w, &w->b, &m);
	sdp_engine_posted(&w->b, 1);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_SRCAVAIL);
	EXPECT_EQ(id, w->acts.list[0].id);
	EXPECT_EQ(N, w->b.sinkavail_rx.non_discards);
	EXPECT_TRUE(w->b.sinkavail_rx.several);
}

/* ... and a second report shows it as well */
TEST(sdp_engine_receive__counted_wrong_before)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);

	partly_written(TEST_SELF, w);
	says(w, SDP_MID_DATA, 10);
	partly_written(TEST_SELF, w);
	EXPECT_EQ(N + 1, w->b.sinkavail_rx.non_discards);
	written(w, 1);
	EXPECT_EQ(N, w->b.sinkavail_rx.non_discards);
}

/* wire 8: a change of the mode and the end of the stream end a rest, too */
TEST(sdp_engine_receive__rest_ends)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = partly_written(TEST_SELF, w);

	change(w, &w->b, 0x10);
	expect_over(TEST_SELF, w, 1, id);
	w = pipelined_with_stranger(TEST_SELF);
	id = partly_written(TEST_SELF, w);
	says(w, SDP_MID_DISCONN, 0);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_EOF);
	EXPECT_EQ(id, w->acts.list[0].id);
	EXPECT_EQ(0, sdp_engine_sinkavails_out(&w->b));
}

TEST_MAIN
