// SPDX-License-Identifier: GPL-2.0
/*
 * Large transfers by a script: what the peer tells of crosses what we tell of, or is void when it
 * comes (requirements C7, C8); and exchanges that are broken off after each of their steps. None of
 * it breaks a rule. The peer's program is "peer", whose stream is known; net.sdp.mode_after is 1.
 */
#include <linux/module.h>

#include "hostile.h"

/* What the other program writes, or reads, at once. */
#define LARGE		16384
/* What it writes between, as a message. */
#define SMALL		100
/* What is moved by one request. */
#define PIECE		HOSTILE_SEND_SIZE

/* The stream that a program peer sends, and expects. */
static u8 byte_at(u32 at)
{
	return (at % 251 * 7 + 3) % 251;
}

/**
 * hostile_follow() - what comes next of the peer's stream
 * @h: connection
 * @data: the bytes
 * @n: how many
 */
void hostile_follow(struct hostile *h, const u8 *data, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (data[i] != byte_at(h->stream + i))
			h->wrong++;
	/* Pairs with hostile_await(). */
	smp_store_release(&h->stream, h->stream + n);
}

/* So much of the stream is here, and right. */
static int got(struct hostile *h, u32 n)
{
	int err = hostile_await(&h->stream, n);

	return err ?: h->wrong || h->stream != n ? -EBADMSG : 0;
}

/* The next @n bytes of our own stream, as if a program peer sent them. */
static void fill(struct hostile *h, u8 *data, u32 n)
{
	while (n--)
		*data++ = byte_at(h->said++);
}

/* One byte, for which the other program waits before it goes on. */
static int go_on(struct hostile *h)
{
	u32 len = hostile_header(h, SDP_MID_DATA, 1);

	fill(h, h->send + len - 1, 1);
	return hostile_send(h, len);
}

/* A message that differs from what an honest peer would write in what is filled in here. */
static int say(struct hostile *h, struct sdp_msg *msg, u32 ack)
{
	msg->h.bufs = HOSTILE_BUFS;
	msg->h.mseq = ++h->mseq;
	msg->h.mseq_ack = ack;
	h->acked = ack;
	return hostile_send(h, sdp_wire_build(h->send, msg));
}

static int answer(struct hostile *h, u8 mid, u32 count, u8 flags)
{
	struct sdp_msg msg = { .h = { .mid = mid, .flags = flags }, .count = count };

	return say(h, &msg, READ_ONCE(h->seen));
}

/* Reads the next @bytes of what is offered, @at from its beginning. */
static int read_some(struct hostile *h, u32 at, u32 bytes)
{
	struct sdp_region from = h->told.src;
	int err = 0;

	for (from.va += at; bytes && !err; from.va += from.len, bytes -= from.len) {
		from.len = min_t(u32, bytes, PIECE);
		err = hostile_rdma(h, IB_WR_RDMA_READ, &from);
		ib_dma_sync_single_for_cpu(h->pd->device, h->send_dma, HOSTILE_SEND_SIZE,
					   DMA_BIDIRECTIONAL);
		if (!err)
			hostile_follow(h, h->send, from.len);
	}
	return err;
}

/* The first offer is read by a reader who was there first: the direction becomes Pipelined. */
static int teach(struct hostile *h)
{
	u32 first;
	int err;

	err = hostile_await(&h->adverts, 1);
	first = h->told.payload_len;
	return err ?: read_some(h, first, LARGE - first) ?:
	       answer(h, SDP_MID_RDMA_RD_COMPL, LARGE - first, SDP_FLAG_REQ_PIPE) ?:
	       hostile_await(&h->came[SDP_MID_MODE_CHANGE], 1);
}

/* Nobody else's queue pair lets the peer reach memory. */
static int expose(struct hostile *h)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	struct sdp_region region;

	return hostile_expose(h, &region) ?:
	       ib_modify_qp(h->qp, &attr, IB_QP_STATE | IB_QP_ACCESS_FLAGS);
}

