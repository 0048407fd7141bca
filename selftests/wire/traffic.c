// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic for the wire check: one AF_SDP connection, both ends in this process.
 *
 *	traffic NAME CLIENT SERVER PORT [KEY=VALUE]...
 *
 *	up=BYTES down=BYTES	bytes that the client and the server send (0)
 *	write=BYTES		per write (16384)
 *	rounds=N		ping-pong of `write` bytes, before anything else (0)
 *	first=client|server	the end that half-closes first; the other one starts to send only
 *				then. Without it both send and close at the same time.
 *	gap=MS			pause after each write
 *	pause=MS		pause after each half of a side's bytes
 *	slow=1			the server does not read until the client's writes block, or end,
 *				or one of them has timed out
 *	wait=1			large writes wait at once and so are announced by SrcAvail;
 *				otherwise they wait only when there is no room
 *	sndtimeo=MS		SO_SNDTIMEO of both ends; the remainder is written again
 *	rcvtimeo=MS		SO_RCVTIMEO of both ends; an end that got nothing reads again.
 *				After half of its bytes a writer waits until that has happened
 *	read=BYTES		maximum per read (1 MiB)
 *	later=BYTES		likewise for the second half of the bytes; the writer waits until
 *				the first half has been read, so that the reader waits first
 *	readgap=MS		pause after each read
 *	seen=1			neither end reads until both can read the other's whole first write
 *	rcvbuf=BYTES		SO_RCVBUF of the listener, and so of the server
 *	sndbuf=BYTES		SO_SNDBUF of both: a larger write waits for its reader
 *	shows=WORD,...		expected results of the client's requests for other sizes: grow,
 *				shrink, refused; copied to the output
 *	srcavails=WORD,...	expected fates of SrcAvails: read (by one RDMA read), parts (by
 *				several), declined (without a read), rest (declined after a part
 *				was read), cancelled, crossed (the cancellation, and the end),
 *				both (directions at the same time), none; and modes of both
 *				directions: to-buffered, to-combined; copied to the output
 *	end=refused		there is no listener
 *	tos=N			IP_TOS, or IPV6_TCLASS, of the client
 *	end=reset		the client closes with SO_LINGER 0 after `up` has arrived
 *
 * Both ends check every byte. A line of KEY=VALUE pairs about the connection goes to stdout. A run
 * that hangs is killed, and failed, after a minute.
 *
 *	traffic mark FROM TO TEXT
 *
 * sends TEXT in a UDP datagram to the discard port: a mark in a capture.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/sdp.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define LIMIT_SECONDS	60
#define WRITE_MAX	(1 << 20)
#define DISCARD_PORT	9

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

enum end { END_CLOSE, END_REFUSED, END_RESET };

static struct plan {
	const char *name;
	size_t up, down, write, rounds, rcvbuf, sndbuf,
		tos, gap, pause, sndtimeo, rcvtimeo, read, later;
	size_t readgap;
	const char *first, *shows, *srcavails;
	bool slow, wait, seen;
	enum end end;
} plan = { .write = 16384, .read = WRITE_MAX, .shows = "any", .srcavails = "any" };

/* One end of the connection. */
struct side {
	const char *name;
	int fd;
	size_t sends, expects;
	bool sends_last;		/* only after the other side's half-close */
	bool reads_late;		/* only when the other side's writes block or have ended */
	unsigned char sends_seed, expects_seed;
	struct side *other;
	sem_t got_eof, got_all, got_half, blocked, gave_up;
};

static struct side client = { .name = "client", .sends_seed = 3, .expects_seed = 101 };
static pthread_barrier_t both_begin, both_seen;
static struct side server = { .name = "server", .sends_seed = 101, .expects_seed = 3 };

