// SPDX-License-Identifier: GPL-2.0
/* Wrong messages in a ring of the peer, and wrong messages about either end's rings. */
#include <linux/delay.h>
#include <linux/module.h>

#include "hostile.h"

/*
 * Immediate data, as proto/ring.c reads it: first or second ring of the connection, and a
 * length.
 */
#define FIRST		0x80000000U
#define SECOND		0U
/* Payload of a message in the ring. */
#define PAYLOAD		100
#define BYTES		(SDP_BSDH_LEN + PAYLOAD)

/* Asks for a ring. The peer's program has sent data, so it has accepted the connection. */
static int get_ring(struct hostile *h)
{
	int err = hostile_await(&h->datas, 1) ?: hostile_say(h, SDP_MID_RING_ASK, 0) ?:
		  hostile_await(&h->rings, 1);

	return err ?: h->ring.len == HOSTILE_RING ? 0 : -ENOBUFS;
}

/* Writes @bytes of the message at offset @at in the ring, with the immediate @imm. */
static int put(struct hostile *h, s64 at, u32 bytes, u32 imm)
{
	struct sdp_region to = h->ring;

	to.va += at;
	to.len = bytes;
	return hostile_put(h, &to, imm);
}

/* Writes an honest message, at any offset and with any immediate. */
static int message(struct hostile *h, s64 at, u32 imm)
{
	hostile_header(h, SDP_MID_DATA, PAYLOAD);
	return put(h, at, BYTES, imm);
}

/* Writes an honest message with one byte of its header changed. */
static int spoiled(struct hostile *h, u32 byte, u8 value)
{
	hostile_header(h, SDP_MID_DATA, PAYLOAD);
	h->send[byte] = value;
	return put(h, 0, BYTES, FIRST | BYTES);
}

/* The regular use: two messages in a row. */
int hostile_ring_write(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | BYTES) ?: message(h, BYTES, FIRST | BYTES);
}

/* The source may write anywhere in the ring; the sink reads only what an immediate announces. */
int hostile_ring_anywhere(struct hostile *h)
{
	struct sdp_region to;
	int err = get_ring(h);
	u32 at;

	for (at = 0; !err && at + 4096 <= 2 * HOSTILE_RING; at += 4096) {
		to = h->ring;
		to.va += at;
		to.len = 4096;
		memset(h->send, at >> 8, 4096);
		err = hostile_rdma(h, IB_WR_RDMA_WRITE, &to);
	}
	return err ?: message(h, 0, FIRST | BYTES);
}

/* The message is not at the offset where the next one must begin. */
int hostile_ring_elsewhere(struct hostile *h)
{
	return get_ring(h) ?: message(h, 5000, FIRST | BYTES);
}

/* Beyond both mappings of the ring: the adapter refuses that. */
int hostile_ring_beyond(struct hostile *h)
{
	return get_ring(h) ?: message(h, 2 * HOSTILE_RING - BYTES / 2, FIRST | BYTES);
}

int hostile_ring_before(struct hostile *h)
{
	return get_ring(h) ?: message(h, -BYTES, FIRST | BYTES);
}

/* No ring was asked for. */
int hostile_ring_none(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: hostile_write_imm(h);
}

int hostile_ring_other(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, SECOND | BYTES);
}

int hostile_ring_short(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | SDP_BSDH_LEN);
}

int hostile_ring_long(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | (HOSTILE_RING / 4 + 1));
}

int hostile_ring_bits(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | 0x100000 | BYTES);
}

/* The length in the immediate differs from the message's own. */
int hostile_ring_len(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | (BYTES + 1));
}

int hostile_ring_mid(struct hostile *h)
{
	return get_ring(h) ?: spoiled(h, 0, SDP_MID_HELLO);
}

int hostile_ring_flags(struct hostile *h)
{
	return get_ring(h) ?: spoiled(h, 1, 0x80);
}

int hostile_ring_mseq(struct hostile *h)
{
	return get_ring(h) ?: spoiled(h, 11, 0x77);
}

/* A ring may only carry data messages. */
int hostile_ring_srcavail(struct hostile *h)
{
	u32 len;
	int err = get_ring(h);

	if (err)
		return err;
	len = hostile_header(h, SDP_MID_SRC_AVAIL, 10);
	return put(h, 0, len, FIRST | len);
}

