// SPDX-License-Identifier: GPL-2.0
/* Connections with both ends in one program, see ends.h. */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ends.h"

#define FAMILY_SDP	27
#define FAMILY_SMC	43

double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

uint64_t number(const char *text, uint64_t max)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (*end || end == text || n > max)
		errx(2, "'%s' is not a number up to %llu", text, (unsigned long long)max);
	return n;
}

int family_number(const char *name)
{
	if (!strcmp(name, "inet"))
		return AF_INET;
	if (!strcmp(name, "unix"))
		return AF_UNIX;
	if (!strcmp(name, "smc"))
		return FAMILY_SMC;
	if (!strcmp(name, "sdp"))
		return FAMILY_SDP;
	return number(name, 255);
}

static int new_socket(int family, int sndbuf)
{
	int fd = socket(family, SOCK_STREAM, 0), on = 1;

	if (fd < 0)
		err(1, "no socket of family %d", family);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (sndbuf && setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf)))
		err(1, "a send buffer of %d bytes", sndbuf);
	return fd;
}

/* A refusal is no error: not every family has the option. */
static void no_delay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

struct ends connect_ends(int family, const char *address, unsigned int port, int sndbuf)
{
	struct sockaddr_in where = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct ends e;
	int pair[2], fd;

	if (family == AF_UNIX) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			err(1, "socketpair");
		return (struct ends){ pair[0], pair[1] };
	}
	if (inet_pton(AF_INET, address, &where.sin_addr) != 1)
		errx(2, "'%s' is not an IPv4 address", address);
	fd = new_socket(family, sndbuf);
	if (bind(fd, (void *)&where, sizeof(where)) || listen(fd, 1))
		err(1, "listen on port %u", port);
	e.from = new_socket(family, sndbuf);
	if (connect(e.from, (void *)&where, sizeof(where)))
		err(1, "connect to port %u", port);
	e.to = accept(fd, NULL, NULL);
	if (e.to < 0)
		err(1, "accept");
	close(fd);
	no_delay(e.from);
	no_delay(e.to);
	return e;
}

void run_ends(struct ends e, void (*from)(int fd), void (*to)(int fd))
{
	pid_t child = fork();
	int status;

	if (child < 0)
		err(1, "fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(e.from);
		to(e.to);
		exit(0);
	}
	close(e.to);
	from(e.from);
	close(e.from);
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "the other end has failed");
}

void send_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err(1, "send");
		p += n;
		len -= n;
	}
}

int recv_all(int fd, void *data, size_t len)
{
	char *p = data;

	while (len) {
		ssize_t n = recv(fd, p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err(1, "recv");
		if (!n)
			return 0;
		p += n;
		len -= n;
	}
	return 1;
}
