// SPDX-License-Identifier: GPL-2.0
/*
 * Readiness: poll, select and epoll in all modes report every change, and wake nobody else.
 *
 * They report each change that somebody waits for, however it races with the begin of the wait. A
 * change that nobody waits for costs no wake-up, as the counters in /proc/net/sdpstat show
 * (requirements F1-F3).
 *
 * A lost wake-up shows only while nothing else wakes the sleeper. So these tests proceed in steps,
 * and no step sends anything before the last one was seen. Every wait has a deadline of WAIT_MS,
 * and missing it is a failure.
 */
#include "cases.h"
#include "observe.h"
#include "waking.h"
#include <semaphore.h>
#include <stdatomic.h>

#define SMALL_BUFFER	16384

/* Data to send, and a receive buffer. */
static char block[65536];

static int epoll_of(int fd, unsigned int events)
{
	struct epoll_event e = { .events = events };
	int ep = epoll_create1(0);

	need_errno(ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), "epoll");
	return ep;
}

static void epoll_change(int ep, int fd, unsigned int events)
{
	struct epoll_event e = { .events = events };

	need_errno(!epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e), "EPOLL_CTL_MOD");
}

/* Reads all data that is there and returns its length. Sets *@eof at the end of the stream. */
static long take_all(int fd, bool *eof)
{
	long sum = 0;
	ssize_t n;

	while ((n = recv(fd, block, sizeof(block), MSG_DONTWAIT)) > 0)
		sum += n;
	need(!n || errno == EAGAIN, "recv: %s", errno_text(errno));
	if (!n && eof)
		*eof = true;
	return sum;
}

static void await_count(atomic_long *count, long want, const char *who)
{
	long long end = now_ms() + WAIT_MS;

	while (atomic_load(count) < want) {
		need(now_ms() < end, "%s stands at %ld of %ld bytes: a wake-up was lost", who,
		     atomic_load(count), want);
		sched_yield();
	}
}

static pthread_t thread_start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	need(!pthread_create(&thread, NULL, body, arg), "pthread_create");
	return thread;
}

/* Level-triggered: the socket is readable exactly as long as a byte is left. */
static int epoll_level(void *arg)
{
	struct pair p = pair_make();
	int ep = epoll_of(p.s, EPOLLIN), round;
	unsigned int seed = 1;

	for (round = 0; round < scaled(300); round++) {
		long left = random_up_to(&seed, 5000);

		need(!epoll_for(ep, 0), "round %d: readable without data", round);
		send_all(p.c, block, left);
		while (left) {
			ssize_t n;

			need(epoll_for(ep, WAIT_MS) == EPOLLIN, "round %d: %ld bytes left, no news",
			     round, left);
			n = recv(p.s, block, random_up_to(&seed, 2000), MSG_DONTWAIT);
			need_errno(n > 0, "recv after an event");
			left -= n;
		}
	}
	return EXIT_OK;
}

struct waiter {
	int fd;
	atomic_long *count;		/* bytes that have passed, of all waiters */
	atomic_ulong *sum;		/* sum of these bytes, in any order */
	long quota;			/* of a writer: bytes to send */
	bool *ended;
};

