// SPDX-License-Identifier: GPL-2.0
/*
 * Policy tests of what a program and others see of a socket before and after the decision.
 */
#include "guard.h"

/*
 * Attributes of a socket. Only the protocol may change; inode and cookie tell whether it is the
 * same socket.
 */
struct looks {
	int domain, type, protocol;
	unsigned long long inode;
	uint64_t cookie;
};

/*
 * Returns whether a table of sockets has one with the local port @port in state @state; 0 means
 * any.
 */
static bool table_has(const char *path, unsigned int port, unsigned int state)
{
	FILE *f = fopen(path, "r");
	char line[512], own[100];
	unsigned int is;
	bool has = false;

	need_errno(f, path);
	while (fgets(line, sizeof(line), f)) {
		char *at;

		if (sscanf(line, "%*s %99s %*s %x", own, &is) != 2)
			continue;
		at = strrchr(own, ':');
		has |= at && strtoul(at + 1, NULL, 16) == port && (!state || is == state);
	}
	fclose(f);
	return has;
}

static void need_tables(const char *what, unsigned int port, unsigned int state, bool tcp, bool sdp)
{
	const char *path = set->family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6";

	need(table_has(path, port, state) == tcp, "%s: port %u is %s in %s", what, port,
	     tcp ? "not" : "seen", path);
	need(table_has("/proc/net/sdp", port, state) == sdp, "%s: port %u is %s in /proc/net/sdp",
	     what, port, sdp ? "not" : "seen");
}

static struct looks looks_of(int fd)
{
	struct looks l = {
		.domain = get_int(fd, SOL_SOCKET, SO_DOMAIN),
		.type = get_int(fd, SOL_SOCKET, SO_TYPE),
		.protocol = get_int(fd, SOL_SOCKET, SO_PROTOCOL),
		.inode = inode_of(fd),
	};
	socklen_t len = sizeof(l.cookie);

	need_errno(!getsockopt(fd, SOL_SOCKET, SO_COOKIE, &l.cookie, &len), "SO_COOKIE");
	return l;
}

static void need_looks(const char *what, const struct looks *was, int fd, int protocol)
{
	struct looks is = looks_of(fd);

	need(was->domain == set->family && is.domain == set->family, "%s: SO_DOMAIN is %d, then %d",
	     what, was->domain, is.domain);
	need(was->type == SOCK_STREAM && is.type == SOCK_STREAM, "%s: SO_TYPE", what);
	need(was->protocol == BY_TCP && is.protocol == protocol,
	     "%s: SO_PROTOCOL is %d, then %d", what, was->protocol, is.protocol);
	need(was->inode == is.inode, "%s: its inode is another one", what);
	need((was->cookie == is.cookie) == (protocol == BY_TCP), "%s: its cookie is %s one", what,
	     was->cookie == is.cookie ? "the same" : "another");
}

int seen_connect(void *arg)
{
	static const struct {
		const char *name;
		enum kind to;
	} rows[] = {
		{ TCP_SIDE, TCP_ONLY }, { BOTH_SIDE, TCP_ONLY }, { BOTH_SIDE, SDP_ONLY },
		{ SDP_SIDE, SDP_ONLY },
	};
	struct looks was;
	struct addr where, own;
	int listening, fd;
	size_t i;

	by_names();
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bool sdp = rows[i].to == SDP_ONLY;

		listening = listener_of(rows[i].to, 4, &where);
		fd = stream(0);
		was = looks_of(fd);
		need(!connect_as(rows[i].name, fd, &where), "connect: %s", errno_text(errno));
		need_looks(rows[i].name, &was, fd, sdp ? BY_SDP : BY_TCP);
		own = name_of(fd);
		need(own.sa.sa_family == set->family, "its name is of family %d", own.sa.sa_family);
		need_tables(rows[i].name, addr_port(&own), 1, !sdp, sdp);
		close(fd);
		close(listening);
	}
	return EXIT_OK;
}

int seen_listen(void *arg)
{
	static const struct {
		const char *name;
		bool tcp, sdp;
		int protocol;
	} rows[] = {
		{ TCP_SIDE, true, false, BY_TCP }, { BOTH_SIDE, true, true, BY_TCP },
		{ SDP_SIDE, false, true, BY_SDP },
	};
	struct looks was;
	struct addr own;
	size_t i;
	int fd;

	by_names();
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		as(rows[i].name);
		fd = stream(0);
		was = looks_of(fd);
		own = server_addr(0);
		need_errno(!bind(fd, &own.sa, own.len) && !listen(fd, 4), "listen");
		need_looks(rows[i].name, &was, fd, rows[i].protocol);
		need(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), "%s: SO_ACCEPTCONN", rows[i].name);
		own = name_of(fd);
		need_tables(rows[i].name, addr_port(&own), 10, rows[i].tcp, rows[i].sdp);
		close(fd);
	}
	return EXIT_OK;
}

/* While SDP is tried, getsockname() returns SDP's address; the rest is that of a TCP socket. */
int seen_trying(void *arg)
{
	struct addr own, later;
	struct looks was;
	struct silent s = silent_for(slow_kernel() ? 15000 : 5000);
	int fd = stream(SOCK_NONBLOCK);

	was = looks_of(fd);
	need_connect(BOTH_SIDE, fd, &s.where, EINPROGRESS, "connect");
	own = name_of(fd);
	need(addr_port(&own), "no port while SDP is tried");
	need_looks("while SDP is tried", &was, fd, BY_TCP);
	need_tables("while SDP is tried", addr_port(&own), 2, false, true);
	need(poll_for(fd, POLLOUT, 3 * WAIT_MS) & POLLOUT, "not connected");
	later = name_of(fd);
	need_looks("afterwards", &was, fd, BY_TCP);
	need_tables("afterwards", addr_port(&later), 1, true, false);
	set_nonblock(fd, false);
	close(accept_and_talk(s.tcp, fd, BY_TCP));
	return EXIT_OK;
}
