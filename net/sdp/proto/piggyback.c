// SPDX-License-Identifier: GPL-2.0
/*
 * Learns whether the application receives first, then sends (C6).
 *
 * piggyback.h explains what is learned and why.
 */
#include "piggyback.h"

/* Most exchanges in a row that learning may take. */
#define PIGGYBACK_NEEDED_MAX	1024

/**
 * sdp_piggyback_init() - start with nothing known
 * @r: to fill
 * @after: exchanges in a row that show the kind of the application, 0 for never
 */
void sdp_piggyback_init(struct sdp_piggyback *r, u16 after)
{
	memset(r, 0, sizeof(*r));
	r->after = after;
	r->needed = after;
}

/**
 * sdp_piggyback_posted() - a reader supplies the only buffer
 * @r: what is known
 */
void sdp_piggyback_posted(struct sdp_piggyback *r)
{
	r->asked = false;
}

/**
 * sdp_piggyback_sent() - a message that may be a request is being sent
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

/* The application has not asked for what the peer sent. */
static void unasked(struct sdp_piggyback *r)
{
	if (r->holds)
		r->needed = min(2 * r->needed, PIGGYBACK_NEEDED_MAX);
	r->holds = false;
	r->row = 0;
}

/**
 * sdp_piggyback_answered() - the peer has written into the oldest buffer
 * @r: what is known
 * @ack: newest message of ours that the peer had when it reported the write
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
	/* The next buffer, if there is one, needs a request of its own. */
	r->asked = false;
}

/**
 * sdp_piggyback_came() - the peer has data that did not go into a buffer
 * @r: what is known
 */
void sdp_piggyback_came(struct sdp_piggyback *r)
{
	if (!r->asked)
		unasked(r);
}
