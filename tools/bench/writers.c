// SPDX-License-Identifier: GPL-2.0
/*
 * The ways to write a stream: by calls that may wait; or like an event-driven program, which calls
 * poll() when there is no room, and copies the bytes, lends its memory or sends a file; or by the
 * column of a matrix, copied together before or gathered by a program.
 *
 * One connection of the process writes in such a way.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "strides.h"
#include "writers.h"

static const char *const names[] = {
	[SENDS] = "send", [SENDS_NOWAIT] = "nowait", [LENDS] = "zerocopy",
	[SENDS_FILE] = "sendfile", [PACKS] = "pack", [GATHERS] = "gather",
};

static struct {
	enum writer_kind kind;
	const char *base;
	size_t size;
	int file;
} writer;

int writer_named(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

void writer_begin(enum writer_kind kind, int fd, const char *buf, size_t len)
{
	int on = 1;

	writer.kind = kind;
	writer.base = buf;
	if (kind == LENDS && setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)))
		err(1, "SO_ZEROCOPY");
	if (kind != SENDS_FILE)
		return;
	writer.file = memfd_create("sockbench", 0);
	if (writer.file < 0 || write(writer.file, buf, len) != (ssize_t)len)
		err(1, "a file of %zu bytes", len);
}

/* sendfile() has no flag for calls that do not wait. */
static void set_waits(int fd, int waits)
{
	static int now_waits = 1;

	if (writer.kind != SENDS_FILE || waits == now_waits)
		return;
	if (fcntl(fd, F_SETFL, waits ? 0 : O_NONBLOCK))
		err(1, "O_NONBLOCK");
	now_waits = waits;
}

void writer_pause(int fd)
{
	set_waits(fd, 1);
}

/* Takes the reports of MSG_ZEROCOPY, which hold memory of the socket. */
static void take_reports(int fd)
{
	char control[256];
	struct msghdr msg = { .msg_control = control };

	do
		msg.msg_controllen = sizeof(control);
	while (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0);
}

/* One call. */
static ssize_t write_some(int fd, const char *p, size_t len)
{
	off_t at = p - writer.base;

	switch (writer.kind) {
	case SENDS_NOWAIT:
		return send(fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	case LENDS:
		return send(fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_ZEROCOPY);
	case SENDS_FILE:
		return sendfile(fd, writer.file, &at, len);
	case GATHERS:
		return strides_gather(fd, writer.size - len, MSG_NOSIGNAL);
	default:
		return send(fd, p, len, MSG_NOSIGNAL);
	}
}

/* Waits until there is room, or a report to take. */
static void await_room(int fd)
{
	/* After ENOBUFS there may be room, but too many reports are outstanding. */
	struct pollfd p = { .fd = fd, .events = errno == ENOBUFS ? 0 : POLLOUT };

	if (poll(&p, 1, -1) < 0 && errno != EINTR)
		err(1, "poll");
}

int writer_send(int fd, const char *p, size_t len)
{
	set_waits(fd, 0);
	writer.size = len;
	if (writer.kind == PACKS)
		strides_pack((char *)p);
	while (len) {
		ssize_t n = write_some(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN && errno != ENOBUFS)
			return -1;
		if (n < 0) {
			await_room(fd);
			n = 0;
		}
		if (writer.kind == LENDS)
			take_reports(fd);
		p += n;
		len -= n;
	}
	return 0;
}
