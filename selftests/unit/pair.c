// SPDX-License-Identifier: GPL-2.0
/*
 * Random schedules of the pair simulator.
 *
 *	pair [--seed N] [--runs N] [--steps N] [--trace] [--outcome]
 *	     [--rings [--both SCHEME]]
 *
 * Every run has its own seed, which is printed when the run fails: `pair --seed THAT --runs 1`
 * repeats it, and --trace prints its steps. A run draws the sizes of both sides and then the
 * steps. At random times it changes how often each kind of step is drawn. So one side may stop
 * reading for a while, completions may be late, and so on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim.h"

#define LAST_STEPS	40	/* steps that are printed of a failed run */

static struct sim sim, probe;
static u64 rng_state, run_seed;
static struct sim_step last[LAST_STEPS];
static u64 n_last;
static bool trace, rings;
static u8 both = SDP_SCHEMES;	/* the scheme of all runs, or SDP_SCHEMES for any */

static u32 rnd(u32 n)
{
	u64 z = rng_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (u32)(((z ^ z >> 31) >> 32) * n >> 32);
}

static bool chance(u32 percent)
{
	return rnd(100) < percent;
}

static u16 pick(const u16 *list, u32 n)
{
	return list[rnd(n)];
}

#define PICK(...)	pick((const u16[]){ __VA_ARGS__ },			\
			     sizeof((u16[]){ __VA_ARGS__ }) / sizeof(u16))

static void on_fault(const struct sim *s)
{
	u64 from = n_last > LAST_STEPS ? n_last - LAST_STEPS : 0;

	(void)s;
	fprintf(stderr, "# the last steps were:\n");
	for (u64 i = from; i < n_last; i++)
		sim_print_step(&last[i % LAST_STEPS]);
	fprintf(stderr, "# again: --seed %" PRIu64 " --runs 1\n", run_seed);
	printf("not ok 1 - random schedules\n");
	exit(1);
}

static u32 draw_seq(void)
{
	switch (rnd(4)) {
	case 0:		return 0;
	case 1:		return 0x7fffffffU - rnd(64);
	case 2:		return 0xffffffffU - rnd(64);
	default:	return rnd(0xffffffffU);
	}
}

/* The receives of each side may grow by some bytes or up to SIM_BYTES, or have a fixed size. */
static void draw_resize(struct sim_config *c)
{
	if (chance(40))
		return;
	for (u32 i = 0; i < 2; i++) {
		u32 most = max(c->recv_size[0], c->recv_size[1]);

		if (chance(15))
			continue;
		c->recv_size_max[i] = chance(50) ? most + rnd(300) : most + rnd(SIM_BYTES - most);
		c->split_level[i] = (u16)(1 + rnd(chance(70) ? 3 : 40));
	}
}

/* With --rings: any of the nine pairs of schemes, small rings and large ones. */
static void draw_rings(struct sim_config *c)
{
	if (!rings)
		return;
	for (u32 i = 0; i < 2; i++) {
		c->ring_max[i] = SDP_RING_SIZE_MIN << rnd(3);
		c->window[i] = c->ring_max[i] >> (2 + rnd(4));
		c->scheme[i] = (u8)rnd(SDP_SCHEMES);
		if (both < SDP_SCHEMES)
			c->scheme[i] = both;
		c->lazy[i] = chance(20);
		/*
		 * One receive more, for the message that tells what was read to grant (credit.h).
		 */
		c->room[i]++;
		c->split_level[i] = (u16)(1 + rnd(5));
	}
	/* G4: no RDMA mode is used when both sides are BY_NIC. */
	if (c->scheme[0] != SDP_BY_NIC || c->scheme[1] != SDP_BY_NIC)
		return;
	for (u32 i = 0; i < 2; i++) {
		c->adverts[i] = false;
		c->buffers[i] = 0;
		c->pipelined[i] = false;
	}
}

