// SPDX-License-Identifier: GPL-2.0
/*
 * Both halves of an end of a connection by datagrams (I1 to I4). Their rules are tested in
 * test_window_tx.c and test_window_rx.c, whole connections in sim_window.c.
 */
#include "test.h"
#include "window.h"

static const struct sdp_window_config config = {
	.tx_seq = 0xfffffffe, .rx_seq = 100, .tx_window = 75, .their_window = 76,
	.rx_window = 76, .retries = 2, .rtt = 50,
};

static struct sdp_window w;
static u32 now;

static void begin(void)
{
	sdp_window_init(&w, &config);
	now = 5;
}

/* Type of what is sent now; %SDP_DATAGRAM_TYPES when nothing is. */
static enum sdp_datagram_type next(void)
{
	enum sdp_datagram_type type;

	return sdp_window_next(&w, now, &type) ? type : SDP_DATAGRAM_TYPES;
}

static enum sdp_packet arrives(enum sdp_datagram_type type, u32 seq, u8 flags)
{
	struct sdp_datagram d = {
		.type = type, .flags = flags, .window = 76, .seq = seq, .ack = w.tx.acked,
		.packets = type == SDP_DATAGRAM_DATA, .offset = type == SDP_DATAGRAM_PROBE,
	};

	return sdp_window_arrived(&w, &d, false, now);
}

static struct sdp_datagram control(enum sdp_datagram_type type)
{
	struct sdp_datagram d;

	memset(&d, 0xff, sizeof(d));
	sdp_window_control(&w, &d, type, now);
	return d;
}

/* The header of each packet of a message, and no more. */
TEST(sdp_window_packet__headers)
{
	struct sdp_datagram d;
	u32 i, seq;

	begin();
	EXPECT_EQ(SDP_DATAGRAM_TYPES, next());
	seq = sdp_window_tx_add(&w.tx, 3);
	EXPECT_EQ(config.tx_seq, seq);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(SDP_DATAGRAM_DATA, next());
		memset(&d, 0xff, sizeof(d));
		sdp_window_packet(&w, &d, seq, 3, now);
		EXPECT_EQ(SDP_DATAGRAM_DATA, d.type);
		EXPECT_EQ(i == 2 ? SDP_DATAGRAM_ACK_SOON : 0, d.flags);
		EXPECT_EQ(76, d.window);
		EXPECT_EQ(seq, d.seq);
		EXPECT_EQ(100, d.ack);
		EXPECT_EQ(i, d.offset);
		EXPECT_EQ(3, d.packets);
	}
	EXPECT_EQ(SDP_DATAGRAM_TYPES, next());
	d = control(SDP_DATAGRAM_RESET);
	EXPECT_EQ(SDP_DATAGRAM_RESET, d.type);
	EXPECT_EQ(0, d.flags);
	EXPECT_EQ(1, d.seq);
	EXPECT_EQ(100, d.ack);
	EXPECT_EQ(0, d.offset);
	EXPECT_EQ(0, d.packets);
}

/* I2: what is due by itself: a NACK before all others, an ACK only if no packet carries it. */
TEST(sdp_window_next__order)
{
	struct sdp_datagram d;

	begin();
	EXPECT_EQ(SDP_PACKET_WHOLE, arrives(SDP_DATAGRAM_DATA, 100, SDP_DATAGRAM_ACK_NOW));
	EXPECT_EQ(SDP_DATAGRAM_ACK, next());
	sdp_window_tx_add(&w.tx, 1);
	EXPECT_EQ(SDP_DATAGRAM_DATA, next());
	EXPECT_EQ(SDP_PACKET_AHEAD, arrives(SDP_DATAGRAM_DATA, 102, 0));
	EXPECT_EQ(SDP_DATAGRAM_NACK, next());
	EXPECT_EQ(101, control(SDP_DATAGRAM_NACK).ack);
	EXPECT_EQ(SDP_DATAGRAM_DATA, next());
	sdp_window_packet(&w, &d, w.tx.sent, 1, now);
	EXPECT_EQ(SDP_DATAGRAM_TYPES, next());
	/* Probed before it has sent all that it has. */
	arrives(SDP_DATAGRAM_PROBE, 101, 0);
	EXPECT_EQ(SDP_DATAGRAM_ACK, next());
	/* The peer measures the time of the answer: it does not wait for a packet. */
	sdp_window_tx_add(&w.tx, 1);
	EXPECT_EQ(SDP_DATAGRAM_ACK, next());
	d = control(SDP_DATAGRAM_ACK);
	EXPECT_EQ(1, d.offset);
	EXPECT_EQ(SDP_DATAGRAM_DATA, next());
	sdp_window_packet(&w, &d, w.tx.sent, 1, now);
	arrives(SDP_DATAGRAM_PROBE, 102, 0);
	EXPECT_EQ(SDP_DATAGRAM_NACK, next());
	EXPECT_EQ(SDP_PACKET_WRONG, arrives(SDP_DATAGRAM_PROBE, 101 + 77, 0));
}

