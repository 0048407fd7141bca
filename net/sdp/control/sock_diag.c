// SPDX-License-Identifier: GPL-2.0
/*
 * sock_diag of family 27: what `ss` asks the kernel about sockets.
 *
 * Requests and answers have the form of TCP's (linux/inet_diag.h). A request
 * for a dump selects sockets by state. Other requests name one socket, by the
 * ports, addresses and cookie that an answer has shown: to show it, or to end
 * its connection (SOCK_DESTROY).
 *
 * All sockets of the namespace are shown, of family 27, of IPPROTO_SDP and TCP
 * sockets that the policy has turned into SDP. idiag_family is that of their
 * addresses.
 */
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <net/netlink.h>

#include "../conn/sock.h"
#include "../socket/info.h"
#include "netlink_kill.h"
#include "sock_diag.h"
#include "sock_iter.h"

/* Number of sockets that are looked at in one RCU section. */
#define DIAG_BATCH	256

static bool diag_wants(const struct inet_diag_req_v2 *req, unsigned int ext)
{
	return req->idiag_ext & 1 << (ext - 1);
}

static void diag_put_addr(__be32 to[4], const struct sdp_endpoint *e, bool v6)
{
	if (v6)
		memcpy(to, &e->ip, sizeof(e->ip));
	else
		to[0] = e->ip.s6_addr32[3];
}

/* bind() stores the address before it notes the version. */
static bool diag_is_v6(struct sdp_sock *ssk, const struct sdp_look *look)
{
	return READ_ONCE(ssk->v6) || !sdp_is_v4(&look->local);
}

static void diag_fill_id(struct inet_diag_sockid *id, struct sdp_sock *ssk,
			 const struct sdp_look *look)
{
	bool v6 = diag_is_v6(ssk, look);

	memset(id, 0, sizeof(*id));
	id->idiag_sport = htons(look->local.port);
	id->idiag_dport = htons(look->peer.port);
	diag_put_addr(id->idiag_src, &look->local, v6);
	/* Without a peer it is all 0, as TCP's. */
	if (look->peer.port)
		diag_put_addr(id->idiag_dst, &look->peer, v6);
	id->idiag_if = READ_ONCE(ssk->sk.sk_bound_dev_if) ?:
		       (int)(look->local.scope ?: look->peer.scope);
	sock_diag_save_cookie(&ssk->sk, id->idiag_cookie);
}

static void diag_fill_msg(struct inet_diag_msg *msg, struct sdp_sock *ssk,
			  const struct sdp_look *look,
			  struct user_namespace *asking)
{
	struct sock *sk = &ssk->sk;

	memset(msg, 0, sizeof(*msg));
	msg->idiag_family = diag_is_v6(ssk, look) ? AF_INET6 : AF_INET;
	msg->idiag_state = look->state;
	diag_fill_id(&msg->id, ssk, look);
	msg->idiag_rqueue = look->rx_queue;
	msg->idiag_wqueue = look->state == TCP_LISTEN ?
				    READ_ONCE(sk->sk_max_ack_backlog) :
				    look->tx_queue;
	msg->idiag_uid = from_kuid_munged(asking, READ_ONCE(sk->sk_uid));
	msg->idiag_inode = sock_i_ino(sk);
}

static int diag_put_memory(struct sk_buff *skb, struct sock *sk)
{
	struct inet_diag_meminfo info = {
		.idiag_rmem = sk_rmem_alloc_get(sk),
		.idiag_wmem = READ_ONCE(sk->sk_wmem_queued),
		.idiag_fmem = READ_ONCE(sk->sk_forward_alloc),
		.idiag_tmem = sk_wmem_alloc_get(sk),
	};

	return nla_put(skb, INET_DIAG_MEMINFO, sizeof(info), &info);
}

static int diag_put_info(struct sk_buff *skb, struct sdp_sock *ssk)
{
	struct nlattr *attr = nla_reserve_64bit(skb, INET_DIAG_INFO,
						sizeof(struct tcp_info),
						INET_DIAG_PAD);

	if (!attr)
		return -EMSGSIZE;
	sdp_tcp_info_get(ssk, nla_data(attr));
	return 0;
}

