// SPDX-License-Identifier: GPL-2.0
/*
 * Fall-backs: their reasons, counted and shown; and the peers that did not answer, which
 * need not be waited for again for a while.
 */
#include <linux/capability.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/net.h>
#include <linux/pid_namespace.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <net/sock.h>

#include "../control/netns.h"
#include "../control/trace.h"
#include "policy_net.h"

/* Lines of /proc/net/sdp_fallbacks. */
#define SHOWN	32

static const char * const reasons[SDP_FALLBACKS] = {
	[SDP_FELL_NOT]		= "none",
	[SDP_FELL_ROUTE]	= "no RDMA device leads there",
	[SDP_FELL_REFUSED]	= "nobody listens there for SDP",
	[SDP_FELL_TIMEOUT]	= "no answer in time",
	[SDP_FELL_BUSY]		= "its backlog stayed full",
	[SDP_FELL_REMEMBERED]	= "no answer shortly before",
	[SDP_FELL_RESOURCES]	= "no memory or queue pair",
	[SDP_FELL_OPTION]	= "asked for what only TCP has",
	[SDP_FELL_PORT]		= "no such address or port for SDP",
	[SDP_FELL_ERROR]	= "failed",
	[SDP_FELL_MTU]		=
		"the peer's interface takes shorter packets only",
};

/**
 * sdp_fallback_reason() - the reason that an errno stands for
 * @error: positive errno of an SDP socket's bind, connect or listen
 *
 * Return: enum sdp_fallback.
 */
enum sdp_fallback sdp_fallback_reason(int error)
{
	switch (error) {
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENODEV:
	case ENETDOWN:
		return SDP_FELL_ROUTE;
	case ECONNREFUSED:
		return SDP_FELL_REFUSED;
	case ETIMEDOUT:
		return SDP_FELL_TIMEOUT;
	case ENOMEM:
	case ENOBUFS:
	case ENOSPC:
		return SDP_FELL_RESOURCES;
	case EADDRINUSE:
	case EADDRNOTAVAIL:
		return SDP_FELL_PORT;
	case EMSGSIZE:
		return SDP_FELL_MTU;
	default:
		return SDP_FELL_ERROR;
	}
}

static struct sdp_silent *place_of(struct sdp_policy *policy,
				   const struct sdp_endpoint *peer)
{
	u32 hash = jhash(&peer->ip, sizeof(peer->ip), peer->port);

	return &policy->silent[hash >> (32 - SDP_SILENT_BITS)];
}

static bool same(const struct sdp_endpoint *a, const struct sdp_endpoint *b)
{
	return a->port == b->port && a->scope == b->scope &&
	       ipv6_addr_equal(&a->ip, &b->ip);
}

/**
 * sdp_fallback_text() - a reason for people
 * @why: the reason
 *
 * Return: a constant string.
 */
const char *sdp_fallback_text(enum sdp_fallback why)
{
	return reasons[why];
}

/**
 * sdp_fallback_silent_ms() - has a peer let a connect wait for nothing, not long ago?
 * @net: namespace
 * @peer: its address
 *
 * Return: for how long it need not be asked (ms); 0 when it is.
 */
unsigned int sdp_fallback_silent_ms(struct net *net,
				    const struct sdp_endpoint *peer)
{
	struct sdp_policy *policy = sdp_policy(net);
	struct sdp_silent *silent = place_of(policy, peer);
	long left = 0;

	spin_lock_bh(&policy->note_lock);
	if (silent->peer.port && same(&silent->peer, peer))
		left = silent->until - jiffies;
	spin_unlock_bh(&policy->note_lock);
	return left > 0 ? jiffies_to_msecs(left) : 0;
}

/**
 * sdp_fallback_remember() - a peer lets connects wait for nothing, whoever connects
 * @net: namespace
 * @peer: its address
 */
