// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection: DisConn in every order, abort, and a link that ends.
 *
 * Wire section 10.
 */
#include "fixture.h"

/* Bring a connected engine into a state by events, not by setting the state. */
static struct world *in_state(TEST_CTX, enum sdp_conn_state state)
{
	struct world *w;

	if (state == SDP_CLOSED) {
		w = &world;
		make_engine(&w->a, 12);
		return w;
	}
	if (state == SDP_HELLO_SENT || state == SDP_HELLO_RCVD) {
		w = hello_exchanged(TEST_SELF, 12, 12);
		if (state == SDP_HELLO_RCVD) {
			struct sdp_hello ack;

			sdp_engine_hello_ack(&w->b, &ack);
			w->a = w->b;
		}
		return w;
	}
	w = connected(TEST_SELF);
	/* No earlier message is known to have arrived: neither this one nor a DisConn. */
	emit(w, &w->a, SDP_MID_DATA, 9);
	if (state == SDP_DISC_RCVD || state == SDP_DISC_ANSWERED) {
		struct sdp_msg m = from_peer(&w->a, SDP_MID_DISCONN, 0);

		m.h.mseq_ack = 0;
		m.h.bufs = 12;
		receive_msg(w, &w->a, &m);
	}
	if (state != SDP_ESTABLISHED && state != SDP_DISC_RCVD)
		emit(w, &w->a, SDP_MID_DISCONN, 0);
	if (state == SDP_DISC_CROSSED || state == SDP_FINISHED) {
		struct sdp_msg m = from_peer(&w->a, SDP_MID_DISCONN, 0);

		m.h.mseq_ack = 0;
		m.h.bufs = 12;
		receive_msg(w, &w->a, &m);
	}
	if (state == SDP_DISC_ARRIVED || state == SDP_FINISHED)
		completed(w, &w->a, 2);
	memset(&w->acts, 0, sizeof(w->acts));
	return w;
}

TEST(in_state__reaches_all)
{
	enum sdp_conn_state s;

	for (s = SDP_CLOSED; s < SDP_CONN_STATES; s++)
		EXPECT_EQ(s, in_state(TEST_SELF, s)->a.state);
}

/* wire 10: a closes first and b answers. The side that closed first ends the link. */
TEST(sdp_engine_receive__disconn_one_after_the_other)
{
	struct world *w = connected(TEST_SELF);

	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_ACT(w, SDP_ACT_EOF);
	EXPECT_EQ(SDP_DISC_RCVD, w->b.state);
	EXPECT_EQ(SDP_DISC_SENT, w->a.state);
	completed(w, &w->a, 1);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_DISC_ARRIVED, w->a.state);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 3);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	EXPECT_ACTS(w, SDP_ACT_EOF, SDP_ACT_DISCONNECT);
	EXPECT_EQ(SDP_FINISHED, w->a.state);
	EXPECT_EQ(SDP_DISC_ANSWERED, w->b.state);
	completed(w, &w->b, 2);
	EXPECT_NO_ACTS(w);
	link_ended(w, &w->b);
	EXPECT_ACT(w, SDP_ACT_END);
	EXPECT_EQ(SDP_CLOSED, w->b.state);
	link_ended(w, &w->a);
	EXPECT_ACT(w, SDP_ACT_END);
	EXPECT_TRUE(w->a.dead);
}

/* wire 10: the peer's DisConn also acknowledges our own. */
TEST(sdp_engine_receive__disconn_acknowledged_by_disconn)
{
	struct world *w = connected(TEST_SELF);

	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	pass(w, &w->b, &w->a, SDP_MID_DISCONN, 0);
	EXPECT_ACTS(w, SDP_ACT_EOF, SDP_ACT_DISCONNECT);
	EXPECT_EQ(SDP_FINISHED, w->a.state);
	/* The late completion of our DisConn changes nothing. */
	completed(w, &w->a, 1);
	EXPECT_NO_ACTS(w);
}

/* D1: any message of the peer can acknowledge our DisConn. */
TEST(sdp_engine_receive__disconn_acknowledged_by_data)
{
	struct world *w = connected(TEST_SELF);

	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_DISC_ARRIVED, w->a.state);
}

/* wire 10: both DisConns cross. Each side may end the link once its own DisConn has arrived. */
TEST(sdp_engine_receive__disconn_crossing)
{
	struct world *w = connected(TEST_SELF);
	u8 from_a[SDP_HEADER_MAX];

	emit(w, &w->a, SDP_MID_DISCONN, 0);
	memcpy(from_a, w->buf, sizeof(from_a));
	emit(w, &w->b, SDP_MID_DISCONN, 0);
	receive_bytes(w, &w->a, w->buf, 16);
	EXPECT_ACT(w, SDP_ACT_EOF);
	EXPECT_EQ(SDP_DISC_CROSSED, w->a.state);
	receive_bytes(w, &w->b, from_a, 16);
	EXPECT_ACT(w, SDP_ACT_EOF);
	EXPECT_EQ(SDP_DISC_CROSSED, w->b.state);
	completed(w, &w->a, 1);
	EXPECT_ACT(w, SDP_ACT_DISCONNECT);
	EXPECT_EQ(SDP_FINISHED, w->a.state);
	/* b's send was flushed when the link ended, so the end itself tells b enough. */
	link_ended(w, &w->b);
	EXPECT_ACT(w, SDP_ACT_END);
	link_ended(w, &w->a);
	EXPECT_ACT(w, SDP_ACT_END);
}

