// SPDX-License-Identifier: GPL-2.0
/*
 * listen(2), accept(2), and the accepting side of a connection's set-up.
 *
 * A request becomes a socket at once, with few receives (accept_buffers) and on the
 * listener's @pending list; when the connection stands it moves to @accepted, and
 * accept gives it its full receives. Both lists together are bounded by the backlog; so are,
 * beside them, the links that still go of requests given up (@child_links).
 * Whoever takes a child off a list has the list's reference to it.
 *
 * The lists and sk_ack_backlog are covered by the listener's @lock.
 */
#include <linux/cgroup.h>
#include <linux/security.h>

#include "../conn/sock.h"

/* What TCP's accepted sockets have from their listener. */
static void inherit(struct sock *sk, const struct sock *from)
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
 * The control group that BPF programs and packet filters tell a socket by is
 * the listener's, as with TCP. The child was made by a work item, so it has
 * the root group so far. (Its memory is charged by sdp_memory_inherit().)
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

/* NULL for want of memory; -ECONNREFUSED when TCP's listener wants what it could not have. */
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
	inherit(&child->sk, &parent->sk);
	security_sk_clone(&parent->sk, &child->sk);
	sdp_options_inherit(child, parent);
	if (parent->like && !parent->be_like(&child->sk, parent->like)) {
		/* Internet sockets may only go when they are dead. */
		sock_orphan(&child->sk);
		sdp_sock_end(child);
		sock_put(&child->sk);
		return ERR_PTR(-ECONNREFUSED);
	}
	sdp_tune_init(child);
	child->local = in->local;
	child->peer = in->peer;
	child->v6 = parent->v6 || !sdp_is_v4(&in->local);
	child->bound_ip = true;
	return child;
}

/*
 * A request that was given up leaves its place, and its queue pair goes a little later; of these,
 * there may be as many as places. So who asks and leaves at once costs little more than who stays.
 */
static bool is_full(const struct sdp_sock *parent)
{
	const struct sock *sk = &parent->sk;

	return sk_acceptq_is_full(sk) ||
	       atomic_read(&parent->child_links) / 2 >
		       READ_ONCE(sk->sk_max_ack_backlog);
}

/*
 * Take a place in the backlog, and share the port: from now on a closing listener gives both back,
 * and not before, or the port would be taken for a moment after the listener is gone. The request
 * holds the list's reference from now on.
 */
static int enter_pending(struct sdp_sock *parent, struct sdp_sock *child,
			 u16 port)
{
	struct sock *sk = &parent->sk;
	int err = 0;

	sdp_stream_lock(parent);
	/* It may listen again meanwhile, elsewhere. */
	if (sk->sk_state != TCP_LISTEN || parent->local.port != port) {
		err = -ECONNREFUSED;
	} else if (is_full(parent)) {
		err = -EAGAIN;
	} else {
		sdp_port_share(child, parent);
		sk_acceptq_added(sk);
		sock_hold(sk);
		child->parent = parent;
		sock_hold(sk);
		child->host = parent;
		atomic_inc(&parent->child_links);
		list_add_tail(&child->queue_node, &parent->pending);
	}
	spin_unlock_bh(&parent->lock);
	return err;
}

/*
 * How long a request waits to be completed; the CM's own limit is the peer's
 * choice, and may be a day. A client of the same settings has to give up before
 * that: it may hear our REP in its last moment, which a timer puts off by up to
 * an eighth, and what it sends then would come to a queue pair that is gone.
 */
static unsigned long request_timeout(const struct net *net)
{
	const struct sdp_settings *set = &sdp_net(net)->settings;
	unsigned long limit;

	limit = msecs_to_jiffies(READ_ONCE(set->connect_timeout_ms));
	return limit + max_t(unsigned long, limit / 4, HZ);
}

/* The engine meets the Hello, posts its first receives and answers. */
static int answer(struct sdp_sock *child, struct sdp_link *link,
		  struct sdp_incoming *in)
{
	const struct sdp_settings *set = &sdp_net(in->net)->settings;
	struct sdp_link_config config;
	struct sdp_hello ack = { };
	int err;

	sdp_stream_config(child, link->ops, &config);
	err = link->ops->prepare(link, &config);
	if (err)
		return err;
	sdp_stream_lock(child);
	/* The listener may have closed meanwhile, and given the child up. */
	if (sock_flag(&child->sk, SOCK_DEAD)) {
		spin_unlock_bh(&child->lock);
		return -ECONNREFUSED;
	}
	child->link = link;
	sdp_stream_start(child, &config, READ_ONCE(set->accept_buffers));
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

/* Off its list, and without a port: the caller has the list's reference to the child now. */
static bool leave_queue(struct sdp_sock *parent, struct sdp_sock *child)
{
	bool was_there;

	sdp_stream_lock(parent);
	was_there = !list_empty(&child->queue_node);
	if (was_there) {
		list_del_init(&child->queue_node);
		sk_acceptq_removed(&parent->sk);
		sdp_port_release(child);
	}
	spin_unlock_bh(&parent->lock);
	return was_there;
}

/* A child that nobody will accept. Drops the list's references to it and to its parent. */
static void drop_child(struct sdp_sock *child)
{
	struct sdp_sock *parent = child->parent;

	WRITE_ONCE(child->parent, NULL);
	sock_orphan(&child->sk);
	sk_stop_timer(&child->sk, &child->sk.sk_timer);
	sdp_sock_end(child);
	sock_put(&parent->sk);
	sock_put(&child->sk);
}

/**
 * sdp_listen_forget_link() - a link need not be counted at a listener any more
 * @child: its owner: it was accepted, or the link has said its last word; or any other socket
 */
void sdp_listen_forget_link(struct sdp_sock *child)
{
	struct sdp_sock *host = xchg(&child->host, NULL);

	if (!host)
		return;
	atomic_dec(&host->child_links);
	sock_put(&host->sk);
}

static int take_request(struct sdp_sock *parent, struct sdp_link *link,
			struct sdp_incoming *in)
{
	struct sdp_sock *child = make_child(parent, in);
	int err;

