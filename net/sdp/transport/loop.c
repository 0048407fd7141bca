// SPDX-License-Identifier: GPL-2.0
/*
 * Loopback transport: both ends on this host, memory only, no RDMA device.
 *
 * The two ends of a connection are one object, the pair. send() puts a message into the
 * other end's inbox; kick(), called when the sender has dropped its lock, runs the pair:
 * whoever finds it idle delivers what is in both inboxes, and what its own deliveries
 * add. Others may go on adding meanwhile, so after some messages a work item takes over.
 * The skb itself changes hands, its pages are not copied. A message has arrived when the
 * receiver has it, so "sent" follows at once.
 *
 * The end of a link is told when the other end is released and the inbox is empty, so it
 * is seen in order. The pair is freed when both ends are released and nobody is about to
 * run it (@refs: one per attached end, one per hold).
 */
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "buf.h"
#include "transport.h"

struct loop_pair;

/* What one caller delivers, for others too, before a work item goes on: two windows of one way. */
#define RUN_MOST	64
/* Connects of one namespace that are made before others have a turn. */
#define JOIN_MOST	16

/**
 * struct loop_end - one end
 * @link: what the owner holds
 * @pair: both ends
 * @inbox: messages for this end, under the pair's lock
 * @attached: has an owner that has not released it
 * @told: the owner has been told of the other end's end
 */
struct loop_end {
	struct sdp_link link;
	struct loop_pair *pair;
	struct sk_buff_head inbox;
	bool attached;
	bool told;
};

/**
 * struct loop_pair - a connection
 * @lock: covers the inboxes and flags; never held across an up-call
 * @refs: attached ends and holds
 * @running: somebody is delivering, or the work item is about to
 * @joined: both ends exist; before, there is nobody to tell of an end
 * @net: namespace
 * @local: connecting side's address
 * @peer: address connected to
 * @connect: in its namespace's list until the two ends are joined
 * @deliver: goes on where a caller stopped; has a reference while it is queued
 * @release: the last words, said from process context
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
 * struct loop_net - connects of one namespace
 * @lock: covers @connects
 * @connects: pairs whose ends are still to be joined, each with a reference, in
 *	the order in which they were asked for: so a listener accepts them
 * @join: joins them, one after the other. Each namespace has a work item of its
 *	own, so that a flood of connects in one does not delay the others.
 */
struct loop_net {
	spinlock_t lock; /* covers @connects */
	struct list_head connects;
	struct work_struct join;
};

static const struct sdp_link_events *loop_up;
static struct workqueue_struct *loop_wq;
static struct workqueue_struct *loop_connects;
static unsigned int loop_net_id __read_mostly;

static struct loop_end *to_end(struct sdp_link *link)
{
	return container_of(link, struct loop_end, link);
}

static struct loop_end *other(struct loop_end *end)
{
	struct loop_pair *pair = end->pair;

	return end == &pair->end[0] ? &pair->end[1] : &pair->end[0];
}

static void deliver(struct loop_end *to, struct sk_buff *skb)
{
	struct loop_end *from = other(to);
	struct sdp_sent sent = {
		.messages = 1,
		.payload = sdp_buf_cb(skb)->payload,
		.truesize = skb->truesize,
	};

	sdp_buf_cb(skb)->again = false;
	loop_up->received(&to->link, skb, skb->len);
	__skb_queue_head_init(&sent.blocks);
	loop_up->sent(&from->link, &sent);
}

/* The other end is released and nothing is left in the inbox: say so, once. */
static bool must_tell(struct loop_end *end)
{
	return end->pair->joined && end->attached && !end->told &&
	       !other(end)->attached && skb_queue_empty(&end->inbox);
}

