// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that come and go while the policy changes.
 *
 * It has the listeners, the clients and the history of policies, and it checks whether the result
 * of each connection agrees with the policies that were in force meanwhile.
 */
#include "load.h"

struct eras eras;
struct seen seen;
struct load load;
struct plan plan;
struct run run;

static const char *const door_names[] = { "at-pair", "at-tcp", "at-sdp", "at-own" };

static const struct held *held_in(long era)
{
	unsigned int x = era * 2654435761u;

	return &eras.held[eras.in_turn ? era % eras.kinds : (x >> 16) % eras.kinds];
}

/* Begins an era: sets its policy and the switch. */
void era_begin(long era)
{
	const struct held *h = held_in(era);

	atomic_store(&eras.begun, era);
	if (h->text)
		policy_set("%s", h->text);
	setting_set("rewrite", h->rewrite);
	atomic_store(&eras.done, era);
}

/* The eras of which one was in force when a socket connected or listened. */
struct span {
	long first, last;
};

static bool may_be(const struct span *s, enum doors door, int protocol)
{
	long era;

	for (era = s->first; era <= s->last; era++)
		if (held_in(era)->by[door] == protocol)
			return true;
	return false;
}

static bool may_listen(const struct span *s, enum kind kind)
{
	long era;

	for (era = s->first; era <= s->last; era++)
		if (held_in(era)->listens == kind)
			return true;
	return false;
}

static const char *way(int protocol)
{
	return protocol == BY_SDP ? "SDP" : protocol == BY_TCP ? "TCP" : "something else";
}

static bool door_enter(enum doors door)
{
	atomic_fetch_add(&load.guests[door], 1);
	if (load.open[door])
		return true;
	atomic_fetch_sub(&load.guests[door], 1);
	return false;
}

/*
 * Opens a listener. For the one by SDP only, TCP's port is kept as well, so that no client's own
 * listener gets it.
 */
void door_open(enum doors door)
{
	int fd;

	if (door == AT_SDP)
		load.kept = bound_like_sdp(&fd, &load.where[door]);
	else
		fd = listener_of(door == AT_PAIR ? PAIR : TCP_ONLY, 128, &load.where[door]);
	if (door == AT_SDP)
		need_errno(!listen(fd, 128), "listen");
	set_nonblock(fd, true);
	load.fd[door] = fd;
	load.open[door] = true;
}

static void await_left(atomic_int *people, const char *who, enum doors door)
{
	long long end = now_ms() + 1000 * patience(30);

	while (*people) {
		need(now_ms() < end, "%s: %d %s are still there", door_names[door], *people, who);
		pause_ms(1);
	}
}

void door_close(enum doors door)
{
	int fd;

	load.open[door] = false;
	await_left(&load.guests[door], "guests", door);
	fd = atomic_exchange(&load.fd[door], -1);
	await_left(&load.servers[door], "servers", door);
	close(fd);
	if (door == AT_SDP)
		close(load.kept);
}

/* A client's request: it sends @len bytes of the pattern from @at and gets as many back. */
struct order {
	unsigned int len, at, protocol;
};

static void read_pattern(int fd, long at, long len)
{
	unsigned char data[8192];

	while (len) {
		ssize_t n = recv(fd, data, len < (long)sizeof(data) ? len : (long)sizeof(data), 0);

		need_errno(n >= 0, "recv");
		need(n, "the stream ends, and %ld bytes are missing", len);
		pattern_check(at, data, n);
		at += n;
		len -= n;
	}
}

static void patient(int fd)
{
	set_nonblock(fd, false);
	set_timeout(fd, SO_RCVTIMEO, 3 * WAIT_MS);
	set_timeout(fd, SO_SNDTIMEO, 3 * WAIT_MS);
}

/* Serves an accepted socket: checks its protocol, takes an order and answers it. */
static void serve(int fd, enum doors door)
{
	int protocol = door == AT_SDP ? BY_SDP : protocol_of(fd);
	struct order o;

	patient(fd);
	recv_all(fd, &o, sizeof(o));
	need((int)o.protocol == protocol, "%s: by %s at one end, and by %s at the other",
	     door_names[door], way(o.protocol), way(protocol));
	read_pattern(fd, o.at, o.len);
	pattern_write(fd, o.at + 1, o.len);
	need(recv(fd, &o, 1, 0) == 0, "no end: %s", errno_text(errno));
	if (door == AT_PAIR && protocol == BY_SDP)
		seen.accepted_sdp++;
}