	if (IS_ERR_OR_NULL(child))
		return child ? PTR_ERR(child) : -ENOMEM;
	/* Before others can see it: a closing listener may give it up at any time. */
	sock_hold(&child->sk);
	err = enter_pending(parent, child, in->local.port);
	if (err) {
		/* Nobody has seen it; internet sockets may only go when they are dead. */
		sock_orphan(&child->sk);
		sdp_sock_end(child);
		sock_put(&child->sk);
		sock_put(&child->sk);
		return err;
	}
	link->owner = child;
	err = answer(child, link, in);
	if (!err) {
		SDP_INC(in->net, PassiveOpens);
		return 0;
	}
	link->owner = NULL;
	if (leave_queue(parent, child))
		drop_child(child);
	sdp_listen_forget_link(child);
	sock_put(&child->sk);
	return err;
}

/**
 * sdp_incoming() - up-call: a connection request has come
 * @link: the link it will have
 * @in: the request; its HelloAck is filled in
 *
 * Return: 0, -ECONNREFUSED, -EAGAIN when the backlog is full, or another errno.
 */
int sdp_incoming(struct sdp_link *link, struct sdp_incoming *in)
{
	struct sdp_sock *parent;
	int err;

	parent = sdp_port_find_listener(in);
	if (!parent)
		return -ECONNREFUSED;
	/* Looked at again under the lock; here it spares the work. */
	err = is_full(parent) ? -EAGAIN : take_request(parent, link, in);
	if (err == -EAGAIN)
		SDP_INC(in->net, BacklogFull);
	else if (err == -ENOMEM || err == -ENOBUFS)
		SDP_INC(in->net, NoResources);
	sock_put(&parent->sk);
	return err;
}

/* The listener of a child, with a reference; it may be going away just now. */
static struct sdp_sock *get_parent(const struct sdp_sock *child)
{
	struct sdp_sock *parent;

	rcu_read_lock();
	parent = READ_ONCE(child->parent);
	if (parent && !refcount_inc_not_zero(&parent->sk.sk_refcnt))
		parent = NULL;
	rcu_read_unlock();
	return parent;
}

/**
 * sdp_accept_ready() - a request's connection stands: it can be accepted
 * @child: the new socket
 */
void sdp_accept_ready(struct sdp_sock *child)
{
	struct sdp_sock *parent = get_parent(child);
	bool there;

	if (!parent)
		return;
	sdp_stream_lock(parent);
	there = !list_empty(&child->queue_node);
	if (there)
		list_move_tail(&child->queue_node, &parent->accepted);
	spin_unlock_bh(&parent->lock);
	if (there)
		parent->sk.sk_data_ready(&parent->sk);
	sock_put(&parent->sk);
}

/**
 * sdp_accept_forget() - a request has failed before its connection stood
 * @child: the new socket; the caller has another reference
 */
void sdp_accept_forget(struct sdp_sock *child)
{
	struct sdp_sock *parent = get_parent(child);

	if (!parent)
		return;
	if (leave_queue(parent, child))
		drop_child(child);
	sock_put(&parent->sk);
}

static struct sdp_sock *first_child(struct sdp_sock *parent)
{
	struct sdp_sock *child;

	sdp_stream_lock(parent);
	child = list_first_entry_or_null(&parent->accepted, struct sdp_sock,
					 queue_node);
	if (child) {
		list_del_init(&child->queue_node);
		sk_acceptq_removed(&parent->sk);
	}
	spin_unlock_bh(&parent->lock);
	return child;
}

static bool acceptable(struct sdp_sock *parent, u32 unused)
{
	return !list_empty_careful(&parent->accepted) ||
	       READ_ONCE(parent->sk.sk_state) != TCP_LISTEN;
}

static int next_child(struct sdp_sock *parent, long timeo,
		      struct sdp_sock **child)
{
	int err;

