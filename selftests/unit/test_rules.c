// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the policy (J2): the grammar, the position of each mistake, and the matching.
 */
#include "rules.h"
#include "test.h"

static struct sdp_rule rules[SDP_POLICY_RULES_MAX];
static char big[SDP_POLICY_TEXT_MAX + 16];

/* Parse a valid text. Returns its number of rules. */
static int parse(TEST_CTX, const char *text)
{
	struct sdp_rules_error error = {};
	int n = sdp_rules_parse(text, strlen(text), rules, SDP_POLICY_RULES_MAX, &error);

	if (n < 0)
		CASE_NOTE("%u:%u: expected %s", error.line, error.column, error.what);
	EXPECT_LE(0, n);
	EXPECT_LE(n, (int)sdp_rules_bound(text, strlen(text)));
	return n;
}

static void expect_wrong(TEST_CTX, const char *text, size_t len, unsigned int line,
			 unsigned int column, const char *what)
{
	struct sdp_rules_error error = {};

	EXPECT_EQ(-1, sdp_rules_parse(text, len, rules, SDP_POLICY_RULES_MAX, &error));
	if (error.line != line || error.column != column)
		CASE_NOTE("%s: %u:%u: expected %s", text, error.line, error.column, error.what);
	EXPECT_EQ(line, error.line);
	EXPECT_EQ(column, error.column);
	EXPECT_STREQ(what, error.what);
}

static struct sdp_query query(enum sdp_role role, u8 a, u8 b, u8 c, u8 d, u16 port)
{
	struct sdp_query q = {
		.role = role,
		.comm = "iperf3",
		.path = "/usr/bin/iperf3",
		.cgroup = "/user.slice/session-1.scope",
		.uid = 1000,
		.addr = { [10] = 0xff, 0xff, a, b, c, d },
		.port = port,
	};

	return q;
}

static struct sdp_query query6(enum sdp_role role, u16 first, u16 last, u16 port)
{
	struct sdp_query q = query(role, 0, 0, 0, 0, port);

	memset(q.addr, 0, sizeof(q.addr));
	q.addr[0] = first >> 8;
	q.addr[1] = first & 0xff;
	q.addr[14] = last >> 8;
	q.addr[15] = last & 0xff;
	return q;
}

/* Does the only rule of a text match? */
static bool matches(TEST_CTX, const char *text, const struct sdp_query *q)
{
	EXPECT_EQ(1, parse(TEST_SELF, text));
	return sdp_rules_match(rules, 1, text, q) == rules;
}

static bool is_pattern(const struct sdp_pattern *p, const char *text, const char *want)
{
	return p->len == strlen(want) && !memcmp(text + p->at, want, p->len);
}

TEST(sdp_rules_parse__nothing)
{
	EXPECT_EQ(0, parse(TEST_SELF, ""));
	EXPECT_EQ(0, parse(TEST_SELF, "\n"));
	EXPECT_EQ(0, parse(TEST_SELF, " \t\n\n ; ;;\n\t "));
	EXPECT_EQ(0, parse(TEST_SELF, "# connect * sdp"));
	EXPECT_EQ(0, parse(TEST_SELF, "#\n  # a; connect * sdp\n#;\n"));
}

TEST(sdp_rules_parse__shortest_rule)
{
	static const u8 none[16];
	const struct sdp_rule *r = rules;

	EXPECT_EQ(1, parse(TEST_SELF, "any * sdp"));
	EXPECT_EQ(1 << SDP_ROLE_LISTEN | 1 << SDP_ROLE_CONNECT, r->roles);
	EXPECT_EQ(SDP_VERDICT_SDP, r->verdict);
	EXPECT_EQ(1, r->line);
	EXPECT_TRUE(r->any_addr);
	EXPECT_EQ(0, r->prefix);
	EXPECT_BYTES(none, r->addr, 16);
	EXPECT_EQ(0, r->port_first);
	EXPECT_EQ(65535, r->port_last);
	EXPECT_EQ(0U, r->uid_first);
	EXPECT_EQ(~0U, r->uid_last);
	EXPECT_EQ(0, r->program.len);
	EXPECT_EQ(0, r->path.len);
	EXPECT_EQ(0, r->cgroup.len);
}

TEST(sdp_rules_parse__everything)
{
	static const u8 addr[16] = { [10] = 0xff, 0xff, 10, 9, 0, 0 };
	static const char text[] =
		"\t connect  10.9.0.0/24:80-89 cgroup /a/* uid 33-65534\t"
		"path */nginx program ngin? both # x";
	const struct sdp_rule *r = rules;

	EXPECT_EQ(1, parse(TEST_SELF, text));
	EXPECT_EQ(1 << SDP_ROLE_CONNECT, r->roles);
	EXPECT_EQ(SDP_VERDICT_BOTH, r->verdict);
	EXPECT_FALSE(r->any_addr);
	EXPECT_EQ(96 + 24, r->prefix);
	EXPECT_BYTES(addr, r->addr, 16);
	EXPECT_EQ(80, r->port_first);
	EXPECT_EQ(89, r->port_last);
	EXPECT_EQ(33U, r->uid_first);
	EXPECT_EQ(65534U, r->uid_last);
	EXPECT_TRUE(is_pattern(&r->program, text, "ngin?"));
	EXPECT_TRUE(is_pattern(&r->path, text, "*/nginx"));
	EXPECT_TRUE(is_pattern(&r->cgroup, text, "/a/*"));
}

