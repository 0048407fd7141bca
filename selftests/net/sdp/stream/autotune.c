// SPDX-License-Identifier: GPL-2.0
/*
 * Socket buffers grow with use up to the limit, unless the application has set their sizes.
 *
 * A buffer does not grow for a reader that never empties it. After a pause, a connection begins
 * with the first sizes again.
 *
 * On the debug kernel, which is slow, a round can last longer than that pause.
 */
#include "cases.h"

#define ROUNDS		4
#define MOST_ROUNDS	12	/* not every round makes the buffers of a slow writer grow */
#define LIMIT		900000
#define IDLE_SECONDS	10	/* a pause after which the first sizes are back */

static int size_of(int fd, int option)
{
	return get_int(fd, SOL_SOCKET, option);
}

/* The writer fills all buffers, then the reader takes everything. Both run seldom. */
static void in_turn(const struct pair *p, int rounds)
{
	long long end = now_ms() + WAIT_MS;

	while (rounds--) {
		drain(p->s, fill(p->c));
		/* The send buffer can grow only once all of its data has arrived. */
		while (unsent_bytes(p->c) && now_ms() < end)
			pause_ms(1);
	}
}

static int grow(void *arg)
{
	struct pair p = pair_make();
	int snd = size_of(p.c, SO_SNDBUF), rcv = size_of(p.s, SO_RCVBUF), rounds = MOST_ROUNDS;
	long first, last;

	setting_set("rmem_max", LIMIT);
	setting_set("wmem_max", LIMIT);
	first = fill(p.c);
	drain(p.s, first);
	while (rounds-- && (size_of(p.c, SO_SNDBUF) < LIMIT || size_of(p.s, SO_RCVBUF) < LIMIT))
		in_turn(&p, 1);
	need(snd < LIMIT && size_of(p.c, SO_SNDBUF) == LIMIT, "SO_SNDBUF was %d, is %d", snd,
	     size_of(p.c, SO_SNDBUF));
	need(rcv < LIMIT && size_of(p.s, SO_RCVBUF) == LIMIT, "SO_RCVBUF was %d, is %d", rcv,
	     size_of(p.s, SO_RCVBUF));
	need(size_of(p.s, SO_SNDBUF) == snd && size_of(p.c, SO_RCVBUF) == rcv,
	     "the buffers not used are %d and %d", size_of(p.s, SO_SNDBUF),
	     size_of(p.c, SO_RCVBUF));
	last = fill(p.c);
	need(last > 2 * first, "%ld bytes were in between, now %ld", first, last);
	drain(p.s, last);
	return EXIT_OK;
}

static int set_sizes_stay(void *arg)
{
	struct pair p = pair_sized(60000);
	int snd = size_of(p.c, SO_SNDBUF), rcv = size_of(p.s, SO_RCVBUF);

	in_turn(&p, ROUNDS);
	need(size_of(p.c, SO_SNDBUF) == snd && size_of(p.s, SO_RCVBUF) == rcv, "now %d and %d",
	     size_of(p.c, SO_SNDBUF), size_of(p.s, SO_RCVBUF));
	return EXIT_OK;
}

/* A larger buffer does not help a reader that never takes everything, so it gets none. */
static int slow_reader(void *arg)
{
	struct pair p = pair_make();
	int rcv = size_of(p.s, SO_RCVBUF), i;

	for (i = 0; i < ROUNDS; i++) {
		fill(p.c);
		drain(p.s, queued_bytes(p.s) / 2);
	}
	need(size_of(p.s, SO_RCVBUF) == rcv, "SO_RCVBUF was %d, is %d", rcv,
	     size_of(p.s, SO_RCVBUF));
	return EXIT_OK;
}

static int idle_shrinks(void *arg)
{
	struct pair p = pair_make();
	int snd = size_of(p.c, SO_SNDBUF), rcv = size_of(p.s, SO_RCVBUF), rounds = MOST_ROUNDS;

	while (rounds-- && (size_of(p.c, SO_SNDBUF) == snd || size_of(p.s, SO_RCVBUF) == rcv))
		in_turn(&p, 1);
	need(size_of(p.c, SO_SNDBUF) > snd && size_of(p.s, SO_RCVBUF) > rcv, "nothing grows");
	pause_ms((IDLE_SECONDS + 1) * 1000);
	send_all(p.c, "x", 1);
	drain(p.s, 1);
	need(size_of(p.c, SO_SNDBUF) == snd && size_of(p.s, SO_RCVBUF) == rcv, "still %d and %d",
	     size_of(p.c, SO_SNDBUF), size_of(p.s, SO_RCVBUF));
	return EXIT_OK;
}

static const struct test tests[] = {
	{ "grow", grow, 60, V4_SETS, true, NULL },
	{ "set_sizes_stay", set_sizes_stay, 60, V4_SETS, true, NULL },
	{ "slow_reader", slow_reader, 60, V4_SETS, true, NULL },
	{ "idle_shrinks", idle_shrinks, 60, RC | NOT_SHORT, true, NULL },
};

TEST_MAIN(tests)
