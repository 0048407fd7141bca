// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink dumps of sockets and counters, as /proc shows them, and of devices.
 *
 * Handlers of SDP_CMD_SOCK_GET, SDP_CMD_STAT_GET and SDP_CMD_DEVICE_GET.
 * Netlink calls a dump function once for each piece, when the requester has
 * read the previous piece. Between the calls we hold no lock and no reference,
 * only a position in cb->ctx.
 */
#include "genl.h"
#include "../conn/sock.h"
#include "../proto/rail.h"
#include "../netlink_gen.h"
#include "sock_iter.h"
#include "../socket/info.h"

static int dump_put_ends(struct sk_buff *skb, const struct sdp_look *look,
			 bool v6)
{
	return sdp_genl_put_addr(skb, SDP_SOCK_A_LOCAL, &look->local, v6) ||
	       nla_put_u16(skb, SDP_SOCK_A_LOCAL_PORT, look->local.port) ||
	       sdp_genl_put_addr(skb, SDP_SOCK_A_PEER, &look->peer, v6) ||
	       nla_put_u16(skb, SDP_SOCK_A_PEER_PORT, look->peer.port);
}

static int dump_put_owner(struct sk_buff *skb, struct netlink_callback *cb,
			  struct sock *sk)
{
	struct user_namespace *asking = sk_user_ns(NETLINK_CB(cb->skb).sk);

	return nla_put_u32(skb, SDP_SOCK_A_UID,
			   from_kuid_munged(asking, sk->sk_uid)) ||
	       nla_put_u64_64bit(skb, SDP_SOCK_A_INODE, sock_i_ino(sk),
				 SDP_SOCK_A_PAD);
}

static int dump_put_numbers(struct sk_buff *skb, const struct sdp_look *look,
			    const struct sdp_info *info)
{
	if (nla_put_u8(skb, SDP_SOCK_A_STATE, look->state) ||
	    nla_put_u32(skb, SDP_SOCK_A_RX_QUEUE, look->rx_queue) ||
	    nla_put_u32(skb, SDP_SOCK_A_TX_QUEUE, look->tx_queue) ||
	    (look->device[0] &&
	     nla_put_string(skb, SDP_SOCK_A_DEVICE, look->device)))
		return -EMSGSIZE;
	return look->state == TCP_LISTEN ? 0 :
	       nla_put_64bit(skb, SDP_SOCK_A_INFO, sizeof(*info), info,
			     SDP_SOCK_A_PAD);
}

static bool can_have_rails(const struct sdp_sock *ssk)
{
	return ssk->link && ssk->link->ops->look_at;
}

static bool dump_may_have_rails(struct sdp_sock *ssk)
{
	bool may;

	sdp_conn_lock(ssk);
	may = can_have_rails(ssk);
	spin_unlock_bh(&ssk->lock);
	return may;
}

/* Returns false if the connection has no such rail, or cannot have several. */
static bool dump_look_at_rail(struct sdp_sock *ssk, u8 number,
			      struct sdp_rail_look *rail)
{
	bool found;

	sdp_conn_lock(ssk);
	found = can_have_rails(ssk) &&
		ssk->link->ops->look_at(ssk->link, number, rail);
	spin_unlock_bh(&ssk->lock);
	return found;
}

static int dump_put_rail(struct sk_buff *skb, u8 number, bool v6,
			 const struct sdp_rail_look *rail)
{
	struct nlattr *nest = nla_nest_start(skb, SDP_RAILS_A_RAIL);

	BUILD_BUG_ON((int)SDP_NL_RAIL_JOINING != (int)SDP_RAIL_JOINING ||
		     (int)SDP_NL_RAIL_ACTIVE != (int)SDP_RAIL_ACTIVE ||
		     (int)SDP_NL_RAIL_SUSPECT != (int)SDP_RAIL_SUSPECT);
	if (!nest || nla_put_u8(skb, SDP_RAIL_A_NUMBER, number) ||
	    nla_put_u8(skb, SDP_RAIL_A_STATE, rail->state) ||
	    sdp_genl_put_addr(skb, SDP_RAIL_A_LOCAL, &rail->local, v6) ||
	    sdp_genl_put_addr(skb, SDP_RAIL_A_PEER, &rail->peer, v6) ||
	    nla_put_string(skb, SDP_RAIL_A_DEVICE, rail->device) ||
	    nla_put_u64_64bit(skb, SDP_RAIL_A_BYTES_SENT, rail->sent,
			      SDP_RAIL_A_PAD) ||
	    nla_put_u64_64bit(skb, SDP_RAIL_A_BYTES_RECEIVED, rail->received,
			      SDP_RAIL_A_PAD) ||
	    nla_put_u32(skb, SDP_RAIL_A_PENDING, rail->pending) ||
	    nla_put_u32(skb, SDP_RAIL_A_SPEED, rail->speed) ||
	    nla_put_u32(skb, SDP_RAIL_A_SRTT, rail->srtt))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dump_put_rails(struct sk_buff *skb, struct sdp_sock *ssk)
{
	bool v6 = READ_ONCE(ssk->v6);
	struct sdp_rail_look rail;
	struct nlattr *nest = NULL;
	u8 i;

	if (!dump_may_have_rails(ssk))
		return 0;
	for (i = 0; i < SDP_RAILS_MAX; i++) {
		if (!dump_look_at_rail(ssk, i, &rail))
			continue;
		if (!nest)
			nest = nla_nest_start(skb, SDP_SOCK_A_RAILS);
		if (!nest || dump_put_rail(skb, i, v6, &rail))
			return -EMSGSIZE;
	}
	if (nest)
		nla_nest_end(skb, nest);
	return 0;
}

/* Returns -EMSGSIZE when @skb has no room for the socket. */
static int dump_put_sock(struct sk_buff *skb, struct netlink_callback *cb,
			 struct sdp_sock *ssk)
{
	void *msg = sdp_genl_begin_dump(skb, cb);
	struct sdp_look look;
	struct sdp_info info;

	if (!msg)
		return -EMSGSIZE;
	sdp_socks_look(ssk, &look, &info);
	if (dump_put_numbers(skb, &look, &info) ||
	    dump_put_ends(skb, &look, READ_ONCE(ssk->v6)) ||
	    dump_put_owner(skb, cb, &ssk->sk) || dump_put_rails(skb, ssk)) {
		genlmsg_cancel(skb, msg);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, msg);
	return 0;
}

/**
 * sdp_nl_sock_get_dumpit() - write the next piece of a dump of sockets
 * @skb: buffer for the piece
 * @cb: the dump; its context is the position of the next socket
 *
 * Handler of SDP_CMD_SOCK_GET.
 *
 * Return: bytes in @skb; 0 at the end.
 */
int sdp_nl_sock_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct sdp_net *sn = sdp_net(sock_net(skb->sk));
	loff_t *pos = (loff_t *)cb->ctx;
	struct sdp_sock *ssk;

	BUILD_BUG_ON(SDP_SOCKS_BEGIN != 0 || sizeof(*pos) > sizeof(cb->ctx));
	rcu_read_lock();
	ssk = sdp_socks_at(sn, pos);
	while (ssk && !dump_put_sock(skb, cb, ssk))
		ssk = sdp_socks_next(sn, ssk, pos);
	rcu_read_unlock();
	return skb->len;
}

