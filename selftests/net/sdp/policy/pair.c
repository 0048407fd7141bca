// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of listeners by both: one descriptor accepts connections by SDP and by TCP.
 */
#include "policy.h"

enum { BOTH_KINDS = 2 };

static const char *const sides[BOTH_KINDS] = { TCP_SIDE, BOTH_SIDE };

static const int protocols[BOTH_KINDS] = { BY_TCP, BY_SDP };

/* Several connections of each kind wait; all of them are accepted, each with its own data. */
static int pair_accepts(void *arg)
{
	enum { MANY = 12 };
	int listening, c[MANY], s, i, got[BOTH_KINDS] = { 0 };
	struct addr where;
	char id;

	by_names();
	listening = listener_of(PAIR, MANY, &where);
	for (i = 0; i < MANY; i++) {
		c[i] = connected_as(sides[i / 2 % 2], &where);
		id = i;
		send_all(c[i], &id, 1);
	}
	for (i = 0; i < MANY; i++) {
		s = accept_from(listening);
		recv_all(s, &id, 1);
		need(id >= 0 && id < MANY && c[(int)id] >= 0, "client %d a second time", id);
		got[id / 2 % 2]++;
		close(both_talk(c[(int)id], s, protocols[id / 2 % 2]));
		close(c[(int)id]);
		c[(int)id] = -1;
	}
	need(got[0] == MANY / 2 && got[1] == MANY / 2, "%d by TCP, %d by SDP", got[0], got[1]);
	set_nonblock(listening, true);
	need(accept(listening, NULL, NULL) < 0 && errno == EAGAIN, "one more: %s",
	     errno_text(errno));
	need(!poll_for(listening, POLLIN, 0), "readable without any");
	return EXIT_OK;
}

/*
 * One connection of a kind waits, and then many of the other kind. It is one of the first two that
 * are accepted.
 */
static int pair_turns(void *arg)
{
	enum { MANY = 8 };
	int listening, c[MANY], kind, i, s, first_two;
	struct addr where;

	by_names();
	listening = listener_of(PAIR, 2 * MANY, &where);
	for (kind = 0; kind < BOTH_KINDS; kind++) {
		c[0] = connected_as(sides[kind], &where);
		need(poll_for(listening, POLLIN, WAIT_MS) & POLLIN, "none to accept");
		for (i = 1; i < MANY; i++)
			c[i] = connected_as(sides[!kind], &where);
		first_two = 0;
		for (i = 0; i < MANY; i++) {
			s = accept_from(listening);
			first_two += i < 2 && protocol_of(s) == protocols[kind];
			close(s);
		}
		need(first_two == 1, "a client by %s waits for more than one of the others",
		     sides[kind]);
		for (i = 0; i < MANY; i++)
			close(c[i]);
	}
	return EXIT_OK;
}

static const char *comm_of_helper;

static void connect_later(void *arg)
{
	const struct addr *where = arg;
	char c;
	int fd;

	await_asleep(getppid());
	fd = connected_as(comm_of_helper, where);
	recv(fd, &c, 1, 0);
}

/* A connection of either kind wakes every kind of waiter. */
static int pair_wakes(void *arg)
{
	struct addr where;
	int listening, i, way;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	for (way = 0; way <= WAYS; way++) {
		for (i = 0; i < BOTH_KINDS; i++) {
			struct watch w;
			pid_t pid;
			int s;

			watch_begin(&w, way < WAYS ? way : POLL, listening);
			set_nonblock(listening, way < WAYS);
			comm_of_helper = sides[i];
			pid = helper_start(connect_later, &where);
			if (way < WAYS)
				need(watch_for(&w, WAIT_MS) & 1, "%s slept on", way_names[way]);
			s = accept(listening, NULL, NULL);
			need_errno(s >= 0, "accept");
			need_protocol(s, protocols[i], "the accepted one");
			if (way < WAYS)
				need(!poll_for(listening, POLLIN, 0), "readable still");
			close(s);
			close(w.ep);
			helper_end(pid);
		}
	}
	return EXIT_OK;
}

