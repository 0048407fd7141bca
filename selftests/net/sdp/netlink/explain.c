// SPDX-License-Identifier: GPL-2.0
/*
 * SDP_CMD_POLICY_EXPLAIN says what the rules decide and what becomes of a socket.
 */
#include "netlink.h"

struct explained {
	int answers;
	char verdict[8], rule[200], device[64];
	unsigned int line, rewrite, silent_ms;
	bool has_line, has_silent, has_device;
};

static void take_explained(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attrs[SDP_EXPLAIN_A_MAX + 1];
	struct explained *e = arg;

	nl_attrs(nlh, attrs, SDP_EXPLAIN_A_MAX);
	e->answers++;
	snprintf(e->verdict, sizeof(e->verdict), "%s",
		 text_of(attrs[SDP_EXPLAIN_A_VERDICT], "VERDICT"));
	e->rewrite = u8_of(attrs[SDP_EXPLAIN_A_REWRITE], "REWRITE");
	e->has_line = attrs[SDP_EXPLAIN_A_LINE];
	need(e->has_line == !!attrs[SDP_EXPLAIN_A_RULE], "one of LINE and RULE");
	if (e->has_line) {
		e->line = u32_of(attrs[SDP_EXPLAIN_A_LINE], "LINE");
		snprintf(e->rule, sizeof(e->rule), "%s",
			 text_of(attrs[SDP_EXPLAIN_A_RULE], "RULE"));
	}
	e->has_silent = attrs[SDP_EXPLAIN_A_SILENT_MS];
	if (e->has_silent)
		e->silent_ms = u32_of(attrs[SDP_EXPLAIN_A_SILENT_MS], "SILENT_MS");
	e->has_device = attrs[SDP_EXPLAIN_A_DEVICE];
	if (e->has_device)
		snprintf(e->device, sizeof(e->device), "%s",
			 text_of(attrs[SDP_EXPLAIN_A_DEVICE], "DEVICE"));
}

/* A question. NULL and -1: the attribute is left out. */
struct asked {
	bool listens;
	const char *addr;	/* NULL for the set's server */
	unsigned int port;
	const char *comm, *path, *cgroup;
	long uid;
};

static struct explained explain(struct nl *nl, const struct asked *q)
{
	struct request *r = nl_do(nl, SDP_CMD_POLICY_EXPLAIN);
	struct explained e = { 0 };
	struct addr a;
	int error;

	a = q->addr ? addr_make(strchr(q->addr, ':') ? AF_INET6 : AF_INET, q->addr, q->port) :
		      server_addr(q->port);
	mnl_attr_put_u8(&r->nlh, SDP_EXPLAIN_A_ROLE, !q->listens);
	put_addr(r, SDP_EXPLAIN_A_ADDR, &a);
	mnl_attr_put_u16(&r->nlh, SDP_EXPLAIN_A_PORT, q->port);
	if (q->comm)
		mnl_attr_put_strz(&r->nlh, SDP_EXPLAIN_A_COMM, q->comm);
	if (q->path)
		mnl_attr_put_str(&r->nlh, SDP_EXPLAIN_A_PATH, q->path);
	if (q->cgroup)
		mnl_attr_put_strz(&r->nlh, SDP_EXPLAIN_A_CGROUP, q->cgroup);
	if (q->uid >= 0)
		mnl_attr_put_u32(&r->nlh, SDP_EXPLAIN_A_UID, q->uid);
	error = nl_talk(nl, r, take_explained, &e);
	need(!error && e.answers == 1, "EXPLAIN: %s %s", errno_text(error), nl->said);
	return e;
}

static const char rules_text[] =
	"# a policy\n"						/* line 1 */
	"connect 10.9.7.0/24:5201 program iperf3 both\n"	/* line 2 */
	"  listen *:80-89 uid 33 sdp; any *:99 tcp\n"		/* line 3 */
	"connect [fd00:7::/32]:* path /usr/bin/* tcp\n"		/* line 4 */
	"any *:100 cgroup /system.slice/* sdp\n"		/* line 5 */
	"\n"							/* line 6 */
	"any *:101 program fifteen-letters both\n"		/* line 7 */
	"any *:102 uid 0 sdp";					/* line 8, without a newline */

