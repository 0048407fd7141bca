// SPDX-License-Identifier: GPL-2.0
/*
 * Cases about rails: requests to join that are no good, and what may be said by several rails.
 *
 * The first connection of a case says that it knows rails, and is told number and token. Each
 * further one is a request to port 0. All of them are in the list of connections, the newest first.
 */
#include <linux/delay.h>

#include "hostile.h"
#include "wire_rails.h"

#define TEXT		100
#define RAILS		8
#define FLOOD		50

/* A request whose Hello says @rails of rails. */
static void request(struct hostile_req *req, u16 port, const struct sdp_hello_rails *rails)
{
	struct sdp_hello hello;

	hostile_honest_req(req, port);
	sdp_hello_parse(req->private, SDP_HELLO_LEN, &hello);
	hello.rails = *rails;
	sdp_hello_build(req->private, &hello);
}

static int get_ready(struct hostile *h)
{
	return hostile_answer(h) ?: hostile_ready(h) ?: ib_send_cm_rtu(h->cm, NULL, 0);
}

/* A connection that may have @most rails. An honest message establishes it for certain. */
static struct hostile *first(u16 port, struct list_head *conns, u8 most)
{
	struct hostile_req req;
	struct hostile *h;
	int err;

	request(&req, port, &(struct sdp_hello_rails){ .most = most });
	h = hostile_begin(&req, conns);
	if (IS_ERR(h))
		return h;
	err = get_ready(h) ?: hostile_say(h, SDP_MID_DATA, 0);
	if (!err && most && h->peer.rails.most < 2)
		err = -EPROTO;
	return err ? ERR_PTR(err) : h;
}

/* How to join the connection of @h, as an honest peer does. */
static struct sdp_hello_rails way_in(const struct hostile *h, u8 number)
{
	struct sdp_hello_rails way = { .join = true, .rail = number, .id = h->peer.rails.id };

	memcpy(way.token, h->peer.rails.token, SDP_RAIL_TOKEN);
	return way;
}

/* Ask to join. What the answer is, the script sees. */
static int ask(struct list_head *conns, const struct sdp_hello_rails *way)
{
	struct hostile_req req;
	struct hostile *h;
	int err;

	request(&req, 0, way);
	h = hostile_begin(&req, conns);
	err = IS_ERR(h) ? PTR_ERR(h) : get_ready(h);
	return err == -ECONNREFUSED ? 0 : err;
}

/* Ask, and be let in. */
static struct hostile *join(struct hostile *h, struct list_head *conns, u8 number)
{
	struct sdp_hello_rails way = way_in(h, number);
	struct hostile *rail;
	int err = ask(conns, &way);

	if (err)
		return ERR_PTR(err);
	rail = list_first_entry(conns, struct hostile, node);
	return READ_ONCE(rail->end) == HOSTILE_OPEN ? rail : ERR_PTR(-ECONNREFUSED);
}

/* Send the next message of connection @h by @rail. Its queue pair may fail for that. */
static int say_by(struct hostile *rail, struct hostile *h, u32 payload)
{
	u32 len;

	if (sdp_seq_after(READ_ONCE(rail->seen), READ_ONCE(h->seen)))
		WRITE_ONCE(h->seen, rail->seen);
	len = hostile_header(h, SDP_MID_DATA, payload);
	memcpy(rail->send, h->send, len);
	return hostile_send(rail, len);
}

static int say_note(struct hostile *rail, const struct sdp_rail_msg *msg)
{
	return hostile_send(rail, sdp_rail_msg_build(rail->send, msg));
}

static int no_such_connection(u16 port, struct list_head *conns)
{
	return ask(conns, &(struct sdp_hello_rails){ .join = true, .rail = 1, .id = 0x5a5a5a5a });
}

/* Joins with one bit wrong: of the token, or of the connection's number. */
static int wrong_way(u16 port, struct list_head *conns, u8 token, u32 id)
{
	struct hostile *h = first(port, conns, RAILS);
	struct sdp_hello_rails way;

	if (IS_ERR(h))
		return PTR_ERR(h);
	way = way_in(h, 1);
	way.token[SDP_RAIL_TOKEN - 1] ^= token;
	way.id ^= id;
	return ask(conns, &way);
}

