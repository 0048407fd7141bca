// SPDX-License-Identifier: GPL-2.0
/*
 * Exhaustive search of small pairs: every step from every reachable state is tried.
 *
 *	search [--deep] [--outcome] [--no-rings] [--max-states N] [SCENARIO]
 *
 * Segments of two bytes and few receives keep the number of states small. sim_key() identifies a
 * state without regard to the number of bytes transferred. So a scenario in which the applications
 * never stop writing has an end, and its result holds for streams of any length. The judge checks
 * each step. In addition, each state is settled with a reader at either side and at both: all data
 * for a reader must arrive.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim.h"

#define SEGMENT		2
#define RING_STATES	500000	/* most states of a scenario with rings, which has millions */
#define STACK_MAX	(4ULL << 30)	/* bytes for the frames of the present path */
#define STEPS_MAX	32	/* most steps that can be tried in one state */

/* Flags of a scenario: additional steps and settings. */
#define WITH_MORE	1	/* writes with MSG_MORE */
#define WITH_CLOSE	2	/* shutdown on both sides */
#define WITH_TARGET	4	/* side 1 changes between 3 and 4 receives */
#define WITH_ABORT	8
#define ONE_WAY		16	/* only side 0 writes */
#define WITH_LATE_POST	32	/* receives are posted late and one at a time */
#define WITH_RESIZE	64	/* receives may grow, and large writes ask for that */
#define WITH_SHRINK	128	/* with WITH_RESIZE: small receives again; with rings: give back */
#define WITH_REFUSE	256	/* memory for larger receives, or for a ring, may be refused */
#define WITH_PROMPT	512	/* complete, read and post before any other step */
#define DEEP		1024	/* takes long, only with --deep */
#define WITH_ADVERT	2048	/* side 0 sends SrcAvails instead of writing Data */
#define BOTH_ADVERTISE	4096	/* with WITH_ADVERT: side 1 sends SrcAvails, too */
#define WITH_LATE	8192	/* SendSm also answers cancels that need no answer */
#define WITH_MODES	16384	/* modes change after one transfer, and a reader may be large */
#define WITH_BUFFERS	32768	/* side 1 advertises buffers; side 0 writes into them or sends */
#define WITH_TWO	65536	/* with WITH_BUFFERS: two buffers at once */
#define WITH_UNBUFFER	131072	/* with WITH_BUFFERS: buffers may be cancelled */
#define WITH_WANT	262144	/* with WITH_BUFFERS: start in Combined, learn Pipelined */
#define BOTH_POST	524288	/* with WITH_BUFFERS: both sides advertise buffers */
#define WITH_RDMA	(1 << 20)	/* rings of a few messages, by RDMA */
#define WITH_NIC	(1 << 21)	/* rings by NIC: side 0, and side 1 unless WITH_RDMA */
#define WITH_CREDIT	(1 << 22)	/* with rings: side 1 sends by credit */
#define WITH_UNREAD	(1 << 23)	/* WITH_PROMPT without the reads */
#define WITH_RINGS	(WITH_RDMA | WITH_NIC)

/* A write fills one message of the larger size or two of the smaller one, for few states. */
#define SIZE_SMALL	SDP_RECV_SIZE_MIN
#define WRITE_LARGE	(2 * (SIZE_SMALL - SDP_BSDH_LEN))
#define SIZE_LARGE	(SDP_BSDH_LEN + WRITE_LARGE)

/* Size of a SrcAvail and its inlined bytes. The other two bytes are read at once or one by one. */
#define ADVERT_LEN	3
#define ADVERT_INLINED	1

struct scenario {
	const char *name;
	u16 target[2];
	u16 threshold[2];
	u16 first[2];
	u16 slots[2];
	u16 segments;
	u32 with;
};

