// SPDX-License-Identifier: GPL-2.0
/*
 * Resize of the receive buffers: see resize.h.
 */
#include "resize.h"

/* Sizes are a header and whole pages, so that payload begins and ends where a page does. */
#define SIZE_GRAIN	4096
/* A peer that refuses again and again is asked less and less often. */
#define LEVEL_MAX	16384U

/**
 * sdp_resize_init() - a connection before its Hello
 * @r: to fill
 * @recv_size: our receive buffer size at first
 * @max: largest size to ask for or to agree to, 0 for fixed sizes (E5)
 * @level: split sends that lead to a request, at least 1
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
 * sdp_resize_peer_hello() - the peer's Hello or HelloAck has arrived
 * @r: resize state
 * @size: the peer's receive buffer size
 */
void sdp_resize_peer_hello(struct sdp_resize *r, u32 size)
{
	r->send_size = size;
	r->send_first = size;
}

/**
 * sdp_resize_peer_posted() - the peer says how many receives it has posted
 * @r: resize state
 * @bufs: how many
 *
 * A peer that has more than ever before has been given memory: a connection
 * that nobody had accepted yet has few, and refuses to grow. Such a refusal
 * says nothing about what comes after.
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
 * sdp_resize_decay() - time has passed since the last refusal or the last call
 * @r: resize state
 *
 * What the peer had no memory for then it may have memory for now.
 */
void sdp_resize_decay(struct sdp_resize *r)
{
	r->level = max((u16)(r->level / 2), r->level_first);
}

static u32 size_for(const struct sdp_resize *r, u32 bytes)
{
	u32 most = r->max - SDP_BSDH_LEN;
	u32 grains = (min(bytes, most) + SIZE_GRAIN - 1) / SIZE_GRAIN;

	return SDP_BSDH_LEN + min(most, grains * SIZE_GRAIN);
}

/**
 * sdp_resize_split() - a send did not fit into one message (E1)
 * @r: resize state
 * @bytes: its size
 */
void sdp_resize_split(struct sdp_resize *r, u32 bytes)
{
	if (r->ask != SDP_ASK_NONE || r->send_size >= r->max)
		return;
	r->largest = max(r->largest, bytes);
	if (++r->splits < r->level)
		return;
	r->asked = size_for(r, r->largest);
	r->splits = 0;
	r->largest = 0;
	if (r->asked > r->send_size)
		r->ask = SDP_ASK_WANTED;
}

/* The peer has asked, and its answer is due, or will be when the smaller receives are gone. */
static bool owes_answer(const struct sdp_resize *r)
{
	return r->answer || sdp_resize_growing(r);
}

/**
 * sdp_resize_shrink() - nothing has been sent for long: go back to the first size
 * @r: resize state
 *
 * Return: true when a request is wanted now.
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
 * sdp_resize_shrink_end() - a request to shrink that has not been sent is wanted no more
 * @r: resize state
 */
void sdp_resize_shrink_end(struct sdp_resize *r)
{
	if (r->ask == SDP_ASK_WANTED && r->asked < r->send_size)
		r->ask = SDP_ASK_NONE;
}

/**
 * sdp_resize_may_ask() - is there a request to be sent, and nothing in its way?
 * @r: resize state
 *
 * Return: true when ChRcvBuf with @asked may be sent.
 */
bool sdp_resize_may_ask(const struct sdp_resize *r)
{
	return r->ask == SDP_ASK_WANTED && !owes_answer(r);
}

/**
 * sdp_resize_ask_sent() - ChRcvBuf is being sent
 * @r: resize state
 *
 * A smaller size binds us at once: the peer may post smaller receives when it has read it.
 */
void sdp_resize_ask_sent(struct sdp_resize *r)
{
	r->ask = SDP_ASK_SENT;
	if (r->asked >= r->send_size)
		return;
	WRITE_ONCE(r->send_size, r->asked);
	/* What was split before the rest says nothing about what comes after it. */
	r->splits = 0;
	r->largest = 0;
}

/**
 * sdp_resize_answer_sent() - ChRcvBufAck is being sent
 * @r: resize state
 */
void sdp_resize_answer_sent(struct sdp_resize *r)
{
	/* Only now: before that, there might have been no memory after all. */
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
 * sdp_resize_answered() - ChRcvBufAck has arrived
 * @r: resize state
 * @size: the peer's receive buffer size
 * @credit: messages that may be sent now: receives that the peer had posted before
 *
 * Return: %SDP_VALID, or what is wrong with it.
 */
enum sdp_violation sdp_resize_answered(struct sdp_resize *r, u32 size,
				       u32 credit)
{
	/* An answer to a void request is one to the same request that is still to be sent. */
	bool asked = r->ask == SDP_ASK_SENT ||
		     (r->ask == SDP_ASK_WANTED && r->stray);
	bool shrink = asked && r->asked <= r->send_size;

	if (!asked && !r->stray)
		return SDP_BAD_STATE;
	/* Whatever was asked for, what is on its way must fit. */
	if (size < r->send_size)
		return SDP_BAD_FIELD;
	if (r->ask != SDP_ASK_SENT)
		r->stray = false;
	/* Who does not go back to the first size is not asked for that again. */
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

/* All receives that are posted have one size now. */
static void settle(struct sdp_resize *r)
{
	if (sdp_resize_growing(r))
		r->answer = r->posting;
	else
		r->recv_limit = r->recv_size;
}

/**
 * sdp_resize_asked() - ChRcvBuf has arrived (E2, E4)
 * @r: resize state
 * @size: what the peer would like
 * @posted: receives posted now
 *
 * Return: %SDP_VALID, or what is wrong with it.
 */
enum sdp_violation sdp_resize_asked(struct sdp_resize *r, u32 size, u16 posted)
{
	if (owes_answer(r))
		return SDP_BAD_STATE;
	if (r->ask == SDP_ASK_SENT && !r->connecting)
		return SDP_VALID;
	if (r->ask == SDP_ASK_SENT) {
		/* Void, and wanted again. */
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
 * sdp_resize_receive_used() - a message has used up the oldest receive
 * @r: resize state
 */
void sdp_resize_receive_used(struct sdp_resize *r)
{
	if (r->old && !--r->old)
		settle(r);
}

/**
 * sdp_resize_refuse() - larger receives cannot be had: go on with the old size (E2)
 * @r: resize state
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
