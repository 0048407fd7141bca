// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes to every kind of reader: no writer waits for memory that never comes in time.
 *
 * A writer waits for a SinkAvail only if the reader is one that waits before the data comes. After
 * a wait in vain it does not wait again until a SinkAvail has come (requirements B3-B5, B10, C1,
 * C2, C4, C5, C10). The counters prove this, and every byte is checked.
 */
#include "pinned.h"
#include "reading.h"
#include "uring.h"
#include <sys/uio.h>

#define LARGEST		(4 << 20)
#define WRITES		(4 * AFTER)
#define HEADER		16
#define FIRST_PIECE	100
#define THREADS		3
/* Several times the time that a writer waits for a reader's memory. */
#define LATE_MS		60

static unsigned char out[LARGEST + PATTERN_PERIOD], in[LARGEST];

enum kind { BLOCKING, ALL, POLLED, POLLED_BLOCKING, PIECES, BODY, URING, SEVERAL };

/**
 * struct reader - a reader of writes of @size bytes, in another process
 * @p: the connection
 * @kind: how it reads
 * @size: bytes of a write
 * @left: with threads: bytes that nobody has read yet
 */
struct reader {
	struct pair p;
	enum kind kind;
	long size;
	_Atomic long left;
};

static void out_make(void)
{
	size_t i;

	for (i = 0; i < sizeof(out); i++)
		out[i] = pattern_bytes[i % PATTERN_PERIOD];
}

static const unsigned char *stream_at(long at)
{
	return out + at % PATTERN_PERIOD;
}

static void check(long at, const unsigned char *data, long n)
{
	need(!memcmp(data, stream_at(at), n), "wrong bytes among %ld from %ld on", n, at);
}

static ssize_t by_ring(int fd, long len)
{
	struct io_uring_sqe *sqe = request(1);
	int n;

	io_uring_prep_recv(sqe, fd, in, len, 0);
	n = complete(1).res;
	errno = n < 0 ? -n : 0;
	return n < 0 ? -1 : n;
}

static ssize_t in_pieces(int fd, long len)
{
	struct iovec iov[] = { { in, FIRST_PIECE }, { in + FIRST_PIECE, len - FIRST_PIECE } };

	return readv(fd, iov, 2);
}

/* Makes one receive call, with room for @size bytes or for the rest of a record. */
static ssize_t read_once(const struct reader *r, long at)
{
	long rest = r->size - at % r->size;

	switch (r->kind) {
	case ALL:
		return recv(r->p.s, in, r->size, MSG_WAITALL);
	case POLLED:
	case POLLED_BLOCKING:
		need(poll_for(r->p.s, POLLIN, WAIT_MS), "nothing after %ld bytes", at);
		return recv(r->p.s, in, r->size, r->kind == POLLED ? MSG_DONTWAIT : 0);
	case PIECES:
		return in_pieces(r->p.s, r->size);
	case BODY:
		return recv(r->p.s, in, rest == r->size ? HEADER : rest, 0);
	case URING:
		return by_ring(r->p.s, r->size);
	default:
		return recv(r->p.s, in, r->size, 0);
	}
}

static void *takes_some(void *arg)
{
	struct reader *r = arg;
	unsigned char *buf = malloc(r->size);
	ssize_t n;

	need(buf, "no memory");
	while ((n = recv(r->p.s, buf, r->size, 0)) > 0)
		r->left -= n;
	need_errno(!n, "recv");
	free(buf);
	return NULL;
}

/*
 * Threads read from one socket. Which thread gets which bytes is not known, so only their number is
 * checked.
 */