/* SO_RCVTIMEO bounds accept(), and a signal interrupts it. */
static int pair_accept_ends(void *arg)
{
	struct addr where;
	long long start = now_ms();
	int listening;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	set_timeout(listening, SO_RCVTIMEO, 200);
	need(accept(listening, NULL, NULL) < 0 && errno == EAGAIN, "%s", errno_text(errno));
	need(now_ms() - start >= 120, "after %lld ms", now_ms() - start);
	set_timeout(listening, SO_RCVTIMEO, 0);
	interrupt_in(100, 0);
	need(accept(listening, NULL, NULL) < 0 && errno == EINTR, "%s", errno_text(errno));
	return EXIT_OK;
}

static int pair_accept_flags(void *arg)
{
	static const int flags[] = { 0, SOCK_NONBLOCK, SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC };
	struct addr where, peer, own;
	int listening, c, s, i;
	size_t f;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	for (f = 0; f < ARRAY_SIZE(flags); f++) {
		for (i = 0; i < BOTH_KINDS; i++) {
			c = connected_as(sides[i], &where);
			need(poll_for(listening, POLLIN, WAIT_MS), "none to accept");
			peer.len = sizeof(peer.ss);
			s = accept4(listening, &peer.sa, &peer.len, flags[f]);
			need_errno(s >= 0, "accept4");
			own = name_of(c);
			need(peer.len == own.len && !memcmp(&peer.ss, &own.ss, own.len),
			     "%s: another address", sides[i]);
			need(!(fcntl(s, F_GETFL) & O_NONBLOCK) == !(flags[f] & SOCK_NONBLOCK) &&
			     !(fcntl(s, F_GETFD) & FD_CLOEXEC) == !(flags[f] & SOCK_CLOEXEC),
			     "%s: flags %#x", sides[i], flags[f]);
			need_protocol(s, protocols[i], "the accepted one");
			close(s);
			close(c);
		}
	}
	need(accept4(listening, NULL, NULL, 0x10) < 0 && errno == EINVAL, "wrong flags");
	return EXIT_OK;
}

/* Nobody listens at @where. */
static void need_none(const struct addr *where, const char *when)
{
	need_connect(SDP_SIDE, stream(0), where, ECONNREFUSED, when);
	need_connect(TCP_SIDE, stream(0), where, ECONNREFUSED, when);
}

static void need_end(int fd, const char *whose)
{
	char c;
	ssize_t n;

	need(poll_for(fd, POLLIN | POLLRDHUP, WAIT_MS), "%s sees no end", whose);
	n = recv(fd, &c, 1, 0);
	need(!n || (n < 0 && errno == ECONNRESET), "%s: %zd, %s", whose, n, errno_text(errno));
}

/* The listener is closed with connections of both kinds in its queues. */
static int pair_close(void *arg)
{
	int listening, c[4], i;
	struct addr where;

	by_names();
	listening = listener_of(PAIR, 8, &where);
	for (i = 0; i < 4; i++)
		c[i] = connected_as(sides[i % 2], &where);
	need(poll_for(listening, POLLIN, WAIT_MS), "none to accept");
	pause_ms(quiet_ms());
	close(listening);
	for (i = 0; i < 4; i++)
		need_end(c[i], sides[i % 2]);
	need_none(&where, "afterwards");
	return EXIT_OK;
}

/* A dup() of the descriptor keeps both listeners; so does another process. */
static int pair_copies(void *arg)
{
	struct addr where;
	int listening, copy, i, c, s;
	char data[5000] = "";
	pid_t pid;

	by_names();
	listening = listener_of(PAIR, 8, &where);
	copy = dup(listening);
	close(listening);
	for (i = 0; i < BOTH_KINDS; i++) {
		c = connected_as(sides[i], &where);
		close(accept_and_talk(copy, c, protocols[i]));
	}
	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (i = 0; i < BOTH_KINDS; i++) {
			s = accept_from(copy);
			recv_all(s, data, sizeof(data));
			send_all(s, data, sizeof(data));
			close(s);
		}
		_exit(EXIT_OK);
	}
	close(copy);
	for (i = 0; i < BOTH_KINDS; i++) {
		c = connected_as(sides[i], &where);
		need_protocol(c, protocols[i], "a client of another process");
		send_all(c, data, sizeof(data));
		recv_all(c, data, sizeof(data));
		close(c);
	}
	helper_end(pid);
	need_none(&where, "without any copy");
	return EXIT_OK;
}

