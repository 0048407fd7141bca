/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy tests of the hooks of a security module: which are called, about which sockets.
 */
#ifndef SDP_TEST_POLICY_GUARD_HOOKS_H
#define SDP_TEST_POLICY_GUARD_HOOKS_H

#include "lsm.h"

enum hook {
	H_CREATE, H_POST_CREATE, H_BIND, H_LISTEN, H_CONNECT, H_ACCEPT, H_SENDMSG, H_RECVMSG,
	H_GETSOCKNAME, H_GETPEERNAME, H_SETSOCKOPT, H_GETSOCKOPT, H_SHUTDOWN, H_CLONE_FROM,
	H_CLONE_TO, H_GRAFT, H_REQUEST, H_ESTABLISHED, HOOKS
};

/* A BPF program that is being built. All its jumps go to its end. */
struct hook_program {
	struct bpf_insn insns[40];
	int n, jumps[8], jumps_n;
};

void load(struct hook_program *p, int size, int dst, int src, int at);
int hooks_seen(void *arg);

#endif /* SDP_TEST_POLICY_GUARD_HOOKS_H */
