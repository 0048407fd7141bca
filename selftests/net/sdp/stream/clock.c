// SPDX-License-Identifier: GPL-2.0
/*
 * The wall clock leaps forward and back by hours: no wait ends early, and none late.
 *
 * Covered are time limits of calls, of connect and of close, orphans, keepalive and the deadlock
 * scan (C9). A stream that flows meanwhile does not stall.
 */
#include <stdatomic.h>

#include "reading.h"

#define HOURS		3600
/* The time limit under test: before it is over, the clock has leapt both ways. */
#define LIMIT_MS	1200
/* Time within which a limit of a second or two has to take effect. */
#define MOST_MS		15000
#define BETWEEN_MS	200

static const long leaps[] = { 3 * HOURS, -7 * HOURS, 30 * 24 * HOURS, -29 * 24 * HOURS - 1 };

static void leap(long seconds)
{
	struct timespec now;

	need_errno(!clock_gettime(CLOCK_REALTIME, &now), "clock_gettime");
	now.tv_sec += seconds;
	need_errno(!clock_settime(CLOCK_REALTIME, &now), "clock_settime");
}

/* Number of seconds by which the wall clock is ahead of the monotonic clock. */
static long ahead(void)
{
	struct timespec now, up;

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_MONOTONIC, &up);
	return now.tv_sec - up.tv_sec;
}

static long ahead_before;

static void clock_restore(void)
{
	leap(ahead_before - ahead());
}

/*
 * Leaps every @arg milliseconds until it is killed. It has to start before sockets whose close is
 * tested, because as a child it would keep them open.
 */
static void leaps_on(void *arg)
{
	int ms = *(int *)arg;
	size_t i;

	for (i = 0; ; i++) {
		pause_ms(ms);
		leap(leaps[i % ARRAY_SIZE(leaps)]);
	}
}

static pid_t leaps_begin(int ms)
{
	static int every;

	every = ms;
	return helper_start(leaps_on, &every);
}

static void leaps_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	clock_restore();
}

/*
 * Checks that it took at least @least milliseconds since @since, and not much longer, although the
 * clock has leapt. The leaps are of hours and more, so a busy host may well take its time.
 */
static void took(const char *what, long long since, int least)
{
	long long ms = now_ms() - since;

	printf("# %s: %lld ms\n", what, ms);
	need(ms >= least && ms <= patience(MOST_MS), "%s ended after %lld ms, not within %d to %d",
	     what, ms, least, patience(MOST_MS));
}

static int recv_timeout(void *arg)
{
	struct pair p = pair_make();
	pid_t leaper;
	long long since;
	char byte;

	set_timeout(p.c, SO_RCVTIMEO, LIMIT_MS);
	leaper = leaps_begin(BETWEEN_MS);
	since = now_ms();
	need(recv(p.c, &byte, 1, 0) < 0 && errno == EAGAIN, "recv: %s", errno_text(errno));
	took("SO_RCVTIMEO", since, LIMIT_MS - 20);
	leaps_end(leaper);
	return EXIT_OK;
}

static int send_timeout(void *arg)
{
	struct pair p = pair_sized(16384);
	static char block[1 << 20];
	pid_t leaper;
	long long since;

	fill_ends(p.c, p.s);
	set_timeout(p.c, SO_SNDTIMEO, LIMIT_MS);
	leaper = leaps_begin(BETWEEN_MS);
	since = now_ms();
	need(send(p.c, block, sizeof(block), MSG_NOSIGNAL) < 0 && errno == EAGAIN, "send: %s",
	     errno_text(errno));
	took("SO_SNDTIMEO", since, LIMIT_MS - 20);
	leaps_end(leaper);
	return EXIT_OK;
}

