/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings: the sink's memory that the source writes its messages into.
 *
 * Instead of sending each message into a receive, the source of a direction
 * writes its data by RDMA into one large buffer of its sink, one message right
 * behind the other (requirements G2-G6).
 *
 *	source				sink
 *	RingAsk: n bytes	----->	makes a ring, or refuses
 *				<-----	RingAvail: the ring, or none
 *	RDMA write of a message
 *	with immediate data	----->	uses up a receive; the message lies
 *					in the ring
 *				<-----	Data with FREED: bytes read so far
 *	RingAsk: a larger ring	----->	makes the next ring; the first message
 *	(the ring was full)		in it ends the old one
 *	RingAsk: 0 bytes	----->	frees the ring
 *
 * A whole message lies in the ring, its header first, so credits,
 * acknowledgements and urgent bytes work as without a ring. Only Data with
 * payload goes there. The immediate data says how long the message is and in
 * which ring it lies. The sink knows all else.
 *
 * Positions count from the making of a ring, modulo 2^32, which is a multiple
 * of the ring's size. The key covers the memory twice in a row, so that a
 * message may run over the end of the ring.
 *
 * Two schemes keep the source from overrunning the sink:
 *
 *	BY_RDMA	The source writes only where the sink has said that all
 *		has been read.
 *	BY_NIC	The sink has one free window of the ring for each posted
 *		receive, and one free window more. The source writes messages
 *		of at most a window without asking, and the adapters hold
 *		back a message that finds no receive. The extra window is for
 *		the message held back: all its packets but the last may be in
 *		place already. The sink sends no FREED, because the source
 *		needs no report: a posted receive implies free space.
 *
 * Why BY_NIC does not deadlock, although a message that an adapter holds back
 * is in the way of all messages behind it: only a reader can hold up a
 * direction. BY_NIC is used only if both directions use it. Then
 *
 * 1. No message needs a grant, whether it goes into a ring or not. A message
 *    is sent as soon as the adapter has room for it, and the adapter has room
 *    when an older message has arrived.
 * 2. The oldest message arrives as soon as a receive is posted. Posting depends
 *    on the sink alone: it posts while a window of its ring is free, or while
 *    its reader keeps up, whatever it has heard or could send.
 * 3. Nothing is advertised (no RDMA mode). A writer would wait for an answer,
 *    or a reader for its buffer, and the message that ends the wait could be
 *    held back behind data. Nobody waits for any other answer (rings, sizes,
 *    modes): data continues without it.
 *
 * So each direction needs its own reader and nothing from the other direction.
 * An end that only writes gets all its data to an end that reads (1, 2), and
 * the end of the stream follows the data. With grants this would not hold: two
 * ends that have both exceeded their grants cannot grant any more, and a grant
 * can be held back behind data that nobody reads. The pair simulator holds
 * messages back as adapters do, and checks again and again that all written
 * data reaches an end that reads.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_RING_H
#define SDP_PROTO_RING_H

#include "wire.h"

/* The longest header of a message in a ring. */
#define SDP_RING_HEADER		(SDP_BSDH_LEN + SDP_FREED_LEN)
/* Messages that the adapter may hold back while there is no ring yet. */
#define SDP_RING_PIPE_FIRST	4

/**
 * struct sdp_ring_out - the ring that our sending half writes into
 * @scheme: as agreed, &enum sdp_scheme
 * @max: largest ring to ask for, bytes
 * @first: size to ask for at first, bytes
 * @window: window of %SDP_BY_NIC, bytes
 * @level: number of times that the ring is full before we ask for a larger one
 * @ask: size to ask for, if @asking; 0 gives the ring back
 * @asking: RingAsk is to be sent
 * @asked: RingAsk for a ring has been sent, and is not answered
 * @pause: messages with payload to send without a ring before asking again
 * @refusals: number of requests in a row that the peer has refused
 * @ring: the ring; its length is 0 when there is none
 * @odd: it is the first, third .. ring of the connection
 * @head: bytes written into the ring
 * @freed: bytes of @head that are known to have been read
 * @full: number of times that there was no room
 */
struct sdp_ring_out {
	u8 scheme;
	u32 max;
	u32 first;
	u32 window;
	u16 level;
	u32 ask;
	bool asking;
	bool asked;
	u32 pause;
	u32 refusals;
	struct sdp_region ring;
	bool odd;
	u32 head;
	u32 freed;
	u32 full;
};

