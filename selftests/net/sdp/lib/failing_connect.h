/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that make sockets and connections, for sweeps over their allocations.
 */
#ifndef SDP_TEST_FAILING_CONNECT_H
#define SDP_TEST_FAILING_CONNECT_H

#include "failing_call.h"

void close_fd(struct state *s);
void prepare_fresh(struct state *s);
void setup_listener(struct state *s);
int run_connect(struct state *s);
void after_connect(struct state *s);
void prepare_accept(struct state *s);
int run_accept(struct state *s);
void after_accept(struct state *s);

#endif /* SDP_TEST_FAILING_CONNECT_H */