static void *edge_reader(void *arg)
{
	struct waiter *w = arg;
	int ep = epoll_of(w->fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
	bool eof = false;

	while (!eof) {
		need(epoll_for(ep, WAIT_MS), "no edge");
		atomic_fetch_add(w->count, take_all(w->fd, &eof));
	}
	return NULL;
}

/* Edge-triggered: data that arrives between the last EAGAIN and the wait is reported. */
static int epoll_edge_read(void *arg)
{
	struct pair p = pair_make();
	atomic_long count = 0;
	struct waiter w = { .fd = p.s, .count = &count };
	pthread_t thread = thread_start(edge_reader, &w);
	unsigned int seed = 2;
	long total = 0;
	int round;

	for (round = 0; round < scaled(2000); round++) {
		long n = random_up_to(&seed, round % 8 ? 64 : 4000);

		send_all(p.c, block, n);
		total += n;
		if (round % 4 == 1)
			continue;	/* two in a row: the second comes in any reader state */
		await_count(&count, total, "the reader");
	}
	await_count(&count, total, "the reader");
	shutdown(p.c, SHUT_WR);
	pthread_join(thread, NULL);
	return EXIT_OK;
}

static void *drain_forever(void *arg)
{
	struct waiter *w = arg;
	unsigned int seed = 3;
	ssize_t n;

	while ((n = recv(w->fd, block, random_up_to(&seed, 20000), 0)) > 0)
		atomic_fetch_add(w->count, n);
	need_errno(!n, "recv");
	return NULL;
}

static int epoll_edge_write(void *arg)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	atomic_long count = 0;
	struct waiter w = { .fd = p.s, .count = &count };
	int ep = epoll_of(p.c, EPOLLOUT | EPOLLET);
	pthread_t thread = thread_start(drain_forever, &w);
	long total = 0;

	while (total < scaled(4 << 20)) {
		need(epoll_for(ep, WAIT_MS) == EPOLLOUT, "no edge after %ld bytes, %ld of it read",
		     total, atomic_load(&count));
		total += send_until_full(p.c);
	}
	await_count(&count, total, "the reader");
	shutdown(p.c, SHUT_WR);
	pthread_join(thread, NULL);
	return EXIT_OK;
}

/*
 * An accepted socket reports what happens later, but not once more that it is connected, as with
 * TCP. The time window for such a late event is short, so the test is repeated often.
 */
