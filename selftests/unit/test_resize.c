// SPDX-License-Identifier: GPL-2.0
/*
 * Resize of the receive buffers to larger sizes (E1 to E5).
 *
 * test_shrink.c has the way back to the first size.
 */
#include "resizing.h"

static const struct sdp_engine_config fixed = {
	.recv_size = RECV_SIZE, .split_level = LEVEL, .recv_target = 12, .send_slots = 100,
};

static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };

/* E1: LEVEL split sends lead to a request, fewer do not. */
TEST(sdp_resize_split__level)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL - 1, 5000);
	EXPECT_EQ(0, next_mid(w, &w->a));
	split(&w->a, 1, 5000);
	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
	EXPECT_EQ(0, w->tx.payload_max);
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* E1: the request is for the largest of the split sends, whichever of them it was. */
TEST(sdp_resize_split__largest)
{
	u32 i;

	for (i = 0; i < LEVEL; i++) {
		struct world *w = joined(TEST_SELF, &growing, &growing);

		split(&w->a, i, 2000);
		split(&w->a, 1, 8000);
		split(&w->a, LEVEL - 1 - i, 3000);
		EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	}
}

/* E1: the size is a header and whole pages, at most the maximum. */
TEST(sdp_resize_split__rounding)
{
	static const struct { u32 bytes, want; } cases[] = {
		{ 1521, PAGES(1) }, { 4095, PAGES(1) }, { 4096, PAGES(1) }, { 4097, PAGES(2) },
		{ 8192, PAGES(2) }, { 8193, PAGES(3) }, { 12288, PAGES(3) }, { 12289, LARGEST },
		{ 16384, LARGEST }, { 100000, LARGEST }, { 0xffffffff, LARGEST },
		{ 0xfffff000, LARGEST },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = joined(TEST_SELF, &growing, &growing);

		split(&w->a, LEVEL, cases[i].bytes);
		EXPECT_EQ(cases[i].want, say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	}
}

/* E1: a maximum that is not a header and whole pages can be reached. */
TEST(sdp_resize_split__odd_maximum)
{
	static const struct { u32 max, bytes, want; } cases[] = {
		{ 8300, 8192, PAGES(2) }, { 8300, 8193, 8300 }, { 8300, 12288, 8300 },
		{ 2000, 1521, 2000 }, { 2000, 4096, 2000 }, { 2000, 0xffffffff, 2000 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sdp_resize r;

		sdp_resize_init(&r, RECV_SIZE, cases[i].max, 1);
		sdp_resize_peer_hello(&r, RECV_SIZE);
		sdp_resize_split(&r, cases[i].bytes);
		EXPECT_EQ(cases[i].want, r.asked);
		EXPECT_TRUE(sdp_resize_may_ask(&r));
	}
}

/* E5: with fixed sizes there is never a request. */
TEST(sdp_resize_split__fixed)
{
	struct world *w = joined(TEST_SELF, &fixed, &growing);

	split(&w->a, 100, 5000);
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->a));
}

/* E1: there is no request beyond the maximum, whichever side has set the present size. */
TEST(sdp_resize_split__at_maximum)
{
	static const struct sdp_engine_config large = {
		.recv_size = LARGEST, .recv_size_max = LARGEST, .split_level = LEVEL,
		.recv_target = 12, .send_slots = 100,
	};
	struct world *w = joined(TEST_SELF, &growing, &large);

	split(&w->a, 100, 50000);
	EXPECT_EQ(0, next_mid(w, &w->a));
	w = grown(TEST_SELF, LARGEST - SDP_BSDH_LEN);
	split(&w->a, 100, 50000);
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* E1: one request at a time. After its answer split sends count from 0. */
TEST(sdp_resize_split__one_request_at_a_time)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 4000);
	split(&w->a, 100, 9000);
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	split(&w->a, 100, 9000);
	EXPECT_EQ(0, next_mid(w, &w->a));
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	split(&w->a, LEVEL - 1, 9000);
	EXPECT_EQ(0, next_mid(w, &w->a));
	split(&w->a, 1, 4096);
	EXPECT_EQ(PAGES(3), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
}

