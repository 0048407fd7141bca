// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol engine: messages of advertisements and modes.
 *
 * Each function receives one kind of message; engine.c calls it after the
 * checks that all messages have in common.
 */
#include "engine_internal.h"

static void rdma_fail_if(struct sdp_engine *e, enum sdp_violation bad,
			 struct sdp_actions *acts)
{
	if (bad)
		sdp_engine_fail(e, EPROTO, bad, acts);
}

/* Wire section 8: SrcAvail carries data in Combined and none in Pipelined. */
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
 * @acts: SINKAVAIL_OVER if the SrcAvail shows that the peer has dropped a
 *	buffer of ours; DELIVER, SRCAVAIL; only FAIL if SrcAvail is not legal;
 *	nothing if the peer will write into a buffer of ours instead (C8)
 */
void sdp_engine_receive_src_avail(struct sdp_engine *e,
				  const struct sdp_msg *msg,
				  struct sdp_actions *acts)
{
	enum sdp_violation bad = check_src_avail(e, msg);

	if (!bad && sdp_sinkavail_rx_dropped(&e->sinkavail_rx))
		sdp_engine_sinkavails_over(e, e->sinkavail_rx.n, acts);
	if (bad || sdp_sinkavail_rx_win(&e->sinkavail_rx)) {
		rdma_fail_if(e, bad, acts);
		return;
	}
	if (e->sinkavail_rx.n)
		sdp_piggyback_came(&e->piggyback);
	sdp_srcavail_rx_opened(&e->srcavail_rx, &msg->src, msg->payload_len);
	e->srcavail_rx.keys = msg->keys;
	sdp_engine_deliver(e, msg, acts);
	sdp_engine_act(acts, SDP_ACT_SRCAVAIL)->len =
		sdp_srcavail_rx_left(&e->srcavail_rx);
}

/**
 * sdp_engine_receive_src_cancel() - the peer cancels its advertisement
 * @e: engine
 * @msg: SrcAvailCancel
 * @acts: nothing
 *
 * The cancel has no effect if it has crossed our final answer.
 */
void sdp_engine_receive_src_cancel(struct sdp_engine *e,
				   const struct sdp_msg *msg,
				   struct sdp_actions *acts)
{
	sdp_srcavail_rx_decline(&e->srcavail_rx);
}

/* An answer has ended our SrcAvail: adapt the mode. @declined: by SendSm. */
static void srcavail_note_answer(struct sdp_engine *e,
				 const struct sdp_msg *msg, bool declined,
				 struct sdp_actions *acts)
{
	bool pipe = msg->h.flags & SDP_FLAG_REQ_PIPE;

	if (declined)
		sdp_mode_srcavail_declined(&e->tx_mode, pipe);
	else
		sdp_mode_srcavail_read(&e->tx_mode, pipe);
}

/**
 * sdp_engine_receive_answer() - the peer answers our SrcAvail
 * @e: engine
 * @msg: RdmaRdCompl or SendSm
 * @acts: SRCAVAIL_OVER, FAIL
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
	rdma_fail_if(e, bad, acts);
	if (bad || !out || sdp_srcavail_tx_out(&e->srcavail_tx))
		return;
	/* The answer to a cancelled SrcAvail says nothing about the reader. */
	if (!withdrawn)
		srcavail_note_answer(e, msg, declined, acts);
	a = sdp_engine_act(acts, SDP_ACT_SRCAVAIL_OVER);
	a->len = sdp_srcavail_tx_taken(&e->srcavail_tx);
	a->pipe = declined && !withdrawn && (msg->h.flags & SDP_FLAG_REQ_PIPE);
}

/* Is our half closed, and did the peer know that when it sent @msg? */
static bool own_half_over(const struct sdp_engine *e, const struct sdp_msg *msg)
{
	return !sdp_conn_may_send(e->state) &&
	       !sdp_seq_after(e->disc_seq, msg->h.mseq_ack);
}

/**
 * sdp_engine_receive_mode() - the peer changes the mode of one half (C2, C3)
 * @e: engine
 * @msg: ModeChange
 * @acts: SINKAVAIL_OVER for all our buffers if our receiving half changes, FAIL
 */
void sdp_engine_receive_mode(struct sdp_engine *e, const struct sdp_msg *msg,
			     struct sdp_actions *acts)
{
	enum sdp_violation bad = SDP_BAD_STATE;