void sdp_fallback_remember(struct net *net, const struct sdp_endpoint *peer)
{
	struct sdp_policy *policy = sdp_policy(net);
	struct sdp_silent *silent = place_of(policy, peer);

	spin_lock_bh(&policy->note_lock);
	silent->peer = *peer;
	silent->until = jiffies +
			msecs_to_jiffies(READ_ONCE(policy->fallback_memory_ms));
	spin_unlock_bh(&policy->note_lock);
}

/**
 * sdp_fallback_describe() - what the current process is about to do by SDP
 * @fell: filled in, but for time and reason; another one may have been there before
 * @sock: its socket
 * @role: listen or connect
 * @where: the address
 */
void sdp_fallback_describe(struct sdp_fell *fell, struct socket *sock,
			   enum sdp_role role, const struct sdp_endpoint *where)
{
	fell->inode = SOCK_INODE(sock)->i_ino;
	put_pid(fell->pid);
	fell->pid = get_task_pid(current, PIDTYPE_TGID);
	get_task_comm(fell->comm, current);
	fell->role = role;
	fell->where = *where;
}

/**
 * sdp_fallback_pid() - the number of a process that fell back
 * @fell: the fall-back
 *
 * Return: as the current process knows it, 0 if it does not.
 */
pid_t sdp_fallback_pid(const struct sdp_fell *fell)
{
	return pid_nr_ns(fell->pid, task_active_pid_ns(current));
}

/**
 * sdp_fallback_note() - a socket became TCP that should have become SDP
 * @net: its namespace
 * @fell: what was wanted
 * @why: the reason
 *
 * May sleep.
 */
void sdp_fallback_note(struct net *net, struct sdp_fell *fell,
		       enum sdp_fallback why)
{
	struct sdp_policy *policy = sdp_policy(net);

	BUILD_BUG_ON(SDP_STAT_FellMtu - SDP_STAT_FellRoute !=
		     SDP_FELL_MTU - SDP_FELL_ROUTE);
	sdp_count(net, SDP_STAT_FellRoute + (why - SDP_FELL_ROUTE), 1);
	if (trace_sdp_fallback_enabled())
		trace_sdp_fallback(fell->role == SDP_ROLE_CONNECT, &fell->where,
				   pid_nr(fell->pid), fell->comm, fell->inode,
				   reasons[why]);
	fell->at = ktime_get_real_seconds();
	fell->why = why;
	sdp_fell_keep(policy, fell);
}

static void show_one(struct seq_file *seq, const struct sdp_fell *fell)
{
	seq_printf(seq, "%lld %d ", fell->at, sdp_fallback_pid(fell));
	seq_escape(seq, fell->comm, " \t\n\\");
	seq_printf(seq, " %s ",
		   fell->role == SDP_ROLE_CONNECT ? "connect" : "listen");
	if (sdp_is_v4(&fell->where))
		seq_printf(seq, "%pI4:%u", &fell->where.ip.s6_addr32[3],
			   fell->where.port);
	else
		seq_printf(seq, "[%pI6c]:%u", &fell->where.ip,
			   fell->where.port);
	seq_printf(seq, " %s\n", reasons[fell->why]);
}

static int fallbacks_show(struct seq_file *seq, void *v)
{
	struct sdp_policy *policy = sdp_policy(seq_file_single_net(seq));
	u64 end = sdp_fell_count(policy);
	u64 number = end > SHOWN ? end - SHOWN : 0;
	struct sdp_fell fell;

	/* The mode asks for user 0 alone. */
	if (!file_ns_capable(seq->file, policy->net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	for (; number < end && sdp_fell_at(policy, &number, &fell); number++) {
		show_one(seq, &fell);
		put_pid(fell.pid);
	}
	return 0;
}

/**
 * sdp_fallback_register() - make the file that shows the last fall-backs of a namespace
 * @net: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_fallback_register(struct net *net)
{
	return proc_create_net_single("sdp_fallbacks", 0400, net->proc_net,
				      fallbacks_show, NULL) ?
		       0 :
		       -ENOMEM;
}

/**
 * sdp_fallback_unregister() - remove it
 * @net: namespace
 */
void sdp_fallback_unregister(struct net *net)
{
	remove_proc_entry("sdp_fallbacks", net->proc_net);
}
