// SPDX-License-Identifier: GPL-2.0
/*
 * Readers that poll, with buffers that are smaller than what the peer advertises: one RDMA read
 * brings what several of their calls take, as far as the receive buffer has room (requirements B3,
 * B4, C2).
 */
#include "machine.h"
#include "reading.h"

#define PIECE	(1 << 18)
/* What a program of this kind reads at once. */
#define CALL	(1 << 14)

static void set_rcvbuf(int fd, int bytes)
{
	/* The kernel doubles it. */
	bytes /= 2;
	need_errno(!setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)),
		   "SO_RCVBUFFORCE");
}

/* A connection on which @len bytes are advertised to a reader with a receive buffer of @rcvbuf. */
static struct pair pair_advertised(long len, int rcvbuf)
{
	struct pair p = pair_make();
	int sndbuf = 1 << 20;

	setting_set("scan_ms", NO_SCAN_MS);
	set_rcvbuf(p.s, rcvbuf);
	need_errno(!setsockopt(p.c, SOL_SOCKET, SO_SNDBUFFORCE, &sndbuf, sizeof(sndbuf)),
		   "SO_SNDBUFFORCE");
	counters_mark();
	need_errno(send(p.c, pattern(0), len, MSG_DONTWAIT) == len, "send");
	need(since_mark("BackgroundBytes") == len, "%lld bytes in the background",
	     since_mark("BackgroundBytes"));
	need(await_bytes(p.s, len) >= len, "only %d bytes can be read", queued_bytes(p.s));
	return p;
}

/* Makes one call that does not wait. Returns the number of bytes that it gets. */
static long take_now(int fd, long at, long room)
{
	static unsigned char buf[PIECE];
	ssize_t n = recv(fd, buf, room, MSG_DONTWAIT);

	if (n < 0) {
		need_errno(errno == EAGAIN, "recv");
		return 0;
	}
	pattern_check(at, buf, n);
	return n;
}

/*
 * Takes what has come with SrcAvail, and asks for more, which may be there at once. Returns the
 * number of bytes that came with SrcAvail; *@at bytes have been taken.
 */
static long take_first(int fd, long *at)
{
	long first = take_now(fd, 0, CALL);

	need(first > 0 && first < CALL, "%ld bytes have come with SrcAvail", first);
	*at = first + take_now(fd, first, CALL);
	return first;
}

static void await_read(void)
{
	await_counter_above("RdmaReadBytes",
			    counter("RdmaReadBytes") - since_mark("RdmaReadBytes"));
}

/* One small call has all of it read. */
static int all_at_once(void *arg)
{
	struct pair p = pair_advertised(PIECE, 4 * PIECE);
	long at, first = take_first(p.s, &at), done = PIECE;

	await_read();
	need(since_mark("RdmaReadBytes") == PIECE - first, "%lld bytes have been read ahead",
	     since_mark("RdmaReadBytes"));
	pattern_read_polled(p.s, at, PIECE - at, CALL);
	need(!since_mark("SrcAvailRefused"), "the rest has been declined");
	set_nonblock(p.s, false);
	in_step(p.c, p.s, &done, 3, 1000);
	return EXIT_OK;
}

/* A2: no more is read ahead than the receive buffer has room for. */
static int within_rcvbuf(void *arg)
{
	const long rcvbuf = *(long *)arg;
	struct pair p = pair_advertised(PIECE, rcvbuf);
	long at, first = take_first(p.s, &at), most = 0, ahead;

	while (at < PIECE) {
		need(poll_for(p.s, POLLIN, WAIT_MS), "nothing at byte %ld", at);
		ahead = first + since_mark("RdmaReadBytes") - at;
		if (ahead > most)
			most = ahead;
		at += take_now(p.s, at, CALL);
	}
	printf("# at most %ld bytes were read ahead, by a receive buffer of %ld\n", most, rcvbuf);
	need(most <= rcvbuf + CALL, "%ld bytes have been read ahead", most);
	need(since_mark("RdmaReadBytes") == PIECE - first, "%lld bytes by RDMA",
	     since_mark("RdmaReadBytes"));
	return EXIT_OK;
}

