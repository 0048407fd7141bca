// SPDX-License-Identifier: GPL-2.0
/*
 * The one place where new TCP sockets of programs are met: sock_alloc_file(), which gives a
 * socket its file. Sockets of the kernel's own have none, or are marked as such; those of
 * accept() have no struct sock yet. So what comes by here with one is what socket(2) has made,
 * by whatever program, statically linked or not.
 *
 * A kprobe at the function's entry, which is a call by ftrace on kernels that have it. The
 * handler runs with preemption off, and only exchanges a pointer.
 */
#include <linux/kprobes.h>
#include <linux/mutex.h>

#include "shim.h"
#include "state.h"

static DEFINE_MUTEX(lock); /* covers users */
static int users;

static int new_file(struct kprobe *p, struct pt_regs *regs)
{
	struct socket *sock = (struct socket *)regs_get_kernel_argument(regs, 0);
	struct sock *sk = sock ? sock->sk : NULL;

	if (!sk || sk->sk_kern_sock || sk->sk_type != SOCK_STREAM)
		return 0;
	if (READ_ONCE(sdp_policy(sock_net(sk))->rewrite))
		sdp_shim_begin(sock);
	return 0;
}

static struct kprobe probe;

/**
 * sdp_hook_get() - a namespace wants its programs' sockets to be looked at
 *
 * Return: 0, or why this kernel does not allow it.
 */
int sdp_hook_get(void)
{
	int err = 0;

	mutex_lock(&lock);
	if (!users) {
		/* What register_kprobe() has left in it from an earlier time is in its way. */
		probe = (struct kprobe) {
			.symbol_name	= "sock_alloc_file",
			.pre_handler	= new_file,
		};
		err = register_kprobe(&probe);
	}
	if (!err)
		users++;
	mutex_unlock(&lock);
	if (err)
		pr_warn("sdp: no kprobe at sock_alloc_file (%d): net.sdp.rewrite needs CONFIG_KPROBES\n",
			err);
	return err;
}

/**
 * sdp_hook_put() - a namespace does not want it any more
 */
void sdp_hook_put(void)
{
	mutex_lock(&lock);
	if (!--users)
		unregister_kprobe(&probe);
	mutex_unlock(&lock);
}
