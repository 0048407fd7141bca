// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that are ended from outside their programs: those that somebody
 * names by netlink (SDP_CMD_SOCK_KILL), and those whose own address has been
 * removed. The program is told ECONNABORTED, as by TCP, and the peer sees a
 * reset.
 */
#include "../genl.h"
#include "netlink_kill.h"
#include "sock_iter.h"

#define ADDR_MAX	sizeof(struct in6_addr)

/* Returns whether there was a connection, or the attempt to make one. */
static bool end_one(struct sdp_sock *ssk, const char *why)
{
	struct sdp_todo todo = { };
	bool there;

	sdp_stream_lock(ssk);
	there = ssk->link || ssk->sk.sk_state == TCP_SYN_SENT;
	if (there)
		sdp_stream_fail(ssk, ECONNABORTED, why, &todo);
	sdp_stream_unlock(ssk, &todo);
	return there;
}

typedef bool (*kill_wanted)(struct sdp_sock *ssk, const void *arg);

/*
 * The next socket that is wanted, with a reference, so that it can be ended
 * without the RCU lock; @pos is left behind it.
 */
static struct sdp_sock *next_wanted(struct sdp_net *sn, loff_t *pos,
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

static unsigned int end_all(struct net *net, kill_wanted wanted,
			    const void *arg, const char *why)
{
	loff_t pos = SDP_SOCKS_BEGIN;
	unsigned int ended = 0;
	struct sdp_sock *ssk;

	while ((ssk = next_wanted(sdp_net(net), &pos, wanted, arg))) {
		ended += end_one(ssk, why);
		sock_put(&ssk->sk);
		cond_resched();
	}
	return ended;
}

/**
 * struct victim - what a request names
 * @local: the socket's own address
 * @peer: the other one
 * @inode: its number, or 0 for any
 */
struct victim {
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	u64 inode;
};

static bool same_end(const struct sdp_endpoint *one,
		     const struct sdp_endpoint *other)
{
	return one->port == other->port &&
	       ipv6_addr_equal(&one->ip, &other->ip);
}

static bool is_victim(struct sdp_sock *ssk, const void *arg)
{
	const struct victim *v = arg;
	bool same;

	spin_lock_bh(&ssk->lock);
	same = same_end(&ssk->local, &v->local) &&
	       same_end(&ssk->peer, &v->peer);
	spin_unlock_bh(&ssk->lock);
	return same && (!v->inode || v->inode == sock_i_ino(&ssk->sk));
}

/* The own address, with any port. */
static bool has_address(struct sdp_sock *ssk, const void *arg)
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
 * sdp_kill_address() - end the connections that have an address here
 * @net: namespace
 * @e: the address
 *
 * Context: sleeps.
 * Return: how many there were.
 */
unsigned int sdp_kill_address(struct net *net, const struct sdp_endpoint *e)
{
	return end_all(net, has_address, e, "own address removed");
}

const struct nla_policy sdp_kill_attrs[SDP_SOCK_A_MAX + 1] = {
	[SDP_SOCK_A_STATE]	= { .type = NLA_REJECT },
	[SDP_SOCK_A_LOCAL]	= { .type = NLA_BINARY, .len = ADDR_MAX },
	[SDP_SOCK_A_LOCAL_PORT]	= { .type = NLA_U16 },
	[SDP_SOCK_A_PEER]	= { .type = NLA_BINARY, .len = ADDR_MAX },
	[SDP_SOCK_A_PEER_PORT]	= { .type = NLA_U16 },
	[SDP_SOCK_A_DEVICE]	= { .type = NLA_REJECT },
	[SDP_SOCK_A_UID]	= { .type = NLA_REJECT },
	[SDP_SOCK_A_INODE]	= { .type = NLA_U64 },
	[SDP_SOCK_A_RX_QUEUE]	= { .type = NLA_REJECT },
	[SDP_SOCK_A_TX_QUEUE]	= { .type = NLA_REJECT },
	[SDP_SOCK_A_INFO]	= { .type = NLA_REJECT },
	[SDP_SOCK_A_PAD]	= { .type = NLA_REJECT },
};

static int take_end(struct sdp_endpoint *end, struct genl_info *info, int addr,
		    int port)
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
				    "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	end->port = nla_get_u16(info->attrs[port]);
	return 0;
}

/**
 * sdp_request_kill() - SDP_CMD_SOCK_KILL
 * @skb: the request
 * @info: likewise; its attributes are valid, each by itself
 *
 * Return: 0, -ENOENT when there is no such connection, or another errno.
 */
int sdp_request_kill(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *inode = info->attrs[SDP_SOCK_A_INODE];
	struct victim v = { };
	int err;

	err = take_end(&v.local, info, SDP_SOCK_A_LOCAL,
		       SDP_SOCK_A_LOCAL_PORT) ?:
	      take_end(&v.peer, info, SDP_SOCK_A_PEER, SDP_SOCK_A_PEER_PORT);
	if (err)
		return err;
	if (inode)
		v.inode = nla_get_u64(inode);
	return end_all(genl_info_net(info), is_victim, &v, "ended by netlink") ?
	       0 : -ENOENT;
}
