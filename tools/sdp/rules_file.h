/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A policy's text, read and understood by the module's own code.
 */
#ifndef SDP_TOOL_RULES_FILE_H
#define SDP_TOOL_RULES_FILE_H

#include "rules.h"

/**
 * struct sdp_policy_text - a policy
 * @name: as the user knows where it comes from
 * @text: it, with a NUL behind it
 * @len: its bytes
 * @rules: what is in it
 * @count: how many
 */
struct sdp_policy_text {
	const char *name;
	char text[SDP_POLICY_TEXT_MAX + 2];
	size_t len;
	struct sdp_rule rules[SDP_POLICY_RULES_MAX];
	int count;
};

int sdp_policy_load(struct sdp_policy_text *policy, const char *path);
int sdp_policy_take(struct sdp_policy_text *policy, const char *name, const char *text, size_t len);
char *sdp_policy_line(const struct sdp_policy_text *policy, unsigned int line);

#endif /* SDP_TOOL_RULES_FILE_H */
