// SPDX-License-Identifier: GPL-2.0
/*
 * What a part of a data gather/scatter program does as a whole.
 *
 * program_sum.h describes it.
 */
#include "program_sum.h"

static bool too_far(s64 n)
{
	return n >= SDP_PROGRAM_FAR || n <= -SDP_PROGRAM_FAR;
}

static bool range_empty(const struct sdp_program_range *r)
{
	return r->from >= r->to;
}

/* Add @more, @by further on, to @r. Returns false if that is too far away. */
static bool range_add(struct sdp_program_range *r,
		      const struct sdp_program_range *more, s64 by)
{
	if (range_empty(more))
		return true;
	if (too_far(more->from + by) || too_far(more->to + by))
		return false;
	if (range_empty(r)) {
		r->from = more->from + by;
		r->to = more->to + by;
	} else {
		r->from = min(r->from, more->from + by);
		r->to = max(r->to, more->to + by);
	}
	return true;
}

/**
 * sdp_program_sum_none() - no operation
 * @s: to fill in
 */
void sdp_program_sum_none(struct sdp_program_sum *s)
{
	memset(s, 0, sizeof(*s));
	s->dense = true;
}

/**
 * sdp_program_sum_copy() - move bytes
 * @s: to fill in
 * @n: number of bytes, from 0 to below %SDP_PROGRAM_FAR
 */
void sdp_program_sum_copy(struct sdp_program_sum *s, s64 n)
{
	sdp_program_sum_none(s);
	s->bytes = n;
	s->shift = n;
	s->near.to = n;
}

/**
 * sdp_program_sum_skip() - add to the position
 * @s: to fill in
 * @n: what to add; its amount is below %SDP_PROGRAM_FAR
 */
void sdp_program_sum_skip(struct sdp_program_sum *s, s64 n)
{
	sdp_program_sum_none(s);
	s->shift = n;
	s->dense = !n;
}

/**
 * sdp_program_sum_seek() - go to a position
 * @s: to fill in
 * @to: position; its amount is below %SDP_PROGRAM_FAR
 */
void sdp_program_sum_seek(struct sdp_program_sum *s, s64 to)
{
	sdp_program_sum_none(s);
	s->seeks = true;
	s->to = to;
	s->dense = false;
}

/**
 * sdp_program_sum_then() - one part behind another
 * @s: the first; becomes that of both
 * @next: the second
 *
 * Return: false if it moves too many bytes, or leads too far away.
 */
bool sdp_program_sum_then(struct sdp_program_sum *s,
			  const struct sdp_program_sum *next)
{
	if (!range_add(s->seeks ? &s->fixed : &s->near, &next->near,
		       s->seeks ? s->to : s->shift) ||
	    !range_add(&s->fixed, &next->fixed, 0))
		return false;
	if (next->seeks) {
		s->seeks = true;
		s->to = next->to;
		s->shift = 0;
	} else if (s->seeks) {
		s->to += next->shift;
	} else {
		s->shift += next->shift;
	}
	s->bytes += next->bytes;
	s->dense = s->dense && next->dense;
	s->depth = max(s->depth, next->depth);
	return !too_far(s->bytes) && !too_far(s->to) && !too_far(s->shift);
}

static bool product_too_far(u64 n, u64 times)
{
	return n && times > sdp_div(SDP_PROGRAM_FAR - 1, n);
}

/**
 * sdp_program_sum_times() - a part that is repeated
 * @s: the part; becomes that of all times
 * @n: number of times, from 0 to below %SDP_PROGRAM_FAR
 *
 * Return: false if it moves too many bytes, or leads too far away.
 */
bool sdp_program_sum_times(struct sdp_program_sum *s, s64 n)
{
	struct sdp_program_range near = s->near;
	u8 depth = s->depth;

	if (!n) {
		sdp_program_sum_none(s);
		s->depth = depth;
		return true;
	}
	if (product_too_far(s->bytes, n) ||
	    product_too_far(s->shift < 0 ? -s->shift : s->shift, n))
		return false;
	/* What lies between the first and the last time needs no look. */
	if (s->seeks ? n > 1 && !range_add(&s->fixed, &near, s->to) :
		       !range_add(&s->near, &near, s->shift * (n - 1)))
		return false;
	s->bytes *= n;
	s->shift *= n;
	return true;
}

/**
 * sdp_program_sum_from() - where a part leads
 * @s: the part
 * @at: position in front of it
 * @times: how often it is done; as often as has been verified, or less
 *
 * Return: the position behind it.
 */
s64 sdp_program_sum_from(const struct sdp_program_sum *s, s64 at, s64 times)
{
	if (!times)
		return at;
	return s->seeks ? s->to : at + s->shift * times;
}

static bool range_within(const struct sdp_program_range *r, u64 memory)
{
	return range_empty(r) || (r->from >= 0 && (u64)r->to <= memory);
}

/**
 * sdp_program_sum_within() - does a part that begins at position 0 stay inside
 * @s: the part
 * @memory: size of the memory in bytes
 *
 * The position may leave the memory as long as no byte is moved there.
 *
 * Return: true if it does.
 */
bool sdp_program_sum_within(const struct sdp_program_sum *s, u64 memory)
{
	return range_within(&s->near, memory) &&
	       range_within(&s->fixed, memory);
}
