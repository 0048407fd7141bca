// SPDX-License-Identifier: GPL-2.0
/*
 * Simulator of a connection over several rails that reorder, stall, die and come back (D6, H1).
 *
 *	rails [--schedules N] [--seed S]
 *	rails --all [N]
 *
 * Two sides send each other messages with data, and whatever grants credit. They begin with one
 * rail; others join. Each rail keeps its messages in order and delivers only into a receive that
 * is posted. What happens next is drawn at random. A rail may die with all that is on it, and each
 * side learns of it at another time; a side may also give up a rail that still delivers. Each
 * message has to be passed on once, in order and as its credit allows, and acknowledged; and as
 * long as that is not so, something must be able to happen. With --all every schedule of the first
 * N small connections is tried.
 */
#include <stdio.h>
#include <stdlib.h>

#include "credit.h"
#include "rails.h"

#ifndef RAILS		/* --all: fewer, in smaller tables */
#define RAILS		4
#define ON_WIRE		256
#define KEPT		SDP_ORDER_WINDOW_MAX
#endif
#define TARGET		6
#define SLOTS		4
/* Receives of a rail for acknowledgments of the rails themselves, which have no credit. */
#define SPARE		2
/* MID of such an acknowledgment. */
#define RAIL_ACK	1

/* One direction of a rail, and what its sender knows to have arrived. */
struct wire {
	struct sdp_bsdh list[ON_WIRE];
	u32 first, last, completed, posted;
	bool broken;		/* what it has will not arrive */
	bool acks;		/* an acknowledgment is on its way */
};

struct side {
	struct sdp_credit credit;
	struct sdp_rails rails;
	struct wire out[RAILS];
	/* What the engine has sent, by MSeq, and what has arrived ahead. */
	struct sdp_bsdh sent[KEPT], held[KEPT];
	/* By MSeq, too: the message is in a receive of the peer; we have been told so. */
	bool delivered[KEPT], told[KEPT];
	u32 first;		/* MSeq of the first message of the connection */
	u32 next;		/* the next one to be posted */
	u32 acked;		/* newest acknowledgment before there were rails */
	u32 data, passed_on;	/* messages with data, and how many there will be */
	u32 messages;
	u32 done;		/* what the engine knows to have arrived */
	bool joined, begun;
};

static struct {
	struct side sides[2];
	u32 deaths;
} world;
#define sides	world.sides
#define deaths	world.deaths
static u64 state, schedule;
static u32 window, now;
/* Everything happens in turn, not by chance. */
static bool all;
static unsigned long steps, sent_again, joins;

