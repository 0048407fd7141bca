// SPDX-License-Identifier: GPL-2.0
/*
 * UD transport: datagrams that have arrived.
 *
 * The adapter vouches for the address and the queue pair that a datagram comes
 * from. Both must be those of the link's peer. All datagrams of a link arrive
 * at the same queue pair, one after the other, so its up-calls are in order.
 *
 * Runs in softirq.
 */
#include "../../base/netns.h"
#include "ud.h"

/**
 * struct news - what a datagram means to the owner of its link
 * @skb: message that is complete, or NULL
 * @bytes: its length
 * @sent: messages that have arrived at the peer
 * @hello_ack: the peer's HelloAck, or NULL
 * @established: the peer has confirmed the connection
 * @alive: a Probe of the owner has been answered
 * @ended: the peer has ended the link
 * @error: positive errno with which the link fails, or 0
 * @bad: what the peer has done wrong
 * @place: why the link fails
 */
struct news {
	struct sk_buff *skb;
	u32 bytes;
	struct sdp_sent sent;
	const u8 *hello_ack;
	bool established;
	bool alive;
	bool ended;
	int error;
	enum sdp_violation bad;
	const char *place;
};

/* Does a datagram come from the peer of a link, to our address? */
static bool is_from_peer(const struct ud_link *l, const struct ib_wc *wc,
			 const u8 *grh)
{
	union ib_gid from, to;

	return wc->src_qp == l->qpn && ud_grh_gids(grh, wc, &from, &to) &&
	       !memcmp(&from, &l->peer->gid, sizeof(from)) &&
	       !memcmp(&to, &l->peer->own, sizeof(to));
}

/* The link with a number that uses this queue pair, with a reference. */
static struct ud_link *find(struct ud_qp *qp, u32 id)
{
	struct ud_link *l;

	hlist_for_each_entry_rcu(l, &qp->port->by_id[id % UD_BUCKETS],
				 id_node) {
		if (l->id == id && l->qp == qp &&
		    refcount_inc_not_zero(&l->refs))
			return l;
	}
	return NULL;
}

/* An answer to a peer that has not heard of our end. Under the lock. */
static void reset_again(struct ud_link *l)
{
	if (l->phase >= UD_CLOSED && l->phase != UD_FORGOTTEN &&
	    !ud_answer_is_fresh(l, ud_now())) {
		l->answer_due = true;
		ud_look(l);
	}
}

/* An OpenAck for a link that we have given up meanwhile. Under the lock. */
static void open_ack_late(struct ud_link *l, const struct sdp_datagram *d)
{
	if (!l->their_id) {
		l->their_id = d->from;
		ud_open_window(l, d, 0, true);
	}
	reset_again(l);
}

/*
 * A datagram to the link, by the right queue pair, that is not its peer's. A
 * link whose number rests has left its namespace. Under the lock.
 */
static void forged(const struct ud_link *l)
{
	SDP_INC(l->phase < UD_GONE ? l->net : &init_net, DatagramsDropped);
}

static void fail(struct news *news, int error, const char *place)
{
	news->error = error;
	news->place = place;
}

/* The peer has made the connection, and has ended it at once. */
static void reset_early(struct ud_link *l, const struct sdp_datagram *d)
{
	l->their_id = d->from;
	ud_open_window(l, d, 0, true);
	l->phase = UD_CLOSED;
	l->ended = true;
	reset_again(l);
}

/*
 * The peer's Reset. It has to be in the window, so that nobody can end the link
 * who does not see its datagrams. Under the lock.
 */
static void reset(struct ud_link *l, const struct sdp_datagram *d,
		  struct news *news)
{
	u32 ahead = d->seq - sdp_window_rx_ack(&l->window.rx);

	if (l->phase == UD_OPENING && d->ack == l->first) {
		reset_early(l, d);
		fail(news, EAGAIN, "ended before it was open");
		return;
	}
	if (l->phase <= UD_OPENING || ahead > l->window.rx.window) {
		forged(l);
		return;
	}
	news->ended = !l->ended;
	l->ended = true;
	if (d->flags & SDP_DATAGRAM_GOES_ON)
		WRITE_ONCE(l->link.one_of_many, true);
	/* The first one answers ours, and is not answered. */
	if (l->closes && news->ended) {
		ud_link_wake(l);
		return;
	}
	if (l->phase < UD_CLOSED)
		l->phase = UD_CLOSED;
	reset_again(l);
}

/* The connection is confirmed: the OpenAck will not be sent again. */
static void confirm(struct ud_link *l, struct news *news)
{
	l->phase = UD_OPEN;
	l->answer_due = false;
	l->answers = 0;
	kfree(l->ack);
	l->ack = NULL;
	news->established = true;
}

/* Data, Ack, Nack or Probe. Under the lock. */
static void traffic(struct ud_link *l, const struct sdp_datagram *d,
		    const u8 *body, u32 len, bool marked, u32 now,
		    struct news *news)
{
	if (d->from != l->their_id) {
		forged(l);
		return;
	}
	if (l->phase == UD_CONFIRMING)
		confirm(l, news);
	if (l->phase != UD_OPEN && l->phase != UD_LINGERING) {
		reset_again(l);
		return;
	}
	news->bad = ud_arrives(l, d, body, len, marked, now, &news->skb,
			       &news->bytes);
	if (news->bad)
		fail(news, EPROTO, "datagram against the rules");
	/* Its completion is what a released link waits for. */
	if (ud_acked(l, &news->sent) && l->phase == UD_LINGERING)
		ud_link_wake(l);
	news->alive = l->probing;
	l->probing = false;
}

