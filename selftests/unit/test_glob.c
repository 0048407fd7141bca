// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns of the policy's rules: matches, malformed patterns, and run time.
 */
#include "glob.h"
#include "test.h"

struct glob_case {
	const char *glob;
	const char *string;
	bool matches;
};

static const struct glob_case patterns[] = {
	{ "iperf3", "iperf3", true },
	{ "iperf3", "iperf", false },
	{ "iperf3", "iperf33", false },
	{ "iperf3", "", false },
	/* "*": any bytes, also a slash and a leading dot */
	{ "*", "", true },
	{ "*", "nginx", true },
	{ "*", "/usr/.local/bin", true },
	{ "***", "", true },
	{ "***", "a", true },
	{ "ab*", "ab", true },
	{ "ab*", "abcd", true },
	{ "ab*", "a", false },
	{ "*cd", "abcd", true },
	{ "*cd", "cd", true },
	{ "*cd", "cdcdc", false },
	{ "*cd", "cdccd", true },
	{ "a*c", "abcabc", true },
	{ "a*c", "abcab", false },
	{ "a**c", "ac", true },
	{ "*/bin/*", "/usr/bin/env", true },
	{ "*/bin/*", "/usr/sbin/env", false },
	{ "/system.slice/*", "/system.slice/nginx.service", true },
	{ "/system.slice/*", "/system.slice", false },
	{ "*a*b*c*", "xxaxxbxxcxx", true },
	{ "*a*b*c*", "xxaxxcxxbxx", false },
	{ "*ab?", "aabab1", true },
	{ "*ab?", "aabab", false },
	/* "?": one byte */
	{ "?", "", false },
	{ "?", "a", true },
	{ "?", "ab", false },
	{ "?", "\xff", true },
	{ "a?c", "a/c", true },
	{ "??*", "a", false },
	{ "??*", "ab", true },
	/* "[abc]": one byte of a set */
	{ "[abc]", "b", true },
	{ "[abc]", "d", false },
	{ "[abc]", "", false },
	{ "[abc]", "bb", false },
	{ "[a-c]", "a", true },
	{ "[a-c]", "c", true },
	{ "[a-c]", "d", false },
	{ "[a-c]", "`", false },
	{ "[a-cx-z]", "y", true },
	{ "[a-cx-z]", "d", false },
	{ "[a-]", "-", true },
	{ "[-a]", "-", true },
	{ "[a-]", "b", false },
	{ "[]]", "]", true },
	{ "[]a]", "a", true },
	{ "[]-a]", "^", true },
	{ "[]-a]", "b", false },
	{ "[[]", "[", true },
	{ "[*?]", "*", true },
	{ "[*?]", "a", false },
	{ "[\\]]", "]", true },
	{ "[\\]]", "\\", false },
	{ "[\\\\]", "\\", true },
	{ "[a\\-c]", "-", true },
	{ "[a\\-c]", "b", false },
	{ "[[-\\]]", "\\", true },
	{ "[/]", "/", true },
	{ "php[0-9].[0-9]", "php8.2", true },
	{ "*[0-9]", "iperf3", true },
	{ "*[0-9]", "iperf", false },
	/* "[!abc]": one byte that is not in a set */
	{ "[!a]", "b", true },
	{ "[!a]", "a", false },
	{ "[!a]", "", false },
	{ "[^a]", "b", true },
	{ "[^a]", "a", false },
	{ "[!]]", "]", false },
	{ "[!]]", "a", true },
	{ "[!a-y]", "z", true },
	{ "[!a-y]", "\x80", true },
	{ "[a!]", "!", true },
	{ "[a^]", "^", true },
	/* literal bytes, with and without a backslash */
	{ "\\*", "*", true },
	{ "\\*", "a", false },
	{ "\\?", "?", true },
	{ "\\?", "a", false },
	{ "\\[a]", "[a]", true },
	{ "\\a", "a", true },
	{ "\\\\x2d", "\\x2d", true },
	{ "a]", "a]", true },
	{ "-", "-", true },
};

