// SPDX-License-Identifier: GPL-2.0
/* A policy's text, from a file or from the kernel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "rules_file.h"
#include "sdp.h"

static int parse(struct sdp_policy_text *policy)
{
	struct sdp_rules_error error;

	policy->text[policy->len] = 0;
	policy->count = sdp_rules_parse(policy->text, policy->len, policy->rules,
					SDP_POLICY_RULES_MAX, &error);
	if (policy->count >= 0)
		return SDP_FINE;
	fprintf(stderr, "%s:%u:%u: error: expected %s\n", policy->name, error.line, error.column,
		error.what);
	return SDP_WRONG;
}

static int unreadable(const char *name, FILE *file)
{
	fprintf(stderr, "sdp: %s: %s\n", name, strerror(errno));
	if (file && file != stdin)
		fclose(file);
	return SDP_WRONG;
}

/**
 * sdp_policy_load() - read a policy from a file
 * @policy: to be filled in
 * @path: of the file, "-" for standard input
 *
 * Prints what is wrong, a mistake as FILE:LINE:COLUMN.
 *
 * Return: the program's status.
 */
int sdp_policy_load(struct sdp_policy_text *policy, const char *path)
{
	bool standard = !strcmp(path, "-");
	FILE *file = standard ? stdin : fopen(path, "r");

	policy->name = standard ? "standard input" : path;
	if (!file)
		return unreadable(path, NULL);
	/* One byte more than allowed, so that the parser reports a text that is too long. */
	policy->len = fread(policy->text, 1, SDP_POLICY_TEXT_MAX + 1, file);
	if (ferror(file))
		return unreadable(policy->name, file);
	if (!standard)
		fclose(file);
	return parse(policy);
}

/**
 * sdp_policy_take() - parse a policy in memory
 * @policy: to be filled in
 * @name: where it comes from
 * @text: the policy
 * @len: its length in bytes
 *
 * Return: the program's status, as of sdp_policy_load().
 */
int sdp_policy_take(struct sdp_policy_text *policy, const char *name, const char *text, size_t len)
{
	policy->name = name;
	policy->len = len < SDP_POLICY_TEXT_MAX + 1 ? len : SDP_POLICY_TEXT_MAX + 1;
	memcpy(policy->text, text, policy->len);
	return parse(policy);
}

/**
 * sdp_policy_line() - a line of a policy
 * @policy: policy
 * @line: number of an existing line, from 1
 *
 * Return: the line, for the caller to free.
 */
char *sdp_policy_line(const struct sdp_policy_text *policy, unsigned int line)
{
	const char *at = policy->text;

	while (--line)
		at = strchr(at, '\n') + 1;
	return sdp_text("%.*s", (int)strcspn(at, "\n"), at);
}
