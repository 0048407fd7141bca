// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of connections by both: peers, ways to wait, reasons to fall back.
 */
#include "policy.h"

static int connect_tcp_alone(void *arg)
{
	long long refused = counter("FellRefused"), connects = counter("PolicyConnects");
	struct addr where;
	int listening, c;

	by_names();
	listening = listener_of(TCP_ONLY, 4, &where);
	c = connected_as(BOTH_SIDE, &where);
	need_count("FellRefused", refused, 1);
	need_count("PolicyConnects", connects, 0);
	need_fell(&where, "connect", "the peer has no SDP listener");
	accept_and_talk(listening, c, BY_TCP);
	return EXIT_OK;
}

static int connect_sdp_alone(void *arg)
{
	long long connects = counter("PolicyConnects");
	struct addr where;
	char line[300];
	int listening, c;

	by_names();
	listening = listener_of(SDP_ONLY, 4, &where);
	c = connected_as(BOTH_SIDE, &where);
	accept_and_talk(listening, c, BY_SDP);
	need_count("PolicyConnects", connects, 1);
	need(!fell_line(addr_port(&where), line), "it fell back: %s", line);
	c = connected_as(SDP_SIDE, &where);
	accept_and_talk(listening, c, BY_SDP);
	need_count("PolicyConnects", connects, 2);
	return EXIT_OK;
}

static int connect_pair(void *arg)
{
	long long accepts = counter("PolicyAccepts");
	struct addr where;
	int listening;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	need_protocol(listening, BY_TCP, "the listener");
	accept_and_talk(listening, connected_as(BOTH_SIDE, &where), BY_SDP);
	accept_and_talk(listening, connected_as(SDP_SIDE, &where), BY_SDP);
	need_count("PolicyAccepts", accepts, 2);
	accept_and_talk(listening, connected_as(TCP_SIDE, &where), BY_TCP);
	need_count("PolicyAccepts", accepts, 2);
	return EXIT_OK;
}

/* The rule says what carries the connection, whatever the setting says. */
static int connect_by(void *arg)
{
	static const struct {
		const char *rules, *setting;
		bool datagrams;
	} by[] = {
		{ "any * both by ud", "rc\n", true },
		{ "listen * both; connect * sdp by ud", "rc\n", true },
		{ "listen * both; connect * both by auto", "rc\n", true },
		{ "any * both by rc", "ud\n", false },
		{ "any * both", "ud\n", true },
	};
	struct addr where;
	int listening;
	size_t i;

	setting_set("rewrite", 1);
	setting_set("fallback_ms", 20000);
	for (i = 0; i < ARRAY_SIZE(by); i++) {
		long long before = counter("DatagramsSent");

		need(setting_write("service", by[i].setting), "service: %s", by[i].setting);
		policy_set(by[i].rules);
		listening = listener_of(PAIR, 4, &where);
		close(accept_and_talk(listening, connected_as(BOTH_SIDE, &where), BY_SDP));
		close(listening);
		need((counter("DatagramsSent") > before) == by[i].datagrams,
		     "\"%s\": %lld datagrams", by[i].rules, counter("DatagramsSent") - before);
	}
	return EXIT_OK;
}

/* For an address without a route, a blocking and a non-blocking connect return what TCP returns. */
static int connect_no_route(void *arg)
{
	static const char *const names[] = { TCP_SIDE, BOTH_SIDE };
	bool v4 = set->family == AF_INET;
	struct addr away = addr_make(set->family, v4 ? "192.0.2.1" : "2001:db8::1", 9);
	int i, flags, fd;
	char line[300] = "";

	new_namespace();
	by_names();
	for (i = 0; i < 4; i++) {
		flags = i / 2 ? SOCK_NONBLOCK : 0;
		fd = stream(flags);
		need_connect(names[i % 2], fd, &away, ENETUNREACH,
			     flags ? "not waiting" : "waiting");
		need_count("FellRoute", 0, i / 2 + i % 2);
		need_protocol(fd, BY_TCP, "it");
		need(!get_int(fd, SOL_SOCKET, SO_ERROR), "there is an error, too");
		close(fd);
	}
	need(fell_line(addr_port(&away), line) && strstr(line, " no RDMA device on the route\n"),
	     "the line is \"%s\"", line);
	return EXIT_OK;
}

