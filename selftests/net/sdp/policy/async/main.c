// SPDX-License-Identifier: GPL-2.0
/*
 * The policy (J2) and requests of io_uring and aio on sockets that are still undecided.
 *
 * The requests complete when it is decided whether the socket becomes SDP or TCP, with the results
 * that TCP gives.
 */
#include "policy_common.h"
#include "uring.h"
#include <sys/mount.h>
#include <sys/syscall.h>

/* A way to poll by an asynchronous request. */
struct poller {
	const char *name;
	void (*begin)(void);
	void (*arm)(int fd, int events);
	/* Returns the events that are reported within @ms, or 0. */
	int (*result)(int ms);
	void (*cancel)(void);
};

static void uring_cancel(void)
{
	struct done cqe = { 0 };
	int n;

	io_uring_prep_cancel64(request(2), 1, 0);
	submit();
	for (n = 0; n < 2; n++)
		need(completion(&cqe, WAIT_MS), "a request is not given up");
}

/* The event of a cancelled poll is reported only by io_getevents(). */
static void aio_cancel(void)
{
	struct timespec ts = { .tv_sec = WAIT_MS / 1000 };
	struct io_event event;

	syscall(SYS_io_cancel, aio, &aio_poll, &event);
	need(syscall(SYS_io_getevents, aio, 1, 1, &event, &ts) == 1, "a poll is not given up");
}

static const struct poller pollers[] = {
	{ "io_uring", ring_open, uring_arm, uring_result, uring_cancel },
	{ "aio", aio_begin, aio_arm, aio_result, aio_cancel },
};

/* Returns the final events of a poll on a connect by @name, for comparison with TCP. */
static int poll_of(const struct poller *p, const char *name, const struct addr *where)
{
	int fd = stream(SOCK_NONBLOCK), error, events;

	error = connect_as(name, fd, where);
	need(!error || error == EINPROGRESS || error == ECONNREFUSED, "connect: %s",
	     errno_text(error));
	p->arm(fd, POLLIN | POLLOUT | POLLRDHUP);
	events = p->result(2 * WAIT_MS);
	/* The error is reported a moment before the hang-up that comes with it. */
	if (events & POLLERR)
		events |= poll_for(fd, POLLIN | POLLOUT | POLLRDHUP, quiet_ms());
	close(fd);
	return events;
}

static int polled_as_tcp(void *arg)
{
	const struct poller *p = arg;
	struct addr where;
	int kind, tcp, both;

	by_names();
	p->begin();
	for (kind = 0; kind < KINDS; kind++) {
		int reference = listener_of(kind == NOBODY ? NOBODY : TCP_ONLY, 4, &where);

		tcp = poll_of(p, TCP_SIDE, &where);
		close(reference);
		reference = listener_of(kind, 4, &where);
		both = poll_of(p, BOTH_SIDE, &where);
		close(reference);
		need(tcp == both, "to %s: %#x, and by TCP %#x", kind_names[kind], both, tcp);
	}
	return EXIT_OK;
}

/* A pending poll completes when SDP is given up and TCP has connected, and not before. */
static int polled_falls_back(void *arg)
{
	const struct poller *p = arg;
	struct silent s = silent_for(10 * quiet_ms());
	int c, events;

	p->begin();
	c = connecting_to(&s.where);
	p->arm(c, POLLIN | POLLOUT);
	need(!p->result(quiet_ms()), "ready while SDP is tried");
	events = p->result(2 * WAIT_MS);
	need(events == POLLOUT, "it says %#x", events);
	set_nonblock(c, false);
	close(accept_and_talk(s.tcp, c, BY_TCP));
	p->arm(c, POLLIN);
	events = p->result(WAIT_MS);
	need(events & POLLIN, "at the end it says %#x", events);
	return EXIT_OK;
}

