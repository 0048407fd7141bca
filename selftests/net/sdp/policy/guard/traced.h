/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy tests of the tracepoint sdp_fallback: one line for each fallback, with the reason.
 */
#ifndef SDP_TEST_POLICY_GUARD_TRACED_H
#define SDP_TEST_POLICY_GUARD_TRACED_H

#include "seen.h"

#define TRACING		"/sys/kernel/tracing/"

void tracing_write(const char *path, const char *text);
bool tracing_begin(const char *enable);
void trace_anew(void);
int traced_reasons(void *arg);
int traced_once(void *arg);

#endif /* SDP_TEST_POLICY_GUARD_TRACED_H */