static void draw_config(struct sim_config *c)
{
	memset(c, 0, sizeof(*c));
	c->post_first = chance(50);
	for (u32 i = 0; i < 2; i++) {
		c->target[i] = chance(40) ? PICK(2, 3, 4, 12) : (u16)(3 + rnd(62));
		c->threshold[i] = chance(60) ? 0 : (u16)(1 + rnd(80));
		c->first[i] = (u16)(2 + rnd(c->target[i] - 1U));
		c->room[i] = (u16)(max(c->target[i], 3) + rnd(chance(50) ? 2 : 30));
		c->slots[i] = chance(30) ? PICK(1, 2, 16) : (u16)(1 + rnd(40));
		c->recv_size[i] = chance(30) ? PICK(64, 1536) : 64 + rnd(200);
		c->segments[i] = (u16)(1 + rnd(8));
		c->seq[i] = draw_seq();
	}
	for (u32 i = 0; i < 2; i++)
		c->adverts[i] = chance(50);
	for (u32 i = 0; i < 2; i++) {
		c->buffers[i] = chance(50) ? (u8)(1 + rnd(SDP_SINKAVAILS_MAX)) : 0;
		c->pipelined[!i] = c->buffers[i] && chance(50);
	}
	for (u32 i = 0; i < 2; i++) {
		c->late[i] = chance(30);
		c->mode_after[i] = chance(20) ? 0 : (u16)(1 + rnd(4));
		c->revocable[i] = chance(80);
	}
	draw_resize(c);
	draw_rings(c);
	for (u32 i = 0; i < 2; i++) {
		u32 full = c->recv_size[!i] - SDP_BSDH_LEN;

		c->segment[i] = (u16)(chance(70) ? 0 : 1 + rnd(2 * full));
	}
}

/* How often each kind of step is drawn, per side. */
struct mood {
	u16 weight[2][SIM_KINDS];
	u32 total;
	u32 left;	/* steps until the next mood */
};

static void draw_mood(struct mood *m)
{
	static const u16 usual[SIM_KINDS] = {
		[SIM_WRITE] = 20, [SIM_READ] = 20, [SIM_LAND] = 30, [SIM_RECEIVE] = 30,
		[SIM_COMPLETE] = 15, [SIM_POST] = 20, [SIM_UNHOLD] = 10, [SIM_ESTABLISHED] = 1,
		[SIM_SHRINK] = 3, [SIM_REFUSE] = 1, [SIM_SRCAVAIL] = 8, [SIM_WITHDRAW] = 1,
		[SIM_RDMA] = 8, [SIM_RDMA_MOVE] = 8, [SIM_RDMA_END] = 8, [SIM_DECLINE] = 1,
		[SIM_LATE] = 4, [SIM_LARGE] = 4, [SIM_WANT] = 8, [SIM_BUFFER] = 12,
		[SIM_UNBUFFER] = 1, [SIM_PUT] = 12, [SIM_PUT_MOVE] = 8, [SIM_MISS] = 2,
		[SIM_RING] = 12, [SIM_LEAVE] = 1, [SIM_CALL] = 4,
	};
	bool small, pipe, quiet;

	m->total = 0;
	m->left = 20 + rnd(1000);
	for (u32 side = 0; side < 2; side++) {
		/* The reader uses small buffers in this mood. */
		small = chance(40);
		/* The reader posts its buffers before data comes, or cannot read by RDMA. */
		pipe = sim.cfg.buffers[side] && chance(60);
		/* Few writes leave time for buffers to be used. */
		quiet = sim.cfg.buffers[!side] && chance(50);
		for (u32 k = 0; k < SIM_KINDS; k++) {
			u16 w = usual[k];

			if (small && (k == SIM_RDMA || k == SIM_LARGE))
				w = 0;
			if (small && k == SIM_DECLINE)
				w = 10;
			if (quiet && k == SIM_WRITE)
				w = 1;
			if (k == SIM_WANT)
				w = pipe ? 60 : 0;
			if ((k == SIM_BUFFER || k == SIM_UNBUFFER) && !sim.cfg.buffers[side])
				w = 0;
			if (k >= SIM_PUT && k <= SIM_MISS && !sim.cfg.buffers[!side])
				w = 0;
			if (k >= SIM_RING && !rings)
				w = 0;
			if ((k <= SIM_UNHOLD || k >= SIM_SRCAVAIL) && chance(15))
				w = 0;
			else if (k >= SIM_SRCAVAIL && k < SIM_WANT &&
				 !sim.cfg.adverts[side ^ (k >= SIM_RDMA)])
				w = 0;
			else if (chance(15))
				w *= 4;
			m->weight[side][k] = w;
			m->total += w;
		}
	}
	/* At least one kind of step always has a weight, so that there is something to draw. */
	m->weight[0][SIM_LAND]++;
	m->total++;
}

static void draw_step(const struct mood *m, struct sim_step *step)
{
	u32 x = rnd(m->total), side = 0, k = 0;

	while (x >= m->weight[side][k]) {
		x -= m->weight[side][k];
		if (++k == SIM_KINDS) {
			k = 0;
			side++;
		}
	}
	memset(step, 0, sizeof(*step));
	step->kind = (u8)k;
	step->side = (u8)side;
}

