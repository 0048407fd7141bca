// SPDX-License-Identifier: GPL-2.0
/*
 * Rings: the peer makes one when it is asked, and what lies there is not what it should be; or it
 * is we who have one, and nobody can count on it.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "hostile.h"

/* The immediate, as ring.c reads it: the first ring of a connection, the second, a length. */
#define FIRST		0x80000000U
#define SECOND		0U
/* A message with so much payload lies in the ring. */
#define PAYLOAD		100
#define BYTES		(SDP_BSDH_LEN + PAYLOAD)

/* A ring of the peer's. Its program has said something, so it has accepted the connection. */
static int get_ring(struct hostile *h)
{
	int err = hostile_await(&h->datas, 1) ?: hostile_say(h, SDP_MID_RING_ASK, 0) ?:
		  hostile_await(&h->rings, 1);

	return err ?: h->ring.len == HOSTILE_RING ? 0 : -ENOBUFS;
}

/* @bytes of what is to be sent, written at @at in the ring, with the immediate @imm. */
static int put(struct hostile *h, s64 at, u32 bytes, u32 imm)
{
	struct sdp_region to = h->ring;

	to.va += at;
	to.len = bytes;
	return hostile_put(h, &to, imm);
}

/* A message as it would be honest, but maybe for where it is written, and the immediate. */
static int message(struct hostile *h, s64 at, u32 imm)
{
	hostile_header(h, SDP_MID_DATA, PAYLOAD);
	return put(h, at, BYTES, imm);
}

/* ... but for one byte of its header. */
static int spoiled(struct hostile *h, u32 byte, u8 value)
{
	hostile_header(h, SDP_MID_DATA, PAYLOAD);
	h->send[byte] = value;
	return put(h, 0, BYTES, FIRST | BYTES);
}

/* As it is meant, to the end of it and beyond, where it begins again. */
int hostile_ring_write(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | BYTES) ?: message(h, BYTES, FIRST | BYTES);
}

/* The memory is the source's to write into; what is not told of is not looked at. */
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

/* The message is not where the next one begins: there is nothing yet. */
int hostile_ring_elsewhere(struct hostile *h)
{
	return get_ring(h) ?: message(h, 5000, FIRST | BYTES);
}

/* Beyond both copies: the adapter refuses that. */
int hostile_ring_beyond(struct hostile *h)
{
	return get_ring(h) ?: message(h, 2 * HOSTILE_RING - BYTES / 2, FIRST | BYTES);
}

int hostile_ring_before(struct hostile *h)
{
	return get_ring(h) ?: message(h, -BYTES, FIRST | BYTES);
}

/* No ring has been asked for. */
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

/* It says another length than the message itself. */
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

/* Nothing but data lies in a ring. */
int hostile_ring_offer(struct hostile *h)
{
	u32 len;
	int err = get_ring(h);

	if (err)
		return err;
	len = hostile_header(h, SDP_MID_SRC_AVAIL, 10);
	return put(h, 0, len, FIRST | len);
}

/* More than is free: nobody reads. */
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

/* One that is asked for before the last one has been used, and one that there is not. */
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

/* Tiny messages that nobody reads, each in a ring of its own that is over. */
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

/* The peer has asked; the answer is @times as large, at @va, by the key @rkey. */
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

/* A key that there is not: whoever writes there finds out. */
int hostile_ring_avail_key(struct hostile *h)
{
	return answer(h, 1, 0xdead00, 4096);
}

/* @bytes of a ring have been read, it says. */
static int freed(struct hostile *h, u32 bytes)
{
	hostile_header(h, SDP_MID_DATA, SDP_FREED_LEN);
	h->send[1] = SDP_FLAG_FREED;
	put_unaligned_be32(bytes, h->send + SDP_BSDH_LEN);
	return hostile_send(h, SDP_BSDH_LEN + SDP_FREED_LEN);
}

/* ... of which nobody has written any. */
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

/* By NIC: longer than a window. */
int hostile_nic_long(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | (HOSTILE_WINDOW + 1));
}

int hostile_nic_offer(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: hostile_say(h, SDP_MID_SRC_AVAIL, 1);
}

int hostile_nic_buffer(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: hostile_say(h, SDP_MID_SINK_AVAIL, 0);
}
