// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol engine: see engine.h for how it is driven.
 *
 * It decides; it never does. It joins the credit accounting (credit.c), the connection
 * states (conn.c) and the message codec (wire.c), and turns each event into actions.
 */
#include "engine.h"

static struct sdp_action *act(struct sdp_actions *acts, enum sdp_action_kind kind)
{
	struct sdp_action *a;

	/* No event leads to more than three; the unit tests check that none comes near. */
	if (acts->n < SDP_ACTIONS_MAX)
		acts->n++;
	a = &acts->list[acts->n - 1];
	memset(a, 0, sizeof(*a));
	a->kind = kind;
	return a;
}

/* The one way in which a connection fails; only the first failure counts. */
static void fail(struct sdp_engine *e, int error, enum sdp_violation violation,
		 struct sdp_actions *acts)
{
	struct sdp_action *a;

	if (e->dead)
		return;
	e->dead = true;
	sdp_conn_step(&e->state, SDP_EV_END);
	a = act(acts, SDP_ACT_FAIL);
	a->error = error;
	a->violation = violation;
}

/**
 * sdp_engine_init() - start the life of a connection
 * @e: to fill
 * @config: sizes and counts
 */
void sdp_engine_init(struct sdp_engine *e, const struct sdp_engine_config *config)
{
	memset(e, 0, sizeof(*e));
	e->send_slots = config->send_slots;
	sdp_credit_init(&e->credit, config->recv_target, config->threshold);
	sdp_resize_init(&e->resize, config->recv_size, config->recv_size_max, config->split_level);
}

/**
 * sdp_engine_hello() - the connecting side says Hello (A1)
 * @e: engine; its first receives are posted
 * @hello: the engine's fields are filled in; addresses are the caller's
 */
void sdp_engine_hello(struct sdp_engine *e, struct sdp_hello *hello)
{
	hello->version = SDP_VERSION;
	hello->max_adverts = 1;
	hello->bufs = e->credit.posted;
	hello->recv_size = e->resize.recv_size;
	hello->wanted_recv_size = e->resize.recv_size;
	e->resize.connecting = true;
	sdp_credit_granted_hello(&e->credit);
	sdp_conn_step(&e->state, SDP_EV_HELLO_SENT);
}

static void take_hello(struct sdp_engine *e, const struct sdp_hello *hello)
{
	sdp_resize_peer_hello(&e->resize, hello->recv_size);
	e->peer_adverts = hello->max_adverts;
	sdp_credit_peer_hello(&e->credit, hello->bufs);
}

/**
 * sdp_engine_hello_received() - the accepting side has got a Hello
 * @e: engine
 * @hello: already checked by sdp_hello_parse()
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE when this is not the beginning.
 */
enum sdp_violation sdp_engine_hello_received(struct sdp_engine *e, const struct sdp_hello *hello)
{
	if (e->dead || !sdp_conn_step(&e->state, SDP_EV_HELLO_RCVD))
		return SDP_BAD_STATE;
	take_hello(e, hello);
	return SDP_VALID;
}

/**
 * sdp_engine_hello_ack() - the accepting side answers (A1)
 * @e: engine; its first receives are posted
 * @ack: filled in
 */
void sdp_engine_hello_ack(struct sdp_engine *e, struct sdp_hello *ack)
{
	ack->version = SDP_VERSION;
	ack->max_adverts = 1;
	ack->bufs = e->credit.posted;
	ack->recv_size = e->resize.recv_size;
	sdp_credit_granted_hello(&e->credit);
}

/**
 * sdp_engine_hello_ack_received() - the connecting side has got its answer
 * @e: engine
 * @ack: already checked by sdp_hello_ack_parse()
 * @acts: ESTABLISHED, or FAIL
 */
void sdp_engine_hello_ack_received(struct sdp_engine *e, const struct sdp_hello *ack,
				   struct sdp_actions *acts)
{
	if (e->state != SDP_HELLO_SENT) {
		fail(e, EPROTO, SDP_BAD_STATE, acts);
		return;
	}
	take_hello(e, ack);
	sdp_engine_established(e, acts);
}

/**
 * sdp_engine_established() - the transport reports the connection as complete
 * @e: engine
 * @acts: ESTABLISHED, once
 */
