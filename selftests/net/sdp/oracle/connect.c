// SPDX-License-Identifier: GPL-2.0
/* Oracle scenarios: listen(), accept(), connect(). */
#include "oracle.h"
#include "setting.h"

#define NOTHING_MS	150	/* how long to watch that nothing happens */

static long rec_connect(const char *label, int fd, const struct addr *where)
{
	return REC(label, connect(fd, &where->sa, where->len));
}

static void listen_unbound(void)
{
	struct addr where;
	int fd = fresh(0), client = fresh(0);

	REC("listen", listen(fd, 1));
	if (set->family == AF_INET)
		rec_sockname("listener", fd);
	where = name_of(fd);
	rec_bool("has a port", addr_port(&where));
	where = server_addr(addr_port(&where));
	rec_connect("connect", client, &where);
	rec_sockname("client", client);
}

static void listen_again(void)
{
	struct addr where;
	int fd = listener(1, &where);
	struct pair p = pair_make();

	REC("again", listen(fd, 5));
	REC("negative backlog", listen(fd, -1));
	REC("huge backlog", listen(fd, 1 << 30));
	rec_int("SO_ACCEPTCONN", fd, SOL_SOCKET, SO_ACCEPTCONN);
	rec_sockname("name", fd);
	REC("on a connected socket", listen(p.c, 1));
	REC("on an accepted socket", listen(p.s, 1));
}

/*
 * A socket with IP_FREEBIND may be bound to a foreign address, but cannot connect from it. With
 * IPv6, TCP sends a SYN that gets no answer, so the result of connect() is not compared there.
 */
static void foreign_source(void)
{
	struct addr where, foreign;
	int server = listener(1, &where), fd = fresh(SOCK_NONBLOCK);

	foreign = addr_make(set->family, set->family == AF_INET ? UNUSED_V4 : UNUSED_V6, 0);
	set_int(fd, IPPROTO_IP, IP_FREEBIND, 1);
	REC("bind", bind(fd, &foreign.sa, foreign.len));
	if (set->family == AF_INET)
		rec_connect("connect", fd, &where);
	else
		connect(fd, &where.sa, where.len);
	rec_events("nobody comes in", poll_for(server, POLLIN, NOTHING_MS));
	if (set->family == AF_INET) {
		rec_mask("the socket", fd);
		rec_so_error("error", fd);
	}
}

/* A second listen() changes the length of the accept queue. */
static void listen_more(void)
{
	struct stuck s = stuck_make(SOCK_NONBLOCK);
	int late = fresh(SOCK_NONBLOCK);

	REC("more room", listen(s.listening, 1));
	rec_connect("connect", s.fd, &s.where);
	rec_mask_at("fits", s.fd, POLLOUT);
	await_queue(s.listening, 2);
	rec_connect("one more", late, &s.where);
	rec_events("does not fit", poll_for(late, POLLOUT, NOTHING_MS));
}

static void backlog(int room)
{
	struct addr where;
	int fd = listener(room, &where), clients[4], i, accepted;

	for (i = 0; i < room + 2; i++) {
		clients[i] = fresh(SOCK_NONBLOCK);
		rec_connect("connect", clients[i], &where);
		if (i <= room) {
			rec_mask_at("in the queue", clients[i], POLLOUT);
			await_queue(fd, i + 1);
		}
	}
	rec_events("beyond the queue", poll_for(clients[room + 1], POLLOUT, NOTHING_MS));
	rec_connect("beyond the queue, again", clients[room + 1], &where);
	rec_mask("beyond the queue, mask", clients[room + 1]);

	/* One accept() makes room, and the last client is connected after some time. */
	accepted = accept_from(fd);
	rec_peername("accepted", accepted);
	rec_mask_at("room made", clients[room + 1], POLLOUT);
	rec_so_error("room made, error", clients[room + 1]);
	/* A busy host may admit the clients out of order, so the order is not compared here. */
	for (i = 1; i < room + 2; i++)
		send_all(clients[i], "a", 1);
	for (i = 1; i < room + 2; i++) {
		accepted = accept_from(fd);
		recv_all(accepted, scratch, 1);
	}
	set_nonblock(fd, true);
	REC("queue empty", accept(fd, NULL, NULL));
}