static void reads_in_threads(struct reader *r)
{
	pthread_t thread[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		need(!pthread_create(&thread[i], NULL, takes_some, r), "pthread_create");
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	need(!r->left, "%ld bytes are missing", r->left);
}

static void reads_so(void *arg)
{
	struct reader *r = arg;
	ssize_t n;
	long at;

	close(r->p.c);
	if (r->kind == SEVERAL)
		return reads_in_threads(r);
	if (r->kind == URING)
		ring_open();
	for (at = 0; at < r->left; at += n) {
		n = read_once(r, at);
		if (n < 0 && errno == EAGAIN)
			n = 0;
		else
			need(n > 0, "after %ld bytes: %zd, %s", at, n, errno_text(errno));
		check(at, in, n);
	}
	need(at == r->left, "%ld bytes instead of %ld", at, r->left);
}

/* Returns whether this reader never waits in a call before the data comes. */
static bool never_first(const struct reader *r)
{
	/* A longer body does not fit into one SrcAvail, and the reader waits for the rest. */
	if (r->kind == BODY)
		return r->size <= 1 << 20;
	return r->kind == POLLED || r->kind == POLLED_BLOCKING || r->kind == PIECES ||
	       r->kind == URING;
}

static void writes_to(struct reader *r)
{
	long long awaited, missed, posts, modes;
	int i, n = r->size < 1 << 20 ? WRITES : r->size < LARGEST ? WRITES / 2 : WRITES / 4;
	pid_t pid;

	counters_mark();
	r->p = pair_make();
	r->left = n * r->size;
	pid = helper_start(reads_so, r);
	for (i = 0; i < n; i++)
		send_all(r->p.c, stream_at(i * r->size), r->size);
	need_errno(!shutdown(r->p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	close(r->p.c);
	close(r->p.s);
	awaited = since_mark("SinkAvailAwaited");
	missed = since_mark("SinkAvailMissed");
	posts = since_mark("SinkAvailReceived");
	modes = since_mark("ModePipelined");
	printf("# %ld bytes: %lld posts, %lld awaited, %lld in vain, %lld changes to Pipelined\n",
	       r->size, posts, awaited, missed, modes);
	need(!never_first(r) || (!modes && !awaited),
	     "%ld bytes: it is taken for a reader that is there first: %lld writes of %d wait",
	     r->size, awaited, n);
	need(missed <= posts + 1, "%ld bytes: %lld waits in vain, %lld posts", r->size, missed,
	     posts);
}

static int never_waited_for(void *arg)
{
	static const long sizes[] = { 4096, 16384, 65536, 1 << 18, 1 << 20, LARGEST };
	struct reader r = { .kind = *(enum kind *)arg };
	size_t i;

	setting_set("mode_after", AFTER);
	setting_set("scan_ms", NO_SCAN_MS);
	if (r.kind == URING) {
		ring_open();
		io_uring_queue_exit(&ring);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		r.size = sizes[i];
		writes_to(&r);
	}
	await_unpinned();
	return EXIT_OK;
}

static void comes_late(void *arg)
{
	struct reader *r = arg;
	long at;

	close(r->p.c);
	for (at = 0; at < r->left; at += r->size) {
		pause_ms(LATE_MS);
		recv_all(r->p.s, in, r->size);
		check(at, in, r->size);
	}
}

/*
 * C2: a reader that does not poll and always comes late costs a writer that has to wait for it one
 * wait in vain. After some writes without a SinkAvail the direction is in Combined mode again.
 */
static int late(void *arg)
{
	struct reader r = { .size = 1 << 16 };
	long long missed, posts;
	pid_t pid;
	int i;

	setting_set("mode_after", AFTER);
	setting_set("scan_ms", NO_SCAN_MS);
	counters_mark();
	r.p = pair_make();
	/* No write fits. */
	set_int(r.p.c, SOL_SOCKET, SO_SNDBUF, r.size / 4);
	r.left = WRITES * r.size;
	pid = helper_start(comes_late, &r);
	for (i = 0; i < WRITES; i++)
		send_all(r.p.c, stream_at(i * r.size), r.size);
	helper_end(pid);
	missed = since_mark("SinkAvailMissed");
	posts = since_mark("SinkAvailReceived");
	need(missed + posts >= 1 && missed <= posts + 1, "%lld waits in vain, %lld posts", missed,
	     posts);
	need(posts || since_mark("ModeCombined") >= 2, "it is still waited for");
	await_unpinned();
	return EXIT_OK;
}

/**
 * struct bodies - messages with a header that tells the reader how large the body is
 * @p: the connection
 * @read: RDMA read is available as well
 * @apart: the header is a write of its own
 * @flags: MSG_* of the calls that read the body
 * @n: number of messages
 * @small: bytes after the messages, which are read in small pieces
 */
struct bodies {
	struct pair p;
	bool read;
	bool apart;
	int flags;
	int n;
	long small;
};

/* Bytes that travel in a message: with a SrcAvail, or before a body is written by RDMA. */
#define FIRST_BYTES	1024
#define BODY_SIZE	(1 << 18)

static long reads_some(int fd, long at, long room, int flags)
{
	ssize_t n = recv(fd, in, room, flags);

	need(n > 0, "after %ld bytes: %zd, %s", at, n, errno_text(errno));
	check(at, in, n);
	return at + n;
}

/* Reads a header and its body. Returns the number of calls that the body took. */
static long reads_body(const struct bodies *b, long at)
{
	const long end = at + BODY_SIZE;
	int calls;

	while (at % BODY_SIZE < HEADER)
		at = reads_some(b->p.s, at, HEADER - at % BODY_SIZE, 0);
	for (calls = 0; at < end; calls++)
		at = reads_some(b->p.s, at, end - at, b->flags);
	return calls;
}

static void reads_bodies(void *arg)
{
	const struct bodies *b = arg;
	int once = 0, i;
	long at, end;

	close(b->p.c);
	for (i = 0; i < b->n; i++)
		once += reads_body(b, i * (long)BODY_SIZE) == 1;
	at = b->n * (long)BODY_SIZE;
	end = at;
	need(once, "no call got all of a body");
	for (end += b->small; at < end;)
		at = reads_some(b->p.s, at, 100, 0);
	need(!recv(b->p.s, in, 1, 0), "more than %ld bytes", at);
}

static void writes_body(const struct bodies *b, long at)
{
	if (b->apart)
		send_all(b->p.c, stream_at(at), HEADER);
	if (b->apart)
		send_all(b->p.c, stream_at(at + HEADER), BODY_SIZE - HEADER);
	else
		send_all(b->p.c, stream_at(at), BODY_SIZE);
}

static void bodies_begin(struct bodies *b, pid_t *pid)
{
	setting_set("rdma_read", b->read);
	only_order_counts();
	b->p = pair_make();
	*pid = helper_start(reads_bodies, b);
}

static void bodies_end(struct bodies *b, pid_t pid)
{
	need_errno(!shutdown(b->p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	close(b->p.c);
	close(b->p.s);
	await_unpinned();
}

/*
 * C4: the second call gets all of the rest by RDMA read. The direction stays in Combined mode,
 * because there is no memory to wait for.
 */
static int body_read(void *arg)
{
	struct bodies b = *(struct bodies *)arg;
	pid_t pid;
	int i;

	counters_mark();
	b.n = WRITES;
	bodies_begin(&b, &pid);
	for (i = 0; i < b.n; i++)
		writes_body(&b, i * (long)BODY_SIZE);
	bodies_end(&b, pid);
	need(since_mark("RdmaReadBytes") == b.n * (long long)(BODY_SIZE - FIRST_BYTES),
	     "%lld bytes read", since_mark("RdmaReadBytes"));
	need(!since_mark("ModePipelined") && !since_mark("SinkAvailAwaited"),
	     "it is taken for a reader that is there first");
	return EXIT_OK;
}

/*
 * B5, C10: without RDMA read, the memory of the large call is advertised and written to once the
 * small call has its bytes. Once this is learnt, the writer sends no SrcAvail unless the reader is
 * late.
 */
static int body_written(void *arg)
{
	long long missed = counter("SinkAvailMissed"), posts = counter("SinkAvailReceived");
	long long placed, srcavails, read;
	struct bodies b = *(struct bodies *)arg;
	const int learnt = 2 * AFTER;
	pid_t pid;
	int i;

	counters_mark();
	b.n = learnt + WRITES;
	bodies_begin(&b, &pid);
	for (i = 0; i < learnt; i++)
		writes_body(&b, i * (long)BODY_SIZE);
	need(since_mark("ModePipelined") > 0, "it has not been learnt");
	counters_mark();
	for (; i < b.n; i++)
		writes_body(&b, i * (long)BODY_SIZE);
	bodies_end(&b, pid);
	placed = since_mark("RdmaWriteBytesByPeer");
	srcavails = since_mark("SrcAvailSent");
	read = since_mark("RdmaReadBytes");
	missed = counter("SinkAvailMissed") - missed;
	posts = counter("SinkAvailReceived") - posts;
	printf("# %lld of %lld bytes placed, %lld read, %lld SrcAvails, %lld posts, %lld in vain\n",
	       placed, (long long)WRITES * BODY_SIZE, read, srcavails, posts, missed);
	need(placed + read >= WRITES * (BODY_SIZE - FIRST_BYTES) * 3LL / 4,
	     "%lld bytes placed, %lld read", placed, read);
	need(missed <= posts + 1, "%lld waits in vain, %lld posts", missed, posts);
	need(srcavails < WRITES, "each of %lld writes is advertised", srcavails);
	return EXIT_OK;
}

/* B1: the readers of bodies read in small pieces from now on, and writers stop waiting for them. */
static int body_ends(void *arg)
{
	struct bodies b = { .read = *(bool *)arg };
	long long missed, posts, combined = counter("ModeCombined");
	const int small = 2 * AFTER;
	pid_t pid;
	int i;

	/* As many as in body_written(): on a busy machine the second call is late now and then. */
	b.n = 2 * AFTER + WRITES;
	b.small = small * (long)BODY_SIZE;
	bodies_begin(&b, &pid);
	for (i = 0; i < b.n; i++)
		writes_body(&b, i * (long)BODY_SIZE);
	counters_mark();
	for (; i < b.n + small; i++)
		writes_body(&b, i * (long)BODY_SIZE);
	bodies_end(&b, pid);
	missed = since_mark("SinkAvailMissed");
	posts = since_mark("SinkAvailReceived");
	need(missed <= posts + 1, "%lld waits in vain, %lld posts", missed, posts);
	need(b.read || counter("ModeCombined") > combined, "it is still waited for");
	return EXIT_OK;
}

static enum kind blocking = BLOCKING, all = ALL, polled = POLLED,
		 polled_blocking = POLLED_BLOCKING, pieces = PIECES, body = BODY,
		 uring = URING, several = SEVERAL;

static struct bodies advertised = { .read = true },
		     advertised_all = { .read = true, .flags = MSG_WAITALL },
		     unread = { }, unread_all = { .flags = MSG_WAITALL },
		     apart = { .read = true, .apart = true }, apart_unread = { .apart = true };
static bool with_read = true, without_read;

static const struct test tests[] = {
	{ "blocking", never_waited_for, 100, RC, .sdp_only = true, .arg = &blocking },
	{ "waitall", never_waited_for, 100, RC, .sdp_only = true, .arg = &all },
	{ "polled", never_waited_for, 100, RC, .sdp_only = true, .arg = &polled },
	{ "polled_blocking", never_waited_for, 100, RC, .sdp_only = true,
	  .arg = &polled_blocking },
	{ "pieces", never_waited_for, 100, RC, .sdp_only = true, .arg = &pieces },
	{ "body", never_waited_for, 100, RC, .sdp_only = true, .arg = &body },
	{ "uring", never_waited_for, 100, RC, .sdp_only = true, .arg = &uring },
	{ "several", never_waited_for, 100, RC, .sdp_only = true, .arg = &several },
	{ "body_read", body_read, 100, RC, .sdp_only = true, .arg = &advertised },
	{ "body_read_all", body_read, 100, RC, .sdp_only = true, .arg = &advertised_all },
	{ "body_written", body_written, 100, RC, .sdp_only = true, .arg = &unread },
	{ "body_written_all", body_written, 100, RC, .sdp_only = true, .arg = &unread_all },
	{ "body_apart", body_written, 100, RC, .sdp_only = true, .arg = &apart },
	{ "body_apart_unread", body_written, 100, RC, .sdp_only = true, .arg = &apart_unread },
	{ "body_ends", body_ends, 100, RC, .sdp_only = true, .arg = &with_read },
	{ "body_ends_unread", body_ends, 100, RC, .sdp_only = true, .arg = &without_read },
	{ "late", late, 100, RC, .sdp_only = true, .arg = NULL },
};

int main(int argc, char **argv)
{
	pattern_make();
	out_make();
	return run_tests(argv, tests, ARRAY_SIZE(tests));
}