/* shutdown() ends both listeners. The same socket can listen again, or connect. */
static int pair_shutdown(void *arg)
{
	struct addr where, other;
	int listening, c, i, hows[] = { SHUT_RD, SHUT_RDWR };
	size_t h;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	need_errno(!shutdown(listening, SHUT_WR), "SHUT_WR");
	for (h = 0; h <= ARRAY_SIZE(hows); h++) {
		for (i = 0; i < BOTH_KINDS; i++) {
			c = connected_as(sides[i], &where);
			close(accept_and_talk(listening, c, protocols[i]));
			close(c);
		}
		if (h == ARRAY_SIZE(hows))
			break;
		need_errno(!shutdown(listening, hows[h]), "shutdown");
		need_none(&where, h ? "after SHUT_RDWR" : "after SHUT_RD");
		need(accept(listening, NULL, NULL) < 0 && errno == EINVAL, "accept: %s",
		     errno_text(errno));
		as(BOTH_SIDE);
		need_errno(!listen(listening, 4), "listen again");
		/* A port that was not chosen by number has changed. */
		where = name_of(listening);
	}
	need_errno(!shutdown(listening, SHUT_RDWR), "shutdown");
	c = listener_of(PAIR, 4, &other);
	need_connect(BOTH_SIDE, listening, &other, 0, "a socket that listened connects");
	accept_and_talk(c, listening, BY_SDP);
	return EXIT_OK;
}

/* shutdown() of the listener wakes a thread in accept(). */
static int pair_shutdown_wakes(void *arg)
{
	struct addr where;
	int listening, status;
	pid_t pid;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		await_asleep(getppid());
		need_errno(!shutdown(listening, SHUT_RDWR), "shutdown");
		_exit(EXIT_OK);
	}
	status = accept(listening, NULL, NULL);
	need(status < 0 && errno == EINVAL, "accept: %d, %s", status, errno_text(errno));
	helper_end(pid);
	return EXIT_OK;
}

/* Destroys a listener by ss -K, which finds the TCP listener only. Skips the test without ss -K. */
static void destroy(int listening, const struct addr *where)
{
	char command[80];

	snprintf(command, sizeof(command), "ss -K -l -t 'sport = :%u' >/dev/null 2>&1",
		 addr_port(where));
	if (system(command) || !(poll_for(listening, 0, quiet_ms()) & POLLHUP))
		exit(EXIT_SKIPPED);
}

/* The SDP listener and the waiters end with the TCP listener. */
static int pair_destroyed(void *arg)
{
	struct addr where;
	int listening, s;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	connected_as(SDP_SIDE, &where);
	destroy(listening, &where);
	s = accept(listening, NULL, NULL);
	need(s < 0 && errno == EINVAL, "accept: %d, %s", s, errno_text(errno));
	need_none(&where, "after ss -K");
	return EXIT_OK;
}

/* A connect() of the former listener works as on any socket, and the SDP listener has gone. */
static int pair_destroyed_connects(void *arg)
{
	struct addr where, there;
	int listening, other;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	other = listener_of(PAIR, 4, &there);
	destroy(listening, &where);
	need_connect(SDP_SIDE, listening, &there, 0, "connect");
	close(accept_and_talk(other, listening, BY_SDP));
	need_connect(SDP_SIDE, stream(0), &where, ECONNREFUSED, "to what it was");
	return EXIT_OK;
}

/* Without bind() both listeners get the same port. */
static int pair_port_0(void *arg)
{
	struct addr where, a;
	int listening, c, i;

	by_names();
	as(BOTH_SIDE);
	listening = stream(0);
	need_errno(!listen(listening, 4), "listen");
	a = name_of(listening);
	need(addr_port(&a), "no port");
	where = server_addr(addr_port(&a));
	for (i = 0; i < BOTH_KINDS; i++) {
		c = connected_as(sides[i], &where);
		close(accept_and_talk(listening, c, protocols[i]));
	}
	return EXIT_OK;
}

static int connected_now(const int fd[10])
{
	int i, n = 0;

	for (i = 0; i < 10; i++)
		n += !!(poll_for(fd[i], POLLOUT, 0) & POLLOUT);
	return n;
}

