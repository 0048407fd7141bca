// SPDX-License-Identifier: GPL-2.0
/*
 * Changes from a learnt mode, and the deadlock scan.
 *
 * Requirements C1, C2, C3, C4, C5, C9. Counters and SDP_INFO show it, and every byte is
 * checked.
 */
#include "pinned.h"
#include "reading.h"

#define SIZE		(1 << 16)
/* More scans, or transfers in a row, than there are in any of these tests. */
#define NEVER		1000

/**
 * struct steady - a reader in another process, or a writer in a thread
 * @p: the connection; the reader is at @s, the writer at @c
 * @at: offset in the stream at which it begins
 * @len: number of bytes
 * @piece: buffer size of one read
 */
struct steady {
	struct pair p;
	long at;
	long len;
	long piece;
};

static void reads_waiting(void *arg)
{
	const struct steady *r = arg;

	close(r->p.c);
	pattern_read(r->p.s, r->at, r->len, r->piece);
}

static void reads_polled(void *arg)
{
	const struct steady *r = arg;

	close(r->p.c);
	pattern_read_polled(r->p.s, r->at, r->len, r->piece);
}

/* Waits until both ends report @mode for the direction; the sink may learn of it a little later. */
static void await_mode(const struct pair *p, unsigned int mode)
{
	long long end = now_ms() + WAIT_MS;

	while (info_of(p->c).tx_mode != mode || info_of(p->s).rx_mode != mode)
		need(now_ms() < end, "it is %u at the source, %u at the sink, not %u",
		     info_of(p->c).tx_mode, info_of(p->s).rx_mode, mode);
}

/* The direction is in @mode, and exactly @alike transfers in a row speak for another mode. */
static void need_learnt(const struct pair *p, unsigned int mode, unsigned int alike)
{
	struct sdp_info info = info_of(p->c);

	need(info.tx_mode == mode && info.learning == alike, "mode %u, learning %u; not %u, %u",
	     info.tx_mode, info.learning, mode, alike);
}

/* SDP_INFO of both ends: since then @bytes have been read by RDMA, and none written. */
static void need_read(const struct pair *p, const struct sdp_info *writer,
		      const struct sdp_info *reader, long long bytes)
{
	struct sdp_info out = info_of(p->c), in = info_of(p->s);

	need((long long)(in.rdma_read - reader->rdma_read) == bytes &&
	     in.rdma_received - reader->rdma_received == in.rdma_read - reader->rdma_read,
	     "%llu bytes read and %llu received by RDMA, not %lld",
	     (unsigned long long)(in.rdma_read - reader->rdma_read),
	     (unsigned long long)(in.rdma_received - reader->rdma_received), bytes);
	need((long long)(out.rdma_read_by_peer - writer->rdma_read_by_peer) == bytes &&
	     out.rdma_sent - writer->rdma_sent == out.rdma_read_by_peer - writer->rdma_read_by_peer,
	     "%llu bytes fetched and %llu sent by RDMA, not %lld",
	     (unsigned long long)(out.rdma_read_by_peer - writer->rdma_read_by_peer),
	     (unsigned long long)(out.rdma_sent - writer->rdma_sent), bytes);
}

/* From now on a large write has no room in the send buffer, so it waits for a reader. */
static void waits_for_readers(const struct pair *p)
{
	set_int(p->c, SOL_SOCKET, SO_SNDBUF, 1 << 14);
}

/*
 * C1, C2, C5: a reader in Pipelined mode begins to poll. AFTER SrcAvails are read, then the mode is
 * Combined.
 */
static int leaves_polled(void *arg)
{
	struct steady r = { .len = 2 * AFTER * SIZE, .piece = SIZE };
	struct sdp_info writer, reader;
	pid_t pid;
	int i;

	r.p = pair_pipelined(SIZE, &r.at);
	waits_for_readers(&r.p);
	writer = info_of(r.p.c);
	reader = info_of(r.p.s);
	counters_mark();
	pid = helper_start(reads_polled, &r);
	for (i = 0; i < AFTER; i++) {
		need_learnt(&r.p, SDP_INFO_PIPELINED, i);
		send_all(r.p.c, pattern(r.at + (long)i * SIZE), SIZE);
	}
	await_mode(&r.p, SDP_INFO_COMBINED);
	need_learnt(&r.p, SDP_INFO_COMBINED, 0);
	/* Each end counts the change. */
	need(since_mark("ModeCombined") == 2, "%lld changes", since_mark("ModeCombined"));
	need(since_mark("RdmaReadBytes") == AFTER * SIZE, "%lld bytes read",
	     since_mark("RdmaReadBytes"));
	for (; i < 2 * AFTER; i++)
		send_all(r.p.c, pattern(r.at + (long)i * SIZE), SIZE);
	helper_end(pid);
	need_learnt(&r.p, SDP_INFO_COMBINED, 0);
	need(since_mark("SrcAvailSent") == 2 * AFTER &&
	     info_of(r.p.c).srcavail_sent - writer.srcavail_sent == 2 * AFTER,
	     "%lld SrcAvails, %u of the connection", since_mark("SrcAvailSent"),
	     info_of(r.p.c).srcavail_sent - writer.srcavail_sent);
	need_read(&r.p, &writer, &reader, since_mark("RdmaReadBytes"));
	need(!since_mark("RdmaWriteBytesByPeer"), "something was written");
	await_unpinned();
	return EXIT_OK;
}

