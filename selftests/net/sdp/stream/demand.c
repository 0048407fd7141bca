// SPDX-License-Identifier: GPL-2.0
/*
 * Few receives are posted until the peer needs more (A1, D4): net.sdp.idle_buffers.
 *
 * A peer that sends several messages in a row gets all of them. After a time without such a need
 * those that are used up are not posted again.
 */
#include "reading.h"

#define FEW		3
#define ALL		12
#define ALL_BY_LOOP	16
/* About twenty messages; one split write is not enough to ask for larger receives. */
#define BURST		30000
#define SMALL		100
/* A write that goes by RDMA. */
#define LARGE		(1 << 16)
/* Together they hold more memory than the kernel may account late. */
#define FULL_PAIRS	6
/* Times after which a need is forgotten: on a machine of any speed not within a burst. */
#define IDLE_MS		patience(200)

static void keeps(int fd, unsigned int receives)
{
	await_posted(fd, receives);
	need(info_of(fd).recv_buffers == receives, "%u receives are to be posted, not %u",
	     info_of(fd).recv_buffers, receives);
}

static void dialogue(const struct pair *p, int rounds)
{
	while (rounds--) {
		long at = 0, back = 0;

		in_step(p->c, p->s, &at, 1, SMALL);
		in_step(p->s, p->c, &back, 1, SMALL);
	}
}

static void burst(int from, int to)
{
	long at = 0;

	in_step(from, to, &at, 1, BURST);
}

/* A dialogue without a pause, for so long that the server needs few receives again. */
static void forget(const struct pair *p)
{
	const int idle_ms = IDLE_MS;
	int i;

	setting_set("resize_idle_ms", idle_ms);
	for (i = 0; i < 100 && info_of(p->s).recv_buffers != FEW; i++) {
		dialogue(p, 1);
		pause_ms(idle_ms / 10);
	}
	need(info_of(p->s).recv_buffers == FEW, "still %u receives", info_of(p->s).recv_buffers);
}

/* Each end has few, and the other end has the credit for them; a dialogue does not change that. */
static int few(void *arg)
{
	struct pair p = pair_make();

	keeps(p.c, FEW);
	keeps(p.s, FEW);
	need(info_of(p.c).credit == FEW && info_of(p.s).credit == FEW, "credit %u and %u",
	     info_of(p.c).credit, info_of(p.s).credit);
	dialogue(&p, 200);
	keeps(p.c, FEW);
	keeps(p.s, FEW);
	return EXIT_OK;
}

/* The receiving end of a burst has all, the sending end still few; whoever has connected. */
static int one_way(void *arg)
{
	struct pair p = pair_make();

	burst(p.c, p.s);
	keeps(p.s, ALL);
	keeps(p.c, FEW);
	p = pair_make();
	burst(p.s, p.c);
	keeps(p.c, ALL);
	keeps(p.s, FEW);
	return EXIT_OK;
}

static int both_ways(void *arg)
{
	struct pair p = pair_make();

	send_all(p.c, pattern(0), BURST);
	send_all(p.s, pattern(0), BURST);
	pattern_read(p.c, 0, BURST, BURST);
	pattern_read(p.s, 0, BURST, BURST);
	keeps(p.c, ALL);
	keeps(p.s, ALL);
	return EXIT_OK;
}

/* After a pause few are enough: at the next message, and until the next burst. */
static int pause_of_both(void *arg)
{
	struct pair p = pair_make();
	const int idle_ms = IDLE_MS;

	burst(p.c, p.s);
	dialogue(&p, 3);
	keeps(p.s, ALL);
	setting_set("resize_idle_ms", idle_ms);
	pause_ms(2 * idle_ms);
	keeps(p.s, ALL);
	dialogue(&p, 1);
	need(info_of(p.s).recv_buffers == FEW, "%u receives after a pause",
	     info_of(p.s).recv_buffers);
	dialogue(&p, ALL);
	keeps(p.s, FEW);
	burst(p.c, p.s);
	keeps(p.s, ALL);
	return EXIT_OK;
}

