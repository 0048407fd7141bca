// SPDX-License-Identifier: GPL-2.0
/*
 * RC transport: end of connections when a VM resumes from a snapshot.
 *
 * A virtual machine that resumes from a snapshot finds its connections and
 * their sequence numbers as they were when the snapshot was taken. The peers'
 * numbers have advanced since. A peer would take the machine's packets for
 * repetitions until the numbers meet, and from then on for new ones, whatever
 * the packets contain. And two copies of one machine would hold the same
 * connections. So all connections end as soon as the hypervisor reports a copy
 * (VM generation ID). The kernel passes the report on after it has reseeded its
 * random numbers.
 */
#include <linux/notifier.h>
#include <linux/random.h>

#include "rc.h"

static int vmfork_notify(struct notifier_block *block, unsigned long action,
			 void *data)
{
	rc_device_fail_all(ECONNRESET, "virtual machine was copied");
	return NOTIFY_DONE;
}

static struct notifier_block vmfork_block = { .notifier_call = vmfork_notify };

/**
 * rc_fork_init() - register for reports that the machine was copied
 *
 * Return: 0 or an errno.
 */
int rc_fork_init(void)
{
	return register_random_vmfork_notifier(&vmfork_block);
}

/**
 * rc_fork_exit() - undo rc_fork_init()
 */
void rc_fork_exit(void)
{
	unregister_random_vmfork_notifier(&vmfork_block);
}