/* A socket that the policy makes SDP only never falls back. */
static int connect_only_sdp(void *arg)
{
	long long refused = counter("FellRefused");
	struct addr where;
	int fd, listening;

	by_names();
	listening = listener_of(TCP_ONLY, 4, &where);
	fd = stream(0);
	need(connect_as(SDP_SIDE, fd, &where) == ECONNREFUSED, "TCP was found");
	need_protocol(fd, BY_SDP, "the client");
	need_count("FellRefused", refused, 0);
	need(!poll_for(listening, POLLIN, quiet_ms()), "TCP was asked");
	return EXIT_OK;
}

/* @fd, which is bound, connects under the thread name @name and keeps its address and port. */
int connect_named(int fd, const char *name, int listening, const struct addr *where, int protocol)
{
	struct addr own = name_of(fd), is, peer;
	int s;

	need_connect(name, fd, where, 0, "connect");
	is = name_of(fd);
	need(is.len == own.len && !memcmp(&is.ss, &own.ss, own.len),
	     "by %s, protocol %d: port %u became %u", name, protocol, addr_port(&own),
	     addr_port(&is));
	s = accept_and_talk(listening, fd, protocol);
	peer = peer_of(s);
	need(addr_port(&peer) == addr_port(&own), "by %s, protocol %d: the peer sees port %u", name,
	     protocol, addr_port(&peer));
	return s;
}

/* Both ends have names before the connect, and the names stay. */
static int connect_bound(void *arg)
{
	enum kind kinds[] = { TCP_ONLY, SDP_ONLY, PAIR };
	struct addr where, own;
	int listening, c;
	size_t i;

	by_names();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		listening = listener_of(kinds[i], 4, &where);
		c = stream(0);
		own = client_addr(0);
		need_errno(!bind(c, &own.sa, own.len), "bind");
		close(connect_named(c, BOTH_SIDE, listening, &where, i ? BY_SDP : BY_TCP));
		close(c);
		close(listening);
	}
	return EXIT_OK;
}

const char *const way_names[WAYS] = { "epoll", "epoll edge", "epoll oneshot", "poll",
					     "select" };

__attribute__((format(printf, 2, 3)))
static void note(struct watch *w, const char *fmt, ...)
{
	size_t len = strlen(w->log);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->log + len, sizeof(w->log) - len, fmt, ap);
	va_end(ap);
}

void watch_begin(struct watch *w, enum waiting way, int fd)
{
	static const unsigned int modes[] = { 0, EPOLLET, EPOLLONESHOT };
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI };

	*w = (struct watch){ .way = way, .fd = fd, .ep = -1 };
	if (way > ONESHOT)
		return;
	e.events |= modes[way];
	w->ep = epoll_create1(0);
	need_errno(w->ep >= 0 && !epoll_ctl(w->ep, EPOLL_CTL_ADD, fd, &e), "epoll");
}

static void watch_again(struct watch *w)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI |
				 EPOLLONESHOT };

	if (w->way == ONESHOT)
		need_errno(!epoll_ctl(w->ep, EPOLL_CTL_MOD, w->fd, &e), "epoll");
}

static int select_all(int fd, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	fd_set in, out, more;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&more);
	FD_SET(fd, &in);
	FD_SET(fd, &out);
	FD_SET(fd, &more);
	if (select(fd + 1, &in, &out, &more, &tv) <= 0)
		return 0;
	return FD_ISSET(fd, &in) | FD_ISSET(fd, &out) << 1 | FD_ISSET(fd, &more) << 2;
}

