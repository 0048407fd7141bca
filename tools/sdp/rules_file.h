/* SPDX-License-Identifier: GPL-2.0 */
/* A policy's text, read and parsed by the module's own code. */
#ifndef SDP_TOOL_RULES_FILE_H
#define SDP_TOOL_RULES_FILE_H

#include "rules.h"

/**
 * struct sdp_policy_text - a policy
 * @name: where it comes from, for messages
 * @text: the text, with a NUL behind it
 * @len: its length in bytes
 * @rules: its rules
 * @count: number of rules
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
