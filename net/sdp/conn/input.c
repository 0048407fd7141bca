// SPDX-License-Identifier: GPL-2.0
/*
 * Events of a link: the transport's up-calls, given to the engine.
 *
 * Each up-call of struct sdp_link_events takes the socket's lock, tells the
 * engine what has happened and carries out the actions that the engine answers
 * with. A socket may have detached its link before the up-call gets the lock;
 * then the up-call changes nothing.
 *
 * While an up-call runs, its link has a reference to the socket. Up-calls run
 * in process or softirq context.
 */
#include <linux/module.h>

#include "accept_queue.h"
#include "active.h"
#include "autotune.h"
#include "conn.h"
#include "demand.h"
#include "input.h"
#include "keepalive.h"
#include "memory.h"
#include "orphan.h"
#include "output.h"
#include "passive.h"
#include "refill.h"
#include "resize.h"
#include "ring.h"
#include "rx_queue.h"
#include "state.h"
#include "timer.h"
#include "tx_queue.h"
#include "urgent.h"
#include "zcopy_ops.h"
#include "../base/trace.h"

/* Largest number of blocks that a connection keeps for reuse. */
#define TX_BLOCKS	16

static void input_established(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	sk_stop_timer(&ssk->sk, &ssk->sk.sk_timer);
	WRITE_ONCE(ssk->was_established, true);
	sdp_set_state(ssk, TCP_ESTABLISHED);
	sdp_keepalive_start(ssk);
	todo->wake |= SDP_WAKE_STATE;
	if (ssk->parent && ssk->opt.defer_accept) {
		ssk->deferred = true;
		sk_reset_timer(&ssk->sk, &ssk->sk.sk_timer,
			       jiffies + ssk->opt.defer_accept * HZ);
		/* The option is the listener's: an accepted socket shows 0. */
		ssk->opt.defer_accept = 0;
	} else {
		todo->accepted = ssk->parent;
	}
}

/* Data or the end of the stream ends the wait of TCP_DEFER_ACCEPT. */
static void end_deferral(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	if (!ssk->deferred)
		return;
	ssk->deferred = false;
	sk_stop_timer(&ssk->sk, &ssk->sk.sk_timer);
	todo->accepted = true;
}

static void end_of_input(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	struct sock *sk = &ssk->sk;

	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
	WRITE_ONCE(ssk->rx_ended, true);
	end_deferral(ssk, todo);
	todo->wake |= SDP_WAKE_READ | SDP_WAKE_STATE;
}

/* Both halves are closed, so the connection is over. There is no TIME_WAIT. */
static void input_finished(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	ssk->engine.dead = true;
	WRITE_ONCE(ssk->sk.sk_shutdown, SHUTDOWN_MASK);
	sdp_set_state(ssk, TCP_CLOSE);
	sdp_conn_purge(ssk);
	sdp_conn_detach(ssk, false, todo);
	todo->wake |= SDP_WAKE_STATE;
}

static void failed_action(struct sdp_sock *ssk, const struct sdp_action *a,
			  struct sdp_todo *todo)
{
	sdp_count_violation(sock_net(&ssk->sk), a->violation);
	sdp_conn_fail(ssk, a->error,
		      a->violation ? sdp_violation_name(a->violation) :
				     "connection ended by the peer",
		      todo);
}

/*
 * Carry out the engine's actions for one event. @skb is the message that has
 * come, @bytes long, or NULL; its payload is delivered from it. Returns true if
 * the receive queue has taken @skb.
 */
static bool input_carry_out(struct sdp_sock *ssk,
			    const struct sdp_actions *acts,
			    struct sk_buff *skb, u32 bytes,
			    struct sdp_todo *todo)
{
	bool taken = false;
	u32 i, inlined = 0;

