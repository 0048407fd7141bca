// SPDX-License-Identifier: GPL-2.0
/*
 * Other ways to a connection, for sweeps over their allocations.
 *
 * These are an accept that sleeps when a connection comes, IPPROTO_SDP sockets of AF_INET and
 * AF_INET6, and a socket that disconnects and connects again.
 */
#include <pthread.h>

#include "again.h"

/*
 * The thread that connects once accept() sleeps. If accept() has failed before, the thread connects
 * once its creator sleeps in pthread_join().
 */
static pthread_t connecting;

static bool connected_late;

static void *connect_late(void *arg)
{
	struct state *s = arg;

	await_asleep(getpid());
	connect_to(s->p.c, &s->where);
	return NULL;
}

void prepare_accept_late(struct state *s)
{
	s->p.c = fresh(0);
	connected_late = false;
	need(!pthread_create(&connecting, NULL, connect_late, s), "pthread_create");
}

void join_late(struct state *s)
{
	if (!connected_late)
		pthread_join(connecting, NULL);
	connected_late = true;
}

void after_accept_late(struct state *s)
{
	join_late(s);
	after_accept(s);
}

void setup_inet(struct state *s)
{
	use_twin = true;
	setup_listener(s);
}

int run_socket_inet(struct state *s)
{
	s->fd = socket(set->family, SOCK_STREAM, IPPROTO_SDP);
	return s->fd;
}

static int disconnect(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(fd, &none, sizeof(none));
}

void prepare_connected(struct state *s)
{
	s->fd = fresh(0);
	connect_to(s->fd, &s->where);
	s->p.s = accept_from(s->listening);
}

int run_disconnect(struct state *s)	{ return disconnect(s->fd); }

/* The peer is told of the end, and the socket is as good as new. */
void after_disconnect(struct state *s)
{
	char c;

	need(recv(s->p.s, &c, 1, 0) < 0 && errno == ECONNRESET, "the peer: %s", errno_text(errno));
	close(s->p.s);
	connect_to(s->fd, &s->where);
	after_connect(s);
}

void prepare_disconnected(struct state *s)
{
	prepare_connected(s);
	need_errno(!disconnect(s->fd), "disconnect");
	close(s->p.s);
}
