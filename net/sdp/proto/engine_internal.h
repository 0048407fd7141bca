/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol engine: what its files need of each other, and nobody else does.
 *
 *	engine.c	the life of a connection, and events
 *	engine_rdma.c	messages of advertisements and modes, on behalf of engine.c
 *	engine_ring.c	rings: their messages, what is in them, and what the owner says of them
 *	engine_send.c	which message goes next
 *	engine_api.c	what the owner asks and wishes between events
 *	engine_action.c	actions; uses none of the others
 */
#ifndef SDP_PROTO_ENGINE_INTERNAL_H
#define SDP_PROTO_ENGINE_INTERNAL_H

#include "engine.h"

/* Is the own message @seq known to have arrived? */
static inline bool sdp_engine_arrived(const struct sdp_engine *e, u32 seq)
{
	return !sdp_seq_after(seq, e->sent_seq) ||
	       !sdp_seq_after(seq, e->credit.tx_acked);
}

/* May data come? What follows an advertisement follows our answer to it. */
static inline bool sdp_engine_may_take_data(const struct sdp_engine *e)
{
	return sdp_conn_may_receive(e->state) && !e->srcavail_rx.open;
}

/* Keep receives for what may have to be said with the last credit; see credit.h. */
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
