// SPDX-License-Identifier: GPL-2.0
/* sdp list: the sockets, in the format of ss(8). */
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "netlink.h"
#include "output.h"
#include "sdp.h"
#include "users.h"

static struct {
	bool listening;
	bool all;
	bool users;
	bool info;
} want;

static const char *state_name(json_int_t state)
{
	static const char *const names[] = {
		[TCP_ESTABLISHED]	= "ESTAB",
		[TCP_SYN_SENT]		= "SYN-SENT",
		[TCP_SYN_RECV]		= "SYN-RECV",
		[TCP_FIN_WAIT1]		= "FIN-WAIT-1",
		[TCP_FIN_WAIT2]		= "FIN-WAIT-2",
		[TCP_TIME_WAIT]		= "TIME-WAIT",
		[TCP_CLOSE]		= "UNCONN",
		[TCP_CLOSE_WAIT]	= "CLOSE-WAIT",
		[TCP_LAST_ACK]		= "LAST-ACK",
		[TCP_LISTEN]		= "LISTEN",
		[TCP_CLOSING]		= "CLOSING",
	};

	if (state < 0 || (size_t)state >= sizeof(names) / sizeof(names[0]) || !names[state])
		return "UNKNOWN";
	return names[state];
}

static json_t *info_of(const struct nlattr *attr)
{
	if (!want.info || !attr)
		return NULL;
	return sdp_info_json(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
}

static const char *rail_state_name(json_int_t state)
{
	static const char *const names[] = {
		[SDP_NL_RAIL_JOINING]	= "joining",
		[SDP_NL_RAIL_ACTIVE]	= "active",
		[SDP_NL_RAIL_SUSPECT]	= "suspect",
	};

	if (state < 0 || (size_t)state >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[state];
}

static json_t *read_rail(const struct nlattr *const *attrs)
{
	json_t *state = sdp_attr_number(attrs[SDP_RAIL_A_STATE]);
	const char *name = rail_state_name(json_integer_value(state));

	json_decref(state);
	return json_pack("{s:o, s:s, s:o*, s:o*, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "rail", sdp_attr_number(attrs[SDP_RAIL_A_NUMBER]), "state", name,
			 "local", sdp_attr_address(attrs[SDP_RAIL_A_LOCAL]),
			 "peer", sdp_attr_address(attrs[SDP_RAIL_A_PEER]),
			 "device", sdp_attr_text(attrs[SDP_RAIL_A_DEVICE]),
			 "bytes_sent", sdp_attr_number(attrs[SDP_RAIL_A_BYTES_SENT]),
			 "bytes_received", sdp_attr_number(attrs[SDP_RAIL_A_BYTES_RECEIVED]),
			 "pending", sdp_attr_number(attrs[SDP_RAIL_A_PENDING]),
			 "speed", sdp_attr_number(attrs[SDP_RAIL_A_SPEED]),
			 "srtt", sdp_attr_number(attrs[SDP_RAIL_A_SRTT]));
}

static json_t *rails_of(const struct nlattr *attr)
{
	return want.info ? sdp_attr_list(attr, SDP_RAILS_A_RAIL, read_rail) : NULL;
}

static json_t *read_socket(const struct nlattr *const *attrs)
{
	json_t *state = sdp_attr_number(attrs[SDP_SOCK_A_STATE]);
	const char *name = state_name(json_integer_value(state));

	json_decref(state);
	return json_pack("{s:s, s:o, s:o, s:o, s:o*, s:o*, s:o, s:o, s:o*, s:o*}", "state", name,
			 "recv_q", sdp_attr_number(attrs[SDP_SOCK_A_RX_QUEUE]),
			 "send_q", sdp_attr_number(attrs[SDP_SOCK_A_TX_QUEUE]),
			 "local", sdp_attr_endpoint(attrs[SDP_SOCK_A_LOCAL],
						    attrs[SDP_SOCK_A_LOCAL_PORT]),
			 "peer", sdp_attr_endpoint(attrs[SDP_SOCK_A_PEER],
						   attrs[SDP_SOCK_A_PEER_PORT]),
			 "device", sdp_attr_text(attrs[SDP_SOCK_A_DEVICE]),
			 "uid", sdp_attr_number(attrs[SDP_SOCK_A_UID]),
			 "inode", sdp_attr_number(attrs[SDP_SOCK_A_INODE]),
			 "info", info_of(attrs[SDP_SOCK_A_INFO]),
			 "rails", rails_of(attrs[SDP_SOCK_A_RAILS]));
}

static bool wanted(const json_t *socket)
{
	const char *state = json_string_value(json_object_get(socket, "state"));
	bool listens = !strcmp(state, "LISTEN");

	if (want.all)
		return true;
	return want.listening ? listens : !listens && strcmp(state, "UNCONN");
}

static void filter(json_t *sockets)
{
	size_t i = 0, kept = 0;
	json_t *socket;

	json_array_foreach(sockets, i, socket)
		if (wanted(socket))
			json_array_set(sockets, kept++, socket);
	while (json_array_size(sockets) > kept)
		json_array_remove(sockets, json_array_size(sockets) - 1);
}

static char *queue(const json_t *socket, const char *name)
{
	return sdp_text("%lld", (long long)json_integer_value(json_object_get(socket, name)));
}

/* A socket without a connection has no peer: printed as ss does. */
static char *peer_text(const json_t *peer)
{
	if (!json_integer_value(json_object_get(peer, "port")))
		return sdp_text("*:*");
	return sdp_endpoint_text(peer);
}

static long long number(const json_t *rail, const char *name)
{
	return json_integer_value(json_object_get(rail, name));
}

static const char *text(const json_t *rail, const char *name)
{
	return json_string_value(json_object_get(rail, name)) ?: "-";
}

static char *rail_text(const json_t *rail)
{
	return sdp_text("    rail %lld: %s, %s, %s to %s, out %lld bytes, in %lld, pending %lld,"
			" %lld kB/s, %lld us", number(rail, "rail"), text(rail, "state"),
			text(rail, "device"), text(rail, "local"), text(rail, "peer"),
			number(rail, "bytes_sent"), number(rail, "bytes_received"),
			number(rail, "pending"), number(rail, "speed"), number(rail, "srtt"));
}

static void add_row(struct sdp_table *table, const json_t *socket)
{
	const char *device = json_string_value(json_object_get(socket, "device"));
	const json_t *info = json_object_get(socket, "info"), *rail;
	size_t i;

	sdp_table_row(table, sdp_text("%s", json_string_value(json_object_get(socket, "state"))),
		      queue(socket, "recv_q"), queue(socket, "send_q"),
		      sdp_endpoint_text(json_object_get(socket, "local")),
		      peer_text(json_object_get(socket, "peer")),
		      sdp_text("%s", device ?: "-"), sdp_users_text(socket));
	if (info)
		sdp_table_across(table, sdp_info_text(info));
	json_array_foreach(json_object_get(socket, "rails"), i, rail)
		sdp_table_across(table, rail_text(rail));
}

static void print(const json_t *sockets)
{
	struct sdp_table table = { .columns = 7, .right = 1u << 1 | 1u << 2 };
	const json_t *socket;
	size_t i;

	sdp_table_row(&table, sdp_text("State"), sdp_text("Recv-Q"), sdp_text("Send-Q"),
		      sdp_text("Local Address:Port"), sdp_text("Peer Address:Port"),
		      sdp_text("Device"), sdp_text("%s", want.users ? "Process" : ""));
	json_array_foreach(sockets, i, socket)
		add_row(&table, socket);
	sdp_table_print(&table);
}

static int list(void)
{
	json_t *sockets;
	int status = sdp_nl_list(SDP_CMD_SOCK_GET, "listing the sockets", read_socket, &sockets);

	if (status)
		return status;
	filter(sockets);
	if (want.users)
		sdp_users_add(sockets);
	if (sdp_json)
		sdp_print_json(sockets);
	else
		print(sockets);
	json_decref(sockets);
	return SDP_FINE;
}

static const struct option longs[] = {
	{ "listening", no_argument, NULL, 'l' },
	{ "all", no_argument, NULL, 'a' },
	{ "numeric", no_argument, NULL, 'n' },
	{ "processes", no_argument, NULL, 'p' },
	{ "info", no_argument, NULL, 'i' },
	SDP_COMMON_OPTIONS
};

static int run(const struct sdp_command *command, int argc, char **argv)
{
	int found;

	while ((found = sdp_option(argc, argv, ":hjlanpi", longs)) != -1) {
		if (found == 'l')
			want.listening = true;
		else if (found == 'a')
			want.all = true;
		else if (found == 'p')
			want.users = true;
		else if (found == 'i')
			want.info = true;
		else if (found != 'n')
			return sdp_help_or_usage(command, found);
	}
	if (optind < argc)
		return sdp_usage(command, "list takes no words");
	return list();
}

const struct sdp_command sdp_list_command = {
	.name = "list",
	.usage = "list [-l|-a] [-n] [-p] [-i]",
	.help = "The SDP sockets of this network namespace: connections, and with\n"
		"-l, --listening  only those that listen\n"
		"-a, --all        both, and those that are neither\n"
		"-n, --numeric    no names for hosts and ports, as always\n"
		"-p, --processes  who has them; other users' processes are seen by root\n"
		"-i, --info       modes, credit, buffers, bytes by the path that they took\n",
	.run = run,
};
