// SPDX-License-Identifier: GPL-2.0
/*
 * sdp policy: is a text a policy, and which of its rules decides about a socket? The rules
 * are read and asked by the module's own code.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules.h"
#include "sdp.h"

#define COMM_LEN	16	/* as in the kernel, with the NUL */

struct policy {
	const char *name;	/* as the user knows the file */
	char text[SDP_POLICY_TEXT_MAX + 1];
	size_t len;
	struct sdp_rule rules[SDP_POLICY_RULES_MAX];
	int count;
};

/* One byte more than allowed is read, for the parser to find fault with. */
static int load(struct policy *policy, const char *path)
{
	bool standard = !strcmp(path, "-");
	struct sdp_rules_error error;
	FILE *file;

	policy->name = standard ? "standard input" : path;
	file = standard ? stdin : fopen(path, "r");
	if (!file) {
		fprintf(stderr, "sdp: %s: %s\n", path, strerror(errno));
		return SDP_WRONG;
	}
	policy->len = fread(policy->text, 1, sizeof(policy->text), file);
	if (ferror(file)) {
		fprintf(stderr, "sdp: %s: %s\n", policy->name, strerror(errno));
		fclose(file);
		return SDP_WRONG;
	}
	fclose(file);
	policy->count = sdp_rules_parse(policy->text, policy->len, policy->rules,
					SDP_POLICY_RULES_MAX, &error);
	if (policy->count >= 0)
		return SDP_FINE;
	fprintf(stderr, "%s:%u:%u: error: expected %s\n", policy->name, error.line, error.column,
		error.what);
	return SDP_WRONG;
}

static int check(struct policy *policy, int argc, char **argv)
{
	int status;

	if (argc != 1)
		return sdp_usage("policy check takes one FILE");
	status = load(policy, argv[0]);
	if (status)
		return status;
	printf("%s: fine, %d rule%s\n", policy->name, policy->count, policy->count == 1 ? "" : "s");
	return SDP_FINE;
}

/* A whole number up to most: 0 when it is none. */
static int number(const char *text, unsigned long most, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value <= most;
}

/* ADDRESS:PORT, or [ADDRESS]:PORT for IPv6. */
static int target(const char *text, struct sdp_query *query)
{
	const char *colon = strrchr(text, ':');
	char addr[INET6_ADDRSTRLEN];
	unsigned long port;
	size_t len;

	if (!colon || !number(colon + 1, 65535, &port) || !port)
		return 0;
	query->port = (u16)port;
	len = (size_t)(colon - text);
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
		if (len >= sizeof(addr))
			return 0;
		memcpy(addr, text, len);
		addr[len] = 0;
		return inet_pton(AF_INET6, addr, query->addr) == 1;
	}
	if (len >= sizeof(addr))
		return 0;
	memcpy(addr, text, len);
	addr[len] = 0;
	query->addr[10] = 0xff;
	query->addr[11] = 0xff;
	return inet_pton(AF_INET, addr, query->addr + 12) == 1;
}

/* The command name of a program, and its path when that was said. */
static void program(const char *name, char comm[COMM_LEN], struct sdp_query *query)
{
	const char *slash = strrchr(name, '/');

	if (slash)
		query->path = name;
	snprintf(comm, COMM_LEN, "%s", slash ? slash + 1 : name);
	query->comm = comm;
}

static const char *options(int argc, char **argv, struct sdp_query *query)
{
	unsigned long uid;
	int i;

	query->uid = geteuid();
	for (i = 0; i < argc; i += 2) {
		if (i + 1 == argc)
			return "an option without its value, or something too much";
		if (!strcmp(argv[i], "--uid")) {
			if (!number(argv[i + 1], UINT32_MAX - 1UL, &uid))
				return "--uid takes the number of a user";
			query->uid = (u32)uid;
		} else if (!strcmp(argv[i], "--cgroup")) {
			query->cgroup = argv[i + 1];
		} else {
			return "there are the options --uid N and --cgroup PATH";
		}
	}
	return NULL;
}

static void print_line(const struct policy *policy, unsigned int line)
{
	const char *at = policy->text, *end = at + policy->len, *stop;

	while (--line)
		at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
	stop = memchr(at, '\n', (size_t)(end - at));
	printf("%.*s\n", (int)((stop ? stop : end) - at), at);
}

/* A rule that asks for what was not said did not match; that may be otherwise in the kernel. */
static void notes(const struct policy *policy, unsigned int asked, const struct sdp_query *query)
{
	if (!query->path && sdp_rules_need_path(policy->rules, asked))
		fputs("sdp: a rule asks for the path of the program: say it instead of the name\n",
		      stderr);
	if (!query->cgroup && sdp_rules_need_cgroup(policy->rules, asked))
		fputs("sdp: a rule asks for the control group: say --cgroup PATH\n", stderr);
}

static void answer(const struct policy *policy, const struct sdp_query *query)
{
	const struct sdp_rule *rule = sdp_rules_match(policy->rules, (unsigned int)policy->count,
						      policy->text, query);

	notes(policy, (unsigned int)(rule ? rule - policy->rules : policy->count), query);
	if (rule) {
		printf("%s\t%s:%u: ", sdp_verdict_name((enum sdp_verdict)rule->verdict),
		       policy->name, rule->line);
		print_line(policy, rule->line);
	} else {
		printf("%s\t%s: no rule matches\n", sdp_verdict_name(SDP_VERDICT_TCP),
		       policy->name);
	}
}

static int explain(struct policy *policy, int argc, char **argv)
{
	struct sdp_query query = {};
	char comm[COMM_LEN];
	const char *wrong;
	int status;

	if (argc < 4)
		return sdp_usage("policy explain takes FILE PROGRAM listen|connect ADDRESS:PORT");
	program(argv[1], comm, &query);
	if (!strcmp(argv[2], "listen"))
		query.role = SDP_ROLE_LISTEN;
	else if (!strcmp(argv[2], "connect"))
		query.role = SDP_ROLE_CONNECT;
	else
		return sdp_usage("a socket can listen or connect");
	if (!target(argv[3], &query))
		return sdp_usage("the target is 10.9.0.1:80 or [fd00::1]:80");
	wrong = options(argc - 4, argv + 4, &query);
	if (wrong)
		return sdp_usage(wrong);
	status = load(policy, argv[0]);
	if (!status)
		answer(policy, &query);
	return status;
}

/**
 * sdp_policy() - the commands about policies
 * @argc: words of the command line behind "policy"
 * @argv: these
 *
 * Return: the program's status.
 */
int sdp_policy(int argc, char **argv)
{
	static struct policy policy;

	if (argc && !strcmp(argv[0], "check"))
		return check(&policy, argc - 1, argv + 1);
	if (argc && !strcmp(argv[0], "explain"))
		return explain(&policy, argc - 1, argv + 1);
	return sdp_usage("policy check or policy explain");
}
