// SPDX-License-Identifier: GPL-2.0
/*
 * Accept queue: a listener's child sockets until accept() takes them.
 *
 * A child is on the listener's @pending list while its request is being
 * answered, and on @accepted once its connection is established. A list holds a
 * reference to each child on it. The caller of a function that removes a child
 * gets that reference. The child holds a reference to its listener in @parent,
 * and another one in @counted_by while the listener counts its link.
 *
 * The backlog bounds the number of children on both lists together.
 * @child_links counts the links of children that have not been accepted. A link
 * outlives a request that was given up, so there may be more links than
 * children, but at most twice as many as the backlog allows children.
 *
 * The listener's lock covers the lists and sk_ack_backlog.
 */
#include "accept_queue.h"
#include "port.h"

/**
 * sdp_accept_queue_full() - is there no room for another request?
 * @parent: listener; the answer is final only if it is locked
 *
 * When a request is given up, its place in the backlog is free at once, but its
 * link, with its queue pair, exists a little longer. We allow as many such
 * links as the backlog has places. So a peer that gives up its requests at once
 * can make us hold at most twice as many links as a peer that does not.
 *
 * Return: true if the listener must refuse a request now.
 */
bool sdp_accept_queue_full(const struct sdp_sock *parent)
{
	const struct sock *sk = &parent->sk;

	return sk_acceptq_is_full(sk) ||
	       atomic_read(&parent->child_links) / 2 >
		       READ_ONCE(sk->sk_max_ack_backlog);
}

/**
 * sdp_accept_queue_enter() - put a new child on the listener's pending list
 * @parent: listener
 * @child: new socket; on success the list takes over the caller's reference
 * @port: port that the request is for
 *
 * The child takes a place in the backlog and shares the listener's port. Both
 * happen under the listener's lock. So when the listener closes, it finds the
 * child, and frees its place and releases its port. Called without locks.
 *
 * Return: 0, -ECONNREFUSED if the socket no longer listens on @port, or -EAGAIN
 * if the backlog is full.
 */
int sdp_accept_queue_enter(struct sdp_sock *parent, struct sdp_sock *child,
			   u16 port)
{
	struct sock *sk = &parent->sk;
	int err = 0;

	sdp_conn_lock(parent);
	/* By now the socket may listen again, on another port. */
	if (sk->sk_state != TCP_LISTEN || parent->local.port != port) {
		err = -ECONNREFUSED;
	} else if (sdp_accept_queue_full(parent)) {
		err = -EAGAIN;
	} else {
		sdp_port_share(child, parent);
		sk_acceptq_added(sk);
		sock_hold(sk);
		child->parent = parent;
		sock_hold(sk);
		child->counted_by = parent;
		atomic_inc(&parent->child_links);
		list_add_tail(&child->queue_node, &parent->pending);
	}
	spin_unlock_bh(&parent->lock);
	return err;
}

/**
 * sdp_accept_queue_leave() - remove a child that will not be accepted
 * @parent: listener
 * @child: its child
 *
 * Removes the child from its list and releases its port.
 *
 * Return: true if the child was on a list; the caller then owns the list's
 * reference to it.
 */
bool sdp_accept_queue_leave(struct sdp_sock *parent, struct sdp_sock *child)
{
	bool was_there;

	sdp_conn_lock(parent);
	was_there = !list_empty(&child->queue_node);
	if (was_there) {
		list_del_init(&child->queue_node);
		sk_acceptq_removed(&parent->sk);
		sdp_port_release(child);
	}
	spin_unlock_bh(&parent->lock);
	return was_there;
}

/**
 * sdp_accept_queue_drop() - end a child that nobody will accept
 * @child: child socket that the caller has removed from its list
 *
 * Drops the list's reference to the child and the child's reference to its
 * listener (@parent).
 */
void sdp_accept_queue_drop(struct sdp_sock *child)
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
 * sdp_accept_queue_forget_link() - stop counting a link at its listener
 * @child: socket that owns the link; does nothing unless a listener counts it
 *
 * Called when the child is accepted, and after the last up-call of its link.
 * Only the first call has an effect. Takes no lock.
 */
void sdp_accept_queue_forget_link(struct sdp_sock *child)
{
	struct sdp_sock *counted_by = xchg(&child->counted_by, NULL);

	if (!counted_by)
		return;
	atomic_dec(&counted_by->child_links);
	sock_put(&counted_by->sk);
}

/*
 * Returns the listener of a child with a reference, or NULL. Another thread may
 * remove the child at the same time and drop its reference to the listener. RCU
 * protects the listener's memory meanwhile (SOCK_RCU_FREE).
 */
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
 * sdp_accept_queue_ready() - a child can be accepted now
 * @child: child socket whose connection is established; not locked
 *
 * Moves the child to the listener's accepted list and wakes the listener's
 * waiters. Does nothing if the child has been removed.
 */
void sdp_accept_queue_ready(struct sdp_sock *child)
{
	struct sdp_sock *parent = get_parent(child);
	bool there;

	if (!parent)
		return;
	sdp_conn_lock(parent);
	there = !list_empty(&child->queue_node);
	if (there)
		list_move_tail(&child->queue_node, &parent->accepted);
	spin_unlock_bh(&parent->lock);
	if (there)
		parent->sk.sk_data_ready(&parent->sk);
	sock_put(&parent->sk);
}

/**
 * sdp_accept_queue_failed() - a child has failed before it could be accepted
 * @child: child socket, not locked; the caller has a reference of its own
 *
 * Removes the child from the queue and ends it, unless another thread has
 * removed it already.
 */
void sdp_accept_queue_failed(struct sdp_sock *child)
{
	struct sdp_sock *parent = get_parent(child);

	if (!parent)
		return;
	if (sdp_accept_queue_leave(parent, child))
		sdp_accept_queue_drop(child);
	sock_put(&parent->sk);
}

/**
 * sdp_accept_queue_take() - take the oldest child that can be accepted
 * @parent: listener
 *
 * The child keeps its port and its @parent.
 *
 * Return: the child with the list's reference, or NULL.
 */
struct sdp_sock *sdp_accept_queue_take(struct sdp_sock *parent)
{
	struct sdp_sock *child;

	sdp_conn_lock(parent);
	child = list_first_entry_or_null(&parent->accepted, struct sdp_sock,
					 queue_node);
	if (child) {
		list_del_init(&child->queue_node);
		sk_acceptq_removed(&parent->sk);
	}
	spin_unlock_bh(&parent->lock);
	return child;
}

/**
 * sdp_accept_queue_take_any() - take any child, pending ones first
 * @parent: socket that has stopped listening
 *
 * The child keeps its port and its @parent.
 *
 * Return: the child with the list's reference, or NULL if both lists are empty.
 */
struct sdp_sock *sdp_accept_queue_take_any(struct sdp_sock *parent)
{
	struct list_head *list;
	struct sdp_sock *child = NULL;

	sdp_conn_lock(parent);
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