/* The same after so long a time with nothing but a dialogue, in which there is no pause. */
static int no_burst_for_long(void *arg)
{
	struct pair p = pair_make();

	burst(p.c, p.s);
	dialogue(&p, 3);
	keeps(p.s, ALL);
	forget(&p);
	dialogue(&p, ALL);
	keeps(p.s, FEW);
	return EXIT_OK;
}

/*
 * Messages in a ring use up receives, too. (The number posted says less here: one more is kept for
 * reports of what has been read.)
 */
static int by_ring(void *arg)
{
	struct pair p = pair_by(SDP_FLOW_RDMA, SDP_FLOW_RDMA);
	int i;

	keeps(p.s, FEW);
	for (i = 0; i < 40 && !info_of(p.c).tx_ring; i++)
		burst(p.c, p.s);
	forget(&p);
	/* This uses up those that are left of the bursts. */
	dialogue(&p, ALL);
	need(info_of(p.c).tx_ring, "no ring after %d bursts", i);
	burst(p.c, p.s);
	need(info_of(p.s).recv_buffers == ALL, "%u receives", info_of(p.s).recv_buffers);
	return EXIT_OK;
}

/* One direction, but so seldom that no message has to wait. */
static int seldom(void *arg)
{
	struct pair p = pair_make();
	const int idle_ms = IDLE_MS;
	long at = 0;
	int i;

	setting_set("resize_idle_ms", idle_ms);
	for (i = 0; i < 8; i++) {
		in_step(p.c, p.s, &at, 1, SMALL);
		need(info_of(p.s).recv_buffers == FEW, "%u receives after %d messages",
		     info_of(p.s).recv_buffers, i + 1);
		pause_ms(idle_ms + idle_ms / 2);
	}
	keeps(p.s, FEW);
	return EXIT_OK;
}

/* While memory is short few have to do, even in a burst. */
static int short_of_memory(void *arg)
{
	struct pair full[FULL_PAIRS], other = pair_make(), p = pair_make();
	size_t i;

	counters_mark();
	setting_set("rdma_threshold", 0);
	for (i = 0; i < FULL_PAIRS; i++) {
		full[i] = pair_sized(1 << 20);
		fill_to_rest(full[i].c, full[i].s);
	}
	need(setting_write("mem", "1 2 1000000"), "net.sdp.mem");
	/* By this the kernel finds out. */
	burst(other.c, other.s);
	need(since_mark("MemoryPressure") > 0, "memory is not short");
	burst(p.c, p.s);
	keeps(p.s, FEW);
	need(setting_write("mem", "1000000 1000000 1000000"), "net.sdp.mem");
	burst(other.c, other.s);
	burst(p.c, p.s);
	keeps(p.s, ALL);
	return EXIT_OK;
}

/* A large write to a reader that does not come has room in the send buffer. No scanner helps. */
static void nobody_reads(int fd, int wait_ms)
{
	int size = 1 << 20;

	setting_set("scan_ms", NO_SCAN_MS);
	setting_set("reader_wait_ms", wait_ms);
	setting_set("rdma_threshold", LARGE);
	need_errno(!setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)),
		   "SO_SNDBUFFORCE");
	counters_mark();
}

static void writes_large(void *arg)
{
	const struct pair *p = arg;

	pattern_write(p->c, 0, LARGE);
}

/*
 * The writer takes a large write back when the reader is late, although its end has used up credit
 * meanwhile: for a credit update, as two messages have come from the other end.
 */
