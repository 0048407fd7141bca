// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile peer by datagrams: random cases.
 *
 * Several connections are open at a time. Half of the datagrams are as an honest peer would send
 * them, so that connections live for a while; in the others a field has a value at one of its
 * bounds, or the body another length, or all is random, or it comes from the wrong queue pair. A
 * connection that the peer ends is replaced by another one. The seed determines what is drawn, but
 * not what the peer answers.
 */
#include <linux/prandom.h>
#include <linux/sched/signal.h>

#include "ud.h"

#define CONNS	8
/* Packets of the longest honest message, in any order. */
#define PACKETS	4

struct gen {
	struct rnd_state rnd;
	struct ud_port *port;
	struct ud_conn *conn[CONNS];
	struct ud_sums *sums;
};

static u32 draw(struct gen *g, u32 below)
{
	return prandom_u32_state(&g->rnd) % below;
}

/* A value near a bound, or near the honest one. */
static u32 draw_value(struct gen *g, u32 honest)
{
	static const u32 near[] = {
		0, 1, 2, 35, 36, 37, 74, 75, 76, 77, 0x7fff, 0xffff, 0x7fffffff, 0x80000000,
	};
	u32 value = near[draw(g, ARRAY_SIZE(near))];

	switch (draw(g, 4)) {
	case 0:
		return value;
	case 1:
		return honest + value;
	case 2:
		return honest - value;
	default:
		return prandom_u32_state(&g->rnd);
	}
}

static void spoil_header(struct gen *g, struct sdp_datagram *d)
{
	switch (draw(g, 9)) {
	case 0:
		d->type = draw(g, 16);
		break;
	case 1:
		d->flags = draw(g, 256);
		break;
	case 2:
		d->window = draw_value(g, d->window);
		break;
	case 3:
		d->to = draw_value(g, d->to);
		break;
	case 4:
		d->from = draw_value(g, d->from);
		break;
	case 5:
		d->seq = draw_value(g, d->seq);
		break;
	case 6:
		d->ack = draw_value(g, d->ack);
		break;
	case 7:
		d->offset = draw_value(g, d->offset);
		break;
	default:
		d->packets = draw_value(g, d->packets);
		break;
	}
}

/* Bytes of the body of a datagram of such a type, as an honest peer has it. */
static u32 honest_body(struct gen *g, struct ud_conn *c, u8 type)
{
	switch (type) {
	case SDP_DATAGRAM_DATA:
		return ud_message(c, draw(g, ud_packet(c->port) - SDP_BSDH_LEN) + 1);
	case SDP_DATAGRAM_OPEN:
		ud_open_body(c, c->port->send + SDP_DATAGRAM_LEN, draw(g, 2));
		return SDP_OPEN_LEN;
	case SDP_DATAGRAM_CHALLENGE:
		return SDP_COOKIE_LEN;
	case SDP_DATAGRAM_OPEN_ACK:
		return SDP_OPEN_ACK_LEN;
	case SDP_DATAGRAM_OPEN_REJECT:
		return SDP_OPEN_REJECT_LEN;
	default:
		return 0;
	}
}

/* A field, or the length, or the bytes behind the header are wrong. */
static int say_spoiled(struct gen *g, struct ud_conn *c)
{
	u8 type = draw(g, 3) ? SDP_DATAGRAM_DATA : draw(g, SDP_DATAGRAM_TYPES);
	u32 mseq = c->mseq, body = honest_body(g, c, type);
	struct sdp_datagram d = ud_header(c, type);
	u32 at, n = 1 + draw(g, 2);

	if (type == SDP_DATAGRAM_OPEN) {
		d.to = 0;
		d.seq = c->first;
	}
	switch (draw(g, 4)) {
	case 0:
		body = draw(g, 2) ? draw(g, ud_packet(c->port) + 1) : body + draw(g, 3) - 1;
		body = min(body, ud_packet(c->port));
		break;
	case 1:
		at = draw(g, body + 1);
		prandom_bytes_state(&g->rnd, c->port->send + SDP_DATAGRAM_LEN + at, body - at);
		break;
	default:
		while (n--)
			spoil_header(g, &d);
		break;
	}
	/* It may have been taken or not; the next one tells. */
	if (draw(g, 2))
		c->mseq = mseq;
	return ud_say(c, &d, body);
}

