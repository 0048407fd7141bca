// SPDX-License-Identifier: GPL-2.0
/* Connected sockets: purely random calls would make too few. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/sdp.h>

#include "calls.h"

/* Addresses and protocols; the last ones are for the policy. */
static const struct {
	int family, protocol;
	const char *address, *kind;
} ways[] = {
	{ AF_SDP, 0, "127.0.0.1", "sock_sdp" },
	{ AF_SDP, 0, "10.9.0.2", "sock_sdp" },
	{ AF_SDP, 0, "10.9.0.2", "sock_sdp" },
	{ AF_SDP, 0, "fd09::2", "sock_sdp" },
	{ AF_INET, IPPROTO_SDP, "10.9.0.2", "sock_sdp4" },
	{ AF_INET6, IPPROTO_SDP, "::1", "sock_sdp6" },
	{ AF_INET, 0, "127.0.0.1", "sock_tcp4" },
	{ AF_INET, 0, "10.9.0.2", "sock_tcp4" },
	{ AF_INET6, 0, "fd09::2", "sock_tcp6" },
};

enum { WAYS = sizeof(ways) / sizeof(*ways), PAIR_MS = 1000 };

struct place {
	union {
		struct sockaddr sa;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

static void place_of(struct place *p, const char *address)
{
	memset(p, 0, sizeof(*p));
	if (inet_pton(AF_INET, address, &p->v4.sin_addr) == 1) {
		p->v4.sin_family = AF_INET;
		p->len = sizeof(p->v4);
	} else {
		inet_pton(AF_INET6, address, &p->v6.sin6_addr);
		p->v6.sin6_family = AF_INET6;
		p->len = sizeof(p->v6);
	}
}

static int listener(const struct place *where, int way)
{
	int fd = socket(ways[way].family, SOCK_STREAM | SOCK_NONBLOCK, ways[way].protocol);

	if (fd >= 0 && !bind(fd, &where->sa, where->len) && !listen(fd, 8))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Small or large messages and writes, so that data takes all ways. */
static void prepare(int fd, uint64_t seed)
{
	int threshold = 2000, one = 1;

	if (seed & 1)
		setsockopt(fd, SOL_SDP, SDP_RDMA_THRESHOLD, &threshold, sizeof(threshold));
	if (seed & 2)
		setsockopt(fd, SOL_SDP, SDP_ZEROCOPY, &one, sizeof(one));
}

void caller_pair(struct caller *c, uint64_t seed)
{
	int way = seed % WAYS, kind, server, client, other;
	struct tally *t = &shared->tally[calls_spec->call_count];
	uint64_t from = now_us();
	struct place where;
	struct pollfd poll_fd = { .events = POLLIN };

	seed /= WAYS;
	place_of(&where, ways[way].address);
	kind = types_resource(calls_spec, ways[way].kind);
	server = listener(&where, way);
	if (server < 0 || kind < 0)
		return;
	c->lane->call = calls_spec->call_count;
	c->lane->began = from / 1000;
	client = socket(ways[way].family, SOCK_STREAM | (seed & 4 ? SOCK_NONBLOCK : 0),
			ways[way].protocol);
	getsockname(server, &where.sa, &where.len);
	if (client >= 0 && (!connect(client, &where.sa, where.len) || errno == EINPROGRESS)) {
		poll_fd.fd = server;
		other = poll(&poll_fd, 1, PAIR_MS) == 1 ?
			accept4(server, NULL, NULL, seed & 8 ? SOCK_NONBLOCK : 0) : -1;
		if (other >= 0) {
			prepare(client, seed >> 4);
			prepare(other, seed >> 6);
			table_add(c->table, kind, other);
			shared->pairs++;
		}
	}
	c->lane->began = 0;
	t->made++;
	t->us += now_us() - from;
	if (client >= 0)
		table_add(c->table, kind, client);
	if (seed & 256)
		close(server);
	else
		table_add(c->table, kind, server);
}
