// SPDX-License-Identifier: GPL-2.0
/*
 * SrcAvails that our receiving half gets, in Combined mode.
 *
 * Requirements B3, B4, C4 and wire section 8.
 */
#include "advertising.h"

static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };

/* b receives a SrcAvail, as a peer could send it. */
static void open_with(struct world *w, u32 len, u32 inlined, u8 flags)
{
	struct sdp_msg m = from_peer(&w->b, SDP_MID_SRC_AVAIL, inlined);

	m.src = region;
	m.src.len = len;
	m.h.flags = flags;
	receive_msg(w, &w->b, &m);
	sdp_engine_posted(&w->b, 1);
}

/* Read the next @bytes of the peer's SrcAvail. */
static void read_part(TEST_CTX, struct world *w, u32 bytes)
{
	struct sdp_region from;

	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, bytes, &from));
	sdp_engine_rdma_read_end(&w->b, true);
}

/* b reports @bytes, and a receives the report. */
static void reports(TEST_CTX, struct world *w, u32 bytes)
{
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL);
	EXPECT_EQ(bytes, w->sent.count);
	EXPECT_EQ(bytes, w->msg.count);
}

/* The SrcAvail is over on both sides, and the connection continues with data. */
static void expect_over(TEST_CTX, struct world *w, u32 taken)
{
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, taken);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	receive_right(w, &w->b, SDP_MID_DATA, 5);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
}

/* B2: the inlined bytes are delivered, and SDP_ACT_SRCAVAIL tells of the rest. */
TEST(sdp_srcavail_rx_opened__actions)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	sdp_engine_srcavail(&w->a, &region, INLINED);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_ACTS(w, SDP_ACT_DELIVER, SDP_ACT_SRCAVAIL);
	EXPECT_EQ(32, w->acts.list[0].offset);
	EXPECT_EQ(INLINED, w->acts.list[0].len);
	EXPECT_FALSE(w->acts.list[0].urgent);
	EXPECT_EQ(REST, w->acts.list[1].len);
	EXPECT_EQ(REST, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* The most actions of a SrcAvail: it is the first message, and announces an urgent byte (B7). */
TEST(sdp_srcavail_rx_opened__all_actions)
{
	struct world *w = hello_exchanged(TEST_SELF, 5, 5);

	hello_answered(TEST_SELF, w);
	open_with(w, LEN, INLINED, SDP_FLAG_OOB_PEND);
	EXPECT_EQ(4, w->acts.n);
	EXPECT_EQ(SDP_ACT_ESTABLISHED, w->acts.list[0].kind);
	EXPECT_EQ(SDP_ACT_URGENT, w->acts.list[1].kind);
	EXPECT_EQ(SDP_ACT_DELIVER, w->acts.list[2].kind);
	EXPECT_EQ(SDP_ACT_SRCAVAIL, w->acts.list[3].kind);
}

/* The smallest SrcAvail: one inlined byte, and one to read. */
TEST(sdp_srcavail_rx_opened__smallest)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	open_with(w, 2, 1, 0);
	EXPECT_ACTS(w, SDP_ACT_DELIVER, SDP_ACT_SRCAVAIL);
	EXPECT_EQ(1, sdp_engine_srcavail_rx_left(&w->b));
}

/* wire 2, 8, 9: SrcAvails that are illegal in Combined. */
TEST(sdp_srcavail_rx_opened__refused)
{
	static const struct { u32 len, inlined; u8 flags; enum sdp_violation want; } cases[] = {
		{ LEN, 0, 0, SDP_BAD_PAYLOAD },
		{ 100, 100, 0, SDP_BAD_FIELD },
		{ 100, 101, 0, SDP_BAD_FIELD },
		{ 0, 0, 0, SDP_BAD_FIELD },
		{ 100, 5, SDP_FLAG_OOB_PRES, SDP_BAD_FLAGS },
		{ LEN, RECV_SIZE - 31, 0, SDP_BAD_FIELD },
		{ 5000, RECV_SIZE - 31, 0, SDP_BAD_LEN },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = joined(TEST_SELF, &growing, &growing);

		open_with(w, cases[i].len, cases[i].inlined, cases[i].flags);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, cases[i].want);
		EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	}
}

