// SPDX-License-Identifier: GPL-2.0
/*
 * Oracle scenarios: socket options, by tables of values and by their effects.
 *
 * The tables list options and values. Each value is set and read back in each state of a socket.
 * The scenarios behind the tables test what some options do.
 */
#include "info.h"
#include "oracle.h"
#include <sys/utsname.h>

#define VALUES	9

struct option {
	const char *name;
	int level, option;
	int count, values[VALUES];
	bool set_only;		/* the value after the set is up to the protocol */
	bool v6;		/* for IPv6 sockets only */
};

#define OPT(level, option, ...) {					\
	#option, level, option,						\
	.count = sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), .values = { __VA_ARGS__ } }

#define OPT_SET(level, option, ...) {					\
	#option, level, option, .set_only = true,			\
	.count = sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), .values = { __VA_ARGS__ } }

#define OPT6(option, ...) {						\
	#option, IPPROTO_IPV6, option, .v6 = true,			\
	.count = sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), .values = { __VA_ARGS__ } }

static const struct option tcp_table[] = {
	OPT(IPPROTO_TCP, TCP_NODELAY, 1, 0, 5, -1),
	OPT(IPPROTO_TCP, TCP_CORK, 1, 0, 7, 0),
	/* TCP drops the request for delayed acknowledgements when one of them is late. */
	OPT_SET(IPPROTO_TCP, TCP_QUICKACK, 0),
	OPT(IPPROTO_TCP, TCP_QUICKACK, 1),
	OPT(IPPROTO_TCP, TCP_KEEPIDLE, 0, 1, 100, 32767, 32768, -1),
	OPT(IPPROTO_TCP, TCP_KEEPINTVL, 0, 1, 100, 32767, 32768, -1),
	OPT(IPPROTO_TCP, TCP_KEEPCNT, 0, 1, 5, 127, 128, -1),
	OPT(IPPROTO_TCP, TCP_USER_TIMEOUT, -1, 100000, 0),
	OPT(IPPROTO_TCP, TCP_SYNCNT, 0, 1, 6, 127, 128, -1),
	OPT(IPPROTO_TCP, TCP_LINGER2, -5, 5, 120, 121, 100000, 0),
	OPT(IPPROTO_TCP, TCP_DEFER_ACCEPT, -1, 1, 2, 4, 10, 100, 200, 1000, 0),
	OPT(IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1, 100000, -1, 0),
	OPT_SET(IPPROTO_TCP, TCP_MAXSEG, 87, 88, 1000, 32767, 32768, -1, 0),
	OPT(IPPROTO_TCP, TCP_WINDOW_CLAMP, 1000000, 1),
	OPT(IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1, 2, -1, 0),
	OPT(IPPROTO_TCP, TCP_THIN_DUPACK, 1, 2, -1, 0),
	OPT(IPPROTO_TCP, TCP_FASTOPEN, 5, -1, 0),
	OPT(IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 2, 1, -1, 0),
	OPT(IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 2, 1, -1, 0),
	OPT(IPPROTO_TCP, TCP_INQ, 2, 1, -1, 0),
	OPT(IPPROTO_TCP, 999, 1),
};

static const struct option ip_table[] = {
	OPT(IPPROTO_IP, IP_TOS, 0x10, 0xff, 0xb8, 0x1b8, -1, 0),
	OPT(IPPROTO_IP, IP_TTL, 0, 1, 255, 256, -2, -1),
	OPT(IPPROTO_IP, IP_MINTTL, 256, 255, -1, 0),
	OPT(IPPROTO_IP, IP_MTU_DISCOVER, -1, 0, 2, 5, 6, 1),
	OPT(IPPROTO_IP, IP_RECVERR, 1, 5, 0),
	OPT(IPPROTO_IP, IP_RECVTOS, 1, 0),
	OPT(IPPROTO_IP, IP_RECVTTL, 1, 0),
	OPT(IPPROTO_IP, IP_PKTINFO, 1, 0),
	OPT(IPPROTO_IP, IP_FREEBIND, 1, 0),
	OPT(IPPROTO_IP, 999, 1),
	OPT6(IPV6_V6ONLY, 1, 5, 0),
	OPT6(IPV6_TCLASS, -2, 0xb8, 0xff, 256, -1),
	OPT6(IPV6_UNICAST_HOPS, -2, 0, 7, 255, 256, -1),
	OPT6(IPV6_MINHOPCOUNT, -1, 255, 256, 0),
	OPT6(IPV6_MTU_DISCOVER, -1, 0, 5, 6, 1),
	OPT6(IPV6_RECVERR, 1, 0),
	OPT6(IPV6_RECVTCLASS, 1, 0),
	OPT6(IPV6_RECVHOPLIMIT, 1, 0),
	OPT6(IPV6_RECVPKTINFO, 1, 0),
	OPT6(999, 1),
};