int watch_for(struct watch *w, int ms)
{
	struct pollfd pfd = { .fd = w->fd, .events = POLLIN | POLLOUT | POLLRDHUP | POLLPRI };
	struct epoll_event e = { 0 };

	if (w->way == SELECT)
		return select_all(w->fd, ms);
	if (w->way == POLL)
		return poll(&pfd, 1, ms) == 1 ? pfd.revents : 0;
	return epoll_wait(w->ep, &e, 1, ms) == 1 ? (int)e.events : 0;
}

/*
 * Waits @ms for events and records them. With edge triggering only events that were not reported
 * before count, since further edges may come at any time.
 */
static void watch_note(struct watch *w, const char *what, int ms)
{
	long long end = now_ms() + ms;
	int events;

	do {
		events = watch_for(w, end > now_ms() ? end - now_ms() : 0);
	} while (w->way == EDGE && events && !(events & ~w->last));
	/* The error is reported a moment before the hang-up that comes with it. */
	if (w->way != SELECT && (events & (POLLERR | POLLHUP)) == POLLERR) {
		pause_ms(50);
		events |= watch_for(w, 0);
	}
	if (events)
		w->last = events;
	note(w, "%s %#x; ", what, events);
}

static void watch_connected(struct watch *w, int listening)
{
	char c;
	int s = accept_from(listening);

	w->last = 0;
	send_all(s, "x", 1);
	if (w->way != LEVEL && w->way != EDGE)
		need(poll_for(w->fd, POLLIN, WAIT_MS) & POLLIN, "no data");
	else
		await_bytes(w->fd, 1);
	watch_again(w);
	watch_note(w, "data", WAIT_MS);
	note(w, "recv %zd; ", recv(w->fd, &c, 1, 0));
	watch_again(w);
	w->last = 0;
	shutdown(s, SHUT_WR);
	need(poll_for(w->fd, POLLRDHUP, WAIT_MS) & POLLRDHUP, "no end");
	watch_note(w, "end", WAIT_MS);
	note(w, "recv %zd", recv(w->fd, &c, 1, 0));
	close(s);
}

/* Connects as @name, waits by @way, and records what the program sees. */
static void watch_connect(struct watch *w, enum waiting way, const char *name, int listening,
			  const struct addr *where)
{
	int error, fd;

	as(name);
	fd = stream(SOCK_NONBLOCK);
	watch_begin(w, way, fd);
	watch_note(w, "fresh", 0);
	watch_again(w);
	w->last = 0;
	error = connect_as(name, fd, where);
	note(w, "connect %s; ", errno_text(error));
	watch_note(w, "then", WAIT_MS);
	note(w, "SO_ERROR %s; ", errno_text(get_int(fd, SOL_SOCKET, SO_ERROR)));
	watch_note(w, "after", quiet_ms());
	watch_again(w);
	if (listening >= 0)
		watch_connected(w, listening);
	close(fd);
	close(w->ep);
}

/* A program that connects by both, or by SDP, sees what it would see with TCP. */
static int connect_watched(void *arg)
{
	enum waiting way = (enum waiting)(long)arg;
	struct watch tcp, both;
	struct addr where;
	bool fine = true;
	int listening;
	int kind;

	by_names();
	for (kind = 0; kind < KINDS; kind++) {
		int reference = listener_of(kind == NOBODY ? NOBODY : TCP_ONLY, 4, &where);

		watch_connect(&tcp, way, TCP_SIDE, reference, &where);
		close(reference);
		listening = listener_of(kind, 4, &where);
		watch_connect(&both, way, BOTH_SIDE, listening, &where);
		if (strcmp(tcp.log, both.log)) {
			printf("# %s, to %s:\n#  TCP:  %s\n#  both: %s\n", way_names[way],
			       kind_names[kind], tcp.log, both.log);
			fine = false;
		}
		close(listening);
	}
	return fine ? EXIT_OK : EXIT_FAILED;
}

