// SPDX-License-Identifier: GPL-2.0
/*
 * What an engine sends, and when: gathering, credit, slots and credit updates.
 *
 * Requirements A2, D2, D4 and D5.
 */
#include "fixture.h"

static const struct sdp_tx_view nothing;
static const struct sdp_tx_view small = { .head_bytes = 5 };
static const struct sdp_tx_view held = { .head_bytes = 5, .hold = true };
static const struct sdp_tx_view full = { .head_bytes = PAYLOAD_MAX, .head_full = true };

static enum sdp_next next(struct world *w, const struct sdp_engine *e,
			  const struct sdp_tx_view *view)
{
	return sdp_engine_next(e, view, &w->tx);
}

/* A2: nothing is sent before the connection is established. */
TEST(sdp_engine_next__before_established)
{
	struct world *w = &world;

	make_engine(&w->a, 12);
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &full));
	w = hello_exchanged(TEST_SELF, 12, 12);
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &full));
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->b, &full));
	hello_answered(TEST_SELF, w);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &full));
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->b, &full));
}

TEST(sdp_engine_next__nothing_to_send)
{
	struct world *w = connected(TEST_SELF);

	memset(&w->tx, 0xee, sizeof(w->tx));
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &nothing));
	EXPECT_EQ(0, w->tx.payload_max);
}

/* A small message goes at once if no other is in flight. */
TEST(sdp_engine_next__lone_small_message)
{
	struct world *w = connected(TEST_SELF);

	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	EXPECT_EQ(PAYLOAD_MAX, w->tx.payload_max);
}

/* While a partial message is in flight, small writes gather until its completion. */
TEST(sdp_engine_next__gathers_until_completion)
{
	struct world *w = connected(TEST_SELF);

	emit(w, &w->a, SDP_MID_DATA, 5);
	EXPECT_EQ(SDP_NEXT_GATHER, next(w, &w->a, &small));
	completed(w, &w->a, 1);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
}

/* An acknowledgment of the peer ends the gathering as well, and may come first. */
TEST(sdp_engine_next__gathers_until_acknowledged)
{
	struct world *w = connected(TEST_SELF);

	pass(w, &w->a, &w->b, SDP_MID_DATA, 5);
	EXPECT_EQ(SDP_NEXT_GATHER, next(w, &w->a, &small));
	pass(w, &w->b, &w->a, SDP_MID_DATA, 5);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
	completed(w, &w->a, 1);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
}

/* The newest partial message must have arrived. */
TEST(sdp_engine_next__gathers_behind_the_newest)
{
	struct world *w = connected(TEST_SELF);

	emit(w, &w->a, SDP_MID_DATA, 5);
	emit(w, &w->a, SDP_MID_DATA, PAYLOAD_MAX);
	emit(w, &w->a, SDP_MID_DATA, 5);
	completed(w, &w->a, 2);
	EXPECT_EQ(SDP_NEXT_GATHER, next(w, &w->a, &small));
	completed(w, &w->a, 1);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
}

/* A partial message does not wait for full ones, but for an earlier partial one. */
TEST(sdp_engine_next__full_messages_do_not_count)
{
	struct world *w = connected(TEST_SELF);

	emit(w, &w->a, SDP_MID_DATA, PAYLOAD_MAX);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
	EXPECT_TRUE(w->tx.partial);
	emit(w, &w->a, SDP_MID_DATA, 5);
	emit(w, &w->a, SDP_MID_DATA, PAYLOAD_MAX);
	completed(w, &w->a, 1);
	EXPECT_EQ(SDP_NEXT_GATHER, next(w, &w->a, &small));
	completed(w, &w->a, 1);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
}

/* A credit update in flight is no reason to wait. */
TEST(sdp_engine_next__updates_do_not_count)
{
	struct world *w = connected(TEST_SELF);

	emit(w, &w->a, SDP_MID_DATA, 0);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
	emit(w, &w->a, SDP_MID_DATA, 5);
	completed(w, &w->a, 2);
	emit(w, &w->a, SDP_MID_DATA, 0);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
}

/* A full segment waits only for credit. */
TEST(sdp_engine_next__full_segment_at_once)
{
	struct world *w = connected(TEST_SELF);

	emit(w, &w->a, SDP_MID_DATA, 5);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &full));
	EXPECT_EQ(PAYLOAD_MAX, w->tx.payload_max);
}

/* MSG_MORE holds a partial segment even with nothing in flight, but not a full one. */
TEST(sdp_engine_next__hold)
{
	struct sdp_tx_view full_held = { .head_bytes = 9, .head_full = true, .hold = true };
	struct world *w = connected(TEST_SELF);

	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &held));
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &full_held));
	emit(w, &w->a, SDP_MID_DATA, 5);
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &held));
	completed(w, &w->a, 1);
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &held));
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
}

