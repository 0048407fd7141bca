// SPDX-License-Identifier: GPL-2.0
/*
 * Credit accounting: see credit.h for the names.
 *
 * A header's (MSeqAck, Bufs) pair is used as one number, the newest sequence number that
 * may be sent: limit = LRSQ + PR. Send credit is then limit - LSSQ, which is the same
 * as PR - (LSSQ - LRSQ), and two checks become comparisons: a peer that takes a grant
 * back moves the limit backwards, one that sends without credit passes ours.
 */
#include "credit.h"

/* Half of the receives, but so that T more than one can always become posted. */
static u16 threshold_for(u16 target, u16 wish)
{
	u16 t = wish ? wish : target / 2;

	return max((u16)2, min(t, (u16)(target - 1)));
}

/**
 * sdp_credit_init() - a connection before its Hello
 * @c: to fill
 * @target: receives to keep posted, at least %SDP_RECV_BUFFERS_MIN
 * @threshold: T, or 0 for half of @target
 */
void sdp_credit_init(struct sdp_credit *c, u16 target, u16 threshold)
{
	memset(c, 0, sizeof(*c));
	sdp_credit_set_target(c, target, threshold);
}

/**
 * sdp_credit_set_target() - change how many receives shall be posted
 * @c: credit state
 * @target: receives to keep posted; posted ones are never taken back
 * @threshold: T, or 0 for half of @target
 */
void sdp_credit_set_target(struct sdp_credit *c, u16 target, u16 threshold)
{
	c->target = max((u16)SDP_RECV_BUFFERS_MIN, target);
	c->threshold = threshold_for(c->target, threshold);
}

/**
 * sdp_credit_posted() - the transport has posted receives
 * @c: credit state
 * @n: how many
 */
void sdp_credit_posted(struct sdp_credit *c, u16 n)
{
	c->posted += n;
}

/**
 * sdp_credit_wanted() - how many receives shall be posted now
 * @c: credit state
 *
 * If fewer shall be than there were, none replaces the one that the peer's advertisement has
 * used, and one more is needed to keep it back. With no credit left that is not so: before
 * we can answer, a message of the peer's will have used one.
 *
 * What @spare keeps back is always one more, for no message of the peer's has used it.
 *
 * Return: receives.
 */
u16 sdp_credit_wanted(const struct sdp_credit *c)
{
	if (c->posted < c->target)
		return c->target - c->posted;
	return (c->reserve || c->spare) && c->posted == c->theirs &&
	       sdp_credit_available(c);
}

/**
 * sdp_credit_available() - how many messages may be sent (D1)
 * @c: credit state
 *
 * The adapter may hold messages for which none has been granted yet (ring.h).
 *
 * Return: messages.
 */
u32 sdp_credit_available(const struct sdp_credit *c)
{
	return sdp_seq_after(c->tx_limit, c->tx_seq) ? c->tx_limit - c->tx_seq :
						       0;
}

/**
 * sdp_credit_may_send_data() - may anything but a credit update be sent? (D5)
 * @c: credit state
 *
 * The last credit is kept for a credit update, so that two sides at one credit each
 * always get going again.
 *
 * And a message that grants nothing waits: no receive is posted only when the peer's
 * update has used its last credit and that buffer could not be posted again at once. To
 * use up here what the update granted, without giving that one back, would leave both
 * sides unable to speak.
 *
 * Return: true when it may.
 */
bool sdp_credit_may_send_data(const struct sdp_credit *c)
{
	return c->posted && sdp_credit_available(c) > 1;
}

/*
 * What a message says is posted. As long as we owe the peer an answer, something is left for
 * that one to grant, unless this message is the last that we may send. While our buffers are
 * out, which can be for very long, only what is beyond the target: the peer could not go on with
 * less.
 */
static u16 told(const struct sdp_credit *c)
{
	bool keep = c->reserve || (c->spare && c->posted > c->target);

	if (!keep || c->posted < 2 || sdp_credit_available(c) < 2)
		return c->posted;
	return max(c->theirs, (u16)(c->posted - 1));
}

