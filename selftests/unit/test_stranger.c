// SPDX-License-Identifier: GPL-2.0
/*
 * SinkAvails to a source that may report a buffer once or several times.
 *
 * Wire section 8, Pipelined mode. sinkavail_rx.h describes the two kinds of sources.
 */
#include "pipelining.h"

/* A connection in Pipelined whose sink does not know how often the source reports a buffer. */
static struct world *pipelined_with_stranger(TEST_CTX)
{
	struct world *w = pipelined(TEST_SELF);

	sdp_sinkavail_rx_peer(&w->b.sinkavail_rx, 0);
	return w;
}

/* b receives RdmaWrCompl of a source that has not received our last @unheard messages. */
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

/* b receives a message of the source, which has received all of ours. */
static void says(struct world *w, u8 mid, u32 payload)
{
	receive_right(w, &w->b, mid, payload);
	sdp_engine_posted(&w->b, 1);
}

/* Supply a buffer and let the source report 1000 bytes of it. Returns the buffer's id. */
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

/* After such a report the owner has the rest cancelled. Returns the buffer's id. */
static u32 taken_back(TEST_CTX, struct world *w)
{
	u32 id = partly_written(TEST_SELF, w);
	struct sdp_actions acts = { 0 };

	sdp_engine_sinkavail_cancel(&w->b, &acts);
	EXPECT_EQ(0, acts.n);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_CANCEL);
	return id;
}

/* wire 8: one buffer at a time, so that there is no doubt which one a report is about. */
TEST(sdp_engine_sinkavail__stranger)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);

	post_buffer(TEST_SELF, w);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	EXPECT_EQ(0, sdp_engine_sinkavail(&w->b, &buffer));
}

/* wire 8: several reports fill a buffer, which ends when it is full. */
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

/* wire 8: the reports must not exceed the buffer. */
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

/* wire 8: a source that continues with the rest may do so until it has received our cancel. */
TEST(sdp_engine_receive__rest_cancelled)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = taken_back(TEST_SELF, w), next;

	/* A source that has not received the cancel may write on. */
	written_unheard(w, 500, 1);
	EXPECT_WRITTEN(w, id, 500);
	EXPECT_TRUE(w->acts.list[0].rest);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	expect_over(TEST_SELF, w, 1, id);
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	/* The answer has shown the kind of the source. */
	w = pipelined_with_stranger(TEST_SELF);
	taken_back(TEST_SELF, w);
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_TRUE(w->b.sinkavail_rx.several);
	next = partly_written(TEST_SELF, w);
	says(w, SDP_MID_DATA, 10);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_DELIVER);
	EXPECT_EQ(next, w->acts.list[0].id);
	/* C7: Data has discarded the rest, so it does not count. */
	EXPECT_EQ(N, w->b.sinkavail_rx.non_discards);
}

/*
 * wire 8: a source that was done with the buffer does not answer the cancel. Any message that
 * acknowledges the cancel ends the rest.
 */
TEST(sdp_engine_receive__rest_over)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = taken_back(TEST_SELF, w);

	says(w, SDP_MID_DATA, 0);
	expect_over(TEST_SELF, w, 1, id);
	EXPECT_TRUE(w->b.sinkavail_rx.once);
	/* It does not know SendSm with REQ_PIPE as the wish for the beginning (C10). */
	EXPECT_FALSE(sdp_engine_asks_first(&w->b));
	/* The next buffer ends with its first report. There is still only one at a time. */
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

/* wire 8: if the source stays silent for long, the owner ends the rest. */
TEST(sdp_engine_sinkavail_drop__silent_source)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = taken_back(TEST_SELF, w);

	sdp_engine_sinkavail_drop(&w->b, id + 1);
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	sdp_engine_sinkavail_drop(&w->b, id);
	EXPECT_EQ(0, sdp_engine_sinkavails_out(&w->b));
	EXPECT_EQ(0, next_mid(w, &w->b));
	id = posted_buffer(TEST_SELF, w);
	/* Only a buffer with a report can be ended by the owner. */
	sdp_engine_sinkavail_drop(&w->b, id);
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	/*
	 * The report shows that the source was done with the earlier buffer, and is done with this
	 * one.
	 */
	written(w, 2000);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_WRITTEN, SDP_ACT_SINKAVAIL_OVER);
	EXPECT_EQ(2000, w->acts.list[0].len);
	EXPECT_EQ(id, w->acts.list[1].id);
	EXPECT_TRUE(w->b.sinkavail_rx.once);
	/* The answer to the cancel was only late. */
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_NO_ACTS(w);
	EXPECT_FALSE(w->b.sinkavail_rx.once);
	EXPECT_TRUE(w->b.sinkavail_rx.several);
	says(w, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 8: a cancel that has not been sent is dropped. */
TEST(sdp_engine_sinkavail_drop__before_the_cancel)
{
	struct world *w = pipelined_with_stranger(TEST_SELF);
	u32 id = partly_written(TEST_SELF, w);
	struct sdp_actions acts = { 0 };

	sdp_engine_sinkavail_cancel(&w->b, &acts);
	sdp_engine_sinkavail_drop(&w->b, id);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(SDP_CANCEL_NONE, w->b.sinkavail_rx.cancel);
	EXPECT_FALSE(w->b.sinkavail_rx.late);
	EXPECT_NE(0, sdp_engine_may_sinkavail(&w->b));
}

/* C8, wire 8: a source that sends SrcAvail after a report was done with the buffer. */
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
 * C7: until the kind of the source is known, it is a guess whether Data behind a report counts for
 * NonDiscards. After a wrong guess the source drops the next SinkAvail, and sends a SrcAvail.
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

/* C7: a second report for a buffer also shows that an earlier guess was wrong. */
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

/* wire 8: ModeChange and DisConn end a rest, too. */
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
