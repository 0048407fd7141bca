// SPDX-License-Identifier: GPL-2.0
/* sdp stat: the counters of /proc/net/sdpstat, or their growth within some seconds. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "netlink.h"
#include "output.h"
#include "sdp.h"

#define SECONDS_MAX	86400

static json_t *read_counter(const struct nlattr *const *attrs)
{
	return json_pack("{s:o, s:o}", "name", sdp_attr_text(attrs[SDP_STAT_A_NAME]),
			 "value", sdp_attr_number(attrs[SDP_STAT_A_VALUE]));
}

static int read_counters(struct sdp_nl *nl, json_t **counters)
{
	int error = sdp_nl_dump(nl, SDP_CMD_STAT_GET, read_counter, counters);

	return error ? sdp_nl_refused(nl, error, "reading the counters") : SDP_FINE;
}

static json_int_t value_of(const json_t *counter)
{
	return json_integer_value(json_object_get(counter, "value"));
}

/* Both lists come from one kernel, in the same order. */
static void subtract(json_t *counters, const json_t *before)
{
	json_t *counter;
	size_t i;

	json_array_foreach(counters, i, counter)
		json_object_set_new(counter, "value",
				    json_integer(value_of(counter) -
						 value_of(json_array_get(before, i))));
}

/* One object with the counters' names as keys. */
static json_t *named(const json_t *counters, bool all)
{
	json_t *object = sdp_need(json_object());
	const json_t *counter;
	size_t i;

	json_array_foreach(counters, i, counter)
		if (all || value_of(counter))
			json_object_set(object,
					json_string_value(json_object_get(counter, "name")),
					json_object_get(counter, "value"));
	return object;
}

static void print(json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value)
		printf("%-24s %lld\n", name, (long long)json_integer_value(value));
}

static void print_counters(const json_t *counters, bool all)
{
	json_t *object = named(counters, all);

	if (sdp_json)
		sdp_print_json(object);
	else
		print(object);
	json_decref(object);
}

static int count(struct sdp_nl *nl, bool all, unsigned long seconds)
{
	struct timespec wait = { .tv_sec = (time_t)seconds };
	json_t *before = NULL, *counters;
	int status = seconds ? read_counters(nl, &before) : SDP_FINE;

	if (status)
		return status;
	nanosleep(&wait, NULL);
	status = read_counters(nl, &counters);
	if (!status) {
		if (before)
			subtract(counters, before);
		print_counters(counters, all);
		json_decref(counters);
	}
	json_decref(before);
	return status;
}

static const struct option longs[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "within", required_argument, NULL, 'w' },
	SDP_COMMON_OPTIONS
};

static int run(const struct sdp_command *command, int argc, char **argv)
{
	unsigned long seconds = 0;
	struct sdp_nl *nl;
	bool all = false;
	int found, status;

	while ((found = sdp_option(argc, argv, ":hjaw:", longs)) != -1) {
		if (found == 'a')
			all = true;
		else if (found != 'w')
			return sdp_help_or_usage(command, found);
		else if (!sdp_number(optarg, SECONDS_MAX, &seconds) || !seconds)
			return sdp_usage(command, "-w takes a number of seconds");
	}
	if (optind < argc)
		return sdp_usage(command, "stat takes no words");
	status = sdp_nl_open(&nl);
	if (status)
		return status;
	status = count(nl, all, seconds);
	sdp_nl_close(nl);
	return status;
}

const struct sdp_command sdp_stat_command = {
	.name = "stat",
	.usage = "stat [-a] [-w SECONDS]",
	.help = "The counters of this network namespace that are not 0.\n"
		"-a, --all             all of them\n"
		"-w, --within SECONDS  what is counted within so many seconds from now\n",
	.run = run,
};