static void open_ack(struct ud_link *l, const struct sdp_datagram *d,
		     const u8 *body, struct news *news)
{
	int open;

	if (l->phase >= UD_CLOSED) {
		open_ack_late(l, d);
		return;
	}
	open = ud_open_acked(l, d, body);
	if (open < 0)
		fail(news, -open, "datagrams too large");
	if (open <= 0)
		return;
	news->hello_ack = body + SDP_OPEN_ACK_LEN - SDP_HELLO_ACK_LEN;
	/* The work item frees what only a connect needs. */
	ud_link_wake(l);
}

static void opening(struct ud_link *l, const struct sdp_datagram *d,
		    const u8 *body, u32 now, struct news *news)
{
	switch (d->type) {
	case SDP_DATAGRAM_CHALLENGE:
		if (l->phase == UD_OPENING && d->ack == l->first)
			sdp_opening_challenged(&l->connect->opening, body,
					       d->seq, now);
		break;
	case SDP_DATAGRAM_OPEN_ACK:
		open_ack(l, d, body, news);
		break;
	default:
		fail(news, ud_open_rejected(l, d, body), "rejected");
		break;
	}
}

/* Returns true if the owner is to be told @news: ud_link_leave() follows. */
static bool process(struct ud_link *l, const struct sdp_datagram *d,
		    const u8 *body, u32 len, bool marked, struct news *news)
{
	bool tell;
	u32 now;

	spin_lock_bh(&l->lock);
	now = ud_now();
	switch (d->type) {
	case SDP_DATAGRAM_RESET:
		reset(l, d, news);
		break;
	case SDP_DATAGRAM_CHALLENGE:
	case SDP_DATAGRAM_OPEN_ACK:
	case SDP_DATAGRAM_OPEN_REJECT:
		opening(l, d, body, now, news);
		break;
	default:
		traffic(l, d, body, len, marked, now, news);
		break;
	}
	ud_look(l);
	tell = l->phase < UD_GONE && test_bit(UD_OWNED, &l->flags);
	l->users += tell;
	spin_unlock_bh(&l->lock);
	return tell;
}

/* In this order: HelloAck, messages, and the end last. */
static void tell_owner(struct ud_link *l, struct news *news)
{
	const struct sdp_link_events *up = l->link.up;

	if (news->hello_ack)
		up->hello_ack(&l->link, news->hello_ack, SDP_HELLO_ACK_LEN);
	if (news->established)
		up->established(&l->link);
	if (news->skb)
		up->received(&l->link, news->skb, news->bytes);
	news->skb = NULL;
	if (news->sent.messages)
		up->sent(&l->link, &news->sent);
	if (news->alive)
		up->alive(&l->link);
	if (news->bad)
		up->malformed(l->net, news->bad);
	if (news->ended)
		up->ended(&l->link);
}

static void link_received(struct ud_link *l, const struct sdp_datagram *d,
			  const u8 *body, u32 len, bool marked)
{
	struct news news = { };

	__skb_queue_head_init(&news.sent.blocks);
	if (process(l, d, body, len, marked, &news)) {
		tell_owner(l, &news);
		ud_link_leave(l);
		if (news.error)
			ud_link_fail(l, news.error, news.place);
	}
	kfree_skb(news.skb);
	__skb_queue_purge(&news.sent.blocks);
	ud_qp_run(l->qp);
}

/* Is a Reset due to a datagram of a link that there is not? */
static bool is_stray(const struct sdp_datagram *d)
{
	return d->type <= SDP_DATAGRAM_PROBE ||
	       d->type == SDP_DATAGRAM_OPEN_ACK;
}

/**
 * ud_received() - a datagram has arrived
 * @qp: queue pair
 * @wc: its completion
 * @rx: network header and datagram
 */
void ud_received(struct ud_qp *qp, const struct ib_wc *wc,
		 const struct ud_rx *rx)
{
	struct sdp_datagram d;
	struct ud_link *l;
	u32 bytes;

	bytes = wc->byte_len - sizeof(struct ib_grh);
	if (wc->byte_len < sizeof(struct ib_grh) ||
	    sdp_datagram_parse(rx->data, bytes, &d))
		goto drop;
	if (d.type == SDP_DATAGRAM_OPEN) {
		ud_accept_queue(qp, wc, rx, &d);
		return;
	}
	rcu_read_lock();
	l = find(qp, d.to);
	rcu_read_unlock();
	if (!l && is_stray(&d)) {
		ud_accept_queue(qp, wc, rx, &d);
		return;
	}
	if (!l)
		goto drop;
	if (is_from_peer(l, wc, rx->grh)) {
		link_received(l, &d, rx->data + SDP_DATAGRAM_LEN,
			      bytes - SDP_DATAGRAM_LEN,
			      ud_grh_marked(rx->grh, wc));
		ud_link_put(l);
		return;
	}
	ud_link_put(l);
drop:
	SDP_INC(&init_net, DatagramsDropped);
}
