// SPDX-License-Identifier: GPL-2.0
/*
 * Passive open: a connection request becomes a child socket.
 *
 * The transport reports a request by its up-call incoming. The request gets its
 * child socket at once, with few receives (accept_buffers), and the child waits
 * on the listener's accept queue. After accept() it has as many receives as its
 * peer needs (demand.c). sk_timer ends a request that its peer does not
 * complete.
 *
 * All of this runs in the up-call, which may sleep and holds no lock.
 */
#include <linux/cgroup.h>
#include <linux/security.h>

#include "accept_queue.h"
#include "autotune.h"
#include "memory.h"
#include "options.h"
#include "params.h"
#include "passive.h"
#include "port.h"
#include "state.h"

/* Copy what TCP's accepted sockets inherit from their listener. */
static void inherit_sock(struct sock *sk, const struct sock *from)
{
	sk->sk_type = from->sk_type;
	sk->sk_protocol = from->sk_protocol;
	sk->sk_sndbuf = READ_ONCE(from->sk_sndbuf);
	sk->sk_rcvbuf = READ_ONCE(from->sk_rcvbuf);
	sk->sk_userlocks = from->sk_userlocks & ~SOCK_BINDPORT_LOCK;
	sk->sk_data_ready = from->sk_data_ready;
	sk->sk_write_space = from->sk_write_space;
	sk->sk_state_change = from->sk_state_change;
	sk->sk_error_report = from->sk_error_report;
}

/*
 * As with TCP, BPF programs and packet filters see the child in its listener's
 * control group. A work item has made the child, so it is in the root group
 * until now. (sdp_memory_inherit() sets the group that its memory is charged
 * to.)
 */
static void inherit_cgroup(struct sock *child, struct sock *parent)
{
#ifdef CONFIG_SOCK_CGROUP_DATA
	struct cgroup *own = sock_cgroup_ptr(&child->sk_cgrp_data);
	struct cgroup *group = sock_cgroup_ptr(&parent->sk_cgrp_data);

	cgroup_get(group);
	cgroup_bpf_get(group);
	child->sk_cgrp_data = parent->sk_cgrp_data;
	cgroup_bpf_put(own);
	cgroup_put(own);
#endif
}

/*
 * Make a child with the listener's options. Returns NULL if memory is short,
 * and -ECONNREFUSED if the TCP listener beside the parent (policy) has an
 * option that SDP does not support.
 */
static struct sdp_sock *make_child(struct sdp_sock *parent,
				   const struct sdp_incoming *in)
{
	struct sdp_sock *child = sdp_sock_alloc(in->net, parent->sk.sk_family,
						GFP_KERNEL,
						!parent->sk.sk_net_refcnt);

	if (!child)
		return NULL;
	sock_init_data(NULL, &child->sk);
	sdp_sock_init(child);
	sdp_memory_inherit(&child->sk, &parent->sk);
	inherit_cgroup(&child->sk, &parent->sk);
	inherit_sock(&child->sk, &parent->sk);
	security_sk_clone(&parent->sk, &child->sk);
	sdp_options_inherit(child, parent);
	if (parent->tcp_listener &&
	    !parent->inherit_tcp(&child->sk, parent->tcp_listener)) {
		/* inet_sock_destruct() demands SOCK_DEAD. */
		sock_orphan(&child->sk);
		sdp_sock_end(child);
		sock_put(&child->sk);
		return ERR_PTR(-ECONNREFUSED);
	}
	sdp_autotune_init(child);
	child->local = in->local;
	child->peer = in->peer;
	child->v6 = parent->v6 || !sdp_is_v4(&in->local);
	child->bound_ip = true;
	return child;
}

/*
 * Returns how long we wait for the peer to complete its request, in jiffies.
 * The peer chooses the CM's own limit, which may be a day. Our limit is longer
 * than the connect timeout of a client with the same settings: the client may
 * receive our REP just before it gives up, and its timer may fire late by an
 * eighth. If we gave up first, it would send to a queue pair that is gone.
 */
static unsigned long request_timeout(const struct net *net)
{
	const struct sdp_settings *set = &sdp_net(net)->settings;
	unsigned long limit;

	limit = msecs_to_jiffies(READ_ONCE(set->connect_timeout_ms));
	return limit + max_t(unsigned long, limit / 4, HZ);
}

