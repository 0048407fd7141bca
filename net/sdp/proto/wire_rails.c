// SPDX-License-Identifier: GPL-2.0
/*
 * Codec of messages about rails, and of what Hello and HelloAck say about them.
 *
 * wire_rails.h describes them.
 */
#include "wire_bytes.h"
#include "wire_rails.h"

/*
 * In bytes of Hello and HelloAck that the standard reserves. Bytes with another
 * beginning belong to somebody else and are ignored.
 *
 * Hello of a new connection:
 *	88 "RL"   90 version   91 most
 * Hello of one more rail, in the place of the extensions of rings and others:
 *	64 "JOIN"   68 version   69 rail   70 attempt   71 reserved   72 id
 *	76 token (16)
 * HelloAck:
 *	44 "RAIL"   48 version   49 most   50 reserved   52 id   56 token (16)
 */
#define RAILS_VERSION	2
#define HELLO_MAGIC	0x524C
#define HELLO_RAILS	88
#define JOIN_MAGIC	0x4A4F494E
#define HELLO_JOIN	64
#define ACK_MAGIC	0x5241494C
#define HELLO_ACK_RAILS	44

/**
 * sdp_hello_get_rails() - read what a Hello says about rails
 * @buf: the Hello, %SDP_HELLO_LEN bytes
 * @hello: its @rails are filled in
 */
void sdp_hello_get_rails(const u8 *buf, struct sdp_hello *hello)
{
	struct sdp_hello_rails *r = &hello->rails;
	const u8 *p = buf + HELLO_JOIN;

	if (get32(p) == JOIN_MAGIC && p[4] == RAILS_VERSION) {
		r->join = true;
		r->rail = p[5];
		r->attempt = p[6];
		r->id = get32(p + 8);
		memcpy(r->token, p + 12, SDP_RAIL_TOKEN);
		return;
	}
	p = buf + HELLO_RAILS;
	if (get16(p) == HELLO_MAGIC && p[2] == RAILS_VERSION)
		r->most = p[3];
}

/**
 * sdp_hello_put_rails() - add what a Hello says about rails
 * @buf: the Hello; nothing is written if there is nothing to say
 * @hello: its @rails
 */
void sdp_hello_put_rails(u8 *buf, const struct sdp_hello *hello)
{
	const struct sdp_hello_rails *r = &hello->rails;
	u8 *p = buf + HELLO_JOIN;

	if (r->join) {
		memset(p, 0, SDP_HELLO_LEN - HELLO_JOIN);
		put32(p, JOIN_MAGIC);
		p[4] = RAILS_VERSION;
		p[5] = r->rail;
		p[6] = r->attempt;
		put32(p + 8, r->id);
		memcpy(p + 12, r->token, SDP_RAIL_TOKEN);
	} else if (r->most) {
		p = buf + HELLO_RAILS;
		put16(p, HELLO_MAGIC);
		p[2] = RAILS_VERSION;
		p[3] = r->most;
	}
}

/**
 * sdp_hello_ack_get_rails() - read what a HelloAck says about rails
 * @buf: the HelloAck, %SDP_HELLO_ACK_LEN bytes
 * @ack: its @rails are filled in
 */
void sdp_hello_ack_get_rails(const u8 *buf, struct sdp_hello *ack)
{
	struct sdp_hello_rails *r = &ack->rails;
	const u8 *p = buf + HELLO_ACK_RAILS;

	if (get32(p) != ACK_MAGIC || p[4] != RAILS_VERSION)
		return;
	r->most = p[5];
	r->id = get32(p + 8);
	memcpy(r->token, p + 12, SDP_RAIL_TOKEN);
}

/**
 * sdp_hello_ack_put_rails() - add what a HelloAck says about rails
 * @buf: the HelloAck; nothing is written if there is nothing to say
 * @ack: its @rails
 */
void sdp_hello_ack_put_rails(u8 *buf, const struct sdp_hello *ack)
{
	const struct sdp_hello_rails *r = &ack->rails;
	u8 *p = buf + HELLO_ACK_RAILS;

	if (!r->most)
		return;
	put32(p, ACK_MAGIC);
	p[4] = RAILS_VERSION;
	p[5] = r->most;
	put32(p + 8, r->id);
	memcpy(p + 12, r->token, SDP_RAIL_TOKEN);
}

