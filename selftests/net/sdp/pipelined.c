// SPDX-License-Identifier: GPL-2.0
/*
 * Pipelined mode (requirements B4, B5, C1, C2, C5-C8): a reader that waits with much room has its
 * memory written to by the peer; whatever comes instead, no byte is lost, doubled or out of order,
 * and no page stays pinned. timeout: 200 s
 */
#include "info.h"
#include "pattern.h"
#include "pinned.h"
#include <pthread.h>
#include <sys/time.h>

#define WRITE		(1 << 18)
#define NO_SCAN_MS	600000
/* Transfers alike that change the mode. */
#define AFTER		3

/* Answers every @piece bytes with as many. */
static void echoes(void *arg)
{
	struct pattern_reader *r = arg;
	static unsigned char buf[PATTERN_LARGEST];
	long at;

	close(r->other);
	for (at = 0; at < r->len; at += r->piece) {
		recv_all(r->fd, buf, r->piece);
		pattern_check(at, buf, r->piece);
		send_all(r->fd, buf, r->piece);
	}
}

static void ping(int fd, long at, long size)
{
	static unsigned char buf[PATTERN_LARGEST];

	send_all(fd, pattern(at), size);
	recv_all(fd, buf, size);
	pattern_check(at, buf, size);
}

static void ping_pong(const struct pair *p, int n, long size)
{
	struct pattern_reader r = { p->s, p->c, n * size, size, 0 };
	pid_t pid = helper_start(echoes, &r);
	int i;

	for (i = 0; i < n; i++)
		ping(p->c, i * size, size);
	helper_end(pid);
}

/* C1, C2, C5: readers that are always there first have their memory written to. */
static int learns(void *arg)
{
	long long written = counter("BytesWritten"), placed = counter("BytesPlaced");
	long long modes = counter("ModePipelined");
	struct pair p = pair_make();

	(void)arg;
	ping_pong(&p, 30, WRITE);
	need(counter("ModePipelined") - modes >= 2, "no direction has learnt it");
	need(counter("BytesWritten") - written >= 20LL * WRITE, "%lld bytes written",
	     counter("BytesWritten") - written);
	need(counter("BytesPlaced") - placed == counter("BytesWritten") - written,
	     "%lld bytes placed, %lld written", counter("BytesPlaced") - placed,
	     counter("BytesWritten") - written);
	await_unpinned();
	return EXIT_OK;
}

/* B5: so it goes without RDMA read as well. */
static int without_read(void *arg)
{
	long long written = counter("BytesWritten"), read = counter("BytesRead");
	struct pair p;

	(void)arg;
	setting_set("rdma_read", 0);
	p = pair_make();
	ping_pong(&p, 40, WRITE);
	need(counter("BytesRead") == read, "%lld bytes read", counter("BytesRead") - read);
	need(counter("BytesWritten") - written >= 10LL * WRITE, "%lld bytes written",
	     counter("BytesWritten") - written);
	return EXIT_OK;
}

/* A pair whose first direction is in Pipelined mode; @at bytes have gone through it. */
static struct pair pipelined(long *at)
{
	long long modes = counter("ModePipelined");
	struct pattern_reader r = { 0 };
	struct pair p;
	pid_t pid;
	int i;

	setting_set("mode_after", AFTER);
	setting_set("scan_ms", NO_SCAN_MS);
	p = pair_make();
	r.fd = p.s;
	r.other = p.c;
	r.len = 10L * WRITE;
	r.piece = WRITE;
	pid = helper_start(echoes, &r);
	for (i = 0; i < 10; i++)
		ping(p.c, (long)i * WRITE, WRITE);
	helper_end(pid);
	need(counter("ModePipelined") - modes >= 2, "the mode has not changed");
	need(info_of(p.c).tx_mode == SDP_INFO_PIPELINED &&
	     info_of(p.s).rx_mode == SDP_INFO_PIPELINED && info_of(p.c).rdma_sent >= 5L * WRITE &&
	     info_of(p.c).rdma_sent == info_of(p.s).rdma_received, "SDP_INFO does not say so");
	*at = 10L * WRITE;
	return p;
}

static void await_counter(const char *name, long long more_than)
{
	long long end = now_ms() + WAIT_MS;

	while (counter(name) <= more_than)
		need(now_ms() < end, "%s is still %lld", name, counter(name));
}

/**
 * struct reading - a read in a thread of its own
 * @fd: socket
 * @len: room
 * @flags: MSG_*
 * @n: what recv has returned
 * @error: errno
 * @buf: where to
 * @thread: who reads
 */
struct reading {
	int fd;
	long len;
	int flags;
	ssize_t n;
	int error;
	unsigned char *buf;
	pthread_t thread;
};

static void *reads(void *arg)
{
	struct reading *r = arg;

	r->n = recv(r->fd, r->buf, r->len, r->flags);
	r->error = errno;
	return NULL;
}