/*
 * C2, C3, C5: a reader in Pipelined mode begins to read in small pieces. The mode is Combined at
 * once, and Buffered once that is learnt.
 */
static int leaves_small(void *arg)
{
	struct steady r = { .len = (AFTER + 2) * SIZE, .piece = 1000 };
	pid_t pid;
	int i;

	r.p = pair_pipelined(SIZE, &r.at);
	waits_for_readers(&r.p);
	counters_mark();
	pid = helper_start(reads_waiting, &r);
	for (i = 0; i <= AFTER; i++) {
		if (i)
			need_learnt(&r.p, SDP_INFO_COMBINED, i - 1);
		send_all(r.p.c, pattern(r.at + (long)i * SIZE), SIZE);
		if (!i)
			await_mode(&r.p, SDP_INFO_COMBINED);
	}
	await_mode(&r.p, SDP_INFO_BUFFERED);
	send_all(r.p.c, pattern(r.at + (long)i * SIZE), SIZE);
	helper_end(pid);
	need(since_mark("ModeCombined") == 2 && since_mark("ModeBuffered") == 2,
	     "%lld and %lld changes", since_mark("ModeCombined"), since_mark("ModeBuffered"));
	need(since_mark("SrcAvailSent") == AFTER + 1 && since_mark("SrcAvailRefused") == AFTER + 1,
	     "%lld SrcAvails, %lld refused", since_mark("SrcAvailSent"),
	     since_mark("SrcAvailRefused"));
	need(!since_mark("RdmaWriteBytesByPeer"), "something was written");
	await_unpinned();
	return EXIT_OK;
}

/*
 * C3: the mode is Buffered, and the sender stays ahead, so that a large read never waits. That read
 * still counts, and the next large write sends a SrcAvail, which the reader reads by RDMA.
 */
static int large_from_queue(void *arg)
{
	struct steady r = { .p = pair_sized(1 << 20), .len = AFTER * SIZE, .piece = 1000 };
	pid_t pid;
	int i;

	counters_mark();
	only_order_counts();
	pid = helper_start(reads_waiting, &r);
	for (i = 0; i < AFTER; i++)
		send_all(r.p.c, pattern(i * SIZE), SIZE);
	helper_end(pid);
	await_mode(&r.p, SDP_INFO_BUFFERED);
	r.at = r.len;
	send_all(r.p.c, pattern(r.at), 3 * SIZE);
	await_ends_rest(r.p.c, r.p.s);
	need(queued_bytes(r.p.s) == 3 * SIZE, "%d bytes are queued", queued_bytes(r.p.s));
	need(!since_mark("ModeCombined"), "a small reader has changed the mode");
	pattern_read(r.p.s, r.at, SIZE, SIZE);
	await_mode(&r.p, SDP_INFO_COMBINED);
	need(queued_bytes(r.p.s) == 2 * SIZE, "the queue was empty: %d", queued_bytes(r.p.s));
	pattern_read(r.p.s, r.at + SIZE, 2 * SIZE, SIZE);
	r.at += 3 * SIZE;
	r.len = SIZE;
	r.piece = SIZE;
	counters_mark();
	pid = helper_start(reads_waiting, &r);
	send_all(r.p.c, pattern(r.at), SIZE);
	helper_end(pid);
	need(since_mark("RdmaReadBytes") > 0, "nothing was read by RDMA");
	await_unpinned();
	return EXIT_OK;
}

static void *writes(void *arg)
{
	const struct steady *w = arg;

	send_all(w->p.c, pattern(w->at), w->len);
	return NULL;
}

/*
 * C9: the mode is Pipelined, and no reader comes. There are a SrcAvail, scans and SendSm, and then
 * the direction is Combined.
 */
static int scanned(void *arg)
{
	struct steady w = { .len = SIZE };
	pthread_t thread;

	w.p = pair_pipelined(SIZE, &w.at);
	waits_for_readers(&w.p);
	/* A writer gives up after ten times as long. */
	setting_set("scan_ms", 200);
	counters_mark();
	need_learnt(&w.p, SDP_INFO_PIPELINED, 0);
	need(!pthread_create(&thread, NULL, writes, &w), "pthread_create");
	await_mode(&w.p, SDP_INFO_COMBINED);
	need(since_mark("ScansFired") == 1 && info_of(w.p.s).scans_fired == 1,
	     "%lld fired, %u of the connection", since_mark("ScansFired"),
	     info_of(w.p.s).scans_fired);
	need(since_mark("SrcAvailSent") == 1 && since_mark("SrcAvailReceived") == 1,
	     "%lld SrcAvails", since_mark("SrcAvailSent"));
	need(since_mark("ModeCombined") == 2, "%lld changes", since_mark("ModeCombined"));
	pattern_read(w.p.s, w.at, w.len, w.len);
	pthread_join(thread, NULL);
	need(!since_mark("RdmaReadBytes") && !since_mark("RdmaWriteBytesByPeer"),
	     "not all went in messages");
	need_learnt(&w.p, SDP_INFO_COMBINED, 0);
	await_unpinned();
	return EXIT_OK;
}

