/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which user may change which setting, and bind to which port.
 */
#ifndef SDP_TEST_LEAKS_RIGHTS_H
#define SDP_TEST_LEAKS_RIGHTS_H

#include "netlink_common.h"

int settings_guarded(void *arg);
int low_ports(void *arg);

#endif /* SDP_TEST_LEAKS_RIGHTS_H */
