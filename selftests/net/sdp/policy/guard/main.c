// SPDX-License-Identifier: GPL-2.0
/*
 * The policy (J2) opens no hole: permissions, BPF programs, LSMs, shared sockets.
 *
 * It covers who may change the policy, what other processes see of it, what BPF programs of control
 * groups and security modules forbid, and sockets that several processes share. It also covers what
 * a program sees while its connect falls back.
 */
#include "capable.h"
#include "guard.h"
#include <linux/netlink.h>
#include <linux/xfrm.h>

/*
 * User 0 without CAP_NET_ADMIN can open the files but not write to them, whether they were opened
 * before or after it lost the capability.
 */
static int without_capability(void *arg)
{
	static const struct {
		const char *path, *text;
	} files[] = {
		{ POLICY_FILE, "any * sdp\n" },
		{ SETTING_DIR "rewrite", "1\n" },
		{ SETTING_DIR "fallback_ms", "777\n" },
		{ SETTING_DIR "fallback_memory_ms", "777\n" },
	};
	int before[ARRAY_SIZE(files)], fd;
	size_t i;

	policy_set("%s", GOOD);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		before[i] = open(files[i].path, O_WRONLY);
	drop_net_admin();
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		const char *text = files[i].text;

		need(write(before[i], text, strlen(text)) < 0 && errno == EPERM,
		     "%s, opened before: %s", files[i].path, errno_text(errno));
		fd = open(files[i].path, O_WRONLY);
		need(fd < 0 || (write(fd, text, strlen(text)) < 0 && errno == EPERM), "%s: %s",
		     files[i].path, errno_text(errno));
	}
	need_policy(GOOD, strlen(GOOD));
	need(now_by() == BY_TCP, "it is on");
	return EXIT_OK;
}

/* The process number in the last recorded fallback to the port of @where. */
static int fell_pid(const struct addr *where)
{
	char line[300];
	int pid = -1;

	need(fell_line(addr_port(where), line), "no line for port %u", addr_port(where));
	need(sscanf(line, "%*d %d", &pid) == 1, "the line is \"%s\"", line);
	return pid;
}

static void fall(struct addr *where)
{
	listener_of(NOBODY, 1, where);
	need_connect(BOTH_SIDE, stream(0), where, ECONNREFUSED, "connect");
}

/*
 * Process numbers in the record of fallbacks are those of the reader's PID namespace; processes
 * outside of it are not shown.
 */
static int process_numbers(void *arg)
{
	struct addr outside, inside;
	int own = getpid(), status;
	pid_t pid;

	by_names();
	fall(&outside);
	need(fell_pid(&outside) == own, "%d instead of %d", fell_pid(&outside), own);
	need_errno(!unshare(CLONE_NEWPID), "unshare");
	listener_of(NOBODY, 1, &inside);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		need(connect_as(BOTH_SIDE, stream(0), &inside) == ECONNREFUSED, "connect");
		need(getpid() == 1, "it is process %d", getpid());
		need(fell_pid(&inside) == 1, "%d is shown inside", fell_pid(&inside));
		need(!fell_pid(&outside), "who is outside is %d inside", fell_pid(&outside));
		_exit(EXIT_OK);
	}
	need_errno(waitpid(pid, &status, 0) == pid, "waitpid");
	need(WIFEXITED(status) && !WEXITSTATUS(status), "see above");
	need(fell_pid(&inside) == pid, "%d is shown outside, and it was %d", fell_pid(&inside),
	     pid);
	return EXIT_OK;
}

/* As in <linux/landlock.h> since 6.7. */
enum { LANDLOCK_PORT_RULE = 2, LANDLOCK_BIND_TCP = 1, LANDLOCK_CONNECT_TCP = 2 };

struct landlock_rules {
	uint64_t files, net;
};

struct landlock_port {
	uint64_t allowed, port;
};

