// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol engine: the life of a connection, and events.
 *
 * engine.h says how the owner drives it. The engine only decides; the owner
 * acts. It combines the credit accounting (credit.c), the connection states
 * (conn.c), sizes (resize.c), modes (mode.c), SrcAvail (srcavail_tx.c,
 * srcavail_rx.c), SinkAvail (sinkavail_rx.c, sinkavail_tx.c), rings (ring.c)
 * and the message codec (wire.c), and turns each event into actions.
 * engine_internal.h lists its files.
 */
#include "engine_internal.h"

/**
 * sdp_engine_init() - start the life of a connection
 * @e: to fill
 * @config: sizes and counts
 */
void sdp_engine_init(struct sdp_engine *e,
		     const struct sdp_engine_config *config)
{
	memset(e, 0, sizeof(*e));
	e->send_slots = config->send_slots;
	e->revocable = config->revocable;
	e->ring_max = config->ring_max;
	e->ring_window = config->ring_window;
	e->scheme = config->scheme;
	e->may_rails = config->rails;
	e->target_wish = config->recv_target;
	sdp_credit_init(&e->credit, config->recv_target, config->threshold);
	sdp_resize_init(&e->resize, config->recv_size, config->recv_size_max,
			config->split_level);
	sdp_mode_init(&e->tx_mode, config->mode_after);
	sdp_mode_init(&e->rx_mode, 0);
	sdp_piggyback_init(&e->piggyback, config->mode_after);
}

/*
 * A peer that knows no rings ignores these fields. Then no rings are used, and
 * credits alone limit what is sent (G6).
 */
static void hello_say_rings(const struct sdp_engine *e, struct sdp_hello *hello)
{
	hello->rings = e->ring_max;
	hello->scheme = e->scheme;
	hello->window = e->ring_window;
}

/**
 * sdp_engine_hello() - the connecting side sends Hello (A1)
 * @e: engine; its first receives are posted
 * @hello: the engine's fields are filled in; the addresses are the caller's
 */
void sdp_engine_hello(struct sdp_engine *e, struct sdp_hello *hello)
{
	hello->version = SDP_VERSION;
	hello->cap = e->revocable ? SDP_CAP_INVALIDATE : 0;
	hello->max_adverts = SDP_SRCAVAILS_MAX;
	hello->held = SDP_SINKAVAILS_MAX;
	hello->bufs = e->credit.posted;
	hello->recv_size = e->resize.recv_size;
	hello->wanted_recv_size = e->resize.recv_size;
	hello_say_rings(e, hello);
	e->resize.connecting = true;
	sdp_credit_granted_hello(&e->credit);
	sdp_conn_step(&e->state, SDP_EV_HELLO_SENT);
}

static void hello_take(struct sdp_engine *e, const struct sdp_hello *hello)
{
	sdp_resize_peer_hello(&e->resize, hello->recv_size);
	sdp_resize_peer_posted(&e->resize, hello->bufs);
	sdp_sinkavail_rx_peer(&e->sinkavail_rx, hello->held);
	/*
	 * A peer whose own keys may be invalidated knows how to invalidate
	 * ours.
	 */
	e->may_revoke = e->revocable && (hello->cap & SDP_CAP_INVALIDATE);
	e->rails = e->may_rails && hello->rails.most > 1;
	sdp_credit_peer_hello(&e->credit, hello->bufs);
	if (e->ring_max && hello->rings)
		sdp_engine_take_rings(e, hello);
}

/**
 * sdp_engine_hello_received() - the accepting side has received Hello
 * @e: engine
 * @hello: already checked by sdp_hello_parse()
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE when Hello is not the first event.
 */
enum sdp_violation sdp_engine_hello_received(struct sdp_engine *e,
					     const struct sdp_hello *hello)
{
	if (e->dead || !sdp_conn_step(&e->state, SDP_EV_HELLO_RCVD))
		return SDP_BAD_STATE;
	hello_take(e, hello);
	return SDP_VALID;
}

/**
 * sdp_engine_hello_ack() - the accepting side sends HelloAck (A1)
 * @e: engine; its first receives are posted
 * @ack: filled in
 */
void sdp_engine_hello_ack(struct sdp_engine *e, struct sdp_hello *ack)
{
	ack->version = SDP_VERSION;
	ack->cap = e->revocable ? SDP_CAP_INVALIDATE : 0;
	ack->max_adverts = SDP_SRCAVAILS_MAX;
	ack->held = e->sinkavail_rx.held ? SDP_SINKAVAILS_MAX : 0;
	ack->bufs = e->credit.posted;
	ack->recv_size = e->resize.recv_size;
	if (e->rings)
		hello_say_rings(e, ack);
	sdp_credit_granted_hello(&e->credit);
}

