/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Large transfers for which no call waits, for sweeps over their allocations.
 */
#ifndef SDP_TEST_FAULTS_WAYS_LARGE_H
#define SDP_TEST_FAULTS_WAYS_LARGE_H

#include "failing_data.h"

int run_send_background(struct state *s);
void setup_lent(struct state *s);
int run_send_lent(struct state *s);
void after_lent(struct state *s);
void prepare_polled(struct state *s);
int run_recv_polled(struct state *s);
void setup_mapped(struct state *s);
int run_recv_mapped(struct state *s);

#endif /* SDP_TEST_FAULTS_WAYS_LARGE_H */