/* Further connect() calls on a non-blocking socket return EALREADY and EISCONN, as with TCP. */
static int connect_asked_again(void *arg)
{
	struct silent s = silent_for(patient_ms());
	int c = connecting_to(&s.where), error;

	need_connect(BOTH_SIDE, c, &s.where, EALREADY, "the second");
	need(!poll_for(c, POLLOUT, 0), "ready before it is connected");
	need(send(c, "x", 1, MSG_NOSIGNAL) < 0 && errno == EAGAIN, "send: %s", errno_text(errno));
	need(recv(c, &c, 1, 0) < 0 && errno == EAGAIN, "recv: %s", errno_text(errno));
	need(poll_for(c, POLLOUT, WAIT_MS) == POLLOUT, "not connected");
	error = connect_as(BOTH_SIDE, c, &s.where);
	need(!error || error == EISCONN, "third: %s", errno_text(error));
	need_connect(BOTH_SIDE, c, &s.where, EISCONN, "the fourth");
	set_nonblock(c, false);
	accept_and_talk(s.tcp, c, BY_TCP);
	return EXIT_OK;
}

/*
 * The SDP listener's queue stays full. Each connect falls back to TCP after fallback_ms, because
 * the queue may have room at any time and so the failure is not remembered.
 */
static int connect_busy(void *arg)
{
	long long busy = counter("FellBusy"), remembered = counter("FellRemembered");
	int wait = 10 * quiet_ms(), c, i;
	struct silent s = silent_for(wait);
	long long start;

	for (i = 1; i <= 2; i++) {
		start = now_ms();
		c = connected_as(BOTH_SIDE, &s.where);
		need(now_ms() - start >= wait * 2 / 3, "after %lld ms", now_ms() - start);
		need_count("FellBusy", busy, i);
		need_count("FellRemembered", remembered, 0);
		need_fell(&s.where, "connect", "the peer's backlog stayed full");
		close(accept_and_talk(s.tcp, c, BY_TCP));
	}
	return EXIT_OK;
}

/* The peer also counts as busy for a connect with a shorter time limit of its own. */
static int connect_busy_own_limit(void *arg)
{
	long long busy = counter("FellBusy"), timeouts = counter("FellTimeout");
	struct silent s;
	int c;

	by_names();
	s = silent_peer();
	c = stream(0);
	set_int(c, IPPROTO_TCP, TCP_USER_TIMEOUT, 10 * quiet_ms());
	need_connect(BOTH_SIDE, c, &s.where, 0, "connect");
	need_count("FellTimeout", timeouts, 0);
	need_count("FellBusy", busy, 1);
	close(accept_and_talk(s.tcp, c, BY_TCP));
	return EXIT_OK;
}

/* A peer that was busy answers again: the next connect is made by SDP. */
static int connect_busy_no_more(void *arg)
{
	long long busy = counter("FellBusy");
	struct silent s = silent_for(patient_ms());
	int c = connected_as(BOTH_SIDE, &s.where), i;

	need_count("FellBusy", busy, 1);
	close(accept_and_talk(s.tcp, c, BY_TCP));
	setting_set("fallback_ms", 20000);
	for (i = 0; i < 2; i++)
		close(accept_from(s.sdp));
	pause_ms(quiet_ms());
	c = connecting_to(&s.where);
	/* Attempts that were given up may still be in the queue. */
	while (!poll_for(c, POLLOUT, 20))
		if (poll_for(s.sdp, POLLIN, 0))
			close(accept(s.sdp, NULL, NULL));
	need_protocol(c, BY_SDP, "the client");
	return EXIT_OK;
}

/*
 * Connects to an address that answers neither by SDP nor by TCP. The counter @name is @count once
 * it has fallen back.
 */
static void connect_nowhere(const struct addr *where, const char *name, long long count)
{
	int fd = connecting_to(where);

	await_counter(name, count);
	need_protocol(fd, BY_TCP, "it");
}

