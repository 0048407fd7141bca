/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few names that the protocol engine needs from outside, so that its files compile
 * unchanged in the kernel, in KUnit and in a user-space program.
 *
 * The engine includes nothing else: no socket, no verbs, no lock, no allocator.
 */
#ifndef SDP_PROTO_BASE_H
#define SDP_PROTO_BASE_H

#ifdef __KERNEL__

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

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

#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)

#endif

/**
 * sdp_seq_after() - is sequence number @a newer than @b?
 * @a: a message sequence number
 * @b: another, at most 2^31 - 1 away
 *
 * Sequence numbers wrap at 2^32 (wire.h), so they are compared by their distance.
 *
 * Return: true when @a is the later one.
 */
static inline bool sdp_seq_after(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

#endif /* SDP_PROTO_BASE_H */
