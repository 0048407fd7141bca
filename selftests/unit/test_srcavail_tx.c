// SPDX-License-Identifier: GPL-2.0
/*
 * SrcAvails that our sending half sends, in Combined mode.
 *
 * Requirements B2, C4 and wire section 8.
 */
#include "advertising.h"

static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };
static const struct sdp_tx_view partial = { .head_bytes = 5 };

/* B2: SrcAvail is allowed whenever data is, and none is open. */
TEST(sdp_engine_may_srcavail__states)
{
	struct world *w = hello_exchanged(TEST_SELF, 5, 5);

	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->b));
	w = connected(TEST_SELF);
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->b));
	sdp_engine_shutdown(&w->a);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	w = connected(TEST_SELF);
	aborted(w, &w->a, ECONNABORTED);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
}

/* wire 8: one SrcAvail at a time, until it is over. */
TEST(sdp_engine_may_srcavail__one_at_a_time)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
	sdp_engine_srcavail(&w->a, &region, INLINED);
	EXPECT_TRUE(sdp_engine_srcavail_tx_open(&w->a));
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->b));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	sdp_engine_srcavail_cancel(&w->a);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_CANCEL);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->a));
	EXPECT_TRUE(sdp_engine_srcavail_tx_open(&w->a));
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
}

/*
 * C9: not while the peer's SrcAvail is open, because each application could wait for the other's
 * deadlock scan.
 */
TEST(sdp_engine_may_srcavail__not_while_peers_is_open)
{
	struct world *w = advertised(TEST_SELF);

	EXPECT_FALSE(sdp_engine_may_srcavail(&w->b));
	sdp_engine_srcavail_decline(&w->b);
	EXPECT_FALSE(sdp_engine_may_srcavail(&w->b));
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->b));
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
}

/* The inlined bytes have to fit into the peer's receive, behind the longer header. */
TEST(sdp_engine_srcavail_inline_max__follows_resize)
{
	struct world *w = connected(TEST_SELF);

	EXPECT_EQ(RECV_SIZE - 32, sdp_engine_srcavail_inline_max(&w->a));
	w = grown(TEST_SELF, 5000);
	EXPECT_EQ(PAGES(2) - 32, sdp_engine_srcavail_inline_max(&w->a));
}

/* wire 6, 8: SrcAvail describes all of the data, and carries the beginning. */
TEST(sdp_engine_srcavail__golden_bytes)
{
	static const u8 golden[32] = {
		0xfe, 0, 0, 5, 0, 0, 0, 132, 0, 0, 0, 1, 0, 0, 0, 0,
		0, 0, 0x03, 0xe8, 0x0a, 0x0b, 0x0c, 0x0d,
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
	};
	struct world *w = joined(TEST_SELF, &growing, &growing);

	sdp_engine_srcavail(&w->a, &region, INLINED);
	EXPECT_EQ(SDP_MID_SRC_AVAIL, next_mid(w, &w->a));
	EXPECT_EQ(INLINED, w->tx.payload_max);
	EXPECT_EQ(0, w->tx.flags);
	EXPECT_EQ(132, emit(w, &w->a, SDP_MID_SRC_AVAIL, INLINED));
	EXPECT_BYTES(golden, w->buf, 32);
	EXPECT_EQ(INLINED, w->sent.payload_len);
	EXPECT_EQ(LEN, w->sent.src.len);
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* As much as fits is inlined. A resize after the call does not change it (E3). */
TEST(sdp_engine_srcavail__largest_inline)
{
	struct sdp_region large = region;
	struct world *w = joined(TEST_SELF, &growing, &growing);

	large.len = 100000;
	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	use_up_old(w, &w->a, &w->b);
	sdp_engine_srcavail(&w->a, &large, sdp_engine_srcavail_inline_max(&w->a));
	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	EXPECT_EQ(PAGES(2) - 32, sdp_engine_srcavail_inline_max(&w->a));
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_EQ(RECV_SIZE, w->msg.h.len);
	EXPECT_EQ(RECV_SIZE - 32, w->msg.payload_len);
}

/* Data that was ready before goes before SrcAvail, and does not gather. */
TEST(sdp_engine_srcavail__after_data)
{
	static const struct sdp_tx_view held = { .head_bytes = 5, .hold = true };
	struct world *w = joined(TEST_SELF, &growing, &growing);

	emit(w, &w->a, SDP_MID_DATA, 5);
	EXPECT_EQ(SDP_NEXT_GATHER, sdp_engine_next(&w->a, &partial, &w->tx));
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->a, &held, &w->tx));
	sdp_engine_srcavail(&w->a, &region, INLINED);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	EXPECT_EQ(PAYLOAD_MAX, w->tx.payload_max);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &held, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &partial, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	emit(w, &w->a, SDP_MID_DATA, 5);
	EXPECT_EQ(SDP_MID_SRC_AVAIL, next_mid(w, &w->a));
}

