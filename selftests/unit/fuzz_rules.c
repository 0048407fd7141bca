// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: parser and matcher of the policy's rules.
 *
 * The first byte of an input selects the kind of the rest:
 *
 * 0, 1	a policy: nothing outside the text is read (ASan checks this), no value outside its
 *	range is accepted, and each rule, printed from its parsed form, parses to the same rule
 * 2	a pattern and a string, separated by a NUL: the result must be that of fnmatch(3)
 * 3	an address: the result must be that of inet_pton(3)
 */
#include <arpa/inet.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "fuzz_check.h"
#include "glob.h"
#include "rules.h"

static struct sdp_rule rules[SDP_POLICY_RULES_MAX];

static void check_error(const char *text, size_t len, const struct sdp_rules_error *e)
{
	unsigned int line = 1;
	size_t at = 0;

	CHECK(e->what && e->line && e->column);
	for (; line < e->line; at++) {
		CHECK(at < len);
		line += text[at] == '\n';
	}
	/* The column is on that line, or one behind its last byte. */
	CHECK(at + e->column - 1 <= len);
	CHECK(!memchr(text + at, '\n', e->column - 1));
}

static void check_pattern(const struct sdp_pattern *p, const char *text, size_t len)
{
	size_t shortest;

	CHECK(p->at + p->len <= len && p->len <= SDP_POLICY_GLOB_MAX);
	CHECK(sdp_glob_check(text + p->at, p->len, &shortest) == p->len);
	CHECK(!memchr(text + p->at, ' ', p->len) && !memchr(text + p->at, '\n', p->len));
}

static void check_rule(const struct sdp_rule *r, const char *text, size_t len)
{
	unsigned int bit;

	CHECK(r->roles && r->roles < 4 && r->verdict < SDP_VERDICTS && r->line);
	CHECK(r->prefix <= 128 && r->any_addr <= 1 && (!r->any_addr || !r->prefix));
	for (bit = r->prefix; bit < 128; bit++)
		CHECK(!(r->addr[bit / 8] & 0x80 >> bit % 8));
	CHECK(r->port_first <= r->port_last && r->uid_first <= r->uid_last);
	CHECK(r->port_first || r->port_last == 65535);
	check_pattern(&r->program, text, len);
	check_pattern(&r->path, text, len);
	check_pattern(&r->cgroup, text, len);
}

static int print_pattern(char *out, const char *word, const struct sdp_pattern *p, const char *text)
{
	return p->len ? sprintf(out, " %s %.*s", word, p->len, text + p->at) : 0;
}

static void print_rule(char *out, const struct sdp_rule *r, const char *text)
{
	static const char * const roles[] = { "", "listen", "connect", "any" };
	char addr[INET6_ADDRSTRLEN];

	out += sprintf(out, "%s ", roles[r->roles]);
	if (r->any_addr)
		out += sprintf(out, "*");
	else
		out += sprintf(out, "[%s/%d]", inet_ntop(AF_INET6, r->addr, addr, sizeof(addr)),
			       r->prefix);
	if (r->port_first)
		out += sprintf(out, ":%d-%d", r->port_first, r->port_last);
	if (r->uid_last != ~0U)
		out += sprintf(out, " uid %u-%u", r->uid_first, r->uid_last);
	out += print_pattern(out, "program", &r->program, text);
	out += print_pattern(out, "path", &r->path, text);
	out += print_pattern(out, "cgroup", &r->cgroup, text);
	sprintf(out, " %s", sdp_verdict_name((enum sdp_verdict)r->verdict));
}

static bool same_pattern(const struct sdp_pattern *a, const char *a_text,
			 const struct sdp_pattern *b, const char *b_text)
{
	return a->len == b->len && !memcmp(a_text + a->at, b_text + b->at, a->len);
}

/* Print the rule in its longest form and parse that: it must be the same rule. */
static void check_again(const struct sdp_rule *r, const char *text)
{
	char again[1024];
	struct sdp_rules_error error;
	struct sdp_rule second;

	print_rule(again, r, text);
	CHECK(sdp_rules_parse(again, strlen(again), &second, 1, &error) == 1);
	CHECK(second.roles == r->roles && second.verdict == r->verdict);
	CHECK(second.any_addr == r->any_addr && second.prefix == r->prefix);
	CHECK(!memcmp(second.addr, r->addr, 16));
	CHECK(second.port_first == r->port_first && second.port_last == r->port_last);
	CHECK(second.uid_first == r->uid_first && second.uid_last == r->uid_last);
	CHECK(same_pattern(&second.program, again, &r->program, text));
	CHECK(same_pattern(&second.path, again, &r->path, text));
	CHECK(same_pattern(&second.cgroup, again, &r->cgroup, text));
}

