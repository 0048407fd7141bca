// SPDX-License-Identifier: GPL-2.0
/*
 * What a socket would become now, from the kernel's answer about the policy in force.
 *
 * The checks have the module's order.
 */
#include <stdio.h>
#include <string.h>

#include "outlook.h"
#include "output.h"

static void not_sdp(struct sdp_outlook *outlook, enum sdp_outcome outcome, const char *reason,
		    const char *next)
{
	outlook->outcome = outcome;
	snprintf(outlook->reason, sizeof(outlook->reason), "%s", reason);
	snprintf(outlook->next, sizeof(outlook->next), "%s", next);
}

static void silent(struct sdp_outlook *outlook, json_int_t ms)
{
	char reason[SDP_OUTLOOK_TEXT];

	snprintf(reason, sizeof(reason),
		 "the peer recently did not answer, so not tried for %lld s more",
		 (long long)(ms + 999) / 1000);
	not_sdp(outlook, SDP_OUT_TCP, reason, "wait, or see net.sdp.fallback_memory_ms");
}

static void no_rule(struct sdp_outlook *outlook)
{
	not_sdp(outlook, SDP_OUT_TCP, "no rule matches", "add one, see sdp policy show");
	outlook->no_rule = true;
}

static void no_device(struct sdp_outlook *outlook, enum sdp_outcome outcome)
{
	not_sdp(outlook, outcome, "no RDMA device on the route", SDP_NEXT_ROUTE);
	outlook->no_device = true;
}

/**
 * sdp_outlook() - determine what a socket would become
 * @outlook: to be filled in
 * @answer: of sdp_answer_by_kernel()
 * @role: what the socket does
 */
void sdp_outlook(struct sdp_outlook *outlook, const json_t *answer, enum sdp_role role)
{
	const char *verdict = json_string_value(json_object_get(answer, "verdict"));
	json_int_t silent_ms = json_integer_value(json_object_get(answer, "silent_ms"));
	bool device = role == SDP_ROLE_LISTEN || json_object_get(answer, "device");
	bool both = !strcmp(verdict, "both");

	memset(outlook, 0, sizeof(*outlook));
	outlook->outcome = both ? SDP_OUT_BOTH : SDP_OUT_SDP;
	if (!json_is_true(json_object_get(answer, "rewrite")))
		not_sdp(outlook, SDP_OUT_TCP, "rewriting is off", "sdp policy on");
	else if (!json_object_get(answer, "line"))
		no_rule(outlook);
	else if (!strcmp(verdict, "tcp"))
		not_sdp(outlook, SDP_OUT_TCP, "the rule says so", "see sdp policy show");
	else if (both && silent_ms)
		silent(outlook, silent_ms);
	else if (!device)
		no_device(outlook, both ? SDP_OUT_TCP : SDP_OUT_NONE);
}

/**
 * sdp_outcome_name() - name of an outcome
 * @outcome: outcome
 *
 * Return: a constant string.
 */
const char *sdp_outcome_name(enum sdp_outcome outcome)
{
	static const char *const names[] = {
		[SDP_OUT_SDP]	= "sdp",
		[SDP_OUT_TCP]	= "tcp",
		[SDP_OUT_BOTH]	= "both",
		[SDP_OUT_NONE]	= "none",
	};

	return names[outcome];
}

/**
 * sdp_outlook_json() - convert an outlook to JSON
 * @outlook: outlook
 *
 * Return: an object, for the caller to release.
 */
json_t *sdp_outlook_json(const struct sdp_outlook *outlook)
{
	return sdp_need(json_pack("{s:s, s:s*, s:s*}",
				  "outcome", sdp_outcome_name(outlook->outcome),
				  "reason", *outlook->reason ? outlook->reason : NULL,
				  "next", *outlook->next ? outlook->next : NULL));
}