static const struct option socket_table[] = {
	OPT(SOL_SOCKET, SO_KEEPALIVE, 1, 5, 0),
	OPT(SOL_SOCKET, SO_OOBINLINE, 1, 0),
	OPT(SOL_SOCKET, SO_PRIORITY, 3, 0, 100),
	OPT(SOL_SOCKET, SO_MARK, 5, 0),
	OPT(SOL_SOCKET, SO_REUSEADDR, 1, 5, 0),
	OPT(SOL_SOCKET, SO_REUSEPORT, 1, 5, 0),
	OPT(SOL_SOCKET, SO_RCVLOWAT, 0, 100, 5, 1),
	OPT(SOL_SOCKET, SO_BUSY_POLL, -1, 50, 0),
	OPT(SOL_SOCKET, SO_DONTROUTE, 1, 0),
	OPT(SOL_SOCKET, SO_BROADCAST, 1, 0),
	OPT(SOL_SOCKET, SO_TIMESTAMP, 1, 0),
	OPT(SOL_SOCKET, SO_TIMESTAMPNS, 1, 0),
	OPT(SOL_SOCKET, SO_MAX_PACING_RATE, 1000000, -1),
	OPT(SOL_SOCKET, SO_SNDBUFFORCE, -1, 100000),
	OPT(SOL_SOCKET, SO_RCVBUFFORCE, -1, 100000),
	OPT(SOL_SOCKET, SO_BUF_LOCK, 4, 3, 0),
	OPT(SOL_SOCKET, SO_ACCEPTCONN, 1),
	OPT_SET(SOL_SOCKET, SO_PROTOCOL, 1),
	OPT(SOL_SOCKET, SO_TYPE, 1),
	OPT(SOL_SOCKET, SO_ERROR, 1),
	OPT(SOL_SOCKET, 9999, 1),
};

static bool kernel_before(int major, int minor)
{
	struct utsname name;
	int a = 0, b = 0;

	need_errno(!uname(&name), "uname");
	need(sscanf(name.release, "%d.%d", &a, &b) == 2, "kernel %s", name.release);
	return a < major || (a == major && b < minor);
}

static void set_and_get(const char *state, int fd, const struct option *o, int value)
{
	char label[80], set[40], get[40] = "";
	socklen_t len = sizeof(value);
	int result = 0;

	snprintf(label, sizeof(label), "%s, %s %d", state, o->name, value);
	snprintf(set, sizeof(set), "%s", setsockopt(fd, o->level, o->option, &value, len) ?
		 errno_text(errno) : "set");
	if (!o->set_only) {
		if (getsockopt(fd, o->level, o->option, &result, &len))
			snprintf(get, sizeof(get), ", %s", errno_text(errno));
		else
			snprintf(get, sizeof(get), ", is %d, %u bytes", result, len);
	}
	rec(label, "%s%s", set, get);
}

/*
 * Late kernels of the 6.1 series refuse SO_REUSEPORT to every family but AF_INET and AF_INET6,
 * without asking the family. Sockets of IPPROTO_SDP have it there.
 */
static bool ports_can_be_shared(void)
{
	int fd = socket(AF_SDP, SOCK_STREAM, 0), on = 1;
	bool can = fd < 0 || use_twin || !setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));

	close(fd);
	return can;
}

static bool comparable(const struct option *o)
{
	if (o->level == SOL_SOCKET && o->option == SO_REUSEPORT && !ports_can_be_shared())
		return false;
	return !o->v6 || set->family == AF_INET6;
}

static void whole_table(const char *state, int fd, const struct option *table, size_t n)
{
	for (; n; n--, table++) {
		int i;

		for (i = 0; i < table->count && comparable(table); i++)
			set_and_get(state, fd, table, table->values[i]);
	}
}

/*
 * Runs the table on sockets in each state of their life. The labels name the state, in the order of
 * the calls.
 */