static const struct {
	struct asked q;
	const char *verdict;
	unsigned int line;	/* 0: no rule matches */
	const char *rule;
} matrix[] = {
	{ { false, "10.9.7.5", 5201, "iperf3", NULL, NULL, -1 }, "both", 2,
	  "connect 10.9.7.0/24:5201 program iperf3 both" },
	{ { false, "::ffff:10.9.7.5", 5201, "iperf3", NULL, NULL, -1 }, "both", 2,
	  "connect 10.9.7.0/24:5201 program iperf3 both" },
	{ { true, "10.9.7.5", 5201, "iperf3", NULL, NULL, -1 }, "tcp", 0, NULL },
	{ { false, "10.9.7.5", 5202, "iperf3", NULL, NULL, -1 }, "tcp", 0, NULL },
	{ { false, "10.9.8.5", 5201, "iperf3", NULL, NULL, -1 }, "tcp", 0, NULL },
	{ { false, "10.9.7.5", 5201, "iperf", NULL, NULL, -1 }, "tcp", 0, NULL },
	{ { false, "10.9.7.5", 5201, NULL, NULL, NULL, -1 }, "tcp", 0, NULL },
	{ { true, "0.0.0.0", 80, NULL, NULL, NULL, 33 }, "sdp", 3,
	  "  listen *:80-89 uid 33 sdp; any *:99 tcp" },
	{ { true, "::", 89, NULL, NULL, NULL, 33 }, "sdp", 3,
	  "  listen *:80-89 uid 33 sdp; any *:99 tcp" },
	{ { true, "::", 90, NULL, NULL, NULL, 33 }, "tcp", 0, NULL },
	{ { true, "::", 80, NULL, NULL, NULL, 34 }, "tcp", 0, NULL },
	{ { true, "::", 80, NULL, NULL, NULL, -1 }, "tcp", 0, NULL },
	{ { true, "::1", 99, NULL, NULL, NULL, -1 }, "tcp", 3,
	  "  listen *:80-89 uid 33 sdp; any *:99 tcp" },
	{ { false, "fd00:7::5", 1, NULL, "/usr/bin/x", NULL, -1 }, "tcp", 4,
	  "connect [fd00:7::/32]:* path /usr/bin/* tcp" },
	{ { false, "fd00:7::5", 1, NULL, "/bin/x", NULL, -1 }, "tcp", 0, NULL },
	{ { false, "fd00:7::5", 100, NULL, NULL, "/system.slice/a", -1 }, "sdp", 5,
	  "any *:100 cgroup /system.slice/* sdp" },
	{ { false, "fd00:7::5", 100, NULL, NULL, "/user.slice/a", -1 }, "tcp", 0, NULL },
	{ { false, "fd00:7::5", 100, NULL, NULL, NULL, -1 }, "tcp", 0, NULL },
	{ { false, "1.2.3.4", 101, "fifteen-letters", NULL, NULL, -1 }, "both", 7,
	  "any *:101 program fifteen-letters both" },
	{ { false, "1.2.3.4", 101, "fifteen-letters-and-more", NULL, NULL, -1 }, "both", 7,
	  "any *:101 program fifteen-letters both" },
	{ { false, "1.2.3.4", 102, NULL, NULL, NULL, -1 }, "sdp", 8, "any *:102 uid 0 sdp" },
	{ { false, "1.2.3.4", 102, NULL, NULL, NULL, 1 }, "tcp", 0, NULL },
};

static int explain_rules(void *arg)
{
	struct nl nl = nl_open();
	struct explained e;
	size_t i;
	int on;

	for (on = 0; on < 2; on++) {
		begin_with(rules_text, on, 1000, 60000);
		for (i = 0; i < ARRAY_SIZE(matrix); i++) {
			e = explain(&nl, &matrix[i].q);
			need(!strcmp(e.verdict, matrix[i].verdict), "row %zu: %s", i, e.verdict);
			need(e.line == matrix[i].line && e.has_line == !!matrix[i].line,
			     "row %zu: line %u", i, e.line);
			need(!e.has_line || !strcmp(e.rule, matrix[i].rule), "row %zu: \"%s\"", i,
			     e.rule);
			need(e.rewrite == (unsigned int)on, "row %zu: REWRITE %u", i, e.rewrite);
			need(!matrix[i].q.listens || (!e.has_device && !e.has_silent),
			     "row %zu: DEVICE or SILENT_MS of a listener", i);
		}
	}
	policy_set("\n");
	e = explain(&nl, &matrix[0].q);
	need(!strcmp(e.verdict, "tcp") && !e.has_line, "without rules: %s", e.verdict);
	return EXIT_OK;
}

