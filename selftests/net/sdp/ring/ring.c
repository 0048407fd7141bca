// SPDX-License-Identifier: GPL-2.0
/*
 * Rings (requirements G2-G6): all data arrives in order, with each kind of flow control.
 *
 * The counters show that rings have carried the data. Other tests are about what prevents a ring or
 * comes after one, about a reader that stops, and about a writer that is killed.
 */
#include "failing.h"
#include "info.h"
#include "pattern.h"

#define RING	65536

/* A pair without SrcAvail: writes of any size go through a ring. */
static struct pair pair_of(int out, int in)
{
	setting_set("rdma_threshold", 0);
	return pair_by(out, in);
}

/* Writes in step until there is a ring, which is set up in the background within a moment. */
static void await_ring(int from, int to, long *at)
{
	long long end = now_ms() + WAIT_MS;

	while (!info_of(from).ring_writes) {
		need(now_ms() < end, "no ring: %lld made, %lld refused", counter("RingsMade"),
		     counter("RingsRefused"));
		in_step(from, to, at, 1, 100);
	}
}

static int agreed(int own, int other)
{
	return own == SDP_FLOW_NIC && other != SDP_FLOW_NIC ? SDP_FLOW_RDMA : own;
}

/* Checks the flow control of a direction, and whether rings carry its data as they should. */
static void one_way(int from, int to, int flow, const char *which)
{
	struct sdp_info before, out, in;
	long at = 0;
	int size;

	need(info_of(from).tx_flow == (unsigned int)flow, "%s: %u, not %d", which,
	     info_of(from).tx_flow, flow);
	need(info_of(to).rx_flow == (unsigned int)flow, "%s: the reader says %u, not %d", which,
	     info_of(to).rx_flow, flow);
	if (flow != SDP_FLOW_CREDIT)
		await_ring(from, to, &at);
	before = info_of(from);
	for (size = 1; size < 200000; size = size * 3 + 1)
		in_step(from, to, &at, 3, size);
	/* The first message in a new ring tells the other end which one is used. */
	if (info_of(from).tx_ring != info_of(to).rx_ring)
		in_step(from, to, &at, 1, 100);
	out = info_of(from);
	in = info_of(to);
	if (flow == SDP_FLOW_CREDIT) {
		need(!out.ring_sent && !out.tx_ring && !in.rx_ring, "%s: %llu bytes by a ring",
		     which, out.ring_sent);
		return;
	}
	need(out.ring_sent - before.ring_sent == out.bytes_sent - before.bytes_sent,
	     "%s: %llu of %llu bytes by a ring", which, out.ring_sent - before.ring_sent,
	     out.bytes_sent - before.bytes_sent);
	need(in.ring_received == out.ring_sent, "%s: %llu bytes have come by it", which,
	     in.ring_received);
	need(out.tx_ring == in.rx_ring && in.rx_ring, "%s: rings of %u and %u bytes", which,
	     out.tx_ring, in.rx_ring);
}

/*
 * G6: the flow control of each direction follows from the wishes of its writer and its reader,
 * whichever of the two has connected.
 */
static int pairs(void *arg)
{
	int out, in;

	for (out = SDP_FLOW_CREDIT; out <= SDP_FLOW_NIC; out++) {
		for (in = SDP_FLOW_CREDIT; in <= SDP_FLOW_NIC; in++) {
			struct pair p = pair_of(out, in);

			one_way(p.c, p.s, agreed(out, in), "to the server");
			one_way(p.s, p.c, agreed(in, out), "to the client");
			close(p.c);
			close(p.s);
		}
	}
	return EXIT_OK;
}

/* Writing or reading at least @bytes at one end. */
struct streaming {
	int fd;
	long bytes;
};

static void stream_writer(void *arg)
{
	struct streaming *s = arg;
	unsigned int seed = 99;
	long at = 0, n;

	while (at < s->bytes) {
		n = random_up_to(&seed, next_random(&seed) % 4 ? 700 : 60000);
		pattern_write(s->fd, at, n);
		at += n;
	}
	need(!shutdown(s->fd, SHUT_WR), "shutdown: %s", errno_text(errno));
}

