// SPDX-License-Identifier: GPL-2.0
/*
 * Pipelined mode: how it is learnt and left.
 *
 * Requirements C1, C2, C5, B5 and wire section 8.
 */
#include "pipelining.h"

static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };

/* C2: N SrcAvails in a row whose reader had its buffer there before lead to Pipelined. */
TEST(sdp_engine_want_pipelined__in_a_row)
{
	struct world *w = learners(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++) {
		expect_mode(TEST_SELF, w, SDP_MODE_COMBINED);
		EXPECT_EQ(0, next_mid(w, &w->a));
		srcavail_read(TEST_SELF, w, true);
		EXPECT_EQ(SDP_FLAG_REQ_PIPE, w->msg.h.flags);
	}
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(0x20, w->buf[16]);
	EXPECT_NO_ACTS(w);
	expect_mode(TEST_SELF, w, SDP_MODE_PIPELINED);
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->b));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_rx_mode(&w->a));
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* B5: a sink that cannot read declines with REQ_PIPE. This does not lead to Buffered. */
TEST(sdp_engine_want_pipelined__declined)
{
	struct world *w = learners(TEST_SELF);

	srcavail_declined(TEST_SELF, w, true);
	EXPECT_EQ(SDP_FLAG_REQ_PIPE, w->msg.h.flags);
	EXPECT_EQ(INLINED, w->acts.list[0].len);
	EXPECT_TRUE(w->acts.list[0].pipe);
	srcavail_read(TEST_SELF, w, true);
	EXPECT_FALSE(w->acts.list[0].pipe);
	srcavail_declined(TEST_SELF, w, true);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	expect_mode(TEST_SELF, w, SDP_MODE_PIPELINED);
}

/* C2: a transfer of another kind starts the count again. */
TEST(sdp_engine_want_pipelined__another_kind)
{
	struct world *w = learners(TEST_SELF);
	u32 i;

	for (i = 0; i < N - 1; i++)
		srcavail_read(TEST_SELF, w, true);
	srcavail_read(TEST_SELF, w, false);
	EXPECT_EQ(0, w->msg.h.flags);
	for (i = 0; i < N - 1; i++)
		srcavail_read(TEST_SELF, w, true);
	srcavail_declined(TEST_SELF, w, false);
	for (i = 0; i < N - 1; i++)
		srcavail_declined(TEST_SELF, w, true);
	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, next_mid(w, &w->a));
		srcavail_declined(TEST_SELF, w, false);
	}
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	expect_mode(TEST_SELF, w, SDP_MODE_BUFFERED);
}

/* sdp_engine_want_pipelined() counts only for the SrcAvail that is open. */
TEST(sdp_engine_want_pipelined__without_srcavail)
{
	struct world *w = learners(TEST_SELF);

	sdp_engine_want_pipelined(&w->b);
	srcavail_read(TEST_SELF, w, false);
	EXPECT_EQ(0, w->msg.h.flags);
	srcavail_read(TEST_SELF, w, true);
	srcavail_read(TEST_SELF, w, false);
	EXPECT_EQ(0, w->msg.h.flags);
}

/* C2: a withdrawn SrcAvail tells nothing about the reader. */
TEST(sdp_engine_want_pipelined__withdrawn)
{
	struct world *w = learners(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++) {
		srcavail(TEST_SELF, w);
		sdp_engine_srcavail_cancel(&w->a);
		sdp_engine_want_pipelined(&w->b);
		tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_CANCEL);
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
		EXPECT_EQ(SDP_FLAG_REQ_PIPE, w->msg.h.flags);
	}
	EXPECT_EQ(0, w->a.tx_mode.alike);
}

/* B7: both flags on one message. */
TEST(sdp_engine_want_pipelined__urgent)
{
	static const struct sdp_tx_view urgent = {
		.head_bytes = 5, .head_full = true, .head_urgent = true, .urgent = true,
	};
	struct world *w = learners(TEST_SELF);

	srcavail(TEST_SELF, w);
	sdp_engine_want_pipelined(&w->b);
	sdp_engine_srcavail_decline(&w->b);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &urgent, &w->tx));
	EXPECT_EQ(SDP_MID_SENDSM, w->tx.mid);
	EXPECT_EQ(SDP_FLAG_REQ_PIPE | SDP_FLAG_OOB_PEND, w->tx.flags);
}

