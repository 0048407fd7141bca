// SPDX-License-Identifier: GPL-2.0
/*
 * Flow-control modes of both halves, and how they are learnt.
 *
 * Requirements C1-C3 and wire section 8. test_pipeline.c has the tests of Pipelined.
 */
#include "pipelining.h"

static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };

/* a sends a SrcAvail, and b receives it. */
static void advertise(TEST_CTX, struct world *w)
{
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	sdp_engine_srcavail(&w->a, &region, INLINED);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
}

/* a sends @times SrcAvails, and b declines each. */
static void declined(TEST_CTX, struct world *w, u32 times)
{
	while (times--) {
		advertise(TEST_SELF, w);
		sdp_engine_srcavail_decline(&w->b);
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	}
}

/* a sends a SrcAvail, and b reads all of it. */
static void taken(TEST_CTX, struct world *w)
{
	struct sdp_region from;

	advertise(TEST_SELF, w);
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST, &from));
	sdp_engine_rdma_read_end(&w->b, true);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL);
}

/* A connection with a's sending half in Buffered at both ends. */
static struct world *buffered(TEST_CTX)
{
	struct world *w = learners(TEST_SELF);

	declined(TEST_SELF, w, N);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_tx_mode(&w->a));
	EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_rx_mode(&w->b));
	return w;
}

/* C1: both ends of both halves begin in Combined, where the mode is learnt. */
TEST(sdp_mode_init__combined)
{
	struct world *w = learners(TEST_SELF);

	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_rx_mode(&w->a));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->b));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_rx_mode(&w->b));
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/*
 * C2: N declined SrcAvails in a row end Combined. After the last one no further SrcAvail is
 * allowed.
 */
TEST(sdp_mode_srcavail_declined__in_a_row)
{
	struct world *w = learners(TEST_SELF);

	declined(TEST_SELF, w, N - 1);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	declined(TEST_SELF, w, 1);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_NO_ACTS(w);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_tx_mode(&w->a));
	EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_rx_mode(&w->b));
	EXPECT_EQ(0, next_mid(w, &w->a));
	/* The other half is not affected. */
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_rx_mode(&w->a));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->b));
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->b));
}

/* C2: other values of N; 0 means never. */
TEST(sdp_mode_srcavail_declined__config)
{
	static const u16 after[] = { 1, 2, 1000, 0xffff, 0 };
	struct sdp_engine_config config = learning;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(after); i++) {
		struct world *w;
		struct sdp_mode m;

		config.mode_after = after[i];
		w = joined(TEST_SELF, &config, &config);
		m = w->a.tx_mode;
		for (n = 1; n < 0x20000 && !m.wanted; n++)
			sdp_mode_srcavail_declined(&m, false);
		EXPECT_EQ(after[i] ? after[i] + 1U : 0x20000U, n);
		EXPECT_EQ(!after[i], sdp_mode_may_srcavail(&m));
	}
}

/* C2: a SrcAvail that is read completely starts the count again. */
TEST(sdp_mode_srcavail_read__resets)
{
	struct world *w = learners(TEST_SELF);

	declined(TEST_SELF, w, N - 1);
	taken(TEST_SELF, w);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
	declined(TEST_SELF, w, N - 1);
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	declined(TEST_SELF, w, 1);
	EXPECT_EQ(SDP_MID_MODE_CHANGE, next_mid(w, &w->a));
}

/* C2: a SrcAvail that is read in part and then declined does not start the count again. */
TEST(sdp_mode_srcavail_declined__after_a_part)
{
	struct world *w = learners(TEST_SELF);

	declined(TEST_SELF, w, N - 1);
	advertise(TEST_SELF, w);
	report(w, &w->a, 300);
	EXPECT_EQ(N - 1, w->a.tx_mode.alike);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED + 300);
	EXPECT_EQ(SDP_MID_MODE_CHANGE, next_mid(w, &w->a));
}

