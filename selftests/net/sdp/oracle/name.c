// SPDX-License-Identifier: GPL-2.0
/* Oracle scenarios: socket(), bind(), names, socket options. */
#include "oracle.h"

void rec_names(const char *state, int fd)
{
	char label[80];

	snprintf(label, sizeof(label), "%s: own", state);
	rec_sockname(label, fd);
	snprintf(label, sizeof(label), "%s: peer", state);
	rec_peername(label, fd);
}

/*
 * The answer of the family's stream protocol: where SCTP is loaded, TCP's family has sockets of
 * other types, too.
 */
static int socket_of(int type, int protocol)
{
	int fd = socket(use_sdp ? AF_SDP : set->family, type, protocol);

	if (fd < 0 || get_int(fd, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_SCTP)
		return fd;
	close(fd);
	errno = ESOCKTNOSUPPORT;
	return -1;
}

static void socket_args(void)
{
	static const struct {
		const char *label;
		int type, protocol;
	} args[] = {
		{ "stream, protocol 0", SOCK_STREAM, 0 },
		{ "stream, tcp", SOCK_STREAM, IPPROTO_TCP },
		{ "stream, udp", SOCK_STREAM, IPPROTO_UDP },
		{ "stream, icmp", SOCK_STREAM, IPPROTO_ICMP },
		{ "stream, protocol -1", SOCK_STREAM, -1 },
		{ "stream, protocol 9999", SOCK_STREAM, 9999 },
		{ "dgram, protocol 0", SOCK_DGRAM, 0 },
		{ "dgram, tcp", SOCK_DGRAM, IPPROTO_TCP },
		{ "seqpacket, protocol 0", SOCK_SEQPACKET, 0 },
		{ "rdm, protocol 0", SOCK_RDM, 0 },
		{ "type 0", 0, 0 },
		{ "type 11", 11, 0 },
		{ "type -1", -1, 0 },
		{ "unknown flag", SOCK_STREAM | 0x100000, 0 },
	};
	int pair[2];
	size_t i;

	if (use_twin)
		return;
	for (i = 0; i < ARRAY_SIZE(args); i++)
		close(REC_FD(args[i].label, socket_of(args[i].type, args[i].protocol)));
	REC("socketpair", socketpair(use_sdp ? AF_SDP : set->family, SOCK_STREAM, 0, pair));
}

static void socket_flags(void)
{
	int fd = fresh(0);

	rec("plain: O_NONBLOCK", "%d", !!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	rec("plain: FD_CLOEXEC", "%d", !!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
	close(fd);
	fd = fresh(SOCK_NONBLOCK | SOCK_CLOEXEC);
	rec("flags: O_NONBLOCK", "%d", !!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	rec("flags: FD_CLOEXEC", "%d", !!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
	rec_int("SO_TYPE", fd, SOL_SOCKET, SO_TYPE);
	rec_int("SO_PROTOCOL", fd, SOL_SOCKET, SO_PROTOCOL);
	rec_int("SO_DOMAIN", fd, SOL_SOCKET, SO_DOMAIN);
	rec_int("SO_ACCEPTCONN", fd, SOL_SOCKET, SO_ACCEPTCONN);
	rec_int("SO_ERROR", fd, SOL_SOCKET, SO_ERROR);
}

static int try_bind(const char *label, const struct addr *a, bool reuse)
{
	int fd = fresh(0);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, reuse);
	REC(label, bind(fd, &a->sa, a->len));
	return fd;
}

static void bind_port_zero(void)
{
	struct addr any = wildcard_addr(0), specific = server_addr(0);
	int fds[4], i;

	for (i = 0; i < 4; i++) {
		fds[i] = try_bind("bind", i & 1 ? &any : &specific, false);
		rec_sockname("name", fds[i]);	/* the four ports must differ */
		rec_peername("peer", fds[i]);
	}
}

static void bind_wildcard(void)
{
	struct addr any = wildcard_addr(0), where;
	int fd = listener_on(&any, 4, &where), client = fresh(0), accepted;

	rec_sockname("listener", fd);
	connect_to(client, &where);
	accepted = accept_from(fd);
	rec_names("client", client);
	rec_names("accepted", accepted);
}

/*
 * A port that is free on every address. Connections that have just ended may still hold some ports
 * on some addresses.
 */
static unsigned int free_port(void)
{
	struct addr any = wildcard_addr(0);
	int fd = fresh(0);

	need_errno(!bind(fd, &any.sa, any.len), "bind");
	any = name_of(fd);
	close(fd);
	return addr_port(&any);
}

static void bind_in_use(void)
{
	unsigned int port = free_port();
	struct addr specific = server_addr(port), any = wildcard_addr(port);
	int first = try_bind("first", &specific, false), second;

	close(try_bind("same", &specific, false));
	close(try_bind("wildcard over specific", &any, false));
	close(try_bind("same, with SO_REUSEADDR on one side", &specific, true));
	need_errno(!listen(first, 1), "listen");
	close(try_bind("same, listening", &specific, false));
	close(try_bind("same, listening, SO_REUSEADDR", &specific, true));
	close(first);
	second = try_bind("wildcard after close", &any, false);
	close(try_bind("specific over wildcard", &specific, false));
	close(second);
	close(try_bind("specific after close", &specific, false));
}

/* A failed bind() leaves the socket usable. */
static void bind_again_after_failure(void)
{
	struct addr taken = server_addr(0), other = server_addr(0);
	int first = try_bind("first", &taken, false), fd;

	taken = name_of(first);
	fd = try_bind("taken", &taken, false);
	rec_sockname("after failure", fd);
	REC("other port", bind(fd, &other.sa, other.len));
	rec_sockname("after success", fd);
}

static void bind_reuse(void)
{
	struct addr a = server_addr(0);
	int one = try_bind("first", &a, true), two, three;

	a = name_of(one);
	two = try_bind("second", &a, true);
	three = try_bind("third without", &a, false);
	REC("first listens", listen(one, 1));
	REC("second listens", listen(two, 1));
	close(three);
	three = try_bind("third, one listens", &a, true);
	close(one);
	REC("second listens after first closed", listen(two, 1));
}

/* Binding to the port of a closed listener while a connection that it accepted still exists. */
static void bind_port_of_connection(void)
{
	struct addr where = server_addr(0);
	int fd = try_bind("listener", &where, true), client = fresh(0), accepted, again;

	need_errno(!listen(fd, 1), "listen");
	where = name_of(fd);
	connect_to(client, &where);
	accepted = accept_from(fd);
	close(fd);
	close(try_bind("plain", &where, false));
	again = try_bind("SO_REUSEADDR", &where, true);
	REC("listen", listen(again, 1));
	close(again);
	close(accepted);		/* the server's end closes first */
	rec_recv("client", client, 10, 0);
	close(client);
	again = try_bind("SO_REUSEADDR after close", &where, true);
	REC("listen after close", listen(again, 1));
}

static void bind_not_local(void)
{
	struct addr a = addr_make(set->family, set->family == AF_INET ? UNUSED_V4 : UNUSED_V6, 0);
	int fd = try_bind("foreign address", &a, false);

	rec_sockname("name", fd);
}

static void bind_twice(void)
{
	struct addr a = server_addr(0);
	int fd = try_bind("first", &a, false);
	struct pair p;

	REC("again", bind(fd, &a.sa, a.len));
	need_errno(!listen(fd, 1), "listen");
	REC("listening", bind(fd, &a.sa, a.len));
	p = pair_make();
	REC("connected", bind(p.c, &a.sa, a.len));
	REC("accepted", bind(p.s, &a.sa, a.len));
}

static void bind_lengths(void)
{
	static const socklen_t lens[] = { 0, 1, 2, 8, 15, 16, 23, 24, 27, 28, 64, 128, 129, -1 };
	char label[40];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		struct addr a = server_addr(0);
		int fd = fresh(0);

		if (set->family == AF_INET6 && lens[i] >= 16 && lens[i] < 24)
			continue;	/* long enough for the family, too short for the address */
		snprintf(label, sizeof(label), "length %d", (int)lens[i]);
		REC(label, bind(fd, &a.sa, lens[i]));
		close(fd);
	}
}

static void bind_families(void)
{
	struct addr a = server_addr(0);
	int fd = fresh(0);

	a.sa.sa_family = AF_UNIX;
	REC("AF_UNIX", bind(fd, &a.sa, a.len));
	a.sa.sa_family = 99;
	REC("family 99", bind(fd, &a.sa, a.len));
	if (set->family == AF_INET) {	/* AF_UNSPEC is ambiguous to a socket for either family */
		a.sa.sa_family = AF_UNSPEC;
		REC("AF_UNSPEC with an address", bind(fd, &a.sa, a.len));
		a = wildcard_addr(0);
		a.sa.sa_family = AF_UNSPEC;
		REC("AF_UNSPEC with 0.0.0.0", bind(fd, &a.sa, a.len));
		rec_sockname("name", fd);
	}
}

/*
 * Programs written for this family put its number, 27, into the sa_family of a struct sockaddr_in.
 */
static void bind_own_family_number(void)
{
	struct addr a = server_addr(0);
	int fd = fresh(0), client = fresh(0);

	if (set->family != AF_INET || use_twin)
		return;
	if (use_sdp)
		a.sa.sa_family = AF_SDP;
	REC("bind", bind(fd, &a.sa, a.len));
	need_errno(!listen(fd, 1), "listen");
	a = name_of(fd);
	rec_sockname("name", fd);
	if (use_sdp)
		a.sa.sa_family = AF_SDP;
	REC("connect", connect(client, &a.sa, a.len));
	rec_peername("client's peer", client);
	rec_peername("accepted's peer", accept_from(fd));
}

static void bind_privileged(void)
{
	struct addr a = server_addr(1022), got;
	int fd, status = 0;
	pid_t pid;

	if (geteuid())
		return;
	fd = try_bind("root", &a, true);
	got = name_of(fd);
	rec("root got the port", "%d", addr_port(&got));
	pid = fork();
	if (!pid) {
		need_errno(!setuid(65534), "setuid");
		addr_set_port(&a, 1023);
		close(try_bind("nobody, 1023", &a, true));
		addr_set_port(&a, 1);
		close(try_bind("nobody, 1", &a, true));
		addr_set_port(&a, 0);
		close(try_bind("nobody, 0", &a, true));
		_exit(0);
	}
	waitpid(pid, &status, 0);
	rec("status", "%d", status);
}

static void names_by_state(void)
{
	struct addr where;
	int fd = fresh(0), client = fresh(0), accepted;

	rec_names("fresh", fd);
	close(fd);
	fd = listener(1, &where);
	rec_names("listening", fd);
	connect_to(client, &where);
	accepted = accept_from(fd);
	rec_names("listening, one accepted", fd);
	rec_names("connected", client);
	rec_names("accepted", accepted);
	shutdown(client, SHUT_WR);
	rec_names("after shutdown", client);
	rec_mask_at("peer's mask", accepted, POLLRDHUP);
	rec_names("peer shut down", accepted);
	shutdown(accepted, SHUT_WR);
	rec_mask_at("both shut down", client, POLLHUP);
	rec_peername_gone("both shut down, client's peer", client);
	rec_peername_gone("both shut down, accepted's peer", accepted);
	rec_sockname("both shut down, client", client);
	rec_sockname("both shut down, accepted", accepted);
}

static void names_of_bound_client(void)
{
	struct addr where, own = client_addr(0);
	int fd = listener(1, &where), client = fresh(0), accepted;

	REC("bind", bind(client, &own.sa, own.len));
	rec_names("bound", client);
	connect_to(client, &where);
	accepted = accept_from(fd);
	rec_names("connected", client);
	rec_names("accepted", accepted);
	close(client);
	client = fresh(0);
	own = wildcard_addr(0);
	REC("bind wildcard", bind(client, &own.sa, own.len));
	rec_names("wildcard", client);
	connect_to(client, &where);
	rec_names("wildcard, connected", client);
}

static void rec_short_name(int fd, int len, bool peer)
{
	struct addr a, clean;
	char label[40];
	socklen_t n = len;
	int ret;

	memset(&a, 0x5a, sizeof(a));
	clean = a;
	snprintf(label, sizeof(label), "%s, %d bytes", peer ? "peer" : "own", len);
	ret = peer ? getpeername(fd, &a.sa, &n) : getsockname(fd, &a.sa, &n);
	REC(label, ret);
	rec("length", "%d", (int)n);
	if (len < 0 || len > (int)sizeof(a.ss))
		return;
	rec_bool("beyond it untouched", !memcmp((char *)&a + len, (char *)&clean + len,
						sizeof(a.ss) - len));
	rec_bool("changed", memcmp(&a, &clean, sizeof(a.ss)));
}

static void names_short_buffer(void)
{
	static const int lens[] = { 0, 1, 2, 4, 8, 15, 16, 27, 28, 100, -1 };
	struct pair p = pair_make();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		rec_short_name(p.c, lens[i], false);
		rec_short_name(p.s, lens[i], true);
	}
}

/* One listener on [::] serves both families and shows IPv4 clients as mapped addresses. */
static void v4_mapped(void)
{
	struct addr any = addr_make(AF_INET6, "::", 0), where, mapped;
	char text[INET6_ADDRSTRLEN];
	int fd, client = fresh(0), accepted, second;

	if (set->family != AF_INET)
		return;
	fd = listener_on(&any, 4, &where);
	rec_names("listener", fd);
	connect_to(client, &where);
	accepted = accept_from(fd);
	rec_names("v4 client", client);
	rec_names("accepted", accepted);
	send_all(client, "to", 2);
	rec_recv("data to", accepted, 10, 0);
	any = wildcard_addr(addr_port(&where));
	close(try_bind("v4 wildcard over [::]", &any, false));

	/* The reverse: an IPv6 client connects to an IPv4 listener by its mapped address. */
	close(fd);
	fd = listener(4, &where);
	snprintf(text, sizeof(text), "::ffff:%s", set->server);
	mapped = addr_make(AF_INET6, text, addr_port(&where));
	second = socket_for(AF_INET6, 0);
	REC("connect to a mapped address", connect(second, &mapped.sa, mapped.len));
	rec_names("v6 client", second);
	accepted = accept_from(fd);
	rec_names("accepted by the v4 listener", accepted);
	close(second);
	second = socket_for(AF_INET6, 0);
	addr_set_port(&mapped, 0);
	REC("bind to a mapped address", bind(second, &mapped.sa, mapped.len));
	rec_names("bound to a mapped address", second);
}

/* Options whose value is a structure. */
static void options_plain(void)
{
	struct timeval tv = { 3, 250000 };
	struct linger linger = { 1, 5 };
	socklen_t len = sizeof(linger);
	int fd = fresh(0);

	REC("SO_LINGER", setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	REC("SO_LINGER", getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &len));
	rec("SO_LINGER", "%d %d", linger.l_onoff, linger.l_linger);
	REC("SO_RCVTIMEO", setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	len = sizeof(tv);
	memset(&tv, 0, sizeof(tv));
	REC("SO_RCVTIMEO", getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &len));
	rec("SO_RCVTIMEO", "%ld.%06ld", (long)tv.tv_sec, (long)tv.tv_usec);
}

static void options_refused(void)
{
	struct timeval tv = { 3, 1000000 };
	int fd = fresh(0), value = 1;
	socklen_t len;

	REC("SO_SNDTIMEO too big", setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
	REC("short value", setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, 1));
	REC("negative length", setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, -1));
	REC("bad pointer", setsockopt(fd, SOL_SOCKET, SO_SNDBUF, (void *)8, sizeof(value)));
	len = sizeof(value);
	REC("get, bad pointer", getsockopt(fd, SOL_SOCKET, SO_TYPE, (void *)8, &len));
	REC("get, unknown level", getsockopt(fd, 250, 1, &value, &len));
	REC("set, unknown level", setsockopt(fd, 250, 1, &value, len));
}

static const struct scenario scenarios[] = {
	SCENARIO(socket_args),
	SCENARIO(socket_flags),
	SCENARIO(bind_port_zero),
	SCENARIO(bind_wildcard),
	SCENARIO(bind_in_use),
	SCENARIO(bind_again_after_failure),
	SCENARIO(bind_reuse),
	SCENARIO(bind_port_of_connection),
	SCENARIO(bind_not_local),
	SCENARIO(bind_twice),
	SCENARIO(bind_lengths),
	SCENARIO(bind_families),
	SCENARIO(bind_own_family_number),
	SCENARIO(bind_privileged),
	SCENARIO(names_by_state),
	SCENARIO(names_of_bound_client),
	SCENARIO(names_short_buffer),
	SCENARIO(v4_mapped),
	SCENARIO(options_plain),
	SCENARIO(options_refused),
};

const struct scenario_list name_scenarios = SCENARIO_LIST(scenarios);
