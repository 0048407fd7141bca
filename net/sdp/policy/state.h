/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the policy keeps per network namespace.
 */
#ifndef SDP_POLICY_STATE_H
#define SDP_POLICY_STATE_H

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "../addr.h"
#include "policy.h"

/* Peers that did not answer, by hash; a new one takes an old one's place. */
#define SDP_SILENT_BITS	6
/* Fall-backs that are shown. */
#define SDP_FELL_SHOWN	32

/**
 * struct sdp_rules - a policy in force; replaced as a whole
 * @refs: that of being in force, and of who is asking
 * @rcu: frees it
 * @count: rules
 * @need_path: some ask for the executable's path
 * @need_cgroup: some ask for the control group
 * @text: as it was written, with a NUL
 * @len: its bytes
 * @rule: the rules; their patterns are in @text
 */
struct sdp_rules {
	refcount_t refs;
	struct rcu_head rcu;
	unsigned int count;
	bool need_path;
	bool need_cgroup;
	char *text;
	size_t len;
	struct sdp_rule rule[];
};

/**
 * struct sdp_silent - a peer that did not answer an SDP connect
 * @peer: its address and port; port 0 for none
 * @until: not to be asked again before (jiffies)
 */
struct sdp_silent {
	struct sdp_endpoint peer;
	unsigned long until;
};

/**
 * struct sdp_fell - one fall-back, for people
 * @at: when (seconds since the epoch); 0 for none
 * @pid: process
 * @comm: its name
 * @role: what it wanted
 * @where: the address
 * @why: the reason
 */
struct sdp_fell {
	time64_t at;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	enum sdp_role role;
	struct sdp_endpoint where;
	enum sdp_fallback why;
};

/**
 * struct sdp_policy - one namespace
 * @rules: in force, or NULL; read under RCU
 * @lock: covers changes of @rules, @rewrite and @error
 * @rewrite: net.sdp.rewrite
 * @fallback_ms: how long a connect waits for SDP
 * @fallback_memory_ms: how long a silent peer is remembered
 * @error: what was wrong with the last text, or ""
 * @table: its sysctls
 * @header: they are registered
 * @note_lock: covers @silent and @fell
 * @silent: peers that did not answer
 * @fell: the last fall-backs, a ring
 * @fell_next: where the next one goes
 */
struct sdp_policy {
	struct sdp_rules __rcu *rules;
	struct mutex lock; /* see above */
	int rewrite;
	int fallback_ms;
	int fallback_memory_ms;
	char error[128];
	struct ctl_table *table;
	struct ctl_table_header *header;
	spinlock_t note_lock; /* see above */
	struct sdp_silent silent[1 << SDP_SILENT_BITS];
	struct sdp_fell fell[SDP_FELL_SHOWN];
	unsigned int fell_next;
};

extern unsigned int sdp_policy_id;

static inline struct sdp_policy *sdp_policy(const struct net *net)
{
	return net_generic(net, sdp_policy_id);
}

enum sdp_verdict sdp_policy_ask(struct net *net, enum sdp_role role,
				const struct sdp_endpoint *where);

/* hook.c */
int sdp_hook_begin(void);
void sdp_hook_end(void);

/* fallback.c */
void sdp_fallback_describe(struct sdp_fell *fell, enum sdp_role role,
			   const struct sdp_endpoint *where);
void sdp_fallback_note(struct net *net, struct sdp_fell *fell, enum sdp_fallback why);
enum sdp_fallback sdp_fallback_reason(int error);
bool sdp_fallback_silent(struct net *net, const struct sdp_endpoint *peer);
int sdp_fallback_register(struct net *net);
void sdp_fallback_unregister(struct net *net);

#endif /* SDP_POLICY_STATE_H */
