// SPDX-License-Identifier: GPL-2.0
/*
 * The one place where new TCP sockets of programs are met: sock_alloc_file(), which gives a
 * socket its file. Most sockets of the kernel's own have none, or are marked as such, and those
 * of accept() have no struct sock yet. So what comes by here with one, and not from a module's
 * code, is what socket(2) has made, by whatever program, statically linked or not. (NVMe over TCP
 * gives its sockets a file, and in 6.12 no mark. Where it is a kprobe, below, callers are not told
 * apart: such kernels are older than that.)
 *
 * ftrace calls us at the function's entry. It saves no more than the arguments then, which makes
 * it cheaper than a kprobe: every socket(2) of the machine pays for it. Where it cannot (arm64
 * before 6.2) it is a kprobe. The handler only exchanges a pointer.
 *
 * Whether the handler is called at all, and with the function's argument, is
 * tried when the hook is put in: programs would be TCP without a word
 * otherwise. PolicyMet counts the sockets that come by.
 */
#include <linux/file.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>

#include "undecided.h"
#include "policy_net.h"

static DEFINE_MUTEX(lock); /* covers open and hooked */
static bool open;
static bool hooked;
static struct socket *trial; /* what probe_try() waits for */
static bool trial_met;

static void notrace new_file(struct socket *sock)
{
	struct sock *sk = sock ? sock->sk : NULL;

	if (!sk || sk->sk_kern_sock || sk->sk_type != SOCK_STREAM ||
	    sk->sk_state != TCP_CLOSE)
		return;
	if (READ_ONCE(sdp_policy(sock_net(sk))->rewrite))
		sdp_shim_begin(sock);
}

/* The socket is nobody's, and the caller of the function is this module. */
static bool notrace is_trial(const struct socket *sock)
{
	if (likely(!sock || sock != READ_ONCE(trial)))
		return false;
	WRITE_ONCE(trial_met, true);
	return true;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
static bool notrace in_module(unsigned long ip)
{
#ifdef MODULES_VADDR
	return ip >= MODULES_VADDR && ip < MODULES_END;
#else
	return false;
#endif
}

static void notrace traced(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct socket *sock = (struct socket *)sdp_traced_argument(fregs, 0);

	if (!is_trial(sock) && !in_module(parent_ip))
		new_file(sock);
}

/* Nothing that the handler calls comes by the function; to switch tracing off is refused. */
static struct ftrace_ops probe = {
	.func	= traced,
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
static int probed(struct kprobe *p, struct pt_regs *regs)
{
	struct socket *sock = (void *)regs_get_kernel_argument(regs, 0);

	if (!is_trial(sock))
		new_file(sock);
	return 0;
}

static struct kprobe probe = {
	.symbol_name	= "sock_alloc_file",
	.pre_handler	= probed,
};

/* Without CONFIG_KPROBES the kernel's stub says so. */
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
 * Give a socket a file, and see whether the handler hears of it. The socket has
 * no struct sock, so it is of interest to nobody else. Under @lock.
 */
static int probe_try(void)
{
	struct socket *sock = sock_alloc();
	struct file *file;

	if (!sock)
		return -ENOMEM;
	trial_met = false;
	WRITE_ONCE(trial, sock);
	/* Releases the socket when it fails. */
	file = sock_alloc_file(sock, O_CLOEXEC, "sdp");
	WRITE_ONCE(trial, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	fput(file);
	return READ_ONCE(trial_met) ? 0 : -EOPNOTSUPP;
}

static int hook(void)
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
 * sdp_hook_open() - sockets may be looked at from now on, for the module is there to stay
 *
 * What is met holds the module, which helps nothing as long as loading it can fail.
 */
void sdp_hook_open(void)
{
	mutex_lock(&lock);
	open = true;
	mutex_unlock(&lock);
}

/**
 * sdp_hook_begin() - a namespace wants its programs' sockets to be looked at
 *
 * The probe stays until the module goes: to put it in and take it out is work for the whole
 * machine, and a namespace's owner might do so in a loop.
 *
 * Return: 0, -EAGAIN while the module comes or goes, -ENOMEM, or why this
 * kernel does not allow it: -EOPNOTSUPP also when the probe is in, and its
 * handler hears of nothing.
 */
int sdp_hook_begin(void)
{
	int err = 0;

	mutex_lock(&lock);
	if (!open) {
		mutex_unlock(&lock);
		return -EAGAIN;
	}
	if (!hooked)
		err = hook();
	hooked |= !err;
	mutex_unlock(&lock);
	if (err)
		pr_warn_once(
			"sdp: sock_alloc_file cannot be traced (%d), so net.sdp.rewrite cannot be on\n",
			err);
	return err;
}

/**
 * sdp_hook_end() - no socket is looked at any more
 *
 * The settings are there a little longer, and somebody may be writing them.
 */
void sdp_hook_end(void)
{
	mutex_lock(&lock);
	open = false;
	if (hooked) {
		sdp_lsm_end();
		probe_end();
	}
	hooked = false;
	mutex_unlock(&lock);
}
