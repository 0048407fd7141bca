// SPDX-License-Identifier: GPL-2.0
/*
 * Rings, each half alone: positions, free space, and checks of the peer's messages.
 *
 * Requirements G2-G6.
 */
#include "ring.h"
#include "test.h"

#define SIZE	65536U
#define WINDOW	4096U

static const struct sdp_region none;

static struct sdp_region region(u32 len)
{
	struct sdp_region r = { .len = len, .rkey = 0x1234, .va = 0x5000 };

	return r;
}

static struct sdp_ring_out out_with(u8 scheme, u32 size)
{
	struct sdp_region r = region(size);
	struct sdp_ring_out o;

	sdp_ring_out_agree(&o, scheme, size, WINDOW, 3);
	o.first = size;
	sdp_ring_out_sent_plain(&o);
	sdp_ring_out_ask_sent(&o);
	sdp_ring_out_answered(&o, &r);
	return o;
}

static struct sdp_ring_in in_with(u8 scheme, u32 size)
{
	struct sdp_region r = region(size);
	enum sdp_ring_wish wish;
	struct sdp_ring_in in;

	sdp_ring_in_agree(&in, scheme, size, WINDOW);
	sdp_ring_in_asked(&in, size, &wish);
	sdp_ring_in_made(&in, &r, 3);
	sdp_ring_in_answer_sent(&in);
	return in;
}

static enum sdp_violation arrive(struct sdp_ring_in *in, u32 imm)
{
	u32 at, bytes;
	bool moved;

	return sdp_ring_in_arrived(in, imm, &at, &bytes, &moved);
}

/* G6: the source's wish decides, except that BY_NIC needs the wish of both ends. */
TEST(sdp_ring_scheme__all_nine)
{
	static const u8 want[SDP_SCHEMES][SDP_SCHEMES] = {
		[SDP_BY_CREDIT] = { SDP_BY_CREDIT, SDP_BY_CREDIT, SDP_BY_CREDIT },
		[SDP_BY_RDMA] = { SDP_BY_RDMA, SDP_BY_RDMA, SDP_BY_RDMA },
		[SDP_BY_NIC] = { SDP_BY_RDMA, SDP_BY_RDMA, SDP_BY_NIC },
	};
	u8 own, other;

	for (own = 0; own < SDP_SCHEMES; own++)
		for (other = 0; other < SDP_SCHEMES; other++)
			EXPECT_EQ(want[own][other], sdp_ring_scheme(own, other));
}

/* G2: each message goes right behind the last one, also across the wrap of ring and position. */
TEST(sdp_ring_out_put__wraps)
{
	struct sdp_ring_out o = out_with(SDP_BY_RDMA, SIZE);
	struct sdp_ring_place place;

	sdp_ring_out_put(&o, 100, &place);
	EXPECT_EQ(0x1234, place.rkey);
	EXPECT_EQ(0x5000, place.va);
	EXPECT_EQ(0x80000064U, place.imm);
	sdp_ring_out_put(&o, 17, &place);
	EXPECT_EQ(0x5000 + 100, place.va);
	EXPECT_EQ(SIZE - 117, sdp_ring_out_room(&o));
	o.head = 0U - 10;
	o.freed = o.head;
	sdp_ring_out_put(&o, 30, &place);
	EXPECT_EQ(0x5000 + SIZE - 10, place.va);
	EXPECT_EQ(20, o.head);
	EXPECT_EQ(SIZE - 30, sdp_ring_out_room(&o));
	EXPECT_EQ(SDP_VALID, sdp_ring_out_freed(&o, 5));
	EXPECT_EQ(SIZE - 15, sdp_ring_out_room(&o));
}

/* G2: the ring can be filled to its last byte. */
TEST(sdp_ring_out_room__full)
{
	struct sdp_ring_out o = out_with(SDP_BY_RDMA, SIZE);

	o.head = SIZE - 1;
	EXPECT_EQ(1, sdp_ring_out_room(&o));
	o.head++;
	EXPECT_EQ(0, sdp_ring_out_room(&o));
	EXPECT_EQ(SDP_VALID, sdp_ring_out_freed(&o, SIZE / 8));
	EXPECT_EQ(SIZE / 8, sdp_ring_out_room(&o));
}

