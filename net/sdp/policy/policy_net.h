/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the policy keeps per network namespace.
 */
#ifndef SDP_POLICY_STATE_H
#define SDP_POLICY_STATE_H

#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "../addr.h"
#include "policy.h"

/* Peers that did not answer, by hash; a new one takes an old one's place. */
#define SDP_SILENT_BITS	6
/* Fall-backs that are kept. */
#define SDP_FELL_KEPT	4096
/* What is said about a text that is not a policy. */
#define SDP_POLICY_ERROR	128

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
 * struct sdp_fell - one fall-back
 * @at: when (seconds since the epoch)
 * @inode: of the socket
 * @pid: process, with a reference; numbers of processes differ by who looks
 * @comm: its name
 * @role: what it wanted
 * @where: the address
 * @why: the reason
 */
struct sdp_fell {
	time64_t at;
	u64 inode;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
	enum sdp_role role;
	struct sdp_endpoint where;
	enum sdp_fallback why;
};

/**
 * struct sdp_policy - one namespace
 * @net: it
 * @rules: in force, or NULL; read under RCU
 * @lock: covers changes of @rules, @rewrite and @error
 * @rewrite: net.sdp.rewrite
 * @fallback_ms: how long a connect waits for SDP
 * @fallback_memory_ms: how long a silent peer is remembered
 * @error: what was wrong with the last text, or ""
 * @table: its sysctls
 * @header: they are registered
 * @note_lock: covers @silent and @fells
 * @silent: peers that did not answer
 * @fells: the last fall-backs; NULL before the first one
 */
struct sdp_policy {
	struct net *net;
	struct sdp_rules __rcu *rules;
	struct mutex lock; /* see above */
	int rewrite;
	int fallback_ms;
	int fallback_memory_ms;
	char error[SDP_POLICY_ERROR];
	struct ctl_table *table;
	struct ctl_table_header *header;
	spinlock_t note_lock; /* see above */
	struct sdp_silent silent[1 << SDP_SILENT_BITS];
	struct sdp_fells *fells;
};

extern unsigned int sdp_policy_id;

static inline struct sdp_policy *sdp_policy(const struct net *net)
{
	return net_generic(net, sdp_policy_id);
}

/**
 * struct sdp_policy_change - what shall be otherwise in a namespace
 * @text: new rules, or NULL for those that are there
 * @len: its bytes
 * @pos: the text goes on after so many bytes of the one in force
 * @rewrite: net.sdp.rewrite, or -1 for no change
 * @fallback_ms: net.sdp.fallback_ms, likewise
 * @fallback_memory_ms: net.sdp.fallback_memory_ms, likewise
 * @wrong: filled in when the text is not a policy: where the mistake is
 * @error: filled in then: the same as text, as in net.sdp.policy_error; else untouched
 */
struct sdp_policy_change {
	const char *text;
	size_t len;
	size_t pos;
	int rewrite;
	int fallback_ms;
	int fallback_memory_ms;
	struct sdp_rules_error wrong;
	char error[SDP_POLICY_ERROR];
};

#define SDP_POLICY_NO_CHANGE	\
	{ .rewrite = -1, .fallback_ms = -1, .fallback_memory_ms = -1 }

/* Bounds of fallback_ms; fallback_memory_ms may also be 0. */
#define SDP_WAIT_MIN_MS		10
#define SDP_WAIT_MAX_MS		(3600 * 1000)

/* policy.c */
enum sdp_verdict sdp_policy_ask(struct net *net, enum sdp_role role,
				const struct sdp_endpoint *where);
struct sdp_rules *sdp_rules_get(struct sdp_policy *policy);
void sdp_rules_put(struct sdp_rules *rules);
const struct sdp_rule *sdp_policy_match(const struct sdp_rules *rules,
					const struct sdp_query *query);
int sdp_policy_change(struct net *net, struct sdp_policy_change *change);

/* hook.c */
void sdp_hook_open(void);
int sdp_hook_begin(void);
void sdp_hook_end(void);

/* lsm.c */
int sdp_lsm_begin(void);
void sdp_lsm_end(void);

/* fallback.c */
void sdp_fallback_describe(struct sdp_fell *fell, struct socket *sock,
			   enum sdp_role role,
			   const struct sdp_endpoint *where);
void sdp_fallback_note(struct net *net, struct sdp_fell *fell,
		       enum sdp_fallback why);
enum sdp_fallback sdp_fallback_reason(int error);
pid_t sdp_fallback_pid(const struct sdp_fell *fell);
const char *sdp_fallback_text(enum sdp_fallback why);
void sdp_fallback_remember(struct net *net, const struct sdp_endpoint *peer);
unsigned int sdp_fallback_silent_ms(struct net *net,
				    const struct sdp_endpoint *peer);
int sdp_fallback_register(struct net *net);
void sdp_fallback_unregister(struct net *net);

/* fallback_log.c */
void sdp_fell_keep(struct sdp_policy *policy, const struct sdp_fell *fell);
bool sdp_fell_at(struct sdp_policy *policy, u64 *number, struct sdp_fell *fell);
u64 sdp_fell_count(struct sdp_policy *policy);
int sdp_fell_reason(struct sdp_policy *policy, u64 inode);
void sdp_fell_end(struct sdp_policy *policy);

/* fallback_sockopt.c */
void sdp_reason_init(void);
void sdp_reason_exit(void);

#endif /* SDP_POLICY_STATE_H */