/* I4: one Probe when the time has come, then a wait that is longer. */
TEST(sdp_window_expired__probes)
{
	struct sdp_datagram d;
	u32 us, i;

	begin();
	sdp_window_tx_add(&w.tx, 1);
	sdp_window_packet(&w, &d, w.tx.sent, 1, now);
	for (i = 0; i < config.retries; i++) {
		EXPECT_TRUE(sdp_window_expired(&w, now));
		EXPECT_EQ(SDP_DATAGRAM_TYPES, next());
		EXPECT_TRUE(sdp_window_wait(&w, now, &us));
		EXPECT_EQ(SDP_RTO_MIN_US << i, us);
		now += us;
		EXPECT_TRUE(sdp_window_expired(&w, now));
		EXPECT_EQ(SDP_DATAGRAM_PROBE, next());
		d = control(SDP_DATAGRAM_PROBE);
		EXPECT_EQ(config.tx_seq + 1, d.seq);
		EXPECT_EQ(i + 1, d.offset);
		EXPECT_EQ(w.tx.round << SDP_DATAGRAM_ROUND_SHIFT, d.flags);
		w.tx.round = 2;
		EXPECT_EQ(SDP_DATAGRAM_TYPES, next());
	}
	EXPECT_TRUE(sdp_window_wait(&w, now, &us));
	EXPECT_FALSE(sdp_window_expired(&w, now + us));
}

/* The earlier one of both halves; an acknowledgment alone is waited for, too. */
TEST(sdp_window_wait__halves)
{
	struct sdp_datagram d;
	u32 us;

	begin();
	EXPECT_FALSE(sdp_window_wait(&w, now, &us));
	arrives(SDP_DATAGRAM_DATA, 100, SDP_DATAGRAM_ACK_SOON);
	EXPECT_TRUE(sdp_window_wait(&w, now, &us));
	EXPECT_EQ(SDP_ACK_DELAY_US, us);
	sdp_window_tx_add(&w.tx, 1);
	sdp_window_packet(&w, &d, w.tx.sent, 1, now);
	EXPECT_TRUE(sdp_window_wait(&w, now, &us));
	EXPECT_EQ(SDP_RTO_MIN_US, us);
	arrives(SDP_DATAGRAM_DATA, 101, SDP_DATAGRAM_ACK_SOON);
	EXPECT_TRUE(sdp_window_wait(&w, now, &us));
	EXPECT_EQ(SDP_ACK_DELAY_US, us);
	now += us;
	EXPECT_TRUE(sdp_window_expired(&w, now));
	EXPECT_EQ(SDP_DATAGRAM_ACK, next());
}

/* What the peer says about us counts whatever the datagram is, and before its packet. */
TEST(sdp_window_arrived__both_halves)
{
	struct sdp_datagram d = {
		.window = 76, .ack = config.tx_seq + 1, .seq = 100, .packets = 1,
	};
	struct sdp_datagram sent;

	begin();
	EXPECT_EQ(SDP_PACKET_BAD_ACK, sdp_window_arrived(&w, &d, true, now));
	EXPECT_EQ(100, w.rx.next);
	sdp_window_tx_add(&w.tx, 2);
	sdp_window_packet(&w, &sent, config.tx_seq, 2, now);
	EXPECT_EQ(SDP_PACKET_WHOLE, sdp_window_arrived(&w, &d, true, now));
	EXPECT_EQ(config.tx_seq + 1, w.tx.acked);
	sdp_window_packet(&w, &sent, config.tx_seq, 2, now);
	EXPECT_EQ(SDP_DATAGRAM_CE | SDP_DATAGRAM_ACK_SOON, sent.flags);
	EXPECT_EQ(1, sent.offset);
	EXPECT_EQ(SDP_PACKET_NONE, arrives(SDP_DATAGRAM_ACK, 0, 0));
	EXPECT_EQ(SDP_PACKET_NONE, arrives(SDP_DATAGRAM_NACK, 0, 0));
	EXPECT_EQ(SDP_DATAGRAM_DATA, next());
	sdp_window_packet(&w, &sent, config.tx_seq, 2, now);
	EXPECT_EQ(SDP_DATAGRAM_ACK_SOON | 1 << SDP_DATAGRAM_ROUND_SHIFT, sent.flags);
}

/* I2: a message waits for what was sent, unless that goes again. */
TEST(sdp_window_hasten__asks)
{
	struct sdp_datagram d;
	u32 seq;

	begin();
	EXPECT_FALSE(sdp_window_hasten(&w));
	seq = sdp_window_tx_add(&w.tx, 2);
	EXPECT_FALSE(sdp_window_hasten(&w));
	EXPECT_EQ(SDP_DATAGRAM_DATA, next());
	sdp_window_packet(&w, &d, seq, 2, now);
	sdp_window_packet(&w, &d, seq, 2, now);
	EXPECT_EQ(SDP_DATAGRAM_TYPES, next());
	EXPECT_TRUE(sdp_window_hasten(&w));
	EXPECT_EQ(SDP_DATAGRAM_PROBE, next());
	d = control(SDP_DATAGRAM_PROBE);
	EXPECT_EQ(SDP_DATAGRAM_TYPES, next());
	EXPECT_EQ(SDP_PACKET_NONE, arrives(SDP_DATAGRAM_NACK, 0, 0));
	EXPECT_FALSE(sdp_window_hasten(&w));
	EXPECT_EQ(SDP_DATAGRAM_DATA, next());
	sdp_window_packet(&w, &d, seq, 2, now);
	EXPECT_FALSE(sdp_window_hasten(&w));
	sdp_window_packet(&w, &d, seq, 2, now);
	EXPECT_TRUE(sdp_window_hasten(&w));
	d = (struct sdp_datagram){ .type = SDP_DATAGRAM_ACK, .window = 76, .ack = w.tx.top };
	EXPECT_EQ(SDP_PACKET_NONE, sdp_window_arrived(&w, &d, false, now));
	EXPECT_FALSE(sdp_window_hasten(&w));
}

TEST_MAIN