static void in_all_states(const struct option *table, size_t n)
{
	struct addr where;
	int fd = fresh(0);
	struct pair p;

	whole_table("fresh", fd, table, n);
	close(fd);
	fd = fresh(0);
	where = server_addr(0);
	need_errno(!bind(fd, &where.sa, where.len), "bind");
	whole_table("bound", fd, table, n);
	close(fd);
	fd = listener(1, NULL);
	whole_table("listening", fd, table, n);
	close(fd);
	p = pair_make();
	whole_table("connected", p.c, table, n);
	whole_table("accepted", p.s, table, n);
	shutdown(p.c, SHUT_WR);
	poll_for(p.s, POLLRDHUP, WAIT_MS);
	whole_table("shut down", p.c, table, n);
	whole_table("peer shut down", p.s, table, n);
	close(p.c);
	close(p.s);
}

static void options_tcp(void)
{
	in_all_states(tcp_table, ARRAY_SIZE(tcp_table));
}

static void options_ip(void)
{
	in_all_states(ip_table, ARRAY_SIZE(ip_table));
}

static void options_socket(void)
{
	in_all_states(socket_table, ARRAY_SIZE(socket_table));
}

static void buffer_sizes(void)
{
	static const struct option table[] = {
		OPT(SOL_SOCKET, SO_SNDBUF, 1, 1000, 10000, 100000, 1 << 30, -1),
		OPT(SOL_SOCKET, SO_RCVBUF, 1, 1000, 10000, 100000, 1 << 30, -1),
	};

	whole_table("fresh", fresh(0), table, ARRAY_SIZE(table));
}

/* The values that a new socket shows. */
static void options_defaults(void)
{
	static const struct option *tables[] = { tcp_table, ip_table, socket_table };
	static const size_t sizes[] = {
		ARRAY_SIZE(tcp_table), ARRAY_SIZE(ip_table), ARRAY_SIZE(socket_table),
	};
	int fd = fresh(0);
	size_t t, i;

	for (t = 0; t < ARRAY_SIZE(tables); t++) {
		for (i = 0; i < sizes[t]; i++) {
			const struct option *o = &tables[t][i];

			if ((!o->v6 || set->family == AF_INET6) && strncmp(o->name, "SO_", 3))
				rec_int(o->name, fd, o->level, o->option);
		}
	}
}

/* An accepted socket has every option that its listener has. */
static void options_handed_on(void)
{
	static const struct option given[] = {
		OPT(IPPROTO_TCP, TCP_NODELAY, 1), OPT(IPPROTO_TCP, TCP_CORK, 1),
		OPT(IPPROTO_TCP, TCP_KEEPIDLE, 77), OPT(IPPROTO_TCP, TCP_KEEPINTVL, 33),
		OPT(IPPROTO_TCP, TCP_KEEPCNT, 4), OPT(IPPROTO_TCP, TCP_USER_TIMEOUT, 99000),
		OPT(IPPROTO_TCP, TCP_LINGER2, 9), OPT(IPPROTO_TCP, TCP_SYNCNT, 3),
		OPT(IPPROTO_TCP, TCP_NOTSENT_LOWAT, 5000), OPT(IPPROTO_TCP, TCP_INQ, 1),
		OPT(IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1), OPT(IPPROTO_IP, IP_TOS, 0x10),
		OPT(SOL_SOCKET, SO_KEEPALIVE, 1), OPT(SOL_SOCKET, SO_OOBINLINE, 1),
		OPT(SOL_SOCKET, SO_RCVLOWAT, 3), OPT(SOL_SOCKET, SO_REUSEADDR, 1),
		OPT(SOL_SOCKET, SO_REUSEPORT, 1), OPT(SOL_SOCKET, SO_MARK, 7),
		OPT(SOL_SOCKET, SO_TIMESTAMPNS, 1), OPT(SOL_SOCKET, SO_PRIORITY, 4),
		OPT(SOL_SOCKET, SO_SNDBUF, 20000), OPT(SOL_SOCKET, SO_RCVBUF, 30000),
		OPT6(IPV6_TCLASS, 0xb8), OPT6(IPV6_UNICAST_HOPS, 9), OPT6(IPV6_V6ONLY, 0),
	};
	struct addr where;
	int fd = listener(1, &where), client = fresh(0), accepted;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(given); i++)
		setsockopt(fd, given[i].level, given[i].option, &given[i].values[0], sizeof(int));
	set_timeout(fd, SO_SNDTIMEO, 7000);
	connect_to(client, &where);
	accepted = accept_from(fd);
	for (i = 0; i < ARRAY_SIZE(given); i++)
		if (comparable(&given[i]))
			rec_int(given[i].name, accepted, given[i].level, given[i].option);
	rec_int("SO_SNDTIMEO, seconds", accepted, SOL_SOCKET, SO_SNDTIMEO);
	rec_int("SO_ACCEPTCONN", accepted, SOL_SOCKET, SO_ACCEPTCONN);
	rec_int("SO_TYPE", accepted, SOL_SOCKET, SO_TYPE);
	rec_int("SO_PROTOCOL", accepted, SOL_SOCKET, SO_PROTOCOL);
}