/**
 * sdp_credit_may_answer() - may what somebody waits for be sent, as the peer's application? (D5)
 * @c: credit state
 *
 * With the last credit, too, if it grants the peer something, as an update would: a peer whose
 * application does not read can grant us nothing more, and waits for this to go on sending; or our
 * own reader, who wants its buffer back.
 *
 * Return: true when it may.
 */
bool sdp_credit_may_answer(const struct sdp_credit *c)
{
	return sdp_credit_may_send_data(c) ||
	       (sdp_credit_available(c) == 1 && c->posted > c->theirs);
}

/**
 * sdp_credit_update_due() - shall a credit update be sent? (D4, D5)
 * @c: credit state
 *
 * Only when the peer has less than T, and this update grants it at least T more.
 *
 * Return: true when it shall.
 */
bool sdp_credit_update_due(const struct sdp_credit *c)
{
	return (c->unasked || sdp_credit_available(c)) &&
	       c->theirs < c->threshold && told(c) >= c->theirs + c->threshold;
}

/**
 * sdp_credit_peer_is_mute() - has the peer no credit at all, though there is some to grant?
 * @c: credit state
 *
 * Less than T is granted with data that goes the other way (D4). While our advertisement is
 * out none goes, and the peer needs a credit to answer it.
 *
 * Return: true when it is so, and we can say so without our own last credit.
 */
bool sdp_credit_peer_is_mute(const struct sdp_credit *c)
{
	return !c->theirs && !c->unasked && sdp_credit_may_send_data(c);
}

/**
 * sdp_credit_peer_hello() - the peer's Hello or HelloAck has arrived
 * @c: credit state
 * @bufs: receives that the peer had posted
 */
void sdp_credit_peer_hello(struct sdp_credit *c, u16 bufs)
{
	c->tx_limit = bufs;
}

/**
 * sdp_credit_granted_hello() - our Hello or HelloAck tells the peer of @posted
 * @c: credit state
 */
void sdp_credit_granted_hello(struct sdp_credit *c)
{
	c->theirs = c->posted;
	c->rx_limit = c->posted;
}

/**
 * sdp_credit_sent() - account a message that is sent now and fill in its header (D1, D3)
 * @c: credit state; there must be credit
 * @h: @bufs, @mseq and @mseq_ack are set
 */
void sdp_credit_sent(struct sdp_credit *c, struct sdp_bsdh *h)
{
	h->bufs = told(c);
	h->mseq = ++c->tx_seq;
	h->mseq_ack = c->rx_seq;
	c->theirs = h->bufs;
	c->rx_limit = c->rx_seq + h->bufs;
}

/**
 * sdp_credit_received() - check and account the header of a received message (D1, D3)
 * @c: credit state; unchanged when the header is refused
 * @h: the header, each field in its range already
 *
 * Return: %SDP_VALID, or %SDP_BAD_SEQ, %SDP_BAD_CREDIT, %SDP_BAD_ACK, %SDP_BAD_BUFS.
 */
enum sdp_violation sdp_credit_received(struct sdp_credit *c,
				       const struct sdp_bsdh *h)
{
	u32 limit = h->mseq_ack + h->bufs;

	if (h->mseq != c->rx_seq + 1)
		return SDP_BAD_SEQ;
	if ((!c->unasked && sdp_seq_after(h->mseq, c->rx_limit)) || !c->posted)
		return SDP_BAD_CREDIT;
	/* As distances, for what is 2^31 away is neither before nor after. */
	if (h->mseq_ack - c->tx_acked > c->tx_seq - c->tx_acked)
		return SDP_BAD_ACK;
	/* A posted receive cannot be taken back, so neither can the grant. */
	if (sdp_seq_after(c->tx_limit, limit))
		return SDP_BAD_BUFS;

	c->rx_seq = h->mseq;
	c->tx_acked = h->mseq_ack;
	c->tx_limit = limit;
	c->posted--;
	if (c->theirs)
		c->theirs--;
	return SDP_VALID;
}