/**
 * sdp_rail_token_equal() - compare two tokens
 * @a: a token
 * @b: another one
 *
 * Takes the same time wherever they differ.
 *
 * Return: true when they are equal.
 */
bool sdp_rail_token_equal(const u8 *a, const u8 *b)
{
	u8 differ = 0;
	u32 i;

	for (i = 0; i < SDP_RAIL_TOKEN; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

/**
 * sdp_mid_is_rails() - is a message about rails?
 * @mid: its identifier
 *
 * Return: true when it is, and not for the engine.
 */
bool sdp_mid_is_rails(u8 mid)
{
	return mid >= SDP_MID_RAIL_ADDRS && mid <= SDP_MID_RAIL_ACK;
}

/**
 * sdp_rail_addrs_most() - number of addresses that RailAddrs can have
 * @recv_size: bytes of the peer's receives, as in its Hello
 *
 * Return: number of addresses.
 */
u32 sdp_rail_addrs_most(u32 recv_size)
{
	return min((recv_size - SDP_BSDH_LEN - 4) / 16,
		   (u32)SDP_RAIL_ADDRS_MAX);
}

/**
 * sdp_rail_msg_build() - encode a message about rails
 * @buf: room for %SDP_RAIL_MSG_MAX bytes
 * @msg: the message
 *
 * Return: its length.
 */
u32 sdp_rail_msg_build(u8 *buf, const struct sdp_rail_msg *msg)
{
	u32 len = SDP_BSDH_LEN;

	memset(buf, 0, SDP_BSDH_LEN + 4);
	if (msg->mid != SDP_MID_RAIL_ACK)
		len += 4;
	if (msg->mid == SDP_MID_RAIL_GONE)
		buf[SDP_BSDH_LEN] = msg->rail;
	if (msg->mid == SDP_MID_RAIL_ADDRS) {
		buf[SDP_BSDH_LEN] = msg->n;
		memcpy(buf + len, msg->addrs, 16 * msg->n);
		len += 16 * msg->n;
	}
	buf[0] = msg->mid;
	put32(buf + 4, len);
	put32(buf + 12, msg->ack);
	return len;
}

/**
 * sdp_rail_msg_parse() - decode and validate a message about rails
 * @buf: the message; sdp_mid_is_rails() is true for its identifier
 * @bytes: its length, at most %SDP_RAIL_MSG_MAX
 * @msg: filled in; complete only when the result is %SDP_VALID
 *
 * Return: %SDP_VALID, or the violation.
 */
enum sdp_violation sdp_rail_msg_parse(const u8 *buf, u32 bytes,
				      struct sdp_rail_msg *msg)
{
	u32 len = SDP_BSDH_LEN;

	memset(msg, 0, sizeof(*msg));
	msg->mid = buf[0];
	msg->ack = get32(buf + 12);
	if (msg->mid != SDP_MID_RAIL_ACK)
		len += 4;
	if (bytes < len || get32(buf + 4) != bytes)
		return SDP_BAD_LEN;
	if (buf[1])
		return SDP_BAD_FLAGS;
	if (get16(buf + 2))
		return SDP_BAD_BUFS;
	if (get32(buf + 8))
		return SDP_BAD_SEQ;
	if (msg->mid == SDP_MID_RAIL_GONE)
		msg->rail = buf[SDP_BSDH_LEN];
	if (msg->mid == SDP_MID_RAIL_ADDRS) {
		msg->n = buf[SDP_BSDH_LEN];
		if (msg->n > SDP_RAIL_ADDRS_MAX)
			return SDP_BAD_FIELD;
		len += 16 * msg->n;
		if (bytes < len)
			return SDP_BAD_LEN;
		memcpy(msg->addrs, buf + SDP_BSDH_LEN + 4, 16 * msg->n);
	}
	return bytes == len ? SDP_VALID : SDP_BAD_LEN;
}
