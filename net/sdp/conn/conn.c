// SPDX-License-Identifier: GPL-2.0
/*
 * The middle of a connection: engine, queues and link of one socket.
 *
 * Whatever happens (a message came, bytes were written, a send arrived, a timer ran)
 * has the same course:
 *
 *	sdp_stream_lock
 *	tell the engine, carry out its actions
 *	sdp_stream_progress: post receives again, send what may go
 *	sdp_stream_unlock: wake, deliver, release
 *
 * A connection fails through one function, sdp_stream_fail(), and lets its link go
 * through one, sdp_stream_detach().
 */
#include <linux/module.h>

#include "../control/trace.h"
#include "sock.h"

/* Blocks kept to be filled again. */
#define TX_BLOCKS	16

/**
 * sdp_stream_lock() - begin a change of a connection
 * @ssk: socket
 */
void sdp_stream_lock(struct sdp_sock *ssk)
{
	spin_lock_bh(&ssk->lock);
}

/* After the last line an up-call's socket may be gone. */
static void release_link(struct sdp_sock *ssk, struct sdp_link *link,
			 bool abort)
{
	if (sock_flag(&ssk->sk, SOCK_DEAD)) {
		sk_stop_timer(&ssk->sk, &ssk->sk.sk_timer);
		sdp_sock_end(ssk);
	}
	link->ops->release(link, abort);
}

/* What readers and writers look at without the lock. */
static void note_rdma(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	const struct sdp_engine *e = &ssk->engine;
	u32 room = ssk->link ? sdp_engine_may_rdma_write(e) : 0;

	WRITE_ONCE(ssk->srcavail_rx_left,
		   ssk->link ? sdp_engine_srcavail_rx_left(e) : 0);
	WRITE_ONCE(ssk->rx_reads, ssk->link && ssk->rdma && ssk->link->reads &&
		   READ_ONCE(sdp_net(sock_net(&ssk->sk))->settings.rdma_read));
	WRITE_ONCE(ssk->rdma_worth, ssk->link ? ssk->link->worth : 0);
	WRITE_ONCE(ssk->rx_mode, sdp_engine_rx_mode(e));
	WRITE_ONCE(ssk->tx_mode, sdp_engine_tx_mode(e));
	WRITE_ONCE(ssk->may_srcavail, ssk->link && sdp_engine_may_srcavail(e));
	/* A large write may be waiting for that; others would wait in vain. */
	if (room && !ssk->sinkavail_tx_room && ssk->tx_turn)
		todo->wake |= SDP_WAKE_WRITE;
	WRITE_ONCE(ssk->sinkavail_tx_room, room);
	if (room)
		WRITE_ONCE(ssk->sinkavail_missed, false);
	WRITE_ONCE(ssk->rx_least, sdp_engine_sinkavail_least(e));
}

/**
 * sdp_stream_unlock() - end a change, and do what had to wait for it
 * @ssk: socket; an up-call may rely on the link's reference, which release ends
 * @todo: what was noted
 */
void sdp_stream_unlock(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	struct sock *sk = &ssk->sk;

	sdp_memory_settle(ssk);
	note_rdma(ssk, todo);
	spin_unlock_bh(&ssk->lock);
	if (todo->kick)
		todo->kick->ops->kick(todo->kick);
	if (todo->sigurg)
		sdp_urgent_signal(ssk);
	if (todo->wake & SDP_WAKE_READ)
		sk->sk_data_ready(sk);
	if (todo->wake & SDP_WAKE_URGENT)
		sdp_notify(ssk, SDP_WAKE_URGENT);
	if (todo->wake & SDP_WAKE_WRITE)
		sk->sk_write_space(sk);
	if (todo->wake & SDP_WAKE_STATE)
		sk->sk_state_change(sk);
	if (todo->wake & SDP_WAKE_ERROR)
		sk_error_report(sk);
	/* After the wake-ups: who accepts it shall not hear again that the connection stands. */
	if (todo->accepted)
		sdp_accept_ready(ssk);
	if (todo->forget)
		sdp_accept_forget(ssk);
	if (todo->release)
		release_link(ssk, todo->release, todo->abort);
}

/**
 * sdp_stream_detach() - let the link go; the transport ends it in its own time
 * @ssk: socket, locked
 * @abort: the peer shall see a reset
 * @todo: notes the release
 */
