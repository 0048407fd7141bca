// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of MPTCP sockets: they become SDP as TCP sockets do, or remain MPTCP.
 *
 * They remain MPTCP when the rules say tcp, and when SDP does not work.
 */
#include "policy.h"

enum { BY_MPTCP = 262 };

/* An MPTCP socket. Skips the test if the kernel has none. */
static int multipath(int flags)
{
	int fd = socket(set->family, SOCK_STREAM | flags, BY_MPTCP);

	if (fd < 0 && (errno == EPROTONOSUPPORT || errno == ENOPROTOOPT))
		exit(EXIT_SKIPPED);
	need_errno(fd >= 0, "socket");
	need(protocol_of(fd) == BY_MPTCP, "a new one is by protocol %d", protocol_of(fd));
	return fd;
}

static int multipath_listener(const char *name, struct addr *where)
{
	struct addr a = server_addr(0);
	int fd = multipath(0);

	as(name);
	need_errno(!bind(fd, &a.sa, a.len), "bind");
	need_errno(!listen(fd, 4), "listen");
	*where = name_of(fd);
	return fd;
}

/* An MPTCP socket reports the protocol MPTCP, whatever the peer is. */
static void need_kind(int fd, int want, const char *what)
{
	if (want == BY_MPTCP)
		need(protocol_of(fd) == BY_MPTCP, "%s is by protocol %d", what, protocol_of(fd));
	else
		need_protocol(fd, want, what);
}

/*
 * Each verdict, with each kind of listener. A port without a listener refuses in every case. A
 * non-blocking connect is decided in the background.
 */
static int multipath_connect(void *arg)
{
	static const struct {
		const char *name;
		enum kind to;
		int becomes;	/* 0: refused */
		int flags;
	} ways[] = {
		{ TCP_SIDE, TCP_ONLY, BY_MPTCP, 0 }, { TCP_SIDE, PAIR, BY_MPTCP, 0 },
		{ SDP_SIDE, SDP_ONLY, BY_SDP, 0 }, { SDP_SIDE, TCP_ONLY, 0, 0 },
		{ BOTH_SIDE, SDP_ONLY, BY_SDP, 0 }, { BOTH_SIDE, PAIR, BY_SDP, 0 },
		{ BOTH_SIDE, TCP_ONLY, BY_MPTCP, 0 }, { BOTH_SIDE, NOBODY, 0, 0 },
		{ BOTH_SIDE, PAIR, BY_SDP, SOCK_NONBLOCK },
		{ BOTH_SIDE, TCP_ONLY, BY_MPTCP, SOCK_NONBLOCK },
	};
	long long refused = counter("FellRefused");
	int listening, fd, s, want;
	struct addr where;
	size_t i;

	by_names();
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		listening = listener_of(ways[i].to, 4, &where);
		fd = multipath(ways[i].flags);
		want = ways[i].flags ? EINPROGRESS : ways[i].becomes ? 0 : ECONNREFUSED;
		need_connect(ways[i].name, fd, &where, want, kind_names[ways[i].to]);
		if (ways[i].flags) {
			need(poll_for(fd, POLLOUT, WAIT_MS) & POLLOUT, "not connected");
			need(!get_int(fd, SOL_SOCKET, SO_ERROR), "an error");
			set_nonblock(fd, false);
		}
		if (ways[i].becomes) {
			need_kind(fd, ways[i].becomes, ways[i].name);
			s = accept_from(listening);
			talk(fd, s);
			close(s);
		}
		close(fd);
		close(listening);
	}
	need_count("FellRefused", refused, 3);
	return EXIT_OK;
}

/* A listener by both on an MPTCP socket accepts clients by SDP, TCP and MPTCP. */
static int multipath_listen(void *arg)
{
	struct addr where;
	int listening, c, s;

	by_names();
	listening = multipath_listener(BOTH_SIDE, &where);
	close(accept_and_talk(listening, connected_as(SDP_SIDE, &where), BY_SDP));
	close(accept_and_talk(listening, connected_as(BOTH_SIDE, &where), BY_SDP));
	close(accept_and_talk(listening, connected_as(TCP_SIDE, &where), BY_TCP));
	c = multipath(0);
	need_connect(TCP_SIDE, c, &where, 0, "connect");
	s = accept_from(listening);
	need_kind(s, BY_MPTCP, "accepted");
	talk(c, s);
	/* A listener by SDP only; and one that the policy leaves alone. */
	listening = multipath_listener(SDP_SIDE, &where);
	need_kind(listening, BY_SDP, "a listener by SDP");
	close(accept_and_talk(listening, connected_as(SDP_SIDE, &where), BY_SDP));
	listening = multipath_listener(TCP_SIDE, &where);
	need_kind(listening, BY_MPTCP, "a listener by TCP");
	close(accept_and_talk(listening, connected_as(TCP_SIDE, &where), BY_TCP));
	return EXIT_OK;
}