/* Freed bytes must have been written, and their number never decreases. */
TEST(sdp_ring_out_freed__bounds)
{
	struct sdp_ring_out o = out_with(SDP_BY_RDMA, SIZE);

	o.head = 1000;
	EXPECT_EQ(SDP_BAD_ACK, sdp_ring_out_freed(&o, 1001));
	EXPECT_EQ(SDP_VALID, sdp_ring_out_freed(&o, 1000));
	EXPECT_EQ(SDP_BAD_ACK, sdp_ring_out_freed(&o, 999));
	EXPECT_EQ(SDP_VALID, sdp_ring_out_freed(&o, 1000));
	o.ring.len = 0;
	EXPECT_EQ(SDP_VALID, sdp_ring_out_freed(&o, 5));
}

/* G4: messages of at most a window, and a limited number of them held by the adapter. */
TEST(sdp_ring_out_pipe__of_nic)
{
	struct sdp_ring_out o = out_with(SDP_BY_NIC, SIZE);

	EXPECT_EQ(WINDOW, sdp_ring_out_message_max(&o));
	EXPECT_EQ(7, sdp_ring_out_pipe(&o));
	o.head = 0xfffffff0;
	EXPECT_EQ(WINDOW, sdp_ring_out_room(&o));
	o = out_with(SDP_BY_NIC, 4 * WINDOW);
	EXPECT_EQ(1, sdp_ring_out_pipe(&o));
	o = out_with(SDP_BY_RDMA, SIZE);
	EXPECT_EQ(0, sdp_ring_out_pipe(&o));
	EXPECT_EQ(SIZE / 4, sdp_ring_out_message_max(&o));
	o = out_with(SDP_BY_RDMA, SDP_RING_SIZE_MAX);
	EXPECT_EQ(32768, sdp_ring_out_message_max(&o));
}

/* The first data asks for a small ring. A larger one is asked for when that is full repeatedly. */
TEST(sdp_ring_out_ask__grows)
{
	struct sdp_region r = region(16384);
	struct sdp_ring_out o;
	int i;

	sdp_ring_out_agree(&o, SDP_BY_RDMA, SIZE, WINDOW, 3);
	EXPECT_FALSE(sdp_ring_out_active(&o));
	EXPECT_FALSE(o.asking);
	sdp_ring_out_sent_plain(&o);
	EXPECT_TRUE(o.asking);
	EXPECT_EQ(16384, o.ask);
	sdp_ring_out_ask_sent(&o);
	sdp_ring_out_sent_plain(&o);
	EXPECT_FALSE(o.asking);
	EXPECT_EQ(SDP_VALID, sdp_ring_out_answered(&o, &r));
	EXPECT_TRUE(sdp_ring_out_active(&o));
	/* An empty ring is not full: the lack of room has another cause. */
	for (i = 0; i < 10; i++)
		sdp_ring_out_was_full(&o);
	o.head = 5000;
	for (i = 0; i < 3; i++) {
		EXPECT_FALSE(o.asking);
		sdp_ring_out_was_full(&o);
	}
	EXPECT_TRUE(o.asking);
	EXPECT_EQ(SIZE, o.ask);
	sdp_ring_out_ask_sent(&o);
	r = region(SIZE);
	EXPECT_EQ(SDP_VALID, sdp_ring_out_answered(&o, &r));
	EXPECT_EQ(0, o.head);
	EXPECT_FALSE(o.odd);
	o.head = 1;
	for (i = 0; i < 10; i++)
		sdp_ring_out_was_full(&o);
	EXPECT_FALSE(o.asking);
}

/* By credit there is no ring. */
TEST(sdp_ring_out_ask__not_by_credit)
{
	struct sdp_ring_out o;

	sdp_ring_out_agree(&o, SDP_BY_CREDIT, SIZE, WINDOW, 3);
	sdp_ring_out_sent_plain(&o);
	EXPECT_FALSE(o.asking);
}

