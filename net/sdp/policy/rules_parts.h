/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the rules' parser share: the place in the text, and the first mistake.
 *
 * Everything that takes something from the text returns whether it was there; when it was
 * not, the cursor knows where and what was expected, and the text is given up.
 */
#ifndef SDP_POLICY_RULES_PARTS_H
#define SDP_POLICY_RULES_PARTS_H

#include "rules.h"

/**
 * struct sdp_rules_cursor - where the parser is
 * @text: the policy
 * @len: its bytes
 * @word: where the present word begins
 * @at: the next byte to look at
 * @stop: end of the present word
 * @wrong: offset of the mistake
 * @what: what was expected there, or NULL as long as there is none
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
 * sdp_rules_fail() - that is a mistake
 * @c: the cursor
 * @wrong: its offset
 * @what: a constant string: what was expected there
 *
 * Return: false, for the caller to return.
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
