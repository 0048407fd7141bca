/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that make sockets and connections, for sweeps over their allocations.
 */
#ifndef SDP_TEST_FAILING_CONNECT_H
#define SDP_TEST_FAILING_CONNECT_H

#include "failing_call.h"

static inline void close_fd(struct state *s)	{ close(s->fd); }
static inline void prepare_fresh(struct state *s)	{ s->fd = fresh(0); }

static inline void setup_listener(struct state *s)	{ s->listening = listener(8, &s->where); }

static inline int run_connect(struct state *s)
{
	return connect(s->fd, &s->where.sa, s->where.len);
}

static inline void after_connect(struct state *s)
{
	int accepted = accept_from(s->listening);

	need_talk(s->fd, accepted);
	close(accepted);
	close(s->fd);
}

static inline void prepare_accept(struct state *s)
{
	s->p.c = fresh(0);
	connect_to(s->p.c, &s->where);
}

static inline int run_accept(struct state *s)
{
	s->fd = accept(s->listening, NULL, NULL);
	return s->fd;
}

static inline void after_accept(struct state *s)
{
	need_talk(s->p.c, s->fd);
	close(s->fd);
	close(s->p.c);
}

#endif /* SDP_TEST_FAILING_CONNECT_H */
