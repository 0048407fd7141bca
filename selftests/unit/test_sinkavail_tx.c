// SPDX-License-Identifier: GPL-2.0
/*
 * SinkAvails that our sending half receives, and the RDMA writes into them.
 *
 * Requirements B4, C5, C7, C8 and wire section 8.
 */
#include "pipelining.h"

static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };

/* A SinkAvail that a peer could send to a. */
static struct sdp_msg avail(const struct world *w, u32 non_discards)
{
	struct sdp_msg m = from_peer(&w->a, SDP_MID_SINK_AVAIL, 0);

	m.sink = buffer;
	m.non_discards = non_discards;
	return m;
}

/* B4: the oldest buffer is written once, and nothing is sent before its report. */
TEST(sdp_engine_rdma_write__reports)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_region to;

	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
	EXPECT_FALSE(sdp_engine_rdma_write(&w->a, 1, &to));
	posted_buffer(TEST_SELF, w);
	posted_buffer(TEST_SELF, w);
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	EXPECT_FALSE(sdp_engine_rdma_write(&w->a, 0, &to));
	EXPECT_FALSE(sdp_engine_rdma_write(&w->a, 4001, &to));
	EXPECT_EQ(0, next_mid(w, &w->a));
	write_bytes(TEST_SELF, w, 3000);
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
	EXPECT_FALSE(sdp_engine_rdma_write(&w->a, 1, &to));
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(SDP_MID_RDMA_WR_COMPL, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	EXPECT_EQ(20, emit_srcavail_arrived(w, &w->a));
	EXPECT_EQ(3000, w->sent.count);
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* D5: RdmaWrCompl may use the last credit if it grants one. Nothing goes before it. */
TEST(sdp_engine_rdma_write__credit)
{
	struct world *w = pipelined(TEST_SELF);

	posted_buffer(TEST_SELF, w);
	write_bytes(TEST_SELF, w, 3000);
	sdp_engine_shutdown(&w->a);
	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	w->a.credit.posted = w->a.credit.theirs;
	EXPECT_NE(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(0, next_mid(w, &w->a));
	w->a.credit.posted++;
	EXPECT_EQ(SDP_MID_RDMA_WR_COMPL, next_mid(w, &w->a));
	w->a.credit.posted--;
	w->a.credit.tx_limit++;
	EXPECT_EQ(SDP_MID_RDMA_WR_COMPL, next_mid(w, &w->a));
	emit_srcavail_arrived(w, &w->a);
	w->a.credit.tx_limit++;
	EXPECT_EQ(SDP_MID_DISCONN, next_mid(w, &w->a));
}

/* No write into a buffer after shutdown or abort. */
TEST(sdp_engine_may_rdma_write__states)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_region to;

	posted_buffer(TEST_SELF, w);
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
	EXPECT_FALSE(sdp_engine_rdma_write(&w->a, 1, &to));
	w = pipelined(TEST_SELF);
	posted_buffer(TEST_SELF, w);
	aborted(w, &w->a, EIO);
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
}

/* In Pipelined, SrcAvail is allowed only without a buffer of the peer, and carries no data. */
TEST(sdp_engine_may_srcavail__pipelined)
{
	struct world *w = pipelined(TEST_SELF);

	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	EXPECT_EQ(0, sdp_engine_srcavail_inline_max(&w->a));
	EXPECT_EQ(RECV_SIZE - 32, sdp_engine_srcavail_inline_max(&w->b));
	posted_buffer(TEST_SELF, w);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	w = pipelined(TEST_SELF);
	srcavail(TEST_SELF, w);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL, LEN);
	EXPECT_EQ(32, w->msg.h.len);
	EXPECT_EQ(N, w->a.sinkavail_tx.non_discards);
	EXPECT_EQ(N, w->b.sinkavail_rx.non_discards);
}

/* wire 8: SrcAvail must carry payload in Combined, and none in Pipelined. */
TEST(sdp_engine_receive__src_avail_payload)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_msg m = from_peer(&w->b, SDP_MID_SRC_AVAIL, 1);

	m.src = region;
	receive_msg(w, &w->b, &m);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_PAYLOAD);
	w = learners(TEST_SELF);
	m = from_peer(&w->b, SDP_MID_SRC_AVAIL, 0);
	m.src = region;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_PAYLOAD);
}

/* wire 8: only one SrcAvail at a time in Pipelined, although several SinkAvails are legal. */
TEST(sdp_engine_receive__second_src_avail)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_msg m;

	srcavail(TEST_SELF, w);
	m = from_peer(&w->b, SDP_MID_SRC_AVAIL, 0);
	m.src = region;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* C8: SinkAvail also ends a SrcAvail that has not been sent. */
