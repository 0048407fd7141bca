// SPDX-License-Identifier: GPL-2.0
/*
 * Rails: large transfers in pieces, each read by RDMA over one of several cables (H1, H6, B4).
 *
 * rails.c has the tests of messages.
 */
#include "cables.h"
#include "flow.h"
#include "info.h"
#include "pinned.h"
#include "reading.h"

#define MB	(1 << 20)

/* Writes of CHUNK bytes and more go by RDMA, also with all rails. */
static void rdma_by_rails(void)
{
	setting_set("rails", 1 + CABLES);
	setting_set("rdma_threshold", CHUNK / (2 * (1 + CABLES)));
}

static struct flow joined(bool back)
{
	struct flow f;

	rdma_by_rails();
	f = flow_begin(back);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	return f;
}

/* H1: each cable carries pieces of the same writes, in both directions. */
static int spread(void *arg)
{
	int back, i;

	for (back = 0; back < 2; back++) {
		struct flow f = joined(back);
		long long before[CABLES + 1], pieces = since_mark("RailPieces"),
			  messages = since_mark("DataSent");
		unsigned long long rdma = info_of(f.out).rdma_sent;

		/* The answer to a read of one piece has at least 8 packets. */
		for (i = 1; i <= CABLES; i++)
			before[i] = packets_of(back, i);
		flow_more(&f, 16 * MB);
		for (i = 1; i <= CABLES; i++) {
			need(packets_of(back, i) > before[i] + 16, "cable %d: %lld packets", i,
			     packets_of(back, i) - before[i]);
			printf("# cable %d: %lld packets\n", i, packets_of(back, i) - before[i]);
		}
		pieces = since_mark("RailPieces") - pieces;
		messages = since_mark("DataSent") - messages;
		rdma = info_of(f.out).rdma_sent - rdma;
		printf("# %lld pieces, %lld messages with data\n", pieces, messages);
		need(rdma > 15 * MB, "%llu bytes by RDMA", rdma);
		need(pieces >= 32, "%lld pieces", pieces);
		flow_end(&f);
		need(!since_mark("RailsLost"), "%lld rails are lost", since_mark("RailsLost"));
		/* soft-RoCE may not read a piece that it says it has (RdmaReadsVoid). */
		need(since_mark("RailPiecesAgain") < pieces / 8, "%lld pieces were not read",
		     since_mark("RailPiecesAgain"));
	}
	return EXIT_OK;
}

/* Each size of a write around the limits of pieces, by every kind of reader in turn. */
static void read_in_turns(void *arg)
{
	static unsigned char buf[PATTERN_LARGEST];
	const struct flow *f = arg;
	long at = 0, turn = 0;
	ssize_t n = 1;

	close(f->out);
	for (; n; turn++) {
		struct iovec two[2] = { { buf, 5000 }, { buf + 9000, sizeof(buf) - 9000 } };
		struct msghdr msg = { .msg_iov = two, .msg_iovlen = 2 };

		switch (turn % 4) {
		case 0:
			n = recv(f->in, buf, sizeof(buf), 0);
			break;
		case 1:
			n = recv(f->in, buf, 300000, MSG_WAITALL);
			break;
		case 2:
			poll_for(f->in, POLLIN, 1000 * patience(20));
			n = recv(f->in, buf, 200000, MSG_DONTWAIT);
			if (n < 0 && errno == EAGAIN)
				continue;
			break;
		default:
			n = recvmsg(f->in, &msg, 0);
			if (n > 5000) {
				pattern_check(at + 5000, buf + 9000, n - 5000);
				pattern_check(at, buf, 5000);
				at += n;
				continue;
			}
		}
		need_errno(n >= 0, "read");
		pattern_check(at, buf, n);
		at += n;
	}
	flow_answer(f, at);
}

static int readers(void *arg)
{
	static const int sizes[] = {
		65536, 65537, 98304, 100001, 262144, 262143, 524288, 777777, MB, MB + 4096,
	};
	struct flow f;
	int i, k;

	rdma_by_rails();
	f = flow_to(pair_make(), false, read_in_turns);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	for (k = 0; k < 8; k++)
		for (i = 0; i < (int)ARRAY_SIZE(sizes); i++)
			flow_more(&f, sizes[i]);
	need(since_mark("RailPieces"), "nothing was read by several rails");
	flow_end(&f);
	return EXIT_OK;
}

/* Both directions at once, which share the rails. */
static void answer_all(void *arg)
{
	static unsigned char buf[MB];
	const struct flow *f = arg;
	long at = 0;
	ssize_t n;

	close(f->out);
	while ((n = recv(f->in, buf, sizeof(buf), MSG_WAITALL)) > 0) {
		pattern_check(at, buf, n);
		pattern_write(f->in, at, n);
		at += n;
	}
	need_errno(!n, "read");
}

