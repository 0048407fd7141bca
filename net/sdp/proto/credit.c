// SPDX-License-Identifier: GPL-2.0
/*
 * Credit accounting: what may be sent, granted and received.
 *
 * credit.h explains the names. The pair (MSeqAck, Bufs) of a header is used
 * as one number, the newest sequence number that may be sent:
 * limit = LRSQ + PR. Send credit is then limit - LSSQ, which equals
 * PR - (LSSQ - LRSQ). Two checks become comparisons: a peer that takes back
 * a grant moves the limit backwards, and a peer that sends without credit
 * passes our limit.
 */
#include "credit.h"

/*
 * T is half of the receives unless the owner asks for another value. It stays
 * below the target. A peer that has stopped at its last credit gets an update
 * only when T receives more than that are posted, and no more than the target
 * are posted.
 */
static u16 threshold_for(u16 target, u16 wish)
{
	u16 t = wish ? wish : target / 2;

	return max((u16)2, min(t, (u16)(target - 1)));
}

/**
 * sdp_credit_init() - initialize the state of a connection before its Hello
 * @c: credit state to fill
 * @target: receives to keep posted; raised to %SDP_RECV_BUFFERS_MIN
 * @threshold: T, or 0 for half of @target
 */
void sdp_credit_init(struct sdp_credit *c, u16 target, u16 threshold)
{
	memset(c, 0, sizeof(*c));
	sdp_credit_set_target(c, target, threshold);
}

/**
 * sdp_credit_set_target() - change the number of receives to keep posted
 * @c: credit state
 * @target: receives to keep posted; raised to %SDP_RECV_BUFFERS_MIN
 * @threshold: T, or 0 for half of @target
 *
 * A lower target does not take back receives that are posted already.
 */
void sdp_credit_set_target(struct sdp_credit *c, u16 target, u16 threshold)
{
	c->target = max((u16)SDP_RECV_BUFFERS_MIN, target);
	c->threshold = threshold_for(c->target, threshold);
}

/**
 * sdp_credit_posted() - account receives that the transport has posted
 * @c: credit state
 * @n: number of receives
 */
void sdp_credit_posted(struct sdp_credit *c, u16 n)
{
	c->posted += n;
}

/**
 * sdp_credit_wanted() - get the number of receives to post now
 * @c: credit state
 *
 * With @target receives posted, one more is wanted when the peer knows of
 * all of them but a later message of ours has to be able to grant one.
 *
 * With @reserve that message is our answer to the peer's SrcAvail. Usually a
 * new receive replaces the one that SrcAvail has used, and the answer grants
 * the new one. After @target was lowered nothing replaces it. Without send
 * credit the extra receive is not needed: before we can answer, the peer has to
 * send a message, which uses a receive.
 *
 * With @spare the receive always comes on top of @target, because no message
 * of the peer has used one.
 *
 * Return: number of receives.
 */
u16 sdp_credit_wanted(const struct sdp_credit *c)
{
	if (c->posted < c->target)
		return c->target - c->posted;
	return (c->reserve || c->spare) && c->posted == c->theirs &&
	       sdp_credit_available(c);
}

/**
 * sdp_credit_available() - get the number of messages that may be sent (D1)
 * @c: credit state
 *
 * With @unasked, more messages may have been sent than were granted. The
 * adapter holds back those beyond the grant, and the result is 0 (ring.h).
 *
 * Return: number of messages.
 */
u32 sdp_credit_available(const struct sdp_credit *c)
{
	return sdp_seq_after(c->tx_limit, c->tx_seq) ? c->tx_limit - c->tx_seq :
						       0;
}

/**
 * sdp_credit_may_send_data() - may we send more than a credit update? (D5)
 * @c: credit state
 *
 * The last credit is kept for a credit update, so that two sides with one
 * credit each always get going again.
 *
 * With no receive posted a message would grant nothing, so it has to wait.
 * @posted reaches 0 only when the peer has sent a credit update with its last
 * credit and we could not post the receive again that the update has used. If
 * we then used up what the update granted and granted nothing in return,
 * neither side could send.
 *
 * Return: true when any message may be sent.
 */
bool sdp_credit_may_send_data(const struct sdp_credit *c)
{
	return c->posted && sdp_credit_available(c) > 1;
}

/*
 * The Bufs of our next message: receives posted, minus one that is kept back
 * so that a later message can grant it. With @reserve that later message is
 * our answer to the peer's SrcAvail. Nothing is kept back when this message
 * uses our last credit. With @spare, which may last very long, only a receive
 * beyond @target is kept back: the peer could not continue with less than
 * @target. A receive that the peer knows of is never kept back.
 */
static u16 told(const struct sdp_credit *c)
{
	bool keep = c->reserve || (c->spare && c->posted > c->target);

	if (!keep || c->posted < 2 || sdp_credit_available(c) < 2)
		return c->posted;
	return max(c->theirs, (u16)(c->posted - 1));
}

/**
 * sdp_credit_may_answer() - may we send what the peer or a reader awaits? (D5)
 * @c: credit state
 *
 * Such a message may use the last credit, as a credit update may, if it grants
 * the peer a receive. The peer may need our answer to continue sending although
 * it cannot grant us any more, because its application does not read. Our own
 * reader may need the message to get its buffer back.
 *
 * Return: true when the message may be sent.
 */
bool sdp_credit_may_answer(const struct sdp_credit *c)
{
	return sdp_credit_may_send_data(c) ||
	       (sdp_credit_available(c) == 1 && c->posted > c->theirs);
}

/**
 * sdp_credit_update_due() - is a credit update to be sent? (D4, D5)
 * @c: credit state
 *
 * It is when the peer has less than T credits by our count, and the update
 * grants at least T more.
 *
 * Return: true when a credit update is to be sent.
 */