static const int multipath_options[] = { TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL,
					 TCP_KEEPCNT, TCP_NOTSENT_LOWAT, TCP_DEFER_ACCEPT };

#define MULTIPATH_OPTIONS	ARRAY_SIZE(multipath_options)

/* Sets those of the options that the MPTCP of this kernel has. */
static unsigned int multipath_set(int fd)
{
	unsigned int taken = 0;
	int value = 1;
	size_t i;

	for (i = 0; i < MULTIPATH_OPTIONS; i++)
		if (!setsockopt(fd, IPPROTO_TCP, multipath_options[i], &value, sizeof(value)))
			taken |= 1u << i;
	need(taken & 1, "TCP_NODELAY: %s", errno_text(errno));
	need_errno(!setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, sizeof(value)), "keepalive");
	return taken;
}

static void need_options(int fd, unsigned int taken, const char *what)
{
	size_t i;

	need_protocol(fd, BY_SDP, what);
	for (i = 0; i < MULTIPATH_OPTIONS; i++)
		if (taken & 1u << i && multipath_options[i] != TCP_DEFER_ACCEPT)
			need(get_int(fd, IPPROTO_TCP, multipath_options[i]) == 1,
			     "%s: option %d is lost", what, multipath_options[i]);
	need(get_int(fd, SOL_SOCKET, SO_KEEPALIVE) == 1, "%s: SO_KEEPALIVE is lost", what);
}

/*
 * Options hold for the SDP socket when they were set before the connect, during it, or on a
 * listener.
 */
static int multipath_options_hold(void *arg)
{
	unsigned int taken;
	struct addr where;
	struct silent peer;
	int listening, fd, s;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	fd = multipath(0);
	taken = multipath_set(fd);
	need_connect(BOTH_SIDE, fd, &where, 0, "connect");
	need_options(fd, taken, "connected");
	close(fd);
	close(listening);
	listening = multipath_listener(BOTH_SIDE, &where);
	taken = multipath_set(listening);
	fd = connected_as(SDP_SIDE, &where);
	send_all(fd, "x", 1);
	s = accept_from(listening);
	need_options(s, taken, "accepted");
	close(s);
	close(fd);
	close(listening);
	peer = silent_peer();
	fd = multipath(SOCK_NONBLOCK);
	need_connect(BOTH_SIDE, fd, &peer.where, EINPROGRESS, "connect");
	taken = multipath_set(fd);
	close(accept_from(peer.sdp));
	close(accept_from(peer.sdp));
	need(poll_for(fd, POLLOUT, WAIT_MS) & POLLOUT, "not connected");
	need_options(fd, taken, "connected later");
	return EXIT_OK;
}

/*
 * An option that only TCP has keeps the socket MPTCP. Where the rule allows SDP only, the connect
 * fails.
 */
static int multipath_option_keeps(void *arg)
{
	long long options = counter("FellOption");
	int fd, one = 1;
	struct addr where;

	by_names();
	fd = multipath(0);
	if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof(one))) {
		printf("# this kernel's MPTCP has no TCP_FASTOPEN_CONNECT\n");
		return EXIT_SKIPPED;
	}
	listener_of(PAIR, 4, &where);
	need_connect(SDP_SIDE, fd, &where, EOPNOTSUPP, "connect");
	need_connect(BOTH_SIDE, fd, &where, 0, "connect");
	need_kind(fd, BY_MPTCP, "it");
	need_count("FellOption", options, 1);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(multipath_connect, 30, ALL_SETS),
	CASE(multipath_listen, 30, ALL_SETS),
	CASE(multipath_options_hold, 30, TWO_SETS),
	CASE(multipath_option_keeps, 30, TWO_SETS),
};

const struct test_list multipath_tests = TEST_LIST(tests);
