// SPDX-License-Identifier: GPL-2.0
/*
 * Sending half of a connection by datagrams (I1, I3, I4), near the wraps of numbers and of time.
 */
#include "chunk.h"
#include "test.h"
#include "window_tx.h"

#define WINDOW	75
#define RETRIES	3

static const u32 bases[] = {
	0, 100, 0x7ffffff0U, 0x80000000U, 0xffffffe0U, 0xffffffffU,
};

static struct sdp_window_tx tx;
static u32 first, now;

static void begin(u32 base)
{
	first = base;
	now = base;
	sdp_window_tx_init(&tx, base, WINDOW, RETRIES);
}

/* Messages of @packets, as many as the window takes, and their packets, as many as may be sent. */
static u32 add_all(u32 packets)
{
	u32 n = 0;

	for (; sdp_window_tx_may_add(&tx, packets); n++)
		sdp_window_tx_add(&tx, packets);
	return n;
}

static u32 send_all(void)
{
	u32 n = 0;

	for (; sdp_window_tx_may_send(&tx); n++)
		sdp_window_tx_sent(&tx, sdp_window_tx_flags(&tx, true), now);
	return n;
}

/* A NACK is of the newest round. */
static enum sdp_violation hears(enum sdp_datagram_type type, u32 ack, u8 flags, u16 window)
{
	struct sdp_datagram d = {
		.type = type, .flags = flags, .window = window, .ack = first + ack,
	};

	if (type == SDP_DATAGRAM_NACK)
		d.flags |= tx.round << SDP_DATAGRAM_ROUND_SHIFT;
	return sdp_window_tx_heard(&tx, &d, now);
}

#define ACKED(ack)	EXPECT_EQ(SDP_VALID, hears(SDP_DATAGRAM_ACK, ack, 0, WINDOW))
#define NACKED(ack)	EXPECT_EQ(SDP_VALID, hears(SDP_DATAGRAM_NACK, ack, 0, WINDOW))

/* I1: the window, in packets. */
TEST(sdp_window_tx_may_add__window)
{
	u32 b;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		EXPECT_EQ(75, add_all(1));
		EXPECT_EQ(75, send_all());
		ACKED(10);
		EXPECT_FALSE(sdp_window_tx_may_add(&tx, 11));
		EXPECT_EQ(first + 75, sdp_window_tx_add(&tx, 10));
		EXPECT_EQ(0, add_all(1));
		EXPECT_EQ(10, send_all());
	}
}

/* I3: chunk N goes when the acknowledgment of N - 2 is in. Smaller messages are not counted. */
TEST(sdp_window_tx_may_add__two_chunks)
{
	u32 b, i;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		for (i = 0; i < 20; i++) {
			EXPECT_TRUE(sdp_window_tx_may_add(&tx, 19));
			EXPECT_EQ(first + 19 * i, sdp_window_tx_add(&tx, 19));
			EXPECT_EQ(i == 0, sdp_window_tx_may_add(&tx, 19));
			EXPECT_TRUE(sdp_window_tx_may_add(&tx, 18));
			send_all();
			if (i) {
				ACKED(19 * i - 1);
				EXPECT_FALSE(sdp_window_tx_may_add(&tx, 19));
				ACKED(19 * i);
			}
		}
		ACKED(19 * 20);
		/* Large messages of long ago, when their numbers are half the way around. */
		for (i = 0; i < 10; i++) {
			first = tx.acked + 0x10000000U;
			tx.acked = first;
			tx.sent = first;
			tx.top = first;
			tx.next = first;
			sdp_window_tx_add(&tx, 1);
			send_all();
			ACKED(1);
		}
		EXPECT_EQ(2, add_all(36));
	}
}

/* Acknowledgments overtake each other; one of what was not sent is a lie. */
TEST(sdp_window_tx_heard__older_and_wrong)
{
	u32 b;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		add_all(1);
		hears(SDP_DATAGRAM_ACK, 0, 0, 10);
		EXPECT_EQ(10, send_all());
		EXPECT_EQ(SDP_BAD_ACK, hears(SDP_DATAGRAM_ACK, 11, 0, WINDOW));
		EXPECT_EQ(SDP_BAD_ACK, hears(SDP_DATAGRAM_NACK, 0x80000000U, 0, WINDOW));
		EXPECT_EQ(0, send_all());
		ACKED(4);
		EXPECT_EQ(SDP_VALID, hears(SDP_DATAGRAM_ACK, 3, 0, 1));
		EXPECT_EQ(first + 4, tx.acked);
		EXPECT_EQ(65, send_all());
	}
}

