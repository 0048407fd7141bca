// SPDX-License-Identifier: GPL-2.0
/*
 * sockbench: the same small measurements over any family of stream sockets.
 *
 *	sockbench [options] FAMILY server   ADDRESS PORT
 *	sockbench [options] FAMILY stream   ADDRESS PORT SIZE COUNT
 *	sockbench [options] FAMILY pingpong ADDRESS PORT SIZE COUNT
 *	sockbench [options] FAMILY echo     ADDRESS PORT SIZE COUNT CONNECTIONS
 *	sockbench [options] FAMILY connect  ADDRESS PORT COUNT
 *	sockbench [options] FAMILY socket   ADDRESS PORT COUNT
 *	sockbench [options] FAMILY hold     ADDRESS PORT
 *	sockbench [options] FAMILY quit     ADDRESS PORT
 *
 * FAMILY is inet, inet6, unix, smc, sdp or a number. For unix, ADDRESS is a path (with a leading
 * '@' an abstract name) and PORT is ignored.
 *
 *	stream		COUNT sends of SIZE bytes one way; the clock stops when the server
 *			reports that it has received everything
 *	pingpong	SIZE bytes in both directions, COUNT times; times are one way
 *	echo		the same COUNT times in total over many connections at once (echo.c)
 *	connect		COUNT times connect, send a request, see the server close, close
 *	socket		COUNT times create a socket and close it
 *	hold		for every number read from standard input, open that many more
 *			connections and keep them; end of input closes them all
 *	quit		ends the server
 *
 * With -w N, a stream or ping-pong begins with N messages that do not count: the clock starts when
 * all of them have arrived, on the connection that is then measured.
 *
 * With -W, the client writes a stream in another way than by send(): nowait (by calls that do not
 * wait, and poll() when there is no room), zerocopy (the same with MSG_ZEROCOPY), sendfile (the
 * same from a file in memory), pack (the column of a matrix, copied together before), gather (such
 * a column by a program, SDP_PROGRAM).
 *
 * With -r, the server reads a stream in another way than by recv() into all of its buffer: waitall
 * (MSG_WAITALL), poll (poll(), then non-blocking recv()), pollrecv (poll(), then a recv() that
 * might block), readv (into 100 bytes and the rest), uring (io_uring), body (16 bytes, then the
 * rest of a message), threads (recv() by three threads), unpack and scatter (to the column of a
 * matrix, as the writers pack and gather). With several threads -c checks nothing.
 *
 * With -S N, a column of the matrix has N bytes in each row.
 *
 * Every connection begins with a request and the server's reply, so the clock of a transfer starts
 * when both ends are ready. Each transfer has a thread of its own: a stuck client does not stop
 * the server. Held connections have no thread, as their memory is to be measured.
 *
 * Results are one line of words "name=value" after the name of the action. Times are in
 * microseconds, mbps is 10^6 bytes per second, busy_us is the time that the machine's processors
 * were busy, within elapsed_us (with -u, see busy.c). Exit status: 0 done, 1 failed, 2 wrong
 * usage.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "busy.h"
#include "readers.h"
#include "sockbench.h"
#include "strides.h"
#include "writers.h"

#define FAMILY_SDP	27
#define FAMILY_SMC	43
#define SMC_OVER_IPV6	1		/* the protocol number of AF_SMC for IPv6 */

#define MAGIC		0x53424348	/* protects against other clients */
#define MAX_SIZE	(64u << 20)
#define MAX_CONNECTIONS	65536u
#define MIN_RECV	65536u		/* a receiver asks for at least this much at once */
#define BACKLOG		64
/* Period of the check pattern: a prime, so that no size hides a shift. */
#define PERIOD		251

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const char *const action_names[] = {
	[SERVER] = "server", [STREAM] = "stream", [PINGPONG] = "pingpong",
	[ECHO_MANY] = "echo", [CONNECT] = "connect", [HOLD] = "hold",
	[DROP] = "drop", [QUIT] = "quit", [SOCKET] = "socket",
};

