// SPDX-License-Identifier: GPL-2.0
/*
 * victim: servers and clients that a hostile peer attacks; also load for tests of limits.
 *
 *	victim serve ADDRESS PORT	nine listeners from PORT on: one reads and answers, one
 *		writes much, one has large reads, one does nothing, one never accepts; then one
 *		that reads and one that writes by scheme rdma, and likewise by nic
 *	victim call ADDRESS PORT CALLERS	CALLERS threads connect all the time, and do one of
 *		these, with each scheme of flow control in turn
 *
 *	victim greet ADDRESS PORT	accepts, and closes at once
 *	victim tardy ADDRESS PORT MS	likewise, with a backlog of four and pauses of MS
 *	victim hurry ADDRESS PORT CALLERS SECONDS [LEAST]	CALLERS threads connect and close
 *		repeatedly for SECONDS, and until LEAST connections were made
 *	victim slow ADDRESS PORT CALLERS BYTES	CALLERS threads connect and read a byte each
 *		second, or nothing if BYTES is 0
 *	victim knock ADDRESS PORT TIMES	calls listen() TIMES times, which fails, as the port's
 *		service id is taken for RDMA; another thread connects, which must not hang
 *
 * They run until killed, except for those with a time or a number. With VICTIM_TCP in the
 * environment, greet and hurry use TCP. Any output is a failure: an error that a connection may
 * not have, or memory that was changed outside of what a read had asked for. On SIGUSR1 it prints
 * the numbers of connections and of errors.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/sdp.h>

#define STACK		65536
#define LARGE		(256 * 1024)
#define SMALL		16384
#define GUARD		4096
#define GUARD_BYTE	0xC7

static atomic_uint connections;
static atomic_uint live;
static atomic_uint wrongs;
static struct sockaddr_in where;
static int family = AF_SDP;

static void wrong(const char *what, int error)
{
	wrongs++;
	printf("wrong: %s: %s\n", what, error ? strerrorname_np(error) : "");
}

/* Errors that a peer may cause, and their counts. */
static const int errors[] = { ECONNRESET, EPIPE, EPROTO, ETIMEDOUT, ECONNREFUSED, ENOTCONN };

#define ERRORS	(sizeof(errors) / sizeof(*errors))

static atomic_uint ends[ERRORS];

static void check_error(const char *what)
{
	unsigned int i;

	for (i = 0; i < ERRORS; i++)
		if (errno == errors[i]) {
			atomic_fetch_add(&ends[i], 1);
			return;
		}
	wrong(what, errno);
}

static void be_reader(int fd)
{
	char data[SMALL / 4];
	ssize_t n;

	while ((n = recv(fd, data, sizeof(data), 0)) > 0)
		if (send(fd, data, n > 100 ? 100 : n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
		    errno != EAGAIN)
			break;
	if (n < 0)
		check_error("recv");
}

/* Small writes, one longer than a message, and one large enough for RDMA, in turn. */
static void be_writer(int fd)
{
	static const size_t sizes[] = { 100, 8000, LARGE, SMALL };
	char *data = malloc(LARGE);
	ssize_t n = 0;
	int i;

	if (!data)
		return;
	memset(data, 'w', LARGE);
	for (i = 0; i < 1000 && n >= 0; i++)
		n = send(fd, data, sizes[i % 4], MSG_NOSIGNAL);
	if (n < 0)
		check_error("send");
	free(data);
}

static int guards_hold(const unsigned char *p)
{
	int i;

	for (i = 0; i < GUARD; i++)
		if (p[i] != GUARD_BYTE || p[GUARD + LARGE + i] != GUARD_BYTE)
			return 0;
	return 1;
}

/* Its memory is advertised to the peer by SinkAvail. */
static void be_large_reader(int fd)
{
	unsigned char *p = mmap(NULL, 2 * GUARD + LARGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	if (p == MAP_FAILED)
		return;
	memset(p, GUARD_BYTE, 2 * GUARD + LARGE);
	if (send(fd, "large", 5, MSG_NOSIGNAL) < 0)
		check_error("send");
	do {
		n = recv(fd, p + GUARD, LARGE, MSG_WAITALL);
		if (!guards_hold(p))
			wrong("memory beside a read was written to", 0);
	} while (n > 0);
	if (n < 0)
		check_error("recv");
	munmap(p, 2 * GUARD + LARGE);
}

static void be_idle(int fd)
{
	struct pollfd end = { .fd = fd, .events = POLLRDHUP };

	poll(&end, 1, -1);
}

static void (* const kinds[])(int fd) = { be_reader, be_writer, be_large_reader, be_idle };

static void *connection(void *arg)
{
	intptr_t which = (intptr_t)arg;

	kinds[which & 3](which >> 2);
	close(which >> 2);
	atomic_fetch_sub(&live, 1);
	return NULL;
}

static void start(void *(*body)(void *), intptr_t arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, body, (void *)arg)) {
		perror("pthread_create");
		exit(1);
	}
	pthread_attr_destroy(&attr);
}

