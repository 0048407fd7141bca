// SPDX-License-Identifier: GPL-2.0
/*
 * Refill: number and memory of the receives that are posted.
 *
 * Each change of a connection ends with sdp_refill(), which posts receives
 * again (A3, D2, G4). The engine says how many there should be. This file
 * posts fewer of them when the reader falls behind or when memory is short.
 *
 * All functions run under the socket's @lock.
 */
#include "memory.h"
#include "refill.h"
#include "resize.h"
#include "timer.h"

/*
 * Memory was refused last time: would the reader be behind if the receive
 * buffer had not grown? Then the room by which it has grown is not used,
 * because we keep received data in any case, so it would exceed every limit. A
 * reader that waits for SO_RCVLOWAT must get that number of bytes first.
 */
static bool refill_beyond_first(const struct sdp_sock *ssk, int unread)
{
	return ssk->rx_short && unread >= READ_ONCE(ssk->rcvbuf_first) &&
	       ssk->rx_bytes > sock_rcvlowat(&ssk->sk, 0, INT_MAX);
}

static bool refill_reader_behind(const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;
	int unread = atomic_read(&sk->sk_rmem_alloc);

	return ssk->rx_bytes && (unread >= READ_ONCE(sk->sk_rcvbuf) ||
				 refill_beyond_first(ssk, unread));
}

/*
 * Receives to post although the reader is behind: 1 if none is posted, else 0.
 * That one is the peer's last credit, on which no data comes (D5). With
 * %SDP_BY_NIC it is not needed, because the adapter holds back a message that
 * finds no receive; and data would consume it.
 */
static u16 refill_last_credit(const struct sdp_sock *ssk)
{
	return !ssk->engine.credit.posted && !sdp_engine_by_nic(&ssk->engine);
}

/*
 * Receives to post when messages are not coalesced. Each unread message then
 * keeps its receive. Unread messages and posted receives together are never
 * more than the number of receives that the peer was told of at first.
 */
static u16 refill_not_held(const struct sdp_sock *ssk, u16 want)
{
	u32 held = skb_queue_len(&ssk->sk.sk_receive_queue);

	return want > held ? want - held : refill_last_credit(ssk);
}

/**
 * sdp_refill_reuse() - return a received buffer, to be posted again
 * @ssk: socket, locked
 * @link: link that the buffer came by; the socket may have just detached it
 * @skb: the buffer; taken
 */
void sdp_refill_reuse(struct sdp_sock *ssk, struct sdp_link *link,
		      struct sk_buff *skb)
{
	if (ssk->link && link->ops->trim)
		sdp_timer_watch_spares(ssk);
	link->ops->recycle(link, skb);
}

/*
 * Number of receives that there is memory for. A growth of the receives (E2) is
 * given up if not all of them can be posted in the larger size; then @size is
 * set to the smaller one.
 */
static u16 refill_afforded(struct sdp_sock *ssk, u16 want, u32 *size)
{
	u16 n = want;

	if (!ssk->link->ops->pools)
		n = sdp_memory_for_receives(ssk, want, *size);
	if (n == want || !sdp_resize_growing(&ssk->engine.resize))
		return n;
	sdp_engine_resize_refuse(&ssk->engine);
	*size = sdp_resize_post_size(ssk);
	return sdp_memory_for_receives(ssk, want, *size);
}

/**
 * sdp_refill() - post receives again, as long as the reader keeps up
 * @ssk: socket, locked, with a link
 *
 * SO_RCVBUF is the limit. One receive is posted even beyond it, because without
 * a posted receive we could not send either (A3).
 *
 * If the transport posts fewer receives than asked for, the timer tries again.
 */
void sdp_refill(struct sdp_sock *ssk)
{
	u32 size = sdp_resize_post_size(ssk);
	u16 want = sdp_engine_receives_wanted(&ssk->engine);
	u16 got;

	if (want && refill_reader_behind(ssk)) {
		want = refill_last_credit(ssk);
		ssk->rx_was_full = true;
	}
	if (want && !ssk->coalesce)
		want = refill_not_held(ssk, want);
	if (want)
		want = refill_afforded(ssk, want, &size);
	if (!want)
		return;
	got = ssk->link->ops->post(ssk->link, want, size);
	sdp_engine_posted(&ssk->engine, got);
	ssk->posted_bytes += got * sdp_memory_of_receive(ssk, size);
	if (got < want) {
		sdp_engine_resize_refuse(&ssk->engine);
		sdp_timer_again(ssk);
	}
}
