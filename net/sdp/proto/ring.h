/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings: data that its source writes by RDMA into one buffer of its sink, message right behind
 * message, instead of sending it into a receive each (requirements G2-G6).
 *
 *	source						sink
 *	  | RingAsk: so many bytes		----->	makes a ring, or does not
 *	  |		<----- RingAvail: here it is, or nothing
 *	  | RDMA write of a message, with immediate -->	uses up a receive, but lies in the ring
 *	  |		<----- Data with FREED: so many bytes have been read
 *	  | RingAsk: a larger one, after it was full	the next ring; the first message in it says
 *	  |						that nothing comes in the old one any more
 *	  | RingAsk: none				it is given back
 *
 * What lies in the ring is a whole message, its header first, so that credits, acknowledgements
 * and urgent bytes are what they are otherwise. Only data with payload goes there. The immediate
 * says how long it is and in which ring: all else the sink knows.
 *
 * Positions are counted from the making of a ring, modulo 2^32, which a ring's size divides. The
 * memory is seen twice, one copy behind the other, so that a message may run over the end.
 *
 * Two ways to keep from overrunning the sink:
 *	BY_RDMA	the source writes only where it has been told that all has been read
 *	BY_NIC	no receive is posted unless a whole window is free for it, and one more window:
 *		the source writes messages of at most a window, without asking, and the adapters
 *		hold back what finds no receive. The window more is for the one that they hold
 *		back: of several packets all but the last may be in place before it is. What has
 *		arrived says where the next one goes, so nobody has to tell.
 *
 * Why nobody is stuck BY_NIC, though what an adapter holds back is in the way of all that was sent
 * after it: because nobody waits for it but who reads. It is used only if both directions are
 * BY_NIC, and then
 *	1. no message needs a grant, in a ring or not. A message goes as soon as the adapter has
 *	   room for it, and the adapter has room when an older one has arrived;
 *	2. the oldest one arrives as soon as a receive is posted. That is the sink's own doing: it
 *	   posts while a window of its ring is free, or while its reader keeps up, whatever it has
 *	   heard or could say;
 *	3. nothing is advertised (no RDMA mode): a writer would wait for an answer, a reader for his
 *	   buffer, and that could be behind data. All else that is answered (rings, sizes, modes) is
 *	   waited for by nobody: data goes on without.
 * So each direction needs its own reader and nothing of the other direction: one who only writes
 * gets all of it to one who reads (1, 2), and the end of the stream follows the data. With grants
 * it is not so: two ends that have both gone beyond what was granted cannot grant any more, and one
 * grant can be held back behind data that nobody reads. The pair simulator holds back as adapters
 * do, and asks again and again whether all that was written gets to whoever reads.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_RING_H
#define SDP_PROTO_RING_H

#include "wire.h"

/* The longest header of a message in a ring. */
#define SDP_RING_HEADER		(SDP_BSDH_LEN + SDP_FREED_LEN)
/* Messages that the adapter may hold back before there is a ring to hold them back by. */
#define SDP_RING_PIPE_FIRST	4

/**
 * struct sdp_ring_out - the ring that our sending half writes into
 * @scheme: as agreed
 * @max: largest ring to ask for
 * @first: the one to begin with
 * @window: of %SDP_BY_NIC
 * @level: so often full, the ring shall be larger
 * @ask: size to ask for, if @asking
 * @asking: RingAsk is to be sent
 * @asked: it has been sent, and not answered
 * @pause: messages with payload to be sent without a ring before it is asked for again
 * @refusals: asked for in vain so often in a row
 * @ring: it; of no bytes when there is none
 * @odd: the second, fourth .. ring of the connection
 * @head: bytes written into it
 * @freed: of these, known to have been read
 * @full: times that there was no room
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
 * @scheme: as agreed
 * @max: largest ring to be had
 * @cap: the one that receives have to fit
 * @window: of %SDP_BY_NIC
 * @making: the peer has asked, and the owner is making a ring of so many bytes
 * @answer: RingAvail is to be sent
 * @next: the ring that is to be advertised, or has been; of no bytes if it is none
 * @shown: it has been, and nothing has come in it yet
 * @size: bytes of the ring that is written into, 0 when there is none
 * @odd: the second, fourth .. ring of the connection
 * @head: bytes written into it
 * @read: of these, read
 * @told: of these, told to the peer
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

/* What one RingAsk leads to. */
enum sdp_ring_wish {
	SDP_RING_NONE,		/* an answer, at most */
	SDP_RING_MAKE,		/* the owner shall make one */
	SDP_RING_DROP,		/* none of those there are is needed any more */
};

static inline bool sdp_ring_out_active(const struct sdp_ring_out *o)
{
	return READ_ONCE(o->ring.len);
}

/* Bytes that wait in the ring to be read. */
static inline u32 sdp_ring_in_used(const struct sdp_ring_in *in)
{
	return in->head - in->read;
}

/* May the peer have to be told what has been read of it? */
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