static void serve_one(enum doors door, int listening)
{
	int fd;

	poll_for(listening, POLLIN, 20);
	fd = accept(listening, NULL, NULL);
	need(fd >= 0 || errno == EAGAIN, "%s: accept: %s", door_names[door], errno_text(errno));
	if (fd < 0)
		return;
	serve(fd, door);
	close(fd);
}

static void *server(void *arg)
{
	enum doors door = (enum doors)(long)arg;
	int listening;

	while (!load.served) {
		load.servers[door]++;
		listening = load.fd[door];
		if (listening >= 0)
			serve_one(door, listening);
		load.servers[door]--;
		if (listening < 0)
			pause_ms(1);
	}
	return NULL;
}

/* Sends an order and reads the answer. Most orders are short. */
static void place_order(int fd, unsigned int *seed, int protocol)
{
	unsigned int most = next_random(seed) % 16 ? 6000 : 100000;
	struct order o = { .len = random_up_to(seed, most), .protocol = protocol };

	o.at = next_random(seed) % PATTERN_PERIOD;
	send_all(fd, &o, sizeof(o));
	pattern_write(fd, o.at, o.len);
	read_pattern(fd, o.at + 1, o.len);
	seen.bytes += o.len;
}

/*
 * Connects, blocking or non-blocking. @s->first is the era in which @fd was created; sets @s->last.
 */
static void connect_some_way(int fd, enum doors door, const struct addr *where, bool waits,
			     struct span *s)
{
	int error = connect(fd, &where->sa, where->len) ? errno : 0;

	s->last = eras.begun;
	if (!waits && error == EINPROGRESS) {
		need(poll_for(fd, POLLOUT, 3 * WAIT_MS) & POLLOUT, "%s: no connection in time",
		     door_names[door]);
		error = get_int(fd, SOL_SOCKET, SO_ERROR);
	}
	need(!error, "%s: connect, under policies %ld to %ld: %s", door_names[door], s->first,
	     s->last, errno_text(error));
}

static void count_fall(const struct span *s)
{
	bool may = false, must = true;
	long era;

	for (era = s->first; era <= s->last; era++) {
		may |= held_in(era)->falls;
		must &= held_in(era)->falls;
	}
	seen.fell_least += must;
	seen.fell_most += may;
}

static void count_connection(const struct span *s, int protocol)
{
	seen.connections++;
	seen.sure += s->first == s->last;
	if (protocol == BY_SDP)
		seen.by_sdp++;
	else
		seen.by_tcp++;
}

static void visit(enum doors door, unsigned int *seed)
{
	bool waits = next_random(seed) % 2;
	struct span s = { .first = eras.done };
	struct addr own = client_addr(0);
	int fd, protocol;

	as(door_names[door]);
	fd = stream(waits ? 0 : SOCK_NONBLOCK);
	if (next_random(seed) % 4 == 0)
		need_errno(!bind(fd, &own.sa, own.len), "bind");
	connect_some_way(fd, door, &load.where[door], waits, &s);
	protocol = protocol_of(fd);
	need(may_be(&s, door, protocol), "%s: by %s, which no policy from %ld to %ld says",
	     door_names[door], way(protocol), s.first, s.last);
	if (door == AT_TCP)
		count_fall(&s);
	count_connection(&s, protocol);
	patient(fd);
	place_order(fd, seed, protocol);
	close(fd);
}

/*
 * Sends data from one end and reads it at the other. It is so little that the connection can hold
 * it: the same thread reads it afterwards.
 */
static void tell(int from, int to, unsigned int *seed)
{
	long at = next_random(seed) % PATTERN_PERIOD, len = random_up_to(seed, 3000);

	pattern_write(from, at, len);
	read_pattern(to, at, len);
}

/*
 * Listens on a socket of the client's own and connects to it by both. The protocol of the listener
 * determines that of the connection. The two ends may have been made under different policies.
 */