static void rec_get_len(const char *label, int fd, int level, int option, int room)
{
	unsigned char value[8] = { 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee };
	socklen_t len = room;

	if (getsockopt(fd, level, option, value, &len))
		rec(label, "-%s", errno_text(errno));
	else
		rec(label, "%u bytes, %02x %02x %02x", len, value[0], value[1], value[4]);
}

static void options_lengths(void)
{
	static const int rooms[] = { 0, 1, 3, 4, 8, -1 };
	char label[60];
	int fd = fresh(0), value = 20;
	size_t i;

	set_int(fd, IPPROTO_IP, IP_TOS, 0x10);
	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		snprintf(label, sizeof(label), "TCP_KEEPIDLE into %d", rooms[i]);
		rec_get_len(label, fd, IPPROTO_TCP, TCP_KEEPIDLE, rooms[i]);
		snprintf(label, sizeof(label), "IP_TOS into %d", rooms[i]);
		rec_get_len(label, fd, IPPROTO_IP, IP_TOS, rooms[i]);
		snprintf(label, sizeof(label), "TCP_INFO into %d", rooms[i]);
		rec_get_len(label, fd, IPPROTO_TCP, TCP_INFO, rooms[i]);
	}
	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		snprintf(label, sizeof(label), "TCP_KEEPIDLE of %d", rooms[i]);
		REC(label, setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &value, rooms[i]));
		snprintf(label, sizeof(label), "IP_TOS of %d", rooms[i]);
		REC(label, setsockopt(fd, IPPROTO_IP, IP_TOS, &value, rooms[i]));
		rec_int("is", fd, IPPROTO_IP, IP_TOS);
		snprintf(label, sizeof(label), "IP_TTL of %d", rooms[i]);
		REC(label, setsockopt(fd, IPPROTO_IP, IP_TTL, &value, rooms[i]));
	}
	REC("bad pointer", setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, (void *)8, 4));
	REC("bad pointer, unknown option", setsockopt(fd, IPPROTO_TCP, 999, (void *)8, 4));
	REC("bad pointer, IP", setsockopt(fd, IPPROTO_IP, IP_TOS, (void *)8, 4));
	value = 4;
	REC("get, bad pointer", getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, (void *)8,
					   (socklen_t *)&value));
	REC("get, bad length pointer", getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, (void *)8));
	REC("TCP_CONGESTION, unknown", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "no such", 7));
	REC("TCP_CONGESTION, empty", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "", 0));
}

/*
 * Returns the events at the reader of two corked writes. If the machine was so slow meanwhile that
 * the cork may have expired, the result proves nothing, and the writes are repeated.
 */
static int corked_events(const struct pair *p)
{
	int events, tries = 0;
	long long start;
	char data[7];

	for (;;) {
		start = now_ms();
		send_all(p->c, "one ", 4);
		send_all(p->c, "two", 3);
		events = poll_for(p->s, POLLIN, 40);
		if (!events || now_ms() - start < 150 || ++tries == 50)
			return events;
		set_int(p->c, IPPROTO_TCP, TCP_CORK, 0);
		recv_all(p->s, data, sizeof(data));
		set_int(p->c, IPPROTO_TCP, TCP_CORK, 1);
	}
}

/* Corked data is sent when the cork is removed, on TCP_NODELAY, or after 200 ms. */
static void cork_holds(void)
{
	struct pair p = pair_make();
	long long start;

	set_int(p.c, IPPROTO_TCP, TCP_CORK, 1);
	rec_events("corked", corked_events(&p));
	set_int(p.c, IPPROTO_TCP, TCP_CORK, 0);
	rec("arrives", "%d", await_bytes(p.s, 7));
	rec_recv("uncorked", p.s, 100, 0);
	set_int(p.c, IPPROTO_TCP, TCP_CORK, 1);
	start = now_ms();
	REC("send", send(p.c, "three", 5, 0));
	rec("arrives", "%d", await_bytes(p.s, 5));
	rec_bool("not at once", took_at_least(start, 150));
	rec_recv("by itself", p.s, 100, 0);
	REC("send", send(p.c, "four", 4, 0));
	set_int(p.c, IPPROTO_TCP, TCP_NODELAY, 1);
	rec("arrives", "%d", await_bytes(p.s, 4));
	rec_recv("by TCP_NODELAY", p.s, 100, 0);
	rec_int("still corked", p.c, IPPROTO_TCP, TCP_CORK);
	REC("send", send(p.c, "five", 4, 0));
	shutdown(p.c, SHUT_WR);
	await_bytes(p.s, 4);
	rec_recv("by shutdown", p.s, 100, 0);
	rec_recv("end", p.s, 100, 0);
}

