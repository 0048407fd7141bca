// SPDX-License-Identifier: GPL-2.0
/*
 * Many receivers that do not read: RNR NAKs all the time, and nobody else is disturbed.
 *
 * Half of the connections use flow control nic, where the adapter of a receiver without posted
 * receives answers that it is not ready (RNR). Then each receiver reads at its own pace. Some
 * receivers are killed before or while they read, and some writers exit as soon as they have filled
 * the connection. All other data arrives, the writers to killed receivers get an error, and two
 * uninvolved connections keep working.
 *
 * SDP_SEED=n in the environment determines the paces and the times.
 */
#include "info.h"
#include "machine.h"
#include "pattern.h"

enum {
	MANY = 40,
	BYTES = 600000,			/* more than a connection holds while nobody reads */
	WATCH_MS = 2000,
	LEAST_RNR = 10,			/* RNR NAKs for each connection of nic */
};

enum fate { READS, DIES_SILENT, DIES_READING, WRITER_LEAVES };

/**
 * struct one - a connection
 * @pair: its ends
 * @fate: what happens to it
 * @flow: SDP_FLOW_CREDIT or SDP_FLOW_NIC
 * @sent: bytes that its writer has sent
 * @got: bytes that its reader has read and checked
 * @error: errno of the writer, if it ended with one
 * @told_ms: time of @error
 * @killed_ms: time when the reader was killed
 * @last_ms: time of the last data at the reader of a bystander
 * @still_ms: longest time that this reader waited for data
 * @over: the writer has sent everything
 */
struct one {
	struct pair pair;
	enum fate fate;
	int flow;
	volatile long sent;
	volatile long got;
	volatile int error;
	volatile long long told_ms;
	volatile long long killed_ms;
	volatile long long last_ms;
	volatile long long still_ms;
	volatile bool over;
};

/* Shared by all processes. */
static struct storm {
	struct one one[MANY + 2];	/* the last two are the bystanders */
	pid_t readers[MANY + 2], writers[MANY + 2];
	volatile bool go;		/* to the writers */
	volatile bool read;		/* to the readers */
	volatile bool stop;		/* to the bystanders */
} *storm;

static int many;
static unsigned int seed;

static int watch_ms(void)
{
	return slow_kernel() ? 4 * WATCH_MS : WATCH_MS;
}

static long all_bytes(void)
{
	return slow_kernel() ? BYTES / 2 : BYTES;
}

/* Connections of both kinds of flow control get all fates. */
static enum fate fate_of(int i)
{
	static const enum fate fates[] = {
		READS, DIES_SILENT, READS, WRITER_LEAVES, READS, DIES_READING, READS, READS,
	};

	return fates[i / 2 % ARRAY_SIZE(fates)];
}

static struct pair checked_pair(int flow)
{
	struct pair p = pair_by(flow, flow);

	need(info_of(p.c).tx_flow == (unsigned int)flow, "flow control %u", info_of(p.c).tx_flow);
	return p;
}

static void close_all_but(int fd)
{
	int i;

	for (i = 0; i < many + 2; i++) {
		if (storm->one[i].pair.c != fd)
			close(storm->one[i].pair.c);
		if (storm->one[i].pair.s != fd)
			close(storm->one[i].pair.s);
	}
}

static void await(volatile bool *word)
{
	while (!*word)
		pause_ms(5);
}

/*
 * Sends until there has been no room for a while. Then the process exits, which closes the
 * connection.
 */
static void fill_and_leave(struct one *one)
{
	struct pollfd room = { .fd = one->pair.c, .events = POLLOUT };
	ssize_t n;

	do {
		while ((n = send(one->pair.c, pattern(one->sent), 1000, MSG_DONTWAIT)) > 0)
			one->sent += n;
		need(errno == EAGAIN, "send: %s", errno_text(errno));
	} while (poll(&room, 1, quiet_ms()) > 0);
}

static void await_answer(struct one *one)
{
	char answer;
	ssize_t n;

	need_errno(!shutdown(one->pair.c, SHUT_WR), "shutdown");
	n = recv(one->pair.c, &answer, 1, 0);
	need(n == 1 && answer == '!', "no answer: %zd %s", n, n < 0 ? errno_text(errno) : "");
}

