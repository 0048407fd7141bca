// SPDX-License-Identifier: GPL-2.0
/*
 * Resize of receive buffers: requests, answers and refusals.
 *
 * resize.h describes the handshake.
 */
#include "resize.h"

/*
 * A size is a BSDH and whole pages, so that payload begins and ends at page
 * boundaries.
 */
#define SIZE_GRAIN	4096
/* Highest @level, for a peer that refuses again and again. */
#define LEVEL_MAX	16384U

/**
 * sdp_resize_init() - initialize the state of a connection before its Hello
 * @r: resize state to fill
 * @recv_size: size of our receive buffers at first
 * @max: largest size to ask for or to agree to, 0 for fixed sizes (E5)
 * @level: number of split sends that lead to a request, at least 1
 */
void sdp_resize_init(struct sdp_resize *r, u32 recv_size, u32 max, u16 level)
{
	memset(r, 0, sizeof(*r));
	r->recv_size = recv_size;
	r->recv_first = recv_size;
	r->recv_limit = recv_size;
	r->posting = recv_size;
	r->max = max;
	r->level = level;
	r->level_first = level;
}

/**
 * sdp_resize_peer_hello() - account the peer's Hello or HelloAck
 * @r: resize state
 * @size: size of the peer's receive buffers
 */
void sdp_resize_peer_hello(struct sdp_resize *r, u32 size)
{
	r->send_size = size;
	r->send_first = size;
}

/**
 * sdp_resize_peer_posted() - account the peer's number of posted receives
 * @r: resize state
 * @bufs: the Bufs field of a message
 *
 * A connection that the peer's application has not accepted yet has few
 * receives and refuses to grow. A new maximum shows that the peer has given
 * the connection memory. An earlier refusal says nothing about it any more.
 */
void sdp_resize_peer_posted(struct sdp_resize *r, u16 bufs)
{
	if (bufs <= r->posted_most)
		return;
	r->posted_most = bufs;
	if (r->refused)
		r->level = r->level_first;
	r->refused = false;
}

/**
 * sdp_resize_decay() - halve the penalty for earlier refusals
 * @r: resize state
 *
 * The owner calls this after a period without a refusal: the peer may have
 * memory by now.
 */
void sdp_resize_decay(struct sdp_resize *r)
{
	r->level = max((u16)(r->level / 2), r->level_first);
}

static u32 resize_size_for(const struct sdp_resize *r, u32 bytes)
{
	u32 most = r->max - SDP_BSDH_LEN;
	u32 grains = (min(bytes, most) + SIZE_GRAIN - 1) / SIZE_GRAIN;

	return SDP_BSDH_LEN + min(most, grains * SIZE_GRAIN);
}

/**
 * sdp_resize_split() - account a send that did not fit into one message (E1)
 * @r: resize state
 * @bytes: size of the send
 */
void sdp_resize_split(struct sdp_resize *r, u32 bytes)
{
	if (r->ask != SDP_ASK_NONE || r->send_size >= r->max)
		return;
	r->largest = max(r->largest, bytes);
	if (++r->splits < r->level)
		return;
	r->asked = resize_size_for(r, r->largest);
	r->splits = 0;
	r->largest = 0;
	if (r->asked > r->send_size)
		r->ask = SDP_ASK_WANTED;
}

/* The answer is due, or will be when the smaller receives are used up. */
static bool owes_answer(const struct sdp_resize *r)
{
	return r->answer || sdp_resize_growing(r);
}

/**
 * sdp_resize_shrink() - ask for the first size again after an idle period
 * @r: resize state
 *
 * Return: true when a request is to be sent now.
 */
bool sdp_resize_shrink(struct sdp_resize *r)
{
	if (!sdp_resize_may_shrink(r) || r->flush || owes_answer(r))
		return false;
	r->asked = r->send_first;
	r->ask = SDP_ASK_WANTED;
	return true;
}

/**
 * sdp_resize_shrink_end() - withdraw a request to shrink that was not sent
 * @r: resize state
 */
void sdp_resize_shrink_end(struct sdp_resize *r)
{
	if (r->ask == SDP_ASK_WANTED && r->asked < r->send_size)
		r->ask = SDP_ASK_NONE;
}

/**
 * sdp_resize_may_ask() - may our request be sent?
 * @r: resize state
 *
 * Return: true when ChRcvBuf with @asked is to be sent, and we owe no answer.
 */
bool sdp_resize_may_ask(const struct sdp_resize *r)
{
	return r->ask == SDP_ASK_WANTED && !owes_answer(r);
}

