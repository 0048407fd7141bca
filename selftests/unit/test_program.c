// SPDX-License-Identifier: GPL-2.0
/*
 * Data gather/scatter programs: what is refused, large numbers, and dry runs (H2, H3).
 */
#include "program.h"
#include "program_check.h"
#include "test.h"

#define FAR	SDP_PROGRAM_FAR

struct line {
	u32 code;
	s64 n;
};

/* The lines of a program, and their number. */
#define LINES(...)	(const struct line[]){ __VA_ARGS__ }, \
			sizeof((const struct line[]){ __VA_ARGS__ }) / sizeof(struct line)
/* The harness has a macro of this name, which is not used here. */
#undef SKIP
#define COPY(n)		{ SDP_PROGRAM_COPY, n }
#define SKIP(n)		{ SDP_PROGRAM_SKIP, n }
#define SEEK(n)		{ SDP_PROGRAM_SEEK, n }
#define LOOP(n)		{ SDP_PROGRAM_LOOP, n }
#define END		{ SDP_PROGRAM_END, 0 }
#define CALL(n)		{ SDP_PROGRAM_CALL, n }
#define RETURN		{ SDP_PROGRAM_RETURN, 0 }

static int load(const struct line *line, u32 lines, u64 memory)
{
	u32 i;

	memset(&drawn, 0, sizeof(drawn.p));
	for (i = 0; i < lines; i++)
		if (sdp_program_add(&drawn.p, line[i].code, line[i].n))
			return -ENOENT;
	return sdp_program_verify(&drawn.p, memory);
}

/* H2: numbers that an operation cannot have, and operations that there are not. */
TEST(sdp_program_add__refused)
{
	static const struct line wrong[] = {
		COPY(-1), COPY(FAR), SKIP(FAR), SKIP(-FAR), SEEK(-1), SEEK(FAR), LOOP(-1),
		LOOP(FAR), { SDP_PROGRAM_END, 1 }, { SDP_PROGRAM_RETURN, 1 }, CALL(-1),
		{ SDP_PROGRAM_RETURN + 1, 0 }, { ~0U, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		EXPECT_EQ(-ENOENT, load(&wrong[i], 1, 100));
	EXPECT_EQ(0, load(LINES(SKIP(1 - FAR), SKIP(FAR - 1), SEEK(FAR - 1)), 100));
	memset(&drawn, 0, sizeof(drawn.p));
	for (i = 0; i < SDP_PROGRAM_OPS_MAX; i++)
		EXPECT_EQ(0, sdp_program_add(&drawn.p, SDP_PROGRAM_COPY, 1));
	EXPECT_EQ(-EINVAL, sdp_program_add(&drawn.p, SDP_PROGRAM_COPY, 1));
	EXPECT_EQ(0, sdp_program_verify(&drawn.p, SDP_PROGRAM_OPS_MAX));
	EXPECT_EQ(SDP_PROGRAM_OPS_MAX, sdp_program_length(&drawn.p));
}

/* H2: loops have an end, calls lead forward to the beginning of a procedure. */
TEST(sdp_program_verify__form)
{
	EXPECT_EQ(0, load(LINES(RETURN), 0));
	EXPECT_EQ(0, load(NULL, 0, 0));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(1), COPY(1)), 9));
	EXPECT_EQ(-EINVAL, load(LINES(COPY(1), END), 9));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(1), RETURN, END), 9));
	EXPECT_EQ(-EINVAL, load(LINES(CALL(0)), 9));
	EXPECT_EQ(-EINVAL, load(LINES(CALL(1), COPY(1)), 9));
	EXPECT_EQ(-EINVAL, load(LINES(CALL(2), RETURN), 9));
	EXPECT_EQ(-EINVAL, load(LINES(CALL(3), RETURN, COPY(1), COPY(1)), 9));
	EXPECT_EQ(-EINVAL, load(LINES(CALL(2), RETURN, CALL(0), RETURN), 9));
	EXPECT_EQ(-EINVAL, load(LINES(CALL(2), RETURN, CALL(2), RETURN), 9));
	EXPECT_EQ(0, load(LINES(CALL(2), RETURN, COPY(3), RETURN), 9));
	EXPECT_EQ(3, sdp_program_length(&drawn.p));
}

/* H2: eight loops and calls within each other, not nine. */
TEST(sdp_program_verify__depth)
{
	struct line deep[19];
	u32 depth, i;

	for (depth = 8; depth <= 9; depth++) {
		for (i = 0; i < depth; i++) {
			deep[i] = (struct line)LOOP(2);
			deep[depth + 1 + i] = (struct line)END;
		}
		deep[depth] = (struct line)COPY(1);
		EXPECT_EQ(depth == 8 ? 0 : -EINVAL, load(deep, 2 * depth + 1, 256));
	}
	EXPECT_EQ(0, load(LINES(LOOP(1), LOOP(1), LOOP(1), LOOP(1), LOOP(1), LOOP(1), LOOP(1),
				CALL(16), END, END, END, END, END, END, END, RETURN, COPY(1)), 9));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(1), LOOP(1), LOOP(1), LOOP(1), LOOP(1), LOOP(1),
				      LOOP(1), CALL(16), END, END, END, END, END, END, END, RETURN,
				      CALL(18), RETURN, COPY(1)), 9));
}

