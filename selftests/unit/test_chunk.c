// SPDX-License-Identifier: GPL-2.0
/*
 * Messages in packets (I3).
 */
#include "chunk.h"
#include "test.h"

TEST(sdp_chunk_packets__lengths)
{
	static const struct { u32 bytes, size, packets, last; } cases[] = {
		{ 1, 1000, 1, 1 }, { 999, 1000, 1, 999 }, { 1000, 1000, 1, 1000 },
		{ 1001, 1000, 2, 1 }, { 36000, 1000, 36, 1000 }, { 36001, 1000, 37, 1 },
		{ 8064, 224, 36, 224 }, { 1U << 20, 4032, 261, 256 },
	};
	u32 i, k, sum;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		CASE_NOTE("%u bytes in packets of %u", cases[i].bytes, cases[i].size);
		EXPECT_EQ(cases[i].packets, sdp_chunk_packets(cases[i].bytes, cases[i].size));
		for (k = 0, sum = 0; k < cases[i].packets; k++)
			sum += sdp_chunk_packet_len(cases[i].bytes, cases[i].size, k);
		EXPECT_EQ(cases[i].bytes, sum);
		EXPECT_EQ(cases[i].last,
			  sdp_chunk_packet_len(cases[i].bytes, cases[i].size, k - 1));
	}
}

/* Only the last packet may be short. None is empty or longer than the others. */
TEST(sdp_chunk_len_valid__bounds)
{
	EXPECT_TRUE(sdp_chunk_len_valid(100, 3, 0, 100));
	EXPECT_FALSE(sdp_chunk_len_valid(100, 3, 0, 99));
	EXPECT_FALSE(sdp_chunk_len_valid(100, 3, 1, 101));
	EXPECT_TRUE(sdp_chunk_len_valid(100, 3, 2, 1));
	EXPECT_TRUE(sdp_chunk_len_valid(100, 3, 2, 100));
	EXPECT_FALSE(sdp_chunk_len_valid(100, 3, 2, 0));
	EXPECT_FALSE(sdp_chunk_len_valid(100, 3, 2, 101));
	EXPECT_FALSE(sdp_chunk_len_valid(100, 1, 0, 0));
}

/* Packets come in any order, and some of them twice. */
TEST(sdp_chunk_add__any_order)
{
	struct sdp_chunk c = { 0 };
	u32 n, i, at;

	EXPECT_FALSE(sdp_chunk_whole(&c));
	EXPECT_EQ(0, sdp_chunk_first_missing(&c));
	for (n = 1; n <= SDP_CHUNK_PACKETS_MAX; n++) {
		sdp_chunk_begin(&c, n);
		for (i = 0; i < n; i++) {
			/* Backward, or in steps of 5, which meet each number: 37 is prime. */
			at = n == SDP_CHUNK_PACKETS_MAX ? (i + 1) * 5 % 37 - 1 : n - 1 - i;
			EXPECT_FALSE(sdp_chunk_whole(&c));
			EXPECT_TRUE(sdp_chunk_add(&c, at));
			EXPECT_FALSE(sdp_chunk_add(&c, at));
			EXPECT_EQ(i + 1, c.arrived);
		}
		EXPECT_TRUE(sdp_chunk_whole(&c));
		EXPECT_EQ(n, sdp_chunk_first_missing(&c));
	}
}

TEST(sdp_chunk_first_missing__gap)
{
	struct sdp_chunk c;

	sdp_chunk_begin(&c, 36);
	EXPECT_EQ(0, sdp_chunk_first_missing(&c));
	sdp_chunk_add(&c, 1);
	sdp_chunk_add(&c, 35);
	EXPECT_EQ(0, sdp_chunk_first_missing(&c));
	sdp_chunk_add(&c, 0);
	EXPECT_EQ(2, sdp_chunk_first_missing(&c));
}

TEST_MAIN
