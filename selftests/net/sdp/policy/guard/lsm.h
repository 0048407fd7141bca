/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy tests with a security module, made of a BPF program, that forbids SDP sockets.
 */
#ifndef SDP_TEST_POLICY_GUARD_LSM_H
#define SDP_TEST_POLICY_GUARD_LSM_H

#include "bpf.h"

int member_offset(const char *structure, const char *name);
void hook_by(const char *hook, const struct bpf_insn *insns, unsigned int count);
bool lsm_has_bpf(void);
int lsm_forbids_sdp(void *arg);

#endif /* SDP_TEST_POLICY_GUARD_LSM_H */
