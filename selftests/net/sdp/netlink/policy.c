// SPDX-License-Identifier: GPL-2.0
/*
 * SDP_CMD_POLICY_GET and SDP_CMD_POLICY_SET: a request is done as a whole, or not at all.
 *
 * What they show and set, who may use them, and for which namespace.
 */
#include "netlink.h"

static int policy_shows(void *arg)
{
	static char text[POLICY_MAX + 1], said[200];
	struct nl nl = nl_open();
	static struct shown s;

	begin_with("\n", 0, 1000, 60000);
	need_shown(&nl, "\n", 0, 1000, 60000);
	begin_with(GOOD, 1, 10, 0);
	need_shown(&nl, GOOD, 1, 10, 0);
	memset(text, '#', POLICY_MAX);
	policy_write(text, POLICY_MAX);
	begin_with(GOOD, 0, 3600000, 3600000);
	need(!policy_write(text, POLICY_MAX), "the longest text");
	need_shown(&nl, text, 0, 3600000, 3600000);
	need(policy_write("any * nothing", 13) == EINVAL, "a mistake is taken");
	error_text(said);
	policy_get(&nl, &s);
	said[strcspn(said, "\n")] = 0;
	need(!strcmp(s.error, said) && said[0], "ERROR is \"%s\", not \"%s\"", s.error, said);
	policy_set("%s", GOOD);
	policy_get(&nl, &s);
	need(!s.error[0], "ERROR is \"%s\" after a good text", s.error);
	return EXIT_OK;
}

/* Each of these sets one attribute, and returns 0 or an errno. */
static int set_text(struct nl *nl, const char *text)
{
	struct request *r = nl_do(nl, SDP_CMD_POLICY_SET);

	mnl_attr_put_strz(&r->nlh, SDP_POLICY_A_TEXT, text);
	return nl_talk(nl, r, NULL, NULL);
}

static int set_rewrite(struct nl *nl, int value)
{
	struct request *r = nl_do(nl, SDP_CMD_POLICY_SET);

	mnl_attr_put_u8(&r->nlh, SDP_POLICY_A_REWRITE, value);
	return nl_talk(nl, r, NULL, NULL);
}

static int set_ms(struct nl *nl, int which, unsigned int ms)
{
	struct request *r = nl_do(nl, SDP_CMD_POLICY_SET);

	mnl_attr_put_u32(&r->nlh, which, ms);
	return nl_talk(nl, r, NULL, NULL);
}

static int policy_sets(void *arg)
{
	static char text[POLICY_MAX + 1];
	struct nl nl = nl_open();
	struct request *r;
	int error;

	begin_with("\n", 0, 1000, 60000);
	r = nl_do(&nl, SDP_CMD_POLICY_SET);
	mnl_attr_put_strz(&r->nlh, SDP_POLICY_A_TEXT, GOOD);
	mnl_attr_put_u8(&r->nlh, SDP_POLICY_A_REWRITE, 1);
	mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_FALLBACK_MS, 10);
	mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_FALLBACK_MEMORY_MS, 0);
	error = nl_talk(&nl, r, NULL, NULL);
	need(!error, "SET: %s, %s", errno_text(error), nl.said);
	need_shown(&nl, GOOD, 1, 10, 0);
	need(now_by() == BY_SDP, "it is not in force");
	/* Each attribute alone; the text without the NUL at its end. */
	r = nl_do(&nl, SDP_CMD_POLICY_SET);
	mnl_attr_put_str(&r->nlh, SDP_POLICY_A_TEXT, "any * tcp");
	need(!nl_talk(&nl, r, NULL, NULL), "SET of the text: %s", nl.said);
	need_shown(&nl, "any * tcp", 1, 10, 0);
	need(now_by() == BY_TCP, "the second text is not in force");
	need(!set_rewrite(&nl, 0), "SET of rewrite: %s", nl.said);
	need_shown(&nl, "any * tcp", 0, 10, 0);
	need(!set_ms(&nl, SDP_POLICY_A_FALLBACK_MS, 3600000), "SET of fallback_ms: %s", nl.said);
	need(!set_ms(&nl, SDP_POLICY_A_FALLBACK_MEMORY_MS, 3600000),
	     "SET of fallback_memory_ms: %s", nl.said);
	need_shown(&nl, "any * tcp", 0, 3600000, 3600000);
	/* No attribute, an empty text, and the longest text. */
	need(!nl_talk(&nl, nl_do(&nl, SDP_CMD_POLICY_SET), NULL, NULL), "empty SET: %s", nl.said);
	need_shown(&nl, "any * tcp", 0, 3600000, 3600000);
	need(!set_text(&nl, ""), "no text: %s", nl.said);
	need_shown(&nl, "", 0, 3600000, 3600000);
	memset(text, '#', POLICY_MAX);
	need(!set_text(&nl, text), "the longest text: %s", nl.said);
	need_shown(&nl, text, 0, 3600000, 3600000);
	return EXIT_OK;
}