static void stream_reader(void *arg)
{
	static unsigned char buf[1 << 16];
	const struct streaming *s = arg;
	unsigned int seed = 7;
	long at = 0;
	ssize_t n;

	while ((n = read(s->fd, buf, random_up_to(&seed, sizeof(buf)))) > 0) {
		pattern_check(at, buf, n);
		at += n;
	}
	need(!n, "read: %s", errno_text(errno));
	need(at >= s->bytes, "%ld of %ld bytes", at, s->bytes);
}

/* G2, G4: megabytes in writes of many sizes, many times round the ring. */
static int stream(void *arg)
{
	int flow = *(int *)arg;
	struct pair p = pair_of(flow, flow);
	struct streaming at_c = { p.c, 1000000L * scaled(16) }, at_s = { p.s, at_c.bytes };
	struct sdp_info info;
	bool few;
	pid_t writer;

	writer = helper_start(stream_writer, &at_c);
	stream_reader(&at_s);
	helper_end(writer);
	info = info_of(p.s);
	/* How much goes before the ring is there is not said: of few bytes it may be a quarter. */
	few = at_c.bytes < 16000000;
	need(info.ring_received * (few ? 4 : 10) > info.bytes_received * (few ? 3 : 9),
	     "%llu of %llu bytes by rings", info.ring_received, info.bytes_received);
	need(info.ring_received > 10 * RING, "%llu bytes by rings", info.ring_received);
	return EXIT_OK;
}

struct pattern_piece {
	int fd;
	long at, len;
};

static void write_piece(void *arg)
{
	const struct pattern_piece *piece = arg;

	pattern_write(piece->fd, piece->at, piece->len);
}

/*
 * Writes the stream from position @at until no more data is taken, in calls of 512 bytes or of
 * mixed sizes. Returns the number of bytes.
 */
static long fill_stream(int fd, long at, bool mixed)
{
	long n = 0, last;
	ssize_t got;

	do {
		last = n;
		while ((got = send(fd, pattern(at + n), mixed ? 1 + n % 3000 : 512,
				   MSG_DONTWAIT)) > 0)
			n += got;
		need(got < 0 && errno == EAGAIN, "send: %s", errno_text(errno));
		pause_ms(quiet_ms());
	} while (n > last);
	return n;
}