/*
 * Start the child's engine, post the first receives and build the HelloAck.
 * May sleep. On error the child has no link.
 */
static int answer_request(struct sdp_sock *child, struct sdp_link *link,
			  struct sdp_incoming *in)
{
	const struct sdp_settings *set = &sdp_net(in->net)->settings;
	struct sdp_link_config config;
	struct sdp_hello ack = { };
	int err;

	sdp_params_of_link(child, link->ops, &config);
	err = link->ops->prepare(link, &config);
	if (err)
		return err;
	sdp_conn_lock(child);
	/* The listener may have closed and given up the child meanwhile. */
	if (sock_flag(&child->sk, SOCK_DEAD)) {
		spin_unlock_bh(&child->lock);
		return -ECONNREFUSED;
	}
	child->link = link;
	sdp_params_start(child, &config, READ_ONCE(set->accept_buffers));
	if (child->engine.credit.posted < SDP_HELLO_BUFS_MIN) {
		child->link = NULL;
		err = -ENOBUFS;
	} else {
		sdp_engine_hello_received(&child->engine, &in->hello);
		sdp_engine_hello_ack(&child->engine, &ack);
		sdp_hello_ack_build(in->ack, &ack);
		sdp_set_state(child, TCP_SYN_RECV);
		sk_reset_timer(&child->sk, &child->sk.sk_timer,
			       jiffies + request_timeout(in->net));
	}
	spin_unlock_bh(&child->lock);
	return err;
}

/* Make a child for a request and answer the request. May sleep. */
static int take_request(struct sdp_sock *parent, struct sdp_link *link,
			struct sdp_incoming *in)
{
	struct sdp_sock *child = make_child(parent, in);
	int err;

	if (IS_ERR_OR_NULL(child))
		return child ? PTR_ERR(child) : -ENOMEM;
	/*
	 * The link's reference. It is taken before the child is on the accept
	 * queue, where a closing listener may drop it at any time.
	 */
	sock_hold(&child->sk);
	err = sdp_accept_queue_enter(parent, child, in->local.port);
	if (err) {
		/* inet_sock_destruct() demands SOCK_DEAD. */
		sock_orphan(&child->sk);
		sdp_sock_end(child);
		sock_put(&child->sk);
		sock_put(&child->sk);
		return err;
	}
	link->owner = child;
	err = answer_request(child, link, in);
	if (!err) {
		SDP_INC(in->net, PassiveOpens);
		return 0;
	}
	link->owner = NULL;
	if (sdp_accept_queue_leave(parent, child))
		sdp_accept_queue_drop(child);
	sdp_accept_queue_forget_link(child);
	sock_put(&child->sk);
	return err;
}

/* The same, with a link that other rails can join if both sides want that. */
static int take_by_rails(struct sdp_sock *parent, struct sdp_link *link,
			 struct sdp_incoming *in)
{
	int err;

	link = sdp_rails_accept(link, in, sdp_rails_wish(parent));
	if (!link)
		return -ENOMEM;
	err = take_request(parent, link, in);
	sdp_rails_accepted(link, in, err);
	return err;
}

/**
 * sdp_passive_open() - up-call: a connection request has arrived
 * @link: link of the new connection; on success the child becomes its owner
 *	and the link holds a reference to it
 * @in: request; its HelloAck is filled in
 *
 * May sleep.
 *
 * Return: 0, -ECONNREFUSED if no socket listens there, -EAGAIN if the backlog
 * is full, or another errno.
 */
int sdp_passive_open(struct sdp_link *link, struct sdp_incoming *in)
{
	struct sdp_sock *parent;
	int err;

	parent = sdp_port_find_listener(in);
	if (!parent)
		return -ECONNREFUSED;
	/*
	 * This check only saves work; sdp_accept_queue_enter() checks again
	 * under the lock.
	 */
	if (sdp_accept_queue_full(parent))
		err = -EAGAIN;
	else if (link->ops == &sdp_rc || link->ops == &sdp_ud)
		err = take_by_rails(parent, link, in);
	else
		err = take_request(parent, link, in);
	if (err == -EAGAIN)
		SDP_INC(in->net, BacklogFull);
	else if (err == -ENOMEM || err == -ENOBUFS)
		SDP_INC(in->net, NoResources);
	sock_put(&parent->sk);
	return err;
}
