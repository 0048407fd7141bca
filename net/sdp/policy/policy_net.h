/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of the policy in each network namespace.
 *
 * struct sdp_policy holds the rules in force, the policy's settings (net.sdp.*)
 * and the records of fallbacks and silent peers. It is created with the
 * namespace and freed with it. Its mutex serializes changes of the policy;
 * readers of the rules take a reference under RCU (sdp_rules_get()). A spinlock
 * covers the records.
 */
#ifndef SDP_POLICY_NET_H
#define SDP_POLICY_NET_H

#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sdp.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "../base/addr.h"
#include "rules.h"

/*
 * log2 of the number of records of silent peers, chosen by a hash of the
 * address; a new peer overwrites the one in its slot.
 */
#define SDP_SILENT_BITS	6
/* Fallbacks recorded per namespace; the next one replaces the oldest. */
#define SDP_FELL_KEPT	4096
/* Size of the message in net.sdp.policy_error, in bytes with the NUL. */
#define SDP_POLICY_ERROR	128

/**
 * struct sdp_rules - the parsed rules of a policy; never changed, only replaced
 * @refs: one for being in force, and one for each current reader
 * @rcu: frees the rules after a grace period
 * @count: number of entries in @rule
 * @need_path: at least one rule has a pattern for the executable's path
 * @need_cgroup: at least one rule has a pattern for the control group
 * @text: the text as it was written, followed by a NUL
 * @len: length of @text in bytes, without the NUL
 * @rule: the rules in the order of the text; their patterns refer to @text
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
 * struct sdp_silent - a peer that did not answer an SDP connect in time
 * @peer: its address and port; port 0 marks an unused slot
 * @until: connects to this peer use TCP at once until this time (jiffies)
 */
struct sdp_silent {
	struct sdp_endpoint peer;
	unsigned long until;
};

/**
 * struct sdp_fallback_record - one fallback from SDP to TCP
 * @at: when it happened (seconds since the epoch)
 * @inode: inode number of the socket
 * @pid: the process, with a reference: its number depends on the reader's PID
 *	namespace
 * @comm: command name of the thread that called connect() or listen()
 * @role: whether the socket was to connect or to listen
 * @where: the address to connect to, or the bound address
 * @why: the reason
 */
struct sdp_fallback_record {
	time64_t at;
	u64 inode;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
	enum sdp_role role;
	struct sdp_endpoint where;
	enum sdp_fallback why;
};

/**
 * struct sdp_policy - the policy of one network namespace
 * @net: the namespace
 * @rules: rules in force, or NULL; read under RCU
 * @lock: serializes changes of @rules, @rewrite and @error
 * @rewrite: net.sdp.rewrite: new TCP sockets become undecided
 * @fallback_ms: net.sdp.fallback_ms: how long a connect waits for SDP (ms)
 * @fallback_memory_ms: net.sdp.fallback_memory_ms: how long a silent peer is
 *	remembered (ms)
 * @error: net.sdp.policy_error: why the last text was refused, or ""
 * @table: sysctl table of the namespace
 * @header: registration of @table
 * @note_lock: covers @silent and @fells
 * @silent: peers that did not answer
 * @fells: log of the latest fallbacks; NULL until the first one
 */
struct sdp_policy {
	struct net *net;
	struct sdp_rules __rcu *rules;
	struct mutex lock; /* serializes changes of the policy */
	int rewrite;
	int fallback_ms;
	int fallback_memory_ms;
	char error[SDP_POLICY_ERROR];
	struct ctl_table *table;
	struct ctl_table_header *header;
	spinlock_t note_lock; /* covers silent and fells */
	struct sdp_silent silent[1 << SDP_SILENT_BITS];
	struct sdp_fells *fells;
};

extern unsigned int sdp_policy_id;

/**
 * sdp_policy() - the policy of a network namespace
 * @net: namespace
 *
 * Return: its policy, valid as long as the namespace.
 */
static inline struct sdp_policy *sdp_policy(const struct net *net)
{
	return net_generic(net, sdp_policy_id);
}

/**
 * struct sdp_policy_change - a request to change a namespace's policy
 * @text: the new rules, or NULL to keep the rules in force
 * @len: length of @text in bytes
 * @pos: 0 to replace the text in force, or its length to append to it: a text
 *	may be written in several parts
 * @rewrite: net.sdp.rewrite, or -1 for no change
 * @fallback_ms: net.sdp.fallback_ms, or -1 for no change
 * @fallback_memory_ms: net.sdp.fallback_memory_ms, or -1 for no change
 * @wrong: set when @text cannot be parsed: the place of the mistake and what
 *	was expected there
 * @error: set when @text is refused: the message that net.sdp.policy_error
 *	shows; otherwise untouched
 *
 * All of the request takes effect, or nothing does.
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

/* ruleset.c */
enum sdp_verdict sdp_policy_ask(struct net *net, enum sdp_role role,
				u8 *service,
				const struct sdp_endpoint *where);
struct sdp_rules *sdp_rules_get(struct sdp_policy *policy);
void sdp_rules_put(struct sdp_rules *rules);
const struct sdp_rule *sdp_policy_match(const struct sdp_rules *rules,
					const struct sdp_query *query);

/* change.c */
extern int sdp_unprivileged_rewrite;
int sdp_policy_change_locked(struct sdp_policy *policy,
			     struct sdp_policy_change *change);
int sdp_policy_change(struct net *net, struct sdp_policy_change *change);

/* sysctl.c */
int sdp_policy_sysctl_register(struct sdp_policy *policy);
void sdp_policy_sysctl_unregister(struct sdp_policy *policy);
int sdp_policy_sysctl_init(void);
void sdp_policy_sysctl_exit(void);

/* hook.c */
void sdp_hook_allow(void);
int sdp_hook_install(void);
void sdp_hook_remove(void);

/* lsm.c */
int sdp_lsm_begin(void);
void sdp_lsm_end(void);

/* fallback.c */
void sdp_fallback_describe(struct sdp_fallback_record *fell,
			   struct socket *sock, enum sdp_role role,
			   const struct sdp_endpoint *where);
void sdp_fallback_note(struct net *net, struct sdp_fallback_record *fell,
		       enum sdp_fallback why);
enum sdp_fallback sdp_fallback_reason(int error);
pid_t sdp_fallback_pid(const struct sdp_fallback_record *fell);
const char *sdp_fallback_text(enum sdp_fallback why);
void sdp_fallback_remember(struct net *net, const struct sdp_endpoint *peer);
unsigned int sdp_fallback_silent_ms(struct net *net,
				    const struct sdp_endpoint *peer);
int sdp_fallback_register(struct net *net);
void sdp_fallback_unregister(struct net *net);

/* fallback_log.c */
void sdp_fallback_log_add(struct sdp_policy *policy,
			  const struct sdp_fallback_record *fell);
bool sdp_fallback_log_read(struct sdp_policy *policy, u64 *number,
			   struct sdp_fallback_record *fell);
u64 sdp_fell_count(struct sdp_policy *policy);
int sdp_fell_reason(struct sdp_policy *policy, u64 inode);
void sdp_fallback_log_free(struct sdp_policy *policy);

/* fallback_sockopt.c */
void sdp_fallback_sockopt_init(void);
void sdp_fallback_sockopt_exit(void);

#endif /* SDP_POLICY_NET_H */
