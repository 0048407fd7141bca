// SPDX-License-Identifier: GPL-2.0
/*
 * Rings: see ring.h.
 */
#include "ring.h"

/* The first ring of BY_RDMA: an idle connection that has sent a little holds no more. */
#define FIRST_SIZE	16384U
/* A ring of BY_NIC has so many windows at least: two can be filled, one waits, one moves. */
#define WINDOWS_MIN	4
/* Messages without a ring until one is asked for again, at first; it doubles as does the level. */
#define PAUSE		8
#define PAUSE_DOUBLES	7U
#define LEVEL_MAX	16384U
/* Longer messages are no faster, and have many pieces. */
#define MESSAGE_MAX	32768U
/* The immediate: which ring, and the length. */
#define IMM_ODD		0x80000000U
#define IMM_LEN		0x000FFFFFU

/**
 * sdp_ring_scheme() - what becomes of the wishes of both ends
 * @own: scheme that the source of the direction wishes for
 * @other: that of its peer
 *
 * Return: scheme of the direction, &enum sdp_scheme.
 */
u8 sdp_ring_scheme(u8 own, u8 other)
{
	return own == SDP_BY_NIC && other != SDP_BY_NIC ? SDP_BY_RDMA : own;
}

/* A message fills so much of a ring at most that its end is read while others come. */
static u32 message_max(u8 scheme, u32 size, u32 window)
{
	return scheme == SDP_BY_NIC ? window : min(size / 4, MESSAGE_MAX);
}

/**
 * sdp_ring_out_agree() - both know rings
 * @o: to fill
 * @scheme: for our data
 * @max: largest ring to ask for
 * @window: smaller one of both sides' windows
 * @level: so often full, the ring shall be larger
 */
void sdp_ring_out_agree(struct sdp_ring_out *o, u8 scheme, u32 max, u32 window,
			u16 level)
{
	memset(o, 0, sizeof(*o));
	o->scheme = scheme;
	o->max = max;
	o->first = scheme == SDP_BY_NIC ? max : min(max, FIRST_SIZE);
	o->window = window;
	o->level = level;
}

/**
 * sdp_ring_out_sent_plain() - data is sent without a ring: is it time to ask for one?
 * @o: source's ring
 */
void sdp_ring_out_sent_plain(struct sdp_ring_out *o)
{
	if (o->scheme == SDP_BY_CREDIT || o->ring.len || o->asking || o->asked)
		return;
	if (o->pause) {
		o->pause--;
		return;
	}
	o->ask = o->first;
	o->asking = true;
}

/**
 * sdp_ring_out_was_full() - there was something to write and no room for it, or for a part at once
 * @o: source's ring
 */
void sdp_ring_out_was_full(struct sdp_ring_out *o)
{
	/* Before anything is in it, it was for something else that there was no room. */
	if (!o->head)
		return;
	o->full++;
	if (!o->ring.len || o->ring.len >= o->max || o->asking || o->asked ||
	    o->full < o->level)
		return;
	o->ask = o->max;
	o->asking = true;
	o->full = 0;
}

/**
 * sdp_ring_out_leave() - nothing has been sent for long: give the ring back
 * @o: source's ring
 *
 * Return: true when that is to be said now.
 */
bool sdp_ring_out_leave(struct sdp_ring_out *o)
{
	if (!o->ring.len || o->asked)
		return false;
	o->ask = 0;
	o->asking = true;
	return true;
}

/**
 * sdp_ring_out_stay() - if that could not be said it is wanted no more
 * @o: source's ring
 */
void sdp_ring_out_stay(struct sdp_ring_out *o)
{
	if (!o->ask)
		o->asking = false;
}

/**
 * sdp_ring_out_ask_sent() - RingAsk is being sent
 * @o: source's ring
 */
void sdp_ring_out_ask_sent(struct sdp_ring_out *o)
{
	o->asking = false;
	o->asked = o->ask;
	/* The peer may take it back when it has read this. */
	if (!o->ask)
		WRITE_ONCE(o->ring.len, 0);
}

