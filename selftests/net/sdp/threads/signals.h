/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of calls that signals interrupt at short intervals.
 */
#ifndef SDP_TEST_THREADS_SIGNALS_H
#define SDP_TEST_THREADS_SIGNALS_H

#include "threads.h"

void signals_in_streams(void);
void signals_while_idle(void);
void signals_in_connects(void);
void signals_while_connecting(void);

#endif /* SDP_TEST_THREADS_SIGNALS_H */