bool sdp_credit_update_due(const struct sdp_credit *c)
{
	return (c->unasked || sdp_credit_available(c)) &&
	       c->theirs < c->threshold && told(c) >= c->theirs + c->threshold;
}

/**
 * sdp_credit_peer_is_mute() - does the peer need a credit from us to send?
 * @c: credit state
 *
 * sdp_credit_update_due() waits until an update grants at least T (D4). Fewer
 * receives are granted by messages that we send for another reason, such as
 * data. That is not enough in two cases. While our SrcAvail is out we send no
 * data, and the peer needs a credit to answer it. While our data waits for room
 * in the peer's ring, the peer needs a credit to report the space it frees. A
 * third case is that of sdp_credit_peer_is_bound().
 *
 * Return: true when the peer has no credit, we have receives to grant, and
 * the credit update does not need our last credit.
 */
bool sdp_credit_peer_is_mute(const struct sdp_credit *c)
{
	return !c->theirs && !c->unasked && sdp_credit_may_send_data(c);
}

/**
 * sdp_credit_peer_is_bound() - can the peer not take its SrcAvail back?
 * @c: credit state
 *
 * SrcAvailCancel needs more than the last credit (D5). With @reserve an update
 * tells of one receive less, so it may grant less than T to a peer with only
 * that one, even with all of @target posted; then sdp_credit_update_due() is
 * false. Without an update the peer's writer would have to wait for our reader.
 *
 * Return: true when the peer's SrcAvail is open, the peer has no more than its
 * last credit, and an update gives it more and does not need ours.
 */
bool sdp_credit_peer_is_bound(const struct sdp_credit *c)
{
	return c->reserve && c->theirs < 2 && told(c) > 1 && !c->unasked &&
	       sdp_credit_may_send_data(c);
}

/**
 * sdp_credit_peer_is_low() - may the peer have to wait for credit soon?
 * @c: credit state; the peer's last message has just been accounted
 *
 * It may when it had less than T credits left, by its own count. That is at
 * most our count, and less while messages of ours are on their way. Our count
 * alone would not tell when both sides send all the time: each message of ours
 * grants, so our count stays high, but the peer waits for each of them.
 *
 * Return: true when it may.
 */
bool sdp_credit_peer_is_low(const struct sdp_credit *c)
{
	return c->left < c->threshold;
}

/**
 * sdp_credit_peer_hello() - account the peer's Hello or HelloAck
 * @c: credit state
 * @bufs: number of receives that the peer has posted
 */
void sdp_credit_peer_hello(struct sdp_credit *c, u16 bufs)
{
	c->tx_limit = bufs;
}

/**
 * sdp_credit_granted_hello() - account our Hello or HelloAck
 * @c: credit state; the message tells the peer of @posted receives
 */
void sdp_credit_granted_hello(struct sdp_credit *c)
{
	c->theirs = c->posted;
	c->rx_limit = c->posted;
	c->limits[0] = c->rx_limit;
}

/**
 * sdp_credit_sent() - account a message and fill in its header (D1, D3)
 * @c: credit state; the message may be sent
 * @h: header; @bufs, @mseq and @mseq_ack are set
 */
void sdp_credit_sent(struct sdp_credit *c, struct sdp_bsdh *h)
{
	h->bufs = told(c);
	h->mseq = ++c->tx_seq;
	h->mseq_ack = c->rx_seq;
	c->theirs = h->bufs;
	c->rx_limit = c->rx_seq + h->bufs;
	c->limits[c->tx_seq % SDP_LIMITS] = c->rx_limit;
}

/*
 * The peer's credit by its own count, after it had sent @h. If it knew so few
 * of our messages that the grant of the last one is not remembered, the oldest
 * one that is: it may be too high then, but not too low.
 */
static u16 left_after(const struct sdp_credit *c, const struct sdp_bsdh *h)
{
	u32 unknown = min(c->tx_seq - h->mseq_ack, SDP_LIMITS - 1U);
	u32 limit = c->limits[(c->tx_seq - unknown) % SDP_LIMITS];

	return sdp_seq_after(limit, h->mseq) ? limit - h->mseq : 0;
}

/**
 * sdp_credit_received() - check and account a received header (D1, D3)
 * @c: credit state; unchanged when the header is refused
 * @h: header that sdp_wire_parse() has found valid
 *
 * Return: %SDP_VALID, %SDP_BAD_SEQ, %SDP_BAD_CREDIT, %SDP_BAD_ACK or
 * %SDP_BAD_BUFS.
 */
enum sdp_violation sdp_credit_received(struct sdp_credit *c,
				       const struct sdp_bsdh *h)
{
	u32 limit = h->mseq_ack + h->bufs;

	if (h->mseq != c->rx_seq + 1)
		return SDP_BAD_SEQ;
	if ((!c->unasked && sdp_seq_after(h->mseq, c->rx_limit)) || !c->posted)
		return SDP_BAD_CREDIT;
	/*
	 * Distances are compared, because sdp_seq_after() finds a number that
	 * is 2^31 away neither before nor after.
	 */
	if (h->mseq_ack - c->tx_acked > c->tx_seq - c->tx_acked)
		return SDP_BAD_ACK;
	/* A posted receive cannot be taken back, so neither can its grant. */
	if (sdp_seq_after(c->tx_limit, limit))
		return SDP_BAD_BUFS;

	c->rx_seq = h->mseq;
	c->tx_acked = h->mseq_ack;
	c->tx_limit = limit;
	c->left = left_after(c, h);
	c->posted--;
	if (c->theirs)
		c->theirs--;
	return SDP_VALID;
}
