// SPDX-License-Identifier: GPL-2.0
/*
 * Message buffers adapt to the size of what is sent (requirements E1-E5).
 *
 * They grow on both sides when writes have to be split. They do not grow when there is no room for
 * it or when the size is fixed. They shrink after an idle time.
 */
#include "machine.h"
#include "reading.h"

#define SMALL		1536
#define LARGE		65552
#define WRITE		16384
#define WRITE_FITS	(16 + WRITE)
#define IDLE_MS		200
/* Fits into a larger receive, and uses up only a few of the small ones. */
#define SOME		4000
#define SOME_FITS	(16 + 4096)
#define FULL_PAIRS	6
/* Receives of the first size: of a connection whose peer needs few, and of another one. */
#define RECEIVES_FEW	3
#define RECEIVES_ALL	12
/* Split writes before a request, and a time after which nothing is forgotten during the test. */
#define ASKS_AFTER	8
#define NEVER_MS	3600000

/*
 * A connection that requests a resize after @splits split writes. Its socket buffers have the size
 * @buffer, unless that is 0.
 */
static struct pair pair_after(int splits, int buffer)
{
	setting_set("resize_after", splits);
	return buffer ? pair_sized(buffer) : pair_make();
}

/* Otherwise large writes would go by RDMA. */
static void messages_only(void)
{
	setting_set("rdma_threshold", 0);
}

/* Both ends say that the buffers for the data of @from have this size. */
static bool size_is(int from, int to, unsigned int size)
{
	return info_of(from).send_size == size && info_of(to).recv_size == size;
}

/* Waits until the buffers are small again. An idle time of seconds, @idle_ms, may come first. */
static void await_small(int from, int to, int idle_ms)
{
	long long end = now_ms() + WAIT_MS + idle_ms;

	while (!size_is(from, to, SMALL)) {
		need(now_ms() < end, "after a rest the sender says %u, the receiver %u, not %u",
		     info_of(from).send_size, info_of(to).recv_size, SMALL);
		pause_ms(5);
	}
}

/* Writes until the size has changed: each message uses up one of the smaller receives. */
static void write_until(int from, int to, long *at, long size, unsigned int want)
{
	int i;

	for (i = 0; i < 40; i++) {
		if (size_is(from, to, want))
			return;
		in_step(from, to, at, 1, size);
	}
	need(size_is(from, to, want),
	     "after %d writes of %ld the sender says %u, the receiver %u; %lld asked, %lld refused",
	     i, size, info_of(from).send_size, info_of(to).recv_size, counter("ResizesAsked"),
	     counter("ResizesRefused"));
}

/*
 * E1-E3: after some split writes the buffers of this direction fit them; the other's stay small.
 * Returns how often the peer has refused before.
 */
static unsigned int grow_once(void)
{
	struct pair p = pair_after(8, 0);
	struct sdp_info info;
	long at = 0;

	counters_mark();
	messages_only();
	need(size_is(p.c, p.s, SMALL), "at first %u", info_of(p.c).send_size);
	in_step(p.c, p.s, &at, 7, WRITE);
	need(size_is(p.c, p.s, SMALL), "after 7 writes %u", info_of(p.c).send_size);
	need(info_of(p.c).split_largest == WRITE, "the largest split was %u",
	     info_of(p.c).split_largest);
	write_until(p.c, p.s, &at, WRITE, WRITE_FITS);
	info = info_of(p.c);
	need(info.split_sends >= 8, "%u split", info.split_sends);
	need(info.resizes == 1 && info.resizes_refused <= 1, "%u resizes, %u refused",
	     info.resizes, info.resizes_refused);
	need(since_mark("ResizesAsked") == 1 + info.resizes_refused &&
	     since_mark("ResizesGranted") == 1, "%lld asked, %lld granted",
	     since_mark("ResizesAsked"), since_mark("ResizesGranted"));
	need(size_is(p.s, p.c, SMALL), "the other direction has grown, too");
	in_step(p.c, p.s, &at, 40, WRITE);
	need(info_of(p.c).split_sends == info.split_sends, "still split");
	write_until(p.c, p.s, &at, 1 << 16, LARGE);
	in_step(p.c, p.s, &at, 20, 1 << 18);
	in_step(p.c, p.s, &at, 20, 100);
	close(p.c);
	close(p.s);
	return info.resizes_refused;
}