/* Nobody accepts, and the backlog is full: connect() tries again until its time limit. */
static int connect_timeout(void *arg)
{
	struct addr where;
	int fds[8], n = 0, fd, listening = listener(0, &where);
	pid_t leaper;
	long long since;

	setting_set("connect_timeout_ms", LIMIT_MS);
	do {
		need(n < (int)ARRAY_SIZE(fds), "the backlog has no end");
		fds[n] = fresh(SOCK_NONBLOCK);
		connect(fds[n], &where.sa, where.len);
	} while (poll_for(fds[n++], POLLOUT, quiet_ms()) & POLLOUT);
	leaper = leaps_begin(BETWEEN_MS);
	fd = fresh(0);
	since = now_ms();
	need(connect(fd, &where.sa, where.len) < 0 && errno == ETIMEDOUT, "connect: %s",
	     errno_text(errno));
	took("connect", since, LIMIT_MS - 20);
	leaps_end(leaper);
	close(listening);
	return EXIT_OK;
}

static int linger(void *arg)
{
	struct linger second = { .l_onoff = 1, .l_linger = 1 };
	pid_t leaper = leaps_begin(BETWEEN_MS);
	struct pair p = pair_sized(16384);
	long long since;

	fill_ends(p.c, p.s);
	need_errno(!setsockopt(p.c, SOL_SOCKET, SO_LINGER, &second, sizeof(second)), "SO_LINGER");
	since = now_ms();
	close(p.c);
	took("close", since, 980);
	leaps_end(leaper);
	return EXIT_OK;
}

/*
 * Number of sockets that are closed while their peers are not: in FIN_WAIT1 (04) until the peer's
 * queue pair has acknowledged DisConn, which the peer may have read before, and then in FIN_WAIT2
 * (05).
 */
static int half_closed(void)
{
	FILE *f = fopen("/proc/net/sdp", "r");
	char line[512], state[3];
	int n = 0;

	need_errno(f, "/proc/net/sdp");
	while (fgets(line, sizeof(line), f))
		n += sscanf(line, "%*s %*s %*s %2s", state) == 1 &&
		     (!strcmp(state, "04") || !strcmp(state, "05"));
	fclose(f);
	return n;
}

/* A closed socket whose peer does not close stays as long as TCP_LINGER2 says. */
static int orphan(void *arg)
{
	pid_t leaper = leaps_begin(BETWEEN_MS);
	struct pair p = pair_make();
	long long since, end = now_ms() + patience(MOST_MS + 1000);
	char byte;

	set_int(p.c, IPPROTO_TCP, TCP_LINGER2, 2);
	since = now_ms();
	close(p.c);
	need(recv(p.s, &byte, 1, 0) == 0, "no end of the stream");
	while (half_closed() && now_ms() < end)
		pause_ms(20);
	took("TCP_LINGER2", since, 1900);
	leaps_end(leaper);
	return EXIT_OK;
}