/* D5: request and answer do not use the last credit, and do not go without a posted receive. */
TEST(sdp_resize_may_ask__credit)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 5000);
	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	EXPECT_EQ(0, next_mid(w, &w->a));
	w->a.credit.tx_limit++;
	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
	w->a.credit.posted = 0;
	EXPECT_EQ(0, next_mid(w, &w->a));
	w = shrinking(TEST_SELF);
	EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, next_mid(w, &w->b));
	w->b.credit.tx_limit = w->b.credit.tx_seq + 1;
	EXPECT_EQ(0, next_mid(w, &w->b));
	w->b.credit.tx_limit++;
	w->b.credit.posted = 0;
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* Request and answer go before data. Data continues meanwhile in the old size (E3). */
TEST(sdp_resize_may_ask__before_data)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 5000);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(SDP_MID_CHRCVBUF, w->tx.mid);
	pass(w, &w->a, &w->b, SDP_MID_CHRCVBUF, 0);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &full, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	EXPECT_EQ(PAYLOAD_MAX, w->tx.payload_max);
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &full, &w->tx));
	EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, w->tx.mid);
}

/* There is no request after shutdown, after our DisConn, or by a dead engine. */
TEST(sdp_resize_may_ask__not_at_the_end)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 5000);
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_MID_DISCONN, next_mid(w, &w->a));
	use_up(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_EQ(0, next_mid(w, &w->a));
	w = grown(TEST_SELF, 5000);
	sdp_engine_shutdown(&w->a);
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	w = grown(TEST_SELF, 5000);
	split(&w->a, LEVEL, 9000);
	aborted(w, &w->a, ECONNABORTED);
	EXPECT_EQ(0, next_mid(w, &w->a));
	w = grown(TEST_SELF, 5000);
	aborted(w, &w->a, ECONNABORTED);
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->a));
}

/* After the peer's DisConn our half is open, and may still grow. */
TEST(sdp_resize_may_ask__after_peers_disconn)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	use_up(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
}

/* E4: a side that owes an answer does not ask. Its own request waits. */
TEST(sdp_resize_may_ask__not_while_owing)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	split(&w->b, LEVEL, 5000);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_FALSE(sdp_engine_shrink(&w->b));
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF));
}

/* E2: larger receives are posted at once. The answer waits until the smaller ones are used up. */
TEST(sdp_resize_asked__answer_when_old_are_gone)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u32 i;

	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	EXPECT_EQ(PAGES(2), sdp_engine_post_size(&w->b));
	for (i = 0; i < POSTED - 1; i++) {
		EXPECT_EQ(0, next_mid(w, &w->b));
		pass(w, &w->a, &w->b, SDP_MID_DATA, i == 1);
	}
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->b));
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->a));
}

/* E2: with no receive posted, the answer waits only for the first larger one. */
TEST(sdp_resize_asked__nothing_posted)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u32 i;

	for (i = 0; i < POSTED - 1; i++)
		use_up(w, &w->a, &w->b, SDP_MID_DATA, 0);
	split(&w->a, LEVEL, 5000);
	use_up(w, &w->a, &w->b, SDP_MID_CHRCVBUF, 0);
	EXPECT_EQ(0, w->b.credit.posted);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(PAGES(2), sdp_engine_post_size(&w->b));
	sdp_engine_posted(&w->b, 1);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
}

/* E3: a larger message is an error before the answer, and legal after it. */
TEST(sdp_resize_asked__larger_message)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	receive_right(w, &w->b, SDP_MID_DATA, PAYLOAD_MAX + 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
	w = grown(TEST_SELF, 5000);
	sdp_engine_posted(&w->b, 5);
	receive_right(w, &w->b, SDP_MID_DATA, 8192);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
	receive_right(w, &w->b, SDP_MID_DATA, 8193);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
	/* The other direction has not grown. */
	w = grown(TEST_SELF, 5000);
	receive_right(w, &w->a, SDP_MID_DATA, PAYLOAD_MAX + 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
}

/* E2, E5: the answer is at most the sink's own maximum, and at least its first size. */
TEST(sdp_resize_asked__within_our_bounds)
{
	static const struct { u32 size, want; } cases[] = {
		{ SDP_RECV_SIZE_MAX, LARGEST }, { LARGEST + 1, LARGEST }, { LARGEST, LARGEST },
		{ 2000, 2000 }, { RECV_SIZE, RECV_SIZE }, { 64, RECV_SIZE },
	};
	u32 i, old;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = joined(TEST_SELF, &growing, &growing);

		foreign(w, &w->b, SDP_MID_CHRCVBUF, cases[i].size);
		for (old = POSTED - 1; old; old--)
			receive_right(w, &w->b, SDP_MID_DATA, 0);
		EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, next_mid(w, &w->b));
		emit(w, &w->b, SDP_MID_CHRCVBUF_ACK, 0);
		EXPECT_EQ(cases[i].want, w->sent.size);
		EXPECT_EQ(cases[i].want, sdp_engine_post_size(&w->b));
	}
}

