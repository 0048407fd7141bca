// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of options: what is set before connect() or listen() holds afterwards.
 *
 * This holds whatever the socket becomes. An accepted socket has the options that it would have by
 * TCP.
 */
#include <sys/utsname.h>

#include "policy.h"
#include "receive.h"

enum when { BEFORE_BIND, AFTER_BIND, AFTER_LISTEN, WHENS };

#define OPTION(level, name, value, v6) { level, name, value, #name, v6 }

static const struct {
	int level, name, value;
	const char *text;
	int family;		/* 0: both */
} options[] = {
	OPTION(IPPROTO_TCP, TCP_NODELAY, 1, 0),
	OPTION(IPPROTO_TCP, TCP_KEEPIDLE, 77, 0),
	OPTION(IPPROTO_TCP, TCP_KEEPINTVL, 11, 0),
	OPTION(IPPROTO_TCP, TCP_KEEPCNT, 3, 0),
	OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT, 12345, 0),
	OPTION(IPPROTO_TCP, TCP_SYNCNT, 4, 0),
	OPTION(IPPROTO_TCP, TCP_LINGER2, 9, 0),
	OPTION(IPPROTO_TCP, TCP_NOTSENT_LOWAT, 100000, 0),
	OPTION(SOL_SOCKET, SO_KEEPALIVE, 1, 0),
	OPTION(SOL_SOCKET, SO_REUSEADDR, 1, 0),
	OPTION(SOL_SOCKET, SO_RCVBUF, 50000, 0),
	OPTION(SOL_SOCKET, SO_SNDBUF, 60000, 0),
	OPTION(SOL_SOCKET, SO_RCVLOWAT, 5, 0),
	OPTION(SOL_SOCKET, SO_OOBINLINE, 1, 0),
	OPTION(SOL_SOCKET, SO_MARK, 42, 0),
	OPTION(SOL_SOCKET, SO_TIMESTAMP, 1, 0),
	OPTION(SOL_SOCKET, SO_ZEROCOPY, 1, 0),
	OPTION(IPPROTO_IP, IP_TOS, 0x20, AF_INET),
	OPTION(IPPROTO_IP, IP_TTL, 33, AF_INET),
	OPTION(IPPROTO_IPV6, IPV6_TCLASS, 0x20, AF_INET6),
	OPTION(IPPROTO_IPV6, IPV6_UNICAST_HOPS, 33, AF_INET6),
	OPTION(IPPROTO_IPV6, IPV6_V6ONLY, 1, AF_INET6),
};

/* Kernel 6.1 allows SO_ZEROCOPY for TCP and UDP only. */
static bool option_here(size_t i)
{
	struct utsname name;

	if (options[i].name == SO_ZEROCOPY && !uname(&name) && !strncmp(name.release, "6.1.", 4))
		return false;
	return !options[i].family || options[i].family == set->family;
}

static void options_set(int fd)
{
	struct linger linger = { 1, 6 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (option_here(i))
			need_errno(!setsockopt(fd, options[i].level, options[i].name,
					       &options[i].value, sizeof(int)), options[i].text);
	need_errno(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), "SO_LINGER");
	set_timeout(fd, SO_RCVTIMEO, 1300);
	set_timeout(fd, SO_SNDTIMEO, 2600);
}

struct dump {
	char text[2000];
};

static struct dump options_of(int fd)
{
	struct linger linger = { 0 };
	struct timeval in = { 0 }, out = { 0 };
	socklen_t len = sizeof(linger), in_len = sizeof(in), out_len = sizeof(out);
	struct dump d = { "" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (option_here(i))
			sprintf(d.text + strlen(d.text), "%s %d; ", options[i].text,
				get_int(fd, options[i].level, options[i].name));
	need_errno(!getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &len) &&
		   !getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &in, &in_len) &&
		   !getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &out, &out_len), "getsockopt");
	sprintf(d.text + strlen(d.text), "SO_LINGER %d %d; timeouts %ld.%03ld %ld.%03ld; ",
		linger.l_onoff, linger.l_linger, in.tv_sec, in.tv_usec / 1000, out.tv_sec,
		out.tv_usec / 1000);
	sprintf(d.text + strlen(d.text), "SO_PRIORITY %d; O_NONBLOCK %d; FD_CLOEXEC %d",
		get_int(fd, SOL_SOCKET, SO_PRIORITY), !!(fcntl(fd, F_GETFL) & O_NONBLOCK),
		fcntl(fd, F_GETFD) & FD_CLOEXEC);
	return d;
}