/* A peer that is held for a second gives up growing, which counts as a refusal. */
static int grow(void *arg)
{
	int i;

	for (i = 0; i < 3; i++)
		if (!grow_once())
			return EXIT_OK;
	need(false, "refused each time");
	return EXIT_FAILED;
}

/* E1: small writes that together exceed a message count as a large send. */
static int gathered(void *arg)
{
	struct pair p = pair_make();
	long at = 0, end = 0;
	int i;

	messages_only();
	for (i = 0; i < 40 && size_is(p.c, p.s, SMALL); i++) {
		/* MSG_MORE holds the data back, so that it gathers on a machine of any speed. */
		while (end - at < 60000) {
			ssize_t n = send(p.c, pattern(end), 100, end - at < 59900 ? MSG_MORE : 0);

			need(n == 100, "send: %zd, %s", n, errno_text(errno));
			end += n;
		}
		pattern_read(p.s, at, end - at, PATTERN_LARGEST);
		at = end;
	}
	need(!size_is(p.c, p.s, SMALL), "still small after %d rounds", i);
	return EXIT_OK;
}

static void echo_main(void *arg)
{
	struct pair *p = arg;
	static char buf[1 << 18];
	ssize_t n;

	close(p->c);
	while ((n = read(p->s, buf, sizeof(buf))) > 0)
		send_all(p->s, buf, n);
	need(!n, "read: %s", errno_text(errno));
}

/* E4: both sides request a resize, perhaps at once. In the end both get it. */
static int both_ask(void *arg)
{
	struct pair p = pair_make();
	pid_t pid = helper_start(echo_main, &p);
	long at = 0;
	int i;

	messages_only();
	close(p.s);
	for (i = 0; i < 400; i++) {
		pattern_write(p.c, at, WRITE);
		pattern_read(p.c, at, WRITE, PATTERN_LARGEST);
		at += WRITE;
		if (info_of(p.c).send_size >= WRITE_FITS && info_of(p.c).recv_size >= WRITE_FITS)
			break;
	}
	need(i < 400, "sizes out %u, in %u", info_of(p.c).send_size, info_of(p.c).recv_size);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	return EXIT_OK;
}

/*
 * Both ends write before either can have heard of the other. Returns whether both have asked, since
 * counters_mark().
 */
static bool asked_at_once(const struct pair *p)
{
	send_all(p->c, pattern(0), SOME);
	send_all(p->s, pattern(0), SOME);
	pattern_read(p->s, 0, SOME, PATTERN_LARGEST);
	pattern_read(p->c, 0, SOME, PATTERN_LARGEST);
	return since_mark("ResizesAsked") == 2;
}

static void both_ways(const struct pair *p, long *at)
{
	long other = *at;

	in_step(p->c, p->s, at, 1, SOME);
	in_step(p->s, p->c, &other, 1, SOME);
}

/*
 * E4: the requests cross. The request of the accepting end is granted. The one of the connecting
 * end is ignored and then sent again.
 */