/* H2: no byte outside of the memory; the position may leave it. */
TEST(sdp_program_verify__memory)
{
	EXPECT_EQ(0, load(LINES(COPY(9)), 9));
	EXPECT_EQ(-EFAULT, load(LINES(COPY(10)), 9));
	EXPECT_EQ(0, load(LINES(SKIP(-5), SKIP(5), COPY(9)), 9));
	EXPECT_EQ(-EFAULT, load(LINES(SKIP(-1), COPY(1)), 9));
	EXPECT_EQ(0, load(LINES(SKIP(100), COPY(0), SEEK(0), COPY(9)), 9));
	EXPECT_EQ(-EFAULT, load(LINES(SEEK(9), COPY(1)), 9));
	/* Only the last time leaves it, and with a negative step the last as well. */
	EXPECT_EQ(0, load(LINES(LOOP(3), COPY(1), SKIP(3), END), 9));
	EXPECT_EQ(-EFAULT, load(LINES(LOOP(4), COPY(1), SKIP(3), END), 9));
	EXPECT_EQ(0, load(LINES(SEEK(8), LOOP(3), COPY(1), SKIP(-5), END), 9));
	EXPECT_EQ(-EFAULT, load(LINES(SEEK(8), LOOP(4), COPY(1), SKIP(-5), END), 9));
	/* From the second time on, a loop that seeks begins where the first one has sought to. */
	EXPECT_EQ(0, load(LINES(LOOP(1), COPY(1), SEEK(9), END), 9));
	EXPECT_EQ(-EFAULT, load(LINES(LOOP(2), COPY(1), SEEK(9), END), 9));
	EXPECT_EQ(0, load(LINES(SEEK(9), LOOP(0), COPY(1), END), 9));
}

/* H2: numbers that do not fit are refused, whatever they are multiplied with. */
TEST(sdp_program_verify__far)
{
	EXPECT_EQ(-EINVAL, load(LINES(COPY(FAR - 1), COPY(1)), ~0ULL));
	EXPECT_EQ(-EINVAL, load(LINES(SKIP(FAR - 1), SKIP(1)), 9));
	EXPECT_EQ(-EINVAL, load(LINES(SKIP(1 - FAR), SKIP(-1)), 9));
	EXPECT_EQ(-EINVAL, load(LINES(SEEK(FAR - 1), SKIP(1)), 9));
	EXPECT_EQ(-EINVAL, load(LINES(SKIP(FAR - 1), COPY(1)), ~0ULL));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(FAR / 2), SKIP(2), END), 9));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(FAR / 2), SKIP(-2), END), 9));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(FAR / 2), COPY(2), SKIP(-2), END), 9));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(FAR - 1), LOOP(FAR - 1), SKIP(1), END, END), 9));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(1LL << 32), SKIP(1LL << 32), END), 9));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(1LL << 32), COPY(1LL << 32), END), ~0ULL));
	EXPECT_EQ(0, load(LINES(LOOP(FAR - 1), LOOP(FAR - 1), END, END), 9));
	EXPECT_EQ(0, load(LINES(LOOP(FAR - 1), COPY(1), SKIP(-1), END), 9));
	EXPECT_EQ((u64)FAR - 1, sdp_program_length(&drawn.p));
	EXPECT_EQ(-EINVAL, load(LINES(LOOP(2), SKIP(FAR - 3), COPY(1), SKIP(4 - FAR), END), ~0ULL));
	EXPECT_EQ(-EINVAL, load(LINES(SEEK(FAR - 1), LOOP(2), COPY(1), SEEK(FAR - 2), END),
				~0ULL));
}

/* H3: what a dry run takes as a whole need not be done: 2^55 bytes, 2^54 times nothing. */
TEST(sdp_program_dry__large)
{
	struct sdp_program_state s, t;
	s64 at;

	ASSERT_EQ(0, load(LINES(LOOP(FAR / 4), SKIP(0), END, LOOP(FAR / 16), COPY(4), SKIP(-2),
				COPY(1), SKIP(-3), END, COPY(3)), 9));
	sdp_program_begin(&drawn.p, &s);
	EXPECT_EQ((u64)FAR / 16 * 4 + 7, sdp_program_dry(&drawn.p, &s, FAR / 16 * 4 + 7));
	EXPECT_EQ(1, s.part);
	EXPECT_EQ(1, s.at);
	EXPECT_EQ(1, sdp_program_move(&drawn.p, &s, 1, &at));
	EXPECT_EQ(1, at);
	EXPECT_EQ((u64)FAR / 16 * 5 - (u64)FAR / 16 * 4 - 5,
		  sdp_program_dry(&drawn.p, &s, FAR));
	EXPECT_EQ(sdp_program_length(&drawn.p), s.done);
	EXPECT_EQ(0, s.depth);
	t = s;
	EXPECT_EQ(0, sdp_program_dry(&drawn.p, &s, 1));
	EXPECT_EQ(0, memcmp(&s, &t, sizeof(s)));
}

