/* SPDX-License-Identifier: GPL-2.0 */
/* What a socket would become if it was made now, and why. */
#ifndef SDP_TOOL_OUTLOOK_H
#define SDP_TOOL_OUTLOOK_H

#include <jansson.h>

#include "rules.h"

/**
 * enum sdp_outcome - what a socket becomes
 * @SDP_OUT_SDP: SDP
 * @SDP_OUT_TCP: TCP
 * @SDP_OUT_BOTH: a connect tries SDP, then TCP; a listener listens by both
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
 * struct sdp_outlook - what a socket becomes, and why
 * @outcome: what it becomes
 * @reason: why it is not SDP, or ""
 * @next: what the user can do about that, or ""
 * @no_rule: the reason is that no rule matches
 * @no_device: the reason is not the policy but a missing device
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
