// SPDX-License-Identifier: GPL-2.0
#include "policy_common.h"

void as(const char *name)
{
	prctl(PR_SET_NAME, name);
}

int protocol_of(int fd)
{
	socklen_t len = sizeof(int);
	int value = -1;

	need_errno(!getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &len), "SO_PROTOCOL");
	return value;
}

/* Only SDP has SDP_INFO. A socket of family 27 reports protocol 6, as TCP does. */
void need_protocol(int fd, int want, const char *what)
{
	bool family_27 = get_int(fd, SOL_SOCKET, SO_DOMAIN) == AF_SDP;
	struct sdp_info info;
	socklen_t len = sizeof(info);
	int is = protocol_of(fd);
	bool sdp = !getsockopt(fd, SOL_SDP, SDP_INFO, &info, &len);

	need(is == want || (family_27 && want == BY_SDP), "%s is by protocol %d instead of %d",
	     what, is, want);
	need(sdp == (want == BY_SDP), "%s, by protocol %d: SDP_INFO %s", what, is,
	     sdp ? "is there" : errno_text(errno));
	if (!sdp)
		need(get_int(fd, IPPROTO_TCP, TCP_INFO) >= 0, "%s has no TCP_INFO", what);
}

__attribute__((format(printf, 1, 2)))
void policy_set(const char *fmt, ...)
{
	char text[POLICY_MAX];
	va_list ap;
	int error;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	error = policy_write(text[0] ? text : "\n", strlen(text) ?: 1);
	need(!error, "\"%s\" is refused: %s", text, errno_text(error));
}

/* From now on the policy decides about new sockets, by the name of the thread. */
void by_names(void)
{
	policy_set("%s", NAMED);
	setting_set("rewrite", 1);
	setting_set("fallback_ms", slow_kernel() ? 20000 : 5000);
}

int stream(int flags)
{
	int fd = socket(set->family, SOCK_STREAM | flags, 0);

	need_errno(fd >= 0, "socket");
	return fd;
}

const char *const kind_names[KINDS] = { "TCP alone", "SDP alone", "both", "nobody" };

int bound(void)
{
	struct addr a = server_addr(0);
	int fd = stream(0);

	need_errno(!bind(fd, &a.sa, a.len), "bind");
	return fd;
}

/* Makes a listener. For NOBODY it returns -1, and @where has a port without a listener. */
int listener_of(enum kind kind, int backlog, struct addr *where)
{
	int fd;

	if (kind == SDP_ONLY)
		return listener(backlog, where);
	as(kind == PAIR ? BOTH_SIDE : TCP_SIDE);
	fd = bound();
	*where = name_of(fd);
	if (kind == NOBODY) {
		close(fd);
		return -1;
	}
	need_errno(!listen(fd, backlog), "listen");
	return fd;
}

/* Connects under the thread name @name. Returns the errno, or 0. */
int connect_as(const char *name, int fd, const struct addr *where)
{
	as(name);
	return connect(fd, &where->sa, where->len) ? errno : 0;
}

int connected_as(const char *name, const struct addr *where)
{
	int fd = stream(0), error = connect_as(name, fd, where);

	need(!error, "connect by %s: %s", name, errno_text(error));
	return fd;
}

/* A connect under the thread name @name ends with @want, an errno or 0. */
void need_connect(const char *name, int fd, const struct addr *where, int want, const char *what)
{
	int error = connect_as(name, fd, where);

	need(error == want, "%s by %s: %s instead of %s", what, name, errno_text(error),
	     want ? errno_text(want) : "success");
}

/* Returns a socket whose connect by both is in progress. */
int connecting_to(const struct addr *where)
{
	int fd = stream(SOCK_NONBLOCK);

	need_connect(BOTH_SIDE, fd, where, EINPROGRESS, "connect");
	return fd;
}

/* Returns the protocol that a new socket gets when it connects. */
int now_by(void)
{
	struct addr where;
	int fd = stream(0), protocol;

	listener_of(NOBODY, 1, &where);
	need(connect_as("somebody", fd, &where) == ECONNREFUSED, "connect: %s", errno_text(errno));
	protocol = protocol_of(fd);
	close(fd);
	return protocol;
}

/* Sends data both ways and checks it. */
void talk(int c, int s)
{
	static char out[40000], in[40000];
	size_t i;

	for (i = 0; i < sizeof(out); i++)
		out[i] = i * 7 + c;
	send_all(c, out, 20000);
	recv_all(s, in, 20000);
	need(!memcmp(in, out, 20000), "other data arrives");
	send_all(s, out + 20000, 20000);
	recv_all(c, in, 20000);
	need(!memcmp(in, out + 20000, 20000), "other data comes back");
}