/* A few bytes, many bytes, or more than the present size of one message. */
static u16 draw_write(const struct sim_side *me)
{
	u32 most = sdp_engine_payload_max(&me->e);

	if (!me->established || chance(70))
		return (u16)(1 + rnd(chance(60) ? 20 : 2000));
	return (u16)(most + 1 + rnd(2 * most));
}

/*
 * A large send, or one too small to be worth it. SrcAvail carries all that fits, or a part of it.
 */
static void draw_srcavail(struct sim_step *step)
{
	u32 most = sdp_engine_srcavail_inline_max(&sim.side[step->side].e), len;

	len = 2 + rnd(chance(20) ? 10 : chance(50) ? 2000 : 60000);
	most = min(most, len - 1);
	step->arg = (u16)len;
	step->arg2 = (u16)(chance(50) ? most : 1 + rnd(most));
}

/* Draw the amounts of a step: often all that is possible, often less. */
static void draw_amount(struct sim_step *step)
{
	const struct sim_side *me = &sim.side[step->side];
	u32 most;

	switch (step->kind) {
	case SIM_WRITE:
		step->arg = draw_write(me);
		step->more = chance(20);
		step->urgent = chance(4);
		return;
	case SIM_READ:
		step->arg = chance(50) ? 0xffff : (u16)(1 + rnd(300));
		return;
	case SIM_COMPLETE:
		most = me->landed - me->completed;
		break;
	case SIM_POST:
		most = sim_can_post(&sim, step->side);
		break;
	case SIM_SRCAVAIL:
		if (me->established)
			draw_srcavail(step);
		return;
	case SIM_RDMA:
		most = me->of.len - me->of.got;
		break;
	case SIM_RDMA_MOVE:
		most = me->of.reading - me->of.moved;
		break;
	case SIM_RDMA_END:
		step->arg = chance(2);
		return;
	case SIM_MISS:
		step->arg = chance(30);
		return;
	case SIM_BUFFER:
		step->arg = (u16)(chance(50) ? 0 : rnd(5000));
		return;
	case SIM_RING:
		step->arg = (u16)(chance(70) ? 0 : 1 + rnd(2));
		return;
	case SIM_PUT:
		most = me->pl.n ? me->pl.list[0].len : 0;
		break;
	default:
		return;
	}
	step->arg = (u16)(most && chance(50) ? 1 + rnd(most) : most);
}

static bool do_step(const struct sim_step *step)
{
	if (!sim_may(&sim, step))
		return false;
	last[n_last++ % LAST_STEPS] = *step;
	if (trace)
		sim_print_step(step);
	sim_do(&sim, step);
	return true;
}

/* Change the number of receives, in some runs only. */
static void maybe_something_rare(u32 target_percent)
{
	struct sim_step step = { .kind = SIM_TARGET, .side = (u8)rnd(2) };

	if (!chance(target_percent))
		return;
	step.arg = chance(50) ? PICK(2, 3, 4, 12) : (u16)(3 + rnd(62));
	step.arg2 = chance(70) ? 0 : (u16)(1 + rnd(80));
	/* The owner's memory for receives follows its target. */
	sim.cfg.room[step.side] = max(sim.cfg.room[step.side], max(step.arg, 3) + rings);
	do_step(&step);
}

static void check_settles(void)
{
	u32 readers = 1 + rnd(3);

	sim_copy(&probe, &sim);
	probe.declines = chance(30);
	probe.posts = chance(30);
	sim_settle(&probe, readers);
	if (readers == 3) {
		sim_traffic(&probe);
		sim_learn(&probe);
	}
	sim.steps += probe.steps - sim.steps;
}

/* Shut down in either order, with other steps in between. After that the connection must end. */
static void finish(struct mood *m, bool abortive)
{
	struct sim_step step = { .kind = SIM_SHUTDOWN, .side = (u8)rnd(2) };
	u32 pause = rnd(3) ? rnd(40) : 0;

	do_step(&step);
	while (pause--) {
		struct sim_step other;

		draw_step(m, &other);
		draw_amount(&other);
		do_step(&other);
	}
	if (abortive) {
		step.kind = SIM_ABORT;
		step.side = (u8)rnd(2);
		do_step(&step);
	}
	if (chance(30)) {
		sim_copy(&probe, &sim);
		sim_settle(&probe, 1U << rnd(2));
	}
	step.kind = SIM_ESTABLISHED;
	step.side = 1;
	do_step(&step);
	step.kind = SIM_SHUTDOWN;
	do_step(&step);
	step.side = 0;
	do_step(&step);
	sim_settle(&sim, 3);
	if (!sim_all_over(&sim)) {
		fprintf(stderr, "# the run does not end\n");
		on_fault(&sim);
	}
}