/**
 * sdp_ring_out_answered() - RingAvail has arrived
 * @o: source's ring
 * @ring: the peer's ring, or one of no bytes
 *
 * Return: %SDP_VALID, or what is wrong with it.
 */
enum sdp_violation sdp_ring_out_answered(struct sdp_ring_out *o,
					 const struct sdp_region *ring)
{
	if (!o->asked)
		return SDP_BAD_STATE;
	o->asked = false;
	if (!ring->len) {
		o->pause = PAUSE << min(o->refusals, PAUSE_DOUBLES);
		o->level = min(o->level * 2U, LEVEL_MAX);
		o->refusals++;
		return SDP_VALID;
	}
	if (ring->len > o->ask || ring->len <= o->ring.len ||
	    (o->scheme == SDP_BY_NIC && ring->len < WINDOWS_MIN * o->window))
		return SDP_BAD_FIELD;
	o->ring.va = ring->va;
	o->ring.rkey = ring->rkey;
	WRITE_ONCE(o->ring.len, ring->len);
	o->odd = !o->odd;
	o->head = 0;
	o->freed = 0;
	o->full = 0;
	o->refusals = 0;
	return SDP_VALID;
}

/**
 * sdp_ring_out_freed() - the peer has read from its ring
 * @o: source's ring; if it has just been given back, the two have crossed
 * @freed: bytes since it was made
 *
 * Return: %SDP_VALID, or %SDP_BAD_ACK for what was never written, or has been told already.
 */
enum sdp_violation sdp_ring_out_freed(struct sdp_ring_out *o, u32 freed)
{
	if (!o->ring.len)
		return SDP_VALID;
	if (freed - o->freed > o->head - o->freed)
		return SDP_BAD_ACK;
	o->freed = freed;
	return SDP_VALID;
}

/**
 * sdp_ring_out_message_max() - the longest message that may be written into the ring
 * @o: source's ring, which there is
 *
 * Return: bytes, header included.
 */
u32 sdp_ring_out_message_max(const struct sdp_ring_out *o)
{
	return message_max(o->scheme, READ_ONCE(o->ring.len), o->window);
}

/**
 * sdp_ring_out_room() - how much may be written into the ring now? (G2, G4)
 * @o: source's ring
 *
 * Return: bytes, header included.
 */
u32 sdp_ring_out_room(const struct sdp_ring_out *o)
{
	return o->scheme == SDP_BY_NIC ? o->window :
					 o->ring.len - (o->head - o->freed);
}

/**
 * sdp_ring_out_pipe() - how many messages may the adapter hold, whatever the peer has posted? (G5)
 * @o: source's ring, or none yet
 *
 * Return: messages; 0 if it is not for the adapter to hold them back.
 */
u32 sdp_ring_out_pipe(const struct sdp_ring_out *o)
{
	if (o->scheme != SDP_BY_NIC)
		return 0;
	/* There are WINDOWS_MIN windows at least. */
	return o->ring.len ? (o->ring.len / o->window - 1) / 2 :
			     SDP_RING_PIPE_FIRST;
}

/**
 * sdp_ring_out_put() - a message is written into the ring, right behind the last one
 * @o: source's ring, with room for it
 * @bytes: its length
 * @place: where it goes
 */
void sdp_ring_out_put(struct sdp_ring_out *o, u32 bytes,
		      struct sdp_ring_place *place)
{
	place->rkey = o->ring.rkey;
	place->va = o->ring.va + (o->head & (o->ring.len - 1));
	place->imm = (o->odd ? IMM_ODD : 0) | bytes;
	o->head += bytes;
}

/**
 * sdp_ring_in_agree() - both know rings
 * @in: to fill
 * @scheme: for the peer's data
 * @max: largest ring to be had
 * @window: smaller one of both sides' windows
 */
void sdp_ring_in_agree(struct sdp_ring_in *in, u8 scheme, u32 max, u32 window)
{
	memset(in, 0, sizeof(*in));
	in->scheme = scheme;
	in->max = max;
	in->cap = max;
	in->window = window;
}