/* What carries a connection, in the order of enum sdp_service_kind. */
TEST(sdp_rules_parse__service)
{
	static const u8 service[] = { 0, 1, 2, 3, 0 };
	unsigned int i;

	EXPECT_EQ(5, parse(TEST_SELF, "any * both # by ud\nconnect * sdp by rc\nany * both\tby ud;"
			   "connect *:1 uid 0 both by auto # x\nlisten * sdp"));
	for (i = 0; i < 5; i++)
		EXPECT_EQ(service[i], rules[i].service);
}

/* Lines and semicolons separate rules. A comment includes the semicolons of its line. */
TEST(sdp_rules_parse__separators_and_lines)
{
	static const u8 line[] = { 2, 2, 3, 5, 7 };
	static const u8 verdict[] = {
		SDP_VERDICT_TCP, SDP_VERDICT_SDP, SDP_VERDICT_BOTH, SDP_VERDICT_TCP,
		SDP_VERDICT_SDP,
	};
	unsigned int i;

	EXPECT_EQ(5, parse(TEST_SELF, "# one\nlisten *:1 tcp;listen *:2 sdp;\n"
			   ";any * both # three; any * sdp\n\nlog min-level 9 ; connect *:* tcp\n"
			   "log\nany *:7 sdp"));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(line[i], rules[i].line);
		EXPECT_EQ(verdict[i], rules[i].verdict);
	}
}

TEST(sdp_rules_parse__words_that_are_keywords_elsewhere)
{
	static const char text[] = "listen * program sdp\tsdp; listen * program\tprogram tcp;"
				   "use tcp client use *:*; use sdp server log *:*";

	EXPECT_EQ(4, parse(TEST_SELF, text));
	EXPECT_TRUE(is_pattern(&rules[0].program, text, "sdp"));
	EXPECT_EQ(SDP_VERDICT_SDP, rules[0].verdict);
	EXPECT_TRUE(is_pattern(&rules[1].program, text, "program"));
	EXPECT_TRUE(is_pattern(&rules[2].program, text, "use"));
	EXPECT_TRUE(is_pattern(&rules[3].program, text, "log"));
}

struct address {
	const char *target;
	u8 prefix;
	u8 addr[16];
};

static const struct address addresses[] = {
	{ "0.0.0.0", 128, { [10] = 0xff, 0xff } },
	{ "0.0.0.0/0", 96, { [10] = 0xff, 0xff } },
	{ "255.255.255.255", 128, { [10] = 0xff, 0xff, 255, 255, 255, 255 } },
	{ "10.0.0.0/8:1", 104, { [10] = 0xff, 0xff, 10 } },
	{ "10.9.0.128/25", 121, { [10] = 0xff, 0xff, 10, 9, 0, 128 } },
	{ "10.9.0.3/32:*", 128, { [10] = 0xff, 0xff, 10, 9, 0, 3 } },
	{ "[::]", 128, { 0 } },
	{ "[::/0]:80", 0, { 0 } },
	{ "[::]/0:80", 0, { 0 } },
	{ "::/0:80", 0, { 0 } },
	{ "::/0", 0, { 0 } },
	{ "[::1]:80", 128, { [15] = 1 } },
	{ "::1/128:80", 128, { [15] = 1 } },
	{ "[fd00::/16]:*", 16, { 0xfd } },
	{ "fd00::/16:443-444", 16, { 0xfd } },
	{ "[FD00:aB::c]", 128, { 0xfd, 0, 0, 0xab, [15] = 0xc } },
	{ "[1:2:3:4:5:6:7:8]", 128, { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8 } },
	{ "[1:2:3:4:5:6:7::]", 128, { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7 } },
	{ "[::2:3:4:5:6:7:8]", 128, { [3] = 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8 } },
	{ "[1::8]", 128, { 0, 1, [15] = 8 } },
	{ "[1::ffff:8]", 128, { 0, 1, [12] = 0xff, 0xff, 0, 8 } },
	{ "[0001:0000::]/16", 16, { 0, 1 } },
	{ "[1:2:3:4:5:6:1.2.3.4]", 128, { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1, 2, 3, 4 } },
	{ "[::1.2.3.4]", 128, { [12] = 1, 2, 3, 4 } },
	{ "[64:ff9b::10.9.0.0/120]:22", 120, { 0, 0x64, 0xff, 0x9b, [12] = 10, 9 } },
	{ "[::ffff:10.9.0.0/120]", 120, { [10] = 0xff, 0xff, 10, 9 } },
	{ "::ffff:0:0/96", 96, { [10] = 0xff, 0xff } },
	{ "fe80::/10", 10, { 0xfe, 0x80 } },
};

TEST(sdp_rules_parse__addresses)
{
	unsigned int i;
	char text[80];

	for (i = 0; i < ARRAY_SIZE(addresses); i++) {
		const struct address *a = &addresses[i];

		snprintf(text, sizeof(text), "connect %s sdp", a->target);
		EXPECT_EQ(1, parse(TEST_SELF, text));
		if (rules[0].prefix != a->prefix)
			CASE_NOTE("%s", text);
		EXPECT_EQ(a->prefix, rules[0].prefix);
		EXPECT_BYTES(a->addr, rules[0].addr, 16);
		EXPECT_FALSE(rules[0].any_addr);
		snprintf(text, sizeof(text), "use sdp client * %s", a->target);
		EXPECT_EQ(1, parse(TEST_SELF, text));
		EXPECT_EQ(a->prefix, rules[0].prefix);
		EXPECT_BYTES(a->addr, rules[0].addr, 16);
	}
}

