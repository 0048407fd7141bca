// SPDX-License-Identifier: GPL-2.0
/*
 * Credit arithmetic (D1 to D5), near every wrap of the sequence numbers.
 */
#include "credit.h"
#include "test.h"

/* First sequence numbers of a test, just before and after each wrap. */
static const u32 bases[] = {
	0, 1, 0x7ffffff0U, 0x7ffffffeU, 0x7fffffffU, 0x80000000U,
	0xfffffff0U, 0xfffffffdU, 0xffffffffU,
};

/*
 * Both sides after a Hello exchange. We have posted @posted receives, the peer @peers. Our
 * sequence numbers start at @own, the peer's at @other.
 */
static void start(struct sdp_credit *c, u16 posted, u16 peers, u32 own, u32 other)
{
	sdp_credit_init(c, posted, 0);
	sdp_credit_posted(c, posted);
	sdp_credit_granted_hello(c);
	sdp_credit_peer_hello(c, peers);
	c->tx_seq += own;
	c->tx_acked += own;
	c->tx_limit += own;
	c->rx_seq += other;
	c->rx_limit += other;
	c->limits[own % SDP_LIMITS] = c->rx_limit;
}

static struct sdp_bsdh header(u32 mseq, u32 ack, u16 bufs)
{
	struct sdp_bsdh h = { .mid = SDP_MID_DATA, .bufs = bufs, .mseq = mseq, .mseq_ack = ack };

	return h;
}

static u32 send(struct sdp_credit *c)
{
	struct sdp_bsdh h = { 0 };

	sdp_credit_sent(c, &h);
	return h.mseq;
}

TEST(sdp_seq_after__circle)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		u32 b = bases[i];

		EXPECT_FALSE(sdp_seq_after(b, b));
		EXPECT_TRUE(sdp_seq_after(b + 1, b));
		EXPECT_FALSE(sdp_seq_after(b, b + 1));
		EXPECT_TRUE(sdp_seq_after(b + 0x7fffffff, b));
		EXPECT_FALSE(sdp_seq_after(b - 0x7fffffff, b));
	}
}

/* D4: T is half of the receives: 5-6 for 10-12, as the requirement says. */
TEST(sdp_credit_init__threshold_is_half)
{
	static const u16 want[][2] = {
		{ 3, 2 }, { 4, 2 }, { 5, 2 }, { 6, 3 }, { 10, 5 }, { 12, 6 }, { 13, 6 }, { 64, 32 },
		{ 8192, 4096 }, { 65535, 32767 },
	};
	struct sdp_credit c;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		sdp_credit_init(&c, want[i][0], 0);
		EXPECT_EQ(want[i][0], c.target);
		EXPECT_EQ(want[i][1], c.threshold);
	}
}

/* D5: with fewer than three receives two sides could block each other. */
TEST(sdp_credit_init__at_least_three_receives)
{
	struct sdp_credit c;
	u16 target;

	for (target = 0; target <= 3; target++) {
		sdp_credit_init(&c, target, 0);
		EXPECT_EQ(3, c.target);
		EXPECT_EQ(2, c.threshold);
		EXPECT_EQ(0, c.posted);
	}
}

/*
 * D4, D5: for any configured value T is at least 2, because an update that grants one credit only
 * moves the last credit to the other side. With all receives posted, a peer with one credit or
 * none can be granted T more.
 */
TEST(sdp_credit_set_target__never_a_deadlock)
{
	static const u16 wishes[] = {
		0, 1, 2, 3, 4, 5, 6, 11, 12, 13, 31, 32, 63, 64, 65, 1000, 65535,
	};
	struct sdp_credit c;
	u16 target;
	u32 i;

	sdp_credit_init(&c, 12, 0);
	sdp_credit_peer_hello(&c, 1);
	for (target = 3; target <= 64; target++)
		for (i = 0; i < ARRAY_SIZE(wishes); i++) {
			sdp_credit_set_target(&c, target, wishes[i]);
			EXPECT_GE(c.threshold, 2);
			EXPECT_LT(c.threshold, target);
			if (wishes[i] >= 2 && wishes[i] < target)
				EXPECT_EQ(wishes[i], c.threshold);
			c.posted = target;
			c.theirs = 1;
			EXPECT_TRUE(sdp_credit_update_due(&c));
			c.theirs = 0;
			EXPECT_TRUE(sdp_credit_update_due(&c));
		}
}