__attribute__((format(printf, 1, 2), noreturn))
static void give_up(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "traffic %s: ", plan.name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

static void need(bool ok, const char *what)
{
	if (!ok)
		give_up("%s: %s", what, strerror(errno));
}

static void on_alarm(int sig)
{
	static const char text[] = "traffic: did not end within a minute\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(3);
	_exit(2);
}

/* Byte at offset @at of a stream. */
static unsigned char pattern(unsigned char seed, size_t at)
{
	return seed + at * 7 + (at >> 8) + (at >> 16);
}

/* Returns the number of bytes sent, which may be 0 with a time limit. */
static size_t send_piece(struct side *side, const unsigned char *buf, size_t n)
{
	ssize_t sent = -1;

	errno = EAGAIN;
	if (!plan.wait)
		sent = send(side->fd, buf, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0 && errno == EAGAIN) {
		if (!plan.wait)
			sem_post(&side->blocked);
		sent = send(side->fd, buf, n, MSG_NOSIGNAL);
	}
	if (plan.sndtimeo && sent < (ssize_t)n) {
		need(sent > 0 || errno == EAGAIN, "send with a time limit");
		sem_post(&side->blocked);
		return sent < 0 ? 0 : sent;
	}
	need(sent > 0, "send");
	return sent;
}

/* Sends the bytes from @done up to @bytes. */
static void send_from(struct side *side, size_t done, size_t bytes)
{
	unsigned char *buf = malloc(plan.write);

	need(buf, "malloc");
	while (done < bytes) {
		size_t n = bytes - done < plan.write ? bytes - done : plan.write, i;

		for (i = 0; i < n; i++)
			buf[i] = pattern(side->sends_seed, done + i);
		done += send_piece(side, buf, n);
		usleep(plan.gap * 1000);
	}
	free(buf);
}

static void send_all(struct side *side, size_t bytes)
{
	bool changes = plan.later != plan.read;
	size_t half = plan.pause || changes || plan.rcvtimeo ? bytes / 2 : 0;

	send_from(side, 0, half);
	usleep(plan.pause * 1000);
	if (changes && half)
		sem_wait(&side->other->got_half);
	if (plan.rcvtimeo && half)
		sem_wait(&side->other->gave_up);
	send_from(side, half, bytes);
	sem_post(&side->blocked);
	usleep(plan.pause * 1000);
}

/* Receives at least one byte, or the end of the stream. */
static ssize_t receive_some(struct side *side, unsigned char *buf, size_t room, bool half)
{
	ssize_t n;

	while ((n = recv(side->fd, buf, room, 0)) < 0) {
		need(plan.rcvtimeo && errno == EAGAIN, "recv");
		if (half)
			sem_post(&side->gave_up);
	}
	return n;
}

static void check_bytes(struct side *side, const unsigned char *buf, size_t at, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (buf[i] != pattern(side->expects_seed, at + i))
			give_up("%s: byte %zu of the stream is wrong", side->name, at + i);
	}
}

static void receive_exactly(struct side *side, size_t bytes)
{
	unsigned char *buf = malloc(WRITE_MAX);
	size_t got = 0, half = bytes / 2;

	need(buf, "malloc");
	while (got < bytes) {
		size_t most = got < half ? plan.read : plan.later;
		size_t room = bytes - got < most ? bytes - got : most;
		ssize_t n = receive_some(side, buf, room, got >= half);

		if (!n)
			give_up("%s: the stream ended after %zu of %zu bytes", side->name, got,
				bytes);
		check_bytes(side, buf, got, n);
		if (got < half && got + n >= half)
			sem_post(&side->got_half);
		got += n;
		usleep(plan.readgap * 1000);
	}
	free(buf);
}

static void expect_end(struct side *side)
{
	char byte;
	ssize_t n;

	do {
		n = recv(side->fd, &byte, 1, 0);
	} while (n < 0 && errno == EAGAIN);
	if (plan.end == END_RESET) {
		if (n >= 0 || errno != ECONNRESET)
			give_up("%s: no reset: recv says %zd, %s", side->name, n, strerror(errno));
		return;
	}
	need(n >= 0, "recv at the end");
	if (n)
		give_up("%s: more bytes than were sent", side->name);
}

/* The bytes of a SrcAvail count: they can be read, by RDMA. */
static void await_first_write(const struct side *side)
{
	size_t first = side->expects < plan.write ? side->expects : plan.write;
	int bytes = 0;

	for (;;) {
		need(!ioctl(side->fd, FIONREAD, &bytes), "FIONREAD");
		if ((size_t)bytes >= first)
			return;
		usleep(1000);
	}
}

static void *receiver(void *arg)
{
	struct side *side = arg;

	if (plan.seen) {
		await_first_write(side);
		pthread_barrier_wait(&both_seen);
	}
	if (side->reads_late)
		sem_wait(&side->other->blocked);
	receive_exactly(side, side->expects);
	sem_post(&side->got_all);
	if (plan.end == END_RESET && side == &client)
		return NULL;
	expect_end(side);
	sem_post(&side->got_eof);
	return NULL;
}

static void reset(struct side *side)
{
	struct linger linger = { .l_onoff = 1 };

	sem_wait(&side->other->got_all);
	need(!setsockopt(side->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), "SO_LINGER");
	close(side->fd);
	side->fd = -1;
}

