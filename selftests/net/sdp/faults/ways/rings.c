// SPDX-License-Identifier: GPL-2.0
/*
 * Rings, for sweeps over their allocations.
 *
 * These are calls that write and read through a ring, the first write, after which the peer makes
 * a ring, and the making of the ring itself.
 */
#include "rings.h"

static struct pair pair_with_rings(int flow)
{
	/* No SrcAvail: all data is written into the ring, however large. */
	setting_set("rdma_threshold", 0);
	return pair_by(flow, flow);
}

/* Writes, each read before the next one, until there is a ring. */
static void await_ring(struct state *s)
{
	long long end = now_ms() + WAIT_MS;

	while (!info_of(s->p.c).ring_writes) {
		need(now_ms() < end, "no ring: %lld made, %lld refused", counter("RingsMade"),
		     counter("RingsRefused"));
		need_errno(!send_some(s, 100, 0), "send");
		after_send(s);
	}
}

/* Counts bytes only from the first one after await_ring(). */
static void setup_ring(struct state *s, int flow)
{
	s->p = pair_with_rings(flow);
	await_ring(s);
	s->sent = 0;
	s->got = 0;
}

void setup_ring_rdma(struct state *s)	{ setup_ring(s, SDP_FLOW_RDMA); }

void setup_ring_nic(struct state *s)	{ setup_ring(s, SDP_FLOW_NIC); }

/* Everything has arrived, through the ring. */
void after_ring_send(struct state *s)
{
	static unsigned long long before;
	unsigned long long now;

	after_send(s);
	now = info_of(s->p.c).ring_sent;
	need(now > before, "nothing has gone by the ring");
	before = now;
}

void prepare_ring_fresh(struct state *s)
{
	s->p = pair_with_rings(SDP_FLOW_RDMA);
	s->sent = 0;
	s->got = 0;
}

void after_ring_fresh(struct state *s)
{
	after_send(s);
	await_ring(s);
	close(s->p.c);
	close(s->p.s);
}

/* Without memory for the ring, data goes in messages. Later it goes through a ring. */
int ring_refused(void *arg)
{
	struct state s = { .data = malloc(LARGE) };
	long long before = counter("RingsRefused");
	struct text making;
	int i;

	if (!can_fail())
		return EXIT_SKIPPED;
	s.p = pair_with_rings(SDP_FLOW_RDMA);
	need(module_function_text("sdp_ring_work", &making), "symbols are not shown");
	only_in(&making);
	fail_often(100);
	for (i = 0; i < 200; i++) {
		need_errno(!send_some(&s, 100, 0), "send");
		after_send(&s);
	}
	fail_often(0);
	only_the_module(false);
	printf("# %lld rings refused\n", counter("RingsRefused") - before);
	need(counter("RingsRefused") > before, "no ring was refused");
	need(!info_of(s.p.c).ring_writes, "there is a ring");
	await_ring(&s);
	return EXIT_OK;
}

int at_random_rings(void *arg)
{
	long long made = counter("RingsMade");
	int status;

	setting_set("rdma_threshold", 0);
	need(setting_write("flow_control", "rdma"), "flow_control");
	status = at_random(arg);
	need(status != EXIT_OK || counter("RingsMade") > made, "no ring was made");
	return status;
}
