// SPDX-License-Identifier: GPL-2.0
/*
 * Resize: message buffers that follow the size of what is sent.
 *
 * proto/resize.h has the resize handshake (E1-E5). This file decides when we
 * ask and what we grant, from what the socket sends, from the memory that it
 * may hold, and from time.
 *
 * A connection begins with small receives. When sends of ours do not fit into a
 * message, the engine asks the peer for larger receives. When the peer asks,
 * the receives that we post from then on are larger and fewer: together they
 * have at most RESIZE_RECV_BYTES. When our sending half idles, the peer may
 * shrink its receives again.
 *
 * All functions run under the socket's @lock.
 */
#include <linux/log2.h>

#include "demand.h"
#include "memory.h"
#include "resize.h"
#include "timer.h"

/* Payload bytes of all larger receives together; SO_RCVBUF may lower it. */
#define RESIZE_RECV_BYTES	(512 * 1024)

/*
 * Forget refusals of the peer with time: each period of resize_idle_ms halves
 * the number of split sends that the next request needs. Only a split send
 * makes a request, so there is no need to do this at any other time.
 */
static void resize_decay(struct sdp_sock *ssk)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	unsigned long period = msecs_to_jiffies(READ_ONCE(set->resize_idle_ms));

	while (sdp_engine_may_decay(&ssk->engine) &&
	       time_after_eq(jiffies, ssk->refused_since + period)) {
		sdp_engine_decay(&ssk->engine);
		ssk->refused_since += period;
	}
}

/**
 * sdp_resize_note_send() - a write begins: does it have to be split? (E1)
 * @ssk: socket, locked
 * @bytes: size of the write
 * @open: bytes in the open segment, which the write would be added to
 *
 * Small writes that come faster than they can be sent are like one large write.
 * Each of them that crosses the end of a message counts as split.
 */
void sdp_resize_note_send(struct sdp_sock *ssk, size_t bytes, u32 open)
{
	u32 all;

	if (open + bytes <= sdp_engine_payload_max(&ssk->engine))
		return;
	SDP_INC(sock_net(&ssk->sk), SplitSends);
	ssk->split_sends++;
	resize_decay(ssk);
	all = min_t(size_t, bytes + sdp_unsent(ssk),
		    SDP_BUF_MAX - SDP_BSDH_LEN);
	/* Buffers whose size is a power of two have the fewest pieces. */
	sdp_engine_split(&ssk->engine, roundup_pow_of_two(all));
}

/**
 * sdp_resize_note_rdma() - a part of a write has gone by RDMA
 * @ssk: socket, locked
 * @bytes: its size
 *
 * If other rails join, such writes may go in messages, and the size of the
 * receives is fixed from then on. So they have to grow before.
 */
void sdp_resize_note_rdma(struct sdp_sock *ssk, size_t bytes)
{
	const struct sdp_link *link = ssk->link;

	if (link && link->ops->keeps && !READ_ONCE(link->many))
		sdp_resize_note_send(ssk, bytes, 0);
}

/* Number of receives to keep posted once their size is @size. */
static u32 resize_receives(const struct sdp_sock *ssk, u32 size)
{
	u32 bytes = RESIZE_RECV_BYTES;

	if (ssk->sk.sk_userlocks & SOCK_RCVBUF_LOCK)
		bytes = min_t(u32, bytes, READ_ONCE(ssk->sk.sk_rcvbuf));
	return min_t(u32, bytes / (size - SDP_BSDH_LEN), ssk->recv_max);
}

/*
 * May the receives grow to @size? Not while the socket is not yet accepted, not
 * if nobody will read from it, and not without memory for enough receives.
 */
static bool resize_may_grow(const struct sdp_sock *ssk, u32 size)
{
	const struct sock *sk = &ssk->sk;

	return !ssk->parent && !sock_flag(sk, SOCK_DEAD) &&
	       !(sk->sk_shutdown & RCV_SHUTDOWN) && !sdp_memory_is_short(sk) &&
	       resize_receives(ssk, size) >= SDP_RECV_BUFFERS_MIN;
}

