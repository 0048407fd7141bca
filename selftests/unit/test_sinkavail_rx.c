// SPDX-License-Identifier: GPL-2.0
/*
 * SinkAvails that our receiving half sends, in Pipelined mode.
 *
 * Requirements C5-C8 and wire section 8. test_stranger.c has sources that report several times.
 */
#include "pipelining.h"

/* C5: SinkAvail is legal in Pipelined only, for a buffer that holds a whole message. */
TEST(sdp_engine_may_sinkavail__states)
{
	struct sdp_region small = buffer;
	struct world *w = learners(TEST_SELF);

	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	EXPECT_EQ(0, sdp_engine_sinkavail(&w->b, &buffer));
	w = pipelined(TEST_SELF);
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_may_sinkavail(&w->b));
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->a));
	small.len = PAYLOAD_MAX - 1;
	EXPECT_EQ(0, sdp_engine_sinkavail(&w->b, &small));
	small.len++;
	EXPECT_NE(0, sdp_engine_sinkavail(&w->b, &small));
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_may_sinkavail(&w->b));
	aborted(w, &w->b, ECONNABORTED);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	EXPECT_EQ(0, sdp_engine_sinkavails_out(&w->b));
	w = pipelined(TEST_SELF);
	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
}

/* wire 3, 8: as many SinkAvails as both sides can hold. */
TEST(sdp_engine_sinkavail__max)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	for (i = 1; i <= SDP_SINKAVAILS_MAX; i++) {
		EXPECT_EQ(i, post_buffer(TEST_SELF, w));
		EXPECT_EQ(i, sdp_engine_sinkavails_out(&w->b));
	}
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	EXPECT_EQ(0, sdp_engine_sinkavail(&w->b, &buffer));
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
	EXPECT_EQ(0, sdp_engine_sinkavail(&w->b, &buffer));
	w = pipelined(TEST_SELF);
	w->b.sinkavail_rx.max = 1;
	post_buffer(TEST_SELF, w);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
}

/* wire 6, C7: bytes of SinkAvail. NonDiscards counts one message with payload per SrcAvail. */
TEST(sdp_engine_sinkavail__golden_bytes)
{
	static const u8 golden[36] = {
		0xfd, 0, 0, 5, 0, 0, 0, 36, 0, 0, 0, N + 1, 0, 0, 0, N + 1,
		0, 0, 0x0f, 0xa0, 0x01, 0x02, 0x03, 0x04,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0, 0, N,
	};
	struct world *w = pipelined(TEST_SELF);

	post_buffer(TEST_SELF, w);
	EXPECT_EQ(SDP_MID_SINK_AVAIL, next_mid(w, &w->b));
	EXPECT_EQ(0, w->tx.payload_max);
	EXPECT_EQ(36, emit_srcavail_arrived(w, &w->b));
	EXPECT_BYTES(golden, w->buf, 36);
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* B4: RdmaWrCompl ends the oldest buffer, even if it is filled only in part (C7). */
TEST(sdp_engine_receive__written)
{
	struct world *w = pipelined(TEST_SELF);
	u32 first = posted_buffer(TEST_SELF, w), second = posted_buffer(TEST_SELF, w);

	write_bytes(TEST_SELF, w, 1);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	EXPECT_WRITTEN(w, first, 1);
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	write_bytes(TEST_SELF, w, 4000);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	EXPECT_WRITTEN(w, second, 4000);
	EXPECT_EQ(0, sdp_engine_sinkavails_out(&w->b));
	EXPECT_EQ(second + 1, post_buffer(TEST_SELF, w));
}

/* B4: illegal counts in RdmaWrCompl. */
TEST(sdp_engine_receive__written_wrong)
{
	static const struct { u32 count; enum sdp_violation want; } cases[] = {
		{ 0, SDP_BAD_FIELD }, { 4001, SDP_BAD_FIELD }, { 0xffffffff, SDP_BAD_FIELD },
	};
	struct world *w;
	struct sdp_msg m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w = pipelined(TEST_SELF);
		posted_buffer(TEST_SELF, w);
		m = from_peer(&w->b, SDP_MID_RDMA_WR_COMPL, 0);
		m.count = cases[i].count;
		receive_msg(w, &w->b, &m);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, cases[i].want);
	}
	/*
	 * The source did not have the SinkAvail, or there is no buffer, or SinkAvail was not sent.
	 */
	w = pipelined(TEST_SELF);
	posted_buffer(TEST_SELF, w);
	m = from_peer(&w->b, SDP_MID_RDMA_WR_COMPL, 0);
	m.count = 1;
	m.h.mseq_ack--;
	m.h.bufs++;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	for (i = 0; i < 2; i++) {
		w = pipelined(TEST_SELF);
		if (i)
			post_buffer(TEST_SELF, w);
		m = from_peer(&w->b, SDP_MID_RDMA_WR_COMPL, 0);
		m.count = 1;
		receive_msg(w, &w->b, &m);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	}
}