static void run(u32 max_steps)
{
	struct sim_config cfg;
	struct mood mood;
	u32 target_percent, misses = 0;

	/* First of all, so that a run depends on its seed alone. */
	rng_state = run_seed;
	n_last = 0;
	target_percent = chance(30);
	draw_config(&cfg);
	sim_start(&sim, &cfg);
	draw_mood(&mood);
	for (u32 i = rnd(max_steps); i; i--) {
		struct sim_step step;

		if (!--mood.left) {
			draw_mood(&mood);
			check_settles();
		}
		draw_step(&mood, &step);
		draw_amount(&step);
		misses = do_step(&step) ? 0 : misses + 1;
		if (misses > 50) {
			draw_mood(&mood);
			misses = 0;
		}
		maybe_something_rare(target_percent);
	}
	finish(&mood, chance(10));
}

static void explain(void)
{
	fprintf(stderr, "usage: pair [--seed N] [--runs N] [--steps N] [--trace] [--outcome] "
		"[--rings [--both SCHEME]]\n");
	exit(2);
}

static u64 value_of(const char *text, const char *option)
{
	char *end;
	u64 v = text ? strtoull(text, &end, 0) : 0;

	if (!text || *end) {
		fprintf(stderr, "pair: %s wants a number\n", option);
		explain();
	}
	return v;
}

int main(int argc, char **argv)
{
	u64 seed = (u64)time(NULL), runs = ~0ULL, steps = 10000000, done = 0, n;
	u64 sent[SIM_SENT] = { 0 };
	struct timespec t0, t1;
	double seconds;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seed"))
			seed = value_of(argv[++i], "--seed");
		else if (!strcmp(argv[i], "--runs"))
			runs = value_of(argv[++i], "--runs");
		else if (!strcmp(argv[i], "--steps"))
			steps = value_of(argv[++i], "--steps");
		else if (!strcmp(argv[i], "--trace"))
			trace = true;
		else if (!strcmp(argv[i], "--outcome"))
			sim_outcome_only = true;
		else if (!strcmp(argv[i], "--rings"))
			rings = true;
		else if (!strcmp(argv[i], "--both"))
			both = (u8)value_of(argv[++i], "--both");
		else
			explain();
	}
	sim_on_fault = on_fault;
	printf("1..1\n# seed %" PRIu64 "\n", seed);
	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	for (n = 0; n < runs && done < steps; n++) {
		run_seed = seed + n;
		run(20000);
		done += sim.steps;
		for (u32 i = 0; i < SIM_SENT; i++)
			sent[i] += sim.sent[i];
	}
	clock_gettime(CLOCK_MONOTONIC, &t1);
	seconds = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
	printf("# %" PRIu64 " connections, %" PRIu64 " steps, %.1f million a second; %" PRIu64
	       " data, %" PRIu64 " credit updates, %" PRIu64 " DisConns\n",
	       n, done, (double)done / seconds / 1e6, sent[0], sent[1], sent[2]);
	printf("# resize: %" PRIu64 " requests, %" PRIu64 " answers, %" PRIu64 " to flush\n",
	       sent[3], sent[4], sent[5]);
	printf("# advertisements: %" PRIu64 ", reports %" PRIu64 ", declined %" PRIu64
	       ", cancels %" PRIu64 ", credits to answer %" PRIu64 "\n", sent[6], sent[7],
	       sent[8], sent[9], sent[10]);
	printf("# modes: to Pipelined %" PRIu64 ", to Buffered or from Pipelined %" PRIu64
	       ", from Buffered %" PRIu64 "\n", sent[20], sent[11] - sent[20], sent[12]);
	printf("# buffers: %" PRIu64 ", with payload %" PRIu64 ", written %" PRIu64 ", discarded %"
	       PRIu64 ", stale %" PRIu64 ", cancels %" PRIu64 ", answers %" PRIu64 "\n", sent[13],
	       sent[14], sent[15], sent[16], sent[17], sent[18], sent[19]);
	if (rings)
		printf("# rings: messages in them %" PRIu64 ", beyond what was granted %" PRIu64
		       ", asked for %" PRIu64 ", made %" PRIu64 ", refused %" PRIu64
		       ", given back %" PRIu64 ", updates %" PRIu64 "\n", sent[21], sent[22],
		       sent[23], sent[24], sent[25], sent[26], sent[27]);
	printf("ok 1 - random schedules\n");
	return 0;
}
