// SPDX-License-Identifier: GPL-2.0
/*
 * Sysctls of the policy: net.sdp.policy, rewrite, fallback_ms and others.
 *
 * Each namespace has its own table; net.sdp.unprivileged_rewrite is the
 * machine's and exists in the initial namespace only.
 */
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "../netlink_gen.h"
#include "policy_net.h"

/* Netlink requests have the same limits. */
static int wait_min = SDP_WAIT_MIN_MS;
static int wait_max = SDP_WAIT_MAX_MS;

/* Copies the part of a text that read(2) asks for. */
static void sysctl_show_text(const char *text, size_t size, void *buffer,
			     size_t *len, loff_t *pos)
{
	size_t n = *pos < size ? min_t(size_t, size - *pos, *len) : 0;

	memcpy(buffer, text + *pos, n);
	*len = n;
	*pos += n;
}

/*
 * The mode of the files lets user 0 write, who need not be the administrator
 * of the namespace. So writing also takes CAP_NET_ADMIN. Returns 0 or -EPERM.
 */
static int sysctl_write_permission(const struct sdp_policy *policy)
{
	return ns_capable(policy->net->user_ns, CAP_NET_ADMIN) ? 0 : -EPERM;
}

static int policy_handler(sdp_ctl_table *table, int write, void *buffer,
			  size_t *len, loff_t *pos)
{
	struct sdp_policy_change change = SDP_POLICY_NO_CHANGE;
	struct sdp_policy *policy = table->extra1;
	const struct sdp_rules *rules;
	int err = write ? sysctl_write_permission(policy) : 0;

	if (err)
		return err;
	mutex_lock(&policy->lock);
	rules = rcu_dereference_protected(policy->rules,
					  lockdep_is_held(&policy->lock));
	if (write) {
		change.text = buffer;
		change.len = *len;
		change.pos = *pos;
		err = sdp_policy_change_locked(policy, &change);
	} else {
		sysctl_show_text(rules ? rules->text : "",
				 rules ? rules->len : 0, buffer, len, pos);
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
	sysctl_show_text(text, n, buffer, len, pos);
	return 0;
}

static int rewrite_handler(sdp_ctl_table *table, int write, void *buffer,
			   size_t *len, loff_t *pos)
{
	struct sdp_policy_change change = SDP_POLICY_NO_CHANGE;
	struct sdp_policy *policy = table->extra1;
	struct ctl_table copy = *table;
	int err = write ? sysctl_write_permission(policy) : 0;

	if (err)
		return err;
	mutex_lock(&policy->lock);
	change.rewrite = policy->rewrite;
	copy.data = &change.rewrite;
	copy.extra1 = SYSCTL_ZERO;
	err = proc_dointvec_minmax(&copy, write, buffer, len, pos);
	if (!err && write)
		err = sdp_policy_change_locked(policy, &change);
	mutex_unlock(&policy->lock);
	return err;
}

static int fallback_ms_handler(sdp_ctl_table *table, int write, void *buffer,
			       size_t *len, loff_t *pos)
{
	struct sdp_policy *policy = container_of(table->data, struct sdp_policy,
						 fallback_ms);
	int err = write ? sysctl_write_permission(policy) : 0;

	return err ?: proc_dointvec_minmax(table, write, buffer, len, pos);
}

static int fallback_memory_handler(sdp_ctl_table *table, int write,
				   void *buffer, size_t *len, loff_t *pos)
{
	struct sdp_policy *policy = container_of(table->data, struct sdp_policy,
						 fallback_memory_ms);
	int err = write ? sysctl_write_permission(policy) : 0;

	return err ?: proc_dointvec_minmax(table, write, buffer, len, pos);
}

static const struct ctl_table policy_sysctls[] = {
	{ .procname = "policy", .maxlen = SDP_POLICY_TEXT_MAX, .mode = 0644,
	  .proc_handler = policy_handler },
	{ .procname = "policy_error", .mode = 0444,
	  .proc_handler = error_handler },
	{ .procname = "rewrite", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = rewrite_handler, .extra2 = SYSCTL_ONE },
	{ .procname = "fallback_ms", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = fallback_ms_handler,
	  .extra1 = &wait_min, .extra2 = &wait_max },
	{ .procname = "fallback_memory_ms", .maxlen = sizeof(int), .mode = 0644,
	  .proc_handler = fallback_memory_handler,
	  .extra1 = SYSCTL_ZERO, .extra2 = &wait_max },
	{ }
};

/**
 * sdp_policy_sysctl_register() - register the sysctls of a namespace's policy
 * @policy: its policy
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_policy_sysctl_register(struct sdp_policy *policy)
{
	struct ctl_table *table =
		kmemdup(policy_sysctls, sizeof(policy_sysctls), GFP_KERNEL);

	if (!table)
		return -ENOMEM;
	table[0].extra1 = policy;
	table[1].extra1 = policy;
	table[2].extra1 = policy;
	table[3].data = &policy->fallback_ms;
	table[4].data = &policy->fallback_memory_ms;
	policy->table = table;
	policy->header =
		sdp_register_net_sysctl(policy->net, "net/sdp", table,
					ARRAY_SIZE(policy_sysctls) - 1);
	if (policy->header)
		return 0;
	kfree(table);
	return -ENOMEM;
}

/**
 * sdp_policy_sysctl_unregister() - undo sdp_policy_sysctl_register()
 * @policy: the namespace's policy
 */
void sdp_policy_sysctl_unregister(struct sdp_policy *policy)
{
	unregister_net_sysctl_table(policy->header);
	kfree(policy->table);
}

static struct ctl_table machine_sysctls[] = {
	{ .procname = "unprivileged_rewrite",
	  .data = &sdp_unprivileged_rewrite,
	  .maxlen = sizeof(sdp_unprivileged_rewrite), .mode = 0644,
	  .proc_handler = proc_dointvec_minmax,
	  .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_ONE },
	{ }
};

static struct ctl_table_header *machine_header;

/**
 * sdp_policy_sysctl_init() - register the sysctl of the whole machine
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_policy_sysctl_init(void)
{
	machine_header =
		sdp_register_net_sysctl(&init_net, "net/sdp", machine_sysctls,
					ARRAY_SIZE(machine_sysctls) - 1);
	return machine_header ? 0 : -ENOMEM;
}

/**
 * sdp_policy_sysctl_exit() - undo sdp_policy_sysctl_init()
 */
void sdp_policy_sysctl_exit(void)
{
	unregister_net_sysctl_table(machine_header);
}