/* C5, C7: Data discards the oldest buffer. */
TEST(sdp_engine_receive__discards)
{
	struct world *w = pipelined(TEST_SELF);
	u32 first = posted_buffer(TEST_SELF, w), second = posted_buffer(TEST_SELF, w);

	pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_DELIVER);
	EXPECT_EQ(first, w->acts.list[0].id);
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	/* A message without payload discards none. */
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_NO_ACTS(w);
	write_bytes(TEST_SELF, w, 4000);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	EXPECT_WRITTEN(w, second, 4000);
	EXPECT_EQ(N, w->b.sinkavail_rx.non_discards);
	EXPECT_EQ(N, w->a.sinkavail_tx.non_discards);
}

/* C7: Data that crosses SinkAvails makes them stale. A SinkAvail sent after it is valid. */
TEST(sdp_engine_receive__stale)
{
	struct world *w = pipelined(TEST_SELF);
	struct flying data = launch_data(w, &w->a, 10), one, two, three;

	post_buffer(TEST_SELF, w);
	one = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	post_buffer(TEST_SELF, w);
	two = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	post_buffer(TEST_SELF, w);
	land(w, &w->b, &data);
	EXPECT_EQ(3, w->acts.n);
	EXPECT_EQ(SDP_ACT_SINKAVAIL_OVER, w->acts.list[0].kind);
	EXPECT_EQ(1, w->acts.list[0].id);
	EXPECT_EQ(SDP_ACT_SINKAVAIL_OVER, w->acts.list[1].kind);
	EXPECT_EQ(2, w->acts.list[1].id);
	EXPECT_EQ(SDP_ACT_DELIVER, w->acts.list[2].kind);
	three = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	land(w, &w->a, &one);
	land(w, &w->a, &two);
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
	land(w, &w->a, &three);
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	EXPECT_EQ(2, w->a.sinkavail_tx.stale);
	EXPECT_EQ(N + 1, w->a.sinkavail_tx.non_discards);
	EXPECT_EQ(N + 1, w->b.sinkavail_rx.non_discards);
}

/* C7: the source has received the first SinkAvail, but not the second, when it sends Data. */
TEST(sdp_engine_receive__discards_what_was_seen)
{
	struct world *w = pipelined(TEST_SELF);
	u32 first = posted_buffer(TEST_SELF, w), second = post_buffer(TEST_SELF, w);
	struct flying avail = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	struct flying data = launch_data(w, &w->a, 10), more = launch_data(w, &w->a, 10);

	land(w, &w->b, &data);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_DELIVER);
	EXPECT_EQ(first, w->acts.list[0].id);
	land(w, &w->b, &more);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_DELIVER);
	EXPECT_EQ(second, w->acts.list[0].id);
	land(w, &w->a, &avail);
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
}

/* C7: NonDiscards wraps at 32 bits, and ids are never 0. */
TEST(sdp_engine_sinkavail__wraps)
{
	struct world *w = pipelined(TEST_SELF);
	struct flying data, avail;

	w->b.sinkavail_rx.non_discards = 0xffffffff;
	w->a.sinkavail_tx.non_discards = 0xffffffff;
	w->b.sinkavail_rx.last_id = 0xffffffff;
	EXPECT_EQ(1, posted_buffer(TEST_SELF, w));
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
	pass(w, &w->a, &w->b, SDP_MID_DATA, 1);
	data = launch_data(w, &w->a, 1);
	post_buffer(TEST_SELF, w);
	avail = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	land(w, &w->b, &data);
	land(w, &w->a, &avail);
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
	EXPECT_EQ(0, w->b.sinkavail_rx.non_discards);
	posted_buffer(TEST_SELF, w);
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
}