/* D1: the DisConns cross, and a later credit update acknowledges ours. */
TEST(sdp_engine_receive__disconn_crossing_acknowledged)
{
	struct world *w = in_state(TEST_SELF, SDP_DISC_CROSSED);

	receive_right(w, &w->a, SDP_MID_DATA, 0);
	EXPECT_ACT(w, SDP_ACT_DISCONNECT);
	EXPECT_EQ(SDP_FINISHED, w->a.state);
}

/* The completion of an earlier message does not count as that of DisConn. */
TEST(sdp_engine_sent__earlier_message_is_not_disconn)
{
	struct world *w = in_state(TEST_SELF, SDP_DISC_CROSSED);

	completed(w, &w->a, 1);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_DISC_CROSSED, w->a.state);
	completed(w, &w->a, 1);
	EXPECT_ACT(w, SDP_ACT_DISCONNECT);
}

/* wire 10: one DisConn in each direction, and no payload after it. */
TEST(sdp_engine_receive__after_disconn)
{
	static const enum sdp_conn_state closed[] = {
		SDP_DISC_RCVD, SDP_DISC_CROSSED, SDP_DISC_ANSWERED, SDP_FINISHED,
	};
	struct world *w;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(closed); i++) {
		w = in_state(TEST_SELF, closed[i]);
		receive_right(w, &w->a, SDP_MID_DISCONN, 0);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
		w = in_state(TEST_SELF, closed[i]);
		receive_right(w, &w->a, SDP_MID_DATA, 1);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
		/* A credit update may still come, because its sender can continue to read. */
		w = in_state(TEST_SELF, closed[i]);
		receive_right(w, &w->a, SDP_MID_DATA, 0);
		EXPECT_FALSE(w->a.dead);
	}
}

/* wire 10: a peer that has shut down can still receive data. */
TEST(sdp_engine_receive__half_closed_traffic)
{
	struct world *w = connected(TEST_SELF);
	u32 i;

	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	for (i = 0; i < 50; i++) {
		struct sdp_tx_view full = { .head_bytes = 100, .head_full = true }, none = { 0 };

		EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &full, &w->tx));
		pass(w, &w->b, &w->a, SDP_MID_DATA, 100);
		completed(w, &w->b, 1);
		EXPECT_EQ(SDP_DISC_RCVD, w->b.state);
		if (sdp_engine_next(&w->a, &none, &w->tx) == SDP_NEXT_SEND) {
			EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
			EXPECT_EQ(0, w->tx.payload_max);
			pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
		}
	}
	/* A side that has received DisConn sends no credit updates, because no data will come. */
	w->b.credit.theirs = 0;
	EXPECT_TRUE(sdp_credit_update_due(&w->b.credit));
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->b, &(struct sdp_tx_view){ 0 }, &w->tx));
}

/* wire 10: AbortConn is legal once DisConn has begun. Before that it also ends the connection. */
TEST(sdp_engine_receive__abort_conn)
{
	enum sdp_conn_state s;

	for (s = SDP_HELLO_RCVD; s < SDP_CONN_STATES; s++) {
		struct world *w = in_state(TEST_SELF, s);
		bool begun = s >= SDP_DISC_SENT;

		receive_right(w, &w->a, SDP_MID_ABORT, 0);
		EXPECT_FAIL(w, ECONNRESET, begun ? SDP_VALID : SDP_BAD_STATE);
		EXPECT_EQ(SDP_CLOSED, w->a.state);
		EXPECT_TRUE(w->a.dead);
	}
}

/* wire 10: the end of the link is an abort, unless both DisConns were exchanged. */
TEST(sdp_engine_link_ended__every_state)
{
	enum sdp_conn_state s;

	for (s = SDP_CLOSED; s < SDP_CONN_STATES; s++) {
		struct world *w = in_state(TEST_SELF, s);

		link_ended(w, &w->a);
		if (s == SDP_DISC_ANSWERED || s == SDP_DISC_CROSSED || s == SDP_FINISHED) {
			EXPECT_ACT(w, SDP_ACT_END);
		} else {
			EXPECT_ACT(w, SDP_ACT_FAIL);
			EXPECT_FAIL(w, ECONNRESET, SDP_VALID);
		}
		EXPECT_EQ(SDP_CLOSED, w->a.state);
		EXPECT_TRUE(w->a.dead);
		/* The end is reported once. */
		link_ended(w, &w->a);
		EXPECT_NO_ACTS(w);
	}
}

