// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers that are posted before what goes there is asked for: see piggyback.h.
 */
#include "piggyback.h"

#define NEEDED_MAX	1024

/**
 * sdp_piggyback_init() - nothing is known yet
 * @r: to fill
 * @after: so many exchanges in a row tell, 0 for never
 */
void sdp_piggyback_init(struct sdp_piggyback *r, u16 after)
{
	memset(r, 0, sizeof(*r));
	r->after = after;
	r->needed = after;
}

/**
 * sdp_piggyback_posted() - a buffer is posted, and no other is out
 * @r: what is known
 */
void sdp_piggyback_posted(struct sdp_piggyback *r)
{
	r->asked = false;
}

/**
 * sdp_piggyback_sent() - what may be a request is being sent
 * @r: what is known
 * @seq: MSeq of the message
 */
void sdp_piggyback_sent(struct sdp_piggyback *r, u32 seq)
{
	if (!r->after || r->asked)
		return;
	r->asked = true;
	r->seq = seq;
}

/* It has not asked for what came. */
static void unasked(struct sdp_piggyback *r)
{
	if (r->holds)
		r->needed = min(2 * r->needed, NEEDED_MAX);
	r->holds = false;
	r->row = 0;
}

/**
 * sdp_piggyback_answered() - the peer has written into the oldest buffer
 * @r: what is known
 * @ack: newest message of ours that it had when it said so
 */
void sdp_piggyback_answered(struct sdp_piggyback *r, u32 ack)
{
	if (!r->after)
		return;
	if (!r->asked || sdp_seq_after(r->seq, ack)) {
		unasked(r);
	} else if (!r->holds && ++r->row >= r->needed) {
		r->holds = true;
		r->row = 0;
	}
	/* Of several buffers the next one is in the same position. */
	r->asked = false;
}

/**
 * sdp_piggyback_came() - the peer has something, and it did not go into a buffer
 * @r: what is known
 */
void sdp_piggyback_came(struct sdp_piggyback *r)
{
	if (!r->asked)
		unasked(r);
}
