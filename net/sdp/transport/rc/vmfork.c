// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: a virtual machine that goes on from a snapshot.
 *
 * Its connections stand where they stood when the snapshot was taken, and so do their sequence
 * numbers; those of the peers have gone on. What it says again, or says otherwise, would be taken
 * for what comes next wherever the numbers meet. And of two copies of one machine each would hold
 * the same connections. So all of them end, as soon as the hypervisor tells that this has happened
 * (VM generation ID), which the kernel passes on after it has made its random numbers anew.
 */
#include <linux/notifier.h>
#include <linux/random.h>

#include "rc.h"

static int forked(struct notifier_block *block, unsigned long action,
		  void *data)
{
	rc_device_fail_all(ECONNRESET, "machine copied");
	return NOTIFY_DONE;
}

static struct notifier_block fork_block = { .notifier_call = forked };

/**
 * rc_fork_init() - hear of it
 *
 * Return: 0 or an errno.
 */
int rc_fork_init(void)
{
	return register_random_vmfork_notifier(&fork_block);
}

/**
 * rc_fork_exit() - do not any more
 */
void rc_fork_exit(void)
{
	unregister_random_vmfork_notifier(&fork_block);
}
