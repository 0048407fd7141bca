// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile peer by datagrams: the named cases.
 *
 * A case of the first list is an Open that differs from an honest one in one thing, a case of the
 * second list a datagram on an established connection. Those of the third list are exchanges.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/string.h>

#include "ud.h"

/* An Open with a valid cookie, in whose body @n bytes from @at on have another value. */
static const struct {
	const char *name;
	u8 at, n, value;
} opens[] = {
	{ "open-ok",			0, 0, 0 },
	{ "open-size-0",		24, 2, 0 },
	{ "open-size-small",		24, 1, 0 },
	{ "open-size-huge",		24, 2, 0xff },
	{ "open-service",		17, 1, 0x77 },
	{ "open-port-0",		22, 2, 0 },
	{ "open-hello-mid",		UD_HELLO_AT, 1, SDP_MID_DATA },
	{ "open-hello-bufs-0",		UD_HELLO_AT + 2, 2, 0 },
	{ "open-hello-version",		UD_HELLO_AT + 16, 1, 0x11 },
	{ "open-hello-recvsize-0",	UD_HELLO_AT + 24, 4, 0 },
	{ "open-hello-source",		UD_HELLO_AT + 32 + 15, 1, 0x40 },
	{ "open-hello-target",		UD_HELLO_AT + 48 + 15, 1, 0x40 },
	{ "open-hello-garbage",		UD_HELLO_AT, SDP_HELLO_LEN, 0xa5 },
};

static int open_spoiled(struct ud_conn *c, u32 at, u32 n, u8 value)
{
	struct sdp_datagram d = ud_header(c, SDP_DATAGRAM_OPEN);
	u8 *body = c->port->send + SDP_DATAGRAM_LEN;
	int err;

	err = ud_open_say(c, false);
	if (err || !ud_await(c, SDP_DATAGRAM_CHALLENGE, 1, UD_ANSWER))
		return err ?: -ETIMEDOUT;
	ud_open_body(c, body, true);
	memset(body + at, value, n);
	err = ud_say(c, &d, SDP_OPEN_LEN);
	wait_event_timeout(c->port->heard, c->why || c->their_id, UD_ANSWER / 5);
	return err;
}

/* Lengths of bodies that are not numbers. */
#define NO_BODY		0xffff
#define WHOLE_PACKET	0xfffe
#define TOO_MUCH	0xfffd

/**
 * struct spoiled - a datagram that differs from an honest one
 * @name: name of the case
 * @type: its type; Data if 0
 * @body: length of its body; that of a message if 0
 * @at: the field that differs, as a place in struct sdp_datagram
 * @size: bytes of that field; 0 if none differs
 * @add: the honest value and @value are added
 * @value: what it is set to
 */
struct spoiled {
	const char *name;
	u8 type;
	u16 body;
	u8 at;
	u8 size;
	bool add;
	u32 value;
};

#define SET(field, v)	.at = offsetof(struct sdp_datagram, field), \
			.size = sizeof_field(struct sdp_datagram, field), .value = (u32)(v)
#define ADD(field, v)	SET(field, v), .add = true
#define BODY(type, len)	SDP_DATAGRAM_##type, len