/* The peer's machine answers every probe, so it is never given up, however the clock leaps. */
static int keepalive(void *arg)
{
	long long silent = counter("SilentPeers"), probes = counter("KeepaliveProbes"), sent;
	struct pair p = pair_make();
	pid_t leaper;

	set_int(p.c, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	set_int(p.c, IPPROTO_TCP, TCP_KEEPINTVL, 1);
	set_int(p.c, IPPROTO_TCP, TCP_KEEPCNT, 2);
	set_int(p.c, IPPROTO_TCP, TCP_USER_TIMEOUT, 2500);
	set_int(p.c, SOL_SOCKET, SO_KEEPALIVE, 1);
	leaper = leaps_begin(BETWEEN_MS);
	pause_ms(4500);
	sent = counter("KeepaliveProbes") - probes;
	printf("# %lld probes in 4.5 s\n", sent);
	need(sent >= 2 && sent <= 6, "%lld probes in 4.5 s", sent);
	need(counter("SilentPeers") == silent, "the peer has been given up");
	leaps_end(leaper);
	send_all(p.c, "x", 1);
	drain(p.s, 1);
	return EXIT_OK;
}

static void cut(bool off)
{
	char command[256];

	if (off)
		snprintf(command, sizeof(command),
			 "ip neighbour replace %s lladdr 02:00:00:00:00:01 dev va nud permanent",
			 set->server);
	else
		snprintf(command, sizeof(command),
			 "ip neighbour replace %s lladdr $(cat /sys/class/net/vb/address) "
			 "dev va nud permanent", set->server);
	need(!system(command), "%s", command);
}

/* A peer whose machine no longer answers probes is given up in time. */
static int gone(void *arg)
{
	struct pair p = pair_make();
	pid_t leaper;
	long long since;
	char byte;

	set_int(p.c, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	set_int(p.c, IPPROTO_TCP, TCP_KEEPINTVL, 1);
	set_int(p.c, IPPROTO_TCP, TCP_KEEPCNT, 2);
	set_int(p.c, SOL_SOCKET, SO_KEEPALIVE, 1);
	cut(true);
	leaper = leaps_begin(BETWEEN_MS);
	since = now_ms();
	need(recv(p.c, &byte, 1, 0) < 0 && errno == ETIMEDOUT, "recv: %s", errno_text(errno));
	took("keepalive", since, 1900);
	leaps_end(leaper);
	cut(false);
	return EXIT_OK;
}

/*
 * C9: nobody reads from the SrcAvail. The deadlock scan notices it in time, and the data goes in
 * messages.
 */
static int scan(void *arg)
{
	struct pair p = pair_that_waits();
	pid_t leaper;
	long long since;

	setting_set("scan_ms", 600);
	counters_mark();
	leaper = leaps_begin(BETWEEN_MS);
	since = now_ms();
	send_all(p.c, pattern(0), 1 << 16);
	/* And not the writer, which would give up after ten times as long. */
	need(since_mark("ScansFired") == 1, "%lld scans fired", since_mark("ScansFired"));
	took("the scan", since, 550);
	leaps_end(leaper);
	pattern_read(p.s, 0, 1 << 16, 1 << 16);
	return EXIT_OK;
}

static atomic_long streamed;

static void *reads_all(void *arg)
{
	static unsigned char buf[1 << 17];
	int fd = *(int *)arg;
	long at = 0;
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		pattern_check(at, buf, n);
		at += n;
		streamed = at;
	}
	need(!n, "recv: %s", errno_text(errno));
	return NULL;
}

/* Small and large writes: none takes long, and no byte is lost, whenever the clock leaps. */
static int stream(void *arg)
{
	long long end = now_ms() + (short_form() ? 1500 : 15000), longest = 0, before;
	struct pair p = pair_make();
	pthread_t reader;
	pid_t leaper;
	long at = 0, n;

	streamed = 0;
	need(!pthread_create(&reader, NULL, reads_all, &p.s), "no thread");
	leaper = leaps_begin(25);
	while (now_ms() < end) {
		n = at % 3 ? 700 : 100000;
		before = now_ms();
		pattern_write(p.c, at, n);
		if (now_ms() - before > longest)
			longest = now_ms() - before;
		at += n;
	}
	leaps_end(leaper);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	pthread_join(reader, NULL);
	need(streamed == at, "%ld bytes instead of %ld", streamed, at);
	printf("# %ld bytes, the longest write %lld ms\n", at, longest);
	need(longest < patience(MOST_MS), "a write took %lld ms", longest);
	return EXIT_OK;
}

#define BOTH	V4_SETS

static const struct test tests[] = {
	{ "recv_timeout", recv_timeout, 60, BOTH, .sdp_only = false, .arg = NULL },
	{ "send_timeout", send_timeout, 60, BOTH, .sdp_only = false, .arg = NULL },
	{ "connect_timeout", connect_timeout, 60, BOTH, .sdp_only = true, .arg = NULL },
	{ "linger", linger, 60, BOTH, .sdp_only = false, .arg = NULL },
	{ "orphan", orphan, 60, BOTH | NOT_SHORT, .sdp_only = true, .arg = NULL },
	{ "keepalive", keepalive, 60, RC | NOT_SHORT, .sdp_only = true, .arg = NULL },
	{ "gone", gone, 60, RC | NOT_SHORT, .sdp_only = true, .arg = NULL },
	{ "scan", scan, 60, RC, .sdp_only = true, .arg = NULL },
	{ "stream", stream, 60, BOTH, .sdp_only = true, .arg = NULL },
};

int main(int argc, char **argv)
{
	int status;

	pattern_make();
	ahead_before = ahead();
	status = run_tests(argv, tests, ARRAY_SIZE(tests));
	clock_restore();
	return status;
}
