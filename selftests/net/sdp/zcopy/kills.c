// SPDX-License-Identifier: GPL-2.0
/*
 * A sender or receiver is killed at a random moment, 500 times and more: nothing leaks.
 *
 * Large writes go in messages, by RDMA reads and by RDMA writes, from the program's memory, from a
 * copy, from pages that it lends and from a file. In some of the runs either end waits for the
 * other one with its memory pinned. Each time the other end is told, and no page
 * stays pinned. No more memory regions are left than devices keep for reuse, and in the end all
 * queue pairs are gone.
 *
 * The moments follow from a seed, which is printed; SDP_SEED=n in the environment sets it.
 *
 * On the debug kernel, rdma.c and pipelined.c kill a few processes instead.
 */
#include "killing.h"
#include "moving.h"

/*
 * Memory regions that devices may keep for reuse in addition: a few are in use at once. One leaked
 * per kill would be many more.
 */
#define REGIONS_MORE	8
/* The longest time until a connection's link is gone after both ends have gone. */
#define SETTLED_MS	2000
/* Longer talks, which follow if all were killed before they used the way under test. */
#define MORE_TALKS	20
#define LONG_US		300000

static unsigned int seed;

/**
 * struct manner - how the bytes go
 * @talk: what the two processes do
 * @threshold: net.sdp.rdma_threshold
 * @after: net.sdp.mode_after
 * @read: net.sdp.rdma_read
 * @used: counter that shows the way, or NULL: no byte goes by RDMA
 * @rounds: number of kills
 */
struct manner {
	const struct talk *talk;
	int threshold;
	int after;
	int read;
	const char *used;
	int rounds;
};

/*
 * Just long enough for RDMA. If a longer write is declined, the rest of it in messages leaves the
 * reader too little room to advertise, and makes stale what it has advertised.
 */
#define LAZY_WRITE	(1 << 16)

/* Like endless_stream, but with pauses, so that either end waits with its memory pinned. */
static void lazy_writer(void *arg)
{
	const struct pair *p = arg;
	long at;

	close(p->s);
	for (at = 0; send(p->c, pattern(at), LAZY_WRITE, MSG_NOSIGNAL) > 0; at += LAZY_WRITE)
		pause_ms(random_up_to(&seed, 8) - 1);
}

static void lazy_reader(void *arg)
{
	static unsigned char buf[LAZY_WRITE];
	const struct pair *p = arg;

	close(p->c);
	/* Other random numbers than the writer's. */
	seed = ~seed | 1;
	while (recv(p->s, buf, sizeof(buf), MSG_WAITALL) > 0)
		pause_ms(random_up_to(&seed, 8) - 1);
}

static const struct talk lazy_stream = { lazy_writer, lazy_reader };

static void await_queue_pairs(int n)
{
	long long end = now_ms() + 3 * WAIT_MS;

	while (rdma_objects("qp") > n) {
		need(now_ms() < end, "%d queue pairs are left", rdma_objects("qp") - n);
		pause_ms(100);
	}
}

static void need_regions(int before, int killed)
{
	int now = rdma_objects("mr");

	need(now <= before + REGIONS_MORE, "%d memory regions after %d were killed, %d at first",
	     now, killed, before);
}

/* In microseconds: mostly in full traffic, and now and then when it has hardly begun. */
static int random_moment(void)
{
	return random_up_to(&seed, random_up_to(&seed, 4) == 1 ? 2000 : 40000);
}

/* It was used, and by RDMA if possible. @before and @bytes: what was counted at the beginning. */
static void need_way(const struct manner *m, long long before, long long bytes)
{
	bool by_rdma = m->used && (m->talk != &endless_file || splices_many());

	need(!m->used || counter(m->used) > before, "%s has not been counted", m->used);
	need(by_rdma == (moved() != bytes), "%lld bytes have gone by RDMA", moved() - bytes);
}

static int killed(void *arg)
{
	const struct manner *m = arg;
	long long established = counter("CurrEstab"), before, bytes;
	int i, pairs, regions, rounds = scaled(m->rounds);

	printf("# SDP_SEED=%u\n", seed);
	setting_set("rdma_threshold", m->threshold);
	setting_set("mode_after", m->after);
	setting_set("rdma_read", m->read);
	/* The first connection on a device makes a queue pair that the device keeps. */
	talk_killed(m->talk, 10000, true);
	pause_ms(SETTLED_MS);
	pairs = rdma_objects("qp");
	regions = rdma_objects("mr");
	before = m->used ? counter(m->used) : 0;
	bytes = moved();
	for (i = 0; i < rounds; i++) {
		talk_killed(m->talk, random_moment(), next_random(&seed) >> 8 & 1);
		await_unpinned();
		await_established(established);
		if (i % REGIONS_MORE == 0)
			need_regions(regions, i + 1);
	}
	/* All were killed before they used the way under test: these live longer. */
	for (i = 0; m->used && counter(m->used) == before && i < MORE_TALKS; i++)
		talk_killed(m->talk, LONG_US, true);
	await_unpinned();
	await_established(established);
	await_queue_pairs(pairs);
	need_regions(regions, i);
	need_way(m, before, bytes);
	return EXIT_OK;
}

static struct manner messages = { &endless_stream, 0, 3, 1, NULL, 100 };
static struct manner fetched = { &lazy_stream, 65536, 1000, 1, "RdmaReadBytes", 150 };
static struct manner written = { &endless_dialogue, 65536, 1, 1, "RdmaWriteBytesByPeer", 150 };
static struct manner copied = { &endless_nowait, 65536, 3, 1, "BackgroundBytes", 150 };
static struct manner lent = { &endless_lent, 65536, 3, 1, "BytesReferenced", 150 };
static struct manner of_file = { &endless_file, 65536, 3, 1, "BytesReferenced", 150 };
static struct manner only_writes = { &lazy_stream, 65536, 1, 0, "RdmaWriteBytesByPeer", 100 };

static const struct test tests[] = {
	{ "messages", killed, 90, RC, .sdp_only = true, .arg = &messages },
	{ "read", killed, 90, RC, .sdp_only = true, .arg = &fetched },
	{ "written", killed, 90, RC, .sdp_only = true, .arg = &written },
	{ "copied", killed, 90, RC, .sdp_only = true, .arg = &copied },
	{ "lent", killed, 90, RC, .sdp_only = true, .arg = &lent },
	{ "of_file", killed, 90, RC, .sdp_only = true, .arg = &of_file },
	{ "only_written", killed, 90, RC, .sdp_only = true, .arg = &only_writes },
};

int main(int argc, char **argv)
{
	seed = seed_drawn();
	pattern_make();
	return run_tests(argv, tests, ARRAY_SIZE(tests));
}