/* A socket inside the range of a rule must match that rule or one before it. */
static void check_match(unsigned int count, const struct sdp_rule *r, const char *text)
{
	struct sdp_query q = {
		.role = r->roles == 1U << SDP_ROLE_LISTEN ? SDP_ROLE_LISTEN : SDP_ROLE_CONNECT,
		.comm = "",
		.path = "/usr/bin/nginx",
		.cgroup = "/system.slice/nginx.service",
		.uid = r->uid_last,
		.port = r->port_first,
	};
	const struct sdp_rule *seen;

	memcpy(q.addr, r->addr, 16);
	/* With a short prefix, use an address that differs from the rule's behind the prefix. */
	if (!r->any_addr && r->prefix < 96)
		q.addr[15] |= 1;
	seen = sdp_rules_match(rules, count, text, &q);
	if (!r->program.len && !r->path.len && !r->cgroup.len)
		CHECK(seen && seen <= r);
	CHECK(!seen || seen->roles & 1U << q.role);
	if (seen && seen->path.len)
		CHECK(sdp_rules_need_path(rules, count));
	if (seen && seen->cgroup.len)
		CHECK(sdp_rules_need_cgroup(rules, count));
}

static void fuzz_policy(const char *text, size_t len)
{
	unsigned int bound = sdp_rules_bound(text, len);
	struct sdp_rules_error error = {};
	int i, n;

	CHECK(bound && bound <= SDP_POLICY_RULES_MAX);
	n = sdp_rules_parse(text, len, rules, bound, &error);
	if (n < 0) {
		check_error(text, len, &error);
		return;
	}
	CHECK((unsigned int)n <= bound);
	for (i = 0; i < n; i++) {
		check_rule(&rules[i], text, len);
		CHECK(!i || rules[i].line >= rules[i - 1].line);
		check_again(&rules[i], text);
		check_match((unsigned int)n, &rules[i], text);
	}
}

/* Keep inputs short: fnmatch() of glibc takes exponential time. */
static void fuzz_glob(const char *data, size_t len)
{
	const char *string = memchr(data, 0, len);
	char glob[32], copy[32];
	size_t glob_len, shortest, rest;
	bool matches;

	if (!string)
		return;
	glob_len = (size_t)(string++ - data);
	rest = len - glob_len - 1;
	if (glob_len >= sizeof(glob) || rest >= sizeof(copy))
		return;
	memcpy(copy, string, rest);
	copy[rest] = 0;
	/* The pattern has no terminator here, so bytes behind it must not matter. */
	matches = sdp_glob_match(data, glob_len, copy);
	if (sdp_glob_check(data, glob_len, &shortest) != glob_len)
		return;
	memcpy(glob, data, glob_len);
	glob[glob_len] = 0;
	CHECK(matches == !fnmatch(glob, copy, 0));
	CHECK(!matches || strlen(copy) >= shortest);
}

static void fuzz_address(const char *data, size_t len)
{
	struct sdp_rules_error error;
	char addr[64], text[96];
	u8 want[16] = { [10] = 0xff, [11] = 0xff };
	bool v4, v6;
	int n;

	/* Skip inputs that hold more rule syntax than an address. */
	if (len >= sizeof(addr) || memchr(data, 0, len))
		return;
	memcpy(addr, data, len);
	addr[len] = 0;
	if (strpbrk(addr, "[]/*#; \t\n"))
		return;
	v4 = inet_pton(AF_INET, addr, want + 12) == 1;
	v6 = !v4 && inet_pton(AF_INET6, addr, want) == 1;
	sprintf(text, v4 ? "any %s sdp" : "any [%s] sdp", addr);
	n = sdp_rules_parse(text, strlen(text), rules, 1, &error);
	CHECK(n == (v4 || v6 ? 1 : -1));
	CHECK(n < 0 || (rules[0].prefix == 128 && !memcmp(rules[0].addr, want, 16)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *exact;

	if (!size)
		return 0;
	/* A buffer of exactly this length, so that ASan sees a read beyond it. */
	exact = malloc(size > 1 ? size - 1 : 1);
	if (!exact)
		return 0;
	memcpy(exact, data + 1, size - 1);
	switch (data[0] & 3) {
	case 2:
		fuzz_glob(exact, size - 1);
		break;
	case 3:
		fuzz_address(exact, size - 1);
		break;
	default:
		fuzz_policy(exact, size - 1);
		break;
	}
	free(exact);
	return 0;
}