/* A1, D1: credit begins with the Bufs of the peer's Hello. */
TEST(sdp_credit_peer_hello__first_credits)
{
	struct sdp_credit c;

	sdp_credit_init(&c, 12, 0);
	EXPECT_EQ(0, sdp_credit_available(&c));
	EXPECT_FALSE(sdp_credit_may_send_data(&c));
	sdp_credit_posted(&c, 12);
	sdp_credit_peer_hello(&c, 5);
	EXPECT_EQ(5, sdp_credit_available(&c));
	EXPECT_EQ(0, c.theirs);
	sdp_credit_granted_hello(&c);
	EXPECT_EQ(12, c.theirs);
}

/* wire 7: the first message has MSeq 1. D1: header fields, and one credit less per message. */
TEST(sdp_credit_sent__header)
{
	struct sdp_credit c;
	struct sdp_bsdh h = { .mid = SDP_MID_DATA };
	u32 i;

	start(&c, 7, 5, 0, 0);
	for (i = 1; i <= 5; i++) {
		sdp_credit_sent(&c, &h);
		EXPECT_EQ(i, h.mseq);
		EXPECT_EQ(0, h.mseq_ack);
		EXPECT_EQ(7, h.bufs);
		EXPECT_EQ(5 - i, sdp_credit_available(&c));
	}
	EXPECT_EQ(SDP_MID_DATA, h.mid);
}

/* D1: credit = PR - (LSSQ - LRSQ), compared with the formula at every base. */
TEST(sdp_credit_available__formula)
{
	struct sdp_credit c;
	u32 i, sent, acked;
	u16 bufs;

	for (i = 0; i < ARRAY_SIZE(bases); i++)
		for (sent = 0; sent <= 6; sent++)
			for (acked = 0; acked <= sent; acked++)
				for (bufs = (u16)(8 - acked); bufs <= 20; bufs += 5) {
					u32 own = bases[i], n;
					struct sdp_bsdh h = header(own + 100, own + acked, bufs);

					start(&c, 3, 8, own, own + 99);
					for (n = 0; n < sent; n++)
						send(&c);
					EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
					EXPECT_EQ(bufs - (sent - acked), sdp_credit_available(&c));
				}
}

/* D5: the last credit is for a credit update only. */
TEST(sdp_credit_may_send_data__last_credit)
{
	struct sdp_credit c;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		start(&c, 4, 3, bases[i], ~bases[i]);
		EXPECT_TRUE(sdp_credit_may_send_data(&c));
		send(&c);
		EXPECT_EQ(2, sdp_credit_available(&c));
		EXPECT_TRUE(sdp_credit_may_send_data(&c));
		send(&c);
		EXPECT_EQ(1, sdp_credit_available(&c));
		EXPECT_FALSE(sdp_credit_may_send_data(&c));
		send(&c);
		EXPECT_EQ(0, sdp_credit_available(&c));
		EXPECT_FALSE(sdp_credit_may_send_data(&c));
	}
}

/* D5: without a posted receive, data would use a credit and grant none in return. */
TEST(sdp_credit_may_send_data__nothing_posted)
{
	struct sdp_credit c;

	start(&c, 0, 8, 0, 0);
	EXPECT_EQ(8, sdp_credit_available(&c));
	EXPECT_FALSE(sdp_credit_may_send_data(&c));
	sdp_credit_posted(&c, 1);
	EXPECT_TRUE(sdp_credit_may_send_data(&c));
}

/*
 * D3: @theirs is set to PR by each message sent, and reduced by one by each message received, but
 * never below 0.
 */
TEST(sdp_credit_received__other_sides_credit)
{
	struct sdp_credit c;
	struct sdp_bsdh h;
	u32 i;

	start(&c, 5, 9, 0, 0);
	EXPECT_EQ(5, c.theirs);
	for (i = 1; i <= 3; i++) {
		h = header(i, 0, 9);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
		EXPECT_EQ(5 - i, c.theirs);
		EXPECT_EQ(5 - i, c.posted);
		EXPECT_EQ(i, c.rx_seq);
	}
	sdp_credit_posted(&c, 3);
	EXPECT_EQ(2, c.theirs);
	send(&c);
	EXPECT_EQ(5, c.theirs);
}