/* Shutdown sends gathered and held segments. */
TEST(sdp_engine_next__shutdown_flushes)
{
	struct world *w = connected(TEST_SELF);

	emit(w, &w->a, SDP_MID_DATA, 5);
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &held));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
}

/* D2, D5: data stops at the last credit, with SDP_NEXT_NO_CREDIT. */
TEST(sdp_engine_next__no_credit)
{
	struct world *w = connected_with(TEST_SELF, 12, 4);
	u32 i;

	for (i = 0; i < 3; i++) {
		EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &full));
		emit(w, &w->a, SDP_MID_DATA, PAYLOAD_MAX);
	}
	EXPECT_EQ(1, sdp_credit_available(&w->a.credit));
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, next(w, &w->a, &full));
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, next(w, &w->a, &small));
	/* A held segment would not go with credit either, so the reason is another one. */
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &held));
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &nothing));
}

/* D5: the last credit is used by a credit update, and a second update has none. */
TEST(sdp_engine_next__update_with_last_credit)
{
	struct world *w = connected_with(TEST_SELF, 12, 3);

	emit(w, &w->a, SDP_MID_DATA, 1);
	emit(w, &w->a, SDP_MID_DATA, 1);
	w->a.credit.theirs = 1;
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &full));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	emit(w, &w->a, SDP_MID_DATA, 0);
	EXPECT_EQ(0, sdp_credit_available(&w->a.credit));
	w->a.credit.theirs = 1;
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, next(w, &w->a, &full));
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &nothing));
}

/* D4: data carries the grant as well, so an update goes only without data. */
TEST(sdp_engine_next__data_before_update)
{
	struct world *w = connected(TEST_SELF);

	w->a.credit.theirs = 2;
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
	EXPECT_EQ(PAYLOAD_MAX, w->tx.payload_max);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &nothing));
	EXPECT_EQ(0, w->tx.payload_max);
	/* Held or gathering data does not carry the grant yet. */
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &held));
	EXPECT_EQ(0, w->tx.payload_max);
	emit(w, &w->a, SDP_MID_DATA, 5);
	w->a.credit.theirs = 2;
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
	EXPECT_EQ(0, w->tx.payload_max);
}

/*
 * D4: with twelve receives, an update is due after seven messages whose receives are posted again.
 */
TEST(sdp_engine_next__update_due_in_traffic)
{
	struct world *w = connected(TEST_SELF);
	u32 i;

	for (i = 1; i <= 7; i++) {
		EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->b, &nothing));
		pass(w, &w->a, &w->b, SDP_MID_DATA, 1);
	}
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->b, &nothing));
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->b, &nothing));
	EXPECT_EQ(12, sdp_credit_available(&w->a.credit));
	/* The update does not make another one due at the other side. */
	EXPECT_EQ(SDP_NEXT_IDLE, next(w, &w->a, &nothing));
}

/* D5: no message goes without a posted receive to grant, because the peer may have no credit. */
TEST(sdp_engine_next__nothing_posted)
{
	struct world *w = connected_with(TEST_SELF, 3, 12);

	receive_right(w, &w->a, SDP_MID_DATA, 1);
	receive_right(w, &w->a, SDP_MID_DATA, 1);
	receive_right(w, &w->a, SDP_MID_DATA, 0);
	EXPECT_EQ(0, w->a.credit.posted);
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, next(w, &w->a, &full));
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, next(w, &w->a, &nothing));
	sdp_engine_posted(&w->a, 1);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &full));
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &nothing));
	EXPECT_EQ(SDP_MID_DISCONN, w->tx.mid);
}

/* The transport holds a limited number of messages, credit updates included. */
TEST(sdp_engine_next__no_slot)
{
	struct world *w = connected_with(TEST_SELF, 12, 64);
	u32 i;

	for (i = 0; i < 16; i++)
		emit(w, &w->a, SDP_MID_DATA, i & 1);
	EXPECT_EQ(SDP_NEXT_NO_SLOT, next(w, &w->a, &full));
	EXPECT_EQ(SDP_NEXT_NO_SLOT, next(w, &w->a, &nothing));
	w->a.credit.theirs = 0;
	EXPECT_EQ(SDP_NEXT_NO_SLOT, next(w, &w->a, &nothing));
	completed(w, &w->a, 1);
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &nothing));
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &full));
	emit(w, &w->a, SDP_MID_DATA, 1);
	EXPECT_EQ(SDP_NEXT_NO_SLOT, next(w, &w->a, &full));
	completed(w, &w->a, 16);
	EXPECT_EQ(16, w->a.send_slots);
}