static const struct spoiled datas[] = {
	{ "data-ok" },
	{ "data-empty",		BODY(DATA, NO_BODY) },
	{ "data-too-much",	BODY(DATA, TOO_MUCH) },
	/* All but the last packet of a message are full. */
	{ "data-short",		BODY(DATA, 100), SET(packets, 2) },
	{ "message-too-long",	BODY(DATA, WHOLE_PACKET), SET(packets, 36) },
	{ "type-unknown",	SET(type, 15) },
	{ "type-challenge",	BODY(CHALLENGE, SDP_COOKIE_LEN) },
	{ "type-open-ack",	BODY(OPEN_ACK, SDP_OPEN_ACK_LEN) },
	{ "type-open-reject",	BODY(OPEN_REJECT, SDP_OPEN_REJECT_LEN) },
	{ "flags-unknown",	SET(flags, 0x80) },
	{ "data-goes-on",	SET(flags, SDP_DATAGRAM_GOES_ON) },
	{ "window-0",		SET(window, 0) },
	{ "window-77",		SET(window, 77) },
	{ "window-most",	SET(window, 0xffff) },
	{ "to-other",		ADD(to, 1) },
	{ "to-0",		SET(to, 0) },
	{ "from-other",		ADD(from, 1) },
	{ "from-0",		SET(from, 0) },
	{ "packets-0",		SET(packets, 0) },
	{ "packets-37",		SET(packets, 37) },
	{ "packets-most",	SET(packets, 0xffff) },
	{ "offset-beyond",	SET(offset, 1) },
	{ "offset-most",	SET(offset, 0xffff) },
	{ "seq-last",		ADD(seq, SDP_WINDOW_CONNECTING - 1) },
	{ "seq-beyond",		ADD(seq, SDP_WINDOW_CONNECTING) },
	{ "seq-far",		ADD(seq, 0x7fffffff) },
	{ "seq-old",		ADD(seq, -1) },
	{ "seq-ancient",	ADD(seq, -0x7fffffff) },
	{ "ack-ahead",		ADD(ack, 76) },
	{ "ack-far",		ADD(ack, 0x7fffffff) },
	{ "ack-old",		ADD(ack, -1) },
	{ "ack-ancient",	ADD(ack, -0x7fffffff) },
	{ "data-round",		SET(flags, 2 << SDP_DATAGRAM_ROUND_SHIFT) },
	{ "ack-round",		BODY(ACK, NO_BODY), SET(flags, 2 << SDP_DATAGRAM_ROUND_SHIFT) },
	{ "reset-round",	BODY(RESET, NO_BODY), SET(flags, 2 << SDP_DATAGRAM_ROUND_SHIFT) },
	{ "probe-no-number",	BODY(PROBE, NO_BODY), SET(offset, 0) },
	{ "ack-of-no-probe",	BODY(ACK, NO_BODY), SET(offset, 0xffff) },
	{ "nack-of-no-probe",	BODY(NACK, NO_BODY), SET(offset, 0xffff) },
	{ "reset-number",	BODY(RESET, NO_BODY), SET(offset, 1) },
	{ "probe-beyond",	BODY(PROBE, NO_BODY), ADD(seq, SDP_WINDOW_CONNECTING + 1) },
	{ "reset",		BODY(RESET, NO_BODY) },
	{ "reset-goes-on",	BODY(RESET, NO_BODY), SET(flags, SDP_DATAGRAM_GOES_ON) },
	{ "reset-last",		BODY(RESET, NO_BODY), ADD(seq, SDP_WINDOW_CONNECTING) },
	{ "reset-beyond",	BODY(RESET, NO_BODY), ADD(seq, SDP_WINDOW_CONNECTING + 1) },
	{ "reset-old",		BODY(RESET, NO_BODY), ADD(seq, -1) },
	{ "reset-with-body",	BODY(RESET, 8) },
};

static void set_field(struct sdp_datagram *d, const struct spoiled *s)
{
	void *at = (u8 *)d + s->at;

	switch (s->size) {
	case 1:
		*(u8 *)at = s->value + (s->add ? *(u8 *)at : 0);
		break;
	case 2:
		*(u16 *)at = s->value + (s->add ? *(u16 *)at : 0);
		break;
	case 4:
		*(u32 *)at = s->value + (s->add ? *(u32 *)at : 0);
		break;
	}
}

static u32 body_len(struct ud_conn *c, u32 body, u32 message)
{
	switch (body) {
	case 0:
		return message;
	case NO_BODY:
		return 0;
	case WHOLE_PACKET:
		return ud_packet(c->port);
	case TOO_MUCH:
		return ud_packet(c->port) + 4;
	default:
		return body;
	}
}