static void backlog_0(void)
{
	backlog(0);
}

static void backlog_1(void)
{
	backlog(1);
}

static void accept_wrong_state(void)
{
	struct pair p = pair_make();
	struct addr a = server_addr(0);
	int fd = fresh(0);

	REC_FD("fresh", accept(fd, NULL, NULL));
	REC("bind", bind(fd, &a.sa, a.len));
	REC_FD("bound", accept(fd, NULL, NULL));
	REC_FD("connected", accept(p.c, NULL, NULL));
	REC_FD("accepted", accept(p.s, NULL, NULL));
	close(fd);
	REC_FD("closed", accept(fd, NULL, NULL));
	REC_FD("not a socket", accept(0, NULL, NULL));
}

static void accept_flags(void)
{
	static const int flags[] = { 0, SOCK_NONBLOCK, SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC };
	struct addr where;
	int fd = listener(8, &where), client, accepted;
	size_t i;

	set_nonblock(fd, true);		/* the accepted sockets do not inherit this */
	REC("nothing yet", accept(fd, NULL, NULL));
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		client = fresh(0);
		connect_to(client, &where);
		poll_for(fd, POLLIN, WAIT_MS);
		accepted = REC_FD("accept4", accept4(fd, NULL, NULL, flags[i]));
		rec("O_NONBLOCK", "%d", !!(fcntl(accepted, F_GETFL) & O_NONBLOCK));
		rec("FD_CLOEXEC", "%d", !!(fcntl(accepted, F_GETFD) & FD_CLOEXEC));
	}
	REC("unknown flag", accept4(fd, NULL, NULL, 0x100000));
	REC("empty queue", accept(fd, NULL, NULL));
}

static void accept_timeout(void)
{
	int fd = listener(4, NULL);
	long long start = now_ms();

	set_timeout(fd, SO_RCVTIMEO, 60);
	REC("accept", accept(fd, NULL, NULL));
	rec_bool("waited", took_at_least(start, 60));
}

static void accept_address(void)
{
	static const int lens[] = { 128, 28, 16, 8, 1, 0, -1 };
	struct addr where;
	int fd = listener(8, &where);
	char label[40];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		int client = fresh(0), accepted;
		struct addr a = { .len = lens[i] };

		connect_to(client, &where);
		poll_for(fd, POLLIN, WAIT_MS);
		snprintf(label, sizeof(label), "accept, %d bytes", lens[i]);
		accepted = REC_FD(label, accept(fd, &a.sa, &a.len));
		rec("length", "%d", (int)a.len);
		if (lens[i] >= 28)
			rec_addr("address", &a, a.len);
		if (accepted < 0)
			rec_mask_at("client of a failed accept", client, POLLIN);
	}
}

static void accept_in_order(void)
{
	struct addr where;
	int fd = listener(8, &where), clients[5], i;

	for (i = 0; i < 5; i++) {
		clients[i] = fresh(0);
		connect_to(clients[i], &where);
		rec_sockname("client", clients[i]);
	}
	for (i = 0; i < 5; i++)
		rec_peername("accepted", accept_from(fd));
}

/* A client can connect, send and close before the server calls accept(). */
static void accept_after_close(void)
{
	struct addr where;
	int fd = listener(4, &where), client = fresh(0), accepted;

	connect_to(client, &where);
	send_all(client, "early", 5);
	close(client);
	accepted = accept_from(fd);
	rec_mask_at("mask", accepted, POLLRDHUP);
	await_bytes(accepted, 5);
	rec_recv("data", accepted, 100, 0);
	rec_recv("end", accepted, 100, 0);
}

/*
 * The address of a bound socket that does not listen. The bind keeps others from taking the port.
 */
static struct addr nobody(void)
{
	struct addr a = server_addr(0);
	int fd = fresh(0);

	need_errno(!bind(fd, &a.sa, a.len), "bind");
	return name_of(fd);
}