static int at_once(void *arg)
{
	long long asked, refused;
	bool crossed = false;
	long at = SOME;
	struct pair p;
	int i;

	messages_only();
	/* Enough that both can write all without having heard of the other. */
	setting_set("idle_buffers", RECEIVES_ALL);
	for (i = 0; i < 50 && !crossed; i++) {
		p = pair_after(1, 0);
		if (!way_takes(20))
			return EXIT_SKIPPED;
		counters_mark();
		crossed = asked_at_once(&p);
		if (!crossed) {
			/* The delay is removed before the next connection is made. */
			way_takes(0);
			close(p.c);
			close(p.s);
		}
	}
	need(crossed, "they did not ask at once in %d attempts", i);
	for (i = 0; i < 40 && !size_is(p.s, p.c, SOME_FITS); i++)
		both_ways(&p, &at);
	need(size_is(p.s, p.c, SOME_FITS), "the accepting end's: %u", info_of(p.s).send_size);
	/*
	 * A request is refused if the old receives are not used up within a second, and then sent
	 * again. The order of the two is open.
	 */
	need(size_is(p.c, p.s, SMALL) || since_mark("ResizesRefused") > 0,
	     "the connecting end's, at once: %u", info_of(p.c).send_size);
	for (i = 0; i < 40 && !size_is(p.c, p.s, SOME_FITS); i++)
		both_ways(&p, &at);
	need(size_is(p.c, p.s, SOME_FITS), "the connecting end's: %u", info_of(p.c).send_size);
	need(info_of(p.c).resizes == 1 && info_of(p.s).resizes == 1 &&
	     since_mark("ResizesGranted") == 2, "%lld granted", since_mark("ResizesGranted"));
	asked = since_mark("ResizesAsked");
	refused = since_mark("ResizesRefused");
	need(asked == 3 + refused, "%lld asked, %lld refused", asked, refused);
	way_takes(0);
	return EXIT_OK;
}

/* E5: a limit not above the initial size, on either side, fixes the size. */
static int fixed(void *arg)
{
	struct pair p;
	long at = 0;

	counters_mark();
	messages_only();
	setting_set("recv_buffer_max", 0);
	p = pair_make();
	in_step(p.c, p.s, &at, 40, WRITE);
	need(size_is(p.c, p.s, SMALL) && !since_mark("ResizesAsked"), "it has grown to %u",
	     info_of(p.c).send_size);
	return EXIT_OK;
}

/*
 * E2: a receiver with a small SO_RCVBUF refuses large receives. The connection continues with the
 * old size.
 */
static int refused(void *arg)
{
	struct pair p = pair_after(8, 8192);
	struct pattern_reader r = { p.s, p.c, 200 * WRITE, 5000, 0 };
	pid_t pid = helper_start(pattern_reader_main, &r);
	long at;

	counters_mark();
	messages_only();
	for (at = 0; at < r.len; at += WRITE)
		pattern_write(p.c, at, WRITE);
	need(since_mark("ResizesRefused") > 0, "it was not refused, and asked %lld times",
	     since_mark("ResizesAsked"));
	need(info_of(p.c).resizes_refused == since_mark("ResizesRefused") &&
	     !info_of(p.c).resizes, "%u refused", info_of(p.c).resizes_refused);
	/* Each refusal doubles the number of writes before the next request: 8, 16, 32, 64. */
	need(since_mark("ResizesAsked") <= 5, "asked %lld times", since_mark("ResizesAsked"));
	need(size_is(p.c, p.s, SMALL), "it has grown to %u", info_of(p.c).send_size);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	helper_end(pid);
	return EXIT_OK;
}

/*
 * E2: under memory pressure the request gets the old size, and later a larger one when there is
 * memory again. The memory is accounted in steps of up to 1 MiB per CPU; a few full sockets exceed
 * that.
 */
static int pressed(void *arg)
{
	struct pair full[FULL_PAIRS], p = pair_after(2, 0);
	long at = 0;
	size_t i;

	counters_mark();
	messages_only();
	for (i = 0; i < FULL_PAIRS; i++) {
		full[i] = pair_sized(1 << 20);
		fill_to_rest(full[i].c, full[i].s);
	}
	need(setting_write("mem", "1 2 1000000"), "net.sdp.mem");
	in_step(p.c, p.s, &at, 8, WRITE);
	need(since_mark("MemoryPressure") > 0, "memory is not short");
	need(since_mark("ResizesRefused") > 0 &&
	     info_of(p.c).resizes_refused == since_mark("ResizesRefused"), "it was not refused");
	need(size_is(p.c, p.s, SMALL), "it has grown to %u", info_of(p.c).send_size);
	in_step(p.s, p.c, &at, 8, WRITE);
	need(size_is(p.s, p.c, SMALL), "it has grown to %u", info_of(p.s).send_size);
	need(setting_write("mem", "1000000 1000000 1000000"), "net.sdp.mem");
	write_until(p.c, p.s, &at, WRITE, WRITE_FITS);
	return EXIT_OK;
}