/* D5: SrcAvail has payload, so it must not use the last credit. */
TEST(sdp_srcavail_rx_opened__last_credit)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	while (w->b.credit.rx_limit - w->b.credit.rx_seq > 1)
		receive_right(w, &w->b, SDP_MID_DATA, 0);
	open_with(w, LEN, INLINED, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_CREDIT);
}

/* wire 8, 10: no payload, DisConn or second SrcAvail while a SrcAvail is open. */
TEST(sdp_srcavail_rx_opened__nothing_follows)
{
	struct world *w = advertised(TEST_SELF);

	receive_right(w, &w->b, SDP_MID_DATA, 0);
	EXPECT_NO_ACTS(w);
	receive_right(w, &w->b, SDP_MID_DATA, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = advertised(TEST_SELF);
	receive_right(w, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = advertised(TEST_SELF);
	open_with(w, LEN, INLINED, 0);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	/* A SrcAvail that is read, but not reported, is still open. */
	w = advertised(TEST_SELF);
	read_part(TEST_SELF, w, REST);
	receive_right(w, &w->b, SDP_MID_DATA, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = advertised(TEST_SELF);
	sdp_engine_srcavail_decline(&w->b);
	open_with(w, LEN, INLINED, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 10: no SrcAvail after the peer's DisConn. Our own DisConn does not matter. */
TEST(sdp_srcavail_rx_opened__disconn)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	receive_right(w, &w->b, SDP_MID_DISCONN, 0);
	open_with(w, LEN, INLINED, 0);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = joined(TEST_SELF, &growing, &growing);
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	sdp_engine_srcavail(&w->a, &region, INLINED);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_EQ(SDP_DISC_ARRIVED, w->b.state);
	read_part(TEST_SELF, w, REST);
	reports(TEST_SELF, w, REST);
	expect_over(TEST_SELF, w, LEN);
}

/* B4: reads continue one after the other, behind the inlined bytes. */
TEST(sdp_engine_rdma_read_begin__addresses)
{
	struct world *w = advertised(TEST_SELF);
	struct sdp_region from = { 0 };

	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 300, &from));
	EXPECT_EQ(300, from.len);
	EXPECT_EQ(region.rkey, from.rkey);
	EXPECT_EQ(region.va + INLINED, from.va);
	sdp_engine_rdma_read_end(&w->b, true);
	EXPECT_EQ(REST - 300, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST - 300, &from));
	EXPECT_EQ(REST - 300, from.len);
	EXPECT_EQ(region.va + INLINED + 300, from.va);
	sdp_engine_rdma_read_end(&w->b, true);
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_FALSE(sdp_engine_rdma_read_begin(&w->b, 1, &from));
}

/* C9: the progress of the reads, for the owner's deadlock scan. */
TEST(sdp_engine_srcavail_rx_read__follows)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	struct sdp_region from;

	EXPECT_EQ(0, sdp_engine_srcavail_rx_read(&w->b));
	w = advertised(TEST_SELF);
	EXPECT_EQ(INLINED, sdp_engine_srcavail_rx_read(&w->b));
	EXPECT_FALSE(sdp_engine_srcavail_rx_reading(&w->b));
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 300, &from));
	EXPECT_TRUE(sdp_engine_srcavail_rx_reading(&w->b));
	EXPECT_EQ(INLINED, sdp_engine_srcavail_rx_read(&w->b));
	sdp_engine_rdma_read_end(&w->b, true);
	EXPECT_FALSE(sdp_engine_srcavail_rx_reading(&w->b));
	EXPECT_EQ(INLINED + 300, sdp_engine_srcavail_rx_read(&w->b));
	read_part(TEST_SELF, w, REST - 300);
	EXPECT_EQ(LEN, sdp_engine_srcavail_rx_read(&w->b));
	reports(TEST_SELF, w, REST);
	EXPECT_EQ(0, sdp_engine_srcavail_rx_read(&w->b));
	w = advertised(TEST_SELF);
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 300, &from));
	aborted(w, &w->b, ECONNABORTED);
	EXPECT_FALSE(sdp_engine_srcavail_rx_reading(&w->b));
	EXPECT_EQ(0, sdp_engine_srcavail_rx_read(&w->b));
}