TEST(sdp_rules_parse__ports)
{
	static const struct {
		const char *target;
		u16 first, last;
	} ports[] = {
		{ "*:1", 1, 1 }, { "*:65535", 65535, 65535 }, { "*:1-65535", 1, 65535 },
		{ "*:80-80", 80, 80 }, { "*:*", 0, 65535 }, { "*", 0, 65535 },
		{ "10.0.0.1:22", 22, 22 }, { "[::1]:22-23", 22, 23 }, { "fd00::/8:10-20", 10, 20 },
	};
	unsigned int i;
	char text[80];

	for (i = 0; i < ARRAY_SIZE(ports); i++) {
		snprintf(text, sizeof(text), "listen %s tcp", ports[i].target);
		EXPECT_EQ(1, parse(TEST_SELF, text));
		EXPECT_EQ(ports[i].first, rules[0].port_first);
		EXPECT_EQ(ports[i].last, rules[0].port_last);
	}
}

/* The contents of libsdp.conf: its default and its examples. */
TEST(sdp_rules_parse__libsdp_conf)
{
	static const char text[] =
		"# libsdp.conf - configuration file for libsdp\n"
		"log min-level 9 destination file libsdp.log\n"
		"use both server * *:*\n"
		"use both client * *:*\n"
		"use sdp    connect *         192.168.1.0/24:*\t\n"
		"use sdp    connect *         1234:5678::0/64:*\t\n"
		"use sdp    listen  ttcp      *:5001\t\n"
		"use tcp    server  ttcp*     *:22-25\n"
		"use both   connect *         11.4.8.0/24:22\n";
	const struct sdp_rule *r = rules;

	EXPECT_EQ(7, parse(TEST_SELF, text));
	EXPECT_EQ(3, r[0].line);
	EXPECT_EQ(1 << SDP_ROLE_LISTEN, r[0].roles);
	EXPECT_EQ(1 << SDP_ROLE_CONNECT, r[1].roles);
	EXPECT_EQ(SDP_VERDICT_BOTH, r[1].verdict);
	EXPECT_EQ(0, r[1].program.len);
	EXPECT_EQ(120, r[2].prefix);
	EXPECT_EQ(64, r[3].prefix);
	EXPECT_EQ(0x12, r[3].addr[0]);
	EXPECT_EQ(1 << SDP_ROLE_LISTEN, r[4].roles);
	EXPECT_TRUE(is_pattern(&r[4].program, text, "ttcp"));
	EXPECT_EQ(5001, r[4].port_last);
	EXPECT_EQ(SDP_VERDICT_TCP, r[5].verdict);
	EXPECT_TRUE(is_pattern(&r[5].program, text, "ttcp*"));
	EXPECT_EQ(22, r[5].port_first);
	EXPECT_EQ(25, r[5].port_last);
	EXPECT_EQ(9, r[6].line);
}

#define EXP_FIRST	"listen, connect or any, or use or log of libsdp.conf"
#define EXP_ADDR	"an address, as 10.9.0.1 or [fd00::1], or *"
#define EXP_ADDR6	"an IPv6 address, as fd00::1"
#define EXP_BRACKETS	"[ ] around an IPv6 address without prefix"
#define EXP_HOST	"an address without bits after the prefix, such as 10.9.0.0/24"
#define EXP_TAIL	"/prefix, :port or a blank"
#define EXP_PORT	"a port from 1 to 65535, N-M or *"
#define EXP_LAST	"a range whose end is not below its start"
#define EXP_MORE	"program, path, cgroup, uid, or sdp, tcp, both"
#define EXP_AGAIN	"each condition at most once"
#define EXP_PROGRAM	"a pattern for the program's name, or *"
#define EXP_COMM	"a pattern that can match a name of 15 bytes (use * for the rest)"
#define EXP_PATH	"a pattern for an absolute path, starting with / or *"
#define EXP_UID		"a user ID, or a range N-M"
#define EXP_CLOSED	"a closed [ ] without classes or reversed ranges"
#define EXP_ESCAPE	"a character after \\"
#define EXP_END		"the end of the rule"
#define EXP_SERVICE	"rc, ud or auto"
#define EXP_VERDICT	"tcp, sdp or both"
#define EXP_ROLE	"server, listen, client or connect"
#define EXP_ASCII	"only printable ASCII, blanks and newlines"

struct mistake {
	const char *text;
	unsigned int line;
	unsigned int column;
	const char *what;
};

static void expect_mistakes(TEST_CTX, const struct mistake *m, size_t n)
{
	for (; n--; m++)
		expect_wrong(TEST_SELF, m->text, strlen(m->text), m->line, m->column, m->what);
}

