/* SPDX-License-Identifier: GPL-2.0 */
/* The policy in force, for other commands. */
#ifndef SDP_TOOL_POLICY_H
#define SDP_TOOL_POLICY_H

#include "netlink.h"
#include "sdp.h"

int sdp_policy_get(struct sdp_nl *nl, json_t **answer);
int sdp_explain(const struct sdp_command *command, int argc, char **argv);

#endif /* SDP_TOOL_POLICY_H */
