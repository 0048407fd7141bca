// SPDX-License-Identifier: GPL-2.0
/*
 * ports sdp|tcp COUNT...: cost of bind(), listen() and connecting at a busy port.
 *
 * COUNT is the port's number of connections. By loopback, with both ends in this process. One line
 * for each COUNT:
 *
 *	ports KIND connections=N refused=US bind=US listen=US connect=US
 *
 * refused is a bind() that fails with EADDRINUSE; bind and listen are those of another listener
 * with SO_REUSEPORT; connect is a connection until it is accepted: medians, in microseconds.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define IPPROTO_SDP	257
#define PORT		5000
/* First of PORTS client ports at each address; connect() chooses others. */
#define FIRST_PORT	10000
#define PORTS		20000
#define RUNS		31

enum { REFUSED, BIND, LISTEN, CONNECT, TIMES };

static int protocol;

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return 1e6 * ts.tv_sec + ts.tv_nsec / 1e3;
}

static struct sockaddr_in address(unsigned int ip, unsigned int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	a.sin_addr.s_addr = htonl(ip);
	return a;
}

static int stream(bool share)
{
	int fd = socket(AF_INET, SOCK_STREAM, protocol), on = 1;

	if (fd < 0)
		err(1, "socket");
	if (share && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)))
		err(1, "SO_REUSEPORT");
	return fd;
}

static bool bind_to(int fd, unsigned int ip, unsigned int port)
{
	struct sockaddr_in a = address(ip, port);

	return !bind(fd, (struct sockaddr *)&a, sizeof(a));
}

/* From an explicit address and port: one address has too few ports. */
static void open_one(int listening, int i)
{
	struct sockaddr_in a = address(INADDR_LOOPBACK, PORT);
	int fd = stream(false);

	if (!bind_to(fd, INADDR_LOOPBACK + 1 + i / PORTS, FIRST_PORT + i % PORTS))
		err(1, "bind of client %d", i);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		err(1, "connect of client %d", i);
	if (accept(listening, NULL, NULL) < 0)
		err(1, "accept of client %d", i);
}

static double time_of_refusal(void)
{
	int fd = stream(false);
	double start = now_us(), end;

	if (bind_to(fd, INADDR_LOOPBACK, PORT) || errno != EADDRINUSE)
		errx(1, "bind beside a listener is not refused");
	end = now_us();
	close(fd);
	return end - start;
}

static void times_of_listener(double *us_bind, double *us_listen)
{
	int fd = stream(true);
	double start = now_us(), bound;

	if (!bind_to(fd, INADDR_ANY, PORT))
		err(1, "bind by SO_REUSEPORT");
	bound = now_us();
	if (listen(fd, 1))
		err(1, "listen by SO_REUSEPORT");
	*us_listen = now_us() - bound;
	*us_bind = bound - start;
	close(fd);
}

static double time_of_connection(int listening)
{
	struct sockaddr_in a = address(INADDR_LOOPBACK, PORT);
	int fd = stream(false), accepted;
	double start = now_us(), end;

	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		err(1, "connect");
	accepted = accept(listening, NULL, NULL);
	end = now_us();
	if (accepted < 0)
		err(1, "accept");
	close(fd);
	close(accepted);
	return end - start;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const char *kind, int listening, int count)
{
	static double us[TIMES][RUNS];
	int i;

	for (i = 0; i < RUNS; i++) {
		us[REFUSED][i] = time_of_refusal();
		times_of_listener(&us[BIND][i], &us[LISTEN][i]);
		us[CONNECT][i] = time_of_connection(listening);
	}
	for (i = 0; i < TIMES; i++)
		qsort(us[i], RUNS, sizeof(us[i][0]), compare);
	printf("ports %s connections=%d refused=%.1f bind=%.1f listen=%.1f connect=%.1f\n", kind,
	       count, us[REFUSED][RUNS / 2], us[BIND][RUNS / 2], us[LISTEN][RUNS / 2],
	       us[CONNECT][RUNS / 2]);
	fflush(stdout);
}

static void allow_descriptors(rlim_t n)
{
	struct rlimit limit = { .rlim_cur = n, .rlim_max = n };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "descriptors: %lu", (unsigned long)n);
}

int main(int argc, char **argv)
{
	int i, listening, open = 0;

	if (argc < 3 || (strcmp(argv[1], "sdp") && strcmp(argv[1], "tcp")))
		errx(2, "ports sdp|tcp COUNT...");
	protocol = strcmp(argv[1], "sdp") ? 0 : IPPROTO_SDP;
	allow_descriptors(2 * atoi(argv[argc - 1]) + 100);
	listening = stream(true);
	if (!bind_to(listening, INADDR_ANY, PORT) || listen(listening, 16))
		err(1, "listener");
	for (i = 2; i < argc; i++) {
		while (open < atoi(argv[i]))
			open_one(listening, open++);
		measure(argv[1], listening, open);
	}
	return 0;
}
