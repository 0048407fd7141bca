/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of pinned pages: RDMA pins pages, and none may stay pinned after the transfer.
 */
#ifndef SDP_TEST_PINNED_H
#define SDP_TEST_PINNED_H

#include "sock.h"

void await_unpinned(void);

#endif /* SDP_TEST_PINNED_H */
