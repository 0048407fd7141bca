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

/**
 * hostile_place() - write the message of a case into the ring
 * @h: connection, ready
 * @m: the case
 *
 * Return: as hostile_send().
 */
int hostile_place(struct hostile *h, const struct hostile_message *m)
{
	int err = get_ring(h);
	u32 bytes;

	if (err)
		return err;
	bytes = hostile_header(h, m->mid, m->payload);
	memset(h->send + m->at, m->value, m->n);
	return put(h, m->offset, bytes, m->imm);
}

/* The regular use: two messages in a row. */
static int ring_write(struct hostile *h)
{
	return get_ring(h) ?: message(h, 0, FIRST | BYTES) ?: message(h, BYTES, FIRST | BYTES);
}

/* The source may write anywhere in the ring; the sink reads only what an immediate announces. */
static int ring_anywhere(struct hostile *h)
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

/* No ring was asked for. */
static int ring_none(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: hostile_write_imm(h);
}

/* A ring may only carry data messages. */
static int ring_srcavail(struct hostile *h)
{
	u32 len;
	int err = get_ring(h);

	if (err)
		return err;
	len = hostile_header(h, SDP_MID_SRC_AVAIL, 10);
	return put(h, 0, len, FIRST | len);
}

/* More than is free: the application does not read. */
static int ring_overrun(struct hostile *h)
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
static int ring_ask_again(struct hostile *h)
{
	return get_ring(h) ?: hostile_say(h, SDP_MID_RING_ASK, 0);
}

static int ring_ask_twice(struct hostile *h)
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
static int ring_held(struct hostile *h)
{
	int err = hostile_await(&h->datas, 1);
	u32 i;

	for (i = 0; !err && i < HOSTILE_HELD; i++)
		err = hostile_say(h, SDP_MID_RING_ASK, 0) ?: hostile_await(&h->rings, i + 1) ?:
		      message(h, 0, (i % 2 ? SECOND : FIRST) | BYTES) ?: ask_for(h, 0);
	return err;
}

static int ring_ask_odd(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: ask_for(h, HOSTILE_RING - 1);
}

static int ring_ask_huge(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: ask_for(h, 1U << 31);
}

static int ring_give_back_none(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: ask_for(h, 0);
}

static int ring_avail_unasked(struct hostile *h)
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

static int ring_avail_larger(struct hostile *h)
{
	return answer(h, 2, 1, 4096);
}

static int ring_avail_wraps(struct hostile *h)
{
	return answer(h, 1, 1, ~0ULL);
}

static int ring_avail_twice(struct hostile *h)
{
	return answer(h, 1, 1, 4096) ?: answer(h, 1, 1, 4096);
}

/* A key that does not exist: the peer's first write fails. */
static int ring_avail_key(struct hostile *h)
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
static int ring_freed(struct hostile *h)
{
	struct sdp_region ring;

	return hostile_await(&h->asks, 1) ?: hostile_expose(h, &ring) ?:
	       answer(h, 1, ring.rkey, ring.va) ?: freed(h, 1U << 20);
}

static int ring_freed_unknown(struct hostile *h)
{
	return freed(h, 0);
}

static int nic_srcavail(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: hostile_say(h, SDP_MID_SRC_AVAIL, 1);
}

static int nic_buffer(struct hostile *h)
{
	return hostile_await(&h->datas, 1) ?: hostile_say(h, SDP_MID_SINK_AVAIL, 0);
}

/* An honest message, at any offset and with any immediate; or one byte of it has another value. */
#define PLACED(offset, imm)	NULL, SDP_MID_DATA, PAYLOAD, 0, 0, 0, imm, offset
#define SPOILED(at, value)	NULL, SDP_MID_DATA, PAYLOAD, at, 1, value, FIRST | BYTES, 0

const struct hostile_message hostile_rings[] = {
	{ "ring-write",			ring_write },
	{ "ring-anywhere",		ring_anywhere },
	/* The message is not at the offset where the next one must begin. */
	{ "ring-elsewhere",		PLACED(5000, FIRST | BYTES) },
	/* Beyond both mappings of the ring: the adapter refuses that. */
	{ "ring-beyond",		PLACED(2 * HOSTILE_RING - BYTES / 2, FIRST | BYTES) },
	{ "ring-before",		PLACED(-BYTES, FIRST | BYTES) },
	{ "ring-none",			ring_none },
	{ "ring-other",			PLACED(0, SECOND | BYTES) },
	{ "ring-short",			PLACED(0, FIRST | SDP_BSDH_LEN) },
	{ "ring-long",			PLACED(0, FIRST | (HOSTILE_RING / 4 + 1)) },
	{ "ring-bits",			PLACED(0, FIRST | 0x100000 | BYTES) },
	/* The length in the immediate differs from the message's own. */
	{ "ring-len",			PLACED(0, FIRST | (BYTES + 1)) },
	{ "ring-mid",			SPOILED(0, SDP_MID_HELLO) },
	{ "ring-flags",			SPOILED(1, 0x80) },
	{ "ring-mseq",			SPOILED(11, 0x77) },
	{ "ring-srcavail",		ring_srcavail },
	{ "ring-overrun",		ring_overrun },
	{ "ring-held",			ring_held },
	{ "ring-ask-again",		ring_ask_again },
	{ "ring-ask-twice",		ring_ask_twice },
	{ "ring-ask-odd",		ring_ask_odd },
	{ "ring-ask-huge",		ring_ask_huge },
	{ "ring-give-back-none",	ring_give_back_none },
	{ "ring-avail-unasked",		ring_avail_unasked },
	{ "ring-avail-larger",		ring_avail_larger },
	{ "ring-avail-wraps",		ring_avail_wraps },
	{ "ring-avail-twice",		ring_avail_twice },
	{ "ring-avail-key",		ring_avail_key },
	{ "ring-freed",			ring_freed },
	/* Scheme by NIC: a message longer than a window. */
	{ "nic-long",			PLACED(0, FIRST | (HOSTILE_WINDOW + 1)) },
	{ "nic-srcavail",		nic_srcavail },
	{ "nic-buffer",			nic_buffer },
	{ "nic-write",			ring_write },
	/* The Hellos did not agree on rings. */
	{ "msg-ring-freed",		ring_freed_unknown },
	{ },
};