/* mode_after 0 means never. */
TEST(sdp_engine_want_pipelined__mode_after_0)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u32 i;

	for (i = 0; i < 20; i++)
		srcavail_read(TEST_SELF, w, true);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
}

/*
 * C2: in Pipelined, a declined SrcAvail leads to Combined. So a small reader, or one that does not
 * read (C9), is learnt from the beginning. C10: not if the reader has a large buffer for the rest.
 */
TEST(sdp_mode_srcavail_declined__pipelined)
{
	struct world *w = pipelined(TEST_SELF);

	srcavail_declined(TEST_SELF, w, true);
	EXPECT_EQ(0, w->acts.list[0].len);
	EXPECT_TRUE(w->acts.list[0].pipe);
	EXPECT_EQ(0, next_mid(w, &w->a));
	srcavail_declined(TEST_SELF, w, false);
	EXPECT_FALSE(w->acts.list[0].pipe);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(0x10, w->buf[16]);
	expect_mode(TEST_SELF, w, SDP_MODE_COMBINED);
	srcavail_read(TEST_SELF, w, true);
	srcavail_read(TEST_SELF, w, true);
	EXPECT_EQ(0, next_mid(w, &w->a));
	srcavail_read(TEST_SELF, w, true);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	expect_mode(TEST_SELF, w, SDP_MODE_PIPELINED);
}

/*
 * C2: SrcAvails that are read do not end Pipelined, if some of the buffers were there before. N in
 * a row without such a buffer do.
 */
TEST(sdp_mode_srcavail_read__pipelined)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	for (i = 0; i < 2 * N; i++)
		srcavail_read(TEST_SELF, w, i % 2);
	EXPECT_EQ(0, next_mid(w, &w->a));
	expect_mode(TEST_SELF, w, SDP_MODE_PIPELINED);
	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, next_mid(w, &w->a));
		srcavail_read(TEST_SELF, w, false);
	}
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(0x10, w->buf[16]);
	expect_mode(TEST_SELF, w, SDP_MODE_COMBINED);
}

/* C2: N large writes in a row without a buffer in time, however their SrcAvails were read. */
TEST(sdp_engine_sinkavail_missed__in_a_row)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, next_mid(w, &w->a));
		expect_mode(TEST_SELF, w, SDP_MODE_PIPELINED);
		srcavail_read(TEST_SELF, w, true);
		sdp_engine_sinkavail_missed(&w->a);
	}
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(0x10, w->buf[16]);
	expect_mode(TEST_SELF, w, SDP_MODE_COMBINED);
	/* In Combined the call does nothing, and no count is left over. */
	for (i = 0; i < 2 * N; i++)
		sdp_engine_sinkavail_missed(&w->a);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(0, w->a.tx_mode.missed);
}

/*
 * C2: the count starts again after an RDMA write, and stops while a buffer or SrcAvail is open.
 * mode_after 0 means never.
 */
