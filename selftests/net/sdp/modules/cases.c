// SPDX-License-Identifier: GPL-2.0
/*
 * The named cases: what the hostile peer sends, and when it stops sending.
 *
 * A case begins as an honest peer would and differs in one thing. Cases of the first list spoil
 * the request, those of the second list (and of keys.c, modes.c and rings.c) a message on an
 * established connection, and those of the third list the course of the exchange. The fourth list
 * has forged addresses.
 */
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "hostile.h"

/* A Hello in which @n bytes from @at on have another value, or another fault of a request. */
static const struct {
	const char *name;
	u8 at, n, value;
	u8 port, mtu;
	bool empty;
} requests[] = {
	{ "hello-short-len",		7, 1, 60 },
	{ "hello-mid",			0, 1, SDP_MID_DATA },
	{ "hello-flags",		1, 1, SDP_FLAG_OOB_PEND },
	{ "hello-mseq",			11, 1, 1 },
	{ "hello-version-1",		16, 1, 0x11 },
	{ "hello-ip-version",		17, 1, 0x50 },
	{ "hello-bufs-0",		2, 2, 0 },
	{ "hello-bufs-65535",		2, 2, 0xff },
	{ "hello-adverts-0",		19, 1, 0 },
	{ "hello-recvsize-0",		24, 4, 0 },
	{ "hello-recvsize-huge",	24, 4, 0xff },
	{ "hello-port-0",		28, 2, 0 },
	/* No address of the lab ends in 64. */
	{ "hello-wrong-source",		32 + 15, 1, 0x40 },
	{ "hello-wrong-destination",	48 + 15, 1, 0x40 },
	{ "hello-padding",		32, 1, 1 },
	{ "hello-garbage",		0, SDP_HELLO_LEN, 0xa5 },
	{ "hello-zeroes",		0, SDP_HELLO_LEN, 0 },
	/* By agreement with the script, nothing listens on the next port. */
	{ "no-listener",		.port = 1 },
	{ "no-private-data",		.empty = true },
	/* A packet length that does not exist. */
	{ "mtu-odd",			.mtu = 15 },
};

/**
 * hostile_header() - build the next message in @h->send, as an honest peer would
 * @h: connection, ready
 * @mid: kind of message
 * @payload: bytes of payload
 *
 * Return: length of the message.
 */
u32 hostile_header(struct hostile *h, u8 mid, u32 payload)
{
	struct sdp_msg msg = {
		.h = {
			.mid = mid, .bufs = HOSTILE_BUFS, .mseq = ++h->mseq,
			.mseq_ack = READ_ONCE(h->seen),
		},
		.payload_len = payload,
	};
	u32 len;

	h->acked = msg.h.mseq_ack;
	switch (mid) {
	case SDP_MID_SRC_AVAIL:
	case SDP_MID_SINK_AVAIL:
		msg.src.len = 100000;
		msg.src.rkey = 1;
		msg.src.va = 4096;
		break;
	case SDP_MID_RDMA_RD_COMPL:
	case SDP_MID_RDMA_WR_COMPL:
		msg.count = h->count ?: 100;
		break;
	case SDP_MID_MODE_CHANGE:
		msg.mode = SDP_MODE_PIPELINED;
		break;
	case SDP_MID_CHRCVBUF:
	case SDP_MID_CHRCVBUF_ACK:
		msg.size = 4096;
		break;
	case SDP_MID_RING_ASK:
		msg.size = HOSTILE_RING;
		break;
	case SDP_MID_RING_AVAIL:
		msg.ring = (struct sdp_region){ .len = HOSTILE_RING, .rkey = 1, .va = 4096 };
		break;
	}
	len = sdp_wire_build(h->send, &msg);
	memset(h->send + len, 0x5a, payload);
	return len + payload;
}

/**
 * hostile_say() - send a message as an honest peer would build it
 * @h: connection, ready
 * @mid: kind of message
 * @payload: bytes of payload
 *
 * Return: as hostile_send().
 */
int hostile_say(struct hostile *h, u8 mid, u32 payload)
{
	return hostile_send(h, hostile_header(h, mid, payload));
}

/* Sends a message of a kind that does not exist. */
static int say_unknown(struct hostile *h)
{
	u32 len = hostile_header(h, SDP_MID_DATA, 0);

	h->send[0] = 0x42;
	return hostile_send(h, len);
}

static int msg_empty(struct hostile *h)		{ return hostile_send(h, 0); }