/**
 * sdp_resize_ask_sent() - note that our ChRcvBuf is being sent
 * @r: resize state; sdp_resize_may_ask() is true
 *
 * A smaller size binds us at once, because the peer may post smaller receives
 * as soon as it has processed the request.
 */
void sdp_resize_ask_sent(struct sdp_resize *r)
{
	r->ask = SDP_ASK_SENT;
	if (r->asked >= r->send_size)
		return;
	WRITE_ONCE(r->send_size, r->asked);
	/* Sends split before the idle period say nothing about later ones. */
	r->splits = 0;
	r->largest = 0;
}

/**
 * sdp_resize_answer_sent() - note that our ChRcvBufAck is being sent
 * @r: resize state; @answer is not 0
 */
void sdp_resize_answer_sent(struct sdp_resize *r)
{
	/* Until now the larger receives could still have been given up. */
	if (r->answer > r->recv_size) {
		r->recv_size = r->answer;
		r->recv_limit = r->answer;
	}
	r->answer = 0;
}

static void refused(struct sdp_resize *r)
{
	r->level = min(r->level * 2U, LEVEL_MAX);
	r->refused = true;
}

/**
 * sdp_resize_answered() - process a ChRcvBufAck
 * @r: resize state
 * @size: size of the peer's receive buffers
 * @credit: number of messages that may be sent now: receives that the peer
 *	had posted before its answer
 *
 * Return: %SDP_VALID, %SDP_BAD_STATE for an answer without a request, or
 * %SDP_BAD_FIELD for a size below what we may have in flight.
 */
enum sdp_violation sdp_resize_answered(struct sdp_resize *r, u32 size,
				       u32 credit)
{
	/* The answer to a void request also answers its repetition. */
	bool asked = r->ask == SDP_ASK_SENT ||
		     (r->ask == SDP_ASK_WANTED && r->stray);
	bool shrink = asked && r->asked <= r->send_size;

	if (!asked && !r->stray)
		return SDP_BAD_STATE;
	/* Messages in flight have to fit, whatever was asked for. */
	if (size < r->send_size)
		return SDP_BAD_FIELD;
	if (r->ask != SDP_ASK_SENT)
		r->stray = false;
	/* Do not ask again for a size that the peer does not shrink to. */
	if (shrink && size > r->send_first)
		r->send_first = min(size, r->max);
	else if (shrink)
		r->flush = credit;
	else if (asked && size == r->send_size)
		refused(r);
	r->ask = asked ? SDP_ASK_NONE : r->ask;
	WRITE_ONCE(r->send_size, max(r->send_size, min(size, r->max)));
	return SDP_VALID;
}

/* Called when all posted receives have the same size. */
static void settle(struct sdp_resize *r)
{
	if (sdp_resize_growing(r))
		r->answer = r->posting;
	else
		r->recv_limit = r->recv_size;
}

/**
 * sdp_resize_asked() - process a ChRcvBuf (E2, E4)
 * @r: resize state
 * @size: size that the peer asks for
 * @posted: number of receives posted now
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE when we still owe an answer to an
 * earlier request.
 */
enum sdp_violation sdp_resize_asked(struct sdp_resize *r, u32 size, u16 posted)
{
	if (owes_answer(r))
		return SDP_BAD_STATE;
	if (r->ask == SDP_ASK_SENT && !r->connecting)
		return SDP_VALID;
	if (r->ask == SDP_ASK_SENT) {
		/* Void, and wanted again: we give way, and ask later (E4). */
		r->ask = SDP_ASK_WANTED;
		r->stray = true;
	}
	size = min(max(size, r->recv_first), max(r->max, r->recv_size));
	r->posting = r->max ? size : r->recv_size;
	r->old = posted;
	if (r->posting <= r->recv_size) {
		r->recv_size = r->posting;
		r->answer = r->posting;
	}
	if (!posted)
		settle(r);
	return SDP_VALID;
}

/**
 * sdp_resize_receive_used() - account the oldest receive, which is used up
 * @r: resize state
 */
void sdp_resize_receive_used(struct sdp_resize *r)
{
	if (r->old && !--r->old)
		settle(r);
}

/**
 * sdp_resize_refuse() - give up larger receives and keep the old size (E2)
 * @r: resize state
 *
 * The owner lacks the memory, or no more data will come. Does nothing unless
 * larger receives are being posted and the peer has not been told.
 */
void sdp_resize_refuse(struct sdp_resize *r)
{
	if (!sdp_resize_growing(r))
		return;
	r->posting = r->recv_size;
	r->answer = r->recv_size;
	if (!r->old)
		settle(r);
}
