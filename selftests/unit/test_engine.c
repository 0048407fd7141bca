// SPDX-License-Identifier: GPL-2.0
/*
 * Engine: Hello in both directions, and the actions of received messages.
 */
#include "fixture.h"

TEST(sdp_engine_init__fields)
{
	struct world *w = &world;

	memset(&w->a, 0xee, sizeof(w->a));
	sdp_engine_init(&w->a, &usual);
	EXPECT_EQ(SDP_CLOSED, w->a.state);
	EXPECT_EQ(RECV_SIZE, w->a.resize.recv_size);
	EXPECT_EQ(16, w->a.send_slots);
	EXPECT_EQ(12, w->a.credit.target);
	EXPECT_EQ(6, w->a.credit.threshold);
	EXPECT_FALSE(w->a.dead);
	EXPECT_FALSE(w->a.shutdown);
	EXPECT_EQ(12, sdp_engine_receives_wanted(&w->a));
}

/* A1, wire 3: Hello states number and size of the receives. The addresses are not changed. */
TEST(sdp_engine_hello__says)
{
	struct world *w = &world;
	struct sdp_hello h = { .port = 77, .ip_version = 6, .src = { 1 }, .dst = { 2 } };

	make_engine(&w->a, 9);
	sdp_engine_hello(&w->a, &h);
	EXPECT_EQ(9, h.bufs);
	EXPECT_EQ(SDP_VERSION, h.version);
	EXPECT_EQ(1, h.max_adverts);
	EXPECT_EQ(SDP_SINKAVAILS_MAX, h.held);
	EXPECT_EQ(RECV_SIZE, h.recv_size);
	EXPECT_EQ(RECV_SIZE, h.wanted_recv_size);
	EXPECT_EQ(77, h.port);
	EXPECT_EQ(6, h.ip_version);
	EXPECT_EQ(1, h.src[0]);
	EXPECT_EQ(2, h.dst[0]);
	EXPECT_EQ(SDP_HELLO_SENT, w->a.state);
	EXPECT_EQ(9, w->a.credit.theirs);
	EXPECT_EQ(9, w->a.credit.rx_limit);
}

/* A1, D1: the accepting side learns the peer's receive size, credits and number of SinkAvails. */
TEST(sdp_engine_hello_received__learns)
{
	struct world *w = &world;
	struct sdp_hello h = {
		.bufs = 5, .recv_size = 4096, .max_adverts = 200, .held = 200, .version = 0x20,
	};

	make_engine(&w->b, 7);
	EXPECT_EQ(SDP_VALID, sdp_engine_hello_received(&w->b, &h));
	EXPECT_EQ(SDP_HELLO_RCVD, w->b.state);
	EXPECT_EQ(5, sdp_credit_available(&w->b.credit));
	EXPECT_EQ(4096 - 16, sdp_engine_payload_max(&w->b));
	EXPECT_EQ(SDP_SINKAVAILS_MAX, w->b.sinkavail_rx.max);
	h.held = 2;
	make_engine(&w->b, 7);
	EXPECT_EQ(SDP_VALID, sdp_engine_hello_received(&w->b, &h));
	EXPECT_EQ(2, w->b.sinkavail_rx.max);
	EXPECT_TRUE(w->b.sinkavail_rx.once);
}

/*
 * wire 8: a source that does not state HELD may report a buffer several times, so it gets one
 * SinkAvail at a time.
 */
TEST(sdp_engine_hello_received__does_not_say_held)
{
	struct world *w = &world;
	struct sdp_hello h = { .bufs = 5, .recv_size = 4096, .max_adverts = 200 }, ack = { 0 };

	make_engine(&w->b, 7);
	EXPECT_EQ(SDP_VALID, sdp_engine_hello_received(&w->b, &h));
	EXPECT_EQ(1, w->b.sinkavail_rx.max);
	EXPECT_FALSE(w->b.sinkavail_rx.once);
	sdp_engine_hello_ack(&w->b, &ack);
	EXPECT_EQ(0, ack.held);
}

