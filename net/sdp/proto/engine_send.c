// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol engine: chooses the next message and accounts it.
 *
 * sdp_engine_next() chooses without changing the engine; sdp_engine_commit()
 * records what the chosen message changes.
 */
#include "engine_internal.h"

/* May the oldest segment still grow? Not once a SrcAvail waits behind it. */
static bool partial(const struct sdp_engine *e, const struct sdp_tx_view *view)
{
	return !view->head_full && !e->shutdown &&
	       e->srcavail_tx.state == SDP_SRCAVAIL_TX_IDLE;
}

/*
 * Must a partial message wait until the last partial one has arrived? Full
 * messages in flight do not matter: the end of a large write shall not wait for
 * its beginning. Sets @msg->partial.
 */
static bool send_gathers(const struct sdp_engine *e,
			 const struct sdp_tx_view *view,
			 struct sdp_tx_msg *msg)
{
	msg->partial = partial(e, view) &&
		       view->head_bytes <= sdp_engine_payload_max(e);
	return msg->partial && !sdp_engine_arrived(e, e->partial_seq);
}

/* G5: may the adapter be given one more message that it may hold back? */
static bool pipe_open(const struct sdp_engine *e)
{
	return e->credit.tx_seq - e->sent_seq < sdp_ring_out_pipe(&e->ring_out);
}

/*
 * May any message be sent that is not a credit update? Usually credit decides
 * (D2, D5). Where the adapters hold messages back we do not wait for a grant,
 * because the message with the grant could be held back itself (G4; ring.h
 * explains why this does not deadlock).
 */
static bool may_send(const struct sdp_engine *e)
{
	if (e->credit.unasked)
		return pipe_open(e) || sdp_credit_available(&e->credit);
	return sdp_credit_may_send_data(&e->credit);
}

/* May a message be sent that the peer's or our application waits for? */
static bool may_answer(const struct sdp_engine *e)
{
	return e->credit.unasked ?
	       may_send(e) : sdp_credit_may_answer(&e->credit);
}

/* Why may_send() is false. */
static enum sdp_next send_blocked_by(const struct sdp_engine *e)
{
	return e->credit.unasked ? SDP_NEXT_NO_ROOM : SDP_NEXT_NO_CREDIT;
}

/* May data go into the ring, as far as receives are concerned? */
static bool ring_open(const struct sdp_engine *e)
{
	return e->credit.unasked ? pipe_open(e) :
				   sdp_credit_may_send_data(&e->credit);
}

/*
 * Data into the ring: a segment, or as much as the longest message takes. If
 * the ring has no room for that, data gathers until it has (G3): messages cut
 * to the free space would get smaller and smaller.
 */
static enum sdp_next next_in_ring(const struct sdp_engine *e,
				  const struct sdp_tx_view *view,
				  struct sdp_tx_msg *msg)
{
	u32 bytes = min(view->head_bytes + SDP_RING_HEADER,
			sdp_ring_out_message_max(&e->ring_out));

	if (!ring_open(e))
		return send_blocked_by(e);
	if (send_gathers(e, view, msg))
		return SDP_NEXT_GATHER;
	if (bytes > sdp_ring_out_room(&e->ring_out))
		return SDP_NEXT_NO_ROOM;
	msg->mid = SDP_MID_DATA;
	msg->ring = true;
	msg->payload_max = bytes - SDP_RING_HEADER;
	return SDP_NEXT_SEND;
}

/* Data: a full segment at once, a partial one unless it has to gather. */
static enum sdp_next next_data(const struct sdp_engine *e,
			       const struct sdp_tx_view *view,
			       struct sdp_tx_msg *msg)
{
	if (view->lazy || (partial(e, view) && view->hold))
		return SDP_NEXT_IDLE;
	if (sdp_ring_out_active(&e->ring_out))
		return next_in_ring(e, view, msg);
	if (!may_send(e))
		return send_blocked_by(e);
	if (send_gathers(e, view, msg))
		return SDP_NEXT_GATHER;
	msg->mid = SDP_MID_DATA;
	msg->payload_max = sdp_engine_payload_max(e);
	return SDP_NEXT_SEND;
}

/* Resize: the answer that we owe comes before our own request. */
static bool next_resize(const struct sdp_engine *e, struct sdp_tx_msg *msg)
{
	if (!may_send(e))
		return false;
	if (e->resize.answer &&
	    (sdp_conn_may_receive(e->state) || sdp_conn_may_send(e->state)))
		msg->mid = SDP_MID_CHRCVBUF_ACK;
	else if (sdp_resize_may_ask(&e->resize) &&
		 sdp_conn_may_send(e->state) && !e->shutdown)
		msg->mid = SDP_MID_CHRCVBUF;
	return msg->mid;
}

