// SPDX-License-Identifier: GPL-2.0
/*
 * Loopback transport: both ends on this host, no RDMA device.
 *
 * The two ends of a connection are one object, the pair. send() queues a
 * message in the inbox of the other end. The sender calls kick() after it has
 * dropped its owner's lock. The first task that finds the pair idle delivers
 * the messages of both inboxes, and those that are added while it runs. Other
 * tasks may add messages without end, so after some messages a work item takes
 * over. The receiver gets the sender's skb; no page is copied. A message has
 * arrived when the receiver has it, so up->sent follows up->received at once.
 *
 * An end gets up->ended when the other end is released and its own inbox is
 * empty, so after all messages. The pair is freed when both ends are released
 * and no task uses it any more (loop_pair.refs).
 *
 * Locks: an up-call takes its owner's lock, and loop_send() takes the pair's
 * lock under the owner's lock. So no up-call runs under the pair's lock.
 */
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "buf.h"
#include "transport.h"

struct loop_pair;

/*
 * Number of messages that one caller delivers, those of other senders
 * included, before a work item takes over: four windows (recv_buffers below) of
 * one direction.
 */
#define LOOP_RUN_MOST	64
/* Number of connects that a namespace's work item makes before it requeues. */
#define LOOP_JOIN_MOST	16

/**
 * struct loop_end - one end of a loopback connection
 * @link: the link that the owner uses
 * @pair: the connection
 * @inbox: messages for this end; under the pair's lock
 * @attached: the end has an owner that has not released it; under the pair's
 *	lock
 * @told: up->ended has been called for the owner; under the pair's lock
 */
struct loop_end {
	struct sdp_link link;
	struct loop_pair *pair;
	struct sk_buff_head inbox;
	bool attached;
	bool told;
};

/**
 * struct loop_pair - a loopback connection
 * @lock: covers the inboxes and flags; never held across an up-call
 * @refs: one per attached end, one per hold, one from loop_connect() until the
 *	ends are joined or the connect has failed
 * @running: a caller delivers messages, or @deliver is queued to do so
 * @joined: both ends have an owner; up->ended is never called before
 * @net: namespace
 * @local: address of the connecting end
 * @peer: address that it connects to, and of the accepting end
 * @connect: node in loop_net.connects until the two ends are joined
 * @deliver: continues where a caller stopped; the caller's reference passes to
 *	it
 * @release: calls up->released of both ends, and frees the pair
 * @end: connecting and accepting end
 */
struct loop_pair {
	spinlock_t lock;
	refcount_t refs;
	bool running;
	bool joined;
	struct net *net;
	struct sdp_endpoint local;
	struct sdp_endpoint peer;
	struct list_head connect;
	struct work_struct deliver;
	struct work_struct release;
	struct loop_end end[2];
};

/**
 * struct loop_net - pending connects of one namespace
 * @lock: covers @connects
 * @connects: pairs whose ends are not joined yet, each with a reference. They
 *	are in the order of their connect() calls, and a listener accepts them
 *	in this order
 * @join: joins them one by one. Each namespace has a work item of its own, so
 *	that a flood of connects in one does not delay the others
 */
struct loop_net {
	spinlock_t lock;
	struct list_head connects;
	struct work_struct join;
};

static const struct sdp_link_events *loop_up;
static struct workqueue_struct *loop_wq;
static struct workqueue_struct *loop_connects;
static unsigned int loop_net_id __read_mostly;

static struct loop_end *loop_to_end(struct sdp_link *link)
{
	return container_of(link, struct loop_end, link);
}

static struct loop_end *loop_other_end(struct loop_end *end)
{
	struct loop_pair *pair = end->pair;

	return end == &pair->end[0] ? &pair->end[1] : &pair->end[0];
}

/* Hand a message over, and tell its sender at once that it has arrived. */
static void deliver(struct loop_end *to, struct sk_buff *skb)
{
	struct loop_end *from = loop_other_end(to);
	struct sdp_sent sent = {
		.messages = 1,
		.payload = sdp_buf_cb(skb)->payload,
		.truesize = skb->truesize,
	};

	sdp_buf_cb(skb)->reused = false;
	loop_up->received(&to->link, skb, skb->len);
	__skb_queue_head_init(&sent.blocks);
	loop_up->sent(&from->link, &sent);
}