/* What a client sends first; big endian, as the ends may be different machines. */
struct request {
	uint32_t magic;
	uint32_t action;
	uint32_t size;
	uint32_t check;
	uint64_t count;
	uint64_t warm;
	uint64_t reader;
	uint64_t width;
};

/* The server's reply: when it is ready, after the messages of -w, and at the end of a stream. */
struct reply {
	uint64_t received;
	uint64_t wrong;
};

struct config cfg;

double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* Transfers a whole buffer. */

int send_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

/* Returns 0, or -1 on an error or an early end of the stream (ENODATA). */
int recv_all(int fd, void *data, size_t len)
{
	char *p = data;

	while (len) {
		ssize_t n = recv(fd, p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENODATA;
		if (n <= 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

int send_reply(int fd, uint64_t received, uint64_t wrong)
{
	struct reply r = { htobe64(received), htobe64(wrong) };

	return send_all(fd, &r, sizeof(r));
}

/*
 * The check pattern: byte i of a stream is i modulo PERIOD. A buffer that is one period longer
 * than the data holds it for every offset into the stream.
 */
char *new_buffer(size_t len)
{
	char *buf = aligned_alloc(4096, (len + PERIOD + 4095) & ~4095ul);
	size_t i;

	if (!buf)
		err(1, "no memory for %zu bytes", len);
	for (i = 0; i < len + PERIOD; i++)
		buf[i] = i % PERIOD;
	return buf;
}

static uint64_t count_wrong(const char *got, const char *pattern, uint64_t offset, size_t len)
{
	const char *want = pattern + offset % PERIOD;
	uint64_t wrong = 0;
	size_t i;

	if (!memcmp(got, want, len))
		return 0;
	for (i = 0; i < len; i++)
		wrong += got[i] != want[i];
	return wrong;
}

/* Sockets */

static int new_socket(void)
{
	int fd = socket(cfg.family, SOCK_STREAM, cfg.protocol);

	if (fd < 0)
		err(1, "no socket of family %d", cfg.family);
	return fd;
}

/* Not every family has these options; a refusal is no error. */
void tune(int fd)
{
	int on = 1;

	if (!cfg.nagle && cfg.family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (cfg.bufsize) {
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &cfg.bufsize, sizeof(int));
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &cfg.bufsize, sizeof(int));
	}
}

static socklen_t parse_address(const char *host, const char *port, struct sockaddr_storage *ss)
{
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *ai;
	socklen_t len;

	if (getaddrinfo(host, port, &hints, &ai))
		errx(1, "'%s' port '%s' is not a numeric address", host, port);
	len = ai->ai_addrlen;
	memcpy(ss, ai->ai_addr, len);
	freeaddrinfo(ai);
	return len;
}

static socklen_t parse_path(const char *path, struct sockaddr_storage *ss)
{
	struct sockaddr_un *sun = (void *)ss;
	size_t len = strlen(path);

	if (!len || len >= sizeof(sun->sun_path))
		errx(1, "'%s' does not fit into a socket path", path);
	sun->sun_family = AF_UNIX;
	memcpy(sun->sun_path, path, len);
	if (path[0] != '@')
		return sizeof(*sun);
	sun->sun_path[0] = '\0';
	return offsetof(struct sockaddr_un, sun_path) + len;
}

/* A new connection that has sent its request and is ready, see struct request. */
int open_connection(enum action action, uint64_t count)
{
	struct request rq = {
		.magic = htobe32(MAGIC),
		.action = htobe32(action),
		.size = htobe32(cfg.size),
		.check = htobe32(cfg.check),
		.count = htobe64(count),
		.warm = htobe64(cfg.warm),
		.reader = htobe64(cfg.reader),
		.width = htobe64(cfg.width),
	};
	struct sockaddr_storage src;
	struct reply r;
	int fd = new_socket();

	tune(fd);
	if (cfg.source && bind(fd, (void *)&src, parse_address(cfg.source, "0", &src)))
		err(1, "bind to %s", cfg.source);
	if (connect(fd, (void *)&cfg.addr, cfg.addr_len))
		err(1, "connect");
	if (send_all(fd, &rq, sizeof(rq)))
		err(1, "request");
	if (recv_all(fd, &r, sizeof(r)))
		err(1, "no reply from the server");
	return fd;
}

/* Server */

struct transfer {
	int fd;
	enum action action;
	uint32_t size;
	uint32_t check;
	uint64_t count;
	uint64_t warm;
	enum reader_kind reader;
	uint64_t width;
};

static struct {
	int *fd;
	size_t used;
	size_t room;
} held;

static void hold(int fd)
{
	if (held.used == held.room) {
		held.room = held.room ? 2 * held.room : 64;
		held.fd = realloc(held.fd, held.room * sizeof(*held.fd));
		if (!held.fd)
			err(1, "no memory for %zu connections", held.room);
	}
	held.fd[held.used++] = fd;
}

static void drop_held(void)
{
	while (held.used)
		close(held.fd[--held.used]);
}

struct inflow {
	char *buf;
	char *pattern;
	size_t room;
	struct reader reader;
	uint64_t got;
	uint64_t wrong;
};

static void receive_until(int fd, struct inflow *in, uint64_t total)
{
	while (in->got < total) {
		uint64_t left = total - in->got;
		ssize_t n = reader_receive(&in->reader, in->buf, left < in->room ? left : in->room,
					   in->got);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		if (in->pattern)
			in->wrong += count_wrong(in->buf, in->pattern, in->got, n);
		in->got += n;
	}
	send_reply(fd, in->got, in->wrong);
}

static void serve_stream(const struct transfer *t)
{
	struct inflow in = {
		.room = t->size > MIN_RECV ? t->size : MIN_RECV,
		.reader = { t->fd, t->reader, t->size },
	};

	in.buf = new_buffer(in.room);
	in.pattern = t->check ? new_buffer(in.room) : NULL;
	if (t->width)
		strides_begin(t->size, t->width);
	send_reply(t->fd, 0, 0);
	if (t->warm)
		receive_until(t->fd, &in, t->size * t->warm);
	receive_until(t->fd, &in, t->size * (t->warm + t->count));
	reader_end();
	strides_end();
	free(in.pattern);
	free(in.buf);
}

/* It is unknown which thread gets which bytes, so they are only counted. */
static void serve_crowd(const struct transfer *t)
{
	struct crowd crowd;

	send_reply(t->fd, 0, 0);
	crowd_start(&crowd, t->fd, t->size > MIN_RECV ? t->size : MIN_RECV);
	if (t->warm)
		send_reply(t->fd, crowd_await(&crowd, t->size * t->warm), 0);
	send_reply(t->fd, crowd_await(&crowd, t->size * (t->warm + t->count)), 0);
	crowd_end(&crowd);
}

static void serve_pingpong(const struct transfer *t)
{
	char *buf = new_buffer(t->size);
	uint64_t i;

	send_reply(t->fd, 0, 0);
	for (i = 0; i < t->warm + t->count; i++)
		if (recv_all(t->fd, buf, t->size) || send_all(t->fd, buf, t->size))
			break;
	free(buf);
}

static void *serve(void *arg)
{
	struct transfer *t = arg;
	char byte;

	tune(t->fd);
	if (t->action == STREAM && t->reader == SEVERAL)
		serve_crowd(t);
	else if (t->action == STREAM)
		serve_stream(t);
	else
		serve_pingpong(t);
	/* The client closes first: a reset must not discard our last data. */
	recv(t->fd, &byte, 1, 0);
	close(t->fd);
	free(t);
	return NULL;
}

static void start_transfer(int fd, const struct request *rq)
{
	struct transfer *t = malloc(sizeof(*t));
	pthread_t thread;

	if (!t)
		err(1, "no memory for a client");
	t->fd = fd;
	t->action = be32toh(rq->action);
	t->size = be32toh(rq->size);
	t->check = be32toh(rq->check);
	t->count = be64toh(rq->count);
	t->warm = be64toh(rq->warm);
	t->reader = be64toh(rq->reader);
	t->width = be64toh(rq->width);
	errno = pthread_create(&thread, NULL, serve, t);
	if (errno)
		err(1, "thread for a client");
	pthread_detach(thread);
}

/* Takes over @fd. Returns false when asked to quit. */
static int serve_client(int fd)
{
	struct request rq;

	if (recv_all(fd, &rq, sizeof(rq)) || be32toh(rq.magic) != MAGIC ||
	    be32toh(rq.size) > MAX_SIZE) {
		close(fd);
		return 1;
	}
	switch (be32toh(rq.action)) {
	case STREAM:
	case PINGPONG:
		start_transfer(fd, &rq);
		return 1;
	case ECHO_MANY:
		echo_join(fd, be32toh(rq.size), be64toh(rq.count));
		return 1;
	case HOLD:
		hold(fd);
		send_reply(fd, 0, 0);
		return 1;
	case DROP:
		drop_held();
		break;
	}
	send_reply(fd, 0, 0);
	close(fd);
	return be32toh(rq.action) != QUIT;
}

static int run_server(void)
{
	int fd = new_socket(), on = 1, client;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	tune(fd);
	if (bind(fd, (void *)&cfg.addr, cfg.addr_len))
		err(1, "bind");
	if (listen(fd, BACKLOG))
		err(1, "listen");
	puts("server ready");
	fflush(stdout);
	do {
		client = accept(fd, NULL, NULL);
		if (client < 0 && errno != EINTR && errno != ECONNABORTED)
			err(1, "accept");
	} while (client < 0 || serve_client(client));
	drop_held();
	close(fd);
	return 0;
}

/* Client */

static struct {
	struct busy_meter busy;
	double start;
	double us;
} stopwatch;

void start_clock(void)
{
	if (cfg.busy && busy_start(&stopwatch.busy))
		err(1, "busy time");
	stopwatch.start = now_us();
}

double stop_clock(void)
{
	stopwatch.us = now_us() - stopwatch.start;
	if (cfg.busy && busy_stop(&stopwatch.busy))
		err(1, "busy time");
	return stopwatch.us;
}

void print_head(void)
{
	printf("%s family=%s size=%u count=%llu seconds=%.6f ", action_names[cfg.action],
	       cfg.family_name, cfg.size, (unsigned long long)cfg.count, stopwatch.us * 1e-6);
	if (cfg.busy)
		printf("elapsed_us=%.1f busy_us=%.1f ", busy_elapsed_us(&stopwatch.busy),
		       busy_us(&stopwatch.busy));
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *new_samples(void)
{
	double *us = calloc(cfg.count, sizeof(*us));

	if (!us)
		err(1, "no memory for %llu samples", (unsigned long long)cfg.count);
	return us;
}

static void print_samples(double *us, double scale)
{
	qsort(us, cfg.count, sizeof(*us), compare);
	printf("min_us=%.1f p50_us=%.1f p99_us=%.1f\n", us[0] * scale,
	       us[cfg.count / 2] * scale, us[cfg.count * 99 / 100] * scale);
}

/* Sends messages of a stream up to @total bytes, and awaits the server's report. */
static void stream_until(int fd, const char *buf, uint64_t offset, uint64_t total)
{
	struct reply r;

	for (; offset < total; offset += cfg.size)
		if (writer_send(fd, buf + (cfg.check ? offset % PERIOD : 0), cfg.size))
			err(1, "send after %llu bytes", (unsigned long long)offset);
	writer_pause(fd);
	if (recv_all(fd, &r, sizeof(r)))
		err(1, "the server did not confirm");
	if (be64toh(r.received) != total)
		errx(1, "%llu of %llu bytes arrived", (unsigned long long)be64toh(r.received),
		     (unsigned long long)total);
	if (r.wrong)
		errx(1, "%llu bytes arrived wrong", (unsigned long long)be64toh(r.wrong));
}

static int run_stream(void)
{
	uint64_t warm = cfg.size * cfg.warm, total = cfg.size * cfg.count;
	char *buf = new_buffer(cfg.size);
	int fd = open_connection(STREAM, cfg.count);
	double us;

	if (cfg.width)
		strides_begin(cfg.size, cfg.width);
	writer_begin(cfg.writer, fd, buf, cfg.size + PERIOD);
	if (warm)
		stream_until(fd, buf, 0, warm);
	start_clock();
	stream_until(fd, buf, warm, warm + total);
	us = stop_clock();
	close(fd);
	strides_end();
	free(buf);
	print_head();
	printf("mbps=%.2f checked=%d\n", total / us, cfg.check);
	return 0;
}

/* Exchange number @i; returns how long it took. */
static double exchange(int fd, uint64_t i, char *out, char *in)
{
	size_t at = cfg.check ? i % PERIOD : 0;
	double sent = now_us(), us;

	if (send_all(fd, out + at, cfg.size) || recv_all(fd, in, cfg.size))
		err(1, "exchange %llu", (unsigned long long)i);
	us = now_us() - sent;
	if (cfg.check && memcmp(in, out + at, cfg.size))
		errx(1, "exchange %llu came back wrong", (unsigned long long)i);
	return us;
}

static int run_pingpong(void)
{
	char *out = new_buffer(cfg.size), *in = new_buffer(cfg.size);
	int fd = open_connection(PINGPONG, cfg.count);
	double *us = new_samples(), total;
	uint64_t i;

	for (i = 0; i < cfg.warm; i++)
		exchange(fd, i, out, in);
	start_clock();
	for (i = 0; i < cfg.count; i++)
		us[i] = exchange(fd, i, out, in);
	total = stop_clock();
	close(fd);
	print_head();
	printf("mean_us=%.1f checked=%d ", total / cfg.count / 2, cfg.check);
	print_samples(us, 0.5);
	free(us);
	free(in);
	free(out);
	return 0;
}

static int run_connect(void)
{
	double *us = new_samples(), total;
	uint64_t i;

	start_clock();
	for (i = 0; i < cfg.count; i++) {
		double began = now_us();
		int fd = open_connection(CONNECT, 0);
		char byte;

		/* The server has closed before the next connection begins. */
		if (recv(fd, &byte, 1, 0) > 0)
			errx(1, "unexpected data");
		close(fd);
		us[i] = now_us() - began;
	}
	total = stop_clock();
	print_head();
	printf("per_second=%.1f ", cfg.count * 1e6 / total);
	print_samples(us, 1);
	free(us);
	return 0;
}

static int run_socket(void)
{
	double total;
	uint64_t i;

	start_clock();
	for (i = 0; i < cfg.count; i++)
		close(new_socket());
	total = stop_clock();
	print_head();
	printf("mean_us=%.4f\n", total / cfg.count);
	return 0;
}

static int run_hold(void)
{
	char *line = NULL;
	size_t room = 0;
	uint64_t i;

	while (getline(&line, &room, stdin) > 0) {
		cfg.count = strtoull(line, NULL, 10);
		for (i = 0; i < cfg.count; i++)
			hold(open_connection(HOLD, 0));
		printf("hold family=%s count=%zu\n", cfg.family_name, held.used);
		fflush(stdout);
	}
	free(line);
	/*
	 * The client's ends are closed first, so that no TCP port stays in TIME_WAIT at the
	 * server.
	 */
	drop_held();
	close(open_connection(DROP, 0));
	return 0;
}

static int run_quit(void)
{
	close(open_connection(QUIT, 0));
	return 0;
}

static noreturn void usage(void)
{
	fputs("Usage: sockbench [-c] [-n] [-u] [-b BYTES] [-r READER] [-s SOURCE] [-w MESSAGES]\n"
	      "                 [-W WRITER] FAMILY ACTION ADDRESS PORT [SIZE] [COUNT] [CONNECTIONS]\n"
	      "  FAMILY  inet, inet6, unix, smc, sdp or a number\n"
	      "  ACTION  server | stream SIZE COUNT | pingpong SIZE COUNT\n"
	      "          echo SIZE COUNT CONNECTIONS | connect COUNT | socket COUNT | hold | quit\n"
	      "  -c      check every byte (client)\n"
	      "  -n      leave Nagle's algorithm on\n"
	      "  -u      measure the processors' busy time too (client, root)\n"
	      "  -b      SO_SNDBUF and SO_RCVBUF\n"
	      "  -r      how a stream is read: recv, waitall, poll, pollrecv, readv,\n"
	      "          uring, body or threads\n"
	      "  -s      the client's own address\n"
	      "  -w      messages before the clock starts (stream and pingpong)\n"
	      "  -W      how a stream is written: send, nowait, zerocopy or sendfile\n", stderr);
	exit(2);
}

static int parse_family(const char *name)
{
	char *end;
	long n;

	if (!strcmp(name, "inet"))
		return AF_INET;
	if (!strcmp(name, "inet6"))
		return AF_INET6;
	if (!strcmp(name, "unix"))
		return AF_UNIX;
	if (!strcmp(name, "smc"))
		return FAMILY_SMC;
	if (!strcmp(name, "sdp"))
		return FAMILY_SDP;
	n = strtol(name, &end, 10);
	if (*end || n <= 0)
		usage();
	return n;
}

static uint64_t parse_number(const char *text, uint64_t max)
{
	char *end;
	uint64_t n;

	if (!text)
		usage();
	n = strtoull(text, &end, 10);
	if (*end || end == text || !n || n > max)
		usage();
	return n;
}

static enum action parse_action(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(action_names); i++)
		if (i != DROP && !strcmp(name, action_names[i]))
			return i;
	usage();
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+cnub:r:s:S:w:W:")) != -1) {
		switch (c) {
		case 'c':
			cfg.check = 1;
			break;
		case 'n':
			cfg.nagle = 1;
			break;
		case 'u':
			cfg.busy = 1;
			break;
		case 'b':
			cfg.bufsize = parse_number(optarg, INT32_MAX);
			break;
		case 'r':
			cfg.reader = reader_named(optarg);
			if (cfg.reader < 0)
				usage();
			break;
		case 's':
			cfg.source = optarg;
			break;
		case 'S':
			cfg.width = parse_number(optarg, INT32_MAX);
			break;
		case 'w':
			cfg.warm = parse_number(optarg, UINT32_MAX);
			break;
		case 'W':
			cfg.writer = writer_named(optarg);
			if (cfg.writer < 0)
				usage();
			break;
		default:
			usage();
		}
	}
}

static void parse(int argc, char **argv)
{
	parse_options(argc, argv);
	argv += optind;
	if (argc - optind < 4)
		usage();
	cfg.family_name = argv[0];
	cfg.family = parse_family(argv[0]);
	cfg.action = parse_action(argv[1]);
	if (cfg.family == AF_UNIX)
		cfg.addr_len = parse_path(argv[2], &cfg.addr);
	else
		cfg.addr_len = parse_address(argv[2], argv[3], &cfg.addr);
	if (cfg.family == FAMILY_SMC && cfg.addr.ss_family == AF_INET6)
		cfg.protocol = SMC_OVER_IPV6;
	argv += 4;
	if (cfg.action == STREAM || cfg.action == PINGPONG || cfg.action == ECHO_MANY)
		cfg.size = parse_number(*argv++, MAX_SIZE);
	if (cfg.size || cfg.action == CONNECT || cfg.action == SOCKET)
		cfg.count = parse_number(*argv++, UINT32_MAX);
	if (cfg.action == ECHO_MANY)
		cfg.connections = parse_number(*argv++, MAX_CONNECTIONS);
	if (*argv)
		usage();
}

int main(int argc, char **argv)
{
	static int (*const run[])(void) = {
		[SERVER] = run_server, [STREAM] = run_stream, [PINGPONG] = run_pingpong,
		[ECHO_MANY] = run_echo, [CONNECT] = run_connect, [HOLD] = run_hold,
		[QUIT] = run_quit, [SOCKET] = run_socket,
	};

	parse(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	return run[cfg.action]();
}
