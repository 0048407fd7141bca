// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol engine: what the peer says of advertisements and modes. A receiver for each
 * message, called by engine.c.
 */
#include "engine_internal.h"

static void refuse_if(struct sdp_engine *e, enum sdp_violation bad,
		      struct sdp_actions *acts)
{
	if (bad)
		sdp_engine_fail(e, EPROTO, bad, acts);
}

/* wire 8: the beginning goes along in Combined, and nothing in Pipelined. */
static enum sdp_violation check_src_avail(const struct sdp_engine *e,
					  const struct sdp_msg *msg)
{
	bool pipelined = e->rx_mode.mode == SDP_MODE_PIPELINED;

	if (!sdp_engine_may_take_data(e) ||
	    e->rx_mode.mode == SDP_MODE_BUFFERED)
		return SDP_BAD_STATE;
	return !msg->payload_len == pipelined ? SDP_VALID : SDP_BAD_PAYLOAD;
}

/**
 * sdp_engine_receive_src_avail() - the peer advertises a large send (B2)
 * @e: engine
 * @msg: SrcAvail
 * @acts: DELIVER, OFFERED; nothing if the peer will write into a buffer of
 *	ours (C8); ADVERT_OVER before that if it was done with one; FAIL
 */
void sdp_engine_receive_src_avail(struct sdp_engine *e,
				  const struct sdp_msg *msg,
				  struct sdp_actions *acts)
{
	enum sdp_violation bad = check_src_avail(e, msg);

	if (!bad && sdp_sinkavail_rx_dropped(&e->sinkavail_rx))
		sdp_engine_sinkavails_over(e, e->sinkavail_rx.n, acts);
	if (bad || sdp_sinkavail_rx_win(&e->sinkavail_rx)) {
		refuse_if(e, bad, acts);
		return;
	}
	if (e->sinkavail_rx.n)
		sdp_piggyback_came(&e->piggyback);
	sdp_srcavail_rx_opened(&e->srcavail_rx, &msg->src, msg->payload_len);
	sdp_engine_deliver(e, msg, acts);
	sdp_engine_act(acts, SDP_ACT_SRCAVAIL)->len =
		sdp_srcavail_rx_left(&e->srcavail_rx);
}

/**
 * sdp_engine_receive_src_cancel() - the peer takes its advertisement back
 * @e: engine; if our last word has gone already, the two have crossed
 * @msg: SrcAvailCancel
 * @acts: nothing
 */
void sdp_engine_receive_src_cancel(struct sdp_engine *e,
				   const struct sdp_msg *msg,
				   struct sdp_actions *acts)
{
	sdp_srcavail_rx_decline(&e->srcavail_rx);
}

/* Our advertisement is over because of an answer; @declined: SendSm. */
static void offer_over(struct sdp_engine *e, const struct sdp_msg *msg,
		       bool declined, struct sdp_actions *acts)
{
	bool pipe = msg->h.flags & SDP_FLAG_REQ_PIPE;

	if (declined)
		sdp_mode_srcavail_declined(&e->tx_mode, pipe);
	else
		sdp_mode_srcavail_read(&e->tx_mode, pipe);
}

/**
 * sdp_engine_receive_answer() - the peer has read from our advertisement, or does not want to
 * @e: engine
 * @msg: RdmaRdCompl or SendSm
 * @acts: OFFER_OVER, FAIL
 */
void sdp_engine_receive_answer(struct sdp_engine *e, const struct sdp_msg *msg,
			       struct sdp_actions *acts)
{
	bool out = sdp_srcavail_tx_out(&e->srcavail_tx),
	     declined = msg->h.mid == SDP_MID_SENDSM;
	bool withdrawn = e->srcavail_tx.state != SDP_SRCAVAIL_TX_OUT;
	enum sdp_violation bad;
	struct sdp_action *a;

	if (declined)
		bad = sdp_srcavail_tx_declined(&e->srcavail_tx,
					       msg->h.mseq_ack);
	else
		bad = sdp_srcavail_tx_was_read(&e->srcavail_tx, msg->count,
					       msg->h.mseq_ack);
	refuse_if(e, bad, acts);
	if (bad || !out || sdp_srcavail_tx_out(&e->srcavail_tx))
		return;
	/* What we withdrew says nothing of the reader. */
	if (!withdrawn)
		offer_over(e, msg, declined, acts);
	a = sdp_engine_act(acts, SDP_ACT_SRCAVAIL_OVER);
	a->len = sdp_srcavail_tx_taken(&e->srcavail_tx);
	a->pipe = declined && !withdrawn && (msg->h.flags & SDP_FLAG_REQ_PIPE);
}

/* Is our half over, and did the sender of the message know? */
static bool own_half_over(const struct sdp_engine *e, const struct sdp_msg *msg)
{
	return !sdp_conn_may_send(e->state) &&
	       !sdp_seq_after(e->disc_seq, msg->h.mseq_ack);
}

/**
 * sdp_engine_receive_mode() - the peer changes the mode of one half (C2, C3)
 * @e: engine
 * @msg: ModeChange
 * @acts: ADVERT_OVER for all of ours, FAIL
 */
void sdp_engine_receive_mode(struct sdp_engine *e, const struct sdp_msg *msg,
			     struct sdp_actions *acts)
{
	enum sdp_violation bad = SDP_BAD_STATE;

	if (msg->mode_send_half && !own_half_over(e, msg))
		bad = sdp_mode_changed_by_sink(&e->tx_mode, msg->mode);
	else if (!msg->mode_send_half && sdp_engine_may_take_data(e))
		bad = sdp_mode_changed_by_source(&e->rx_mode, msg->mode);
	refuse_if(e, bad, acts);
	if (!bad && !msg->mode_send_half)
		sdp_engine_sinkavails_over(e, e->sinkavail_rx.n, acts);
}

