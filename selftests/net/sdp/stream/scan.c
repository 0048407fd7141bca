// SPDX-License-Identifier: GPL-2.0
/*
 * The deadlock scan (requirement C9): data that nobody reads by RDMA is sent in messages.
 *
 * So two programs that wait for each other to read make progress.
 */
#include "reading.h"

#define WRITE		(1 << 16)

static void write_large(void *arg)
{
	const struct pair *p = arg;

	pattern_write(p->c, 0, WRITE);
}

/* C9: nobody reads. After two scans the data is sent in messages, and the writer continues. */
static int nobody_reads(void *arg)
{
	struct pair p = pair_that_waits();

	/* A writer gives up by itself after ten times as long. */
	setting_set("scan_ms", 500);
	counters_mark();
	send_all(p.c, pattern(0), WRITE);
	need(since_mark("ScansFired") == 1, "%lld scans fired", since_mark("ScansFired"));
	pattern_read(p.s, 0, WRITE, WRITE);
	return EXIT_OK;
}

/* C9: one scanner serves many connections, and a shorter period takes effect for all of them. */
static int nobody_reads_many(void *arg)
{
	enum { MANY = 6 };
	long long sent = counter("SrcAvailSent");
	struct pair p[MANY];
	pid_t pid[MANY];
	int i;

	counters_mark();
	setting_set("scan_ms", NO_SCAN_MS);
	for (i = 0; i < MANY; i++) {
		/* The scanner is in a long sleep when the last SrcAvail is sent. */
		if (i == MANY - 1) {
			await_counter_above("SrcAvailSent", sent + i - 1);
			need(!since_mark("ScansFired"), "a scan fired early");
			setting_set("scan_ms", 500);
		}
		p[i] = pair_that_waits();
		pid[i] = helper_start(write_large, &p[i]);
	}
	for (i = 0; i < MANY; i++) {
		helper_end(pid[i]);
		need(info_of(p[i].s).scans_fired == 1, "connection %d: %u scans fired", i,
		     info_of(p[i].s).scans_fired);
		pattern_read(p[i].s, 0, WRITE, WRITE);
	}
	need(since_mark("ScansFired") == MANY, "%lld scans fired", since_mark("ScansFired"));
	return EXIT_OK;
}

static void write_then_read(void *arg)
{
	const struct pair *p = arg;

	pattern_write(p->c, 0, WRITE);
	pattern_read(p->c, 0, WRITE, WRITE);
}

/* C9: both programs first write and then read. */
static int both_write(void *arg)
{
	struct pair p = pair_that_waits(), other = { p.s, p.c };
	pid_t pid = helper_start(write_then_read, &other);

	write_then_read(&p);
	helper_end(pid);
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "nobody_reads", nobody_reads, 30, RC, .sdp_only = true, .arg = NULL },
	{ "nobody_reads_many", nobody_reads_many, 60, RC, .sdp_only = true, .arg = NULL },
	{ "both_write", both_write, 30, RC, .sdp_only = true, .arg = NULL },
};

PATTERN_MAIN(tests)