void sdp_stream_detach(struct sdp_sock *ssk, bool abort, struct sdp_todo *todo)
{
	if (!ssk->link)
		return;
	todo->release = ssk->link;
	todo->abort = abort;
	ssk->link = NULL;
	ssk->rdma = false;
	sdp_orphan_over(ssk);
	sdp_rings_over(ssk, 0);
	sdp_alive_stop(ssk);
	sdp_tick_stop(ssk);
	sdp_scan_stop(ssk);
}

/**
 * sdp_stream_purge() - forget what has not been sent
 * @ssk: socket, locked
 */
void sdp_stream_purge(struct sdp_sock *ssk)
{
	__skb_queue_purge(&ssk->tx_queue);
	__skb_queue_purge(&ssk->tx_blocks);
	sdp_srcavail_send_over(ssk, 0);
	sdp_sinkavail_recv_end(ssk);
	sdp_memory_sent(ssk, -ssk->sk.sk_wmem_queued);
	ssk->tx_outq = 0;
	ssk->tx_urgent = 0;
	ssk->tx_inflight = 0;
	ssk->tx_hold = false;
}

/**
 * sdp_stream_fail() - the one way in which a connection fails
 * @ssk: socket, locked
 * @error: positive errno for the application; the first one counts
 * @place: where it was noticed, a constant
 * @todo: wakes everybody, releases the link
 */
void sdp_stream_fail(struct sdp_sock *ssk, int error, const char *place,
		     struct sdp_todo *todo)
{
	struct sock *sk = &ssk->sk;

	if (sk->sk_state == TCP_CLOSE && !ssk->link)
		return;
	/* What TCP says of a reset depends on the state. */
	if (error == ECONNRESET && sk->sk_state == TCP_CLOSE_WAIT)
		error = EPIPE;
	SDP_INC(sock_net(sk), Failures);
	trace_sdp_error(sk, ssk->local.port, ssk->peer.port, error, place);
	todo->forget = sk->sk_state == TCP_SYN_RECV || ssk->deferred;
	ssk->deferred = false;
	ssk->engine.dead = true;
	ssk->first_error = place;
	WRITE_ONCE(sk->sk_err, error);
	/* Who looks without the lock (poll, a waiting connect) reads them the other way round. */
	smp_wmb();
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	sdp_set_state(ssk, TCP_CLOSE);
	sdp_stream_purge(ssk);
	sdp_stream_detach(ssk, true, todo);
	todo->wake |= SDP_WAKE_STATE | SDP_WAKE_ERROR;
}

/* TCP's name for a state of the engine. */
static int tcp_state(const struct sdp_engine *e)
{
	switch (e->state) {
	case SDP_ESTABLISHED:
		return e->shutdown ? TCP_FIN_WAIT1 : TCP_ESTABLISHED;
	case SDP_DISC_SENT:
		return TCP_FIN_WAIT1;
	case SDP_DISC_ARRIVED:
		return TCP_FIN_WAIT2;
	case SDP_DISC_CROSSED:
		return TCP_CLOSING;
	case SDP_DISC_RCVD:
		return e->shutdown ? TCP_LAST_ACK : TCP_CLOSE_WAIT;
	case SDP_DISC_ANSWERED:
		return TCP_LAST_ACK;
	default:
		return TCP_CLOSE;
	}
}

static void follow_state(struct sdp_sock *ssk)
{
	if (ssk->engine.state >= SDP_ESTABLISHED)
		sdp_set_state(ssk, tcp_state(&ssk->engine));
}

static void established(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	sk_stop_timer(&ssk->sk, &ssk->sk.sk_timer);
	WRITE_ONCE(ssk->stood, true);
	sdp_set_state(ssk, TCP_ESTABLISHED);
	sdp_alive_start(ssk);
	todo->wake |= SDP_WAKE_STATE;
	if (ssk->parent && ssk->opt.defer_accept) {
		ssk->deferred = true;
		sk_reset_timer(&ssk->sk, &ssk->sk.sk_timer,
			       jiffies + ssk->opt.defer_accept * HZ);
		/* A listener's option; what is accepted shows 0. */
		ssk->opt.defer_accept = 0;
	} else {
		todo->accepted = ssk->parent;
	}
}

/* TCP_DEFER_ACCEPT: something has come, so there is something to accept. */
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