/* A withdrawn SrcAvail tells nothing about the reader, however it ends. */
TEST(sdp_mode_srcavail_declined__withdrawn)
{
	static const struct { bool sent, read; } cases[] = {
		{ false, false }, { false, true }, { true, false }, { true, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = learners(TEST_SELF);

		declined(TEST_SELF, w, N - 1);
		advertise(TEST_SELF, w);
		sdp_engine_srcavail_cancel(&w->a);
		if (cases[i].sent)
			emit(w, &w->a, SDP_MID_SRC_CANCEL, 0);
		if (cases[i].read)
			report(w, &w->a, REST);
		else
			receive_right(w, &w->a, SDP_MID_SENDSM, 0);
		EXPECT_ACT(w, SDP_ACT_SRCAVAIL_OVER);
		EXPECT_EQ(N - 1, w->a.tx_mode.alike);
		EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	}
}

/* A SendSm that comes too late (srcavail_tx.h) tells nothing about the reader either. */
TEST(sdp_mode_srcavail_declined__late)
{
	struct world *w = learners(TEST_SELF);

	declined(TEST_SELF, w, N - 1);
	advertise(TEST_SELF, w);
	sdp_engine_srcavail_cancel(&w->a);
	emit(w, &w->a, SDP_MID_SRC_CANCEL, 0);
	report(w, &w->a, REST);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(N - 1, w->a.tx_mode.alike);
}

/* wire 6: byte 0 of the extended header. */
TEST(sdp_engine_commit__mode_golden_bytes)
{
	static const u8 to_buffered[20] = {
		0x07, 0, 0, 5, 0, 0, 0, 20, 0, 0, 0, 4, 0, 0, 0, 3, 0x00, 0, 0, 0,
	};
	static const u8 to_combined[20] = {
		0x07, 0, 0, 5, 0, 0, 0, 20, 0, 0, 0, 4, 0, 0, 0, 4, 0x90, 0, 0, 0,
	};
	struct world *w = buffered(TEST_SELF);

	EXPECT_EQ(20, w->sent.h.len);
	EXPECT_FALSE(w->sent.mode_send_half);
	EXPECT_BYTES(to_buffered, w->buf, 20);
	sdp_engine_large_recv(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_MODE_CHANGE);
	EXPECT_BYTES(to_combined, w->buf, 20);
	EXPECT_TRUE(w->sent.mode_send_half);
}

/* C3: ModeChange goes before further data. */
TEST(sdp_engine_next__mode_before_data)
{
	struct world *w = learners(TEST_SELF);

	declined(TEST_SELF, w, N);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(SDP_MID_MODE_CHANGE, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	EXPECT_EQ(0, w->tx.flags);
	pass(w, &w->a, &w->b, SDP_MID_MODE_CHANGE, 0);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 5);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
}

/*
 * D5: ModeChange needs two credits, a posted receive and a slot, like data. Data waits behind it.
 */
TEST(sdp_engine_next__mode_credit)
{
	struct world *w = learners(TEST_SELF);
	u16 slots;

	declined(TEST_SELF, w, N);
	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, sdp_engine_next(&w->a, &full, &w->tx));
	w->a.credit.tx_limit++;
	EXPECT_EQ(SDP_MID_MODE_CHANGE, next_mid(w, &w->a));
	slots = w->a.send_slots;
	w->a.send_slots = 0;
	EXPECT_EQ(0, next_mid(w, &w->a));
	w->a.send_slots = slots;
	w->a.credit.posted = 0;
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, sdp_engine_next(&w->a, &full, &w->tx));

	w = buffered(TEST_SELF);
	sdp_engine_large_recv(&w->b);
	w->b.credit.tx_limit = w->b.credit.tx_seq + 1;
	EXPECT_EQ(0, next_mid(w, &w->b));
	w->b.credit.tx_limit++;
	EXPECT_EQ(SDP_MID_MODE_CHANGE, next_mid(w, &w->b));
}