/* After refusals a ring is asked for less and less often. */
TEST(sdp_ring_out_answered__refused)
{
	struct sdp_ring_out o;
	int i, n, pause = 8;

	sdp_ring_out_agree(&o, SDP_BY_RDMA, SIZE, WINDOW, 3);
	sdp_ring_out_sent_plain(&o);
	for (n = 0; n < 20; n++) {
		sdp_ring_out_ask_sent(&o);
		EXPECT_EQ(SDP_VALID, sdp_ring_out_answered(&o, &none));
		EXPECT_FALSE(sdp_ring_out_active(&o));
		for (i = 0; i < pause; i++) {
			sdp_ring_out_sent_plain(&o);
			EXPECT_FALSE(o.asking);
		}
		sdp_ring_out_sent_plain(&o);
		EXPECT_TRUE(o.asking);
		pause = min(pause * 2, 1024);
	}
}

/*
 * Illegal answers: without a request, larger than it, not larger than the present ring, too small.
 */
TEST(sdp_ring_out_answered__wrong)
{
	struct sdp_ring_out o = out_with(SDP_BY_RDMA, 16384);
	struct sdp_region r = region(16384);

	EXPECT_EQ(SDP_BAD_STATE, sdp_ring_out_answered(&o, &r));
	o.max = SIZE;
	o.full = 10;
	sdp_ring_out_was_full(&o);
	sdp_ring_out_ask_sent(&o);
	EXPECT_EQ(SDP_BAD_FIELD, sdp_ring_out_answered(&o, &r));
	o.asked = true;
	r.len = 2 * SIZE;
	EXPECT_EQ(SDP_BAD_FIELD, sdp_ring_out_answered(&o, &r));
	sdp_ring_out_agree(&o, SDP_BY_NIC, SIZE, WINDOW, 3);
	sdp_ring_out_sent_plain(&o);
	sdp_ring_out_ask_sent(&o);
	r.len = 8192;
	EXPECT_EQ(SDP_BAD_FIELD, sdp_ring_out_answered(&o, &r));
}

/* Giving back a ring takes effect when the message is sent. Not while an answer is due. */
TEST(sdp_ring_out_leave__once)
{
	struct sdp_ring_out o = out_with(SDP_BY_RDMA, SIZE);

	EXPECT_TRUE(sdp_ring_out_leave(&o));
	sdp_ring_out_stay(&o);
	EXPECT_FALSE(o.asking);
	EXPECT_TRUE(sdp_ring_out_active(&o));
	EXPECT_TRUE(sdp_ring_out_leave(&o));
	sdp_ring_out_ask_sent(&o);
	EXPECT_FALSE(sdp_ring_out_active(&o));
	EXPECT_FALSE(o.asked);
	EXPECT_FALSE(sdp_ring_out_leave(&o));
	sdp_ring_out_sent_plain(&o);
	EXPECT_TRUE(o.asking);
	sdp_ring_out_ask_sent(&o);
	o.ring.len = 16384;
	EXPECT_FALSE(sdp_ring_out_leave(&o));
}

/* Values of the immediate data that a hostile peer may send. */
TEST(sdp_ring_in_arrived__lies)
{
	struct sdp_ring_in in = in_with(SDP_BY_RDMA, SIZE);
	u32 at, bytes, bit;
	bool moved;

	EXPECT_EQ(SDP_BAD_STATE, arrive(&in, 100));
	EXPECT_EQ(SDP_VALID, sdp_ring_in_arrived(&in, 0x80000064, &at, &bytes, &moved));
	EXPECT_TRUE(moved);
	EXPECT_EQ(0, at);
	EXPECT_EQ(100, bytes);
	EXPECT_EQ(SDP_VALID, sdp_ring_in_arrived(&in, 0x80000011, &at, &bytes, &moved));
	EXPECT_FALSE(moved);
	EXPECT_EQ(100, at);
	EXPECT_EQ(117, sdp_ring_in_used(&in));
	EXPECT_EQ(SDP_BAD_LEN, arrive(&in, 0x80000010));
	EXPECT_EQ(SDP_BAD_LEN, arrive(&in, 0x80000000));
	for (bit = 20; bit < 31; bit++)
		EXPECT_EQ(SDP_BAD_LEN, arrive(&in, 0x80000064 | 1U << bit));
	EXPECT_EQ(SDP_BAD_STATE, arrive(&in, 0x64));
	EXPECT_EQ(SDP_BAD_CREDIT, arrive(&in, 0x80000000 | (SIZE / 4 + 1)));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000000 | SIZE / 4));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000000 | SIZE / 4));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000000 | SIZE / 4));
	EXPECT_EQ(SDP_BAD_CREDIT, arrive(&in, 0x80000000 | SIZE / 4));
	/* Space that was read counts as free only after the peer has been told. */
	sdp_ring_in_read(&in, SIZE / 4);
	EXPECT_EQ(SDP_BAD_CREDIT, arrive(&in, 0x80000000 | SIZE / 4));
	EXPECT_EQ(SIZE / 4, sdp_ring_in_tell(&in));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000000 | SIZE / 4));
}

