// SPDX-License-Identifier: GPL-2.0
/*
 * Pipelined mode: the peer writes by RDMA into the memory of a large waiting reader.
 *
 * Whatever happens instead, no byte is lost, duplicated or out of order, and no page stays pinned
 * (requirements B4, B5, C1, C2, C5-C8).
 */
#include "killing.h"
#include "machine.h"
#include "reading.h"
#include <sys/time.h>

#define WRITE		(1 << 18)

/*
 * B5, C1, C2, C5: the peer writes into the memory of readers that always wait before the data
 * comes, also without RDMA read.
 */
static int learns(void *arg)
{
	const bool can_read = *(bool *)arg;
	struct pair p;

	setting_set("rdma_read", can_read);
	only_order_counts();
	p = pair_make();
	counters_mark();
	ping_pong(&p, can_read ? 30 : 40, WRITE);
	need(since_mark("ModePipelined") >= 2, "no direction has learnt it");
	need(can_read || !since_mark("RdmaReadBytes"), "%lld bytes read",
	     since_mark("RdmaReadBytes"));
	need(since_mark("RdmaWriteBytes") >= (can_read ? 20LL : 10LL) * WRITE, "%lld bytes written",
	     since_mark("RdmaWriteBytes"));
	need(since_mark("RdmaWriteBytesByPeer") == since_mark("RdmaWriteBytes"),
	     "%lld bytes placed, %lld written", since_mark("RdmaWriteBytesByPeer"),
	     since_mark("RdmaWriteBytes"));
	await_unpinned();
	return EXIT_OK;
}

/*
 * C2, B5: a reader that waits for exactly what is written next is always recognised, however close
 * the race between reader and writer is. The mode is learnt at once and stays.
 */
static int learns_surely(void *arg)
{
	int i, rounds = scaled(100);

	setting_set("rdma_read", *(bool *)arg);
	only_order_counts();
	for (i = 0; i < rounds; i++) {
		struct pair p = pair_make();
		int pings = AFTER + 1 + i % 4;

		ping_pong(&p, pings, 1 << 16);
		need(info_of(p.c).tx_mode == SDP_INFO_PIPELINED &&
		     info_of(p.s).tx_mode == SDP_INFO_PIPELINED,
		     "modes %u and %u after %d in round %d", info_of(p.c).tx_mode,
		     info_of(p.s).tx_mode, pings, i);
		close(p.c);
		close(p.s);
	}
	await_unpinned();
	return EXIT_OK;
}

/*
 * Makes a pair in Pipelined mode; @at bytes have gone through it, each way. SDP_INFO tells how: the
 * first writes were read by RDMA, where the devices can do that, and the later ones were written.
 */
static struct pair pipelined(long *at)
{
	long long read = counter("RdmaReadBytes");
	struct pair p = pair_pipelined(WRITE, at);
	struct sdp_info c = info_of(p.c), s = info_of(p.s);

	read = counter("RdmaReadBytes") - read;
	need(c.rdma_sent >= 5L * WRITE && c.rdma_sent == s.rdma_received &&
	     c.rdma_sent - c.rdma_read_by_peer >= 3L * WRITE &&
	     c.rdma_read_by_peer == s.rdma_read && (long long)(s.rdma_read + c.rdma_read) == read,
	     "of %llu bytes %llu were fetched, and of %llu %llu read; both ways %lld",
	     (unsigned long long)c.rdma_sent, (unsigned long long)c.rdma_read_by_peer,
	     (unsigned long long)s.rdma_received, (unsigned long long)s.rdma_read, read);
	return p;
}

/* Starts a read into memory that is allocated for it. */
static void reading_start(struct reading *r, int fd, long len, int flags)
{
	reading_post(r, fd, malloc(len), len, flags);
}

/* A pair in Pipelined mode whose reader waits with much room. */
static struct pair posted(struct reading *r, long *at)
{
	struct pair p = pipelined(at);

	reading_start(r, p.s, WRITE, 0);
	return p;
}

static void reading_check(struct reading *r, ssize_t n, int error, long at)
{
	reading_end(r, n, error);
	if (n > 0)
		pattern_check(at, r->buf, n);
	free(r->buf);
}

/*
 * C7: one write ends the receive call, however much room is left in its buffer. With MSG_WAITALL,
 * the rest of the buffer is advertised again after each write.
 */
static int much_room(void *arg)
{
	const int flags = *(int *)arg, writes = flags == MSG_WAITALL ? 4 : 1;
	struct reading r;
	struct pair p;
	int i;
	long at;

	p = pipelined(&at);
	reading_start(&r, p.s, 4 * WRITE, flags);
	for (i = 0; i < writes; i++)
		send_all(p.c, pattern(at + (long)i * WRITE), WRITE);
	reading_check(&r, writes * WRITE, 0, at);
	return EXIT_OK;
}