/* Illegal reads: 0 bytes, more than the rest, a second read at once, or without a SrcAvail. */
TEST(sdp_engine_rdma_read_begin__refused)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	struct sdp_region from = { 0 };

	EXPECT_FALSE(sdp_engine_rdma_read_begin(&w->b, 1, &from));
	w = advertised(TEST_SELF);
	EXPECT_FALSE(sdp_engine_rdma_read_begin(&w->b, 0, &from));
	EXPECT_FALSE(sdp_engine_rdma_read_begin(&w->b, REST + 1, &from));
	EXPECT_FALSE(sdp_engine_rdma_read_begin(&w->b, 0xffffffff, &from));
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 5, &from));
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_FALSE(sdp_engine_rdma_read_begin(&w->b, 5, &from));
	sdp_engine_rdma_read_end(&w->b, true);
	sdp_engine_srcavail_decline(&w->b);
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_FALSE(sdp_engine_rdma_read_begin(&w->b, 5, &from));
	w = advertised(TEST_SELF);
	aborted(w, &w->b, ECONNABORTED);
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_FALSE(sdp_engine_rdma_read_begin(&w->b, 5, &from));
	EXPECT_EQ(5, from.len);
}

/* A failed read has moved nothing, and may be tried again. */
TEST(sdp_engine_rdma_read_end__failed)
{
	struct world *w = advertised(TEST_SELF);
	struct sdp_region from;

	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 300, &from));
	sdp_engine_rdma_read_end(&w->b, false);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(REST, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST, &from));
	EXPECT_EQ(region.va + INLINED, from.va);
	sdp_engine_rdma_read_end(&w->b, true);
	reports(TEST_SELF, w, REST);
	expect_over(TEST_SELF, w, LEN);
}

/* wire 6, 8: the report of the last byte closes the SrcAvail. */
TEST(sdp_srcavail_rx_answer__whole)
{
	static const u8 golden[20] = {
		0x06, 0, 0, 5, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0x03, 0x84,
	};
	struct world *w = advertised(TEST_SELF);

	read_part(TEST_SELF, w, REST);
	reports(TEST_SELF, w, REST);
	EXPECT_BYTES(golden, w->buf, 20);
	expect_over(TEST_SELF, w, LEN);
}

/* wire 8: each part may be reported alone. */
TEST(sdp_srcavail_rx_answer__parts)
{
	struct world *w = advertised(TEST_SELF);

	read_part(TEST_SELF, w, 1);
	reports(TEST_SELF, w, 1);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(REST - 1, sdp_engine_srcavail_rx_left(&w->b));
	read_part(TEST_SELF, w, REST - 1);
	reports(TEST_SELF, w, REST - 1);
	expect_over(TEST_SELF, w, LEN);
}

/* wire 8: one report may cover several finished reads. */
TEST(sdp_srcavail_rx_answer__parts_together)
{
	struct world *w = advertised(TEST_SELF);
	struct sdp_region from;

	read_part(TEST_SELF, w, 300);
	read_part(TEST_SELF, w, 200);
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST - 500, &from));
	reports(TEST_SELF, w, 500);
	EXPECT_EQ(0, next_mid(w, &w->b));
	sdp_engine_rdma_read_end(&w->b, true);
	reports(TEST_SELF, w, REST - 500);
	expect_over(TEST_SELF, w, LEN);
}

/* D5: reports and SendSm use the last credit only if they grant one in return. */
TEST(sdp_srcavail_rx_answer__credit)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct world *w = advertised(TEST_SELF);
		u8 mid = i ? SDP_MID_SENDSM : SDP_MID_RDMA_RD_COMPL;
		u16 posted = w->b.credit.posted;

		if (i)
			sdp_engine_srcavail_decline(&w->b);
		else
			read_part(TEST_SELF, w, REST);
		w->b.credit.tx_limit = w->b.credit.tx_seq + 2;
		w->b.credit.posted = 0;
		EXPECT_EQ(0, next_mid(w, &w->b));
		w->b.credit.posted = w->b.credit.theirs;
		EXPECT_EQ(mid, next_mid(w, &w->b));
		w->b.credit.tx_limit--;
		EXPECT_EQ(0, next_mid(w, &w->b));
		w->b.credit.posted = posted;
		EXPECT_EQ(mid, next_mid(w, &w->b));
		EXPECT_EQ(posted, w->b.credit.theirs + 1);
		w->b.credit.tx_limit--;
		EXPECT_EQ(0, next_mid(w, &w->b));
	}
}

