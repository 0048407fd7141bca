// SPDX-License-Identifier: GPL-2.0
/*
 * Scripted large transfers: exchanges that cross, are void, or break off after a step.
 *
 * An advertisement of the peer crosses ours, or is void when it arrives (requirements C7, C8). No
 * case violates the protocol. The peer's program is "peer", whose stream is known;
 * net.sdp.mode_after is 1.
 */
#include <linux/module.h>

#include "hostile.h"

/* Bytes that the other program writes or reads in one call. */
#define LARGE		16384
/* Bytes that it writes in between, as a message. */
#define SMALL		100
/* Bytes moved by one RDMA request. */
#define PIECE		HOSTILE_SEND_SIZE

/* The stream that the program "peer" sends and expects. */
static u8 byte_at(u32 at)
{
	return (at % 251 * 7 + 3) % 251;
}

/**
 * hostile_follow() - compare the next bytes of the peer's stream
 * @h: connection
 * @data: the bytes
 * @n: number of bytes
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

/* Waits for @n bytes of the stream in total, and checks them. */
static int got(struct hostile *h, u32 n)
{
	int err = hostile_await(&h->stream, n);

	return err ?: h->wrong || h->stream != n ? -EBADMSG : 0;
}

/* Fills in the next @n bytes of our own stream, as the program "peer" would send them. */
static void fill(struct hostile *h, u8 *data, u32 n)
{
	while (n--)
		*data++ = byte_at(h->said++);
}

/* Sends one byte, for which the other program waits before it continues. */
static int go_on(struct hostile *h)
{
	u32 len = hostile_header(h, SDP_MID_DATA, 1);

	fill(h, h->send + len - 1, 1);
	return hostile_send(h, len);
}

/*
 * Sends a message whose fields the caller has set; the remaining ones are those of an honest
 * peer.
 */
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

/* Reads the next @bytes of the advertised memory, from offset @at on. */
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

/*
 * Reads the first SrcAvail with a reader that was waiting before, so that the direction becomes
 * Pipelined.
 */
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

/* In other cases the queue pair gives the peer no access to memory: allow it here. */
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

/* Sends a SinkAvail with this NonDiscards, acknowledging the messages up to @ack. */
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

/* Waits until the peer has written the next @n bytes of its stream to our memory. */
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
 * C7: a SinkAvail with an old NonDiscards, because a message was sent meanwhile. The peer writes
 * nothing to it and sends the data of its SrcAvail in messages. A SinkAvail that is not stale is
 * used afterwards.
 */
static int stale(struct hostile *h)
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

/* C8: our SinkAvail crosses the peer's SrcAvail: the peer writes to our memory. */
static int crossed(struct hostile *h)
{
	int err = teach(h) ?: go_on(h) ?: hostile_await(&h->adverts, 2);

	return err ?: tell_buffer(h, h->payloads, h->told.h.mseq - 1) ?: written(h, LARGE) ?:
	       got(h, 2 * LARGE);
}

/* C8 after a part of the SrcAvail was read: the peer writes the remainder. */
static int crossed_partly(struct hostile *h)
{
	int err = teach(h) ?: go_on(h) ?: hostile_await(&h->adverts, 2);

	return err ?: read_some(h, 0, PIECE) ?: answer(h, SDP_MID_RDMA_RD_COMPL, PIECE, 0) ?:
	       tell_buffer(h, h->payloads, READ_ONCE(h->seen)) ?: written(h, LARGE - PIECE) ?:
	       got(h, 2 * LARGE);
}

/* Waits until the peer's reader sends a SinkAvail. */
static int await_buffer(struct hostile *h)
{
	return hostile_say(h, SDP_MID_MODE_CHANGE, 0) ?: go_on(h) ?: hostile_await_buffer(h);
}

/* Writes the next @n bytes of our stream to the peer's memory, from offset @at on. */
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
 * Two reports for one SinkAvail (wire section 8). The reader has enough, and takes the remainder
 * back, which we answer. The next SinkAvail is filled.
 */
static int several(struct hostile *h)
{
	int err = h->peer.max_adverts == 1 ? await_buffer(h) : -EPROTO;

	err = err ?: write_at(h, 0, PIECE) ?: write_at(h, PIECE, PIECE) ?: report(h, PIECE) ?:
	      report(h, PIECE) ?: hostile_await(&h->came[SDP_MID_SINK_CANCEL], 1) ?:
	      answer(h, SDP_MID_SINK_CANCEL_ACK, 0, 0) ?: hostile_await_buffer(h);
	return err ?: write_some(h, LARGE - 2 * PIECE) ?: report(h, LARGE - 2 * PIECE) ?:
	       go_on(h) ?: got(h, SMALL);
}

/*
 * One report for each SinkAvail ends it though there is room left. So there is nothing to take
 * back, and we do not answer. The reader sends SinkCancel once, and then knows.
 */
