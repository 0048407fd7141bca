// SPDX-License-Identifier: GPL-2.0
/*
 * sdp check: whether a connection would use SDP. (With --device: check_device.c.)
 *
 * It checks the prerequisites step by step, and makes a real connection. After a step that fails,
 * the other ones are tried where possible; the first failed step is the reason.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "output.h"
#include "policy.h"
#include "sdp.h"

/**
 * sdp_check_step() - record the result of a step, and print it at once: the next one may take long
 * @check: check
 * @step: its name
 * @ok: the step succeeded
 * @text: the result; freed here
 */
void sdp_check_step(struct sdp_check *check, const char *step, bool ok, char *text)
{
	/* The name of an interface may contain any bytes. */
	json_array_append_new(check->steps, sdp_need(json_pack("{s:s, s:b, s:o}", "step", step,
							       "ok", ok, "text",
							       json_string(text) ?:
							       sdp_escaped(text, strlen(text)))));
	if (!sdp_json) {
		printf("%-4s%-8s%s\n", ok ? "ok" : "no", step, text);
		fflush(stdout);
	}
	free(text);
}

/**
 * sdp_check_fails() - the connection is not SDP; keeps the reason of an earlier step
 * @check: check
 * @reason: why
 * @next: what the user can do
 */
void sdp_check_fails(struct sdp_check *check, const char *reason, const char *next)
{
	if (*check->reason)
		return;
	snprintf(check->reason, sizeof(check->reason), "%s", reason);
	snprintf(check->next, sizeof(check->next), "%s", next);
}

/* Queries of the rules have v4-mapped addresses. */
static void ask_about(struct sdp_question *question, const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
	struct sdp_query *query = &question->query;

	query->role = SDP_ROLE_CONNECT;
	if (addr->ss_family == AF_INET6) {
		memcpy(query->addr, &v6->sin6_addr, sizeof(query->addr));
		query->port = ntohs(v6->sin6_port);
		question->scope = v6->sin6_scope_id;
	} else {
		query->addr[10] = 0xff;
		query->addr[11] = 0xff;
		memcpy(query->addr + 12, &v4->sin_addr, sizeof(v4->sin_addr));
		query->port = ntohs(v4->sin_port);
	}
}

