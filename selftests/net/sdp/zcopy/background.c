// SPDX-License-Identifier: GPL-2.0
/*
 * Large non-blocking writes: the call returns as soon as the kernel has the bytes, and they go by
 * RDMA afterwards (requirement B8).
 */
#include "killing.h"
#include "reading.h"

#define SNDBUF	(1 << 20)
#define PIECE	(1 << 18)

/* The kernel doubles it. */
static void make_roomy(const struct pair *p)
{
	int size = SNDBUF;

	need_errno(!setsockopt(p->c, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)),
		   "SO_SNDBUFFORCE");
}

static struct pair pair_roomy(void)
{
	struct pair p = pair_make();

	make_roomy(&p);
	return p;
}

/*
 * Writes the stream from @at by calls that do not wait, in pieces of @piece bytes. The memory is
 * overwritten after each call, as a program may do.
 */
static void write_nowait(int fd, long at, long len, long piece)
{
	static unsigned char buf[PATTERN_LARGEST];
	long end = at + len;

	while (at < end) {
		long part = end - at < piece ? end - at : piece;
		ssize_t n;

		memcpy(buf, pattern(at), part);
		/* Both ways to say that the call must not wait, in turns. */
		set_nonblock(fd, at / piece % 2);
		n = at / piece % 2 ? write(fd, buf, part) :
				     send(fd, buf, part, MSG_DONTWAIT | MSG_NOSIGNAL);
		memset(buf, 0xa5, part);
		if (n < 0) {
			need_errno(errno == EAGAIN, "send");
			need(poll_for(fd, POLLOUT, WAIT_MS), "no room at byte %ld", at);
			continue;
		}
		need(n, "nothing taken at byte %ld", at);
		at += n;
	}
	set_nonblock(fd, false);
}

static void reads_all(const struct pair *p, long len, long piece, long write_piece)
{
	struct pattern_reader r = { p->s, p->c, len, piece, 0 };
	pid_t pid = helper_start(pattern_reader_main, &r);

	write_nowait(p->c, 0, len, write_piece);
	need_errno(!shutdown(p->c, SHUT_WR), "shutdown");
	helper_end(pid);
}

static long long by_rdma(void)
{
	return since_mark("RdmaReadBytes") + since_mark("RdmaWriteBytesByPeer");
}

/* A reader with a large buffer gets the bytes by RDMA. */
static int to_large_reader(void *arg)
{
	const long len = 40L * PIECE;
	struct pair p;

	only_order_counts();
	p = pair_roomy();
	counters_mark();
	reads_all(&p, len, PIECE, PIECE);
	printf("# %lld background writes of %lld bytes, %lld by RDMA, %lld SrcAvail\n",
	       since_mark("BackgroundWrites"), since_mark("BackgroundBytes"), by_rdma(),
	       since_mark("SrcAvailSent"));
	need(since_mark("BackgroundBytes") > len / 4 * 3, "%lld bytes in the background",
	     since_mark("BackgroundBytes"));
	need(by_rdma() > len / 4 * 3, "%lld bytes by RDMA", by_rdma());
	return EXIT_OK;
}

/* C1, C2, C5: a reader that waits first advertises its buffer, and the bytes are written there. */
static int to_waiting_reader(void *arg)
{
	long size = *(long *)arg;
	static unsigned char buf[PATTERN_LARGEST];
	struct reading r;
	long at = 0;
	struct pair p = pair_pipelined(size, &at);
	int i;

	make_roomy(&p);
	counters_mark();
	for (i = 0; i < 20; i++) {
		reading_post(&r, p.s, buf, size, MSG_WAITALL);
		write_nowait(p.c, at, size, size);
		reading_end(&r, size, 0);
		pattern_check(at, buf, size);
		at += size;
	}
	need(since_mark("BackgroundBytes") == 20 * size, "%lld bytes in the background",
	     since_mark("BackgroundBytes"));
	need(since_mark("RdmaWriteBytes") > 10 * size, "%lld bytes written",
	     since_mark("RdmaWriteBytes"));
	need(!since_mark("ModeCombined"), "the mode was left");
	return EXIT_OK;
}

static void waiting_reader(void *arg)
{
	const struct pattern_reader *r = arg;
	static unsigned char buf[PATTERN_LARGEST];
	long at;

	close(r->other);
	for (at = 0; at < r->len; at += r->piece) {
		need_errno(recv(r->fd, buf, r->piece, MSG_WAITALL) == r->piece, "recv");
		pattern_check(at, buf, r->piece);
	}
}

