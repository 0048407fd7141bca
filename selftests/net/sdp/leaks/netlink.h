/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers of netlink as they lie in memory: no stray bytes, and no address of the kernel.
 */
#ifndef SDP_TEST_LEAKS_NETLINK_H
#define SDP_TEST_LEAKS_NETLINK_H

#include "room.h"
#include "netlink_common.h"

int netlink_answers(void *arg);
int diag_answers(void *arg);

#endif /* SDP_TEST_LEAKS_NETLINK_H */
