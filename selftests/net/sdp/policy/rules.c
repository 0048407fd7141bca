// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of rules: which rule decides about a socket.
 *
 * Each row is a policy, a program that listens and connects under it, and what both sockets become.
 *
 * In the policy of a row, @ stands for the server's address, % for a network that contains it, $
 * for a network that does not, and & for the path of this program.
 */
#include <sys/fsuid.h>
#include <sys/stat.h>

#include "policy.h"

/**
 * struct row - one case
 * @text: the policy
 * @want: what a listener and a connection become: t, s or b; or - to leave it out
 * @name: name of the program; ROW_SIDE when NULL
 * @uid: user of the program
 * @flags: V4, V6: only for addresses of this version; MAPPED: IPv4 on an IPv6 socket; WILD: the
 *    listener has the wildcard address; UNBOUND: it is not bound; FSUID: set @uid by setfsuid()
 */
struct row {
	const char *text;
	const char *want;
	const char *name;
	unsigned int uid;
	int flags;
};

#define ROW_SIDE	"row-side"
/* No other test uses this port: its connections would still be in TIME_WAIT here. */
#define ROW_PORT	19000

enum { V4 = 1, V6 = 2, MAPPED = 4, WILD = 8, UNBOUND = 16, FSUID = 32 };

static const struct row role_rows[] = {
	{ .text = "listen * sdp", .want = "st" },
	{ .text = "connect * sdp", .want = "ts" },
	{ .text = "any * sdp", .want = "ss" },
	{ .text = "any * both", .want = "bb" },
	{ .text = "any * tcp", .want = "tt" },
	{ .text = "listen * both\nconnect * sdp", .want = "bs" },
	{ .text = "listen * sdp\nconnect * both", .want = "sb" },
	{ .text = "listen * both", .want = "bt" },
	{ .text = "connect * both", .want = "tb" },
	{ .text = "", .want = "tt" },
	{ .text = "# any * sdp", .want = "tt" },
	{ .text = NULL }
};

static const struct row program_rows[] = {
	{ .text = "any * program row-side sdp", .want = "ss" },
	{ .text = "any * program row-* both", .want = "bb" },
	{ .text = "any * program *side sdp", .want = "ss" },
	{ .text = "any * program ?ow-side sdp", .want = "ss" },
	{ .text = "any * program [a-r]ow-side sdp", .want = "ss" },
	{ .text = "any * program [!r]ow-side sdp", .want = "tt" },
	{ .text = "any * program row\\-side sdp", .want = "ss" },
	{ .text = "any * program row sdp", .want = "tt" },
	{ .text = "any * program Row-side sdp", .want = "tt" },
	{ .text = "any * program other sdp", .want = "tt" },
	{ .text = "any * program * sdp", .want = "ss" },
	{ .text = "any * program fifteen-bytes-x sdp", .want = "ss", .name = "fifteen-bytes-xyz" },
	{ .text = "any * program a?b both", .want = "bb", .name = "a b" },
	{ .text = "any * program * sdp", .want = "ss", .name = "" },
	{ .text = NULL }
};

static const struct row path_rows[] = {
	{ .text = "any * path & sdp", .want = "ss" },
	{ .text = "any * path /* both", .want = "bb" },
	{ .text = "any * path */policy sdp", .want = "ss" },
	{ .text = "any * path */polic? sdp", .want = "ss" },
	{ .text = "any * path /policy sdp", .want = "tt" },
	{ .text = "any * path /nowhere/* sdp", .want = "tt" },
	{ .text = "any * path & program row-side sdp", .want = "ss" },
	{ .text = "any * program other path & sdp", .want = "tt" },
	{ .text = "any * path /nowhere program row-side sdp\nany * path & both", .want = "bb" },
	{ .text = NULL }
};