/*
 * Is up->ended due? It is when the other end is released, and the owner of @end
 * has got all messages but no up->ended yet.
 */
static bool loop_end_due(struct loop_end *end)
{
	return end->pair->joined && end->attached && !end->told &&
	       !loop_other_end(end)->attached && skb_queue_empty(&end->inbox);
}

/*
 * Make one up-call to an end: its next message, or up->ended. Called with the
 * pair's lock, which is dropped during the up-call. Returns false if there was
 * nothing to do.
 */
static bool loop_run_end(struct loop_end *end)
{
	struct loop_pair *pair = end->pair;
	struct sk_buff *skb = __skb_dequeue(&end->inbox);

	if (!skb && !loop_end_due(end))
		return false;
	if (!skb)
		end->told = true;
	spin_unlock_bh(&pair->lock);
	if (skb)
		deliver(end, skb);
	else
		loop_up->ended(&end->link);
	spin_lock_bh(&pair->lock);
	return true;
}

/*
 * Free a pair. This is a work item because up->released drops a reference on a
 * socket, and dropping the last one may sleep.
 */
static void loop_free(struct work_struct *work)
{
	struct loop_pair *pair = container_of(work, struct loop_pair, release);
	int i;

	for (i = 0; i < 2; i++) {
		__skb_queue_purge(&pair->end[i].inbox);
		if (pair->end[i].link.owner)
			loop_up->released(&pair->end[i].link);
	}
	kfree(pair);
}

static void loop_pair_put(struct loop_pair *pair)
{
	if (refcount_dec_and_test(&pair->refs))
		queue_work(loop_wq, &pair->release);
}

/*
 * Deliver a limited number of messages. Called with the pair's lock. Returns
 * true if there may be more.
 */
static bool loop_run_some(struct loop_pair *pair)
{
	int i;

	for (i = 0; i < LOOP_RUN_MOST; i++)
		if (!loop_run_end(&pair->end[0]) &&
		    !loop_run_end(&pair->end[1]))
			return false;
	return true;
}

/*
 * Deliver messages of the pair, unless another task does so already. Drops the
 * caller's reference, or passes it to the work item that continues. @first is
 * false in this work item only: @running was left set for it.
 */
static void loop_take_turn(struct loop_pair *pair, bool first)
{
	bool more = false;

	spin_lock_bh(&pair->lock);
	if (!first || !pair->running) {
		pair->running = true;
		more = loop_run_some(pair);
		pair->running = more;
	}
	spin_unlock_bh(&pair->lock);
	if (more)
		queue_work(loop_wq, &pair->deliver);
	else
		loop_pair_put(pair);
}

static void loop_deliver(struct work_struct *work)
{
	loop_take_turn(container_of(work, struct loop_pair, deliver), false);
}

/*
 * Deliver the messages of a pair. If another task delivers already, it finds
 * the caller's messages too. Drops a reference.
 */
static void loop_run_and_put(struct loop_pair *pair)
{
	loop_take_turn(pair, true);
}

static void loop_init_end(struct loop_pair *pair, struct loop_end *end)
{
	end->link.ops = &sdp_loop;
	end->link.up = loop_up;
	end->pair = pair;
	__skb_queue_head_init(&end->inbox);
}

/* A wildcard source becomes the destination address, as on interface lo. */
static void loop_choose_source(struct loop_pair *pair)
{
	if (sdp_is_any(&pair->local)) {
		pair->local.ip = pair->peer.ip;
		pair->local.scope = pair->peer.scope;
	}
}

/*
 * Attach the accepting end, or detach it again. The caller's own reference
 * keeps the pair.
 */
static void loop_set_attached(struct loop_pair *pair, bool attached)
{
	spin_lock_bh(&pair->lock);
	pair->end[1].attached = attached;
	spin_unlock_bh(&pair->lock);
	if (attached)
		refcount_inc(&pair->refs);
	else
		refcount_dec(&pair->refs);
}

