// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel hands out no stray bytes or addresses, and refuses what is not allowed.
 *
 * Names, options, control messages and /proc are read into memory full of a known byte. What lies
 * behind an answer has to keep that byte, padding has to be 0, and no address of the kernel may be
 * there. A program that may not change something is refused.
 *
 *	room.c		the memory, and what must not be in it
 *	netlink.c	answers of netlink
 *	rights.c	settings and ports, in new namespaces
 *
 * sdp_hostile.ko checks what crosses the wire.
 */
#include <grp.h>

#include "capable.h"
#include "leaks.h"

/* An address that was handed out: its unused bytes are 0. */
static void need_name(const char *what, socklen_t len)
{
	const struct sockaddr *sa = (const void *)room;

	if (sa->sa_family == AF_INET) {
		need(len == sizeof(struct sockaddr_in), "%s: %u bytes", what, len);
		need_zeros(what, 8, len);
	} else {
		need(len == sizeof(struct sockaddr_in6), "%s: %u bytes", what, len);
		need_zeros(what, 4, 8);
	}
	need_marks(what, len);
}

static int names(void *arg)
{
	struct addr where;
	int listening = listener(4, &where);
	struct pair p = { .c = fresh(0) };
	socklen_t len = ROOM;

	mark();
	need_errno(!getsockname(p.c, (void *)room, &len), "getsockname");
	need_name("getsockname, not bound", len);
	connect_to(p.c, &where);
	mark();
	len = ROOM;
	p.s = accept(listening, (void *)room, &len);
	need_errno(p.s >= 0, "accept");
	need_name("accept", len);
	mark();
	len = ROOM;
	need_errno(!getsockname(p.c, (void *)room, &len), "getsockname");
	need_name("getsockname", len);
	mark();
	len = ROOM;
	need_errno(!getpeername(p.s, (void *)room, &len), "getpeername");
	need_name("getpeername", len);
	/* If there is little room, only so much is written. */
	mark();
	len = 5;
	need_errno(!getpeername(p.s, (void *)room, &len), "getpeername");
	need_marks("getpeername into 5 bytes", 5);
	return EXIT_OK;
}

static const struct {
	int level, name;
	const char *text;
} options[] = {
	{ SOL_SDP, SDP_INFO, "SDP_INFO" }, { IPPROTO_TCP, TCP_INFO, "TCP_INFO" },
	{ IPPROTO_TCP, TCP_NODELAY, "TCP_NODELAY" },
	{ IPPROTO_TCP, TCP_CONGESTION, "TCP_CONGESTION" },
	{ IPPROTO_IP, IP_TOS, "IP_TOS" }, { IPPROTO_IP, IP_TTL, "IP_TTL" },
	{ SOL_SOCKET, SO_LINGER, "SO_LINGER" }, { SOL_SOCKET, SO_RCVTIMEO, "SO_RCVTIMEO" },
	{ SOL_SOCKET, SO_MEMINFO, "SO_MEMINFO" }, { SOL_SOCKET, SO_PEERCRED, "SO_PEERCRED" },
	{ SOL_SOCKET, SO_COOKIE, "SO_COOKIE" }, { SOL_SDP, 0x7fff, "none" },
};

/* Known options, into room of each length; then every number that might be an option. */
static int option_values(void *arg)
{
	struct pair p = pair_make();
	size_t i;
	int name, level;
	socklen_t len, size;
	static const int levels[] = { IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6, SOL_SDP };

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		for (size = 0; size < 300; size++) {
			mark();
			len = size;
			if (getsockopt(p.c, options[i].level, options[i].name, room, &len))
				len = 0;
			need(len <= size, "%s: %u bytes into %u", options[i].text, len, size);
			need_marks(options[i].text, size);
		}
		mark();
		len = ROOM;
		if (getsockopt(p.c, options[i].level, options[i].name, room, &len))
			continue;
		need_marks(options[i].text, len);
		if (options[i].level != SOL_SOCKET)
			need_no_address(options[i].text, room, len, 8);
	}
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		level = levels[i];
		for (name = 0; name < 128; name++) {
			mark();
			len = ROOM;
			if (getsockopt(p.c, level, name, room, &len))
				len = 0;
			need(len <= ROOM, "option %d of level %d: %u bytes", name, level, len);
			need_marks("an option by number", len);
		}
	}
	return EXIT_OK;
}

