/* SPDX-License-Identifier: GPL-2.0 */
/* The cases of the program netlink, by file. */
#ifndef SDP_TEST_NETLINK_H
#define SDP_TEST_NETLINK_H

#include "netlink_common.h"

extern const struct test_list policy_tests, dump_tests, diag_tests, explain_tests, reason_tests;

/* explain.c */
struct request *explain_request(struct nl *nl, unsigned int without);

#endif /* SDP_TEST_NETLINK_H */
