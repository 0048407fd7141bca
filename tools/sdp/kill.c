// SPDX-License-Identifier: GPL-2.0
/* sdp kill: ends a connection, as ss -K does. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netlink.h"
#include "output.h"
#include "sdp.h"

/* One end of a connection. */
struct end {
	unsigned char addr[16];
	size_t len;
	uint16_t port;
};

/* Parses ADDRESS:PORT or [ADDRESS]:PORT, numeric only, as sdp list prints them. */
static bool read_end(const char *text, struct end *end)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 1] = "";
	unsigned long port;
	size_t len;

	if (!colon || !sdp_number(colon + 1, 65535, &port))
		return false;
	len = (size_t)(colon - text);
	if (len > 1 && text[0] == '[' && colon[-1] == ']') {
		text++;
		len -= 2;
	}
	if (len >= sizeof(host))
		return false;
	memcpy(host, text, len);
	end->port = (uint16_t)port;
	/* The interface of a link-local address is ignored. */
	host[strcspn(host, "%")] = 0;
	end->len = strchr(host, ':') ? 16 : 4;
	return inet_pton(end->len == 16 ? AF_INET6 : AF_INET, host, end->addr) == 1;
}

static int kill_it(const char *local, const char *peer, const struct end *ends)
{
	struct nlmsghdr *request;
	struct sdp_nl *nl;
	int status = sdp_nl_open(&nl), error;

	if (status)
		return status;
	request = sdp_nl_request(nl, SDP_CMD_SOCK_KILL);
	mnl_attr_put(request, SDP_SOCK_A_LOCAL, ends[0].len, ends[0].addr);
	mnl_attr_put_u16(request, SDP_SOCK_A_LOCAL_PORT, ends[0].port);
	mnl_attr_put(request, SDP_SOCK_A_PEER, ends[1].len, ends[1].addr);
	mnl_attr_put_u16(request, SDP_SOCK_A_PEER_PORT, ends[1].port);
	error = sdp_nl_do(nl, request, NULL, NULL);
	if (error == -ENOENT) {
		fprintf(stderr, "sdp: no connection of %s to %s\n", local, peer);
		status = SDP_WRONG;
	} else if (error) {
		status = sdp_nl_refused(nl, error, "ending the connection");
	}
	sdp_nl_close(nl);
	if (!status && sdp_json) {
		json_t *said = sdp_need(json_pack("{s:s, s:s}", "local", local, "peer", peer));

		sdp_print_json(said);
		json_decref(said);
	}
	return status;
}

static int run(const struct sdp_command *command, int argc, char **argv)
{
	int status = sdp_no_options(command, argc, argv, 2, "kill takes two ends");
	struct end ends[2];
	int i;

	if (status != -1)
		return status;
	for (i = 0; i < 2; i++) {
		if (read_end(argv[optind + i], &ends[i]))
			continue;
		fprintf(stderr, "sdp: not an address and port: %s\n", argv[optind + i]);
		return sdp_usage(command, NULL);
	}
	return kill_it(argv[optind], argv[optind + 1], ends);
}

const struct sdp_command sdp_kill_command = {
	.name = "kill",
	.usage = "kill ADDRESS:PORT ADDRESS:PORT",
	.help = "Ends the connection whose own end is the first and whose peer the second,\n"
		"as list prints them. Its program is told ECONNABORTED, its peer sees a reset.\n",
	.run = run,
};