static bool set_flow(int fd, int flow)
{
	return family != AF_SDP || !setsockopt(fd, SOL_SDP, SDP_FLOW_CONTROL, &flow, sizeof(flow));
}

/* The role of each listener, and its scheme of flow control. The fifth one does nothing. */
static const struct {
	int kind;
	int flow;
} served[] = {
	{ 0, SDP_FLOW_CREDIT }, { 1, SDP_FLOW_CREDIT }, { 2, SDP_FLOW_CREDIT },
	{ 3, SDP_FLOW_CREDIT }, { 3, SDP_FLOW_CREDIT },
	{ 0, SDP_FLOW_RDMA }, { 1, SDP_FLOW_RDMA }, { 0, SDP_FLOW_NIC }, { 1, SDP_FLOW_NIC },
};

#define SERVED	((int)(sizeof(served) / sizeof(*served)))
#define ALONE	4
#define BACKLOG	100

static int listener_at(int port, int backlog)
{
	struct sockaddr_in in = where;
	int fd = socket(family, SOCK_STREAM, 0);

	in.sin_port = htons(ntohs(where.sin_port) + port);
	if (fd < 0 || !set_flow(fd, served[port].flow) ||
	    bind(fd, (struct sockaddr *)&in, sizeof(in)) || listen(fd, backlog)) {
		perror("listener");
		exit(1);
	}
	return fd;
}

/* By role. They exist before "up" is printed, whenever their threads begin. */
static int listening[SERVED];

static void *server(void *arg)
{
	int port = (intptr_t)arg, fd;

	while ((fd = accept(listening[port], NULL, NULL)) >= 0) {
		atomic_fetch_add(&connections, 1);
		atomic_fetch_add(&live, 1);
		start(connection, (intptr_t)fd << 2 | served[port].kind);
	}
	wrong("accept", errno);
	return NULL;
}

static void *caller(void *arg)
{
	intptr_t kind = (intptr_t)arg;

	for (;;) {
		int fd = socket(AF_SDP, SOCK_STREAM, 0);

		if (fd < 0 || !set_flow(fd, kind / 4 % (SDP_FLOW_NIC + 1))) {
			wrong("socket", errno);
			return NULL;
		}
		if (!connect(fd, (struct sockaddr *)&where, sizeof(where))) {
			atomic_fetch_add(&connections, 1);
			kinds[kind++ & 3](fd);
		} else if (errno == ECONNREFUSED) {
			check_error("connect");
			usleep(2000);
		} else if (errno != EHOSTUNREACH && errno != EMSGSIZE) {
			/*
			 * A peer may cause these two errors by its answer about our address and
			 * path MTU.
			 */
			check_error("connect");
		}
		close(fd);
	}
}

/* Closes every connection at once; with a pause, clients queue up. */
static void *greeter(void *arg)
{
	intptr_t ms = (intptr_t)arg;
	int fd;

	while ((fd = accept(listening[0], NULL, NULL)) >= 0) {
		close(fd);
		if (ms)
			usleep(1000 * ms);
	}
	wrong("accept", errno);
	return NULL;
}

static atomic_int hurrying = 1;

static void *in_a_hurry(void *arg)
{
	char byte;

	(void)arg;
	while (hurrying) {
		int fd = socket(family, SOCK_STREAM, 0);

		if (fd < 0) {
			wrong("socket", errno);
			break;
		}
		/* The stream ends when the other end has closed. */
		if (connect(fd, (struct sockaddr *)&where, sizeof(where)))
			wrong("connect", errno);
		else if (recv(fd, &byte, 1, 0))
			check_error("recv");
		else
			atomic_fetch_add(&connections, 1);
		close(fd);
	}
	atomic_fetch_sub(&live, 1);
	return NULL;
}