/* One thing to do for one end. Called and returns with the lock held. */
static bool run_end(struct loop_end *end)
{
	struct loop_pair *pair = end->pair;
	struct sk_buff *skb = __skb_dequeue(&end->inbox);

	if (!skb && !must_tell(end))
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
 * The last words drop references on sockets, the last of which may sleep: they are said
 * by a work item.
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

static void pair_put(struct loop_pair *pair)
{
	if (refcount_dec_and_test(&pair->refs))
		queue_work(loop_wq, &pair->release);
}

/* Deliver, but not for ever. Called with the lock held; returns whether there may be more. */
static bool run_some(struct loop_pair *pair)
{
	int i;

	for (i = 0; i < RUN_MOST; i++)
		if (!run_end(&pair->end[0]) && !run_end(&pair->end[1]))
			return false;
	return true;
}

/* One turn. Drops a reference, or leaves it to the work item, which has the next one. */
static void take_turn(struct loop_pair *pair, bool first)
{
	bool more = false;

	spin_lock_bh(&pair->lock);
	if (!first || !pair->running) {
		pair->running = true;
		more = run_some(pair);
		pair->running = more;
	}
	spin_unlock_bh(&pair->lock);
	if (more)
		queue_work(loop_wq, &pair->deliver);
	else
		pair_put(pair);
}

/* Behind whatever else waits for a worker. */
static void loop_deliver(struct work_struct *work)
{
	take_turn(container_of(work, struct loop_pair, deliver), false);
}

/* Deliver, unless somebody is at it, who then finds ours too. Drops a reference. */
static void run_and_put(struct loop_pair *pair)
{
	take_turn(pair, true);
}

static void init_end(struct loop_pair *pair, struct loop_end *end)
{
	end->link.ops = &sdp_loop;
	end->link.up = loop_up;
	end->pair = pair;
	__skb_queue_head_init(&end->inbox);
}

/* A wildcard source becomes the address connected to, as on the lo interface. */
static void choose_source(struct loop_pair *pair)
{
	if (sdp_is_any(&pair->local)) {
		pair->local.ip = pair->peer.ip;
		pair->local.scope = pair->peer.scope;
	}
}

/* The reference is never the last one: the caller holds the pair too. */
static void set_attached(struct loop_pair *pair, bool attached)
{
	spin_lock_bh(&pair->lock);
	pair->end[1].attached = attached;
	spin_unlock_bh(&pair->lock);
	if (attached)
		refcount_inc(&pair->refs);
	else
		refcount_dec(&pair->refs);
}

static void set_joined(struct loop_pair *pair)
{
	spin_lock_bh(&pair->lock);
	pair->joined = true;
	spin_unlock_bh(&pair->lock);
}

static int join(struct loop_pair *pair, struct sdp_incoming *in)
{
	struct sdp_link *mine = &pair->end[0].link;
	struct sdp_link *theirs = &pair->end[1].link;
	u8 hello[SDP_HELLO_LEN];
	int err;

	choose_source(pair);
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
	/* Before the other end has an owner, who may release it at any time. */
	set_attached(pair, true);
	err = loop_up->incoming(theirs, in);
	/* But there was nobody to tell of an end; whoever let go meanwhile is told of from now. */
	if (err)
		set_attached(pair, false);
	else
		set_joined(pair);
	return err;
}

static void join_pair(struct loop_pair *pair)
{
	struct sdp_link *link = &pair->end[0].link;
	struct sdp_incoming *in = kmalloc(sizeof(*in), GFP_KERNEL);
	int err = in ? join(pair, in) : -ENOMEM;

	if (err) {
		loop_up->failed(link, -err, "loop connect");
	} else {
		/* In this order: the accepting side may send as soon as it stands. */
		loop_up->hello_ack(link, in->ack, sizeof(in->ack));
		loop_up->established(&pair->end[1].link);
	}
	kfree(in);
	run_and_put(pair);
}

static struct loop_pair *next_connect(struct loop_net *ln)
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

	for (i = 0; i < JOIN_MOST; i++) {
		pair = next_connect(ln);
		if (!pair)
			return;
		join_pair(pair);
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
	init_end(pair, &pair->end[0]);
	init_end(pair, &pair->end[1]);
	pair->end[0].attached = true;
	return &pair->end[0].link;
}

/* Under the owner's lock, so the rest is done by a work item, which holds the pair. */
static void loop_connect(struct sdp_link *link,
			 const struct sdp_path_wish *wish)
{
	struct loop_pair *pair = to_end(link)->pair;
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

/* A receive is only a permission here; the memory comes with the message. */
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
	struct loop_end *end = to_end(link);
	struct loop_pair *pair = end->pair;

	spin_lock(&pair->lock);
	__skb_queue_tail(&other(end)->inbox, skb);
	spin_unlock(&pair->lock);
}

static void loop_hold(struct sdp_link *link)
{
	refcount_inc(&to_end(link)->pair->refs);
}

static void loop_kick(struct sdp_link *link)
{
	run_and_put(to_end(link)->pair);
}

static void loop_release(struct sdp_link *link, bool abort)
{
	struct loop_end *end = to_end(link);
	struct loop_pair *pair = end->pair;

	spin_lock_bh(&pair->lock);
	end->attached = false;
	spin_unlock_bh(&pair->lock);
	run_and_put(pair);
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
 * A pair's owner holds its namespace, unless it is the kernel's own: then it has
 * been closed, and its connect may be the last that is still in the list.
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
 * sdp_loop_init() - make the loopback transport usable
 * @up: the layer above
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
 * sdp_loop_exit() - undo sdp_loop_init(); there are no links any more
 */
void sdp_loop_exit(void)
{
	unregister_pernet_subsys(&loop_net_ops);
	destroy_workqueue(loop_connects);
	destroy_workqueue(loop_wq);
}