TEST(sdp_engine_srcavail__overtaken)
{
	struct world *w = pipelined(TEST_SELF);

	sdp_engine_srcavail(&w->a, &region, 0);
	posted_buffer(TEST_SELF, w);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, 0);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
}

/* C8: bytes that the peer has read before its SinkAvail stay valid. Other sinks do this. */
TEST(sdp_engine_srcavail__overtaken_after_a_part)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_msg m;

	srcavail(TEST_SELF, w);
	report(w, &w->a, 100);
	m = avail(w, N);
	receive_msg(w, &w->a, &m);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, 100);
	EXPECT_TRUE(w->acts.list[0].crossed);
}

/* A SrcAvail that was declined before has not crossed a SinkAvail. */
TEST(sdp_engine_srcavail__refused_after_a_part)
{
	struct world *w = pipelined(TEST_SELF);

	srcavail(TEST_SELF, w);
	report(w, &w->a, 100);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, 100);
	EXPECT_FALSE(w->acts.list[0].crossed);
}

/* a receives @m from a peer that had received a's messages up to @ack. */
static void heard_from(struct world *w, struct sdp_msg *m, u32 ack)
{
	m->h.bufs = 50;
	m->h.mseq_ack = ack;
	receive_msg(w, &w->a, m);
	sdp_engine_posted(&w->a, 1);
}

static void answered_late(struct world *w, u32 ack)
{
	struct sdp_msg m = from_peer(&w->a, SDP_MID_SENDSM, 0);

	heard_from(w, &m, ack);
}

/*
 * wire 8, C8: two SrcAvails in a row lose against SinkAvails, and the peer still answers both
 * cancels.
 */
TEST(sdp_srcavail_tx_declined__two_late)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i, cancels[2], before = w->a.credit.tx_seq;
	struct sdp_region to;
	struct sdp_msg m;

	for (i = 0; i < 2; i++) {
		sdp_engine_srcavail(&w->a, &region, 0);
		emit(w, &w->a, SDP_MID_SRC_AVAIL, 0);
		sdp_engine_srcavail_cancel(&w->a);
		emit(w, &w->a, SDP_MID_SRC_CANCEL, 0);
		cancels[i] = w->sent.h.mseq;
		m = avail(w, N);
		heard_from(w, &m, before);
		EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, 0);
		EXPECT_TRUE(sdp_engine_rdma_write(&w->a, 10, &to));
		emit(w, &w->a, SDP_MID_RDMA_WR_COMPL, 0);
	}
	answered_late(w, cancels[0]);
	EXPECT_NO_ACTS(w);
	answered_late(w, cancels[1]);
	EXPECT_NO_ACTS(w);
	answered_late(w, cancels[1]);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* C7: a SinkAvail whose NonDiscards differs from our count is dropped. */
TEST(sdp_engine_receive__stale_avail)
{
	static const u32 counts[] = { 0, N - 1, N + 1, 0xffffffff };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct world *w = pipelined(TEST_SELF);
		struct sdp_msg m = avail(w, counts[i]);

		receive_msg(w, &w->a, &m);
		EXPECT_NO_ACTS(w);
		EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
		EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
		EXPECT_EQ(1, w->a.sinkavail_tx.stale);
		emit(w, &w->a, SDP_MID_DATA, 1);
		EXPECT_EQ(N + 1, w->a.sinkavail_tx.non_discards);
	}
}

/* wire 3, 8: more SinkAvails than we have stated in our Hello. Any length is legal. */
TEST(sdp_engine_receive__too_many_avail)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_msg m;
	u32 i;

	w->a.credit.rx_limit += 10;
	for (i = 0; i < SDP_SINKAVAILS_MAX; i++) {
		m = avail(w, N);
		m.sink.len = i + 1;
		receive_msg(w, &w->a, &m);
		sdp_engine_posted(&w->a, 1);
		EXPECT_NO_ACTS(w);
		EXPECT_EQ(1, sdp_engine_may_rdma_write(&w->a));
	}
	m = avail(w, N + 1);
	receive_msg(w, &w->a, &m);
	sdp_engine_posted(&w->a, 1);
	EXPECT_NO_ACTS(w);
	m = avail(w, N);
	receive_msg(w, &w->a, &m);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/*
 * wire 8: SinkAvail and its cancel are legal in Pipelined only. They are ignored if the peer could
 * not know that we have left Pipelined.
 */
