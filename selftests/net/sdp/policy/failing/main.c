// SPDX-License-Identifier: GPL-2.0
/*
 * The policy (J2) without memory: each allocation of a call fails once.
 *
 * The calls are connect(), listen() and the first call of a socket. The call then works by TCP
 * where the rules allow it, or reports the error. The same call works once there is memory again,
 * and nothing is leaked. It needs a kernel with fault injection, which is the debug kernel.
 */
#include "failing.h"
#include "policy_common.h"

/* More than any call allocates. */
enum { MOST = 400 };

static void need_shortage(const char *what, int n, int error)
{
	need(error == ENOMEM || error == ENOBUFS, "%s, allocation %d: %s", what, n,
	     errno_text(error));
}

static int connects_failing(const char *name)
{
	int listening, c, n, error, by_tcp = 0, refused = 0;
	long long fell = counter("FellResources");
	long users = idle_users();
	struct addr where, own;
	bool failed = true;

	if (!can_fail())
		return EXIT_SKIPPED;
	listening = listener_of(PAIR, 8, &where);
	for (n = 1; failed; n++) {
		need(n < MOST, "still an allocation to fail");
		c = stream(0);
		own = client_addr(0);
		need_errno(n % 2 || !bind(c, &own.sa, own.len), "bind");
		as(name);
		fail_at(n);
		error = connect(c, &where.sa, where.len) ? errno : 0;
		failed = has_failed();
		if (error) {
			need(failed, "without a failure: %s", errno_text(error));
			need_shortage("connect", n, error);
			refused++;
			error = connect_as(name, c, &where);
		}
		need(!error, "again, after allocation %d: %s", n, errno_text(error));
		by_tcp += protocol_of(c) == BY_TCP;
		close(accept_and_talk(listening, c, protocol_of(c)));
		close(c);
	}
	printf("# %d allocations: %d connects refused, %d by TCP\n", n - 2, refused, by_tcp);
	need(n > 5 && refused, "nothing failed");
	need(strcmp(name, SDP_SIDE) ? by_tcp && counter("FellResources") > fell : !by_tcp,
	     "%d by TCP", by_tcp);
	close(listening);
	settings_reset();
	await_users(users);
	return EXIT_OK;
}

static int connect_failing(void *arg)
{
	by_names();
	return connects_failing(arg);
}

/* Rules that also allocate memory to look at the process. */
static int connect_placed(void *arg)
{
	by_names();
	policy_set("any * program %s path * cgroup * sdp\nany * program %s both\n", SDP_SIDE,
		   BOTH_SIDE);
	return connects_failing(arg);
}

static int listen_failing(void *arg)
{
	const char *name = arg;
	bool failed = true, sdp = !strcmp(name, SDP_SIDE);
	int fd, c, n, error, by_tcp = 0, refused = 0;
	long users = idle_users();
	struct addr where;

	if (!can_fail())
		return EXIT_SKIPPED;
	by_names();
	for (n = 1; failed; n++) {
		need(n < MOST, "still an allocation to fail");
		as(name);
		fd = bound();
		where = name_of(fd);
		fail_at(n);
		error = listen(fd, 4) ? errno : 0;
		failed = has_failed();
		if (error) {
			need(failed, "without a failure: %s", errno_text(error));
			need_shortage("listen", n, error);
			refused++;
			need_errno(!listen(fd, 4), "listen again");
		}
		c = connected_as(BOTH_SIDE, &where);
		by_tcp += protocol_of(c) == BY_TCP;
		close(accept_and_talk(fd, c, protocol_of(c)));
		close(c);
		close(fd);
	}
	printf("# %d allocations: %d listens refused, %d by TCP\n", n - 2, refused, by_tcp);
	need(n > 5 && (sdp ? refused && !by_tcp : by_tcp), "%d refused, %d by TCP", refused,
	     by_tcp);
	settings_reset();
	await_users(users);
	return EXIT_OK;
}

/* The first call on a socket allocates its policy state. */
static int first_call_failing(void *arg)
{
	int fd, listening, error, one = 1;
	struct addr where;

	if (!can_fail())
		return EXIT_SKIPPED;
	by_names();
	listening = listener_of(PAIR, 8, &where);
	fd = stream(0);
	fail_at(1);
	error = setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ? errno : 0;
	need(has_failed() && error == ENOBUFS, "setsockopt: %s", errno_text(error));
	fail_at(1);
	need(poll_for(fd, POLLIN | POLLOUT, 0) == (POLLOUT | POLLHUP), "poll");
	need(has_failed(), "poll has not failed");
	need(poll_for(fd, POLLIN | POLLOUT, 0) == (POLLOUT | POLLHUP), "poll again");
	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	need(!connect_as(BOTH_SIDE, fd, &where), "connect: %s", errno_text(errno));
	accept_and_talk(listening, fd, BY_SDP);
	need(get_int(fd, IPPROTO_TCP, TCP_NODELAY) == 1, "TCP_NODELAY is lost");
	return EXIT_OK;
}

#define POLICY_CASE(name, body, sets, arg) { name, body, 100, sets, true, (void *)(arg) }

static const struct test tests[] = {
	POLICY_CASE("connect_both", connect_failing, TWO_SETS, BOTH_SIDE),
	POLICY_CASE("connect_sdp", connect_failing, TWO_SETS, SDP_SIDE),
	POLICY_CASE("connect_placed", connect_placed, ONE_SET, SDP_SIDE),
	POLICY_CASE("listen_both", listen_failing, TWO_SETS, BOTH_SIDE),
	POLICY_CASE("listen_sdp", listen_failing, TWO_SETS, SDP_SIDE),
	POLICY_CASE("first_call", first_call_failing, ONE_SET, NULL),
};

TEST_MAIN(tests)