/* A connection stays small until it is accepted. Then it may grow. */
static int not_accepted(void *arg)
{
	long long refusals = counter("ResizesRefused");
	struct addr where;
	int listening = listener(1, &where), c = fresh(0), s;
	long at;

	messages_only();
	setting_set("resize_after", 1);
	connect_to(c, &where);
	at = send(c, pattern(0), PATTERN_LARGEST, MSG_DONTWAIT);
	need(at > 0, "send: %s", errno_text(errno));
	await_counter_above("ResizesRefused", refusals);
	need(info_of(c).send_size == SMALL, "it has grown to %u", info_of(c).send_size);
	s = accept_from(listening);
	pattern_read(s, 0, at, PATTERN_LARGEST);
	write_until(c, s, &at, WRITE, WRITE_FITS);
	return EXIT_OK;
}

/*
 * E2: a request that was refused because the connection was not accepted yet is repeated after the
 * initial number of writes, once the peer has more receives than ever before.
 */
static int refused_too_early(void *arg)
{
	long long refusals = counter("ResizesRefused");
	int i, listening, c, s;
	struct addr where;
	long at = 0;
	char more;

	messages_only();
	setting_set("resize_after", ASKS_AFTER);
	setting_set("resize_idle_ms", NEVER_MS);
	listening = listener(1, &where);
	c = fresh(0);
	connect_to(c, &where);
	for (i = 0; i < ASKS_AFTER; i++) {
		need(send(c, pattern(at), SOME, MSG_DONTWAIT) == SOME, "send: %s",
		     errno_text(errno));
		at += SOME;
	}
	await_counter_above("ResizesRefused", refusals);
	counters_mark();
	s = accept_from(listening);
	pattern_read(s, 0, at, PATTERN_LARGEST);
	/* This message tells the client how many receives the server has now. */
	send_all(s, "x", 1);
	recv_all(c, &more, 1);
	in_step(c, s, &at, ASKS_AFTER - 1, WRITE);
	need(!since_mark("ResizesAsked"), "asked after %d writes", ASKS_AFTER - 1);
	in_step(c, s, &at, 1, WRITE);
	need(since_mark("ResizesAsked") == 1, "not asked after %d writes", ASKS_AFTER);
	write_until(c, s, &at, WRITE, WRITE_FITS);
	return EXIT_OK;
}

/*
 * Each refusal doubles the number of writes before the next request. After some time it is the
 * initial number again.
 */
static int refusals_forgotten(void *arg)
{
	long long refusals = counter("ResizesRefused");
	struct pair p = pair_after(ASKS_AFTER, 8192);
	long at = 0;
	int i;

	counters_mark();
	messages_only();
	setting_set("resize_idle_ms", NEVER_MS);
	for (i = 0; i < 2; i++) {
		in_step(p.c, p.s, &at, ASKS_AFTER << i, WRITE);
		need(since_mark("ResizesAsked") == i + 1, "%lld requests",
		     since_mark("ResizesAsked"));
		await_counter_above("ResizesRefused", refusals + i);
	}
	/* Four times as many would be enough. */
	in_step(p.c, p.s, &at, ASKS_AFTER, WRITE);
	need(since_mark("ResizesAsked") == 2, "it is asked as often as at first");
	setting_set("resize_idle_ms", IDLE_MS);
	pause_ms(3 * IDLE_MS);
	in_step(p.c, p.s, &at, 1, WRITE);
	need(since_mark("ResizesAsked") == 3, "%lld requests after a while",
	     since_mark("ResizesAsked"));
	return EXIT_OK;
}

/*
 * After an idle time both sides have small buffers again, also those posted, and few of them. Then
 * they grow anew.
 */