TEST(sdp_engine_receive__avail_in_another_mode)
{
	static const u8 mids[] = { SDP_MID_SINK_AVAIL, SDP_MID_SINK_CANCEL };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(mids); i++) {
		struct world *w = learners(TEST_SELF);
		struct sdp_msg m = avail(w, 0);

		m.h.mid = mids[i];
		receive_msg(w, &w->a, &m);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);

		w = pipelined(TEST_SELF);
		srcavail_declined(TEST_SELF, w, false);
		launch(TEST_SELF, w, &w->a, SDP_MID_MODE_CHANGE);
		m = avail(w, N);
		m.h.mid = mids[i];
		m.h.mseq_ack--;
		m.h.bufs++;
		receive_msg(w, &w->a, &m);
		EXPECT_NO_ACTS(w);
		EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
		EXPECT_EQ(0, next_mid(w, &w->a));
		EXPECT_TRUE(w->a.sinkavail_tx.left);
		m = avail(w, N);
		m.h.mid = mids[i];
		receive_msg(w, &w->a, &m);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	}
}

/* C6: payload of an ignored SinkAvail is delivered. */
TEST(sdp_engine_receive__ignored_avail_with_payload)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_msg m;

	srcavail_declined(TEST_SELF, w, false);
	launch(TEST_SELF, w, &w->a, SDP_MID_MODE_CHANGE);
	m = avail(w, N);
	m.h.mseq_ack--;
	m.h.bufs++;
	m.payload_len = 7;
	receive_msg(w, &w->a, &m);
	EXPECT_ACT_LEN(w, SDP_ACT_DELIVER, 7);
	EXPECT_EQ(36, w->acts.list[0].offset);
	EXPECT_EQ(1, w->a.sinkavail_rx.non_discards);
}

/* After a mode change the peer's buffers are not used any more. */
TEST(sdp_sinkavail_tx_leave__drops)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	posted_buffer(TEST_SELF, w);
	for (i = 0; i < N; i++) {
		posted_buffer(TEST_SELF, w);
		pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	}
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	expect_over(TEST_SELF, w, 1, N + 1);
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	/* A message counts for NonDiscards again. */
	pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	EXPECT_EQ(N + 1, w->a.sinkavail_tx.non_discards);
	EXPECT_EQ(N + 1, w->b.sinkavail_rx.non_discards);
}

/*
 * wire 10: after our DisConn a SinkAvail of a peer that did not have it is ignored. A later one is
 * an error.
 */
TEST(sdp_engine_receive__avail_after_own_disconn)
{
	static const u8 mids[] = { SDP_MID_SINK_AVAIL, SDP_MID_SINK_CANCEL };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(mids); i++) {
		struct world *w = pipelined(TEST_SELF);
		struct sdp_msg m;

		posted_buffer(TEST_SELF, w);
		sdp_engine_shutdown(&w->a);
		launch(TEST_SELF, w, &w->a, SDP_MID_DISCONN);
		EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
		m = avail(w, N);
		m.h.mid = mids[i];
		m.h.mseq_ack--;
		m.h.bufs++;
		receive_msg(w, &w->a, &m);
		EXPECT_NO_ACTS(w);
		EXPECT_EQ(0, next_mid(w, &w->a));
		m = avail(w, N);
		m.h.mid = mids[i];
		receive_msg(w, &w->a, &m);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	}
}

/* wire 10: after its DisConn the peer sends neither payload nor RdmaWrCompl. SinkAvail is legal. */
TEST(sdp_engine_receive__after_peers_disconn)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_msg m;

	posted_buffer(TEST_SELF, w);
	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	m = from_peer(&w->b, SDP_MID_RDMA_WR_COMPL, 0);
	m.count = 1;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = pipelined(TEST_SELF);
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	m = avail(w, N);
	receive_msg(w, &w->a, &m);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	sdp_engine_posted(&w->a, 1);
	m = avail(w, N);
	m.payload_len = 1;
	receive_msg(w, &w->a, &m);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* Both halves in Pipelined: a message is about one half, its payload about the other. */
TEST(sdp_engine_receive__both_halves)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i, id;

	for (i = 0; i < N; i++) {
		struct sdp_region from;

		sdp_engine_srcavail(&w->b, &region, INLINED);
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SRC_AVAIL);
		sdp_engine_want_pipelined(&w->a);
		EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->a, REST, &from));
		sdp_engine_rdma_read_end(&w->a, true);
		tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_RD_COMPL);
	}
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(SDP_MODE_PIPELINED, sdp_engine_rx_mode(&w->a));
	id = sdp_engine_sinkavail(&w->a, &buffer);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SINK_AVAIL);
	post_buffer(TEST_SELF, w);
	/* b's SinkAvail carries data, which discards a's buffer. */
	EXPECT_EQ(SDP_NEXT_SEND,
		  sdp_engine_next(&w->b, &(struct sdp_tx_view){ .head_bytes = 9 }, &w->tx));
	EXPECT_EQ(9, w->tx.payload_max);
	receive_bytes(w, &w->a, w->buf, emit_srcavail_arrived(w, &w->b));
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_DELIVER);
	EXPECT_EQ(id, w->acts.list[0].id);
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->b));
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	EXPECT_EQ(1, w->b.tx_mode.alike);
}

TEST_MAIN