/* D4: an update is due below T, when at least T more can be granted. */
TEST(sdp_credit_update_due__threshold)
{
	struct sdp_credit c;
	u16 theirs, posted;

	start(&c, 12, 8, 0, 0);
	EXPECT_EQ(6, c.threshold);
	for (theirs = 0; theirs <= 12; theirs++)
		for (posted = theirs; posted <= 24; posted++) {
			c.theirs = theirs;
			c.posted = posted;
			EXPECT_EQ(theirs < 6 && posted - theirs >= 6, sdp_credit_update_due(&c));
		}
}

/* D5: an update may use the last credit, but needs one. */
TEST(sdp_credit_update_due__needs_a_credit)
{
	struct sdp_credit c;

	start(&c, 12, 2, 0, 0);
	c.theirs = 0;
	EXPECT_TRUE(sdp_credit_update_due(&c));
	send(&c);
	c.theirs = 0;
	EXPECT_EQ(1, sdp_credit_available(&c));
	EXPECT_TRUE(sdp_credit_update_due(&c));
	send(&c);
	c.theirs = 0;
	EXPECT_EQ(0, sdp_credit_available(&c));
	EXPECT_FALSE(sdp_credit_update_due(&c));
}

/* After an update the next one is due only when T more receives have been posted. */
TEST(sdp_credit_update_due__not_twice)
{
	struct sdp_credit c;
	struct sdp_bsdh h;
	u32 i;

	start(&c, 12, 20, 0, 0);
	for (i = 1; i <= 7; i++) {
		h = header(i, 0, 20);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
		sdp_credit_posted(&c, 1);
		EXPECT_EQ(i >= 7, sdp_credit_update_due(&c));
	}
	send(&c);
	EXPECT_FALSE(sdp_credit_update_due(&c));
}

/* wire 7: MSeq is one more than the last one, and nothing else is accepted. */
TEST(sdp_credit_received__mseq)
{
	static const u32 wrong[] = {
		0, 2, 3, 12, 13, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff,
	};
	struct sdp_credit c;
	struct sdp_bsdh h;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		start(&c, 12, 12, 5, bases[i]);
		for (j = 0; j < ARRAY_SIZE(wrong); j++) {
			h = header(bases[i] + wrong[j], 5, 12);
			EXPECT_EQ(SDP_BAD_SEQ, sdp_credit_received(&c, &h));
		}
		h = header(bases[i] + 1, 5, 12);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
		EXPECT_EQ(SDP_BAD_SEQ, sdp_credit_received(&c, &h));
	}
}

/* D2, wire 7: more messages than granted. A receive that the peer does not know of is no grant. */
TEST(sdp_credit_received__overrun)
{
	struct sdp_credit c;
	struct sdp_bsdh h;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		start(&c, 3, 12, 0, bases[i]);
		sdp_credit_posted(&c, 5);
		for (n = 1; n <= 3; n++) {
			h = header(bases[i] + n, 0, 12);
			EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
		}
		h = header(bases[i] + 4, 0, 12);
		EXPECT_EQ(SDP_BAD_CREDIT, sdp_credit_received(&c, &h));
		send(&c);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
	}
}

/* D1: a grant counts from the messages received when it was sent. */
TEST(sdp_credit_received__crossing_messages)
{
	struct sdp_credit c;
	struct sdp_bsdh h;
	u32 n;

	start(&c, 4, 12, 0, 0);
	for (n = 1; n <= 2; n++) {
		h = header(n, 0, 12);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
	}
	/* LRSQ 2, PR 2: the peer may send up to 4, including messages already in flight. */
	send(&c);
	for (n = 3; n <= 4; n++) {
		h = header(n, 0, 12);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
	}
	sdp_credit_posted(&c, 1);
	h = header(5, 0, 12);
	EXPECT_EQ(SDP_BAD_CREDIT, sdp_credit_received(&c, &h));
}

