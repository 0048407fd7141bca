// SPDX-License-Identifier: GPL-2.0
/*
 * Fallbacks to TCP: reasons, counters and peers that do not answer.
 *
 * A fallback happens when a socket whose verdict is "both" becomes TCP. Each
 * one is counted in /proc/net/sdpstat, traced (sdp_fallback) and kept by
 * fallback_log.c. The latest are shown in /proc/net/sdp_fallbacks.
 *
 * A namespace also remembers peers whose answer a connect waited for in vain.
 * For net.sdp.fallback_memory_ms a connect to such a peer uses TCP at once.
 * The table has a fixed size and is indexed by a hash: a new peer overwrites
 * the old one in its slot. The policy's note_lock covers it.
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

#include "../base/netns.h"
#include "../base/trace.h"
#include "policy_net.h"

/* Number of lines in /proc/net/sdp_fallbacks. */
#define FALLBACKS_SHOWN	32

static const char * const fallback_reasons[SDP_FALLBACKS] = {
	[SDP_FELL_NOT]		= "none",
	[SDP_FELL_ROUTE]	= "no RDMA device on the route",
	[SDP_FELL_REFUSED]	= "the peer has no SDP listener",
	[SDP_FELL_TIMEOUT]	= "no answer in time",
	[SDP_FELL_BUSY]		= "the peer's backlog stayed full",
	[SDP_FELL_REMEMBERED]	= "the peer recently did not answer",
	[SDP_FELL_RESOURCES]	= "no memory or queue pair",
	[SDP_FELL_OPTION]	= "an option that only TCP has is set",
	[SDP_FELL_PORT]		= "SDP cannot use the address or port",
	[SDP_FELL_ERROR]	= "failed",
	[SDP_FELL_MTU]		=
		"the peer's interface has a smaller MTU",
};

/**
 * sdp_fallback_reason() - the reason for a fallback that an errno implies
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

static struct sdp_silent *silent_slot(struct sdp_policy *policy,
				      const struct sdp_endpoint *peer)
{
	u32 hash = jhash(&peer->ip, sizeof(peer->ip), peer->port);

	return &policy->silent[hash >> (32 - SDP_SILENT_BITS)];
}

static bool same_endpoint(const struct sdp_endpoint *a,
			  const struct sdp_endpoint *b)
{
	return a->port == b->port && a->scope == b->scope &&
	       ipv6_addr_equal(&a->ip, &b->ip);
}

/**
 * sdp_fallback_text() - describe a reason in words
 * @why: the reason
 *
 * Return: a constant string.
 */
const char *sdp_fallback_text(enum sdp_fallback why)
{
	return fallback_reasons[why];
}

/**
 * sdp_fallback_silent_ms() - check whether a peer recently did not answer
 * @net: namespace
 * @peer: the peer's address and port
 *
 * Takes the policy's note_lock.
 *
 * Return: how long SDP connects to @peer are still skipped, in milliseconds;
 * 0 when SDP may be tried.
 */
unsigned int sdp_fallback_silent_ms(struct net *net,
				    const struct sdp_endpoint *peer)
{
	struct sdp_policy *policy = sdp_policy(net);
	struct sdp_silent *silent = silent_slot(policy, peer);
	long left = 0;

	spin_lock_bh(&policy->note_lock);
	if (silent->peer.port && same_endpoint(&silent->peer, peer))
		left = silent->until - jiffies;
	spin_unlock_bh(&policy->note_lock);
	return left > 0 ? jiffies_to_msecs(left) : 0;
}

/**
 * sdp_fallback_remember() - remember that a peer did not answer
 * @net: namespace
 * @peer: the peer's address and port
 *
 * Affects all sockets of @net, so the caller passes only peers that would not
 * have answered another socket either. Takes the policy's note_lock.
 */
