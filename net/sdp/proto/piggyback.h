/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Learns whether SinkAvail may wait to travel with a request (C6).
 *
 * An application may supply its large buffer before or after it sends the
 * request for the data that goes there.
 *
 * Receive, then send: one thread waits in a large recv(), another one writes a
 * small request, and then the answer comes. The peer sends nothing before it
 * has the request. So SinkAvail may wait for the request and travel in the same
 * message, which saves a message for each answer. We learn this from N
 * exchanges in a row in which the application had asked for what the peer wrote
 * into its buffer: we had sent data since the buffer was supplied, and the peer
 * had that data when it wrote.
 *
 * A SinkAvail that waits for a request waits in vain if the peer has something
 * to send unasked. We notice that when the peer's SrcAvail or Data arrives; in
 * the case of SrcAvail, the buffer then is the answer to it. From then on,
 * learning takes twice as many exchanges as before. So a peer that streams to
 * an application that writes now and then is delayed a few times only.
 *
 * Send, then receive: nothing is held back. The request would have to wait for
 * a recv() that may not come, and a send call may wait for nothing but room. If
 * the request is still unsent when the buffer is supplied, because it waits for
 * credit or gathers, the two travel together.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_PIGGYBACK_H
#define SDP_PROTO_PIGGYBACK_H

#include "base.h"

/**
 * struct sdp_piggyback - what is known of the application of our receiving half
 * @after: exchanges in a row that show its kind at first, 0 for never
 * @needed: exchanges in a row that show its kind now
 * @row: exchanges in a row so far
 * @holds: the application supplies its buffer before it asks
 * @asked: we have sent data since the oldest buffer was supplied
 * @seq: MSeq of the first such data, with @asked
 */
struct sdp_piggyback {
	u16 after;
	u16 needed;
	u16 row;
	bool holds;
	bool asked;
	u32 seq;
};

/**
 * sdp_piggyback_waits() - shall SinkAvail wait for the request that follows?
 * @r: what is known
 *
 * Return: true when the application receives first, and has not asked yet.
 */
static inline bool sdp_piggyback_waits(const struct sdp_piggyback *r)
{
	return r->holds && !r->asked;
}

void sdp_piggyback_init(struct sdp_piggyback *r, u16 after);
void sdp_piggyback_posted(struct sdp_piggyback *r);
void sdp_piggyback_sent(struct sdp_piggyback *r, u32 seq);
void sdp_piggyback_answered(struct sdp_piggyback *r, u32 ack);
void sdp_piggyback_came(struct sdp_piggyback *r);

#endif /* SDP_PROTO_PIGGYBACK_H */