/* E5: a side with fixed sizes answers with its size at once, and the asker continues with it. */
TEST(sdp_resize_asked__fixed)
{
	struct world *w = joined(TEST_SELF, &growing, &fixed);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->a));
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
	receive_right(w, &w->b, SDP_MID_DATA, PAYLOAD_MAX + 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
}

/* E2: a second request is illegal before the answer to the first, whether that is due or not. */
TEST(sdp_resize_asked__while_owing)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	foreign(w, &w->b, SDP_MID_CHRCVBUF, LARGEST);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = joined(TEST_SELF, &growing, &growing);
	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	use_up_old(w, &w->a, &w->b);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	foreign(w, &w->b, SDP_MID_CHRCVBUF, LARGEST);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = shrinking(TEST_SELF);
	foreign(w, &w->b, SDP_MID_CHRCVBUF, LARGEST);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 10: a side that has sent DisConn must not ask. */
TEST(sdp_resize_asked__after_disconn)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	receive_right(w, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_ACT(w, SDP_ACT_EOF);
	foreign(w, &w->b, SDP_MID_CHRCVBUF, PAGES(1));
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/*
 * E2, E4: DisConn comes while an answer is owed. No receive grows any more, but the answer still
 * goes, because our own request waits for it.
 */
TEST(sdp_resize_asked__disconn_while_owing)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	split(&w->b, LEVEL, 5000);
	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_ACT(w, SDP_ACT_EOF);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF));
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	use_up_old(w, &w->b, &w->a);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->b));
	/* After both DisConns there is no answer. */
	w = joined(TEST_SELF, &growing, &growing);
	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	use_up(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	use_up(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* After our own DisConn the peer's request is answered, and the peer accepts the answer. */
TEST(sdp_resize_asked__after_own_disconn)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 5000);
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	EXPECT_ACT(w, SDP_ACT_EOF);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
}

/* E2: without memory the answer is the old size, at once, and receives keep that size. */
TEST(sdp_resize_refuse__before_answer)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 1);
	sdp_engine_resize_refuse(&w->b);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->a));
	/*
	 * After that, using up the old receives neither makes an answer due nor a larger message
	 * legal.
	 */
	sdp_engine_posted(&w->b, 5);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(0, next_mid(w, &w->b));
	EXPECT_EQ(RECV_SIZE, w->b.resize.recv_size);
	receive_right(w, &w->b, SDP_MID_DATA, PAYLOAD_MAX + 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
}

/*
 * E2: a size that the peer has been told is not taken back. Without a request there is nothing to
 * refuse.
 */
TEST(sdp_resize_refuse__after_answer)
{
	struct world *w = grown(TEST_SELF, 5000);

	sdp_engine_resize_refuse(&w->b);
	EXPECT_EQ(PAGES(2), sdp_engine_post_size(&w->b));
	EXPECT_EQ(0, next_mid(w, &w->b));
	sdp_engine_resize_refuse(&w->a);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->a));
	w = shrinking(TEST_SELF);
	sdp_engine_resize_refuse(&w->b);
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
}

/*
 * E2: the smaller receives are used up, and then there is no memory for a larger one. The peer has
 * not been told yet, so the answer is still the old size.
 */
