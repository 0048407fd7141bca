// SPDX-License-Identifier: GPL-2.0
/*
 * Orphans: connections that outlive their application.
 *
 * A closed socket whose data is still in flight becomes an orphan: it keeps its
 * link until both DisConns have been exchanged. The peer may read as slowly as
 * it likes, so sk_timer bounds the time without progress (fin_timeout_ms,
 * TCP_LINGER2). No process has an open file for an orphan, so no limit on open
 * files bounds the number of orphans, but net.sdp.max_orphans does.
 *
 * sdp_sock.orphan is covered by the socket's lock.
 */
#include "conn.h"
#include "orphan.h"

/*
 * Time without progress after which an orphan fails, in jiffies. TCP_LINGER2
 * applies once only the peer's DisConn is missing.
 */
static unsigned long fin_timeout(const struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	int linger2 = READ_ONCE(ssk->opt.linger2);

	if (linger2 && ssk->engine.state == SDP_DISC_ARRIVED)
		return max(linger2, 0) * HZ;
	return msecs_to_jiffies(READ_ONCE(set->fin_timeout_ms));
}

/**
 * sdp_orphan_progress() - restart an orphan's timer after progress
 * @ssk: orphan, locked
 */
void sdp_orphan_progress(struct sdp_sock *ssk)
{
	sk_reset_timer(&ssk->sk, &ssk->sk.sk_timer, jiffies + fin_timeout(ssk));
}

/**
 * sdp_orphan_timer() - timer: an orphan has made no progress for too long
 * @ssk: orphan, not locked
 *
 * Its connection fails with ETIMEDOUT.
 */
void sdp_orphan_timer(struct sdp_sock *ssk)
{
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	/* Progress may have restarted the timer before we had the lock. */
	if (ssk->link && !timer_pending(&ssk->sk.sk_timer)) {
		SDP_INC(sock_net(&ssk->sk), OrphanTimeouts);
		sdp_conn_fail(ssk, ETIMEDOUT, "orphan timeout", &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

/* Number of sockets with @orphan set, in all namespaces. */
static atomic_t orphans = ATOMIC_INIT(0);

/*
 * Each namespace may have max_orphans divided by this, however many orphans the
 * other namespaces have. So no namespace can use up the whole limit. The number
 * of all orphans is at most max_orphans plus one such part for each namespace.
 */
#define ORPHAN_PART_DIVISOR	16

/*
 * Count a new orphan. Returns whether there is room for it; it is counted in
 * either case.
 */
static bool room_for_orphan(struct net *net)
{
	int max = READ_ONCE(sdp_max_orphans);
	int here = atomic_inc_return(&sdp_net(net)->orphans);

	return atomic_inc_return(&orphans) <= max ||
	       here <= max / ORPHAN_PART_DIVISOR;
}

/**
 * sdp_orphan_begin() - make a closed socket that still has a link an orphan
 * @ssk: closed socket, locked
 * @todo: notes the release of the link if there are too many orphans
 *
 * Starts the orphan's timer. If there are too many orphans, the connection
 * fails with ECONNRESET instead.
 */
void sdp_orphan_begin(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	ssk->orphan = true;
	if (room_for_orphan(sock_net(&ssk->sk))) {
		sdp_orphan_progress(ssk);
		return;
	}
	SDP_INC(sock_net(&ssk->sk), OrphansRefused);
	sdp_conn_fail(ssk, ECONNRESET, "too many orphans", todo);
}

/**
 * sdp_orphan_over() - a socket has lost its link: it is no longer an orphan
 * @ssk: socket, locked; it need not be an orphan
 */
void sdp_orphan_over(struct sdp_sock *ssk)
{
	if (ssk->orphan) {
		atomic_dec(&orphans);
		atomic_dec(&sdp_net(sock_net(&ssk->sk))->orphans);
	}
	ssk->orphan = false;
}