/* B3: calls with room for less than 4 KiB take what was read ahead, and then decline the rest. */
static int then_small(void *arg)
{
	struct pair p = pair_advertised(PIECE, PIECE / 2);
	long at, first = take_first(p.s, &at), end, n;

	await_read();
	end = first + since_mark("RdmaReadBytes");
	need(end > 2 * CALL && end < PIECE, "%ld bytes have been read ahead", end - first);
	/* No call has room for more than what is there, which would make it decline. */
	while (at < end) {
		n = take_now(p.s, at, end - at < 1000 ? end - at : 1000);
		need(n > 0, "nothing at byte %ld", at);
		at += n;
	}
	need(!since_mark("SrcAvailRefused"), "the rest has been declined too early");
	pattern_read_polled(p.s, end, PIECE - end, 1000);
	need(since_mark("SrcAvailRefused") == 1, "%lld SrcAvail declined",
	     since_mark("SrcAvailRefused"));
	return EXIT_OK;
}

static void reads_in_turns(void *arg)
{
	const struct pattern_reader *r = arg;
	static unsigned char buf[PIECE];
	unsigned int seed = 2718;
	long at = 0;

	close(r->other);
	while (at < r->len) {
		long room = 1 + random_up_to(&seed, one_in(&seed, 3) ? PIECE - 1 : CALL);
		ssize_t n;

		if (one_in(&seed, 2)) {
			at += take_now(r->fd, at, room);
			continue;
		}
		n = recv(r->fd, buf, room, 0);
		need(n > 0, "recv at byte %ld: %zd, %s", at, n, errno_text(errno));
		pattern_check(at, buf, n);
		at += n;
	}
}

/* Calls that wait and calls that do not, of all sizes, get every byte at its place. */
static int in_turns(void *arg)
{
	struct pair p = pair_make();
	struct pattern_reader r = { p.s, p.c, scaled(60) * (long)PIECE, 0, 0 };
	unsigned int seed = 1618;
	long at = 0, n;
	pid_t pid;

	only_order_counts();
	counters_mark();
	pid = helper_start(reads_in_turns, &r);
	for (; at < r.len; at += n) {
		n = 1 + random_up_to(&seed, PIECE - 1);
		if (n > r.len - at)
			n = r.len - at;
		send_all(p.c, pattern(at), n);
	}
	helper_end(pid);
	need(since_mark("RdmaReadBytes") > 0, "nothing by RDMA");
	return EXIT_OK;
}

/* Memory that was read ahead is free again when the reader goes without having taken it. */
static int left_unread(void *arg)
{
	long long before = 0;
	long at;
	int i;

	for (i = 0; i < scaled(64) + 4; i++) {
		struct pair p = pair_advertised(PIECE, 4 * PIECE);

		take_first(p.s, &at);
		if (i % 2)
			await_read();
		close(i % 4 < 2 ? p.s : p.c);
		close(i % 4 < 2 ? p.c : p.s);
		if (i == 3)
			before = memory_free();
	}
	await_memory(before, 16 * PIECE);
	return EXIT_OK;
}

static long half = PIECE / 2, tiny = CALL / 2;

static const struct test tests[] = {
	CASE(all_at_once, 30, RC),
	{ "within_rcvbuf", within_rcvbuf, 30, RC, .sdp_only = true, .arg = &half },
	{ "within_tiny_rcvbuf", within_rcvbuf, 30, RC, .sdp_only = true, .arg = &tiny },
	CASE(then_small, 30, RC),
	CASE(in_turns, 90, RC),
	CASE(left_unread, 60, RC),
};

PATTERN_MAIN(tests)
