// SPDX-License-Identifier: GPL-2.0
/*
 * Large writes that lend their pages: MSG_ZEROCOPY, io_uring's send_zc, sendfile(2) and splice(2).
 * The peer gets the bytes by RDMA from these pages (requirement B8).
 *
 * The sender learns that its memory is free again when the peer has the bytes, and not earlier.
 */
#include "killing.h"
#include "reading.h"
#include "reports.h"
#include "uring.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>

/* Since 6.2; missing in older headers. */
#ifndef IORING_SEND_ZC_REPORT_USAGE
#define IORING_SEND_ZC_REPORT_USAGE	(1U << 3)
#define IORING_NOTIF_USAGE_ZC_COPIED	(1U << 31)
#endif

#define SNDBUF	(1 << 20)
#define PIECE	(1 << 18)

/* Room for several pieces. The kernel doubles the size. */
static void make_roomy(const struct pair *p)
{
	int size = SNDBUF;

	need_errno(!setsockopt(p->c, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)),
		   "SO_SNDBUFFORCE");
}

static struct pair pair_lending(void)
{
	struct pair p = pair_make();

	lend(p.c);
	make_roomy(&p);
	return p;
}

/* Pieces of a whole stream. */
static long pieces(void)
{
	return slow_kernel() ? 12 : 40;
}

/* Sends the stream from @at by MSG_ZEROCOPY and @flags. Returns the number of calls. */
static long send_lent(int fd, long at, long len, long piece, int flags)
{
	long end = at + len, calls = 0;

	while (at < end) {
		long part = end - at < piece ? end - at : piece;
		ssize_t n = send(fd, pattern(at), part, MSG_ZEROCOPY | MSG_NOSIGNAL | flags);

		if (n < 0) {
			need_errno(flags & MSG_DONTWAIT && errno == EAGAIN, "send");
			/* Reports raise POLLERR, which does not mean that there is room. */
			if (!(poll_for(fd, POLLOUT, WAIT_MS) & POLLOUT))
				pause_ms(1);
			continue;
		}
		need(n, "nothing taken at byte %ld", at);
		at += n;
		calls++;
	}
	return calls;
}

static long long by_rdma(void)
{
	return since_mark("RdmaReadBytes") + since_mark("RdmaWriteBytesByPeer");
}

/* Most of @len bytes have gone by RDMA from the sender's pages. */
static void went_by_rdma(long len)
{
	printf("# of %ld bytes %lld in the background, %lld referred to, %lld by RDMA\n", len,
	       since_mark("BackgroundBytes"), since_mark("BytesReferenced"), by_rdma());
	need(since_mark("BytesReferenced") > len / 4 * 3, "%lld bytes referred to",
	     since_mark("BytesReferenced"));
	need(by_rdma() > len / 4 * 3, "%lld bytes by RDMA", by_rdma());
}

/* MSG_ZEROCOPY to a reader with a large buffer. */
static int by_flag(void *arg)
{
	int flags = *(int *)arg;
	const long len = pieces() * PIECE;
	struct reports done = { 0 };
	struct pattern_reader r;
	struct pair p;
	pid_t pid;
	long calls;

	only_order_counts();
	p = pair_lending();
	r = (struct pattern_reader){ p.s, p.c, len, PIECE, 0 };
	counters_mark();
	pid = helper_start(pattern_reader_main, &r);
	calls = send_lent(p.c, 0, len, PIECE, flags);
	await_all_sent(p.c);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	went_by_rdma(len);
	reports_await(p.c, &done, calls);
	need(done.count == calls && !done.copied, "%ld reports of %ld sends, %ld copied",
	     done.count, calls, done.copied);
	return EXIT_OK;
}

/* C1, C2, C5: a reader that waits first has its buffer written to, straight from the pages. */
static int to_waiting_reader(void *arg)
{
	static unsigned char buf[PATTERN_LARGEST];
	struct reports done = { 0 };
	struct reading r;
	long at = 0;
	struct pair p = pair_pipelined(PIECE, &at);
	int i;

	lend(p.c);
	counters_mark();
	for (i = 0; i < 20; i++) {
		reading_post(&r, p.s, buf, PIECE, MSG_WAITALL);
		need(send_lent(p.c, at, PIECE, PIECE, 0) == 1, "sent in parts");
		reading_end(&r, PIECE, 0);
		pattern_check(at, buf, PIECE);
		at += PIECE;
		reports_await(p.c, &done, i + 1);
	}
	need(since_mark("RdmaWriteBytes") > 10 * PIECE, "%lld bytes written",
	     since_mark("RdmaWriteBytes"));
	need(!done.copied, "%ld copied", done.copied);
	return EXIT_OK;
}