void sdp_engine_established(struct sdp_engine *e, struct sdp_actions *acts)
{
	/* Before the peer's Hello there is nothing that could be established. */
	if (!e->dead && e->resize.send_size && sdp_conn_step(&e->state, SDP_EV_ESTABLISHED))
		act(acts, SDP_ACT_ESTABLISHED);
}

/**
 * sdp_engine_set_target() - change how many receives shall be posted
 * @e: engine
 * @target: receives
 * @threshold: T, 0 for half of @target
 */
void sdp_engine_set_target(struct sdp_engine *e, u16 target, u16 threshold)
{
	sdp_credit_set_target(&e->credit, target, threshold);
}

/**
 * sdp_engine_receives_wanted() - how many receives shall be posted now
 * @e: engine
 *
 * Return: receives, 0 once the engine is dead.
 */
u16 sdp_engine_receives_wanted(const struct sdp_engine *e)
{
	const struct sdp_credit *c = &e->credit;

	return !e->dead && c->posted < c->target ? c->target - c->posted : 0;
}

/**
 * sdp_engine_posted() - receives have been posted
 * @e: engine
 * @n: how many
 */
void sdp_engine_posted(struct sdp_engine *e, u16 n)
{
	sdp_credit_posted(&e->credit, n);
}

/**
 * sdp_engine_post_size() - which size shall receives have that are posted now? (E2)
 * @e: engine
 *
 * Return: bytes, BSDH included.
 */
u32 sdp_engine_post_size(const struct sdp_engine *e)
{
	return e->resize.posting;
}

/**
 * sdp_engine_resize_refuse() - larger receives, as the peer wants them, cannot be had (E2)
 * @e: engine
 *
 * Nothing happens if the peer has been told already that it has them.
 */
void sdp_engine_resize_refuse(struct sdp_engine *e)
{
	sdp_resize_refuse(&e->resize);
}

/**
 * sdp_engine_split() - a send of the application did not fit into one message (E1)
 * @e: engine, after its Hello exchange
 * @bytes: size of the send
 */
void sdp_engine_split(struct sdp_engine *e, u32 bytes)
{
	sdp_resize_split(&e->resize, bytes);
}

/**
 * sdp_engine_may_shrink() - could we ask the peer for its first, smaller receives?
 * @e: engine
 *
 * Return: true when that makes sense, now or later.
 */
bool sdp_engine_may_shrink(const struct sdp_engine *e)
{
	return !e->dead && sdp_conn_may_send(e->state) && !e->shutdown &&
	       sdp_resize_may_shrink(&e->resize);
}

/**
 * sdp_engine_shrink() - nothing was sent for long: the peer may have smaller receives again
 * @e: engine; nothing is unsent, and nobody is about to add something of the present size
 *
 * What is sent next asks for it. sdp_engine_shrink_end() has to be called before anything can
 * be added, because a request that is sent binds us at once.
 *
 * Return: true when there is something to ask for.
 */
bool sdp_engine_shrink(struct sdp_engine *e)
{
	return sdp_engine_may_shrink(e) && sdp_resize_shrink(&e->resize);
}

/**
 * sdp_engine_shrink_end() - if the request could not be sent it is not wanted any more
 * @e: engine
 */
void sdp_engine_shrink_end(struct sdp_engine *e)
{
	sdp_resize_shrink_end(&e->resize);
}

static void receive_data(struct sdp_engine *e, const struct sdp_msg *msg, struct sdp_actions *acts)
{
	struct sdp_action *a;

	if (!msg->payload_len)
		return;
	if (!sdp_conn_may_receive(e->state)) {
		fail(e, EPROTO, SDP_BAD_STATE, acts);
		return;
	}
	a = act(acts, SDP_ACT_DELIVER);
	a->offset = msg->payload;
	a->len = msg->payload_len;
	a->urgent = msg->h.flags & SDP_FLAG_OOB_PRES;
}

/*
 * B7, wire section 9: the peer announces an urgent byte as soon as it can, maybe on several
 * messages, and then sends it. The application is told once of each.
 */