static void connect_refused(void)
{
	struct addr bad = nobody(), good;
	int fd = fresh(0);

	listener(4, &good);
	rec_connect("connect", fd, &bad);
	rec_so_error("error", fd);
	rec_mask("mask", fd);
	rec_peername("peer", fd);
	REC("recv", recv(fd, scratch, 1, MSG_DONTWAIT));
	REC("send", send(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL));
	rec_connect("again", fd, &bad);
	rec_connect("to a listener", fd, &good);
	rec_mask("connected", fd);
}

static void connect_refused_nonblock(void)
{
	struct addr bad = nobody(), good;
	int fd = fresh(SOCK_NONBLOCK);

	listener(4, &good);
	rec_connect("connect", fd, &bad);
	rec_mask_at("mask", fd, POLLERR);
	rec_so_error("error", fd);
	rec_so_error("error, again", fd);
	rec_mask("error taken", fd);
	REC("recv", recv(fd, scratch, 1, 0));
	REC("send", send(fd, "x", 1, MSG_NOSIGNAL));
	rec_peername("peer", fd);
	close(fd);

	fd = fresh(SOCK_NONBLOCK);
	rec_connect("second socket", fd, &bad);
	poll_for(fd, POLLOUT, WAIT_MS);
	rec_connect("connect fetches the error", fd, &bad);
	rec_connect("next attempt", fd, &good);
	rec_mask_at("connected", fd, POLLOUT);
	rec_so_error("connected, error", fd);
	close(fd);

	fd = fresh(SOCK_NONBLOCK);
	rec_connect("third socket", fd, &bad);
	poll_for(fd, POLLOUT, WAIT_MS);
	REC("recv fetches the error", recv(fd, scratch, 1, 0));
	REC("recv then", recv(fd, scratch, 1, 0));
	close(fd);

	fd = fresh(SOCK_NONBLOCK);
	rec_connect("fourth socket", fd, &bad);
	poll_for(fd, POLLOUT, WAIT_MS);
	REC("send fetches the error", send(fd, "x", 1, MSG_NOSIGNAL));
	REC("send then", send(fd, "x", 1, MSG_NOSIGNAL));
}

static void connect_in_progress(void)
{
	struct addr where;
	int fd = listener(4, &where), client = fresh(SOCK_NONBLOCK);

	rec_connect("connect", client, &where);
	rec_mask_at("mask", client, POLLOUT);
	rec_so_error("error", client);
	rec_peername("peer", client);
	rec_connect("second connect", client, &where);
	rec_connect("third connect", client, &where);
	REC("send", send(client, "x", 1, 0));
	rec_recv("recv", accept_from(fd), 10, 0);
}

static void connect_pending_calls(void)
{
	struct stuck s = stuck_make(SOCK_NONBLOCK);
	struct addr own;

	rec_connect("connect", s.fd, &s.where);
	rec_connect("again", s.fd, &s.where);
	rec_mask("mask", s.fd);
	rec_peername("peer", s.fd);
	own = name_of(s.fd);
	rec_bool("has a port", addr_port(&own));
	REC("send", send(s.fd, "x", 1, MSG_NOSIGNAL));
	REC("recv", recv(s.fd, scratch, 1, 0));
	REC("listen", listen(s.fd, 1));
	REC("bind", bind(s.fd, &own.sa, own.len));
	REC("accept", accept(s.fd, NULL, NULL));
	rec("FIONREAD", "%d", queued_bytes(s.fd));
	rec("SIOCOUTQ", "%d", unsent_bytes(s.fd));
	rec_so_error("error", s.fd);
}

static void connect_pending_shutdown(void)
{
	struct stuck s = stuck_make(SOCK_NONBLOCK);

	rec_connect("connect", s.fd, &s.where);
	REC("shutdown", shutdown(s.fd, SHUT_WR));
	rec_mask("mask", s.fd);
	rec_so_error("error", s.fd);
	rec_peername("peer", s.fd);
	close(s.filler);
	accept_from(s.listening);
	rec_connect("connect", s.fd, &s.where);
	rec_mask_at("connected", s.fd, POLLOUT);
}