/* Tell of a buffer, when @non_discards messages and all up to @ack are known of. */
static int tell_buffer(struct hostile *h, u32 non_discards, u32 ack)
{
	struct sdp_msg msg = { .h.mid = SDP_MID_SINK_AVAIL, .non_discards = non_discards };
	int err = h->shown.mr ? 0 : expose(h);

	if (err)
		return err;
	msg.sink = (struct sdp_region){
		.len = HOSTILE_MR_SIZE, .rkey = h->shown.mr->rkey, .va = h->shown.mr->iova,
	};
	return say(h, &msg, ack);
}

/* The peer has written @n bytes there, which are the next ones of its stream. */
static int written(struct hostile *h, u32 n)
{
	int err = hostile_await(&h->came[SDP_MID_RDMA_WR_COMPL], 1);

	if (err)
		return err;
	if (h->placed != n)
		return -EBADMSG;
	hostile_follow(h, sg_virt(&h->shown.sg), n);
	return 0;
}

/*
 * C7: a buffer whose NonDiscards is old: a message has been sent meanwhile. Nothing is written
 * there, what is offered instead comes in messages; and then one that is not stale is used.
 */
int hostile_stale(struct hostile *h)
{
	int err = teach(h) ?: got(h, LARGE + SMALL);

	err = err ?: tell_buffer(h, h->payloads - 1, READ_ONCE(h->seen)) ?: go_on(h) ?:
	      hostile_await(&h->adverts, 2) ?: answer(h, SDP_MID_SENDSM, 0, SDP_FLAG_REQ_PIPE) ?:
	      got(h, 2 * LARGE + SMALL);
	if (err)
		return err;
	if (h->came[SDP_MID_RDMA_WR_COMPL] || *(u8 *)sg_virt(&h->shown.sg) != 0x5a)
		return -EPERM;
	return tell_buffer(h, h->payloads, READ_ONCE(h->seen)) ?: go_on(h) ?: written(h, LARGE) ?:
	       got(h, 3 * LARGE + SMALL);
}

/* C8: the peer's offer is on its way when it is told of a buffer: that is written into. */
int hostile_crossed(struct hostile *h)
{
	int err = teach(h) ?: go_on(h) ?: hostile_await(&h->adverts, 2);

	return err ?: tell_buffer(h, h->payloads, h->told.h.mseq - 1) ?: written(h, LARGE) ?:
	       got(h, 2 * LARGE);
}

/* ... and when a part of the offer has been read: what follows is written. */
int hostile_crossed_partly(struct hostile *h)
{
	int err = teach(h) ?: go_on(h) ?: hostile_await(&h->adverts, 2);

	return err ?: read_some(h, 0, PIECE) ?: answer(h, SDP_MID_RDMA_RD_COMPL, PIECE, 0) ?:
	       tell_buffer(h, h->payloads, READ_ONCE(h->seen)) ?: written(h, LARGE - PIECE) ?:
	       got(h, 2 * LARGE);
}

/* The peer's reader tells of its memory. */
static int await_buffer(struct hostile *h)
{
	return hostile_say(h, SDP_MID_MODE_CHANGE, 0) ?: go_on(h) ?: hostile_await_buffer(h);
}

/* The next @n bytes of our stream are written into the peer's buffer, @at from its beginning. */
static int write_at(struct hostile *h, u32 at, u32 n)
{
	struct sdp_region to = h->told.sink;
	int err = 0;

	for (to.va += at; n && !err; to.va += to.len, n -= to.len) {
		to.len = min_t(u32, n, PIECE);
		fill(h, h->send, to.len);
		err = hostile_rdma(h, IB_WR_RDMA_WRITE, &to);
	}
	return err;
}

static int write_some(struct hostile *h, u32 n)
{
	return write_at(h, 0, n);
}

static int report(struct hostile *h, u32 n)
{
	return answer(h, SDP_MID_RDMA_WR_COMPL, n, 0);
}

/*
 * Two reports of one buffer (wire section 8). The reader has enough, and takes the rest back,
 * which is answered; the next one is filled.
 */
