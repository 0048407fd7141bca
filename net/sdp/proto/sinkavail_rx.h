/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What our receiving half advertises: buffers that a reader has posted, which the source may
 * fill by RDMA write (requirements C5-C8, B5, wire section 8, Pipelined).
 *
 *	WAITING --SinkAvail sent--> SENT --a message from someone who had it--> SEEN --> over
 *
 * Each one ends exactly once, by the first of these to come:
 *
 *	RdmaWrCompl	the oldest one has bytes in it: WRITTEN
 *	Data		the source has sent that instead, and dropped the oldest that it had
 *	Data		... or it had none: then all that are on the way are stale, see below
 *	SinkCancelAck	we did not want them any more
 *	ModeChange, DisConn	the source drops all
 *
 * One RdmaWrCompl ends one, though there is room left in it: only one message
 * goes into a posted buffer (C7). A source promises that by saying in its Hello
 * how many it holds, and then nobody has to guess.
 *
 * Any other source may do the same, or may go on to fill the rest of the buffer
 * and report again. Nothing on the wire tells the two apart in time, so:
 *
 *	It gets one buffer at a time. A report can be about no other one then.
 *	After a report the rest of the buffer stays open, and further reports
 *	add to it. It is over when it is full. The owner has SinkAvailCancel
 *	sent, and as soon as the source has that, the rest is over. A source
 *	that had none does not answer. So the owner need not wait for ever, but
 *	takes the memory out of the source's reach, and then calls
 *	sdp_engine_sinkavail_drop().
 *	Data and SrcAvail end the rest as well: the source was done with it, or
 *	has discarded it.
 *
 * How the source answers shows of which kind it is. Until then we guess whether
 * Data behind a report has discarded the rest, or counts for NonDiscards;
 * @doubt is how wrong our count is if the guess is. A source has dropped a
 * buffer because of the count if it advertises itself while it has that buffer.
 *
 * NonDiscards (C7): both ends count the messages with payload that have discarded none, from
 * the beginning of the connection and in every mode. SinkAvail carries the sink's count; the source
 * drops one whose count is not its own, for something has gone into another place before. The
 * sink knows which those are, without being told: MSeqAck says which of ours the source had when
 * it sent a message, so we see its list as it did then.
 *
 *	If it had one, a message with payload has discarded the oldest of them.
 *	If it had none, the count has moved on, and no sent one can be valid any more.
 *
 * So everything in our list has the count of now, and those that the source can write into are
 * always some of the oldest in it. It never writes into one that we regard as over.
 *
 * A cancel is for all that are out; nothing new goes until it is settled. The source answers only
 * if it dropped one. Otherwise all had ended in another way, and the messages that say so
 * are before what could have been the answer; so it is settled when the list is empty.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_SINKAVAIL_RX_H
#define SDP_PROTO_SINKAVAIL_RX_H

#include "wire.h"

/* How many buffers we hold: what our Hello says beside MaxAdverts. */
#define SDP_SINKAVAILS_MAX	4
/* How many SrcAvails: MaxAdverts of our Hello. */
#define SDP_SRCAVAILS_MAX	1

enum sdp_sinkavail_cancel {
	SDP_CANCEL_NONE,
	SDP_CANCEL_WANTED,	/* SinkAvailCancel is to be sent */
	SDP_CANCEL_SENT,
	SDP_CANCEL_SEEN,	/* the source had it when it sent its last message */
};

/**
 * struct sdp_sinkavail - one of them
 * @region: the buffer
 * @id: what the owner knows it by, not 0
 * @seq: MSeq of its SinkAvail, once sent
 */
struct sdp_sinkavail {
	struct sdp_region region;
	u32 id;
	u32 seq;
};

/**
 * struct sdp_sinkavail_rx - all of them
 * @list: the oldest first
 * @n: in the list
 * @sent: the oldest so many have been sent
 * @seen: the source had the oldest so many when it sent its last message
 * @max: so many at once, no more than either side can hold
 * @once: the source is known to report once of each, and to be done with it
 * @several: it is known to go on with the rest
 * @asks: its answer to our cancel will show of which kind it is
 * @late: SinkCancelAck may still come, for a rest that is over
 * @got: bytes reported of the oldest, if there is a rest
 * @doubt: so often Data has come behind a report since that was known for sure
 * @cancel: they are not wanted any more
 * @cancel_seq: MSeq of SinkAvailCancel, from %SDP_CANCEL_SENT on
 * @non_discards: messages with payload received that have discarded none
 * @last_id: the newest one's
 */
struct sdp_sinkavail_rx {
	struct sdp_sinkavail list[SDP_SINKAVAILS_MAX];
	u8 n;
	u8 sent;
	u8 seen;
	u8 max;
	bool once;
	bool several;
	bool asks;
	bool late;
	u32 got;
	u32 doubt;
	enum sdp_sinkavail_cancel cancel;
	u32 cancel_seq;
	u32 non_discards;
	u32 last_id;
};

/* Is there room for one more? */
static inline bool sdp_sinkavail_rx_room(const struct sdp_sinkavail_rx *a)
{
	return a->n < a->max && a->cancel == SDP_CANCEL_NONE;
}

/* Is one to be sent? None is added while a cancel is not settled. */
static inline bool sdp_sinkavail_rx_waiting(const struct sdp_sinkavail_rx *a)
{
	return a->sent < a->n;
}

/* Is one out that could have to be taken back? */
static inline bool sdp_sinkavail_rx_may_cancel(const struct sdp_sinkavail_rx *a)
{
	return a->sent && a->cancel <= SDP_CANCEL_WANTED;
}

/* C8: will the source write into one, whatever it has advertised itself meanwhile? */
static inline bool sdp_sinkavail_rx_win(const struct sdp_sinkavail_rx *a)
{
	return a->sent && a->cancel != SDP_CANCEL_SEEN;
}

void sdp_sinkavail_rx_peer(struct sdp_sinkavail_rx *a, u8 held);
u32 sdp_sinkavail_rx_add(struct sdp_sinkavail_rx *a,
			 const struct sdp_region *region);
void sdp_sinkavail_rx_sent(struct sdp_sinkavail_rx *a, struct sdp_msg *msg,
			   u32 seq);
void sdp_sinkavail_rx_note(struct sdp_sinkavail_rx *a, u32 ack);
u32 sdp_sinkavail_rx_data_came(struct sdp_sinkavail_rx *a);
enum sdp_violation sdp_sinkavail_rx_written(const struct sdp_sinkavail_rx *a,
					    u32 count);
bool sdp_sinkavail_rx_filled(struct sdp_sinkavail_rx *a, u32 count);
bool sdp_sinkavail_rx_dropped(struct sdp_sinkavail_rx *a);
bool sdp_sinkavail_rx_answered(struct sdp_sinkavail_rx *a, u32 ack,
			       bool cancelled);
bool sdp_sinkavail_rx_late(struct sdp_sinkavail_rx *a);
u32 sdp_sinkavail_rx_end(struct sdp_sinkavail_rx *a);
u32 sdp_sinkavail_rx_recall(struct sdp_sinkavail_rx *a);
void sdp_sinkavail_rx_cancel(struct sdp_sinkavail_rx *a);
void sdp_sinkavail_rx_cancel_sent(struct sdp_sinkavail_rx *a, u32 seq);

#endif /* SDP_PROTO_SINKAVAIL_RX_H */