/* An unused address. The failure is remembered by address and port, for the time that is set. */
static int connect_no_host(void *arg)
{
	long long timeouts = counter("FellTimeout"), remembered = counter("FellRemembered");
	struct addr where = no_such_host(21500), other = no_such_host(21501);

	by_names();
	setting_set("fallback_ms", 200);
	setting_set("fallback_memory_ms", 600000);
	connect_nowhere(&where, "FellTimeout", timeouts + 1);
	need_count("FellRemembered", remembered, 0);
	connect_nowhere(&where, "FellRemembered", remembered + 1);
	connect_nowhere(&where, "FellRemembered", remembered + 2);
	setting_set("fallback_memory_ms", 50);
	connect_nowhere(&other, "FellTimeout", timeouts + 2);
	pause_ms(200);
	connect_nowhere(&other, "FellTimeout", timeouts + 3);
	setting_set("fallback_memory_ms", 0);
	other = no_such_host(21502);
	connect_nowhere(&other, "FellTimeout", timeouts + 4);
	connect_nowhere(&other, "FellTimeout", timeouts + 5);
	need_count("FellRemembered", remembered, 2);
	return EXIT_OK;
}

static void little_time(int fd)
{
	set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1);
}

static void one_device(int fd)
{
	need_errno(!setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "va", 2), "SO_BINDTODEVICE");
}

static void one_source(int fd)
{
	struct addr own = client_addr(0);

	need_errno(!bind(fd, &own.sa, own.len), "bind");
}

static void one_class(int fd)
{
	if (set->family == AF_INET)
		set_int(fd, IPPROTO_IP, IP_TOS, 0x20);
	else
		set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, 0x20);
}

/*
 * A failure of a socket with a shorter time limit or with routing options of its own is not
 * remembered for other sockets.
 */
static int connect_own_terms(void *arg)
{
	static void (*const terms[])(int) = { little_time, one_device, one_source, one_class };
	long long timeouts = counter("FellTimeout"), remembered = counter("FellRemembered");
	struct addr where = no_such_host(21510);
	size_t i;
	int fd;

	by_names();
	setting_set("fallback_memory_ms", 600000);
	for (i = 0; i < ARRAY_SIZE(terms); i++) {
		if (i)
			setting_set("fallback_ms", 200);
		fd = stream(SOCK_NONBLOCK);
		terms[i](fd);
		need_connect(BOTH_SIDE, fd, &where, EINPROGRESS, "connect");
		await_counter("FellTimeout", timeouts + i + 1);
		need_count("FellRemembered", remembered, 0);
		close(fd);
	}
	connect_nowhere(&where, "FellTimeout", timeouts + i + 1);
	need_count("FellRemembered", remembered, 0);
	connect_nowhere(&where, "FellRemembered", remembered + 1);
	return EXIT_OK;
}

/* With SO_SNDTIMEO, a connect() that takes longer returns, and the attempt continues. */
static int connect_send_timeout(void *arg)
{
	struct silent s = silent_for(patient_ms());
	int c = stream(0);

	set_timeout(c, SO_SNDTIMEO, quiet_ms());
	need_connect(BOTH_SIDE, c, &s.where, EINPROGRESS, "connect");
	need(!poll_for(c, POLLOUT, 0), "ready at once");
	need(poll_for(c, POLLOUT, WAIT_MS) == POLLOUT, "not connected");
	need(!get_int(c, SOL_SOCKET, SO_ERROR), "SO_ERROR");
	set_timeout(c, SO_SNDTIMEO, 0);
	accept_and_talk(s.tcp, c, BY_TCP);
	return EXIT_OK;
}

static void nothing(int sig)
{
}

/* A signal interrupts this process in @ms; @flags are those of sigaction(). */
void interrupt_in(int ms, int flags)
{
	struct sigaction action = { .sa_handler = nothing, .sa_flags = flags };
	struct itimerval soon = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	need_errno(!sigaction(SIGALRM, &action, NULL), "sigaction");
	need_errno(!setitimer(ITIMER_REAL, &soon, NULL), "setitimer");
}

/*
 * Connects with a time limit of 3 * @half, of which SDP may take 2 * @half; with @interrupted by a
 * signal after 2.5 * @half. Returns how long it took. A host that holds the processor makes any
 * call late, and its error may then be another one.
 */