/* A message in several packets, which come in any order, some of them twice. */
static int say_message(struct gen *g, struct ud_conn *c)
{
	u32 packets = 1 + draw(g, PACKETS), room = ud_packet(c->port), len, i, sent = 0;
	u8 *at = c->port->send + SDP_DATAGRAM_LEN;
	struct sdp_datagram d;
	struct sdp_msg msg = {
		.h = { .mid = SDP_MID_DATA, .bufs = UD_BUFS, .mseq = ++c->mseq },
	};
	int err = 0;

	/* The peer's receives have room for so much. */
	len = (packets - 1) * room + 1 + draw(g, room);
	len = clamp(len, SDP_BSDH_LEN + 1U, 1536U);
	packets = DIV_ROUND_UP(len, room);
	msg.payload_len = len - SDP_BSDH_LEN;
	d = ud_header(c, SDP_DATAGRAM_DATA);
	d.packets = packets;
	while (!err && sent != (1U << packets) - 1) {
		i = draw(g, packets);
		sent |= 1 << i;
		d.offset = i;
		d.flags = draw(g, 4);
		memset(at, 0x5a, room);
		if (!i)
			sdp_wire_build(at, &msg);
		err = ud_say(c, &d, i + 1 == packets ? len - i * room : room);
		g->sums->said++;
	}
	c->seq += packets;
	return err;
}

static int say_garbage(struct gen *g, struct ud_conn *c)
{
	u32 bytes = draw(g, ud_packet(c->port) + SDP_DATAGRAM_LEN + 1);

	prandom_bytes_state(&g->rnd, c->port->send, bytes);
	if (bytes && draw(g, 2))
		c->port->send[0] = SDP_DATAGRAM_VERSION << 4 | draw(g, SDP_DATAGRAM_TYPES);
	return ud_post(c, bytes);
}

static int step(struct gen *g, struct ud_conn *c)
{
	static const u8 controls[] = {
		SDP_DATAGRAM_ACK, SDP_DATAGRAM_NACK, SDP_DATAGRAM_PROBE,
	};
	int err;

	switch (draw(g, 16)) {
	case 0 ... 5:
		return say_message(g, c);
	case 6 ... 7:
		return ud_control(c, controls[draw(g, ARRAY_SIZE(controls))]);
	case 8:
		return say_garbage(g, c);
	case 9:
		c->own = !c->own;
		err = say_spoiled(g, c);
		c->own = !c->own;
		return err;
	default:
		return say_spoiled(g, c);
	}
}

/* Replaces a connection that is over, or that there is not yet. */
static int renew(struct gen *g, u32 i)
{
	struct ud_conn *c = g->conn[i];
	int err;

	if (c && !READ_ONCE(c->over))
		return 0;
	if (c) {
		g->sums->ended++;
		ud_forget(c);
	}
	c = ud_conn_make(g->port);
	g->conn[i] = c;
	if (!c)
		return -ENOMEM;
	err = ud_open(c);
	if (!err)
		g->sums->opened++;
	if (err != -ECONNREFUSED && err != -ETIMEDOUT)
		return err;
	/* The listener is busy. */
	g->sums->refused++;
	g->sums->said++;
	ud_forget(c);
	g->conn[i] = NULL;
	return 0;
}

/**
 * ud_generate() - send random datagrams
 * @p: port
 * @seed: seed
 * @datagrams: number of datagrams; a few more are sent
 * @sums: what has come of it, so far
 *
 * Return: 0 or an errno.
 */
int ud_generate(struct ud_port *p, u64 seed, u32 datagrams, struct ud_sums *sums)
{
	struct gen g = { .port = p, .sums = sums };
	int err = 0;
	u32 i;

	prandom_seed_state(&g.rnd, seed);
	while (!err && sums->said < datagrams && !signal_pending(current)) {
		i = draw(&g, CONNS);
		err = renew(&g, i);
		if (err || !g.conn[i])
			continue;
		err = step(&g, g.conn[i]);
		sums->said++;
	}
	return err;
}
