/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of sdp check share. */
#ifndef SDP_TOOL_CHECK_H
#define SDP_TOOL_CHECK_H

#include <jansson.h>
#include <sys/socket.h>

#include "outlook.h"
#include "question.h"

/**
 * struct sdp_check - one check
 * @host: as on the command line
 * @port: as on the command line
 * @family: AF_INET, AF_INET6 or AF_UNSPEC
 * @timeout_ms: time limit of a connect; 0: the policy's
 * @addr: address of @host and @port
 * @len: length of @addr
 * @question: the query of the policy
 * @steps: results of the steps so far, an array of objects: step, ok, text
 * @no_tcp: a connect that is not SDP fails
 * @devices: the question is about devices, not about a connection
 * @options: number of options that are about a connection
 * @reason: of the first failed step, or ""
 * @next: what the user can do about it
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
	bool devices;
	int options;
	char reason[SDP_OUTLOOK_TEXT];
	char next[SDP_OUTLOOK_TEXT];
};

void sdp_check_step(struct sdp_check *check, const char *step, bool ok, char *text);
void sdp_check_fails(struct sdp_check *check, const char *reason, const char *next);
void sdp_check_connect(struct sdp_check *check);
int sdp_check_device(const char *name);

#endif /* SDP_TOOL_CHECK_H */
