// SPDX-License-Identifier: GPL-2.0
/*
 * Large transfers for which no call waits, for sweeps over their allocations.
 *
 * Without memory the bytes go in messages or are copied, or the call is refused.
 */
#include "large.h"
#include "receive.h"
#include "reports.h"

/* Reports of lent pages so far, and the number of calls that have lent some. */
static struct reports reports;
static long lent;

static unsigned char *window;

/* Goes from a copy in the kernel, and returns what had room. */
int run_send_background(struct state *s)	{ return send_some(s, LARGE, MSG_DONTWAIT); }

void setup_lent(struct state *s)
{
	s->p = pair_make();
	lend(s->p.c);
}

/* Goes from the process's own pages, which it must not change before the report. */
int run_send_lent(struct state *s)
{
	int err = send_some(s, LARGE, MSG_ZEROCOPY | MSG_DONTWAIT);

	if (!err)
		lent++;
	return err;
}

void after_lent(struct state *s)
{
	reports_await(s->p.c, &reports, lent);
	after_large(s);
}

/* There is something to read, and the rest is one RDMA read away. */
void prepare_polled(struct state *s)
{
	prepare_recv_large(s);
	need(poll_for(s->p.s, POLLIN, WAIT_MS), "nothing to read");
}

/* Begins an RDMA read into memory of the kernel, for the next calls. */
int run_recv_polled(struct state *s)
{
	int err = recv_some(s, LARGE, MSG_DONTWAIT);

	return err && errno == EAGAIN ? 0 : err;
}

void setup_mapped(struct state *s)
{
	s->p = pair_make();
	window = receive_window(s->p.s, LARGE);
}

int run_recv_mapped(struct state *s)
{
	struct receive r = { .address = (unsigned long)window, .length = LARGE };
	__u32 i;

	need(poll_for(s->p.s, POLLIN, WAIT_MS), "nothing to read");
	if (receive(s->p.s, &r))
		return -1;
	for (i = 0; i < r.length; i++)
		need(window[i] == byte_at(s->got + i), "byte %zu is wrong", s->got + i);
	s->got += r.length;
	return 0;
}