/* Streams @len bytes to @reader, which makes calls for @piece bytes in another process. */
static void stream_nowait_to(void (*reader)(void *arg), long len, long piece)
{
	struct pattern_reader r = { .len = len, .piece = piece };
	struct pair p;
	pid_t pid;

	only_order_counts();
	/* Nor does the time for which a writer waits. */
	setting_set("reader_wait_ms", READER_WAIT_MOST);
	p = pair_roomy();
	r.fd = p.s;
	r.other = p.c;
	counters_mark();
	pid = helper_start(reader, &r);
	write_nowait(p.c, 0, len, PIECE);
	helper_end(pid);
}

/* A write that is larger than the reader's buffers goes into several of them. */
static int to_smaller_buffers(void *arg)
{
	const long len = 60L * PIECE;

	stream_nowait_to(waiting_reader, len, PIECE / 4);
	printf("# %lld bytes written, %lld read\n", since_mark("RdmaWriteBytes"),
	       since_mark("RdmaReadBytes"));
	need(by_rdma() > len / 4 * 3, "%lld bytes by RDMA", by_rdma());
	return EXIT_OK;
}

/* B3, C2, C3: a reader with a small buffer gets messages, and no large write is taken any more. */
static int to_small_reader(void *arg)
{
	const long len = 60L * PIECE;
	struct pair p = pair_roomy();

	counters_mark();
	reads_all(&p, len, 1000, PIECE);
	need(since_mark("ModeBuffered") > 0, "it has not learnt that the reader reads small");
	need(since_mark("BackgroundBytes") < len / 2, "%lld bytes in the background",
	     since_mark("BackgroundBytes"));
	return EXIT_OK;
}

static void polled_reader(void *arg)
{
	const struct pattern_reader *r = arg;

	close(r->other);
	pattern_read_polled(r->fd, 0, r->len, r->piece);
}

/* Neither end waits in a call. */
static int both_polled(void *arg)
{
	const long len = 40L * PIECE;

	stream_nowait_to(polled_reader, len, PIECE);
	need(since_mark("BackgroundBytes") > len / 4 * 3, "%lld bytes in the background",
	     since_mark("BackgroundBytes"));
	need(since_mark("RdmaReadBytes") > len / 2, "%lld bytes by RDMA",
	     since_mark("RdmaReadBytes"));
	return EXIT_OK;
}

/* Writes the stream by calls that may wait, in pieces of @piece bytes of a call of PIECE. */
static void write_pieces(int fd, long len, long piece)
{
	struct iovec iov[PIECE / 1000 + 1];
	long at, done;
	int n;

	for (at = 0; at < len; at += PIECE) {
		for (done = 0, n = 0; done < PIECE; n++) {
			iov[n].iov_base = (void *)pattern(at + done);
			iov[n].iov_len = PIECE - done < piece ? PIECE - done : piece;
			done += iov[n].iov_len;
		}
		need_errno(writev(fd, iov, n) == PIECE, "writev");
	}
}

/*
 * B1: the size of the whole call decides. Pieces that are small by themselves are copied together;
 * a large one goes from the program's own memory, also behind a header.
 */
static int in_pieces(void *arg)
{
	const long piece = *(long *)arg, len = 40L * PIECE;
	struct pattern_reader r = { .len = len, .piece = PIECE };
	struct pair p;
	pid_t pid;

	only_order_counts();
	p = pair_roomy();
	r.fd = p.s;
	r.other = p.c;
	counters_mark();
	pid = helper_start(pattern_reader_main, &r);
	write_pieces(p.c, len, piece);
	await_all_sent(p.c);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	printf("# %lld bytes in the background, %lld by RDMA\n", since_mark("BackgroundBytes"),
	       by_rdma());
	need(by_rdma() > len / 4 * 3, "%lld bytes by RDMA", by_rdma());
	if (piece < 65536)
		need(since_mark("BackgroundBytes") > len / 4 * 3, "%lld bytes in the background",
		     since_mark("BackgroundBytes"));
	else
		need(!since_mark("BackgroundBytes"), "%lld bytes in the background",
		     since_mark("BackgroundBytes"));
	return EXIT_OK;
}

