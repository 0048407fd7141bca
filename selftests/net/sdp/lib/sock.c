// SPDX-License-Identifier: GPL-2.0
#include "sock.h"

/* Kernels with many debug checks are much slower. This file exists only on them. */
bool slow_kernel(void)
{
	static int slow = -1;

	if (slow < 0)
		slow = !access("/sys/kernel/debug/kmemleak", F_OK);
	return slow;
}

/* A time without events after which none is expected any more. */
int quiet_ms(void)
{
	return slow_kernel() ? 1500 : 100;
}

struct addrset addrsets[SET_COUNT] = {
	[SET_LO4] = { "lo4", AF_INET, "127.0.0.1", "127.0.0.1" },
	[SET_LO6] = { "lo6", AF_INET6, "::1", "::1" },
	[SET_RC4] = { "rc4", AF_INET, NULL, NULL },
	[SET_RC6] = { "rc6", AF_INET6, NULL, NULL },
};

const struct addrset *set = &addrsets[SET_LO4];

bool use_sdp = true;

bool use_twin;		/* IPPROTO_SDP of AF_INET and AF_INET6, not family 27 */

bool use_policy;	/* TCP sockets that the policy makes SDP by thread name */

void addrsets_from_environment(void)
{
	addrsets[SET_RC4].client = getenv("SDP_A");
	addrsets[SET_RC4].server = getenv("SDP_B");
	addrsets[SET_RC6].client = getenv("SDP_A6");
	addrsets[SET_RC6].server = getenv("SDP_B6");
}

/* A slow kernel needs minutes instead of seconds, so it runs one address set of each kind only. */
static bool left_to_others(const struct addrset *which)
{
	return slow_kernel() && which != &addrsets[SET_LO6] &&
	       which != &addrsets[SET_RC4];
}

/*
 * The short form of a test with many cases: each case runs on one of the address sets @sets that
 * this kernel runs, in rotation. Returns whether case @n runs on the current set.
 */
bool dealt_out(unsigned int n, unsigned int sets)
{
	int i;

	if (!short_form())
		return true;
	for (i = 0; i < SET_COUNT; i++)
		if (left_to_others(&addrsets[i]))
			sets &= ~(1u << i);
	n %= sets ? __builtin_popcount(sets) : 1;
	for (i = 0; i < SET_COUNT; i++)
		if (sets & 1u << i && !n--)
			break;
	return set == &addrsets[i];
}

/* Returns NULL if sockets can be made, otherwise the reason to skip a test. */
const char *missing(const struct addrset *which, bool sdp)
{
	int fd;

	if (left_to_others(which))
		return "this kernel is slow; the others do it";
	if (!which->client || !which->server)
		return "no RDMA pair here: set SDP_A, SDP_B, SDP_A6 and SDP_B6";
	if (!sdp)
		return NULL;
	fd = socket(AF_SDP, SOCK_STREAM, 0);
	if (fd < 0)
		return "no family 27 here: load the sdp module";
	close(fd);
	return NULL;
}

struct addr addr_make(int family, const char *text, unsigned int port)
{
	struct addr a = { .len = 0 };

	a.sa.sa_family = family;
	if (family == AF_INET) {
		a.len = sizeof(a.in);
		a.in.sin_port = htons(port);
		need(inet_pton(family, text, &a.in.sin_addr) == 1, "bad address %s", text);
	} else {
		a.len = sizeof(a.in6);
		a.in6.sin6_port = htons(port);
		need(inet_pton(family, text, &a.in6.sin6_addr) == 1, "bad address %s", text);
	}
	return a;
}

const char *wildcard_text(int family)
{
	return family == AF_INET ? "0.0.0.0" : "::";
}

struct addr server_addr(unsigned int port)
{
	return addr_make(set->family, set->server, port);
}

struct addr client_addr(unsigned int port)
{
	return addr_make(set->family, set->client, port);
}

struct addr wildcard_addr(unsigned int port)
{
	return addr_make(set->family, wildcard_text(set->family), port);
}

unsigned int addr_port(const struct addr *a)
{
	return ntohs(a->sa.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

void addr_set_port(struct addr *a, unsigned int port)
{
	if (a->sa.sa_family == AF_INET6)
		a->in6.sin6_port = htons(port);
	else
		a->in.sin_port = htons(port);
}

struct addr name_of(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	need_errno(!getsockname(fd, &a.sa, &a.len), "getsockname");
	return a;
}

struct addr peer_of(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	need_errno(!getpeername(fd, &a.sa, &a.len), "getpeername");
	return a;
}

/* A stream socket that takes addresses of @family. */
int socket_for(int family, int flags)
{
	int fd;

	if (use_policy)
		prctl(PR_SET_NAME, use_sdp ? SDP_SIDE : TCP_SIDE);
	fd = socket(use_sdp && !use_twin ? AF_SDP : family, SOCK_STREAM | flags,
		    use_sdp && use_twin && !use_policy ? IPPROTO_SDP : 0);
	need_errno(fd >= 0, "socket");
	return fd;
}

int fresh(int flags)
{
	return socket_for(set->family, flags);
}

void set_int(int fd, int level, int option, int value)
{
	need_errno(!setsockopt(fd, level, option, &value, sizeof(value)), "setsockopt");
}

int get_int(int fd, int level, int option)
{
	socklen_t len = sizeof(int);
	int value = -1;

	need_errno(!getsockopt(fd, level, option, &value, &len), "getsockopt");
	return value;
}

void set_timeout(int fd, int option, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	need_errno(!setsockopt(fd, SOL_SOCKET, option, &tv, sizeof(tv)), "setsockopt timeout");
}

void set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	need_errno(!fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK), "F_SETFL");
}