/* Prints the options that differ. */
static bool same_options(const struct dump *tcp, const struct dump *is, const char *whose)
{
	struct dump a = *tcp, b = *is;
	char *p, *q, *at_p, *at_q;

	if (!strcmp(a.text, b.text))
		return true;
	p = strtok_r(a.text, ";", &at_p);
	q = strtok_r(b.text, ";", &at_q);
	for (; p && q; p = strtok_r(NULL, ";", &at_p), q = strtok_r(NULL, ";", &at_q))
		if (strcmp(p, q))
			printf("# %s:%s, and by TCP:%s\n", whose, q, p);
	return false;
}

static int options_connect(void *arg)
{
	static const char *const names[] = { TCP_SIDE, SDP_SIDE, BOTH_SIDE, BOTH_SIDE };
	static const enum kind kinds[] = { TCP_ONLY, SDP_ONLY, SDP_ONLY, TCP_ONLY };
	static const int by[] = { BY_TCP, BY_SDP, BY_SDP, BY_TCP };
	bool fine = true;
	struct dump tcp, is;
	struct addr where;
	size_t i;

	by_names();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		int listening = listener_of(kinds[i], 4, &where), fd;

		fd = stream(SOCK_CLOEXEC);
		options_set(fd);
		need(!connect_as(names[i], fd, &where), "connect: %s", errno_text(errno));
		need_protocol(fd, by[i], names[i]);
		is = options_of(fd);
		if (!i)
			tcp = is;
		fine &= same_options(&tcp, &is, names[i]);
		close(listening);
	}
	return fine ? EXIT_OK : EXIT_FAILED;
}

static int listener_with_options(const char *name, enum when when, struct addr *where)
{
	struct addr a = server_addr(0);
	int fd = stream(0);

	as(name);
	if (when == BEFORE_BIND)
		options_set(fd);
	need_errno(!bind(fd, &a.sa, a.len), "bind");
	if (when == AFTER_BIND)
		options_set(fd);
	need_errno(!listen(fd, 4), "listen");
	if (when == AFTER_LISTEN)
		options_set(fd);
	*where = name_of(fd);
	return fd;
}

/* IPV6_V6ONLY can be set only before the socket has a port. */
static int options_accepted(void *arg)
{
	static const char *const servers[] = { TCP_SIDE, SDP_SIDE, BOTH_SIDE, BOTH_SIDE };
	static const char *const clients[] = { TCP_SIDE, SDP_SIDE, SDP_SIDE, TCP_SIDE };
	enum when when = (enum when)(long)arg;
	struct dump tcp[2], is;
	bool fine = true;
	struct addr where;
	size_t i;

	if (when != BEFORE_BIND && set->family == AF_INET6)
		return EXIT_SKIPPED;
	by_names();
	for (i = 0; i < ARRAY_SIZE(servers); i++) {
		int listening = listener_with_options(servers[i], when, &where), c, s;

		is = options_of(listening);
		if (!i)
			tcp[0] = is;
		fine &= same_options(&tcp[0], &is, "a listener");
		c = connected_as(clients[i], &where);
		s = accept_from(listening);
		need_protocol(s, i % 3 ? BY_SDP : BY_TCP, "the accepted one");
		is = options_of(s);
		if (!i)
			tcp[1] = is;
		fine &= same_options(&tcp[1], &is, i == 2 ? "accepted by SDP from a pair" :
				     "accepted");
		close(c);
		close(s);
		close(listening);
	}
	return fine ? EXIT_OK : EXIT_FAILED;
}