TEST(sdp_engine_sinkavail_missed__resets)
{
	struct sdp_engine_config config = learning;
	struct world *w = pipelined(TEST_SELF);
	u32 i, n;

	for (i = 0; i < 3; i++) {
		for (n = 1; n < N; n++)
			sdp_engine_sinkavail_missed(&w->a);
		EXPECT_EQ(N - 1, w->a.tx_mode.missed);
		posted_buffer(TEST_SELF, w);
		sdp_engine_sinkavail_missed(&w->a);
		EXPECT_EQ(N - 1, w->a.tx_mode.missed);
		write_bytes(TEST_SELF, w, 1000);
		sdp_engine_sinkavail_missed(&w->a);
		EXPECT_EQ(0, w->a.tx_mode.missed);
		tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	}
	EXPECT_EQ(0, next_mid(w, &w->a));
	srcavail(TEST_SELF, w);
	for (n = 0; n < 2 * N; n++)
		sdp_engine_sinkavail_missed(&w->a);
	EXPECT_EQ(0, w->a.tx_mode.missed);
	config.mode_after = 0;
	w = joined(TEST_SELF, &config, &config);
	change(w, &w->b, 0x20);
	w->a.tx_mode.mode = SDP_MODE_PIPELINED;
	for (n = 0; n < 2 * N; n++)
		sdp_engine_sinkavail_missed(&w->a);
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* C9: a SrcAvail that was withdrawn because it was not read counts as declined, in both modes. */
TEST(sdp_engine_srcavail_unread__as_declined)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	srcavail(TEST_SELF, w);
	sdp_engine_srcavail_unread(&w->a);
	EXPECT_EQ(0, next_mid(w, &w->a));
	sdp_engine_srcavail_cancel(&w->a);
	emit(w, &w->a, SDP_MID_SRC_CANCEL, 0);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_EQ(0, next_mid(w, &w->a));
	sdp_engine_srcavail_unread(&w->a);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	EXPECT_EQ(SDP_MID_MODE_CHANGE, next_mid(w, &w->a));
	sdp_engine_srcavail_unread(&w->a);
	emit(w, &w->a, SDP_MID_MODE_CHANGE, 0);
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));

	w = learners(TEST_SELF);
	for (i = 0; i < N; i++) {
		EXPECT_EQ(i, w->a.tx_mode.alike);
		EXPECT_EQ(0, next_mid(w, &w->a));
		sdp_engine_srcavail_unread(&w->a);
	}
	EXPECT_EQ(SDP_MID_MODE_CHANGE, next_mid(w, &w->a));
	emit(w, &w->a, SDP_MID_MODE_CHANGE, 0);
	EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_tx_mode(&w->a));
	sdp_engine_srcavail_unread(&w->a);
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* ModeChange waits for credit. A buffer that comes and is used meanwhile cancels it. */
TEST(sdp_engine_sinkavail_missed__then_written)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++)
		sdp_engine_sinkavail_missed(&w->a);
	posted_buffer(TEST_SELF, w);
	write_bytes(TEST_SELF, w, 1000);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	EXPECT_EQ(0, next_mid(w, &w->a));
	expect_mode(TEST_SELF, w, SDP_MODE_PIPELINED);
}

/* C2, C5: N small messages in a row that discard buffers lead to Combined; fewer do not. */
TEST(sdp_mode_discarded__in_a_row)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	for (i = 0; i < N - 1; i++) {
		posted_buffer(TEST_SELF, w);
		pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	}
	/* A message without a buffer does not count. A large write starts the count again. */
	pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	EXPECT_EQ(N - 1, w->a.tx_mode.alike);
	posted_buffer(TEST_SELF, w);
	write_bytes(TEST_SELF, w, 2000);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	for (i = 0; i < N; i++) {
		EXPECT_EQ(0, next_mid(w, &w->a));
		posted_buffer(TEST_SELF, w);
		pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	}
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(0x10, w->buf[16]);
	expect_mode(TEST_SELF, w, SDP_MODE_COMBINED);
}

/*
 * C2, B5: the rest of a declined SrcAvail discards buffers that its reader supplies meanwhile. This
 * does not speak for small sends, so Pipelined, just learnt, is not left again.
 */
TEST(sdp_mode_discarded__declined)
{
	static const struct sdp_tx_view rest = {
		.head_bytes = PAYLOAD_MAX, .head_full = true, .head_declined = true,
	};
	struct world *w = learners(TEST_SELF);
	u32 i, bytes;

	for (i = 0; i < N; i++)
		srcavail_declined(TEST_SELF, w, true);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	for (i = 0; i < 2 * N; i++) {
		posted_buffer(TEST_SELF, w);
		EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &rest, &w->tx));
		EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
		bytes = emit_srcavail_arrived(w, &w->a);
		receive_bytes(w, &w->b, w->buf, bytes);
		sdp_engine_posted(&w->b, 1);
		EXPECT_EQ(0, w->a.sinkavail_tx.n);
	}
	EXPECT_EQ(0, w->a.tx_mode.alike);
	EXPECT_EQ(0, next_mid(w, &w->a));
	expect_mode(TEST_SELF, w, SDP_MODE_PIPELINED);
}