/* A key that does not exist. */
static int msg_revoke_none(struct hostile *h)
{
	return hostile_send_revoking(h, hostile_header(h, SDP_MID_DATA, 10), 0xdead00);
}

/* A key that exists on the device of both ends, but does not belong to the connection. */
static int msg_revoke_foreign(struct hostile *h)
{
	struct ib_mr *mr = ib_alloc_mr(h->pd, IB_MR_TYPE_MEM_REG, 1);
	int err;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	err = hostile_send_revoking(h, hostile_header(h, SDP_MID_DATA, 10), mr->rkey);
	ib_dereg_mr(mr);
	return err;
}

/* Accesses memory that was never advertised. */
static int move_guessed(struct hostile *h, enum ib_wr_opcode opcode)
{
	struct sdp_region guess = { .len = 8, .rkey = 0x1234, .va = 0x7654321000 };

	return hostile_rdma(h, opcode, &guess);
}

static int msg_write_guessed(struct hostile *h)	{ return move_guessed(h, IB_WR_RDMA_WRITE); }
static int msg_read_guessed(struct hostile *h)	{ return move_guessed(h, IB_WR_RDMA_READ); }

/* Waits for a message from the other program: then it has accepted the connection. */
static int await_message(struct hostile *h)
{
	return hostile_await(&h->seen, 1);
}

/*
 * The first one is not answered before the small receives are used up. Before the connection is
 * accepted, it would be refused at once.
 */
static int msg_chrcvbuf_twice(struct hostile *h)
{
	return await_message(h) ?: hostile_say(h, SDP_MID_CHRCVBUF, 0) ?:
	       hostile_say(h, SDP_MID_CHRCVBUF, 0);
}

/* The peer advertises memory, but its adapter does not answer reads. */
static int msg_srcavail_silent(struct hostile *h)
{
	return hostile_say(h, SDP_MID_SRC_AVAIL, 1) ?: hostile_fall_silent(h);
}

static int msg_short(struct hostile *h)
{
	hostile_header(h, SDP_MID_DATA, 0);
	return hostile_send(h, 8);
}

/* A message without its extended header, and a Len to match. */
static int msg_no_header(struct hostile *h)
{
	hostile_header(h, SDP_MID_SRC_AVAIL, 0);
	h->send[7] = SDP_BSDH_LEN;
	return hostile_send(h, SDP_BSDH_LEN);
}

static int msg_mseq_repeat(struct hostile *h)
{
	int err = hostile_say(h, SDP_MID_DATA, 0);

	h->mseq--;
	return err ?: hostile_say(h, SDP_MID_DATA, 0);
}

static int msg_ack_ahead(struct hostile *h)
{
	h->seen += 1000;
	return hostile_say(h, SDP_MID_DATA, 0);
}

/*
 * Messages beyond what was granted. Nothing is acknowledged, so the peer soon has no credit left
 * for its own grants, while its receives are posted again at once.
 */
static int msg_overrun(struct hostile *h)
{
	u32 acked = h->acked;
	int i, err = 0;

	for (i = 0; i < 500 && !err && READ_ONCE(h->end) == HOSTILE_OPEN; i++) {
		hostile_header(h, SDP_MID_DATA, 0);
		put_unaligned_be32(acked, h->send + 12);
		err = hostile_send(h, SDP_BSDH_LEN);
	}
	return err;
}

static int msg_mseq_skip(struct hostile *h)
{
	h->mseq++;
	return hostile_say(h, SDP_MID_DATA, 0);
}

/*
 * What follows an honest message: a function, or a message that is legal by itself, or an honest
 * message with @n bytes changed, or one message after another.
 */
#define PLAIN(mid, payload)			NULL, mid, payload
#define SPOILED(mid, payload, at, n, value)	NULL, mid, payload, at, n, value
#define AFTER(mid1, payload1, mid, payload)	NULL, mid, payload, \
						.first = mid1, .first_payload = payload1

