// SPDX-License-Identifier: GPL-2.0
/*
 * Receives of a connection: how many are posted again, and when (A3, D2, G4). The engine says how
 * many there should be; here is what the reader leaves unread, and what memory there is.
 */
#include "sock.h"

/*
 * Where memory is not granted, what the receive buffer has grown by is not
 * used: the peer's data would be kept all the same, beyond any limit. A reader
 * that waits for SO_RCVLOWAT has that many bytes before.
 */
static bool without_growth(const struct sdp_sock *ssk, int unread)
{
	return ssk->rx_short && unread >= READ_ONCE(ssk->rcvbuf_first) &&
	       ssk->rx_bytes > sock_rcvlowat(&ssk->sk, 0, INT_MAX);
}

static bool reader_behind(const struct sdp_sock *ssk)
{
	const struct sock *sk = &ssk->sk;
	int unread = atomic_read(&sk->sk_rmem_alloc);

	return ssk->rx_bytes && (unread >= READ_ONCE(sk->sk_rcvbuf) ||
				 without_growth(ssk, unread));
}

/*
 * One is posted in any case: the peer's last credit, on which no data comes (D5). Where the
 * adapters hold back what finds none, nobody waits for it, and data would come.
 */
static u16 last_credit(const struct sdp_sock *ssk)
{
	return !ssk->engine.credit.posted && !sdp_engine_by_nic(&ssk->engine);
}

/*
 * Nothing is coalesced: a message that is not read yet keeps its receive, and there are no more
 * than the peer was told of at first.
 */
static u16 not_held(const struct sdp_sock *ssk, u16 want)
{
	u32 held = skb_queue_len(&ssk->sk.sk_receive_queue);

	return want > held ? want - held : last_credit(ssk);
}

/**
 * sdp_stream_recycle() - give a received buffer back to be posted again
 * @ssk: socket, locked
 * @link: where it came by; the socket may have let it go just now
 * @skb: the buffer; taken
 */
void sdp_stream_recycle(struct sdp_sock *ssk, struct sdp_link *link,
			struct sk_buff *skb)
{
	if (ssk->link && link->ops->trim)
		sdp_tick_watch_spares(ssk);
	link->ops->recycle(link, skb);
}

/* How many receives may be posted, and of which size: larger ones only if all of them may be. */
static u16 afforded(struct sdp_sock *ssk, u16 want, u32 *size)
{
	u16 n = want;

	/* Where the peer's own buffers are handed over, a receive is only a permission. */
	if (!ssk->link->ops->hands_over)
		n = sdp_memory_for_receives(ssk, want, *size);
	if (n == want || !sdp_resize_growing(&ssk->engine.resize))
		return n;
	sdp_engine_resize_refuse(&ssk->engine);
	*size = sdp_size_to_post(ssk);
	return sdp_memory_for_receives(ssk, want, *size);
}

/**
 * sdp_stream_replenish() - post receives again, as long as the reader keeps up
 * @ssk: socket, locked, with a link
 *
 * SO_RCVBUF is the limit. One is posted even beyond it, for without a posted receive we could not
 * send either (A3).
 */
void sdp_stream_replenish(struct sdp_sock *ssk)
{
	u32 size = sdp_size_to_post(ssk);
	u16 want = sdp_engine_receives_wanted(&ssk->engine);
	u16 got;

	if (want && reader_behind(ssk)) {
		want = last_credit(ssk);
		ssk->rx_was_full = true;
	}
	if (want && !ssk->coalesce)
		want = not_held(ssk, want);
	if (want)
		want = afforded(ssk, want, &size);
	if (!want)
		return;
	got = ssk->link->ops->post(ssk->link, want, size);
	sdp_engine_posted(&ssk->engine, got);
	ssk->posted_bytes += got * sdp_memory_of_receive(ssk, size);
	if (got < want) {
		sdp_engine_resize_refuse(&ssk->engine);
		sdp_tick_again(ssk);
	}
}