static int both_directions(void *arg)
{
	long long end = now_ms() + 1000 * patience(60), pieces = 0;
	static unsigned char buf[MB];
	struct flow f;
	int i = 0;

	rdma_by_rails();
	f = flow_to(pair_make(), false, answer_all);
	while (i < 24) {
		flow_more(&f, MB);
		recv_all(f.out, buf, MB);
		pattern_check(f.at - MB, buf, MB);
		if (since_mark("RailsJoined") == 2 * CABLES && !i++)
			pieces = since_mark("RailPieces");
		need(now_ms() < end, "%lld rails have joined", since_mark("RailsJoined"));
	}
	pieces = since_mark("RailPieces") - pieces;
	need(pieces >= 64, "%lld pieces", pieces);
	need_errno(!shutdown(f.out, SHUT_WR), "shutdown");
	helper_end(f.reader);
	close(f.out);
	return EXIT_OK;
}

/* H6: a cable fails while pieces are read: others read them again, and no byte is lost. */
static int cable_fails(void *arg)
{
	const char *cable = arg;
	struct flow f = joined(false);
	long long begin, longest = 0;

	flow_more(&f, 4 * MB);
	lab("(sleep 0.2; ip link set %s down) >/dev/null 2>&1 &", cable);
	while (since_mark("RailsLost") < 2) {
		begin = now_ms();
		flow_more(&f, MB);
		longest = now_ms() - begin > longest ? now_ms() - begin : longest;
	}
	printf("# %lld ms for 1 MiB at most, %lld pieces again\n", longest,
	       since_mark("RailPiecesAgain"));
	need(longest < 1000 * patience(6), "%lld ms", longest);
	if (strcmp(cable, "va")) {
		lab("lab_rail_up %s", cable + 2);
		flow_until(&f, "RailsJoined", 2 * CABLES + 2);
	}
	flow_more(&f, 4 * MB);
	flow_end(&f);
	if (!strcmp(cable, "va"))
		lab("lab_down; lab_up");
	return EXIT_OK;
}

/* H6: the piece that a cable had is read again, by another one. */
static int read_again(void *arg)
{
	struct flow f = joined(false);
	int i;

	for (i = 0; i < 10 && !since_mark("RailPiecesAgain"); i++) {
		long long lost = since_mark("RailsLost");

		lab("(sleep 0.1; ip link set va3 down) >/dev/null 2>&1 &");
		while (since_mark("RailsLost") < lost + 2)
			flow_more(&f, MB);
		lab("lab_rail_up 3");
		flow_until(&f, "RailsJoined", 2 * CABLES + 2 * (i + 1));
	}
	printf("# %lld pieces again after %d failures\n", since_mark("RailPiecesAgain"), i);
	need(since_mark("RailPiecesAgain"), "no cable had a piece when it failed");
	flow_end(&f);
	return EXIT_OK;
}

/* H6: a device is removed at either end while pieces are read by it. */
static int device_removed(void *arg)
{
	const char *end = arg;
	struct flow f = joined(true);

	lab("(sleep 0.2; rdma link delete rx%s2) >/dev/null 2>&1 &", end);
	flow_until(&f, "RailsLost", 2);
	flow_more(&f, 4 * MB);
	/* Others than we use the device, too, so it may be there a little longer. */
	lab("for i in {1..100}; do lab_rail_end %s 2 && exit; sleep 0.1; done; exit 1", end);
	flow_until(&f, "RailsJoined", 2 * CABLES + 2);
	flow_end(&f);
	return EXIT_OK;
}

/* H6: all cables fail in the middle of a transfer, and one comes back. */
static int waits(void *arg)
{
	struct flow f;

	setting_set("rail_wait_ms", 1000 * patience(30));
	f = joined(false);
	await_all_sent(f.out);
	lab("(sleep 0.1; for dev in va va1 va2 va3; do ip link set $dev down; done; sleep 2; "
	    "lab_rail_up 2) >/dev/null 2>&1 &");
	flow_until(&f, "RailsLost", 2 * (1 + CABLES));
	flow_more(&f, 4 * MB);
	flow_end(&f);
	all_cables_renewed();
	return EXIT_OK;
}

/* Writes without waiting until nothing more fits, for a reader that is stopped. */
static void fill_for_stopped(struct flow *f)
{
	ssize_t n;

	set_int(f->out, SOL_SOCKET, SO_SNDBUF, 4 * MB);
	need_errno(!kill(f->reader, SIGSTOP), "kill");
	while ((n = send(f->out, pattern(f->at), MB, MSG_DONTWAIT)) > 0)
		f->at += n;
	need(errno == EAGAIN, "send: %s", errno_text(errno));
}

/*
 * H6: memory that nobody reads is mapped on all rails. A device can be removed all the same, even
 * that of the last rail, and the bytes come when it is back.
 */
static int mapped_on_removed(void *arg)
{
	const char *others = arg;
	struct flow f;

	setting_set("rail_wait_ms", 1000 * patience(30));
	f = joined(false);
	flow_more(&f, 2 * MB);
	fill_for_stopped(&f);
	lab("for dev in %s; do ip link set $dev down; done", others);
	lab("timeout %d rdma link delete rxa2", patience(20));
	lab("timeout %d rdma link delete rxb2", patience(20));
	lab("lab_rail_end a 2; lab_rail_end b 2");
	need_errno(!kill(f.reader, SIGCONT), "kill");
	flow_until(&f, "RailsJoined", 2 * CABLES + 2);
	flow_more(&f, 2 * MB);
	flow_end(&f);
	if (*others)
		all_cables_renewed();
	return EXIT_OK;
}