/* wire 10: Hello is legal only at the beginning, and never on an engine that has ended. */
TEST(sdp_engine_hello_received__wrong_state)
{
	struct world *w = hello_exchanged(TEST_SELF, 12, 12);
	struct sdp_hello h = { .bufs = 5, .recv_size = 4096, .max_adverts = 1 };

	EXPECT_EQ(SDP_BAD_STATE, sdp_engine_hello_received(&w->a, &h));
	EXPECT_EQ(SDP_HELLO_SENT, w->a.state);
	EXPECT_EQ(SDP_BAD_STATE, sdp_engine_hello_received(&w->b, &h));
	EXPECT_EQ(SDP_HELLO_RCVD, w->b.state);
	EXPECT_EQ(12, sdp_credit_available(&w->b.credit));
	hello_answered(TEST_SELF, w);
	EXPECT_EQ(SDP_BAD_STATE, sdp_engine_hello_received(&w->a, &h));
	aborted(w, &w->b, ECONNABORTED);
	EXPECT_EQ(SDP_BAD_STATE, sdp_engine_hello_received(&w->b, &h));
}

/* A1, wire 4: HelloAck states the same, and the connecting side is established with it. */
TEST(sdp_engine_hello_ack__establishes)
{
	struct world *w = hello_exchanged(TEST_SELF, 12, 7);
	struct sdp_hello ack = { 0 };

	sdp_engine_hello_ack(&w->b, &ack);
	EXPECT_EQ(7, ack.bufs);
	EXPECT_EQ(SDP_VERSION, ack.version);
	EXPECT_EQ(1, ack.max_adverts);
	EXPECT_EQ(SDP_SINKAVAILS_MAX, ack.held);
	EXPECT_EQ(RECV_SIZE, ack.recv_size);
	EXPECT_EQ(7, w->b.credit.theirs);
	EXPECT_EQ(SDP_HELLO_RCVD, w->b.state);
	ack.recv_size = 8000;
	sdp_engine_hello_ack_received(&w->a, &ack, &w->acts);
	EXPECT_ACT(w, SDP_ACT_ESTABLISHED);
	EXPECT_EQ(SDP_ESTABLISHED, w->a.state);
	EXPECT_EQ(7, sdp_credit_available(&w->a.credit));
	EXPECT_EQ(8000 - 16, sdp_engine_payload_max(&w->a));
}

/*
 * wire 5: over iWARP the peer sends nothing before our first message. That leaves at once, even if
 * it is empty, and only once; the peer is established by it.
 */
TEST(sdp_engine_greet__first_message)
{
	struct world *w = hello_exchanged(TEST_SELF, 12, 12);
	struct sdp_tx_view nothing = { 0 };

	sdp_engine_greet(&w->a);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->a, &nothing, &w->tx));
	hello_answered(TEST_SELF, w);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->a, &nothing, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->b, &nothing, &w->tx));
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_ACT(w, SDP_ACT_ESTABLISHED);
	EXPECT_EQ(SDP_ESTABLISHED, w->b.state);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->a, &nothing, &w->tx));
}

/* Another first message greets as well. Without credit there is none. */
TEST(sdp_engine_greet__with_data)
{
	struct world *w = hello_exchanged(TEST_SELF, 12, 12);
	struct sdp_tx_view nothing = { 0 };

	sdp_engine_greet(&w->a);
	hello_answered(TEST_SELF, w);
	w->a.credit.tx_limit = w->a.credit.tx_seq;
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->a, &nothing, &w->tx));
	w->a.credit.tx_limit += 12;
	pass(w, &w->a, &w->b, SDP_MID_DATA, 100);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->a, &nothing, &w->tx));
}

/* wire 10: a HelloAck that answers no Hello. */
TEST(sdp_engine_hello_ack_received__wrong_state)
{
	struct world *w = hello_exchanged(TEST_SELF, 12, 12);
	struct sdp_hello ack = { .bufs = 3, .recv_size = 100 };

	sdp_engine_hello_ack_received(&w->b, &ack, &w->acts);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	EXPECT_TRUE(w->b.dead);
	w = connected(TEST_SELF);
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_hello_ack_received(&w->a, &ack, &w->acts);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_hello_ack_received(&w->a, &ack, &w->acts);
	EXPECT_NO_ACTS(w);
}

/* The transport may report the connection early, late or twice. The application is told once. */
TEST(sdp_engine_established__once)
{
	struct world *w = connected(TEST_SELF);

	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_established(&w->b, &w->acts);
	sdp_engine_established(&w->a, &w->acts);
	EXPECT_NO_ACTS(w);
	make_engine(&w->a, 12);
	sdp_engine_established(&w->a, &w->acts);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_CLOSED, w->a.state);
	w = hello_exchanged(TEST_SELF, 12, 12);
	aborted(w, &w->b, ECONNABORTED);
	memset(&w->acts, 0, sizeof(w->acts));
	sdp_engine_established(&w->b, &w->acts);
	EXPECT_NO_ACTS(w);
}