/* D5: SrcAvail carries data, so it needs the credits of data. */
TEST(sdp_engine_srcavail__credit)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	sdp_engine_srcavail(&w->a, &region, INLINED);
	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, sdp_engine_next(&w->a, &nothing, &w->tx));
	w->a.credit.tx_limit++;
	EXPECT_EQ(SDP_MID_SRC_AVAIL, next_mid(w, &w->a));
	w->a.credit.posted = 0;
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, sdp_engine_next(&w->a, &nothing, &w->tx));
}

/* After the peer's DisConn our half is open, and the peer still answers. */
TEST(sdp_engine_srcavail__after_peers_disconn)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	sdp_engine_srcavail(&w->a, &region, INLINED);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_ACTS(w, SDP_ACT_DELIVER, SDP_ACT_SRCAVAIL);
	sdp_engine_srcavail_decline(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED);
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_MID_DISCONN, next_mid(w, &w->a));
}

/* The peer's DisConn may come while our SrcAvail is open. */
TEST(sdp_engine_srcavail__peers_disconn_meanwhile)
{
	struct world *w = advertised(TEST_SELF);

	receive_right(w, &w->a, SDP_MID_DISCONN, 0);
	EXPECT_ACT(w, SDP_ACT_EOF);
	EXPECT_TRUE(sdp_engine_srcavail_tx_open(&w->a));
	report(w, &w->a, REST);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
}

/* D4: after its DisConn the peer still needs credit to report its reads. */
TEST(sdp_engine_srcavail__credit_after_peers_disconn)
{
	struct world *w = connected(TEST_SELF);
	struct sdp_region from;
	u32 i;

	sdp_engine_srcavail(&w->a, &region, INLINED);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	for (i = 0; i < REST; i++) {
		completed(w, &w->b, 1);
		EXPECT_TRUE(sdp_engine_rdma_read_begin(&w->b, 1, &from));
		sdp_engine_rdma_read_end(&w->b, true);
		if (next_mid(w, &w->a)) {
			tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_DATA);
			completed(w, &w->a, 1);
		}
		tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_RDMA_RD_COMPL);
	}
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* A connection in any state with an open SrcAvail: sent, cancel wanted, cancel sent. */
static struct world *out(TEST_CTX, enum sdp_srcavail_tx_state state)
{
	struct world *w = advertised(TEST_SELF);

	if (state >= SDP_SRCAVAIL_TX_CANCEL)
		sdp_engine_srcavail_cancel(&w->a);
	if (state == SDP_SRCAVAIL_TX_CANCELLED)
		emit(w, &w->a, SDP_MID_SRC_CANCEL, 0);
	EXPECT_EQ(state, w->a.srcavail_tx.state);
	return w;
}

/* wire 8: no data and no DisConn while a SrcAvail is open. */
TEST(sdp_engine_next__nothing_overtakes)
{
	enum sdp_srcavail_tx_state s;

	for (s = SDP_SRCAVAIL_TX_OUT; s <= SDP_SRCAVAIL_TX_CANCELLED; s++) {
		struct world *w = out(TEST_SELF, s);
		u8 want = s == SDP_SRCAVAIL_TX_CANCEL ? SDP_MID_SRC_CANCEL : 0;

		sdp_engine_next(&w->a, &full, &w->tx);
		EXPECT_EQ(want, w->tx.mid);
		EXPECT_EQ(0, w->tx.payload_max);
		sdp_engine_shutdown(&w->a);
		EXPECT_EQ(want, next_mid(w, &w->a));
		sdp_engine_next(&w->a, &full, &w->tx);
		EXPECT_EQ(want, w->tx.mid);
		receive_right(w, &w->a, SDP_MID_SENDSM, 0);
		EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED);
		EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
		EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
		EXPECT_EQ(SDP_MID_DISCONN, next_mid(w, &w->a));
	}
}

