// SPDX-License-Identifier: GPL-2.0
#include "observe.h"

struct log *obs;

char scratch[8192];

int scratch_int;

__attribute__((format(printf, 2, 3)))
void rec(const char *label, const char *fmt, ...)
{
	char value[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	n = snprintf(obs->text + obs->used, sizeof(obs->text) - obs->used, "%s = %s\n",
		     label, value);
	need((size_t)n < sizeof(obs->text) - obs->used, "the log is full");
	obs->used += n;
}

/*
 * Splits the next line "label = value" off the log at *@text, in place. Returns false at the end.
 */
static bool next_line(char **text, char **label, char **value)
{
	char *end = strchr(*text, '\n'), *sep;

	if (!end)
		return false;
	*end = 0;
	*label = *text;
	*text = end + 1;
	sep = strstr(*label, " = ");
	need(sep, "a log line without a value: %s", *label);
	*sep = 0;
	*value = sep + 3;
	return true;
}

/*
 * Compares the logs of both runs, line by line. @same compares two values of one label. Returns
 * false after the first label that differs, or when @same has said so.
 */
bool logs_compare(const char *name, struct log *const logs[2],
		  bool (*same)(const char *name, const char *label, const char *tcp,
			       const char *sdp))
{
	char *tcp_text = logs[0]->text, *sdp_text = logs[1]->text;
	char *tcp_label = NULL, *tcp_value = NULL, *sdp_label = NULL, *sdp_value = NULL;
	bool ok = true;

	for (;;) {
		bool tcp = next_line(&tcp_text, &tcp_label, &tcp_value);
		bool sdp = next_line(&sdp_text, &sdp_label, &sdp_value);

		if (!tcp && !sdp)
			return ok;
		if (!tcp || !sdp || strcmp(tcp_label, sdp_label)) {
			printf("# %s: TCP is at \"%s\", SDP at \"%s\"\n", name,
			       tcp ? tcp_label : "the end", sdp ? sdp_label : "the end");
			return false;
		}
		if (!same(name, tcp_label, tcp_value, sdp_value))
			ok = false;
	}
}

/* A log that child processes write and this one reads. */
struct log *log_make(void)
{
	struct log *log = mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	need_errno(log != MAP_FAILED, "mmap");
	return log;
}

long rec_ret(const char *label, long ret)
{
	int error = errno;

	if (ret < 0)
		rec(label, "-%s", errno_text(error));
	else
		rec(label, "%ld", ret);
	errno = error;
	return ret;
}

/* Like REC(), for calls that return a new descriptor: its number is not recorded. */
int rec_fd(const char *label, int fd)
{
	if (fd < 0)
		return rec_ret(label, fd);
	rec(label, "descriptor");
	return fd;
}

void rec_bool(const char *label, bool value)
{
	rec(label, "%s", value ? "yes" : "no");
}

void rec_bytes(const char *label, const void *data, size_t len)
{
	const unsigned char *p = data;
	char text[100];
	size_t i, n = 0;

	for (i = 0; i < len && n + 8 < sizeof(text); i++)
		n += snprintf(text + n, sizeof(text) - n, isprint(p[i]) ? "%c" : "\\x%02x", p[i]);
	text[n] = 0;
	rec(label, "\"%s\"%s", text, i < len ? "..." : "");
}

/* Calls recv() and records its result and the received bytes. */
ssize_t rec_recv(const char *label, int fd, size_t len, int flags)
{
	char buf[4096];
	ssize_t n;

	need(len <= sizeof(buf), "rec_recv: %zu", len);
	memset(buf, '.', sizeof(buf));
	n = REC(label, recv(fd, buf, len, flags));
	if (n > 0)
		rec_bytes(label, buf, n);
	return n;
}

/* Writes a poll mask as the names of its bits. */
void events_text(unsigned int mask, char *text, size_t size)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} names[] = {
		{ POLLIN, "IN" }, { POLLPRI, "PRI" }, { POLLOUT, "OUT" }, { POLLERR, "ERR" },
		{ POLLHUP, "HUP" }, { POLLNVAL, "NVAL" }, { POLLRDNORM, "RDNORM" },
		{ POLLRDBAND, "RDBAND" }, { POLLWRNORM, "WRNORM" }, { POLLWRBAND, "WRBAND" },
		{ POLLRDHUP, "RDHUP" },
	};
	size_t i, n = 0;

	snprintf(text, size, "-");
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (mask & names[i].bit && n < size)
			n += snprintf(text + n, size - n, "%s%s", n ? "|" : "", names[i].name);
}

void rec_events(const char *label, unsigned int mask)
{
	char text[100];

	events_text(mask, text, sizeof(text));
	rec(label, "%s", text);
}

/* Records the current poll mask. */
void rec_mask(const char *label, int fd)
{
	rec_events(label, (unsigned short)poll_for(fd, EVERY_EVENT, 0));
}

/*
 * Waits until the poll mask shows @want, then records the mask. At the deadline it records the mask
 * as it is, which will differ from TCP's.
 */