/**
 * struct sdp_ring_in - the ring that the peer writes into
 * @scheme: as agreed, &enum sdp_scheme
 * @max: largest ring that we make, bytes
 * @cap: ring size that limits the number of receives, bytes
 * @window: window of %SDP_BY_NIC, bytes
 * @making: size of the ring that the owner is making for the peer, 0 for none
 * @answer: RingAvail is to be sent
 * @next: the ring that is to be advertised or has been; of length 0 if none
 * @shown: @next has been advertised, and no message has come in it yet
 * @size: bytes of the ring that the peer writes into, 0 when there is none
 * @odd: it is the first, third .. ring of the connection
 * @head: bytes written into the ring
 * @read: bytes of @head that have been read
 * @told: bytes of @head that the peer knows to have been read
 */
struct sdp_ring_in {
	u8 scheme;
	u32 max;
	u32 cap;
	u32 window;
	u32 making;
	bool answer;
	struct sdp_region next;
	bool shown;
	u32 size;
	bool odd;
	u32 head;
	u32 read;
	u32 told;
};

/* What the owner has to do because of a RingAsk. */
enum sdp_ring_wish {
	SDP_RING_NONE,		/* nothing; the engine may send an answer */
	SDP_RING_MAKE,		/* make a ring */
	SDP_RING_DROP,		/* free all rings */
};

/**
 * sdp_ring_out_active() - is there a ring to write into?
 * @o: source's ring
 *
 * May be called without the owner's lock.
 *
 * Return: true when there is one.
 */
static inline bool sdp_ring_out_active(const struct sdp_ring_out *o)
{
	return READ_ONCE(o->ring.len);
}

/**
 * sdp_ring_in_used() - how much of the ring is unread?
 * @in: sink's ring
 *
 * Return: bytes.
 */
static inline u32 sdp_ring_in_used(const struct sdp_ring_in *in)
{
	return in->head - in->read;
}

/**
 * sdp_ring_in_tells() - may we have to tell the peer what has been read?
 * @in: sink's ring
 *
 * Return: true when there is a ring and the scheme is %SDP_BY_RDMA.
 */
static inline bool sdp_ring_in_tells(const struct sdp_ring_in *in)
{
	return in->scheme == SDP_BY_RDMA && in->size;
}

u8 sdp_ring_scheme(u8 own, u8 other);

void sdp_ring_out_agree(struct sdp_ring_out *o, u8 scheme, u32 max, u32 window,
			u16 level);
void sdp_ring_out_sent_plain(struct sdp_ring_out *o);
void sdp_ring_out_was_full(struct sdp_ring_out *o);
bool sdp_ring_out_leave(struct sdp_ring_out *o);
void sdp_ring_out_stay(struct sdp_ring_out *o);
void sdp_ring_out_ask_sent(struct sdp_ring_out *o);
enum sdp_violation sdp_ring_out_answered(struct sdp_ring_out *o,
					 const struct sdp_region *ring);
enum sdp_violation sdp_ring_out_freed(struct sdp_ring_out *o, u32 freed);
u32 sdp_ring_out_message_max(const struct sdp_ring_out *o);
u32 sdp_ring_out_room(const struct sdp_ring_out *o);
u32 sdp_ring_out_pipe(const struct sdp_ring_out *o);
void sdp_ring_out_put(struct sdp_ring_out *o, u32 bytes,
		      struct sdp_ring_place *place);

void sdp_ring_in_agree(struct sdp_ring_in *in, u8 scheme, u32 max, u32 window);
u16 sdp_ring_in_receives_max(const struct sdp_ring_in *in, u16 wish);
u16 sdp_ring_in_receives(const struct sdp_ring_in *in, u16 want, u16 posted);
enum sdp_violation sdp_ring_in_asked(struct sdp_ring_in *in, u32 size,
				     enum sdp_ring_wish *wish);
bool sdp_ring_in_made(struct sdp_ring_in *in, const struct sdp_region *ring,
		      u16 posted);
void sdp_ring_in_answer_sent(struct sdp_ring_in *in);
enum sdp_violation sdp_ring_in_arrived(struct sdp_ring_in *in, u32 imm, u32 *at,
				       u32 *bytes, bool *moved);
bool sdp_ring_in_full(const struct sdp_ring_in *in);
void sdp_ring_in_read(struct sdp_ring_in *in, u32 bytes);
bool sdp_ring_in_news(const struct sdp_ring_in *in);
bool sdp_ring_in_update_due(const struct sdp_ring_in *in);
u32 sdp_ring_in_tell(struct sdp_ring_in *in);

#endif /* SDP_PROTO_RING_H */