static int hurry(int callers, int seconds, unsigned int least)
{
	struct timespec begin, end;
	double took;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &begin);

	live = callers;
	for (i = 0; i < callers; i++)
		start(in_a_hurry, 0);
	sleep(seconds);
	while (connections < least && !wrongs)
		usleep(10000);
	hurrying = 0;
	while (live)
		usleep(10000);
	clock_gettime(CLOCK_MONOTONIC, &end);
	took = end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9;
	printf("%u connections in %.1f s, %.0f a second\n", connections, took, connections / took);
	return wrongs != 0;
}

/* Reads so little that the writer blocks. */
static void *reads_slowly(void *arg)
{
	int fd = socket(AF_SDP, SOCK_STREAM, 0);
	char byte;

	if (fd < 0 || connect(fd, (struct sockaddr *)&where, sizeof(where))) {
		wrong("connect", errno);
		return NULL;
	}
	atomic_fetch_add(&connections, 1);
	while (arg && recv(fd, &byte, 1, 0) == 1)
		sleep(1);
	if (arg)
		wrong("recv", errno);
	pause();
	return NULL;
}

static atomic_int knocking = 1;

/* A client that got in must be told that there is no listener. */
static void *knocker(void *arg)
{
	struct timeval limit = { .tv_sec = 10 };
	char byte;

	(void)arg;
	while (knocking) {
		int fd = socket(AF_SDP, SOCK_STREAM, 0);

		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (!connect(fd, (struct sockaddr *)&where, sizeof(where))) {
			atomic_fetch_add(&connections, 1);
			if (recv(fd, &byte, 1, 0) < 0)
				check_error("recv");
		} else {
			check_error("connect");
		}
		close(fd);
	}
	atomic_fetch_sub(&live, 1);
	return NULL;
}

static int knock(int times)
{
	int i, fd, failed = 0;

	live = 1;
	start(knocker, 0);
	for (i = 0; i < times; i++) {
		fd = socket(AF_SDP, SOCK_STREAM, 0);
		if (bind(fd, (struct sockaddr *)&where, sizeof(where))) {
			wrong("bind", errno);
		} else if (!listen(fd, 4) || errno != EADDRINUSE) {
			wrong("listen", errno);
			failed = 1;
		}
		close(fd);
	}
	knocking = 0;
	while (live)
		usleep(10000);
	printf("%d times refused, %u got in\n", times, connections);
	return failed || wrongs;
}

int main(int argc, char **argv)
{
	bool two = argc == 4 && (!strcmp(argv[1], "serve") || !strcmp(argv[1], "greet"));
	sigset_t set;
	int i, got;

	if ((!two && argc < 5) ||
	    inet_pton(AF_INET, argv[2], &where.sin_addr) != 1)
		return 2;
	where.sin_family = AF_INET;
	where.sin_port = htons(atoi(argv[3]));
	if (getenv("VICTIM_TCP"))
		family = AF_INET;
	setvbuf(stdout, NULL, _IOLBF, 0);
	setpgid(0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (!strcmp(argv[1], "knock"))
		return knock(atoi(argv[4]));
	if (!strcmp(argv[1], "hurry") && argc >= 6)
		return hurry(atoi(argv[4]), atoi(argv[5]), argc > 6 ? atoi(argv[6]) : 0);
	if (!strcmp(argv[1], "greet") || !strcmp(argv[1], "tardy")) {
		listening[0] = listener_at(0, two || !atoi(argv[4]) ? BACKLOG : 4);
		start(greeter, two ? 0 : atoi(argv[4]));
	} else if (!strcmp(argv[1], "slow") && argc == 6) {
		for (i = 0; i < atoi(argv[4]); i++)
			start(reads_slowly, atoi(argv[5]));
	} else if (!strcmp(argv[1], "serve")) {
		for (i = 0; i < SERVED; i++)
			listening[i] = listener_at(i, i == ALONE ? 3 : BACKLOG);
		for (i = 0; i < SERVED; i++)
			if (i != ALONE)
				start(server, i);
	} else {
		for (i = 0; i < atoi(argv[4]); i++)
			start(caller, i);
	}
	printf("up\n");
	while (!sigwait(&set, &got)) {
		for (i = 0; i < (int)ERRORS; i++)
			printf("errno %s %u\n", strerrorname_np(errors[i]), ends[i]);
		printf("connections %u, %u of them now\n", connections, live);
	}
	return 0;
}