static long long connect_within(int half, bool interrupted, const struct addr *where)
{
	long long start = now_ms(), took;
	int c = stream(0), error;

	set_timeout(c, SO_SNDTIMEO, 3 * half);
	if (interrupted)
		interrupt_in(10 * half / 4, 0);
	error = connect_as(BOTH_SIDE, c, where);
	took = now_ms() - start;
	need(took >= 4 * half || error == (interrupted ? EINTR : EINPROGRESS),
	     "connect: %s after %lld ms", errno_text(error), took);
	if (took < 4 * half)
		need_protocol(c, BY_TCP, "it");
	close(c);
	return took;
}

/* TCP gets only the time that SDP has left of the call's time limit (SO_SNDTIMEO). */
static int connect_one_deadline(void *arg)
{
	int half = slow_kernel() ? 700 : 250, i, tries;
	struct addr where;
	long long took;

	by_names();
	setting_set("fallback_ms", 2 * half);
	setting_set("fallback_memory_ms", 0);
	for (i = 0; i < 2; i++) {
		/* One limit after the other would take 5 * @half each time. */
		for (tries = 0, took = 4 * half; took >= 4 * half && tries < 5; tries++) {
			where = other_such_host(21600 + i, tries);
			took = connect_within(half, i, &where);
		}
		need(took < 4 * half, "connect %d took %lld ms", i, took);
		need(i || took > 5 * half / 2, "after %lld ms", took);
	}
	return EXIT_OK;
}

/*
 * A signal during connect() makes it return EINTR, and the attempt continues. With SA_RESTART the
 * program notices nothing.
 */
static int connect_interrupted(void *arg)
{
	struct silent s = silent_for(patient_ms());
	int c, restart;

	setting_set("fallback_memory_ms", 0);
	for (restart = 0; restart < 2; restart++) {
		c = stream(0);
		interrupt_in(quiet_ms(), restart ? SA_RESTART : 0);
		need_connect(BOTH_SIDE, c, &s.where, restart ? 0 : EINTR,
			     restart ? "with SA_RESTART" : "without SA_RESTART");
		need(poll_for(c, POLLOUT, WAIT_MS) == POLLOUT, "not connected");
		close(accept_and_talk(s.tcp, c, BY_TCP));
		close(c);
	}
	return EXIT_OK;
}

/* close() or shutdown() while SDP is tried ends the attempt. */
static int connect_given_up(void *arg)
{
	long users;
	struct silent s;
	int c, error, longer = patient_ms() + 3 * quiet_ms();

	await_none();
	s = silent_for(patient_ms());
	users = module_users();
	close(connecting_to(&s.where));
	need(!poll_for(s.tcp, POLLIN, longer), "a socket that is closed connects by TCP");
	c = connecting_to(&s.where);
	need_errno(!shutdown(c, SHUT_RDWR), "shutdown");
	need(poll_for(c, POLLOUT, WAIT_MS) & POLLHUP, "no end");
	error = get_int(c, SOL_SOCKET, SO_ERROR);
	need(error == ECONNRESET, "SO_ERROR: %s", errno_text(error));
	need(!poll_for(s.tcp, POLLIN, longer), "a socket that is shut down connects");
	close(c);
	while (module_users() > users)
		pause_ms(20);
	return EXIT_OK;
}

static void fast_open_connect(int fd)
{
	set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
}

/*
 * SDP has no TCP-MD5 signatures, so a socket that asks for them becomes TCP. Nobody answers here.
 */
static int connect_signed(void *arg)
{
	long long options = counter("FellOption");
	struct addr where;
	int c;

	by_names();
	listener_of(PAIR, 8, &where);
	c = stream(SOCK_NONBLOCK);
	signature(c);
	need_connect(BOTH_SIDE, c, &where, EINPROGRESS, "connect");
	poll_for(c, POLLOUT, quiet_ms());
	need_protocol(c, BY_TCP, "a socket with TCP_MD5SIG");
	need_count("FellOption", options, 1);
	return EXIT_OK;
}