/* A pending poll completes by SDP when the SDP listener has room. */
static int polled_by_sdp(void *arg)
{
	const struct poller *p = arg;
	struct silent s = silent_for(60000);
	int c, events = 0, tries;

	p->begin();
	c = connecting_to(&s.where);
	p->arm(c, POLLIN | POLLOUT);
	need(!p->result(quiet_ms()), "ready while SDP is tried");
	/* Accept the connections in front of this one in the SDP listener's queue. */
	for (tries = 0; !events && tries < 1000; tries++) {
		if (poll_for(s.sdp, POLLIN, 0))
			close(accept(s.sdp, NULL, NULL));
		events = p->result(20);
	}
	need(events & POLLOUT, "it says %#x", events);
	need_protocol(c, BY_SDP, "the client");
	return EXIT_OK;
}

/*
 * A poll is cancelled, or ended by shutdown(), while SDP is tried. Afterwards it holds no reference
 * to the module.
 */
static int polled_given_up(void *arg)
{
	const struct poller *p = arg;
	struct silent s;
	long users;
	int c, i;

	by_names();
	p->begin();
	setting_set("fallback_ms", 60000);
	for (i = 0; i < 2; i++) {
		await_none();
		users = module_users();
		s = silent_peer();
		c = connecting_to(&s.where);
		p->arm(c, POLLIN | POLLOUT);
		need(!p->result(quiet_ms()), "ready while SDP is tried");
		if (i) {
			need_errno(!shutdown(c, SHUT_RDWR), "shutdown");
			need(p->result(WAIT_MS) & (POLLHUP | POLLERR), "no end");
		} else {
			p->cancel();
		}
		close(c);
		close(s.queued[0]);
		close(s.queued[1]);
		close(s.sdp);
		close(s.tcp);
		await_users(users);
	}
	return EXIT_OK;
}

/* One multishot poll request from before the connect until there is data. */
static int polled_all_along(void *arg)
{
	struct done cqe = { 0 };
	struct silent peer = silent_for(5 * quiet_ms());
	int c = stream(SOCK_NONBLOCK), seen = 0, s;

	ring_open();
	io_uring_prep_poll_multishot(request(1), c, POLLIN | POLLOUT);
	submit();
	need(completion(&cqe, WAIT_MS) && cqe.res == (POLLOUT | POLLHUP) &&
	     cqe.flags & IORING_CQE_F_MORE, "of a new socket: %#x", cqe.res);
	connect_as(BOTH_SIDE, c, &peer.where);
	while (!(seen & POLLIN)) {
		need(completion(&cqe, WAIT_MS), "nothing more after %#x", seen);
		need(cqe.res > 0 && !(cqe.res & (POLLERR | POLLHUP)), "it says %#x", cqe.res);
		need(cqe.flags & IORING_CQE_F_MORE, "it has ended");
		if (!seen) {
			need(cqe.res == POLLOUT, "at first it says %#x", cqe.res);
			s = accept_from(peer.tcp);
			send_all(s, "x", 1);
		}
		seen |= cqe.res;
	}
	need_protocol(c, BY_TCP, "the client");
	return EXIT_OK;
}

/* The number of epoll wake-ups that a kprobe has counted, or -1. */
static long epoll_wakes(void)
{
	FILE *f = fopen("/sys/kernel/tracing/kprobe_profile", "r");
	char name[64];
	long hits, n = -1;

	while (f && fscanf(f, "%63s %ld %*d", name, &hits) == 2)
		if (!strcmp(name, "sdp_test_epoll"))
			n = hits;
	if (f)
		fclose(f);
	return n;
}

static bool probe_write(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_APPEND);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

#define PROBE	"/sys/kernel/tracing/events/kprobes/sdp_test_epoll/enable"

static bool probe_begin(void)
{
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	return probe_write("/sys/kernel/tracing/kprobe_events",
			   "p:sdp_test_epoll ep_poll_callback\n") && probe_write(PROBE, "1");
}

static void probe_end(void)
{
	probe_write(PROBE, "0");
	probe_write("/sys/kernel/tracing/kprobe_events", "-:sdp_test_epoll\n");
}

