// SPDX-License-Identifier: GPL-2.0
#include "failing_connect.h"

void close_fd(struct state *s)	{ close(s->fd); }

void prepare_fresh(struct state *s)	{ s->fd = fresh(0); }

void setup_listener(struct state *s)	{ s->listening = listener(8, &s->where); }

int run_connect(struct state *s)
{
	return connect(s->fd, &s->where.sa, s->where.len);
}

void after_connect(struct state *s)
{
	int accepted = accept_from(s->listening);

	need_talk(s->fd, accepted);
	close(accepted);
	close(s->fd);
}

void prepare_accept(struct state *s)
{
	s->p.c = fresh(0);
	connect_to(s->p.c, &s->where);
}

int run_accept(struct state *s)
{
	s->fd = accept(s->listening, NULL, NULL);
	return s->fd;
}

void after_accept(struct state *s)
{
	need_talk(s->p.c, s->fd);
	close(s->fd);
	close(s->p.c);
}
