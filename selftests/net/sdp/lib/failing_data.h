/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls that move data, for sweeps over their allocations, and checks of what arrives.
 */
#ifndef SDP_TEST_FAILING_DATA_H
#define SDP_TEST_FAILING_DATA_H

#include <pthread.h>
#include "failing_call.h"

void fill_data(struct state *s, size_t n);
void after_send(struct state *s);
int send_some(struct state *s, size_t n, int flags);
int run_send(struct state *s);
int run_send_pages(struct state *s);
int run_send_more(struct state *s);
void prepare_large(struct state *s);
int run_send_large(struct state *s);
void after_large(struct state *s);
void prepare_recv_large(struct state *s);
int recv_some(struct state *s, size_t n, int flags);
int run_recv_large(struct state *s);
void after_recv_large(struct state *s);
void prepare_recv(struct state *s);
int run_recv(struct state *s);

#endif /* SDP_TEST_FAILING_DATA_H */