/* I1: a NACK makes the first missing packet and all behind it go again, each time half as many. */
TEST(sdp_window_tx_heard__goes_back)
{
	struct sdp_datagram d = { .type = SDP_DATAGRAM_NACK, .window = WINDOW };
	u32 b, before;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		add_all(1);
		EXPECT_EQ(75, send_all());
		NACKED(20);
		EXPECT_EQ(first + 20, tx.sent);
		EXPECT_EQ(1, tx.round);
		EXPECT_EQ(37, send_all());
		/* The network has doubled the NACK, or it was sent before anything came again. */
		d.ack = first + 20;
		EXPECT_EQ(SDP_VALID, sdp_window_tx_heard(&tx, &d, now));
		EXPECT_EQ(first + 57, tx.sent);
		NACKED(20);
		EXPECT_EQ(first + 20, tx.sent);
		EXPECT_EQ(2, tx.round);
		EXPECT_EQ(18, send_all());
		/* A later gap is another one. */
		NACKED(30);
		EXPECT_EQ(first + 30, tx.sent);
		EXPECT_EQ(9, tx.congestion.packets);
		/* What was to go again has arrived. */
		ACKED(75);
		EXPECT_EQ(first + 75, tx.sent);
		/* The answer to a Probe that says nothing is missing any more. */
		before = tx.congestion.packets;
		NACKED(75);
		EXPECT_EQ(first + 75, tx.sent);
		EXPECT_EQ(before, tx.congestion.packets);
	}
}

/* A NACK that was overtaken: packets behind the gap were dropped all the same. */
TEST(sdp_window_tx_heard__nack_overtaken)
{
	u32 b;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		add_all(1);
		send_all();
		ACKED(9);
		EXPECT_EQ(SDP_VALID, hears(SDP_DATAGRAM_NACK, 8, 0, 1));
		EXPECT_EQ(first + 9, tx.acked);
		EXPECT_EQ(first + 9, tx.sent);
		EXPECT_EQ(75, tx.theirs);
	}
}

/* A mark counts once for all that was sent before it came, however old the datagram is. */
TEST(sdp_window_tx_heard__congestion)
{
	u32 b;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		hears(SDP_DATAGRAM_DATA, 0, SDP_DATAGRAM_CE, WINDOW);
		EXPECT_EQ(37, tx.congestion.packets);
		begin(bases[b]);
		add_all(1);
		send_all();
		hears(SDP_DATAGRAM_DATA, 0, SDP_DATAGRAM_CE, WINDOW);
		EXPECT_EQ(37, tx.congestion.packets);
		hears(SDP_DATAGRAM_DATA, 70, SDP_DATAGRAM_CE, WINDOW);
		EXPECT_LE(37, tx.congestion.packets);
		ACKED(74);
		hears(SDP_DATAGRAM_DATA, 73, SDP_DATAGRAM_CE, WINDOW);
		EXPECT_LE(37, tx.congestion.packets);
		/* The acknowledgment of all of it, with a new mark. */
		hears(SDP_DATAGRAM_DATA, 75, SDP_DATAGRAM_CE, WINDOW);
		EXPECT_GE(20, tx.congestion.packets);
		/* Nothing is on the way, so the next one is new, too. */
		hears(SDP_DATAGRAM_DATA, 70, SDP_DATAGRAM_CE, WINDOW);
		EXPECT_GE(10, tx.congestion.packets);
	}
}

