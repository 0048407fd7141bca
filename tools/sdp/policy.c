// SPDX-License-Identifier: GPL-2.0
/* sdp policy: shows, checks and sets the policy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netlink.h"
#include "output.h"
#include "policy.h"
#include "rules_file.h"
#include "sdp.h"

static struct sdp_policy_text policy;

static int check(const struct sdp_command *command, int argc, char **argv)
{
	int status = sdp_no_options(command, argc, argv, 1, "policy check takes one FILE");
	json_t *answer;

	if (status >= 0)
		return status;
	status = sdp_policy_load(&policy, argv[optind]);
	if (status)
		return status;
	if (sdp_json) {
		answer = sdp_need(json_pack("{s:o, s:i}", "policy",
					    sdp_escaped(policy.name, strlen(policy.name)),
					    "rules", policy.count));
		sdp_print_json(answer);
		json_decref(answer);
	} else {
		printf("%s: fine, %d rule%s\n", policy.name, policy.count,
		       policy.count == 1 ? "" : "s");
	}
	return SDP_FINE;
}

static json_t *read_policy(const struct nlattr *const *attrs)
{
	return json_pack("{s:o, s:o*, s:o, s:o, s:o}",
			 "text", sdp_attr_policy(attrs[SDP_POLICY_A_TEXT]),
			 "error", sdp_attr_text(attrs[SDP_POLICY_A_ERROR]),
			 "rewrite", sdp_attr_bool(attrs[SDP_POLICY_A_REWRITE]),
			 "fallback_ms", sdp_attr_number(attrs[SDP_POLICY_A_FALLBACK_MS]),
			 "fallback_memory_ms",
			 sdp_attr_number(attrs[SDP_POLICY_A_FALLBACK_MEMORY_MS]));
}

/**
 * sdp_policy_get() - the policy in force
 * @nl: from sdp_nl_open()
 * @answer: text, rewrite and so on, for the caller to release
 *
 * Return: 0 or a negative errno.
 */
int sdp_policy_get(struct sdp_nl *nl, json_t **answer)
{
	return sdp_nl_do(nl, sdp_nl_request(nl, SDP_CMD_POLICY_GET), read_policy, answer);
}

/*
 * Only the text goes to standard output, so that it can be set again. White space alone is no
 * text.
 */
static void print_policy(const json_t *answer)
{
	const char *text = json_string_value(json_object_get(answer, "text"));
	bool empty = !text[strspn(text, " \t\n")];
	size_t len = empty ? 0 : strlen(text);

	printf("%.*s%s", (int)len, text, len && text[len - 1] != '\n' ? "\n" : "");
	if (empty)
		fputs("sdp: no rules are set; sdp policy set FILE sets some\n", stderr);
	if (!json_is_true(json_object_get(answer, "rewrite")))
		fputs("sdp: rewriting is off, no socket is met; sdp policy on\n", stderr);
}

static int show(const struct sdp_command *command, int argc, char **argv)
{
	int status = sdp_no_options(command, argc, argv, 0, "policy show takes no words");
	struct sdp_nl *nl;
	json_t *answer;
	int error;

	if (status >= 0)
		return status;
	status = sdp_nl_open(&nl);
	if (status)
		return status;
	error = sdp_policy_get(nl, &answer);
	if (error)
		status = sdp_nl_refused(nl, error, "reading the policy");
	sdp_nl_close(nl);
	if (error)
		return status;
	if (sdp_json)
		sdp_print_json(answer);
	else
		print_policy(answer);
	json_decref(answer);
	return SDP_FINE;
}

static int set(const struct sdp_command *command, int argc, char **argv)
{
	int status = sdp_no_options(command, argc, argv, 1, "policy set takes one FILE");
	struct nlmsghdr *request;
	struct sdp_nl *nl;
	int error;

	if (status >= 0)
		return status;
	status = sdp_policy_load(&policy, argv[optind]);
	if (!status)
		status = sdp_nl_open(&nl);
	if (status)
		return status;
	request = sdp_nl_request(nl, SDP_CMD_POLICY_SET);
	mnl_attr_put_strz(request, SDP_POLICY_A_TEXT, policy.text);
	error = sdp_nl_do(nl, request, NULL, NULL);
	if (error)
		status = sdp_nl_refused(nl, error, "setting the policy");
	sdp_nl_close(nl);
	return status;
}

static int rewrite(const struct sdp_command *command, int argc, char **argv)
{
	int status = sdp_no_options(command, argc, argv, 0,
				    "policy on and policy off take no words");
	struct nlmsghdr *request;
	struct sdp_nl *nl;
	int error;

	if (status >= 0)
		return status;
	status = sdp_nl_open(&nl);
	if (status)
		return status;
	request = sdp_nl_request(nl, SDP_CMD_POLICY_SET);
	mnl_attr_put_u8(request, SDP_POLICY_A_REWRITE, !strcmp(command->name, "on"));
	error = sdp_nl_do(nl, request, NULL, NULL);
	if (error)
		status = sdp_nl_refused(nl, error, "switching rewriting");
	sdp_nl_close(nl);
	return status;
}

static const struct sdp_command commands[] = {
	{ "show", "policy show", NULL, show },
	{ "set", "policy set FILE", NULL, set },
	{ "on", "policy on", NULL, rewrite },
	{ "off", "policy off", NULL, rewrite },
	{ "check", "policy check FILE", NULL, check },
	{ "explain", "policy explain PROGRAM listen|connect ADDRESS:PORT [--file FILE]\n"
	  " [--uid N] [--cgroup PATH]", NULL, sdp_explain },
};

static int run(const struct sdp_command *command, int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(&commands[i], argc - 1, argv + 1);
	return sdp_usage(command, "policy show, set, on, off, check or explain");
}

const struct sdp_command sdp_policy_command = {
	.name = "policy",
	.usage = "policy show|on|off\n"
		 "policy set|check FILE\n"
		 "policy explain PROGRAM listen|connect ADDRESS:PORT [--file FILE]\n"
		 " [--uid N] [--cgroup PATH]",
	.help = "show     the rules in force, as text that can be set again\n"
		"set      new rules, all of them; /dev/null removes them\n"
		"on, off  whether new TCP sockets are looked at (net.sdp.rewrite)\n"
		"check    says where a policy is wrong: FILE:LINE:COLUMN: error: ...\n"
		"explain  which rule decides about a socket, and what would become of it now; with\n"
		"         --file that policy's rule, without asking the kernel\n"
		"\n"
		"FILE may be - for standard input. PROGRAM is a command name, or the path of an\n"
		"executable. An IPv6 ADDRESS stands in brackets. Without --uid it is the caller.\n",
	.run = run,
};