static int wrong_token(u16 port, struct list_head *conns)
{
	return wrong_way(port, conns, 1, 0);
}

static int wrong_id(u16 port, struct list_head *conns)
{
	return wrong_way(port, conns, 0, 1);
}

static int number(u16 port, struct list_head *conns, u8 number)
{
	struct hostile *h = first(port, conns, RAILS);
	struct sdp_hello_rails way;

	if (IS_ERR(h))
		return PTR_ERR(h);
	way = way_in(h, number);
	return ask(conns, &way);
}

static int number_0(u16 port, struct list_head *conns)
{
	return number(port, conns, 0);
}

static int number_8(u16 port, struct list_head *conns)
{
	return number(port, conns, 8);
}

static int number_255(u16 port, struct list_head *conns)
{
	return number(port, conns, 255);
}

/* More rails than there may be: all numbers, one after the other. */
static int too_many(u16 port, struct list_head *conns)
{
	struct hostile *h = first(port, conns, RAILS);
	struct sdp_hello_rails way;
	int err = PTR_ERR_OR_ZERO(h);
	u8 i;

	for (i = 1; i < RAILS && !err; i++) {
		way = way_in(h, i);
		err = ask(conns, &way);
	}
	return err;
}

/* The number of a rail that works: the joining side says so that it is dead. */
static int same_number(u16 port, struct list_head *conns)
{
	struct hostile *h = first(port, conns, RAILS), *rail = NULL;
	int i;

	if (IS_ERR(h))
		return PTR_ERR(h);
	for (i = 0; i < 3; i++) {
		rail = join(h, conns, 1);
		if (IS_ERR(rail))
			return PTR_ERR(rail);
	}
	return say_by(rail, h, TEXT);
}

static int flood(u16 port, struct list_head *conns)
{
	struct hostile *h = first(port, conns, RAILS);
	struct sdp_hello_rails way;
	int err = PTR_ERR_OR_ZERO(h), i;

	for (i = 0; i < FLOOD && !err; i++) {
		way = way_in(h, 1 + i % (RAILS - 1));
		way.token[i % SDP_RAIL_TOKEN] ^= 1 << i % 8;
		err = ask(conns, &way);
	}
	return err ?: hostile_say(h, SDP_MID_DATA, TEXT);
}

/* A request that is let in, and nothing after that: no RTU, no message. */
static int silent(u16 port, struct list_head *conns)
{
	struct hostile *h = first(port, conns, RAILS);
	struct sdp_hello_rails way;
	struct hostile_req req;
	struct hostile *rail;
	int err;

	if (IS_ERR(h))
		return PTR_ERR(h);
	way = way_in(h, 1);
	request(&req, 0, &way);
	rail = hostile_begin(&req, conns);
	err = IS_ERR(rail) ? PTR_ERR(rail) : hostile_answer(rail);
	return err ?: hostile_say(h, SDP_MID_DATA, TEXT);
}

/* Makes a connection of two rails, and says something by the second one. */
static int two(u16 port, struct list_head *conns, struct hostile **h, struct hostile **rail)
{
	*h = first(port, conns, RAILS);
	if (IS_ERR(*h))
		return PTR_ERR(*h);
	*rail = join(*h, conns, 1);
	return IS_ERR(*rail) ? PTR_ERR(*rail) : say_by(*rail, *h, TEXT);
}

/* The later message first: it waits for the earlier one. */
static int overtakes(u16 port, struct list_head *conns)
{
	struct hostile *h, *rail;
	int err = two(port, conns, &h, &rail);
	u32 seen;

	if (err)
		return err;
	h->mseq++;
	err = say_by(rail, h, TEXT);
	/* The earlier one acknowledges no more than the later one has done. */
	seen = h->acked;
	h->mseq -= 2;
	WRITE_ONCE(h->seen, seen);
	err = err ?: hostile_say(h, SDP_MID_DATA, TEXT);
	h->mseq++;
	return err;
}