/* Data for a ring that was never asked for. */
TEST(sdp_ring_in_arrived__no_ring)
{
	struct sdp_ring_in in;

	sdp_ring_in_agree(&in, SDP_BY_RDMA, SIZE, WINDOW);
	EXPECT_EQ(SDP_BAD_STATE, arrive(&in, 0x64));
	EXPECT_EQ(SDP_BAD_STATE, arrive(&in, 0x80000064));
}

/* A second request before the first ring is used is refused, to limit the number of rings. */
TEST(sdp_ring_in_asked__one_at_a_time)
{
	struct sdp_region r = region(16384);
	enum sdp_ring_wish wish;
	struct sdp_ring_in in;

	sdp_ring_in_agree(&in, SDP_BY_RDMA, SIZE, WINDOW);
	EXPECT_EQ(SDP_BAD_STATE, sdp_ring_in_asked(&in, 0, &wish));
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, 16384, &wish));
	EXPECT_EQ(SDP_RING_MAKE, wish);
	EXPECT_EQ(SDP_BAD_STATE, sdp_ring_in_asked(&in, SIZE, &wish));
	EXPECT_TRUE(sdp_ring_in_made(&in, &r, 3));
	EXPECT_EQ(SDP_BAD_STATE, sdp_ring_in_asked(&in, SIZE, &wish));
	sdp_ring_in_answer_sent(&in);
	EXPECT_EQ(SDP_BAD_STATE, sdp_ring_in_asked(&in, SIZE, &wish));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000064));
	EXPECT_EQ(SDP_BAD_STATE, sdp_ring_in_asked(&in, 16384, &wish));
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, 2 * SIZE, &wish));
	EXPECT_EQ(SIZE, in.making);
	/* If a larger ring cannot be made, the old one stays in use. */
	EXPECT_FALSE(sdp_ring_in_made(&in, &none, 3));
	sdp_ring_in_answer_sent(&in);
	EXPECT_EQ(16384, in.size);
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000064));
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, 0, &wish));
	EXPECT_EQ(SDP_RING_DROP, wish);
	EXPECT_EQ(SDP_BAD_STATE, arrive(&in, 0x80000064));
	EXPECT_EQ(SDP_BAD_STATE, sdp_ring_in_asked(&in, 0, &wish));
}

/* At the maximum the answer is a refusal. By credit a request is illegal. */
TEST(sdp_ring_in_asked__at_its_largest)
{
	struct sdp_ring_in in = in_with(SDP_BY_RDMA, 16384);
	enum sdp_ring_wish wish;

	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000064));
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, SIZE, &wish));
	EXPECT_EQ(SDP_RING_NONE, wish);
	EXPECT_TRUE(in.answer);
	EXPECT_EQ(0, in.next.len);
	sdp_ring_in_agree(&in, SDP_BY_CREDIT, SIZE, WINDOW);
	EXPECT_EQ(SDP_BAD_STATE, sdp_ring_in_asked(&in, SIZE, &wish));
}

/* A ring below the minimum of the wire is not advertised, however small the peer's messages are. */
TEST(sdp_ring_in_made__smaller_than_any)
{
	struct sdp_region small = region(SDP_RING_SIZE_MIN / 2), least = region(SDP_RING_SIZE_MIN);
	enum sdp_ring_wish wish;
	struct sdp_ring_in in;
	u32 cap;

	sdp_ring_in_agree(&in, SDP_BY_NIC, SIZE, 256);
	cap = in.cap;
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, SIZE, &wish));
	EXPECT_FALSE(sdp_ring_in_made(&in, &small, 3));
	EXPECT_EQ(cap, in.cap);
	sdp_ring_in_answer_sent(&in);
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, SIZE, &wish));
	EXPECT_TRUE(sdp_ring_in_made(&in, &least, 3));
}

