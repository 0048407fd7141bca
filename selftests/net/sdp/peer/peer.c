// SPDX-License-Identifier: GPL-2.0
/*
 * peer OPERATION...: one end of AF_SDP connections, as told: the operations are carried out in
 * turn, and what comes of them is printed, a line each. The first one that fails prints
 * "OPERATION: ERRNO" and ends the program with status 3.
 *
 *	bind ADDRESS PORT	listen BACKLOG
 *	accept		and go on with the new connection; what came before stays open
 *	connect ADDRESS PORT	shutdown		close
 *	pieces N	send, recv and the like move up to N bytes at once, and not 16384
 *	send N		N bytes of a pattern that recv knows
 *	flow		send until it fails
 *	flow-until FILE	send a piece every PEER_REST_MS (50) until FILE exists; prints "sent N"
 *	fill		send until there is no room for PEER_FULL_MS (200), reading nothing
 *	recv N		exactly N bytes of the pattern, checked; prints "received N"
 *	drain		all there is until the end, checked; prints "end after N bytes"
 *	swallow		all there is until the end, whatever it is; prints "swallowed"
 *	ended		waits for the end of a connection on which nothing comes; prints "ended"
 *	say TEXT	prints TEXT
 *	wait FILE	until FILE exists
 *	fork N		N processes go on from here; this one waits for them and ends
 *	repeat N	the operations from here on N times
 *	forgive		what fails from here on is printed, and the next time begins anew
 *	stop		closes the listener; the connection goes on
 *	urgent		an urgent byte, which recv passes over; one in a connection, or it would not
 *	option LEVEL NAME VALUE	an option that is an int, in numbers; a listener hands it on
 *	open		a socket, which otherwise comes with the first use
 *	tcp		sockets from here on are TCP's, which the policy may take
 *	chunk N		how much a call reads or writes at most; it is 16384
 *	timeouts MS	for sends and receives from here on
 *	wait-out N	recv of up to N bytes, which has to end by its time limit; prints "waited"
 *	info		what SDP_INFO says of the modes; prints "info NAME=VALUE..."
 *	scans		... of offers that nobody came to read; prints "scans fired N"
 *	memory		prints "unread memory N": bytes of memory that hold what has not been read
 *	hold		until killed
 *
 * A process that would hang is killed after PEER_SECONDS (100). It has a process group of its
 * own, with what it forks. Linked statically: the tests start hundreds of these in emulated
 * machines, where resolving symbols takes longer than all that they do.
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
#define PATTERN		251	/* any so many bytes in a row tell where in the stream they are */
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
static char **next_word;		/* of the command line */
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

static void do_chunk(void)
{
	long n = number();

	chunk = n < 1 ? 1 : n > CHUNK_MAX ? CHUNK_MAX : n;
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

/* Sends up to @n bytes; returns how many went, or -1. */
static ssize_t send_piece(size_t n, int flags)
{
	ssize_t done = send(sock, pattern + sent % PATTERN, n > chunk ? chunk : n, flags);

	if (done > 0)
		sent += done;
	return done;
}

/* Receives up to @n bytes and checks them; returns how many, or -1. */
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
 * Reads until there is nothing more, and must not wait for it, even if the other end makes promises
 * that it does not keep: meanwhile the connection has not come to an end.
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
	{ "drain", do_drain }, { "swallow", do_swallow }, { "ended", do_ended },
	{ "look", do_look }, { "say", do_say }, { "wait", do_wait }, { "fork", do_fork },
	{ "hold", do_hold }, { "repeat", do_repeat }, { "stop", do_stop },
	{ "urgent", do_urgent }, { "tcp", do_tcp }, { "chunk", do_chunk },
	{ "timeouts", do_timeouts }, { "info", do_info }, { "scans", do_scans },
	{ "wait-out", do_wait_out }, { "forgive", do_forgive }, { "memory", do_memory },
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

/* A number above 0 from the environment, or what it was. */
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
