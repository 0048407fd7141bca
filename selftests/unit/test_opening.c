// SPDX-License-Identifier: GPL-2.0
/*
 * How a connection by datagrams is opened: messages, the connecting end, and both ends when any of
 * their datagrams get lost.
 */
#include "opening.h"
#include "rto.h"
#include "test.h"

static const u8 cookie[SDP_COOKIE_LEN] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
static const u8 other[SDP_COOKIE_LEN] = { [15] = 1 };

TEST(sdp_open_build__bytes)
{
	struct sdp_open o = { .service_id = 0x0000000001012345, .size = 4096, .rtt = 0x31323334 };
	struct sdp_open got;
	u8 buf[SDP_OPEN_LEN];

	memcpy(o.cookie, cookie, sizeof(cookie));
	memset(buf, 0xee, sizeof(buf));
	sdp_open_build(buf, &o);
	EXPECT_TRUE(!memcmp(buf, cookie, sizeof(cookie)));
	EXPECT_TRUE(!memcmp(buf + 16, "\0\0\0\0\1\1\x23\x45\x10\0\0\0\x31\x32\x33\x34", 16));
	EXPECT_EQ(0xee, buf[32]);
	EXPECT_EQ(SDP_VALID, sdp_open_parse(buf, &got));
	EXPECT_TRUE(!memcmp(got.cookie, cookie, sizeof(cookie)));
	EXPECT_EQ(o.service_id, got.service_id);
	EXPECT_EQ(o.size, got.size);
	EXPECT_EQ(o.rtt, got.rtt);
	EXPECT_TRUE(sdp_open_has_cookie(&got));
	memset(&got.cookie, 0, sizeof(got.cookie));
	EXPECT_FALSE(sdp_open_has_cookie(&got));
	memcpy(got.cookie, other, sizeof(other));
	EXPECT_TRUE(sdp_open_has_cookie(&got));
}

/* Both ends say how large a datagram they take. */
TEST(sdp_open_parse__size)
{
	static const struct { u16 size; bool ok; } sizes[] = {
		{ 0, false }, { 255, false }, { 256, true }, { 4096, true }, { 4097, false },
		{ 0xffff, false },
	};
	u8 buf[SDP_OPEN_LEN], ack[SDP_OPEN_ACK_LEN];
	struct sdp_open o = { .size = 0 };
	u16 size;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		enum sdp_violation want = sizes[i].ok ? SDP_VALID : SDP_BAD_HELLO;

		o.size = sizes[i].size;
		sdp_open_build(buf, &o);
		EXPECT_EQ(want, sdp_open_parse(buf, &o));
		memset(ack, 0xee, sizeof(ack));
		sdp_open_ack_build(ack, sizes[i].size);
		EXPECT_EQ(want, sdp_open_ack_parse(ack, &size));
		EXPECT_EQ(sizes[i].size, size);
		EXPECT_EQ(0, ack[7]);
		EXPECT_EQ(0xee, ack[8]);
	}
}

TEST(sdp_open_reject_parse__reasons)
{
	u8 buf[SDP_OPEN_REJECT_LEN];
	enum sdp_open_reject why;
	u32 i;

	for (i = SDP_OPEN_NO_LISTENER; i <= SDP_OPEN_UNSUITABLE; i++) {
		sdp_open_reject_build(buf, i);
		EXPECT_EQ(SDP_VALID, sdp_open_reject_parse(buf, &why));
		EXPECT_EQ(i, why);
	}
	sdp_open_reject_build(buf, i);
	EXPECT_EQ(SDP_BAD_FIELD, sdp_open_reject_parse(buf, &why));
	sdp_open_reject_build(buf, 0);
	EXPECT_EQ(SDP_BAD_FIELD, sdp_open_reject_parse(buf, &why));
}

/* Opens are repeated after a time that doubles, and not for ever. */
TEST(sdp_opening_expired__silence)
{
	struct sdp_opening o;
	struct sdp_open open;
	u32 i, us, now = 0xffffff00U;

	sdp_opening_init(&o, 3);
	EXPECT_FALSE(sdp_opening_wait(&o, now, &us));
	for (i = 0; i <= 3; i++) {
		EXPECT_TRUE(o.due);
		sdp_opening_sent(&o, &open, now);
		EXPECT_FALSE(sdp_open_has_cookie(&open));
		EXPECT_FALSE(o.due);
		EXPECT_TRUE(sdp_opening_wait(&o, now, &us));
		EXPECT_EQ(SDP_RTO_FIRST_US << i, us);
		EXPECT_TRUE(sdp_opening_expired(&o, now + us - 1));
		EXPECT_FALSE(o.due);
		now += us;
		EXPECT_EQ(i < 3, sdp_opening_expired(&o, now));
	}
}

