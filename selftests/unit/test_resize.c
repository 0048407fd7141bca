// SPDX-License-Identifier: GPL-2.0
/*
 * Resize of the receive buffers: E1 to E5. The way back to the first size is in test_shrink.c.
 */
#include "resizing.h"

static const struct sdp_engine_config fixed = {
	.recv_size = RECV_SIZE, .split_level = LEVEL, .recv_target = 12, .send_slots = 100,
};

static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };

/* E1: so many splits lead to a request, fewer do not */
TEST(sdp_resize_split__level)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL - 1, 5000);
	EXPECT_EQ(0, offered(w, &w->a));
	split(&w->a, 1, 5000);
	EXPECT_EQ(SDP_MID_CHRCVBUF, offered(w, &w->a));
	EXPECT_EQ(0, w->tx.payload_max);
	EXPECT_EQ(0, offered(w, &w->b));
}

/* E1: the size asked for is that of the largest split send, wherever among them it was */
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

/* E1: a header and whole pages, not more than the maximum */
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

/* E1: a maximum that is no header and whole pages is reached all the same */
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

/* E5: with fixed sizes nothing is ever asked */
TEST(sdp_resize_split__fixed)
{
	struct world *w = joined(TEST_SELF, &fixed, &growing);

	split(&w->a, 100, 5000);
	EXPECT_EQ(0, offered(w, &w->a));
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->a));
}

/* E1: nothing larger than the maximum is asked for, whoever has set the size */
TEST(sdp_resize_split__at_maximum)
{
	static const struct sdp_engine_config large = {
		.recv_size = LARGEST, .recv_size_max = LARGEST, .split_level = LEVEL,
		.recv_target = 12, .send_slots = 100,
	};
	struct world *w = joined(TEST_SELF, &growing, &large);

	split(&w->a, 100, 50000);
	EXPECT_EQ(0, offered(w, &w->a));
	w = grown(TEST_SELF, LARGEST - SDP_BSDH_LEN);
	split(&w->a, 100, 50000);
	EXPECT_EQ(0, offered(w, &w->a));
}

/* E1: one request at a time; splits count again from its answer on */
TEST(sdp_resize_split__one_request_at_a_time)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 4000);
	split(&w->a, 100, 9000);
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	split(&w->a, 100, 9000);
	EXPECT_EQ(0, offered(w, &w->a));
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	split(&w->a, LEVEL - 1, 9000);
	EXPECT_EQ(0, offered(w, &w->a));
	split(&w->a, 1, 4096);
	EXPECT_EQ(PAGES(3), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
}

/* D5: neither request nor answer uses the last credit, or goes when it would grant nothing */
TEST(sdp_resize_may_ask__credit)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 5000);
	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	EXPECT_EQ(0, offered(w, &w->a));
	w->a.credit.tx_limit++;
	EXPECT_EQ(SDP_MID_CHRCVBUF, offered(w, &w->a));
	w->a.credit.posted = 0;
	EXPECT_EQ(0, offered(w, &w->a));
	w = shrinking(TEST_SELF);
	EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, offered(w, &w->b));
	w->b.credit.tx_limit = w->b.credit.tx_seq + 1;
	EXPECT_EQ(0, offered(w, &w->b));
	w->b.credit.tx_limit++;
	w->b.credit.posted = 0;
	EXPECT_EQ(0, offered(w, &w->b));
}

/* Request and answer go before data, and data goes on meanwhile, in the old size (E3) */
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

/* Nothing is asked after shutdown, by a dead engine, or after our DisConn */
TEST(sdp_resize_may_ask__not_at_the_end)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 5000);
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_MID_DISCONN, offered(w, &w->a));
	use_up(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_EQ(0, offered(w, &w->a));
	w = grown(TEST_SELF, 5000);
	sdp_engine_shutdown(&w->a);
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	w = grown(TEST_SELF, 5000);
	split(&w->a, LEVEL, 9000);
	aborted(w, &w->a, ECONNABORTED);
	EXPECT_EQ(0, offered(w, &w->a));
	w = grown(TEST_SELF, 5000);
	aborted(w, &w->a, ECONNABORTED);
	EXPECT_FALSE(sdp_engine_shrink(&w->a));
	EXPECT_EQ(0, offered(w, &w->a));
}

/* Our half is open after the peer's DisConn, and may grow */
TEST(sdp_resize_may_ask__after_peers_disconn)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	use_up(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
}

/* E4: who owes an answer does not ask; the request waits */
TEST(sdp_resize_may_ask__not_while_owing)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	split(&w->b, LEVEL, 5000);
	EXPECT_EQ(0, offered(w, &w->b));
	EXPECT_FALSE(sdp_engine_shrink(&w->b));
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF));
}