static int say_spoiled(struct ud_conn *c, const struct spoiled *s)
{
	u32 len = ud_message(c, 100);
	struct sdp_datagram d = ud_header(c, s->type);

	set_field(&d, s);
	/* The honest one. */
	if (!s->size && !s->body)
		c->seq++;
	return ud_say(c, &d, body_len(c, s->body, len));
}

/* The second packet of a message says that it has fewer. */
static int packets_change(struct ud_conn *c, u32 count)
{
	struct sdp_datagram d = ud_header(c, SDP_DATAGRAM_DATA);
	int err;

	ud_message(c, 100);
	d.packets = 2;
	err = ud_say(c, &d, ud_packet(c->port));
	if (err)
		return err;
	d.packets = 3;
	d.offset = 1;
	return ud_say(c, &d, ud_packet(c->port));
}

static int header_short(struct ud_conn *c, u32 count)
{
	struct sdp_datagram d = ud_header(c, SDP_DATAGRAM_ACK);

	sdp_datagram_build(c->port->send, &d);
	return ud_post(c, SDP_DATAGRAM_LEN - 1);
}

static int nothing(struct ud_conn *c, u32 count)
{
	return ud_post(c, 0);
}

static int version_other(struct ud_conn *c, u32 count)
{
	struct sdp_datagram d = ud_header(c, SDP_DATAGRAM_ACK);

	sdp_datagram_build(c->port->send, &d);
	c->port->send[0] = (SDP_DATAGRAM_VERSION + 1) << 4 | SDP_DATAGRAM_ACK;
	return ud_post(c, SDP_DATAGRAM_LEN);
}

/* An SDP message of a kind that does not exist. */
static int message_unknown(struct ud_conn *c, u32 count)
{
	u32 len = ud_message(c, 100);
	struct sdp_datagram d = ud_header(c, SDP_DATAGRAM_DATA);

	c->port->send[SDP_DATAGRAM_LEN] = 0x50;
	c->seq++;
	return ud_say(c, &d, len);
}

/* An SDP message that the connection has not come to yet. */
static int message_skips(struct ud_conn *c, u32 count)
{
	c->mseq++;
	return ud_data(c, 100);
}

/* All that follows comes from another queue pair than the connection has. */
static int from_other_qp(struct ud_conn *c, u8 type)
{
	int err;

	c->own = !c->own;
	err = type == SDP_DATAGRAM_DATA ? ud_data(c, 100) : ud_control(c, type);
	c->own = !c->own;
	if (type == SDP_DATAGRAM_DATA) {
		c->seq--;
		c->mseq--;
	}
	return err;
}

static int data_from_other_qp(struct ud_conn *c, u32 count)
{
	return from_other_qp(c, SDP_DATAGRAM_DATA);
}

static int reset_from_other_qp(struct ud_conn *c, u32 count)
{
	return from_other_qp(c, SDP_DATAGRAM_RESET);
}

/* The peer's other queue pairs do not know the connection. */
static int reset_to_other_qp(struct ud_conn *c, u32 count)
{
	const struct sdp_service *s = &c->port->service;
	u32 i, own = c->to_qp;
	int err = 0;

	for (i = 0; !err && i < s->qps; i++) {
		if (s->qpn[i] == own)
			continue;
		c->to_qp = s->qpn[i];
		err = ud_control(c, SDP_DATAGRAM_RESET);
	}
	c->to_qp = own;
	return err;
}

/* Guesses of the key; the device drops what has another one. */
static int qkey_guessed(struct ud_conn *c, u32 count)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < count; i++) {
		c->qkey = get_random_u32() | 0x80000000;
		if (c->qkey == UD_QKEY)
			continue;
		err = ud_control(c, SDP_DATAGRAM_RESET);
	}
	c->qkey = UD_QKEY;
	return err;
}

