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

static DEFINE_MUTEX(lock); /* covers hooked */
static bool hooked;

static int new_file(struct kprobe *p, struct pt_regs *regs)
{
	struct socket *sock = (struct socket *)regs_get_kernel_argument(regs, 0);
	struct sock *sk = sock ? sock->sk : NULL;

	if (!sk || sk->sk_kern_sock || sk->sk_type != SOCK_STREAM || sk->sk_state != TCP_CLOSE)
		return 0;
	if (READ_ONCE(sdp_policy(sock_net(sk))->rewrite))
		sdp_shim_begin(sock);
	return 0;
}

static struct kprobe probe = {
	.symbol_name	= "sock_alloc_file",
	.pre_handler	= new_file,
};

/**
 * sdp_hook_begin() - a namespace wants its programs' sockets to be looked at
 *
 * The probe stays until the module goes: to put it in and take it out is work for the whole
 * machine, and a namespace's owner might do so in a loop.
 *
 * Return: 0, or why this kernel does not allow it.
 */
int sdp_hook_begin(void)
{
	int err = 0;

	mutex_lock(&lock);
	if (!hooked)
		err = register_kprobe(&probe);
	hooked |= !err;
	mutex_unlock(&lock);
	if (err)
		pr_warn_once("sdp: no kprobe at sock_alloc_file (%d): net.sdp.rewrite needs CONFIG_KPROBES\n",
			     err);
	return err;
}

/**
 * sdp_hook_end() - no socket is looked at any more
 */
void sdp_hook_end(void)
{
	if (hooked)
		unregister_kprobe(&probe);
	hooked = false;
}