/* Rings: the answer that we owe comes before our own request. */
static bool next_ring(const struct sdp_engine *e, struct sdp_tx_msg *msg)
{
	if (!may_send(e))
		return false;
	if (e->ring_in.answer &&
	    (sdp_conn_may_receive(e->state) || sdp_conn_may_send(e->state)))
		msg->mid = SDP_MID_RING_AVAIL;
	else if (e->ring_out.asking && sdp_conn_may_send(e->state) &&
		 !e->shutdown)
		msg->mid = SDP_MID_RING_ASK;
	return msg->mid;
}

/*
 * Answers to the peer's SrcAvail, then to its SinkAvails. While these are open
 * the peer still accepts our messages, even after our DisConn. Data that
 * follows an RDMA write needs at least the credit that RdmaWrCompl needs, so it
 * cannot overtake that report.
 */
static bool next_answer(const struct sdp_engine *e, struct sdp_tx_msg *msg)
{
	if (!may_answer(e))
		return false;
	msg->mid = sdp_srcavail_rx_answer(&e->srcavail_rx);
	if (msg->mid && e->srcavail_rx.pipe)
		msg->flags = SDP_FLAG_REQ_PIPE;
	if (!msg->mid)
		msg->mid = sdp_sinkavail_tx_owed(&e->sinkavail_tx);
	return msg->mid;
}

/* C3: our sink wants advertisements again, and the peer can still send. */
static bool sink_wants_mode(const struct sdp_engine *e)
{
	return e->rx_mode.wanted && sdp_conn_may_receive(e->state);
}

/*
 * C2: our source wants another mode. No SrcAvail is out then: the wish arises
 * when one has ended, or when data discards a buffer, and there is no buffer
 * while a SrcAvail is out (C8). After the last byte there is nothing to
 * advertise.
 */
static bool source_wants_mode(const struct sdp_engine *e)
{
	return e->tx_mode.wanted && sdp_conn_may_send(e->state) && !e->shutdown;
}

/* C2: ModeChange. Nobody waits for it, so it needs the credit of data (D5). */
static bool next_mode(const struct sdp_engine *e, struct sdp_tx_msg *msg)
{
	if ((sink_wants_mode(e) || source_wants_mode(e)) && may_send(e))
		msg->mid = SDP_MID_MODE_CHANGE;
	return msg->mid;
}

/*
 * How much data may travel with SinkAvail (C6)? A whole segment or nothing. The
 * segment does not wait to grow, because the message is sent in any case. The
 * urgent byte travels in Data only.
 */
static u32 rides(const struct sdp_engine *e, const struct sdp_tx_view *view)
{
	u32 room =
		e->resize.send_size - sdp_wire_header_len(SDP_MID_SINK_AVAIL);

	if (!sdp_conn_may_send(e->state) ||
	    sdp_srcavail_tx_out(&e->srcavail_tx) || view->head_urgent ||
	    view->head_cut || (view->hold && partial(e, view)))
		return 0;
	return view->head_bytes <= room ? view->head_bytes : 0;
}

/*
 * C6: does SinkAvail wait for the request that will follow? Not behind another
 * SinkAvail, and not after the last byte.
 */
static bool kept(const struct sdp_engine *e)
{
	return sdp_piggyback_waits(&e->piggyback) && !e->sinkavail_rx.sent &&
	       sdp_conn_may_send(e->state) && !e->shutdown;
}

/*
 * C5: SinkAvail for a buffer, or SinkAvailCancel, for which a reader waits. A
 * SinkAvail that answers the peer's SrcAvail is sent like the other answers
 * (C8): with the last credit if necessary, and without data (D5).
 */
static bool next_advert(const struct sdp_engine *e,
			const struct sdp_tx_view *view, struct sdp_tx_msg *msg)
{
	bool waits = sdp_sinkavail_rx_waiting(&e->sinkavail_rx);

	if (!may_answer(e))
		return false;
	if (e->sinkavail_rx.cancel == SDP_CANCEL_WANTED) {
		msg->mid = SDP_MID_SINK_CANCEL;
	} else if (waits && sdp_srcavail_rx_untouched(&e->srcavail_rx)) {
		msg->mid = SDP_MID_SINK_AVAIL;
	} else if (waits && !e->srcavail_rx.open && may_send(e)) {
		msg->payload_max = rides(e, view);
		if (msg->payload_max || !kept(e))
			msg->mid = SDP_MID_SINK_AVAIL;
	}
	return msg->mid;
}

