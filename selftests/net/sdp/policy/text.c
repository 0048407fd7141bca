// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of texts: refusals change nothing, error messages, policies written in parts.
 */
#include "policy.h"

static int text_bad(void *arg)
{
	char want[64], said[200];
	size_t i;
	int error;

	policy_set("%s", GOOD);
	setting_set("rewrite", 1);
	for (i = 0; i < BAD_TEXTS; i++) {
		error = policy_write(bad_texts[i].text, strlen(bad_texts[i].text));
		need(error == EINVAL, "\"%s\": %s", bad_texts[i].text, errno_text(error));
		error_text(said);
		snprintf(want, sizeof(want), "line %d, column %d: expected ", bad_texts[i].line,
			 bad_texts[i].column);
		need(!strncmp(said, want, strlen(want)) && strlen(said) > strlen(want) + 3,
		     "\"%s\": %s instead of %s", bad_texts[i].text, said, want);
		need_policy(GOOD, strlen(GOOD));
	}
	need(now_by() == BY_SDP, "the old policy is not in force");
	policy_set("%s", GOOD);
	error_text(said);
	need(!strcmp(said, "\n"), "a good text, and still: %s", said);
	return EXIT_OK;
}

static int text_nul(void *arg)
{
	static const char text[] = "any * tcp\0any * tcp";
	char said[200];

	policy_set("%s", GOOD);
	need(policy_write(text, sizeof(text)) == EINVAL, "a NUL is taken");
	error_text(said);
	need(!strncmp(said, "line 1, column 10: ", 19), "%s", said);
	need_policy(GOOD, strlen(GOOD));
	return EXIT_OK;
}

static int text_long(void *arg)
{
	static char text[4 * POLICY_MAX];
	static const size_t lengths[] = { POLICY_MAX + 1, POLICY_MAX + 100, 2 * POLICY_MAX,
					  4 * POLICY_MAX };
	size_t i;

	memset(text, '#', sizeof(text));
	memcpy(text, GOOD, strlen(GOOD));
	setting_set("rewrite", 1);
	need(!policy_write(text, POLICY_MAX), "the longest one: %s", errno_text(errno));
	need_policy(text, POLICY_MAX);
	need(now_by() == BY_SDP, "the longest one is not in force");
	policy_set("%s", GOOD);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		int error = policy_write(text, lengths[i]);

		need(error == E2BIG, "%zu bytes: %s", lengths[i], errno_text(error));
		need_policy(GOOD, strlen(GOOD));
	}
	need(now_by() == BY_SDP, "the old policy is not in force");
	return EXIT_OK;
}

static int text_many_rules(void *arg)
{
	char text[POLICY_MAX] = "", said[200];
	int i;

	setting_set("rewrite", 1);
	for (i = 0; i < 255; i++)
		strcat(text, i % 2 ? "any *:1 tcp\n" : "any *:2 tcp;\n");
	strcat(text, "any * sdp\n");
	need(!policy_write(text, strlen(text)), "256 rules: %s", errno_text(errno));
	need(now_by() == BY_SDP, "the last of 256 rules is not asked");
	policy_set("%s", GOOD);
	strcat(text, "any * tcp\n");
	need(policy_write(text, strlen(text)) == EINVAL, "257 rules are taken");
	error_text(said);
	need(!strncmp(said, "line 257, column 1: ", 20), "%s", said);
	need_policy(GOOD, strlen(GOOD));
	return EXIT_OK;
}

static int policy_open(void)
{
	int fd = open(POLICY_FILE, O_WRONLY);

	need_errno(fd >= 0, POLICY_FILE);
	return fd;
}

static int write_part(int fd, const char *text)
{
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : errno;
}

/* A policy is written line by line, as shells do. Each line takes effect immediately. */
static int text_in_parts(void *arg)
{
	static const char first[] = "any *:1 tcp\n", rest[] = "any * sdp\n";
	int fd = policy_open();

	setting_set("rewrite", 1);
	need(!write_part(fd, first), "the first line: %s", errno_text(errno));
	need(now_by() == BY_TCP, "SDP by the first line");
	need(!write_part(fd, rest), "the second line: %s", errno_text(errno));
	need_policy("any *:1 tcp\nany * sdp\n", 22);
	need(now_by() == BY_SDP, "TCP by the second line");
	need(write_part(fd, "any * nothing\n") == EINVAL, "a bad third line is taken");
	need_policy("any *:1 tcp\nany * sdp\n", 22);
	need(!write_part(fd, "# the third\n"), "a better third line: %s", errno_text(errno));
	need_policy("any *:1 tcp\nany * sdp\n# the third\n", 34);
	close(fd);
	need(!policy_write(first, strlen(first)), "a new text: %s", errno_text(errno));
	need_policy(first, strlen(first));
	return EXIT_OK;
}

