// SPDX-License-Identifier: GPL-2.0
/*
 * The deadlock scan (C9): offers of peers that nobody comes to read.
 *
 * Each program may be waiting for the other one to read first. So when nobody has read an offer for
 * some looks, the peer is asked to send it in messages, and its writer goes on.
 *
 * A namespace has one scanner, a work item that runs every net.sdp.scan_ms while at least one
 * connection has an offer that is not read yet, and not otherwise. A look is counted when a whole
 * period has passed since the offer came, or since the last look.
 *
 * A connection is in the scanner's list while it is watched; it has a link then, which holds the
 * socket. Lock order: the socket's @lock, then the scanner's.
 */
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "../control/trace.h"
#include "sock.h"

static unsigned int scan_net_id __read_mostly;

/**
 * struct sdp_scanner - of one namespace
 * @net: the namespace
 * @lock: covers @watched, and when @work is due
 * @watched: connections, linked by sdp_sock.scan_node
 * @work: the next look at all of them; pending or running whenever there are any
 */
struct sdp_scanner {
	struct net *net;
	spinlock_t lock;
	struct list_head watched;
	struct delayed_work work;
};

static unsigned long period(const struct net *net)
{
	return msecs_to_jiffies(READ_ONCE(sdp_net(net)->settings.scan_ms));
}

/* Is the next look not due within a period? A period that has become shorter counts for all. */
static bool due_late(struct sdp_scanner *s)
{
	return !delayed_work_pending(&s->work) ||
	       time_before(jiffies + period(s->net),
			   READ_ONCE(s->work.timer.expires));
}

/* With @lock. */
static void arm(struct sdp_scanner *s)
{
	if (due_late(s))
		mod_delayed_work(sdp_wq, &s->work, period(s->net));
}

/**
 * sdp_scan_watch() - the peer has offered its memory, and waits until it is read
 * @ssk: socket, locked, with a link
 */
void sdp_scan_watch(struct sdp_sock *ssk)
{
	struct sdp_scanner *s = net_generic(sock_net(&ssk->sk), scan_net_id);

	ssk->scans = 0;
	ssk->scan_got = sdp_engine_srcavail_rx_read(&ssk->engine);
	ssk->scan_since = jiffies;
	/* It may be there still for an offer that has been read. */
	if (!list_empty(&ssk->scan_node) && !due_late(s))
		return;
	spin_lock(&s->lock);
	if (list_empty(&ssk->scan_node))
		list_add_tail(&ssk->scan_node, &s->watched);
	arm(s);
	spin_unlock(&s->lock);
}

/**
 * sdp_scan_stop() - there is nothing more to be read
 * @ssk: socket, locked
 */
void sdp_scan_stop(struct sdp_sock *ssk)
{
	struct sdp_scanner *s = net_generic(sock_net(&ssk->sk), scan_net_id);

	if (list_empty(&ssk->scan_node))
		return;
	spin_lock(&s->lock);
	list_del_init(&ssk->scan_node);
	spin_unlock(&s->lock);
}

/* Returns whether nobody has come for so long that the peer shall send messages. */
static bool nobody_reads(struct sdp_sock *ssk)
{
	const struct net *net = sock_net(&ssk->sk);
	bool reading = sdp_engine_srcavail_rx_reading(&ssk->engine);
	u32 got = sdp_engine_srcavail_rx_read(&ssk->engine);

	if (time_before(jiffies, ssk->scan_since + period(net)))
		return false;
	ssk->scan_since = jiffies;
	ssk->scans = reading || got != ssk->scan_got ? 0 : ssk->scans + 1;
	ssk->scan_got = got;
	return ssk->scans >= READ_ONCE(sdp_net(net)->settings.scan_count);
}

static void fire(struct sdp_sock *ssk)
{
	SDP_INC(sock_net(&ssk->sk), ScansFired);
	ssk->scans_fired++;
	trace_sdp_scan(&ssk->sk, ssk->local.port, ssk->peer.port,
		       sdp_engine_srcavail_rx_left(&ssk->engine), ssk->scans);
	sdp_engine_srcavail_decline(&ssk->engine);
}

static void look(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	/* It may have ended before it was locked. */
	if (list_empty(&ssk->scan_node)) {
		;
	} else if (!sdp_engine_srcavail_rx_left(&ssk->engine) &&
		   !sdp_engine_srcavail_rx_reading(&ssk->engine)) {
		sdp_scan_stop(ssk);
	} else if (nobody_reads(ssk)) {
		sdp_scan_stop(ssk);
		fire(ssk);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

/* The next one of @rest, which is watched on; with a reference. */
static struct sdp_sock *take_next(struct sdp_scanner *s, struct list_head *rest)
{
	struct sdp_sock *ssk;

	spin_lock_bh(&s->lock);
	ssk = list_first_entry_or_null(rest, struct sdp_sock, scan_node);
	if (ssk) {
		list_move_tail(&ssk->scan_node, &s->watched);
		sock_hold(&ssk->sk);
	}
	spin_unlock_bh(&s->lock);
	return ssk;
}

static void scan(struct work_struct *work)
{
	struct sdp_scanner *s =
		container_of(to_delayed_work(work), struct sdp_scanner, work);
	struct sdp_sock *ssk;
	LIST_HEAD(rest);

	SDP_INC(s->net, ScansRun);
	spin_lock_bh(&s->lock);
	list_splice_init(&s->watched, &rest);
	spin_unlock_bh(&s->lock);
	while ((ssk = take_next(s, &rest))) {
		look(ssk);
		sock_put(&ssk->sk);
		cond_resched();
	}
	spin_lock_bh(&s->lock);
	if (!list_empty(&s->watched))
		arm(s);
	spin_unlock_bh(&s->lock);
}

static int __net_init init_one(struct net *net)
{
	struct sdp_scanner *s = net_generic(net, scan_net_id);

	s->net = net;
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->watched);
	INIT_DELAYED_WORK(&s->work, scan);
	return 0;
}

static void __net_exit exit_one(struct net *net)
{
	struct sdp_scanner *s = net_generic(net, scan_net_id);

	/* The sockets are gone, and with them what makes it run again. */
	WARN_ON_ONCE(!list_empty(&s->watched));
	cancel_delayed_work_sync(&s->work);
}

static struct pernet_operations scan_net_ops = {
	.init	= init_one,
	.exit	= exit_one,
	.id	= &scan_net_id,
	.size	= sizeof(struct sdp_scanner),
};

/**
 * sdp_scan_init() - every namespace has a scanner
 *
 * Return: 0 or an errno.
 */
int sdp_scan_init(void)
{
	return register_pernet_subsys(&scan_net_ops);
}

/**
 * sdp_scan_exit() - undo sdp_scan_init(); there are no sockets any more
 */
void sdp_scan_exit(void)
{
	unregister_pernet_subsys(&scan_net_ops);
}
