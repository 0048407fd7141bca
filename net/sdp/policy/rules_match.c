// SPDX-License-Identifier: GPL-2.0
/*
 * Asking the rules: which of them decides about a socket, and what has to be known for it.
 */
#include "glob.h"
#include "rules.h"

static bool v4_mapped(const u8 addr[16])
{
	static const u8 head[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(addr, head, sizeof(head));
}

/*
 * An IPv4 address is also one of IPv6's v4-mapped, but only a rule that says so is for it:
 * a rule for [::/0] is not for IPv4.
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

/* What is quick to say goes first. */
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
 * sdp_rules_match() - the rule that decides about a socket
 * @rules: what sdp_rules_parse() made
 * @count: how many they are
 * @text: the text they were made from
 * @query: the socket, and whose it is
 *
 * Neither locks nor sleeps. With patterns that are made to be slow it takes up to
 * %SDP_POLICY_TEXT_MAX times the length of @query->path steps; usually a few for each rule.
 *
 * Return: the first rule that matches, which belongs to @rules; NULL when none does, and
 * then the socket is TCP.
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
 * sdp_rules_need_path() - does a rule ask for the executable's path?
 * @rules: what sdp_rules_parse() made
 * @count: how many they are
 *
 * To look a path up takes a buffer and may sleep; without such a rule it can be left NULL.
 *
 * Return: true when one does.
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
 * sdp_rules_need_cgroup() - does a rule ask for the control group?
 * @rules: what sdp_rules_parse() made
 * @count: how many they are
 *
 * Return: true when one does; otherwise it can be left NULL.
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
 * sdp_verdict_name() - a verdict as the rules write it
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