static int takes_back(void *arg)
{
	struct pair p = pair_make();
	long long updates, received;
	long back = 0;
	pid_t pid;

	nobody_reads(p.c, patience(2000));
	updates = counter("CreditUpdatesSent");
	received = counter("SrcAvailReceived");
	pid = helper_start(writes_large, &p);
	await_counter_above("SrcAvailReceived", received);
	in_step(p.s, p.c, &back, 2, SMALL);
	/* The other end's update is what the writer needs. */
	await_counter_above("CreditUpdatesSent", updates + 1);
	need(!since_mark("SrcAvailCancelled"), "the writer has not waited for the messages");
	helper_end(pid);
	need(since_mark("SrcAvailCancelled") == 1, "%lld SrcAvails taken back",
	     since_mark("SrcAvailCancelled"));
	pattern_read(p.s, 0, LARGE, LARGE);
	return EXIT_OK;
}

/* The same before accept(), when data in front of the large write has used up credit. */
static int takes_back_early(void *arg)
{
	struct addr where;
	int listening = listener(1, &where), c = fresh(0);

	connect_to(c, &where);
	nobody_reads(c, 1);
	pattern_write(c, 0, SMALL);
	pattern_write(c, SMALL, LARGE);
	need(since_mark("SrcAvailCancelled") == 1, "%lld SrcAvails taken back",
	     since_mark("SrcAvailCancelled"));
	pattern_read(accept_from(listening), 0, SMALL + LARGE, LARGE);
	return EXIT_OK;
}

/* The setting: all at once, fewer than all, and no more than there may be. */
static int numbers(void *arg)
{
	static const struct {
		int idle, most, few;
	} cases[] = { { ALL, ALL, ALL }, { 1024, ALL, ALL }, { 8, ALL, 8 }, { 8, 5, 5 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pair p;

		setting_set("idle_buffers", cases[i].idle);
		setting_set("recv_buffers", cases[i].most);
		p = pair_make();
		keeps(p.c, cases[i].few);
		keeps(p.s, cases[i].few);
		/* The client has heard of what accept() has granted. */
		await_ends_rest(p.c, p.s);
		dialogue(&p, 10);
		keeps(p.c, cases[i].few);
		keeps(p.s, cases[i].few);
		burst(p.c, p.s);
		keeps(p.c, cases[i].few);
		keeps(p.s, cases[i].most);
	}
	return EXIT_OK;
}

/* Those that a connection has had before accept() stay. */
static int of_accept(void *arg)
{
	struct pair p;

	setting_set("accept_buffers", 6);
	p = pair_make();
	keeps(p.c, FEW);
	keeps(p.s, 6);
	dialogue(&p, ALL);
	keeps(p.s, 6);
	burst(p.c, p.s);
	keeps(p.s, ALL);
	return EXIT_OK;
}

/* All from the beginning: each unread message keeps one, or the adapters hold messages back. */
static int not_applied(void *arg)
{
	struct pair p;

	setting_set("coalesce", 0);
	p = pair_make();
	keeps(p.c, ALL);
	keeps(p.s, ALL);
	setting_set("coalesce", 1);
	p = pair_by(SDP_FLOW_NIC, SDP_FLOW_NIC);
	keeps(p.c, ALL);
	keeps(p.s, ALL);
	return EXIT_OK;
}

/* The loopback transport's receives hold no memory. */
static int loop(void *arg)
{
	struct pair p = pair_make();

	keeps(p.c, ALL_BY_LOOP);
	keeps(p.s, ALL_BY_LOOP);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(few, 30, RC | 1u << SET_RC6),
	CASE(one_way, 30, RC),
	CASE(both_ways, 30, RC),
	CASE(pause_of_both, 30, RC),
	CASE(no_burst_for_long, 60, RC),
	CASE(by_ring, 60, RC),
	CASE(seldom, 30, RC),
	CASE(short_of_memory, 60, RC),
	CASE(takes_back, 60, RC),
	CASE(takes_back_early, 30, RC),
	CASE(numbers, 30, RC),
	CASE(of_accept, 30, RC),
	CASE(not_applied, 30, RC),
	CASE(loop, 30, 1u << SET_LO4),
};

PATTERN_MAIN(tests)
