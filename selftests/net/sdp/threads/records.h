/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of several threads that write records into one socket while others read at its peer.
 */
#ifndef SDP_TEST_THREADS_RECORDS_H
#define SDP_TEST_THREADS_RECORDS_H

#include "threads.h"

void whole_records(void);
void shared_stream(void);
void writers_only(void);

#endif /* SDP_TEST_THREADS_RECORDS_H */