static void loop_set_joined(struct loop_pair *pair)
{
	spin_lock_bh(&pair->lock);
	pair->joined = true;
	spin_unlock_bh(&pair->lock);
}

/*
 * Exchange Hello and HelloAck between the two owners, as an RDMA connection
 * does by REQ and REP.
 */
static int join(struct loop_pair *pair, struct sdp_incoming *in)
{
	struct sdp_link *mine = &pair->end[0].link;
	struct sdp_link *theirs = &pair->end[1].link;
	u8 hello[SDP_HELLO_LEN];
	int err;

	loop_choose_source(pair);
	err = loop_up->hello(mine, &pair->local, hello);
	if (err)
		return err;
	if (sdp_hello_parse(hello, sizeof(hello), &in->hello))
		return -EPROTO;
	in->net = pair->net;
	in->local = pair->peer;
	in->peer = pair->local;
	in->peer.port = in->hello.port;
	in->ifindex = pair->net->loopback_dev->ifindex;
	/* Before up->incoming: the new owner may release the end at once. */
	loop_set_attached(pair, true);
	err = loop_up->incoming(theirs, in);
	/*
	 * Only now up->ended may be called. If an end was released in between,
	 * loop_run_and_put() in our caller calls up->ended for the other end.
	 */
	if (err)
		loop_set_attached(pair, false);
	else
		loop_set_joined(pair);
	return err;
}

static void loop_join_pair(struct loop_pair *pair)
{
	struct sdp_link *link = &pair->end[0].link;
	struct sdp_incoming *in = kmalloc(sizeof(*in), GFP_KERNEL);
	int err = in ? join(pair, in) : -ENOMEM;

	if (err) {
		loop_up->failed(link, -err, "loop connect");
	} else {
		/*
		 * In this order: the accepting end may send as soon as it is
		 * established, and the HelloAck must come before its messages.
		 */
		loop_up->hello_ack(link, in->ack, sizeof(in->ack));
		loop_up->established(&pair->end[1].link);
	}
	kfree(in);
	loop_run_and_put(pair);
}

static struct loop_pair *loop_next_connect(struct loop_net *ln)
{
	struct loop_pair *pair;

	spin_lock_bh(&ln->lock);
	pair = list_first_entry_or_null(&ln->connects, struct loop_pair,
					connect);
	if (pair)
		list_del(&pair->connect);
	spin_unlock_bh(&ln->lock);
	return pair;
}

static void loop_join(struct work_struct *work)
{
	struct loop_net *ln = container_of(work, struct loop_net, join);
	struct loop_pair *pair;
	int i;

	for (i = 0; i < LOOP_JOIN_MOST; i++) {
		pair = loop_next_connect(ln);
		if (!pair)
			return;
		loop_join_pair(pair);
	}
	queue_work(loop_connects, &ln->join);
}

static struct sdp_link *loop_create(struct net *net,
				    const struct sdp_endpoint *local,
				    const struct sdp_endpoint *peer)
{
	struct loop_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);

	if (!pair)
		return NULL;
	spin_lock_init(&pair->lock);
	refcount_set(&pair->refs, 1);
	INIT_WORK(&pair->deliver, loop_deliver);
	INIT_WORK(&pair->release, loop_free);
	pair->net = net;
	pair->local = *local;
	pair->peer = *peer;
	loop_init_end(pair, &pair->end[0]);
	loop_init_end(pair, &pair->end[1]);
	pair->end[0].attached = true;
	return &pair->end[0].link;
}

/*
 * The work item joins the ends, because up-calls are not allowed here, under
 * the owner's lock. It has a reference on the pair.
 */
static void loop_connect(struct sdp_link *link,
			 const struct sdp_path_wish *wish)
{
	struct loop_pair *pair = loop_to_end(link)->pair;
	struct loop_net *ln = net_generic(pair->net, loop_net_id);

	refcount_inc(&pair->refs);
	spin_lock_bh(&ln->lock);
	list_add_tail(&pair->connect, &ln->connects);
	spin_unlock_bh(&ln->lock);
	queue_work(loop_connects, &ln->join);
}