/* A reader that waits with much room asks for data, and gets it. */
static void asked_for(struct reading *r, const struct pair *p, long *at)
{
	char asks;

	reading_begin(r, p->s, malloc(WRITE), WRITE, MSG_WAITALL);
	need(info_of(p->s).sinkavail_rx == 1, "%u buffers are posted", info_of(p->s).sinkavail_rx);
	send_all(p->s, "?", 1);
	recv_all(p->c, &asks, 1);
	send_all(p->c, pattern(*at), WRITE);
	reading_check(r, WRITE, 0, *at);
	*at += WRITE;
}

/*
 * C6: after AFTER requests in a row that follow a SinkAvail, the next SinkAvail is held back and
 * rides on the request. A peer that sends without being asked is served as well, and the next
 * SinkAvail is then sent at once.
 */
static int rides(void *arg)
{
	struct reading r;
	struct pair p;
	long at;
	int i;

	p = pipelined(&at);
	counters_mark();
	for (i = 0; i < AFTER; i++)
		asked_for(&r, &p, &at);
	need(!since_mark("SinkAvailPiggybacked"), "%lld rode", since_mark("SinkAvailPiggybacked"));
	for (i = 0; i < 5; i++)
		asked_for(&r, &p, &at);
	need(since_mark("SinkAvailPiggybacked") == 5, "%lld of 5 ride",
	     since_mark("SinkAvailPiggybacked"));
	counters_mark();
	reading_begin(&r, p.s, malloc(WRITE), WRITE, MSG_WAITALL);
	need(!since_mark("SinkAvailSent"), "it is told before it is asked for");
	send_all(p.c, pattern(at), WRITE);
	reading_check(&r, WRITE, 0, at);
	at += WRITE;
	counters_mark();
	reading_start(&r, p.s, WRITE, MSG_WAITALL);
	need(since_mark("SinkAvailSent") == 1, "it is still kept");
	send_all(p.c, pattern(at), WRITE);
	reading_check(&r, WRITE, 0, at);
	await_unpinned();
	return EXIT_OK;
}

/*
 * One call with MSG_WAITALL for several writes counts as a reader that waits before each of them.
 * It is enough to learn Pipelined mode, and the rest of its memory is advertised.
 */
static int learns_from_all(void *arg)
{
	const int writes = AFTER + 3;
	static unsigned char buf[(AFTER + 3) * WRITE];
	long long placed, read;
	struct reading r;
	struct pair p;
	int i;

	only_order_counts();
	setting_set("reader_wait_ms", READER_WAIT_MOST);
	p = pair_make();
	counters_mark();
	reading_begin(&r, p.s, buf, sizeof(buf), MSG_WAITALL);
	for (i = 0; i < writes; i++)
		send_all(p.c, pattern((long)i * WRITE), WRITE);
	reading_end(&r, sizeof(buf), 0);
	for (i = 0; i < writes; i++)
		pattern_check((long)i * WRITE, buf + (long)i * WRITE, WRITE);
	need(info_of(p.c).tx_mode == SDP_INFO_PIPELINED, "it has not learnt it");
	read = since_mark("RdmaReadBytes");
	placed = since_mark("RdmaWriteBytesByPeer");
	need(read >= AFTER * (WRITE - 4096L) && placed >= WRITE &&
	     read + placed == (long long)info_of(p.s).rdma_received,
	     "%lld bytes read, %lld placed", read, placed);
	await_unpinned();
	return EXIT_OK;
}

/*
 * C5: a reader that already sleeps when the direction changes to Pipelined mode advertises its
 * memory then. On a long way the writer's ModeChange always arrives after that.
 */
static int told_asleep(void *arg)
{
	int status;

	need(way_takes(20), "tc");
	counters_mark();
	status = learns_from_all(arg);
	need(!since_mark("SinkAvailMissed"), "%lld waits in vain", since_mark("SinkAvailMissed"));
	way_takes(0);
	return status;
}

/*
 * C5: a small write is a message and is copied into the buffer; the next large one is RDMA again.
 */
static int small_between(void *arg)
{
	struct reading r;
	struct pair p;
	long at;
	int i;

	p = pipelined(&at);
	for (i = 0; i < scaled(20); i++) {
		long n = i % 3 ? WRITE : 1000;

		reading_start(&r, p.s, WRITE, 0);
		send_all(p.c, pattern(at), n);
		reading_check(&r, n, 0, at);
		at += n;
	}
	await_unpinned();
	return EXIT_OK;
}