	for (i = 0; i < acts->n; i++) {
		const struct sdp_action *a = &acts->list[i];

		switch (a->kind) {
		case SDP_ACT_ESTABLISHED:
			input_established(ssk, todo);
			break;
		case SDP_ACT_DELIVER:
			/* No application can read it: reset, as TCP does. */
			if (sock_flag(&ssk->sk, SOCK_DEAD)) {
				SDP_INC(sock_net(&ssk->sk), Aborts);
				sdp_conn_fail(ssk, ECONNRESET,
					      "data after close", todo);
				return taken;
			}
			sdp_rx_queue_message(ssk, skb, a, bytes, todo);
			taken = true;
			inlined = a->len;
			end_deferral(ssk, todo);
			todo->wake |= SDP_WAKE_READ;
			break;
		case SDP_ACT_URGENT:
			sdp_urgent_announced(ssk, todo);
			break;
		case SDP_ACT_SRCAVAIL:
			sdp_zcopy_ops.srcavail_rx_arrived(ssk, inlined);
			todo->wake |= SDP_WAKE_READ;
			break;
		case SDP_ACT_SRCAVAIL_OVER:
			sdp_zcopy_ops.srcavail_tx_answered(ssk, a, todo);
			break;
		case SDP_ACT_SINKAVAIL_WRITTEN:
		case SDP_ACT_SINKAVAIL_OVER:
			sdp_zcopy_ops.sinkavail_rx_over(ssk, a->id, a->len,
							a->rest);
			todo->wake |= SDP_WAKE_READ;
			break;
		case SDP_ACT_RING_WANTED:
			sdp_ring_wanted(ssk);
			break;
		case SDP_ACT_RING_OVER:
			sdp_rings_retire(ssk, a->len);
			break;
		case SDP_ACT_EOF:
			end_of_input(ssk, todo);
			break;
		case SDP_ACT_DISCONNECT:
		case SDP_ACT_END:
			input_finished(ssk, todo);
			return taken;
		case SDP_ACT_FAIL:
			failed_action(ssk, a, todo);
			return taken;
		}
	}
	sdp_conn_follow_state(ssk);
	return taken;
}

static void up_hello_ack(struct sdp_link *link, const u8 *buf, u32 bytes)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };
	enum sdp_violation bad;
	struct sdp_hello ack;

	bad = sdp_hello_ack_parse(buf, bytes, &ack);
	sdp_conn_lock(ssk);
	if (ssk->link == link) {
		if (bad) {
			sdp_count_violation(sock_net(&ssk->sk), bad);
			sdp_conn_fail(ssk, EPROTO, sdp_violation_name(bad),
				      &todo);
		} else {
			if (link->greets)
				sdp_engine_greet(&ssk->engine);
			sdp_engine_hello_ack_received(&ssk->engine, &ack,
						      &acts);
			input_carry_out(ssk, &acts, NULL, 0, &todo);
			sdp_conn_progress(ssk, &todo);
		}
	}
	sdp_conn_unlock(ssk, &todo);
}

