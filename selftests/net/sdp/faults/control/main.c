// SPDX-License-Identifier: GPL-2.0
/*
 * netlink, sysctl, /proc and tracing without memory: a request fails as a whole (J2).
 *
 * Each allocation of each request fails once, one after the other. A request that fails returns
 * ENOBUFS or ENOMEM and has changed nothing. An answer is complete. The same request works once
 * there is memory. The requests are those of netlink, sysctl with the policy, /proc, and the start
 * of the tracing that rewriting needs. Needs fault injection, which the debug kernel has.
 *
 *	netlink.c	requests of netlink
 */
#include "netlink.h"
#include "loading.h"

/* Reads a file of the kernel to its end. */
static int read_file(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, text, sizeof(text))) > 0)
		;
	close(fd);
	return n < 0 ? -1 : 0;
}

static int run_proc(struct state *s)
{
	return read_file("/proc/net/sdp") ?: read_file("/proc/net/sdpstat") ?:
	       read_file("/proc/net/sdp_fallbacks");
}

static void after_proc(struct state *s)	{ need_talk(s->p.c, s->p.s); }

static int write_once(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, len);
	close(fd);
	return n == (ssize_t)len ? 0 : -1;
}

/* A rule with a long comment: a text of the largest size needs fewer rules than are allowed. */
#define LINES	"any * program other tcp # one rule, and the rest of the line is what makes it long\n"

/* A policy of nearly the largest size. The old text is in force until a new one is accepted. */
static char long_text[POLICY_MAX];

static void setup_policy(struct state *s)
{
	while (strlen(long_text) + sizeof(LINES) < sizeof(long_text))
		strcat(long_text, LINES);
}

static void prepare_policy(struct state *s)
{
	policy_set("%s", GOOD);
}

static void still_good(struct state *s)
{
	need_policy(GOOD, strlen(GOOD));
}

static int run_policy(struct state *s)
{
	return write_once(POLICY_FILE, OTHER, strlen(OTHER));
}

static int run_policy_long(struct state *s)
{
	return write_once(POLICY_FILE, long_text, strlen(long_text));
}

static void after_policy(struct state *s)
{
	need_policy(OTHER, strlen(OTHER));
}

static void after_policy_long(struct state *s)
{
	need_policy(long_text, strlen(long_text));
}

/* Settings of each kind: numbers, a word, and numbers that hold for the whole machine. */
static const struct {
	const char *name, *old, *new;
} kinds[] = {
	{ "recv_buffers", "16", "20" },
	{ "fallback_ms", "1000", "2000" },
	{ "flow_control", "credit", "rdma" },
	{ "mem", "100000\t200000\t300000", "110000\t210000\t310000" },
};

static void need_setting(unsigned int kind, const char *want)
{
	char path[128], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), SETTING_DIR "%s", kinds[kind].name);
	fd = open(path, O_RDONLY);
	need_errno(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, path);
	close(fd);
	text[strcspn(text, "\n")] = 0;
	need(!strcmp(text, want), "%s is \"%s\" instead of \"%s\"", path, text, want);
}

static void prepare_settings(struct state *s)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		need(setting_write(kinds[i].name, kinds[i].old), "%s", kinds[i].name);
}

/* Writes all settings. When it returns, those before index @s->fd have the new value. */
static int run_settings(struct state *s)
{
	char path[128];

	for (s->fd = 0; s->fd < (int)ARRAY_SIZE(kinds); s->fd++) {
		snprintf(path, sizeof(path), SETTING_DIR "%s", kinds[s->fd].name);
		if (write_once(path, kinds[s->fd].new, strlen(kinds[s->fd].new)))
			return -1;
	}
	return 0;
}

static void after_settings(struct state *s)
{
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(kinds); i++)
		need_setting(i, i < s->fd ? kinds[i].new : kinds[i].old);
}

static const struct call calls[] = {
	{ "proc", .run = run_proc, .after = after_proc, .fails = true },
	{ "policy", .prepare = prepare_policy, .run = run_policy, .refused = still_good,
	  .after = after_policy, .setup = no_setup, .fails = true },
	{ "policy_long", .prepare = prepare_policy, .run = run_policy_long, .refused = still_good,
	  .after = after_policy_long, .setup = setup_policy, .fails = true },
	{ "settings", .prepare = prepare_settings, .run = run_settings, .refused = after_settings,
	  .after = after_settings, .setup = no_setup, .fails = true },
	{ "policy_get", .prepare = prepare_request, .run = run_policy_get, .refused = ask_anew,
	  .after = after_request, .setup = setup_policy_get, .fails = true },
	{ "policy_set", .prepare = prepare_policy_set, .run = run_policy_set,
	  .refused = set_or_not, .after = after_policy_set, .setup = no_setup, .fails = true },
	{ "explain", .prepare = prepare_request, .run = run_explain, .refused = ask_anew,
	  .after = after_request, .setup = setup_explain, .fails = true },
	{ "sock_get", .prepare = prepare_request, .run = run_sock_get, .refused = ask_anew,
	  .after = after_request, .setup = setup_sock_get, .fails = true },
	{ "stat_get", .prepare = prepare_request, .run = run_stat_get, .refused = ask_anew,
	  .after = after_request, .setup = setup_stat_get, .fails = true },
	{ "fallback_get", .prepare = prepare_request, .run = run_fallback_get,
	  .refused = ask_anew, .after = after_request, .setup = setup_fallback_get,
	  .fails = true },
};

/*
 * The first namespace that turns rewriting on makes the kernel trace new sockets, which lasts until
 * the module is removed. So each attempt loads the module anew. Without memory the setting stays
 * off.
 */
static int rewrite_failing(void *arg)
{
	const char *path = SETTING_DIR "rewrite";
	int n, error, refused = 0;
	bool failed = true;

	if (!can_fail() || !getenv("SDP_MODULE"))
		return EXIT_SKIPPED;
	for (n = 1; failed; n++) {
		need(n < MOST, "still an allocation to fail");
		module_unload();
		module_load();
		fail_at(n);
		error = write_once(path, "1", 1) ? errno : 0;
		failed = has_failed();
		need(!error || (failed && is_shortage(error)), "allocation %d: %s", n,
		     errno_text(error));
		need(setting_value("rewrite") == !error, "%s, and rewrite is %ld",
		     errno_text(error), setting_value("rewrite"));
		refused += error != 0;
		if (error)
			need_errno(!write_once(path, "1", 1), "again");
		policy_set("%s", GOOD);
		need(now_by() == BY_SDP, "allocation %d: it is not in force", n);
		setting_set("rewrite", 0);
	}
	printf("# %d allocations, %d times refused\n", n - 2, refused);
	need(refused, "nothing has failed");
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	struct test tests[ARRAY_SIZE(calls) + 1];
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		tests[n++] = (struct test){ calls[i].name, sweep, 60,
					    calls[i].run == run_explain ? TWO_SETS : ONE_SET, true,
					    (void *)&calls[i] };
	tests[n++] = (struct test){ "rewrite", rewrite_failing, 100, ONE_SET | NOT_SHORT, true,
				    NULL };
	return run_tests(argv, tests, n);
}