/* The first error ends the connection and is the only one reported. */
TEST(sdp_engine_abort__every_state)
{
	enum sdp_conn_state s;

	for (s = SDP_CLOSED; s < SDP_CONN_STATES; s++) {
		struct world *w = in_state(TEST_SELF, s);

		aborted(w, &w->a, ETIMEDOUT);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, ETIMEDOUT, SDP_VALID);
		aborted(w, &w->a, EIO);
		EXPECT_NO_ACTS(w);
		link_ended(w, &w->a);
		EXPECT_NO_ACTS(w);
	}
}

/* wire 10: DisConn follows the last byte. D5: it does not use the last credit. */
TEST(sdp_engine_shutdown__disconn_after_last_byte)
{
	struct world *w = connected(TEST_SELF);
	struct sdp_tx_view view = { .head_bytes = 5 };

	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &view, &w->tx));
	emit(w, &w->a, SDP_MID_DATA, 5);
	sdp_engine_shutdown(&w->a);
	/* An earlier partial message is in flight. After shutdown the rest does not wait for it. */
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &view, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	EXPECT_EQ(PAYLOAD_MAX, w->tx.payload_max);
	emit(w, &w->a, SDP_MID_DATA, 5);
	view.head_bytes = 0;
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &view, &w->tx));
	EXPECT_EQ(SDP_MID_DISCONN, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	EXPECT_EQ(16, emit(w, &w->a, SDP_MID_DISCONN, 0));
	EXPECT_EQ(SDP_MID_DISCONN, w->buf[0]);
	EXPECT_EQ(SDP_DISC_SENT, w->a.state);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->a, &view, &w->tx));
}

/* B8: DisConn does not overtake data that waits for an RDMA transfer. */
TEST(sdp_engine_shutdown__disconn_waits_for_what_is_behind)
{
	struct world *w = connected(TEST_SELF);
	struct sdp_tx_view view = { .head_full = true, .head_cut = true, .behind = true };

	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->a, &view, &w->tx));
	view.head_bytes = 5;
	view.behind = false;
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &view, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	memset(&view, 0, sizeof(view));
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &view, &w->tx));
	EXPECT_EQ(SDP_MID_DISCONN, w->tx.mid);
}

/* D5: DisConn waits for a second credit. */
TEST(sdp_engine_shutdown__disconn_waits_for_credit)
{
	struct world *w = connected_with(TEST_SELF, 12, 3);
	struct sdp_tx_view nothing = { 0 };

	pass(w, &w->a, &w->b, SDP_MID_DATA, 1);
	emit(w, &w->a, SDP_MID_DATA, 1);
	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(1, sdp_credit_available(&w->a.credit));
	EXPECT_EQ(SDP_NEXT_NO_CREDIT, sdp_engine_next(&w->a, &nothing, &w->tx));
	EXPECT_EQ(SDP_ESTABLISHED, w->a.state);
	/* The peer's next message grants the receive that the peer has posted again. */
	pass(w, &w->b, &w->a, SDP_MID_DATA, 1);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &nothing, &w->tx));
	EXPECT_EQ(SDP_MID_DISCONN, w->tx.mid);
}

/* Shutdown before the connection is established: DisConn is the first message. */
TEST(sdp_engine_shutdown__before_established)
{
	struct world *w = hello_exchanged(TEST_SELF, 12, 12);
	struct sdp_tx_view nothing = { 0 };

	sdp_engine_shutdown(&w->a);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->a, &nothing, &w->tx));
	hello_answered(TEST_SELF, w);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &nothing, &w->tx));
	EXPECT_EQ(SDP_MID_DISCONN, w->tx.mid);
}

/*
 * Every MID in every state, with all flags, with and without payload, and with and without the
 * acknowledgment. An event leads to at most three actions, and a failure is the last of them. No
 * message makes an engine act after its end.
 */
TEST(sdp_engine_receive__at_most_three_actions)
{
	enum sdp_conn_state s;
	u32 mid, payload, bits;

	for (s = SDP_CLOSED; s < SDP_CONN_STATES; s++)
		for (mid = 0; mid < 256; mid++)
			for (payload = 0; payload < 2; payload++)
				for (bits = 0; bits < 2 * (SDP_FLAGS_ALL + 1); bits++) {
					struct world *w = in_state(TEST_SELF, s);
					struct sdp_msg m = from_peer(&w->a, SDP_MID_DATA, payload);
					u32 i;

					if (bits & 1)
						m.h.mseq_ack = 0;
					m.h.bufs = 20;
					sdp_wire_build(w->buf, &m);
					w->buf[0] = (u8)mid;
					w->buf[1] = (u8)(bits >> 1);
					receive_bytes(w, &w->a, w->buf, 16 + payload);
					EXPECT_LE(w->acts.n, 3U);
					for (i = 0; i + 1 < w->acts.n; i++)
						EXPECT_NE(SDP_ACT_FAIL, w->acts.list[i].kind);
				}
}

TEST_MAIN
