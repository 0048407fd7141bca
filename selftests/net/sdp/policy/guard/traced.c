// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of the tracepoint sdp_fallback: one line for each fallback, with the reason.
 *
 * There is no line for a socket that is TCP or SDP because a rule says so.
 */
#include <sys/mount.h>

#include "guard.h"

#define TRACEPOINT	TRACING "events/sdp/sdp_fallback/enable"
#define TRACED		" sdp_fallback: "

/* Empties the trace. */
void trace_anew(void)
{
	close(open(TRACING "trace", O_WRONLY | O_TRUNC));
}

/*
 * Enables a tracepoint; @enable is its file. The trace is empty then. Skips the test if the kernel
 * has no tracepoints.
 */
void tracing_begin(const char *enable)
{
	/* Fails if it is mounted already. */
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (access(enable, W_OK))
		exit(EXIT_SKIPPED);
	/* This option would patch the code of the scheduler. */
	write_file(TRACING "options/record-cmd", "0");
	write_file(enable, "1");
	trace_anew();
}

/* Returns the number of traced lines that have @key. Stores what follows it in the last of them. */
int traced(const char *key, char last[300])
{
	FILE *f = fopen(TRACING "trace", "r");
	char line[400];
	int n = 0;

	need_errno(f, "trace");
	last[0] = 0;
	while (fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, key);

		if (!at || line[0] == '#')
			continue;
		snprintf(last, 300, "%s", at + strlen(key));
		n++;
	}
	fclose(f);
	return n;
}

static void need_untraced(const char *what)
{
	char line[300];

	need(!traced(TRACED, line), "%s is traced: %s", what, line);
}

/* Exactly one line was traced, for @fd: the text of /proc/net/sdp_fallbacks and the inode. */
static void need_traced(int fd, const struct addr *where, const char *role, const char *why)
{
	bool v4 = set->family == AF_INET;
	char line[300], want[300];
	int n;

	snprintf(want, sizeof(want), v4 ? "%s %s:%u by %s[%d] inode=%llu: %s\n" :
		 "%s [%s]:%u by %s[%d] inode=%llu: %s\n", role, set->server, addr_port(where),
		 BOTH_SIDE, getpid(), inode_of(fd), why);
	n = traced(TRACED, line);
	need(n == 1, "%s, %s: %d lines, the last \"%s\"", role, why, n, line);
	need(!strcmp(line, want), "traced \"%s\" instead of \"%s\"", line, want);
	trace_anew();
}

/*
 * Sockets that a rule has made TCP or SDP, and those by both that have become SDP, have not fallen
 * back.
 */
static void traced_none(void)
{
	static const struct {
		const char *name;
		enum kind to;
	} rows[] = {
		{ TCP_SIDE, TCP_ONLY }, { TCP_SIDE, PAIR }, { SDP_SIDE, SDP_ONLY },
		{ SDP_SIDE, NOBODY }, { BOTH_SIDE, SDP_ONLY }, { BOTH_SIDE, PAIR },
	};
	struct addr where;
	int listening, fd;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		listening = listener_of(rows[i].to, 4, &where);
		fd = stream(0);
		connect_as(rows[i].name, fd, &where);
		close(fd);
		if (listening >= 0)
			close(listening);
		need_untraced(rows[i].name);
	}
}

static void traced_refused(int flags)
{
	struct addr where;
	int listening = listener_of(TCP_ONLY, 4, &where), fd = stream(flags);

	connect_as(BOTH_SIDE, fd, &where);
	need(poll_for(fd, POLLOUT, WAIT_MS) & POLLOUT, "not connected");
	need_traced(fd, &where, "connect", "the peer has no SDP listener");
	/* The socket is TCP now, so a later connect is no fallback. */
	connect(fd, &(struct sockaddr){ .sa_family = AF_UNSPEC }, sizeof(struct sockaddr));
	connect_as(BOTH_SIDE, fd, &where);
	need_untraced("a later connect");
	close(fd);
	close(listening);
}

static void traced_busy(void)
{
	struct silent s = silent_for(patient_ms());
	int fd = connected_as(BOTH_SIDE, &s.where);

	need_traced(fd, &s.where, "connect", "the peer's backlog stayed full");
	close(fd);
	by_names();
}

static void traced_option(void)
{
	struct addr where;
	int listening = listener_of(TCP_ONLY, 4, &where), fd = stream(0);

	filter(fd);
	need_connect(BOTH_SIDE, fd, &where, 0, "connect");
	need_traced(fd, &where, "connect", "an option that only TCP has is set");
	close(fd);
	close(listening);
}

static void traced_port(void)
{
	struct addr where;
	int sdp, fd = bound_like_sdp(&sdp, &where);

	as(BOTH_SIDE);
	need_errno(!listen(fd, 4), "listen");
	need_traced(fd, &where, "listen", "SDP cannot use the address or port");
	need_errno(!listen(fd, 5), "listen");
	need_untraced("listening again");
	close(fd);
	close(sdp);
}

int traced_reasons(void *arg)
{
	by_names();
	tracing_begin(TRACEPOINT);
	traced_none();
	traced_refused(0);
	traced_refused(SOCK_NONBLOCK);
	traced_busy();
	traced_option();
	traced_port();
	write_file(TRACEPOINT, "0");
	return EXIT_OK;
}

/*
 * Several threads fall back at the same time. Some shut down or close their socket during the
 * attempt.
 */
enum { FALLERS = 4 };

static struct addr fall_to;

static void *faller(void *arg)
{
	unsigned int seed = (unsigned int)(long)arg + 5;
	int i, fd;

	as(BOTH_SIDE);
	for (i = 0; i < scaled(80); i++) {
		fd = stream(i % 2 ? SOCK_NONBLOCK : 0);
		connect(fd, &fall_to.sa, fall_to.len);
		if (next_random(&seed) % 2)
			poll_for(fd, POLLOUT, WAIT_MS);
		if (next_random(&seed) % 4 == 0)
			shutdown(fd, SHUT_RDWR);
		close(fd);
	}
	return NULL;
}

/* There are as many lines in the trace as the counters say. */
int traced_once(void *arg)
{
	long long before, fell, end;
	pthread_t threads[FALLERS];
	char line[300];
	int listening;
	long i;

	by_names();
	tracing_begin(TRACEPOINT);
	before = all_fells();
	listening = listener_of(TCP_ONLY, 1000, &fall_to);
	for (i = 0; i < FALLERS; i++)
		threads[i] = start_thread(faller, (void *)i);
	for (i = 0; i < FALLERS; i++)
		pthread_join(threads[i], NULL);
	/* Before 6.6 the end of an attempt may be traced a moment after the socket was closed. */
	end = now_ms() + WAIT_MS;
	while (traced(TRACED, line) != all_fells() - before && now_ms() < end)
		pause_ms(10);
	fell = all_fells() - before;
	need(fell >= FALLERS * scaled(80) / 4, "only %lld fell back", fell);
	need(traced(TRACED, line) == fell, "%d lines of %lld fall-backs", traced(TRACED, line),
	     fell);
	write_file(TRACEPOINT, "0");
	close(listening);
	return EXIT_OK;
}
