// SPDX-License-Identifier: GPL-2.0
/*
 * Demand: receives that are posted only while the peer needs them.
 *
 * Receives are most of the memory of an idle connection. So at first few of
 * them are posted (idle_buffers), which is enough for requests and answers of
 * a message each. A message that leaves the peer with little credit is a
 * demand: the peer may have to wait for our grant before it can send more. Then
 * as many as the link has room for are posted, until there was no demand for
 * resize_idle_ms. This applies to receives of the first size; resize.c decides
 * the number of larger ones.
 *
 * Only the target changes (credit.target). Posted receives cannot be taken
 * back, so after a lower target they are not replaced until few are left.
 *
 * A demand speeds the peer up, but the peer never depends on it. For each
 * target of at least three, a peer that stops at its last credit gets a credit
 * update (threshold_for() and sdp_credit_peer_is_bound() in credit.c), as soon
 * as the reader keeps up and there is memory.
 *
 * All functions run under the socket's @lock.
 */
#include "demand.h"
#include "memory.h"

/**
 * sdp_demand_start() - choose how few receives a new connection may have
 * @ssk: socket, locked, with a link; its @recv_max and @coalesce are set
 * @scheme: flow control that it asks for, &enum sdp_scheme
 * @first: number of receives of a child that is not yet accepted, which keeps
 *	at least as many afterwards; 0 for other sockets
 *
 * All are posted from the beginning where the number must not change: if their
 * memory is not the connection's own, if other rails may join, if both ends
 * may send without a grant (%SDP_BY_NIC), and if each unread message keeps its
 * receive.
 */
void sdp_demand_start(struct sdp_sock *ssk, u8 scheme, u16 first)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	const struct sdp_transport *ops = ssk->link->ops;
	unsigned int idle = max_t(unsigned int, first,
				  READ_ONCE(set->idle_buffers));

	ssk->demand = false;
	ssk->recv_idle = ssk->recv_max;
	if (!ops->pools && !ops->keeps && scheme != SDP_BY_NIC && ssk->coalesce)
		ssk->recv_idle = min_t(unsigned int, ssk->recv_max, idle);
}

/**
 * sdp_demand_receives() - how many receives of the first size to keep posted
 * @ssk: socket, locked; once it has been accepted
 *
 * Return: number of receives.
 */
u16 sdp_demand_receives(const struct sdp_sock *ssk)
{
	return ssk->demand ? ssk->recv_max : ssk->recv_idle;
}

static void demand_set(struct sdp_sock *ssk, bool demand)
{
	ssk->demand = demand;
	/* Make resize.c compute the number of receives again. */
	ssk->recv_largest = 0;
}

/*
 * An empty Data grants credit, reports room in a ring, or uses up a larger
 * receive. Our own messages cause them, or a pause, so they are no demand. Nor
 * is the DisConn, the last message of most peers. All other messages may be
 * followed by more of their kind.
 */
static bool demand_counts(const struct sdp_msg *msg)
{
	return msg->payload_len || (msg->h.mid != SDP_MID_DATA &&
				    msg->h.mid != SDP_MID_DISCONN);
}

/* Has more than resize_idle_ms passed? */
static bool demand_idle(const struct sdp_sock *ssk, unsigned long since)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	unsigned long idle = msecs_to_jiffies(READ_ONCE(set->resize_idle_ms));

	return time_after(jiffies, since + idle);
}

/*
 * Does the message show a demand that there is memory for? While memory is
 * short, a demand would raise T, and with it the number of receives that are
 * granted beyond every limit (sdp_memory_for_receives()).
 */
static bool demand_shows(const struct sdp_sock *ssk)
{
	return sdp_credit_peer_is_low(&ssk->engine.credit) &&
	       !sdp_memory_is_short(&ssk->sk);
}

/**
 * sdp_demand_heard() - does a message of the peer change its demand?
 * @ssk: socket, locked; @last_received is still the time of earlier payload
 * @msg: message received; the engine has processed it
 *
 * The caller calls sdp_conn_progress() before it drops the lock. So receives
 * are posted, and granted, for the very message that has made the demand.
 *
 * Before accept() the demand is only noted.
 */
void sdp_demand_heard(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	const struct sdp_resize *r = &ssk->engine.resize;

	if (ssk->engine.dead || ssk->recv_idle == ssk->recv_max)
		return;
	/* The peer has been idle and wants the first size again (E5). */
	if (msg->h.mid == SDP_MID_CHRCVBUF && msg->size <= r->recv_first) {
		demand_set(ssk, false);
		return;
	}
	if (r->posting > r->recv_first || !demand_counts(msg))
		return;
	/*
	 * A peer that sends so seldom does not wait for credit either. But it
	 * may want to take a SrcAvail back at any time.
	 */
	if (msg->h.mid == SDP_MID_DATA && ssk->last_received &&
	    demand_idle(ssk, ssk->last_received)) {
		if (ssk->demand)
			demand_set(ssk, false);
	} else if (demand_shows(ssk)) {
		ssk->demand_last = jiffies;
		if (!ssk->demand)
			demand_set(ssk, true);
	} else if (ssk->demand && demand_idle(ssk, ssk->demand_last)) {
		demand_set(ssk, false);
	}
}