void sdp_fallback_remember(struct net *net, const struct sdp_endpoint *peer)
{
	struct sdp_policy *policy = sdp_policy(net);
	struct sdp_silent *silent = silent_slot(policy, peer);

	spin_lock_bh(&policy->note_lock);
	silent->peer = *peer;
	silent->until = jiffies +
			msecs_to_jiffies(READ_ONCE(policy->fallback_memory_ms));
	spin_unlock_bh(&policy->note_lock);
}

/**
 * sdp_fallback_describe() - record what the current process is about to do
 * @fell: filled in, except for the time and the reason; it may describe an
 *	earlier attempt, whose pid reference is dropped
 * @sock: the socket
 * @role: whether the socket is about to listen or to connect
 * @where: the address that it is bound to or connects to
 *
 * @fell holds a reference to the process's pid, which its owner drops.
 */
void sdp_fallback_describe(struct sdp_fallback_record *fell,
			   struct socket *sock, enum sdp_role role,
			   const struct sdp_endpoint *where)
{
	fell->inode = SOCK_INODE(sock)->i_ino;
	put_pid(fell->pid);
	fell->pid = get_task_pid(current, PIDTYPE_TGID);
	get_task_comm(fell->comm, current);
	fell->role = role;
	fell->where = *where;
}

/**
 * sdp_fallback_pid() - ID of the process whose socket fell back
 * @fell: the fallback
 *
 * Return: the process ID in the current process's PID namespace, 0 if there is
 * none.
 */
pid_t sdp_fallback_pid(const struct sdp_fallback_record *fell)
{
	return pid_nr_ns(fell->pid, task_active_pid_ns(current));
}

/**
 * sdp_fallback_note() - count, trace and keep a fallback
 * @net: namespace of the socket
 * @fell: the socket and what it wanted; its time and reason are set here
 * @why: the reason
 *
 * May sleep.
 */
void sdp_fallback_note(struct net *net, struct sdp_fallback_record *fell,
		       enum sdp_fallback why)
{
	struct sdp_policy *policy = sdp_policy(net);

	BUILD_BUG_ON(SDP_STAT_FellMtu - SDP_STAT_FellRoute !=
		     SDP_FELL_MTU - SDP_FELL_ROUTE);
	sdp_count(net, SDP_STAT_FellRoute + (why - SDP_FELL_ROUTE), 1);
	if (trace_sdp_fallback_enabled())
		trace_sdp_fallback(fell->role == SDP_ROLE_CONNECT, &fell->where,
				   pid_nr(fell->pid), fell->comm, fell->inode,
				   fallback_reasons[why]);
	fell->at = ktime_get_real_seconds();
	fell->why = why;
	sdp_fallback_log_add(policy, fell);
}

static void fallback_show(struct seq_file *seq,
			  const struct sdp_fallback_record *fell)
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
	seq_printf(seq, " %s\n", fallback_reasons[fell->why]);
}

static int fallbacks_show(struct seq_file *seq, void *v)
{
	struct sdp_policy *policy = sdp_policy(seq_file_single_net(seq));
	u64 end = sdp_fell_count(policy);
	u64 number = end > FALLBACKS_SHOWN ? end - FALLBACKS_SHOWN : 0;
	struct sdp_fallback_record fell;

	/* Mode 0400 admits user 0, who need not have the capability. */
	if (!file_ns_capable(seq->file, policy->net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	for (; number < end && sdp_fallback_log_read(policy, &number, &fell);
	     number++) {
		fallback_show(seq, &fell);
		put_pid(fell.pid);
	}
	return 0;
}

/**
 * sdp_fallback_register() - create /proc/net/sdp_fallbacks of a namespace
 * @net: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_fallback_register(struct net *net)
{
	return proc_create_net_single("sdp_fallbacks", 0400, net->proc_net,
				      fallbacks_show, NULL) ? 0 : -ENOMEM;
}

/**
 * sdp_fallback_unregister() - remove /proc/net/sdp_fallbacks of a namespace
 * @net: namespace
 */
void sdp_fallback_unregister(struct net *net)
{
	remove_proc_entry("sdp_fallbacks", net->proc_net);
}
