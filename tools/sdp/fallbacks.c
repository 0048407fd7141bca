// SPDX-License-Identifier: GPL-2.0
/* sdp fallbacks: the last sockets that fell back from SDP to TCP, and why. */
#include <stdio.h>
#include <time.h>

#include "netlink.h"
#include "output.h"
#include "sdp.h"

static json_t *role_of(const struct nlattr *attr)
{
	json_t *number = sdp_attr_number(attr), *role = NULL;

	if (number)
		role = json_string(json_integer_value(number) ? "connect" : "listen");
	json_decref(number);
	return role;
}

static json_t *read_one(const struct nlattr *const *attrs)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o*}",
			 "at", sdp_attr_number(attrs[SDP_FELL_A_AT]),
			 "pid", sdp_attr_number(attrs[SDP_FELL_A_PID]),
			 "comm", sdp_attr_text(attrs[SDP_FELL_A_COMM]),
			 "role", role_of(attrs[SDP_FELL_A_ROLE]),
			 "target", sdp_attr_endpoint(attrs[SDP_FELL_A_ADDR],
						     attrs[SDP_FELL_A_PORT]),
			 "reason", sdp_attr_number(attrs[SDP_FELL_A_REASON]),
			 "text", sdp_attr_text(attrs[SDP_FELL_A_TEXT]),
			 "inode", sdp_attr_number(attrs[SDP_FELL_A_INODE]));
}

static char *moment(const json_t *fell)
{
	time_t at = json_integer_value(json_object_get(fell, "at"));
	char text[32] = "?";
	struct tm tm;

	if (localtime_r(&at, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	return sdp_text("%s", text);
}

static void print(const json_t *fallbacks)
{
	struct sdp_table table = { .columns = 5 };
	const json_t *fell;
	size_t i;

	sdp_table_row(&table, sdp_text("Time"), sdp_text("Process"), sdp_text("Role"),
		      sdp_text("Address:Port"), sdp_text("Reason"));
	json_array_foreach(fallbacks, i, fell)
		sdp_table_row(&table, moment(fell),
			      sdp_text("%s(%lld)",
				       json_string_value(json_object_get(fell, "comm")),
				       (long long)json_integer_value(json_object_get(fell, "pid"))),
			      sdp_text("%s", json_string_value(json_object_get(fell, "role"))),
			      sdp_endpoint_text(json_object_get(fell, "target")),
			      sdp_text("%s", json_string_value(json_object_get(fell, "text"))));
	sdp_table_print(&table);
}

static int run(const struct sdp_command *command, int argc, char **argv)
{
	int status = sdp_no_options(command, argc, argv, 0, "fallbacks takes no words");
	json_t *fallbacks;

	if (status >= 0)
		return status;
	status = sdp_nl_list(SDP_CMD_FALLBACK_GET, "listing the fall-backs", read_one, &fallbacks);
	if (status)
		return status;
	if (sdp_json)
		sdp_print_json(fallbacks);
	else
		print(fallbacks);
	json_decref(fallbacks);
	return SDP_FINE;
}

const struct sdp_command sdp_fallbacks_command = {
	.name = "fallbacks",
	.usage = "fallbacks",
	.help = "The last sockets of this network namespace that are TCP although a rule says\n"
		"both, the oldest first, and why. Only for root.\n",
	.run = run,
};