/* After shutdown no SrcAvail can follow, so ModeChange is not sent. */
TEST(sdp_engine_next__mode_after_shutdown)
{
	struct world *w = learners(TEST_SELF);

	declined(TEST_SELF, w, N);
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_DISCONN);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_rx_mode(&w->b));
}

/* wire 8: Buffered has Data, but no SrcAvail. */
TEST(sdp_srcavail_rx_opened__buffered)
{
	struct world *w = buffered(TEST_SELF);
	struct sdp_msg m;

	receive_right(w, &w->b, SDP_MID_DATA, 100);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
	m = from_peer(&w->b, SDP_MID_SRC_AVAIL, INLINED);
	m.src = region;
	receive_msg(w, &w->b, &m);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	/* The mode changes only when ModeChange is sent, not when it is wanted. */
	w = buffered(TEST_SELF);
	sdp_engine_large_recv(&w->b);
	m = from_peer(&w->b, SDP_MID_SRC_AVAIL, INLINED);
	m.src = region;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* C3: a reader that waits with a large buffer ends Buffered. The peer is told once. */
TEST(sdp_engine_large_recv__buffered)
{
	struct world *w = buffered(TEST_SELF);

	sdp_engine_large_recv(&w->b);
	EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_rx_mode(&w->b));
	sdp_engine_large_recv(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_MODE_CHANGE);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_rx_mode(&w->b));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));
	sdp_engine_large_recv(&w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
	taken(TEST_SELF, w);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
}

/* C3: in Combined a large buffer leads to no message, neither now nor later. */
TEST(sdp_engine_large_recv__combined)
{
	struct world *w = learners(TEST_SELF);

	sdp_engine_large_recv(&w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
	declined(TEST_SELF, w, N);
	sdp_engine_large_recv(&w->b);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* C2: after a return to Combined the count starts at 0. */
TEST(sdp_engine_large_recv__counts_anew)
{
	struct world *w = buffered(TEST_SELF);
	u32 i;

	for (i = 0; i < 3; i++) {
		sdp_engine_large_recv(&w->b);
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_MODE_CHANGE);
		declined(TEST_SELF, w, N - 1);
		EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
		declined(TEST_SELF, w, 1);
		tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
		EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_rx_mode(&w->b));
	}
}

/* Our own half may be closed. The other half still changes its mode. */
TEST(sdp_engine_large_recv__own_half_closed)
{
	struct world *w = buffered(TEST_SELF);

	sdp_engine_shutdown(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_DISCONN);
	sdp_engine_large_recv(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_MODE_CHANGE);
	EXPECT_NO_ACTS(w);
	taken(TEST_SELF, w);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
}

/*
 * D4: a side whose sending half is in Buffered grants its closed peer credit for ModeChange, but
 * not after its own DisConn.
 */
