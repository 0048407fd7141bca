// SPDX-License-Identifier: GPL-2.0
/*
 * Why a socket is TCP: SDP_CMD_FALLBACK_GET, and IP_SDP_FALLBACK on the socket itself.
 */
#include "netlink.h"

/* A fallback, as a dump shows it. */
struct told_fell {
	unsigned long long at, inode;
	unsigned int pid, role, port, why;
	char comm[16], text[60], line[200];
};

struct told_fells {
	int n;
	struct told_fell one[5000];
};

static void take_fell(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attrs[SDP_FELL_A_MAX + 1], *addr;
	struct told_fells *all = arg;
	struct told_fell *t = &all->one[all->n++];
	char ip[INET6_ADDRSTRLEN];
	int len;

	need(all->n < 5000, "too many fall-backs");
	nl_attrs(nlh, attrs, SDP_FELL_A_MAX);
	t->at = u64_of(attrs[SDP_FELL_A_AT], "AT");
	t->inode = u64_of(attrs[SDP_FELL_A_INODE], "INODE");
	t->pid = u32_of(attrs[SDP_FELL_A_PID], "PID");
	t->role = u8_of(attrs[SDP_FELL_A_ROLE], "ROLE");
	t->port = u16_of(attrs[SDP_FELL_A_PORT], "PORT");
	t->why = u8_of(attrs[SDP_FELL_A_REASON], "REASON");
	snprintf(t->comm, sizeof(t->comm), "%s", text_of(attrs[SDP_FELL_A_COMM], "COMM"));
	snprintf(t->text, sizeof(t->text), "%s", text_of(attrs[SDP_FELL_A_TEXT], "TEXT"));
	addr = attrs[SDP_FELL_A_ADDR];
	len = addr ? mnl_attr_get_payload_len(addr) : 0;
	need(len == 4 || len == 16, "an address of %d bytes", len);
	inet_ntop(len == 4 ? AF_INET : AF_INET6, mnl_attr_get_payload(addr), ip, sizeof(ip));
	/* As in /proc/net/sdp_fallbacks. */
	snprintf(t->line, sizeof(t->line), len == 4 ? "%llu %u %s %s %s:%u %s\n" :
		 "%llu %u %s %s [%s]:%u %s\n", t->at, t->pid, t->comm,
		 t->role ? "connect" : "listen", ip, t->port, t->text);
}

static struct told_fells *fells_told(void)
{
	static struct told_fells all;
	struct nl nl = nl_open();
	int error;

	all.n = 0;
	error = nl_talk_sized(&nl, nl_dump(&nl, SDP_CMD_FALLBACK_GET), take_fell, &all, NL_PIECE);
	need(!error, "FALLBACK_GET: %s", errno_text(error));
	nl_close(&nl);
	return &all;
}

/* Kernels without netfilter do not have IP_SDP_FALLBACK. */
static bool has_netfilter(void)
{
	return !access("/proc/net/netfilter", F_OK);
}

/* The option's value, or a negative errno. */
static int reason_option(int fd)
{
	socklen_t len = sizeof(int);
	int value = -1;

	if (getsockopt(fd, SOL_IP, IP_SDP_FALLBACK, &value, &len))
		return -errno;
	need(len == sizeof(int), "the option has %u bytes", len);
	return value;
}

/* What a new dump of the fallbacks says of @fd, or NULL. */
static const struct told_fell *told_of(int fd)
{
	const struct told_fells *all = fells_told();
	int i = all->n - 1;

	while (i >= 0 && all->one[i].inode != inode_of(fd))
		i--;
	return i >= 0 ? &all->one[i] : NULL;
}

/* The option and the dump both give the reason @want. */
static void need_reason(int fd, enum sdp_fallback want, const char *what)
{
	const struct told_fell *told = told_of(fd);
	int is = reason_option(fd);

	if (has_netfilter())
		need(is == (int)want, "%s: %d instead of %d", what, is, want);
	else
		need(is == -ENOPROTOOPT, "%s: %d without netfilter", what, is);
	need(told, "%s: no such socket among the fall-backs", what);
	need(told->why == want, "%s: REASON %u instead of %d", what, told->why, want);
}

static void need_unknown(int fd, const char *what)
{
	int is = reason_option(fd), want = has_netfilter() ? -ENODATA : -ENOPROTOOPT;

	need(is == want, "%s: %s", what, is < 0 ? errno_text(-is) : "a reason");
}

/*
 * SDP sockets of each kind report that they have not fallen back. TCP sockets that have not fallen
 * back have no reason.
 */