/* The earlier one never comes, and the connection ends. */
static int gap(u16 port, struct list_head *conns)
{
	struct hostile *h, *rail;
	int err = two(port, conns, &h, &rail);

	h->mseq++;
	return err ?: say_by(rail, h, TEXT);
}

/* The same message by both rails, as after a rail was given up that has delivered it. */
static int twice(u16 port, struct list_head *conns)
{
	struct hostile *h, *rail;
	int err = two(port, conns, &h, &rail);

	err = err ?: say_by(rail, h, TEXT);
	if (err)
		return err;
	h->mseq--;
	return hostile_say(h, SDP_MID_DATA, TEXT);
}

/* A number far beyond what has been granted. */
static int beyond(u16 port, struct list_head *conns)
{
	struct hostile *h, *rail;
	int err = two(port, conns, &h, &rail);

	if (err)
		return err;
	h->mseq += 5000;
	err = say_by(rail, h, TEXT);
	return err == -EIO ? 0 : err;
}

/* An acknowledgment of what has not been sent. */
static int lies(u16 port, struct list_head *conns)
{
	struct hostile *h, *rail;
	int err = two(port, conns, &h, &rail);

	/* Before it sends by both rails, the peer only remembers the newest one. */
	if (!err)
		msleep(500);
	err = err ?: say_note(rail, &(struct sdp_rail_msg){
		.mid = SDP_MID_RAIL_ACK, .ack = READ_ONCE(h->seen) + 1000 });
	return err == -EIO ? 0 : err;
}

/* Rails given up that do not exist, or the only one, and one that works. */
static int gone(u16 port, struct list_head *conns)
{
	struct hostile *h = first(port, conns, RAILS), *rail;
	struct sdp_rail_msg msg = { .mid = SDP_MID_RAIL_GONE };
	int err;

	if (IS_ERR(h))
		return PTR_ERR(h);
	err = say_note(h, &msg);
	rail = err ? ERR_PTR(err) : join(h, conns, 1);
	if (IS_ERR(rail))
		return PTR_ERR(rail);
	err = say_by(rail, h, TEXT);
	msg.rail = 9;
	err = err ?: say_note(h, &msg);
	msg.rail = 255;
	err = err ?: say_note(h, &msg);
	msg.rail = 1;
	err = err ?: say_note(h, &msg) ?: say_note(h, &msg);
	return err ?: hostile_say(h, SDP_MID_DATA, TEXT);
}

/* Addresses from the side that would have to join at them. */
static int addresses(u16 port, struct list_head *conns)
{
	struct hostile *h = first(port, conns, RAILS);

	return IS_ERR(h) ? PTR_ERR(h) :
	       say_note(h, &(struct sdp_rail_msg){ .mid = SDP_MID_RAIL_ADDRS, .n = 8 });
}

/* A message about rails, @more bytes longer than it says, from a peer that may have @most rails. */
static int odd_note(u16 port, struct list_head *conns, u8 most, u32 more)
{
	struct hostile *h = first(port, conns, most);
	u32 len;
	int err;

	if (IS_ERR(h))
		return PTR_ERR(h);
	len = sdp_rail_msg_build(h->send, &(struct sdp_rail_msg){ .mid = SDP_MID_RAIL_ACK });
	err = hostile_send(h, len + more);
	return err == -EIO ? 0 : err;
}

static int note_long(u16 port, struct list_head *conns)
{
	return odd_note(port, conns, RAILS, 1);
}

static int note_huge(u16 port, struct list_head *conns)
{
	return odd_note(port, conns, RAILS, 1000);
}

static int note_unasked(u16 port, struct list_head *conns)
{
	return odd_note(port, conns, 0, 0);
}

/* A message in a ring, of which there is none with rails. */
static int placed(u16 port, struct list_head *conns)
{
	struct hostile *h, *rail;
	int err = two(port, conns, &h, &rail) ?: hostile_write_imm(rail);

	return err == -EIO ? 0 : err;
}

