// SPDX-License-Identifier: GPL-2.0
/*
 * Glob patterns: validation and matching without recursion.
 *
 * When a byte does not match, only the last * passed is extended by one byte.
 * Extending an earlier * as well would only make the parts behind it match
 * later in the string, and leave less of the string for the last *.
 */
#include "glob.h"

/*
 * Reads one byte between brackets and advances @at. Returns -1 at the end of
 * the pattern and at a class, which is not supported.
 */
static int glob_bracket_byte(const char *glob, size_t len, size_t *at)
{
	size_t i = *at;

	if (i + 1 < len && glob[i] == '[' &&
	    (glob[i + 1] == ':' || glob[i + 1] == '.' || glob[i + 1] == '='))
		return -1;
	if (i < len && glob[i] == '\\')
		i++;
	if (i >= len)
		return -1;
	*at = i + 1;
	return (u8)glob[i];
}

/*
 * Returns the length of the bracket expression at the start of @glob, or 0
 * when it is malformed. Sets @yes to whether byte @c matches.
 */
static size_t glob_bracket(const char *glob, size_t len, u8 c, bool *yes)
{
	bool invert = len > 1 && (glob[1] == '!' || glob[1] == '^');
	bool found = false, first = true;
	size_t at = invert ? 2 : 1;
	int low, high;

	for (; at < len && (first || glob[at] != ']'); first = false) {
		low = glob_bracket_byte(glob, len, &at);
		high = low;
		if (low >= 0 && at + 1 < len && glob[at] == '-' &&
		    glob[at + 1] != ']') {
			at++;
			high = glob_bracket_byte(glob, len, &at);
		}
		if (low < 0 || high < low)
			return 0;
		found |= low <= c && c <= high;
	}
	if (at >= len)
		return 0;
	*yes = found != invert;
	return at + 1;
}

/*
 * Returns the length of the element at the start of @glob that stands for one
 * byte (anything but *), or 0 when it is malformed. Sets @yes to whether byte
 * @c matches.
 */
static size_t glob_element(const char *glob, size_t len, u8 c, bool *yes)
{
	switch (glob[0]) {
	case '?':
		*yes = true;
		return 1;
	case '[':
		return glob_bracket(glob, len, c, yes);
	case '\\':
		if (len < 2)
			return 0;
		*yes = (u8)glob[1] == c;
		return 2;
	default:
		*yes = (u8)glob[0] == c;
		return 1;
	}
}

/**
 * sdp_glob_check() - validate a pattern
 * @glob: pattern, not terminated by NUL
 * @len: length of @glob in bytes
 * @shortest: set to the length in bytes of the shortest string that @glob can
 *	match
 *
 * Return: @len when the pattern is well formed. Otherwise the offset of the
 * malformed part: a [ without its ], with a class or with a reversed range, or
 * a \ at the end.
 */
size_t sdp_glob_check(const char *glob, size_t len, size_t *shortest)
{
	size_t at = 0, step;
	bool ignored;

	*shortest = 0;
	for (; at < len; at += step) {
		step = 1;
		if (glob[at] == '*')
			continue;
		step = glob_element(glob + at, len - at, 0, &ignored);
		if (!step)
			break;
		++*shortest;
	}
	return at;
}

/**
 * sdp_glob_match() - match a whole string against a pattern
 * @glob: pattern, not terminated by NUL; sdp_glob_check() found it well formed
 * @len: length of @glob in bytes
 * @string: string, terminated by NUL
 *
 * Takes at most @len times strlen(@string) steps.
 *
 * Return: true when @glob matches all of @string.
 */
bool sdp_glob_match(const char *glob, size_t len, const char *string)
{
	const char *again = NULL;	/* where to retry after the last * */
	size_t at = 0, star = 0, step;
	bool yes;

	while (*string) {
		if (at < len && glob[at] == '*') {
			star = ++at;
			again = string;
			if (at == len)
				return true;
			continue;
		}
		yes = false;
		step = at < len ? glob_element(glob + at, len - at,
					       (u8)*string, &yes) : 0;
		if (step && yes) {
			at += step;
			string++;
			continue;
		}
		if (!again)
			return false;
		at = star;
		string = ++again;
	}
	while (at < len && glob[at] == '*')
		at++;
	return at == len;
}