static void reading_start(struct reading *r, int fd, long len, int flags)
{
	long long posts = counter("PostsReceived");

	r->fd = fd;
	r->len = len;
	r->flags = flags;
	r->buf = malloc(len);
	need(r->buf && !pthread_create(&r->thread, NULL, reads, r), "pthread_create");
	await_counter("PostsReceived", posts);
}

static void reading_end(struct reading *r, ssize_t n, int error, long at)
{
	pthread_join(r->thread, NULL);
	need(r->n == n && (n >= 0 || r->error == error), "recv: %zd, %s", r->n,
	     errno_text(r->error));
	if (n > 0)
		pattern_check(at, r->buf, n);
	free(r->buf);
}

/* C7: one write goes into a buffer, however much room is left; then the call is over. */
static int partly(void *arg)
{
	struct reading r;
	struct pair p;
	long at;

	(void)arg;
	p = pipelined(&at);
	reading_start(&r, p.s, 4 * WRITE, 0);
	send_all(p.c, pattern(at), WRITE);
	reading_end(&r, WRITE, 0, at);
	return EXIT_OK;
}

/* MSG_WAITALL: what is left of the buffer is advertised again. */
static int waits_for_all(void *arg)
{
	struct reading r;
	struct pair p;
	int i;
	long at;

	(void)arg;
	p = pipelined(&at);
	reading_start(&r, p.s, 4 * WRITE, MSG_WAITALL);
	for (i = 0; i < 4; i++)
		send_all(p.c, pattern(at + (long)i * WRITE), WRITE);
	reading_end(&r, 4 * WRITE, 0, at);
	return EXIT_OK;
}

/* C5: a small write is a message, and is copied into the buffer; then large ones go on. */
static int small_between(void *arg)
{
	struct reading r;
	struct pair p;
	long at;
	int i;

	(void)arg;
	p = pipelined(&at);
	for (i = 0; i < scaled(20); i++) {
		long n = i % 3 ? WRITE : 1000;

		reading_start(&r, p.s, WRITE, 0);
		send_all(p.c, pattern(at), n);
		reading_end(&r, n, 0, at);
		at += n;
	}
	await_unpinned();
	return EXIT_OK;
}