	if (msg->mode_send_half && !own_half_over(e, msg))
		bad = sdp_mode_changed_by_sink(&e->tx_mode, msg->mode);
	else if (!msg->mode_send_half && sdp_engine_may_take_data(e))
		bad = sdp_mode_changed_by_source(&e->rx_mode, msg->mode);
	rdma_fail_if(e, bad, acts);
	if (!bad && !msg->mode_send_half)
		sdp_engine_sinkavails_over(e, e->sinkavail_rx.n, acts);
}

/*
 * May the peer's sink send a message about its buffers? Sets @ignore to true
 * when the message is of no use to us because our sending half is closed or not
 * in Pipelined. Then the message is valid only if the peer did not know that.
 */
static enum sdp_violation check_sink(const struct sdp_engine *e,
				     const struct sdp_msg *msg, bool *ignore)
{
	bool closed = !sdp_conn_may_send(e->state);

	*ignore = closed || e->tx_mode.mode != SDP_MODE_PIPELINED;
	if (closed)
		return own_half_over(e, msg) ? SDP_BAD_STATE : SDP_VALID;
	return *ignore && !e->sinkavail_tx.left ? SDP_BAD_STATE : SDP_VALID;
}

/* C5, C8: the peer's SinkAvail is not stale, and ends our SrcAvail. */
static void sinkavail_accept(struct sdp_engine *e, const struct sdp_msg *msg,
			     struct sdp_actions *acts)
{
	enum sdp_violation bad =
		sdp_sinkavail_tx_add(&e->sinkavail_tx, &msg->sink);
	struct sdp_action *a;

	rdma_fail_if(e, bad, acts);
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
 * @acts: SINKAVAIL_OVER, DELIVER, SRCAVAIL_OVER, FAIL
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
	rdma_fail_if(e, bad, acts);
	if (bad)
		return;
	sdp_engine_deliver(e, msg, acts);
	/*
	 * C7: with another count the buffer is stale: the peer had not received
	 * data that we have sent and that may belong into this buffer.
	 */
	if (!ignore && msg->non_discards == e->sinkavail_tx.non_discards)
		sinkavail_accept(e, msg, acts);
	else
		e->sinkavail_tx.stale++;
}

/**
 * sdp_engine_receive_write_compl() - the peer has written to a buffer (B4)
 * @e: engine
 * @msg: RdmaWrCompl, about our oldest buffer; there may be room left in it
 * @acts: SINKAVAIL_WRITTEN, FAIL
 */
void sdp_engine_receive_write_compl(struct sdp_engine *e,
				    const struct sdp_msg *msg,
				    struct sdp_actions *acts)
{
	enum sdp_violation bad = SDP_BAD_STATE;
	struct sdp_action *a;

	if (sdp_engine_may_take_data(e))
		bad = sdp_sinkavail_rx_written(&e->sinkavail_rx, msg->count);
	rdma_fail_if(e, bad, acts);
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
 * sdp_engine_receive_sink_cancel() - the peer cancels its buffers
 * @e: engine
 * @msg: SinkAvailCancel
 * @acts: FAIL
 *
 * We answer with SinkCancelAck if we had a buffer to drop.
 */
void sdp_engine_receive_sink_cancel(struct sdp_engine *e,
				    const struct sdp_msg *msg,
				    struct sdp_actions *acts)
{
	bool ignore;

	rdma_fail_if(e, check_sink(e, msg, &ignore), acts);
	sdp_sinkavail_tx_cancel(&e->sinkavail_tx);
}

/**
 * sdp_engine_receive_cancel_ack() - the peer will not write into our buffers
 * @e: engine
 * @msg: SinkCancelAck
 * @acts: SINKAVAIL_OVER for all buffers, FAIL
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
 * sdp_engine_sinkavails_heard() - does a message settle the cancel of a rest?
 * @e: engine
 * @h: header of the message, which has been handled
 * @acts: SINKAVAIL_OVER for the rest of a buffer, if the peer had our cancel
 */
void sdp_engine_sinkavails_heard(struct sdp_engine *e, const struct sdp_bsdh *h,
				 struct sdp_actions *acts)
{
	bool cancelled = h->mid == SDP_MID_SINK_CANCEL_ACK;

	if (sdp_sinkavail_rx_answered(&e->sinkavail_rx, h->mseq_ack, cancelled))
		sdp_engine_sinkavails_over(e, e->sinkavail_rx.n, acts);
}