/* One answer to each Challenge. Challenges that never end are ignored in the end. */
TEST(sdp_opening_challenged__cookies)
{
	struct sdp_opening o;
	struct sdp_open open;
	u8 more[SDP_COOKIE_LEN] = { 0 };
	u32 i, now = 5;

	sdp_opening_init(&o, 3);
	sdp_opening_sent(&o, &open, now);
	/* Nobody has been shown a cookie, so nobody can have made a connection. */
	EXPECT_FALSE(sdp_opening_acked(&o));
	EXPECT_TRUE(sdp_opening_challenged(&o, cookie, 0, now));
	EXPECT_TRUE(o.due);
	EXPECT_EQ(0, o.tries);
	sdp_opening_sent(&o, &open, now);
	EXPECT_TRUE(!memcmp(open.cookie, cookie, sizeof(cookie)));
	EXPECT_FALSE(sdp_opening_challenged(&o, cookie, 0, now));
	EXPECT_FALSE(o.due);
	for (i = 1; i <= 3; i++) {
		more[0] = i;
		EXPECT_TRUE(sdp_opening_challenged(&o, more, 0, now));
		EXPECT_TRUE(o.due);
		sdp_opening_sent(&o, &open, now);
		EXPECT_EQ(i, open.cookie[0]);
	}
	EXPECT_FALSE(sdp_opening_challenged(&o, other, 0, now));
	EXPECT_FALSE(o.due);
	EXPECT_TRUE(sdp_opening_acked(&o));
	EXPECT_FALSE(sdp_opening_acked(&o));
	EXPECT_FALSE(sdp_opening_challenged(&o, cookie, 0, now));
	EXPECT_FALSE(sdp_opening_wait(&o, now, &now));
}

/* Both ends learn how long a round trip takes, also when the first Open was lost. */
TEST(sdp_opening_challenged__round_trip)
{
	struct sdp_opening o;
	struct sdp_open open;
	u32 us, now = 0xfffffff0U;

	sdp_opening_init(&o, 3);
	sdp_opening_sent(&o, &open, now);
	EXPECT_EQ(0, open.rtt);
	sdp_opening_challenged(&o, cookie, 0, now + 70);
	sdp_opening_sent(&o, &open, now + 90);
	EXPECT_EQ(70, open.rtt);
	sdp_opening_challenged(&o, other, 0, now + 500);
	EXPECT_EQ(70, o.rtt);

	sdp_opening_init(&o, 3);
	sdp_opening_sent(&o, &open, now);
	sdp_opening_wait(&o, now, &us);
	sdp_opening_expired(&o, now + us);
	EXPECT_EQ(us, sdp_opening_sent(&o, &open, now + us));
	sdp_opening_challenged(&o, cookie, us, now + us + 70);
	EXPECT_EQ(70, o.rtt);
	/* A peer may say anything. */
	sdp_opening_init(&o, 3);
	EXPECT_EQ(0, sdp_opening_sent(&o, &open, now));
	sdp_opening_challenged(&o, cookie, 71, now + 70);
	EXPECT_EQ(70, o.rtt);
	/* No time at all is not a time. */
	sdp_opening_init(&o, 3);
	sdp_opening_sent(&o, &open, now);
	sdp_opening_challenged(&o, cookie, 0, now);
	EXPECT_EQ(1, o.rtt);
}

/* The listening end of a whole exchange: it keeps nothing before it has seen its cookie. */
static void listener_gets(const struct sdp_open *open, bool *made, bool *challenge, bool *ack)
{
	*challenge = !sdp_open_has_cookie(open);
	*ack = !*challenge && !memcmp(open->cookie, cookie, sizeof(cookie));
	*made |= *ack;
}

/* A datagram is lost if its bit is in @lost. Returns false when the connecting end gives up. */
static bool exchange(TEST_CTX, u32 lost, bool *made)
{
	struct sdp_opening o;
	struct sdp_open open;
	bool challenge, ack;
	u32 now = 0, us;

	*made = false;
	sdp_opening_init(&o, 7);
	while (o.state != SDP_OPENING_DONE) {
		if (o.due) {
			sdp_opening_sent(&o, &open, now);
			challenge = false;
			ack = false;
			if (!(lost & 1))
				listener_gets(&open, made, &challenge, &ack);
			lost >>= 1;
			if ((challenge || ack) && !(lost & 1)) {
				if (challenge)
					sdp_opening_challenged(&o, cookie, 0, now);
				else
					EXPECT_TRUE(sdp_opening_acked(&o));
			}
			if (challenge || ack)
				lost >>= 1;
			continue;
		}
		if (!sdp_opening_wait(&o, now, &us))
			return false;
		now += us;
		if (!sdp_opening_expired(&o, now))
			return false;
	}
	return true;
}

/* With whatever datagrams lost, a connection is opened unless so many are lost in a row. */
TEST(sdp_opening_acked__any_losses)
{
	u32 lost, n, bits;
	bool made;

	for (lost = 0; lost < 1 << 14; lost++) {
		bool opened = exchange(TEST_SELF, lost, &made);

		EXPECT_TRUE(made || !opened);
		/* Eight Opens in vain need eight datagrams that were lost. */
		for (n = 0, bits = lost; bits; bits >>= 1)
			n += bits & 1;
		EXPECT_TRUE(opened || n >= 8);
	}
}

TEST_MAIN