/* Landlock's rules for TCP ports also hold for SDP connections of the policy. */
static int landlock(void *arg)
{
	struct landlock_rules all = { .net = LANDLOCK_BIND_TCP | LANDLOCK_CONNECT_TCP };
	struct landlock_port one = { .allowed = LANDLOCK_CONNECT_TCP };
	static const char *const names[] = { TCP_SIDE, BOTH_SIDE, SDP_SIDE };
	struct doors d;
	int rules, fd;
	size_t i;

	doors_open(&d, PAIR);
	rules = syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (rules < 0)
		return EXIT_SKIPPED;
	one.port = addr_port(&d.to_clear);
	need_errno(!syscall(SYS_landlock_add_rule, rules, LANDLOCK_PORT_RULE, &one, 0),
		   "landlock_add_rule");
	need_errno(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
	need_errno(!syscall(SYS_landlock_restrict_self, rules, 0), "landlock_restrict_self");
	need_barred(&d, EACCES);
	close(d.barred);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		as(names[i]);
		fd = stream(0);
		need(bind(fd, &d.to_barred.sa, d.to_barred.len) && errno == EACCES,
		     "bind by %s: %s", names[i], errno_text(errno));
		close(fd);
	}
	return EXIT_OK;
}

/* Sets an IPsec policy on the socket that allows all packets unchanged. */
static void ipsec(int fd)
{
	struct xfrm_userpolicy_info policy = {
		.sel.family = set->family,
		.lft = { .soft_byte_limit = XFRM_INF, .hard_byte_limit = XFRM_INF,
			 .soft_packet_limit = XFRM_INF, .hard_packet_limit = XFRM_INF },
		.dir = XFRM_POLICY_IN,
		.action = XFRM_POLICY_ALLOW,
	};
	bool v4 = set->family == AF_INET;
	/* Opening this socket loads the module that handles IPsec policies. */
	int keys = socket(AF_NETLINK, SOCK_RAW, NETLINK_XFRM);

	if (keys < 0)
		exit(EXIT_SKIPPED);
	need_errno(!setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
			       v4 ? IP_XFRM_POLICY : IPV6_XFRM_POLICY, &policy, sizeof(policy)),
		   "a policy of IPsec");
	close(keys);
}

/* Attaches a program that always chooses the first of the listeners that share a port. */
static void choice(int fd)
{
	struct sock_filter first = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = { .len = 1, .filter = &first };

	need_errno(!setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog, sizeof(prog)),
		   "SO_ATTACH_REUSEPORT_CBPF");
}

/*
 * An option that only TCP has is set on a listener by both. From then on it accepts no connections
 * by SDP, and a client by both connects by TCP. Connections from before are still accepted.
 */
static int listener_option(void *arg)
{
	void (*set_option)(int) = arg;
	int listening, before, late;
	struct addr where;

	by_names();
	as(BOTH_SIDE);
	listening = stream(0);
	where = server_addr(0);
	set_int(listening, SOL_SOCKET, SO_REUSEPORT, 1);
	need_errno(!bind(listening, &where.sa, where.len) && !listen(listening, 8), "listen");
	where = name_of(listening);
	before = connected_as(SDP_SIDE, &where);
	set_option(listening);
	late = stream(0);
	need_connect(SDP_SIDE, late, &where, ECONNREFUSED, "afterwards");
	close(accept_and_talk(listening, before, BY_SDP));
	/* A client without the key would wait for a long time. */
	if (set_option != signature)
		close(accept_and_talk(listening, connected_as(BOTH_SIDE, &where), BY_TCP));
	return EXIT_OK;
}

/* Sets TCP_ULP. Returns the errno, or 0. */
static int upper_layer(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_ULP, name, strlen(name)) ? errno : 0;
}

/*
 * TCP_ULP makes an undecided socket TCP first, because some upper layers replace the socket's
 * operations, which must be TCP's. This holds for an unknown name, too. Kernel TLS is the
 * exception: it fails without a connection, as programs that only probe for it expect, and the
 * socket stays undecided.
 */
static int upper_layers(void *arg)
{
	static const char *const names[] = { "espintcp", "smc", "nonesuch", "mptcp" };
	long users = idle_users();
	int listening, fd, error;
	struct addr where;
	size_t i;

	if (system("modprobe smc >/dev/null 2>&1"))
		printf("# no SMC here\n");
	by_names();
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		as(BOTH_SIDE);
		fd = stream(0);
		error = upper_layer(fd, names[i]);
		printf("# %s: %s\n", names[i], errno_text(error));
		close(fd);
		await_users(users);
	}
	listening = listener_of(PAIR, 4, &where);
	fd = stream(0);
	error = upper_layer(fd, "nonesuch");
	need(error == ENOENT, "no such one: %s", errno_text(error));
	need(!connect_as(BOTH_SIDE, fd, &where), "connect: %s", errno_text(errno));
	close(accept_and_talk(listening, fd, BY_TCP));
	close(fd);
	fd = stream(0);
	error = upper_layer(fd, "tls");
	need(error == ENOTCONN || error == ENOENT, "tls: %s", errno_text(error));
	need(!connect_as(BOTH_SIDE, fd, &where), "connect: %s", errno_text(errno));
	close(accept_and_talk(listening, fd, BY_SDP));
	close(fd);
	close(listening);
	await_users(users);
	return EXIT_OK;
}

