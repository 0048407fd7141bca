// SPDX-License-Identifier: GPL-2.0
/*
 * Resize of the receive buffers back to their first size, after a time without data.
 */
#include "resizing.h"

static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };

/* The request for a smaller size takes effect at once, and is answered at once. */
TEST(sdp_resize_shrink__binds_and_is_answered)
{
	struct world *w = grown(TEST_SELF, 5000);

	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->a));
	sdp_engine_shrink_end(&w->a);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->a));
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
}

/* At the first size there is nothing to shrink. */
TEST(sdp_resize_shrink__nothing_to_do)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	sdp_engine_shrink_end(&w->a);
	split(&w->a, LEVEL, 5000);
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	sdp_engine_shrink_end(&w->a);
	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
}

/* sdp_engine_may_shrink() tells an owner whether its idle timer is needed. */
TEST(sdp_resize_shrink__may)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	EXPECT_FALSE(sdp_engine_may_shrink(&w->a));
	w = grown(TEST_SELF, 5000);
	EXPECT_TRUE(sdp_engine_may_shrink(&w->a));
	EXPECT_FALSE(sdp_engine_may_shrink(&w->b));
	sdp_engine_shutdown(&w->a);
	EXPECT_FALSE(sdp_engine_may_shrink(&w->a));
	w = shrinking(TEST_SELF);
	EXPECT_FALSE(sdp_engine_may_shrink(&w->a));
}

/* E1: sends that were split before the shrink do not count after it. */
TEST(sdp_resize_shrink__counts_anew)
{
	struct world *w = grown(TEST_SELF, 5000);

	split(&w->a, LEVEL - 1, 9000);
	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF);
	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	split(&w->a, LEVEL - 1, 9000);
	EXPECT_NE(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
	split(&w->a, 1, 9000);
	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
}

/* D5: a shrink that could not be sent is dropped, because it would limit later data. */
TEST(sdp_resize_shrink__end)
{
	struct world *w = grown(TEST_SELF, 5000);

	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->a));
	sdp_engine_shrink_end(&w->a);
	w->a.credit.tx_limit += 5;
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
}

/* While larger receives are posted, messages may be as long as these are. */
TEST(sdp_resize_shrink__limit_while_large_are_posted)
{
	struct world *w = shrinking(TEST_SELF);
	u32 i, large = w->b.credit.posted - 1;

	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	for (i = 0; i < large - 1; i++)
		pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(PAGES(2), w->b.resize.recv_limit);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(RECV_SIZE, w->b.resize.recv_limit);
	receive_right(w, &w->b, SDP_MID_DATA, PAYLOAD_MAX + 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
}

/* Empty messages use up the larger receives, as many as there are, within credit (D5). */
TEST(sdp_resize_shrink__flush)
{
	struct world *w = shrinking(TEST_SELF);
	u32 i, large = w->b.credit.posted;

	EXPECT_EQ(0, next_mid(w, &w->a));
	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	EXPECT_EQ(large, w->a.resize.flush);
	for (i = 0; i < large - 1; i++) {
		EXPECT_EQ(SDP_MID_DATA, next_mid(w, &w->a));
		EXPECT_EQ(0, w->tx.payload_max);
		EXPECT_EQ(0, w->tx.flags);
		pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
		EXPECT_NO_ACTS(w);
	}
	EXPECT_EQ(1, sdp_credit_available(&w->a.credit));
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, sdp_engine_next(&w->a, &nothing, &w->tx));
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	EXPECT_EQ(SDP_MID_DATA, next_mid(w, &w->a));
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(RECV_SIZE, w->b.resize.recv_limit);
}

/* Data also uses up the larger receives, and goes first. DisConn ends the flush. */
TEST(sdp_resize_shrink__data_flushes_too)
{
	struct world *w = shrinking(TEST_SELF);
	u32 large = w->b.credit.posted;

	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(PAYLOAD_MAX, w->tx.payload_max);
	pass(w, &w->a, &w->b, SDP_MID_DATA, PAYLOAD_MAX);
	EXPECT_EQ(large - 1, w->a.resize.flush);
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_MID_DISCONN, next_mid(w, &w->a));
	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/*
 * E2: growth is requested while older large receives are still posted. The small ones between
 * these and the new ones must be used up before the answer.
 */
TEST(sdp_resize_shrink__grow_again_at_once)
{
	struct world *w = shrinking(TEST_SELF);
	u32 i, old;

	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	sdp_engine_posted(&w->b, 4);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	old = w->b.credit.posted - 1;
	for (i = 0; i < old; i++) {
		EXPECT_EQ(0, next_mid(w, &w->b));
		EXPECT_EQ(0, w->b.resize.answer);
		pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
		if (i == 3)
			pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	}
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
}

/* A sink that keeps its large receives is not asked again, and nothing is flushed. */
TEST(sdp_resize_shrink__refused)
{
	struct world *w = grown(TEST_SELF, 5000);

	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	sdp_engine_shrink_end(&w->a);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(2));
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	/* A size beyond that can be given back later. */
	w->a.credit.tx_limit += 20;
	split(&w->a, LEVEL, 12000);
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, LARGEST);
	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	EXPECT_EQ(PAGES(2), w->sent.size);
}

/* An answer below the requested size is an error. */
TEST(sdp_resize_shrink__answer_too_small)
{
	struct world *w = grown(TEST_SELF, 5000);

	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, RECV_SIZE - 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_FIELD);
}

/* E4: a shrink that has crossed a request still limits our messages, and is requested again. */
TEST(sdp_resize_shrink__crossing)
{
	struct world *w = grown(TEST_SELF, 5000);

	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	sdp_engine_shrink_end(&w->a);
	foreign(w, &w->a, SDP_MID_CHRCVBUF, PAGES(1));
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->a));
	sdp_engine_shrink_end(&w->a);
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	sdp_engine_resize_refuse(&w->a);
	EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, next_mid(w, &w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF_ACK, 0);
	EXPECT_EQ(RECV_SIZE, w->sent.size);
	w->a.credit.tx_limit += 20;
	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	EXPECT_EQ(RECV_SIZE, w->sent.size);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, RECV_SIZE);
	EXPECT_NO_ACTS(w);
	EXPECT_NE(0, w->a.resize.flush);
}

TEST_MAIN
