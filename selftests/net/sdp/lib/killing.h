/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of processes that exchange large writes until one is killed.
 *
 * After that, no connection and no pinned page may be left.
 */
#ifndef SDP_TEST_KILLING_H
#define SDP_TEST_KILLING_H

#include "machine.h"
#include "pattern.h"
#include "pinned.h"

/**
 * struct talk - what the two processes do
 * @at_c: at the end that connected
 * @at_s: at the accepted end
 */
struct talk {
	void (*at_c)(void *pair);
	void (*at_s)(void *pair);
};

extern const struct talk endless_stream;
extern const struct talk endless_dialogue;
extern const struct talk endless_nowait;
extern const struct talk endless_lent;
extern const struct talk endless_file;

void talk_killed(const struct talk *talk, int after_us, bool kill_c);
void talks_killed(const struct talk *talk, int rounds, int longest_ms, unsigned int seed);

#endif /* SDP_TEST_KILLING_H */