/* What to send when no data is ready, or none may be sent; 0 for nothing. */
static u8 wanted_mid(const struct sdp_engine *e, const struct sdp_tx_view *view)
{
	if (e->srcavail_tx.state == SDP_SRCAVAIL_TX_READY)
		return SDP_MID_SRC_AVAIL;
	if (e->srcavail_tx.state == SDP_SRCAVAIL_TX_CANCEL)
		return SDP_MID_SRC_CANCEL;
	if (e->shutdown && e->srcavail_tx.state == SDP_SRCAVAIL_TX_IDLE &&
	    !view->behind)
		return SDP_MID_DISCONN;
	return e->resize.flush ? SDP_MID_DATA : 0;
}

static enum sdp_next next_wanted(const struct sdp_engine *e,
				 const struct sdp_tx_view *view,
				 struct sdp_tx_msg *msg)
{
	u8 mid;

	if (next_answer(e, msg) || next_resize(e, msg) || next_ring(e, msg) ||
	    next_mode(e, msg) || next_advert(e, view, msg))
		return SDP_NEXT_SEND;
	if (!sdp_conn_may_send(e->state))
		return SDP_NEXT_IDLE;
	if (view->head_bytes && !sdp_srcavail_tx_out(&e->srcavail_tx))
		return next_data(e, view, msg);
	mid = wanted_mid(e, view);
	if (!mid)
		return SDP_NEXT_IDLE;
	if (!may_send(e))
		return send_blocked_by(e);
	msg->mid = mid;
	msg->payload_max =
		mid == SDP_MID_SRC_AVAIL ? e->srcavail_tx.inlined : 0;
	return SDP_NEXT_SEND;
}

/*
 * May the peer's sink have a message for us, even after it has closed its own
 * half? In Buffered it may want another mode (C3), in Pipelined it advertises
 * buffers (C5).
 */
static bool may_be_asked(const struct sdp_engine *e)
{
	return sdp_conn_may_send(e->state) &&
	       e->tx_mode.mode != SDP_MODE_COMBINED;
}

/* Must the peer be told of receives, for its data or another message? */
static bool update_due(const struct sdp_engine *e)
{
	bool out = sdp_srcavail_tx_out(&e->srcavail_tx);

	if (e->greets)
		return sdp_credit_available(&e->credit);
	/*
	 * With BY_NIC nobody waits for a credit update. It only keeps both
	 * ends' counts close to each other.
	 */
	if (e->credit.unasked && !may_send(e))
		return false;
	if ((out || sdp_ring_out_active(&e->ring_out)) &&
	    sdp_credit_peer_is_mute(&e->credit))
		return true;
	if (sdp_credit_peer_is_bound(&e->credit))
		return true;
	/*
	 * Freed space may be reported with the last credit, as an answer may: a
	 * writer must not depend on its own reads.
	 */
	if (sdp_ring_in_update_due(&e->ring_in) &&
	    sdp_conn_may_receive(e->state) && sdp_credit_may_answer(&e->credit))
		return true;
	return (out || sdp_conn_may_receive(e->state) || may_be_asked(e)) &&
	       sdp_credit_update_due(&e->credit);
}

/*
 * B7: each message that is sent while an urgent byte waits announces it. The
 * message that carries the byte announces it too, because some peers signal
 * their application for that flag only.
 */
static u8 urgent_flags(const struct sdp_tx_view *view,
		       const struct sdp_tx_msg *msg)
{
	u8 flags = SDP_FLAG_OOB_PEND;

	if (view->head_urgent && msg->payload_max &&
	    msg->payload_max >= view->head_bytes)
		flags |= SDP_FLAG_OOB_PRES;
	return flags;
}

/**
 * sdp_engine_next() - which message may be sent now?
 * @e: engine
 * @view: what the application has ready
 * @msg: set to the message, when there is one
 *
 * Order: answers to the peer's advertisements, resize, rings, modes, our
 * SinkAvails, data, our SrcAvail or DisConn, and last a credit update if no
 * other message carries the count (D4). Only a credit update, and an answer
 * that grants something, may use the last credit (D5). While our SrcAvail is
 * out, what follows it in the stream waits: data and DisConn (wire section 8).
 *
 * Small writes: the first one leaves at once, whatever full messages are in
 * flight. Later ones gather in the last segment until the first has arrived.
 * There is no timer.
 *
 * No message is sent only to announce an urgent byte. It would use up a credit,
 * and if that was the last one, both sides could be left without credit.
 *
 * Return: %SDP_NEXT_SEND and @msg, or why there is no message.
 */