static int once(struct hostile *h)
{
	int err = await_buffer(h);

	err = err ?: write_some(h, PIECE) ?: report(h, PIECE) ?:
	      hostile_await(&h->came[SDP_MID_SINK_CANCEL], 1) ?: hostile_await_buffer(h) ?:
	      write_some(h, PIECE) ?: report(h, PIECE) ?: hostile_await_buffer(h) ?:
	      write_some(h, LARGE - 2 * PIECE) ?: report(h, LARGE - 2 * PIECE) ?: go_on(h) ?:
	      got(h, SMALL);
	return err ?: h->came[SDP_MID_SINK_CANCEL] != 1 ? -EPERM : 0;
}

/* The second report exceeds the remaining room. */
static int reports_beyond(struct hostile *h)
{
	return await_buffer(h) ?: write_some(h, PIECE) ?: report(h, PIECE) ?:
	       report(h, LARGE - PIECE + 1);
}

/* C8 in the other direction: our SrcAvail crosses the peer's SinkAvail, and both ends ignore it. */
static int crosses(struct hostile *h)
{
	struct sdp_msg srcavail = {
		.h.mid = SDP_MID_SRC_AVAIL, .src = { .len = LARGE, .rkey = 1, .va = 4096 },
	};
	int err = await_buffer(h);

	err = err ?: say(h, &srcavail, h->told.h.mseq - 1) ?: write_some(h, LARGE) ?:
	      answer(h, SDP_MID_RDMA_WR_COMPL, LARGE, 0) ?: go_on(h) ?: got(h, SMALL);
	return err ?: h->came[SDP_MID_SENDSM] || h->came[SDP_MID_RDMA_RD_COMPL] ? -EPERM : 0;
}

/* A SrcAvail is not answered. */
static int srcavail_silent(struct hostile *h)
{
	return hostile_await(&h->adverts, 1);
}

/* Only a part of a SrcAvail is read. */
static int srcavail_silent_partly(struct hostile *h)
{
	return hostile_await(&h->adverts, 1) ?: read_some(h, h->told.payload_len, PIECE) ?:
	       answer(h, SDP_MID_RDMA_RD_COMPL, PIECE, 0);
}

/* A SrcAvail is not answered, and neither does the adapter answer. */
static int srcavail_gone(struct hostile *h)
{
	return hostile_await(&h->adverts, 1) ?: hostile_fall_silent(h);
}

/* A SrcAvail is cancelled, and the remainder comes in messages, with the right contents. */
static int srcavail_cancelled(struct hostile *h)
{
	return hostile_await(&h->came[SDP_MID_SRC_CANCEL], 1) ?:
	       answer(h, SDP_MID_SENDSM, 0, 0) ?: got(h, LARGE);
}

/*
 * A SrcAvail is cancelled, because its bytes have room in the send buffer and the reader is late.
 * The remainder is advertised again, from a copy.
 */
static int srcavail_late(struct hostile *h)
{
	int err = hostile_await(&h->came[SDP_MID_SRC_CANCEL], 1) ?:
		  answer(h, SDP_MID_SENDSM, 0, 0) ?: hostile_await(&h->adverts, 2);
	u32 inlined = h->told.payload_len, rest = h->told.src.len - inlined;

	return err ?: read_some(h, inlined, rest) ?:
	       answer(h, SDP_MID_RDMA_RD_COMPL, rest, 0) ?: got(h, LARGE) ?: go_on(h);
}

/* Nothing is written for a SinkAvail, and its cancellation is not answered. */
static int buffer_silent(struct hostile *h)
{
	return await_buffer(h);
}

/* The memory of a SinkAvail is written to, but no report follows. */
static int buffer_silent_written(struct hostile *h)
{
	return await_buffer(h) ?: write_some(h, PIECE);
}

static int buffer_gone(struct hostile *h)
{
	return await_buffer(h) ?: hostile_fall_silent(h);
}

/* A SinkAvail is cancelled, which is answered. */
static int buffer_cancelled(struct hostile *h)
{
	return await_buffer(h) ?: hostile_await(&h->came[SDP_MID_SINK_CANCEL], 1) ?:
	       answer(h, SDP_MID_SINK_CANCEL_ACK, 0, 0) ?: go_on(h);
}

const struct hostile_message hostile_modes[] = {
	{ "mode-stale",			stale },
	{ "mode-crossed",		crossed },
	{ "mode-crossed-partly",	crossed_partly },
	{ "mode-crosses",		crosses },
	{ "mode-several",		several },
	{ "mode-once",			once },
	{ "mode-beyond",		reports_beyond },
	{ "srcavail-silent",		srcavail_silent },
	{ "srcavail-silent-partly",	srcavail_silent_partly },
	{ "srcavail-gone",		srcavail_gone },
	{ "srcavail-cancelled",		srcavail_cancelled },
	{ "srcavail-late",		srcavail_late },
	{ "buffer-silent",		buffer_silent },
	{ "buffer-silent-written",	buffer_silent_written },
	{ "buffer-gone",		buffer_gone },
	{ "buffer-cancelled",		buffer_cancelled },
	{ },
};
