/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of netlink, for sweeps over their allocations.
 */
#ifndef SDP_TEST_FAULTS_CONTROL_NETLINK_H
#define SDP_TEST_FAULTS_CONTROL_NETLINK_H

#include "failing_call.h"
#include "netlink_common.h"

/* A text that is neither GOOD nor empty. */
#define OTHER	"any * program other tcp; any * both # after\n"

void prepare_request(struct state *s);
void ask_anew(struct state *s);
void after_request(struct state *s);
void want(int (*run)(struct state *s), struct state *s, int least, bool same);
int run_policy_get(struct state *s);
void setup_policy_get(struct state *s);
int run_explain(struct state *s);
void setup_explain(struct state *s);
int run_sock_get(struct state *s);
void setup_sock_get(struct state *s);
int run_device_get(struct state *s);
void setup_device_get(struct state *s);
int run_stat_get(struct state *s);
void setup_stat_get(struct state *s);
int run_fallback_get(struct state *s);
void setup_fallback_get(struct state *s);
void prepare_policy_set(struct state *s);
int run_policy_set(struct state *s);
void set_or_not(struct state *s);
void after_policy_set(struct state *s);

#endif /* SDP_TEST_FAULTS_CONTROL_NETLINK_H */
