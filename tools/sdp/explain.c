// SPDX-License-Identifier: GPL-2.0
/*
 * sdp policy explain: the rule that decides about a socket, and the result.
 *
 * The rules come from a file, or from the policy in force; for the latter it also tells what the
 * socket would become now.
 */
#include <stdio.h>
#include <string.h>

#include "outlook.h"
#include "output.h"
#include "policy.h"
#include "question.h"

static const struct option longs[] = {
	{ "file", required_argument, NULL, 'f' },
	{ "uid", required_argument, NULL, 'u' },
	{ "cgroup", required_argument, NULL, 'c' },
	SDP_COMMON_OPTIONS
};

/*
 * A rule whose condition was not given on the command line did not match, but may match for a
 * process.
 */
static void notes(const struct sdp_policy_text *policy, const struct sdp_question *question)
{
	const struct sdp_rule *rule = sdp_question_rule(question, policy);
	unsigned int asked = rule ? rule - policy->rules : policy->count;

	if (!question->query.path && sdp_rules_need_path(policy->rules, asked))
		fputs("sdp: a rule asks for the path of the program: say it instead of the name\n",
		      stderr);
	if (!question->query.cgroup && sdp_rules_need_cgroup(policy->rules, asked))
		fputs("sdp: a rule asks for the control group: say --cgroup PATH\n", stderr);
}

static void print_outlook(const struct sdp_outlook *outlook, const json_t *answer,
			  enum sdp_role role)
{
	const char *device = json_string_value(json_object_get(answer, "device"));

	switch (outlook->outcome) {
	case SDP_OUT_SDP:
		printf("now\tSDP%s%s\n", device ? " by " : "", device ?: "");
		break;
	case SDP_OUT_BOTH:
		if (role == SDP_ROLE_LISTEN)
			puts("now\tSDP and TCP");
		else
			printf("now\tSDP by %s, or TCP if that does not work\n", device ?: "?");
		break;
	case SDP_OUT_TCP:
		printf("now\tTCP: %s; %s\n", outlook->reason, outlook->next);
		break;
	case SDP_OUT_NONE:
		printf("now\tfails: %s; %s\n", outlook->reason, outlook->next);
		break;
	}
}

static void print_rule(const char *name, const json_t *answer)
{
	const char *verdict = json_string_value(json_object_get(answer, "verdict"));
	const json_t *line = json_object_get(answer, "line");

	if (line)
		printf("%s\t%s:%lld: %s\n", verdict, name, (long long)json_integer_value(line),
		       json_string_value(json_object_get(answer, "rule")));
	else
		printf("%s\t%s: no rule matches\n", verdict, name);
}

static int by_file(const char *path, const struct sdp_question *question)
{
	static struct sdp_policy_text policy;
	int status = sdp_policy_load(&policy, path);
	json_t *answer;

	if (status)
		return status;
	answer = sdp_answer_by_text(&policy, question);
	notes(&policy, question);
	if (sdp_json)
		sdp_print_json(answer);
	else
		print_rule(policy.name, answer);
	json_decref(answer);
	return SDP_FINE;
}

static void print_answer(const struct sdp_question *question, json_t *answer)
{
	struct sdp_outlook outlook;

	sdp_outlook(&outlook, answer, question->query.role);
	if (sdp_json) {
		json_object_set_new(answer, "now", sdp_outlook_json(&outlook));
		sdp_print_json(answer);
	} else {
		print_rule("policy", answer);
		print_outlook(&outlook, answer, question->query.role);
	}
}

/*
 * The policy's text is only used for notes about the answer, so a change in between does little
 * harm.
 */
static int ask(struct sdp_nl *nl, const struct sdp_question *question)
{
	static struct sdp_policy_text policy;
	json_t *in_force, *answer, *text;
	int error = sdp_policy_get(nl, &in_force);

	if (error)
		return error;
	error = sdp_answer_by_kernel(nl, question, &answer);
	if (!error) {
		text = json_object_get(in_force, "text");
		if (!sdp_policy_take(&policy, "policy", json_string_value(text),
				     json_string_length(text)))
			notes(&policy, question);
		print_answer(question, answer);
		json_decref(answer);
	}
	json_decref(in_force);
	return error;
}

static int by_kernel(const struct sdp_question *question)
{
	struct sdp_nl *nl;
	int status = sdp_nl_open(&nl), error;

	if (status)
		return status;
	error = ask(nl, question);
	if (error)
		status = sdp_nl_refused(nl, error, "asking the policy");
	sdp_nl_close(nl);
	return status;
}

static const char *words(struct sdp_question *question, char **argv)
{
	const char *wrong;

	sdp_question_program(question, argv[0]);
	wrong = sdp_question_role(question, argv[1]);
	return wrong ?: sdp_question_target(question, argv[2]);
}

/**
 * sdp_explain() - run the command
 * @command: the command
 * @argc: number of words
 * @argv: words
 *
 * Return: the program's status.
 */
int sdp_explain(const struct sdp_command *command, int argc, char **argv)
{
	struct sdp_question question = {};
	const char *file = NULL, *wrong = NULL;
	int found;

	while (!wrong && (found = sdp_option(argc, argv, ":hjf:", longs)) != -1) {
		if (found == 'f')
			file = optarg;
		else if (found == 'u')
			wrong = sdp_question_uid(&question, optarg);
		else if (found == 'c')
			question.query.cgroup = optarg;
		else
			return sdp_help_or_usage(command, found);
	}
	if (!wrong && argc - optind != 3)
		wrong = "policy explain takes PROGRAM listen|connect ADDRESS:PORT";
	if (!wrong)
		wrong = words(&question, argv + optind);
	if (wrong)
		return sdp_usage(command, wrong);
	return file ? by_file(file, &question) : by_kernel(&question);
}