/* wire 8: credit updates (D4) and all messages of a resize go while a SrcAvail is open. */
TEST(sdp_engine_next__what_goes_meanwhile)
{
	struct world *w = advertised(TEST_SELF);

	use_up(w, &w->b, &w->a, SDP_MID_DATA, 5);
	while (w->a.credit.theirs >= w->a.credit.threshold)
		pass(w, &w->b, &w->a, SDP_MID_DATA, 5);
	sdp_engine_posted(&w->a, w->a.credit.threshold);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	split(&w->a, LEVEL, 5000);
	say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF);

	w = shrinking(TEST_SELF);
	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	sdp_engine_srcavail(&w->a, &region, INLINED);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_EQ(SDP_MID_DATA, next_mid(w, &w->a));
	EXPECT_EQ(0, w->tx.payload_max);
	foreign(w, &w->a, SDP_MID_CHRCVBUF, RECV_SIZE);
	EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, next_mid(w, &w->a));
}

/*
 * D5: a peer without credit cannot answer our SrcAvail, and no other message of ours will grant it
 * any. So an update grants even a single receive, but not with our last credit.
 */
TEST(sdp_engine_next__credit_to_answer)
{
	struct world *w = advertised(TEST_SELF);

	while (w->b.credit.tx_limit != w->b.credit.tx_seq)
		use_up(w, &w->b, &w->a, SDP_MID_DATA, 0);
	EXPECT_EQ(0, w->a.credit.theirs);
	EXPECT_EQ(0, next_mid(w, &w->a));
	sdp_engine_posted(&w->a, 1);
	EXPECT_LT(1, w->a.credit.threshold);
	EXPECT_EQ(SDP_MID_DATA, next_mid(w, &w->a));
	EXPECT_EQ(0, w->tx.payload_max);
	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	EXPECT_EQ(0, next_mid(w, &w->a));
	w->a.credit.tx_limit++;
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(1, sdp_credit_available(&w->b.credit));
	EXPECT_EQ(0, next_mid(w, &w->a));
	sdp_engine_srcavail_decline(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED);
	/* After the answer, less than T is granted with data only. */
	EXPECT_EQ(0, w->a.credit.theirs);
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* D4: a peer that has sent DisConn needs credit only to answer our SrcAvail. */
TEST(sdp_engine_next__updates_after_peers_disconn)
{
	struct world *w = advertised(TEST_SELF);

	use_up(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	while (sdp_credit_available(&w->b.credit) > 1)
		use_up(w, &w->b, &w->a, SDP_MID_DATA, 0);
	sdp_engine_posted(&w->a, 12);
	EXPECT_EQ(SDP_MID_DATA, next_mid(w, &w->a));
	EXPECT_EQ(0, w->tx.payload_max);
	sdp_engine_srcavail_decline(&w->b);
	tell(TEST_SELF, w, &w->b, &w->a, SDP_MID_SENDSM);
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* A SrcAvail from before shutdown goes before DisConn. */
TEST(sdp_engine_next__srcavail_before_disconn)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	sdp_engine_srcavail(&w->a, &region, INLINED);
	sdp_engine_shutdown(&w->a);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	EXPECT_ACTS(w, SDP_ACT_DELIVER, SDP_ACT_SRCAVAIL);
}

/* A SrcAvail that has not been sent is withdrawn at once, without a message. */
TEST(sdp_engine_srcavail_cancel__ready)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	sdp_engine_srcavail(&w->a, &region, INLINED);
	sdp_engine_srcavail_cancel(&w->a);
	EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->a));
	sdp_engine_srcavail_cancel(&w->a);
	EXPECT_EQ(SDP_SRCAVAIL_TX_IDLE, w->a.srcavail_tx.state);
}

/* wire 8: a SrcAvail that has been sent is cancelled once. */
TEST(sdp_engine_srcavail_cancel__out)
{
	static const u8 golden[16] = { 0x08, 0, 0, 5, 0, 0, 0, 16, 0, 0, 0, 2 };
	struct world *w = advertised(TEST_SELF);

	EXPECT_EQ(0, next_mid(w, &w->a));
	sdp_engine_srcavail_cancel(&w->a);
	sdp_engine_srcavail_cancel(&w->a);
	EXPECT_EQ(SDP_MID_SRC_CANCEL, next_mid(w, &w->a));
	EXPECT_EQ(0, w->tx.payload_max);
	emit(w, &w->a, SDP_MID_SRC_CANCEL, 0);
	EXPECT_BYTES(golden, w->buf, 16);
	sdp_engine_srcavail_cancel(&w->a);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_TRUE(sdp_engine_srcavail_tx_open(&w->a));
}