/* Both halves are closed: the socket is as one of TCP in TIME_WAIT or beyond. */
static void finished(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	ssk->engine.dead = true;
	WRITE_ONCE(ssk->sk.sk_shutdown, SHUTDOWN_MASK);
	sdp_set_state(ssk, TCP_CLOSE);
	sdp_stream_purge(ssk);
	sdp_stream_detach(ssk, false, todo);
	todo->wake |= SDP_WAKE_STATE;
}

static void failed_action(struct sdp_sock *ssk, const struct sdp_action *a,
			  struct sdp_todo *todo)
{
	sdp_count_violation(sock_net(&ssk->sk), a->violation);
	sdp_stream_fail(ssk, a->error,
			a->violation ? sdp_violation_name(a->violation) :
				       "ended by the peer",
			todo);
}

/* Carry out what the engine has decided. Returns whether @skb was taken. */
static bool carry_out(struct sdp_sock *ssk, const struct sdp_actions *acts,
		      struct sk_buff *skb, u32 bytes, struct sdp_todo *todo)
{
	bool taken = false;
	u32 i, inlined = 0;

	for (i = 0; i < acts->n; i++) {
		const struct sdp_action *a = &acts->list[i];

		switch (a->kind) {
		case SDP_ACT_ESTABLISHED:
			established(ssk, todo);
			break;
		case SDP_ACT_DELIVER:
			/* Data for a reader that will never come: TCP answers with a reset. */
			if (sock_flag(&ssk->sk, SOCK_DEAD)) {
				SDP_INC(sock_net(&ssk->sk), Aborts);
				sdp_stream_fail(ssk, ECONNRESET,
						"data after close", todo);
				return taken;
			}
			sdp_deliver(ssk, skb, a, bytes, todo);
			taken = true;
			inlined = a->len;
			end_deferral(ssk, todo);
			todo->wake |= SDP_WAKE_READ;
			break;
		case SDP_ACT_URGENT:
			sdp_urgent_announced(ssk, todo);
			break;
		case SDP_ACT_SRCAVAIL:
			sdp_srcavail_recv_arrived(ssk, inlined);
			todo->wake |= SDP_WAKE_READ;
			break;
		case SDP_ACT_SRCAVAIL_OVER:
			sdp_srcavail_send_answered(ssk, a);
			todo->wake |= SDP_WAKE_WRITE;
			break;
		case SDP_ACT_SINKAVAIL_WRITTEN:
		case SDP_ACT_SINKAVAIL_OVER:
			sdp_sinkavail_recv_over(ssk, a->id, a->len, a->rest);
			todo->wake |= SDP_WAKE_READ;
			break;
		case SDP_ACT_RING_WANTED:
			sdp_ring_wanted(ssk);
			break;
		case SDP_ACT_RING_OVER:
			sdp_rings_over(ssk, a->len);
			break;
		case SDP_ACT_EOF:
			end_of_input(ssk, todo);
			break;
		case SDP_ACT_DISCONNECT:
		case SDP_ACT_END:
			finished(ssk, todo);
			return taken;
		case SDP_ACT_FAIL:
			failed_action(ssk, a, todo);
			return taken;
		}
	}
	follow_state(ssk);
	return taken;
}