/*
 * After the next ring is advertised, reads of the old one are not reported, and after the first
 * message in the next ring no message is accepted in the old one.
 */
TEST(sdp_ring_in_arrived__next_ring)
{
	struct sdp_ring_in in = in_with(SDP_BY_RDMA, 16384);
	struct sdp_region r = region(SIZE);
	enum sdp_ring_wish wish;
	u32 at, bytes;
	bool moved;

	in.max = SIZE;
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80001000));
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, SIZE, &wish));
	EXPECT_TRUE(sdp_ring_in_made(&in, &r, 3));
	sdp_ring_in_read(&in, 0x1000);
	EXPECT_TRUE(sdp_ring_in_news(&in));
	sdp_ring_in_answer_sent(&in);
	EXPECT_FALSE(sdp_ring_in_news(&in));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80001000));
	EXPECT_EQ(SDP_VALID, sdp_ring_in_arrived(&in, 0x2000, &at, &bytes, &moved));
	EXPECT_TRUE(moved);
	EXPECT_EQ(0, at);
	EXPECT_EQ(SIZE, in.size);
	EXPECT_EQ(0x2000, sdp_ring_in_used(&in));
	EXPECT_EQ(SDP_BAD_STATE, arrive(&in, 0x80001000));
}

/* A ring is given back and another one is made: the parity of the rings stays in step. */
TEST(sdp_ring_in_asked__given_back_unused)
{
	struct sdp_ring_in in = in_with(SDP_BY_RDMA, 16384);
	struct sdp_region r = region(SIZE);
	enum sdp_ring_wish wish;

	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, 0, &wish));
	EXPECT_EQ(SDP_RING_DROP, wish);
	in.max = SIZE;
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, SIZE, &wish));
	EXPECT_TRUE(sdp_ring_in_made(&in, &r, 3));
	sdp_ring_in_answer_sent(&in);
	EXPECT_EQ(SDP_BAD_STATE, arrive(&in, 0x80000064));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x64));
}

/* By RDMA: full when the longest message has no room that the peer knows of. */
TEST(sdp_ring_in_full__by_rdma)
{
	struct sdp_ring_in in = in_with(SDP_BY_RDMA, SIZE);

	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000000 | SIZE / 4));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000000 | SIZE / 4));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000000 | SIZE / 4));
	EXPECT_FALSE(sdp_ring_in_full(&in));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000011));
	EXPECT_TRUE(sdp_ring_in_full(&in));
	sdp_ring_in_read(&in, SIZE / 4);
	EXPECT_TRUE(sdp_ring_in_full(&in));
	sdp_ring_in_tell(&in);
	EXPECT_FALSE(sdp_ring_in_full(&in));
	in.size = 0;
	EXPECT_FALSE(sdp_ring_in_full(&in));
}

/* By NIC: full when no receive may be posted. */
TEST(sdp_ring_in_full__by_nic)
{
	struct sdp_ring_in in = in_with(SDP_BY_NIC, SIZE);

	EXPECT_FALSE(sdp_ring_in_full(&in));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000064));
	in.head = SIZE - 2 * in.window;
	EXPECT_FALSE(sdp_ring_in_full(&in));
	in.head++;
	EXPECT_TRUE(sdp_ring_in_full(&in));
	sdp_ring_in_read(&in, 1);
	EXPECT_FALSE(sdp_ring_in_full(&in));
}

