// SPDX-License-Identifier: GPL-2.0
/* Random programs, and variants of those that reached new code. */
#include <string.h>

#include "shared.h"

enum { ONE_PAIR = 40, ONE_FORK = 400 };

/* Relative frequency of a call. */
static unsigned int weight(const struct call *c)
{
	static const struct {
		const char *begin;
		unsigned int weight;
	} often[] = {
		{ "sendto", 4 }, { "recvfrom", 4 }, { "sendmsg$sdp", 3 }, { "recvmsg$sdp", 3 },
		{ "connect", 4 }, { "accept", 4 }, { "bind", 2 }, { "listen", 2 },
		{ "close$sdp", 2 },
		{ "poll", 2 }, { "splice", 2 }, { "write$sdp_policy", 1 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(often) / sizeof(*often); i++)
		if (!strncmp(c->name, often[i].begin, strlen(often[i].begin)))
			return often[i].weight;
	return 1;
}

static unsigned int some_call(struct chance *c)
{
	const struct spec *spec = calls_spec;
	unsigned int i;

	if (chance_one_of(c, ONE_PAIR))
		return STEP_PAIR;
	if (chance_one_of(c, ONE_FORK))
		return STEP_FORK;
	do
		i = chance_below(c, spec->call_count);
	while (chance_below(c, 4) >= weight(&spec->calls[i]));
	return i;
}

static struct step some_step(struct chance *c)
{
	struct step s = { some_call(c), chance_next(c) };

	return s;
}

/* Inserts a step, removes one, or gives one other arguments. */
static void change(struct program *p, struct chance *c)
{
	unsigned int i = p->count ? chance_below(c, p->count) : 0;

	switch (chance_below(c, 4)) {
	case 0:
		if (p->count > 1) {
			memmove(&p->steps[i], &p->steps[i + 1],
				(p->count - i - 1) * sizeof(*p->steps));
			p->count--;
		}
		break;
	case 1:
		if (p->count)
			p->steps[i].seed = chance_next(c);
		break;
	default:
		if (p->count == MAX_STEPS)
			p->count--;
		i = chance_below(c, p->count + 1);
		memmove(&p->steps[i + 1], &p->steps[i], (p->count - i) * sizeof(*p->steps));
		p->steps[i] = some_step(c);
		p->count++;
	}
}

static void append(struct program *p, const struct program *more)
{
	unsigned int i;

	for (i = 0; i < more->count && p->count < MAX_STEPS; i++)
		p->steps[p->count++] = more->steps[i];
}

void program_make(struct program *p, struct chance *c)
{
	unsigned int kept = shared->kept, n;

	p->count = 0;
	if (kept && !chance_one_of(c, 3)) {
		*p = shared->programs[chance_below(c, kept)];
		if (chance_one_of(c, 4))
			append(p, &shared->programs[chance_below(c, kept)]);
		for (n = 1 + chance_below(c, 3); n; n--)
			change(p, c);
		return;
	}
	for (n = 1 + chance_below(c, MAX_STEPS); n; n--)
		p->steps[p->count++] = some_step(c);
}

void program_keep(const struct program *p, unsigned int count)
{
	unsigned int i;

	/*
	 * If a process is killed with the lock held, no more programs are kept; nothing else
	 * stops.
	 */
	if (atomic_exchange(&shared->keeping, 1))
		return;
	i = shared->kept;
	if (i < MAX_KEPT) {
		shared->programs[i] = *p;
		shared->programs[i].count = count;
		shared->kept = i + 1;
	}
	shared->keeping = 0;
}
