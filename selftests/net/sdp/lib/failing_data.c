// SPDX-License-Identifier: GPL-2.0
#include "failing_data.h"

void fill_data(struct state *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		s->data[i] = byte_at(s->sent + i);
}

/* Reads @left bytes, and checks them. */
static void take(struct state *s, size_t left)
{
	unsigned char *data = malloc(LARGE);
	ssize_t n;
	size_t i;

	while (left) {
		n = recv(s->p.s, data, left, 0);
		need(n > 0, "recv: %s", n ? errno_text(errno) : "the end");
		for (i = 0; i < (size_t)n; i++)
			need(data[i] == byte_at(s->got + i), "byte %zu is wrong", s->got + i);
		s->got += n;
		left -= n;
	}
	free(data);
}

/* Everything that was sent arrives, and no more. */
void after_send(struct state *s)
{
	take(s, s->sent - s->got);
	need(recv(s->p.s, s->data, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "more has come");
}

int send_some(struct state *s, size_t n, int flags)
{
	ssize_t done;

	fill_data(s, n);
	done = send(s->p.c, s->data, n, flags);
	if (done > 0)
		s->sent += done;
	return done < 0 ? -1 : 0;
}

int run_send(struct state *s)		{ return send_some(s, 100, 0); }

int run_send_pages(struct state *s)	{ return send_some(s, 20000, 0); }

int run_send_more(struct state *s)	{ return send_some(s, 1200, MSG_MORE); }

static void *take_large(void *arg)
{
	/* However much the call moves: after_large() sends the rest. */
	take(arg, LARGE);
	return NULL;
}

/*
 * A thread that reads (or, for recv, writes) at the other end during the call. The bytes that a
 * failed send leaves out are sent once there is memory again.
 */
static pthread_t large_reader;

void prepare_large(struct state *s)
{
	need(!pthread_create(&large_reader, NULL, take_large, s), "pthread_create");
}

int run_send_large(struct state *s)	{ return send_some(s, LARGE, 0); }

void after_large(struct state *s)
{
	size_t rest = LARGE - s->sent % LARGE;

	if (rest != LARGE) {
		fill_data(s, rest);
		send_all(s->p.c, s->data, rest);
		s->sent += rest;
	}
	pthread_join(large_reader, NULL);
	need(s->got == s->sent, "%zu bytes of %zu have come", s->got, s->sent);
}

static void *give_large(void *arg)
{
	struct state *s = arg;
	unsigned char *data = malloc(LARGE);
	size_t i;

	for (i = 0; i < LARGE; i++)
		data[i] = byte_at(s->sent + i);
	send_all(s->p.c, data, LARGE);
	free(data);
	return NULL;
}

void prepare_recv_large(struct state *s)
{
	need(!pthread_create(&large_reader, NULL, give_large, s), "pthread_create");
}

int recv_some(struct state *s, size_t n, int flags)
{
	ssize_t done = recv(s->p.s, s->data, n, flags), i;

	for (i = 0; i < done; i++)
		need(s->data[i] == byte_at(s->got + i), "byte %zu is wrong", s->got + i);
	if (done > 0)
		s->got += done;
	return done < 0 ? -1 : 0;
}

int run_recv_large(struct state *s)	{ return recv_some(s, LARGE, MSG_WAITALL); }

void after_recv_large(struct state *s)
{
	const size_t end = s->sent + LARGE;

	while (s->got < end)
		need_errno(!recv_some(s, end - s->got, MSG_WAITALL), "recv");
	pthread_join(large_reader, NULL);
	s->sent = end;
	need(s->got == s->sent, "%zu of %zu", s->got, s->sent);
}

void prepare_recv(struct state *s)
{
	fill_data(s, 5000);
	send_all(s->p.c, s->data, 5000);
	s->sent += 5000;
}

int run_recv(struct state *s)
{
	return recv_some(s, s->sent - s->got, MSG_WAITALL);
}
