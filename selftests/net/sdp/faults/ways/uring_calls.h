/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of io_uring, for sweeps over their allocations.
 */
#ifndef SDP_TEST_FAULTS_WAYS_URING_CALLS_H
#define SDP_TEST_FAULTS_WAYS_URING_CALLS_H

#include "failing_connect.h"
#include "failing_data.h"
#include "failing_load.h"
#include "uring.h"

int run_uring_send(struct state *s);
int run_uring_send_pages(struct state *s);
int run_uring_recv(struct state *s);
int run_uring_accept(struct state *s);
void setup_uring(struct state *s);
void setup_uring_accept(struct state *s);
int run_uring_recv_waiting(struct state *s);
void after_uring_recv_waiting(struct state *s);
int run_uring_accept_waiting(struct state *s);
void after_uring_accept_waiting(struct state *s);

#endif /* SDP_TEST_FAULTS_WAYS_URING_CALLS_H */