TEST(sdp_resize_refuse__answer_due)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u32 i;

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, next_mid(w, &w->b));
	/* Before the answer the peer may not use the larger size. */
	EXPECT_EQ(RECV_SIZE, w->b.resize.recv_limit);
	sdp_engine_resize_refuse(&w->b);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->b));
	/* With no receive posted: the answer needs one of the old size first. */
	w = joined(TEST_SELF, &growing, &growing);
	split(&w->a, LEVEL, 5000);
	use_up(w, &w->a, &w->b, SDP_MID_CHRCVBUF, 0);
	for (i = 0; i < POSTED - 1; i++)
		use_up(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(0, w->b.credit.posted);
	sdp_engine_resize_refuse(&w->b);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	sdp_engine_posted(&w->b, 1);
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
}

/*
 * E2: after a refusal the next request waits for all receives of the old size, also those posted
 * later.
 */
TEST(sdp_resize_refuse__and_asked_again)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u32 i, old;

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 1);
	sdp_engine_resize_refuse(&w->b);
	sdp_engine_posted(&w->b, 4);
	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	split(&w->a, LEVEL, 5000);
	EXPECT_EQ(0, next_mid(w, &w->a));
	split(&w->a, LEVEL, 5000);
	old = w->b.credit.posted - 1;
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	for (i = 0; i < old; i++) {
		EXPECT_EQ(0, w->b.resize.answer);
		pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	}
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
}

/* E2: a peer that refuses is asked less and less often, so there is no endless loop. */
TEST(sdp_resize_answered__level_doubles)
{
	struct world *w = joined(TEST_SELF, &growing, &fixed);
	u32 level, i;

	for (level = LEVEL, i = 0; i < 20; i++) {
		split(&w->a, level - 1, 5000);
		EXPECT_EQ(0, next_mid(w, &w->a));
		split(&w->a, 1, 5000);
		say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF);
		EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
		level = min(2 * level, 1U << 14);
	}
	EXPECT_EQ(1U << 14, w->a.resize.level);
}

/* The level is halved with time, down to its first value. */
TEST(sdp_resize_decay__halves)
{
	struct world *w = joined(TEST_SELF, &growing, &fixed);
	u32 i;

	EXPECT_FALSE(sdp_engine_may_decay(&w->a));
	for (i = 0; i < 3; i++) {
		split(&w->a, LEVEL << i, 5000);
		say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF);
		say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	}
	for (i = 3; i; i--) {
		EXPECT_EQ((u32)LEVEL << i, w->a.resize.level);
		EXPECT_TRUE(sdp_engine_may_decay(&w->a));
		sdp_engine_decay(&w->a);
	}
	EXPECT_FALSE(sdp_engine_may_decay(&w->a));
	sdp_engine_decay(&w->a);
	EXPECT_EQ(LEVEL, w->a.resize.level);
	split(&w->a, LEVEL, 5000);
	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
}

/*
 * E2: before accept() the peer has few receives and refuses. When it has more, it is asked again.
 */
TEST(sdp_resize_peer_posted__accepted)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u16 had = w->a.resize.posted_most;

	split(&w->a, LEVEL, 5000);
	say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF);
	sdp_engine_resize_refuse(&w->b);
	while (w->b.resize.old)
		use_up(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(2 * LEVEL, w->a.resize.level);
	EXPECT_EQ(had, w->a.resize.posted_most);
	/* The same number of receives as before changes nothing. */
	sdp_engine_posted(&w->b, had - w->b.credit.posted);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 10);
	EXPECT_EQ(2 * LEVEL, w->a.resize.level);
	sdp_engine_posted(&w->b, 1);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 10);
	EXPECT_EQ(LEVEL, w->a.resize.level);
	EXPECT_EQ(had + 1, w->a.resize.posted_most);
	split(&w->a, LEVEL, 5000);
	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
}

/* E2: an answer between the old size and the request is used. The rest is asked for later. */
TEST(sdp_resize_answered__some_of_it)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, LARGEST);
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, 5000);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(5000 - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_EQ(LEVEL, w->a.resize.level);
	split(&w->a, LEVEL, LARGEST);
	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	EXPECT_EQ(LARGEST, w->sent.size);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, 5000);
	EXPECT_EQ(2 * LEVEL, w->a.resize.level);
}

/* An answer above the request is used, up to our own maximum. */
TEST(sdp_resize_answered__more_than_asked)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 4000);
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, SDP_RECV_SIZE_MAX);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(LARGEST - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
}

/* E3: an answer that is smaller than messages in flight may be is refused. */
TEST(sdp_resize_answered__smaller)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 4000);
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, RECV_SIZE - 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_FIELD);
}