static const struct hostile_message messages[] = {
	{ "msg-honest",			PLAIN(SDP_MID_DATA, 0) },
	{ "msg-empty",			msg_empty },
	{ "msg-write-imm",		hostile_write_imm },
	{ "msg-write-guessed",		msg_write_guessed },
	{ "msg-read-guessed",		msg_read_guessed },
	{ "msg-revoke-none",		msg_revoke_none },
	{ "msg-revoke-foreign",		msg_revoke_foreign },
	{ "msg-short",			msg_short },
	{ "msg-no-header",		msg_no_header },
	{ "msg-too-long",		PLAIN(SDP_MID_DATA, 3000) },
	{ "msg-wrong-len",		SPOILED(SDP_MID_DATA, 10, 7, 1, 99) },
	{ "msg-huge-len",		SPOILED(SDP_MID_DATA, 10, 4, 1, 0xff) },
	{ "msg-mseq-skip",		msg_mseq_skip },
	{ "msg-mseq-repeat",		msg_mseq_repeat },
	{ "msg-ack-ahead",		msg_ack_ahead },
	{ "msg-ack-back",		SPOILED(SDP_MID_DATA, 0, 12, 4, 0xff) },
	{ "msg-bufs-65535",		SPOILED(SDP_MID_DATA, 0, 2, 2, 0xff) },
	/* The Hello has granted more than two. */
	{ "msg-bufs-takes-back",	SPOILED(SDP_MID_DATA, 0, 3, 1, 2) },
	{ "msg-unknown-mid",		say_unknown },
	{ "msg-hello-again",		SPOILED(SDP_MID_DATA, SDP_HELLO_LEN - SDP_BSDH_LEN, 0, 1,
						SDP_MID_HELLO) },
	{ "msg-flags-reserved",		SPOILED(SDP_MID_DATA, 0, 1, 1, 0x80) },
	{ "msg-oob-empty",		SPOILED(SDP_MID_DATA, 0, 1, 1, SDP_FLAG_OOB_PRES) },
	{ "msg-payload-on-control",	PLAIN(SDP_MID_DISCONN, 8) },
	{ "msg-mode-field",		SPOILED(SDP_MID_MODE_CHANGE, 0, SDP_BSDH_LEN, 1, 0xa0) },
	{ "msg-srcavail-wrap",		SPOILED(SDP_MID_SRC_AVAIL, 1, SDP_BSDH_LEN + 8, 8, 0xff) },
	/* 2 GiB. */
	{ "msg-srcavail-huge",		SPOILED(SDP_MID_SRC_AVAIL, 1, SDP_BSDH_LEN, 1, 0x80) },
	{ "msg-srcavail-key",		PLAIN(SDP_MID_SRC_AVAIL, 1) },
	{ "msg-srcavail-empty",		PLAIN(SDP_MID_SRC_AVAIL, 0) },
	/* The first one is unanswered. */
	{ "msg-srcavail-twice",		AFTER(SDP_MID_SRC_AVAIL, 1, SDP_MID_SRC_AVAIL, 1) },
	{ "msg-srcavail-data",		AFTER(SDP_MID_SRC_AVAIL, 1, SDP_MID_DATA, 10) },
	{ "msg-srcavail-silent",	msg_srcavail_silent },
	{ "msg-srcavail-disconn",	AFTER(SDP_MID_SRC_AVAIL, 1, SDP_MID_DISCONN, 0) },
	{ "msg-rdcompl",		PLAIN(SDP_MID_RDMA_RD_COMPL, 0) },
	{ "msg-cancel",			PLAIN(SDP_MID_SRC_CANCEL, 0) },
	{ "msg-sinkavail",		PLAIN(SDP_MID_SINK_AVAIL, 0) },
	/* Leaves a mode in which the direction is not. */
	{ "msg-mode",			SPOILED(SDP_MID_MODE_CHANGE, 0, SDP_BSDH_LEN, 1, 0x10) },
	{ "msg-wrcompl",		PLAIN(SDP_MID_RDMA_WR_COMPL, 0) },
	/* Pipelined mode, with no SinkAvail outstanding. */
	{ "msg-wrcompl-no-buffer",	AFTER(SDP_MID_MODE_CHANGE, 0, SDP_MID_RDMA_WR_COMPL, 0) },
	/* In Pipelined mode a SrcAvail carries no payload. */
	{ "msg-srcavail-piece",		AFTER(SDP_MID_MODE_CHANGE, 0, SDP_MID_SRC_AVAIL, 1) },
	{ "msg-sinkcancel",		PLAIN(SDP_MID_SINK_CANCEL, 0) },
	{ "msg-sinkcancel-ack",		PLAIN(SDP_MID_SINK_CANCEL_ACK, 0) },
	/* To the mode that is in effect already. */
	{ "msg-mode-again",		SPOILED(SDP_MID_MODE_CHANGE, 0, SDP_BSDH_LEN, 1, 0x90) },
	{ "msg-chrcvbuf",		PLAIN(SDP_MID_CHRCVBUF, 0) },
	{ "msg-chrcvbuf-twice",		msg_chrcvbuf_twice },
	/* A message larger than the posted receives, before the answer. */
	{ "msg-chrcvbuf-hasty",		AFTER(SDP_MID_CHRCVBUF, 0, SDP_MID_DATA, 3000) },
	{ "msg-chrcvbuf-ack",		PLAIN(SDP_MID_CHRCVBUF_ACK, 0) },
	{ "msg-sendsm",			PLAIN(SDP_MID_SENDSM, 0) },
	{ "msg-abort-early",		PLAIN(SDP_MID_ABORT, 0) },
	{ "msg-after-disconn",		AFTER(SDP_MID_DISCONN, 0, SDP_MID_DATA, 10) },
	{ "msg-second-disconn",		AFTER(SDP_MID_DISCONN, 0, SDP_MID_DISCONN, 0) },
	{ "msg-overrun",		msg_overrun },
	{ "msg-suspend",		PLAIN(SDP_MID_SUSPEND, 0) },
	{ "msg-suspend-ack",		PLAIN(SDP_MID_SUSPEND_ACK, 0) },
	/* The Hellos did not agree on rings. */
	{ "msg-ring-ask",		PLAIN(SDP_MID_RING_ASK, 0) },
	{ "msg-ring-avail",		PLAIN(SDP_MID_RING_AVAIL, 0) },
	{ },
};