/* Receives that so many free bytes allow (G4). */
static u32 receives_for(const struct sdp_ring_in *in, u32 bytes)
{
	u32 windows = bytes / in->window;

	return windows ? windows - 1 : 0;
}

/**
 * sdp_ring_in_receives_max() - how many receives may there ever be? (G4)
 * @in: sink's ring
 * @wish: so many are wanted
 *
 * Return: receives.
 */
u16 sdp_ring_in_receives_max(const struct sdp_ring_in *in, u16 wish)
{
	u32 most = in->scheme == SDP_BY_NIC ? receives_for(in, in->cap) : wish;

	return wish < most ? wish : most;
}

/**
 * sdp_ring_in_receives() - how many of the receives that are wanted may be posted? (G4)
 * @in: sink's ring
 * @want: so many are wanted
 * @posted: so many are
 *
 * Return: receives.
 */
u16 sdp_ring_in_receives(const struct sdp_ring_in *in, u16 want, u16 posted)
{
	u32 may = want + posted;

	if (in->scheme != SDP_BY_NIC)
		return want;
	if (in->size)
		may = min(may,
			  receives_for(in, in->size - sdp_ring_in_used(in)));
	/* The peer may write into the next one as soon as it has heard of it. */
	if (in->next.len)
		may = min(may, receives_for(in, in->next.len));
	return may > posted ? may - posted : 0;
}

/* There is none, or none that is larger. */
static void refuse(struct sdp_ring_in *in)
{
	in->making = 0;
	in->next.len = 0;
	in->answer = true;
}

static enum sdp_violation given_back(struct sdp_ring_in *in,
				     enum sdp_ring_wish *wish)
{
	if (!in->size && !in->shown)
		return SDP_BAD_STATE;
	/* It has seen the next one, though it has not used it. */
	if (in->shown)
		in->odd = !in->odd;
	in->size = 0;
	in->next.len = 0;
	in->shown = false;
	*wish = SDP_RING_DROP;
	return SDP_VALID;
}

/**
 * sdp_ring_in_asked() - RingAsk has arrived
 * @in: sink's ring
 * @size: what the peer would like to have, 0 for none any more
 * @wish: what the owner has to do
 *
 * Nobody asks who has not used what it got last: so there are two rings at most.
 *
 * Return: %SDP_VALID, or what is wrong with it.
 */
enum sdp_violation sdp_ring_in_asked(struct sdp_ring_in *in, u32 size,
				     enum sdp_ring_wish *wish)
{
	*wish = SDP_RING_NONE;
	if (in->scheme == SDP_BY_CREDIT || in->making || in->answer)
		return SDP_BAD_STATE;
	if (!size)
		return given_back(in, wish);
	if (in->shown || size <= in->size)
		return SDP_BAD_STATE;
	in->making = min(size, in->max);
	if (in->making <= in->size) {
		refuse(in);
		return SDP_VALID;
	}
	*wish = SDP_RING_MAKE;
	return SDP_VALID;
}

/**
 * sdp_ring_in_made() - the owner has made a ring, or cannot
 * @in: sink's ring, whose @making is not 0
 * @ring: it; of no more bytes than were wanted, or none
 * @posted: receives posted
 *
 * Return: false when it cannot be used: it is too small for what is posted, or no larger than the
 * one there is. The peer may ask again, and there are fewer receives then.
 */
bool sdp_ring_in_made(struct sdp_ring_in *in, const struct sdp_region *ring,
		      u16 posted)
{
	bool nic = in->scheme == SDP_BY_NIC;
	u32 least = max(nic ? WINDOWS_MIN * in->window : 0U,
			(u32)SDP_RING_SIZE_MIN);
	u32 now = nic ? (posted + 1U) * in->window : 0;

	if (nic && ring->len >= least)
		in->cap = ring->len;
	if (ring->len < max(least, now) || ring->len <= in->size) {
		refuse(in);
		return false;
	}
	in->making = 0;
	in->next = *ring;
	in->answer = true;
	return true;
}

