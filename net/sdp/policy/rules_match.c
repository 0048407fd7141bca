// SPDX-License-Identifier: GPL-2.0
/*
 * Policy rules: search for the rule that matches a socket.
 *
 * The functions here read the array that sdp_rules_parse() filled, and the
 * text that it was parsed from. They change neither, so any number of callers
 * may search the same rules at once.
 */
#include "glob.h"
#include "rules.h"

static bool v4_mapped(const u8 addr[16])
{
	static const u8 head[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(addr, head, sizeof(head));
}

/*
 * A v4-mapped address is an IPv4 address: only a rule with an IPv4 or a
 * v4-mapped prefix matches it. [::/0], for example, does not.
 */
static bool addr_matches(const struct sdp_rule *rule, const u8 addr[16])
{
	unsigned int bytes = rule->prefix / 8, bits = rule->prefix % 8;

	if (rule->any_addr)
		return true;
	if (rule->prefix < 96 && v4_mapped(addr))
		return false;
	if (memcmp(rule->addr, addr, bytes))
		return false;
	return !bits ||
	       (u8)(rule->addr[bytes] ^ addr[bytes]) >> (8 - bits) == 0;
}

static bool pattern_matches(const struct sdp_pattern *pattern, const char *text,
			    const char *string)
{
	if (!pattern->len)
		return true;
	return string &&
	       sdp_glob_match(text + pattern->at, pattern->len, string);
}

/* The cheap conditions come first, the patterns last. */
static bool rule_matches(const struct sdp_rule *rule, const char *text,
			 const struct sdp_query *query)
{
	return (rule->roles & 1U << query->role) &&
	       query->port >= rule->port_first &&
	       query->port <= rule->port_last &&
	       query->uid >= rule->uid_first && query->uid <= rule->uid_last &&
	       addr_matches(rule, query->addr) &&
	       pattern_matches(&rule->program, text, query->comm) &&
	       pattern_matches(&rule->path, text, query->path) &&
	       pattern_matches(&rule->cgroup, text, query->cgroup);
}

/**
 * sdp_rules_match() - find the rule that decides about a socket
 * @rules: rules that sdp_rules_parse() made
 * @count: number of @rules
 * @text: text that @rules were parsed from
 * @query: the socket and its process
 *
 * Neither locks nor sleeps. A call usually takes a few steps for each rule.
 * Patterns that are built to be slow can take up to %SDP_POLICY_TEXT_MAX times
 * the length of @query->path in steps.
 *
 * Return: the first rule that matches, an element of @rules. NULL when no rule
 * matches: the socket stays TCP.
 */
const struct sdp_rule *sdp_rules_match(const struct sdp_rule *rules,
				       unsigned int count, const char *text,
				       const struct sdp_query *query)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (rule_matches(&rules[i], text, query))
			return &rules[i];
	return NULL;
}

/**
 * sdp_rules_need_path() - check whether a rule has a condition on the path
 * @rules: rules that sdp_rules_parse() made
 * @count: number of @rules
 *
 * Finding the executable's path takes a buffer and may sleep. The caller
 * avoids it when no rule has this condition.
 *
 * Return: true when at least one rule does; otherwise sdp_query.path may be
 * NULL.
 */
bool sdp_rules_need_path(const struct sdp_rule *rules, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (rules[i].path.len)
			return true;
	return false;
}

/**
 * sdp_rules_need_cgroup() - check whether a rule has a control group condition
 * @rules: rules that sdp_rules_parse() made
 * @count: number of @rules
 *
 * Return: true when at least one rule does; otherwise sdp_query.cgroup may be
 * NULL.
 */
bool sdp_rules_need_cgroup(const struct sdp_rule *rules, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (rules[i].cgroup.len)
			return true;
	return false;
}

/**
 * sdp_verdict_name() - name of a verdict, as it is written in rules
 * @verdict: &enum sdp_verdict
 *
 * Return: a constant string.
 */
const char *sdp_verdict_name(enum sdp_verdict verdict)
{
	static const char * const names[SDP_VERDICTS] = {
		[SDP_VERDICT_TCP]	= "tcp",
		[SDP_VERDICT_SDP]	= "sdp",
		[SDP_VERDICT_BOTH]	= "both",
	};

	return verdict < SDP_VERDICTS ? names[verdict] : "unknown";
}