/* Sets the Hello's ring fields as the name of the case says. */
static void wish_for_rings(struct hostile_req *req, const char *name)
{
	struct sdp_hello hello;
	bool nic = strstarts(name, "nic-");

	if (!nic && !strstarts(name, "ring-"))
		return;
	sdp_hello_parse(req->private, SDP_HELLO_LEN, &hello);
	hello.rings = true;
	hello.scheme = nic ? SDP_BY_NIC : SDP_BY_RDMA;
	hello.window = HOSTILE_WINDOW;
	sdp_hello_build(req->private, &hello);
}

/**
 * hostile_honest_req() - build a request as an honest peer does
 * @req: filled in
 * @port: listener's port
 */
void hostile_honest_req(struct hostile_req *req, u16 port)
{
	struct sdp_hello hello = {
		.bufs = HOSTILE_BUFS, .version = SDP_VERSION, .ip_version = 4, .max_adverts = 1,
		.wanted_recv_size = HOSTILE_RECV_SIZE, .recv_size = HOSTILE_RECV_SIZE,
		.port = 7777,
	};
	__be32 from = in_aton(hostile_from), to = in_aton(hostile_to);

	memset(req, 0, sizeof(*req));
	memcpy(hello.src + 12, &from, 4);
	memcpy(hello.dst + 12, &to, 4);
	req->port = port;
	req->rnr_retry = 6;
	req->private_len = SDP_HELLO_LEN;
	sdp_hello_build(req->private, &hello);
}

/* Makes a connection with a resolved path, which posts @recvs receives. */
static struct hostile *resolve(u16 port, struct list_head *conns, u32 recvs)
{
	struct hostile *h = hostile_make();
	int err;

	if (!h)
		return ERR_PTR(-ENOMEM);
	list_add(&h->node, conns);
	h->recvs = recvs;
	err = hostile_resolve(h, in_aton(hostile_from), in_aton(hostile_to), port);
	return err ? ERR_PTR(err) : h;
}

/**
 * hostile_begin() - make a connection and send its REQ
 * @req: the REQ
 * @conns: list to which the connection is added
 *
 * Return: the connection or an ERR_PTR().
 */
struct hostile *hostile_begin(const struct hostile_req *req, struct list_head *conns)
{
	struct hostile *h = resolve(req->port, conns, HOSTILE_RECVS);
	int err;

	if (IS_ERR(h))
		return h;
	err = hostile_request(h, req);
	return err ? ERR_PTR(err) : h;
}

static int run_request(const struct hostile_req *req, struct list_head *conns)
{
	struct hostile *h = hostile_begin(req, conns);
	int err;

	if (IS_ERR(h))
		return PTR_ERR(h);
	err = hostile_answer(h);
	return err == -ECONNREFUSED ? 0 : err;
}