/* A write that does not continue the text so far is refused. */
static int text_wrong_parts(void *arg)
{
	static char filler[POLICY_MAX];
	int fd = policy_open();

	policy_set("%s", GOOD);
	need(pwrite(fd, "x", 1, 3) < 0 && errno == EINVAL, "in the middle: %s", errno_text(errno));
	need(pwrite(fd, "\n", 1, 5000) < 0 && errno == EINVAL, "behind: %s", errno_text(errno));
	need_policy(GOOD, strlen(GOOD));
	need(!write_part(fd, "any *:1 sdp\n"), "the first part: %s", errno_text(errno));
	policy_set("%s", GOOD);
	need(write_part(fd, "any *:2 sdp\n") == EINVAL, "a part of another text is taken");
	need_policy(GOOD, strlen(GOOD));
	close(fd);
	fd = policy_open();
	memset(filler, '#', sizeof(filler));
	need(!write_part(fd, GOOD), "once more: %s", errno_text(errno));
	need(write(fd, filler, POLICY_MAX) < 0 && errno == E2BIG, "too long in parts: %s",
	     errno_text(errno));
	need_policy(GOOD, strlen(GOOD));
	need(write(fd, filler, POLICY_MAX - strlen(GOOD)) > 0, "as long as may be in parts: %s",
	     errno_text(errno));
	close(fd);
	return EXIT_OK;
}

static int text_empty(void *arg)
{
	static const char *const texts[] = { "\n", "", "# nothing\n", " \t\n;;\n", "log x y\n" };
	size_t i;

	setting_set("rewrite", 1);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		policy_set("%s", GOOD);
		need(!policy_write(texts[i], strlen(texts[i])), "text %zu: %s", i,
		     errno_text(errno));
		need_policy(texts[i], strlen(texts[i]));
		need(now_by() == BY_TCP, "text %zu: SDP by a policy without rules", i);
	}
	return EXIT_OK;
}

static int text_read_in_parts(void *arg)
{
	char text[200];
	ssize_t n, len = 0;
	int fd;

	policy_set("%s", GOOD);
	fd = open(POLICY_FILE, O_RDONLY);
	while ((n = read(fd, text + len, 7)) > 0)
		len += n;
	need(len == (ssize_t)strlen(GOOD) && !memcmp(text, GOOD, len), "%zd bytes", len);
	need(pread(fd, text, 10, 5) == 10 && !memcmp(text, &GOOD[5], 10), "from 5 on");
	need(pread(fd, text, 10, strlen(GOOD)) == 0, "behind its end");
	return EXIT_OK;
}

static int text_switches(void *arg)
{
	need(!setting_write("rewrite", "2"), "rewrite takes 2");
	need(!setting_write("rewrite", "-1"), "rewrite takes -1");
	need(!setting_write("rewrite", "on"), "rewrite takes on");
	need(!setting_write("fallback_ms", "9"), "fallback_ms takes 9");
	need(!setting_write("fallback_ms", "3600001"), "fallback_ms takes 3600001");
	need(!setting_write("fallback_memory_ms", "-1"), "fallback_memory_ms takes -1");
	need(!setting_write("fallback_memory_ms", "3600001"), "fallback_memory_ms: 3600001");
	need(!setting_write("policy_error", "x"), "policy_error can be written");
	setting_set("fallback_ms", 10);
	setting_set("fallback_ms", 3600000);
	setting_set("fallback_memory_ms", 0);
	setting_set("fallback_memory_ms", 3600000);
	setting_set("rewrite", 1);
	setting_set("rewrite", 1);
	setting_set("rewrite", 0);
	setting_set("rewrite", 0);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(text_bad, 30, ONE_SET),
	CASE(text_nul, 30, ONE_SET),
	CASE(text_long, 30, ONE_SET),
	CASE(text_many_rules, 30, ONE_SET),
	CASE(text_in_parts, 30, ONE_SET),
	CASE(text_wrong_parts, 30, ONE_SET),
	CASE(text_empty, 30, ONE_SET),
	CASE(text_read_in_parts, 30, ONE_SET),
	CASE(text_switches, 30, ONE_SET),
};

const struct test_list text_tests = TEST_LIST(tests);
