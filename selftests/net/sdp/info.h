/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SDP_INFO of a connection, and what can be told by it: when nothing is under way any more.
 */
#ifndef SDP_TEST_INFO_H
#define SDP_TEST_INFO_H

#include "sock.h"
#include <linux/sdp.h>

static inline struct sdp_info info_of(int fd)
{
	struct sdp_info info = { 0 };
	socklen_t len = sizeof(info);

	need_errno(!getsockopt(fd, SOL_SDP, SDP_INFO, &info, &len), "SDP_INFO");
	return info;
}

static inline unsigned int unfinished_messages(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	need_errno(!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), "TCP_INFO");
	return info.tcpi_unacked;
}

/*
 * Each of two ends has got what the other one has sent, and knows of its own that it has arrived.
 * What an end does about a message, more receives and an answer included, is done before it can be
 * asked again. So nothing happens any more until a program does something.
 */
static inline bool ends_rest(int one, int other)
{
	struct sdp_info a = info_of(one), b;

	if (a.bytes_unarrived || unfinished_messages(one))
		return false;
	b = info_of(other);
	return !b.bytes_unarrived && !unfinished_messages(other) &&
	       a.msgs_sent == b.msgs_received && b.msgs_sent == a.msgs_received;
}

static inline void await_ends_rest(int one, int other)
{
	long long end = now_ms() + WAIT_MS;

	while (!ends_rest(one, other)) {
		need(now_ms() < end, "there is always something under way");
		pause_ms(1);
	}
}

/*
 * Fills @fd, whose other end @other reads nothing, without ever waiting for room, until there can
 * be none any more. How many bytes that were.
 */
static inline long fill_to_rest(int fd, int other)
{
	long total = 0, n;

	while ((n = send_until_full(fd))) {
		total += n;
		await_ends_rest(fd, other);
	}
	return total;
}

/* As fill(), and for TCP it is that. */
static inline long fill_ends(int fd, int other)
{
	return use_sdp ? fill_to_rest(fd, other) : fill(fd);
}

/* The process @reader has read all of the @at bytes that have gone to @fd, and waits for more. */
static inline void await_reader(int fd, long at, pid_t reader)
{
	long long end = now_ms() + WAIT_MS;
	struct sdp_info info = info_of(fd);

	for (; (long)info.bytes_received < at || info.bytes_unread; info = info_of(fd)) {
		need(now_ms() < end, "%lld of %ld bytes have come, %u are not read",
		     (long long)info.bytes_received, at, info.bytes_unread);
		pause_ms(1);
	}
	await_asleep(reader);
}

/* Sockets, by the lines of /proc/net/sdp. */
static inline int sockets(void)
{
	FILE *f = fopen("/proc/net/sdp", "r");
	char line[512];
	int n = -1;			/* the titles */

	need_errno(f, "/proc/net/sdp");
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

/*
 * A connection whose client wishes for flow control @out, and whose server for @in: the listener's
 * option is what the accepted one begins with.
 */
static inline struct pair pair_by(int out, int in)
{
	struct addr where;
	struct pair p;
	int listening = listener(1, &where);

	set_int(listening, SOL_SDP, SDP_FLOW_CONTROL, in);
	p.c = fresh(0);
	set_int(p.c, SOL_SDP, SDP_FLOW_CONTROL, out);
	connect_to(p.c, &where);
	p.s = accept_from(listening);
	close(listening);
	return p;
}

#endif /* SDP_TEST_INFO_H */