/* Makes an established connection for the case @name. */
static struct hostile *stand_for(const char *name, u16 port, struct list_head *conns, bool rtu)
{
	struct hostile_req req;
	struct hostile *h;
	int err;

	hostile_honest_req(&req, port);
	wish_for_rings(&req, name);
	h = hostile_begin(&req, conns);
	if (IS_ERR(h))
		return h;
	err = hostile_answer(h);
	if (!err)
		err = hostile_ready(h);
	if (!err && rtu)
		err = ib_send_cm_rtu(h->cm, NULL, 0);
	return err ? ERR_PTR(err) : h;
}

static struct hostile *stand(u16 port, struct list_head *conns, bool rtu)
{
	return stand_for("", port, conns, rtu);
}

static int say_message(struct hostile *h, const struct hostile_message *m)
{
	u32 len = hostile_header(h, m->mid, m->payload);

	memset(h->send + m->at, m->value, m->n);
	return hostile_send(h, len);
}

/*
 * An honest message comes first: it establishes the connection for certain, while the RTU may be
 * overtaken by later messages. The peer may break the queue pair during the misbehaviour, so -EIO
 * is no error.
 */
static int run_message(const struct hostile_message *m, u16 port, struct list_head *conns)
{
	struct hostile *h = stand_for(m->name, port, conns, true);
	int err;

	if (IS_ERR(h))
		return PTR_ERR(h);
	err = hostile_say(h, SDP_MID_DATA, 0);
	if (err)
		return err;
	if (m->first)
		err = hostile_say(h, m->first, m->first_payload);
	if (!err)
		err = m->speak ? m->speak(h) : m->imm ? hostile_place(h, m) : say_message(h, m);
	return err == -EIO ? 0 : err;
}

static int silent(u16 port, struct list_head *conns, u8 cm_timeout)
{
	struct hostile_req req;
	struct hostile *h;

	hostile_honest_req(&req, port);
	req.cm_timeout = cm_timeout;
	h = hostile_begin(&req, conns);
	return IS_ERR(h) ? PTR_ERR(h) : hostile_answer(h);
}

/* No RTU. The peer shall repeat its REP every 67 ms, or every two hours. */
static int course_no_rtu(u16 port, struct list_head *conns)
{
	return silent(port, conns, 14);
}

static int course_no_rtu_for_hours(u16 port, struct list_head *conns)
{
	return silent(port, conns, 31);
}

static int course_req_flood(u16 port, struct list_head *conns)
{
	struct hostile_req req;
	struct hostile *h;
	int i;

	hostile_honest_req(&req, port);
	for (i = 0; i < 30; i++) {
		h = hostile_begin(&req, conns);
		if (IS_ERR(h))
			return PTR_ERR(h);
	}
	list_for_each_entry(h, conns, node)
		hostile_answer(h);
	return 0;
}

static int run_flood(u16 port, u32 count, bool leaves, u8 cm_timeout, struct list_head *conns)
{
	struct hostile *h = resolve(port, conns, HOSTILE_RECVS);
	struct hostile_req req;

	hostile_honest_req(&req, port);
	req.cm_timeout = cm_timeout;
	return IS_ERR(h) ? PTR_ERR(h) : hostile_flood(h, &req, count, leaves);
}

/* A message instead of the RTU, which never comes: legal, and the peer must cope with it. */
static int course_early_message(u16 port, struct list_head *conns)
{
	struct hostile *h = stand(port, conns, false);

	return IS_ERR(h) ? PTR_ERR(h) : hostile_say(h, SDP_MID_DATA, 0);
}

/*
 * The first message is wrong, and there is no RTU. The queue pair may be gone before the message
 * is acknowledged; the peer's counters show that it has arrived.
 */
static int course_bad_early_message(u16 port, struct list_head *conns)
{
	struct hostile *h = stand(port, conns, false);
	int err = IS_ERR(h) ? PTR_ERR(h) : say_unknown(h);

	return err == -EIO ? 0 : err;
}

/*
 * A wrong first message after a while, with a REQ that makes the peer repeat its REP for a minute.
 * A peer that lost track of its REP would wait for that long.
 */
static int course_late_bad_message(u16 port, struct list_head *conns)
{
	struct hostile *h;
	int err;

	err = silent(port, conns, 21);
	if (err)
		return err;
	h = list_first_entry(conns, struct hostile, node);
	msleep(700);
	err = hostile_ready(h) ?: say_unknown(h);
	return err == -EIO ? 0 : err;
}

