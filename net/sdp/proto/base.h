/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types, helpers and sequence comparison for the protocol engine.
 *
 * The engine includes no other header from outside proto/. So its files compile
 * unchanged in the kernel, in KUnit and in a user-space program. The engine
 * knows no socket, verbs, lock or allocator.
 */
#ifndef SDP_PROTO_BASE_H
#define SDP_PROTO_BASE_H

#ifdef __KERNEL__

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

/* Processors of 32 bits divide 64-bit numbers by a function. */
#define sdp_div(a, b)	div64_u64(a, b)

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))

#define sdp_div(a, b)	((u64)(a) / (b))

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)

#endif

/**
 * sdp_seq_after() - compare two sequence numbers
 * @a: a message sequence number
 * @b: another one, at most 2^31 - 1 away from @a
 *
 * Sequence numbers wrap at 2^32 (wire.h), so the sign of their distance
 * decides.
 *
 * Return: true when @a is later than @b.
 */
static inline bool sdp_seq_after(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

#endif /* SDP_PROTO_BASE_H */
