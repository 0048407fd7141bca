// SPDX-License-Identifier: GPL-2.0
/*
 * The size of message buffers: how the resize handshake (proto/resize.h) meets what a socket
 * sends, how much memory it may hold, and time.
 *
 * A connection begins with small receives. When our sends do not fit, the engine asks the
 * peer for larger ones; when the peer asks, the receives that are posted from then on are
 * larger and fewer: as many as RECV_BYTES hold. A sending half that rests gives the peer's
 * memory back.
 */
#include <linux/log2.h>

#include "sock.h"

/* All larger receives together, unless SO_RCVBUF says less. */
#define RECV_BYTES	(512 * 1024)

/*
 * Refusals are forgotten with time, half of what they have led to in as much of
 * it as makes a rest. Only a split send asks, so nobody has to look before.
 */
static void decay(struct sdp_sock *ssk)
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
 * sdp_size_of_send() - a write begins
 * @ssk: socket, locked
 * @bytes: its size
 * @open: bytes in the open segment, to which it would be added
 *
 * Small writes that come faster than they can be sent are like one large one: those count
 * that go over the end of a message.
 */
void sdp_size_of_send(struct sdp_sock *ssk, size_t bytes, u32 open)
{
	u32 all;

	if (open + bytes <= sdp_engine_payload_max(&ssk->engine))
		return;
	SDP_INC(sock_net(&ssk->sk), SplitSends);
	ssk->split_sends++;
	decay(ssk);
	all = min_t(size_t, bytes + sdp_unsent(ssk),
		    SDP_BUF_MAX - SDP_BSDH_LEN);
	/* Buffers of a power of two have the fewest pieces. */
	sdp_engine_split(&ssk->engine, roundup_pow_of_two(all));
}

/* How many receives of @size there shall be, when they are larger than at first. */
static u32 receives_of(const struct sdp_sock *ssk, u32 size)
{
	u32 bytes = RECV_BYTES;

	if (ssk->sk.sk_userlocks & SOCK_RCVBUF_LOCK)
		bytes = min_t(u32, bytes, READ_ONCE(ssk->sk.sk_rcvbuf));
	return min_t(u32, bytes / (size - SDP_BSDH_LEN), ssk->recv_max);
}

/* A connection that nobody has accepted, or reads from, and one without room, stays small. */
static bool may_grow(const struct sdp_sock *ssk, u32 size)
{
	const struct sock *sk = &ssk->sk;

	return !ssk->parent && !sock_flag(sk, SOCK_DEAD) &&
	       !(sk->sk_shutdown & RCV_SHUTDOWN) && !sdp_memory_is_short(sk) &&
	       receives_of(ssk, size) >= SDP_RECV_BUFFERS_MIN;
}

/* The number of the receives follows the largest one that may be posted. */
static void follow_size(struct sdp_sock *ssk, u32 size)
{
	const struct sdp_settings *set = &sdp_net(sock_net(&ssk->sk))->settings;
	u16 target = ssk->recv_max;

	if (size > ssk->engine.resize.recv_first)
		target = receives_of(ssk, size);
	ssk->recv_largest = size;
	if (!ssk->parent)
		sdp_engine_set_target(&ssk->engine, target,
				      READ_ONCE(set->credit_threshold));
}

/**
 * sdp_size_to_post() - which size shall receives have that are posted now?
 * @ssk: socket, locked
 *
 * Return: bytes, header included.
 */
u32 sdp_size_to_post(struct sdp_sock *ssk)
{
	const struct sdp_resize *r = &ssk->engine.resize;
	u32 largest;

	if (sdp_resize_growing(r) && !may_grow(ssk, r->posting))
		sdp_engine_resize_refuse(&ssk->engine);
	sdp_tick_watch_growth(ssk, sdp_resize_growing(r));
	largest = max(r->posting, r->recv_limit);
	if (largest != ssk->recv_largest)
		follow_size(ssk, largest);
	return r->posting;
}

/**
 * sdp_size_rest() - the sending half may have rested: give the peer's memory back
 * @ssk: socket, locked
 *
 * Not while somebody writes, who may have begun a message of the present size: a writer has
 * tx_mutex while he fills one.
 *
 * Return: true when something is to be said now; sdp_engine_shrink_end() and
 * sdp_engine_ring_stay() have to follow.
 */
bool sdp_size_rest(struct sdp_sock *ssk)
{
	bool smaller;

	if (ssk->tx_outq || mutex_is_locked(&ssk->tx_mutex))
		return false;
	smaller = sdp_engine_shrink(&ssk->engine);
	return sdp_engine_ring_leave(&ssk->engine) || smaller;
}

/**
 * sdp_size_message_sent() - count what is said about sizes
 * @ssk: socket, locked
 * @msg: message sent, without payload
 */
void sdp_size_message_sent(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	struct net *net = sock_net(&ssk->sk);

	if (msg->h.mid == SDP_MID_CHRCVBUF)
		SDP_INC(net, ResizesAsked);
	else if (msg->h.mid == SDP_MID_CHRCVBUF_ACK)
		SDP_INC(net, ResizesAnswered);
}

/**
 * sdp_size_message_received() - count what is said about sizes
 * @ssk: socket, locked; the engine has taken the message in
 * @msg: message received, without payload
 */
void sdp_size_message_received(struct sdp_sock *ssk, const struct sdp_msg *msg)
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
