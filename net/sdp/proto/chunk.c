// SPDX-License-Identifier: GPL-2.0
/*
 * A message in packets: the chunk.
 *
 * chunk.h describes it.
 */
#include "chunk.h"

/**
 * sdp_chunk_packets() - how many packets does a message take?
 * @bytes: its length, at least 1
 * @size: bytes of a packet
 *
 * Return: number of packets; may be more than %SDP_CHUNK_PACKETS_MAX.
 */
u32 sdp_chunk_packets(u32 bytes, u32 size)
{
	return (bytes - 1) / size + 1;
}

/**
 * sdp_chunk_packet_len() - length of one packet of a message
 * @bytes: length of the message
 * @size: bytes of a packet
 * @offset: number of the packet in the message, from 0
 *
 * Return: bytes of that packet, which begin at byte @offset * @size.
 */
u32 sdp_chunk_packet_len(u32 bytes, u32 size, u32 offset)
{
	return min(bytes - offset * size, size);
}

/**
 * sdp_chunk_len_valid() - may a packet that has arrived be that long?
 * @size: bytes of a packet on this connection
 * @packets: number of packets of the chunk
 * @offset: number of the packet in it
 * @len: its length
 *
 * Return: true if it is as long as it must be: full, or the last one.
 */
bool sdp_chunk_len_valid(u32 size, u32 packets, u32 offset, u32 len)
{
	return offset + 1 == packets ? len && len <= size : len == size;
}

/**
 * sdp_chunk_begin() - the first packet of a chunk arrives
 * @c: chunk
 * @packets: number of packets it has, 1 to %SDP_CHUNK_PACKETS_MAX
 */
void sdp_chunk_begin(struct sdp_chunk *c, u32 packets)
{
	c->packets = packets;
	c->arrived = 0;
	c->have = 0;
}

/**
 * sdp_chunk_add() - a packet has arrived
 * @c: chunk
 * @offset: number of the packet in it, less than @c->packets
 *
 * Return: false when it has arrived before.
 */
bool sdp_chunk_add(struct sdp_chunk *c, u32 offset)
{
	u64 bit = (u64)1 << offset;

	if (c->have & bit)
		return false;
	c->have |= bit;
	c->arrived++;
	return true;
}

/**
 * sdp_chunk_whole() - have all packets arrived?
 * @c: chunk
 *
 * Return: true when a chunk has begun and nothing of it is missing.
 */
bool sdp_chunk_whole(const struct sdp_chunk *c)
{
	return c->packets && c->arrived == c->packets;
}

/**
 * sdp_chunk_first_missing() - the first packet that has not arrived
 * @c: chunk
 *
 * Return: its number; 0 when none has arrived, @c->packets when all have.
 */
u32 sdp_chunk_first_missing(const struct sdp_chunk *c)
{
	u32 n = 0;

	while (n < c->packets && (c->have >> n & 1))
		n++;
	return n;
}
