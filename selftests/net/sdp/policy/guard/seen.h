/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy tests of what a program and others see of a socket before and after the decision.
 */
#ifndef SDP_TEST_POLICY_GUARD_SEEN_H
#define SDP_TEST_POLICY_GUARD_SEEN_H

#include "policy_share.h"

#ifndef SO_COOKIE
#define SO_COOKIE	57
#endif

/*
 * Attributes of a socket. Only the protocol may change; inode and cookie tell whether it is the
 * same socket.
 */
struct looks {
	int domain, type, protocol;
	ino_t inode;
	uint64_t cookie;
};

int seen_connect(void *arg);
int seen_listen(void *arg);
int seen_trying(void *arg);

#endif /* SDP_TEST_POLICY_GUARD_SEEN_H */