static void writer(void *arg)
{
	unsigned int own = seed + ((struct one *)arg - storm->one) * 7919 + 1;
	struct one *one = arg;

	close_all_but(one->pair.c);
	await(&storm->go);
	if (one->fate == WRITER_LEAVES) {
		fill_and_leave(one);
		one->over = true;
		return;
	}
	/* The writer to a receiver that will be killed sends until it gets an error. */
	while (one->sent < all_bytes() || one->fate != READS) {
		long n = random_up_to(&own, next_random(&own) % 4 ? 2000 : 40000);

		if (one->fate == READS && n > all_bytes() - one->sent)
			n = all_bytes() - one->sent;
		n = send(one->pair.c, pattern(one->sent), n, 0);
		if (n < 0) {
			one->told_ms = now_ms();
			one->error = errno;
			need(one->fate != READS, "after %ld bytes: %s", one->sent,
			     errno_text(errno));
			return;
		}
		one->sent += n;
	}
	one->over = true;
	await_answer(one);
}

static void die(struct one *one)
{
	one->killed_ms = now_ms();
	kill(getpid(), SIGKILL);
}

static void reader(void *arg)
{
	unsigned int own = seed + ((struct one *)arg - storm->one) * 104729 + 2;
	long lives = 1 + next_random(&own) % (all_bytes() / 2);
	unsigned int pace = random_up_to(&own, 64);
	static unsigned char buf[1 << 16];
	struct one *one = arg;
	ssize_t n;

	close_all_but(one->pair.s);
	await(&storm->read);
	while ((n = recv(one->pair.s, buf, random_up_to(&own, 30000), 0)) > 0) {
		pattern_check(one->got, buf, n);
		one->got += n;
		if (one->fate == DIES_READING && one->got >= lives)
			die(one);
		if (!(next_random(&own) % pace))
			pause_ms(random_up_to(&own, 20));
	}
	need(!n, "recv after %ld bytes: %s", one->got, errno_text(errno));
	need(one->over && one->got == one->sent, "the end after %ld bytes, %ld were sent",
	     one->got, one->sent);
	if (one->fate == READS)
		need_errno(send(one->pair.s, "!", 1, 0) == 1, "answer");
}

static void bystanding_writer(void *arg)
{
	struct one *one = arg;

	close_all_but(one->pair.c);
	while (!storm->stop) {
		pattern_write(one->pair.c, one->sent, 3000);
		one->sent += 3000;
	}
}

static void bystanding_reader(void *arg)
{
	static unsigned char buf[1 << 16];
	struct one *one = arg;
	ssize_t n;

	close_all_but(one->pair.s);
	one->last_ms = now_ms();
	while ((n = recv(one->pair.s, buf, sizeof(buf), 0)) > 0) {
		long long now = now_ms();

		pattern_check(one->got, buf, n);
		one->got += n;
		if (now - one->last_ms > one->still_ms)
			one->still_ms = now - one->last_ms;
		one->last_ms = now;
	}
	need_errno(!n, "recv");
	need(one->got == one->sent, "%ld of %ld bytes", one->got, one->sent);
}

/* The sum of a counter that soft-RoCE keeps for each device. */
static long long adapters(const char *name)
{
	static const char * const devices[] = { "rxa", "rxb" };
	long long sum = 0, value;
	char path[128];
	unsigned int i;
	FILE *f;

	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
			 devices[i], name);
		f = fopen(path, "r");
		need_errno(f && fscanf(f, "%lld", &value) == 1, path);
		fclose(f);
		sum += value;
	}
	return sum;
}

/*
 * Checks the bystanders for @ms: how much they transfer, and the longest time that one of them
 * stalls.
 */
static void watch_bystanders(int ms, const char *when)
{
	int limit = patience(WAIT_MS), i;
	long before[2];

	for (i = 0; i < 2; i++) {
		before[i] = storm->one[many + i].got;
		storm->one[many + i].still_ms = 0;
	}
	pause_ms(ms);
	for (i = 0; i < 2; i++) {
		struct one *one = &storm->one[many + i];
		long long still = now_ms() - one->last_ms;

		if (still < one->still_ms)
			still = one->still_ms;
		printf("# %s, for %d ms: the bystander by %s moved %ld KB, stood still %lld ms\n",
		       when, ms, one->flow == SDP_FLOW_NIC ? "nic" : "credit",
		       (one->got - before[i]) / 1000, still);
		need(still < limit, "it stood still");
	}
}

static void kill_silent(void)
{
	int i;

	for (i = 0; i < many; i++) {
		if (storm->one[i].fate != DIES_SILENT)
			continue;
		pause_ms(next_random(&seed) % 50);
		storm->one[i].killed_ms = now_ms();
		kill(storm->readers[i], SIGKILL);
	}
}

/* Readers that had to be killed were killed; all others end with all of their data. */
static void await_storm(void)
{
	int i, status;

	for (i = 0; i < many; i++) {
		helper_end(storm->writers[i]);
		if (storm->one[i].fate == READS || storm->one[i].fate == WRITER_LEAVES) {
			helper_end(storm->readers[i]);
			continue;
		}
		need_errno(waitpid(storm->readers[i], &status, 0) == storm->readers[i], "waitpid");
		need(WIFSIGNALED(status), "reader %d has ended, status %#x", i, status);
	}
}