/**
 * sdp_engine_hello_ack_received() - the connecting side has received HelloAck
 * @e: engine
 * @ack: already checked by sdp_hello_ack_parse()
 * @acts: ESTABLISHED, or FAIL
 */
void sdp_engine_hello_ack_received(struct sdp_engine *e,
				   const struct sdp_hello *ack,
				   struct sdp_actions *acts)
{
	if (e->state != SDP_HELLO_SENT) {
		sdp_engine_fail(e, EPROTO, SDP_BAD_STATE, acts);
		return;
	}
	hello_take(e, ack);
	sdp_engine_established(e, acts);
}

/**
 * sdp_engine_established() - the transport reports the connection as complete
 * @e: engine
 * @acts: ESTABLISHED, once
 */
void sdp_engine_established(struct sdp_engine *e, struct sdp_actions *acts)
{
	/* Nothing can be established before the peer's Hello. */
	if (!e->dead && e->resize.send_size &&
	    sdp_conn_step(&e->state, SDP_EV_ESTABLISHED))
		sdp_engine_act(acts, SDP_ACT_ESTABLISHED);
}

static void receive_data(struct sdp_engine *e, const struct sdp_msg *msg,
			 struct sdp_actions *acts)
{
	if (msg->payload_len && !sdp_engine_may_take_data(e))
		sdp_engine_fail(e, EPROTO, SDP_BAD_STATE, acts);
	else
		sdp_engine_deliver(e, msg, acts);
}

/*
 * B7, wire section 9: the peer announces an urgent byte as soon as it can,
 * maybe on several messages, and then sends it. The application is told once
 * per urgent byte.
 */
static void note_urgent(struct sdp_engine *e, const struct sdp_bsdh *h,
			struct sdp_actions *acts)
{
	if (!(h->flags & (SDP_FLAG_OOB_PRES | SDP_FLAG_OOB_PEND)) ||
	    !sdp_conn_may_receive(e->state))
		return;
	if (!e->urgent_announced)
		sdp_engine_act(acts, SDP_ACT_URGENT);
	e->urgent_announced = !(h->flags & SDP_FLAG_OOB_PRES);
}

static void receive_disconn(struct sdp_engine *e, const struct sdp_msg *msg,
			    struct sdp_actions *acts)
{
	if (e->srcavail_rx.open ||
	    !sdp_conn_step(&e->state, SDP_EV_DISC_RCVD)) {
		sdp_engine_fail(e, EPROTO, SDP_BAD_STATE, acts);
		return;
	}
	sdp_engine_sinkavails_over(e, e->sinkavail_rx.n, acts);
	sdp_engine_act(acts, SDP_ACT_EOF);
	/*
	 * If we are posting larger receives, no message will use up the smaller
	 * ones any more, so answer with the old size. A request of ours cannot
	 * be sent before that answer.
	 */
	sdp_resize_refuse(&e->resize);
	if (e->state == SDP_FINISHED)
		sdp_engine_act(acts, SDP_ACT_DISCONNECT);
}

static void receive_abort(struct sdp_engine *e, const struct sdp_msg *msg,
			  struct sdp_actions *acts)
{
	bool legal = sdp_conn_disconn_begun(e->state);

	sdp_engine_fail(e, ECONNRESET, legal ? SDP_VALID : SDP_BAD_STATE, acts);
}

static void receive_resize(struct sdp_engine *e, const struct sdp_msg *msg,
			   struct sdp_actions *acts)
{
	enum sdp_violation bad;

	if (!sdp_conn_may_receive(e->state))
		bad = SDP_BAD_STATE;
	else
		bad = sdp_resize_asked(&e->resize, msg->size, e->credit.posted);
	if (bad)
		sdp_engine_fail(e, EPROTO, bad, acts);
}

static void receive_resize_ack(struct sdp_engine *e, const struct sdp_msg *msg,
			       struct sdp_actions *acts)
{
	enum sdp_violation bad;

	bad = sdp_resize_answered(&e->resize, msg->size,
				  sdp_credit_available(&e->credit));
	if (bad)
		sdp_engine_fail(e, EPROTO, bad, acts);
}

/*
 * SuspComm (wire section 8): the peer wants to move the session to another
 * service id. SuspCommAck would promise that we follow, which we cannot. So we
 * do not answer, and the session stays where it is.
 */
static void receive_suspend(struct sdp_engine *e, const struct sdp_msg *msg,
			    struct sdp_actions *acts)
{
}

typedef void (*receiver_fn)(struct sdp_engine *e, const struct sdp_msg *msg,
			    struct sdp_actions *acts);

/*
 * The handler of each message. A message without one is legal in no state that
 * is implemented.
 */