TEST(sdp_engine_next__updates_in_buffered)
{
	struct world *w = buffered(TEST_SELF);

	use_up(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	while (sdp_credit_available(&w->b.credit) > 1)
		use_up(w, &w->b, &w->a, SDP_MID_DATA, 0);
	sdp_engine_posted(&w->a, 12);
	sdp_engine_large_recv(&w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(SDP_MID_DATA, next_mid(w, &w->a));
	EXPECT_EQ(0, w->tx.payload_max);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_MODE_CHANGE);
	/* In Combined the peer has nothing left to send. */
	while (sdp_credit_available(&w->b.credit) > 1)
		use_up(w, &w->b, &w->a, SDP_MID_DATA, 0);
	sdp_engine_posted(&w->a, 12);
	EXPECT_EQ(0, next_mid(w, &w->a));

	w = buffered(TEST_SELF);
	use_up(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	while (sdp_credit_available(&w->b.credit) > 1)
		use_up(w, &w->b, &w->a, SDP_MID_DATA, 0);
	sdp_engine_posted(&w->a, 12);
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* wire 8: after the end of a half nothing is sent about its mode. */
TEST(sdp_engine_large_recv__half_over)
{
	struct world *w = buffered(TEST_SELF);

	sdp_engine_large_recv(&w->b);
	sdp_engine_shutdown(&w->a);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_DISCONN);
	EXPECT_EQ(0, next_mid(w, &w->b));
	sdp_engine_large_recv(&w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
	w = buffered(TEST_SELF);
	aborted(w, &w->b, ECONNABORTED);
	sdp_engine_large_recv(&w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* Both halves change at once, independently. */
TEST(sdp_engine_next__mode_of_both_halves)
{
	struct world *w = buffered(TEST_SELF);
	u32 i;

	for (i = 0; i < N; i++) {
		sdp_engine_srcavail(&w->b, &region, INLINED);
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SRC_AVAIL);
		sdp_engine_srcavail_decline(&w->a);
		tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SENDSM);
	}
	sdp_engine_large_recv(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_MODE_CHANGE);
	EXPECT_TRUE(w->sent.mode_send_half);
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_rx_mode(&w->a));
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_MODE_CHANGE);
	EXPECT_FALSE(w->sent.mode_send_half);
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));
	EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_rx_mode(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* wire 8: ModeChange to the present mode, or a change that is legal only in Pipelined. */
TEST(sdp_mode_change__refused)
{
	static const struct { bool buffered; bool source; u8 byte; } cases[] = {
		{ false, true, 0x90 }, { false, true, 0x10 },
		{ false, false, 0x10 }, { false, false, 0x90 },
		{ true, true, 0x10 },
		{ true, false, 0x00 }, { true, false, 0x10 }, { true, false, 0x20 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = cases[i].buffered ? buffered(TEST_SELF) : learners(TEST_SELF);

		change(w, cases[i].source ? &w->a : &w->b, cases[i].byte);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	}
}

/* wire 8: the same ModeChange twice. */
TEST(sdp_mode_change__twice)
{
	struct world *w = buffered(TEST_SELF);

	change(w, &w->a, 0x90);
	EXPECT_NO_ACTS(w);
	change(w, &w->a, 0x90);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = learners(TEST_SELF);
	change(w, &w->b, 0x00);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_MODE_BUFFERED, sdp_engine_rx_mode(&w->b));
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->b));
	change(w, &w->b, 0x00);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 8: ModeChange to Buffered while a SrcAvail is open. */
TEST(sdp_mode_change__while_srcavail_out)
{
	struct world *w = learners(TEST_SELF);

	advertise(TEST_SELF, w);
	change(w, &w->b, 0x00);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 8: no ModeChange of a half after its DisConn, unless the two have crossed. */
TEST(sdp_mode_change__after_disconn)
{
	struct world *w = learners(TEST_SELF);
	struct sdp_msg m;

	receive_right(w, &w->b, SDP_MID_DISCONN, 0);
	change(w, &w->b, 0x00);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);

	w = buffered(TEST_SELF);
	emit(w, &w->a, SDP_MID_DISCONN, 0);
	m = from_peer(&w->a, SDP_MID_MODE_CHANGE, 0);
	m.mode = SDP_MODE_COMBINED;
	m.mode_send_half = true;
	m.h.mseq_ack--;
	m.h.bufs++;
	receive_msg(w, &w->a, &m);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));

	w = buffered(TEST_SELF);
	emit(w, &w->a, SDP_MID_DISCONN, 0);
	change(w, &w->a, 0x90);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* The DisConn of the other half does not matter. */
TEST(sdp_mode_change__other_half_over)
{
	struct world *w = learners(TEST_SELF);

	sdp_engine_shutdown(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_DISCONN);
	declined(TEST_SELF, w, N);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_MODE_CHANGE);
	EXPECT_NO_ACTS(w);
	sdp_engine_large_recv(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_MODE_CHANGE);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_MODE_COMBINED, sdp_engine_tx_mode(&w->a));
}

TEST_MAIN