static void nodelay_small_writes(void)
{
	struct pair p = pair_make();
	int i;

	set_int(p.c, IPPROTO_TCP, TCP_NODELAY, 1);
	for (i = 0; i < 100; i++)
		send_all(p.c, "abcdefghij", 10);
	rec("arrives", "%d", await_bytes(p.s, 1000));
	rec_recv("all", p.s, 4000, 0);
}

static void peek_offset(void)
{
	struct pair p = pair_make();

	/* TCP has SO_PEEK_OFF since 6.9, AF_SDP on all kernels. */
	if (kernel_before(6, 9))
		return;
	rec_int("fresh", p.s, SOL_SOCKET, SO_PEEK_OFF);
	send_all(p.c, "0123456789", 10);
	await_bytes(p.s, 10);
	set_int(p.s, SOL_SOCKET, SO_PEEK_OFF, 2);
	rec_recv("peek", p.s, 3, MSG_PEEK);
	rec_int("after", p.s, SOL_SOCKET, SO_PEEK_OFF);
	rec_recv("peek on", p.s, 3, MSG_PEEK);
	rec_recv("read", p.s, 4, 0);
	rec_int("after", p.s, SOL_SOCKET, SO_PEEK_OFF);
	rec_recv("peek on", p.s, 100, MSG_PEEK);
	rec_recv("nothing more", p.s, 100, MSG_PEEK | MSG_DONTWAIT);
	send_all(p.c, "ab", 2);
	await_bytes(p.s, 8);
	rec_recv("peek new", p.s, 100, MSG_PEEK);
	set_int(p.s, SOL_SOCKET, SO_PEEK_OFF, -1);
	rec_recv("peek from the start", p.s, 3, MSG_PEEK);
	rec_recv("read all", p.s, 100, 0);
	rec_int("after", p.s, SOL_SOCKET, SO_PEEK_OFF);
}

/* Records the first control message of a recvmsg(): its kind, and whether it is plausible. */
static void rec_cmsg(const char *label, int fd, int flags)
{
	char data[100], control[200];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	time_t then;

	REC(label, recvmsg(fd, &msg, flags));
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!cmsg) {
		rec(label, "no control message");
		return;
	}
	memcpy(&then, CMSG_DATA(cmsg), sizeof(then));
	if (cmsg->cmsg_level == SOL_SOCKET)
		rec(label, "type %d, %zu bytes, time %s", cmsg->cmsg_type, cmsg->cmsg_len,
		    labs((long)(time(NULL) - then)) < 60 ? "right" : "wrong");
	else
		rec(label, "level %d, type %d, %d", cmsg->cmsg_level, cmsg->cmsg_type,
		    *(int *)CMSG_DATA(cmsg));
	rec_bool("another one", CMSG_NXTHDR(&msg, cmsg));
}

