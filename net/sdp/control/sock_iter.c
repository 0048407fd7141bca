// SPDX-License-Identifier: GPL-2.0
/*
 * Iteration over the sockets of a namespace, for /proc and netlink.
 *
 * sock_iter.h describes positions.
 */
#include "../conn/sock.h"
#include "sock_iter.h"
#include "../socket/info.h"

/* The low bits of a position are the place in the list. */
#define SOCKS_PLACE_BITS	48
#define SOCKS_LAST_PLACE	((1ULL << SOCKS_PLACE_BITS) - 1)

static loff_t socks_position(u32 list, u64 place)
{
	return (loff_t)((u64)list << SOCKS_PLACE_BITS | place);
}

/* Place of a socket. A list is in ascending order of places. */
static u64 socks_place(const struct sdp_sock *ssk)
{
	return SOCKS_LAST_PLACE - ssk->serial;
}

/**
 * sdp_socks_at() - the socket at a position, or the first one after it
 * @sn: namespace
 * @pos: the position; updated to that of the socket found, or to the end
 *
 * Called under rcu_read_lock(), which the caller holds as long as it uses the
 * socket.
 *
 * Return: the socket, or NULL at the end.
 */
struct sdp_sock *sdp_socks_at(struct sdp_net *sn, loff_t *pos)
{
	u64 place = *pos & SOCKS_LAST_PLACE;
	struct sdp_sock *ssk;
	u32 list;

	for (list = *pos >> SOCKS_PLACE_BITS; list < ARRAY_SIZE(sn->socks);
	     list++, place = 0) {
		hlist_for_each_entry_rcu(ssk, &sn->socks[list], list_node) {
			if (socks_place(ssk) < place)
				continue;
			*pos = socks_position(list, socks_place(ssk));
			return ssk;
		}
	}
	*pos = socks_position(ARRAY_SIZE(sn->socks), 0);
	return NULL;
}

/**
 * sdp_socks_next() - the socket after another one
 * @sn: namespace
 * @ssk: socket, found under the same rcu_read_lock()
 * @pos: position of @ssk; updated to that of the next socket, or to the end
 *
 * Return: the next socket, or NULL at the end.
 */
struct sdp_sock *sdp_socks_next(struct sdp_net *sn, struct sdp_sock *ssk,
				loff_t *pos)
{
	struct hlist_node *node =
		rcu_dereference(hlist_next_rcu(&ssk->list_node));
	u32 list = *pos >> SOCKS_PLACE_BITS;

	if (!node) {
		*pos = socks_position(list + 1, 0);
		return sdp_socks_at(sn, pos);
	}
	ssk = hlist_entry(node, struct sdp_sock, list_node);
	*pos = socks_position(list, socks_place(ssk));
	return ssk;
}

/**
 * sdp_socks_look() - take a snapshot of a socket
 * @ssk: socket; its lock is taken here
 * @look: filled in
 * @info: filled in under the same lock, or NULL
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
	/* A connection begins in Combined mode (wire section 8). */
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
