/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections by datagrams, for sweeps over their allocations.
 */
#ifndef SDP_TEST_FAULTS_WAYS_DATAGRAMS_H
#define SDP_TEST_FAULTS_WAYS_DATAGRAMS_H

#include "failing_connect.h"
#include "failing_data.h"
#include "failing_load.h"
#include "info.h"

void setup_datagrams(struct state *s);
void setup_datagram_listener(struct state *s);
void after_datagram_connect(struct state *s);
int at_random_datagrams(void *arg);

#endif /* SDP_TEST_FAULTS_WAYS_DATAGRAMS_H */
