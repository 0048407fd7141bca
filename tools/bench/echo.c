// SPDX-License-Identifier: GPL-2.0
/*
 * Messages echoed over many independent connections.
 *
 * One thread at either end handles all connections with poll(), which every family supports,
 * rsockets' library included. The client has one message in flight on each connection; an echo
 * starts the next message there, until COUNT were made in total.
 *
 * The request on each connection says how many connections are still to come; with the last one
 * the server's thread begins.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sockbench.h"

struct group {
	uint32_t size;
	size_t used;
	size_t room;
	struct pollfd *fd;
	char *buf;
};

/* Server */

static struct group *gathering;

static struct group *new_group(uint32_t size, size_t room)
{
	struct group *g = calloc(1, sizeof(*g));

	if (g)
		g->fd = calloc(room, sizeof(*g->fd));
	if (!g || !g->fd)
		err(1, "no memory for %zu connections", room);
	g->size = size;
	g->room = room;
	g->buf = new_buffer(size);
	return g;
}

static void free_group(struct group *g)
{
	while (g->used)
		close(g->fd[--g->used].fd);
	free(g->fd);
	free(g->buf);
	free(g);
}

/* Echoes what has arrived. Returns false when the connection has ended. */
static int echo_once(struct group *g, int fd)
{
	ssize_t n = recv(fd, g->buf, g->size, 0);

	if (n < 0 && errno == EINTR)
		return 1;
	return n > 0 && !send_all(fd, g->buf, n);
}

static void *serve_echo(void *arg)
{
	struct group *g = arg;
	size_t i;

	while (g->used && (poll(g->fd, g->used, -1) >= 0 || errno == EINTR)) {
		/* Downwards: the last entry replaces one that has ended. */
		for (i = g->used; i-- > 0;) {
			if (!g->fd[i].revents || echo_once(g, g->fd[i].fd))
				continue;
			close(g->fd[i].fd);
			g->fd[i] = g->fd[--g->used];
		}
	}
	free_group(g);
	return NULL;
}

static void start_echo(struct group *g)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, serve_echo, g);
	if (errno)
		err(1, "thread for connections");
	pthread_detach(thread);
}

/* Takes over @fd, to which @missing more will be added. */
void echo_join(int fd, uint32_t size, uint64_t missing)
{
	struct group *g = gathering;

	/* Remains of a client that ended too early. */
	if (g && (g->size != size || g->used + missing + 1 != g->room)) {
		free_group(g);
		g = NULL;
	}
	if (!g)
		g = new_group(size, missing + 1);
	tune(fd);
	g->fd[g->used++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	gathering = missing ? g : NULL;
	send_reply(fd, 0, 0);
	if (!missing)
		start_echo(g);
}

/* Client */

struct client {
	struct pollfd *fd;
	uint32_t *got;		/* bytes of the current echo, per connection */
	char *out;
	char *in;
	uint64_t begun;
	uint64_t done;
};

static void send_next(struct client *c, size_t i)
{
	if (c->begun == cfg.count)
		return;
	if (send_all(c->fd[i].fd, c->out, cfg.size))
		err(1, "message %llu", (unsigned long long)c->begun);
	c->begun++;
}

static void take_back(struct client *c, size_t i)
{
	ssize_t n = recv(c->fd[i].fd, c->in, cfg.size - c->got[i], 0);

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0)
		err(1, "connection %zu, after %llu exchanges", i, (unsigned long long)c->done);
	if (cfg.check && memcmp(c->in, c->out + c->got[i], n))
		errx(1, "a message came back wrong on connection %zu", i);
	c->got[i] += n;
	if (c->got[i] < cfg.size)
		return;
	c->got[i] = 0;
	c->done++;
	send_next(c, i);
}

static void open_all(struct client *c)
{
	uint32_t i;

	c->fd = calloc(cfg.connections, sizeof(*c->fd));
	c->got = calloc(cfg.connections, sizeof(*c->got));
	if (!c->fd || !c->got)
		err(1, "no memory for %u connections", cfg.connections);
	c->out = new_buffer(cfg.size);
	c->in = new_buffer(cfg.size);
	for (i = 0; i < cfg.connections; i++) {
		c->fd[i].fd = open_connection(ECHO_MANY, cfg.connections - i - 1);
		c->fd[i].events = POLLIN;
	}
}

static void close_all(struct client *c)
{
	uint32_t i;

	for (i = 0; i < cfg.connections; i++)
		close(c->fd[i].fd);
	free(c->fd);
	free(c->got);
	free(c->out);
	free(c->in);
}

int run_echo(void)
{
	struct client c = { 0 };
	double us;
	uint32_t i;

	open_all(&c);
	start_clock();
	for (i = 0; i < cfg.connections; i++)
		send_next(&c, i);
	while (c.done < cfg.count) {
		if (poll(c.fd, cfg.connections, -1) < 0 && errno != EINTR)
			err(1, "poll");
		for (i = 0; i < cfg.connections; i++)
			if (c.fd[i].revents)
				take_back(&c, i);
	}
	us = stop_clock();
	close_all(&c);
	print_head();
	printf("connections=%u per_second=%.1f checked=%d\n", cfg.connections,
	       cfg.count * 1e6 / us, cfg.check);
	return 0;
}
