/* SPDX-License-Identifier: GPL-2.0 */
/* Queries of a policy: a program, what its socket does, and where. */
#ifndef SDP_TOOL_QUESTION_H
#define SDP_TOOL_QUESTION_H

#include <jansson.h>
#include <stdbool.h>

#include "netlink.h"
#include "rules_file.h"

#define SDP_COMM_LEN	16	/* as in the kernel, with the NUL */

/**
 * struct sdp_question - a query
 * @query: for the rules; its strings are those of the command line, or @comm
 * @comm: the command name
 * @has_uid: the user was given; otherwise it is the caller
 * @scope: interface of a link-local address, or 0
 */
struct sdp_question {
	struct sdp_query query;
	char comm[SDP_COMM_LEN];
	bool has_uid;
	uint32_t scope;
};

void sdp_question_program(struct sdp_question *question, const char *name);
const char *sdp_question_role(struct sdp_question *question, const char *word);
const char *sdp_question_target(struct sdp_question *question, const char *word);
const char *sdp_question_uid(struct sdp_question *question, const char *word);

const struct sdp_rule *sdp_question_rule(const struct sdp_question *question,
					 const struct sdp_policy_text *policy);
json_t *sdp_answer_by_text(const struct sdp_policy_text *policy,
			   const struct sdp_question *question);
int sdp_answer_by_kernel(struct sdp_nl *nl, const struct sdp_question *question, json_t **answer);

#endif /* SDP_TOOL_QUESTION_H */