TEST(sdp_rules_parse__wrong_words)
{
	static const struct mistake mistakes[] = {
		{ "allow * sdp", 1, 1, EXP_FIRST },
		{ "  listens * sdp", 1, 3, EXP_FIRST },
		{ "\tListen * sdp", 1, 2, EXP_FIRST },
		{ "server * sdp", 1, 1, EXP_FIRST },
		{ "sdp", 1, 1, EXP_FIRST },
		{ "any * sdp\n\n any * sdp;x", 3, 12, EXP_FIRST },
		{ "any * sdp # ok\nx", 2, 1, EXP_FIRST },
		{ "listen", 1, 7, EXP_ADDR },
		{ "listen;any * sdp", 1, 7, EXP_ADDR },
		{ "listen # * sdp", 1, 8, EXP_ADDR },
		{ "listen *", 1, 9, EXP_MORE },
		{ "listen *  \t\n sdp", 1, 12, EXP_MORE },
		{ "listen * # sdp", 1, 10, EXP_MORE },
		{ "listen * SDP", 1, 10, EXP_MORE },
		{ "listen * user 3 sdp", 1, 10, EXP_MORE },
		{ "listen * uid 3", 1, 15, EXP_MORE },
		{ "listen * sdp#x", 1, 10, EXP_MORE },
		{ "listen * sdp tcp", 1, 14, EXP_END },
		{ "listen * sdp uid 3", 1, 14, EXP_END },
		{ "any * tcp by ud", 1, 11, EXP_END },
		{ "any * sdp by", 1, 13, EXP_SERVICE },
		{ "any * sdp by udp", 1, 14, EXP_SERVICE },
		{ "any * sdp by ud rc", 1, 17, EXP_END },
		{ "any * by ud sdp", 1, 7, EXP_MORE },
		{ "listen * both by ud", 1, 15,
		  "the end of the rule: listeners take connections by all services" },
	};

	expect_mistakes(TEST_SELF, mistakes, ARRAY_SIZE(mistakes));
}

TEST(sdp_rules_parse__wrong_addresses)
{
	static const struct mistake mistakes[] = {
		{ "any localhost:80 sdp", 1, 5, EXP_ADDR },
		{ "any :80 sdp", 1, 5, EXP_ADDR },
		{ "any : sdp", 1, 5, EXP_ADDR },
		{ "any 10.9.0:80 sdp", 1, 11, EXP_ADDR },
		{ "any 10 sdp", 1, 7, EXP_ADDR },
		{ "any 10.9.0.256 sdp", 1, 12, EXP_ADDR },
		{ "any 10.9.0.01 sdp", 1, 12, EXP_ADDR },
		{ "any 10.9.0.99999999999999999999 sdp", 1, 12, EXP_ADDR },
		{ "any 10.9.0.1.2 sdp", 1, 13, EXP_TAIL },
		{ "any 10.9.0.1x sdp", 1, 13, EXP_TAIL },
		{ "any *x sdp", 1, 6, EXP_TAIL },
		{ "any */24 sdp", 1, 6, EXP_TAIL },
		{ "any 10.9.0.0/33 sdp", 1, 14, "a prefix from 0 to 32" },
		{ "any 10.9.0.0/ sdp", 1, 14, "a prefix from 0 to 32" },
		{ "any 10.9.0.0/024 sdp", 1, 14, "a prefix from 0 to 32" },
		{ "any 10.9.0.0/-1 sdp", 1, 14, "a prefix from 0 to 32" },
		{ "any 10.9.0.1/24:80 sdp", 1, 5, EXP_HOST },
		{ "any 10.9.0.0/0 sdp", 1, 5, EXP_HOST },
		{ "any 0.0.0.1/31 sdp", 1, 5, EXP_HOST },
		{ "any [fd00::1/64]:80 sdp", 1, 5, EXP_HOST },
		{ "any [fd00::1/129]:80 sdp", 1, 14, "a prefix from 0 to 128" },
		{ "any [fd00::]/129:80 sdp", 1, 14, "a prefix from 0 to 128" },
		{ "any [fd00::/16]/16:80 sdp", 1, 16, EXP_TAIL },
		{ "any [fd00::1 sdp", 1, 13, "] after the IPv6 address" },
		{ "any [fd00::1:80 sdp", 1, 16, "] after the IPv6 address" },
		{ "any [fd00::1%eth0] sdp", 1, 13, "] after the IPv6 address" },
		{ "any [10.9.0.1] sdp", 1, 14, EXP_ADDR6 },
		{ "any [] sdp", 1, 6, EXP_ADDR6 },
		{ "any [*]:80 sdp", 1, 6, EXP_ADDR6 },
		{ "any [:1] sdp", 1, 7, EXP_ADDR6 },
		{ "any [1:] sdp", 1, 8, EXP_ADDR6 },
		{ "any [1:2] sdp", 1, 9, EXP_ADDR6 },
		{ "any [1::2::3] sdp", 1, 11, EXP_ADDR6 },
		{ "any [1::2:] sdp", 1, 11, EXP_ADDR6 },
		{ "any [12345::] sdp", 1, 10, EXP_ADDR6 },
		{ "any [1:2:3:4:5:6:7:8:9] sdp", 1, 22, EXP_ADDR6 },
		{ "any [1:2:3:4:5:6:7::8] sdp", 1, 22, EXP_ADDR6 },
		{ "any [1:2:3:4:5:6:7:8::] sdp", 1, 23, EXP_ADDR6 },
		{ "any [::1.2.3] sdp", 1, 13, EXP_ADDR },
		{ "any [::1.2.3.a] sdp", 1, 14, EXP_ADDR },
		{ "any fd00::1 sdp", 1, 5, EXP_BRACKETS },
		{ "any fd00::1:80 sdp", 1, 5, EXP_BRACKETS },
		{ "any :::80 sdp", 1, 5, EXP_BRACKETS },
		{ "any 10:80 sdp", 1, 10, EXP_ADDR6 },
		{ "use sdp client * fd00::1:80", 1, 18, EXP_BRACKETS },
	};

	expect_mistakes(TEST_SELF, mistakes, ARRAY_SIZE(mistakes));
}