/* Whether the sink may speak of buffers; if not, @ignore is whether it could not know. */
static enum sdp_violation check_sink(const struct sdp_engine *e,
				     const struct sdp_msg *msg, bool *ignore)
{
	bool closed = !sdp_conn_may_send(e->state);

	*ignore = closed || e->tx_mode.mode != SDP_MODE_PIPELINED;
	if (closed)
		return own_half_over(e, msg) ? SDP_BAD_STATE : SDP_VALID;
	return *ignore && !e->sinkavail_tx.left ? SDP_BAD_STATE : SDP_VALID;
}

/* C5, C8: one more buffer to write into, in the place of what we advertise. */
static void add_target(struct sdp_engine *e, const struct sdp_msg *msg,
		       struct sdp_actions *acts)
{
	enum sdp_violation bad =
		sdp_sinkavail_tx_add(&e->sinkavail_tx, &msg->sink);
	struct sdp_action *a;

	refuse_if(e, bad, acts);
	if (bad || e->srcavail_tx.state == SDP_SRCAVAIL_TX_IDLE)
		return;
	a = sdp_engine_act(acts, SDP_ACT_SRCAVAIL_OVER);
	a->len = sdp_srcavail_tx_taken(&e->srcavail_tx);
	a->crossed = true;
	sdp_srcavail_tx_crossed(&e->srcavail_tx);
}

/**
 * sdp_engine_receive_sink_avail() - the peer advertises a buffer (C5)
 * @e: engine
 * @msg: SinkAvail, maybe with payload of the peer's sending half (C6)
 * @acts: ADVERT_OVER, DELIVER, OFFER_OVER, FAIL
 */
void sdp_engine_receive_sink_avail(struct sdp_engine *e,
				   const struct sdp_msg *msg,
				   struct sdp_actions *acts)
{
	enum sdp_violation bad;
	bool ignore;

	bad = check_sink(e, msg, &ignore);
	if (!bad && msg->payload_len && !sdp_engine_may_take_data(e))
		bad = SDP_BAD_STATE;
	refuse_if(e, bad, acts);
	if (bad)
		return;
	sdp_engine_deliver(e, msg, acts);
	/* C7: what we have sent meanwhile belongs before what could be written. */
	if (!ignore && msg->non_discards == e->sinkavail_tx.non_discards)
		add_target(e, msg, acts);
	else
		e->sinkavail_tx.stale++;
}

/**
 * sdp_engine_receive_write_compl() - the peer has written into our oldest buffer (B4)
 * @e: engine
 * @msg: RdmaWrCompl
 * @acts: WRITTEN, FAIL
 */
void sdp_engine_receive_write_compl(struct sdp_engine *e,
				    const struct sdp_msg *msg,
				    struct sdp_actions *acts)
{
	enum sdp_violation bad = SDP_BAD_STATE;
	struct sdp_action *a;

	if (sdp_engine_may_take_data(e))
		bad = sdp_sinkavail_rx_written(&e->sinkavail_rx, msg->count);
	refuse_if(e, bad, acts);
	if (bad)
		return;
	if (!e->sinkavail_rx.got)
		sdp_piggyback_answered(&e->piggyback, msg->h.mseq_ack);
	a = sdp_engine_act(acts, SDP_ACT_SINKAVAIL_WRITTEN);
	a->len = msg->count;
	a->rest = !sdp_sinkavail_rx_filled(&e->sinkavail_rx, msg->count);
	if (a->rest)
		a->id = e->sinkavail_rx.list[0].id;
	else
		a->id = sdp_sinkavail_rx_end(&e->sinkavail_rx);
}

/**
 * sdp_engine_receive_sink_cancel() - the peer takes its buffers back
 * @e: engine; SinkCancelAck follows if we had one that is not used up
 * @msg: SinkAvailCancel
 * @acts: FAIL
 */
void sdp_engine_receive_sink_cancel(struct sdp_engine *e,
				    const struct sdp_msg *msg,
				    struct sdp_actions *acts)
{
	bool ignore;

	refuse_if(e, check_sink(e, msg, &ignore), acts);
	sdp_sinkavail_tx_cancel(&e->sinkavail_tx);
}

/**
 * sdp_engine_receive_cancel_ack() - the peer will not write into what we took back
 * @e: engine
 * @msg: SinkCancelAck
 * @acts: ADVERT_OVER for all of them, FAIL
 */
void sdp_engine_receive_cancel_ack(struct sdp_engine *e,
				   const struct sdp_msg *msg,
				   struct sdp_actions *acts)
{
	if (e->sinkavail_rx.cancel == SDP_CANCEL_SEEN) {
		sdp_engine_sinkavails_over(e, e->sinkavail_rx.n, acts);
		e->sinkavail_rx.late = false;
	} else if (!sdp_sinkavail_rx_late(&e->sinkavail_rx)) {
		sdp_engine_fail(e, EPROTO, SDP_BAD_STATE, acts);
	}
}

/**
 * sdp_engine_sinkavails_heard() - a message has been dealt with
 * @e: engine
 * @h: its header
 * @acts: ADVERT_OVER for what was left of a buffer when we sent the cancel
 */
void sdp_engine_sinkavails_heard(struct sdp_engine *e, const struct sdp_bsdh *h,
			      struct sdp_actions *acts)
{
	bool cancelled = h->mid == SDP_MID_SINK_CANCEL_ACK;

	if (sdp_sinkavail_rx_answered(&e->sinkavail_rx, h->mseq_ack, cancelled))
		sdp_engine_sinkavails_over(e, e->sinkavail_rx.n, acts);
}