static void visit_oneself(unsigned int *seed)
{
	struct span s = { .first = eras.done }, c;
	int listening, fd, other, protocol, listens;
	enum kind kind;
	struct addr where;

	as(door_names[AT_OWN]);
	listening = bound();
	where = name_of(listening);
	need_errno(!listen(listening, 4), "listen");
	s.last = eras.begun;
	listens = protocol_of(listening);
	c.first = eras.done;
	fd = stream(0);
	connect_some_way(fd, AT_OWN, &where, true, &c);
	protocol = protocol_of(fd);
	kind = listens == BY_SDP ? SDP_ONLY : protocol == BY_SDP ? PAIR : TCP_ONLY;
	need(may_listen(&s, kind), "it listens by %s, which no policy from %ld to %ld says",
	     kind_names[kind], s.first, s.last);
	need(poll_for(listening, POLLIN, WAIT_MS), "by %s to a listener by %s: nobody comes",
	     way(protocol), kind_names[kind]);
	other = accept_from(listening);
	need(protocol_of(other) == protocol, "by %s at one end, and by %s at the other",
	     way(protocol), way(protocol_of(other)));
	tell(fd, other, seed);
	tell(other, fd, seed);
	seen.listened_sdp += kind != TCP_ONLY;
	seen.accepted_sdp += kind == PAIR;
	seen.fell_least += protocol == BY_TCP;
	seen.fell_most += protocol == BY_TCP;
	count_connection(&c, protocol);
	close(fd);
	close(other);
	close(listening);
}

static void *client(void *arg)
{
	unsigned int seed = (unsigned int)(long)arg + 5;
	int i = 0;

	while (plan.rounds ? i < plan.rounds : !load.over) {
		enum doors door = next_random(&seed) % (AT_OWN + 1);

		if (!(plan.doors & DOOR(door)))
			continue;
		i++;
		if (door == AT_OWN) {
			visit_oneself(&seed);
		} else if (door_enter(door)) {
			visit(door, &seed);
			load.guests[door]--;
		}
	}
	return NULL;
}

/* Opens the doors and starts the clients. */
void load_begin(const struct held *held, unsigned int kinds)
{
	int i, door;

	eras.held = held;
	eras.kinds = kinds;
	pattern_make();
	by_names();
	/* A fallback must not be caused by a machine that stalls for a second. */
	if (!plan.devices_go)
		setting_set("fallback_ms", WAIT_MS);
	for (door = 0; door < DOORS; door++) {
		load.fd[door] = -1;
		if (plan.doors & DOOR(door))
			door_open(door);
	}
	run.connects = counter("PolicyConnects");
	run.accepts = counter("PolicyAccepts");
	run.listens = counter("PolicyListens");
	run.refused = counter("FellRefused");
	run.fell = all_fells();
	era_begin(0);
	for (door = 0; door < DOORS; door++)
		for (i = 0; i < SERVERS && plan.doors & DOOR(door); i++)
			run.servers[run.servers_n++] = start_thread(server, (void *)(long)door);
	for (i = 0; i < plan.clients; i++)
		run.clients[i] = start_thread(client, (void *)(long)i);
}

bool load_goes_on(void)
{
	return seen.connections < (long)plan.clients * plan.rounds;
}

/*
 * The counters agree with what the clients have seen. While no devices are removed, the only reason
 * for a fallback is a missing listener.
 */
static void need_counters(void)
{
	long long fell = all_fells() - run.fell;

	need_count("PolicyConnects", run.connects, seen.by_sdp);
	need_count("PolicyAccepts", run.accepts, seen.accepted_sdp);
	need_count("PolicyListens", run.listens, seen.listened_sdp);
	if (!plan.devices_go)
		need_count("FellRefused", run.refused, fell);
	need(fell >= seen.fell_least && fell <= seen.fell_most,
	     "%lld fell back, and it should be %ld to %ld", fell, seen.fell_least, seen.fell_most);
}

/* Waits for the clients to finish their plan, or stops them now if there is no plan. */
void load_stop(void)
{
	int i, door;

	if (!plan.rounds)
		load.over = true;
	for (i = 0; i < plan.clients; i++)
		pthread_join(run.clients[i], NULL);
	load.served = true;
	for (i = 0; i < run.servers_n; i++)
		pthread_join(run.servers[i], NULL);
	for (door = 0; door < DOORS; door++)
		if (load.open[door])
			door_close(door);
	printf("# %ld connections, %ld by SDP; %ld under one policy from begin to end; %ld KiB\n",
	       seen.connections, seen.by_sdp, seen.sure, seen.bytes / 1024);
}

void load_end(void)
{
	load_stop();
	need_counters();
}
