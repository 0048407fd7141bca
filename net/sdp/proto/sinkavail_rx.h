/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SinkAvails that we send: buffers that the peer may write into.
 *
 * Our receiving half advertises the buffers of waiting readers, and the source
 * fills them by RDMA write (requirements C5-C8, B5, wire section 8, Pipelined
 * mode). sinkavail_tx.h is the other end. One SinkAvail passes these states:
 *
 *	WAITING --sent--> SENT --a message of a source that had it--> SEEN
 *
 * Each SinkAvail ends exactly once, by the first of these messages to arrive:
 *
 *	RdmaWrCompl	the oldest buffer has been written
 *	Data		if the source had a buffer, it discarded the oldest;
 *			if it had none, all SinkAvails in flight are stale
 *	SinkCancelAck	we had sent SinkAvailCancel
 *	ModeChange, DisConn	the source drops all buffers
 *
 * One RdmaWrCompl ends one buffer, even if there is room left in it: only one
 * message goes into a buffer (C7). A source promises this by stating in its
 * Hello how many SinkAvails it holds.
 *
 * Any other source may do the same, or may fill the rest of the buffer and
 * report again. Nothing on the wire tells the two kinds apart in time.
 * Therefore:
 *
 * - Such a source gets one buffer at a time, so that a report is about no other
 *   buffer.
 * - After a report the rest of the buffer stays open, and further reports add
 *   to it. The buffer ends when it is full.
 * - The owner has SinkAvailCancel sent for the rest. As soon as the source has
 *   received the cancel, the rest has ended. A source that held no buffer does
 *   not answer, so the owner does not wait forever: it takes the memory out of
 *   the source's reach, and then calls sdp_engine_sinkavail_drop().
 * - Data and SrcAvail end the rest as well: the source was done with it, or has
 *   discarded it.
 *
 * The source's answers show its kind. Until then we guess whether Data behind a
 * report has discarded the rest, or counts for NonDiscards. @doubt is the error
 * of our count if the guess is wrong. A source that sends SrcAvail while it has
 * our buffer has dropped that buffer because the two counts differ.
 *
 * NonDiscards (C7): both ends count the messages with payload that have
 * discarded no buffer, from the beginning of the connection and in every mode.
 * SinkAvail carries the sink's count. The source drops a SinkAvail whose count
 * differs from its own, because data that the buffer was meant for has gone
 * elsewhere. The sink needs no message to know which SinkAvails are dropped:
 * MSeqAck tells which of our messages the source had when it sent its own.
 *
 * - If the source had a buffer, its message with payload has discarded the
 *   oldest buffer.
 * - If the source had none, the count has moved on, and every SinkAvail that
 *   has been sent is stale.
 *
 * So each SinkAvail in our list has the present count, and those that the
 * source can write into are always the oldest ones in the list. The source
 * never writes into a buffer that we regard as ended.
 *
 * A cancel covers all SinkAvails that have been sent, and no new one is sent
 * until the cancel is settled. The source answers only if the cancel made it
 * drop a buffer. Otherwise other messages have ended all buffers, and they
 * arrive before an answer could. So the cancel is settled when no sent
 * SinkAvail is left.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_SINKAVAIL_RX_H
#define SDP_PROTO_SINKAVAIL_RX_H

#include "wire.h"

/* SinkAvails that we can hold, stated in our Hello beside MaxAdverts. */
#define SDP_SINKAVAILS_MAX	4
/* SrcAvails that we can hold: MaxAdverts in our Hello. */
#define SDP_SRCAVAILS_MAX	1

/* State of the cancel of all SinkAvails that have been sent. */
enum sdp_sinkavail_cancel {
	SDP_CANCEL_NONE,
	SDP_CANCEL_WANTED,	/* SinkAvailCancel is to be sent */
	SDP_CANCEL_SENT,
	SDP_CANCEL_SEEN,	/* the source had it at its last message */
};

/**
 * struct sdp_sinkavail - one buffer that we advertise
 * @region: the buffer
 * @id: the owner's handle of it, not 0
 * @seq: MSeq of its SinkAvail, once sent
 */
struct sdp_sinkavail {
	struct sdp_region region;
	u32 id;
	u32 seq;
};

/**
 * struct sdp_sinkavail_rx - the buffers that we advertise
 * @list: the buffers, oldest first
 * @n: number of buffers in @list
 * @sent: number of the oldest buffers whose SinkAvail has been sent
 * @seen: number of the oldest buffers that the source had when it sent its last
 *	message
 * @max: most buffers at once: no more than either side can hold
 * @held: the source has told in its Hello how many buffers it holds (HELD)
 * @once: the source is known to report a buffer once and to be done with it
 * @several: the source is known to continue with the rest of a buffer
 * @asks: the source's answer to our cancel will show its kind
 * @late: a SinkCancelAck may still come for a rest that has ended
 * @got: bytes reported of the oldest buffer, while its rest is open
 * @doubt: number of times Data has come behind a report since @non_discards was
 *	known to be right
 * @cancel: state of our cancel
 * @cancel_seq: MSeq of SinkAvailCancel, from %SDP_CANCEL_SENT on
 * @non_discards: messages with payload received that have discarded no buffer
 * @last_id: id of the newest buffer
 */
struct sdp_sinkavail_rx {
	struct sdp_sinkavail list[SDP_SINKAVAILS_MAX];
	u8 n;
	u8 sent;
	u8 seen;
	u8 max;
	bool held;
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

/**
 * sdp_sinkavail_rx_room() - can one more buffer be added?
 * @a: our SinkAvails
 *
 * Return: true when it can: no cancel is unsettled, and neither side is full.
 */
static inline bool sdp_sinkavail_rx_room(const struct sdp_sinkavail_rx *a)
{
	return a->n < a->max && a->cancel == SDP_CANCEL_NONE;
}

/**
 * sdp_sinkavail_rx_waiting() - is a SinkAvail to be sent?
 * @a: our SinkAvails
 *
 * No buffer is added before a cancel is settled, so none waits behind a cancel.
 *
 * Return: true when one waits.
 */
static inline bool sdp_sinkavail_rx_waiting(const struct sdp_sinkavail_rx *a)
{
	return a->sent < a->n;
}

/**
 * sdp_sinkavail_rx_may_cancel() - is a SinkAvail out that may be cancelled?
 * @a: our SinkAvails
 *
 * Return: true when one is out and SinkAvailCancel has not been sent.
 */
static inline bool sdp_sinkavail_rx_may_cancel(const struct sdp_sinkavail_rx *a)
{
	return a->sent && a->cancel <= SDP_CANCEL_WANTED;
}

/**
 * sdp_sinkavail_rx_win() - will the source write into a buffer of ours? (C8)
 * @a: our SinkAvails
 *
 * If its own SrcAvail has crossed our SinkAvail, the source takes our buffer.
 *
 * Return: true when it will.
 */
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