enum sdp_next sdp_engine_next(const struct sdp_engine *e,
			      const struct sdp_tx_view *view,
			      struct sdp_tx_msg *msg)
{
	enum sdp_next next;

	memset(msg, 0, sizeof(*msg));
	if (e->dead || e->state < SDP_ESTABLISHED)
		return SDP_NEXT_IDLE;
	if (!e->send_slots)
		return SDP_NEXT_NO_SLOT;
	next = next_wanted(e, view, msg);
	if (next != SDP_NEXT_SEND && update_due(e)) {
		msg->mid = SDP_MID_DATA;
		next = SDP_NEXT_SEND;
	}
	msg->declined = view->head_declined;
	if (view->urgent)
		msg->flags |= urgent_flags(view, msg);
	return next;
}

static void commit_mode(struct sdp_engine *e, struct sdp_msg *sent, u32 seq)
{
	sent->mode_send_half = sink_wants_mode(e);
	if (!sent->mode_send_half && e->tx_mode.mode == SDP_MODE_PIPELINED)
		sdp_sinkavail_tx_leave(&e->sinkavail_tx, seq);
	sent->mode = sdp_mode_change_sent(sent->mode_send_half ?
					  &e->rx_mode : &e->tx_mode);
}

/* What the messages about advertisements change. */
static void commit_advert(struct sdp_engine *e, struct sdp_msg *sent, u32 seq)
{
	switch (sent->h.mid) {
	case SDP_MID_SRC_AVAIL:
		sent->src = e->srcavail_tx.region;
		sent->keys = e->srcavail_tx.keys;
		if (sent->keys.rails)
			sent->h.flags |= SDP_FLAG_KEYS;
		sdp_srcavail_tx_sent(&e->srcavail_tx, seq);
		break;
	case SDP_MID_SRC_CANCEL:
		sdp_srcavail_tx_cancel_sent(&e->srcavail_tx, seq);
		break;
	case SDP_MID_RDMA_RD_COMPL:
		sent->count = e->srcavail_rx.unreported;
		sdp_srcavail_rx_reported(&e->srcavail_rx);
		/* Final report: the peer's key is not needed any more. */
		sent->revoke =
			e->srcavail_rx.open ? 0 : e->srcavail_rx.region.rkey;
		break;
	case SDP_MID_SENDSM:
		sdp_srcavail_rx_closed(&e->srcavail_rx);
		sent->revoke = e->srcavail_rx.region.rkey;
		break;
	case SDP_MID_SINK_AVAIL:
		sdp_sinkavail_rx_sent(&e->sinkavail_rx, sent, seq);
		sdp_srcavail_rx_closed(&e->srcavail_rx);
		break;
	case SDP_MID_SINK_CANCEL:
		sdp_sinkavail_rx_cancel_sent(&e->sinkavail_rx, seq);
		break;
	case SDP_MID_RDMA_WR_COMPL:
		sent->count = sdp_sinkavail_tx_reported(&e->sinkavail_tx);
		sent->revoke = e->sinkavail_tx.written_key;
		break;
	case SDP_MID_SINK_CANCEL_ACK:
		e->sinkavail_tx.cancelled = false;
		break;
	}
}

/* What a message changes, apart from its payload. */
static void commit_message(struct sdp_engine *e, struct sdp_msg *sent, u32 seq)
{
	switch (sent->h.mid) {
	case SDP_MID_DISCONN:
		e->disc_seq = seq;
		e->sinkavail_tx.n = 0;
		sdp_conn_step(&e->state, SDP_EV_DISC_SENT);
		break;
	case SDP_MID_MODE_CHANGE:
		commit_mode(e, sent, seq);
		break;
	case SDP_MID_CHRCVBUF:
		sent->size = e->resize.asked;
		sdp_resize_ask_sent(&e->resize);
		break;
	case SDP_MID_CHRCVBUF_ACK:
		sent->size = e->resize.answer;
		sdp_resize_answer_sent(&e->resize);
		break;
	case SDP_MID_RING_ASK:
		sent->size = e->ring_out.ask;
		sdp_ring_out_ask_sent(&e->ring_out);
		break;
	case SDP_MID_RING_AVAIL:
		sent->ring = e->ring_in.next;
		sdp_ring_in_answer_sent(&e->ring_in);
		break;
	default:
		commit_advert(e, sent, seq);
		break;
	}
}