/* Faults for which a request is refused, although its other attributes are right. */
enum fault {
	BAD_TEXT, LONG_TEXT, NUL_INSIDE, NESTED_TEXT, REWRITE_2, REWRITE_WIDE, REWRITE_EMPTY,
	MS_LOW, MS_HIGH, MS_NARROW, MEMORY_HIGH, ERROR_SET, UNKNOWN, CUT_ATTR, CUT_HEADER,
	LEFT_OVER, FAULTS
};

static const struct {
	const char *name;
	int error, error2;	/* either one */
} faults[FAULTS] = {
	[BAD_TEXT] = { "a mistake in the text", EINVAL, EINVAL },
	[LONG_TEXT] = { "a text that is too long", E2BIG, E2BIG },
	[NUL_INSIDE] = { "a NUL in the text", EINVAL, EINVAL },
	[NESTED_TEXT] = { "a text that calls itself nested", EINVAL, EINVAL },
	[REWRITE_2] = { "rewrite 2", ERANGE, ERANGE },
	[REWRITE_WIDE] = { "rewrite of 4 bytes", EINVAL, ERANGE },
	[REWRITE_EMPTY] = { "rewrite of no byte", EINVAL, ERANGE },
	[MS_LOW] = { "fallback_ms 9", ERANGE, ERANGE },
	[MS_HIGH] = { "fallback_ms 3600001", ERANGE, ERANGE },
	[MS_NARROW] = { "fallback_ms of 2 bytes", EINVAL, ERANGE },
	[MEMORY_HIGH] = { "fallback_memory_ms 2^32 - 1", ERANGE, ERANGE },
	[ERROR_SET] = { "ERROR, which is not to be set", EINVAL, EINVAL },
	[UNKNOWN] = { "an attribute that does not exist", EINVAL, EINVAL },
	[CUT_ATTR] = { "an attribute longer than the message", EINVAL, EINVAL },
	[CUT_HEADER] = { "a message without its header", EINVAL, EINVAL },
	[LEFT_OVER] = { "bytes behind the last attribute", EINVAL, EINVAL },
};

static void put_text(struct request *r, enum fault f)
{
	static char text[POLICY_MAX + 2];

	memset(text, '#', sizeof(text) - 1);
	if (f == BAD_TEXT)
		mnl_attr_put_strz(&r->nlh, SDP_POLICY_A_TEXT, "any * sdp\n  listen * xyz");
	else if (f == LONG_TEXT)
		mnl_attr_put_strz(&r->nlh, SDP_POLICY_A_TEXT, text);
	else if (f == NUL_INSIDE)
		mnl_attr_put(&r->nlh, SDP_POLICY_A_TEXT, 14, "any * sdp\0\0\0\0");
	else
		mnl_attr_put_strz(&r->nlh, SDP_POLICY_A_TEXT |
				  (f == NESTED_TEXT ? NLA_F_NESTED : 0), "any * sdp");
}

static void put_rewrite(struct request *r, enum fault f)
{
	if (f == REWRITE_WIDE)
		mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_REWRITE, 1);
	else if (f == REWRITE_EMPTY)
		mnl_attr_put(&r->nlh, SDP_POLICY_A_REWRITE, 0, NULL);
	else
		mnl_attr_put_u8(&r->nlh, SDP_POLICY_A_REWRITE, f == REWRITE_2 ? 2 : 1);
}