/**
 * sdp_ring_in_answer_sent() - RingAvail is being sent
 * @in: sink's ring
 */
void sdp_ring_in_answer_sent(struct sdp_ring_in *in)
{
	in->answer = false;
	in->shown = in->next.len;
}

/* May so many bytes more be in the ring? What the peer has not been told of is not free to it. */
static bool fits(const struct sdp_ring_in *in, u32 bytes)
{
	u32 free_from = in->scheme == SDP_BY_NIC ? in->read : in->told;

	return bytes <= message_max(in->scheme, in->size, in->window) &&
	       bytes <= in->size - (in->head - free_from);
}

/**
 * sdp_ring_in_arrived() - a message has been written into a ring
 * @in: sink's ring; moves on to the next one when it is the first message there
 * @imm: its immediate data, of which nothing is known
 * @at: where it begins
 * @bytes: its length, at least that of a header
 * @moved: nothing comes in the older ring any more
 *
 * Return: %SDP_VALID, or what is wrong with it.
 */
enum sdp_violation sdp_ring_in_arrived(struct sdp_ring_in *in, u32 imm, u32 *at,
				       u32 *bytes, bool *moved)
{
	bool odd = imm & IMM_ODD;

	*bytes = imm & IMM_LEN;
	*moved = odd != in->odd;
	if (*moved) {
		if (!in->shown)
			return SDP_BAD_STATE;
		in->shown = false;
		in->odd = odd;
		in->size = in->next.len;
		in->next.len = 0;
		in->head = 0;
		in->read = 0;
		in->told = 0;
	}
	if (!in->size)
		return SDP_BAD_STATE;
	if (*bytes != (imm & ~IMM_ODD) || *bytes <= SDP_BSDH_LEN)
		return SDP_BAD_LEN;
	if (!fits(in, *bytes))
		return SDP_BAD_CREDIT;
	*at = in->head & (in->size - 1);
	in->head += *bytes;
	return SDP_VALID;
}

/**
 * sdp_ring_in_read() - the oldest bytes in the ring are not needed any more
 * @in: sink's ring
 * @bytes: how many
 */
void sdp_ring_in_read(struct sdp_ring_in *in, u32 bytes)
{
	in->read += bytes;
}

/**
 * sdp_ring_in_full() - may the peer be waiting until something is read?
 * @in: sink's ring
 *
 * Return: true when the longest message does not fit, or no more receives may be posted.
 */
bool sdp_ring_in_full(const struct sdp_ring_in *in)
{
	if (!in->size)
		return false;
	if (in->scheme == SDP_BY_NIC)
		return !receives_for(in, in->size - sdp_ring_in_used(in));
	return in->head - in->told >
	       in->size - message_max(in->scheme, in->size, in->window);
}

/**
 * sdp_ring_in_news() - is there anything to tell the peer?
 * @in: sink's ring
 *
 * Not of a ring that it does not use any more; and BY_NIC it knows.
 *
 * Return: true when there is.
 */
bool sdp_ring_in_news(const struct sdp_ring_in *in)
{
	return sdp_ring_in_tells(in) && !in->shown && in->read != in->told;
}

/**
 * sdp_ring_in_update_due() - shall the peer be told although nothing else is to be sent?
 * @in: sink's ring
 *
 * As with credits (D4, G1): only when less than half is free to it, and it gets as much more. Who
 * waits for room has less than a quarter, so it hears of it when all has been read, at the latest.
 *
 * Return: true when it shall.
 */
bool sdp_ring_in_update_due(const struct sdp_ring_in *in)
{
	return sdp_ring_in_news(in) && in->head - in->told > in->size / 2 &&
	       in->read - in->told >= in->size / 2;
}

/**
 * sdp_ring_in_tell() - the peer is being told
 * @in: sink's ring
 *
 * Return: bytes read since the ring was made.
 */
u32 sdp_ring_in_tell(struct sdp_ring_in *in)
{
	in->told = in->read;
	return in->read;
}
