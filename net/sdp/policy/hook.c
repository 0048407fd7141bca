// SPDX-License-Identifier: GPL-2.0
/*
 * Hook at sock_alloc_file(): where new sockets become undecided.
 *
 * sock_alloc_file() gives a socket its file. Most sockets of the kernel have no
 * file or are marked (sk_kern_sock); sockets of accept(2) have no struct sock
 * yet. NVMe over TCP gives its sockets a file, and in 6.12 no mark; so the hook
 * ignores calls from the code of a module. Any other socket with a sock comes
 * from socket(2), and it does not matter whether its application is statically
 * linked. The kprobe variant does not check the caller. In most kernels that
 * need it NVMe does not yet call sock_alloc_file(); on s390 it may.
 *
 * An ftrace handler runs at the entry of the function. ftrace saves only the
 * arguments for it, which is cheaper than a kprobe: every socket(2) of the
 * machine pays for the hook. Where ftrace cannot pass arguments (s390, arm64
 * before 6.2), a kprobe is used. The handler only replaces the proto_ops
 * pointer.
 *
 * When the hook is installed, a trial socket shows whether the handler runs and
 * gets the argument. Otherwise applications would silently use TCP. The counter
 * PolicyMet shows how many sockets have become undecided.
 */
#include <linux/file.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>

#include "policy_net.h"
#include "undecided.h"

static DEFINE_MUTEX(hook_lock); /* covers hook_open and hook_installed */
static bool hook_open;
static bool hook_installed;
static struct socket *trial_socket; /* socket of probe_try() */
static bool trial_met;

static void notrace hook_new_file(struct socket *sock)
{
	struct sock *sk = sock ? sock->sk : NULL;

	if (!sk || sk->sk_kern_sock || sk->sk_type != SOCK_STREAM ||
	    sk->sk_state != TCP_CLOSE)
		return;
	if (READ_ONCE(sdp_policy(sock_net(sk))->rewrite))
		sdp_shim_attach(sock);
}

/*
 * True for the socket of probe_try(), whose file is created by this module.
 * Notes that the handler has run with the right argument.
 */
static bool notrace is_trial(const struct socket *sock)
{
	if (likely(!sock || sock != READ_ONCE(trial_socket)))
		return false;
	WRITE_ONCE(trial_met, true);
	return true;
}

#ifdef sdp_traced_argument
static bool notrace called_from_module(unsigned long ip)
{
#ifdef MODULES_VADDR
	return ip >= MODULES_VADDR && ip < MODULES_END;
#else
	return false;
#endif
}

static void notrace hook_traced(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops,
				struct ftrace_regs *fregs)
{
	struct socket *sock = (void *)sdp_traced_argument(fregs, 0);

	if (!is_trial(sock) && !called_from_module(parent_ip))
		hook_new_file(sock);
}

/*
 * RECURSION: ftrace drops calls of the traced function from the handler, which
 * makes none. PERMANENT: ftrace cannot be disabled by sysctl meanwhile.
 */
static struct ftrace_ops probe = {
	.func	= hook_traced,
	.flags	= FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_PERMANENT,
};

static int probe_begin(void)
{
	int err = ftrace_set_filter_ip(&probe, (unsigned long)sock_alloc_file,
				       0, 1);

	if (!err)
		err = register_ftrace_function(&probe);
	if (err)
		ftrace_free_filter(&probe);
	return err;
}

static void probe_end(void)
{
	unregister_ftrace_function(&probe);
	ftrace_free_filter(&probe);
}
#else
#ifndef sdp_probed_first
#error "the policy does not know this processor; make SDP_POLICY=n"
#endif

static int hook_probed(struct kprobe *p, struct pt_regs *regs)
{
	struct socket *sock = (void *)sdp_probed_first(regs);

	if (!is_trial(sock))
		hook_new_file(sock);
	return 0;
}

static struct kprobe probe = {
	.symbol_name	= "sock_alloc_file",
	.pre_handler	= hook_probed,
};

/* Without CONFIG_KPROBES the kernel's stub returns an error. */
static int probe_begin(void)
{
	return register_kprobe(&probe);
}

static void probe_end(void)
{
	unregister_kprobe(&probe);
}
#endif

/*
 * Give a socket a file, and check that the handler sees it. The socket has no
 * sock, so nobody else takes interest in it. Called under hook_lock. Returns 0,
 * -EOPNOTSUPP when the handler has not run, or another negative errno.
 */
static int probe_try(void)
{
	struct socket *sock = sock_alloc();
	struct file *file;

	if (!sock)
		return -ENOMEM;
	trial_met = false;
	WRITE_ONCE(trial_socket, sock);
	/* Releases the socket if it fails. */
	file = sock_alloc_file(sock, O_CLOEXEC, "sdp");
	WRITE_ONCE(trial_socket, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	fput(file);
	return READ_ONCE(trial_met) ? 0 : -EOPNOTSUPP;
}

static int hook_install(void)
{
	int err = probe_begin();

	if (err)
		return err;
	err = probe_try() ?: sdp_lsm_begin();
	if (err)
		probe_end();
	return err;
}

/**
 * sdp_hook_allow() - allow the hook; the module is loaded
 *
 * Before that the load can still fail, and the module references of undecided
 * sockets would not keep the module in memory.
 */
void sdp_hook_allow(void)
{
	mutex_lock(&hook_lock);
	hook_open = true;
	mutex_unlock(&hook_lock);
}

/**
 * sdp_hook_install() - install the hook, if it is not installed
 *
 * Called when a namespace enables net.sdp.rewrite. The hook stays until the
 * module is unloaded: installing and removing it takes work on all CPUs, and
 * the owner of a namespace could do so in a loop. May sleep.
 *
 * Return: 0; -EAGAIN while the module is being loaded or unloaded; -ENOMEM;
 * -EOPNOTSUPP when the handler does not run; or the negative errno with which
 * the kernel refuses the hook.
 */
int sdp_hook_install(void)
{
	int err = 0;

	mutex_lock(&hook_lock);
	if (!hook_open) {
		mutex_unlock(&hook_lock);
		return -EAGAIN;
	}
	if (!hook_installed)
		err = hook_install();
	hook_installed |= !err;
	mutex_unlock(&hook_lock);
	if (err)
		pr_warn_once("sdp: cannot trace sock_alloc_file (error %d)\n",
			     err);
	return err;
}

/**
 * sdp_hook_remove() - remove the hook when the module is unloaded
 *
 * The sysctls exist a little longer, and a writer may call sdp_hook_install():
 * it gets -EAGAIN from now on.
 */
void sdp_hook_remove(void)
{
	mutex_lock(&hook_lock);
	hook_open = false;
	if (hook_installed) {
		sdp_lsm_end();
		probe_end();
	}
	hook_installed = false;
	mutex_unlock(&hook_lock);
}