void rec_mask_at(const char *label, int fd, short want)
{
	int i;

	/*
	 * TCP reports an error a moment before the hang-up and the end of reading that come with
	 * it, one by one. poll() returns immediately once there is an error, so the others need a
	 * wait of their own.
	 */
	if (poll_for(fd, want, WAIT_MS) & POLLERR)
		for (i = 0; i < 50 && !(poll_for(fd, POLLRDHUP, 0) & POLLRDHUP); i++)
			pause_ms(1);
	rec_mask(label, fd);
}

/* The name of a port: "0", or p1, p2, ... in the order of first appearance. */
static const char *port_name(unsigned int port)
{
	static unsigned int seen[64], count;
	static char text[16];
	unsigned int i;

	if (!port)
		return "0";
	for (i = 0; i < count && seen[i] != port; i++)
		;
	if (i == count) {
		need(count < 64, "too many ports");
		seen[count++] = port;
	}
	snprintf(text, sizeof(text), "p%u", i + 1);
	return text;
}

void rec_addr(const char *label, const struct addr *a, socklen_t len)
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (a->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &a->in.sin_addr, host, sizeof(host));
	else if (a->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a->in6.sin6_addr, host, sizeof(host));
	rec(label, "family %d, [%s]:%s, %u bytes", a->sa.sa_family, host,
	    port_name(addr_port(a)), len);
}

void rec_sockname(const char *label, int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	if (getsockname(fd, &a.sa, &a.len))
		rec(label, "-%s", errno_text(errno));
	else
		rec_addr(label, &a, a.len);
}

void rec_peername(const char *label, int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	if (getpeername(fd, &a.sa, &a.len))
		rec(label, "-%s", errno_text(errno));
	else
		rec_addr(label, &a, a.len);
}

/*
 * Records the peer's name once the connection has ended completely. A last exchange with the peer
 * may still be in flight, so getpeername() is retried for a while.
 */
void rec_peername_gone(const char *label, int fd)
{
	long long end = now_ms() + WAIT_MS / 5;
	struct addr a;

	do {
		a.len = sizeof(a.ss);
		pause_ms(1);
	} while (!getpeername(fd, &a.sa, &a.len) && now_ms() < end);
	rec_peername(label, fd);
}

int try_int(int fd, int level, int option)
{
	socklen_t len = sizeof(int);
	int value = 0;

	return getsockopt(fd, level, option, &value, &len) ? -1 : value;
}

void rec_int(const char *label, int fd, int level, int option)
{
	REC(label, try_int(fd, level, option));
}

/* Records SO_ERROR by name. Reading SO_ERROR clears it. */
void rec_so_error(const char *label, int fd)
{
	int error = try_int(fd, SOL_SOCKET, SO_ERROR);

	rec(label, "%s", error ? errno_text(error) : "0");
}

volatile sig_atomic_t ticks, pipes;

void on_tick(int sig)
{
	ticks++;
}

void on_pipe(int sig)
{
	pipes++;
}

void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

/*
 * Interrupts this process with SIGALRM every 50 ms from now on. The signal is repeated because one
 * that arrives before the call under test has begun to sleep has no effect.
 */
void ticks_start(void (*handler)(int), int flags)
{
	struct itimerval every = { { 0, 50000 }, { 0, 50000 } };

	ticks = 0;
	handle(SIGALRM, handler, flags);
	setitimer(ITIMER_REAL, &every, NULL);
}

void ticks_stop(void)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &never, NULL);
}

bool took_at_least(long long start, int ms)
{
	/*
	 * Timeouts are counted in ticks, and a busy host delivers delayed ticks to its guest in
	 * bursts.
	 */
	return now_ms() - start >= ms / 2;
}

/*
 * Waits until @waiting connections are in the accept queue of @listening. TCP queues a connection a
 * moment after the client's connect() has returned; SDP does not. Where a policy makes a socket
 * listen by both, its TCP_INFO is TCP's and does not count the connections by SDP.
 */
void await_queue(int listening, unsigned int waiting)
{
	long long end = now_ms() + WAIT_MS;
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (use_sdp) {
		poll_for(listening, POLLIN, WAIT_MS);
		return;
	}
	do {
		if (!getsockopt(listening, IPPROTO_TCP, TCP_INFO, &info, &len) &&
		    info.tcpi_unacked >= waiting)
			return;
		pause_ms(1);
	} while (now_ms() < end);
	need(false, "%u of %u connections in the queue", info.tcpi_unacked, waiting);
}

struct stuck stuck_make(int flags)
{
	struct stuck s;

	s.listening = listener(0, &s.where);
	s.filler = fresh(0);
	connect_to(s.filler, &s.where);
	await_queue(s.listening, 1);
	s.fd = fresh(flags);
	return s;
}

static void *caller_main(void *arg)
{
	struct caller *c = arg;

	c->tid = gettid();
	c->ret = c->call(c->fd);
	c->error = errno;
	return NULL;
}

/* Starts the thread. Returns when it sleeps in its call. */
void caller_start(struct caller *c, long (*call)(int fd), int fd)
{
	c->call = call;
	c->fd = fd;
	c->tid = 0;
	need(!pthread_create(&c->thread, NULL, caller_main, c), "pthread_create");
	while (!c->tid)
		pause_ms(1);
	await_asleep(c->tid);
}

void caller_end(const char *label, struct caller *c)
{
	pthread_join(c->thread, NULL);
	errno = c->error;
	rec_ret(label, c->ret);
}