/* wire 5: data may come before the transport reports the connection as established. */
TEST(sdp_engine_receive__before_established)
{
	struct world *w = hello_exchanged(TEST_SELF, 12, 12);

	hello_answered(TEST_SELF, w);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 10);
	EXPECT_ACTS(w, SDP_ACT_ESTABLISHED, SDP_ACT_DELIVER);
	EXPECT_EQ(SDP_ESTABLISHED, w->b.state);
	w = hello_exchanged(TEST_SELF, 12, 12);
	hello_answered(TEST_SELF, w);
	pass(w, &w->a, &w->b, SDP_MID_DISCONN, 0);
	EXPECT_ACTS(w, SDP_ACT_ESTABLISHED, SDP_ACT_EOF);
	EXPECT_EQ(SDP_DISC_RCVD, w->b.state);
}

/* Before HelloAck the peer has no grant to send anything. */
TEST(sdp_engine_receive__before_hello_ack)
{
	struct world *w = hello_exchanged(TEST_SELF, 12, 12);

	receive_right(w, &w->b, SDP_MID_DATA, 1);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_CREDIT);
	w = hello_exchanged(TEST_SELF, 12, 12);
	receive_right(w, &w->a, SDP_MID_DATA, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	make_engine(&w->a, 12);
	w->a.credit.rx_limit = 12;
	receive_right(w, &w->a, SDP_MID_DATA, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
}

/* Payload is delivered with its offset in the message. */
TEST(sdp_engine_receive__data)
{
	struct world *w = connected(TEST_SELF);

	pass(w, &w->a, &w->b, SDP_MID_DATA, 100);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
	EXPECT_EQ(16, w->acts.list[0].offset);
	EXPECT_EQ(100, w->acts.list[0].len);
	EXPECT_EQ(100, w->msg.payload_len);
	pass(w, &w->b, &w->a, SDP_MID_DATA, PAYLOAD_MAX);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
	EXPECT_EQ(PAYLOAD_MAX, w->acts.list[0].len);
	EXPECT_EQ(0, w->acts.list[0].error);
}

/* D4, A3: a credit update leads to no action. */
TEST(sdp_engine_receive__credit_update)
{
	struct world *w = connected(TEST_SELF);
	struct sdp_msg m = from_peer(&w->a, SDP_MID_DATA, 0);

	m.h.bufs = 40;
	receive_msg(w, &w->a, &m);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(40, sdp_credit_available(&w->a.credit));
	EXPECT_EQ(11, w->a.credit.posted);
	EXPECT_EQ(1, sdp_engine_receives_wanted(&w->a));
}

/* A message cannot be longer than its receive. */
TEST(sdp_engine_receive__longer_than_receive)
{
	struct world *w = connected(TEST_SELF);

	receive_right(w, &w->b, SDP_MID_DATA, PAYLOAD_MAX);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
	receive_right(w, &w->b, SDP_MID_DATA, PAYLOAD_MAX + 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_LEN);
}

/* wire 7: a message that the codec refuses ends the connection, with the codec's violation. */
TEST(sdp_engine_receive__refused_by_codec)
{
	static const struct { u8 at, value; u32 bytes; enum sdp_violation want; } cases[] = {
		{ 0, 0xff, 15, SDP_BAD_LEN }, { 0, 0xff, 0, SDP_BAD_LEN },
		{ 7, 99, 16, SDP_BAD_LEN }, { 0, 0x00, 16, SDP_BAD_MID },
		{ 0, 0x01, 16, SDP_BAD_MID }, { 0, 0x44, 16, SDP_BAD_MID },
		{ 1, 0x08, 16, SDP_BAD_FLAGS }, { 1, 0x01, 16, SDP_BAD_FLAGS },
		{ 2, 0x40, 16, SDP_BAD_BUFS },
	};
	struct world *w;
	struct sdp_msg m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		w = connected(TEST_SELF);
		m = from_peer(&w->b, SDP_MID_DATA, 0);
		sdp_wire_build(w->buf, &m);
		w->buf[cases[i].at] = cases[i].value;
		receive_bytes(w, &w->b, w->buf, cases[i].bytes);
		EXPECT_EQ(1, w->acts.n);
		EXPECT_FAIL(w, EPROTO, cases[i].want);
		EXPECT_TRUE(w->b.dead);
		EXPECT_EQ(SDP_CLOSED, w->b.state);
	}
	w = connected(TEST_SELF);
	receive_right(w, &w->b, SDP_MID_DISCONN, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_PAYLOAD);
	w = connected(TEST_SELF);
	receive_right(w, &w->b, SDP_MID_SRC_AVAIL, 1);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_FIELD);
}

