// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving half of a connection by datagrams (I1 to I4), near the wraps of numbers and of time.
 */
#include "test.h"
#include "window_rx.h"

#define WINDOW	75

static const u32 bases[] = {
	0, 100, 0x7ffffff0U, 0x80000000U, 0xffffffe0U, 0xffffffffU,
};

static struct sdp_window_rx rx;
static u32 first, now;

static void begin(u32 base)
{
	first = base;
	now = base;
	sdp_window_rx_init(&rx, base, WINDOW);
}

/* Packet @offset of a message of @packets that begins @at packets behind the first of all. */
static enum sdp_packet arrives(u32 at, u32 packets, u32 offset, u8 flags)
{
	struct sdp_datagram d = {
		.flags = flags, .seq = first + at, .packets = packets, .offset = offset,
	};

	return sdp_window_rx_arrived(&rx, &d, now);
}

static struct sdp_datagram fill(enum sdp_datagram_type type)
{
	struct sdp_datagram d = { .type = type };

	sdp_window_rx_fill(&rx, &d);
	return d;
}

/* A Probe of a peer that has sent all packets before @seq. */
static bool probed(u32 seq, u16 number, u8 flags)
{
	struct sdp_datagram d = {
		.type = SDP_DATAGRAM_PROBE, .flags = flags, .seq = seq, .offset = number,
	};

	return sdp_window_rx_probed(&rx, &d);
}

/* I2: with messages of one packet, one acknowledgment for a quarter of the window. */
TEST(sdp_window_rx_arrived__quarter)
{
	u32 b, i;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		for (i = 0; i < 57; i++) {
			EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
			EXPECT_EQ(SDP_PACKET_WHOLE, arrives(i, 1, 0, 0));
			if (i % 19 == 18) {
				EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
				EXPECT_EQ(first + i + 1, fill(SDP_DATAGRAM_ACK).ack);
			}
		}
		/* Data that is sent meanwhile carries the acknowledgment. */
		for (i = 57; i < 75; i++)
			arrives(i, 1, 0, 0);
		EXPECT_EQ(first + 75, fill(SDP_DATAGRAM_DATA).ack);
		arrives(75, 1, 0, 0);
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
	}
}

/* I3: packets of a chunk in any order, one acknowledgment for all of them. */
TEST(sdp_window_rx_arrived__chunk)
{
	u32 b, i;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		for (i = 35; i; i--) {
			EXPECT_EQ(SDP_PACKET_PART, arrives(0, 36, i, 0));
			EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
			EXPECT_EQ(first, sdp_window_rx_ack(&rx));
		}
		EXPECT_EQ(SDP_PACKET_WHOLE, arrives(0, 36, 0, 0));
		EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
		EXPECT_EQ(first + 36, fill(SDP_DATAGRAM_ACK).ack);
		EXPECT_EQ(SDP_PACKET_PART, arrives(36, 2, 0, 0));
		EXPECT_EQ(first + 37, fill(SDP_DATAGRAM_DATA).ack);
		EXPECT_EQ(SDP_PACKET_WHOLE, arrives(36, 2, 1, 0));
	}
}

/* Flags of a packet of a round. */
#define ROUND(n)	((n) << SDP_DATAGRAM_ROUND_SHIFT)

/* I1: a packet behind a gap is dropped, and one NACK goes for each gap and round. */
TEST(sdp_window_rx_arrived__gap)
{
	struct sdp_datagram d;
	u32 b;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		arrives(0, 1, 0, 0);
		EXPECT_EQ(SDP_PACKET_PART, arrives(1, 3, 0, 0));
		EXPECT_EQ(SDP_PACKET_PART, arrives(1, 3, 2, 0));
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(4, 1, 0, 0));
		EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
		/* Data does not take its place. */
		EXPECT_EQ(first + 2, fill(SDP_DATAGRAM_DATA).ack);
		EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
		d = fill(SDP_DATAGRAM_NACK);
		EXPECT_EQ(first + 2, d.ack);
		EXPECT_EQ(ROUND(0), d.flags);
		/* On the way before the sender has gone back, however long that takes. */
		now += 1000000;
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(5, 1, 0, 0));
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
		/* What went again was lost again. */
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(5, 1, 0, ROUND(1)));
		EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
		EXPECT_EQ(ROUND(1), fill(SDP_DATAGRAM_NACK).flags);
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(6, 1, 0, ROUND(1)));
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
		/* The gap is closed; the next one is another. */
		EXPECT_EQ(SDP_PACKET_WHOLE, arrives(1, 3, 1, ROUND(1)));
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(5, 1, 0, ROUND(1)));
		EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
		EXPECT_EQ(first + 4, fill(SDP_DATAGRAM_NACK).ack);
	}
}