static void connect_pending_unspec(void)
{
	struct stuck s = stuck_make(SOCK_NONBLOCK);
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	rec_connect("connect", s.fd, &s.where);
	REC("disconnect", connect(s.fd, &none, sizeof(none)));
	rec_mask("mask", s.fd);
	rec_so_error("error", s.fd);
	accept_from(s.listening);
	rec_connect("connect", s.fd, &s.where);
	rec_mask_at("connected", s.fd, POLLOUT);
}

static void connect_interrupted(void)
{
	struct stuck s = stuck_make(0);

	ticks_start(on_tick, 0);
	rec_connect("connect", s.fd, &s.where);
	ticks_stop();
	rec_mask("mask", s.fd);
	set_nonblock(s.fd, true);
	rec_connect("again, non-blocking", s.fd, &s.where);
	set_nonblock(s.fd, false);
	accept_from(s.listening);
	rec_connect("again, blocking, with room", s.fd, &s.where);
	rec_connect("once more", s.fd, &s.where);
}

static void connect_send_timeout(void)
{
	struct stuck s = stuck_make(0);
	long long start = now_ms();

	set_timeout(s.fd, SO_SNDTIMEO, 60);
	rec_connect("connect", s.fd, &s.where);
	rec_bool("waited", took_at_least(start, 60));
	rec_connect("again", s.fd, &s.where);
}

/* TCP has a socket option for this timeout, AF_SDP a setting, which the parent process restores. */
static void connect_patience(int fd)
{
	if (use_sdp)
		setting_set("connect_timeout_ms", 700);
	else
		set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 700);
}

static void connect_timed_out(void)
{
	struct stuck s = stuck_make(SOCK_NONBLOCK);
	int blocking = fresh(0);

	connect_patience(s.fd);
	connect_patience(blocking);
	rec_connect("non-blocking", s.fd, &s.where);
	rec_connect("blocking", blocking, &s.where);
	rec_mask_at("blocking, mask", blocking, POLLHUP);
	rec_so_error("blocking, error", blocking);
	rec_mask_at("non-blocking, mask", s.fd, POLLERR);
	rec_so_error("non-blocking, error", s.fd);
	rec_mask("non-blocking, error taken", s.fd);
	accept_from(s.listening);
	rec_connect("blocking, with room", blocking, &s.where);
}

static void connect_connected(void)
{
	struct addr where;
	int fd = listener(4, &where);
	struct pair p = pair_make();

	rec_connect("connected", p.c, &where);
	rec_connect("accepted", p.s, &where);
	rec_connect("listening", fd, &where);
	set_nonblock(p.c, true);
	rec_connect("connected, non-blocking", p.c, &where);
	rec_mask("still connected", p.c);
	rec_mask("no connection came", fd);
}

static void connect_unspec(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct pair p = pair_make();
	struct addr where;
	int fd = fresh(0);

	REC("fresh", connect(fd, &none, sizeof(none)));
	REC("connected", connect(p.c, &none, sizeof(none)));
	rec_mask("mask", p.c);
	rec_peername("peer", p.c);
	rec_mask_at("other end", p.s, POLLERR);
	rec_recv("other end", p.s, 10, 0);
	rec_recv("other end, again", p.s, 10, 0);
	fd = listener(4, &where);
	rec_connect("connect anew", p.c, &where);
	rec_mask("connected anew", p.c);
	/* TCP's last packet of the handshake may still be in flight; it must find the listener. */
	need(poll_for(fd, POLLIN, WAIT_MS), "no connection to accept");
	REC("listener", connect(fd, &none, sizeof(none)));
	rec_mask("former listener", fd);
	rec_mask_at("its client", p.c, POLLIN);
	rec_recv("its client", p.c, 10, 0);
}

static void connect_unspec_keeps_binding(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct addr where, own = client_addr(0);
	int fd = listener(4, &where), client = fresh(0);

	REC("bind", bind(client, &own.sa, own.len));
	rec_sockname("bound", client);
	connect_to(client, &where);
	rec_sockname("connected", client);
	REC("disconnect", connect(client, &none, sizeof(none)));
	rec_sockname("disconnected", client);
	close(fd);
}