/*
 * Starts ten connects at the same time. Returns how many have succeeded some time after @least of
 * them.
 */
static int connected_of_ten(const char *name, const struct addr *where, int least)
{
	long long end = now_ms() + WAIT_MS;
	int fd[10], i, n;

	for (i = 0; i < 10; i++) {
		fd[i] = stream(SOCK_NONBLOCK);
		connect_as(name, fd[i], where);
	}
	while (connected_now(fd) < least && now_ms() < end)
		pause_ms(5);
	/* Those that were sent away ask again. */
	pause_ms(least < 10 ? 7 * quiet_ms() : quiet_ms());
	n = connected_now(fd);
	for (i = 0; i < 10; i++)
		close(fd[i]);
	return n;
}

/* listen() sets the length of both queues; a second one changes it. */
static int pair_backlog(void *arg)
{
	struct addr where;
	int listening, n;

	by_names();
	listening = listener_of(PAIR, 2, &where);
	n = connected_of_ten(SDP_SIDE, &where, 3);
	need(n == 3, "%d by SDP in a queue of 2", n);
	n = connected_of_ten(TCP_SIDE, &where, 3);
	/* A TCP client is connected even if the server dropped its last packet for lack of room. */
	need(n >= 3, "%d by TCP in a queue of 2", n);
	close(listening);
	listening = listener_of(PAIR, 0, &where);
	as(BOTH_SIDE);
	need_errno(!listen(listening, 20), "a second listen");
	n = connected_of_ten(SDP_SIDE, &where, 10);
	need(n == 10, "%d by SDP in a queue of 20", n);
	n = connected_of_ten(TCP_SIDE, &where, 10);
	need(n == 10, "%d by TCP in a queue of 20", n);
	return EXIT_OK;
}

static int pair_port_taken(void *arg)
{
	long long taken = counter("FellPort");
	int sdp, tcp, c, error;
	struct addr where;

	by_names();
	tcp = bound_like_sdp(&sdp, &where);
	as(BOTH_SIDE);
	need_errno(!listen(tcp, 4), "listen");
	need_count("FellPort", taken, 1);
	need_fell(&where, "listen", "SDP cannot use the address or port");
	close(accept_and_talk(tcp, connected_as(TCP_SIDE, &where), BY_TCP));
	c = connected_as(SDP_SIDE, &where);
	close(accept_and_talk(sdp, c, BY_SDP));
	tcp = bound_like_sdp(&sdp, &where);
	as(SDP_SIDE);
	error = listen(tcp, 4) ? errno : 0;
	need(error == EADDRINUSE, "SDP alone: %s", errno_text(error));
	return EXIT_OK;
}

/* Neither SDP nor TCP can bind to the port of a listener by both while it exists. */
static int pair_ports_meet(void *arg)
{
	struct addr where, a;
	int listening, fd;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	fd = fresh(0);
	need(bind(fd, &where.sa, where.len) && errno == EADDRINUSE, "SDP takes a pair's port");
	as(TCP_SIDE);
	fd = stream(0);
	need(bind(fd, &where.sa, where.len) && errno == EADDRINUSE, "TCP takes a pair's port");
	close(listening);
	fd = fresh(0);
	need_errno(!bind(fd, &where.sa, where.len), "bind after the pair's end");
	a = name_of(fd);
	need(addr_port(&a) == addr_port(&where), "another port");
	return EXIT_OK;
}

/*
 * Connections, listeners and the sockets that they accept do not change when the policy is switched
 * off. Accepted sockets live on without the listener, too.
 */
static int pair_lives_on(void *arg)
{
	int listening, c[4], s[4], i;
	struct addr where;

	by_names();
	listening = listener_of(PAIR, 8, &where);
	for (i = 0; i < BOTH_KINDS; i++) {
		c[i] = connected_as(sides[i], &where);
		s[i] = accept_and_talk(listening, c[i], protocols[i]);
	}
	setting_set("rewrite", 0);
	policy_set("any * tcp");
	for (i = 0; i < BOTH_KINDS; i++)
		talk(c[i], s[i]);
	c[2] = connected_as(TCP_SIDE, &where);
	s[2] = accept_and_talk(listening, c[2], BY_TCP);
	c[3] = fresh(0);
	connect_to(c[3], &where);
	s[3] = accept_and_talk(listening, c[3], BY_SDP);
	close(listening);
	policy_set("%s", "");
	pause_ms(quiet_ms());
	for (i = 0; i < 4; i++) {
		both_talk(c[i], s[i], protocols[i % 2]);
		shutdown(c[i], SHUT_WR);
		need_end(s[i], sides[i % 2]);
	}
	return EXIT_OK;
}