/* D5: SrcAvailCancel does not use the last credit. */
TEST(sdp_engine_srcavail_cancel__credit)
{
	struct world *w = out(TEST_SELF, SDP_SRCAVAIL_TX_CANCEL);

	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, sdp_engine_next(&w->a, &full, &w->tx));
	w->a.credit.tx_limit++;
	EXPECT_EQ(SDP_MID_SRC_CANCEL, next_mid(w, &w->a));
	w->a.credit.posted = 0;
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, sdp_engine_next(&w->a, &nothing, &w->tx));
}

/* B4: all has been read. A cancel that has not been sent is dropped. */
TEST(sdp_srcavail_tx_was_read__whole)
{
	enum sdp_srcavail_tx_state s;

	for (s = SDP_SRCAVAIL_TX_OUT; s <= SDP_SRCAVAIL_TX_CANCELLED; s++) {
		struct world *w = out(TEST_SELF, s);

		report(w, &w->a, REST);
		EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
		EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
		EXPECT_EQ(0, next_mid(w, &w->a));
	}
}

/* wire 8: several reports for one SrcAvail. */
TEST(sdp_srcavail_tx_was_read__parts)
{
	enum sdp_srcavail_tx_state s;

	for (s = SDP_SRCAVAIL_TX_OUT; s <= SDP_SRCAVAIL_TX_CANCELLED; s++) {
		struct world *w = out(TEST_SELF, s);

		report(w, &w->a, 1);
		EXPECT_NO_ACTS(w);
		report(w, &w->a, REST - 2);
		EXPECT_NO_ACTS(w);
		EXPECT_EQ(s, w->a.srcavail_tx.state);
		report(w, &w->a, 1);
		EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
	}
}

/* wire 8: some peers include the inlined bytes in their count. */
TEST(sdp_srcavail_tx_was_read__counts_inlined)
{
	struct world *w = advertised(TEST_SELF);

	report(w, &w->a, LEN);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
	w = advertised(TEST_SELF);
	report(w, &w->a, INLINED + 1);
	EXPECT_NO_ACTS(w);
	report(w, &w->a, REST - 1);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
	/* A count above the readable bytes shows such a peer, so not all has been read. */
	w = advertised(TEST_SELF);
	report(w, &w->a, REST + 1);
	EXPECT_NO_ACTS(w);
	report(w, &w->a, INLINED - 1);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
	w = advertised(TEST_SELF);
	report(w, &w->a, REST + 1);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, REST + 1);
	/* A count below the inlined bytes cannot include them. */
	w = joined(TEST_SELF, &growing, &growing);
	sdp_engine_srcavail(&w->a, &region, LEN - 10);
	tell(TEST_SELF, w, &w->a, &w->b, SDP_MID_SRC_AVAIL);
	report(w, &w->a, 11);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN - 10);
}

/* A report of 0 bytes, or of more than there are. */
TEST(sdp_srcavail_tx_was_read__bad_count)
{
	static const struct { u32 first, then; } cases[] = {
		{ 0, 0 }, { 0, LEN + 1 }, { 0, 0xffffffff }, { 5, 0 }, { 5, LEN - 4 },
		{ REST - 1, LEN - REST + 2 }, { 5, 0xffffffff },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = advertised(TEST_SELF);

		if (cases[i].first)
			report(w, &w->a, cases[i].first);
		report(w, &w->a, cases[i].then);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_FIELD);
		EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
	}
}

/* A report for a SrcAvail that was never sent or is over. */
TEST(sdp_srcavail_tx_was_read__bad_state)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	report(w, &w->a, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = joined(TEST_SELF, &growing, &growing);
	sdp_engine_srcavail(&w->a, &region, INLINED);
	report(w, &w->a, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = advertised(TEST_SELF);
	report(w, &w->a, REST);
	report(w, &w->a, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* B3: SendSm asks for the rest as data, from the byte that the peer has reached. */
TEST(sdp_srcavail_tx_declined__len)
{
	enum sdp_srcavail_tx_state s;

	for (s = SDP_SRCAVAIL_TX_OUT; s <= SDP_SRCAVAIL_TX_CANCELLED; s++) {
		struct world *w = out(TEST_SELF, s);

		receive_right(w, &w->a, SDP_MID_SENDSM, 0);
		EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED);
		EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
		EXPECT_EQ(0, next_mid(w, &w->a));
		w = out(TEST_SELF, s);
		report(w, &w->a, 77);
		receive_right(w, &w->a, SDP_MID_SENDSM, 0);
		EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED + 77);
		w = out(TEST_SELF, s);
		report(w, &w->a, REST - 1);
		receive_right(w, &w->a, SDP_MID_SENDSM, 0);
		EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN - 1);
	}
}

