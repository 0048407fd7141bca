// SPDX-License-Identifier: GPL-2.0
/*
 * Misuse of advertised memory: beyond its ends, in the wrong direction, or after the call.
 *
 * None of these accesses may move a byte.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "hostile.h"

/* Bytes of an access; half of them lie beyond an end, where that is tested. */
#define BYTES		32

/*
 * The peer's adapter must have refused the access, by an answer or by none: soft-RoCE reports the
 * access to AF_SDP first and answers afterwards, and when AF_SDP has ended the queue pair in
 * between, the answer is not sent. The case expects the connection's end in addition.
 */
static int refused(struct hostile *h, int err)
{
	if (!err)
		return -EPERM;
	if (err == -EIO && (h->sent_status == IB_WC_REM_ACCESS_ERR ||
			    h->sent_status == IB_WC_RETRY_EXC_ERR))
		return -EIO;
	pr_info("sdp_hostile: a key was refused by error %d, status %s\n", err,
		ib_wc_status_msg(h->sent_status));
	return -EPROTO;
}

/* Reports the whole SrcAvail as read, and waits until the call is over: a small write follows. */
static int finish_reading(struct hostile *h)
{
	h->count = h->told.src.len - h->told.payload_len;
	return hostile_say(h, SDP_MID_RDMA_RD_COMPL, 0) ?: hostile_await(&h->datas, 1);
}

/* Accesses the memory advertised last, at offset @at. */
static int move_at(struct hostile *h, enum ib_wr_opcode opcode, s64 at)
{
	struct sdp_region where = h->told.src;

	where.va += at;
	where.len = BYTES;
	return hostile_rdma(h, opcode, &where);
}

static int read_at(struct hostile *h, s64 at)
{
	return move_at(h, IB_WR_RDMA_READ, at);
}

static int write_at(struct hostile *h, s64 at)
{
	return move_at(h, IB_WR_RDMA_WRITE, at);
}

/* The regular use: the connection continues. */
static int key_read(struct hostile *h)
{
	return hostile_await(&h->adverts, 1) ?: read_at(h, 0) ?:
	       read_at(h, h->told.src.len - BYTES) ?: finish_reading(h);
}

static int key_read_late(struct hostile *h)
{
	return key_read(h) ?: refused(h, read_at(h, 0));
}

static int key_read_before(struct hostile *h)
{
	return hostile_await(&h->adverts, 1) ?: refused(h, read_at(h, -BYTES / 2));
}

static int key_read_beyond(struct hostile *h)
{
	return hostile_await(&h->adverts, 1) ?: refused(h, read_at(h, h->told.src.len - BYTES / 2));
}

static int key_write_srcavail(struct hostile *h)
{
	return hostile_await(&h->adverts, 1) ?: refused(h, write_at(h, 0));
}

/* Makes the peer's reader send a SinkAvail with its next read. */
static int await_buffer(struct hostile *h)
{
	return hostile_say(h, SDP_MID_MODE_CHANGE, 0) ?: hostile_say(h, SDP_MID_DATA, 1) ?:
	       hostile_await_buffer(h);
}

/* The regular use. The reader's next SinkAvail shows that the call is over. */
static int key_write(struct hostile *h)
{
	int err = await_buffer(h) ?: write_at(h, 0);

	h->count = BYTES;
	return err ?: hostile_say(h, SDP_MID_RDMA_WR_COMPL, 0) ?: hostile_await_buffer(h);
}

static int key_write_late(struct hostile *h)
{
	struct sdp_msg first;
	int err = await_buffer(h);

	first = h->told;
	err = err ?: write_at(h, 0);
	h->count = BYTES;
	err = err ?: hostile_say(h, SDP_MID_RDMA_WR_COMPL, 0) ?: hostile_await_buffer(h);
	h->told = first;
	return err ?: refused(h, write_at(h, 0));
}

static int key_write_before(struct hostile *h)
{
	return await_buffer(h) ?: refused(h, write_at(h, -BYTES / 2));
}

static int key_write_beyond(struct hostile *h)
{
	return await_buffer(h) ?: refused(h, write_at(h, h->told.src.len - BYTES / 2));
}

static int key_read_buffer(struct hostile *h)
{
	return await_buffer(h) ?: refused(h, read_at(h, 0));
}

const struct hostile_message hostile_keys[] = {
	{ "key-read",			key_read },
	{ "key-read-late",		key_read_late },
	{ "key-read-before",		key_read_before },
	{ "key-read-beyond",		key_read_beyond },
	{ "key-write-srcavail",		key_write_srcavail },
	{ "key-write",			key_write },
	{ "key-write-late",		key_write_late },
	{ "key-write-before",		key_write_before },
	{ "key-write-beyond",		key_write_beyond },
	{ "key-read-buffer",		key_read_buffer },
	{ },
};
