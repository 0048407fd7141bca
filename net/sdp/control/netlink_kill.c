// SPDX-License-Identifier: GPL-2.0
/*
 * Ending connections from outside their applications.
 *
 * There are three causes: a netlink request that names the connection
 * (SDP_CMD_SOCK_KILL), one of sock_diag (sock_diag.c), and the removal of the
 * connection's local address (removed.c). The application gets ECONNABORTED, as
 * with TCP, and the peer sees a reset.
 *
 * The sockets of a namespace are searched under RCU. A matching connection is
 * ended outside of RCU, under its own lock; a reference keeps the socket.
 */
#include "genl.h"
#include "../conn/conn.h"
#include "netlink_kill.h"
#include "../netlink_gen.h"
#include "sock_iter.h"

/**
 * sdp_kill_sock() - end a connection, or a connect in progress
 * @ssk: socket, with a reference
 * @why: the reason, for the tracepoint
 *
 * Return: false when the socket had neither.
 */
bool sdp_kill_sock(struct sdp_sock *ssk, const char *why)
{
	struct sdp_todo todo = { };
	bool there;

	sdp_conn_lock(ssk);
	there = ssk->link || ssk->sk.sk_state == TCP_SYN_SENT;
	if (there)
		sdp_conn_fail(ssk, ECONNABORTED, why, &todo);
	sdp_conn_unlock(ssk, &todo);
	return there;
}

typedef bool (*kill_wanted)(struct sdp_sock *ssk, const void *arg);

/*
 * Return the next socket at or after @pos for which @wanted is true, with a
 * reference, or NULL. @pos moves behind it.
 */
static struct sdp_sock *kill_next(struct sdp_net *sn, loff_t *pos,
				  kill_wanted wanted, const void *arg)
{
	struct sdp_sock *ssk;

	rcu_read_lock();
	ssk = sdp_socks_at(sn, pos);
	while (ssk && !(wanted(ssk, arg) &&
			refcount_inc_not_zero(&ssk->sk.sk_refcnt)))
		ssk = sdp_socks_next(sn, ssk, pos);
	rcu_read_unlock();
	if (ssk)
		(*pos)++;
	return ssk;
}

static unsigned int kill_all(struct net *net, kill_wanted wanted,
			     const void *arg, const char *why)
{
	loff_t pos = SDP_SOCKS_BEGIN;
	unsigned int ended = 0;
	struct sdp_sock *ssk;

	while ((ssk = kill_next(sdp_net(net), &pos, wanted, arg))) {
		ended += sdp_kill_sock(ssk, why);
		sock_put(&ssk->sk);
		cond_resched();
	}
	return ended;
}

/**
 * struct kill_target - the connection that a request names
 * @local: address and port of its local end
 * @peer: address and port of the peer
 * @inode: inode number of the socket, or 0 for any
 */
struct kill_target {
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	u64 inode;
};

static bool kill_same_end(const struct sdp_endpoint *one,
			  const struct sdp_endpoint *other)
{
	return one->port == other->port &&
	       ipv6_addr_equal(&one->ip, &other->ip);
}

static bool kill_is_target(struct sdp_sock *ssk, const void *arg)
{
	const struct kill_target *v = arg;
	bool same;

	spin_lock_bh(&ssk->lock);
	same = kill_same_end(&ssk->local, &v->local) &&
	       kill_same_end(&ssk->peer, &v->peer);
	spin_unlock_bh(&ssk->lock);
	return same && (!v->inode || v->inode == sock_i_ino(&ssk->sk));
}

/* Is @arg, a struct sdp_endpoint, the socket's local address? Any port. */
static bool kill_has_address(struct sdp_sock *ssk, const void *arg)
{
	const struct sdp_endpoint *e = arg;
	bool same;

	spin_lock_bh(&ssk->lock);
	same = ipv6_addr_equal(&ssk->local.ip, &e->ip) &&
	       (!ssk->local.scope || ssk->local.scope == e->scope);
	spin_unlock_bh(&ssk->lock);
	return same;
}

/**
 * sdp_kill_address() - end the connections that have a local address
 * @net: namespace
 * @e: the local address; its port does not count
 *
 * Context: may sleep.
 * Return: number of connections ended.
 */
unsigned int sdp_kill_address(struct net *net, const struct sdp_endpoint *e)
{
	return kill_all(net, kill_has_address, e, "own address removed");
}

/*
 * Read one end of a connection from a request. An attribute policy cannot state
 * that address and port are required.
 */
static int kill_parse_end(struct sdp_endpoint *end, struct genl_info *info,
			  int addr, int port)
{
	const struct nlattr *attr = info->attrs[addr];

	if (GENL_REQ_ATTR_CHECK(info, addr) || GENL_REQ_ATTR_CHECK(info, port))
		return -EINVAL;
	switch (nla_len(attr)) {
	case sizeof(struct in_addr):
		sdp_set_v4(end, nla_get_in_addr(attr));
		break;
	case sizeof(struct in6_addr):
		end->ip = nla_get_in6_addr(attr);
		break;
	default:
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "address must have 4 or 16 bytes");
		return -EINVAL;
	}
	end->port = nla_get_u16(info->attrs[port]);
	return 0;
}

/**
 * sdp_nl_sock_kill_doit() - end the connections that a request names
 * @skb: the request
 * @info: the request, parsed; each attribute is valid by itself
 *
 * Handler of SDP_CMD_SOCK_KILL. Several connections may match if no inode is
 * named, because the scope of a link-local address is not compared. May sleep.
 *
 * Return: 0, -ENOENT when there is no such connection, or another errno.
 */
int sdp_nl_sock_kill_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *inode = info->attrs[SDP_SOCK_A_INODE];
	struct kill_target v = { };
	int err;

	err = kill_parse_end(&v.local, info, SDP_SOCK_A_LOCAL,
			     SDP_SOCK_A_LOCAL_PORT) ?:
	      kill_parse_end(&v.peer, info, SDP_SOCK_A_PEER,
			     SDP_SOCK_A_PEER_PORT);
	if (err)
		return err;
	if (inode)
		v.inode = nla_get_u64(inode);
	return kill_all(genl_info_net(info), kill_is_target, &v,
			"killed by netlink request") ? 0 : -ENOENT;
}
