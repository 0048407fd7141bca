/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User 0 without CAP_NET_ADMIN.
 */
#ifndef SDP_TEST_CAPABLE_H
#define SDP_TEST_CAPABLE_H

#include "cases.h"
#include <linux/capability.h>

void drop_net_admin(void);

#endif /* SDP_TEST_CAPABLE_H */
