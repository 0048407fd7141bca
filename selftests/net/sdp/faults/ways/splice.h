/* SPDX-License-Identifier: GPL-2.0 */
/*
 * splice and sendfile, for sweeps over their allocations.
 */
#ifndef SDP_TEST_FAULTS_WAYS_SPLICE_H
#define SDP_TEST_FAULTS_WAYS_SPLICE_H

#include "rings.h"

void setup_splice(struct state *s);
void setup_ring_splice(struct state *s);
void prepare_splice_out(struct state *s);
int run_splice_out(struct state *s);
void after_splice_out(struct state *s);
void prepare_splice_in(struct state *s);
int run_splice_in(struct state *s);
void after_splice_in(struct state *s);
void prepare_sendfile(struct state *s);
int run_sendfile(struct state *s);
void after_sendfile(struct state *s);

#endif /* SDP_TEST_FAULTS_WAYS_SPLICE_H */