/* Reads the stream from position @at until no more data comes. Returns the number of bytes. */
static long drain_stream(int fd, long at)
{
	static unsigned char buf[1 << 16];
	long n = 0, last;
	ssize_t got;

	do {
		last = n;
		while ((got = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
			pattern_check(at + n, buf, got);
			n += got;
		}
		pause_ms(quiet_ms());
	} while (n > last);
	return n;
}

/*
 * With nic, one whole window and a part of another stay free. With rdma, the longest message does
 * not fit, which is a quarter of the ring: messages are not cut to make them fit.
 */
static bool ring_is_full(int fd, int flow)
{
	struct sdp_info info = info_of(fd);

	return info.rx_ring_used > info.rx_ring * (flow == SDP_FLOW_NIC ? 0.85 : 0.75);
}

/* G3, G5: the reader stops, the ring fills, and data gathers. Later all of it arrives. */
static int full(void *arg)
{
	int flow = *(int *)arg;
	struct pair p = pair_of(flow, flow);
	struct sdp_info info;
	long at = 0, n;
	long long end;

	await_ring(p.c, p.s, &at);
	n = fill_stream(p.c, at, false);
	info = info_of(p.c);
	need(info.ring_full > 0, "always room; %ld bytes written", n);
	/* What has been taken to be rest may have been the host's. */
	for (end = now_ms() + WAIT_MS; !ring_is_full(p.s, flow) && now_ms() < end; pause_ms(5))
		n += fill_stream(p.c, at + n, false);
	info = info_of(p.s);
	need(ring_is_full(p.s, flow), "%u of %u bytes used", info.rx_ring_used, info.rx_ring);
	pattern_read(p.s, at, n, PATTERN_LARGEST);
	at += n;
	in_step(p.c, p.s, &at, 20, 3000);
	in_step(p.s, p.c, &(long){ 0 }, 20, 3000);
	return EXIT_OK;
}

/*
 * Reads the stream from position @at to @end. Whenever nothing more comes, the writer makes a call
 * that does nothing. Each such call brings at most a ring full, so the time limit is for each.
 */
static void drain_nudged(const struct pair *p, long at, long end)
{
	long long limit = now_ms() + WAIT_MS;
	char byte;
	long n;

	for (n = drain_stream(p->s, at); (at += n) < end; n = drain_stream(p->s, at)) {
		if (n)
			limit = now_ms() + WAIT_MS;
		need(now_ms() < limit, "%ld bytes have not come", end - at);
		need(recv(p->c, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "recv");
	}
}

/*
 * G3, without asynchronous flush: data that has gathered while the ring was full waits for a call
 * of the application, though there is room. Each call sends more of it, and shutdown() sends all.
 * The same holds for data that gathers before there is a ring.
 */
static int lazy(void *arg)
{
	long long limit = now_ms() + WAIT_MS;
	long at = 0, n, end;
	struct pair p;

	setting_set("ring_flush", 0);
	p = pair_of(SDP_FLOW_RDMA, SDP_FLOW_RDMA);
	for (; !info_of(p.c).ring_writes; at += 100) {
		need(now_ms() < limit, "no ring");
		pattern_write(p.c, at, 100);
		drain_nudged(&p, at, at + 100);
	}
	end = at + fill_stream(p.c, at, false);
	n = drain_stream(p.s, at);
	need(n && at + n < end, "%ld of %ld bytes have come by themselves", n, end - at);
	drain_nudged(&p, at + n, end);
	n = fill_stream(p.c, end, false);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	pattern_read(p.s, end, n, PATTERN_LARGEST);
	need(!recv(p.s, &n, 1, 0), "more than was written");
	return EXIT_OK;
}

/* The number of failures of small allocations that are still to come. */
static int failures_left(void)
{
	char text[16] = "";
	int fd = open(SLAB "times", O_RDONLY);

	need_errno(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, SLAB "times");
	close(fd);
	return atoi(text);
}

/*
 * G2: there is no memory at all when messages arrive in the ring, both short messages and messages
 * too long for a receive. No message is lost, and each one occupies the ring until it is read. This
 * needs a kernel with fault injection.
 */
static void arrives_without_memory(int flow)
{
	static const int sizes[] = { 512, 3000, 1400 };
	struct pair p = pair_of(flow, flow);
	struct text arriving;
	int failed, messages;
	long at = 0, n = 0, half;

	set_int(p.c, IPPROTO_TCP, TCP_NODELAY, 1);
	await_ring(p.c, p.s, &at);
	half = info_of(p.s).rx_ring / 2;
	need(module_function_text("sdp_ring_message", &arriving), "symbols are not shown");
	only_in(&arriving);
	/* All allocations fail; a failed one may be tried again. */
	fail_often(100);
	write_to(SLAB "times", "1000");
	for (messages = 0; n < half; messages++) {
		int size = sizes[messages % ARRAY_SIZE(sizes)];

		pattern_write(p.c, at + n, size);
		n += size;
		need(await_bytes(p.s, n) == n, "%d bytes unread, not %ld", queued_bytes(p.s), n);
	}
	failed = 1000 - failures_left();
	fail_often(0);
	only_the_module(false);
	need(failed >= messages, "only %d allocations have failed", failed);
	printf("# %d allocations have failed\n", failed);
	need(info_of(p.s).rx_ring_used >= n, "%u bytes of the ring in use, and %ld are unread",
	     info_of(p.s).rx_ring_used, n);
	/* The ring can be filled to its end, and no further. */
	n += fill_stream(p.c, at + n, false);
	pattern_read(p.s, at, n, PATTERN_LARGEST);
	close(p.c);
	close(p.s);
}

/* The receive that a message replaces is in one piece, or it consists of pages. */
static int short_of_memory(void *arg)
{
	if (!can_fail())
		return EXIT_SKIPPED;
	arrives_without_memory(*(int *)arg);
	setting_set("recv_buffer_size", 8192);
	arrives_without_memory(*(int *)arg);
	return EXIT_OK;
}

/* SO_RCVLOWAT is larger than the ring: the socket becomes readable when the ring is full. */
static int low_water(void *arg)
{
	int flow = *(int *)arg, mark = PATTERN_LARGEST, n;
	struct pair p = pair_of(flow, flow);
	struct pattern_piece piece = { .fd = p.c, .len = PATTERN_LARGEST };
	long at = 0, end;
	pid_t pid;

	await_ring(p.c, p.s, &at);
	piece.at = at;
	end = at + piece.len;
	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, mark);
	pid = helper_start(write_piece, &piece);
	for (; at < end; at += n) {
		/* The last bytes may be too few to fill the ring. */
		if (end - at <= RING)
			set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, 1);
		need(poll_for(p.s, POLLIN, WAIT_MS), "not readable at %ld, %d are there", at,
		     queued_bytes(p.s));
		n = queued_bytes(p.s);
		pattern_read(p.s, at, n, n);
	}
	helper_end(pid);
	return EXIT_OK;
}