/* SDP_INFO is padded with 0, and there are no holes between its members. */
static int info_padding(void *arg)
{
	const struct sdp_info *info = (const void *)room;
	struct pair p = pair_make();
	socklen_t len = ROOM;
	size_t text = offsetof(struct sdp_info, device);

	mark();
	need_errno(!getsockopt(p.c, SOL_SDP, SDP_INFO, room, &len), "SDP_INFO");
	need(len == sizeof(*info), "%u bytes", len);
	need_info_padding(info);
	need(offsetof(struct sdp_info, split_sends) == text + sizeof(info->device) &&
	     offsetof(struct sdp_info, ring_sent) ==
	     offsetof(struct sdp_info, rx_ring_used) + sizeof(info->rx_ring_used) &&
	     offsetof(struct sdp_info, rdma_read_by_peer) ==
	     offsetof(struct sdp_info, ring_full) + sizeof(info->ring_full) &&
	     sizeof(*info) ==
	     offsetof(struct sdp_info, rail_msgs_held) + sizeof(info->rail_msgs_held),
	     "the structure has holes");
	/* A socket without a connection has counted nothing. */
	mark();
	len = ROOM;
	need_errno(!getsockopt(fresh(0), SOL_SDP, SDP_INFO, room, &len), "SDP_INFO");
	need_zeros("counters of nothing", offsetof(struct sdp_info, msgs_sent),
		   offsetof(struct sdp_info, rdma_threshold));
	return EXIT_OK;
}

/* recvmsg() writes no more than has arrived, gives no name, and no unknown control message. */
static int data_and_control(void *arg)
{
	static unsigned char control[512], name[128];
	struct pair p = pair_make();
	struct iovec iov = { room, ROOM };
	struct msghdr msg = { };
	struct cmsghdr *c;
	size_t i, size;

	set_int(p.s, SOL_SOCKET, SO_TIMESTAMP, 1);
	for (size = 1; size < 600; size += 23) {
		unsigned char data[600];

		memset(data, 'd', sizeof(data));
		send_all(p.c, data, size);
		need(await_bytes(p.s, size) >= (int)size, "it does not come");
		mark();
		memset(control, MARK, sizeof(control));
		memset(name, MARK, sizeof(name));
		msg = (struct msghdr){
			.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			.msg_controllen = sizeof(control), .msg_name = name,
			.msg_namelen = sizeof(name),
		};
		need((size_t)recvmsg(p.s, &msg, 0) == size, "recvmsg");
		need_marks("data", size);
		need(!msg.msg_namelen, "a name of %u bytes", msg.msg_namelen);
		for (i = 0; i < sizeof(name); i++)
			need(name[i] == MARK, "byte %zu of the name was written to", i);
		for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
			need(c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMP,
			     "an unknown message beside the data");
		for (i = msg.msg_controllen; i < sizeof(control); i++)
			need(control[i] == MARK, "control: byte %zu was written to", i);
	}
	return EXIT_OK;
}

static bool in_hex(char c)
{
	return strchr("0123456789abcdef", c) && c;
}

/* There are no 16 hexadecimal digits that begin as an address of the kernel does. */
static void need_no_pointer(const char *path, const char *text)
{
	const char *at = text;

	while ((at = strstr(at, "ffff"))) {
		int n = 0;

		while (in_hex(at[n]))
			n++;
		need(n != 16, "%s shows %.16s", path, at);
		at += n;
	}
}

static void look_at(const char *path)
{
	static char text[1 << 20];
	size_t len = 0;
	int fd = open(path, O_RDONLY);
	ssize_t n;

	need_errno(fd >= 0, path);
	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	close(fd);
	text[len] = 0;
	need(len, "%s is empty", path);
	need_no_pointer(path, text);
}

#define TRACING	"/sys/kernel/tracing/"