static const struct row uid_rows[] = {
	{ .text = "any * uid 1234 sdp", .want = "ss", .uid = 1234 },
	{ .text = "any * uid 1234 sdp", .want = "tt" },
	{ .text = "any * uid 0 both", .want = "bb" },
	{ .text = "any * uid 0 sdp", .want = "tt", .uid = 1234 },
	{ .text = "any * uid 1000-2000 sdp", .want = "ss", .uid = 1234 },
	{ .text = "any * uid 1234-2000 sdp", .want = "ss", .uid = 1234 },
	{ .text = "any * uid 1000-1234 sdp", .want = "ss", .uid = 1234 },
	{ .text = "any * uid 1235-2000 sdp", .want = "tt", .uid = 1234 },
	{ .text = "any * uid 0-1233 sdp", .want = "tt", .uid = 1234 },
	{ .text = "any * uid 1234 sdp", .want = "ss", .uid = 1234, .flags = FSUID },
	{ .text = "any * uid 0 sdp", .want = "tt", .uid = 1234, .flags = FSUID },
	{ .text = "any * uid 4294967294 both", .want = "tt" },
	{ .text = "any * uid 1234 program other sdp", .want = "tt", .uid = 1234 },
	{ .text = NULL }
};

static const struct row address_rows[] = {
	{ .text = "any @ sdp", .want = "ss" },
	{ .text = "any @:19000 both", .want = "bb" },
	{ .text = "any @:19001 sdp", .want = "tt" },
	{ .text = "any % both", .want = "bb" },
	{ .text = "any %:19000 sdp", .want = "ss" },
	{ .text = "any %:1-18999 sdp", .want = "tt" },
	{ .text = "any $ sdp", .want = "tt" },
	{ .text = "any $ tcp; any @ sdp", .want = "ss" },
	{ .text = "any @/32 sdp", .want = "ss", .flags = V4 },
	{ .text = "any @/128 sdp", .want = "ss", .flags = V6 },
	{ .text = "any 0.0.0.0/0 sdp", .want = "ss", .flags = V4 },
	{ .text = "any [::/0] sdp", .want = "tt", .flags = V4 },
	{ .text = "any [::/0] sdp", .want = "ss", .flags = V6 },
	{ .text = "any 0.0.0.0/0 sdp", .want = "tt", .flags = V6 },
	{ .text = "listen @ sdp", .want = "t-", .flags = WILD },
	{ .text = "listen * both", .want = "b-", .flags = WILD },
	{ .text = "listen 0.0.0.0 sdp", .want = "s-", .flags = WILD | V4 },
	{ .text = "listen [::] sdp", .want = "s-", .flags = WILD | V6 },
	{ .text = "listen [::/0] sdp", .want = "s-", .flags = WILD | V6 },
	{ .text = "listen 0.0.0.0/0 sdp", .want = "t-", .flags = WILD | V6 },
	{ .text = "listen * sdp", .want = "s-", .flags = UNBOUND },
	{ .text = "listen *:* both", .want = "b-", .flags = UNBOUND },
	{ .text = "listen *:1-65535 sdp", .want = "t-", .flags = UNBOUND },
	{ .text = NULL }
};

static const struct row mapped_rows[] = {
	{ .text = "any @ sdp", .want = "ss", .flags = MAPPED },
	{ .text = "any %:19000 both", .want = "bb", .flags = MAPPED },
	{ .text = "any $ sdp", .want = "tt", .flags = MAPPED },
	{ .text = "any [::/0] sdp", .want = "tt", .flags = MAPPED },
	{ .text = "any 0.0.0.0/0 both", .want = "bb", .flags = MAPPED },
	{ .text = "any [::ffff:0:0/96] sdp", .want = "ss", .flags = MAPPED },
	{ .text = "any [::ffff:@] sdp", .want = "ss", .flags = MAPPED },
	{ .text = "any [::ffff:@]:19000 sdp", .want = "ss" },
	{ .text = "any * sdp", .want = "ss", .flags = MAPPED },
	{ .text = NULL }
};

static const struct row port_rows[] = {
	{ .text = "any *:19000 sdp", .want = "ss" },
	{ .text = "any *:19000-19000 sdp", .want = "ss" },
	{ .text = "any *:18990-19010 both", .want = "bb" },
	{ .text = "any *:18000-19000 sdp", .want = "ss" },
	{ .text = "any *:19000-20000 sdp", .want = "ss" },
	{ .text = "any *:19001-65535 sdp", .want = "tt" },
	{ .text = "any *:1-18999 sdp", .want = "tt" },
	{ .text = "any *:1-65535 sdp", .want = "ss" },
	{ .text = "any *:* both", .want = "bb" },
	{ .text = NULL }
};