static int epoll_edge_accepted(void *arg)
{
	int i, rounds = scaled(400), listening;
	struct addr where;

	listening = listener(1, &where);
	for (i = 0; i < rounds; i++) {
		int c = fresh(SOCK_NONBLOCK), s, ep;

		connect(c, &where.sa, where.len);
		s = accept_from(listening);
		ep = epoll_of(s, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
		need(epoll_for(ep, WAIT_MS) & EPOLLOUT, "round %d: not writable", i);
		need(!epoll_for(ep, 3), "round %d: told twice that it is writable", i);
		close(ep);
		close(s);
		close(c);
	}
	return EXIT_OK;
}

/* One event each time the socket is armed; an event that is already there is reported at once. */
static int epoll_oneshot(void *arg)
{
	struct pair p = pair_make();
	int ep = epoll_of(p.s, EPOLLIN | EPOLLONESHOT), round;
	unsigned int seed = 4;

	for (round = 0; round < scaled(60); round++) {
		long n = random_up_to(&seed, 3000);

		send_all(p.c, block, n);
		need(epoll_for(ep, WAIT_MS) == EPOLLIN, "round %d: no event", round);
		send_all(p.c, block, 1);
		need(await_bytes(p.s, n + 1) == n + 1, "round %d: data missing", round);
		need(!epoll_for(ep, 0), "round %d: a second event from one arming", round);
		if (round & 1) {
			epoll_change(ep, p.s, EPOLLIN | EPOLLONESHOT);
			need(epoll_for(ep, WAIT_MS) == EPOLLIN, "round %d: armed late", round);
		}
		take_all(p.s, NULL);
		epoll_change(ep, p.s, EPOLLIN | EPOLLONESHOT);
	}
	return EXIT_OK;
}

struct helper {
	sem_t go;
	int fd;
	atomic_long done;
};

/* Sends a byte each time it is told to. */
static void *sends_bytes(void *arg)
{
	struct helper *h = arg;

	for (;;) {
		sem_wait(&h->go);
		if (send(h->fd, "x", 1, MSG_NOSIGNAL) != 1)
			return NULL;
		atomic_fetch_add(&h->done, 1);
	}
}

/* A byte arrives while the socket is armed: before, during or after EPOLL_CTL_MOD. */
static int epoll_arming_race(void *arg)
{
	struct pair p = pair_make();
	struct helper h = { .fd = p.c };
	int ep = epoll_of(p.s, 0), round;
	unsigned int seed = 5;

	sem_init(&h.go, 0, 0);
	thread_start(sends_bytes, &h);
	for (round = 0; round < scaled(2000); round++) {
		volatile unsigned int spin = next_random(&seed) % 3000;

		epoll_change(ep, p.s, round & 1 ? EPOLLOUT | EPOLLONESHOT : 0);
		sem_post(&h.go);
		while (spin)
			spin--;
		epoll_change(ep, p.s, EPOLLIN | EPOLLONESHOT | (round & 2 ? EPOLLET : 0));
		need(epoll_for(ep, WAIT_MS) & EPOLLIN, "round %d: a wake-up was lost", round);
		need(recv(p.s, block, 10, MSG_DONTWAIT) == 1, "round %d: no byte", round);
	}
	return EXIT_OK;
}

static void mod_step(int ep, const char *what, unsigned int want, int round)
{
	unsigned int got = epoll_for(ep, WAIT_MS);

	need(got & want, "round %d: %s: events %#x instead of %#x", round, what, got, want);
}

/*
 * A full socket is watched for reading only, then for writing, then for reading again. Each time
 * the event happens after the change and must be reported.
 */
static int epoll_mod_switch(void *arg)
{
	unsigned int mode = arg ? EPOLLET : 0;
	struct pair p = pair_sized(SMALL_BUFFER);
	int ep = epoll_of(p.c, EPOLLIN | mode), round;

	for (round = 0; round < scaled(8); round++) {
		long sent = fill_ends(p.c, p.s);

		need(!epoll_for(ep, 0), "round %d: an event on a full, silent socket", round);
		epoll_change(ep, p.c, EPOLLOUT | mode);
		need(!epoll_for(ep, 0), "round %d: writable while full", round);
		drain(p.s, sent);
		mod_step(ep, "room after EPOLL_CTL_MOD to EPOLLOUT", EPOLLOUT, round);

		epoll_change(ep, p.c, EPOLLIN | mode);
		send_all(p.s, "x", 1);
		mod_step(ep, "data after EPOLL_CTL_MOD to EPOLLIN", EPOLLIN, round);
		recv_all(p.c, block, 1);

		sent = fill_ends(p.c, p.s);
		epoll_change(ep, p.c, 0);
		drain(p.s, sent);
		epoll_change(ep, p.c, EPOLLOUT | mode);
		mod_step(ep, "room before EPOLL_CTL_MOD to EPOLLOUT", EPOLLOUT, round);
		epoll_change(ep, p.c, 0);
		send_all(p.s, "y", 1);
		need(await_bytes(p.c, 1) == 1, "round %d: no byte", round);
		epoll_change(ep, p.c, EPOLLIN | mode);
		mod_step(ep, "data before EPOLL_CTL_MOD to EPOLLIN", EPOLLIN, round);
		recv_all(p.c, block, 1);
	}
	return EXIT_OK;
}

/* Waits with select() for @fd to be readable or writable. */
static bool select_for(int fd, bool writing, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(fd, &fds);
	return select(fd + 1, writing ? NULL : &fds, writing ? &fds : NULL, NULL, &tv) == 1;
}

/* The other end of a ping-pong: waits with poll() and select() in turn. */
static void *ponger(void *arg)
{
	struct helper *h = arg;
	int round;

	for (round = 0; ; round++) {
		ssize_t n;

		if (round & 1)
			need(select_for(h->fd, false, WAIT_MS), "round %d: select", round);
		else
			need(poll_for(h->fd, POLLIN, WAIT_MS), "round %d: poll", round);
		n = recv(h->fd, block, 100, MSG_DONTWAIT);
		if (!n)
			return NULL;
		need_errno(n > 0, "recv after poll or select");
		send_all(h->fd, block, n);
	}
}

static int ping_pong(void *arg)
{
	struct pair p = pair_make();
	struct helper h = { .fd = p.s };
	pthread_t thread = thread_start(ponger, &h);
	int round;

	set_timeout(p.c, SO_RCVTIMEO, WAIT_MS);
	for (round = 0; round < scaled(1000); round++) {
		send_all(p.c, block, 1);
		need(recv(p.c, block, 1, 0) == 1, "round %d: no answer", round);
	}
	shutdown(p.c, SHUT_WR);
	pthread_join(thread, NULL);
	return EXIT_OK;
}

/*
 * All ways to wait, on one socket at the same time. Each thread waits in its own way, then sends or
 * receives what it can. A sum of the byte values shows loss and duplication although the order of
 * the threads is unknown.
 */
enum { BLOCKING, BLOCKING_TOO, BY_POLL, BY_SELECT, BY_LEVEL, BY_EDGE, WAYS };

struct mixed {
	struct waiter w;
	int way;
	int ep;
	pthread_t thread;
};

static unsigned long sum_of(const unsigned char *data, long n)
{
	unsigned long sum = 0;

	while (n--)
		sum += *data++;
	return sum;
}

/*
 * A wait may end without result, when another thread is faster. It must not end by its own timeout
 * after a lost wake-up, so it lasts longer than the deadline of the threads that watch.
 */
static void wait_in_its_way(struct mixed *m, bool writing)
{
	const int ms = 6 * WAIT_MS;

	switch (m->way) {
	case BY_POLL:
		poll_for(m->w.fd, writing ? POLLOUT : POLLIN, ms);
		break;
	case BY_SELECT:
		select_for(m->w.fd, writing, ms);
		break;
	case BY_LEVEL:
	case BY_EDGE:
		epoll_for(m->ep, ms);
		break;
	}
}

static void prepare_way(struct mixed *m, unsigned int events)
{
	if (m->way == BY_LEVEL)
		m->ep = epoll_of(m->w.fd, events);
	if (m->way == BY_EDGE)
		m->ep = epoll_of(m->w.fd, events | EPOLLET);
}

static void *mixed_reader(void *arg)
{
	unsigned char buf[8192];
	struct mixed *m = arg;
	int flags = m->way <= BLOCKING_TOO ? 0 : MSG_DONTWAIT;
	unsigned int seed = m->way + 7;

	prepare_way(m, EPOLLIN | EPOLLRDHUP);
	for (;;) {
		ssize_t n = recv(m->w.fd, buf, random_up_to(&seed, sizeof(buf)), flags);

		if (!n)
			return NULL;
		if (n > 0) {
			atomic_fetch_add(m->w.sum, sum_of(buf, n));
			atomic_fetch_add(m->w.count, n);
			continue;
		}
		need(errno == EAGAIN && flags, "recv: %s", errno_text(errno));
		wait_in_its_way(m, false);
	}
}

static void *mixed_writer(void *arg)
{
	unsigned char buf[8192];
	struct mixed *m = arg;
	int flags = m->way <= BLOCKING_TOO ? 0 : MSG_DONTWAIT;
	unsigned int seed = m->way + 70, i;
	long left = m->w.quota;

	prepare_way(m, EPOLLOUT);
	while (left) {
		long len = random_up_to(&seed, sizeof(buf));
		ssize_t n;

		if (len > left)
			len = left;
		for (i = 0; i < len; i++)
			buf[i] = next_random(&seed);
		n = send(m->w.fd, buf, len, flags | MSG_NOSIGNAL);
		if (n > 0) {
			atomic_fetch_add(m->w.sum, sum_of(buf, n));
			atomic_fetch_add(m->w.count, n);
			left -= n;
			continue;
		}
		need(errno == EAGAIN && flags, "send: %s", errno_text(errno));
		wait_in_its_way(m, true);
	}
	return NULL;
}

struct crowd {
	struct mixed members[WAYS];
	atomic_long count;
	atomic_ulong sum;
};

static void crowd_start(struct crowd *c, int fd, void *(*body)(void *), long quota)
{
	int i;

	atomic_init(&c->count, 0);
	atomic_init(&c->sum, 0);
	for (i = 0; i < WAYS; i++) {
		c->members[i] = (struct mixed){
			.w = { .fd = fd, .count = &c->count, .sum = &c->sum, .quota = quota },
			.way = i,
		};
		c->members[i].thread = thread_start(body, &c->members[i]);
	}
}

static void crowd_end(struct crowd *c)
{
	int i;

	for (i = 0; i < WAYS; i++)
		pthread_join(c->members[i].thread, NULL);
}

/* Six readers on one socket. Each piece must have been read before the next one is sent. */
static int mixed_readers(void *arg)
{
	static unsigned char data[20000];
	struct pair p = pair_make();
	struct crowd readers;
	unsigned int seed = 6;
	unsigned long sum = 0;
	long total = 0;
	int round;

	crowd_start(&readers, p.s, mixed_reader, 0);
	for (round = 0; round < scaled(500); round++) {
		long n = random_up_to(&seed, round % 10 ? 300 : sizeof(data)), i;

		for (i = 0; i < n; i++)
			data[i] = next_random(&seed);
		send_all(p.c, data, n);
		sum += sum_of(data, n);
		total += n;
		await_count(&readers.count, total, "the crowd of readers");
	}
	shutdown(p.c, SHUT_WR);
	crowd_end(&readers);
	need(atomic_load(&readers.count) == total, "%ld bytes read of %ld",
	     atomic_load(&readers.count), total);
	need(atomic_load(&readers.sum) == sum, "the bytes read are not those sent");
	return EXIT_OK;
}

/*
 * Six writers on one socket with little room. The reader stops now and then until the connection is
 * full.
 */
static int mixed_writers(void *arg)
{
	const long quota = scaled(300000);
	struct pair p = pair_sized(SMALL_BUFFER);
	static unsigned char data[30000];
	unsigned int seed = 8;
	unsigned long sum = 0;
	struct crowd writers;
	long total = 0;

	set_timeout(p.s, SO_RCVTIMEO, WAIT_MS);
	crowd_start(&writers, p.c, mixed_writer, quota);
	while (total < WAYS * quota) {
		ssize_t n = recv(p.s, data, random_up_to(&seed, sizeof(data)), 0);

		need(n > 0, "writers stand at %ld bytes, reader at %ld: a wake-up was lost",
		     atomic_load(&writers.count), total);
		sum += sum_of(data, n);
		total += n;
		if (next_random(&seed) % 64 == 0)
			pause_ms(3);
	}
	crowd_end(&writers);
	need(atomic_load(&writers.sum) == sum, "the bytes read are not those sent");
	need(!queued_bytes(p.s), "more bytes than were sent");
	return EXIT_OK;
}

/* Readers and writers of every kind at both ends of one connection. */
static int mixed_load(void *arg)
{
	const long quota = scaled(400000);
	struct pair p = pair_sized(SMALL_BUFFER);
	struct crowd w[2], r[2];
	int fds[2] = { p.c, p.s }, i;

	for (i = 0; i < 2; i++) {
		crowd_start(&r[i], fds[1 - i], mixed_reader, 0);
		crowd_start(&w[i], fds[i], mixed_writer, quota);
	}
	for (i = 0; i < 2; i++) {
		crowd_end(&w[i]);
		await_count(&r[i].count, WAYS * quota, "the crowd of readers");
		shutdown(fds[i], SHUT_WR);
		crowd_end(&r[i]);
		need(atomic_load(&r[i].count) == WAYS * quota, "%ld bytes read",
		     atomic_load(&r[i].count));
		need(atomic_load(&r[i].sum) == atomic_load(&w[i].sum),
		     "the bytes read are not those sent");
	}
	return EXIT_OK;
}

static void await_unsent_gone(int fd)
{
	long long end = now_ms() + WAIT_MS;

	while (unsent_bytes(fd)) {
		need(now_ms() < end, "%d bytes never left", unsent_bytes(fd));
		pause_ms(1);
	}
}

/* Fills @p->c and reads all of it at @p->s, without waiting for either: room appears. */
static void make_room(const struct pair *p)
{
	take(p->s, fill_to_rest(p->c, p->s));
	await_unsent_gone(p->c);
}

/* Room and data appear while nobody waits for either. */
static int counts_nobody_waits(void *arg)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	struct wakes before = wakes_now();

	make_room(&p);
	await_skipped(WAKE_WRITE, &before, "room appeared");
	await_skipped(WAKE_READ, &before, "data came");
	need_not_issued(WAKE_WRITE, &before, "nobody waits for room");
	need_not_issued(WAKE_READ, &before, "nobody waits for data");
	return EXIT_OK;
}

