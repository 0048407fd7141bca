/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Header of a datagram, which precedes a packet of an SDP message (I1, I3).
 *
 * Connections by datagrams share queue pairs, so each datagram names its
 * connection. Packets are numbered one after the other, in each direction, from
 * a random number on. The packets of a message have consecutive numbers; all
 * carry that of the first one, @seq, and their place in the message, @offset.
 *
 * Pure functions.
 */
#ifndef SDP_PROTO_DATAGRAM_H
#define SDP_PROTO_DATAGRAM_H

#include "wire.h"

#define SDP_DATAGRAM_VERSION	1
#define SDP_DATAGRAM_LEN	24	/* bytes of the header */

/* Bytes behind the header of datagrams that open a connection (opening.h). */
#define SDP_COOKIE_LEN		16	/* all of a Challenge */
#define SDP_OPEN_LEN		(32 + SDP_HELLO_LEN)
#define SDP_OPEN_ACK_LEN	(8 + SDP_HELLO_ACK_LEN)
#define SDP_OPEN_REJECT_LEN	8

/* Packets that a side may have sent beyond those acknowledged: two chunks, and
 * a few for the messages that begin a connection.
 */
#define SDP_WINDOW_CONNECTING	75
#define SDP_WINDOW_ACCEPTING	76

/**
 * enum sdp_datagram_type - kinds of datagrams
 * @SDP_DATAGRAM_DATA: a packet of a message
 * @SDP_DATAGRAM_ACK: nothing but the acknowledgment
 * @SDP_DATAGRAM_NACK: packets are missing from @ack on; send them again
 * @SDP_DATAGRAM_PROBE: what is missing before @seq? The answer is a NACK, or an
 *	ACK if nothing is
 * @SDP_DATAGRAM_RESET: the connection has ended
 * @SDP_DATAGRAM_OPEN: open a connection (opening.h)
 * @SDP_DATAGRAM_CHALLENGE: say so again, with this cookie
 * @SDP_DATAGRAM_OPEN_ACK: the connection is open
 * @SDP_DATAGRAM_OPEN_REJECT: nobody listens, or who does cannot take it
 */
enum sdp_datagram_type {
	SDP_DATAGRAM_DATA,
	SDP_DATAGRAM_ACK,
	SDP_DATAGRAM_NACK,
	SDP_DATAGRAM_PROBE,
	SDP_DATAGRAM_RESET,
	SDP_DATAGRAM_OPEN,
	SDP_DATAGRAM_CHALLENGE,
	SDP_DATAGRAM_OPEN_ACK,
	SDP_DATAGRAM_OPEN_REJECT,
};

#define SDP_DATAGRAM_TYPES	(SDP_DATAGRAM_OPEN_REJECT + 1)

/* Flags of a datagram. */
#define SDP_DATAGRAM_ACK_SOON	0x01	/* acknowledge soon: nothing follows */
#define SDP_DATAGRAM_ACK_NOW	0x02	/* acknowledge now: the sender waits */
#define SDP_DATAGRAM_CE		0x04	/* packets met congestion */
#define SDP_DATAGRAM_GOES_ON	0x08	/* Reset: of this link alone */
#define SDP_DATAGRAM_FLAGS_ALL	0x3f

/*
 * Bits 4 and 5 of the flags of Data, Probe and NACK: the round. A sender begins
 * a new one each time that it goes back; they count modulo 4. So its peer can
 * tell what was sent after that from what was on the way before. In a NACK it
 * names the newest round from which something has come.
 */
#define SDP_DATAGRAM_ROUND_SHIFT	4
#define SDP_DATAGRAM_ROUND_MASK		0x30

/**
 * struct sdp_datagram - a decoded header
 * @type: enum sdp_datagram_type
 * @flags: SDP_DATAGRAM_ flags
 * @window: packets beyond @ack that the sender of this datagram takes, from 1
 * @to: the connection, by the number that the receiver has given it
 * @from: the connection, by the number that the sender has given it
 * @seq: Data: number of the first packet of the message. Others: of the first
 *	packet that has not been sent
 * @ack: first packet that the sender of this datagram lacks; it has all before
 * @offset: Data: place of the packet in the message, from 0. Probe: its number,
 *	from 1. ACK, NACK: number of the Probe that is answered, or 0. Others: 0
 * @packets: Data: number of packets of the message
 */
struct sdp_datagram {
	u8 type;
	u8 flags;
	u16 window;
	u32 to;
	u32 from;
	u32 seq;
	u32 ack;
	u16 offset;
	u16 packets;
};

/**
 * sdp_window_quarter() - how much makes a side acknowledge it, unasked (I2)
 * @window: packets that may be unacknowledged
 *
 * Return: number of packets.
 */
static inline u32 sdp_window_quarter(u32 window)
{
	return (window + 3) / 4;
}

/**
 * sdp_datagram_round() - round of a datagram
 * @d: Data, Probe or NACK
 *
 * Return: 0 to 3.
 */
static inline u8 sdp_datagram_round(const struct sdp_datagram *d)
{
	return (d->flags & SDP_DATAGRAM_ROUND_MASK) >> SDP_DATAGRAM_ROUND_SHIFT;
}

void sdp_datagram_build(u8 *buf, const struct sdp_datagram *d);
enum sdp_violation sdp_datagram_parse(const u8 *buf, u32 bytes,
				      struct sdp_datagram *d);

#endif /* SDP_PROTO_DATAGRAM_H */