static int reason_of_sdp(void *arg)
{
	int fd, c, s, listening;
	struct addr where;

	by_names();
	fd = socket(AF_SDP, SOCK_STREAM, 0);
	need(reason_option(fd) == SDP_FELL_NOT, "family 27");
	close(fd);
	fd = socket(set->family, SOCK_STREAM, IPPROTO_SDP);
	need(reason_option(fd) == SDP_FELL_NOT, "protocol 257");
	need(setsockopt(fd, SOL_IP, IP_SDP_FALLBACK, &fd, sizeof(fd)) && errno == ENOPROTOOPT,
	     "it can be set on SDP's: %s", errno_text(errno));
	close(fd);
	listening = listener_of(PAIR, 8, &where);
	if (has_netfilter())
		need(reason_option(listening) == SDP_FELL_NOT, "a listener by both");
	c = connected_as(BOTH_SIDE, &where);
	s = accept_and_talk(listening, c, BY_SDP);
	need(reason_option(c) == SDP_FELL_NOT && reason_option(s) == SDP_FELL_NOT, "by both");
	c = connected_as(TCP_SIDE, &where);
	s = accept_and_talk(listening, c, BY_TCP);
	need_unknown(c, "TCP by its rule");
	need_unknown(s, "an accepted one of TCP");
	need_unknown(stream(0), "an undecided one");
	setting_set("rewrite", 0);
	need_unknown(stream(0), "one that was not met");
	return EXIT_OK;
}

static int reason_refused(void *arg)
{
	struct addr where;
	int listening, c;

	by_names();
	listening = listener_of(TCP_ONLY, 4, &where);
	c = connected_as(BOTH_SIDE, &where);
	need_reason(c, SDP_FELL_REFUSED, "refused");
	need_unknown(accept_and_talk(listening, c, BY_TCP), "its other end");
	need_reason(c, SDP_FELL_REFUSED, "refused, later");
	return EXIT_OK;
}

static int reason_busy(void *arg)
{
	struct silent s = silent_for(patient_ms());

	need_reason(connected_as(BOTH_SIDE, &s.where), SDP_FELL_BUSY, "busy");
	return EXIT_OK;
}

static int reason_silent(void *arg)
{
	struct addr where = no_such_host(21700);
	long long end = now_ms() + WAIT_MS;
	int fd[2], i;

	by_names();
	setting_set("fallback_ms", 200);
	setting_set("fallback_memory_ms", 60000);
	for (i = 0; i < 2; i++) {
		fd[i] = connecting_to(&where);
		while (!i && !told_of(fd[0]) && now_ms() < end)
			pause_ms(5);
	}
	need_reason(fd[0], SDP_FELL_TIMEOUT, "silent");
	need_reason(fd[1], SDP_FELL_REMEMBERED, "silent shortly before");
	return EXIT_OK;
}

/* There is no route, not for TCP either. */
static int reason_route(void *arg)
{
	struct addr far = addr_make(set->family, set->family == AF_INET ? "198.51.100.7" :
				    "2001:db8::7", 21800);
	int fd;

	new_namespace();
	by_names();
	fd = stream(0);
	need_connect(BOTH_SIDE, fd, &far, ENETUNREACH, "connect");
	need_reason(fd, SDP_FELL_ROUTE, "no route");
	need(fells_told()->n == 1, "%d fall-backs in a new namespace", fells_told()->n);
	return EXIT_OK;
}

static int reason_option_port(void *arg)
{
	int sdp, fd, listening;
	struct addr where;

	by_names();
	listening = listener_of(TCP_ONLY, 4, &where);
	fd = stream(0);
	filter(fd);
	need(!connect_as(BOTH_SIDE, fd, &where), "connect: %s", errno_text(errno));
	need_reason(fd, SDP_FELL_OPTION, "a filter");
	close(listening);
	fd = bound_like_sdp(&sdp, &where);
	as(BOTH_SIDE);
	need_errno(!listen(fd, 4), "listen");
	need_reason(fd, SDP_FELL_PORT, "a port that is taken");
	/* The reason stays when the socket listens again. */
	need_errno(!listen(fd, 5), "listen");
	need_reason(fd, SDP_FELL_PORT, "later");
	return EXIT_OK;
}

/* Wrong uses of the option. */
static int reason_wrong(void *arg)
{
	socklen_t len = sizeof(int);
	struct addr where;
	int c, value = 0;
	char room[100];

	if (!has_netfilter())
		return EXIT_SKIPPED;
	by_names();
	listener_of(TCP_ONLY, 4, &where);
	c = connected_as(BOTH_SIDE, &where);
	len = 3;
	need(getsockopt(c, SOL_IP, IP_SDP_FALLBACK, &value, &len) && errno == EINVAL,
	     "3 bytes: %s", errno_text(errno));
	len = 100;
	need(!getsockopt(c, SOL_IP, IP_SDP_FALLBACK, room, &len) && len == 4,
	     "100 bytes: %u", len);
	need(getsockopt(c, SOL_IP, IP_SDP_FALLBACK, NULL, &len) && errno == EFAULT, "NULL: %s",
	     errno_text(errno));
	need(setsockopt(c, SOL_IP, IP_SDP_FALLBACK, &value, sizeof(value)) &&
	     errno == ENOPROTOOPT, "it can be set: %s", errno_text(errno));
	c = socket(set->family, SOCK_DGRAM, 0);
	need(reason_option(c) == -ENOPROTOOPT, "on a datagram socket: %d", reason_option(c));
	return EXIT_OK;
}