static const struct scenario scenarios[] = {
	{ "both ways, 3 and 3 receives",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 2 }, 1, 0 },
	{ "both ways, posted late",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, WITH_LATE_POST },
	{ "one way, 5 receives and T of 4, posted late",
	  { 3, 5 }, { 0, 4 }, { 2, 3 }, { 3, 3 }, 2, ONE_WAY | WITH_LATE_POST },
	{ "small writes and MSG_MORE",
	  { 3, 4 }, { 0, 0 }, { 3, 3 }, { 3, 2 }, 3, ONE_WAY | WITH_MORE },
	{ "more receives midway, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 2, 2 }, 1, ONE_WAY | WITH_TARGET },
	{ "shutdown in any order",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, WITH_CLOSE },
	{ "shutdown, posted late",
	  { 3, 3 }, { 0, 0 }, { 2, 3 }, { 1, 2 }, 1, WITH_CLOSE | WITH_LATE_POST | ONE_WAY },
	{ "abort at any time",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, WITH_CLOSE | WITH_ABORT | ONE_WAY },
	{ "larger receives, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 2, 2 }, 2, ONE_WAY | WITH_RESIZE | WITH_REFUSE },
	{ "larger receives and back, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 2, ONE_WAY | WITH_RESIZE | WITH_SHRINK },
	{ "larger receives and back, posted late, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 2,
	  ONE_WAY | WITH_RESIZE | WITH_SHRINK | WITH_REFUSE | WITH_LATE_POST },
	{ "larger receives, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 2, WITH_RESIZE | WITH_REFUSE | WITH_PROMPT },
	{ "larger receives and back, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 2, WITH_RESIZE | WITH_SHRINK | WITH_PROMPT },
	{ "larger receives, shutdown",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 2, ONE_WAY | WITH_RESIZE | WITH_CLOSE },
	{ "advertisements, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, ONE_WAY | WITH_ADVERT },
	{ "advertisements, late answers to cancels",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, ONE_WAY | WITH_ADVERT | WITH_LATE },
	{ "modes, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, ONE_WAY | WITH_ADVERT | WITH_MODES },
	{ "modes, posted late, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  ONE_WAY | WITH_ADVERT | WITH_MODES | WITH_LATE_POST },
	{ "modes, shutdown",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  ONE_WAY | WITH_ADVERT | WITH_MODES | WITH_CLOSE | WITH_PROMPT },
	{ "advertisements, posted late, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, ONE_WAY | WITH_ADVERT | WITH_LATE_POST },
	{ "advertisements, shutdown",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, ONE_WAY | WITH_ADVERT | WITH_CLOSE },
	{ "advertisements, data the other way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, WITH_ADVERT },
	{ "advertisements, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  WITH_ADVERT | BOTH_ADVERTISE | WITH_PROMPT },
	{ "buffers, data one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, ONE_WAY | WITH_BUFFERS | WITH_TWO },
	{ "buffers, taken back, data one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, ONE_WAY | WITH_BUFFERS | WITH_UNBUFFER },
	{ "buffers, data both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, WITH_BUFFERS | WITH_UNBUFFER | WITH_PROMPT },
	{ "buffers and advertisements, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, ONE_WAY | WITH_BUFFERS | WITH_ADVERT },
	{ "buffers, taken back, and advertisements, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  ONE_WAY | WITH_BUFFERS | WITH_ADVERT | WITH_UNBUFFER | WITH_PROMPT },
	{ "buffers, shutdown",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  ONE_WAY | WITH_BUFFERS | WITH_UNBUFFER | WITH_CLOSE | WITH_PROMPT },
	{ "buffers, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, WITH_BUFFERS | BOTH_POST | WITH_PROMPT },
	{ "buffers, taken back, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  WITH_BUFFERS | BOTH_POST | WITH_UNBUFFER | WITH_PROMPT },
	{ "buffers, taken back, posted late, one way",
	  { 3, 4 }, { 0, 0 }, { 3, 4 }, { 1, 1 }, 1,
	  ONE_WAY | WITH_BUFFERS | WITH_UNBUFFER | WITH_LATE_POST },
	{ "modes with buffers, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  ONE_WAY | WITH_ADVERT | WITH_MODES | WITH_BUFFERS | WITH_WANT | WITH_PROMPT },
	{ "buffers and what asks for them",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  WITH_ADVERT | WITH_MODES | WITH_BUFFERS | WITH_WANT | WITH_PROMPT },
	{ "ring by rdma, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  ONE_WAY | WITH_RDMA | WITH_PROMPT | WITH_UNREAD },
	{ "ring by rdma, given back or refused, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  ONE_WAY | WITH_RDMA | WITH_SHRINK | WITH_REFUSE | WITH_PROMPT },
	{ "ring by rdma, data by credit the other way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, WITH_RDMA | WITH_CREDIT | WITH_PROMPT },
	{ "rings by rdma, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, WITH_RDMA | WITH_PROMPT },
	{ "ring by rdma, advertisements, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  ONE_WAY | WITH_RDMA | WITH_ADVERT | WITH_PROMPT },
	{ "ring by nic, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 2, 1 }, 1,
	  ONE_WAY | WITH_NIC | WITH_PROMPT | WITH_UNREAD },
	{ "ring by nic, posted late, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 2, 1 }, 1, ONE_WAY | WITH_NIC | WITH_LATE_POST },
	{ "ring by nic, given back or refused, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 2, 1 }, 1,
	  ONE_WAY | WITH_NIC | WITH_SHRINK | WITH_REFUSE | WITH_PROMPT },
	{ "ring by nic, shutdown, one way",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 2, 1 }, 1,
	  ONE_WAY | WITH_NIC | WITH_CLOSE | WITH_PROMPT | WITH_UNREAD },
	{ "rings by nic, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, WITH_NIC | WITH_PROMPT },
	{ "rings by nic, given back or refused, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  WITH_NIC | WITH_SHRINK | WITH_REFUSE | WITH_PROMPT },
	/* The scenarios below run only with --deep. */
	{ "both ways, 3 and 4 receives",
	  { 3, 4 }, { 0, 9 }, { 3, 2 }, { 2, 1 }, 1, DEEP },
	{ "both ways, 3 and 3 receives, more slots",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 3, 3 }, 1, DEEP },
	{ "more receives midway, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, DEEP | WITH_TARGET },
	{ "larger receives and back, both ways, no memory",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 2, 2 }, 2,
	  DEEP | WITH_RESIZE | WITH_SHRINK | WITH_REFUSE | WITH_PROMPT },
	{ "advertisements, fewer receives midway",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, DEEP | WITH_ADVERT | WITH_TARGET },
	{ "modes, both ways",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1,
	  DEEP | WITH_ADVERT | BOTH_ADVERTISE | WITH_MODES | WITH_PROMPT },
	{ "both ways, MSG_MORE, shutdown",
	  { 3, 3 }, { 0, 0 }, { 3, 3 }, { 1, 1 }, 1, DEEP | WITH_MORE | WITH_CLOSE },
};

/* A state on the present path, and the steps to try in it. */
struct frame {
	struct sim sim;
	struct sim_step steps[STEPS_MAX];
	u32 n;
	u32 at;
};

static struct frame *stack;
static u32 depth, room;
static u64 *seen;	/* hash table with open addressing; 0 is a free slot */
static u64 seen_n, seen_size;

static void on_fault(const struct sim *s)
{
	(void)s;
	fprintf(stderr, "# the path of %u steps there, its end:\n", depth);
	for (u32 i = depth > 60 ? depth - 60 : 0; i < depth; i++)
		sim_print_step(&stack[i].steps[stack[i].at - 1]);
	printf("not ok 1 - a schedule fails\n");
	exit(1);
}

static void *allocate(void *old, u64 bytes)
{
	void *p = realloc(old, bytes);

	if (!p) {
		fprintf(stderr, "search: out of memory; limit it with --max-states\n");
		exit(2);
	}
	return p;
}

static bool insert(u64 *table, u64 size, u64 key)
{
	u64 i = key & (size - 1);

	while (table[i]) {
		if (table[i] == key)
			return false;
		i = (i + 1) & (size - 1);
	}
	table[i] = key;
	return true;
}

static void forget_all(void)
{
	seen_size = 1 << 16;
	seen_n = 0;
	seen = allocate(seen, seen_size * sizeof(*seen));
	memset(seen, 0, seen_size * sizeof(*seen));
}

static bool is_new(u64 key)
{
	u64 *old = seen;

	key = key ? key : 1;
	if (2 * seen_n > seen_size) {
		seen = calloc(2 * seen_size, sizeof(*seen));
		if (!seen)
			seen = allocate(NULL, 2 * seen_size * sizeof(*seen));
		for (u64 i = 0; i < seen_size; i++)
			if (old[i])
				insert(seen, 2 * seen_size, old[i]);
		seen_size *= 2;
		free(old);
	}
	if (!insert(seen, seen_size, key))
		return false;
	seen_n++;
	return true;
}

static void srcavail(struct frame *f, u8 kind, u8 side, u32 arg, bool more)
{
	struct sim_step step = { .kind = kind, .side = side, .more = more, .arg = (u16)arg };

	if (sim_may(&f->sim, &step) && f->n < STEPS_MAX)
		f->steps[f->n++] = step;
}

/* All of something at once, and one of it. */
static void srcavail_count(struct frame *f, u8 kind, u8 side, u32 all)
{
	srcavail(f, kind, side, 1, false);
	if (all > 1)
		srcavail(f, kind, side, all, false);
}

/* Steps of a side that sends SrcAvails. */
static void srcavail_advert(struct frame *f, u8 side)
{
	struct sim_step step = {
		.kind = SIM_SRCAVAIL, .side = side, .arg = ADVERT_LEN, .arg2 = ADVERT_INLINED,
	};

	if (sim_may(&f->sim, &step))
		f->steps[f->n++] = step;
	srcavail(f, SIM_WITHDRAW, side, 0, false);
}

/* Steps of a side that receives SrcAvails. */
static void srcavail_reads(struct frame *f, u8 side)
{
	struct sim_srcavail_arrived *of = &f->sim.side[side].of;

	srcavail_count(f, SIM_RDMA, side, of->len - of->got);
	srcavail(f, SIM_RDMA_MOVE, side, of->reading - of->moved, false);
	srcavail(f, SIM_RDMA_END, side, 0, false);
	srcavail(f, SIM_RDMA_END, side, 1, false);
	srcavail(f, SIM_DECLINE, side, 0, false);
	srcavail(f, SIM_LATE, side, 0, false);
	if (f->sim.side[side].mo.rx == SDP_MODE_BUFFERED)
		srcavail(f, SIM_LARGE, side, 0, false);
}

/* Steps of a reader that advertises buffers, and of the writer that uses them. */
static void srcavail_buffers(struct frame *f, u8 side, u32 with)
{
	if (side || with & BOTH_POST) {
		srcavail(f, SIM_BUFFER, side, 0, false);
		if (with & WITH_UNBUFFER)
			srcavail(f, SIM_UNBUFFER, side, 0, false);
		if (with & WITH_WANT)
			srcavail(f, SIM_WANT, side, 0, false);
	}
	if (!side || with & BOTH_POST) {
		srcavail(f, SIM_PUT, side, ADVERT_LEN, false);
		srcavail(f, SIM_PUT_MOVE, side, 0, false);
	}
}

static void srcavail_application(struct frame *f, u8 side, u32 with)
{
	struct sim_side *me = &f->sim.side[side];

	if (with & WITH_BUFFERS)
		srcavail_buffers(f, side, with);
	if (with & WITH_ADVERT && (!side || with & BOTH_ADVERTISE)) {
		srcavail_advert(f, side);
	} else if (with & WITH_RESIZE) {
		if (!side || !(with & ONE_WAY))
			srcavail(f, SIM_WRITE, side, WRITE_LARGE, false);
	} else if (!side || !(with & ONE_WAY)) {
		if (!(with & WITH_BUFFERS))
			srcavail(f, SIM_WRITE, side, 1, false);
		srcavail(f, SIM_WRITE, side, SEGMENT, false);
		if (with & WITH_MORE) {
			srcavail(f, SIM_WRITE, side, 1, true);
			srcavail(f, SIM_UNHOLD, side, 0, false);
		}
	}
	if (with & WITH_ADVERT)
		srcavail_reads(f, side);
	if (me->unread_n)
		srcavail(f, SIM_READ, side, me->unread[me->unread_first], false);
	if (with & WITH_CLOSE)
		srcavail(f, SIM_SHUTDOWN, side, 0, false);
	if (with & WITH_TARGET && side == 1)
		srcavail(f, SIM_TARGET, side, me->t.target == 3 ? 4 : 3, false);
	if (with & WITH_RINGS) {
		srcavail(f, SIM_RING, side, 0, false);
		if (with & WITH_SHRINK)
			srcavail(f, SIM_LEAVE, side, 0, false);
		if (with & WITH_REFUSE)
			srcavail(f, SIM_RING, side, 2, false);
	} else if (with & WITH_SHRINK) {
		srcavail(f, SIM_SHRINK, side, 0, false);
	}
	if (with & WITH_REFUSE && !(with & WITH_RINGS) && f->sim.side[!side].z.level == 1)
		srcavail(f, SIM_REFUSE, side, 0, false);
	if (with & WITH_ABORT)
		srcavail(f, SIM_ABORT, side, 0, false);
}

/* Only the steps whose moment does not matter in the scenario, if there are any. */
static bool srcavail_prompt(struct frame *f, u32 with)
{
	for (u8 side = 0; side < 2; side++) {
		struct sim_side *me = &f->sim.side[side];

		if (!(with & WITH_UNREAD))
			srcavail(f, SIM_READ, side, 0xffff, false);
		srcavail(f, SIM_COMPLETE, side, me->landed - me->completed, false);
		srcavail(f, SIM_POST, side, sim_can_post(&f->sim, side), false);
		if (f->n)
			return true;
	}
	return false;
}

static void srcavail_all(struct frame *f, u32 with)
{
	f->n = 0;
	f->at = 0;
	if (with & WITH_PROMPT && srcavail_prompt(f, with))
		return;
	for (u8 side = 0; side < 2; side++) {
		struct sim_side *me = &f->sim.side[side];

		srcavail_application(f, side, with);
		srcavail(f, SIM_LAND, side, 0, false);
		srcavail(f, SIM_RECEIVE, side, 0, false);
		srcavail_count(f, SIM_COMPLETE, side, me->landed - me->completed);
		if (with & WITH_LATE_POST)
			srcavail(f, SIM_POST, side, 1, false);
		else
			srcavail(f, SIM_POST, side, sim_can_post(&f->sim, side), false);
		srcavail(f, SIM_ESTABLISHED, side, 0, false);
		srcavail(f, SIM_LINK_ENDED, side, 0, false);
	}
}

static u64 check_settles(const struct sim *s)
{
	static struct sim probe;
	u64 steps = 0;

	for (u32 i = 0; i < 9; i++) {
		u32 readers = i % 3 + 1;

		sim_copy(&probe, s);
		probe.declines = i / 3 == 1;
		probe.posts = i / 3 == 2;
		if ((probe.declines && !s->cfg.adverts[0]) || (probe.posts && !s->cfg.buffers[1]))
			break;
		sim_settle(&probe, readers);
		if (readers == 3) {
			sim_traffic(&probe);
			sim_learn(&probe);
		}
		steps += probe.steps - s->steps;
	}
	return steps;
}

static struct frame *push(void)
{
	if (depth == room) {
		room = room ? 2 * room : 1024;
		stack = allocate(stack, (u64)room * sizeof(*stack));
	}
	return &stack[depth];
}

static u8 scheme_of(u32 with, u32 side)
{
	if (side && with & WITH_CREDIT)
		return SDP_BY_CREDIT;
	if (with & WITH_NIC && !(side && with & WITH_RDMA))
		return SDP_BY_NIC;
	return SDP_BY_RDMA;
}

static void start(const struct scenario *sc)
{
	struct sim_config cfg = { .post_first = !(sc->with & WITH_LATE_POST) };

	for (u32 i = 0; i < 2; i++) {
		cfg.target[i] = sc->target[i];
		cfg.threshold[i] = sc->threshold[i];
		cfg.first[i] = sc->first[i];
		cfg.room[i] = sc->with & WITH_TARGET && i == 1 ? 4 : sc->target[i];
		/* One receive more, for a cancel to grant (credit.h). */
		cfg.room[i] += !!(sc->with & WITH_UNBUFFER);
		cfg.slots[i] = sc->slots[i];
		cfg.segment[i] = sc->with & WITH_RESIZE ? 0 : SEGMENT;
		cfg.segments[i] = sc->segments;
		cfg.recv_size[i] = SIZE_SMALL;
		cfg.recv_size_max[i] = sc->with & WITH_RESIZE ? SIZE_LARGE : 0;
		cfg.split_level[i] = 1;
		cfg.seq[i] = 0xffffffff;
		cfg.mode_after[i] = sc->with & WITH_MODES ? 1 : 0;
		cfg.late[i] = sc->with & WITH_LATE;
		cfg.revocable[i] = true;
		cfg.adverts[i] = sc->with & (i ? BOTH_ADVERTISE : WITH_ADVERT);
		if (sc->with & WITH_RINGS) {
			cfg.ring_max[i] = SDP_RING_SIZE_MIN;
			cfg.window[i] = SDP_RING_WINDOW_MIN;
			cfg.scheme[i] = scheme_of(sc->with, i);
			cfg.room[i]++;
		}
		if (sc->with & (i ? WITH_BUFFERS : BOTH_POST)) {
			cfg.buffers[i] = sc->with & WITH_TWO ? 2 : 1;
			cfg.pipelined[!i] = !(sc->with & WITH_WANT);
		}
	}
	depth = 0;
	sim_start(&push()->sim, &cfg);
	is_new(sim_key(&stack[0].sim));
	srcavail_all(&stack[0], sc->with);
}

/* Depth first with an explicit stack, because a path can be as long as the number of states. */
static u64 search(const struct scenario *sc, u64 max_states)
{
	u64 steps = 0, next_report = 1000000;
	u32 deepest = 0;

	forget_all();
	start(sc);
	depth = 1;
	while (depth && seen_n < max_states && depth < STACK_MAX / sizeof(*stack)) {
		struct frame *f = &stack[depth - 1], *g;

		if (f->at == f->n) {
			depth--;
			continue;
		}
		g = push();
		f = &stack[depth - 1];
		sim_copy(&g->sim, &f->sim);
		sim_do(&g->sim, &f->steps[f->at++]);
		steps++;
		if (!is_new(sim_key(&g->sim)))
			continue;
		steps += check_settles(&g->sim);
		srcavail_all(g, sc->with);
		if (++depth > deepest)
			deepest = depth;
		if (seen_n == next_report) {
			fprintf(stderr, "# %" PRIu64 " states so far\n", seen_n);
			next_report += 1000000;
		}
	}
	printf("# %s: %" PRIu64 " states%s, %" PRIu64 " steps, depth %u\n", sc->name, seen_n,
	       depth ? " (stopped there)" : ", all", steps, deepest);
	return steps;
}

static bool wanted(const struct scenario *sc, const char *only, bool deep, bool rings)
{
	if (!rings && sc->with & WITH_RINGS)
		return false;
	return (deep || !(sc->with & DEEP)) && (!only || strstr(sc->name, only));
}

int main(int argc, char **argv)
{
	u64 max_states = ~0ULL, steps = 0;
	const char *only = NULL;
	struct timespec t0, t1;
	double seconds;
	bool deep = false, rings = true;
	u32 passed = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--max-states") && i + 1 < argc)
			max_states = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--deep"))
			deep = true;
		else if (!strcmp(argv[i], "--no-rings"))
			rings = false;
		else if (!strcmp(argv[i], "--outcome"))
			sim_outcome_only = true;
		else
			only = argv[i];
	}
	sim_on_fault = on_fault;
	clock_gettime(CLOCK_MONOTONIC, &t0);
	for (u32 i = 0; i < ARRAY_SIZE(scenarios); i++) {
		if (!wanted(&scenarios[i], only, deep, rings))
			continue;
		steps += search(&scenarios[i], scenarios[i].with & WITH_RINGS && !deep ?
				min(max_states, (u64)RING_STATES) : max_states);
		printf("ok %u - %s: %s\n", ++passed,
		       depth ? "the first schedules" : "every schedule", scenarios[i].name);
		fflush(stdout);
	}
	clock_gettime(CLOCK_MONOTONIC, &t1);
	seconds = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
	printf("# %" PRIu64 " steps, %.1f million a second\n1..%u\n", steps,
	       (double)steps / seconds / 1e6, passed);
	return passed ? 0 : 2;
}