/* The report comes when the peer has the bytes; the memory can be changed then. */
static int told_when_read(void *arg)
{
	struct reports done = { 0 };
	unsigned char *mem = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pair p = pair_lending();

	/* Else the scanner lets some of it go to the peer. */
	setting_set("scan_ms", NO_SCAN_MS);
	need(mem != MAP_FAILED, "mmap");
	memcpy(mem, pattern(0), PIECE);
	need_errno(send(p.c, mem, PIECE, MSG_ZEROCOPY) == PIECE, "send");
	pause_ms(quiet_ms());
	need(!report_take(p.c, &done), "a report before the peer has read");
	pattern_read(p.s, 0, PIECE, PIECE);
	reports_await(p.c, &done, 1);
	memset(mem, 0x5a, PIECE);
	need_errno(send(p.c, mem, PIECE, MSG_ZEROCOPY) == PIECE, "send");
	need_errno(!munmap(mem, PIECE), "munmap");
	drain(p.s, PIECE);
	reports_await(p.c, &done, 2);
	return EXIT_OK;
}

/* C9: nobody reads. The peer's scanner takes the bytes, and the sender is told. */
static int told_when_unread(void *arg)
{
	struct reports done = { 0 };
	struct pair p = pair_lending();
	long len = 1 << 16;

	setting_set("scan_ms", 20);
	setting_set("scan_count", 2);
	send_lent(p.c, 0, len, len, 0);
	reports_await(p.c, &done, 1);
	pattern_read(p.s, 0, len, len);
	return EXIT_OK;
}

/* B3, C2, C3: a reader with a small buffer gets messages, which refer to the pages. */
static int to_small_reader(void *arg)
{
	const long len = 30L * PIECE;
	struct reports done = { 0 };
	struct pair p = pair_lending();
	struct pattern_reader r = { p.s, p.c, len, 1000, 0 };
	long calls;
	pid_t pid;

	counters_mark();
	pid = helper_start(pattern_reader_main, &r);
	calls = send_lent(p.c, 0, len, PIECE, 0);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	need(since_mark("ModeBuffered") > 0, "it has not learnt that the reader reads small");
	need(since_mark("BackgroundBytes") < len / 2, "%lld bytes in the background",
	     since_mark("BackgroundBytes"));
	reports_await(p.c, &done, calls);
	return EXIT_OK;
}

/* B1: what is smaller than the threshold goes in messages, whatever lends it. */
static int too_small(void *arg)
{
	const long len = 1 << 15;
	struct reports done = { 0 };
	int file = pattern_file(8 * len), i;
	struct pair p = pair_lending();

	setting_set("rdma_threshold", len + 1);
	counters_mark();
	for (i = 0; i < 8; i++) {
		off_t at = i * len;

		if (i % 2)
			send_lent(p.c, at, len, len, 0);
		else
			need_errno(sendfile(p.c, file, &at, len) == len, "sendfile");
		pattern_read(p.s, i * len, len, len);
	}
	reports_await(p.c, &done, 4);
	need(!since_mark("BackgroundWrites") && !since_mark("SrcAvailSent"),
	     "%lld background writes, %lld SrcAvails", since_mark("BackgroundWrites"),
	     since_mark("SrcAvailSent"));
	return EXIT_OK;
}

/* Lent and copied writes of all sizes, that wait or not, keep their order. */
static int in_order(void *arg)
{
	static const long sizes[] = { PIECE, 1, PIECE + 77, 100, 70000, 5000, 3, 1 << 19 };
	const int rounds = scaled(40);
	struct reports done = { 0 };
	struct pair p = pair_lending();
	struct pattern_reader r = { p.s, p.c, 0, PIECE, 0 };
	unsigned int seed = 27182;
	long at = 0, calls = 0;
	pid_t pid;
	int i;

	for (i = 0; i < rounds * 8; i++)
		r.len += sizes[i % 8];
	counters_mark();
	pid = helper_start(pattern_reader_main, &r);
	for (i = 0; i < rounds * 8; i++) {
		long size = sizes[i % 8];

		switch (random_up_to(&seed, 3) - 1) {
		case 0:
			calls += send_lent(p.c, at, size, size, MSG_DONTWAIT);
			break;
		case 1:
			calls += send_lent(p.c, at, size, size, 0);
			break;
		default:
			pattern_write(p.c, at, size);
		}
		at += size;
		/* Unread reports hold memory, of which a program may lock little. */
		reports_await(p.c, &done, calls - 4);
	}
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	reports_await(p.c, &done, calls);
	need(since_mark("BackgroundBytes") > 0, "nothing in the background");
	return EXIT_OK;
}