TEST(sdp_srcavail_tx_declined__bad_state)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = joined(TEST_SELF, &growing, &growing);
	sdp_engine_srcavail(&w->a, &region, INLINED);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = advertised(TEST_SELF);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* a receives an answer of a peer that had received a's messages up to @ack. */
static void answer_from(struct world *w, u8 mid, u32 count, u32 ack)
{
	struct sdp_msg m = from_peer(&w->a, mid, 0);

	m.h.bufs += (u16)(m.h.mseq_ack - ack);
	m.h.mseq_ack = ack;
	m.count = count;
	receive_msg(w, &w->a, &m);
	sdp_engine_posted(&w->a, 1);
}

/* wire 8: a peer cannot answer a SrcAvail that it has not received. */
TEST(sdp_srcavail_tx_seen__not_seen)
{
	static const u8 mids[] = { SDP_MID_SENDSM, SDP_MID_RDMA_RD_COMPL };
	u32 i, base;

	for (i = 0; i < 4; i++) {
		struct world *w = joined(TEST_SELF, &growing, &growing);

		/* The SrcAvail has MSeq 2, or MSeq 0 just after a wrap. */
		base = i / 2 ? 0xffffffff : 1;
		start_at(w, base - 1);
		emit(w, &w->a, SDP_MID_DATA, 0);
		sdp_engine_srcavail(&w->a, &region, INLINED);
		emit(w, &w->a, SDP_MID_SRC_AVAIL, INLINED);
		EXPECT_EQ(base + 1, w->sent.h.mseq);
		answer_from(w, mids[i % 2], REST, base);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	}
}

/* wire 8: the peer may answer before it has received later messages. */
TEST(sdp_srcavail_tx_seen__only_just_seen)
{
	struct world *w = out(TEST_SELF, SDP_SRCAVAIL_TX_CANCELLED);

	answer_from(w, SDP_MID_RDMA_RD_COMPL, 5, 1);
	EXPECT_NO_ACTS(w);
	answer_from(w, SDP_MID_SENDSM, 0, 1);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED + 5);
}

/* All was read while the cancel, message 2, was in flight. */
static struct world *cancel_crossed(TEST_CTX)
{
	struct world *w = out(TEST_SELF, SDP_SRCAVAIL_TX_CANCELLED);

	EXPECT_EQ(2, w->sent.h.mseq);
	answer_from(w, SDP_MID_RDMA_RD_COMPL, REST, 1);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, LEN);
	return w;
}

/* After that the next SrcAvail, message 3, has been sent. */
static struct world *next_one_out(TEST_CTX)
{
	struct world *w = cancel_crossed(TEST_SELF);

	sdp_engine_srcavail(&w->a, &region, INLINED);
	emit(w, &w->a, SDP_MID_SRC_AVAIL, INLINED);
	EXPECT_EQ(3, w->sent.h.mseq);
	return w;
}

/* wire 8: some peers answer that cancel as well, once. */
TEST(sdp_srcavail_tx_declined__late)
{
	struct world *w = cancel_crossed(TEST_SELF);

	answer_from(w, SDP_MID_SENDSM, 0, 2);
	EXPECT_NO_ACTS(w);
	EXPECT_TRUE(sdp_engine_may_srcavail(&w->a));
	answer_from(w, SDP_MID_SENDSM, 0, 2);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	/* The answer to the old cancel does not end the next SrcAvail. */
	w = next_one_out(TEST_SELF);
	answer_from(w, SDP_MID_SENDSM, 0, 2);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_SRCAVAIL_TX_OUT, w->a.srcavail_tx.state);
	answer_from(w, SDP_MID_SENDSM, 0, 3);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED);
	/* A peer that has received the next SrcAvail has answered that one. */
	w = next_one_out(TEST_SELF);
	answer_from(w, SDP_MID_SENDSM, 0, 3);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, INLINED);
	answer_from(w, SDP_MID_SENDSM, 0, 3);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = next_one_out(TEST_SELF);
	answer_from(w, SDP_MID_RDMA_RD_COMPL, REST, 3);
	answer_from(w, SDP_MID_SENDSM, 0, 3);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	/* The old cancel is not that of the next SrcAvail. */
	w = next_one_out(TEST_SELF);
	sdp_engine_srcavail_cancel(&w->a);
	emit(w, &w->a, SDP_MID_SRC_CANCEL, 0);
	answer_from(w, SDP_MID_SENDSM, 0, 2);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_SRCAVAIL_TX_CANCELLED, w->a.srcavail_tx.state);
}