static void *sender(void *arg)
{
	struct side *side = arg;

	/* As simultaneously as possible: the requests of both ends should cross. */
	if (!plan.first)
		pthread_barrier_wait(&both_begin);
	if (side->sends_last)
		sem_wait(&side->got_eof);
	send_all(side, side->sends);
	if (plan.end == END_CLOSE)
		need(!shutdown(side->fd, SHUT_WR), "shutdown");
	else if (side == &client)
		reset(side);
	return NULL;
}

static void *pong(void *arg)
{
	size_t i;

	for (i = 0; i < plan.rounds; i++) {
		receive_exactly(arg, plan.write);
		send_all(arg, plan.write);
	}
	return NULL;
}

static void start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	errno = pthread_create(thread, NULL, fn, arg);
	need(!errno, "pthread_create");
}

static void ping_pong(void)
{
	pthread_t thread;
	size_t i;

	start(&thread, pong, &server);
	for (i = 0; i < plan.rounds; i++) {
		send_all(&client, plan.write);
		receive_exactly(&client, plan.write);
	}
	pthread_join(thread, NULL);
}

static void exchange(void)
{
	void *(*const work[4])(void *) = { receiver, receiver, sender, sender };
	struct side *const of[4] = { &server, &client, &server, &client };
	pthread_t threads[4];
	int i;

	pthread_barrier_init(&both_begin, NULL, 2);
	pthread_barrier_init(&both_seen, NULL, 2);
	for (i = 0; i < 4; i++)
		start(&threads[i], work[i], of[i]);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static socklen_t parse(union address *a, const char *text, unsigned int port)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons(port);
		return sizeof(a->v4);
	}
	if (inet_pton(AF_INET6, text, &a->v6.sin6_addr) != 1)
		give_up("not an address: %s", text);
	a->v6.sin6_family = AF_INET6;
	a->v6.sin6_port = htons(port);
	return sizeof(a->v6);
}

static unsigned int local_port(int fd)
{
	union address a;
	socklen_t len = sizeof(a);

	need(!getsockname(fd, &a.any, &len), "getsockname");
	return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

static int bound(const char *address, unsigned int port)
{
	int fd = socket(AF_SDP, SOCK_STREAM, 0), rcvbuf = plan.rcvbuf, sndbuf = plan.sndbuf;
	union address a;
	socklen_t len = parse(&a, address, port);

	need(fd >= 0, "socket(AF_SDP)");
	if (sndbuf)
		need(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf)), "SO_SNDBUF");
	if (rcvbuf && port)
		need(!setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf)), "SO_RCVBUF");
	need(!bind(fd, &a.any, len), "bind");
	return fd;
}

/* SO_RCVBUF if the application has set it, otherwise 0. */
static int room(int fd)
{
	int rcvbuf = 0;
	socklen_t len = sizeof(rcvbuf);

	if (plan.rcvbuf && fd >= 0)
		need(!getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, &len), "SO_RCVBUF");
	return rcvbuf;
}

static void set_time_limits(int fd)
{
	struct timeval limit = {
		.tv_sec = plan.sndtimeo / 1000, .tv_usec = plan.sndtimeo % 1000 * 1000,
	};

	need(!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), "SO_SNDTIMEO");
	limit = (struct timeval){
		.tv_sec = plan.rcvtimeo / 1000, .tv_usec = plan.rcvtimeo % 1000 * 1000,
	};
	need(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), "SO_RCVTIMEO");
}

static void set_class(int fd, int family, int tos)
{
	bool v6 = family == AF_INET6;

	need(!setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_TCLASS : IP_TOS, &tos,
			 sizeof(tos)), "traffic class");
}

static void connect_both(const char *from, const char *to, unsigned int port)
{
	int listener = -1;
	union address a;
	socklen_t len = parse(&a, to, port);
	int err;

	if (plan.end != END_REFUSED) {
		listener = bound(to, port);
		need(!listen(listener, 4), "listen");
	}
	client.fd = bound(from, 0);
	printf("client_port=%u tos=%zu ", local_port(client.fd), plan.tos);
	if (plan.tos)
		set_class(client.fd, a.any.sa_family, plan.tos);
	err = connect(client.fd, &a.any, len);
	if (plan.end == END_REFUSED) {
		if (!err || errno != ECONNREFUSED)
			give_up("connect was not refused: %s", err ? strerror(errno) : "it worked");
		printf("rcvbuf=0 ");
		return;
	}
	need(!err, "connect");
	server.fd = accept(listener, NULL, NULL);
	need(server.fd >= 0, "accept");
	printf("rcvbuf=%d ", room(server.fd));
	close(listener);
	set_time_limits(client.fd);
	set_time_limits(server.fd);
}

