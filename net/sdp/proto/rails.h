/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of a connection over its rails (H1, D6).
 *
 * The engine (engine.h) knows nothing of rails. It numbers its messages with
 * MSeq, and takes the peer's in that order, as on a single queue pair. In
 * between, this file decides by which rail a message goes, and which one is the
 * next to be passed on:
 *
 *	sender		posts a message on the rail by which it arrives first,
 *			and keeps it until the peer has acknowledged it. If a
 *			rail dies, what it had goes again by the others.
 *	receiver	holds what is ahead, and drops what has come before
 *			(order.h).
 *
 * So one message can arrive twice, by two rails, and a rail may be given up
 * although it still delivers.
 *
 * A completion of a reliable transport means that the message is in a receive
 * of the peer. Rails complete in any order; the engine counts completions from
 * the oldest message on, so it is told of those before which none is missing
 * (@done).
 *
 * The owner has the messages, and one function for each event. It asks
 * sdp_rails_next() after each of them, and posts what it is told to. The owner
 * calls sdp_rails_start() before the second rail can deliver, and
 * sdp_rails_begin() when all has arrived that it has sent by the first one
 * alone; it sends nothing in between.
 *
 * Pure arithmetic. The caller holds its lock, and says what time it is, in
 * microseconds, which may wrap.
 */
#ifndef SDP_PROTO_RAILS_H
#define SDP_PROTO_RAILS_H

#include "order.h"
#include "rail.h"

#define SDP_RAIL_NONE	SDP_RAILS_MAX

/**
 * struct sdp_rails - rails of a connection, and what is on them
 * @order: order of both directions, by MSeq
 * @rail: the rails; one that has never joined is %SDP_RAIL_DEAD
 * @begin: newest message that went before there were several rails
 * @unkept: messages up to @begin may not have reached the peer. The owner has
 *	not kept them, so the first rail cannot be spared
 * @done: newest of our messages before which all have arrived
 * @again: number of messages that have to go again
 * @by: rail that a message went by last, or %SDP_RAIL_NONE when it has to go
 *	again; index: its number % %SDP_ORDER_WINDOW_MAX
 * @arrived: messages behind @done that have arrived, as a bit mask
 * @say: what we have acknowledged may have been lost with a rail
 */
struct sdp_rails {
	struct sdp_order order;
	struct sdp_rail rail[SDP_RAILS_MAX];
	u32 begin;
	bool unkept;
	u32 done;
	u32 again;
	u8 by[SDP_ORDER_WINDOW_MAX];
	u64 arrived[SDP_ORDER_WORDS];
	bool say;
};

/**
 * struct sdp_rails_post - what to post now
 * @seq: the message
 * @rail: the rail
 */
struct sdp_rails_post {
	u32 seq;
	u32 rail;
};

void sdp_rails_start(struct sdp_rails *r, u32 rx_seq, u16 window);
void sdp_rails_begin(struct sdp_rails *r, u32 tx_seq, u32 acked);
void sdp_rails_join(struct sdp_rails *r, u32 rail, u16 slots);
void sdp_rails_reserve(struct sdp_rails *r, u32 rail);
bool sdp_rails_next(const struct sdp_rails *r, bool fresh, u32 bytes,
		    struct sdp_rails_post *post);
void sdp_rails_posted(struct sdp_rails *r, const struct sdp_rails_post *post,
		      u32 bytes, u32 now);
void sdp_rails_completed(struct sdp_rails *r, u32 rail, u32 seq, u32 bytes,
			 u32 posted, u32 now);
enum sdp_violation sdp_rails_acked(struct sdp_rails *r, u32 ack);
u32 sdp_rails_dead(struct sdp_rails *r, u32 rail);
u32 sdp_rails_check(struct sdp_rails *r, u32 now);
void sdp_rails_excuse(struct sdp_rails *r, u32 now);
u32 sdp_rails_working(const struct sdp_rails *r);
bool sdp_rails_may_spare(const struct sdp_rails *r, u32 rail);
bool sdp_rails_ack_due(const struct sdp_rails *r, bool idle);
void sdp_rails_told(struct sdp_rails *r, u32 ack);

#endif /* SDP_PROTO_RAILS_H */