TEST(sdp_rules_parse__wrong_ports)
{
	static const struct mistake mistakes[] = {
		{ "any *: sdp", 1, 7, EXP_PORT },
		{ "any *:0 sdp", 1, 7, EXP_PORT },
		{ "any *:00 sdp", 1, 7, EXP_PORT },
		{ "any *:080 sdp", 1, 7, EXP_PORT },
		{ "any *:65536 sdp", 1, 7, EXP_PORT },
		{ "any *:4294967377 sdp", 1, 7, EXP_PORT },
		{ "any *:18446744073709551617 sdp", 1, 7, EXP_PORT },
		{ "any *:http sdp", 1, 7, EXP_PORT },
		{ "any *:-80 sdp", 1, 7, EXP_PORT },
		{ "any *:80- sdp", 1, 10, EXP_PORT },
		{ "any *:0-80 sdp", 1, 7, EXP_PORT },
		{ "any *:80-65536 sdp", 1, 10, EXP_PORT },
		{ "any *:80-* sdp", 1, 10, EXP_PORT },
		{ "any *:89-80 sdp", 1, 10, EXP_LAST },
		{ "any *:80,81 sdp", 1, 9, EXP_TAIL },
		{ "any *:80-81-82 sdp", 1, 12, EXP_TAIL },
		{ "any *:** sdp", 1, 8, EXP_TAIL },
		{ "any * :80 sdp", 1, 7, EXP_MORE },
	};

	expect_mistakes(TEST_SELF, mistakes, ARRAY_SIZE(mistakes));
}

TEST(sdp_rules_parse__wrong_conditions)
{
	static const struct mistake mistakes[] = {
		{ "any * program", 1, 14, EXP_PROGRAM },
		{ "any * program; any * sdp", 1, 14, EXP_PROGRAM },
		{ "any * program #x sdp", 1, 15, EXP_PROGRAM },
		{ "any * program a program b sdp", 1, 17, EXP_AGAIN },
		{ "any * path * uid 3 path * sdp", 1, 20, EXP_AGAIN },
		{ "any * cgroup * cgroup * sdp", 1, 16, EXP_AGAIN },
		{ "any * uid 0-4294967294 uid 3 sdp", 1, 24, EXP_AGAIN },
		{ "any * program abcdefghijklmnop sdp", 1, 15, EXP_COMM },
		{ "any * program *abcdefghijklmn[op]? sdp", 1, 15, EXP_COMM },
		{ "any * program [a sdp", 1, 15, EXP_CLOSED },
		{ "any * program ab[z-a] sdp", 1, 17, EXP_CLOSED },
		{ "any * program [[:digit:]] sdp", 1, 15, EXP_CLOSED },
		{ "any * program ab\\ sdp", 1, 17, EXP_ESCAPE },
		{ "any * path", 1, 11, EXP_PATH },
		{ "any * path bin/x sdp", 1, 12, EXP_PATH },
		{ "any * path /[ sdp", 1, 13, EXP_CLOSED },
		{ "any * cgroup system.slice sdp", 1, 14, EXP_PATH },
		{ "any * cgroup\nsdp", 1, 13, EXP_PATH },
		{ "any * uid", 1, 10, EXP_UID },
		{ "any * uid root sdp", 1, 11, EXP_UID },
		{ "any * uid 33x sdp", 1, 13, EXP_UID },
		{ "any * uid 033 sdp", 1, 11, EXP_UID },
		{ "any * uid 4294967295 sdp", 1, 11, EXP_UID },
		{ "any * uid 3- sdp", 1, 13, EXP_UID },
		{ "any * uid 3-4-5 sdp", 1, 14, EXP_UID },
		{ "any * uid 4-3 sdp", 1, 13, EXP_LAST },
	};

	expect_mistakes(TEST_SELF, mistakes, ARRAY_SIZE(mistakes));
}

TEST(sdp_rules_parse__wrong_libsdp_lines)
{
	static const struct mistake mistakes[] = {
		{ "use", 1, 4, EXP_VERDICT },
		{ "use server * *:*", 1, 5, EXP_VERDICT },
		{ "use program", 1, 5, EXP_VERDICT },
		{ "use sdp", 1, 8, EXP_ROLE },
		{ "use sdp any * *:*", 1, 9, EXP_ROLE },
		{ "use sdp server", 1, 15, EXP_PROGRAM },
		{ "use sdp server *", 1, 17, EXP_ADDR },
		{ "use sdp server *:*", 1, 19, EXP_ADDR },
		{ "use sdp server abcdefghijklmnop *:*", 1, 16, EXP_COMM },
		{ "use sdp server [a *:*", 1, 16, EXP_CLOSED },
		{ "use sdp server * *:* uid 3", 1, 22, EXP_END },
		{ "use sdp server * * :80", 1, 20, EXP_END },
		{ "use sdp client * 10.9.0.1/24:*", 1, 18, EXP_HOST },
		{ "log x\nlogs x", 2, 1, EXP_FIRST },
	};

	expect_mistakes(TEST_SELF, mistakes, ARRAY_SIZE(mistakes));
}