/* Which acknowledgment a packet asks for, so that another packet never waits for a timeout. */
TEST(sdp_window_tx_flags__asks)
{
	begin(3);
	sdp_window_tx_add(&tx, 36);
	EXPECT_EQ(0, sdp_window_tx_flags(&tx, false));
	hears(SDP_DATAGRAM_ACK, 0, 0, 20);
	while (tx.sent != first + 19) {
		EXPECT_EQ(0, sdp_window_tx_flags(&tx, false));
		sdp_window_tx_sent(&tx, 0, now);
	}
	/* The peer takes no more, in the middle of a message, which it does not acknowledge. */
	EXPECT_EQ(SDP_DATAGRAM_ACK_NOW, sdp_window_tx_flags(&tx, false));
	/* At its end it does, if it is a quarter of the window. */
	EXPECT_EQ(SDP_DATAGRAM_ACK_SOON, sdp_window_tx_flags(&tx, true));
	sdp_window_tx_sent(&tx, 0, now);
	hears(SDP_DATAGRAM_ACK, 18, 0, 20);
	while (tx.sent != first + 35)
		sdp_window_tx_sent(&tx, 0, now);
	/* The last one of all. */
	EXPECT_EQ(SDP_DATAGRAM_ACK_SOON, sdp_window_tx_flags(&tx, true));
	/* As many as may be on the way: a message that comes next would have to wait. */
	hears(SDP_DATAGRAM_ACK, 18, 0, 18);
	EXPECT_EQ(SDP_DATAGRAM_ACK_NOW, sdp_window_tx_flags(&tx, true));
}

/* The window shrinks, and nothing that is on the way asks: only a Probe brings an answer. */
TEST(sdp_window_tx_stuck__shrunk)
{
	u32 b;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		add_all(1);
		while (tx.sent != first + 50)
			sdp_window_tx_sent(&tx, 0, now);
		EXPECT_FALSE(sdp_window_tx_stuck(&tx));
		hears(SDP_DATAGRAM_DATA, 5, SDP_DATAGRAM_CE, WINDOW);
		EXPECT_TRUE(sdp_window_tx_stuck(&tx));
		sdp_window_tx_probed(&tx, now);
		EXPECT_FALSE(sdp_window_tx_stuck(&tx));
		/* What has asked is acknowledged, and still nothing may be sent. */
		ACKED(7);
		EXPECT_FALSE(sdp_window_tx_stuck(&tx));
		NACKED(7);
		EXPECT_FALSE(sdp_window_tx_stuck(&tx));
		send_all();
		EXPECT_FALSE(sdp_window_tx_stuck(&tx));
		EXPECT_TRUE(sdp_seq_after(tx.asked, tx.acked));
		/* The packet that had asked was lost. */
		begin(bases[b]);
		add_all(1);
		send_all();
		NACKED(0);
		while (tx.sent != first + 10)
			sdp_window_tx_sent(&tx, 0, now);
		EXPECT_EQ(SDP_VALID, hears(SDP_DATAGRAM_ACK, 0, 0, 5));
		EXPECT_TRUE(sdp_window_tx_stuck(&tx));
	}
}

/* I4: one Probe for each timeout, which doubles, and the end when none is answered. */
TEST(sdp_window_tx_expired__silence)
{
	u32 b, i, us, rto = SDP_RTO_FIRST_US;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		EXPECT_FALSE(sdp_window_tx_wait(&tx, now, &us));
		EXPECT_EQ(SDP_TIMER_NONE, sdp_window_tx_expired(&tx, now + 5000000));
		add_all(1);
		send_all();
		for (i = 0; i < RETRIES; i++) {
			EXPECT_TRUE(sdp_window_tx_wait(&tx, now, &us));
			EXPECT_EQ(rto << i, us);
			now += us - 1;
			EXPECT_EQ(SDP_TIMER_NONE, sdp_window_tx_expired(&tx, now));
			EXPECT_TRUE(sdp_window_tx_wait(&tx, ++now, &us));
			EXPECT_EQ(0, us);
			EXPECT_EQ(SDP_TIMER_PROBE, sdp_window_tx_expired(&tx, now));
			/* Nothing goes again by itself. */
			EXPECT_EQ(0, send_all());
			/* The first Probe may find that an acknowledgment was lost, no more. */
			EXPECT_EQ(i ? 1 : 75, tx.congestion.packets);
		}
		now += rto << i;
		EXPECT_EQ(SDP_TIMER_DEAD, sdp_window_tx_expired(&tx, now));
	}
}

/* I4: the answer to a Probe brings back what was lost. */
TEST(sdp_window_tx_expired__answered)
{
	u32 b, i, us;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		sdp_window_tx_add(&tx, 4);
		send_all();
		for (i = 0; i < RETRIES; i++) {
			sdp_window_tx_wait(&tx, now, &us);
			now += us;
			EXPECT_EQ(SDP_TIMER_PROBE, sdp_window_tx_expired(&tx, now));
			now += 10;
			NACKED(0);
			EXPECT_EQ(first, tx.sent);
			EXPECT_EQ(0, tx.tries);
			EXPECT_LE(2, send_all());
		}
		ACKED(4);
		EXPECT_FALSE(sdp_window_tx_wait(&tx, now, &us));
		/* Progress ends the doubling. */
		sdp_window_tx_add(&tx, 1);
		send_all();
		sdp_window_tx_wait(&tx, now, &us);
		EXPECT_EQ(SDP_RTO_FIRST_US, us);
	}
}