static receiver_fn engine_receiver(u8 mid)
{
	switch (mid) {
	case SDP_MID_DATA:
		return receive_data;
	case SDP_MID_DISCONN:
		return receive_disconn;
	case SDP_MID_ABORT:
		return receive_abort;
	case SDP_MID_SENDSM:
	case SDP_MID_RDMA_RD_COMPL:
		return sdp_engine_receive_answer;
	case SDP_MID_MODE_CHANGE:
		return sdp_engine_receive_mode;
	case SDP_MID_SRC_CANCEL:
		return sdp_engine_receive_src_cancel;
	case SDP_MID_SRC_AVAIL:
		return sdp_engine_receive_src_avail;
	case SDP_MID_SINK_AVAIL:
		return sdp_engine_receive_sink_avail;
	case SDP_MID_RDMA_WR_COMPL:
		return sdp_engine_receive_write_compl;
	case SDP_MID_SINK_CANCEL:
		return sdp_engine_receive_sink_cancel;
	case SDP_MID_SINK_CANCEL_ACK:
		return sdp_engine_receive_cancel_ack;
	case SDP_MID_CHRCVBUF:
		return receive_resize;
	case SDP_MID_CHRCVBUF_ACK:
		return receive_resize_ack;
	case SDP_MID_SUSPEND:
		return receive_suspend;
	case SDP_MID_RING_ASK:
		return sdp_engine_receive_ring_ask;
	case SDP_MID_RING_AVAIL:
		return sdp_engine_receive_ring_avail;
	default:
		return NULL;
	}
}

/*
 * Note which of our messages the peer had received when it sent this one; @ack
 * is its MSeqAck. Whether the message is valid depends on that.
 */
static void note_view(struct sdp_engine *e, u32 ack)
{
	sdp_sinkavail_rx_note(&e->sinkavail_rx, ack);
	sdp_sinkavail_tx_note(&e->sinkavail_tx, ack);
}

/* More of our messages are known to have arrived, maybe our DisConn. */
static void note_arrivals(struct sdp_engine *e, struct sdp_actions *acts)
{
	/* Stay near the newest number, so that a wrap does no harm. */
	if (sdp_engine_arrived(e, e->partial_seq))
		e->partial_seq = e->sent_seq;
	if (e->dead || !sdp_engine_arrived(e, e->disc_seq))
		return;
	if ((e->state == SDP_DISC_SENT || e->state == SDP_DISC_CROSSED) &&
	    sdp_conn_step(&e->state, SDP_EV_DISC_ARRIVED) &&
	    e->state == SDP_FINISHED)
		sdp_engine_act(acts, SDP_ACT_DISCONNECT);
}

/*
 * Ring messages need rings. Advertisements need a connection where no adapter
 * holds messages back. Only Data with payload may be placed in a ring.
 */
static enum sdp_violation check_ring_use(const struct sdp_engine *e,
					 const struct sdp_msg *msg, bool placed)
{
	if (!e->rings && (msg->h.mid == SDP_MID_RING_ASK ||
			  msg->h.mid == SDP_MID_RING_AVAIL))
		return SDP_BAD_MID;
	/* The answer could be held back behind data (G4). */
	if (e->credit.unasked && (msg->h.mid == SDP_MID_SRC_AVAIL ||
				  msg->h.mid == SDP_MID_SINK_AVAIL))
		return SDP_BAD_STATE;
	if (placed && msg->h.mid != SDP_MID_DATA)
		return SDP_BAD_MID;
	if (placed && !msg->payload_len)
		return SDP_BAD_PAYLOAD;
	return SDP_VALID;
}

/*
 * The peer may not send payload with its last credit (D5). The check uses our
 * newest grant. The peer may not know that one yet, but then it has even less
 * credit.
 */
static enum sdp_violation check_last_credit(const struct sdp_engine *e,
					    const struct sdp_msg *msg)
{
	if (!msg->payload_len ||
	    sdp_seq_after(e->credit.rx_limit, msg->h.mseq) || e->credit.unasked)
		return SDP_VALID;
	return msg->h.mseq == e->credit.rx_seq + 1 ?
	       SDP_BAD_CREDIT : SDP_BAD_SEQ;
}

/* Flags with a longer header are unknown without rings, or without rails. */
static bool knows_flags(const struct sdp_engine *e, u8 flags)
{
	return (e->rings || !(flags & SDP_FLAG_FREED)) &&
	       (e->rails || !(flags & SDP_FLAG_KEYS));
}

static void engine_receive(struct sdp_engine *e, const u8 *buf, u32 bytes,
			   bool placed, struct sdp_msg *msg,
			   struct sdp_actions *acts)
{
	enum sdp_violation bad = sdp_wire_parse(buf, bytes, msg);
	receiver_fn receiver;

