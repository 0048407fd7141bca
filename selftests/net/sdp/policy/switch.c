// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of the switch net.sdp.rewrite: its effects, who may change it, namespaces.
 */
#include "netlink_common.h"
#include "policy.h"

/*
 * A socket that was created while the switch was off is TCP; so is one that is decided while it is
 * off.
 */
static int switch_between(void *arg)
{
	struct addr where, a = server_addr(0);
	int before, during, listening, fd;

	policy_set("any * sdp");
	need(now_by() == BY_TCP, "SDP though it is off");
	before = stream(0);
	setting_set("rewrite", 1);
	need(now_by() == BY_SDP, "TCP though it is on");
	during = stream(0);
	listening = stream(0);
	listener_of(NOBODY, 1, &where);
	need(connect_as("x", before, &where) == ECONNREFUSED, "connect");
	need_protocol(before, BY_TCP, "one from before");
	setting_set("rewrite", 0);
	need(now_by() == BY_TCP, "SDP though it is off again");
	need(connect_as("x", during, &where) == ECONNREFUSED, "connect");
	need_protocol(during, BY_TCP, "one from then");
	need_errno(!bind(listening, &a.sa, a.len) && !listen(listening, 1), "listen");
	need_protocol(listening, BY_TCP, "a listener from then");
	setting_set("rewrite", 1);
	/* A decision is final. */
	need(connect_as("x", during, &where) == ECONNREFUSED, "connect again");
	need_protocol(during, BY_TCP, "one from then, connecting again");
	where = name_of(listening);
	fd = stream(0);
	need(connect_as("x", fd, &where) == ECONNREFUSED, "connect by SDP to TCP");
	need_protocol(fd, BY_SDP, "a new one");
	return EXIT_OK;
}

static void need_off(const char *who)
{
	char text[POLICY_MAX];

	need(!setting_value("rewrite"), "%s: the switch is on", who);
	need(policy_read(text) == 0, "%s: there is a policy", who);
}

/*
 * A user who is root in a user namespace only can set the policy of his own network namespace, but
 * no other.
 */
static int switch_user_namespace(void *arg)
{
	struct addr where;
	int listening, c, s;

	policy_set("any * tcp");
	setting_set("rewrite", 1);
	be_nobody();
	if (!root_of_user_namespace(CLONE_NEWNET))
		return EXIT_SKIPPED;
	loopback_up();
	need_off("a new namespace");
	need(now_by() == BY_TCP, "SDP in a new namespace");
	by_names();
	listening = listener_of(PAIR, 4, &where);
	c = connected_as(BOTH_SIDE, &where);
	s = accept_and_talk(listening, c, BY_SDP);
	close(s);
	policy_set("any * uid 65534 sdp");
	need(now_by() == BY_SDP, "the user is not whom all others take him for");
	return EXIT_OK;
}

/*
 * With unprivileged_rewrite 0, root of a user namespace can set a policy, but cannot switch it on.
 */
static int switch_kept(void *arg)
{
	int first = own_namespace(), own;

	setting_set("unprivileged_rewrite", 0);
	setting_set("rewrite", 1);
	setting_set("rewrite", 0);
	need_errno(!unshare(CLONE_NEWNET), "unshare");
	setting_set("rewrite", 1);
	enter(first);
	if (!root_of_user_namespace(CLONE_NEWNET))
		return EXIT_SKIPPED;
	loopback_up();
	own = open(SETTING_DIR "rewrite", O_WRONLY);
	need_errno(own >= 0, "rewrite");
	policy_set("any * sdp");
	need(write(own, "1", 1) < 0 && errno == EPERM, "it is switched on: %s",
	     errno_text(errno));
	need(now_by() == BY_TCP, "SDP all the same");
	need_errno(write(own, "0", 1) == 1, "off");
	close(own);
	return EXIT_OK;
}

/* PolicyMet counts new sockets that the policy sees, and no others. */
static int switch_counts(void *arg)
{
	long long met = counter("PolicyMet");
	struct addr where;
	int listening, fd;
	long users;

	policy_set("any * tcp");
	setting_set("rewrite", 0);
	close(stream(0));
	need_count("PolicyMet", met, 0);
	setting_set("rewrite", 1);
	close(stream(0));
	close(stream(SOCK_NONBLOCK));
	users = idle_users();
	fd = socket(set->family, SOCK_STREAM, IPPROTO_TCP);
	need(module_users() == users + 1, "the socket does not hold the module");
	close(fd);
	need_count("PolicyMet", met, 3);
	close(socket(set->family, SOCK_DGRAM, 0));
	close(socket(AF_UNIX, SOCK_STREAM, 0));
	close(socket(AF_SDP, SOCK_STREAM, 0));
	close(socket(set->family, SOCK_STREAM, IPPROTO_SDP));
	need_count("PolicyMet", met, 3);
	/* Accepted sockets do not count. */
	listening = listener_of(TCP_ONLY, 4, &where);
	need_count("PolicyMet", met, 4);
	close(accept_and_talk(listening, connected_as(TCP_SIDE, &where), BY_TCP));
	need_count("PolicyMet", met, 5);
	return EXIT_OK;
}

/*
 * Each network namespace has its own policy. The policy of the namespace in which a socket was
 * created applies to it.
 */
static int switch_namespaces(void *arg)
{
	struct addr where = server_addr(21000);
	int first = own_namespace(), second, fd[2];

	policy_set("any * sdp");
	setting_set("rewrite", 1);
	new_namespace();
	second = own_namespace();
	need_off("a new namespace");
	need(now_by() == BY_TCP, "SDP by another namespace's policy");
	policy_set("any * tcp");
	setting_set("rewrite", 1);
	need(now_by() == BY_TCP, "SDP by another namespace's policy, after switching on");
	fd[1] = stream(0);
	enter(first);
	need(now_by() == BY_SDP, "TCP by another namespace's policy");
	fd[0] = stream(0);
	need(connect_as("x", fd[1], &where) == ECONNREFUSED, "connect");
	need_protocol(fd[1], BY_TCP, "the second namespace's");
	setting_set("rewrite", 0);
	enter(second);
	policy_set("any * sdp");
	need(now_by() == BY_SDP, "TCP after another namespace has switched off");
	need(connect_as("x", fd[0], &where) == ECONNREFUSED, "connect");
	need_protocol(fd[0], BY_TCP, "the first namespace's, which is off");
	enter(first);
	return EXIT_OK;
}

/* A network namespace ends while the switch is on and sockets of all kinds are open. */
static int switch_namespace_gone(void *arg)
{
	long users = idle_users();
	struct addr where;
	int first = own_namespace(), listening, round;

	for (round = 0; round < scaled(8); round++) {
		new_namespace();
		by_names();
		listening = listener_of(PAIR, 8, &where);
		close(connected_as(BOTH_SIDE, &where));
		close(connected_as(TCP_SIDE, &where));
		close(stream(0));
		close(listening);
		enter(first);
	}
	await_users(users);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(switch_between, 30, TWO_SETS),
	CASE(switch_user_namespace, 30, ONE_SET),
	CASE(switch_kept, 30, ONE_SET),
	CASE(switch_counts, 30, TWO_SETS),
	CASE(switch_namespaces, 30, ONE_SET),
	CASE(switch_namespace_gone, 60, ONE_SET),
};

const struct test_list switch_tests = TEST_LIST(tests);