/* C2: after AFTER small writes in a row the reader's memory is no longer advertised. */
static int learns_small(void *arg)
{
	long long changes = counter("ModeCombined");
	struct reading r;
	struct pair p;
	long at;
	int i;

	p = pipelined(&at);
	for (i = 0; i < AFTER; i++) {
		need(counter("ModeCombined") == changes, "only %d small writes", i);
		reading_start(&r, p.s, WRITE, 0);
		send_all(p.c, pattern(at), 1);
		reading_check(&r, 1, 0, at++);
	}
	/* Each end counts the change. */
	await_counter_above("ModeCombined", changes + 1);
	counters_mark();
	send_all(p.c, pattern(at), 100);
	pattern_read(p.s, at, 100, WRITE);
	need(!since_mark("SinkAvailSent"), "memory was advertised");
	return EXIT_OK;
}

struct write {
	int fd;
	long at;
};

static void *writes_once(void *arg)
{
	const struct write *w = arg;

	send_all(w->fd, pattern(w->at), WRITE);
	return NULL;
}

/*
 * C5: a write waits reader_wait_ms for a SinkAvail. The memory of a reader that comes within this
 * time is written by RDMA. For a later reader there is a SrcAvail.
 */
static int comes_late(void *arg)
{
	long long awaited, arrived;
	struct write w;
	struct pair p;
	pthread_t thread;

	p = pipelined(&w.at);
	w.fd = p.c;
	counters_mark();
	awaited = counter("SinkAvailAwaited");
	setting_set("reader_wait_ms", WAIT_MS);
	need(!pthread_create(&thread, NULL, writes_once, &w), "pthread_create");
	await_counter_above("SinkAvailAwaited", awaited);
	pattern_read(p.s, w.at, WRITE, WRITE);
	pthread_join(thread, NULL);
	need(!since_mark("SrcAvailSent"), "%lld SrcAvails", since_mark("SrcAvailSent"));
	need(since_mark("RdmaWriteBytesByPeer") == WRITE, "%lld bytes placed",
	     since_mark("RdmaWriteBytesByPeer"));

	w.at += WRITE;
	arrived = counter("SrcAvailReceived");
	setting_set("reader_wait_ms", 1);
	need(!pthread_create(&thread, NULL, writes_once, &w), "pthread_create");
	/* A reader that comes before the SrcAvail arrives still has its memory written by RDMA. */
	await_counter_above("SrcAvailReceived", arrived);
	pattern_read(p.s, w.at, WRITE, WRITE);
	pthread_join(thread, NULL);
	need(since_mark("RdmaWriteBytesByPeer") == WRITE, "%lld bytes placed",
	     since_mark("RdmaWriteBytesByPeer"));
	await_unpinned();
	return EXIT_OK;
}

static void on_alarm(int sig)
{
}

/*
 * A timeout or a signal takes the advertised memory back. Data that arrives at that moment is
 * returned by this call or by the next one.
 */
static int taken_back(void *arg)
{
	const bool by_signal = *(bool *)arg;
	struct sigaction act = { .sa_handler = on_alarm };
	const struct itimerval never = { 0 };
	static unsigned char buf[WRITE];
	unsigned int seed = 1618;
	struct pair p;
	long at, read;
	pid_t pid;
	int i;

	p = pipelined(&at);
	read = at;
	need_errno(!sigaction(SIGALRM, &act, NULL), "sigaction");
	pid = fork();
	need_errno(pid >= 0, "fork");
	if (!pid) {
		for (i = 0; i < 20; i++) {
			pause_ms(random_up_to(&seed, 20));
			send_all(p.c, pattern(at), WRITE);
			at += WRITE;
		}
		_exit(EXIT_OK);
	}
	close(p.c);
	if (!by_signal)
		set_timeout(p.s, SO_RCVTIMEO, 7);
	while (read < at + 20L * WRITE) {
		struct itimerval in = { .it_value.tv_usec = 1 + random_up_to(&seed, 15000) };
		ssize_t n;

		if (by_signal)
			need_errno(!setitimer(ITIMER_REAL, &in, NULL), "setitimer");
		n = recv(p.s, buf, sizeof(buf), 0);
		need(n > 0 || (n < 0 && errno == (by_signal ? EINTR : EAGAIN)), "recv: %zd, %s",
		     n, errno_text(errno));
		if (n > 0)
			pattern_check(read, buf, n);
		read += n > 0 ? n : 0;
	}
	need_errno(!setitimer(ITIMER_REAL, &never, NULL), "setitimer");
	helper_end(pid);
	set_timeout(p.s, SO_RCVTIMEO, WAIT_MS);
	need(recv(p.s, buf, 1, 0) == 0, "no end of the stream: %s", errno_text(errno));
	await_unpinned();
	return EXIT_OK;
}

