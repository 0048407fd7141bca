// SPDX-License-Identifier: GPL-2.0
/*
 * The last step of sdp check: a connection by SDP or, if that fails, by TCP.
 *
 * The connection by TCP distinguishes a host that is down from one without SDP.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "output.h"
#include "probe.h"

/* The same reasons as in the kernel's list of fallbacks, and who can change them. */
static const char *reason_of(int error)
{
	switch (error) {
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENODEV:
	case ENETDOWN:
		return "no RDMA device on the route";
	case ECONNREFUSED:
		return "the peer has no SDP listener";
	case ETIMEDOUT:
		return "no answer in time";
	case ENOMEM:
	case ENOBUFS:
	case ENOSPC:
		return "no memory or queue pair";
	case EADDRNOTAVAIL:
		return "no port is free";
	case EAFNOSUPPORT:
		return "AF_SDP is not there";
	default:
		return strerror(error);
	}
}

static const char *next_of(int error, int tcp_error)
{
	switch (error) {
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENODEV:
	case ENETDOWN:
		return SDP_NEXT_ROUTE;
	case ECONNREFUSED:
		return tcp_error == ECONNREFUSED ? "start the server" :
		       "on that host: has its policy a rule with listen for the port, and was the"
		       " server started after it? sdp list -l there";
	case ETIMEDOUT:
		return tcp_error == ETIMEDOUT || tcp_error == EHOSTUNREACH ?
		       "is the host there? By TCP there is no answer either" :
		       "has that host an RDMA device on the way, and do firewalls let RDMA through"
		       " (RoCE: UDP port 4791)? Or its backlog is full";
	case ENOMEM:
	case ENOBUFS:
	case ENOSPC:
		return "see rdma resource";
	default:
		return "see sdp stat, and the tracepoint sdp_error";
	}
}

static void try_tcp(struct sdp_check *check, int ms, struct sdp_probe *tcp)
{
	sdp_probe_tcp(tcp, (struct sockaddr *)&check->addr, check->len, ms);
	if (tcp->error)
		sdp_check_step(check, "tcp", false, sdp_text("%s", strerror(tcp->error)));
	else
		sdp_check_step(check, "tcp", true, sdp_text("answered after %ld ms", tcp->ms));
}

/**
 * sdp_check_connect() - make a real connection
 * @check: check, with address and time limit
 */
void sdp_check_connect(struct sdp_check *check)
{
	struct sdp_probe sdp, tcp;

	sdp_probe_sdp(&sdp, (struct sockaddr *)&check->addr, check->len, check->timeout_ms);
	if (!sdp.error) {
		sdp_check_step(check, "sdp", true,
			       sdp_text("answered after %ld ms, by %s", sdp.ms,
					*sdp.info.device ? sdp.info.device : "?"));
		return;
	}
	sdp_check_step(check, "sdp", false, sdp_text("%s (%s)", reason_of(sdp.error),
						     strerror(sdp.error)));
	try_tcp(check, check->timeout_ms, &tcp);
	sdp_check_fails(check, reason_of(sdp.error), next_of(sdp.error, tcp.error));
}