static struct sk_buff *control_skb(struct sdp_sock *ssk)
{
	struct sk_buff *skb =
		alloc_skb(SDP_TX_HEADROOM, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb_reserve(skb, SDP_TX_HEADROOM);
	sdp_buf_cb(skb)->payload = 0;
	sdp_buf_cb(skb)->again = false;
	sdp_buf_cb(skb)->urgent = false;
	sdp_memory_sent(ssk, skb->truesize);
	return skb;
}

/* C2, C3: either end of a direction has changed what it uses; a message names the receiver's. */
static void note_mode(struct sdp_sock *ssk, const struct sdp_msg *msg,
		      bool ours)
{
	bool sends = msg->mode_send_half != ours;
	u8 *mode = sends ? &ssk->tx_mode : &ssk->rx_mode;
	struct net *net = sock_net(&ssk->sk);

	trace_sdp_mode(&ssk->sk, ssk->local.port, ssk->peer.port, sends, *mode,
		       msg->mode, ours);
	WRITE_ONCE(*mode, msg->mode);
	if (msg->mode == SDP_MODE_BUFFERED)
		SDP_INC(net, ModeBuffered);
	else if (msg->mode == SDP_MODE_PIPELINED)
		SDP_INC(net, ModePipelined);
	else
		SDP_INC(net, ModeCombined);
}

static void count_ring_write(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	struct net *net = sock_net(&ssk->sk);

	SDP_INC(net, RingWrites);
	SDP_ADD(net, RingBytesWritten, msg->payload_len);
	if (sdp_seq_after(msg->h.mseq, ssk->engine.credit.tx_limit))
		SDP_INC(net, RingUnasked);
	ssk->ring_writes++;
	ssk->ring_sent += msg->payload_len;
}

static void count_sent(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	struct net *net = sock_net(&ssk->sk);

	ssk->sent++;
	SDP_INC(net, MsgsSent);
	if (msg->payload_len) {
		SDP_INC(net, DataSent);
		SDP_ADD(net, BytesSent, msg->payload_len);
		sdp_tune_sending(ssk);
		ssk->data_sent++;
		ssk->bytes_sent += msg->payload_len;
		ssk->last_sent = jiffies;
		WRITE_ONCE(ssk->tx_inflight,
			   ssk->tx_inflight + msg->payload_len);
	} else if (msg->h.mid == SDP_MID_DATA) {
		SDP_INC(net, CreditUpdatesSent);
	} else {
		sdp_size_message_sent(ssk, msg);
		if (msg->h.mid == SDP_MID_SENDSM)
			SDP_INC(net, SrcAvailDeclined);
		if (msg->h.mid == SDP_MID_MODE_CHANGE)
			note_mode(ssk, msg, true);
	}
	if (msg->h.mid == SDP_MID_SINK_AVAIL) {
		SDP_INC(net, SinkAvailSent);
		SDP_ADD(net, SinkAvailPiggybacked, !!msg->payload_len);
	}
	if (msg->to.rkey)
		count_ring_write(ssk, msg);
	if ((msg->h.flags & SDP_FLAG_FREED) && !msg->payload_len)
		SDP_INC(net, RingUpdatesSent);
	trace_sdp_msg_send(&ssk->sk, &msg->h,
			   sdp_credit_available(&ssk->engine.credit));
	if (ssk->engine.rings)
		sdp_ring_look(ssk);
}

/*
 * Was the message as long as one may be, or a good part of that and no longer only because its
 * pieces are used up, so that others are queued behind it? Then the next one is likely to be, and
 * worth a block. What is handed over does not come back, so there a block has no advantage.
 */
static void note_bulk(struct sdp_sock *ssk, const struct sk_buff *skb)
{
	u32 least = sdp_engine_payload_max(&ssk->engine);
	bool full;

	if (!skb_queue_empty(&ssk->tx_queue))
		least /= 4;
	full = sdp_buf_cb(skb)->payload >= least;
	WRITE_ONCE(ssk->tx_bulk, full && !ssk->link->ops->hands_over &&
					 !skb_has_shared_frag(skb));
}

/* Give a message its header. */
static void seal(struct sdp_sock *ssk, const struct sdp_tx_msg *tx,
		 struct sk_buff *skb)
{
	u8 header[SDP_HEADER_MAX];
	struct sdp_msg msg;
	u32 len;

	if (tx->payload_max && tx->mid == SDP_MID_DATA)
		note_bulk(ssk, skb);
	len = sdp_engine_commit(&ssk->engine, tx, sdp_buf_cb(skb)->payload,
				header, &msg);
	sdp_buf_cb(skb)->revoke = msg.revoke;
	sdp_buf_cb(skb)->to = msg.to;
	if (skb->len > sdp_buf_cb(skb)->payload)
		sdp_segment_trim(ssk, skb);
	memcpy(skb_push(skb, len), header, len);
	count_sent(ssk, &msg);
}

static struct sdp_tx_view tx_view(struct sdp_sock *ssk)
{
	struct sk_buff *head = skb_peek(&ssk->tx_queue);
	struct sdp_tx_view view = {
		.hold = ssk->tx_hold, .urgent = ssk->tx_urgent, .lazy = sdp_flush_waits(ssk),
	};

