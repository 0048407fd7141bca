/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy texts, namespaces, sockets that fall back.
 */
#ifndef SDP_TEST_POLICY_SHARE_H
#define SDP_TEST_POLICY_SHARE_H

#include "policy_common.h"
#include <linux/filter.h>
#include <sched.h>

/* A policy that makes all sockets SDP, in a text unlike any other. */
#define GOOD	"any * program other tcp # before\n\n any   * sdp\n"

void error_text(char text[200]);
void need_policy(const char *want, size_t len);

/* Texts that are no policy, and the place of the first mistake. */
#define BAD_TEXTS	31

extern const struct bad_text {
	const char *text;
	int line, column;
} bad_texts[BAD_TEXTS];

void filter(int fd);
void ip_options(int fd);
void signature(int fd);
int bound_like_sdp(int *sdp, struct addr *where);
void write_file(const char *path, const char *text);
bool fell_line(unsigned int port, char line[300]);
void need_fell(const struct addr *where, const char *role, const char *reason);

#define CGROUPS		"/sys/fs/cgroup"
#define OWN_CGROUP	"/sdp-policy-test"

bool cgroup_enter(const char *name);
void enter(int ns);
void new_namespace(void);
int own_namespace(void);
bool root_of_user_namespace(int flags);

#endif /* SDP_TEST_POLICY_SHARE_H */