/*
 * The reader stops for @seconds. Meanwhile the other direction still works, although its grants and
 * answers could queue behind the data that is held back. The writer sees no error. Then all data
 * arrives.
 */
static int stopped_for(int flow, int seconds)
{
	int round;
	struct pair p = pair_of(flow, flow);
	long at = 0, back = 0, n;

	await_ring(p.c, p.s, &at);
	n = fill_stream(p.c, at, true);
	for (round = 0; round < seconds; round++) {
		in_step(p.s, p.c, &back, 5, 20000);
		pause_ms(1000);
		need(!(poll_for(p.c, POLLERR | POLLHUP, 0) & (POLLERR | POLLHUP)), "it is over");
	}
	pattern_read(p.s, at, n, PATTERN_LARGEST);
	at += n;
	in_step(p.c, p.s, &at, 20, 3000);
	in_step(p.s, p.c, &back, 20, 3000);
	return EXIT_OK;
}

static int stopped(void *arg)
{
	return stopped_for(*(int *)arg, scaled(8));
}

static int stopped_minutes(void *arg)
{
	return stopped_for(*(int *)arg, 130);
}

/*
 * Both ends write as much as they can, and both read. Meanwhile a ring of rdma grows, or both do.
 */
static int loaded(void *arg)
{
	int flow = *(int *)arg;
	struct pair p = pair_of(flow, flow);
	struct streaming at_c = { p.c, 1000000L * scaled(8) }, at_s = { p.s, at_c.bytes };
	pid_t pids[3];

	counters_mark();
	pids[0] = helper_start(stream_writer, &at_c);
	pids[1] = helper_start(stream_writer, &at_s);
	pids[2] = helper_start(stream_reader, &at_c);
	stream_reader(&at_s);
	helper_end(pids[0]);
	helper_end(pids[1]);
	helper_end(pids[2]);
	need(since_mark("RingsMade") >= (flow == SDP_FLOW_RDMA ? 3 : 2), "%lld rings",
	     since_mark("RingsMade"));
	return EXIT_OK;
}

/* Urgent bytes and the end of the stream arrive at their places. */
static int urgent(void *arg)
{
	int flow = *(int *)arg, mark, i;
	struct pair p = pair_of(flow, flow);
	long at = 0;
	char c;

	await_ring(p.c, p.s, &at);
	for (i = 0; i < 5; i++) {
		pattern_write(p.c, at, 300);
		need(send(p.c, "!", 1, MSG_OOB) == 1, "send: %s", errno_text(errno));
		pattern_write(p.c, at + 300, 200);
		pattern_read(p.s, at, 300, PATTERN_LARGEST);
		need(poll_for(p.s, POLLPRI, WAIT_MS) & POLLPRI, "no POLLPRI");
		need(!ioctl(p.s, SIOCATMARK, &mark) && mark, "not at the mark");
		need(recv(p.s, &c, 1, MSG_OOB) == 1 && c == '!', "MSG_OOB: %s", errno_text(errno));
		pattern_read(p.s, at + 300, 200, PATTERN_LARGEST);
		at += 500;
	}
	pattern_write(p.c, at, 5000);
	need(!shutdown(p.c, SHUT_WR), "shutdown: %s", errno_text(errno));
	pattern_read(p.s, at, 5000, PATTERN_LARGEST);
	need(!recv(p.s, &c, 1, 0), "not the end");
	in_step(p.s, p.c, &(long){ 0 }, 10, 4000);
	return EXIT_OK;
}