/* NUL, other control bytes and non-ASCII bytes are illegal everywhere, also in comments. */
TEST(sdp_rules_parse__wrong_bytes)
{
	static const char nul[] = "any * sdp\n#\0x";
	static const struct mistake mistakes[] = {
		{ "any * sdp\r\n", 1, 10, EXP_ASCII },
		{ "# \x1b[31m", 1, 3, EXP_ASCII },
		{ "any *\xc2\xa0sdp", 1, 6, EXP_ASCII },
		{ "any * program \xff sdp", 1, 15, EXP_ASCII },
		{ "\x7f", 1, 1, EXP_ASCII },
		{ "\n\n \v", 3, 2, EXP_ASCII },
	};
	char text[] = "#?";
	int byte;

	expect_mistakes(TEST_SELF, mistakes, ARRAY_SIZE(mistakes));
	expect_wrong(TEST_SELF, nul, sizeof(nul) - 1, 2, 2, EXP_ASCII);
	for (byte = 1; byte < 256; byte++) {
		text[1] = (char)byte;
		if ((byte >= 32 && byte < 127) || byte == '\n' || byte == '\t')
			EXPECT_EQ(0, parse(TEST_SELF, text));
		else
			expect_wrong(TEST_SELF, text, 2, 1, 2, EXP_ASCII);
	}
}

/* Fill @big with @times copies of a line, and with blanks up to @len bytes. */
static void fill(const char *line, unsigned int times, size_t len)
{
	size_t at = 0;

	memset(big, ' ', len);
	for (; times; times--, at += strlen(line))
		memcpy(big + at, line, strlen(line));
}

TEST(sdp_rules_parse__as_many_rules_as_may_be)
{
	static const char line[] = "any * tcp;\n";
	struct sdp_rules_error error;
	size_t len = strlen(line) * 256;

	fill(line, 257, SDP_POLICY_TEXT_MAX);
	EXPECT_EQ(256, sdp_rules_parse(big, len, rules, SDP_POLICY_RULES_MAX, &error));
	EXPECT_EQ(256, rules[255].line);
	EXPECT_EQ(256U, sdp_rules_bound(big, len));
	expect_wrong(TEST_SELF, big, SDP_POLICY_TEXT_MAX, 257, 1, "no more than 256 rules");
	EXPECT_EQ(256U, sdp_rules_bound(big, SDP_POLICY_TEXT_MAX));
	/* Text that makes no rule may still follow. */
	memcpy(big + len, "log x # y;\n", 11);
	EXPECT_EQ(256, sdp_rules_parse(big, len + 11, rules, SDP_POLICY_RULES_MAX, &error));
	/* The parser writes no rule beyond the given number. */
	memset(&rules[3], 0xee, sizeof(rules[3]));
	EXPECT_EQ(-1, sdp_rules_parse(big, len, rules, 3, &error));
	EXPECT_EQ(4U, error.line);
	EXPECT_EQ(0xee, rules[3].roles);
	EXPECT_EQ(-1, sdp_rules_parse(big, len, rules, 0, &error));
	EXPECT_EQ(1U, error.line);
}

TEST(sdp_rules_parse__as_long_as_may_be)
{
	struct sdp_rules_error error;

	fill("any * tcp\n", 1, SDP_POLICY_TEXT_MAX + 1);
	EXPECT_EQ(1, sdp_rules_parse(big, SDP_POLICY_TEXT_MAX, rules, 1, &error));
	expect_wrong(TEST_SELF, big, SDP_POLICY_TEXT_MAX + 1, 2, SDP_POLICY_TEXT_MAX - 10 + 1,
		     "no more than 16384 bytes");
	/* A text of newlines only: the number of the last line fits. */
	memset(big, '\n', SDP_POLICY_TEXT_MAX);
	memcpy(big + SDP_POLICY_TEXT_MAX - 9, "any * sdp", 9);
	EXPECT_EQ(1, sdp_rules_parse(big, SDP_POLICY_TEXT_MAX, rules, 1, &error));
	EXPECT_EQ(SDP_POLICY_TEXT_MAX - 8, rules[0].line);
	/* A pattern of 255 bytes at the end of the text, and one of 256. */
	memset(big, 'a', SDP_POLICY_TEXT_MAX);
	memcpy(big, "any * path /", 12);
	memcpy(big + 11 + 255, " tcp", 4);
	EXPECT_EQ(1, sdp_rules_parse(big, 11 + 255 + 4, rules, 1, &error));
	EXPECT_EQ(255, rules[0].path.len);
	memcpy(big + 11 + 255, "a tcp", 5);
	expect_wrong(TEST_SELF, big, 11 + 255 + 5, 1, 12, "a pattern of at most 255 bytes");
}

TEST(sdp_rules_bound__counts_separators)
{
	EXPECT_EQ(1U, sdp_rules_bound("", 0));
	EXPECT_EQ(1U, sdp_rules_bound("any * sdp", 9));
	EXPECT_EQ(3U, sdp_rules_bound("a;b\nc", 5));
}

TEST(sdp_rules_match__first_that_matches)
{
	static const char text[] = "connect 10.9.0.0/24:5201 both\n"
				   "connect 10.9.0.0/16 tcp\n"
				   "listen *:5201 sdp\n"
				   "any 10.0.0.0/8 sdp\n";
	static const struct {
		enum sdp_role role;
		u8 b, c;
		u16 port;
		int decides;
	} asked[] = {
		{ SDP_ROLE_CONNECT, 9, 0, 5201, 0 },
		{ SDP_ROLE_CONNECT, 9, 0, 5202, 1 },
		{ SDP_ROLE_CONNECT, 9, 1, 5201, 1 },
		{ SDP_ROLE_CONNECT, 8, 1, 5201, 3 },
		{ SDP_ROLE_LISTEN, 9, 0, 5201, 2 },
		{ SDP_ROLE_LISTEN, 9, 0, 5202, 3 },
	};
	const struct sdp_rule *seen;
	struct sdp_query q;
	unsigned int i;

	EXPECT_EQ(4, parse(TEST_SELF, text));
	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		q = query(asked[i].role, 10, asked[i].b, asked[i].c, 1, asked[i].port);
		seen = sdp_rules_match(rules, 4, text, &q);
		EXPECT_EQ(asked[i].decides, (int)(seen - rules));
	}
	q = query(SDP_ROLE_CONNECT, 11, 0, 0, 1, 80);
	EXPECT_TRUE(!sdp_rules_match(rules, 4, text, &q));
	EXPECT_TRUE(!sdp_rules_match(rules, 0, text, &q));
}