/* C2: small writes only, again and again: the reader's memory is not advertised any more. */
static int learns_small(void *arg)
{
	long long changes = counter("ModeCombined"), posts;
	struct reading r;
	struct pair p;
	long at;
	int i;

	(void)arg;
	p = pipelined(&at);
	for (i = 0; i < AFTER; i++) {
		need(counter("ModeCombined") == changes, "only %d small writes", i);
		reading_start(&r, p.s, WRITE, 0);
		send_all(p.c, pattern(at), 1);
		reading_end(&r, 1, 0, at++);
	}
	await_counter("ModeCombined", changes);
	posts = counter("PostsSent");
	send_all(p.c, pattern(at), 100);
	pattern_read(p.s, at, 100, WRITE);
	need(counter("PostsSent") == posts, "memory was advertised");
	return EXIT_OK;
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* A timeout or a signal takes the buffer back; what comes at that moment is read, or waits. */
static int taken_back(void *arg)
{
	const bool by_signal = *(bool *)arg;
	struct sigaction act = { .sa_handler = on_alarm };
	static unsigned char buf[WRITE];
	unsigned int seed = 1618;
	struct pair p;
	long at, read;
	pid_t pid;
	int i;

	p = pipelined(&at);
	read = at;
	need_errno(!sigaction(SIGALRM, &act, NULL), "sigaction");
	pid = fork();
	need_errno(pid >= 0, "fork");
	if (!pid) {
		for (i = 0; i < 20; i++) {
			pause_ms(random_up_to(&seed, 20));
			send_all(p.c, pattern(at), WRITE);
			at += WRITE;
		}
		_exit(EXIT_OK);
	}
	close(p.c);
	if (!by_signal)
		set_timeout(p.s, SO_RCVTIMEO, 7);
	while (read < at + 20L * WRITE) {
		struct itimerval in = { .it_value.tv_usec = 1 + random_up_to(&seed, 15000) };
		ssize_t n;

		if (by_signal)
			need_errno(!setitimer(ITIMER_REAL, &in, NULL), "setitimer");
		n = recv(p.s, buf, sizeof(buf), 0);
		need(n > 0 || (n < 0 && errno == (by_signal ? EINTR : EAGAIN)), "recv: %zd, %s",
		     n, errno_text(errno));
		if (n > 0)
			pattern_check(read, buf, n);
		read += n > 0 ? n : 0;
	}
	helper_end(pid);
	need(recv(p.s, buf, 1, 0) == 0, "no end of the stream");
	await_unpinned();
	return EXIT_OK;
}

/* The end of the stream, and a reset, while a reader's memory is advertised. */
static int ends_meanwhile(void *arg)
{
	struct reading r;
	struct pair p;
	long at;

	(void)arg;
	p = pipelined(&at);
	reading_start(&r, p.s, WRITE, 0);
	need_errno(!shutdown(p.c, SHUT_WR), "shutdown");
	reading_end(&r, 0, 0, at);
	p = pipelined(&at);
	reading_start(&r, p.s, WRITE, 0);
	linger_zero(p.c);
	close(p.c);
	reading_end(&r, -1, ECONNRESET, at);
	p = pipelined(&at);
	reading_start(&r, p.s, WRITE, 0);
	need_errno(!shutdown(p.s, SHUT_RD), "shutdown");
	reading_end(&r, 0, 0, at);
	await_unpinned();
	return EXIT_OK;
}

/* An urgent byte comes between, and has its mark where it belongs. */
static int urgent_between(void *arg)
{
	struct reading r;
	struct pair p;
	char byte;
	long at;

	(void)arg;
	p = pipelined(&at);
	reading_start(&r, p.s, WRITE, 0);
	send_all(p.c, pattern(at), WRITE);
	need(send(p.c, "!", 1, MSG_OOB) == 1, "MSG_OOB");
	send_all(p.c, pattern(at + WRITE), 1000);
	reading_end(&r, WRITE, 0, at);
	need(poll_for(p.s, POLLPRI, WAIT_MS), "no urgent byte");
	need(recv(p.s, &byte, 1, MSG_OOB) == 1 && byte == '!', "not the urgent byte");
	pattern_read(p.s, at + WRITE, 1000, WRITE);
	return EXIT_OK;
}

/* Other readers are not in each other's way: one who looks, and one who does not wait. */
static int others_look(void *arg)
{
	struct reading r;
	struct pair p;
	long at;
	char c;

	(void)arg;
	p = pipelined(&at);
	reading_start(&r, p.s, WRITE, 0);
	need(recv(p.s, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "something to read");
	need(recv(p.s, &c, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN, "to be seen");
	need(!poll_for(p.s, POLLIN, 0), "readable");
	send_all(p.c, pattern(at), WRITE);
	reading_end(&r, WRITE, 0, at);
	return EXIT_OK;
}

static void endless_ping(void *arg)
{
	static unsigned char buf[WRITE];
	const struct pair *p = arg;

	close(p->s);
	while (send(p->c, buf, WRITE, MSG_NOSIGNAL) > 0 &&
	       recv(p->c, buf, WRITE, MSG_WAITALL) > 0)
		;
}

static void endless_pong(void *arg)
{
	static unsigned char buf[WRITE];
	const struct pair *p = arg;

	close(p->c);
	while (recv(p->s, buf, WRITE, MSG_WAITALL) > 0 &&
	       send(p->s, buf, WRITE, MSG_NOSIGNAL) > 0)
		;
}

/* One of the two is killed at any moment: the other is told, and nothing is left behind. */
static int killed(void *arg)
{
	long long established = counter("CurrEstab");
	unsigned int seed = 57721;
	int i, rounds = scaled(60);

	(void)arg;
	setting_set("mode_after", 1);
	for (i = 0; i < rounds; i++) {
		struct pair p = pair_make();
		pid_t a = helper_start(endless_ping, &p), b = helper_start(endless_pong, &p);

		close(p.c);
		close(p.s);
		pause_ms(random_up_to(&seed, 60));
		kill(i % 2 ? a : b, SIGKILL);
		waitpid(a, NULL, 0);
		waitpid(b, NULL, 0);
	}
	await_unpinned();
	while (counter("CurrEstab") > established)
		pause_ms(5);
	return EXIT_OK;
}

static bool signals = true, timeouts;

#define RC	(1u << SET_RC4)

static const struct test tests[] = {
	{ "learns", learns, 30, RC | 1u << SET_RC6, .sdp_only = true, .arg = NULL },
	{ "without_read", without_read, 30, RC, .sdp_only = true, .arg = NULL },
	{ "partly", partly, 30, RC, .sdp_only = true, .arg = NULL },
	{ "waits_for_all", waits_for_all, 30, RC, .sdp_only = true, .arg = NULL },
	{ "small_between", small_between, 30, RC, .sdp_only = true, .arg = NULL },
	{ "learns_small", learns_small, 30, RC, .sdp_only = true, .arg = NULL },
	{ "timed_out", taken_back, 30, RC, .sdp_only = true, .arg = &timeouts },
	{ "interrupted", taken_back, 30, RC, .sdp_only = true, .arg = &signals },
	{ "ends_meanwhile", ends_meanwhile, 30, RC, .sdp_only = true, .arg = NULL },
	{ "urgent_between", urgent_between, 30, RC, .sdp_only = true, .arg = NULL },
	{ "others_look", others_look, 30, RC, .sdp_only = true, .arg = NULL },
	{ "killed", killed, 90, RC, .sdp_only = true, .arg = NULL },
};

int main(int argc, char **argv)
{
	(void)argc;
	pattern_make();
	return run_tests(argv, tests, ARRAY_SIZE(tests));
}