static void control_messages(void)
{
	struct pair p = pair_make();

	send_all(p.c, "none", 4);
	await_bytes(p.s, 4);
	rec_cmsg("nothing asked for", p.s, 0);
	set_int(p.s, SOL_SOCKET, SO_TIMESTAMP, 1);
	send_all(p.c, "time", 4);
	await_bytes(p.s, 4);
	rec_cmsg("SO_TIMESTAMP, peek", p.s, MSG_PEEK);
	rec_cmsg("SO_TIMESTAMP", p.s, 0);
	set_int(p.s, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	send_all(p.c, "ns", 2);
	await_bytes(p.s, 2);
	rec_cmsg("SO_TIMESTAMPNS", p.s, 0);
	set_int(p.s, SOL_SOCKET, SO_TIMESTAMPNS, 0);
	set_int(p.s, IPPROTO_TCP, TCP_INQ, 1);
	send_all(p.c, "left", 4);
	await_bytes(p.s, 4);
	rec_cmsg("TCP_INQ, peek", p.s, MSG_PEEK);
	rec_cmsg("TCP_INQ", p.s, 0);
	shutdown(p.c, SHUT_WR);
	poll_for(p.s, POLLRDHUP, WAIT_MS);
	rec_cmsg("TCP_INQ, end", p.s, 0);
}

/* With TCP_DEFER_ACCEPT a connection is not accepted before there is something to read. */
static void accept_deferred(void)
{
	struct addr where;
	int fd = listener(4, &where), client = fresh(0), other = fresh(0), accepted;

	set_int(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 30);
	REC("connect", connect(client, &where.sa, where.len));
	REC("connect", connect(other, &where.sa, where.len));
	rec_events("without data", poll_for(fd, POLLIN, quiet_ms()));
	set_nonblock(fd, true);
	REC_FD("accept", accept(fd, NULL, NULL));
	set_nonblock(fd, false);
	REC("send", send(client, "hello", 5, 0));
	accepted = accept_from(fd);
	rec("there", "%d", await_bytes(accepted, 5));
	rec_recv("data", accepted, 10, 0);
	rec_int("TCP_DEFER_ACCEPT", accepted, IPPROTO_TCP, TCP_DEFER_ACCEPT);
	REC("send back", send(accepted, "back", 4, 0));
	rec_recv("data", client, 10, 0);
	shutdown(other, SHUT_WR);
	accepted = accept_from(fd);
	rec_recv("end only", accepted, 10, 0);
}

static void accept_deferred_for_a_while(void)
{
	struct addr where;
	int fd = listener(4, &where), client = fresh(0), accepted;
	long long start = now_ms();

	set_int(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 1);
	REC("connect", connect(client, &where.sa, where.len));
	accepted = accept_from(fd);
	rec_bool("not at once", took_at_least(start, 800));
	REC("send", send(client, "late", 4, 0));
	rec_recv("data", accepted, 10, 0);
}

/* A live peer answers all keepalive probes. */
static void keepalive_answered(void)
{
	struct pair p = pair_make();

	set_int(p.c, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	set_int(p.c, IPPROTO_TCP, TCP_KEEPINTVL, 1);
	set_int(p.c, IPPROTO_TCP, TCP_KEEPCNT, 1);
	REC("SO_KEEPALIVE", setsockopt(p.c, SOL_SOCKET, SO_KEEPALIVE, &(int){ 1 }, sizeof(int)));
	rec_events("four seconds", poll_for(p.c, POLLIN, 4000));
	REC("send", send(p.c, "here", 4, 0));
	rec_recv("peer", p.s, 10, 0);
	REC("send back", send(p.s, "too", 3, 0));
	rec_recv("own", p.c, 10, 0);
	rec_so_error("error", p.c);
}

/* A connection whose peer does not read is dropped after TCP_USER_TIMEOUT. */
static void user_timeout_full(void)
{
	struct pair p = pair_sized(SMALL_BUFFER);

	/*
	 * The socket is filled before the timeout is set, because fill() takes long on a slow
	 * kernel.
	 */
	fill_ends(p.c, p.s);
	set_int(p.c, IPPROTO_TCP, TCP_USER_TIMEOUT, 1500);
	rec_mask_at("mask", p.c, POLLERR);
	rec_so_error("error", p.c);
	REC("send", send(p.c, "x", 1, MSG_NOSIGNAL));
}

static void not_sent_low_water(void)
{
	struct pair p = pair_make();

	set_int(p.c, IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1);
	rec_mask("nothing waits", p.c);
	set_int(p.c, IPPROTO_TCP, TCP_CORK, 1);
	send_all(p.c, "corked", 6);
	rec_mask("something waits", p.c);
	REC("send", send(p.c, "x", 1, MSG_DONTWAIT));
	set_int(p.c, IPPROTO_TCP, TCP_CORK, 0);
	rec_mask_at("sent", p.c, POLLOUT);
	/* The data may come as two messages if the cork expired meanwhile. */
	await_bytes(p.s, 7);
	rec_recv("data", p.s, 100, 0);
}

static void rec_tcp_info(const char *label, int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	need_errno(!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), "TCP_INFO");
	rec(label, "state %u, unacked %u, sacked %u, retransmits %u, probes %u, lost %u",
	    info.tcpi_state, info.tcpi_unacked, info.tcpi_sacked, info.tcpi_retransmits,
	    info.tcpi_probes, info.tcpi_lost);
}

/* Counters of struct tcp_info after the members that the C library's header declares. */
struct info_tail {
	unsigned long long pacing, max_pacing, acked, received;
	unsigned int segs_out, segs_in, notsent, min_rtt, data_in, data_out;
	unsigned long long rate, busy, rwnd_limited, sndbuf_limited;
	unsigned int delivered, delivered_ce;
	unsigned long long sent;
};

static void rec_tcp_counters(const char *label, int fd)
{
	struct {
		struct tcp_info info;
		char more[200];
	} all;
	struct info_tail tail;
	socklen_t len = sizeof(all);

	memset(&all, 0, sizeof(all));
	need_errno(!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &all, &len), "TCP_INFO");
	memcpy(&tail, (char *)&all + 104, sizeof(tail));
	rec(label, "sent %llu, received %llu, not sent %u, data segments in %s", tail.sent,
	    tail.received, tail.notsent, tail.data_in ? "some" : "none");
}

