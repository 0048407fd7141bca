// SPDX-License-Identifier: GPL-2.0
/*
 * peer OPERATION...: one end of AF_SDP connections, controlled by a list of operations.
 *
 * The operations are executed in turn, and print their results, one line each. The first one that
 * fails prints "OPERATION: ERRNO" and ends the program with status 3.
 *
 *	bind ADDRESS PORT	listen BACKLOG
 *	accept		continue with the new connection; the listener stays open
 *	connect ADDRESS PORT	shutdown		close
 *	pieces N	send, recv and the like move up to N bytes per call, instead of 16384
 *	send N		send N bytes of a pattern that recv knows
 *	flow		send until it fails
 *	flow-until FILE	send a piece every PEER_REST_MS (50) until FILE exists; prints "sent N"
 *	fill		send until there is no room for PEER_FULL_MS (200), without reading
 *	recv N		receive exactly N bytes of the pattern, checked; prints "received N"
 *	take N		receive N bytes of anything; prints "taken"
 *	drain		receive until the end, checked; prints "end after N bytes"
 *	swallow		receive until the end, unchecked; prints "swallowed"
 *	look		wait for data, receive what is there; prints "looked at N"
 *	ended		wait for the end of a connection without incoming data; prints "ended"
 *	say TEXT	print TEXT
 *	wait FILE	wait until FILE exists
 *	fork N		N processes continue from here; this one waits for them and exits
 *	repeat N	repeat the following operations N times
 *	forgive		from here on, print a failure and start the next repetition
 *	stop		close the listener; the connection stays open
 *	urgent		send an urgent byte, which recv passes over; at most one in a connection
 *	option LEVEL NAME VALUE	set an int option, by numbers; a listener passes it on
 *	open		create a socket, which otherwise happens with its first use
 *	tcp		from here on create TCP sockets, to which the policy may apply
 *	timeouts MS	time limit of sends and receives from here on
 *	wait-out N	recv of up to N bytes that must end by its time limit; prints "waited"
 *	info		prints the modes from SDP_INFO: "info NAME=VALUE..."
 *	scans		prints the SrcAvails that a scan declined: "scans fired N"
 *	memory		prints "unread memory N": bytes of memory that hold unread data
 *	hold		wait until killed
 *
 * A process that hangs is killed after PEER_SECONDS (100). It has a process group of its own, with
 * the processes that it forks. The program is linked statically: tests start hundreds of these
 * processes in emulated machines, where resolving symbols would take longer than everything else.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/sdp.h>

#define CHUNK		16384
#define CHUNK_MAX	(1 << 20)
/* Any sequence of this length has a unique position in the stream. */
#define PATTERN		251
#define STATUS_FAILED	3
#define STATUS_USAGE	2

static int sock = -1;
static int listener = -1;
static unsigned long long sent, got;	/* on `sock` */
static unsigned char pattern[CHUNK_MAX + PATTERN];
static size_t chunk = CHUNK;
static bool by_tcp;
static unsigned int time_limit = 100;	/* seconds */
static unsigned int full_after = 200;	/* ms */
static unsigned int leisure = 50;	/* ms */
static char **next_word;		/* on the command line */
static char **repeat_from;
static long repeats;
static bool forgiving;
static jmp_buf next_time;

static char *word(void)
{
	if (!*next_word) {
		fprintf(stderr, "an operation lacks its argument\n");
		exit(STATUS_USAGE);
	}
	return *next_word++;
}

static long number(void)
{
	return strtol(word(), NULL, 10);
}

__attribute__((noreturn))
static void failed(const char *what)
{
	printf("%s: %s\n", what, strerrorname_np(errno));
	if (forgiving)
		longjmp(next_time, 1);
	exit(STATUS_FAILED);
}

static void rest(int ms)
{
	poll(NULL, 0, ms);
}

static socklen_t address(struct sockaddr_storage *where)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)where;
	struct sockaddr_in *in = (struct sockaddr_in *)where;
	const char *host = word();
	long port = number();

	memset(where, 0, sizeof(*where));
	if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		return sizeof(*in6);
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	if (inet_pton(AF_INET, host, &in->sin_addr) != 1) {
		fprintf(stderr, "no address: %s\n", host);
		exit(STATUS_USAGE);
	}
	return sizeof(*in);
}

static void open_for(int family)
{
	if (sock >= 0)
		return;
	sock = socket(by_tcp ? family : AF_SDP, SOCK_STREAM, 0);
	if (sock < 0)
		failed("socket");
	sent = 0;
	got = 0;
}

static void do_open(void)
{
	open_for(AF_INET);
}

static void do_tcp(void)
{
	by_tcp = true;
}

static void do_bind(void)
{
	struct sockaddr_storage where;
	socklen_t length = address(&where);

	open_for(where.ss_family);
	if (bind(sock, (struct sockaddr *)&where, length))
		failed("bind");
}