/*
 * Waits for any of @events, an error or a hang-up. Returns the events of @fd, or 0 at the deadline.
 */
short poll_for(int fd, short events, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int n = poll(&pfd, 1, ms);

	return n == 1 ? pfd.revents : 0;
}

/*
 * A listener on @bind_to. If that has no port, the kernel chooses one. *@where is the address for
 * clients.
 */
int listener_on(const struct addr *bind_to, int backlog, struct addr *where)
{
	int fd = socket_for(bind_to->sa.sa_family, 0);

	need_errno(!bind(fd, &bind_to->sa, bind_to->len), "bind");
	need_errno(!listen(fd, backlog), "listen");
	if (where) {
		struct addr name = name_of(fd);

		*where = server_addr(addr_port(&name));
	}
	return fd;
}

int listener(int backlog, struct addr *where)
{
	struct addr a = server_addr(0);

	return listener_on(&a, backlog, where);
}

void connect_to(int fd, const struct addr *where)
{
	need_errno(!connect(fd, &where->sa, where->len), "connect");
}

int accept_from(int listening)
{
	int fd;

	need(poll_for(listening, POLLIN, WAIT_MS), "no connection to accept");
	fd = accept(listening, NULL, NULL);
	need_errno(fd >= 0, "accept");
	return fd;
}

/* A connection. @buffer != 0 sets the send and receive buffers of both ends to this size. */
struct pair pair_sized(int buffer)
{
	struct addr where;
	struct pair p;
	int fd = listener(4, &where);

	p.c = fresh(0);
	if (buffer) {
		set_int(fd, SOL_SOCKET, SO_SNDBUF, buffer);
		set_int(fd, SOL_SOCKET, SO_RCVBUF, buffer);
		set_int(p.c, SOL_SOCKET, SO_SNDBUF, buffer);
		set_int(p.c, SOL_SOCKET, SO_RCVBUF, buffer);
	}
	connect_to(p.c, &where);
	p.s = accept_from(fd);
	close(fd);
	return p;
}

struct pair pair_make(void)
{
	return pair_sized(0);
}

int queued_bytes(int fd)
{
	int n = -1;

	return ioctl(fd, FIONREAD, &n) ? -1 : n;
}

int unsent_bytes(int fd)
{
	int n = -1;

	return ioctl(fd, SIOCOUTQ, &n) ? -1 : n;
}

/* Waits until @n bytes can be read from @fd. Returns the number of readable bytes at the end. */
int await_bytes(int fd, int n)
{
	long long end = now_ms() + WAIT_MS;

	while (queued_bytes(fd) < n && now_ms() < end)
		pause_ms(1);
	return queued_bytes(fd);
}

long send_until_full(int fd)
{
	static char block[4096];
	long total = 0;
	ssize_t n;

	while ((n = send(fd, block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
		total += n;
	need(errno == EAGAIN, "send: %s", errno_text(errno));
	return total;
}

/*
 * Sends until the connection takes no more data, while nobody reads at the other end. Returns the
 * number of bytes. Data in flight may still make room after the first EAGAIN, so this ends only
 * when there has been no room for a while. TCP probes a closed window after 200 ms.
 */
#define PROBED_MS	400

long fill(int fd)
{
	long total = send_until_full(fd), n;

	do {
		poll_for(fd, POLLOUT, use_sdp || quiet_ms() > PROBED_MS ? quiet_ms() : PROBED_MS);
		n = send_until_full(fd);
		total += n;
	} while (n);
	return total;
}

/* Reads exactly @n bytes and discards them. */
void drain(int fd, long n)
{
	char block[16384];

	while (n) {
		ssize_t got;

		need(poll_for(fd, POLLIN, WAIT_MS), "nothing to read, %ld bytes missing", n);
		got = recv(fd, block, n < (long)sizeof(block) ? (size_t)n : sizeof(block), 0);
		need_errno(got >= 0, "recv");
		need(got, "end of stream, %ld bytes missing", n);
		n -= got;
	}
}

void send_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		need_errno(n > 0, "send");
		p += n;
		len -= n;
	}
}

void recv_all(int fd, void *data, size_t len)
{
	ssize_t n = recv(fd, data, len, MSG_WAITALL);

	need_errno(n >= 0, "recv");
	need((size_t)n == len, "recv: %zd bytes instead of %zu", n, len);
}

/* The state of a thread, or of the first thread of another process. */
static char thread_state(pid_t tid)
{
	char path[64], line[256], *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return end ? end[2] : 0;
}

/* Waits until @tid sleeps, and stays asleep, in the call that it is about to make. */
void await_asleep(pid_t tid)
{
	long long end = now_ms() + WAIT_MS;
	int seen = 0;

	while (seen < 5) {
		need(now_ms() < end, "it does not sleep");
		seen = thread_state(tid) == 'S' ? seen + 1 : 0;
		pause_ms(2);
	}
}

void linger_zero(int fd)
{
	struct linger now = { .l_onoff = 1 };

	need_errno(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), "SO_LINGER");
}