static long sleeps_in_recv(int fd)
{
	return recv(fd, block, 1, MSG_PEEK) == 1;
}

static long polls_for_data(int fd)
{
	return poll_for(fd, POLLIN, 3 * WAIT_MS) & POLLIN;
}

static long sleeps_in_send(int fd)
{
	return send(fd, "x", 1, MSG_NOSIGNAL) == 1;
}

static long polls_for_room(int fd)
{
	return poll_for(fd, POLLOUT, 3 * WAIT_MS) & POLLOUT;
}

static void need_woken(struct caller *c)
{
	pthread_join(c->thread, NULL);
	need(c->ret, "the sleeper was not woken by what it waited for");
}

/* A reader sleeps in recv() or poll(): data wakes it, nothing else does. */
static int counts_reader_waits(void *arg)
{
	int polls;

	for (polls = 0; polls < 2; polls++) {
		struct pair p = pair_sized(SMALL_BUFFER);
		struct wakes before;
		struct caller reader;

		caller_start(&reader, polls ? polls_for_data : sleeps_in_recv, p.c);
		before = wakes_now();
		make_room(&p);
		need_not_issued(WAKE_WRITE, &before, "only a reader waits");
		need_not_issued(WAKE_READ, &before, "a reader waits, and no data comes");
		send_all(p.s, "x", 1);
		need_woken(&reader);
		await_issued(WAKE_READ, &before, "data woke a reader");
	}
	return EXIT_OK;
}

