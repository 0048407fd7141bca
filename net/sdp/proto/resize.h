/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resize: receive buffers that follow the size of what is sent (requirements E1-E5, wire
 * section 8).
 *
 * The source of a half connection asks (ChRcvBuf), its sink answers with the size that its
 * receives have from then on (ChRcvBufAck).
 *
 *	source:	NONE --enough sends were split--> WANTED --sent--> SENT --answer--> NONE
 *		NONE --idle for long------------> WANTED   (the first size again)
 *
 *	sink, larger:	what is posted from now on is larger; when all smaller receives are
 *			used up the answer is due, and only then may the source use it (E2)
 *	sink, smaller:	the answer is due at once, for it keeps the source from the size;
 *			what is posted from then on is smaller
 *
 * A source that wanted less sends as many empty messages as there are larger receives, so
 * that they are used up and their memory is free: posted receives cannot be taken back.
 *
 * Both ask at once (E4): the accepting side disregards the other's request; the connecting
 * side's own one is void, it answers, and may ask again. Nobody asks while it owes an answer,
 * so each side can tell from the order of the messages that the requests have crossed.
 *
 * Pure arithmetic; the owner's lock covers it.
 */
#ifndef SDP_PROTO_RESIZE_H
#define SDP_PROTO_RESIZE_H

#include "wire.h"

enum sdp_resize_ask {
	SDP_ASK_NONE,
	SDP_ASK_WANTED,		/* to be sent when credit allows */
	SDP_ASK_SENT,		/* the answer is awaited */
};

/**
 * struct sdp_resize - buffer sizes, BSDH included, of both directions of a connection
 * @send_size: the peer's receive buffers: no message may be longer
 * @send_first: the same at first, 0 before the peer's Hello
 * @recv_size: our receive buffers: what the peer may count on
 * @recv_first: the same at first
 * @recv_limit: longest message to take: more than @recv_size while larger receives than
 *	that are posted
 * @max: largest size to ask for or to agree to; 0 for fixed sizes (E5)
 * @level: split sends that lead to a request; doubles with each refusal, decays
 * @level_first: the same at first, and the least
 * @posted_most: the most receives that the peer has said it has posted
 * @refused: the peer has refused, and @posted_most has not grown since
 * @splits: sends split since the last request
 * @largest: bytes of the largest of them
 * @ask: state of our request
 * @asked: size in it
 * @stray: a request of ours was void, but a peer might answer it all the same
 * @connecting: this side has connected, so it gives way
 * @flush: empty messages to send, to use up the peer's larger receives
 * @posting: receives that are posted from now on
 * @old: receives of another size that are still posted
 * @answer: size that our answer has to say, 0 when none is due
 */
struct sdp_resize {
	u32 send_size;
	u32 send_first;
	u32 recv_size;
	u32 recv_first;
	u32 recv_limit;
	u32 max;
	u16 level;
	u16 level_first;
	u16 posted_most;
	bool refused;
	u16 splits;
	u32 largest;
	enum sdp_resize_ask ask;
	u32 asked;
	bool stray;
	bool connecting;
	u32 flush;
	u32 posting;
	u16 old;
	u32 answer;
};

/* Are larger receives being posted, and the peer not told yet? */
static inline bool sdp_resize_growing(const struct sdp_resize *r)
{
	return r->posting > r->recv_size;
}

/* Are the peer's receives larger than at first, and nothing else being asked for? */
static inline bool sdp_resize_may_shrink(const struct sdp_resize *r)
{
	return r->ask == SDP_ASK_NONE && r->send_size > r->send_first;
}

void sdp_resize_init(struct sdp_resize *r, u32 recv_size, u32 max, u16 level);
void sdp_resize_peer_hello(struct sdp_resize *r, u32 size);
void sdp_resize_peer_posted(struct sdp_resize *r, u16 bufs);
void sdp_resize_decay(struct sdp_resize *r);
void sdp_resize_split(struct sdp_resize *r, u32 bytes);
bool sdp_resize_shrink(struct sdp_resize *r);
void sdp_resize_shrink_end(struct sdp_resize *r);
bool sdp_resize_may_ask(const struct sdp_resize *r);
void sdp_resize_ask_sent(struct sdp_resize *r);
void sdp_resize_answer_sent(struct sdp_resize *r);
enum sdp_violation sdp_resize_answered(struct sdp_resize *r, u32 size,
				       u32 credit);
enum sdp_violation sdp_resize_asked(struct sdp_resize *r, u32 size, u16 posted);
void sdp_resize_receive_used(struct sdp_resize *r);
void sdp_resize_refuse(struct sdp_resize *r);

#endif /* SDP_PROTO_RESIZE_H */
