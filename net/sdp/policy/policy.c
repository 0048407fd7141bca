// SPDX-License-Identifier: GPL-2.0
/*
 * The policy of a namespace: its rules and its switches, and how they are set by sysctl.
 *
 * A text is parsed whole before it replaces the one in force, so a bad one changes nothing;
 * what was wrong with it, and where, is in net.sdp.policy_error. Sockets keep the verdict
 * that they got.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "../control/netns.h"
#include "undecided.h"
#include "policy_net.h"

unsigned int sdp_policy_id __read_mostly;

static int wait_min = SDP_WAIT_MIN_MS;
static int wait_max = SDP_WAIT_MAX_MS;

/*
 * What rules may ask for about a process. Which of them matches must not be a question of memory:
 * these allocations, of a page each, do not fail.
 */
#define NAME_GFP	(GFP_KERNEL | __GFP_NOFAIL)

struct names {
	char comm[TASK_COMM_LEN];
	char *path_page;
	char *cgroup_page;
};

static const char *program_path(struct names *n)
{
	struct file *exe = current->mm ? sdp_exe_file(current->mm) : NULL;
	char *path;

	if (!exe)
		return NULL;
	n->path_page = (char *)__get_free_page(NAME_GFP);
	path = d_path(&exe->f_path, n->path_page, PAGE_SIZE);
	fput(exe);
	return IS_ERR(path) ? NULL : path;
}

#ifdef CONFIG_CGROUPS
static const char *cgroup_path_of(struct names *n)
{
	int len;

	n->cgroup_page = (char *)__get_free_page(NAME_GFP);
	rcu_read_lock();
	len = cgroup_path(task_dfl_cgroup(current), n->cgroup_page, PAGE_SIZE);
	rcu_read_unlock();
	/* Before 6.8 a path that does not fit is cut, and its whole length told. */
	return len < 0 || len >= PAGE_SIZE ? NULL : n->cgroup_page;
}
#else
static const char *cgroup_path_of(struct names *n)
{
	return NULL;
}
#endif

static void describe(struct sdp_query *q, struct names *n,
		     const struct sdp_endpoint *where)
{
	q->comm = get_task_comm(n->comm, current);
	q->uid = from_kuid(&init_user_ns, current_fsuid());
	memcpy(q->addr, &where->ip, sizeof(q->addr));
	q->port = where->port;
}

/**
 * sdp_rules_get() - the rules in force
 * @policy: of a namespace
 *
 * Return: them, with a reference; or NULL.
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
 * sdp_rules_put() - drop a reference
 * @rules: rules or NULL
 */
void sdp_rules_put(struct sdp_rules *rules)
{
	if (rules && refcount_dec_and_test(&rules->refs))
		kvfree_rcu(rules, rcu);
}

/**
 * sdp_policy_match() - which rule decides?
 * @rules: rules, with a reference
 * @query: about whom
 *
 * Patterns for long strings may be made to be slow, some milliseconds each: one by one, then. May
 * sleep.
 *
 * Return: the rule, or NULL when none matches: then it is TCP.
 */