	if (head) {
		view.head_bytes = sdp_buf_cb(head)->payload;
		view.head_urgent = sdp_buf_cb(head)->urgent;
		view.head_full =
			!skb_queue_is_last(&ssk->tx_queue, head) ||
			(!ssk->tx_copying && sdp_segment_full(ssk, head));
	}
	return view;
}

static void note_stall(struct sdp_sock *ssk, enum sdp_next next)
{
	bool no_credit = next == SDP_NEXT_NO_CREDIT;
	bool gather = next == SDP_NEXT_GATHER;
	bool no_room = next == SDP_NEXT_NO_ROOM;

	if (no_credit && !ssk->credit_stalled) {
		SDP_INC(sock_net(&ssk->sk), CreditStalls);
		trace_sdp_credit_stall(&ssk->sk, ssk->local.port,
				       ssk->peer.port,
				       ssk->engine.credit.tx_seq, ssk->tx_outq);
	}
	if (gather && !ssk->gathering)
		SDP_INC(sock_net(&ssk->sk), PartialHeld);
	if (no_room && !ssk->ring_stalled) {
		SDP_INC(sock_net(&ssk->sk), RingFull);
		ssk->ring_full++;
		sdp_engine_ring_full(&ssk->engine);
	}
	ssk->ring_stalled = no_room;
	ssk->credit_stalled = no_credit;
	ssk->gathering = gather;
}

/* What is found to wait after this begins to wait anew. */
static void end_stall(struct sdp_sock *ssk)
{
	ssk->ring_stalled = false;
	ssk->credit_stalled = false;
	ssk->gathering = false;
}

/* The next message that may go, sealed; or NULL, and @why not. */
static struct sk_buff *next_message(struct sdp_sock *ssk, enum sdp_next *why)
{
	struct sdp_tx_view view = tx_view(ssk);
	struct sdp_tx_msg tx;
	struct sk_buff *skb;

	*why = sdp_engine_next(&ssk->engine, &view, &tx);
	if (*why != SDP_NEXT_SEND) {
		note_stall(ssk, *why);
		return NULL;
	}
	if (tx.mid == SDP_MID_SRC_AVAIL)
		skb = sdp_srcavail_send_take(ssk);
	else
		skb = tx.payload_max ? __skb_dequeue(&ssk->tx_queue) :
				       control_skb(ssk);
	if (skb && tx.ring && sdp_buf_cb(skb)->payload > tx.payload_max &&
	    !sdp_segment_split(ssk, skb, tx.payload_max)) {
		__skb_queue_head(&ssk->tx_queue, skb);
		skb = NULL;
	}
	if (!skb) {
		sdp_tick_again(ssk);
		return NULL;
	}
	if (tx.payload_max)
		end_stall(ssk);
	ssk->tx_urgent -= sdp_buf_cb(skb)->urgent;
	seal(ssk, &tx, skb);
	return skb;
}

/* G5: what the adapter holds is few, and each that has gone lets another one follow. */
static bool awaits_arrival(const struct sdp_sock *ssk)
{
	return sdp_engine_by_nic(&ssk->engine);
}

/*
 * Send everything that may go now. Of a train of messages the last one is flushed: its
 * arrival may be what a gathering segment waits for, now or after the next grant.
 */
static bool pump(struct sdp_sock *ssk)
{
	struct sk_buff *skb, *following;
	enum sdp_next why;

	skb = next_message(ssk, &why);
	if (!skb)
		return false;
	while ((following = next_message(ssk, &why))) {
		ssk->link->ops->send(ssk->link, skb, awaits_arrival(ssk));
		skb = following;
	}
	ssk->link->ops->send(ssk->link, skb, true);
	return true;
}

/**
 * sdp_stream_progress() - post receives and send messages, as far as both may go
 * @ssk: socket, locked
 * @todo: notes deliveries to be made
 */
void sdp_stream_progress(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	struct sdp_link *link = ssk->link;

	if (!link || ssk->engine.dead)
		return;
	sdp_stream_replenish(ssk);
	sdp_sinkavail_recv_check(ssk);
	if (link->kept)
		link->ops->resend(link);
	if (pump(ssk) && link->ops->hold) {
		link->ops->hold(link);
		todo->kick = link;
	}
	if (link->kept)
		sdp_tick_again(ssk);
	sdp_alive_watch(ssk);
	sdp_tick_watch_hold(ssk);
	sdp_tick_watch_rest(ssk);
	follow_state(ssk);
}

/* The up-calls of struct sdp_link_events; each is for the socket's present link or void. */

static void up_hello_ack(struct sdp_link *link, const u8 *buf, u32 bytes)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };
	enum sdp_violation bad;
	struct sdp_hello ack;

	bad = sdp_hello_ack_parse(buf, bytes, &ack);
	sdp_stream_lock(ssk);
	if (ssk->link == link) {
		if (bad) {
			sdp_count_violation(sock_net(&ssk->sk), bad);
			sdp_stream_fail(ssk, EPROTO, sdp_violation_name(bad),
					&todo);
		} else {
			sdp_engine_hello_ack_received(&ssk->engine, &ack,
						      &acts);
			carry_out(ssk, &acts, NULL, 0, &todo);
			sdp_stream_progress(ssk, &todo);
		}
	}
	sdp_stream_unlock(ssk, &todo);
}