static const struct row order_rows[] = {
	{ .text = "any * tcp; any * sdp", .want = "tt" },
	{ .text = "any * sdp; any * tcp", .want = "ss" },
	{ .text = "connect * tcp\nany * sdp", .want = "st" },
	{ .text = "listen * tcp\nany * sdp", .want = "ts" },
	{ .text = "any *:19000 both\nany * sdp", .want = "bb" },
	{ .text = "any * program other tcp; any @ both; any * sdp", .want = "bb" },
	{ .text = "any $ tcp\nany % uid 7 tcp\nany * both\nany @:19000 sdp", .want = "bb" },
	{ .text = "# any * tcp\n\n\tany  *\tsdp # tcp; any * tcp", .want = "ss" },
	{ .text = ";;any @:19000 sdp;", .want = "ss" },
	{ .text = NULL }
};

static const struct row libsdp_rows[] = {
	{ .text = "use sdp server * *:*", .want = "st" },
	{ .text = "use sdp client * *:*", .want = "ts" },
	{ .text = "use both connect row-side @:19000", .want = "tb" },
	{ .text = "use both listen row* %:18000-20000", .want = "bt" },
	{ .text = "use tcp client * *:*\nany * sdp", .want = "st" },
	{ .text = "use sdp client other *:*", .want = "tt" },
	{ .text = "log min-level 9 destination file x\nuse sdp listen * *:19000\n"
		  "use both connect row* *:*", .want = "sb" },
	{ .text = NULL }
};

static void network_text(char *out, size_t size)
{
	struct addr a = server_addr(0);
	char text[INET6_ADDRSTRLEN];

	if (set->family == AF_INET) {
		((unsigned char *)&a.in.sin_addr)[3] = 0;
		inet_ntop(AF_INET, &a.in.sin_addr, text, sizeof(text));
		snprintf(out, size, "%s/24", text);
	} else {
		memset(a.in6.sin6_addr.s6_addr + 8, 0, 8);
		inet_ntop(AF_INET6, &a.in6.sin6_addr, text, sizeof(text));
		snprintf(out, size, "[%s/64]", text);
	}
}

/* Expands one character of a row's policy. */
static void meaning(char sign, char *out, size_t size)
{
	bool v4 = set->family == AF_INET;
	ssize_t n;

	switch (sign) {
	case '@':
		snprintf(out, size, v4 ? "%s" : "[%s]", set->server);
		break;
	case '%':
		network_text(out, size);
		break;
	case '$':
		snprintf(out, size, "%s", v4 ? "192.0.2.0/24" : "[2001:db8::/32]");
		break;
	case '&':
		n = readlink("/proc/self/exe", out, size - 1);
		need_errno(n > 0, "/proc/self/exe");
		out[n] = 0;
		break;
	default:
		snprintf(out, size, "%c", sign);
	}
}

static void row_policy(const struct row *row)
{
	char text[1024] = "", part[400];
	const char *p;

	for (p = row->text; *p; p++) {
		meaning(*p, part, sizeof(part));
		strcat(text, part);
	}
	policy_set("%s", text);
}

static struct addr row_addr(const struct row *row, bool listens)
{
	char mapped[80];

	if (listens && row->flags & WILD)
		return wildcard_addr(ROW_PORT);
	if (!(row->flags & MAPPED))
		return server_addr(ROW_PORT);
	snprintf(mapped, sizeof(mapped), "::ffff:%s", set->server);
	return addr_make(AF_INET6, mapped, ROW_PORT);
}

static void become(unsigned int uid, int flags)
{
	if (flags & FSUID)
		setfsuid(uid);
	else
		need_errno(!seteuid(uid), "seteuid");
}

