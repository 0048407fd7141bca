/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A large transfer in pieces, over the rails of a connection (H1).
 *
 * Each rail moves one piece at a time, and gets another one when it has moved
 * it. So the rails share the transfer in proportion to their speeds, without
 * configuration. The pieces become smaller towards the end, so that a slow rail
 * does not hold up the others. A piece that a rail could not move goes to
 * another rail; the owner gives it back only when nothing moves it any more.
 *
 * Pure arithmetic. The caller holds its lock.
 */
#ifndef SDP_PROTO_STRIPE_H
#define SDP_PROTO_STRIPE_H

#include "wire.h"

/* Lengths of a piece with several rails, bytes; the last one may be shorter. */
#define SDP_STRIPE_MIN	32768
#define SDP_STRIPE_MAX	262144
/* Pieces begin at a multiple of this from the beginning of the transfer. */
#define SDP_STRIPE_UNIT	4096

/**
 * struct sdp_stripe_piece - a part of a transfer
 * @at: its first byte, from the beginning of the transfer
 * @len: bytes
 */
struct sdp_stripe_piece {
	u32 at;
	u32 len;
};

/**
 * struct sdp_stripe - a transfer, and who moves which part of it
 * @len: bytes of the transfer
 * @most: bytes of the longest piece
 * @next: first byte that no rail has been given
 * @moved: bytes that have been moved
 * @rails: rails that take part, as a bit mask
 * @busy: those of them that have a piece
 * @piece: the piece of each of these
 * @back: pieces that have been given back
 * @n_back: number of these; with those in @piece there are never more than
 *	rails, because a rail takes one of these before any other
 */
struct sdp_stripe {
	u32 len;
	u32 most;
	u32 next;
	u32 moved;
	u8 rails;
	u8 busy;
	struct sdp_stripe_piece piece[SDP_RAILS_MAX];
	struct sdp_stripe_piece back[SDP_RAILS_MAX];
	u32 n_back;
};

/**
 * sdp_stripe_complete() - has all of the transfer been moved?
 * @s: the transfer
 *
 * Return: true when it has.
 */
static inline bool sdp_stripe_complete(const struct sdp_stripe *s)
{
	return s->moved == s->len;
}

void sdp_stripe_begin(struct sdp_stripe *s, u32 len, u8 rails, u32 most);
bool sdp_stripe_take(struct sdp_stripe *s, u32 rail);
void sdp_stripe_moved(struct sdp_stripe *s, u32 rail);
void sdp_stripe_failed(struct sdp_stripe *s, u32 rail, bool again);

#endif /* SDP_PROTO_STRIPE_H */