static void tcp_info_by_state(void)
{
	struct addr where = server_addr(0);
	int fd = fresh(0), client = fresh(0), accepted;

	rec_tcp_info("fresh", client);
	need_errno(!bind(fd, &where.sa, where.len) && !listen(fd, 3), "listen");
	where = name_of(fd);
	rec_tcp_info("listening", fd);
	connect_to(client, &where);
	poll_for(fd, POLLIN, WAIT_MS);
	rec_tcp_info("one waits", fd);
	accepted = accept_from(fd);
	rec_tcp_info("none waits", fd);
	rec_tcp_info("connected", client);
	rec_tcp_counters("nothing sent", client);
	send_all(client, scratch, 5000);
	await_bytes(accepted, 5000);
	rec_tcp_counters("sent", client);
	rec_tcp_counters("received", accepted);
	shutdown(client, SHUT_WR);
	poll_for(accepted, POLLRDHUP, WAIT_MS);
	rec_tcp_info("peer shut down", accepted);
	shutdown(accepted, SHUT_WR);
	poll_for(client, POLLHUP, WAIT_MS);
}

static void rec_bind(const char *label, int fd, const struct addr *a)
{
	REC(label, bind(fd, &a->sa, a->len));
}

/* With IPV6_V6ONLY, an IPv6 wildcard leaves the port's IPv4 side to other sockets. */
static void v6_only(void)
{
	struct addr six = wildcard_addr(0), four, mapped;
	int fd = socket_for(AF_INET6, 0), other, both, client;

	if (set->family != AF_INET6)
		return;
	REC("set", setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 1 }, sizeof(int)));
	rec_bind("v6", fd, &six);
	six = name_of(fd);
	REC("set when bound", setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 0 }, sizeof(int)));
	rec_int("is", fd, IPPROTO_IPV6, IPV6_V6ONLY);
	REC("listen", listen(fd, 3));
	four = addr_make(AF_INET, wildcard_text(AF_INET), addr_port(&six));
	other = socket_for(AF_INET, 0);
	rec_bind("v4 on the same port", other, &four);
	REC("listen", listen(other, 3));
	both = socket_for(AF_INET6, 0);
	rec_bind("both on the same port", both, &six);
	client = socket_for(AF_INET, 0);
	four = addr_make(AF_INET, "127.0.0.1", addr_port(&six));
	REC("v4 client", connect(client, &four.sa, four.len));
	rec_events("at the v4 listener", poll_for(other, POLLIN, WAIT_MS));
	rec_events("not at the v6 one", poll_for(fd, POLLIN, 0));
	client = socket_for(AF_INET6, 0);
	six = addr_make(AF_INET6, "::1", addr_port(&six));
	REC("v6 client", connect(client, &six.sa, six.len));
	rec_events("at the v6 listener", poll_for(fd, POLLIN, WAIT_MS));
	close(other);
	client = socket_for(AF_INET, 0);
	REC("v4 client, nobody there", connect(client, &four.sa, four.len));
	client = socket_for(AF_INET6, 0);
	set_int(client, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	mapped = addr_make(AF_INET6, "::ffff:127.0.0.1", addr_port(&six));
	REC("mapped address, v6 only", connect(client, &mapped.sa, mapped.len));
	addr_set_port(&mapped, 0);
	rec_bind("mapped address, v6 only", client, &mapped);
}

/* Listeners that share a port share its connections. */
static void port_shared(void)
{
	enum { LISTENERS = 3, CLIENTS = 60 };
	struct addr where = server_addr(0);
	int fd[LISTENERS], got[LISTENERS] = { 0 }, i, j, sum = 0, served = 0;
	int clients[CLIENTS], late = fresh(0);

	if (!ports_can_be_shared())
		return;
	for (i = 0; i < LISTENERS; i++) {
		fd[i] = fresh(0);
		set_int(fd[i], SOL_SOCKET, SO_REUSEPORT, 1);
		REC("bind", bind(fd[i], &where.sa, where.len));
		where = name_of(fd[i]);
		REC("listen", listen(fd[i], CLIENTS));
		set_nonblock(fd[i], true);
	}
	rec_bind("without the option", late, &where);
	for (i = 0; i < CLIENTS; i++) {
		clients[i] = fresh(0);
		connect_to(clients[i], &where);
		send_all(clients[i], "x", 1);
	}
	for (j = 0; j < WAIT_MS && sum < CLIENTS; j++) {
		for (i = 0; i < LISTENERS; i++) {
			while (accept(fd[i], NULL, NULL) >= 0) {
				got[i]++;
				sum++;
			}
		}
		pause_ms(1);
	}
	for (i = 0; i < LISTENERS; i++)
		served += got[i] > 0;
	rec("accepted", "%d by %d", sum, served);
	close(fd[0]);
	close(fd[1]);
	connect_to(late, &where);
	rec_events("the last one has it all", poll_for(fd[2], POLLIN, WAIT_MS));
}

