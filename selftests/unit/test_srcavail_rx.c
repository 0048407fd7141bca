// SPDX-License-Identifier: GPL-2.0
/*
 * The peer's advertisement at the receiving half, Combined mode: B3, B4, C4, wire section 8.
 */
#include "advertising.h"

static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };

/* SrcAvail as a peer could send it. */
static void open_with(struct world *w, u32 len, u32 inlined, u8 flags)
{
	struct sdp_msg m = from_peer(&w->b, SDP_MID_SRC_AVAIL, inlined);

	m.src = region;
	m.src.len = len;
	m.h.flags = flags;
	receive_msg(w, &w->b, &m);
	sdp_engine_posted(&w->b, 1);
}

/* The next @bytes of the peer's memory are read. */
static void read_part(TEST_CTX, struct world *w, u32 bytes)
{
	struct sdp_region from;

	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, bytes, &from));
	sdp_engine_rdma_read_end(&w->b, true);
}

/* b reports so many bytes, and a understands. */
static void reports(TEST_CTX, struct world *w, u32 bytes)
{
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL);
	EXPECT_EQ(bytes, w->sent.count);
	EXPECT_EQ(bytes, w->msg.count);
}

/* It is over on both sides: the connection goes on with data. */
static void expect_over(TEST_CTX, struct world *w, u32 taken)
{
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, taken);
	EXPECT_EQ(0, offered(w, &w->b));
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	receive_right(w, &w->b, SDP_MID_DATA, 5);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
}

/* B2: what came along is delivered, the rest is offered */
TEST(sdp_sink_opened__actions)
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
	EXPECT_EQ(0, offered(w, &w->b));
}

/* The most that one event leads to: the first message, with an urgent byte announced (B7) */
TEST(sdp_sink_opened__all_actions)
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

/* The smallest there is: one byte here, one to be read */
TEST(sdp_sink_opened__smallest)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	open_with(w, 2, 1, 0);
	EXPECT_ACTS(w, SDP_ACT_DELIVER, SDP_ACT_SRCAVAIL);
	EXPECT_EQ(1, sdp_engine_srcavail_rx_left(&w->b));
}

/* wire 2, 8, 9: what is no advertisement in this mode */
TEST(sdp_sink_opened__refused)
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

/* D5: its payload must not come with the last credit */
TEST(sdp_sink_opened__last_credit)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	while (w->b.credit.rx_limit - w->b.credit.rx_seq > 1)
		receive_right(w, &w->b, SDP_MID_DATA, 0);
	open_with(w, LEN, INLINED, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_CREDIT);
}

/* wire 8, 10: nothing that belongs after it before it is over */
TEST(sdp_sink_opened__nothing_follows)
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
	/* Read, and not reported yet: that is not over either. */
	w = advertised(TEST_SELF);
	read_part(TEST_SELF, w, REST);
	receive_right(w, &w->b, SDP_MID_DATA, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = advertised(TEST_SELF);
	sdp_engine_srcavail_decline(&w->b);
	open_with(w, LEN, INLINED, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 10: none after the peer's DisConn; our own changes nothing */
TEST(sdp_sink_opened__disconn)
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

/* B4: reads follow each other from behind what came along */
TEST(sdp_engine_read_begin__addresses)
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

/* C9: how far it is, for the owner's look whether anybody reads */
TEST(sdp_engine_read_so_far__follows)
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

/* Nothing, more than there is, a second one at once, or nothing there to be read */
TEST(sdp_engine_read_begin__refused)
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

/* A read that failed has moved nothing, and may be tried again */
TEST(sdp_engine_read_end__failed)
{
	struct world *w = advertised(TEST_SELF);
	struct sdp_region from;

	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 300, &from));
	sdp_engine_rdma_read_end(&w->b, false);
	EXPECT_EQ(0, offered(w, &w->b));
	EXPECT_EQ(REST, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST, &from));
	EXPECT_EQ(region.va + INLINED, from.va);
	sdp_engine_rdma_read_end(&w->b, true);
	reports(TEST_SELF, w, REST);
	expect_over(TEST_SELF, w, LEN);
}

/* wire 6, 8: the report, which closes it when it is of the last byte */
TEST(sdp_sink_answer__whole)
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

/* wire 8: each part may be reported by itself */
TEST(sdp_sink_answer__parts)
{
	struct world *w = advertised(TEST_SELF);

	read_part(TEST_SELF, w, 1);
	reports(TEST_SELF, w, 1);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(0, offered(w, &w->b));
	EXPECT_EQ(REST - 1, sdp_engine_srcavail_rx_left(&w->b));
	read_part(TEST_SELF, w, REST - 1);
	reports(TEST_SELF, w, REST - 1);
	expect_over(TEST_SELF, w, LEN);
}

/* ... or several at once, those that have ended */
TEST(sdp_sink_answer__parts_together)
{
	struct world *w = advertised(TEST_SELF);
	struct sdp_region from;

	read_part(TEST_SELF, w, 300);
	read_part(TEST_SELF, w, 200);
	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST - 500, &from));
	reports(TEST_SELF, w, 500);
	EXPECT_EQ(0, offered(w, &w->b));
	sdp_engine_rdma_read_end(&w->b, true);
	reports(TEST_SELF, w, REST - 500);
	expect_over(TEST_SELF, w, LEN);
}