/* Fills the send buffer without a reader. Returns the number of bytes taken. */
static long fill_by(int fd, long piece)
{
	long at = 0;
	ssize_t n;

	while ((n = send(fd, pattern(at), piece, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
		at += n;
	need_errno(n < 0 && errno == EAGAIN, "send");
	return at;
}

/*
 * What several calls have written, and has to wait for its turn, goes in one transfer. Only the
 * first two writes are alone: nothing is before the first one, and the second one gets ready while
 * the first one waits for the reader.
 */
static int together(void *arg)
{
	const long piece = *(long *)arg;
	struct pair p = pair_roomy();
	long len, most;

	setting_set("scan_ms", NO_SCAN_MS);
	counters_mark();
	len = fill_by(p.c, piece);
	most = 3 + len / (PIECE - piece);
	printf("# %lld background writes of %ld bytes\n", since_mark("BackgroundWrites"), len);
	need(since_mark("BackgroundWrites") <= most, "%lld background writes, not %ld",
	     since_mark("BackgroundWrites"), most);
	pattern_read(p.s, 0, len, PIECE);
	need(by_rdma() > len / 4 * 3, "%lld bytes by RDMA", by_rdma());
	in_step(p.c, p.s, &len, 3, 1000);
	return EXIT_OK;
}

/* Small writes between large ones join them. */
static int with_headers(void *arg)
{
	const int n = 12, header = 100, body = 1 << 16;
	struct pair p = pair_roomy();
	long at = 0;
	int i;

	setting_set("scan_ms", NO_SCAN_MS);
	counters_mark();
	for (i = 0; i < n; i++) {
		write_nowait(p.c, at, header, header);
		write_nowait(p.c, at + header, body, body);
		at += header + body;
	}
	need(since_mark("BackgroundWrites") <= 3 + n / 3, "%lld background writes",
	     since_mark("BackgroundWrites"));
	need(since_mark("BackgroundBytes") >= at - 3 * header, "%lld of %ld bytes",
	     since_mark("BackgroundBytes"), at);
	pattern_read(p.s, 0, at, PIECE);
	need(by_rdma() > at / 4 * 3, "%lld bytes by RDMA", by_rdma());
	return EXIT_OK;
}

/*
 * A2: all of it is counted: no more is taken than SO_SNDBUF, and SIOCOUTQ shows what has not
 * arrived. Once it has been read nothing is left, and the writer is woken.
 */
static int accounted(void *arg)
{
	struct pair p = pair_roomy();
	int size = get_int(p.c, SOL_SOCKET, SO_SNDBUF), queued;
	long len;

	/* Else the scanner lets some of it go to the peer. */
	setting_set("scan_ms", NO_SCAN_MS);
	counters_mark();
	len = fill_by(p.c, PIECE);
	need(since_mark("BackgroundWrites") > 1, "%lld background writes",
	     since_mark("BackgroundWrites"));
	need(len <= size + PIECE, "%ld bytes taken of %d", len, size);
	need_errno(!ioctl(p.c, SIOCOUTQ, &queued), "SIOCOUTQ");
	need(queued > len - 4096 && queued <= len, "%d bytes queued of %ld", queued, len);
	need(!poll_for(p.c, POLLOUT, 0), "writable although full");
	pattern_read(p.s, 0, len, PIECE);
	need(poll_for(p.c, POLLOUT, WAIT_MS), "not writable although all was read");
	await_all_sent(p.c);
	in_step(p.c, p.s, &len, 3, 1000);
	return EXIT_OK;
}

static void *reads_after_close(void *arg)
{
	const struct pattern_reader *r = arg;
	char more;

	pause_ms(r->pause_first);
	pattern_read(r->fd, 0, r->len, r->piece);
	need(read(r->fd, &more, 1) == 0, "more than the %ld bytes sent", r->len);
	return NULL;
}

/*
 * What is in the background arrives after a close, in order, and then the end of the stream. With
 * SO_LINGER close() waits for that.
 */
static int closed(void *arg)
{
	struct linger l = { .l_onoff = *(bool *)arg, .l_linger = 30 };
	struct pair p = pair_roomy();
	struct pattern_reader r = { .fd = p.s, .piece = PIECE, .pause_first = 50 };
	long long begun;
	pthread_t reader;

	counters_mark();
	need_errno(!setsockopt(p.c, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), "SO_LINGER");
	r.len = fill_by(p.c, PIECE);
	need(since_mark("BackgroundWrites") > 1, "%lld background writes",
	     since_mark("BackgroundWrites"));
	begun = now_ms();
	need(!pthread_create(&reader, NULL, reads_after_close, &r), "pthread_create");
	need_errno(!close(p.c), "close");
	need(!l.l_onoff || now_ms() - begun >= r.pause_first, "close() has not waited");
	pthread_join(reader, NULL);
	return EXIT_OK;
}

/* Calls that wait, small writes and large ones keep their order behind it. */
static void writes_pieces(void *arg)
{
	const struct pattern_reader *w = arg;
	long at;

	for (at = 0; at < w->len; at += w->piece)
		send_all(w->fd, pattern(at), w->piece);
}

/*
 * A writer whose queue never runs empty gets back to its own memory: when readers come at once
 * again, it waits until its background writes are gone.
 */
static int returns_to_own_memory(void *arg)
{
	const long late = 16L * PIECE, len = 40L * PIECE;
	struct pair p = pair_roomy();
	struct pattern_reader w = { .fd = p.c, .len = len, .piece = PIECE };
	long long before;
	pid_t pid;

	setting_set("scan_ms", NO_SCAN_MS);
	setting_set("reader_wait_ms", 1);
	before = counter("BackgroundBytes");
	pid = helper_start(writes_pieces, &w);
	await_counter_above("BackgroundBytes", before + 2L * PIECE);
	only_order_counts();
	setting_set("reader_wait_ms", READER_WAIT_MOST);
	pattern_read(p.s, 0, late, PIECE);
	counters_mark();
	pattern_read(p.s, late, len - late, PIECE);
	helper_end(pid);
	need(!since_mark("BackgroundBytes"), "%lld bytes are still copied",
	     since_mark("BackgroundBytes"));
	need(by_rdma() > (len - late) / 4 * 3, "%lld bytes by RDMA", by_rdma());
	return EXIT_OK;
}

static int in_order(void *arg)
{
	static const long sizes[] = { PIECE, 1, PIECE + 77, 100, 70000, 5000, 3, 1 << 20 };
	const int rounds = scaled(40);
	struct pair p = pair_roomy();
	struct pattern_reader r = { p.s, p.c, 0, PIECE, 0 };
	unsigned int seed = 6174;
	long at = 0;
	pid_t pid;
	int i;

	for (i = 0; i < rounds * 8; i++)
		r.len += sizes[i % 8];
	counters_mark();
	pid = helper_start(pattern_reader_main, &r);
	for (i = 0; i < rounds * 8; i++) {
		if (one_in(&seed, 2))
			write_nowait(p.c, at, sizes[i % 8], PATTERN_LARGEST);
		else
			pattern_write(p.c, at, sizes[i % 8]);
		at += sizes[i % 8];
	}
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	need(since_mark("BackgroundBytes") > 0, "nothing in the background");
	return EXIT_OK;
}

/* B7: an urgent byte behind it comes at its place. */
static int urgent_behind(void *arg)
{
	struct pair p = pair_roomy();
	long len = 3L * PIECE;
	char byte = 'u', got = 0;

	write_nowait(p.c, 0, len, PIECE);
	need_errno(send(p.c, &byte, 1, MSG_OOB | MSG_DONTWAIT) == 1, "send MSG_OOB");
	write_nowait(p.c, len, 1000, 1000);
	pattern_read(p.s, 0, len, PIECE);
	need(poll_for(p.s, POLLPRI, WAIT_MS), "no urgent byte");
	need_errno(recv(p.s, &got, 1, MSG_OOB) == 1, "recv MSG_OOB");
	need(got == byte, "the urgent byte is %#x", got);
	pattern_read(p.s, len, 1000, 1000);
	return EXIT_OK;
}

/* C9: nobody reads; the scanner at the peer takes it in messages, as far as there is room. */
static int unread(void *arg)
{
	struct pair p = pair_roomy();
	long long fired = counter("ScansFired");
	long len;

	setting_set("scan_ms", 20);
	setting_set("scan_count", 2);
	len = fill_by(p.c, PIECE);
	await_counter_above("ScansFired", fired);
	pattern_read(p.s, 0, len, PIECE);
	return EXIT_OK;
}

/*
 * B6: a call that may wait returns as soon as its bytes fit, as with TCP. The first one waits a
 * moment for a reader. The next ones do not even do that, until a reader has been there at once.
 */
static int waits_for_no_reader(void *arg)
{
	static unsigned char buf[PIECE];
	struct pair p;
	struct reading r;
	long at = 0;
	int i;

	setting_set("scan_ms", NO_SCAN_MS);
	p = pair_roomy();
	counters_mark();
	for (i = 0; i < 3; i++, at += PIECE)
		send_all(p.c, pattern(at), PIECE);
	need(since_mark("SrcAvailCancelled") == 1, "%lld cancelled",
	     since_mark("SrcAvailCancelled"));
	need(since_mark("BackgroundBytes") > 3L * PIECE - 4096, "%lld bytes in the background",
	     since_mark("BackgroundBytes"));
	pattern_read(p.s, 0, at, PIECE);
	/* On a busy machine a reader that waits may be late as well. */
	do {
		reading_begin(&r, p.s, buf, PIECE, MSG_WAITALL);
		counters_mark();
		send_all(p.c, pattern(at), PIECE);
		reading_end(&r, PIECE, 0);
		pattern_check(at, buf, PIECE);
		at += PIECE;
	} while (since_mark("BackgroundBytes"));
	return EXIT_OK;
}

/* Memory that is taken for it is free again after each way in which a connection can end. */
static void ends_at_once(int how)
{
	struct pair p = pair_roomy();
	long len = fill_by(p.c, PIECE);
	struct linger reset = { .l_onoff = 1 };

	if (how & 4)
		pattern_read(p.s, 0, len / 3, PIECE / 3);
	if (how & 1)
		need_errno(!setsockopt(p.c, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)),
			   "SO_LINGER");
	if (how & 2)
		close(p.s);
	close(p.c);
	if (!(how & 2))
		close(p.s);
}

static int ends(void *arg)
{
	int i, rounds = 8 * scaled(64);
	long long before;

	counters_mark();
	for (i = 0; i < 8; i++)
		ends_at_once(i);
	before = memory_free();
	for (i = 0; i < rounds; i++)
		ends_at_once(i);
	need(since_mark("BackgroundWrites") > rounds, "%lld background writes",
	     since_mark("BackgroundWrites"));
	await_memory(before, 4 * SNDBUF);
	return EXIT_OK;
}

static void reads_pieces(void *arg)
{
	const struct pattern_reader *r = arg;

	pattern_read(r->fd, 0, r->len, r->piece);
}

/* Sends by calls that do not wait, while the other end reads. */
static void reads_some(const struct pair *p, long len)
{
	struct pattern_reader r = { .fd = p->s, .len = len, .piece = PIECE };
	pid_t pid = helper_start(reads_pieces, &r);

	write_nowait(p->c, 0, len, PIECE);
	helper_end(pid);
}

/* What is left in the background when the socket is disconnected does not touch its next life. */
static int connected_anew(void *arg)
{
	struct addr where, nowhere = { .ss.ss_family = AF_UNSPEC, .len = sizeof(nowhere.ss) };
	int i, listening = listener(4, &where), rounds = scaled(60);
	struct pair p = { .c = fresh(0) };

	for (i = 0; i < rounds; i++) {
		connect_to(p.c, &where);
		p.s = accept_from(listening);
		make_roomy(&p);
		if (i)
			reads_some(&p, 3L * PIECE);
		fill_by(p.c, PIECE);
		if (i % 2)
			drain(p.s, PIECE / 3);
		need_errno(!connect(p.c, &nowhere.sa, nowhere.len), "disconnect");
		need(!unsent_bytes(p.c), "%d bytes are still counted", unsent_bytes(p.c));
		close(p.s);
	}
	return EXIT_OK;
}

static int killed(void *arg)
{
	talks_killed(&endless_nowait, scaled(100), 30, 141421);
	return EXIT_OK;
}

static long one_buffer = PIECE, small_buffers = 1 << 16;
static long tiny_pieces = 1000, small_pieces = 1 << 14, large_pieces = PIECE / 2;
static long evenly = 1 << 16, oddly = 70001, too_large = 100000;
static bool lingers = true, leaves;

static const struct test tests[] = {
	{ "to_large_reader", to_large_reader, 30, RC | 1u << SET_RC6, true, NULL },
	{ "to_waiting_reader", to_waiting_reader, 30, RC, true, &one_buffer },
	{ "to_waiting_reader_64k", to_waiting_reader, 30, RC, true, &small_buffers },
	CASE(to_smaller_buffers, 30, RC),
	CASE(to_small_reader, 60, RC),
	CASE(both_polled, 30, RC),
	{ "in_tiny_pieces", in_pieces, 30, RC, true, &tiny_pieces },
	{ "in_small_pieces", in_pieces, 30, RC, true, &small_pieces },
	{ "in_large_pieces", in_pieces, 30, RC, true, &large_pieces },
	{ "together", together, 30, RC, true, &evenly },
	{ "together_oddly", together, 30, RC, true, &oddly },
	{ "together_if_it_pays", together, 30, RC, true, &too_large },
	CASE(with_headers, 30, RC),
	CASE(accounted, 30, RC),
	{ "closed", closed, 30, RC, true, &leaves },
	{ "closed_lingering", closed, 30, RC, true, &lingers },
	CASE(in_order, 90, RC),
	CASE(urgent_behind, 30, RC),
	CASE(unread, 30, RC),
	CASE(waits_for_no_reader, 30, RC),
	CASE(returns_to_own_memory, 30, RC),
	CASE(ends, 90, RC),
	CASE(connected_anew, 60, RC),
	CASE(killed, 90, RC),
};

PATTERN_MAIN(tests)