/* wire 7: MSeqAck lies between the last MSeqAck and the last MSeq sent. */
TEST(sdp_credit_received__mseq_ack_range)
{
	struct sdp_credit c;
	struct sdp_bsdh h;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		u32 own = bases[i];

		start(&c, 12, 12, own, 0);
		for (n = 0; n < 4; n++)
			send(&c);
		h = header(1, own + 5, 12);
		EXPECT_EQ(SDP_BAD_ACK, sdp_credit_received(&c, &h));
		h = header(1, own - 1, 13);
		EXPECT_EQ(SDP_BAD_ACK, sdp_credit_received(&c, &h));
		/* At a distance of 2^31 a number is neither before nor after. */
		for (n = 0; n <= 4; n++) {
			h = header(1, own + n + 0x80000000U, 12);
			EXPECT_EQ(SDP_BAD_ACK, sdp_credit_received(&c, &h));
		}
		h = header(1, own + 3, 12);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
		h = header(2, own + 2, 13);
		EXPECT_EQ(SDP_BAD_ACK, sdp_credit_received(&c, &h));
		h = header(2, own + 4, 11);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
		/* No message is in flight here. */
		h = header(3, own + 4 + 0x80000000U, 11);
		EXPECT_EQ(SDP_BAD_ACK, sdp_credit_received(&c, &h));
	}
}

/* D1: a posted receive cannot be taken back, so LRSQ + PR never decreases. */
TEST(sdp_credit_received__grant_taken_back)
{
	struct sdp_credit c;
	struct sdp_bsdh h;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		u32 own = bases[i];

		start(&c, 12, 6, own, 0);
		for (n = 0; n < 3; n++)
			send(&c);
		h = header(1, own, 5);
		EXPECT_EQ(SDP_BAD_BUFS, sdp_credit_received(&c, &h));
		h = header(1, own + 3, 2);
		EXPECT_EQ(SDP_BAD_BUFS, sdp_credit_received(&c, &h));
		h = header(1, own + 3, 0);
		EXPECT_EQ(SDP_BAD_BUFS, sdp_credit_received(&c, &h));
		h = header(1, own + 3, 3);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&c, &h));
		EXPECT_EQ(3, sdp_credit_available(&c));
	}
}

/* A refused header changes nothing. */
TEST(sdp_credit_received__refusal_changes_nothing)
{
	struct sdp_credit c, before;
	struct sdp_bsdh h[4];
	u32 i;

	start(&c, 3, 6, 10, 20);
	send(&c);
	before = c;
	h[0] = header(22, 10, 6);
	h[1] = header(21, 12, 6);
	h[2] = header(21, 10, 5);
	h[3] = header(20, 10, 6);
	for (i = 0; i < ARRAY_SIZE(h); i++) {
		EXPECT_NE(SDP_VALID, sdp_credit_received(&c, &h[i]));
		EXPECT_EQ(0, memcmp(&before, &c, sizeof(c)));
	}
}

/* Sequence numbers of both directions wrap at the same time. */
TEST(sdp_credit_received__wrap_in_traffic)
{
	struct sdp_credit a, b;
	struct sdp_bsdh h = { 0 };
	u32 i;

	start(&a, 5, 5, 0xffffffe0U, 0x7fffffe0U);
	start(&b, 5, 5, 0x7fffffe0U, 0xffffffe0U);
	for (i = 0; i < 100; i++) {
		EXPECT_TRUE(sdp_credit_may_send_data(&a));
		sdp_credit_sent(&a, &h);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&b, &h));
		sdp_credit_posted(&b, 1);
		EXPECT_TRUE(sdp_credit_may_send_data(&b));
		sdp_credit_sent(&b, &h);
		EXPECT_EQ(SDP_VALID, sdp_credit_received(&a, &h));
		sdp_credit_posted(&a, 1);
	}
	EXPECT_EQ(0xffffffe0U + 100, a.tx_seq);
	EXPECT_EQ(0x7fffffe0U + 100, a.rx_seq);
}

/* A message of @from reaches @to. If it is @consumed, its receive is posted again at once. */
static enum sdp_violation pass(struct sdp_credit *from, struct sdp_credit *to, bool consumed)
{
	struct sdp_bsdh h = { 0 };
	enum sdp_violation bad;

	sdp_credit_sent(from, &h);
	bad = sdp_credit_received(to, &h);
	if (!bad && consumed)
		sdp_credit_posted(to, 1);
	return bad;
}

/*
 * D5: both sides send until each has one credit, and neither application reads. Then one of them
 * reads. It can send an update, and gets data again. For all numbers of receives.
 */