/* H2: bytes behind each other are one piece, also those of a loop or a call. */
TEST(sdp_program_move__together)
{
	struct sdp_program_state s;
	s64 at;

	ASSERT_EQ(0, load(LINES(CALL(7), SKIP(2), LOOP(2), COPY(1), END, SEEK(3), RETURN,
				LOOP(500), COPY(2), COPY(0), LOOP(3), COPY(1), END, END), 4000));
	sdp_program_begin(&drawn.p, &s);
	EXPECT_EQ(2500, sdp_program_move(&drawn.p, &s, 10000, &at));
	EXPECT_EQ(0, at);
	EXPECT_EQ(1, sdp_program_move(&drawn.p, &s, 1, &at));
	EXPECT_EQ(2502, at);
	EXPECT_EQ(1, sdp_program_move(&drawn.p, &s, 10000, &at));
	EXPECT_EQ(2503, at);
	EXPECT_EQ(0, sdp_program_move(&drawn.p, &s, 1, &at));
	/* Pieces that meet by chance are joined, though not without end. */
	ASSERT_EQ(0, load(LINES(LOOP(4000), COPY(1), SKIP(1), SKIP(-1), END), 4000));
	sdp_program_begin(&drawn.p, &s);
	EXPECT_EQ(64, sdp_program_move(&drawn.p, &s, 10000, &at));
	EXPECT_EQ(64, sdp_program_move(&drawn.p, &s, 10000, &at));
	EXPECT_EQ(64, at);
}

/* H2: the pieces of a loop with one piece each time, and what is none. */
TEST(sdp_program_find_strip__loop)
{
	struct sdp_program_strip strip;
	struct sdp_program_state s;

	ASSERT_EQ(0, load(LINES(SKIP(5), LOOP(3), LOOP(10), SKIP(1), COPY(4), SKIP(11), END,
				SKIP(2), END), 1000));
	sdp_program_begin(&drawn.p, &s);
	sdp_program_dry(&drawn.p, &s, 44);
	EXPECT_TRUE(sdp_program_find_strip(&drawn.p, &s, &strip));
	EXPECT_EQ(5 + 160 + 2 + 16 + 1, strip.at);
	EXPECT_EQ(4, strip.width);
	EXPECT_EQ(16, strip.stride);
	EXPECT_EQ(9, strip.n);
	/* Within a piece. */
	sdp_program_dry(&drawn.p, &s, 1);
	EXPECT_FALSE(sdp_program_find_strip(&drawn.p, &s, &strip));
	/* At the end. */
	sdp_program_dry(&drawn.p, &s, 1000);
	EXPECT_FALSE(sdp_program_find_strip(&drawn.p, &s, &strip));
}

TEST(sdp_program_find_strip__none)
{
	static const struct {
		struct line line[8];
		u32 lines;
	} none[] = {
		{ { COPY(4), SKIP(4), COPY(4) }, 3 },
		{ { LOOP(9), COPY(4), SKIP(1), COPY(4), SKIP(1), END }, 6 },
		{ { LOOP(9), SEEK(7), COPY(4), END }, 4 },
		{ { LOOP(9), CALL(5), SKIP(1), END, RETURN, COPY(4), SKIP(1) }, 7 },
		{ { LOOP(9), COPY(4), END }, 3 },
	};
	struct sdp_program_strip strip;
	struct sdp_program_state s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(none); i++) {
		ASSERT_EQ(0, load(none[i].line, none[i].lines, 1000));
		sdp_program_begin(&drawn.p, &s);
		EXPECT_FALSE(sdp_program_find_strip(&drawn.p, &s, &strip));
	}
}

/* H2, H3: random programs move what a simple interpreter moves. sim_program.c tries more. */
TEST(sdp_program_move__random)
{
	u8 data[200];
	u64 x = 88172645463325252ULL;
	const char *what;
	u32 i, n;

	for (n = 0; n < 3000; n++) {
		for (i = 0; i < sizeof(data); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			data[i] = x >> 32;
		}
		data[0] |= n % 8 ? 128 : 0;
		what = program_differs(data, sizeof(data));
		if (what) {
			CASE_NOTE("program %u: %s", n, what);
			EXPECT_TRUE(false);
			break;
		}
	}
	EXPECT_LE(1000, programs_run);
	EXPECT_LE(1000, strips_found);
}

TEST_MAIN