/* A writer sleeps in send() or poll() on a full socket: room wakes it, incoming data does not. */
static int counts_writer_waits(void *arg)
{
	int polls;

	for (polls = 0; polls < 2; polls++) {
		struct pair p = pair_sized(SMALL_BUFFER);
		long sent = fill_to_rest(p.c, p.s);
		struct wakes before;
		struct caller writer;

		caller_start(&writer, polls ? polls_for_room : sleeps_in_send, p.c);
		before = wakes_now();
		send_all(p.s, block, 100);
		need(await_bytes(p.c, 100) == 100, "no data");
		await_skipped(WAKE_READ, &before, "data came");
		need_not_issued(WAKE_READ, &before, "only a writer waits");
		drain(p.s, sent);
		need_woken(&writer);
		await_issued(WAKE_WRITE, &before, "room woke a writer");
	}
	return EXIT_OK;
}

/* An epoll set counts as a waiter for the events that it watches, also after EPOLL_CTL_MOD. */
static int counts_epoll(void *arg)
{
	struct pair p = pair_sized(SMALL_BUFFER);
	int ep = epoll_of(p.c, EPOLLIN);
	struct wakes before = wakes_now();
	long sent;

	make_room(&p);
	need_not_issued(WAKE_WRITE, &before, "EPOLLIN alone is watched");
	send_all(p.s, "x", 1);
	need(epoll_for(ep, WAIT_MS) == EPOLLIN, "no event for data");
	await_issued(WAKE_READ, &before, "epoll told of data");

	before = wakes_now();
	sent = fill_to_rest(p.c, p.s);
	take_all(p.c, NULL);
	epoll_change(ep, p.c, EPOLLOUT);
	need(!epoll_for(ep, 0), "writable while full");
	drain(p.s, sent);
	need(epoll_for(ep, WAIT_MS) == EPOLLOUT, "no event for room");
	await_issued(WAKE_WRITE, &before, "epoll told of room");
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "epoll_level", epoll_level, 30, V4_SETS, false, NULL },
	{ "epoll_edge_read", epoll_edge_read, 30, V4_SETS, false, NULL },
	{ "epoll_edge_write", epoll_edge_write, 30, V4_SETS, false, NULL },
	{ "epoll_edge_accepted", epoll_edge_accepted, 30, V4_SETS, false, NULL },
	{ "epoll_oneshot", epoll_oneshot, 30, V4_SETS, false, NULL },
	{ "epoll_arming_race", epoll_arming_race, 30, V4_SETS, false, NULL },
	{ "epoll_mod_switch", epoll_mod_switch, 30, V4_SETS, false, NULL },
	{ "epoll_mod_switch_edge", epoll_mod_switch, 30, V4_SETS, false, block },
	{ "ping_pong", ping_pong, 30, V4_SETS, false, NULL },
	{ "mixed_readers", mixed_readers, 40, V4_SETS, false, NULL },
	{ "mixed_writers", mixed_writers, 40, V4_SETS, false, NULL },
	{ "mixed_load", mixed_load, 60, V4_SETS, false, NULL },
	{ "counts_nobody_waits", counts_nobody_waits, 30, V4_SETS, true, NULL },
	{ "counts_reader_waits", counts_reader_waits, 30, V4_SETS, true, NULL },
	{ "counts_writer_waits", counts_writer_waits, 30, V4_SETS, true, NULL },
	{ "counts_epoll", counts_epoll, 30, V4_SETS, true, NULL },
};

TEST_MAIN(tests)
