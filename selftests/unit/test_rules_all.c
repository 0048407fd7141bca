// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the policy (J2): every combination of rule parts against every kind of socket.
 *
 * The expected answer is computed from the parts of the rule. Then two rules at a time, of which
 * the first that matches decides.
 */
#include "rules.h"
#include "test.h"

/* Number of different values of each property of a socket. */
enum { ADDRS = 6, PORTS = 5, PROGRAMS = 3, ROLES = 2 };

static const u8 addrs[ADDRS][16] = {
	{ [10] = 0xff, 0xff, 10, 9, 0, 7 },
	{ [10] = 0xff, 0xff, 10, 9, 0, 200 },
	{ [10] = 0xff, 0xff, 10, 8, 0, 7 },
	{ 0xfd, [15] = 7 },
	{ 0xfe, 0x80, [15] = 7 },
	{ 0 },
};

/* 0 is a port that is not known yet. Only a rule for any port matches it. */
static const u16 ports[PORTS] = { 0, 80, 85, 89, 443 };
static const char * const programs[PROGRAMS] = { "iperf3", "nginx", NULL };

/* A part of a rule, and the values that it matches: bit n for value n. */
struct part {
	const char *text;
	unsigned int fits;
};

static const struct part roles[] = {
	{ "listen", 1 << SDP_ROLE_LISTEN },
	{ "connect", 1 << SDP_ROLE_CONNECT },
	{ "any", 1 << SDP_ROLE_LISTEN | 1 << SDP_ROLE_CONNECT },
};

static const struct part targets[] = {
	{ "*", 0x3f },
	{ "10.9.0.7", 0x01 },
	{ "10.9.0.0/24", 0x03 },
	{ "10.9.0.0/25", 0x01 },
	{ "10.8.0.0/15", 0x07 },
	{ "0.0.0.0/0", 0x07 },
	{ "[fd00::7]", 0x08 },
	{ "[fd00::/16]", 0x08 },
	{ "[fc00::/6]", 0x18 },
	{ "[::/0]", 0x38 },
	{ "[::ffff:0:0/96]", 0x07 },
	{ "[::]", 0x20 },
};

static const struct part gates[] = {
	{ "", 0x1f }, { ":*", 0x1f }, { ":80", 0x02 }, { ":80-89", 0x0e }, { ":86-65535", 0x18 },
};

static const struct part names[] = {
	{ "", 7 }, { " program iperf3", 1 }, { " program *n*", 2 }, { " program *", 3 },
	{ " program x", 0 },
};

static const char * const verdicts[SDP_VERDICTS] = { "tcp", "sdp", "both" };

enum {
	RULES = ARRAY_SIZE(roles) * ARRAY_SIZE(targets) * ARRAY_SIZE(gates) * ARRAY_SIZE(names) *
		SDP_VERDICTS,
	QUESTIONS = ROLES * ADDRS * PORTS * PROGRAMS,
};

/* The parts of a rule. */
struct chosen {
	const struct part *role, *target, *gate, *name;
	enum sdp_verdict verdict;
};

static struct chosen choose(unsigned int n)
{
	struct chosen c;

	c.verdict = (enum sdp_verdict)(n % SDP_VERDICTS);
	n /= SDP_VERDICTS;
	c.name = &names[n % ARRAY_SIZE(names)];
	n /= ARRAY_SIZE(names);
	c.gate = &gates[n % ARRAY_SIZE(gates)];
	n /= ARRAY_SIZE(gates);
	c.target = &targets[n % ARRAY_SIZE(targets)];
	c.role = &roles[n / ARRAY_SIZE(targets)];
	return c;
}

static size_t write_rule(char *to, size_t size, const struct chosen *c)
{
	return (size_t)snprintf(to, size, "%s %s%s%s %s\n", c->role->text, c->target->text,
				c->gate->text, c->name->text, verdicts[c->verdict]);
}

static struct sdp_query question(unsigned int n)
{
	struct sdp_query q = { .path = "/x", .cgroup = "/", .uid = 7 };

	q.role = (enum sdp_role)(n % ROLES);
	n /= ROLES;
	q.port = ports[n % PORTS];
	n /= PORTS;
	q.comm = programs[n % PROGRAMS];
	memcpy(q.addr, addrs[n / PROGRAMS], sizeof(q.addr));
	return q;
}

/* Does the rule match socket @n? question() encodes the properties in the same order. */
static bool fits(const struct chosen *c, unsigned int n)
{
	unsigned int role = n % ROLES, port = n / ROLES % PORTS;
	unsigned int program = n / ROLES / PORTS % PROGRAMS, addr = n / ROLES / PORTS / PROGRAMS;

	return c->role->fits >> role & 1 && c->gate->fits >> port & 1 &&
	       c->name->fits >> program & 1 && c->target->fits >> addr & 1;
}

/* Number of wrong answers of a policy of @count rules. */
static unsigned int wrong_answers(TEST_CTX, const struct chosen *c, unsigned int count)
{
	struct sdp_rules_error error = {};
	const struct sdp_rule *seen;
	struct sdp_rule rules[2];
	unsigned int n, i, wrong = 0;
	struct sdp_query q;
	size_t len = 0;
	char text[200];

	for (i = 0; i < count; i++)
		len += write_rule(text + len, sizeof(text) - len, &c[i]);
	EXPECT_EQ((int)count, sdp_rules_parse(text, len, rules, 2, &error));
	for (n = 0; n < QUESTIONS; n++) {
		for (i = 0; i < count && !fits(&c[i], n); i++)
			;
		q = question(n);
		seen = sdp_rules_match(rules, count, text, &q);
		if (i == count ? !!seen :
		    seen != &rules[i] || seen->verdict != (u8)c[i].verdict)
			wrong++;
	}
	if (wrong)
		CASE_NOTE("%u wrong answers: %s", wrong, text);
	return wrong;
}

TEST(sdp_rules_match__every_combination)
{
	unsigned int n, wrong = 0;
	struct chosen c;

	for (n = 0; n < RULES && !wrong; n++) {
		c = choose(n);
		wrong += wrong_answers(TEST_SELF, &c, 1);
	}
	EXPECT_EQ(0U, wrong);
}

/* Includes the same rule twice with different verdicts. */
TEST(sdp_rules_match__two_of_them)
{
	unsigned int n, i, wrong = 0;
	struct chosen c[2];

	for (n = 0; n < RULES && !wrong; n++) {
		c[0] = choose(n);
		for (i = 0; i < 2; i++) {
			c[1] = i ? choose((n * 1009 + 577) % RULES) : c[0];
			c[1].verdict = (enum sdp_verdict)((c[0].verdict + 1 + i) % SDP_VERDICTS);
			wrong += wrong_answers(TEST_SELF, c, 2);
		}
	}
	EXPECT_EQ(0U, wrong);
}

TEST_MAIN