static int reset_guessed(struct ud_conn *c, u32 count)
{
	struct sdp_datagram d = ud_header(c, SDP_DATAGRAM_RESET);
	int err = 0;
	u32 i;

	for (i = 0; !err && i < count; i++) {
		d.seq = c->seq + SDP_WINDOW_CONNECTING + 1 +
			get_random_u32() % (0xffffffff - SDP_WINDOW_CONNECTING - 1);
		err = ud_say(c, &d, 0);
	}
	return err;
}

static int flood(struct ud_conn *c, u8 type, u32 count)
{
	struct sdp_datagram d;
	int err = 0;
	u32 i;

	for (i = 0; !err && i < count; i++) {
		d = ud_header(c, type);
		err = ud_say(c, &d, 0);
	}
	return err;
}

/* Of each round in turn: whatever the peer's is, every fourth one names it. */
static int flood_nack(struct ud_conn *c, u32 count)
{
	struct sdp_datagram d;
	int err = 0;
	u32 i;

	for (i = 0; !err && i < count; i++) {
		d = ud_header(c, SDP_DATAGRAM_NACK);
		d.flags = (i & 3) << SDP_DATAGRAM_ROUND_SHIFT;
		err = ud_say(c, &d, 0);
	}
	return err;
}

static int flood_probe(struct ud_conn *c, u32 count)
{
	return flood(c, SDP_DATAGRAM_PROBE, count);
}

/* The same message again and again. */
static int flood_data(struct ud_conn *c, u32 count)
{
	int err = ud_data(c, 100);
	u32 i;

	for (i = 0; !err && i < count; i++) {
		c->seq--;
		c->mseq--;
		err = ud_data(c, 100);
	}
	return err;
}

/* The peer has something to send: it never hears of its arrival. */
static int silent(struct ud_conn *c, u32 count)
{
	return 0;
}

/* Exchanges on an established connection. */
static const struct {
	const char *name;
	int (*run)(struct ud_conn *c, u32 count);
} courses[] = {
	{ "packets-change",	packets_change },
	{ "header-short",	header_short },
	{ "nothing",		nothing },
	{ "version-other",	version_other },
	{ "message-unknown",	message_unknown },
	{ "message-skips",	message_skips },
	{ "data-from-other-qp",	data_from_other_qp },
	{ "reset-from-other-qp", reset_from_other_qp },
	{ "reset-to-other-qp",	reset_to_other_qp },
	{ "qkey-guessed",	qkey_guessed },
	{ "reset-guessed",	reset_guessed },
	{ "flood-nack",		flood_nack },
	{ "flood-probe",	flood_probe },
	{ "flood-data",		flood_data },
	{ "silent",		silent },
};

/* Opens without a cookie, each of another connection. */
static int open_flood(struct ud_conn *c, u32 count)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < count; i++) {
		c->id += 2;
		c->to_qp = c->port->service.qpn[i % c->port->service.qps];
		err = ud_open_say(c, false);
	}
	return err;
}

/* With cookies that the peer has not made. */
static int open_cookie_guessed(struct ud_conn *c, u32 count)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < count; i++) {
		struct sdp_datagram d = ud_header(c, SDP_DATAGRAM_OPEN);
		u8 *body = c->port->send + SDP_DATAGRAM_LEN;

		ud_open_body(c, body, true);
		get_random_bytes(body, SDP_COOKIE_LEN);
		err = ud_say(c, &d, SDP_OPEN_LEN);
	}
	return err;
}

/* With a cookie that was made for something else: @what of 3. */
static int open_cookie_of(struct ud_conn *c, u32 what)
{
	int err = ud_open_say(c, false);

	if (err || !ud_await(c, SDP_DATAGRAM_CHALLENGE, 1, UD_ANSWER))
		return err ?: -ETIMEDOUT;
	if (what == 0)
		c->id += 2;
	else if (what == 1)
		c->first++;
	else
		c->own = !c->own;
	return ud_open_say(c, true);
}

static int open_cookie_of_id(struct ud_conn *c, u32 count)
{
	return open_cookie_of(c, 0);
}