static void put_times(struct request *r, enum fault f)
{
	if (f == MS_NARROW)
		mnl_attr_put_u16(&r->nlh, SDP_POLICY_A_FALLBACK_MS, 100);
	else
		mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_FALLBACK_MS,
				 f == MS_LOW ? 9 : f == MS_HIGH ? 3600001 : 100);
	mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_FALLBACK_MEMORY_MS,
			 f == MEMORY_HIGH ? 0xffffffff : 100);
}

static void put_rest(struct request *r, enum fault f)
{
	struct nlattr *last = mnl_nlmsg_get_payload_tail(&r->nlh);

	if (f == ERROR_SET)
		mnl_attr_put_strz(&r->nlh, SDP_POLICY_A_ERROR, "x");
	else if (f == UNKNOWN)
		mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_MAX + 1, 1);
	else if (f == LEFT_OVER)
		memset(mnl_nlmsg_put_extra_header(&r->nlh, 3), 0, 3);
	else if (f == CUT_HEADER)
		r->nlh.nlmsg_len = NLMSG_HDRLEN + 1;
	if (f != CUT_ATTR)
		return;
	mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_FALLBACK_MS, 100);
	last->nla_len = 64;
}

/* A refused request changes nothing, and the answer says why. */
static int policy_refuses(void *arg)
{
	static struct shown s;
	struct nl nl = nl_open();
	struct request *r;
	char said[sizeof(nl.said)];
	int f, error, bad, at;

	for (f = 0; f < FAULTS; f++) {
		begin_with("any * tcp # before\n", 0, 1234, 5678);
		r = nl_do(&nl, SDP_CMD_POLICY_SET);
		put_rewrite(r, f);
		put_times(r, f);
		bad = r->nlh.nlmsg_len;
		put_text(r, f);
		put_rest(r, f);
		error = nl_talk(&nl, r, NULL, NULL);
		need(error == faults[f].error || error == faults[f].error2, "%s: %s",
		     faults[f].name, errno_text(error));
		printf("# %s: %s \"%s\"\n", faults[f].name, errno_text(error), nl.said);
		/* The next request clears what this one said. */
		snprintf(said, sizeof(said), "%s", nl.said);
		at = nl.bad;
		need_shown(&nl, "any * tcp # before\n", 0, 1234, 5678);
		policy_get(&nl, &s);
		if (f != BAD_TEXT && f != LONG_TEXT && f != NUL_INSIDE) {
			need(!s.error[0], "%s: ERROR is \"%s\"", faults[f].name, s.error);
			continue;
		}
		/* Before 6.2, an extended acknowledgment can only have a constant text. */
		need(said[0] && (!strcmp(said, s.error) || strstr(said, "POLICY_GET")),
		     "it says \"%s\", and ERROR is \"%s\"", said, s.error);
		need(at == bad, "offset %d, and the text is at %d", at, bad);
	}
	policy_get(&nl, &s);
	need(now_by() == BY_TCP, "something has changed");
	return EXIT_OK;
}

static int mistake_of(struct nl *nl, const char *text, char error[200])
{
	static struct shown s;
	int refused = set_text(nl, text);

	policy_get(nl, &s);
	strcpy(error, s.error);
	return refused;
}

/* netlink reports the mistake in a text as sysctl does. */
static int policy_tells_mistakes(void *arg)
{
	char by_netlink[200], by_sysctl[200];
	struct nl nl = nl_open();
	size_t i;

	for (i = 0; i < BAD_TEXTS; i++) {
		const char *text = bad_texts[i].text;
		int error = mistake_of(&nl, text, by_netlink);

		need(error == EINVAL, "\"%s\": %s", text, errno_text(error));
		policy_set("%s", GOOD);
		policy_write(text, strlen(text));
		error_text(by_sysctl);
		by_sysctl[strcspn(by_sysctl, "\n")] = 0;
		need(!strcmp(by_netlink, by_sysctl), "\"%s\": \"%s\" and \"%s\"", text, by_netlink,
		     by_sysctl);
	}
	need(!mistake_of(&nl, GOOD, by_netlink) && !by_netlink[0], "a good text: %s", by_netlink);
	return EXIT_OK;
}