/* Answers without progress: small datagrams arrive, large ones do not. Not for ever. */
TEST(sdp_window_tx_expired__fruitless)
{
	u32 i, us;

	begin(7);
	sdp_window_tx_add(&tx, 1);
	send_all();
	for (i = 0; i <= 4 * RETRIES; i++) {
		sdp_window_tx_wait(&tx, now, &us);
		now += us;
		EXPECT_EQ(i < 4 * RETRIES ? SDP_TIMER_PROBE : SDP_TIMER_DEAD,
			  sdp_window_tx_expired(&tx, now));
		NACKED(0);
		send_all();
	}
	ACKED(1);
	EXPECT_EQ(0, tx.fruitless);
}

/* NACKs do not keep the timer from expiring either. */
TEST(sdp_window_tx_expired__nack_flood)
{
	u32 i, us;

	begin(0xfffffff0U);
	add_all(1);
	send_all();
	for (i = 0; i < 1000; i++) {
		sdp_window_tx_wait(&tx, now, &us);
		now += us / 2 + 1;
		NACKED(0);
		send_all();
		if (sdp_window_tx_expired(&tx, now) == SDP_TIMER_DEAD)
			break;
	}
	EXPECT_LT(i, 1000);
	EXPECT_EQ(SDP_CONGESTION_MIN, tx.congestion.packets);
}

/* Data that comes without progress is no answer: the peer may be able to send only. */
TEST(sdp_window_tx_expired__one_way)
{
	u32 i, us;

	begin(7);
	sdp_window_tx_add(&tx, 1);
	send_all();
	for (i = 0; i <= RETRIES; i++) {
		sdp_window_tx_wait(&tx, now, &us);
		now += us;
		EXPECT_EQ(i < RETRIES ? SDP_TIMER_PROBE : SDP_TIMER_DEAD,
			  sdp_window_tx_expired(&tx, now));
		hears(SDP_DATAGRAM_DATA, 0, 0, WINDOW);
	}
}

/* Only a packet that has gone once is measured, and not across a timeout. */
TEST(sdp_window_tx_heard__measures)
{
	u32 us;

	begin(0xffffff00U);
	add_all(1);
	send_all();
	now += 700;
	ACKED(1);
	EXPECT_EQ(700, tx.rto.srtt);
	ACKED(75);
	EXPECT_EQ(700, tx.rto.srtt);
	add_all(1);
	send_all();
	NACKED(75);
	send_all();
	now += 5000;
	ACKED(150);
	EXPECT_EQ(700, tx.rto.srtt);
	sdp_window_tx_add(&tx, 1);
	send_all();
	sdp_window_tx_wait(&tx, now, &us);
	now += us;
	EXPECT_EQ(SDP_TIMER_PROBE, sdp_window_tx_expired(&tx, now));
	now += 90000;
	ACKED(151);
	EXPECT_EQ(700, tx.rto.srtt);
	/* The timeout may have been too short: it stays doubled until there is progress without. */
	EXPECT_EQ(1, tx.rto.doubled);
	sdp_window_tx_add(&tx, 1);
	send_all();
	ACKED(152);
	EXPECT_EQ(0, tx.rto.doubled);
}

/* A datagram of the first round. */
static void answer(enum sdp_datagram_type type, u16 number)
{
	struct sdp_datagram d = {
		.type = type, .window = WINDOW, .ack = first, .offset = number,
	};

	sdp_window_tx_heard(&tx, &d, now);
}

/* Waits until a Probe is due. Returns its number, or 0 when none is. */
static u16 probe_when_due(void)
{
	u32 us;

	if (!sdp_window_tx_wait(&tx, now, &us))
		return 0;
	now += us;
	if (sdp_window_tx_expired(&tx, now) != SDP_TIMER_PROBE)
		return 0;
	return sdp_window_tx_probed(&tx, now);
}