/* wire 7: the distance of sequence numbers wraps while a SinkAvail is out for long. */
TEST(sdp_sinkavail_rx_note__wraps)
{
	struct world *w = pipelined(TEST_SELF);
	u32 id = posted_buffer(TEST_SELF, w);

	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(1, w->b.sinkavail_rx.seen);
	w->b.sinkavail_rx.list[0].seq += 0x80000000U;
	pass(w, &w->a, &w->b, SDP_MID_DATA, 1);
	EXPECT_EQ(SDP_ACT_SINKAVAIL_OVER, w->acts.list[0].kind);
	EXPECT_EQ(id, w->acts.list[0].id);
}

/*
 * C8: SrcAvail and SinkAvail cross. SinkAvail wins: the sink ignores the SrcAvail, and the source
 * ends it.
 */
TEST(sdp_engine_receive__src_avail_crosses)
{
	struct world *w = pipelined(TEST_SELF);
	struct flying avail, src;
	u32 id;

	sdp_engine_srcavail(&w->a, &region, 0);
	src = launch(TEST_SELF, w, &w->a, SDP_MID_SRC_AVAIL);
	id = post_buffer(TEST_SELF, w);
	avail = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	land(w, &w->b, &src);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	land(w, &w->a, &avail);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, 0);
	EXPECT_TRUE(w->acts.list[0].crossed);
	EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
	write_bytes(TEST_SELF, w, LEN);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	EXPECT_WRITTEN(w, id, LEN);
}

/* C8: a stale SinkAvail does not win. */
TEST(sdp_engine_receive__src_avail_crosses_stale)
{
	struct world *w = pipelined(TEST_SELF);
	struct flying avail, src, data = launch_data(w, &w->a, 1);

	sdp_engine_srcavail(&w->a, &region, 0);
	src = launch(TEST_SELF, w, &w->a, SDP_MID_SRC_AVAIL);
	post_buffer(TEST_SELF, w);
	avail = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	land(w, &w->b, &data);
	land(w, &w->b, &src);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL, LEN);
	land(w, &w->a, &avail);
	EXPECT_NO_ACTS(w);
	EXPECT_TRUE(sdp_engine_srcavail_tx_open(&w->a));
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
}

/* C8: SinkAvail also wins over a withdrawn SrcAvail. A late SendSm of other sinks is tolerated. */
TEST(sdp_engine_receive__src_cancel_crosses)
{
	struct world *w = pipelined(TEST_SELF);
	struct flying avail, src, cancel;

	sdp_engine_srcavail(&w->a, &region, 0);
	src = launch(TEST_SELF, w, &w->a, SDP_MID_SRC_AVAIL);
	sdp_engine_srcavail_cancel(&w->a);
	cancel = launch(TEST_SELF, w, &w->a, SDP_MID_SRC_CANCEL);
	post_buffer(TEST_SELF, w);
	avail = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	land(w, &w->b, &src);
	land(w, &w->b, &cancel);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(0, next_mid(w, &w->b));
	land(w, &w->a, &avail);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, 0);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_NO_ACTS(w);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* B4, B5: SinkAvail answers a SrcAvail, even with the last credit. */
TEST(sdp_engine_sinkavail__answers)
{
	struct world *w = pipelined(TEST_SELF);
	u32 id;

	srcavail(TEST_SELF, w);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL, LEN);
	id = post_buffer(TEST_SELF, w);
	EXPECT_EQ(LEN, sdp_engine_srcavail_rx_left(&w->b));
	w->b.credit.tx_limit = w->b.credit.tx_seq + 1;
	w->b.credit.posted = w->b.credit.theirs;
	EXPECT_EQ(0, next_mid(w, &w->b));
	w->b.credit.posted++;
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, 0);
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_FALSE(w->b.credit.reserve);
	write_bytes(TEST_SELF, w, LEN);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	EXPECT_WRITTEN(w, id, LEN);
}

/* Once the SrcAvail is being read or was declined, SinkAvail waits for the final answer. */
TEST(sdp_engine_sinkavail__waits_for_read)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_region from;

	srcavail(TEST_SELF, w);
	post_buffer(TEST_SELF, w);
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 10, &from));
	EXPECT_EQ(region.va, from.va);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	EXPECT_EQ(0, next_mid(w, &w->b));
	sdp_engine_rdma_read_end(&w->b, true);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, LEN - 10, &from));
	sdp_engine_rdma_read_end(&w->b, true);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));

	w = pipelined(TEST_SELF);
	srcavail(TEST_SELF, w);
	post_buffer(TEST_SELF, w);
	sdp_engine_srcavail_decline(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
}

