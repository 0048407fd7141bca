/* SPDX-License-Identifier: GPL-2.0 */
/*
 */
#ifndef SDP_TEST_POLICY_RACE_H
#define SDP_TEST_POLICY_RACE_H

#include "policy_common.h"

#endif /* SDP_TEST_POLICY_RACE_H */