/*
 * The first socket that is asked for "tls" since the module was loaded shows kernel TLS the
 * operations that all TLS sockets use from then on. These must be TCP's.
 */
static int upper_layer_first(void *arg)
{
	struct addr where;
	int listening, first, c;

	if (system("modprobe -r tls >/dev/null 2>&1 && modprobe tls >/dev/null 2>&1"))
		return EXIT_SKIPPED;
	by_names();
	as(BOTH_SIDE);
	first = stream(0);
	need(upper_layer(first, "tls") == ENOTCONN, "tls without a connection");
	listening = listener_of(TCP_ONLY, 4, &where);
	c = connected_as(BOTH_SIDE, &where);
	need(!upper_layer(c, "tls"), "tls: %s", errno_text(errno));
	close(accept_and_talk(listening, c, BY_TCP));
	close(c);
	/* It can still become SDP's. */
	close(listening);
	listening = listener_of(SDP_ONLY, 4, &where);
	need(!connect_as(BOTH_SIDE, first, &where), "connect: %s", errno_text(errno));
	close(accept_and_talk(listening, first, BY_SDP));
	return EXIT_OK;
}

/* The same while SDP is tried: then the connection is by TCP. */
static int upper_layer_connecting(void *arg)
{
	long long options = counter("FellOption");
	struct silent s;
	int c, error;

	by_names();
	s = silent_peer();
	c = connecting_to(&s.where);
	error = upper_layer(c, "tls");
	need(error == ENOTCONN || error == ENOENT, "tls: %s", errno_text(error));
	need_count("FellOption", options, 0);
	error = upper_layer(c, "nonesuch");
	need(error == ENOENT, "no such one: %s", errno_text(error));
	need_count("FellOption", options, 1);
	need(poll_for(c, POLLOUT, WAIT_MS) == POLLOUT, "not connected");
	set_nonblock(c, false);
	close(accept_and_talk(s.tcp, c, BY_TCP));
	return EXIT_OK;
}

struct watched {
	int fd;
	atomic_bool over;
	atomic_int looks;
};

/*
 * Polls the socket. After the first poll that shows it connecting it must never look unconnected.
 */