/* C5: a large write that finds a buffer cancels a ModeChange that has not been sent. */
TEST(sdp_mode_written__wanted)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++) {
		posted_buffer(TEST_SELF, w);
		pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	}
	EXPECT_TRUE(w->a.tx_mode.wanted);
	posted_buffer(TEST_SELF, w);
	write_bytes(TEST_SELF, w, 2000);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_RDMA_WR_COMPL);
	EXPECT_EQ(0, next_mid(w, &w->a));
	expect_mode(TEST_SELF, w, SDP_MODE_PIPELINED);
}

/* wire 8: a SinkAvail ends a SrcAvail that was to be sent. ModeChange goes after that. */
TEST(sdp_mode_discarded__while_srcavail_out)
{
	struct world *w = pipelined(TEST_SELF);
	u32 i;

	for (i = 0; i < N - 1; i++) {
		posted_buffer(TEST_SELF, w);
		pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	}
	sdp_engine_srcavail(&w->a, &region, 0);
	posted_buffer(TEST_SELF, w);
	EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
	pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	EXPECT_TRUE(w->a.tx_mode.wanted);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	expect_mode(TEST_SELF, w, SDP_MODE_COMBINED);
}

/* C3: a large buffer ends Buffered only. Pipelined is learnt from Combined. */
TEST(sdp_engine_large_recv__not_pipelined)
{
	struct world *w = pipelined(TEST_SELF);

	sdp_engine_large_recv(&w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
	change(w, &w->a, 0x90);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 8: ModeChanges that are illegal in Pipelined. */
TEST(sdp_mode_change__refused_in_pipelined)
{
	static const u8 to_sink[] = { 0x00, 0x20, 0x90 }, to_source[] = { 0x10, 0x90 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(to_sink); i++) {
		struct world *w = pipelined(TEST_SELF);

		change(w, &w->b, to_sink[i]);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	}
	for (i = 0; i < ARRAY_SIZE(to_source); i++) {
		struct world *w = pipelined(TEST_SELF);

		change(w, &w->a, to_source[i]);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	}
}

/* wire 8: no ModeChange while a SrcAvail is open. */
TEST(sdp_mode_change__pipelined_while_srcavail_out)
{
	struct world *w = learners(TEST_SELF);

	srcavail(TEST_SELF, w);
	change(w, &w->b, 0x20);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = pipelined(TEST_SELF);
	srcavail(TEST_SELF, w);
	change(w, &w->b, 0x10);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* D4: a peer that may send SinkAvails is granted credit for them, even after its DisConn. */
TEST(sdp_engine_next__updates_in_pipelined)
{
	struct world *w = pipelined(TEST_SELF);

	use_up(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	while (sdp_credit_available(&w->b.credit) > 1)
		use_up(w, &w->b, &w->a, SDP_MID_DATA, 0);
	sdp_engine_posted(&w->a, 12);
	post_buffer(TEST_SELF, w);
	EXPECT_EQ(0, next_mid(w, &w->b));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_DATA);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SINK_AVAIL);
	EXPECT_EQ(buffer.len, sdp_engine_may_rdma_write(&w->a));
}

/* D5: each ModeChange needs the credits of data. */
TEST(sdp_engine_next__pipelined_credit)
{
	struct world *w = learners(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++)
		srcavail_read(TEST_SELF, w, true);
	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, sdp_engine_next(&w->a, &full, &w->tx));
	w->a.credit.tx_limit++;
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(SDP_MID_MODE_CHANGE, w->tx.mid);
}

/* After shutdown no ModeChange is sent. */
TEST(sdp_engine_next__pipelined_and_shut_down)
{
	struct world *w = learners(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++)
		srcavail_read(TEST_SELF, w, true);
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_MID_DISCONN, next_mid(w, &w->a));
}

TEST_MAIN