/* Checks that both ends have @protocol and that data passes. Returns the second end. */
int both_talk(int c, int s, int protocol)
{
	need_protocol(c, protocol, "the client");
	need_protocol(s, protocol, "the accepted one");
	talk(c, s);
	return s;
}

/* Accepts, and checks that the new socket is the other end of @c. Returns the new socket. */
int accept_and_talk(int listening, int c, int protocol)
{
	return both_talk(c, accept_from(listening), protocol);
}

void need_count(const char *name, long long before, long long more)
{
	long long now = counter(name);

	need(now == before + more, "%s: %lld more instead of %lld", name, now - before, more);
}

/* The number of fallbacks, whatever their reason. */
long long all_fells(void)
{
	static const char *const names[] = { "FellRoute", "FellRefused", "FellTimeout", "FellBusy",
					     "FellRemembered", "FellResources", "FellOption",
					     "FellPort", "FellError", "FellMtu" };
	long long sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		sum += counter(names[i]);
	return sum;
}

/* Waits until the counter has this value. It must not become larger. */
void await_counter(const char *name, long long value)
{
	long long end = now_ms() + WAIT_MS;

	while (counter(name) < value && now_ms() < end)
		pause_ms(2);
	need_count(name, value, 0);
}

struct silent silent_peer(void)
{
	struct silent s;
	int i, tries;

	as(TCP_SIDE);
	for (tries = 0; ; tries++) {
		s.tcp = bound();
		s.where = name_of(s.tcp);
		s.sdp = fresh(0);
		if (!bind(s.sdp, &s.where.sa, s.where.len))
			break;
		need(tries < 10, "no port that is free for both: %s", errno_text(errno));
		close(s.sdp);
		close(s.tcp);
	}
	need_errno(!listen(s.tcp, 50) && !listen(s.sdp, 1), "listen");
	for (i = 0; i < 2; i++) {	/* a queue of n takes n + 1 */
		s.queued[i] = fresh(0);
		connect_to(s.queued[i], &s.where);
	}
	return s;
}

/* by_names(), and a silent peer; a connect falls back after @ms. */
struct silent silent_for(int ms)
{
	by_names();
	setting_set("fallback_ms", ms);
	return silent_peer();
}

/*
 * A value of fallback_ms for tests of what comes before that time is over: the host may hold the
 * processor for a second.
 */
int patient_ms(void)
{
	return slow_kernel() ? 4 * quiet_ms() : 20 * quiet_ms();
}

/*
 * An unused address of the test network. Each process gets another one: an earlier test may have
 * caused a neighbour lookup, which the kernel gives up after 3 s, and that would end in the middle
 * of this test.
 */
struct addr no_such_host(unsigned int port)
{
	return other_such_host(port, 0);
}

/* The same for each try @n, because the lookup of the first one has begun. */
struct addr other_such_host(unsigned int port, int n)
{
	struct addr a = server_addr(port);
	unsigned char host = 100 + (getpid() + 20 * n) % 100;

	if (a.sa.sa_family == AF_INET)
		((unsigned char *)&a.in.sin_addr)[3] = host;
	else
		a.in6.sin6_addr.s6_addr[15] = host;
	return a;
}

pthread_t start_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, body, arg), "pthread_create");
	return thread;
}

long module_users(void)
{
	FILE *f = fopen("/sys/module/sdp/refcnt", "r");
	long users = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%ld", &users) != 1)
		users = -1;
	fclose(f);
	return users;
}

void await_none(void)
{
	long long end = now_ms() + 1000 * patience(30);

	while (sockets() > 0) {
		need(now_ms() < end, "%d SDP sockets are still there", sockets());
		pause_ms(20);
	}
}

/*
 * The module's number of users once all earlier sockets are gone. A socket that ends late may hold
 * the module for a moment longer.
 */
long idle_users(void)
{
	long long end = now_ms() + 2000;

	await_none();
	while (module_users() > 0 && now_ms() < end)
		pause_ms(20);
	return module_users();
}

void await_users(long want)
{
	long long end = now_ms() + 3 * WAIT_MS;

	await_none();
	while (module_users() > want) {
		need(now_ms() < end, "the module has %ld users, and had %ld", module_users(), want);
		pause_ms(20);
	}
	need(module_users() >= 0, "one has given back twice what he held of the module");
}