/* wire 7, D1: a message that the credit code refuses ends the connection, with its violation. */
TEST(sdp_engine_receive__refused_by_credit)
{
	struct world *w = connected(TEST_SELF);
	struct sdp_msg m = from_peer(&w->b, SDP_MID_DATA, 5);
	u32 i;

	m.h.mseq++;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_SEQ);

	w = connected(TEST_SELF);
	m = from_peer(&w->b, SDP_MID_DATA, 5);
	m.h.mseq_ack = 1;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_ACK);

	w = connected(TEST_SELF);
	m = from_peer(&w->b, SDP_MID_DATA, 5);
	m.h.bufs = 11;
	receive_msg(w, &w->b, &m);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_BUFS);

	/* D2: twelve messages are granted, the thirteenth is one too many. */
	w = connected(TEST_SELF);
	for (i = 0; i < 11; i++) {
		receive_right(w, &w->b, SDP_MID_DATA, 5);
		EXPECT_ACT(w, SDP_ACT_DELIVER);
	}
	receive_right(w, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(0, w->acts.n);
	sdp_engine_posted(&w->b, 12);
	receive_right(w, &w->b, SDP_MID_DATA, 0);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_CREDIT);

	/* D5: no data comes with the last credit, whatever the peer knows of our grants. */
	w = connected(TEST_SELF);
	for (i = 0; i < 11; i++)
		receive_right(w, &w->b, SDP_MID_DATA, 5);
	receive_right(w, &w->b, SDP_MID_DATA, 5);
	EXPECT_ACT(w, SDP_ACT_FAIL);
	EXPECT_FAIL(w, EPROTO, SDP_BAD_CREDIT);
}

/* wire 8: on a new connection, messages that depend on an earlier one are errors. */
TEST(sdp_engine_receive__messages_out_of_place)
{
	u32 mid;

	for (mid = SDP_MID_SENDSM; mid <= SDP_MID_SRC_AVAIL; mid++) {
		struct world *w;
		struct sdp_msg m;

		/*
		 * Requests and ring messages have tests of their own. A cancel may have crossed
		 * the end of a SrcAvail, so it is no error.
		 */
		if (!sdp_wire_header_len((u8)mid) || mid == SDP_MID_CHRCVBUF ||
		    mid == SDP_MID_SUSPEND || mid == SDP_MID_SRC_CANCEL ||
		    mid == SDP_MID_SRC_AVAIL || mid == SDP_MID_RING_ASK ||
		    mid == SDP_MID_RING_AVAIL)
			continue;
		w = connected(TEST_SELF);
		m = from_peer(&w->b, (u8)mid, 0);
		if (mid == SDP_MID_CHRCVBUF_ACK) {
			m.size = 4096;
		} else if (mid == SDP_MID_MODE_CHANGE) {
			m.mode = SDP_MODE_COMBINED;
		} else if (mid >= SDP_MID_SINK_AVAIL) {
			m.src.len = 100;
			m.src.va = 4096;
		}
		receive_msg(w, &w->b, &m);
		EXPECT_EQ(mid, w->msg.h.mid);
		EXPECT_ACT(w, SDP_ACT_FAIL);
		EXPECT_FAIL(w, EPROTO, SDP_BAD_STATE);
	}
}

/* SuspComm: we cannot move the session, so there is no answer and nothing changes. */
TEST(sdp_engine_receive__suspend)
{
	struct world *w = connected(TEST_SELF);
	struct sdp_tx_view view = { 0 };

	receive_right(w, &w->b, SDP_MID_SUSPEND, 0);
	EXPECT_EQ(SDP_MID_SUSPEND, w->msg.h.mid);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_ESTABLISHED, w->b.state);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->b, &view, &w->tx));
	receive_right(w, &w->b, SDP_MID_DATA, 5);
	EXPECT_ACT(w, SDP_ACT_DELIVER);
}