/* C5: ModeChange to Combined ends all buffers, whether SinkAvail was sent or not. */
TEST(sdp_engine_receive__mode_ends_all)
{
	struct world *w = pipelined(TEST_SELF);

	posted_buffer(TEST_SELF, w);
	post_buffer(TEST_SELF, w);
	change(w, &w->b, 0x10);
	expect_over(TEST_SELF, w, 2, 1);
	EXPECT_EQ(0, sdp_engine_sinkavails_out(&w->b));
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* wire 10: DisConn of the source ends all buffers. */
TEST(sdp_engine_receive__disconn_ends_all)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	for (i = 0; i < SDP_SINKAVAILS_MAX; i++)
		posted_buffer(TEST_SELF, w);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_EQ(SDP_SINKAVAILS_MAX + 2, w->acts.n);
	for (i = 0; i < SDP_SINKAVAILS_MAX; i++) {
		EXPECT_EQ(SDP_ACT_SINKAVAIL_OVER, w->acts.list[i].kind);
		EXPECT_EQ(i + 1, w->acts.list[i].id);
	}
	EXPECT_EQ(SDP_ACT_EOF, w->acts.list[i].kind);
	EXPECT_EQ(SDP_ACT_DISCONNECT, w->acts.list[i + 1].kind);
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* wire 8: a cancel ends unsent SinkAvails at once, and sent ones with the peer's answer. */
TEST(sdp_engine_sinkavail_cancel__answered)
{
	struct world *w = pipelined(TEST_SELF);

	posted_buffer(TEST_SELF, w);
	posted_buffer(TEST_SELF, w);
	post_buffer(TEST_SELF, w);
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	expect_over(TEST_SELF, w, 1, 3);
	EXPECT_EQ(2, sdp_engine_sinkavails_out(&w->b));
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_CANCEL);
	EXPECT_EQ(16, w->msg.h.len);
	EXPECT_EQ(0, sdp_engine_may_rdma_write(&w->a));
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	EXPECT_EQ(0, next_mid(w, &w->b));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SINK_CANCEL_ACK);
	expect_over(TEST_SELF, w, 2, 1);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_NE(0, sdp_engine_may_sinkavail(&w->b));
	posted_buffer(TEST_SELF, w);
	EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
}

/* A cancel without sent SinkAvails needs no message. */
TEST(sdp_engine_sinkavail_cancel__nothing)
{
	struct world *w = pipelined(TEST_SELF);

	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_NE(0, sdp_engine_may_sinkavail(&w->b));
	post_buffer(TEST_SELF, w);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	expect_over(TEST_SELF, w, 1, 1);
	EXPECT_NE(0, sdp_engine_may_sinkavail(&w->b));
	EXPECT_EQ(0, next_mid(w, &w->b));
	aborted(w, &w->b, EIO);
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	EXPECT_NO_ACTS(w);
}

/* All buffers end otherwise before the cancel arrives: there is no answer, and none is expected. */
TEST(sdp_engine_sinkavail_cancel__crosses)
{
	struct world *w = pipelined(TEST_SELF);
	struct flying cancel, data, written;

	posted_buffer(TEST_SELF, w);
	posted_buffer(TEST_SELF, w);
	data = launch_data(w, &w->a, 10);
	write_bytes(TEST_SELF, w, 2000);
	written = launch(TEST_SELF, w, &w->a, SDP_MID_RDMA_WR_COMPL);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	cancel = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_CANCEL);
	land(w, &w->b, &data);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_DELIVER);
	EXPECT_EQ(0, sdp_engine_may_sinkavail(&w->b));
	land(w, &w->b, &written);
	EXPECT_WRITTEN(w, 2, 2000);
	EXPECT_NE(0, sdp_engine_may_sinkavail(&w->b));
	land(w, &w->a, &cancel);
	EXPECT_EQ(0, next_mid(w, &w->a));
	/* A SinkCancelAck would now be an answer to nothing. */
	receive_right(w, &w->b, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* The peer has written into a buffer, but not reported it, when the cancel arrives. */
TEST(sdp_engine_sinkavail_cancel__written)
{
	struct world *w = pipelined(TEST_SELF);

	posted_buffer(TEST_SELF, w);
	posted_buffer(TEST_SELF, w);
	write_bytes(TEST_SELF, w, 2000);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_CANCEL);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	EXPECT_WRITTEN(w, 1, 2000);
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SINK_CANCEL_ACK);
	expect_over(TEST_SELF, w, 1, 2);

	/* If that was the only buffer, the report is the last message about it. */
	w = pipelined(TEST_SELF);
	posted_buffer(TEST_SELF, w);
	write_bytes(TEST_SELF, w, 2000);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_CANCEL);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	EXPECT_WRITTEN(w, 1, 2000);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_NE(0, sdp_engine_may_sinkavail(&w->b));
}

