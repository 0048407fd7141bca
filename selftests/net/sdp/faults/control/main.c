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

/* The new policy. The old text is in force until this one is accepted. */
static char new_text[POLICY_MAX];

static void setup_policy(struct state *s)
{
	strcpy(new_text, OTHER);
}

/* A policy of nearly the largest size. */
static void setup_policy_long(struct state *s)
{
	while (strlen(new_text) + sizeof(LINES) < sizeof(new_text))
		strcat(new_text, LINES);
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
	return write_once(POLICY_FILE, new_text, strlen(new_text));
}

static void after_policy(struct state *s)
{
	need_policy(new_text, strlen(new_text));
}

/* Settings of each kind: numbers, a word, and numbers that hold for the whole machine. */
static const struct {
	const char *name, *old, *new;
} kinds[] = {
	{ "recv_buffers", "16", "20" },
	{ "fallback_ms", "1000", "2000" },
	{ "flow_control", "credit", "rdma" },
	{ "service", "rc", "ud" },
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

#define FAILS .fails = true
#define REQUEST(run, setup)	prepare_request, run, ask_anew, after_request, setup, FAILS
static const struct test tests[] = {
	SWEEP("proc", ONE_SET, .run = run_proc, .after = after_proc, FAILS),
	SWEEP("policy", ONE_SET, prepare_policy, run_policy, still_good, after_policy, setup_policy,
	      FAILS),
	SWEEP("policy_long", ONE_SET, prepare_policy, run_policy, still_good, after_policy,
	      setup_policy_long, FAILS),
	SWEEP("settings", ONE_SET, prepare_settings, run_settings, after_settings, after_settings,
	      no_setup, FAILS),
	SWEEP("policy_get", ONE_SET, REQUEST(run_policy_get, setup_policy_get)),
	SWEEP("policy_set", ONE_SET, prepare_policy_set, run_policy_set, set_or_not,
	      after_policy_set, no_setup, FAILS),
	SWEEP("explain", TWO_SETS, REQUEST(run_explain, setup_explain)),
	SWEEP("sock_get", ONE_SET, REQUEST(run_sock_get, setup_sock_get)),
	SWEEP("stat_get", ONE_SET, REQUEST(run_stat_get, setup_stat_get)),
	SWEEP("device_get", ONE_SET, REQUEST(run_device_get, setup_device_get)),
	SWEEP("fallback_get", ONE_SET, REQUEST(run_fallback_get, setup_fallback_get)),
	{ "rewrite", rewrite_failing, 100, ONE_SET | NOT_SHORT, true, NULL },
};

TEST_MAIN(tests)
