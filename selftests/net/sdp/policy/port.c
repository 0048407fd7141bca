// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of ports that TCP has assigned and that SDP's own sockets use as well.
 *
 * A socket of the policy can connect from such a port whoever else uses it by SDP. It can listen
 * there only if nobody else listens by SDP.
 */
#include "policy.h"

static const char *const port_sides[] = { BOTH_SIDE, SDP_SIDE };

/* Binds an SDP socket and a TCP socket to the same address. Returns the TCP socket. */
static int port_bound_twice(int *sdp, struct addr *where)
{
	int fd = bound_like_sdp(sdp, where);

	/* The SDP socket must not listen yet. */
	close(*sdp);
	*sdp = fresh(0);
	need_errno(!bind(*sdp, &where->sa, where->len), "bind");
	return fd;
}

/*
 * @listening, at @port, can still be reached, and the connection between @fd and @s at the same
 * port still works.
 */
static void port_beside(int listening, const struct addr *port, int fd, int s)
{
	int other = connected_as(SDP_SIDE, port);

	close(accept_and_talk(listening, other, BY_SDP));
	talk(fd, s);
	close(other);
	close(listening);
	close(fd);
	close(s);
}

/*
 * An SDP socket listens at the port, or will listen there later. A connection of another socket
 * from this port does not disturb it.
 */
static int port_connects_beside(void *arg)
{
	long long taken = counter("FellPort");
	int sdp, fd, listening, s;
	struct addr where, port;
	size_t i;

	by_names();
	listening = listener_of(PAIR, 8, &where);
	for (i = 0; i < ARRAY_SIZE(port_sides); i++) {
		fd = bound_like_sdp(&sdp, &port);
		s = connect_named(fd, port_sides[i], listening, &where, BY_SDP);
		port_beside(sdp, &port, fd, s);
		fd = port_bound_twice(&sdp, &port);
		s = connect_named(fd, port_sides[i], listening, &where, BY_SDP);
		need_errno(!listen(sdp, 4), "listen beside a connection");
		port_beside(sdp, &port, fd, s);
	}
	need_count("FellPort", taken, 0);
	return EXIT_OK;
}

/* A socket that was connected and now listens needs the port for itself. */
static int port_listens_later(void *arg)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int sdp, fd, listening;
	struct addr where, port;

	by_names();
	listening = listener_of(PAIR, 8, &where);
	fd = bound_like_sdp(&sdp, &port);
	close(connect_named(fd, SDP_SIDE, listening, &where, BY_SDP));
	need_errno(!connect(fd, &none, sizeof(none)), "disconnect");
	need(listen(fd, 4) && errno == EADDRINUSE, "two listen: %s", errno_text(errno));
	close(accept_and_talk(sdp, connected_as(SDP_SIDE, &port), BY_SDP));
	close(sdp);
	need_errno(!listen(fd, 4), "listen alone");
	/* The socket listens now, so others cannot bind to its port. */
	sdp = fresh(0);
	need(bind(sdp, &port.sa, port.len) && errno == EADDRINUSE, "bind: %s", errno_text(errno));
	close(accept_and_talk(fd, connected_as(SDP_SIDE, &port), BY_SDP));
	return EXIT_OK;
}

/*
 * A server is restarted, without SO_REUSEADDR, while a connection of the old listener still exists.
 */
static int port_listens_again(void *arg)
{
	long long taken = counter("FellPort");
	int listening, c, s;
	struct addr where;
	size_t i;

	by_names();
	for (i = 0; i < ARRAY_SIZE(port_sides); i++) {
		listening = listener_of(PAIR, 4, &where);
		c = connected_as(BOTH_SIDE, &where);
		s = accept_and_talk(listening, c, BY_SDP);
		close(listening);
		listening = stream(0);
		need_errno(!bind(listening, &where.sa, where.len), "bind");
		as(port_sides[i]);
		need_errno(!listen(listening, 4), "listen again");
		close(accept_and_talk(listening, connected_as(SDP_SIDE, &where), BY_SDP));
		talk(c, s);
		close(s);
		close(c);
		close(listening);
	}
	need_count("FellPort", taken, 0);
	return EXIT_OK;
}

/* Leaves one port for the kernel to choose. */
static void only_port(unsigned int port)
{
	char range[40];

	snprintf(range, sizeof(range), "%u %u", port, port);
	write_file("/proc/sys/net/ipv4/ip_local_port_range", range);
}

enum { THE_PORT = 25000 };

static int port_from_tcp(void)
{
	struct addr a;
	int fd = bound();

	a = name_of(fd);
	need(addr_port(&a) == THE_PORT, "TCP chooses port %u", addr_port(&a));
	return fd;
}

/* An SDP client has the only port that is left, and then TCP assigns it to other sockets. */
static int port_chosen_twice(void *arg)
{
	int listening, fd, c, s, other, again;
	long long taken;
	struct addr where, a;
	size_t i;

	new_namespace();
	by_names();
	taken = counter("FellPort");
	listening = listener_of(PAIR, 8, &where);
	only_port(THE_PORT);
	c = fresh(0);
	connect_to(c, &where);
	s = accept_and_talk(listening, c, BY_SDP);
	a = name_of(c);
	need(addr_port(&a) == THE_PORT, "SDP chooses port %u", addr_port(&a));
	for (i = 0; i < ARRAY_SIZE(port_sides); i++) {
		fd = port_from_tcp();
		other = connect_named(fd, port_sides[i], listening, &where, BY_SDP);
		talk(c, s);
		close(fd);
		close(other);
		fd = port_from_tcp();
		as(port_sides[i]);
		need_errno(!listen(fd, 4), "listen");
		a = name_of(fd);
		/* The client of this listener needs a port as well: one outside of the range. */
		again = stream(0);
		where = client_addr(THE_PORT + 1 + i);
		need_errno(!bind(again, &where.sa, where.len), "bind");
		where = name_of(listening);
		need(!connect_as(SDP_SIDE, again, &a), "connect: %s", errno_text(errno));
		close(accept_and_talk(fd, again, BY_SDP));
		close(again);
		close(fd);
	}
	need_count("FellPort", taken, 0);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(port_connects_beside, 30, TWO_SETS),
	CASE(port_listens_later, 30, TWO_SETS),
	CASE(port_listens_again, 30, TWO_SETS),
	CASE(port_chosen_twice, 30, ONE_SET),
};

const struct test_list port_tests = TEST_LIST(tests);