static u32 draw(u32 n)
{
	if (all)
		return 0;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

#define NEED(condition)								\
	do {									\
		if (!(condition)) {						\
			printf("not ok 1 - schedule %llu, line %d: %s\n",	\
			       (unsigned long long)schedule, __LINE__, #condition); \
			exit(1);						\
		}								\
	} while (0)

static bool dead_at(int side, int rail)
{
	if (!sides[side].joined)
		return rail;
	return sides[side].rails.rail[rail].state == SDP_RAIL_DEAD;
}

/* Each rail has as many receives as the peer may have messages for it. */
static void post(int side)
{
	struct side *s = &sides[side];
	int i;

	sdp_credit_posted(&s->credit, sdp_credit_wanted(&s->credit));
	for (i = 0; i < RAILS; i++) {
		u32 *posted = &sides[!side].out[i].posted;

		*posted = max(*posted, (u32)s->credit.posted + SPARE);
	}
}

static void start(const u32 base[2], const u32 messages[2])
{
	u32 i, k;

	for (i = 0; i < 2; i++) {
		struct side *s = &sides[i];

		sdp_credit_init(&s->credit, TARGET, 0);
		s->credit.tx_seq = base[i];
		s->credit.tx_acked = base[i];
		s->credit.rx_seq = base[!i];
		post(i);
		s->credit.theirs = s->credit.posted;
		s->credit.rx_limit = base[!i] + s->credit.posted;
		s->credit.tx_limit = base[i] + TARGET;
		s->messages = messages[i];
		s->first = base[i] + 1;
		s->next = s->first;
		s->acked = base[i];
		s->done = base[i];
		for (k = 1; k < RAILS; k++)
			s->out[k].broken = true;
	}
}

static void start_at_random(void)
{
	u32 base[2], messages[2];

	memset(&world, 0, sizeof(world));
	/* Sometimes so many that the tables of sdp_rails are used again. */
	messages[0] = draw(1000) ? 1 + draw(12) : 600;
	messages[1] = draw(4) ? messages[0] : draw(12);
	window = 2 + draw(9);
	base[0] = draw(4) ? draw(100) : 0U - draw(40);
	base[1] = draw(4) ? draw(100) : 0x80000000U - draw(40);
	start(base, messages);
	deaths = draw(messages[0] > 12 ? 60 : 5);
}

/* The engine sends a message if it may. */
static bool engine_sends(struct side *s)
{
	struct sdp_bsdh h = { .len = 0 };

	if (s->begun && s->credit.tx_seq + 1 - s->rails.order.tx_acked >= KEPT)
		return false;
	if (sdp_credit_update_due(&s->credit))
		h.len = 0;
	else if (s->data < s->messages && sdp_credit_may_send_data(&s->credit))
		h.len = ++s->data;
	else
		return false;
	sdp_credit_sent(&s->credit, &h);
	s->delivered[h.mseq % KEPT] = false;
	s->told[h.mseq % KEPT] = false;
	s->sent[h.mseq % KEPT] = h;
	return true;
}

static void put(struct side *s, u32 rail, const struct sdp_bsdh *h)
{
	struct wire *w = &s->out[rail];

	NEED(w->last - w->completed < (s->begun ? SLOTS + 1 : ON_WIRE));
	w->list[w->last++ % ON_WIRE] = *h;
}

/* Posts the next message, if any may be posted. */
static bool pump(struct side *s)
{
	bool fresh = s->next != s->credit.tx_seq + 1;
	struct sdp_rails_post p;

	if (!s->joined) {
		if (!fresh)
			return false;
		put(s, 0, &s->sent[s->next++ % KEPT]);
		return true;
	}
	if (!s->begun || !sdp_rails_next(&s->rails, fresh, 100, &p))
		return false;
	if (p.seq == s->next)
		s->next++;
	else
		sent_again++;
	NEED(s->sent[p.seq % KEPT].mseq == p.seq);
	put(s, p.rail, &s->sent[p.seq % KEPT]);
	sdp_rails_posted(&s->rails, &p, 100, now);
	sdp_rails_told(&s->rails, s->sent[p.seq % KEPT].mseq_ack);
	return true;
}

/* All that went by the first rail alone has arrived: begin to use the others. */
static bool begin(struct side *s)
{
	if (!s->joined || s->begun || s->out[0].completed != s->out[0].last)
		return false;
	s->begun = true;
	sdp_rails_begin(&s->rails, s->next - 1, s->acked);
	return true;
}

/* An acknowledgment by itself. @idle: time has passed. */
static bool send_ack(struct side *s, bool idle)
{
	struct sdp_bsdh h = { .mid = RAIL_ACK, .mseq_ack = s->rails.order.rx_seq };
	int i;

	if (!s->joined || !sdp_rails_ack_due(&s->rails, idle))
		return false;
	for (i = 0; i < RAILS; i++) {
		if (dead_at(s - sides, i) || s->out[i].acks)
			continue;
		s->out[i].acks = true;
		put(s, i, &h);
		sdp_rails_told(&s->rails, h.mseq_ack);
		return true;
	}
	return false;
}

static void acknowledge(struct side *s, u32 ack)
{
	if (s->begun)
		NEED(sdp_rails_acked(&s->rails, ack) == SDP_VALID);
	else if (sdp_seq_after(ack, s->acked))
		s->acked = ack;
}

static void pass_on(int side, const struct sdp_bsdh *h)
{
	struct side *s = &sides[side];

	NEED(sdp_credit_received(&s->credit, h) == SDP_VALID);
	if (h->len)
		NEED(h->len == ++s->passed_on);
}

static void arrive(int side, int rail, const struct sdp_bsdh *h)
{
	struct side *s = &sides[side];
	u32 *posted = &sides[!side].out[rail].posted;

	--*posted;
	acknowledge(s, h->mseq_ack);
	if (h->mid == RAIL_ACK) {
		++*posted;
		return;
	}
	if (!s->joined) {
		pass_on(side, h);
		return;
	}
	switch (sdp_order_arrived(&s->rails.order, h->mseq)) {
	case SDP_ARRIVAL_NEXT:
		pass_on(side, h);
		while (sdp_order_drain(&s->rails.order))
			pass_on(side, &s->held[s->rails.order.rx_seq % KEPT]);
		break;
	case SDP_ARRIVAL_AHEAD:
		s->held[h->mseq % KEPT] = *h;
		NEED(s->rails.order.held < window);
		break;
	case SDP_ARRIVAL_AGAIN:
		++*posted;
		break;
	default:
		NEED(!"beyond the window");
	}
}

/* The application reads: the engine posts receives again. */
static bool reads(int side)
{
	if (!sdp_credit_wanted(&sides[side].credit))
		return false;
	post(side);
	return true;
}

/* Delivers the oldest message of a rail, if its receiver still takes it. */
static bool deliver(int from, int rail)
{
	struct wire *w = &sides[from].out[rail];
	const struct sdp_bsdh *h;

	if (w->first == w->last || w->broken || dead_at(!from, rail))
		return false;
	/* Only what goes again can come when no receive is posted. */
	NEED(w->posted || sent_again);
	if (!w->posted)
		return false;
	h = &w->list[w->first++ % ON_WIRE];
	if (h->mid != RAIL_ACK && h->mseq == sides[from].sent[h->mseq % KEPT].mseq)
		sides[from].delivered[h->mseq % KEPT] = true;
	arrive(!from, rail, h);
	return true;
}

static bool complete(int side, int rail)
{
	struct side *s = &sides[side];
	struct wire *w = &s->out[rail];
	const struct sdp_bsdh *h = &w->list[w->completed % ON_WIRE];

	if (w->completed == w->first || dead_at(side, rail))
		return false;
	w->completed++;
	now += draw(500);
	if (h->mid == RAIL_ACK)
		w->acks = false;
	else if (s->begun && h->mseq == s->sent[h->mseq % KEPT].mseq)
		s->told[h->mseq % KEPT] = true;
	if (h->mid != RAIL_ACK && s->begun)
		sdp_rails_completed(&s->rails, rail, h->mseq, 100, now - draw(1000), now);
	return true;
}

/* A side learns, or believes, that a rail is dead. */
static bool bury(int side, int rail)
{
	struct side *s = &sides[side];

	if (dead_at(side, rail) || !s->joined)
		return false;
	sdp_rails_dead(&s->rails, rail);
	return true;
}

/* A rail dies, or one side gives it up. Before the others are used, the first one may not. */
static bool strike(int rail, int side, bool broken)
{
	if (!deaths || dead_at(0, rail) || dead_at(1, rail) ||
	    (!rail && (!sides[0].begun || !sides[1].begun || sides[0].rails.unkept ||
		       sides[1].rails.unkept)))
		return false;
	deaths--;
	if (broken) {
		sides[0].out[rail].broken = true;
		sides[1].out[rail].broken = true;
	}
	return bury(side, rail);
}

static void join_at(int side, int rail)
{
	struct side *s = &sides[side];

	if (!s->joined) {
		sdp_rails_start(&s->rails, s->credit.rx_seq, window);
		s->joined = true;
		sdp_rails_join(&s->rails, 0, SLOTS);
		s->rails.rail[0].speed = 1 + draw(1000);
	}
	memset(&s->out[rail], 0, sizeof(s->out[rail]));
	sdp_rails_join(&s->rails, rail, SLOTS);
	s->rails.rail[rail].speed = 1 + draw(1000);
}

static bool join(int rail)
{
	if (!dead_at(0, rail) || !dead_at(1, rail))
		return false;
	joins++;
	join_at(0, rail);
	join_at(1, rail);
	post(0);
	post(1);
	return true;
}

/* The other side learns of a dead rail; or, when both know, the rail joins again. */
static bool spread(int rail)
{
	if (dead_at(0, rail) && dead_at(1, rail))
		return !draw(3) && join(rail);
	if (!dead_at(0, rail) && !dead_at(1, rail))
		return false;
	return bury(dead_at(0, rail), rail);
}

static bool side_over(const struct side *s)
{
	u32 last = s->credit.tx_seq;

	return s->passed_on == sides[s == sides].messages && s->next == last + 1 &&
	       (s->begun ? s->rails.order.tx_acked == last && s->rails.done == last &&
			   !s->rails.unkept :
			   !s->joined);
}

static bool over(void)
{
	return side_over(&sides[0]) && side_over(&sides[1]);
}

static bool step(u32 kind)
{
	int side = draw(2), rail = draw(RAILS);
	struct side *s = &sides[side];

	switch (kind) {
	case 0: return engine_sends(s);
	case 1: case 2: return pump(s);
	case 3: case 4: return deliver(side, rail);
	case 5: case 6: return complete(side, rail);
	case 7: return reads(side);
	case 8: return begin(s) || send_ack(s, false);
	case 9: return !draw(4) && spread(rail);
	default: return !draw(20) && strike(rail, draw(2), draw(2));
	}
}

/* Everything that can happen without a new failure, first of all what takes no time. */
static bool anything(void)
{
	int i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < RAILS; k++)
			if (deliver(i, k) || complete(i, k))
				return true;
	for (i = 0; i < 2; i++)
		if (reads(i) || engine_sends(&sides[i]) || pump(&sides[i]) || begin(&sides[i]))
			return true;
	for (i = 0; i < 2; i++)
		if (send_ack(&sides[i], true))
			return true;
	for (k = 0; k < RAILS; k++)
		if (spread(k) || spread(k) || spread(k) || spread(k))
			return true;
	return false;
}

/* What the engine is told to have arrived has arrived, and is all of which that is known. */
static void check(struct side *s)
{
	if (!s->begun)
		return;
	while (s->done != s->rails.done)
		NEED(s->delivered[++s->done % KEPT]);
	NEED(s->done == s->credit.tx_seq || !s->told[(s->done + 1) % KEPT]);
	NEED(!sdp_seq_after(s->rails.order.tx_acked, s->rails.done));
	NEED(!sdp_seq_after(s->rails.done, s->rails.order.tx_seq));
}

static void run(void)
{
	u32 n, idle = 0;

	start_at_random();
	for (n = 0; !over(); n++) {
		NEED(n < 1000000);
		if (step(draw(11)))
			idle = 0;
		else if (++idle > 60)
			NEED(anything() || idle < 200);
		check(&sides[0]);
		check(&sides[1]);
	}
	steps += n;
	NEED(!sides[0].rails.order.held && !sides[1].rails.order.held);
	NEED(!sides[0].rails.again && !sides[1].rails.again);
}

/* One of the things that can happen, by its number. */
#define PER_RAIL	6
#define PER_SIDE	(6 + RAILS * PER_RAIL)
static bool happens(int n)
{
	int side = n / PER_SIDE, rail = (n % PER_SIDE - 6) / PER_RAIL;
	struct side *s = &sides[side];

	switch (n % PER_SIDE) {
	case 0: return engine_sends(s);
	case 1: return pump(s);
	case 2: return reads(side);
	case 3: return begin(s);
	case 4: return send_ack(s, false);
	case 5: return send_ack(s, true);
	}
	switch ((n % PER_SIDE - 6) % PER_RAIL) {
	case 0: return deliver(side, rail);
	case 1: return complete(side, rail);
	case 2: return strike(rail, side, true);
	case 3: return strike(rail, side, false);
	case 4: return !side && join(rail);
	default: return dead_at(!side, rail) && bury(side, rail);
	}
}

/* States that have been seen, by a hash; 0 is no hash. */
static u64 *seen;
static u64 n_seen, seen_size;

/* What has no meaning any more shall not make two states differ. */
static void forget_wire(struct wire *w, bool dead)
{
	u32 i;

	for (i = 0; i < ON_WIRE; i++) {
		u32 ahead = (i - w->completed % ON_WIRE) % ON_WIRE;

		if (dead || ahead >= w->last - w->completed)
			memset(&w->list[i], 0, sizeof(w->list[i]));
	}
	if (dead || w->completed == w->last) {
		w->first = 0;
		w->last = 0;
		w->completed = 0;
	}
}

static void forget(struct side *s)
{
	u32 i, seq;

	for (i = 0; i < RAILS; i++) {
		s->rails.rail[i].moved = 0;
		s->rails.rail[i].srtt = 0;
		forget_wire(&s->out[i], dead_at(0, i) && dead_at(1, i));
	}
	for (i = 0; i < KEPT; i++) {
		seq = s->sent[i].mseq;
		if (!s->begun || sdp_seq_after(seq, s->rails.order.tx_acked))
			continue;
		memset(&s->sent[i], 0, sizeof(s->sent[i]));
		s->delivered[i] = false;
		s->told[i] = false;
	}
	for (i = 0; i < KEPT; i++) {
		if (!sdp_seq_after(s->held[i].mseq, s->rails.order.rx_seq))
			memset(&s->held[i], 0, sizeof(s->held[i]));
	}
}

static u64 hash_world(void)
{
	const u64 *p = (const u64 *)&world;
	u64 h = 0x9e3779b97f4a7c15ULL;
	size_t i;

	for (i = 0; i < sizeof(world) / 8; i++) {
		h = (h ^ p[i]) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	return h | 1;
}

static bool is_new(void)
{
	u64 h = hash_world(), i = h % seen_size;

	while (seen[i] && seen[i] != h)
		i = (i + 1) % seen_size;
	if (seen[i])
		return false;
	seen[i] = h;
	NEED(++n_seen < seen_size / 4 * 3);
	return true;
}

/* All states that follow. Those in which nothing can happen are the end of the connection. */
static void search(void)
{
	typeof(world) *before = malloc(sizeof(world));
	bool any = false;
	int n;

	*before = world;
	for (n = 0; n < 2 * PER_SIDE; n++) {
		if (happens(n)) {
			any = true;
			check(&sides[0]);
			check(&sides[1]);
			forget(&sides[0]);
			forget(&sides[1]);
			if (is_new())
				search();
		}
		world = *before;
	}
	free(before);
	NEED(any || over());
}

static void search_all(u32 n)
{
	static const struct {
		u32 messages[2], window, strikes;
	} small[] = {
		{ { 1, 1 }, 2, 0 }, { { 3, 0 }, 2, 0 }, { { 2, 0 }, 2, 1 }, { { 1, 1 }, 2, 1 },
	};
	static const u32 base[2] = { 0xfffffff0U, 0x7fffffffU };
	u32 i;

	all = true;
	seen_size = 1ULL << 26;
	for (i = 0; i < n && i < sizeof(small) / sizeof(small[0]); i++) {
		memset(&world, 0, sizeof(world));
		seen = calloc(seen_size, sizeof(*seen));
		n_seen = 0;
		window = small[i].window;
		start(base, small[i].messages);
		deaths = small[i].strikes;
		search();
		printf("# %llu states\n", (unsigned long long)n_seen);
		printf("ok %u - every schedule of %u and %u messages with %u deaths\n", i + 1,
		       small[i].messages[0], small[i].messages[1], small[i].strikes);
		free(seen);
	}
}

int main(int argc, char **argv)
{
	u64 schedules = 100000, seed = 1;
	int i;

	if (argc > 1 && !strcmp(argv[1], "--all")) {
		search_all(argc > 2 ? strtoul(argv[2], NULL, 0) : ~0U);
		return 0;
	}
	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--schedules"))
			schedules = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
	}
	for (schedule = seed; schedule < seed + schedules; schedule++) {
		state = schedule * 0x9e3779b97f4a7c15ULL + 1;
		draw(2);
		run();
	}
	printf("# %llu schedules from %llu on, %lu steps, %lu joins, %lu messages sent again\n",
	       (unsigned long long)schedules, (unsigned long long)seed, steps, joins, sent_again);
	printf("ok 1 - each message once and in order, none stuck\n");
	return 0;
}