TEST(sdp_credit_update_due__one_credit_each)
{
	struct sdp_credit a, b;
	u16 ta, tb;

	for (ta = 3; ta <= 64; ta++)
		for (tb = 3; tb <= 64; tb += 3) {
			start(&a, ta, tb, 0xfffffff0U, 0);
			start(&b, tb, ta, 0, 0xfffffff0U);
			while (sdp_credit_may_send_data(&a))
				EXPECT_EQ(SDP_VALID, pass(&a, &b, false));
			while (sdp_credit_may_send_data(&b))
				EXPECT_EQ(SDP_VALID, pass(&b, &a, false));
			EXPECT_EQ(1, sdp_credit_available(&a));
			EXPECT_FALSE(sdp_credit_may_send_data(&a));
			EXPECT_FALSE(sdp_credit_update_due(&a));
			sdp_credit_posted(&b, (u16)(b.target - b.posted));
			EXPECT_TRUE(sdp_credit_update_due(&b));
			EXPECT_EQ(SDP_VALID, pass(&b, &a, true));
			EXPECT_GE(sdp_credit_available(&a), 1U + b.threshold);
			EXPECT_TRUE(sdp_credit_may_send_data(&a));
			/* The first message of a gives back the credit that the update used. */
			EXPECT_EQ(SDP_VALID, pass(&a, &b, false));
			EXPECT_EQ(1, sdp_credit_available(&b));
		}
}

/* wire 7: an answer may use the last credit only if it grants a credit in return. */
TEST(sdp_credit_may_answer__last_credit)
{
	u32 available, posted, theirs;

	for (available = 0; available < 4; available++)
		for (posted = 0; posted < 6; posted++)
			for (theirs = 0; theirs <= posted; theirs++) {
				struct sdp_credit c;
				bool right = posted && (available > 1 ||
							(available == 1 && posted > theirs));

				start(&c, 5, available, 0xffffffff, 7);
				c.posted = posted;
				c.theirs = theirs;
				EXPECT_EQ(right, sdp_credit_may_answer(&c));
				EXPECT_EQ(posted && available > 1, sdp_credit_may_send_data(&c));
			}
}

/* The peer has no credit, and we have a receive to grant and more than the last credit. */
TEST(sdp_credit_peer_is_mute__conditions)
{
	struct sdp_credit c;

	start(&c, 5, 3, 0, 0);
	EXPECT_FALSE(sdp_credit_peer_is_mute(&c));
	c.theirs = 1;
	EXPECT_FALSE(sdp_credit_peer_is_mute(&c));
	c.theirs = 0;
	EXPECT_TRUE(sdp_credit_peer_is_mute(&c));
	c.posted = 1;
	EXPECT_TRUE(sdp_credit_peer_is_mute(&c));
	c.posted = 0;
	EXPECT_FALSE(sdp_credit_peer_is_mute(&c));
	c.posted = 5;
	c.tx_seq++;
	EXPECT_TRUE(sdp_credit_peer_is_mute(&c));
	c.tx_seq++;
	EXPECT_FALSE(sdp_credit_peer_is_mute(&c));
}

/*
 * The peer's SrcAvail is open, and it has the last credit at most. We have a credit more to tell it
 * of than the one that is kept back, and more than the last credit.
 */
TEST(sdp_credit_peer_is_bound__conditions)
{
	u32 theirs, posted, available;

	for (theirs = 0; theirs < 4; theirs++)
		for (posted = theirs; posted < 7; posted++)
			for (available = 0; available < 4; available++) {
				struct sdp_credit c;

				start(&c, 5, available, 0xffffffff, 7);
				c.theirs = theirs;
				c.posted = posted;
				EXPECT_FALSE(sdp_credit_peer_is_bound(&c));
				c.reserve = true;
				EXPECT_EQ(theirs < 2 && posted > 2 && available > 1,
					  sdp_credit_peer_is_bound(&c));
				c.unasked = true;
				EXPECT_FALSE(sdp_credit_peer_is_bound(&c));
			}
}

/*
 * D5, wire 8: a peer with an open SrcAvail can always take it back if our reader keeps up, for all
 * numbers of receives and values of T. It has one credit: it had two after SrcAvail, two messages
 * of ours have come, and it has sent an update.
 */