static void up_established(struct sdp_link *link)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (ssk->link == link) {
		sdp_engine_established(&ssk->engine, &acts);
		carry_out(ssk, &acts, NULL, 0, &todo);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

static void count_received(struct sdp_sock *ssk, const struct sdp_msg *msg)
{
	struct net *net = sock_net(&ssk->sk);

	ssk->received++;
	SDP_INC(net, MsgsReceived);
	sdp_alive_heard(ssk);
	if (msg->payload_len) {
		SDP_ADD(net, BytesReceived, msg->payload_len);
		sdp_tune_receiving(ssk);
		ssk->data_received++;
		ssk->bytes_received += msg->payload_len;
		ssk->last_received = jiffies;
		sk_incoming_cpu_update(&ssk->sk);
	} else if (msg->h.mid == SDP_MID_DATA) {
		SDP_INC(net, CreditUpdatesReceived);
	} else {
		sdp_size_message_received(ssk, msg);
		if (msg->h.mid == SDP_MID_MODE_CHANGE && !ssk->engine.dead)
			note_mode(ssk, msg, false);
	}
	/* With payload or without; and whether or not something is made of it. */
	if (msg->h.mid == SDP_MID_SRC_AVAIL)
		SDP_INC(net, SrcAvailReceived);
	if (msg->h.mid == SDP_MID_SINK_AVAIL)
		SDP_INC(net, SinkAvailReceived);
	trace_sdp_msg_recv(&ssk->sk, &msg->h,
			   sdp_credit_available(&ssk->engine.credit));
	if (ssk->engine.rings)
		sdp_ring_look(ssk);
}

static void up_received(struct sdp_link *link, struct sk_buff *skb, u32 bytes)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };
	u8 tmp[SDP_HEADER_MAX];
	struct sdp_msg msg;
	u32 stale;

	sdp_stream_lock(ssk);
	if (ssk->link != link) {
		kfree_skb(skb);
	} else {
		stale = ssk->engine.sinkavail_tx.stale;
		ssk->posted_bytes -=
			sdp_memory_of_receive(ssk, sdp_buf_cb(skb)->size);
		sdp_engine_receive(&ssk->engine,
				   sdp_buf_header(skb, bytes, tmp), bytes, &msg,
				   &acts);
		count_received(ssk, &msg);
		SDP_ADD(sock_net(&ssk->sk), SinkAvailStale, ssk->engine.sinkavail_tx.stale - stale);
		if (!carry_out(ssk, &acts, skb, bytes, &todo))
			sdp_stream_recycle(ssk, link, skb);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

/*
 * Room for the writer: told when a third of the buffer is free, and only if somebody has
 * met a full one since the last time (which edge-triggered pollers rely on), as with TCP.
 */
static void note_space(struct sdp_sock *ssk, struct sdp_todo *todo)
{
	sdp_tune_regrow(ssk);
	/* Pairs with the barriers where want_space is set. */
	smp_mb();
	if (!READ_ONCE(ssk->want_space)) {
		SDP_INC(sock_net(&ssk->sk), WakeWriteSkipped);
		return;
	}
	ssk->tx_was_full = true;
	if (!sk_stream_is_writeable(&ssk->sk) && ssk->tx_outq)
		return;
	WRITE_ONCE(ssk->want_space, false);
	todo->wake |= SDP_WAKE_WRITE;
}

/* Keep a few blocks; an idle connection keeps none. */
static void keep_blocks(struct sdp_sock *ssk, struct sk_buff_head *blocks)
{
	struct sk_buff *skb;

	if (skb_queue_empty(blocks) || sock_flag(&ssk->sk, SOCK_DEAD) ||
	    sdp_memory_is_short(&ssk->sk))
		return;
	sdp_tick_watch_spares(ssk);
	while (skb_queue_len(&ssk->tx_blocks) < TX_BLOCKS &&
	       (skb = __skb_dequeue(blocks))) {
		__skb_pull(skb, skb_headlen(skb));
		sdp_buf_cb(skb)->payload = 0;
		sdp_buf_cb(skb)->urgent = false;
		__skb_queue_tail(&ssk->tx_blocks, skb);
	}
}

/* A message in our ring; it came by the empty receive @skb. Returns whether that was taken. */
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
	carry_out(ssk, &acts, NULL, 0, todo);
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
		sdp_stream_fail(ssk, ENOBUFS, "too long a message in a ring",
				todo);
		return false;
	}
	if (!carry_out(ssk, &acts, message, bytes, todo))
		kfree_skb(message);
	return message == skb;
}

