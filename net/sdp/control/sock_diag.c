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

static void diag_fill_id(struct inet_diag_sockid *id, struct sdp_sock *ssk,
			 const struct sdp_look *look)
{
	bool v6 = READ_ONCE(ssk->v6);

	memset(id, 0, sizeof(*id));
	id->idiag_sport = htons(look->local.port);
	id->idiag_dport = htons(look->peer.port);
	diag_put_addr(id->idiag_src, &look->local, v6);
	diag_put_addr(id->idiag_dst, &look->peer, v6);
	id->idiag_if = READ_ONCE(ssk->sk.sk_bound_dev_if);
	sock_diag_save_cookie(&ssk->sk, id->idiag_cookie);
}

static void diag_fill_msg(struct inet_diag_msg *msg, struct sdp_sock *ssk,
			  const struct sdp_look *look,
			  struct user_namespace *asking)
{
	struct sock *sk = &ssk->sk;

	memset(msg, 0, sizeof(*msg));
	msg->idiag_family = READ_ONCE(ssk->v6) ? AF_INET6 : AF_INET;
	msg->idiag_state = look->state;
	diag_fill_id(&msg->id, ssk, look);
	msg->idiag_rqueue = look->rx_queue;
	msg->idiag_wqueue = look->state == TCP_LISTEN ?
				    READ_ONCE(sk->sk_max_ack_backlog) :
				    look->tx_queue;
	msg->idiag_uid = from_kuid_munged(asking, sk->sk_uid);
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

/* Write the next piece of a dump; its context is the next position. */
static int diag_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct inet_diag_req_v2 *req = nlmsg_data(cb->nlh);
	struct sdp_net *sn = sdp_net(sock_net(skb->sk));
	loff_t *pos = (loff_t *)cb->ctx;
	struct sdp_look look;
	struct sdp_sock *ssk;

	BUILD_BUG_ON(SDP_SOCKS_BEGIN != 0 || sizeof(*pos) > sizeof(cb->ctx));
	rcu_read_lock();
	for (ssk = sdp_socks_at(sn, pos); ssk;
	     ssk = sdp_socks_next(sn, ssk, pos)) {
		sdp_socks_look(ssk, &look, NULL);
		if (req->idiag_states & 1 << look.state &&
		    diag_put_sock(skb, cb->skb, cb->nlh, NLM_F_MULTI, ssk,
				  &look))
			break;
	}
	rcu_read_unlock();
	return skb->len;
}

static bool diag_is_named(struct sdp_sock *ssk, const struct sdp_look *look,
			  const struct inet_diag_sockid *named)
{
	struct inet_diag_sockid id;

	diag_fill_id(&id, ssk, look);
	return id.idiag_sport == named->idiag_sport &&
	       id.idiag_dport == named->idiag_dport &&
	       !memcmp(id.idiag_src, named->idiag_src, sizeof(id.idiag_src)) &&
	       !memcmp(id.idiag_dst, named->idiag_dst, sizeof(id.idiag_dst)) &&
	       (!named->idiag_if || id.idiag_if == named->idiag_if) &&
	       !sock_diag_check_cookie(&ssk->sk, named->idiag_cookie);
}

/* The socket that a request names, with a reference, or NULL. */
static struct sdp_sock *diag_find(struct net *net,
				  const struct inet_diag_req_v2 *req,
				  struct sdp_look *look)
{
	struct sdp_net *sn = sdp_net(net);
	loff_t pos = SDP_SOCKS_BEGIN;
	struct sdp_sock *ssk;

	rcu_read_lock();
	for (ssk = sdp_socks_at(sn, &pos); ssk;
	     ssk = sdp_socks_next(sn, ssk, &pos)) {
		sdp_socks_look(ssk, look, NULL);
		if (diag_is_named(ssk, look, &req->id) &&
		    refcount_inc_not_zero(&ssk->sk.sk_refcnt))
			break;
	}
	rcu_read_unlock();
	return ssk;
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

/**
 * sdp_diag_init() - answer requests of sock_diag
 *
 * Return: 0 or a negative errno.
 */
int sdp_diag_init(void)
{
	return sock_diag_register(&diag_handler);
}

/**
 * sdp_diag_exit() - answer no more requests
 */
void sdp_diag_exit(void)
{
	sock_diag_unregister(&diag_handler);
}