TEST(sdp_credit_peer_is_bound__taken_back)
{
	struct sdp_credit a, b;
	u16 target, wish;

	for (target = 3; target <= 20; target++)
		for (wish = 0; wish <= 20; wish++) {
			u32 n;

			start(&a, 3, 3, 0xfffffff0U, 0x7ffffff0U);
			start(&b, 3, 3, 0x7ffffff0U, 0xfffffff0U);
			EXPECT_EQ(SDP_VALID, pass(&a, &b, true));
			b.reserve = true;
			for (n = 0; n < 2; n++)
				EXPECT_EQ(SDP_VALID, pass(&b, &a, true));
			EXPECT_TRUE(sdp_credit_update_due(&a));
			EXPECT_EQ(SDP_VALID, pass(&a, &b, true));
			EXPECT_EQ(1, sdp_credit_available(&a));
			EXPECT_FALSE(sdp_credit_may_send_data(&a));
			sdp_credit_set_target(&b, target, wish);
			sdp_credit_posted(&b, sdp_credit_wanted(&b));
			EXPECT_TRUE(sdp_credit_update_due(&b) || sdp_credit_peer_is_bound(&b));
			EXPECT_EQ(SDP_VALID, pass(&b, &a, true));
			EXPECT_TRUE(sdp_credit_may_send_data(&a));
			/* Once is enough, and the answer can grant a receive. */
			EXPECT_FALSE(sdp_credit_update_due(&b) || sdp_credit_peer_is_bound(&b));
			EXPECT_EQ(SDP_VALID, pass(&a, &b, true));
			EXPECT_TRUE(sdp_credit_may_answer(&b));
		}
}

/*
 * The peer sends a message, when it has received those of ours up to @ack. Is it low then? 1 or 0;
 * -1 if it may not send.
 */
static int low_after(struct sdp_credit *c, u32 ack)
{
	struct sdp_bsdh h = header(c->rx_seq + 1, ack, 12);

	h.bufs = c->tx_limit - ack;
	if (sdp_credit_received(c, &h))
		return -1;
	sdp_credit_posted(c, 1);
	return sdp_credit_peer_is_low(c);
}

/* One direction: with 3 receives each second message, with 12 when less than 6 are left. */
TEST(sdp_credit_peer_is_low__one_way)
{
	static const u16 receives[] = { 3, 12 }, first_low[] = { 2, 7 };
	struct sdp_credit c;
	u32 i, j, k, n;

	for (i = 0; i < ARRAY_SIZE(bases); i++)
		for (j = 0; j < ARRAY_SIZE(bases); j++)
			for (k = 0; k < ARRAY_SIZE(receives); k++) {
				start(&c, receives[k], 12, bases[i], bases[j]);
				for (n = 1; n < receives[k]; n++)
					EXPECT_EQ(n >= first_low[k], low_after(&c, bases[i]));
				EXPECT_EQ(1, c.left);
				send(&c);
				EXPECT_EQ(0, low_after(&c, bases[i] + 1));
				EXPECT_EQ(receives[k] - 1, c.left);
			}
}

/* A dialogue: each answer grants again, so a message at a time never makes the peer low. */
TEST(sdp_credit_peer_is_low__dialogue)
{
	struct sdp_credit c;
	u32 n;

	start(&c, 3, 12, 0xfffffff0U, 0x7ffffff0U);
	for (n = 0; n < 100; n++) {
		EXPECT_EQ(0, low_after(&c, c.tx_seq));
		send(&c);
	}
}

/* Both directions at once: we have granted enough, but the peer does not know that yet. */
TEST(sdp_credit_peer_is_low__grant_on_its_way)
{
	struct sdp_credit c;
	u32 n;

	start(&c, 3, 40, 0, 0);
	EXPECT_EQ(0, low_after(&c, 0));
	for (n = 0; n < 50; n++) {
		send(&c);
		EXPECT_EQ(3, c.theirs);
		EXPECT_EQ(1, low_after(&c, n));
		EXPECT_EQ(1, c.left);
		EXPECT_EQ(2, c.theirs);
	}
}

