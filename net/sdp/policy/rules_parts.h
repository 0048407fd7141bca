/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules parser: cursor and error reporting that its two files share.
 *
 * Functions that consume text at the cursor return true on success. On failure
 * they call sdp_rules_fail(), which records the offset and what was expected
 * there, and return false. The parser then gives up at once, so the record
 * always describes the first mistake.
 */
#ifndef SDP_POLICY_RULES_PARTS_H
#define SDP_POLICY_RULES_PARTS_H

#include "rules.h"

/**
 * struct sdp_rules_cursor - state of the parser
 * @text: the policy's text
 * @len: length of @text in bytes
 * @word: offset of the current word
 * @at: offset of the next byte to read
 * @stop: offset of the first byte after the current word
 * @wrong: offset of the mistake; valid when @what is set
 * @what: what was expected at @wrong, or NULL while there is no mistake
 */
struct sdp_rules_cursor {
	const char *text;
	size_t len;
	size_t word;
	size_t at;
	size_t stop;
	size_t wrong;
	const char *what;
};

/**
 * sdp_rules_fail() - record a mistake in the text
 * @c: cursor
 * @wrong: offset of the mistake
 * @what: constant string that says what was expected there
 *
 * Return: false, so that the caller can return this call's result.
 */
static inline bool sdp_rules_fail(struct sdp_rules_cursor *c, size_t wrong,
				  const char *what)
{
	c->wrong = wrong;
	c->what = what;
	return false;
}

bool sdp_rules_range(struct sdp_rules_cursor *c, u32 least, u32 most,
		     u32 *first, u32 *last, const char *what);
bool sdp_rules_target(struct sdp_rules_cursor *c, struct sdp_rule *rule);

#endif /* SDP_POLICY_RULES_PARTS_H */