/* D4, G1: an update is due when the peer knows of less than half as free, and half was read. */
TEST(sdp_ring_in_update_due__not_often)
{
	struct sdp_ring_in in = in_with(SDP_BY_RDMA, SIZE);

	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80004000));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80004000));
	sdp_ring_in_read(&in, 0x8000);
	EXPECT_TRUE(sdp_ring_in_news(&in));
	EXPECT_FALSE(sdp_ring_in_update_due(&in));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000011));
	EXPECT_TRUE(sdp_ring_in_update_due(&in));
	EXPECT_EQ(0x8000, sdp_ring_in_tell(&in));
	EXPECT_FALSE(sdp_ring_in_news(&in));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80004000));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80004000));
	sdp_ring_in_read(&in, 0x7fff);
	EXPECT_FALSE(sdp_ring_in_update_due(&in));
	sdp_ring_in_read(&in, 1);
	EXPECT_TRUE(sdp_ring_in_update_due(&in));
}

/* G4: one receive for each free window, less one. */
TEST(sdp_ring_in_receives__windows)
{
	struct sdp_ring_in in = in_with(SDP_BY_NIC, SIZE);

	EXPECT_EQ(12, sdp_ring_in_receives_max(&in, 12));
	EXPECT_EQ(15, sdp_ring_in_receives_max(&in, 100));
	EXPECT_EQ(9, sdp_ring_in_receives(&in, 9, 3));
	EXPECT_EQ(12, sdp_ring_in_receives(&in, 100, 3));
	EXPECT_EQ(SDP_BAD_CREDIT, arrive(&in, 0x80001001));
	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000400));
	/* 63 KiB are free: 15 windows and a part of one. */
	EXPECT_EQ(14, sdp_ring_in_receives(&in, 100, 0));
	EXPECT_EQ(0, sdp_ring_in_receives(&in, 100, 14));
	EXPECT_EQ(0, sdp_ring_in_receives(&in, 100, 20));
	sdp_ring_in_read(&in, 0x400);
	EXPECT_EQ(1, sdp_ring_in_receives(&in, 100, 14));
	EXPECT_FALSE(sdp_ring_in_news(&in));
}

/* Positions wrap after much one-way traffic, without any report of the freed bytes. */
TEST(sdp_ring_in_arrived__wraps)
{
	struct sdp_ring_in in = in_with(SDP_BY_NIC, SIZE);
	struct sdp_ring_out o = out_with(SDP_BY_NIC, SIZE);
	struct sdp_ring_place place;
	u32 at, bytes;
	bool moved;
	int i;

	EXPECT_EQ(SDP_VALID, arrive(&in, 0x80000000 | WINDOW));
	sdp_ring_in_read(&in, WINDOW);
	in.head = 0U - 3 * WINDOW;
	in.read = in.head;
	o.head = in.head;
	for (i = 0; i < 10; i++) {
		sdp_ring_out_put(&o, WINDOW - 3, &place);
		EXPECT_EQ(SDP_VALID, sdp_ring_in_arrived(&in, place.imm, &at, &bytes, &moved));
		EXPECT_EQ(place.va, 0x5000 + at);
		sdp_ring_in_read(&in, bytes);
		EXPECT_EQ(0, sdp_ring_in_used(&in));
	}
}

/*
 * A small ring has fewer windows than receives are posted. It is refused now, and fewer receives
 * are posted from now on.
 */
TEST(sdp_ring_in_made__too_many_receives)
{
	struct sdp_region r = region(4 * WINDOW);
	enum sdp_ring_wish wish;
	struct sdp_ring_in in;

	sdp_ring_in_agree(&in, SDP_BY_NIC, SIZE, WINDOW);
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, SIZE, &wish));
	EXPECT_FALSE(sdp_ring_in_made(&in, &r, 4));
	EXPECT_EQ(3, sdp_ring_in_receives_max(&in, 12));
	sdp_ring_in_answer_sent(&in);
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, SIZE, &wish));
	EXPECT_TRUE(sdp_ring_in_made(&in, &r, 3));
	EXPECT_EQ(0, sdp_ring_in_receives(&in, 9, 3));
	sdp_ring_in_agree(&in, SDP_BY_NIC, SIZE, WINDOW);
	EXPECT_EQ(SDP_VALID, sdp_ring_in_asked(&in, SIZE, &wish));
	r.len = 8192;
	EXPECT_FALSE(sdp_ring_in_made(&in, &r, 0));
	EXPECT_EQ(12, sdp_ring_in_receives_max(&in, 12));
}

TEST_MAIN