static int diag_put_extensions(struct sk_buff *skb, struct sdp_sock *ssk,
			       const struct inet_diag_req_v2 *req)
{
	struct sock *sk = &ssk->sk;

	if (nla_put_u8(skb, INET_DIAG_SHUTDOWN, READ_ONCE(sk->sk_shutdown)) ||
	    (diag_wants(req, INET_DIAG_MEMINFO) && diag_put_memory(skb, sk)) ||
	    (diag_wants(req, INET_DIAG_SKMEMINFO) &&
	     sock_diag_put_meminfo(sk, skb, INET_DIAG_SKMEMINFO)) ||
	    (diag_wants(req, INET_DIAG_CONG) &&
	     nla_put_string(skb, INET_DIAG_CONG, "sdp")) ||
	    (diag_wants(req, INET_DIAG_INFO) && diag_put_info(skb, ssk)))
		return -EMSGSIZE;
	return 0;
}

/* Returns -EMSGSIZE when @skb has no room for the socket. */
static int diag_put_sock(struct sk_buff *skb, const struct sk_buff *in_skb,
			 const struct nlmsghdr *nlh, int flags,
			 struct sdp_sock *ssk, const struct sdp_look *look)
{
	struct user_namespace *asking = sk_user_ns(NETLINK_CB(in_skb).sk);
	struct inet_diag_msg *msg;
	struct nlmsghdr *answer;

	answer = nlmsg_put(skb, NETLINK_CB(in_skb).portid, nlh->nlmsg_seq,
			   SOCK_DIAG_BY_FAMILY, sizeof(*msg), flags);
	if (!answer)
		return -EMSGSIZE;
	msg = nlmsg_data(answer);
	diag_fill_msg(msg, ssk, look, asking);
	if (diag_put_extensions(skb, ssk, nlmsg_data(nlh))) {
		nlmsg_cancel(skb, answer);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, answer);
	return 0;
}

/*
 * Write the sockets from @pos on into @skb, at most DIAG_BATCH of them. Returns
 * false when @skb is full or there are no more.
 */
static bool diag_dump_some(struct sk_buff *skb, struct netlink_callback *cb,
			   loff_t *pos)
{
	const struct inet_diag_req_v2 *req = nlmsg_data(cb->nlh);
	struct sdp_net *sn = sdp_net(sock_net(skb->sk));
	struct sdp_look look;
	struct sdp_sock *ssk;
	unsigned int n = 0;
	bool full = false;

	rcu_read_lock();
	ssk = sdp_socks_at(sn, pos);
	while (ssk && n++ < DIAG_BATCH) {
		sdp_socks_look(ssk, &look, NULL);
		full = req->idiag_states & 1 << look.state &&
		       diag_put_sock(skb, cb->skb, cb->nlh, NLM_F_MULTI, ssk,
				     &look);
		if (full)
			break;
		ssk = sdp_socks_next(sn, ssk, pos);
	}
	rcu_read_unlock();
	return ssk && !full;
}

/* Write the next piece of a dump; its context is the next position. */
static int diag_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	loff_t pos;

	BUILD_BUG_ON(SDP_SOCKS_BEGIN != 0 || sizeof(pos) > sizeof(cb->ctx));
	memcpy(&pos, cb->ctx, sizeof(pos));
	while (diag_dump_some(skb, cb, &pos))
		cond_resched();
	memcpy(cb->ctx, &pos, sizeof(pos));
	return skb->len;
}

/* A connection that has ended does not hide a new one with the same ends. */
static bool diag_is_named(struct sdp_sock *ssk, const struct sdp_look *look,
			  const struct inet_diag_sockid *named)
{
	bool any = named->idiag_cookie[0] == INET_DIAG_NOCOOKIE &&
		   named->idiag_cookie[1] == INET_DIAG_NOCOOKIE;
	struct inet_diag_sockid id;

	if (htons(look->local.port) != named->idiag_sport ||
	    htons(look->peer.port) != named->idiag_dport ||
	    (any && look->state == TCP_CLOSE))
		return false;
	diag_fill_id(&id, ssk, look);
	return !memcmp(id.idiag_src, named->idiag_src, sizeof(id.idiag_src)) &&
	       !memcmp(id.idiag_dst, named->idiag_dst, sizeof(id.idiag_dst)) &&
	       (!named->idiag_if || id.idiag_if == named->idiag_if) &&
	       !sock_diag_check_cookie(&ssk->sk, named->idiag_cookie);
}

