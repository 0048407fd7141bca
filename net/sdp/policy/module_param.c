// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters: the policy of the initial namespace at load time.
 *
 *	insmod sdp.ko policy_file=/etc/sdp/policy rewrite=1
 *
 * The module is loaded even if the file has a mistake. There are no rules then,
 * and applications use TCP.
 */
#include <linux/kernel_read_file.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "policy.h"
#include "policy_net.h"

static char *policy_file;
module_param(policy_file, charp, 0444);
MODULE_PARM_DESC(policy_file,
		 "File with the initial net.sdp.policy");

static bool rewrite;
module_param(rewrite, bool, 0);
MODULE_PARM_DESC(rewrite, "Initial value of net.sdp.rewrite");

static void log_policy_mistake(const struct sdp_policy_change *change, int err)
{
	if (change->wrong.what)
		pr_err("sdp: %s:%u:%u: expected %s; no rules are set\n",
		       policy_file, change->wrong.line, change->wrong.column,
		       change->wrong.what);
	else
		pr_err("sdp: %s: error %d; no rules are set\n", policy_file,
		       err);
}

static void load_policy_file(void)
{
	struct sdp_policy_change change = SDP_POLICY_NO_CHANGE;
	void *text = NULL;
	ssize_t len;
	int err;

	len = kernel_read_file_from_path(policy_file, 0, &text,
					 SDP_POLICY_TEXT_MAX, NULL,
					 READING_POLICY);
	if (len < 0) {
		pr_err("sdp: cannot read policy file %s (error %zd); no rules are set\n",
		       policy_file, len);
		return;
	}
	change.text = text;
	change.len = len;
	err = sdp_policy_change(&init_net, &change);
	if (err)
		log_policy_mistake(&change, err);
	vfree(text);
}

/**
 * sdp_policy_apply_params() - apply the module parameters
 *
 * The last step of module load, which cannot fail any more: from here on
 * sockets may hold references to the module.
 */
void sdp_policy_apply_params(void)
{
	struct sdp_policy_change on = SDP_POLICY_NO_CHANGE;

	sdp_hook_allow();
	if (policy_file)
		load_policy_file();
	on.rewrite = 1;
	if (rewrite && sdp_policy_change(&init_net, &on))
		pr_err("sdp: cannot set rewrite=1\n");
}