TEST(sdp_glob_match__table)
{
	size_t i, len, shortest;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct glob_case *c = &patterns[i];

		len = strlen(c->glob);
		EXPECT_EQ(len, sdp_glob_check(c->glob, len, &shortest));
		if (sdp_glob_match(c->glob, len, c->string) != c->matches) {
			CASE_NOTE("%s and %s", c->glob, c->string);
			EXPECT_TRUE(false);
		}
		/* sdp_glob_check() reports the least length of a matching string. */
		if (c->matches)
			EXPECT_LE(shortest, strlen(c->string));
	}
}

/* The pattern ends where its length says, whatever bytes follow. */
TEST(sdp_glob_match__no_byte_behind_the_pattern)
{
	EXPECT_TRUE(sdp_glob_match("ab*", 2, "ab"));
	EXPECT_FALSE(sdp_glob_match("ab*", 2, "abc"));
	EXPECT_TRUE(sdp_glob_match("a*b", 2, "axx"));
	EXPECT_FALSE(sdp_glob_match("abc", 0, "a"));
	EXPECT_TRUE(sdp_glob_match("abc", 0, ""));
}

/* An unclosed bracket also ends at the length, and matches nothing. */
TEST(sdp_glob_match__malformed_matches_nothing)
{
	EXPECT_FALSE(sdp_glob_match("[ab]", 3, "a"));
	EXPECT_FALSE(sdp_glob_match("\\a", 1, "a"));
	EXPECT_FALSE(sdp_glob_match("*[z-a]", 6, "m"));
}

TEST(sdp_glob_check__offset_of_what_is_wrong)
{
	static const struct {
		const char *glob;
		size_t at;
	} wrong[] = {
		{ "[", 0 }, { "a[", 1 }, { "[a", 0 }, { "[]", 0 }, { "[!", 0 }, { "[!]", 0 },
		{ "[a-", 0 }, { "[a-z", 0 }, { "[\\", 0 }, { "[\\]", 0 }, { "[a-\\", 0 },
		{ "[z-a]", 0 }, { "x*[b-a]", 2 }, { "[[:digit:]]", 0 }, { "ab[[.a.]]", 2 },
		{ "[[=a=]]", 0 }, { "[a-[.z.]]", 0 }, { "\\", 0 }, { "abc\\", 3 },
		{ "[a]?\\*[", 6 },
	};
	size_t i, shortest;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		size_t len = strlen(wrong[i].glob);

		if (sdp_glob_check(wrong[i].glob, len, &shortest) != wrong[i].at) {
			CASE_NOTE("%s", wrong[i].glob);
			EXPECT_TRUE(false);
		}
	}
}

TEST(sdp_glob_check__shortest_string)
{
	static const struct {
		const char *glob;
		size_t shortest;
	} right[] = {
		{ "*", 0 }, { "**", 0 }, { "a*b", 2 }, { "?*?", 2 }, { "[a-z]x", 2 },
		{ "\\*\\\\", 2 }, { "abc", 3 }, { "[]]*[!]]", 2 },
	};
	size_t i, len, shortest;

	for (i = 0; i < ARRAY_SIZE(right); i++) {
		len = strlen(right[i].glob);
		EXPECT_EQ(len, sdp_glob_check(right[i].glob, len, &shortest));
		EXPECT_EQ(right[i].shortest, shortest);
	}
}

/*
 * Twenty stars and a long string with the wrong last byte. A matcher that tries all combinations
 * would not finish.
 */
TEST(sdp_glob_match__many_stars_end_soon)
{
	static const char glob[] = "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";
	static char string[4096];

	memset(string, 'a', sizeof(string) - 1);
	EXPECT_FALSE(sdp_glob_match(glob, strlen(glob), string));
	string[sizeof(string) - 2] = 'b';
	EXPECT_TRUE(sdp_glob_match(glob, strlen(glob), string));
}

TEST_MAIN