/* I4: the answer to the newest Probe ends the doubling, and is measured, once. */
TEST(sdp_window_tx_heard__answers_probe)
{
	u32 b, number;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		begin(bases[b]);
		/* There is no Probe that this could answer. */
		answer(SDP_DATAGRAM_ACK, 0);
		EXPECT_EQ(0, tx.rto.srtt);
		sdp_window_tx_add(&tx, 1);
		send_all();
		number = probe_when_due();
		EXPECT_EQ(1, number);
		/* The place of a packet in its message is no number of a Probe. */
		answer(SDP_DATAGRAM_DATA, number);
		EXPECT_EQ(0, tx.rto.srtt);
		now += 300;
		/* An ACK that was on its way. */
		answer(SDP_DATAGRAM_ACK, 0);
		EXPECT_EQ(1, tx.rto.doubled);
		answer(SDP_DATAGRAM_NACK, number);
		EXPECT_EQ(300, tx.rto.srtt);
		EXPECT_EQ(0, tx.rto.doubled);
		/* The network has doubled it. */
		now += 1000;
		answer(SDP_DATAGRAM_NACK, number);
		EXPECT_EQ(300, tx.rto.srtt);
		/* The answer to the one before says nothing of this one. */
		number = probe_when_due();
		EXPECT_EQ(2, number);
		EXPECT_EQ(3, probe_when_due());
		now += 300;
		answer(SDP_DATAGRAM_ACK, number);
		EXPECT_EQ(300, tx.rto.srtt);
		EXPECT_EQ(2, tx.rto.doubled);
		answer(SDP_DATAGRAM_ACK, 3);
		EXPECT_EQ(0, tx.rto.doubled);
	}
	/* 0 would be the answer to none. */
	tx.probe = 0xffff;
	EXPECT_EQ(1, sdp_window_tx_probed(&tx, now));
}

/*
 * I4: Probes are answered, and nothing else comes of it: the path takes no packets. The timeout
 * doubles after all, so that the connection does not end at once, nor go back at that rate.
 */
TEST(sdp_window_tx_heard__answers_without_progress)
{
	u32 i, us, start;

	begin(0x80000000U);
	start = now;
	sdp_window_tx_add(&tx, 1);
	for (i = 0; i < 4 * RETRIES; i++) {
		struct sdp_datagram d = {
			.type = SDP_DATAGRAM_NACK, .window = WINDOW, .ack = first,
		};

		send_all();
		d.offset = probe_when_due();
		EXPECT_EQ(i + 1, d.offset);
		now += 100;
		d.flags = tx.round << SDP_DATAGRAM_ROUND_SHIFT;
		EXPECT_EQ(SDP_VALID, sdp_window_tx_heard(&tx, &d, now));
		EXPECT_EQ(i + 1 > RETRIES ? i + 1 - RETRIES : 0, tx.rto.doubled);
		EXPECT_EQ(first, tx.sent);
	}
	send_all();
	sdp_window_tx_wait(&tx, now, &us);
	EXPECT_EQ(SDP_TIMER_DEAD, sdp_window_tx_expired(&tx, now + us));
	EXPECT_LE(8000000, now + us - start);
	/* Progress ends that. */
	begin(7);
	tx.fruitless = 2 * RETRIES;
	sdp_window_tx_add(&tx, 2);
	send_all();
	ACKED(1);
	answer(SDP_DATAGRAM_ACK, probe_when_due());
	EXPECT_EQ(0, tx.rto.doubled);
}

/* I1: NACKs without progress are heeded a few times in each timeout, whatever round they name. */
TEST(sdp_window_tx_heard__nacks_without_progress)
{
	u32 i;

	begin(0xfffffff0U);
	sdp_window_tx_add(&tx, 4);
	for (i = 0; i < 10; i++) {
		send_all();
		NACKED(0);
		EXPECT_EQ(i < SDP_WINDOW_BACKS_MAX, tx.sent == first);
	}
	EXPECT_EQ(SDP_WINDOW_BACKS_MAX, tx.round);
	EXPECT_EQ(1, probe_when_due());
	NACKED(0);
	EXPECT_EQ(first, tx.sent);
	EXPECT_EQ(0, tx.round);
	send_all();
	ACKED(1);
	for (i = 0; i < SDP_WINDOW_BACKS_MAX; i++) {
		NACKED(1);
		EXPECT_EQ(first + 1, tx.sent);
		send_all();
	}
}

TEST_MAIN