/* The receive posted in place of that of SrcAvail is granted by the final answer, not before. */
TEST(sdp_srcavail_rx_answer__keeps_a_grant)
{
	struct world *w = advertised(TEST_SELF);

	emit(w, &w->b, SDP_MID_DATA, 5);
	EXPECT_EQ(POSTED - 1, w->sent.h.bufs);
	sdp_engine_posted(&w->b, 2);
	emit(w, &w->b, SDP_MID_DATA, 5);
	EXPECT_EQ(POSTED + 1, w->sent.h.bufs);
	read_part(TEST_SELF, w, 5);
	emit(w, &w->b, SDP_MID_RDMA_RD_COMPL, 0);
	EXPECT_EQ(POSTED + 1, w->sent.h.bufs);
	sdp_engine_srcavail_decline(&w->b);
	emit(w, &w->b, SDP_MID_SENDSM, 0);
	EXPECT_EQ(POSTED + 2, w->sent.h.bufs);
}

/* If none was posted in its place, because the target has shrunk, one more receive is wanted. */
TEST(sdp_srcavail_rx_opened__wants_a_receive_more)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	sdp_engine_set_target(&w->b, 3, 0);
	EXPECT_EQ(0, sdp_engine_receives_wanted(&w->b));
	sdp_engine_srcavail(&w->a, &region, INLINED);
	use_up(w, &w->a, &w->b, SDP_MID_SRC_AVAIL, INLINED);
	EXPECT_EQ(1, sdp_engine_receives_wanted(&w->b));
	sdp_engine_posted(&w->b, 1);
	EXPECT_EQ(0, sdp_engine_receives_wanted(&w->b));
	sdp_engine_srcavail_decline(&w->b);
	emit(w, &w->b, SDP_MID_SENDSM, 0);
	EXPECT_EQ(0, sdp_engine_receives_wanted(&w->b));
}

/* Answers go before all other messages, because the peer waits for them. */
TEST(sdp_srcavail_rx_answer__first)
{
	struct world *w = advertised(TEST_SELF);

	split(&w->b, LEVEL, 5000);
	sdp_engine_shutdown(&w->b);
	read_part(TEST_SELF, w, 5);
	sdp_engine_srcavail_decline(&w->b);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &full, &w->tx));
	EXPECT_EQ(SDP_MID_RDMA_RD_COMPL, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	pass(w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL, 0);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &full, &w->tx));
	EXPECT_EQ(SDP_MID_SENDSM, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	pass(w, &w->b, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &full, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
}

/* Our own open SrcAvail does not delay answers. */
TEST(sdp_srcavail_rx_answer__while_own_is_out)
{
	struct world *w = advertised(TEST_SELF);

	sdp_engine_srcavail(&w->b, &region, INLINED);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SRC_AVAIL);
	EXPECT_EQ(REST, sdp_engine_srcavail_rx_left(&w->a));
	read_part(TEST_SELF, w, REST);
	reports(TEST_SELF, w, REST);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
	sdp_engine_srcavail_decline(&w->a);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SENDSM);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED);
}

/* End the SrcAvail by our owner's decline or by the peer's cancel. */
static void stop(struct world *w, bool cancel)
{
	if (!cancel) {
		sdp_engine_srcavail_decline(&w->b);
		return;
	}
	sdp_engine_srcavail_cancel(&w->a);
	pass(w, &w->a, &w->b, SDP_MID_SRC_CANCEL, 0);
}

/* B3: nothing has been read. */
TEST(sdp_srcavail_rx_decline__at_once)
{
	static const u8 golden[16] = { 0x04, 0, 0, 5, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 1 };
	u32 cancel;

	for (cancel = 0; cancel < 2; cancel++) {
		struct world *w = advertised(TEST_SELF);

		stop(w, cancel);
		EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
		if (!cancel)
			EXPECT_BYTES(golden, w->buf, 16);
		expect_over(TEST_SELF, w, INLINED);
	}
}

/* Bytes that were read are reported before SendSm. */
TEST(sdp_srcavail_rx_decline__after_a_part)
{
	u32 cancel;

	for (cancel = 0; cancel < 2; cancel++) {
		struct world *w = advertised(TEST_SELF);

		read_part(TEST_SELF, w, 400);
		stop(w, cancel);
		reports(TEST_SELF, w, 400);
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
		expect_over(TEST_SELF, w, INLINED + 400);
	}
}

