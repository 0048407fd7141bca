/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy tests with BPF programs of a control group: what they say about TCP holds for SDP.
 */
#ifndef SDP_TEST_POLICY_GUARD_BPF_H
#define SDP_TEST_POLICY_GUARD_BPF_H

#include <linux/bpf.h>

#include "held.h"

#define PUT(reg, value)	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value) }
#define RETURN		{ .code = BPF_JMP | BPF_EXIT }

long bpf(int command, union bpf_attr *attr);
int bpf_refuses(void *arg);
int bpf_refuses_multipath(void *arg);
int bpf_refuses_second(void *arg);
int bpf_redirects(void *arg);
int bpf_forbids_sdp(void *arg);
int bpf_names(void *arg);
int bpf_events(void *arg);
int bpf_options(void *arg);
int bpf_packets(void *arg);

#endif /* SDP_TEST_POLICY_GUARD_BPF_H */