static void note_urgent(struct sdp_engine *e, const struct sdp_bsdh *h, struct sdp_actions *acts)
{
	if (!(h->flags & (SDP_FLAG_OOB_PRES | SDP_FLAG_OOB_PEND)) ||
	    !sdp_conn_may_receive(e->state))
		return;
	if (!e->urgent_announced)
		act(acts, SDP_ACT_URGENT);
	e->urgent_announced = !(h->flags & SDP_FLAG_OOB_PRES);
}

static void receive_disconn(struct sdp_engine *e, const struct sdp_msg *msg,
			    struct sdp_actions *acts)
{
	if (!sdp_conn_step(&e->state, SDP_EV_DISC_RCVD)) {
		fail(e, EPROTO, SDP_BAD_STATE, acts);
		return;
	}
	act(acts, SDP_ACT_EOF);
	/* Larger receives would stay empty, and our own request waits for that answer. */
	sdp_resize_refuse(&e->resize);
	if (e->state == SDP_FINISHED)
		act(acts, SDP_ACT_DISCONNECT);
}

static void receive_abort(struct sdp_engine *e, const struct sdp_msg *msg,
			  struct sdp_actions *acts)
{
	fail(e, ECONNRESET, sdp_conn_disconn_begun(e->state) ? SDP_VALID : SDP_BAD_STATE, acts);
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
		fail(e, EPROTO, bad, acts);
}

static void receive_resize_ack(struct sdp_engine *e, const struct sdp_msg *msg,
			       struct sdp_actions *acts)
{
	enum sdp_violation bad;

	bad = sdp_resize_answered(&e->resize, msg->size, sdp_credit_available(&e->credit));
	if (bad)
		fail(e, EPROTO, bad, acts);
}

typedef void (*receiver_fn)(struct sdp_engine *e, const struct sdp_msg *msg,
			    struct sdp_actions *acts);

/* What each message does. One without a receiver is legal in no state that exists yet. */
static receiver_fn receiver_of(u8 mid)
{
	switch (mid) {
	case SDP_MID_DATA:
		return receive_data;
	case SDP_MID_DISCONN:
		return receive_disconn;
	case SDP_MID_ABORT:
		return receive_abort;
	case SDP_MID_CHRCVBUF:
		return receive_resize;
	case SDP_MID_CHRCVBUF_ACK:
		return receive_resize_ack;
	default:
		return NULL;
	}
}

static bool arrived(const struct sdp_engine *e, u32 seq)
{
	return !sdp_seq_after(seq, e->sent_seq) || !sdp_seq_after(seq, e->credit.tx_acked);
}

/* More of what we sent is known to have arrived; our DisConn may be among it. */
static void note_arrivals(struct sdp_engine *e, struct sdp_actions *acts)
{
	/* Kept near the newest number, so that comparing it stays right after a wrap. */
	if (arrived(e, e->data_seq))
		e->data_seq = e->sent_seq;
	if (e->dead || !arrived(e, e->disc_seq))
		return;
	if ((e->state == SDP_DISC_SENT || e->state == SDP_DISC_CROSSED) &&
	    sdp_conn_step(&e->state, SDP_EV_DISC_ARRIVED) && e->state == SDP_FINISHED)
		act(acts, SDP_ACT_DISCONNECT);
}

/**
 * sdp_engine_receive() - a message has arrived in one of the posted receives
 * @e: engine
 * @buf: its first min(@bytes, %SDP_HEADER_MAX) bytes
 * @bytes: bytes that the transport received
 * @msg: the message decoded, for the caller's statistics
 * @acts: ESTABLISHED (the peer may speak before the transport reports it), URGENT,
 *	DELIVER, EOF, DISCONNECT, FAIL
 */
void sdp_engine_receive(struct sdp_engine *e, const u8 *buf, u32 bytes, struct sdp_msg *msg,
			struct sdp_actions *acts)
{
	enum sdp_violation bad = sdp_wire_parse(buf, bytes, msg);
	receiver_fn receiver;