/*
 * C9: the sink never scans, and its program never reads. The source itself cancels its SrcAvail,
 * and sends the rest of the write in messages. That counts as a refusal.
 */
static int unscanned(void *arg)
{
	struct steady w = { .p = pair_that_waits(), .len = SIZE };
	long long received = counter("SrcAvailReceived");
	pthread_t thread;

	counters_mark();
	setting_set("mode_after", AFTER);
	/* The sink's scan is armed with this period, which the change below does not shorten. */
	setting_set("scan_ms", NO_SCAN_MS);
	need(!pthread_create(&thread, NULL, writes, &w), "pthread_create");
	await_counter_above("SrcAvailReceived", received);
	/*
	 * The sink counts the SrcAvail and then watches it, under one hold of the lock that
	 * SDP_INFO takes.
	 */
	info_of(w.p.s);
	setting_set("scan_ms", 20);
	pthread_join(thread, NULL);
	need(since_mark("ScansCancelled") == 1 && !since_mark("ScansFired"),
	     "%lld taken back, %lld fired", since_mark("ScansCancelled"), since_mark("ScansFired"));
	need_learnt(&w.p, SDP_INFO_COMBINED, 1);
	pattern_read(w.p.s, 0, w.len, w.len);
	need(!since_mark("RdmaReadBytes"), "not all went in messages");
	await_unpinned();
	return EXIT_OK;
}

/* Returns the number of scans until a SrcAvail that nobody reads is declined. */
static long long looks_for(int count)
{
	struct steady w = { .p = pair_that_waits(), .len = SIZE };
	long long runs;

	setting_set("scan_count", count);
	counters_mark();
	writes(&w);
	runs = since_mark("ScansRun");
	need(since_mark("ScansFired") == 1, "%lld fired", since_mark("ScansFired"));
	pattern_read(w.p.s, 0, w.len, w.len);
	close(w.p.c);
	close(w.p.s);
	return runs;
}

/*
 * C9: it takes scan_count scans, each a whole period after the one before. One more may run because
 * of an earlier SrcAvail.
 */
static int counted(void *arg)
{
	static const int counts[] = { 1, 5, 2, 1 };
	size_t i;

	/* A writer gives up after ten times as long. */
	setting_set("scan_ms", 200);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		long long runs = looks_for(counts[i]);

		need(runs == counts[i] || runs == counts[i] + 1, "%lld looks instead of %d", runs,
		     counts[i]);
	}
	return EXIT_OK;
}

/* In many periods at most one scan runs, which was still due. */
static void need_rest(const char *when)
{
	long long runs = counter("ScansRun");

	pause_ms(500);
	runs = counter("ScansRun") - runs;
	need(runs <= 1, "%lld looks %s", runs, when);
}

/* C9: the scanner runs while a SrcAvail is not read, and not otherwise. */
static int rests(void *arg)
{
	struct steady w = { .p = pair_that_waits(), .len = SIZE };
	long long runs = counter("ScansRun"), fired = counter("ScansFired");
	static unsigned char buf[SIZE];
	struct reading r;
	pthread_t thread;

	setting_set("scan_ms", 10);
	setting_set("scan_count", NEVER);
	reading_begin(&r, w.p.c, buf, sizeof(buf), 0);
	need_rest("for a reader that waits");
	need(!pthread_create(&thread, NULL, writes, &w), "pthread_create");
	await_counter_above("ScansRun", runs + 3);
	need(counter("ScansFired") == fired, "one has fired");
	pattern_read(w.p.s, 0, SIZE, SIZE);
	pthread_join(thread, NULL);
	need_rest("after the SrcAvail was read");
	send_all(w.p.s, pattern(0), 1);
	reading_end(&r, 1, 0);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "leaves_polled", leaves_polled, 30, RC, .sdp_only = true, .arg = NULL },
	{ "leaves_small", leaves_small, 30, RC, .sdp_only = true, .arg = NULL },
	{ "large_from_queue", large_from_queue, 30, RC, .sdp_only = true, .arg = NULL },
	{ "scanned", scanned, 30, RC, .sdp_only = true, .arg = NULL },
	{ "unscanned", unscanned, 30, RC, .sdp_only = true, .arg = NULL },
	{ "counted", counted, 30, RC, .sdp_only = true, .arg = NULL },
	{ "rests", rests, 30, RC, .sdp_only = true, .arg = NULL },
};

PATTERN_MAIN(tests)