/* E2: larger receives are posted at once, the answer waits for the last smaller one */
TEST(sdp_resize_asked__answer_when_old_are_gone)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u32 i;

	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	EXPECT_EQ(PAGES(2), sdp_engine_post_size(&w->b));
	for (i = 0; i < POSTED - 1; i++) {
		EXPECT_EQ(0, offered(w, &w->b));
		pass(w, &w->a, &w->b, SDP_MID_DATA, i == 1);
	}
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(0, offered(w, &w->b));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->b));
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->a));
}

/* E2: with no receive posted there is nothing to wait for but the first larger one */
TEST(sdp_resize_asked__nothing_posted)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u32 i;

	for (i = 0; i < POSTED - 1; i++)
		use_up(w, &w->a, &w->b, SDP_MID_DATA, 0);
	split(&w->a, LEVEL, 5000);
	use_up(w, &w->a, &w->b, SDP_MID_CHRCVBUF, 0);
	EXPECT_EQ(0, w->b.credit.posted);
	EXPECT_EQ(0, offered(w, &w->b));
	EXPECT_EQ(PAGES(2), sdp_engine_post_size(&w->b));
	sdp_engine_posted(&w->b, 1);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
}

/* E3: a larger message before the answer meets a receive that is too small; after it, none */
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

/* E2, E5: the sink's own maximum, or its first size, is what it answers with */
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
		EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, offered(w, &w->b));
		emit(w, &w->b, SDP_MID_CHRCVBUF_ACK, 0);
		EXPECT_EQ(cases[i].want, w->sent.size);
		EXPECT_EQ(cases[i].want, sdp_engine_post_size(&w->b));
	}
}

/* E5: who has fixed sizes answers with the old one, at once; the asker goes on with it */
TEST(sdp_resize_asked__fixed)
{
	struct world *w = joined(TEST_SELF, &growing, &fixed);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->a));
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(0, offered(w, &w->b));
	receive_right(w, &w->b, SDP_MID_DATA, PAYLOAD_MAX + 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
}

/* E2: a second request before the answer to the first, pending or due */
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

/* wire 10: who has said DisConn has nothing to ask for */
TEST(sdp_resize_asked__after_disconn)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	receive_right(w, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_ACT(w, SDP_ACT_EOF);
	foreign(w, &w->b, SDP_MID_CHRCVBUF, PAGES(1));
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/*
 * E2, E4: a request was not answered yet when DisConn follows it. There is nothing left to grow
 * for, but the answer still goes, because our own request has to wait for it.
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
	/* After both DisConns nobody answers anything. */
	w = joined(TEST_SELF, &growing, &growing);
	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	use_up(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	use_up(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_EQ(0, offered(w, &w->b));
}

/* Our own DisConn does not close the peer's half: it is answered, and the answer understood */
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

/* E2: without memory the answer is the old size, at once, and receives are posted in it */
TEST(sdp_resize_refuse__before_answer)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 1);
	sdp_engine_resize_refuse(&w->b);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->a));
	/* The last of the old ones makes no answer due any more, nor a larger message legal. */
	sdp_engine_posted(&w->b, 5);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(0, offered(w, &w->b));
	EXPECT_EQ(RECV_SIZE, w->b.resize.recv_size);
	receive_right(w, &w->b, SDP_MID_DATA, PAYLOAD_MAX + 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
}

/* E2: what the peer has been told is not taken back; with no request there is nothing to refuse */
TEST(sdp_resize_refuse__after_answer)
{
	struct world *w = grown(TEST_SELF, 5000);

	sdp_engine_resize_refuse(&w->b);
	EXPECT_EQ(PAGES(2), sdp_engine_post_size(&w->b));
	EXPECT_EQ(0, offered(w, &w->b));
	sdp_engine_resize_refuse(&w->a);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->a));
	EXPECT_EQ(0, offered(w, &w->a));
	w = shrinking(TEST_SELF);
	sdp_engine_resize_refuse(&w->b);
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
}

/*
 * E2: the last smaller receive is used up, and then there is no memory for a larger one: the peer
 * has not been told yet, so it is still the old size
 */
TEST(sdp_resize_refuse__answer_due)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);
	u32 i;

	ask(TEST_SELF, w, &w->a, &w->b, 5000);
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, offered(w, &w->b));
	/* Nor may the peer use what it does not know of. */
	EXPECT_EQ(RECV_SIZE, w->b.resize.recv_limit);
	sdp_engine_resize_refuse(&w->b);
	EXPECT_EQ(RECV_SIZE, sdp_engine_post_size(&w->b));
	EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAYLOAD_MAX, sdp_engine_payload_max(&w->a));
	EXPECT_EQ(0, offered(w, &w->b));
	/* With nothing posted nobody could ever speak again. */
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

/* E2: after a refusal the next request waits for all receives of the old size, later ones too */
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
	EXPECT_EQ(0, offered(w, &w->a));
	split(&w->a, LEVEL, 5000);
	old = w->b.credit.posted - 1;
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	for (i = 0; i < old; i++) {
		EXPECT_EQ(0, w->b.resize.answer);
		pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	}
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
}