static void up_established(struct sdp_link *link)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (ssk->link == link) {
		sdp_engine_established(&ssk->engine, &acts);
		input_carry_out(ssk, &acts, NULL, 0, &todo);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

static void count_received(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	struct net *net = sock_net(&ssk->sk);

	ssk->received++;
	SDP_INC(net, MsgsReceived);
	sdp_keepalive_heard(ssk);
	sdp_demand_heard(ssk, msg);
	if (msg->payload_len) {
		SDP_ADD(net, BytesReceived, msg->payload_len);
		sdp_autotune_receiving(ssk);
		ssk->data_received++;
		ssk->bytes_received += msg->payload_len;
		ssk->last_received = jiffies;
		sk_incoming_cpu_update(&ssk->sk);
	} else if (msg->h.mid == SDP_MID_DATA) {
		SDP_INC(net, CreditUpdatesReceived);
	} else {
		sdp_resize_note_received(ssk, msg);
		if (msg->h.mid == SDP_MID_MODE_CHANGE && !ssk->engine.dead)
			sdp_conn_note_mode(ssk, msg, false);
	}
	/* These are counted with or without payload, and even if ignored. */
	if (msg->h.mid == SDP_MID_SRC_AVAIL)
		SDP_INC(net, SrcAvailReceived);
	if (msg->h.mid == SDP_MID_SINK_AVAIL)
		SDP_INC(net, SinkAvailReceived);
	trace_sdp_msg_recv(&ssk->sk, &msg->h,
			   sdp_credit_available(&ssk->engine.credit));
	if (ssk->engine.rings)
		sdp_ring_note_fill(ssk);
}

static void up_received(struct sdp_link *link, struct sk_buff *skb, u32 bytes)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };
	u8 tmp[SDP_HEADER_MAX];
	struct sdp_msg msg;
	u32 stale, read;
	u8 mode;

	sdp_conn_lock(ssk);
	if (ssk->link != link) {
		kfree_skb(skb);
	} else {
		mode = ssk->rx_mode;
		stale = ssk->engine.sinkavail_tx.stale;
		read = sdp_engine_srcavail_tx_read(&ssk->engine);
		ssk->posted_bytes -=
			sdp_memory_of_receive(ssk, sdp_buf_cb(skb)->size);
		sdp_engine_receive(&ssk->engine,
				   sdp_buf_header(skb, bytes, tmp), bytes, &msg,
				   &acts);
		count_received(ssk, &msg);
		/* A reader that sleeps can advertise its memory now. */
		if (ssk->rx_mode != mode && ssk->rx_mode == SDP_MODE_PIPELINED)
			todo.wake |= SDP_WAKE_READ;
		SDP_ADD(sock_net(&ssk->sk), SinkAvailStale,
			ssk->engine.sinkavail_tx.stale - stale);
		if (!input_carry_out(ssk, &acts, skb, bytes, &todo))
			sdp_refill_reuse(ssk, link, skb);
		/* The peer reads what an orphan has advertised. */
		if (sock_flag(&ssk->sk, SOCK_DEAD) && ssk->link &&
		    read != sdp_engine_srcavail_tx_read(&ssk->engine))
			sdp_orphan_progress(ssk);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

/*
 * Keep a few of the blocks whose messages have arrived. The timer frees them
 * when the connection is idle.
 */
static void keep_blocks(struct sdp_sock *ssk, struct sk_buff_head *blocks)
{
	struct sk_buff *skb;

	if (skb_queue_empty(blocks) || sock_flag(&ssk->sk, SOCK_DEAD) ||
	    sdp_memory_is_short(&ssk->sk))
		return;
	sdp_timer_watch_spares(ssk);
	while (skb_queue_len(&ssk->tx_blocks) < TX_BLOCKS &&
	       (skb = __skb_dequeue(blocks))) {
		__skb_pull(skb, skb_headlen(skb));
		sdp_buf_cb(skb)->payload = 0;
		sdp_buf_cb(skb)->urgent = false;
		__skb_queue_tail(&ssk->tx_blocks, skb);
	}
}

/*
 * Process a message that the peer has written into our ring. @skb is the empty
 * receive that the message has consumed. Usually a new skb refers to the
 * message. Returns true if memory is short and @skb was taken to refer to it.
 */
static bool take_placed(struct sdp_sock *ssk, struct sk_buff *skb, u32 imm,
			struct sdp_todo *todo)
{
	struct sk_buff *message = NULL;
	struct sdp_actions acts = { };
	u8 header[SDP_HEADER_MAX];
	enum sdp_violation bad;
	struct sdp_msg msg;
	u32 at, bytes;

	bad = sdp_engine_ring_place(&ssk->engine, imm, &at, &bytes, &acts);
	input_carry_out(ssk, &acts, NULL, 0, todo);
	if (bad || !ssk->ring)
		return false;
	sdp_ring_header(ssk, at, bytes, header);
	memset(&acts, 0, sizeof(acts));
	sdp_engine_receive_placed(&ssk->engine, header, bytes, &msg, &acts);
	count_received(ssk, &msg);
	SDP_INC(sock_net(&ssk->sk), RingReads);
	SDP_ADD(sock_net(&ssk->sk), RingBytesRead, msg.payload_len);
	ssk->ring_received += msg.payload_len;
	if (!ssk->engine.dead)
		message = sdp_ring_message(ssk, skb, at, bytes);
	if (!message && !ssk->engine.dead) {
		sdp_conn_fail(ssk, ENOBUFS, "ring message too long",
			      todo);
		return false;
	}
	if (!input_carry_out(ssk, &acts, message, bytes, todo))
		kfree_skb(message);
	return message == skb;
}

static void up_placed(struct sdp_link *link, struct sk_buff *skb, u32 imm)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (ssk->link != link) {
		kfree_skb(skb);
	} else {
		ssk->posted_bytes -=
			sdp_memory_of_receive(ssk, sdp_buf_cb(skb)->size);
		if (!take_placed(ssk, skb, imm, &todo))
			sdp_refill_reuse(ssk, link, skb);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

static void up_sent(struct sdp_link *link, struct sdp_sent *sent)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };
	int state;

	sdp_conn_lock(ssk);
	if (ssk->link == link) {
		state = ssk->engine.state;
		SDP_INC(sock_net(&ssk->sk), SendCompletions);
		sdp_memory_charge_tx(ssk, -(int)sent->truesize);
		WRITE_ONCE(ssk->tx_inflight, ssk->tx_inflight - sent->payload);
		sdp_keepalive_heard(ssk);
		keep_blocks(ssk, &sent->blocks);
		sdp_tx_arrived(ssk, sent->payload, &todo);
		sdp_engine_sent(&ssk->engine, sent->messages, &acts);
		input_carry_out(ssk, &acts, NULL, 0, &todo);
		sdp_conn_progress(ssk, &todo);
		/*
		 * An orphan makes progress when its data or DisConn arrives.
		 * Our answers do not count: a peer could cause them forever.
		 */
		if (sock_flag(&ssk->sk, SOCK_DEAD) && ssk->link &&
		    (sent->payload || ssk->engine.state != state))
			sdp_orphan_progress(ssk);
	}
	sdp_conn_unlock(ssk, &todo);
	__skb_queue_purge(&sent->blocks);
}

