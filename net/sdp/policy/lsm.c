// SPDX-License-Identifier: GPL-2.0
/*
 * Security modules: they see the TCP socket behind an SDP sock.
 *
 * After an SDP sock has taken the place of a TCP sock, the application may bind
 * or connect its socket once more. Security modules recognize TCP by the
 * protocol of the sock: Landlock ignores other protocols, and SELinux would
 * look the port up under the low 8 bits of IPPROTO_SDP (257). The SDP sock
 * cannot claim to be TCP, because parts of the kernel take such a sock for a
 * struct tcp_sock.
 *
 * But the TCP sock still exists, with a struct socket of its own and the same
 * label as the SDP sock. So ftrace handlers at security_socket_connect() and
 * security_socket_bind() replace the first argument, the application's socket,
 * by the TCP sock's. The system call keeps the application's socket open, and
 * that keeps the other one until it is released.
 */
#include <linux/ftrace.h>
#include <linux/string.h>

#include "policy_net.h"
#include "undecided.h"

#if defined(SDP_TRACED_SET_FIRST) && defined(CONFIG_SECURITY_NETWORK)
static void notrace lsm_redirect(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	struct socket *sock = (void *)sdp_traced_argument(fregs, 0);
	struct socket *tcp = sdp_taken_tcp(sock);

	if (tcp)
		SDP_TRACED_SET_FIRST(fregs, tcp);
}

static struct ftrace_ops lsm_ops = {
	.func	= lsm_redirect,
	.flags	= FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION |
		  FTRACE_OPS_FL_PERMANENT,
};

/* ftrace_set_filter() modifies the string, so it gets a copy. */
static int lsm_trace(const char *function, bool first)
{
	unsigned char name[40];

	strscpy((char *)name, function, sizeof(name));
	return ftrace_set_filter(&lsm_ops, name, strlen(function), first);
}

/**
 * sdp_lsm_begin() - install the handlers for security modules
 *
 * Return: 0, or the negative errno with which the kernel refuses them.
 */
int sdp_lsm_begin(void)
{
	int err = lsm_trace("security_socket_connect", true);

	if (!err)
		err = lsm_trace("security_socket_bind", false);
	if (!err)
		err = register_ftrace_function(&lsm_ops);
	if (err)
		ftrace_free_filter(&lsm_ops);
	return err;
}

/**
 * sdp_lsm_end() - remove the handlers
 */
void sdp_lsm_end(void)
{
	unregister_ftrace_function(&lsm_ops);
	ftrace_free_filter(&lsm_ops);
}
#else
int sdp_lsm_begin(void)
{
	return 0;
}

void sdp_lsm_end(void)
{
}
#endif