static void *look_on(void *arg)
{
	struct watched *w = arg;
	bool connects = false;
	int mask;
	char c;

	while (!atomic_load(&w->over)) {
		mask = poll_for(w->fd, POLLIN | POLLOUT, 0);
		connects |= !mask;
		if (!connects)
			continue;
		atomic_fetch_add(&w->looks, 1);
		need(!(mask & (POLLHUP | POLLERR)), "poll says %#x", mask);
		need(recv(w->fd, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "recv: %s",
		     errno_text(errno));
	}
	return NULL;
}

/* A blocking connect falls back while other threads poll the socket. */
static int fall_back_watched(void *arg)
{
	int i, rounds = scaled(200), listening, looks = 0;
	struct watched w;
	struct addr where;
	pthread_t thread;

	by_names();
	listening = listener_of(TCP_ONLY, 16, &where);
	for (i = 0; i < rounds; i++) {
		as(BOTH_SIDE);
		w = (struct watched){ .fd = stream(0) };
		thread = start_thread(look_on, &w);
		need(!connect_as(BOTH_SIDE, w.fd, &where), "connect: %s", errno_text(errno));
		atomic_store(&w.over, true);
		pthread_join(thread, NULL);
		looks += atomic_load(&w.looks);
		close(accept_from(listening));
		close(w.fd);
	}
	printf("# %d looks in %d rounds\n", looks, rounds);
	return EXIT_OK;
}

/* SO_RCVTIMEO bounds the whole recv(), which waits for the decision and then for data. */
static int receive_in_time(void *arg)
{
	int unit = slow_kernel() ? 4000 : 2000;
	struct silent s = silent_for(2 * unit);
	int c = connecting_to(&s.where);
	long long start;
	char data;

	set_nonblock(c, false);
	set_timeout(c, SO_RCVTIMEO, 3 * unit);
	start = now_ms();
	need(recv(c, &data, 1, 0) < 0 && errno == EAGAIN, "recv: %s", errno_text(errno));
	need(now_ms() - start >= 2 * unit, "after %lld ms", now_ms() - start);
	/* Two timeouts in a row would take five units. */
	need(now_ms() - start < 5 * unit, "after %lld ms", now_ms() - start);
	need_protocol(c, BY_TCP, "it");
	return EXIT_OK;
}

/* A socket that is bound to an address without a port connects from it by SDP and by TCP. */
static int bound_without_port(void *arg)
{
	static const enum kind kinds[] = { PAIR, TCP_ONLY };
	struct addr where, own = client_addr(0), peer;
	int listening, c, s;
	size_t i;

	by_names();
	if (set == &addrsets[SET_LO4])
		own.in.sin_addr.s_addr = htonl(0x7f000005);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		listening = listener_of(kinds[i], 4, &where);
		c = stream(0);
		set_int(c, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
		need_errno(!bind(c, &own.sa, own.len), "bind");
		need(!connect_as(BOTH_SIDE, c, &where), "connect: %s", errno_text(errno));
		s = accept_and_talk(listening, c, kinds[i] == TCP_ONLY ? BY_TCP : BY_SDP);
		peer = name_of(c);
		need(addr_port(&peer), "no port");
		if (set->family == AF_INET)
			need(peer.in.sin_addr.s_addr == own.in.sin_addr.s_addr,
			     "it comes from elsewhere");
		else
			need(!memcmp(&peer.in6.sin6_addr, &own.in6.sin6_addr, 16),
			     "it comes from elsewhere");
		close(s);
		close(c);
		close(listening);
	}
	return EXIT_OK;
}

static void sh(const char *command)
{
	need(!system(command), "%s", command);
}

#define AWAY	"sdp-guard"

static void listen_away(int *port, int *listening)
{
	struct addr a = addr_make(AF_INET, "10.77.0.2", 0);
	int here = own_namespace(), there = open("/var/run/netns/" AWAY, O_RDONLY);

	need_errno(there >= 0, "the namespace " AWAY);
	enter(there);
	*listening = socket(AF_INET, SOCK_STREAM, 0);
	need_errno(*listening >= 0 && !bind(*listening, &a.sa, a.len) && !listen(*listening, 4),
		   "listen");
	a = name_of(*listening);
	*port = addr_port(&a);
	enter(here);
}

/* The route to the peer leads to a device without RDMA, so the connection is by TCP. */
static int no_device(void *arg)
{
	long long route = counter("FellRoute");
	int port, listening, c;
	struct addr where;
	char line[300];

	if (system("ip netns add " AWAY " 2>/dev/null"))
		return EXIT_SKIPPED;
	sh("ip link add sdpguard0 address 02:00:00:00:77:01 type veth "
	   "peer name sdpguard1 address 02:00:00:00:77:02 netns " AWAY);
	sh("ip addr add 10.77.0.1/24 dev sdpguard0 && ip link set sdpguard0 up");
	sh("ip -n " AWAY " addr add 10.77.0.2/24 dev sdpguard1");
	sh("ip -n " AWAY " link set sdpguard1 up");
	/* Static neighbour entries: no neighbour lookup is needed. */
	sh("ip neighbour replace 10.77.0.2 lladdr 02:00:00:00:77:02 dev sdpguard0");
	sh("ip -n " AWAY " neighbour replace 10.77.0.1 lladdr 02:00:00:00:77:01 dev sdpguard1");
	by_names();
	listen_away(&port, &listening);
	where = addr_make(AF_INET, "10.77.0.2", port);
	c = socket(AF_INET, SOCK_STREAM, 0);
	need(!connect_as(BOTH_SIDE, c, &where), "connect: %s", errno_text(errno));
	close(accept_and_talk(listening, c, BY_TCP));
	need(fell_line(port, line) && strstr(line, " connect 10.77.0.2:") &&
	     strstr(line, " no RDMA device on the route\n"), "the line is \"%s\"", line);
	need_count("FellRoute", route, 1);
	close(c);
	/* Finding the route does not block, so a non-blocking connect falls back at once, too. */
	c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	need_connect(BOTH_SIDE, c, &where, EINPROGRESS, "connect");
	need_count("FellRoute", route, 2);
	need(poll_for(c, POLLOUT, WAIT_MS) & POLLOUT, "not connected");
	close(accept_and_talk(listening, c, BY_TCP));
	sh("ip netns delete " AWAY);
	return EXIT_OK;
}

/* The policy ignores protocols other than TCP; they work as before. */
static int other_protocols(void *arg)
{
	static const struct {
		const char *name;
		int family, type, protocol, shows;
	} others[] = {
		{ "SCTP", AF_INET, SOCK_STREAM, 132, 132 },
		{ "SCTP, one to many", AF_INET, SOCK_SEQPACKET, 132, 132 },
		{ "SMC", 43, SOCK_STREAM, 0, 0 },
		{ "UDP", AF_INET, SOCK_DGRAM, 0, 17 },
		{ "UDP by IPv6", AF_INET6, SOCK_DGRAM, 0, 17 },
		{ "raw ICMP", AF_INET, SOCK_RAW, 1, 1 },
		{ "UNIX", AF_UNIX, SOCK_STREAM, 0, 0 },
	};
	long users;
	size_t i;

	if (system("modprobe -a sctp smc >/dev/null 2>&1"))
		printf("# no SCTP or SMC here\n");
	policy_set("any * sdp");
	setting_set("rewrite", 1);
	users = idle_users();
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		int fd = socket(others[i].family, others[i].type, others[i].protocol), protocol;

		if (fd < 0) {
			printf("# not here: %s\n", others[i].name);
			continue;
		}
		bind(fd, &(struct sockaddr){ .sa_family = AF_UNSPEC }, 2);
		listen(fd, 1);
		protocol = protocol_of(fd);
		need(protocol == others[i].shows, "%s says it is protocol %d", others[i].name,
		     protocol);
		need(module_users() == users, "%s holds the module", others[i].name);
		close(fd);
	}
	return EXIT_OK;
}

