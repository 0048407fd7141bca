// SPDX-License-Identifier: GPL-2.0
/*
 * Policy of a network namespace: made with it, freed with it.
 */
#include <linux/slab.h>

#include "../base/netns.h"
#include "policy.h"
#include "policy_net.h"
#include "undecided.h"

static int __net_init policy_net_init(struct net *net)
{
	struct sdp_policy *policy = sdp_policy(net);
	int err;

	policy->net = net;
	mutex_init(&policy->lock);
	spin_lock_init(&policy->note_lock);
	policy->fallback_ms = 1000;
	policy->fallback_memory_ms = 60 * 1000;
	err = sdp_policy_sysctl_register(policy);
	if (err)
		return err;
	err = sdp_fallback_register(net);
	if (err)
		sdp_policy_sysctl_unregister(policy);
	return err;
}

static void __net_exit policy_net_exit(struct net *net)
{
	struct sdp_policy *policy = sdp_policy(net);

	sdp_fallback_unregister(net);
	sdp_policy_sysctl_unregister(policy);
	sdp_fallback_log_free(policy);
	sdp_rules_put(rcu_dereference_protected(policy->rules, 1));
}

static struct pernet_operations policy_ops = {
	.init	= policy_net_init,
	.exit	= policy_net_exit,
	.id	= &sdp_policy_id,
	.size	= sizeof(struct sdp_policy),
};

/**
 * sdp_policy_init() - give every namespace an empty policy
 *
 * Creates the sysctls and /proc/net/sdp_fallbacks. net.sdp.rewrite begins as 0
 * in every namespace.
 *
 * Return: 0 or an errno.
 */
int sdp_policy_init(void)
{
	int err = sdp_shim_init();

	if (err)
		return err;
	err = register_pernet_subsys(&policy_ops);
	if (err)
		goto shim;
	err = sdp_policy_sysctl_init();
	if (err)
		goto namespaces;
	sdp_fallback_sockopt_init();
	return 0;

namespaces:
	unregister_pernet_subsys(&policy_ops);
shim:
	sdp_shim_exit();
	return err;
}

/**
 * sdp_policy_exit() - undo sdp_policy_init()
 *
 * Called at module unload, when no undecided socket exists any more.
 */
void sdp_policy_exit(void)
{
	sdp_fallback_sockopt_exit();
	sdp_hook_remove();
	sdp_policy_sysctl_exit();
	unregister_pernet_subsys(&policy_ops);
	sdp_shim_exit();
}