/* The lines of /proc are the last fallbacks of the dump. */
static int reason_as_in_proc(void *arg)
{
	FILE *f;
	const struct told_fells *all;
	char line[300], lines[40][300];
	struct addr where;
	int i, n = 0;

	by_names();
	listener_of(TCP_ONLY, 50, &where);
	for (i = 0; i < 40; i++)
		close(connected_as(BOTH_SIDE, &where));
	all = fells_told();
	f = fopen("/proc/net/sdp_fallbacks", "r");
	need_errno(f, "sdp_fallbacks");
	while (fgets(line, sizeof(line), f) && n < 40)
		strcpy(lines[n++], line);
	fclose(f);
	need(n == 32, "%d lines", n);
	need(all->n >= 40, "%d fall-backs", all->n);
	for (i = 0; i < n; i++)
		need(!strcmp(lines[i], all->one[all->n - 32 + i].line), "\"%s\" and \"%s\"",
		     lines[i], all->one[all->n - 32 + i].line);
	return EXIT_OK;
}

static int listen_as_tcp(void)
{
	int fd = stream(0);

	filter(fd);
	need_errno(!listen(fd, 1), "listen");
	return fd;
}

/* The last 4096 are kept. */
static int reason_bound(void *arg)
{
	const struct told_fells *all;
	int first, second, last, i;

	new_namespace();
	by_names();
	as(BOTH_SIDE);
	first = listen_as_tcp();
	second = listen_as_tcp();
	for (i = 2; i < 4096; i++)
		close(listen_as_tcp());
	need_reason(first, SDP_FELL_OPTION, "the first of 4096");
	need_reason(second, SDP_FELL_OPTION, "the second of 4096");
	need(fells_told()->n == 4096, "%d instead of 4096", fells_told()->n);
	last = listen_as_tcp();
	need_unknown(first, "the first of 4097");
	need_reason(second, SDP_FELL_OPTION, "the second of 4097");
	need_reason(last, SDP_FELL_OPTION, "the last of 4097");
	for (i = 0; i < 100; i++)
		close(listen_as_tcp());
	need_unknown(second, "the second, after 100 more");
	all = fells_told();
	need(all->n == 4096, "%d after more than that", all->n);
	for (i = 1; i < all->n; i++)
		need(all->one[i].at >= all->one[i - 1].at && all->one[i].why == SDP_FELL_OPTION,
		     "number %d is out of order", i);
	return EXIT_OK;
}

static atomic_int noting_over;

static void *note_on(void *arg)
{
	as(BOTH_SIDE);
	while (!atomic_load(&noting_over))
		close(listen_as_tcp());
	return NULL;
}

/* While other threads add fallbacks, the option gives the right reason or none. */
static int reason_while_noted(void *arg)
{
	pthread_t threads[2];
	int i, j, kept;

	new_namespace();
	by_names();
	as(BOTH_SIDE);
	kept = listen_as_tcp();
	for (i = 0; i < 2; i++)
		threads[i] = start_thread(note_on, NULL);
	for (i = 0; i < scaled(80); i++) {
		const struct told_fells *all = fells_told();
		int why = reason_option(kept);

		need(why == SDP_FELL_OPTION || why == (has_netfilter() ? -ENODATA : -ENOPROTOOPT),
		     "the reason is %d", why);
		need(all->n <= 4096, "%d are told", all->n);
		for (j = 0; j < all->n; j++)
			need(all->one[j].why == SDP_FELL_OPTION && all->one[j].inode,
			     "reason %u of inode %llu", all->one[j].why, all->one[j].inode);
	}
	atomic_store(&noting_over, 1);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(reason_of_sdp, 30, ALL_SETS),
	CASE(reason_refused, 30, ALL_SETS),
	CASE(reason_busy, 30, TWO_SETS),
	CASE(reason_silent, 30, RC_SETS),
	CASE(reason_route, 30, ALL_SETS),
	CASE(reason_option_port, 30, TWO_SETS),
	CASE(reason_wrong, 30, TWO_SETS),
	CASE(reason_as_in_proc, 30, TWO_SETS),
	CASE(reason_bound, 90, ONE_SET | NOT_SLOW),
	CASE(reason_while_noted, 60, ONE_SET),
};

const struct test_list reason_tests = TEST_LIST(tests);