/*
 * A socket that epoll watches since before SDP replaced TCP. An event that epoll watches for is
 * counted as a wake-up; another event wakes nobody. Both hold after EPOLL_CTL_MOD, too.
 */
static int watched_before(void *arg)
{
	struct epoll_event e = { .events = EPOLLIN };
	int ep = epoll_create1(0), c, s, listening;
	long long issued, skipped;
	struct addr where;
	long hits, sent;

	by_names();
	listening = listener_of(SDP_ONLY, 4, &where);
	if (!probe_begin())
		return EXIT_SKIPPED;
	as(BOTH_SIDE);
	c = stream(0);
	set_int(c, SOL_SOCKET, SO_SNDBUF, 16384);
	need_errno(!epoll_ctl(ep, EPOLL_CTL_ADD, c, &e), "epoll");
	need(!connect_as(BOTH_SIDE, c, &where), "connect: %s", errno_text(errno));
	s = accept_from(listening);
	need_protocol(c, BY_SDP, "the client");
	await_ends_rest(c, s);
	while (epoll_wait(ep, &e, 1, 0) > 0)
		need(!(e.events & EPOLLIN), "readable without data");

	/* Room appears while epoll watches for data only. */
	issued = counter("WakeWriteIssued");
	skipped = counter("WakeWriteSkipped");
	hits = epoll_wakes();
	sent = fill_to_rest(c, s);
	drain(s, sent);
	await_ends_rest(c, s);
	while (counter("WakeWriteSkipped") == skipped)
		pause_ms(1);
	need_count("WakeWriteIssued", issued, 0);
	need(epoll_wakes() == hits, "room woke one who watches for data, %ld times",
	     epoll_wakes() - hits);

	issued = counter("WakeReadIssued");
	send_all(s, "x", 1);
	need(epoll_wait(ep, &e, 1, WAIT_MS) == 1 && e.events == EPOLLIN, "no event for data");
	need(epoll_wakes() > hits, "the probe does not count");
	while (counter("WakeReadIssued") == issued)
		pause_ms(1);
	drain(c, 1);

	sent = fill_to_rest(c, s);
	e.events = EPOLLOUT;
	need_errno(!epoll_ctl(ep, EPOLL_CTL_MOD, c, &e), "EPOLL_CTL_MOD");
	need(!epoll_wait(ep, &e, 1, 0), "writable while full");
	drain(s, sent);
	need(epoll_wait(ep, &e, 1, WAIT_MS) == 1 && e.events == EPOLLOUT, "no event for room");
	probe_end();
	return EXIT_OK;
}

/* connect, receive and send requests on a socket that becomes SDP or TCP. */
static int requests(void *arg)
{
	static const enum kind kinds[] = { PAIR, TCP_ONLY, SDP_ONLY };
	int listening, c, s, protocol, n;
	struct done cqe = { 0 };
	char in[6] = "", data[6];
	struct addr where;
	size_t i;

	by_names();
	ring_open();
	for (i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
		listening = listener_of(kinds[i / 2], 4, &where);
		as(BOTH_SIDE);
		c = stream(i % 2 ? 0 : SOCK_NONBLOCK);
		io_uring_prep_connect(request(1), c, &where.sa, where.len);
		cqe = complete(1);
		need(!cqe.res, "connect %zu: %s", i, errno_text(-cqe.res));
		set_nonblock(c, false);
		io_uring_prep_recv(request(2), c, in, 5, MSG_WAITALL);
		submit();
		io_uring_prep_send(request(3), c, "hello", 5, 0);
		submit();
		s = accept_from(listening);
		recv_all(s, data, 5);
		send_all(s, data, 5);
		for (n = 0; n < 2; n++) {
			need(completion(&cqe, WAIT_MS), "request %d does not complete", n + 2);
			need(cqe.res == 5, "request %lu: %d", cqe.id, cqe.res);
		}
		need(!memcmp(in, "hello", 5), "other data comes back");
		protocol = kinds[i / 2] == TCP_ONLY ? BY_TCP : BY_SDP;
		close(both_talk(c, s, protocol));
		close(c);
		close(listening);
	}
	return EXIT_OK;
}

