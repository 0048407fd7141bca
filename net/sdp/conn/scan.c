// SPDX-License-Identifier: GPL-2.0
/*
 * Deadlock scan: SrcAvails of peers that nobody reads (C9).
 *
 * Two programs may both write first, and each waits until the other one reads.
 * So when several scans in a row find that nobody has read from the peer's
 * SrcAvail, we ask the peer to send the rest in messages (SendSm), and its
 * writer can continue.
 *
 * Each namespace has one scanner, a work item. It runs every net.sdp.scan_ms
 * milliseconds while at least one connection has a SrcAvail that is not read
 * yet, and not otherwise. For a connection, a scan counts only when a whole
 * period has passed since the SrcAvail came, or since the last scan that
 * counted.
 *
 * A connection is in the scanner's list while it is watched. It has a link
 * then, and the link has a reference on the socket. Lock order: the socket's
 * @lock, then the scanner's.
 */
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "conn.h"
#include "output.h"
#include "scan.h"
#include "../base/trace.h"

static unsigned int scan_net_id __read_mostly;

/**
 * struct sdp_scanner - scanner of one namespace
 * @net: the namespace
 * @lock: covers @watched and the due time of @work
 * @watched: connections, linked by sdp_sock.scan_node
 * @work: the next scan; pending or running while @watched is not empty
 */
struct sdp_scanner {
	struct net *net;
	spinlock_t lock;
	struct list_head watched;
	struct delayed_work work;
};

static unsigned long scan_period(const struct net *net)
{
	return msecs_to_jiffies(READ_ONCE(sdp_net(net)->settings.scan_ms));
}

/*
 * Is no scan due within one period? This is so if none is pending, or if one is
 * pending with a longer period because the setting has become shorter.
 */
static bool scan_due_late(struct sdp_scanner *s)
{
	return !delayed_work_pending(&s->work) ||
	       time_before(jiffies + scan_period(s->net),
			   READ_ONCE(s->work.timer.expires));
}

/* Make sure that a scan is due within one period. Under the scanner's lock. */
static void scan_arm(struct sdp_scanner *s)
{
	if (scan_due_late(s))
		mod_delayed_work(sdp_wq, &s->work, scan_period(s->net));
}

/**
 * sdp_scan_watch() - the peer waits until its SrcAvail is read: watch it
 * @ssk: socket, locked, with a link
 */
void sdp_scan_watch(struct sdp_sock *ssk)
{
	struct sdp_scanner *s = net_generic(sock_net(&ssk->sk), scan_net_id);

	ssk->scans = 0;
	ssk->scan_got = sdp_engine_srcavail_rx_read(&ssk->engine);
	ssk->scan_since = jiffies;
	/* The socket may still be in the list for an earlier SrcAvail. */
	if (!list_empty(&ssk->scan_node) && !scan_due_late(s))
		return;
	spin_lock(&s->lock);
	if (list_empty(&ssk->scan_node))
		list_add_tail(&ssk->scan_node, &s->watched);
	scan_arm(s);
	spin_unlock(&s->lock);
}

/**
 * sdp_scan_stop() - stop watching a connection
 * @ssk: socket, locked; it need not be watched
 *
 * Called when the SrcAvail is read or is being declined, or the link has ended.
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

/*
 * Count a scan of a connection. Returns true when nobody has read for
 * scan_count scans in a row, so that the peer has to send messages.
 */
static bool scan_found_unread(struct sdp_sock *ssk)
{
	const struct net *net = sock_net(&ssk->sk);
	bool reading = sdp_engine_srcavail_rx_reading(&ssk->engine);
	u32 got = sdp_engine_srcavail_rx_read(&ssk->engine);

	if (time_before(jiffies, ssk->scan_since + scan_period(net)))
		return false;
	ssk->scan_since = jiffies;
	ssk->scans = reading || got != ssk->scan_got ? 0 : ssk->scans + 1;
	ssk->scan_got = got;
	return ssk->scans >= READ_ONCE(sdp_net(net)->settings.scan_count);
}

/* Decline the SrcAvail: the peer sends the rest in messages. */
static void scan_fire(struct sdp_sock *ssk)
{
	SDP_INC(sock_net(&ssk->sk), ScansFired);
	ssk->scans_fired++;
	trace_sdp_scan(&ssk->sk, ssk->local.port, ssk->peer.port,
		       sdp_engine_srcavail_rx_left(&ssk->engine), ssk->scans);
	sdp_engine_srcavail_decline(&ssk->engine);
}

static void scan_sock(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	/* The watch may have ended before we had the lock. */
	if (list_empty(&ssk->scan_node)) {
		;
	} else if (!sdp_engine_srcavail_rx_left(&ssk->engine) &&
		   !sdp_engine_srcavail_rx_reading(&ssk->engine)) {
		sdp_scan_stop(ssk);
	} else if (scan_found_unread(ssk)) {
		sdp_scan_stop(ssk);
		scan_fire(ssk);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

/*
 * Move the next connection of @rest, those not yet scanned, back to the watched
 * ones. Returns it with a reference, or NULL.
 */
static struct sdp_sock *scan_take_next(struct sdp_scanner *s,
				       struct list_head *rest)
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

static void scan_run(struct work_struct *work)
{
	struct sdp_scanner *s =
		container_of(to_delayed_work(work), struct sdp_scanner, work);
	struct sdp_sock *ssk;
	LIST_HEAD(rest);

	SDP_INC(s->net, ScansRun);
	spin_lock_bh(&s->lock);
	list_splice_init(&s->watched, &rest);
	spin_unlock_bh(&s->lock);
	while ((ssk = scan_take_next(s, &rest))) {
		scan_sock(ssk);
		sock_put(&ssk->sk);
		cond_resched();
	}
	spin_lock_bh(&s->lock);
	if (!list_empty(&s->watched))
		scan_arm(s);
	spin_unlock_bh(&s->lock);
}

static int __net_init scan_net_init(struct net *net)
{
	struct sdp_scanner *s = net_generic(net, scan_net_id);

	s->net = net;
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->watched);
	INIT_DELAYED_WORK(&s->work, scan_run);
	return 0;
}

static void __net_exit scan_net_exit(struct net *net)
{
	struct sdp_scanner *s = net_generic(net, scan_net_id);

	/* No socket of the namespace is left that could arm the work again. */
	WARN_ON_ONCE(!list_empty(&s->watched));
	cancel_delayed_work_sync(&s->work);
}

static struct pernet_operations scan_net_ops = {
	.init	= scan_net_init,
	.exit	= scan_net_exit,
	.id	= &scan_net_id,
	.size	= sizeof(struct sdp_scanner),
};

/**
 * sdp_scan_init() - give every namespace a scanner
 *
 * Return: 0 or an errno.
 */
int sdp_scan_init(void)
{
	return register_pernet_subsys(&scan_net_ops);
}

/**
 * sdp_scan_exit() - undo sdp_scan_init(); no sockets are left
 */
void sdp_scan_exit(void)
{
	unregister_pernet_subsys(&scan_net_ops);
}