/* Sends a file, from @skip. Every second write does not wait. */
static void send_file(int fd, int file, long skip, long len)
{
	off_t at = skip;

	while (at < skip + len) {
		ssize_t n;

		set_nonblock(fd, at / PIECE % 2);
		n = sendfile(fd, file, &at, skip + len - at < PIECE ? skip + len - at : PIECE);
		if (n < 0) {
			need_errno(errno == EAGAIN, "sendfile");
			need(poll_for(fd, POLLOUT, WAIT_MS), "no room at byte %ld", (long)at);
			continue;
		}
		need(n, "nothing taken at byte %ld", (long)at);
	}
	set_nonblock(fd, false);
}

/*
 * Writes that fail before their first byte are not reported, and hold nothing until an earlier one
 * is.
 */
static int undone(void *arg)
{
	struct reports done = { 0 };
	struct pair p = pair_lending();
	int i;

	setting_set("scan_ms", NO_SCAN_MS);
	need_errno(send(p.c, pattern(0), PIECE, MSG_ZEROCOPY) == PIECE, "send");
	for (i = 0; i < 1000; i++)
		need(send(p.c, NULL, PIECE, MSG_ZEROCOPY) < 0 && errno == EFAULT, "attempt %d: %s",
		     i, errno_text(errno));
	need_errno(send(p.c, pattern(PIECE), PIECE, MSG_ZEROCOPY) == PIECE, "send");
	pattern_read(p.s, 0, 2L * PIECE, PIECE);
	reports_await(p.c, &done, 2);
	return EXIT_OK;
}

/*
 * What a program corks goes on by RDMA when it is full, when the send buffer is full, and when the
 * program ends the cork or writes something else.
 */
static int held_no_longer(void *arg)
{
	const long len = 3L * PIECE - 5000;
	int file = pattern_file(len), i;

	if (!splices_many())
		return EXIT_SKIPPED;
	only_order_counts();
	setting_set("rdma_threshold", 32768);
	for (i = 0; i < 4; i++) {
		struct pair p = pair_lending();
		struct pattern_reader r = { p.s, p.c, len + 10, PIECE, 0 };
		pid_t pid;

		counters_mark();
		pid = helper_start(pattern_reader_main, &r);
		set_int(p.c, SOL_TCP, TCP_CORK, 1);
		if (i % 2)
			set_int(p.c, SOL_SOCKET, SO_SNDBUF, 1 << 16);
		send_file(p.c, file, 0, len);
		if (i / 2)
			set_int(p.c, SOL_TCP, TCP_CORK, 0);
		pattern_write(p.c, len, 10);
		set_int(p.c, SOL_TCP, TCP_CORK, 0);
		await_all_sent(p.c);
		need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
		helper_end(pid);
		printf("# %lld bytes by RDMA\n", by_rdma());
		need(by_rdma() > len / 4 * 3, "way %d: %lld bytes by RDMA", i, by_rdma());
		close(p.c);
		close(p.s);
	}
	return EXIT_OK;
}

/* What a program corks and forgets goes on by RDMA after a while. */
static int held_for_a_while(void *arg)
{
	const long len = PIECE / 2;
	int file = pattern_file(PIECE + len);
	struct pair p;

	if (!splices_many())
		return EXIT_SKIPPED;
	setting_set("scan_ms", NO_SCAN_MS);
	p = pair_lending();
	counters_mark();
	set_int(p.c, SOL_TCP, TCP_CORK, 1);
	send_file(p.c, file, 0, PIECE + len);
	pattern_read(p.s, 0, PIECE + len, PIECE);
	need(by_rdma() > PIECE / 4 * 3 + len / 4 * 3, "%lld bytes by RDMA", by_rdma());
	return EXIT_OK;
}

static void reads_stream(void *arg)
{
	const struct pattern_reader *r = arg;
	char more;

	close(r->other);
	/* @pause_first: where the stream begins in the pattern */
	pattern_read(r->fd, r->pause_first, r->len, r->piece);
	need(read(r->fd, &more, 1) == 0, "more than the %ld bytes sent", r->len);
}

