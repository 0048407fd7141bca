// SPDX-License-Identifier: GPL-2.0
/*
 * Copies pieces of user memory that are equally long and equally far apart.
 *
 * For a column of a matrix, whose pieces have a few bytes each, an iovec costs
 * many times what the bytes do. Here a piece takes a few instructions: user
 * memory is opened once for all of them, and each is copied by the largest unit
 * that divides its length and its address.
 */
#include <linux/uaccess.h>

#include "strip.h"

/* The memory from the lowest piece to the highest one: address and length. */
static size_t strip_span(const struct sdp_program_strip *s,
			 const char __user **from)
{
	s64 way = s->stride * (s64)(s->n - 1);

	if (way >= 0)
		return way + s->width;
	*from += way;
	return s->width - way;
}

/* Define gather_TYPE(): the number of pieces copied before one that faults. */
#define DEFINE_GATHER(type)						\
static u64 gather_##type(const char __user *from, void *room,		\
			 const struct sdp_program_strip *s)		\
{									\
	const char __user *low = from;					\
	type *to = room;						\
	u64 units = s->width / sizeof(type), i, j;			\
	size_t span = strip_span(s, &low);				\
									\
	if (!user_read_access_begin(low, span))				\
		return 0;						\
	for (i = 0; i < s->n; i++, from += s->stride)			\
		for (j = 0; j < units; j++, to++)			\
			unsafe_get_user(*to, (type __user *)from + j,	\
					fault);				\
fault:									\
	user_read_access_end();						\
	return i;							\
}

/* The same in the other direction. */
#define DEFINE_SCATTER(type)						\
static u64 scatter_##type(char __user *to, const type *from,		\
			  const struct sdp_program_strip *s)		\
{									\
	const char __user *low = to;					\
	u64 units = s->width / sizeof(type), i, j;			\
	size_t span = strip_span(s, &low);				\
									\
	if (!user_write_access_begin(low, span))			\
		return 0;						\
	for (i = 0; i < s->n; i++, to += s->stride)			\
		for (j = 0; j < units; j++, from++)			\
			unsafe_put_user(*from, (type __user *)to + j,	\
					fault);				\
fault:									\
	user_write_access_end();					\
	return i;							\
}

DEFINE_GATHER(ulong)
DEFINE_GATHER(u32)
DEFINE_GATHER(u16)
DEFINE_GATHER(u8)
DEFINE_SCATTER(ulong)
DEFINE_SCATTER(u32)
DEFINE_SCATTER(u16)
DEFINE_SCATTER(u8)

/* Bits in which the length, an address or a distance is not aligned. */
static unsigned long strip_bits(const struct sdp_program_strip *s,
				const char __user *user, const char *kernel)
{
	return s->width | (unsigned long)s->stride | (unsigned long)user |
	       (unsigned long)kernel;
}

/**
 * sdp_strip_gather() - copy the pieces of a strip one after the other
 * @to: kernel memory, aligned, for all their bytes
 * @memory: position 0 of the strip; all its pieces are in the caller's memory
 * @strip: the strip, with one piece at least
 *
 * May sleep.
 *
 * Return: number of bytes of the pieces before the first that faults.
 */
size_t sdp_strip_gather(void *to, const char __user *memory,
			const struct sdp_program_strip *strip)
{
	const char __user *from = memory + strip->at;
	unsigned long bits = strip_bits(strip, from, to);
	u64 n;

	if (!(bits % sizeof(long)))
		n = gather_ulong(from, to, strip);
	else if (!(bits % sizeof(u32)))
		n = gather_u32(from, to, strip);
	else if (!(bits % sizeof(u16)))
		n = gather_u16(from, to, strip);
	else
		n = gather_u8(from, to, strip);
	return n * strip->width;
}

/* Whole pieces. Returns the number of bytes before the first that faults. */
static size_t scatter_whole(char __user *memory,
			    const struct sdp_program_strip *strip,
			    const char *from)
{
	char __user *to = memory + strip->at;
	unsigned long bits = strip_bits(strip, to, from);
	u64 n;

	if (!strip->n)
		n = 0;
	else if (!(bits % sizeof(long)))
		n = scatter_ulong(to, (const ulong *)from, strip);
	else if (!(bits % sizeof(u32)))
		n = scatter_u32(to, (const u32 *)from, strip);
	else if (!(bits % sizeof(u16)))
		n = scatter_u16(to, (const u16 *)from, strip);
	else
		n = scatter_u8(to, (const u8 *)from, strip);
	return n * strip->width;
}

/* A part of piece @i that begins with its byte @part. Returns as above. */
static size_t scatter_part(char __user *memory,
			   const struct sdp_program_strip *strip, u64 i,
			   size_t part, const char *from, size_t n)
{
	char __user *to = memory + strip->at + (s64)i * strip->stride + part;

	return n - copy_to_user(to, from, n);
}

/**
 * sdp_strip_scatter() - copy bytes to some of the pieces of a strip
 * @memory: position 0 of the strip; all its pieces are in the caller's memory
 * @strip: the strip
 * @skip: bytes of the strip before the first
 * @from: the bytes
 * @n: number of bytes; the strip has as many behind @skip
 *
 * May sleep.
 *
 * Return: number of bytes before the first that faults.
 */
size_t sdp_strip_scatter(char __user *memory,
			 const struct sdp_program_strip *strip, size_t skip,
			 const char *from, size_t n)
{
	struct sdp_program_strip whole = *strip;
	u32 width = strip->width, i = skip / width, part = skip % width;
	size_t done = 0, m;

	if (part) {
		m = min_t(size_t, n, width - part);
		done = scatter_part(memory, strip, i++, part, from, m);
		if (done < m)
			return done;
	}
	whole.at += (s64)i * strip->stride;
	whole.n = (n - done) / width;
	m = scatter_whole(memory, &whole, from + done);
	done += m;
	if (m < whole.n * width || done == n)
		return done;
	return done + scatter_part(memory, strip, i + whole.n, 0, from + done,
				   n - done);
}
