// SPDX-License-Identifier: GPL-2.0
/*
 * readv() and writev() whose pieces join at page boundaries: they are one region (B1).
 *
 * Each piece is too small for RDMA by itself.
 */
#include "pinned.h"
#include "reading.h"

#define PAGE	4096L
#define PIECES	16
#define PIECE	(4 * PAGE)
#define WRITE	(PIECES * PIECE)
#define MEMORY	(4 << 20)

static unsigned char *memory_new(void)
{
	unsigned char *m = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);

	need_errno(m != MAP_FAILED, "mmap");
	return m;
}

/* Pieces of whole pages, with a page between them that belongs to none. */
static void pieces_of_pages(struct iovec *iov, unsigned char *memory)
{
	int i;

	for (i = 0; i < PIECES; i++) {
		iov[i].iov_base = memory + i * (PIECE + PAGE);
		iov[i].iov_len = PIECE;
	}
}

/* Pieces that join, have gaps between them, or are empty. Returns their length. */
static long pieces_at_random(struct iovec *iov, unsigned char *memory, unsigned int *seed)
{
	long total = 0, at = random_up_to(seed, PAGE);
	int i;

	for (i = 0; i < PIECES; i++) {
		bool pages = !one_in(seed, 5);
		long n = random_up_to(seed, 20 * PAGE);

		if (pages)
			n += PAGE - (at + n) % PAGE;
		if (one_in(seed, 8))
			n = 0;
		iov[i].iov_base = memory + at;
		iov[i].iov_len = n;
		total += n;
		at += n + PAGE;
		if (pages && !one_in(seed, 5))
			at -= at % PAGE;
	}
	return total;
}

static void pieces_fill(const struct iovec *iov, long at)
{
	int i;

	for (i = 0; i < PIECES; at += iov[i++].iov_len)
		memcpy(iov[i].iov_base, pattern(at), iov[i].iov_len);
}

static void pieces_check(const struct iovec *iov, long at)
{
	int i;

	for (i = 0; i < PIECES; at += iov[i++].iov_len)
		pattern_check(at, iov[i].iov_base, iov[i].iov_len);
}

static void pieces_read(int fd, struct iovec *iov, long len)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = PIECES };
	ssize_t n = recvmsg(fd, &msg, MSG_WAITALL);

	need(n == len, "recvmsg: %zd of %ld, %s", n, len, errno_text(errno));
}

/* One SrcAvail for all pieces of a write. */
static int write_once(void *arg)
{
	struct pair p = pair_that_waits();
	struct pattern_reader r = { p.s, p.c, WRITE, WRITE, 0 };
	struct iovec iov[PIECES];
	pid_t pid;

	only_order_counts();
	pieces_of_pages(iov, memory_new());
	pieces_fill(iov, 0);
	counters_mark();
	pid = helper_start(pattern_reader_main, &r);
	need(writev(p.c, iov, PIECES) == WRITE, "writev: %s", errno_text(errno));
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	need(since_mark("SrcAvailSent") == 1, "%lld SrcAvails", since_mark("SrcAvailSent"));
	need(since_mark("RdmaReadBytesByPeer") >= WRITE - PAGE, "%lld bytes read by RDMA",
	     since_mark("RdmaReadBytesByPeer"));
	need(!since_mark("BackgroundBytes"), "%lld bytes copied", since_mark("BackgroundBytes"));
	await_unpinned();
	return EXIT_OK;
}

/* A small piece before the region goes in a message, and the region from the process's memory. */
static int behind_header(void *arg)
{
	const long header = 100;
	struct pair p = pair_that_waits();
	struct pattern_reader r = { p.s, p.c, header + WRITE, WRITE, 0 };
	struct iovec iov[1 + PIECES];
	unsigned char *memory = memory_new();
	pid_t pid;

	only_order_counts();
	iov[0] = (struct iovec){ memory + MEMORY - PAGE, header };
	memcpy(iov[0].iov_base, pattern(0), header);
	pieces_of_pages(iov + 1, memory);
	pieces_fill(iov + 1, header);
	counters_mark();
	pid = helper_start(pattern_reader_main, &r);
	need(writev(p.c, iov, 1 + PIECES) == header + WRITE, "writev: %s", errno_text(errno));
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	need(since_mark("SrcAvailSent") == 1, "%lld SrcAvails", since_mark("SrcAvailSent"));
	need(!since_mark("BackgroundBytes"), "%lld bytes copied", since_mark("BackgroundBytes"));
	await_unpinned();
	return EXIT_OK;
}

static void writes(void *arg)
{
	const struct pattern_reader *r = arg;

	send_all(r->fd, pattern(0), r->len);
}

