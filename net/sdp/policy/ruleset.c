// SPDX-License-Identifier: GPL-2.0
/*
 * Rules in force of a network namespace, and what they say about a socket.
 *
 * A namespace has at most one set of rules in force, struct sdp_rules. Readers
 * find it under RCU and take a reference (sdp_rules_get()); change.c replaces
 * it. A socket is described to the rules by its role, its address and the
 * process that uses it.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "policy_net.h"

unsigned int sdp_policy_id __read_mostly;

/*
 * Which rule matches must not depend on free memory, so the allocations of
 * struct process_names, of one page each, do not fail.
 */
#define PROCESS_NAMES_GFP	(GFP_KERNEL | __GFP_NOFAIL)

/**
 * struct process_names - buffers for the strings of a struct sdp_query
 * @comm: command name of the current process
 * @path_page: page with the path of its executable, or NULL
 * @cgroup_page: page with the path of its control group, or NULL
 */
struct process_names {
	char comm[TASK_COMM_LEN];
	char *path_page;
	char *cgroup_page;
};

static const char *process_path(struct process_names *n)
{
	struct file *exe = current->mm ? sdp_exe_file(current->mm) : NULL;
	char *path;

	if (!exe)
		return NULL;
	n->path_page = (char *)__get_free_page(PROCESS_NAMES_GFP);
	path = d_path(&exe->f_path, n->path_page, PAGE_SIZE);
	fput(exe);
	return IS_ERR(path) ? NULL : path;
}

#ifdef CONFIG_CGROUPS
static const char *process_cgroup(struct process_names *n)
{
	int len;

	n->cgroup_page = (char *)__get_free_page(PROCESS_NAMES_GFP);
	rcu_read_lock();
	len = cgroup_path(task_dfl_cgroup(current), n->cgroup_page, PAGE_SIZE);
	rcu_read_unlock();
	/*
	 * Kernels before 6.8 cut a path that does not fit and return its full
	 * length.
	 */
	return len < 0 || len >= PAGE_SIZE ? NULL : n->cgroup_page;
}
#else
static const char *process_cgroup(struct process_names *n)
{
	return NULL;
}
#endif

static void query_process(struct sdp_query *q, struct process_names *n,
			  const struct sdp_endpoint *where)
{
	q->comm = get_task_comm(n->comm, current);
	q->uid = from_kuid(&init_user_ns, current_fsuid());
	memcpy(q->addr, &where->ip, sizeof(q->addr));
	q->port = where->port;
}

/**
 * sdp_rules_get() - take a reference to the rules in force
 * @policy: policy of a namespace
 *
 * Does not sleep.
 *
 * Return: the rules, which the caller gives to sdp_rules_put(), or NULL when
 * the namespace has none.
 */
struct sdp_rules *sdp_rules_get(struct sdp_policy *policy)
{
	struct sdp_rules *rules;

	rcu_read_lock();
	do
		rules = rcu_dereference(policy->rules);
	while (rules && !refcount_inc_not_zero(&rules->refs));
	rcu_read_unlock();
	return rules;
}

/**
 * sdp_rules_put() - drop a reference to rules
 * @rules: rules, or NULL
 *
 * Frees @rules after an RCU grace period when this was the last reference.
 */
void sdp_rules_put(struct sdp_rules *rules)
{
	if (rules && refcount_dec_and_test(&rules->refs))
		kvfree_rcu(rules, rcu);
}

/**
 * sdp_policy_match() - find the rule that decides about a socket
 * @rules: rules; the caller holds a reference
 * @query: the socket and its process
 *
 * A pattern for a path or a control group may be built to take milliseconds.
 * If there are any, the rules are tried one by one, and other tasks may run in
 * between. May sleep.
 *
 * Return: the rule, which belongs to @rules, or NULL when no rule matches: the
 * socket stays TCP.
 */
const struct sdp_rule *sdp_policy_match(const struct sdp_rules *rules,
					const struct sdp_query *query)
{
	unsigned int step = rules->need_path || rules->need_cgroup ?
			    1 : rules->count, i;
	const struct sdp_rule *rule;

	for (i = 0; i < rules->count; i += step) {
		rule = sdp_rules_match(&rules->rule[i], step, rules->text,
				       query);
		if (rule)
			return rule;
		cond_resched();
	}
	return NULL;
}

/**
 * sdp_policy_ask() - decide about a socket of the current process
 * @net: namespace of the socket
 * @role: whether the socket is about to listen or to connect
 * @service: set to sdp_rule.service of the rule, 0 without one; or NULL
 * @where: the address that it is bound to or is to connect to
 *
 * Uses one set of rules throughout, even if the policy changes meanwhile. May
 * sleep.
 *
 * Return: the verdict. SDP_VERDICT_TCP when net.sdp.rewrite is 0, there are no
 * rules, or no rule matches.
 */
enum sdp_verdict sdp_policy_ask(struct net *net, enum sdp_role role,
				u8 *service,
				const struct sdp_endpoint *where)
{
	struct sdp_policy *policy = sdp_policy(net);
	struct sdp_query q = { .role = role };
	const struct sdp_rule *rule;
	enum sdp_verdict verdict;
	struct sdp_rules *rules;
	struct process_names n = { };

	if (service)
		*service = 0;
	rules = READ_ONCE(policy->rewrite) ? sdp_rules_get(policy) : NULL;
	if (!rules)
		return SDP_VERDICT_TCP;
	query_process(&q, &n, where);
	q.path = rules->need_path ? process_path(&n) : NULL;
	q.cgroup = rules->need_cgroup ? process_cgroup(&n) : NULL;
	rule = sdp_policy_match(rules, &q);
	verdict = rule ? rule->verdict : SDP_VERDICT_TCP;
	if (rule && service)
		*service = rule->service;
	sdp_rules_put(rules);
	free_page((unsigned long)n.path_page);
	free_page((unsigned long)n.cgroup_page);
	return verdict;
}