/* wire 8: answers that cannot belong to the old cancel, and reports, are errors. */
TEST(sdp_srcavail_tx_declined__not_late)
{
	struct world *w = cancel_crossed(TEST_SELF);

	answer_from(w, SDP_MID_SENDSM, 0, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = cancel_crossed(TEST_SELF);
	answer_from(w, SDP_MID_RDMA_RD_COMPL, 1, 2);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = next_one_out(TEST_SELF);
	answer_from(w, SDP_MID_RDMA_RD_COMPL, 1, 2);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	/* The cancel was not sent, or SendSm has already answered it. */
	w = out(TEST_SELF, SDP_SRCAVAIL_TX_CANCEL);
	report(w, &w->a, REST);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = out(TEST_SELF, SDP_SRCAVAIL_TX_CANCELLED);
	answer_from(w, SDP_MID_SENDSM, 0, 1);
	EXPECT_ACT(w, SDP_ACT_SRCAVAIL_OVER);
	answer_from(w, SDP_MID_SENDSM, 0, 2);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* The next SrcAvail starts with fresh state. */
TEST(sdp_srcavail_tx_begin__again)
{
	struct sdp_region other = { .len = 50, .rkey = 3, .va = 0x7000 };
	struct world *w = advertised(TEST_SELF);

	report(w, &w->a, 300);
	receive_right(w, &w->a, SDP_MID_SENDSM, 0);
	sdp_engine_srcavail(&w->a, &other, 20);
	EXPECT_EQ(SDP_MID_SRC_AVAIL, next_mid(w, &w->a));
	EXPECT_EQ(20, w->tx.payload_max);
	emit(w, &w->a, SDP_MID_SRC_AVAIL, 20);
	EXPECT_EQ(50, w->sent.src.len);
	EXPECT_EQ(3, w->sent.src.rkey);
	EXPECT_EQ(0x7000, w->sent.src.va);
	report(w, &w->a, 29);
	EXPECT_NO_ACTS(w);
	report(w, &w->a, 1);
	EXPECT_ACT_LEN(w, SDP_ACT_SRCAVAIL_OVER, 50);
}

/* No shrink while a SrcAvail is open, because it was cut for the present size. */
TEST(sdp_engine_shrink__not_while_srcavail_out)
{
	struct world *w = grown(TEST_SELF, 5000);

	EXPECT_TRUE(sdp_engine_may_shrink(&w->a));
	sdp_engine_srcavail(&w->a, &region, INLINED);
	EXPECT_FALSE(sdp_engine_may_shrink(&w->a));
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	emit(w, &w->a, SDP_MID_SRC_AVAIL, INLINED);
	EXPECT_FALSE(sdp_engine_may_shrink(&w->a));
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	report(w, &w->a, REST);
	EXPECT_TRUE(sdp_engine_shrink(&w->a));
}

/* After the end of the connection the SrcAvail is over, and nothing is sent. */
TEST(sdp_engine_srcavail_tx_open__dead)
{
	enum sdp_srcavail_tx_state s;

	for (s = SDP_SRCAVAIL_TX_OUT; s <= SDP_SRCAVAIL_TX_CANCELLED; s++) {
		struct world *w = out(TEST_SELF, s);

		aborted(w, &w->a, ECONNABORTED);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FALSE(sdp_engine_srcavail_tx_open(&w->a));
		EXPECT_EQ(0, next_mid(w, &w->a));
		report(w, &w->a, REST);
		EXPECT_NO_ACTS(w);
		sdp_engine_srcavail_cancel(&w->a);
		EXPECT_EQ(0, next_mid(w, &w->a));
	}
}

TEST_MAIN