/* A socket that the policy makes SDP only and that has an option only TCP has fails to connect. */
static int connect_option_only_sdp(void *arg)
{
	long long options = counter("FellOption");
	struct addr where;
	int fd, error;

	by_names();
	listener_of(PAIR, 8, &where);
	fd = stream(0);
	filter(fd);
	need_connect(SDP_SIDE, fd, &where, EOPNOTSUPP, "connect");
	close(fd);
	as(SDP_SIDE);
	fd = bound();
	filter(fd);
	error = listen(fd, 4) ? errno : 0;
	need(error == EOPNOTSUPP, "listen: %s", errno_text(error));
	need_count("FellOption", options, 0);
	as(BOTH_SIDE);
	fd = bound();
	where = name_of(fd);
	filter(fd);
	need_errno(!listen(fd, 4), "listen by both");
	need_count("FellOption", options, 1);
	need_fell(&where, "listen", "an option that only TCP has is set");
	close(accept_and_talk(fd, connected_as(TCP_SIDE, &where), BY_TCP));
	return EXIT_OK;
}

/* An option that only TCP has makes the socket TCP. Where the rule allows SDP only, it fails. */
static int connect_option(void *arg)
{
	static void (*const sets[])(int) = { fast_open_connect, filter, ip_options };
	long long options = counter("FellOption");
	struct addr where;
	int listening, c, s;
	char data[5];
	size_t i;

	by_names();
	listening = listener_of(TCP_ONLY, 8, &where);
	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		c = stream(0);
		sets[i](c);
		need(!connect_as(BOTH_SIDE, c, &where), "connect with option %zu: %s", i,
		     errno_text(errno));
		need_count("FellOption", options, i + 1);
		need_fell(&where, "connect", "an option that only TCP has is set");
		send_all(c, "hello", 5);
		s = accept_from(listening);
		recv_all(s, data, 5);
		close(both_talk(c, s, BY_TCP));
		close(c);
	}
	return EXIT_OK;
}

/* Without a cookie, as here, MSG_FASTOPEN connects first; a non-blocking call does only that. */
static int send_at_once(int fd, const struct addr *where, bool waits)
{
	ssize_t n = sendto(fd, "hello", 5, MSG_FASTOPEN | (waits ? 0 : MSG_DONTWAIT), &where->sa,
			   where->len);

	if (waits || n >= 0)
		return n == 5 ? 0 : errno;
	if (errno != EINPROGRESS)
		return errno;
	need(poll_for(fd, POLLOUT, 2 * WAIT_MS) & POLLOUT, "not connected");
	need_errno(!get_int(fd, SOL_SOCKET, SO_ERROR), "SO_ERROR");
	send_all(fd, "hello", 5);
	return 0;
}

/*
 * MSG_FASTOPEN, blocking and non-blocking: the connection is by the protocol that the rules say,
 * and by TCP where there is no SDP listener.
 */
static int connect_fast_open(void *arg)
{
	static const struct {
		const char *name;
		enum kind to;
		int protocol;
	} rows[] = {
		{ TCP_SIDE, PAIR, BY_TCP }, { BOTH_SIDE, PAIR, BY_SDP }, { SDP_SIDE, PAIR, BY_SDP },
		{ BOTH_SIDE, TCP_ONLY, BY_TCP }, { BOTH_SIDE, SDP_ONLY, BY_SDP },
	};
	int listening, c, s, error;
	struct addr where;
	char data[5];
	size_t i;

	by_names();
	for (i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		long long refused = counter("FellRefused");
		bool falls = rows[i / 2].to == TCP_ONLY;

		listening = listener_of(rows[i / 2].to, 8, &where);
		as(rows[i / 2].name);
		c = stream(0);
		error = send_at_once(c, &where, i % 2);
		need(!error, "row %zu: %s", i / 2, errno_text(error));
		s = accept_from(listening);
		recv_all(s, data, 5);
		need(!memcmp(data, "hello", 5), "other data");
		close(both_talk(c, s, rows[i / 2].protocol));
		need_count("FellRefused", refused, falls);
		close(c);
		close(listening);
	}
	listener_of(NOBODY, 1, &where);
	as(SDP_SIDE);
	c = stream(0);
	error = send_at_once(c, &where, true);
	need(error == ECONNREFUSED, "to nobody: %s", errno_text(error));
	need_protocol(c, BY_SDP, "the client");
	return EXIT_OK;
}

