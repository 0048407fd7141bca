/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of sdp check share.
 */
#ifndef SDP_TOOL_CHECK_H
#define SDP_TOOL_CHECK_H

#include <jansson.h>
#include <sys/socket.h>

#include "outlook.h"
#include "question.h"

/**
 * struct sdp_check - one check
 * @host: as on the command line
 * @port: likewise
 * @family: AF_INET, AF_INET6 or any
 * @timeout_ms: how long a connect may take; 0 for as long as the policy gives it
 * @addr: what @host and @port mean
 * @len: length of @addr
 * @question: the policy is asked
 * @steps: what was looked at so far, an array of objects: step, ok, text
 * @no_tcp: if it is not SDP the call fails
 * @reason: of the first step that failed, or ""
 * @next: what to do about it
 */
struct sdp_check {
	const char *host;
	const char *port;
	int family;
	int timeout_ms;
	struct sockaddr_storage addr;
	socklen_t len;
	struct sdp_question question;
	json_t *steps;
	bool no_tcp;
	char reason[SDP_OUTLOOK_TEXT];
	char next[SDP_OUTLOOK_TEXT];
};

void sdp_check_step(struct sdp_check *check, const char *step, bool ok, char *text);
void sdp_check_fails(struct sdp_check *check, const char *reason, const char *next);
void sdp_check_connect(struct sdp_check *check);

#endif /* SDP_TOOL_CHECK_H */
