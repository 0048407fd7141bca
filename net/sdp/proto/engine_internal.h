/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol engine: what only its own files use of each other.
 *
 * The engine consists of these files:
 *
 *	engine.c	the life of a connection, and events
 *	engine_rdma.c	receives the messages of advertisements and modes
 *	engine_ring.c	rings: their messages, and calls of the owner
 *	engine_send.c	which message goes next
 *	engine_api.c	queries and requests of the owner between events
 *	engine_action.c	actions; uses none of the other files
 */
#ifndef SDP_PROTO_ENGINE_INTERNAL_H
#define SDP_PROTO_ENGINE_INTERNAL_H

#include "engine.h"

/**
 * sdp_engine_arrived() - is one of our messages known to have arrived?
 * @e: engine
 * @seq: MSeq of the message
 *
 * Return: true when the transport has completed the message, or the peer has
 * acknowledged it.
 */
static inline bool sdp_engine_arrived(const struct sdp_engine *e, u32 seq)
{
	return !sdp_seq_after(seq, e->sent_seq) ||
	       !sdp_seq_after(seq, e->credit.tx_acked);
}

/**
 * sdp_engine_may_take_data() - may the peer send payload now?
 * @e: engine
 *
 * Data that follows a SrcAvail comes only after our answer to it.
 *
 * Return: true when it may.
 */
static inline bool sdp_engine_may_take_data(const struct sdp_engine *e)
{
	return sdp_conn_may_receive(e->state) && !e->srcavail_rx.open;
}

/**
 * sdp_engine_keep_back() - update what the credit accounting keeps back
 * @e: engine
 *
 * While we may have to send a message with our last credit, the peer is not
 * told of all receives, so that the message can grant one; see @reserve and
 * @spare in credit.h.
 */
static inline void sdp_engine_keep_back(struct sdp_engine *e)
{
	e->credit.reserve = e->srcavail_rx.open;
	e->credit.spare = sdp_sinkavail_rx_may_cancel(&e->sinkavail_rx) ||
			  sdp_ring_in_tells(&e->ring_in);
}

struct sdp_action *sdp_engine_act(struct sdp_actions *acts,
				  enum sdp_action_kind kind);
void sdp_engine_fail(struct sdp_engine *e, int error,
		     enum sdp_violation violation, struct sdp_actions *acts);
void sdp_engine_sinkavails_over(struct sdp_engine *e, u32 n,
				struct sdp_actions *acts);
void sdp_engine_deliver(struct sdp_engine *e, const struct sdp_msg *msg,
			struct sdp_actions *acts);

void sdp_engine_receive_src_avail(struct sdp_engine *e,
				  const struct sdp_msg *msg,
				  struct sdp_actions *acts);
void sdp_engine_receive_src_cancel(struct sdp_engine *e,
				   const struct sdp_msg *msg,
				   struct sdp_actions *acts);
void sdp_engine_receive_answer(struct sdp_engine *e, const struct sdp_msg *msg,
			       struct sdp_actions *acts);
void sdp_engine_receive_mode(struct sdp_engine *e, const struct sdp_msg *msg,
			     struct sdp_actions *acts);
void sdp_engine_receive_sink_avail(struct sdp_engine *e,
				   const struct sdp_msg *msg,
				   struct sdp_actions *acts);
void sdp_engine_receive_write_compl(struct sdp_engine *e,
				    const struct sdp_msg *msg,
				    struct sdp_actions *acts);
void sdp_engine_receive_sink_cancel(struct sdp_engine *e,
				    const struct sdp_msg *msg,
				    struct sdp_actions *acts);
void sdp_engine_receive_cancel_ack(struct sdp_engine *e,
				   const struct sdp_msg *msg,
				   struct sdp_actions *acts);
void sdp_engine_sinkavails_heard(struct sdp_engine *e, const struct sdp_bsdh *h,
				 struct sdp_actions *acts);
void sdp_engine_take_rings(struct sdp_engine *e, const struct sdp_hello *hello);
void sdp_engine_receive_ring_ask(struct sdp_engine *e,
				 const struct sdp_msg *msg,
				 struct sdp_actions *acts);
void sdp_engine_receive_ring_avail(struct sdp_engine *e,
				   const struct sdp_msg *msg,
				   struct sdp_actions *acts);

#endif /* SDP_PROTO_ENGINE_INTERNAL_H */
