// SPDX-License-Identifier: GPL-2.0
/*
 * Rings: sizes, positions and free space, at the source and the sink.
 *
 * ring.h describes the messages and the two schemes. sdp_ring_out_*() is the
 * source's side, sdp_ring_in_*() the sink's.
 */
#include "ring.h"

/*
 * Size of the first ring of BY_RDMA. It is small, for connections that send a
 * little and are then idle.
 */
#define RING_FIRST_SIZE	16384U
/*
 * Least number of windows in a ring of BY_NIC: two can be filled while one
 * message arrives and the adapter holds back another one.
 */
#define RING_WINDOWS_MIN	4
/*
 * Messages with payload to send without a ring after the first refusal. The
 * number doubles with each refusal, up to RING_PAUSE_DOUBLES times.
 */
#define RING_PAUSE		8
#define RING_PAUSE_DOUBLES	7U
/* Most times that a ring is full before we ask for a larger one. */
#define RING_LEVEL_MAX	16384U
/* Longer messages are no faster, and have many fragments. */
#define RING_MESSAGE_MAX	32768U
/* Immediate data: which ring (see @odd), and the length of the message. */
#define RING_IMM_ODD		0x80000000U
#define RING_IMM_LEN		0x000FFFFFU

/**
 * sdp_ring_scheme() - agree on the scheme of one direction
 * @own: scheme that the source of the direction wishes for
 * @other: scheme that its peer wishes for its own data
 *
 * BY_NIC needs both directions.
 *
 * Return: scheme of the direction, &enum sdp_scheme.
 */
u8 sdp_ring_scheme(u8 own, u8 other)
{
	return own == SDP_BY_NIC && other != SDP_BY_NIC ? SDP_BY_RDMA : own;
}

/*
 * The longest message in a ring. With BY_RDMA it is a quarter of the ring, so
 * that one message is read while others arrive.
 */
static u32 ring_message_max(u8 scheme, u32 size, u32 window)
{
	return scheme == SDP_BY_NIC ? window : min(size / 4, RING_MESSAGE_MAX);
}

/**
 * sdp_ring_out_agree() - both ends know rings: start without one
 * @o: to fill
 * @scheme: scheme for our data, &enum sdp_scheme
 * @max: largest ring to ask for, bytes
 * @window: the smaller of both sides' windows, bytes
 * @level: number of times that the ring is full before we ask for a larger one
 */
void sdp_ring_out_agree(struct sdp_ring_out *o, u8 scheme, u32 max, u32 window,
			u16 level)
{
	memset(o, 0, sizeof(*o));
	o->scheme = scheme;
	o->max = max;
	o->first = scheme == SDP_BY_NIC ? max : min(max, RING_FIRST_SIZE);
	o->window = window;
	o->level = level;
}

/**
 * sdp_ring_out_sent_plain() - a message with payload went without a ring
 * @o: source's ring
 *
 * Asks for a ring unless the peer has refused one recently.
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
 * sdp_ring_out_was_full() - data did not fit into the ring or into one message
 * @o: source's ring
 *
 * When this has happened @level times, asks for a larger ring.
 */
void sdp_ring_out_was_full(struct sdp_ring_out *o)
{
	/* Nothing has been written into the ring yet, so it was not full. */
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
 * sdp_ring_out_leave() - nothing was sent for long: give the ring back
 * @o: source's ring
 *
 * Return: true when RingAsk is to be sent now.
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
 * sdp_ring_out_stay() - keep the ring if RingAsk could not be sent
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
	/* The peer may free its ring as soon as it has read this message. */
	if (!o->ask)
		WRITE_ONCE(o->ring.len, 0);
}

/**
 * sdp_ring_out_answered() - RingAvail has arrived
 * @o: source's ring
 * @ring: the peer's ring, or a region of length 0 if the peer refuses
 *
 * Return: %SDP_VALID; %SDP_BAD_STATE when we have not asked; %SDP_BAD_FIELD
 * when the ring is longer than asked for, no longer than the present one, or
 * too short for %SDP_BY_NIC.
 */