/* All SinkAvails are stale when the cancel arrives. */
TEST(sdp_engine_sinkavail_cancel__stale)
{
	struct world *w = pipelined(TEST_SELF);
	struct flying avail, cancel, data = launch_data(w, &w->a, 10);

	post_buffer(TEST_SELF, w);
	avail = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	cancel = launch(TEST_SELF, w, &w->b, SDP_MID_SINK_CANCEL);
	land(w, &w->b, &data);
	EXPECT_ACTS(w, SDP_ACT_SINKAVAIL_OVER, SDP_ACT_DELIVER);
	EXPECT_NE(0, sdp_engine_may_sinkavail(&w->b));
	land(w, &w->a, &avail);
	land(w, &w->a, &cancel);
	EXPECT_EQ(0, next_mid(w, &w->a));

	/* If that is known before the cancel is sent, it is not sent. */
	w = pipelined(TEST_SELF);
	data = launch_data(w, &w->a, 10);
	post_buffer(TEST_SELF, w);
	launch(TEST_SELF, w, &w->b, SDP_MID_SINK_AVAIL);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	land(w, &w->b, &data);
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* After the cancel the peer may send Data before its answer: the data discards no buffer. */
TEST(sdp_engine_sinkavail_cancel__data_before_answer)
{
	struct world *w = pipelined(TEST_SELF);

	posted_buffer(TEST_SELF, w);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_CANCEL);
	receive_right(w, &w->b, SDP_MID_DATA, 10);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
	EXPECT_EQ(N + 1, w->b.sinkavail_rx.non_discards);
	EXPECT_EQ(1, sdp_engine_sinkavails_out(&w->b));
	receive_right(w, &w->b, SDP_MID_SINK_CANCEL_ACK, 0);
	expect_over(TEST_SELF, w, 1, 1);
}

/* After the cancel the peer may send SrcAvail before its answer: the SrcAvail is not ignored. */
TEST(sdp_engine_sinkavail_cancel__src_avail_before_answer)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_msg m;

	posted_buffer(TEST_SELF, w);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_CANCEL);
	m = from_peer(&w->b, SDP_MID_SRC_AVAIL, 0);
	m.src = region;
	receive_msg(w, &w->b, &m);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL, LEN);
}