/* Only the last grants are remembered. Credit by an older one is not taken for less than it is. */
TEST(sdp_credit_peer_is_low__forgotten)
{
	struct sdp_credit c;
	u32 known;

	for (known = 20; known < 60; known++) {
		u32 n, oldest = 60 - (SDP_LIMITS - 1);

		start(&c, 3, 500, 0, 0);
		for (n = 0; n < 60; n++) {
			sdp_credit_posted(&c, 1);
			send(&c);
		}
		/* Message n has granted n + 3. */
		EXPECT_LE(0, low_after(&c, known));
		EXPECT_EQ((known < oldest ? oldest : known) + 3 - 1, c.left);
	}
}

/* A peer that has sent all that the Hello has granted has nothing left. */
TEST(sdp_credit_peer_is_low__nothing_left)
{
	struct sdp_credit c;

	sdp_credit_init(&c, 3, 0);
	sdp_credit_posted(&c, 3);
	sdp_credit_granted_hello(&c);
	sdp_credit_peer_hello(&c, 12);
	EXPECT_EQ(0, low_after(&c, 0));
	EXPECT_EQ(2, c.left);
	EXPECT_EQ(1, low_after(&c, 0));
	EXPECT_EQ(1, c.left);
	EXPECT_EQ(1, low_after(&c, 0));
	EXPECT_EQ(0, c.left);
}

/*
 * While an answer is owed, one receive is not told to the peer. Exceptions: the peer was told of
 * it before, or this message uses the last credit.
 */
TEST(sdp_credit_sent__reserve)
{
	static const struct { u16 posted, theirs, available, want; } cases[] = {
		{ 5, 4, 3, 4 }, { 5, 4, 2, 4 }, { 5, 4, 1, 5 }, { 5, 0, 2, 4 }, { 5, 5, 9, 5 },
		{ 2, 0, 2, 1 }, { 2, 1, 2, 1 }, { 1, 0, 2, 1 }, { 1, 1, 2, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sdp_bsdh h = { 0 };
		struct sdp_credit c;

		start(&c, 5, cases[i].available, 0xfffffffe, 9);
		c.posted = cases[i].posted;
		c.theirs = cases[i].theirs;
		c.reserve = true;
		sdp_credit_sent(&c, &h);
		EXPECT_EQ(cases[i].want, h.bufs);
		EXPECT_EQ(cases[i].want, c.theirs);
		EXPECT_EQ(9U + cases[i].want, c.rx_limit);
		EXPECT_EQ(cases[i].posted, c.posted);
		c.reserve = false;
		c.tx_limit++;
		sdp_credit_sent(&c, &h);
		EXPECT_EQ(cases[i].posted, h.bufs);
	}
}

/* D4: an update must grant T by the receives that it tells of. */
TEST(sdp_credit_update_due__reserve)
{
	struct sdp_credit c;

	start(&c, 4, 3, 0, 0);
	c.reserve = true;
	c.theirs = 2;
	EXPECT_FALSE(sdp_credit_update_due(&c));
	c.theirs = 1;
	EXPECT_EQ(2, c.threshold);
	EXPECT_TRUE(sdp_credit_update_due(&c));
	c.posted = 3;
	EXPECT_FALSE(sdp_credit_update_due(&c));
	c.tx_seq += 2;
	EXPECT_TRUE(sdp_credit_update_due(&c));
}

/* With @reserve, one receive above the target is wanted while the peer knows of all of them. */
TEST(sdp_credit_wanted__reserve)
{
	struct sdp_credit c;

	start(&c, 5, 3, 0, 0);
	EXPECT_EQ(0, sdp_credit_wanted(&c));
	c.reserve = true;
	EXPECT_EQ(1, sdp_credit_wanted(&c));
	c.tx_seq += 3;
	EXPECT_EQ(0, sdp_credit_wanted(&c));
	c.tx_limit++;
	EXPECT_EQ(1, sdp_credit_wanted(&c));
	c.theirs = 4;
	EXPECT_EQ(0, sdp_credit_wanted(&c));
	c.posted = 4;
	EXPECT_EQ(1, sdp_credit_wanted(&c));
	c.posted = 3;
	c.theirs = 3;
	EXPECT_EQ(2, sdp_credit_wanted(&c));
	c.reserve = false;
	EXPECT_EQ(2, sdp_credit_wanted(&c));
	c.posted = 9;
	EXPECT_EQ(0, sdp_credit_wanted(&c));
}

TEST_MAIN