static void do_listen(void)
{
	if (listen(sock, number()))
		failed("listen");
	listener = sock;
}

static void do_accept(void)
{
	sock = accept(listener, NULL, NULL);
	if (sock < 0)
		failed("accept");
	sent = 0;
	got = 0;
	printf("accepted\n");
}

static void do_connect(void)
{
	struct sockaddr_storage where;
	socklen_t length = address(&where);

	open_for(where.ss_family);
	if (connect(sock, (struct sockaddr *)&where, length))
		failed("connect");
	printf("connected\n");
}

static void do_shutdown(void)
{
	if (shutdown(sock, SHUT_WR))
		failed("shutdown");
}

static void do_close(void)
{
	if (close(sock))
		failed("close");
	sock = -1;
}

static void do_stop(void)
{
	if (close(listener))
		failed("stop");
	listener = -1;
}

static void do_urgent(void)
{
	if (send(sock, "!", 1, MSG_OOB) != 1)
		failed("urgent");
}

static void do_repeat(void)
{
	repeats = number();
	repeat_from = next_word;
}

static void do_forgive(void)
{
	forgiving = true;
}

static void do_option(void)
{
	int level = number(), name = number(), value = number();

	do_open();
	if (setsockopt(sock, level, name, &value, sizeof(value)))
		failed("option");
}

/* Sends up to @n bytes; returns the number of bytes sent, or -1. */
static ssize_t send_piece(size_t n, int flags)
{
	ssize_t done = send(sock, pattern + sent % PATTERN, n > chunk ? chunk : n, flags);

	if (done > 0)
		sent += done;
	return done;
}

/* Receives up to @n bytes and checks them; returns their number, or -1. */
static ssize_t recv_piece(size_t n)
{
	static unsigned char data[CHUNK_MAX];
	ssize_t done = recv(sock, data, n > chunk ? chunk : n, 0);

	if (done <= 0)
		return done;
	if (memcmp(data, pattern + got % PATTERN, done)) {
		printf("recv: wrong data within %zd bytes at %llu\n", done, got);
		exit(STATUS_FAILED);
	}
	got += done;
	return done;
}

static void do_pieces(void)
{
	chunk = number();
	if (chunk < 1 || chunk > CHUNK_MAX) {
		fprintf(stderr, "pieces of 1 to %d bytes\n", CHUNK_MAX);
		exit(STATUS_USAGE);
	}
}

static void do_send(void)
{
	long left = number();

	while (left > 0) {
		ssize_t done = send_piece(left, 0);

		if (done < 0)
			failed("send");
		left -= done;
	}
}

static void do_flow(void)
{
	if (send_piece(chunk, 0) < 0)
		failed("flow");
	printf("flowing\n");
	while (send_piece(chunk, 0) >= 0)
		;
	failed("flow");
}

static void do_flow_until(void)
{
	const char *file = word();

	while (access(file, F_OK)) {
		if (send_piece(chunk, 0) < 0)
			failed("flow-until");
		rest(leisure);
	}
	printf("sent %llu\n", sent);
}

static void do_fill(void)
{
	struct pollfd room;

	do {
		while (send_piece(chunk, MSG_DONTWAIT) >= 0)
			;
		if (errno != EAGAIN)
			failed("fill");
		room = (struct pollfd){ .fd = sock, .events = POLLOUT };
	} while (poll(&room, 1, full_after) > 0);
	printf("filled\n");
}

static void do_recv(void)
{
	long n = number(), left = n;

	while (left > 0) {
		ssize_t done = recv_piece(left);

		if (done < 0)
			failed("recv");
		if (!done) {
			printf("recv: end, %ld bytes missing\n", left);
			exit(STATUS_FAILED);
		}
		left -= done;
	}
	printf("received %ld\n", n);
}

static void do_drain(void)
{
	ssize_t done;

	do {
		done = recv_piece(chunk);
	} while (done > 0);
	if (done < 0)
		failed("drain");
	printf("end after %llu bytes\n", got);
}

static void do_take(void)
{
	static char data[CHUNK];
	long left = number();
	ssize_t done = 1;

	for (; left && done > 0; left -= done)
		done = recv(sock, data, left < CHUNK ? left : CHUNK, 0);
	if (done <= 0)
		failed("take");
	printf("taken\n");
}

static void do_swallow(void)
{
	static char data[CHUNK];
	ssize_t done;

	do {
		done = recv(sock, data, sizeof(data), 0);
	} while (done > 0);
	if (done < 0)
		failed("swallow");
	printf("swallowed\n");
}

/*
 * Reads until there is no more data, and must not block, even if the other end does not keep its
 * promises. The connection must not end meanwhile.
 */