/* The end of the stream, a reset and shutdown(SHUT_RD) while a reader's memory is advertised. */
static int ends_meanwhile(void *arg)
{
	struct reading r;
	struct pair p;
	long at;

	p = posted(&r, &at);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	reading_check(&r, 0, 0, at);
	p = posted(&r, &at);
	linger_zero(p.c);
	close(p.c);
	reading_check(&r, -1, ECONNRESET, at);
	p = posted(&r, &at);
	need_errno(!shutdown(p.s, SHUT_RD), "shutdown");
	reading_check(&r, 0, 0, at);
	await_unpinned();
	return EXIT_OK;
}

/* An urgent byte between two writes: the mark is at its place. */
static int urgent_between(void *arg)
{
	struct reading r;
	struct pair p;
	char byte;
	long at;

	p = posted(&r, &at);
	send_all(p.c, pattern(at), WRITE);
	need(send(p.c, "!", 1, MSG_OOB) == 1, "MSG_OOB");
	send_all(p.c, pattern(at + WRITE), 1000);
	reading_check(&r, WRITE, 0, at);
	need(poll_for(p.s, POLLPRI, WAIT_MS), "no urgent byte");
	need(recv(p.s, &byte, 1, MSG_OOB) == 1 && byte == '!', "not the urgent byte");
	pattern_read(p.s, at + WRITE, 1000, WRITE);
	return EXIT_OK;
}