static int policy_other_requests(void *arg)
{
	struct nl nl = nl_open();
	struct request *r;
	int error, cmd;

	r = nl_do(&nl, SDP_CMD_POLICY_GET);
	mnl_attr_put_strz(&r->nlh, SDP_POLICY_A_TEXT, "x");
	error = nl_talk(&nl, r, NULL, NULL);
	need(error == EINVAL, "GET with an attribute: %s", errno_text(error));
	for (cmd = SDP_CMD_SOCK_GET; cmd <= SDP_CMD_DEVICE_GET; cmd++) {
		if (cmd == SDP_CMD_SOCK_KILL)
			continue;
		r = nl_dump(&nl, cmd);
		mnl_attr_put_u32(&r->nlh, 1, 1);
		error = nl_talk(&nl, r, NULL, NULL);
		need(error == EINVAL, "dump %d with an attribute: %s", cmd, errno_text(error));
		error = nl_talk(&nl, nl_do(&nl, cmd), NULL, NULL);
		need(error == EOPNOTSUPP, "dump %d as a simple request: %s", cmd,
		     errno_text(error));
	}
	for (cmd = SDP_CMD_POLICY_GET; cmd <= SDP_CMD_POLICY_EXPLAIN; cmd++) {
		error = nl_talk(&nl, nl_dump(&nl, cmd), NULL, NULL);
		need(error == EOPNOTSUPP, "request %d as a dump: %s", cmd, errno_text(error));
	}
	error = nl_talk(&nl, nl_dump(&nl, SDP_CMD_SOCK_KILL), NULL, NULL);
	need(error == EOPNOTSUPP, "SOCK_KILL as a dump: %s", errno_text(error));
	error = nl_talk(&nl, nl_do(&nl, SDP_CMD_UNSPEC), NULL, NULL);
	need(error == EOPNOTSUPP, "command 0: %s", errno_text(error));
	error = nl_talk(&nl, nl_do(&nl, SDP_CMD_MAX + 1), NULL, NULL);
	need(error == EOPNOTSUPP, "command %d: %s", SDP_CMD_MAX + 1, errno_text(error));
	return EXIT_OK;
}

static int policy_not_root(void *arg)
{
	static struct shown s;
	struct nl before, nl;
	int error;

	begin_with(GOOD, 0, 1000, 60000);
	before = nl_open();
	be_nobody();
	nl = nl_open();
	policy_get(&nl, &s);
	need(!strcmp(s.text, GOOD), "GET shows \"%s\"", s.text);
	error = set_rewrite(&nl, 1);
	need(error == EPERM, "SET: %s", errno_text(error));
	error = set_rewrite(&before, 1);
	need(error == EPERM, "SET by a socket of root's: %s", errno_text(error));
	error = nl_talk(&nl, nl_dump(&nl, SDP_CMD_FALLBACK_GET), NULL, NULL);
	need(error == EPERM, "FALLBACK_GET: %s", errno_text(error));
	error = nl_talk(&nl, nl_dump(&nl, SDP_CMD_SOCK_GET), NULL, NULL);
	need(!error, "SOCK_GET: %s", errno_text(error));
	error = nl_talk(&nl, nl_dump(&nl, SDP_CMD_STAT_GET), NULL, NULL);
	need(!error, "STAT_GET: %s", errno_text(error));
	error = nl_talk(&nl, explain_request(&nl, 0), NULL, NULL);
	need(!error, "EXPLAIN: %s", errno_text(error));
	need_shown(&nl, GOOD, 0, 1000, 60000);
	return EXIT_OK;
}

/* Root of a user namespace sets the policy of its own network namespace, and of no other. */
static int policy_user_namespace(void *arg)
{
	struct nl outer, inner;
	int error;

	begin_with("any * tcp\n", 0, 1000, 60000);
	be_nobody();
	outer = nl_open();
	if (!root_of_user_namespace(CLONE_NEWNET))
		return EXIT_SKIPPED;
	inner = nl_open();
	need_shown(&inner, "", 0, 1000, 60000);
	need(!set_rewrite(&inner, 1), "SET: %s", inner.said);
	need_shown(&inner, "", 1, 1000, 60000);
	error = nl_talk(&inner, nl_dump(&inner, SDP_CMD_FALLBACK_GET), NULL, NULL);
	need(!error, "FALLBACK_GET: %s", errno_text(error));
	error = set_rewrite(&outer, 1);
	need(error == EPERM, "SET of the other namespace: %s", errno_text(error));
	return EXIT_OK;
}