static int dump_put_stat(struct sk_buff *skb, struct netlink_callback *cb,
			 enum sdp_stat which)
{
	void *msg = sdp_genl_begin_dump(skb, cb);

	if (!msg)
		return -EMSGSIZE;
	if (nla_put_string(skb, SDP_STAT_A_NAME, sdp_stat_name(which)) ||
	    nla_put_u64_64bit(skb, SDP_STAT_A_VALUE,
			      sdp_stat_sum(sock_net(skb->sk), which),
			      SDP_STAT_A_PAD)) {
		genlmsg_cancel(skb, msg);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, msg);
	return 0;
}

/**
 * sdp_nl_stat_get_dumpit() - write the next piece of a dump of counters
 * @skb: buffer for the piece
 * @cb: the dump; its context is the number of the next counter
 *
 * Handler of SDP_CMD_STAT_GET.
 *
 * Return: bytes in @skb; 0 at the end.
 */
int sdp_nl_stat_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	unsigned int *next = (unsigned int *)cb->ctx;

	while (*next < SDP_STAT_COUNT && !dump_put_stat(skb, cb, *next))
		(*next)++;
	return skb->len;
}

static int dump_put_limits(struct sk_buff *skb,
			   const struct sdp_device_look *look)
{
	return nla_put_u32(skb, SDP_DEVICE_A_SEND_PIECES, look->send_pieces) ||
	       nla_put_u32(skb, SDP_DEVICE_A_RECV_PIECES, look->recv_pieces) ||
	       nla_put_u32(skb, SDP_DEVICE_A_QUEUE_DEPTH, look->queue_depth) ||
	       nla_put_u32(skb, SDP_DEVICE_A_CQ_DEPTH, look->cq_depth) ||
	       nla_put_u32(skb, SDP_DEVICE_A_REGION_PAGES,
			   look->region_pages) ||
	       nla_put_u32(skb, SDP_DEVICE_A_READS, look->reads) ||
	       nla_put_u32(skb, SDP_DEVICE_A_VECTORS, look->vectors);
}

static int dump_put_device(struct sk_buff *skb, struct netlink_callback *cb,
			   const struct sdp_device_look *look)
{
	void *msg = sdp_genl_begin_dump(skb, cb);
	u32 has = look->has;

	if (!msg)
		return -EMSGSIZE;
	if (sdp_ud_has_device(look->index))
		has |= SDP_DEVICE_DATAGRAMS;
	if (nla_put_string(skb, SDP_DEVICE_A_NAME, look->name) ||
	    nla_put_u32(skb, SDP_DEVICE_A_PORTS, look->ports) ||
	    nla_put_u32(skb, SDP_DEVICE_A_HAS, has) ||
	    nla_put_u32(skb, SDP_DEVICE_A_NEEDED, SDP_DEVICE_NEEDED) ||
	    dump_put_limits(skb, look)) {
		genlmsg_cancel(skb, msg);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, msg);
	return 0;
}

#define SAME_CAP(name) \
	BUILD_BUG_ON((int)SDP_NL_DEVICE_##name != (int)SDP_DEVICE_##name)

/**
 * sdp_nl_device_get_dumpit() - write the next piece of a dump of devices
 * @skb: buffer for the piece
 * @cb: the dump; its context is the lowest number of the next device
 *
 * Handler of SDP_CMD_DEVICE_GET. May sleep.
 *
 * Return: bytes in @skb; 0 at the end.
 */
int sdp_nl_device_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct sdp_device_look look;
	u32 *next = (u32 *)cb->ctx;

	SAME_CAP(CM);
	SAME_CAP(SENDS);
	SAME_CAP(QUEUES);
	SAME_CAP(COMPLETIONS);
	SAME_CAP(RECEIVES);
	SAME_CAP(KEYS);
	SAME_CAP(REGIONS);
	SAME_CAP(READS);
	SAME_CAP(REVOKES);
	SAME_CAP(DATAGRAMS);
	while (sdp_rc_device_look(sock_net(skb->sk), *next, &look) &&
	       !dump_put_device(skb, cb, &look))
		*next = look.index + 1;
	return skb->len;
}