static void bound_to_device(void)
{
	bool lo = set == &addrsets[SET_LO4] || set == &addrsets[SET_LO6];
	const char *near = lo ? "lo" : "va", *far = lo ? "lo" : "vb";
	struct addr where;
	int fd = listener(4, &where), client = fresh(0), accepted;
	char name[16] = "";
	socklen_t len = sizeof(name);

	if (geteuid())
		return;
	REC("no such device", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "nonesuch", 8));
	REC("listener", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, far, strlen(far)));
	REC("client", setsockopt(client, SOL_SOCKET, SO_BINDTODEVICE, near, strlen(near)));
	REC("get", getsockopt(client, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	rec("name", "%s, %u bytes", name, len);
	REC("connect", connect(client, &where.sa, where.len));
	accepted = accept_from(fd);
	len = sizeof(name);
	REC("get", getsockopt(accepted, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	rec("accepted", "%s, %u bytes", name, len);
	send_all(client, "there", 5);
	rec_recv("data", accepted, 10, 0);
	close(client);
	close(accepted);
	client = fresh(0);
	REC("unbound client", connect(client, &where.sa, where.len));
	accept_from(fd);
}

/* Two listeners with one address do not conflict if they are bound to different devices. */
static void devices_apart(void)
{
	struct addr where = wildcard_addr(0);
	int one = fresh(0), two = fresh(0), three = fresh(0);

	if (geteuid() || set == &addrsets[SET_LO4] || set == &addrsets[SET_LO6])
		return;
	REC("one device", setsockopt(one, SOL_SOCKET, SO_BINDTODEVICE, "va", 2));
	REC("another device", setsockopt(two, SOL_SOCKET, SO_BINDTODEVICE, "vb", 2));
	rec_bind("one", one, &where);
	where = name_of(one);
	rec_bind("two", two, &where);
	rec_bind("any device", three, &where);
	REC("listen", listen(one, 4));
	REC("listen", listen(two, 4));
	where = server_addr(addr_port(&where));
	connect_to(three, &where);
	rec_events("by the server's device", poll_for(two, POLLIN, WAIT_MS));
	rec_events("not by the other", poll_for(one, POLLIN, 0));
}

static void cookies(void)
{
	struct pair p = pair_make();
	unsigned long long a = 0, b = 0, again = 0;
	socklen_t len = sizeof(a);

	REC("get", getsockopt(p.c, SOL_SOCKET, SO_COOKIE, &a, &len));
	REC("get", getsockopt(p.s, SOL_SOCKET, SO_COOKIE, &b, &len));
	REC("get", getsockopt(p.c, SOL_SOCKET, SO_COOKIE, &again, &len));
	rec_bool("one each", a && b && a != b);
	rec_bool("the same always", a == again);
}

static const struct scenario scenarios[] = {
	SCENARIO(options_tcp),
	SCENARIO(options_ip),
	SCENARIO(options_socket),
	SCENARIO(buffer_sizes),
	SCENARIO(options_defaults),
	SCENARIO(options_handed_on),
	SCENARIO(options_lengths),
	SCENARIO(cork_holds),
	SCENARIO(nodelay_small_writes),
	SCENARIO(peek_offset),
	SCENARIO(control_messages),
	SCENARIO(accept_deferred),
	SLOW_SCENARIO(accept_deferred_for_a_while),
	SLOW_SCENARIO(keepalive_answered),
	SLOW_SCENARIO(user_timeout_full),
	SCENARIO(not_sent_low_water),
	SCENARIO(tcp_info_by_state),
	SCENARIO(v6_only),
	SCENARIO(port_shared),
	SCENARIO(bound_to_device),
	SCENARIO(devices_apart),
	SCENARIO(cookies),
};

const struct scenario_list option_scenarios = SCENARIO_LIST(scenarios);
