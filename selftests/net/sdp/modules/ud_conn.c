// SPDX-License-Identifier: GPL-2.0
/* Hostile peer by datagrams: one connection. */
#include <linux/inet.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "ud.h"

/**
 * ud_conn_make() - prepare a connection
 * @p: port
 *
 * Return: the connection, which ud_port_end() frees; or NULL.
 */
struct ud_conn *ud_conn_make(struct ud_port *p)
{
	struct ud_conn *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return NULL;
	c->port = p;
	c->to_qp = p->service.qpn[get_random_u32() % p->service.qps];
	c->qkey = UD_QKEY;
	c->id = get_random_u32() | 1;
	c->first = get_random_u32();
	c->seq = c->first;
	c->acked = c->first;
	spin_lock_bh(&p->lock);
	list_add(&c->node, &p->conns);
	spin_unlock_bh(&p->lock);
	return c;
}

/**
 * ud_forget() - free a connection
 * @c: connection
 */
void ud_forget(struct ud_conn *c)
{
	spin_lock_bh(&c->port->lock);
	list_del(&c->node);
	spin_unlock_bh(&c->port->lock);
	kfree(c);
}

/* What does not come from the peer's end of it answers a datagram to another connection. */
static void traffic(struct ud_conn *c, const struct sdp_datagram *d)
{
	if (d->from != c->their_id)
		return;
	if (d->type == SDP_DATAGRAM_DATA)
		c->round = sdp_datagram_round(d);
	if (d->type == SDP_DATAGRAM_DATA && d->seq + d->offset == c->heard)
		c->heard++;
	if (d->type == SDP_DATAGRAM_RESET)
		WRITE_ONCE(c->over, true);
	if (sdp_seq_after(d->ack, c->acked))
		c->acked = d->ack;
}

/**
 * ud_conn_heard() - a datagram has come for a connection
 * @c: connection; under ud_port.lock
 * @d: its header
 * @body: what is behind
 */
void ud_conn_heard(struct ud_conn *c, const struct sdp_datagram *d, const u8 *body)
{
	enum sdp_open_reject why;

	switch (d->type) {
	case SDP_DATAGRAM_CHALLENGE:
		memcpy(c->cookie, body, sizeof(c->cookie));
		break;
	case SDP_DATAGRAM_OPEN_ACK:
		if (!c->their_id)
			c->heard = d->seq;
		c->their_id = d->from;
		break;
	case SDP_DATAGRAM_OPEN_REJECT:
		if (!sdp_open_reject_parse(body, &why))
			WRITE_ONCE(c->why, why);
		break;
	default:
		traffic(c, d);
		break;
	}
	/* A waiter that sees the count sees what it counts: pairs with ud_await(). */
	smp_store_release(&c->came[d->type], c->came[d->type] + 1);
}

/**
 * ud_await() - wait for a datagram
 * @c: connection
 * @type: its type
 * @count: number of datagrams of this type to have come in all
 * @wait: how long, jiffies
 *
 * Return: true if they have come; false also when the connection is refused.
 */
bool ud_await(struct ud_conn *c, u8 type, u32 count, unsigned long wait)
{
	wait_event_timeout(c->port->heard, READ_ONCE(c->came[type]) >= count || READ_ONCE(c->why),
			   wait);
	/* Pairs with ud_conn_heard(). */
	return smp_load_acquire(&c->came[type]) >= count;
}

/**
 * ud_packet() - length of a packet
 * @p: port
 *
 * Return: bytes of a message that a datagram carries at most.
 */
u32 ud_packet(const struct ud_port *p)
{
	return min_t(u32, p->size, p->service.size) - SDP_DATAGRAM_LEN;
}

/**
 * ud_header() - header of the next datagram of an honest peer
 * @c: connection
 * @type: type of the datagram
 *
 * Return: the header.
 */
struct sdp_datagram ud_header(const struct ud_conn *c, u8 type)
{
	struct sdp_datagram d = {
		.type = type, .window = SDP_WINDOW_ACCEPTING,
		.to = c->their_id, .from = c->id,
		.seq = c->seq, .ack = READ_ONCE(c->heard),
	};

	if (type == SDP_DATAGRAM_OPEN)
		d.ack = 0;
	if (type == SDP_DATAGRAM_DATA)
		d.packets = 1;
	if (type == SDP_DATAGRAM_NACK)
		d.flags = c->round << SDP_DATAGRAM_ROUND_SHIFT;
	/* Its number; all have the same one, because nobody here measures answers. */
	if (type == SDP_DATAGRAM_PROBE)
		d.offset = 1;
	return d;
}

/**
 * ud_say() - send a datagram whose body is in ud_port.send already
 * @c: connection
 * @d: its header
 * @body: length of the body
 *
 * Return: 0 or an errno.
 */
int ud_say(struct ud_conn *c, const struct sdp_datagram *d, u32 body)
{
	sdp_datagram_build(c->port->send, d);
	return ud_post(c, SDP_DATAGRAM_LEN + body);
}

/**
 * ud_control() - send a datagram without a body
 * @c: connection
 * @type: its type
 *
 * Return: 0 or an errno.
 */
int ud_control(struct ud_conn *c, u8 type)
{
	struct sdp_datagram d = ud_header(c, type);

	return ud_say(c, &d, 0);
}

static void set_address(u8 *to, const struct sockaddr_storage *ss)
{
	memset(to, 0, 12);
	memcpy(to + 12, &((const struct sockaddr_in *)ss)->sin_addr, 4);
}