static void up_placed(struct sdp_link *link, struct sk_buff *skb, u32 imm)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (ssk->link != link) {
		kfree_skb(skb);
	} else {
		ssk->posted_bytes -=
			sdp_memory_of_receive(ssk, sdp_buf_cb(skb)->size);
		if (!take_placed(ssk, skb, imm, &todo))
			sdp_stream_recycle(ssk, link, skb);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

static void up_sent(struct sdp_link *link, struct sdp_sent *sent)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };
	int state;

	sdp_stream_lock(ssk);
	if (ssk->link == link) {
		state = ssk->engine.state;
		SDP_INC(sock_net(&ssk->sk), SendCompletions);
		sdp_memory_sent(ssk, -(int)sent->truesize);
		ssk->tx_outq -= sent->payload;
		WRITE_ONCE(ssk->tx_inflight, ssk->tx_inflight - sent->payload);
		sdp_alive_heard(ssk);
		ssk->tx_since = jiffies;
		keep_blocks(ssk, &sent->blocks);
		note_space(ssk, &todo);
		if (!ssk->tx_outq)
			sdp_tune_arrived(ssk);
		sdp_engine_sent(&ssk->engine, sent->messages, &acts);
		carry_out(ssk, &acts, NULL, 0, &todo);
		sdp_stream_progress(ssk, &todo);
		/*
		 * The end is nearer when bytes have arrived, or our DisConn; answers to what a peer
		 * may go on saying for ever do not count.
		 */
		if (sock_flag(&ssk->sk, SOCK_DEAD) && ssk->link &&
		    (sent->payload || ssk->engine.state != state))
			sdp_orphan_progress(ssk);
	}
	sdp_stream_unlock(ssk, &todo);
	__skb_queue_purge(&sent->blocks);
}

static void up_read_done(struct sdp_link *link, int error)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (ssk->link == link) {
		sdp_srcavail_recv_end(ssk, error, &todo);
		sdp_stream_progress(ssk, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

static void up_alive(struct sdp_link *link)
{
	struct sdp_sock *ssk = link->owner;

	sdp_stream_lock(ssk);
	if (ssk->link == link) {
		ssk->probing = false;
		sdp_alive_heard(ssk);
	}
	spin_unlock_bh(&ssk->lock);
}

static void up_failed(struct sdp_link *link, int error, const char *place)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (ssk->link == link && !sdp_connect_again(ssk, error, &todo))
		sdp_stream_fail(ssk, error == EAGAIN ? ETIMEDOUT : error, place,
				&todo);
	sdp_stream_unlock(ssk, &todo);
}

static void up_ended(struct sdp_link *link)
{
	struct sdp_sock *ssk = link->owner;
	struct sdp_actions acts = { };
	struct sdp_todo todo = { };

	sdp_stream_lock(ssk);
	if (ssk->link == link) {
		sdp_engine_link_ended(&ssk->engine, &acts);
		carry_out(ssk, &acts, NULL, 0, &todo);
	}
	sdp_stream_unlock(ssk, &todo);
}

static void up_released(struct sdp_link *link)
{
	struct sdp_sock *ssk = link->owner;

	link->owner = NULL;
	sdp_listen_forget_link(ssk);
	sock_put(&ssk->sk);
}

static void up_malformed(struct net *net, enum sdp_violation what)
{
	sdp_count_violation(net, what);
}

const struct sdp_link_events sdp_stream_events = {
	.incoming	= sdp_incoming,
	.hello		= sdp_connect_hello,
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
