// SPDX-License-Identifier: GPL-2.0
#include "failing_call.h"

unsigned char byte_at(size_t at)
{
	return at * 13 + at / 251;
}

void need_talk(int a, int b)
{
	char c = 0;

	need(send(a, "x", 1, 0) == 1 && recv(b, &c, 1, 0) == 1 && c == 'x', "it does not work");
	need(send(b, "y", 1, 0) == 1 && recv(a, &c, 1, 0) == 1 && c == 'y', "nor back");
}

void no_setup(struct state *s)	{ (void)s; }

void prepare_pair(struct state *s)	{ s->p = pair_make(); }

bool is_shortage(int error)
{
	return error == ENOMEM || error == ENOBUFS;
}

/* The first allocation to fail, if every @step'th does: random in the short form, else 1. */
int sweep_from(int step)
{
	unsigned int seed = seed_drawn();

	if (!short_form())
		return 1;
	printf("# each %d'th allocation, SDP_SEED=%u\n", step, seed);
	return 1 + seed % step;
}

int sweep(void *arg)
{
	const struct call *c = arg;
	struct state s = { .data = malloc(LARGE) };
	int n, step = short_form() ? 3 : 1, error, refused = 0;
	bool failed = true;

	if (!can_fail())
		return EXIT_SKIPPED;
	(c->setup ?: prepare_pair)(&s);
	for (n = sweep_from(step); failed; n += step) {
		need(n < MOST, "still an allocation to fail");
		if (c->prepare)
			c->prepare(&s);
		fail_at(n);
		error = c->run(&s) < 0 ? errno : 0;
		failed = has_failed();
		need(!error || failed, "without a failure: %s", errno_text(error));
		need(!error || (c->fails && is_shortage(error)) || (c->inode && error == ENFILE),
		     "allocation %d: %s", n, errno_text(error));
		if (error) {
			refused++;
			if (c->refused)
				c->refused(&s);
			need(c->run(&s) >= 0, "again, after allocation %d: %s", n,
			     errno_text(errno));
		}
		if (c->after)
			c->after(&s);
	}
	printf("# about %d allocations, %d refused calls\n", n - step - 1, refused);
	return EXIT_OK;
}