static void up_read_done(struct sdp_link *link, int error)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (ssk->link == link) {
		sdp_zcopy_ops.srcavail_rx_read(ssk, error, &todo);
		sdp_conn_progress(ssk, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

static void up_alive(struct sdp_link *link)
{
	struct sdp_sock *ssk = link->owner;

	sdp_conn_lock(ssk);
	if (ssk->link == link) {
		ssk->probing = false;
		sdp_keepalive_heard(ssk);
	}
	spin_unlock_bh(&ssk->lock);
}

static void up_failed(struct sdp_link *link, int error, const char *place)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (ssk->link == link && !sdp_active_try_again(ssk, error, &todo))
		sdp_conn_fail(ssk, error == EAGAIN ? ETIMEDOUT : error, place,
			      &todo);
	sdp_conn_unlock(ssk, &todo);
}

static void up_ended(struct sdp_link *link)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };

	sdp_conn_lock(ssk);
	if (ssk->link == link) {
		sdp_engine_link_ended(&ssk->engine, &acts);
		input_carry_out(ssk, &acts, NULL, 0, &todo);
	}
	sdp_conn_unlock(ssk, &todo);
}

static void up_released(struct sdp_link *link)
{
	struct sdp_sock *ssk = link->owner;

	link->owner = NULL;
	sdp_accept_queue_forget_link(ssk);
	sock_put(&ssk->sk);
}

static void up_malformed(struct net *net, enum sdp_violation what)
{
	sdp_count_violation(net, what);
}

/* The up-calls of all links, for both transports. */
const struct sdp_link_events sdp_input_events = {
	.incoming	= sdp_passive_open,
	.hello		= sdp_active_hello,
	.hello_ack	= up_hello_ack,
	.established	= up_established,
	.received	= up_received,
	.placed		= up_placed,
	.sent		= up_sent,
	.read		= up_read_done,
	.alive		= up_alive,
	.malformed	= up_malformed,
	.failed		= up_failed,
	.ended		= up_ended,
	.released	= up_released,
};
