// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data in the engine (B7, wire section 9).
 */
#include "fixture.h"

static const struct sdp_tx_view nothing;
static const struct sdp_tx_view marked = {
	.head_bytes = 5, .head_full = true, .head_urgent = true, .urgent = true,
};

static const struct sdp_tx_view behind = {
	.head_bytes = PAYLOAD_MAX, .head_full = true, .urgent = true,
};

static enum sdp_next next(struct world *w, const struct sdp_tx_view *view)
{
	return sdp_engine_next(&w->a, view, &w->tx);
}

/* b receives a message with these flags. */
static void receive_flags(struct world *w, u8 mid, u8 flags, u32 payload)
{
	struct sdp_msg m = from_peer(&w->b, mid, payload);

	m.h.flags = flags;
	receive_msg(w, &w->b, &m);
}

/* The message with the urgent byte has both flags: OOB_PRES, and OOB_PEND to signal it. */
TEST(urgent__flags_of_the_byte)
{
	struct world *w = connected(TEST_SELF);

	EXPECT_EQ(SDP_NEXT_SEND, next(w, &marked));
	EXPECT_EQ(SDP_FLAG_OOB_PRES | SDP_FLAG_OOB_PEND, w->tx.flags);
	sdp_engine_commit(&w->a, &w->tx, 5, w->buf, &w->sent);
	EXPECT_EQ(SDP_FLAG_OOB_PRES | SDP_FLAG_OOB_PEND, w->buf[1]);
	EXPECT_EQ(w->buf[1], w->sent.h.flags);
}

/* A segment of two messages has its urgent byte in the second one. */
TEST(urgent__segment_too_long)
{
	struct world *w = connected(TEST_SELF);
	struct sdp_tx_view view = marked;

	view.head_bytes = PAYLOAD_MAX + 1;
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &view));
	EXPECT_EQ(SDP_FLAG_OOB_PEND, w->tx.flags);
}

/* Every message that goes before the urgent byte announces it. */
TEST(urgent__announced_ahead)
{
	struct world *w = connected(TEST_SELF);

	EXPECT_EQ(SDP_NEXT_SEND, next(w, &behind));
	EXPECT_EQ(SDP_FLAG_OOB_PEND, w->tx.flags);
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &nothing));
	EXPECT_EQ(0, w->tx.flags);
}

/* A short segment with an urgent byte does not gather. */
TEST(urgent__does_not_gather)
{
	struct world *w = connected(TEST_SELF);

	emit(w, &w->a, SDP_MID_DATA, 5);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &marked));
}

/* D5: the last credit is not used for an urgent byte, nor for its announcement alone. */
TEST(urgent__last_credit)
{
	struct world *w = connected_with(TEST_SELF, 12, 3);

	emit(w, &w->a, SDP_MID_DATA, 5);
	emit(w, &w->a, SDP_MID_DATA, 5);
	EXPECT_EQ(1, sdp_credit_available(&w->a.credit));
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, next(w, &marked));
}

/* With one credit left, a credit update that is due announces the urgent byte. */
TEST(urgent__update_announces)
{
	struct world *w = connected_with(TEST_SELF, 12, 3);
	u32 i;

	emit(w, &w->a, SDP_MID_DATA, 5);
	emit(w, &w->a, SDP_MID_DATA, 5);
	for (i = 0; i < 8; i++) {
		receive_right(w, &w->a, SDP_MID_DATA, 1);
		sdp_engine_posted(&w->a, 1);
	}
	w->a.credit.tx_limit = w->a.credit.tx_seq + 1;
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &marked));
	EXPECT_EQ(0, w->tx.payload_max);
	EXPECT_EQ(SDP_FLAG_OOB_PEND, w->tx.flags);
}

TEST(urgent__byte_is_delivered)
{
	struct world *w = connected(TEST_SELF);

	receive_flags(w, SDP_MID_DATA, SDP_FLAG_OOB_PRES, 7);
	expect_acts(TEST_SELF, w, 2, SDP_ACT_URGENT, SDP_ACT_DELIVER);
	EXPECT_TRUE(w->acts.list[1].urgent);
	EXPECT_EQ(7, w->acts.list[1].len);
}

/* Several announcements of a byte lead to one action. The next byte gets another one. */
TEST(urgent__told_once_of_each)
{
	struct world *w = connected(TEST_SELF);

	receive_flags(w, SDP_MID_DATA, SDP_FLAG_OOB_PEND, 7);
	expect_acts(TEST_SELF, w, 2, SDP_ACT_URGENT, SDP_ACT_DELIVER);
	EXPECT_FALSE(w->acts.list[1].urgent);
	receive_flags(w, SDP_MID_DATA, SDP_FLAG_OOB_PEND, 0);
	EXPECT_EQ(0, w->acts.n);
	receive_flags(w, SDP_MID_DATA, SDP_FLAG_OOB_PEND | SDP_FLAG_OOB_PRES, 7);
	EXPECT_EQ(1, w->acts.n);
	EXPECT_TRUE(w->acts.list[0].urgent);
	receive_flags(w, SDP_MID_DATA, SDP_FLAG_OOB_PEND, 7);
	expect_acts(TEST_SELF, w, 2, SDP_ACT_URGENT, SDP_ACT_DELIVER);
}

/* After the peer's DisConn an announcement has no effect. */
TEST(urgent__not_after_the_end)
{
	struct world *w = connected(TEST_SELF);

	receive_right(w, &w->b, SDP_MID_DISCONN, 0);
	receive_flags(w, SDP_MID_DATA, SDP_FLAG_OOB_PEND, 0);
	EXPECT_EQ(0, w->acts.n);
}

TEST_MAIN
