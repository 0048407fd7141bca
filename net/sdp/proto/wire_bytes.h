/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers in the byte order of the wire; used by the codec only. */
#ifndef SDP_PROTO_WIRE_BYTES_H
#define SDP_PROTO_WIRE_BYTES_H

#include "base.h"

static inline u16 get16(const u8 *p)
{
	return (u16)(p[0] << 8 | p[1]);
}

static inline u32 get32(const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

static inline u64 get64(const u8 *p)
{
	return (u64)get32(p) << 32 | get32(p + 4);
}

static inline void put16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = v & 0xff;
}

static inline void put32(u8 *p, u32 v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

static inline void put64(u8 *p, u64 v)
{
	put32(p, v >> 32);
	put32(p + 4, v & 0xffffffff);
}

#endif /* SDP_PROTO_WIRE_BYTES_H */