/* If unprivileged_rewrite is 0, such a root cannot turn rewriting on. It may turn it off. */
static int policy_switch_kept(void *arg)
{
	struct nl first, inner;
	int error;

	setting_set("unprivileged_rewrite", 0);
	first = nl_open();
	need(!set_rewrite(&first, 1), "SET: %s", first.said);
	be_nobody();
	if (!root_of_user_namespace(CLONE_NEWNET))
		return EXIT_SKIPPED;
	inner = nl_open();
	error = set_rewrite(&inner, 1);
	need(error == EPERM && strstr(inner.said, "unprivileged_rewrite"), "SET: %s, %s",
	     errno_text(error), inner.said);
	need_shown(&inner, "", 0, 1000, 60000);
	need(!set_rewrite(&inner, 0), "SET: %s", inner.said);
	return EXIT_OK;
}

/* A request is about the namespace of its socket, wherever the process is by now. */
static int policy_namespaces(void *arg)
{
	int first = own_namespace(), second;
	struct nl a = nl_open(), b;
	static struct shown s;

	begin_with("any * tcp\n", 0, 1000, 60000);
	need_errno(!unshare(CLONE_NEWNET), "unshare");
	second = own_namespace();
	b = nl_open();
	need(!set_rewrite(&b, 1), "SET: %s", b.said);
	policy_get(&a, &s);
	need(!s.rewrite && !strcmp(s.text, "any * tcp\n"), "the first is %u, \"%s\"", s.rewrite,
	     s.text);
	enter(first);
	need(!set_rewrite(&a, 1) && !set_rewrite(&b, 0), "SET: %s %s", a.said, b.said);
	need(setting_value("rewrite") == 1, "the first is off");
	enter(second);
	need(setting_value("rewrite") == 0, "the second is on");
	enter(first);
	return EXIT_OK;
}

static atomic_int setting_over;

static void *set_pairs(void *arg)
{
	static const char *const texts[] = { "any * sdp\n", "any * tcp # another\n" };
	struct nl nl = nl_open();
	int i = 0;

	while (!atomic_load(&setting_over)) {
		struct request *r = nl_do(&nl, SDP_CMD_POLICY_SET);

		mnl_attr_put_u32(&r->nlh, SDP_POLICY_A_FALLBACK_MS, 100 + i % 2);
		mnl_attr_put_strz(&r->nlh, SDP_POLICY_A_TEXT, texts[i++ % 2]);
		need(!nl_talk(&nl, r, NULL, NULL), "SET: %s", nl.said);
	}
	return NULL;
}

/*
 * While two threads set it at once, nobody sees half of a request. The reader asks on until it has
 * seen both texts: it may ask some hundred times before a setter gets a processor again.
 */
static int policy_whole(void *arg)
{
	pthread_t threads[2];
	struct nl nl = nl_open();
	static struct shown s;
	int i, seen[2] = { 0, 0 };

	begin_with("any * sdp\n", 0, 100, 60000);
	for (i = 0; i < 2; i++)
		threads[i] = start_thread(set_pairs, NULL);
	for (i = 0; i < scaled(4000) || !seen[0] || !seen[1]; i++) {
		policy_get(&nl, &s);
		need((s.fallback_ms == 100) == !strcmp(s.text, "any * sdp\n"),
		     "%u with \"%s\"", s.fallback_ms, s.text);
		seen[s.fallback_ms - 100]++;
	}
	atomic_store(&setting_over, 1);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(policy_shows, 30, ONE_SET),
	CASE(policy_sets, 30, ONE_SET),
	CASE(policy_refuses, 30, ONE_SET),
	CASE(policy_tells_mistakes, 30, ONE_SET),
	CASE(policy_other_requests, 30, ONE_SET),
	CASE(policy_not_root, 30, ONE_SET),
	CASE(policy_user_namespace, 30, ONE_SET),
	CASE(policy_switch_kept, 30, ONE_SET),
	CASE(policy_namespaces, 30, ONE_SET),
	CASE(policy_whole, 60, ONE_SET),
};

const struct test_list policy_tests = TEST_LIST(tests);
