// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns, matched without recursion: when a byte does not fit, only the last * is made
 * longer, for what an earlier one could take in its place leaves no more to match.
 */
#include "glob.h"

/* One byte named between brackets, or -1 when there is none that is understood. */
static int bracket_byte(const char *glob, size_t len, size_t *at)
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
 * The bracket expression that glob begins with: its length, or 0 when it is not one. Whether
 * byte c is meant goes to yes.
 */
static size_t bracket(const char *glob, size_t len, u8 c, bool *yes)
{
	bool invert = len > 1 && (glob[1] == '!' || glob[1] == '^');
	bool found = false, first = true;
	size_t at = invert ? 2 : 1;
	int low, high;

	for (; at < len && (first || glob[at] != ']'); first = false) {
		low = bracket_byte(glob, len, &at);
		high = low;
		if (low >= 0 && at + 1 < len && glob[at] == '-' &&
		    glob[at + 1] != ']') {
			at++;
			high = bracket_byte(glob, len, &at);
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
 * What glob begins with, and stands for one byte: its length, or 0 when it is no such
 * thing. Whether byte c is meant goes to yes.
 */
static size_t element(const char *glob, size_t len, u8 c, bool *yes)
{
	switch (glob[0]) {
	case '?':
		*yes = true;
		return 1;
	case '[':
		return bracket(glob, len, c, yes);
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
 * sdp_glob_check() - is a pattern well formed?
 * @glob: the pattern, not ended by NUL
 * @len: its bytes
 * @shortest: set to the bytes of the shortest string that it can match
 *
 * Return: @len when it is; otherwise the offset of what is not: a [ that is not closed or
 * has a class or a range backwards, or a \ at the end.
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
		step = element(glob + at, len - at, 0, &ignored);
		if (!step)
			break;
		++*shortest;
	}
	return at;
}

/**
 * sdp_glob_match() - does a pattern match a whole string?
 * @glob: the pattern, not ended by NUL, one that sdp_glob_check() found well formed
 * @len: its bytes
 * @string: ended by NUL
 *
 * Takes at most @len times the length of @string steps.
 *
 * Return: true when it does.
 */
bool sdp_glob_match(const char *glob, size_t len, const char *string)
{
	const char *again = NULL;	/* where the string goes on behind the last * */
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
		step = at < len ?
			       element(glob + at, len - at, (u8)*string, &yes) :
			       0;
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
