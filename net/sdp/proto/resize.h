/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resize of receive buffers: state of both directions.
 *
 * The receive buffers follow the size of what is sent (requirements E1-E5,
 * wire section 8). The source of a half connection asks for a size with
 * ChRcvBuf. The sink answers with ChRcvBufAck: the size that its receives
 * have from then on.
 *
 *	source:	NONE --enough sends were split--> WANTED --sent--> SENT
 *		NONE --idle for long------------> WANTED (the first size again)
 *		SENT --answer-------------------> NONE
 *
 * A sink that grows posts larger receives once it has the request. It answers
 * when the smaller receives are used up, and only then may the source use the
 * larger size (E2).
 *
 * A sink that shrinks posts smaller receives once it has the request. It
 * answers at once, because the answer stops a source that still uses the
 * larger size.
 *
 * A posted receive cannot be taken back. So after the answer to a smaller
 * size, the source sends as many empty messages as the sink has larger
 * receives posted. They use up these receives, and the sink can free their
 * memory.
 *
 * Both sides may ask at once (E4). The accepting side then ignores the
 * request of the other. The connecting side takes its own request as void,
 * answers, and may ask again. No side asks while it owes an answer, so each
 * can tell from the order of the messages that the requests have crossed.
 *
 * Pure arithmetic. The caller holds the lock of the engine's owner, except
 * that @send_size is also read without it.
 */
#ifndef SDP_PROTO_RESIZE_H
#define SDP_PROTO_RESIZE_H

#include "wire.h"

enum sdp_resize_ask {
	SDP_ASK_NONE,
	SDP_ASK_WANTED,		/* to be sent when credit allows */
	SDP_ASK_SENT,		/* waiting for the answer */
};

/**
 * struct sdp_resize - message sizes of both directions of a connection
 * @send_size: size of the peer's receive buffers: no message may be longer
 * @send_first: @send_size to go back to after an idle period; at first that of
 *	the peer's Hello, and 0 before it
 * @recv_size: size of our receive buffers that the peer may count on
 * @recv_first: @recv_size at first, and its minimum
 * @recv_limit: longest message to accept; above @recv_size while receives
 *	larger than that are still posted
 * @max: largest size to ask for or to agree to; 0 for fixed sizes (E5)
 * @level: number of split sends that lead to a request; doubled by each
 *	refusal, halved by sdp_resize_decay()
 * @level_first: @level at first, and its minimum
 * @posted_most: largest number of posted receives that the peer has reported
 * @refused: the peer has refused, and @posted_most has not grown since
 * @splits: number of sends split since the last request
 * @largest: size of the largest of them, in bytes
 * @ask: state of our request
 * @asked: size that our request asks for
 * @stray: a request of ours was void, but the peer might still answer it
 * @connecting: this side has connected, so it gives way when requests cross
 * @flush: number of empty messages still to send, to use up the peer's
 *	larger receives
 * @posting: size of the receives that are posted from now on
 * @old: number of receives of another size that are still posted
 * @answer: size to answer with, 0 when no answer is due
 *
 * All sizes are in bytes and include the BSDH, except @largest.
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

/**
 * sdp_resize_growing() - are we posting larger receives, not yet announced?
 * @r: resize state
 *
 * Return: true until ChRcvBufAck is sent, or the growth is given up.
 */
static inline bool sdp_resize_growing(const struct sdp_resize *r)
{
	return r->posting > r->recv_size;
}

/**
 * sdp_resize_may_shrink() - could the peer's receives be made smaller again?
 * @r: resize state
 *
 * Return: true when they are larger than at first and no request of ours is
 * under way.
 */
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