	for (;;) {
		if (READ_ONCE(parent->sk.sk_state) != TCP_LISTEN)
			return -EINVAL;
		*child = first_child(parent);
		if (*child)
			return 0;
		err = sdp_wait(parent, SDP_READ, &timeo, acceptable, 0);
		if (err)
			return err;
	}
}

/* The connection has a user now: let the peer have its full credit. */
static void open_up(struct sdp_sock *child)
{
	struct sdp_todo todo = { };

	sdp_stream_lock(child);
	if (child->link) {
		/* They may be growing already: conn/resize.c knows how many there shall be. */
		child->recv_largest = 0;
		sdp_stream_progress(child, &todo);
	}
	sdp_stream_unlock(child, &todo);
}

/* accept(2), accept4(2): @newsock becomes the oldest waiting connection of @sock. */
int sdp_accept(struct socket *sock, struct socket *newsock, SDP_ACCEPT_ARGS)
{
	struct sdp_sock *parent = sdp_sk(sock->sk);
	struct sdp_sock *child;
	int err;

	err = next_child(parent,
			 sock_rcvtimeo(sock->sk, SDP_ACCEPT_FLAGS & O_NONBLOCK),
			 &child);
	if (err)
		return err;
	WRITE_ONCE(child->parent, NULL);
	sdp_listen_forget_link(child);
	lock_sock(&child->sk);
	sock_graft(&child->sk, newsock);
	/* Before 6.10 it may have those that the listener had a moment ago. */
	newsock->ops = sock->ops;
	sdp_socket_flags(newsock);
	newsock->state = SS_CONNECTED;
	release_sock(&child->sk);
	sock_put(&parent->sk);
	open_up(child);
	return 0;
}

static struct sdp_sock *any_child(struct sdp_sock *parent)
{
	struct list_head *list;
	struct sdp_sock *child = NULL;

	sdp_stream_lock(parent);
	list = list_empty(&parent->pending) ? &parent->accepted :
					      &parent->pending;
	if (!list_empty(list)) {
		child = list_first_entry(list, struct sdp_sock, queue_node);
		list_del_init(&child->queue_node);
		sk_acceptq_removed(&parent->sk);
	}
	spin_unlock_bh(&parent->lock);
	return child;
}

/* A request that is being answered finds out under the listener's lock. */
static void take_no_more(struct sdp_sock *ssk)
{
	sdp_stream_lock(ssk);
	sdp_port_unlisten(ssk);
	sdp_set_state(ssk, TCP_CLOSE);
	spin_unlock_bh(&ssk->lock);
}

/* Who waits to be accepted. No more can come. */
static void send_away(struct sdp_sock *ssk)
{
	struct sdp_sock *child;

	while ((child = any_child(ssk))) {
		struct sdp_todo todo = { };

		/* Before the lock: answer() looks at it under the lock. */
		sock_orphan(&child->sk);
		sdp_stream_lock(child);
		sdp_stream_fail(child, ECONNRESET, "listener closed", &todo);
		todo.forget = false;
		sdp_stream_unlock(child, &todo);
		drop_child(child);
	}
}

/**
 * sdp_listen_stop() - stop listening; who waits to be accepted is sent away
 * @ssk: listener, under lock_sock
 */
void sdp_listen_stop(struct sdp_sock *ssk)
{
	struct net *net = sock_net(&ssk->sk);

	take_no_more(ssk);
	sdp_claim_listen(ssk, false);
	sdp_rc.unlisten(net, ssk->local.port);
	sdp_loop.unlisten(net, ssk->local.port);
	send_away(ssk);
}

static int begin_listening(struct sdp_sock *ssk)
{
	struct net *net = sock_net(&ssk->sk);
	int err;

	if (!ssk->port) {
		/* Nobody has named a family: both are welcome. */
		if (ssk->sk.sk_family == PF_SDP) {
			sdp_stream_lock(ssk);
			ssk->local.ip = in6addr_any;
			spin_unlock_bh(&ssk->lock);
		}
		err = sdp_claim_bind(ssk, 0);
		if (err)
			return err;
	}
	WRITE_ONCE(ssk->sk.sk_ack_backlog, 0);
	WRITE_ONCE(ssk->sk.sk_shutdown, 0);
	err = sdp_claim_listen(ssk, true);
	if (err)
		return err;
	err = sdp_port_listen(ssk);
	if (err) {
		sdp_claim_listen(ssk, false);
		return err;
	}
	err = sdp_rc.listen(net, ssk->local.port);
	if (!err) {
		err = sdp_loop.listen(net, ssk->local.port);
		if (err)
			sdp_rc.unlisten(net, ssk->local.port);
	}
	if (err) {
		/* By the other transport, or from within, somebody may have come meanwhile. */
		take_no_more(ssk);
		sdp_claim_listen(ssk, false);
		send_away(ssk);
	}
	return err;
}

/**
 * sdp_listen() - listen(2)
 * @sock: socket
 * @backlog: connections that may wait for accept, less one; may be changed by calling again
 *
 * Return: 0 or an errno.
 */
int sdp_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err = 0;
	u8 state;

	lock_sock(sk);
	state = READ_ONCE(sk->sk_state);
	if (sock->state != SS_UNCONNECTED ||
	    (state != TCP_CLOSE && state != TCP_LISTEN)) {
		err = -EINVAL;
		goto out;
	}
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	if (state == TCP_CLOSE)
		err = begin_listening(sdp_sk(sk));
out:
	release_sock(sk);
	return err;
}
