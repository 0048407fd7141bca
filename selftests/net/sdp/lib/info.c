// SPDX-License-Identifier: GPL-2.0
#include "info.h"

struct sdp_info info_of(int fd)
{
	struct sdp_info info;
	socklen_t len = sizeof(info);

	/* A member that the kernel does not write is noticed. */
	memset(&info, 0xee, sizeof(info));
	need_errno(!getsockopt(fd, SOL_SDP, SDP_INFO, &info, &len), "SDP_INFO");
	need(len == sizeof(info), "SDP_INFO has %u bytes", len);
	return info;
}

static unsigned int unfinished_messages(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	need_errno(!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), "TCP_INFO");
	return info.tcpi_unacked;
}

/*
 * @info's end has more data to send and may send it, or has announced it: a peer whose reader does
 * not come asks for it in messages (C9). A peer keeps its last credit (D5); a full ring is no
 * matter of credit.
 */
static bool has_more(const struct sdp_info *info)
{
	return info->bytes_unsent && info->credit > 1 && !info->tx_ring;
}

/*
 * Each end has received what the other one has sent, and knows that its own data has arrived.
 * Before an end can be asked again it has done all that a message makes it do, posting receives and
 * answering included. So nothing more happens until a program does something.
 */
static bool ends_rest(int one, int other)
{
	struct sdp_info a = info_of(one), b;

	if (a.bytes_unarrived || has_more(&a) || unfinished_messages(one))
		return false;
	b = info_of(other);
	return !b.bytes_unarrived && !has_more(&b) && !unfinished_messages(other) &&
	       a.msgs_sent == b.msgs_received && b.msgs_sent == a.msgs_received;
}

void await_ends_rest(int one, int other)
{
	long long end = now_ms() + WAIT_MS;

	while (!ends_rest(one, other)) {
		need(now_ms() < end, "there is always something under way");
		pause_ms(1);
	}
}

/*
 * Fills the connection from @fd, without blocking. Nobody reads at its other end, @other. Returns
 * the number of bytes sent when there can be no more room.
 */
long fill_to_rest(int fd, int other)
{
	long total = send_until_full(fd), n;

	do {
		await_ends_rest(fd, other);
		n = send_until_full(fd);
		total += n;
	} while (n);
	return total;
}

/* fill_to_rest() for SDP, fill() for TCP. */
long fill_ends(int fd, int other)
{
	return use_sdp ? fill_to_rest(fd, other) : fill(fd);
}

/* Waits until process @reader has read all @at bytes sent to @fd, and sleeps in a read. */
void await_reader(int fd, long at, pid_t reader)
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

/* Waits until the connection has this number of receives posted. */
void await_posted(int fd, unsigned int want)
{
	long long end = now_ms() + WAIT_MS;

	while (info_of(fd).posted != want && now_ms() < end)
		pause_ms(1);
	need(info_of(fd).posted == want, "%u receives are posted, not %u", info_of(fd).posted,
	     want);
}

/* Number of sockets, by the lines of /proc/net/sdp. */
int sockets(void)
{
	FILE *f = fopen("/proc/net/sdp", "r");
	char line[512];
	int n = -1;			/* the line of titles */

	need_errno(f, "/proc/net/sdp");
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

/*
 * Makes a connection. The client asks for flow control @out, the server for @in: a child socket
 * inherits the listener's option.
 */
struct pair pair_by(int out, int in)
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
