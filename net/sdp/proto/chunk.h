/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A message in packets: the chunk (I3).
 *
 * A datagram is at most as long as the path's MTU, so a longer message goes in
 * several packets, in one datagram each. All packets of a message are equally
 * long, but for the last one, which may be shorter. They are the chunk. Its
 * packets may arrive in any order; the chunk is whole when all have arrived.
 *
 * Pure arithmetic. The caller holds its lock.
 */
#ifndef SDP_PROTO_CHUNK_H
#define SDP_PROTO_CHUNK_H

#include "base.h"

/* Most packets of a chunk. The bit map of struct sdp_chunk has room for 64. */
#define SDP_CHUNK_PACKETS_MAX	36

/**
 * struct sdp_chunk - what has arrived of a chunk
 * @packets: how many it has; 0 before the first one has arrived
 * @arrived: how many have arrived
 * @have: which these are, one bit each
 */
struct sdp_chunk {
	u8 packets;
	u8 arrived;
	u64 have;
};

u32 sdp_chunk_packets(u32 bytes, u32 size);
u32 sdp_chunk_packet_len(u32 bytes, u32 size, u32 offset);
bool sdp_chunk_len_valid(u32 size, u32 packets, u32 offset, u32 len);
void sdp_chunk_begin(struct sdp_chunk *c, u32 packets);
bool sdp_chunk_add(struct sdp_chunk *c, u32 offset);
bool sdp_chunk_whole(const struct sdp_chunk *c);
u32 sdp_chunk_first_missing(const struct sdp_chunk *c);

#endif /* SDP_PROTO_CHUNK_H */
