/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does the application post its large buffer before it asks for what goes there, or after (C6)?
 *
 * Receive, then send: one thread waits in a large recv(), another one writes a small request, and
 * then the answer comes. A buffer of that kind need not be advertised when it is posted: nothing
 * comes before the request has gone, so SinkAvail may wait for that and go along with it, and a
 * message is saved for each answer. That is learnt from N exchanges in a row in which what was
 * written into a buffer had been asked for: our data had gone since the buffer was posted, and the
 * peer had it when it wrote.
 *
 * Whoever waits like this waits in vain if the peer has something to say unasked. That is noticed
 * when it advertises it, or sends it in messages; the buffer then is the answer to the former. From
 * then on it takes twice as many exchanges as it did to learn the same again: a peer that streams,
 * to an application that writes now and then, is held up a few times and not for ever.
 *
 * Send, then receive: nothing is held back. The request would have to wait for a recv() that may
 * not come, and a write never waits for anything but room. If it is still there when the buffer is
 * posted, because it waits for credit or gathers, the two go together.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_PIGGYBACK_H
#define SDP_PROTO_PIGGYBACK_H

#include "base.h"

/**
 * struct sdp_piggyback - what is known of the application of our receiving half
 * @after: so many exchanges in a row tell its kind at first, 0 for never
 * @needed: ... and now
 * @row: so many have
 * @holds: it posts before it asks
 * @asked: since the oldest buffer was posted we have sent data
 * @seq: ... with this MSeq at first
 */
struct sdp_piggyback {
	u16 after;
	u16 needed;
	u16 row;
	bool holds;
	bool asked;
	u32 seq;
};

/* Is what is posted better kept for the request that is going to follow? */
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