/* D5: reports and SendSm use the last credit only if they grant one in its place */
TEST(sdp_sink_answer__credit)
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
		EXPECT_EQ(0, offered(w, &w->b));
		w->b.credit.posted = w->b.credit.theirs;
		EXPECT_EQ(mid, offered(w, &w->b));
		w->b.credit.tx_limit--;
		EXPECT_EQ(0, offered(w, &w->b));
		w->b.credit.posted = posted;
		EXPECT_EQ(mid, offered(w, &w->b));
		EXPECT_EQ(posted, w->b.credit.theirs + 1);
		w->b.credit.tx_limit--;
		EXPECT_EQ(0, offered(w, &w->b));
	}
}

/* What was posted in the place of SrcAvail is granted with the last answer, not before */
TEST(sdp_sink_answer__keeps_a_grant)
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

/* If none was posted in its place, because fewer shall be, one is wanted beyond that */
TEST(sdp_sink_opened__wants_a_receive_more)
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

/* They go before everything else, for the peer waits */
TEST(sdp_sink_answer__first)
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

/* Our own advertisement, out at the same time, does not hold them up */
TEST(sdp_sink_answer__while_own_is_out)
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

/* How the end is asked for: by our owner, or by the peer. */
static void stop(struct world *w, bool cancel)
{
	if (!cancel) {
		sdp_engine_srcavail_decline(&w->b);
		return;
	}
	sdp_engine_srcavail_cancel(&w->a);
	pass(w, &w->a, &w->b, SDP_MID_SRC_CANCEL, 0);
}

/* B3: nothing has been read */
TEST(sdp_sink_decline__at_once)
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

/* What has been read is reported first */
TEST(sdp_sink_decline__after_a_part)
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

/* What is being read comes to its end first, good or bad */
TEST(sdp_sink_decline__while_reading)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		struct world *w = advertised(TEST_SELF);
		struct sdp_region from;
		bool ok = i & 2;

		EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 400, &from));
		stop(w, i & 1);
		EXPECT_EQ(0, offered(w, &w->b));
		sdp_engine_rdma_read_end(&w->b, ok);
		EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
		if (ok)
			reports(TEST_SELF, w, 400);
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
		expect_over(TEST_SELF, w, INLINED + (ok ? 400 : 0));
	}
}

/* If that was the rest, the report says all */
TEST(sdp_sink_decline__while_reading_the_rest)
{
	u32 cancel;

	for (cancel = 0; cancel < 2; cancel++) {
		struct world *w = advertised(TEST_SELF);
		struct sdp_region from;

		EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST, &from));
		stop(w, cancel);
		EXPECT_EQ(0, offered(w, &w->b));
		sdp_engine_rdma_read_end(&w->b, true);
		reports(TEST_SELF, w, REST);
		expect_over(TEST_SELF, w, LEN);
	}
}

/* ... as it does when it has not gone yet */
TEST(sdp_sink_decline__when_all_is_read)
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

/* Said twice, by whomever, it is answered once */
TEST(sdp_sink_decline__twice)
{
	struct world *w = advertised(TEST_SELF);

	stop(w, false);
	stop(w, true);
	stop(w, false);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	expect_over(TEST_SELF, w, INLINED);
}

/* With nothing there, there is nothing to say; nor does the next one suffer */
TEST(sdp_sink_decline__nothing_there)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	sdp_engine_srcavail_decline(&w->b);
	EXPECT_EQ(0, offered(w, &w->b));
	receive_right(w, &w->b, SDP_MID_SRC_CANCEL, 0);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(0, offered(w, &w->b));
	open_with(w, LEN, INLINED, 0);
	EXPECT_EQ(REST, sdp_engine_srcavail_rx_left(&w->b));
	EXPECT_EQ(0, offered(w, &w->b));
}

/* A cancel that crosses our last word is for nothing, and the next one is read as usual */
TEST(sdp_sink_decline__crossing)
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
		EXPECT_EQ(0, offered(w, &w->b));
		sdp_engine_srcavail(&w->a, &region, INLINED);
		tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
		EXPECT_EQ(REST, sdp_engine_srcavail_rx_left(&w->b));
		read_part(TEST_SELF, w, REST);
		reports(TEST_SELF, w, REST);
		expect_over(TEST_SELF, w, LEN);
	}
}

/* After the end nothing is said, whatever ends meanwhile */
TEST(sdp_sink_answer__dead)
{
	struct world *w = advertised(TEST_SELF);
	struct sdp_region from;

	EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, REST, &from));
	aborted(w, &w->b, ECONNABORTED);
	sdp_engine_rdma_read_end(&w->b, true);
	EXPECT_EQ(0, offered(w, &w->b));
	EXPECT_EQ(0, sdp_engine_srcavail_rx_left(&w->b));
	w = advertised(TEST_SELF);
	aborted(w, &w->b, ECONNABORTED);
	sdp_engine_srcavail_decline(&w->b);
	EXPECT_EQ(0, offered(w, &w->b));
}

TEST_MAIN