/* Data carries the report of freed space in our ring if the report fits. */
static void commit_freed(struct sdp_engine *e, const struct sdp_tx_msg *tx,
			 struct sdp_msg *sent)
{
	u32 room = tx->ring ? ~0U : e->resize.send_size;

	if (tx->mid != SDP_MID_DATA || !sdp_ring_in_news(&e->ring_in) ||
	    SDP_RING_HEADER + sent->payload_len > room)
		return;
	sent->h.flags |= SDP_FLAG_FREED;
	sent->freed = sdp_ring_in_tell(&e->ring_in);
}

/*
 * A message has payload. If it was partial, small writes gather behind it. It
 * discards a buffer of the peer, if there is one (C7). That speaks for small
 * sends, unless the peer itself has asked for these bytes in messages: a reader
 * may advertise the rest of its memory between the messages of a declined
 * SrcAvail.
 */
static void commit_payload(struct sdp_engine *e, const struct sdp_tx_msg *tx,
			   struct sdp_msg *sent)
{
	if (tx->partial)
		e->partial_seq = sent->h.mseq;
	if (tx->ring)
		sdp_ring_out_put(&e->ring_out, sent->h.len, &sent->to);
	else
		sdp_ring_out_sent_plain(&e->ring_out);
	if (sdp_sinkavail_tx_data_sent(&e->sinkavail_tx) && !tx->declined)
		sdp_mode_discarded(&e->tx_mode);
}

/**
 * sdp_engine_commit() - the message of sdp_engine_next() is being sent
 * @e: engine
 * @tx: that message
 * @payload: bytes it carries, at most @tx->payload_max; exactly that many with
 *	SrcAvail and SinkAvail
 * @buf: room for its header, %SDP_HEADER_MAX bytes
 * @sent: set to the message as sent, for the caller's statistics; if
 *	@sent->to.rkey is not 0, the caller must write it into the peer's memory
 *
 * Return: length of the header.
 */
u32 sdp_engine_commit(struct sdp_engine *e, const struct sdp_tx_msg *tx,
		      u32 payload, u8 *buf, struct sdp_msg *sent)
{
	memset(sent, 0, sizeof(*sent));
	e->greets = false;
	sent->h.mid = tx->mid;
	sent->h.flags = tx->flags;
	sent->payload_len = payload;
	commit_message(e, sent, e->credit.tx_seq + 1);
	commit_freed(e, tx, sent);
	if (!e->may_revoke)
		sent->revoke = 0;
	/*
	 * Our final answer to a SrcAvail grants the receive that was kept back
	 * for it.
	 */
	sdp_engine_keep_back(e);
	sdp_credit_sent(&e->credit, &sent->h);
	sent->h.len = sdp_wire_msg_header_len(&sent->h) + payload;
	e->send_slots--;
	if (payload)
		commit_payload(e, tx, sent);
	if (payload || tx->mid == SDP_MID_SRC_AVAIL ||
	    tx->mid == SDP_MID_RDMA_WR_COMPL)
		sdp_piggyback_sent(&e->piggyback, sent->h.mseq);
	if (e->resize.flush)
		e->resize.flush--;
	return sdp_wire_build(buf, sent);
}

/**
 * sdp_engine_payload_max() - payload of a full message to this peer
 * @e: engine, after its Hello exchange
 *
 * A writer asks without the owner's lock while it fills a message. Meanwhile
 * the value may grow, and it may shrink when the peer's RingAvail arrives.
 * Otherwise it shrinks only by the messages that sdp_engine_shrink() and
 * sdp_engine_ring_leave() ask for.
 *
 * Return: bytes.
 */
u32 sdp_engine_payload_max(const struct sdp_engine *e)
{
	if (sdp_ring_out_active(&e->ring_out))
		return sdp_ring_out_message_max(&e->ring_out) - SDP_RING_HEADER;
	return READ_ONCE(e->resize.send_size) - SDP_BSDH_LEN;
}

/**
 * sdp_engine_all_arrived() - is every message we sent known to have arrived?
 * @e: engine
 *
 * Return: true when it is.
 */
bool sdp_engine_all_arrived(const struct sdp_engine *e)
{
	return sdp_engine_arrived(e, e->credit.tx_seq);
}