/* A receive request that was submitted while SDP is tried gets data that comes by TCP later. */
static int receives_early(void *arg)
{
	struct silent peer = silent_for(5 * quiet_ms());
	struct done cqe = { 0 };
	char in[6] = "";
	int c, s;

	ring_open();
	c = connecting_to(&peer.where);
	set_nonblock(c, false);
	io_uring_prep_recv(request(1), c, in, 5, MSG_WAITALL);
	submit();
	need(!completion(&cqe, quiet_ms()), "it completes while SDP is tried");
	s = accept_from(peer.tcp);
	send_all(s, "hello", 5);
	need(completion(&cqe, WAIT_MS) && cqe.res == 5 && !memcmp(in, "hello", 5),
	     "it completes with %d", cqe.res);
	close(both_talk(c, s, BY_TCP));
	return EXIT_OK;
}

/* One accept request for each client of a listener by both, by SDP or by TCP. */
static int accepts(void *arg)
{
	static const char *const names[] = { SDP_SIDE, TCP_SIDE, BOTH_SIDE, TCP_SIDE };
	struct done cqe = { 0 };
	struct addr where;
	int listening, c;
	size_t i;

	by_names();
	ring_open();
	listening = listener_of(PAIR, 8, &where);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		io_uring_prep_accept(request(i), listening, NULL, NULL, 0);
		submit();
		need(!completion(&cqe, i ? 0 : quiet_ms()), "somebody comes too early");
		c = connected_as(names[i], &where);
		need(completion(&cqe, WAIT_MS) && cqe.res >= 0, "accept of one by %s: %d", names[i],
		     cqe.res);
		close(both_talk(c, cqe.res, strcmp(names[i], TCP_SIDE) ? BY_SDP : BY_TCP));
		close(c);
	}
	return EXIT_OK;
}

/*
 * One multishot accept request accepts all waiting connections of both kinds, though no later
 * connection wakes it.
 */
static int accepts_all(void *arg)
{
	enum { EACH = 3 };
	int listening, n, by[2] = { 0 };
	struct done cqe = { 0 };
	struct addr where;

	by_names();
	ring_open();
	listening = listener_of(PAIR, 2 * EACH, &where);
	connected_as(TCP_SIDE, &where);
	need(poll_for(listening, POLLIN, WAIT_MS) & POLLIN, "none to accept");
	for (n = 0; n < EACH; n++)
		connected_as(SDP_SIDE, &where);
	/* The last messages of the handshakes have arrived as well, so no wake-up is pending. */
	pause_ms(quiet_ms());
	io_uring_prep_multishot_accept(request(1), listening, NULL, NULL, 0);
	submit();
	for (n = 0; n < EACH + 1; n++) {
		need(completion(&cqe, WAIT_MS), "%d of %d are accepted", n, EACH + 1);
		need(cqe.res >= 0, "accept: %s", errno_text(-cqe.res));
		by[protocol_of(cqe.res) == BY_SDP]++;
		close(cqe.res);
	}
	need(by[0] == 1 && by[1] == EACH, "%d by TCP, %d by SDP", by[0], by[1]);
	return EXIT_OK;
}

#define POLLED(body, name, which) \
	{ #body "_" name, body, 60, TWO_SETS, true, (void *)&pollers[which] }
#define BY_BOTH(body)	POLLED(body, "uring", 0), POLLED(body, "aio", 1)
#define BOTH_SETS(body)	{ #body, body, 60, TWO_SETS, true, NULL }

static const struct test tests[] = {
	BY_BOTH(polled_as_tcp),
	BY_BOTH(polled_falls_back),
	BY_BOTH(polled_by_sdp),
	BY_BOTH(polled_given_up),
	BOTH_SETS(polled_all_along),
	BOTH_SETS(watched_before),
	BOTH_SETS(requests),
	BOTH_SETS(receives_early),
	BOTH_SETS(accepts),
	BOTH_SETS(accepts_all),
};

TEST_MAIN(tests)