/* Options that were set before the connect also take effect. */
static int options_work(void *arg)
{
	static const char *const names[] = { SDP_SIDE, BOTH_SIDE };
	long long start;
	struct addr where;
	int listening, c, s;
	char byte;
	size_t i;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		c = stream(0);
		set_timeout(c, SO_RCVTIMEO, 200);
		linger_zero(c);
		need(!connect_as(names[i], c, &where), "connect: %s", errno_text(errno));
		s = accept_from(listening);
		start = now_ms();
		need(recv(c, &byte, 1, 0) < 0 && errno == EAGAIN, "recv: %s", errno_text(errno));
		/* Delayed ticks of an emulated machine come in bursts. */
		need(now_ms() - start >= 120, "after %lld ms", now_ms() - start);
		send_all(c, "x", 1);
		close(c);
		while (recv(s, &byte, 1, 0) > 0)
			;
		need(errno == ECONNRESET, "no reset by SO_LINGER: %s", errno_text(errno));
		close(s);
		c = stream(SOCK_NONBLOCK);
		connect_as(names[i], c, &where);
		s = accept_from(listening);
		need(poll_for(c, POLLOUT, WAIT_MS), "not connected");
		need(recv(c, &byte, 1, 0) < 0 && errno == EAGAIN, "O_NONBLOCK is lost");
		close(c);
		close(s);
	}
	return EXIT_OK;
}

enum { MARK = 1 << 20 };

/*
 * The socket is not readable before SO_RCVLOWAT bytes have arrived, which is more than the initial
 * buffer size. With rings it may be readable earlier, once the ring is full.
 */
static void need_mark(int from, int to, const char *what)
{
	bool ring = RC_SETS & 1u << (set - addrsets);
	static const char chunk[4096];
	size_t sent = 0;
	ssize_t n;

	need(get_int(to, SOL_SOCKET, SO_RCVBUF) >= 2 * MARK, "%s has a buffer of %d", what,
	     get_int(to, SOL_SOCKET, SO_RCVBUF));
	while (sent < MARK - 1) {
		size_t size = MARK - 1 - sent;

		n = send(from, chunk, size < sizeof(chunk) ? size : sizeof(chunk), MSG_DONTWAIT);
		need(n > 0 || errno == EAGAIN, "send: %s", errno_text(errno));
		sent += n > 0 ? n : 0;
		if (n < 0 && !(poll_for(from, POLLOUT, 10 * quiet_ms()) & POLLOUT)) {
			need(ring && poll_for(to, POLLIN, WAIT_MS) & POLLIN, "%s is full with %zu",
			     what, sent);
			return;
		}
		need(ring || !(poll_for(to, POLLIN, 0) & POLLIN), "%s is ready with %zu", what,
		     sent);
	}
	need(ring || !(poll_for(to, POLLIN, quiet_ms()) & POLLIN), "%s is ready before", what);
	send_all(from, chunk, 1);
	need(poll_for(to, POLLIN, WAIT_MS) & POLLIN, "%s is not ready", what);
}

/* SO_RCVLOWAT has enlarged TCP's buffer; it must enlarge SDP's as well. */
static int options_low_water(void *arg)
{
	static const char *const names[] = { SDP_SIDE, BOTH_SIDE };
	int listening, c, s;
	struct addr where;
	size_t i;

	by_names();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		as(names[i]);
		listening = bound();
		set_int(listening, SOL_SOCKET, SO_RCVLOWAT, MARK);
		need_errno(!listen(listening, 4), "listen");
		where = name_of(listening);
		c = stream(0);
		set_int(c, SOL_SOCKET, SO_RCVLOWAT, MARK);
		need(!connect_as(names[i], c, &where), "connect: %s", errno_text(errno));
		s = accept_from(listening);
		need_protocol(s, BY_SDP, "the accepted one");
		need_mark(s, c, "the client");
		need_mark(c, s, "the accepted one");
		close(s);
		close(c);
		close(listening);
	}
	return EXIT_OK;
}

static volatile sig_atomic_t told[64];