/* Non-blocking and peeking calls do not disturb a reader whose memory is advertised. */
static int others_look(void *arg)
{
	struct reading r;
	struct pair p;
	long at;
	char c;

	p = posted(&r, &at);
	need(recv(p.s, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "something to read");
	need(recv(p.s, &c, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN, "to be seen");
	need(!poll_for(p.s, POLLIN, 0), "readable");
	send_all(p.c, pattern(at), WRITE);
	reading_check(&r, WRITE, 0, at);
	return EXIT_OK;
}

#define READERS		4

/* Finds which of the @n writes from position @at is in @buf, and checks that it came only once. */
static void take_write(const unsigned char *buf, long at, int n, bool *taken)
{
	int i;

	for (i = 0; i < n; i++)
		if (!taken[i] && !memcmp(buf, pattern(at + (long)i * WRITE), WRITE)) {
			taken[i] = true;
			return;
		}
	need(false, "what a reader got is none of the writes, or was got twice");
}

/* C5: several readers advertise their memory at the same time; it is filled in their order. */
static int several_readers(void *arg)
{
	struct reading r[READERS], more;
	struct pair p;
	long at;
	int i;

	p = pipelined(&at);
	counters_mark();
	for (i = 0; i < READERS; i++)
		reading_start(&r[i], p.s, WRITE, 0);
	need(info_of(p.s).sinkavail_rx == READERS, "%u buffers out", info_of(p.s).sinkavail_rx);
	need(info_of(p.c).sinkavail_tx == READERS, "%u have come", info_of(p.c).sinkavail_tx);
	/* No further SinkAvail may be sent, so this reader waits without one. */
	reading_begin(&more, p.s, malloc(WRITE), WRITE, 0);
	need(info_of(p.s).sinkavail_rx == READERS, "%u are out now", info_of(p.s).sinkavail_rx);
	for (i = 0; i < READERS; i++)
		send_all(p.c, pattern(at + (long)i * WRITE), WRITE);
	for (i = 0; i < READERS; i++)
		reading_check(&r[i], WRITE, 0, at + (long)i * WRITE);
	need(since_mark("RdmaWriteBytesByPeer") == READERS * (long)WRITE, "%lld bytes placed",
	     since_mark("RdmaWriteBytesByPeer"));
	send_all(p.c, pattern(at + READERS * (long)WRITE), WRITE);
	reading_end(&more, WRITE, 0);
	pattern_check(at + READERS * (long)WRITE, more.buf, WRITE);
	await_unpinned();
	return EXIT_OK;
}

/*
 * One reader is interrupted, which cancels all advertised memory. The other readers keep waiting
 * and get their data.
 */
static int one_reader_leaves(void *arg)
{
	struct sigaction act = { .sa_handler = on_alarm };
	bool taken[READERS - 1] = { false };
	struct reading r[READERS];
	struct pair p;
	int i, round;
	long at;

	need_errno(!sigaction(SIGUSR1, &act, NULL), "sigaction");
	p = pipelined(&at);
	for (round = 0; round < scaled(20); round++) {
		int leaves = round % READERS;

		for (i = 0; i < READERS; i++)
			reading_begin(&r[i], p.s, malloc(WRITE), WRITE, 0);
		need(!pthread_kill(r[leaves].thread, SIGUSR1), "pthread_kill");
		reading_end(&r[leaves], -1, EINTR);
		memset(taken, 0, sizeof(taken));
		for (i = 0; i < READERS - 1; i++)
			send_all(p.c, pattern(at + (long)i * WRITE), WRITE);
		for (i = 0; i < READERS; i++) {
			if (i != leaves) {
				reading_end(&r[i], WRITE, 0);
				take_write(r[i].buf, at, READERS - 1, taken);
			}
			free(r[i].buf);
		}
		at += (READERS - 1) * (long)WRITE;
	}
	need(counter("SinkAvailCancelled") > 0, "nothing was taken back");
	await_unpinned();
	return EXIT_OK;
}

/* The connection is reset while several readers wait. */
static int ends_under_several(void *arg)
{
	struct reading r[READERS];
	int i, told = 0;
	struct pair p;
	long at;

	p = pipelined(&at);
	for (i = 0; i < READERS; i++)
		reading_start(&r[i], p.s, WRITE, 0);
	linger_zero(p.c);
	close(p.c);
	for (i = 0; i < READERS; i++) {
		pthread_join(r[i].thread, NULL);
		need(r[i].n == 0 || (r[i].n < 0 && r[i].error == ECONNRESET), "recv: %zd, %s",
		     r[i].n, errno_text(r[i].error));
		told += r[i].n < 0;
		free(r[i].buf);
	}
	/* The reset is reported once, as with TCP; the other readers see the end of the stream. */
	need(told == 1, "%d were told of the reset", told);
	await_unpinned();
	return EXIT_OK;
}

/* One of the two processes is killed at any moment: the other one is told, no page stays pinned. */
static int killed(void *arg)
{
	setting_set("mode_after", 1);
	talks_killed(&endless_dialogue, scaled(60), 60, 57721);
	return EXIT_OK;
}

static bool signals = true, timeouts, with_read = true, no_read;
static int no_flags, wait_all = MSG_WAITALL;

static const struct test tests[] = {
	{ "learns", learns, 30, RC | 1u << SET_RC6, .sdp_only = true, .arg = &with_read },
	{ "without_read", learns, 30, RC, .sdp_only = true, .arg = &no_read },
	{ "learns_surely", learns_surely, 90, RC, .sdp_only = true, .arg = &with_read },
	{ "learns_surely_unread", learns_surely, 90, RC | NOT_SHORT, .sdp_only = true,
	  .arg = &no_read },
	{ "partly", much_room, 30, RC, .sdp_only = true, .arg = &no_flags },
	{ "rides", rides, 30, RC, .sdp_only = true, .arg = NULL },
	{ "waits_for_all", much_room, 30, RC, .sdp_only = true, .arg = &wait_all },
	{ "learns_from_all", learns_from_all, 30, RC, .sdp_only = true, .arg = NULL },
	{ "small_between", small_between, 30, RC, .sdp_only = true, .arg = NULL },
	{ "learns_small", learns_small, 30, RC, .sdp_only = true, .arg = NULL },
	{ "comes_late", comes_late, 30, RC, .sdp_only = true, .arg = NULL },
	{ "timed_out", taken_back, 30, RC, .sdp_only = true, .arg = &timeouts },
	{ "interrupted", taken_back, 30, RC, .sdp_only = true, .arg = &signals },
	{ "ends_meanwhile", ends_meanwhile, 30, RC, .sdp_only = true, .arg = NULL },
	{ "urgent_between", urgent_between, 30, RC, .sdp_only = true, .arg = NULL },
	{ "others_look", others_look, 30, RC, .sdp_only = true, .arg = NULL },
	{ "several_readers", several_readers, 30, RC, .sdp_only = true, .arg = NULL },
	{ "one_reader_leaves", one_reader_leaves, 60, RC, .sdp_only = true, .arg = NULL },
	{ "ends_under_several", ends_under_several, 30, RC, .sdp_only = true, .arg = NULL },
	{ "killed", killed, 90, RC, .sdp_only = true, .arg = NULL },
	/* The last one: if it dies, the delay of the network stays. */
	{ "told_asleep", told_asleep, 30, RC, .sdp_only = true, .arg = NULL },
};

DELAYED_MAIN(tests)