/*
 * H6: a write whose memory is advertised is interrupted while no cable works. It returns when one
 * does, long after the time that a peer has for its answer; and the connection goes on.
 */
static int interrupted_cut_off(void *arg)
{
	long long begin;
	struct flow f;
	ssize_t n;

	setting_set("rail_wait_ms", 1000 * patience(60));
	/* The peer does not decline meanwhile. */
	setting_set("scan_ms", 60000);
	f = joined(false);
	await_all_sent(f.out);
	set_int(f.out, SOL_SOCKET, SO_SNDBUF, 16384);
	/* Not before the cables are down, which takes a second and what the commands take. */
	set_timeout(f.out, SO_SNDTIMEO, 1000 * patience(5));
	need_errno(!kill(f.reader, SIGSTOP), "kill");
	lab("(sleep 1; for dev in va va1 va2 va3; do ip link set $dev down; done; sleep %d; "
	    "lab_rail_up 2) >/dev/null 2>&1 &", patience(5) + 12);
	begin = now_ms();
	n = write(f.out, pattern(f.at), MB);
	need(now_ms() - begin > 1000 * patience(5) + 10000, "only %lld ms", now_ms() - begin);
	need(n > 0 || (n < 0 && errno == EAGAIN), "write: %s", errno_text(errno));
	if (n > 0)
		f.at += n;
	need_errno(!kill(f.reader, SIGCONT), "kill");
	set_timeout(f.out, SO_SNDTIMEO, 0);
	flow_more(&f, 4 * MB);
	flow_end(&f);
	all_cables_renewed();
	return EXIT_OK;
}

/* The writer is killed while its memory is read by several rails: nothing of it stays pinned. */
static void write_for_ever(void *arg)
{
	struct flow *f = arg;

	for (;;)
		flow_more(f, MB);
}

static void read_to_reset(void *arg)
{
	long at;
	ssize_t n = read_stream(arg, &at);

	need(!n || errno == ECONNRESET, "read: %s", errno_text(errno));
}

static int killed(void *arg)
{
	unsigned int seed = seed_drawn();
	int i, status;

	rdma_by_rails();
	for (i = 0; i < scaled(12); i++) {
		struct flow f = flow_to(pair_make(), i % 2, read_to_reset);
		pid_t writer, victim;

		flow_until(&f, "RailsJoined", 2 * CABLES);
		writer = helper_start(write_for_ever, &f);
		close(f.out);
		pause_ms(random_up_to(&seed, 60));
		victim = i % 3 ? writer : f.reader;
		need_errno(!kill(victim, SIGKILL), "kill");
		need_errno(waitpid(victim, &status, 0) == victim, "waitpid");
		if (victim == writer) {
			helper_end(f.reader);
		} else {
			need_errno(!kill(writer, SIGKILL), "kill");
			waitpid(writer, &status, 0);
		}
		await_unpinned();
	}
	return EXIT_OK;
}

/* A reader of too little memory declines, and the rest comes in messages over all rails. */
static void read_small(void *arg)
{
	static unsigned char buf[3000];
	const struct flow *f = arg;
	long at = 0;
	ssize_t n;

	close(f->out);
	while ((n = read(f->in, buf, sizeof(buf))) > 0) {
		pattern_check(at, buf, n);
		at += n;
	}
	need_errno(!n, "read");
	flow_answer(f, at);
}

static int declined(void *arg)
{
	struct flow f;

	rdma_by_rails();
	f = flow_to(pair_make(), true, read_small);
	flow_until(&f, "RailsJoined", 2 * CABLES);
	flow_more(&f, 8 * MB);
	need(since_mark("SrcAvailRefused"), "nothing was declined");
	flow_end(&f);
	return EXIT_OK;
}

static const struct test tests[] = {
	CASE(spread, 60, RC | 1u << SET_RC6),
	CASE(readers, 120, RC),
	CASE(both_directions, 120, RC),
	CASE(declined, 60, RC),
	{ "cable_fails", cable_fails, 60, RC | 1u << SET_RC6, true, "va1" },
	{ "first_cable_fails", cable_fails, 60, RC, true, "va" },
	CASE(read_again, 120, RC),
	{ "device_removed", device_removed, 60, RC, true, "b" },
	{ "peers_device_removed", device_removed, 60, RC, true, "a" },
	CASE(waits, 120, RC),
	{ "mapped_on_removed", mapped_on_removed, 60, RC, true, "" },
	{ "mapped_on_last_removed", mapped_on_removed, 120, RC, true, "va va1 va3" },
	CASE(interrupted_cut_off, 120, RC),
	CASE(killed, 240, RC),
};

int main(int argc, char **argv)
{
	pattern_make();
	return cables_main(argv, tests, ARRAY_SIZE(tests));
}