/* A wrong address gives the same error as with TCP, and the socket stays undecided. */
static int connect_wrong(void *arg)
{
	struct addr where, wrong;
	int listening, c;

	by_names();
	listening = listener_of(PAIR, 4, &where);
	c = stream(0);
	wrong = where;
	wrong.len = 3;
	need_connect(BOTH_SIDE, c, &wrong, EINVAL, "to a short address");
	wrong = where;
	wrong.sa.sa_family = AF_UNIX;
	need_connect(BOTH_SIDE, c, &wrong, EAFNOSUPPORT, "to another family");
	need(connect(c, NULL, 20) && errno == EFAULT, "no address: %s", errno_text(errno));
	need_connect(BOTH_SIDE, c, &where, 0, "then");
	accept_and_talk(listening, c, BY_SDP);
	return EXIT_OK;
}

/* AF_UNSPEC ends a connection or an attempt; the next connect may have another result. */
static int connect_again(void *arg)
{
	struct addr nobody, where, none = { .sa.sa_family = AF_UNSPEC, .len = sizeof(none.sa) };
	int listening, c;

	by_names();
	listener_of(NOBODY, 1, &nobody);
	listening = listener_of(PAIR, 4, &where);
	c = stream(0);
	need_connect(BOTH_SIDE, c, &none, 0, "AF_UNSPEC on a new socket");
	need_connect(BOTH_SIDE, c, &nobody, ECONNREFUSED, "to nobody");
	need_connect(BOTH_SIDE, c, &where, 0, "then to somebody");
	/* The socket has become TCP for the rest of its life. */
	accept_and_talk(listening, c, BY_TCP);
	need_connect(BOTH_SIDE, c, &none, 0, "AF_UNSPEC on a connection");
	return EXIT_OK;
}

#define WATCHED(name, way) \
	{ "connect_watched_" name, connect_watched, 60, TWO_SETS, true, (void *)(long)(way) }

static const struct test tests[] = {
	CASE(connect_tcp_alone, 30, ALL_SETS),
	CASE(connect_sdp_alone, 30, ALL_SETS),
	CASE(connect_pair, 30, ALL_SETS),
	CASE(connect_by, 60, RC_SETS),
	CASE(connect_no_route, 30, TWO_SETS),
	CASE(connect_only_sdp, 30, ALL_SETS),
	CASE(connect_bound, 30, ALL_SETS),
	WATCHED("epoll", LEVEL),
	WATCHED("epoll_edge", EDGE),
	WATCHED("epoll_oneshot", ONESHOT),
	WATCHED("poll", POLL),
	WATCHED("select", SELECT),
	CASE(connect_asked_again, 30, TWO_SETS),
	CASE(connect_busy, 30, TWO_SETS),
	CASE(connect_busy_own_limit, 30, TWO_SETS),
	CASE(connect_busy_no_more, 30, TWO_SETS),
	CASE(connect_no_host, 30, RC_SETS),
	CASE(connect_own_terms, 30, RC_SETS),
	CASE(connect_send_timeout, 30, TWO_SETS),
	CASE(connect_one_deadline, 30, RC_SETS),
	CASE(connect_interrupted, 30, TWO_SETS),
	CASE(connect_given_up, 60, TWO_SETS),
	CASE(connect_option, 30, TWO_SETS),
	CASE(connect_signed, 30, TWO_SETS),
	CASE(connect_option_only_sdp, 30, TWO_SETS),
	CASE(connect_fast_open, 30, TWO_SETS),
	CASE(connect_wrong, 30, TWO_SETS),
	CASE(connect_again, 30, TWO_SETS),
};

const struct test_list connect_tests = TEST_LIST(tests);