#define OPTION(name, function) \
	{ "listener_option_" name, listener_option, 30, TWO_SETS, true, (void *)(function) }

static const struct test tests[] = {
	CASE(without_capability, 30, ONE_SET),
	CASE(process_numbers, 30, ONE_SET),
	CASE(slow_memory_of_others, 60, ONE_SET),
	{ "held_falls_back", held, 60, ONE_SET, true, (void *)FALLS_BACK },
	{ "held_connected", held, 60, ONE_SET, true, (void *)CONNECTED },
	CASE(held_reset, 60, TWO_SETS),
	{ "held_asked_rarely", held_asked_rarely, 60, ONE_SET, true, NULL },
	{ "held_asked_rarely_sock", held_asked_rarely, 60, ONE_SET, true, (void *)1 },
	CASE(upper_layers, 60, TWO_SETS),
	CASE(upper_layer_first, 60, TWO_SETS),
	CASE(upper_layer_connecting, 60, TWO_SETS),
	CASE(bpf_refuses, 30, TWO_SETS),
	CASE(bpf_refuses_multipath, 30, TWO_SETS),
	CASE(bpf_refuses_second, 60, TWO_SETS),
	CASE(bpf_redirects, 30, TWO_SETS),
	CASE(bpf_forbids_sdp, 30, TWO_SETS),
	CASE(bpf_names, 30, TWO_SETS),
	CASE(bpf_events, 30, TWO_SETS),
	CASE(bpf_options, 30, TWO_SETS),
	CASE(bpf_packets, 30, TWO_SETS),
	CASE(lsm_forbids_sdp, 30, TWO_SETS),
	CASE(landlock, 30, TWO_SETS),
	OPTION("filter", filter),
	OPTION("ip_options", ip_options),
	OPTION("signature", signature),
	OPTION("ipsec", ipsec),
	OPTION("choice", choice),
	CASE(seen_connect, 30, ALL_SETS),
	CASE(seen_listen, 30, TWO_SETS),
	CASE(seen_trying, 60, TWO_SETS),
	CASE(hooks_seen, 120, TWO_SETS),
	CASE(traced_reasons, 60, TWO_SETS),
	CASE(traced_once, 60, TWO_SETS),
	CASE(fall_back_watched, 60, TWO_SETS),
	CASE(receive_in_time, 60, RC_SETS | NOT_SHORT),
	CASE(bound_without_port, 30, ALL_SETS),
	CASE(no_device, 120, ONE_SET),
	CASE(other_protocols, 60, ONE_SET),
};

TEST_MAIN(tests)