/* wire 1, 7: bytes of a sent message, and its description. */
TEST(sdp_engine_commit__golden_bytes)
{
	static const u8 want[16] = {
		0xff, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x01, 0x10, 0x00, 0x00, 0x00, 0x01, 0, 0, 0, 2,
	};
	struct world *w = connected(TEST_SELF);

	pass(w, &w->b, &w->a, SDP_MID_DATA, 1);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 1);
	EXPECT_EQ(16 + 256, emit(w, &w->a, SDP_MID_DATA, 256));
	EXPECT_BYTES(want, w->buf, 16);
	EXPECT_EQ(SDP_MID_DATA, w->sent.h.mid);
	EXPECT_EQ(1, w->sent.h.mseq);
	EXPECT_EQ(2, w->sent.h.mseq_ack);
	EXPECT_EQ(12, w->sent.h.bufs);
	EXPECT_EQ(272, w->sent.h.len);
	EXPECT_EQ(256, w->sent.payload_len);
	EXPECT_EQ(15, w->a.send_slots);
	EXPECT_EQ(16, emit(w, &w->a, SDP_MID_DATA, 0));
	EXPECT_EQ(16, w->buf[7]);
	EXPECT_EQ(16, w->sent.h.len);
}

/* Each engine uses the receive size of its peer. */
TEST(sdp_engine_payload_max__peers_size)
{
	static const struct sdp_engine_config large = {
		.recv_size = 65536, .recv_target = 3, .send_slots = 2,
	};
	struct world *w = &world;
	struct sdp_hello hello = { 0 }, ack = { 0 };

	memset(w, 0, sizeof(*w));
	make_engine(&w->a, 12);
	sdp_engine_init(&w->b, &large);
	sdp_engine_posted(&w->b, 3);
	sdp_engine_hello(&w->a, &hello);
	EXPECT_EQ(SDP_VALID, sdp_engine_hello_received(&w->b, &hello));
	sdp_engine_hello_ack(&w->b, &ack);
	sdp_engine_hello_ack_received(&w->a, &ack, &w->acts);
	EXPECT_EQ(65536 - 16, sdp_engine_payload_max(&w->a));
	EXPECT_EQ(1536 - 16, sdp_engine_payload_max(&w->b));
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
	EXPECT_EQ(65536 - 16, w->tx.payload_max);
}

/* All messages have arrived when the newest one has, by completion or acknowledgment. */
TEST(sdp_engine_all_arrived__by_either_sign)
{
	struct world *w = connected(TEST_SELF);

	EXPECT_TRUE(sdp_engine_all_arrived(&w->a));
	pass(w, &w->a, &w->b, SDP_MID_DATA, 5);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 5);
	EXPECT_FALSE(sdp_engine_all_arrived(&w->a));
	completed(w, &w->a, 1);
	EXPECT_FALSE(sdp_engine_all_arrived(&w->a));
	completed(w, &w->a, 1);
	EXPECT_TRUE(sdp_engine_all_arrived(&w->a));
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_FALSE(sdp_engine_all_arrived(&w->a));
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	EXPECT_TRUE(sdp_engine_all_arrived(&w->a));
}

/*
 * One message with payload, and then more than 2^31 credit updates: its sequence number must not
 * count as a message in flight again.
 */
TEST(sdp_engine_next__half_way_round_the_circle)
{
	struct world *w = connected(TEST_SELF);
	u32 n;

	emit(w, &w->a, SDP_MID_DATA, 5);
	completed(w, &w->a, 1);
	for (n = 0; n < 0x80000010U / 0x8000; n++) {
		w->a.credit.tx_seq += 0x8000;
		w->a.credit.tx_limit += 0x8000;
		completed(w, &w->a, 0x8000);
		w->a.credit.tx_acked += 0x8000;
	}
	EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
	EXPECT_TRUE(sdp_engine_all_arrived(&w->a));
}

/* A2: gathering while the sequence numbers wrap. */
TEST(sdp_engine_next__gathers_across_the_wrap)
{
	struct world *w = connected(TEST_SELF);
	u32 i;

	start_at(w, 0xfffffffdU);
	for (i = 0; i < 6; i++) {
		EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
		pass(w, &w->a, &w->b, SDP_MID_DATA, 5);
		EXPECT_EQ(SDP_NEXT_GATHER, next(w, &w->a, &small));
		if (i & 1) {
			pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
			EXPECT_EQ(SDP_NEXT_SEND, next(w, &w->a, &small));
		}
		completed(w, &w->a, 1);
	}
}

TEST_MAIN