	if (e->dead)
		return;
	if (!bad && bytes > e->resize.recv_limit)
		bad = SDP_BAD_LEN;
	/* Whatever the peer knew of our grants: this was the last credit, or none (D5). */
	if (!bad && msg->payload_len && !sdp_seq_after(e->credit.rx_limit, msg->h.mseq))
		bad = msg->h.mseq == e->credit.rx_seq + 1 ? SDP_BAD_CREDIT : SDP_BAD_SEQ;
	if (!bad)
		bad = sdp_credit_received(&e->credit, &msg->h);
	receiver = bad ? NULL : receiver_of(msg->h.mid);
	if (!bad && (!receiver || e->state == SDP_CLOSED || e->state == SDP_HELLO_SENT))
		bad = SDP_BAD_STATE;
	if (bad) {
		fail(e, EPROTO, bad, acts);
		return;
	}
	sdp_resize_receive_used(&e->resize);
	sdp_engine_established(e, acts);
	note_arrivals(e, acts);
	note_urgent(e, &msg->h, acts);
	receiver(e, msg, acts);
}

/**
 * sdp_engine_sent() - the transport has completed the @n oldest messages handed to it
 * @e: engine
 * @n: how many
 * @acts: DISCONNECT
 *
 * A completion of a reliable transport means that the message is in the peer's receive.
 */
void sdp_engine_sent(struct sdp_engine *e, u16 n, struct sdp_actions *acts)
{
	e->sent_seq += n;
	e->send_slots += n;
	note_arrivals(e, acts);
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
	fail(e, error, SDP_VALID, acts);
}

/**
 * sdp_engine_link_ended() - the peer, through the transport, has ended the link
 * @e: engine; all messages that arrived before have been handed in
 * @acts: END after both DisConns, FAIL with ECONNRESET otherwise
 */
void sdp_engine_link_ended(struct sdp_engine *e, struct sdp_actions *acts)
{
	bool orderly = e->state == SDP_DISC_ANSWERED || e->state == SDP_FINISHED ||
		       e->state == SDP_DISC_CROSSED;

	if (e->dead)
		return;
	if (!orderly) {
		fail(e, ECONNRESET, SDP_VALID, acts);
		return;
	}
	e->dead = true;
	sdp_conn_step(&e->state, SDP_EV_END);
	act(acts, SDP_ACT_END);
}

/* Data to send: a whole segment at once, a partial one when nothing is on its way. */
static enum sdp_next next_data(const struct sdp_engine *e, const struct sdp_tx_view *view,
			       struct sdp_tx_msg *msg)
{
	bool partial = !view->head_full && !e->shutdown;

	if (partial && view->hold)
		return SDP_NEXT_IDLE;
	if (!sdp_credit_may_send_data(&e->credit))
		return SDP_NEXT_NO_CREDIT;
	if (partial && !arrived(e, e->data_seq))
		return SDP_NEXT_GATHER;
	msg->mid = SDP_MID_DATA;
	msg->payload_max = sdp_engine_payload_max(e);
	return SDP_NEXT_SEND;
}

/* Resize: the answer that we owe, then our own request. */
static bool next_resize(const struct sdp_engine *e, struct sdp_tx_msg *msg)
{
	if (!sdp_credit_may_send_data(&e->credit))
		return false;
	if (e->resize.answer && (sdp_conn_may_receive(e->state) || sdp_conn_may_send(e->state)))
		msg->mid = SDP_MID_CHRCVBUF_ACK;
	else if (sdp_resize_may_ask(&e->resize) && sdp_conn_may_send(e->state) && !e->shutdown)
		msg->mid = SDP_MID_CHRCVBUF;
	return msg->mid;
}

static enum sdp_next next_wanted(const struct sdp_engine *e, const struct sdp_tx_view *view,
				 struct sdp_tx_msg *msg)
{
	if (next_resize(e, msg))
		return SDP_NEXT_SEND;
	if (!sdp_conn_may_send(e->state))
		return SDP_NEXT_IDLE;
	if (view->head_bytes)
		return next_data(e, view, msg);
	if (!e->shutdown && !e->resize.flush)
		return SDP_NEXT_IDLE;
	if (!sdp_credit_may_send_data(&e->credit))
		return SDP_NEXT_NO_CREDIT;
	msg->mid = e->shutdown ? SDP_MID_DISCONN : SDP_MID_DATA;
	return SDP_NEXT_SEND;
}