/* More than is free: the application does not read. */
int hostile_ring_overrun(struct hostile *h)
{
	u32 bytes = HOSTILE_RING / 4, at;
	int err = get_ring(h);

	for (at = 0; !err && at <= HOSTILE_RING; at += bytes) {
		hostile_header(h, SDP_MID_DATA, bytes - SDP_BSDH_LEN);
		err = put(h, at, bytes, FIRST | bytes);
	}
	return err;
}

/* A ring is asked for before the last one was used; a ring is asked for that is no larger. */
int hostile_ring_ask_again(struct hostile *h)
{
	return get_ring(h) ?: hostile_say(h, SDP_MID_RING_ASK, 0);
}

int hostile_ring_ask_twice(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | BYTES) ?: hostile_say(h, SDP_MID_RING_ASK, 0);
}

static int ask_for(struct hostile *h, u32 size)
{
	hostile_header(h, SDP_MID_RING_ASK, 0);
	put_unaligned_be32(size, h->send + SDP_BSDH_LEN);
	return hostile_send(h, SDP_BSDH_LEN + 4);
}

/*
 * Tiny messages that the application does not read, each in a ring of its own that was given
 * back.
 */
int hostile_ring_held(struct hostile *h)
{
	int err = hostile_await(&h->datas, 1);
	u32 i;

	for (i = 0; !err && i < HOSTILE_HELD; i++)
		err = hostile_say(h, SDP_MID_RING_ASK, 0) ?: hostile_await(&h->rings, i + 1) ?:
		      message(h, 0, (i % 2 ? SECOND : FIRST) | BYTES) ?: ask_for(h, 0);
	return err;
}

int hostile_ring_ask_odd(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: ask_for(h, HOSTILE_RING - 1);
}

int hostile_ring_ask_huge(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: ask_for(h, 1U << 31);
}

int hostile_ring_give_back_none(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: ask_for(h, 0);
}

int hostile_ring_avail_unasked(struct hostile *h)
{
	return hostile_say(h, SDP_MID_RING_AVAIL, 0);
}

/* Answers the peer's request with a ring @times as large, at address @va with key @rkey. */
static int answer(struct hostile *h, u32 times, u32 rkey, u64 va)
{
	int err = hostile_await(&h->asks, 1);

	if (err)
		return err;
	hostile_header(h, SDP_MID_RING_AVAIL, 0);
	put_unaligned_be32(times * h->asked, h->send + SDP_BSDH_LEN);
	put_unaligned_be32(rkey, h->send + SDP_BSDH_LEN + 4);
	put_unaligned_be64(va, h->send + SDP_BSDH_LEN + 8);
	return hostile_send(h, SDP_BSDH_LEN + 16);
}

int hostile_ring_avail_larger(struct hostile *h)
{
	return answer(h, 2, 1, 4096);
}

int hostile_ring_avail_wraps(struct hostile *h)
{
	return answer(h, 1, 1, ~0ULL);
}

int hostile_ring_avail_twice(struct hostile *h)
{
	return answer(h, 1, 1, 4096) ?: answer(h, 1, 1, 4096);
}

/* A key that does not exist: the peer's first write fails. */
int hostile_ring_avail_key(struct hostile *h)
{
	return answer(h, 1, 0xdead00, 4096);
}

/* Reports @bytes of a ring as read. */
static int freed(struct hostile *h, u32 bytes)
{
	hostile_header(h, SDP_MID_DATA, SDP_FREED_LEN);
	h->send[1] = SDP_FLAG_FREED;
	put_unaligned_be32(bytes, h->send + SDP_BSDH_LEN);
	return hostile_send(h, SDP_BSDH_LEN + SDP_FREED_LEN);
}

/* The report exceeds what was written. */
int hostile_ring_freed(struct hostile *h)
{
	struct sdp_region ring;

	return hostile_await(&h->asks, 1) ?: hostile_expose(h, &ring) ?:
	       answer(h, 1, ring.rkey, ring.va) ?: freed(h, 1U << 20);
}

int hostile_ring_freed_unknown(struct hostile *h)
{
	return freed(h, 0);
}

/* Scheme by NIC: a message longer than a window. */
int hostile_nic_long(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | (HOSTILE_WINDOW + 1));
}

int hostile_nic_srcavail(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: hostile_say(h, SDP_MID_SRC_AVAIL, 1);
}

int hostile_nic_buffer(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: hostile_say(h, SDP_MID_SINK_AVAIL, 0);
}