static int shrink(void *arg)
{
	struct pair p;
	long at = 0;
	int i;

	messages_only();
	setting_set("resize_idle_ms", IDLE_MS);
	p = pair_make();
	for (i = 0; i < scaled(16); i++) {
		write_until(p.c, p.s, &at, WRITE, WRITE_FITS);
		await_small(p.c, p.s, 0);
		need(info_of(p.s).recv_buffers == RECEIVES_FEW, "%u receives after a rest",
		     info_of(p.s).recv_buffers);
		in_step(p.c, p.s, &at, 5, 1000);
	}
	need(info_of(p.s).recv_buffers == RECEIVES_ALL, "%u receives", info_of(p.s).recv_buffers);
	return EXIT_OK;
}

/* Pages that are charged to all SDP sockets, accurate to 1 MiB per CPU. */
static long charged_pages(void)
{
	FILE *f = fopen("/proc/net/protocols", "r");
	char line[256];
	long pages = -1;

	need_errno(f, "/proc/net/protocols");
	while (pages < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "SDP %*d %*d %ld", &pages);
	fclose(f);
	need(pages >= 0, "/proc/net/protocols has no SDP");
	return pages;
}

/* Large receives are charged to their socket, 512 KiB each, until they are used up (J1). */
static int charged(void *arg)
{
	const long pages_of_each = 512 * 1024 / 4096;
	const int idle_ms = patience(6000);
	struct pair pairs[16];
	long before, grown, at;
	size_t i;

	messages_only();
	setting_set("resize_idle_ms", idle_ms);
	before = charged_pages();
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		pairs[i] = pair_make();
		at = 0;
		write_until(pairs[i].c, pairs[i].s, &at, 1 << 16, LARGE);
		/* All posted receives are large once the earlier ones have been used up. */
		in_step(pairs[i].c, pairs[i].s, &at, 16, 1 << 16);
	}
	grown = charged_pages() - before;
	need(grown > pages_of_each * (long)ARRAY_SIZE(pairs) * 2 / 3, "only %ld pages", grown);
	need(grown < pages_of_each * (long)ARRAY_SIZE(pairs) * 2, "%ld pages", grown);
	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		await_small(pairs[i].c, pairs[i].s, idle_ms);
	/* The messages that use up the large receives follow a moment later. */
	for (i = 0; i < WAIT_MS / 10 && charged_pages() - before > grown / 2; i++)
		pause_ms(10);
	need(charged_pages() - before <= grown / 2, "of %ld pages %ld are left", grown,
	     charged_pages() - before);
	return EXIT_OK;
}

/* An idle time that ends at any moment of the handshake does no harm. */
static int short_rests(void *arg)
{
	unsigned int seed = 4711;
	struct pair p;
	long at = 0;
	int i;

	messages_only();
	setting_set("resize_idle_ms", 100);
	p = pair_make();
	for (i = 0; i < scaled(60); i++) {
		in_step(p.c, p.s, &at, 12, random_up_to(&seed, 1 << 16));
		pause_ms(96 + random_up_to(&seed, 10));
	}
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "grow", grow, 30, RC | 1u << SET_RC6, .sdp_only = true, .arg = NULL },
	{ "gathered", gathered, 30, RC, .sdp_only = true, .arg = NULL },
	{ "both_ask", both_ask, 30, RC, .sdp_only = true, .arg = NULL },
	{ "fixed", fixed, 30, RC, .sdp_only = true, .arg = NULL },
	{ "refused", refused, 30, RC, .sdp_only = true, .arg = NULL },
	{ "pressed", pressed, 30, RC, .sdp_only = true, .arg = NULL },
	{ "refused_too_early", refused_too_early, 30, RC, .sdp_only = true, .arg = NULL },
	{ "refusals_forgotten", refusals_forgotten, 30, RC, .sdp_only = true, .arg = NULL },
	{ "not_accepted", not_accepted, 30, RC, .sdp_only = true, .arg = NULL },
	{ "shrink", shrink, 30, RC, .sdp_only = true, .arg = NULL },
	{ "charged", charged, 90, RC | NOT_SHORT, .sdp_only = true, .arg = NULL },
	{ "short_rests", short_rests, 30, RC, .sdp_only = true, .arg = NULL },
	/* This test is the last one: if it dies, the delay of the network stays. */
	{ "at_once", at_once, 60, RC, .sdp_only = true, .arg = NULL },
};

DELAYED_MAIN(tests)
