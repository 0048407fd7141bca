/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Other ways to a connection, for sweeps over their allocations.
 */
#ifndef SDP_TEST_FAULTS_WAYS_AGAIN_H
#define SDP_TEST_FAULTS_WAYS_AGAIN_H

#include "failing_connect.h"

void prepare_accept_late(struct state *s);
void join_late(struct state *s);
void after_accept_late(struct state *s);
void setup_inet(struct state *s);
int run_socket_inet(struct state *s);
void prepare_connected(struct state *s);
int run_disconnect(struct state *s);
void after_disconnect(struct state *s);
void prepare_disconnected(struct state *s);

#endif /* SDP_TEST_FAULTS_WAYS_AGAIN_H */