/* A packet of an earlier round, which later ones have overtaken, shows nothing. */
TEST(sdp_window_rx_arrived__rounds)
{
	u32 i;

	begin(0xfffffffeU);
	for (i = 0; i < 9; i++) {
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(2, 1, 0, ROUND(i & 3)));
		EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
		EXPECT_EQ(ROUND(i & 3), fill(SDP_DATAGRAM_NACK).flags);
		arrives(2, 1, 0, ROUND((i - 1) & 3));
		arrives(2, 1, 0, ROUND((i - 2) & 3));
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
		arrives(2, 1, 0, ROUND(i & 3));
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
	}
	/* Also where the gap is another one, and when it asks for an acknowledgment. */
	arrives(0, 1, 0, ROUND(0));
	EXPECT_EQ(SDP_PACKET_AHEAD, arrives(3, 1, 0, ROUND(3)));
	arrives(1, 3, 2, ROUND(3) | SDP_DATAGRAM_ACK_NOW);
	fill(SDP_DATAGRAM_ACK);
	EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
	EXPECT_EQ(SDP_PACKET_AHEAD, arrives(4, 1, 0, ROUND(0)));
	EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
	/* Others have no round. */
	EXPECT_EQ(0, fill(SDP_DATAGRAM_ACK).flags);
}

/* The round of a Probe counts, whatever it was before. */
TEST(sdp_window_rx_probed__round)
{
	u32 i;

	begin(5);
	for (i = 0; i < 16; i++) {
		EXPECT_TRUE(probed(first + 1, 1, ROUND(i * 7 & 3)));
		EXPECT_EQ(ROUND(i * 7 & 3), fill(SDP_DATAGRAM_NACK).flags);
	}
}

/* What has arrived before is dropped; the peer may lack the acknowledgment, so it gets one soon. */
TEST(sdp_window_rx_arrived__again)
{
	u32 b, us;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		arrives(0, 2, 0, 0);
		EXPECT_EQ(SDP_PACKET_AGAIN, arrives(0, 2, 0, 0));
		EXPECT_TRUE(sdp_window_rx_wait(&rx, now, &us));
		EXPECT_EQ(SDP_ACK_DELAY_US, us);
		fill(SDP_DATAGRAM_ACK);
		arrives(0, 2, 1, 0);
		EXPECT_FALSE(sdp_window_rx_wait(&rx, now, &us));
		EXPECT_EQ(SDP_PACKET_AGAIN, arrives(0, 2, 1, 0));
		EXPECT_TRUE(sdp_window_rx_wait(&rx, now, &us));
		EXPECT_EQ(SDP_PACKET_AGAIN, arrives(0U - 100, 2, 1, 0));
		EXPECT_EQ(first + 2, sdp_window_rx_ack(&rx));
	}
}

/* The sender asks for an acknowledgment. Soon: a message within the delay carries it. */
TEST(sdp_window_rx_due__asked)
{
	u32 us;

	begin(0xfffffff0U);
	arrives(0, 1, 0, SDP_DATAGRAM_ACK_SOON);
	EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
	now += SDP_ACK_DELAY_US - 1;
	arrives(1, 1, 0, SDP_DATAGRAM_ACK_SOON);
	EXPECT_TRUE(sdp_window_rx_wait(&rx, now, &us));
	EXPECT_EQ(1, us);
	EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
	now += 5;
	EXPECT_TRUE(sdp_window_rx_wait(&rx, now, &us));
	EXPECT_EQ(0, us);
	EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
	EXPECT_EQ(first + 2, fill(SDP_DATAGRAM_DATA).ack);
	EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
	EXPECT_FALSE(sdp_window_rx_wait(&rx, now, &us));
	arrives(2, 4, 0, SDP_DATAGRAM_ACK_NOW);
	EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
	fill(SDP_DATAGRAM_ACK);
	/* Whatever becomes of the packet that asks. */
	arrives(2, 4, 0, SDP_DATAGRAM_ACK_NOW);
	EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
}

/* What asks has overtaken others. A NACK goes, and what then comes is acknowledged at once. */
TEST(sdp_window_rx_due__asked_early)
{
	u32 b;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		arrives(0, 4, 3, SDP_DATAGRAM_ACK_SOON);
		EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
		EXPECT_EQ(first, fill(SDP_DATAGRAM_NACK).ack);
		arrives(0, 4, 2, SDP_DATAGRAM_ACK_NOW);
		EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
		fill(SDP_DATAGRAM_DATA);
		arrives(0, 4, 0, 0);
		EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
		EXPECT_EQ(first + 1, fill(SDP_DATAGRAM_DATA).ack);
		arrives(0, 4, 1, 0);
		EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
		EXPECT_EQ(first + 4, fill(SDP_DATAGRAM_ACK).ack);
		arrives(4, 1, 0, 0);
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
		/* One that is dropped asks in vain, and will ask again. */
		arrives(6, 2, 1, SDP_DATAGRAM_ACK_NOW);
		EXPECT_EQ(first + 5, fill(SDP_DATAGRAM_NACK).ack);
		arrives(5, 1, 0, 0);
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
	}
}

/* The missing packet comes before the NACK has gone. */
TEST(sdp_window_rx_due__nack_overtaken)
{
	begin(0xffffffffU);
	arrives(1, 1, 0, 0);
	EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
	arrives(0, 1, 0, 0);
	EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
	EXPECT_EQ(first + 1, fill(SDP_DATAGRAM_ACK).ack);
}