	if (e->dead)
		return;
	if (!knows_flags(e, msg->h.flags))
		bad = SDP_BAD_FLAGS;
	if (!bad && !placed && bytes > e->resize.recv_limit)
		bad = SDP_BAD_LEN;
	if (!bad)
		bad = check_ring_use(e, msg, placed);
	if (!bad)
		bad = check_last_credit(e, msg);
	if (!bad && (msg->h.flags & SDP_FLAG_FREED))
		bad = sdp_ring_out_freed(&e->ring_out, msg->freed);
	if (!bad)
		bad = sdp_credit_received(&e->credit, &msg->h);
	receiver = bad ? NULL : engine_receiver(msg->h.mid);
	if (!bad &&
	    (!receiver || e->state == SDP_CLOSED || e->state == SDP_HELLO_SENT))
		bad = SDP_BAD_STATE;
	if (bad) {
		sdp_engine_fail(e, EPROTO, bad, acts);
		return;
	}
	sdp_resize_receive_used(&e->resize);
	sdp_resize_peer_posted(&e->resize, msg->h.bufs);
	sdp_engine_established(e, acts);
	note_arrivals(e, acts);
	note_view(e, msg->h.mseq_ack);
	note_urgent(e, &msg->h, acts);
	receiver(e, msg, acts);
	if (!e->dead)
		sdp_engine_sinkavails_heard(e, &msg->h, acts);
	sdp_engine_keep_back(e);
}

/**
 * sdp_engine_receive() - a message has arrived in one of the posted receives
 * @e: engine
 * @buf: its first min(@bytes, %SDP_HEADER_MAX) bytes
 * @bytes: bytes that the transport received
 * @msg: set to the decoded message, for the caller's statistics
 * @acts: ESTABLISHED (the peer may send before the transport reports the
 *	connection), URGENT, SINKAVAIL_OVER, DELIVER, SINKAVAIL_WRITTEN,
 *	SRCAVAIL, SRCAVAIL_OVER, RING_WANTED, RING_OVER, EOF, DISCONNECT, FAIL
 */
void sdp_engine_receive(struct sdp_engine *e, const u8 *buf, u32 bytes,
			struct sdp_msg *msg, struct sdp_actions *acts)
{
	engine_receive(e, buf, bytes, false, msg, acts);
}

/**
 * sdp_engine_receive_placed() - a message has been written into our ring
 * @e: engine; sdp_engine_ring_place() has said where the message is
 * @buf: a copy, which the peer cannot change, of its first min(@bytes,
 *	%SDP_HEADER_MAX) bytes
 * @bytes: its length
 * @msg: as with sdp_engine_receive()
 * @acts: as with sdp_engine_receive()
 */
void sdp_engine_receive_placed(struct sdp_engine *e, const u8 *buf, u32 bytes,
			       struct sdp_msg *msg, struct sdp_actions *acts)
{
	engine_receive(e, buf, bytes, true, msg, acts);
}

/**
 * sdp_engine_sent() - the transport has completed the @n oldest messages
 * @e: engine
 * @n: number of messages
 * @acts: DISCONNECT
 *
 * A completion of a reliable transport means that the message is in a receive
 * of the peer.
 */
void sdp_engine_sent(struct sdp_engine *e, u16 n, struct sdp_actions *acts)
{
	e->sent_seq += n;
	e->send_slots += n;
	note_arrivals(e, acts);
}

/**
 * sdp_engine_greet() - the peer sends nothing before our first message
 * @e: engine, before the HelloAck
 *
 * That message leaves at once, as a credit update if there is no other.
 */
void sdp_engine_greet(struct sdp_engine *e)
{
	e->greets = true;
}

/**
 * sdp_engine_shutdown() - the application will write no more
 * @e: engine
 *
 * DisConn follows the last byte that was written before.
 */
void sdp_engine_shutdown(struct sdp_engine *e)
{
	e->shutdown = true;
}

/**
 * sdp_engine_abort() - end the connection at once, from this side
 * @e: engine
 * @error: errno (positive) to report to the application
 * @acts: FAIL
 */
void sdp_engine_abort(struct sdp_engine *e, int error, struct sdp_actions *acts)
{
	sdp_engine_fail(e, error, SDP_VALID, acts);
}

/**
 * sdp_engine_link_ended() - the peer or the transport has ended the link
 * @e: engine; all messages that arrived before have been handed in
 * @acts: END after both DisConns, FAIL with ECONNRESET otherwise
 */
void sdp_engine_link_ended(struct sdp_engine *e, struct sdp_actions *acts)
{
	bool orderly = e->state == SDP_DISC_ANSWERED ||
		       e->state == SDP_FINISHED || e->state == SDP_DISC_CROSSED;

	if (e->dead)
		return;
	if (!orderly) {
		sdp_engine_fail(e, ECONNRESET, SDP_VALID, acts);
		return;
	}
	e->dead = true;
	sdp_conn_step(&e->state, SDP_EV_END);
	sdp_engine_act(acts, SDP_ACT_END);
}