static void connect_addresses(void)
{
	static const socklen_t lens[] = { 0, 1, 2, 8, 15, 129, -1 };
	struct addr where, a;
	int fd = fresh(0);
	char label[40];
	size_t i;

	listener(4, &where);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		snprintf(label, sizeof(label), "length %d", (int)lens[i]);
		REC(label, connect(fd, &where.sa, lens[i]));
	}
	a = where;
	a.sa.sa_family = AF_UNIX;
	rec_connect("AF_UNIX", fd, &a);
	a = server_addr(0);
	rec_connect("port 0", fd, &a);
	if (set->family == AF_INET) {
		a = addr_make(AF_INET, "255.255.255.255", 9);
		rec_connect("broadcast", fd, &a);
		a = addr_make(AF_INET, "224.0.0.1", 9);
		rec_connect("multicast", fd, &a);
	}
	rec_connect("still usable", fd, &where);
}

/* A bound socket has an address family and keeps it. */
static void connect_other_family(void)
{
	struct addr own = client_addr(0), other = addr_make(AF_INET6, "::1", 9);
	int fd = fresh(0);

	if (set->family != AF_INET)
		return;
	REC("bind", bind(fd, &own.sa, own.len));
	rec_connect("connect", fd, &other);
	rec_sockname("name", fd);
	listener(4, &other);
	rec_connect("still usable", fd, &other);
}

/* A wildcard as the destination address means this host. */
static void connect_wildcard(void)
{
	struct addr any = wildcard_addr(0), where;
	int fd, client = fresh(0);

	if (strncmp(set->name, "lo", 2))
		return;
	fd = listener_on(&any, 4, &where);
	any = wildcard_addr(addr_port(&where));
	rec_connect("connect", client, &any);
	rec_names("client", client);
	rec_sockname("accepted", accept_from(fd));
}

/* Any address of 127.0.0.0/8 is this host, and a client may bind to one that it chooses. */
static void connect_other_loopback(void)
{
	struct addr where, own = addr_make(AF_INET, "127.1.2.3", 0);
	struct addr to = addr_make(AF_INET, "127.4.5.6", 0);
	int fd, client = fresh(0), accepted;

	if (strcmp(set->name, "lo4"))
		return;
	fd = listener_on(&to, 4, NULL);
	where = name_of(fd);
	REC("bind", bind(client, &own.sa, own.len));
	rec_connect("connect", client, &where);
	accepted = accept_from(fd);
	rec_names("client", client);
	rec_names("accepted", accepted);
	where = server_addr(addr_port(&where));
	client = fresh(0);
	rec_connect("not the listener's address", client, &where);
}

static const struct scenario scenarios[] = {
	SCENARIO(listen_unbound),
	SCENARIO(foreign_source),
	SCENARIO(listen_again),
	SCENARIO(listen_more),
	SLOW_SCENARIO(backlog_0),
	SCENARIO(backlog_1),
	SCENARIO(accept_wrong_state),
	SCENARIO(accept_flags),
	SCENARIO(accept_timeout),
	SCENARIO(accept_address),
	SCENARIO(accept_in_order),
	SCENARIO(accept_after_close),
	SCENARIO(connect_refused),
	SCENARIO(connect_refused_nonblock),
	SCENARIO(connect_in_progress),
	SCENARIO(connect_pending_calls),
	SCENARIO(connect_pending_shutdown),
	SCENARIO(connect_pending_unspec),
	SLOW_SCENARIO(connect_interrupted),
	SCENARIO(connect_send_timeout),
	SLOW_SCENARIO(connect_timed_out),
	SCENARIO(connect_connected),
	SCENARIO(connect_unspec),
	SCENARIO(connect_unspec_keeps_binding),
	SCENARIO(connect_addresses),
	SCENARIO(connect_other_family),
	SCENARIO(connect_wildcard),
	SCENARIO(connect_other_loopback),
};

const struct scenario_list connect_scenarios = SCENARIO_LIST(scenarios);