/*
 * B7: whatever goes while an urgent byte waits announces it. The message that carries it
 * announces it too: peers are known that signal their application for that flag only.
 */
static u8 urgent_flags(const struct sdp_tx_view *view, const struct sdp_tx_msg *msg)
{
	u8 flags = SDP_FLAG_OOB_PEND;

	if (view->head_urgent && msg->payload_max && msg->payload_max >= view->head_bytes)
		flags |= SDP_FLAG_OOB_PRES;
	return flags;
}

/**
 * sdp_engine_next() - which message may be sent now?
 * @e: engine
 * @view: what the application has ready
 * @msg: the message, when there is one
 *
 * Order: resize, data, then DisConn, then a credit update if no other message carries the
 * count (D4). A credit update may use the last credit, nothing else may (D5).
 *
 * Small writes: the first one leaves at once; what is written while it is on its way
 * gathers in the open segment and leaves with its arrival, never later (no timer).
 *
 * No message goes only to announce an urgent byte: at the last credit it could leave both
 * sides without one.
 *
 * Return: %SDP_NEXT_SEND and @msg, or why not.
 */
enum sdp_next sdp_engine_next(const struct sdp_engine *e, const struct sdp_tx_view *view,
			      struct sdp_tx_msg *msg)
{
	enum sdp_next next;

	memset(msg, 0, sizeof(*msg));
	if (e->dead || e->state < SDP_ESTABLISHED)
		return SDP_NEXT_IDLE;
	if (!e->send_slots)
		return SDP_NEXT_NO_SLOT;
	next = next_wanted(e, view, msg);
	if (next != SDP_NEXT_SEND && sdp_conn_may_receive(e->state) &&
	    sdp_credit_update_due(&e->credit)) {
		msg->mid = SDP_MID_DATA;
		next = SDP_NEXT_SEND;
	}
	if (view->urgent)
		msg->flags = urgent_flags(view, msg);
	return next;
}

/* What messages do to the engine that carry no data. */
static void commit_control(struct sdp_engine *e, struct sdp_msg *sent)
{
	switch (sent->h.mid) {
	case SDP_MID_DISCONN:
		e->disc_seq = sent->h.mseq;
		sdp_conn_step(&e->state, SDP_EV_DISC_SENT);
		break;
	case SDP_MID_CHRCVBUF:
		sent->size = e->resize.asked;
		sdp_resize_ask_sent(&e->resize);
		break;
	case SDP_MID_CHRCVBUF_ACK:
		sent->size = e->resize.answer;
		sdp_resize_answer_sent(&e->resize);
		break;
	}
}

/**
 * sdp_engine_commit() - the message of sdp_engine_next() is being sent
 * @e: engine
 * @tx: that message
 * @payload: bytes it carries, at most @tx->payload_max
 * @buf: room for its header, %SDP_HEADER_MAX bytes
 * @sent: the message as sent, for the caller's statistics
 *
 * Return: length of the header.
 */
u32 sdp_engine_commit(struct sdp_engine *e, const struct sdp_tx_msg *tx, u32 payload, u8 *buf,
		      struct sdp_msg *sent)
{
	memset(sent, 0, sizeof(*sent));
	sent->h.mid = tx->mid;
	sent->h.flags = tx->flags;
	sent->payload_len = payload;
	sdp_credit_sent(&e->credit, &sent->h);
	sent->h.len = sdp_wire_header_len(tx->mid) + payload;
	e->send_slots--;
	if (payload)
		e->data_seq = sent->h.mseq;
	if (e->resize.flush)
		e->resize.flush--;
	commit_control(e, sent);
	return sdp_wire_build(buf, sent);
}

/**
 * sdp_engine_payload_max() - payload of a full message to this peer
 * @e: engine, after its Hello exchange
 *
 * Return: bytes.
 */
u32 sdp_engine_payload_max(const struct sdp_engine *e)
{
	return e->resize.send_size - SDP_BSDH_LEN;
}

/**
 * sdp_engine_all_arrived() - is everything that was sent known to have arrived?
 * @e: engine
 *
 * Return: true when it is.
 */
bool sdp_engine_all_arrived(const struct sdp_engine *e)
{
	return arrived(e, e->credit.tx_seq);
}
