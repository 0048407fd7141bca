/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages about rails, and what Hello and HelloAck say about them.
 *
 * Only between two sides that have both said in Hello and HelloAck that they
 * know rails. The messages have BSDH with MSeq 0 and Bufs 0: they take no part
 * in credit and order, and may go by any rail. Each rail has receives for them.
 *
 *	RailAddrs	addresses by which the sender of HelloAck can be reached
 *	RailGone	the sender has given up a rail
 *	RailAck		nothing but MSeqAck, which all of them have
 */
#ifndef SDP_PROTO_WIRE_RAILS_H
#define SDP_PROTO_WIRE_RAILS_H

#include "wire.h"

#define SDP_RAIL_ADDRS_MAX	8
#define SDP_RAIL_MSG_MAX	(SDP_BSDH_LEN + 4 + 16 * SDP_RAIL_ADDRS_MAX)

/**
 * struct sdp_rail_msg - a message about rails
 * @mid: RailAddrs, RailGone or RailAck
 * @ack: MSeqAck
 * @rail: RailGone: number of the rail
 * @n: RailAddrs: number of addresses
 * @addrs: RailAddrs: addresses, IPv4 as ::ffff:a.b.c.d
 */
struct sdp_rail_msg {
	u8 mid;
	u32 ack;
	u8 rail;
	u8 n;
	u8 addrs[SDP_RAIL_ADDRS_MAX][16];
};

bool sdp_rail_token_equal(const u8 *a, const u8 *b);
bool sdp_mid_is_rails(u8 mid);
u32 sdp_rail_addrs_most(u32 recv_size);
u32 sdp_rail_msg_build(u8 *buf, const struct sdp_rail_msg *msg);
enum sdp_violation sdp_rail_msg_parse(const u8 *buf, u32 bytes,
				      struct sdp_rail_msg *msg);

void sdp_hello_get_rails(const u8 *buf, struct sdp_hello *hello);
void sdp_hello_put_rails(u8 *buf, const struct sdp_hello *hello);
void sdp_hello_ack_get_rails(const u8 *buf, struct sdp_hello *ack);
void sdp_hello_ack_put_rails(u8 *buf, const struct sdp_hello *ack);

#endif /* SDP_PROTO_WIRE_RAILS_H */