/*
 * A ring is small at first, becomes larger when it is full several times, and is freed when idle.
 */
static int grows(void *arg)
{
	struct pair p;
	long long end;
	long at = 0;

	setting_set("resize_idle_ms", 5000);
	p = pair_of(SDP_FLOW_RDMA, SDP_FLOW_RDMA);
	await_ring(p.c, p.s, &at);
	need(info_of(p.c).tx_ring == 16384, "%u at first", info_of(p.c).tx_ring);
	counters_mark();
	end = now_ms() + 2 * WAIT_MS;
	while (info_of(p.c).tx_ring != RING) {
		need(now_ms() < end, "still %u", info_of(p.c).tx_ring);
		in_step(p.c, p.s, &at, 1, 40000);
	}
	in_step(p.c, p.s, &at, 4, 40000);
	need(info_of(p.s).rx_ring == RING, "%u there", info_of(p.s).rx_ring);
	end = now_ms() + 2 * WAIT_MS;
	while (info_of(p.s).rx_ring) {
		need(now_ms() < end, "not given back");
		pause_ms(20);
	}
	need(!info_of(p.c).tx_ring, "%u bytes still", info_of(p.c).tx_ring);
	need(since_mark("RingsOver") == 2, "%lld are over", since_mark("RingsOver"));
	await_ring(p.c, p.s, &at);
	in_step(p.c, p.s, &at, 30, 1000);
	return EXIT_OK;
}

/* The peer makes no ring, or knows none: all data goes in messages. */
static int refused(void *arg)
{
	int flow = *(int *)arg;
	struct addr where;
	struct pair p;
	long at = 0;
	int l;

	setting_set("rdma_threshold", 0);
	l = listener(1, &where);
	set_int(l, SOL_SOCKET, SO_RCVBUF, 2048);
	set_int(l, SOL_SDP, SDP_FLOW_CONTROL, flow);
	p.c = fresh(0);
	set_int(p.c, SOL_SDP, SDP_FLOW_CONTROL, flow);
	connect_to(p.c, &where);
	p.s = accept_from(l);
	in_step(p.c, p.s, &at, 60, 700);
	need(!info_of(p.c).tx_ring && counter("RingsRefused") > 0, "it is there");
	close(p.c);
	close(p.s);
	close(l);
	setting_set("ring_size", 0);
	p = pair_of(flow, flow);
	at = 0;
	in_step(p.c, p.s, &at, 20, 3000);
	need(info_of(p.c).tx_flow == SDP_FLOW_CREDIT && !info_of(p.c).tx_ring, "flow %u",
	     info_of(p.c).tx_flow);
	return EXIT_OK;
}

/* Few receives, small rings, small windows: slow, but the data arrives. */
static int narrow(void *arg)
{
	int flow = *(int *)arg, receives;

	for (receives = 3; receives < 8; receives += 2) {
		struct pair p;
		long at = 0;

		setting_set("recv_buffers", receives);
		setting_set("ring_size", 8192);
		setting_set("ring_window", 256);
		p = pair_of(flow, flow);
		await_ring(p.c, p.s, &at);
		in_step(p.c, p.s, &at, 10, 20000);
		in_step(p.s, p.c, &(long){ 0 }, 10, 20000);
		close(p.c);
		close(p.s);
	}
	return EXIT_OK;
}