static int explain_error(struct nl *nl, struct request *r)
{
	struct explained e = { 0 };
	int error = nl_talk(nl, r, take_explained, &e);

	need(!e.answers || !error, "an answer and an errno");
	return error;
}

/* A correct request, but without the attributes whose bits are in @without. */
struct request *explain_request(struct nl *nl, unsigned int without)
{
	struct request *r = nl_do(nl, SDP_CMD_POLICY_EXPLAIN);
	struct addr a = server_addr(80);

	if (!(without & 1u << SDP_EXPLAIN_A_ROLE))
		mnl_attr_put_u8(&r->nlh, SDP_EXPLAIN_A_ROLE, 1);
	if (!(without & 1u << SDP_EXPLAIN_A_ADDR))
		put_addr(r, SDP_EXPLAIN_A_ADDR, &a);
	if (!(without & 1u << SDP_EXPLAIN_A_PORT))
		mnl_attr_put_u16(&r->nlh, SDP_EXPLAIN_A_PORT, 80);
	return r;
}

static int explain_wrong(void *arg)
{
	static const int lengths[] = { 0, 1, 3, 5, 8, 15, 17, 28 };
	static char longest[5000];
	struct nl nl = nl_open();
	struct request *r;
	int error, which;
	size_t i;

	need(!explain_error(&nl, explain_request(&nl, 0)), "a right one: %s", nl.said);
	for (which = SDP_EXPLAIN_A_ROLE; which <= SDP_EXPLAIN_A_PORT; which++) {
		error = explain_error(&nl, explain_request(&nl, 1u << which));
		need(error == EINVAL, "without %d: %s", which, errno_text(error));
		need(!nl.missing || nl.missing == which, "it misses %d instead of %d", nl.missing,
		     which);
	}
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		r = explain_request(&nl, 1u << SDP_EXPLAIN_A_ADDR);
		mnl_attr_put(&r->nlh, SDP_EXPLAIN_A_ADDR, lengths[i], longest);
		error = explain_error(&nl, r);
		need(error == EINVAL || error == ERANGE, "an address of %d bytes: %s", lengths[i],
		     errno_text(error));
	}
	r = explain_request(&nl, 1u << SDP_EXPLAIN_A_ROLE);
	mnl_attr_put_u8(&r->nlh, SDP_EXPLAIN_A_ROLE, 2);
	need(explain_error(&nl, r) == ERANGE, "a third role: %s", nl.said);
	r = explain_request(&nl, 1u << SDP_EXPLAIN_A_PORT);
	mnl_attr_put_u32(&r->nlh, SDP_EXPLAIN_A_PORT, 80);
	error = explain_error(&nl, r);
	need(error == EINVAL || error == ERANGE, "a port of 4 bytes: %s", errno_text(error));
	memset(longest, 'x', sizeof(longest) - 1);
	for (which = SDP_EXPLAIN_A_COMM; which <= SDP_EXPLAIN_A_CGROUP; which++) {
		r = explain_request(&nl, 0);
		mnl_attr_put_strz(&r->nlh, which, longest);
		need(explain_error(&nl, r) == ERANGE, "%d of 5000 bytes: %s", which, nl.said);
		r = explain_request(&nl, 0);
		mnl_attr_put(&r->nlh, which, 8, "abc\0def");
		need(explain_error(&nl, r) == EINVAL, "%d with a NUL inside: %s", which, nl.said);
	}
	for (which = SDP_EXPLAIN_A_VERDICT; which <= SDP_EXPLAIN_A_DEVICE; which++) {
		r = explain_request(&nl, 0);
		mnl_attr_put_u32(&r->nlh, which, 0);
		error = explain_error(&nl, r);
		need(error == EINVAL, "%d asked: %s", which, errno_text(error));
	}
	r = explain_request(&nl, 0);
	mnl_attr_put_u32(&r->nlh, SDP_EXPLAIN_A_MAX + 1, 0);
	need(explain_error(&nl, r) == EINVAL, "an attribute that does not exist: %s", nl.said);
	return EXIT_OK;
}