TEST(sdp_rules_match__role)
{
	struct sdp_query listening = query(SDP_ROLE_LISTEN, 10, 9, 0, 1, 80);
	struct sdp_query connecting = query(SDP_ROLE_CONNECT, 10, 9, 0, 1, 80);

	EXPECT_TRUE(matches(TEST_SELF, "listen * sdp", &listening));
	EXPECT_FALSE(matches(TEST_SELF, "listen * sdp", &connecting));
	EXPECT_FALSE(matches(TEST_SELF, "connect * sdp", &listening));
	EXPECT_TRUE(matches(TEST_SELF, "connect * sdp", &connecting));
	EXPECT_TRUE(matches(TEST_SELF, "any * sdp", &listening));
	EXPECT_TRUE(matches(TEST_SELF, "any * sdp", &connecting));
	EXPECT_TRUE(matches(TEST_SELF, "use sdp server * *:*", &listening));
	EXPECT_FALSE(matches(TEST_SELF, "use sdp client * *:*", &listening));
	EXPECT_TRUE(matches(TEST_SELF, "use sdp client * *:*", &connecting));
}

/* Each prefix matches an address that differs behind it, and none that differs in its last bit. */
TEST(sdp_rules_match__every_prefix)
{
	struct sdp_rule rule = { .roles = 1, .port_last = 65535, .uid_last = ~0U };
	struct sdp_query q = query6(SDP_ROLE_LISTEN, 0, 0, 80);
	unsigned int i, prefix;

	for (i = 0; i < 16; i++) {
		rule.addr[i] = (u8)(0x5a + i);
		q.addr[i] = rule.addr[i];
	}
	for (prefix = 0; prefix <= 128; prefix++) {
		rule.prefix = (u8)prefix;
		EXPECT_TRUE(sdp_rules_match(&rule, 1, "", &q) == &rule);
		if (prefix < 128) {
			q.addr[prefix / 8] ^= 0x80 >> prefix % 8;
			/*
			 * The rule's own bits behind the prefix are ignored. Only the parser
			 * requires them to be 0.
			 */
			EXPECT_TRUE(sdp_rules_match(&rule, 1, "", &q) == &rule);
			q.addr[prefix / 8] ^= 0x80 >> prefix % 8;
		}
		if (prefix) {
			i = prefix - 1;
			q.addr[i / 8] ^= 0x80 >> i % 8;
			EXPECT_TRUE(!sdp_rules_match(&rule, 1, "", &q));
			q.addr[i / 8] ^= 0x80 >> i % 8;
		}
	}
}

/* An IPv4 rule also matches the v4-mapped address. A rule for all of IPv6 does not. */
TEST(sdp_rules_match__ip_versions)
{
	struct sdp_query v4 = query(SDP_ROLE_CONNECT, 10, 9, 0, 1, 80);
	struct sdp_query v6 = query6(SDP_ROLE_CONNECT, 0xfd00, 1, 80);
	struct sdp_query any6 = query6(SDP_ROLE_CONNECT, 0, 0, 80);

	EXPECT_TRUE(matches(TEST_SELF, "any * sdp", &v4));
	EXPECT_TRUE(matches(TEST_SELF, "any * sdp", &v6));
	EXPECT_TRUE(matches(TEST_SELF, "any 0.0.0.0/0 sdp", &v4));
	EXPECT_FALSE(matches(TEST_SELF, "any 0.0.0.0/0 sdp", &v6));
	EXPECT_FALSE(matches(TEST_SELF, "any 0.0.0.0/0 sdp", &any6));
	EXPECT_FALSE(matches(TEST_SELF, "any [::/0] sdp", &v4));
	EXPECT_TRUE(matches(TEST_SELF, "any [::/0] sdp", &v6));
	EXPECT_FALSE(matches(TEST_SELF, "any [::/64] sdp", &v4));
	EXPECT_TRUE(matches(TEST_SELF, "any [::] sdp", &any6));
	EXPECT_FALSE(matches(TEST_SELF, "any [::] sdp", &v6));
	EXPECT_TRUE(matches(TEST_SELF, "any [::ffff:10.9.0.0/120] sdp", &v4));
	EXPECT_TRUE(matches(TEST_SELF, "any [::ffff:0:0/96] sdp", &v4));
	EXPECT_TRUE(matches(TEST_SELF, "any fd00::/8 sdp", &v6));
	EXPECT_FALSE(matches(TEST_SELF, "any fe00::/8 sdp", &v6));
	EXPECT_TRUE(matches(TEST_SELF, "any 10.9.0.1:80 sdp", &v4));
	EXPECT_FALSE(matches(TEST_SELF, "any 10.9.0.2:80 sdp", &v4));
}