static void tell(int sig, siginfo_t *info, void *context)
{
	if (info->si_fd >= 0 && info->si_fd < 64)
		told[info->si_fd] = 1;
}

static void make_async(int fd)
{
	need_errno(!fcntl(fd, F_SETOWN, getpid()) && !fcntl(fd, F_SETSIG, SIGRTMIN) &&
		   !fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC), "F_SETFL");
}

/* Signals arrive while this waits, and they end poll() even with SA_RESTART. */
static int accept_signalled(int listening)
{
	int fd = accept(listening, NULL, NULL);

	need_errno(fd >= 0, "accept");
	return fd;
}

/* Waits for a signal for @fd, unless one has come since the last call. */
static void need_told(int fd, const char *of)
{
	long long end = now_ms() + WAIT_MS;

	while (!told[fd]) {
		need(now_ms() < end, "no signal of %s", of);
		pause_ms(5);
	}
	told[fd] = 0;
}

static int options_async(void *arg)
{
	struct sigaction action = { .sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_RESTART };
	enum kind kinds[] = { PAIR, TCP_ONLY };
	struct addr where;
	int listening, c, s;
	size_t i;

	by_names();
	need_errno(!sigaction(SIGRTMIN, &action, NULL), "sigaction");
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		listening = listener_of(kinds[i], 4, &where);
		make_async(listening);
		c = stream(SOCK_NONBLOCK);
		make_async(c);
		connect_as(BOTH_SIDE, c, &where);
		s = accept_signalled(listening);
		need_told(c, "the connection");
		while (!(poll_for(c, POLLOUT, WAIT_MS) & POLLOUT))
			need(errno == EINTR, "not connected");
		need_told(listening, "somebody to accept");
		pause_ms(quiet_ms());
		told[c] = 0;
		need_protocol(c, i ? BY_TCP : BY_SDP, "the client");
		need(fcntl(c, F_GETOWN) == getpid(), "F_GETOWN");
		send_all(s, "x", 1);
		need_told(c, "data");
		close(s);
		need_told(c, "the end");
		close(c);
		told[listening] = 0;
		c = connected_as(i ? TCP_SIDE : SDP_SIDE, &where);
		need_told(listening, "somebody to accept");
		close(c);
		close(listening);
	}
	return EXIT_OK;
}

#define PAGES	(3 * 4096)

/*
 * Nothing can be mapped where the program has mapped the socket while it was TCP: the call says
 * that everything is to be read.
 */
static int mapped_before(void *arg)
{
	struct addr where;
	int listening, c, s;
	struct receive r = { .length = PAGES };

	by_names();
	as(SDP_SIDE);
	listening = listener_of(SDP_ONLY, 4, &where);
	c = stream(0);
	r.address = (unsigned long)receive_window(c, PAGES);
	need(!connect_as(SDP_SIDE, c, &where), "connect: %s", errno_text(errno));
	need_protocol(c, BY_SDP, "the client");
	s = accept_from(listening);
	send_all(s, pattern(0), PAGES);
	need(await_bytes(c, PAGES) == PAGES, "%d bytes have come", queued_bytes(c));
	need_errno(!receive(c, &r), "TCP_ZEROCOPY_RECEIVE");
	need(!r.length && r.skip, "%u mapped, %u to skip", r.length, r.skip);
	pattern_read(c, 0, PAGES, PAGES);
	close(s);
	close(c);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(options_connect, 30, ALL_SETS),
	{ "options_accepted", options_accepted, 30, ALL_SETS, true, (void *)BEFORE_BIND },
	{ "options_accepted_bound", options_accepted, 30, V4_SETS, true, (void *)AFTER_BIND },
	{ "options_accepted_later", options_accepted, 30, V4_SETS, true, (void *)AFTER_LISTEN },
	CASE(options_work, 30, TWO_SETS),
	CASE(options_low_water, 60, TWO_SETS),
	CASE(options_async, 30, TWO_SETS),
	CASE(mapped_before, 30, TWO_SETS),
};

const struct test_list options_tests = TEST_LIST(tests);
