// SPDX-License-Identifier: GPL-2.0
/*
 * A large transfer in pieces, over the rails of a connection.
 *
 * stripe.h describes it.
 */
#include "stripe.h"

/**
 * sdp_stripe_begin() - begin a transfer
 * @s: to fill in
 * @len: bytes, not 0
 * @rails: rails that can take part, as a bit mask
 * @most: bytes of the longest piece, at least %SDP_STRIPE_MIN
 */
void sdp_stripe_begin(struct sdp_stripe *s, u32 len, u8 rails, u32 most)
{
	memset(s, 0, sizeof(*s));
	s->len = len;
	s->most = most;
	s->rails = rails;
}

static u32 rails_taking_part(const struct sdp_stripe *s)
{
	u32 i, n = 0;

	for (i = 0; i < SDP_RAILS_MAX; i++)
		n += s->rails >> i & 1;
	return n;
}

/*
 * Length of the next piece: half of what each rail would have of the rest. A
 * rail that takes part alone gets as much as possible.
 */
static u32 next_len(const struct sdp_stripe *s)
{
	u32 rest = s->len - s->next, n = rails_taking_part(s), len;

	if (n == 1)
		return min(rest, s->most);
	len = rest / (2 * n) + SDP_STRIPE_UNIT - 1;
	len -= len % SDP_STRIPE_UNIT;
	len = min(max(len, (u32)SDP_STRIPE_MIN), s->most);
	return min(len, rest);
}

/**
 * sdp_stripe_take() - give a piece to a rail (H1)
 * @s: the transfer; @piece of the rail is set
 * @rail: number of the rail
 *
 * Return: false if it has one already, takes no part, or nothing is left.
 */
bool sdp_stripe_take(struct sdp_stripe *s, u32 rail)
{
	struct sdp_stripe_piece *p = &s->piece[rail];

	if (!(s->rails >> rail & 1) || (s->busy >> rail & 1))
		return false;
	if (s->n_back) {
		*p = s->back[--s->n_back];
	} else if (s->next < s->len) {
		p->at = s->next;
		p->len = next_len(s);
		s->next += p->len;
	} else {
		return false;
	}
	s->busy |= 1U << rail;
	return true;
}

/**
 * sdp_stripe_moved() - a rail has moved its piece
 * @s: the transfer
 * @rail: number of the rail, which has a piece
 */
void sdp_stripe_moved(struct sdp_stripe *s, u32 rail)
{
	s->busy &= ~(1U << rail);
	s->moved += s->piece[rail].len;
}

/**
 * sdp_stripe_failed() - a rail has not moved its piece, and never will
 * @s: the transfer
 * @rail: number of the rail, which has a piece
 * @again: it can be given others
 */
void sdp_stripe_failed(struct sdp_stripe *s, u32 rail, bool again)
{
	s->busy &= ~(1U << rail);
	s->back[s->n_back++] = s->piece[rail];
	if (!again)
		s->rails &= ~(1U << rail);
}