int hostile_several(struct hostile *h)
{
	int err = h->peer.max_adverts == 1 ? await_buffer(h) : -EPROTO;

	err = err ?: write_at(h, 0, PIECE) ?: write_at(h, PIECE, PIECE) ?: report(h, PIECE) ?:
	      report(h, PIECE) ?: hostile_await(&h->came[SDP_MID_SINK_CANCEL], 1) ?:
	      answer(h, SDP_MID_SINK_CANCEL_ACK, 0, 0) ?: hostile_await_buffer(h);
	return err ?: write_some(h, LARGE - 2 * PIECE) ?: report(h, LARGE - 2 * PIECE) ?:
	       go_on(h) ?: got(h, SMALL);
}

/*
 * One report of each, which ends it though there is room: then there is nothing to be taken back,
 * and no answer. The reader asks once, and then knows.
 */
int hostile_once(struct hostile *h)
{
	int err = await_buffer(h);

	err = err ?: write_some(h, PIECE) ?: report(h, PIECE) ?:
	      hostile_await(&h->came[SDP_MID_SINK_CANCEL], 1) ?: hostile_await_buffer(h) ?:
	      write_some(h, PIECE) ?: report(h, PIECE) ?: hostile_await_buffer(h) ?:
	      write_some(h, LARGE - 2 * PIECE) ?: report(h, LARGE - 2 * PIECE) ?: go_on(h) ?:
	      got(h, SMALL);
	return err ?: h->came[SDP_MID_SINK_CANCEL] != 1 ? -EPERM : 0;
}

/* The second report is of more than there is room for. */
int hostile_reports_beyond(struct hostile *h)
{
	return await_buffer(h) ?: write_some(h, PIECE) ?: report(h, PIECE) ?:
	       report(h, LARGE - PIECE + 1);
}

/* C8, the other way round: our offer crosses the peer's buffer, and is nothing to anybody. */
int hostile_crosses(struct hostile *h)
{
	struct sdp_msg offer = {
		.h.mid = SDP_MID_SRC_AVAIL, .src = { .len = LARGE, .rkey = 1, .va = 4096 },
	};
	int err = await_buffer(h);

	err = err ?: say(h, &offer, h->told.h.mseq - 1) ?: write_some(h, LARGE) ?:
	      answer(h, SDP_MID_RDMA_WR_COMPL, LARGE, 0) ?: go_on(h) ?: got(h, SMALL);
	return err ?: h->came[SDP_MID_SENDSM] || h->came[SDP_MID_RDMA_RD_COMPL] ? -EPERM : 0;
}

/* An offer is not answered. */
int hostile_offer_silent(struct hostile *h)
{
	return hostile_await(&h->adverts, 1);
}

/* A part of it is read. */
int hostile_offer_silent_partly(struct hostile *h)
{
	return hostile_await(&h->adverts, 1) ?: read_some(h, h->told.payload_len, PIECE) ?:
	       answer(h, SDP_MID_RDMA_RD_COMPL, PIECE, 0);
}

/* The adapter is silent, too. */
int hostile_offer_gone(struct hostile *h)
{
	return hostile_await(&h->adverts, 1) ?: hostile_fall_silent(h);
}

/* It is cancelled, and the rest comes in messages; it is right. */
int hostile_offer_cancelled(struct hostile *h)
{
	return hostile_await(&h->came[SDP_MID_SRC_CANCEL], 1) ?:
	       answer(h, SDP_MID_SENDSM, 0, 0) ?: got(h, LARGE);
}

/* Nothing is written into a buffer, and a cancel is not answered. */
int hostile_buffer_silent(struct hostile *h)
{
	return await_buffer(h);
}

/* It is written into, and nobody says so. */
int hostile_buffer_silent_written(struct hostile *h)
{
	return await_buffer(h) ?: write_some(h, PIECE);
}

int hostile_buffer_gone(struct hostile *h)
{
	return await_buffer(h) ?: hostile_fall_silent(h);
}

/* It is cancelled, which is answered. */
int hostile_buffer_cancelled(struct hostile *h)
{
	return await_buffer(h) ?: hostile_await(&h->came[SDP_MID_SINK_CANCEL], 1) ?:
	       answer(h, SDP_MID_SINK_CANCEL_ACK, 0, 0) ?: go_on(h);
}
