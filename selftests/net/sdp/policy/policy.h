/* SPDX-License-Identifier: GPL-2.0 */
/* The cases of the program policy, by file, and what several files need. */
#ifndef SDP_TEST_POLICY_H
#define SDP_TEST_POLICY_H

#include "policy_share.h"

extern const struct test_list rules_tests, text_tests, switch_tests, connect_tests, pair_tests;
extern const struct test_list port_tests, options_tests, multipath_tests, race_tests, early_tests;

/* connect.c: watching a socket by each kind of poll, and what else several files need */
enum waiting { LEVEL, EDGE, ONESHOT, POLL, SELECT, WAYS };

extern const char *const way_names[WAYS];

struct watch {
	enum waiting way;
	int fd, ep, last;
	char log[1000];
};

void watch_begin(struct watch *w, enum waiting way, int fd);
int watch_for(struct watch *w, int ms);
int connect_named(int fd, const char *name, int listening, const struct addr *where, int protocol);
void interrupt_in(int ms, int flags);

#endif /* SDP_TEST_POLICY_H */