TEST(sdp_rules_match__ports_and_users)
{
	struct sdp_query q = query(SDP_ROLE_CONNECT, 10, 9, 0, 1, 0);
	u32 n;

	for (n = 79; n <= 91; n++) {
		q.port = (u16)n;
		q.uid = 1000;
		EXPECT_EQ(n >= 80 && n <= 90, matches(TEST_SELF, "any *:80-90 sdp", &q));
		EXPECT_EQ(n == 80, matches(TEST_SELF, "any *:80 sdp", &q));
		q.uid = n;
		EXPECT_EQ(n >= 80 && n <= 90, matches(TEST_SELF, "any * uid 80-90 sdp", &q));
		EXPECT_EQ(n == 80, matches(TEST_SELF, "any * uid 80 sdp", &q));
	}
	/* A port that is not known yet is 0, which only a rule for any port matches. */
	q.port = 0;
	EXPECT_TRUE(matches(TEST_SELF, "any *:* sdp", &q));
	EXPECT_FALSE(matches(TEST_SELF, "any *:1-65535 sdp", &q));
	q.uid = ~0U;
	EXPECT_TRUE(matches(TEST_SELF, "any * sdp", &q));
	EXPECT_FALSE(matches(TEST_SELF, "any * uid 0-4294967294 sdp", &q));
}

TEST(sdp_rules_match__patterns)
{
	struct sdp_query q = query(SDP_ROLE_CONNECT, 10, 9, 0, 1, 80);

	EXPECT_TRUE(matches(TEST_SELF, "any * program iperf? sdp", &q));
	EXPECT_FALSE(matches(TEST_SELF, "any * program iperf sdp", &q));
	EXPECT_TRUE(matches(TEST_SELF, "any * path /usr/*/iperf[0-9] sdp", &q));
	EXPECT_FALSE(matches(TEST_SELF, "any * path /opt/* sdp", &q));
	EXPECT_TRUE(matches(TEST_SELF, "any * cgroup /user.slice/* sdp", &q));
	EXPECT_FALSE(matches(TEST_SELF, "any * cgroup /system.slice/* sdp", &q));
	/* All conditions of a rule must match. */
	EXPECT_TRUE(matches(TEST_SELF, "any * program i* path /u* cgroup /u* uid 1000 sdp", &q));
	EXPECT_FALSE(matches(TEST_SELF, "any * program x* path /u* cgroup /u* uid 1000 sdp", &q));
	EXPECT_FALSE(matches(TEST_SELF, "any * program i* path /x* cgroup /u* uid 1000 sdp", &q));
	EXPECT_FALSE(matches(TEST_SELF, "any * program i* path /u* cgroup /x* uid 1000 sdp", &q));
	EXPECT_FALSE(matches(TEST_SELF, "any * program i* path /u* cgroup /u* uid 1001 sdp", &q));
	EXPECT_TRUE(matches(TEST_SELF, "use sdp client iperf* *:*", &q));
	EXPECT_FALSE(matches(TEST_SELF, "use sdp client ttcp *:*", &q));
}

/* A condition on an unknown value does not match, not even with "*". */
TEST(sdp_rules_match__unknown)
{
	struct sdp_query q = query(SDP_ROLE_CONNECT, 10, 9, 0, 1, 80);

	q.path = NULL;
	EXPECT_FALSE(matches(TEST_SELF, "any * path * sdp", &q));
	EXPECT_TRUE(matches(TEST_SELF, "any * program * cgroup * sdp", &q));
	q.cgroup = NULL;
	EXPECT_FALSE(matches(TEST_SELF, "any * cgroup * sdp", &q));
	EXPECT_TRUE(matches(TEST_SELF, "any * program * sdp", &q));
	q.comm = NULL;
	EXPECT_FALSE(matches(TEST_SELF, "any * program * sdp", &q));
	EXPECT_TRUE(matches(TEST_SELF, "any * sdp", &q));
	EXPECT_TRUE(matches(TEST_SELF, "use sdp client * *:*", &q));
}

TEST(sdp_rules_need__only_what_is_asked_for)
{
	EXPECT_EQ(2, parse(TEST_SELF, "any * program a uid 3 sdp; use tcp server x *:*"));
	EXPECT_FALSE(sdp_rules_need_path(rules, 2));
	EXPECT_FALSE(sdp_rules_need_cgroup(rules, 2));
	EXPECT_EQ(2, parse(TEST_SELF, "any * program a sdp; any * path /x sdp"));
	EXPECT_TRUE(sdp_rules_need_path(rules, 2));
	EXPECT_FALSE(sdp_rules_need_path(rules, 1));
	EXPECT_FALSE(sdp_rules_need_cgroup(rules, 2));
	EXPECT_EQ(2, parse(TEST_SELF, "any * sdp; any * cgroup * sdp"));
	EXPECT_FALSE(sdp_rules_need_path(rules, 2));
	EXPECT_TRUE(sdp_rules_need_cgroup(rules, 2));
}

TEST(sdp_verdict_name__all)
{
	EXPECT_STREQ("tcp", sdp_verdict_name(SDP_VERDICT_TCP));
	EXPECT_STREQ("sdp", sdp_verdict_name(SDP_VERDICT_SDP));
	EXPECT_STREQ("both", sdp_verdict_name(SDP_VERDICT_BOTH));
	EXPECT_STREQ("unknown", sdp_verdict_name(SDP_VERDICTS));
}

TEST_MAIN
