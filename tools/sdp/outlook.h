/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What would become of a socket now, if it was made, and why.
 */
#ifndef SDP_TOOL_OUTLOOK_H
#define SDP_TOOL_OUTLOOK_H

#include <jansson.h>

#include "rules.h"

/**
 * enum sdp_outcome - what a socket becomes
 * @SDP_OUT_SDP: SDP
 * @SDP_OUT_TCP: TCP
 * @SDP_OUT_BOTH: it is tried: SDP, or TCP if that does not work; or it listens by both
 * @SDP_OUT_NONE: neither, the call fails
 */
enum sdp_outcome {
	SDP_OUT_SDP,
	SDP_OUT_TCP,
	SDP_OUT_BOTH,
	SDP_OUT_NONE,
};

#define SDP_OUTLOOK_TEXT	200

/**
 * struct sdp_outlook - the outlook
 * @outcome: what it becomes
 * @reason: why it is not SDP, or ""
 * @next: what to do about that, or ""
 * @no_rule: the reason is that no rule matches
 * @no_device: it is not the policy that is the reason, but that there is no device
 */
struct sdp_outlook {
	enum sdp_outcome outcome;
	char reason[SDP_OUTLOOK_TEXT];
	char next[SDP_OUTLOOK_TEXT];
	bool no_rule;
	bool no_device;
};

void sdp_outlook(struct sdp_outlook *outlook, const json_t *answer, enum sdp_role role);
const char *sdp_outcome_name(enum sdp_outcome outcome);
json_t *sdp_outlook_json(const struct sdp_outlook *outlook);

#define SDP_NEXT_ROUTE	"see rdma link, and ip route get with the address"

#endif /* SDP_TOOL_OUTLOOK_H */