static char row_listens(const struct row *row)
{
	struct addr a = row_addr(row, true);
	long long listens = counter("PolicyListens");
	int fd = socket(a.sa.sa_family, SOCK_STREAM, 0), protocol, error = 0;

	if (!(row->flags & UNBOUND))
		need_errno(!bind(fd, &a.sa, a.len), "bind");
	become(row->uid, row->flags);
	if (listen(fd, 1))
		error = errno;
	become(0, row->flags);
	need(!error, "\"%s\": listen: %s", row->text, errno_text(error));
	protocol = protocol_of(fd);
	listens = counter("PolicyListens") - listens;
	close(fd);
	if (protocol == BY_SDP)
		return listens == 1 ? 's' : '?';
	return listens ? 'b' : 't';
}

/*
 * Connects to a port without a listener. Returns how it was tried, which the counters and the
 * protocol of the socket tell.
 */
static char row_connects(const struct row *row)
{
	struct addr a = row_addr(row, false);
	long long refused = counter("FellRefused"), connects = counter("PolicyConnects");
	int fd = socket(a.sa.sa_family, SOCK_STREAM, 0), protocol, error;

	become(row->uid, row->flags);
	error = connect(fd, &a.sa, a.len) ? errno : 0;
	become(0, row->flags);
	need(error == ECONNREFUSED, "\"%s\": connect: %s", row->text, errno_text(error));
	protocol = protocol_of(fd);
	close(fd);
	if (protocol == BY_SDP)
		return counter("PolicyConnects") - connects == 1 ? 's' : '?';
	return counter("FellRefused") - refused ? 'b' : 't';
}

/* Runs every row, so that a wrong one does not hide others. */
static int rules(void *arg)
{
	bool v4 = set->family == AF_INET, fine = true;
	const struct row *row;
	char was[3] = "--";

	setting_set("rewrite", 1);
	setting_set("fallback_ms", 20000);
	for (row = arg; row->text; row++) {
		if (row->flags & (v4 ? V6 : V4))
			continue;
		row_policy(row);
		as(row->name ?: ROW_SIDE);
		was[0] = row->want[0] == '-' ? '-' : row_listens(row);
		was[1] = row->want[1] == '-' ? '-' : row_connects(row);
		if (strcmp(was, row->want)) {
			printf("# \"%s\": %s instead of %s\n", row->text, was, row->want);
			fine = false;
		}
	}
	return fine ? EXIT_OK : EXIT_FAILED;
}

static int rules_cgroup(void *arg)
{
	static const struct row rows[] = {
		{ .text = "any * cgroup " OWN_CGROUP "/a sdp", .want = "ss" },
		{ .text = "any * cgroup " OWN_CGROUP "/* both", .want = "bb" },
		{ .text = "any * cgroup " OWN_CGROUP " sdp", .want = "tt" },
		{ .text = "any * cgroup /*/a sdp", .want = "ss" },
		{ .text = "any * cgroup / sdp", .want = "tt" },
		{ .text = "any * cgroup " OWN_CGROUP "/b sdp\nany * cgroup * both", .want = "bb" },
		{ .text = "any * cgroup " OWN_CGROUP "/a program other sdp", .want = "tt" },
		{ .text = "any * cgroup " OWN_CGROUP "/a path & uid 0 program row-side sdp",
		  .want = "ss" },
		{ .text = NULL }
	};
	int status;

	mkdir(CGROUPS OWN_CGROUP, 0755);
	if (access(CGROUPS OWN_CGROUP "/cgroup.procs", W_OK))
		return EXIT_SKIPPED;
	mkdir(CGROUPS OWN_CGROUP "/a", 0755);
	need_errno(cgroup_enter(OWN_CGROUP "/a"), "the control group");
	status = rules((void *)rows);
	need_errno(cgroup_enter(""), "back to the first control group");
	rmdir(CGROUPS OWN_CGROUP "/a");
	rmdir(CGROUPS OWN_CGROUP);
	return status;
}

#define RULES(name) \
	{ "rules_" #name, rules, 30, ALL_SETS, true, (void *)name ## _rows }

static const struct test tests[] = {
	RULES(role),
	RULES(program),
	RULES(path),
	RULES(uid),
	RULES(address),
	{ "rules_mapped", rules, 30, V4_SETS, true, (void *)mapped_rows },
	RULES(port),
	RULES(order),
	RULES(libsdp),
	CASE(rules_cgroup, 30, TWO_SETS),
};

const struct test_list rules_tests = TEST_LIST(tests);