static int open_cookie_of_seq(struct ud_conn *c, u32 count)
{
	return open_cookie_of(c, 1);
}

static int open_cookie_of_qp(struct ud_conn *c, u32 count)
{
	return open_cookie_of(c, 2);
}

/* The Open with the cookie comes many times. It makes one connection. */
static int open_again(struct ud_conn *c, u32 count)
{
	int err = ud_open(c);
	u32 i;

	for (i = 0; !err && i < count; i++)
		err = ud_open_say(c, true);
	return err;
}

/* OpenAck is never confirmed. */
static int open_unconfirmed(struct ud_conn *c, u32 count)
{
	int err = ud_open_say(c, false);

	if (err || !ud_await(c, SDP_DATAGRAM_CHALLENGE, 1, UD_ANSWER))
		return err ?: -ETIMEDOUT;
	err = ud_open_say(c, true);
	/* OpenAcks are repeated. */
	if (!err && !ud_await(c, SDP_DATAGRAM_OPEN_ACK, 3, UD_ANSWER))
		return -ETIMEDOUT;
	return err;
}

/* Datagrams for connections that there are not. */
static int strays(struct ud_conn *c, u32 count)
{
	static const u8 types[] = {
		SDP_DATAGRAM_DATA, SDP_DATAGRAM_ACK, SDP_DATAGRAM_NACK, SDP_DATAGRAM_PROBE,
		SDP_DATAGRAM_RESET,
	};
	struct sdp_datagram d;
	int err = 0;
	u32 i;

	for (i = 0; !err && i < count; i++) {
		d = ud_header(c, types[i % ARRAY_SIZE(types)]);
		d.to = get_random_u32();
		err = ud_say(c, &d, d.type == SDP_DATAGRAM_DATA ? 100 : 0);
	}
	return err;
}

/* Exchanges that begin without a connection. */
static const struct {
	const char *name;
	int (*run)(struct ud_conn *c, u32 count);
} beginnings[] = {
	{ "open-flood",		open_flood },
	{ "open-cookie-guessed", open_cookie_guessed },
	{ "open-cookie-of-id",	open_cookie_of_id },
	{ "open-cookie-of-seq",	open_cookie_of_seq },
	{ "open-cookie-of-qp",	open_cookie_of_qp },
	{ "open-again",		open_again },
	{ "open-unconfirmed",	open_unconfirmed },
	{ "strays",		strays },
};

/* A case on an established connection. Returns -ENOENT if there is none of this name. */
static int established(struct ud_port *p, const char *name, u32 count)
{
	const struct spoiled *s = NULL;
	struct ud_conn *c;
	u32 i, course;
	int err;

	for (i = 0; i < ARRAY_SIZE(datas) && !s; i++)
		s = strcmp(datas[i].name, name) ? NULL : &datas[i];
	for (course = 0; course < ARRAY_SIZE(courses); course++)
		if (!strcmp(courses[course].name, name))
			break;
	if (!s && course == ARRAY_SIZE(courses))
		return -ENOENT;
	c = ud_conn_make(p);
	if (!c)
		return -ENOMEM;
	err = ud_open(c);
	if (err)
		return err;
	return s ? say_spoiled(c, s) : courses[course].run(c, count);
}

/**
 * ud_case() - run a case
 * @p: port
 * @name: its name
 * @count: how often, in cases that repeat something
 *
 * Return: 0 or an errno.
 */
int ud_case(struct ud_port *p, const char *name, u32 count)
{
	int err = established(p, name, count);
	struct ud_conn *c;
	u32 i;

	if (err != -ENOENT)
		return err;
	c = ud_conn_make(p);
	if (!c)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(opens); i++)
		if (!strcmp(opens[i].name, name))
			return open_spoiled(c, opens[i].at, opens[i].n, opens[i].value);
	for (i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (!strcmp(beginnings[i].name, name))
			return beginnings[i].run(c, count);
	return -ENOENT;
}