/**
 * ud_open_body() - body of an Open, as an honest peer would build it
 * @c: connection
 * @body: filled in, %SDP_OPEN_LEN bytes
 * @cookie: show the cookie
 */
void ud_open_body(struct ud_conn *c, u8 *body, bool cookie)
{
	const struct rdma_addr *addr = &c->port->rdma->route.addr;
	struct sdp_open open = {
		.service_id = SDP_SERVICE_ID | c->port->port,
		.size = min_t(u32, c->port->size, c->port->service.size),
		.rtt = cookie ? 1000 : 0,
	};
	struct sdp_hello hello = {
		.bufs = UD_BUFS, .version = 0x22, .ip_version = 4, .max_adverts = 1,
		.wanted_recv_size = 2048, .recv_size = 2048, .port = 1024 + c->id % 60000,
	};

	if (cookie)
		memcpy(open.cookie, c->cookie, sizeof(open.cookie));
	sdp_open_build(body, &open);
	set_address(hello.src, &addr->src_addr);
	set_address(hello.dst, &addr->dst_addr);
	sdp_hello_build(body + UD_HELLO_AT, &hello);
}

/**
 * ud_open_say() - send an Open
 * @c: connection
 * @cookie: with the cookie
 *
 * Return: 0 or an errno.
 */
int ud_open_say(struct ud_conn *c, bool cookie)
{
	struct sdp_datagram d = ud_header(c, SDP_DATAGRAM_OPEN);

	d.to = 0;
	d.seq = c->first;
	ud_open_body(c, c->port->send + SDP_DATAGRAM_LEN, cookie);
	return ud_say(c, &d, SDP_OPEN_LEN);
}

/* Says an Open until it is answered: any datagram may get lost. */
static int open_until(struct ud_conn *c, bool cookie, u8 answer)
{
	u32 tries;
	int err;

	for (tries = 0; tries < 50; tries++) {
		err = ud_open_say(c, cookie);
		if (err)
			return err;
		if (ud_await(c, answer, 1, UD_ANSWER / 50))
			return 0;
		if (READ_ONCE(c->why))
			return -ECONNREFUSED;
	}
	return -ETIMEDOUT;
}

/**
 * ud_open() - open a connection as an honest peer would
 * @c: connection
 *
 * Return: 0 or an errno.
 */
int ud_open(struct ud_conn *c)
{
	int err = open_until(c, false, SDP_DATAGRAM_CHALLENGE);

	if (!err)
		err = open_until(c, true, SDP_DATAGRAM_OPEN_ACK);
	return err ?: ud_control(c, SDP_DATAGRAM_ACK);
}

/**
 * ud_message() - build the next message of the stream in ud_port.send
 * @c: connection
 * @payload: its bytes of payload, which fit into a packet
 *
 * Return: length of the message.
 */
u32 ud_message(struct ud_conn *c, u32 payload)
{
	u8 *at = c->port->send + SDP_DATAGRAM_LEN;
	struct sdp_msg msg = {
		.h = { .mid = SDP_MID_DATA, .bufs = UD_BUFS, .mseq = ++c->mseq },
		.payload_len = payload,
	};
	u32 len = sdp_wire_build(at, &msg);

	memset(at + len, 0x5a, payload);
	return len + payload;
}

/**
 * ud_data() - send a message in one packet
 * @c: connection
 * @payload: bytes of its payload
 *
 * Return: 0 or an errno.
 */
int ud_data(struct ud_conn *c, u32 payload)
{
	u32 len = ud_message(c, payload);
	struct sdp_datagram d = ud_header(c, SDP_DATAGRAM_DATA);

	d.flags = SDP_DATAGRAM_ACK_NOW;
	c->seq++;
	return ud_say(c, &d, len);
}

static u32 answers(const struct ud_conn *c)
{
	return READ_ONCE(c->came[SDP_DATAGRAM_ACK]) + READ_ONCE(c->came[SDP_DATAGRAM_NACK]);
}

static bool ended(const struct ud_conn *c)
{
	return READ_ONCE(c->over);
}

/* Asks for an answer, once. Returns false if the peer cannot be asked. */
static bool probe(struct ud_conn *c)
{
	u32 before = answers(c);

	if (ud_control(c, SDP_DATAGRAM_PROBE))
		return false;
	wait_event_timeout(c->port->heard, ended(c) || answers(c) != before, UD_ANSWER / 50);
	return true;
}

/**
 * ud_verdict() - how is a connection?
 * @c: connection
 *
 * Return: enum ud_end. The peer is asked by Probes.
 */
enum ud_end ud_verdict(struct ud_conn *c)
{
	u32 before, tries;

	if (c->why)
		return UD_REFUSED;
	if (!c->their_id)
		return UD_NOTHING;
	before = answers(c);
	for (tries = 0; tries < 50 && !ended(c) && answers(c) == before; tries++)
		if (!probe(c))
			break;
	if (ended(c))
		return UD_ENDED;
	return answers(c) == before ? UD_SILENT : UD_STANDS;
}

/**
 * ud_end() - end a connection as an honest peer would, if it has not ended
 * @c: connection
 *
 * What the peer has is known from its answer to a Probe.
 */
void ud_end(struct ud_conn *c)
{
	struct sdp_datagram d;
	u32 tries;

	if (!c->their_id)
		return;
	for (tries = 0; tries < 10 && !ended(c) && probe(c); tries++) {
		d = ud_header(c, SDP_DATAGRAM_RESET);
		d.seq = READ_ONCE(c->acked);
		if (ud_say(c, &d, 0))
			return;
		wait_event_timeout(c->port->heard, ended(c), UD_ANSWER / 50);
	}
}