/* An RDMA read in flight ends before SendSm, whether it succeeds or fails. */
TEST(sdp_srcavail_rx_decline__while_reading)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		struct world *w = advertised(TEST_SELF);
		struct sdp_region from;
		bool ok = i & 2;

		EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 400, &from));
		stop(w, i & 1);
		EXPECT_EQ(0, next_mid(w, &w->b));
		sdp_engine_rdma_read_end(&w->b, ok);
		EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
		if (ok)
			reports(TEST_SELF, w, 400);
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
		expect_over(TEST_SELF, w, INLINED + (ok ? 400 : 0));
	}
}

/* If that read was of the rest, the report is the final answer. */
TEST(sdp_srcavail_rx_decline__while_reading_the_rest)
{
	u32 cancel;

	for (cancel = 0; cancel < 2; cancel++) {
		struct world *w = advertised(TEST_SELF);
		struct sdp_region from;

		EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST, &from));
		stop(w, cancel);
		EXPECT_EQ(0, next_mid(w, &w->b));
		sdp_engine_rdma_read_end(&w->b, true);
		reports(TEST_SELF, w, REST);
		expect_over(TEST_SELF, w, LEN);
	}
}

/* If all has been read, but not reported, the report is the final answer. */
TEST(sdp_srcavail_rx_decline__when_all_is_read)
{
	u32 cancel;

	for (cancel = 0; cancel < 2; cancel++) {
		struct world *w = advertised(TEST_SELF);

		read_part(TEST_SELF, w, REST);
		stop(w, cancel);
		reports(TEST_SELF, w, REST);
		expect_over(TEST_SELF, w, LEN);
	}
}

/* Decline and cancel together get one answer. */
TEST(sdp_srcavail_rx_decline__twice)
{
	struct world *w = advertised(TEST_SELF);

	stop(w, false);
	stop(w, true);
	stop(w, false);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	expect_over(TEST_SELF, w, INLINED);
}

/* Without a SrcAvail a decline or cancel has no effect, neither now nor on the next SrcAvail. */
TEST(sdp_srcavail_rx_decline__nothing_there)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	sdp_engine_srcavail_decline(&w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
	receive_right(w, &w->b, SDP_MID_SRC_CANCEL, 0);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(0, next_mid(w, &w->b));
	open_with(w, LEN, INLINED, 0);
	EXPECT_EQ(REST, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* A cancel that crosses our final answer has no effect, and the next SrcAvail is read as usual. */
TEST(sdp_srcavail_rx_decline__crossing)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct world *w = advertised(TEST_SELF);
		u8 cancel[SDP_HEADER_MAX];
		u32 bytes;

		sdp_engine_srcavail_cancel(&w->a);
		bytes = emit(w, &w->a, SDP_MID_SRC_CANCEL, 0);
		memcpy(cancel, w->buf, bytes);
		if (i) {
			read_part(TEST_SELF, w, REST);
			reports(TEST_SELF, w, REST);
		} else {
			sdp_engine_srcavail_decline(&w->b);
			tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
		}
		EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, i ? LEN : INLINED);
		receive_bytes(w, &w->b, cancel, bytes);
		sdp_engine_posted(&w->b, 1);
		EXPECT_NO_ACTS(w);
		EXPECT_EQ(0, next_mid(w, &w->b));
		sdp_engine_srcavail(&w->a, &region, INLINED);
		tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
		EXPECT_EQ(REST, sdp_engine_srcavail_rx_left(&w->b));
		read_part(TEST_SELF, w, REST);
		reports(TEST_SELF, w, REST);
		expect_over(TEST_SELF, w, LEN);
	}
}

/* After the end of the connection nothing is sent, whatever happens to the read. */
TEST(sdp_srcavail_rx_answer__dead)
{
	struct world *w = advertised(TEST_SELF);
	struct sdp_region from;

	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST, &from));
	aborted(w, &w->b, ECONNABORTED);
	sdp_engine_rdma_read_end(&w->b, true);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	w = advertised(TEST_SELF);
	aborted(w, &w->b, ECONNABORTED);
	sdp_engine_srcavail_decline(&w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
}

TEST_MAIN