/* A SrcAvail with these keys for several rails. */
static int advertise(struct hostile *h, const struct sdp_rail_keys *keys)
{
	u32 len = hostile_header(h, SDP_MID_SRC_AVAIL, 1);
	struct sdp_msg msg;

	if (sdp_wire_parse(h->send, len, &msg))
		return -EINVAL;
	msg.h.flags = SDP_FLAG_KEYS;
	msg.keys = *keys;
	len = sdp_wire_build(h->send, &msg) + msg.payload_len;
	h->send[len - 1] = 0;
	return hostile_send(h, len);
}

/* The same, once the connection has two rails. */
static int two_advertise(u16 port, struct list_head *conns, const struct sdp_rail_keys *keys)
{
	struct hostile *h, *rail;
	int err = two(port, conns, &h, &rail) ?: advertise(h, keys);

	return err == -EIO ? 0 : err;
}

static bool sendsm_came(struct hostile *h)
{
	/* Pairs with note_stream(). */
	return smp_load_acquire(&h->came[SDP_MID_SENDSM]);
}

/* Such keys that the reader declines in the end, by either rail. */
static int declined(u16 port, struct list_head *conns, const struct sdp_rail_keys *keys)
{
	struct hostile *h, *rail;
	int err = two(port, conns, &h, &rail) ?: advertise(h, keys), i;

	for (i = 0; i < 500 && !err; i++) {
		if (sendsm_came(h) || sendsm_came(rail))
			return 0;
		msleep(20);
	}
	return err ?: -ETIMEDOUT;
}

/* Keys from a peer that knows no rails. */
static int keys_unasked(u16 port, struct list_head *conns)
{
	struct hostile *h = first(port, conns, 0);
	int err = PTR_ERR_OR_ZERO(h);

	err = err ?: advertise(h, &(struct sdp_rail_keys){ .rails = 1, .rkey = { 5 } });
	return err == -EIO ? 0 : err;
}

static int keys_none(u16 port, struct list_head *conns)
{
	return two_advertise(port, conns, &(struct sdp_rail_keys){ .rkey = { 5, 6 } });
}

/* Keys of rails that there are not. */
static int keys_nobodys(u16 port, struct list_head *conns)
{
	return declined(port, conns, &(struct sdp_rail_keys){
		.rails = 0xfc, .rkey = { 5, 6, 7, 8, 9, 10, 11, 12 } });
}

/* The key of a rail that has been replaced, or will be. */
static int keys_old(u16 port, struct list_head *conns)
{
	return declined(port, conns, &(struct sdp_rail_keys){
		.rails = 0x02, .attempt = { 0, 77 }, .rkey = { 5, 6 } });
}

/* A key that opens nothing, of the second rail. */
static int keys_wrong(u16 port, struct list_head *conns)
{
	return declined(port, conns, &(struct sdp_rail_keys){
		.rails = 0x02, .rkey = { 5, 6 } });
}

const struct hostile_course hostile_rails[] = {
	{ "rails-unknown",		no_such_connection },
	{ "rails-token",		wrong_token },
	{ "rails-id",			wrong_id },
	{ "rails-number-0",		number_0 },
	{ "rails-number-8",		number_8 },
	{ "rails-number-255",		number_255 },
	{ "rails-too-many",		too_many },
	{ "rails-same-number",		same_number },
	{ "rails-flood",		flood },
	{ "rails-silent",		silent },
	{ "rails-overtakes",		overtakes },
	{ "rails-gap",			gap },
	{ "rails-twice",		twice },
	{ "rails-beyond",		beyond },
	{ "rails-lies",			lies },
	{ "rails-gone",			gone },
	{ "rails-addresses",		addresses },
	{ "rails-note-long",		note_long },
	{ "rails-note-huge",		note_huge },
	{ "rails-note-unasked",		note_unasked },
	{ "rails-placed",		placed },
	{ "rails-keys-unasked",		keys_unasked },
	{ "rails-keys-none",		keys_none },
	{ "rails-keys-nobodys",		keys_nobodys },
	{ "rails-keys-old",		keys_old },
	{ "rails-keys-wrong",		keys_wrong },
	{ },
};