/* An answer without a request, before the first one and after its answer. */
TEST(sdp_resize_answered__unsolicited)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 4000);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, RECV_SIZE);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	w = grown(TEST_SELF, 5000);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(2));
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	EXPECT_TRUE(w->a.dead);
}

/*
 * E4: both ask at once. The accepting side disregards the request. The connecting side answers,
 * and asks again.
 */
TEST(sdp_resize_asked__crossing)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u8 request[SDP_HEADER_MAX];
	u32 bytes;

	split(&w->a, LEVEL, 4000);
	split(&w->b, LEVEL, 8000);
	bytes = emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	memcpy(request, w->buf, bytes);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF));
	receive_bytes(w, &w->b, request, bytes);
	sdp_engine_posted(&w->b, 1);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	EXPECT_EQ(PAGES(2), sdp_engine_post_size(&w->a));
	/* a owes the answer, so its own request waits. */
	EXPECT_EQ(0, next_mid(w, &w->a));
	use_up_old(w, &w->b, &w->a);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->b));
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	use_up_old(w, &w->a, &w->b);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(1) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_EQ(0, next_mid(w, &w->a));
	EXPECT_EQ(0, next_mid(w, &w->b));
}

/* E4: requests that have not been sent do not cross. The first one to arrive is answered. */
TEST(sdp_resize_asked__not_yet_sent)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 4000);
	split(&w->b, LEVEL, 8000);
	say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF);
	EXPECT_EQ(0, next_mid(w, &w->b));
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF));
}

/* Both have asked. a's request is void, and a has answered b's. The test plays b from here on. */
static struct world *crossed(TEST_CTX)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u32 i;

	split(&w->a, LEVEL, 4000);
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF, PAGES(1));
	EXPECT_NO_ACTS(w);
	for (i = 0; i < POSTED - 1; i++)
		receive_right(w, &w->a, SDP_MID_DATA, 0);
	EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, next_mid(w, &w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF_ACK, 0);
	w->a.credit.tx_limit += 20;
	sdp_engine_posted(&w->a, 20);
	w->a.credit.rx_limit += 20;
	return w;
}

/* E4: a peer may still answer the void request, once, even after the next request. */
TEST(sdp_resize_answered__stray)
{
	struct world *w = crossed(TEST_SELF);

	EXPECT_EQ(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(1));
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(PAGES(1) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(1));
	EXPECT_NO_ACTS(w);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(1));
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* E4: if that answer comes before the next request, there is nothing left to ask for. */
TEST(sdp_resize_answered__stray_before_asked_again)
{
	struct world *w = crossed(TEST_SELF);

	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(1));
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(PAGES(1) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_NE(SDP_MID_CHRCVBUF, next_mid(w, &w->a));
	/* The size has grown as by any other answer, so a shrink is possible. */
	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	EXPECT_EQ(RECV_SIZE, w->sent.size);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, RECV_SIZE);
	EXPECT_NO_ACTS(w);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, RECV_SIZE);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 1, 8: bytes of a request and of its answer. */
TEST(sdp_resize_ask_sent__golden_bytes)
{
	static const u8 request[20] = {
		0x0b, 0, 0, 5, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x20, 0x10,
	};
	static const u8 answer[20] = {
		0x0c, 0, 0, 5, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0x20, 0x10,
	};
	struct world *w = joined(TEST_SELF, &growing, &growing);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	EXPECT_BYTES(request, w->buf, 20);
	use_up_old(w, &w->a, &w->b);
	say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK);
	EXPECT_BYTES(answer, w->buf, 20);
}

/* B7: these messages announce an unsent urgent byte, too. */
TEST(sdp_resize_ask_sent__announces_urgent)
{
	struct sdp_tx_view view = {
		.head_bytes = 5, .head_full = true, .head_urgent = true, .urgent = true,
	};
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 5000);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &view, &w->tx));
	EXPECT_EQ(SDP_MID_CHRCVBUF, w->tx.mid);
	EXPECT_EQ(SDP_FLAG_OOB_PEND, w->tx.flags);
	use_up(w, &w->a, &w->b, SDP_MID_CHRCVBUF, 0);
	EXPECT_NO_ACTS(w);
}

TEST_MAIN
