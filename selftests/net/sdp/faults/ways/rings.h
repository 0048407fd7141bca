/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings, for sweeps over their allocations.
 */
#ifndef SDP_TEST_FAULTS_WAYS_RINGS_H
#define SDP_TEST_FAULTS_WAYS_RINGS_H

#include "failing_data.h"
#include "failing_load.h"
#include "info.h"

void setup_ring_rdma(struct state *s);
void setup_ring_nic(struct state *s);
void after_ring_send(struct state *s);
void prepare_ring_fresh(struct state *s);
void after_ring_fresh(struct state *s);
int ring_refused(void *arg);
int at_random_rings(void *arg);

#endif /* SDP_TEST_FAULTS_WAYS_RINGS_H */