static int kernel_addresses(void *arg)
{
	struct pair p;
	int trace;

	fall_back();
	p = pair_make();
	look_at("/proc/net/sdp");
	look_at("/proc/net/sdpstat");
	look_at("/proc/net/sdp_fallbacks");
	if (!access(TRACING "events/sdp/enable", W_OK)) {
		trace = open(TRACING "trace", O_WRONLY | O_TRUNC);
		need_errno(trace >= 0, TRACING "trace");
		close(trace);
		write_file(TRACING "events/sdp/enable", "1");
		send_all(p.c, "x", 1);
		need(await_bytes(p.s, 1) == 1, "it does not come");
		close(p.c);
		close(p.s);
		write_file(TRACING "events/sdp/enable", "0");
		look_at(TRACING "trace");
	}
	return EXIT_OK;
}

static void need_refused(const char *path)
{
	need(open(path, O_WRONLY) < 0 && (errno == EACCES || errno == EPERM || errno == ENOENT),
	     "%s can be opened to be written", path);
}

/* Without capabilities, sockets work and /proc can be read, but nothing can be set. */
static int unprivileged(void *arg)
{
	bool traced = !access(TRACING "events/sdp/enable", W_OK);
	struct pair p;

	need_errno(!setgroups(0, NULL), "setgroups");
	be_nobody();
	p = pair_make();
	send_all(p.c, "x", 1);
	need_refused("/sys/module/sdp/parameters/policy");
	need_refused("/proc/net/sdp");
	need(!traced || (access(TRACING "events/sdp/enable", F_OK) < 0 && errno == EACCES &&
			 access(TRACING "trace", R_OK) < 0 && errno == EACCES),
	     "tracing: %s", errno_text(errno));
	look_at("/proc/net/sdp");
	need(setsockopt(p.c, SOL_SOCKET, SO_MARK, &(int){ 1 }, sizeof(int)) < 0 && errno == EPERM,
	     "SO_MARK: %s", errno_text(errno));
	need(setsockopt(p.c, SOL_SOCKET, SO_SNDBUFFORCE, &(int){ 1 << 20 }, sizeof(int)) < 0 &&
	     errno == EPERM, "SO_SNDBUFFORCE: %s", errno_text(errno));
	return EXIT_OK;
}

static ssize_t read_some(const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t n;
	char c;

	if (fd < 0)
		return -1;
	n = read(fd, &c, 1);
	close(fd);
	return n;
}

/*
 * The fallbacks of other programs: user 0, too, needs CAP_NET_ADMIN in the user namespace that owns
 * the network namespace.
 */
static int fallbacks_guarded(void *arg)
{
	static const char path[] = "/proc/net/sdp_fallbacks";
	int before;

	before = open(path, O_RDONLY);
	need(before >= 0 && read_some(path) >= 0, "root: %s", errno_text(errno));
	drop_net_admin();
	need(read_some(path) < 0 && errno == EPERM, "without CAP_NET_ADMIN: %s",
	     errno_text(errno));
	/* As for other files, those capabilities count with which it was opened. */
	need(read(before, room, ROOM) >= 0, "opened before: %s", errno_text(errno));
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "names", names, 30, ALL_SETS, .sdp_only = false, .arg = NULL },
	{ "options", option_values, 60, V4_SETS, .sdp_only = true, .arg = NULL },
	{ "info_padding", info_padding, 30, V4_SETS, .sdp_only = true, .arg = NULL },
	{ "data_and_control", data_and_control, 60, V4_SETS, .sdp_only = false, .arg = NULL },
	{ "kernel_addresses", kernel_addresses, 60, V4_SETS, .sdp_only = true, .arg = NULL },
	{ "unprivileged", unprivileged, 30, 1u << SET_LO4, .sdp_only = true, .arg = NULL },
	{ "fallbacks", fallbacks_guarded, 30, 1u << SET_LO4, .sdp_only = true, .arg = NULL },
	{ "settings", settings_guarded, 30, 1u << SET_LO4, .sdp_only = true, .arg = NULL },
	{ "low_ports", low_ports, 30, 1u << SET_LO4, .sdp_only = false, .arg = NULL },
	{ "netlink", netlink_answers, 30, V4_SETS, .sdp_only = true, .arg = NULL },
	{ "sock_diag", diag_answers, 30, V4_SETS, .sdp_only = true, .arg = NULL },
};

TEST_MAIN(tests)