static struct explained explain_to(struct nl *nl, const struct addr *where)
{
	char text[INET6_ADDRSTRLEN];
	struct asked q = { .addr = text, .port = addr_port(where), .comm = BOTH_SIDE, .uid = -1 };

	inet_ntop(where->sa.sa_family, where->sa.sa_family == AF_INET6 ?
		  (const void *)&where->in6.sin6_addr : (const void *)&where->in.sin_addr, text,
		  sizeof(text));
	return explain(nl, &q);
}

/* The verdict and the device are those of the connect() that follows. */
static int explain_comes_true(void *arg)
{
	static const char *const names[] = { BOTH_SIDE, SDP_SIDE, TCP_SIDE };
	struct nl nl = nl_open();
	struct addr where;
	int listening;
	size_t i;

	by_names();
	listening = listener_of(PAIR, 8, &where);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct asked q = { .port = addr_port(&where), .comm = names[i], .uid = -1 };
		struct explained e = explain(&nl, &q);
		int c = connected_as(names[i], &where);
		bool sdp = strcmp(e.verdict, "tcp");

		close(accept_and_talk(listening, c, sdp ? BY_SDP : BY_TCP));
		if (sdp)
			need(e.has_device && !strcmp(e.device, info_of(c).device),
			     "the device is %s, and it went by %s", e.device, info_of(c).device);
		close(c);
	}
	return EXIT_OK;
}

/* The device for the wildcard address, for an own address, and without a route. */
static int explain_device(void *arg)
{
	struct addr any = wildcard_addr(80), own = client_addr(80), far = server_addr(80);
	struct nl nl = nl_open();
	struct explained e;

	e = explain_to(&nl, &any);
	need(e.has_device && !strcmp(e.device, "loop"), "to any: %s", e.device);
	e = explain_to(&nl, &own);
	need(e.has_device, "no device to an own address");
	new_namespace();
	nl = nl_open();
	e = explain_to(&nl, &far);
	need(e.has_device == (set == &addrsets[SET_LO4] || set == &addrsets[SET_LO6]),
	     "without a route there is %s", e.has_device ? e.device : "no device");
	far = addr_make(AF_INET, "198.51.100.7", 80);
	e = explain_to(&nl, &far);
	need(!e.has_device, "without a route there is %s", e.device);
	return EXIT_OK;
}

/* A peer that did not answer is reported, with the time for which that is remembered. */
static int explain_silent(void *arg)
{
	struct addr where = no_such_host(21600), other = no_such_host(21601);
	long long end = now_ms() + WAIT_MS;
	struct nl nl = nl_open();
	struct explained e;
	unsigned int first;

	by_names();
	setting_set("fallback_ms", 200);
	setting_set("fallback_memory_ms", 60000);
	e = explain_to(&nl, &where);
	need(!e.has_silent, "silent before it is asked");
	connecting_to(&where);
	do {
		pause_ms(20);
		e = explain_to(&nl, &where);
	} while (!e.has_silent && now_ms() < end);
	first = e.silent_ms;
	need(e.has_silent && first > 30000 && first <= 60000, "silent for %u ms", first);
	pause_ms(100);
	e = explain_to(&nl, &where);
	need(e.silent_ms < first, "then for %u ms, and it was %u", e.silent_ms, first);
	need(!explain_to(&nl, &other).has_silent, "another port is silent");
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(explain_rules, 30, ONE_SET),
	CASE(explain_wrong, 30, ONE_SET),
	CASE(explain_comes_true, 30, ALL_SETS),
	CASE(explain_device, 30, ALL_SETS),
	CASE(explain_silent, 30, RC_SETS),
};

const struct test_list explain_tests = TEST_LIST(tests);
