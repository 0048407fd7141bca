// SPDX-License-Identifier: GPL-2.0
/*
 * A namespace's sockets, one after the other.
 */
#include "sock_iter.h"

#define PLACE_BITS	48
#define LAST_PLACE	((1ULL << PLACE_BITS) - 1)

static loff_t position(u32 list, u64 place)
{
	return (loff_t)((u64)list << PLACE_BITS | place);
}

/* Along a list it grows. */
static u64 place_of(const struct sdp_sock *ssk)
{
	return LAST_PLACE - ssk->serial;
}

/**
 * sdp_socks_at() - the socket at a position, or the first one after it
 * @sn: namespace
 * @pos: the position; that of the socket found, or the end of all
 *
 * The caller holds the RCU read lock for as long as it works with the socket.
 *
 * Return: the socket, or NULL when there is none any more.
 */
struct sdp_sock *sdp_socks_at(struct sdp_net *sn, loff_t *pos)
{
	u64 place = *pos & LAST_PLACE;
	struct sdp_sock *ssk;
	u32 list;

	for (list = *pos >> PLACE_BITS; list < ARRAY_SIZE(sn->socks);
	     list++, place = 0) {
		hlist_for_each_entry_rcu(ssk, &sn->socks[list], list_node) {
			if (place_of(ssk) < place)
				continue;
			*pos = position(list, place_of(ssk));
			return ssk;
		}
	}
	*pos = position(ARRAY_SIZE(sn->socks), 0);
	return NULL;
}

/**
 * sdp_socks_next() - the socket after another one
 * @sn: namespace
 * @ssk: that one, under the same RCU read lock
 * @pos: its position; then that of the next one, or the end of all
 *
 * Return: the next socket or NULL.
 */
struct sdp_sock *sdp_socks_next(struct sdp_net *sn, struct sdp_sock *ssk,
				loff_t *pos)
{
	struct hlist_node *node =
		rcu_dereference(hlist_next_rcu(&ssk->list_node));
	u32 list = *pos >> PLACE_BITS;

	if (!node) {
		*pos = position(list + 1, 0);
		return sdp_socks_at(sn, pos);
	}
	ssk = hlist_entry(node, struct sdp_sock, list_node);
	*pos = position(list, place_of(ssk));
	return ssk;
}

/**
 * sdp_socks_look() - what there is to show of a socket
 * @ssk: socket
 * @look: filled in
 * @info: the same moment in more numbers, or NULL
 */
void sdp_socks_look(struct sdp_sock *ssk, struct sdp_look *look,
		    struct sdp_info *info)
{
	const struct sdp_credit *c = &ssk->engine.credit;
	struct sock *sk = &ssk->sk;
	const char *device = NULL;

	memset(look, 0, sizeof(*look));
	spin_lock_bh(&ssk->lock);
	look->local = ssk->local;
	look->peer = ssk->peer;
	look->state = sk->sk_state;
	look->tx_queue = ssk->tx_outq;
	look->rx_queue = look->state == TCP_LISTEN ? sk->sk_ack_backlog :
						     sdp_readable(ssk);
	look->sent = ssk->sent;
	look->received = ssk->received;
	/* What a connection begins with. */
	look->tx_mode = SDP_MODE_COMBINED;
	look->rx_mode = SDP_MODE_COMBINED;
	look->timer = timer_pending(&sk->sk_timer);
	if (ssk->link) {
		device = ssk->link->ops->device(ssk->link);
		look->credit = sdp_credit_available(c);
		look->posted = c->posted;
		look->theirs = c->theirs;
		look->tx_mode = sdp_engine_tx_mode(&ssk->engine);
		look->rx_mode = sdp_engine_rx_mode(&ssk->engine);
	}
	strscpy(look->device, device ?: "", sizeof(look->device));
	if (info)
		sdp_info_fill(ssk, info);
	spin_unlock_bh(&ssk->lock);
}
