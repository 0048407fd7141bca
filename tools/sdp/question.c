// SPDX-License-Identifier: GPL-2.0
/*
 * Queries of a policy: built from words, and answered by a text or by the kernel.
 *
 * An answer is an object: verdict; line and rule when one matched; the kernel's answer also has
 * rewrite, silent_ms and device, as described for enum sdp_explain_attr.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "question.h"
#include "sdp.h"

/**
 * sdp_question_program() - set the program that owns the socket
 * @question: question
 * @name: a command name, or the path of an executable
 */
void sdp_question_program(struct sdp_question *question, const char *name)
{
	const char *slash = strrchr(name, '/');

	if (slash)
		question->query.path = name;
	snprintf(question->comm, sizeof(question->comm), "%s", slash ? slash + 1 : name);
	question->query.comm = question->comm;
}

/**
 * sdp_question_role() - set what the socket does
 * @question: question
 * @word: listen or connect
 *
 * Return: an error message, or NULL.
 */
const char *sdp_question_role(struct sdp_question *question, const char *word)
{
	if (!strcmp(word, "listen"))
		question->query.role = SDP_ROLE_LISTEN;
	else if (!strcmp(word, "connect"))
		question->query.role = SDP_ROLE_CONNECT;
	else
		return "a socket can listen or connect";
	return NULL;
}

/* An IPv4 address is v4-mapped in a query. */
static bool address(const char *text, size_t len, int family, u8 *addr)
{
	char copy[INET6_ADDRSTRLEN];

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	if (family == AF_INET6)
		return inet_pton(family, copy, addr) == 1;
	addr[10] = 0xff;
	addr[11] = 0xff;
	return inet_pton(family, copy, addr + 12) == 1;
}

/**
 * sdp_question_target() - set where the socket listens or connects to
 * @question: question
 * @word: ADDRESS:PORT, or [ADDRESS]:PORT for IPv6
 *
 * Return: an error message, or NULL.
 */
const char *sdp_question_target(struct sdp_question *question, const char *word)
{
	static const char wrong[] = "the target is 10.9.0.1:80 or [fd00::1]:80";
	const char *colon = strrchr(word, ':');
	unsigned long port;
	size_t len;
	bool fine;

	if (!colon || !sdp_number(colon + 1, 65535, &port) || !port)
		return wrong;
	question->query.port = (u16)port;
	len = (size_t)(colon - word);
	if (len >= 2 && word[0] == '[' && word[len - 1] == ']')
		fine = address(word + 1, len - 2, AF_INET6, question->query.addr);
	else
		fine = address(word, len, AF_INET, question->query.addr);
	return fine ? NULL : wrong;
}

/**
 * sdp_question_uid() - set the user
 * @question: question
 * @word: the number of a user
 *
 * Return: an error message, or NULL.
 */
const char *sdp_question_uid(struct sdp_question *question, const char *word)
{
	unsigned long uid;

	if (!sdp_number(word, UINT32_MAX - 1UL, &uid))
		return "--uid takes the number of a user";
	question->query.uid = (u32)uid;
	question->has_uid = true;
	return NULL;
}

/**
 * sdp_question_rule() - find the rule of a text that decides
 * @question: question
 * @policy: the text
 *
 * Return: one of its rules, or NULL when none matches.
 */
const struct sdp_rule *sdp_question_rule(const struct sdp_question *question,
					 const struct sdp_policy_text *policy)
{
	struct sdp_query query = question->query;

	if (!question->has_uid)
		query.uid = geteuid();
	return sdp_rules_match(policy->rules, (unsigned int)policy->count, policy->text, &query);
}

/**
 * sdp_answer_by_text() - answer a question by a text
 * @policy: the text
 * @question: question
 *
 * Return: the answer, for the caller to release.
 */
json_t *sdp_answer_by_text(const struct sdp_policy_text *policy,
			   const struct sdp_question *question)
{
	const struct sdp_rule *rule = sdp_question_rule(question, policy);
	json_t *answer;
	char *line;

	if (!rule)
		return sdp_need(json_pack("{s:s}", "verdict", sdp_verdict_name(SDP_VERDICT_TCP)));
	line = sdp_policy_line(policy, rule->line);
	answer = json_pack("{s:s, s:i, s:s}", "verdict",
			   sdp_verdict_name((enum sdp_verdict)rule->verdict),
			   "line", rule->line, "rule", line);
	free(line);
	return sdp_need(answer);
}

static json_t *read_answer(const struct nlattr *const *attrs)
{
	return json_pack("{s:o, s:o*, s:o*, s:o, s:o*, s:o*}",
			 "verdict", sdp_attr_text(attrs[SDP_EXPLAIN_A_VERDICT]),
			 "line", sdp_attr_number(attrs[SDP_EXPLAIN_A_LINE]),
			 "rule", sdp_attr_policy(attrs[SDP_EXPLAIN_A_RULE]),
			 "rewrite", sdp_attr_bool(attrs[SDP_EXPLAIN_A_REWRITE]),
			 "silent_ms", sdp_attr_number(attrs[SDP_EXPLAIN_A_SILENT_MS]),
			 "device", sdp_attr_text(attrs[SDP_EXPLAIN_A_DEVICE]));
}

static bool v4_mapped(const u8 *addr)
{
	static const u8 prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(addr, prefix, sizeof(prefix));
}

/* NULL is left out. Room remains for the attributes that are short. */
static bool put_string(struct nlmsghdr *request, uint16_t type, const char *text)
{
	return !text || mnl_attr_put_strz_check(request, SDP_NL_ROOM - 64, type, text);
}

/**
 * sdp_answer_by_kernel() - answer a question by the policy in force and the current state
 * @nl: from sdp_nl_open()
 * @question: question
 * @answer: the answer, for the caller to release
 *
 * Return: 0 or a negative errno.
 */
int sdp_answer_by_kernel(struct sdp_nl *nl, const struct sdp_question *question, json_t **answer)
{
	struct nlmsghdr *request = sdp_nl_request(nl, SDP_CMD_POLICY_EXPLAIN);
	const struct sdp_query *query = &question->query;
	size_t skip = v4_mapped(query->addr) ? 12 : 0;

	mnl_attr_put_u8(request, SDP_EXPLAIN_A_ROLE, query->role == SDP_ROLE_CONNECT);
	mnl_attr_put(request, SDP_EXPLAIN_A_ADDR, sizeof(query->addr) - skip, query->addr + skip);
	mnl_attr_put_u16(request, SDP_EXPLAIN_A_PORT, query->port);
	if (!put_string(request, SDP_EXPLAIN_A_COMM, query->comm) ||
	    !put_string(request, SDP_EXPLAIN_A_PATH, query->path) ||
	    !put_string(request, SDP_EXPLAIN_A_CGROUP, query->cgroup))
		return -ENAMETOOLONG;
	if (question->has_uid)
		mnl_attr_put_u32(request, SDP_EXPLAIN_A_UID, query->uid);
	if (question->scope)
		mnl_attr_put_u32(request, SDP_EXPLAIN_A_SCOPE, question->scope);
	return sdp_nl_do(nl, request, read_answer, answer);
}
