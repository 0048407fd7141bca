// SPDX-License-Identifier: GPL-2.0
/*
 * net.sdp.coalesce (G1): if off, each unread message keeps a receive; if on, none does.
 *
 * If it is off, each write is a message of its own. If it is on, small unread messages share
 * buffers, and the receives are posted again.
 */
#include "info.h"
#include "pattern.h"

#define RECEIVES	8
#define PAYLOAD		8192
/* The last credit is not for data. */
#define UNREAD_MAX	(RECEIVES - 1)

/* DataSent counts the messages of this pair from its mark on: no other socket sends here. */
static struct pair pair_with(int coalesce)
{
	setting_set("coalesce", coalesce);
	setting_set("recv_buffers", RECEIVES);
	setting_set("idle_buffers", RECEIVES);
	setting_set("recv_buffer_size", PAYLOAD + 16);
	setting_set("recv_buffer_max", 0);
	setting_set("rdma_threshold", 0);
	counters_mark();
	return pair_make();
}

static void write_some(int fd, long *at, int n, long size, int flags)
{
	while (n--) {
		ssize_t done = send(fd, pattern(*at), size, flags | MSG_NOSIGNAL);

		need_errno(done == size, "send");
		*at += size;
	}
}

/* coalesce=0: each write is a message, and an unread message keeps its receive. */
static int apart(void *arg)
{
	struct pair p = pair_with(0);
	long at = 0;

	await_posted(p.s, RECEIVES);
	write_some(p.c, &at, 3, 100, 0);
	write_some(p.c, &at, 2, 100, MSG_MORE);
	need(await_bytes(p.s, 500) == 500, "%d bytes arrived", queued_bytes(p.s));
	need(since_mark("DataSent") == 5, "%lld messages for 5 writes", since_mark("DataSent"));
	await_posted(p.s, RECEIVES - 5);
	pattern_read(p.s, 0, 300, 100);
	await_posted(p.s, RECEIVES - 2);
	pattern_read(p.s, 300, 200, 100);
	await_posted(p.s, RECEIVES);
	return EXIT_OK;
}

/* coalesce=0, more writes than receives: the others wait for a reader, and stay separate. */
static int stalls(void *arg)
{
	struct pair p = pair_with(0);
	long at = 0;

	await_posted(p.s, RECEIVES);
	write_some(p.c, &at, 20, 100, 0);
	need(await_bytes(p.s, UNREAD_MAX * 100) == UNREAD_MAX * 100, "%d bytes arrived",
	     queued_bytes(p.s));
	await_posted(p.s, 1);
	need(since_mark("DataSent") == UNREAD_MAX, "%lld messages", since_mark("DataSent"));
	need(info_of(p.c).bytes_unsent == (20 - UNREAD_MAX) * 100, "%u bytes wait",
	     info_of(p.c).bytes_unsent);
	pattern_read(p.s, 0, at, 100);
	need(since_mark("DataSent") == 20, "%lld messages for 20 writes", since_mark("DataSent"));
	await_posted(p.s, RECEIVES);
	return EXIT_OK;
}

/* A write larger than a message needs several messages. The next write begins a new one. */
static int large(void *arg)
{
	struct pair p = pair_with(0);
	long at = 0;

	write_some(p.c, &at, 1, 2 * PAYLOAD + 100, 0);
	write_some(p.c, &at, 1, 100, 0);
	pattern_read(p.s, 0, at, PATTERN_LARGEST);
	need(since_mark("DataSent") == 4, "%lld messages instead of 4", since_mark("DataSent"));
	return EXIT_OK;
}

/* Both directions at once, with far more bytes than the receives hold, and writes of all sizes. */
static int both_ways(void *arg)
{
	struct pattern_reader there, back;
	struct pair p = pair_with(0);
	unsigned int seed = 815;
	long at = 0, size;
	pid_t one, two;

	there = (struct pattern_reader){ p.s, -1, 1000000, 5000, 0 };
	back = (struct pattern_reader){ p.c, -1, 1000000, 5000, 0 };
	one = helper_start(pattern_reader_main, &there);
	two = helper_start(pattern_reader_main, &back);
	while (at < there.len) {
		size = 1 + random_up_to(&seed, 20000);
		if (size > there.len - at)
			size = there.len - at;
		pattern_write(p.c, at, size);
		pattern_write(p.s, at, size);
		at += size;
	}
	need_errno(!shutdown(p.c, SHUT_WR) && !shutdown(p.s, SHUT_WR), "shutdown");
	helper_end(one);
	helper_end(two);
	return EXIT_OK;
}

/* coalesce=1, the default: unread data keeps no receive. */
static int together(void *arg)
{
	struct pair p = pair_with(1);
	long at = 0;

	await_posted(p.s, RECEIVES);
	write_some(p.c, &at, 20, 100, 0);
	need(await_bytes(p.s, at) == at, "%d bytes arrived", queued_bytes(p.s));
	await_posted(p.s, RECEIVES);
	pattern_read(p.s, 0, at, 100);
	need(since_mark("DataSent") <= 20, "%lld messages for 20 writes", since_mark("DataSent"));
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "apart", apart, 30, RC, .sdp_only = true, .arg = NULL },
	{ "stalls", stalls, 30, RC, .sdp_only = true, .arg = NULL },
	{ "large", large, 30, RC, .sdp_only = true, .arg = NULL },
	{ "both_ways", both_ways, 60, RC, .sdp_only = true, .arg = NULL },
	{ "together", together, 30, RC, .sdp_only = true, .arg = NULL },
};

PATTERN_MAIN(tests)
