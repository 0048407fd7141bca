// SPDX-License-Identifier: GPL-2.0
/*
 * Header of a datagram, which precedes a packet of an SDP message.
 *
 * datagram.h describes it. The bytes:
 *	0: version, 4 bits, and type, 4 bits   1: flags   2: window   4: to
 *	8: from   12: seq   16: ack   20: offset, or number of a Probe
 *	22: packets
 */
#include "chunk.h"
#include "datagram.h"
#include "wire_bytes.h"

/**
 * sdp_datagram_build() - encode a header
 * @buf: %SDP_DATAGRAM_LEN bytes
 * @d: header
 */
void sdp_datagram_build(u8 *buf, const struct sdp_datagram *d)
{
	buf[0] = SDP_DATAGRAM_VERSION << 4 | d->type;
	buf[1] = d->flags;
	put16(buf + 2, d->window);
	put32(buf + 4, d->to);
	put32(buf + 8, d->from);
	put32(buf + 12, d->seq);
	put32(buf + 16, d->ack);
	put16(buf + 20, d->offset);
	put16(buf + 22, d->packets);
}

/* Bytes behind the header; Data has a packet of any length. */
static const u8 body_len[SDP_DATAGRAM_TYPES] = {
	[SDP_DATAGRAM_OPEN] = SDP_OPEN_LEN,
	[SDP_DATAGRAM_CHALLENGE] = SDP_COOKIE_LEN,
	[SDP_DATAGRAM_OPEN_ACK] = SDP_OPEN_ACK_LEN,
	[SDP_DATAGRAM_OPEN_REJECT] = SDP_OPEN_REJECT_LEN,
};

/* A Probe has a number, and an ACK or NACK that of the Probe it answers. */
static bool number_fits(const struct sdp_datagram *d)
{
	switch (d->type) {
	case SDP_DATAGRAM_PROBE:
		return d->offset;
	case SDP_DATAGRAM_ACK:
	case SDP_DATAGRAM_NACK:
		return true;
	default:
		return !d->offset;
	}
}

static bool flags_fit(const struct sdp_datagram *d)
{
	if (d->flags & SDP_DATAGRAM_GOES_ON && d->type != SDP_DATAGRAM_RESET)
		return false;
	if (d->flags & SDP_DATAGRAM_ROUND_MASK &&
	    d->type != SDP_DATAGRAM_DATA && d->type != SDP_DATAGRAM_PROBE &&
	    d->type != SDP_DATAGRAM_NACK)
		return false;
	return !(d->flags & ~SDP_DATAGRAM_FLAGS_ALL);
}

static enum sdp_violation datagram_check(const struct sdp_datagram *d, u32 body)
{
	if (!flags_fit(d))
		return SDP_BAD_FLAGS;
	if (!d->window || d->window > SDP_WINDOW_ACCEPTING)
		return SDP_BAD_FIELD;
	if (d->type != SDP_DATAGRAM_DATA) {
		if (body != body_len[d->type])
			return SDP_BAD_LEN;
		return d->packets || !number_fits(d) ? SDP_BAD_FIELD :
						       SDP_VALID;
	}
	if (!body)
		return SDP_BAD_LEN;
	return d->offset < d->packets && d->packets <= SDP_CHUNK_PACKETS_MAX ?
		       SDP_VALID :
		       SDP_BAD_FIELD;
}

/**
 * sdp_datagram_parse() - decode a header, and check it
 * @buf: what has arrived
 * @bytes: its length
 * @d: filled in; not valid unless %SDP_VALID is returned
 *
 * Return: %SDP_VALID, or what is wrong with the datagram.
 */
enum sdp_violation sdp_datagram_parse(const u8 *buf, u32 bytes,
				      struct sdp_datagram *d)
{
	if (bytes < SDP_DATAGRAM_LEN)
		return SDP_BAD_LEN;
	d->type = buf[0] & 15;
	if (buf[0] >> 4 != SDP_DATAGRAM_VERSION ||
	    d->type >= SDP_DATAGRAM_TYPES)
		return SDP_BAD_MID;
	d->flags = buf[1];
	d->window = get16(buf + 2);
	d->to = get32(buf + 4);
	d->from = get32(buf + 8);
	d->seq = get32(buf + 12);
	d->ack = get32(buf + 16);
	d->offset = get16(buf + 20);
	d->packets = get16(buf + 22);
	return datagram_check(d, bytes - SDP_DATAGRAM_LEN);
}
