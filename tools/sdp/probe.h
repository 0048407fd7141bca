/* SPDX-License-Identifier: GPL-2.0 */
/* Connections made to see whether they can be made, and closed at once. */
#ifndef SDP_TOOL_PROBE_H
#define SDP_TOOL_PROBE_H

#include <linux/sdp.h>
#include <stdbool.h>
#include <sys/socket.h>

/**
 * struct sdp_probe - result of a connection attempt
 * @error: 0, or a positive errno; ETIMEDOUT after the time limit
 * @ms: how long it took
 * @info: of an SDP connection
 */
struct sdp_probe {
	int error;
	long ms;
	struct sdp_info info;
};

void sdp_probe_sdp(struct sdp_probe *probe, const struct sockaddr *to, socklen_t len, int ms);
void sdp_probe_tcp(struct sdp_probe *probe, const struct sockaddr *to, socklen_t len, int ms);

#endif /* SDP_TOOL_PROBE_H */