/*
 * Number of receives to keep posted while the largest one has @size. After a
 * shrink, larger ones are posted and used up one by one (E5). The first size
 * that follows them is posted on demand already.
 */
static u32 resize_target(const struct sdp_sock *ssk, u32 size)
{
	const struct sdp_resize *r = &ssk->engine.resize;
	u32 target = ssk->recv_max;

	if (size > r->recv_first)
		target = resize_receives(ssk, size);
	if (r->posting == r->recv_first)
		target = min_t(u32, target, sdp_demand_receives(ssk));
	return target;
}

/* Adapt the number of receives to the size of the largest one posted. */
static void resize_follow_size(struct sdp_sock *ssk, u32 size)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;

	ssk->recv_largest = size;
	if (!ssk->parent)
		sdp_engine_set_target(&ssk->engine, resize_target(ssk, size),
				      READ_ONCE(set->credit_threshold));
}

/**
 * sdp_resize_post_size() - size of the receives that are posted now (E2)
 * @ssk: socket, locked
 *
 * Also gives up a growth that is not possible any more, and adapts the number
 * of receives.
 *
 * Return: bytes, BSDH included.
 */
u32 sdp_resize_post_size(struct sdp_sock *ssk)
{
	const struct sdp_resize *r = &ssk->engine.resize;
	u32 largest;

	if (sdp_resize_growing(r) && !resize_may_grow(ssk, r->posting))
		sdp_engine_resize_refuse(&ssk->engine);
	sdp_timer_watch_growth(ssk, sdp_resize_growing(r));
	largest = max(r->posting, r->recv_limit);
	if (largest != ssk->recv_largest)
		resize_follow_size(ssk, largest);
	return r->posting;
}

/**
 * sdp_resize_give_back() - give memory back to the peer after a long pause
 * @ssk: socket, locked
 *
 * Asks the peer to shrink its receives and gives its ring back. Not while a
 * writer has tx_mutex: it may be filling a segment of the present size.
 *
 * Return: true when there is a message to send now. The caller must then call
 * sdp_conn_progress(), sdp_engine_shrink_end() and sdp_engine_ring_stay(), in
 * this order and without dropping the lock.
 */
bool sdp_resize_give_back(struct sdp_sock *ssk)
{
	bool smaller;

	if (ssk->tx_outq || mutex_is_locked(&ssk->tx_mutex))
		return false;
	smaller = sdp_engine_shrink(&ssk->engine);
	return sdp_engine_ring_leave(&ssk->engine) || smaller;
}

/**
 * sdp_resize_note_sent() - count ChRcvBuf and ChRcvBufAck that we send
 * @ssk: socket, locked
 * @msg: message sent, without payload
 */
void sdp_resize_note_sent(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	struct net *net = sock_net(&ssk->sk);

	if (msg->h.mid == SDP_MID_CHRCVBUF)
		SDP_INC(net, ResizesAsked);
	else if (msg->h.mid == SDP_MID_CHRCVBUF_ACK)
		SDP_INC(net, ResizesAnswered);
}

/**
 * sdp_resize_note_received() - count the peer's answers to our requests
 * @ssk: socket, locked; the engine has processed the message
 * @msg: message received, without payload
 */
void sdp_resize_note_received(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	const struct sdp_resize *r = &ssk->engine.resize;
	struct net *net = sock_net(&ssk->sk);

	if (msg->h.mid != SDP_MID_CHRCVBUF_ACK || ssk->engine.dead)
		return;
	if (msg->size == r->asked) {
		SDP_INC(net, ResizesGranted);
		ssk->resizes++;
	} else {
		SDP_INC(net, ResizesRefused);
		ssk->resizes_refused++;
		ssk->refused_since = jiffies;
	}
}