/* The option SDP_FLOW_CONTROL: on which sockets, when, and with which values it can be set. */
static int options(void *arg)
{
	struct pair p = pair_make();
	int fd = fresh(0), i;

	i = get_int(fd, SOL_SDP, SDP_FLOW_CONTROL);
	need(i == SDP_FLOW_CREDIT, "at first %d", i);
	for (i = -2; i <= SDP_FLOW_NIC + 1; i++) {
		int ok = !setsockopt(fd, SOL_SDP, SDP_FLOW_CONTROL, &i, sizeof(i));

		need(ok == (i >= -1 && i <= SDP_FLOW_NIC), "%d: %s", i, errno_text(errno));
	}
	i = get_int(fd, SOL_SDP, SDP_FLOW_CONTROL);
	need(i == SDP_FLOW_NIC, "then %d", i);
	i = SDP_FLOW_RDMA;
	need(setsockopt(p.c, SOL_SDP, SDP_FLOW_CONTROL, &i, sizeof(i)) < 0 && errno == EISCONN,
	     "connected: %s", errno_text(errno));
	return EXIT_OK;
}

/* Spliced data stays unchanged, whatever is written into the ring later. */
static int spliced(void *arg)
{
	int flow = *(int *)arg, ends[2];
	struct pair p = pair_of(flow, flow);
	const long len = 8000;
	long at = 0, kept;
	ssize_t n;

	await_ring(p.c, p.s, &at);
	need(!pipe(ends), "pipe");
	kept = at;
	pattern_write(p.c, at, len);
	need(await_bytes(p.s, len) >= len, "not there");
	for (; at < kept + len; at += n) {
		n = splice(p.s, NULL, ends[1], NULL, kept + len - at, 0);
		need(n > 0, "splice: %s", errno_text(errno));
	}
	in_step(p.c, p.s, &at, 40, 10000);
	pattern_read(ends[0], kept, len, len);
	return EXIT_OK;
}

static void killed_writer(void *arg)
{
	struct pair *p = arg;
	long at = 0;

	close(p->s);
	for (;; at += 3000)
		pattern_write(p->c, at, 3000);
}

/* The writer is killed during a transfer: what has arrived is right, and then the stream ends. */
static int killed(void *arg)
{
	int flow = *(int *)arg;
	struct pair p = pair_of(flow, flow);
	static unsigned char buf[1 << 16];
	pid_t writer = helper_start(killed_writer, &p);
	long at = 0;
	ssize_t n;

	close(p.c);
	while ((n = read(p.s, buf, sizeof(buf))) > 0) {
		pattern_check(at, buf, n);
		at += n;
		if (at > 1000000 && writer) {
			kill(writer, SIGKILL);
			waitpid(writer, NULL, 0);
			writer = 0;
		}
	}
	need(!writer, "over after %ld bytes", at);
	need(!n || errno == ECONNRESET, "read: %s", errno_text(errno));
	return EXIT_OK;
}

static int rdma = SDP_FLOW_RDMA, nic = SDP_FLOW_NIC;

#define BOTH(name, seconds, sets)						\
	{ #name "_rdma", name, seconds, sets, .sdp_only = true, .arg = &rdma },	\
	{ #name "_nic", name, seconds, sets, .sdp_only = true, .arg = &nic }

static const struct test tests[] = {
	{ "options", options, 30, RC, .sdp_only = true, .arg = NULL },
	{ "pairs", pairs, 60, RC | 1u << SET_RC6, .sdp_only = true, .arg = NULL },
	BOTH(stream, 60, RC | 1u << SET_RC6),
	BOTH(full, 60, RC),
	{ "lazy", lazy, 60, RC, .sdp_only = true, .arg = NULL },
	BOTH(short_of_memory, 60, RC),
	BOTH(low_water, 60, RC),
	BOTH(stopped, 60, RC),
	BOTH(stopped_minutes, 400, RC | NOT_SHORT),
	BOTH(loaded, 60, RC),
	BOTH(urgent, 30, RC),
	{ "grows", grows, 60, RC, .sdp_only = true, .arg = NULL },
	BOTH(refused, 30, RC),
	BOTH(narrow, 60, RC),
	BOTH(spliced, 30, RC),
	BOTH(killed, 60, RC),
};

PATTERN_MAIN(tests)