/* A forbidden read breaks the queue pair before the peer gets the RTU. */
static int course_early_read_guessed(u16 port, struct list_head *conns)
{
	struct hostile *h = stand(port, conns, false);
	int err;

	if (IS_ERR(h))
		return PTR_ERR(h);
	err = move_guessed(h, IB_WR_RDMA_READ);
	if (err != -EIO)
		return err ?: -EPROTO;
	/* The read is refused, and the connection may have ended by now. */
	err = ib_send_cm_rtu(h->cm, NULL, 0);
	return err == -EINVAL ? 0 : err;
}

static int course_ignores_dreq(u16 port, struct list_head *conns)
{
	struct hostile *h = stand(port, conns, true);

	if (IS_ERR(h))
		return PTR_ERR(h);
	h->no_drep = true;
	return hostile_say(h, SDP_MID_DATA, 0) ?: say_unknown(h);
}

/* Makes a connection that grants receives but posts only @recvs of them. */
static struct hostile *takes(u16 port, struct list_head *conns, u32 recvs, u8 rnr_retry)
{
	struct hostile *h = resolve(port, conns, recvs);
	struct hostile_req req;
	int err;

	if (IS_ERR(h))
		return h;
	h->stingy = true;
	hostile_honest_req(&req, port);
	req.rnr_retry = rnr_retry;
	err = hostile_request(h, &req) ?: hostile_answer(h) ?: hostile_ready(h) ?:
	      ib_send_cm_rtu(h->cm, NULL, 0) ?: hostile_say(h, SDP_MID_DATA, 0);
	return err ? ERR_PTR(err) : h;
}

/* The peer's messages find no receive, and shall be retried without limit. */
static int course_takes_nothing(u16 port, struct list_head *conns)
{
	return PTR_ERR_OR_ZERO(takes(port, conns, 0, 7));
}

/* The same with one retry. */
static int course_takes_nothing_twice(u16 port, struct list_head *conns)
{
	return PTR_ERR_OR_ZERO(takes(port, conns, 0, 1));
}

/* One receive at a time, at intervals, so most messages must be retried. */
static int course_takes_one_by_one(u16 port, struct list_head *conns)
{
	struct hostile *h = takes(port, conns, 1, 7);
	int i, err = PTR_ERR_OR_ZERO(h);

	for (i = 0; !err && i < 60 && !hostile_over(h, 0); i++) {
		msleep(20);
		err = hostile_post_one(h);
	}
	return err ?: hostile_await(&h->seen, 1);
}

/*
 * Sends empty messages, as many as the grants allow, until the peer ends the connection. The peer
 * answers every few messages with a new grant.
 */
static int course_chatters(u16 port, struct list_head *conns)
{
	struct hostile *h = stand(port, conns, true);
	unsigned long end = jiffies + 30 * HZ;
	int err = IS_ERR(h) ? PTR_ERR(h) : hostile_say(h, SDP_MID_DATA, 0) ?: await_message(h);

	while (!err && !hostile_over(h, 0)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		if (h->mseq < READ_ONCE(h->allowed))
			err = hostile_say(h, SDP_MID_DATA, 0);
		else
			usleep_range(1000, 2000);
	}
	/* The queue pair may fail before the DREQ arrives. */
	return err == -EIO ? 0 : err;
}

/* Frees the connection at once, which sends a REJ or a DREQ, or sends nothing. */
static int leave(struct hostile *h)
{
	if (IS_ERR(h))
		return PTR_ERR(h);
	list_del(&h->node);
	hostile_free(h);
	return 0;
}

static int course_leaves_after_req(u16 port, struct list_head *conns)
{
	struct hostile_req req;

	hostile_honest_req(&req, port);
	return leave(hostile_begin(&req, conns));
}

static int course_leaves_after_rep(u16 port, struct list_head *conns)
{
	return leave(stand(port, conns, false));
}

static int course_leaves_after_rtu(u16 port, struct list_head *conns)
{
	struct hostile *h = stand(port, conns, true);
	int err = IS_ERR(h) ? PTR_ERR(h) : hostile_say(h, SDP_MID_DATA, 0);

	return err ? err : leave(h);
}

static int course_leaves_after_disconn(u16 port, struct list_head *conns)
{
	struct hostile *h = stand(port, conns, true);
	int err = IS_ERR(h) ? PTR_ERR(h) : hostile_say(h, SDP_MID_DATA, 0) ?:
					   hostile_say(h, SDP_MID_DISCONN, 0);

	return err ? err : leave(h);
}

