// SPDX-License-Identifier: GPL-2.0
/*
 * Changing a namespace's policy: new rules and switches, all or nothing.
 *
 * A change parses the whole new text first and then replaces the rules in
 * force (ruleset.c), under the policy's lock, so an invalid text changes
 * nothing. net.sdp.policy_error tells what is wrong with such a text, and
 * where. A change affects later decisions only: sockets keep the verdict that
 * they got.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "policy_net.h"

/*
 * net.sdp.unprivileged_rewrite: if 1, CAP_NET_ADMIN in the user namespace that
 * owns a network namespace suffices to set net.sdp.rewrite there.
 */
int sdp_unprivileged_rewrite = 1;

/* Allocates rules for the texts @first and @text, joined. */
static struct sdp_rules *rules_alloc(const char *first, size_t first_len,
				     const char *text, size_t len)
{
	unsigned int bound = min_t(unsigned int, SDP_POLICY_RULES_MAX,
				   sdp_rules_bound(first, first_len) +
					   sdp_rules_bound(text, len));
	struct sdp_rules *rules;

	rules = kvzalloc(struct_size(rules, rule, bound) + first_len + len + 1,
			 GFP_KERNEL_ACCOUNT);
	if (!rules)
		return NULL;
	refcount_set(&rules->refs, 1);
	rules->count = bound;
	rules->text = (char *)&rules->rule[bound];
	rules->len = first_len + len;
	memcpy(rules->text, first, first_len);
	memcpy(rules->text + first_len, text, len);
	return rules;
}

/*
 * Records why a text is refused, for policy_error and the caller. Called with
 * the policy's lock held.
 */
__printf(3, 4) static int rules_refuse(struct sdp_policy *policy,
				       struct sdp_policy_change *change,
				       const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(policy->error, sizeof(policy->error), fmt, args);
	va_end(args);
	strscpy(change->error, policy->error, sizeof(change->error));
	return -EINVAL;
}

/*
 * Parses a new text, or the present text with an addition: shells write a file
 * line by line, and each write arrives by itself, at a position. Each addition
 * must be valid with what precedes it, and takes effect at once. Called with
 * the policy's lock held.
 */
static int rules_make(struct sdp_policy *policy,
		      struct sdp_policy_change *change, struct sdp_rules **made)
{
	const struct sdp_rules *old;
	struct sdp_rules *rules;
	int count;

	old = rcu_dereference_protected(policy->rules,
					lockdep_is_held(&policy->lock));
	if (change->pos && (!old || change->pos != old->len))
		return -EINVAL;
	if (change->pos + change->len > SDP_POLICY_TEXT_MAX) {
		rules_refuse(policy, change, "expected at most %u bytes",
			     SDP_POLICY_TEXT_MAX);
		return -E2BIG;
	}
	rules = rules_alloc(old ? old->text : "", change->pos, change->text,
			    change->len);
	if (!rules)
		return -ENOMEM;
	count = sdp_rules_parse(rules->text, rules->len, rules->rule,
				rules->count, &change->wrong);
	if (count < 0) {
		kvfree(rules);
		return rules_refuse(policy, change,
				    "line %u, column %u: expected %s",
				    change->wrong.line, change->wrong.column,
				    change->wrong.what);
	}
	rules->count = count;
	rules->need_path = sdp_rules_need_path(rules->rule, count);
	rules->need_cgroup = sdp_rules_need_cgroup(rules->rule, count);
	*made = rules;
	return 0;
}

/* Puts rules in force. Called with the policy's lock held. */
static void rules_set(struct sdp_policy *policy, struct sdp_rules *rules)
{
	struct sdp_rules *old;

	old = rcu_dereference_protected(policy->rules,
					lockdep_is_held(&policy->lock));
	policy->error[0] = 0;
	rcu_assign_pointer(policy->rules, rules);
	sdp_rules_put(old);
}

/*
 * The hook costs every new socket of the machine a little, so the machine's
 * administrator may reserve it (net.sdp.unprivileged_rewrite=0). Then the
 * capability must be held in the initial user namespace, whichever user
 * namespace owns the network namespace. Returns 0 or -EPERM.
 */
static int rewrite_permission(void)
{
	return READ_ONCE(sdp_unprivileged_rewrite) || capable(CAP_NET_ADMIN) ?
	       0 : -EPERM;
}

/**
 * sdp_policy_change_locked() - sdp_policy_change() with the policy's lock held
 * @policy: the namespace's policy
 * @change: what to change
 *
 * Return: as sdp_policy_change().
 */
int sdp_policy_change_locked(struct sdp_policy *policy,
			     struct sdp_policy_change *change)
{
	struct sdp_rules *rules = NULL;
	int err = change->rewrite > 0 ? rewrite_permission() : 0;

	if (!err && change->text)
		err = rules_make(policy, change, &rules);
	/* The first namespace that needs the hook installs it. */
	if (!err && change->rewrite > 0)
		err = sdp_hook_install();
	if (err) {
		kvfree(rules);
		return err;
	}
	if (rules)
		rules_set(policy, rules);
	if (change->rewrite >= 0)
		WRITE_ONCE(policy->rewrite, change->rewrite);
	if (change->fallback_ms >= 0)
		WRITE_ONCE(policy->fallback_ms, change->fallback_ms);
	if (change->fallback_memory_ms >= 0)
		WRITE_ONCE(policy->fallback_memory_ms,
			   change->fallback_memory_ms);
	return 0;
}

/**
 * sdp_policy_change() - change a namespace's policy
 * @net: namespace
 * @change: what to change; its numbers are within their bounds
 *
 * Makes all of the changes or, on an error, none. The caller has checked
 * CAP_NET_ADMIN in the namespace's owner. May sleep: takes the policy's lock.
 *
 * Return: 0 or an errno. -EINVAL: the text is not valid, and @change says why,
 * or it continues another text than the one in force. -E2BIG: the text is too
 * long. -ENOMEM: no memory for the rules. -EPERM: unprivileged_rewrite is 0
 * and the current process may not set rewrite to 1. Or an error of
 * sdp_hook_install(), such as -EOPNOTSUPP.
 */
int sdp_policy_change(struct net *net, struct sdp_policy_change *change)
{
	struct sdp_policy *policy = sdp_policy(net);
	int err;

	mutex_lock(&policy->lock);
	err = sdp_policy_change_locked(policy, change);
	mutex_unlock(&policy->lock);
	return err;
}