/* sendfile(2) from any place of a file. */
static int of_a_file(void *arg)
{
	const long skip = *(long *)arg, len = pieces() * PIECE;
	int file = pattern_file(skip + len);
	struct pattern_reader r;
	struct pair p;
	pid_t pid;

	only_order_counts();
	p = pair_lending();
	r = (struct pattern_reader){ p.s, p.c, len, PIECE, skip };
	setting_set("rdma_threshold", 32768);
	counters_mark();
	pid = helper_start(reads_stream, &r);
	send_file(p.c, file, skip, len);
	await_all_sent(p.c);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	if (splices_many())
		went_by_rdma(len);
	return EXIT_OK;
}

/* The file is truncated while its pages are lent: they stay until the peer has them. */
static int truncated(void *arg)
{
	const long len = 1 << 16;
	int file = pattern_file(len), i;
	unsigned char buf[1 << 16];

	setting_set("scan_ms", NO_SCAN_MS);
	setting_set("rdma_threshold", 32768);
	for (i = 0; i < 20; i++) {
		struct pair p = pair_lending();
		off_t at = 0;

		need_errno(sendfile(p.c, file, &at, len) == len, "sendfile");
		need_errno(!ftruncate(file, i % 2 ? 0 : 5000), "ftruncate");
		recv_all(p.s, buf, len);
		close(p.c);
		close(p.s);
		need_errno(!ftruncate(file, 0), "ftruncate");
		need_errno(pwrite(file, pattern(0), len, 0) == len, "pwrite");
	}
	return EXIT_OK;
}

/* The result and the notification of send_zc. */
static void uring_send(int fd, long at, unsigned long id, bool registered)
{
	if (registered)
		io_uring_prep_send_zc_fixed(request(id), fd, pattern(at), PIECE, 0, 0, 0);
	else
		io_uring_prep_send_zc(request(id), fd, pattern(at), PIECE, 0, 0);
	submit();
}

/* io_uring's send_zc, from ordinary and from registered memory. */
static int by_uring(void *arg)
{
	const long len = pieces() * PIECE;
	struct iovec whole = { pattern_bytes, sizeof(pattern_bytes) };
	struct pattern_reader r;
	struct done cqe;
	long at = 0, i;
	struct pair p;
	pid_t pid;

	only_order_counts();
	p = pair_lending();
	r = (struct pattern_reader){ p.s, p.c, len, PIECE, 0 };
	ring_open();
	need(!io_uring_register_buffers(&ring, &whole, 1), "io_uring_register_buffers");
	counters_mark();
	pid = helper_start(pattern_reader_main, &r);
	for (i = 0; at < len; i++) {
		uring_send(p.c, at, i, i % 2);
		cqe = complete(i);
		need(cqe.res > 0 && cqe.flags & IORING_CQE_F_MORE, "send_zc: %d", cqe.res);
		at += cqe.res;
		need(completion(&cqe, WAIT_MS) && cqe.id == (unsigned long)i &&
		     cqe.flags & IORING_CQE_F_NOTIF, "no notification");
		if (len - at < PIECE)
			break;
	}
	pattern_write(p.c, at, len - at);
	await_all_sent(p.c);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	went_by_rdma(len);
	return EXIT_OK;
}

/*
 * io_uring is told that the bytes were not copied, also if a reader that waits has them written to
 * its buffer, so that no message has any of them.
 */
static int uring_not_copied(void *arg)
{
	static unsigned char buf[PATTERN_LARGEST];
	struct reading r;
	struct done cqe;
	long at = 0;
	struct pair p = pair_pipelined(PIECE, &at);
	int i;

	if (!splices_many())
		return EXIT_SKIPPED;
	make_roomy(&p);
	ring_open();
	counters_mark();
	for (i = 0; i < 20; i++, at += PIECE) {
		reading_post(&r, p.s, buf, PIECE, MSG_WAITALL);
		io_uring_prep_send_zc(request(i), p.c, pattern(at), PIECE, 0,
				      IORING_SEND_ZC_REPORT_USAGE);
		submit();
		cqe = complete(i);
		need(cqe.res == PIECE, "send_zc: %d", cqe.res);
		need(completion(&cqe, WAIT_MS) && cqe.flags & IORING_CQE_F_NOTIF,
		     "no notification");
		need(!(cqe.res & IORING_NOTIF_USAGE_ZC_COPIED), "copied, it says");
		reading_end(&r, PIECE, 0);
		pattern_check(at, buf, PIECE);
	}
	need(since_mark("RdmaWriteBytes") > 10 * PIECE, "%lld bytes written",
	     since_mark("RdmaWriteBytes"));
	return EXIT_OK;
}