/* One RDMA read into all pieces of a reader that comes later, and one answer. */
static int read_once(void *arg)
{
	struct pair p = pair_that_waits();
	struct pattern_reader w = { .fd = p.c, .len = WRITE };
	struct iovec iov[PIECES];
	long long arrived;
	__u64 answers;
	pid_t pid;

	only_order_counts();
	pieces_of_pages(iov, memory_new());
	counters_mark();
	arrived = counter("SrcAvailReceived");
	pid = helper_start(writes, &w);
	await_counter_above("SrcAvailReceived", arrived);
	answers = info_of(p.s).msgs_sent;
	pieces_read(p.s, iov, WRITE);
	pieces_check(iov, 0);
	helper_end(pid);
	answers = info_of(p.s).msgs_sent - answers;
	need(answers == 1, "%llu answers", (unsigned long long)answers);
	need(since_mark("RdmaReadBytes") >= WRITE - PAGE, "%lld bytes read by RDMA",
	     since_mark("RdmaReadBytes"));
	await_unpinned();
	return EXIT_OK;
}

static void writes_in_turn(void *arg)
{
	const struct pattern_reader *r = arg;
	char next;
	long at;

	for (at = 0; at < r->len; at += r->piece) {
		recv_all(r->fd, &next, 1);
		send_all(r->fd, pattern(at), r->piece);
	}
}

/* All pieces of a reader that waits are one buffer for the peer, in Pipelined mode. */
static int advertised_once(void *arg)
{
	const int rounds = AFTER + 5;
	struct pair p = pair_that_waits();
	struct pattern_reader w = { .fd = p.c, .len = rounds * WRITE, .piece = WRITE };
	struct iovec iov[PIECES];
	pid_t pid;
	long at;

	only_order_counts();
	pieces_of_pages(iov, memory_new());
	counters_mark();
	pid = helper_start(writes_in_turn, &w);
	for (at = 0; at < w.len; at += WRITE) {
		send_all(p.s, "n", 1);
		pieces_read(p.s, iov, WRITE);
		pieces_check(iov, at);
	}
	helper_end(pid);
	need(info_of(p.s).rx_mode == SDP_INFO_PIPELINED, "mode %u", info_of(p.s).rx_mode);
	need(since_mark("RdmaWriteBytesByPeer") >= WRITE, "%lld bytes written by RDMA",
	     since_mark("RdmaWriteBytesByPeer"));
	need(since_mark("SinkAvailSent") * WRITE >= since_mark("RdmaWriteBytesByPeer") &&
	     since_mark("SinkAvailSent") <= rounds, "%lld SinkAvails",
	     since_mark("SinkAvailSent"));
	await_unpinned();
	return EXIT_OK;
}

/* Like TCP, a write ends before the piece that cannot be read. */
static int unreadable(void *arg)
{
	const int good = 7;
	struct pair p = pair_that_waits();
	struct pattern_reader r = { p.s, p.c, good * PIECE, PIECE, 0 };
	struct iovec iov[PIECES];
	ssize_t n;
	pid_t pid;

	pieces_of_pages(iov, memory_new());
	pieces_fill(iov, 0);
	need_errno(!mprotect(iov[good].iov_base, PAGE, PROT_NONE), "mprotect");
	pid = helper_start(pattern_reader_main, &r);
	n = writev(p.c, iov, PIECES);
	need(n == good * PIECE, "writev: %zd, %s", n, errno_text(errno));
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	await_unpinned();
	return EXIT_OK;
}

struct both {
	struct pair p;
	unsigned int seed;
	int rounds;
};

static void writes_at_random(void *arg)
{
	struct both *b = arg;
	unsigned char *memory = memory_new();
	struct iovec iov[PIECES];
	long at = 0, len;
	int i;

	for (i = 0; i < b->rounds; i++) {
		len = pieces_at_random(iov, memory, &b->seed);
		pieces_fill(iov, at);
		need(writev(b->p.c, iov, PIECES) == len, "writev: %s", errno_text(errno));
		at += len;
	}
	need_errno(!shutdown(b->p.c, SHUT_WR), "shutdown");
}

/* Pieces of any shape at both ends. */
static int at_random(void *arg)
{
	struct both b = { .p = pair_make(), .seed = 27182, .rounds = scaled(60) };
	unsigned int seed = 31415;
	unsigned char *memory = memory_new();
	struct iovec iov[PIECES];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = PIECES };
	pid_t pid = helper_start(writes_at_random, &b);
	ssize_t n, len;
	long at = 0;

	close(b.p.c);
	do {
		int i;

		len = pieces_at_random(iov, memory, &seed);
		n = recvmsg(b.p.s, &msg, MSG_WAITALL);
		need_errno(n >= 0, "recvmsg");
		for (i = 0, len = n; len; len -= iov[i++].iov_len) {
			if (iov[i].iov_len > (size_t)len)
				iov[i].iov_len = len;
			pattern_check(at, iov[i].iov_base, iov[i].iov_len);
			at += iov[i].iov_len;
		}
	} while (n);
	helper_end(pid);
	await_unpinned();
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(write_once, 30, RC),
	CASE(behind_header, 30, RC),
	CASE(read_once, 30, RC),
	CASE(advertised_once, 30, RC),
	CASE(unreadable, 30, RC),
	CASE(at_random, 60, RC),
};

PATTERN_MAIN(tests)