static void set_up(struct side *side, struct side *other, size_t sends, size_t expects)
{
	side->other = other;
	side->sends = sends;
	side->expects = expects;
	side->sends_last = plan.first && strcmp(plan.first, side->name);
	sem_init(&side->got_eof, 0, 0);
	sem_init(&side->got_all, 0, 0);
	sem_init(&side->got_half, 0, 0);
	sem_init(&side->blocked, 0, 0);
	sem_init(&side->gave_up, 0, 0);
}

/* Returns false if the option's value is not a number. */
static bool read_number(const char *option)
{
	static const struct {
		const char *key;
		size_t *value;
	} numbers[] = {
		{ "up=", &plan.up }, { "down=", &plan.down }, { "write=", &plan.write },
		{ "rounds=", &plan.rounds }, { "rcvbuf=", &plan.rcvbuf },
		{ "sndbuf=", &plan.sndbuf },
		{ "tos=", &plan.tos }, { "gap=", &plan.gap },
		{ "pause=", &plan.pause }, { "sndtimeo=", &plan.sndtimeo },
		{ "rcvtimeo=", &plan.rcvtimeo },
		{ "read=", &plan.read }, { "later=", &plan.later }, { "readgap=", &plan.readgap },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		size_t len = strlen(numbers[i].key);

		if (!strncmp(option, numbers[i].key, len)) {
			*numbers[i].value = strtoul(option + len, NULL, 10);
			return true;
		}
	}
	return false;
}

static void read_option(const char *option)
{
	if (read_number(option))
		return;
	if (!strcmp(option, "first=client") || !strcmp(option, "first=server"))
		plan.first = strchr(option, '=') + 1;
	else if (!strncmp(option, "shows=", 6))
		plan.shows = option + 6;
	else if (!strncmp(option, "srcavails=", 10))
		plan.srcavails = option + 10;
	else if (!strcmp(option, "slow=1"))
		plan.slow = true;
	else if (!strcmp(option, "wait=1"))
		plan.wait = true;
	else if (!strcmp(option, "seen=1"))
		plan.seen = true;
	else if (!strcmp(option, "end=refused"))
		plan.end = END_REFUSED;
	else if (!strcmp(option, "end=reset"))
		plan.end = END_RESET;
	else
		give_up("no such option: %s", option);
}

static int mark(const char *from, const char *to, const char *text)
{
	union address local, peer;
	socklen_t len = parse(&local, from, 0);
	int fd = socket(local.any.sa_family, SOCK_DGRAM, 0);

	need(fd >= 0 && !bind(fd, &local.any, len), "bind");
	len = parse(&peer, to, DISCARD_PORT);
	need(sendto(fd, text, strlen(text), 0, &peer.any, len) > 0, "sendto");
	return 0;
}

int main(int argc, char **argv)
{
	static const char * const ends[] = { "close", "refused", "reset" };
	int i;

	if (argc < 5) {
		fprintf(stderr, "usage: traffic NAME CLIENT SERVER PORT [KEY=VALUE]...\n");
		return 1;
	}
	plan.name = argv[1];
	if (!strcmp(plan.name, "mark"))
		return mark(argv[2], argv[3], argv[4]);
	for (i = 5; i < argc; i++)
		read_option(argv[i]);
	if (!plan.write || plan.write > WRITE_MAX)
		give_up("write= is 1 to %d", WRITE_MAX);
	if (!plan.read || plan.read > WRITE_MAX || plan.later > WRITE_MAX)
		give_up("read= is 1 to %d, and later= no more", WRITE_MAX);
	if (!plan.later)
		plan.later = plan.read;
	signal(SIGALRM, on_alarm);
	alarm(LIMIT_SECONDS);
	set_up(&client, &server, plan.up, plan.down);
	set_up(&server, &client, plan.down, plan.up);
	server.reads_late = plan.slow;

	printf("name=%s client=%s server=%s port=%s ", plan.name, argv[2], argv[3], argv[4]);
	connect_both(argv[2], argv[3], strtoul(argv[4], NULL, 10));
	if (plan.end != END_REFUSED) {
		ping_pong();
		exchange();
	}
	printf("up=%zu down=%zu first=%s shows=%s srcavails=%s sndtimeo=%zu read=%zu end=%s\n",
	       plan.up + plan.rounds * plan.write, plan.down + plan.rounds * plan.write,
	       plan.first ? plan.first : "any", plan.shows, plan.srcavails, plan.sndtimeo,
	       plan.read > plan.later ? plan.read : plan.later, ends[plan.end]);
	return 0;
}