enum sdp_violation sdp_ring_out_answered(struct sdp_ring_out *o,
					 const struct sdp_region *ring)
{
	if (!o->asked)
		return SDP_BAD_STATE;
	o->asked = false;
	if (!ring->len) {
		o->pause = RING_PAUSE << min(o->refusals, RING_PAUSE_DOUBLES);
		o->level = min(o->level * 2U, RING_LEVEL_MAX);
		o->refusals++;
		return SDP_VALID;
	}
	if (ring->len > o->ask || ring->len <= o->ring.len ||
	    (o->scheme == SDP_BY_NIC &&
	     ring->len < RING_WINDOWS_MIN * o->window))
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
 * @o: source's ring
 * @freed: bytes read since the ring was made, modulo 2^32
 *
 * Ignored if we have just given the ring back: the two messages have crossed.
 *
 * Return: %SDP_VALID, or %SDP_BAD_ACK for bytes that we never wrote, or for
 * fewer bytes than before.
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
 * sdp_ring_out_message_max() - longest message that may go into the ring
 * @o: source's ring, of which there is one
 *
 * May be called without the owner's lock.
 *
 * Return: bytes, header included.
 */
u32 sdp_ring_out_message_max(const struct sdp_ring_out *o)
{
	return ring_message_max(o->scheme, READ_ONCE(o->ring.len), o->window);
}

/**
 * sdp_ring_out_room() - how much may be written into the ring now? (G2, G4)
 * @o: source's ring
 *
 * Return: bytes, header included.
 */
u32 sdp_ring_out_room(const struct sdp_ring_out *o)
{
	return o->scheme == SDP_BY_NIC ?
	       o->window : o->ring.len - (o->head - o->freed);
}

/**
 * sdp_ring_out_pipe() - how many messages may the adapter hold back? (G5)
 * @o: source's ring, or none yet
 *
 * These are sent without regard to the receives that the peer has posted.
 *
 * Return: messages; 0 if the scheme is not %SDP_BY_NIC.
 */
u32 sdp_ring_out_pipe(const struct sdp_ring_out *o)
{
	if (o->scheme != SDP_BY_NIC)
		return 0;
	/* The peer's ring has at least RING_WINDOWS_MIN windows. */
	return o->ring.len ? (o->ring.len / o->window - 1) / 2 :
			     SDP_RING_PIPE_FIRST;
}

/**
 * sdp_ring_out_put() - a message goes into the ring, right behind the last one
 * @o: source's ring, with room for the message
 * @bytes: length of the message, header included
 * @place: set to where it goes
 */
void sdp_ring_out_put(struct sdp_ring_out *o, u32 bytes,
		      struct sdp_ring_place *place)
{
	place->rkey = o->ring.rkey;
	place->va = o->ring.va + (o->head & (o->ring.len - 1));
	place->imm = (o->odd ? RING_IMM_ODD : 0) | bytes;
	o->head += bytes;
}

/**
 * sdp_ring_in_agree() - both ends know rings: start without one
 * @in: to fill
 * @scheme: scheme for the peer's data, &enum sdp_scheme
 * @max: largest ring that we make, bytes
 * @window: the smaller of both sides' windows, bytes
 */
void sdp_ring_in_agree(struct sdp_ring_in *in, u8 scheme, u32 max, u32 window)
{
	memset(in, 0, sizeof(*in));
	in->scheme = scheme;
	in->max = max;
	in->cap = max;
	in->window = window;
}

/* Receives that may be posted with @bytes free: one window is kept (G4). */
static u32 ring_receives(const struct sdp_ring_in *in, u32 bytes)
{
	u32 windows = bytes / in->window;

	return windows ? windows - 1 : 0;
}

/**
 * sdp_ring_in_receives_max() - most receives that may ever be posted (G4)
 * @in: sink's ring
 * @wish: receives that the owner wishes for
 *
 * Return: receives.
 */
u16 sdp_ring_in_receives_max(const struct sdp_ring_in *in, u16 wish)
{
	u32 most = in->scheme == SDP_BY_NIC ? ring_receives(in, in->cap) : wish;

	return wish < most ? wish : most;
}

/**
 * sdp_ring_in_receives() - how many receives may be posted now? (G4)
 * @in: sink's ring
 * @want: receives to post if the ring allows it
 * @posted: receives posted already
 *
 * Return: receives to post, at most @want.
 */
u16 sdp_ring_in_receives(const struct sdp_ring_in *in, u16 want, u16 posted)
{
	u32 may = want + posted;

	if (in->scheme != SDP_BY_NIC)
		return want;
	if (in->size)
		may = min(may,
			  ring_receives(in, in->size - sdp_ring_in_used(in)));
	/* The peer may write into the next ring once it has heard of it. */
	if (in->next.len)
		may = min(may, ring_receives(in, in->next.len));
	return may > posted ? may - posted : 0;
}

/* Answer that there is no ring, or no larger one. */
static void ring_in_refuse(struct sdp_ring_in *in)
{
	in->making = 0;
	in->next.len = 0;
	in->answer = true;
}

static enum sdp_violation ring_in_given_back(struct sdp_ring_in *in,
					     enum sdp_ring_wish *wish)
{
	if (!in->size && !in->shown)
		return SDP_BAD_STATE;
	/* The peer has switched to the next ring, though it has not used it. */
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
 * @size: bytes that the peer asks for, 0 to give its ring back
 * @wish: set to what the owner has to do
 *
 * A peer must use its newest ring before it asks for another one, so there are
 * never more than two.
 *
 * Return: %SDP_VALID, or %SDP_BAD_STATE.
 */
enum sdp_violation sdp_ring_in_asked(struct sdp_ring_in *in, u32 size,
				     enum sdp_ring_wish *wish)
{
	*wish = SDP_RING_NONE;
	if (in->scheme == SDP_BY_CREDIT || in->making || in->answer)
		return SDP_BAD_STATE;
	if (!size)
		return ring_in_given_back(in, wish);
	if (in->shown || size <= in->size)
		return SDP_BAD_STATE;
	in->making = min(size, in->max);
	if (in->making <= in->size) {
		ring_in_refuse(in);
		return SDP_VALID;
	}
	*wish = SDP_RING_MAKE;
	return SDP_VALID;
}

/**
 * sdp_ring_in_made() - the owner has made a ring, or could not
 * @in: sink's ring, whose @making is not 0
 * @ring: the ring, not longer than @making; of length 0 if there is none
 * @posted: receives posted
 *
 * A ring is refused if it is too small for the receives that are posted, or not
 * larger than the present one. The peer may ask again; @cap has reduced the
 * number of receives by then.
 *
 * Return: true when the ring will be advertised, false when it is refused.
 */
bool sdp_ring_in_made(struct sdp_ring_in *in, const struct sdp_region *ring,
		      u16 posted)
{
	bool nic = in->scheme == SDP_BY_NIC;
	u32 least = max(nic ? RING_WINDOWS_MIN * in->window : 0U,
			(u32)SDP_RING_SIZE_MIN);
	u32 now = nic ? (posted + 1U) * in->window : 0;

	if (nic && ring->len >= least)
		in->cap = ring->len;
	if (ring->len < max(least, now) || ring->len <= in->size) {
		ring_in_refuse(in);
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

/*
 * Does a message of @bytes fit? With BY_RDMA, bytes that the peer has not been
 * told of are not free for it.
 */
static bool ring_in_fits(const struct sdp_ring_in *in, u32 bytes)
{
	u32 free_from = in->scheme == SDP_BY_NIC ? in->read : in->told;

	return bytes <= ring_message_max(in->scheme, in->size, in->window) &&
	       bytes <= in->size - (in->head - free_from);
}

/**
 * sdp_ring_in_arrived() - a message has been written into a ring
 * @in: sink's ring; switches to the next ring at the first message in that one
 * @imm: immediate data of the message, not checked yet
 * @at: set to the offset of the message in the ring
 * @bytes: set to its length, which is more than a header
 * @moved: set to true when nothing comes in the older ring any more
 *
 * Return: %SDP_VALID; %SDP_BAD_STATE when there is no such ring; %SDP_BAD_LEN;
 * %SDP_BAD_CREDIT when the message overruns the ring.
 */
enum sdp_violation sdp_ring_in_arrived(struct sdp_ring_in *in, u32 imm, u32 *at,
				       u32 *bytes, bool *moved)
{
	bool odd = imm & RING_IMM_ODD;

	*bytes = imm & RING_IMM_LEN;
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
	if (*bytes != (imm & ~RING_IMM_ODD) || *bytes <= SDP_BSDH_LEN)
		return SDP_BAD_LEN;
	if (!ring_in_fits(in, *bytes))
		return SDP_BAD_CREDIT;
	*at = in->head & (in->size - 1);
	in->head += *bytes;
	return SDP_VALID;
}

/**
 * sdp_ring_in_read() - the oldest bytes in the ring are not needed any more
 * @in: sink's ring
 * @bytes: number of these bytes, headers included
 */
void sdp_ring_in_read(struct sdp_ring_in *in, u32 bytes)
{
	in->read += bytes;
}

/**
 * sdp_ring_in_full() - may the peer be waiting until something is read?
 * @in: sink's ring
 *
 * Return: true when the longest message does not fit, or no more receives may
 * be posted.
 */
bool sdp_ring_in_full(const struct sdp_ring_in *in)
{
	if (!in->size)
		return false;
	if (in->scheme == SDP_BY_NIC)
		return !ring_receives(in, in->size - sdp_ring_in_used(in));
	return in->head - in->told >
	       in->size - ring_message_max(in->scheme, in->size, in->window);
}

/**
 * sdp_ring_in_news() - is there freed space to tell the peer of?
 * @in: sink's ring
 *
 * Not once the next ring has been advertised, and not with BY_NIC, where the
 * peer needs no report.
 *
 * Return: true when there is.
 */
bool sdp_ring_in_news(const struct sdp_ring_in *in)
{
	return sdp_ring_in_tells(in) && !in->shown && in->read != in->told;
}

/**
 * sdp_ring_in_update_due() - shall a message go only to report freed space?
 * @in: sink's ring
 *
 * As with credits (D4, G1): only when the peer knows of less than half the ring
 * as free, and the report frees another half. A peer that waits for room knows
 * of less than a quarter, so it is told when all has been read, at the latest.
 *
 * Return: true when it shall.
 */
bool sdp_ring_in_update_due(const struct sdp_ring_in *in)
{
	return sdp_ring_in_news(in) && in->head - in->told > in->size / 2 &&
	       in->read - in->told >= in->size / 2;
}

/**
 * sdp_ring_in_tell() - a message is reporting the freed space
 * @in: sink's ring
 *
 * Return: bytes read since the ring was made, modulo 2^32.
 */
u32 sdp_ring_in_tell(struct sdp_ring_in *in)
{
	in->told = in->read;
	return in->read;
}