/* Uses the first address, as programs try that first. */
static bool resolve(struct sdp_check *check)
{
	struct addrinfo hints = { .ai_family = check->family, .ai_socktype = SOCK_STREAM };
	char numeric[NI_MAXHOST] = "?";
	struct addrinfo *found;
	int error = getaddrinfo(check->host, check->port, &hints, &found);

	if (error) {
		check->no_tcp = true;
		sdp_check_step(check, "name", false, sdp_text("%s", gai_strerror(error)));
		sdp_check_fails(check, "there is no such host or port",
				"see getent ahosts, and /etc/services");
		return false;
	}
	check->len = found->ai_addrlen;
	memcpy(&check->addr, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	getnameinfo((struct sockaddr *)&check->addr, check->len, numeric, sizeof(numeric), NULL, 0,
		    NI_NUMERICHOST);
	ask_about(&check->question, &check->addr);
	sdp_check_step(check, "name", true, sdp_text("%s", numeric));
	return true;
}

static bool module_is_there(struct sdp_check *check, struct sdp_nl **nl)
{
	int error = sdp_nl_try(nl);

	if (!error) {
		sdp_check_step(check, "module", true, sdp_text("loaded"));
		return true;
	}
	sdp_check_step(check, "module", false,
		       sdp_text("%s", error == -ENOENT ? "not loaded" : strerror(-error)));
	sdp_check_fails(check, "AF_SDP is not there", "modprobe sdp");
	return false;
}

static char *rule_text(const json_t *answer, const struct sdp_outlook *outlook)
{
	const char *verdict = json_string_value(json_object_get(answer, "verdict"));
	bool remark = !outlook->no_device && *outlook->reason;
	const json_t *line = json_object_get(answer, "line");

	if (!line)
		return sdp_text("no rule matches%s%s", outlook->no_rule ? "" : "; and ",
				outlook->no_rule ? "" : outlook->reason);
	/* With the verdict tcp, the rule itself is the reason. */
	if (!strcmp(verdict, "tcp") && json_is_true(json_object_get(answer, "rewrite")))
		remark = false;
	return sdp_text("%s by line %lld: %s%s%s", verdict, (long long)json_integer_value(line),
			json_string_value(json_object_get(answer, "rule")),
			remark ? "; but " : "", remark ? outlook->reason : "");
}

static void judge_policy(struct sdp_check *check, const json_t *answer)
{
	const char *verdict = json_string_value(json_object_get(answer, "verdict"));
	const char *device = json_string_value(json_object_get(answer, "device"));
	struct sdp_outlook outlook;
	bool fine;

	sdp_outlook(&outlook, answer, SDP_ROLE_CONNECT);
	fine = !*outlook.reason || outlook.no_device;
	check->no_tcp = fine && !strcmp(verdict, "sdp");
	sdp_check_step(check, "policy", fine, rule_text(answer, &outlook));
	if (!fine)
		sdp_check_fails(check, outlook.reason, outlook.next);
	sdp_check_step(check, "device", device,
		       sdp_text("%s", device ?: "no RDMA device on the route"));
	if (!device)
		sdp_check_fails(check, "no RDMA device on the route", SDP_NEXT_ROUTE);
}

/* Returns 0 or a negative errno. */
static int ask_policy(struct sdp_check *check, struct sdp_nl *nl)
{
	json_t *answer, *policy;
	int error = sdp_policy_get(nl, &policy);

	if (error)
		return error;
	if (!check->timeout_ms)
		check->timeout_ms = json_integer_value(json_object_get(policy, "fallback_ms"));
	json_decref(policy);
	error = sdp_answer_by_kernel(nl, &check->question, &answer);
	if (error)
		return error;
	judge_policy(check, answer);
	json_decref(answer);
	return 0;
}

static int look(struct sdp_check *check)
{
	struct sdp_nl *nl;
	int error, status = SDP_FINE;

	if (!resolve(check) || !module_is_there(check, &nl))
		return SDP_FINE;
	error = ask_policy(check, nl);
	if (error)
		status = sdp_nl_refused(nl, error, "asking the policy");
	sdp_nl_close(nl);
	if (!error)
		sdp_check_connect(check);
	return status;
}

static void conclude(const struct sdp_check *check)
{
	enum sdp_outcome outcome = !*check->reason ? SDP_OUT_SDP :
				   check->no_tcp ? SDP_OUT_NONE : SDP_OUT_TCP;
	json_t *all;

	if (sdp_json) {
		all = sdp_need(json_pack("{s:o, s:o, s:O, s:s, s:s*, s:s*}",
					 "host", sdp_escaped(check->host, strlen(check->host)),
					 "port", sdp_escaped(check->port, strlen(check->port)),
					 "steps", check->steps,
					 "outcome", sdp_outcome_name(outcome),
					 "reason", *check->reason ? check->reason : NULL,
					 "next", *check->reason ? check->next : NULL));
		sdp_print_json(all);
		json_decref(all);
	} else if (outcome == SDP_OUT_SDP) {
		puts("SDP");
	} else {
		printf("%s: %s; %s\n", outcome == SDP_OUT_TCP ? "TCP" : "neither", check->reason,
		       check->next);
	}
}

static const struct option longs[] = {
	{ "ipv4", no_argument, NULL, '4' },
	{ "ipv6", no_argument, NULL, '6' },
	{ "timeout", required_argument, NULL, 't' },
	{ "program", required_argument, NULL, 'p' },
	{ "uid", required_argument, NULL, 'u' },
	{ "cgroup", required_argument, NULL, 'c' },
	{ "device", no_argument, NULL, 'd' },
	SDP_COMMON_OPTIONS
};

/* Handles an option; returns an error message, or NULL. */
static const char *take_option(struct sdp_check *check, int option)
{
	unsigned long seconds;

	check->options += option != 'd';
	switch (option) {
	case '4':
		check->family = AF_INET;
		return NULL;
	case '6':
		check->family = AF_INET6;
		return NULL;
	case 'p':
		sdp_question_program(&check->question, optarg);
		return NULL;
	case 'u':
		return sdp_question_uid(&check->question, optarg);
	case 'c':
		check->question.query.cgroup = optarg;
		return NULL;
	case 'd':
		check->devices = true;
		return NULL;
	default:
		if (!sdp_number(optarg, 3600, &seconds) || !seconds)
			return "-t takes a number of seconds";
		check->timeout_ms = (int)seconds * 1000;
		return NULL;
	}
}

/* getaddrinfo() accepts numbers that are too large, and truncates them. */
static bool may_be_port(const char *word)
{
	unsigned long port;

	return strspn(word, "0123456789") != strlen(word) ||
	       (sdp_number(word, 65535, &port) && port);
}

/* Returns what is wrong with the @count words behind the options, or NULL. */
static const char *wrong_words(const struct sdp_check *check, int count, char **words)
{
	if (check->devices)
		return count > 1 || check->options ?
			"check --device takes one NAME at most, and no other option" : NULL;
	if (count != 2)
		return "check takes HOST and PORT";
	if (!may_be_port(words[1]))
		return "PORT is a number from 1 to 65535, or a name in /etc/services";
	return NULL;
}

static int run(const struct sdp_command *command, int argc, char **argv)
{
	struct sdp_check check = { .family = AF_UNSPEC };
	const char *wrong = NULL;
	int found, status;

	while (!wrong && (found = sdp_option(argc, argv, ":hj46t:", longs)) != -1) {
		if (found == 'h' || found == '?')
			return sdp_help_or_usage(command, found);
		wrong = take_option(&check, found);
	}
	if (!wrong)
		wrong = wrong_words(&check, argc - optind, argv + optind);
	if (wrong)
		return sdp_usage(command, wrong);
	if (check.devices)
		return sdp_check_device(optind < argc ? argv[optind] : NULL);
	check.host = argv[optind];
	check.port = argv[optind + 1];
	check.steps = sdp_need(json_array());
	status = look(&check);
	if (!status) {
		conclude(&check);
		status = *check.reason ? SDP_WRONG : SDP_FINE;
	}
	json_decref(check.steps);
	return status;
}

const struct sdp_command sdp_check_command = {
	.name = "check",
	.usage = "check HOST PORT [-4|-6] [-t SECONDS] [--program PROGRAM] [--uid N]\n"
		 " [--cgroup PATH]\n"
		 "check --device [NAME]",
	.help = "Would a TCP socket that connects there be SDP? Looks, step by step, and connects\n"
		"by SDP for real; the server sees a connection that ends at once. The last line is SDP,\n"
		"or TCP: why, and what to do about it; the status is 0 for SDP and 1 otherwise. (It\n"
		"is neither: for a name that is none, and for the verdict sdp, which has no TCP to\n"
		"fall back on.)\n"
		"-4, --ipv4, -6, --ipv6 an address of this version only\n"
		"-t, --timeout SECONDS  how long SDP may take; otherwise as net.sdp.fallback_ms\n"
		"--program, --uid, --cgroup  whose socket it is, for rules that ask for that\n"
		"--device [NAME]        instead of that: what the module asks of an RDMA device, and\n"
		"                       what this one has; the status is 1 if one is not used, or none is\n"
		"                       there\n",
	.run = run,
};
