/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test macros for a test_*.c file that is built for user space and for KUnit.
 *
 * In user space the file is a program with the kselftest harness. In the kernel it is a KUnit
 * suite, whose list of cases is made by kunit.sh.
 *
 *	TEST(function__case) { EXPECT_EQ(wanted, seen); }
 *
 * ASSERT_ ends the case. A helper that checks takes TEST_CTX as its first parameter and is called
 * with TEST_SELF.
 */
#ifndef SDP_UNIT_TEST_H
#define SDP_UNIT_TEST_H

#ifdef __KERNEL__

#include <kunit/test.h>

#define TEST(name)		static void name(struct kunit *test)
#define TEST_CTX		struct kunit *test
#define TEST_SELF		test
#define TEST_MAIN

#define EXPECT_EQ(want, seen)	KUNIT_EXPECT_EQ(test, want, seen)
#define EXPECT_NE(want, seen)	KUNIT_EXPECT_NE(test, want, seen)
#define EXPECT_LE(a, b)		KUNIT_EXPECT_LE(test, a, b)
#define EXPECT_LT(a, b)		KUNIT_EXPECT_LT(test, a, b)
#define EXPECT_GE(a, b)		KUNIT_EXPECT_GE(test, a, b)
#define EXPECT_TRUE(seen)	KUNIT_EXPECT_TRUE(test, seen)
#define EXPECT_FALSE(seen)	KUNIT_EXPECT_FALSE(test, seen)
#define EXPECT_STREQ(want, seen) KUNIT_EXPECT_STREQ(test, want, seen)
#define ASSERT_EQ(want, seen)	KUNIT_ASSERT_EQ(test, want, seen)

/* Position in a loop, printed for a failure. */
#define CASE_NOTE(format, ...)	kunit_info(test, format, ##__VA_ARGS__)

#else

#include <unistd.h>

/* The harness leaves each case by _exit(), which would lose its coverage counters. */
#ifdef SDP_COVERAGE
void __gcov_dump(void);

static inline void _exit_after_dump(int code)
{
	__gcov_dump();
	_exit(code);
}
#define _exit(code)		_exit_after_dump(code)
#endif

#include "kselftest_harness.h"

/* The cases wait for nothing, but an emulator on a busy host is slow: this ends one that hangs. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	600

/* The macros of the harness are several statements, which is wrong behind an if without braces. */
#define EXPECT_ONE(want, seen, relation)					\
	do {									\
		__EXPECT(want, #want, seen, #seen, relation, 0);		\
	} while (0)

#undef EXPECT_EQ
#undef EXPECT_NE
#undef EXPECT_LE
#undef EXPECT_LT
#undef EXPECT_GE
#undef EXPECT_TRUE
#undef EXPECT_FALSE
#define EXPECT_EQ(want, seen)	EXPECT_ONE(want, seen, ==)
#define EXPECT_NE(want, seen)	EXPECT_ONE(want, seen, !=)
#define EXPECT_LE(a, b)		EXPECT_ONE(a, b, <=)
#define EXPECT_LT(a, b)		EXPECT_ONE(a, b, <)
#define EXPECT_GE(a, b)		EXPECT_ONE(a, b, >=)
#define EXPECT_TRUE(seen)	EXPECT_ONE(false, seen, !=)
#define EXPECT_FALSE(seen)	EXPECT_ONE(false, seen, ==)

#define TEST_CTX		struct __test_metadata *_metadata
#define TEST_SELF		_metadata
#define TEST_MAIN		TEST_HARNESS_MAIN
#define CASE_NOTE(format, ...)	TH_LOG(format, ##__VA_ARGS__)

#endif

#define EXPECT_BYTES(want, seen, n)						\
	do {									\
		const u8 *want_ = (const u8 *)(want), *seen_ = (const u8 *)(seen); \
		unsigned int i_;						\
										\
		for (i_ = 0; i_ < (unsigned int)(n); i_++)			\
			if (want_[i_] != seen_[i_]) {				\
				CASE_NOTE("byte %u: want %02x, seen %02x", i_,	\
					  want_[i_], seen_[i_]);		\
				EXPECT_TRUE(false);				\
				break;						\
			}							\
	} while (0)

#endif /* SDP_UNIT_TEST_H */
