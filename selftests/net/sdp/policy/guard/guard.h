/* SPDX-License-Identifier: GPL-2.0 */
/* The cases of the program policy_guard, by file, and what several files need. */
#ifndef SDP_TEST_POLICY_GUARD_H
#define SDP_TEST_POLICY_GUARD_H

#include "netlink_common.h"
#include <linux/bpf.h>

/* bpf.c */
#define PUT(reg, value)	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value) }
#define RETURN		{ .code = BPF_JMP | BPF_EXIT }

/* Two listeners, of which the first one is barred to connects in some way. */
struct doors {
	int barred, clear;
	struct addr to_barred, to_clear;
};

void doors_open(struct doors *d, enum kind kind);
void need_barred(const struct doors *d, int error);
void need_forbidden(int listening, const struct addr *where);
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

/* held.c */
struct slow {
	int fd, faults;
	void *page;
	struct addr where;
	pthread_t holder;
};

enum held_end { FALLS_BACK, CONNECTED };

void slow_memory(struct slow *s);
void hold(struct slow *s, void *(*call)(void *slow));
void let_go(struct slow *s);
int slow_memory_of_others(void *arg);
void *linger_slowly(void *arg);
int held(void *arg);
int held_asked_rarely(void *arg);
int held_reset(void *arg);

/* lsm.c */
int member_offset(const char *structure, const char *name);
void hook_by(const char *hook, const struct bpf_insn *insns, unsigned int count);
bool lsm_has_bpf(void);
int lsm_forbids_sdp(void *arg);

/* hooks.c */
int hooks_seen(void *arg);

/* seen.c */
int seen_connect(void *arg);
int seen_listen(void *arg);
int seen_trying(void *arg);

/* traced.c */
#define TRACING		"/sys/kernel/tracing/"

void trace_anew(void);
void tracing_begin(const char *enable);
int traced(const char *key, char last[300]);
int traced_reasons(void *arg);
int traced_once(void *arg);

#endif /* SDP_TEST_POLICY_GUARD_H */