/* As diag_dump_some(). Returns false when *@found is set, too. */
static bool diag_find_some(struct sdp_net *sn,
			   const struct inet_diag_req_v2 *req,
			   struct sdp_look *look, loff_t *pos,
			   struct sdp_sock **found)
{
	struct sdp_sock *ssk;
	unsigned int n = 0;

	rcu_read_lock();
	ssk = sdp_socks_at(sn, pos);
	while (ssk && n++ < DIAG_BATCH) {
		sdp_socks_look(ssk, look, NULL);
		if (diag_is_named(ssk, look, &req->id) &&
		    refcount_inc_not_zero(&ssk->sk.sk_refcnt)) {
			*found = ssk;
			break;
		}
		ssk = sdp_socks_next(sn, ssk, pos);
	}
	rcu_read_unlock();
	return ssk && !*found;
}

/* The socket that a request names, with a reference, or NULL. */
static struct sdp_sock *diag_find(struct net *net,
				  const struct inet_diag_req_v2 *req,
				  struct sdp_look *look)
{
	loff_t pos = SDP_SOCKS_BEGIN;
	struct sdp_sock *found = NULL;

	while (diag_find_some(sdp_net(net), req, look, &pos, &found))
		cond_resched();
	return found;
}

static int diag_show_one(struct sk_buff *in_skb, const struct nlmsghdr *nlh)
{
	struct net *net = sock_net(in_skb->sk);
	struct sdp_look look;
	struct sdp_sock *ssk = diag_find(net, nlmsg_data(nlh), &look);
	struct sk_buff *skb;
	int err = -ENOMEM;

	if (!ssk)
		return -ENOENT;
	skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (skb)
		err = diag_put_sock(skb, in_skb, nlh, 0, ssk, &look);
	sock_put(&ssk->sk);
	if (!err)
		return nlmsg_unicast(net->diag_nlsk, skb,
				     NETLINK_CB(in_skb).portid);
	nlmsg_free(skb);
	return err;
}

static int diag_dump(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control control = { .dump = diag_dumpit };

	if (nlmsg_len(nlh) < (int)sizeof(struct inet_diag_req_v2))
		return -EINVAL;
	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		return diag_show_one(skb, nlh);
	/* The interpreter of filters belongs to inet_diag. */
	if (nlmsg_find_attr(nlh, sizeof(struct inet_diag_req_v2),
			    INET_DIAG_REQ_BYTECODE))
		return -EOPNOTSUPP;
	return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, nlh,
				  &control);
}

static int diag_destroy(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct sdp_look look;
	struct sdp_sock *ssk;
	bool ended;

	if (nlmsg_len(nlh) < (int)sizeof(struct inet_diag_req_v2))
		return -EINVAL;
	if (!netlink_net_capable(skb, CAP_NET_ADMIN))
		return -EPERM;
	ssk = diag_find(sock_net(skb->sk), nlmsg_data(nlh), &look);
	if (!ssk)
		return -ENOENT;
	ended = sdp_kill_sock(ssk, "killed by sock_diag request");
	sock_put(&ssk->sk);
	if (ended)
		return 0;
	return look.state == TCP_LISTEN ? -EOPNOTSUPP : -ENOENT;
}

static const struct sock_diag_handler diag_handler = {
	SDP_DIAG_OWNER
	.family = AF_SDP,
	.dump = diag_dump,
	.destroy = diag_destroy,
};

static bool diag_registered;

/**
 * sdp_diag_init() - answer requests of sock_diag
 *
 * It fails if another module answers for family 27. AF_SDP works without it.
 */
void sdp_diag_init(void)
{
	int err = sock_diag_register(&diag_handler);

	diag_registered = !err;
	if (err)
		pr_warn("sdp: sock_diag does not show sockets (error %d)\n",
			err);
}

/**
 * sdp_diag_exit() - answer no more requests
 */
void sdp_diag_exit(void)
{
	if (diag_registered)
		sock_diag_unregister(&diag_handler);
}