/* Accepted TCP sockets are the kernel's own and do not hold the module. */
static int pair_plain(void *arg)
{
	int listening, c[5], s[5], round, i;
	struct addr where;
	long users;

	by_names();
	users = idle_users();
	listening = listener_of(PAIR, 8, &where);
	need(module_users() > users, "a listener by both holds nothing");
	for (i = 0; i < 5; i++) {
		c[i] = connected_as(TCP_SIDE, &where);
		s[i] = accept_and_talk(listening, c[i], BY_TCP);
	}
	close(listening);
	await_users(users);
	for (round = 0; round < 2; round++)
		for (i = 0; i < 5; i++) {
			talk(c[i], s[i]);
			need(get_int(s[i], IPPROTO_TCP, TCP_INFO) >= 0, "no TCP_INFO");
		}
	need(module_users() == users, "%ld hold the module, and there were %ld", module_users(),
	     users);
	for (i = 0; i < 5; i++) {
		close(c[i]);
		close(s[i]);
	}
	await_users(users);
	return EXIT_OK;
}

/* A wildcard listener for both IP versions, and one with IPV6_V6ONLY. */
static int pair_wildcard(void *arg)
{
	struct addr where, a = addr_make(AF_INET6, "::", 0), v4;
	int listening, only, i, c;

	by_names();
	for (only = 0; only < 2; only++) {
		as(BOTH_SIDE);
		listening = socket(AF_INET6, SOCK_STREAM, 0);
		set_int(listening, IPPROTO_IPV6, IPV6_V6ONLY, only);
		need_errno(!bind(listening, &a.sa, a.len) && !listen(listening, 4), "listen");
		where = name_of(listening);
		v4 = addr_make(AF_INET, "127.0.0.1", addr_port(&where));
		for (i = 0; i < BOTH_KINDS; i++) {
			c = socket(AF_INET, SOCK_STREAM, 0);
			need_connect(i ? SDP_SIDE : TCP_SIDE, c, &v4, only ? ECONNREFUSED : 0,
				     only ? "IPv4 to IPv6 only" : "IPv4");
			if (!only)
				close(accept_and_talk(listening, c, protocols[i]));
			close(c);
			where = addr_make(AF_INET6, "::1", addr_port(&where));
			c = socket(AF_INET6, SOCK_STREAM, 0);
			need_connect(sides[i], c, &where, 0, "IPv6");
			close(accept_and_talk(listening, c, protocols[i]));
			close(c);
		}
		close(listening);
	}
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(pair_accepts, 30, ALL_SETS),
	CASE(pair_turns, 30, TWO_SETS),
	CASE(pair_wakes, 60, TWO_SETS),
	CASE(pair_accept_ends, 30, TWO_SETS),
	CASE(pair_accept_flags, 30, TWO_SETS),
	CASE(pair_close, 30, TWO_SETS),
	CASE(pair_copies, 30, TWO_SETS),
	CASE(pair_shutdown, 30, TWO_SETS),
	CASE(pair_shutdown_wakes, 30, TWO_SETS),
	CASE(pair_destroyed, 30, TWO_SETS),
	CASE(pair_destroyed_connects, 30, TWO_SETS),
	CASE(pair_port_0, 30, TWO_SETS),
	CASE(pair_backlog, 30, TWO_SETS),
	CASE(pair_port_taken, 30, TWO_SETS),
	CASE(pair_ports_meet, 30, TWO_SETS),
	CASE(pair_lives_on, 30, ALL_SETS),
	CASE(pair_plain, 30, TWO_SETS | NOT_SHORT),
	CASE(pair_wildcard, 30, ONE_SET),
};

const struct test_list pair_tests = TEST_LIST(tests);