static int loop_prepare(struct sdp_link *link, struct sdp_link_config *config)
{
	return 0;
}

/* A receive needs no buffer here: the message brings its own. */
static u16 loop_post(struct sdp_link *link, u16 n, u32 size)
{
	return n;
}

static void loop_recycle(struct sdp_link *link, struct sk_buff *skb)
{
	kfree_skb(skb);
}

static void loop_send(struct sdp_link *link, struct sk_buff *skb, bool flush)
{
	struct loop_end *end = loop_to_end(link);
	struct loop_pair *pair = end->pair;

	spin_lock(&pair->lock);
	__skb_queue_tail(&loop_other_end(end)->inbox, skb);
	spin_unlock(&pair->lock);
}

static void loop_hold(struct sdp_link *link)
{
	refcount_inc(&loop_to_end(link)->pair->refs);
}

static void loop_kick(struct sdp_link *link)
{
	loop_run_and_put(loop_to_end(link)->pair);
}

static void loop_release(struct sdp_link *link, bool abort)
{
	struct loop_end *end = loop_to_end(link);
	struct loop_pair *pair = end->pair;

	spin_lock_bh(&pair->lock);
	end->attached = false;
	spin_unlock_bh(&pair->lock);
	loop_run_and_put(pair);
}

static const char *loop_device(const struct sdp_link *link)
{
	return "loop";
}

static int loop_listen(struct net *net, u16 port)
{
	return 0;
}

static void loop_unlisten(struct net *net, u16 port)
{
}

const struct sdp_transport sdp_loop = {
	.name		= "loop",
	.recv_size	= SDP_BSDH_LEN + 32 * 1024,
	.recv_buffers	= 16,
	.hands_over	= true,
	.pools		= true,
	.create		= loop_create,
	.connect	= loop_connect,
	.prepare	= loop_prepare,
	.post		= loop_post,
	.recycle	= loop_recycle,
	.send		= loop_send,
	.hold		= loop_hold,
	.kick		= loop_kick,
	.release	= loop_release,
	.device		= loop_device,
	.listen		= loop_listen,
	.unlisten	= loop_unlisten,
};

static int __net_init loop_net_begin(struct net *net)
{
	struct loop_net *ln = net_generic(net, loop_net_id);

	spin_lock_init(&ln->lock);
	INIT_LIST_HEAD(&ln->connects);
	INIT_WORK(&ln->join, loop_join);
	return 0;
}

/*
 * The socket that owns a pair holds its namespace, unless it is a socket of the
 * kernel. Such a socket has been closed before, but its connect may still be in
 * the list. Wait until the work item has taken all connects.
 */
static void __net_exit loop_net_end(struct net *net)
{
	struct loop_net *ln = net_generic(net, loop_net_id);

	do {
		flush_work(&ln->join);
	} while (!list_empty(&ln->connects));
}

static struct pernet_operations loop_net_ops = {
	.init	= loop_net_begin,
	.exit	= loop_net_end,
	.id	= &loop_net_id,
	.size	= sizeof(struct loop_net),
};

/**
 * sdp_loop_init() - register the loopback transport
 * @up: up-calls to the owners of its links
 *
 * Return: 0 or an errno.
 */
int sdp_loop_init(const struct sdp_link_events *up)
{
	int err = -ENOMEM;

	loop_up = up;
	loop_wq = alloc_workqueue("sdp_loop", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!loop_wq)
		return -ENOMEM;
	loop_connects = alloc_workqueue("sdp_loop_connect", WQ_UNBOUND, 0);
	if (!loop_connects)
		goto destroy_wq;
	err = register_pernet_subsys(&loop_net_ops);
	if (!err)
		return 0;
	destroy_workqueue(loop_connects);
destroy_wq:
	destroy_workqueue(loop_wq);
	return err;
}

/**
 * sdp_loop_exit() - undo sdp_loop_init()
 *
 * Called when there are no links any more.
 */
void sdp_loop_exit(void)
{
	unregister_pernet_subsys(&loop_net_ops);
	destroy_workqueue(loop_connects);
	destroy_workqueue(loop_wq);
}