/* After its end an engine does nothing, whatever comes. */
TEST(sdp_engine_receive__dead)
{
	struct world *w = connected(TEST_SELF);
	struct sdp_tx_view view = { .head_bytes = 5, .head_full = true };

	aborted(w, &w->b, ECONNABORTED);
	EXPECT_FAIL(w, ECONNABORTED, SDP_VALID);
	receive_right(w, &w->b, SDP_MID_DATA, 5);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_MID_DATA, w->msg.h.mid);
	EXPECT_EQ(5, w->msg.payload_len);
	receive_right(w, &w->b, SDP_MID_ABORT, 0);
	EXPECT_NO_ACTS(w);
	completed(w, &w->b, 1);
	EXPECT_NO_ACTS(w);
	aborted(w, &w->b, EIO);
	EXPECT_NO_ACTS(w);
	link_ended(w, &w->b);
	EXPECT_NO_ACTS(w);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->b, &view, &w->tx));
	EXPECT_EQ(0, sdp_engine_receives_wanted(&w->b));
	EXPECT_EQ(SDP_CLOSED, w->b.state);
}

/* A1, A3: the receives missing to the target are wanted. */
TEST(sdp_engine_receives_wanted__follows_target)
{
	struct world *w = connected_with(TEST_SELF, 12, 3);

	EXPECT_EQ(0, sdp_engine_receives_wanted(&w->a));
	EXPECT_EQ(9, sdp_engine_receives_wanted(&w->b));
	sdp_engine_posted(&w->b, 4);
	EXPECT_EQ(5, sdp_engine_receives_wanted(&w->b));
	pass(w, &w->a, &w->b, SDP_MID_DATA, 1);
	pass(w, &w->a, &w->b, SDP_MID_DATA, 0);
	EXPECT_EQ(5, sdp_engine_receives_wanted(&w->b));
	/* Posted receives are never taken back. */
	sdp_engine_set_target(&w->b, 3, 0);
	EXPECT_EQ(0, sdp_engine_receives_wanted(&w->b));
	EXPECT_EQ(7, w->b.credit.posted);
	EXPECT_EQ(2, w->b.credit.threshold);
	sdp_engine_set_target(&w->b, 64, 10);
	EXPECT_EQ(57, sdp_engine_receives_wanted(&w->b));
	EXPECT_EQ(10, w->b.credit.threshold);
}

/* A1: three receives until accept(), then twelve, and the peer is told. */
TEST(sdp_engine_set_target__at_accept)
{
	struct world *w = connected_with(TEST_SELF, 12, 3);
	struct sdp_tx_view nothing = { 0 };

	sdp_engine_set_target(&w->b, 3, 0);
	EXPECT_EQ(3, sdp_credit_available(&w->a.credit));
	sdp_engine_set_target(&w->b, 12, 0);
	EXPECT_EQ(9, sdp_engine_receives_wanted(&w->b));
	sdp_engine_posted(&w->b, 5);
	EXPECT_EQ(SDP_NEXT_IDLE, sdp_engine_next(&w->b, &nothing, &w->tx));
	sdp_engine_posted(&w->b, 4);
	EXPECT_EQ(SDP_NEXT_SEND, sdp_engine_next(&w->b, &nothing, &w->tx));
	EXPECT_EQ(SDP_MID_DATA, w->tx.mid);
	EXPECT_EQ(0, w->tx.payload_max);
	pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
	EXPECT_EQ(12, sdp_credit_available(&w->a.credit));
}

/* A2: the sequence numbers wrap during traffic without any effect. */
TEST(sdp_engine_receive__numbers_wrap)
{
	struct world *w = connected(TEST_SELF);
	u32 i;

	start_at(w, 0xfffffff8U);
	for (i = 0; i < 20; i++) {
		pass(w, &w->a, &w->b, SDP_MID_DATA, 7);
		EXPECT_ACT(w, SDP_ACT_DELIVER);
		pass(w, &w->b, &w->a, SDP_MID_DATA, 0);
		EXPECT_NO_ACTS(w);
		EXPECT_TRUE(sdp_engine_all_arrived(&w->a));
	}
	EXPECT_EQ(12, w->a.credit.tx_seq);
}

TEST_MAIN