/* wire 8: SinkCancelAck without a cancel, or from a peer that has not received the cancel. */
TEST(sdp_engine_receive__cancel_ack_wrong)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_msg m;

	posted_buffer(TEST_SELF, w);
	receive_right(w, &w->b, SDP_MID_SINK_CANCEL_ACK, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = pipelined(TEST_SELF);
	posted_buffer(TEST_SELF, w);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	launch(TEST_SELF, w, &w->b, SDP_MID_SINK_CANCEL);
	m = from_peer(&w->b, SDP_MID_SINK_CANCEL_ACK, 0);
	m.h.mseq_ack--;
	m.h.bufs++;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* C6: ready data travels with SinkAvail, if it fits and may go. */
TEST(sdp_engine_next__rides)
{
	static const struct {
		struct sdp_tx_view view;
		u32 want;
	} cases[] = {
		{ { .head_bytes = 5 }, 5 },
		{ { .head_bytes = RECV_SIZE - 36, .head_full = true }, RECV_SIZE - 36 },
		{ { .head_bytes = RECV_SIZE - 35, .head_full = true }, 0 },
		{ { .head_bytes = 5, .hold = true }, 0 },
		{ { .head_bytes = 5, .head_full = true, .head_cut = true }, 0 },
		{ { .head_bytes = 5, .hold = true, .head_full = true }, 5 },
		{ { .head_bytes = 5, .head_full = true, .head_urgent = true, .urgent = true }, 0 },
		{ { .head_bytes = 5, .head_full = true, .urgent = true }, 5 },
		{ { .head_bytes = 0 }, 0 },
	};
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = pipelined(TEST_SELF);

		post_buffer(TEST_SELF, w);
		EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &cases[i].view, &w->tx));
		EXPECT_EQ(SDP_MID_SINK_AVAIL, w->tx.mid);
		EXPECT_EQ(cases[i].want, w->tx.payload_max);
		EXPECT_EQ(cases[i].view.urgent ? SDP_FLAG_OOB_PEND : 0, w->tx.flags);
		receive_bytes(w, &w->a, w->buf, emit_srcavail_arrived(w, &w->b));
		n = w->acts.n;
		EXPECT_EQ((cases[i].want > 0) + cases[i].view.urgent, n);
		EXPECT_EQ(4000, sdp_engine_may_rdma_write(&w->a));
		if (!cases[i].want || !n)
			continue;
		EXPECT_EQ(SDP_ACT_DELIVER, w->acts.list[n - 1].kind);
		EXPECT_EQ(36, w->acts.list[n - 1].offset);
		EXPECT_EQ(cases[i].want, w->acts.list[n - 1].len);
	}
}

/* C6: no data travels with SinkAvail behind our SrcAvail, after our DisConn, or with an answer. */
TEST(sdp_engine_next__rides_not)
{
	static const struct sdp_tx_view ready = { .head_bytes = 5, .head_full = true };
	struct world *w = pipelined(TEST_SELF);

	sdp_engine_srcavail(&w->b, &region, INLINED);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SRC_AVAIL);
	post_buffer(TEST_SELF, w);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &ready, &w->tx));
	EXPECT_EQ(SDP_MID_SINK_AVAIL, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	w = pipelined(TEST_SELF);
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	post_buffer(TEST_SELF, w);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &ready, &w->tx));
	EXPECT_EQ(SDP_MID_SINK_AVAIL, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	w = pipelined(TEST_SELF);
	srcavail(TEST_SELF, w);
	post_buffer(TEST_SELF, w);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &ready, &w->tx));
	EXPECT_EQ(SDP_MID_SINK_AVAIL, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
}

/*
 * D5: a cancel may use the last credit, because a receive is kept for it to grant. The peer may
 * never read.
 */
TEST(sdp_engine_sinkavail_cancel__last_credit)
{
	struct world *w = pipelined(TEST_SELF);
	struct sdp_credit *c = &w->b.credit;

	posted_buffer(TEST_SELF, w);
	c->target = c->posted;
	c->theirs = c->posted;
	EXPECT_EQ(1, sdp_engine_receives_wanted(&w->b));
	sdp_engine_posted(&w->b, 1);
	EXPECT_EQ(0, sdp_engine_receives_wanted(&w->b));
	emit(w, &w->b, SDP_MID_DATA, 1);
	EXPECT_EQ(c->posted - 1, w->sent.h.bufs);
	c->tx_limit = c->tx_seq + 1;
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	EXPECT_EQ(SDP_MID_SINK_CANCEL, next_mid(w, &w->b));
	emit_srcavail_arrived(w, &w->b);
	EXPECT_EQ(c->posted, w->sent.h.bufs);
	EXPECT_FALSE(c->spare);
}

/*
 * D5: SinkAvail that answers nothing, and a cancel with nothing to grant, need the credits of
 * data.
 */
TEST(sdp_engine_next__sinkavail_credit)
{
	struct world *w = pipelined(TEST_SELF);

	post_buffer(TEST_SELF, w);
	w->b.credit.tx_limit = w->b.credit.tx_seq + 1;
	EXPECT_EQ(0, next_mid(w, &w->b));
	w->b.credit.tx_limit++;
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
	sdp_engine_sinkavail_cancel(&w->b, &w->acts);
	w->b.credit.tx_limit = w->b.credit.tx_seq + 1;
	EXPECT_EQ(0, next_mid(w, &w->b));
	w->b.credit.tx_limit++;
	EXPECT_EQ(SDP_MID_SINK_CANCEL, next_mid(w, &w->b));
}

TEST_MAIN
