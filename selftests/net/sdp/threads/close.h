/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of shutdown and close in one thread while others wait in a call on the socket.
 */
#ifndef SDP_TEST_THREADS_CLOSE_H
#define SDP_TEST_THREADS_CLOSE_H

#include "threads.h"

int closed_by_another(void *arg);

#endif /* SDP_TEST_THREADS_CLOSE_H */