static void do_look(void)
{
	struct pollfd pfd = { .fd = sock, .events = POLLIN };
	unsigned char data[CHUNK];
	ssize_t done;
	long n = 0;

	poll(&pfd, 1, -1);
	while ((done = recv(sock, data, sizeof(data), MSG_DONTWAIT)) > 0)
		n += done;
	if (done < 0 && errno != EAGAIN)
		failed("look");
	pfd.events = 0;
	if (poll(&pfd, 1, 0))
		printf("looked too long\n");
	else
		printf("looked at %ld\n", n);
}

static void do_ended(void)
{
	char byte;
	ssize_t done = recv(sock, &byte, 1, 0);

	if (done < 0)
		failed("ended");
	printf(done ? "ended: data came instead\n" : "ended\n");
	if (done)
		exit(STATUS_FAILED);
}

static void do_say(void)
{
	printf("%s\n", word());
}

static void do_wait(void)
{
	const char *file = word();

	while (access(file, F_OK))
		rest(20);
}

static void do_fork(void)
{
	long n;

	for (n = number(); n > 0; n--) {
		pid_t child = fork();

		if (child < 0)
			failed("fork");
		if (!child) {
			alarm(time_limit);
			return;
		}
	}
	printf("forked\n");
	while (wait(NULL) > 0)
		;
	exit(0);
}

static void do_timeouts(void)
{
	long ms = number();
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	if (setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) ||
	    setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)))
		failed("timeouts");
}

static void do_wait_out(void)
{
	if (recv_piece(number()) >= 0) {
		printf("wait-out: something came\n");
		exit(STATUS_FAILED);
	}
	if (errno != EAGAIN)
		failed("wait-out");
	printf("waited\n");
}

static struct sdp_info info_for(const char *what)
{
	struct sdp_info info = { 0 };
	socklen_t length = sizeof(info);

	if (getsockopt(sock, SOL_SDP, SDP_INFO, &info, &length))
		failed(what);
	return info;
}

static void do_info(void)
{
	struct sdp_info info = info_for("info");

	printf("info tx_mode=%u learning=%u stale=%u srcavail=%u crossed=%u\n", info.tx_mode,
	       info.learning, info.sinkavail_stale, info.srcavail_sent, info.srcavail_crossed);
}

static void do_scans(void)
{
	printf("scans fired %u\n", info_for("scans").scans_fired);
}

static void do_memory(void)
{
	__u32 memory[SK_MEMINFO_VARS];
	socklen_t length = sizeof(memory);

	if (getsockopt(sock, SOL_SOCKET, SO_MEMINFO, memory, &length))
		failed("memory");
	printf("unread memory %u\n", memory[SK_MEMINFO_RMEM_ALLOC]);
}

static void do_hold(void)
{
	for (;;)
		pause();
}

static const struct {
	const char *name;
	void (*carry_out)(void);
} operations[] = {
	{ "open", do_open }, { "option", do_option }, { "bind", do_bind }, { "listen", do_listen },
	{ "accept", do_accept }, { "connect", do_connect }, { "shutdown", do_shutdown },
	{ "close", do_close }, { "pieces", do_pieces }, { "send", do_send }, { "flow", do_flow },
	{ "flow-until", do_flow_until }, { "fill", do_fill }, { "recv", do_recv },
	{ "drain", do_drain }, { "take", do_take }, { "swallow", do_swallow },
	{ "ended", do_ended },
	{ "look", do_look }, { "say", do_say }, { "wait", do_wait }, { "fork", do_fork },
	{ "hold", do_hold }, { "repeat", do_repeat }, { "stop", do_stop },
	{ "urgent", do_urgent }, { "tcp", do_tcp }, { "timeouts", do_timeouts },
	{ "info", do_info }, { "scans", do_scans }, { "wait-out", do_wait_out },
	{ "forgive", do_forgive }, { "memory", do_memory },
};

static void carry_out(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (!strcmp(name, operations[i].name)) {
			operations[i].carry_out();
			return;
		}
	}
	fprintf(stderr, "no operation %s\n", name);
	exit(STATUS_USAGE);
}

/* A positive number from the environment, or the default. */
static unsigned int setting(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value && atoi(value) > 0 ? (unsigned int)atoi(value) : otherwise;
}

int main(int argc, char **argv)
{
	size_t i;

	time_limit = setting("PEER_SECONDS", time_limit);
	full_after = setting("PEER_FULL_MS", full_after);
	leisure = setting("PEER_REST_MS", leisure);
	for (i = 0; i < sizeof(pattern); i++)
		pattern[i] = (i * 7 + 3) % PATTERN;
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	setpgid(0, 0);
	alarm(time_limit);
	next_word = argv + 1;
	if (setjmp(next_time)) {
		if (sock >= 0 && sock != listener)
			close(sock);
		sock = -1;
		next_word = --repeats > 0 ? repeat_from : argv + argc;
	}
	while (*next_word) {
		carry_out(word());
		if (!*next_word && --repeats > 0)
			next_word = repeat_from;
	}
	return 0;
}