/* A peer that refuses is asked less and less often: no endless loop (E2) */
TEST(sdp_resize_answered__level_doubles)
{
	struct world *w = joined(TEST_SELF, &growing, &fixed);
	u32 level, i;

	for (level = LEVEL, i = 0; i < 20; i++) {
		split(&w->a, level - 1, 5000);
		EXPECT_EQ(0, offered(w, &w->a));
		split(&w->a, 1, 5000);
		say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF);
		EXPECT_EQ(RECV_SIZE, say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
		level = min(2 * level, 1U << 14);
	}
	EXPECT_EQ(1U << 14, w->a.resize.level);
}

/* ... until time has passed: half of it each time, down to what it was at first */
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
	EXPECT_EQ(SDP_MID_CHRCVBUF, offered(w, &w->a));
}

/* E2: not accepted yet, it has few receives and refuses; with more of them it is asked again */
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
	/* As many as it had say nothing. */
	sdp_engine_posted(&w->b, had - w->b.credit.posted);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 10);
	EXPECT_EQ(2 * LEVEL, w->a.resize.level);
	sdp_engine_posted(&w->b, 1);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 10);
	EXPECT_EQ(LEVEL, w->a.resize.level);
	EXPECT_EQ(had + 1, w->a.resize.posted_most);
	split(&w->a, LEVEL, 5000);
	EXPECT_EQ(SDP_MID_CHRCVBUF, offered(w, &w->a));
}

/* E2: less than was asked for, but more than before, is taken, and the rest asked for later */
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
	EXPECT_EQ(SDP_MID_CHRCVBUF, offered(w, &w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	EXPECT_EQ(LARGEST, w->sent.size);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, 5000);
	EXPECT_EQ(2 * LEVEL, w->a.resize.level);
}

/* More than was asked for is a gift; more than our own maximum is not used */
TEST(sdp_resize_answered__more_than_asked)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 4000);
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, SDP_RECV_SIZE_MAX);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(LARGEST - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
}

/* E3: a size that what is on its way may exceed is refused */
TEST(sdp_resize_answered__smaller)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 4000);
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, RECV_SIZE - 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_FIELD);
}

/* An answer that nobody asked for, before any request and after the answer */
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
 * E4: both ask at once. The accepting side disregards the request, the connecting one answers
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
	/* It owes the answer, so its own request waits. */
	EXPECT_EQ(0, offered(w, &w->a));
	use_up_old(w, &w->b, &w->a);
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->b));
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF));
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	use_up_old(w, &w->a, &w->b);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(1) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_EQ(0, offered(w, &w->a));
	EXPECT_EQ(0, offered(w, &w->b));
}

/* E4: requests that are only wanted do not cross: the first one to arrive is answered */
TEST(sdp_resize_asked__not_yet_sent)
{
	struct world *w = joined(TEST_SELF, &growing, &growing);

	split(&w->a, LEVEL, 4000);
	split(&w->b, LEVEL, 8000);
	say(TEST_SELF, w, &w->a, &w->b, SDP_MID_CHRCVBUF);
	EXPECT_EQ(0, offered(w, &w->b));
	use_up_old(w, &w->a, &w->b);
	EXPECT_EQ(PAGES(1), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF_ACK));
	EXPECT_EQ(PAGES(2), say(TEST_SELF, w, &w->b, &w->a, SDP_MID_CHRCVBUF));
}

/* Both have asked, a's request is void and it has answered b's; b is not looked at any more. */
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
	EXPECT_EQ(SDP_MID_CHRCVBUF_ACK, offered(w, &w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF_ACK, 0);
	w->a.credit.tx_limit += 20;
	sdp_engine_posted(&w->a, 20);
	w->a.credit.rx_limit += 20;
	return w;
}

/* E4: a peer may answer the void request all the same, once, even after it was asked again */
TEST(sdp_resize_answered__stray)
{
	struct world *w = crossed(TEST_SELF);

	EXPECT_EQ(SDP_MID_CHRCVBUF, offered(w, &w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(1));
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(PAGES(1) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(1));
	EXPECT_NO_ACTS(w);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(1));
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* ... or before that: then there is nothing left to ask for */
TEST(sdp_resize_answered__stray_before_asked_again)
{
	struct world *w = crossed(TEST_SELF);

	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, PAGES(1));
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(PAGES(1) - SDP_BSDH_LEN, sdp_engine_payload_max(&w->a));
	EXPECT_NE(SDP_MID_CHRCVBUF, offered(w, &w->a));
	/* It is grown and no more, so it can be shrunk. */
	EXPECT_TRUE(sdp_engine_shrink(&w->a));
	emit(w, &w->a, SDP_MID_CHRCVBUF, 0);
	EXPECT_EQ(RECV_SIZE, w->sent.size);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, RECV_SIZE);
	EXPECT_NO_ACTS(w);
	foreign(w, &w->a, SDP_MID_CHRCVBUF_ACK, RECV_SIZE);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* wire 1, 8: the bytes of a request and of its answer */
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

/* B7: an urgent byte that waits is announced by these messages, too */
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
