// SPDX-License-Identifier: GPL-2.0
/*
 * Connections made to see whether they can be made.
 *
 * They are closed at once in an orderly way, so the server sees a connection that ends without
 * data.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The result of a connect in progress: a positive errno or 0. */
static int outcome(int fd, long until)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int error = 0, left, n;

	do {
		left = (int)(until - now_ms());
		n = poll(&ready, 1, left > 0 ? left : 0);
	} while (n < 0 && errno == EINTR);
	if (!n)
		return ETIMEDOUT;
	if (n < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len))
		return errno;
	return error;
}

/* The struct of an older module is shorter. */
static void take_info(struct sdp_probe *probe, int fd)
{
	socklen_t len = sizeof(probe->info);

	if (getsockopt(fd, SOL_SDP, SDP_INFO, &probe->info, &len))
		memset(&probe->info, 0, sizeof(probe->info));
}

/**
 * sdp_probe_sdp() - connect by SDP
 * @probe: to be filled in
 * @to: peer
 * @len: length of @to
 * @ms: time limit
 */
void sdp_probe_sdp(struct sdp_probe *probe, const struct sockaddr *to, socklen_t len, int ms)
{
	int fd = socket(AF_SDP, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	long start = now_ms();

	memset(probe, 0, sizeof(*probe));
	if (fd < 0) {
		probe->error = errno;
		return;
	}
	if (connect(fd, to, len))
		probe->error = errno == EINPROGRESS ? outcome(fd, start + ms) : errno;
	probe->ms = now_ms() - start;
	if (!probe->error)
		take_info(probe, fd);
	close(fd);
}

/*
 * The policy turns a socket into TCP as soon as its program asks for an upper layer protocol
 * (ULP), which may replace the socket's operations. There is no ULP with this name.
 */
static void leave_policy(int fd)
{
	static const char none[] = "none";

	setsockopt(fd, IPPROTO_TCP, TCP_ULP, none, strlen(none));
}

/**
 * sdp_probe_tcp() - connect by TCP, whatever the policy says
 * @probe: to be filled in
 * @to: peer
 * @len: length of @to
 * @ms: time limit
 */
void sdp_probe_tcp(struct sdp_probe *probe, const struct sockaddr *to, socklen_t len, int ms)
{
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	long start = now_ms();

	memset(probe, 0, sizeof(*probe));
	if (fd < 0) {
		probe->error = errno;
		return;
	}
	leave_policy(fd);
	if (connect(fd, to, len))
		probe->error = errno == EINPROGRESS ? outcome(fd, start + ms) : errno;
	probe->ms = now_ms() - start;
	close(fd);
}
