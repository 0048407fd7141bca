// SPDX-License-Identifier: GPL-2.0
/*
 * What a security module is asked about when a socket of the policy's is bound
 * or connected once more, after an SDP sock has taken the place of its TCP
 * sock: the TCP socket, as before.
 *
 * Security modules know TCP's ports, and tell TCP by the protocol of the sock:
 * Landlock asks nobody about another one, and SELinux would look the port up
 * under the protocol 257 & 255. The sock cannot call itself TCP instead, for
 * parts of the kernel take what does for a struct tcp_sock. But the TCP sock is
 * there all the time, with a struct socket of its own and the label that both
 * have. So where the kernel asks (security_socket_connect(),
 * security_socket_bind()), ftrace lets us put that socket in place of the
 * program's.
 *
 * The program's call holds its socket, which keeps the other one until it is
 * released.
 */
#include <linux/ftrace.h>
#include <linux/string.h>

#include "../conn/sock.h"
#include "undecided.h"
#include "policy_net.h"

#if defined(SDP_TRACED_SET_FIRST) && defined(CONFIG_SECURITY_NETWORK)
static void notrace asked(unsigned long ip, unsigned long parent_ip,
			  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct socket *sock = (void *)sdp_traced_argument(fregs, 0);
	struct socket *tcp = sdp_taken_tcp(sock);

	if (tcp)
		SDP_TRACED_SET_FIRST(fregs, tcp);
}

static struct ftrace_ops asks = {
	.func	= asked,
	.flags	= FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION |
		  FTRACE_OPS_FL_PERMANENT,
};

/* The name is taken apart where it is. */
static int trace(const char *function, bool first)
{
	unsigned char name[40];

	strscpy((char *)name, function, sizeof(name));
	return ftrace_set_filter(&asks, name, strlen(function), first);
}

/**
 * sdp_lsm_begin() - security modules are asked about TCP sockets from now on
 *
 * Return: 0, or why this kernel does not allow it.
 */
int sdp_lsm_begin(void)
{
	int err = trace("security_socket_connect", true);

	if (!err)
		err = trace("security_socket_bind", false);
	if (!err)
		err = register_ftrace_function(&asks);
	if (err)
		ftrace_free_filter(&asks);
	return err;
}

/**
 * sdp_lsm_end() - undo sdp_lsm_begin()
 */
void sdp_lsm_end(void)
{
	unregister_ftrace_function(&asks);
	ftrace_free_filter(&asks);
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