/* Addresses in a REQ and its Hello; IPv4 is mapped. NULL: the true address. */
static const struct {
	const char *name, *src, *dst;
} forged[] = {
	{ "forge-loopback",		"::ffff:127.0.0.1",	"::ffff:127.0.0.1" },
	{ "forge-loopback6",		"::1",			"::1" },
	{ "forge-source-loopback",	"::ffff:127.0.0.1",	NULL },
	{ "forge-source-multicast",	"::ffff:224.0.0.1",	NULL },
	{ "forge-source-any",		"::ffff:0.0.0.0",	NULL },
	{ "forge-source-broadcast",	"::ffff:10.9.0.255",	NULL },
	/* Without a route. */
	{ "forge-source-nowhere",	"::ffff:192.0.2.1",	NULL },
	{ "forge-target-loopback",	NULL,			"::ffff:127.0.0.1" },
	/* An address of the peer's machine, but not of the port to which the REQ comes. */
	{ "forge-target-elsewhere",	NULL,			"::ffff:10.9.0.1" },
};

/* Depending on the forged address, the answer may not come back here. */
static int run_forged(u16 port, const char *src, const char *dst, struct list_head *conns)
{
	struct hostile *h = resolve(port, conns, HOSTILE_RECVS);

	return IS_ERR(h) ? PTR_ERR(h) : hostile_forge(h, port, src, dst);
}

static const struct hostile_course courses[] = {
	{ "no-rtu",			course_no_rtu },
	{ "no-rtu-for-hours",		course_no_rtu_for_hours },
	{ "req-flood",			course_req_flood },
	{ "early-message",		course_early_message },
	{ "bad-early-message",		course_bad_early_message },
	{ "late-bad-message",		course_late_bad_message },
	{ "early-read-guessed",		course_early_read_guessed },
	{ "ignores-dreq",		course_ignores_dreq },
	{ "chatters",			course_chatters },
	{ "takes-nothing",		course_takes_nothing },
	{ "takes-nothing-twice",	course_takes_nothing_twice },
	{ "takes-one-by-one",		course_takes_one_by_one },
	{ "leaves-after-req",		course_leaves_after_req },
	{ "leaves-after-rep",		course_leaves_after_rep },
	{ "leaves-after-rtu",		course_leaves_after_rtu },
	{ "leaves-after-disconn",	course_leaves_after_disconn },
	{ },
};

/**
 * hostile_case() - run a case
 * @name: its name
 * @port: the listener's port
 * @count: number of requests of a flood
 * @conns: list to which its connections are added; the caller examines and frees them
 *
 * Return: 0 when the case went as intended, -ENOENT when there is no such case, or another errno.
 */
int hostile_case(const char *name, u16 port, u32 count, struct list_head *conns)
{
	static const struct hostile_message * const lists[] = {
		messages, hostile_keys, hostile_modes, hostile_rings,
	};
	static const struct hostile_course * const all_courses[] = { courses, hostile_rails };
	const struct hostile_message *m;
	const struct hostile_course *c;
	struct hostile_req req;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		if (strcmp(requests[i].name, name))
			continue;
		hostile_honest_req(&req, port + requests[i].port);
		memset(req.private + requests[i].at, requests[i].value, requests[i].n);
		req.mtu = requests[i].mtu;
		if (requests[i].empty)
			req.private_len = 0;
		return run_request(&req, conns);
	}
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (m = lists[i]; m->name; m++)
			if (!strcmp(m->name, name))
				return run_message(m, port, conns);
	for (i = 0; i < ARRAY_SIZE(all_courses); i++)
		for (c = all_courses[i]; c->name; c++)
			if (!strcmp(c->name, name))
				return c->run(port, conns);
	for (i = 0; i < ARRAY_SIZE(forged); i++)
		if (!strcmp(forged[i].name, name))
			return run_forged(port, forged[i].src, forged[i].dst, conns);
	if (!strcmp(name, "flood-silent") || !strcmp(name, "flood-leaving"))
		return run_flood(port, count, !strcmp(name, "flood-leaving"), 0, conns);
	/* As in no-rtu-for-hours, the peer's CM does not give them up by itself. */
	if (!strcmp(name, "flood-held"))
		return run_flood(port, count, false, 31, conns);
	return -ENOENT;
}
