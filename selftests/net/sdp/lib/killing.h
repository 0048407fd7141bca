/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of processes that exchange large writes until one is killed.
 *
 * After that, no connection and no pinned page may be left.
 */
#ifndef SDP_TEST_KILLING_H
#define SDP_TEST_KILLING_H

#include "pattern.h"
#include "pinned.h"

#define KILLED_WRITE	(1 << 18)

static inline void endless_writer(void *arg)
{
	const struct pair *p = arg;
	long at;

	close(p->s);
	for (at = 0; send(p->c, pattern(at), KILLED_WRITE, MSG_NOSIGNAL) > 0; at += KILLED_WRITE)
		;
}

static inline void endless_reader(void *arg)
{
	static unsigned char buf[KILLED_WRITE];
	const struct pair *p = arg;

	close(p->c);
	while (recv(p->s, buf, sizeof(buf), 0) > 0)
		;
}

static inline void endless_ping(void *arg)
{
	static unsigned char buf[KILLED_WRITE];
	const struct pair *p = arg;

	close(p->s);
	while (send(p->c, buf, sizeof(buf), MSG_NOSIGNAL) > 0 &&
	       recv(p->c, buf, sizeof(buf), MSG_WAITALL) > 0)
		;
}

static inline void endless_pong(void *arg)
{
	static unsigned char buf[KILLED_WRITE];
	const struct pair *p = arg;

	close(p->c);
	while (recv(p->s, buf, sizeof(buf), MSG_WAITALL) > 0 &&
	       send(p->s, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
}

/**
 * struct talk - what the two processes do
 * @at_c: at the end that connected
 * @at_s: at the accepted end
 */
struct talk {
	void (*at_c)(void *pair);
	void (*at_s)(void *pair);
};

static const struct talk endless_stream = { endless_writer, endless_reader };
static const struct talk endless_dialogue = { endless_ping, endless_pong };

/* Kills one process. The other one sees the connection end, and exits. */
static inline void talk_killed(const struct talk *talk, int after_us, bool kill_c)
{
	struct pair p = pair_make();
	pid_t c = helper_start(talk->at_c, &p), s = helper_start(talk->at_s, &p);
	int status;

	close(p.c);
	close(p.s);
	usleep(after_us);
	kill(kill_c ? c : s, SIGKILL);
	waitpid(kill_c ? c : s, &status, 0);
	helper_end(kill_c ? s : c);
}

static inline void await_established(long long n)
{
	long long end = now_ms() + 2 * WAIT_MS;

	while (counter("CurrEstab") > n) {
		need(now_ms() < end, "%lld connections are left", counter("CurrEstab") - n);
		pause_ms(5);
	}
}

/* Kills @rounds processes, at each end in turn, at random moments of the first @longest_ms. */
static inline void talks_killed(const struct talk *talk, int rounds, int longest_ms,
				unsigned int seed)
{
	long long established = counter("CurrEstab");
	int i;

	for (i = 0; i < rounds; i++)
		talk_killed(talk, 1000 * random_up_to(&seed, longest_ms), i % 2);
	await_unpinned();
	await_established(established);
}

#endif /* SDP_TEST_KILLING_H */