const struct sdp_rule *sdp_policy_match(const struct sdp_rules *rules,
					const struct sdp_query *query)
{
	unsigned int step = rules->need_path || rules->need_cgroup ?
				    1 :
				    rules->count,
		     i;
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
 * sdp_policy_ask() - what shall become of a socket of the current process?
 * @net: its namespace
 * @role: what it is about to do
 * @where: the address
 *
 * One set of rules is asked, whatever becomes of the policy meanwhile. May sleep.
 *
 * Return: the verdict; SDP_VERDICT_TCP when rewriting is off or no rule matches.
 */
enum sdp_verdict sdp_policy_ask(struct net *net, enum sdp_role role,
				const struct sdp_endpoint *where)
{
	struct sdp_policy *policy = sdp_policy(net);
	struct sdp_query q = { .role = role };
	const struct sdp_rule *rule;
	enum sdp_verdict verdict;
	struct sdp_rules *rules;
	struct names n = { };

	rules = READ_ONCE(policy->rewrite) ? sdp_rules_get(policy) : NULL;
	if (!rules)
		return SDP_VERDICT_TCP;
	describe(&q, &n, where);
	q.path = rules->need_path ? program_path(&n) : NULL;
	q.cgroup = rules->need_cgroup ? cgroup_path_of(&n) : NULL;
	rule = sdp_policy_match(rules, &q);
	verdict = rule ? rule->verdict : SDP_VERDICT_TCP;
	sdp_rules_put(rules);
	free_page((unsigned long)n.path_page);
	free_page((unsigned long)n.cgroup_page);
	return verdict;
}

/* Room for what both texts together can say at most. */
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

/* What is wrong with a text stays to be read; under the policy's lock. */
__printf(3, 4) static int refuse(struct sdp_policy *policy,
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
 * The rules of a text, or of what there is with its next part: shells write line by line. Each
 * part has to be right by itself, and is in force at once. Under the policy's lock.
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
		refuse(policy, change, "expected at most %u bytes",
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
		return refuse(policy, change, "line %u, column %u: expected %s",
			      change->wrong.line, change->wrong.column,
			      change->wrong.what);
	}
	rules->count = count;
	rules->need_path = sdp_rules_need_path(rules->rule, count);
	rules->need_cgroup = sdp_rules_need_cgroup(rules->rule, count);
	*made = rules;
	return 0;
}

/* From now on they are in force; under the policy's lock. */
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
 * The hook is in the way of all sockets of the machine, so its administrator
 * may keep it for himself: the capability is the initial user namespace's then,
 * whoever owns the network namespace.
 */
static int may_switch_on(void)
{
	return READ_ONCE(sdp_unprivileged_rewrite) || capable(CAP_NET_ADMIN) ?
	       0 : -EPERM;
}

static int change_locked(struct sdp_policy *policy,
			 struct sdp_policy_change *change)
{
	struct sdp_rules *rules = NULL;
	int err = change->rewrite > 0 ? may_switch_on() : 0;

	if (!err && change->text)
		err = rules_make(policy, change, &rules);
	/* The hook is there from the first time that some namespace wants it. */
	if (!err && change->rewrite > 0)
		err = sdp_hook_begin();
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
 * sdp_policy_change() - change a namespace's policy: all that is asked for, or nothing
 * @net: namespace
 * @change: what shall be otherwise; numbers are within their bounds
 *
 * Return: 0 or an errno: -EINVAL when the text has a mistake, -E2BIG when it is
 * too long, -EPERM when net.sdp.unprivileged_rewrite keeps the current process
 * from switching it on.
 */
int sdp_policy_change(struct net *net, struct sdp_policy_change *change)
{
	struct sdp_policy *policy = sdp_policy(net);
	int err;

	mutex_lock(&policy->lock);
	err = change_locked(policy, change);
	mutex_unlock(&policy->lock);
	return err;
}

/* Part of a text, as a file is read. */
static void show(const char *text, size_t size, void *buffer, size_t *len,
		 loff_t *pos)
{
	size_t n = *pos < size ? min_t(size_t, size - *pos, *len) : 0;

	memcpy(buffer, text + *pos, n);
	*len = n;
	*pos += n;
}

/* The files' modes let user 0 write as well, who need not be its administrator. */
static int may_write(const struct sdp_policy *policy)
{
	return ns_capable(policy->net->user_ns, CAP_NET_ADMIN) ? 0 : -EPERM;
}

static int policy_handler(sdp_ctl_table *table, int write, void *buffer,
			  size_t *len, loff_t *pos)
{
	struct sdp_policy_change change = SDP_POLICY_NO_CHANGE;
	struct sdp_policy *policy = table->extra1;
	const struct sdp_rules *rules;
	int err = write ? may_write(policy) : 0;

	if (err)
		return err;
	mutex_lock(&policy->lock);
	rules = rcu_dereference_protected(policy->rules,
					  lockdep_is_held(&policy->lock));
	if (write) {
		change.text = buffer;
		change.len = *len;
		change.pos = *pos;
		err = change_locked(policy, &change);
	} else {
		show(rules ? rules->text : "", rules ? rules->len : 0, buffer,
		     len, pos);
	}
	if (write && !err)
		*pos += *len;
	mutex_unlock(&policy->lock);
	return err;
}

static int error_handler(sdp_ctl_table *table, int write, void *buffer,
			 size_t *len, loff_t *pos)
{
	struct sdp_policy *policy = table->extra1;
	char text[sizeof(policy->error) + 1];
	int n;

	mutex_lock(&policy->lock);
	n = snprintf(text, sizeof(text), "%s\n", policy->error);
	mutex_unlock(&policy->lock);
	show(text, n, buffer, len, pos);
	return 0;
}

static int rewrite_handler(sdp_ctl_table *table, int write, void *buffer,
			   size_t *len, loff_t *pos)
{
	struct sdp_policy_change change = SDP_POLICY_NO_CHANGE;
	struct sdp_policy *policy = table->extra1;
	struct ctl_table copy = *table;
	int err = write ? may_write(policy) : 0;

	if (err)
		return err;
	mutex_lock(&policy->lock);
	change.rewrite = policy->rewrite;
	copy.data = &change.rewrite;
	copy.extra1 = SYSCTL_ZERO;
	err = proc_dointvec_minmax(&copy, write, buffer, len, pos);
	if (!err && write)
		err = change_locked(policy, &change);
	mutex_unlock(&policy->lock);
	return err;
}

static int wait_handler(sdp_ctl_table *table, int write, void *buffer,
			size_t *len, loff_t *pos)
{
	struct sdp_policy *policy =
		container_of(table->data, struct sdp_policy, fallback_ms);
	int err = write ? may_write(policy) : 0;

	return err ?: proc_dointvec_minmax(table, write, buffer, len, pos);
}

static int memory_handler(sdp_ctl_table *table, int write, void *buffer,
			  size_t *len, loff_t *pos)
{
	struct sdp_policy *policy = container_of(table->data, struct sdp_policy,
						 fallback_memory_ms);
	int err = write ? may_write(policy) : 0;

	return err ?: proc_dointvec_minmax(table, write, buffer, len, pos);
}

static const struct ctl_table template[] = {
	{ .procname = "policy", .maxlen = SDP_POLICY_TEXT_MAX, .mode = 0644,
	  .proc_handler = policy_handler },
	{ .procname = "policy_error", .mode = 0444, .proc_handler = error_handler },
	{ .procname = "rewrite", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = rewrite_handler, .extra2 = SYSCTL_ONE },
	{ .procname = "fallback_ms", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = wait_handler, .extra1 = &wait_min, .extra2 = &wait_max },
	{ .procname = "fallback_memory_ms", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = memory_handler, .extra1 = SYSCTL_ZERO, .extra2 = &wait_max },
	{ }
};

static int sysctl_register(struct net *net, struct sdp_policy *policy)
{
	struct ctl_table *table =
		kmemdup(template, sizeof(template), GFP_KERNEL);

	if (!table)
		return -ENOMEM;
	table[0].extra1 = policy;
	table[1].extra1 = policy;
	table[2].extra1 = policy;
	table[3].data = &policy->fallback_ms;
	table[4].data = &policy->fallback_memory_ms;
	policy->table = table;
	policy->header = sdp_register_net_sysctl(net, "net/sdp", table,
						 ARRAY_SIZE(template) - 1);
	if (policy->header)
		return 0;
	kfree(table);
	return -ENOMEM;
}

static void sysctl_unregister(struct sdp_policy *policy)
{
	unregister_net_sysctl_table(policy->header);
	kfree(policy->table);
}

static int __net_init init_one(struct net *net)
{
	struct sdp_policy *policy = sdp_policy(net);
	int err;

	policy->net = net;
	mutex_init(&policy->lock);
	spin_lock_init(&policy->note_lock);
	policy->fallback_ms = 1000;
	policy->fallback_memory_ms = 60 * 1000;
	err = sysctl_register(net, policy);
	if (err)
		return err;
	err = sdp_fallback_register(net);
	if (err)
		sysctl_unregister(policy);
	return err;
}

static void __net_exit exit_one(struct net *net)
{
	struct sdp_policy *policy = sdp_policy(net);

	sdp_fallback_unregister(net);
	sysctl_unregister(policy);
	sdp_fell_end(policy);
	sdp_rules_put(rcu_dereference_protected(policy->rules, 1));
}

static struct pernet_operations policy_ops = {
	.init	= init_one,
	.exit	= exit_one,
	.id	= &sdp_policy_id,
	.size	= sizeof(struct sdp_policy),
};

/**
 * sdp_policy_init() - namespaces can have a policy from now on; none has
 *
 * Return: 0 or an errno.
 */
int sdp_policy_init(void)
{
	int err = sdp_shim_init();

	if (err)
		return err;
	err = register_pernet_subsys(&policy_ops);
	if (err) {
		sdp_shim_exit();
		return err;
	}
	sdp_reason_init();
	return 0;
}

/**
 * sdp_policy_exit() - undo sdp_policy_init(); there is no undecided socket any more
 */
void sdp_policy_exit(void)
{
	sdp_reason_exit();
	sdp_hook_end();
	unregister_pernet_subsys(&policy_ops);
	sdp_shim_exit();
}