/* The sender exits, and its memory with it: the peer gets all bytes. */
static void sends_and_exits(void *arg)
{
	const struct pair *p = arg;

	close(p->s);
	send_lent(p->c, 0, 4L * PIECE, PIECE, 0);
}

static int sender_exits(void *arg)
{
	int i;

	for (i = 0; i < scaled(20); i++) {
		struct pair p = pair_lending();
		pid_t pid = helper_start(sends_and_exits, &p);
		char more;

		close(p.c);
		helper_end(pid);
		pattern_read(p.s, 0, 4L * PIECE, PIECE);
		need(read(p.s, &more, 1) == 0, "more than the bytes sent");
		close(p.s);
	}
	return EXIT_OK;
}

/*
 * Each way in which a connection can end: the sender gets its reports, and the pages that count
 * against RLIMIT_MEMLOCK are given back.
 */
static void ends_at_once(int how)
{
	struct linger reset = { .l_onoff = 1 };
	struct pair p = pair_lending();
	struct reports done = { 0 };
	long calls = send_lent(p.c, 0, 2L * PIECE, PIECE, 0);

	if (how & 1)
		pattern_read(p.s, 0, PIECE / 3, PIECE / 3);
	if (how & 2)
		need_errno(!setsockopt(p.s, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)),
			   "SO_LINGER");
	if (how & 4) {
		close(p.s);
		reports_await(p.c, &done, calls);
		close(p.c);
		return;
	}
	close(p.c);
	close(p.s);
}

static void ends_with_little_memory(void *arg)
{
	struct rlimit limit = { 4L * PIECE, 4L * PIECE };
	int i;

	need_errno(!setrlimit(RLIMIT_MEMLOCK, &limit), "RLIMIT_MEMLOCK");
	/* The limit does not apply to privileged programs. */
	need_errno(!setuid(65534), "setuid");
	for (i = 0; i < scaled(64); i++) {
		struct pair p = pair_make();
		long long end = now_ms() + WAIT_MS;
		struct reports done = { 0 };
		ssize_t n;

		lend(p.c);
		while ((n = send(p.c, pattern(0), 1 << 17, MSG_ZEROCOPY)) < 0) {
			need_errno(errno == ENOBUFS, "send");
			need(now_ms() < end, "memory is still counted");
			pause_ms(1);
		}
		need(n == 1 << 17, "%zd bytes sent", n);
		if (i % 2)
			close(p.s);
		else
			pattern_read(p.s, 0, n, n);
		reports_await(p.c, &done, 1);
		close(p.c);
		close(p.s);
	}
}

static int ends(void *arg)
{
	int i, rounds = scaled(64);

	counters_mark();
	for (i = 0; i < rounds; i++)
		ends_at_once(i % 8);
	need(since_mark("BackgroundWrites") > rounds, "%lld background writes",
	     since_mark("BackgroundWrites"));
	helper_end(helper_start(ends_with_little_memory, NULL));
	return EXIT_OK;
}

static int killed(void *arg)
{
	talks_killed(&endless_lent, scaled(100), 30, 161803);
	return EXIT_OK;
}

static int may_wait, may_not_wait = MSG_DONTWAIT;
static long beginning, aligned = 1 << 14, anywhere = 12345;

static const struct test tests[] = {
	{ "waiting", by_flag, 30, RC | 1u << SET_RC6, true, &may_wait },
	{ "not_waiting", by_flag, 30, RC, true, &may_not_wait },
	CASE(to_waiting_reader, 30, RC),
	CASE(told_when_read, 30, RC),
	CASE(told_when_unread, 30, RC),
	CASE(to_small_reader, 60, RC),
	CASE(too_small, 30, RC),
	CASE(in_order, 90, RC),
	{ "of_a_file", of_a_file, 30, RC, true, &beginning },
	{ "of_a_file_inside", of_a_file, 30, RC, true, &aligned },
	{ "of_a_file_anywhere", of_a_file, 30, RC, true, &anywhere },
	CASE(truncated, 30, RC),
	CASE(by_uring, 30, RC),
	CASE(uring_not_copied, 30, RC),
	CASE(undone, 30, RC),
	CASE(held_no_longer, 30, RC),
	CASE(held_for_a_while, 30, RC),
	CASE(sender_exits, 60, RC),
	CASE(ends, 90, RC),
	CASE(killed, 90, RC),
};

PATTERN_MAIN(tests)