/* I3: one acknowledgment for a chunk, also if one for a part of it was sent. */
TEST(sdp_window_rx_arrived__chunk_told_in_part)
{
	u32 i;

	begin(0x7fffffe0U);
	for (i = 0; i < 25; i++)
		arrives(0, 36, i, 0);
	EXPECT_EQ(first + 25, fill(SDP_DATAGRAM_DATA).ack);
	for (; i < 36; i++) {
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
		arrives(0, 36, i, 0);
	}
	EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
}

/* I4: a Probe is answered always. */
TEST(sdp_window_rx_probed__answers)
{
	struct sdp_datagram d;
	u32 b, i;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		arrives(0, 3, 0, 0);
		for (i = 0; i < 2; i++) {
			EXPECT_TRUE(probed(first + 3, 7, 0));
			EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
			d = fill(SDP_DATAGRAM_NACK);
			EXPECT_EQ(first + 1, d.ack);
			EXPECT_EQ(7, d.offset);
		}
		for (i = 0; i < 2; i++) {
			EXPECT_TRUE(probed(first + 1 - i, 8, 0));
			EXPECT_TRUE(probed(first + 1 - i, 9, 0));
			EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
			/* What has a packet does not answer it. */
			EXPECT_EQ(0, fill(SDP_DATAGRAM_DATA).offset);
			EXPECT_EQ(SDP_DATAGRAM_ACK, sdp_window_rx_due(&rx, now));
			EXPECT_EQ(9, fill(SDP_DATAGRAM_ACK).offset);
			EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
			EXPECT_EQ(0, fill(SDP_DATAGRAM_ACK).offset);
		}
		EXPECT_FALSE(probed(first + 2 + WINDOW, 1, 0));
		EXPECT_EQ(SDP_DATAGRAM_DATA, sdp_window_rx_due(&rx, now));
		EXPECT_TRUE(probed(first + 1 + WINDOW, 1, 0));
		/* An answer with less does not revoke the NACK that is due. */
		EXPECT_TRUE(probed(first, 2, 0));
		EXPECT_EQ(SDP_DATAGRAM_NACK, sdp_window_rx_due(&rx, now));
	}
}

/* The window begins at the acknowledgment, and a message has one number of packets. */
TEST(sdp_window_rx_arrived__wrong)
{
	u32 b;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(WINDOW - 1, 1, 0, 0));
		EXPECT_EQ(SDP_PACKET_WRONG, arrives(WINDOW, 1, 0, 0));
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(WINDOW - 36, 36, 35, 0));
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(WINDOW - 35, 36, 34, 0));
		EXPECT_EQ(SDP_PACKET_WRONG, arrives(WINDOW - 35, 36, 35, 0));
		EXPECT_EQ(SDP_PACKET_PART, arrives(0, 2, 0, 0));
		EXPECT_EQ(SDP_PACKET_AHEAD, arrives(WINDOW, 1, 0, 0));
		EXPECT_EQ(SDP_PACKET_WRONG, arrives(WINDOW + 1, 1, 0, 0));
		EXPECT_EQ(SDP_PACKET_WRONG, arrives(0, 3, 1, 0));
		EXPECT_EQ(SDP_PACKET_WRONG, arrives(0, 1, 0, 0));
		EXPECT_EQ(SDP_PACKET_WRONG, arrives(0x80000000U, 1, 0, 0));
	}
}

/* I3: a window that is smaller than a message holds within it, whatever has come twice. */
TEST(sdp_window_rx_arrived__small_window)
{
	u32 b;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		rx.window = 4;
		EXPECT_EQ(SDP_PACKET_WRONG, arrives(0, 36, 4, 0));
		EXPECT_EQ(SDP_PACKET_PART, arrives(0, 36, 3, 0));
		EXPECT_EQ(SDP_PACKET_PART, arrives(0, 36, 0, 0));
		EXPECT_EQ(SDP_PACKET_PART, arrives(0, 36, 1, 0));
		EXPECT_EQ(SDP_PACKET_AGAIN, arrives(0, 36, 0, 0));
		EXPECT_EQ(SDP_PACKET_AGAIN, arrives(0, 36, 3, 0));
		EXPECT_EQ(SDP_PACKET_WRONG, arrives(0, 36, 6, 0));
		EXPECT_EQ(SDP_PACKET_PART, arrives(0, 36, 5, 0));
	}
}

/* The mark of congestion goes back once. */
TEST(sdp_window_rx_congested__echo)
{
	begin(5);
	EXPECT_EQ(0, fill(SDP_DATAGRAM_DATA).flags);
	sdp_window_rx_congested(&rx);
	EXPECT_EQ(SDP_DATAGRAM_CE, fill(SDP_DATAGRAM_DATA).flags);
	EXPECT_EQ(0, fill(SDP_DATAGRAM_DATA).flags);
	EXPECT_EQ(WINDOW, fill(SDP_DATAGRAM_DATA).window);
}

TEST_MAIN