static void open_storm(void)
{
	int i;

	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	need_errno(storm != MAP_FAILED, "mmap");
	for (i = 0; i < many + 2; i++) {
		struct one *one = &storm->one[i];

		one->flow = i & 1 ? SDP_FLOW_NIC : SDP_FLOW_CREDIT;
		one->fate = fate_of(i);
		one->pair = checked_pair(one->flow);
	}
}

/*
 * Each writer to a killed reader has got an error. Returns the longest time that one took to get
 * it.
 */
static long long judge_told(void)
{
	long long longest = 0;
	int i;

	for (i = 0; i < many; i++) {
		struct one *one = &storm->one[i];

		if (one->fate != DIES_SILENT && one->fate != DIES_READING)
			continue;
		need(one->error == ECONNRESET || one->error == EPIPE,
		     "writer %d was told %s after %ld bytes", i, errno_text(one->error), one->sent);
		if (one->told_ms - one->killed_ms > longest)
			longest = one->told_ms - one->killed_ms;
	}
	return longest;
}

static void nothing_left(long long established, int pairs)
{
	long long end = now_ms() + 3 * WAIT_MS;

	await_established(established);
	while (sockets() || rdma_objects("qp") > pairs) {
		need(now_ms() < end, "%d sockets and %d queue pairs are left", sockets(),
		     rdma_objects("qp") - pairs);
		pause_ms(100);
	}
}

static int count_fate(enum fate fate)
{
	int i, n = 0;

	for (i = 0; i < many; i++)
		n += storm->one[i].fate == fate;
	return n;
}

static void start_all(void)
{
	int i;

	for (i = 0; i < many + 2; i++) {
		struct one *one = &storm->one[i];

		storm->readers[i] = helper_start(i < many ? reader : bystanding_reader, one);
		storm->writers[i] = helper_start(i < many ? writer : bystanding_writer, one);
	}
	close_all_but(-1);
}

/* Nobody reads until there are many RNR NAKs. */
static void nobody_reads(void)
{
	long long start = now_ms(), end = start + patience(3 * WAIT_MS);
	long long before = adapters("send_rnr_err"), more;

	storm->go = true;
	watch_bystanders(watch_ms(), "while nobody reads");
	kill_silent();
	while ((more = adapters("send_rnr_err") - before) < LEAST_RNR * many / 2) {
		need(now_ms() < end, "only %lld RNR NAKs", more);
		pause_ms(10);
	}
	printf("# RNR NAKs while nobody reads: %lld in %lld ms\n", more, now_ms() - start);
	storm->read = true;
}

static void through_the_storm(void)
{
	long long rnr = adapters("send_rnr_err"), start;
	int i;

	start_all();
	watch_bystanders(watch_ms() / 2, "before");
	printf("# RNR NAKs by the bystander: %lld\n", adapters("send_rnr_err") - rnr);
	start = now_ms();
	nobody_reads();
	watch_bystanders(watch_ms(), "then");
	await_storm();
	printf("# all is over after %lld ms; who wrote to the dead was told within %lld ms\n",
	       now_ms() - start, judge_told());
	storm->stop = true;
	for (i = many; i < many + 2; i++) {
		helper_end(storm->writers[i]);
		helper_end(storm->readers[i]);
	}
}

static int rnr_storm(void *arg)
{
	long long established, rnr = adapters("send_rnr_err");
	long long exceeded = adapters("retry_rnr_exceeded_err");
	struct pair first;
	int pairs;

	many = slow_kernel() ? 16 : MANY;
	printf("# SDP_SEED=%u\n", seed);
	/* The first connection of a device creates one more queue pair, which stays. */
	first = checked_pair(SDP_FLOW_NIC);
	close(first.c);
	close(first.s);
	nothing_left(0, 1000);
	established = counter("CurrEstab");
	pause_ms(2000);
	pairs = rdma_objects("qp");
	open_storm();
	printf("# %d connections: %d read all; %d readers die silent, %d later; %d writers leave\n",
	       many, count_fate(READS), count_fate(DIES_SILENT), count_fate(DIES_READING),
	       count_fate(WRITER_LEAVES));
	through_the_storm();
	nothing_left(established, pairs);
	need(adapters("retry_rnr_exceeded_err") == exceeded, "an adapter has given up");
	printf("# RNR NAKs in all: %lld\n", adapters("send_rnr_err") - rnr);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(rnr_storm, 90, RC | 1u << SET_RC6),
};

int main(int argc, char **argv)
{
	seed = seed_drawn();
	pattern_make();
	return run_tests(argv, tests, ARRAY_SIZE(tests));
}
